// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls that a user makes, each with hashloom's way and those that it would replace.

use std::mem::MaybeUninit;
use std::num::NonZeroU32;

use hashloom_sys as sys;
use sha1::Digest;

use crate::peers::{self, HASHLOOM, Sides, Xkcp, add, add_own, c_peers};
use crate::scenario::{Algorithm, HMAC_KEY};

/// As in `c/peer.h`.
const HMAC_NKEYS: usize = 16;
const HMAC_KEYS: [u8; 48] = *b"48 bytes; each key takes a different part of it.";
const PART_LEN: usize = 40;
const PBKDF2_NITERATIONS: NonZeroU32 = NonZeroU32::new(100).unwrap();

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// One message: `hl_hash`.
    One,
    Many,
    Rows,
    /// Rows of 64 bytes: nodes of a Merkle tree.
    Nodes,
    /// HMAC with a key that is prepared once.
    Hmac,
    /// HMAC with another key for each message.
    HmacKeys,
    /// A message in one update.
    Stream,
    /// A message in updates of [`PART_LEN`] bytes.
    Parts,
    Hash160,
    Sha256d,
    /// Messages are passwords.
    Pbkdf2,
    /// As many nonces of four bytes as there are messages, in the last bytes of the first one.
    Search,
}

impl Call {
    pub fn name(self) -> &'static str {
        [
            "one",
            "many",
            "rows",
            "nodes",
            "hmac",
            "hmac-keys",
            "stream",
            "parts",
            "hash160",
            "sha256d",
            "pbkdf2",
            "search",
        ][self as usize]
    }

    /// hashloom first, then its peers.
    pub fn sides(self, algorithm: Algorithm) -> Sides {
        let mut sides = Vec::new();
        match self {
            Call::One => add_own(&mut sides, HASHLOOM, |messages, digests| {
                let message = messages.slices[0];
                // SAFETY: a slice, and room for its digest.
                let status = unsafe {
                    sys::hl_hash(messages.algorithm.hl(), message.as_ptr().cast(), message.len(), digests.as_mut_ptr())
                };
                status == sys::HL_OK
            }),
            Call::Rows | Call::Nodes => add_own(&mut sides, HASHLOOM, |messages, digests| {
                let nbytes = messages.slices[0].len();
                let (base, count) = (messages.data.as_ptr().cast(), messages.slices.len());
                // SAFETY: data are rows, and digests has room for all digests.
                let status = unsafe {
                    sys::hl_hash_rows(messages.algorithm.hl(), base, nbytes, nbytes, count, digests.as_mut_ptr())
                };
                status == sys::HL_OK
            }),
            Call::HmacKeys => hmac_keys(&mut sides, algorithm),
            Call::Stream => own_parts(&mut sides, usize::MAX),
            Call::Parts => parts(&mut sides, algorithm),
            Call::Pbkdf2 => pbkdf2(&mut sides, algorithm),
            Call::Search => search(&mut sides),
            Call::Many | Call::Hmac | Call::Hash160 | Call::Sha256d => {}
        }
        if !matches!(self, Call::HmacKeys | Call::Parts | Call::Pbkdf2 | Call::Search) {
            let is_own_there = !sides.is_empty();
            sides.extend(
                peers::sides(algorithm)
                    .into_iter()
                    .filter(|side| !side.is_own() || (!is_own_there && side.name() == HASHLOOM)),
            );
        }
        match self {
            Call::Nodes if algorithm == Algorithm::Sha256 => add(&mut sides, "hashtree", peers::hashtree()),
            Call::Nodes => {}
            // It takes halves of nodes.
            _ => sides.retain(|side| side.name() != "tape-sha256, hash_pairs"),
        }
        if self == Call::Stream {
            // Only those that can take a message in parts: the others would know its end.
            sides.retain(|side| side.is_own() || side.name().starts_with("OpenSSL") || CRATES.contains(&side.name()));
            peers::xkcp(&mut sides, Xkcp::Stream);
        }
        sides
    }
}

/// Crates whose one call is a new context, an update and the end.
const CRATES: [&str; 8] = ["md-5", "sha1", "sha2", "sha3", "keccak-asm", "ripemd", "ring", "aws-lc-rs"];

