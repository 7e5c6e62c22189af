// SPDX-License-Identifier: MIT OR Apache-2.0

//! How `shasum` and `sha3sum` read a file: as it is, with all ends of lines alike, or as bits that are written as
//! characters.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;

use hashloom_files::Source;
use hashloom_files::paths::portable;
use hashloom_frame::input::{self, BUFFER_NBYTES};
use hashloom_list::command::summing::{Item, source};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    Bytes,
    /// CR LF and CR are read as LF, if perl would take the file for text.
    Newlines,
    /// The characters 0 and 1 are bits, the first one the highest; all others are ignored.
    Bits,
}

impl Mode {
    /// Returns the source of a name on a command line or in a list; `-` is standard input.
    pub fn source(self, path: PathBuf) -> Source {
        match self {
            Mode::Bytes => source(path),
            mode => Source::reader(Filtered { path, mode, state: None }),
        }
    }

    /// Returns the item of a name on a command line.
    pub fn item(self, path: PathBuf) -> Item {
        let name = portable(&path).into_owned();
        Item::Named(self.source(path), name)
    }
}

/// Bytes of a file that go through a mode. The file is opened by the first read: many may wait in a list.
struct Filtered {
    path: PathBuf,
    mode: Mode,
    state: Option<State>,
}

struct State {
    input: BufReader<Box<dyn Read + Send>>,
    mode: Mode,
    /// Whether the last byte was a carriage return.
    after_cr: bool,
    /// Bits that do not fill a byte yet, below a one.
    bits: u16,
}

/// The number of bytes by which perl tells text.
const TEXT_NBYTES: usize = 512;

impl Read for Filtered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let state = match &mut self.state {
            Some(state) => state,
            None => self.state.insert(State::open(input::raw(&self.path)?, self.mode)?),
        };
        loop {
            let found = match state.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                found => found?,
            };
            if found.is_empty() {
                return state.end();
            }
            let found = &found[..found.len().min(into.len())];
            let nread = found.len();
            let nbytes = match state.mode {
                Mode::Bytes => {
                    into[..nread].copy_from_slice(found);
                    nread
                }
                Mode::Newlines => newlines(found, into, &mut state.after_cr),
                Mode::Bits => bits(found, into, &mut state.bits),
            };
            state.input.consume(nread);
            if nbytes > 0 || into.is_empty() {
                return Ok(nbytes);
            }
        }
    }
}

impl State {
    fn open(mut file: Box<dyn Read + Send>, mode: Mode) -> io::Result<State> {
        let mut first = Vec::new();
        file.by_ref().take(TEXT_NBYTES as u64).read_to_end(&mut first)?;
        let mode = if mode == Mode::Newlines && !is_text(&first) { Mode::Bytes } else { mode };
        let all: Box<dyn Read + Send> = Box::new(io::Cursor::new(first).chain(file));
        Ok(State { input: BufReader::with_capacity(BUFFER_NBYTES, all), mode, after_cr: false, bits: 1 })
    }

    fn end(&self) -> io::Result<usize> {
        match self.bits.ilog2() {
            0 => Ok(0),
            nbits => {
                let message = format!("{nbits} bits follow the last whole byte, and hashloom hashes whole bytes only");
                Err(io::Error::other(message))
            }
        }
    }
}

/// Writes the bytes with LF in place of CR LF and CR. Returns the number of bytes written, which are not more.
fn newlines(from: &[u8], into: &mut [u8], after_cr: &mut bool) -> usize {
    let mut nbytes = 0;
    for &byte in from {
        // The carriage return before this line feed was written as one.
        if !std::mem::replace(after_cr, byte == b'\r') || byte != b'\n' {
            into[nbytes] = if byte == b'\r' { b'\n' } else { byte };
            nbytes += 1;
        }
    }
    nbytes
}

/// Writes a byte for every eight characters 0 and 1. Returns the number of bytes written.
fn bits(from: &[u8], into: &mut [u8], bits: &mut u16) -> usize {
    let mut nbytes = 0;
    for &byte in from {
        if matches!(byte, b'0' | b'1') {
            *bits = *bits << 1 | u16::from(byte & 1);
            if *bits >= 1 << 8 {
                into[nbytes] = *bits as u8;
                nbytes += 1;
                *bits = 1;
            }
        }
    }
    nbytes
}

/// Whether perl's `-T` takes these first bytes of a file for text: UTF-8 with letters beyond ASCII; or no NUL, and at
/// most a third that are neither printable ASCII nor blank nor an escape.
fn is_text(first: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(first).map_or_else(|error| error.error_len().is_none(), |_| true);
    if is_utf8 && !first.is_ascii() {
        return true;
    }
    let is_odd = |byte: &&u8| !matches!(byte, b' '..=b'~' | b'\t' | b'\n' | 0x0c | b'\r' | 0x1b);
    !first.contains(&0) && 3 * first.iter().filter(is_odd).count() <= first.len()
}
