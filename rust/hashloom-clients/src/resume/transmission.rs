// SPDX-License-Identifier: MIT OR Apache-2.0

//! Transmission's resume file, as `resume.c` of 3.00 and `resume.cc` of 4.1 read it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hashloom_files::paths::to_path;
use hashloom_torrent::bencode::{Item, Kind, Value};
use hashloom_torrent::inside::TRANSMISSION;
use hashloom_torrent::{Bitfield, Torrent};

use super::places::{self, Versions, path_bytes, placed};
use super::{Error, Items, Keys, expect_length};
use crate::Content;

const BLOCK_NBYTES: u64 = 16 << 10;

/// Length of a block if all versions agree on it. Version 3 halves the piece until it is at most 16 KiB; version 4
/// counts 16 KiB from the start of the content, whatever the pieces.
fn block_nbytes(torrent: &Torrent) -> Result<u64, Error> {
    let piece_nbytes = torrent.piece_nbytes();
    if piece_nbytes.is_power_of_two() && piece_nbytes >= BLOCK_NBYTES {
        Ok(BLOCK_NBYTES)
    } else {
        Err(Error::BlockLength { piece_nbytes })
    }
}

/// The blocks that a resume file claims.
enum Blocks<'a> {
    All,
    None,
    /// A bit for each, of this key. Transmission 4 ends them after the last bit that is set: those that are missing are
    /// zeros.
    Bits(&'static str, Value<'a>, &'a [u8]),
}

/// The blocks that are there: `blocks`, or of old versions `have` for a whole torrent, else `bitfield`. All versions
/// look for them in this order, but 4.1, which leaves `have` out.
fn blocks_of<'a>(progress: &Keys<'a>) -> Result<Blocks<'a>, Error> {
    let bits = |value: Value<'a>| value.string().unwrap_or_default();
    if let Some(value) = progress.get("blocks", Kind::String)? {
        return Ok(match bits(value) {
            b"all" => Blocks::All,
            b"none" => Blocks::None,
            bits => Blocks::Bits("blocks", value, bits),
        });
    }
    Ok(match progress.get("bitfield", Kind::String)? {
        _ if progress.string("have")? == Some(b"all") => Blocks::All,
        Some(value) => Blocks::Bits("bitfield", value, bits(value)),
        None => Blocks::None,
    })
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
        if let Some(list) = progress.get(key, Kind::List)?.filter(|list| !is_without_empty(*list, torrent)) {
            expect_length(key, list, torrent.file_count() as u64, length(list, torrent))?;
        }
    }
    if let (Blocks::Bits(key, value, bits), Ok(block_nbytes)) = (blocks_of(&progress)?, block_nbytes(torrent)) {
        let most = torrent.total_nbytes().div_ceil(block_nbytes).div_ceil(8);
        if bits.len() as u64 > most {
            expect_length(key, value, most, bits.len())?;
        }
    }
    Ok(())
}

/// The length of a list; the count stops as soon as there are too many items for this torrent.
fn length(list: Value<'_>, torrent: &Torrent) -> usize {
    list.items().take(torrent.file_count() + 1).count()
}

/// The files that are not empty.
fn not_empty(torrent: &Torrent) -> impl Iterator<Item = usize> {
    torrent.files().filter(|file| file.nbytes > 0).map(|file| file.index)
}

/// Transmission 4.0 leaves empty files out of its lists.
fn is_without_empty(list: Value<'_>, torrent: &Torrent) -> bool {
    let found = length(list, torrent);
    found != torrent.file_count() && found == not_empty(torrent).count()
}

/// Whether an old file is one of Transmission 4.0, which leaves empty files out.
fn leaves_empty_out(root: &Keys<'_>, torrent: &Torrent) -> Result<bool, Error> {
    let mut lists = vec![root.get("files", Kind::List)?, root.get("dnd", Kind::List)?];
    if let Some(progress) = progress(root)? {
        lists.push(progress.get("mtimes", Kind::List)?);
    }
    Ok(lists.into_iter().flatten().any(|list| is_without_empty(list, torrent)))
}

