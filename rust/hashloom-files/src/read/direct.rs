// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading past the page cache: what is read once does not push out what others use, and costs no copy and no pages.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::read::evict::give_up;
use crate::read::open::{read_at, read_at_once};

/// Offsets, lengths and addresses of direct reads are multiples of this. Almost all disks have sectors of 512 or 4096
/// bytes; a file on another disk is read through the page cache.
pub(crate) const ALIGNMENT: usize = 4096;

/// The file that is read, named by a key, opened once more for direct reads if that is possible.
pub(crate) struct Direct<K>(Option<(K, Option<File>)>);

impl<K> Default for Direct<K> {
    fn default() -> Direct<K> {
        Direct(None)
    }
}

impl<K: PartialEq> Direct<K> {
    /// Fills the beginning of `buffer` with a range of a file; past the page cache if `is_on_disk`, where that is
    /// possible. Returns the offset in `buffer` of the range's first byte; `None` if the range cannot be read whole.
    pub(crate) fn read(
        &mut self,
        key: K,
        file: &File,
        buffer: &mut [u8],
        range: Range<u64>,
        is_on_disk: bool,
    ) -> Option<usize> {
        let skip = if is_on_disk { self.read_past(key, file, buffer, range.clone()) } else { None };
        skip.or_else(|| {
            let row = buffer.get_mut(..(range.end - range.start) as usize)?;
            let is_read = read_at(file, row, range.start).is_ok_and(|nbytes| nbytes == row.len());
            if is_on_disk {
                give_up(file, range.start, Some(range.end));
            }
            is_read.then_some(0)
        })
    }

    fn read_past(&mut self, key: K, file: &File, buffer: &mut [u8], range: Range<u64>) -> Option<usize> {
        if !matches!(&self.0, Some((of, _)) if *of == key) {
            self.0 = Some((key, open_direct(file)));
        }
        let Some((_, way)) = &mut self.0 else { return None };
        let skip = range.start as usize % ALIGNMENT;
        let nbytes = (range.end - range.start) as usize + skip;
        let buffer = buffer.get_mut(..nbytes.next_multiple_of(ALIGNMENT))?;
        let found = read_direct(way.as_ref()?, buffer, range.start - skip as u64);
        if !found.is_ok_and(|found| found >= nbytes) {
            // Some file systems let a file be opened so, and then refuse to read.
            *way = None;
            return None;
        }
        Some(skip)
    }
}

/// The file once more, for direct reads. `None` if the system or the file system has none.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_direct(file: &File) -> Option<File> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Mode, OFlags, open};

    // This link leads to the open file itself, wherever its path leads now.
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    open(link, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECT, Mode::empty()).ok().map(File::from)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_direct(_file: &File) -> Option<File> {
    None
}

/// Fills `buffer` from `offset` on, by direct reads; all three must be aligned. Returns the number of bytes, which is
/// less than asked for only at the file's end.
fn read_direct(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
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
