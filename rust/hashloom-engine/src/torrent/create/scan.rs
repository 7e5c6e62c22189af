// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the files of a torrent: everything below a folder, sorted in the order of BEP 52's file tree.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::error::{FileProblemKind, Problems};
use super::{Builder, CreateError, Symlinks};
use crate::paths::{by_components, to_path};
use crate::read::stamp::Stamp;
use crate::torrent::Version;

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

/// The fingerprint of a file's [`Stamp`].
pub(super) fn stamp(metadata: &Metadata) -> u64 {
    Stamp::of(metadata).fingerprint()
}

/// The file or files at `root`, sorted, and whether the root is one file without a folder.
pub(super) fn scan(builder: &Builder, root: &Path) -> Result<(Vec<Entry>, bool), CreateError> {
    let overrides = overrides(builder, root)?;
    let metadata = root.metadata().map_err(|error| CreateError::Path { path: root.to_owned(), error })?;
    if !metadata.is_dir() {
        let mut problems = Problems::default();
        if let Some(what) = not_regular(&metadata) {
            problems.push(root.to_owned(), FileProblemKind::NotRegular(what));
        }
        problems.check()?;
        // The globs apply to a file given by itself as they would in a folder.
        let name = root.file_name().map_or(Path::new(""), Path::new);
        if overrides.matched(name, false).is_ignore() {
            return Err(CreateError::Nothing { path: root.to_owned(), empty: 0 });
        }
        return Ok((vec![entry(builder, Box::default(), &metadata)], true));
    }
    let mut scan = Scan { builder, root, resolved: None, entries: Vec::new(), problems: Problems::default() };
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .ignore(builder.ignore_files)
        .git_ignore(builder.ignore_files)
        .require_git(false)
        .follow_links(builder.symlinks == Symlinks::Follow)
        .overrides(overrides)
        .sort_by_file_name(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    for found in walk.build() {
        match found {
            Ok(found) => scan.found(&found),
            Err(error) => scan.failed(&error),
        }
    }
    let Scan { mut entries, mut problems, .. } = scan;
    // The walk has this order already but does not promise it.
    entries.sort_by(|a, b| by_components(&a.path, &b.path));
    check_links(root, &entries, &mut problems);
    problems.check()?;
    Ok((entries, false))
}

fn overrides(builder: &Builder, root: &Path) -> Result<Override, CreateError> {
    let mut overrides = OverrideBuilder::new(root);
    let failed =
        |glob: &str, message: String| CreateError::Glob { glob: glob.to_owned(), message: message.replace('\n', " ") };
    // The last glob that matches counts, so excluded files stay excluded.
    for (globs, prefix) in [(&builder.include, ""), (&builder.exclude, "!")] {
        for glob in globs {
            if glob.is_empty() || glob.starts_with('!') {
                return Err(failed(glob, "expected a pattern that does not begin with \"!\"".into()));
            }
            overrides.add(&format!("{prefix}{glob}")).map_err(|error| failed(glob, error.to_string()))?;
        }
    }
    overrides.build().map_err(|error| failed("", error.to_string()))
}

fn entry(builder: &Builder, path: Box<[u8]>, metadata: &Metadata) -> Entry {
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0;
    #[cfg(not(unix))]
    let executable = false;
    let executable = executable && builder.executable;
    Entry { path, nbytes: metadata.len(), stamp: stamp(metadata), executable, link: None }
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
    fn found(&mut self, found: &DirEntry) {
        if let Some(error) = found.error() {
            // An ignore file cannot be read. A line in it that is not a glob is ignored, as in git.
            if error.io_error().is_some() {
                self.failed(error);
            }
        }
        if found.depth() == 0 {
            return;
        }
        let path = found.path();
        let is_link = found.file_type().is_some_and(|kind| kind.is_symlink());
        if is_link {
            match self.builder.symlinks {
                Symlinks::Skip => return,
                Symlinks::Refuse => return self.problems.push(path.to_owned(), FileProblemKind::Link),
                Symlinks::Keep | Symlinks::Follow => {}
            }
        }
        let metadata = match found.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return self.failed(&error),
        };
        if metadata.is_dir() {
            return;
        }
        let relative = match self.components(path) {
            Ok(relative) => relative,
            Err(kind) => return self.problems.push(path.to_owned(), kind),
        };
        if is_link {
            let target = self.target(path).and_then(|target| self.components(&target));
            match target {
                Ok(target) => {
                    let stamp = stamp(&metadata);
                    let entry = Entry { path: relative, nbytes: 0, stamp, executable: false, link: Some(target) };
                    self.entries.push(entry);
                }
                Err(kind) => self.problems.push(path.to_owned(), kind),
            }
        } else if let Some(what) = not_regular(&metadata) {
            self.problems.push(path.to_owned(), FileProblemKind::NotRegular(what));
        } else {
            self.entries.push(entry(self.builder, relative, &metadata));
        }
    }

    fn failed(&mut self, error: &ignore::Error) {
        let (path, kind) = problem(error);
        let path = path.unwrap_or(self.root);
        let kind = match kind {
            // The walk gives only the kind of an error. Asked again, the system gives the whole error.
            FileProblemKind::Io(error) if error.raw_os_error().is_none() => {
                let again = path.metadata().err().or_else(|| path.read_dir().err());
                FileProblemKind::Io(again.unwrap_or(error))
            }
            kind => kind,
        };
        let kind = match kind {
            // Links are followed, and this link is there.
            FileProblemKind::Io(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
                FileProblemKind::LinkDangling
            }
            kind => kind,
        };
        self.problems.push(path.to_owned(), kind);
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

/// The place and kind of an error of the walk.
fn problem(error: &ignore::Error) -> (Option<&Path>, FileProblemKind) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (inner, kind) = problem(err);
            (inner.or(Some(path)), kind)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => problem(err),
        ignore::Error::Loop { child, .. } => (Some(child), FileProblemKind::LinkLoop),
        ignore::Error::Partial(errors) => match errors.iter().find(|error| error.io_error().is_some()) {
            Some(error) => problem(error),
            None => (None, FileProblemKind::Io(io::Error::other(error.to_string()))),
        },
        error => {
            let io = match error.io_error() {
                Some(io) => io.raw_os_error().map_or_else(|| io.kind().into(), io::Error::from_raw_os_error),
                None => io::Error::other(error.to_string()),
            };
            (None, FileProblemKind::Io(io))
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
