// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums of files: `hashloom sum`, `hashloom check`, and the programs that the binary can be called as.
//!
//! The front ends are `sum` and `check` on the one hand, those of `programs` on the other: `coreutils`, `shasum` and
//! `bsd`, whose options `options` parses. They share `summing` and `checking`, which hand files to the engine, and
//! `console`, which prints.

mod bsd;
pub mod check;
mod checking;
mod coreutils;
mod crc;
mod format;
pub mod front;
mod json_lines;
mod known;
mod lines;
mod modes;
mod options;
pub mod programs;
mod shasum;
pub mod sum;
pub mod summing;
mod text_lines;
