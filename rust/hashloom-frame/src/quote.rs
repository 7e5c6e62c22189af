// SPDX-License-Identifier: MIT OR Apache-2.0

//! Quotes names in messages for a shell as GNU programs do: only if needed, so that the names can be pasted.

use std::borrow::Cow;
use std::fmt::Write;

use crate::style::is_utf8;

/// Quotes a name as coreutils' messages do. A name that needs no quotes stays as it is. Others get single quotes; a
/// name with an apostrophe and no other special character gets double quotes. Unprintable characters become `$'\n'` or
/// `$'\303'`. A name with a colon is quoted too, as a colon follows the name.
pub fn quoted(name: &[u8]) -> Cow<'_, [u8]> {
    quoted_in(name, is_utf8())
}

/// Quotes a name for a terminal if any part of it could steer the terminal or turn the direction of text: control
/// characters, characters without a shape, bytes that are no character. Other names stay as they are. `is_in_list`: the
/// format of the line has escapes for line feeds and carriage returns.
pub fn for_terminal(name: &[u8], is_in_list: bool) -> Cow<'_, [u8]> {
    for_terminal_in(name, is_in_list, is_utf8())
}

fn for_terminal_in(name: &[u8], is_in_list: bool, is_utf8: bool) -> Cow<'_, [u8]> {
    // The C library calls some characters without a shape printable.
    let mut parts = parts(name, is_utf8);
    for part in &mut parts {
        part.is_printable &= part.bytes.len() == 1 || !steers(part.bytes);
    }
    if parts.iter().all(|part| part.is_printable || is_in_list && matches!(part.bytes, b"\n" | b"\r")) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(in_quotes(&parts))
    }
}

/// Returns true if the engine's messages escape this character too.
fn steers(character: &[u8]) -> bool {
    hashloom_files::text::shown(character).to_string().as_bytes() != character
}

/// Returns true for a byte that a shell, or a reader of the message, could misread at any place in a name.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'!'
            | b'"'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b':'
            | b';'
            | b'<'
            | b'='
            | b'>'
            | b'?'
            | b'['
            | b'\\'
            | b'^'
            | b'`'
            | b'|'
    )
}

/// Returns true for a byte that may stand between double quotes beside an apostrophe.
fn is_plain_in_double_quotes(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '%+,-./:]_".contains(&byte)
}

fn quoted_in(name: &[u8], is_utf8: bool) -> Cow<'_, [u8]> {
    let parts = parts(name, is_utf8);
    let needs_quotes = name.is_empty()
        || matches!(name, b"{" | b"}")
        || matches!(name[0], b'#' | b'~')
        || parts.iter().any(|part| !part.is_printable || is_special(part.bytes[0]));
    if !needs_quotes {
        return Cow::Borrowed(name);
    }
    let is_plain =
        |part: &Part<'_>| part.is_printable && (part.bytes.len() > 1 || is_plain_in_double_quotes(part.bytes[0]));
    if name.contains(&b'\'') && parts.iter().all(is_plain) {
        return Cow::Owned([b"\"", name, b"\""].concat());
    }
    Cow::Owned(in_quotes(&parts))
}

/// Returns the parts in single quotes.
fn in_quotes(parts: &[Part<'_>]) -> Vec<u8> {
    let mut text = b"'".to_vec();
    // True inside of $'…'.
    let mut is_escaping = false;
    for part in parts {
        if part.is_printable {
            if is_escaping && part.bytes != b"'" {
                text.extend_from_slice(b"''");
            }
            is_escaping = false;
            if part.bytes == b"'" {
                text.extend_from_slice(b"'\\''");
            } else {
                text.extend_from_slice(part.bytes);
            }
        } else {
            if !is_escaping {
                text.extend_from_slice(b"'$'");
            }
            is_escaping = true;
            part.bytes.iter().for_each(|&byte| push_escaped(&mut text, byte));
        }
    }
    text.push(b'\'');
    text
}

fn push_escaped(text: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        7 => 'a',
        8 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        11 => 'v',
        12 => 'f',
        b'\r' => 'r',
        byte => {
            let mut octal = String::new();
            let _ = write!(octal, "\\{byte:03o}");
            return text.extend_from_slice(octal.as_bytes());
        }
    };
    text.extend_from_slice(&[b'\\', letter as u8]);
}

/// A character, or bytes that are not a character.
struct Part<'a> {
    bytes: &'a [u8],
    is_printable: bool,
}

fn parts(name: &[u8], is_utf8: bool) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    if !is_utf8 {
        let part = |byte| Part { bytes: std::slice::from_ref(byte), is_printable: matches!(byte, b' '..=b'~') };
        return name.iter().map(part).collect();
    }
    for chunk in name.utf8_chunks() {
        for (index, character) in chunk.valid().char_indices() {
            let bytes = &chunk.valid().as_bytes()[index..index + character.len_utf8()];
            parts.push(Part { bytes, is_printable: is_printable(character) });
        }
        if !chunk.invalid().is_empty() {
            parts.push(Part { bytes: chunk.invalid(), is_printable: false });
        }
    }
    parts
}

/// Decides nearly as the C library does: spaces of all kinds, invisible format characters, and private characters count
/// as printable there, but not in Rust.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    let is_line_end = matches!(character, '\u{2028}' | '\u{2029}');
    let is_space = character.is_whitespace() && !character.is_control() && !is_line_end;
    let is_format = matches!(u32::from(character),
        0xAD | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2 | 0x180E | 0x200B..=0x200F
        | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0x110BD | 0x110CD
        | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0001 | 0xE0020..=0xE007F);
    let is_private = matches!(u32::from(character), 0xE000..=0xF8FF | 0xF0000..=0xFFFFD | 0x100000..=0x10FFFD);
    // Not at the beginning of a string, where combining marks would be escaped.
    let text = String::from_iter(['a', character]);
    is_space || is_format || is_private || text.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_steers_a_terminal_is_quoted_there() {
        let cases: [(&str, &str); 9] = [
            ("a b'c", "a b'c"),
            ("Grünes Gras", "Grünes Gras"),
            ("a\nb\r", "a\nb\r"),
            ("\x1b[31mred", r"''$'\033''[31mred'"),
            ("a\n\x07", r"'a'$'\n\a'"),
            ("it's\t", r"'it'\''s'$'\t'"),
            ("\u{9b}2J", r"''$'\302\233''2J'"),
            ("a\u{202e}b", r"'a'$'\342\200\256''b'"),
            ("\u{7f}", r"''$'\177'"),
        ];
        for (name, shown) in cases {
            let found = for_terminal_in(name.as_bytes(), true, true);
            assert_eq!(String::from_utf8_lossy(&found), shown, "{name:?}");
        }
        assert_eq!(*for_terminal_in(b"a\nb", false, true), *br"'a'$'\n''b'");
        assert_eq!(*for_terminal_in(b"a\xff", true, true), *br"'a'$'\377'");
        assert_eq!(*for_terminal_in("ü".as_bytes(), true, false), *br"''$'\303\274'");
    }
}
