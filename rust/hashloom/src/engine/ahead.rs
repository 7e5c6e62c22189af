// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading ahead: the disk fetches what comes next while this is hashed.
//!
//! Lanes read one file at up to 16 places in turn. The operating system takes that for random access and fetches little
//! ahead, so it is told. But telling it costs a look at every page, which is a waste where the data is in memory
//! already: so first a few bytes are read under the condition that this needs no waiting.

use std::fs::File;
use std::ops::Range;

/// How far ahead of a lane, and of all lanes together, is asked for.
pub(crate) const LANE_NBYTES: u64 = 2 << 20;
pub(crate) const ALL_NBYTES: u64 = 32 << 20;

/// Files that are shorter are read with few calls anyway.
pub(crate) const WORTH_ASKING_NBYTES: u64 = 1 << 20;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn read_ahead(file: &File, range: Range<u64>) {
    use std::io::IoSliceMut;

    use rustix::fs::{Advice, fadvise};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    /// One request fetches at most the disk's read-ahead window, by default this.
    const REQUEST_NBYTES: u64 = 128 << 10;

    if range.is_empty() {
        return;
    }
    let in_memory = |offset: u64| {
        let mut byte = [0];
        let flags = ReadWriteFlags::NOWAIT;
        // OPNOTSUPP: a file system that cannot tell, a network one for instance, which gains most from being asked.
        !matches!(preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, flags), Err(Errno::AGAIN | Errno::OPNOTSUPP))
    };
    // The first page alone says little: what was fetched for the page before often reaches beyond it.
    let middle = range.start + (range.end - range.start) / 2;
    if in_memory(range.start) && in_memory(middle) && in_memory(range.end - 1) {
        return;
    }
    let mut start = range.start;
    while start < range.end {
        let nbytes = (range.end - start).min(REQUEST_NBYTES);
        // Advice only: if it is not taken, the data is read later.
        let _ = fadvise(file, start, std::num::NonZeroU64::new(nbytes), Advice::WillNeed);
        start += nbytes;
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn read_ahead(_file: &File, _range: Range<u64>) {}
