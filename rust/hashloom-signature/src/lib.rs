// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! Signatures of lists, manifests and other files: by [minisign](https://jedisct1.github.io/minisign/), and by SLH-DSA
//! (FIPS 205), which quantum computers do not break. An SLH-DSA key is a PEM file, as OpenSSL 3.5 writes it.
//!
//! The last line of a manifest shows decay only: whoever changes the manifest can make that line anew. A signature
//! covers all bytes of a file, and a *trusted comment*, one line of text.
//!
//! A file of signatures may have several, one after the other. minisign reads the first only. While a signed file is
//! replaced, its file of signatures has that of the old file and that of the new one, so that there is a signature of
//! the file at every moment: [`Signatures::without_wrong`].
//!
//! ```
//! use hashloom_signature::{PublicKey, SignatureError, Signatures, Signed, Verifier};
//!
//! let key = PublicKey::parse("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3")?;
//! let signatures = Signatures::parse(
//!     "untrusted comment: signature from minisign secret key
//! RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
//! trusted comment: timestamp:1556193335\tfile:test
//! y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==
//! ",
//! )?;
//! let signed: Signed = key.verify(b"test", &signatures)?;
//! assert_eq!((signed.key(), key.id()), ("E7620F1842B4E81F", "E7620F1842B4E81F"));
//! assert_eq!((signed.comment(), signed.part("file")), ("timestamp:1556193335\tfile:test", Some("test")));
//! assert_eq!(key.verify(b"Test", &signatures), Err(SignatureError::Wrong));
//! assert_eq!(signatures.without_wrong(&key, &b"Test"[..])?, "");
//!
//! let mut verifier: Verifier = key.verifier(&signatures)?;
//! verifier.update(b"te");
//! verifier.update(b"st");
//! assert_eq!(verifier.finish()?, signed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs, unsafe_code)]

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use ct_codecs::{Base64, Decoder};
use hashloom_files::paths::display;
use hashloom_slh::pkcs8::DecodePublicKey;
use hashloom_slh::{VerifyingKey, label, why_no_key};
use minisign_verify::{Error, StreamVerifier};

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
#[cfg(feature = "sign")]
mod signer;
mod slh;

#[cfg(feature = "sign")]
pub use signer::{Signer, SignerError};

/// The greatest length of a file of signatures or of a key, in bytes.
pub const FILE_MAX_NBYTES: usize = 512 << 10;

/// The greatest number of signatures in a file.
pub const SIGNATURES_MAX: usize = 4;

/// Lines of a signature of minisign: an untrusted comment, the signature, the trusted comment, the signature of both.
const NLINES: usize = 4;

/// Lines of a signature of SLH-DSA, which covers the trusted comment too.
const NLINES_SLH: usize = 3;

/// A public key.
#[derive(Debug, Clone)]
pub struct PublicKey {
    key: Key,
    id: String,
}

#[derive(Debug, Clone)]
enum Key {
    Minisign(minisign_verify::PublicKey),
    SlhDsa(VerifyingKey),
}

impl PublicKey {
    /// Reads a key of minisign: its base64, or the content of minisign's file, which has a line before it. Or a key of
    /// SLH-DSA: a PEM text of the label `PUBLIC KEY`.
    ///
    /// # Errors
    /// [`SignatureError::NotAKey`].
    pub fn parse(text: &str) -> Result<PublicKey, SignatureError> {
        if label(text).is_some() {
            let key = VerifyingKey::from_public_key_pem(text);
            let bad = |error| SignatureError::NotAKey(why_no_key(text, "PUBLIC KEY", &error));
            return key.map(PublicKey::of).map_err(bad);
        }
        let key = text.trim();
        let key = key.lines().nth(1).unwrap_or(key).trim();
        let bad = |error: Error| SignatureError::NotAKey(error.to_string());
        let parsed = minisign_verify::PublicKey::from_base64(key).map_err(bad)?;
        // Two bytes of the algorithm, eight of the number, the key.
        let bytes = Base64::decode_to_vec(key, None).unwrap_or_default();
        if bytes.get(10..).is_none_or(|point| !is_strong(point)) {
            return Err(SignatureError::NotAKey("anybody can sign for it: its point is of small order".into()));
        }
        let number = bytes.get(2..10).and_then(|number| number.try_into().ok()).map_or(0, u64::from_le_bytes);
        Ok(PublicKey { key: Key::Minisign(parsed), id: format!("{number:016X}") })
    }

    /// A key of SLH-DSA.
    pub(crate) fn of(key: VerifyingKey) -> PublicKey {
        let number = u64::from_be_bytes(slh::number(&key));
        PublicKey { key: Key::SlhDsa(key), id: format!("{number:016X}") }
    }

