// SPDX-License-Identifier: MIT OR Apache-2.0

//! The superblock before the tree: `struct verity_sb` of cryptsetup, 512 bytes, little-endian.

use std::fs::File;

use hashloom::Algorithm;
use hashloom_files::read::open::read_at;

use super::{DmVerity, HashType, SALT_MAX_NBYTES};
use crate::{HashFileFault, ParameterFault, TreeError};

pub(super) const NBYTES: usize = 512;

const SIGNATURE: &[u8; 8] = b"verity\0\0";
/// Offsets of the fields. The version is a constant, 1.
const VERSION: usize = 8;
const HASH_TYPE: usize = 12;
const UUID: usize = 16;
const ALGORITHM: usize = 32;
const DATA_BLOCK: usize = 64;
const HASH_BLOCK: usize = 68;
const DATA_BLOCKS: usize = 72;
const SALT_NBYTES: usize = 80;
const SALT: usize = 88;

/// The kernel's name of the algorithm.
pub(super) fn name(algorithm: Algorithm) -> Result<&'static str, TreeError> {
    match algorithm {
        Algorithm::Ripemd160 => Ok("rmd160"),
        Algorithm::Blake2b => Ok("blake2b-512"),
        Algorithm::Blake2b256 => Ok("blake2b-256"),
        Algorithm::Blake2s => Ok("blake2s-256"),
        Algorithm::Sha512_224 | Algorithm::Sha512_256 => Err(ParameterFault::NotInKernel(algorithm).into()),
        _ if algorithm.is_xof() || algorithm.name().starts_with("keccak") => {
            Err(ParameterFault::NotInKernel(algorithm).into())
        }
        _ => Ok(algorithm.name()),
    }
}

/// The bytes of the superblock; `None` if there is no UUID.
pub(super) fn encode(verity: &DmVerity, data_blocks: u64) -> Result<Option<[u8; NBYTES]>, TreeError> {
    let Some(uuid) = verity.uuid else { return Ok(None) };
    let mut bytes = [0; NBYTES];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, SIGNATURE);
    put(VERSION, &1u32.to_le_bytes());
    put(HASH_TYPE, &verity.hash_type.number().to_le_bytes());
    put(UUID, &uuid);
    put(ALGORITHM, name(verity.algorithm)?.as_bytes());
    put(DATA_BLOCK, &(verity.data_block_nbytes as u32).to_le_bytes());
    put(HASH_BLOCK, &(verity.hash_block_nbytes as u32).to_le_bytes());
    put(DATA_BLOCKS, &data_blocks.to_le_bytes());
    put(SALT_NBYTES, &(verity.salt.len() as u16).to_le_bytes());
    put(SALT, &verity.salt);
    Ok(Some(bytes))
}

impl DmVerity {
    /// Reads the parameters from a hash file's superblock at `hash_offset`.
    ///
    /// # Errors
    ///
    /// [`TreeError::HashFile`] if there is no superblock, or its values are impossible; [`TreeError::Read`].
    pub fn read(hashes: &File, hash_offset: u64) -> Result<DmVerity, TreeError> {
        let mut bytes = [0; NBYTES];
        let nbytes =
            read_at(hashes, &mut bytes, hash_offset).map_err(|error| TreeError::Read { offset: hash_offset, error })?;
        let wrong = |fault| Err(TreeError::HashFile(fault));
        if nbytes < NBYTES {
            return wrong(HashFileFault::NoSuperblock { offset: hash_offset, nbytes });
        }
        let mut found = [0; 8];
        found.copy_from_slice(&bytes[..8]);
        if found != *SIGNATURE {
            return wrong(HashFileFault::Signature { offset: hash_offset, found });
        }
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if number(VERSION) != 1 {
            return wrong(HashFileFault::Version(number(VERSION)));
        }
        let hash_type = match number(HASH_TYPE) {
            0 => HashType::ChromeOs,
            1 => HashType::Normal,
            other => return wrong(HashFileFault::HashType(other)),
        };
        let field = &bytes[ALGORITHM..DATA_BLOCK];
        let field = &field[..field.iter().position(|&byte| byte == 0).unwrap_or(field.len())];
        let known = Algorithm::ALL.iter().copied().find(|&algorithm| {
            // Older programs write other letter cases or the longer name.
            name(algorithm).is_ok_and(|name| field.eq_ignore_ascii_case(name.as_bytes()))
        });
        let Some(algorithm) = known else {
            return wrong(HashFileFault::Algorithm(field.to_vec()));
        };
        let salt_nbytes = usize::from(u16::from_le_bytes([bytes[SALT_NBYTES], bytes[SALT_NBYTES + 1]]));
        if salt_nbytes > SALT_MAX_NBYTES {
            return wrong(HashFileFault::SaltTooLong { nbytes: salt_nbytes, most: SALT_MAX_NBYTES });
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&bytes[UUID..UUID + 16]);
        let mut data_blocks = [0; 8];
        data_blocks.copy_from_slice(&bytes[DATA_BLOCKS..DATA_BLOCKS + 8]);
        if data_blocks == [0; 8] {
            return wrong(HashFileFault::NoBlocks);
        }
        DmVerity::new()
            .algorithm(algorithm)?
            .hash_type(hash_type)
            .data_block_size(number(DATA_BLOCK) as usize)?
            .hash_block_size(number(HASH_BLOCK) as usize)?
            .salt(&bytes[SALT..SALT + salt_nbytes])
            .map(|verity| verity.data_blocks(u64::from_le_bytes(data_blocks)).hash_offset(hash_offset).uuid(uuid))
    }
}
