// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a hash file of dm-verity that may come from anybody. The values read are those in its superblock, and writing
//! gives the same superblock. If there is little data, the root hash, the check and the wrong blocks that it finds are
//! compared with the format's description, written here with other programs' hash functions.

#![no_main]

mod numbers;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_tree::dmverity::DmVerity;
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

const NBYTES: usize = 512;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Makes a likely superblock.
fn likely(numbers: &mut Numbers<'_>) -> Vec<u8> {
    let mut bytes = vec![0; NBYTES];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, b"verity\0\0");
    put(8, &1u32.to_le_bytes());
    put(12, &(numbers.next() as u32 % 2).to_le_bytes());
    put(16, &[numbers.next() as u8; 16]);
    put(32, [&b"sha1"[..], b"sha224", b"sha256", b"sha384", b"sha512", b"SHA256", b"rmd160"][numbers.next() % 7]);
    put(64, &(512u32 << (numbers.next() % 4)).to_le_bytes());
    put(68, &(512u32 << (numbers.next() % 4)).to_le_bytes());
    put(72, &(numbers.next() as u64 % 100).to_le_bytes());
    let salt = numbers.next() % 257;
    put(80, &(salt as u16).to_le_bytes());
    let salt = numbers.bytes(salt).to_vec();
    put(88, &salt);
    bytes
}

/// The fields of a superblock, read by the format's description.
struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn number(&self, at: usize, nbytes: usize) -> u64 {
        self.bytes[at..at + nbytes].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    fn salt(&self) -> &'a [u8] {
        &self.bytes[88..88 + self.number(80, 2) as usize]
    }

    /// Returns `None` for hash functions that no other program here has.
    fn hash(&self, block: &[u8]) -> Option<Vec<u8>> {
        let is_old = self.number(12, 4) == 0;
        let all = if is_old { [block, self.salt()].concat() } else { [self.salt(), block].concat() };
        let name = self.bytes[32..64].split(|&byte| byte == 0).next()?.to_ascii_lowercase();
        Some(match &name[..] {
            b"sha1" => Sha1::digest(all).to_vec(),
            b"sha224" => Sha224::digest(all).to_vec(),
            b"sha256" => Sha256::digest(all).to_vec(),
            b"sha384" => Sha384::digest(all).to_vec(),
            b"sha512" => Sha512::digest(all).to_vec(),
            _ => return None,
        })
    }

    fn root(&self, data: &[u8]) -> Option<Vec<u8>> {
        let hash_block = self.number(68, 4) as usize;
        let mut level: Vec<Vec<u8>> =
            data.chunks(self.number(64, 4) as usize).map(|block| self.hash(block)).collect::<Option<_>>()?;
        let digest_nbytes = level[0].len();
        let slot = if self.number(12, 4) == 0 { digest_nbytes } else { digest_nbytes.next_power_of_two() };
        // The digests in a block are a power of two in number, whatever the slot.
        let per_block = 1 << (hash_block / slot.next_power_of_two()).ilog2();
        let mut is_first = true;
        while level.len() > 1 || std::mem::take(&mut is_first) {
            // The only digest of one block of data is the root.
            if level.len() == 1 {
                break;
            }
            is_first = false;
            let block = |digests: &[Vec<u8>]| {
                let mut bytes = Vec::new();
                for digest in digests {
                    bytes.extend_from_slice(digest);
                    bytes.resize(bytes.len().next_multiple_of(slot), 0);
                }
                bytes.resize(hash_block, 0);
                self.hash(&bytes)
            };
            level = level.chunks(per_block).map(block).collect::<Option<_>>()?;
        }
        level.pop()
    }
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let mut superblock = match numbers.next() % 3 {
        0 => numbers.bytes(2 * NBYTES).to_vec(),
        _ => likely(&mut numbers),
    };
    if numbers.next() % 3 == 0 {
        numbers.edit(&mut superblock);
    }
    let options = Options::new().threads(1);
    let verity = match DmVerity::read(&file(&superblock), 0) {
        Ok(verity) => verity,
        Err(error) => return drop(error.to_string()),
    };
    let fields = Fields { bytes: &superblock };
    assert_eq!((&superblock[..8], fields.number(8, 4)), (&b"verity\0\0"[..], 1));
    assert_eq!(u64::from(verity.get_hash_type().number()), fields.number(12, 4));
    assert_eq!(verity.get_data_block_size() as u64, fields.number(64, 4));
    assert_eq!(verity.get_hash_block_size() as u64, fields.number(68, 4));
    assert_eq!((verity.get_salt(), &verity.get_uuid().unwrap()[..]), (fields.salt(), &superblock[16..32]));

    let (nblocks, block) = (fields.number(72, 8), verity.get_data_block_size());
    if nblocks == 0 || nblocks.saturating_mul(block as u64) > 1 << 17 || verity.get_hash_block_size() > 1 << 14 {
        // Too little data is an error, whatever the superblock asks for.
        let data = file(&vec![1; 3000]);
        assert!(verity.root(&data, &options).is_err() || nblocks.saturating_mul(block as u64) <= 3000);
        return;
    }
    let mut data = vec![numbers.next() as u8; nblocks as usize * block];
    (0..data.len()).step_by(block).for_each(|start| data[start] = numbers.next() as u8);
    let (data_file, hashes) = (file(&data), tempfile::tempfile().unwrap());
    let root = verity.format(&data_file, &hashes, &options).unwrap();
    assert_eq!(verity.root(&data_file, &options).unwrap(), root);
    if verity.get_algorithm() != Algorithm::Ripemd160 {
        assert_eq!(root.as_ref(), fields.root(&data).unwrap());
    }
    let mut written = [0; NBYTES];
    hashes.read_exact_at(&mut written, 0).unwrap();
    let end = 88 + verity.get_salt().len();
    assert_eq!(written[..32], superblock[..32]);
    assert_eq!((&written[64..82], &written[88..end]), (&superblock[64..82], &superblock[88..end]));

    // The file written is right; after a change the check names the wrong block.
    assert!(verity.check(&data_file, &hashes, root.as_ref(), &options).unwrap().is_good());
    let nbytes = hashes.metadata().unwrap().len();
    let tree_start = NBYTES.next_multiple_of(verity.get_hash_block_size()) as u64;
    if numbers.next() % 2 == 0 || nbytes <= tree_start {
        let at = numbers.long() % data.len();
        data_file.write_all_at(&[data[at] ^ 1], at as u64).unwrap();
        let checked = verity.check(&data_file, &hashes, root.as_ref(), &options).unwrap();
        let bad = (at / block) as u64;
        assert_eq!((checked.data_blocks, checked.hash_block_count), (vec![bad..bad + 1], 0));
    } else {
        let at = tree_start + numbers.long() as u64 % (nbytes - tree_start);
        let mut byte = [0];
        hashes.read_exact_at(&mut byte, at).unwrap();
        hashes.write_all_at(&[byte[0] ^ 1], at).unwrap();
        let checked = verity.check(&data_file, &hashes, root.as_ref(), &options).unwrap();
        let offset = at - (at - tree_start) % verity.get_hash_block_size() as u64;
        assert_eq!(checked.hash_blocks.first().map(|bad| bad.offset), Some(offset));
    }
});
