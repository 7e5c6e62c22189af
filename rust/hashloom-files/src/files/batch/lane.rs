// SPDX-License-Identifier: MIT OR Apache-2.0

//! A message that is being read. It is opened by a separate call or by a ring together with others, and read in
//! chunks.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use hashloom::{Hash, Hasher};

use super::disks::{Disks, Found};
use super::fetched::{Fetched, Next};
use super::links::{Content, Lead, WORTH_NBYTES, has_name};
use super::round_buffer::RoundBuffer;
use crate::files::request::{FileError, Hashed, Method, Request};
use crate::files::source::{Source, read_from, stdin};
use crate::read::ahead::{self, read_ahead};
use crate::read::buffer::Buffer;
use crate::read::evict::{self, EVICTED_NBYTES};
use crate::read::evidence::{self, Before, Doubt};
use crate::read::open::read_at_once;
use crate::read::ring::Begun;
use crate::read::stamp::{READINGS_MAX, Stamp, Verdict};
use crate::read::stream;
use crate::run::Options;
use crate::run::pool::Pool;

/// Bytes of a message in memory that are hashed in a round.
const WINDOW_NBYTES: u64 = 256 << 10;

/// A message that is being read.
pub(super) struct Lane<T> {
    number: u64,
    pub(super) request: Request<T>,
    reader: Reader,
    /// One hasher for each method; empty in the first round. A hasher is taken out while it is in use.
    pub(super) hashers: Vec<Option<Hasher>>,
    /// Nothing, or a digest for each method: those that are not set yet have any value.
    digests: Vec<Hash>,
    /// Bytes of the message before this round.
    nbytes: u64,
    chunk: Chunk,
    pub(super) has_ended: bool,
    pub(super) error: Option<FileError>,
    /// For a regular file, its stamp before it was read, and the verdict on its bytes.
    stamp: Option<Stamp>,
    verdict: Verdict,
    /// Why a later change might not show in the stamp, if the run takes notes.
    doubt: Option<Doubt>,
    /// Number of times that the message was begun.
    nreadings: u8,
    /// End of the bytes that reading ahead was asked for.
    asked: u64,
    /// Whether the source is not a regular file, so that reading it may wait for somebody. Known once the source is
    /// opened by a separate call, or goes on after its first chunk.
    pub(super) is_stream: bool,
    has_looked: bool,
    /// For a file that was not in memory: the end of the bytes that are given up again.
    given_up: Option<u64>,
    /// Whether readers have not yet read what comes next.
    pub(super) is_waiting: bool,
    /// For the first of a file's names: the others wait for it.
    lead: Option<Box<Lead<T>>>,
    /// Whether the digests are those of another name of the file, so that nothing is read.
    pub(super) is_known: bool,
}

enum Reader {
    File(File),
    /// An open file that others may have too.
    Shared(Arc<File>),
    /// A file that readers read.
    Fetched(Arc<Fetched>),
    Stdin(io::Stdin),
    /// The request's own reader or memory.
    Own,
    Closed,
}

/// The bytes of a lane in this round.
#[derive(Clone)]
enum Chunk {
    /// A range of the thread's buffer.
    Buffer(Range<usize>),
    /// A range of the request's memory.
    InPlace(Range<u64>),
    /// A range of a buffer that a reader has filled.
    Fetched(Arc<Buffer>, Range<usize>),
}

impl Chunk {
    fn nbytes(&self) -> u64 {
        match self {
            Chunk::Buffer(range) | Chunk::Fetched(_, range) => range.len() as u64,
            Chunk::InPlace(range) => range.end - range.start,
        }
    }
}

impl<T> Lane<T> {
    pub(super) fn new(number: u64, request: Request<T>) -> Lane<T> {
        Lane {
            number,
            digests: Vec::new(),
            request,
            has_ended: false,
            reader: Reader::Closed,
            hashers: Vec::new(),
            nbytes: 0,
            chunk: Chunk::Buffer(0..0),
            error: None,
            stamp: None,
            verdict: Verdict::Whole,
            doubt: None,
            nreadings: 1,
            asked: 0,
            is_stream: false,
            has_looked: false,
            given_up: None,
            is_waiting: false,
            lead: None,
            is_known: false,
        }
    }

    /// Returns the stamp of an opened file that may have been opened by another name, and is worth remembering.
    pub(super) fn stamp_of_several_names(&self) -> Option<Stamp> {
        let stamp = self.stamp.filter(|stamp| stamp.nbytes >= WORTH_NBYTES)?;
        // A file that has changed is read for itself, and so is one that was read already.
        if self.has_ended || self.nreadings > 1 || !has_name(&self.request) {
            return None;
        }
        let file = self.reader.file()?;
        (names(file) > 1 && evidence::is_trusted(file)).then_some(stamp)
    }

