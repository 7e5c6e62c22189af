// SPDX-License-Identifier: MIT OR Apache-2.0

//! A whole file, or another source, as one message. It is opened by a separate call, by a ring together with others, or
//! by readers.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use hashloom::Algorithm;

use super::disks::{Disks, ToPark};
use super::links::{Content, Lead, WORTH_NBYTES, has_name};
use super::several::{self, Several};
use super::shared::{Help, Shared, SharedFiles, WORTH_SHARING_NBYTES};
use super::trees::{SUBTREE_NBYTES, Tree};
use super::{Lane, Worker};
use crate::files::request::{FileError, Hashed, Method, Request};
use crate::files::source::{Source, read_from, stdin};
use crate::lanes::{Chunk, Fetched, Message, Part, Places, State};
use crate::read::ahead::{LANE_NBYTES, read_ahead};
use crate::read::direct::{Window, uncached};
use crate::read::evidence::{self, Noted};
use crate::read::open::{read_at, read_at_once};
use crate::read::ring::FirstRead;
use crate::read::stamp::{READINGS_MAX, Stamp, Verdict, is_made_while_read};
use crate::read::stream;
use crate::run::Options;
use crate::run::pool::Pool;

/// Bytes of a message in memory that are hashed in a round.
const WINDOW_NBYTES: usize = 256 << 10;

/// Bytes that are read at once of a file past the page cache: a hard disk then reads for longer than it seeks.
const WINDOW_OF_DISK_NBYTES: u64 = 1 << 20;

/// A request that is being worked on.
pub(super) struct Whole {
    number: u64,
    request: Request,
    /// Number of times that the message was begun.
    nreadings: u8,
    pub(super) input: Input,
    /// Whether the source is not a regular file, so that reading it may wait for somebody.
    is_stream: bool,
    /// For a file that is read from its disk alone.
    window: Option<Window>,
    /// For a regular file, its state before it was read.
    before: Option<Noted>,
    /// End of the bytes that the disk was asked for ahead.
    asked: u64,
    /// For a long file that readers read: parts that come one after the other.
    pub(super) fetched: Option<Arc<Fetched>>,
    /// For a long file whose subtrees other threads hash too, until the last.
    tree: Option<Arc<Tree>>,
    /// For a long file of whose digests other threads hash some, until the last part: once only, as the lane goes on
    /// where a part could not be read.
    several: Option<Arc<Several>>,
    was_several: bool,
    /// For the first of a file's names: the others wait for it.
    lead: Option<Box<Lead>>,
}

pub(super) enum Input {
    Nothing,
    File(Arc<File>),
    /// All bytes of a file, and the verdict on them.
    Read(Part, Verdict),
    Stdin(io::Stdin),
    /// The request's own reader or memory.
    Own,
}

/// Whether several threads may hash parts of a request's file.
pub(in crate::files) fn may_be_shared<T>(request: &Request<T>) -> bool {
    let is_long = |source: &Source| {
        let metadata = match source {
            Source::Path(path) => path.metadata().ok(),
            Source::File(file) => file.metadata().ok(),
            _ => None,
        };
        metadata.is_some_and(|metadata| metadata.is_file() && metadata.len() >= WORTH_SHARING_NBYTES)
    };
    match &request.methods[..] {
        [] => false,
        [method] => method.algorithm() == Algorithm::Blake3 && is_long(&request.source),
        _ => is_long(&request.source),
    }
}

impl Message for Whole {
    type Form = Method;
    type Failure = FileError;
    type Own = Worker;

    fn forms(&self) -> &[Method] {
        &self.request.methods
    }

    fn is_stream(&self) -> bool {
        self.is_stream
    }