    /// What follows the name of a file in the name of its signatures' file: `.minisig` or `.slhsig`.
    pub fn suffix(&self) -> &'static str {
        match &self.key {
            Key::Minisign(_) => ".minisig",
            Key::SlhDsa(_) => ".slhsig",
        }
    }

    /// The number of the key, as minisign prints it; of an SLH-DSA key the first 8 bytes of the SHA-256 of its DER
    /// form. Anybody can make another key with a number of minisign's.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Begins to check signatures of bytes that come in parts.
    ///
    /// # Errors
    /// [`SignatureError::OtherKey`] or [`SignatureError::Legacy`] if no signature can be one of this key.
    pub fn verifier<'a>(&'a self, signatures: &'a Signatures) -> Result<Verifier<'a>, SignatureError> {
        let mut fault = SignatureError::OtherKey { expected: self.id.clone() };
        let mut streams = Vec::new();
        for (_, signature) in &signatures.0 {
            match self.stream(signature) {
                Ok(stream) => streams.push((signature, stream)),
                Err(Some(Error::UnsupportedLegacyMode)) => fault = SignatureError::Legacy,
                Err(_) => {}
            }
        }
        if streams.is_empty() { Err(fault) } else { Ok(Verifier { id: &self.id, streams }) }
    }

    fn stream<'a>(&'a self, signature: &'a Signature) -> Result<Stream<'a>, Option<Error>> {
        match (&self.key, signature) {
            (Key::Minisign(key), Signature::Minisign(signature)) => Ok(Stream::Minisign(key.verify_stream(signature)?)),
            (Key::SlhDsa(key), Signature::SlhDsa(signature)) => {
                slh::Stream::new(key, signature).map(Stream::SlhDsa).ok_or(None)
            }
            _ => Err(None),
        }
    }

    /// Checks that one of the signatures is one of these bytes by this key.
    ///
    /// # Errors
    /// [`SignatureError::OtherKey`], [`SignatureError::Legacy`] or [`SignatureError::Wrong`].
    pub fn verify(&self, bytes: &[u8], signatures: &Signatures) -> Result<Signed, SignatureError> {
        let mut verifier = self.verifier(signatures)?;
        verifier.update(bytes);
        verifier.finish()
    }
}

/// Whether a point of Ed25519 (RFC 8032 section 5.1.3) is written in its only form, and is none of the eight whose
/// order divides 8: by those anybody can sign anything.
fn is_strong(point: &[u8]) -> bool {
    type Number = (u128, u128);
    /// 2^255 - 19, the high half first.
    const P: Number = (u128::MAX >> 1, u128::MAX - 18);
    /// The y of the points of orders 1 and 2, of 4, and of 8, which are the roots of dy^4 + 2y^2 - 1.
    const SMALL: [Number; 5] = [
        (0, 1),
        (P.0, P.1 - 1),
        (0, 0),
        (0x05fc536d880238b13933c6d305acdfd5, 0xf098eff289f4c345b027b2c28f95e826),
        (0x7a03ac9277fdc74ec6cc392cfa53202a, 0x0f67100d760b3cba4fd84d3d706a17c7),
    ];
    let half = |bytes: &[u8]| bytes.try_into().map(u128::from_le_bytes).unwrap_or(u128::MAX);
    // The highest bit is the sign of x: two points share a y, and their order.
    let y = point.split_at_checked(16).map(|(low, high)| (half(high) & u128::MAX >> 1, half(low)));
    y.is_some_and(|y| y < P && !SMALL.contains(&y))
}

/// The signatures of a file, none of which is checked yet.
#[derive(Clone)]
pub struct Signatures(Vec<(String, Signature)>);

#[derive(Clone)]
enum Signature {
    Minisign(minisign_verify::Signature),
    SlhDsa(slh::Signature),
}

impl Signature {
    fn comment(&self) -> &str {
        match self {
            Signature::Minisign(signature) => signature.trusted_comment(),
            Signature::SlhDsa(signature) => signature.comment(),
        }
    }
}

enum Stream<'a> {
    Minisign(StreamVerifier<'a>),
    SlhDsa(slh::Stream<'a>),
}

impl Stream<'_> {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Stream::Minisign(stream) => stream.update(bytes),
            Stream::SlhDsa(stream) => stream.update(bytes),
        }
    }

    fn verify(self) -> bool {
        match self {
            Stream::Minisign(mut stream) => stream.finalize().is_ok(),
            Stream::SlhDsa(stream) => stream.verify(),
        }
    }
}

impl Signatures {
    /// Reads the content of a `.minisig` or `.slhsig` file. An empty text has no signatures.
    ///
    /// # Errors
    /// [`SignatureError::NotASignature`], [`SignatureError::TooMany`].
    pub fn parse(text: &str) -> Result<Signatures, SignatureError> {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let (mut rest, mut found) = (&lines[..], Vec::new());
        while !rest.is_empty() {
            if found.len() == SIGNATURES_MAX {
                return Err(SignatureError::TooMany);
            }
            let is_slh = rest.get(1).is_some_and(|line| slh::Signature::is_one(line));
            let (one, others) = rest.split_at(rest.len().min(if is_slh { NLINES_SLH } else { NLINES }));
            let text = one.join("\n") + "\n";
            let bad = |why| SignatureError::NotASignature { line: lines.len() - rest.len() + 1, why };
            let signature = if is_slh {
                Signature::SlhDsa(slh::Signature::decode(one).map_err(bad)?)
            } else {
                let signature = minisign_verify::Signature::decode(&text);
                Signature::Minisign(signature.map_err(|error| bad(error.to_string()))?)
            };
            found.push((text, signature));
            rest = others;
        }
        Ok(Signatures(found))
    }

