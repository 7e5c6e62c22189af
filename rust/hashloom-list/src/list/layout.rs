// SPDX-License-Identifier: MIT OR Apache-2.0

//! Forms whose lines need those above them: columns with heads, records of several lines, sections.

use std::borrow::Cow;
use std::collections::HashMap;

use hashloom::{Algorithm, Hash};

use super::forms::{Sum, algorithm, number, of_length};
use super::mtree::Mtree;
use super::unread::{foreign, ignored, words};
use super::xml::Xml;
use super::{BadLine, DIGITS_MIN, Entry, Line, after_blanks, digest, from_base64, hex_ndigits};

/// Fields of text, of environments, and of names of commits and keys.
const OTHERS: [&[u8]; 6] = [b"Changes", b"Description", b"Environment", b"Dgit", b"Git-Tag-Info", b"Signed-By"];

/// No known digest has more hexadecimal digits.
const DIGITS_MAX: usize = 128;
const FIRST_MAX_NBYTES: usize = 4096;

/// How the next line is read.
#[derive(Debug, Clone, Default)]
pub(super) enum Layout {
    /// The line tells its form.
    #[default]
    Lines,
    Columns(Columns),
    /// Get-FileHash: `Algorithm : SHA256`, `Hash      : …`, `Path      : …`
    Properties(Option<Record>),
    /// Digits on several lines, of gpg and certutil: within a record if there is one.
    Digits(Option<Record>),
    Fields(Fields),
    Apk(Apk),
    Mtree(Mtree),
    Xml(Xml),
    Jar(Jar),
}

/// A record, as far as it has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) name: Vec<u8>,
    pub(super) algorithm: Vec<u8>,
    pub(super) hex: Vec<u8>,
}

/// Fields of Debian.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    section: Section,
    /// Whether any section had digests.
    has_digests: bool,
    /// The files so far, which each section names again, and their numbers.
    files: Vec<Entry<'static>>,
    numbers: HashMap<Vec<u8>, usize>,
}

/// Records of Alpine's packages.
#[derive(Debug, Clone, Default)]
pub(super) struct Apk {
    folder: Vec<u8>,
    /// The present file.
    name: Vec<u8>,
    is_link: bool,
}

/// The manifest of a jar.
#[derive(Debug, Clone, Default)]
pub(super) struct Jar {
    /// The line before, which may go on: none is longer than 72 bytes.
    line: Vec<u8>,
    name: Vec<u8>,
    digests: Vec<(Algorithm, Hash)>,
}

/// A section of fields.
#[derive(Debug, Clone)]
pub(super) enum Section {
    /// Lines of this section have these columns; those of `Files` may have the second ones, five, instead.
    Digests(Columns, Option<Columns>),
    /// The name of a field that is not known.
    Other(Vec<u8>),
}

/// The columns of lines.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    split: Split,
    columns: Vec<Column>,
    why: BadLine,
}

/// How cells are told from each other. The last cell has what remains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Split {
    Commas,
    /// RFC 4180 with this delimiter.
    Csv(u8),
    Blanks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Size,
    Digest(Algorithm),
    Algorithm,
    Hash,
    Name,
    Other,
}

impl Layout {
    /// Reads a line; further results go to `more`. `None` if the line is not of the layout, which has ended.
    pub(super) fn read<'a>(&mut self, line: &'a [u8], more: &mut Vec<Line<'static>>) -> Option<Line<'a>> {
        match self {
            Layout::Mtree(mtree) => Some(mtree.read(line, more)),
            Layout::Digits(record) => digits_line(record, line, more),
            Layout::Fields(fields) => fields.read(line, more),
            Layout::Apk(apk) => Some(apk.read(line)),
            Layout::Jar(jar) => Some(jar.read(line)),
            _ if line.is_empty() => Some(Line::Blank),
            Layout::Lines => None,
            Layout::Columns(columns) => Some(columns.read(line)),
            Layout::Properties(record) => Some(property_line(record, line).unwrap_or_else(Line::Unread)),
            Layout::Xml(xml) => Some(xml.read(line)),
        }
    }

