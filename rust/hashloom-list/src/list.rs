// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of checksums, as `sha256sum` and the BSD programs print them and `sha256sum --check` reads them.

use std::borrow::Cow;
use std::fmt;

use ct_codecs::{Base64, Decoder};
use hashloom::{Algorithm, Hash};

mod encoding;
mod file_hash;
mod unread;
mod writer;

pub use encoding::decoded;
pub use writer::{Writer, escaped};

/// Reads the lines of lists.
///
/// | line | format |
/// |---|---|
/// | `<hex>  <name>`, `<hex> *<name>` | GNU; the star says "read in binary mode", which means nothing on Unix |
/// | `<hex> <name>` | BSD `-r`, if the first line of this kind in the list has one space |
/// | `SHA256 (<name>) = <hex>` | BSD, GNU `--tag`; `SHA256(<name>)= <hex>`: OpenSSL |
/// | `\` before any of these | in the name `\n`, `\r` and `\\` stand for a line feed, a carriage return, a backslash |
///
/// More formats are read, unless the parser is one for [only](Parser::only) one algorithm, or for those of
/// [cksum](Parser::cksum), which also reads base64:
///
/// | line | format |
/// |---|---|
/// | `%%%% size,md5,sha256,filename`, then `<size>,<hex>,<hex>,<name>` | hashdeep; a line that names columns of unknown algorithms is [unread](Line::Unread), and below it these are skipped |
/// | `<name> <hex>` | the digest last |
/// | `<base64>  <name>`, `SHA256 (<name>) = <base64>` | GNU's `cksum --base64` |
/// | `Algorithm  Hash  Path`, `Algorithm : SHA256`, `"Algorithm","Hash","Path"`, and the lines below | PowerShell's `Get-FileHash`: a table, properties, CSV |
///
/// No line is read in two ways. After hashdeep's line of columns every line is hashdeep's, and after the first line of
/// `Get-FileHash` every line is of it. Backslashes in its paths of Windows become slashes. If the first line without a
/// tag can be read with the digest first, all lines of the list are read so, and otherwise with the digest last. A line
/// that begins with 32 hexadecimal digits or more has the digest first. Base64 of hexadecimal digits alone is hexadecimal.
/// Lines end with NUL in place of a line feed if [`decoded`] has found one. They have no escapes then, and a carriage
/// return is part of the name. A list that has both ends is not read in part: [`BadLine::Ends`].
///
/// A line that names a digest, but cannot be read, is [`Line::Unread`]: a list that has one is not verified as a whole.
///
/// Blank lines and lines that begin with `#` are ignored. A carriage return at the end of a line is dropped, spaces and
/// tabs at its start are skipped, digits may have any case. These are the rules of GNU coreutils 9.1, down to the
/// corner cases: a list never mixes the formats with one space and with two, so that
/// nobody gains from renaming a file to ` name`.
///
/// A parser remembers whether one space or two came first. Within a list it also remembers hashdeep's columns, and
/// whether digests stand before or after names.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_list::{Line, Parser};
///
/// let mut parser = Parser::new();
/// match parser.parse(b"SHA1 (abc) = A9993E364706816ABA3E25717850C26C9CD0D89D") {
///     Line::Entry(entry) => {
///         assert_eq!(entry.digests, [(Algorithm::Sha1, hashloom::hash(Algorithm::Sha1, b"abc"))]);
///         assert_eq!(*entry.name, *b"abc");
///     }
///     other => panic!("{other:?}"),
/// }
/// assert!(matches!(parser.parse(b"# a comment"), Line::Blank));
/// assert!(matches!(parser.parse(b"no checksum"), Line::Bad(_)));
/// ```
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_list::{Line, Parser};
///
/// let mut parser = Parser::only(Algorithm::Sha256);
/// assert!(matches!(parser.parse(b"MD5 (a) = 0cc175b9c0f1b6a831c399e269772661"), Line::Unread(_)));
/// ```
#[derive(Debug, Clone)]
pub struct Parser {
    /// The algorithms for lines that do not name theirs.
    untagged: Vec<Algorithm>,
    /// The rules of a program of coreutils, if lines are to be read as it reads them.
    coreutils: Option<Coreutils>,
    /// Whether names follow after one space; `None` before the first line of either format.
    is_reversed: Option<bool>,
    /// Whether digests follow names in this list; `None` before the first line without a tag.
    is_digest_last: Option<bool>,
    /// hashdeep's columns before the name, once a line of this list has named them.
    columns: Option<Vec<Column>>,
    /// How the lines of `Get-FileHash` are read, once the first of them has come.
    layout: Option<file_hash::Layout>,
    /// The byte that ends lines.
    end: u8,
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

/// A column of hashdeep's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Size,
    Digest(Algorithm),
    /// A digest of an algorithm that this crate lacks.
    Other,
}

