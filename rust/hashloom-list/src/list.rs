// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of checksums, as `sha256sum` and the BSD programs print them and `sha256sum --check` reads them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use data_encoding::BASE64_NOPAD;
use hashloom::{Algorithm, Hash};

mod digest;
mod encoding;
mod forms;
mod layout;
mod mtree;
mod unread;
mod write;
mod writer;
mod xml;

pub use digest::{BadDigest, read_digest};
pub use encoding::{Encoding, decoded};
pub use forms::{FORMS, Form, nearest};
pub use write::Written;
pub use writer::{Writer, escaped};

use forms::Sum;
use layout::{Columns, Layout};
use unread::digest_words;

/// Reads the lines of lists.
///
/// All [`FORMS`] are read, unless the parser is one for [only](Parser::only) one algorithm, or for those of
/// [cksum](Parser::cksum), which also reads base64.
///
/// No line is read in two ways. A form whose lines need those above them, such as hashdeep's columns, holds from its
/// first line to the end of the list. If the first line without a tag can be read with the digest first, all lines of
/// the list are read so, and otherwise with the digest last. A line that begins with 32 hexadecimal digits or more has
/// the digest first. If one space follows the first of them, and then a number and a name, all lines have a length
/// there. Base64 of hexadecimal digits alone is hexadecimal. Lines end with NUL in place of a line feed if [`decoded`]
/// has found one. They have no escapes then, and a carriage return is part of the name.
///
/// A line that names a digest, but cannot be read, is [`Line::Unread`]: a list that has one is not verified as a whole.
/// The same holds for any line of a form that has no other text.
///
/// Blank lines and lines that begin with `#` are ignored. A carriage return at the end of a line is dropped, with
/// blanks before it unless the rules are coreutils', spaces and tabs at its start are skipped, digits may have any
/// case. These are the rules of GNU coreutils 9.1, down to the corner cases: a list never mixes the formats with one
/// space and with two, so that nobody gains from renaming a file to ` name`. A parser remembers which of them came
/// first.
///
/// ```
/// use hashloom::Algorithm::{Md5, Sha1, Sha256};
/// use hashloom_list::{Line, Parser};
///
/// let mut parser = Parser::new();
/// match parser.parse(b"SHA1 (abc) = A9993E364706816ABA3E25717850C26C9CD0D89D") {
///     Line::Entry(entry) => {
///         assert_eq!(entry.digests, [(Sha1, hashloom::hash(Sha1, b"abc"))]);
///         assert_eq!(*entry.name, *b"abc");
///     }
///     other => panic!("{other:?}"),
/// }
/// assert_eq!(parser.form().unwrap().name, "bsd");
/// assert!(matches!(parser.parse(b"# a comment"), Line::Blank));
/// assert!(matches!(parser.parse(b"no checksum"), Line::Bad(_)));
///
/// let mut parser = Parser::only(Sha256);
/// assert!(matches!(parser.parse(b"MD5 (a) = 0cc175b9c0f1b6a831c399e269772661"), Line::Unread(_)));
/// let line = b"SHA1 (abc) = qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
/// assert!(matches!(Parser::cksum(&[Md5, Sha1], &[]).parse(line), Line::Entry(_)));
/// let mut parser = Parser::new();
/// parser.begin_named(b'\n', b"/tmp/a.txt.sha1");
/// let Line::Entry(entry) = parser.parse(b"a9993e364706816aba3e25717850c26c9cd0d89d") else { panic!() };
/// assert_eq!((&*entry.name, parser.named()), (&b"a.txt"[..], Some(Sha1)));
/// ```
#[derive(Debug, Clone)]
pub struct Parser {
    /// The algorithms for lines that do not name theirs.
    untagged: Vec<Algorithm>,
    /// The rules of a program of coreutils, if lines are to be read as it reads them.
    coreutils: Option<Coreutils>,
    /// Whether names follow after one space; `None` before the first line of either format.
    is_reversed: Option<bool>,
    /// Whether the algorithms of `untagged` are a guess, which the name of a list may better.
    guesses: bool,
    /// The byte that ends lines.
    end: u8,
    encoding: Option<Encoding>,
    list: Box<List>,
}

/// The state of the present list.
#[derive(Debug, Clone, Default)]
struct List {
    /// Whether digests follow names; `None` before the first line without a tag.
    is_digest_last: Option<bool>,
    layout: Layout,
    signed: Signed,
    /// The algorithm of the list's name, or all of its family.
    named: Vec<Algorithm>,
    /// The file beside the list that the list is named after.
    beside: Option<Vec<u8>>,
    /// Whether names have the escapes of bags.
    is_bag: bool,
    /// Whether it is one of CRCs, after names.
    is_sfv: bool,
    /// Whether its name says so.
    is_called_sfv: bool,
    is_of_pacman: bool,
    /// The form of the last entry.
    form: Option<&'static Form>,
    /// Whether a line that is no entry is unread: the form has no other text.
    is_strict: bool,
    nbad: u64,
    /// Whether a line had a checksum, read or not.
    has_any: bool,
    has_digest: bool,
    has_crc: bool,
    /// Whether a digest counts as MD5 by its length alone, though other algorithms were asked for.
    has_md5: bool,
    lengths: Lengths,
    /// Results of earlier lines.
    more: Vec<Line<'static>>,
    /// The parts of a line that goes on.
    joined: Vec<u8>,
}

