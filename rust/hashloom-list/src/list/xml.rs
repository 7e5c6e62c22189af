// SPDX-License-Identifier: MIT OR Apache-2.0

//! DAT files of collections: `<rom …/>` of XML, one a line, as all programs write them.

use super::forms::{Sum, number};
use super::unread::ignored;
use super::{BadLine, Entry, Line, Parser, Place};

/// Attributes of a file that are no checksums. A name that is none of these may be one that was damaged.
const OTHERS: &str = "merge date region bios optional offset dispose soundonly mia serial value loadflag header";

/// The place in a document.
#[derive(Debug, Clone, Default)]
pub(super) struct Xml {
    /// The name of the set that a file is in.
    game: Option<Vec<u8>>,
    /// Whether the end of the document must follow.
    pub(super) is_within: bool,
}

impl Xml {
    pub(super) fn read<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        let line = line.trim_ascii();
        let has = |part: &[u8]| line.windows(part.len()).any(|other| other == part);
        let form = || Line::Unread(BadLine::Form { name: "dat" });
        if let Some(text) = line.strip_prefix(b"<rom ") {
            let attributes = attributes(text).filter(|(_, rest)| rest.is_empty() || *rest == b"</rom>");
            return attributes.map_or_else(form, |(attributes, _)| self.rom(attributes));
        }
        if has(b"<rom ") {
            return form();
        }
        if has(b"<disk ") {
            return Line::Unread(BadLine::NoFile("the data of a disk, not of its file"));
        }
        for start in [&b"<game "[..], b"<machine "] {
            if let Some(text) = line.strip_prefix(start) {
                let mut all = attributes(text).map(|(all, _)| all).unwrap_or_default().into_iter();
                self.game = all.find(|(key, _)| *key == b"name").map(|(_, name)| name);
                return Line::Blank;
            }
        }
        self.is_within = (self.is_within || has(b"<datafile")) && !has(b"</datafile>");
        if has(b"</game>") || has(b"</machine>") {
            self.game = None;
        }
        match line.starts_with(b"<") {
            true if [&b"digest"[..], b"crc=", b"md5=", b"sha1=", b"sha256="].into_iter().any(has) => form(),
            true => ignored(line, "dat"),
            // Perhaps a line of another form.
            false if Parser::new().names_digest(line) => form(),
            false => Line::Blank,
        }
    }

    fn rom<'a>(&self, attributes: Attributes<'_>) -> Line<'a> {
        let mut entry = Entry::new(Vec::new(), true, Vec::new().into());
        let (mut is_right, mut is_left_out) = (true, false);
        let mut seen = Vec::new();
        for (key, value) in attributes {
            is_right &= !seen.contains(&key);
            seen.push(key);
            match key {
                b"name" => entry.name = value.into(),
                b"size" => {
                    entry.nbytes = number(&value);
                    is_right &= entry.nbytes.is_some();
                }
                b"status" => is_left_out = value == b"nodump",
                b"crc" => is_right &= entry.push(Sum::Crc(super::Crc::Crc32), &value).is_some(),
                _ => match Sum::named(key) {
                    Some(sum) => is_right &= entry.push(sum, &value).is_some(),
                    None if value.len() >= super::DIGITS_MIN && super::hex_ndigits(&value) == value.len() => {
                        return Line::Unread(BadLine::algorithm(key));
                    }
                    None => is_right &= OTHERS.split(' ').any(|other| other.as_bytes() == key),
                },
            }
        }
        if !is_right || entry.name.is_empty() || entry.name.contains(&0) {
            return Line::Unread(BadLine::Form { name: "dat" });
        }
        if entry.digests.is_empty() && entry.crcs.is_empty() {
            return if is_left_out { Line::Blank } else { Line::Unread(BadLine::NoDigest) };
        }
        if let Some(game) = &self.game {
            entry.place = Place::Set(game.clone());
        }
        Line::Entry(entry)
    }
}

type Attributes<'a> = Vec<(&'a [u8], Vec<u8>)>;

/// The attributes of a tag, and what follows it.
fn attributes(text: &[u8]) -> Option<(Attributes<'_>, &[u8])> {
    let mut found = Vec::new();
    let mut rest = text.trim_ascii_start();
    loop {
        if let Some(after) = rest.strip_prefix(b"/>").or(rest.strip_prefix(b">")) {
            return Some((found, after));
        }
        let at = rest.iter().position(|&byte| byte == b'=')?;
        let key = rest[..at].trim_ascii();
        if key.is_empty() || !key.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(byte)) {
            return None;
        }
        let (&quote, after) = rest[at + 1..].trim_ascii_start().split_first()?;
        let end = after.iter().position(|&byte| byte == quote).filter(|_| matches!(quote, b'"' | b'\''))?;
        found.push((key, text_of(&after[..end])?));
        rest = after[end + 1..].trim_ascii_start();
    }
}

/// A value without its entities.
fn text_of(value: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.iter().position(|&byte| byte == b'&') {
        text.extend_from_slice(&rest[..at]);
        let end = at + rest[at..].iter().position(|&byte| byte == b';')?;
        let entity = std::str::from_utf8(&rest[at + 1..end]).ok()?;
        let c = match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let code = entity.strip_prefix('#')?;
                let hex = code.strip_prefix('x').map(|hex| u32::from_str_radix(hex, 16).ok());
                char::from_u32(hex.unwrap_or_else(|| code.parse().ok())?)?
            }
        };
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[end + 1..];
    }
    text.extend_from_slice(rest);
    Some(text)
}