    /// What remains if the list ends here.
    pub(super) fn end(self, more: &mut Vec<Line<'static>>) -> Option<Line<'static>> {
        let is_within = match self {
            Layout::Fields(mut fields) => {
                fields.give(more);
                false
            }
            Layout::Digits(record) => return record.map(Record::finish),
            Layout::Properties(record) => record.is_some(),
            Layout::Mtree(mtree) => mtree.is_within(),
            Layout::Xml(xml) => xml.is_within,
            Layout::Apk(apk) => apk.is_within(),
            Layout::Jar(mut jar) => {
                more.extend([jar.read(b""), jar.end()].into_iter().filter(|line| *line != Line::Blank));
                false
            }
            Layout::Lines | Layout::Columns(_) => false,
        };
        is_within.then_some(Line::Unread(BadLine::Unfinished))
    }

    /// The layout that a first line of Get-FileHash begins.
    pub(super) fn of_file_hash(line: &[u8]) -> Option<Layout> {
        // Most lines of a list end here.
        let first = line.strip_prefix(b"\"").unwrap_or(line);
        let begins =
            |word: &str| first.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word.as_bytes()));
        if line.len() > FIRST_MAX_NBYTES || !["Algorithm", "Hash", "Path"].into_iter().any(begins) {
            return None;
        }
        if property(line).is_some_and(|(name, value)| name == Column::Algorithm && !value.is_empty()) {
            return Some(Layout::Properties(None));
        }
        Columns::of_file_hash(line).map(Layout::Columns)
    }
}

impl Columns {
    /// Columns that no line has.
    pub(super) fn nothing() -> Columns {
        Columns { split: Split::Commas, columns: Vec::new(), why: BadLine::Columns }
    }

    /// Those of `<hex> <length> <name>`, if the rest of a line after the digest and a space is so.
    pub(super) fn sized(algorithm: Algorithm, rest: &[u8]) -> Option<Columns> {
        let ndigits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_length = ndigits > 0 && (ndigits == 1 || rest[0] != b'0');
        let has_name = rest.get(ndigits) == Some(&b' ') && !after_blanks(&rest[ndigits..]).is_empty();
        let columns = vec![Column::Digest(algorithm), Column::Size, Column::Name];
        let why = BadLine::Form { name: "sizes" };
        (is_length && has_name).then_some(Columns { split: Split::Blanks, columns, why })
    }

    /// Reads the names of hashdeep's columns, or its name and version.
    pub(super) fn header(&mut self, names: &[u8]) -> Result<(), BadLine> {
        if names == b"HASHDEEP-1.0" {
            return Ok(());
        }
        // Lines below columns that are not understood are not read in another way.
        self.columns = Vec::new();
        let names = names.strip_suffix(b",filename").ok_or(BadLine::Columns)?;
        let (mut found, mut lacking) = (Vec::new(), None);
        for name in names.split(|&byte| byte == b',') {
            let column = match (name, Sum::named(name)) {
                (b"size", _) => Column::Size,
                (_, Some(Sum::Digest(algorithm))) => Column::Digest(algorithm),
                _ => {
                    lacking.get_or_insert(name);
                    Column::Other
                }
            };
            if column != Column::Other && found.contains(&column) {
                return Err(BadLine::Columns);
            }
            found.push(column);
        }
        found.push(Column::Name);
        self.columns = found;
        lacking.map_or(Ok(()), |name| Err(BadLine::algorithm(name)))
    }

    /// The columns that a line of heads of Get-FileHash names.
    fn of_file_hash(line: &[u8]) -> Option<Columns> {
        use Column::{Algorithm, Hash, Name, Other};
        let is_whole = |columns: &[Column]| {
            [Algorithm, Hash, Name].iter().all(|one| columns.iter().filter(|other| *other == one).count() == 1)
        };
        let by_words = (Split::Blanks, words(line).map(Column::of).collect::<Vec<_>>());
        let by_words = Some(by_words).filter(|(_, columns)| !columns.contains(&Other) && columns.last() == Some(&Name));
        let mut all = [b',', b';', b'\t'].into_iter().filter_map(|delimiter| {
            let heads = cells(line, delimiter)?;
            Some((Split::Csv(delimiter), heads.iter().map(|name| Column::of(name)).collect::<Vec<_>>()))
        });
        let (split, columns) = all.find(|(_, columns)| is_whole(columns)).or(by_words)?;
        is_whole(&columns).then_some(Columns { split, columns, why: BadLine::FileHash })
    }

