// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines that name a digest in a way that is not read.
//!
//! Nobody can list all formats, so words decide. A word is a digest if it has as many letters as a digest in
//! hexadecimal, base32 or base64. A shorter checksum, such as a CRC, is one only as the first or the last word of a
//! line.

use std::fmt;

use hashloom::Algorithm;
use hashloom_files::text::shown;

use super::layout::Record;
use super::{BadLine, DIGITS_MIN, Line, Parser, base64_ndigits, from_base64};

/// The lengths of digests in use, in bytes: of MD5, SHA-1, Tiger, SHA-224, SHA-256, SHA-384 and SHA-512.
const NBYTES: [usize; 7] = [16, 20, 24, 28, 32, 48, 64];

/// The number of hexadecimal digits of a CRC of 32 bits.
const CRC_NDIGITS: usize = 8;

/// More of an algorithm's name is not shown.
const NAME_MAX_NBYTES: usize = 40;

impl BadLine {
    /// Why a line with a digest of an algorithm of this name is not read.
    pub(super) fn algorithm(name: &[u8]) -> BadLine {
        BadLine::Algorithm { name: shown_name(name) }
    }
}

/// The beginning of a name, for a message.
pub(super) fn shown_name(name: &[u8]) -> String {
    shown(&name[..name.len().min(NAME_MAX_NBYTES)]).to_string()
}

/// A line that a form does not need. With a digest in hexadecimal the line is unread.
pub(super) fn ignored<'a>(line: &[u8], form: &'static str) -> Line<'a> {
    let is_long = |part| hex_ndigits(part).is_some_and(|ndigits| ndigits >= DIGITS_MIN);
    if parts(line).any(is_long) || Record::print_md(line).is_some() {
        Line::Unread(BadLine::Form { name: form })
    } else {
        Line::Blank
    }
}

/// As [`ignored`], if the line may be one of another form.
pub(super) fn foreign<'a>(line: &[u8], form: &'static str) -> Line<'a> {
    let mut parser = Parser::new();
    let found = match parser.parse(line) {
        Line::Blank => parser.more(true).unwrap_or(Line::Blank),
        found => found,
    };
    match found {
        Line::Entry(_) | Line::Unread(BadLine::Algorithm { .. } | BadLine::Base64 { .. }) => {
            Line::Unread(BadLine::Form { name: form })
        }
        _ => ignored(line, form),
    }
}

fn is_separator(byte: &u8) -> bool {
    b" \t\r\n\0:,;\"'()<>[]{}|&\\".contains(byte)
}

/// The words and values of a line.
fn parts(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
    line.split(is_separator).map(after_equals).filter(|part| !part.is_empty())
}

/// Tells why a digest of an algorithm of this name is not read.
pub(super) fn tell(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match tags().find(|tag| tag.eq_ignore_ascii_case(name)) {
        Some(tag) if tag == name => write!(f, "a digest of {name}, which was not asked for"),
        Some(tag) => write!(f, "a digest of {name}, which lists call {tag}"),
        None => write!(f, "a digest of {name}, which hashloom lacks"),
    }
}

fn tags() -> impl Iterator<Item = &'static str> {
    Algorithm::ALL.iter().flat_map(|algorithm| algorithm.tags().iter().copied())
}

impl Parser {
    /// Whether a line that cannot be read names a digest nevertheless.
    pub(super) fn judge(&self, line: &[u8], why: BadLine) -> Line<'static> {
        // A line is bad for another reason only after its digest was read.
        if !matches!(why, BadLine::Format | BadLine::Length { .. } | BadLine::FileHash | BadLine::Form { .. }) {
            return Line::Unread(why);
        }
        if let Some(name) = tag(line) {
            let is_asked_for = self.coreutils.is_none() && tags().any(|tag| tag.as_bytes() == name);
            return Line::Unread(if is_asked_for { BadLine::Format } else { BadLine::algorithm(name) });
        }
        let lacks = |nbytes: usize| self.untagged.iter().all(|algorithm| algorithm.digest_nbytes() != nbytes);
        if let Some(nbytes) = base64_first(line).filter(|nbytes| lacks(*nbytes)) {
            return Line::Unread(BadLine::Base64 { nbytes });
        }
        let Some(ndigits) = digest_ndigits(line) else {
            return match self.list.form.filter(|_| self.list.is_strict) {
                Some(form) => Line::Unread(BadLine::Form { name: form.name }),
                None => Line::Bad(why),
            };
        };
        Line::Unread(match why {
            BadLine::FileHash => why,
            BadLine::Length { ndigits } if ndigits >= CRC_NDIGITS => why,
            _ if ndigits >= DIGITS_MIN && lacks(ndigits / 2) => BadLine::Length { ndigits },
            _ => BadLine::Format,
        })
    }
}

