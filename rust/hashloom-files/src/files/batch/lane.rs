// SPDX-License-Identifier: MIT OR Apache-2.0

//! A message on its way from its source to its digests. A lane is opened by a separate call, by a ring together with
//! others, or by readers. In each round it has a chunk of the message, which the thread hashes.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use super::disks::{Disks, ToPark};
use super::fetched::{Fetched, Next};
use super::links::{Content, Lead, WORTH_NBYTES, has_name};
use crate::files::request::{FileError, Hashed, Method, Request};
use crate::files::source::{Source, read_from, stdin};
use crate::lanes::{Chunk, Hashing, Message, Places};
use crate::read::ahead::{self, read_ahead};
use crate::read::evict::{self, EVICTED_NBYTES};
use crate::read::evidence::{self, Before};
use crate::read::open::read_at_once;
use crate::read::ring::FirstRead;
use crate::read::stamp::{READINGS_MAX, Stamp, Verdict};
use crate::read::stream;
use crate::run::Options;
use crate::run::pool::Pool;

/// Bytes of a message in memory that are hashed in a round.
const WINDOW_NBYTES: usize = 256 << 10;

/// A message that is being hashed.
pub(super) struct Lane<T> {
    number: u64,
    request: Request<T>,
    /// Number of times that the message was begun.
    nreadings: u8,
    state: State,
    /// For a regular file, its state before it was read.
    before: Option<Before>,
    /// Bytes of the message before this round, and those of this round.
    nbytes: u64,
    chunk: Chunk,
    hashing: Hashing,
    /// For the first of a file's names: the others wait for it.
    lead: Option<Box<Lead<T>>>,
}

/// How far a lane is.
enum State {
    /// Nothing is open.
    Opening,
    /// There is more to read, or may be.
    Reading(Reading),
    /// Readers have not yet read what comes next.
    Waiting(Arc<Fetched>),
    /// The digests are those of another name of the file, so that nothing is read.
    Known,
    /// The chunk of this round is the last. The verdict is that on the bytes of a regular file.
    Ended(Verdict),
    /// There will be no digest.
    Failed(FileError),
}

/// An open source.
struct Reading {
    input: Input,
    /// Whether the source is not a regular file, so that reading it may wait for somebody. Known once the source is
    /// opened by a separate call, or goes on after its first chunk.
    is_stream: bool,
    /// `None` in the first round.
    ahead: Option<Ahead>,
}

/// How far the system was told which pages of a file are read next, and which are no longer needed.
#[derive(Default)]
struct Ahead {
    /// End of the bytes that reading ahead was asked for.
    asked: u64,
    /// For a file that was not in memory: the end of the bytes that are given up again.
    given_up: Option<u64>,
}

enum Input {
    File(File),
    /// An open file that others may have too.
    Shared(Arc<File>),
    /// A file that readers read.
    Fetched(Arc<Fetched>),
    Stdin(io::Stdin),
    /// The request's own reader or memory.
    Own,
}

impl<T> Message for Lane<T> {
    type Form = Method;

    fn forms(&self) -> &[Method] {
        &self.request.methods
    }

    fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    fn is_hashed(&self) -> bool {
        !matches!(self.state, State::Known | State::Failed(_))
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, State::Known | State::Ended(_) | State::Failed(_))
    }

    fn nbytes(&self) -> u64 {
        self.nbytes + self.chunk.nbytes()
    }

    fn hashing(&self) -> &Hashing {
        &self.hashing
    }

    fn hashing_mut(&mut self) -> &mut Hashing {
        &mut self.hashing
    }
}

impl<T> Lane<T> {
    pub(super) fn new(number: u64, request: Request<T>) -> Lane<T> {
        Lane {
            number,
            request,
            nreadings: 1,
            state: State::Opening,
            before: None,
            nbytes: 0,
            chunk: Chunk::NOTHING,
            hashing: Hashing::default(),
            lead: None,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        matches!(self.state, State::Known)
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }

    /// Whether the source is a pipe or the like, which is not at its end. The thread starts no other file until then.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self.state, State::Reading(Reading { is_stream: true, .. }))
    }

    pub(super) fn methods(&self) -> &Arc<[Method]> {
        &self.request.methods
    }

    /// Gives the request back before its end.
    pub(super) fn into_request(self) -> (u64, Request<T>) {
        (self.number, self.request)
    }

