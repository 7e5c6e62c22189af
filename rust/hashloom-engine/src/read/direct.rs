// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading past the page cache: what is read once does not push out what others use, and costs no copy and no pages.

use std::fs::File;
use std::io;

use crate::read::open::read_at_once;

/// Offsets, lengths and addresses of direct reads are multiples of this. Almost all disks have sectors of 512 or 4096
/// bytes; a file on another disk is read through the page cache.
pub(crate) const ALIGNMENT: usize = 4096;

/// The file once more, for direct reads. `None` if the system or the file system has none.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn open_direct(file: &File) -> Option<File> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Mode, OFlags, open};

    // This link leads to the open file itself, wherever its path leads now.
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    open(link, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECT, Mode::empty()).ok().map(File::from)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn open_direct(_file: &File) -> Option<File> {
    None
}

/// Fills `buffer` from `offset` on, by direct reads; all three must be aligned. Returns the number of bytes, which is
/// less than asked for only at the file's end.
pub(crate) fn read_direct(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_at_once(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(nbytes) => {
                filled += nbytes;
                // After a read of another length the next one would not be aligned: the file has ended.
                if nbytes == 0 || nbytes % ALIGNMENT != 0 {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