/// The place in a list that has a text that OpenPGP has signed in the clear (RFC 9580 section 7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Signed {
    /// No such text is known.
    #[default]
    No,
    Above,
    Headers,
    Text,
    Signature,
    /// Below the first text that is signed; any other is another's.
    Below,
}

/// The files of lines with one digest or a length, by hashes of their names that nobody can foresee.
#[derive(Debug, Clone, Default)]
struct Lengths {
    state: RandomState,
    /// Files that have a digest.
    digested: HashSet<u64>,
    /// Files that have only a length so far, and their names.
    bare: HashMap<u64, String>,
}

impl Lengths {
    /// Notes a line. An error if too many files have a length only.
    fn note(&mut self, entry: &Entry<'_>) -> Result<(), BadLine> {
        /// A length that comes after as many others is not checked.
        const FILES_MAX: usize = 1 << 16;
        let key = self.state.hash_one(&entry.name);
        if !entry.digests.is_empty() || !entry.crcs.is_empty() {
            self.bare.remove(&key);
            if self.digested.len() < FILES_MAX {
                self.digested.insert(key);
            }
        } else if !self.digested.contains(&key) {
            let name = unread::shown_name(&entry.name);
            if self.bare.len() >= FILES_MAX {
                return Err(BadLine::OnlyLength { name });
            }
            self.bare.insert(key, name);
        }
        Ok(())
    }
}

/// The lists that a program of coreutils reads.
#[derive(Debug, Clone)]
struct Coreutils {
    /// The algorithms that a tag may name, in coreutils' spelling.
    tagged: Vec<Algorithm>,
    /// Whether it is cksum, which also reads base64.
    is_cksum: bool,
    /// The algorithm that the last tag has named, whatever followed.
    last: Option<Algorithm>,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Line<'a> {
    /// Nothing: the line is empty or a comment.
    Blank,
    /// A checksum.
    Entry(Entry<'a>),
    /// The line names a digest that this parser cannot read, so that nobody verifies it.
    Unread(BadLine),
    /// The line is neither blank nor a checksum.
    Bad(BadLine),
}

impl Line<'_> {
    fn into_owned(self) -> Line<'static> {
        match self {
            Line::Entry(entry) => Line::Entry(Entry { name: entry.name.into_owned().into(), ..entry }),
            Line::Blank => Line::Blank,
            Line::Unread(why) => Line::Unread(why),
            Line::Bad(why) => Line::Bad(why),
        }
    }
}

/// The checksums of a file.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_list::{Entry, Line, Parser, Place};
///
/// let Line::Entry(entry) = Parser::new().parse(b"MD5 (a b) = 0cc175b9c0f1b6a831c399e269772661") else { panic!() };
/// assert_eq!((entry.digests[0].0, &*entry.name, entry.place), (Algorithm::Md5, &b"a b"[..], Place::Base));
/// assert_eq!(Entry::new(Vec::new(), false, b"a"[..].into()).nbytes, None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The file's digests. The algorithm is the one that the line names; otherwise the one with digests of this length.
    /// There are no digests if the line has only CRCs, or a length.
    pub digests: Vec<(Algorithm, Hash)>,
    /// Its cyclic redundancy checks, which find accidents only, not changes on purpose.
    pub crcs: Vec<(Crc, u64)>,
    /// Whether the line names its algorithms, by a tag or by columns.
    pub is_tagged: bool,
    /// Number of bytes of the file, if the line has it.
    pub nbytes: Option<u64>,
    /// Whether the file is right if one of its digests is, as for pip.
    pub is_any: bool,
    /// The file's name, unescaped.
    pub name: Cow<'a, [u8]>,
    /// The folder that the name is relative to.
    pub place: Place,
}

impl<'a> Entry<'a> {
    /// An entry that has these digests, and nothing else but a name.
    pub fn new(digests: Vec<(Algorithm, Hash)>, is_tagged: bool, name: Cow<'a, [u8]>) -> Entry<'a> {
        Entry { digests, crcs: Vec::new(), is_tagged, nbytes: None, is_any: false, name, place: Place::Base }
    }

    fn push(&mut self, sum: Sum, hex: &[u8]) -> Option<()> {
        match sum {
            Sum::Digest(algorithm) => self.digests.push((algorithm, digest(algorithm, hex)?)),
            Sum::Crc(Crc::Posix) => self.crcs.push((Crc::Posix, forms::number(hex).filter(|&crc| crc >> 32 == 0)?)),
            Sum::Crc(crc) => {
                let hex = Some(hex).filter(|hex| hex.len() == 2 * crc.nbytes() && hex_ndigits(hex) == hex.len())?;
                self.crcs.push((crc, u64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?));
            }
        }
        Some(())
    }
}

/// The folder that the name of an entry is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The folder of all lists, or of lists of this [form](Parser::nfolders_up).
    Base,
    /// The folder that the list is in.
    List,
    /// The folder or archive of this name, which has a set of files.
    Set(Vec<u8>),
}

