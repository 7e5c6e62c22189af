// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of a manifest as JSON.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use hashloom::{Algorithm, Hash};
use hashloom_files::text::{Hex, from_hex};
use serde::{Deserialize, Serialize};

use hashloom_files::json::write_json;
use hashloom_files::walk::Filter;

use crate::{Entry, Kind, LINE_MAX_NBYTES, Problem, Reason, Totals};

/// JSON of `manifest write`: the first line of a manifest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// `hashloom manifest`.
    format: String,
    /// 1.
    version: u64,
    /// The algorithms: at least one, none twice.
    #[serde(default)]
    algorithms: Vec<String>,
    /// The globs of `--include`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    include: Vec<String>,
    /// The globs of `--exclude`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exclude: Vec<String>,
    /// The least length of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_size: Option<u64>,
    /// The greatest length of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_size: Option<u64>,
}

impl Header {
    /// Appends the line, without a line feed.
    pub(super) fn write(into: &mut Vec<u8>, (format, version): (&str, u64), algorithms: &[Algorithm], filter: &Filter) {
        let nbytes = filter.wanted_lengths();
        let header = Header {
            format: format.to_owned(),
            version,
            algorithms: algorithms.iter().map(Algorithm::to_string).collect(),
            include: filter.included().to_vec(),
            exclude: filter.excluded().to_vec(),
            min_size: Some(*nbytes.start()).filter(|&least| least > 0),
            max_size: Some(*nbytes.end()).filter(|&most| most < u64::MAX),
        };
        json(into, &header);
    }

    pub(super) fn read(line: &[u8], format: &str, version: u64) -> Result<(Vec<Algorithm>, Filter), Problem> {
        let header: Header = serde_json::from_slice(line).map_err(|_| Problem::NotAManifest)?;
        if header.format != format {
            return Err(Problem::NotAManifest);
        }
        if header.version != version {
            return Err(Problem::Version(header.version));
        }
        let algorithms = header.algorithms.iter().map(|name| name.parse());
        let algorithms: Vec<Algorithm> = algorithms.collect::<Result<_, _>>().map_err(Problem::Algorithm)?;
        check_algorithms(&algorithms)?;
        let filter = Filter::new(&header.include, &header.exclude);
        let nbytes = header.min_size.unwrap_or(0)..=header.max_size.unwrap_or(u64::MAX);
        let filter = filter.and_then(|filter| filter.lengths(nbytes)).map_err(Problem::Filter)?;
        Ok((algorithms, filter))
    }
}

/// Checks that there is at least one algorithm, and none twice.
pub(super) fn check_algorithms(algorithms: &[Algorithm]) -> Result<(), Problem> {
    let is_twice = |(index, algorithm)| algorithms[..index].contains(algorithm);
    if algorithms.is_empty() || algorithms.iter().enumerate().any(is_twice) { Err(Problem::Algorithms) } else { Ok(()) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    #[default]
    File,
    Link,
    Folder,
    Unread,
    End,
}

/// The hexadecimal digits of a digest. Of `Option<Cow<str>>` serde would make a copy.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Digits<'a>(#[serde(borrow)] Cow<'a, str>);

impl From<&Hash> for Digits<'_> {
    fn from(digest: &Hash) -> Self {
        Digits(Cow::Owned(digest.to_string()))
    }
}