/// The content of a line.
///
/// ```
/// use hashloom_list::{Line, Parser};
/// assert!(matches!(Parser::new().parse(b"hello"), Line::Bad(_)));
/// ```
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

/// The checksums of a file.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_list::{Line, Parser};
///
/// let Line::Entry(entry) = Parser::new().parse(b"MD5 (a b) = 0cc175b9c0f1b6a831c399e269772661") else { panic!() };
/// assert_eq!((entry.digests[0].0, &*entry.name), (Algorithm::Md5, &b"a b"[..]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The file's digests, at least one. The algorithm is the one that the line names; otherwise the one with digests of
    /// this length.
    pub digests: Vec<(Algorithm, Hash)>,
    /// Whether the line names its algorithms, by a tag or by hashdeep's columns.
    pub is_tagged: bool,
    /// Number of bytes of the file, if the line has it.
    pub nbytes: Option<u64>,
    /// The file's name, unescaped.
    pub name: Cow<'a, [u8]>,
}

/// Why a line is not a checksum, or cannot be read.
///
/// ```
/// use hashloom_list::{BadLine, Line, Parser};
///
/// let Line::Unread(bad) = Parser::new().parse(b"0123abcd  file") else { panic!() };
/// assert_eq!(bad, BadLine::Length { ndigits: 8 });
/// assert_eq!(bad.to_string(), "a digest of 8 hexadecimal digits, which no algorithm asked for has");
/// let Line::Unread(bad) = Parser::new().parse(b"CRC32 (file) = 0123abcd") else { panic!() };
/// assert_eq!(bad.to_string(), "a digest of CRC32, which hashloom lacks");
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
    /// The line begins with base64 of a number of bytes that no algorithm asked for has.
    Base64 {
        /// Number of bytes.
        nbytes: usize,
    },
    /// The name has an unknown escape, or ends within one.
    Escape,
    /// hashdeep's line of columns is malformed, or the line does not have these columns.
    Columns,
    /// The line has a digest of an algorithm that this crate lacks, or that was not asked for.
    Algorithm {
        /// Its name in the line, as it can be shown.
        name: String,
    },
    /// The line is below the first one of `Get-FileHash`, and not as that one says.
    FileHash,
    /// PowerShell has cut or wrapped the path.
    Cut,
    /// The record of `Get-FileHash` before has no path.
    Unfinished,
    /// Some lines end with NUL, and some with a line feed.
    Ends,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadLine::Format => f.write_str("neither `<hex>  <name>` nor `SHA256 (<name>) = <hex>`"),
            BadLine::Length { ndigits } => {
                write!(f, "a digest of {ndigits} hexadecimal digits, which no algorithm asked for has")
            }
            BadLine::Columns => {
                f.write_str("not the columns of hashdeep's second line, such as `size,md5,sha256,filename`")
            }
            BadLine::Base64 { nbytes } => {
                write!(f, "a digest of {nbytes} bytes in base64, which no algorithm asked for has")
            }
            BadLine::Algorithm { name } => unread::tell(name, f),
            BadLine::FileHash => f.write_str("not as the first line of Get-FileHash says, with an algorithm, a digest and a path"),
            BadLine::Cut => f.write_str(
                "PowerShell has cut the path to the width of its window; make the list anew: Get-FileHash * | Export-Csv list.csv",
            ),
            BadLine::Unfinished => f.write_str("the record before has no path; is the list cut off?"),
            BadLine::Ends => f.write_str(
                "some lines of the list end with NUL and some with a line feed; make the list anew, without --zero",
            ),
            BadLine::Escape => f.write_str("a backslash in the name that is followed by none of n, r and \\"),
        }
    }
}

