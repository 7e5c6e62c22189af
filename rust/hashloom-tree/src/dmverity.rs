// SPDX-License-Identifier: MIT OR Apache-2.0

//! dm-verity: the root hash of a read-only block device, and the hash file that the kernel checks each block with.
//! (Documentation/admin-guide/device-mapper/verity.rst of the kernel; the superblock is that of cryptsetup,
//! <https://gitlab.com/cryptsetup/cryptsetup/-/wikis/DMVerity>.)
//!
//! ```
//! use hashloom_files::run::Options;
//! use hashloom_tree::dmverity::DmVerity;
//!
//! let (data, hashes) = (tempfile::tempfile()?, tempfile::tempfile()?);
//! data.set_len(1 << 20)?;
//! let root = DmVerity::new().format(&data, &hashes, &Options::new())?;
//! assert!(DmVerity::new().check(&data, &hashes, root.as_ref(), &Options::new())?.is_good());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
///
/// ```
/// assert_eq!(hashloom_tree::dmverity::SALT_MAX_NBYTES, 256);
/// ```
pub const SALT_MAX_NBYTES: usize = 256;

/// The place of the salt, and the distance of digests in a block.
///
/// ```
/// use hashloom_tree::dmverity::{DmVerity, HashType};
/// assert_eq!(DmVerity::new().get_hash_type(), HashType::Normal);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashType {
    /// Type 0, of old ChromeOS: the salt after the block, digests without gaps.
    ChromeOs,
    /// Type 1: the salt before the block, each digest filled up to a power of two.
    Normal,
}

