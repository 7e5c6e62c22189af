// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes that a stranger chose, printed so that they cannot move the cursor, recolour the terminal or turn the
//! direction of the text; bytes in hexadecimal and in base64; and errors of the system in words.

use std::fmt;
use std::io;

use data_encoding::{BASE64, HEXLOWER};

/// Bytes as text for a terminal: see [`shown`].
#[derive(Clone, Copy)]
pub struct Shown<'a>(&'a [u8]);

/// Turns bytes into text that is safe to print: UTF-8 as it is, except that backslashes, control characters, characters
/// that turn the direction of text and bytes that are not UTF-8 become `\\`, `\x1b`, `\u{202e}` and `\xff`.
///
/// ```
/// use hashloom_files::text::{Shown, shown};
///
/// assert_eq!(shown("Grünes Gras".as_bytes()).to_string(), "Grünes Gras");
/// let text: Shown = shown(b"a\x1b[2J\xff");
/// assert_eq!(text.to_string(), r"a\x1b[2J\xff");
/// ```
pub fn shown(bytes: &[u8]) -> Shown<'_> {
    Shown(bytes)
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    '\0'..='\x1f' | '\x7f' => write!(f, "\\x{:02x}", c as u32)?,
                    _ if c.is_control() || is_format(c) => write!(f, "\\u{{{:x}}}", c as u32)?,
                    _ => fmt::Write::write_char(f, c)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Characters without a shape that change the layout of their neighbours: line and paragraph separators, direction
/// marks and overrides, invisible joiners, tags.
pub(crate) fn is_format(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// An error of the system in words: see [`reason`].
#[derive(Clone, Copy)]
pub struct Reason<'a>(&'a io::Error);

/// Turns an error of the system into its words. The standard library adds a number, such as ` (os error 2)`, which says
/// nothing more; it is left out.
///
/// ```
/// use hashloom_files::text::{Reason, reason};
///
/// let error = std::fs::File::open("a folder/that is missing").unwrap_err();
/// let reason: Reason = reason(&error);
/// assert_eq!(error.to_string(), format!("{reason} (os error {})", error.raw_os_error().unwrap()));
/// ```
pub fn reason(error: &io::Error) -> Reason<'_> {
    Reason(error)
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(code) = self.0.raw_os_error() else { return self.0.fmt(f) };
        let text = self.0.to_string();
        f.write_str(text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text))
    }
}

/// Bytes in double quotes, safe to print, cut after 200 bytes.
#[derive(Clone, Copy)]
pub struct Quoted<'a>(&'a [u8]);

/// Bytes in double quotes, safe to print, cut after 200 bytes: for messages.
///
/// ```
/// use hashloom_files::text::{Quoted, quoted};
///
/// let text: Quoted = quoted(b"a\nb");
/// assert_eq!(text.to_string(), r#""a\x0ab""#);
/// ```
pub fn quoted(bytes: &[u8]) -> Quoted<'_> {
    Quoted(bytes)
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get(..200) {
            Some(head) if self.0.len() > 200 => write!(f, "\"{}…\" ({} bytes)", shown(head), self.0.len()),
            _ => write!(f, "\"{}\"", shown(self.0)),
        }
    }
}

/// Bytes in hexadecimal, in lower case.
///
/// ```
/// use hashloom_files::text::{Hex, from_hex};
///
/// assert_eq!(Hex(b"\x01\xab").to_string(), "01ab");
/// assert_eq!((from_hex("01ab"), from_hex("01A")), (Some(vec![0x01, 0xab]), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(self.0).fmt(f)
    }
}

/// The bytes that digits in hexadecimal, in lower case, stand for; the reverse of [`Hex`].
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(digits.as_bytes()).ok()
}

/// Encodes bytes by RFC 4648 section 4, as S3 and `cksum --base64` write digests.
///
/// ```
/// assert_eq!(hashloom_files::text::base64(b"fooba"), "Zm9vYmE=");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_printed_can_steer_a_terminal() {
        for code in (0..0x20).chain([0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x200e, 0x202e, 0x2066, 0x2028, 0xe0041]) {
            let c = char::from_u32(code).unwrap();
            let text = shown(c.to_string().as_bytes()).to_string();
            assert!(text.starts_with('\\') && text.bytes().all(|b| (b' '..=b'~').contains(&b)), "{code:x}: {text:?}");
        }
        assert_eq!(shown(b"a\\x1b").to_string(), "a\\\\x1b", "an escape in the name is not taken for ours");
    }
}
