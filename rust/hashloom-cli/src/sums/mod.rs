// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums of files: `hashloom sum`, `hashloom check`, and the coreutils programs that the binary can be called as.
//!
//! The two front ends, `sum` and `check` here and `coreutils` there, share all that is done: `summing` and `checking`
//! over `drive`, which hands files to the engine and what comes of them back in order, and `console`, which prints.

pub mod check;
mod checking;
pub mod console;
pub mod coreutils;
pub mod drive;
mod format;
mod front;
mod lines;
mod quote;
pub mod sum;
pub mod summing;
