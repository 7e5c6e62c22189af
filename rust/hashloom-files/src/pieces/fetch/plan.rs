// SPDX-License-Identifier: MIT OR Apache-2.0

//! The order in which a content is fetched: from front to back, a part of a file at a time.

use std::ops::Range;

use crate::pieces::job::{Content, Job};
use crate::read::readers::PART_NBYTES;

/// The rest of a content that is to be fetched.
pub(super) struct Plan {
    /// The next piece, and the content's next byte: both are passed once `pos` is at the piece's end.
    piece: u64,
    pos: u64,
}

/// A part of a file that is to be fetched.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) file: usize,
    /// The part's place in the content.
    pub(super) range: Range<u64>,
}

impl Plan {
    pub(super) fn new() -> Plan {
        Plan { piece: 0, pos: 0 }
    }

    /// The next part: wanted bytes of one file, in one of the aligned stretches of [`PART_NBYTES`] bytes that a file
    /// has. `None` at the end.
    pub(super) fn next<J: Job>(&mut self, job: &J) -> Option<Step> {
        self.skip(job);
        let content = job.content();
        let layout = &content.layout;
        if self.piece >= layout.piece_count() {
            return None;
        }
        let start = self.pos;
        let file = layout.file_at(start);
        let span = layout.span(file);
        let at = start - span.offset;
        let most = span.end().min(start + (PART_NBYTES - at % PART_NBYTES));
        let mut end = layout.piece_range(self.piece).end;
        while end < most && is_next_wanted(job, self.piece, end) {
            self.piece += 1;
            end = layout.piece_range(self.piece).end;
        }
        self.pos = end.min(most);
        self.skip(job);
        Some(Step { file, range: start..end.min(most) })
    }

    /// Length of the file that has the next part; `None` at the end.
    pub(super) fn next_file_nbytes<J: Job>(&self, job: &J) -> Option<u64> {
        let layout = &job.content().layout;
        (self.piece < layout.piece_count()).then(|| layout.span(layout.file_at(self.pos)).nbytes)
    }

    /// End of the content that needs no further reading before the next part.
    pub(super) fn passed(&self) -> u64 {
        self.pos
    }

    /// Passes the rest of a hole, which ends at `end`.
    pub(super) fn pass_hole<J: Job>(&mut self, job: &J, end: u64) {
        if end > self.pos {
            self.piece = self.piece.max(job.content().layout.piece_at(end));
            self.pos = end;
            self.skip(job);
        }
    }

    /// Passes pieces that are not wanted, padding, and gaps between files.
    fn skip<J: Job>(&mut self, job: &J) {
        let Content { layout, .. } = job.content();
        while self.piece < layout.piece_count() {
            let range = layout.piece_range(self.piece);
            self.pos = self.pos.max(range.start);
            if self.pos >= range.end || !job.wants(self.piece as usize) {
                self.pos = self.pos.max(range.end);
                self.piece += 1;
                continue;
            }
            let span = layout.span(layout.file_at(self.pos));
            if self.pos < span.offset {
                self.pos = span.offset;
            } else if span.padding {
                self.pos = span.end();
            } else {
                return;
            }
        }
    }
}

/// Whether the piece after `piece`, which ends at `end`, follows without a gap and is wanted.
fn is_next_wanted<J: Job>(job: &J, piece: u64, end: u64) -> bool {
    let layout = &job.content().layout;
    piece + 1 < layout.piece_count() && layout.piece_range(piece + 1).start == end && job.wants(piece as usize + 1)
}
