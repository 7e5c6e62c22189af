// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opening files below a folder, for reading, and never outside of it.
//!
//! A relative path may lead through symbolic links as long as they stay in the folder. Only regular files are opened: a
//! FIFO at the path does not block, a device is not read.
//!
//! On Linux `openat2` with `RESOLVE_BENEATH` does this in one call. It refuses absolute links, even those that lead
//! back into the folder, and older kernels and some sandboxes lack it. In these cases, and on other Unix systems, each
//! component is opened below the one before without following links. If a component is a link, the path is resolved by
//! name, checked to be in the folder, and opened again the same way, so that a link swapped in between is not
//! followed either. On other systems the resolved path is checked before it is opened.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::read::stamp::{Stamp, look_at};

/// A folder that files are opened below.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    #[cfg(unix)]
    folder: rustix::fd::OwnedFd,
    /// `path` without links, resolved when first needed.
    resolved: OnceLock<PathBuf>,
}

/// The folder of the last file below a root. The next file is mostly in the same folder. The folder is open, so only a
/// name must be looked up. This saves a twentieth of the whole work in a check of small files.
#[derive(Default)]
pub(crate) struct LastFolder {
    /// The number of the files that the folder belongs to, and the folder's path with a slash behind it.
    #[cfg(unix)]
    of: (usize, Vec<u8>),
    /// `None` if the folder was asked for only once, or cannot be opened.
    #[cfg(unix)]
    open: Option<rustix::fd::OwnedFd>,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    /// The file's stamp before it is read.
    pub(crate) stamp: Stamp,
}

/// Why a file was not opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The file is missing.
    Missing,
    /// A link leads out of the folder, to this path.
    Outside(PathBuf),
    /// Something other than a regular file: "a folder".
    NotRegular(&'static str),
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        match error.kind() {
            // A path below a file, or a name that the file system cannot have, counts as missing too.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenError::Missing,
            _ if is_impossible_name(&error) => OpenError::Missing,
            _ => OpenError::Io(error),
        }
    }
}

/// Whether the name is too long, or on Windows has impossible characters. The standard library's own kind for this is
/// younger than Rust 1.85.
fn is_impossible_name(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::NAMETOOLONG.raw_os_error());
    // ERROR_INVALID_NAME, ERROR_FILENAME_EXCED_RANGE
    #[cfg(not(unix))]
    return matches!(error.raw_os_error(), Some(123 | 206));
}

impl Root {
    /// `path` must be a folder. If it is a link, the link is followed.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        Ok(Root {
            path: path.to_owned(),
            #[cfg(unix)]
            folder: unix::open_folder(path)?,
            resolved: OnceLock::new(),
        })
    }

    /// The path that the root was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file at a relative path. `last` is for calls with this root and this `number`; a new number means that
    /// the last folder may have moved.
    pub(crate) fn open_file(&self, relative: &Path, number: usize, last: &mut LastFolder) -> Result<Opened, OpenError> {
        #[cfg(unix)]
        return unix::open_beneath(self, relative, number, last);
        #[cfg(not(unix))]
        {
            let _ = (number, last);
            open_regular(&self.path.join(self.resolve(relative)?))
        }
    }

    /// The stamp of the file at a relative path now. Links are followed wherever they lead: a file that was opened is
    /// known by its stamp, whatever the path to it. `last` is only for calls of this method with this root.
    pub(crate) fn stamp(&self, relative: &Path, last: &mut LastFolder) -> io::Result<Stamp> {
        #[cfg(unix)]
        return unix::stamp(self, relative, last);
        #[cfg(not(unix))]
        {
            let _ = last;
            stamp_at(&self.path.join(relative))
        }
    }

    /// The relative path without links, checked to be in the folder.
    fn resolve(&self, relative: &Path) -> Result<PathBuf, OpenError> {
        let folder = match self.resolved.get() {
            Some(folder) => folder,
            None => {
                let folder = std::fs::canonicalize(&self.path)?;
                self.resolved.get_or_init(|| folder)
            }
        };
        let target = std::fs::canonicalize(self.path.join(relative))?;
        match target.strip_prefix(folder) {
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) => Err(OpenError::Outside(target)),
        }
    }
}

/// The stamp of the file at a path, links followed.
pub(crate) fn stamp_at(path: &Path) -> io::Result<Stamp> {
    Ok(look_at(path, true)?.1)
}

