// SPDX-License-Identifier: MIT OR Apache-2.0

//! Open files, and a limit on their number.

use std::fs::File;
use std::io;

use crate::read::direct::Window;

/// Largest number of open files, apart from one per thread that may still be in use after it left the cache.
pub(crate) const OPEN_MAX: usize = 128;

/// Largest number of open files, and of threads: a sixth of the file descriptors that this process may have. Each
/// thread may have one more file, the file's folder, and for a moment another folder; a third is for the rest of the
/// process.
pub(crate) fn open_max() -> usize {
    #[cfg(unix)]
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        return (most / 6).clamp(1, OPEN_MAX as u64) as usize;
    }
    OPEN_MAX
}

/// An open file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    /// The file's length when it was opened.
    pub(crate) nbytes: u64,
    /// Whether the file may have holes.
    pub(crate) holes: bool,
    /// Whether the file is read from its disk alone.
    pub(crate) is_uncached: bool,
}

impl OpenFile {
    /// Fills `row` from `offset` on. Fewer bytes are read only if the file ends.
    pub(crate) fn read_at(&self, row: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.is_uncached {
            Window::default().read(&self.file, row, offset, row.len())
        } else {
            read_at(&self.file, row, offset)
        }
    }
}

/// Fills `row` from `offset` on.
///
/// # Errors
///
/// The file ends before, or cannot be read.
pub fn read_exact_at(file: &File, row: &mut [u8], offset: u64) -> io::Result<()> {
    if read_at(file, row, offset)? == row.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Fills `row` from `offset` on. Fewer bytes are read only if the file ends.
pub fn read_at(file: &File, row: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < row.len() {
        match read_at_once(file, &mut row[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(nbytes) => filled += nbytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads once at an offset, for a part of the row at least.
#[cfg(unix)]
pub fn read_at_once(file: &File, row: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, row, offset)
}

/// Reads once at an offset, for a part of the row at least.
#[cfg(windows)]
pub fn read_at_once(file: &File, row: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, row, offset)
}

/// In a browser there are no files: the modules that read no files are for it.
#[cfg(not(any(unix, windows)))]
pub fn read_at_once(_file: &File, _row: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The place of a file's byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Residence {
    InMemory,
    OnDisk,
    /// The system cannot tell, for instance for a network file system.
    Unknown,
}

/// Whether the byte at `offset` can be read without waiting. False if the system cannot tell: a network file system
/// gains most from reading ahead.
pub fn is_in_memory(file: &File, offset: u64) -> bool {
    residence(file, offset) == Residence::InMemory
}

/// The place of the byte at `offset`.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn residence(file: &File, offset: u64) -> Residence {
    use std::io::IoSliceMut;

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    let mut byte = [0];
    match preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN) => Residence::OnDisk,
        Err(Errno::OPNOTSUPP) if !is_of_memory(file) => Residence::Unknown,
        _ => Residence::InMemory,
    }
}

/// Whether the file system keeps its files in memory alone: tmpfs, ramfs. Such a system does not say where a byte is.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn is_of_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| [0x0102_1994, 0x8584_58f6].contains(&(stat.f_type as u32)))
}

/// Other systems do not tell, and read ahead by themselves: lanes read as if all were in memory.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn residence(_file: &File, _offset: u64) -> Residence {
    Residence::InMemory
}
