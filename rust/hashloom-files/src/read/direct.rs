// SPDX-License-Identifier: MIT OR Apache-2.0

//! Leaves the page cache as it was: what is read once does not push out what other programs use. Reading past the cache
//! costs no copy and no pages; where that is not possible, what was read is given up again.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::read::device::LONG_NBYTES;
use crate::read::open::{Residence, read_at, read_at_once, residence};

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
                give_up(file, range);
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

/// Whether a range of a file is long, and nothing of it seems to be in memory. False if the system cannot tell.
pub(crate) fn is_cold(file: &File, range: &Range<u64>) -> bool {
    const PLACES: u64 = 4;
    let nbytes = range.end.saturating_sub(range.start);
    // The first bytes may just have been read.
    let place = |place| range.start + nbytes / PLACES * place - 1;
    nbytes >= LONG_NBYTES && (1..=PLACES).all(|at| residence(file, place(at)) == Residence::OnDisk)
}

/// Gives up bytes of a file that were read. Pages that are in use, or not written yet, stay.
fn give_up(file: &File, range: Range<u64>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(nbytes) = std::num::NonZeroU64::new(range.end - range.start) {
        // The result does not matter: this is advice only.
        let _ = rustix::fs::fadvise(file, range.start, Some(nbytes), rustix::fs::Advice::DontNeed);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (file, range);
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_given_up() {
        const NBYTES: u64 = 3 << 20;
        let file = tempfile::tempfile().unwrap();
        // A page stays while a CPU is about to file it.
        let gives_up = || {
            (0..200).any(|_| {
                give_up(&file, 0..NBYTES);
                let is_cold = is_cold(&file, &(0..NBYTES)) && residence(&file, 0) == Residence::OnDisk;
                if !is_cold {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                is_cold
            })
        };
        std::io::Write::write_all(&mut &file, &vec![1; NBYTES as usize]).unwrap();
        assert!(!is_cold(&file, &(0..NBYTES)) && !is_cold(&file, &(0..0)));
        file.sync_all().unwrap();
        give_up(&file, 0..NBYTES);
        // A file system in memory keeps all.
        if residence(&file, 0) == Residence::OnDisk {
            assert!(gives_up() && !is_cold(&file, &(0..1000)));
            crate::read::open::read_at(&file, &mut [0], 0).unwrap();
            assert_eq!(residence(&file, 0), Residence::InMemory);
            give_up(&file, 0..0);
            assert_eq!(residence(&file, 0), Residence::InMemory);
            assert!(gives_up());
        }
    }
}
