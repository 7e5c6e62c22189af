// SPDX-License-Identifier: MIT OR Apache-2.0

//! Holes: parts of a file that have no data on disk.
//!
//! The holes of a sparse or freshly preallocated file read as zeros. Knowing them without reading is the difference
//! between milliseconds and minutes for a download that has just begun.

/// A stretch of a file that is all data or all hole. If the system does not tell holes, everything is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) hole: bool,
}

impl Stretch {
    /// The empty stretch.
    pub(crate) const NONE: Stretch = Stretch { start: 0, end: 0, hole: false };
    /// Data without an end.
    const DATA: Stretch = Stretch { start: 0, end: u64::MAX, hole: false };

    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.start <= offset && offset < self.end
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple"))]
mod os {
    use std::fs::File;

    use rustix::fs::{SeekFrom, fstat, seek};
    use rustix::io::Errno;

    use super::Stretch;

    /// Shorter files are always read: one call to look for holes costs as much as reading 16 KiB.
    const WORTH_LOOKING_NBYTES: u64 = 64 << 10;

    /// Whether looking for holes piece by piece is worth it for a file of `nbytes` bytes. The answer may be no for a
    /// file with holes.
    pub(crate) fn has_holes(file: &File, nbytes: u64) -> bool {
        // Preallocated files count as fully allocated in st_blocks: only a seek tells.
        nbytes >= WORTH_LOOKING_NBYTES && seek(file, SeekFrom::Hole(0)).is_ok_and(|hole| hole < nbytes)
    }

    /// The stretch that begins at `offset`.
    pub(crate) fn stretch_at(file: &File, offset: u64) -> Stretch {
        match seek(file, SeekFrom::Data(offset)) {
            Ok(data) if data > offset => Stretch { start: offset, end: data, hole: true },
            Ok(_) => match seek(file, SeekFrom::Hole(offset)) {
                Ok(hole) if hole > offset => Stretch { start: offset, end: hole, hole: false },
                _ => Stretch::DATA,
            },
            // There is no data from here to the end of the file. The system is asked for the end, which may just have
            // moved before `offset`.
            Err(Errno::NXIO) => match fstat(file) {
                Ok(stat) if stat.st_size as u64 > offset => {
                    Stretch { start: offset, end: stat.st_size as u64, hole: true }
                }
                _ => Stretch::DATA,
            },
            Err(_) => Stretch::DATA,
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple")))]
mod os {
    use std::fs::File;

    use super::Stretch;

    pub(crate) fn has_holes(_file: &File, _nbytes: u64) -> bool {
        false
    }

    pub(crate) fn stretch_at(_file: &File, _offset: u64) -> Stretch {
        Stretch::DATA
    }
}

pub(crate) use os::{has_holes, stretch_at};

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn stretches_of_a_sparse_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 << 20).unwrap();
        assert!(has_holes(&file, 4 << 20));
        assert_eq!(stretch_at(&file, 5), Stretch { start: 5, end: 4 << 20, hole: true });
        file.write_all_at(&[1; 4096], 1 << 20).unwrap();
        let hole = stretch_at(&file, 0);
        assert!(hole.hole && hole.contains(0) && hole.end <= 1 << 20, "{hole:?}");
        let data = stretch_at(&file, 1 << 20);
        assert!(!data.hole && data.end >= (1 << 20) + 4096, "{data:?}");
        // Nothing beyond the end is a hole: a read there must be tried, and finds the file too short.
        assert!(!stretch_at(&file, 4 << 20).hole);
        file.set_len(10).unwrap();
        assert!(!stretch_at(&file, 1 << 20).hole);
    }

    #[test]
    fn a_full_file_has_no_holes() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![0; 1 << 20], 0).unwrap();
        assert!(!has_holes(&file, 1 << 20));
    }
}
