// SPDX-License-Identifier: MIT OR Apache-2.0

//! A torrent's metainfo (BEP 3, BEP 47), checked as it is read: what this accepts can be verified.

use std::ops::Range;

use super::error::{Error, Problem};
use super::names::Names;
use super::paths::{Platform, check_component};
use super::{Attributes, MAX_PIECE_NBYTES, Note, NoteKind, Torrent};
use crate::bencode::{self, Kind, Value};
use crate::engine::layout::{Layout, Spans};

/// Bytes of a digest in `pieces`.
const DIGEST_NBYTES: usize = 20;

/// Collects a torrent while its keys are read.
struct Reader {
    notes: Vec<Note>,
    note_count: usize,
    spans: Spans,
    names: Names,
}

/// Reads a torrent, and where in `bytes` its digests are. The torrent comes without them, so that the caller can keep
/// them where they are or copy them: they are most of a torrent.
pub(super) fn parse(
    bytes: &[u8],
    limits: &bencode::Limits,
    platform: Platform,
) -> Result<(Torrent, Range<usize>), Error> {
    let document = bencode::parse(bytes, limits).map_err(|error| Error {
        offset: error.offset,
        key: String::new(),
        problem: Problem::Bencode(error),
    })?;
    let mut reader = Reader {
        notes: document
            .notes()
            .iter()
            .map(|note| Note { key: String::new(), kind: NoteKind::Bencode(note.clone()) })
            .collect(),
        note_count: document.note_count(),
        spans: Spans::default(),
        names: Names::default(),
    };
    let root = document.root();
    expect(root, Kind::Dictionary, "")?;
    let [info] = reader.keys(root, "", [b"info"]);
    let info = required(info, Kind::Dictionary, "info", root)?;
    reader.info(info, platform)
}

impl Reader {
    fn info(mut self, info: Value<'_>, platform: Platform) -> Result<(Torrent, Range<usize>), Error> {
        let [version, name, name_utf8, piece_length, pieces, length, files, tree] = self.keys(
            info,
            "info",
            [b"meta version", b"name", b"name.utf-8", b"piece length", b"pieces", b"length", b"files", b"file tree"],
        );
        check_version(version, tree, pieces.is_some())?;

        let (name, name_key) = match name_utf8 {
            Some(value) if value.kind() == Kind::String => (Some(value), "info.name.utf-8"),
            _ => (name, "info.name"),
        };
        let name_value = required(name, Kind::String, name_key, info)?;
        let name = name_value.string().unwrap_or_default();
        check_component(name, platform).map_err(|why| Error {
            problem: Problem::BadComponent { component: name.to_vec(), path: name.to_vec(), why },
            key: name_key.to_owned(),
            offset: name_value.span().start,
        })?;

        let piece_length = required(piece_length, Kind::Integer, "info.piece length", info)?;
        let found = integer(piece_length, || "info.piece length".to_owned())?;
        let problem = match found {
            ..=0 => Some(Problem::PieceLengthNotPositive { found }),
            _ if found as u64 > MAX_PIECE_NBYTES => Some(Problem::PieceLengthTooLarge { found }),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(at(piece_length, "info.piece length", problem));
        }
        let piece_nbytes = found as u64;

        let pieces = required(pieces, Kind::String, "info.pieces", info)?;
        let digests = pieces.string().unwrap_or_default();
        if digests.len() % DIGEST_NBYTES != 0 {
            return Err(at(pieces, "info.pieces", Problem::PiecesNotWhole { nbytes: digests.len() }));
        }

        let single_file = files.is_none();
        match files {
            Some(files) => {
                if length.is_some() {
                    self.note("info.length", NoteKind::LengthBesideFiles);
                }
                self.file_list(expect(files, Kind::List, "info.files")?, platform)?;
                check_distinct(&self, files)?;
            }
            None => {
                let Some(length) = length else {
                    return Err(at(info, "info.length (or info.files)", Problem::Missing));
                };
                let attributes = self.attributes(info, "info");
                self.names.push_component(name);
                self.file(attributes, Some(length), info, None)?;
            }
        }

        let layout = Layout::new(piece_nbytes, self.spans);
        let found = (digests.len() / DIGEST_NBYTES) as u64;
        if found != layout.piece_count() {
            let total_nbytes = layout.total_nbytes();
            let problem = Problem::PieceCount { expected: layout.piece_count(), found, total_nbytes, piece_nbytes };
            return Err(at(pieces, "info.pieces", problem));
        }
        let end = pieces.span().end;
        let torrent = Torrent {
            info_hash: super::sha1(info.raw()),
            name: name.into(),
            layout: layout.into(),
            digests: Vec::new(),
            single_file,
            names: self.names,
            notes: self.notes,
            note_count: self.note_count,
        };
        Ok((torrent, end - digests.len()..end))
    }

