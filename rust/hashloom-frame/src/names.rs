// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of algorithms and files on the command line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use hashloom::Algorithm;
use hashloom_files::paths::portable;

/// Reads the name of an algorithm for which the function returns true, also the name in its standard (`SHA-512/256`)
/// and those in lists (`RMD160`, `SHA2-256`). The case of the letters and the signs between letters and digits do not
/// matter.
#[derive(Debug, Clone, Copy)]
pub struct Name(pub fn(Algorithm) -> bool);

/// Reads the name of any algorithm.
pub const ANY: Name = Name(|_| true);

/// Returns true for the name of an algorithm, as [`ANY`] reads it, or of a program such as sha256sum.
pub fn is_any(name: &str) -> bool {
    let name = OsStr::new(name.strip_suffix("sum").unwrap_or(name));
    ANY.parse_ref(&Command::new("hashloom"), None, name).is_ok()
}

/// Appends to a file name: `FILE.partial` of `FILE`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The last part of a path, in the form of lists; empty if the path has none.
pub fn of_path(path: &Path) -> Vec<u8> {
    path.file_name().map_or(vec![], |name| portable(Path::new(name)).into_owned())
}

/// The parts of a name before each full stop, hyphen and underscore, and what follows: `film.iso` and `.sha256`.
pub fn stems(name: &[u8]) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
    let is_mark = |(_, byte): &(usize, &u8)| b".-_".contains(byte);
    name.iter().enumerate().filter(is_mark).map(|(at, _)| name.split_at(at))
}

/// Endings of names of texts, which say nothing about the text.
pub const TEXTS: &[&str] = &["asc", "csv", "json", "list", "lst", "txt", "xml"];

/// Returns true for the name of a file that is a list of checksums by its name: `SHA256SUMS`, `film.iso.sha256.txt`,
/// `Fedora-42-CHECKSUM`, `film.iso-MD5`, `a.dsc`. The algorithm need not be one that this program has.
pub fn is_list(name: &[u8]) -> bool {
    /// Algorithms that this program lacks, families of algorithms, and words for checksums.
    const WORDS: &str = "adler32 aich b2 b3 blake2 checksum checksums chksum cksum crc crc32 crc32c crc64 \
        digest digests ed2k gost hash hashes k12 md2 md4 ripemd rmd sfv sha sha2 sha3 shake skein streebog sum sums \
        tiger tth whirlpool xxh xxh3 xxh32 xxh64 xxh128";
    /// What the names of programs' lists begin with: `SHASUMS256`, `md5sums`.
    const BEFORE_SUMS: &[&str] = &["b2", "b3", "blake", "check", "ck", "crc", "hash", "md", "rmd", "sha", "xxh"];
    /// Further endings behind the name of a list: signed, compressed, on a page.
    const BEHIND: &[&str] = &["gpg", "gz", "html", "sig", "sign", "zst"];
    /// Endings of lists, and names.
    const LISTS: &[&str] = &["buildinfo", "changes", "dsc", "manifest", "meta4", "metalink", "mtree"];
    const NAMES: &[&str] = &["distinfo", "inrelease", "manifest", "packages", "record", "release", "signature"];
    let written = String::from_utf8_lossy(name);
    let name = written.to_ascii_lowercase();
    let is_word = |word: &str| {
        let sums = BEFORE_SUMS.iter().any(|before| word.starts_with(before)) && word.contains("sum");
        sums || is_any(word) || WORDS.split_ascii_whitespace().any(|other| other == word)
    };
    let mut words = name.split(['.', '-', '_', ' ', '(', ')']).filter(|word| !word.is_empty());
    let last = words.clone().next_back().unwrap_or_default();
    let (_, end) = name.rsplit_once('.').unwrap_or_default();
    let is_text = end.is_empty() || TEXTS.contains(&end) || BEHIND.contains(&end);
    // Of one word are programs too: sha256sum, md5.
    let is_one = last == name && !written.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_plural = ["sums", "checksum", "digests", "hashes"].iter().any(|word| name.contains(word));
    (is_word(last) || is_text && words.any(is_word)) && (!is_one || is_plural)
        || LISTS.contains(&end)
        || NAMES.contains(&&name[..])
}

impl Name {
    fn all(self) -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL.iter().copied().filter(move |&algorithm| self.0(algorithm))
    }
}

/// Returns the letters and digits of a name, which are all that counts.
fn key(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '/' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

impl TypedValueParser for Name {
    type Value = Algorithm;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Algorithm, clap::Error> {
        let wanted = value.to_str().map(key);
        let is_named = |algorithm: &Algorithm| {
            let names = [algorithm.name(), algorithm.title()].into_iter().chain(algorithm.tags().iter().copied());
            names.map(key).any(|name| Some(name) == wanted)
        };
        if let Some(found) = self.all().find(is_named) {
            return Ok(found);
        }
        let names = PossibleValuesParser::new(self.all().map(|algorithm| algorithm.name()));
        let name = names.parse_ref(command, arg, value)?;
        name.parse().map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.all().map(|algorithm| PossibleValue::new(algorithm.name()))))
    }
}

/// The algorithm of this name.
pub fn algorithm(name: impl AsRef<OsStr>) -> Option<Algorithm> {
    ANY.parse_ref(&Command::new("hashloom"), None, name.as_ref()).ok()
}

/// Accepts the empty name too: it is a file that cannot be opened, but clap would call it misuse.
pub fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_standards_and_other_programs() {
        let command = Command::new("test");
        let parse = |name: &str| ANY.parse_ref(&command, None, OsStr::new(name)).ok();
        for &algorithm in Algorithm::ALL {
            assert_eq!(parse(algorithm.name()), Some(algorithm));
            assert_eq!(parse(&algorithm.name().to_uppercase()), Some(algorithm));
        }
        let cases = [
            ("SHA-1", Algorithm::Sha1),
            ("SHA-512/256", Algorithm::Sha512_256),
            ("SHA512/224", Algorithm::Sha512_224),
            ("sha512_224", Algorithm::Sha512_224),
            ("RMD160", Algorithm::Ripemd160),
            ("RIPEMD-160", Algorithm::Ripemd160),
            ("SHA2-256", Algorithm::Sha256),
            ("SHA3-256", Algorithm::Sha3_256),
            ("sha3_256", Algorithm::Sha3_256),
            ("SHA-3-256", Algorithm::Sha3_256),
            ("SHAKE-128", Algorithm::Shake128),
        ];
        for (name, algorithm) in cases {
            assert_eq!(parse(name), Some(algorithm), "{name}");
        }
        for name in ["", "sha", "sha2", "sha-3", "sha256 ", "sha 256"] {
            assert_eq!(parse(name), None, "{name}");
        }
        let some = Name(|algorithm| algorithm != Algorithm::Sha3_256);
        assert!(some.parse_ref(&command, None, OsStr::new("sha256")).is_ok());
        assert!(some.parse_ref(&command, None, OsStr::new("sha3-256")).is_err());
    }
}