/// A cyclic redundancy check.
///
/// ```
/// use hashloom_list::{Crc, Line, Parser};
///
/// let Line::Entry(entry) = Parser::new().parse(b"CRC32 (a) = 352441c2") else { panic!() };
/// assert_eq!((entry.digests.len(), &entry.crcs[..]), (0, &[(Crc::Crc32, 0x352441c2)][..]));
/// assert_eq!(Crc::Crc32.tag(), "CRC32");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Crc {
    /// CRC-32 of zip, gzip and SFV (ISO-HDLC).
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// CRC-64/NVME, as of objects of S3.
    Crc64Nvme,
    /// POSIX's `cksum`, in which the length follows the bytes.
    Posix,
}

impl Crc {
    /// All of them.
    pub const ALL: &'static [Crc] = &[Crc::Crc32, Crc::Crc32c, Crc::Crc64Nvme, Crc::Posix];

    /// The name in lists.
    pub const fn tag(self) -> &'static str {
        match self {
            Crc::Crc32 => "CRC32",
            Crc::Crc32c => "CRC32C",
            Crc::Crc64Nvme => "CRC64NVME",
            Crc::Posix => "cksum",
        }
    }

    const fn nbytes(self) -> usize {
        if matches!(self, Crc::Crc64Nvme) { 8 } else { 4 }
    }
}

/// Why a line is not a checksum, or cannot be read.
///
/// ```
/// use hashloom_list::{BadLine, Line, Parser};
///
/// let Line::Unread(bad) = Parser::new().parse(b"0123abcd  file") else { panic!() };
/// assert_eq!(bad, BadLine::Length { ndigits: 8 });
/// assert_eq!(bad.to_string(), "a digest of 8 hexadecimal digits, which no algorithm asked for has");
/// let Line::Unread(bad) = Parser::new().parse(b"TIGER (file) = 0123abcd") else { panic!() };
/// assert_eq!(bad.to_string(), "a digest of TIGER, which hashloom lacks");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadLine {
    /// The line has none of the formats.
    Format,
    /// The line has a number of hexadecimal digits that no algorithm asked for has.
    Length {
        /// Number of hexadecimal digits.
        ndigits: usize,
    },
    /// The line names an algorithm, but its digest has not as many digits as those of that algorithm.
    Digits {
        /// The algorithm.
        algorithm: Algorithm,
        /// Number of hexadecimal digits.
        ndigits: usize,
    },
    /// The line begins with base64 of a number of bytes that no algorithm asked for has.
    Base64 {
        /// Number of bytes.
        nbytes: usize,
    },
    /// The name has an unknown escape, or ends within one.
    Escape,
    /// hashdeep's line of columns is malformed, or the line does not have these columns.
    Columns,
    /// The line is not as the form of the list says.
    Form {
        /// The name of the form.
        name: &'static str,
    },
    /// The line names a file, but no digest of it.
    NoDigest,
    /// The digest is of something else than a file: these words tell.
    NoFile(&'static str),
    /// The line has a digest of an algorithm that this crate lacks, or that was not asked for.
    Algorithm {
        /// Its name in the line, as it can be shown.
        name: String,
    },
    /// The line is below the first one of `Get-FileHash`, and not as that one says.
    FileHash,
    /// PowerShell has cut or wrapped the path.
    Cut,
    /// The record before lacks its end.
    Unfinished,
    /// Some lines end with NUL, and some with a line feed.
    Ends,
    /// The line is not within the text of the list that OpenPGP has signed.
    Unsigned,
    /// The list has the length of a file, but no digest of it.
    OnlyLength {
        /// The file's name, as it can be shown.
        name: String,
    },
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadLine::Format => f.write_str("neither `<hex>  <name>` nor `SHA256 (<name>) = <hex>`"),
            BadLine::Length { ndigits } => {
                write!(f, "a digest of {ndigits} hexadecimal digits, which no algorithm asked for has")
            }
            BadLine::Digits { algorithm, ndigits } => {
                let (tag, wanted) = (tag(*algorithm), 2 * algorithm.digest_nbytes());
                let cut = if *ndigits < wanted { "; is the line cut off?" } else { "" };
                write!(f, "expected {wanted} hexadecimal digits of {tag}, found {ndigits}{cut}")
            }
            BadLine::Columns => {
                f.write_str("not the columns of hashdeep's second line, such as `size,md5,sha256,filename`")
            }
            BadLine::Base64 { nbytes } => {
                write!(f, "a digest of {nbytes} bytes in base64, which no algorithm asked for has")
            }
            BadLine::Algorithm { name } => unread::tell(name, f),
            BadLine::FileHash => {
                f.write_str("not as the first line of Get-FileHash says, with an algorithm, a digest and a path")
            }
            BadLine::Cut => f.write_str(
                "PowerShell has cut the path to the width of its window; make the list anew: Get-FileHash * | \
                Export-Csv list.csv",
            ),
            BadLine::Form { name } => write!(f, "not as in other lists of {name}"),
            BadLine::NoDigest => f.write_str("no digest of the file that the line names"),
            BadLine::NoFile(what) => write!(f, "the digest is of {what}"),
            BadLine::Unfinished => f.write_str("the record before has no end; is the list cut off?"),
            BadLine::Ends => f.write_str(
                "some lines of the list end with NUL and some with a line feed; make the list anew, without --zero",
            ),
            BadLine::Unsigned => f.write_str("the list has digests outside the text that OpenPGP has signed"),
            BadLine::OnlyLength { name } => {
                write!(f, "only the length of {name} is known, which tells nothing of its bytes")
            }
            BadLine::Escape => f.write_str("a backslash in the name that is followed by none of n, r and \\"),
        }
    }
}

