// SPDX-License-Identifier: MIT OR Apache-2.0

//! The common parts of the torrent tests: a writer of bencode and a maker of torrents, independent of the crate.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha1::{Digest, Sha1};

/// A bencode value. The keys of a dictionary are written in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bencode {
    Integer(i64),
    Bytes(Vec<u8>),
    List(Vec<Bencode>),
    Dictionary(Vec<(Vec<u8>, Bencode)>),
}

pub fn int(value: u64) -> Bencode {
    Bencode::Integer(value as i64)
}

pub fn text(value: impl AsRef<[u8]>) -> Bencode {
    Bencode::Bytes(value.as_ref().to_vec())
}

pub fn list(items: impl IntoIterator<Item = Bencode>) -> Bencode {
    Bencode::List(items.into_iter().collect())
}

/// A dictionary with sorted keys.
pub fn dictionary<'a>(entries: impl IntoIterator<Item = (&'a str, Bencode)>) -> Bencode {
    let sorted: BTreeMap<_, _> = entries.into_iter().collect();
    Bencode::Dictionary(sorted.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value)).collect())
}

impl Bencode {
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_to(&mut out);
        out
    }

    fn write_to(&self, out: &mut Vec<u8>) {
        let bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend_from_slice(format!("{}:", bytes.len()).as_bytes());
            out.extend_from_slice(bytes);
        };
        match self {
            Bencode::Integer(value) => out.extend_from_slice(format!("i{value}e").as_bytes()),
            Bencode::Bytes(value) => bytes(out, value),
            Bencode::List(items) => {
                out.push(b'l');
                items.iter().for_each(|item| item.write_to(out));
                out.push(b'e');
            }
            Bencode::Dictionary(entries) => {
                out.push(b'd');
                for (key, value) in entries {
                    bytes(out, key);
                    value.write_to(out);
                }
                out.push(b'e');
            }
        }
    }
}

pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
}

/// A file of a torrent to be made.
#[derive(Debug, Clone)]
pub struct Content {
    /// The path, its components joined by `/`.
    pub path: String,
    pub bytes: Vec<u8>,
    /// Whether this is a padding file: `bytes` are zeros, and the file is not written to disk.
    pub padding: bool,
}

pub fn content(path: &str, bytes: impl Into<Vec<u8>>) -> Content {
    Content { path: path.to_owned(), bytes: bytes.into(), padding: false }
}

pub fn padding(nbytes: usize) -> Content {
    Content { path: format!(".pad/{nbytes}"), bytes: vec![0; nbytes], padding: true }
}

pub fn pieces(files: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let whole: Vec<u8> = files.iter().flat_map(|file| file.bytes.iter().copied()).collect();
    whole.chunks(piece_nbytes).flat_map(sha1).collect()
}

/// The list `files` of v1.
pub fn file_list(files: &[Content]) -> Bencode {
    let entry = |file: &Content| {
        let mut keys = vec![("length", int(file.bytes.len() as u64)), ("path", list(file.path.split('/').map(text)))];
        if file.padding {
            keys.push(("attr", text("p")));
        }
        dictionary(keys)
    };
    list(files.iter().map(entry))
}

/// A torrent of several files, in the order given.
pub fn folder_torrent(name: &str, files: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let info = dictionary([
        ("name", text(name)),
        ("piece length", int(piece_nbytes as u64)),
        ("pieces", text(pieces(files, piece_nbytes))),
        ("files", file_list(files)),
    ]);
    dictionary([("info", info)]).write()
}

/// A torrent of one file.
pub fn file_torrent(name: &str, bytes: &[u8], piece_nbytes: usize) -> Vec<u8> {
    let digests: Vec<u8> = bytes.chunks(piece_nbytes).flat_map(sha1).collect();
    raw_file_torrent(name, bytes.len() as u64, piece_nbytes as u64, digests)
}

/// A torrent of one file with the given digests.
pub fn raw_file_torrent(name: &str, nbytes: u64, piece_nbytes: u64, digests: Vec<u8>) -> Vec<u8> {
    let info = dictionary([
        ("name", text(name)),
        ("piece length", int(piece_nbytes)),
        ("pieces", Bencode::Bytes(digests)),
        ("length", int(nbytes)),
    ]);
    dictionary([("info", info)]).write()
}

/// Writes the files, without padding, below `folder`.
pub fn write_files(folder: &Path, files: &[Content]) {
    for file in files.iter().filter(|file| !file.padding) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.bytes).unwrap();
    }
}

/// Bytes that look random and are the same each time.
pub fn noise(nbytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..nbytes).map(|_| next()).collect()
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

/// The root over 2^`levels` leaves, the digests of blocks of 16 KiB of `bytes`, the rest zeros: BEP 52 word by word.
pub fn merkle_root(bytes: &[u8], levels: u32) -> [u8; 32] {
    let mut nodes: Vec<[u8; 32]> = bytes.chunks(16384).map(sha256).collect();
    nodes.resize(1 << levels, [0; 32]);
    while nodes.len() > 1 {
        nodes = nodes.chunks(2).map(|pair| sha256(&pair.concat())).collect();
    }
    nodes[0]
}

fn levels(nbytes: usize) -> u32 {
    nbytes.div_ceil(16384).next_power_of_two().trailing_zeros()
}

/// The `pieces root` of a file that is not empty.
pub fn pieces_root(bytes: &[u8]) -> [u8; 32] {
    merkle_root(bytes, levels(bytes.len()))
}

/// The layer of a file that is longer than a piece.
pub fn layer(bytes: &[u8], piece_nbytes: usize) -> Vec<u8> {
    bytes.chunks(piece_nbytes).flat_map(|piece| merkle_root(piece, levels(piece_nbytes))).collect()
}

