// SPDX-License-Identifier: MIT OR Apache-2.0

//! BEP 52's hash trees: SHA-256 of blocks of 16 KiB, then of two digests at a time up to one root.
//!
//! The number of leaves is a power of two; leaves beyond the data are 32 zero bytes, not digests. A file's root covers
//! the file's blocks. The root of a piece always covers a whole piece: `piece layers` has one root for each piece of a
//! file longer than a piece.

use hashloom::{Algorithm, Rows, hash, hash_rows};

/// Bytes of data under a leaf.
pub const BLOCK_NBYTES: u64 = 16 << 10;

/// Bytes of a node.
pub const NODE_NBYTES: usize = 32;

/// A digest of the tree.
pub type Node = [u8; NODE_NBYTES];

/// The value of a leaf beyond the data.
pub const NO_LEAF: Node = [0; NODE_NBYTES];

/// Number of levels above the blocks of a tree over `nbytes` bytes: 0 for up to one block.
pub fn height(nbytes: u64) -> u32 {
    nbytes.div_ceil(BLOCK_NBYTES).max(1).next_power_of_two().trailing_zeros()
}

/// The node over two nodes.
fn parent(left: &Node, right: &Node) -> Node {
    let mut both = [0; 2 * NODE_NBYTES];
    both[..NODE_NBYTES].copy_from_slice(left);
    both[NODE_NBYTES..].copy_from_slice(right);
    node(hash(Algorithm::Sha256, &both).as_ref())
}

/// The node `levels` above leaves that all are `leaf`.
pub fn uniform(leaf: Node, levels: u32) -> Node {
    (0..levels).fold(leaf, |node, _| parent(&node, &node))
}

/// The node `levels` above `nodes`, each of [`NODE_NBYTES`] bytes; missing nodes are `pad`. There must be at least one
/// node and at most 2^`levels`. The work is done in place: `nodes` is overwritten.
pub fn root(nodes: &mut [u8], levels: u32, pad: Node) -> Node {
    let mut count = nodes.len() / NODE_NBYTES;
    debug_assert!(count >= 1 && count as u64 <= 1u64 << levels);
    let mut pad = pad;
    let mut above = [0; 256 * NODE_NBYTES];
    for _ in 0..levels {
        let pairs = count / 2;
        let odd = (count % 2 == 1).then(|| parent(&node(&nodes[(count - 1) * NODE_NBYTES..][..NODE_NBYTES]), &pad));
        // 512 nodes at a time become 256, which are written before the nodes still to be read.
        for start in (0..pairs).step_by(256) {
            let here = (pairs - start).min(256);
            let rows = &nodes[2 * start * NODE_NBYTES..][..2 * here * NODE_NBYTES];
            let above = &mut above[..here * NODE_NBYTES];
            hash_rows(Algorithm::Sha256, Rows::chunks_exact(rows, 2 * NODE_NBYTES), above);
            nodes[start * NODE_NBYTES..][..above.len()].copy_from_slice(above);
        }
        count = pairs;
        if let Some(odd) = odd {
            nodes[count * NODE_NBYTES..][..NODE_NBYTES].copy_from_slice(&odd);
            count += 1;
        }
        pad = parent(&pad, &pad);
    }
    node(&nodes[..NODE_NBYTES])
}

/// A tree whose leaves come a few at a time. At most 2^`WHOLE_LEVELS` leaves are kept.
#[derive(Debug, Default)]
pub struct Tree {
    /// Leaves that are not under a node of `whole` yet.
    leaves: Vec<u8>,
    /// Nodes [`WHOLE_LEVELS`] above the leaves.
    whole: Vec<u8>,
}

/// 256 leaves, 8 KiB, fill all lanes of every kernel for the first levels.
const WHOLE_LEVELS: u32 = 8;
const WHOLE_NBYTES: usize = NODE_NBYTES << WHOLE_LEVELS;

impl Tree {
    /// Appends leaves, each of [`NODE_NBYTES`] bytes.
    pub fn push(&mut self, leaves: &[u8]) {
        self.leaves.extend_from_slice(leaves);
        while self.leaves.len() >= WHOLE_NBYTES {
            let node = root(&mut self.leaves[..WHOLE_NBYTES], WHOLE_LEVELS, NO_LEAF);
            self.whole.extend_from_slice(&node);
            self.leaves.drain(..WHOLE_NBYTES);
        }
    }

    /// The node `levels` above the leaves. There must be at least one leaf and at most 2^`levels`. The tree is empty
    /// afterwards.
    pub fn finish(&mut self, levels: u32) -> Node {
        if levels < WHOLE_LEVELS {
            let node = root(&mut self.leaves, levels, NO_LEAF);
            self.leaves.clear();
            return node;
        }
        if !self.leaves.is_empty() {
            let node = root(&mut self.leaves, WHOLE_LEVELS, NO_LEAF);
            self.whole.extend_from_slice(&node);
        }
        let node = root(&mut self.whole, levels - WHOLE_LEVELS, uniform(NO_LEAF, WHOLE_LEVELS));
        self.clear();
        node
    }

    /// Whether the tree has no node yet.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty() && self.whole.is_empty()
    }

    /// Forgets all leaves.
    fn clear(&mut self) {
        self.leaves.clear();
        self.whole.clear();
    }
}

/// Makes a node from [`NODE_NBYTES`] bytes.
pub fn node(bytes: &[u8]) -> Node {
    let mut node = [0; NODE_NBYTES];
    node.copy_from_slice(bytes);
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of BEP 52: all leaves in memory, hashed level by level.
    fn naive(mut level: Vec<Node>, levels: u32, pad: Node) -> Node {
        level.resize(1 << levels, pad);
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| parent(&pair[0], &pair[1])).collect();
        }
        level[0]
    }

    #[test]
    fn heights() {
        let block = BLOCK_NBYTES;
        let cases = [(0, 0), (1, 0), (block, 0), (block + 1, 1), (3 * block, 2), (4 * block, 2), (u64::MAX, 50)];
        for (nbytes, expected) in cases {
            assert_eq!(height(nbytes), expected, "{nbytes}");
        }
    }

    #[test]
    fn roots_are_those_of_the_whole_tree() {
        let pad = uniform(NO_LEAF, 3);
        for count in (1..70).chain([511, 512, 513, 1023, 1025, 1300]) {
            let nodes: Vec<Node> =
                (0..count as u32).map(|i| node(hash(Algorithm::Sha256, &i.to_le_bytes()).as_ref())).collect();
            let least = (count as u64).next_power_of_two().trailing_zeros();
            for levels in least..least + 3 {
                let mut bytes = nodes.concat();
                assert_eq!(root(&mut bytes, levels, pad), naive(nodes.clone(), levels, pad), "{count} {levels}");
            }
            let mut tree = Tree::default();
            for levels in least..least + 3 {
                nodes.chunks(1 + levels as usize).for_each(|leaves| tree.push(&leaves.concat()));
                assert_eq!(tree.finish(levels), naive(nodes.clone(), levels, NO_LEAF), "{count} {levels}");
            }
        }
    }
}