impl core::error::Error for BadLine {}

/// Longer lines in several parts are not read.
const JOINED_MAX_NBYTES: usize = 64 << 10;

/// The least number of hexadecimal digits of a digest that is safe.
const DIGITS_MIN: usize = 32;

/// The name of an algorithm in BSD's format.
///
/// ```
/// assert_eq!(hashloom_list::tag(hashloom::Algorithm::Sha512_256), "SHA512/256");
/// ```
pub fn tag(algorithm: Algorithm) -> &'static str {
    algorithm.tags()[0]
}

impl Parser {
    /// A parser for lines of any algorithm. If a line names none, its algorithm is the one of these that has digests of
    /// that length: MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512.
    ///
    /// See [`Parser`] for an example.
    pub fn new() -> Parser {
        Parser { guesses: true, ..Parser::untagged(&forms::BY_LENGTH) }
    }

    /// A parser for lines of any algorithm. If a line names none, its algorithm is the first of `algorithms` that has
    /// digests of that length.
    pub fn untagged(algorithms: &[Algorithm]) -> Parser {
        Parser {
            untagged: algorithms.to_vec(),
            coreutils: None,
            is_reversed: None,
            guesses: false,
            end: b'\n',
            encoding: None,
            list: Box::default(),
        }
    }

    /// A parser for lines of one algorithm, under the name that coreutils gives it. All other lines are unread or bad.
    pub fn only(algorithm: Algorithm) -> Parser {
        let coreutils = Coreutils { tagged: vec![algorithm], is_cksum: false, last: None };
        Parser { coreutils: Some(coreutils), ..Parser::untagged(&[algorithm]) }
    }

    /// A parser for lines as coreutils' `cksum` reads them, digests in base64 included. A tag may name each of
    /// `tagged`; a line without a tag has a digest of the first of `untagged` with digests of that length. All other
    /// lines are unread or bad.
    pub fn cksum(tagged: &[Algorithm], untagged: &[Algorithm]) -> Parser {
        let coreutils = Coreutils { tagged: tagged.to_vec(), is_cksum: true, last: None };
        Parser { coreutils: Some(coreutils), ..Parser::untagged(untagged) }
    }

    /// The same parser, which says that lists are to be [`decoded`] from an encoding.
    pub fn encoded(self, encoding: Option<Encoding>) -> Parser {
        Parser { encoding, ..self }
    }

    /// The encoding of lists without a byte order mark, if somebody has named it.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// The algorithm that the last tag has named, if the parser is one for [only](Parser::only) one algorithm or for
    /// those of [cksum](Parser::cksum). The rest of the line may have been bad.
    pub fn last_tag(&self) -> Option<Algorithm> {
        self.coreutils.as_ref()?.last
    }

    /// Begins a list, whose lines end with `end`: a line feed, or NUL if [`decoded`] has found so. Whether one space or
    /// two came first holds for all lists, as in coreutils.
    pub fn begin_list(&mut self, end: u8) {
        self.begin_named(end, b"");
    }

    /// Begins a list whose path is known. Of an absolute path, the names of folders count too.
    pub fn begin_named(&mut self, end: u8, path: &[u8]) {
        self.end = end;
        *self.list = List::default();
        if self.coreutils.is_none() {
            forms::known_by_name(&mut self.list, path);
        }
    }

    /// Whether a text that OpenPGP has signed in the clear begins with this line.
    pub fn begins_signed(line: &[u8]) -> bool {
        line.trim_ascii_end() == b"-----BEGIN PGP SIGNED MESSAGE-----"
    }

    /// Tells at the beginning of a list that OpenPGP has signed a text in it. Digests above that text are unread;
    /// without this call they are read, and the line that begins the text is unread.
    pub fn expect_signed(&mut self) {
        self.list.signed = Signed::Above;
    }

    /// Whether the list has a text that OpenPGP has signed, and the next line is outside of it.
    pub fn is_outside(&self) -> bool {
        !matches!(self.list.signed, Signed::No | Signed::Text)
    }

