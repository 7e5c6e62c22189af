// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signatures beside files, for commands: `FILE.minisig` beside FILE, or `FILE.slhsig` if the key is one of SLH-DSA.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hashloom_files::text::shown;
use hashloom_frame::names::with_suffix;
use hashloom_frame::passphrase::ask;
use hashloom_frame::text::{display, failed, name, reason};
use hashloom_frame::{input, output, secrets, style};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{FILE_MAX_NBYTES, PublicKey, SignatureError, Signatures, SignerError, file_name, folder_name};

/// Returns the file of the signature of a file by this key, where minisign looks for its own.
pub fn beside(file: &Path, key: &PublicKey) -> PathBuf {
    with_suffix(file, key.suffix())
}

/// A right signature of a manifest, and whether its comment names what is looked at.
#[derive(Debug, Serialize)]
pub struct Signed {
    /// The number of the public key: as minisign prints it; of SLH-DSA the first 8 bytes of the SHA-256 of its DER
    /// form.
    key: String,
    /// The trusted comment: parts between tabs; `taken-over` is the number of digests that `write --update` took from
    /// OLD.
    comment: String,
    /// The name of the manifest in the comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Whether the manifest has that name; absent if either has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_this_file: Option<bool>,
    /// The name of the folder in the comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// Whether the folder has that name; absent for `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_this_folder: Option<bool>,
}

impl Signed {
    /// The line for people.
    pub fn line(&self) -> String {
        let parts: Vec<String> = self.comment.split('\t').map(|part| shown(part.as_bytes()).to_string()).collect();
        format!("signed by {}: {}", self.key, parts.join(", "))
    }

    /// Warns if the names in the comment are others. A copy of a manifest or of a folder may have any name, so that
    /// this is no error. `folder` is the one that the manifest is compared with.
    pub fn warn(&self, manifest: &Path, folder: &Path) {
        let warn = |what: &str, signed: &Option<String>, here: &Path| {
            let signed = shown(signed.as_deref().unwrap_or_default().as_bytes());
            let message = format!("the signature is of a {what} named {signed}: {} may be another one", display(here));
            let _ = writeln!(io::stderr(), "{} {}: {message}", style::warning(), name(manifest));
        };
        if self.is_this_file == Some(false) {
            warn("manifest", &self.file, manifest);
        }
        if self.is_this_folder == Some(false) {
            warn("folder", &self.folder, folder);
        }
    }
}

/// Reads a file of a few lines.
fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_MAX_NBYTES as u64).read_to_string(&mut text));
    read.map_err(|error| failed(path, &error))?;
    Ok(text)
}

/// A secret key.
pub struct Signer(crate::Signer);

impl Signer {
    /// Reads a secret key, and asks for its password if it has one.
    pub fn open(path: &Path) -> Result<Signer, String> {
        // Whoever names the public half needs another file, not other permissions.
        let text = secrets::read_text(path, FILE_MAX_NBYTES, |text| PublicKey::parse(text).is_ok());
        let text = text.map_err(|message| format!("--sign: {message}"))?;
        // Anything that is no key is an error before somebody types a password.
        let key = match crate::Signer::parse(&text, None) {
            Err(SignerError::Password) => {
                let prompt = format!("Password of {}: ", display(path));
                let password =
                    ask(&prompt, "use a key without a password").map_err(|message| format!("--sign: {message}"))?;
                let password = std::str::from_utf8(&password).map_err(|_| "--sign: the password is not UTF-8")?;
                crate::Signer::parse(&text, Some(password))
            }
            other => other,
        };
        key.map(Signer).map_err(|error| format!("--sign: {}: {error}", display(path)))
    }

    /// The key by which the state of an unfinished run is authenticated.
    pub fn state_key(&self) -> Zeroizing<[u8; 32]> {
        self.0.state_key()
    }

    /// Signs the bytes of a manifest of `folder` that will have the name of `file`. `ntaken_over`: files whose
    /// digests are those of an older manifest, by their lengths and times alone.
    pub fn sign(&self, file: &Path, folder: &Path, ntaken_over: u64, bytes: impl Read) -> Result<String, String> {
        let taken_over = if ntaken_over > 0 { format!("\ttaken-over:{ntaken_over}") } else { String::new() };
        self.sign_with(file, &format!("\tfolder:{}{taken_over}", folder_name(folder)), bytes)
    }

