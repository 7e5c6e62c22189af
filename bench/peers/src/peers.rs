// SPDX-License-Identifier: MIT OR Apache-2.0
//! All sides: hashloom's ways and the peers, each called in the way that its documentation calls the fastest.

use std::hint::black_box;
use std::time::Instant;

use commonware_cryptography::Hasher as _;
use commonware_parallel::Sequential;
use sha1::Digest as _;

use crate::go::Go;
use crate::scenario::{Algorithm, HMAC_KEY, Messages};
use crate::tier::Tier;
use hashloom_sys as sys;

/// One side of a comparison. It keeps its digests until they are read.
pub trait Side {
    fn name(&self) -> &str;
    /// Returns true for hashloom itself.
    fn is_own(&self) -> bool {
        false
    }
    /// Hashes the messages once; false if the side cannot hash them.
    fn hash(&mut self, messages: &Messages) -> bool;
    fn digests(&self) -> Vec<u8>;
    /// Seconds for one pass, measured over `repeat` passes. An untimed pass comes first, to fill the caches again after
    /// the side before.
    fn time(&mut self, messages: &Messages, repeat: u32) -> f64 {
        self.hash(messages);
        let start = Instant::now();
        for _ in 0..repeat {
            black_box(self.hash(black_box(messages)));
        }
        start.elapsed().as_secs_f64() / f64::from(repeat)
    }
}

/// A side that writes its digests into a given buffer.
struct Writes<F> {
    name: String,
    is_own: bool,
    digests: Vec<u8>,
    hash: F,
}

impl<F: FnMut(&Messages, &mut [u8]) -> bool> Side for Writes<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_own(&self) -> bool {
        self.is_own
    }

    fn hash(&mut self, messages: &Messages) -> bool {
        // Allocates only in the first pass of each scenario.
        self.digests.resize(messages.digests_len(), 0);
        (self.hash)(messages, &mut self.digests)
    }

    fn digests(&self) -> Vec<u8> {
        self.digests.clone()
    }
}

/// A side that returns a vector of digests; its time includes the allocation.
struct Returns<D, F> {
    name: String,
    digests: Vec<D>,
    hash: F,
}

impl<D: AsRef<[u8]>, F: FnMut(&[&'static [u8]]) -> Vec<D>> Side for Returns<D, F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn hash(&mut self, messages: &Messages) -> bool {
        self.digests = (self.hash)(&messages.slices);
        true
    }

    fn digests(&self) -> Vec<u8> {
        self.digests.iter().flat_map(|digest| digest.as_ref().to_vec()).collect()
    }
}

pub type Sides = Vec<Box<dyn Side>>;

pub fn add(sides: &mut Sides, name: &str, hash: impl FnMut(&Messages, &mut [u8]) -> bool + 'static) {
    sides.push(Box::new(Writes { name: name.into(), is_own: false, digests: Vec::new(), hash }));
}

pub fn add_own(sides: &mut Sides, name: &str, hash: impl FnMut(&Messages, &mut [u8]) -> bool + 'static) {
    sides.push(Box::new(Writes { name: name.into(), is_own: true, digests: Vec::new(), hash }));
}

/// One message after the other, each by a function that returns an array.
fn add_each<D: AsRef<[u8]>>(sides: &mut Sides, name: &str, hash: impl Fn(&[u8]) -> D + 'static) {
    add(sides, name, move |messages, digests| {
        for (message, digest) in messages.slices.iter().zip(digests.chunks_exact_mut(messages.algorithm.digest_len())) {
            digest.copy_from_slice(hash(message).as_ref());
        }
        true
    });
}

/// hashloom's name in the tables.
pub const HASHLOOM: &str = "hashloom";

