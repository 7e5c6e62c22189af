// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Merkle trees of transparency logs: RFC 6962 section 2.1 and RFC 9162 section 2.1.
//!
//! A leaf is the digest of the byte 0 and an entry. A node is the digest of the byte 1 and two nodes; a node without a
//! neighbour goes up unchanged. A proof is a list of nodes. It proves that an entry is in a tree (inclusion), or that a
//! tree is the beginning of a larger one (consistency). Proofs are made while the tree is built; only paths of the tree
//! are kept.

mod proof;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use crate::levels::{Levels, Odd, Shape};
use hashloom::{Algorithm, Hash, Hasher, hash, hash_many};
use hashloom_files::Source;
use hashloom_files::lanes::Leaves;
use hashloom_files::read::open::read_at;
use hashloom_files::run::Options;

use super::{Input, ParameterFault, TreeError};

pub use proof::{ProofError, check_consistency, check_inclusion};

/// The byte before an entry.
const LEAF: u8 = 0;
/// The byte before two nodes.
const NODE: u8 = 1;

/// Largest total of bytes of entries that are hashed together.
const BATCH_NBYTES: usize = 256 << 10;
/// Most entries that are hashed together, as [`hash_many`] allocates nothing for them.
const BATCH_COUNT: usize = 1024;

/// A file up to this length is an entry that is kept until it is hashed.
const SMALL_NBYTES: u64 = 64 << 10;

/// The digest of an entry in a tree.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_tree::rfc6962::{leaf, node};
///
/// let two = [leaf(Algorithm::Sha256, b"abc"), leaf(Algorithm::Sha256, b"de")];
/// assert_eq!(two[0], hash(Algorithm::Sha256, b"\0abc"));
/// let above = node(Algorithm::Sha256, two[0].as_ref(), two[1].as_ref());
/// assert_eq!(above, hash(Algorithm::Sha256, &[&[1], two[0].as_ref(), two[1].as_ref()].concat()));
/// ```
pub fn leaf(algorithm: Algorithm, entry: &[u8]) -> Hash {
    let mut hasher = leaf_hasher(algorithm);
    hasher.update(entry);
    hasher.finalize()
}

/// The node over two nodes.
pub fn node(algorithm: Algorithm, left: &[u8], right: &[u8]) -> Hash {
    let mut hasher = Hasher::new(algorithm);
    hasher.update(&[NODE]);
    hasher.update(left);
    hasher.update(right);
    hasher.finalize()
}

fn leaf_hasher(algorithm: Algorithm) -> Hasher {
    let mut hasher = Hasher::new(algorithm);
    hasher.update(&[LEAF]);
    hasher
}

/// A statement about a tree that a proof is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prove {
    /// The entry with this index, from 0 on, is in the tree.
    Inclusion(u64),
    /// The tree of this number of first entries is the beginning of this tree.
    Consistency(u64),
}

impl Prove {
    /// The leaf whose path all nodes of the proof lie beside.
    fn path(self) -> u64 {
        match self {
            Prove::Inclusion(index) => index,
            Prove::Consistency(size) => size.saturating_sub(1),
        }
    }
}

/// A tree that is being built.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::rfc6962::{Built, Proof, Prove, Tree, check_inclusion, leaf};
///
/// let mut tree = Tree::new(Algorithm::Sha256, &[Prove::Inclusion(1)]);
/// tree.push_entries(&["a", "b"]);
/// tree.push_entry(b"c");
/// tree.push_lines(&mut &b"one\n\nthree"[..], &Options::new())?;
/// tree.push_blocks(Source::memory(b"abcde"), 4, &Options::new())?; // 2 entries
/// tree.push_file(Source::memory(b"abcde"), &Options::new())?;
/// let Built { size, root, proofs, .. } = tree.finish();
/// assert_eq!(size, 9);
/// let proof: &Proof = proofs[0].as_ref().unwrap();
/// assert_eq!(proof.of, leaf(Algorithm::Sha256, b"b"));
/// check_inclusion(Algorithm::Sha256, proof.of.as_ref(), 1, 9, &proof.nodes, root.as_ref())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tree {
    algorithm: Algorithm,
    levels: Levels,
    prove: Vec<Prove>,
    seen: Paths,
    /// Entries that wait to be hashed, each after its prefix byte; `bounds` has the start of the first and the end of
    /// each.
    entries: Vec<u8>,
    bounds: Vec<usize>,
}

/// A finished tree.
#[derive(Debug, Clone)]
#[must_use]
pub struct Built {
    /// Number of entries.
    pub size: u64,
    /// The root; for no entries, the digest of nothing.
    pub root: Hash,
    /// The proofs, in the order in which they were asked for.
    pub proofs: Vec<Result<Proof, ProofError>>,
}

