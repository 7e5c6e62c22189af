// SPDX-License-Identifier: MIT OR Apache-2.0

//! The levels of a hash tree above its leaves, for trees of any kind, built while the leaves come.
//!
//! A node is the digest of a row: head ‖ slots, one digest each, filled with zeros to a block ‖ tail. Kinds of trees
//! differ in that row ([`Shape`]) and in the treatment of a row that is not full ([`Odd`]). Rows wait until there are
//! enough to fill all lanes, so each level keeps only a few rows, however long the file is. Every row is shown once
//! before it is dropped: rows contain the blocks of a hash file, and the nodes of proofs.

use hashloom::{Algorithm, Rows, hash_rows};

/// Rows of a level that are hashed together: a multiple of all lanes.
const ROWS_NBYTES: usize = 16 << 10;
const ROWS_MIN: usize = 16;

/// The treatment of the last row of a level if it is not full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Odd {
    /// Missing nodes are zeros: fs-verity, dm-verity.
    Zeros,
    /// A node alone in its row is itself the node above: RFC 6962.
    Promoted,
    /// A missing node is the root of a tree of the same height whose leaves all are this one: BEP 52.
    Leaf(Vec<u8>),
}

/// The form of a tree's rows.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The hash function.
    pub algorithm: Algorithm,
    /// Bytes before the block in each row.
    pub head: Vec<u8>,
    /// Bytes after the block in each row.
    pub tail: Vec<u8>,
    /// Number of nodes in a row, at least two.
    pub arity: usize,
    /// Distance from node to node, at least a digest's length.
    pub slot_nbytes: usize,
    /// Bytes in a block, at least `arity * slot_nbytes`.
    pub block_nbytes: usize,
    /// The rule for a node with too few children.
    pub odd: Odd,
}

impl Shape {
    /// A row of two digests and nothing else.
    pub fn binary(algorithm: Algorithm, head: &[u8], odd: Odd) -> Shape {
        let slot_nbytes = algorithm.digest_nbytes();
        let head = head.to_vec();
        Shape { algorithm, head, tail: Vec::new(), arity: 2, slot_nbytes, block_nbytes: 2 * slot_nbytes, odd }
    }

    fn row_nbytes(&self) -> usize {
        self.head.len() + self.block_nbytes + self.tail.len()
    }

    fn rows_max(&self) -> usize {
        (ROWS_NBYTES / self.row_nbytes()).max(ROWS_MIN)
    }
}

/// The callback that rows are shown to. It gets the level of the nodes in the row (0 for leaves), the row's number in
/// the level, and the row's block.
pub type Show<'s> = &'s mut dyn FnMut(u32, u64, &[u8]);

/// A tree that is being built.
#[derive(Debug)]
pub struct Levels {
    shape: Shape,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Number of nodes so far.
    count: u64,
    /// Number of rows that were hashed.
    rows_done: u64,
    /// Number of nodes in `rows`.
    filled: usize,
    /// Rows with their heads and tails; unfilled slots may hold old nodes.
    rows: Vec<u8>,
    /// Room for the digests of all rows, kept for reuse.
    above: Vec<u8>,
    /// The value of a missing node.
    pad: Vec<u8>,
}

impl Levels {
    /// An empty tree.
    pub fn new(shape: Shape) -> Levels {
        debug_assert!(shape.arity >= 2 && shape.slot_nbytes >= shape.algorithm.digest_nbytes());
        debug_assert!(shape.block_nbytes >= shape.arity * shape.slot_nbytes);
        Levels { shape, levels: Vec::new() }
    }

    /// Number of leaves so far.
    pub fn count(&self) -> u64 {
        self.levels.first().map_or(0, |level| level.count)
    }

    /// Appends leaves, digests one after the other.
    pub fn push(&mut self, leaves: &[u8], show: Show<'_>) {
        self.push_at(0, leaves, show);
    }