    /// The columns that the first line of a table names: of a file and its digests.
    pub(super) fn of_table(line: &[u8]) -> Option<Columns> {
        const NAMES: [&str; 4] = ["name", "filename", "file", "path"];
        let column = |name: &Cow<'_, [u8]>| {
            let is = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
            Some(match Sum::named(name) {
                Some(Sum::Digest(algorithm)) => Column::Digest(algorithm),
                Some(Sum::Crc(_)) => return None,
                None if is(&NAMES) => Column::Name,
                None if is(&["size", "length"]) => Column::Size,
                None => Column::Other,
            })
        };
        let is_whole = |columns: &Vec<Column>| {
            let once = |one: &Column| columns.iter().filter(|other| *other == one).count() == 1;
            once(&Column::Name)
                && columns.iter().any(|one| matches!(one, Column::Digest(_)))
                && columns.iter().all(|one| *one == Column::Other || once(one))
        };
        let mut all =
            [b',', b';', b'\t'].into_iter().filter(|_| line.len() <= FIRST_MAX_NBYTES).filter_map(|delimiter| {
                let columns: Vec<_> = cells(line, delimiter)?.iter().map(column).collect::<Option<_>>()?;
                let why = BadLine::Form { name: "csv" };
                is_whole(&columns).then_some(Columns { split: Split::Csv(delimiter), columns, why })
            });
        all.next()
    }

    fn read<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        match self.split {
            Split::Commas => {
                if let Some(names) = line.strip_prefix(b"%%%% ") {
                    return self.header(names).map_or_else(Line::Unread, |()| Line::Blank);
                }
            }
            // Once more the heads, or the line below them.
            Split::Blanks | Split::Csv(_) => {
                let is_rule = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'-'));
                if self.why == BadLine::FileHash && (is_rule || Columns::of_file_hash(line).is_some()) {
                    return Line::Blank;
                }
            }
        }
        match self.entry(line) {
            // Without the number of cells the line may be anything.
            Err(BadLine::FileHash) if self.cells(line).is_none() => Line::Bad(BadLine::FileHash),
            Err(_) if Columns::of_table(line).is_some_and(|again| again.columns == self.columns) => Line::Blank,
            entry => entry.map_or_else(Line::Unread, Line::Entry),
        }
    }

    fn cells<'a>(&self, line: &'a [u8]) -> Option<Vec<Cow<'a, [u8]>>> {
        let ncells = self.columns.len();
        let mut found = Vec::with_capacity(ncells);
        match self.split {
            Split::Csv(delimiter) => found = cells(line, delimiter)?,
            Split::Commas => found.extend(line.splitn(ncells, |&byte| byte == b',').map(Cow::Borrowed)),
            Split::Blanks => {
                let is_padded = self.why == BadLine::FileHash;
                let mut rest = if is_padded { line.trim_ascii() } else { after_blanks(line) };
                for i in 1..ncells {
                    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
                    found.push(rest[..end].into());
                    // A name may begin with a space.
                    rest = if is_padded || i + 1 < ncells { after_blanks(&rest[end..]) } else { &rest[end + 1..] };
                }
                found.push(rest.into());
            }
        }
        (found.len() == ncells).then_some(found)
    }

    /// The entry of a line `<name>: <hex>` of a gem's checksums.yaml.
    fn gem<'a>(&self, name: &'a [u8], hex: &[u8]) -> Option<Entry<'a>> {
        let Column::Digest(algorithm) = *self.columns.first()? else { return None };
        let digest = digest(algorithm, hex).filter(|_| !name.is_empty() && !name.contains(&0))?;
        Some(Entry::new(vec![(algorithm, digest)], true, name.into()))
    }

    /// The entry of a line.
    pub(super) fn entry<'a>(&self, line: &'a [u8]) -> Result<Entry<'a>, BadLine> {
        let why = || self.why.clone();
        let mut entry = Entry::new(Vec::new(), true, Cow::Borrowed(b""));
        let (mut named, mut hash) = (Cow::Borrowed(&b""[..]), Cow::Borrowed(&b""[..]));
        for (column, cell) in self.columns.iter().zip(self.cells(line).ok_or_else(why)?) {
            match *column {
                Column::Size => entry.nbytes = Some(number(&cell).ok_or_else(why)?),
                Column::Digest(algorithm) => entry.push(Sum::Digest(algorithm), &cell).ok_or_else(why)?,
                Column::Algorithm => named = cell,
                Column::Hash => hash = cell,
                Column::Name => entry.name = cell,
                // A digest of an algorithm that hashloom lacks. hashdeep's line of columns has told of its own.
                Column::Other if matches!(self.split, Split::Csv(_)) && hex_ndigits(&cell) >= DIGITS_MIN => {
                    return Err(why());
                }
                Column::Other => {}
            }
        }
        if self.why == BadLine::FileHash {
            return of_windows(&named, &hash, entry.name.into_owned());
        }
        entry.is_tagged = self.why != BadLine::Form { name: "sizes" };
        if entry.name.is_empty() || entry.name.contains(&0) || entry.digests.is_empty() {
            return Err(why());
        }
        if matches!(self.split, Split::Commas) && is_piece(&entry) {
            return Err(BadLine::NoFile("a piece of a file"));
        }
        Ok(entry)
    }
}

