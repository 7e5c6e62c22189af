// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that has no name, or only a temporary one, until it is complete.
//!
//! Linux can make files without a name: nothing is left of one whatever ends the program. The file gets its name when
//! it is complete. If that name is taken, the file first gets a temporary name, as only renaming can replace a file. On
//! other systems the file has a temporary name from the start. The writer holds a lock on the file. The next run that
//! writes into the folder sees by the locks which files are left over, and removes them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::place::{Identity, folder};
use crate::exit;

/// The prefix of temporary names; random letters follow.
const PREFIX: &str = ".hashloom-";
const NLETTERS: usize = 16;

/// Number of names tried before giving up.
const TRIES: usize = 16;

/// A file that is being written. Dropping it removes the file, unless the file has its final name.
pub struct Temporary {
    file: File,
    /// The temporary name, if the file has one.
    listed: Option<Listed>,
    /// The folder of the file.
    folder: PathBuf,
}

impl Temporary {
    /// Creates the file in the folder of `path`, as renaming does not cross file systems. If `is_private`, only its
    /// owner can read it; else it gets the permissions of any new file.
    pub fn new(path: &Path, is_private: bool) -> io::Result<Temporary> {
        let folder = folder(path).to_owned();
        remove_leftovers(&folder);
        if let Some(file) = unnamed(&folder, is_private) {
            return Ok(Temporary { file, listed: None, folder });
        }
        let create = |name: &Path| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode(is_private));
            options.open(name)
        };
        for _ in 0..TRIES {
            let (file, listed) = Listed::create(&folder, create)?;
            // Another run that removes leftovers may have come in between.
            if lock_is_had(&file) && is_at(&file, &listed.0) {
                return Ok(Temporary { file, listed: Some(listed), folder });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file the name `path`, in the folder that it was made in. An existing file is replaced only if
    /// `replace`.
    pub fn persist(mut self, path: &Path, replace: bool) -> io::Result<File> {
        if self.listed.is_none() {
            match link(&self.file, path) {
                Err(error) if replace && error.kind() == io::ErrorKind::AlreadyExists => {
                    self.listed = Some(Listed::create(&self.folder, |name| link(&self.file, name))?.1);
                }
                other => return other.map(|()| self.file),
            }
        }
        if let Some(listed) = &mut self.listed {
            if replace {
                fs::rename(&listed.0, path)?
            } else {
                rename_new(&listed.0, path)?
            }
            listed.forget();
        }
        Ok(self.file)
    }
}

#[cfg(unix)]
fn mode(is_private: bool) -> u32 {
    if is_private { 0o600 } else { 0o666 }
}

/// Returns a file without a name if the system has such files and can give them names, which goes through /proc.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn unnamed(folder: &Path, is_private: bool) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(mode(is_private))).ok()?);
    (is_at(&file, &by_number(&file)) && lock_is_had(&file)).then_some(file)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn by_number(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}

/// Gives a name to a file that has none.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, by_number(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unnamed(_folder: &Path, _is_private: bool) -> Option<File> {
    None
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file unless `to` exists.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system does not support the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            other => return Ok(other?),
        }
    }
    #[cfg(windows)]
    {
        // A second name would be there until the file is closed, on file systems that remove no name of an open file.
        // Paths with a resolved folder may be of any length.
        let place =
            |path: &Path| Ok::<_, io::Error>(folder(path).canonicalize()?.join(path.file_name().unwrap_or_default()));
        tempfile::TempPath::try_from_path(place(from)?)?.persist_noclobber(place(to)?).map_err(|error| error.error)
    }
    #[cfg(not(windows))]
    {
        fs::hard_link(from, to)?;
        fs::remove_file(from)
    }
}

/// Returns true if `path` is a name of the open file.
fn is_at(file: &File, path: &Path) -> bool {
    Identity::of_file(file).and_then(|file| Ok(file == Identity::at(path, true)?)).unwrap_or(false)
}

/// Locks the file until it is closed. Returns false only if another program has the lock: where locks do not exist,
/// nobody takes the file for a leftover.
#[cfg(unix)]
pub fn lock_is_had(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    !matches!(flock(file, FlockOperation::NonBlockingLockExclusive), Err(rustix::io::Errno::WOULDBLOCK))
}

#[cfg(not(unix))]
pub fn lock_is_had(_file: &File) -> bool {
    true
}

/// Removes, once in each folder, the files left by runs that did not end properly: those with such a name, of this
/// user, that nobody has locked.
fn remove_leftovers(folder: &Path) {
    static SEEN: Mutex<Option<std::collections::HashSet<PathBuf>>> = Mutex::new(None);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !seen.get_or_insert_default().insert(folder.to_owned()) {
        return;
    }
    drop(seen);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_name) {
            // A leftover that cannot be removed does no harm.
            let _ = remove_leftover(&entry.path());
        }
    }
}

fn is_name(name: &str) -> bool {
    let letters = name.strip_prefix(PREFIX).unwrap_or_default();
    letters.len() == NLETTERS && letters.bytes().all(|letter| letter.is_ascii_lowercase())
}

