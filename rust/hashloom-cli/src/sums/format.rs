// SPDX-License-Identifier: MIT OR Apache-2.0

//! Formats checksums as lines: GNU's, BSD's, JSON.

use std::borrow::Cow;

use hashloom::Algorithm;
use hashloom_engine::files::{Hashed, Source};
use hashloom_engine::list;
use serde::{Serialize, Serializer};

use crate::json::{Hex, text};

/// How a checksum is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `<hex>  <name>`, or with a star that says "read in binary mode".
    Gnu { binary: bool },
    /// `SHA256 (<name>) = <hex>`
    Bsd,
    /// A JSON object.
    Json,
}

#[derive(Debug, Clone, Copy)]
pub struct Format {
    pub layout: Layout,
    /// The byte that ends a line: a newline, or NUL. Names are not escaped if it is NUL.
    pub end: u8,
}

#[derive(Serialize)]
struct Object<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<Hex<'a>>,
    length: u64,
    #[serde(serialize_with = "in_order")]
    digests: Vec<(&'static str, Hex<'a>)>,
}

fn in_order<S: Serializer>(digests: &[(&'static str, Hex<'_>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(digests.iter().map(|(name, hex)| (name, hex)))
}

impl Format {
    /// Appends the line of a file. BSD's format has one line for each algorithm.
    pub fn write(&self, into: &mut Vec<u8>, algorithms: &[Algorithm], source: &Source, hashed: &Hashed) {
        let name = name(source);
        if self.layout == Layout::Json {
            let (path, path_hex) = text(name);
            let digests = algorithms.iter().map(|algorithm| algorithm.name());
            let digests = digests.zip(hashed.digests.iter().map(|digest| Hex(digest.as_ref()))).collect();
            let object = Object { path, path_hex, length: hashed.nbytes, digests };
            // Writing into memory cannot fail.
            let _ = serde_json::to_writer(&mut *into, &object);
            into.push(self.end);
            return;
        }
        let is_escaped = self.end == b'\n' && name.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'));
        for (algorithm, digest) in algorithms.iter().zip(&hashed.digests) {
            if is_escaped {
                into.push(b'\\');
            }
            match self.layout {
                Layout::Gnu { binary } => {
                    hex(into, digest.as_ref());
                    into.extend_from_slice(if binary { b" *" } else { b"  " });
                    push_name(into, name, is_escaped);
                }
                _ => {
                    into.extend_from_slice(list::tag(*algorithm).as_bytes());
                    into.extend_from_slice(b" (");
                    push_name(into, name, is_escaped);
                    into.extend_from_slice(b") = ");
                    hex(into, digest.as_ref());
                }
            }
            into.push(self.end);
        }
    }
}

/// Returns the name printed for a source.
pub fn name(source: &Source) -> &[u8] {
    match source {
        Source::Path(path) => path.as_os_str().as_encoded_bytes(),
        _ => b"-",
    }
}

/// Appends a name; if `is_escaped`, with its newlines, carriage returns and backslashes escaped.
pub fn push_name(into: &mut Vec<u8>, name: &[u8], is_escaped: bool) {
    if !is_escaped {
        return into.extend_from_slice(name);
    }
    for &byte in name {
        match byte {
            b'\n' => into.extend_from_slice(b"\\n"),
            b'\r' => into.extend_from_slice(b"\\r"),
            b'\\' => into.extend_from_slice(b"\\\\"),
            byte => into.push(byte),
        }
    }
}

fn hex(into: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    into.extend(bytes.iter().flat_map(|&byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]));
}