    /// The number of folders above the one that the list is in, to which names are relative if the user names no
    /// folder. `None` if the name of the list does not tell.
    pub fn nfolders_up(path: &[u8]) -> Option<usize> {
        forms::nfolders_up(path)
    }

    /// The algorithm that the name of the list tells.
    pub fn named(&self) -> Option<Algorithm> {
        self.list.named.first().copied()
    }

    /// The form of the last entry, if it has a name among [`FORMS`].
    pub fn form(&self) -> Option<&'static Form> {
        self.list.form
    }

    /// Remarks for the reader of the list, as far as it was read: that nobody has checked its signature, and that it
    /// has no digests.
    pub fn remarks(&self) -> impl Iterator<Item = &'static str> {
        let signature = "its OpenPGP signature was not checked; to check it, and what it is of: \
                         gpg --decrypt LIST | hashloom check";
        let crc = "it has CRCs only: they find accidents, but no change that was made on purpose";
        let of = |is: bool, remark| is.then_some(remark).into_iter();
        let md5 = "its digests of 32 digits count as MD5: no other algorithm has so short ones";
        of(self.list.signed != Signed::No, signature)
            .chain(of(self.list.has_crc && !self.list.has_digest, crc))
            .chain(of(self.list.has_md5, md5))
    }

    /// A further result of the lines so far, such as that of a record that ended with the last one; with `is_end` also
    /// of the end of the list: a record that ends with it, or what the list lacks. Call it until there is none, after
    /// each line and at the end.
    ///
    /// ```
    /// use hashloom_list::{BadLine, Line, Parser};
    ///
    /// let mut parser = Parser::new();
    /// assert_eq!(parser.parse(b"Algorithm : MD5"), Line::Blank);
    /// assert_eq!(parser.more(false), None);
    /// assert_eq!(parser.more(true), Some(Line::Unread(BadLine::Unfinished)));
    /// assert_eq!(parser.more(true), None);
    /// ```
    pub fn more(&mut self, is_end: bool) -> Option<Line<'static>> {
        if is_end {
            let end = std::mem::take(&mut self.list.layout).end(&mut self.list.more);
            let is_open = matches!(self.list.signed, Signed::Headers | Signed::Text | Signed::Signature);
            self.list.signed = if is_open { Signed::Below } else { self.list.signed };
            let is_cut = is_open || !std::mem::take(&mut self.list.joined).is_empty();
            let bare = std::mem::take(&mut self.list.lengths).bare.into_values();
            self.list.more.extend(bare.map(|name| Line::Unread(BadLine::OnlyLength { name })));
            self.list.more.extend(end.or(is_cut.then_some(Line::Unread(BadLine::Unfinished))));
        }
        self.list.more.pop().inspect(|line| self.list.note(line))
    }

    /// Parses a line, given without its end.
    ///
    /// See [`Parser`] for an example.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        let found = match self.read(line) {
            // Programs of coreutils end the name there.
            Line::Entry(_) if self.coreutils.is_none() && line.contains(&0) => Line::Unread(BadLine::Ends),
            Line::Entry(entry) if self.has_lines(&entry.name) => Line::Unread(BadLine::Ends),
            Line::Blank | Line::Bad(_) if self.has_lines(line) => Line::Unread(BadLine::Ends),
            Line::Bad(why) => self.judge(line.trim_ascii_end(), why),
            line => line,
        };
        self.list.note(&found);
        found
    }

    /// Notes an entry that the caller has read from a line of the list in another way.
    pub fn note_entry(&mut self, entry: &Entry<'_>) {
        self.list.has_any = true;
        self.list.has_digest |= !entry.digests.is_empty();
    }

    /// Whether below the first line of a text there are lines of checksums, where all lines should end with NUL.
    fn has_lines(&self, text: &[u8]) -> bool {
        let mut lines = text.split(|&byte| byte == b'\n').skip(1).peekable();
        self.end == 0 && lines.peek().is_some() && {
            let mut parser = Parser { end: b'\n', ..self.clone() };
            parser.list.is_strict = false;
            lines.any(|line| matches!(parser.parse(line), Line::Entry(_) | Line::Unread(_)))
        }
    }

    /// Reads a line; a bad one may still name a digest.
    fn read<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        if self.coreutils.is_none() {
            return self.read_any(line);
        }
        if line.starts_with(b"#") {
            return Line::Blank;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Line::Blank;
        }
        let (line, is_escaped) = forms::bare(line);
        match self.tagged(line) {
            Some((algorithm, line)) => {
                let entry = forms::tagged_rest(Some(Sum::Digest(algorithm)), line, is_escaped, self.reads_base64());
                entry.map_or_else(Line::Unread, Line::Entry)
            }
            None => self.untagged_line(line, is_escaped).map_or_else(Line::Bad, Line::Entry),
        }
    }

    /// Reads a line of any form.
    fn read_any<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        let mut line = line;
        if line.first() == Some(&b'-') || self.list.signed != Signed::No {
            match self.signed(line) {
                Ok(text) => line = text,
                Err(outside) => return outside,
            }
        }
        if let Some(cut) = line.strip_suffix(b"\r").filter(|_| self.end == b'\n') {
            let nblanks = cut.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            line = &cut[..cut.len() - nblanks];
        }
        let is_begun = !self.list.joined.is_empty();
        // Lists of CRCs have another mark of comments.
        let is_entry = || line.starts_with(b"#mtree") || self.list.is_sfv && digest_words(line, true).is_some();
        if line.starts_with(b"#") && !is_begun && !is_entry() {
            return Line::Blank;
        }
        if self.goes_on(line) {
            self.list.joined.extend_from_slice(&line[..line.len() - 1]);
            self.list.joined.push(b' ');
            if self.list.joined.len() <= JOINED_MAX_NBYTES {
                return Line::Blank;
            }
            self.list.joined.clear();
            return Line::Unread(BadLine::Unfinished);
        }
        if is_begun {
            let whole = [&std::mem::take(&mut self.list.joined)[..], line].concat();
            return self.read_whole(&whole).into_owned();
        }
        self.read_whole(line)
    }

    /// The line that a line of the signed text stands for, or what becomes of a line that is not of that text.
    fn signed<'a>(&mut self, line: &'a [u8]) -> Result<&'a [u8], Line<'static>> {
        let bare = line.trim_ascii_end();
        let is_hash = |word: &[u8]| word.len() < DIGITS_MIN / 2;
        let (next, text) = match self.list.signed {
            Signed::No if Parser::begins_signed(line) => {
                let is_first = !self.list.has_any && matches!(self.list.layout, Layout::Lines);
                let is_first = is_first && self.list.joined.is_empty();
                (Signed::Headers, Err(if is_first { Line::Blank } else { Line::Unread(BadLine::Unsigned) }))
            }
            Signed::Above if Parser::begins_signed(line) => (Signed::Headers, Err(Line::Blank)),
            Signed::Headers if bare.is_empty() => (Signed::Text, Err(Line::Blank)),
            Signed::Headers
                if bare.strip_prefix(b"Hash: ").is_some_and(|hashes| unread::words(hashes).all(is_hash)) =>
            {
                (Signed::Headers, Err(Line::Blank))
            }
            Signed::Text if bare == b"-----BEGIN PGP SIGNATURE-----" => (Signed::Signature, Err(Line::Blank)),
            // gpg takes no other header, and no hyphen without the escape.
            Signed::Headers => (Signed::Below, Err(Line::Unread(BadLine::Unsigned))),
            Signed::Text if line.starts_with(b"-") && !line.starts_with(b"- ") => {
                (Signed::Below, Err(Line::Unread(BadLine::Unsigned)))
            }
            Signed::Text => (Signed::Text, Ok(line.strip_prefix(b"- ").unwrap_or(line))),
            Signed::Signature if bare == b"-----END PGP SIGNATURE-----" => (Signed::Below, Err(Line::Blank)),
            Signed::Signature if line.starts_with(b"Comment: ") => (Signed::Signature, Err(Line::Blank)),
            Signed::No => (Signed::No, Ok(line)),
            other if self.names_digest(line) => (other, Err(Line::Unread(BadLine::Unsigned))),
            other => (other, Err(Line::Blank)),
        };
        self.list.signed = next;
        text
    }

    /// Whether the line, or a record that begins with it, has a digest.
    fn names_digest(&self, line: &[u8]) -> bool {
        let List { named, beside, is_sfv, .. } = &*self.list;
        let (named, beside, is_sfv) = (named.clone(), beside.clone(), *is_sfv);
        let list = Box::new(List { named, beside, is_sfv, ..List::default() });
        let untagged = self.untagged.clone();
        let mut parser = Parser { untagged, coreutils: None, is_reversed: None, list, ..*self };
        !matches!(parser.parse(line), Line::Blank | Line::Bad(_)) || parser.more(true).is_some()
    }

    /// Whether the next line is a part of this one, as in files of mtree and pip.
    fn goes_on(&self, line: &[u8]) -> bool {
        let nbackslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_begun = matches!(self.list.layout, Layout::Mtree(_)) || !self.list.joined.is_empty();
        nbackslashes % 2 == 1 && self.end == b'\n' && (is_begun || forms::may_go_on(line))
    }

    fn read_whole<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        if !matches!(self.list.layout, Layout::Lines) {
            let mut layout = std::mem::take(&mut self.list.layout);
            let found = layout.read(line, &mut self.list.more);
            if let Some(found) = found {
                self.list.layout = layout;
                return found;
            }
        }
        if line.is_empty() {
            return Line::Blank;
        }
        let mut marks = None;
        for form in FORMS {
            if let Some(found) = form.read(self, line, &mut marks) {
                if !matches!(found, Line::Bad(_)) {
                    self.list.form = Some(form);
                    self.list.is_strict |= form.is_strict;
                }
                return found;
            }
        }
        Line::Bad(BadLine::Format)
    }

    /// The algorithm that the line begins with, and the rest of the line after the parenthesis.
    fn tagged<'a>(&mut self, line: &'a [u8]) -> Option<(Algorithm, &'a [u8])> {
        let after = |name: &str| {
            let line = line.strip_prefix(name.as_bytes())?;
            line.strip_prefix(b" ").unwrap_or(line).strip_prefix(b"(")
        };
        let coreutils = self.coreutils.as_mut()?;
        // Unless it reads one algorithm only, cksum knows a second name for each of SHA-2.
        let has_second = coreutils.tagged.len() > 1;
        let found = coreutils.tagged.iter().find_map(|&algorithm| {
            let is_read = |name: &&&str| **name == tag(algorithm) || has_second && name.starts_with("SHA2-");
            Some((algorithm, algorithm.tags().iter().filter(is_read).find_map(|name| after(name))?))
        });
        coreutils.last = found.map(|(algorithm, _)| algorithm).or(coreutils.last);
        found
    }

    /// Whether digests may be in base64.
    fn reads_base64(&self) -> bool {
        self.coreutils.as_ref().is_none_or(|coreutils| coreutils.is_cksum)
    }

    /// The digest in base64 that the line begins with, and its length. The line begins with `nhex` hexadecimal digits.
    fn base64_first(&self, line: &[u8], nhex: usize) -> Option<(Algorithm, Hash, usize)> {
        let ndigits = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).filter(|&ndigits| ndigits > nhex)?;
        let is_it = |algorithm: &&Algorithm| base64_ndigits(**algorithm) == ndigits;
        let &algorithm = self.untagged.iter().find(is_it)?;
        Some((algorithm, from_base64(algorithm, &line[..ndigits])?, ndigits))
    }

    /// The algorithm of digests of this length in lines that name none. MD5 alone has so short ones, and needs no name.
    fn asked(&mut self, ndigits: usize) -> Option<Algorithm> {
        let named = self.list.named.iter().filter(|_| self.guesses);
        let found = named.chain(&self.untagged).find(|algorithm| algorithm.digest_nbytes() * 2 == ndigits).copied();
        let is_md5 = found.is_none() && ndigits == DIGITS_MIN && self.coreutils.is_none();
        self.list.has_md5 |= is_md5;
        found.or(is_md5.then_some(Algorithm::Md5))
    }

    /// A line without a tag: the digest first, or last.
    fn untagged_line<'a>(&mut self, line: &'a [u8], is_escaped: bool) -> Result<Entry<'a>, BadLine> {
        if self.list.is_digest_last == Some(true) {
            return self.digests_last(line, is_escaped).ok_or(BadLine::Format);
        }
        let entry = self.plain(line, is_escaped);
        match entry {
            Ok(_) => self.list.is_digest_last = Some(false),
            Err(_) if self.coreutils.is_none() && self.list.is_digest_last.is_none() => {
                let ndigits = hex_ndigits(line);
                let found = self.digests_last(line, is_escaped).filter(|_| ndigits < DIGITS_MIN);
                if let Some(entry) = found {
                    self.list.is_digest_last = Some(true);
                    return Ok(entry);
                }
            }
            Err(_) => {}
        }
        entry
    }

    /// `<name> <hex>`, or several digests, as rhash writes them. A length that several of them have tells no algorithm.
    fn digests_last<'a>(&mut self, line: &'a [u8], is_escaped: bool) -> Option<Entry<'a>> {
        let (name, words) = digest_words(line, self.list.is_sfv)?;
        if is_escaped || name.contains(&0) {
            return None;
        }
        let mut entry = Entry::new(Vec::new(), false, Cow::Borrowed(name));
        let mut lacking = None;
        for word in &words {
            let is_alone = words.iter().filter(|other| other.len() == word.len()).count() == 1;
            let sum = match (self.asked(word.len()), word.len()) {
                (Some(algorithm), _) => Some(Sum::Digest(algorithm)),
                (None, 8) => Some(Sum::Crc(Crc::Crc32)),
                // Beside another digest MD5 needs no question.
                (None, 32) if words.len() > 1 => Some(Sum::Digest(Algorithm::Md5)),
                _ => None,
            };
            if sum.filter(|_| is_alone).and_then(|sum| entry.push(sum, word)).is_none() {
                lacking = Some(BadLine::Length { ndigits: word.len() });
            }
        }
        if entry.digests.is_empty() && (entry.crcs.is_empty() || lacking.is_some()) {
            return None;
        }
        self.list.more.extend(lacking.map(Line::Unread));
        Some(entry)
    }

    /// `<hex>  <name>`
    fn plain<'a>(&mut self, line: &'a [u8], is_escaped: bool) -> Result<Entry<'a>, BadLine> {
        let ndigits = hex_ndigits(line);
        let may_be_base64 = self.reads_base64() && !matches!(line.get(ndigits), Some(b' ' | b'\t'));
        let base64 = if may_be_base64 { self.base64_first(line, ndigits) } else { None };
        let (text, rest) = line.split_at(base64.map_or(ndigits, |(_, _, ndigits)| ndigits));
        let Some((b' ' | b'\t', rest)) = rest.split_first() else { return Err(BadLine::Format) };
        // cksum takes a line that ends here for a file without a name.
        let may_end = self.coreutils.as_ref().is_some_and(|coreutils| coreutils.is_cksum);
        if rest.is_empty() && !may_end || text.is_empty() {
            return Err(BadLine::Format);
        }
        let (algorithm, digest) = match base64 {
            Some((algorithm, digest, _)) => {
                // No list with text between has base64.
                self.list.is_strict = true;
                (algorithm, digest)
            }
            None => {
                let Some(algorithm) = self.asked(ndigits) else { return Err(BadLine::Length { ndigits }) };
                (algorithm, digest(algorithm, text).ok_or(BadLine::Format)?)
            }
        };
        let name = if rest.len() <= 1 || !matches!(rest[0], b' ' | b'*') {
            if self.coreutils.is_none() && self.list.is_digest_last.is_none() && self.is_reversed != Some(true) {
                if let Some(columns) = Columns::sized(algorithm, rest) {
                    let entry = columns.entry(line)?;
                    self.list.layout = Layout::Columns(columns);
                    return Ok(entry);
                }
            }
            if self.is_reversed == Some(false) {
                return Err(BadLine::Format);
            }
            self.is_reversed = Some(true);
            rest
        } else if self.is_reversed == Some(true) {
            rest
        } else {
            self.is_reversed = Some(false);
            &rest[1..]
        };
        let name = unescaped(name, is_escaped)?;
        Ok(Entry::new(vec![(algorithm, digest)], false, name))
    }
}

