// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC against the `hmac` crate over RustCrypto's own hashes (one message, many, in parts and by the traits), and its
//! refusals. `test/hmac.c` has the official vectors, and every instruction set.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{data, with_hmac};
use hashloom::{Algorithm, Hmac, HmacKey, hmac, hmac_many};
use hmac::{KeyInit, Mac};

/// The tag by the `hmac` crate, which shares no code with this project.
fn oracle(algorithm: Algorithm, key: &[u8], message: &[u8]) -> Vec<u8> {
    fn tag<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mac = <M as KeyInit>::new_from_slice(key).unwrap();
        mac.chain_update(message).finalize().into_bytes().to_vec()
    }
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            if algorithm == Algorithm::$type {
                return tag::<hmac::Hmac<$peer>>(key, message);
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {};
    }
    each_peer!(fixed, xof);
    panic!("no oracle for {algorithm}");
}

/// Key lengths around the block sizes, message lengths around one and two blocks, and some far longer ones.
#[test]
fn lengths() {
    let bytes = data(7000);
    for algorithm in with_hmac() {
        for key_len in [0, 1, 20, 55, 63, 64, 65, 71, 72, 73, 104, 127, 128, 129, 136, 137, 144, 145, 200, 1000] {
            let secret = &bytes[7..7 + key_len];
            let key = HmacKey::new(algorithm, secret);
            let lens = (0..=260).step_by(3 + key_len % 3).chain([511, 512, 1000, 4096]);
            let messages: Vec<&[u8]> = lens.map(|len| &bytes[len / 2..len / 2 + len]).collect();
            let expected: Vec<_> = messages.iter().map(|message| oracle(algorithm, secret, message)).collect();
            let mut tags = vec![0; messages.len() * algorithm.digest_nbytes()];
            hmac_many(&key, &messages, &mut tags);
            assert_eq!(tags, expected.concat(), "{algorithm}, a key of {key_len} bytes");
            for (message, expected) in messages.iter().zip(&expected) {
                assert_eq!(hmac(&key, message).as_ref(), expected, "{algorithm}, {key_len}, {}", message.len());
            }
        }
    }
}

#[test]
fn in_parts() {
    let bytes = data(700);
    for algorithm in with_hmac() {
        let key = HmacKey::new(algorithm, &bytes[..40]);
        let expected = oracle(algorithm, &bytes[..40], &bytes);
        let mut mac = Hmac::new(&key);
        for cut in [0, 1, 63, 64, 65, 128, 300, 700] {
            mac.update(&bytes[..cut]);
            let mut other = mac.clone();
            other.update(b"another message");
            mac.update(&bytes[cut..]);
            assert!(mac.clone().verify(&expected).is_ok() && other.verify(&expected).is_err());
            assert_eq!(mac.finalize_reset().as_ref(), expected, "{algorithm} cut at {cut}");
        }
        drop(key);
        std::io::copy(&mut &bytes[..], &mut mac).unwrap();
        mac.reset();
        std::io::copy(&mut &bytes[..], &mut mac).unwrap();
        assert_eq!(mac.finalize().as_ref(), expected);
    }
}

/// Everything that generic code may require of a MAC.
#[cfg(feature = "digest")]
fn typed<M>(key: &[u8], message: &[u8]) -> Vec<u8>
where
    M: Mac
        + KeyInit
        + hashloom::digest::FixedOutputReset
        + hashloom::digest::Reset
        + Clone
        + std::fmt::Debug
        + hashloom::digest::common::AlgorithmName
        + Send
        + Sync,
{
    let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
    Mac::update(&mut mac, b"something else");
    Mac::reset(&mut mac);
    Mac::update(&mut mac, message);
    let tag = mac.clone().finalize().into_bytes();
    assert!(mac.clone().verify(&tag).is_ok() && mac.clone().verify_truncated_left(&tag[..16]).is_ok());
    assert!(mac.clone().verify_slice(&tag[1..]).is_err());
    let mut wrong = tag.clone();
    wrong[tag.len() - 1] ^= 1;
    assert!(mac.clone().verify(&wrong).is_err());
    assert!(!format!("{mac:?}").contains(char::is_numeric) || format!("{mac:?}").starts_with("Hmac"));
    assert!(mac.finalize_reset().as_bytes() == &tag && mac.chain_update(message).finalize().into_bytes() == tag);
    tag.to_vec()
}

#[cfg(feature = "digest")]
#[test]
fn rustcrypto_types() {
    let bytes = data(300);
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            for (key_len, len) in [(0, 0), (10, 100), (64, 64), (130, 300), (150, 7)] {
                let (secret, message) = (&bytes[..key_len], &bytes[300 - len..]);
                let algorithm = Algorithm::$type;
                let expected = oracle(algorithm, secret, message);
                assert_eq!(typed::<hashloom::$mac>(secret, message), expected, "{algorithm}");
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {};
    }
    each_peer!(fixed, xof);
}

#[test]
fn refused() {
    let key = HmacKey::new(Algorithm::Sha256, b"secret");
    let tag = hmac(&key, b"");
    let mac = Hmac::new(&key);
    for len in [0, 1, 31, 33] {
        let given = [tag.as_ref(), &[0]].concat();
        assert!(mac.clone().verify(&given[..len]).is_err(), "a tag of {len} bytes");
        assert!(mac.clone().verify_truncated(&given[..len], 16).is_err(), "a tag of {len} bytes");
    }
    assert!(mac.clone().verify_truncated(&tag.as_ref()[..10], 10).is_ok());
    for i in 0..256 {
        let mut wrong = tag.as_ref().to_vec();
        wrong[i / 8] ^= 1 << (i % 8);
        assert!(mac.clone().verify(&wrong).is_err(), "bit {i}");
    }
    let panics = |f: &dyn Fn()| catch_unwind(AssertUnwindSafe(f)).is_err();
    assert!(panics(&|| mac.clone().verify_truncated(tag.as_ref(), 9).unwrap()));
    assert!(panics(&|| mac.clone().verify_truncated(tag.as_ref(), 33).unwrap()));
    assert!(panics(&|| hmac_many(&key, &["a", "b"], &mut [0; 63])));
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| !algorithm.has_hmac()) {
        let panic = catch_unwind(|| HmacKey::new(algorithm, b"secret")).unwrap_err();
        let expected = format!("HmacKey::new: HMAC is not defined with {algorithm}");
        assert_eq!(*panic.downcast_ref::<String>().unwrap(), expected);
    }
    assert!(!format!("{key:?} {mac:?}").contains("secret"));
}
