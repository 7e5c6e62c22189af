// SPDX-License-Identifier: MIT OR Apache-2.0
//! BLAKE3 beside the crate `blake3`, which its authors wrote: lengths, keys, contexts, parts, subtrees.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::data;
use hashloom::{Algorithm, Hash, Hasher, finalize_many, hash, hash_many, update_many};
use proptest::prelude::*;

const KEY: &[u8; 32] = b"whats the Elvish word for friend";
const CONTEXT: &str = "hashloom 2026-11-27 16:00:00 test context";

/// Both hashers, with no key, a key, or the material of one.
fn begun() -> [(Hasher, blake3::Hasher); 3] {
    [
        (Hasher::new(Algorithm::Blake3), blake3::Hasher::new()),
        (Hasher::blake3_keyed(KEY), blake3::Hasher::new_keyed(KEY)),
        (Hasher::blake3_derive_key(CONTEXT), blake3::Hasher::new_derive_key(CONTEXT)),
    ]
}

/// Around ends of blocks, chunks and subtrees.
fn lengths() -> impl Iterator<Item = usize> {
    let around = |n: usize| n.saturating_sub(1)..=n + 1;
    let chunks = (1..=18).chain([31, 32, 33, 64, 127, 128, 129, 256, 257, 300]);
    (0..=130).chain(chunks.flat_map(move |n| around(1024 * n))).chain([1024 * 5 + 500, 400_000])
}

#[test]
fn lengths_keys_and_contexts() {
    let data = data(400_000);
    let messages: Vec<&[u8]> = lengths().map(|nbytes| &data[..nbytes]).collect();
    for (ours, theirs) in begun() {
        let expected: Vec<u8> =
            messages.iter().flat_map(|message| *theirs.clone().update(message).finalize().as_bytes()).collect();
        for (message, expected) in messages.iter().zip(expected.chunks(32)) {
            for part in [message.len().max(1), 1000, 1024, 7777] {
                let mut hasher = ours.clone();
                message.chunks(part).for_each(|part| hasher.update(part));
                assert_eq!(hasher.finalize(), *expected, "{} bytes in parts of {part}", message.len());
            }
        }
        let mut digests = vec![0; expected.len()];
        ours.hash_many(&messages, &mut digests);
        assert!(digests == expected);
    }
    let mut digests = vec![0; 32 * messages.len()];
    hash_many(Algorithm::Blake3, &messages, &mut digests);
    for (message, digest) in messages.iter().zip(digests.chunks(32)) {
        assert_eq!(blake3::hash(message).as_bytes(), digest);
        assert_eq!(hash(Algorithm::Blake3, message), *digest);
    }
}

#[test]
fn contexts_of_any_length() {
    let text = "0123456789abcdef".repeat(130);
    for nbytes in lengths().filter(|&nbytes| nbytes <= text.len()) {
        let mut hasher = Hasher::blake3_derive_key(&text[..nbytes]);
        hasher.update(b"material");
        assert_eq!(*hasher.finalize().as_ref(), blake3::derive_key(&text[..nbytes], b"material"));
    }
}

#[test]
fn reset_and_many_streams() {
    let data = data(5000);
    let mut hashers = vec![Hasher::new(Algorithm::Blake3); 40];
    for _ in 0..2 {
        let parts: Vec<&[u8]> = (0..40).map(|i| &data[..i * 125]).collect();
        update_many(&mut hashers, &parts);
        update_many(&mut hashers, &parts);
        let mut digests = [0; 40 * 32];
        finalize_many(&mut hashers, &mut digests);
        for (part, digest) in parts.iter().zip(digests.chunks(32)) {
            assert_eq!(blake3::Hasher::new().update(part).update(part).finalize().as_bytes(), digest);
        }
    }
    hashers[0].update(b"dropped");
    hashers[0].reset();
    assert_eq!(hashers[0].finalize_reset(), blake3::hash(b"").as_bytes()[..]);
    assert_eq!(hashers[0].finalize_reset(), blake3::hash(b"").as_bytes()[..]);
}

#[test]
fn refusals() {
    let text = |call: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("must panic");
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
    };
    let mut keyed = Hasher::blake3_keyed(KEY);
    for call in [Hasher::reset as fn(&mut Hasher), |hasher| _ = hasher.finalize_reset()] {
        assert!(
            text(&mut || call(&mut keyed.clone())).starts_with("a hasher with a key or parameters cannot begin anew")
        );
    }
    assert!(text(&mut || finalize_many(&mut [keyed.clone()], &mut [0; 32])).ends_with("finalize each"));
    let value = keyed.blake3_subtree(0, &[0; 1024]);
    keyed.add_blake3_subtree(1024, &value);
    assert!(text(&mut || _ = keyed.clone().finalize()).starts_with("hashloom: "), "a subtree is not the end");
    assert!(text(&mut || keyed.hash_many(&["a"], &mut [0; 32])).starts_with("Hasher::hash_many: "));
    for (at, nbytes) in [(0, 0), (0, 1023), (0, 3072), (1, 1024), (1024, 2048)] {
        let call = &mut || _ = Hasher::new(Algorithm::Blake3).blake3_subtree(at, &vec![0; nbytes]);
        assert!(text(call).contains("are no subtree"), "{nbytes} bytes at {at}");
    }
    assert!(text(&mut || keyed.add_blake3_subtree(2048, &value)).starts_with("hashloom: "), "not a multiple of it");
    let of_another = &mut || _ = Hasher::new(Algorithm::Sm3).blake3_subtree(0, &[0; 1024]);
    assert_eq!(text(of_another), "sm3 is no tree: BLAKE3 has subtrees");
}

proptest! {
    /// Parts of any length, some of them as subtrees.
    #[test]
    fn parts_and_subtrees(parts in prop::collection::vec((0..=8_u32, 0..3000_usize), 0..8), which in 0..3_usize) {
        let data = data(8 << 18);
        let (mut ours, mut theirs) = begun()[which].clone();
        let (mut at, mut is_whole) = (0, true);
        for (log, nbytes) in parts {
            let subtree = 1024 << log;
            if is_whole && at % subtree == 0 {
                let value = ours.blake3_subtree(at as u64, &data[at..][..subtree]);
                ours.add_blake3_subtree(subtree as u64, &value);
                theirs.update(&data[at..][..subtree]);
                at += subtree;
            }
            // After other bytes no subtree fits, nor after a whole chunk, which the stream keeps as it may be the last.
            let nbytes = if nbytes % 3 == 0 { 0 } else { nbytes };
            is_whole &= nbytes == 0;
            ours.update(&data[at..][..nbytes]);
            theirs.update(&data[at..][..nbytes]);
            at += nbytes;
        }
        ours.update(&[1]);
        theirs.update(&[1]);
        prop_assert_eq!(ours.finalize(), Hash::new(Algorithm::Blake3, theirs.finalize().as_bytes()));
    }
}