/// Whether the name ends with `offset 0-4095` and the length says the same.
fn is_piece(entry: &Entry<'_>) -> bool {
    let parts = || {
        let at = entry.name.windows(8).rposition(|part| part == b" offset ")?;
        let mut ends = entry.name[at + 8..].split(|&byte| byte == b'-').map(number);
        let (first, last) = (ends.next()??, ends.next()??);
        Some(entry.nbytes == Some(last.checked_sub(first)? + 1))
    };
    parts() == Some(true)
}

impl Column {
    fn of(name: &[u8]) -> Column {
        let known = [("Algorithm", Column::Algorithm), ("Hash", Column::Hash), ("Path", Column::Name)];
        let found = known.into_iter().find(|(other, _)| name.eq_ignore_ascii_case(other.as_bytes()));
        found.map_or(Column::Other, |(_, column)| column)
    }
}

fn property_line<'a>(record: &mut Option<Record>, line: &'a [u8]) -> Result<Line<'a>, BadLine> {
    let first = |value: &[u8]| value.get(..=DIGITS_MAX).unwrap_or(value).to_vec();
    match (property(line), &mut *record) {
        (Some((Column::Algorithm, value)), _) => {
            let before = record.replace(Record { algorithm: first(value), ..Record::default() });
            return before.map_or(Ok(Line::Blank), |_| Err(BadLine::Unfinished));
        }
        (Some((Column::Hash, value)), Some(record)) if record.hex.is_empty() => record.hex = first(value),
        (Some((Column::Name, value)), _) => {
            let Record { algorithm, hex, .. } = record.take().ok_or(BadLine::FileHash)?;
            return of_windows(&algorithm, &hex, value.to_vec()).map(Line::Entry);
        }
        (Some(_), _) => return Err(BadLine::FileHash),
        // A narrow window wraps long values.
        (None, Some(Record { hex, .. })) if !hex.is_empty() && line.starts_with(b"  ") => {
            let more = after_blanks(line).trim_ascii_end();
            if hex.len() + more.len() > DIGITS_MAX {
                return Err(BadLine::FileHash);
            }
            hex.extend_from_slice(more);
        }
        (None, _) if line.starts_with(b"  ") => return Err(BadLine::Cut),
        (None, _) => return Ok(Line::Bad(BadLine::FileHash)),
    }
    Ok(Line::Blank)
}

