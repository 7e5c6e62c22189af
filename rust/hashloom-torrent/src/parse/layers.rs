// SPDX-License-Identifier: MIT OR Apache-2.0

//! `piece layers` (BEP 52): for each file longer than a piece the roots of its pieces. The layers stand outside `info`,
//! so the info-hash does not cover them: a layer is believed only after it has led to the `pieces root` that it is
//! given for.

use std::ops::Range;

use hashloom_files::merkle::{self, NODE_NBYTES, Node};
use hashloom_files::text::quoted;

use super::error::{Error, Problem};
use super::reader::{at, expect, wrong_kind};
use crate::bencode::{Kind, Value};

/// The layers of a torrent, by the roots that they are given for.
pub(super) struct Layers<'a> {
    /// Sorted by root.
    layers: Vec<Layer<'a>>,
    /// The value that an error about a missing layer points at.
    place: Value<'a>,
    piece_nbytes: u64,
}

struct Layer<'a> {
    root: &'a [u8],
    digests: Value<'a>,
    /// Whether the layer has led to its root. Files of equal content share a layer.
    proved: bool,
}

impl<'a> Layers<'a> {
    /// Finds the layers in `torrent`, the outermost dictionary.
    pub(super) fn find(torrent: Value<'a>, value: Option<Value<'a>>, piece_nbytes: u64) -> Result<Layers<'a>, Error> {
        let mut layers = Vec::new();
        let Some(value) = value else { return Ok(Layers { layers, place: torrent, piece_nbytes }) };
        for entry in expect(value, Kind::Dictionary, "piece layers")?.entries() {
            if entry.key.len() != NODE_NBYTES {
                let problem = Problem::RootNotWhole { nbytes: entry.key.len() };
                return Err(Error { problem, key: "piece layers".to_owned(), offset: entry.offset });
            }
            if entry.value.kind() != Kind::String {
                return Err(wrong_kind(entry.value, Kind::String, "piece layers"));
            }
            layers.push(Layer { root: entry.key, digests: entry.value, proved: false });
        }
        // The sort is stable: of two equal keys the first counts, as everywhere.
        layers.sort_by_key(|layer| layer.root);
        layers.dedup_by_key(|layer| layer.root);
        Ok(Layers { layers, place: value, piece_nbytes })
    }

    /// Whether the torrent has no layer at all, as the copies have that clients keep (qBittorrent since 4.4, in
    /// `BT_backup`).
    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The proved layer of a file longer than a piece, at `path`, whose `pieces root` is `root`.
    pub(super) fn of(&mut self, root: &[u8], nbytes: u64, path: &[u8]) -> Result<&'a [u8], Error> {
        let path = || path.to_vec();
        let index = self.layers.partition_point(|layer| layer.root < root);
        let Some(layer) = self.layers.get_mut(index).filter(|layer| layer.root == root) else {
            return Err(at(self.place, "piece layers", Problem::LayerMissing { path: path() }));
        };
        let digests = layer.digests.string().unwrap_or_default();
        let pieces = nbytes.div_ceil(self.piece_nbytes);
        if digests.len() as u64 != pieces * NODE_NBYTES as u64 {
            let problem = Problem::LayerLength { path: path(), nbytes: digests.len(), pieces };
            return Err(at(layer.digests, "piece layers", problem));
        }
        if !layer.proved {
            if root_of_layer(digests, nbytes, self.piece_nbytes)[..] != *root {
                return Err(at(layer.digests, "piece layers", Problem::LayerRoot { path: path() }));
            }
            layer.proved = true;
        }
        Ok(digests)
    }

    /// Number of layers that no file longer than a piece needs.
    pub(super) fn unused(&self) -> usize {
        self.layers.iter().filter(|layer| !layer.proved).count()
    }
}

/// The root of a file of `nbytes` bytes whose pieces have these roots.
pub fn root_of_layer(layer: &[u8], nbytes: u64, piece_nbytes: u64) -> Node {
    let height = merkle::height(piece_nbytes);
    root_of(layer, merkle::height(nbytes) - height, merkle::uniform([0; NODE_NBYTES], height))
}

/// Levels computed at a time from a part of a layer, so that the copy that is overwritten stays small.
const PART_LEVELS: u32 = 10;

