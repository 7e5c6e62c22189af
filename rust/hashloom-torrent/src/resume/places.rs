// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares the places where a client looks for the files of a torrent with the places where they are.

use std::path::{Path, PathBuf};

use hashloom_files::paths::to_path;

use super::Error;
use crate::bencode::Item;
use crate::{Content, Torrent};

/// The places where a client looks for the files: in a folder, under the torrent's own names except those in `renamed`.
///
/// Both clients keep renamings as a list of one entry a file: the file's path below the folder, the torrent's name
/// included. The entry is empty or missing if the file is not renamed.
pub(super) struct Places<'a> {
    pub(super) folder: PathBuf,
    pub(super) renamed: Vec<&'a [u8]>,
}

impl Places<'_> {
    fn path(&self, torrent: &Torrent, file: usize) -> PathBuf {
        match self.renamed.get(file).copied() {
            None | Some(b"") => self.folder.join(own_path(torrent, file)),
            Some(path) => self.folder.join(to_path(path)),
        }
    }

    /// `None` if the client looks for the files where they were checked. Otherwise an error if the client has renamed a
    /// file; it names the place where the client looks for the first.
    pub(super) fn differ(mut self, torrent: &Torrent, content: &Content) -> Option<Result<(), Error>> {
        // A folder that is reached through other links is the same folder.
        let same =
            [content.folder(), Some(content.path())].into_iter().flatten().find(|path| is_same(path, &self.folder));
        if let Some(same) = same {
            self.folder = same.to_owned();
        }
        let mut differs = false;
        for file in torrent.files_without_padding() {
            let (client, checked) = (self.path(torrent, file.index), content.file_path(torrent, file.index));
            if client != checked {
                differs = true;
                if client != self.folder.join(own_path(torrent, file.index)) {
                    return Some(Err(Error::Renamed { client, checked }));
                }
            }
        }
        differs.then_some(Ok(()))
    }
}

fn is_same(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

/// A file's path below a client's folder under the torrent's own names.
fn own_path(torrent: &Torrent, file: usize) -> PathBuf {
    let path = to_path(torrent.file(file).path);
    if torrent.is_single_file() { path } else { to_path(torrent.name()).join(path) }
}

/// The folder for a client, and the list of renamed files if the content has another name than the torrent.
pub(super) fn placed(torrent: &Torrent, content: &Content) -> Result<(Vec<u8>, Option<Vec<Item>>), Error> {
    let (Some(folder), Some(name)) = (content.folder(), content.path().file_name()) else {
        return Err(Error::NoFolder);
    };
    let folder_bytes = path_bytes(folder);
    if name == to_path(torrent.name()) {
        return Ok((folder_bytes, None));
    }
    let name = path_bytes(Path::new(name));
    let renamed = torrent.files().map(|file| match torrent.is_single_file() {
        true => Item::from(&name[..]),
        false => Item::from([&name[..], b"/", file.path].concat()),
    });
    Ok((folder_bytes, Some(renamed.collect())))
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
