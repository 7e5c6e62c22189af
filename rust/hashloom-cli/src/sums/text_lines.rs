// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of lists in all formats: those that the engine parses, and those of `sum --json`.

use hashloom_engine::list::{Entry, Line, Parser};

use super::json_lines::{self, Found};

/// The content of a line.
pub enum Parsed<'a> {
    Blank,
    Entry(Entry<'a>),
    /// The first line of a manifest.
    Manifest,
    /// Why the line is not a checksum.
    Bad(String),
}

/// Parses a line. The first one may begin with a byte order mark.
pub fn parse<'a>(parser: &mut Parser, line: &'a [u8], is_first: bool) -> Parsed<'a> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").filter(|_| is_first).unwrap_or(line);
    if line.trim_ascii_start().starts_with(b"{") {
        return match json_lines::parse(line) {
            Ok(Found::Entry(entry)) => Parsed::Entry(entry),
            Ok(Found::Manifest) => Parsed::Manifest,
            Err(why) => Parsed::Bad(why),
        };
    }
    parse_text(parser, line)
}

/// Parses a line that is not JSON.
pub fn parse_text<'a>(parser: &mut Parser, line: &'a [u8]) -> Parsed<'a> {
    match parser.parse(line) {
        Line::Blank => Parsed::Blank,
        Line::Entry(entry) => Parsed::Entry(entry),
        Line::Bad(bad) => Parsed::Bad(bad.to_string()),
    }
}
