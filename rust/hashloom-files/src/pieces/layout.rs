// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files laid end to end and cut into pieces of one length: the bytes of files that make each piece.
//!
//! In another kind of layout each file begins at a piece of its own (BEP 52): the gaps before the files then belong to
//! no file and no piece. The first piece may begin later than the first file.

use std::ops::Range;

/// A file's place in the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Offset of the file's first byte.
    pub offset: u64,
    /// Number of bytes.
    pub nbytes: u64,
    /// Whether the file is padding: zeros that are on no disk.
    pub padding: bool,
}

impl Span {
    /// The offset behind the last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.nbytes
    }
}

/// The places of all files in 8 bytes a file: there can be ten million.
#[derive(Debug, Clone)]
pub struct Spans {
    /// For each file twice the offset of its end, plus 1 if the file is padding.
    ends: Vec<u64>,
    /// Every file begins at a multiple of this.
    alignment: u64,
    /// Bytes between files.
    gaps_nbytes: u64,
}

impl Default for Spans {
    /// A layout without gaps.
    fn default() -> Spans {
        Spans { ends: Vec::new(), alignment: 1, gaps_nbytes: 0 }
    }
}

impl Spans {
    /// A layout in which each file begins at a piece of its own. `piece_nbytes` must not be 0.
    pub fn aligned(piece_nbytes: u64) -> Spans {
        Spans { ends: Vec::new(), alignment: piece_nbytes, gaps_nbytes: 0 }
    }

    /// Adds a file after the last. The total length of all, gaps included, must stay below 2^63.
    pub fn push(&mut self, nbytes: u64, padding: bool) {
        let end = self.next_offset() + nbytes;
        self.gaps_nbytes += self.next_offset() - self.total_nbytes();
        debug_assert!(end <= i64::MAX as u64);
        self.ends.push(end << 1 | u64::from(padding));
    }

    /// Offset of the next file's first byte.
    fn next_offset(&self) -> u64 {
        self.total_nbytes().next_multiple_of(self.alignment)
    }

    /// Total bytes, padding included.
    pub fn total_nbytes(&self) -> u64 {
        self.ends.last().map_or(0, |end| end >> 1)
    }

    fn get(&self, file: usize) -> Span {
        let offset = if file == 0 { 0 } else { (self.ends[file - 1] >> 1).next_multiple_of(self.alignment) };
        let end = self.ends[file];
        Span { offset, nbytes: (end >> 1) - offset, padding: end & 1 != 0 }
    }
}

/// Files laid end to end, in pieces.
#[derive(Debug, Clone)]
pub struct Layout {
    piece_nbytes: u64,
    /// Offset of the first piece.
    start: u64,
    /// The places of the files; files may be empty.
    spans: Spans,
}

impl Layout {
    /// `piece_nbytes` must not be 0.
    pub fn new(piece_nbytes: u64, spans: Spans) -> Layout {
        debug_assert!(piece_nbytes > 0);
        Layout { piece_nbytes, start: 0, spans }
    }

    /// A range of one file, in pieces.
    pub fn of_range(piece_nbytes: u64, range: Range<u64>) -> Layout {
        let mut spans = Spans::default();
        spans.push(range.end, false);
        Layout { start: range.start, ..Layout::new(piece_nbytes, spans) }
    }

    /// A range of the content as a layout of its own, in pieces from the start of the range on, and the files with
    /// bytes in the range. The first of them keeps the bytes before the range, which are in no piece.
    pub fn part(&self, range: Range<u64>) -> (Layout, Range<usize>) {
        let files = self.files_of(range.clone());
        let offset = if files.is_empty() { range.start } else { self.span(files.start).offset };
        let mut spans = Spans { alignment: self.spans.alignment, ..Spans::default() };
        for span in files.clone().map(|file| self.span(file)) {
            spans.push(range.end.min(span.end()) - span.offset, span.padding);
        }
        (Layout { start: range.start - offset, ..Layout::new(self.piece_nbytes, spans) }, files)
    }

    /// Bytes of each piece but the last.
    pub fn piece_nbytes(&self) -> u64 {
        self.piece_nbytes
    }

    /// End of the last file: the total length of all files and of the gaps between them.
    pub fn total_nbytes(&self) -> u64 {
        self.spans.total_nbytes()
    }

    /// Total length of all files, padding included, gaps not, from the first piece on.
    pub fn files_nbytes(&self) -> u64 {
        self.spans.total_nbytes() - self.spans.gaps_nbytes - self.start
    }

    /// Number of pieces.
    pub fn piece_count(&self) -> u64 {
        (self.total_nbytes() - self.start).div_ceil(self.piece_nbytes)
    }

    /// The piece with the byte at `offset`, which must not be before the first piece.
    pub(crate) fn piece_at(&self, offset: u64) -> u64 {
        (offset - self.start) / self.piece_nbytes
    }

