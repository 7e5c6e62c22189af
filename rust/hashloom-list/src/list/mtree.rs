// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of a hierarchy, as mtree(5) describes them.

use std::borrow::Cow;

use super::forms::{Sum, number};
use super::unread::words;
use super::{BadLine, DIGITS_MIN, Entry, Line, hex_ndigits};

/// Longer paths are not read.
const MAX_NBYTES: usize = 64 << 10;

/// The place in a hierarchy.
#[derive(Debug, Clone, Default)]
pub(super) struct Mtree {
    /// The path of the folder, with a slash, and where its parts begin.
    folder: Vec<u8>,
    begins: Vec<usize>,
    /// The type of entries that name none.
    kind: Vec<u8>,
    /// Whether it is of a package that pacman has installed, whose own files (`.PKGINFO`) pacman does not unpack.
    pub(super) is_of_pacman: bool,
}

impl Mtree {
    pub(super) fn read<'a>(&mut self, line: &'a [u8], more: &mut Vec<Line<'static>>) -> Line<'a> {
        if line.is_empty() || line[0] == b'#' {
            return Line::Blank;
        }
        if line.len() + self.folder.len() > MAX_NBYTES {
            return Line::Unread(BadLine::Form { name: "mtree" });
        }
        match self.entry(line, more) {
            Ok(Some(entry)) => Line::Entry(entry),
            Ok(None) => Line::Blank,
            Err(why) => Line::Unread(why),
        }
    }

    /// Whether more lines must follow.
    pub(super) fn is_within(&self) -> bool {
        !self.folder.is_empty()
    }

    fn entry(&mut self, line: &[u8], more: &mut Vec<Line<'static>>) -> Result<Option<Entry<'static>>, BadLine> {
        let form = BadLine::Form { name: "mtree" };
        let mut words = words(line);
        let Some(first) = words.next() else { return Ok(None) };
        // A line of another form has words that are none of a description, or nothing but digits.
        let is_key = |word: &[u8]| match first {
            b".." => false,
            b"/unset" => hex_ndigits(word) < DIGITS_MIN,
            _ => word.contains(&b'=') || matches!(word, b"nochange" | b"optional" | b"ignore"),
        };
        let is_digest_alone = hex_ndigits(first) >= DIGITS_MIN && words.clone().next().is_none();
        if is_digest_alone || !words.clone().all(is_key) {
            return Err(form);
        }
        let pairs = words.map(|word| match word.iter().position(|&byte| byte == b'=') {
            Some(at) => (&word[..at], &word[at + 1..]),
            None => (word, &b""[..]),
        });
        let is_digest = |key: &[u8]| Sum::named(key.strip_suffix(b"digest").unwrap_or(key));
        if matches!(first, b"/set" | b"/unset") {
            for (key, value) in pairs {
                if key == b"type" {
                    self.kind = value.to_vec();
                } else if is_digest(key).is_some() {
                    return Err(form);
                }
            }
            return Ok(None);
        }
        if first == b".." {
            self.folder.truncate(self.begins.pop().unwrap_or(0));
            return Ok(None);
        }
        let name = unescaped(first).ok_or(BadLine::Escape)?;
        let is_path = first[1..].contains(&b'/');
        let mut entry = Entry::new(Vec::new(), true, Cow::Borrowed(b""));
        let (mut kind, mut lacking) = (&self.kind[..], None);
        for (key, value) in pairs {
            let sum = if matches!(key, b"type" | b"size") { None } else { is_digest(key) };
            match (key, sum) {
                (b"type", _) => kind = value,
                (b"size", _) => entry.nbytes = Some(number(value).ok_or_else(|| form.clone())?),
                (_, Some(sum)) => entry.push(sum, value).ok_or_else(|| form.clone())?,
                (b"link", _) => {}
                _ if key.ends_with(b"digest") || value.len() >= DIGITS_MIN && hex_ndigits(value) == value.len() => {
                    lacking = Some(BadLine::algorithm(key));
                }
                _ => {}
            }
        }
        let is_file = matches!(kind, b"" | b"file");
        if kind == b"dir" && !is_path {
            self.begins.push(self.folder.len());
            if name != &b"."[..] {
                self.folder.extend_from_slice(&[&name[..], b"/"].concat());
            }
        }
        if !is_file {
            let is_known = matches!(kind, b"dir" | b"link" | b"char" | b"block" | b"fifo" | b"socket");
            return if is_known && entry.digests.is_empty() && lacking.is_none() { Ok(None) } else { Err(form) };
        }
        if self.is_of_pacman && name.starts_with(b"./.") && name[3..].iter().all(u8::is_ascii_uppercase) {
            return Ok(None);
        }
        if entry.digests.is_empty() && entry.crcs.is_empty() {
            return Err(lacking.unwrap_or(BadLine::NoDigest));
        }
        more.extend(lacking.map(Line::Unread));
        entry.name = if is_path { name.into_owned() } else { [&self.folder[..], &name].concat() }.into();
        Ok(Some(entry))
    }
}

/// A name without the escapes of vis(3): `\040`, `\s`, `\\`, `\#`, `\n`, `\M-C`, and Gentoo's `\x20`.
pub(super) fn unescaped(name: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !name.contains(&b'\\') {
        return Some(Cow::Borrowed(name));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    let code = |digits: Option<&[u8]>, radix| u8::from_str_radix(std::str::from_utf8(digits?).ok()?, radix).ok();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&letter, after) = rest.split_first()?;
        let (byte, nbytes) = match letter {
            b'0'..=b'3' if rest.get(1).is_some_and(u8::is_ascii_digit) => (code(rest.get(..3), 8)?, 3),
            b'x' => (code(rest.get(1..3), 16)?, 3),
            b'^' => (rest.get(1)? ^ 0x40, 2),
            b'M' if rest.get(1) == Some(&b'-') => (rest.get(2)? | 0x80, 3),
            b'M' if rest.get(1) == Some(&b'^') => ((rest.get(2)? ^ 0x40) | 0x80, 3),
            b'a' => (7, 1),
            b'b' => (8, 1),
            b't' => (b'\t', 1),
            b'n' => (b'\n', 1),
            b'v' => (11, 1),
            b'f' => (12, 1),
            b'r' => (b'\r', 1),
            b's' => (b' ', 1),
            b'\\' | b'#' | b'*' | b'?' | b'[' | b'"' | b'\'' => (letter, rest.len() - after.len()),
            _ => return None,
        };
        bytes.push(byte);
        rest = &rest[nbytes..];
    }
    (!bytes.contains(&0)).then_some(Cow::Owned(bytes))
}
