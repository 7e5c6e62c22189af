// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashloom's way of each call.

use std::ffi::c_void;
use std::mem::{MaybeUninit, zeroed};

use hashloom_sys as sys;

use crate::peers::Side;
use crate::work::{Call, HMAC_KEY, Hash, Messages, PART_LEN, PBKDF2_NITERATIONS, key_of};

pub fn side(call: Call, hash: Hash) -> Side {
    let alg = hash.hl();
    let mut kept = MaybeUninit::uninit();
    // SAFETY: the key has room for a key, and the secret is as long as stated.
    let kept: sys::hl_hmac_key = unsafe {
        sys::hl_hmac_key_init(kept.as_mut_ptr(), alg, HMAC_KEY.as_ptr().cast(), HMAC_KEY.len());
        kept.assume_init()
    };
    let mut keys: Vec<MaybeUninit<sys::hl_hmac_key>> = Vec::new();
    let mut nonces = Vec::new();
    Side::new("hashloom", move |messages: &Messages, digests: &mut [u8]| {
        let (first, raw, count) = (messages.slices[0], messages.raw.as_ptr(), messages.slices.len());
        let (base, nbytes, out) = (messages.data.as_ptr().cast::<c_void>(), first.len(), digests.as_mut_ptr());
        // SAFETY: raw are slices of static data, base has rows where the lengths are equal, and digests has room for
        // all digests.
        let status = unsafe {
            match call {
                Call::One => sys::hl_hash(alg, base, nbytes, out),
                Call::Many | Call::Between => sys::hl_hash_many(alg, raw, count, out),
                Call::Rows | Call::Nodes => sys::hl_hash_rows(alg, base, nbytes, nbytes, count, out),
                Call::Hash160 => sys::hl_hash160_rows(base, nbytes, nbytes, count, out),
                Call::Sha256d => sys::hl_sha256d_rows(base, nbytes, nbytes, count, out),
                Call::Hmac if count == 1 => sys::hl_hmac(&kept, base, nbytes, out),
                Call::Hmac => sys::hl_hmac_many(&kept, raw, count, out),
                Call::HmacKeys => {
                    keys.resize_with(count, MaybeUninit::uninit);
                    for (i, key) in keys.iter_mut().enumerate() {
                        sys::hl_hmac_key_init(key.as_mut_ptr(), alg, key_of(i).as_ptr().cast(), HMAC_KEY.len());
                    }
                    let all = keys.as_mut_ptr().cast::<sys::hl_hmac_key>();
                    let status = match count {
                        1 => sys::hl_hmac(all, base, nbytes, out),
                        _ => {
                            let mut job = std::mem::zeroed::<sys::hl_job>();
                            job.nbytes = size_of::<sys::hl_job>();
                            (job.messages.base, job.messages.count) = (raw.cast(), count);
                            (job.keys, job.key_stride, job.digests) = (all, size_of::<sys::hl_hmac_key>(), out);
                            sys::hl_run(&job)
                        }
                    };
                    // As advised, keys are wiped.
                    keys.iter_mut().for_each(|key| sys::hl_hmac_key_wipe(key.as_mut_ptr()));
                    status
                }
                Call::Stream | Call::Parts => {
                    let mut ctx = MaybeUninit::uninit();
                    sys::hl_init(ctx.as_mut_ptr(), alg);
                    for part in first.chunks(if call == Call::Parts { PART_LEN } else { usize::MAX }) {
                        sys::hl_update(ctx.as_mut_ptr(), part.as_ptr().cast(), part.len());
                    }
                    sys::hl_final(ctx.as_mut_ptr(), out)
                }
                Call::Pbkdf2 => {
                    let salt = sys::hl_slice { data: HMAC_KEY.as_ptr().cast(), nbytes: HMAC_KEY.len() };
                    let salts = vec![salt; count];
                    let len = messages.digest_len();
                    sys::hl_pbkdf2_many(alg, raw, salts.as_ptr(), PBKDF2_NITERATIONS, count, out, len)
                }
                Call::Search | Call::Search2 => {
                    let is_twice = call == Call::Search2;
                    nonces.resize(count, 0);
                    let mut job: sys::hl_search_job = zeroed();
                    job.nbytes = size_of_val(&job);
                    job.alg = alg;
                    job.again = if is_twice { sys::HL_SHA256 } else { 0 };
                    (job.prefix, job.prefix_nbytes, job.nonce_width) = (base, nbytes - 4, 4);
                    job.nonce_order = sys::HL_LEAST_FIRST;
                    job.digest_order = if is_twice { sys::HL_LEAST_FIRST } else { sys::HL_MOST_FIRST };
                    job.last = count as u64 - 1;
                    job.target[1..].fill(0xff);
                    let mut nfound = 0;
                    let status = sys::hl_search(&job, nonces.as_mut_ptr(), count, &mut nfound);
                    for (nonce, to) in nonces[..nfound].iter().zip(digests.chunks_exact_mut(8)) {
                        to.copy_from_slice(&nonce.to_le_bytes());
                    }
                    status
                }
            }
        };
        status == sys::HL_OK
    })
}
