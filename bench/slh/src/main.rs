// SPDX-License-Identifier: MIT OR Apache-2.0
//! SLH-DSA of hashloom beside that of its peers: a table of milliseconds of CPU time, each the least of some rounds, of
//! one thread. `bench/slh/run.sh` builds the peers in C and calls this program.
//!
//! ```text
//! hashloom-bench-slh ROUNDS TIER FOLDER    TIER: here, or instruction sets, with commas; FOLDER: of lib<set>.so
//! ```
//!
//! Each side's signatures are verified by hashloom, and hashloom's by each side, before anything is timed, but for
//! sphincsplus, which is older than FIPS 205.

use std::ffi::{CString, c_char, c_int, c_void};

use hashloom_sys::*;

const MESSAGE: &[u8] = b"a message of some length, to be signed";
const MANY: usize = 64;

/// Of a public key and a signature.
type Verify = dyn FnMut(&[u8], &[u8]) -> bool;

/// A side's functions, of one parameter set and one key pair of its own.
struct Side {
    name: &'static str,
    public: Vec<u8>,
    keygen: Box<dyn FnMut()>,
    sign: Box<dyn FnMut() -> Vec<u8>>,
    verify: Box<Verify>,
}

fn message() -> hl_slh_message {
    // With an empty context the pure form: two zero bytes, then the message.
    hl_slh_message {
        data: MESSAGE.as_ptr().cast(),
        nbytes: MESSAGE.len(),
        context: std::ptr::null(),
        context_nbytes: 0,
        form: HL_SLH_PURE,
        prehash: 0,
    }
}

fn work() -> hl_slh_work {
    let scratch = Vec::<u8>::with_capacity(hl_slh_scratch_nbytes()).leak();
    hl_slh_work {
        scratch: scratch.as_mut_ptr().cast(),
        scratch_nbytes: hl_slh_scratch_nbytes(),
        is_stopped: None,
        context: std::ptr::null_mut(),
    }
}

fn hashloom(info: &'static hl_slh_info) -> Side {
    let (n, seeds) = (info.n as usize, [7_u8; 96]);
    let mut secret = vec![0; info.secret_nbytes];
    let (a, b, c) = (work(), work(), work());
    // SAFETY: all pointers are to arrays of the sizes that `info` says.
    unsafe {
        assert_eq!(hl_slh_keygen(info.set, seeds.as_ptr(), secret.as_mut_ptr(), &a), HL_OK);
    }
    let (public, mut made) = (secret[2 * n..].to_vec(), secret.clone());
    Side {
        name: "hashloom",
        public,
        // SAFETY: as above.
        keygen: Box::new(move || unsafe {
            assert_eq!(hl_slh_keygen(info.set, seeds.as_ptr(), made.as_mut_ptr(), &a), HL_OK);
        }),
        sign: Box::new(move || {
            let mut signature = vec![0; info.signature_nbytes];
            let (to, key, none) = (signature.as_mut_ptr(), secret.as_ptr(), std::ptr::null());
            // SAFETY: as above.
            assert_eq!(unsafe { hl_slh_sign(info.set, key, &message(), none, to, &b) }, HL_OK);
            signature
        }),
        // SAFETY: as above.
        verify: Box::new(move |key, signature| unsafe {
            hl_slh_verify(info.set, key.as_ptr(), &message(), signature.as_ptr(), signature.len(), &c) == HL_OK
        }),
    }
}

/// Milliseconds of one of `MANY` signatures that are verified at once.
fn verify_many(info: &hl_slh_info, key: &[u8], signature: &[u8], rounds: usize) -> f64 {
    let work = work();
    let (messages, mut valid) = ([const { None }; MANY].map(|_: Option<()>| message()), [0; MANY]);
    let (signatures, lengths) = ([signature.as_ptr(); MANY], [signature.len(); MANY]);
    least(rounds, || {
        // SAFETY: all arrays have MANY entries, and the key is that of all.
        let status = unsafe {
            hl_slh_verify_many(
                info.set,
                key.as_ptr(),
                0,
                messages.as_ptr(),
                signatures.as_ptr(),
                lengths.as_ptr(),
                MANY,
                valid.as_mut_ptr(),
                &work,
            )
        };
        assert_eq!(status, HL_OK);
    }) / MANY as f64
}

