// SPDX-License-Identifier: MIT OR Apache-2.0
//! PBKDF2: many keys beside one at a time, and refusals. `test/pbkdf2.c` has RFC 8018's definition and the vectors.

use std::num::NonZeroU32;
use std::panic::catch_unwind;

use crate::common::{data, with_hmac};
use hashloom::{Algorithm, Stopped, pbkdf2, pbkdf2_many, pbkdf2_many_until};

fn times(niterations: u32) -> NonZeroU32 {
    NonZeroU32::new(niterations).expect("not 0")
}

/// Numbers around the lanes and around the calls that many passwords are divided into.
#[test]
fn many() {
    let bytes = data(5000);
    for count in [0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 2100] {
        for key_nbytes in [1, 31, 32, 33, 70] {
            let passwords: Vec<&[u8]> = (0..count).map(|i| &bytes[i..i + i * 13 % 150]).collect();
            let salts: Vec<&[u8]> = (0..count).map(|i| &bytes[2 * i..2 * i + i * 7 % 90]).collect();
            let mut keys = vec![0xa5; count * key_nbytes];
            pbkdf2_many(Algorithm::Sha256, &passwords, &salts, times(2), key_nbytes, &mut keys);
            for (i, key) in keys.chunks_exact(key_nbytes).enumerate() {
                let mut expected = vec![0; key_nbytes];
                pbkdf2(Algorithm::Sha256, passwords[i], salts[i], times(2), &mut expected);
                assert_eq!(key, expected, "key {i} of {count}");
            }
        }
    }
}

#[test]
fn every_algorithm() {
    // RFC 6070's second vector.
    let mut key = [0; 5];
    pbkdf2(Algorithm::Sha1, b"password", b"salt", times(2), &mut key);
    assert_eq!(key, [0xea, 0x6c, 0x01, 0x4d, 0xc7]);
    for algorithm in with_hmac() {
        let mut keys = vec![0; 3 * 100];
        pbkdf2_many(algorithm, &["a", "b", ""], &["c", "", "d"], times(3), 100, &mut keys);
        let mut key = [0; 100];
        pbkdf2(algorithm, b"b", b"", times(3), &mut key);
        assert_eq!(key, keys[100..200], "{algorithm}");
    }
}

/// Also the keys of calls of the core that have returned.
#[test]
fn a_call_that_is_stopped_leaves_zeros() {
    let (passwords, salts) = (vec!["a"; 1100], vec!["b"; 1100]);
    let mut keys = vec![0xa5; 1100 * 8];
    let mut ncalls = 0;
    let count = || {
        ncalls += 1;
        false
    };
    assert_eq!(pbkdf2_many_until(Algorithm::Sha1, &passwords, &salts, times(2), 8, &mut keys, count), Ok(()));
    let mut key = [0; 8];
    pbkdf2(Algorithm::Sha1, b"a", b"b", times(2), &mut key);
    assert_eq!(keys, key.repeat(1100));
    for last in [1, 2, ncalls] {
        let mut left = last;
        let is_stopped = || {
            left -= 1;
            left == 0
        };
        let mut keys = vec![0xa5; 1100 * 8];
        let result = pbkdf2_many_until(Algorithm::Sha1, &passwords, &salts, times(2), 8, &mut keys, is_stopped);
        assert_eq!((result, left), (Err(Stopped), 0));
        assert!(keys.iter().all(|&byte| byte == 0), "stopped by call {last} of {ncalls}");
    }
}

#[test]
fn no_keys() {
    pbkdf2_many(Algorithm::Sha1, &[""; 0], &[""; 0], times(u32::MAX), 20, &mut []);
    pbkdf2_many(Algorithm::Sha1, &["a"], &["b"], times(u32::MAX), 0, &mut []);
    pbkdf2(Algorithm::Sha1, b"a", b"b", times(u32::MAX), &mut []);
}

#[test]
fn refusals() {
    let refused = |nsalts: usize, key_nbytes: usize, nbytes: usize| {
        let call =
            || pbkdf2_many(Algorithm::Sha1, &["a"; 2], &vec!["b"; nsalts], times(1), key_nbytes, &mut vec![0; nbytes]);
        let panic = catch_unwind(call).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    assert_eq!(refused(1, 20, 40), "pbkdf2_many: 2 passwords, but 1 salts");
    assert_eq!(refused(2, 20, 39), "pbkdf2_many: 2 keys of 20 bytes, but room for 39 bytes");
    assert_eq!(
        refused(2, usize::MAX, 40),
        format!("pbkdf2_many: 2 keys of {} bytes, but room for 40 bytes", usize::MAX)
    );
    let panic = catch_unwind(|| pbkdf2(Algorithm::Shake128, b"a", b"b", times(1), &mut [0; 20])).unwrap_err();
    let expected = "pbkdf2: HMAC is not defined with shake128";
    assert_eq!(*panic.downcast_ref::<String>().unwrap(), expected);
}
