// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks data and hash file against a root hash: each level's blocks are hashed as if they were data, and compared
//! with the digests in the level above, from the root down to the data.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::DmVerity;
use crate::read::open::read_at;
use crate::run::Options;
use crate::tree::{HashFileFault, ParameterFault, TreeError, hash_range, length};

/// Largest number of bad blocks that a [`Checked`] lists.
///
/// ```
/// assert_eq!(hashloom_engine::tree::dmverity::LISTED_MAX, 65536);
/// ```
pub const LISTED_MAX: usize = 1 << 16;

/// The result of a check.
///
/// ```
/// use hashloom_engine::tree::dmverity::Checked;
/// assert_eq!(Checked::default().data_block_count, 0);
/// ```
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
}

/// A block of the hash file that does not match its digest in the block above, or the root hash.
///
/// ```
/// use hashloom_engine::tree::dmverity::{BadBlock, Checked};
///
/// let checked = Checked { hash_blocks: vec![BadBlock { level: 0, offset: 4096 }], ..Checked::default() };
/// assert_eq!(checked.hash_blocks[0].offset, 4096);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadBlock {
    /// The block's level; 0 is the level with the digests of data.
    pub level: usize,
    /// Offset of the block in the hash file.
    pub offset: u64,
}

impl Checked {
    /// Whether all blocks are right.
    ///
    /// ```
    /// use hashloom_engine::tree::dmverity::Checked;
    ///
    /// assert!(Checked::default().is_good());
    /// assert!(!Checked { data_block_count: 1, ..Checked::default() }.is_good());
    /// ```
    pub fn is_good(&self) -> bool {
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
}

impl Expected<'_> {
    fn next(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.arity {
            if read_at(self.hashes, &mut self.block, self.offset)? < self.block.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.offset += self.block.len() as u64;
            self.taken = 0;
        }
        self.taken += 1;
        Ok(&self.block[(self.taken - 1) * self.slot_nbytes..][..self.slot_nbytes])
    }
}

impl DmVerity {
    /// Compares data and hash file with a root hash, which must come from a trusted place.
    ///
    /// All blocks are compared, whatever is found. [`progress`](Options::progress) counts the bytes of data.
    ///
    /// # Errors
    ///
    /// [`TreeError::TooShort`] if `data` is; [`TreeError::Parameter`] if the root's length is not that of a digest;
    /// [`TreeError::HashFile`] if the hash file is too short; [`TreeError::Read`] (of either file),
    /// [`TreeError::Changed`], [`TreeError::Cancelled`].
    ///
    /// ```
    /// use hashloom_engine::run::Options;
    /// use hashloom_engine::tree::dmverity::DmVerity;
    ///
    /// let (data, other, hashes) = (tempfile::tempfile()?, tempfile::tempfile()?, tempfile::tempfile()?);
    /// data.set_len(8192)?;
    /// let root = DmVerity::new().format(&data, &hashes, &Options::new())?;
    /// std::io::Write::write_all(&mut &other, &[[0; 4096], [7; 4096]].concat())?;
    /// let checked = DmVerity::new().check(&other, &hashes, root.as_ref(), &Options::new())?;
    /// assert_eq!((checked.data_block_count, checked.data_blocks[0].start), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let nbytes = length(hashes)?.unwrap_or(0);
        // One block of data needs no tree.
        if layout.total > 0 && end.is_none_or(|end| end > nbytes) {
            return Err(HashFileFault::TooShort { nblocks: layout.total, block_nbytes, offset: start, nbytes }.into());
        }
        let mut checked = Checked::default();
        // The root's own block has only the root hash above it.
        let mut top = vec![0; tree.slot_nbytes];
        top[..digest_nbytes].copy_from_slice(root);
        let above = |level: usize| match layout.starts.get(level) {
            Some(first) => Expected {
                hashes,
                offset: start + first * block_nbytes,
                block: vec![0; self.hash_block_nbytes],
                taken: tree.arity(),
                arity: tree.arity(),
                slot_nbytes: tree.slot_nbytes,
            },
            None => {
                Expected { hashes, offset: 0, block: top.clone(), taken: 0, arity: 1, slot_nbytes: tree.slot_nbytes }
            }
        };
        let quiet = options.quiet();
        for level in (0..layout.counts.len()).rev() {
            let first = start + layout.starts[level] * block_nbytes;
            let range = first..first + layout.counts[level] * block_nbytes;
            let mut expected = above(level + 1);
            let mut offset = first;
            hash_range(hashes, range, &tree.blocks(), &quiet, &mut |digests| {
                for digest in digests.chunks_exact(digest_nbytes) {
                    if expected.next()?[..digest_nbytes] != *digest {
                        checked.add_hash(BadBlock { level, offset });
                    }
                    offset += block_nbytes;
                }
                Ok(())
            })
            .map_err(of_hashes)?;
        }
        let mut expected = above(0);
        let mut block = 0;
        let nbytes = nblocks * self.data_block_nbytes as u64;
        hash_range(data, 0..nbytes, &tree.leaves(), options, &mut |digests| {
            for digest in digests.chunks_exact(digest_nbytes) {
                if expected.next()?[..digest_nbytes] != *digest {
                    checked.add_data(block);
                }
                block += 1;
            }
            Ok(())
        })
        .map_err(of_hashes)?;
        Ok(checked)
    }
}

/// Nothing is written here: a failed write is a failure to read the digests.
fn of_hashes(error: TreeError) -> TreeError {
    match error {
        TreeError::Write(error) => HashFileFault::Lost(error).into(),
        other => other,
    }
}