macro_rules! crates {
    ($name:expr, $n:expr, $($set:literal => $fips:ident, $params:ident;)*) => {{
        let (mut sides, n) = (Vec::new(), $n);
        match $name {
            $($set => {
                use fips205::traits::{SerDes, Signer as _, Verifier as _};
                let (public, secret) = fips205::$fips::try_keygen().unwrap();
                sides.push(Side {
                    name: "fips205",
                    public: public.into_bytes().to_vec(),
                    keygen: Box::new(|| drop(fips205::$fips::try_keygen().unwrap())),
                    sign: Box::new(move || secret.try_sign(MESSAGE, b"", false).unwrap().to_vec()),
                    verify: Box::new(|key, signature| {
                        let key = fips205::$fips::PublicKey::try_from_bytes(key.try_into().unwrap()).unwrap();
                        key.verify(MESSAGE, signature.try_into().unwrap(), b"")
                    }),
                });
                use slh_dsa::signature::{Keypair, Signer, Verifier};
                use slh_dsa::{$params, Signature, SigningKey, VerifyingKey};
                let seed = &[5_u8; 32][..n];
                let make = move || SigningKey::<$params>::slh_keygen_internal(seed, seed, seed);
                let secret = make();
                sides.push(Side {
                    name: "slh-dsa",
                    public: secret.verifying_key().to_vec(),
                    keygen: Box::new(move || {
                        let _ = make();
                    }),
                    sign: Box::new(move || secret.sign(MESSAGE).to_vec()),
                    verify: Box::new(|key, signature| {
                        let key = VerifyingKey::<$params>::try_from(key).unwrap();
                        key.verify(MESSAGE, &Signature::try_from(signature).unwrap()).is_ok()
                    }),
                });
            })*
            _ => unreachable!(),
        }
        sides
    }};
}

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn clock_gettime(clock: c_int, time: *mut i64) -> c_int;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// sphincsplus, compiled for this set by run.sh. It signs without a context: of the message with two zero bytes before
/// it.
fn sphincsplus(info: &'static hl_slh_info, folder: &str) -> Option<Side> {
    type Keygen = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
    type Sign = unsafe extern "C" fn(*mut u8, *mut usize, *const u8, usize, *const u8) -> c_int;
    type Check = unsafe extern "C" fn(*const u8, usize, *const u8, usize, *const u8) -> c_int;
    let path = CString::new(format!("{folder}/lib{}.so", &info_name(info)["SLH-DSA-".len()..])).unwrap();
    // SAFETY: RTLD_NOW; the functions have these types in its api.h.
    let (keygen, sign, verify) = unsafe {
        let library = dlopen(path.as_ptr(), 2);
        if library.is_null() {
            return None;
        }
        (
            std::mem::transmute::<*mut c_void, Keygen>(dlsym(library, c"crypto_sign_seed_keypair".as_ptr())),
            std::mem::transmute::<*mut c_void, Sign>(dlsym(library, c"crypto_sign_signature".as_ptr())),
            std::mem::transmute::<*mut c_void, Check>(dlsym(library, c"crypto_sign_verify".as_ptr())),
        )
    };
    let (mut public, mut secret, seed) = (vec![0; info.public_nbytes], vec![0; info.secret_nbytes], [9_u8; 96]);
    let framed = [&[0, 0], MESSAGE].concat();
    let other = framed.clone();
    // SAFETY: arrays of the sizes of the set.
    let mut make = move || unsafe {
        keygen(public.as_mut_ptr(), secret.as_mut_ptr(), seed.as_ptr());
        (public.clone(), secret.clone())
    };
    let (public, secret) = make();
    Some(Side {
        name: "sphincsplus",
        public,
        keygen: Box::new(move || drop(make())),
        sign: Box::new(move || {
            let (mut signature, mut nbytes) = (vec![0; info.signature_nbytes], 0);
            // SAFETY: as above.
            unsafe { sign(signature.as_mut_ptr(), &mut nbytes, framed.as_ptr(), framed.len(), secret.as_ptr()) };
            signature
        }),
        // SAFETY: as above.
        verify: Box::new(move |key, signature| unsafe {
            verify(signature.as_ptr(), signature.len(), other.as_ptr(), other.len(), key.as_ptr()) == 0
        }),
    })
}

