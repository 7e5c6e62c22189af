// SPDX-License-Identifier: MIT OR Apache-2.0
//! SLH-DSA beside the crates `fips205` and `slh-dsa`, which share no code with this one; keys in both directions;
//! mutations and refusals. `test/slh.c` has NIST's vectors.

#![cfg(all(feature = "getrandom", feature = "pkcs8", feature = "signature"))]

use std::num::NonZeroUsize;

use fips205::traits::{SerDes, Signer as _, Verifier as _};
use hashloom::{Algorithm, hash, xof};
use hashloom_slh::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use hashloom_slh::signature::rand_core::{TryCryptoRng, TryRng};
use hashloom_slh::signature::{Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};
use hashloom_slh::{Error, Message, ParameterSet, Randomness, Signature, SigningKey, VerifyingKey, Work, verify_many};
use slh_dsa as peer;

/// `len` bytes, always the same.
fn data(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    xof(Algorithm::Shake128, b"", &mut bytes);
    bytes
}

fn key(set: ParameterSet, seed: usize) -> SigningKey {
    SigningKey::from_seeds(set, &data(1000)[seed * 7..][..3 * set.n()]).unwrap()
}

fn sign(key: &SigningKey, message: Message<'_>) -> Signature {
    key.sign_message_with(message, Randomness::None, Work::new()).unwrap()
}

/// The `f` sets have the same signatures in fips205, one of them in slh-dsa too, and the keys of each crate are those
/// of the others. Of the `s` sets, which take those crates a second, our signatures are right.
macro_rules! each_set {
    ($($set:ident, $fips205:ident, $peer:ident;)*) => {$(
        #[test]
        #[allow(non_snake_case)]
        fn $set() {
            use fips205::$fips205::{PrivateKey, PublicKey};
            let set = ParameterSet::$set;
            let is_fast = set.name().ends_with('f');
            let bytes = data(2000);
            let key = key(set, 3);
            let theirs = PrivateKey::try_from_bytes(key.as_bytes().try_into().unwrap()).unwrap();
            let their_public = PublicKey::try_from_bytes(key.verifying_key().as_bytes().try_into().unwrap()).unwrap();
            let other = peer::SigningKey::<peer::$peer>::try_from(key.as_bytes()).unwrap();
            let other_public = peer::VerifyingKey::<peer::$peer>::try_from(key.verifying_key().as_bytes()).unwrap();
            for (i, nbytes) in [0, 1600, 63].into_iter().enumerate().take(if is_fast { 3 } else { 1 }) {
                let (message, context) = (&bytes[i..i + nbytes], &bytes[nbytes..][..[0, 255, 1][i]]);
                let ours = Message::new(message).with_context(context).unwrap();
                let fresh = &bytes[100 * i..][..set.n()];
                let signature = key.sign_message_with(ours, Randomness::Fresh(fresh), Work::new()).unwrap();
                assert_eq!(key.verifying_key().verify_message(ours, &signature), Ok(()));
                assert!(their_public.verify(message, signature.as_ref().try_into().unwrap(), context));
                let parsed = peer::Signature::<peer::$peer>::try_from(signature.as_ref()).unwrap();
                other_public.try_verify_with_context(message, context, &parsed).unwrap();
                if set == ParameterSet::Sha2_128f && i == 1 {
                    let theirs = other.try_sign_with_context(message, context, Some(fresh)).unwrap();
                    assert_eq!(theirs.to_vec(), signature.as_ref());
                }
                if is_fast && i != 1 {
                    let theirs = theirs.try_sign_with_rng(&mut rand_core::OsRng, message, context, i == 2).unwrap();
                    assert_eq!(key.verifying_key().verify_message(ours, theirs), Ok(()), "theirs, {i}");
                    assert!(i == 2 || sign(&key, ours).as_ref() == theirs);
                }
            }
            // Digests, and the internal form.
            let digest = hash(Algorithm::Shake128, &bytes);
            let prehashed = Message::prehashed(Algorithm::Shake128, digest.as_ref()).unwrap();
            let signature = sign(&key, prehashed.with_context(b"c").unwrap());
            let as_theirs = signature.as_ref().try_into().unwrap();
            assert!(their_public.hash_verify(&bytes, as_theirs, b"c", &fips205::Ph::SHAKE128));
            let signature = sign(&key, Message::internal(&bytes));
            let parsed = peer::Signature::<peer::$peer>::try_from(signature.as_ref()).unwrap();
            other_public.slh_verify_internal(&[&bytes], &parsed).unwrap();
            // Keys as documents.
            let (der, public_der) = (key.to_pkcs8_der().unwrap(), key.verifying_key().to_public_key_der().unwrap());
            let read = peer::SigningKey::<peer::$peer>::from_pkcs8_der(der.as_bytes()).unwrap();
            assert_eq!(&read.to_bytes()[..], key.as_bytes());
            assert_eq!(read.to_pkcs8_der().unwrap().as_bytes(), der.as_bytes());
            assert_eq!(other_public.to_public_key_der().unwrap().as_bytes(), public_der.as_bytes());
            assert_eq!(SigningKey::from_pkcs8_der(der.as_bytes()).unwrap().as_bytes(), key.as_bytes());
            assert_eq!(VerifyingKey::from_public_key_der(public_der.as_bytes()).unwrap(), key.verifying_key());
            refuses_mutations(&key);
        }
    )*};
}

