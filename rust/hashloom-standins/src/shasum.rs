// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called `shasum` or `sha3sum`, which come with perl's Digest::SHA and Digest::SHA3.
//!
//! Differences, besides those in `programs`: one error of usage is printed, not all; a list that cannot be opened does
//! not keep others from being checked; bits that do not fill a byte are refused, as hashloom's library hashes whole
//! bytes; and SHAKE is refused, of which `sha3sum` prints 168 or 136 bytes.

use std::ffi::OsString;

use hashloom::{Algorithm, Hash};
use hashloom_frame::input::or_stdin;
use hashloom_list::command::format::Format;
use hashloom_list::command::verdict::Rules;
use hashloom_list::tag;

use crate::Work;
use crate::check::{Grammar, Line, Listed, check};
use crate::dialect::{self, Dialect};
use crate::modes::Mode;
use crate::options::{Choice, Other, parse as parse_options};

/// One of the two programs.
pub struct Kind {
    /// The family of its algorithms, as its messages name it.
    family: &'static str,
    /// The words with which tags in lists begin.
    tags: &'static [&'static str],
    /// Its numbers for algorithms; the first is the default.
    algorithms: &'static [(&'static str, Algorithm)],
    /// Its numbers for algorithms that are refused.
    refused: &'static [&'static str],
    /// The algorithms of lines without a tag, by the lengths of their digests.
    untagged: &'static [Algorithm],
    pub dialect: Dialect,
}

pub const SHASUM: Kind = Kind {
    family: "SHA",
    tags: &["SHA"],
    algorithms: &[
        ("1", Algorithm::Sha1),
        ("224", Algorithm::Sha224),
        ("256", Algorithm::Sha256),
        ("384", Algorithm::Sha384),
        ("512", Algorithm::Sha512),
        ("512224", Algorithm::Sha512_224),
        ("512256", Algorithm::Sha512_256),
    ],
    refused: &[],
    untagged: &[Algorithm::Sha1, Algorithm::Sha224, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512],
    dialect: dialect::SHASUM,
};

pub const SHA3: [Algorithm; 4] = [Algorithm::Sha3_224, Algorithm::Sha3_256, Algorithm::Sha3_384, Algorithm::Sha3_512];

pub const SHA3SUM: Kind = Kind {
    family: "SHA3",
    tags: &["SHA3-", "SHAKE"],
    algorithms: &[("224", SHA3[0]), ("256", SHA3[1]), ("384", SHA3[2]), ("512", SHA3[3])],
    refused: &["128000", "256000"],
    untagged: &SHA3,
    dialect: dialect::SHA3SUM,
};

/// Returns the exit status.
pub fn run(kind: &'static Kind, arguments: &[OsString], work: &Work<'_>) -> Result<u8, Other> {
    let (mut number, mut modes, mut others) = (None, Vec::new(), Vec::new());
    let files = parse_options(arguments, work.dialect, |choice, value| {
        match choice {
            Choice::Algorithm => number = Some(value.to_string_lossy().into_owned()),
            Choice::Binary | Choice::Text | Choice::Bits | Choice::Universal if modes.contains(&choice) => {}
            Choice::Binary | Choice::Text | Choice::Bits | Choice::Universal => modes.push(choice),
            choice => others.push(choice),
        }
        Ok(())
    })?;
    let files = or_stdin(&files);
    let has = |choice| others.contains(&choice);
    if has(Choice::Help) {
        return Err(Other::Help);
    }
    let usage = |message: &str| Err(Other::Usage(message.into()));
    if modes.len() > 1 {
        return usage("Ambiguous file mode");
    }
    for (choice, option) in [
        (Choice::Warn, "warn"),
        (Choice::Status, "status"),
        (Choice::Quiet, "quiet"),
        (Choice::IgnoreMissing, "ignore-missing"),
        (Choice::Strict, "strict"),
    ] {
        if has(choice) && !has(Choice::Check) {
            return usage(&format!("--{option} option used only when verifying checksums"));
        }
    }
    let (mode, mark, name) = match modes.first() {
        Some(Choice::Binary) => (Mode::Bytes, '*', None),
        Some(Choice::Universal) => (Mode::Newlines, 'U', Some("Universal Newlines")),
        Some(Choice::Bits) => (Mode::Bits, '^', Some("BITS")),
        Some(_) => (Mode::Bytes, ' ', Some("--text")),
        None => (Mode::Bytes, ' ', None),
    };
    if let Some(name) = name.filter(|_| has(Choice::Tag)) {
        return usage(&format!("--tag does not support {name} mode"));
    }
    let algorithm = kind.algorithm(number.as_deref())?;
    if has(Choice::Version) {
        return Err(Other::Version);
    }
    let is_right = if has(Choice::Check) {
        // The lists tell which algorithms they use.
        work.restrict(&[])?;
        let rules = Rules {
            ignore_missing: has(Choice::IgnoreMissing),
            quiet: has(Choice::Quiet),
            status: has(Choice::Status),
            strict: has(Choice::Strict),
            warn: has(Choice::Warn),
            ..Rules::default()
        };
        // The chosen algorithm comes before others with digests of its length.
        let untagged = [&[algorithm], kind.untagged].concat();
        check(&files, &mut Lines { kind, untagged, is_stdin: false }, rules, work)
    } else {
        work.restrict(&[algorithm])?;
        let tag = has(Choice::Tag).then(|| tag(algorithm));
        let write = |into: &mut Vec<u8>, name: &[u8], digest: &Hash| write(into, name, digest, mark, tag);
        let items = files.into_iter().map(|file| mode.item(file));
        work.sum(algorithm, None, Format::Own(&write), items)
    };
    Ok(u8::from(!is_right))
}

