// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C calls of SHA-1 that finds collision attacks.

use super::{WIPED, check, sys, with_slices};
use crate::sha1dc::Checked;

const NBYTES: usize = sys::HL_SHA1DC_DIGEST_NBYTES;

pub fn hash_many<M: AsRef<[u8]>>(messages: &[M], checked: &mut [Checked]) {
    // SAFETY: a Checked is an array of NBYTES bytes, any of which are valid, and the slice is ours alone.
    let bytes = unsafe { core::slice::from_raw_parts_mut(checked.as_mut_ptr().cast(), size_of_val(checked)) };
    with_slices(NBYTES, messages, bytes, |slices, digests| {
        // SAFETY: with_slices gives live slices and room for a digest of each.
        unsafe { sys::hl_hash_many(sys::HL_SHA1DC, slices.as_ptr(), slices.len(), digests) }
    });
}

/// A running computation.
#[derive(Clone)]
pub struct Ctx(sys::hl_ctx);

impl Ctx {
    pub fn new() -> Self {
        let mut ctx = Ctx(WIPED);
        // SAFETY: the context is ours alone.
        check(unsafe { sys::hl_init(&mut ctx.0, sys::HL_SHA1DC) });
        ctx
    }

    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: the context is initialised; data is a slice.
        check(unsafe { sys::hl_update(&mut self.0, data.as_ptr().cast(), data.len()) });
    }

    pub fn finalize(mut self) -> Checked {
        let mut bytes = [0; NBYTES];
        // SAFETY: the context is initialised; the array has room for the digest.
        check(unsafe { sys::hl_final(&mut self.0, bytes.as_mut_ptr()) });
        Checked(bytes)
    }
}