each_set! {
    Sha2_128s, slh_dsa_sha2_128s, Sha2_128s;
    Shake128s, slh_dsa_shake_128s, Shake128s;
    Sha2_128f, slh_dsa_sha2_128f, Sha2_128f;
    Shake128f, slh_dsa_shake_128f, Shake128f;
    Sha2_192s, slh_dsa_sha2_192s, Sha2_192s;
    Shake192s, slh_dsa_shake_192s, Shake192s;
    Sha2_192f, slh_dsa_sha2_192f, Sha2_192f;
    Shake192f, slh_dsa_shake_192f, Shake192f;
    Sha2_256s, slh_dsa_sha2_256s, Sha2_256s;
    Shake256s, slh_dsa_shake_256s, Shake256s;
    Sha2_256f, slh_dsa_sha2_256f, Sha2_256f;
    Shake256f, slh_dsa_shake_256f, Shake256f;
}

/// No changed signature, length, message, context, form or key is accepted.
fn refuses_mutations(key: &SigningKey) {
    let (set, public) = (key.parameter_set(), key.verifying_key());
    let message = Message::new(b"message").with_context(b"context").unwrap();
    let signature = sign(key, message).to_vec();
    // A bit of hashes in all parts of the signature.
    let (n, mut changed) = (set.n(), Vec::new());
    for hash in (0..signature.len() / n).filter(|hash| hash % 17 == 0 || *hash < 4) {
        let mut bytes = signature.clone();
        bytes[hash * n + hash % n] ^= 1 << (hash % 8);
        changed.push(bytes);
    }
    changed.extend([0, 1, n, signature.len() - 1].map(|nbytes| signature[..nbytes].to_vec()));
    changed.extend([[&signature[..], &[0]].concat(), [&signature[..], &signature].concat(), vec![0; signature.len()]]);
    changed.push(signature.clone());
    let valid = public.verify_many(&vec![message; changed.len()], &changed, Work::new()).unwrap();
    assert_eq!(valid.iter().position(|valid| *valid), Some(changed.len() - 1));
    let digest = hash(Algorithm::Sha512, b"message");
    let with = |message: Message<'static>, context: &'static [u8]| message.with_context(context).unwrap();
    let others = [
        with(Message::new(b"messagf"), b"context"),
        with(Message::new(b"message"), b"contexu"),
        with(Message::new(b"essage"), b"contextm"),
        Message::new(b"message"),
        Message::internal(b"message"),
        Message::prehashed(Algorithm::Sha512, digest.as_ref()).unwrap().with_context(b"context").unwrap(),
    ];
    for other in others {
        assert_eq!(public.verify_message(other, &signature), Err(Error::Invalid));
    }
    // What is signed is no ambiguous text: the internal form of the framed message is the pure one.
    let framed = Message::internal(b"\0\x07contextmessage");
    assert_eq!(public.verify_message(framed, &signature), Ok(()));
    for place in (0..set.verifying_key_nbytes()).step_by(5) {
        let mut bytes = public.as_bytes().to_vec();
        bytes[place] ^= 0x80;
        let other = VerifyingKey::from_bytes(set, &bytes).unwrap();
        assert_eq!(other.verify_message(message, &signature), Err(Error::Invalid));
    }
    for other in ParameterSet::ALL.into_iter().filter(|other| *other != set && other.n() == n) {
        let other = VerifyingKey::from_bytes(other, public.as_bytes()).unwrap();
        assert_eq!(other.verify_message(message, &signature), Err(Error::Invalid));
    }
}

