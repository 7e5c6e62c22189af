// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole messages: slices, rows; refusals and their messages.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{data, oracle, oracle_many};
use hashloom::{Algorithm, hash, hash_many, hash_rows, hash160_rows, sha256d_rows, xof, xof_many};

/// Runs `call`, which must panic, and returns the panic's message.
fn panic_of(call: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("must panic");
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without a formatted message".into())
}

#[test]
fn more_messages_than_one_window() {
    let data = data(3000);
    for &algorithm in Algorithm::ALL {
        for count in [0, 1, 1024, 2500] {
            let messages: Vec<Vec<u8>> = (0..count).map(|i| data[i..][..i * 7 % 200].to_vec()).collect();
            let mut digests = vec![0; count * algorithm.digest_nbytes()];
            hash_many(algorithm, &messages, &mut digests);
            assert!(digests == oracle_many(algorithm, &messages), "{count} of {algorithm}");
        }
    }
}

/// Digests of any length.
#[test]
fn extendable_output() {
    let data = data(3000);
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.is_xof()) {
        for digest_nbytes in [0, 1, 16, 31, 32, 63, 64, 65, 135, 136, 137, 168, 169, 500] {
            for count in [0, 1, 2, 7, if digest_nbytes == 137 { 1025 } else { 40 }] {
                let messages: Vec<&[u8]> = (0..count).map(|i| &data[i..][..i * 7 % 500]).collect();
                let mut digests = vec![0; count * digest_nbytes];
                xof_many(algorithm, &messages, digest_nbytes, &mut digests);
                let expected =
                    messages.iter().flat_map(|message| crate::common::xof_oracle(algorithm, message, digest_nbytes));
                assert!(digests == expected.collect::<Vec<_>>(), "{count} of {algorithm}, {digest_nbytes} bytes each");
            }
            let mut digest = vec![0; digest_nbytes];
            xof(algorithm, &data, &mut digest);
            assert_eq!(digest, crate::common::xof_oracle(algorithm, &data, digest_nbytes));
        }
    }
    let text = panic_of(|| xof(Algorithm::Sha256, b"", &mut [0; 32]));
    assert_eq!(text, "xof: digests of sha256 have 32 bytes; those of an XOF have any number");
    let text = panic_of(|| xof_many(Algorithm::Shake128, &["a", "b"], 30, &mut [0; 59]));
    assert_eq!(text, "digests has 59 bytes, but 2 digests take 2 * 30");
}

#[test]
fn rows() {
    let data = data(4000);
    for &algorithm in Algorithm::ALL {
        for (stride, row_nbytes, count) in [
            (64, 64, 62),
            (100, 64, 40),
            (64, 100, 61),
            (0, 55, 17),
            (1, 1, 4000),
            (7, 0, 500),
            (0, 0, 3),
            (usize::MAX, 4000, 1),
        ] {
            let rows: Vec<&[u8]> = (0..count).map(|i| &data[i * stride..][..row_nbytes]).collect();
            let mut digests = vec![0; count * algorithm.digest_nbytes()];
            hash_rows(algorithm, &data, stride, row_nbytes, count, &mut digests);
            assert!(digests == oracle_many(algorithm, &rows), "{count} rows of {row_nbytes} bytes, stride {stride}");
        }
        hash_rows(algorithm, &data, usize::MAX, usize::MAX, 0, &mut []);
        hash_rows(algorithm, &[], 0, 0, 2, &mut vec![0; 2 * algorithm.digest_nbytes()]);
    }
}

#[test]
fn rows_hashed_twice() {
    let data = data(40_000);
    for (stride, row_nbytes, count) in [(33, 33, 1000), (65, 65, 99), (80, 80, 5), (3, 100, 40), (0, 21, 2), (9, 9, 0)]
    {
        let rows: Vec<&[u8]> = (0..count).map(|i| &data[i * stride..][..row_nbytes]).collect();
        let once: Vec<Vec<u8>> = rows.iter().map(|row| oracle(Algorithm::Sha256, row)).collect();
        let mut digests = vec![0; count * 20];
        hash160_rows(&data, stride, row_nbytes, count, &mut digests);
        assert!(digests == oracle_many(Algorithm::Ripemd160, &once), "hash160: {count} rows of {row_nbytes} bytes");
        let mut digests = vec![0; count * 32];
        sha256d_rows(&data, stride, row_nbytes, count, &mut digests);
        assert!(digests == oracle_many(Algorithm::Sha256, &once), "sha256d: {count} rows of {row_nbytes} bytes");
    }
    let text = panic_of(|| hash160_rows(&[0; 65], 33, 33, 2, &mut [0; 40]));
    assert_eq!(text, "hash160_rows: 2 rows of 33 bytes at a stride of 33 do not fit into 65 bytes");
    let text = panic_of(|| sha256d_rows(&[0; 159], 80, 80, 2, &mut [0; 64]));
    assert_eq!(text, "sha256d_rows: 2 rows of 80 bytes at a stride of 80 do not fit into 159 bytes");
    let text = panic_of(|| sha256d_rows(&[0; 160], 80, 80, 2, &mut [0; 40]));
    assert_eq!(text, "digests has 40 bytes, but 2 digests of sha256 take 2 * 32");
}

#[test]
fn rows_beyond_the_data() {
    for (stride, row_nbytes, count) in [(10, 11, 10), (11, 10, 10), (usize::MAX, 1, 2), (1, usize::MAX, 2), (0, 101, 1)]
    {
        let mut digests = vec![0xee; count * 20];
        let text = panic_of(|| hash_rows(Algorithm::Sha1, &[0; 100], stride, row_nbytes, count, &mut digests));
        let expected =
            format!("hash_rows: {count} rows of {row_nbytes} bytes at a stride of {stride} do not fit into 100 bytes");
        assert_eq!(text, expected);
        assert!(digests.iter().all(|&byte| byte == 0xee));
    }
}

#[test]
fn digests_of_another_size() {
    let text = panic_of(|| hash_many(Algorithm::Sha1, &["a", "b"], &mut [0; 64]));
    assert_eq!(text, "digests has 64 bytes, but 2 digests of sha1 take 2 * 20");
    let text = panic_of(|| hash_rows(Algorithm::Sha256, &[0; 64], 32, 32, 2, &mut [0; 63]));
    assert_eq!(text, "digests has 63 bytes, but 2 digests of sha256 take 2 * 32");
    let text = panic_of(|| hash_rows(Algorithm::Sha256, &[], 0, 0, usize::MAX, &mut []));
    assert!(text.starts_with("digests has 0 bytes"), "{text}");
}

#[test]
fn algorithms() {
    for &algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string(), algorithm.name());
        assert_eq!(algorithm.digest_nbytes(), oracle(algorithm, b"").len());
    }
    for name in ["", "SHA1", "sha-1", "sha1 ", "sha512/256", "md4"] {
        let all: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
        let text = format!("unknown algorithm {name:?}: expected one of {}", all.join(", "));
        assert_eq!(name.parse::<Algorithm>().unwrap_err().to_string(), text);
    }
}

#[test]
fn digest_values() {
    let (a, b) = (hash(Algorithm::Sha1, b"abc"), hash(Algorithm::Sha256, b"abc"));
    assert_eq!(a.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_eq!(format!("{a:?}"), "Hash(a9993e364706816aba3e25717850c26c9cd0d89d)");
    assert_eq!(b.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_ne!(a, b);
    assert!(a < b);
    let set: std::collections::HashSet<_> = [a, b, a].into();
    assert_eq!(set.len(), 2);
}