    fn push_at(&mut self, at: usize, nodes: &[u8], show: Show<'_>) {
        let Levels { shape, levels } = self;
        if at == levels.len() {
            let level = Level::new(shape, levels.last());
            levels.push(level);
        }
        let (row_nbytes, digest_nbytes) = (shape.row_nbytes(), shape.algorithm.digest_nbytes());
        let capacity = shape.rows_max() * shape.arity;
        let mut nodes = nodes;
        loop {
            let (shape, level) = (&self.shape, &mut self.levels[at]);
            let (now, later) = nodes.split_at(nodes.len().min((capacity - level.filled) * digest_nbytes));
            if row_nbytes == shape.arity * digest_nbytes {
                // There is nothing between the digests.
                level.rows[level.filled * digest_nbytes..][..now.len()].copy_from_slice(now);
            } else {
                for (node, index) in now.chunks_exact(digest_nbytes).zip(level.filled..) {
                    let (row, column) = (index / shape.arity, index % shape.arity);
                    let slot = row * row_nbytes + shape.head.len() + column * shape.slot_nbytes;
                    level.rows[slot..slot + digest_nbytes].copy_from_slice(node);
                }
            }
            let count = now.len() / digest_nbytes;
            level.filled += count;
            level.count += count as u64;
            nodes = later;
            if level.filled < capacity {
                return;
            }
            self.hash(at, capacity / self.shape.arity, show);
        }
    }

    /// Hashes the first rows of a level, which are full or filled up, and appends their digests to the level above.
    fn hash(&mut self, at: usize, nrows: usize, show: Show<'_>) {
        let (shape, level) = (&self.shape, &mut self.levels[at]);
        let (row_nbytes, digest_nbytes) = (shape.row_nbytes(), shape.algorithm.digest_nbytes());
        let above = &mut level.above[..nrows * digest_nbytes];
        hash_rows(shape.algorithm, Rows::chunks_exact(&level.rows[..nrows * row_nbytes], row_nbytes), above);
        for row in level.rows.chunks_exact(row_nbytes).take(nrows) {
            show(at as u32, level.rows_done, &row[shape.head.len()..][..shape.block_nbytes]);
            level.rows_done += 1;
        }
        level.filled = 0;
        let above = std::mem::take(&mut level.above);
        self.push_at(at + 1, &above[..nrows * digest_nbytes], show);
        self.levels[at].above = above;
    }

    /// The root; a single leaf is itself the root. `None` if there is no leaf. The tree is empty afterwards.
    pub fn finish(&mut self, show: Show<'_>) -> Option<Vec<u8>> {
        let mut at = 0;
        while at < self.levels.len() {
            let (shape, level) = (&self.shape, &mut self.levels[at]);
            let (row_nbytes, digest_nbytes) = (shape.row_nbytes(), shape.algorithm.digest_nbytes());
            if level.count == 1 {
                let root = level.rows[shape.head.len()..][..digest_nbytes].to_vec();
                self.levels.clear();
                return Some(root);
            }
            let (whole, rest) = (level.filled / shape.arity, level.filled % shape.arity);
            let block = whole * row_nbytes + shape.head.len();
            let missing = block + rest * shape.slot_nbytes..block + shape.block_nbytes;
            let mut promoted = None;
            let mut nrows = whole + 1;
            match &shape.odd {
                _ if rest == 0 => nrows = whole,
                Odd::Zeros => level.rows[missing].fill(0),
                Odd::Leaf(_) => {
                    level.rows[missing].chunks_exact_mut(shape.slot_nbytes).for_each(|slot| {
                        slot[..digest_nbytes].copy_from_slice(&level.pad);
                    });
                }
                // Only binary trees have this kind.
                Odd::Promoted => {
                    nrows = whole;
                    promoted = Some(level.rows[block..block + digest_nbytes].to_vec());
                }
            }
            if nrows > 0 {
                self.hash(at, nrows, show);
            }
            if let Some(node) = promoted {
                self.push_at(at + 1, &node, show);
            }
            at += 1;
        }
        None
    }
}

