// SPDX-License-Identifier: MIT OR Apache-2.0

//! `file tree` (BEP 52): folders are dictionaries, a file is a dictionary whose one key is empty.
//!
//! The tree is read in one pass, whatever its depth. The files of a v2 torrent's tree become the torrent's. The files
//! of a hybrid's tree are compared with the list of v1: a file with content with the next such file there, an empty
//! file with the file of its path. libtorrent makes, and accepts, hybrids whose halves order empty files differently
//! (`a.txt` and `a/b`).

use hashloom_files::merkle::NODE_NBYTES;
use hashloom_files::paths::name::check_component;
use hashloom_files::pieces::layout::Layout;

use super::error::{Error, HybridDifference, Problem};
use super::layers::{Layers, tree_key};
use super::names::join;
use super::reader::{A_LENGTH, Reader, at, integer, missing, wrong_kind};
use super::{Attributes, NoteKind};
use crate::bencode::{Kind, Step, Value};

/// A folder of the tree that is being read.
struct Folder<'a> {
    /// Length of its path.
    path_nbytes: usize,
    /// Byte offset of the folder.
    offset: usize,
    /// The previous key.
    last: Option<&'a [u8]>,
    /// Whether each key so far is greater than the one before it.
    sorted: bool,
}

/// A file of the tree.
#[derive(Clone, Copy)]
struct Found<'a> {
    value: Value<'a>,
    path: &'a [u8],
    nbytes: u64,
    attributes: Attributes,
    target: Option<Value<'a>>,
}

/// Largest number of pieces of a torrent without layers, as in libtorrent: a short torrent can have any number.
const UNLAYERED_MAX: u64 = 1 << 21;

/// The state of reading the tree, beside the reader.
pub(super) struct Tree<'a, 'l> {
    pub(super) layers: &'l mut Layers<'a>,
    pub(super) piece_nbytes: u64,
    /// Bytes that the paths may take; the roots may take as many.
    pub(super) most_nbytes: u64,
    /// The files of v1 if the torrent is a hybrid: the tree's files must equal these.
    pub(super) v1: Option<&'l Layout>,
    /// The next file of v1.
    pub(super) next: usize,
    /// The files of v1 without content, by path, and whether the tree has had each.
    pub(super) empty: Vec<(usize, bool)>,
    /// The end of the files so far, each file beginning at a piece.
    pub(super) end: u64,
}

