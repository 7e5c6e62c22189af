// SPDX-License-Identifier: MIT OR Apache-2.0

use std::borrow::Cow;
use std::io::Write;

use hashloom::{Algorithm, Hash};
use hashloom_files::text::base64;

use super::tag;

/// Writes the lines of lists, as GNU coreutils 9.1 does.
///
/// A name with a line feed, a carriage return or a backslash is escaped. [`Parser`](super::Parser) reads the lines.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_list::Writer;
///
/// let digest = hash(Algorithm::Sha1, b"abc");
/// let mut lines = Vec::new();
/// Writer::gnu().write(&mut lines, &digest, Algorithm::Sha1, b"a\nb");
/// Writer::gnu_binary().write(&mut lines, &digest, Algorithm::Sha1, b"abc");
/// Writer::bsd().write(&mut lines, &digest, Algorithm::Sha1, b"abc");
/// Writer::gnu().base64(true).zero(true).write(&mut lines, &digest, Algorithm::Sha1, b"abc");
/// let expected = "\\a9993e364706816aba3e25717850c26c9cd0d89d  a\\nb
/// a9993e364706816aba3e25717850c26c9cd0d89d *abc
/// SHA1 (abc) = a9993e364706816aba3e25717850c26c9cd0d89d
/// qZk+NkcGgWq6PiVxeFDCbJzQ2J0=  abc\0";
/// assert_eq!(lines, expected.as_bytes());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    layout: Layout,
    zero: bool,
    base64: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Gnu { binary: bool },
    Bsd,
}

impl Writer {
    /// Lines of the form `<hex>  <name>`.
    pub fn gnu() -> Writer {
        Writer { layout: Layout::Gnu { binary: false }, zero: false, base64: false }
    }

    /// Lines of the form `<hex> *<name>`, whose star says "read in binary mode".
    pub fn gnu_binary() -> Writer {
        Writer { layout: Layout::Gnu { binary: true }, zero: false, base64: false }
    }

    /// Lines of the form `SHA256 (<name>) = <hex>`.
    pub fn bsd() -> Writer {
        Writer { layout: Layout::Bsd, zero: false, base64: false }
    }

    /// Sets whether lines end with NUL instead of a line feed. No name is escaped then.
    #[must_use]
    pub fn zero(self, zero: bool) -> Writer {
        Writer { zero, ..self }
    }

    /// Sets whether digests are in base64, as `cksum --base64` writes them.
    #[must_use]
    pub fn base64(self, base64: bool) -> Writer {
        Writer { base64, ..self }
    }

    /// Appends the line of a file.
    pub fn write(self, into: &mut Vec<u8>, digest: &Hash, algorithm: Algorithm, name: &[u8]) {
        let name = if self.zero { Cow::Borrowed(name) } else { escaped(name) };
        if let Cow::Owned(_) = name {
            into.push(b'\\');
        }
        // Writing into memory cannot fail.
        let write_digest = |into: &mut Vec<u8>| {
            if self.base64 {
                into.extend_from_slice(base64(digest.as_ref()).as_bytes())
            } else {
                drop(write!(into, "{digest}"))
            }
        };
        match self.layout {
            Layout::Gnu { binary } => {
                write_digest(into);
                into.extend_from_slice(if binary { b" *" } else { b"  " });
                into.extend_from_slice(&name);
            }
            Layout::Bsd => {
                let _ = write!(into, "{} (", tag(algorithm));
                into.extend_from_slice(&name);
                into.extend_from_slice(b") = ");
                write_digest(into);
            }
        }
        into.push(if self.zero { 0 } else { b'\n' });
    }
}

/// Returns the name with its line feeds, carriage returns and backslashes as `\n`, `\r` and `\\`; borrowed if the name
/// has none of them.
///
/// ```
/// use hashloom_list::escaped;
///
/// assert_eq!(*escaped(b"a\nb\\"), *b"a\\nb\\\\");
/// assert!(matches!(escaped(b"name"), std::borrow::Cow::Borrowed(b"name")));
/// ```
pub fn escaped(name: &[u8]) -> Cow<'_, [u8]> {
    let escape = |byte| match byte {
        b'\n' => Some(b"\\n"),
        b'\r' => Some(b"\\r"),
        b'\\' => Some(b"\\\\"),
        _ => None,
    };
    if !name.iter().any(|&byte| escape(byte).is_some()) {
        return Cow::Borrowed(name);
    }
    let mut text = Vec::with_capacity(name.len() + 8);
    for &byte in name {
        match escape(byte) {
            Some(escape) => text.extend_from_slice(escape),
            None => text.push(byte),
        }
    }
    Cow::Owned(text)
}
