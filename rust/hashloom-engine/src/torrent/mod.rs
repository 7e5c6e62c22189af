// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents: reading them ([`Torrent::parse`]), checking the files on disk against them ([`verify`]), making them
//! ([`Builder`], [`create`](fn@create)), and changing their trackers and other metadata ([`Edit`]).
//!
//! ```no_run
//! use hashloom_engine::run::Options;
//! use hashloom_engine::torrent::{self, Torrent};
//!
//! let torrent = Torrent::open("debian.torrent")?;
//! let report = torrent::verify(&torrent, "/srv/downloads".as_ref(), &Options::new())?;
//! println!("{} of {} pieces", report.have(), torrent.piece_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A torrent comes from a stranger. No input makes the parser panic or use memory beyond a small multiple of the
//! input's size. Verifying a torrent opens only regular files below the folder that the caller names, and only for
//! reading.

mod bitfield;
#[cfg(feature = "create")]
mod create;
mod edit;
mod memory;
mod parse;
#[cfg(feature = "resume")]
pub mod resume;
mod urls;
mod verify;

pub use crate::paths::BadComponent;
pub use bitfield::{Bitfield, BitfieldError};
#[cfg(feature = "create")]
pub use create::{
    Builder, CreateError, Created, Draft, FileProblem, FileProblemKind, Plan, PlannedFile, Symlinks, create,
};
pub use edit::{Before, Edit, EditError, Edited};
pub use memory::Pieces;
pub use parse::{
    Attributes, Error, File, HybridDifference, MAX_PIECE_NBYTES, Metadata, Note, NoteKind, OpenError, OpenProblem,
    Problem, Torrent, Version,
};
pub use verify::{
    Check, Checkpoint, Content, FileDifference, FileReport, FileState, FileTrouble, PieceDigests, PieceState, Ranges,
    Report, Trouble, Verdicts, VerifyError, look, verify, verify_many, verify_pieces,
};