/// An entry of Get-FileHash.
fn of_windows<'a>(named: &[u8], hex: &[u8], mut name: Vec<u8>) -> Result<Entry<'a>, BadLine> {
    // No name in Windows ends with a point.
    if [hex, &name].iter().any(|cell| cell.ends_with(b"...") || cell.ends_with("…".as_bytes())) {
        return Err(BadLine::Cut);
    }
    let algorithm = algorithm(named).ok_or_else(|| BadLine::algorithm(named))?;
    let digest = digest(algorithm, hex).filter(|_| !name.is_empty() && !name.contains(&0));
    let digest = digest.ok_or(BadLine::FileHash)?;
    let has_drive = matches!(&name[..], [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    if has_drive || name.starts_with(b"\\\\") {
        name.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    Ok(Entry::new(vec![(algorithm, digest)], true, name.into()))
}

/// `Name : value`
fn property(line: &[u8]) -> Option<(Column, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_name = name.ends_with(b" ") && !name.starts_with(b" ");
    let column = Column::of(name.trim_ascii_end());
    (is_name && column != Column::Other).then(|| (column, value.trim_ascii()))
}

/// The cells of a line of CSV (RFC 4180).
pub(super) fn cells(line: &[u8], delimiter: u8) -> Option<Vec<Cow<'_, [u8]>>> {
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = match rest.strip_prefix(b"\"") {
            Some(mut quoted) => {
                let mut cell = Vec::new();
                loop {
                    let end = quoted.iter().position(|&byte| byte == b'"')?;
                    cell.extend_from_slice(&quoted[..end]);
                    quoted = &quoted[end + 1..];
                    if quoted.first() != Some(&b'"') {
                        break;
                    }
                    cell.push(b'"');
                    quoted = &quoted[1..];
                }
                (Cow::Owned(cell), quoted)
            }
            None => {
                let end = rest.iter().position(|&byte| byte == delimiter).unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
            }
        };
        found.push(cell);
        match after.split_first() {
            None => return Some(found),
            Some((&byte, after)) if byte == delimiter => rest = after,
            Some(_) => return None,
        }
    }
}

impl Section {
    /// The section of digests that a field begins.
    pub(super) fn of(key: &[u8]) -> Option<Section> {
        key.first().filter(|byte| byte.is_ascii_uppercase())?;
        let is_files = key == b"Files";
        let name = key.strip_prefix(b"Checksums-").unwrap_or(key);
        let name = if name.eq_ignore_ascii_case(b"MD5Sum") || is_files { b"MD5" } else { name };
        let digest = Column::Digest(algorithm(name)?);
        let of = |columns| Columns { split: Split::Blanks, columns, why: BadLine::Form { name: "debian" } };
        // Section and priority.
        let five = vec![digest, Column::Size, Column::Other, Column::Other, Column::Name];
        Some(Section::Digests(of(vec![digest, Column::Size, Column::Name]), is_files.then(|| of(five))))
    }
}

impl Fields {
    pub(super) fn new(section: Section, has_digests: bool) -> Fields {
        Fields { section, has_digests, files: Vec::new(), numbers: HashMap::new() }
    }

    fn read<'a>(&mut self, line: &'a [u8], more: &mut Vec<Line<'static>>) -> Option<Line<'a>> {
        let form = || Line::Unread(BadLine::Form { name: "debian" });
        if line.is_empty() {
            self.give(more);
            return Some(Line::Blank);
        }
        if matches!(line[0], b' ' | b'\t') {
            let bare = line.trim_ascii();
            let (mut parts, nparts) = (words(bare), words(bare).count());
            return Some(match &self.section {
                Section::Digests(three, five) => {
                    let columns = five.as_ref().filter(|_| nparts == 5).unwrap_or(three);
                    // No name has a blank.
                    let is_whole = nparts == columns.columns.len();
                    let gem = || three.gem(parts.next()?.strip_suffix(b":")?, parts.next()?).filter(|_| nparts == 2);
                    match columns.entry(bare).ok().filter(|_| is_whole).or_else(gem) {
                        Some(entry) => {
                            self.add(entry, more);
                            Line::Blank
                        }
                        None => form(),
                    }
                }
                Section::Other(key) => {
                    let is_hex =
                        parts.next().is_some_and(|word| word.len() >= DIGITS_MIN && hex_ndigits(word) == word.len());
                    if is_hex && parts.next().is_some() {
                        Line::Unread(BadLine::algorithm(key))
                    } else if OTHERS.contains(&&key[..]) {
                        Line::Blank
                    } else {
                        foreign(line, "debian")
                    }
                }
            });
        }
        let end = line.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-').unwrap_or(line.len());
        let Some(value) = line[end..].strip_prefix(b":") else { return self.has_digests.then(form) };
        let found = Section::of(&line[..end]);
        let is_empty = value.trim_ascii().is_empty();
        self.has_digests |= found.is_some();
        let is_unread = found.is_some() && !is_empty;
        self.section = found.filter(|_| is_empty).unwrap_or_else(|| Section::Other(line[..end.min(64)].to_vec()));
        Some(match &self.section {
            // The digest of a file that another field names, as in Packages.
            _ if is_unread => form(),
            Section::Other(key) if !OTHERS.contains(&&key[..]) => ignored(line, "debian"),
            _ => Line::Blank,
        })
    }

    /// Adds a digest to those of its file, so that the file is read once.
    fn add(&mut self, entry: Entry<'_>, more: &mut Vec<Line<'static>>) {
        /// Files that wait for further digests.
        const FILES_MAX: usize = 1 << 16;
        let is_other = |file: &&mut Entry<'_>| {
            file.nbytes == entry.nbytes && file.digests.iter().all(|(other, _)| *other != entry.digests[0].0)
        };
        let number = self.numbers.get(&*entry.name);
        match number.and_then(|&number| self.files.get_mut(number)).filter(is_other) {
            Some(file) => file.digests.extend(entry.digests),
            None => {
                self.numbers.insert(entry.name.to_vec(), self.files.len());
                self.files.push(Entry { name: entry.name.into_owned().into(), ..entry });
            }
        }
        if self.files.len() >= FILES_MAX {
            self.give(more);
        }
    }

    /// Gives the files, the first one last.
    fn give(&mut self, more: &mut Vec<Line<'static>>) {
        self.numbers.clear();
        more.extend(self.files.drain(..).rev().map(Line::Entry));
    }
}

