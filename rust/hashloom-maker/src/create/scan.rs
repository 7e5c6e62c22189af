// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the files of a torrent: everything below a folder, sorted in the order of BEP 52's file tree.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use hashloom_files::read::stamp::Stamp;
use hashloom_files::walk::{Walk, WalkError, WalkProblem};

use hashloom_torrent::Version;

use super::error::{FileProblemKind, Problems};
use super::{Builder, CreateError, Symlinks};

/// Largest number of components of a path: our parser, and libtorrent, follow no deeper file tree. The document,
/// `info`, `file tree` and the file's own dictionary are four more levels.
pub(super) const DEPTH_MAX: usize = 96;

/// A file of the torrent.
#[derive(Debug)]
pub(super) struct Entry {
    /// The path below the root, its components joined by `/`; empty if the root is this file.
    pub(super) path: Box<[u8]>,
    pub(super) nbytes: u64,
    /// The fingerprint of the file's [`Stamp`].
    pub(super) stamp: u64,
    pub(super) executable: bool,
}

/// The fingerprint of the [`Stamp`] of a file, links followed.
pub(super) fn stamp(path: &Path, metadata: &Metadata) -> io::Result<u64> {
    Ok(Stamp::of_known(path, true, metadata)?.fingerprint())
}

/// What a scan finds: the files, sorted; whether the root is one file without a folder; what was left out.
type Found = (Vec<Entry>, bool, Vec<Box<[u8]>>);

/// The file or files at `root`.
pub(super) fn scan(builder: &Builder, root: &Path) -> Result<Found, CreateError> {
    let metadata = root.metadata().map_err(|error| CreateError::Path { path: root.to_owned(), error })?;
    if !metadata.is_dir() {
        let mut problems = Problems::default();
        if let Some(what) = not_regular(&metadata) {
            problems.push(root.to_owned(), FileProblemKind::NotRegular(what));
        }
        problems.check()?;
        // The filter applies to a file given by itself as it would in a folder.
        let name = root.file_name().map_or(Path::new(""), Path::new);
        if !(builder.filter.wants_path(name, false) && builder.filter.wants_length(metadata.len())) {
            return Err(CreateError::Nothing { path: root.to_owned(), empty: 0 });
        }
        let entry = entry(builder, root, Box::default(), &metadata);
        let entry = entry.map_err(|error| CreateError::Path { path: root.to_owned(), error })?;
        return Ok((vec![entry], true, Vec::new()));
    }
    let mut scan = Scan { builder, root, entries: Vec::new(), left_out: Vec::new(), problems: Problems::default() };
    let walk = Walk::new(root).follow_links(builder.symlinks == Symlinks::Follow);
    for found in walk.filter(builder.filter.clone()).entries() {
        match found {
            Ok(entry) if entry.file_type.is_dir() => {}
            Ok(entry) => scan.found(&entry.path, entry.file_type.is_symlink()),
            Err(WalkError { path, problem }) => scan.failed(path, problem),
        }
    }
    scan.problems.check()?;
    Ok((scan.entries, false, scan.left_out))
}

fn entry(builder: &Builder, place: &Path, path: Box<[u8]>, metadata: &Metadata) -> io::Result<Entry> {
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0;
    #[cfg(not(unix))]
    let executable = false;
    let executable = executable && builder.executable;
    Ok(Entry { path, nbytes: metadata.len(), stamp: stamp(place, metadata)?, executable })
}

/// The kind of the file, if it is neither a regular file nor a folder.
fn not_regular(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() || kind.is_dir() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("a FIFO");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    Some("a device")
}

struct Scan<'a> {
    builder: &'a Builder,
    root: &'a Path,
    entries: Vec<Entry>,
    left_out: Vec<Box<[u8]>>,
    problems: Problems,
}

impl Scan<'_> {
    /// Takes something that is not a folder.
    fn found(&mut self, path: &Path, is_link: bool) {
        // Links are not seen if they are followed.
        if is_link {
            if self.builder.symlinks == Symlinks::Refuse {
                self.problems.push(path.to_owned(), FileProblemKind::Link);
            }
            return;
        }
        if self.leaves_out(path) {
            return;
        }
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return self.failed(path.to_owned(), WalkProblem::Io(error)),
        };
        let relative = match self.components(path) {
            Ok(relative) => relative,
            Err(kind) => return self.problems.push(path.to_owned(), kind),
        };
        if let Some(what) = not_regular(&metadata) {
            self.problems.push(path.to_owned(), FileProblemKind::NotRegular(what));
        } else if self.builder.filter.wants_length(metadata.len()) {
            match entry(self.builder, path, relative, &metadata) {
                Ok(entry) => self.entries.push(entry),
                Err(error) => self.failed(path.to_owned(), WalkProblem::Io(error)),
            }
        }
    }

    /// Notes a path that the caller wants left out, whether or not it can be read.
    fn leaves_out(&mut self, path: &Path) -> bool {
        let below = hashloom_files::paths::portable(path.strip_prefix(self.root).unwrap_or(path));
        let is_unwanted = self.builder.leave_out.is_some_and(|is_unwanted| is_unwanted(&below));
        if is_unwanted {
            self.left_out.push(below.into());
        }
        is_unwanted
    }

    fn failed(&mut self, path: PathBuf, problem: WalkProblem) {
        if self.leaves_out(&path) {
            return;
        }
        let kind = match problem {
            WalkProblem::Loop { .. } => FileProblemKind::LinkLoop,
            // Links are followed, and this link is there.
            WalkProblem::Io(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
                FileProblemKind::LinkDangling
            }
            WalkProblem::Io(error) => FileProblemKind::Io(error),
        };
        self.problems.push(path, kind);
    }

    /// A path below the root, in the torrent's form.
    fn components(&self, path: &Path) -> Result<Box<[u8]>, FileProblemKind> {
        let mut relative = Vec::new();
        let below = path.strip_prefix(self.root).unwrap_or(path);
        for (index, component) in below.components().enumerate() {
            if index == DEPTH_MAX {
                return Err(FileProblemKind::TooDeep);
            }
            let component = component.as_os_str();
            // On Windows only Rust can read the encoded bytes of a name that is not Unicode.
            let unicode = component.to_str().is_some();
            if !unicode && (self.builder.version != Version::V1 || cfg!(not(unix))) {
                return Err(FileProblemKind::NotUtf8);
            }
            if index > 0 {
                relative.push(b'/');
            }
            relative.extend_from_slice(component.as_encoded_bytes());
        }
        Ok(relative.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_is_the_parsers() {
        assert_eq!(DEPTH_MAX + 4, hashloom_torrent::bencode::Limits::default().depth);
    }
}
