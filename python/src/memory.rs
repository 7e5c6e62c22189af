// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for long results.

/// Asks Linux for huge pages in memory that has not been touched yet: with pages of 4 KiB, page faults take as long as
/// hashing. Other systems and short memory stay as they are.
pub fn want_huge_pages(start: *const u8, nbytes: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let before = start.align_offset(PAGE);
        if let Some(nbytes) = nbytes.checked_sub(before).map(|rest| rest & !(PAGE - 1)).filter(|&nbytes| nbytes > 0) {
            // SAFETY: these are whole pages of the caller's memory; the advice changes no byte. A system without huge
            // pages refuses it.
            unsafe {
                libc::madvise(start.add(before).cast_mut().cast(), nbytes, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, nbytes);
}