impl List {
    /// Notes the result of a line.
    fn note(&mut self, line: &Line<'_>) {
        match line {
            Line::Entry(entry) => {
                self.has_digest |= !entry.digests.is_empty();
                self.has_crc |= !entry.crcs.is_empty();
                // Lines above the first one of a form may have been of that form.
                if self.is_strict && std::mem::take(&mut self.nbad) > 0 {
                    self.more.push(Line::Unread(BadLine::Form { name: self.form.map_or("", |form| form.name) }));
                }
            }
            Line::Bad(_) => self.nbad += 1,
            Line::Blank | Line::Unread(_) => {}
        }
        self.has_any |= matches!(line, Line::Entry(_) | Line::Unread(_));
    }
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new()
    }
}

/// Number of hexadecimal digits that a line begins with.
fn hex_ndigits(line: &[u8]) -> usize {
    // Sixteen at a time, without a branch between them.
    let are_digits = |bytes: &&[u8]| bytes.iter().fold(true, |are, byte| are & byte.is_ascii_hexdigit());
    let nchunks = line.chunks_exact(16).take_while(are_digits).count();
    let (digits, rest) = line.split_at(16 * nchunks);
    digits.len() + rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
}

fn after_blanks(line: &[u8]) -> &[u8] {
    let nblanks = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[nblanks..]
}