/// The number of threads changes neither keys nor signatures, and many are verified as one by one.
#[test]
fn threads() {
    let bytes = data(1000);
    for set in [ParameterSet::Sha2_128s, ParameterSet::Shake256f] {
        let one = key(set, 0);
        let message = Message::new(&bytes);
        let signature = sign(&one, message);
        for nthreads in [1, 2, 3, 100].map(|nthreads| NonZeroUsize::new(nthreads).unwrap()) {
            let work = || Work::new().threads(nthreads);
            let key = SigningKey::from_seeds_with(set, &bytes[..3 * set.n()], work()).unwrap();
            assert_eq!(key.as_bytes(), one.as_bytes());
            assert_eq!(key.sign_message_with(message, Randomness::None, work()).unwrap(), signature);
        }
    }
    // More than one call verifies, with keys of their own, a few wrong.
    let set = ParameterSet::Sha2_128f;
    let keys = [0, 1].map(|seed| key(set, seed));
    let messages: Vec<Message<'_>> = (0..150).map(|i| Message::new(&bytes[i % 6..i])).collect();
    let mut signatures: Vec<Vec<u8>> = (0..12).map(|i| sign(&keys[i % 2], messages[12 + i]).to_vec()).collect();
    // Message i is signed as message 12 + i % 12 is, which is right for these only.
    signatures = (0..150).map(|i| signatures[i % 12].clone()).collect();
    let publics: Vec<VerifyingKey> = (0..150).map(|i| keys[i % 2].verifying_key()).collect();
    let expected: Vec<bool> =
        (0..150).map(|i| publics[i].verify_message(messages[i], &signatures[i]).is_ok()).collect();
    assert_eq!(expected.iter().filter(|valid| **valid).count(), 12);
    for nthreads in [1, 3].map(|nthreads| NonZeroUsize::new(nthreads).unwrap()) {
        let work = || Work::new().threads(nthreads);
        assert_eq!(verify_many(&publics, &messages, &signatures, work()).unwrap(), expected);
        let of_one: Vec<bool> = (0..150).map(|i| expected[i] && i % 2 == 0).collect();
        assert_eq!(publics[0].verify_many(&messages, &signatures, work()).unwrap(), of_one);
    }
    assert!(verify_many::<Vec<u8>>(&[], &[], &[], Work::new()).unwrap().is_empty());
}

#[test]
fn refusals() {
    let set = ParameterSet::Sha2_128f;
    let key = key(set, 0);
    let length = |expected, found| Some(Error::Length { expected, found });
    assert_eq!(SigningKey::from_seeds(set, &[0; 47]).err(), length(48, 47));
    assert_eq!(SigningKey::from_bytes(set, &[0; 65]).err(), length(64, 65));
    assert_eq!(VerifyingKey::from_bytes(set, &[]).err(), length(32, 0));
    let message = Message::new(b"");
    let fresh = |nbytes| key.sign_message_with(message, Randomness::Fresh(&[1; 32][..nbytes]), Work::new());
    assert_eq!((fresh(15).err(), fresh(17).err()), (length(16, 15), length(16, 17)));
    assert_eq!(key.sign_many(&[message; 2], Randomness::Fresh(&[1; 16]), Work::new()).err(), length(32, 16));
    assert_eq!(message.with_context(&[0; 256]).err(), Some(Error::Context { nbytes: 256 }));
    assert!(Message::internal(b"").with_context(b"").is_err());
    for (algorithm, nbytes) in [(Algorithm::Sha1, 20), (Algorithm::Blake3, 32), (Algorithm::Sha256, 31)] {
        let expected = Some(Error::Prehash { algorithm, nbytes });
        assert_eq!(Message::prehashed(algorithm, &[0; 64][..nbytes]).err(), expected);
    }
    for &algorithm in Algorithm::ALL {
        if let Ok(message) = Message::prehashed(algorithm, hash(algorithm, b"").as_ref()) {
            assert_eq!(key.verifying_key().verify_message(message, sign(&key, message)), Ok(()), "{algorithm}");
        }
    }
    // A public half that is not that of the secret.
    let mut bytes = key.as_bytes().to_vec();
    bytes[63] ^= 1;
    let torn = SigningKey::from_bytes(set, &bytes).unwrap();
    assert_eq!(torn.sign_message_with(message, Randomness::None, Work::new()).err(), Some(Error::Fault));
    let mixed = [key.verifying_key(), VerifyingKey::from_bytes(ParameterSet::Shake128f, &[0; 32]).unwrap()];
    assert_eq!(verify_many(&mixed, &[message; 2], &[[0]; 2], Work::new()), Err(Error::MixedSets));
    assert_eq!("SLH-DSA-SHA2-128".parse::<ParameterSet>(), Err(Error::UnknownSet));
    assert_eq!("slh-dsa-shake-256F".parse(), Ok(ParameterSet::Shake256f));
    // Stopped at the first question and at a later one. Three threads may have made all parts before the second.
    for (nthreads, nquestions) in [(1, 0), (1, 3), (3, 0)] {
        let mut left = nquestions;
        let mut is_stopped = || {
            left -= 1;
            left < 0
        };
        let work = Work::new().threads(NonZeroUsize::new(nthreads).unwrap()).until(&mut is_stopped);
        assert_eq!(SigningKey::generate_with(ParameterSet::Sha2_256s, work).err(), Some(Error::Stopped));
    }
    let stopped = key.verifying_key().verify_many(&[message], &[[0]], Work::new().until(&mut || true));
    assert_eq!(stopped, Err(Error::Stopped));
    assert!(!format!("{key:?}").contains(&format!("{:02x}", key.as_bytes()[0]).repeat(2)));
    assert!(format!("{key:?}").contains(&format!("{:?}", key.verifying_key())));
}