    fn read(&mut self, at: u64, own: &mut Worker, places: &mut Places, pool: &Pool) -> (Chunk, State<FileError>) {
        if let Input::Read(..) = &self.input {
            if let Input::Read(part, verdict) = std::mem::replace(&mut self.input, Input::Nothing) {
                return (part.chunk(part.range().clone()), State::Ended(verdict));
            }
        }
        if let Some(tree) = &self.tree {
            let is_left = tree.help(&mut own.subtree) == Help::Done;
            if let Some(values) = tree.take() {
                let state = if values.is_empty() && !is_left { State::Waiting } else { State::Reading };
                return (Chunk::Subtrees(SUBTREE_NBYTES, values), state);
            }
            self.tree = None;
        }
        if let Some(several) = self.several.clone() {
            let is_read = several.next_part().is_some_and(|offset| self.read_for_several(&several, offset));
            let is_hashed = several.help(&mut own.subtree) == Help::Done;
            let (end, hashers) = several.take();
            if hashers.is_some() {
                self.several = None;
            }
            let state = if is_read || is_hashed || hashers.is_some() { State::Reading } else { State::Waiting };
            return (Chunk::Hashed(end - at, hashers.unwrap_or_default()), state);
        }
        let mut most = usize::MAX;
        let end = self.stamp().map_or(0, |stamp| stamp.nbytes);
        if let Some(fetched) = self.fetched.as_ref().filter(|_| at < end) {
            let fetched_end = fetched.end();
            if fetched_end <= at {
                return (Chunk::NOTHING, State::Waiting);
            }
            match fetched.find(&(at..end)) {
                Ok(part) => {
                    let range = at..part.range().end;
                    let has_ended = range.end == end;
                    return (part.chunk(range), if has_ended { State::Ended(self.judge(end)) } else { State::Reading });
                }
                // Readers leave the bytes up to `end` to this lane.
                Err(end) => most = usize::try_from(end.min(fetched_end) - at).unwrap_or(usize::MAX),
            }
        }
        // At the end, one byte more tells that there is none.
        let wanted = if pool.is_limited() { 0 } else { end.saturating_sub(at).saturating_add(1) };
        let may_wait = places.is_idle();
        let (start, row) = places.next_long(wanted);
        let row_nbytes = row.len().min(most);
        let row = &mut row[..row_nbytes];
        if let Source::Memory(bytes) = &self.request.source {
            let nbytes = (**bytes).as_ref().len();
            let range = at as usize..nbytes.min(at as usize + WINDOW_NBYTES);
            let state = if range.end == nbytes { State::Ended(Verdict::Whole) } else { State::Reading };
            return (Chunk::Memory(bytes.clone(), range), state);
        }
        let mut filled = 0;
        let mut end = None;
        while filled < row.len() && end.is_none() {
            // What has come is hashed, and files that have ended are handed out, before the thread waits for more.
            if self.is_stream && (pool.must_stop() || !self.input.is_ready(may_wait && filled == 0)) {
                break;
            }
            let offset = at + filled as u64;
            match self.read_once(&mut row[filled..], offset) {
                Ok(0) => end = Some(State::Ended(self.judge(offset))),
                Ok(nbytes) => filled += nbytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Another reader has taken the data.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.is_stream => {}
                Err(error) => end = Some(State::Failed(FileError::Read { offset, error })),
            }
        }
        if end.is_none() {
            self.read_ahead(at..at + filled as u64, pool.is_limited());
        }
        (Chunk::Place(start..start + filled), end.unwrap_or(State::Reading))
    }

    fn used(&mut self, range: Range<u64>, has_failed: bool) -> u64 {
        match &self.fetched {
            // Nobody takes what comes.
            Some(fetched) if has_failed => fetched.clear(),
            Some(fetched) => fetched.used(range.clone()),
            None => {}
        }
        range.end - range.start
    }
}

impl Whole {
    /// Reads some of the bytes from `offset` on.
    fn read_once(&mut self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match (&mut self.input, &mut self.request.source) {
            (Input::File(file), _) if self.is_stream => (&**file).read(into),
            (Input::File(file), _) => match &mut self.window {
                Some(window) => {
                    // One byte more than the file has tells that there is none.
                    let left = self.before.map_or(u64::MAX, |before| before.stamp.nbytes.saturating_sub(offset));
                    window.read(file, into, offset, left.saturating_add(1).min(WINDOW_OF_DISK_NBYTES) as usize)
                }
                None => read_at_once(file, into, offset),
            },
            (Input::Stdin(stdin), _) => stdin.read(into),
            (Input::Own, Source::Reader(reader)) => read_from(reader, into),
            (Input::Own | Input::Read(..) | Input::Nothing, _) => Ok(0),
        }
    }