/// The files that the client has renamed.
pub(super) fn renamed(root: &Keys<'_>, torrent: &Torrent) -> Result<BTreeMap<usize, PathBuf>, Error> {
    let Some(list) = root.get("files", Kind::List)? else { return Ok(BTreeMap::new()) };
    let renamed = places::renamed(list.items().take(torrent.file_count()));
    Ok(if is_without_empty(list, torrent) {
        not_empty(torrent).enumerate().filter_map(|(at, file)| Some((file, renamed.get(&at)?.clone()))).collect()
    } else {
        renamed
    })
}

/// Reads one bit for each block: a piece is there if all its blocks are.
pub(super) fn have(root: &Keys<'_>, torrent: &Torrent) -> Result<Bitfield, Error> {
    let count = torrent.piece_count();
    let Some(progress) = progress(root)? else { return Ok(Bitfield::none(count)) };
    let bits = match blocks_of(&progress)? {
        Blocks::All => return Ok(Bitfield::all(count)),
        Blocks::None => return Ok(Bitfield::none(count)),
        Blocks::Bits(_, _, bits) => bits,
    };
    let block_nbytes = block_nbytes(torrent)?;
    let mut have = Bitfield::none(count);
    for piece in 0..count {
        let is_set = |block: u64| bits.get((block / 8) as usize).is_some_and(|byte| byte & 0x80 >> (block % 8) != 0);
        have.set(piece, blocks(torrent, piece, block_nbytes).all(is_set));
    }
    Ok(have)
}

fn blocks(torrent: &Torrent, piece: usize, block_nbytes: u64) -> std::ops::Range<u64> {
    let range = torrent.piece_range(piece);
    range.start / block_nbytes..range.end.div_ceil(block_nbytes)
}

/// The second folder in which the client looks for files, for as long as some are not complete. Version 4.1 spells its
/// key in another way.
pub(super) fn incomplete<'a>(root: &Keys<'a>) -> Result<Option<&'a [u8]>, Error> {
    Ok(root.string("incomplete-dir")?.or(root.string("incomplete_dir")?).filter(|folder| !folder.is_empty()))
}

/// Removes from `items` the values of an old file that must not be kept. Returns whether the lists leave empty files
/// out.
pub(super) fn keep(root: &Keys<'_>, items: &mut Items, torrent: &Torrent, content: &Content) -> Result<bool, Error> {
    let (renamed, versions) = (renamed(root, torrent)?, Versions::new(&TRANSMISSION, torrent));
    // Transmission looks for each file in both folders.
    let destination = root.string("destination")?.unwrap_or_default();
    let mut folders = [Some(destination), incomplete(root)?].into_iter().flatten();
    if !folders.any(|folder| places::agree(&to_path(folder), &renamed, &versions, torrent, content)) {
        for key in [&b"destination"[..], b"incomplete-dir", b"incomplete_dir", b"files"] {
            items.remove(key);
        }
    }
    leaves_empty_out(root, torrent)
}

/// Sets the values that the check has found. `without_empty` says that the lists leave empty files out.
pub(super) fn write(
    items: &mut Items,
    torrent: &Torrent,
    have: &Bitfield,
    content: &Content,
    without_empty: bool,
) -> Result<(), Error> {
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
    let listed: Vec<usize> =
        if without_empty { not_empty(torrent).collect() } else { (0..torrent.file_count()).collect() };
    let changed = |&file: &usize| Item::from(content.changed_s(file).unwrap_or(0));
    progress.insert("mtimes", listed.iter().map(changed).collect::<Item>());
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
        let (folder, renamed) = placed(&Versions::new(&TRANSMISSION, torrent), torrent, content)?;
        if let (Some(path), Some(folder)) = (content.outside(torrent), content.client_folder()) {
            return Err(Error::Elsewhere { path, folder });
        }
        items.insert(b"destination".to_vec(), folder.into());
        if let Some(renamed) = renamed {
            items.insert(b"files".to_vec(), listed.iter().map(|&file| renamed[file].clone()).collect::<Item>());
        }
        if let Some(name) = content.path().file_name().filter(|name| **name != *to_path(torrent.name())) {
            items.insert(b"name".to_vec(), path_bytes(name.as_ref()).into());
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