/// A proof, and the node that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The leaf that is in the tree, or the root of the first tree.
    pub of: Hash,
    /// The proof itself.
    pub nodes: Vec<Hash>,
}

/// The pairs of nodes beside and on the paths of the proofs.
#[derive(Debug, Default)]
struct Paths {
    leaves: Vec<u64>,
    /// The pairs, by level and number.
    pairs: BTreeMap<(u32, u64), Vec<u8>>,
}

impl Paths {
    fn see(&mut self, level: u32, number: u64, pair: &[u8]) {
        if self.leaves.iter().any(|leaf| leaf.checked_shr(level + 1).unwrap_or(0) == number) {
            self.pairs.insert((level, number), pair.to_vec());
        }
    }
}

impl Tree {
    /// An empty tree that will make these proofs. Logs use SHA-256.
    pub fn new(algorithm: Algorithm, prove: &[Prove]) -> Tree {
        let levels = Levels::new(Shape::binary(algorithm, &[NODE], Odd::Promoted));
        let seen = Paths { leaves: prove.iter().map(|prove| prove.path()).collect(), pairs: BTreeMap::new() };
        Tree { algorithm, levels, prove: prove.to_vec(), seen, entries: Vec::new(), bounds: vec![0] }
    }

    /// Appends an entry. Entries wait until several can be hashed together.
    pub fn push_entry(&mut self, entry: &[u8]) {
        if entry.len() >= BATCH_NBYTES {
            self.flush();
            let digest = leaf(self.algorithm, entry);
            return self.push_leaves(digest.as_ref());
        }
        if self.entries.len() + entry.len() >= BATCH_NBYTES || self.bounds.len() > BATCH_COUNT {
            self.flush();
        }
        self.entries.push(LEAF);
        self.entries.extend_from_slice(entry);
        self.bounds.push(self.entries.len());
    }

    /// Appends entries.
    pub fn push_entries<E: AsRef<[u8]>>(&mut self, entries: &[E]) {
        entries.iter().for_each(|entry| self.push_entry(entry.as_ref()));
    }

    /// Appends [leaves](leaf): digests one after the other.
    ///
    /// # Panics
    ///
    /// If the last digest is not whole.
    pub fn push_leaves(&mut self, digests: &[u8]) {
        assert!(digests.len() % self.algorithm.digest_nbytes() == 0, "push_leaves: the last digest is not whole");
        self.flush();
        self.levels.push(digests, &mut |level, number, pair| self.seen.see(level, number, pair));
    }

    /// Appends the bytes of a file or stream, in entries of `entry_nbytes` bytes; the last may be shorter. Returns the
    /// number of bytes.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`] if `entry_nbytes` is 0; [`TreeError::Read`], [`TreeError::Changed`],
    /// [`TreeError::Cancelled`]. Some entries may have been appended then.
    pub fn push_blocks(
        &mut self,
        source: impl Into<Source>,
        entry_nbytes: u64,
        options: &Options,
    ) -> Result<u64, TreeError> {
        if entry_nbytes == 0 {
            return Err(ParameterFault::EmptyEntries.into());
        }
        self.flush();
        let head = Some(leaf_hasher(self.algorithm));
        let leaves = Leaves { head, ..Leaves::plain(self.algorithm, entry_nbytes) };
        let Tree { levels, seen, .. } = self;
        Input::open(source.into())?.hash(&leaves, options, &mut |digests| {
            levels.push(digests, &mut |level, number, pair| seen.see(level, number, pair));
            Ok(())
        })
    }

    /// Appends a file or stream as one entry, of any length. Small files wait until several can be hashed together.
    ///
    /// # Errors
    ///
    /// [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`]. Nothing has been appended then.
    pub fn push_file(&mut self, source: impl Into<Source>, options: &Options) -> Result<(), TreeError> {
        let algorithm = self.algorithm;
        let input = Input::open(source.into())?;
        match &input {
            Input::File(file, nbytes, false) if *nbytes <= SMALL_NBYTES => {
                // The buffer has one byte more, to see that the file ends there.
                let mut entry = vec![0; *nbytes as usize + 1];
                let read = read_at(file, &mut entry, 0).map_err(|error| TreeError::Read { offset: 0, error })?;
                if read as u64 != *nbytes {
                    return Err(TreeError::Changed);
                }
                self.push_entry(&entry[..read]);
                return Ok(());
            }
            Input::Memory(bytes) if (**bytes).as_ref().len() as u64 <= SMALL_NBYTES => {
                self.push_entry((**bytes).as_ref());
                return Ok(());
            }
            _ => {}
        }
        let head = Some(leaf_hasher(algorithm));
        let leaves = Leaves { head, ..Leaves::plain(algorithm, u64::MAX) };
        // An empty file has no parts.
        let mut digest = leaf(algorithm, &[]);
        input.hash(&leaves, options, &mut |digests| {
            if !digests.is_empty() {
                digest = Hash::new(algorithm, digests);
            }
            Ok(())
        })?;
        self.push_leaves(digest.as_ref());
        Ok(())
    }

