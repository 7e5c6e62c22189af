// SPDX-License-Identifier: MIT OR Apache-2.0

//! dm-verity: the root hash of a read-only block device, and the hash file that the kernel checks each block with.
//! (Documentation/admin-guide/device-mapper/verity.rst of the kernel; the superblock is that of cryptsetup,
//! <https://gitlab.com/cryptsetup/cryptsetup/-/wikis/DMVerity>.)

mod check;
mod superblock;

use std::fs::File;
use std::io;

use hashloom::{Algorithm, Hash};
use hashloom_files::run::Options;

use super::blocks::{BlockTree, Out, write_all_at};
use super::{Block, ParameterFault, TreeError, hash_range};

pub use check::{BadBlock, BlockFault, Checked, LISTED_MAX};

/// Largest number of bytes in a salt.
pub const SALT_MAX_NBYTES: usize = 256;

/// The place of the salt, and the distance of digests in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashType {
    /// Type 0, of old ChromeOS: the salt after the block, digests without gaps.
    ChromeOs,
    /// Type 1: the salt before the block, each digest filled up to a power of two.
    Normal,
}

impl HashType {
    /// The number of the type in the superblock.
    pub fn number(self) -> u32 {
        match self {
            HashType::ChromeOs => 0,
            HashType::Normal => 1,
        }
    }
}

/// The parameters. The defaults are SHA-256, blocks of 4096 bytes, type 1, no salt and no superblock.
///
/// `veritysetup format` draws 32 random bytes of salt and a random UUID by itself; here the caller gives both.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_tree::dmverity::{Checked, DmVerity, HashType};
///
/// let (data, hashes) = (tempfile::tempfile()?, tempfile::tempfile()?);
/// data.set_len(1 << 20)?;
/// let verity = DmVerity::new().algorithm(Algorithm::Sha512)?.hash_type(HashType::Normal).salt(b"pepper")?;
/// let verity = verity.data_block_size(1024)?.hash_block_size(4096)?.data_blocks(1000).uuid([1; 16]);
/// assert_eq!(verity.covered(&data)?, 1000);
/// let root = verity.format(&data, &hashes, &Options::new())?;
/// assert_eq!(root, verity.root(&data, &Options::new())?);
///
/// let verity = DmVerity::read(&hashes, 0)?;
/// assert_eq!((verity.get_algorithm(), verity.get_hash_type().number()), (Algorithm::Sha512, 1));
/// assert_eq!((verity.get_data_block_size(), verity.get_hash_block_size()), (1024, 4096));
/// assert_eq!((verity.get_salt(), verity.get_data_blocks()), (&b"pepper"[..], Some(1000)));
/// let checked: Checked = verity.check(&data, &hashes, root.as_ref(), &Options::new())?;
/// assert!(checked.covered_is_good() && !checked.is_good(), "the last 24 blocks are not covered");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct DmVerity {
    algorithm: Algorithm,
    hash_type: HashType,
    data_block_nbytes: usize,
    hash_block_nbytes: usize,
    salt: Vec<u8>,
    data_blocks: Option<u64>,
    hash_offset: u64,
    uuid: Option<[u8; 16]>,
}

impl Default for DmVerity {
    fn default() -> DmVerity {
        DmVerity::new()
    }
}

impl DmVerity {
    /// The default parameters.
    pub fn new() -> DmVerity {
        DmVerity {
            algorithm: Algorithm::Sha256,
            hash_type: HashType::Normal,
            data_block_nbytes: 4096,
            hash_block_nbytes: 4096,
            salt: Vec::new(),
            data_blocks: None,
            hash_offset: 0,
            uuid: None,
        }
    }

