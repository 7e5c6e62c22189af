// SPDX-License-Identifier: MIT OR Apache-2.0

//! What earlier runs have found out, in one file: digests of files, verdicts on pieces, digests of objects.
//!
//! The file is text. Entries are only ever appended, so that however the program ends, all lines but the last are
//! whole:
//!
//! ```text
//! hashloom state 1 <a random number> <the subject> <check>
//! <key> <tie> <value> <check>
//! ```
//!
//! The key is that of a thing, such as a file; what is known of it is the value, in the words of the caller; the
//! [`Tie`] says of which thing at which time. The last entry of a key holds. An entry with the value `-` says that
//! nothing is known any more. The check is a SHA-256 over the random number and the rest of the line, or an HMAC-SHA256
//! if the state has a secret: then nobody without the secret can add or change an entry, or take one from another
//! state. The first line that is wrong or torn, and all lines after it, are cut off when the file is opened: what they
//! said is found out again.
//!
//! ```
//! use hashloom_state::{State, Tie};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state");
//! let tie = Tie::of("here", "version 1");
//! let mut state = State::at(&path, "demo")?;
//! state.add(b"thing", &tie, "found")?;
//! assert!(state.add(b"thing", &tie, "two words").is_err());
//! state.flush()?;
//! # drop(state);
//!
//! // Another day:
//! let (tie, value) = State::at(&path, "demo")?.last(b"thing").unwrap();
//! assert_eq!(value, "found");
//! assert!(tie.doubt_at(&Tie::of("here", "version 1")).is_none());
//! assert!(tie.doubt_at(&Tie::of("here", "version 2")).is_some());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use hashloom::{Algorithm, HmacKey};

use hashloom_files::text::{Hex, quoted};

use crate::Tie;

const BEGINNING: &str = "hashloom state 1 ";

/// The longest line, in bytes.
const LINE_MAX_NBYTES: u64 = 1 << 16;

/// Entries are written at the latest after this time, or when they fill this much memory.
const WAIT: Duration = Duration::from_secs(1);
const BUFFER_NBYTES: usize = 1 << 16;

/// Entries wait in this much memory if the file cannot be written. Then nothing more is written: a later entry may rest
/// on an earlier one.
const WAITING_MAX_NBYTES: usize = 1 << 22;

/// The value of a key of which nothing is known any more.
const NOTHING: &str = "-";

/// Bytes of a check or of a key, and their hexadecimal digits.
const ID_NBYTES: usize = 16;
const ID_NDIGITS: usize = 2 * ID_NBYTES;

/// An open state. Memory holds two numbers for each entry that the file had when it was opened; lines are read again
/// when they are asked for.
///
/// See the [crate](crate) for an example.
#[derive(Debug)]
pub struct State {
    file: File,
    secret: Option<HmacKey>,
    /// The random number of the first line, in hexadecimal.
    number: String,
    /// The beginning of each entry's key, and the offset of its line. Sorted.
    known: Vec<(u64, u64)>,
    /// Length of the file.
    end: u64,
    waiting: Vec<u8>,
    flushed: Instant,
}

