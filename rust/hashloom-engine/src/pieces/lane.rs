// SPDX-License-Identifier: MIT OR Apache-2.0

//! A piece that is being read: its next bytes, from files, holes, padding or a mapping, and the data to ask for ahead.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::merkle::Tree;
use crate::pieces::files::{Absent, Key, Last};
use crate::pieces::job::{Content, Job, Outcome};
use crate::pieces::rows::Filled;
use crate::pieces::window::Window;
use crate::read::ahead::{self, Small, read_ahead};
use crate::read::holes::{Stretch, stretch_at};
use crate::run::LANES;

/// A piece that is being read.
pub(super) struct Lane<J> {
    pub(super) job: Arc<J>,
    pub(super) piece: usize,
    /// Offsets in the content: the piece's next byte, and its end.
    pub(super) pos: u64,
    pub(super) end: u64,
    /// End of the bytes that the piece's hash tree covers; the tree has `levels` levels.
    pub(super) tree_end: u64,
    pub(super) levels: u32,
    pub(super) tree: Tree,
    /// The file that has the byte at `pos`.
    file: usize,
    stretch: Stretch,
    /// End of the bytes that reading ahead was asked for.
    asked: u64,
    /// End of the bytes whose small files were asked for.
    looked_at: u64,
    /// The part of the file that is mapped and present.
    window: Window,
    /// Set if the piece cannot be read to its end.
    pub(super) absent: Option<Absent>,
}

/// The state that each thread has for itself.
pub(super) struct Own {
    last: Last,
    /// The last stretch seen, with its file, for the next piece that is looked at.
    stretch: Option<(Key, Stretch)>,
    small: Small,
}

impl Own {
    pub(super) fn new(nthreads: usize) -> Own {
        Own { last: Last::default(), stretch: None, small: Small::new(nthreads) }
    }
}

impl<J: Job> Lane<J> {
    /// A lane that has read nothing of the piece yet. `file` has the piece's first byte.
    pub(super) fn new(job: Arc<J>, piece: usize, range: Range<u64>, file: usize) -> Lane<J> {
        let content = job.content();
        let (tree, levels) = match content.hashes.merkle {
            true => content.tree_of(&range, file),
            false => (range.start..range.start, 0),
        };
        Lane {
            piece,
            pos: range.start,
            end: range.end,
            tree_end: tree.end,
            levels,
            tree: Tree::default(),
            file,
            stretch: Stretch::NONE,
            asked: range.start,
            looked_at: range.start,
            window: Window::default(),
            absent: None,
            job,
        }
    }

    /// Whether the next `chunk_nbytes` bytes may be read.
    pub(super) fn is_ready(&self, chunk_nbytes: u64) -> bool {
        self.job.content().is_fetched(self.end.min(self.pos + chunk_nbytes))
    }

    /// Begins the piece again because mapped bytes were not the file's. From now on the file is read, which finds out
    /// what is wrong with it.
    pub(super) fn begin_again(&mut self) {
        let layout = &self.job.content().layout;
        self.pos = layout.piece_range(self.piece as u64).start;
        self.file = layout.file_at(self.pos);
        self.stretch = Stretch::NONE;
        self.tree.clear();
        self.window.give_back();
        self.absent = None;
    }

    /// Fills `row` with the next bytes of the piece.
    pub(super) fn fill(&mut self, own: &mut Own, row: &mut [u8]) -> Result<Filled, Absent> {
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
                    if nbytes == row.len() {
                        let end = span.end().min(self.end) - span.offset;
                        let end = if self.stretch.contains(at) { end.min(self.stretch.end) } else { end };
                        if let Some(mapped) =
                            self.window.get(&content.files, self.file, &mut own.last, at..at + nbytes as u64, end)?
                        {
                            self.pos += nbytes as u64;
                            content.nbytes_read.fetch_add(nbytes as u64, Ordering::Relaxed);
                            return Ok(mapped);
                        }
                    }
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
        Ok(if zeros { Filled::Zeros(filled) } else { Filled::Read(filled) })
    }
}

/// A run of bytes that need not be read, or must be.
enum Bytes {
    Zeros(usize),
    Data(usize),
}

