// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the files of a torrent: everything below a folder, sorted in the order of BEP 52's file tree.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use hashloom_files::paths::{by_components, to_path};
use hashloom_files::read::stamp::Stamp;
use hashloom_files::walk::{Walk, WalkError, WalkProblem};

use super::error::{FileProblemKind, Problems};
use super::{Builder, CreateError, Symlinks};
use crate::Version;

/// Largest number of components of a path: our parser, and libtorrent, follow no deeper file tree. The document,
/// `info`, `file tree` and the file's own dictionary are four more levels.
pub(super) const DEPTH_MAX: usize = 96;

/// A file of the torrent.
#[derive(Debug)]
pub(super) struct Entry {
    /// The path below the root, its components joined by `/`; empty if the root is this file.
    pub(super) path: Box<[u8]>,
    pub(super) nbytes: u64,
    /// See [`stamp`].
    pub(super) stamp: u64,
    pub(super) executable: bool,
    /// The target of a link that is kept, below the root.
    pub(super) link: Option<Box<[u8]>>,
}

/// The fingerprint of a file's [`Stamp`], or of that of a link itself.
pub(super) fn stamp(path: &Path, is_link: bool, metadata: &Metadata) -> io::Result<u64> {
    Ok(Stamp::of_known(path, !is_link, metadata)?.fingerprint())
}

/// The file or files at `root`, sorted, and whether the root is one file without a folder.
pub(super) fn scan(builder: &Builder, root: &Path) -> Result<(Vec<Entry>, bool), CreateError> {
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
        return Ok((vec![entry.map_err(|error| CreateError::Path { path: root.to_owned(), error })?], true));
    }
    let mut scan = Scan { builder, root, resolved: None, entries: Vec::new(), problems: Problems::default() };
    let walk = Walk::new(root).follow_links(builder.symlinks == Symlinks::Follow);
    for found in walk.filter(builder.filter.clone()).entries() {
        match found {
            Ok(entry) if entry.file_type.is_dir() => {}
            Ok(entry) => scan.found(&entry.path, entry.file_type.is_symlink()),
            Err(error) => scan.failed(error),
        }
    }
    let Scan { entries, mut problems, .. } = scan;
    check_links(root, &entries, &mut problems);
    problems.check()?;
    Ok((entries, false))
}

fn entry(builder: &Builder, place: &Path, path: Box<[u8]>, metadata: &Metadata) -> io::Result<Entry> {
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0;
    #[cfg(not(unix))]
    let executable = false;
    let executable = executable && builder.executable;
    Ok(Entry { path, nbytes: metadata.len(), stamp: stamp(place, false, metadata)?, executable, link: None })
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
    /// The root without links, resolved when first needed.
    resolved: Option<PathBuf>,
    entries: Vec<Entry>,
    problems: Problems,
}

impl Scan<'_> {
    /// Takes something that is not a folder.
    fn found(&mut self, path: &Path, is_link: bool) {
        if is_link {
            match self.builder.symlinks {
                Symlinks::Skip => return,
                Symlinks::Refuse => return self.problems.push(path.to_owned(), FileProblemKind::Link),
                Symlinks::Keep | Symlinks::Follow => {}
            }
        }
        let metadata = if is_link { path.symlink_metadata() } else { path.metadata() };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => return self.failed(WalkError { path: path.to_owned(), problem: WalkProblem::Io(error) }),
        };
        let relative = match self.components(path) {
            Ok(relative) => relative,
            Err(kind) => return self.problems.push(path.to_owned(), kind),
        };
        if is_link {
            let target = self.target(path).and_then(|target| self.components(&target));
            match target {
                Ok(target) => {
                    let entry =
                        |stamp| Entry { path: relative, nbytes: 0, stamp, executable: false, link: Some(target) };
                    self.take(path, stamp(path, true, &metadata).map(entry));
                }
                Err(kind) => self.problems.push(path.to_owned(), kind),
            }
        } else if let Some(what) = not_regular(&metadata) {
            self.problems.push(path.to_owned(), FileProblemKind::NotRegular(what));
        } else if self.builder.filter.wants_length(metadata.len()) {
            self.take(path, entry(self.builder, path, relative, &metadata));
        }
    }

    fn take(&mut self, path: &Path, entry: io::Result<Entry>) {
        match entry {
            Ok(entry) => self.entries.push(entry),
            Err(error) => self.failed(WalkError { path: path.to_owned(), problem: WalkProblem::Io(error) }),
        }
    }

    fn failed(&mut self, error: WalkError) {
        let WalkError { path, problem } = error;
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

    /// The target of a link that is kept: a path below the root, which is where BEP 47 counts from. Links on the way
    /// are resolved, but the target itself is not if it is a link.
    fn target(&mut self, link: &Path) -> Result<PathBuf, FileProblemKind> {
        let io = FileProblemKind::Io;
        let resolved = match &self.resolved {
            Some(resolved) => resolved,
            None => self.resolved.insert(self.root.canonicalize().map_err(io)?),
        };
        let target = link.read_link().map_err(io)?;
        let target = link.parent().unwrap_or(self.root).join(target);
        let whole = match (target.parent(), target.file_name()) {
            (Some(folder), Some(name)) => folder.canonicalize().map(|folder| folder.join(name)),
            // The path ends in "..".
            _ => target.canonicalize(),
        };
        match whole {
            Ok(whole) => match whole.strip_prefix(resolved) {
                Ok(below) => Ok(self.root.join(below)),
                Err(_) => Err(FileProblemKind::LinkOutside(whole)),
            },
            Err(_) => Err(FileProblemKind::LinkTarget(target)),
        }
    }
}

/// Checks that the target of every kept link is a file or folder of the torrent: any other target would lead nowhere
/// after a download.
fn check_links(root: &Path, entries: &[Entry], problems: &mut Problems) {
    for entry in entries {
        let Some(target) = &entry.link else { continue };
        // The first file at or below the target, or the place where it would be.
        let first = entries.partition_point(|entry| by_components(&entry.path, target).is_lt());
        let is_there = entries.get(first).is_some_and(|found| {
            let rest = found.path.strip_prefix(&target[..]);
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || target.is_empty())
        });
        if !is_there || target.is_empty() {
            let kind = FileProblemKind::LinkTarget(root.join(to_path(target)));
            problems.push(root.join(to_path(&entry.path)), kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_is_the_parsers() {
        assert_eq!(DEPTH_MAX + 4, crate::bencode::Limits::default().depth);
    }
}
