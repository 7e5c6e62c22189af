// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks data and hash file against a root hash: each level's blocks are hashed as if they were data, and compared
//! with the digests in the level above, from the root down to the data.
//!
//! Only the root hash is trusted. No digest covers the number of blocks, which comes from the superblock or from the
//! data's length: a smaller number would leave blocks out. Two rules answer this. A hash block must be zero where it
//! has no digest of a block that is checked, as the root hash covers the digests of all others; and data behind the
//! last block is told of.

use std::fs::File;
use std::io;
use std::ops::Range;

use hashloom_files::read::open::read_at;
use hashloom_files::read::stamp::Stamp;
use hashloom_files::run::Options;

use super::DmVerity;
use crate::{HashFileFault, ParameterFault, TreeError, hash_range, length, not_looked_at};

/// Largest number of bad blocks that a [`Checked`] lists.
pub const LISTED_MAX: usize = 1 << 16;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Checked {
    /// Bad blocks of the hash file, the root's first. The digests in a bad block prove nothing about the blocks below
    /// it.
    pub hash_blocks: Vec<BadBlock>,
    /// Runs of bad blocks of the data.
    pub data_blocks: Vec<Range<u64>>,
    /// Number of bad blocks of the hash file, those not listed included.
    pub hash_block_count: u64,
    /// Number of bad blocks of the data, those not listed included.
    pub data_block_count: u64,
    /// Number of blocks of the hash file that were compared: all of the tree.
    pub covered_hash_blocks: u64,
    /// Number of blocks of the data that were compared.
    pub covered_blocks: u64,
    /// Number of bytes in these blocks of the data.
    pub covered_nbytes: u64,
    /// Number of bytes of the data that no digest covers: those behind the last block. If data and hash file are one
    /// file, the superblock and the tree are not counted.
    pub uncovered_nbytes: u64,
}

/// A block of the hash file that is wrong.
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_tree::dmverity::{BadBlock, BlockFault, DmVerity};
///
/// let (data, hashes, other) = (tempfile::tempfile()?, tempfile::tempfile()?, tempfile::tempfile()?);
/// data.set_len(8192)?;
/// other.set_len(4096)?;
/// let root = DmVerity::new().format(&data, &hashes, &Options::new())?;
/// let checked = DmVerity::new().check(&data, &other, root.as_ref(), &Options::new())?;
/// let block: &BadBlock = &checked.hash_blocks[0];
/// assert_eq!((block.level, block.offset, block.fault), (0, 0, BlockFault::Digest));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadBlock {
    /// The block's level; 0 is the level with the digests of data.
    pub level: usize,
    /// Offset of the block in the hash file.
    pub offset: u64,
    /// The fault of the block.
    pub fault: BlockFault,
}

/// A fault of a block of the hash file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockFault {
    /// The block does not match its digest in the block above, or the root hash.
    Digest,
    /// The block matches, but has more than zeros beside the digests of the blocks that were compared: the data has
    /// more blocks than the superblock says.
    Spare,
}

impl Checked {
    /// Whether all blocks are right and cover all of the data.
    pub fn is_good(&self) -> bool {
        self.covered_is_good() && self.uncovered_nbytes == 0
    }

    /// Whether all blocks are right, however much of the data they cover.
    pub fn covered_is_good(&self) -> bool {
        self.hash_block_count == 0 && self.data_block_count == 0
    }

    fn add_data(&mut self, block: u64) {
        self.data_block_count += 1;
        let is_full = self.data_blocks.len() == LISTED_MAX;
        match self.data_blocks.last_mut() {
            Some(run) if run.end == block => run.end += 1,
            _ if is_full => {}
            _ => self.data_blocks.push(block..block + 1),
        }
    }

    /// Adds the blocks of a level that have more than zeros beside digests. A block whose own digest is wrong is
    /// already there.
    fn add_spare(&mut self, level: usize, mut expected: Expected<'_>) {
        expected.leave();
        let known: Vec<u64> =
            self.hash_blocks.iter().filter(|block| block.level == level).map(|block| block.offset).collect();
        for offset in expected.spare {
            if self.hash_blocks.len() < LISTED_MAX && known.binary_search(&offset).is_err() {
                self.add_hash(BadBlock { level, offset, fault: BlockFault::Spare });
            }
        }
    }

    fn add_hash(&mut self, block: BadBlock) {
        self.hash_block_count += 1;
        if self.hash_blocks.len() < LISTED_MAX {
            self.hash_blocks.push(block);
        }
    }
}

/// The digests that blocks should have, from the blocks of the level above.
struct Expected<'e> {
    hashes: &'e File,
    /// Offset of the next of these blocks.
    offset: u64,
    block: Vec<u8>,
    /// Number of digests taken from `block`.
    taken: usize,
    arity: usize,
    slot_nbytes: usize,
    digest_nbytes: usize,
    /// Offsets of the blocks that have more than zeros beside the digests taken, [`LISTED_MAX`] of them at most.
    spare: Vec<u64>,
}

impl Expected<'_> {
    fn next(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.arity {
            self.leave();
            if read_at(self.hashes, &mut self.block, self.offset)? < self.block.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.offset += self.block.len() as u64;
            self.taken = 0;
        }
        self.taken += 1;
        Ok(&self.block[(self.taken - 1) * self.slot_nbytes..][..self.digest_nbytes])
    }

    /// Looks at the bytes of the block beside the digests taken. A block that was never read is all zeros.
    fn leave(&mut self) {
        let (taken, rest) = self.block.split_at(self.taken * self.slot_nbytes);
        let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
        let gaps = taken.chunks_exact(self.slot_nbytes).map(|slot| &slot[self.digest_nbytes..]);
        if !gaps.chain([rest]).all(is_zero) && self.spare.len() < LISTED_MAX {
            self.spare.push(self.offset - self.block.len() as u64);
        }
    }
}

