// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks the files below a folder, in the order of the bytes of the paths. Files are found as the caller asks for them.
//!
//! That order differs from the order of the names in each folder: `a.txt` is before `a/b`, as `.` is before `/`. A
//! folder is therefore sorted as if its name ended in a slash.

use std::cmp::Ordering;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::text::display;

/// An entry that exists and cannot be looked at. The walk goes on.
#[derive(Debug)]
pub struct WalkError {
    pub path: PathBuf,
    pub error: io::Error,
}

/// An entry that was found.
#[derive(Debug)]
pub struct Entry {
    pub path: PathBuf,
    pub file_type: FileType,
}

/// Returns the regular files below `folder`, which may be a link. Their paths begin with `folder` as given. Links are
/// skipped. With `follow` a link counts as its target; a link to a folder above it, or to nothing, is an error.
pub fn files(folder: &Path, follow: bool) -> impl Iterator<Item = Result<PathBuf, WalkError>> + Send + use<> {
    let found = entries(folder, WalkDir::new(folder).follow_links(follow).sort_by(by_path(follow)));
    found.filter_map(|found| match found {
        Ok(entry) => entry.file_type.is_file().then_some(Ok(entry.path)),
        Err(error) => Some(Err(error)),
    })
}

/// Returns everything below `folder`, links as links. The order does not depend on the types of the entries: each
/// folder is sorted by the bytes of the names, and its contents follow it directly. The error of a folder that cannot
/// be listed comes right after the folder.
pub fn walk_by_names(folder: &Path) -> impl Iterator<Item = Result<Entry, WalkError>> + Send + use<> {
    entries(folder, WalkDir::new(folder).sort_by_file_name())
}

fn entries(folder: &Path, walk: WalkDir) -> impl Iterator<Item = Result<Entry, WalkError>> + Send + use<> {
    let folder = folder.to_owned();
    walk.min_depth(1).into_iter().map(move |entry| match entry {
        Ok(entry) => Ok(Entry { file_type: entry.file_type(), path: entry.into_path() }),
        Err(error) => {
            let path = error.path().unwrap_or(&folder).to_owned();
            let error = match error.loop_ancestor() {
                Some(above) => io::Error::other(format!("a link to {}, the folder it is in", display(above))),
                None => error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into()),
            };
            Err(WalkError { path, error })
        }
    })
}

/// Compares two entries of one folder by their whole paths, which is cheaper than finding their names.
fn by_path(follow: bool) -> impl Fn(&DirEntry, &DirEntry) -> Ordering {
    // A link to be followed still has the type of a link.
    let is_folder = move |entry: &DirEntry| {
        entry.file_type().is_dir() || follow && entry.path_is_symlink() && entry.path().is_dir()
    };
    move |one, other| {
        let (path, other_path) = (bytes(one), bytes(other));
        let common = path.len().min(other_path.len());
        // The types count only if one path is a prefix of the other.
        let next = |entry| bytes(entry).get(common).copied().or_else(|| is_folder(entry).then_some(b'/'));
        path[..common].cmp(&other_path[..common]).then_with(|| next(one).cmp(&next(other)))
    }
}

fn bytes(entry: &DirEntry) -> &[u8] {
    entry.path().as_os_str().as_encoded_bytes()
}
