// SPDX-License-Identifier: MIT OR Apache-2.0

//! A job: files cut into pieces, the digests of the pieces, and what to do with them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use hashloom::{Algorithm, Hash, Hasher};

use crate::lanes::leaves::append_zeros;
use crate::lanes::{ALL, Fetched, Form, Leaves};
use crate::merkle::{self, BLOCK_NBYTES, Node, Tree};
use crate::pieces::files::{Absent, Files};
use crate::pieces::layout::Layout;
use crate::run::lock;

/// The kinds of digests that a job's pieces have. All jobs of a run that have one kind have it in one form.
#[derive(Debug, Clone)]
pub struct Hashes {
    /// A digest of the bytes that the piece covers, padding included.
    pub whole: Option<Leaves>,
    /// Digests of the piece's leaves, which are short.
    pub leaves: Option<Leaves>,
    /// BEP 52: the leaves become one root, of a tree over the bytes of the piece's file only. The length of a piece
    /// must then be a power of two of blocks, and each file, padding files apart, must begin at a piece.
    pub has_root: bool,
}

impl Hashes {
    /// The digests of a torrent's pieces: SHA-1 (BEP 3), the root of a hash tree (BEP 52), or both.
    pub fn of_torrent(piece_nbytes: u64, sha1: bool, root: bool) -> Hashes {
        Hashes {
            whole: sha1.then(|| Leaves::plain(Algorithm::Sha1, piece_nbytes)),
            leaves: root.then(|| Leaves::plain(Algorithm::Sha256, BLOCK_NBYTES)),
            has_root: root,
        }
    }

    /// Whether the digests of a piece of zeros are computed once for all such pieces.
    fn knows_zeros(&self) -> bool {
        self.whole.as_ref().is_none_or(Leaves::is_plain) && self.has_root == self.leaves.is_some()
    }
}

/// The digests of a piece; of a kind that the job does not have, nothing.
#[derive(Debug, Clone, Copy)]
pub struct Digests<'d> {
    /// The digest of the whole piece.
    pub whole: &'d [u8],
    /// The digests of the leaves, one after the other, or their root.
    pub leaves: &'d [u8],
}

impl<'d> Digests<'d> {
    pub(super) fn new(whole: &'d Option<Hash>, leaves: &'d [u8]) -> Digests<'d> {
        Digests { whole: whole.as_ref().map_or(&[], Hash::as_ref), leaves }
    }
}

/// The result for a piece.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'d> {
    /// The digests.
    Hashed(Digests<'d>),
    /// The piece's bytes are missing or unreadable.
    Absent(Absent),
    /// The job does not want the piece.
    Unwanted,
    /// A file of the piece has changed: an earlier result does not hold. The piece will be hashed again if the job
    /// wants it.
    Changed,
    /// A file of the piece has changed during each read. No other outcome of the piece follows, except
    /// [`Outcome::Changed`], which then means nothing.
    Unstable,
}

/// The files and pieces of a job, and the engine's notes on them.
pub struct Content<'a> {
    /// The pieces.
    pub layout: Arc<Layout>,
    /// The files that the pieces are in.
    pub files: Files<'a>,
    /// The digests that are wanted.
    pub hashes: Hashes,
    pub(super) nbytes_read: AtomicU64,
    /// Number of pieces that are not settled in this round.
    nleft: AtomicU64,
    /// Number of rounds in which all pieces were settled.
    nrounds: AtomicU8,
    /// Whether all of the content is being fetched or was fetched.
    pub(super) is_last_fetched: AtomicBool,
    /// The parts of the content that were fetched and are not hashed yet: see [`fetch`](super::fetch).
    pub(super) fetched: Fetched,
    /// The digest of a piece of zeros: of full length, and of the last piece's length if that is shorter.
    zeros: [OnceLock<Hash>; 2],
    /// The tree of a whole piece of zeros.
    zeros_root: OnceLock<Node>,
}

