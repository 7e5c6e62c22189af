// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peers, each called in the way that its documentation calls the fastest.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

use commonware_cryptography::Hasher as _;
use commonware_parallel::Sequential;
use hashloom_sys as sys;
use sha1::Digest;

use crate::own;
use crate::tier::Tier;
use crate::work::{Call, HMAC_KEY, Hash, Messages, PART_LEN, PBKDF2_NITERATIONS, key_of, work_between};

/// Writes the digests of all messages; false if it cannot hash them.
type HashAll = dyn FnMut(&Messages, &mut [u8]) -> bool;

/// One side of a comparison. It keeps its digests until they are read.
pub struct Side {
    pub name: &'static str,
    pub digests: Vec<u8>,
    hash: Box<HashAll>,
}

impl Side {
    pub fn new(name: &'static str, hash: impl FnMut(&Messages, &mut [u8]) -> bool + 'static) -> Self {
        Side { name, digests: Vec::new(), hash: Box::new(hash) }
    }

    /// One message after the other, each by its number.
    fn each(name: &'static str, hash: impl Fn(usize, &[u8], &mut [u8]) + 'static) -> Self {
        Side::new(name, move |messages, digests| {
            let digests = digests.chunks_exact_mut(messages.digest_len());
            for (i, (message, digest)) in messages.slices.iter().zip(digests).enumerate() {
                hash(i, message, digest);
            }
            true
        })
    }

    /// Hashes the messages once; false if the side cannot hash them.
    pub fn hash(&mut self, messages: &Messages) -> bool {
        // Allocates only in the first pass of each cell.
        self.digests.resize(messages.slices.len() * messages.digest_len(), 0);
        (self.hash)(messages, &mut self.digests)
    }

    /// Seconds for one pass, measured over `repeat` passes. An untimed pass comes first, to fill the caches again after
    /// the side before.
    pub fn time(&mut self, messages: &Messages, repeat: u32) -> f64 {
        self.hash(messages);
        let start = Instant::now();
        for _ in 0..repeat {
            black_box(self.hash(black_box(messages)));
        }
        start.elapsed().as_secs_f64() / f64::from(repeat)
    }

    /// Seconds that a pass costs a program with other work between two passes: its own, and those by which the work
    /// takes longer than alone, just before. Where vectors of 512 bits slow the CPU down, they do so for 0.7 ms, so
    /// twelve passes go before the four of which the least time counts. The clock drifts: the middle one of the rounds
    /// counts, from 1%.
    pub fn time_between(&mut self, messages: &Messages, rounds: usize) -> f64 {
        let mut least = |is_hashing: bool| {
            let pass = |_| {
                let start = Instant::now();
                if is_hashing {
                    black_box(self.hash(black_box(messages)));
                }
                let call = start.elapsed().as_secs_f64();
                work_between();
                (call, start.elapsed().as_secs_f64() - call)
            };
            (0..16).map(pass).skip(12).fold((f64::MAX, f64::MAX), |a, b| (a.0.min(b.0), a.1.min(b.1)))
        };
        let (mut call, mut work, mut slower) = (f64::MAX, f64::MAX, Vec::new());
        for _ in 0..rounds {
            let ((_, alone), (once, beside)) = (least(false), least(true));
            (call, work) = (call.min(once), work.min(alone));
            slower.push(beside / alone - 1.0);
        }
        slower.sort_by(f64::total_cmp);
        let slower = slower[rounds / 2];
        call + if slower > 0.01 { slower * work } else { 0.0 }
    }
}

