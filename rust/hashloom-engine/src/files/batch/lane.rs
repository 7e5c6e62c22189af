// SPDX-License-Identifier: MIT OR Apache-2.0

//! A message that is being read: opened by a call of its own or with others by a ring, read by chunks or, if it is long,
//! mapped.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use hashloom::{Hash, Hasher};

use super::room::{CHUNK_NBYTES, Room};
use crate::files::request::{FileError, Hashed, Request, Source, stdin};
use crate::read::ahead::{self, read_ahead};
use crate::read::map::Mapping;
use crate::read::ring::Begun;
use crate::read::stamp::{READINGS_MAX, Stamp, Verdict};
use crate::read::stream;
use crate::run::Options;
use crate::run::pool::Pool;

/// Of a mapped file so much is hashed in a round.
pub(super) const WINDOW_NBYTES: u64 = 256 << 10;

/// Shorter files are read.
pub(super) const WORTH_MAPPING_NBYTES: u64 = 1 << 20;

/// A message that is being read.
pub(super) struct Lane<T> {
    number: u64,
    pub(super) request: Request<T>,
    reader: Reader,
    /// One for each method, or none in the first round; taken out while they are in use.
    pub(super) hashers: Vec<Option<Hasher>>,
    /// One for each method, when the message has ended.
    pub(super) digests: Vec<Option<Hash>>,
    /// Bytes of the message before this round's.
    nbytes: u64,
    chunk: Chunk,
    pub(super) has_ended: bool,
    pub(super) error: Option<FileError>,
    /// What it was like before it was read, if it is a regular file; and what is to be thought of its bytes.
    stamp: Option<Stamp>,
    verdict: Verdict,
    /// How often it was begun.
    nreadings: u8,
    /// Up to here the disk was asked for it, ahead of reading.
    asked: u64,
    /// Whether it is no regular file: to read it may mean to wait for somebody. Known once it is opened by a call of its
    /// own, or goes on.
    pub(super) is_stream: bool,
    has_looked: bool,
}

enum Reader {
    File(File),
    /// A regular file of so many bytes when it was mapped.
    Mapped(File, Mapping, u64),
    Stdin(io::Stdin),
    Closed,
}

/// What a lane has of its message in this round.
#[derive(Clone)]
enum Chunk {
    /// In the thread's buffer.
    Buffer(Range<usize>),
    /// In the mapping.
    Mapped(Range<u64>),
}

impl<T> Lane<T> {
    pub(super) fn new(number: u64, request: Request<T>) -> Lane<T> {
        Lane {
            number,
            digests: vec![None; request.methods.len()],
            request,
            has_ended: false,
            reader: Reader::Closed,
            hashers: Vec::new(),
            nbytes: 0,
            chunk: Chunk::Buffer(0..0),
            error: None,
            stamp: None,
            verdict: Verdict::Whole,
            nreadings: 1,
            asked: 0,
            is_stream: false,
            has_looked: false,
        }
    }

    pub(super) fn open(&mut self) {
        match &self.request.source {
            Source::Path(path) => match stream::open(path) {
                Ok((file, metadata)) => {
                    self.reader = Reader::File(file);
                    self.is_stream = !metadata.is_file() && !metadata.is_dir();
                }
                Err(error) => self.fail(FileError::Open(error)),
            },
            Source::Stdin => match stdin() {
                Ok(stdin) => (self.reader, self.is_stream) = (Reader::Stdin(stdin), true),
                Err(error) => self.fail(FileError::Read { offset: 0, error }),
            },
        }
        match self.reader.with_file(Stamp::before_reading) {
            Some(Ok(stamp)) => self.stamp = stamp,
            Some(Err(error)) => self.fail(FileError::Read { offset: 0, error }),
            None => {}
        }
    }