/// A file of a tree: the value of its empty key.
pub fn leaf(bytes: &[u8]) -> Bencode {
    let mut keys = vec![("length", int(bytes.len() as u64))];
    if !bytes.is_empty() {
        keys.push(("pieces root", text(pieces_root(bytes))));
    }
    dictionary([("", dictionary(keys))])
}

/// Puts `leaf` into a tree at `path`, keys sorted.
pub fn plant(tree: &mut Bencode, path: &str, leaf: Bencode) {
    let Bencode::Dictionary(entries) = tree else { panic!("a file is a folder: {path}") };
    let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let at = entries.binary_search_by(|(key, _)| key.as_slice().cmp(first.as_bytes()));
    let at = at.unwrap_or_else(|at| {
        entries.insert(at, (first.as_bytes().to_vec(), Bencode::Dictionary(Vec::new())));
        at
    });
    match rest {
        Some(rest) => plant(&mut entries[at].1, rest, leaf),
        None => entries[at].1 = leaf,
    }
}

pub fn tree(files: &[Content]) -> Bencode {
    let mut tree = Bencode::Dictionary(Vec::new());
    files.iter().filter(|file| !file.padding).for_each(|file| plant(&mut tree, &file.path, leaf(&file.bytes)));
    tree
}

pub fn layers(files: &[Content], piece_nbytes: usize) -> Bencode {
    let long = files.iter().filter(|file| !file.padding && file.bytes.len() > piece_nbytes);
    let layers: BTreeMap<_, _> =
        long.map(|file| (pieces_root(&file.bytes).to_vec(), text(layer(&file.bytes, piece_nbytes)))).collect();
    Bencode::Dictionary(layers.into_iter().collect())
}

/// The keys of a v2 torrent: those of `info`, and `piece layers`.
pub fn v2_info(name: &str, files: &[Content], piece_nbytes: usize) -> Vec<(&'static str, Bencode)> {
    vec![
        ("name", text(name)),
        ("piece length", int(piece_nbytes as u64)),
        ("meta version", int(2)),
        ("file tree", tree(files)),
    ]
}

/// A v2 torrent. Its files come in the order of the tree.
pub fn v2_torrent(name: &str, files: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let info = dictionary(v2_info(name, files, piece_nbytes));
    dictionary([("info", info), ("piece layers", layers(files, piece_nbytes))]).write()
}

/// The files in the order of a tree, with padding so that each file that is not empty begins at a piece.
pub fn padded(files: &[Content], piece_nbytes: usize) -> Vec<Content> {
    let mut sorted = files.to_vec();
    sorted.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    let mut out = Vec::new();
    let mut end: usize = 0;
    for file in sorted {
        let gap = end.next_multiple_of(piece_nbytes) - end;
        if !file.bytes.is_empty() && gap > 0 {
            out.push(padding(gap));
            end += gap;
        }
        end += file.bytes.len();
        out.push(file);
    }
    out
}

/// A hybrid torrent, its files sorted and padded.
pub fn hybrid_torrent(name: &str, files: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let mut info = v2_info(name, files, piece_nbytes);
    let v1 = padded(files, piece_nbytes);
    info.push(("pieces", text(pieces(&v1, piece_nbytes))));
    info.push(("files", file_list(&v1)));
    dictionary([("info", dictionary(info)), ("piece layers", layers(files, piece_nbytes))]).write()
}

/// The version of a torrent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
    Hybrid,
}

pub const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// A torrent, and its files in the torrent's order. If the only file's path is the name, the torrent is a single-file
/// torrent.
pub fn torrent(version: Version, name: &str, files: &[Content], piece_nbytes: usize) -> (Vec<u8>, Vec<Content>) {
    let single = matches!(files, [file] if file.path == name);
    let ours = match version {
        Version::V1 => files.to_vec(),
        Version::V2 => padded(files, piece_nbytes).into_iter().filter(|file| !file.padding).collect(),
        Version::Hybrid => padded(&real(files), piece_nbytes),
    };
    let bytes = match version {
        Version::V1 if single => file_torrent(name, &files[0].bytes, piece_nbytes),
        Version::V1 => folder_torrent(name, files, piece_nbytes),
        Version::V2 => v2_torrent(name, files, piece_nbytes),
        Version::Hybrid if single => {
            let mut info = v2_info(name, files, piece_nbytes);
            info.push(("pieces", text(pieces(files, piece_nbytes))));
            info.push(("length", int(files[0].bytes.len() as u64)));
            dictionary([("info", dictionary(info)), ("piece layers", layers(files, piece_nbytes))]).write()
        }
        Version::Hybrid => hybrid_torrent(name, &real(files), piece_nbytes),
    };
    (bytes, ours)
}

/// The files that are not padding.
fn real(files: &[Content]) -> Vec<Content> {
    files.iter().filter(|file| !file.padding).cloned().collect()
}

/// A part of a piece: the file's index, and the range of its bytes.
pub type Part = (usize, std::ops::Range<usize>);

/// The parts of each piece: pieces span all files end to end, but in a v2 torrent only one file.
pub fn parts(version: Version, files: &[Content], piece_nbytes: usize) -> Vec<Vec<Part>> {
    let mut pieces: Vec<Vec<Part>> = Vec::new();
    let mut left = 0;
    for (index, file) in files.iter().enumerate() {
        if version == Version::V2 {
            left = 0;
        }
        let mut pos = 0;
        while pos < file.bytes.len() {
            if left == 0 {
                pieces.push(Vec::new());
                left = piece_nbytes;
            }
            let nbytes = left.min(file.bytes.len() - pos);
            pieces.last_mut().unwrap().push((index, pos..pos + nbytes));
            pos += nbytes;
            left -= nbytes;
        }
    }
    pieces
}
