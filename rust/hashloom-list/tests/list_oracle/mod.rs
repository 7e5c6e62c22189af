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

/// The digests in lower-case hexadecimal, whether the line names their algorithms, the length and the name.
pub type Checksums = (Vec<String>, bool, Option<u64>, Vec<u8>);

/// A parser for all formats. Lines without a tag are of SHA-1, and the only tag is SHA1.
pub struct AllFormats {
    digest_first: Oracle,
    tag: Regex,
    digest_last: Regex,
    no_name: Regex,
    long_hex: Regex,
    base64: Regex,
    is_digest_last: Option<bool>,
    /// A line of hashdeep, once the columns are known; `None` if no line can have them.
    hashdeep: Option<Option<Regex>>,
}

impl AllFormats {
    pub fn new() -> AllFormats {
        let regex = |pattern: &str| Regex::new(&format!(r"(?s-u)\A{pattern}\z")).unwrap();
        let name = r"[^\x00\\=: \t]|[^\x00\\ \t][^\x00]*[^\x00=: \t]";
        AllFormats {
            digest_first: Oracle::new(Algorithm::Sha1, "SHA1"),
            tag: regex(r"[ \t]*\\?SHA1 ?\(.*"),
            digest_last: regex(&format!(r"[ \t]*(?<name>{name})[ \t]+(?<hex>[0-9A-Fa-f]{{40}})")),
            // Gentoo's Manifest, and a line with another digest in front.
            no_name: regex(
                r"[ \t]*(?:[A-Z]+[ \t]+[^ \t]+[ \t]+[0-9]+(?:[ \t]+[^ \t]+){2,}|[^ \t]+[ \t]+(?:[^ \t]+[ \t]+)*(?:0x)?[0-9A-Fa-f]{32,}(?:[ \t]+[^ \t]+)+)",
            ),
            long_hex: regex(r"[ \t]*[0-9A-Fa-f]{32}.*"),
            base64: regex(
                r"(?<before>[ \t]*\\?(?:SHA1 ?\(.*\)[ \t]*=[ \t]*)?)(?<text>[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=)(?<after>[ \t].+|)",
            ),
            is_digest_last: None,
            hashdeep: None,
        }
    }

    /// The line with a digest in hexadecimal in place of one in base64.
    fn in_hex(&self, line: &[u8]) -> Option<Vec<u8>> {
        let found = self.base64.captures(line)?;
        // A tagged line ends with the digest, any other goes on.
        if found["after"].is_empty() != found["before"].ends_with(b"=") && !found["before"].contains(&b'(') {
            return None;
        }
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits: String = found["text"][..27]
            .iter()
            .map(|letter| format!("{:06b}", letters.iter().position(|other| other == letter).unwrap()))
            .collect();
        let hex: String =
            (0..40).map(|i| format!("{:x}", u8::from_str_radix(&bits[4 * i..4 * i + 4], 2).unwrap())).collect();
        Some([&found["before"], hex.as_bytes(), &found["after"]].concat())
    }

    /// The expression of a line below these columns.
    fn columns(names: &[u8]) -> Option<Regex> {
        let mut found = Vec::new();
        let mut cell = |name: &[u8]| {
            let name = String::from_utf8_lossy(name);
            let (key, cell) = match name.parse::<Algorithm>() {
                _ if name == "size" => ("size".to_owned(), "(?<size>[0-9]+)".to_owned()),
                Ok(algorithm) => {
                    let ndigits = 2 * algorithm.digest_nbytes();
                    (algorithm.to_string(), format!("(?<h{}>[0-9A-Fa-f]{{{ndigits}}})", found.len()))
                }
                Err(_) => return Some("[^,]*".to_owned()),
            };
            let is_first = !found.contains(&key);
            found.push(key);
            is_first.then_some(cell)
        };
        let cells: Vec<String> = names.split(|&byte| byte == b',').map(&mut cell).collect::<Option<_>>()?;
        Some(Regex::new(&format!(r"(?s-u)\A{},(?<name>[^\x00]+)\z", cells.join(","))).unwrap())
    }