/// Opens a file that the caller has named, wherever it is.
pub(crate) fn open_regular(path: &Path) -> Result<Opened, OpenError> {
    #[cfg(unix)]
    return unix::open_regular(path);
    #[cfg(not(unix))]
    {
        #[cfg(windows)]
        let file = crate::read::windows::open(path)?;
        #[cfg(not(windows))]
        let file = File::open(path)?;
        match Stamp::before_reading(&file)? {
            Some(stamp) => Ok(Opened { file, stamp }),
            None if file.metadata()?.is_dir() => Err(OpenError::NotRegular("a folder")),
            None => Err(OpenError::NotRegular("not a regular file")),
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Component, Path};

    use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
    use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
    use rustix::io::Errno;

    use super::{LastFolder, OpenError, Opened, Root, Stamp};
    use crate::read::stamp::{Follow, look};

    /// Flags to open a folder that is searched but not listed.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const STEP: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const STEP: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

    /// Opening a FIFO without `NONBLOCK` would wait for a writer.
    const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

    impl From<Errno> for OpenError {
        fn from(errno: Errno) -> OpenError {
            match errno {
                Errno::NXIO | Errno::NODEV => OpenError::NotRegular("a socket or device"),
                // The system's message ("too many levels of symbolic links") says what to look for.
                errno => std::io::Error::from(errno).into(),
            }
        }
    }

    pub(super) fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
        match openat(CWD, path, STEP, Mode::empty()) {
            Ok(folder) => Ok(folder),
            Err(errno) => Err(errno.into()),
        }
    }

    impl LastFolder {
        /// The folder of a file, if it was the last file's, too, and the file's name in it. `open` opens the folder. If
        /// `open` fails, for instance because no more files may be open, the result is `None` and the whole path is
        /// opened.
        fn enter<'a>(
            &mut self,
            relative: &'a Path,
            number: usize,
            open: impl FnOnce(&[u8]) -> Result<OwnedFd, Errno>,
        ) -> Option<(BorrowedFd<'_>, &'a [u8])> {
            let bytes = relative.as_os_str().as_bytes();
            let (folder, name) = bytes.split_at(bytes.iter().rposition(|&byte| byte == b'/')? + 1);
            if self.of.0 != number || self.of.1 != folder {
                *self = LastFolder { of: (number, folder.to_owned()), open: None };
                return None;
            }
            if self.open.is_none() {
                self.open = open(folder).ok();
            }
            Some((self.open.as_ref()?.as_fd(), name))
        }
    }

    pub(super) fn stamp(root: &Root, relative: &Path, last: &mut LastFolder) -> std::io::Result<Stamp> {
        let entered = last.enter(relative, 0, |folder| openat(&root.folder, folder, STEP, Mode::empty()));
        let (_, stamp) = match entered {
            Some((folder, name)) => look(folder, name, Follow::Links)?,
            None => look(&root.folder, relative, Follow::Links)?,
        };
        Ok(stamp)
    }

    pub(super) fn open_regular(path: &Path) -> Result<Opened, OpenError> {
        regular(openat(CWD, path, FILE, Mode::empty())?)
    }

    fn regular(file: OwnedFd) -> Result<Opened, OpenError> {
        let file = file.into();
        if let Some(stamp) = Stamp::before_reading(&file)? {
            return Ok(Opened { file, stamp });
        }
        Err(OpenError::NotRegular(match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::Directory => "a folder",
            FileType::Fifo => "a FIFO",
            _ => "a socket or device",
        }))
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn open_beneath(
        root: &Root,
        relative: &Path,
        number: usize,
        last: &mut LastFolder,
    ) -> Result<Opened, OpenError> {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let entered =
            last.enter(relative, number, |folder| openat2(&root.folder, folder, STEP, Mode::empty(), resolve));
        // If the name is a link or missing, the whole path decides.
        if let Some(Ok(file)) =
            entered.map(|(folder, name)| openat(folder, name, FILE | OFlags::NOFOLLOW, Mode::empty()))
        {
            return regular(file);
        }
        match openat2(&root.folder, relative, FILE, Mode::empty(), resolve) {
            Ok(file) => regular(file),
            // XDEV: a link leads out, or is absolute. NOSYS, PERM: the call does not exist, or a sandbox does not know
            // it. AGAIN: something on the path was renamed.
            Err(Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::AGAIN) => step_by_step(root, relative),
            Err(errno) => Err(errno.into()),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) fn open_beneath(
        root: &Root,
        relative: &Path,
        _number: usize,
        _last: &mut LastFolder,
    ) -> Result<Opened, OpenError> {
        step_by_step(root, relative)
    }

    /// Opens the path without links if it has none; otherwise resolves the links and opens the result without links.
    pub(super) fn step_by_step(root: &Root, relative: &Path) -> Result<Opened, OpenError> {
        match without_links(root, relative) {
            Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                Ok(without_links(root, &root.resolve(relative)?).map(regular)??)
            }
            other => other.map(regular)?,
        }
    }

    /// Opens a path without following links: `LOOP` or `NOTDIR` if one of the components is a link.
    fn without_links(root: &Root, relative: &Path) -> Result<OwnedFd, Errno> {
        let mut names = relative.components().map(|component| match component {
            Component::Normal(name) => Ok(name),
            // A torrent's checked path and a resolved path have only normal components.
            _ => Err(Errno::INVAL),
        });
        let mut last = names.next().ok_or(Errno::ISDIR)??;
        let mut folder: Option<OwnedFd> = None;
        for name in names {
            let here = folder.as_ref().map_or(root.folder.as_fd(), |folder| folder.as_fd());
            folder = Some(openat(here, last, STEP | OFlags::NOFOLLOW, Mode::empty())?);
            last = name?;
        }
        let here = folder.as_ref().map_or(root.folder.as_fd(), |folder| folder.as_fd());
        openat(here, last, FILE | OFlags::NOFOLLOW, Mode::empty())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    type Open = fn(&Root, &Path) -> Result<Opened, OpenError>;

    /// All ways to open a file, so that those which this kernel does not need are tested too.
    const WAYS: [(&str, Open); 3] = [
        ("open_file", |r, p| r.open_file(p, 0, &mut LastFolder::default())),
        ("in the folder of the last", |r, p| {
            let mut last = LastFolder::default();
            let _ = r.open_file(p, 7, &mut last);
            r.open_file(p, 7, &mut last)
        }),
        ("step_by_step", |r, p| unix::step_by_step(r, p)),
    ];

    fn folder() -> (tempfile::TempDir, Root) {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        std::fs::create_dir_all(inner.join("a/b")).unwrap();
        std::fs::write(inner.join("a/b/file"), "inside").unwrap();
        std::fs::write(outer.path().join("secret"), "outside").unwrap();
        symlink("a/b/file", inner.join("link")).unwrap();
        symlink("../a/b", inner.join("a/up")).unwrap();
        symlink(inner.join("a/b/file"), inner.join("absolute")).unwrap();
        symlink("../secret", inner.join("out")).unwrap();
        symlink(outer.path().join("secret"), inner.join("absolute out")).unwrap();
        symlink("..", inner.join("a/b/outer")).unwrap();
        symlink("../../..", inner.join("a/b/outermost")).unwrap();
        symlink("nothing", inner.join("dangling")).unwrap();
        symlink("loop", inner.join("loop")).unwrap();
        let root = Root::open(&inner).unwrap();
        (outer, root)
    }

    #[test]
    fn what_is_inside_opens() {
        let (_outer, root) = folder();
        for (way, open) in WAYS {
            for path in ["a/b/file", "link", "a/up/file", "absolute", "a/b/outer/b/file"] {
                let mut text = String::new();
                let mut opened = open(&root, path.as_ref()).unwrap_or_else(|e| panic!("{way} {path}: {e:?}"));
                opened.file.read_to_string(&mut text).unwrap();
                assert_eq!((text.as_str(), opened.stamp.nbytes), ("inside", 6), "{way} {path}");
            }
        }
    }

    #[test]
    fn what_is_outside_does_not() {
        let (outer, root) = folder();
        let secret = outer.path().canonicalize().unwrap().join("secret");
        for (way, open) in WAYS {
            for path in ["out", "absolute out", "a/b/outermost/secret"] {
                match open(&root, path.as_ref()) {
                    Err(OpenError::Outside(target)) => assert_eq!(target, secret, "{way} {path}"),
                    other => panic!("{way} {path}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let (_outer, root) = folder();
        let long = "x".repeat(300);
        for (way, open) in WAYS {
            for path in ["no", "no/file", "a/b/file/no", "dangling", "link/no", long.as_str()] {
                let opened = open(&root, path.as_ref());
                assert!(matches!(opened, Err(OpenError::Missing)), "{way} {path}: {opened:?}");
            }
            assert!(matches!(open(&root, "loop".as_ref()), Err(OpenError::Io(_))), "{way}");
        }
    }

    #[test]
    fn what_is_no_regular_file_neither_blocks_nor_opens() {
        let (outer, root) = folder();
        let fifo = outer.path().join("inner/fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(outer.path().join("inner/socket")).unwrap();
        for (way, open) in WAYS {
            for path in ["a", "fifo", "socket"] {
                let opened = open(&root, path.as_ref());
                assert!(matches!(opened, Err(OpenError::NotRegular(_))), "{way} {path}: {opened:?}");
            }
        }
        assert!(matches!(open_regular(&fifo), Err(OpenError::NotRegular("a FIFO"))));
    }
}
