// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files below a folder, in the order of the bytes of the paths, found as it is asked for.
//!
//! That order is not the one of the names in each folder: `a.txt` is before `a/b`, as `.` is before `/`. So a folder is
//! sorted by its name with a slash behind it.

use std::cmp::Ordering;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::text::display;

/// Something that is there and cannot be looked at. The walk goes on.
#[derive(Debug)]
pub struct WalkError {
    pub path: PathBuf,
    pub error: io::Error,
}

/// Something that was found.
#[derive(Debug)]
pub struct Entry {
    pub path: PathBuf,
    pub file_type: FileType,
}

/// The regular files below `folder`, which itself may be a link. Their paths begin with it as it was named. Links are
/// passed over; with `follow` they are what they lead to, and one that leads to a folder above it is an error, as is one
/// that leads nowhere.
pub fn files(folder: &Path, follow: bool) -> impl Iterator<Item = Result<PathBuf, WalkError>> + Send + use<> {
    let found = entries(folder, WalkDir::new(folder).follow_links(follow).sort_by(by_path(follow)));
    found.filter_map(|found| match found {
        Ok(entry) => entry.file_type.is_file().then_some(Ok(entry.path)),
        Err(error) => Some(Err(error)),
    })
}

/// Everything below `folder`, links as links, in an order that does not depend on what the entries are: each folder sorted
/// by the bytes of the names, and what is in a folder right behind it. A folder that cannot be listed is followed by the
/// error.
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

/// Both are in one folder, so that whole paths can be compared, without looking for the names in them.
fn by_path(follow: bool) -> impl Fn(&DirEntry, &DirEntry) -> Ordering {
    // A link that will be followed still has the type of a link.
    let is_folder = move |entry: &DirEntry| {
        entry.file_type().is_dir() || follow && entry.path_is_symlink() && entry.path().is_dir()
    };
    move |one, other| {
        let (path, other_path) = (bytes(one), bytes(other));
        let common = path.len().min(other_path.len());
        // Only where one is the beginning of the other it counts what they are.
        let next = |entry| bytes(entry).get(common).copied().or_else(|| is_folder(entry).then_some(b'/'));
        path[..common].cmp(&other_path[..common]).then_with(|| next(one).cmp(&next(other)))
    }
}

fn bytes(entry: &DirEntry) -> &[u8] {
    entry.path().as_os_str().as_encoded_bytes()
}