impl core::error::Error for BadLine {}

/// The least number of hexadecimal digits of a digest that is safe.
const DIGITS_MIN: usize = 32;

/// The name of an algorithm in BSD's format.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_list::tag;
///
/// assert_eq!(tag(Algorithm::Sha256), "SHA256");
/// assert_eq!(tag(Algorithm::Sha512_256), "SHA512/256");
/// ```
pub fn tag(algorithm: Algorithm) -> &'static str {
    algorithm.tags()[0]
}

impl Parser {
    /// A parser for lines of any algorithm. If a line names none, its algorithm is the one of these that has digests of
    /// that length: SHA-1, SHA-224, SHA-256, SHA-384, SHA-512.
    ///
    /// See [`Parser`] for an example.
    ///
    /// ```
    /// use hashloom_list::{Line, Parser};
    /// assert_eq!(Parser::new().parse(b""), Line::Blank);
    /// ```
    pub fn new() -> Parser {
        Parser::untagged(&[Algorithm::Sha1, Algorithm::Sha224, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512])
    }

    /// A parser for lines of any algorithm. If a line names none, its algorithm is the first of `algorithms` that has
    /// digests of that length.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_list::{Line, Parser};
    ///
    /// let line = format!("{:040}  file", 0);
    /// let Line::Entry(entry) = Parser::untagged(&[Algorithm::Ripemd160]).parse(line.as_bytes()) else { panic!() };
    /// assert_eq!(entry.digests[0].0, Algorithm::Ripemd160);
    /// ```
    pub fn untagged(algorithms: &[Algorithm]) -> Parser {
        Parser {
            untagged: algorithms.to_vec(),
            coreutils: None,
            is_reversed: None,
            is_digest_last: None,
            columns: None,
            layout: None,
            end: b'\n',
        }
    }

    /// A parser for lines of one algorithm, under the name that coreutils gives it. All other lines are unread or bad.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_list::{Line, Parser};
    ///
    /// let line = format!("SHA1 (file) = {:040}", 0);
    /// assert!(matches!(Parser::new().parse(line.as_bytes()), Line::Entry(_)));
    /// assert!(matches!(Parser::only(Algorithm::Sha256).parse(line.as_bytes()), Line::Unread(_)));
    /// ```
    pub fn only(algorithm: Algorithm) -> Parser {
        let coreutils = Coreutils { tagged: vec![algorithm], is_cksum: false, last: None };
        Parser { coreutils: Some(coreutils), ..Parser::untagged(&[algorithm]) }
    }

    /// A parser for lines as coreutils' `cksum` reads them, digests in base64 included. A tag may name each of `tagged`;
    /// a line without a tag has a digest of the first of `untagged` with digests of that length. All other lines are
    /// unread or bad.
    ///
    /// ```
    /// use hashloom::Algorithm::{Md5, Sha1};
    /// use hashloom_list::{Line, Parser};
    ///
    /// let line = b"SHA1 (abc) = qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
    /// assert!(matches!(Parser::cksum(&[Md5, Sha1], &[]).parse(line), Line::Entry(_)));
    /// assert!(matches!(Parser::cksum(&[Md5], &[Md5]).parse(line), Line::Unread(_)));
    /// ```
    pub fn cksum(tagged: &[Algorithm], untagged: &[Algorithm]) -> Parser {
        let coreutils = Coreutils { tagged: tagged.to_vec(), is_cksum: true, last: None };
        Parser { coreutils: Some(coreutils), ..Parser::untagged(untagged) }
    }

