// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the program writes: standard output, and files by writing another one and renaming it: there is never half of
//! one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::NamedTempFile;

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
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_special(path) { Ok(()) } else { temporary(&target(path)?).map(drop) }
}

/// Writes `bytes` to `path`, which is replaced if it exists. Of a symbolic link to a file the file is replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for what is too long to be in memory: `write` gets the new file.
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut pending = Pending::begin(path)?;
    write(pending.file_mut())?;
    pending.end(true)
}

/// Writes `bytes` to `path`, where nothing may be: what has come there meanwhile stays.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut pending = Pending::begin(path)?;
    pending.file_mut().write_all(bytes)?;
    pending.end(false)
}

/// A file that is being written, under another name until it is whole; a device or pipe as it stands.
pub struct Pending {
    file: Result<Temporary, File>,
    path: PathBuf,
}

impl Pending {
    /// Begins to write what will be `path`.
    pub fn begin(path: &Path) -> io::Result<Pending> {
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Pending { file: Err(file), path: path.to_owned() });
        }
        let path = target(path)?;
        let temporary = temporary(&path)?;
        if let Ok(metadata) = path.metadata() {
            keep_owner(temporary.file.as_file(), &metadata)?;
        }
        Ok(Pending { file: Ok(temporary), path })
    }

    pub fn file(&self) -> &File {
        match &self.file {
            Ok(temporary) => temporary.file.as_file(),
            Err(file) => file,
        }
    }

    fn file_mut(&mut self) -> &mut File {
        match &mut self.file {
            Ok(temporary) => temporary.file.as_file_mut(),
            Err(file) => file,
        }
    }

    /// Gives it its name. What is there is replaced only if `replace`.
    pub fn end(self, replace: bool) -> io::Result<()> {
        let Ok(temporary) = self.file else { return Ok(()) };
        match replace {
            true => temporary.file.persist(self.path)?,
            false => temporary.file.persist_noclobber(self.path)?,
        };
        Ok(())
    }
}

/// Whether something is there that writing would replace.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !is_special(path)
}

/// The new file shall be for whom the old one was: a client must be able to read what root has written for it.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root can give files away; for anybody else the owner is the same, or not to be kept.
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// A device or pipe, such as /dev/stdout, cannot be replaced by renaming.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn target(path: &Path) -> io::Result<PathBuf> {
    if path.is_symlink() && path.exists() { path.canonicalize() } else { Ok(path.to_owned()) }
}

/// In the same folder as `path`, as renaming does not cross file systems. It gets the permissions of any new file, and
/// an error does not name it, unlike those of `tempfile_in`.
fn temporary(path: &Path) -> io::Result<Temporary> {
    let mut listed = None;
    let create = |path: &Path| {
        // Under the lock, so that there is no file which is not listed.
        let mut all = list();
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        all.push(path.to_owned());
        listed = Some(Listed(path.to_owned()));
        Ok(file)
    };
    let file = tempfile::Builder::new().prefix(".hashloom-").make_in(folder(path), create)?;
    Ok(Temporary { file, _listed: listed })
}

/// A file that is being written; removed when dropped, unless it has got its name.
struct Temporary {
    file: NamedTempFile<File>,
    /// Dropped after it.
    _listed: Option<Listed>,
}

/// The files that are being written.
static BEING_WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    BEING_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        list().retain(|path| *path != self.0);
    }
}

/// Ends the program at once, in the middle of whatever it does; no file that is half-written stays.
pub fn exit(status: u8) -> ! {
    // Held to the end: no more are begun. One that cannot be had, as its disk does not answer, is not waited for.
    let all = (0..20).find_map(|_| match BEING_WRITTEN.try_lock() {
        Ok(all) => Some(all),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(10));
            None
        }
    });
    for path in all.iter().flat_map(|all| all.iter()) {
        // It may have got its name just now.
        let _ = fs::remove_file(path);
    }
    std::process::exit(status.into())
}

/// What it lies in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Compares one file with others, by where they are and, if they exist, by what they are.
pub struct Same {
    metadata: Option<fs::Metadata>,
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
fn is_file(metadata: &fs::Metadata, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    other.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_file(_metadata: &fs::Metadata, _other: &Path) -> bool {
    // There is no stable way to ask; the place has been compared.
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_written_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let is_listed = |path: &Path| list().iter().any(|listed| listed.canonicalize().is_ok_and(|one| one == path));
        let temporary = temporary(&folder.path().join("file")).unwrap();
        let path = temporary.file.path().canonicalize().unwrap();
        assert!(is_listed(&path));
        drop(temporary);
        assert!(!path.exists() && !is_listed(&path));
        write(&folder.path().join("file"), b"abc").unwrap();
        write_new(&folder.path().join("file"), b"abc").unwrap_err();
        assert!(!list().iter().any(|path| path.starts_with(folder.path())));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
