// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds a torrent's content below the PATH that a person named.
//!
//! PATH is the folder that holds the content, as a client's download folder does, or the content itself.
//!
//! | torrent | PATH | content |
//! |---|---|---|
//! | single file | not a folder | PATH |
//! | single file | a folder | PATH/name |
//! | several files | a folder | PATH/name if that is a folder, else PATH |
//!
//! The last line is ambiguous if the content's own folder has a folder of its own name in it. Then the first 100 files
//! decide: the place with more of them wins, PATH/name if both have equally many.

use std::io;
use std::path::{Path, PathBuf};

use hashloom_files::paths;
use hashloom_files::pieces::files::{Cache, Place, seems_present};

use crate::Torrent;

/// The place of a torrent's files.
pub(super) struct Located {
    pub(super) place: Place,
    /// The path to put before a file's path.
    pub(super) prefix: PathBuf,
    /// The content's file or folder, whether it exists or not.
    pub(super) content: PathBuf,
}

/// Number of files that decide between two places.
const DECIDING: usize = 100;

/// Finds the content. `cache` may have the folder open already.
pub(super) fn locate(torrent: &Torrent, path: &Path, cache: &Cache) -> io::Result<Located> {
    let is_folder = std::fs::metadata(path)?.is_dir();
    let name = paths::to_path(torrent.name());
    let inner = path.join(&name);
    if torrent.is_single_file() {
        return Ok(match is_folder {
            true => Located { place: Place::Folder(cache.root(path)?), prefix: PathBuf::new(), content: inner },
            false => Located { place: Place::File(path.to_owned()), prefix: PathBuf::new(), content: path.to_owned() },
        });
    }
    let place = Place::Folder(cache.root(path)?);
    let count = |folder: &Path| {
        let checked =
            torrent.files().filter(|file| !file.attributes.padding && !file.attributes.symlink).take(DECIDING);
        checked.filter(|file| seems_present(folder, &paths::to_path(file.path))).count()
    };
    // If no files are found at all, the content is named where a client would put it.
    let by_name = if inner.is_dir() { count(&inner) >= count(path) } else { count(path) == 0 };
    Ok(match by_name {
        true => Located { place, prefix: name, content: inner },
        false => Located { place, prefix: PathBuf::new(), content: path.to_owned() },
    })
}