    /// The algorithm that the last tag has named, if the parser is one for [only](Parser::only) one algorithm or for
    /// those of [cksum](Parser::cksum). The rest of the line may have been bad.
    ///
    /// ```
    /// use hashloom::Algorithm::{Md5, Sha1};
    /// use hashloom_list::{Line, Parser};
    ///
    /// let mut parser = Parser::cksum(&[Md5, Sha1], &[]);
    /// assert!(matches!(parser.parse(b"SHA1 (abc) = a999"), Line::Unread(_)));
    /// assert_eq!(parser.last_tag(), Some(Sha1));
    /// ```
    pub fn last_tag(&self) -> Option<Algorithm> {
        self.coreutils.as_ref()?.last
    }

    /// Begins a list, whose lines end with `end`: a line feed, or NUL if [`decoded`] has found so. Whether one space or
    /// two came first holds for all lists, as in coreutils.
    ///
    /// ```
    /// use hashloom_list::{Line, Parser};
    ///
    /// let mut parser = Parser::new();
    /// assert_eq!(parser.parse(b"%%%% size,sha1,filename"), Line::Blank);
    /// let line = b"a9993e364706816aba3e25717850c26c9cd0d89d  abc";
    /// assert!(matches!(parser.parse(line), Line::Unread(_)));
    /// parser.begin_list(b'\n');
    /// assert!(matches!(parser.parse(line), Line::Entry(_)));
    /// ```
    pub fn begin_list(&mut self, end: u8) {
        self.is_digest_last = None;
        self.columns = None;
        self.layout = None;
        self.end = end;
    }

    /// What the list lacks if it ends here.
    ///
    /// ```
    /// use hashloom_list::{BadLine, Line, Parser};
    ///
    /// let mut parser = Parser::new();
    /// assert_eq!(parser.parse(b"Algorithm : MD5"), Line::Blank);
    /// assert_eq!(parser.end_list(), Some(BadLine::Unfinished));
    /// ```
    pub fn end_list(&self) -> Option<BadLine> {
        self.layout.as_ref().filter(|layout| layout.is_within_record()).map(|_| BadLine::Unfinished)
    }

