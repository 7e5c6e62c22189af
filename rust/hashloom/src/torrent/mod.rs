// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents: what they say ([`Torrent::parse`]) and whether the files on disk are that ([`verify`]).
//!
//! ```no_run
//! use hashloom::torrent::{self, Options, Torrent};
//!
//! let torrent = Torrent::parse(&std::fs::read("debian.torrent")?)?;
//! let report = torrent::verify(&torrent, "/srv/downloads".as_ref(), &Options::default())?;
//! println!("{} of {} pieces", report.have(), torrent.piece_count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A torrent comes from a stranger. Whatever it holds, parsing it neither panics nor uses memory beyond a small
//! multiple of its size, and verifying it opens nothing but regular files below the folder that the caller names, for
//! reading.

mod bitfield;
mod content;
mod error;
mod locate;
// Used by what reads and checks version 2.
#[allow(dead_code)]
mod merkle;
mod metainfo;
mod names;
pub(crate) mod paths;
mod report;
pub mod resume;
mod verify;

use std::fmt;
use std::ops::Range;

pub use bitfield::{Bitfield, BitfieldError};
pub use content::Content;
pub use error::{Error, Problem};
pub use paths::{BadComponent, Shown, shown};
pub use report::{FileReport, FileState, FileTrouble, Ranges, Report, Trouble};
pub use verify::{Options, Progress, VerifyError, verify};

pub use crate::engine::pieces::PieceState;

use names::Names;

use crate::bencode;
use crate::engine::layout::Layout;
use crate::{Algorithm, hash};

/// The longest piece: a client asks for parts of a piece by an offset of 32 bits (BEP 3, `request`).
pub const MAX_PIECE_NBYTES: u64 = 1 << 32;

/// A v1 torrent's metainfo, checked.
#[derive(Clone)]
pub struct Torrent {
    info_hash: [u8; 20],
    name: Box<[u8]>,
    pub(crate) layout: Layout,
    digests: Vec<u8>,
    single_file: bool,
    names: Names,
    notes: Vec<Note>,
    note_count: usize,
}

/// What BEP 47's `attr` says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// `p`: zeros that align the next file to a piece. It need not be on disk and is never read.
    pub padding: bool,
    /// `l`: a symbolic link. It has no content of its own and is not verified.
    pub symlink: bool,
    /// `x`: executable.
    pub executable: bool,
    /// `h`: hidden.
    pub hidden: bool,
}

/// A file of a torrent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its place in the list of files.
    pub index: usize,
    /// Its path below the torrent's folder, the components joined by `/`. For a single-file torrent, its name.
    pub path: &'a [u8],
    /// Its length in bytes.
    pub nbytes: u64,
    /// Where it begins in the torrent's content, all files one after the other.
    pub offset: u64,
    /// What `attr` says of it.
    pub attributes: Attributes,
}

/// Something in a torrent that is not as the standards want it but that clients accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The key that it concerns; empty where only a byte offset is known.
    pub key: String,
    /// What it is.
    pub kind: NoteKind,
}

/// What is not as the standards want it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// The bencode is not canonical.
    Bencode(bencode::Note),
    /// `length` is there although `files` is; `files` counts.
    LengthBesideFiles,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        match &self.kind {
            NoteKind::Bencode(note) => note.fmt(f),
            NoteKind::LengthBesideFiles => write!(f, "there are both length and files, files counts"),
        }
    }
}

