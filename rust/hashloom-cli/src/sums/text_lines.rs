// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of lists in all formats: those that the engine parses, and those of `sum --json`.

use hashloom::Algorithm;
use hashloom_engine::list::{BadLine, Entry, Line, Parser};

use super::json_lines::{self, Found};
use super::modes::Mode;
use super::shasum;

/// The way in which lines of a list are read.
pub enum Grammar {
    /// Everything that hashloom reads.
    Any(Parser),
    /// The lists that a program of coreutils reads.
    Coreutils(Parser),
    /// The lists that shasum or sha3sum reads.
    Shasum(&'static shasum::Kind, Vec<Algorithm>),
}

impl Grammar {
    pub fn begin_list(&mut self) {
        match self {
            Grammar::Any(parser) | Grammar::Coreutils(parser) => parser.begin_list(),
            Grammar::Shasum(..) => {}
        }
    }

    /// Parses a line, and tells how its file is to be read.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> (Parsed<'a>, Mode) {
        match self {
            Grammar::Any(parser) => (parse(parser, line), Mode::Bytes),
            Grammar::Coreutils(parser) => (parse_text(parser, line), Mode::Bytes),
            Grammar::Shasum(kind, untagged) => shasum::parse(kind, untagged, line),
        }
    }

    /// The algorithm that the last tag of a line has named.
    pub fn last_tag(&self) -> Option<Algorithm> {
        match self {
            Grammar::Coreutils(parser) => parser.last_tag(),
            _ => None,
        }
    }
}

/// The content of a line.
pub enum Parsed<'a> {
    Blank,
    Entry(Entry<'a>),
    /// The first line of a manifest.
    Manifest,
    /// Why the line is not a checksum.
    Bad(String),
}

/// Parses a line.
pub fn parse<'a>(parser: &mut Parser, line: &'a [u8]) -> Parsed<'a> {
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
fn parse_text<'a>(parser: &mut Parser, line: &'a [u8]) -> Parsed<'a> {
    match parser.parse(line) {
        Line::Blank => Parsed::Blank,
        Line::Entry(entry) => Parsed::Entry(entry),
        Line::Bad(bad) => Parsed::Bad(bad.to_string() + &cure(bad)),
    }
}

/// The option that asks for an algorithm with digests of this length, if there is one.
fn cure(bad: BadLine) -> String {
    let BadLine::Length { ndigits } = bad else { return String::new() };
    let has_it = |algorithm: &&Algorithm| 2 * algorithm.digest_nbytes() == ndigits;
    let names: Vec<_> = Algorithm::ALL.iter().filter(has_it).map(|algorithm| algorithm.name()).collect();
    if names.is_empty() { String::new() } else { format!("; name it: --algorithm {}", names.join(" or ")) }
}
