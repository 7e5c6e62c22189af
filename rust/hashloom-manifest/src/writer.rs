// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes a manifest.

use std::io::Write;

use hashloom::{Algorithm, Hasher};
use hashloom_files::walk::Filter;

use crate::line::{Header, Line, at, check_algorithms};
use crate::{Entry, Error, LINE_MAX_NBYTES, Problem, Sequence, Totals};

/// Format and version in the first line.
pub(super) const FORMAT: &str = "hashloom manifest";
pub(super) const VERSION: u64 = 1;

/// Writes a manifest, line by line.
///
/// Each line is a call of `write`: put an output without a buffer into a [`BufWriter`](std::io::BufWriter).
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::walk::Filter;
/// use hashloom_manifest::{Entry, Kind, Reader, Writer};
///
/// let filter = Filter::new(&["*.jpg"], &[])?;
/// let mut writer = Writer::filtered(Vec::new(), &[Algorithm::Sha256], &filter)?;
/// let folder = Entry { path: b"empty".to_vec(), kind: Kind::Folder };
/// writer.write(&folder)?;
/// assert!(writer.write(&folder).is_err());
/// assert_eq!(writer.totals().nfolders, 1);
/// let manifest = writer.finish()?;
/// assert_eq!(*Reader::new(&manifest[..])?.wanted(), filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    algorithms: Vec<Algorithm>,
    /// The line that is being written.
    line: Vec<u8>,
    nlines: u64,
    lines: Hasher,
    sequence: Sequence,
    totals: Totals,
}

impl<W: Write> Writer<W> {
    /// Writes the first line.
    ///
    /// # Errors
    /// If there are no algorithms, or one is there twice; if the line cannot be written.
    pub fn new(out: W, algorithms: &[Algorithm]) -> Result<Writer<W>, Error> {
        Writer::filtered(out, algorithms, &Filter::default())
    }

    /// Writes the first line of a manifest of the files that a filter wants. The filter becomes part of the line; the
    /// entries are not compared with it.
    ///
    /// # Errors
    /// As of [`new`](Writer::new), and if the line is longer than [`LINE_MAX_NBYTES`].
    pub fn filtered(out: W, algorithms: &[Algorithm], filter: &Filter) -> Result<Writer<W>, Error> {
        check_algorithms(algorithms).map_err(at(1))?;
        let mut line = Vec::new();
        Header::write(&mut line, (FORMAT, VERSION), algorithms, filter);
        if line.len() > LINE_MAX_NBYTES {
            return Err(at(1)(Problem::TooLong));
        }
        let mut writer = Writer {
            out,
            algorithms: algorithms.to_vec(),
            line,
            nlines: 0,
            lines: Hasher::new(Algorithm::Sha256),
            sequence: Sequence::default(),
            totals: Totals::default(),
        };
        writer.end_line()?;
        Ok(writer)
    }

    /// Writes an entry, which must come after the one before by
    /// [`by_components`](hashloom_files::paths::by_components).
    ///
    /// # Errors
    /// If the path is not relative, not sorted, or in a folder that was not written; if there is not one digest for
    /// each algorithm; if the line cannot be written. A bad entry writes nothing.
    pub fn write(&mut self, entry: &Entry) -> Result<(), Error> {
        let at = at(self.nlines + 1);
        self.line.clear();
        Line::of(entry, &self.algorithms).map_err(&at)?.write(&mut self.line);
        if self.line.len() > LINE_MAX_NBYTES {
            return Err(at(Problem::TooLong));
        }
        self.sequence.check(entry).map_err(&at)?;
        self.totals.add(&entry.kind).ok_or(Problem::TooManyBytes).map_err(&at)?;
        self.end_line()
    }

    /// The totals so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Writes the last line, flushes, and returns the output.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        let digest = self.lines.clone().finalize();
        self.line.clear();
        Line::end(&self.totals, &digest).write(&mut self.line);
        self.end_line()?;
        self.out.flush().map_err(|error| at(self.nlines)(Problem::Io(error)))?;
        Ok(self.out)
    }

    fn end_line(&mut self) -> Result<(), Error> {
        self.nlines += 1;
        self.line.push(b'\n');
        self.lines.update(&self.line);
        self.out.write_all(&self.line).map_err(|error| at(self.nlines)(Problem::Io(error)))
    }
}
