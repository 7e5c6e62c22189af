// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of lists in all forms: those that the library parses, and those of `sum --json`.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use hashloom::Algorithm;
use hashloom_files::paths::portable;
use hashloom_frame::input::{self, Input};

use super::json_lines::{self, JsonLine};
use super::lines;
use crate::{BadLine, Encoding, Entry, Line, Parser, decoded};

/// The content of a line.
pub enum Parsed<'a> {
    Blank,
    Entry(Entry<'a>),
    /// The first line of a manifest.
    Manifest,
    /// Why a digest that the line names is not read.
    Unread(String),
    /// Why the line is not a checksum.
    Bad(String),
}

/// Reads the lines of a list, one after the other.
pub struct Lines {
    reader: Input,
    /// The byte that ends lines.
    end: u8,
    line: Vec<u8>,
    /// The number of the present line.
    pub number: u64,
    state: State,
}

/// What the present line tells about the end of the list.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing.
    Within,
    /// The list is cut off if it ends here: the line has no end, and is no checksum.
    Cut,
    Ended,
}

impl Lines {
    /// Begins a list of this path.
    pub fn begin(list: impl Read + Send + 'static, path: &Path, parser: &mut Parser) -> io::Result<Lines> {
        let (reader, end): (Input, u8) = decoded(input::decompressed(list)?, parser.encoding())?;
        parser.begin_named(end, &portable(path));
        let mut lines = Lines { reader, end, line: Vec::new(), number: 0, state: State::Within };
        // The first bytes are there. Further ones a pipe may not have before somebody has read these.
        let first = lines.reader.fill_buf()?;
        if first.split(|&byte| byte == end).any(Parser::begins_signed) {
            parser.expect_signed();
        }
        Ok(lines)
    }

    /// Begins a list, which may be a file of this path. Of a file, all lines are looked at for a text that OpenPGP has
    /// signed: lines above count only if there is none.
    pub fn begin_file(list: impl Read + Send + 'static, path: &Path, parser: &mut Parser) -> io::Result<Lines> {
        let lines = Lines::begin(list, path, parser)?;
        // The check reports a file that cannot be read.
        if !parser.is_outside() && path.is_file() && has_signed(path, parser.encoding()).unwrap_or(false) {
            parser.expect_signed();
        }
        Ok(lines)
    }

    /// The present line.
    pub fn text(&self) -> &[u8] {
        &self.line
    }

    /// Parses the next line. `None` at the end.
    pub fn next(&mut self, parser: &mut Parser) -> io::Result<Option<Parsed<'_>>> {
        if let Some(more) = parser.more(false) {
            return Ok(Some(parsed(more)));
        }
        let Some(read) = lines::next(&mut self.reader, self.end, &mut self.line)? else {
            let is_cut = std::mem::replace(&mut self.state, State::Ended) == State::Cut;
            let cut = is_cut.then(|| Parsed::Unread("the list ends within this line; is it cut off?".to_owned()));
            return Ok(cut.or_else(|| parser.more(true).map(parsed)));
        };
        self.number += 1;
        // DOS ends a text so.
        if !read.is_ended && self.end == b'\n' && self.line.last() == Some(&0x1a) {
            self.line.pop();
        }
        let mut parsed = parse(parser, &self.line);
        if read.is_too_long {
            let why = "it is too long".to_owned();
            parsed = match parsed {
                Parsed::Entry(_) | Parsed::Unread(_) => Parsed::Unread(why),
                _ => Parsed::Bad(why),
            };
        }
        // The last line of a list that `sum --zero` has written has its NUL.
        let is_cut = matches!(parsed, Parsed::Bad(_)) || self.end == 0 && !matches!(parsed, Parsed::Unread(_));
        if !read.is_ended && is_cut {
            self.state = State::Cut;
        }
        Ok(Some(parsed))
    }
}

fn has_signed(list: &Path, encoding: Option<Encoding>) -> io::Result<bool> {
    let (mut reader, end) = decoded(input::decompressed(File::open(list)?)?, encoding)?;
    let mut line = Vec::new();
    while lines::next(&mut reader, end, &mut line)?.is_some() {
        if Parser::begins_signed(&line) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Parses a line.
fn parse<'a>(parser: &mut Parser, line: &'a [u8]) -> Parsed<'a> {
    let begins = line.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_json = begins.is_some_and(|rest| matches!(rest.first(), None | Some(b'"' | b'}')));
    if is_json && !line.starts_with(b"{\"files\":{") && !parser.is_outside() {
        return match json_lines::parse(line) {
            Ok(JsonLine::Entry(entry)) => {
                parser.note_entry(&entry);
                Parsed::Entry(entry)
            }
            Ok(JsonLine::Manifest) => Parsed::Manifest,
            // No other line begins so.
            Err(why) => Parsed::Unread(why),
        };
    }
    parsed(parser.parse(line))
}

fn parsed(line: Line<'_>) -> Parsed<'_> {
    match line {
        Line::Blank => Parsed::Blank,
        Line::Entry(entry) => Parsed::Entry(entry),
        Line::Unread(why) => Parsed::Unread(why.to_string() + &cure(&why)),
        Line::Bad(why) => Parsed::Bad(why.to_string()),
    }
}

/// The option that asks for an algorithm with digests of this length, if there is one.
fn cure(why: &BadLine) -> String {
    let ndigits = match *why {
        BadLine::Length { ndigits } => ndigits,
        BadLine::Base64 { nbytes } => 2 * nbytes,
        _ => return String::new(),
    };
    let has_it = |algorithm: &&Algorithm| 2 * algorithm.digest_nbytes() == ndigits;
    let names: Vec<_> = Algorithm::ALL.iter().filter(has_it).map(|algorithm| algorithm.name()).collect();
    if names.is_empty() { String::new() } else { format!("; name it: --algorithm {}", names.join(" or ")) }
}
