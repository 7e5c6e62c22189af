// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds where a path leads, and whether it may be followed there.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hashloom_files::Stamp;
use zeroize::Zeroizing;

use crate::secrets::is_key;

/// The greatest number of symbolic links that are followed, the same as Linux's.
const LINKS_MAX: usize = 40;

/// The target of a path.
pub enum Place {
    /// A regular file, or nothing yet: renaming replaces it.
    File(PathBuf),
    /// A device or pipe, such as /dev/stdout: it is written in place.
    Special,
}

/// Follows the symbolic links at the end of `path`. In a folder where anybody may put files, a link, file or FIFO of
/// another user is an error. These are the rules of Linux's fs.protected_symlinks, protected_regular and
/// protected_fifos. They may be switched off, and rename ignores them.
pub fn find(path: &Path) -> io::Result<Place> {
    let is_there = path.metadata();
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        let metadata = match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match is_there {
                // The target of /dev/stdout may have no name.
                Ok(metadata) if is_special(&metadata) => return Ok(Place::Special),
                Ok(_) => return Err(error),
                Err(_) => return Ok(Place::File(place)),
            },
            other => other?,
        };
        refuse_of_others(&place, &metadata)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_symlink() {
            if !metadata.is_file() {
                return Ok(Place::Special);
            }
            refuse_key(&place)?;
            return Ok(Place::File(place));
        }
        place = folder(&place).join(fs::read_link(&place)?);
    }
    Err(io::Error::other("more than 40 symbolic links in a row"))
}

/// Returns an error if a file is a key, secret or public, whichever name it has: no output replaces one. The content
/// tells: the public half of a key that signs may lie anywhere.
pub fn refuse_key(place: &Path) -> io::Result<()> {
    /// Files of keys, their comments and signatures are shorter.
    const NBYTES_MAX: usize = 512 << 10;
    let mut bytes = Zeroizing::new(Vec::with_capacity(NBYTES_MAX + 32));
    // A file that this user cannot read is none by which a run signs or checks.
    let read = File::open(place).and_then(|file| file.take(NBYTES_MAX as u64).read_to_end(&mut bytes));
    if read.is_ok() && is_key(&bytes) {
        return Err(io::Error::other("it is a key, and a key is never replaced: give the output another name"));
    }
    Ok(())
}

/// Returns true for a device or pipe, which renaming cannot replace.
pub fn is_special(metadata: &Metadata) -> bool {
    !metadata.is_file() && !metadata.is_dir()
}

/// Returns an error if `place` is another user's, in a folder where anybody may put files.
#[cfg(unix)]
pub fn refuse_of_others(place: &Path, metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const STICKY_AND_WRITABLE_BY_ALL: u32 = 0o1002;
    let folder = folder(place).metadata()?;
    let is_open_to_all = folder.mode() & STICKY_AND_WRITABLE_BY_ALL == STICKY_AND_WRITABLE_BY_ALL;
    let own = rustix::process::geteuid().as_raw();
    if is_open_to_all && metadata.uid() != own && metadata.uid() != folder.uid() {
        let what = if metadata.is_symlink() { "the symbolic link" } else { "the file" };
        let why = format!("{what} belongs to another user, in a folder where anybody may put files; it is left alone");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn refuse_of_others(_place: &Path, _metadata: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns the folder of a path.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Identifies a file by its device and inode numbers, on Windows by those of its volume and of the file there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(u64, u64);

impl Identity {
    /// What Windows tells of folders and devices, and in metadata. It says nothing.
    const UNKNOWN: Identity = Identity(0, 0);

    pub fn of(metadata: &Metadata) -> Identity {
        Identity::from(&Stamp::of(metadata))
    }

    /// The identity of an open file.
    pub fn of_file(file: &File) -> io::Result<Identity> {
        Ok(if cfg!(windows) {
            Stamp::of_file(file)?.map_or(Identity::UNKNOWN, |stamp| Identity::from(&stamp))
        } else {
            Identity::of(&file.metadata()?)
        })
    }

    /// The identity of what is at a path, of a link's target if `follow`.
    pub fn at(path: &Path, follow: bool) -> io::Result<Identity> {
        Identity::of_known(path, &if follow { path.metadata() } else { path.symlink_metadata() }?)
    }

    /// The identity of what is at a path and has this metadata.
    pub fn of_known(path: &Path, metadata: &Metadata) -> io::Result<Identity> {
        Ok(if cfg!(windows) && metadata.is_file() {
            Stamp::at(path)?.map_or(Identity::UNKNOWN, |stamp| Identity::from(&stamp))
        } else {
            Identity::of(metadata)
        })
    }

    /// Returns true if `path` leads to this file, a regular one.
    pub fn is_at(self, path: &Path) -> bool {
        Stamp::at(path).ok().flatten().is_some_and(|stamp| Identity::from(&stamp) == self)
    }
}

impl From<&Stamp> for Identity {
    fn from(stamp: &Stamp) -> Identity {
        Identity(stamp.dev, stamp.ino)
    }
}

/// Returns the stamp of standard output if that is a regular file.
pub fn stamp_of_stdout() -> Option<Stamp> {
    #[cfg(unix)]
    {
        let file = File::from(rustix::stdio::stdout().try_clone_to_owned().ok()?);
        file.metadata().ok().filter(Metadata::is_file).map(|metadata| Stamp::of(&metadata))
    }
    #[cfg(windows)]
    {
        let stdout = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned().ok()?;
        Stamp::of_file(&stdout.into()).ok().flatten()
    }
    #[cfg(not(any(unix, windows)))]
    None
}

/// Compares one file with others, by their places and, if they exist, by their identities.
pub struct Same {
    identity: Option<Identity>,
    /// The file's folder, free of links, and its name there.
    place: Option<(PathBuf, OsString)>,
}

impl Same {
    pub fn new(path: &Path) -> Same {
        let place = path.file_name().and_then(|name| Some((folder(path).canonicalize().ok()?, name.to_owned())));
        let identity = Identity::at(path, true).ok().filter(|identity| *identity != Identity::UNKNOWN);
        Same { identity, place }
    }

    /// Returns true if `other` is that file.
    pub fn is(&self, other: &Path) -> bool {
        let at_place = |(place, name): &(PathBuf, OsString)| {
            other.file_name() == Some(name.as_os_str())
                && folder(other).canonicalize().is_ok_and(|folder| folder == *place)
        };
        self.place.as_ref().is_some_and(at_place)
            || self.identity.is_some_and(|identity| Identity::at(other, true).is_ok_and(|other| other == identity))
    }
}