/// The kind of the next bytes of a file, at most `nbytes` from `at` on: zeros, or data to read.
fn next_run(
    content: &Content<'_>,
    own: &mut Own,
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

/// The outcome of a piece, if it is known without reading. The search ends at the first file that must be read: usually
/// one file is looked at.
pub(super) fn without_reading(
    content: &Content<'_>,
    range: &Range<u64>,
    first: usize,
    own: &mut Own,
) -> Option<Outcome> {
    let mut pos = range.start;
    let mut index = first;
    while pos < range.end {
        let span = content.layout.span(index);
        let end = span.end().min(range.end);
        if !span.padding && pos < end {
            let file = match content.files.get(index, &mut own.last) {
                Ok(file) => file,
                Err(absent) => return Some(Outcome::Absent(absent)),
            };
            if file.nbytes < end - span.offset {
                return Some(Outcome::Absent(Absent::Missing));
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
    Some(content.of_zeros(range, first))
}

/// Whether pieces are so long that each lane asks for its own next bytes; otherwise all lanes ask for the next pieces
/// together.
fn asks_by_lane(content: &Content<'_>) -> bool {
    content.layout.piece_nbytes() > ahead::ALL_NBYTES / LANES as u64
}

/// For short pieces: asks for the data of all these lanes, which belong to one job, and for as much again, which the
/// next lanes will read.
pub(super) fn ask_for_all<J: Job>(content: &Content<'_>, own: &mut Own, lanes: &[Lane<J>]) {
    let (Some(first), Some(last)) = (lanes.first(), lanes.last()) else { return };
    if asks_by_lane(content) || content.is_being_fetched() {
        return;
    }
    let layout = &content.layout;
    let end = last.end.saturating_add(LANES as u64 * layout.piece_nbytes()).min(layout.total_nbytes());
    let asked = content.asked.fetch_max(end, Ordering::Relaxed);
    ask_for(content, own, first.pos.max(asked)..end);
}

/// For small files: asks for the first of the files that have the lane's next `nbytes` bytes and were not looked at
/// before, each up to the end of the piece.
pub(super) fn ask_for_small<J: Job>(own: &mut Own, lane: &mut Lane<J>, nbytes: u64) {
    let content = lane.job.content();
    let until = lane.end.min(lane.pos.saturating_add(nbytes));
    if lane.job.content().is_being_fetched() {
        lane.looked_at = lane.looked_at.max(until);
        return;
    }
    let mut left = if lane.looked_at < until { own.small.next() } else { 0 };
    while lane.looked_at < until && left > 0 {
        let pos = lane.looked_at;
        let index = content.layout.file_at(pos);
        let span = content.layout.span(index);
        // There can be a gap before the file.
        lane.looked_at = if pos < span.offset { span.offset } else { span.end() };
        if !span.padding && span.nbytes < ahead::WORTH_ASKING_NBYTES && pos >= span.offset {
            left -= 1;
            match content.files.get(index, &mut own.last) {
                // Reading a hole ahead would fill memory with zeros.
                Ok(file) if !file.holes => {
                    let range = pos - span.offset..span.end().min(lane.end) - span.offset;
                    own.small.note(read_ahead(&file.file, range));
                }
                _ => {}
            }
        }
    }
    lane.looked_at = lane.looked_at.max(until);
}

/// For long pieces: asks for the lane's next data when half of the data asked for is read.
pub(super) fn ask_for_lane<J: Job>(own: &mut Own, lane: &mut Lane<J>) {
    let content = lane.job.content();
    if content.is_being_fetched() {
        lane.asked = lane.asked.max(lane.pos);
        return;
    }
    if asks_by_lane(content) && lane.asked < lane.end && lane.pos + ahead::LANE_NBYTES / 2 >= lane.asked {
        let start = lane.asked;
        lane.asked = lane.end.min(start + ahead::LANE_NBYTES);
        ask_for(content, own, start..lane.asked);
    }
}

fn ask_for(content: &Content<'_>, own: &mut Own, range: Range<u64>) {
    let mut pos = range.start;
    while pos < range.end {
        let index = content.layout.file_at(pos);
        let span = content.layout.span(index);
        let end = span.end().min(range.end);
        if !span.padding && span.nbytes >= ahead::WORTH_ASKING_NBYTES && pos >= span.offset {
            if let Ok(file) = content.files.get(index, &mut own.last) {
                let (start, end) = (pos - span.offset, end - span.offset);
                // Reading a hole ahead would fill memory with zeros. In a file with holes the first data is asked for.
                let hole = if file.holes { stretch_at(&file.file, start) } else { Stretch::NONE };
                let start = if hole.hole { hole.end } else { start };
                let data = if file.holes { stretch_at(&file.file, start).end } else { end };
                read_ahead(&file.file, start..end.min(data));
            }
        }
        // There can be a gap after the file; `file_at` gives the gap's bytes to the next file.
        pos = if pos < span.offset { span.offset } else { end };
    }
}