impl Kind {
    fn algorithm(&self, number: Option<&str>) -> Result<Algorithm, Other> {
        let Some(number) = number else { return Ok(self.algorithms[0].1) };
        if self.refused.contains(&number) {
            let message = format!(
                "--algorithm {number}: hashloom has no digests of SHAKE in the length of sha3sum; \
                 `hashloom sum --algorithm shake128` or shake256 prints those of 32 and 64 bytes"
            );
            return Err(Other::Refusal(message.into()));
        }
        let found = self.algorithms.iter().find(|(name, _)| *name == number);
        found.map(|&(_, algorithm)| algorithm).ok_or_else(|| {
            let is_number = number.strip_prefix(['-', '+']).unwrap_or(number).parse::<u64>().is_ok();
            let message = if is_number {
                "Unrecognized algorithm".to_owned()
            } else {
                format!("Value \"{number}\" invalid for option a (number expected)")
            };
            Other::Usage(message.into())
        })
    }
}

/// Appends a line. Unlike coreutils, these programs escape no carriage return.
fn write(into: &mut Vec<u8>, name: &[u8], digest: &Hash, mark: char, tag: Option<&str>) {
    let needs_escape = |byte| matches!(byte, b'\n' | b'\\');
    let mut shown = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'\n' => shown.extend_from_slice(b"\\n"),
            b'\\' => shown.extend_from_slice(b"\\\\"),
            byte => shown.push(byte),
        }
    }
    if name.iter().copied().any(needs_escape) {
        into.push(b'\\');
    }
    let (before, after) = match tag {
        Some(tag) => (format!("{tag} ("), format!(") = {digest}\n")),
        None => (format!("{digest} {mark}"), "\n".to_owned()),
    };
    into.extend_from_slice(&[before.as_bytes(), &shown, after.as_bytes()].concat());
}

/// The lines of lists of shasum or sha3sum.
struct Lines {
    kind: &'static Kind,
    /// The algorithm of a line without a tag is the first of these with digests of that length.
    untagged: Vec<Algorithm>,
    is_stdin: bool,
}

impl Grammar for Lines {
    fn begin(&mut self, is_stdin: bool) {
        self.is_stdin = is_stdin;
    }

    fn parse(&mut self, line: &[u8], is_too_long: bool) -> Line {
        match parse(self.kind, &self.untagged, line) {
            Some(Line::Entry(listed)) if !(is_too_long || self.is_stdin && listed.name == b"-") => Line::Entry(listed),
            Some(Line::Blank) if !is_too_long => Line::Blank,
            _ => Line::Bad(format!("improperly formatted {} checksum line", self.kind.family)),
        }
    }
}

/// Parses a line of a list. `None` if it is no checksum.
fn parse(kind: &Kind, untagged: &[Algorithm], line: &[u8]) -> Option<Line> {
    if line.starts_with(b"#") {
        return Some(Line::Blank);
    }
    let line = &line[line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
    let (line, is_escaped) = line.strip_prefix(b"\\").map_or((line, false), |line| (line, true));
    let is_tagged = kind.tags.iter().any(|tag| line.starts_with(tag.as_bytes()));
    let found = if is_tagged { tagged(kind, line) } else { plain(untagged, line) };
    let (algorithm, digest, name, mode) = found?;
    let name = if is_escaped { unescaped(name) } else { name.to_vec() };
    Some(Line::Entry(Listed { name, shown: None, algorithm, digest, mode }))
}

type Found<'a> = (Algorithm, Hash, &'a [u8], Mode);

/// `SHA256 (<name>) = <hex>`; also `SHA512224` for SHA512/224.
fn tagged<'a>(kind: &Kind, line: &'a [u8]) -> Option<Found<'a>> {
    let after = |name: &str| line.strip_prefix(name.as_bytes())?.strip_prefix(b" (");
    let is_it = |&(_, algorithm): &(&str, Algorithm)| {
        let name = tag(algorithm);
        Some((algorithm, after(name).or_else(|| after(&name.replace('/', "")))?))
    };
    let (algorithm, rest) = kind.algorithms.iter().find_map(is_it)?;
    let middle = b") = ";
    let end = memchr::memmem::rfind(rest, middle).filter(|&end| end > 0)?;
    let (digits, _) = hex(&rest[end + middle.len()..]);
    if digits.is_empty() {
        return None;
    }
    // These programs compare a digest of another length, and no file has it. Nor has any file a digest of zeros.
    let digest = digest(algorithm, digits).unwrap_or_else(|| Hash::new(algorithm, &vec![0; algorithm.digest_nbytes()]));
    Some((algorithm, digest, &rest[..end], Mode::Bytes))
}