/// hashloom and every peer that has the algorithm and is installed. hashloom is the first.
pub fn sides(algorithm: Algorithm) -> Sides {
    let mut sides = Vec::new();
    match algorithm {
        _ if algorithm.is_hmac() => own_hmac(&mut sides, algorithm),
        Algorithm::Hash160 => own_twice(&mut sides, sys::hl_hash160_rows),
        Algorithm::Sha256d => own_twice(&mut sides, sys::hl_sha256d_rows),
        _ => own(&mut sides),
    }
    libraries(&mut sides, algorithm);
    crates(&mut sides, algorithm);
    sides.retain(|side| Tier::of_this_process().has(side.name()));
    // Go is compared where one call of its standard library takes the message.
    if matches!(
        algorithm,
        Algorithm::Sha1 | Algorithm::Sha256 | Algorithm::Sha512 | Algorithm::Sha3_256 | Algorithm::Sha3_512
    ) && let Some(go) = Go::start()
    {
        sides.push(Box::new(go));
    }
    sides
}

fn own(sides: &mut Sides) {
    add_own(sides, HASHLOOM, |messages, digests| {
        // SAFETY: raw are slices of static data, and digests has room for all digests.
        let status = unsafe {
            sys::hl_hash_many(messages.algorithm.hl(), messages.raw.as_ptr(), messages.raw.len(), digests.as_mut_ptr())
        };
        status == sys::HL_OK
    });
    add_own(sides, "hashloom, the crate's hash_many", |messages, digests| {
        hashloom::hash_many(messages.algorithm.crate_algorithm(), &messages.slices, digests);
        true
    });
    add_own(sides, "hashloom, hash_rows", |messages, digests| {
        let Some(row_len) = messages.row_len else { return false };
        let count = messages.slices.len();
        hashloom::hash_rows(messages.algorithm.crate_algorithm(), messages.data, row_len, row_len, count, digests);
        true
    });
}

fn own_hmac(sides: &mut Sides, algorithm: Algorithm) {
    let mut key = std::mem::MaybeUninit::uninit();
    // SAFETY: the key has room for a key, and the secret is as long as stated.
    let key = unsafe {
        let status = sys::hl_hmac_key_init(key.as_mut_ptr(), algorithm.hl(), HMAC_KEY.as_ptr().cast(), HMAC_KEY.len());
        assert_eq!(status, sys::HL_OK, "hashloom has HMAC of every algorithm");
        key.assume_init()
    };
    add_own(sides, HASHLOOM, move |messages, digests| {
        // SAFETY: raw are slices of static data, and digests has room for all tags.
        let status = unsafe {
            match messages.raw[..] {
                [message] => sys::hl_hmac(&key, message.data, message.nbytes, digests.as_mut_ptr()),
                ref raw => sys::hl_hmac_many(&key, raw.as_ptr(), raw.len(), digests.as_mut_ptr()),
            }
        };
        status == sys::HL_OK
    });
}

/// A function of the core that hashes rows and then their digests.
type TwiceFn = unsafe extern "C" fn(*const std::ffi::c_void, usize, usize, usize, *mut u8) -> sys::hl_status;

fn own_twice(sides: &mut Sides, rows: TwiceFn) {
    add_own(sides, HASHLOOM, move |messages, digests| {
        let Some(row_len) = messages.row_len else { return false };
        // SAFETY: data are rows of static data, and digests has room for all digests.
        unsafe {
            rows(messages.data.as_ptr().cast(), row_len, row_len, messages.slices.len(), digests.as_mut_ptr())
                == sys::HL_OK
        }
    });
}

/// A peer's function of `c/peer.h`.
#[allow(dead_code, reason = "none of the C libraries may be installed")]
pub type PeerFn = unsafe extern "C" fn(Algorithm, *const sys::hl_slice, usize, *mut u8) -> i32;

#[allow(unused_macros, reason = "none of the C libraries may be installed")]
macro_rules! c_peers {
    ($sides:ident, $($name:literal = $function:ident),+) => {{
        unsafe extern "C" {
            $(fn $function(
                alg: $crate::scenario::Algorithm,
                messages: *const hashloom_sys::hl_slice,
                count: usize,
                digests: *mut u8,
            ) -> i32;)+
        }
        $(
            let function: $crate::peers::PeerFn = $function;
            $crate::peers::add($sides, $name, move |messages, digests| {
                // SAFETY: struct message of c/peer.h is hl_slice; digests has room for all digests.
                unsafe {
                    function(messages.algorithm, messages.raw.as_ptr(), messages.raw.len(), digests.as_mut_ptr()) == 0
                }
            });
        )+
    }};
}
#[allow(unused_imports, reason = "none of the C libraries may be installed")]
pub(crate) use c_peers;