    /// The open file, unless the file is standard input.
    fn file(&self) -> Option<&File> {
        match &self.state {
            State::Reading(reading) => reading.input.file(),
            _ => None,
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.before.map(|before| before.stamp)
    }

    /// Returns the stamp of an opened file that may have been opened by another name, and is worth remembering.
    pub(super) fn stamp_of_several_names(&self) -> Option<Stamp> {
        let stamp = self.stamp().filter(|stamp| stamp.nbytes >= WORTH_NBYTES)?;
        // A file that has changed is read for itself, and so is one that was read already.
        if self.nreadings > 1 || !has_name(&self.request) {
            return None;
        }
        let file = self.file()?;
        (names(file) > 1 && evidence::is_trusted(file)).then_some(stamp)
    }

    pub(super) fn lead(&mut self, lead: Lead<T>) {
        self.lead = Some(Box::new(lead));
    }

    /// Ends with digests that are known.
    pub(super) fn know(&mut self, content: &Content) {
        self.hashing.digests = content.digests.clone();
        // Whoever had the file open for writing when it was read may have gone.
        let doubt = self.before.and_then(|before| before.doubt).or(content.before.doubt);
        self.before = self.before.map(|before| Before { doubt, ..before });
        (self.nbytes, self.chunk) = (content.before.stamp.nbytes, Chunk::NOTHING);
        self.state = State::Known;
    }

    pub(super) fn open(&mut self, options: &Options) {
        let opened = match &self.request.source {
            Source::Path(path) => stream::open(path)
                .map(|(file, metadata)| (Input::File(file), !metadata.is_file() && !metadata.is_dir()))
                .map_err(FileError::Open),
            Source::File(file) => file
                .metadata()
                .map(|metadata| (Input::Shared(file.clone()), stream::is_stream(&metadata)))
                .map_err(FileError::Open),
            Source::Reader(_) => Ok((Input::Own, true)),
            Source::Memory(_) => Ok((Input::Own, false)),
            Source::Stdin => {
                stdin().map(|stdin| (Input::Stdin(stdin), true)).map_err(|error| FileError::Read { offset: 0, error })
            }
        };
        let looked =
            opened.and_then(|(input, is_stream)| match input.with_file(|file| Before::of(file, options.is_noting())) {
                Some(Err(error)) => Err(FileError::Read { offset: 0, error }),
                Some(Ok(before)) => Ok((input, is_stream, before)),
                None => Ok((input, is_stream, None)),
            });
        match looked {
            Ok((input, is_stream, before)) => {
                self.before = before;
                self.state = State::Reading(Reading { input, is_stream, ahead: None });
            }
            Err(error) => self.fail(error),
        }
    }

    /// Takes over a file that a ring has begun, with its chunk at `place`.
    pub(super) fn begin(&mut self, begun: FirstRead, place: usize) {
        let chunk = |nbytes| Chunk::Place(place..place + nbytes);
        match begun {
            // The caller opens such a file again and never comes here.
            FirstRead::Later => self.fail(FileError::Open(io::ErrorKind::TimedOut.into())),
            FirstRead::Ended(nbytes, judged) => {
                self.chunk = chunk(nbytes);
                let (before, verdict) =
                    judged.map_or((None, Verdict::Whole), |(before, verdict)| (Some(before), verdict));
                (self.before, self.state) = (before, State::Ended(verdict));
            }
            FirstRead::GoesOn(nbytes, file, before) => {
                self.chunk = chunk(nbytes);
                self.before = before;
                self.state = State::Reading(Reading::of_file(Input::File(file)));
            }
            FirstRead::NotOpened(error) => self.fail(FileError::Open(error)),
            FirstRead::NotRead(nbytes, error) => self.fail(FileError::Read { offset: nbytes as u64, error }),
        }
    }

    /// The request, if readers should read the file and `offset` bytes of it were read; otherwise the lane.
    #[allow(clippy::result_large_err, reason = "the lane is no error: it goes on")]
    pub(super) fn for_readers(self, disks: &Disks<T>, offset: u64) -> Result<ToPark<T>, Lane<T>>
    where
        T: Send,
    {
        let found = self.stamp().zip(self.file());
        match found.and_then(|(stamp, file)| Some((stamp, disks.note(file, offset, &stamp)?))) {
            Some((Stamp { ino, nbytes, .. }, device)) => {
                let (number, request) = self.into_request();
                Ok(ToPark { device, inode: ino, nbytes, number, request })
            }
            None => Err(self),
        }
    }

    /// The open file and its stamp, if it is a regular file with some content; otherwise the lane must be opened again.
    pub(super) fn regular_file(&mut self) -> Option<(Arc<File>, Stamp)> {
        let stamp = self.stamp().filter(|stamp| stamp.nbytes > 0)?;
        match std::mem::replace(&mut self.state, State::Opening) {
            State::Reading(Reading { input: Input::File(file), .. }) => {
                let file = Arc::new(file);
                self.state = State::Reading(Reading::of_file(Input::Shared(file.clone())));
                Some((file, stamp))
            }
            _ => None,
        }
    }

    /// From now on the bytes come from readers, who have begun the file.
    pub(super) fn fetch(&mut self, file: Arc<Fetched>) {
        self.state = State::Reading(Reading::of_file(Input::Fetched(file)));
    }

    /// Reads nothing in this round.
    pub(super) fn skip(&mut self) {
        self.chunk = Chunk::NOTHING;
    }

    /// Reads the next chunk; less than a whole one only if the message ends or the pool stops.
    pub(super) fn read(&mut self, places: &mut Places, options: &Options, pool: &Pool) {
        self.state = match std::mem::replace(&mut self.state, State::Opening) {
            State::Waiting(file) => self.read_fetched(file, places, options, pool),
            State::Reading(Reading { input: Input::Fetched(file), .. }) => {
                self.read_fetched(file, places, options, pool)
            }
            State::Reading(reading) => self.read_chunk(reading, places, options, pool),
            // A file that cannot be opened takes a place too: the number of files of a round is bounded.
            other => {
                places.next();
                other
            }
        };
    }

    /// Takes the next chunk from readers. Returns the lane's new state.
    fn read_fetched(&mut self, file: Arc<Fetched>, places: &mut Places, options: &Options, pool: &Pool) -> State {
        self.chunk = Chunk::NOTHING;
        match file.take(self.nbytes) {
            Next::Bytes(bytes, range, verdict) => {
                pool.pay(range.len() as u64);
                self.chunk = Chunk::Part(bytes, range);
                verdict.map_or_else(|| State::Reading(Reading::of_file(Input::Fetched(file))), State::Ended)
            }
            Next::End(verdict) => State::Ended(verdict),
            Next::Later => State::Waiting(file),
            Next::Left(file) => self.read_chunk(Reading::of_file(Input::Shared(file)), places, options, pool),
        }
    }

    /// Reads the next chunk by this thread. Returns the lane's new state.
    fn read_chunk(&mut self, mut reading: Reading, places: &mut Places, options: &Options, pool: &Pool) -> State {
        if let (Input::Own, Source::Memory(bytes)) = (&reading.input, &self.request.source) {
            let nbytes = (**bytes).as_ref().len();
            let start = self.nbytes as usize;
            let range = start..nbytes.min(start + WINDOW_NBYTES);
            places.next();
            places.count(range.len());
            self.chunk = Chunk::Memory(bytes.clone(), range.clone());
            return if range.end == nbytes { State::Ended(Verdict::Whole) } else { State::Reading(reading) };
        }
        let mut end = None;
        let (start, chunk) = places.next();
        let mut filled = 0;
        while filled < chunk.len() && end.is_none() {
            if reading.is_stream && pool.must_stop() {
                break;
            }
            if reading.is_stream && !reading.input.is_ready() {
                continue;
            }
            let offset = self.nbytes + filled as u64;
            match reading.read_once(&mut self.request.source, &mut chunk[filled..], offset) {
                Ok(0) => end = Some(Ok(offset)),
                Ok(nbytes) => filled += nbytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Another reader has taken the data.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && reading.is_stream => {}
                Err(error) => end = Some(Err(FileError::Read { offset, error })),
            }
        }
        pool.pay(filled as u64);
        places.count(filled);
        self.chunk = Chunk::Place(start..start + filled);
        match end {
            None => {
                reading.go_on(self.nbytes, self.nbytes + self.chunk.nbytes(), options);
                State::Reading(reading)
            }
            Some(end) => {
                let judge = |nbytes| match self.before {
                    Some(before) => {
                        let judged = reading.input.with_file(|file| before.stamp.judge(file, nbytes));
                        judged.unwrap_or(Verdict::Changed)
                    }
                    None => Verdict::Whole,
                };
                let state = end.map_or_else(State::Failed, |nbytes| State::Ended(judge(nbytes)));
                reading.give_up(None);
                state
            }
        }
    }

    /// Prepares the round after the first one of a file that a ring has begun.
    pub(super) fn go_on(&mut self, options: &Options) {
        let end = self.nbytes + self.chunk.nbytes();
        if let State::Reading(reading) = &mut self.state {
            reading.go_on(self.nbytes, end, options);
        }
    }

    pub(super) fn fail(&mut self, error: FileError) {
        self.state = State::Failed(error);
    }

    /// After hashing: the number of bytes of this round.
    pub(super) fn count(&mut self) -> u64 {
        if self.is_known() {
            return self.nbytes;
        }
        // A reader's buffer is free from now on.
        let nbytes = std::mem::replace(&mut self.chunk, Chunk::NOTHING).nbytes();
        self.nbytes += nbytes;
        if let State::Reading(reading) = &mut self.state {
            if reading.given_up().is_some_and(|end| self.nbytes - end >= EVICTED_NBYTES) {
                reading.give_up(Some(self.nbytes));
            }
        }
        nbytes
    }

    /// Whether the file of a message at its end has changed meanwhile, and the message must be read again.
    pub(super) fn has_changed(&self) -> bool {
        // Standard input cannot be read twice.
        matches!(self.state, State::Ended(Verdict::Changed))
            && self.nreadings < READINGS_MAX
            && !matches!(self.request.source, Source::Stdin)
    }

    /// The same message from its beginning.
    pub(super) fn anew(self) -> Lane<T> {
        Lane { nreadings: self.nreadings + 1, ..Lane::new(self.number, self.request) }
    }

    /// The result of a message at its end. Other names of the file wait for it.
    pub(super) fn finish(mut self) -> (u64, Request<T>, Result<Hashed, FileError>) {
        let nread = if self.is_known() { 0 } else { self.nbytes };
        let error = match self.state {
            State::Failed(error) => Some(error),
            State::Ended(Verdict::Changed) => Some(FileError::unstable()),
            State::Ended(Verdict::Odd(error)) => Some(FileError::Read { offset: self.nbytes, error }),
            _ => None,
        };
        if let Some(error) = error {
            return (self.number, self.request, Err(error));
        }
        if let (Some(lead), Some(before)) = (self.lead.take(), self.before) {
            let (methods, digests) = (Arc::clone(&self.request.methods), self.hashing.digests.clone());
            lead.end(Content { before, methods, digests });
        }
        let before = self.before.filter(|_| !matches!(self.request.source, Source::Stdin));
        let hashed = Hashed {
            digests: self.hashing.digests,
            nbytes: self.nbytes,
            nread,
            stamp: before.map(|before| before.stamp),
            doubt: self.before.and_then(|before| before.doubt),
        };
        (self.number, self.request, Ok(hashed))
    }
}

impl Reading {
    /// A file that is a regular one, as far as is known.
    fn of_file(input: Input) -> Reading {
        Reading { input, is_stream: false, ahead: None }
    }

