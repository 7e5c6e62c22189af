// SPDX-License-Identifier: MIT OR Apache-2.0

//! What PowerShell's `Get-FileHash` prints: a table, properties below each other, or CSV.

use std::borrow::Cow;

use super::{BadLine, Entry, Line, after_blanks, digest};

/// No known digest has more hexadecimal digits.
const DIGITS_MAX: usize = 128;
const FIRST_MAX_NBYTES: usize = 4096;

/// How the lines below a first line are read.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// `Algorithm  Hash  Path`, cells with blanks between.
    Table(Vec<Column>),
    /// `"Algorithm","Hash","Path"`
    Csv(u8, Vec<Column>),
    /// `Algorithm : SHA256`, `Hash      : …`, `Path      : …`
    Properties(Option<Record>),
}

/// A record of properties, as far as it has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    algorithm: Vec<u8>,
    hex: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Algorithm,
    Hash,
    Path,
    Other,
}

impl Column {
    fn of(name: &[u8]) -> Column {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is("Algorithm") {
            Column::Algorithm
        } else if is("Hash") {
            Column::Hash
        } else if is("Path") {
            Column::Path
        } else {
            Column::Other
        }
    }
}

impl Layout {
    /// The layout that a first line begins.
    pub(super) fn begun_by(line: &[u8]) -> Option<Layout> {
        use Column::{Algorithm, Hash, Other, Path};
        let is_whole = |columns: &[Column]| {
            [Algorithm, Hash, Path].iter().all(|one| columns.iter().filter(|other| *other == one).count() == 1)
        };
        // Most lines of a list end here.
        if line.len() > FIRST_MAX_NBYTES || !matches!(line.first()?.to_ascii_lowercase(), b'"' | b'a' | b'h' | b'p') {
            return None;
        }
        if property(line).is_some_and(|(name, value)| name == Algorithm && !value.is_empty()) {
            return Some(Layout::Properties(None));
        }
        for delimiter in [b',', b';', b'\t'] {
            let Some(names) = cells(line, delimiter) else { continue };
            let columns: Vec<Column> = names.iter().map(|name| Column::of(name)).collect();
            if is_whole(&columns) {
                return Some(Layout::Csv(delimiter, columns));
            }
        }
        let words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        let columns: Vec<Column> = words.map(Column::of).collect();
        (is_whole(&columns) && !columns.contains(&Other) && columns.last() == Some(&Path))
            .then_some(Layout::Table(columns))
    }

    /// Reads a line; `is_first`: it is the one that began the layout.
    pub(super) fn parse<'a>(&mut self, line: &'a [u8], is_first: bool) -> Line<'a> {
        let cells = match self {
            Layout::Properties(record) => return property_line(record, line).unwrap_or_else(Line::Unread),
            _ if is_first => return Line::Blank,
            Layout::Table(columns) => {
                // The line below the heads; and the heads of one more table.
                if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'-')) || Layout::begun_by(line).is_some() {
                    return Line::Blank;
                }
                row(line, columns.len()).map(|cells| (&*columns, cells.map(Cow::Borrowed).collect::<Vec<_>>()))
            }
            Layout::Csv(delimiter, columns) => match cells(line, *delimiter) {
                Some(cells) if cells.iter().map(|name| Column::of(name)).eq(columns.iter().copied()) => {
                    return Line::Blank;
                }
                cells => cells.filter(|cells| cells.len() == columns.len()).map(|cells| (&*columns, cells)),
            },
        };
        let Some((columns, cells)) = cells else { return Line::Bad(BadLine::FileHash) };
        let cell = |column| columns.iter().position(|other| *other == column).map_or(&b""[..], |at| &cells[at]);
        entry(cell(Column::Algorithm), cell(Column::Hash), cell(Column::Path).to_vec())
            .map_or_else(Line::Unread, Line::Entry)
    }

    /// Whether more lines of a record must follow.
    pub(super) fn is_within_record(&self) -> bool {
        matches!(self, Layout::Properties(Some(_)))
    }
}

fn property_line<'a>(record: &mut Option<Record>, line: &'a [u8]) -> Result<Line<'a>, BadLine> {
    let first = |value: &[u8]| value.get(..=DIGITS_MAX).unwrap_or(value).to_vec();
    match (property(line), &mut *record) {
        (Some((Column::Algorithm, value)), _) => {
            let before = record.replace(Record { algorithm: first(value), hex: Vec::new() });
            return before.map_or(Ok(Line::Blank), |_| Err(BadLine::Unfinished));
        }
        (Some((Column::Hash, value)), Some(record)) if record.hex.is_empty() => record.hex = first(value),
        (Some((Column::Path, value)), _) => {
            let Record { algorithm, hex } = record.take().ok_or(BadLine::FileHash)?;
            return entry(&algorithm, &hex, value.to_vec()).map(Line::Entry);
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

fn entry<'a>(algorithm: &[u8], hex: &[u8], mut name: Vec<u8>) -> Result<Entry<'a>, BadLine> {
    // No name in Windows ends with a point.
    if [hex, &name].iter().any(|cell| cell.ends_with(b"...") || cell.ends_with("…".as_bytes())) {
        return Err(BadLine::Cut);
    }
    let known = std::str::from_utf8(algorithm).ok().and_then(|name| name.to_ascii_lowercase().parse().ok());
    let algorithm = known.ok_or_else(|| BadLine::algorithm(algorithm))?;
    let digest = digest(algorithm, hex).ok_or(BadLine::FileHash)?;
    if name.is_empty() || name.contains(&0) {
        return Err(BadLine::FileHash);
    }
    if is_of_windows(&name) {
        name.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    Ok(Entry { digests: vec![(algorithm, digest)], is_tagged: true, nbytes: None, name: name.into() })
}

/// Whether a path begins with a drive or a server, as Windows writes it.
fn is_of_windows(path: &[u8]) -> bool {
    matches!(path, [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic()) || path.starts_with(b"\\\\")
}

/// `Name : value`
fn property(line: &[u8]) -> Option<(Column, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_name = name.ends_with(b" ") && !name.starts_with(b" ");
    let column = Column::of(name.trim_ascii_end());
    (is_name && column != Column::Other).then(|| (column, value.trim_ascii()))
}

/// The cells of a row of a table. The last one may have blanks.
fn row(line: &[u8], ncells: usize) -> Option<impl Iterator<Item = &[u8]>> {
    let mut rest = line.trim_ascii();
    let mut found = Vec::with_capacity(ncells);
    for _ in 1..ncells {
        let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
        found.push(&rest[..end]);
        rest = after_blanks(&rest[end..]);
    }
    found.push(rest);
    Some(found.into_iter())
}

/// The cells of a line of CSV (RFC 4180).
fn cells(line: &[u8], delimiter: u8) -> Option<Vec<Cow<'_, [u8]>>> {
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
