// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums that are no hashes: the CRCs and the sums of bytes that `cksum` and `sum` print.
//!
//! `cksum` and `sum` read one file after the other: a CPU computes such sums about as fast as one thread reads.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use crc_fast::{CrcAlgorithm, Digest};
use hashloom_files::paths::portable;
use hashloom_files::run::Cancel;
use hashloom_frame::input;
use hashloom_frame::printing::Console;
use hashloom_list::command::crc::append_length;
use hashloom_list::command::summing::trouble;

/// A checksum that is no hash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sum {
    Bsd,
    Sysv,
    /// POSIX's `cksum`.
    Crc,
    /// The CRC of zip, gzip and Ethernet.
    Crc32b,
}

/// How many bytes are read at once; they stay in the level 2 cache.
const READ_NBYTES: usize = 128 << 10;

/// The checksum of the bytes so far.
enum State {
    Bsd(u16),
    /// The sum modulo 2^32.
    Sysv(u32),
    Crc(Digest),
    Crc32b(Digest),
}

impl State {
    fn new(sum: Sum) -> State {
        match sum {
            Sum::Bsd => State::Bsd(0),
            Sum::Sysv => State::Sysv(0),
            Sum::Crc => State::Crc(Digest::new(CrcAlgorithm::Crc32Cksum)),
            Sum::Crc32b => State::Crc32b(Digest::new(CrcAlgorithm::Crc32IsoHdlc)),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            State::Bsd(sum) => bytes.iter().for_each(|&byte| *sum = sum.rotate_right(1).wrapping_add(byte.into())),
            State::Sysv(sum) => {
                *sum = sum.wrapping_add(bytes.iter().fold(0, |sum: u32, &byte| sum.wrapping_add(byte.into())));
            }
            State::Crc(digest) | State::Crc32b(digest) => digest.update(bytes),
        }
    }

    fn finish(mut self, nbytes: u64) -> u32 {
        if let State::Crc(state) = &mut self {
            append_length(state, nbytes);
        }
        match self {
            State::Bsd(sum) => sum.into(),
            State::Sysv(sum) => {
                let folded = (sum & 0xffff) + (sum >> 16);
                (folded & 0xffff) + (folded >> 16)
            }
            // A CRC of 32 bits.
            State::Crc(digest) | State::Crc32b(digest) => digest.finalize() as u32,
        }
    }
}

impl Sum {
    /// Appends the line of a file, which ends in the byte `end`. Standard input that nobody has named has no name.
    fn write(self, into: &mut Vec<u8>, sum: u32, nbytes: u64, name: Option<&[u8]>, end: u8) {
        let text = match self {
            Sum::Bsd => format!("{sum:05} {:5}", nbytes.div_ceil(1024)),
            Sum::Sysv => format!("{sum} {}", nbytes.div_ceil(512)),
            Sum::Crc | Sum::Crc32b => format!("{sum} {nbytes}"),
        };
        into.extend_from_slice(text.as_bytes());
        if let Some(name) = name {
            into.extend_from_slice(&[b" ", name].concat());
        }
        into.push(end);
    }

    /// Appends the sum as bytes, the highest first.
    fn write_raw(self, into: &mut Vec<u8>, sum: u32) {
        let bytes = sum.to_be_bytes();
        into.extend_from_slice(if matches!(self, Sum::Bsd | Sum::Sysv) { &bytes[2..] } else { &bytes });
    }

    /// Prints the sums of files. Returns true if all were read.
    pub fn print(self, files: &[PathBuf], format: &Format, console: &Console<'_>, stop: &Cancel) -> bool {
        let mut buffer = vec![0; READ_NBYTES];
        let mut is_right = true;
        for file in files {
            if stop.is_cancelled() {
                break;
            }
            let name = &*portable(file);
            match self.of(file.clone(), &mut buffer) {
                Ok((sum, _)) if format.raw => console.print(|lines| self.write_raw(lines, sum)),
                Ok((sum, nbytes)) => {
                    let name = Some(name).filter(|_| format.names);
                    console.print(|lines| self.write(lines, sum, nbytes, name, format.end));
                }
                Err(error) => {
                    is_right = false;
                    console.message(&trouble(name, &error));
                }
            }
        }
        is_right
    }

    /// Returns the sum of a file, and its length.
    fn of(self, file: PathBuf, buffer: &mut [u8]) -> io::Result<(u32, u64)> {
        let mut reader = input::raw(&file)?;
        let (mut state, mut nbytes) = (State::new(self), 0);
        loop {
            match reader.read(buffer) {
                Ok(0) => return Ok((state.finish(nbytes), nbytes)),
                Ok(nread) => {
                    nbytes += nread as u64;
                    state.update(&buffer[..nread]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// How sums are printed.
pub struct Format {
    /// Whether the bytes of a sum are printed alone.
    pub raw: bool,
    /// Whether the name of the file follows.
    pub names: bool,
    /// The byte that ends a line.
    pub end: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(sum: Sum, bytes: &[u8], nparts: usize) -> u32 {
        let mut state = State::new(sum);
        bytes.chunks(bytes.len().div_ceil(nparts).max(1)).for_each(|part| state.update(part));
        state.finish(bytes.len() as u64)
    }

    /// The check values of the catalogue of CRCs ("123456789"), with POSIX's length after the CRC-32/CKSUM; and the
    /// sums that coreutils' tests have.
    #[test]
    fn values_of_others() {
        for nparts in [1, 2, 9] {
            assert_eq!(sum(Sum::Crc32b, b"123456789", nparts), 0xcbf4_3926);
            assert_eq!(sum(Sum::Crc, b"123456789", nparts), 930_766_865);
            assert_eq!(sum(Sum::Crc, b"", nparts), u32::MAX);
            assert_eq!(sum(Sum::Bsd, b"\0\x01abc", nparts), 24748);
            assert_eq!(sum(Sum::Sysv, &vec![255; 16_843_009], nparts), 65535);
            assert_eq!(sum(Sum::Sysv, &vec![255; 16_843_010], nparts), 254);
        }
    }
}
