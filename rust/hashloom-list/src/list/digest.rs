// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the digest of one file as web pages, programs and mails show it.
//!
//! The text is cut into words. Names of algorithms wait for the next digest. Hexadecimal words with nothing but blanks
//! between them may be groups of one digest. Everything else is text around the digest, such as the name of the file.

use std::fmt;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use hashloom::{Algorithm, Hash};

use super::forms::{Sum, of_length};
use super::{Crc, Entry, digest, from_letters, tag};

/// Fewer hexadecimal digits in a row may be a word, a date or a number.
const WORD_NDIGITS: usize = 24;
/// The longest name of a file between an algorithm and its digest, in letters.
const NAME_MAX: usize = 4096;
/// A text with more digests than this is not of one file.
const FOUND_MAX: usize = 64;

/// Why a text is not the digest of a file.
///
/// ```
/// use hashloom_list::{BadDigest, read_digest};
///
/// assert_eq!(read_digest("hello"), Err(BadDigest::NoDigest { of: None }));
/// assert_eq!(read_digest("MD5: 900150983c").unwrap_err().to_string(), "10 digits, but MD5 has 32: 22 missing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadDigest {
    /// The text has no digest, or none of the algorithm that it names.
    NoDigest {
        /// The algorithm's name.
        of: Option<&'static str>,
    },
    /// A letter stands where a hexadecimal digit should.
    Digit {
        /// The letter, in lower case.
        found: char,
        /// Its place among the digits, from 1 on.
        place: usize,
    },
    /// The number of hexadecimal digits is not that of the algorithm, or of any.
    Length {
        /// Number of digits.
        ndigits: usize,
        /// The algorithm that is named, or has nearly as many digits, and its number of digits.
        near: Option<(&'static str, usize)>,
    },
    /// The text has several digests, and does not say that one file has all of them.
    Several,
}

impl fmt::Display for BadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BadDigest::NoDigest { of: Some(name) } => write!(f, "this is no digest of {name}"),
            BadDigest::NoDigest { of: None } => f.write_str("this is no digest"),
            BadDigest::Digit { found, place } => {
                write!(f, "\u{201c}{}\u{201d} is no hexadecimal digit (place {place})", found.escape_debug())
            }
            BadDigest::Length { ndigits, near } => {
                write!(f, "{ndigits} digit{}", if ndigits == 1 { "" } else { "s" })?;
                match near {
                    Some((name, wanted)) if wanted > ndigits => {
                        write!(f, ", but {name} has {wanted}: {} missing", wanted - ndigits)
                    }
                    Some((name, wanted)) => write!(f, ", but {name} has {wanted}: {} too many", ndigits - wanted),
                    None if ndigits == 8 => f.write_str(": if it is a CRC, put its name before it, as in crc32:"),
                    None => f.write_str(": no algorithm has so many"),
                }
            }
            BadDigest::Several => f.write_str(
                "these are several digests: give one; if they are parts of one, put its algorithm before them",
            ),
        }
    }
}

impl core::error::Error for BadDigest {}

/// Reads the digest of one file from a text: hexadecimal in groups of any length, or base64; alone, in a line of a
/// list, behind the name of its algorithm, in HTML.
///
/// If the text names no algorithm, the entry has the digest for each algorithm with digests of its length, the usual
/// one first, and [`is_any`](Entry::is_any) is true. Of digests of several algorithms the file must have all; of those
/// of subresource integrity one of the strongest algorithm. A CRC counts only if it is named. The entry has no name.
///
/// # Errors
/// If the text has no digest, a damaged one, or several that do not belong to one file.
///
/// ```
/// use hashloom::Algorithm::{Md5, Sha1};
/// use hashloom_list::read_digest;
///
/// let read = read_digest("<b>MD5</b> <code>90015098 3CD24FB0 D6963F7D 28E17F72</code>")?;
/// assert_eq!((read.digests, read.is_tagged), (vec![(Md5, hashloom::hash(Md5, b"abc"))], true));
/// let read = read_digest("a9993e364706816aba3e25717850c26c9cd0d89d  film.iso")?;
/// assert_eq!((read.digests[0].0, read.is_tagged), (Sha1, false));
/// # Ok::<(), hashloom_list::BadDigest>(())
/// ```
pub fn read_digest(text: &str) -> Result<Entry<'static>, BadDigest> {
    let (with_attributes, shown) = (plain(text, false), plain(text, true));
    let read = Reading::of(&with_attributes);
    if with_attributes == shown {
        return read;
    }
    // Attributes may hold the digest, or stand between its groups. One that is not the shown one makes it ambiguous.
    match (read, Reading::of(&shown)) {
        (Ok(all), Ok(seen)) if !has_all_of(&all, &seen) => Err(BadDigest::Several),
        (Err(why), Ok(seen)) if why != BadDigest::Several => Ok(seen),
        (read, _) => read,
    }
}