impl HashType {
    /// The number of the type in the superblock.
    ///
    /// ```
    /// assert_eq!(hashloom_tree::dmverity::HashType::Normal.number(), 1);
    /// ```
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
/// use hashloom_files::run::Options;
/// use hashloom_tree::dmverity::DmVerity;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("data"), vec![7; 1 << 20])?;
/// let data = std::fs::File::open(folder.path().join("data"))?;
/// let hashes = std::fs::File::options().read(true).write(true).create_new(true).open(folder.path().join("hashes"))?;
///
/// let verity = DmVerity::new().salt(b"pepper")?.uuid([1; 16]);
/// let root = verity.format(&data, &hashes, &Options::new())?;
/// assert_eq!(root, verity.root(&data, &Options::new())?);
///
/// let verity = DmVerity::read(&hashes, 0)?;
/// assert!(verity.check(&data, &hashes, root.as_ref(), &Options::new())?.is_good());
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
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new(), DmVerity::default());
    /// ```
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
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_tree::dmverity::{DmVerity, HashType};
    ///
    /// let verity = DmVerity::new().algorithm(Algorithm::Sha512)?.data_block_size(1024)?.hash_block_size(512)?;
    /// let verity = verity.hash_type(HashType::ChromeOs).data_blocks(100).hash_offset(4096);
    /// assert_eq!((verity.get_algorithm(), verity.get_hash_type().number()), (Algorithm::Sha512, 0));
    /// assert_eq!((verity.get_data_block_size(), verity.get_hash_block_size()), (1024, 512));
    /// assert_eq!((verity.get_salt(), verity.get_uuid()), (&[][..], None));
    /// assert!(verity.algorithm(Algorithm::Sha512_256).is_err());
    /// # Ok::<(), hashloom_tree::TreeError>(())
    /// ```
    pub fn algorithm(mut self, algorithm: Algorithm) -> Result<DmVerity, TreeError> {
        superblock::name(algorithm)?;
        self.algorithm = algorithm;
        Ok(self)
    }

    /// Sets the type, 0 or 1.
    ///
    /// ```
    /// use hashloom_tree::dmverity::{DmVerity, HashType};
    /// assert_eq!(DmVerity::new().hash_type(HashType::ChromeOs).get_hash_type(), HashType::ChromeOs);
    /// ```
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
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// assert_eq!(DmVerity::new().data_block_size(1024)?.get_data_block_size(), 1024);
    /// assert!(DmVerity::new().data_block_size(1000).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_block_size(mut self, nbytes: usize) -> Result<DmVerity, TreeError> {
        self.data_block_nbytes = block_size(Block::Data, nbytes)?;
        Ok(self)
    }

    /// Sets the bytes in a block of digests, in the same range as for data.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().hash_block_size(512)?.get_hash_block_size(), 512);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hash_block_size(mut self, nbytes: usize) -> Result<DmVerity, TreeError> {
        self.hash_block_nbytes = block_size(Block::Hash, nbytes)?;
        Ok(self)
    }

    /// Sets the salt, which is hashed with each block: up to [`SALT_MAX_NBYTES`] bytes.
    ///
    /// # Errors
    ///
    /// [`TreeError::Parameter`].
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// assert_eq!(DmVerity::new().salt(b"pepper")?.get_salt(), b"pepper");
    /// assert!(DmVerity::new().salt(&[0; 257]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn salt(mut self, salt: &[u8]) -> Result<DmVerity, TreeError> {
        if salt.len() > SALT_MAX_NBYTES {
            return Err(ParameterFault::SaltTooLong { nbytes: salt.len(), most: SALT_MAX_NBYTES }.into());
        }
        self.salt = salt.to_vec();
        Ok(self)
    }

    /// Restricts the tree to the first `count` blocks of the data.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// let data = tempfile::tempfile()?;
    /// data.set_len(10 * 4096)?;
    /// assert_eq!(DmVerity::new().data_blocks(3).covered(&data)?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_blocks(mut self, count: u64) -> DmVerity {
        self.data_blocks = Some(count);
        self
    }

    /// Sets the offset in the hash file where the superblock begins, or the tree if there is no superblock: a multiple
    /// of 512.
    ///
    /// ```
    /// use hashloom_files::run::Options;
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// let (data, hashes) = (tempfile::tempfile()?, tempfile::tempfile()?);
    /// data.set_len(2 * 4096)?;
    /// DmVerity::new().hash_offset(8192).format(&data, &hashes, &Options::new())?;
    /// assert_eq!(hashes.metadata()?.len(), 8192 + 4096);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hash_offset(mut self, nbytes: u64) -> DmVerity {
        self.hash_offset = nbytes;
        self
    }

    /// Asks for a superblock, with this UUID.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().uuid([7; 16]).get_uuid(), Some([7; 16]));
    /// ```
    pub fn uuid(mut self, uuid: [u8; 16]) -> DmVerity {
        self.uuid = Some(uuid);
        self
    }

    /// The root hash of `data`, a file or block device. If the data does not end with a whole block, its last bytes are
    /// not covered: the kernel cannot read them either.
    ///
    /// # Errors
    ///
    /// [`TreeError::TooShort`] if `data` is shorter than one block or than the blocks asked for; [`TreeError::Read`],
    /// [`TreeError::Changed`], [`TreeError::Cancelled`].
    ///
    /// ```
    /// use hashloom_files::run::Options;
    /// use hashloom_tree::dmverity::DmVerity;
    /// use hashloom::{Algorithm, hash};
    ///
    /// let data = tempfile::tempfile()?;
    /// data.set_len(4096)?;
    /// // The root of one block is the digest of this block.
    /// let root = DmVerity::new().root(&data, &Options::new())?;
    /// assert_eq!(root, hash(Algorithm::Sha256, &[0; 4096]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use hashloom_files::run::Options;
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// let (data, hashes) = (tempfile::tempfile()?, tempfile::tempfile()?);
    /// data.set_len(2 * 4096)?;
    /// let root = DmVerity::new().format(&data, &hashes, &Options::new())?;
    /// assert_eq!((root.as_ref().len(), hashes.metadata()?.len()), (32, 4096));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    ///
    /// let data = tempfile::tempfile()?;
    /// data.set_len(2 * 4096 + 1)?;
    /// assert_eq!(DmVerity::new().covered(&data)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().get_algorithm(), hashloom::Algorithm::Sha256);
    /// ```
    pub fn get_algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The type.
    ///
    /// ```
    /// use hashloom_tree::dmverity::{DmVerity, HashType};
    /// assert_eq!(DmVerity::new().get_hash_type(), HashType::Normal);
    /// ```
    pub fn get_hash_type(&self) -> HashType {
        self.hash_type
    }

    /// Bytes in a block of data.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().get_data_block_size(), 4096);
    /// ```
    pub fn get_data_block_size(&self) -> usize {
        self.data_block_nbytes
    }

    /// Bytes in a block of digests.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().get_hash_block_size(), 4096);
    /// ```
    pub fn get_hash_block_size(&self) -> usize {
        self.hash_block_nbytes
    }

    /// The salt.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert!(DmVerity::new().get_salt().is_empty());
    /// ```
    pub fn get_salt(&self) -> &[u8] {
        &self.salt
    }

    /// The number of blocks of data, if there is a superblock or the tree is restricted.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().data_blocks(3).get_data_blocks(), Some(3));
    /// ```
    pub fn get_data_blocks(&self) -> Option<u64> {
        self.data_blocks
    }

    /// The UUID, if there is a superblock.
    ///
    /// ```
    /// use hashloom_tree::dmverity::DmVerity;
    /// assert_eq!(DmVerity::new().get_uuid(), None);
    /// ```
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