impl Apk {
    fn read<'a>(&mut self, line: &'a [u8]) -> Line<'a> {
        let form = || Line::Unread(BadLine::Form { name: "apk" });
        let (key, value) = match line.split_first() {
            Some((&key, [b':', value @ ..])) if key.is_ascii_alphabetic() => (key, value),
            Some(_) => return form(),
            None => (0, line),
        };
        if matches!(key, 0 | b'F' | b'R') && self.is_within() {
            self.name.clear();
            return Line::Unread(BadLine::NoDigest);
        }
        match key {
            b'F' => self.folder = value.to_vec(),
            b'R' => (self.name, self.is_link) = (value.to_vec(), false),
            b'a' => self.is_link = value.ends_with(b":777"),
            b'Z' if !self.is_link => {
                let algorithm = if value.starts_with(b"Q1") { Algorithm::Sha1 } else { Algorithm::Sha256 };
                let text = value.strip_prefix(b"Q1").or(value.strip_prefix(b"Q2"));
                let digest = text.and_then(|text| from_base64(algorithm, text)).filter(|_| self.is_within());
                let mut name = self.folder.clone();
                name.extend_from_slice(if name.is_empty() { b"" } else { b"/" });
                name.append(&mut self.name);
                return digest
                    .map_or_else(form, |digest| Line::Entry(Entry::new(vec![(algorithm, digest)], true, name.into())));
            }
            // The package's digest, and the name of a commit.
            b'C' | b'c' if words(value).count() == 1 => {}
            _ => return ignored(line, "apk"),
        }
        Line::Blank
    }

    /// Whether the digest of a file must follow.
    fn is_within(&self) -> bool {
        !self.name.is_empty() && !self.is_link
    }
}

impl Jar {
    fn read<'a>(&mut self, line: &[u8]) -> Line<'a> {
        if let Some(more) = line.strip_prefix(b" ") {
            self.line.extend_from_slice(more);
            return if self.line.len() > FIRST_MAX_NBYTES { Line::Unread(BadLine::Unfinished) } else { Line::Blank };
        }
        let before = std::mem::replace(&mut self.line, line.to_vec());
        let text = |end: &[u8]| before.windows(end.len()).position(|part| part == end).map(|at| before.split_at(at));
        if before.is_empty() {
            return self.end();
        }
        if let Some(name) = before.strip_prefix(b"Name: ").filter(|name| self.name.is_empty() && !name.contains(&0)) {
            self.name = name.to_vec();
            return Line::Blank;
        }
        let Some((tag, value)) = text(b"-Digest") else { return ignored(&before, "jar") };
        let read = || {
            let algorithm = algorithm(tag)?;
            from_base64(algorithm, value.strip_prefix(b"-Digest: ")?).map(|digest| (algorithm, digest))
        };
        match read().filter(|_| !self.name.is_empty()) {
            Some(digest) => self.digests.push(digest),
            None => return Line::Unread(BadLine::Form { name: "jar" }),
        }
        Line::Blank
    }

