// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes pieces whose bytes the caller has read, where [`verify`](super::verify()) cannot read them: in a browser, or
//! as they come from the network.

use std::ops::Range;

use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};
use hashloom_files::merkle::{self, BLOCK_NBYTES, NODE_NBYTES, Tree};
use hashloom_files::pieces::layout::Layout;

use super::{PieceState, Torrent};

/// The digests of a piece: those that its torrent has. Both are `None` if the piece has not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::exhaustive_structs, reason = "callers make it from what another thread found")]
pub struct PieceDigests {
    /// SHA-1 of the piece (BEP 3).
    pub sha1: Option<[u8; 20]>,
    /// The root of the piece's hash tree (BEP 52).
    pub root: Option<[u8; 32]>,
}

/// Several pieces of a torrent, or of one that is to be made, hashed side by side from memory.
///
/// A piece's bytes come in any number of chunks. Bytes of padding files are zeros, which the caller provides too.
/// Memory hardly grows with the length of a piece: by 8 bytes for each MiB, for v2.
///
/// ```
/// use hashloom_torrent::{PieceDigests, Pieces, Torrent};
///
/// let mut bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:".to_vec();
/// bytes.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"abc").as_ref());
/// bytes.extend_from_slice(b"ee");
/// let torrent = Torrent::parse(&bytes)?;
/// let mut pieces = Pieces::new(&torrent, &[0]);
/// pieces.update(&[b"abc"]);
/// assert_eq!(pieces.finish(), [true]);
///
/// let short: Vec<PieceDigests> = Pieces::new(&torrent, &[0]).digests();
/// assert_eq!(short, [PieceDigests::default()]); // no byte of the piece has come
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
#[derive(Debug)]
pub struct Pieces<'a> {
    /// The torrent whose digests the pieces should have; none if the torrent is to be made.
    torrent: Option<&'a Torrent>,
    lanes: Vec<Lane>,
    /// One for each lane; empty in a v2 torrent.
    hashers: Vec<Hasher>,
}

#[derive(Debug)]
struct Lane {
    piece: usize,
    /// Bytes of the piece that are still to come.
    nleft: u64,
    /// Bytes under the piece's hash tree that are still to come. Padding is not under the tree.
    tree_nleft: u64,
    levels: u32,
    tree: Tree,
    /// The beginning of a block of the tree whose end is still to come.
    rest: Vec<u8>,
}

