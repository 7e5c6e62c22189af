// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that arrive in parts: however they are cut, the digest is that of the whole message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{data, oracle, oracle_many};
use hashloom::{Algorithm, Hasher, finalize_many, update_many};

#[test]
fn reset_and_reuse() {
    let mut hasher = Hasher::new(Algorithm::Sha256);
    hasher.update(b"dropped");
    hasher.reset();
    hasher.update(b"abc");
    assert_eq!(hasher.finalize_reset(), oracle(Algorithm::Sha256, b"abc")[..]);
    assert_eq!(hasher.finalize_reset(), oracle(Algorithm::Sha256, b"")[..]);
}

#[cfg(feature = "std")]
#[test]
fn a_writer() {
    use std::io::Write;

    let mut hasher = Hasher::new(Algorithm::Sha256);
    hasher.write_all(b"abc").unwrap();
    assert_eq!(hasher.finalize(), oracle(Algorithm::Sha256, b"abc")[..]);
}

/// Digests of any length, however they are read.
#[test]
fn extendable_output() {
    let data = data(700);
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.is_xof()) {
        let expected = crate::common::xof_oracle(algorithm, &data, 1000);
        for first in 0..=400 {
            let mut hasher = Hasher::new(algorithm);
            hasher.update(&data[..first]);
            hasher.update(&data[first..]);
            let mut reader = hasher.finalize_xof();
            let mut digest = [0; 1000];
            reader.read(&mut digest[..first]);
            let mut copy = reader.clone();
            reader.read(&mut digest[first..]);
            assert!(digest[..] == expected, "{algorithm}, {first} bytes first");
            digest[first..].fill(0);
            copy.read(&mut digest[first..]);
            assert!(digest[..] == expected, "{algorithm}, {first} bytes first, a clone");
        }
    }
    let panic = catch_unwind(|| Hasher::new(Algorithm::Sha3_256).finalize_xof()).unwrap_err();
    let expected = "Hasher::finalize_xof: digests of sha3-256 have 32 bytes; those of an XOF have any number";
    assert_eq!(*panic.downcast_ref::<String>().unwrap(), expected);
}

#[cfg(feature = "std")]
#[test]
fn a_reader() {
    use std::io::Read;

    let mut digest = Vec::new();
    Hasher::new(Algorithm::Shake128).finalize_xof().take(500).read_to_end(&mut digest).unwrap();
    assert_eq!(digest, crate::common::xof_oracle(Algorithm::Shake128, b"", 500));
}

/// Hashers and digests can be moved to other threads and shared between threads.
#[test]
fn send_and_sync() {
    fn is_both<T: Send + Sync + 'static>() {}
    is_both::<Hasher>();
    is_both::<hashloom::Hash>();
    is_both::<hashloom::kernels::Kernel>();
}

#[test]
fn debug_shows_no_data() {
    let mut hasher = Hasher::new(Algorithm::Sha1);
    hasher.update(b"secret");
    assert_eq!(format!("{hasher:?}"), "Hasher { algorithm: Sha1, .. }");
}

#[test]
fn more_streams_than_one_window() {
    let data = data(3000);
    for &algorithm in Algorithm::ALL {
        for count in [0, 1, 1024, 2049] {
            let mut hashers = vec![Hasher::new(algorithm); count];
            let messages: Vec<&[u8]> = (0..count).map(|i| &data[i..][..i * 11 % 300]).collect();
            let halves = messages.iter().map(|message| message.split_at(message.len() / 2));
            let (heads, tails): (Vec<&[u8]>, Vec<&[u8]>) = halves.unzip();
            // Updates of one stream and of many can be mixed.
            hashers.iter_mut().zip(&heads).for_each(|(hasher, head)| hasher.update(&head[..head.len() / 2]));
            update_many(&mut hashers, &heads.iter().map(|head| &head[head.len() / 2..]).collect::<Vec<_>>());
            update_many(&mut hashers, &tails);
            let mut digests = vec![0; count * algorithm.digest_nbytes()];
            finalize_many(&mut hashers, &mut digests);
            assert!(digests == oracle_many(algorithm, &messages), "{count} streams of {algorithm}");
            // The hashers are fresh again.
            update_many(&mut hashers, &tails);
            finalize_many(&mut hashers, &mut digests);
            assert!(digests == oracle_many(algorithm, &tails), "{count} streams of {algorithm}, again");
        }
    }
}

#[test]
fn misuse_panics_and_changes_nothing() {
    let mut mixed = [Hasher::new(Algorithm::Sha1), Hasher::new(Algorithm::Sha256)];
    let mut check = |call: &mut dyn FnMut(&mut [Hasher]), expected: &str| {
        let payload = catch_unwind(AssertUnwindSafe(|| call(&mut mixed))).expect_err("must panic");
        assert_eq!(payload.downcast_ref::<String>().unwrap(), expected);
        for hasher in &mixed {
            assert_eq!(hasher.clone().finalize(), oracle(hasher.algorithm(), b"")[..]);
        }
    };
    check(&mut |h| update_many(h, &["a", "b"]), "hasher 0 is of sha1 but hasher 1 is of sha256; they must be of one");
    check(
        &mut |h| finalize_many(h, &mut [0; 52]),
        "hasher 0 is of sha1 but hasher 1 is of sha256; they must be of one",
    );
    check(&mut |h| update_many(h, &["a"]), "update_many: 2 hashers but 1 chunks; each hasher takes one");
    check(&mut |h| finalize_many(&mut h[..1], &mut [0; 21]), "digests has 21 bytes, but 1 digests of sha1 take 1 * 20");
    check(&mut |h| finalize_many(&mut h[..0], &mut [0; 1]), "finalize_many: no hashers but room for 1 bytes");
}