/// hashloom first, then every peer that is installed, and may do on this tier what it does here.
pub fn sides(call: Call, hash: Hash) -> Vec<Side> {
    let call = if call == Call::Between { Call::Many } else { call };
    let mut sides = vec![own::side(call, hash)];
    sides.extend(libraries(call, hash));
    sides.extend(rust_crypto(call, hash));
    sides.extend(ring_like!("ring", ring, call, hash));
    sides.extend(ring_like!("aws-lc-rs", aws_lc_rs, call, hash, Hash::Sha3_256 => &aws_lc_rs::digest::SHA3_256));
    if is_whole(call) && matches!(hash, Hash::Sha256 | Hash::Sha512) {
        sides.push(Side::new("commonware-cryptography", move |messages, digests| {
            match hash {
                Hash::Sha256 => {
                    join(commonware_cryptography::Sha256::hash_many(&messages.slices, &Sequential), digests)
                }
                _ => join(commonware_cryptography::Sha512::hash_many(&messages.slices, &Sequential), digests),
            }
            true
        }));
    }
    if is_whole(call) && hash == Hash::Sha256 {
        sides.push(Side::new("stringzilla", stringzilla_sha256()));
        sides.push(Side::new("tape-sha256", |messages, digests| {
            tape_sha256::hash_many(&messages.slices, digests.as_chunks_mut().0);
            true
        }));
    }
    if call == Call::Nodes && hash == Hash::Sha256 {
        sides.push(Side::new("hashtree", hashtree()));
    }
    sides.retain(|side| Tier::of_this_process().has(side.name));
    sides
}

/// Whether the whole messages are there, and nothing is kept but digests.
fn is_whole(call: Call) -> bool {
    matches!(call, Call::One | Call::Many | Call::Rows | Call::Nodes)
}

fn join(found: Vec<impl AsRef<[u8]>>, digests: &mut [u8]) {
    let len = digests.len() / found.len();
    for (digest, to) in found.iter().zip(digests.chunks_exact_mut(len)) {
        to.copy_from_slice(digest.as_ref());
    }
}

/// `struct work` of `c/peer.h`, whose `struct message` is `hl_slice`.
#[repr(C)]
pub struct Work {
    call: Call,
    hash: Hash,
    messages: *const sys::hl_slice,
    count: usize,
    digests: *mut u8,
}