fn own_parts(sides: &mut Sides, part_len: usize) {
    add_own(sides, HASHLOOM, move |messages, digests| {
        let mut ctx = MaybeUninit::uninit();
        for (message, digest) in messages.slices.iter().zip(digests.chunks_exact_mut(messages.algorithm.digest_len())) {
            // SAFETY: the context is initialised first, and the digest has room.
            unsafe {
                sys::hl_init(ctx.as_mut_ptr(), messages.algorithm.hl());
                for part in message.chunks(part_len) {
                    sys::hl_update(ctx.as_mut_ptr(), part.as_ptr().cast(), part.len());
                }
                if sys::hl_final(ctx.as_mut_ptr(), digest.as_mut_ptr()) != sys::HL_OK {
                    return false;
                }
            }
        }
        true
    });
}

/// One message after the other, each by this function.
fn add_whole(sides: &mut Sides, name: &str, hash: impl Fn(&[u8], &mut [u8]) + 'static) {
    add(sides, name, move |messages, digests| {
        for (message, digest) in messages.slices.iter().zip(digests.chunks_exact_mut(messages.algorithm.digest_len())) {
            hash(message, digest);
        }
        true
    });
}

fn add_parts<D: Digest>(sides: &mut Sides, name: &str) {
    add_whole(sides, name, |message, digest| {
        let mut context = D::new();
        message.chunks(PART_LEN).for_each(|part| context.update(part));
        digest.copy_from_slice(&context.finalize());
    });
}

/// Its traits are older ones than those of the other crates.
fn add_asm_parts<D: keccak_asm::Digest>(sides: &mut Sides) {
    add_whole(sides, "keccak-asm", |message, digest| {
        let mut context = D::new();
        message.chunks(PART_LEN).for_each(|part| context.update(part));
        digest.copy_from_slice(&context.finalize());
    });
}

fn parts(sides: &mut Sides, algorithm: Algorithm) {
    own_parts(sides, PART_LEN);
    #[cfg(has_openssl)]
    c_peers!(sides, "OpenSSL EVP" = openssl_parts_evp, "OpenSSL, below EVP" = openssl_parts_low);
    match algorithm {
        Algorithm::Md5 => add_parts::<md5::Md5>(sides, "md-5"),
        Algorithm::Sha1 => add_parts::<sha1::Sha1>(sides, "sha1"),
        Algorithm::Sha256 => add_parts::<sha2::Sha256>(sides, "sha2"),
        Algorithm::Sha512 => add_parts::<sha2::Sha512>(sides, "sha2"),
        Algorithm::Ripemd160 => add_parts::<ripemd::Ripemd160>(sides, "ripemd"),
        Algorithm::Sha3_256 => add_parts::<sha3::Sha3_256>(sides, "sha3"),
        Algorithm::Sha3_512 => add_parts::<sha3::Sha3_512>(sides, "sha3"),
        _ => {}
    }
    match algorithm {
        Algorithm::Sha3_256 => add_asm_parts::<keccak_asm::Sha3_256>(sides),
        Algorithm::Sha3_512 => add_asm_parts::<keccak_asm::Sha3_512>(sides),
        _ => {}
    }
    peers::xkcp(sides, Xkcp::Parts);
    if let Some(ring) = peers::ring_digest(algorithm) {
        add_whole(sides, "ring", |message, digest| {
            let mut context = ring::digest::Context::new(ring);
            message.chunks(PART_LEN).for_each(|part| context.update(part));
            digest.copy_from_slice(context.finish().as_ref());
        });
    }
    if let Some(aws_lc) = peers::aws_lc_digest(algorithm) {
        add_whole(sides, "aws-lc-rs", |message, digest| {
            let mut context = aws_lc_rs::digest::Context::new(aws_lc);
            message.chunks(PART_LEN).for_each(|part| context.update(part));
            digest.copy_from_slice(context.finish().as_ref());
        });
    }
}

fn key_of(i: usize) -> &'static [u8] {
    &HMAC_KEYS[i % HMAC_NKEYS..][..HMAC_KEY.len()]
}

