// SPDX-License-Identifier: MIT OR Apache-2.0

//! The CRCs of lists.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crc_fast::{CrcAlgorithm, Digest};
use hashloom_files::run::lock;
use hashloom_frame::input;

use crate::Crc;

/// The CRCs that a list gives for a file, and those that it has.
pub struct Crcs {
    listed: Vec<(Crc, u64)>,
    nbytes: Option<u64>,
    found: Arc<Mutex<Found>>,
}

#[derive(Default)]
struct Found {
    states: Vec<Digest>,
    nbytes: u64,
}

impl Crcs {
    pub fn new(listed: Vec<(Crc, u64)>, nbytes: Option<u64>) -> Crcs {
        Crcs { listed, nbytes, found: Arc::default() }
    }

    /// Reads a file, whose digests may be computed from the same bytes.
    pub fn reader(&self, path: PathBuf) -> impl Read + Send + use<> {
        let states = self.listed.iter().map(|(crc, _)| Digest::new(polynomial(*crc))).collect();
        lock(&self.found).states = states;
        Reader { path, input: None, found: Arc::clone(&self.found) }
    }

    /// Whether the bytes that were read have these CRCs, and this length.
    pub fn are_right(&self) -> bool {
        let is_whole = self.nbytes.is_none_or(|listed| listed == lock(&self.found).nbytes);
        is_whole && self.listed.iter().all(|&(crc, value)| self.has(crc, value))
    }

    /// Whether the bytes that were read have this CRC, which must be a listed one.
    pub fn has(&self, crc: Crc, value: u64) -> bool {
        let Found { states, nbytes } = &*lock(&self.found);
        let state = self.listed.iter().zip(states).find(|((other, _), _)| *other == crc).map(|(_, state)| *state);
        state.is_some_and(|mut state| {
            if crc == Crc::Posix {
                append_length(&mut state, *nbytes);
            }
            state.finalize() == value
        })
    }

    pub fn names(&self) -> impl Iterator<Item = String> {
        self.listed.iter().map(|(crc, _)| crc.tag().to_lowercase())
    }
}

fn polynomial(crc: Crc) -> CrcAlgorithm {
    match crc {
        Crc::Crc32c => CrcAlgorithm::Crc32Iscsi,
        Crc::Crc64Nvme => CrcAlgorithm::Crc64Nvme,
        Crc::Posix => CrcAlgorithm::Crc32Cksum,
        _ => CrcAlgorithm::Crc32IsoHdlc,
    }
}

/// POSIX appends the length, its lowest byte first, without zeros at its end.
pub fn append_length(state: &mut Digest, nbytes: u64) {
    let length = nbytes.to_le_bytes();
    let end = length.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    state.update(&length[..end]);
}

/// A file, opened by the first read: many may wait in a list.
struct Reader {
    path: PathBuf,
    input: Option<Box<dyn Read + Send>>,
    found: Arc<Mutex<Found>>,
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let input = match &mut self.input {
            Some(input) => input,
            None => self.input.insert(input::raw(&self.path)?),
        };
        let nbytes = input.read(into)?;
        let mut found = lock(&self.found);
        found.nbytes += nbytes as u64;
        found.states.iter_mut().for_each(|state| state.update(&into[..nbytes]));
        Ok(nbytes)
    }
}