    /// The entry of a section.
    fn end<'a>(&mut self) -> Line<'a> {
        let (name, digests) = (std::mem::take(&mut self.name), std::mem::take(&mut self.digests));
        if !digests.is_empty() {
            Line::Entry(Entry::new(digests, true, name.into()))
        } else if name.is_empty() || name.ends_with(b"/") {
            // A folder, or the attributes of all.
            Line::Blank
        } else {
            Line::Unread(BadLine::NoDigest)
        }
    }
}

impl Record {
    /// The record that a line of `gpg --print-md` begins.
    pub(super) fn print_md(line: &[u8]) -> Option<Record> {
        let is_hex = |word: &[u8]| matches!(word.len(), 2 | 4 | 8) && hex_ndigits(word) == word.len();
        // From the end: groups of digits, an algorithm, the name. A name is longer than a first part of it.
        let nwords = words(line).rev().take_while(|word| is_hex(word)).count();
        let mut groups: Vec<&[u8]> = words(line).rev().take(nwords).collect();
        groups.reverse();
        let first = *groups.first().filter(|_| nwords > 1)?;
        let before = line[..first.as_ptr() as usize - line.as_ptr() as usize].trim_ascii_end();
        let (before, algorithm) = match before.strip_suffix(b"=").map(<[u8]>::trim_ascii_end) {
            Some(before) => {
                let at = before.iter().rposition(|&byte| byte == b' ')?;
                (before[..at].trim_ascii_end(), before[at + 1..].to_vec())
            }
            None => (before, Vec::new()),
        };
        let name = before.strip_suffix(b":").filter(|name| !name.is_empty())?;
        let is_even = groups.iter().all(|word| word.len() == first.len()) && nwords * first.len() >= 16;
        let algorithm = match (algorithm.is_empty(), first.len()) {
            (true, 2) => b"MD5".to_vec(),
            (true, 4) => b"SHA1".to_vec(),
            _ => algorithm,
        };
        (is_even && line.len() <= FIRST_MAX_NBYTES).then(|| Record {
            name: name.to_vec(),
            algorithm,
            hex: groups.concat(),
        })
    }

    /// The record that a line of certutil begins.
    pub(super) fn certutil(line: &[u8]) -> Option<Record> {
        let before = line.strip_suffix(b":")?;
        let at = before.windows(9).position(|part| part == b" hash of ")?;
        let name = Some(&before[at + 9..]).filter(|name| !name.is_empty())?;
        let name = name.strip_prefix(b"file ").unwrap_or(name).to_vec();
        algorithm(&line[..at]).map(|_| Record { name, algorithm: line[..at].to_vec(), hex: Vec::new() })
    }

    /// Whether no more digits can follow.
    fn is_whole(&self) -> bool {
        algorithm(&self.algorithm).is_some_and(|algorithm| self.hex.len() >= 2 * algorithm.digest_nbytes())
    }

    fn finish(self) -> Line<'static> {
        let known = if self.algorithm.is_empty() { of_length(self.hex.len()) } else { algorithm(&self.algorithm) };
        let Some(algorithm) = known else {
            let length = BadLine::Length { ndigits: self.hex.len() };
            return Line::Unread(if self.algorithm.is_empty() { length } else { BadLine::algorithm(&self.algorithm) });
        };
        match digest(algorithm, &self.hex) {
            Some(digest) => Line::Entry(Entry::new(vec![(algorithm, digest)], true, self.name.into())),
            None => Line::Unread(BadLine::Unfinished),
        }
    }
}

/// The end of a record may show in the line below it only.
fn digits_line<'a>(open: &mut Option<Record>, line: &'a [u8], more: &mut Vec<Line<'static>>) -> Option<Line<'a>> {
    if let Some(mut record) = open.take() {
        let is_hex = words(line).all(|word| hex_ndigits(word) == word.len());
        let is_next = line.starts_with(b" ") || record.hex.is_empty();
        if is_next && is_hex && !record.is_whole() && record.hex.len() <= DIGITS_MAX {
            words(line).for_each(|word| record.hex.extend_from_slice(word));
            *open = Some(record);
            return Some(Line::Blank);
        }
        more.push(record.finish());
    }
    *open = Record::print_md(line).or_else(|| Record::certutil(line));
    if line.starts_with(b"CertUtil: ") {
        Some(ignored(line, "certutil"))
    } else {
        (open.is_some() || line.is_empty()).then_some(Line::Blank)
    }
}
