// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes proofs and checks them. Everything in a proof may come from an enemy.

use std::fmt;

use hashloom::{Algorithm, Hash};

use super::{Proof, Prove, node};

/// Why a proof cannot be made, or is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The tree has no entry with this index.
    Index {
        /// The index, from 0 on.
        index: u64,
        /// Number of entries in the tree.
        size: u64,
    },
    /// The tree cannot be the beginning of the other: it has no entries, or more than the other.
    Sizes {
        /// Number of entries in the first tree.
        size1: u64,
        /// Number of entries in the second tree.
        size2: u64,
    },
    /// The proof has a wrong number of nodes.
    Count {
        /// Number of nodes that it must have.
        expected: u64,
        /// Number of nodes found.
        found: usize,
    },
    /// The length of a node, leaf or root is not that of a digest.
    Length {
        /// Number of bytes in a digest.
        expected: usize,
        /// Number of bytes found.
        found: usize,
    },
    /// The proof leads to another root.
    Root {
        /// The given root.
        expected: Box<Hash>,
        /// The root that the proof leads to.
        found: Box<Hash>,
    },
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Index { index, size } => write!(f, "index: expected one below {size}, the size, found {index}"),
            ProofError::Sizes { size1, size2 } => {
                write!(f, "size of the first tree: expected 1 to {size2}, the size of the second, found {size1}")
            }
            ProofError::Count { expected, found } => write!(f, "proof: expected {expected} nodes, found {found}"),
            ProofError::Length { expected, found } => {
                write!(f, "node: expected {expected} bytes, the length of a digest, found {found}")
            }
            ProofError::Root { expected, found } => {
                write!(f, "root: expected {expected}, but the proof leads to {found}")
            }
        }
    }
}

impl std::error::Error for ProofError {}

/// Checks that `leaf`, the [digest of an entry](super::leaf), has the index `index` in a tree of `size` entries with
/// the given root (RFC 9162 section 2.1.3.2).
///
/// # Errors
///
/// The fault of the proof: see [`ProofError`].
///
/// ```
/// use hashloom::Algorithm::Sha256;
/// use hashloom_tree::rfc6962::{ProofError, check_inclusion, leaf, node};
///
/// let (left, right) = (leaf(Sha256, b"a"), leaf(Sha256, b"b"));
/// let root = node(Sha256, left.as_ref(), right.as_ref());
/// check_inclusion(Sha256, left.as_ref(), 0, 2, &[right], root.as_ref())?;
/// let error = check_inclusion(Sha256, left.as_ref(), 0, 3, &[right], root.as_ref()).unwrap_err();
/// assert_eq!(error.to_string(), "proof: expected 2 nodes, found 1");
/// # Ok::<(), ProofError>(())
/// ```
pub fn check_inclusion<N: AsRef<[u8]>>(
    algorithm: Algorithm,
    leaf: &[u8],
    index: u64,
    size: u64,
    proof: &[N],
    root: &[u8],
) -> Result<(), ProofError> {
    let (leaf, root) = (digest(algorithm, leaf)?, digest(algorithm, root)?);
    let mut proof = Nodes::new(algorithm, proof);
    let mut found = leaf;
    proof.expect(inclusion_path(index, size)?.count())?;
    for (_, beside) in inclusion_path(index, size)? {
        let next = proof.next()?;
        found = if beside.is_left { over(algorithm, &next, &found) } else { over(algorithm, &found, &next) };
    }
    same(root, found)
}

