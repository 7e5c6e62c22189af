// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that says what is to be done, such as a list of checksums: it is read once, while the work goes on.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use crate::read::open::read_at_once;
use crate::read::stamp::{Stamp, Verdict};

/// A file that is read from beginning to end. The read that finds the end fails if somebody has written to the file
/// since it was opened, or if the file gave fewer or more bytes than its length: what was read may never have been the
/// content of the file. Pipes and devices are read as they are.
///
/// ```
/// use std::io::Read;
///
/// use hashloom_files::Watched;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("list");
/// std::fs::write(&path, "abc")?;
/// let mut list = Watched::open(&path)?;
/// let mut bytes = [0; 2];
/// assert_eq!((list.read_at(&mut bytes, 1)?, &bytes), (2, b"bc"));
/// list.read_exact(&mut bytes)?;
/// std::fs::write(&path, "abd")?;
/// let error = list.read_to_end(&mut Vec::new()).unwrap_err();
/// assert!(Watched::has_changed(&error));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Watched {
    file: File,
    /// `None` if it is not a regular file.
    before: Option<Stamp>,
    /// Number of bytes before the position now. A shell may have read some of them.
    nbytes: u64,
}

#[derive(Debug)]
struct Changed;

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("changed while it was read; run again when nothing writes to it")
    }
}

impl std::error::Error for Changed {}

impl Watched {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be opened or looked at.
    pub fn open(path: &Path) -> io::Result<Watched> {
        Watched::new(File::open(path)?)
    }

    /// Takes an open file, to be read from its present position on.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub fn new(mut file: File) -> io::Result<Watched> {
        let before = Stamp::before_reading(&file)?;
        let nbytes = if before.is_some() { file.stream_position()? } else { 0 };
        Ok(Watched { file, before, nbytes })
    }

    /// Reads from a place of its own, also while others read. At the end of the file it fails as [`Read`] does.
    ///
    /// # Errors
    /// If the file has no places, as a pipe, cannot be read, or has changed.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let nbytes = read_at_once(&self.file, into, offset)?;
        if nbytes == 0 && !into.is_empty() {
            self.judge(offset)?;
        }
        Ok(nbytes)
    }

    /// Whether this is the error of a file that has changed.
    #[must_use]
    pub fn has_changed(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Changed>())
    }

    /// The end was found after that number of bytes.
    fn judge(&self, nbytes: u64) -> io::Result<()> {
        let Some(before) = &self.before else { return Ok(()) };
        match before.judge(&self.file, nbytes) {
            Verdict::Whole => Ok(()),
            Verdict::Changed => Err(io::Error::other(Changed)),
            Verdict::Odd(error) => Err(error),
        }
    }
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.file.read(into)?;
        self.nbytes += nbytes as u64;
        if nbytes == 0 && !into.is_empty() {
            self.judge(self.nbytes)?;
        }
        Ok(nbytes)
    }
}
