// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes standard output and files. A file is written as another one and renamed, so that there is never half a file,
//! and the old file stays until the new one is on the disk.

mod place;
mod state;
mod temporary;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use place::{Identity, Same, folder, stamp_of_stdout};
use place::{Place, is_special};
pub use state::OwnFile;
use temporary::Temporary;
pub use temporary::exit;
use temporary::lock_is_had;

use crate::stdio::Lines;
use crate::text::reason;

/// Prints to standard output what `print` writes.
pub fn print(print: impl FnOnce(&mut Lines) -> io::Result<()>) -> Result<(), String> {
    // Threads that print take turns.
    let _turn = io::stdout().lock();
    let mut out = Lines::default();
    match print(&mut out).and_then(|()| out.flush()) {
        // The reader of the output has seen enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("standard output: {}", reason(&error))),
    }
}

/// Prints the help or the version that clap found to be wanted.
pub fn print_help(wanted: &clap::Error) -> Result<(), String> {
    let text = wanted.render();
    print(|out| if console::colors_enabled() { write!(out, "{}", text.ansi()) } else { write!(out, "{text}") })
}

/// Checks that `path` can be written, as far as can be said in advance. A check can take hours, and an interruption
/// must leave nothing behind: so a temporary file is created and removed at once.
pub fn probe(path: &Path) -> io::Result<()> {
    match place::find(path)? {
        Place::Special => Ok(()),
        Place::File(path) => Temporary::new(&path, false).map(drop),
    }
}

/// Writes `bytes` to `path`, which is replaced if it exists. If `path` is a symbolic link to a file, that file is
/// replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, true, |mut file| file.write_all(bytes))
}

/// Writes `bytes` to `path`, which must not exist: a file that another program puts there in between stays.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, false, |mut file| file.write_all(bytes))
}

/// The same as [`write_new`] for a secret: only the owner can read the file, from its first byte on.
pub fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = regular(path)?;
    let pending = Pending(Kind::File { temporary: Temporary::new(&path, true)?, path });
    pending.file().write_all(bytes)?;
    pending.end(false)
}

/// The same as [`write()`], or as [`write_new`] unless `replace`, for contents too long for memory: `write` gets the
/// new file.
pub fn write_with(path: &Path, replace: bool, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let pending = Pending::begin(path)?;
    write(pending.file())?;
    pending.end(replace)
}

/// Opens a regular file that will be replaced: see [`OwnFile::write`]. Symbolic links are followed as by [`write()`].
/// The file must be writable, and is locked as long as it is open.
pub fn open_to_replace(path: &Path) -> io::Result<(OwnFile, File)> {
    // A missing file is an error of the system's words.
    path.metadata()?;
    match OwnFile::open(&regular(path)?, true)? {
        (state, Some(file)) => Ok((state, file)),
        (_, None) => Err(io::ErrorKind::NotFound.into()),
    }
}

/// The path of a regular file, or of nothing.
fn regular(path: &Path) -> io::Result<PathBuf> {
    match place::find(path)? {
        Place::File(path) => Ok(path),
        Place::Special => Err(io::Error::other("expected a regular file, found something else")),
    }
}

/// Opens a file that this run will replace by [`write()`], once no other run that has opened it so is about to replace
/// it. Returns `None` if nothing is there: [`write_new`] tells if another run was first.
pub fn locked(path: &Path) -> io::Result<Option<File>> {
    use std::time::Duration;
    const STEP: Duration = Duration::from_millis(20);
    /// A run holds the lock for as long as it takes to write a file.
    const NSTEPS: usize = 3000;
    let path = regular(path)?;
    for _ in 0..NSTEPS {
        let file = match open_alone(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(32) => {
                std::thread::sleep(STEP);
                continue;
            }
            Err(error) => return Err(error),
        };
        // Another run may have replaced the file that was opened.
        if lock_is_had(&file)
            && Identity::at(&path, true).is_ok_and(|at| Identity::of_file(&file).is_ok_and(|of| of == at))
        {
            return Ok(Some(file));
        }
        std::thread::sleep(STEP);
    }
    Err(io::Error::other("another run is writing it, for more than a minute"))
}

