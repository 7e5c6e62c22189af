// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys as PKCS#8 and SubjectPublicKeyInfo (RFC 9909): the bytes of FIPS 205, nothing around them, no parameters.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;

use pkcs8::der::asn1::{BitStringRef, OctetStringRef};
use pkcs8::der::{Document, SecretDocument};
use pkcs8::spki::{self, AlgorithmIdentifier, AlgorithmIdentifierRef, SubjectPublicKeyInfo, SubjectPublicKeyInfoRef};
use pkcs8::{EncodePrivateKey, KeyError, ObjectIdentifier, PrivateKeyInfoRef};

use crate::{ParameterSet, SigningKey, VerifyingKey};

impl ParameterSet {
    fn identifier<'a>(self) -> AlgorithmIdentifierRef<'a> {
        AlgorithmIdentifier { oid: ObjectIdentifier::new_unwrap(self.oid()), parameters: None }
    }

    /// The set of an algorithm, which must have no parameters.
    fn identified(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Self, spki::Error> {
        let found = ParameterSet::ALL.into_iter().find(|set| set.identifier().oid == algorithm.oid);
        let set = found.ok_or(spki::Error::OidUnknown { oid: algorithm.oid })?;
        if algorithm.parameters.is_none() { Ok(set) } else { Err(spki::Error::KeyMalformed) }
    }
}

/// Why a PEM text is no key of the label that was wanted, in words for people.
pub fn why_no_key(text: &str, wanted: &str, error: &dyn Display) -> String {
    match label(text) {
        Some("ENCRYPTED PRIVATE KEY") if wanted == "PRIVATE KEY" => {
            "it has a password; `openssl pkey -in KEY -out NEW` writes it without one".into()
        }
        Some(label) if label != wanted => format!("it is a {}", label.to_lowercase()),
        Some(_) => error.to_string(),
        None => format!("it has no line -----BEGIN {wanted}-----"),
    }
}

/// The first label of a PEM text, such as `PUBLIC KEY`.
pub fn label(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix("-----BEGIN ")?.split_once("-----").map(|(label, _)| label)
}

/// `SigningKey::from_pkcs8_pem` and `from_pkcs8_der` by the trait [`pkcs8::DecodePrivateKey`].
///
/// ```
/// use hashloom_slh::pkcs8::{DecodePrivateKey, EncodePrivateKey};
/// use hashloom_slh::{ParameterSet, SigningKey};
///
/// let key = SigningKey::from_seeds(ParameterSet::Sha2_128f, &[7; 48])?;
/// let pem = key.to_pkcs8_pem(Default::default())?;
/// assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
/// assert_eq!(SigningKey::from_pkcs8_pem(&pem)?.as_bytes(), key.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl TryFrom<PrivateKeyInfoRef<'_>> for SigningKey {
    type Error = pkcs8::Error;

    fn try_from(info: PrivateKeyInfoRef<'_>) -> Result<Self, pkcs8::Error> {
        let set = ParameterSet::identified(&info.algorithm)?;
        let key = SigningKey::from_bytes(set, info.private_key.as_bytes()).map_err(|_| KeyError::Invalid)?;
        // Version 2 may repeat the public half.
        match info.public_key.and_then(|public| public.as_bytes()) {
            Some(public) if public != key.verifying_key().as_bytes() => Err(KeyError::Invalid.into()),
            _ => Ok(key),
        }
    }
}

impl EncodePrivateKey for SigningKey {
    fn to_pkcs8_der(&self) -> pkcs8::Result<SecretDocument> {
        let info = PrivateKeyInfoRef::new(self.set.identifier(), OctetStringRef::new(self.as_bytes())?);
        Ok(SecretDocument::encode_msg(&info)?)
    }
}

/// `VerifyingKey::from_public_key_pem` and `from_public_key_der` by the trait [`pkcs8::DecodePublicKey`].
///
/// ```
/// use hashloom_slh::pkcs8::{DecodePublicKey, EncodePublicKey};
/// use hashloom_slh::{ParameterSet, VerifyingKey};
///
/// let key = VerifyingKey::from_bytes(ParameterSet::Shake256s, &[7; 64])?;
/// let pem = key.to_public_key_pem(Default::default())?;
/// assert_eq!(VerifyingKey::from_public_key_pem(&pem)?, key);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl TryFrom<SubjectPublicKeyInfoRef<'_>> for VerifyingKey {
    type Error = spki::Error;

    fn try_from(info: SubjectPublicKeyInfoRef<'_>) -> Result<Self, spki::Error> {
        let set = ParameterSet::identified(&info.algorithm)?;
        let bytes = info.subject_public_key.as_bytes().ok_or(spki::Error::KeyMalformed)?;
        VerifyingKey::from_bytes(set, bytes).map_err(|_| spki::Error::KeyMalformed)
    }
}

impl pkcs8::EncodePublicKey for VerifyingKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        let subject_public_key = BitStringRef::from_bytes(self.as_bytes())?;
        let info = SubjectPublicKeyInfo { algorithm: self.set.identifier(), subject_public_key };
        Ok(Document::encode_msg(&info)?)
    }
}
