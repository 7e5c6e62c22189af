// SPDX-License-Identifier: MIT OR Apache-2.0

//! What lies below a folder, in the order of a manifest: each folder sorted by the bytes of the names, and what is in a
//! folder right behind it.

use std::ffi::OsString;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// Something below a folder.
pub struct Found {
    /// Relative to the folder.
    pub path: PathBuf,
    pub what: What,
}

pub enum What {
    File,
    Link,
    Folder,
    /// A device, a pipe, a socket.
    Other,
    /// A folder that cannot be listed.
    Error(io::Error),
}

/// Links are not followed, but for `root`, which is not among what is found. What vanishes meanwhile was never there.
pub struct Walk {
    root: PathBuf,
    /// Of each folder from the root down what is still to come, the next one last.
    folders: Vec<(PathBuf, Listed)>,
}

/// Names and types in reverse order.
type Listed = Vec<(OsString, io::Result<FileType>)>;

impl Walk {
    pub fn new(root: &Path) -> io::Result<Walk> {
        Ok(Walk { root: root.to_owned(), folders: vec![(PathBuf::new(), list(root)?)] })
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let (folder, rest) = self.folders.last_mut()?;
            let Some((name, file_type)) = rest.pop() else {
                self.folders.pop();
                continue;
            };
            let path = folder.join(name);
            let what = match file_type {
                Ok(file_type) if file_type.is_file() => What::File,
                Ok(file_type) if file_type.is_symlink() => What::Link,
                Ok(file_type) if file_type.is_dir() => match list(&self.root.join(&path)) {
                    Ok(entries) => {
                        self.folders.push((path.clone(), entries));
                        What::Folder
                    }
                    Err(error) => What::Error(error),
                },
                Ok(_) => What::Other,
                Err(error) => What::Error(error),
            };
            match what {
                What::Error(error) if error.kind() == io::ErrorKind::NotFound => {}
                what => return Some(Found { path, what }),
            }
        }
    }
}

fn list(folder: &Path) -> io::Result<Listed> {
    let entries = folder.read_dir()?.map(|entry| entry.map(|entry| (entry.file_name(), entry.file_type())));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by(|(one, _), (other, _)| other.as_encoded_bytes().cmp(one.as_encoded_bytes()));
    Ok(entries)
}
