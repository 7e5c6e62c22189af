// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading ahead: the disk fetches what comes next while this is hashed.
//!
//! Lanes read one file at up to 16 places in turn. The operating system takes that for random access and fetches little
//! ahead, so it is told. But telling it costs a look at every page, which is a waste where the data is in memory
//! already: so first a few bytes are read under the condition that this needs no waiting.

use std::fs::File;
use std::ops::Range;

use super::open::open_max;
use super::rows::LANES;

/// How far ahead of a lane, and of all lanes together, is asked for.
pub(crate) const LANE_NBYTES: u64 = 2 << 20;
pub(crate) const ALL_NBYTES: u64 = 32 << 20;

/// Files that are shorter are asked for each by itself, whole.
pub(crate) const WORTH_ASKING_NBYTES: u64 = 1 << 20;

/// How many of these a thread's lanes ask for.
pub(crate) struct Small {
    /// Each lane at once. They are opened for that, and have to stay open until they are read: half of the files that
    /// may be open at once are for this. Many threads wait for many files at once anyway.
    most: usize,
    /// So many in turn were in memory.
    in_memory: usize,
    /// So many lanes need not ask.
    rest: usize,
}

impl Small {
    pub(crate) fn new(nthreads: usize) -> Small {
        Small { most: (open_max() / 2 / LANES / nthreads.max(1)).min(4), in_memory: 0, rest: 0 }
    }

    /// How many a lane is to ask for. While all is in memory, one lane a row asks: to open and to look into each of many
    /// files was up to a sixth of all work.
    pub(crate) fn next(&mut self) -> usize {
        if self.rest > 0 {
            self.rest -= 1;
            return 0;
        }
        self.most
    }

    /// What came of asking for one.
    pub(crate) fn note(&mut self, in_memory: bool) {
        self.in_memory = if in_memory { self.in_memory.saturating_add(1) } else { 0 };
        self.rest = if self.in_memory >= LANES { LANES - 1 } else { 0 };
    }
}

/// Asks for bytes of a file that are not in memory. Returns whether all seem to be.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn read_ahead(file: &File, range: Range<u64>) -> bool {
    use rustix::fs::{Advice, fadvise};

    use super::open::is_in_memory;

    /// One request fetches at most the disk's read-ahead window, by default this.
    const REQUEST_NBYTES: u64 = 128 << 10;

    if range.is_empty() {
        return true;
    }
    let in_memory = |offset| is_in_memory(file, offset);
    // The first page alone says little: what was fetched for the page before often reaches beyond it.
    let middle = range.start + (range.end - range.start) / 2;
    let is_short = range.end - range.start <= REQUEST_NBYTES;
    if in_memory(range.end - 1) && (is_short || in_memory(range.start) && in_memory(middle)) {
        return true;
    }
    let mut start = range.start;
    while start < range.end {
        let nbytes = (range.end - start).min(REQUEST_NBYTES);
        // Advice only: if it is not taken, the data is read later.
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
