// SPDX-License-Identifier: MIT OR Apache-2.0

//! The digests of files, kept while a folder is read, to continue an interrupted run.
//!
//! Lines are only ever appended: however the program ends, all lines but the last are whole. A torn line is cut off
//! when the journal is opened again. Memory holds two numbers for each file; a line is read again when it is asked for.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use hashloom::{Algorithm, Hash};

use super::line::{Header, Line, read_line, to_io};
use super::{Entry, Kind, LINE_MAX_NBYTES, Problem};
use crate::files::{Doubt, Noted, Stamp};
use crate::walk::Filter;

const FORMAT: &str = "hashloom journal";
const VERSION: u64 = 2;

/// Lines are written at the latest after this time, or when they fill this much memory.
const WAIT: Duration = Duration::from_secs(1);
const BUFFER_NBYTES: usize = 1 << 16;

/// A growing file with the digests of files, their paths and stamps.
///
/// A digest holds as long as the file's stamp is the same, apart from the device's number, if there was no
/// [doubt](Noted::doubt) that a change would show.
///
/// ```
/// use hashloom_engine::manifest::Journal;
/// use hashloom::{Algorithm, hash};
/// use hashloom_engine::files::Noted;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("journal");
/// # std::fs::write(folder.path().join("abc.txt"), b"abc")?;
/// let noted = Noted::of(&folder.path().join("abc.txt"))?; // before it is read
/// let digests = [hash(Algorithm::Sha1, b"abc")];
/// let mut journal = Journal::create(std::fs::File::create_new(&path)?, &[Algorithm::Sha1])?;
/// journal.add(b"abc.txt", &noted, &digests)?;
/// journal.flush()?;
///
/// // Another day:
/// let file = std::fs::File::options().read(true).write(true).open(&path)?;
/// let mut journal = Journal::open(file, &[Algorithm::Sha1])?;
/// match noted.doubt {
///     None => assert_eq!(journal.find(b"abc.txt", &noted.stamp), Some(Ok(digests.to_vec()))),
///     Some(doubt) => assert_eq!(journal.find(b"abc.txt", &noted.stamp), Some(Err(doubt))),
/// }
/// assert_eq!(journal.find(b"other", &noted.stamp), None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    file: File,
    algorithms: Vec<Algorithm>,
    state: RandomState,
    /// For each line that was there when the journal was opened, a hash of its path and its offset. Sorted.
    known: Vec<(u64, u64)>,
    waiting: Vec<u8>,
    flushed: Instant,
}