/// JSON of `manifest write`: any line except the first. The digests of a file, and in the last line that of all lines
/// before it with their line feeds, stand under the names of algorithms.
///
/// [`Line::only`] decides which keys a type may have. The keys of digests are fields of the structure, not of a map, as
/// a map would take an allocation for each of millions of lines.
macro_rules! line {
    (
        $($(#[$attribute:meta])* $key:ident: $value:ty),*;
        $($algorithm:ident: $field:ident = $name:literal,)*
    ) => {
        #[derive(Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Line<'a> {
            #[serde(rename = "type")]
            kind: Type,
            $(
                #[serde(skip_serializing_if = "Option::is_none", default)]
                $(#[$attribute])*
                $key: Option<$value>,
            )*
            $(
                #[serde(skip_serializing_if = "Option::is_none", default, borrow, rename = $name)]
                $field: Option<Digits<'a>>,
            )*
        }

        impl<'a> Line<'a> {
            fn digest(&mut self, algorithm: Algorithm) -> &mut Option<Digits<'a>> {
                match algorithm {
                    $(Algorithm::$algorithm => &mut self.$field,)*
                    _ => unreachable!("no key for {algorithm}"),
                }
            }

            /// An error if there is a key that has not been taken.
            fn only(self) -> Result<(), Problem> {
                $(
                    if self.$field.is_some() {
                        return Err(Problem::Key($name));
                    }
                )*
                $(
                    if self.$key.is_some() {
                        return Err(Problem::Key(stringify!($key)));
                    }
                )*
                Ok(())
            }
        }
    };
}

line! {
    /// The path, relative to the folder, with `/`.
    #[serde(borrow)]
    path: Cow<'a, str>,
    /// Its bytes in hexadecimal, if they are not UTF-8.
    path_hex: String,
    /// Bytes of a file.
    length: u64,
    /// Modification time of a file, nanoseconds since 1970, UTC: more than 64 bits after 2554.
    mtime_ns: i128,
    /// Target of a link.
    target: Cow<'a, str>,
    /// Its bytes in hexadecimal, if they are not UTF-8.
    target_hex: String,
    /// Why the entry could not be read.
    reason: Reason,
    /// Last line: number of files.
    files: u64,
    /// Last line: number of links.
    links: u64,
    /// Last line: number of folders.
    folders: u64,
    /// Last line: number of entries that could not be read.
    unread: u64,
    /// Last line: length of all files.
    bytes: u64;
    // algorithms.py: rust_line_keys
    Sha1: sha1 = "sha1",
    Sha224: sha224 = "sha224",
    Sha256: sha256 = "sha256",
    Sha384: sha384 = "sha384",
    Sha512: sha512 = "sha512",
    Sha512_224: sha512_224 = "sha512-224",
    Sha512_256: sha512_256 = "sha512-256",
    Ripemd160: ripemd160 = "ripemd160",
    Md5: md5 = "md5",
    Sha3_224: sha3_224 = "sha3-224",
    Sha3_256: sha3_256 = "sha3-256",
    Sha3_384: sha3_384 = "sha3-384",
    Sha3_512: sha3_512 = "sha3-512",
    Keccak256: keccak_256 = "keccak-256",
    Shake128: shake128 = "shake128",
    Shake256: shake256 = "shake256",
    Sm3: sm3 = "sm3",
    Blake2b: blake2b = "blake2b",
    Blake2b256: blake2b_256 = "blake2b-256",
    Blake2s: blake2s = "blake2s",
    Blake3: blake3 = "blake3",
    // algorithms.py: end
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Line<'a>, Problem> {
        serde_json::from_slice(line).map_err(|error| Problem::Json(format!("expected a JSON object: {error}")))
    }

    /// The line of an entry of a manifest. The entry's digests must fit the algorithms.
    pub(super) fn of(entry: &'a Entry, algorithms: &[Algorithm]) -> Result<Line<'a>, Problem> {
        let (path, path_hex) = text(&entry.path);
        let mut line = Line { path, path_hex, ..Line::default() };
        line.kind = match &entry.kind {
            Kind::File { nbytes, mtime_ns, digests } => {
                line.read(*nbytes, *mtime_ns, digests, algorithms)?;
                Type::File
            }
            Kind::Link { target } => {
                (line.target, line.target_hex) = text(target);
                Type::Link
            }
            Kind::Folder => Type::Folder,
            Kind::Unread(reason) => {
                line.reason = Some(*reason);
                Type::Unread
            }
        };
        Ok(line)
    }

    /// Adds what is known of a file that was read.
    fn read(&mut self, nbytes: u64, mtime_ns: i128, digests: &[Hash], algorithms: &[Algorithm]) -> Result<(), Problem> {
        (self.length, self.mtime_ns) = (Some(nbytes), Some(mtime_ns));
        for (index, &algorithm) in algorithms.iter().enumerate() {
            let fits = |digest: &&Hash| digest.as_ref().len() == algorithm.digest_nbytes();
            let digest = digests.get(index).filter(fits).ok_or(Problem::Digests(algorithm))?;
            *self.digest(algorithm) = Some(digest.into());
        }
        Ok(())
    }

    /// The line of an entry whose file may not have been read.
    pub(super) fn of_any(entry: &'a Entry, algorithms: &[Algorithm]) -> Result<Line<'a>, Problem> {
        let is_unread = matches!(&entry.kind, Kind::File { digests, .. } if digests.is_empty());
        Line::of(entry, if is_unread { &[] } else { algorithms })
    }

    /// The last line.
    pub(super) fn end(totals: &Totals, lines: &Hash) -> Line<'a> {
        Line {
            kind: Type::End,
            files: Some(totals.nfiles),
            links: Some(totals.nlinks),
            folders: Some(totals.nfolders),
            unread: Some(totals.nunread),
            bytes: Some(totals.nbytes),
            sha256: Some(lines.into()),
            ..Line::default()
        }
    }

    /// Appends the line, without a line feed.
    pub(super) fn write(&self, into: &mut Vec<u8>) {
        json(into, self);
    }

    pub(super) fn is_end(&self) -> bool {
        self.kind == Type::End
    }

    /// The totals and digest of the last line.
    pub(super) fn into_end(mut self) -> Result<(Totals, Hash), Problem> {
        let totals = Totals {
            nfiles: taken(&mut self.files, "files")?,
            nlinks: taken(&mut self.links, "links")?,
            nfolders: taken(&mut self.folders, "folders")?,
            nunread: taken(&mut self.unread, "unread")?,
            nbytes: taken(&mut self.bytes, "bytes")?,
        };
        let lines = self.take_digest(Algorithm::Sha256)?;
        self.only()?;
        Ok((totals, lines))
    }

    pub(super) fn into_entry(mut self, algorithms: &[Algorithm]) -> Result<Entry, Problem> {
        let path = bytes(&mut self.path, &mut self.path_hex, "path", "path_hex")?;
        let kind = match self.kind {
            Type::File => {
                let nbytes = taken(&mut self.length, "length")?;
                let mtime_ns = taken(&mut self.mtime_ns, "mtime_ns")?;
                let digests = algorithms.iter().map(|&algorithm| self.take_digest(algorithm));
                Kind::File { nbytes, mtime_ns, digests: digests.collect::<Result<_, _>>()? }
            }
            Type::Link => {
                let target = bytes(&mut self.target, &mut self.target_hex, "target", "target_hex")?;
                Kind::Link { target }
            }
            Type::Folder => Kind::Folder,
            Type::Unread => Kind::Unread(taken(&mut self.reason, "reason")?),
            Type::End => return Err(Problem::Key("type")),
        };
        self.only()?;
        Ok(Entry { path, kind })
    }

    fn take_digest(&mut self, algorithm: Algorithm) -> Result<Hash, Problem> {
        let is_lower = |digits: &Digits<'_>| !digits.0.bytes().any(|digit| digit.is_ascii_uppercase());
        let digest = self.digest(algorithm).take().filter(is_lower).and_then(|digits| digits.0.parse().ok());
        let fits = |digest: &Hash| digest.as_ref().len() == algorithm.digest_nbytes();
        digest.filter(fits).ok_or(Problem::Digests(algorithm))
    }
}

/// Reads a line into `line`, without its line feed. `None` at the end; a last line without a line feed was cut off.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Option<()>, Problem> {
    line.clear();
    // Two more bytes: the line feed, and one byte that tells that the line is too long.
    let nbytes = input.take(LINE_MAX_NBYTES as u64 + 2).read_until(b'\n', line).map_err(Problem::Io)?;
    if nbytes == 0 {
        return Ok(None);
    }
    match line.pop() {
        Some(b'\n') if line.len() <= LINE_MAX_NBYTES => Ok(Some(())),
        _ if line.len() > LINE_MAX_NBYTES => Err(Problem::TooLong),
        _ => Err(Problem::Cut),
    }
}

