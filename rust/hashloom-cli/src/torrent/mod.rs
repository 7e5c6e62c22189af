// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands of `hashloom torrent`, a module each: its options, its help and what it does.

pub mod show;
mod show_json;
