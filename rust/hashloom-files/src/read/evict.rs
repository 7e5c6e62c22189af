// SPDX-License-Identifier: MIT OR Apache-2.0

//! Leaves the page cache as it was. A file that is read once must not push out what other programs use: if nothing of it
//! seems to have been in memory before, what was read is given up again.

use std::fs::File;
use std::ops::Range;

use crate::read::device::LONG_NBYTES;
use crate::read::open::{Residence, residence};

/// Bytes after which those before are given up. Each time, all CPUs may have to tell which pages they are about to file.
pub(crate) const EVICTED_NBYTES: u64 = 16 << 20;

/// Whether a range of a file is long, and nothing of it seems to be in memory. False if the system cannot tell.
pub(crate) fn is_cold(file: &File, range: &Range<u64>) -> bool {
    const PLACES: u64 = 4;
    let nbytes = range.end.saturating_sub(range.start);
    // The first bytes may just have been read.
    let place = |place| range.start + nbytes / PLACES * place - 1;
    nbytes >= LONG_NBYTES && (1..=PLACES).all(|at| residence(file, place(at)) == Residence::OnDisk)
}

/// Gives up bytes of a file that were read, from `start` to `end` or to the file's end. Pages that are in use, or not
/// written yet, stay.
pub(crate) fn give_up(file: &File, start: u64, end: Option<u64>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let nbytes = end.map(|end| std::num::NonZeroU64::new(end.saturating_sub(start)));
        // No bytes are not "to the end". The result does not matter: this is advice only.
        if nbytes != Some(None) {
            let _ = rustix::fs::fadvise(file, start, nbytes.flatten(), rustix::fs::Advice::DontNeed);
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (file, start, end);
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
                give_up(&file, 0, Some(NBYTES));
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
        give_up(&file, 0, None);
        // A file system in memory keeps all.
        if residence(&file, 0) == Residence::OnDisk {
            assert!(gives_up() && !is_cold(&file, &(0..1000)));
            crate::read::open::read_at(&file, &mut [0], 0).unwrap();
            assert_eq!(residence(&file, 0), Residence::InMemory);
            give_up(&file, 0, Some(0));
            assert_eq!(residence(&file, 0), Residence::InMemory);
            assert!(gives_up());
        }
    }
}
