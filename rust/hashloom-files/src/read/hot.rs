// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads files whose bytes are in memory by plain calls, and leaves the others of a batch to a ring.
//!
//! Most file systems read on request only what is in memory (`RWF_NOWAIT`). Those that do not (tmpfs, overlayfs, FUSE)
//! are tried: as long as their reads take no time, their bytes are in memory. When a read has waited, files of the next
//! batches are left to the ring, which waits for many at once.

use std::fs::File;
use std::io::IoSliceMut;
use std::time::{Duration, Instant};

use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::read::open::read_at_once;
use crate::read::stamp::Stamp;

/// To read what is in memory takes a tenth of this time. If reads take longer, the system is asked whether the thread
/// has waited, or had no CPU.
const LONG: Duration = Duration::from_micros(50);

/// Number of batches that are left to the ring after a read that has waited.
const NLEFT: u32 = 256;

/// What a thread has learned of reads without a ring.
#[derive(Debug, Default)]
pub(crate) struct Hot {
    /// The last device whose file system cannot read only what is in memory.
    silent: Option<u64>,
    /// Number of batches for which files of such file systems are left to the ring.
    nleft: u32,
    /// The number of such files that were read in this batch.
    nread: u32,
    /// The time before the first of them, and how often the thread had waited by then.
    before: Option<(Instant, i64)>,
}

impl Hot {
    pub(crate) fn begin_batch(&mut self) {
        self.nleft = self.nleft.saturating_sub(1);
        (self.nread, self.before) = (0, None);
    }

    /// Reads the beginning of a file that has this stamp, and returns the number of bytes; `None` if the read is left
    /// to the ring.
    pub(crate) fn read(&mut self, file: &File, stamp: &Stamp, into: &mut [u8]) -> Option<usize> {
        if self.silent != Some(stamp.dev) {
            match preadv2(file, &mut [IoSliceMut::new(into)], 0, ReadWriteFlags::NOWAIT) {
                Ok(0) if stamp.nbytes > 0 => return None,
                Ok(nbytes) => return Some(nbytes),
                // Kernels before 4.6, and emulators, lack the call.
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.silent = Some(stamp.dev),
                Err(_) => return None,
            }
        }
        // A read of a file without a length may wait for ever (/proc/kmsg). The ring can end such a read.
        if self.nleft > 0 || stamp.nbytes == 0 {
            return None;
        }
        let (started, nwaits_before) = *self.before.get_or_insert_with(|| (Instant::now(), nwaits()));
        let nbytes = read_at_once(file, into, 0).ok()?;
        self.nread += 1;
        let is_long = self.nread.is_power_of_two() && started.elapsed() >= LONG * self.nread;
        if is_long && nwaits() != nwaits_before {
            self.nleft = NLEFT;
        }
        Some(nbytes)
    }
}

/// How often this thread has waited for anything but a CPU.
fn nwaits() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a place for the structure, in which zeros are valid.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_nvcsw
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_in_memory_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        let stamp = Stamp::of_file(&file).unwrap().unwrap();
        let mut into = [0; 8];
        let mut hot = Hot::default();
        assert_eq!(hot.read(&file, &stamp, &mut into), Some(3));
        assert_eq!(&into, b"abc\0\0\0\0\0");
        assert_eq!(hot.read(&file, &stamp, &mut into[..2]), Some(2));
    }

    #[test]
    fn after_a_wait_files_are_left_to_the_ring() {
        let file = File::open("/proc/self/stat").unwrap();
        // Files in /proc have no length.
        let stamp = Stamp::of_file(&file).unwrap().unwrap();
        let mut hot = Hot::default();
        let mut into = [0; 8];
        assert_eq!(hot.read(&file, &stamp, &mut into), None, "it may wait for ever");
        let stamp = Stamp { nbytes: 8, ..stamp };
        assert_eq!(hot.read(&file, &stamp, &mut into), Some(8));
        let long_ago = Instant::now().checked_sub(4 * LONG).unwrap();
        hot.before = Some((long_ago, nwaits()));
        assert_eq!(hot.read(&file, &stamp, &mut into), Some(8));
        assert_eq!(hot.nleft, 0, "the thread had no CPU");
        let before = nwaits();
        std::thread::sleep(LONG);
        assert!(nwaits() > before);
        (hot.nread, hot.before) = (0, Some((long_ago, before)));
        assert_eq!(hot.read(&file, &stamp, &mut into), Some(8), "the read that has waited");
        for _ in 0..NLEFT {
            assert_eq!(hot.read(&file, &stamp, &mut into), None);
            hot.begin_batch();
        }
        assert_eq!(hot.read(&file, &stamp, &mut into), Some(8));
    }
}
