// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checksums of files: `hashloom sum`, `hashloom check`, and the programs that the binary can be called as.
//!
//! The front ends are `sum` and `check` on the one hand, those of `programs` on the other: `coreutils`, `shasum`,
//! `bsd` and `b3sum`, whose options `options` parses. They share `summing` and `checking`, which hand files to the
//! engine, and `console`, which prints. `sum` also has `expect`, `check` also `par2`, `python`, which finds lists, and
//! `stores` and `dpkg`, whose files `audit` checks.

mod audit;
mod b3sum;
mod bsd;
pub mod check;
mod checking;
mod coreutils;
mod crc;
mod dpkg;
mod expect;
mod format;
pub mod found;
pub mod front;
mod json_lines;
mod known;
mod lines;
mod modes;
pub mod only;
mod options;
pub mod par2;
pub mod programs;
mod python;
mod shasum;
mod stores;
pub mod sum;
pub mod summing;
pub mod text_lines;