/// Opens a file for a run that will replace it. On Windows that is the lock: error 32, ERROR_SHARING_VIOLATION.
fn open_alone(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(windows)]
    {
        const FILE_SHARE_READ: u32 = 1;
        const FILE_SHARE_DELETE: u32 = 4;
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, FILE_SHARE_READ | FILE_SHARE_DELETE);
    }
    options.open(path)
}

/// A file that is being written, under another name or none until it is complete. A device or pipe is written in place.
pub struct Pending(Kind);

enum Kind {
    File { temporary: Temporary, path: PathBuf },
    Special(File),
}

impl Pending {
    /// Begins to write the file that will be `path`.
    pub fn begin(path: &Path) -> io::Result<Pending> {
        match place::find(path)? {
            Place::File(path) => Pending::at(path),
            Place::Special => {
                let found = Identity::of(&path.metadata()?);
                // Neither create nor truncate: if another file has replaced the device, it stays untouched.
                let file = OpenOptions::new().write(true).open(path)?;
                let opened = file.metadata()?;
                if !is_special(&opened) || Identity::of(&opened) != found {
                    return Err(io::Error::other("another file has replaced it meanwhile"));
                }
                Ok(Pending(Kind::Special(file)))
            }
        }
    }

    /// The same as [`Pending::begin`] for a path that is a regular file or nothing.
    fn at(path: PathBuf) -> io::Result<Pending> {
        // If the old file is closed to others, the new one must be from its first byte on.
        let is_private = path.symlink_metadata().is_ok();
        Ok(Pending(Kind::File { temporary: Temporary::new(&path, is_private)?, path }))
    }

    pub fn file(&self) -> &File {
        match &self.0 {
            Kind::File { temporary, .. } => temporary.file(),
            Kind::Special(file) => file,
        }
    }

    /// Gives the file its name when all of it is on the disk. An existing file is replaced only if `replace`, and stays
    /// if anything fails. An error after the replacement says that the new file is there.
    pub fn end(self, replace: bool) -> io::Result<()> {
        let (temporary, path) = match self.0 {
            Kind::File { temporary, path } => (temporary, path),
            Kind::Special(file) => {
                sync(&file)?;
                return close(file);
            }
        };
        if replace {
            if let Ok(old) = path.symlink_metadata() {
                // It may have been put there during hours of work.
                place::refuse_key(&path)?;
                keep_owner(temporary.file(), &old)?;
            }
        }
        temporary.file().sync_all()?;
        // Some file systems report a failed write only when the file is closed. The other descriptor keeps the lock.
        close(temporary.file().try_clone()?)?;
        let file = temporary.persist(&path, replace)?;
        let is_sure = sync_folder(folder(&path)).and_then(|()| close(file));
        is_sure.map_err(|error| {
            io::Error::new(error.kind(), format!("written, but may not survive a crash: {}", reason(&error)))
        })
    }
}

/// Returns true if `path` is something that writing would replace.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !path_is_special(path)
}

/// Returns true for a device or pipe, such as /dev/stdout: renaming cannot replace these.
pub fn path_is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| is_special(&metadata))
}

/// Waits until all bytes are on the disk, if there is a disk behind the file.
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

/// Syncs the names in a folder: otherwise a renamed file may be lost in a crash.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => sync(&folder),
        // A folder can let files be created and still not be readable.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Closes a file. Dropping a file loses the error of the close.
#[cfg(unix)]
#[allow(unsafe_code)]
fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the file has just given up its descriptor.
    match unsafe { rustix::io::try_close(file.into_raw_fd()) } {
        // The file is closed; the sync before has told whether all is written.
        Ok(()) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// Gives the new file the readers of the old one: a client must be able to read a file that root has written for it. It
/// gets the old owner, group and permissions, but not setuid, setgid or sticky. Access control lists are not kept.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    // Only root can give files away; a user can give a file only to one of their groups. The mode comes last: chown
    // changes it, and until then nobody else can read the file.
    let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    let mut mode = old.mode() & 0o777;
    if file.metadata()?.gid() != old.gid() {
        // A different group may do no more than all others may.
        mode = mode & 0o707 | (mode & 0o7) << 3;
    }
    file.set_permissions(PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