    /// Parses a line, given without its end.
    ///
    /// See [`Parser`] for an example.
    ///
    /// ```
    /// use hashloom_list::{Line, Parser};
    ///
    /// let line = b"a9993e364706816aba3e25717850c26c9cd0d89d  abc";
    /// let Line::Entry(entry) = Parser::new().parse(line) else { panic!() };
    /// assert_eq!(&*entry.name, b"abc");
    /// ```
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        match self.read(line) {
            // Programs of coreutils end the name there.
            Line::Entry(_) if self.coreutils.is_none() && line.contains(&0) => Line::Unread(BadLine::Ends),
            Line::Entry(entry) if self.has_lines(&entry.name) => Line::Unread(BadLine::Ends),
            Line::Blank | Line::Bad(_) if self.has_lines(line) => Line::Unread(BadLine::Ends),
            Line::Bad(why) => self.judge(line, why),
            line => line,
        }
    }

    /// Whether below the first line of a text there are lines of checksums, where all lines should end with NUL.
    fn has_lines(&self, text: &[u8]) -> bool {
        let mut lines = text.split(|&byte| byte == b'\n').skip(1).peekable();
        self.end == 0 && lines.peek().is_some() && {
            let mut parser = Parser { end: b'\n', ..self.clone() };
            lines.any(|line| matches!(parser.parse(line), Line::Entry(_) | Line::Unread(_)))
        }
    }

    /// Reads a line; a bad one may still name a digest.
    fn read<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        if line.starts_with(b"#") {
            return Line::Blank;
        }
        let line = line.strip_suffix(b"\r").filter(|_| self.end == b'\n').unwrap_or(line);
        if line.is_empty() {
            return Line::Blank;
        }
        if self.coreutils.is_none() {
            if let Some(names) = line.strip_prefix(b"%%%% ") {
                return self.header(names).map_or_else(Line::Unread, |()| Line::Blank);
            }
            if let Some(columns) = &self.columns {
                return hashdeep(columns, line).map_or(Line::Unread(BadLine::Columns), Line::Entry);
            }
            if let Some(layout) = &mut self.layout {
                return layout.parse(line, false);
            }
            if let Some(layout) = file_hash::Layout::begun_by(line) {
                return self.layout.insert(layout).parse(line, true);
            }
        }
        let line = after_blanks(line);
        let (line, is_escaped) = line.strip_prefix(b"\\").map_or((line, false), |line| (line, true));
        match self.tagged(line) {
            Some((algorithm, line)) => {
                self.tagged_line(algorithm, line, is_escaped).map_or_else(Line::Unread, Line::Entry)
            }
            None => self.untagged_line(line, is_escaped).map_or_else(Line::Bad, Line::Entry),
        }
    }

    /// The algorithm that the line begins with, and the rest of the line after the parenthesis.
    fn tagged<'a>(&mut self, line: &'a [u8]) -> Option<(Algorithm, &'a [u8])> {
        // No tag begins with two hexadecimal digits: they tell for most lines that there is no tag.
        if line.len() < 2 || line[..2].iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let after = |name: &str| {
            let line = line.strip_prefix(name.as_bytes())?;
            line.strip_prefix(b" ").unwrap_or(line).strip_prefix(b"(")
        };
        let find = |algorithms: &[Algorithm], is_read: fn(Algorithm, &str) -> bool| {
            algorithms.iter().find_map(|&algorithm| {
                let mut names = algorithm.tags().iter().filter(|name| is_read(algorithm, name));
                Some((algorithm, names.find_map(|name| after(name))?))
            })
        };
        let Some(coreutils) = &mut self.coreutils else { return find(Algorithm::ALL, |_, _| true) };
        let found = match coreutils.tagged.len() > 1 {
            // Unless it reads one algorithm only, cksum knows a second name for each of SHA-2.
            true => find(&coreutils.tagged, |algorithm, name| name == tag(algorithm) || name.starts_with("SHA2-")),
            false => find(&coreutils.tagged, |algorithm, name| name == tag(algorithm)),
        };
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

    /// `<name>) = <hex>`
    fn tagged_line<'a>(&self, algorithm: Algorithm, line: &'a [u8], is_escaped: bool) -> Result<Entry<'a>, BadLine> {
        let end = line.iter().rposition(|&byte| byte == b')').ok_or(BadLine::Format)?;
        let name = unescaped(&line[..end], is_escaped)?;
        let text = after_blanks(&line[end + 1..]).strip_prefix(b"=").ok_or(BadLine::Format)?;
        let text = after_blanks(text);
        let base64 = || from_base64(algorithm, text).filter(|_| self.reads_base64());
        let digest = digest(algorithm, text).or_else(base64).ok_or(BadLine::Format)?;
        Ok(Entry { digests: vec![(algorithm, digest)], is_tagged: true, nbytes: None, name })
    }

    /// Reads the names of hashdeep's columns, or its name and version.
    fn header(&mut self, names: &[u8]) -> Result<(), BadLine> {
        if names == b"HASHDEEP-1.0" {
            return Ok(());
        }
        // Lines below columns that are not understood are not read in another way.
        let columns = self.columns.insert(Vec::new());
        let names = names.strip_suffix(b",filename").ok_or(BadLine::Columns)?;
        let (mut found, mut lacking) = (Vec::new(), None);
        for name in names.split(|&byte| byte == b',') {
            let column = match name {
                b"size" => Column::Size,
                name => {
                    let algorithm = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
                    algorithm.map_or(Column::Other, Column::Digest)
                }
            };
            if column != Column::Other && found.contains(&column) {
                return Err(BadLine::Columns);
            }
            if column == Column::Other {
                lacking.get_or_insert(name);
            }
            found.push(column);
        }
        *columns = found;
        lacking.map_or(Ok(()), |name| Err(BadLine::algorithm(name)))
    }

    /// A line without a tag: the digest first, or last.
    fn untagged_line<'a>(&mut self, line: &'a [u8], is_escaped: bool) -> Result<Entry<'a>, BadLine> {
        if self.is_digest_last == Some(true) {
            return self.digest_last(line, is_escaped).ok_or(BadLine::Format);
        }
        let entry = self.plain(line, is_escaped);
        match entry {
            Ok(_) => self.is_digest_last = Some(false),
            Err(_) if self.coreutils.is_none() && self.is_digest_last.is_none() => {
                let ndigits = hex_ndigits(line);
                if let Some(entry) = self.digest_last(line, is_escaped).filter(|_| ndigits < DIGITS_MIN) {
                    self.is_digest_last = Some(true);
                    return Ok(entry);
                }
            }
            Err(_) => {}
        }
        entry
    }

    /// `<name> <hex>`
    fn digest_last<'a>(&self, line: &'a [u8], is_escaped: bool) -> Option<Entry<'a>> {
        let blank = line.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?;
        let hex = &line[blank + 1..];
        let end = line[..blank].iter().rposition(|byte| !matches!(byte, b' ' | b'\t'))?;
        let name = &line[..=end];
        if is_escaped || name.contains(&0) || unread::is_more_than_a_name(name) {
            return None;
        }
        let algorithm = *self.untagged.iter().find(|algorithm| algorithm.digest_nbytes() * 2 == hex.len())?;
        let digests = vec![(algorithm, digest(algorithm, hex)?)];
        Some(Entry { digests, is_tagged: false, nbytes: None, name: Cow::Borrowed(name) })
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
            Some((algorithm, digest, _)) => (algorithm, digest),
            None => {
                let found = self.untagged.iter().find(|algorithm| algorithm.digest_nbytes() * 2 == ndigits);
                let Some(&algorithm) = found else { return Err(BadLine::Length { ndigits }) };
                (algorithm, digest(algorithm, text).ok_or(BadLine::Format)?)
            }
        };
        let name = if rest.len() <= 1 || !matches!(rest[0], b' ' | b'*') {
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
        Ok(Entry { digests: vec![(algorithm, digest)], is_tagged: false, nbytes: None, name })
    }
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new()
    }
}