fn json(into: &mut Vec<u8>, value: &impl Serialize) {
    // Writing numbers and strings can fail only for lack of memory.
    write_json(into, value).expect("strings and numbers can be written");
}

fn taken<T>(value: &mut Option<T>, key: &'static str) -> Result<T, Problem> {
    value.take().ok_or(Problem::Key(key))
}

/// Bytes as text, and in hexadecimal too if they are not UTF-8.
fn text(bytes: &[u8]) -> (Option<Cow<'_, str>>, Option<String>) {
    let text = String::from_utf8_lossy(bytes);
    let hex = match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(_) => Some(Hex(bytes).to_string()),
    };
    (Some(text), hex)
}

/// The reverse of `text`. The text and the hexadecimal digits must agree.
fn bytes(
    text: &mut Option<Cow<'_, str>>,
    hex: &mut Option<String>,
    key: &'static str,
    key_hex: &'static str,
) -> Result<Vec<u8>, Problem> {
    let text = taken(text, key)?;
    let Some(digits) = hex.take() else { return Ok(text.into_owned().into_bytes()) };
    let bytes = from_hex(&digits).ok_or(Problem::Key(key_hex))?;
    match String::from_utf8_lossy(&bytes) {
        Cow::Owned(shown) if shown == text => Ok(bytes),
        _ => Err(Problem::Key(key_hex)),
    }
}

/// Adds the number of the line to an error.
pub(super) fn at(line: u64) -> impl Fn(Problem) -> crate::Error {
    move |problem| crate::Error { line, problem }
}
