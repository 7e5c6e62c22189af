// SPDX-License-Identifier: MIT OR Apache-2.0

//! libtorrent's resume file, as its `write_resume_data` and `read_resume_data` define it, and qBittorrent's keys in it,
//! which begin with `qBt-`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use hashloom_files::merkle::{self, BLOCK_NBYTES, NODE_NBYTES};
use hashloom_files::paths::to_path;
use hashloom_torrent::bencode::{Item, Kind, Value};
use hashloom_torrent::inside::LIBTORRENT;
use hashloom_torrent::{Bitfield, File, Torrent, Version};

use super::places::{self, Versions, placed};
use super::{Error, Items, Keys, expect_length};
use crate::Content;

pub(super) const FORMAT: &[u8] = b"libtorrent resume file";

pub(super) fn check(root: &Keys<'_>, torrent: &Torrent) -> Result<(), Error> {
    if let Some(version) = root.get("file-version", Kind::Integer)?.filter(|version| version.integer() != Some(1)) {
        let found = version.digits().unwrap_or_default().to_vec();
        return Err(Error::Version { found, offset: version.span().start });
    }
    let (v1, v2) = (torrent.info_hash_v1(), torrent.info_hash_v2());
    let (v1, v2) = (v1.unwrap_or([0; 20]), v2.unwrap_or([0; 32]));
    for (key, expected) in [("info-hash", &v1[..]), ("info-hash2", &v2)] {
        let Some(value) = root.get(key, Kind::String)? else { continue };
        let found = value.string().unwrap_or_default();
        // qBittorrent writes zeros for a hash that a torrent lacks. Other clients leave the string empty.
        if found != expected && !found.is_empty() {
            let (offset, expected, found) = (value.span().start, expected.to_vec(), found.to_vec());
            return Err(Error::OtherTorrent { key, offset, expected, found });
        }
    }
    Ok(())
}

/// Reads one byte for each piece: bit 0, it is there; bit 1, it was checked since the torrent was added as a seed.
pub(super) fn have(root: &Keys<'_>, torrent: &Torrent) -> Result<Bitfield, Error> {
    let count = torrent.piece_count();
    let Some(value) = root.get("pieces", Kind::String)? else {
        // A torrent added as a seed has all pieces until one turns out wrong; any other torrent is not checked yet.
        let seed = root.integer("seed_mode")?.is_some_and(|mode| mode != 0);
        return Ok(if seed { Bitfield::all(count) } else { Bitfield::none(count) });
    };
    let pieces = value.string().unwrap_or_default();
    expect_length("pieces", value, count as u64, pieces.len())?;
    let mut have = Bitfield::none(count);
    let there = pieces.iter().enumerate().filter(|(_, byte)| **byte & 1 != 0);
    there.for_each(|(piece, _)| have.set(piece, true));
    Ok(have)
}

/// Whether libtorrent has a padding file after a file: its list of a v2 torrent's files has padding, like that of a
/// hybrid.
fn has_padding_after(torrent: &Torrent, file: usize) -> bool {
    torrent.version() == Version::V2 && torrent.file(file).nbytes % torrent.piece_nbytes() != 0
}

/// The layers of the files that have none in the torrent. `trees` has for each file, padding included, the nodes of the
/// file's hash tree that libtorrent knows, from the root on level by level, and a character a node that tells which
/// these are: none if it knows all.
pub(super) fn layers(root: &Keys<'_>, torrent: &Torrent) -> Result<Vec<(usize, Vec<u8>)>, Error> {
    let mut layers = Vec::new();
    for (file, tree) in by_file(root.get("trees", Kind::List)?, torrent).enumerate() {
        if torrent.unlayered().binary_search_by_key(&file, |(of, _)| *of).is_ok() {
            let string = |key: &[u8]| tree.get(key).and_then(|value| value.string()).unwrap_or_default();
            layers.extend(layer(torrent, file, string(b"hashes"), string(b"mask")).map(|layer| (file, layer)));
        }
    }
    Ok(layers)
}

/// The piece layer among the nodes of a file's tree, or as the blocks give it; `None` if neither is there.
fn layer(torrent: &Torrent, file: usize, hashes: &[u8], mask: &[u8]) -> Option<Vec<u8>> {
    let nbytes = torrent.file(file).nbytes;
    let (nblocks, npieces) = (nbytes.div_ceil(BLOCK_NBYTES) as usize, nbytes.div_ceil(torrent.piece_nbytes()) as usize);
    let level = |count: usize| count.next_power_of_two() - 1..count.next_power_of_two() - 1 + count;
    let is_known = |node: usize| mask.is_empty() || mask.get(node) == Some(&b'1');
    let nodes = |of: Range<usize>| {
        // The nodes of a level lie together, if all are known.
        let before = (0..of.start).filter(|&node| is_known(node)).count() * NODE_NBYTES;
        let found = hashes.get(before..before + of.len() * NODE_NBYTES);
        found.filter(|_| of.clone().all(is_known))
    };
    if let Some(layer) = nodes(level(npieces)) {
        return Some(layer.to_vec());
    }
    let blocks = nodes(level(nblocks))?;
    let levels = merkle::height(torrent.piece_nbytes());
    let pieces = blocks.chunks(NODE_NBYTES << levels);
    Some(pieces.flat_map(|piece| merkle::root(&mut piece.to_vec(), levels, [0; NODE_NBYTES])).collect())
}

