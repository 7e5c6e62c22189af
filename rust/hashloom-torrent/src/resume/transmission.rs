// SPDX-License-Identifier: MIT OR Apache-2.0

//! Transmission's resume file, as `resume.c` of 3.00 and `resume.cc` of 4.1 read it.

use std::path::Path;

use hashloom_files::paths::to_path;

use super::places::{Places, path_bytes, placed};
use super::{Error, Items, Keys, expect_length};
use crate::bencode::{Item, Kind, Value};
use crate::{Bitfield, Content, Torrent};

const BLOCK_NBYTES: u64 = 16 << 10;

/// Length of a block if all versions agree on it. Version 3 halves the piece until it is at most 16 KiB; version 4
/// counts 16 KiB from the start of the content, whatever the pieces.
fn block_nbytes(torrent: &Torrent) -> Result<u64, Error> {
    let piece_nbytes = torrent.piece_nbytes();
    match piece_nbytes.is_power_of_two() && piece_nbytes >= BLOCK_NBYTES {
        true => Ok(BLOCK_NBYTES),
        false => Err(Error::BlockLength { piece_nbytes }),
    }
}

/// The bits of `blocks`, unless it is `all` or `none`.
fn raw_blocks<'a>(progress: &Keys<'a>) -> Result<Option<(Value<'a>, &'a [u8])>, Error> {
    let blocks = progress.get("blocks", Kind::String)?;
    let bits = blocks.and_then(|value| Some((value, value.string()?)));
    Ok(bits.filter(|(_, bits)| !matches!(*bits, b"all" | b"none")))
}

fn progress<'a>(root: &Keys<'a>) -> Result<Option<Keys<'a>>, Error> {
    Ok(root.get("progress", Kind::Dictionary)?.map(Keys))
}

pub(super) fn check(root: &Keys<'_>, torrent: &Torrent) -> Result<(), Error> {
    if torrent.info_hash_v1().is_none() {
        return Err(Error::NoV2);
    }
    let Some(progress) = progress(root)? else { return Ok(()) };
    for key in ["time-checked", "mtimes"] {
        if let Some(list) = progress.get(key, Kind::List)? {
            // The count stops as soon as there are too many.
            let found = list.items().take(torrent.file_count() + 1).count();
            expect_length(key, list, torrent.file_count() as u64, found)?;
        }
    }
    if let (Some((value, bits)), Ok(block_nbytes)) = (raw_blocks(&progress)?, block_nbytes(torrent)) {
        let count = torrent.total_nbytes().div_ceil(block_nbytes);
        expect_length("blocks", value, count.div_ceil(8), bits.len())?;
    }
    Ok(())
}

/// Reads one bit for each block: a piece is there if all its blocks are.
pub(super) fn have(root: &Keys<'_>, torrent: &Torrent) -> Result<Bitfield, Error> {
    let count = torrent.piece_count();
    let Some(progress) = progress(root)? else { return Ok(Bitfield::none(count)) };
    let Some((_, bits)) = raw_blocks(&progress)? else {
        let all = progress.string("blocks")? == Some(b"all");
        return Ok(if all { Bitfield::all(count) } else { Bitfield::none(count) });
    };
    let block_nbytes = block_nbytes(torrent)?;
    let mut have = Bitfield::none(count);
    for piece in 0..count {
        let is_set = |block: u64| bits[(block / 8) as usize] & 0x80 >> (block % 8) != 0;
        have.set(piece, blocks(torrent, piece, block_nbytes).all(is_set));
    }
    Ok(have)
}

fn blocks(torrent: &Torrent, piece: usize, block_nbytes: u64) -> std::ops::Range<u64> {
    let range = torrent.piece_range(piece);
    range.start / block_nbytes..range.end.div_ceil(block_nbytes)
}

/// Removes from `items` the values of an old file that must not be kept.
pub(super) fn keep(root: &Keys<'_>, items: &mut Items, torrent: &Torrent, content: &Content) -> Result<(), Error> {
    let renamed = root.get("files", Kind::List)?.into_iter().flat_map(|list| list.items());
    let renamed: Vec<&[u8]> = renamed.map(|path| path.string().unwrap_or_default()).collect();
    // Transmission looks for each file in both folders; the second is for files that are not complete yet.
    let destination = root.string("destination")?.unwrap_or_default();
    let incomplete = root.string("incomplete-dir")?.or(root.string("incomplete_dir")?);
    let mut differ = Ok(());
    for folder in [Some(destination), incomplete].into_iter().flatten() {
        let places = Places { folder: to_path(folder), renamed: renamed.clone() };
        match places.differ(torrent, content) {
            None => return Ok(()),
            Some(result) => differ = differ.and(result),
        }
    }
    differ?;
    for key in [&b"destination"[..], b"incomplete-dir", b"incomplete_dir", b"files"] {
        items.remove(key);
    }
    Ok(())
}

pub(super) fn write(items: &mut Items, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<(), Error> {
    if torrent.info_hash_v1().is_none() {
        return Err(Error::NoV2);
    }
    let whole = |some: &Bitfield, bits: Vec<u8>| match some.count() {
        _ if some.is_complete() => Item::from("all"),
        0 => Item::from("none"),
        _ => bits.into(),
    };
    let bits = if have.is_complete() || have.count() == 0 { Vec::new() } else { block_bits(torrent, have)? };
    let mut progress = Item::dictionary();
    progress.insert("blocks", whole(have, bits));
    // The time of each file's last change, and the pieces that have been checked since. If the time differs,
    // Transmission checks the file's pieces again, each before it is sent for the first time. Version 3 prefers a list
    // `time-checked`, which it writes, and reads this list as older versions wrote it; version 4 reads this list.
    let changed = |file: usize| Item::from(content.changed_s(file).unwrap_or(0));
    progress.insert("mtimes", (0..torrent.file_count()).map(changed).collect::<Item>());
    progress.insert("pieces", whole(have, have.as_bytes().to_vec()));

    let fresh = items.is_empty();
    let mut set = |key: &str, value: Item| items.insert(key.as_bytes().to_vec(), value);
    set("progress", progress);
    if fresh {
        set("paused", 0.into());
        let last = content.last_changed_s().filter(|_| have.is_complete());
        set("done-date", last.unwrap_or(0).into());
    }
    if !items.contains_key(&b"destination"[..]) {
        let (folder, renamed) = placed(torrent, content)?;
        items.insert(b"destination".to_vec(), folder.into());
        if let (Some(renamed), Some(name)) = (renamed, content.path().file_name()) {
            items.insert(b"files".to_vec(), Item::List(renamed));
            items.insert(b"name".to_vec(), path_bytes(Path::new(name)).into());
        }
    }
    Ok(())
}

fn block_bits(torrent: &Torrent, have: &Bitfield) -> Result<Vec<u8>, Error> {
    let block_nbytes = block_nbytes(torrent)?;
    let mut bits = vec![0u8; torrent.total_nbytes().div_ceil(block_nbytes).div_ceil(8) as usize];
    for piece in have.ones() {
        blocks(torrent, piece, block_nbytes).for_each(|block| bits[(block / 8) as usize] |= 0x80 >> (block % 8));
    }
    Ok(bits)
}
