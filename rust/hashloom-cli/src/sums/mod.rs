// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums of files: `hashloom sum`, `hashloom check`, and the coreutils programs that the binary can be called as.
//!
//! The two front ends are `sum` and `check` on the one hand, `coreutils` on the other. They share `summing` and
//! `checking`, which hand files to the engine, and `console`, which prints.

pub mod check;
mod checking;
pub mod coreutils;
mod format;
pub mod front;
mod json_lines;
mod known;
mod lines;
pub mod sum;
pub mod summing;
mod text_lines;
