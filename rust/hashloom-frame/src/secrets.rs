// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads secret keys, and keeps them from other processes and users.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hashloom_files::Stamp;
use zeroize::Zeroizing;

use crate::output;
use crate::text::{display, failed};

/// Forbids dumps of this process, which would have secret keys in them, and keeps other processes of the same user from
/// looking into it.
pub fn refuse_dumps() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
}

/// Reads a file with a secret key, up to this number of bytes, straight into memory that is overwritten when dropped.
/// That memory does not grow, as growing leaves copies behind. Other users may read what `is_public` accepts.
pub fn read(path: &Path, nbytes_max: usize, is_public: impl Fn(&[u8]) -> bool) -> io::Result<Zeroizing<Vec<u8>>> {
    refuse_dumps();
    let file = File::open(path)?;
    let checked = refuse_open_to_others(&file);
    let stamp = Stamp::of_file(&file)?;
    if stamp.is_some_and(|file| output::stamp_of_stdout().is_some_and(|out| (out.dev, out.ino) == (file.dev, file.ino)))
    {
        return Err(io::Error::other("standard output would be written into this key: give another file to the shell"));
    }
    // A vector that its last read leaves full would grow, to see whether there is more.
    let mut bytes = Zeroizing::new(Vec::with_capacity(nbytes_max + 32));
    file.take(nbytes_max as u64).read_to_end(&mut bytes)?;
    checked.or_else(|error| if is_public(&bytes) { Ok(()) } else { Err(error) })?;
    Ok(bytes)
}

/// The same for a key that is a text, such as PEM.
pub fn read_text(
    path: &Path,
    nbytes_max: usize,
    is_public: impl Fn(&str) -> bool,
) -> Result<Zeroizing<String>, String> {
    let is_public = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(&is_public);
    let mut bytes = read(path, nbytes_max, is_public).map_err(|error| failed(path, &error))?;
    let text = String::from_utf8(std::mem::take(&mut *bytes)).map(Zeroizing::new);
    text.map_err(|error| {
        *bytes = error.into_bytes();
        format!("{}: expected a key, found bytes that are no text", display(path))
    })
}

/// Whether the content of a file has the form of a key: a PEM text of one, or a secret or public key of minisign, whose
/// base64 stands alone or below a comment. Nothing is decoded, which would leave copies of a secret in memory.
pub fn is_key(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    let is_pem = |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with("KEY-----");
    let is_of_minisign = |line: &str| {
        let line = line.trim();
        let is_secret = line.starts_with("RWQAA") || line.starts_with("RWRTY0Iy"); // without and with a password
        let is_base64 = || line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
        is_secret || line.starts_with("RW") && line.len() == 56 && is_base64()
    };
    text.lines().any(is_pem) || text.trim_start().lines().take(2).any(is_of_minisign)
}

/// Returns an error if the file is one of this user's and other users may do anything with it. Files of others are
/// their owners' to judge.
#[cfg(unix)]
fn refuse_open_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw() && mode & 0o077 != 0 {
        let why = format!("its permissions {mode:04o} let other users at a secret key: `chmod 600` the file");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_open_to_others(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn forms_of_keys() {
        let public = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let others = ["RWQAAEIyAAAA", "RWRTY0IyAAAA", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\r"];
        for key in [&[public][..], &others].concat() {
            for before in ["", "\n\n", " ", "untrusted comment: a key\n", "\n untrusted comment: a key\n  "] {
                let is_indented_pem = key.starts_with('-') && before.ends_with(' ');
                assert_eq!(is_key(format!("{before}{key}\n").as_bytes()), !is_indented_pem, "{before:?}, {key}");
            }
        }
        for other in ["", "RW", &public[1..], "a\nb\nRWQAAEIyAAAA", "SHA256SUMS"] {
            assert!(!is_key(other.as_bytes()), "{other}");
        }
    }
}
