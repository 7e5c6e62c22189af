// SPDX-License-Identifier: MIT OR Apache-2.0

//! libtorrent's `.<info-hash>.parts` in the download folder (`part_file.cpp`). Of a piece that a wanted file shares
//! with files that nobody wants it keeps the bytes of these: the number and the length of the pieces, the slot of each
//! piece (32 bits each, big-endian), zeros up to a multiple of 1 KiB, then the slots, each as long as a piece.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hashloom_files::Stamp;
use hashloom_files::read::open::read_exact_at;
use hashloom_files::text::Hex;

use crate::Torrent;

/// A parts file, and the files whose bytes may be in it.
#[derive(Debug)]
pub struct Parts {
    path: PathBuf,
    unwanted: BTreeSet<usize>,
    piece_nbytes: u64,
    /// The slot of each piece that has one.
    slots: BTreeMap<usize, u32>,
    header_nbytes: u64,
}

impl Parts {
    /// The parts file of a torrent in its download folder, if there is one. libtorrent too takes a file whose header is
    /// that of another torrent for none.
    pub(super) fn find(torrent: &Torrent, folder: &Path, unwanted: &BTreeSet<usize>) -> Option<Parts> {
        if unwanted.is_empty() {
            return None;
        }
        let v2 = torrent.info_hash_v2().and_then(|hash| hash.first_chunk::<20>().copied());
        let path = folder.join(format!(".{}.parts", Hex(&v2.or(torrent.info_hash_v1())?)));
        let npieces = torrent.piece_count();
        let header_nbytes = (8 + 4 * npieces as u64).next_multiple_of(1024);
        let mut header = Vec::new();
        File::open(&path).ok()?.take(header_nbytes).read_to_end(&mut header).ok()?;
        let mut words =
            header.chunks_exact(4).map(|word| word.iter().fold(0u32, |all, &byte| all << 8 | u32::from(byte)));
        let is_whole = header.len() as u64 == header_nbytes;
        let head = (words.next()?, words.next()?);
        if !is_whole || head.0 as usize != npieces || u64::from(head.1) != torrent.piece_nbytes() {
            return None;
        }
        let slots = words.take(npieces).enumerate().filter(|(_, slot)| (*slot as usize) < npieces).collect();
        Some(Parts { path, unwanted: unwanted.clone(), piece_nbytes: torrent.piece_nbytes(), slots, header_nbytes })
    }

    /// Whether bytes of a file that is missing may be there, of this piece.
    pub fn has(&self, file: usize, piece: usize) -> bool {
        self.unwanted.contains(&file) && self.slots.contains_key(&piece)
    }

    /// The pieces of which there are bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = usize> {
        self.slots.keys().copied()
    }

    /// Opens the file, and takes its stamp.
    pub(super) fn open(&self) -> io::Result<(File, Option<Stamp>)> {
        let file = File::open(&self.path)?;
        let stamp = Stamp::of_file(&file)?;
        Ok((file, stamp))
    }

    /// Whether the file is still the one with this stamp.
    pub(super) fn is_unchanged(&self, stamp: &Option<Stamp>) -> bool {
        Stamp::at(&self.path).is_ok_and(|now| now == *stamp)
    }

    /// Reads bytes of a piece, from an offset in the piece on.
    pub(super) fn read(&self, file: &File, piece: usize, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let Some(&slot) = self.slots.get(&piece) else { return Err(io::ErrorKind::NotFound.into()) };
        read_exact_at(file, buffer, self.header_nbytes + u64::from(slot) * self.piece_nbytes + offset)
    }
}
