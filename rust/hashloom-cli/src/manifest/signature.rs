// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signatures of manifests in the format of minisign: `FILE.minisig` beside FILE.
//!
//! The last line of a manifest shows decay only: whoever changes the manifest can make that line anew.

use std::path::{Path, PathBuf};

use super::with_suffix;

/// Returns the file of the signature of a file, where minisign looks for it.
pub fn beside(file: &Path) -> PathBuf {
    with_suffix(file, ".minisig")
}

#[cfg(feature = "sign")]
pub use of_minisign::{Signer, Trusted};

#[cfg(feature = "sign")]
mod of_minisign {
    use std::fs::File;
    use std::io::Read;
    use std::path::Path;

    use ct_codecs::{Base64, Decoder};
    use minisign::{SecretKey, SecretKeyBox};
    use minisign_verify::{PublicKey, Signature};
    use zeroize::Zeroizing;

    use crate::solaris::key::ask;
    use crate::text::{display, failed};
    use crate::{input, secrets};

    /// The longest key or signature.
    const NBYTES_MAX: u64 = 64 << 10;

    /// Reads a file of a few lines. The memory does not grow, as growing leaves copies of a secret behind.
    fn read(path: &Path) -> Result<String, String> {
        let mut text = String::with_capacity(NBYTES_MAX as usize + 32);
        let read = File::open(path).and_then(|file| file.take(NBYTES_MAX).read_to_string(&mut text));
        read.map_err(|error| failed(path, &error))?;
        Ok(text)
    }

    /// A secret key.
    pub struct Signer(SecretKey);

    impl Signer {
        /// Reads a secret key, and asks for its password if it has one.
        pub fn open(path: &Path) -> Result<Signer, String> {
            secrets::refuse_dumps();
            let bad = |why: &dyn std::fmt::Display| {
                format!("--sign: {}: expected a secret key of minisign: {why}", display(path))
            };
            let text = Zeroizing::new(read(path).map_err(|message| format!("--sign: {message}"))?);
            let line = text.lines().nth(1).unwrap_or_default();
            if line.starts_with("RWQAA") {
                // minisign leaves the checksum of a key without a password empty, which the crate takes for damage. A
                // damaged key makes signatures that its own public half refuses.
                let bytes = Base64::decode_to_vec(line, None).map_err(|error| bad(&error))?;
                let bytes = Zeroizing::new(bytes);
                let key = SecretKey::from_bytes(&bytes).map_err(|error| bad(&error))?;
                return Ok(Signer(key));
            }
            // Anything that is no key is an error before somebody types a password.
            if !line.starts_with("RWRTY0Iy") {
                return Err(bad(&"the second line is none"));
            }
            let prompt = format!("Password of {}: ", display(path));
            let password =
                ask(&prompt, "use a key without a password").map_err(|message| format!("--sign: {message}"))?;
            let password = std::str::from_utf8(&password).map_err(|_| "--sign: the password is not UTF-8")?;
            let key = SecretKeyBox::from_string(&text).and_then(|key| key.into_secret_key(Some(password.to_owned())));
            key.map(Signer)
                .map_err(|_| format!("--sign: {}: the password is wrong, or the key is damaged", display(path)))
        }

        /// Signs the bytes of a file that will have this name.
        pub fn sign(&self, file: &Path, bytes: impl Read) -> Result<String, String> {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let name = file.file_name().map(|name| display(Path::new(name)).to_string()).unwrap_or_default();
            // The words of minisign.
            let comment = format!("timestamp:{}\tfile:{name}\thashed", now.as_secs());
            let public = minisign::PublicKey::from_secret_key(&self.0).map_err(|error| format!("--sign: {error}"))?;
            let signed = minisign::sign(Some(&public), &self.0, bytes, Some(&comment), Some("signature from hashloom"));
            signed.map(|signature| signature.into_string()).map_err(|error| format!("--sign: {error}"))
        }
    }

    /// A public key and a signature, which is not checked yet.
    pub struct Trusted {
        key: PublicKey,
        signature: Signature,
        name: String,
    }

    impl Trusted {
        /// `key` is a file, or the key itself in base64.
        pub fn open(key: &Path, signature: &Path) -> Result<Trusted, String> {
            let of_text = key.to_str().and_then(|text| PublicKey::from_base64(text).ok());
            let bad = |error| format!("--trusted-key: {}: expected a public key of minisign: {error}", display(key));
            let key = match of_text {
                Some(key) => key,
                None => {
                    let text = read(key).map_err(|message| format!("--trusted-key: {message}"))?;
                    PublicKey::decode(&text).map_err(bad)?
                }
            };
            let name = display(signature).to_string();
            let text = read(signature).map_err(|message| {
                format!("{message}: the manifest is not signed, or the signature is elsewhere (--signature)")
            })?;
            let signature = Signature::decode(&text)
                .map_err(|error| format!("{name}: expected a signature of minisign: {error}"))?;
            Ok(Trusted { key, signature, name })
        }

        /// Reads a manifest into a file of its own, and checks the signature of exactly these bytes.
        pub fn verify(&self, manifest: &Path) -> Result<input::Kept, String> {
            let wrong = |error: minisign_verify::Error| format!("{}: the signature is wrong: {error}", self.name);
            let mut verifier = self.key.verify_stream(&self.signature).map_err(wrong)?;
            let kept = input::Kept::copied(manifest, |bytes| verifier.update(bytes));
            let kept = kept.map_err(|error| failed(manifest, &error))?;
            verifier.finalize().map_err(wrong)?;
            Ok(kept)
        }

        /// The comment that the signature covers.
        pub fn comment(&self) -> &str {
            self.signature.trusted_comment()
        }
    }
}

#[cfg(not(feature = "sign"))]
pub use of_nothing::{Signer, Trusted};

#[cfg(not(feature = "sign"))]
mod of_nothing {
    use std::convert::Infallible;
    use std::io::Read;
    use std::path::Path;

    use crate::input;

    const WITHOUT: &str = "this program was built without the feature `sign`";

    pub struct Signer(Infallible);

    impl Signer {
        pub fn open(_path: &Path) -> Result<Signer, String> {
            Err(format!("--sign: {WITHOUT}"))
        }

        pub fn sign(&self, _file: &Path, _bytes: impl Read) -> Result<String, String> {
            match self.0 {}
        }
    }

    pub struct Trusted(Infallible);

    impl Trusted {
        pub fn open(_key: &Path, _signature: &Path) -> Result<Trusted, String> {
            Err(format!("--trusted-key: {WITHOUT}"))
        }

        pub fn verify(&self, _manifest: &Path) -> Result<input::Kept, String> {
            match self.0 {}
        }

        pub fn comment(&self) -> &str {
            match self.0 {}
        }
    }
}