/// Checks that the tree of the first `size1` entries has the root `root1`, and the tree of all `size2` entries the root
/// `root2` (RFC 9162 section 2.1.4.2).
///
/// # Errors
///
/// The fault of the proof: see [`ProofError`]. An empty tree is the beginning of any tree, so nothing can be proved of
/// it: [`ProofError::Sizes`].
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_tree::rfc6962::{Prove, Tree, check_consistency};
///
/// let mut tree = Tree::new(Algorithm::Sha256, &[]);
/// tree.push_entries(&["a", "b"]);
/// let old = tree.finish();
/// let mut tree = Tree::new(Algorithm::Sha256, &[Prove::Consistency(2)]);
/// tree.push_entries(&["a", "b", "c"]);
/// let new = tree.finish();
/// let proof = new.proofs[0].as_ref().unwrap();
/// check_consistency(Algorithm::Sha256, 2, old.root.as_ref(), 3, new.root.as_ref(), &proof.nodes)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_consistency<N: AsRef<[u8]>>(
    algorithm: Algorithm,
    size1: u64,
    root1: &[u8],
    size2: u64,
    root2: &[u8],
    proof: &[N],
) -> Result<(), ProofError> {
    if size1 == 0 || size1 > size2 {
        return Err(ProofError::Sizes { size1, size2 });
    }
    let mut proof = Nodes::new(algorithm, proof);
    if size1 == size2 && root1 == root2 {
        // The roots are equal, so their values need no check.
        return proof.expect(0);
    }
    let (root1, root2) = (digest(algorithm, root1)?, digest(algorithm, root2)?);
    let path = ConsistencyPath::new(size1, size2);
    proof.expect(path.clone().count() + usize::from(path.first().is_some()))?;
    let from = if path.first().is_some() { proof.next()? } else { root1 };
    let mut nodes = Vec::new();
    for _ in path.clone() {
        nodes.push(proof.next()?);
    }
    let mut nodes = nodes.into_iter();
    // The nodes have been counted.
    let (found1, found2) = path.climb(algorithm, from, |_| nodes.next().unwrap_or(root2));
    same(root1, found1)?;
    same(root2, found2)
}

/// Makes a proof about a tree of `size` entries with this root. `node_at` gives the nodes beside and on the path, by
/// level and index.
pub(super) fn make(
    algorithm: Algorithm,
    prove: Prove,
    size: u64,
    root: Hash,
    node_at: &dyn Fn(u32, u64) -> Option<Hash>,
) -> Result<Proof, ProofError> {
    // Every node asked for is there, so the root never stands in for one.
    let node = |level, index| node_at(level, index).unwrap_or(root);
    let beside = |(level, beside): (u32, Beside)| node(level, beside.index);
    // A node that was not hashed with another before stands beside the first of the nodes.
    let own = |first: Option<(u32, Beside)>| first.map_or(root, |(level, beside)| node(level, beside.index ^ 1));
    let size1 = match prove {
        Prove::Inclusion(index) => {
            let of = own(inclusion_path(index, size)?.next());
            return Ok(Proof { of, nodes: inclusion_path(index, size)?.map(beside).collect() });
        }
        Prove::Consistency(size1) if size1 == 0 || size1 > size => {
            return Err(ProofError::Sizes { size1, size2: size });
        }
        Prove::Consistency(size1) => size1,
    };
    let path = ConsistencyPath::new(size1, size);
    let first = path.first().map(|(level, index)| node(level, index));
    let from = first.unwrap_or_else(|| own(path.clone().next()));
    let mut nodes: Vec<Hash> = first.into_iter().collect();
    let (of, _) = path.climb(algorithm, from, |at| {
        nodes.push(beside(at));
        beside(at)
    });
    Ok(Proof { of, nodes })
}

/// A node of a proof.
#[derive(Debug, Clone, Copy)]
struct Beside {
    /// The index in its level.
    index: u64,
    /// Whether the node is left of the path.
    is_left: bool,
    /// For a consistency proof: whether the node is in the first tree too.
    is_inside: bool,
}

/// The nodes beside the path from an entry to the root, with their levels.
fn inclusion_path(index: u64, size: u64) -> Result<impl Iterator<Item = (u32, Beside)>, ProofError> {
    if index >= size {
        return Err(ProofError::Index { index, size });
    }
    let last = size - 1;
    Ok((0..u64::BITS - last.leading_zeros()).filter_map(move |level| {
        let index = (index >> level) ^ 1;
        // The last node of a level may have no neighbour.
        (index <= last >> level).then_some((level, Beside { index, is_left: index % 2 == 0, is_inside: false }))
    }))
}

