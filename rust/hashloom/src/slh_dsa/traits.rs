// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traits of the crate `signature`: the pure form, with an empty context.

use alloc::vec::Vec;

use signature::rand_core::{CryptoRng, TryCryptoRng};
use signature::{Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};

use super::{Error, Message, ParameterSet, Randomness, Secret, Signature, SigningKey, VerifyingKey, Work};

impl From<Error> for signature::Error {
    /// The crate's error says nothing about the cause.
    fn from(_: Error) -> Self {
        signature::Error::new()
    }
}

impl SigningKey {
    /// A new key of a generator's random bytes.
    ///
    /// ```
    /// use hashloom::slh_dsa::signature::rand_core::CryptoRng;
    /// use hashloom::slh_dsa::signature::{RandomizedSigner, Verifier};
    /// use hashloom::slh_dsa::{ParameterSet, SigningKey};
    ///
    /// fn demonstrate(rng: &mut impl CryptoRng) -> Result<(), hashloom::slh_dsa::signature::Error> {
    ///     let key = SigningKey::from_rng(ParameterSet::Sha2_128s, rng)?;
    ///     let signature = key.sign_with_rng(rng, b"message");
    ///     key.verifying_key().verify(b"message", &signature)
    /// }
    /// ```
    ///
    /// # Errors
    /// None that a call without a stop can have.
    pub fn from_rng<R: CryptoRng + ?Sized>(set: ParameterSet, rng: &mut R) -> Result<Self, Error> {
        let mut seeds = Secret::new(3 * set.n());
        rng.fill_bytes(&mut seeds.0);
        SigningKey::from_seeds(set, &seeds.0)
    }
}

/// Deterministic signatures, as other crates make them by this trait. [`RandomizedSigner`] hedges them.
impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        Ok(self.sign_message_with(Message::new(message), Randomness::None, Work::new())?)
    }
}

/// Hedged signatures.
impl RandomizedSigner<Signature> for SigningKey {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> Result<Signature, signature::Error> {
        let mut fresh = Secret::new(self.set.n());
        rng.try_fill_bytes(&mut fresh.0).map_err(|_| Error::NoRandomness)?;
        Ok(self.sign_message_with(Message::new(message), Randomness::Fresh(&fresh.0), Work::new())?)
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        SigningKey::verifying_key(self)
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        Ok(self.verify_message(Message::new(message), signature)?)
    }
}

impl SignatureEncoding for Signature {
    type Repr = Vec<u8>;
}
