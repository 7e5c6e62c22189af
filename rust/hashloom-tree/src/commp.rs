// SPDX-License-Identifier: MIT OR Apache-2.0

//! The piece commitment of Filecoin, CommP: what a storage provider proves to store (FRC-0069).
//!
//! The bytes become numbers of 254 bits, four of 127 bytes, 32 bytes each (Fr32). These are the leaves of a binary tree
//! of SHA-256 whose digests lose their two highest bits, filled up to a power of two with zeros.

use hashloom::Algorithm::Sha256;
use hashloom::{Rows, hash, hash_rows};
use hashloom_files::Source;
use hashloom_files::run::Options;

use super::cid::base32;
use super::{Input, TreeError};

/// Bytes that become four leaves, and the bytes of these.
const QUAD_NBYTES: usize = 127;
const PADDED_QUAD_NBYTES: usize = 128;

/// Levels of the tree over a window, a MiB of leaves.
const WINDOW_HEIGHT: u8 = 15;
const WINDOW_NBYTES: usize = (32 << WINDOW_HEIGHT) / PADDED_QUAD_NBYTES * QUAD_NBYTES;

type Node = [u8; 32];

/// A piece commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Piece {
    /// The CID that deals have, `baga6ea4seaq…`.
    pub cid: String,
    /// The length of all leaves, which deals call the size of the piece.
    pub padded_nbytes: u64,
}

/// The piece commitment of a file.
///
/// # Errors
///
/// [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::commp::{Piece, commp};
///
/// // Of FRC-0069: 127 bytes of each value.
/// let data: Vec<u8> = (0..4).flat_map(|byte| [byte; 127]).collect();
/// let piece: Piece = commp(Source::memory(data), &Options::new())?;
/// assert_eq!(piece.cid, "baga6ea4seaqes3nobte6ezpp4wqan2age2s5yxcatzotcvobhgcmv5wi2xh5mbi");
/// assert_eq!(piece.padded_nbytes, 512);
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn commp(source: impl Into<Source>, options: &Options) -> Result<Piece, TreeError> {
    let mut roots = Vec::new();
    Input::open(source.into())?.windows(WINDOW_NBYTES, options, window_root, |root| push(&mut roots, root))?;
    if roots.is_empty() {
        roots.push(window_root(0, &[]));
    }
    // Zeros stand beside a tree that has no neighbour.
    let (mut root, mut height) = roots.pop().unwrap_or_default();
    while let Some(&(left, above)) = roots.last() {
        let is_beside = above == height;
        root = if is_beside { node(&left, &root) } else { node(&root, &zeros_root(height)) };
        roots.truncate(roots.len() - usize::from(is_beside));
        height += 1;
    }
    // Version 1, the codec fil-commitment-unsealed, the hash sha2-256-trunc254-padded, 32 bytes.
    let cid = base32(&[&[0x01, 0x81, 0xe2, 0x03, 0x92, 0x20, 32], &root[..]].concat());
    Ok(Piece { cid, padded_nbytes: 32 << height })
}

/// Adds the next tree to trees of falling heights.
fn push(roots: &mut Vec<(Node, u8)>, (mut root, mut height): (Node, u8)) {
    while let Some(&(left, _)) = roots.last().filter(|(_, beside)| *beside == height) {
        root = node(&left, &root);
        roots.pop();
        height += 1;
    }
    roots.push((root, height));
}

/// The root over the leaves of a window, and the height of the tree. Windows behind the first are filled with zeros.
fn window_root(offset: u64, window: &[u8]) -> (Node, u8) {
    let nbytes = if offset == 0 { window.len() } else { WINDOW_NBYTES };
    let mut level = vec![0; nbytes.div_ceil(QUAD_NBYTES).next_power_of_two() * PADDED_QUAD_NBYTES];
    for (quad, padded) in window.chunks(QUAD_NBYTES).zip(level.chunks_exact_mut(PADDED_QUAD_NBYTES)) {
        spread(quad, padded);
    }
    let (mut above, mut nnodes) = (vec![0; level.len() / 2], level.len() / 32);
    let height = nnodes.ilog2() as u8;
    while nnodes > 1 {
        nnodes /= 2;
        hash_rows(Sha256, Rows::chunks_exact(&level[..nnodes * 64], 64), &mut above[..nnodes * 32]);
        above[..nnodes * 32].chunks_exact_mut(32).for_each(|node| node[31] &= 0x3f);
        std::mem::swap(&mut level, &mut above);
    }
    (level[..32].try_into().unwrap_or_default(), height)
}

/// Spreads up to 127 bytes over four numbers of 254 bits, 32 bytes each.
fn spread(quad: &[u8], padded: &mut [u8]) {
    // A byte of zeros is before them, and at least one after them.
    let mut bytes = [0; PADDED_QUAD_NBYTES + 1];
    bytes[1..=quad.len()].copy_from_slice(quad);
    for (number, (bytes, padded)) in bytes.windows(33).step_by(32).zip(padded.chunks_exact_mut(32)).enumerate() {
        for (bytes, word) in bytes.windows(9).step_by(8).zip(padded.chunks_exact_mut(8)) {
            let (before, value) = (u64::from(bytes[0]), u64::from_le_bytes(bytes[1..].try_into().unwrap_or_default()));
            word.copy_from_slice(&(value << (2 * number) | before >> (8 - 2 * number)).to_le_bytes());
        }
        padded[31] &= 0x3f;
    }
}

fn node(left: &Node, right: &Node) -> Node {
    let mut node: Node = hash(Sha256, &[*left, *right].concat()).as_ref().try_into().unwrap_or_default();
    node[31] &= 0x3f;
    node
}

/// The root of a tree of zeros.
fn zeros_root(height: u8) -> Node {
    (0..height).fold([0; 32], |zeros, _| node(&zeros, &zeros))
}
