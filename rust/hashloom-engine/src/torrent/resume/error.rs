// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a resume file cannot be read or written.

use std::fmt;
use std::path::PathBuf;

use super::{Format, Hex};
use crate::bencode::{self, Kind};
use crate::text::quoted;
use crate::torrent::BitfieldError;

/// Why a resume file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Not bencode, nor a bitfield of the torrent's length.
    Bencode {
        /// Why it is not bencode.
        error: bencode::Error,
        /// Why it is no bitfield.
        bitfield: BitfieldError,
    },
    /// Bencode, but of neither client, nor a bitfield of the torrent's length.
    Unknown {
        /// Why it is no bitfield.
        bitfield: BitfieldError,
    },
    /// The file is one of another client than was asked for.
    OtherFormat {
        /// What was asked for.
        expected: Format,
        /// What it is.
        found: Format,
    },
    /// A `file-version` that libtorrent has not had yet.
    Version {
        /// The version.
        found: Vec<u8>,
        /// Offset of the value in the file.
        offset: usize,
    },
    /// It is a resume file of another torrent.
    OtherTorrent {
        /// The key that tells.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The torrent's info-hash.
        expected: Vec<u8>,
        /// What stands there.
        found: Vec<u8>,
    },
    /// A value of another kind than the key has.
    WrongKind {
        /// The key.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The kind that the key has.
        expected: Kind,
        /// What stands there.
        found: Kind,
    },
    /// A string or list of another length than this torrent's.
    Length {
        /// The key.
        key: &'static str,
        /// Offset of its value in the file.
        offset: usize,
        /// The length that it has for this torrent: bytes of a string, items of a list.
        expected: u64,
        /// The length that it has.
        found: u64,
    },
    /// Transmission 3 and 4 count the blocks of such pieces differently, so that what is neither all nor nothing cannot
    /// be told from the file.
    BlockLength {
        /// Length of a piece in bytes: no power of two, or less than 16 KiB.
        piece_nbytes: u64,
    },
    /// The client has renamed files of the torrent and looks for them elsewhere than where they were checked.
    Renamed {
        /// Where the client looks for the first of them.
        client: PathBuf,
        /// Where it was checked.
        checked: PathBuf,
    },
    /// The client keeps a file that it has not finished under a longer name, so that it was found missing.
    Unfinished {
        /// The file under the client's name.
        path: PathBuf,
    },
    /// Transmission does not know torrents of version 2 only.
    NoV2,
    /// The content is the root of a file system, which is in no folder.
    NoFolder,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let neither = "expected a resume file of libtorrent or Transmission, or a bitfield";
        let show = |path: &PathBuf| quoted(path.as_os_str().as_encoded_bytes()).to_string();
        match self {
            Error::Bencode { error, bitfield } => {
                write!(f, "{neither}; no resume file: {error}; no bitfield: {bitfield}")
            }
            Error::Unknown { bitfield } => write!(
                f,
                "{neither}; no resume file: neither file-format, progress nor destination is there; no bitfield: {bitfield}"
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
                "{key}, byte {offset}: expected a length of {expected} for this torrent, found {found}: it is damaged or belongs to another torrent"
            ),
            Error::BlockLength { piece_nbytes } => write!(
                f,
                "Transmission 3 and 4 count the blocks of pieces of {piece_nbytes} bytes differently: only all pieces or none can be written and read. Let Transmission verify this torrent itself"
            ),
            Error::Renamed { client, checked } => write!(
                f,
                "the client has renamed files: it looks for {}, checked was {}. Undo the renaming in the client, or let it check this torrent itself",
                show(client),
                show(checked)
            ),
            Error::Unfinished { path } => write!(
                f,
                "the client has not finished {}, whose pieces would be lost. Take the ending off in the client's settings, or let it check this torrent itself",
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
