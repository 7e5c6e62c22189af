// SPDX-License-Identifier: MIT OR Apache-2.0

//! A torrent's metainfo (BEP 3, 47, 52), checked while it is read: any torrent accepted here can be verified.

use std::ops::Range;

use hashloom::Algorithm;
use hashloom_files::merkle;
use hashloom_files::paths::name::check_component;
use hashloom_files::pieces::layout::{Layout, Spans};

use super::error::{Error, Problem};
use super::layers::Layers;
use super::metadata::Metadata;
use super::reader::{A_LENGTH, Reader, at, expect, integer, missing, required, wrong_kind};
use super::tree::Tree;
use super::{Attributes, MAX_PIECE_NBYTES, NoteKind, Torrent, Version};
use crate::bencode::{self, Kind, Limits, Value};

/// Number of bytes of a digest in `pieces`.
const DIGEST_NBYTES: usize = 20;

/// Bytes that the paths and roots of a small v2 torrent may take, though the torrent itself is short: many files can
/// share a folder's name or a layer. A larger torrent may take 8 times its length; no torrent with contents of its own
/// comes near that.
const MOST_EXPANSION_NBYTES: u64 = 16 << 20;

/// Reads a torrent, and returns the place of its digests in `bytes` too. The torrent comes without them, so that the
/// caller can leave them in place or copy them: they are most of a torrent.
pub(super) fn parse(bytes: &[u8]) -> Result<(Torrent, Range<usize>), Error> {
    parse_document(&parse_bencode(bytes)?, bytes.len())
}

/// Parses the bencode of a torrent.
pub fn parse_bencode<'a>(bytes: &'a [u8]) -> Result<bencode::Document<'a>, Error> {
    bencode::parse(bytes, &Limits::default()).map_err(|error| Error {
        offset: error.offset,
        key: error.key.clone(),
        problem: Problem::Bencode(error),
    })
}

/// Reads a torrent of parsed bencode, and returns the place of its digests too. `nbytes`: the bytes of the whole input.
pub fn parse_document(document: &bencode::Document<'_>, nbytes: usize) -> Result<(Torrent, Range<usize>), Error> {
    let reader = Reader::new(document.notes(), document.note_count());
    let root = document.root();
    expect(root, Kind::Dictionary, "")?;
    reader.torrent(root, MOST_EXPANSION_NBYTES.max(8 * nbytes as u64))
}

impl Reader {
    fn torrent(mut self, root: Value<'_>, most_nbytes: u64) -> Result<(Torrent, Range<usize>), Error> {
        let [info, layers] = self.keys(root, "", [b"info", b"piece layers"]);
        let info = required(info, Kind::Dictionary, "info", "a dictionary that describes the files", root)?;
        let [version, name, name_utf8, piece_length, pieces, length, files, tree] = self.keys(
            info,
            "info",
            [b"meta version", b"name", b"name.utf-8", b"piece length", b"pieces", b"length", b"files", b"file tree"],
        );
        let version = version_of(version, tree, pieces.is_some())?;
        if version == Version::V1 && tree.is_some() {
            self.add_note("info.file tree", NoteKind::TreeOfV1);
        }

        let name = name_of(name, name_utf8, info)?;
        let piece_nbytes = piece_length_of(piece_length, info, version)?;

        let (layout, digests) = if version == Version::V2 {
            for (key, value) in [("info.length", length), ("info.files", files)] {
                if value.is_some() {
                    self.add_note(key, NoteKind::NoPieces);
                }
            }
            (None, 0..0)
        } else {
            let (layout, digests) = self.v1_pieces(info, name, piece_nbytes, pieces, length, files)?;
            (Some(layout), digests)
        };
        let mut single_file = files.is_none();
        if version != Version::V1 {
            let tree = required(tree, Kind::Dictionary, "info.file tree", "a dictionary of the files", info)?;
            self.v2_files(root, layers, tree, piece_nbytes, most_nbytes, layout.as_ref())?;
            if version == Version::V2 {
                single_file = self.names.len() == 1 && self.names.path(0) == name && tree.entries().nth(1).is_none();
            }
        }
        let layout = layout.unwrap_or_else(|| Layout::new(piece_nbytes, std::mem::take(&mut self.spans)));
        let metadata = Metadata::read(&mut self, root, info);
        let torrent = Torrent {
            info_hash_v1: (version != Version::V2).then(|| super::digest(Algorithm::Sha1, info.raw())),
            info_hash_v2: (version != Version::V1).then(|| super::digest(Algorithm::Sha256, info.raw())),
            name: name.into(),
            layout: layout.into(),
            digests: Default::default(),
            roots: self.roots,
            single_file,
            names: self.names,
            metadata,
            notes: self.notes,
            note_count: self.note_count,
        };
        Ok((torrent, digests))
    }

