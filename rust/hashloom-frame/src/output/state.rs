// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that is replaced or removed only as this run knows it, such as the one in which a command keeps its progress.
//!
//! A wrong name must not cost anybody a file. No link is followed, and only a regular file is opened. A file is
//! replaced or removed only if this run has opened or written it; a file that has taken its place since stays.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Pending;
use super::place::{Identity, is_special, refuse_of_others};
use super::temporary::{Temporary, lock_is_had};

/// A file as last opened or written.
#[derive(Debug)]
pub struct OwnFile {
    path: PathBuf,
    /// The file, if there is one.
    identity: Option<Identity>,
}

impl OwnFile {
    /// Opens the file to read, and to append if `append`. The file is `None` if nothing is there. It is locked as long
    /// as it is open.
    pub fn open(path: &Path, append: bool) -> io::Result<(OwnFile, Option<File>)> {
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A check can take hours: find out now whether the file can be written.
                Temporary::new(path, false)?;
                return Ok((OwnFile { path: path.to_owned(), identity: None }, None));
            }
            other => other?,
        };
        if found.is_symlink() {
            return Err(io::Error::other("it is a symbolic link, and is not followed"));
        }
        if found.is_dir() || is_special(&found) {
            return Err(io::Error::other("expected a regular file, found something else"));
        }
        refuse_of_others(path, &found)?;
        let mut options = OpenOptions::new();
        options.read(true).append(append);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            // Another file may have taken the place in between: do not wait for it.
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags as i32);
        }
        let found = Identity::of_known(path, &found)?;
        let file = options.open(path)?;
        let identity = Identity::of_file(&file)?;
        if identity != found {
            return Err(other_file());
        }
        if !lock_is_had(&file) {
            return Err(io::Error::other("another run is writing it"));
        }
        Temporary::new(path, false)?;
        Ok((OwnFile { path: path.to_owned(), identity: Some(identity) }, Some(file)))
    }

    /// Writes the file, or replaces it. If `write` fails, the old file stays.
    pub fn write(&mut self, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        self.check()?;
        let pending = Pending::at(self.path.clone())?;
        write(pending.file())?;
        let identity = Identity::of_file(pending.file())?;
        let ended = pending.end(self.identity.is_some());
        // The file may be there even if `end` failed to make it safe.
        if Identity::at(&self.path, false).is_ok_and(|found| found == identity) {
            self.identity = Some(identity);
        }
        ended
    }

    /// Returns the length of the file, if there is one.
    pub fn nbytes(&self) -> Option<u64> {
        self.check().ok().and_then(|()| Some(self.path.symlink_metadata().ok()?.len()))
    }

    /// Removes the file, if there is one.
    pub fn remove(self) -> io::Result<()> {
        self.check()?;
        match self.identity {
            Some(_) => fs::remove_file(&self.path),
            None => Ok(()),
        }
    }

    /// Returns an error if another file is there now.
    fn check(&self) -> io::Result<()> {
        match Identity::at(&self.path, false) {
            Ok(identity) if Some(identity) == self.identity => Ok(()),
            Ok(_) => Err(other_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.identity.is_none() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn other_file() -> io::Error {
    io::Error::other("another program has put another file there meanwhile; that file is left alone")
}
