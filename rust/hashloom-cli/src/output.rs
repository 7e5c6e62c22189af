// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the program writes: standard output, and files by writing another one and renaming it: there is never half of
//! one, and the old one stays until the new one is on the disk.

mod place;
mod state;
mod temporary;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use place::{Identity, Place, is_special};
pub use place::{Same, folder};
pub use state::State;
use temporary::Temporary;
pub use temporary::exit;

use crate::stdio::Stdout;

/// Prints to standard output what `print` writes.
pub fn print(print: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<()>) -> Result<(), String> {
    // Threads that print take turns.
    let _turn = io::stdout().lock();
    let mut out = BufWriter::new(Stdout);
    match print(&mut out).and_then(|()| out.flush()) {
        // Whoever read the output has seen enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("standard output: {error}")),
    }
}

/// Whether `path` can be written, as far as can be said before there is anything to write. A check can take hours, and
/// nothing shall lie about if it is interrupted: so a temporary file is made and removed at once.
pub fn probe(path: &Path) -> io::Result<()> {
    match place::find(path)? {
        Place::Special => Ok(()),
        Place::File(path) => Temporary::new(&path, false).map(drop),
    }
}

/// Writes `bytes` to `path`, which is replaced if it exists. Of a symbolic link to a file the file is replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |mut file| file.write_all(bytes))
}

/// The same for what is too long to be in memory: `write` gets the new file.
pub fn write_with(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let pending = Pending::begin(path)?;
    write(pending.file())?;
    pending.end(true)
}

/// Writes `bytes` to `path`, where nothing may be: what has come there meanwhile stays.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let pending = Pending::begin(path)?;
    pending.file().write_all(bytes)?;
    pending.end(false)
}

/// A file that is being written, under another name or none until it is whole; a device or pipe as it stands.
pub struct Pending(Kind);

enum Kind {
    File { temporary: Temporary, path: PathBuf },
    Special(File),
}

impl Pending {
    /// Begins to write what will be `path`.
    pub fn begin(path: &Path) -> io::Result<Pending> {
        match place::find(path)? {
            Place::File(path) => Pending::at(path),
            Place::Special => {
                let found = Identity::of(&path.metadata()?);
                // Neither made nor cut off: if it is no device any more, nothing has happened to it.
                let file = OpenOptions::new().write(true).open(path)?;
                let opened = file.metadata()?;
                if !is_special(&opened) || Identity::of(&opened) != found {
                    return Err(io::Error::other("it has become another file meanwhile"));
                }
                Ok(Pending(Kind::Special(file)))
            }
        }
    }

    /// The same for a path that is a regular file or nothing.
    fn at(path: PathBuf) -> io::Result<Pending> {
        // What the old one kept from others, the new one does from its first byte on.
        let is_private = path.symlink_metadata().is_ok();
        Ok(Pending(Kind::File { temporary: Temporary::new(&path, is_private)?, path }))
    }

    pub fn file(&self) -> &File {
        match &self.0 {
            Kind::File { temporary, .. } => temporary.file(),
            Kind::Special(file) => file,
        }
    }

    /// Gives it its name, when all of it is on the disk. What is there is replaced only if `replace`, and stays if
    /// anything fails; an error of what comes after that says so.
    pub fn end(self, replace: bool) -> io::Result<()> {
        let (temporary, path) = match self.0 {
            Kind::File { temporary, path } => (temporary, path),
            Kind::Special(file) => {
                sync(&file)?;
                return close(file);
            }
        };
        if let Ok(old) = path.symlink_metadata() {
            keep_owner(temporary.file(), &old)?;
        }
        temporary.file().sync_all()?;
        // Some file systems tell only when a file is closed that they could not write it. It stays locked meanwhile.
        close(temporary.file().try_clone()?)?;
        let file = temporary.persist(&path, replace)?;
        let is_sure = sync_folder(folder(&path)).and_then(|()| close(file));
        is_sure
            .map_err(|error| io::Error::new(error.kind(), format!("it is there, but may not outlive a crash: {error}")))
    }
}

/// Whether something is there that writing would replace.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !path_is_special(path)
}

/// A device or pipe, such as /dev/stdout, cannot be replaced by renaming.
pub fn path_is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| is_special(&metadata))
}

/// Waits until all that was written is on the disk, if this is a file that has one behind it.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        #[cfg(unix)]
        Err(error)
            if {
                use rustix::io::Errno;
                let not_for_it = [Errno::INVAL, Errno::ROFS, Errno::OPNOTSUPP];
                not_for_it.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
            } =>
        {
            Ok(())
        }
        other => other,
    }
}

/// The names in a folder: only then is a file that was renamed there after a crash.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => sync(&folder),
        // Files can be made in a folder that cannot be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Closes a file; an error of it is lost when a file is dropped.
#[cfg(unix)]
#[allow(unsafe_code)]
fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the file has just given up its descriptor.
    match unsafe { rustix::io::try_close(file.into_raw_fd()) } {
        // It is closed; whether all is written, the call before has said.
        Ok(()) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// The new file shall be for whom the old one was: a client must be able to read what root has written for it. That is
/// its owner, group and permissions, without the bits that make it run as its owner or group; an access control list is
/// not kept.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    // Only root can give files away, and a user only to a group of theirs. The mode comes last: chown changes it, and
    // until then nobody else can read the file.
    let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    let mut mode = old.mode() & 0o777;
    if file.metadata()?.gid() != old.gid() {
        // Another group may do what all others may.
        mode = mode & 0o707 | (mode & 0o7) << 3;
    }
    file.set_permissions(PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