    fn file_list(&mut self, list: Value<'_>, platform: Platform) -> Result<(), Error> {
        for (index, entry) in list.items().enumerate() {
            // The key is spelt out only where it is needed: a torrent can have a million files.
            let key = |name: &str| format!("info.files[{index}]{}{name}", if name.is_empty() { "" } else { "." });
            if entry.kind() != Kind::Dictionary {
                return Err(wrong_kind(entry, Kind::Dictionary, &key("")));
            }
            let [length, path, path_utf8] = self.keys(entry, "info.files", [b"length", b"path", b"path.utf-8"]);
            let attributes = self.attributes(entry, "info.files");
            let (path, name) = match path_utf8 {
                Some(value) if value.kind() == Kind::List => (Some(value), "path.utf-8"),
                _ => (path, "path"),
            };
            match path {
                // A padding file is never opened; not every program gives it a path.
                None if attributes.padding => {}
                None => return Err(at(entry, &key(name), Problem::Missing)),
                Some(path) if path.kind() != Kind::List => return Err(wrong_kind(path, Kind::List, &key(name))),
                Some(path) => self.path(path, attributes, platform).map_err(|mut error| {
                    error.key = key(&format!("{name}{}", error.key));
                    error
                })?,
            }
            self.file(attributes, length, entry, Some(index))?;
        }
        match self.names.len() == 0 {
            true => Err(at(list, "info.files", Problem::NoFiles)),
            false => Ok(()),
        }
    }