    /// Reads some of the bytes of the message from `offset` on.
    fn read_once(&mut self, source: &mut Source, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match (&mut self.input, source) {
            (Input::File(file), _) => file.read(into),
            (Input::Shared(file), _) if self.is_stream => (&**file).read(into),
            (Input::Shared(file), _) => read_at_once(file, into, offset),
            (Input::Stdin(stdin), _) => stdin.read(into),
            (Input::Own, Source::Reader(reader)) => read_from(reader, into),
            (Input::Own | Input::Fetched(_), _) => Ok(0),
        }
    }

    /// Prepares the next round: the message goes on, or may go on, after the bytes from `start` to `end`.
    fn go_on(&mut self, start: u64, end: u64, options: &Options) {
        if self.ahead.is_none() {
            let given_up = self.look();
            self.ahead = Some(Ahead { asked: 0, given_up });
        }
        // Many files are read in turn, so the system sees no stream that it would read far ahead of.
        let (Some(file), Some(ahead)) = (self.input.file(), &mut self.ahead) else { return };
        let is_asked_for = !self.is_stream && !options.is_limited();
        if is_asked_for && start + ahead::LANE_NBYTES / 2 >= ahead.asked {
            let start = ahead.asked.max(end);
            ahead.asked = start + ahead::LANE_NBYTES;
            read_ahead(file, start..ahead.asked);
        }
    }

