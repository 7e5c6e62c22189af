// SPDX-License-Identifier: MIT OR Apache-2.0

//! The digests of all pieces of a content, for making a torrent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hashloom_files::merkle::NODE_NBYTES;
use hashloom_files::pieces::job::{Content, Digests, Job, Outcome};
use hashloom_files::pieces::run;
use hashloom_files::run::{Options, lock, unlocked};

/// The digests of all pieces, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    /// 20 bytes a piece; empty if SHA-1 is not wanted.
    pub(crate) sha1: Vec<u8>,
    /// 32 bytes a piece; empty if hash trees are not wanted.
    pub(crate) roots: Vec<u8>,
}

/// Why there are no digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Cancelled,
    /// A file could not be opened or read, or has become shorter: `content.files` knows which file.
    Absent,
}

struct Making<'a> {
    content: Content<'a>,
    computed: Mutex<Computed>,
    failed: AtomicBool,
}

/// Hashes all pieces. After the first unavailable piece no others are begun.
pub(crate) fn compute<'a>(content: Content<'a>, options: &Options) -> (Content<'a>, Result<Computed, Failure>) {
    let count = content.layout.piece_count() as usize;
    let nbytes = |wanted: bool, each: usize| if wanted { count * each } else { 0 };
    let computed = Computed {
        sha1: vec![0; nbytes(content.hashes.whole.is_some(), 20)],
        roots: vec![0; nbytes(content.hashes.has_root, NODE_NBYTES)],
    };
    let making = Arc::new(Making { content, computed: Mutex::new(computed), failed: AtomicBool::new(false) });
    run(std::iter::once(making.clone()), options);
    // The run is over, so this is the only owner.
    let Some(making) = Arc::into_inner(making) else { unreachable!("the run is over") };
    let result = match making.failed.into_inner() {
        true => Err(Failure::Absent),
        false if !making.content.is_done() => Err(Failure::Cancelled),
        false => Ok(unlocked(making.computed)),
    };
    (making.content, result)
}

impl Job for Making<'_> {
    fn content(&self) -> &Content<'_> {
        &self.content
    }

    fn wants(&self, _piece: usize) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }

    fn is_given_up(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn settle(&self, piece: usize, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Hashed(Digests { whole, leaves }) => {
                let mut computed = lock(&self.computed);
                if let Some(place) = computed.sha1.get_mut(piece * 20..(piece + 1) * 20) {
                    place.copy_from_slice(whole);
                }
                if let Some(place) = computed.roots.get_mut(piece * NODE_NBYTES..(piece + 1) * NODE_NBYTES) {
                    place.copy_from_slice(leaves);
                }
            }
            Outcome::Absent(_) | Outcome::Unstable => self.failed.store(true, Ordering::Relaxed),
            // A piece is unwanted only after a failure; a changed piece is hashed again.
            Outcome::Unwanted | Outcome::Changed => {}
        }
    }

    fn finish(&self) {}
}
