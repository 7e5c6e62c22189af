// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | a torrent | [`Torrent::parse`], [`Torrent::open`] |
//! | the files of a torrent | [`verify`](fn@verify), [`verify_many`]; pieces in memory: [`Pieces`] |
//!
//! Verifying a torrent opens only regular files below the folder that the caller names, and only for reading.
#![deny(missing_docs, unsafe_code)]

pub mod bencode;
mod bitfield;
#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod memory;
mod parse;
mod verify;

pub use bitfield::{Bitfield, BitfieldError};
pub use memory::{PieceDigests, Pieces};
pub use parse::{
    Attributes, Error, File, HybridDifference, Metadata, Note, NoteKind, OpenError, OpenProblem, Problem, Torrent,
    Version,
};
pub use verify::{
    Check, FileDifference, FileReport, FileState, FileTrouble, Location, PieceState, Ranges, Report, Trouble, Verdicts,
    VerifyError, clients_rename, verify, verify_many, verify_pieces,
};

/// What `hashloom-clients` and `hashloom-maker` stand on beside the public interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::bencode::encode_string;
    pub use crate::memory::pieces_of_layout;
    pub use crate::parse::metainfo::{parse_bencode, parse_document};
    pub use crate::parse::{parse_shared, root_of_layer};
    pub use crate::verify::client_names::{Client, LIBTORRENT, Names, TRANSMISSION};
    pub use crate::verify::locate::{Located, Paths, locate};
}

// The examples in the guides as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
#[doc = include_str!("../../../docs/shapes.md")]
struct Guide;
