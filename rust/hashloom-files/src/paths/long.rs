// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths that are too long for a system call.
//!
//! Linux takes paths of fewer than 4096 bytes (`PATH_MAX`), but folders may lie deeper. The parts of a longer path are
//! opened one below the other, each as long as a call takes, and the last part is left for the call itself. A path that
//! a call takes costs nothing more. On other systems a path that is too long is an error.

use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::Path;

#[cfg(unix)]
pub(crate) use self::unix::{STEP, at, open};

/// Whether a path is too long for a system call, and is opened in parts.
pub(crate) fn is_long(path: &Path) -> bool {
    path.as_os_str().len() > LONGEST
}

/// Length of the longest path that a system call takes, without the zero byte at its end.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LONGEST: usize = libc::PATH_MAX as usize - 1;
/// The system's calls see all paths, and tell which are too long.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LONGEST: usize = isize::MAX as usize;

/// [`std::fs::metadata`], on Linux for paths of any length.
///
/// # Errors
/// As of [`std::fs::metadata`].
///
/// ```
/// use std::path::PathBuf;
///
/// let long = PathBuf::from("./".repeat(5000));
/// assert_eq!(hashloom_files::paths::metadata(&long).is_ok(), cfg!(target_os = "linux"));
/// ```
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if is_long(path) {
        return at(path, |folder, path| linux::metadata(folder, path, true));
    }
    fs::metadata(path)
}

/// [`std::fs::symlink_metadata`], on Linux for paths of any length.
///
/// # Errors
/// As of [`std::fs::symlink_metadata`].
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("file");
/// std::fs::write(&path, "abc")?;
/// assert_eq!(hashloom_files::paths::symlink_metadata(&path)?.len(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if is_long(path) {
        return at(path, |folder, path| linux::metadata(folder, path, false));
    }
    fs::symlink_metadata(path)
}

/// The target of a link.
pub fn read_link(path: &Path) -> io::Result<std::path::PathBuf> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if is_long(path) {
        return at(path, linux::read_link);
    }
    fs::read_link(path)
}

/// The name and type of an entry of a folder.
pub type Named = (OsString, io::Result<FileType>);