    /// The bytes of the content that a piece covers; empty beyond the last piece.
    pub fn piece_range(&self, piece: u64) -> Range<u64> {
        let start = self.start.saturating_add(piece.saturating_mul(self.piece_nbytes)).min(self.total_nbytes());
        let end = if self.spans.alignment == self.piece_nbytes && start < self.total_nbytes() {
            self.span(self.file_at(start)).end()
        } else {
            self.total_nbytes()
        };
        start..start.saturating_add(self.piece_nbytes).min(end)
    }

    /// A file's place in the stream.
    pub fn span(&self, file: usize) -> Span {
        self.spans.get(file)
    }

    /// The file that has byte `offset` of the content; never an empty file. `offset` must be below the total length and
    /// not in a gap.
    pub fn file_at(&self, offset: u64) -> usize {
        self.spans.ends.partition_point(|end| end >> 1 <= offset)
    }

    /// The pieces that have bytes of a file.
    pub fn pieces_of(&self, file: usize) -> Range<u64> {
        let span = self.span(file);
        match span.nbytes {
            0 => 0..0,
            _ => self.piece_at(span.offset.max(self.start))..self.piece_at(span.end() - 1) + 1,
        }
    }

    /// The files that have bytes in `range`, and empty files among them.
    pub fn files_of(&self, range: Range<u64>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        self.file_at(range.start)..self.file_at(range.end - 1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(piece_nbytes: u64, lengths: &[u64]) -> Layout {
        let mut spans = Spans::default();
        lengths.iter().for_each(|&nbytes| spans.push(nbytes, false));
        Layout::new(piece_nbytes, spans)
    }

    #[test]
    fn pieces_cover_the_content_once() {
        let layout = layout(4, &[0, 3, 0, 0, 6, 1, 0]);
        assert_eq!(layout.piece_count(), 3);
        assert_eq!([0, 1, 2, 3].map(|piece| layout.piece_range(piece)), [0..4, 4..8, 8..10, 10..10]);
        assert_eq!([0, 1, 2].map(|piece| layout.files_of(layout.piece_range(piece))), [1..5, 4..5, 4..6]);
        assert_eq!(layout.files_of(3..3), 0..0);
    }

    #[test]
    fn aligned_files_share_no_piece() {
        let mut spans = Spans::aligned(4);
        [0, 3, 0, 0, 6, 8, 1].iter().for_each(|&nbytes| spans.push(nbytes, false));
        let layout = Layout::new(4, spans);
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|file| layout.span(file).offset), [0, 0, 4, 4, 4, 12, 20]);
        assert_eq!((layout.total_nbytes(), layout.files_nbytes(), layout.piece_count()), (21, 18, 6));
        let ranges = [0, 1, 2, 3, 4, 5, 6].map(|piece| layout.piece_range(piece));
        assert_eq!(ranges, [0..3, 4..8, 8..10, 12..16, 16..20, 20..21, 21..21]);
        assert_eq!([0, 1, 2, 5].map(|piece| layout.files_of(layout.piece_range(piece))), [1..2, 4..5, 4..5, 6..7]);
    }

    #[test]
    fn pieces_of_a_range_of_a_file() {
        let layout = Layout::of_range(4, 3..13);
        assert_eq!((layout.piece_count(), layout.files_nbytes(), layout.total_nbytes()), (3, 10, 13));
        assert_eq!([0, 1, 2, 3].map(|piece| layout.piece_range(piece)), [3..7, 7..11, 11..13, 13..13]);
        assert_eq!((layout.pieces_of(0), layout.piece_at(12)), (0..3, 2));
        assert_eq!(Layout::of_range(u64::MAX, 3..13).piece_range(0), 3..13);
        assert_eq!(Layout::of_range(4, 5..5).piece_count(), 0);
    }

    #[test]
    fn a_part_has_the_files_of_its_pieces() {
        let whole = layout(4, &[0, 3, 0, 6, 1, 7]);
        let (part, files) = whole.part(whole.piece_range(1).start..whole.piece_range(2).end);
        assert_eq!((part.piece_count(), part.files_nbytes(), files), (2, 8, 3..6));
        // Byte 4 of the whole is byte 1 of the fourth file.
        assert_eq!([part.piece_range(0), part.piece_range(1)], [1..5, 5..9]);
        assert_eq!([0, 1, 2].map(|file| (part.span(file).offset, part.span(file).nbytes)), [(0, 6), (6, 1), (7, 2)]);
        assert_eq!(whole.part(4..4).0.piece_count(), 0);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let layout = layout(1 << 32, &[i64::MAX as u64]);
        assert_eq!(layout.piece_count(), 1 << 31);
        assert_eq!(layout.piece_range(u64::MAX), i64::MAX as u64..i64::MAX as u64);
        assert_eq!(Layout::new(1, Spans::default()).piece_count(), 0);
    }
}
