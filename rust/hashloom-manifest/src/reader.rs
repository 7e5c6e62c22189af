// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a manifest, which may come from anybody.

use std::io::BufRead;

use hashloom::{Algorithm, Hash, Hasher};
use hashloom_files::walk::Filter;

use crate::line::{Header, Line, at, read_line};
use crate::writer::{FORMAT, VERSION};
use crate::{Entry, Error, Problem, Sequence, Totals};

/// Reads a manifest, line by line, in memory that does not depend on its length.
///
/// The reader is an iterator over the entries. It checks the order of the paths, the keys and digests of each line, and
/// at the end the counts and the digest of all lines. After an error the iterator ends. Keys may be in any order, with
/// any white space that JSON allows in a line.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_manifest::{Entry, Kind, Problem, Reader, Totals, Writer};
///
/// let mut writer = Writer::new(Vec::new(), &[Algorithm::Sha256])?;
/// let entry = Entry { path: b"link".to_vec(), kind: Kind::Link { target: b"..".to_vec() } };
/// writer.write(&entry)?;
/// let manifest = writer.finish()?;
///
/// let mut reader = Reader::new(&manifest[..])?;
/// assert!(reader.algorithms() == [Algorithm::Sha256] && reader.wanted().wants_all());
/// assert_eq!(reader.next().unwrap()?, entry);
/// assert!(reader.next().is_none());
/// let totals: Totals = reader.totals().unwrap();
/// assert_eq!(totals.nlinks, 1);
///
/// let cut = &manifest[..manifest.len() - 1];
/// let error = Reader::new(cut)?.find_map(Result::err).unwrap();
/// assert!(matches!(error.problem, Problem::Cut));
/// # Ok::<(), hashloom_manifest::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    algorithms: Vec<Algorithm>,
    filter: Filter,
    nlines: u64,
    lines: Hasher,
    line: Vec<u8>,
    sequence: Sequence,
    totals: Totals,
    has_ended: bool,
    is_whole: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// If the line is not that of a manifest of a known version.
    pub fn new(mut input: R) -> Result<Reader<R>, Error> {
        let mut line = Vec::new();
        let read = match read_line(&mut input, &mut line) {
            Ok(Some(())) => Header::read(&line, FORMAT, VERSION),
            Ok(None) | Err(Problem::Cut | Problem::TooLong) => Err(Problem::NotAManifest),
            Err(problem) => Err(problem),
        };
        let (algorithms, filter) = read.map_err(at(1))?;
        let mut reader = Reader {
            input,
            algorithms,
            filter,
            nlines: 1,
            lines: Hasher::new(Algorithm::Sha256),
            line,
            sequence: Sequence::default(),
            totals: Totals::default(),
            has_ended: false,
            is_whole: false,
        };
        reader.count_line();
        Ok(reader)
    }

    /// The algorithms of the digests of each file, in their order.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// The filter that chose the files of the manifest.
    pub fn wanted(&self) -> &Filter {
        &self.filter
    }

    /// The totals, once the manifest was read to its end without an error.
    pub fn totals(&self) -> Option<Totals> {
        self.is_whole.then_some(self.totals)
    }

    fn count_line(&mut self) {
        self.line.push(b'\n');
        self.lines.update(&self.line);
    }

    fn read(&mut self) -> Result<Option<Entry>, Problem> {
        read_line(&mut self.input, &mut self.line)?.ok_or(Problem::Cut)?;
        let line = Line::parse(&self.line)?;
        if line.is_end() {
            let (totals, digest) = line.into_end()?;
            self.check_end(totals, digest)?;
            match read_line(&mut self.input, &mut self.line) {
                Ok(None) => self.is_whole = true,
                Err(Problem::Io(error)) => return Err(Problem::Io(error)),
                _ => return Err(Problem::After),
            }
            return Ok(None);
        }
        let entry = line.into_entry(&self.algorithms)?;
        self.sequence.check(&entry)?;
        self.totals.add(&entry.kind).ok_or(Problem::TooManyBytes)?;
        self.count_line();
        Ok(Some(entry))
    }

    fn check_end(&self, expected: Totals, digest: Hash) -> Result<(), Problem> {
        let found = self.totals;
        let counts = [
            ("files", expected.nfiles, found.nfiles),
            ("links", expected.nlinks, found.nlinks),
            ("folders", expected.nfolders, found.nfolders),
            ("unread", expected.nunread, found.nunread),
            ("bytes", expected.nbytes, found.nbytes),
        ];
        if let Some(&(key, expected, found)) = counts.iter().find(|(_, expected, found)| expected != found) {
            return Err(Problem::Count { key, expected, found });
        }
        if self.lines.clone().finalize() != digest {
            return Err(Problem::Damaged);
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Result<Entry, Error>> {
        if self.has_ended {
            return None;
        }
        self.nlines += 1;
        let read = self.read().map_err(at(self.nlines)).transpose();
        self.has_ended = !matches!(read, Some(Ok(_)));
        read
    }
}