    /// Reads the next part for several digests, or finds that there is none. False if readers are to bring it.
    fn read_for_several(&mut self, several: &Several, offset: u64) -> bool {
        let end = self.stamp().map_or(0, |stamp| stamp.nbytes);
        let mut range = offset..end.min(offset + several::PART_NBYTES as u64);
        if let Some(fetched) = &self.fetched {
            let fetched_end = fetched.end();
            if fetched_end <= offset {
                return false;
            }
            match fetched.find(&(offset..end)) {
                Ok(part) if part.range().end < end => {
                    let end = part.range().end;
                    several.add(part, end);
                    return true;
                }
                Ok(_) => range.end = end,
                Err(left_until) => range.end = range.end.min(left_until).min(fetched_end),
            }
        }
        let part = if range.end < end { self.read_part(several, range.clone()) } else { None };
        match part {
            Some(part) => {
                several.add(Arc::new(part), range.end);
                self.read_ahead(range, false);
            }
            None => several.end(),
        }
        true
    }

    /// Reads a range whole. `None` if that is not possible.
    fn read_part(&self, several: &Several, range: Range<u64>) -> Option<Part> {
        let (file, mut buffer) = (self.file()?, several.buffer()?);
        let nbytes = (range.end - range.start) as usize;
        let nread = read_at(file, &mut buffer.bytes_mut()[..nbytes], range.start).ok()?;
        (nread == nbytes).then(|| Part::new(range, 0, &Arc::new(buffer)))
    }

    /// The verdict on `nbytes` bytes, after which the source has ended.
    fn judge(&self, nbytes: u64) -> Verdict {
        let Some(before) = self.before else { return Verdict::Whole };
        self.input.with_file(|file| before.stamp.judge(file, nbytes)).unwrap_or(Verdict::Changed)
    }

    /// Has the disk fetch what comes after the bytes of a round. Many files are read in turn, so the system sees no
    /// stream that it would read far ahead of.
    fn read_ahead(&mut self, round: Range<u64>, is_limited: bool) {
        let Input::File(file) = &self.input else { return };
        if !self.is_stream && !is_limited && self.window.is_none() && round.start + LANE_NBYTES / 2 >= self.asked {
            let start = self.asked.max(round.end);
            self.asked = start + LANE_NBYTES;
            read_ahead(file, start..self.asked);
        }
    }

    pub(super) fn methods(&self) -> &Arc<[Method]> {
        &self.request.methods
    }

    /// Gives the request back before its end.
    pub(super) fn into_request(self) -> (u64, Request) {
        (self.number, self.request)
    }