    /// Takes over what a ring has begun, with its chunk from `place` on.
    pub(super) fn begin(&mut self, begun: Begun, place: usize, options: &Options) {
        match begun {
            // Its caller tries again.
            Begun::Later => self.fail(FileError::Open(io::ErrorKind::TimedOut.into())),
            Begun::Ended(nbytes, judged) => {
                self.chunk = Chunk::Buffer(place..place + nbytes);
                self.has_ended = true;
                if let Some((stamp, verdict)) = judged {
                    (self.stamp, self.verdict) = (Some(stamp), verdict);
                }
            }
            Begun::GoesOn(nbytes, file, stamp) => {
                self.chunk = Chunk::Buffer(place..place + nbytes);
                (self.reader, self.stamp) = (Reader::File(file), stamp);
                self.go_on(options);
            }
            Begun::NotOpened(error) => self.fail(FileError::Open(error)),
            Begun::NotRead(nbytes, error) => self.fail(FileError::Read { offset: nbytes as u64, error }),
        }
    }

    /// Has nothing in this round.
    pub(super) fn skip(&mut self) {
        self.chunk = Chunk::Buffer(0..0);
    }

    /// Reads the next chunk, less than a whole one only where the message ends or the pool stops.
    pub(super) fn read(&mut self, room: &mut Room, options: &Options, pool: &Pool) {
        if let Reader::Mapped(_, mapping, nbytes) = &self.reader {
            let range = self.nbytes..(self.nbytes + WINDOW_NBYTES).min(*nbytes);
            if !range.is_empty() && mapping.fetch(range.clone()) {
                self.chunk = Chunk::Mapped(range);
                self.go_on(options);
                return;
            }
            self.unmap(self.nbytes);
        }
        let place = room.next(|chunk| {
            let mut filled = 0;
            while filled < chunk.len() && !self.has_ended {
                if self.is_stream && !self.reader.is_ready() {
                    match pool.must_stop() {
                        true => break,
                        false => continue,
                    }
                }
                match self.reader.read(&mut chunk[filled..]) {
                    Ok(0) => self.has_ended = true,
                    Ok(nbytes) => filled += nbytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Somebody else has read what was there.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.is_stream => {}
                    Err(error) => self.fail(FileError::Read { offset: self.nbytes + filled as u64, error }),
                }
            }
            filled
        });
        self.chunk = Chunk::Buffer(place);
        if !self.has_ended {
            self.go_on(options);
            return;
        }
        if let (Some(stamp), None) = (&self.stamp, &self.error) {
            let Chunk::Buffer(range) = &self.chunk else { return };
            let nbytes = self.nbytes + range.len() as u64;
            self.verdict = self.reader.with_file(|file| stamp.judge(file, nbytes)).unwrap_or(Verdict::Changed);
        }
        self.reader = Reader::Closed;
    }

    /// What was read is not all, or may not be.
    fn go_on(&mut self, options: &Options) {
        if !self.has_looked {
            self.has_looked = true;
            self.look(options);
        }
        // As many files are read in turn, the system sees no stream that it would read ahead far.
        let (Reader::File(file) | Reader::Mapped(file, ..)) = &self.reader else { return };
        if !self.is_stream && self.nbytes + ahead::LANE_NBYTES / 2 >= self.asked {
            let start = self.asked.max(self.nbytes + CHUNK_NBYTES as u64);
            self.asked = start + ahead::LANE_NBYTES;
            read_ahead(file, start..self.asked);
        }
    }

    pub(super) fn fail(&mut self, error: FileError) {
        self.error = Some(error);
        self.has_ended = true;
    }

    /// After its first chunk: whether it is a regular file, which is mapped if it is worth it.
    fn look(&mut self, options: &Options) {
        self.is_stream = true;
        let Reader::File(file) = &self.reader else { return };
        let Ok(metadata) = file.metadata() else { return };
        self.is_stream = !metadata.is_file();
        // One that has changed may do so again.
        let is_worth_it = options.is_mapped() && metadata.len() >= WORTH_MAPPING_NBYTES && self.nreadings == 1;
        if self.is_stream || !is_worth_it {
            return;
        }
        if let Some(mapping) = Mapping::new(file, metadata.len()) {
            if let Reader::File(file) = std::mem::replace(&mut self.reader, Reader::Closed) {
                self.reader = Reader::Mapped(file, mapping, metadata.len());
            }
        }
    }

