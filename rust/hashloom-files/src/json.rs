// SPDX-License-Identifier: MIT OR Apache-2.0

//! JSON that is safe to print.

use std::io;

use serde::Serialize;

use crate::text::is_format;

/// Writes a value as JSON. Beyond what JSON demands, the characters that [`shown`](crate::text::shown) escapes, as they
/// steer a terminal or turn the direction of text, are `\u009b` and `\u202e`: a reader gets the same strings.
///
/// ```
/// let mut json = Vec::new();
/// hashloom_files::json::write_json(&mut json, &"a\u{9b}2J\u{202e}")?;
/// assert_eq!(json, br#""a\u009b2J\u202e""#);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of the writer, and of a value that is no JSON, such as a map with keys that are no strings.
pub fn write_json(writer: impl io::Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(writer, Escaping);
    Ok(value.serialize(&mut serializer)?)
}

struct Escaping;

impl serde_json::ser::Formatter for Escaping {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // serde_json has escaped the control characters before the space.
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let is_escaped = |c: char| c.is_control() || is_format(c);
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_escaped(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}