    /// Sets the algorithm: any that the kernel also has.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`] for one that the kernel lacks: SHA-512/224, SHA-512/256, or one whose digests have any
    /// length.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Result<DmVerity, TreeError> {
        superblock::name(algorithm)?;
        self.algorithm = algorithm;
        Ok(self)
    }

    /// Sets the type, 0 or 1.
    pub fn hash_type(mut self, hash_type: HashType) -> DmVerity {
        self.hash_type = hash_type;
        self
    }

    /// Sets the bytes in a block of data: a power of two from 512 to 524288. The kernel accepts only sizes up to that
    /// of its pages.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    pub fn data_block_size(mut self, nbytes: usize) -> Result<DmVerity, TreeError> {
        self.data_block_nbytes = block_size(Block::Data, nbytes)?;
        Ok(self)
    }

    /// Sets the bytes in a block of digests, in the same range as for data.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    pub fn hash_block_size(mut self, nbytes: usize) -> Result<DmVerity, TreeError> {
        self.hash_block_nbytes = block_size(Block::Hash, nbytes)?;
        Ok(self)
    }

    /// Sets the salt, which is hashed with each block: up to [`SALT_MAX_NBYTES`] bytes.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    pub fn salt(mut self, salt: &[u8]) -> Result<DmVerity, TreeError> {
        if salt.len() > SALT_MAX_NBYTES {
            return Err(ParameterFault::SaltTooLong { nbytes: salt.len(), most: SALT_MAX_NBYTES }.into());
        }
        self.salt = salt.to_vec();
        Ok(self)
    }

    /// Restricts the tree to the first `count` blocks of the data.
    pub fn data_blocks(mut self, count: u64) -> DmVerity {
        self.data_blocks = Some(count);
        self
    }

    /// Sets the offset in the hash file where the superblock begins, or the tree if there is no superblock: a multiple
    /// of 512.
    pub fn hash_offset(mut self, nbytes: u64) -> DmVerity {
        self.hash_offset = nbytes;
        self
    }

    /// Asks for a superblock, with this UUID.
    pub fn uuid(mut self, uuid: [u8; 16]) -> DmVerity {
        self.uuid = Some(uuid);
        self
    }

    /// The root hash of `data`, a file or block device. If the data does not end with a whole block, its last bytes are
    /// not covered: the kernel cannot read them either. The root of one block is the digest of this block.
    ///
    /// # Errors
    ///
    /// [`TreeError::TooShort`] if `data` is shorter than one block or than the blocks asked for; [`TreeError::Read`],
    /// [`TreeError::Changed`], [`TreeError::Cancelled`].
    pub fn root(&self, data: &File, options: &Options) -> Result<Hash, TreeError> {
        self.build(data, None, options)
    }

    /// Computes the root hash of `data` and writes the hash file: the superblock, if there is a UUID, and the blocks of
    /// the tree.
    ///
    /// `hashes` should be empty: only the tree's bytes are written. If the call fails, the bytes written so far are
    /// useless.
    ///
    /// # Errors
    ///
    /// Those of [`root`](DmVerity::root), and [`TreeError::Write`].
    pub fn format(&self, data: &File, hashes: &File, options: &Options) -> Result<Hash, TreeError> {
        let nblocks = self.covered(data)?;
        let layout = self.tree().layout(nblocks);
        let out = Out { file: hashes, offset: self.tree_offset()?, layout };
        if let Some(superblock) = superblock::encode(self, nblocks)? {
            write_all_at(hashes, &superblock, self.hash_offset).map_err(TreeError::Write)?;
            fill(hashes, out.offset).map_err(TreeError::Write)?;
        }
        self.build(data, Some(out), options)
    }

    fn build(&self, data: &File, out: Option<Out<'_>>, options: &Options) -> Result<Hash, TreeError> {
        let nbytes = self.covered(data)? * self.data_block_nbytes as u64;
        let tree = self.tree();
        let mut building = tree.begin(out);
        hash_range(data, 0..nbytes, &tree.leaves(), options, &mut |digests| building.push(digests))?;
        // The data has at least one block, so there is a root.
        let root = building.finish().map_err(TreeError::Write)?;
        Ok(root.unwrap_or_else(|| hashloom::hash(self.algorithm, &[])))
    }

    /// Number of blocks of `data` that the tree covers.
    ///
    /// # Errors
    ///
    /// The errors of [`root`](DmVerity::root) that concern the data's length.
    pub fn covered(&self, data: &File) -> Result<u64, TreeError> {
        let nbytes = super::length(data)?.unwrap_or(0);
        let count = nbytes / self.data_block_nbytes as u64;
        let wanted = self.data_blocks.unwrap_or(count);
        if wanted == 0 || wanted > count {
            let (nblocks, block_nbytes) = (wanted.max(1), self.data_block_nbytes);
            return Err(TreeError::TooShort { nbytes, nblocks, block_nbytes });
        }
        Ok(wanted)
    }

    /// Offset of the first block of the tree in the hash file.
    fn tree_offset(&self) -> Result<u64, TreeError> {
        let (multiple, header) = match self.uuid {
            Some(_) => (512, superblock::NBYTES as u64),
            None => (self.hash_block_nbytes as u64, 0),
        };
        let end = self.hash_offset.checked_add(header + self.hash_block_nbytes as u64);
        match end {
            Some(_) if self.hash_offset % multiple == 0 => {
                Ok((self.hash_offset + header).next_multiple_of(self.hash_block_nbytes as u64))
            }
            _ => Err(ParameterFault::HashOffset { offset: self.hash_offset, multiple }.into()),
        }
    }

    fn tree(&self) -> BlockTree {
        let digest_nbytes = self.algorithm.digest_nbytes();
        let (head, tail, slot_nbytes) = match self.hash_type {
            HashType::ChromeOs => (Vec::new(), self.salt.clone(), digest_nbytes),
            HashType::Normal => (self.salt.clone(), Vec::new(), digest_nbytes.next_power_of_two()),
        };
        BlockTree {
            algorithm: self.algorithm,
            data_block_nbytes: self.data_block_nbytes,
            hash_block_nbytes: self.hash_block_nbytes,
            head,
            tail,
            slot_nbytes,
        }
    }
}

/// The values of the parameters, for showing them.
impl DmVerity {
    /// The algorithm.
    pub fn get_algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The type.
    pub fn get_hash_type(&self) -> HashType {
        self.hash_type
    }

    /// Bytes in a block of data.
    pub fn get_data_block_size(&self) -> usize {
        self.data_block_nbytes
    }

    /// Bytes in a block of digests.
    pub fn get_hash_block_size(&self) -> usize {
        self.hash_block_nbytes
    }

    /// The salt.
    pub fn get_salt(&self) -> &[u8] {
        &self.salt
    }

    /// The number of blocks of data, if there is a superblock or the tree is restricted.
    pub fn get_data_blocks(&self) -> Option<u64> {
        self.data_blocks
    }

    /// The UUID, if there is a superblock.
    pub fn get_uuid(&self) -> Option<[u8; 16]> {
        self.uuid
    }
}

/// Extends a regular hash file to whole blocks: the superblock's block is whole even if no tree follows. A device keeps
/// its length.
fn fill(hashes: &File, nbytes: u64) -> io::Result<()> {
    let metadata = hashes.metadata()?;
    if metadata.is_file() && metadata.len() < nbytes { hashes.set_len(nbytes) } else { Ok(()) }
}

fn block_size(block: Block, nbytes: usize) -> Result<usize, TreeError> {
    let allowed = 512..=512 << 10;
    if !allowed.contains(&nbytes) || !nbytes.is_power_of_two() {
        return Err(ParameterFault::BlockSize { block, nbytes, allowed }.into());
    }
    Ok(nbytes)
}
