// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | files to make a torrent of | [`Builder`], [`Plan`] |
//! | digests of files that the caller reads | [`Builder::draft`], [`Draft`] |
//! | trackers and other metadata of a torrent | [`Edit`] |
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod compute;
mod create;
mod edit;
mod urls;

pub use create::{Builder, CreateError, Created, Draft, FileProblem, FileProblemKind, Plan, PlannedFile, Symlinks};
pub use edit::{Before, Edit, EditError, Edited};