impl<'a> Pieces<'a> {
    /// Begins these pieces. Lanes are full if there are 16 or a multiple of 16, and no piece is much shorter than the
    /// others.
    ///
    /// # Panics
    ///
    /// If one of the pieces does not exist.
    pub fn new(torrent: &'a Torrent, pieces: &[usize]) -> Pieces<'a> {
        let (has_sha1, has_roots) = (!torrent.digests().is_empty(), !torrent.roots().is_empty());
        Pieces { torrent: Some(torrent), ..pieces_of_layout(&torrent.layout, has_sha1, has_roots, pieces) }
    }

    /// Hashes the next bytes of each piece.
    ///
    /// # Panics
    ///
    /// If there are not as many chunks as pieces, or a chunk reaches beyond the end of its piece.
    pub fn update<C: AsRef<[u8]>>(&mut self, chunks: &[C]) {
        assert_eq!(chunks.len(), self.lanes.len(), "Pieces::update: each piece takes one chunk");
        for (lane, chunk) in self.lanes.iter_mut().zip(chunks) {
            let nbytes = chunk.as_ref().len() as u64;
            assert!(
                nbytes <= lane.nleft,
                "Pieces::update: {nbytes} bytes for piece {}, {} left",
                lane.piece,
                lane.nleft
            );
            lane.nleft -= nbytes;
        }
        if !self.hashers.is_empty() {
            update_many(&mut self.hashers, chunks);
        }
        self.update_trees(chunks);
    }

    /// Hashes the blocks of all trees side by side.
    fn update_trees<C: AsRef<[u8]>>(&mut self, chunks: &[C]) {
        let block_nbytes = BLOCK_NBYTES as usize;
        let mut blocks: Vec<&[u8]> = Vec::new();
        let mut counts = Vec::with_capacity(chunks.len());
        let mut rests = Vec::with_capacity(chunks.len());
        for (lane, chunk) in self.lanes.iter_mut().zip(chunks) {
            let chunk = chunk.as_ref();
            let chunk = &chunk[..(chunk.len() as u64).min(lane.tree_nleft) as usize];
            lane.tree_nleft -= chunk.len() as u64;
            // A block that began in an earlier chunk.
            let ahead = if lane.rest.is_empty() { 0 } else { (block_nbytes - lane.rest.len()).min(chunk.len()) };
            let (end, chunk) = chunk.split_at(ahead);
            lane.rest.extend_from_slice(end);
            let whole = match lane.tree_nleft {
                0 => chunk.len(),
                _ => chunk.len() - chunk.len() % block_nbytes,
            };
            rests.push(&chunk[whole..]);
            blocks.extend(chunk[..whole].chunks(block_nbytes));
            counts.push(chunk[..whole].len().div_ceil(block_nbytes));
        }
        // Blocks put together from two chunks or more come before the others of their lanes.
        let is_joined =
            |lane: &Lane| lane.rest.len() == block_nbytes || (lane.tree_nleft == 0 && !lane.rest.is_empty());
        for lane in self.lanes.iter_mut().filter(|lane| is_joined(lane)) {
            lane.tree.push(hashloom::hash(Algorithm::Sha256, &lane.rest).as_ref());
            lane.rest.clear();
        }
        let mut leaves = vec![0; blocks.len() * NODE_NBYTES];
        hash_many(Algorithm::Sha256, &blocks, &mut leaves);
        let mut leaves = &leaves[..];
        for ((lane, count), rest) in self.lanes.iter_mut().zip(counts).zip(rests) {
            let (own, others) = leaves.split_at(count * NODE_NBYTES);
            lane.tree.push(own);
            lane.rest.extend_from_slice(rest);
            leaves = others;
        }
    }

    /// Tells for each piece whether its bytes are right. Pieces that have not come to their end are not. In a hybrid
    /// torrent both digests must be right.
    ///
    /// Pieces of a torrent that is to be made are never right: there is nothing that they should be.
    pub fn finish(self) -> Vec<bool> {
        let torrent = self.torrent;
        let pieces: Vec<usize> = self.lanes.iter().map(|lane| lane.piece).collect();
        let is_right = |(PieceDigests { sha1, root }, piece): (PieceDigests, usize)| {
            let (sha1, root) = (sha1.unwrap_or_default(), root.unwrap_or_default());
            torrent.is_some_and(|torrent| torrent.verdict(piece, &sha1, &root) == PieceState::Have)
        };
        self.digests().into_iter().zip(pieces).map(is_right).collect()
    }

    /// The digests of the pieces. Pieces that have not come to their end have none.
    pub fn digests(mut self) -> Vec<PieceDigests> {
        let mut digests = vec![0; self.hashers.len() * 20];
        finalize_many(&mut self.hashers, &mut digests);
        let of = |(i, lane): (usize, &mut Lane)| match lane.nleft {
            0 => PieceDigests {
                sha1: digests.get(i * 20..(i + 1) * 20).and_then(|sha1| sha1.try_into().ok()),
                root: (!lane.tree.is_empty()).then(|| lane.tree.finish(lane.levels)),
            },
            _ => PieceDigests::default(),
        };
        self.lanes.iter_mut().enumerate().map(of).collect()
    }
}

/// Begins pieces of a content with this layout, which is that of a torrent or of one that is to be made.
pub fn pieces_of_layout(layout: &Layout, has_sha1: bool, has_roots: bool, pieces: &[usize]) -> Pieces<'static> {
    let lane = |&piece: &usize| {
        assert!((piece as u64) < layout.piece_count(), "Pieces: piece {piece} of {}", layout.piece_count());
        let range = layout.piece_range(piece as u64);
        let (tree, levels) = if has_roots { tree_of(layout, piece) } else { (0..0, 0) };
        let (nleft, tree_nleft) = (range.end - range.start, tree.end - tree.start);
        Lane { piece, nleft, tree_nleft, levels, tree: Tree::default(), rest: Vec::new() }
    };
    let nhashers = if has_sha1 { pieces.len() } else { 0 };
    Pieces {
        torrent: None,
        lanes: pieces.iter().map(lane).collect(),
        hashers: vec![Hasher::new(Algorithm::Sha1); nhashers],
    }
}

/// The bytes of a piece that its hash tree covers, and the tree's levels.
fn tree_of(layout: &Layout, piece: usize) -> (Range<u64>, u32) {
    let range = layout.piece_range(piece as u64);
    let span = layout.span(layout.file_at(range.start));
    (range.start..range.end.min(span.end()), merkle::height(span.nbytes.min(layout.piece_nbytes())))
}