    /// Appends the lines of a stream as entries, each without the `\n` at its end; the last line need not have one.
    /// Returns the number of bytes. A long line takes no more memory than a short one.
    ///
    /// # Errors
    ///
    /// [`TreeError::Read`]; some entries may have been appended then. [`TreeError::Cancelled`].
    pub fn push_lines(&mut self, lines: &mut dyn BufRead, options: &Options) -> Result<u64, TreeError> {
        let (mut nbytes, mut told) = (0, 0);
        loop {
            if options.canceller().is_cancelled() {
                return Err(TreeError::Cancelled);
            }
            if self.entries.len() >= BATCH_NBYTES || self.bounds.len() > BATCH_COUNT {
                self.flush();
            }
            // The line is read to its place: a copy of it would add a twentieth to a short line's time.
            let start = self.entries.len();
            self.entries.push(LEAF);
            let read = lines.take(BATCH_NBYTES as u64).read_until(b'\n', &mut self.entries);
            if !matches!(read, Ok(1..)) {
                self.entries.truncate(start);
            }
            let read = read.map_err(|error| TreeError::Read { offset: nbytes, error })?;
            if read == 0 {
                break;
            }
            nbytes += read as u64;
            if self.entries.last() == Some(&b'\n') {
                self.entries.pop();
            } else if read == BATCH_NBYTES {
                let mut hasher = Hasher::new(self.algorithm);
                hasher.update(&self.entries[start..]);
                self.entries.truncate(start);
                nbytes += self.push_long_line(hasher, lines, nbytes)?;
                continue;
            }
            self.bounds.push(self.entries.len());
            if nbytes - told >= BATCH_NBYTES as u64 {
                options.tell(nbytes, None);
                told = nbytes;
            }
        }
        options.tell(nbytes, None);
        Ok(nbytes)
    }

    /// Appends a line whose first bytes are in `hasher` already. Returns the number of further bytes, the line's end
    /// included.
    fn push_long_line(&mut self, mut hasher: Hasher, lines: &mut dyn BufRead, offset: u64) -> Result<u64, TreeError> {
        let (mut part, mut nbytes) = (Vec::new(), 0);
        loop {
            part.clear();
            let failed = |error| TreeError::Read { offset: offset + nbytes, error };
            let read = lines.take(BATCH_NBYTES as u64).read_until(b'\n', &mut part).map_err(failed)?;
            nbytes += read as u64;
            let is_end = part.last().is_none_or(|&last| last == b'\n') || read < BATCH_NBYTES;
            hasher.update(part.strip_suffix(b"\n").unwrap_or(&part));
            if is_end {
                self.push_leaves(hasher.finalize().as_ref());
                return Ok(nbytes);
            }
        }
    }

    /// Hashes the waiting entries.
    fn flush(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        let entries: Vec<&[u8]> = self.bounds.windows(2).map(|bounds| &self.entries[bounds[0]..bounds[1]]).collect();
        let mut digests = vec![0; entries.len() * self.algorithm.digest_nbytes()];
        hash_many(self.algorithm, &entries, &mut digests);
        self.entries.clear();
        self.bounds.truncate(1);
        self.levels.push(&digests, &mut |level, number, pair| self.seen.see(level, number, pair));
    }

    /// Ends the tree and returns the root and the proofs.
    pub fn finish(mut self) -> Built {
        self.flush();
        let size = self.levels.count();
        let root = self.levels.finish(&mut |level, number, pair| self.seen.see(level, number, pair));
        let root = match root {
            Some(root) => Hash::new(self.algorithm, &root),
            None => hash(self.algorithm, &[]),
        };
        let digest_nbytes = self.algorithm.digest_nbytes();
        let node_at = |level: u32, index: u64| {
            let pair = self.seen.pairs.get(&(level, index / 2))?;
            let start = (index % 2) as usize * digest_nbytes;
            Some(Hash::new(self.algorithm, &pair[start..start + digest_nbytes]))
        };
        let proofs = self.prove.iter().map(|&prove| proof::make(self.algorithm, prove, size, root, &node_at)).collect();
        Built { size, root, proofs }
    }
}
