// SPDX-License-Identifier: MIT OR Apache-2.0

//! A job: the content of one torrent, the digests that its pieces have, and what is done with them.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::merkle::{self, BLOCK_NBYTES, Node, Tree};
use crate::pieces::files::{Absent, Files};
use crate::pieces::layout::Layout;
use crate::pieces::rows::{block_of_zeros, sha1_of_zeros};

/// Which digests the pieces of a job have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// BEP 3: of the bytes that the piece covers, padding included.
    pub(crate) sha1: bool,
    /// BEP 52: of the piece's file alone. Pieces must then be a power of two of blocks, and each file that is no padding
    /// begin at one.
    pub(crate) merkle: bool,
}

/// What came of a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// Its digests; a digest that the job has not is all zeros.
    Hashed { sha1: [u8; 20], root: Node },
    /// Its bytes cannot be had.
    Absent(Absent),
    /// The job does not want it.
    Unwanted,
    /// A file of it has changed: what came of it before is not to be believed. It will be hashed again, if it is wanted.
    Changed,
    /// A file of it has changed each time that it was hashed. This is the last that is said of a piece, but for
    /// [`Outcome::Changed`], which then means nothing.
    Unstable,
}

/// What is read, and what the engine notes of it.
pub(crate) struct Content<'a> {
    pub(crate) layout: Arc<Layout>,
    pub(crate) files: Files<'a>,
    pub(super) hashes: Hashes,
    pub(super) nbytes_read: AtomicU64,
    /// Pieces that are not settled in this round.
    nleft: AtomicU64,
    /// How often all pieces were settled.
    nrounds: AtomicU8,
    /// Up to here the content was asked for ahead of reading it.
    pub(super) asked: AtomicU64,
    /// SHA-1 of a piece of zeros: of full length, and of the last one's if that is shorter.
    zeros: [OnceLock<[u8; 20]>; 2],
    /// The tree of a whole piece of zeros.
    zeros_root: OnceLock<Node>,
}

impl<'a> Content<'a> {
    pub(crate) fn new(layout: Arc<Layout>, files: Files<'a>, hashes: Hashes) -> Content<'a> {
        Content {
            nleft: AtomicU64::new(layout.piece_count()),
            nrounds: AtomicU8::new(0),
            layout,
            files,
            hashes,
            nbytes_read: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            zeros: Default::default(),
            zeros_root: OnceLock::new(),
        }
    }

    /// Bytes that were read from files.
    pub(crate) fn nbytes_read(&self) -> u64 {
        self.nbytes_read.load(Ordering::Relaxed)
    }

    /// Whether no piece was settled twice yet.
    pub(super) fn is_first_round(&self) -> bool {
        self.nrounds.load(Ordering::Relaxed) == 0
    }

    /// Whether all pieces are settled.
    pub(crate) fn is_done(&self) -> bool {
        self.nleft.load(Ordering::Acquire) == 0
    }

    /// The bytes of a piece that its hash tree covers, and the tree's levels.
    pub(super) fn tree_of(&self, range: &Range<u64>, file: usize) -> (Range<u64>, u32) {
        let span = self.layout.span(file);
        if span.padding {
            return (range.start..range.start, 0);
        }
        let piece_nbytes = self.layout.piece_nbytes();
        (range.start..range.end.min(span.end()), merkle::height(span.nbytes.min(piece_nbytes)))
    }

    /// The digests of a piece that is all zeros.
    pub(super) fn of_zeros(&self, range: &Range<u64>, file: usize) -> Outcome {
        let sha1 = match self.hashes.sha1 {
            true => {
                let nbytes = range.end - range.start;
                let is_short = nbytes < self.layout.piece_nbytes();
                *self.zeros[usize::from(is_short)].get_or_init(|| sha1_of_zeros(nbytes))
            }
            false => [0; 20],
        };
        let root = match self.hashes.merkle {
            true => {
                let (bytes, levels) = self.tree_of(range, file);
                let nbytes = bytes.end - bytes.start;
                match nbytes == self.layout.piece_nbytes() {
                    true => *self.zeros_root.get_or_init(|| tree_of_zeros(nbytes, levels)),
                    false => tree_of_zeros(nbytes, levels),
                }
            }
            false => merkle::NO_LEAF,
        };
        Outcome::Hashed { sha1, root }
    }
}

fn tree_of_zeros(nbytes: u64, levels: u32) -> Node {
    if nbytes == 0 {
        return merkle::NO_LEAF;
    }
    let mut tree = Tree::default();
    let whole = block_of_zeros(BLOCK_NBYTES);
    (0..nbytes / BLOCK_NBYTES).for_each(|_| tree.push(&whole));
    if nbytes % BLOCK_NBYTES > 0 {
        tree.push(&block_of_zeros(nbytes % BLOCK_NBYTES));
    }
    tree.finish(levels)
}

/// One torrent's content and what is done with its digests.
pub(crate) trait Job: Send + Sync {
    fn content(&self) -> &Content<'_>;