/// Lists a folder. An error that the listing breaks off with comes after what was listed.
pub fn list(folder: &Path) -> io::Result<Vec<io::Result<Named>>> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if is_long(folder) {
        return linux::list(folder);
    }
    Ok(fs::read_dir(folder)?.map(|entry| entry.map(|entry| (entry.file_name(), entry.file_type()))).collect())
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::{Errno, retry_on_intr};

    use super::{LONGEST, is_long};

    /// Flags to open a folder that is searched but not listed.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) const STEP: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) const STEP: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

    /// Calls with a folder, and a path that leads from there to the same file as `path`, and that a system call takes.
    pub(crate) fn at<R>(path: &Path, call: impl FnOnce(BorrowedFd<'_>, &Path) -> io::Result<R>) -> io::Result<R> {
        let mut rest = path.as_os_str().as_bytes();
        let mut folder: Option<OwnedFd> = None;
        while rest.len() > LONGEST {
            // A name without any slash is longer than any file system's names.
            let slash = rest[..LONGEST].iter().rposition(|&byte| byte == b'/').ok_or(Errno::NAMETOOLONG)?;
            let (part, after) = rest.split_at(slash + 1);
            let here = folder.as_ref().map_or(CWD, OwnedFd::as_fd);
            folder = Some(openat(here, part, STEP, Mode::empty())?);
            // The rest must not begin with a slash: it would be an absolute path.
            let name = after.iter().position(|&byte| byte != b'/');
            rest = name.map_or(b".", |name| &after[name..]);
        }
        call(folder.as_ref().map_or(CWD, OwnedFd::as_fd), Path::new(std::ffi::OsStr::from_bytes(rest)))
    }

    /// Opens a file for reading, with more flags.
    pub(crate) fn open(path: &Path, flags: i32) -> io::Result<File> {
        if !is_long(path) {
            return File::options().read(true).custom_flags(flags).open(path);
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::from_bits_retain(flags as _);
        at(path, |folder, path| Ok(retry_on_intr(|| openat(folder, path, flags, Mode::empty()))?.into()))
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::ffi::OsStr;
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fd::{AsFd, BorrowedFd};
    use rustix::fs::{Dir, Mode, OFlags, openat};

    use super::{Named, open};

    pub(super) fn metadata(folder: BorrowedFd<'_>, path: &Path, follow: bool) -> io::Result<Metadata> {
        let links = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let file = openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | links, Mode::empty())?;
        File::from(file).metadata()
    }

    pub(super) fn read_link(folder: BorrowedFd<'_>, path: &Path) -> io::Result<std::path::PathBuf> {
        use std::os::unix::ffi::OsStringExt;

        let target = rustix::fs::readlinkat(folder, path, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }

    pub(super) fn list(folder: &Path) -> io::Result<Vec<io::Result<Named>>> {
        let folder = open(folder, libc::O_DIRECTORY)?;
        let named = Dir::read_from(&folder)?.filter_map(|entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(errno.into())),
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let file_type = || metadata(folder.as_fd(), name.as_ref(), false).map(|metadata| metadata.file_type());
            (name != "." && name != "..").then(|| Ok((name.to_owned(), file_type())))
        });
        Ok(named.collect())
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// Paths of each length around that of the longest, and of several times as much, which lead to a folder.
    fn ways(folder: &Path) -> impl Iterator<Item = PathBuf> + '_ {
        let nbytes = folder.as_os_str().len();
        let around = [1, 2, 3].into_iter().flat_map(|times| times * LONGEST - 8..times * LONGEST + 8);
        let through = ["/", "/.", "/./", "//////////////////////.", "/a/.."].into_iter();
        through.flat_map(move |part| {
            around.clone().map(move |end| {
                let mut path = folder.as_os_str().to_owned();
                path.push(part.repeat((end - nbytes) / part.len()));
                PathBuf::from(path)
            })
        })
    }

    #[test]
    fn a_long_path_leads_where_a_short_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("a")).unwrap();
        fs::write(folder.join("file"), "abc").unwrap();
        symlink("file", folder.join("link")).unwrap();
        symlink("nothing", folder.join("dangling")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        let mut nlong = 0;
        for way in ways(folder) {
            nlong += usize::from(is_long(&way));
            let found = list(&way).unwrap().into_iter().map(|named| named.unwrap());
            let mut found: Vec<_> = found.map(|(name, file_type)| (name, file_type.unwrap())).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            let names: Vec<_> = found.iter().map(|(name, _)| name.to_str().unwrap()).collect();
            assert_eq!(names, ["a", "dangling", "file", "link", "loop"]);
            let types = found.iter().map(|(_, found)| (found.is_dir(), found.is_file(), found.is_symlink()));
            let (a, file, link) = ((true, false, false), (false, true, false), (false, false, true));
            assert_eq!(types.collect::<Vec<_>>(), [a, link, file, link, link]);

            for name in ["file", "link"] {
                let mut text = String::new();
                open(&way.join(name), libc::O_NONBLOCK).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "abc");
                assert!(metadata(&way.join(name)).unwrap().is_file());
                assert_eq!(symlink_metadata(&way.join(name)).unwrap().is_symlink(), name == "link");
            }
            assert_eq!(read_link(&way.join("dangling")).unwrap(), Path::new("nothing"));
            assert!(metadata(&way).unwrap().is_dir());

            let name_max = "x".repeat(256);
            for (name, errno) in [
                ("missing", libc::ENOENT),
                ("missing/a", libc::ENOENT),
                ("dangling", libc::ENOENT),
                ("loop", libc::ELOOP),
                ("file/", libc::ENOTDIR),
                ("file/a", libc::ENOTDIR),
                (&name_max, libc::ENAMETOOLONG),
                (&"x".repeat(5000), libc::ENAMETOOLONG),
                (&format!("{}/a", "x".repeat(5000)), libc::ENAMETOOLONG),
            ] {
                let path = way.join(name);
                let nbytes = path.as_os_str().len();
                assert_eq!(metadata(&path).unwrap_err().raw_os_error(), Some(errno), "{name}: {nbytes}");
                assert_eq!(open(&path, 0).unwrap_err().raw_os_error(), Some(errno), "{name}: {nbytes}");
            }
        }
        assert!(nlong > 150, "{nlong}");
    }
}
