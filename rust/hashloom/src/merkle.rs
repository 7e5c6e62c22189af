// SPDX-License-Identifier: MIT OR Apache-2.0
//! Merkle trees of SHA-256, a layer at a time: all nodes of a layer side by side in lanes.
//!
//! | tree | rule |
//! |---|---|
//! | Certificate Transparency, CometBFT, Sigstore (RFC 6962 section 2.1) | [`Rule::Rfc6962`] |
//! | the transactions of a block of Bitcoin | [`Rule::Bitcoin`] |
//! | SSZ of Ethereum, files of BitTorrent v2 (BEP 52) | [`Rule::Zeros`] |
//!
//! Trees that are made differently, or of other hash functions, are a loop over
//! [`hash_pairs_in_place`](crate::hash_pairs_in_place). The crate `hashloom-tree` makes trees of files.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use hashloom_sys::hl_merkle_range;

use crate::{Algorithm, ffi, hash};

/// A digest: a leaf, an inner node, a root.
pub type Node = [u8; 32];

/// The most layers above the leaves of [`Rule::Zeros`].
pub const DEPTH_MAX: u32 = 64;

/// How two nodes become one, and what an odd node at the end of a layer becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Rule {
    /// SHA-256 of a byte 1 and the two; it goes up as it is. A leaf is SHA-256 of a byte 0 and its data. Without leaves
    /// the root is SHA-256 of nothing.
    Rfc6962 = hashloom_sys::HL_MERKLE_RFC6962,
    /// SHA-256 of SHA-256 of the two; it is paired with itself, so that a tree that ends with nodes twice has the root
    /// of a shorter one (CVE-2012-2459). Without leaves the root is zeros.
    Bitcoin = hashloom_sys::HL_MERKLE_BITCOIN,
    /// SHA-256 of the two; it is paired with the root of as high a tree of zeros.
    Zeros = hashloom_sys::HL_MERKLE_ZEROS,
}

impl Rule {
    /// The layer above `nodes`, with `height` layers below them.
    fn above(self, height: u32, nodes: &[Node]) -> Vec<Node> {
        let mut above = vec![[0; 32]; nodes.len().div_ceil(2)];
        ffi::merkle::layer(self, height, nodes, &mut above);
        above
    }

    /// The node above two.
    fn node(self, left: Node, right: Node) -> Node {
        let mut node = [[0; 32]];
        ffi::merkle::layer(self, 0, &[left, right], &mut node);
        node[0]
    }

    /// What an odd node is paired with, if anything. `zeros`: a tree of zeros as high as it.
    fn beside(self, odd: Node, zeros: Node) -> Option<Node> {
        match self {
            Rule::Rfc6962 => None,
            Rule::Bitcoin => Some(odd),
            Rule::Zeros => Some(zeros),
        }
    }
}

/// The root above `leaves`, whose memory all layers are made in. `depth`: as for [`Tree::new`].
///
/// # Panics
///
/// If the depth is not one that [`Tree::new`] takes.
///
/// ```
/// use hashloom::merkle::{Rule, Tree, root};
///
/// let mut leaves = [[7; 32]; 5];
/// let expected = Tree::new(Rule::Bitcoin, leaves.to_vec(), 0).root();
/// assert_eq!(root(Rule::Bitcoin, &mut leaves, 0), expected);
/// ```
pub fn root(rule: Rule, leaves: &mut [Node], depth: u32) -> Node {
    check_depth(rule, leaves.len(), depth);
    ffi::merkle::root(rule, depth, leaves)
}

#[track_caller]
fn check_depth(rule: Rule, nleaves: usize, depth: u32) {
    let least = nleaves.max(1).next_power_of_two().trailing_zeros();
    let is_right = depth == 0 || (rule == Rule::Zeros && (least..=DEPTH_MAX).contains(&depth));
    assert!(is_right, "the depth is {depth}: it is 0, or of Rule::Zeros {least} to {DEPTH_MAX} for {nleaves} leaves");
}

/// All nodes of a tree, for proofs.
///
/// ```
/// use hashloom::merkle::{Rule, Tree, verify};
/// use hashloom::{Algorithm, hash};
///
/// let leaf = |data: &[u8]| hash(Algorithm::Sha256, &[&[0], data].concat()).as_ref().try_into().unwrap();
/// let leaves = vec![leaf(b"a"), leaf(b"b"), leaf(b"c")];
/// let tree = Tree::new(Rule::Rfc6962, leaves.clone(), 0);
/// assert!(verify(Rule::Rfc6962, tree.root(), leaves[1], 1, 3, &tree.proof(1)));
/// assert!(!verify(Rule::Rfc6962, tree.root(), leaves[1], 2, 3, &tree.proof(1)));
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    rule: Rule,
    layers: Vec<Vec<Node>>,
    /// The root of a tree of zeros as high as each layer.
    zeros: Vec<Node>,
}

impl Tree {
    /// The tree above `leaves`. `depth`: 0, or, for [`Rule::Zeros`], the number of layers above the leaves (SSZ: log2
    /// of the limit).
    ///
    /// # Panics
    ///
    /// If the depth is another, too small for the leaves, or more than [`DEPTH_MAX`].
    pub fn new(rule: Rule, leaves: Vec<Node>, depth: u32) -> Tree {
        check_depth(rule, leaves.len(), depth);
        let mut tree = Tree { rule, layers: vec![leaves], zeros: vec![[0; 32]] };
        for height in 0.. {
            let layer = &tree.layers[height as usize];
            if layer.len() <= 1 && height >= depth {
                break;
            }
            let above = rule.above(height, layer);
            let zeros = tree.zeros[height as usize];
            tree.layers.push(above);
            tree.zeros.push(if rule == Rule::Zeros { rule.node(zeros, zeros) } else { zeros });
        }
        tree
    }