impl<'a> Content<'a> {
    /// Pieces of files, with the digests that are wanted.
    pub fn new(layout: Arc<Layout>, files: Files<'a>, hashes: Hashes) -> Content<'a> {
        Content {
            nleft: AtomicU64::new(layout.piece_count()),
            nrounds: AtomicU8::new(0),
            layout,
            files,
            hashes,
            nbytes_read: AtomicU64::new(0),
            is_last_fetched: AtomicBool::new(false),
            fetched: Fetched::new(ALL),
            zeros: Default::default(),
            zeros_root: OnceLock::new(),
        }
    }

    /// Number of bytes read from files.
    pub fn nbytes_read(&self) -> u64 {
        self.nbytes_read.load(Ordering::Relaxed)
    }

    /// Whether all pieces are in their first round.
    pub(super) fn is_first_round(&self) -> bool {
        self.nrounds.load(Ordering::Relaxed) == 0
    }

    /// Whether all pieces are settled.
    pub fn is_done(&self) -> bool {
        self.nleft.load(Ordering::Acquire) == 0
    }

    /// The bytes of a piece that its leaves cover, and the levels of the tree over them.
    pub(super) fn tree_of(&self, range: &Range<u64>, file: usize) -> (Range<u64>, u32) {
        if self.hashes.leaves.is_none() {
            return (range.start..range.start, 0);
        }
        if !self.hashes.has_root {
            return (range.clone(), 0);
        }
        let span = self.layout.span(file);
        if span.padding {
            return (range.start..range.start, 0);
        }
        let piece_nbytes = self.layout.piece_nbytes();
        (range.start..range.end.min(span.end()), merkle::height(span.nbytes.min(piece_nbytes)))
    }

    /// The digest and the root of a piece of zeros, as far as the job has such; `None` if they must be computed.
    pub(super) fn of_zeros(&self, range: &Range<u64>, file: usize) -> Option<(Option<Hash>, Option<Node>)> {
        if !self.hashes.knows_zeros() {
            return None;
        }
        let whole = self.hashes.whole.as_ref().map(|whole| {
            let nbytes = range.end - range.start;
            let is_short = nbytes < self.layout.piece_nbytes();
            *self.zeros[usize::from(is_short)].get_or_init(|| digest_of_zeros(whole.algorithm, nbytes))
        });
        let root = self.hashes.has_root.then(|| {
            let (bytes, levels) = self.tree_of(range, file);
            let nbytes = bytes.end - bytes.start;
            if nbytes == self.layout.piece_nbytes() {
                *self.zeros_root.get_or_init(|| tree_of_zeros(nbytes, levels))
            } else {
                tree_of_zeros(nbytes, levels)
            }
        });
        Some((whole, root))
    }
}

/// The digest of `nbytes` zeros. The last of a long stretch is kept: thousands of jobs can ask for the same.
fn digest_of_zeros(algorithm: Algorithm, nbytes: u64) -> Hash {
    static LAST: Mutex<Option<(Algorithm, u64, Hash)>> = Mutex::new(None);
    if let Some((_, _, hash)) = lock(&LAST).filter(|&(of, length, _)| (of, length) == (algorithm, nbytes)) {
        return hash;
    }
    let mut hasher = Hasher::new(algorithm);
    append_zeros(&mut hasher, nbytes);
    let hash = hasher.finalize();
    if nbytes > BLOCK_NBYTES {
        *lock(&LAST) = Some((algorithm, nbytes, hash));
    }
    hash
}

/// The SHA-256 of a block of zeros; a file's last block may be shorter.
fn block_of_zeros(nbytes: u64) -> Node {
    merkle::node(digest_of_zeros(Algorithm::Sha256, nbytes.min(BLOCK_NBYTES)).as_ref())
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

/// Files cut into pieces, and what to do with the digests.
pub trait Job: Send + Sync {
    /// The pieces and their files.
    fn content(&self) -> &Content<'_>;

    /// Whether the piece is to be hashed.
    fn wants(&self, piece: usize) -> bool;

    /// Whether a thread may begin the piece now; if not, later, as soon as earlier pieces are settled.
    fn may_begin(&self, _piece: usize) -> bool {
        true
    }

    /// Returns true if the caller no longer wants the job's result; changes of its files no longer matter then.
    fn is_given_up(&self) -> bool {
        false
    }

    /// Called for each piece, by any thread, in any order; called again for pieces that are hashed again, after
    /// [`Outcome::Changed`]. If the run is cancelled, some pieces get no call.
    fn settle(&self, piece: usize, outcome: Outcome<'_>);

    /// Called once, after the last piece, or when the run was cancelled after the job's beginning.
    fn finish(&self);
}

/// Largest number of rounds of a job, however its files change: a check of a folder in use must end.
const ROUNDS_MAX: u8 = 16;

/// A job's next step once a piece is settled.
pub(super) enum Settled {
    /// Other pieces are left.
    GoesOn,
    /// Pieces with this number of bytes need another round, as their files have changed.
    Again(u64),
    /// The job is over.
    Over,
}

/// Settles a piece. After the last piece the files are looked at again: either the job ends, or the pieces of changed
/// files need another round.
pub(super) fn settle<J: Job>(job: &J, piece: usize, outcome: Outcome<'_>) -> Settled {
    job.settle(piece, outcome);
    let content = job.content();
    if content.nleft.fetch_sub(1, Ordering::AcqRel) > 1 {
        return Settled::GoesOn;
    }
    if !job.is_given_up() {
        let nrounds = content.nrounds.fetch_add(1, Ordering::Relaxed) + 1;
        let nbytes = take_back(job, nrounds == ROUNDS_MAX);
        if nbytes > 0 {
            // Bytes of the files as they were before.
            content.fetched.clear();
            content.nleft.store(content.layout.piece_count(), Ordering::Release);
            return Settled::Again(nbytes);
        }
    }
    job.finish();
    Settled::Over
}

/// Ends a job that has unsettled pieces because the run was cancelled.
pub(super) fn break_off<J: Job>(job: &J) {
    take_back(job, false);
    job.finish();
}

/// Takes back the results for pieces of files that have changed since they were opened. Returns the number of bytes to
/// hash again. No thread may be working on a piece of the job.
fn take_back<J: Job>(job: &J, is_last: bool) -> u64 {
    let Content { files, layout, .. } = job.content();
    let (unstable, changed) = files.forget_changed(is_last);
    // An unstable piece stays unstable, even if it is shared with a changed neighbour.
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
