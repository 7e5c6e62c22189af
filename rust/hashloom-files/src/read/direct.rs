// SPDX-License-Identifier: MIT OR Apache-2.0

//! Leaves the page cache as it was: what is read once does not push out what other programs use. Reading past the cache
//! costs no copy and no pages; where that is not possible, what was read is given up again.
//!
//! Whoever wants to know what a disk holds must read past the cache ([`uncached`]): it is an error if that is not
//! possible.

use std::fs::File;
use std::io;
use std::ops::Range;

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::io::Errno;

use crate::read::buffer::{out_of_memory, zeros};
use crate::read::device::LONG_NBYTES;
use crate::read::open::{Residence, read_at, read_at_once, residence};

/// Offsets, lengths and addresses of direct reads are multiples of this. Almost all disks have sectors of 512 or 4096
/// bytes; a file on another disk is read through the page cache.
pub(crate) const ALIGNMENT: usize = 4096;

/// The file that is read, named by a key, opened once more for direct reads if that is possible.
#[derive(Default)]
pub(crate) struct Direct<K>(Option<(K, Option<File>)>);

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

    /// The same, past the page cache only.
    pub(crate) fn read_past(&mut self, key: K, file: &File, buffer: &mut [u8], range: Range<u64>) -> Option<usize> {
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

/// The bytes of a file around a place, in whole blocks, as a file from [`uncached`] must be read.
#[derive(Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    /// Offset in `bytes` of the first byte.
    skip: usize,
    range: Range<u64>,
}

impl Window {
    /// Fills a part of `into` at least with the bytes from `offset` on, and reads `most` bytes of the file for that if
    /// none of them are there. Returns their number: 0 at the file's end.
    pub(crate) fn read(&mut self, file: &File, into: &mut [u8], offset: u64, most: usize) -> io::Result<usize> {
        if !self.range.contains(&offset) {
            let start = offset - offset % ALIGNMENT as u64;
            let nbytes = most.saturating_add((offset - start) as usize).clamp(1, usize::MAX / 2);
            let nbytes = nbytes.next_multiple_of(ALIGNMENT);
            if self.bytes.len() < nbytes + ALIGNMENT {
                self.bytes = zeros(nbytes + ALIGNMENT).ok_or_else(out_of_memory)?;
                self.skip = self.bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
            }
            self.range = 0..0;
            let found = read_direct(file, &mut self.bytes[self.skip..self.skip + nbytes], start)?;
            self.range = start..start + found as u64;
        }
        let there = offset.min(self.range.end) - self.range.start;
        let row = &self.bytes[self.skip..][there as usize..(self.range.end - self.range.start) as usize];
        let nbytes = row.len().min(into.len());
        into[..nbytes].copy_from_slice(&row[..nbytes]);
        Ok(nbytes)
    }
}

/// The file once more, to be read from its disk alone, through a [`Window`].
///
/// # Errors
/// If the system cannot do that, or does not tell whether it does.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn uncached(file: &File) -> io::Result<File> {
    use rustix::fs::{FileType, fdatasync, fstat, fstatfs, major};

    let (stat, kind) = (fstat(file)?, fstatfs(file)?.f_type as u32);
    let (is_disk, has_disk) = match FileType::from_raw_mode(stat.st_mode) {
        // To read it is another error.
        FileType::Directory => return file.try_clone(),
        FileType::BlockDevice => (true, true),
        _ => (false, major(stat.st_dev) != 0 && kind != FUSE),
    };
    if !has_disk && ![BTRFS, BCACHEFS].contains(&kind) {
        let why =
            "--uncached: not on a disk that hashloom can read past memory (tmpfs, FUSE, ZFS, overlayfs, a server)";
        return Err(io::Error::other(why));
    }
    // What is not written yet is not on the disk. A file system without writes has no such call.
    match fdatasync(file) {
        Err(Errno::INVAL | Errno::ROFS) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    give_up(file, ALL);
    // Btrfs reads what it has compressed through the page cache, in spite of the flag.
    match open_direct(file) {
        Some(direct) if is_disk || kind != BTRFS || is_gone(file) => Ok(direct),
        None if has_disk && is_gone(file) => file.try_clone(),
        _ => Err(io::Error::other("--uncached: the file system has no direct reads, and the file stays in memory")),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn uncached(_file: &File) -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "--uncached: hashloom can do this on Linux only"))
}

/// What `fstatfs` tells of file systems whose files have a device that is no disk, or a disk and a memory of their own.
#[cfg(any(target_os = "linux", target_os = "android"))]
const BTRFS: u32 = 0x9123_683e;
#[cfg(any(target_os = "linux", target_os = "android"))]
const BCACHEFS: u32 = 0xca45_1a4e;
#[cfg(any(target_os = "linux", target_os = "android"))]
const FUSE: u32 = 0x6573_5546;
/// All bytes of a file, as the system counts them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ALL: Range<u64> = 0..i64::MAX as u64;
/// Whether no page of a file is in memory, since Linux 6.5. A page stays while a CPU is about to file it.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code)]
fn is_gone(file: &File) -> bool {
    use std::os::fd::AsRawFd;

    const CACHESTAT: libc::c_long = 451;
    const TRIES: u32 = 20;
    (0..TRIES).any(|nth| {
        if nth > 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            give_up(file, ALL);
        }
        let (range, mut found) = ([0_u64; 2], [u64::MAX; 5]);
        // SAFETY: the call reads one structure of two numbers, the whole file, and writes one of five.
        let code = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), range.as_ptr(), found.as_mut_ptr(), 0) };
        code == 0 && found[0] == 0
    })
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
    fn a_window_reads_the_disk_alone() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..3 * ALIGNMENT + 5).map(|i| ((i * i) >> 5) as u8).collect();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        match uncached(&file) {
            Ok(direct) => {
                for most in [1, 5000, 1 << 20] {
                    let (mut window, mut found, mut row) = (Window::default(), Vec::new(), [0; 1000]);
                    loop {
                        match window.read(&direct, &mut row, found.len() as u64, most).unwrap() {
                            0 => break,
                            nbytes => found.extend_from_slice(&row[..nbytes]),
                        }
                    }
                    assert!(found == bytes, "{most}");
                    let beyond = window.read(&direct, &mut row, 1 << 30, most).unwrap();
                    assert_eq!(beyond, 0, "{most}");
                }
            }
            // Where temporary files are in memory, or the system lacks what it takes.
            Err(error) => assert!(error.to_string().starts_with("--uncached: "), "{error}"),
        }
        let memory = std::path::Path::new("/dev/shm");
        if memory.is_dir() {
            let error = uncached(&tempfile::tempfile_in(memory).unwrap()).unwrap_err();
            assert!(error.to_string().contains("not on a disk"), "{error}");
        }
    }

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
