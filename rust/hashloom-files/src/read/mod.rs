// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading files: what is opened, how it comes into memory, and whether it stayed as it was.
//!
//! ```text
//! open      an open file, and how many there may be
//! buffer    large buffers, if they can be had
//! holes     where a file has no data on disk
//! stream    pipes and the like, which are waited for
//! stamp     what a file is like, to see whether it has changed
//! beneath   opens files below a folder and never outside of it
//! windows   what Windows tells of a file beyond the standard library
//! ahead     has the disk fetch what comes next
//! evidence  what an earlier result is worth now
//! direct    reads past the page cache, or gives up again what was read
//! device    whether a disk should be read in order
//! origin    whether what was read came from a disk or from memory
//! readers   threads that read from disks beside those that hash
//! ring      opens and reads many small files by a few system calls
//! hot       reads files that are in memory by plain calls, beside a ring
//! ```

pub(crate) mod ahead;
pub(crate) mod beneath;
#[allow(unsafe_code)]
pub mod buffer;
pub(crate) mod device;
pub(crate) mod direct;
#[allow(unsafe_code)]
pub mod evidence;
pub(crate) mod holes;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring"))]
#[allow(unsafe_code)]
pub(crate) mod hot;
pub mod open;
pub mod origin;
pub(crate) mod readers;
#[allow(unsafe_code)]
pub(crate) mod ring;
pub mod stamp;
pub mod stream;
#[cfg(windows)]
#[allow(unsafe_code)]
pub(crate) mod windows;
