// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes signatures. The secret key is minisign's, as is the code that signs, or one of SLH-DSA.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use ct_codecs::{Base64, Decoder};
use hashloom::{Algorithm, HmacKey, hmac};
use hashloom_slh::pkcs8::DecodePrivateKey;
use hashloom_slh::{SigningKey, label, why_no_key};
use minisign::{PError, SecretKey, SecretKeyBox};
use zeroize::Zeroizing;

use crate::{PublicKey, slh};

/// The place of the secret in the bytes of a key.
const SECRET: Range<usize> = 62..126;

/// The beginnings of the second line of minisign's secret keys: of the algorithm and of the function for the password.
const WITHOUT_PASSWORD: &str = "RWQAA";
const WITH_PASSWORD: &str = "RWRTY0Iy";

/// A secret key of minisign, or of SLH-DSA.
///
/// ```
/// use hashloom_signature::{Signatures, Signer, SignerError};
///
/// let signer = Signer::parse("untrusted comment: minisign encrypted secret key
/// RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAD2G84SAQN8Dg10Lj6Hb1MhxZVZIxDMk92RJ3CovB\
/// AAYIFAV0wpx+HqDEzIfuTBp0Nl2VES5xfOLptmqAt1cgebhVSznOCPakAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
/// ", None)?;
/// let signature = signer.sign(&b"content"[..], "file:name")?;
/// let signed = signer.public_key().verify(b"content", &Signatures::parse(&signature)?)?;
/// assert_eq!((signed.key(), signed.part("file")), ("C0371020E1BC610F", Some("name")));
/// assert!(signed.comment().starts_with("timestamp:") && signed.comment().ends_with("\tfile:name\thashed"));
/// assert!(matches!(Signer::parse("", None), Err(SignerError::NotAKey(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Signer {
    key: Key,
    public: PublicKey,
}

enum Key {
    Minisign(SecretKey),
    SlhDsa(SigningKey),
}

impl Signer {
    /// Reads the content of minisign's file of a secret key; a key with a password needs the password. Or a key of
    /// SLH-DSA: a PEM text of the label `PRIVATE KEY`.
    ///
    /// # Errors
    /// [`SignerError::NotAKey`], [`SignerError::Password`] if there is none, [`SignerError::WrongPassword`].
    pub fn parse(text: &str, password: Option<&str>) -> Result<Signer, SignerError> {
        let bad = |why: &dyn fmt::Display| SignerError::NotAKey(why.to_string());
        if label(text).is_some() {
            let key = SigningKey::from_pkcs8_pem(text);
            let key = key.map_err(|error| bad(&why_no_key(text, "PRIVATE KEY", &error)))?;
            let public = PublicKey::of(key.verifying_key());
            return Ok(Signer { key: Key::SlhDsa(key), public });
        }
        let line = text.lines().nth(1).unwrap_or_default();
        let key = if line.starts_with(WITHOUT_PASSWORD) {
            // minisign leaves the checksum of a key without a password empty, which the crate takes for damage. A
            // damaged key makes signatures that its own public half refuses.
            let bytes = Zeroizing::new(Base64::decode_to_vec(line, None).map_err(|error| bad(&error))?);
            SecretKey::from_bytes(&bytes).map_err(|error| bad(&error))?
        } else if line.starts_with(WITH_PASSWORD) {
            let password = password.ok_or(SignerError::Password)?.to_owned();
            let key = SecretKeyBox::from_string(text).and_then(|key| key.into_secret_key(Some(password)));
            key.map_err(|_| SignerError::WrongPassword)?
        } else {
            return Err(bad(&"the second line is none"));
        };
        let public = minisign::PublicKey::from_secret_key(&key).map_err(|error| bad(&error))?;
        let public = PublicKey::parse(&public.to_base64()).map_err(|error| bad(&error))?;
        Ok(Signer { key: Key::Minisign(key), public })
    }

    /// The public half of the key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Signs the bytes of a file: the content of its `.minisig` or `.slhsig` file. The trusted comment has minisign's
    /// words, the time and `hashed`, around `parts`: names and values with colons between them, separated by tabs.
    ///
    /// # Errors
    /// Those of the reader, and of a damaged key.
    pub fn sign(&self, bytes: impl Read, parts: &str) -> io::Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let comment = format!("timestamp:{}\t{parts}\thashed", now.as_secs());
        let key = match &self.key {
            Key::Minisign(key) => key,
            Key::SlhDsa(key) => return slh::sign(key, bytes, &comment),
        };
        let failed = |error: PError| io::Error::other(error.to_string());
        let public = minisign::PublicKey::from_secret_key(key).map_err(failed)?;
        let signed = minisign::sign(Some(&public), key, bytes, Some(&comment), Some("signature from hashloom"));
        signed.map(|signature| signature.into_string()).map_err(failed)
    }

    /// A key for the state of unfinished work, by which only the holder of this secret key can have written the state:
    /// HMAC-SHA256 of a fixed text under the secret key.
    pub fn state_key(&self) -> Zeroizing<[u8; 32]> {
        const LABEL: &[u8] = b"hashloom: the key of states of unfinished manifests, 1";
        let key = match &self.key {
            Key::Minisign(key) => {
                let bytes = Zeroizing::new(key.to_bytes());
                HmacKey::new(Algorithm::Sha256, bytes.get(SECRET).unwrap_or_default())
            }
            Key::SlhDsa(key) => HmacKey::new(Algorithm::Sha256, key.as_bytes()),
        };
        let mut state_key = Zeroizing::new([0; 32]);
        state_key.copy_from_slice(hmac(&key, LABEL).as_ref());
        state_key
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("public", &self.public).finish_non_exhaustive()
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        // The key of minisign's crate overwrites nothing when it is dropped.
        if let (Key::Minisign(key), Ok(zeros)) = (&mut self.key, SecretKey::from_bytes(&[0; 158])) {
            *key = zeros;
        }
        std::hint::black_box(&mut self.key);
    }
}

/// Why a secret key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignerError {
    /// The text is not a secret key, and why.
    NotAKey(String),
    /// The key needs a password.
    Password,
    /// The password is wrong, or the key is damaged.
    WrongPassword,
}

impl fmt::Display for SignerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignerError::NotAKey(why) => write!(f, "expected a secret key of minisign or SLH-DSA: {why}"),
            SignerError::Password => f.write_str("the key has a password"),
            SignerError::WrongPassword => f.write_str("the password is wrong, or the key is damaged"),
        }
    }
}

impl std::error::Error for SignerError {}