impl Torrent {
    /// Reads a `.torrent` file's bytes.
    ///
    /// # Errors
    ///
    /// What makes it no torrent that can be verified, with the key and byte offset.
    ///
    /// ```
    /// use hashloom::torrent::Torrent;
    ///
    /// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
    /// let torrent = Torrent::parse(bytes)?;
    /// assert_eq!(torrent.name(), b"abc.txt");
    /// assert_eq!((torrent.total_nbytes(), torrent.piece_count(), torrent.file_count()), (3, 1, 1));
    /// assert_eq!(torrent.piece_digest(0), b"01234567890123456789");
    /// # Ok::<(), hashloom::torrent::Error>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Torrent, Error> {
        Torrent::parse_within(bytes, &bencode::Limits::default())
    }

    /// Reads a `.torrent` file's bytes with other limits than the default ones.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Torrent::parse).
    pub fn parse_within(bytes: &[u8], limits: &bencode::Limits) -> Result<Torrent, Error> {
        let (mut torrent, digests) = metainfo::parse(bytes, limits, paths::Platform::HERE)?;
        torrent.digests = bytes[digests].to_vec();
        Ok(torrent)
    }

    /// Takes a `.torrent` file's bytes over. The digests, most of a large torrent, stay where they are in memory
    /// instead of being copied; the rest of the bytes is given back once it is read.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Torrent::parse).
    ///
    /// ```
    /// use hashloom::bencode::Limits;
    /// use hashloom::torrent::Torrent;
    ///
    /// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
    /// let torrent = Torrent::from_vec(bytes.to_vec(), &Limits::default())?;
    /// assert_eq!(torrent.piece_digest(0), b"01234567890123456789");
    /// # Ok::<(), hashloom::torrent::Error>(())
    /// ```
    pub fn from_vec(mut bytes: Vec<u8>, limits: &bencode::Limits) -> Result<Torrent, Error> {
        let (mut torrent, digests) = metainfo::parse(&bytes, limits, paths::Platform::HERE)?;
        let nbytes = digests.len();
        bytes.copy_within(digests, 0);
        bytes.truncate(nbytes);
        bytes.shrink_to_fit();
        torrent.digests = bytes;
        Ok(torrent)
    }

    /// The SHA-1 of the `info` dictionary as the file has it, which is the torrent's identity (BEP 3).
    pub fn info_hash(&self) -> [u8; 20] {
        self.info_hash
    }

    /// The name of its file or folder: bytes, UTF-8 as a rule.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether it was made of one file rather than of a folder.
    pub fn is_single_file(&self) -> bool {
        self.single_file
    }

    /// Length in bytes of all files together, padding included.
    pub fn total_nbytes(&self) -> u64 {
        self.layout.total_nbytes()
    }

    /// Length in bytes of every piece but the last, which may be shorter.
    pub fn piece_nbytes(&self) -> u64 {
        self.layout.piece_nbytes()
    }

    /// Number of pieces.
    pub fn piece_count(&self) -> usize {
        self.digests.len() / 20
    }

    /// The digest that a piece must have.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn piece_digest(&self, piece: usize) -> &[u8] {
        &self.digests[piece * 20..][..20]
    }

    /// The bytes of the torrent's content that a piece covers; empty if there is no such piece.
    pub fn piece_range(&self, piece: usize) -> Range<u64> {
        self.layout.piece_range(piece as u64)
    }

    /// The files that a piece has bytes of, as a range of indices; empty files inside that range included.
    pub fn files_of_piece(&self, piece: usize) -> Range<usize> {
        self.layout.files_of(self.piece_range(piece))
    }

    /// The pieces that have bytes of a file.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn pieces_of_file(&self, file: usize) -> Range<usize> {
        let span = self.layout.span(file);
        if span.nbytes == 0 {
            return 0..0;
        }
        let end = span.offset + span.nbytes;
        (span.offset / self.piece_nbytes()) as usize..end.div_ceil(self.piece_nbytes()) as usize
    }

    /// Number of files, padding files included.
    pub fn file_count(&self) -> usize {
        self.names.len()
    }

    /// One file.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn file(&self, index: usize) -> File<'_> {
        let span = self.layout.span(index);
        let (path, attributes) = (self.names.path(index), self.names.attributes(index));
        File { index, path, nbytes: span.nbytes, offset: span.offset, attributes }
    }

    /// All files in the torrent's order.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        (0..self.names.len()).map(|index| self.file(index))
    }

    /// The first things that are not as the standards want them.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// How many things are not as the standards want them, the unlisted ones included.
    pub fn note_count(&self) -> usize {
        self.note_count
    }

    pub(crate) fn digests(&self) -> &[u8] {
        &self.digests
    }
}

impl fmt::Debug for Torrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("name", &shown(&self.name).to_string())
            .field("files", &self.names.len())
            .field("total_nbytes", &self.total_nbytes())
            .field("piece_nbytes", &self.piece_nbytes())
            .field("pieces", &self.piece_count())
            .finish_non_exhaustive()
    }
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut digest = [0; 20];
    digest.copy_from_slice(hash(Algorithm::Sha1, bytes).as_ref());
    digest
}