    /// Reads the files of v1 and the digests of their pieces, which must be as many as the pieces are. Returns how the
    /// files lie in the pieces, and the place of the digests.
    fn v1_pieces(
        &mut self,
        info: Value<'_>,
        name: &[u8],
        piece_nbytes: u64,
        pieces: Option<Value<'_>>,
        length: Option<Value<'_>>,
        files: Option<Value<'_>>,
    ) -> Result<(Layout, Range<usize>), Error> {
        if let Some(root) = info.get(b"root hash").filter(|_| pieces.is_none()) {
            return Err(at(root, "info.root hash", Problem::MerkleV1));
        }
        let pieces =
            required(pieces, Kind::String, "info.pieces", "a string: a 20-byte SHA-1 digest for each piece", info)?;
        let nbytes = pieces.string().unwrap_or_default().len();
        if nbytes % DIGEST_NBYTES != 0 {
            return Err(at(pieces, "info.pieces", Problem::PiecesNotWhole { nbytes }));
        }
        self.v1_files(info, name, length, files)?;
        let layout = Layout::new(piece_nbytes, std::mem::take(&mut self.spans));
        let found = (nbytes / DIGEST_NBYTES) as u64;
        if found != layout.piece_count() {
            let (expected, total_nbytes) = (layout.piece_count(), layout.total_nbytes());
            let problem = Problem::PieceCount { expected, found, total_nbytes, piece_nbytes };
            return Err(at(pieces, "info.pieces", problem));
        }
        let end = pieces.span().end;
        Ok((layout, end - nbytes..end))
    }

    /// Reads the files of v2 with the layers of their pieces. `v1`: how the files lie in the other half of a hybrid
    /// torrent.
    fn v2_files(
        &mut self,
        root: Value<'_>,
        layers: Option<Value<'_>>,
        tree: Value<'_>,
        piece_nbytes: u64,
        most_nbytes: u64,
        v1: Option<&Layout>,
    ) -> Result<(), Error> {
        let has_layers = layers.is_some();
        let mut layers = Layers::find(root, layers, piece_nbytes)?;
        self.spans = Spans::aligned(piece_nbytes);
        let reading = Tree { layers: &mut layers, piece_nbytes, most_nbytes, v1, next: 0, empty: Vec::new(), end: 0 };
        reading.read(self, tree)?;
        if !self.roots.unlayered().is_empty() {
            self.add_note("piece layers", NoteKind::LayersMissing);
        } else if !has_layers {
            self.add_note("piece layers", NoteKind::NoLayers);
        }
        if layers.unused() > 0 {
            self.add_note("piece layers", NoteKind::UnusedLayers { count: layers.unused() });
        }
        Ok(())
    }

    /// Reads the files of v1.
    fn v1_files(
        &mut self,
        info: Value<'_>,
        name: &[u8],
        length: Option<Value<'_>>,
        files: Option<Value<'_>>,
    ) -> Result<(), Error> {
        if let Some(files) = files {
            if length.is_some() {
                self.add_note("info.length", NoteKind::LengthBesideFiles);
            }
            self.file_list(expect(files, Kind::List, "info.files")?)?;
            return check_distinct(self, files);
        }
        let Some(length) = length else {
            return Err(at(
                info,
                "info.length (or info.files)",
                missing("an integer: the file's length (or a list of files)"),
            ));
        };
        let (attributes, target) = self.attributes(info, "info");
        self.names.push_component(name);
        self.target(target, "info.symlink path");
        self.file(attributes, Some(length), info, None)
    }

    fn file_list(&mut self, list: Value<'_>) -> Result<(), Error> {
        for (index, entry) in list.items().enumerate() {
            // The key is spelt out only for an error: a torrent can have a million files.
            let key = |name: &str| format!("info.files[{index}]{}{name}", if name.is_empty() { "" } else { "." });
            if entry.kind() != Kind::Dictionary {
                return Err(wrong_kind(entry, Kind::Dictionary, &key("")));
            }
            let [length, path, path_utf8] = self.keys(entry, "info.files", [b"length", b"path", b"path.utf-8"]);
            let (mut attributes, target) = self.attributes(entry, "info.files");
            let (path, name) = match path_utf8 {
                Some(value) if value.kind() == Kind::List => (Some(value), "path.utf-8"),
                _ => (path, "path"),
            };
            match path {
                // A padding file is never opened; not every program gives it a path.
                None if attributes.padding => {}
                None => return Err(at(entry, &key(name), missing("a list: the folders of the file, and its name"))),
                Some(path) if path.kind() != Kind::List => return Err(wrong_kind(path, Kind::List, &key(name))),
                Some(path) => self.path(path, attributes).map_err(|mut error| {
                    error.key = key(&format!("{name}{}", error.key));
                    error
                })?,
            }
            attributes.padding |= self.names.next_is_bitcomet_padding();
            self.target(target, "info.files");
            self.file(attributes, length, entry, Some(index))?;
        }
        if self.names.len() == 0 { Err(at(list, "info.files", Problem::NoFiles)) } else { Ok(()) }
    }