/// The name of a line and the digests after it: each is a word of hexadecimal digits. A CRC is one if it stands alone
/// and `is_sfv`, or if two blanks are before it, as rhash writes them.
pub(super) fn digest_words(line: &[u8], is_sfv: bool) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut found: Vec<&[u8]> = Vec::new();
    let mut rest = line;
    while let Some(blank) = rest.iter().rposition(|byte| matches!(byte, b' ' | b'\t')) {
        let word = &rest[blank + 1..];
        let before = rest[..blank].trim_ascii_end();
        let may_be = word.len() == CRC_NDIGITS || word.len() >= DIGITS_MIN;
        let ndigits = if may_be && super::hex_ndigits(word) == word.len() { word.len() } else { 0 };
        let is_crc = ndigits == CRC_NDIGITS
            && (is_sfv || rest[..blank].ends_with(b" ") && !found.is_empty())
            && found.iter().all(|word| word.len() != CRC_NDIGITS);
        if before.is_empty() || !(ndigits >= DIGITS_MIN || is_crc) || found.len() > NBYTES.len() {
            break;
        }
        found.push(word);
        rest = before;
    }
    // The digest of another line, or the tag of one that is not read.
    let is_name = !found.is_empty() && !rest.ends_with(b"=") && !rest.ends_with(b":");
    is_name.then_some((rest, found))
}

/// The algorithm's name in `<name> (<file>) = <digest>`.
fn tag(line: &[u8]) -> Option<&[u8]> {
    let line = after_backslash(line.trim_ascii_start());
    let name = line[..line.iter().position(|&byte| byte == b'(')?].trim_ascii_end();
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let digest = line[close + 1..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-/_".contains(byte));
    // The length of a file, in the BSDs' lists of packages.
    let is_size = name.eq_ignore_ascii_case(b"size");
    // OpenSSL may write colons between bytes.
    let is_hex = digest.len() >= 4 && digest.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b':');
    (is_name && !is_size && (is_hex || is_digest(digest, false))).then_some(name)
}

/// The number of bytes of the digest in base64 that a line begins with.
fn base64_first(line: &[u8]) -> Option<usize> {
    let mut words = words(line);
    let (digest, _name) = (after_backslash(words.next()?), words.next()?);
    let mut known = Algorithm::ALL.iter().filter(|algorithm| base64_ndigits(**algorithm) == digest.len());
    known.find(|algorithm| from_base64(**algorithm, digest).is_some()).map(|algorithm| algorithm.digest_nbytes())
}

/// The number of hexadecimal digits of a digest anywhere in a line; 0 for a digest that is not in hexadecimal, or
/// short.
fn digest_ndigits(line: &[u8]) -> Option<usize> {
    let mut parts = parts(line);
    if let Some(ndigits) = parts.clone().filter_map(hex_ndigits).find(|&ndigits| ndigits >= DIGITS_MIN) {
        return Some(ndigits);
    }
    let are_pairs = bytes_apart(line) >= DIGITS_MIN / 2;
    // A single word in base64 is a line of a signature.
    let is_single = words(line).nth(1).is_none();
    let is_long = |part: &[u8]| is_digest(part, is_single) || is_digest(after_prefix(part), is_single);
    if are_pairs || words(line).any(is_damaged) || parts.clone().any(is_long) {
        return Some(0);
    }
    let (first, last) = (parts.next()?, parts.next_back()?);
    let is_hex = |part: &[u8], least: usize| hex_ndigits(part).is_some_and(|ndigits| ndigits >= least);
    let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let before_last = &line[..line.len() - line.iter().rev().take_while(|byte| !is_separator(byte)).count()];
    let is_value = matches!(before_last.trim_ascii_end().last(), Some(b'=' | b':'));
    let is_short = is_hex(first, CRC_NDIGITS)
        || is_hex(after_prefix(first), 2 * CRC_NDIGITS)
        // A time or a length is a value too.
        || is_hex(last, CRC_NDIGITS) && !(is_number(last) && is_value)
        // POSIX's cksum: a CRC, a length and a name.
        || words(line).take(2).all(is_number);
    is_short.then_some(0)
}

