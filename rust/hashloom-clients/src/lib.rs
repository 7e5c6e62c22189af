// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | the resume file of a BitTorrent client | [`resume`] |
//! | the content that a resume file tells of | [`Content`] |
//! | files of torrents under any names | [`find`](fn@find) |
//! | a check that was interrupted | [`Checkpoint`] |
#![deny(missing_docs, unsafe_code)]

mod checkpoint;
#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod content;
mod find;
mod path_map;
pub mod resume;

pub use checkpoint::Checkpoint;
pub use content::Content;
pub use find::{Finding, Findings, Index, Lengths, find};
