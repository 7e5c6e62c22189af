// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC against the `hmac` crate over RustCrypto's own hashes (one message, many, in parts and by the traits, on every
//! instruction set), against tags that Python's `hmac` made, and its refusals.

#![cfg(feature = "std")]

#[macro_use]
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{data, with_hmac};
use hashloom::kernels::{IsaSet, restrict, unrestrict};
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
            let lens = (0..=260).step_by(1 + key_len % 3).chain([511, 512, 1000, 4096]);
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
fn every_instruction_set() {
    common::check_expected();
    let bytes = data(3000);
    let messages: Vec<&[u8]> = (0..150).map(|i| &bytes[i..i + i * 17 % 400 + usize::from(i == 70) * 2000]).collect();
    for isa in IsaSet::available().names() {
        // The set includes `scalar`, which has a kernel for every algorithm: the other tests run at the same time.
        restrict(IsaSet::parse(&format!("scalar,{isa}")).unwrap()).unwrap();
        for algorithm in with_hmac() {
            let key = HmacKey::new(algorithm, b"a key");
            let mut tags = vec![0; messages.len() * algorithm.digest_nbytes()];
            hmac_many(&key, &messages, &mut tags);
            let expected: Vec<_> = messages.iter().flat_map(|message| oracle(algorithm, b"a key", message)).collect();
            assert_eq!(tags, expected, "{algorithm}, {isa}");
        }
    }
    unrestrict();
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
                let mut tags = [hashloom::digest::Output::<hashloom::$mac>::default(); 2];
                hashloom::$mac::mac_many(&HmacKey::new(algorithm, secret), &[&[][..], message], &mut tags);
                assert_eq!(tags[1][..], expected);
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {};
    }
    each_peer!(fixed, xof);
}

/// Tags from `hmac.new(bytes(range(key)), bytes(i % 251 for i in range(message)), algorithm).hexdigest()` in Python
/// 3.11.
#[test]
fn python() {
    for (algorithm, key, message, tag) in [
        (Algorithm::Sha1, 5, 0_u32, "c7fe407b6497a235b61a9baecb2fe69aa1e65583"),
        (Algorithm::Sha1, 32, 1000_u32, "bb84c07c15546128537b06663bef18d44b010920"),
        (Algorithm::Sha1, 200, 100000_u32, "e518fccfc8be8eb531de63c70832a496f603b416"),
        (Algorithm::Sha224, 5, 0_u32, "ef31e945e4e0940e51954d84ed2ac19983452fbf6a8b53ff46c3b1ea"),
        (Algorithm::Sha224, 32, 1000_u32, "862c91dde32be68d8c221394cedb7c5c59670984b4739065b8d02e85"),
        (Algorithm::Sha224, 200, 100000_u32, "69f08574c809bd3a58c8f5cfb3886d0073bd56560692d2ad8231ba91"),
        (Algorithm::Sha256, 5, 0_u32, "e6cc65d0bdecbe9a2d6e7c4310b1c2487efbaab6152f2467407595def4577f7f"),
        (Algorithm::Sha256, 32, 1000_u32, "8bf90defe8ef048a99b602849c0d7e9bea5b9ebfcf600b7595156388d304df5b"),
        (Algorithm::Sha256, 200, 100000_u32, "f106f0282636b01ebbc3a9a30ddaa138a982282d9b3e2defbca13d221506853f"),
        (
            Algorithm::Sha384,
            5,
            0_u32,
            "047b33fdb1b80006fc8555a361a20fbca81259653eefb9da1a6c7fe857b83cb40a82d848ce069ba4a928184a0de4bed1",
        ),
        (
            Algorithm::Sha384,
            32,
            1000_u32,
            "7dfb1c96de270e678496a047a74308f51a1b03c1d4b679d485ba55a1a22cc251d023c31db04c2cf65251e3c46c138afe",
        ),
        (
            Algorithm::Sha384,
            200,
            100000_u32,
            "290401a53964c8418e515137d11c57428756eccad67e714bc7df8fc0b3f5ac691921432b57aac1a3567da6b2a4d3b382",
        ),
        (
            Algorithm::Sha512,
            5,
            0_u32,
            "f8a87c0d41789e44458aa2c79d65fdb70fc1359c8645afb586bbd695a7facdb49cb7f6f1cae7207df5db708e0ff903fe14184301b7edd81e435e4f79dd7ae707",
        ),
        (
            Algorithm::Sha512,
            32,
            1000_u32,
            "db6a6ff442de247dd28da52ed4a79849aa5892b52f65ab99fc70bef8400b2294cd21257fabdf313041273b169234cf9b1ea7762dedba2cc05fde798b99ef4bc4",
        ),
        (
            Algorithm::Sha512,
            200,
            100000_u32,
            "e79ea916ba829e71a6c4c773839eb43d6384600b4bc1f6d980b39919879959bb156ef66a0563dd56056d5387a6056af79515b78fa0b5be59850b6eecfe14e47e",
        ),
        (Algorithm::Sha512_224, 5, 0_u32, "fb0d7861f8c56334254454197a922eca7a2dbbc97578bde5e95a681c"),
        (Algorithm::Sha512_224, 32, 1000_u32, "01a4b09b29edb5ed7996a1f9da5537a70df668e621d59122a54eb66b"),
        (Algorithm::Sha512_224, 200, 100000_u32, "fd647b87def2bd14992afe562f883778b8c48eef310d29d0c149d063"),
        (Algorithm::Sha512_256, 5, 0_u32, "917c08cb5bb0e5e36befd4e57eef973def7f8644f6fef91511c35a25d77addc1"),
        (Algorithm::Sha512_256, 32, 1000_u32, "35c3eff464e3776076d9e424a9be95f7e7fb1836ab0aaafeddce1bc77571ee5d"),
        (Algorithm::Sha512_256, 200, 100000_u32, "0d52acf6a8496ad5b981603fc2fddd467af0de18abec2860b0109e12b0d35582"),
        (Algorithm::Ripemd160, 5, 0_u32, "c29787b902b2c1b5ad7d153e7b9fe0201804d283"),
        (Algorithm::Ripemd160, 32, 1000_u32, "477b5d04bba6155512346b4bf95fbfc1a8309308"),
        (Algorithm::Ripemd160, 200, 100000_u32, "34f3b8236ff3e01e890162ad0d06653a4e28d659"),
    ] {
        let key: Vec<u8> = (0..key).collect();
        let message: Vec<u8> = (0..message).map(|i| (i % 251) as u8).collect();
        assert_eq!(hmac(&HmacKey::new(algorithm, &key), &message).to_string(), tag, "{algorithm}");
    }
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
    #[cfg(feature = "digest")]
    assert!(panics(&|| hashloom::HmacSha1::mac_many(&key, &["a"], &mut [Default::default()])));
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.is_xof()) {
        let panic = catch_unwind(|| HmacKey::new(algorithm, b"secret")).unwrap_err();
        let expected = format!("HmacKey::new: HMAC is not defined with {algorithm}, whose digests have any length");
        assert_eq!(*panic.downcast_ref::<String>().unwrap(), expected);
    }
    assert!(!format!("{key:?} {mac:?}").contains("secret"));
}
