// SPDX-License-Identifier: MIT OR Apache-2.0

//! The digests of all pieces, computed one piece after the other on one thread.

use std::sync::atomic::Ordering;

use super::files::{Absent, Files, Last};
use super::layout::Layout;
use super::pieces::Progress;
use crate::torrent::Options;
use crate::torrent::merkle::{self, BLOCK_NBYTES, NODE_NBYTES};
use crate::{Algorithm, Hasher, hash, hash_rows};

/// Read at once: a whole number of blocks.
const CHUNK_NBYTES: usize = 32 * BLOCK_NBYTES as usize;

/// Which digests are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hashes {
    /// SHA-1 of each piece, padding included.
    pub(crate) sha1: bool,
    /// The root of each piece's hash tree (BEP 52). Every file that is not padding must begin at a piece.
    pub(crate) merkle: bool,
}

/// The digests of all pieces, in order.
#[derive(Debug)]
pub(crate) struct Computed {
    /// 20 bytes a piece, or empty.
    pub(crate) sha1: Vec<u8>,
    /// 32 bytes a piece, or empty.
    pub(crate) roots: Vec<u8>,
}

/// Why there are no digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Cancelled,
    /// This file is missing, too short, or cannot be read: [`Files`] knows which.
    File(usize),
}

/// Computes the digests of all pieces.
pub(crate) fn compute(
    layout: &Layout,
    files: &Files<'_>,
    hashes: Hashes,
    options: &Options<'_>,
) -> Result<Computed, Failure> {
    let mut computed = Computed { sha1: Vec::new(), roots: Vec::new() };
    let mut buffer = vec![0; CHUNK_NBYTES];
    let mut sha1 = Hasher::new(Algorithm::Sha1);
    let mut leaves = Vec::new();
    let mut last: Last = None;
    let mut done = 0;
    for piece in 0..layout.piece_count() {
        let range = layout.piece_range(piece);
        let mut index = layout.file_at(range.start);
        let mut pos = range.start;
        // The levels of this piece's tree.
        let mut levels = 0;
        while pos < range.end {
            if options.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(Failure::Cancelled);
            }
            let span = layout.span(index);
            let here = (span.end().min(range.end) - pos).min(CHUNK_NBYTES as u64) as usize;
            if here == 0 {
                index += 1;
                continue;
            }
            let chunk = &mut buffer[..here];
            if span.padding {
                chunk.fill(0);
            } else {
                read(files, &mut last, index, pos - span.offset, chunk)?;
                if hashes.merkle {
                    levels = merkle::height(span.nbytes.min(layout.piece_nbytes()));
                    blocks(chunk, &mut leaves);
                }
            }
            if hashes.sha1 {
                sha1.update(chunk);
            }
            pos += here as u64;
            done += here as u64;
            if let Some(progress) = options.progress {
                progress(Progress { nbytes: done, total_nbytes: layout.total_nbytes() });
            }
        }
        if hashes.sha1 {
            computed.sha1.extend_from_slice(sha1.finalize_reset().as_ref());
        }
        if hashes.merkle {
            computed.roots.extend_from_slice(&merkle::root(&mut leaves, levels, [0; NODE_NBYTES]));
            leaves.clear();
        }
    }
    Ok(computed)
}

fn read(files: &Files<'_>, last: &mut Last, index: usize, at: u64, chunk: &mut [u8]) -> Result<(), Failure> {
    let failed = |_: Absent| Failure::File(index);
    let file = files.get(index, last).map_err(failed)?;
    match file.read_at(chunk, at) {
        Ok(found) if found == chunk.len() => Ok(()),
        Ok(_) => Err(Failure::File(index)),
        Err(error) => {
            files.read_failed(index, at, error);
            Err(Failure::File(index))
        }
    }
}

/// Appends the digests of a chunk's blocks, of which only a file's last may be short.
fn blocks(chunk: &[u8], leaves: &mut Vec<u8>) {
    let block = BLOCK_NBYTES as usize;
    let count = chunk.len() / block;
    let start = leaves.len();
    leaves.resize(start + count * NODE_NBYTES, 0);
    hash_rows(Algorithm::Sha256, chunk, block, block, count, &mut leaves[start..]);
    let rest = &chunk[count * block..];
    if !rest.is_empty() {
        leaves.extend_from_slice(hash(Algorithm::Sha256, rest).as_ref());
    }
}