/// Whether a word is a digest with a letter or two that are wrong, or a part of one.
fn is_damaged(word: &[u8]) -> bool {
    const PART_NDIGITS: usize = DIGITS_MIN / 2;
    let is_part = |part: &[u8]| {
        part.len() >= PART_NDIGITS && [u8::is_ascii_digit, u8::is_ascii_alphabetic].iter().all(|is| part.iter().any(is))
    };
    let nothers = word.iter().filter(|byte| !byte.is_ascii_hexdigit()).count();
    // A path or an address may have digits, too, but does not begin with so many.
    let nparts = if word.contains(&b'/') { 1 } else { usize::MAX };
    let has_part = || word.split(|byte| !byte.is_ascii_hexdigit()).take(nparts).any(is_part);
    word.len() >= DIGITS_MIN && nothers <= 2 || has_part()
}

/// The number of hexadecimal digits if the word has nothing else.
fn hex_ndigits(word: &[u8]) -> Option<usize> {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    digits.iter().all(u8::is_ascii_hexdigit).then_some(digits.len())
}

/// The number of bytes in hexadecimal that follow one another, with something between any two.
fn bytes_apart(line: &[u8]) -> usize {
    let (mut most, mut count) = (0, 0);
    for part in line.split(|byte| b" \t:-".contains(byte)).filter(|part| !part.is_empty()) {
        count = if part.len() == 2 && hex_ndigits(part).is_some() { count + 1 } else { 0 };
        most = most.max(count);
    }
    most
}

/// Whether a word is as long as a digest, of the same letters, and no word of a language. `is_single`: the line has no
/// other word.
fn is_digest(word: &[u8], is_single: bool) -> bool {
    let npadding = word.iter().rev().take_while(|byte| **byte == b'=').count();
    let letters = &word[..word.len() - npadding];
    let fits = |nbits: usize| NBYTES.iter().any(|nbytes| (8 * nbytes).div_ceil(nbits) == letters.len());
    let are = |is: fn(&u8) -> bool| letters.iter().all(is);
    let has = |is: fn(&u8) -> bool| letters.iter().any(is);
    let (has_lower, has_upper, has_digit) =
        (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase), has(|byte| b"0123456789+/".contains(byte)));
    let is_hex = letters.len() >= DIGITS_MIN && are(u8::is_ascii_hexdigit);
    let is_base32 = fits(5) && are(u8::is_ascii_alphanumeric) && has_digit && has_lower != has_upper;
    let is_padded = npadding > 0 && word.len() >= 8 && word.len() % 4 == 0;
    let is_base64 = (is_padded || fits(6)) && are(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
    is_hex || is_base32 || is_base64 && !is_single && (is_padded || has_lower && has_upper && has_digit)
}

pub(super) fn words(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}

fn after_backslash(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"\\").unwrap_or(word)
}

/// The value of `<name>=<value>`, which may end with the padding of base64.
fn after_equals(word: &[u8]) -> &[u8] {
    let end = word.iter().rposition(|byte| *byte != b'=').unwrap_or_default();
    word[..end].iter().rposition(|byte| *byte == b'=').map_or(word, |at| &word[at + 1..])
}

/// The digest of `sha256-<digest>` or `XXH3_<digest>`.
fn after_prefix(word: &[u8]) -> &[u8] {
    const PREFIX_MAX_NBYTES: usize = 12;
    let at = word.iter().take(PREFIX_MAX_NBYTES).position(|byte| matches!(byte, b'-' | b'_'));
    at.map_or(word, |at| &word[at + 1..])
}