impl State {
    /// Opens the file at a path, or makes it, as [`open`](State::open) does, without a secret. As long as the state is
    /// open, no other call opens it, on Unix.
    ///
    /// # Errors
    /// As [`open`](State::open), and `WouldBlock` if another call or program has it open.
    pub fn at(path: &Path, subject: &str) -> io::Result<State> {
        let file = File::options().read(true).append(true).create(true).open(path)?;
        #[cfg(unix)]
        {
            use rustix::fs::{FlockOperation, flock};
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another run is writing it"));
            }
        }
        State::open(file, subject, None)
    }

    /// Begins a state in an empty file, or goes on with the one in the file, which must be open for reading and
    /// writing.
    ///
    /// `subject` says in words, in one line, what the entries are; a state of another subject is an error. `secret`
    /// authenticates the entries.
    ///
    /// # Errors
    /// If the file cannot be read and written; `InvalidInput` for a subject of several lines; `InvalidData` if the file
    /// is no state, or is one of another subject, or is not authenticated by the secret: the file is left as it is
    /// then.
    pub fn open(mut file: File, subject: &str, secret: Option<&[u8]>) -> io::Result<State> {
        if subject.contains(char::is_control) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the subject of a state must be one line"));
        }
        let secret = secret.map(|secret| HmacKey::new(Algorithm::Sha256, secret));
        let (number, known, end) = (String::new(), Vec::new(), 0);
        file.seek(SeekFrom::Start(0))?;
        let mut state = State { file, secret, number, known, end, waiting: Vec::new(), flushed: Instant::now() };
        if !state.read(subject)? {
            state.number = random();
            let number = state.number.clone();
            state.file.set_len(0)?;
            state.put(format_args!("{BEGINNING}{number} {subject}"));
            state.flush()?;
        }
        Ok(state)
    }

    /// Whether nothing was known of any thing when the file was opened, apart from things [forgotten](State::forget)
    /// since.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Number of entries when the file was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The tie and the value of the last entry of a key that was there when the file was opened. `None` if there is
    /// none, or it cannot be read any more.
    pub fn last(&mut self, key: &[u8]) -> Option<(Tie, String)> {
        let key = Hex(&key_of(key)).to_string();
        let place = self.known[self.places(&key)].last()?.1;
        self.entry_at(place).filter(|(found, ..)| *found == key).map(|(_, tie, value)| (tie, value))
    }

    /// Hands out all entries of a key that were there when the file was opened, in the order in which they were added.
    pub fn all(&mut self, key: &[u8], mut each: impl FnMut(Tie, &str)) {
        let key = Hex(&key_of(key)).to_string();
        for index in self.places(&key) {
            match self.entry_at(self.known[index].1) {
                Some((found, tie, value)) if found == key => each(tie, &value),
                // What comes after an entry that cannot be read may rest on it.
                _ => break,
            }
        }
    }

    /// Adds an entry, which replaces the last one of its key for later runs. It reaches the file at the latest with the
    /// first call of `add` or of [`flush_if_due`](State::flush_if_due) a second later, or with [`flush`](State::flush).
    ///
    /// # Errors
    /// If the file cannot be written; `InvalidInput` if the value is empty, has more than a few thousand bytes, or has
    /// others than the visible ones of ASCII.
    pub fn add(&mut self, key: &[u8], tie: &Tie, value: &str) -> io::Result<()> {
        let is_word = !value.is_empty() && value != NOTHING && value.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_word || value.len() > LINE_MAX_NBYTES as usize / 2 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a value of a state must be one short word"));
        }
        self.put(format_args!("{} {tie} {value}", Hex(&key_of(key))));
        self.flush_if_due()
    }

    /// Notes that nothing is known of a thing any more.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget(&mut self, key: &[u8]) -> io::Result<()> {
        let key = Hex(&key_of(key)).to_string();
        self.known.drain(self.places(&key));
        self.put(format_args!("{key} {} {NOTHING}", Tie::of("", "")));
        self.flush_if_due()
    }

    /// Writes the added entries, if that is due. Call it while nothing is added for long.
    ///
    /// # Errors
    /// As [`flush`](State::flush).
    pub fn flush_if_due(&mut self) -> io::Result<()> {
        if self.waiting.len() >= BUFFER_NBYTES || self.flushed.elapsed() >= WAIT { self.flush() } else { Ok(()) }
    }

    /// Writes the added entries to the file.
    ///
    /// # Errors
    /// If the file cannot be written. The next call tries again.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.waiting.len() > WAITING_MAX_NBYTES {
            return Err(io::Error::other("the file could not be written for too long"));
        }
        // Looking for a line moves the position in the file.
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(&self.waiting));
        if let Err(error) = written {
            // Nothing may come after a torn line.
            self.file.set_len(self.end)?;
            return Err(error);
        }
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Closes the state without writing what is not written yet: for a file that is removed.
    pub fn discard(mut self) {
        self.waiting.clear();
    }

    /// The check of a line.
    fn check(&self, line: &[u8]) -> [u8; ID_NBYTES] {
        let message = [self.number.as_bytes(), line].concat();
        let digest = match &self.secret {
            Some(secret) => hashloom::hmac(secret, &message),
            None => hashloom::hash(Algorithm::Sha256, &message),
        };
        std::array::from_fn(|index| digest.as_ref()[index])
    }

    fn put(&mut self, line: fmt::Arguments<'_>) {
        let start = self.waiting.len();
        if start <= WAITING_MAX_NBYTES {
            // Writing into memory cannot fail.
            let _ = self.waiting.write_fmt(line);
            let check = self.check(&self.waiting[start..]);
            let _ = writeln!(self.waiting, " {}", Hex(&check));
        }
    }

    /// The text of a line without its check, if that is right.
    fn checked<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
        let (text, check) = line.rsplit_once(' ')?;
        (Hex(&self.check(text.as_bytes())).to_string() == check).then_some(text)
    }

    /// Reads the file up to the first line that is wrong. Returns false if the file is empty, or ends in its first
    /// line.
    fn read(&mut self, subject: &str) -> io::Result<bool> {
        let mut input = BufReader::new(self.file.try_clone()?);
        let mut line = Vec::new();
        read_line(&mut input, &mut line)?;
        let beginning = &line[..line.len().min(BEGINNING.len())];
        if !BEGINNING.as_bytes().starts_with(beginning) {
            let found = quoted(beginning).to_string();
            return Err(invalid(format!("expected a state that begins with {:?}, found {found}", BEGINNING.trim())));
        }
        if line.last() != Some(&b'\n') {
            return if (line.len() as u64) < LINE_MAX_NBYTES {
                Ok(false)
            } else {
                Err(invalid("it is no state: its first line is too long".into()))
            };
        }
        let words = std::str::from_utf8(&line[BEGINNING.len()..]).ok().and_then(|line| line.split_once(' '));
        let (number, rest) = words.ok_or_else(|| invalid("it is no state: its first line is damaged".into()))?;
        self.number = number.to_owned();
        if self.checked(&line).is_none() {
            return Err(invalid(match self.secret {
                Some(_) => "nothing in it counts: it is not authenticated by this key".into(),
                None => "its first line is damaged, or the state was authenticated by a key".to_owned(),
            }));
        }
        let found = rest.rsplit_once(' ').map_or(rest, |(found, _)| found);
        if found != subject {
            return Err(invalid(format!("it has {}, not {subject}", quoted(found.as_bytes()))));
        }
        let mut forgotten = HashMap::new();
        loop {
            self.end += line.len() as u64;
            read_line(&mut input, &mut line)?;
            let Some((key, _, value)) = self.checked(&line).and_then(entry) else { break };
            match value {
                NOTHING => drop(forgotten.insert(prefix(key), self.end)),
                _ => self.known.push((prefix(key), self.end)),
            }
        }
        if !line.is_empty() {
            self.file.set_len(self.end)?;
        }
        self.known.retain(|(key, place)| forgotten.get(key).is_none_or(|forgotten| forgotten < place));
        self.known.sort_unstable();
        Ok(true)
    }

    /// The indices of the entries of a key.
    fn places(&self, key: &str) -> std::ops::Range<usize> {
        let key = prefix(key);
        let first = self.known.partition_point(|&(other, _)| other < key);
        first..self.known.partition_point(|&(other, _)| other <= key)
    }

    /// The entry at an offset: its key, tie and value.
    fn entry_at(&mut self, place: u64) -> Option<(String, Tie, String)> {
        self.file.seek(SeekFrom::Start(place)).ok()?;
        let mut line = Vec::new();
        read_line(&mut BufReader::with_capacity(1 << 9, &self.file), &mut line).ok()?;
        let (key, tie, value) = self.checked(&line).and_then(entry)?;
        Some((key.to_owned(), tie, value.to_owned()))
    }
}

/// A caller that must know whether the entries were written calls [`flush`](State::flush) before.
impl Drop for State {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// The key, tie and value of an entry.
fn entry(text: &str) -> Option<(&str, Tie, &str)> {
    let mut words = text.split(' ');
    let (key, tie, value) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    (key.len() == ID_NDIGITS && key.is_ascii() && words.next().is_none()).then_some((key, tie, value))
}

fn key_of(key: &[u8]) -> [u8; ID_NBYTES] {
    let digest = hashloom::hash(Algorithm::Sha256, key);
    std::array::from_fn(|index| digest.as_ref()[index])
}

/// The beginning of a key, by which it is found.
fn prefix(key: &str) -> u64 {
    key.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

/// A number that no other state has. It need not be secret.
fn random() -> String {
    let half = || RandomState::new().hash_one(Instant::now());
    format!("{:016x}{:016x}", half(), half())
}

/// Reads a line with its line feed, as far as it is not too long. Nothing at the end of the file.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    input.take(LINE_MAX_NBYTES).read_until(b'\n', line).map(drop)
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
