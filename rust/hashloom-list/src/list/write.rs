// SPDX-License-Identifier: MIT OR Apache-2.0

//! The forms that are written because programs ask for them.

use std::io::Write as _;

use hashloom::{Algorithm, Hash};
use hashloom_files::text::base64;

/// How a form is written.
///
/// ```
/// use hashloom::Algorithm::Sha256;
/// use hashloom_list::{FORMS, Form, Written};
///
/// let form: &Form = FORMS.iter().find(|form| form.name == "sri").unwrap();
/// assert!(form.line.contains("<name>"));
/// let written: &Written = form.write.unwrap();
/// let mut text = Vec::new();
/// assert!((written.file)(&mut text, &[(Sha256, hashloom::hash(Sha256, b""))], 0, b"a"));
/// assert_eq!(text, b"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=  a\n");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Written {
    /// The text above all files.
    pub head: &'static str,
    /// The algorithms that programs know there; none if they know all.
    pub algorithms: &'static [Algorithm],
    /// Appends the lines of a file: its digests, its length and its name. Returns false, with nothing written, for a
    /// name that the form has no way to write.
    pub file: Write,
}

type Write = fn(&mut Vec<u8>, &[(Algorithm, Hash)], u64, &[u8]) -> bool;

const SHA2: &[Algorithm] = &[Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512];
const OF_MTREE: &[Algorithm] =
    &[Algorithm::Md5, Algorithm::Sha1, Algorithm::Ripemd160, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512];

/// How the form of this name is written.
pub(super) const fn of(name: &str) -> Option<&'static Written> {
    match name.as_bytes() {
        b"sri" => Some(&Written { head: "", algorithms: SHA2, file: sri }),
        b"mtree" => Some(&Written { head: "#mtree\n. type=dir\n", algorithms: OF_MTREE, file: mtree }),
        b"bag" => Some(&Written { head: "", algorithms: &[], file: bag }),
        _ => None,
    }
}

fn sri(into: &mut Vec<u8>, digests: &[(Algorithm, Hash)], _: u64, name: &[u8]) -> bool {
    if name.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r')) {
        return false;
    }
    for (algorithm, digest) in digests {
        let _ = write!(into, "{algorithm}-{}  ", base64(digest.as_ref()));
        into.extend_from_slice(&[name, b"\n"].concat());
    }
    true
}

/// A path as BSD's mtree takes it: below the folder that it checks.
fn mtree(into: &mut Vec<u8>, digests: &[(Algorithm, Hash)], nbytes: u64, name: &[u8]) -> bool {
    let below = name.strip_prefix(b"./").unwrap_or(name);
    if below.starts_with(b"/") || below.split(|&byte| byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
        return false;
    }
    let mut path = b"./".to_vec();
    for &byte in below {
        match byte {
            // The folders that a file is in are named before it, any number of times.
            b'/' => {
                into.extend_from_slice(&[&path[..], b" type=dir\n"].concat());
                path.push(byte);
            }
            b'!'..=b'~' if !b"\\#*?[".contains(&byte) => path.push(byte),
            _ => drop(write!(path, "\\{byte:03o}")),
        }
    }
    into.extend_from_slice(&path);
    let _ = write!(into, " type=file size={nbytes}");
    for (algorithm, digest) in digests {
        let key = if *algorithm == Algorithm::Ripemd160 { "rmd160" } else { algorithm.name() };
        let _ = write!(into, " {key}digest={digest}");
    }
    into.push(b'\n');
    true
}

/// The names of a bag (RFC 8493 section 2.1.3).
fn bag(into: &mut Vec<u8>, digests: &[(Algorithm, Hash)], _: u64, name: &[u8]) -> bool {
    for (_, digest) in digests {
        let _ = write!(into, "{digest}  ");
        for &byte in name {
            match byte {
                b'\n' | b'\r' | b'%' => drop(write!(into, "%{byte:02X}")),
                _ => into.push(byte),
            }
        }
        into.push(b'\n');
    }
    !name.is_empty()
}