fn digest(algorithm: Algorithm, hex: &[u8]) -> Option<Hash> {
    let hash: Hash = std::str::from_utf8(hex).ok()?.parse().ok()?;
    (hash.as_ref().len() == algorithm.digest_nbytes()).then_some(hash)
}

fn base64_ndigits(algorithm: Algorithm) -> usize {
    algorithm.digest_nbytes().div_ceil(3) * 4
}

/// Reads a digest in base64: with padding, and with no bit set that is not part of the digest.
fn from_base64(algorithm: Algorithm, text: &[u8]) -> Option<Hash> {
    let (letters, padding) = text.split_at_checked((8 * algorithm.digest_nbytes()).div_ceil(6))?;
    let is_padded = text.len() == base64_ndigits(algorithm) && padding.iter().all(|&byte| byte == b'=');
    from_letters(algorithm, letters, &BASE64_NOPAD).filter(|_| is_padded)
}

/// Reads a digest in base64 without padding.
fn from_letters(algorithm: Algorithm, text: &[u8], letters: &data_encoding::Encoding) -> Option<Hash> {
    let mut bytes = [0; 64];
    let nbytes = letters.decode_len(text.len()).ok().filter(|&nbytes| nbytes == algorithm.digest_nbytes())?;
    letters.decode_mut(text, &mut bytes[..nbytes]).ok()?;
    Some(Hash::new(algorithm, &bytes[..nbytes]))
}

/// A name without escapes ends at a NUL, as in coreutils; an escaped name must not contain a NUL.
fn unescaped(name: &[u8], is_escaped: bool) -> Result<Cow<'_, [u8]>, BadLine> {
    if !is_escaped {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        return Ok(Cow::Borrowed(&name[..end]));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            0 => return Err(BadLine::Escape),
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b'\\') => b'\\',
                _ => return Err(BadLine::Escape),
            },
            byte => byte,
        });
    }
    Ok(Cow::Owned(bytes))
}
