// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares the places where a client looks for the files of a torrent with the places where they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hashloom_files::paths::to_path;
use hashloom_torrent::Torrent;
use hashloom_torrent::bencode::{Item, Value};
use hashloom_torrent::inside::{Client, Names, TRANSMISSION};

use super::Error;
use crate::Content;

/// The names that all versions of a client give the files of a torrent.
pub(super) struct Versions {
    names: Vec<Names>,
    /// Whether padding files are files like others to the client, and `.part` is the end of an unfinished file's name.
    is_transmission: bool,
}

impl Versions {
    pub(super) fn new(clients: &[Client], torrent: &Torrent) -> Versions {
        let names = clients.iter().map(|&client| Names::new(client, torrent)).collect();
        Versions { names, is_transmission: clients == TRANSMISSION }
    }

    /// The path for which the client takes a file: it adds the ending of an unfinished one itself.
    fn finished(&self, torrent: &Torrent, file: usize, path: PathBuf) -> PathBuf {
        let is_part = |path: &Path| path.extension().is_some_and(|ending| ending == "part");
        let is_unfinished = is_part(&path) && !is_part(&to_path(torrent.file(file).path));
        if self.is_transmission && is_unfinished { path.with_extension("") } else { path }
    }

    /// Whether every version looks for a file at `path`, relative to the download folder, if nothing is said of it.
    fn agree(&self, torrent: &Torrent, file: usize, path: &Path) -> bool {
        self.names.iter().all(|names| to_path(&names.path(torrent, file)) == path)
    }
}

/// The files that a client has renamed, from its list of one entry a file: the file's path below the download folder,
/// the torrent's name included. The entry is empty or missing if the file is not renamed.
pub(super) fn renamed<'a>(entries: impl Iterator<Item = Value<'a>>) -> BTreeMap<usize, PathBuf> {
    let paths = entries.map(|entry| entry.string().unwrap_or_default()).enumerate();
    paths.filter(|(_, path)| !path.is_empty()).map(|(file, path)| (file, to_path(path))).collect()
}

/// Whether a client that has the content in `folder` and has renamed these files looks for each file where it is. A
/// file that is missing must only have the torrent's name, or the client's.
pub(super) fn agree(
    folder: &Path,
    renamed: &BTreeMap<usize, PathBuf>,
    versions: &Versions,
    torrent: &Torrent,
    content: &Content,
) -> bool {
    let folders = [content.client_folder(), Some(content.client_content())];
    let Some(here) = folders.into_iter().flatten().find(|here| is_same(here, folder)) else { return false };
    torrent.files_without_padding().filter(|file| !file.attributes.symlink).all(|file| {
        let path = versions.finished(torrent, file.index, content.client_path(torrent, file.index));
        match renamed.get(&file.index) {
            Some(other) => path == here.join(other) || path == folder.join(other),
            None => path.strip_prefix(&here).is_ok_and(|below| {
                versions.agree(torrent, file.index, below)
                    || content.nbytes(file.index).is_none() && below == own_path(torrent, file.index)
            }),
        }
    })
}

fn is_same(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

/// A file's path below a client's folder under the torrent's own names.
fn own_path(torrent: &Torrent, file: usize) -> PathBuf {
    let path = to_path(torrent.file(file).path);
    if torrent.is_single_file() { path } else { to_path(torrent.name()).join(path) }
}

/// The folder for a client, and its list of renamed files: all that it would not find under its own names. `None` if it
/// finds all.
pub(super) fn placed(
    versions: &Versions,
    torrent: &Torrent,
    content: &Content,
) -> Result<(Vec<u8>, Option<Vec<Item>>), Error> {
    let Some(folder) = content.client_folder() else { return Err(Error::NoFolder) };
    let entry = |file: usize| {
        let attributes = torrent.file(file).attributes;
        let path = versions.finished(torrent, file, content.client_path(torrent, file));
        match path.strip_prefix(&folder) {
            _ if attributes.padding && !versions.is_transmission || attributes.symlink => Vec::new(),
            Ok(below) if versions.agree(torrent, file, below) => Vec::new(),
            Ok(below) if content.nbytes(file).is_none() && below == own_path(torrent, file) => Vec::new(),
            Ok(below) => path_bytes(below),
            Err(_) => path_bytes(&path),
        }
    };
    let entries: Vec<Vec<u8>> = (0..torrent.file_count()).map(entry).collect();
    let renamed = entries.iter().any(|entry| !entry.is_empty());
    Ok((path_bytes(&folder), renamed.then(|| entries.iter().map(|entry| Item::from(&entry[..])).collect())))
}

/// A path as clients write it.
#[cfg(unix)]
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// A path as clients write it: UTF-8.
#[cfg(not(unix))]
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}
