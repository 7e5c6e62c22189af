// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole messages: slices, rows; refusals and their messages.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{data, oracle, oracle_many};
use hashloom::{Algorithm, RowLayout, Rows, hash, hash_many, hash_rows, hash160_rows, sha256d_rows, xof, xof_many};

/// Runs `call`, which must panic, and returns the panic's message.
pub fn panic_of(call: impl FnOnce()) -> String {
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
            let layout = RowLayout { row_nbytes, stride, count };
            hash_rows(algorithm, Rows::new(&data, layout), &mut digests);
            assert!(digests == oracle_many(algorithm, &rows), "{count} rows of {row_nbytes} bytes, stride {stride}");
        }
        let none = RowLayout { row_nbytes: usize::MAX, stride: usize::MAX, count: 0 };
        hash_rows(algorithm, Rows::new(&data, none), &mut []);
        hash_rows(algorithm, &[[]; 2], &mut vec![0; 2 * algorithm.digest_nbytes()]);
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
        hash160_rows(Rows::new(&data, RowLayout { row_nbytes, stride, count }), &mut digests);
        assert!(digests == oracle_many(Algorithm::Ripemd160, &once), "hash160: {count} rows of {row_nbytes} bytes");
        let mut digests = vec![0; count * 32];
        sha256d_rows(Rows::new(&data, RowLayout { row_nbytes, stride, count }), &mut digests);
        assert!(digests == oracle_many(Algorithm::Sha256, &once), "sha256d: {count} rows of {row_nbytes} bytes");
    }
    let text = panic_of(|| hash160_rows(&[[0; 33]; 2], &mut [0; 39]));
    assert_eq!(text, "digests has 39 bytes, but 2 digests of ripemd160 take 2 * 20");
    let text = panic_of(|| sha256d_rows(&[[0; 80]; 2], &mut [0; 40]));
    assert_eq!(text, "digests has 40 bytes, but 2 digests of sha256 take 2 * 32");
}

#[test]
fn rows_beyond_the_data() {
    for (stride, row_nbytes, count) in [(10, 11, 10), (11, 10, 10), (usize::MAX, 1, 2), (1, usize::MAX, 2), (0, 101, 1)]
    {
        let layout = RowLayout { row_nbytes, stride, count };
        let text = panic_of(|| _ = Rows::new(&[0; 100], layout));
        let expected = format!("{count} rows of {row_nbytes} bytes at a stride of {stride} do not fit into 100 bytes");
        assert_eq!(text, expected);
    }
}

#[test]
fn rows_of_all_kinds() {
    let data = data(100);
    let table: Vec<[u8; 7]> = data.chunks_exact(7).map(|row| row.try_into().unwrap()).collect();
    let all = |rows: Rows<'_>| (0..=rows.len()).map_while(|i| rows.get(i).map(<[u8]>::to_vec)).collect::<Vec<_>>();
    let expected: Vec<Vec<u8>> = data.chunks_exact(7).map(<[u8]>::to_vec).collect();
    let rows = Rows::chunks_exact(&data, 7);
    assert_eq!((all(rows), all(Rows::from(&table[..]))), (expected.clone(), expected.clone()));
    let columns: Vec<Vec<u8>> = expected.iter().map(|row| row[2..5].to_vec()).collect();
    assert_eq!(all(rows.columns(2..5)), columns);
    assert_eq!(all(rows.columns(1..6).columns(1..4)), columns);
    let mut digests = [[0; 20]; 14];
    hash_rows(Algorithm::Sha1, rows.columns(2..5), digests.as_flattened_mut());
    assert!(digests.as_flattened() == oracle_many(Algorithm::Sha1, &columns));
    // Without rows, and columns without bytes.
    assert!(Rows::chunks_exact(&data, 101).is_empty() && Rows::chunks_exact(&[], 7).columns(3..7).is_empty());
    assert_eq!(all(rows.columns(7..7)), vec![Vec::new(); 14]);
    for (start, end) in [(3, 2), (0, 8), (8, 8)] {
        let text = panic_of(|| _ = rows.columns(start..end));
        assert_eq!(text, format!("bytes {start}..{end} of rows of 7 bytes"));
    }
    assert_eq!(format!("{:?}", rows.columns(2..5)), "Rows(14 of 3 bytes, 7 apart)");
}

#[test]
fn digests_of_another_size() {
    let text = panic_of(|| hash_many(Algorithm::Sha1, &["a", "b"], &mut [0; 64]));
    assert_eq!(text, "digests has 64 bytes, but 2 digests of sha1 take 2 * 20");
    let text = panic_of(|| hash_rows(Algorithm::Sha256, &[[0; 32]; 2], &mut [0; 63]));
    assert_eq!(text, "digests has 63 bytes, but 2 digests of sha256 take 2 * 32");
    let endless = RowLayout { row_nbytes: 0, stride: 0, count: usize::MAX };
    let text = panic_of(|| hash_rows(Algorithm::Sha256, Rows::new(&[], endless), &mut []));
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
