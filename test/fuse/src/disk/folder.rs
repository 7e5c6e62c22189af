//! A folder as it was at the start, laid out on a device. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//! Files lie one after the other, in the order of their inodes, which is mostly the order in which they were made. The
//! bytes of files are mapped: an answer is one copy, from the page cache of the folder to that of the mount.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const BLOCK_NBYTES: u64 = 4096;

pub struct Node {
    /// Below the folder.
    pub path: PathBuf,
    pub metadata: Metadata,
    /// The place of a regular file on the device.
    pub start: u64,
    /// The entries of a folder.
    pub entries: Vec<(OsString, usize)>,
    pub target: PathBuf,
    bytes: Mapping,
}

/// The nodes, numbered in the order of their places; the root is `root`.
pub struct Folder {
    pub nodes: Vec<Node>,
    pub root: usize,
    names: HashMap<(usize, OsString), usize>,
    /// Length of all files together.
    pub nbytes: u64,
}

struct Mapping {
    start: *mut libc::c_void,
    nbytes: usize,
}

// SAFETY: nobody writes to the mapping.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    const EMPTY: Mapping = Mapping { start: std::ptr::null_mut(), nbytes: 0 };

    fn new(path: &Path, nbytes: u64) -> Result<Mapping> {
        if nbytes == 0 {
            return Ok(Mapping::EMPTY);
        }
        let (file, nbytes) = (File::open(path)?, nbytes as usize);
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping of an open file.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), nbytes, libc::PROT_READ, flags, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(Mapping { start, nbytes }) }
    }
}

impl Folder {
    pub fn new(folder: &Path) -> Result<Folder> {
        let mut found = Vec::new();
        walk(folder, PathBuf::new(), &mut found)?;
        found.sort_by_key(|(_, metadata)| metadata.ino());
        let mut nodes: Vec<Node> = Vec::new();
        let mut start = 0;
        for (path, metadata) in found {
            let whole = folder.join(&path);
            let nbytes = if metadata.is_file() { metadata.len() } else { 0 };
            let bytes = Mapping::new(&whole, nbytes)
                .map_err(|error| Error::new(error.kind(), format!("{}: {error}", whole.display())))?;
            let target = if metadata.is_symlink() { std::fs::read_link(&whole)? } else { PathBuf::new() };
            nodes.push(Node { path, metadata, start, entries: Vec::new(), target, bytes });
            start += nbytes.next_multiple_of(BLOCK_NBYTES);
        }
        let numbers: HashMap<PathBuf, usize> =
            nodes.iter().enumerate().map(|(number, node)| (node.path.clone(), number)).collect();
        let mut names = HashMap::new();
        for (path, number) in &numbers {
            if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
                nodes[numbers[parent]].entries.push((name.to_owned(), *number));
                names.insert((numbers[parent], name.to_owned()), *number);
            }
        }
        for node in &mut nodes {
            node.entries.sort();
        }
        Ok(Folder { root: numbers[Path::new("")], nodes, names, nbytes: start })
    }

    pub fn find(&self, folder: usize, name: &OsStr) -> Option<usize> {
        self.names.get(&(folder, name.to_owned())).copied()
    }

    /// The bytes of a file from `offset`, at most `nbytes`.
    pub fn bytes(&self, number: usize, offset: u64, nbytes: u64) -> &[u8] {
        let bytes = &self.nodes[number].bytes;
        let offset = (offset as usize).min(bytes.nbytes);
        let nbytes = (nbytes as usize).min(bytes.nbytes - offset);
        if nbytes == 0 {
            return &[];
        }
        // SAFETY: inside of the mapping, which is never unmapped. The benchmark does not cut the files behind it.
        unsafe { std::slice::from_raw_parts(bytes.start.cast::<u8>().add(offset), nbytes) }
    }
}

fn walk(folder: &Path, path: PathBuf, found: &mut Vec<(PathBuf, Metadata)>) -> Result<()> {
    let metadata = folder.join(&path).symlink_metadata()?;
    if metadata.is_dir() {
        for entry in std::fs::read_dir(folder.join(&path))? {
            walk(folder, path.join(entry?.file_name()), found)?;
        }
    }
    found.push((path, metadata));
    Ok(())
}
