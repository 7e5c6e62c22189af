// SPDX-License-Identifier: MIT OR Apache-2.0

//! A piece that is being read: its next bytes, from files, holes or padding.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashloom::{Hash, Hasher};

use crate::lanes::{Chunk, Hashing, Leaves, Message, Places};
use crate::merkle::{NO_LEAF, Node, Tree};
use crate::pieces::fetch::parts::Part;
use crate::pieces::files::{Absent, Key, Last};
use crate::pieces::job::{Content, Job};
use crate::read::holes::{Stretch, stretch_at};

/// A piece that is being read.
pub(super) struct Lane<J> {
    pub(super) job: Arc<J>,
    pub(super) piece: usize,
    /// Offsets in the content: the piece's next byte, and its end.
    pub(super) pos: u64,
    pub(super) end: u64,
    /// End of the bytes that the piece's leaves cover.
    pub(super) leaves_end: u64,
    pub(super) leaves: Above,
    /// The file that has the byte at `pos`.
    file: usize,
    stretch: Stretch,
    /// The part that has the bytes at `pos`, or had those before.
    part: Option<Arc<Part>>,
    /// The bytes of this round, and the number of those that leaves cover.
    pub(super) chunk: Chunk,
    pub(super) covered: usize,
    pub(super) hashing: Hashing,
    /// Set if the piece cannot be read to its end.
    pub(super) absent: Option<Absent>,
}

impl<J: Job> Message for Lane<J> {
    type Form = Leaves;

    fn forms(&self) -> &[Leaves] {
        self.job.content().hashes.whole.as_slice()
    }

    fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    fn is_hashed(&self) -> bool {
        self.absent.is_none()
    }

    fn has_ended(&self) -> bool {
        self.pos == self.end
    }

    fn nbytes(&self) -> u64 {
        self.pos - self.job.content().layout.piece_range(self.piece as u64).start
    }

    fn hashing(&self) -> &Hashing {
        &self.hashing
    }

    fn hashing_mut(&mut self) -> &mut Hashing {
        &mut self.hashing
    }
}

/// The state that each thread has for itself.
pub(super) struct LastUsed {
    last: Last,
    /// The last stretch seen, with its file, for the next piece that is looked at.
    stretch: Option<(Key, Stretch)>,
    /// Hashers for leaves with bytes around them, kept for reuse.
    pub(super) hashers: Vec<Hasher>,
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

impl LastUsed {
    pub(super) fn new() -> LastUsed {
        LastUsed { last: Last::default(), stretch: None, hashers: Vec::new() }
    }
}

impl<J: Job> Lane<J> {
    /// A lane that has read nothing of the piece yet. `file` has the piece's first byte.
    pub(super) fn new(job: Arc<J>, piece: usize, range: Range<u64>, file: usize) -> Lane<J> {
        let content = job.content();
        let (covered, levels) = content.tree_of(&range, file);
        let is_tree = content.hashes.has_root;
        Lane {
            piece,
            pos: range.start,
            end: range.end,
            leaves_end: covered.end,
            leaves: if is_tree { Above::Tree(Tree::default(), levels) } else { Above::List(Vec::new()) },
            file,
            stretch: Stretch::NONE,
            part: None,
            chunk: Chunk::NOTHING,
            covered: 0,
            hashing: Hashing::default(),
            absent: None,
            job,
        }
    }

    /// Whether the next `chunk_nbytes` bytes may be read.
    pub(super) fn is_ready(&self, chunk_nbytes: u64) -> bool {
        self.job.content().is_fetched(self.end.min(self.pos + chunk_nbytes))
    }

    /// The chunk, the number of its bytes that leaves cover, and what becomes of the leaves' digests.
    pub(super) fn leaves(&mut self) -> ((&Chunk, usize), &mut Above) {
        ((&self.chunk, self.covered), &mut self.leaves)
    }

    /// Reads the next chunk of the piece.
    pub(super) fn read(&mut self, own: &mut LastUsed, places: &mut Places) {
        let (start, row) = places.next();
        // Whole leaves, but for the last.
        let leaf_nbytes = self.job.content().hashes.leaves.as_ref().map_or(1, |leaves| leaves.leaf_nbytes);
        let chunk_nbytes = row.len() as u64 - row.len() as u64 % leaf_nbytes;
        let want = chunk_nbytes.min(self.end - self.pos);
        let covered = self.leaves_end.saturating_sub(self.pos).min(want) as usize;
        match self.fill(own, &mut row[..want as usize], start) {
            Ok(chunk) => (self.chunk, self.covered) = (chunk, covered),
            Err(absent) => {
                (self.chunk, self.covered) = (Chunk::NOTHING, 0);
                self.absent = Some(absent);
                self.pos = self.end;
            }
        }
    }

    /// Fills `row`, the place at `start`, with the next bytes of the piece, unless they are elsewhere in memory.
    fn fill(&mut self, own: &mut LastUsed, row: &mut [u8], start: usize) -> Result<Chunk, Absent> {
        let content = self.job.content();
        let mut filled = 0;
        // Whether all bytes so far are zeros. Zeros are written into the row only if other bytes follow.
        let mut zeros = true;
        while filled < row.len() {
            let span = content.layout.span(self.file);
            let left = (span.end() - self.pos).min((row.len() - filled) as u64) as usize;
            if left == 0 {
                self.file += 1;
                self.stretch = Stretch::NONE;
                continue;
            }
            let (part, left) = match span.padding {
                true => (None, left),
                false => part_of(content, &mut self.part, self.pos, left),
            };
            if let Some(part) = part {
                let range = self.pos..self.pos + left as u64;
                content.nbytes_read.fetch_add(left as u64, Ordering::Relaxed);
                self.pos = range.end;
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
            let at = self.pos - span.offset;
            let run = match span.padding {
                true => Bytes::Zeros(left),
                false => next_run(content, own, self.file, &mut self.stretch, at, left)?,
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
            self.pos += nbytes as u64;
        }
        Ok(if zeros { Chunk::Zeros(filled) } else { Chunk::Place(start..start + filled) })
    }
}

/// The part that has the byte at `pos`, if there is one, and the number of bytes until that changes, at most `nbytes`.
/// `last` is the part that was used last.
fn part_of(content: &Content<'_>, last: &mut Option<Arc<Part>>, pos: u64, nbytes: usize) -> (Option<Arc<Part>>, usize) {
    let range = pos..pos + nbytes as u64;
    if !last.as_ref().is_some_and(|part| part.range().contains(&pos)) {
        // The part's memory is free for another before this one is looked for.
        *last = None;
        match content.parts.find(&range) {
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
    if content.parts.find(&(pos..pos + 1)).is_ok() {
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
