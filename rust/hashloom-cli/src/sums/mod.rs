// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums of files: `hashloom sum`, `hashloom check`, and the coreutils programs that the binary can be called as.

pub mod check;
pub mod coreutils;
pub mod sum;