/// `<hex>  <name>`, with a mark in place of the second blank.
fn plain<'a>(untagged: &[Algorithm], line: &'a [u8]) -> Option<Found<'a>> {
    let (digits, rest) = hex(line);
    let [b' ' | b'\t', mark, name @ ..] = rest else { return None };
    let mode = match mark {
        b' ' | b'*' => Mode::Bytes,
        b'U' => Mode::Newlines,
        b'^' => Mode::Bits,
        _ => return None,
    };
    let found = untagged.iter().find_map(|&algorithm| Some((algorithm, digest(algorithm, digits)?)));
    let (algorithm, digest) = found?;
    (!name.is_empty()).then_some((algorithm, digest, name, mode))
}

/// Splits the line after the hexadecimal digits that it begins with.
fn hex(line: &[u8]) -> (&[u8], &[u8]) {
    line.split_at(line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count())
}

fn digest(algorithm: Algorithm, digits: &[u8]) -> Option<Hash> {
    let hash: Hash = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (hash.as_ref().len() == algorithm.digest_nbytes()).then_some(hash)
}

/// The name with `\n` and `\\` replaced; other backslashes stay.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match (byte, after) {
            (b'\\', [b'\\', after @ ..]) => (b'\\', after),
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (byte, after) => (byte, after),
        };
        text.push(byte);
        rest = after;
    }
    text
}

/// Returns the text of `--help`.
pub fn help(called: &str, kind: &Kind) -> String {
    let Kind { family, algorithms, dialect: Dialect { original, .. }, .. } = kind;
    let names: Vec<&str> = algorithms.iter().map(|(name, _)| *name).collect();
    let (default, others) = (names[0], names[1..].join(", "));
    format!(
        "\
Usage: {called} [OPTION]... [FILE]...
Print {family} checksums of files, or check them against lists.

Reads standard input if no FILE is given, or if FILE is -.

  -a, --algorithm N     {default} (default), {others}
  -b, --binary          mark files as read in binary mode: a star before names
  -t, --text            do not mark them (default)
      --tag             print lines in the format of the BSD programs
  -U, --UNIVERSAL       read files with all ends of lines as line feeds: the
                        checksum of a text is the same on every system
  -0, --01              read the characters 0 and 1 as bits, ignore all others
  -c, --check           read checksums from the FILEs and check them

Only with --check:
      --ignore-missing  ignore listed files that are missing
  -q, --quiet           do not print OK for files that match
  -s, --status          print nothing; the exit status tells the result
      --strict          fail if a line of a list is not a checksum
  -w, --warn            name lines that are not checksums

  -h, --help            print this
  -v, --version         print the version

This is hashloom, called as {called}; it stands in for {original}.
Bits must fill whole bytes. HASHLOOM_ISA restricts the
instruction sets. The exit status is 1 if a file cannot be read or does not
match its checksum.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let hex = "a9993e364706816aba3e25717850c26c9cd0d89d";
        let read = |line: &str| match parse(&SHASUM, SHASUM.untagged, line.as_bytes()) {
            Some(Line::Entry(listed)) => Some((listed.algorithm, listed.name, listed.mode)),
            _ => None,
        };
        let sha1 = |name: &str, mode| Some((Algorithm::Sha1, name.as_bytes().to_vec(), mode));
        for (mark, mode) in [(' ', Mode::Bytes), ('*', Mode::Bytes), ('U', Mode::Newlines), ('^', Mode::Bits)] {
            assert_eq!(read(&format!("{hex} {mark}a b")), sha1("a b", mode));
        }
        assert_eq!(read(&format!(" \t\\{hex}\t a\\n\\\\n\\x")), sha1("a\n\\n\\x", Mode::Bytes));
        assert_eq!(read(&format!("SHA1 (a) = b) = {hex} ")), sha1("a) = b", Mode::Bytes));
        let other = Some((Algorithm::Sha512_224, b"a".to_vec(), Mode::Bytes));
        assert_eq!(read("SHA512/224 (a) = 00"), other);
        assert_eq!(read("SHA512224 (a) = 00"), other);
        for bad in ["", "SHA1 () = 00", "SHA1 (a) = ", "SHA1(a)= 00", "SHA3-256 (a) = 00", "00  a"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&format!("{hex} ")), None);
        assert_eq!(read(&format!("{hex} xa")), None);
        assert_eq!(read(&format!("{hex}  ")), None);
    }
}