    /// Whether the piece is to be hashed.
    fn wants(&self, piece: usize) -> bool;

    /// Whether nothing more of it is wanted, and it does not matter whether its files change.
    fn is_given_up(&self) -> bool {
        false
    }

    /// Called for each piece, by any thread, in any order; again for those that are hashed again, after
    /// [`Outcome::Changed`]. If the run is cancelled, pieces are left out.
    fn settle(&self, piece: usize, outcome: Outcome);

    /// Called once, after the last piece, or when the run was cancelled after the job was begun.
    fn finish(&self);
}

/// A job is run over so often at most, whichever of its files change: a check of a folder that is in use comes to an end.
const ROUNDS_MAX: u8 = 16;

/// Settles a piece. With the last the files are looked at again: either this ends the job, or it is to be run over once
/// more for pieces of files that have changed. Then the bytes of these are returned.
pub(super) fn settle<J: Job>(job: &J, piece: usize, outcome: Outcome) -> Option<u64> {
    job.settle(piece, outcome);
    let content = job.content();
    if content.nleft.fetch_sub(1, Ordering::AcqRel) > 1 {
        return None;
    }
    if !job.is_given_up() {
        let nrounds = content.nrounds.fetch_add(1, Ordering::Relaxed) + 1;
        let nbytes = take_back(job, nrounds == ROUNDS_MAX);
        if nbytes > 0 {
            content.asked.store(0, Ordering::Relaxed);
            content.nleft.store(content.layout.piece_count(), Ordering::Release);
            return Some(nbytes);
        }
    }
    job.finish();
    None
}

/// Ends a job of which pieces are left, as the run was cancelled.
pub(super) fn break_off<J: Job>(job: &J) {
    take_back(job, false);
    job.finish();
}

/// Takes back what came of the pieces of files that are not as they were when they were opened. Returns the bytes of
/// those that are to be hashed again. No piece of the job may be in work.
fn take_back<J: Job>(job: &J, is_last: bool) -> u64 {
    let Content { files, layout, .. } = job.content();
    let (unstable, changed) = files.forget_changed(is_last);
    // What is unstable stays so, also for a neighbour with which a piece is shared.
    for piece in unstable.into_iter().flat_map(|file| layout.pieces_of(file)) {
        job.settle(piece as usize, Outcome::Unstable);
    }
    let (mut next, mut nbytes) = (0, 0);
    for pieces in changed.into_iter().map(|file| layout.pieces_of(file)) {
        for piece in pieces.start.max(next)..pieces.end {
            job.settle(piece as usize, Outcome::Changed);
            if job.wants(piece as usize) {
                let range = layout.piece_range(piece);
                nbytes += range.end - range.start;
            }
        }
        next = next.max(pieces.end);
    }
    nbytes
}