fn hmac_keys(sides: &mut Sides, algorithm: Algorithm) {
    let mut keys: Vec<MaybeUninit<sys::hl_hmac_key>> = Vec::new();
    add_own(sides, HASHLOOM, move |messages, digests| {
        let (count, alg) = (messages.slices.len(), messages.algorithm.hl());
        keys.resize_with(count, MaybeUninit::uninit);
        // SAFETY: each key is initialised before its use, and digests has room for all tags. As advised, keys are
        // wiped.
        unsafe {
            for (i, key) in keys.iter_mut().enumerate() {
                sys::hl_hmac_key_init(key.as_mut_ptr(), alg, key_of(i).as_ptr().cast(), HMAC_KEY.len());
            }
            let first = keys.as_mut_ptr().cast::<sys::hl_hmac_key>();
            let status = match messages.slices[..] {
                [message] => sys::hl_hmac(first, message.as_ptr().cast(), message.len(), digests.as_mut_ptr()),
                _ => sys::hl_hmac_many_keys(first, messages.raw.as_ptr(), count, digests.as_mut_ptr()),
            };
            for key in &mut keys {
                sys::hl_hmac_key_wipe(key.as_mut_ptr());
            }
            status == sys::HL_OK
        }
    });
    #[cfg(has_openssl)]
    c_peers!(
        sides,
        "OpenSSL HMAC" = openssl_hmac,
        "OpenSSL HMAC_CTX" = openssl_hmac_ctx,
        "OpenSSL EVP_MAC" = openssl_hmac_mac
    );
    if let Some((ring, aws_lc)) = peers::ring_hmacs(algorithm) {
        add_keyed(sides, "ring", move |key, message, tag| {
            tag.copy_from_slice(ring::hmac::sign(&ring::hmac::Key::new(ring, key), message).as_ref());
        });
        add_keyed(sides, "aws-lc-rs", move |key, message, tag| {
            tag.copy_from_slice(aws_lc_rs::hmac::sign(&aws_lc_rs::hmac::Key::new(aws_lc, key), message).as_ref());
        });
    }
}

fn add_keyed(sides: &mut Sides, name: &str, sign: impl Fn(&[u8], &[u8], &mut [u8]) + 'static) {
    add(sides, name, move |messages, tags| {
        let tags = tags.chunks_exact_mut(messages.algorithm.digest_len());
        for (i, (message, tag)) in messages.slices.iter().zip(tags).enumerate() {
            sign(key_of(i), message, tag);
        }
        true
    });
}

fn pbkdf2(sides: &mut Sides, algorithm: Algorithm) {
    let mut salts = Vec::new();
    add_own(sides, HASHLOOM, move |messages, keys| {
        let count = messages.slices.len();
        let salt = sys::hl_slice { data: HMAC_KEY.as_ptr().cast(), nbytes: HMAC_KEY.len() };
        salts.resize(count, salt);
        // SAFETY: raw are slices of static data, as the salt is, and keys has room for a digest each.
        let status = unsafe {
            sys::hl_pbkdf2_many(
                messages.algorithm.hl(),
                messages.raw.as_ptr(),
                salts.as_ptr(),
                PBKDF2_NITERATIONS.get(),
                count,
                keys.as_mut_ptr(),
                messages.algorithm.digest_len(),
            )
        };
        status == sys::HL_OK
    });
    #[cfg(has_openssl)]
    c_peers!(sides, "OpenSSL" = openssl_pbkdf2);
    if let Some((ring, aws_lc)) = peers::ring_pbkdf2s(algorithm) {
        add_whole(sides, "ring", move |password, key| {
            ring::pbkdf2::derive(ring, PBKDF2_NITERATIONS, &HMAC_KEY, password, key);
        });
        add_whole(sides, "aws-lc-rs", move |password, key| {
            aws_lc_rs::pbkdf2::derive(aws_lc, PBKDF2_NITERATIONS, &HMAC_KEY, password, key);
        });
    }
}

fn search(sides: &mut Sides) {
    let mut nonces = Vec::new();
    add_own(sides, HASHLOOM, move |messages, found| {
        let is_twice = messages.algorithm == Algorithm::Sha256d;
        nonces.resize(messages.slices.len(), 0);
        // SAFETY: a search may be all zeros.
        let mut job: sys::hl_search_job = unsafe { std::mem::zeroed() };
        job.nbytes = size_of_val(&job);
        job.alg = messages.algorithm.hl();
        job.again = if is_twice { sys::HL_SHA256 } else { 0 };
        job.prefix = messages.data.as_ptr().cast();
        job.prefix_nbytes = messages.slices[0].len() - 4;
        job.nonce_width = 4;
        job.nonce_order = sys::HL_LEAST_FIRST;
        job.digest_order = if is_twice { sys::HL_LEAST_FIRST } else { sys::HL_MOST_FIRST };
        job.last = nonces.len() as u64 - 1;
        job.target[1..].fill(0xff);
        let mut nfound = 0;
        // SAFETY: the prefix can be read, and nonces written.
        if unsafe { sys::hl_search(&job, nonces.as_mut_ptr(), nonces.len(), &mut nfound) } != sys::HL_OK {
            return false;
        }
        for (nonce, to) in nonces[..nfound].iter().zip(found.chunks_exact_mut(8)) {
            to.copy_from_slice(&nonce.to_le_bytes());
        }
        true
    });
    #[cfg(has_openssl)]
    c_peers!(sides, "OpenSSL, below EVP" = openssl_search);
}
