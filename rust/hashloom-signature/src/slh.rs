// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signatures by keys of SLH-DSA, for archives that are to be trusted for decades. Three lines, as minisign's first
//! three:
//!
//! ```text
//! untrusted comment: signature from hashloom by SLH-DSA-SHA2-128s
//! <base64 of: "SL", the 8 bytes of the key's number, the signature>
//! trusted comment: timestamp:1556193335   file:name
//! ```
//!
//! The signature (FIPS 205, the pure form) is one of the SHA-512 of all bytes and the text of the trusted comment
//! behind it, in the context [`CONTEXT`]: a signature of a plain file by the same key is none of a manifest. The number
//! of a key is the first 8 bytes of the SHA-256 of its SubjectPublicKeyInfo.

use ct_codecs::{Base64, Decoder};
use hashloom::{Algorithm, Hash, Hasher, hash};
use hashloom_slh::pkcs8::EncodePublicKey;
use hashloom_slh::{Message, VerifyingKey};

/// What such signatures are for.
const CONTEXT: &[u8] = b"hashloom manifest";

const ALGORITHM: &[u8; 2] = b"SL";

const UNTRUSTED: &str = "untrusted comment:";
const TRUSTED: &str = "trusted comment: ";

/// The number of a key.
pub fn number(key: &VerifyingKey) -> [u8; 8] {
    let document = key.to_public_key_der().expect("a key of at most 64 bytes has a document");
    let mut number = [0; 8];
    number.copy_from_slice(&hash(Algorithm::Sha256, document.as_bytes()).as_ref()[..8]);
    number
}

/// What is signed.
fn content(digest: &Hash, comment: &str) -> Vec<u8> {
    [digest.as_ref(), comment.as_bytes()].concat()
}

fn message(content: &[u8]) -> Message<'_> {
    Message::new(content).with_context(CONTEXT).expect("the context is short")
}

/// A signature that is not checked yet.
#[derive(Clone)]
pub struct Signature {
    number: [u8; 8],
    bytes: Vec<u8>,
    comment: String,
}

impl Signature {
    /// Whether the second line of a signature is that of SLH-DSA.
    pub fn is_one(line: &str) -> bool {
        // The first bytes, whatever follows.
        let head = line.get(..4).and_then(|head| Base64::decode_to_vec(head, None).ok());
        head.is_some_and(|head| head.starts_with(ALGORITHM))
    }

    /// Reads three lines.
    pub fn decode(lines: &[&str]) -> Result<Signature, String> {
        let &[untrusted, base64, trusted] = lines else { return Err("it is cut off".into()) };
        if !untrusted.starts_with(UNTRUSTED) {
            return Err(format!("its first line does not begin with {UNTRUSTED:?}"));
        }
        let comment = trusted.strip_prefix(TRUSTED);
        let comment = comment.ok_or_else(|| format!("its third line does not begin with {TRUSTED:?}"))?;
        let bytes = Base64::decode_to_vec(base64, None).map_err(|error| error.to_string())?;
        let rest = bytes.strip_prefix(ALGORITHM).and_then(|rest| rest.split_first_chunk());
        let (&number, signature) = rest.ok_or("it is cut off")?;
        Ok(Signature { number, bytes: signature.to_owned(), comment: comment.to_owned() })
    }

    pub fn comment(&self) -> &str {
        &self.comment
    }
}

/// Checks a signature of bytes that come in parts.
pub struct Stream<'a> {
    key: &'a VerifyingKey,
    signature: &'a Signature,
    hasher: Hasher,
}

impl<'a> Stream<'a> {
    /// `None` if the signature is one by another key.
    pub fn new(key: &'a VerifyingKey, signature: &'a Signature) -> Option<Self> {
        let hasher = Hasher::new(Algorithm::Sha512);
        (number(key) == signature.number).then_some(Stream { key, signature, hasher })
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    pub fn verify(self) -> bool {
        let content = content(&self.hasher.finalize(), &self.signature.comment);
        self.key.verify_message(message(&content), &self.signature.bytes).is_ok()
    }
}

#[cfg(feature = "sign")]
pub use sign::sign;

#[cfg(feature = "sign")]
mod sign {
    use std::io::{self, Read};
    use std::num::NonZeroUsize;
    use std::thread;

    use ct_codecs::{Base64, Encoder};
    use hashloom::{Algorithm, Hasher};
    use hashloom_slh::{Randomness, SigningKey, Work};

    use super::{ALGORITHM, TRUSTED, UNTRUSTED, content, message, number};

    /// The three lines of a signature of all bytes, hedged, by all CPUs.
    pub fn sign(key: &SigningKey, mut bytes: impl Read, comment: &str) -> io::Result<String> {
        let mut hasher = Hasher::new(Algorithm::Sha512);
        io::copy(&mut bytes, &mut hasher)?;
        let content = content(&hasher.finalize(), comment);
        let work = Work::new().threads(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let signature = key.sign_message_with(message(&content), Randomness::System, work).map_err(io::Error::other)?;
        let bytes = [&ALGORITHM[..], &number(&key.verifying_key()), signature.as_ref()].concat();
        let base64 = Base64::encode_to_string(bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let set = key.parameter_set();
        Ok(format!("{UNTRUSTED} signature from hashloom by {set}\n{base64}\n{TRUSTED}{comment}\n"))
    }
}