impl DmVerity {
    /// Compares data and hash file with a root hash, which must come from a trusted place.
    ///
    /// All blocks are compared, whatever is found. [`progress`](Options::progress) counts the bytes of data.
    ///
    /// A tree says nothing about its height: whoever may change both files can give the hash blocks themselves as data,
    /// of fewer blocks. Compare [`Checked::covered_blocks`] with a number from a trusted place if that matters.
    ///
    /// # Errors
    ///
    /// [`TreeError::TooShort`] if `data` is; [`TreeError::Parameter`] if the root's length is not that of a digest;
    /// [`TreeError::HashFile`] if the hash file is too short or changes; [`TreeError::Read`] (of either file),
    /// [`TreeError::Changed`], [`TreeError::Cancelled`].
    pub fn check(&self, data: &File, hashes: &File, root: &[u8], options: &Options) -> Result<Checked, TreeError> {
        let digest_nbytes = self.algorithm.digest_nbytes();
        if root.len() != digest_nbytes {
            return Err(ParameterFault::RootHash { nbytes: root.len(), algorithm: self.algorithm }.into());
        }
        let nblocks = self.covered(data)?;
        let tree = self.tree();
        let layout = tree.layout(nblocks);
        let (start, block_nbytes) = (self.tree_offset()?, self.hash_block_nbytes as u64);
        let end = layout.total.checked_mul(block_nbytes).and_then(|nbytes| nbytes.checked_add(start));
        let hashes_before = Stamp::before_reading(hashes).map_err(not_looked_at)?;
        let nbytes = length(hashes)?.unwrap_or(0);
        // One block of data needs no tree.
        if layout.total > 0 && end.is_none_or(|end| end > nbytes) {
            return Err(HashFileFault::TooShort { nblocks: layout.total, block_nbytes, offset: start, nbytes }.into());
        }
        let covered_nbytes = nblocks * self.data_block_nbytes as u64;
        let data_nbytes = length(data)?.unwrap_or(0);
        let mut checked = Checked {
            covered_hash_blocks: layout.total,
            covered_blocks: nblocks,
            covered_nbytes,
            uncovered_nbytes: self.uncovered(data, hashes, data_nbytes, covered_nbytes..end.unwrap_or(start))?,
            ..Checked::default()
        };
        // The root's own block has only the root hash above it.
        let mut top = vec![0; tree.slot_nbytes];
        top[..digest_nbytes].copy_from_slice(root);
        let above = |level: usize| {
            let (offset, block, taken, arity) = match layout.starts.get(level) {
                Some(first) => {
                    (start + first * block_nbytes, vec![0; self.hash_block_nbytes], tree.arity(), tree.arity())
                }
                None => (tree.slot_nbytes as u64, top.clone(), 0, 1),
            };
            let slot_nbytes = tree.slot_nbytes;
            Expected { hashes, offset, block, taken, arity, slot_nbytes, digest_nbytes, spare: Vec::new() }
        };
        let quiet = options.quiet();
        for level in (0..layout.counts.len()).rev() {
            let first = start + layout.starts[level] * block_nbytes;
            let range = first..first + layout.counts[level] * block_nbytes;
            let mut expected = above(level + 1);
            let mut offset = first;
            hash_range(hashes, range, &tree.blocks(), &quiet, &mut |digests| {
                for digest in digests.chunks_exact(digest_nbytes) {
                    if expected.next()? != digest {
                        checked.add_hash(BadBlock { level, offset, fault: BlockFault::Digest });
                    }
                    offset += block_nbytes;
                }
                Ok(())
            })
            .map_err(of_hashes)?;
            checked.add_spare(level + 1, expected);
        }
        let mut expected = above(0);
        let mut block = 0;
        hash_range(data, 0..covered_nbytes, &tree.leaves(), options, &mut |digests| {
            for digest in digests.chunks_exact(digest_nbytes) {
                if expected.next()? != digest {
                    checked.add_data(block);
                }
                block += 1;
            }
            Ok(())
        })
        .map_err(of_hashes)?;
        checked.add_spare(0, expected);
        // The digests were read again after their blocks had been compared, and the lengths before.
        if Stamp::of_file(hashes).map_err(not_looked_at)? != hashes_before {
            return Err(HashFileFault::Changed.into());
        }
        if length(data)?.unwrap_or(0) != data_nbytes {
            return Err(TreeError::Changed);
        }
        Ok(checked)
    }

    /// Number of bytes of `data` from `range.start` on that are no part of the hash file, which ends at `range.end`.
    fn uncovered(&self, data: &File, hashes: &File, nbytes: u64, range: Range<u64>) -> Result<u64, TreeError> {
        let numbers = |file: &File| {
            let stamp = Stamp::of_file(file).map_err(not_looked_at)?;
            Ok::<_, TreeError>(stamp.map(|stamp| (stamp.dev, stamp.ino)).filter(|&(_, ino)| ino != 0))
        };
        let one = numbers(data)?;
        let is_one_file = one.is_some() && one == numbers(hashes)?;
        let tree_nbytes = if is_one_file { range.end.saturating_sub(self.hash_offset.max(range.start)) } else { 0 };
        Ok((nbytes - range.start).saturating_sub(tree_nbytes))
    }
}

/// Nothing is written here: a failed write is a failure to read the digests.
fn of_hashes(error: TreeError) -> TreeError {
    match error {
        TreeError::Write(error) => HashFileFault::Lost(error).into(),
        other => other,
    }
}