    /// After the first chunk: finds out whether the source is a regular file. Returns 0 if its bytes are to be given up,
    /// as they were not in memory.
    fn look(&mut self) -> Option<u64> {
        let Input::File(file) = &self.input else { return None };
        self.is_stream = true;
        let metadata = file.metadata().ok()?;
        self.is_stream = !metadata.is_file();
        (!self.is_stream && evict::is_cold(file, &(0..metadata.len()))).then_some(0)
    }

    fn given_up(&self) -> Option<u64> {
        self.ahead.as_ref()?.given_up
    }

    /// Gives up the bytes up to `end` if they were not in memory before.
    fn give_up(&mut self, end: Option<u64>) {
        if let (Some(file), Some(start), Some(ahead)) = (self.input.file(), self.given_up(), &mut self.ahead) {
            evict::give_up(file, start, end);
            ahead.given_up = end;
        }
    }
}

impl Input {
    /// The open file, unless the file is standard input.
    fn file(&self) -> Option<&File> {
        match self {
            Input::File(file) => Some(file),
            Input::Shared(file) => Some(file),
            Input::Stdin(_) | Input::Own | Input::Fetched(_) => None,
        }
    }

    /// Whether a read would not wait, as far as a short wait can tell.
    fn is_ready(&self) -> bool {
        match self {
            Input::Stdin(stdin) => stream::is_ready(stdin),
            _ => self.file().is_none_or(stream::is_ready),
        }
    }

    /// The result of `look` for the open file, or for standard input; `None` if nothing is open.
    fn with_file<R>(&self, look: impl FnOnce(&File) -> R) -> Option<R> {
        match self {
            #[cfg(unix)]
            Input::Stdin(stdin) => {
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