/// The nodes beside the path from the end of the first tree to the root of the second. The numbers are RFC 9162's
/// `fn` and `sn`, in the current level.
#[derive(Debug, Clone)]
struct ConsistencyPath {
    level: u32,
    first: u64,
    last: u64,
}

impl Iterator for ConsistencyPath {
    type Item = (u32, Beside);

    fn next(&mut self) -> Option<(u32, Beside)> {
        if self.last == 0 {
            return None;
        }
        let is_left = self.first % 2 == 1 || self.first == self.last;
        // The last node of a level, without a neighbour, goes up unchanged.
        while is_left && self.first % 2 == 0 {
            self.up();
        }
        let index = self.first ^ 1;
        let found = (self.level, Beside { index, is_left, is_inside: self.first > 0 });
        self.up();
        Some(found)
    }
}

impl ConsistencyPath {
    fn new(size1: u64, size2: u64) -> ConsistencyPath {
        let mut path = ConsistencyPath { level: 0, first: size1 - 1, last: size2 - 1 };
        let is_end = size1 == size2;
        while path.first != 0 && (is_end || path.first % 2 == 1) {
            path.up();
        }
        path
    }

    /// The node that a proof begins with, unless that is the first tree's root.
    fn first(&self) -> Option<(u32, u64)> {
        (self.first != 0).then_some((self.level, self.first))
    }

    /// Computes the roots of both trees on the way up, from the node common to both.
    fn climb(self, algorithm: Algorithm, from: Hash, mut next: impl FnMut((u32, Beside)) -> Hash) -> (Hash, Hash) {
        let (mut first, mut second) = (from, from);
        for (level, beside) in self {
            let node = next((level, beside));
            if beside.is_left {
                if beside.is_inside {
                    first = over(algorithm, &node, &first);
                }
                second = over(algorithm, &node, &second);
            } else {
                second = over(algorithm, &second, &node);
            }
        }
        (first, second)
    }

    fn up(&mut self) {
        self.first >>= 1;
        self.last >>= 1;
        self.level += 1;
    }
}

/// The nodes of a proof that is being checked.
struct Nodes<'p, N> {
    algorithm: Algorithm,
    nodes: std::slice::Iter<'p, N>,
}

impl<'p, N: AsRef<[u8]>> Nodes<'p, N> {
    fn new(algorithm: Algorithm, proof: &'p [N]) -> Nodes<'p, N> {
        Nodes { algorithm, nodes: proof.iter() }
    }

    /// Returns an error unless there are `count` nodes.
    fn expect(&self, count: usize) -> Result<(), ProofError> {
        let found = self.nodes.len();
        if found == count { Ok(()) } else { Err(ProofError::Count { expected: count as u64, found }) }
    }

    fn next(&mut self) -> Result<Hash, ProofError> {
        // The nodes have been counted.
        let node = self.nodes.next().ok_or(ProofError::Count { expected: 1, found: 0 })?;
        digest(self.algorithm, node.as_ref())
    }
}

fn digest(algorithm: Algorithm, bytes: &[u8]) -> Result<Hash, ProofError> {
    let expected = algorithm.digest_nbytes();
    if bytes.len() != expected {
        return Err(ProofError::Length { expected, found: bytes.len() });
    }
    Ok(Hash::new(algorithm, bytes))
}

fn over(algorithm: Algorithm, left: &Hash, right: &Hash) -> Hash {
    node(algorithm, left.as_ref(), right.as_ref())
}

fn same(expected: Hash, found: Hash) -> Result<(), ProofError> {
    if expected == found {
        Ok(())
    } else {
        Err(ProofError::Root { expected: Box::new(expected), found: Box::new(found) })
    }
}
