// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of some folders by their lengths: about 100 bytes a file.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hashloom_files::{Stamp, paths};
use hashloom_torrent::{File, Torrent};

/// The lengths of the files of torrents.
#[derive(Debug, Clone, Default)]
pub struct Lengths(HashSet<u64>);

impl Lengths {
    /// Adds the lengths of a torrent's files, except empty files and padding.
    pub fn add(&mut self, torrent: &Torrent) {
        self.0.extend(torrent.files_without_padding().map(|file| file.nbytes).filter(|&nbytes| nbytes > 0));
    }

    /// Returns true if a file of a torrent has this length.
    pub fn has(&self, nbytes: u64) -> bool {
        self.0.contains(&nbytes)
    }
}

/// Files that may be those of torrents, by their lengths.
#[derive(Debug, Default)]
pub struct Index {
    folders: Vec<PathBuf>,
    /// Sorted by length.
    files: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    nbytes: u64,
    /// The file's number on its device, to know further names of one file.
    identity: (u64, u64),
    folder: u32,
    name: Box<OsStr>,
}

impl Index {
    /// An index of files, of which `(path, stamp)` tells the path, the length and the number. Memory is saved if files
    /// of one folder follow each other, as those of a walk do.
    pub fn new(files: impl IntoIterator<Item = (PathBuf, Stamp)>) -> Index {
        let mut index = Index::default();
        for (path, stamp) in files {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            if index.folders.last().is_none_or(|last| last != folder) {
                index.folders.push(folder.to_owned());
            }
            let folder = (index.folders.len() - 1) as u32;
            let identity = (stamp.dev, stamp.ino);
            index.files.push(Entry { nbytes: stamp.nbytes, identity, folder, name: name.into() });
        }
        index.files.sort_by_key(|file| file.nbytes);
        index
    }

    pub(super) fn path(&self, entry: u32) -> PathBuf {
        let Entry { folder, name, .. } = &self.files[entry as usize];
        self.folders[*folder as usize].join(&**name)
    }

    /// The length that a file had when it was listed.
    pub(super) fn nbytes(&self, entry: u32) -> u64 {
        self.files[entry as usize].nbytes
    }

    /// The files that have the length of a torrent's file, each once, whatever its number of names: those whose paths
    /// fit the torrent's best come first. Returns how well the first one fits, too.
    pub(super) fn candidates(&self, torrent: &Torrent, file: &File<'_>) -> (Vec<u32>, u32) {
        let start = self.files.partition_point(|entry| entry.nbytes < file.nbytes);
        let end = start + self.files[start..].partition_point(|entry| entry.nbytes == file.nbytes);
        let found: Vec<u32> = (start as u32..end as u32).collect();
        if found.len() < 2 {
            return (found, FITS);
        }
        let own = paths::to_path(file.path);
        let own = if torrent.is_single_file() { own } else { paths::to_path(torrent.name()).join(own) };
        let own = Own::new(&own);
        let mut found: Vec<(u32, u32)> = found.into_iter().map(|entry| (self.fit(entry, &own), entry)).collect();
        if found.len() <= ALIKE_MAX && found.iter().all(|(fit, _)| *fit == 0) {
            found
                .iter_mut()
                .for_each(|(fit, entry)| *fit = alike(&own.lower, &lower(&self.files[*entry as usize].name)));
        }
        found.sort_by_key(|&(fit, _)| Reverse(fit));
        let mut seen = HashSet::new();
        found.retain(|&(_, entry)| {
            let identity = self.files[entry as usize].identity;
            // Without numbers, every name counts as a file.
            identity.1 == 0 || seen.insert(identity)
        });
        let best = found[0].0;
        (found.into_iter().map(|(_, entry)| entry).collect(), best)
    }

    /// How well a path fits: first of all the number of components at its end that are the torrent's, then the name
    /// without case and marks, then the name without its extension; between equals the folder's name decides.
    fn fit(&self, entry: u32, own: &Own<'_>) -> u32 {
        let Entry { folder, name, .. } = &self.files[entry as usize];
        let folder = &self.folders[*folder as usize];
        let name_fits = if own.name == Some(name) {
            let (ours, theirs) = (own.path.iter().rev().skip(1), folder.iter().rev());
            let common = 1 + ours.zip(theirs).take_while(|(one, other)| one == other).count();
            (common.min(1000) as u32 + 2) << 10
        } else {
            let lower = lower(name);
            // Transmission's name of a file that it has not finished.
            let lower = lower.strip_suffix(b".part").unwrap_or(&lower);
            match () {
                _ if !own.letters.is_empty() && own.letters == letters(lower) => 2 << 10,
                _ if !own.stem.is_empty() && own.stem == letters(stem(lower)) => 1 << 10,
                _ => return 0,
            }
        };
        let theirs = folder.file_name().map(lower).unwrap_or_default();
        name_fits + FITS + alike(&own.folder, &theirs)
    }
}

/// A name is worth a try from this value on: half of it is like the torrent's.
pub(super) const FITS: u32 = 128;

/// Number of candidates from which on names that differ are not compared by their letters.
const ALIKE_MAX: usize = 4096;

/// The path of a torrent's file, in the forms that are compared.
struct Own<'a> {
    path: &'a Path,
    name: Option<&'a OsStr>,
    lower: Vec<u8>,
    letters: Vec<u8>,
    stem: Vec<u8>,
    folder: Vec<u8>,
}

impl<'a> Own<'a> {
    fn new(path: &'a Path) -> Own<'a> {
        let name = path.file_name();
        let lower_name = name.map(lower).unwrap_or_default();
        let folder = path.parent().and_then(Path::file_name).map(lower).unwrap_or_default();
        let (letters, stem) = (letters(&lower_name), letters(stem(&lower_name)));
        Own { path, name, lower: lower_name, letters, stem, folder }
    }
}

fn lower(name: &OsStr) -> Vec<u8> {
    name.as_encoded_bytes().to_ascii_lowercase()
}

/// A name without spaces, dots and other marks.
fn letters(name: &[u8]) -> Vec<u8> {
    name.iter().copied().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).collect()
}

/// A name without its extension.
fn stem(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|&byte| byte == b'.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

/// The share of two names that is equal at their beginnings and ends, of 255.
fn alike(one: &[u8], other: &[u8]) -> u32 {
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let begin = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let ends = one.iter().rev().zip(other.iter().rev()).take(short - begin);
    let end = ends.take_while(|(one, other)| one == other).count();
    (255 * (begin + end)).checked_div(long).unwrap_or_default() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_name_comes_first() {
        let own = Own::new(Path::new("Album/CD1/track 01.flac"));
        let paths = [
            "x/Album/CD1/track 01.flac",
            "CD1/track 01.flac",
            "CD2/track 01.flac",
            "x/track 01.flac",
            "CD1/Track.01.FLAC",
            "x/track_01.flac.part",
            "CD1/track 01.mp3",
            "x/01 track.flac",
        ];
        let stamp = Stamp::of(&Path::new(".").metadata().unwrap());
        let index = Index::new(paths.map(|path| (path.into(), stamp)));
        let fits: Vec<u32> = (0..paths.len() as u32).map(|entry| index.fit(entry, &own)).collect();
        assert!(fits.is_sorted_by(|one, other| one > other), "{fits:?}");
        assert_eq!(fits[7], 0);
        assert_eq!((alike(b"abc.r01", b"abd.r01"), alike(b"aa", b"aaaa"), alike(b"", b"")), (255 * 6 / 7, 127, 0));
    }
}