    /// The open file, unless the file is standard input.
    fn file(&self) -> Option<&Arc<File>> {
        match &self.input {
            Input::File(file) => Some(file),
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

    /// Shares the subtrees of an opened file of which nothing is read, if the file is long and all its digests are
    /// trees.
    pub(super) fn share(&mut self, shared: &SharedFiles) -> bool {
        let found =
            self.stamp().zip(self.file()).zip(if self.forms().len() == 1 { self.forms().first() } else { None });
        let found = found.filter(|_| !self.is_stream && self.window.is_none());
        let tree = found.and_then(|((stamp, file), method)| {
            let tree = Tree::new(file, stamp.nbytes, method)?;
            // A file system that makes files while they are read need not keep to the length.
            (!is_made_while_read(file)).then_some(tree)
        });
        tree.iter().for_each(|tree| shared.add(tree));
        self.tree = tree;
        self.tree.is_some()
    }

    /// Whether other threads may hash for some of the digests, of a regular file of which `nbytes` bytes are hashed.
    fn may_share_digests(&self, nbytes: u64) -> bool {
        let nleft = self.stamp().map_or(0, |stamp| stamp.nbytes.saturating_sub(nbytes));
        self.forms().len() > 1
            && !self.was_several
            && nleft >= WORTH_SHARING_NBYTES
            && !self.is_stream
            && self.window.is_none()
            && self.file().is_some_and(|file| !is_made_while_read(file))
    }

    pub(super) fn lead(&mut self, lead: Lead) {
        self.lead = Some(Box::new(lead));
    }

    /// The open file and its stamp, if it is a regular file with some content.
    pub(super) fn regular_file(&self) -> Option<(Arc<File>, Stamp)> {
        Some((self.file()?.clone(), self.stamp().filter(|stamp| stamp.nbytes > 0)?))
    }

    fn open(&mut self, options: &Options) -> Result<(), FileError> {
        let unread = |error| FileError::Read { offset: 0, error };
        (self.input, self.is_stream) = match &self.request.source {
            Source::Path(path) => {
                let (file, metadata) = stream::open(path).map_err(FileError::Open)?;
                let is_stream = if options.is_uncached() {
                    stream::is_stream(&metadata)
                } else {
                    !metadata.is_file() && !metadata.is_dir()
                };
                (Input::File(Arc::new(file)), is_stream)
            }
            Source::File(file) => {
                let metadata = file.metadata().map_err(FileError::Open)?;
                (Input::File(file.clone()), stream::is_stream(&metadata))
            }
            Source::Reader(_) => (Input::Own, true),
            Source::Memory(_) => (Input::Own, false),
            Source::Stdin => (Input::Stdin(stdin().map_err(unread)?), true),
        };
        if options.is_uncached() {
            match &mut self.input {
                Input::File(file) if !self.is_stream => *file = Arc::new(uncached(file).map_err(FileError::Open)?),
                _ => return Err(FileError::Open(io::Error::other("--uncached: it is no file on a disk"))),
            }
            self.window = Some(Window::default());
        }
        let looked = self.input.with_file(|file| Noted::before_reading(file, options.is_noting()));
        self.before = looked.transpose().map_err(unread)?.flatten();
        Ok(())
    }
}

impl Lane {
    /// A request that nothing is open for.
    pub(super) fn of(number: u64, request: Request) -> Lane {
        Lane::new(Whole {
            number,
            request,
            nreadings: 1,
            input: Input::Nothing,
            is_stream: false,
            window: None,
            before: None,
            asked: 0,
            fetched: None,
            tree: None,
            several: None,
            was_several: false,
            lead: None,
        })
    }

    pub(super) fn open(&mut self, options: &Options) {
        self.message.open(options).unwrap_or_else(|error| self.fail(error));
    }

    /// Takes over a file that a ring has begun, with its chunk at `place`.
    pub(super) fn begin(&mut self, begun: FirstRead, place: usize) {
        let chunk = |nbytes| Chunk::Place(place..place + nbytes);
        match begun {
            // The caller opens such a file again and never comes here.
            FirstRead::Later => self.fail(FileError::Open(io::ErrorKind::TimedOut.into())),
            FirstRead::Ended(nbytes, judged) => {
                let (before, verdict) =
                    judged.map_or((None, Verdict::Whole), |(before, verdict)| (Some(before), verdict));
                self.message.before = before;
                (self.chunk, self.state) = (chunk(nbytes), State::Ended(verdict));
            }
            FirstRead::GoesOn(nbytes, file, before) => {
                self.message.is_stream = before.is_none();
                (self.message.input, self.message.before) = (Input::File(Arc::new(file)), before);
                self.chunk = chunk(nbytes);
            }
            FirstRead::NotOpened(error) => self.fail(FileError::Open(error)),
            FirstRead::NotRead(nbytes, error) => self.fail(FileError::Read { offset: nbytes as u64, error }),
        }
    }

    /// Lets other threads hash for some of the digests if that pays, or does so already: whether they should look.
    pub(super) fn share_digests(&mut self, shared: &SharedFiles) -> bool {
        if self.message.several.is_none() && self.message.may_share_digests(self.nbytes) {
            let several = self.take_hashers().map(|hashers| Several::new(hashers, self.nbytes));
            several.iter().for_each(|several| shared.add(several));
            self.message.was_several = several.is_some();
            self.message.several = several;
        }
        self.message.several.is_some()
    }

    /// After the first chunk, which a ring has read, of a file that this thread goes on with.
    pub(super) fn go_on(&mut self, is_limited: bool) {
        self.message.read_ahead(0..self.chunk.nbytes(), is_limited);
    }

    /// The request, if readers should read the file and the chunk was read of it; otherwise the lane.
    #[allow(clippy::result_large_err, reason = "the lane is no error: it goes on")]
    pub(super) fn for_readers(self, disks: &Disks) -> Result<ToPark, Lane> {
        let found = self.message.stamp().zip(self.message.file()).filter(|_| self.message.window.is_none());
        let offset = self.chunk.nbytes();
        match found.and_then(|(stamp, file)| Some((stamp, disks.device_for_readers(file, offset, &stamp)?))) {
            Some((Stamp { ino, nbytes, .. }, device)) => {
                let (number, request) = self.message.into_request();
                Ok(ToPark { device, inode: ino, nbytes, number, request })
            }
            None => Err(self),
        }
    }

    /// Ends with the digests of another name of the file.
    pub(super) fn know_from(&mut self, content: &Content) {
        // Whoever had the file open for writing when it was read may have gone.
        let doubt = self.message.before.and_then(|before| before.doubt).or(content.before.doubt);
        self.message.before = self.message.before.map(|before| Noted { doubt, ..before });
        self.set_digests(content.digests.clone(), content.before.stamp.nbytes);
    }

    /// Whether the file of a message at its end has changed meanwhile, and the message must be read again.
    pub(super) fn has_changed(&self) -> bool {
        // Standard input cannot be read twice.
        matches!(self.state, State::Ended(Verdict::Changed))
            && self.message.nreadings < READINGS_MAX
            && !matches!(self.message.request.source, Source::Stdin)
    }

    /// The same message from its beginning.
    pub(super) fn restarted(self) -> Lane {
        let nreadings = self.message.nreadings + 1;
        let (number, request) = self.message.into_request();
        let mut lane = Lane::of(number, request);
        lane.message.nreadings = nreadings;
        lane
    }

    /// The result of a message at its end. Other names of the file wait for it.
    pub(super) fn finish(mut self) -> (u64, Request, Result<Hashed, FileError>) {
        let (nread, digests) = (if self.is_known() { 0 } else { self.nbytes }, self.take_digests());
        let Whole { number, request, before, lead, .. } = self.message;
        let error = match self.state {
            State::Failed(error) => Some(error),
            State::Ended(Verdict::Changed) => Some(FileError::unstable()),
            State::Ended(Verdict::Odd(error)) => Some(FileError::Read { offset: self.nbytes, error }),
            _ => None,
        };
        if let Some(error) = error {
            return (number, request, Err(error));
        }
        if let (Some(lead), Some(before)) = (lead, before) {
            lead.end(Content { before, methods: Arc::clone(&request.methods), digests: digests.clone() });
        }
        let stamp = before.filter(|_| !matches!(request.source, Source::Stdin)).map(|before| before.stamp);
        let doubt = before.and_then(|before| before.doubt);
        let hashed = Hashed { digests, nbytes: self.nbytes, nread, stamp, doubt };
        (number, request, Ok(hashed))
    }
}

impl Input {
    /// Whether a read would not wait. If it would, this may wait for a short while.
    fn is_ready(&self, may_wait: bool) -> bool {
        match self {
            Input::File(file) => stream::is_ready(&**file, may_wait),
            Input::Stdin(stdin) => stream::is_ready(stdin, may_wait),
            Input::Nothing | Input::Read(..) | Input::Own => true,
        }
    }

    /// The result of `look` for the open file, or for standard input; `None` if nothing is open.
    fn with_file<R>(&self, look: impl FnOnce(&File) -> R) -> Option<R> {
        match self {
            Input::File(file) => Some(look(file)),
            #[cfg(unix)]
            Input::Stdin(stdin) => {
                use std::os::fd::AsFd;
                // If no file descriptor is left, nothing is known of standard input.
                stdin.as_fd().try_clone_to_owned().ok().map(|descriptor| look(&descriptor.into()))
            }
            _ => None,
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