/// The entries of a list that libtorrent has of all files, by our number of the file.
fn by_file<'a>(list: Option<Value<'a>>, torrent: &Torrent) -> impl Iterator<Item = Value<'a>> {
    let mut entries = list.into_iter().flat_map(|list| list.items());
    (0..torrent.file_count()).map_while(move |file| {
        let entry = entries.next();
        if has_padding_after(torrent, file) {
            entries.next();
        }
        entry
    })
}

/// The files that the client has renamed.
pub(super) fn renamed(root: &Keys<'_>, torrent: &Torrent) -> Result<BTreeMap<usize, PathBuf>, Error> {
    Ok(places::renamed(by_file(root.get("mapped_files", Kind::List)?, torrent)))
}

/// The files that the client is told not to download: those of priority 0.
pub(super) fn unwanted(root: &Keys<'_>, torrent: &Torrent) -> Result<BTreeSet<usize>, Error> {
    let priorities = by_file(root.get("file_priority", Kind::List)?, torrent).enumerate();
    Ok(priorities.filter(|(_, priority)| priority.integer() == Some(0)).map(|(file, _)| file).collect())
}

/// Removes from `items` the values of an old file that must not be kept.
pub(super) fn keep(root: &Keys<'_>, items: &mut Items, torrent: &Torrent, content: &Content) -> Result<(), Error> {
    // The blocks of unfinished pieces, by number and bitmask.
    items.remove(&b"unfinished"[..]);
    let folder = to_path(root.string("save_path")?.unwrap_or_default());
    let (renamed, versions) = (renamed(root, torrent)?, Versions::new(&LIBTORRENT, torrent));
    if !places::agree(&folder, &renamed, &versions, torrent, content) {
        items.remove(&b"save_path"[..]);
        items.remove(&b"mapped_files"[..]);
        // qBittorrent moves the content to these folders when it starts: so no folder is named.
        items.remove(&b"qBt-savePath"[..]);
        items.remove(&b"qBt-downloadPath"[..]);
    }
    Ok(())
}

pub(super) fn write(items: &mut Items, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<(), Error> {
    let fresh = items.is_empty();
    let complete = have.is_complete();
    let is_gone =
        |file: &File<'_>| file.nbytes == 0 && !file.attributes.symlink && content.nbytes(file.index).is_none();
    let gone = torrent.files_without_padding().find(|file| is_gone(file) && !content.is_unwanted(file.index));
    if let Some(file) = gone.filter(|_| complete) {
        return Err(Error::EmptyMissing { path: content.file_path(torrent, file.index) });
    }
    let mut set = |key: &str, value: Item| items.insert(key.as_bytes().to_vec(), value);
    if fresh {
        set("file-format", FORMAT.into());
        set("file-version", 1.into());
        set("name", torrent.name().into());
        // A missing flag is off, but these are on for a torrent that is added.
        set("apply_ip_filter", 1.into());
        set("auto_managed", 1.into());
    }
    if let Some(hash) = torrent.info_hash_v1() {
        set("info-hash", hash[..].into());
    }
    if let Some(hash) = torrent.info_hash_v2() {
        set("info-hash2", hash[..].into());
    }
    let pieces: Vec<u8> = (0..have.len()).map(|piece| u8::from(have.get(piece))).collect();
    set("pieces", pieces.into());
    // Seed mode would claim all pieces.
    set("seed_mode", 0.into());
    let last = content.last_changed_s().filter(|_| complete).unwrap_or(0);
    if fresh {
        // qBittorrent would otherwise take it for a torrent without a folder of its own.
        set("qBt-contentLayout", "Original".into());
    }
    if !complete || fresh {
        set("completed_time", last.into());
        // Whether qBittorrent has done its work for a finished download: moved it, reported it.
        set("qBt-seedStatus", i64::from(complete).into());
    }
    if !items.contains_key(&b"save_path"[..]) {
        let (folder, renamed) = placed(&Versions::new(&LIBTORRENT, torrent), torrent, content)?;
        let qbittorrent = fresh || items.keys().any(|key| key.starts_with(b"qBt-"));
        // If this key is missing, the folder is that of the category, and qBittorrent moves the content there.
        if qbittorrent {
            items.insert(b"qBt-savePath".to_vec(), folder.clone().into());
        }
        items.insert(b"save_path".to_vec(), folder.into());
        if let Some(renamed) = renamed {
            let mut mapped = Vec::new();
            for (file, path) in renamed.into_iter().enumerate() {
                mapped.push(path);
                if has_padding_after(torrent, file) {
                    mapped.push("".into());
                }
            }
            items.insert(b"mapped_files".to_vec(), Item::List(mapped));
        }
    }
    Ok(())
}