    pub(super) fn methods(&self) -> &Arc<[Method]> {
        &self.request.methods
    }

    /// Gives the request back before its end.
    pub(super) fn into_request(self) -> (u64, Request<T>) {
        (self.number, self.request)
    }

    pub(super) fn lead(&mut self, lead: Lead<T>) {
        self.lead = Some(Box::new(lead));
    }

    /// Ends with digests that are known.
    pub(super) fn know(&mut self, content: &Content) {
        self.digests = content.digests.clone();
        // Whoever had the file open for writing when it was read may have gone.
        self.doubt = self.doubt.or(content.doubt);
        (self.nbytes, self.chunk) = (content.stamp.nbytes, Chunk::Buffer(0..0));
        self.reader = Reader::Closed;
        (self.is_known, self.has_ended, self.is_stream) = (true, true, false);
    }

    pub(super) fn open(&mut self, options: &Options) {
        match &self.request.source {
            Source::Path(path) => match stream::open(path) {
                Ok((file, metadata)) => {
                    self.reader = Reader::File(file);
                    self.is_stream = !metadata.is_file() && !metadata.is_dir();
                }
                Err(error) => self.fail(FileError::Open(error)),
            },
            Source::File(file) => match file.metadata() {
                Ok(metadata) => {
                    (self.reader, self.is_stream) = (Reader::Shared(file.clone()), stream::is_stream(&metadata));
                }
                Err(error) => self.fail(FileError::Open(error)),
            },
            Source::Reader(_) => (self.reader, self.is_stream) = (Reader::Own, true),
            Source::Memory(_) => self.reader = Reader::Own,
            Source::Stdin => match stdin() {
                Ok(stdin) => (self.reader, self.is_stream) = (Reader::Stdin(stdin), true),
                Err(error) => self.fail(FileError::Read { offset: 0, error }),
            },
        }
        match self.reader.with_file(|file| Before::of(file, options.is_noting())) {
            Some(Ok(before)) => self.note(before),
            Some(Err(error)) => self.fail(FileError::Read { offset: 0, error }),
            None => {}
        }
    }

    fn note(&mut self, before: Option<Before>) {
        self.stamp = before.map(|before| before.stamp);
        self.doubt = before.and_then(|before| before.doubt);
    }

    /// Takes over a file that a ring has begun, with its chunk at `place`.
    pub(super) fn begin(&mut self, begun: Begun, place: usize) {
        match begun {
            // The caller opens such a file again and never comes here.
            Begun::Later => self.fail(FileError::Open(io::ErrorKind::TimedOut.into())),
            Begun::Ended(nbytes, judged) => {
                self.chunk = Chunk::Buffer(place..place + nbytes);
                self.has_ended = true;
                if let Some((before, verdict)) = judged {
                    self.note(Some(before));
                    self.verdict = verdict;
                }
            }
            Begun::GoesOn(nbytes, file, before) => {
                self.chunk = Chunk::Buffer(place..place + nbytes);
                self.reader = Reader::File(file);
                self.note(before);
            }
            Begun::NotOpened(error) => self.fail(FileError::Open(error)),
            Begun::NotRead(nbytes, error) => self.fail(FileError::Read { offset: nbytes as u64, error }),
        }
    }

    /// The request, if readers should read the file and `offset` bytes of it were read; otherwise the lane.
    #[allow(clippy::result_large_err, reason = "the lane is no error: it goes on")]
    pub(super) fn for_readers(self, disks: &Disks<T>, offset: u64) -> Result<Found<T>, Lane<T>>
    where
        T: Send,
    {
        let found = self.stamp.zip(self.reader.file()).filter(|_| !self.has_ended);
        match found.and_then(|(stamp, file)| Some((stamp, disks.note(file, offset, &stamp)?))) {
            Some((Stamp { ino, nbytes, .. }, device)) => {
                let (number, request) = self.into_request();
                Ok(Found { device, inode: ino, nbytes, number, request })
            }
            None => Err(self),
        }
    }

    /// The open file and its stamp, if it is a regular file with some content.
    pub(super) fn regular_file(&mut self) -> Option<(Arc<File>, Stamp)> {
        let stamp = self.stamp.filter(|stamp| stamp.nbytes > 0 && !self.has_ended)?;
        if let Reader::File(file) = std::mem::replace(&mut self.reader, Reader::Closed) {
            self.reader = Reader::Shared(Arc::new(file));
        }
        let Reader::Shared(file) = &self.reader else { return None };
        Some((file.clone(), stamp))
    }

    /// From now on the bytes come from readers, who have begun the file.
    pub(super) fn fetch(&mut self, file: Arc<Fetched>) {
        self.reader = Reader::Fetched(file);
    }