fn libraries(sides: &mut Sides, algorithm: Algorithm) {
    let _ = (&sides, algorithm);
    #[cfg(has_openssl)]
    c_peers!(sides, "OpenSSL EVP" = openssl_evp, "OpenSSL, below EVP" = openssl_low);
    #[cfg(has_ipsec_mb)]
    c_peers!(
        sides,
        "ipsec-mb, jobs" = ipsec_mb_job,
        "ipsec-mb, bursts" = ipsec_mb_burst,
        "ipsec-mb, hash bursts" = ipsec_mb_hash_burst,
        "ipsec-mb, direct" = ipsec_mb_direct
    );
    #[cfg(has_isal)]
    c_peers!(sides, "ISA-L crypto" = isal_many);
    #[cfg(has_ecloop_gcc)]
    c_peers!(sides, "ecloop, gcc" = ecloop_gcc);
    #[cfg(has_ecloop_clang)]
    c_peers!(sides, "ecloop, clang" = ecloop_clang);
    #[cfg(has_ecloop_clang_avx2)]
    c_peers!(sides, "ecloop, clang -mavx2" = ecloop_clang_avx2);
    xkcp(sides, Xkcp::Whole);
}

/// The functions of `c/xkcp.c`, in their order.
#[derive(Clone, Copy)]
pub enum Xkcp {
    Whole,
    /// A message in one update.
    Stream,
    Parts,
}

macro_rules! xkcp_targets {
    ($sides:ident, $way:ident, $($name:literal = $target:ident),+) => {
        $(#[cfg($target)]
        {
            unsafe extern "C" {
                static $target: [PeerFn; 3];
            }
            // SAFETY: a constant of c/xkcp.c.
            let function = unsafe { $target }[$way as usize];
            add($sides, $name, move |messages, digests| {
                // SAFETY: struct message of c/peer.h is hl_slice; digests has room for all digests.
                unsafe {
                    function(messages.algorithm, messages.raw.as_ptr(), messages.raw.len(), digests.as_mut_ptr()) == 0
                }
            });
        })+
    };
}

pub fn xkcp(sides: &mut Sides, way: Xkcp) {
    let _ = (&sides, way);
    xkcp_targets!(
        sides,
        way,
        "XKCP AVX512" = xkcp_avx512,
        "XKCP AVX2" = xkcp_avx2,
        "XKCP SSSE3" = xkcp_ssse3,
        "XKCP generic64-bmi" = xkcp_generic64_bmi,
        "XKCP generic64" = xkcp_generic64
    );
}