    /// Signs the bytes of a file that will have this name. `more` follows in the trusted comment.
    pub fn sign_with(&self, file: &Path, more: &str, bytes: impl Read) -> Result<String, String> {
        let file = file_name(file).unwrap_or_default();
        self.0.sign(bytes, &format!("file:{file}{more}")).map_err(|error| format!("--sign: {}", reason(&error)))
    }

    /// The public half of the key.
    pub fn public_key(&self) -> &PublicKey {
        self.0.public_key()
    }

    /// The key itself.
    pub fn key(&self) -> &crate::Signer {
        &self.0
    }

    /// Whether the signature is what a run by this key left that was ended before it wrote the manifest.
    pub fn has_left(&self, path: &Path) -> bool {
        let signatures = read(path).ok().and_then(|text| Signatures::parse(&text).ok());
        signatures.is_some_and(|found| found.len() == 1 && self.0.public_key().verifier(&found).is_ok())
    }

    /// Writes a signature to a path, and the signed file by `write`. Each is with whether it may replace one that
    /// exists. The signature is written first, beside the old one if that may be right for the old file. The old
    /// one is left out when the file is there. So at each moment there is a signature of the file.
    pub fn write_with(
        &self,
        (path, signed, replaces_signature): (&Path, &str, bool),
        (file, replaces): (&Path, bool),
        write: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let old = if replaces { self.old(path, file) } else { String::new() };
        let save = |text: &str| {
            output::write_with(path, replaces_signature, |mut out| out.write_all(text.as_bytes()))
                .map_err(|error| format!("{}: the signature cannot be written: {}", display(path), reason(&error)))
        };
        save(&format!("{old}{signed}"))?;
        match write() {
            Ok(()) if old.is_empty() => Ok(()),
            Ok(()) => save(signed),
            Err(message) => {
                // A signature of what was not written would be in the way of the next run.
                let is_new = old.is_empty() && read(path).is_ok_and(|text| text == signed);
                if is_new && self.old(path, file).is_empty() {
                    let _ = fs::remove_file(path);
                }
                Err(message)
            }
        }
    }

    /// The old signatures to keep until the file is replaced.
    fn old(&self, path: &Path, file: &Path) -> String {
        let is_file = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_file(path) || !is_file(file) {
            return String::new();
        }
        let Some(signatures) = read(path).ok().and_then(|text| Signatures::parse(&text).ok()) else {
            return String::new();
        };
        let kept = File::open(file).and_then(|file| signatures.without_wrong(self.0.public_key(), file));
        kept.unwrap_or_default()
    }
}

/// A public key and a signature, which is not checked yet.
pub struct Trusted {
    key: PublicKey,
    /// The file of the signatures, and its content.
    path: PathBuf,
    text: String,
    wrong: &'static str,
}

/// Number of times that a manifest is read if another run replaces it and its signature in between.
const TRIES: usize = 3;

/// Returns the place of the signature of a file.
fn place(manifest: &Path, key: &PublicKey) -> Result<PathBuf, String> {
    if manifest.as_os_str() == "-" || output::path_is_special(manifest) {
        Err(format!("{}: expected a file, which has its signature beside it", name(manifest)))
    } else {
        Ok(beside(manifest, key))
    }
}

impl Trusted {
    /// The signature in a file of its own.
    pub fn open(key: PublicKey, signature: &Path) -> Result<Trusted, String> {
        let missing = ": the manifest is not signed, or the signature is elsewhere (--signature)";
        Trusted::new(key, signature, missing, "")
    }

    /// The same for the signature beside a manifest.
    pub fn beside(key: &Path, manifest: &Path) -> Result<Trusted, String> {
        let key = public_key(key)?;
        let signature = place(manifest, &key).map_err(|message| format!("--trusted-key: {message}"))?;
        Trusted::new(key, &signature, ": the manifest is not signed", "")
    }

    /// The signature beside OLD, which must be one by the key of `signer`.
    pub fn by(signer: &Signer, old: &Path) -> Result<Trusted, String> {
        let cure = ": with --sign, OLD must be signed by the same key: check OLD and sign it, or leave out --update";
        let key = signer.0.public_key();
        Trusted::new(key.clone(), &place(old, key)?, cure, cure)
    }