    /// Whether the thread starts no other file until this one ends: it is a pipe.
    pub(super) fn keeps_others_waiting(&self) -> bool {
        self.is_stream && !self.has_ended
    }

    /// Reads nothing in this round.
    pub(super) fn skip(&mut self) {
        self.chunk = Chunk::Buffer(0..0);
    }

    /// Reads the next chunk; less than a whole one only if the message ends or the pool stops.
    pub(super) fn read(&mut self, buffer: &mut RoundBuffer, options: &Options, pool: &Pool) {
        if let Reader::Fetched(file) = &self.reader {
            let next = file.take(self.nbytes);
            self.is_waiting = matches!(next, Next::Later);
            let (chunk, verdict) = match next {
                Next::Bytes(buffer, range, verdict) => {
                    pool.pay(range.len() as u64);
                    (Chunk::Fetched(buffer, range), verdict)
                }
                Next::End(verdict) => (Chunk::Buffer(0..0), Some(verdict)),
                Next::Later => (Chunk::Buffer(0..0), None),
                Next::Left(file) => {
                    self.reader = Reader::Shared(file);
                    return self.read(buffer, options, pool);
                }
            };
            self.chunk = chunk;
            if let Some(verdict) = verdict {
                (self.verdict, self.has_ended, self.reader) = (verdict, true, Reader::Closed);
            }
            return;
        }
        if let (Reader::Own, Source::Memory(bytes)) = (&self.reader, &self.request.source) {
            let nbytes = (**bytes).as_ref().len() as u64;
            let range = self.nbytes..nbytes.min(self.nbytes + WINDOW_NBYTES);
            buffer.pass((range.end - range.start) as usize);
            self.has_ended = range.end == nbytes;
            self.chunk = Chunk::InPlace(range);
            return;
        }
        let place = buffer.next(|chunk| {
            let mut filled = 0;
            while filled < chunk.len() && !self.has_ended {
                if self.is_stream && pool.must_stop() {
                    break;
                }
                if self.is_stream && !self.reader.is_ready() {
                    continue;
                }
                match self.read_once(&mut chunk[filled..], filled as u64) {
                    Ok(0) => self.has_ended = true,
                    Ok(nbytes) => filled += nbytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Another reader has taken the data.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.is_stream => {}
                    Err(error) => self.fail(FileError::Read { offset: self.nbytes + filled as u64, error }),
                }
            }
            pool.pay(filled as u64);
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
        self.give_up(None);
        self.reader = Reader::Closed;
    }

    /// Reads some of the bytes that come `further` bytes after those of earlier rounds.
    fn read_once(&mut self, into: &mut [u8], further: u64) -> io::Result<usize> {
        match (&mut self.reader, &mut self.request.source) {
            (Reader::File(file), _) => file.read(into),
            (Reader::Shared(file), _) if self.is_stream => (&**file).read(into),
            (Reader::Shared(file), _) => read_at_once(file, into, self.nbytes + further),
            (Reader::Stdin(stdin), _) => stdin.read(into),
            (Reader::Own, Source::Reader(reader)) => read_from(reader, into),
            (Reader::Own | Reader::Closed | Reader::Fetched(_), _) => Ok(0),
        }
    }

    /// Prepares the next round: the message is not at its end, or may not be.
    pub(super) fn go_on(&mut self, options: &Options) {
        if !self.has_looked {
            self.has_looked = true;
            self.look();
        }
        // Many files are read in turn, so the system sees no stream that it would read far ahead of.
        let Some(file) = self.reader.file() else { return };
        let is_asked_for = !self.is_stream && !options.is_limited();
        if is_asked_for && self.nbytes + ahead::LANE_NBYTES / 2 >= self.asked {
            let start = self.asked.max(self.nbytes + self.chunk.nbytes());
            self.asked = start + ahead::LANE_NBYTES;
            read_ahead(file, start..self.asked);
        }
    }

    pub(super) fn fail(&mut self, error: FileError) {
        self.error = Some(error);
        self.has_ended = true;
    }

    /// After the first chunk: finds out whether the source is a regular file, and whether it was in memory.
    fn look(&mut self) {
        let Reader::File(file) = &self.reader else { return };
        self.is_stream = true;
        let Ok(metadata) = file.metadata() else { return };
        self.is_stream = !metadata.is_file();
        self.given_up = (!self.is_stream && evict::is_cold(file, &(0..metadata.len()))).then_some(0);
    }

    /// The bytes of this round.
    pub(super) fn chunk<'a>(&'a self, buffer: &'a RoundBuffer) -> &'a [u8] {
        match &self.chunk {
            Chunk::Buffer(range) => &buffer.bytes[range.clone()],
            Chunk::Fetched(buffer, range) => &buffer.bytes()[range.clone()],
            Chunk::InPlace(range) => match &self.request.source {
                Source::Memory(bytes) => &(**bytes).as_ref()[range.start as usize..range.end as usize],
                _ => &[],
            },
        }
    }

    /// After hashing: the number of bytes of this round.
    pub(super) fn count(&mut self) -> u64 {
        if self.is_known {
            return self.nbytes;
        }
        let nbytes = self.chunk.nbytes();
        self.nbytes += nbytes;
        // A reader's buffer is free from now on.
        self.chunk = Chunk::Buffer(0..0);
        if self.given_up.is_some_and(|end| self.nbytes - end >= EVICTED_NBYTES) {
            self.give_up(Some(self.nbytes));
        }
        nbytes
    }

    /// Gives up the bytes up to `end` if they were not in memory before.
    fn give_up(&mut self, end: Option<u64>) {
        if let (Some(file), Some(start)) = (self.reader.file(), self.given_up) {
            evict::give_up(file, start, end);
            self.given_up = end;
        }
    }

    pub(super) fn take_hasher(&mut self, slot: usize) -> Hasher {
        self.hashers.resize_with(self.request.methods.len(), || None);
        self.hashers[slot].take().unwrap_or_else(|| self.request.methods[slot].hasher())
    }

    /// Sets the digest for a method.
    pub(super) fn set_digest(&mut self, slot: usize, digest: Hash) {
        if self.digests.is_empty() {
            self.digests = vec![digest; self.request.methods.len()];
        }
        self.digests[slot] = digest;
    }

    /// Whether the file of a message at its end has changed meanwhile, and the message must be read again.
    pub(super) fn has_changed(&self) -> bool {
        // Standard input cannot be read twice.
        self.error.is_none()
            && matches!(self.verdict, Verdict::Changed)
            && self.nreadings < READINGS_MAX
            && !matches!(self.request.source, Source::Stdin)
    }

    /// The same message from its beginning.
    pub(super) fn anew(self) -> Lane<T> {
        Lane { nreadings: self.nreadings + 1, ..Lane::new(self.number, self.request) }
    }

    /// At the end of the message: what was found out of the file becomes the result.
    pub(super) fn judge(&mut self) {
        match std::mem::replace(&mut self.verdict, Verdict::Whole) {
            _ if self.error.is_some() => {}
            Verdict::Whole => {}
            Verdict::Changed => self.error = Some(FileError::unstable()),
            Verdict::Odd(error) => self.error = Some(FileError::Read { offset: self.nbytes, error }),
        }
        if let (Some(lead), Some(stamp), None) = (self.lead.take(), self.stamp, &self.error) {
            let (methods, digests) = (Arc::clone(&self.request.methods), self.digests.clone());
            lead.end(Content { stamp, doubt: self.doubt, methods, digests });
        }
    }

    pub(super) fn finish(self) -> (u64, Request<T>, Result<Hashed, FileError>) {
        let result = match self.error {
            Some(error) => Err(error),
            None => Ok(Hashed {
                digests: self.digests,
                nbytes: self.nbytes,
                nread: if self.is_known { 0 } else { self.nbytes },
                stamp: self.stamp.filter(|_| !matches!(self.request.source, Source::Stdin)),
                doubt: self.doubt,
            }),
        };
        (self.number, self.request, result)
    }
}

impl Reader {
    /// The open file, unless the file is standard input.
    fn file(&self) -> Option<&File> {
        match self {
            Reader::File(file) => Some(file),
            Reader::Shared(file) => Some(file),
            Reader::Stdin(_) | Reader::Own | Reader::Fetched(_) | Reader::Closed => None,
        }
    }

    /// Whether a read would not wait, as far as a short wait can tell.
    fn is_ready(&self) -> bool {
        match self {
            Reader::Stdin(stdin) => stream::is_ready(stdin),
            _ => self.file().is_none_or(stream::is_ready),
        }
    }

    /// The result of `look` for the open file, or for standard input; `None` if nothing is open.
    fn with_file<R>(&self, look: impl FnOnce(&File) -> R) -> Option<R> {
        match self {
            #[cfg(unix)]
            Reader::Stdin(stdin) => {
                use std::os::fd::AsFd;
                // If no file descriptor is left, nothing is known of standard input.
                stdin.as_fd().try_clone_to_owned().ok().map(|descriptor| look(&descriptor.into()))
            }
            _ => self.file().map(look),
        }
    }
}

/// Returns the number of names that a file has; 1 if the system does not tell.
#[cfg(unix)]
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn names(file: &File) -> u64 {
    rustix::fs::fstat(file).map_or(1, |stat| stat.st_nlink as u64)
}

#[cfg(not(unix))]
fn names(_file: &File) -> u64 {
    1
}