fn crates(sides: &mut Sides, algorithm: Algorithm) {
    match algorithm {
        Algorithm::Md5 => add_each(sides, "md-5", |message| md5::Md5::digest(message)),
        Algorithm::Sha1 => add_each(sides, "sha1", |message| sha1::Sha1::digest(message)),
        Algorithm::Sha256 => {
            add_each(sides, "sha2", |message| sha2::Sha256::digest(message));
            add(sides, "stringzilla", stringzilla_sha256());
            sides.push(Box::new(Returns {
                name: "commonware-cryptography".into(),
                digests: Vec::new(),
                hash: |slices: &[&'static [u8]]| commonware_cryptography::Sha256::hash_many(slices, &Sequential),
            }));
            add(sides, "tape-sha256", |messages, digests| {
                tape_sha256::hash_many(&messages.slices, digests.as_chunks_mut().0);
                true
            });
            add(sides, "tape-sha256, hash_pairs", tape_pairs());
        }
        Algorithm::Sha512 => {
            add_each(sides, "sha2", |message| sha2::Sha512::digest(message));
            sides.push(Box::new(Returns {
                name: "commonware-cryptography".into(),
                digests: Vec::new(),
                hash: |slices: &[&'static [u8]]| commonware_cryptography::Sha512::hash_many(slices, &Sequential),
            }));
        }
        Algorithm::Ripemd160 => add_each(sides, "ripemd", |message| ripemd::Ripemd160::digest(message)),
        Algorithm::Hash160 => {
            add_each(sides, "ripemd and sha2", |message| ripemd::Ripemd160::digest(sha2::Sha256::digest(message)))
        }
        Algorithm::Sha256d => add_each(sides, "sha2", |message| sha2::Sha256::digest(sha2::Sha256::digest(message))),
        Algorithm::Sha3_256 => {
            add_each(sides, "sha3", |message| sha3::Sha3_256::digest(message));
            add_each(sides, "keccak-asm", |message| <keccak_asm::Sha3_256 as keccak_asm::Digest>::digest(message));
        }
        Algorithm::Sha3_512 => {
            add_each(sides, "sha3", |message| sha3::Sha3_512::digest(message));
            add_each(sides, "keccak-asm", |message| <keccak_asm::Sha3_512 as keccak_asm::Digest>::digest(message));
        }
        _ => {}
    }
    if let Some(ring) = ring_digest(algorithm) {
        add_each(sides, "ring", |message| ring::digest::digest(ring, message));
    }
    if let Some(aws_lc) = aws_lc_digest(algorithm) {
        add_each(sides, "aws-lc-rs", |message| aws_lc_rs::digest::digest(aws_lc, message));
    }
    if algorithm.is_hmac()
        && let Some((ring, aws_lc)) = ring_hmacs(algorithm)
    {
        let key = ring::hmac::Key::new(ring, &HMAC_KEY);
        add_each(sides, "ring", move |message| ring::hmac::sign(&key, message));
        let key = aws_lc_rs::hmac::Key::new(aws_lc, &HMAC_KEY);
        add_each(sides, "aws-lc-rs", move |message| aws_lc_rs::hmac::sign(&key, message));
    }
}

pub fn ring_digest(algorithm: Algorithm) -> Option<&'static ring::digest::Algorithm> {
    use ring::digest as ring;
    match algorithm {
        Algorithm::Sha1 => Some(&ring::SHA1_FOR_LEGACY_USE_ONLY),
        Algorithm::Sha256 => Some(&ring::SHA256),
        Algorithm::Sha512 => Some(&ring::SHA512),
        _ => None,
    }
}

pub fn aws_lc_digest(algorithm: Algorithm) -> Option<&'static aws_lc_rs::digest::Algorithm> {
    use aws_lc_rs::digest as aws_lc;
    match algorithm {
        Algorithm::Sha1 => Some(&aws_lc::SHA1_FOR_LEGACY_USE_ONLY),
        Algorithm::Sha256 => Some(&aws_lc::SHA256),
        Algorithm::Sha512 => Some(&aws_lc::SHA512),
        Algorithm::Sha3_256 => Some(&aws_lc::SHA3_256),
        Algorithm::Sha3_512 => Some(&aws_lc::SHA3_512),
        _ => None,
    }
}

/// HMAC over the hash function that takes the messages.
pub fn ring_hmacs(algorithm: Algorithm) -> Option<(ring::hmac::Algorithm, aws_lc_rs::hmac::Algorithm)> {
    use {aws_lc_rs::hmac as aws_lc, ring::hmac as ring};
    match algorithm.hash() {
        Algorithm::Sha1 => Some((ring::HMAC_SHA1_FOR_LEGACY_USE_ONLY, aws_lc::HMAC_SHA1_FOR_LEGACY_USE_ONLY)),
        Algorithm::Sha256 => Some((ring::HMAC_SHA256, aws_lc::HMAC_SHA256)),
        Algorithm::Sha512 => Some((ring::HMAC_SHA512, aws_lc::HMAC_SHA512)),
        _ => None,
    }
}

