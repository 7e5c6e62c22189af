// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a resume file cannot be read or written.

use std::fmt;
use std::path::PathBuf;

use hashloom_files::text::quoted;
use hashloom_torrent::BitfieldError;
use hashloom_torrent::bencode::{self, Kind};

use super::{Format, Hex};

/// Why a resume file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are neither bencode nor a bitfield of the torrent's length.
    Bencode {
        /// Why it is not bencode.
        error: bencode::Error,
        /// Why it is not a bitfield.
        bitfield: BitfieldError,
    },
    /// The bytes are bencode, but neither of a client nor a bitfield of the torrent's length.
    Unknown {
        /// Why it is not a bitfield.
        bitfield: BitfieldError,
    },
    /// The file has another format than the one asked for.
    OtherFormat {
        /// The format asked for.
        expected: Format,
        /// The format found.
        found: Format,
    },
    /// A `file-version` that is unknown to this program and to libtorrent.
    Version {
        /// The version.
        found: Vec<u8>,
        /// Offset of the value in the file.
        offset: usize,
    },
    /// The resume file belongs to another torrent.
    OtherTorrent {
        /// The key that shows this.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The torrent's info-hash.
        expected: Vec<u8>,
        /// The info-hash in the file.
        found: Vec<u8>,
    },
    /// A value has another kind than its key requires.
    WrongKind {
        /// The key.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The required kind.
        expected: Kind,
        /// The kind found.
        found: Kind,
    },
    /// A string or list has another length than this torrent needs.
    Length {
        /// The key.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The length for this torrent: bytes of a string, items of a list.
        expected: u64,
        /// The length found.
        found: u64,
    },
    /// Transmission 3 and 4 count the blocks of such pieces differently, so the file tells only whether all or no
    /// pieces are there.
    BlockLength {
        /// Length of a piece in bytes: not a power of two, or less than 16 KiB.
        piece_nbytes: u64,
    },
    /// The client keeps all files of a torrent below one folder, and a file is elsewhere.
    Elsewhere {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// An empty file is missing: libtorrent rejects a resume file that claims all pieces then, and checks everything.
    EmptyMissing {
        /// Where libtorrent looks for it.
        path: PathBuf,
    },
    /// Transmission does not know torrents of v2 only.
    NoV2,
    /// The content is the root of a file system, so it is not in any folder.
    NoFolder,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let neither = "expected a resume file of libtorrent or Transmission, or a bitfield";
        let show = |path: &PathBuf| quoted(&hashloom_files::paths::portable(path)).to_string();
        match self {
            Error::Bencode { error, bitfield } => {
                write!(f, "{neither}; no resume file: {error}; no bitfield: {bitfield}")
            }
            Error::Unknown { bitfield } => write!(
                f,
                "{neither}; no resume file: neither file-format, progress nor destination is there; no bitfield: \
                {bitfield}"
            ),
            Error::OtherFormat { expected, found } => write!(f, "expected a {expected}, found a {found}"),
            Error::Version { found, offset } => {
                write!(f, "file-version, byte {offset}: expected 1, found {}", quoted(found))
            }
            Error::OtherTorrent { key, offset, expected, found } => write!(
                f,
                "{key}, byte {offset}: it belongs to another torrent: expected {}, found {}",
                Hex(expected),
                Hex(found)
            ),
            Error::WrongKind { key, offset, expected, found } => {
                write!(f, "{key}, byte {offset}: expected {expected}, found {found}")
            }
            Error::Length { key, offset, expected, found } => write!(
                f,
                "{key}, byte {offset}: expected a length of {expected} for this torrent, found {found}: it is damaged \
                or belongs to another torrent"
            ),
            Error::BlockLength { piece_nbytes } => write!(
                f,
                "Transmission 3 and 4 count the blocks of pieces of {piece_nbytes} bytes differently: only all pieces \
                or none can be written and read. Let Transmission verify this torrent itself"
            ),
            Error::Elsewhere { path, folder } => write!(
                f,
                "Transmission keeps a torrent's files below one folder, and {} is not below {}. Move or link it there",
                show(path),
                show(folder)
            ),
            Error::EmptyMissing { path } => write!(
                f,
                "the empty file {} is missing, and libtorrent rejects it then. Make the file, with touch",
                show(path)
            ),
            Error::NoV2 => write!(f, "Transmission does not know v2 torrents"),
            Error::NoFolder => {
                write!(f, "the content is the root of a file system; a client needs the folder that it is in")
            }
        }
    }
}

impl std::error::Error for Error {}
