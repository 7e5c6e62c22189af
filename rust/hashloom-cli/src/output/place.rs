// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where a path leads, and whether it may be followed there.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// As many symbolic links are followed as Linux follows.
const LINKS_MAX: usize = 40;

/// What a path leads to.
pub enum Place {
    /// A regular file, or nothing yet: it is replaced by renaming.
    File(PathBuf),
    /// A device or pipe, such as /dev/stdout: it is written to as it stands.
    Special,
}

/// Follows the symbolic links at the end of `path`. One that another user has put into a folder where anybody may put
/// files is an error, as is a file or FIFO of theirs: the rules of Linux's fs.protected_symlinks, protected_regular and
/// protected_fifos, which may be switched off, and of which renaming knows nothing.
pub fn find(path: &Path) -> io::Result<Place> {
    let is_there = path.metadata();
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        let metadata = match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match is_there {
                // What /dev/stdout leads to has no name.
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
            return Ok(if metadata.is_file() { Place::File(place) } else { Place::Special });
        }
        place = folder(&place).join(fs::read_link(&place)?);
    }
    Err(io::Error::other("more than 40 symbolic links, one behind the other"))
}

/// A device or pipe, which cannot be replaced by renaming.
pub fn is_special(metadata: &Metadata) -> bool {
    !metadata.is_file() && !metadata.is_dir()
}

/// An error if `place` is another user's, and lies where anybody may put files.
#[cfg(unix)]
pub fn refuse_of_others(place: &Path, metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const STICKY_AND_WRITABLE_BY_ALL: u32 = 0o1002;
    let folder = folder(place).metadata()?;
    let is_open_to_all = folder.mode() & STICKY_AND_WRITABLE_BY_ALL == STICKY_AND_WRITABLE_BY_ALL;
    let own = rustix::process::geteuid().as_raw();
    if is_open_to_all && metadata.uid() != own && metadata.uid() != folder.uid() {
        let what = if metadata.is_symlink() { "the symbolic link" } else { "what is there" };
        let why = format!("{what} is another user's, in a folder where anybody may put files; it is left alone");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn refuse_of_others(_place: &Path, _metadata: &Metadata) -> io::Result<()> {
    Ok(())
}

/// What it lies in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Which file it is: the numbers of its device and of the file on it; where there are none, any file is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(u64, u64);

impl Identity {
    pub fn of(metadata: &Metadata) -> Identity {
        let stamp = hashloom_engine::files::Stamp::of(metadata);
        Identity(stamp.dev, stamp.ino)
    }
}

/// Compares one file with others, by where they are and, if they exist, by what they are.
pub struct Same {
    metadata: Option<Metadata>,
    /// Its folder without links, and its name there.
    place: Option<(PathBuf, OsString)>,
}

impl Same {
    pub fn new(path: &Path) -> Same {
        let place = path.file_name().and_then(|name| Some((folder(path).canonicalize().ok()?, name.to_owned())));
        Same { metadata: path.metadata().ok(), place }
    }

    /// Whether `other` is that file.
    pub fn is(&self, other: &Path) -> bool {
        let at_place = |(place, name): &(PathBuf, OsString)| {
            other.file_name() == Some(name.as_os_str())
                && folder(other).canonicalize().is_ok_and(|folder| folder == *place)
        };
        self.place.as_ref().is_some_and(at_place)
            || self.metadata.as_ref().is_some_and(|metadata| is_file(metadata, other))
    }
}

#[cfg(unix)]
fn is_file(metadata: &Metadata, other: &Path) -> bool {
    other.metadata().is_ok_and(|other| Identity::of(&other) == Identity::of(metadata))
}

#[cfg(not(unix))]
fn is_file(_metadata: &Metadata, _other: &Path) -> bool {
    // There is no stable way to ask; the place has been compared.
    false
}
