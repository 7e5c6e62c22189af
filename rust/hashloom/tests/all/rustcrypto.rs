// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types that replace those of the `sha1`, `sha2`, `sha3`, `md-5` and `ripemd` crates.

use std::fmt;

use crate::common::data;
use hashloom::DigestMany;
use hashloom::digest::block_api::{AlgorithmName, BlockSizeUser, CoreProxy, EagerHash};
use hashloom::digest::common::hazmat::SerializableState;
use hashloom::digest::{
    CollisionResistance, Digest, DynDigest, ExtendableOutputReset, FixedOutputReset, HashMarker, Output, Update,
};
use hkdf::{Hkdf, SimpleHkdf};
use hmac::{Hmac, HmacReset, KeyInit, Mac, SimpleHmac};
use proptest::prelude::*;

/// A trait of all types that have these bounds.
macro_rules! bounds {
    ($(#[$doc:meta])* $name:ident: $($bounds:tt)+) => {
        $(#[$doc])*
        trait $name: $($bounds)+ {}
        impl<D: $($bounds)+> $name for D {}
    };
}

bounds! {
    /// Everything that generic code may require of a hash; both crates' types have it.
    Hash: EagerHash + FixedOutputReset + Default + AlgorithmName + BlockSizeUser + SerializableState + fmt::Debug + Send
        + Sync + 'static
}

/// All visible behaviour of `D` hashing `data`, cut at `cut`, as bytes.
fn behaviour<D: Hash>(data: &[u8], cut: usize) -> Vec<Vec<u8>> {
    let (head, tail) = data.split_at(cut);
    let mut seen = vec![D::digest(data).to_vec(), D::new_with_prefix(head).chain_update(tail).finalize().to_vec()];

    let mut hasher = D::new();
    Digest::update(&mut hasher, head);
    seen.push(hasher.serialize().to_vec());
    let mut copy = hasher.clone();
    Digest::update(&mut copy, tail);
    seen.push(Digest::finalize_reset(&mut copy).to_vec());
    seen.push(Digest::finalize_reset(&mut copy).to_vec());
    Digest::reset(&mut hasher);
    seen.push(hasher.finalize().to_vec());

    let mut object: Box<dyn DynDigest> = Box::new(D::default());
    object.update(head);
    let mut twin = object.clone();
    twin.update(tail);
    seen.extend([object.finalize().to_vec(), twin.finalize_reset().to_vec(), twin.finalize().to_vec()]);

    let text = format!("{:?} {} {}", D::new(), <D as Digest>::output_size(), size::<D>());
    seen.push(text.into_bytes());
    seen
}

fn size<D: BlockSizeUser>() -> usize {
    D::block_size()
}

/// MACs and keys derived with `D` from `data` cut into key and message at `cut`.
fn keyed<D: Hash>(data: &[u8], cut: usize) -> Vec<Vec<u8>>
where
    Hmac<D>: hkdf::HmacImpl,
    SimpleHmac<D>: hkdf::HmacImpl,
{
    let (key, message) = data.split_at(cut);
    let mut hmac = <Hmac<D> as KeyInit>::new_from_slice(key).unwrap();
    Mac::update(&mut hmac, message);
    let mut again = <HmacReset<D> as KeyInit>::new_from_slice(key).unwrap();
    Mac::update(&mut again, b"something else");
    Mac::finalize_reset(&mut again);
    Mac::update(&mut again, message);
    let mut simple = <SimpleHmac<D> as KeyInit>::new_from_slice(key).unwrap();
    Mac::update(&mut simple, message);
    let tag = hmac.finalize().into_bytes().to_vec();
    assert_eq!(tag, Mac::finalize(again).into_bytes().to_vec());
    assert_eq!(tag, simple.finalize().into_bytes().to_vec());

    let (mut okm, mut simple_okm) = ([0; 100], [0; 100]);
    Hkdf::<D>::new(Some(key), message).expand(b"info", &mut okm).unwrap();
    SimpleHkdf::<D>::new(Some(key), message).expand(b"info", &mut simple_okm).unwrap();
    assert_eq!(okm, simple_okm);
    vec![tag, okm.to_vec()]
}

/// Saves a state with `A` and continues it with `B`.
fn hand_over<A: Hash, B: Hash>(data: &[u8], cut: usize) -> Vec<u8> {
    let a = A::new_with_prefix(&data[..cut]);
    let saved = a.serialize();
    let b = B::deserialize(saved.as_slice().try_into().expect("both save the same number of bytes"));
    b.expect("B takes what A saved").chain_update(&data[cut..]).finalize().to_vec()
}

bounds! {
    /// Everything that generic code may require of an extendable-output function; both crates' types have it.
    Xof: ExtendableOutputReset + Update + Default + Clone + BlockSizeUser + CollisionResistance + CoreProxy + HashMarker
        + SerializableState + fmt::Debug + Send + Sync + 'static
}

/// All visible behaviour of `D` hashing `data`, cut at `cut`, as bytes.
fn xof_behaviour<D: Xof>(data: &[u8], cut: usize) -> Vec<Vec<u8>>
where
    D::Reader: Clone + fmt::Debug + BlockSizeUser,
{
    use hashloom::digest::{XofReader, typenum::Unsigned};

    let (head, tail) = data.split_at(cut);
    let mut digest = vec![0; 2 * size::<D>() + 10];
    D::digest_xof(data, &mut digest);
    let mut seen = vec![digest.clone()];
    let mut hasher = D::default();
    hasher.update(head);
    seen.push(hasher.serialize().to_vec());
    let mut copy = hasher.clone().chain(tail);
    // The digest in two parts, and from a copy of the reader.
    let mut reader = copy.finalize_xof_reset();
    reader.read(&mut digest[..cut]);
    reader.clone().read(&mut digest[cut..]);
    seen.push(digest.clone());
    digest.fill(0);
    reader.read(&mut digest[cut..]);
    seen.push(digest);
    seen.push(copy.finalize_boxed(33).to_vec());
    hasher.reset();
    seen.push(hasher.finalize_boxed_reset(500).to_vec());
    let text = format!("{:?} {reader:?} {} {}", D::default(), size::<D>(), size::<D::Reader>());
    seen.extend([text.into_bytes(), vec![D::CollisionResistance::U8]]);
    seen
}

#[test]
fn every_cut_behaves_as_the_originals() {
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            let data = data(2 * size::<$peer>() + 72);
            for cut in (0..=data.len()).step_by(3) {
                assert_eq!(behaviour::<hashloom::$type>(&data, cut), behaviour::<$peer>(&data, cut), "cut at {cut}");
                assert_eq!(keyed::<hashloom::$type>(&data, cut), keyed::<$peer>(&data, cut), "cut at {cut}");
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {
            let data = data(2 * size::<$peer>() + 10);
            for cut in 0..=data.len() {
                let ours = xof_behaviour::<hashloom::$type>(&data, cut);
                assert_eq!(ours, xof_behaviour::<$peer>(&data, cut), "cut at {cut}");
            }
        };
    }
    each_peer!(fixed, xof);
}

#[test]
fn saved_states_are_exchanged_with_the_originals() {
    use hashloom::digest::ExtendableOutput;

    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            let data = data(300);
            let digest = <$peer>::digest(&data).to_vec();
            for cut in 0..=data.len() {
                assert_eq!(hand_over::<$peer, hashloom::$type>(&data, cut), digest);
                assert_eq!(hand_over::<hashloom::$type, $peer>(&data, cut), digest);
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {
            let data = data(400);
            let mut digest = [0; 400];
            <$peer>::digest_xof(&data, &mut digest);
            for cut in 0..=data.len() {
                let theirs = <$peer>::default().chain(&data[..cut]).serialize();
                let ours = hashloom::$type::deserialize(&theirs).unwrap().chain(&data[cut..]);
                assert_eq!(*ours.finalize_boxed(400), digest);
                let ours = hashloom::$type::default().chain(&data[..cut]).serialize();
                let theirs = <$peer>::deserialize(&ours).unwrap().chain(&data[cut..]);
                assert_eq!(*theirs.finalize_boxed(400), digest);
            }
        };
    }
    each_peer!(fixed, xof);
}

#[test]
fn a_saved_state_of_an_impossible_length_is_refused() {
    type Core256 = <hashloom::Sha256 as CoreProxy>::Core;
    let mut saved = Core256::default().serialize();
    saved[32..].copy_from_slice(&(1_u64 << 55).to_le_bytes());
    assert!(Core256::deserialize(&saved).is_err(), "2^55 blocks are 2^61 bytes, one more than a message may have");
    saved[32..].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Core256::deserialize(&saved).is_err());
    saved[32..].copy_from_slice(&((1_u64 << 55) - 1).to_le_bytes());
    assert!(Core256::deserialize(&saved).is_ok());

    type Core512 = <hashloom::Sha512 as CoreProxy>::Core;
    let mut saved = Core512::default().serialize();
    for (nblocks, good) in [(1 << 54, false), (1 << 64, false), (u128::MAX, false), ((1 << 54) - 1, true)] {
        saved[64..].copy_from_slice(&u128::to_le_bytes(nblocks));
        assert_eq!(Core512::deserialize(&saved).is_ok(), good, "{nblocks} blocks");
    }
}

/// The names are those of the standard; `sha2` 0.11 adds the digest's size to its own, `Sha256_32`.
#[test]
fn names() {
    struct Name<D>(std::marker::PhantomData<D>);

    impl<D: AlgorithmName> fmt::Display for Name<D> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            D::write_alg_name(f)
        }
    }
    assert_eq!(Name::<hashloom::Sha1>(Default::default()).to_string(), "Sha1");
    assert_eq!(Name::<hashloom::Sha256>(Default::default()).to_string(), "Sha256");
    assert_eq!(Name::<hashloom::Sha512_256>(Default::default()).to_string(), "Sha512_256");
    assert_eq!(Name::<hashloom::Ripemd160>(Default::default()).to_string(), "Ripemd160");
    assert_eq!(Name::<hashloom::Sha3_256>(Default::default()).to_string(), "Sha3_256");
    assert_eq!(Name::<hashloom::Shake128>(Default::default()).to_string(), "Shake128");
}