    /// Appends the components of a path to `names`. An error's key has only the component's index.
    fn path(&mut self, list: Value<'_>, attributes: Attributes) -> Result<(), Error> {
        for (index, item) in list.items().enumerate() {
            let Some(component) = item.string() else {
                return Err(wrong_kind(item, Kind::String, &format!("[{index}]")));
            };
            match check_component(component) {
                Err(why) if !attributes.padding => {
                    let components: Vec<&[u8]> = list.items().filter_map(|item| item.string()).take(100).collect();
                    let path = components.join(&b'/');
                    let problem = Problem::BadComponent { component: component.to_vec(), path, why };
                    return Err(at(item, &format!("[{index}]"), problem));
                }
                _ => {}
            }
            self.names.push_component(component);
        }
        if self.names.next_is_empty() && !attributes.padding { Err(at(list, "", Problem::EmptyPath)) } else { Ok(()) }
    }

    /// Adds a file whose path is in `names` already. `holder` is the dictionary with the file's keys, `index` its place
    /// in `files`.
    fn file(
        &mut self,
        attributes: Attributes,
        length: Option<Value<'_>>,
        holder: Value<'_>,
        index: Option<usize>,
    ) -> Result<(), Error> {
        // This is a closure, so that a torrent with a million files does not spell out the key a million times.
        let key = || match index {
            Some(index) => format!("info.files[{index}].length"),
            None => "info.length".to_owned(),
        };
        let nbytes = if attributes.symlink {
            // BEP 47: a symlink has no content of its own; libtorrent ignores a length given with it.
            0
        } else {
            let Some(value) = length else { return Err(at(holder, &key(), missing(A_LENGTH))) };
            let found = integer(value, key)?;
            let Ok(nbytes) = u64::try_from(found) else {
                return Err(at(value, &key(), Problem::NegativeLength { found }));
            };
            if self.spans.total_nbytes() + nbytes > i64::MAX as u64 {
                return Err(at(value, &key(), Problem::TotalOverflow));
            }
            nbytes
        };
        self.spans.push(nbytes, attributes.padding);
        self.names.push(attributes);
        Ok(())
    }
}

/// The version that `info` gives.
fn version_of(version: Option<Value<'_>>, tree: Option<Value<'_>>, has_pieces: bool) -> Result<Version, Error> {
    let key = "info.meta version";
    let Some(value) = version else {
        return match tree {
            // The torrent is meant as v2, and BEP 52 requires the version for that.
            Some(tree) if !has_pieces => {
                Err(at(tree, key, missing("the integer 2, as there is a file tree without pieces")))
            }
            _ => Ok(Version::V1),
        };
    };
    let digits = expect(value, Kind::Integer, key)?.digits().unwrap_or_default();
    match value.integer() {
        Some(1) => Ok(Version::V1),
        Some(2) if has_pieces => Ok(Version::Hybrid),
        Some(2) => Ok(Version::V2),
        _ => {
            let found = String::from_utf8_lossy(&digits[..digits.len().min(40)]).into_owned();
            Err(at(value, key, Problem::UnknownVersion { found }))
        }
    }
}

/// The name of the torrent's file or folder: one component of a path.
fn name_of<'a>(name: Option<Value<'a>>, name_utf8: Option<Value<'a>>, info: Value<'a>) -> Result<&'a [u8], Error> {
    let (name, key) = match name_utf8 {
        Some(value) if value.kind() == Kind::String => (Some(value), "info.name.utf-8"),
        _ => (name, "info.name"),
    };
    let value = required(name, Kind::String, key, "a string: the name of the file or folder", info)?;
    let name = value.string().unwrap_or_default();
    check_component(name).map_err(|why| Error {
        problem: Problem::BadComponent { component: name.to_vec(), path: name.to_vec(), why },
        key: key.to_owned(),
        offset: value.span().start,
    })?;
    Ok(name)
}

fn piece_length_of(value: Option<Value<'_>>, info: Value<'_>, version: Version) -> Result<u64, Error> {
    let key = "info.piece length";
    let value = required(value, Kind::Integer, key, "an integer: the number of bytes in a piece", info)?;
    let found = integer(value, || key.to_owned())?;
    let problem = match u64::try_from(found) {
        Err(_) | Ok(0) => Problem::PieceLengthNotPositive { found },
        Ok(nbytes) if nbytes > MAX_PIECE_NBYTES => Problem::PieceLengthTooLarge { found },
        Ok(nbytes) if version != Version::V1 && !(nbytes.is_power_of_two() && nbytes >= merkle::BLOCK_NBYTES) => {
            Problem::PieceLengthNotV2 { found }
        }
        Ok(nbytes) => return Ok(nbytes),
    };
    Err(at(value, key, problem))
}

/// Checks that no two files have one path and that no file lies in another: at most one of them could be whole on disk.
fn check_distinct(reader: &Reader, list: Value<'_>) -> Result<(), Error> {
    let Some((first, second)) = reader.names.overlap() else { return Ok(()) };
    let path = |index: usize| reader.names.path(index).to_vec();
    let problem = if path(first) == path(second) {
        Problem::SamePath { path: path(second), other: first }
    } else {
        Problem::InsideFile { path: path(second), other_path: path(first), other: first }
    };
    let entry = list.items().nth(second).unwrap_or(list);
    let place = entry.get(b"path.utf-8").or(entry.get(b"path")).unwrap_or(entry);
    Err(at(place, &format!("info.files[{second}].path"), problem))
}
