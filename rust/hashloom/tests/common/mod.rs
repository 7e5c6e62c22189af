// SPDX-License-Identifier: MIT OR Apache-2.0
//! The common parts of the tests: an independent oracle, messages, and a loop over all kernels.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../../../../test/skipped.rs"]
pub mod skipped;

use std::sync::OnceLock;

use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, Kernel, ParseIsaError, kernels};
use hashloom_sys::{HL_SPONGE, HL_XOF, hl_alg_find, hl_alg_info};
use sha2::Digest;

/// Calls one of two macros with each algorithm, the type of RustCrypto's `sha1`, `sha2`, `sha3`, `ripemd` and `md-5`
/// that computes it, and, unless it is an XOF, our type of its HMAC. RustCrypto shares no code with this project.
macro_rules! each_peer {
    ($fixed:ident, $xof:ident) => {
        // algorithms.py: rust_peers
        $fixed!(Sha1, sha1::Sha1, HmacSha1);
        $fixed!(Sha224, sha2::Sha224, HmacSha224);
        $fixed!(Sha256, sha2::Sha256, HmacSha256);
        $fixed!(Sha384, sha2::Sha384, HmacSha384);
        $fixed!(Sha512, sha2::Sha512, HmacSha512);
        $fixed!(Sha512_224, sha2::Sha512_224, HmacSha512_224);
        $fixed!(Sha512_256, sha2::Sha512_256, HmacSha512_256);
        $fixed!(Ripemd160, ripemd::Ripemd160, HmacRipemd160);
        $fixed!(Md5, md5::Md5, HmacMd5);
        $fixed!(Sha3_224, sha3::Sha3_224, HmacSha3_224);
        $fixed!(Sha3_256, sha3::Sha3_256, HmacSha3_256);
        $fixed!(Sha3_384, sha3::Sha3_384, HmacSha3_384);
        $fixed!(Sha3_512, sha3::Sha3_512, HmacSha3_512);
        $fixed!(Keccak256, sha3::Keccak256, HmacKeccak256);
        $xof!(Shake128, sha3::Shake128);
        $xof!(Shake256, sha3::Shake256);
        $fixed!(Sm3, sm3::Sm3, HmacSm3);
        // algorithms.py: end
    };
}

/// The digest, computed by RustCrypto.
pub fn oracle(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            if algorithm == Algorithm::$type {
                return <$peer>::digest(message).to_vec();
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {
            if algorithm == Algorithm::$type {
                return xof_oracle(algorithm, message, algorithm.digest_nbytes());
            }
        };
    }
    each_peer!(fixed, xof);
    match algorithm {
        Algorithm::Blake2b => blake2::Blake2b512::digest(message).to_vec(),
        Algorithm::Blake2b256 => blake2::Blake2b256::digest(message).to_vec(),
        Algorithm::Blake2s => blake2::Blake2s256::digest(message).to_vec(),
        Algorithm::Blake3 => blake3::hash(message).as_bytes().to_vec(),
        _ => panic!("no oracle for {algorithm}"),
    }
}

/// The digest of that length, computed by RustCrypto.
pub fn xof_oracle(algorithm: Algorithm, message: &[u8], digest_nbytes: usize) -> Vec<u8> {
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {};
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {
            if algorithm == Algorithm::$type {
                let mut digest = vec![0; digest_nbytes];
                <$peer as sha3::digest::ExtendableOutput>::digest_xof(message, &mut digest);
                return digest;
            }
        };
    }
    each_peer!(fixed, xof);
    panic!("{algorithm} is no XOF");
}

/// The algorithms that HMAC is defined with.
pub fn with_hmac() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.has_hmac())
}

/// The C library's description of the algorithm.
pub fn described(algorithm: Algorithm) -> hl_alg_info {
    // SAFETY: a description that is not NULL is static and never written.
    *unsafe { hl_alg_find(algorithm as u32).as_ref() }.expect("the C library has every algorithm")
}

/// Whether the algorithm is of SHA-3's kind.
pub fn is_sponge(algorithm: Algorithm) -> bool {
    matches!(described(algorithm).ending, HL_SPONGE | HL_XOF)
}

/// The digests of many messages by the oracle, one after the other.
pub fn oracle_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M]) -> Vec<u8> {
    messages.iter().flat_map(|message| oracle(algorithm, message.as_ref())).collect()
}

/// `len` bytes of a fixed sequence, without a period that a block or lane count divides.
pub fn data(len: usize) -> Vec<u8> {
    let mut x = 0x9e37_79b9_u32;
    let next = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Calls `test` with every kernel that this machine can run and its algorithm; names the others on standard error.
pub fn each_kernel(mut test: impl FnMut(Kernel, Algorithm)) {
    check_expected();
    for kernel in kernels() {
        if !kernel.is_available() {
            skipped::skipped_part(format!("kernel {kernel}"), format!("this machine has no {}", kernel.isa()));
            continue;
        }
        for &algorithm in Algorithm::ALL.iter().filter(|&&algorithm| kernel.computes(algorithm)) {
            test(kernel, algorithm);
        }
    }
}

/// Fails unless this build and machine have every instruction set that `HASHLOOM_EXPECT` names (`avx512,sha`), so that
/// a run that should test a kernel cannot pass without it.
pub fn check_expected() {
    static RESULT: OnceLock<Result<(), ParseIsaError>> = OnceLock::new();
    let result = RESULT.get_or_init(|| match std::env::var("HASHLOOM_EXPECT") {
        Ok(names) if !names.is_empty() => IsaSet::parse(&names).map(drop),
        _ => Ok(()),
    });
    if let Err(error) = result {
        panic!("HASHLOOM_EXPECT: {error}");
    }
}