/// The root `levels` above `nodes`, which has at least one node; missing nodes are `pad`.
fn root_of(nodes: &[u8], levels: u32, pad: Node) -> Node {
    if levels <= PART_LEVELS {
        return merkle::root(&mut nodes.to_vec(), levels, pad);
    }
    let mut scratch = Vec::new();
    let mut above = Vec::new();
    for part in nodes.chunks(NODE_NBYTES << PART_LEVELS) {
        scratch.clear();
        scratch.extend_from_slice(part);
        above.extend_from_slice(&merkle::root(&mut scratch, PART_LEVELS, pad));
    }
    merkle::root(&mut above, levels - PART_LEVELS, merkle::uniform(pad, PART_LEVELS))
}

/// The roots of a v2 torrent's pieces, and the roots of its files that are longer than a piece.
#[derive(Debug, Clone, Default)]
pub(super) struct Roots {
    /// 32 bytes a piece.
    pub(super) pieces: Vec<u8>,
    /// The roots of the files longer than a piece, by file. The root of a shorter file is that of its piece.
    files: Vec<(usize, Node)>,
    /// The files longer than a piece whose layer the torrent does not have, and their pieces, whose roots are zeros.
    unlayered: Vec<(usize, Range<usize>)>,
}

impl Roots {
    pub(super) fn push_layer(&mut self, file: usize, root: &[u8], layer: &[u8]) {
        self.files.push((file, merkle::node(root)));
        self.pieces.extend_from_slice(layer);
    }

    /// Adds a file without a layer.
    pub(super) fn push_unlayered(&mut self, file: usize, root: &[u8], npieces: usize) {
        let first = self.pieces.len() / NODE_NBYTES;
        self.unlayered.push((file, first..first + npieces));
        self.push_layer(file, root, &vec![0; npieces * NODE_NBYTES]);
    }

    /// The files longer than a piece that have no layer, and their pieces.
    pub(super) fn unlayered(&self) -> &[(usize, Range<usize>)] {
        &self.unlayered
    }

    /// Sets the layer of a file without one, which must have led to the file's root.
    pub(super) fn set_layer(&mut self, file: usize, layer: &[u8]) {
        if let Ok(at) = self.unlayered.binary_search_by_key(&file, |(file, _)| *file) {
            let (_, pieces) = self.unlayered.remove(at);
            self.pieces[pieces.start * NODE_NBYTES..pieces.end * NODE_NBYTES].copy_from_slice(layer);
        }
    }

    /// Whether the root of a piece is unknown.
    pub(super) fn is_unknown(&self, piece: usize) -> bool {
        let at = self.unlayered.partition_point(|(_, pieces)| pieces.end <= piece);
        self.unlayered.get(at).is_some_and(|(_, pieces)| pieces.contains(&piece))
    }

    pub(super) fn piece(&self, piece: usize) -> Option<&[u8]> {
        self.pieces.chunks_exact(NODE_NBYTES).nth(piece).filter(|_| !self.is_unknown(piece))
    }

    /// The `pieces root` of a file whose first piece is `piece`.
    pub(super) fn file(&self, file: usize, piece: usize) -> Option<&[u8]> {
        match self.files.binary_search_by_key(&file, |&(file, _)| file) {
            Ok(index) => Some(&self.files[index].1),
            Err(_) => self.piece(piece),
        }
    }
}

/// The key of a file of the tree, for an error.
pub(super) fn tree_key(path: &[u8], key: &str) -> String {
    format!("info.file tree[{}]{}{key}", quoted(path), if key.is_empty() { "" } else { "." })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashloom::{Algorithm, hash};

    #[test]
    fn roots_in_parts_are_roots() {
        let pad = merkle::uniform([0; NODE_NBYTES], 2);
        for count in [1, 1023, 1024, 1025, 3000] {
            let nodes: Vec<u8> =
                (0..count as u32).flat_map(|i| hash(Algorithm::Sha256, &i.to_le_bytes()).as_ref().to_vec()).collect();
            for levels in 12..14 {
                assert_eq!(root_of(&nodes, levels, pad), merkle::root(&mut nodes.clone(), levels, pad), "{count}");
            }
        }
    }
}
