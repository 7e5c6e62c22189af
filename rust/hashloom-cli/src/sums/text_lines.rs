// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of lists in all formats: those that the engine parses, and those of `sum --json`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use hashloom::Algorithm;
use hashloom_files::paths::portable;
use hashloom_list::{BadLine, Encoding, Entry, Line, Parser, decoded};

use super::json_lines::{self, JsonLine};
use super::lines;
use super::modes::Mode;
use super::shasum;
use crate::input::{self, BUFFER_NBYTES, Input};

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
    /// Whether lists may be compressed, in UTF-16, or with lines that end with NUL. Programs of others read none of
    /// these.
    fn is_lenient(&self) -> bool {
        matches!(self, Grammar::Any(_))
    }

    fn begin_list(&mut self, end: u8, list: &Path) {
        match self {
            Grammar::Any(parser) => parser.begin_named(end, &portable(list)),
            Grammar::Coreutils(parser) => parser.begin_list(end),
            Grammar::Shasum(..) => {}
        }
    }

    /// A further result of earlier lines, or of the end of the list.
    fn more(&mut self, is_end: bool) -> Option<Parsed<'static>> {
        let Grammar::Any(parser) = self else { return None };
        parser.more(is_end).map(parsed)
    }

    /// The parser of all forms.
    pub fn parser(&self) -> Option<&Parser> {
        if let Grammar::Any(parser) = self { Some(parser) } else { None }
    }

    /// Parses a line, and tells how its file is to be read.
    fn parse<'a>(&mut self, line: &'a [u8]) -> (Parsed<'a>, Mode) {
        match self {
            Grammar::Any(parser) => (parse(parser, line), Mode::Bytes),
            // Programs of coreutils do not tell lines that they cannot read from others.
            Grammar::Coreutils(parser) => match parse_text(parser, line) {
                Parsed::Unread(why) => (Parsed::Bad(why), Mode::Bytes),
                parsed => (parsed, Mode::Bytes),
            },
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
    /// Begins a list of this path. coreutils neither decompresses nor decodes any.
    pub fn begin(list: impl Read + Send + 'static, path: &Path, grammar: &mut Grammar) -> io::Result<Lines> {
        let (reader, end): (Input, u8) = match grammar.parser() {
            Some(parser) => decoded(input::decompressed(list)?, parser.encoding())?,
            None => (Box::new(BufReader::with_capacity(BUFFER_NBYTES, list)), b'\n'),
        };
        grammar.begin_list(end, path);
        let mut lines = Lines { reader, end, line: Vec::new(), number: 0, state: State::Within };
        if let Grammar::Any(parser) = grammar {
            // The first bytes are there. Further ones a pipe may not have before somebody has read these.
            let first = lines.reader.fill_buf()?;
            if first.split(|&byte| byte == end).any(Parser::begins_signed) {
                parser.expect_signed();
            }
        }
        Ok(lines)
    }

    /// Begins a list, which may be a file of this path. Of a file, all lines are looked at for a text that OpenPGP has
    /// signed: lines above count only if there is none.
    pub fn begin_file(list: impl Read + Send + 'static, path: &Path, grammar: &mut Grammar) -> io::Result<Lines> {
        let lines = Lines::begin(list, path, grammar)?;
        if let Grammar::Any(parser) = grammar {
            // What cannot be read, the check tells.
            if !parser.is_outside() && path.is_file() && has_signed(path, parser.encoding()).unwrap_or(false) {
                parser.expect_signed();
            }
        }
        Ok(lines)
    }

    /// The present line.
    pub fn text(&self) -> &[u8] {
        &self.line
    }

    /// Parses the next line. `None` at the end.
    pub fn next(&mut self, grammar: &mut Grammar) -> io::Result<Option<(Parsed<'_>, Mode)>> {
        if let Some(more) = grammar.more(false) {
            return Ok(Some((more, Mode::Bytes)));
        }
        let Some(read) = lines::next(&mut self.reader, self.end, &mut self.line)? else {
            let is_cut = std::mem::replace(&mut self.state, State::Ended) == State::Cut;
            let cut = is_cut.then(|| Parsed::Unread("the list ends within this line; is it cut off?".to_owned()));
            return Ok(cut.or_else(|| grammar.more(true)).map(|parsed| (parsed, Mode::Bytes)));
        };
        self.number += 1;
        // DOS ends a text so.
        if !read.is_ended && self.end == b'\n' && grammar.is_lenient() && self.line.last() == Some(&0x1a) {
            self.line.pop();
        }
        let (mut parsed, mode) = grammar.parse(&self.line);
        if read.is_too_long {
            let why = "it is too long".to_owned();
            parsed = match parsed {
                Parsed::Entry(_) | Parsed::Unread(_) if grammar.is_lenient() => Parsed::Unread(why),
                _ => Parsed::Bad(why),
            };
        }
        // The last line of a list that `sum --zero` has written has its NUL.
        let is_cut = matches!(parsed, Parsed::Bad(_)) || self.end == 0 && !matches!(parsed, Parsed::Unread(_));
        if !read.is_ended && is_cut && grammar.is_lenient() {
            self.state = State::Cut;
        }
        Ok(Some((parsed, mode)))
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
    parse_text(parser, line)
}

/// Parses a line that is not JSON.
fn parse_text<'a>(parser: &mut Parser, line: &'a [u8]) -> Parsed<'a> {
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