/// Whether an entry has all digests of another one, by whatever algorithm.
fn has_all_of(entry: &Entry<'_>, other: &Entry<'_>) -> bool {
    let has = |hash: &Hash| entry.digests.iter().any(|(_, own)| own.as_ref() == hash.as_ref());
    other.digests.iter().all(|(_, hash)| has(hash)) && other.crcs.iter().all(|crc| entry.crcs.contains(crc))
}

/// The text without tags of HTML, those with attributes only on demand, and without marks that nobody sees.
fn plain(text: &str, with_attributes: bool) -> String {
    /// A longer word in angle brackets is no tag: a digest may stand there.
    const TAG_MAX: usize = 16;
    const WITH_ATTRIBUTES_MAX: usize = 4096;
    let mut text = text.replace("&nbsp;", " ").replace(['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}'], "");
    for mark in ["&shy;", "<wbr>", "<wbr/>", "&ZeroWidthSpace;", "&#8203;", "&#x200b;", "&#x200B;"] {
        text = text.replace(mark, "");
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), &text[..]);
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut quote = None;
        let end = rest.bytes().take(WITH_ATTRIBUTES_MAX).position(|byte| {
            match quote {
                Some(open) => quote = quote.filter(|_| byte != open),
                None if byte == b'"' || byte == b'\'' => quote = Some(byte),
                None => return byte == b'>',
            }
            false
        });
        let is_tag = |tag: &str| {
            let name = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '/').map_or(tag, |end| &tag[..end]);
            let has_attributes = tag[name.len()..].contains(|c: char| !c.is_ascii_whitespace() && c != '/');
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
                && name.len() < TAG_MAX
                && (with_attributes || !has_attributes)
        };
        let end = end.filter(|&end| is_tag(&rest[1..end]));
        plain.push(if end.is_some() { ' ' } else { '<' });
        rest = &rest[end.unwrap_or(0) + 1..];
    }
    plain + rest
}

/// Digests of one place in the text: one for each algorithm that it may be of.
struct Found {
    digests: Vec<(Algorithm, Hash)>,
    crcs: Vec<(Crc, u64)>,
    is_told: bool,
    is_sri: bool,
}

impl Found {
    /// The bytes, or the digits of a CRC.
    fn value(&self) -> (Option<&[u8]>, Option<u64>) {
        (self.digests.first().map(|(_, hash)| hash.as_ref()), self.crcs.first().map(|&(_, crc)| crc))
    }
}

