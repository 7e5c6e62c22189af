// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading ahead: the disk fetches the next data while the present data is hashed.
//!
//! Lanes read one file at up to 16 places in turn. The operating system takes that for random access and fetches little
//! ahead, so it is told what comes next. Each such call looks at every page, which is wasted time if the data is in
//! memory already. A few bytes are therefore read first, on the condition that the read needs no waiting.

use std::fs::File;
use std::ops::Range;

/// How far ahead a lane asks for data.
pub(crate) const LANE_NBYTES: u64 = 2 << 20;

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
