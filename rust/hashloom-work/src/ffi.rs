// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C calls: the only module with `unsafe`.

use std::ptr;

use hashloom::{Algorithm, check};
use hashloom_sys as sys;

use crate::Parts;

/// Whether `search` takes the algorithm.
pub fn is_searchable(algorithm: Algorithm) -> bool {
    // SAFETY: a description that is not NULL is static and never written.
    let info = unsafe { sys::hl_alg_find(algorithm as sys::hl_alg).as_ref() };
    info.is_some_and(|info| info.ending == sys::HL_STRENGTHENED)
}

/// Writes the first of the nonces found to `nonces`, and returns their number.
pub fn search(parts: &Parts<'_>, first: u64, last: u64, nonces: &mut [u64]) -> usize {
    let order = |least_first| if least_first { sys::HL_LEAST_FIRST } else { sys::HL_MOST_FIRST };
    let job = sys::hl_search_job {
        nbytes: size_of::<sys::hl_search_job>(),
        alg: parts.algorithm as sys::hl_alg,
        again: parts.again.map_or(0, |again| again as sys::hl_alg),
        prefix: parts.prefix.as_ptr().cast(),
        prefix_nbytes: parts.prefix.len(),
        suffix: parts.suffix.as_ptr().cast(),
        suffix_nbytes: parts.suffix.len(),
        alphabet: if parts.digits.is_empty() { ptr::null() } else { parts.digits.as_ptr().cast() },
        base: u32::try_from(parts.digits.len()).expect("an alphabet has at most 256 digits"),
        nonce_width: parts.width.unwrap_or(0),
        nonce_order: order(parts.least_digit_first),
        digest_order: order(parts.least_byte_first),
        first,
        last,
        target: parts.target.0,
    };
    let mut nfound = 0;
    // SAFETY: the slices live on, the alphabet has `base` bytes, and `nonces` has room for as many as are told.
    check(unsafe { sys::hl_search(&job, nonces.as_mut_ptr(), nonces.len(), &mut nfound) });
    nfound
}