/// PBKDF2 over the hash function that takes the messages.
pub fn ring_pbkdf2s(algorithm: Algorithm) -> Option<(ring::pbkdf2::Algorithm, aws_lc_rs::pbkdf2::Algorithm)> {
    use {aws_lc_rs::pbkdf2 as aws_lc, ring::pbkdf2 as ring};
    match algorithm.hash() {
        Algorithm::Sha1 => Some((ring::PBKDF2_HMAC_SHA1, aws_lc::PBKDF2_HMAC_SHA1)),
        Algorithm::Sha256 => Some((ring::PBKDF2_HMAC_SHA256, aws_lc::PBKDF2_HMAC_SHA256)),
        Algorithm::Sha512 => Some((ring::PBKDF2_HMAC_SHA512, aws_lc::PBKDF2_HMAC_SHA512)),
        _ => None,
    }
}

/// OffchainLabs' hashtree, which hashes nodes only. On a lower tier, the function that it would choose there.
pub fn hashtree() -> impl FnMut(&Messages, &mut [u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    let restricted: Option<HashtreeFn> = match Tier::of_this_process() {
        Tier::Here => None,
        Tier::NoAvx512 if std::is_x86_feature_detected!("sha") => Some(hashtree_sha256_shani_x2),
        Tier::NoAvx512 | Tier::Avx2 => Some(hashtree_sha256_avx2_x8),
        Tier::Ssse3 => Some(hashtree_sha256_sse_x1),
        Tier::Plain => Some(hashtree_sha256_generic),
    };
    #[cfg(not(target_arch = "x86_64"))]
    let restricted: Option<HashtreeFn> = None;
    move |messages, digests| {
        if messages.row_len != Some(64) {
            return false;
        }
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
    fn hashtree_sha256_sse_x1(digests: *mut u8, nodes: *const u8, count: u64);
    fn hashtree_sha256_generic(digests: *mut u8, nodes: *const u8, count: u64);
}

/// Nodes of a tree, two digests of 32 bytes each. The halves are laid out before the first round.
fn tape_pairs() -> impl FnMut(&Messages, &mut [u8]) -> bool {
    let mut halves: (Vec<&'static [u8]>, Vec<&'static [u8]>) = Default::default();
    move |messages, digests| {
        if messages.row_len != Some(64) {
            return false;
        }
        if halves.0.len() != messages.slices.len() {
            halves = messages.slices.iter().map(|message| message.split_at(32)).unzip();
        }
        tape_sha256::hash_pairs(&[], &halves.0, &halves.1, digests.as_chunks_mut().0);
        true
    }
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

/// A peer that is not a crate: whether it is there, how it is called, and how to get it.
struct Installed {
    name: &'static str,
    /// Empty if the peer is not there.
    version: String,
    how: &'static str,
    remedy: &'static str,
}

fn installed() -> [Installed; 6] {
    [
        Installed {
            name: "OpenSSL",
            version: openssl_version(),
            how: "EVP: fetched once, one context; below EVP: SHA1_Init, _Update, _Final and so on; for HMAC: EVP_MAC, \
                  HMAC_CTX, both with a kept key; in bench/never also HMAC and PKCS5_PBKDF2_HMAC",
            remedy: "apt-get install libssl-dev",
        },
        Installed {
            name: "ipsec-mb",
            version: ipsec_mb_version(),
            how: "jobs: one IMB_SUBMIT_JOB_NOCHECK a message; bursts: IMB_SUBMIT_BURST_NOCHECK of 128; hash bursts: \
                  IMB_SUBMIT_HASH_BURST_NOCHECK of 128, which 1.3 does not offer for plain SHA; direct: IMB_SHA1 and \
                  so on. Jobs are of 65,534 bytes at most",
            remedy: "apt-get install libipsec-mb-dev",
        },
        Installed {
            name: "ISA-L crypto",
            version: isal_version(),
            how: "_sha1_ctx_mgr_submit and so on, ISAL_HASH_ENTIRE, 2 contexts a lane",
            remedy: "apt-get install nasm && git clone https://github.com/intel/isa-l_crypto && make -C isa-l_crypto \
                     -f Makefile.unx units='sha1_mb sha256_mb sha512_mb misc' lib install prefix=$HOME/isal && \
                     export CPATH=$HOME/isal/include LIBRARY_PATH=$HOME/isal/lib LD_LIBRARY_PATH=$HOME/isal/lib",
        },
        Installed {
            name: "ecloop",
            version: env!("PEERS_ECLOOP").into(),
            how: "rmd160_batch of 8 blocks over AVX2, for hash160 after sha256_final",
            remedy: "git clone https://github.com/vladkens/ecloop && export ECLOOP_DIR=$PWD/ecloop",
        },
        Installed {
            name: "XKCP",
            version: env!("PEERS_XKCP").into(),
            how: "KeccakP1600times8, times4, times2 as far as a target has them, without copies for rows of whole \
                  words; KeccakP1600 for one message; in bench/never also Keccak_HashUpdate",
            remedy: "see the head of bench/peers/run.sh; it needs clang and xsltproc",
        },
        Installed {
            name: "Go",
            version: Go::start().map_or_else(String::new, |go| go.version.clone()),
            how: "sha1.Sum, sha256.Sum256, sha512.Sum512, sha3.Sum256 and sha3.Sum512, which golang.org/x/crypto calls \
                  too, a process of its own",
            remedy: "install Go 1.24 or later from https://go.dev/dl, put its folder bin into PATH",
        },
    ]
}

/// The peers that are not there, one a line, each with the commands that get it.
pub fn missing() -> String {
    let missing = installed().into_iter().filter(|peer| peer.version.is_empty());
    missing.map(|peer| format!("{}: not installed: {}\n", peer.name, peer.remedy)).collect()
}

/// Lists the sides with their versions and compilers, and the peers that are not installed.
pub fn list() -> String {
    let mut text = format!(
        "hashloom's instruction sets here: {}. Compiled by {}, as the C of the crates; Rust: {}.\n\n",
        hashloom::kernels::IsaSet::available(),
        env!("PEERS_CC"),
        env!("PEERS_RUSTC"),
    );
    for Installed { name, version, how, remedy } in installed() {
        text += &match version.is_empty() {
            false => format!("- {name} {version}: {how}\n"),
            true => format!("- {name}: **not installed**: {remedy}\n"),
        };
    }
    for (name, how) in [
        ("sha1", "Sha1::digest, one message after the other"),
        ("sha2", "the same"),
        ("ripemd", "the same"),
        ("md-5", "the same"),
        ("sha3", "the same"),
        ("keccak-asm", "the same"),
        ("ring", "digest::digest, one message after the other; hmac::sign"),
        ("aws-lc-rs", "the same"),
        ("stringzilla", "sha256_multistate_update and _digest, 16 states at a time"),
        ("commonware-cryptography", "Sha256::hash_many, Sha512::hash_many, Sequential"),
        ("tape-sha256", "hash_many; hash_pairs for 64 bytes"),
        ("hashtree-rs", "hash, for nodes of bench/never"),
    ] {
        text += &format!("- {name} {}: {how}\n", locked_version(name));
    }
    text
}

/// The version of a crate in the lock file that this program was built with.
pub fn locked_version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{name}\"\nversion = \"");
    // The greatest: an older one is a dependency of another crate.
    lock.split(&entry).skip(1).filter_map(|rest| rest.split('"').next()).last().unwrap_or("unknown")
}

#[allow(unused_macros, reason = "none of the C libraries may be installed")]
macro_rules! version {
    ($function:ident, $cfg:meta) => {
        pub fn $function() -> String {
            #[cfg($cfg)]
            {
                unsafe extern "C" {
                    safe fn $function() -> *const std::ffi::c_char;
                }
                // SAFETY: a static NUL-terminated string.
                return unsafe { std::ffi::CStr::from_ptr($function()) }.to_string_lossy().into_owned();
            }
            #[cfg(not($cfg))]
            String::new()
        }
    };
}

version!(openssl_version, has_openssl);
version!(ipsec_mb_version, has_ipsec_mb);
version!(isal_version, has_isal);