    /// The signature beside a manifest, if one lies there, which must be by the key of `signer`.
    pub fn if_beside(manifest: &Path, signer: &Signer) -> Result<Option<Trusted>, String> {
        let cure = ": check the manifest and sign it by this key, or remove the signature";
        match place(manifest, signer.public_key()).ok().filter(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Trusted::new(signer.public_key().clone(), &path, cure, cure).map(Some),
            None => Ok(None),
        }
    }

    /// `missing` and `wrong`: what to do, as the end of a message.
    fn new(key: PublicKey, signature: &Path, missing: &str, wrong: &'static str) -> Result<Trusted, String> {
        let name = display(signature);
        let text = read(signature).map_err(|message| format!("{message}{missing}"))?;
        let signatures = Signatures::parse(&text).map_err(|error| format!("{name}: {error}{missing}"))?;
        if signatures.is_empty() {
            return Err(format!("{name}: expected a signature of minisign or SLH-DSA, found nothing{missing}"));
        }
        Ok(Trusted { key, path: signature.to_owned(), text, wrong })
    }

    /// Reads a manifest into a file of its own, and checks the signature of exactly these bytes. `folder` is the one
    /// that the manifest is compared with.
    pub fn verify(&self, manifest: &Path, folder: Option<&Path>) -> Result<(input::Kept, Signed), String> {
        let (mut text, mut found) = (self.text.clone(), self.verify_by(&self.text, manifest));
        for _ in 1..TRIES {
            let newer = if found.is_err() { read(&self.path).ok() } else { None };
            match newer.filter(|newer| *newer != text && place(manifest, &self.key).is_ok()) {
                Some(newer) => text = newer,
                None => break,
            }
            found = self.verify_by(&text, manifest);
        }
        let (kept, signed) = found?;
        let part = |name| signed.part(name).map(str::to_owned);
        let (file, signed_folder) = (part("file"), part("folder"));
        let own = file_name(manifest).filter(|_| manifest.as_os_str() != "-" && !output::path_is_special(manifest));
        let is = |found: &Option<String>, now: Option<String>| Some(*found.as_ref()? == now?);
        let signed = Signed {
            key: signed.key().to_owned(),
            comment: signed.comment().to_owned(),
            is_this_file: is(&file, own),
            file,
            is_this_folder: is(&signed_folder, folder.map(folder_name)),
            folder: signed_folder,
        };
        Ok((kept, signed))
    }

    fn verify_by(&self, text: &str, manifest: &Path) -> Result<(input::Kept, crate::Signed), String> {
        self.verify_bytes(text, manifest, |look| input::Kept::copied(manifest, look))
    }

    /// Checks the signature of a file that may be long. Returns a line for people.
    pub fn verify_in_place(&self, file: &Path) -> Result<String, String> {
        let ((), signed) = self.verify_bytes(&self.text, file, |look| {
            input::each(file, |bytes| {
                look(bytes);
                Ok(())
            })
        })?;
        let comment = shown(signed.comment().as_bytes()).to_string();
        Ok(format!("{}: signed by {}: {comment}", display(file), signed.key()))
    }

    /// Checks the signature of the bytes that `read` hands on, those of `file`.
    fn verify_bytes<T>(
        &self,
        text: &str,
        file: &Path,
        read: impl FnOnce(&mut dyn FnMut(&[u8])) -> io::Result<T>,
    ) -> Result<(T, crate::Signed), String> {
        let name = display(&self.path);
        let wrong = |error: SignatureError| format!("{name}: the signature is wrong: {error}{}", self.wrong);
        let signatures = Signatures::parse(text).map_err(wrong)?;
        let mut verifier = self.key.verifier(&signatures).map_err(wrong)?;
        let read = read(&mut |bytes| verifier.update(bytes)).map_err(|error| failed(file, &error))?;
        Ok((read, verifier.finish().map_err(wrong)?))
    }
}

/// Reads a public key: a file, or the key itself in base64.
pub fn public_key(key: &Path) -> Result<PublicKey, String> {
    if let Some(key) = key.to_str().and_then(|text| PublicKey::parse(text).ok()) {
        return Ok(key);
    }
    let text = read(key).map_err(|message| format!("--trusted-key: {message}"))?;
    PublicKey::parse(&text).map_err(|error| format!("--trusted-key: {}: {error}", display(key)))
}