impl Journal {
    /// Begins a journal in an empty file, which must be open for reading and writing.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let journal = Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?;
    /// assert_eq!(journal.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(mut file: File, algorithms: &[Algorithm]) -> io::Result<Journal> {
        let mut line = Vec::new();
        Header::write(&mut line, (FORMAT, VERSION), algorithms, &Filter::default());
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Journal::new(file, algorithms))
    }

    /// Continues the journal in a file, which must be open for reading and writing. A torn line at its end is removed.
    ///
    /// # Errors
    /// If the file cannot be read and written; `InvalidData` if the file is not a journal of these algorithms, in this
    /// order, for instance an empty file: the file is left as it is then.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let error = Journal::open(tempfile::tempfile()?, &[Algorithm::Sha1]).unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(file: File, algorithms: &[Algorithm]) -> io::Result<Journal> {
        let mut journal = Journal::new(file, algorithms);
        journal.read()?;
        Ok(journal)
    }

    fn new(file: File, algorithms: &[Algorithm]) -> Journal {
        Journal {
            file,
            algorithms: algorithms.to_vec(),
            state: RandomState::new(),
            known: Vec::new(),
            waiting: Vec::new(),
            flushed: Instant::now(),
        }
    }

    /// Number of files in the journal when it was opened.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    /// assert_eq!(Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the journal had no files when it was opened.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    /// assert!(Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The digests of a file, if it was in the journal when that was opened; or a doubt, if the digests may not be
    /// those of the file as it is now. `None` if the journal has no readable line for the file.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::files::Stamp;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let file = tempfile::tempfile()?;
    /// let stamp = Stamp::of(&file.metadata()?);
    /// assert_eq!(Journal::create(file, &[Algorithm::Sha1])?.find(b"a", &stamp), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&mut self, path: &[u8], stamp: &Stamp) -> Option<Result<Vec<Hash>, Doubt>> {
        let hash = self.state.hash_one(path);
        let first = self.known.partition_point(|&(other, _)| other < hash);
        let places: Vec<u64> =
            self.known[first..].iter().take_while(|&&(other, _)| other == hash).map(|&(_, place)| place).collect();
        // If a file was added again, its last line holds.
        places.into_iter().rev().find_map(|place| {
            let (entry, found) = self.line_at(place)?;
            match entry.kind {
                Kind::File { digests, .. } if entry.path == path => {
                    Some(found.doubt_at(stamp).map_or(Ok(digests), Err))
                }
                _ => None,
            }
        })
    }

    /// Adds a file; `noted` must have been taken before the file was read. The line reaches the journal's file at the
    /// latest with the first [`add`](Journal::add) a second later, by [`flush_if_due`](Journal::flush_if_due) after
    /// that time, or by [`flush`](Journal::flush).
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::files::Noted;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let file = tempfile::NamedTempFile::new()?;
    /// let noted = Noted::of(file.path())?; // before the file is read
    /// let mut journal = Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?;
    /// journal.add(b"empty", &noted, &[hashloom::hash(Algorithm::Sha1, b"")])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&mut self, path: &[u8], noted: &Noted, digests: &[Hash]) -> io::Result<()> {
        Line::of_noted(path, noted, digests, &self.algorithms).map_err(to_io)?.write(&mut self.waiting);
        self.waiting.push(b'\n');
        self.flush_if_due()
    }

    /// Writes the added lines to the file if they are many or have waited for a second.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let mut journal = Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?;
    /// journal.flush_if_due()?; // now and then
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush_if_due(&mut self) -> io::Result<()> {
        match self.waiting.len() >= BUFFER_NBYTES || self.flushed.elapsed() >= WAIT {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes the added lines to the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_engine::manifest::Journal;
    ///
    /// let mut journal = Journal::create(tempfile::tempfile()?, &[Algorithm::Sha1])?;
    /// journal.flush()?; // before the program ends
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush(&mut self) -> io::Result<()> {
        // Looking for a line moves the position in the file.
        let written = self.file.seek(SeekFrom::End(0)).and_then(|_| self.file.write_all(&self.waiting));
        self.waiting.clear();
        self.flushed = Instant::now();
        written
    }

    /// Notes the offset of each line, up to the first that makes no sense; that line and all after it are cut off.
    fn read(&mut self) -> io::Result<()> {
        let mut input = BufReader::new(&self.file);
        let mut line = Vec::new();
        let header = read_line(&mut input, &mut line).and_then(|_| Header::read(&line, FORMAT, VERSION));
        let (algorithms, _) = header.map_err(|problem| match problem {
            Problem::Io(error) => error,
            _ => invalid("expected {\"format\":\"hashloom journal\",…} in the first line"),
        })?;
        if algorithms != self.algorithms {
            let names = |algorithms: &[Algorithm]| algorithms.iter().map(|a| a.name()).collect::<Vec<_>>().join(", ");
            let (found, expected) = (names(&algorithms), names(&self.algorithms));
            return Err(invalid(&format!("it has digests of {found}, not of {expected}")));
        }
        let mut end = line.len() as u64 + 1;
        loop {
            match read_line(&mut input, &mut line) {
                Ok(Some(())) => {}
                Err(Problem::Io(error)) => return Err(error),
                Ok(None) | Err(_) => break,
            }
            let Ok((entry, _)) = Line::parse(&line).and_then(|line| line.into_noted(&self.algorithms)) else { break };
            self.known.push((self.state.hash_one(&entry.path[..]), end));
            end += line.len() as u64 + 1;
        }
        self.known.sort_unstable();
        self.file.set_len(end)
    }

    fn line_at(&mut self, place: u64) -> Option<(Entry, Noted)> {
        self.file.seek(SeekFrom::Start(place)).ok()?;
        let mut line = Vec::new();
        let mut input = BufReader::with_capacity(1 << 10, &self.file).take(LINE_MAX_NBYTES as u64 + 1);
        input.read_until(b'\n', &mut line).ok()?;
        Line::parse(&line).ok()?.into_noted(&self.algorithms).ok()
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is not a journal of such a run: {message}"))
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A caller that must know whether the write succeeded calls `flush` before.
        let _ = self.flush();
    }
}
