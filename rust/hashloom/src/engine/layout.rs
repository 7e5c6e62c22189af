// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files laid end to end and cut into pieces of one length: which bytes of which files a piece is made of.

use std::ops::Range;

/// A file's place in the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Where it begins.
    pub(crate) offset: u64,
    pub(crate) nbytes: u64,
    /// Zeros that are on no disk.
    pub(crate) padding: bool,
}

impl Span {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.nbytes
    }
}

/// Files laid end to end, in pieces.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    piece_nbytes: u64,
    total_nbytes: u64,
    /// Without gaps, in order; some may be empty.
    spans: Vec<Span>,
}

impl Layout {
    /// `spans` follow each other without gaps from 0 to `total_nbytes`; `piece_nbytes` is not 0.
    pub(crate) fn new(piece_nbytes: u64, total_nbytes: u64, spans: Vec<Span>) -> Layout {
        debug_assert!(piece_nbytes > 0 && spans.last().map_or(0, Span::end) == total_nbytes);
        Layout { piece_nbytes, total_nbytes, spans }
    }

    pub(crate) fn piece_nbytes(&self) -> u64 {
        self.piece_nbytes
    }

    pub(crate) fn total_nbytes(&self) -> u64 {
        self.total_nbytes
    }

    pub(crate) fn piece_count(&self) -> u64 {
        self.total_nbytes.div_ceil(self.piece_nbytes)
    }

    /// The bytes of the content that a piece covers; empty beyond the last.
    pub(crate) fn piece_range(&self, piece: u64) -> Range<u64> {
        let start = piece.saturating_mul(self.piece_nbytes).min(self.total_nbytes);
        start..start.saturating_add(self.piece_nbytes).min(self.total_nbytes)
    }

    pub(crate) fn span(&self, file: usize) -> Span {
        self.spans[file]
    }

    /// The file that has byte `offset` of the content, which must be below its total length. Never an empty file.
    pub(crate) fn file_at(&self, offset: u64) -> usize {
        self.spans.partition_point(|span| span.end() <= offset)
    }

    /// The files that have bytes in `range`, and empty ones among them.
    pub(crate) fn files_of(&self, range: Range<u64>) -> Range<usize> {
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
        let mut total = 0;
        let spans = lengths
            .iter()
            .map(|&nbytes| {
                total += nbytes;
                Span { offset: total - nbytes, nbytes, padding: false }
            })
            .collect();
        Layout::new(piece_nbytes, total, spans)
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
    fn extremes_do_not_overflow() {
        let layout = layout(1 << 32, &[i64::MAX as u64]);
        assert_eq!(layout.piece_count(), 1 << 31);
        assert_eq!(layout.piece_range(u64::MAX), i64::MAX as u64..i64::MAX as u64);
        assert_eq!(Layout::new(1, 0, Vec::new()).piece_count(), 0);
    }
}
