// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading ahead: the disk fetches the next data while the present data is hashed.
//!
//! Lanes read one file at up to 16 places in turn. The operating system takes that for random access and fetches little
//! ahead, so it is told what comes next. Each such call looks at every page, which is wasted time if the data is in
//! memory already. A few bytes are therefore read first, on the condition that the read needs no waiting.

use std::fs::File;
use std::ops::Range;

use crate::read::open::open_max;
use crate::run::LANES;

/// How far ahead a lane, and all lanes together, ask for data.
pub(crate) const LANE_NBYTES: u64 = 2 << 20;
pub(crate) const ALL_NBYTES: u64 = 32 << 20;

/// A shorter file is asked for as a whole, by itself.
pub(crate) const WORTH_ASKING_NBYTES: u64 = 1 << 20;

/// The number of small files that a thread's lanes ask for.
pub(crate) struct Small {
    /// Number of files for each lane. They are opened for that, and stay open until they are read: half of the files
    /// that may be open at once are for this. Many threads leave few for a lane; they wait for many files anyway.
    most: usize,
    /// Number of consecutive files that were in memory.
    in_memory: usize,
    /// Number of lanes that skip asking, as everything was in memory before.
    rest: usize,
}

impl Small {
    pub(crate) fn new(nthreads: usize) -> Small {
        Small { most: (open_max() / 2 / LANES / nthreads.max(1)).min(4), in_memory: 0, rest: 0 }
    }

    /// Number of files that a lane asks for. While all data is in memory, only one lane a row asks: opening each of
    /// many files and looking into it was up to a sixth of all work.
    pub(crate) fn next(&mut self) -> usize {
        if self.rest > 0 {
            self.rest -= 1;
            return 0;
        }
        self.most
    }

    /// Notes whether a file that was asked for was in memory.
    pub(crate) fn note(&mut self, in_memory: bool) {
        self.in_memory = if in_memory { self.in_memory.saturating_add(1) } else { 0 };
        self.rest = if self.in_memory >= LANES { LANES - 1 } else { 0 };
    }
}

/// Asks for bytes of a file that are not in memory. Returns whether all bytes seem to be in memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn read_ahead(file: &File, range: Range<u64>) -> bool {
    use rustix::fs::{Advice, fadvise};

    use crate::read::open::is_in_memory;

    /// Largest number of bytes that one request fetches: the disk's read-ahead window, by default this.
    const REQUEST_NBYTES: u64 = 128 << 10;

    if range.is_empty() {
        return true;
    }
    let in_memory = |offset| is_in_memory(file, offset);
    // The first page alone says little: the data fetched for the page before it often reaches further.
    let middle = range.start + (range.end - range.start) / 2;
    let is_short = range.end - range.start <= REQUEST_NBYTES;
    if in_memory(range.end - 1) && (is_short || in_memory(range.start) && in_memory(middle)) {
        return true;
    }
    let mut start = range.start;
    while start < range.end {
        let nbytes = (range.end - start).min(REQUEST_NBYTES);
        // This is advice only: if the system ignores it, the data is read later.
        let _ = fadvise(file, start, std::num::NonZeroU64::new(nbytes), Advice::WillNeed);
        start += nbytes;
    }
    false
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn read_ahead(_file: &File, _range: Range<u64>) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lane_a_row_asks_while_all_is_in_memory() {
        let mut small = Small { most: 4, in_memory: 0, rest: 0 };
        (0..LANES).for_each(|_| {
            assert_eq!(small.next(), 4);
            small.note(true);
        });
        for _ in 0..2 {
            (0..LANES - 1).for_each(|_| assert_eq!(small.next(), 0));
            assert_eq!(small.next(), 4);
            small.note(true);
        }
        (0..LANES - 1).for_each(|_| assert_eq!(small.next(), 0));
        small.note(false);
        (0..LANES).for_each(|_| assert_eq!(small.next(), 4));
    }

    #[test]
    fn small_files_ahead_stay_open() {
        for nthreads in 1..100 {
            let nfiles = Small::new(nthreads).most * LANES * nthreads;
            assert!(nfiles <= open_max() / 2, "{nthreads} threads: {nfiles} files");
        }
    }
}