impl<'a> Tree<'a, '_> {
    pub(super) fn read(mut self, reader: &mut Reader, tree: Value<'a>) -> Result<(), Error> {
        if let Some(v1) = self.v1 {
            let names = &reader.names;
            let is_empty = |&index: &usize| !names.attributes(index).padding && v1.span(index).nbytes == 0;
            self.empty = (0..names.len()).filter(is_empty).map(|index| (index, false)).collect();
            self.empty.sort_unstable_by_key(|&(index, _)| names.path(index));
        }
        let mut walk = tree.walk();
        let mut path: Vec<u8> = Vec::new();
        let mut open = vec![Folder { path_nbytes: 0, offset: tree.span().start, last: None, sorted: true }];
        while let Some(folder) = open.last_mut() {
            path.truncate(folder.path_nbytes);
            let Step::Key { key, offset } = walk.step() else {
                if folder.last.is_none() && folder.path_nbytes > 0 {
                    reader.add_note("info.file tree", NoteKind::EmptyFolder { offset: folder.offset });
                }
                if !folder.sorted {
                    self.check_distinct(walk.since(folder.offset), &path)?;
                }
                open.pop();
                continue;
            };
            let error = |problem: Problem, path: &[u8]| Error { problem, key: tree_key(path, ""), offset };
            let last = folder.last.replace(key);
            folder.sorted &= last.is_none_or(|last| last < key);
            if last == Some(key) {
                join(&mut path, 0, key);
                return Err(error(Problem::TwiceInTree { path: path.clone() }, &path));
            }
            if key.is_empty() && folder.path_nbytes > 0 {
                if last.is_some() {
                    return Err(error(Problem::FileAndFolder { path: path.clone() }, &path));
                }
                self.file(reader, walk.take(), &path)?;
                continue;
            }
            if last == Some(b"") {
                return Err(error(Problem::FileAndFolder { path: path.clone() }, &path));
            }
            join(&mut path, 0, key);
            if let Err(why) = check_component(key) {
                let problem = Problem::BadComponent { component: key.to_vec(), path: path.clone(), why };
                return Err(error(problem, &path));
            }
            if path.len() as u64 > self.most_nbytes {
                return Err(error(self.expansion("the paths of the files"), &path));
            }
            let offset = walk.offset();
            if !walk.enter() {
                return Err(wrong_kind(walk.take(), Kind::Dictionary, &tree_key(&path, "")));
            }
            open.push(Folder { path_nbytes: path.len(), offset, last: None, sorted: true });
        }
        self.finish(reader, tree)
    }

    /// Reads the properties of the file at `path`.
    fn file(&mut self, reader: &mut Reader, file: Value<'a>, path: &[u8]) -> Result<(), Error> {
        let error = |value: Value<'_>, key: &str, problem: Problem| at(value, &tree_key(path, key), problem);
        if file.kind() != Kind::Dictionary {
            return Err(wrong_kind(file, Kind::Dictionary, &tree_key(path, "")));
        }
        let [length, root] = reader.keys(file, "info.file tree", [b"length", b"pieces root"]);
        let (attributes, target) = reader.attributes(file, "info.file tree");
        if attributes.padding {
            return Err(error(file, "attr", Problem::PaddingInTree));
        }
        let nbytes = match length {
            // A symbolic link has no content, as in v1.
            _ if attributes.symlink => 0,
            None => return Err(error(file, "length", missing(A_LENGTH))),
            Some(value) => {
                let found = integer(value, || tree_key(path, "length"))?;
                u64::try_from(found).map_err(|_| error(value, "length", Problem::NegativeLength { found }))?
            }
        };
        // The end is below 2^63 and a piece at most 2^32, so this does not overflow.
        let offset = self.end.next_multiple_of(self.piece_nbytes);
        if nbytes > 0 {
            let value = length.unwrap_or(file);
            let end = offset.checked_add(nbytes).filter(|&end| end <= i64::MAX as u64);
            self.end = end.ok_or_else(|| error(value, "length", Problem::TotalOverflow))?;
        }
        let found = Found { value: file, path, nbytes, attributes, target };
        let index = match self.v1 {
            None => self.add(reader, found)?,
            Some(v1) => {
                let index = self.compare(reader, v1, found)?;
                if nbytes > 0 && v1.span(index).offset != offset {
                    let v1 = v1.span(index).offset;
                    let difference = HybridDifference::Offset { path: path.to_vec(), v1, v2: offset };
                    return Err(error(file, "", Problem::Hybrid(difference)));
                }
                index
            }
        };
        if nbytes == 0 {
            if root.is_some() {
                reader.add_note("info.file tree", NoteKind::RootOfNothing { offset: file.span().start });
            }
            return Ok(());
        }
        let Some(value) = root else {
            return Err(error(file, "pieces root", missing("a string: the 32-byte SHA-256 root of the file")));
        };
        let Some(root) = value.string() else {
            return Err(wrong_kind(value, Kind::String, &tree_key(path, "pieces root")));
        };
        if root.len() != NODE_NBYTES {
            return Err(error(value, "pieces root", Problem::RootNotWhole { nbytes: root.len() }));
        }
        if nbytes <= self.piece_nbytes {
            reader.roots.pieces.extend_from_slice(root);
            return Ok(());
        }
        if self.layers.is_empty() {
            let npieces = nbytes.div_ceil(self.piece_nbytes);
            if (reader.roots.pieces.len() / NODE_NBYTES) as u64 + npieces > UNLAYERED_MAX {
                let most_nbytes = UNLAYERED_MAX * NODE_NBYTES as u64;
                return Err(error(
                    value,
                    "pieces root",
                    Problem::Expansion { what: "the roots of the pieces", most_nbytes },
                ));
            }
            reader.roots.push_unlayered(index, root, npieces as usize);
            return Ok(());
        }
        let layer = self.layers.of(root, nbytes, path)?;
        if (reader.roots.pieces.len() + layer.len()) as u64 > self.most_nbytes {
            return Err(error(value, "pieces root", self.expansion("the roots of the pieces")));
        }
        reader.roots.push_layer(index, root, layer);
        Ok(())
    }

    /// Adds a file to a torrent that is v2 only. Returns its index.
    fn add(&mut self, reader: &mut Reader, file: Found<'_>) -> Result<usize, Error> {
        if reader.names.nbytes() as u64 + file.path.len() as u64 > self.most_nbytes {
            return Err(at(file.value, &tree_key(file.path, ""), self.expansion("the paths of the files")));
        }
        let index = reader.names.len();
        reader.names.push_component(file.path);
        reader.target(file.target, "info.file tree");
        reader.spans.push(file.nbytes, false);
        reader.names.push(file.attributes);
        Ok(index)
    }

    /// Compares a file with the file of v1. Returns its index there.
    fn compare(&mut self, reader: &mut Reader, v1: &Layout, found: Found<'_>) -> Result<usize, Error> {
        let Found { value, path, nbytes, attributes, target } = found;
        let differs = |difference: HybridDifference| Err(at(value, &tree_key(path, ""), Problem::Hybrid(difference)));
        let names = &reader.names;
        let index = match self.empty.binary_search_by(|&(index, _)| names.path(index).cmp(path)) {
            Ok(found) => {
                self.empty[found].1 = true;
                self.empty[found].0
            }
            Err(_) => {
                let next = next_with_content(reader, v1, self.next);
                let Some(index) = next.filter(|&next| names.path(next) == path) else {
                    let v1 = next.filter(|_| nbytes > 0).map(|next| names.path(next).to_vec());
                    return differs(HybridDifference::File { v1, v2: Some(path.to_vec()) });
                };
                self.next = index + 1;
                index
            }
        };
        let there = names.attributes(index);
        let leads = |target: Value<'_>| target.items().filter_map(|item| item.string()).collect::<Vec<_>>().join(&b'/');
        if there.symlink != attributes.symlink || names.target(index) != target.map(leads).as_deref() {
            return differs(HybridDifference::Symlink { path: path.to_vec() });
        }
        let span = v1.span(index);
        if span.nbytes != nbytes {
            return differs(HybridDifference::Length { path: path.to_vec(), v1: span.nbytes, v2: nbytes });
        }
        if there != attributes {
            reader.add_note("info.file tree", NoteKind::OtherAttributes { offset: value.span().start });
        }
        Ok(index)
    }

    /// Checks that no key of an unsorted folder is there twice. Neighbours have been compared already; these are
    /// further apart.
    fn check_distinct(&self, folder: Value<'_>, path: &[u8]) -> Result<(), Error> {
        let mut keys: Vec<(&[u8], usize)> = folder.entries().map(|entry| (entry.key, entry.offset)).collect();
        keys.sort_unstable();
        let Some(pair) = keys.windows(2).find(|pair| pair[0].0 == pair[1].0) else { return Ok(()) };
        let mut path = path.to_vec();
        join(&mut path, 0, pair[1].0);
        let key = tree_key(&path, "");
        Err(Error { problem: Problem::TwiceInTree { path }, key, offset: pair[1].1 })
    }

    /// Makes the checks that need all files.
    fn finish(self, reader: &Reader, tree: Value<'_>) -> Result<(), Error> {
        let problem = match self.v1 {
            None if reader.names.len() == 0 => Some(Problem::NoFiles),
            None => None,
            Some(v1) => {
                let empty = self.empty.iter().filter(|(_, had)| !had).map(|&(index, _)| index).min();
                let rest = next_with_content(reader, v1, self.next).or(empty);
                let (ours, theirs) = (v1.piece_count(), self.end.div_ceil(self.piece_nbytes));
                if let Some(rest) = rest {
                    let path = Some(reader.names.path(rest).to_vec());
                    Some(Problem::Hybrid(HybridDifference::File { v1: path, v2: None }))
                } else if ours != theirs {
                    Some(Problem::Hybrid(HybridDifference::PieceCount { v1: ours, v2: theirs }))
                } else {
                    None
                }
            }
        };
        problem.map_or(Ok(()), |problem| Err(at(tree, "info.file tree", problem)))
    }

    fn expansion(&self, what: &'static str) -> Problem {
        Problem::Expansion { what, most_nbytes: self.most_nbytes }
    }
}

/// The first file of v1 from `index` on that has content and is not padding.
fn next_with_content(reader: &Reader, v1: &Layout, index: usize) -> Option<usize> {
    let names = &reader.names;
    (index..names.len()).find(|&index| !names.attributes(index).padding && v1.span(index).nbytes > 0)
}