/// Functions of `c/*.c`, as far as they are compiled in.
macro_rules! c_peers {
    ($($cfg:ident: $($name:literal = $function:ident),+;)+) => {{
        let mut found: Vec<(&'static str, unsafe extern "C" fn(*const Work) -> i32)> = Vec::new();
        $(#[cfg($cfg)]
        {
            unsafe extern "C" {
                $(fn $function(work: *const Work) -> i32;)+
            }
            found.extend([$(($name, $function as unsafe extern "C" fn(*const Work) -> i32)),+]);
        })+
        found
    }};
}

fn libraries(call: Call, hash: Hash) -> impl Iterator<Item = Side> {
    let functions = c_peers! {
        has_openssl: "OpenSSL EVP" = openssl_evp, "OpenSSL, below EVP" = openssl_low, "OpenSSL HMAC" = openssl_hmac;
        has_ipsec_mb: "ipsec-mb, jobs" = ipsec_mb_job, "ipsec-mb, bursts" = ipsec_mb_burst,
            "ipsec-mb, hash bursts" = ipsec_mb_hash_burst, "ipsec-mb, direct" = ipsec_mb_direct;
        has_isal: "ISA-L crypto" = isal_many;
        xkcp_avx512: "XKCP AVX512" = xkcp_avx512;
        xkcp_avx2: "XKCP AVX2" = xkcp_avx2;
        xkcp_ssse3: "XKCP SSSE3" = xkcp_ssse3;
        xkcp_generic64_bmi: "XKCP generic64-bmi" = xkcp_generic64_bmi;
        xkcp_generic64: "XKCP generic64" = xkcp_generic64;
    };
    functions.into_iter().map(move |(name, function)| {
        Side::new(name, move |messages, digests| {
            let (messages, count) = (messages.raw.as_ptr(), messages.raw.len());
            let work = Work { call, hash, messages, count, digests: digests.as_mut_ptr() };
            // SAFETY: the messages are slices of static data; digests has room for all digests.
            unsafe { function(&work) == 0 }
        })
    })
}

fn whole<D: Digest>(_: usize, message: &[u8], digest: &mut [u8]) {
    digest.copy_from_slice(&D::digest(message));
}

fn parts<D: Digest>(_: usize, message: &[u8], digest: &mut [u8]) {
    let mut context = D::new();
    message.chunks(PART_LEN).for_each(|part| context.update(part));
    digest.copy_from_slice(&context.finalize());
}

fn twice<D: Digest>(_: usize, message: &[u8], digest: &mut [u8]) {
    digest.copy_from_slice(&D::digest(sha2::Sha256::digest(message)));
}

fn rust_crypto(call: Call, hash: Hash) -> Option<Side> {
    match call {
        Call::Hash160 => return Some(Side::each("ripemd and sha2", twice::<ripemd::Ripemd160>)),
        Call::Sha256d => return Some(Side::each("sha2", twice::<sha2::Sha256>)),
        Call::Parts | Call::Stream => {}
        _ if !is_whole(call) => return None,
        _ => {}
    }
    macro_rules! of {
        ($name:literal, $digest:ty) => {
            Side::each($name, if call == Call::Parts { parts::<$digest> } else { whole::<$digest> })
        };
    }
    Some(match hash {
        Hash::Md5 => of!("md-5", md5::Md5),
        Hash::Sha1 => of!("sha1", sha1::Sha1),
        Hash::Sha256 => of!("sha2", sha2::Sha256),
        Hash::Sha512 => of!("sha2", sha2::Sha512),
        Hash::Ripemd160 => of!("ripemd", ripemd::Ripemd160),
        Hash::Sha3_256 => of!("sha3", sha3::Sha3_256),
    })
}

/// ring, or a crate that offers the same.
macro_rules! ring_like {
    ($name:literal, $crate_:ident, $call:ident, $hash:ident $(, $more:pat => $digest:expr)?) => {{
        use $crate_::{digest, hmac, pbkdf2};
        let digest = match $hash {
            Hash::Sha1 => Some(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            Hash::Sha256 => Some(&digest::SHA256),
            Hash::Sha512 => Some(&digest::SHA512),
            $($more => Some($digest),)?
            _ => None,
        };
        let keyed = match $hash {
            Hash::Sha1 => Some((hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, pbkdf2::PBKDF2_HMAC_SHA1)),
            Hash::Sha256 => Some((hmac::HMAC_SHA256, pbkdf2::PBKDF2_HMAC_SHA256)),
            Hash::Sha512 => Some((hmac::HMAC_SHA512, pbkdf2::PBKDF2_HMAC_SHA512)),
            _ => None,
        };
        match ($call, digest, keyed) {
            (Call::Hmac, _, Some((hmac, _))) => {
                let key = hmac::Key::new(hmac, &HMAC_KEY);
                Some(Side::each($name, move |_, message, tag| {
                    tag.copy_from_slice(hmac::sign(&key, message).as_ref());
                }))
            }
            (Call::HmacKeys, _, Some((hmac, _))) => Some(Side::each($name, move |i, message, tag| {
                tag.copy_from_slice(hmac::sign(&hmac::Key::new(hmac, key_of(i)), message).as_ref());
            })),
            (Call::Pbkdf2, _, Some((_, pbkdf2))) => Some(Side::each($name, move |_, password, key| {
                let niterations = const { NonZeroU32::new(PBKDF2_NITERATIONS).unwrap() };
                pbkdf2::derive(pbkdf2, niterations, &HMAC_KEY, password, key);
            })),
            (Call::Parts, Some(digest), _) => Some(Side::each($name, move |_, message, to| {
                let mut context = digest::Context::new(digest);
                message.chunks(PART_LEN).for_each(|part| context.update(part));
                to.copy_from_slice(context.finish().as_ref());
            })),
            (call, Some(digest), _) if is_whole(call) || call == Call::Stream => {
                Some(Side::each($name, move |_, message, to| {
                    to.copy_from_slice(digest::digest(digest, message).as_ref());
                }))
            }
            _ => None,
        }
    }};
}
use ring_like;

/// OffchainLabs' hashtree, which hashes nodes only. On a lower tier, the function that it would choose there.
fn hashtree() -> impl FnMut(&Messages, &mut [u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    let restricted: Option<HashtreeFn> = match Tier::of_this_process() {
        Tier::Here => None,
        Tier::NoAvx512 if std::is_x86_feature_detected!("sha") => Some(hashtree_sha256_shani_x2),
        Tier::NoAvx512 | Tier::Avx2 => Some(hashtree_sha256_avx2_x8),
        Tier::Avx => Some(hashtree_sha256_avx_x4),
        Tier::Plain => Some(hashtree_sha256_generic),
    };
    #[cfg(not(target_arch = "x86_64"))]
    let restricted: Option<HashtreeFn> = None;
    move |messages, digests| {
        match restricted {
            // SAFETY: the tier is below what this CPU has; as many nodes can be read, and digests written.
            Some(hash) => unsafe { hash(digests.as_mut_ptr(), messages.data.as_ptr(), messages.slices.len() as u64) },
            None => hashtree_rs::hash(digests, messages.data, messages.slices.len()),
        }
        true
    }
}

type HashtreeFn = unsafe extern "C" fn(*mut u8, *const u8, u64);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn hashtree_sha256_shani_x2(digests: *mut u8, nodes: *const u8, count: u64);
    fn hashtree_sha256_avx2_x8(digests: *mut u8, nodes: *const u8, count: u64);
    fn hashtree_sha256_avx_x4(digests: *mut u8, nodes: *const u8, count: u64);
    fn hashtree_sha256_generic(digests: *mut u8, nodes: *const u8, count: u64);
}

/// States begin as copies, as many at a time as the peer has lanes: 16 make 34.7 million messages of 41 bytes a second,
/// 64 33.7, 256 31.6, all 4,096 30.4.
fn stringzilla_sha256() -> impl FnMut(&Messages, &mut [u8]) -> bool {
    use stringzilla::sz;
    const WINDOW: usize = 16;
    let fresh = [sz::Sha256::new(); WINDOW];
    let mut states = fresh;
    move |messages, digests| {
        let digests = digests.as_chunks_mut::<32>().0;
        for (slices, digests) in messages.slices.chunks(WINDOW).zip(digests.chunks_mut(WINDOW)) {
            let states = &mut states[..slices.len()];
            states.copy_from_slice(&fresh[..slices.len()]);
            let updated = sz::sha256_multistate_update(states, slices);
            if updated.and_then(|()| sz::sha256_multistate_digest(states, digests)).is_err() {
                return false;
            }
        }
        true
    }
}

macro_rules! version {
    ($cfg:ident, $function:ident) => {{
        #[cfg($cfg)]
        {
            unsafe extern "C" {
                safe fn $function() -> *const std::ffi::c_char;
            }
            // SAFETY: a static NUL-terminated string.
            unsafe { std::ffi::CStr::from_ptr($function()) }.to_string_lossy().into_owned()
        }
        #[cfg(not($cfg))]
        String::new()
    }};
}

/// The peers that are not crates, each with its version, which is empty if the peer is not there.
fn installed() -> [(&'static str, String); 4] {
    [
        ("OpenSSL", version!(has_openssl, openssl_version)),
        ("ipsec-mb", version!(has_ipsec_mb, ipsec_mb_version)),
        ("ISA-L crypto", version!(has_isal, isal_version)),
        ("XKCP", env!("PEERS_XKCP").into()),
    ]
}

/// The names of the peers that are not there, one a line.
pub fn missing() -> String {
    let missing = installed().into_iter().filter(|(_, version)| version.is_empty());
    missing.map(|(name, _)| format!("{name}: not installed: the head of bench/peers/run.sh says how\n")).collect()
}

/// hashloom's instruction sets and compilers, and the peers with their versions.
pub fn list() -> String {
    let peers = installed().into_iter().map(|(name, version)| match version.is_empty() {
        true => format!("{name} **not installed**"),
        false => format!("{name} {version}"),
    });
    format!(
        "hashloom's instruction sets here: {}. Compiled by {}, as the C of the crates; Rust: {}.\n\n\
         Peers: {}; crates of the versions in bench/peers/Cargo.lock.\n",
        hashloom::kernels::IsaSet::available(),
        env!("PEERS_CC"),
        env!("PEERS_RUSTC"),
        peers.collect::<Vec<_>>().join(", "),
    )
}