fn info_name(info: &hl_slh_info) -> &'static str {
    // SAFETY: names are constants of the library.
    unsafe { std::ffi::CStr::from_ptr(info.name) }.to_str().unwrap()
}

/// Milliseconds of CPU time of one turn, the least of all rounds.
fn least(rounds: usize, mut work: impl FnMut()) -> f64 {
    (0..rounds).fold(f64::INFINITY, |least, _| {
        let begin = cpu_ms();
        work();
        least.min(cpu_ms() - begin)
    })
}

fn cpu_ms() -> f64 {
    let mut time = [0_i64; 2]; // a timespec of 64-bit Linux
    // SAFETY: CLOCK_PROCESS_CPUTIME_ID; a timespec has room for what the call writes.
    unsafe { clock_gettime(2, time.as_mut_ptr()) };
    time[0] as f64 * 1e3 + time[1] as f64 / 1e6
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, rounds, tier, folder] = &args[..] else { panic!("usage: hashloom-bench-slh ROUNDS TIER FOLDER") };
    let rounds: usize = rounds.parse().expect("ROUNDS is a number");
    if tier != "here" {
        let names = tier.split(',').map(|name| CString::new(name).unwrap());
        // SAFETY: the names end with zeros.
        let isas = names.fold(0, |isas, name| isas | unsafe { hl_isa_named(name.as_ptr()) });
        assert_eq!(hl_restrict(isas), HL_OK, "{tier}: not here");
    }
    println!("| {tier} | | keygen ms | sign ms | verify ms | verify_many ms |\n|---|---|---|---|---|---|");
    // SAFETY: the call takes no pointers, and what it returns is constant.
    for info in (1..=12).map(|set| unsafe { &*hl_slh_find(set) }) {
        let name = info_name(info);
        let wanted = ["SHA2-128s", "SHA2-128f", "SHA2-192s", "SHA2-256s", "SHAKE-128s"];
        if !wanted.contains(&&name["SLH-DSA-".len()..]) {
            continue;
        }
        let mut sides = vec![hashloom(info)];
        sides.extend(sphincsplus(info, folder));
        if tier == "here" {
            sides.extend(crates!(name, info.n as usize,
                "SLH-DSA-SHA2-128s" => slh_dsa_sha2_128s, Sha2_128s;
                "SLH-DSA-SHA2-128f" => slh_dsa_sha2_128f, Sha2_128f;
                "SLH-DSA-SHA2-192s" => slh_dsa_sha2_192s, Sha2_192s;
                "SLH-DSA-SHA2-256s" => slh_dsa_sha2_256s, Sha2_256s;
                "SLH-DSA-SHAKE-128s" => slh_dsa_shake_128s, Shake128s;
            ));
        }
        let mut own: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for i in 0..sides.len() {
            let side = &mut sides[i];
            own.push((side.public.clone(), (side.sign)()));
            assert!((side.verify)(&own[i].0, &own[i].1), "{}: refuses its own signature", side.name);
            // sphincsplus reads the indices of FORS from the digest in another order than FIPS 205 does.
            if side.name != "sphincsplus" {
                assert!((side.verify)(&own[0].0, &own[0].1), "{}: refuses hashloom's signature", side.name);
                assert!((sides[0].verify)(&own[i].0, &own[i].1), "{}: hashloom refuses its signature", sides[i].name);
            }
        }
        for (side, own) in sides.iter_mut().zip(&own) {
            // The crates take seconds.
            let rounds = if matches!(side.name, "fips205" | "slh-dsa") { 1 } else { rounds };
            let keygen = least(rounds, &mut side.keygen);
            let sign = least(rounds, || drop((side.sign)()));
            let verify = least(10 * rounds, || assert!((side.verify)(&own.0, &own.1)));
            let many = match side.name {
                "hashloom" => format!("{:.4}", verify_many(info, &own.0, &own.1, rounds)),
                _ => String::new(),
            };
            println!("| {name} | {} | {keygen:.3} | {sign:.3} | {verify:.4} | {many} |", side.name);
        }
    }
}