#[cfg(feature = "oid")]
#[test]
fn object_identifiers() {
    use hashloom::digest::const_oid::AssociatedOid;

    macro_rules! check {
        ($type:ident, $peer:ty) => {
            assert_eq!(hashloom::$type::OID, <$peer>::OID);
        };
    }
    // algorithms.py: rust_oids
    check!(Sha1, sha1::Sha1);
    check!(Sha224, sha2::Sha224);
    check!(Sha256, sha2::Sha256);
    check!(Sha384, sha2::Sha384);
    check!(Sha512, sha2::Sha512);
    check!(Sha512_224, sha2::Sha512_224);
    check!(Sha512_256, sha2::Sha512_256);
    check!(Ripemd160, ripemd::Ripemd160);
    check!(Md5, md5::Md5);
    check!(Sha3_224, sha3::Sha3_224);
    check!(Sha3_256, sha3::Sha3_256);
    check!(Sha3_384, sha3::Sha3_384);
    check!(Sha3_512, sha3::Sha3_512);
    check!(Shake128, sha3::Shake128);
    check!(Shake256, sha3::Shake256);
    check!(Sm3, sm3::Sm3);
    // algorithms.py: end
}

#[cfg(feature = "zeroize")]
#[test]
fn wiped_on_drop() {
    fn is_wiped<T: hashloom::digest::zeroize::ZeroizeOnDrop>() {}
    macro_rules! check {
        ($type:ident, $peer:ty $(, $mac:ident)?) => {
            is_wiped::<hashloom::$type>();
        };
    }
    each_peer!(check, check);
    is_wiped::<hashloom::XofReader>();
    is_wiped::<hashloom::Hasher>();
}

