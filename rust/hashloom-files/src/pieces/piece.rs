// SPDX-License-Identifier: MIT OR Apache-2.0

//! A piece that is being read: its next bytes, from files, holes or padding.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashloom::Hash;

use crate::lanes::{Chunk, Leaves, Message, Part, Places, State};
use crate::merkle::{NO_LEAF, Node, Tree};
use crate::pieces::files::{Absent, Key, Last};
use crate::pieces::job::{Content, Job};
use crate::read::holes::{Stretch, stretch_at};
use crate::read::stamp::Verdict;
use crate::run::pool::Pool;

/// A piece that is being read.
pub(super) struct Piece<J> {
    pub(super) job: Arc<J>,
    pub(super) number: usize,
    /// The piece's bytes in the content.
    range: Range<u64>,
    /// Number of bytes that the piece's leaves cover.
    covered: u64,
    pub(super) leaves: Above,
    /// The file that has the next byte.
    file: usize,
    stretch: Stretch,
    /// The part that has the next bytes, or had those before.
    part: Option<Arc<Part>>,
}

/// What becomes of the digests of a piece's leaves.
pub(super) enum Above {
    /// They are one after the other.
    List(Vec<u8>),
    /// They are the leaves of a tree with this many levels.
    Tree(Tree, u32),
}

impl Above {
    pub(super) fn push(&mut self, digest: &[u8]) {
        match self {
            Above::List(list) => list.extend_from_slice(digest),
            Above::Tree(tree, _) => tree.push(digest),
        }
    }

    /// The digests of the leaves, or their root, for which there is room.
    pub(super) fn finish<'d>(&'d mut self, root: &'d mut Node) -> &'d [u8] {
        match self {
            Above::List(list) => list,
            Above::Tree(tree, levels) => {
                *root = if tree.is_empty() { NO_LEAF } else { tree.finish(*levels) };
                root
            }
        }
    }
}

/// The state that each thread has for itself.
#[derive(Default)]
pub(super) struct LastUsed {
    last: Last,
    /// The last stretch seen, with its file, for the next piece that is looked at.
    stretch: Option<(Key, Stretch)>,
}

impl<J: Job> Piece<J> {
    /// A piece of which nothing is read yet. `file` has its first byte.
    pub(super) fn new(job: Arc<J>, number: usize, range: Range<u64>, file: usize) -> Piece<J> {
        let content = job.content();
        let (covered, levels) = content.tree_of(&range, file);
        let is_tree = content.hashes.has_root;
        Piece {
            number,
            covered: covered.end - range.start,
            leaves: if is_tree { Above::Tree(Tree::default(), levels) } else { Above::List(Vec::new()) },
            range,
            file,
            stretch: Stretch::NONE,
            part: None,
            job,
        }
    }

    /// Fills `row`, the place at `start`, with the bytes of the content from `pos` on, unless they are elsewhere in
    /// memory.
    fn fill(&mut self, own: &mut LastUsed, row: &mut [u8], start: usize, mut pos: u64) -> Result<Chunk, Absent> {
        let content = self.job.content();
        let mut filled = 0;
        // Whether all bytes so far are zeros. Zeros are written into the row only if other bytes follow.
        let mut zeros = true;
        while filled < row.len() {
            let span = content.layout.span(self.file);
            let left = (span.end() - pos).min((row.len() - filled) as u64) as usize;
            if left == 0 {
                self.file += 1;
                self.stretch = Stretch::NONE;
                continue;
            }
            let (part, left) = if span.padding { (None, left) } else { part_of(content, &mut self.part, pos, left) };
            if let Some(part) = part {
                let range = pos..pos + left as u64;
                content.nbytes_read.fetch_add(left as u64, Ordering::Relaxed);
                pos = range.end;
                if left == row.len() {
                    return Ok(part.chunk(range));
                }
                if zeros {
                    row[..filled].fill(0);
                    zeros = false;
                }
                row[filled..filled + left].copy_from_slice(part.bytes(range));
                filled += left;
                continue;
            }
            let at = pos - span.offset;
            let run = if span.padding {
                Bytes::Zeros(left)
            } else {
                next_run(content, own, self.file, &mut self.stretch, at, left)?
            };
            let nbytes = match run {
                Bytes::Zeros(nbytes) => {
                    if !zeros {
                        row[filled..filled + nbytes].fill(0);
                    }
                    nbytes
                }
                Bytes::Data(nbytes) => {
                    if zeros {
                        row[..filled].fill(0);
                        zeros = false;
                    }
                    let file = content.files.get(self.file, &mut own.last)?;
                    match file.read_at(&mut row[filled..filled + nbytes], at) {
                        Ok(found) if found == nbytes => {
                            content.nbytes_read.fetch_add(nbytes as u64, Ordering::Relaxed);
                        }
                        Ok(_) => {
                            content.files.shrank(self.file, file);
                            return Err(Absent::Missing);
                        }
                        Err(error) => {
                            content.files.read_failed(self.file, at, error);
                            return Err(Absent::Failed);
                        }
                    }
                    nbytes
                }
            };
            filled += nbytes;
            pos += nbytes as u64;
        }
        Ok(if zeros { Chunk::Zeros(filled) } else { Chunk::Place(start..start + filled) })
    }
}

