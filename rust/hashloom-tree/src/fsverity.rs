// SPDX-License-Identifier: MIT OR Apache-2.0

//! fs-verity: the digest that Linux seals a file with. (Documentation/filesystems/fsverity.rst of the kernel.)
//!
//! Blocks of the file are hashed, the last one filled up with zeros; then blocks full of digests, up to one root. The
//! file's digest is the digest of a descriptor: 256 bytes with the root, the file's length and the parameters.

use std::fmt;
use std::fs::File;

use hashloom::{Algorithm, Hash, hash};
use hashloom_files::Source;
use hashloom_files::run::Options;

use super::blocks::{BlockTree, Building, Out};
use super::{Block, Input, ParameterFault, TreeError};

/// Number of bytes in a descriptor.
const DESCRIPTOR_NBYTES: usize = 256;
/// Largest number of bytes in a salt.
pub const SALT_MAX_NBYTES: usize = 32;

/// The parameters. The defaults are blocks of 4096 bytes and no salt, as for `fsverity` and the kernel.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::fsverity::{FsVerity, Sealed};
///
/// // `printf hello > file; fsverity digest file`
/// let sealed: Sealed = FsVerity::new(Algorithm::Sha256).digest(Source::memory(b"hello"), &Options::new())?;
/// assert_eq!(sealed.to_string(), "sha256:555b589c26ee43b7a2510e6c67ced9fb3190b6da6e9e683984551f5d77a763de");
/// assert_eq!((sealed.nbytes(), sealed.digest()), (5, hash(Algorithm::Sha256, sealed.descriptor())));
/// assert_eq!(sealed.formatted()[..12], *b"FSVerity\x01\x00\x20\x00");
///
/// let (file, out) = (tempfile::tempfile()?, tempfile::tempfile()?);
/// file.set_len(129 * 4096)?;
/// FsVerity::new(Algorithm::Sha512).block_size(4096)?.salt(b"pepper")?.write_tree(file, &out, &Options::new())?;
/// assert_eq!(out.metadata()?.len(), 4 * 4096); // the root's block, and three over the 129
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct FsVerity {
    algorithm: Algorithm,
    block_nbytes: usize,
    salt: Vec<u8>,
}

/// A file's digest, with the descriptor that it is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Sealed {
    algorithm: Algorithm,
    digest: Hash,
    root: Hash,
    descriptor: [u8; DESCRIPTOR_NBYTES],
}

impl FsVerity {
    /// Parameters for SHA-256 or SHA-512. The kernel has no other algorithm: [`digest`](FsVerity::digest) refuses any
    /// other.
    pub fn new(algorithm: Algorithm) -> FsVerity {
        FsVerity { algorithm, block_nbytes: 4096, salt: Vec::new() }
    }