impl Level {
    fn new(shape: &Shape, below: Option<&Level>) -> Level {
        let mut row = shape.head.clone();
        row.resize(shape.head.len() + shape.block_nbytes, 0);
        row.extend_from_slice(&shape.tail);
        let pad = match (&shape.odd, below) {
            (Odd::Leaf(leaf), None) => leaf.clone(),
            (Odd::Leaf(_), Some(below)) => {
                let mut row = row.clone();
                let slots = row[shape.head.len()..].chunks_exact_mut(shape.slot_nbytes).take(shape.arity);
                slots.for_each(|slot| slot[..below.pad.len()].copy_from_slice(&below.pad));
                hashloom::hash(shape.algorithm, &row).as_ref().to_vec()
            }
            _ => Vec::new(),
        };
        let above = vec![0; shape.rows_max() * shape.algorithm.digest_nbytes()];
        Level { count: 0, rows_done: 0, filled: 0, rows: row.repeat(shape.rows_max()), above, pad }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashloom::hash;

    /// Builds the whole tree level by level in memory.
    fn naive(shape: &Shape, leaves: &[Vec<u8>], rows: &mut Vec<(u32, u64, Vec<u8>)>) -> Option<Vec<u8>> {
        let mut level = leaves.to_vec();
        let mut at = 0;
        let mut pad = if let Odd::Leaf(leaf) = &shape.odd { leaf.clone() } else { Vec::new() };
        let row_of = |nodes: &[Vec<u8>]| {
            let mut block: Vec<u8> = Vec::new();
            for node in nodes {
                block.extend(node);
                block.resize(block.len().next_multiple_of(shape.slot_nbytes), 0);
            }
            block.resize(shape.block_nbytes, 0);
            block
        };
        let digest =
            |block: &[u8]| hash(shape.algorithm, &[&shape.head[..], block, &shape.tail].concat()).as_ref().to_vec();
        while level.len() > 1 {
            let mut above = Vec::new();
            for (number, nodes) in level.chunks(shape.arity).enumerate() {
                let mut nodes = nodes.to_vec();
                match &shape.odd {
                    Odd::Promoted if nodes.len() == 1 => {
                        above.push(nodes[0].clone());
                        continue;
                    }
                    Odd::Leaf(_) => nodes.resize(shape.arity, pad.clone()),
                    _ => {}
                }
                let block = row_of(&nodes);
                above.push(digest(&block));
                rows.push((at, number as u64, block));
            }
            pad = if pad.is_empty() { pad } else { digest(&row_of(&vec![pad; shape.arity])) };
            level = above;
            at += 1;
        }
        level.pop()
    }

    #[test]
    fn levels_are_those_of_the_whole_tree() {
        let sha256 = Algorithm::Sha256;
        let shapes = [
            Shape::binary(sha256, &[1], Odd::Promoted),
            Shape::binary(sha256, &[], Odd::Promoted),
            Shape::binary(sha256, &[], Odd::Leaf(vec![0; 32])),
            Shape::binary(Algorithm::Sha512, b"head", Odd::Leaf(vec![7; 64])),
            Shape {
                algorithm: Algorithm::Sha1,
                head: Vec::new(),
                tail: vec![9; 70],
                arity: 4,
                slot_nbytes: 20,
                block_nbytes: 128,
                odd: Odd::Zeros,
            },
            Shape {
                algorithm: sha256,
                head: vec![3; 64],
                tail: Vec::new(),
                arity: 32,
                slot_nbytes: 32,
                block_nbytes: 1024,
                odd: Odd::Zeros,
            },
        ];
        for shape in shapes {
            for count in (0..70).chain([127, 128, 129, 511, 512, 513, 1023, 1024, 1025, 1300, 4097]) {
                let leaves: Vec<Vec<u8>> =
                    (0..count as u32).map(|i| hash(shape.algorithm, &i.to_le_bytes()).as_ref().to_vec()).collect();
                let mut expected_rows = Vec::new();
                let expected = naive(&shape, &leaves, &mut expected_rows);
                let mut rows = Vec::new();
                let mut levels = Levels::new(shape.clone());
                let mut show = |level, number, block: &[u8]| rows.push((level, number, block.to_vec()));
                leaves.chunks(1 + count % 17).for_each(|leaves| levels.push(&leaves.concat(), &mut show));
                assert_eq!(levels.count(), count as u64);
                assert_eq!(levels.finish(&mut show), expected, "{shape:?} {count}");
                rows.sort();
                assert!(rows == expected_rows, "{shape:?} {count}");
            }
        }
    }
}