#[cfg(unix)]
fn remove_leftover(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::fs::{FlockOperation, OFlags, flock};
    let is_own = |metadata: &fs::Metadata| {
        metadata.is_file() && metadata.nlink() == 1 && metadata.uid() == rustix::process::geteuid().as_raw()
    };
    if !is_own(&path.symlink_metadata()?) {
        return Ok(());
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags as i32).open(path)?;
    // Only a lock can tell that the file is left over.
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    if is_own(&file.metadata()?) && is_at(&file, path) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Nobody else may have the file open while this call does, which removes it by closing it.
#[cfg(windows)]
fn remove_leftover(path: &Path) -> io::Result<()> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE: u32 = 0x0001_0000;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    if path.symlink_metadata()?.is_file() {
        let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_DELETE_ON_CLOSE;
        OpenOptions::new().access_mode(DELETE).share_mode(0).custom_flags(flags).open(path)?;
    }
    Ok(())
}

/// The names of files that are being written.
static BEING_WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    BEING_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that is in the list. Dropping it removes the file.
struct Listed(PathBuf);

impl Listed {
    /// Makes a new name in `folder` by calling `create`. An error does not contain the name.
    fn create<T>(folder: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, Listed)> {
        for _ in 0..TRIES {
            let mut random = [0; NLETTERS];
            getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
            let letters: String = random.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
            let name = folder.join(format!("{PREFIX}{letters}"));
            // Create under the lock, so that every file is listed.
            let mut all = list();
            match create(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => {
                    let created = other?;
                    all.push(name.clone());
                    return Ok((created, Listed(name)));
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Takes the name off the list: the file has been renamed, so there is nothing to remove.
    fn forget(&mut self) {
        list().retain(|path| *path != self.0);
        self.0 = PathBuf::new();
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // The next run removes a file that this run cannot.
            let _ = fs::remove_file(&self.0);
            list().retain(|path| *path != self.0);
        }
    }
}

/// Ends the program at once, whatever it is doing. No half-written file stays.
pub fn exit(status: u8) -> ! {
    // The lock is held to the end, so that no more files are created. If a disk that does not answer holds the lock,
    // the exit stops waiting.
    let all = (0..20).find_map(|_| match BEING_WRITTEN.try_lock() {
        Ok(all) => Some(all),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(10));
            None
        }
    });
    for path in all.iter().flat_map(|all| all.iter()) {
        // The file may have got its final name just now.
        let _ = fs::remove_file(path);
    }
    exit::end(status)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns a file with a temporary name, as on systems that have no unnamed files.
    fn named(folder: &Path) -> Temporary {
        let create = |name: &Path| OpenOptions::new().write(true).create_new(true).open(name);
        let (file, listed) = Listed::create(folder, create).unwrap();
        assert!(lock_is_had(&file));
        Temporary { file, listed: Some(listed), folder: folder.to_owned() }
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_is_being_written_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let is_listed = |path: &Path| list().iter().any(|listed| listed == path);
        let temporary = named(folder.path());
        let name = temporary.listed.as_ref().unwrap().0.clone();
        assert!(is_listed(&name) && name.exists());
        drop(temporary);
        assert!(!is_listed(&name) && !name.exists());
        for replace in [true, false] {
            let path = folder.path().join(format!("{replace}"));
            named(folder.path()).persist(&path, replace).unwrap();
            let again = named(folder.path()).persist(&path, replace).map(drop);
            assert_eq!(again.is_ok(), replace);
        }
        assert!(!list().iter().any(|path| path.starts_with(folder.path())));
        assert_eq!(count(folder.path()), 2);
    }

    #[test]
    fn a_file_without_a_name_gets_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (bytes, replace) in [("new", false), ("newer", true)] {
            let temporary = Temporary::new(&path, false).unwrap();
            if cfg!(target_os = "linux") {
                assert_eq!(count(folder.path()), usize::from(replace));
            }
            temporary.file().write_all(bytes.as_bytes()).unwrap();
            temporary.persist(&path, replace).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
        }
        let error = Temporary::new(&path, false).unwrap().persist(&path, false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(count(folder.path()), 1);
    }

    #[test]
    fn only_what_is_left_over_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let being_written = named(folder.path());
        let stay =
            [".hashloom-abc", ".hashloom-abcdefghijklmnoP", ".hashloom-abcdefghijklmnopq", "hashloom-abcdefghijklmnop"];
        stay.iter().for_each(|name| fs::write(path(name), "").unwrap());
        fs::write(path(".hashloom-aaaaaaaaaaaaaaaa"), "left over").unwrap();
        fs::create_dir(path(".hashloom-dddddddddddddddd")).unwrap();
        #[cfg(unix)]
        {
            fs::write(path(".hashloom-bbbbbbbbbbbbbbbb"), "has another name").unwrap();
            fs::hard_link(path(".hashloom-bbbbbbbbbbbbbbbb"), path("b")).unwrap();
            std::os::unix::fs::symlink("b", path(".hashloom-cccccccccccccccc")).unwrap();
        }
        let nfiles = count(folder.path());
        remove_leftovers(folder.path());
        assert!(!path(".hashloom-aaaaaaaaaaaaaaaa").exists());
        assert_eq!(count(folder.path()), nfiles - 1);
        assert!(being_written.listed.as_ref().unwrap().0.exists());
    }
}
