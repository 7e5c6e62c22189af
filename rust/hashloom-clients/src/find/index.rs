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

    /// The files that have the length of a torrent's file, each once, whatever its number of names. Those whose paths
    /// end as the torrent's path does come first.
    pub(super) fn candidates(&self, torrent: &Torrent, file: &File<'_>) -> Vec<u32> {
        let start = self.files.partition_point(|entry| entry.nbytes < file.nbytes);
        let end = start + self.files[start..].partition_point(|entry| entry.nbytes == file.nbytes);
        let mut found: Vec<u32> = (start as u32..end as u32).collect();
        if found.len() > 1 {
            let own = paths::to_path(file.path);
            let own = if torrent.is_single_file() { own } else { paths::to_path(torrent.name()).join(own) };
            found.sort_by_cached_key(|&entry| Reverse(self.common(entry, &own)));
            let mut seen = HashSet::new();
            found.retain(|&entry| {
                let identity = self.files[entry as usize].identity;
                // Without numbers, every name counts as a file.
                identity.1 == 0 || seen.insert(identity)
            });
        }
        found
    }

    /// Number of components at the end that two paths have in common.
    fn common(&self, entry: u32, own: &Path) -> usize {
        let Entry { folder, name, .. } = &self.files[entry as usize];
        if own.file_name() != Some(name) {
            return 0;
        }
        let (ours, theirs) = (own.iter().rev().skip(1), self.folders[*folder as usize].iter().rev());
        1 + ours.zip(theirs).take_while(|(one, other)| one == other).count()
    }
}