#[derive(Default)]
struct Reading<'a> {
    /// Algorithms named since the last digest.
    named: Vec<Sum>,
    /// Hexadecimal words with only blanks between them.
    run: Vec<String>,
    found: Vec<Found>,
    /// Whether no word has come since the last digest.
    has_just_found: bool,
    /// The file that a BSD's tag names.
    file: Option<&'a str>,
    is_of_several: bool,
    /// What is wrong with what was a digest.
    problem: Option<BadDigest>,
    /// What is wrong with the longest run that may be a digest.
    suspected: Option<(usize, BadDigest)>,
    /// The word before the run, if it may be a group with a wrong digit.
    damaged: Option<&'a str>,
    /// The text behind the last name of an algorithm.
    since: &'a str,
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`<>()[]{}=,;|&\u{201c}\u{201d}\u{201e}\u{2018}\u{2019}\u{ab}\u{bb}".contains(c)
}

/// The digits of a word that has nothing but these, in groups.
fn hex_of(word: &str) -> Option<String> {
    let word = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    let is_mark = |c: char| ":.-".contains(c) || ('\u{2010}'..='\u{2015}').contains(&c);
    let is_hex =
        word.starts_with(|c: char| c.is_ascii_hexdigit()) && word.chars().all(|c| c.is_ascii_hexdigit() || is_mark(c));
    is_hex.then(|| word.replace(is_mark, "").to_ascii_lowercase())
}

/// The algorithm that a word names: also sha256sum, SHA256-Hash and Content-MD5.
fn sum_of(word: &str) -> Option<Sum> {
    let is_known = |name: &str| Sum::named(name.as_bytes()).filter(|sum| *sum != Sum::Crc(Crc::Posix));
    let lower = word.to_ascii_lowercase();
    let stem = lower.strip_suffix("sums").or_else(|| lower.strip_suffix("sum")).unwrap_or(&lower);
    is_known(stem).or_else(|| {
        let (first, last) = word.rsplit_once(['-', '_'])?;
        let is_word = |part: &str| (1..20).contains(&part.len()) && part.chars().all(char::is_alphabetic);
        is_known(first).filter(|_| is_word(last)).or_else(|| is_known(last).filter(|_| is_word(first)))
    })
}

fn ndigits(sum: Sum) -> usize {
    match sum {
        Sum::Digest(algorithm) => 2 * algorithm.digest_nbytes(),
        Sum::Crc(crc) => 2 * crc.nbytes(),
    }
}

fn name(sum: Sum) -> &'static str {
    match sum {
        Sum::Digest(algorithm) => tag(algorithm),
        Sum::Crc(crc) => crc.tag(),
    }
}

/// All algorithms with digests of this length, the usual one first.
fn all_of(ndigits: usize) -> impl Iterator<Item = Algorithm> {
    let usual = of_length(ndigits);
    let others = Algorithm::ALL.iter().copied().filter(move |&other| Some(other) != usual);
    usual.into_iter().chain(others).filter(move |algorithm| 2 * algorithm.digest_nbytes() == ndigits)
}

fn base64(algorithm: Algorithm, word: &str) -> Option<Hash> {
    let letters = word.trim_end_matches('=').as_bytes();
    from_letters(algorithm, letters, &BASE64_NOPAD).or_else(|| from_letters(algorithm, letters, &BASE64URL_NOPAD))
}

/// The first letter among digits that is none, `before` of which stand before these.
fn first_wrong(digits: &str, before: usize) -> Option<BadDigest> {
    let (place, found) = digits.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit())?;
    Some(BadDigest::Digit { found: found.to_ascii_lowercase(), place: before + place + 1 })
}

fn nwrong(digits: &str) -> usize {
    digits.chars().filter(|c| !c.is_ascii_hexdigit()).count()
}

/// The first letter that is no digit, if nearly all are digits.
fn wrong_digit(digits: &str) -> Option<BadDigest> {
    let ndigits = digits.chars().count();
    first_wrong(digits, 0).filter(|_| ndigits > WORD_NDIGITS && nwrong(digits) <= ndigits / 16)
}

/// Whether a word may be a group of digits with a wrong one.
fn is_damaged_group(word: &str) -> bool {
    word.len() >= 4 && (1..=word.len() / 4).contains(&nwrong(word))
}

impl<'a> Reading<'a> {
    fn of(text: &'a str) -> Result<Entry<'static>, BadDigest> {
        let mut reading = Reading { since: text, ..Reading::default() };
        reading.read(text);
        reading.finish()
    }

    fn read(&mut self, text: &'a str) {
        let mut rest = text;
        while let Some(start) = rest.find(|c| !is_separator(c)).filter(|_| self.found.len() <= FOUND_MAX) {
            let gap = &rest[..start];
            if !gap.chars().all(|c| c.is_whitespace() || c == ',') {
                self.end_run();
            }
            let may_follow = self.has_just_found && gap.contains(['(', '[']);
            rest = &rest[start..];
            let (word, after) = rest.split_at(rest.find(is_separator).unwrap_or(rest.len()));
            // An equals sign before the end of a word of base64, and before a value.
            let npadding = after.len() - after.trim_start_matches('=').len();
            let is_padded = matches!(npadding, 1 | 2) && after[npadding..].chars().next().is_none_or(is_separator);
            rest = after;
            let bare = word.trim_start_matches(['\\', '*', '#', '$', '~']).trim_end_matches(['.', ':', '!', '?', '*']);
            if !bare.contains(|c: char| c.is_alphanumeric()) {
                continue;
            }
            if let Some(digits) = hex_of(bare) {
                self.run.push(digits);
                continue;
            }
            let is_group = |run: &[String]| run.len() > 1 && run[0].len() == bare.len() && is_damaged_group(bare);
            if is_group(&self.run) {
                let ndigits = self.run.iter().map(String::len).sum();
                self.problem = self.problem.take().or_else(|| first_wrong(bare, ndigits));
            }
            self.end_run();
            self.damaged = Some(bare).filter(|bare| is_damaged_group(bare));
            let is_next = std::mem::take(&mut self.has_just_found) && may_follow;
            // `sha256:<hex>`, `image@sha256:<hex>`, `<name>:<hex>`, but also the drive `C:`.
            let parts: Vec<&str> = bare.split([':', '@']).collect();
            let nhead = parts.iter().rposition(|part| hex_of(part).is_none()).map_or(0, |last| last + 1);
            for part in &parts[..nhead] {
                if let Some(digits) = hex_of(part).filter(|digits| digits.len() > WORD_NDIGITS) {
                    self.run.push(digits);
                    self.end_run();
                    continue;
                }
                let (sum, behind) = match sum_of(part) {
                    Some(sum) => (Some(sum), rest),
                    None => two_words(part, rest).unwrap_or((None, rest)),
                };
                match sum {
                    Some(sum) if is_next && self.is_of(sum) => {}
                    Some(sum) => {
                        self.named.retain(|other| *other != sum);
                        self.named.push(sum);
                        rest = self.after_name(behind);
                        self.since = if nhead < parts.len() { word } else { rest };
                    }
                    None => self.word(part, is_padded),
                }
            }
            let tail: String = parts[nhead..].iter().filter_map(|part| hex_of(part)).collect();
            if !tail.is_empty() {
                self.run.push(tail);
            }
        }
        self.end_run();
    }

    /// Skips the name of a file that stands between an algorithm and its digest: BSD's tags and certutil.
    fn after_name(&mut self, rest: &'a str) -> &'a str {
        let begin = rest.trim_start_matches(' ');
        if !begin.starts_with(['(', 'h', 'H']) {
            return rest;
        }
        // Of a hostile text no part is looked at again and again.
        let near = rest.char_indices().nth(NAME_MAX).map_or(rest, |(end, _)| &rest[..end]);
        let line = near.lines().next().unwrap_or_default();
        if line.trim_start().to_ascii_lowercase().starts_with("hash of ") {
            return &rest[line.len()..];
        }
        let ends = line.match_indices(')').map(|(at, _)| at);
        let end = ends.rev().find(|at| line[at + 1..].trim_start().starts_with('='));
        match end.filter(|_| line.trim_start().starts_with('(')) {
            Some(end) => {
                let name = &line[line.find('(').unwrap_or(end)..end];
                self.is_of_several |= self.file.is_some_and(|file| file != name);
                self.file = Some(name);
                &rest[end + 1..]
            }
            None => rest,
        }
    }

    /// Takes the algorithm for the digest before it, if the digest may be of that one.
    fn is_of(&mut self, sum: Sum) -> bool {
        let Some(found) = self.found.last_mut().filter(|found| !found.is_told) else { return false };
        let Some(&own) = found.digests.iter().find(|(algorithm, _)| Sum::Digest(*algorithm) == sum) else {
            return false;
        };
        (found.digests, found.is_told) = (vec![own], true);
        true
    }

    /// A word that is neither hexadecimal nor a name.
    fn word(&mut self, word: &str, is_padded: bool) {
        let mut wrong = None;
        for (at, _) in word.match_indices('-').take_while(|(at, _)| *at < WORD_NDIGITS) {
            let Some(sum @ Sum::Digest(algorithm)) = sum_of(&word[..at]) else { continue };
            let rest = word[at + 1..].split('?').next().unwrap_or_default();
            let hex = hex_of(rest).and_then(|digits| digest(algorithm, digits.as_bytes()));
            if let Some(hash) = base64(algorithm, rest).or(hex) {
                let is_sri = hex.is_none();
                return self.found.push(Found {
                    digests: vec![(algorithm, hash)],
                    crcs: Vec::new(),
                    is_told: true,
                    is_sri,
                });
            }
            // A digest of another length is no name of a file.
            let is_other = is_padded || Algorithm::ALL.iter().any(|&other| base64(other, rest).is_some());
            wrong = wrong.or_else(|| is_other.then_some(BadDigest::NoDigest { of: Some(name(sum)) }));
        }
        if wrong.is_none() && is_padded {
            return self.base64(word);
        }
        let damaged = wrong_digit(word).filter(|_| word.chars().all(char::is_alphanumeric));
        self.problem = self.problem.take().or(wrong).or(damaged);
    }

    /// A digest in base64, of a named algorithm or of any with digests of this length.
    fn base64(&mut self, word: &str) {
        let named = |algorithm: &Algorithm| self.named.contains(&Sum::Digest(*algorithm));
        let is_told = !self.named.is_empty();
        let of = |nbytes: usize| all_of(2 * nbytes).filter(|algorithm| !is_told || named(algorithm));
        let letters = word.trim_end_matches('=');
        let digests: Vec<_> =
            of(letters.len() * 6 / 8).filter_map(|algorithm| Some((algorithm, base64(algorithm, letters)?))).collect();
        if !digests.is_empty() {
            self.named.retain(|sum| !digests.iter().any(|(algorithm, _)| Sum::Digest(*algorithm) == *sum));
            self.found.push(Found { digests, crcs: Vec::new(), is_told, is_sri: false });
        } else if is_told && Algorithm::ALL.iter().any(|&other| base64(other, letters).is_some()) {
            let of = self.named.last().map(|&sum| name(sum));
            self.problem.get_or_insert(BadDigest::NoDigest { of });
        }
    }

    /// Ends the hexadecimal words that may be groups of one digest.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let damaged = self.damaged.take();
        if let Some(word) = damaged.filter(|word| run.len() > 1 && run[0].len() == word.len()) {
            self.problem = self.problem.take().or_else(|| first_wrong(word, 0));
        }
        if run.is_empty() {
            return;
        }
        let is_told = !self.named.is_empty();
        let fits = |ndigits_of: usize| {
            let is_named = self.named.iter().any(|&sum| ndigits(sum) == ndigits_of);
            if is_told { is_named } else { all_of(ndigits_of).next().is_some() }
        };
        let total: usize = run.iter().map(String::len).sum();
        let are_whole = run.iter().all(|word| fits(word.len()));
        let (whole, others): (Vec<&String>, Vec<&String>) = run.iter().partition(|word| fits(word.len()));
        let are_words = || others.iter().all(|word| word.len() < WORD_NDIGITS);
        let digests = if fits(total) && (is_told || !are_whole) {
            vec![run.concat()]
        } else if !whole.is_empty() && are_words() {
            whole.into_iter().cloned().collect()
        } else {
            let longest = run.iter().map(String::len).max().unwrap_or_default();
            let is_one = run.iter().filter(|word| word.len() >= WORD_NDIGITS).count() == 1;
            return self.suspect(if is_one { longest } else { total });
        };
        let named = std::mem::take(&mut self.named);
        for digits in &digests {
            let (mut own, mut crcs) = (Vec::new(), Vec::new());
            if is_told {
                for &sum in named.iter().filter(|&&sum| ndigits(sum) == digits.len()) {
                    match sum {
                        Sum::Digest(algorithm) => own.push(algorithm),
                        Sum::Crc(crc) => crcs.extend(u64::from_str_radix(digits, 16).map(|value| (crc, value))),
                    }
                }
            } else {
                own.extend(all_of(digits.len()));
            }
            let of = |algorithm| Some((algorithm, digest(algorithm, digits.as_bytes())?));
            let digests = own.into_iter().filter_map(of).collect();
            self.found.push(Found { digests, crcs, is_told, is_sri: false });
        }
        let is_left = |sum: &Sum| digests.iter().all(|digits| ndigits(*sum) != digits.len());
        self.named = named.into_iter().filter(is_left).collect();
        self.has_just_found = true;
    }

    /// Notes digits that are too few or too many.
    fn suspect(&mut self, ndigits_found: usize) {
        let away = |ndigits: &usize| ndigits.abs_diff(ndigits_found);
        let near = match self.named.last() {
            Some(&sum) => Some((name(sum), ndigits(sum))),
            None => {
                let lengths = Algorithm::ALL.iter().map(|algorithm| 2 * algorithm.digest_nbytes());
                let near = lengths.min_by_key(away).filter(|ndigits| away(ndigits) <= 4);
                near.and_then(|ndigits| Some((tag(all_of(ndigits).next()?), ndigits)))
            }
        };
        let problem = BadDigest::Length { ndigits: ndigits_found, near };
        if near.is_some() && ndigits_found >= WORD_NDIGITS {
            self.problem.get_or_insert(problem);
        } else if self.suspected.as_ref().is_none_or(|(longest, _)| *longest < ndigits_found) {
            self.suspected = Some((ndigits_found, problem));
        }
    }

    fn finish(mut self) -> Result<Entry<'static>, BadDigest> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        if self.found.is_empty() {
            let bare: String = self.since.chars().filter(|c| !c.is_whitespace() && !"\"'`<>:".contains(*c)).collect();
            let digits = bare.replace(['-', '.'], "");
            if let Some(problem) = wrong_digit(digits.strip_prefix("0x").unwrap_or(&digits)) {
                return Err(problem);
            }
            // Base64 without its padding, or on several lines.
            self.base64(&bare);
        }
        if self.found.is_empty() {
            let of = self.named.last().map(|&sum| name(sum));
            return Err(self.suspected.map_or(BadDigest::NoDigest { of }, |(_, problem)| problem));
        }
        let mut entry = Entry { is_any: true, ..Entry::new(Vec::new(), true, b""[..].into()) };
        if self.found.len() > FOUND_MAX {
            return Err(BadDigest::Several);
        }
        if self.found.iter().all(|found| found.is_sri) {
            // Subresource Integrity, "get the strongest metadata".
            let length = |found: &Found| found.value().0.map(<[u8]>::len);
            let most = self.found.iter().map(length).max();
            let strongest = self.found.into_iter().filter(|found| Some(length(found)) == most);
            entry.digests.extend(strongest.flat_map(|found| found.digests));
            return Ok(entry);
        }
        // A page may show a digest twice. The one whose algorithm is told counts.
        let mut all: Vec<Found> = Vec::new();
        for found in self.found {
            match all.iter_mut().find(|other| other.value() == found.value()) {
                Some(other) if found.is_told && !other.is_told => *other = found,
                Some(other) if !found.is_told || other.digests == found.digests && other.crcs == found.crcs => {}
                _ => all.push(found),
            }
        }
        if let [_, _, ..] = all[..] {
            entry.is_any = false;
            let sums = |found: &Found| {
                let digests = found.digests.iter().map(|(algorithm, _)| Sum::Digest(*algorithm));
                digests.chain(found.crcs.iter().map(|(crc, _)| Sum::Crc(*crc))).collect::<Vec<_>>()
            };
            let named: Vec<_> = all.iter().flat_map(sums).collect();
            let is_new = |(i, sum): (usize, &Sum)| !named[..i].contains(sum);
            let are_told = all.iter().all(|found| found.is_told) && named.len() == all.len();
            if !are_told || self.is_of_several || !named.iter().enumerate().all(is_new) {
                return Err(BadDigest::Several);
            }
        }
        for found in all {
            entry.is_tagged &= found.is_told;
            entry.digests.extend(found.digests);
            entry.crcs.extend(found.crcs);
        }
        Ok(entry)
    }
}

/// A name of two words, such as `SHA 256`, and the text behind it.
fn two_words<'a>(first: &str, rest: &'a str) -> Option<(Option<Sum>, &'a str)> {
    const FIRST: [&str; 6] = ["sha", "sha2", "sha3", "sha-2", "sha-3", "crc"];
    let next = rest.strip_prefix(' ')?;
    let ndigits = next.find(|c: char| !(c.is_ascii_digit() || c == '/')).unwrap_or(next.len());
    let (second, behind) = next.split_at(ndigits);
    let is_end = behind.chars().next().is_none_or(|c| is_separator(c) || c == ':');
    let is_first = FIRST.contains(&&first.to_ascii_lowercase()[..]);
    let sum = sum_of(&format!("{first}-{second}")).filter(|_| is_first && is_end)?;
    Some((Some(sum), behind))
}
