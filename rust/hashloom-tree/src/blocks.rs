// SPDX-License-Identifier: MIT OR Apache-2.0

//! The common part of fs-verity and dm-verity: a tree whose nodes fill blocks, and the file with these blocks, the
//! root's level first.

use std::fs::File;
use std::io;

use crate::levels::{Levels, Odd, Shape};
use hashloom::{Algorithm, Hash, Hasher};
use hashloom_files::lanes::Leaves;

/// The kind of a tree.
#[derive(Debug, Clone)]
pub(super) struct BlockTree {
    pub(super) algorithm: Algorithm,
    pub(super) data_block_nbytes: usize,
    pub(super) hash_block_nbytes: usize,
    /// Bytes hashed before and after each block.
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    /// Distance from digest to digest in a block.
    pub(super) slot_nbytes: usize,
}

/// The place of each level's blocks in the file, for a given number of data blocks.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Number of blocks of each level, from the lowest (the digests of data) to the root's.
    pub(super) counts: Vec<u64>,
    /// Number of the first block of each level.
    pub(super) starts: Vec<u64>,
    /// Total number of blocks.
    pub(super) total: u64,
}

impl BlockTree {
    /// Number of digests in a block: as many as fit, rounded down to a power of two.
    pub(super) fn arity(&self) -> usize {
        1 << (self.hash_block_nbytes / self.algorithm.digest_nbytes()).ilog2()
    }

    /// The leaves of data; the last may be filled up with zeros.
    pub(super) fn leaves(&self) -> Leaves {
        self.leaves_of(self.data_block_nbytes)
    }

    /// The leaves for hashing the blocks of a level as if they were data.
    pub(super) fn blocks(&self) -> Leaves {
        self.leaves_of(self.hash_block_nbytes)
    }

    fn leaves_of(&self, nbytes: usize) -> Leaves {
        let head = (!self.head.is_empty()).then(|| {
            let mut hasher = Hasher::new(self.algorithm);
            hasher.update(&self.head);
            hasher
        });
        let (algorithm, tail) = (self.algorithm, self.tail.clone());
        Leaves { algorithm, leaf_nbytes: nbytes as u64, head, tail, is_filled: true }
    }

    pub(super) fn layout(&self, nleaves: u64) -> Layout {
        let mut counts = Vec::new();
        let mut count = nleaves;
        while count > 1 {
            count = count.div_ceil(self.arity() as u64);
            counts.push(count);
        }
        let mut total = 0;
        let mut starts: Vec<u64> = counts
            .iter()
            .rev()
            .map(|count| {
                total += count;
                total - count
            })
            .collect();
        starts.reverse();
        Layout { counts, starts, total }
    }

    /// Begins a tree. Its blocks are written to `out`, if given.
    pub(super) fn begin<'o>(&self, out: Option<Out<'o>>) -> Building<'o> {
        let shape = Shape {
            algorithm: self.algorithm,
            head: self.head.clone(),
            tail: self.tail.clone(),
            arity: self.arity(),
            slot_nbytes: self.slot_nbytes,
            block_nbytes: self.hash_block_nbytes,
            odd: Odd::Zeros,
        };
        Building { algorithm: self.algorithm, levels: Levels::new(shape), out }
    }
}

/// A file that receives a tree's blocks, and the tree's place in it.
#[derive(Debug, Clone)]
pub(super) struct Out<'o> {
    pub(super) file: &'o File,
    /// Offset of the first block in the file.
    pub(super) offset: u64,
    pub(super) layout: Layout,
}

impl Out<'_> {
    fn put(&self, level: u32, number: u64, block: &[u8]) -> io::Result<()> {
        let at = self.layout.starts.get(level as usize).map(|start| start + number);
        let at = at.ok_or_else(|| io::Error::other("more blocks than the data has"))?;
        write_all_at(self.file, block, self.offset + at * block.len() as u64)
    }
}

/// A tree that is being built.
#[derive(Debug)]
pub(super) struct Building<'o> {
    algorithm: Algorithm,
    levels: Levels,
    out: Option<Out<'o>>,
}

impl Building<'_> {
    pub(super) fn push(&mut self, digests: &[u8]) -> io::Result<()> {
        let mut written = Ok(());
        self.levels.push(digests, &mut put(&self.out, &mut written));
        written
    }

    pub(super) fn finish(mut self) -> io::Result<Option<Hash>> {
        let mut written = Ok(());
        let root = self.levels.finish(&mut put(&self.out, &mut written));
        written.map(|()| root.map(|root| Hash::new(self.algorithm, &root)))
    }
}

/// Makes the function that writes blocks to `out` and keeps the first failure.
fn put<'p>(out: &'p Option<Out<'p>>, written: &'p mut io::Result<()>) -> impl FnMut(u32, u64, &[u8]) + 'p {
    move |level, number, block| {
        if let (Some(out), Ok(())) = (out, &written) {
            *written = out.put(level, number, block);
        }
    }
}

/// Writes all of `bytes` at `offset`.
#[cfg(unix)]
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
pub(super) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            nbytes => {
                bytes = &bytes[nbytes..];
                offset += nbytes as u64;
            }
        }
    }
    Ok(())
}

/// In a browser there are no files.
#[cfg(not(any(unix, windows)))]
pub(super) fn write_all_at(_file: &File, _bytes: &[u8], _offset: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
