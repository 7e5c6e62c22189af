// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file in which a command keeps how far it is: a checkpoint, a journal.
//!
//! It is removed at the end, so a wrong name must not cost anybody a file. No link is followed, nothing but a regular
//! file is opened, and only the file that this run has opened or written is replaced or removed: what has taken its
//! place since stays. What is in it is looked at by whoever opens it; if that is not theirs they leave it alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Pending;
use super::place::{Identity, is_special, refuse_of_others};
use super::temporary::{Temporary, lock_is_had};

/// Such a file.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    /// The file, if there is one: as it was opened or written last.
    identity: Option<Identity>,
}

impl State {
    /// Opens the file to be read, and to be appended to if `append`; none if nothing is there. It is locked as long as
    /// it is open.
    pub fn open(path: &Path, append: bool) -> io::Result<(State, Option<File>)> {
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A check can take hours: whether it can be written is known before.
                Temporary::new(path, false)?;
                return Ok((State { path: path.to_owned(), identity: None }, None));
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
            // What came there in between is not waited for.
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags as i32);
        }
        let file = options.open(path)?;
        let identity = Identity::of(&file.metadata()?);
        if identity != Identity::of(&found) {
            return Err(other_file());
        }
        if !lock_is_had(&file) {
            return Err(io::Error::other("another run is writing it"));
        }
        Temporary::new(path, false)?;
        Ok((State { path: path.to_owned(), identity: Some(identity) }, Some(file)))
    }

    /// Makes the file, where none was, or replaces it; it is what `write` writes, or as it was.
    pub fn write(&mut self, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        self.check()?;
        let pending = Pending::at(self.path.clone())?;
        write(pending.file())?;
        let identity = Identity::of(&pending.file().metadata()?);
        let ended = pending.end(self.identity.is_some());
        // It may be there though it may not outlive a crash.
        if self.path.symlink_metadata().is_ok_and(|metadata| Identity::of(&metadata) == identity) {
            self.identity = Some(identity);
        }
        ended
    }

    /// The same with these bytes.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(|mut file| file.write_all(bytes))
    }

    /// Its length, if there is one.
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

    /// An error if another file is there now.
    fn check(&self) -> io::Result<()> {
        match self.path.symlink_metadata() {
            Ok(metadata) if Some(Identity::of(&metadata)) == self.identity && metadata.is_file() => Ok(()),
            Ok(_) => Err(other_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.identity.is_none() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn other_file() -> io::Error {
    io::Error::other("another program has put another file there meanwhile; it is left as it is")
}
