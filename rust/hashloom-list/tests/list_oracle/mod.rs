// SPDX-License-Identifier: MIT OR Apache-2.0

//! A second parser of lists of checksums, made of regular expressions, to compare `hashloom_list` with.

use hashloom::Algorithm;
use hashloom_list::{Entry, Line, Parser};
use regex::bytes::{Captures, Regex};

/// A parser for lines of one algorithm.
pub struct Oracle {
    plain: Regex,
    tagged: Regex,
    escape: Regex,
    /// Matches a correctly escaped name.
    escaped: Regex,
    is_reversed: Option<bool>,
}

/// The digest in lower-case hexadecimal, and the name.
pub type Checksum = (String, Vec<u8>);

impl Oracle {
    pub fn new(algorithm: Algorithm, tag: &str) -> Oracle {
        let hex = format!("[0-9A-Fa-f]{{{}}}", 2 * algorithm.digest_nbytes());
        let regex = |pattern: &str| Regex::new(&format!(r"(?s-u)\A{pattern}\z")).unwrap();
        Oracle {
            plain: regex(&format!(r"[ \t]*(?<mark>\\?)(?<hex>{hex})[ \t](?<name>.+)")),
            tagged: regex(&format!(r"[ \t]*(?<mark>\\?){tag} ?\((?<name>.*)\)[ \t]*=[ \t]*(?<hex>{hex})")),
            escape: Regex::new(r"(?s-u)\\(.)").unwrap(),
            escaped: regex(r"(?:[^\\\x00]|\\[nr\\])*"),
            is_reversed: None,
        }
    }

    /// Returns `Ok(None)` for a line to ignore, an error for a line that is not a checksum.
    pub fn parse(&mut self, line: &[u8]) -> Result<Option<Checksum>, ()> {
        if line.first() == Some(&b'#') {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        let (captures, name) = if let Some(captures) = self.tagged.captures(line) {
            let name = captures["name"].to_vec();
            (captures, name)
        } else {
            let captures = self.plain.captures(line).ok_or(())?;
            let mut name = captures["name"].to_vec();
            let has_mode = name.len() > 1 && (name[0] == b' ' || name[0] == b'*');
            match (self.is_reversed, has_mode) {
                (Some(false), false) => return Err(()),
                (Some(true), _) | (None, false) => self.is_reversed = Some(true),
                (_, true) => {
                    self.is_reversed = Some(false);
                    name.remove(0);
                }
            }
            (captures, name)
        };
        let hex = String::from_utf8(captures["hex"].to_ascii_lowercase()).unwrap();
        if captures["mark"].is_empty() {
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
            return Ok(Some((hex, name)));
        }
        if !self.escaped.is_match(&name) {
            return Err(());
        }
        let unescape = |captures: &Captures<'_>| match &captures[1] {
            b"n" => b"\n".to_vec(),
            b"r" => b"\r".to_vec(),
            other => other.to_vec(),
        };
        Ok(Some((hex, self.escape.replace_all(&name, unescape).into_owned())))
    }
}

/// Reads the lines of a list of `algorithm` with both parsers, which must agree.
pub fn compare(oracle: &mut Oracle, algorithm: Algorithm, list: &[u8]) {
    let mut parser = Parser::only(algorithm);
    oracle.is_reversed = None;
    for line in list.split(|&byte| byte == b'\n') {
        let found = match parser.parse(line) {
            Line::Blank => Ok(None),
            Line::Bad(_) | Line::Unread(_) => Err(()),
            Line::Entry(Entry { digests, nbytes, name, .. }) => {
                assert_eq!((digests.len(), nbytes), (1, None));
                Ok(Some((digests[0].1.to_string(), name.into_owned())))
            }
        };
        assert_eq!(found, oracle.parse(line), "{}", line.escape_ascii());
    }
}
