// SPDX-License-Identifier: MIT OR Apache-2.0
//! The common parts of the tests: an independent oracle, messages, and a loop over all kernels.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../../../../test/skipped.rs"]
pub mod skipped;

use std::sync::OnceLock;

use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, Kernel, ParseIsaError, kernels};
use sha2::Digest;

/// The digest, computed by RustCrypto's `sha1`, `sha2`, `ripemd` and `md-5`, which share no code with this project.
pub fn oracle(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Sha1 => sha1::Sha1::digest(message).to_vec(),
        Algorithm::Sha224 => sha2::Sha224::digest(message).to_vec(),
        Algorithm::Sha256 => sha2::Sha256::digest(message).to_vec(),
        Algorithm::Sha384 => sha2::Sha384::digest(message).to_vec(),
        Algorithm::Sha512 => sha2::Sha512::digest(message).to_vec(),
        Algorithm::Sha512_224 => sha2::Sha512_224::digest(message).to_vec(),
        Algorithm::Sha512_256 => sha2::Sha512_256::digest(message).to_vec(),
        Algorithm::Ripemd160 => ripemd::Ripemd160::digest(message).to_vec(),
        Algorithm::Md5 => md5::Md5::digest(message).to_vec(),
        _ => panic!("no oracle for {algorithm}"),
    }
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