    /// Sets the bytes in a block: a power of two from 1024 to 65536. The kernel accepts only sizes up to that of its
    /// pages.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    pub fn block_size(mut self, nbytes: usize) -> Result<FsVerity, TreeError> {
        let allowed = 1024..=65536;
        if !allowed.contains(&nbytes) || !nbytes.is_power_of_two() {
            return Err(ParameterFault::BlockSize { block: Block::Any, nbytes, allowed }.into());
        }
        self.block_nbytes = nbytes;
        Ok(self)
    }

    /// Sets the salt, which is hashed before each block: up to [`SALT_MAX_NBYTES`] bytes.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    pub fn salt(mut self, salt: &[u8]) -> Result<FsVerity, TreeError> {
        if salt.len() > SALT_MAX_NBYTES {
            return Err(ParameterFault::SaltTooLong { nbytes: salt.len(), most: SALT_MAX_NBYTES }.into());
        }
        self.salt = salt.to_vec();
        Ok(self)
    }

    /// The digest of a file or stream.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`] if the kernel does not have the algorithm; [`TreeError::Read`], [`TreeError::Changed`],
    /// [`TreeError::Cancelled`].
    pub fn digest(&self, source: impl Into<Source>, options: &Options) -> Result<Sealed, TreeError> {
        let tree = self.tree()?;
        self.seal(Input::open(source.into())?, options, &tree, tree.begin(None))
    }

    /// The digest of a file or of memory. The blocks of its tree are written to `out`, the root's first, as `fsverity
    /// digest --out-merkle-tree` does. The tree of a file of one block has no blocks.
    ///
    /// # Errors
    ///
    /// The errors of [`digest`](FsVerity::digest), and [`TreeError::Write`].
    pub fn write_tree(&self, source: impl Into<Source>, out: &File, options: &Options) -> Result<Sealed, TreeError> {
        let tree = self.tree()?;
        let input = Input::open(source.into())?;
        let Some(nbytes) = input.nbytes() else {
            // The place of a block depends on the number of blocks. An empty file has none.
            let sealed = self.seal(input, options, &tree, tree.begin(None))?;
            return match sealed.nbytes() {
                0 => Ok(sealed),
                _ => Err(ParameterFault::Stream.into()),
            };
        };
        let layout = tree.layout(nbytes.div_ceil(self.block_nbytes as u64));
        let out = Out { file: out, offset: 0, layout };
        self.seal(input, options, &tree, tree.begin(Some(out)))
    }

    fn seal(
        &self,
        input: Input,
        options: &Options,
        tree: &BlockTree,
        mut building: Building<'_>,
    ) -> Result<Sealed, TreeError> {
        let nbytes = input.hash(&tree.leaves(), options, &mut |digests| building.push(digests))?;
        let root = building.finish().map_err(TreeError::Write)?;
        // The root of an empty file is zeros, not a digest of anything.
        let root = root.unwrap_or_else(|| Hash::new(self.algorithm, &[0; 64][..self.algorithm.digest_nbytes()]));
        let mut descriptor = [0; DESCRIPTOR_NBYTES];
        descriptor[0] = 1;
        descriptor[1] = self.number();
        descriptor[2] = self.block_nbytes.ilog2() as u8;
        descriptor[3] = self.salt.len() as u8;
        descriptor[8..16].copy_from_slice(&nbytes.to_le_bytes());
        descriptor[16..16 + root.as_ref().len()].copy_from_slice(root.as_ref());
        descriptor[80..80 + self.salt.len()].copy_from_slice(&self.salt);
        Ok(Sealed { algorithm: self.algorithm, digest: hash(self.algorithm, &descriptor), root, descriptor })
    }

    /// The kernel's number of the algorithm.
    fn number(&self) -> u8 {
        if self.algorithm == Algorithm::Sha256 { 1 } else { 2 }
    }

    fn tree(&self) -> Result<BlockTree, TreeError> {
        let allowed = &[Algorithm::Sha256, Algorithm::Sha512];
        if !allowed.contains(&self.algorithm) {
            return Err(ParameterFault::Algorithm { algorithm: self.algorithm, allowed }.into());
        }
        // The salt is filled up to whole blocks of the algorithm, so it is hashed only once.
        let mut head = self.salt.clone();
        head.resize(self.salt.len().next_multiple_of(self.algorithm.block_nbytes()), 0);
        Ok(BlockTree {
            algorithm: self.algorithm,
            data_block_nbytes: self.block_nbytes,
            hash_block_nbytes: self.block_nbytes,
            head,
            tail: Vec::new(),
            slot_nbytes: self.algorithm.digest_nbytes(),
        })
    }
}

impl Sealed {
    /// The file's digest, which the kernel calls its measurement.
    pub fn digest(&self) -> Hash {
        self.digest
    }

    /// The root of the tree; zeros for an empty file. That of a file of one block is the digest of the block, filled up
    /// with zeros.
    pub fn root(&self) -> Hash {
        self.root
    }

    /// The bytes that the digest is computed from: `struct fsverity_descriptor` without a signature.
    pub fn descriptor(&self) -> &[u8; DESCRIPTOR_NBYTES] {
        &self.descriptor
    }

    /// The file's length.
    pub fn nbytes(&self) -> u64 {
        let mut nbytes = [0; 8];
        nbytes.copy_from_slice(&self.descriptor[8..16]);
        u64::from_le_bytes(nbytes)
    }

    /// The bytes that a built-in signature signs: `struct fsverity_formatted_digest`.
    pub fn formatted(&self) -> Vec<u8> {
        let digest = self.digest.as_ref();
        [&b"FSVerity"[..], &[self.descriptor[1], 0, digest.len() as u8, 0], digest].concat()
    }
}

/// `sha256:` and the digest, the form that `fsverity digest` shows.
impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.digest)
    }
}