    /// From here on the file is read.
    fn unmap(&mut self, offset: u64) {
        if let Reader::Mapped(mut file, ..) = std::mem::replace(&mut self.reader, Reader::Closed) {
            let sought = file.seek(SeekFrom::Start(offset));
            self.reader = Reader::File(file);
            if let Err(error) = sought {
                self.fail(FileError::Read { offset, error });
            }
        }
    }

    /// What was read in this round.
    pub(super) fn chunk<'a>(&'a self, room: &'a Room) -> &'a [u8] {
        match (&self.chunk, &self.reader) {
            (Chunk::Buffer(range), _) => &room.buffer[range.clone()],
            (Chunk::Mapped(range), Reader::Mapped(_, mapping, _)) => mapping.bytes(range.clone()),
            (Chunk::Mapped(_), _) => &[],
        }
    }

    /// After the chunk was hashed: its bytes. Where bytes of a mapping were not the file's the message is begun anew.
    pub(super) fn count(&mut self) -> u64 {
        let nbytes = match (&self.chunk, &self.reader) {
            (Chunk::Buffer(range), _) => range.len() as u64,
            (Chunk::Mapped(range), Reader::Mapped(_, mapping, _)) => {
                mapping.give_back(range.clone());
                if !mapping.is_sound() {
                    self.hashers.clear();
                    self.nbytes = 0;
                    self.unmap(0);
                    return 0;
                }
                range.end - range.start
            }
            (Chunk::Mapped(_), _) => 0,
        };
        self.nbytes += nbytes;
        nbytes
    }

    pub(super) fn take_hasher(&mut self, slot: usize) -> Hasher {
        self.hashers.resize_with(self.request.methods.len(), || None);
        self.hashers[slot].take().unwrap_or_else(|| self.request.methods[slot].hasher())
    }

    /// A message that has ended, if what was hashed is to be believed or is an error. If its file has changed meanwhile,
    /// the same message, of which nothing is read yet.
    pub(super) fn judged(mut self) -> Lane<T> {
        match std::mem::replace(&mut self.verdict, Verdict::Whole) {
            _ if self.error.is_some() => {}
            Verdict::Whole => {}
            // Standard input cannot be read twice.
            Verdict::Changed if self.nreadings < READINGS_MAX && self.request.source != Source::Stdin => {
                return Lane { nreadings: self.nreadings + 1, ..Lane::new(self.number, self.request) };
            }
            Verdict::Changed => self.error = Some(FileError::unstable()),
            Verdict::Odd(error) => self.error = Some(FileError::Read { offset: self.nbytes, error }),
        }
        self
    }

    pub(super) fn finish(self) -> (u64, Request<T>, Result<Hashed, FileError>) {
        let result = match self.error {
            Some(error) => Err(error),
            None => Ok(Hashed {
                digests: self.digests.into_iter().flatten().collect(),
                nbytes: self.nbytes,
                stamp: self.stamp.filter(|_| self.request.source != Source::Stdin),
            }),
        };
        (self.number, self.request, result)
    }
}

impl Reader {
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Reader::File(file) | Reader::Mapped(file, ..) => file.read(into),
            Reader::Stdin(stdin) => stdin.read(into),
            Reader::Closed => Ok(0),
        }
    }

    /// Whether to read it is to wait for nobody, as far as this can be known after a short while.
    fn is_ready(&self) -> bool {
        match self {
            Reader::File(file) | Reader::Mapped(file, ..) => stream::is_ready(file),
            Reader::Stdin(stdin) => stream::is_ready(stdin),
            Reader::Closed => true,
        }
    }

    /// What `look` says of the open file, standard input too, if there is one.
    fn with_file<R>(&self, look: impl FnOnce(&File) -> R) -> Option<R> {
        match self {
            Reader::File(file) | Reader::Mapped(file, ..) => Some(look(file)),
            #[cfg(unix)]
            Reader::Stdin(stdin) => {
                use std::os::fd::AsFd;
                // Where no descriptor is left to be had, nothing is known of it.
                stdin.as_fd().try_clone_to_owned().ok().map(|descriptor| look(&descriptor.into()))
            }
            _ => None,
        }
    }
}