    /// Number of signatures.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the signatures to keep while a signed file is replaced: those of this key if they are right for
    /// `bytes`, the old content, and then those of other keys, which nobody here can check. They leave room for one
    /// more.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn without_wrong(&self, key: &PublicKey, mut bytes: impl Read) -> io::Result<String> {
        let mut own: Vec<(&str, Stream<'_>)> = Vec::new();
        let mut kept = Vec::new();
        for (text, signature) in &self.0 {
            match key.stream(signature) {
                Ok(stream) => own.push((text, stream)),
                Err(_) => kept.push(&text[..]),
            }
        }
        if !own.is_empty() {
            let mut buffer = vec![0; 1 << 16];
            loop {
                match bytes.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(nbytes) => own.iter_mut().for_each(|(_, stream)| stream.update(&buffer[..nbytes])),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let right = own.into_iter().filter_map(|(text, stream)| stream.verify().then_some(text));
        let kept: Vec<&str> = right.chain(kept).take(SIGNATURES_MAX - 1).collect();
        Ok(kept.concat())
    }
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(text, _)| text)).finish()
    }
}

/// Checks the signatures of bytes that come in parts: see [`PublicKey::verifier`].
#[must_use]
pub struct Verifier<'a> {
    id: &'a str,
    streams: Vec<(&'a Signature, Stream<'a>)>,
}

impl Verifier<'_> {
    /// Takes the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.streams.iter_mut().for_each(|(_, stream)| stream.update(bytes));
    }

    /// Returns the first signature that is right for all bytes.
    ///
    /// # Errors
    /// [`SignatureError::Wrong`] if none is.
    pub fn finish(self) -> Result<Signed, SignatureError> {
        let right = self.streams.into_iter().find_map(|(signature, stream)| stream.verify().then_some(signature));
        let signed =
            |signature: &Signature| Signed { key: self.id.to_owned(), comment: signature.comment().to_owned() };
        right.map(signed).ok_or(SignatureError::Wrong)
    }
}

impl fmt::Debug for Verifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("key", &self.id).finish_non_exhaustive()
    }
}

/// A signature that is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    key: String,
    comment: String,
}

impl Signed {
    /// The [number](PublicKey::id) of the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The trusted comment, which the signature covers too. Escape it before it is printed.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The part of the trusted comment with this name: a comment such as `timestamp:1556193335\tfile:test` has parts
    /// between tabs. The names that hashloom writes have escapes for tabs and other control characters.
    pub fn part(&self, name: &str) -> Option<&str> {
        self.comment.split('\t').find_map(|part| part.strip_prefix(name)?.strip_prefix(':'))
    }
}

/// The name of a file as a trusted comment has it: the last part of the path, with control characters escaped.
///
/// ```
/// use hashloom_signature::file_name;
/// assert_eq!(file_name("archive/a\tb".as_ref()).unwrap(), r"a\x09b");
/// ```
pub fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| display(Path::new(name)))
}

/// The name of a folder as a trusted comment has it, wherever links lead to it. A folder at the top has its path.
///
/// ```
/// use hashloom_signature::folder_name;
/// # let outer = tempfile::tempdir()?;
/// # let outer = outer.path();
/// std::fs::create_dir(outer.join("photos"))?;
/// assert_eq!(folder_name(&outer.join("photos/../photos/.")), "photos");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn folder_name(folder: &Path) -> String {
    let place = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    file_name(&place).unwrap_or_else(|| display(&place))
}

/// Why there is no right signature.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is not a public key, and why.
    NotAKey(String),
    /// There is no signature.
    NotASignature {
        /// The line where a signature should begin, from 1.
        line: usize,
        /// The fault.
        why: String,
    },
    /// There are more than [`SIGNATURES_MAX`] signatures.
    TooMany,
    /// All signatures are by other keys.
    OtherKey {
        /// The number of the key.
        expected: String,
    },
    /// The signature is one of the content itself, as minisign before 0.10 made it, and not of its BLAKE2b digest.
    Legacy,
    /// The signature is of other bytes, or its comment was changed.
    Wrong,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignatureError::NotAKey(why) => write!(f, "expected a public key of minisign or SLH-DSA: {why}"),
            SignatureError::NotASignature { line, why } => {
                write!(f, "expected a signature of minisign or SLH-DSA from line {line} on: {why}")
            }
            SignatureError::TooMany => write!(f, "expected up to {SIGNATURES_MAX} signatures, found more"),
            SignatureError::OtherKey { expected } => write!(f, "it is not one by the key {expected}"),
            SignatureError::Legacy => {
                f.write_str("it is a legacy one, of the content and not of its digest: sign again")
            }
            SignatureError::Wrong => f.write_str("it is not one of this content, or its comment was changed"),
        }
    }
}

impl std::error::Error for SignatureError {}