/// `<size>,<hex>,<hex>,<name>`
fn hashdeep<'a>(columns: &[Column], line: &'a [u8]) -> Option<Entry<'a>> {
    let mut parts = line.splitn(columns.len() + 1, |&byte| byte == b',');
    let (mut nbytes, mut digests) = (None, Vec::new());
    for column in columns {
        let part = parts.next()?;
        match *column {
            Column::Size => {
                let is_number = !part.is_empty() && part.iter().all(u8::is_ascii_digit);
                nbytes = Some(std::str::from_utf8(part).ok().filter(|_| is_number)?.parse().ok()?);
            }
            Column::Digest(algorithm) => digests.push((algorithm, digest(algorithm, part)?)),
            Column::Other => {}
        }
    }
    let name = parts.next().filter(|name| !name.is_empty() && !name.contains(&0))?;
    (!digests.is_empty()).then_some(Entry { digests, is_tagged: true, nbytes, name: Cow::Borrowed(name) })
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
    let mut bytes = [0; 64];
    let bytes = Base64::decode(&mut bytes, text, None).ok()?;
    (bytes.len() == algorithm.digest_nbytes()).then(|| Hash::new(algorithm, bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_looks_like_a_digest_or_like_that_of_another_algorithm() {
        let tags = || Algorithm::ALL.iter().flat_map(|of| of.tags().iter().map(move |name| (of, name)));
        for (of, name) in tags() {
            assert!(!name.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit), "{name}");
            assert!(tags().all(|(other, tag)| other == of || !tag.eq_ignore_ascii_case(name)), "{name}");
        }
    }
}