    /// The root.
    pub fn root(&self) -> Node {
        match (self.layers.last().and_then(|top| top.first()), self.rule) {
            (Some(root), _) => *root,
            (None, Rule::Rfc6962) => hash(Algorithm::Sha256, b"").as_ref().try_into().expect("32 bytes"),
            (None, _) => self.zeros[self.zeros.len() - 1],
        }
    }

    /// The nodes beside the path of leaf `index` to the root, from below. Where [`Rule::Rfc6962`] pairs nothing there
    /// is none.
    ///
    /// # Panics
    ///
    /// If there is no such leaf.
    pub fn proof(&self, mut index: usize) -> Vec<Node> {
        assert!(index < self.layers[0].len(), "there is no leaf {index} of {}", self.layers[0].len());
        let mut proof = Vec::new();
        for (layer, &zeros) in self.layers[..self.layers.len() - 1].iter().zip(&self.zeros) {
            let beside = layer.get(index ^ 1).copied();
            proof.extend(beside.or_else(|| self.rule.beside(layer[index], zeros)));
            index /= 2;
        }
        proof
    }
}

/// A tree by [`Rule::Rfc6962`] that grows, such as a log's: the number of its leaves, and the roots of its complete
/// subtrees, at most 64 (a compact range), in 2 KiB.
///
/// ```
/// use hashloom::merkle::{Range, Rule, root};
///
/// let (mut log, mut told) = (Range::default(), Vec::new());
/// log.append(&[[1; 32], [2; 32]], |_, _, _| {});
/// let mut log = Range::new(log.size(), log.roots()).unwrap(); // of what a log has kept
/// log.append(&[[3; 32], [4; 32]], |height, index, _| told.push((height, index)));
/// assert_eq!(told, [(0, 2), (0, 3), (1, 1), (2, 0)]);
/// assert_eq!(log.root(), root(Rule::Rfc6962, &mut [[1; 32], [2; 32], [3; 32], [4; 32]], 0));
/// ```
#[derive(Clone)]
pub struct Range(hl_merkle_range);

impl Range {
    /// The range of `size` leaves, with the roots that [`Range::roots`] had; `None` if they are more or fewer than the
    /// one bits of `size`.
    pub fn new(size: u64, roots: impl IntoIterator<Item = Node>) -> Option<Range> {
        let (mut range, mut roots) = (hl_merkle_range { size, roots: [[0; 32]; 64] }, roots.into_iter());
        for height in heights(size) {
            range.roots[height] = roots.next()?;
        }
        roots.next().is_none().then_some(Range(range))
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The roots of the complete subtrees, the greatest subtree first.
    pub fn roots(&self) -> impl Iterator<Item = Node> {
        heights(self.0.size).map(|height| self.0.roots[height])
    }

    /// Appends leaves, all nodes of a layer side by side. `visit` is told each node of a complete subtree that is new,
    /// layer by layer: the height of the layer and the index there, both from 0, where leaves are; the node.
    ///
    /// # Panics
    ///
    /// If there would be more than 2<sup>64</sup> − 1 leaves.
    pub fn append(&mut self, leaves: &[Node], mut visit: impl FnMut(u32, u64, Node)) {
        let (mut nodes, mut first) = (leaves.to_vec(), self.0.size);
        for height in 0.. {
            if nodes.is_empty() {
                break;
            }
            (first..).zip(&nodes).for_each(|(index, &node)| visit(height, index, node));
            ffi::merkle::grow(&mut self.0, height, &mut nodes);
            first /= 2;
        }
    }

    /// The root of the tree.
    pub fn root(&self) -> Node {
        ffi::merkle::range_root(&self.0)
    }
}

/// Of the complete subtrees, the greatest first.
fn heights(size: u64) -> impl Iterator<Item = usize> {
    (0..64).rev().filter(move |height| size >> height & 1 != 0)
}

impl Default for Range {
    fn default() -> Self {
        Range(hl_merkle_range { size: 0, roots: [[0; 32]; 64] })
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Range) -> bool {
        self.size() == other.size() && self.roots().eq(other.roots())
    }
}

impl Eq for Range {}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Range({} leaves)", self.size())
    }
}

/// Whether `proof` is that of leaf `index` in the tree of `count` leaves with this root.
pub fn verify(rule: Rule, root: Node, leaf: Node, index: usize, count: usize, proof: &[Node]) -> bool {
    if index >= count || proof.len() > DEPTH_MAX as usize {
        return false;
    }
    let (mut node, mut at, mut n, mut rest) = (leaf, index, count, proof);
    while n > 1 || (rule == Rule::Zeros && !rest.is_empty()) {
        let is_odd = at ^ 1 >= n;
        if !is_odd || rule != Rule::Rfc6962 {
            let Some((&beside, behind)) = rest.split_first() else { return false };
            if is_odd && rule == Rule::Bitcoin && beside != node {
                return false;
            }
            let (left, right) = if at % 2 == 0 { (node, beside) } else { (beside, node) };
            node = rule.node(left, right);
            rest = behind;
        }
        (at, n) = (at / 2, n - n / 2);
    }
    rest.is_empty() && node == root
}