    /// Returns `Ok(None)` for a line to ignore, an error for a line that is not a checksum.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Checksums>, ()> {
        self.read(line).and_then(|found| if found.is_some() && line.contains(&0) { Err(()) } else { Ok(found) })
    }

    fn read(&mut self, line: &[u8]) -> Result<Option<Checksums>, ()> {
        let bare = line.strip_suffix(b"\r").unwrap_or(line);
        if line.first() == Some(&b'#') || bare.is_empty() || bare == b"%%%% HASHDEEP-1.0" {
            return Ok(None);
        }
        if let Some(names) = bare.strip_prefix(b"%%%% ") {
            let columns = names.strip_suffix(b",filename").and_then(AllFormats::columns);
            let is_known = |name: &[u8]| name == b"size" || String::from_utf8_lossy(name).parse::<Algorithm>().is_ok();
            let is_right = columns.is_some() && bare[5..bare.len() - 9].split(|&byte| byte == b',').all(is_known);
            self.hashdeep = Some(columns);
            return if is_right { Ok(None) } else { Err(()) };
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_ascii_lowercase()).unwrap();
        if let Some(regex) = &self.hashdeep {
            let found = regex.as_ref().and_then(|regex| regex.captures(bare)).ok_or(())?;
            let size = found.name("size").map(|size| text(size.as_bytes()).parse().map_err(drop)).transpose()?;
            let regex = regex.as_ref().unwrap();
            let digests: Vec<String> = regex
                .capture_names()
                .flatten()
                .filter(|name| name.starts_with('h'))
                .map(|name| text(&found[name]))
                .collect();
            return if digests.is_empty() { Err(()) } else { Ok(Some((digests, true, size, found["name"].to_vec()))) };
        }
        let in_hex = self.in_hex(bare).filter(|_| self.is_digest_last != Some(true) || self.tag.is_match(bare));
        let (line, bare) = in_hex.as_ref().map_or((line, bare), |line| (&line[..], &line[..]));
        let is_tagged = self.tag.is_match(bare);
        if is_tagged || self.is_digest_last != Some(true) {
            if let Ok(found) = self.digest_first.parse(line) {
                if !is_tagged {
                    self.is_digest_last = Some(false);
                }
                return Ok(found.map(|(hex, name)| (vec![hex], is_tagged, None, name)));
            }
            if is_tagged || self.is_digest_last.is_some() || self.long_hex.is_match(bare) {
                return Err(());
            }
        }
        let found = self.digest_last.captures(bare).filter(|_| !self.no_name.is_match(bare)).ok_or(())?;
        self.is_digest_last = Some(true);
        Ok(Some((vec![text(&found["hex"])], false, None, found["name"].to_vec())))
    }
}

/// Reads the lines of a list with the parser of all formats and with its oracle, which must agree.
pub fn compare_all_formats(list: &[u8]) {
    let (mut parser, mut oracle) = (Parser::untagged(&[Algorithm::Sha1]), AllFormats::new());
    // The oracle does not know Get-FileHash.
    let file_hash = Regex::new(r#"(?i-u)\A[ \t]*"?(?:Algorithm|Hash|Path)"?[ \t:,;]"#).unwrap();
    if list.split(|&byte| byte == b'\n').any(|line| file_hash.is_match(line)) {
        return;
    }
    let other_tag = Regex::new(r"(?s-u)\A[ \t]*\\?(?:[SRM][-A-Za-z0-9/]*) ?\(").unwrap();
    for line in list.split(|&byte| byte == b'\n') {
        // The oracle knows one tag, and expressions have a limit.
        if other_tag.is_match(line) && !oracle.tag.is_match(line) || line.starts_with(b"%%%%") && line.len() > 200 {
            continue;
        }
        let found = match parser.parse(line) {
            Line::Blank => Ok(None),
            Line::Bad(_) | Line::Unread(_) => Err(()),
            Line::Entry(Entry { digests, is_tagged, nbytes, name }) => {
                let digests = digests.iter().map(|(_, digest)| digest.to_string()).collect();
                Ok(Some((digests, is_tagged, nbytes, name.into_owned())))
            }
        };
        assert_eq!(found, oracle.parse(line), "{}", line.escape_ascii());
    }
}