impl<J: Job> Message for Piece<J> {
    type Form = Leaves;
    type Failure = Absent;
    type Own = LastUsed;

    fn forms(&self) -> &[Leaves] {
        self.job.content().hashes.whole.as_slice()
    }

    fn leaves(&self) -> Option<(&Leaves, u64)> {
        self.job.content().hashes.leaves.as_ref().map(|form| (form, self.covered))
    }

    fn push_leaf(&mut self, digest: &[u8]) {
        self.leaves.push(digest);
    }

    fn read(&mut self, at: u64, own: &mut LastUsed, places: &mut Places, _pool: &Pool) -> (Chunk, State<Absent>) {
        let content = self.job.content();
        let pos = self.range.start + at;
        if content.fetched.end() < self.range.end.min(pos + places.chunk_nbytes() as u64) {
            return (Chunk::NOTHING, State::Waiting);
        }
        let (start, row) = places.next();
        // Whole leaves, but for the last.
        let leaf_nbytes = content.hashes.leaves.as_ref().map_or(1, |leaves| leaves.leaf_nbytes);
        let chunk_nbytes = row.len() as u64 - row.len() as u64 % leaf_nbytes;
        let nbytes = chunk_nbytes.min(self.range.end - pos);
        let has_ended = pos + nbytes == self.range.end;
        match self.fill(own, &mut row[..nbytes as usize], start, pos) {
            Ok(chunk) => (chunk, if has_ended { State::Ended(Verdict::Whole) } else { State::Reading }),
            Err(absent) => (Chunk::NOTHING, State::Failed(absent)),
        }
    }

    fn used(&mut self, range: Range<u64>, has_failed: bool) -> u64 {
        let start = self.range.start + range.start;
        let end = if has_failed { self.range.end } else { self.range.start + range.end };
        self.job.content().fetched.used(start..end);
        end - start
    }
}

/// The part that has the byte at `pos`, if there is one, and the number of bytes until that changes, at most `nbytes`.
/// `last` is the part that was used last.
fn part_of(content: &Content<'_>, last: &mut Option<Arc<Part>>, pos: u64, nbytes: usize) -> (Option<Arc<Part>>, usize) {
    let range = pos..pos + nbytes as u64;
    if !last.as_ref().is_some_and(|part| part.range().contains(&pos)) {
        // The part's memory is free for another before this one is looked for.
        *last = None;
        match content.fetched.find(&range) {
            Ok(part) => *last = Some(part),
            Err(end) => return (None, (end - pos) as usize),
        }
    }
    let end = last.as_ref().map_or(range.end, |part| part.range().end.min(range.end));
    (last.clone(), (end - pos) as usize)
}

/// A run of bytes that need not be read, or must be.
enum Bytes {
    Zeros(usize),
    Data(usize),
}

/// The kind of the next bytes of a file, at most `nbytes` from `at` on: zeros, or data to read.
fn next_run(
    content: &Content<'_>,
    own: &mut LastUsed,
    file: usize,
    stretch: &mut Stretch,
    at: u64,
    nbytes: usize,
) -> Result<Bytes, Absent> {
    let file = content.files.get(file, &mut own.last)?;
    if !file.holes {
        return Ok(Bytes::Data(nbytes));
    }
    if !stretch.contains(at) {
        *stretch = stretch_at(&file.file, at);
    }
    let nbytes = (stretch.end - at).min(nbytes as u64) as usize;
    Ok(if stretch.hole { Bytes::Zeros(nbytes) } else { Bytes::Data(nbytes) })
}

/// What is known of a piece without reading.
pub(super) enum Unread {
    Absent(Absent),
    /// The digest and the root of a piece of zeros.
    Zeros(Option<Hash>, Option<Node>),
}

/// What is known of a piece without reading. The search ends at the first file that must be read: usually one file is
/// looked at.
pub(super) fn without_reading(
    content: &Content<'_>,
    range: &Range<u64>,
    first: usize,
    own: &mut LastUsed,
) -> Option<Unread> {
    let mut pos = range.start;
    let mut index = first;
    if content.fetched.find(&(pos..pos + 1)).is_ok() {
        return None;
    }
    while pos < range.end {
        let span = content.layout.span(index);
        let end = span.end().min(range.end);
        if !span.padding && pos < end {
            let file = match content.files.get(index, &mut own.last) {
                Ok(file) => file,
                Err(absent) => return Some(Unread::Absent(absent)),
            };
            if file.nbytes < end - span.offset {
                return Some(Unread::Absent(Absent::Missing));
            }
            if !file.holes {
                return None;
            }
            let stretch = match own.stretch {
                Some((of, stretch)) if of == content.files.key(index) && stretch.contains(pos - span.offset) => stretch,
                _ => stretch_at(&file.file, pos - span.offset),
            };
            own.stretch = Some((content.files.key(index), stretch));
            if !stretch.hole || stretch.end < end - span.offset {
                return None;
            }
        }
        pos = end;
        index += 1;
    }
    content.of_zeros(range, first).map(|(whole, root)| Unread::Zeros(whole, root))
}