#[cfg(feature = "std")]
#[test]
fn a_writer() {
    let mut hasher = hashloom::Sha256::new();
    std::io::copy(&mut &b"abc"[..], &mut hasher).unwrap();
    assert_eq!(hasher.finalize(), sha2::Sha256::digest(b"abc"));
}

#[test]
#[should_panic(expected = "digest_many: 2 messages but room for 3 digests")]
fn digest_many_of_another_size() {
    hashloom::Sha1::digest_many(&["a", "b"], &mut [Output::<hashloom::Sha1>::default(); 3]);
}

proptest! {
    #[test]
    fn digest_many(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..40)) {
        let mut digests = vec![Output::<hashloom::Sha256>::default(); messages.len()];
        hashloom::Sha256::digest_many(&messages, &mut digests);
        for (message, digest) in messages.iter().zip(&digests) {
            prop_assert_eq!(digest, &sha2::Sha256::digest(message));
        }
        let mut digests = vec![Output::<hashloom::Sha384>::default(); messages.len()];
        hashloom::Sha384::digest_many(&messages, &mut digests);
        for (message, digest) in messages.iter().zip(&digests) {
            prop_assert_eq!(digest, &sha2::Sha384::digest(message));
        }
    }
}

/// `digest_many` by `D` and by `Peer`: the first with lanes, the second without.
fn many_by_both<D: Digest + 'static, Peer: Digest<OutputSize = D::OutputSize> + 'static>() {
    let data = data(5000);
    let messages: Vec<&[u8]> = (0..100).map(|i| &data[i..i * 37 % 4000 + i]).collect();
    let mut digests = [vec![Output::<D>::default(); 100], vec![Output::<D>::default(); 100]];
    D::digest_many(&messages, &mut digests[0]);
    Peer::digest_many(&messages, &mut digests[1]);
    assert!(digests[0] == digests[1], "{}", std::any::type_name::<D>());
    D::digest_many::<&str>(&[], &mut []);
    let text = crate::many::panic_of(|| D::digest_many(&messages, &mut digests[0][1..]));
    assert_eq!(text, "digest_many: 100 messages but room for 99 digests");
}

#[test]
fn many_messages_by_any_digest() {
    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            many_by_both::<hashloom::$type, $peer>();
        };
    }
    macro_rules! none {
        ($($xof:tt)*) => {};
    }
    each_peer!(fixed, none);
}
