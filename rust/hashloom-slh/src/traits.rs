// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traits of the crate `signature`: the pure form, with an empty context.

use alloc::vec::Vec;

use signature::rand_core::TryCryptoRng;
use signature::{Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};
use zeroize::Zeroizing;

use crate::{Error, Message, Randomness, Signature, SigningKey, VerifyingKey, Work};

impl From<Error> for signature::Error {
    /// The crate's error says nothing about the cause.
    fn from(_: Error) -> Self {
        signature::Error::new()
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
        let mut fresh = Zeroizing::new([0; 32]);
        let fresh = &mut fresh[..self.set.n()];
        rng.try_fill_bytes(fresh).map_err(|_| Error::NoRandomness)?;
        Ok(self.sign_message_with(Message::new(message), Randomness::Fresh(fresh), Work::new())?)
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