    /// Appends the components of a path to `names`. An error's key has only the component's index.
    fn path(&mut self, list: Value<'_>, attributes: Attributes, platform: Platform) -> Result<(), Error> {
        for (index, item) in list.items().enumerate() {
            let Some(component) = item.string() else {
                return Err(wrong_kind(item, Kind::String, &format!("[{index}]")));
            };
            match check_component(component, platform) {
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
        match self.names.next_is_empty() && !attributes.padding {
            true => Err(at(list, "", Problem::EmptyPath)),
            false => Ok(()),
        }
    }

    /// Adds a file, whose path `names` has already. `holder` is the dictionary that has its keys, `index` its place in
    /// `files`.
    fn file(
        &mut self,
        attributes: Attributes,
        length: Option<Value<'_>>,
        holder: Value<'_>,
        index: Option<usize>,
    ) -> Result<(), Error> {
        // A closure: with a million files the key is not spelt out a million times.
        let key = || match index {
            Some(index) => format!("info.files[{index}].length"),
            None => "info.length".to_owned(),
        };
        let nbytes = if attributes.symlink {
            // BEP 47: a symlink has no content of its own; libtorrent ignores a length given with it.
            0
        } else {
            let Some(value) = length else { return Err(at(holder, &key(), Problem::Missing)) };
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

    /// BEP 47's `attr`: letters, of which unknown ones are ignored.
    fn attributes(&mut self, holder: Value<'_>, place: &'static str) -> Attributes {
        let [attr] = self.keys(holder, place, [b"attr"]);
        let letters = attr.and_then(|value| value.string()).unwrap_or_default();
        Attributes {
            padding: letters.contains(&b'p'),
            symlink: letters.contains(&b'l'),
            executable: letters.contains(&b'x'),
            hidden: letters.contains(&b'h'),
        }
    }

    /// The values of these keys of a dictionary. Of a key that is there twice the first counts, as in libtorrent. The
    /// bencode parser notes what is not canonical but finds two equal keys only among sorted ones; here the others.
    fn keys<'a, const N: usize>(
        &mut self,
        dictionary: Value<'a>,
        place: &'static str,
        wanted: [&[u8]; N],
    ) -> [Option<Value<'a>>; N] {
        let mut values = [None; N];
        let mut greatest: &[u8] = b"";
        for entry in dictionary.entries() {
            if let Some(slot) = wanted.iter().position(|key| *key == entry.key) {
                match values[slot] {
                    None => values[slot] = Some(entry.value),
                    Some(_) if entry.key < greatest => {
                        let kind = bencode::NoteKind::DuplicateKey { key: entry.key.to_vec() };
                        self.note(place, NoteKind::Bencode(bencode::Note { offset: entry.offset, kind }));
                    }
                    Some(_) => {}
                }
            }
            greatest = greatest.max(entry.key);
        }
        values
    }

    fn note(&mut self, key: &'static str, kind: NoteKind) {
        self.note_count += 1;
        // As many again as the bencode parser keeps.
        if self.notes.len() < 32 {
            self.notes.push(Note { key: key.to_owned(), kind });
        }
    }
}

fn check_version(version: Option<Value<'_>>, tree: Option<Value<'_>>, has_pieces: bool) -> Result<(), Error> {
    let key = "info.meta version";
    let Some(value) = version else {
        return match tree {
            // Only v2 can be meant, though BEP 52 wants its version beside it.
            Some(tree) if !has_pieces => Err(at(tree, "info.file tree", Problem::NotYet { version: "v2" })),
            _ => Ok(()),
        };
    };
    let digits = expect(value, Kind::Integer, key)?.digits().unwrap_or_default();
    match value.integer() {
        Some(1) => Ok(()),
        Some(2) => {
            let hybrid = has_pieces && tree.is_some();
            let version = if hybrid { "hybrid (v1 and v2)" } else { "v2" };
            Err(at(value, key, Problem::NotYet { version }))
        }
        _ => {
            let found = String::from_utf8_lossy(&digits[..digits.len().min(40)]).into_owned();
            Err(at(value, key, Problem::UnknownVersion { found }))
        }
    }
}

/// No two files have one path, and none lies in another: at most one of them could be whole on disk.
fn check_distinct(reader: &Reader, list: Value<'_>) -> Result<(), Error> {
    let names = &reader.names;
    let path = |index: &usize| names.path(*index);
    // '/' sorts first, so that what lies in "a" comes right after "a", before "a b". No component has a NUL.
    let letters = |index: &usize| path(index).iter().map(|&byte| if byte == b'/' { 0 } else { byte });
    let mut order: Vec<usize> = (0..names.len()).filter(|&i| !names.attributes(i).padding).collect();
    // In place: a stable sort would need half as much again.
    order.sort_unstable_by(|a, b| letters(a).cmp(letters(b)).then(a.cmp(b)));
    let problem = order.windows(2).find_map(|pair| {
        let (first, second) = (pair[0], pair[1]);
        let rest = path(&second).strip_prefix(path(&first))?;
        match rest.first() {
            None => Some((second, Problem::SamePath { path: path(&second).to_vec(), other: first })),
            Some(b'/') => {
                let (inner, outer) = (path(&second).to_vec(), path(&first).to_vec());
                Some((second, Problem::InsideFile { path: inner, other_path: outer, other: first }))
            }
            Some(_) => None,
        }
    });
    match problem {
        None => Ok(()),
        Some((index, problem)) => {
            let entry = list.items().nth(index).unwrap_or(list);
            let place = entry.get(b"path.utf-8").or(entry.get(b"path")).unwrap_or(entry);
            Err(at(place, &format!("info.files[{index}].path"), problem))
        }
    }
}

fn at(value: Value<'_>, key: &str, problem: Problem) -> Error {
    Error { problem, key: key.to_owned(), offset: value.span().start }
}

fn wrong_kind(value: Value<'_>, expected: Kind, key: &str) -> Error {
    at(value, key, Problem::WrongKind { expected, found: value.kind() })
}

fn expect<'a>(value: Value<'a>, kind: Kind, key: &str) -> Result<Value<'a>, Error> {
    if value.kind() == kind { Ok(value) } else { Err(wrong_kind(value, kind, key)) }
}

fn required<'a>(value: Option<Value<'a>>, kind: Kind, key: &str, holder: Value<'a>) -> Result<Value<'a>, Error> {
    match value {
        Some(value) => expect(value, kind, key),
        None => Err(at(holder, key, Problem::Missing)),
    }
}

fn integer(value: Value<'_>, key: impl Fn() -> String) -> Result<i64, Error> {
    let Some(digits) = value.digits() else { return Err(wrong_kind(value, Kind::Integer, &key())) };
    value.integer().ok_or_else(|| {
        let found = String::from_utf8_lossy(&digits[..digits.len().min(40)]).into_owned();
        at(value, &key(), Problem::IntegerOverflow { found })
    })
}