/// Documents of other algorithms, of wrong lengths, with parameters, or cut off are no keys; no byte changed makes a
/// panic.
#[test]
fn documents() {
    let key = key(ParameterSet::Shake128f, 0);
    let (der, public_der) = (key.to_pkcs8_der().unwrap(), key.verifying_key().to_public_key_der().unwrap());
    let (der, public_der) = (der.as_bytes().to_vec(), public_der.as_bytes().to_vec());
    for place in 0..der.len() {
        assert!(SigningKey::from_pkcs8_der(&der[..place]).is_err());
        for bit in 0..8 {
            let mut bytes = der.clone();
            bytes[place] ^= 1 << bit;
            if let Ok(read) = SigningKey::from_pkcs8_der(&bytes) {
                let set_changed = read.parameter_set() != key.parameter_set();
                assert!(set_changed || read.as_bytes() != key.as_bytes(), "{place}");
            }
        }
    }
    for place in 0..public_der.len() {
        assert!(VerifyingKey::from_public_key_der(&public_der[..place]).is_err());
        for bit in 0..8 {
            let mut bytes = public_der.clone();
            bytes[place] ^= 1 << bit;
            let read = VerifyingKey::from_public_key_der(&bytes);
            assert!(read.is_err() || read.unwrap() != key.verifying_key(), "{place}");
        }
    }
    assert!(SigningKey::from_pkcs8_der(&[&der[..], &[0]].concat()).is_err());
    // NULL parameters: two bytes more in both sequences.
    let mut bytes = public_der.clone();
    bytes.splice(15..15, [5, 0]);
    bytes[1] += 2;
    bytes[3] += 2;
    assert!(VerifyingKey::from_public_key_der(&bytes).is_err());
    let text = key.to_pkcs8_pem(Default::default()).unwrap();
    assert!(VerifyingKey::from_public_key_pem(&text).is_err(), "a secret key is no public one");
}

/// A generator of the test's bytes, or one that fails. Keys and signatures ask for bytes only; a word would fail.
struct Generator(Option<u8>);

impl TryRng for Generator {
    type Error = std::fmt::Error;

    fn try_next_u32(&mut self) -> Result<u32, std::fmt::Error> {
        Err(std::fmt::Error)
    }

    fn try_next_u64(&mut self) -> Result<u64, std::fmt::Error> {
        Err(std::fmt::Error)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), std::fmt::Error> {
        bytes.fill(self.0.ok_or(std::fmt::Error)?);
        Ok(())
    }
}

impl TryCryptoRng for Generator {}

#[test]
fn traits() {
    let set = ParameterSet::Sha2_128f;
    let key = key(set, 0);
    let signature: Signature = key.sign(b"message");
    assert_eq!(signature, sign(&key, Message::new(b"message")));
    let public = Keypair::verifying_key(&key);
    public.verify(b"message", &signature).unwrap();
    assert!(public.verify(b"messag", &signature).is_err());
    let hedged = key.try_sign_with_rng(&mut Generator(Some(5)), b"message").unwrap();
    let expected = key.sign_message_with(Message::new(b"message"), Randomness::Fresh(&[5; 16]), Work::new()).unwrap();
    assert_eq!(hedged, expected);
    assert!(key.try_sign_with_rng(&mut Generator(None), b"message").is_err());
    assert_eq!(Signature::try_from(&signature.to_bytes()[..]).unwrap(), signature);
    // Hedged by the system: never the same twice.
    let twice = [(); 2].map(|()| key.sign_message(Message::new(b"message")).unwrap());
    assert_ne!(twice[0], twice[1]);
}
