// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares the attributes that BEP 47 gives to files with the disk: symbolic links and executable files. Hidden files
//! are hidden by their names on most systems, so there is nothing to compare.

use std::io;
use std::path::{Component, Path, PathBuf};

use hashloom_files::paths;

use super::report::FileDifference;
use crate::File;

/// Looks at the symbolic link that should be at `path`, in a torrent whose folder is `content`. Nothing is opened.
pub(super) fn link_difference(file: &File<'_>, content: &Path, path: &Path) -> Option<FileDifference> {
    let found = match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_symlink() => return Some(FileDifference::NotALink),
        Ok(_) => path.read_link().ok()?,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Some(FileDifference::LinkMissing);
        }
        // The link cannot be examined, which is not a difference.
        Err(_) => return None,
    };
    let target = paths::to_path(file.symlink?);
    let own = paths::to_path(file.path);
    let from_folder = if found.is_absolute() {
        found.strip_prefix(content).ok().and_then(normal)
    } else {
        normal(&own.parent().unwrap_or(Path::new("")).join(&found))
    };
    let is_same = from_folder.is_some() && from_folder == normal(&target)
        // libtorrent before 2.1 writes the link's own text, which starts from the link's folder.
        || found == target
        // The link reaches the target another way, or from a folder under another name.
        || path.canonicalize().is_ok_and(|led| content.join(&target).canonicalize().is_ok_and(|meant| led == meant));
    (!is_same).then_some(FileDifference::LinkElsewhere)
}

/// Looks at the permissions of the file at `path`, which should be executable.
#[cfg(unix)]
pub(super) fn executable_difference(path: &Path) -> Option<FileDifference> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().ok()?.permissions().mode();
    (mode & 0o111 == 0).then_some(FileDifference::NotExecutable)
}

#[cfg(not(unix))]
pub(super) fn executable_difference(_path: &Path) -> Option<FileDifference> {
    None
}

/// A relative path without `.` and `..`; `None` if it leads out of its folder.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir if out.pop() => {}
            _ => return None,
        }
    }
    Some(out)
}
