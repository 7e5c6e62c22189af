// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a client knows of a torrent's pieces when it starts: read from its resume file, and written into it, so that
//! it starts with what [`verify`](super::verify()) found instead of checking once more.
//!
//! | [`Format`] | clients | where they keep it |
//! |---|---|---|
//! | [`Libtorrent`](Format::Libtorrent) | qBittorrent, others with libtorrent | `BT_backup/<info-hash>.fastresume` |
//! | [`Transmission`](Format::Transmission) | Transmission 3 and 4 | `resume/<info-hash>.resume` |
//! | [`Bitfield`](Format::Bitfield) | the protocol's message (BEP 3) | |
//!
//! No standard describes the two; they are as libtorrent 2.0, qBittorrent 4.5 and Transmission 3.00 write and read
//! them.
//! A client writes its file when it ends, so this is done while it does not run. It does not look at the content again,
//! other than at the lengths of files (libtorrent) and the times of last change (Transmission).
//!
//! ```
//! use hashloom::torrent::resume::{self, Format};
//! use hashloom::torrent::{Bitfield, Content, Options, Torrent, verify};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("abc.txt"), "abc")?;
//! # let mut bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:".to_vec();
//! # bytes.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"abc").as_ref());
//! # bytes.extend_from_slice(b"ee");
//! let torrent = Torrent::parse(&bytes)?;
//! let content = Content::find(&torrent, folder.path())?;
//! let report = verify(&torrent, folder.path(), &Options::default())?;
//! let mut have = Bitfield::from(&report.pieces[..]);
//! for file in content.changed(&torrent) {
//!     torrent.pieces_of_file(file).for_each(|piece| have.set(piece, false));
//! }
//! let fastresume = resume::encode(Format::Libtorrent, &torrent, &have, &content)?;
//! # let path = folder.path().join("x");
//! # /*
//! let path = backup.join(resume::file_name(Format::Libtorrent, &torrent)?);
//! # */
//! std::fs::write(path, &fastresume)?;
//!
//! let read = resume::decode(&fastresume, &torrent)?;
//! assert_eq!((read.format, read.have), (Format::Libtorrent, have));
//! assert_eq!(read.folder.as_deref(), Some(folder.path()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::paths::{quoted, to_path};
use super::{Bitfield, BitfieldError, Content, Torrent, Version};
use crate::bencode::{self, Item, Kind, Limits, Value};

/// Whose resume file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The payload of BitTorrent's `bitfield` message (BEP 3) and nothing else.
    Bitfield,
    /// libtorrent's "libtorrent resume file", version 1, with the keys that qBittorrent wants beside it.
    Libtorrent,
    /// Transmission's `.resume`.
    Transmission,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Bitfield => "bitfield",
            Format::Libtorrent => "libtorrent resume file",
            Format::Transmission => "Transmission resume file",
        })
    }
}

/// What a resume file says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resume {
    /// Whose file it is.
    pub format: Format,
    /// The pieces that it says are there.
    pub have: Bitfield,
    /// The folder that it says the content is in. Anything can stand there: do not write below it unasked.
    pub folder: Option<PathBuf>,
}

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

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of what a file holds, more than a digest's length says nothing.
        self.0.iter().take(32).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The name that a client gives to its resume file of a torrent: `<info-hash>.fastresume`, `<info-hash>.resume`. None
/// if the client has no such torrents: Transmission, v2.
///
/// qBittorrent calls a hybrid or v2 torrent by the first 20 bytes of its v2 info-hash, Transmission a hybrid one by its
/// v1 info-hash.
///
/// ```
/// use hashloom::torrent::Torrent;
/// use hashloom::torrent::resume::{Format, file_name};
///
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let name = file_name(Format::Libtorrent, &torrent).unwrap();
/// assert_eq!(name, "1ec14c34424a11a8651e5205fff27668a041a46d.fastresume");
/// # Ok::<(), hashloom::torrent::Error>(())
/// ```
pub fn file_name(format: Format, torrent: &Torrent) -> Option<String> {
    let (v1, v2) = (torrent.info_hash_v1(), torrent.info_hash_v2());
    let v2 = v2.and_then(|hash| hash.first_chunk().copied());
    let (hash, extension) = match format {
        Format::Bitfield => (v2.or(v1), "bitfield"),
        Format::Libtorrent => (v2.or(v1), "fastresume"),
        Format::Transmission => (v1, "resume"),
    };
    hash.map(|hash: [u8; 20]| format!("{}.{extension}", Hex(&hash)))
}

/// Reads a resume file or bitfield. Which it is, is told by what it holds.
///
/// Transmission's does not say which torrent it belongs to; that it fits this one in lengths is all that is known.
///
/// # Errors
///
/// If it is none of them, or not of this torrent.
///
/// ```
/// use hashloom::torrent::Torrent;
/// use hashloom::torrent::resume::{Format, decode};
///
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let read = decode(b"d11:destination4:/srv8:progressd6:blocks3:allee", &torrent)?;
/// assert_eq!((read.format, read.have.count()), (Format::Transmission, 1));
/// assert_eq!((decode(&[0x80], &torrent)?.format), Format::Bitfield);
/// let error = decode(&[0x80, 0], &torrent).unwrap_err();
/// assert!(error.to_string().ends_with("no bitfield: a bitfield of 1 pieces has 1 bytes, found 2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode(bytes: &[u8], torrent: &Torrent) -> Result<Resume, Error> {
    let (format, document) = match recognise(bytes, torrent)? {
        Found::Bitfield(have) => return Ok(Resume { format: Format::Bitfield, have, folder: None }),
        Found::Client(format, document) => (format, document),
    };
    let root = Keys(document.root());
    let (have, folder) = match format {
        Format::Transmission => (transmission::have(&root, torrent)?, root.string("destination")?),
        _ => (libtorrent::have(&root, torrent)?, root.string("save_path")?),
    };
    Ok(Resume { format, have, folder: folder.map(to_path) })
}

/// A client's resume file for a torrent that it has not had before, beside a copy of the torrent's file. The torrent
/// starts when the client does.
///
/// A piece is said to be there if `have` says so and the files are there that it has bytes of. For Transmission, which
/// does not know padding files (BEP 47), these too.
///
/// # Errors
///
/// [`Error::BlockLength`], [`Error::NoFolder`], [`Error::Unfinished`] and [`Error::NoV2`].
///
/// # Panics
/// If `have` or `content` is that of another torrent.
pub fn encode(format: Format, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<Vec<u8>, Error> {
    write(format, BTreeMap::new(), torrent, have, content)
}

/// A client's resume file `old` with other pieces, and with the folder where the content was found. All that does not
/// concern these stays: statistics, labels, limits, priorities, keys that this version of hashloom does not know.
///
/// What must not stay is left out: blocks of unfinished pieces (`unfinished` of libtorrent), which nobody has checked.
///
/// # Errors
///
/// Those of [`encode`]; if `old` is not a file of this format and torrent; [`Error::Renamed`].
///
/// # Panics
/// If `have` or `content` is that of another torrent.
pub fn update(
    old: &[u8],
    format: Format,
    torrent: &Torrent,
    have: &Bitfield,
    content: &Content,
) -> Result<Vec<u8>, Error> {
    let document = match recognise(old, torrent)? {
        Found::Client(found, document) if found == format => document,
        // There is nothing in a bitfield to keep.
        Found::Bitfield(_) if format == Format::Bitfield => return encode(format, torrent, have, content),
        Found::Client(found, _) => return Err(Error::OtherFormat { expected: format, found }),
        Found::Bitfield(_) => return Err(Error::OtherFormat { expected: format, found: Format::Bitfield }),
    };
    let mut items = BTreeMap::new();
    for entry in document.root().entries() {
        // Of two equal keys clients take the first.
        items.entry(entry.key.to_vec()).or_insert_with(|| Item::Raw(entry.value.raw().to_vec()));
    }
    let root = Keys(document.root());
    match format {
        Format::Transmission => transmission::keep(&root, &mut items, torrent, content)?,
        _ => libtorrent::keep(&root, &mut items, torrent, content)?,
    }
    write(format, items, torrent, have, content)
}

/// A dictionary that is to be written.
type Items = BTreeMap<Vec<u8>, Item>;

fn write(
    format: Format,
    mut items: Items,
    torrent: &Torrent,
    have: &Bitfield,
    content: &Content,
) -> Result<Vec<u8>, Error> {
    assert_eq!(have.len(), torrent.piece_count(), "the bitfield is that of another torrent");
    assert_eq!(content.file_count(), torrent.file_count(), "the content is that of another torrent");
    match format {
        Format::Bitfield => return Ok(have.as_bytes().to_vec()),
        Format::Libtorrent => {
            // Only if qBittorrent is told to.
            check_finished(torrent, content, ".!qB")?;
            let have = on_disk(torrent, have, content, false);
            libtorrent::write(&mut items, torrent, &have, content)?;
        }
        Format::Transmission => {
            // Unless Transmission is told not to.
            check_finished(torrent, content, ".part")?;
            let have = on_disk(torrent, have, content, true);
            transmission::write(&mut items, torrent, &have, content)?;
        }
    }
    Ok(Item::Dictionary(items).encode())
}

/// An error if a file is not there but is under its name with `ending`.
fn check_finished(torrent: &Torrent, content: &Content, ending: &str) -> Result<(), Error> {
    let absent = (0..torrent.file_count()).filter(|&file| content.nbytes(file).is_none());
    let mut names = absent.map(|file| {
        let mut name = content.file_path(torrent, file).into_os_string();
        name.push(ending);
        PathBuf::from(name)
    });
    match names.find(|path| path.is_file()) {
        Some(path) => Err(Error::Unfinished { path }),
        None => Ok(()),
    }
}

/// The pieces of `have` without those that have bytes of files that are not there or end before them.
fn on_disk(torrent: &Torrent, have: &Bitfield, content: &Content, padding: bool) -> Bitfield {
    let mut have = have.clone();
    for file in torrent.files().filter(|file| padding || !file.attributes.padding) {
        let found = content.nbytes(file.index).unwrap_or(0);
        if found < file.nbytes {
            let first = ((file.offset + found) / torrent.piece_nbytes()) as usize;
            (first..torrent.pieces_of_file(file.index).end).for_each(|piece| have.set(piece, false));
        }
    }
    have
}

enum Found<'a> {
    Bitfield(Bitfield),
    Client(Format, bencode::Document<'a>),
}

fn recognise<'a>(bytes: &'a [u8], torrent: &Torrent) -> Result<Found<'a>, Error> {
    let bitfield = || Bitfield::from_bytes(bytes, torrent.piece_count());
    let document = match bencode::parse(bytes, &Limits::default()) {
        Ok(document) => document,
        Err(error) => {
            return bitfield().map(Found::Bitfield).map_err(|bitfield| Error::Bencode { error, bitfield });
        }
    };
    let root = document.root();
    let is = |key: &[u8], kind: Kind| root.get(key).is_some_and(|value| value.kind() == kind);
    let format = if root.get(b"file-format").and_then(|value| value.string()) == Some(libtorrent::FORMAT) {
        Format::Libtorrent
    } else if is(b"progress", Kind::Dictionary) || is(b"destination", Kind::String) {
        Format::Transmission
    } else {
        // A bitfield can begin as bencode does: "0:" is one of 16 pieces.
        return bitfield().map(Found::Bitfield).map_err(|bitfield| Error::Unknown { bitfield });
    };
    match format {
        Format::Transmission => transmission::check(&Keys(root), torrent)?,
        _ => libtorrent::check(&Keys(root), torrent)?,
    }
    Ok(Found::Client(format, document))
}

/// A dictionary whose keys have known kinds.
struct Keys<'a>(Value<'a>);

impl<'a> Keys<'a> {
    fn get(&self, key: &'static str, kind: Kind) -> Result<Option<Value<'a>>, Error> {
        match self.0.get(key.as_bytes()) {
            Some(value) if value.kind() != kind => {
                Err(Error::WrongKind { key, offset: value.span().start, expected: kind, found: value.kind() })
            }
            value => Ok(value),
        }
    }

    fn string(&self, key: &'static str) -> Result<Option<&'a [u8]>, Error> {
        Ok(self.get(key, Kind::String)?.and_then(|value| value.string()))
    }

    fn integer(&self, key: &'static str) -> Result<Option<i64>, Error> {
        Ok(self.get(key, Kind::Integer)?.and_then(|value| value.integer()))
    }
}

/// An error if `value` has not the length that it has for this torrent.
fn expect_length(key: &'static str, value: Value<'_>, expected: u64, found: usize) -> Result<(), Error> {
    match found as u64 == expected {
        true => Ok(()),
        false => Err(Error::Length { key, offset: value.span().start, expected, found: found as u64 }),
    }
}

/// Where a client looks for the files: in a folder, under the torrent's own names but for those of `renamed`.
///
/// Both clients keep renamings as a list of an entry a file: its path below the folder, the torrent's name included;
/// empty, or not there, if the file is not renamed.
struct Places<'a> {
    folder: PathBuf,
    renamed: Vec<&'a [u8]>,
}

impl Places<'_> {
    fn path(&self, torrent: &Torrent, file: usize) -> PathBuf {
        match self.renamed.get(file).copied() {
            None | Some(b"") => self.folder.join(own_path(torrent, file)),
            Some(path) => self.folder.join(to_path(path)),
        }
    }

    /// Nothing if the client looks for the files where they were checked. Otherwise where it looks for the first that
    /// it has renamed, if there is one.
    fn differ(mut self, torrent: &Torrent, content: &Content) -> Option<Result<(), Error>> {
        // A folder that is the same through other links is no other folder.
        let same =
            [content.folder(), Some(content.path())].into_iter().flatten().find(|path| is_same(path, &self.folder));
        if let Some(same) = same {
            self.folder = same.to_owned();
        }
        let mut differs = false;
        for file in torrent.files().filter(|file| !file.attributes.padding) {
            let (client, checked) = (self.path(torrent, file.index), content.file_path(torrent, file.index));
            if client != checked {
                differs = true;
                if client != self.folder.join(own_path(torrent, file.index)) {
                    return Some(Err(Error::Renamed { client, checked }));
                }
            }
        }
        differs.then_some(Ok(()))
    }
}

fn is_same(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

/// A file's path below a client's folder under the torrent's own names.
fn own_path(torrent: &Torrent, file: usize) -> PathBuf {
    let path = to_path(torrent.file(file).path);
    if torrent.is_single_file() { path } else { to_path(torrent.name()).join(path) }
}

/// The folder for a client, and the list of renamed files if the content has another name than the torrent.
fn placed(torrent: &Torrent, content: &Content) -> Result<(Vec<u8>, Option<Vec<Item>>), Error> {
    let (Some(folder), Some(name)) = (content.folder(), content.path().file_name()) else {
        return Err(Error::NoFolder);
    };
    let folder_bytes = path_bytes(folder);
    if name == to_path(torrent.name()) {
        return Ok((folder_bytes, None));
    }
    let name = path_bytes(Path::new(name));
    let renamed = torrent.files().map(|file| match torrent.is_single_file() {
        true => Item::from(&name[..]),
        false => Item::from([&name[..], b"/", file.path].concat()),
    });
    Ok((folder_bytes, Some(renamed.collect())))
}

/// A path as clients write it.
#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// A path as clients write it: UTF-8.
#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// libtorrent's resume file, as its `write_resume_data` and `read_resume_data` have it, and qBittorrent's keys in it,
/// which begin with `qBt-`.
mod libtorrent {
    use super::*;

    pub(super) const FORMAT: &[u8] = b"libtorrent resume file";

    pub(super) fn check(root: &Keys<'_>, torrent: &Torrent) -> Result<(), Error> {
        if let Some(version) = root.get("file-version", Kind::Integer)?.filter(|version| version.integer() != Some(1)) {
            let found = version.digits().unwrap_or_default().to_vec();
            return Err(Error::Version { found, offset: version.span().start });
        }
        let (v1, v2) = (torrent.info_hash_v1(), torrent.info_hash_v2());
        let (v1, v2) = (v1.unwrap_or([0; 20]), v2.unwrap_or([0; 32]));
        for (key, expected) in [("info-hash", &v1[..]), ("info-hash2", &v2)] {
            let Some(value) = root.get(key, Kind::String)? else { continue };
            let found = value.string().unwrap_or_default();
            // qBittorrent writes zeros for the one that a torrent has not. Others leave it empty.
            if found != expected && !found.is_empty() {
                let (offset, expected, found) = (value.span().start, expected.to_vec(), found.to_vec());
                return Err(Error::OtherTorrent { key, offset, expected, found });
            }
        }
        Ok(())
    }

    /// A byte a piece: bit 0, it is there; bit 1, it was checked since the torrent was added as a seed.
    pub(super) fn have(root: &Keys<'_>, torrent: &Torrent) -> Result<Bitfield, Error> {
        let count = torrent.piece_count();
        let Some(value) = root.get("pieces", Kind::String)? else {
            // A torrent added as a seed has them all until one turns out wrong; any other is not checked yet.
            let seed = root.integer("seed_mode")?.is_some_and(|mode| mode != 0);
            return Ok(if seed { Bitfield::all(count) } else { Bitfield::none(count) });
        };
        let pieces = value.string().unwrap_or_default();
        expect_length("pieces", value, count as u64, pieces.len())?;
        let mut have = Bitfield::none(count);
        let there = pieces.iter().enumerate().filter(|(_, byte)| **byte & 1 != 0);
        there.for_each(|(piece, _)| have.set(piece, true));
        Ok(have)
    }

    /// libtorrent's list of a v2 torrent's files has padding files between them, as that of a hybrid torrent has.
    fn has_padding_after(torrent: &Torrent, file: usize) -> bool {
        torrent.version() == Version::V2 && torrent.file(file).nbytes % torrent.piece_nbytes() != 0
    }

    /// Leaves out of `items` what is not to be kept of an old file.
    pub(super) fn keep(root: &Keys<'_>, items: &mut Items, torrent: &Torrent, content: &Content) -> Result<(), Error> {
        // Blocks of pieces that are not whole, by number and bitmask.
        items.remove(&b"unfinished"[..]);
        let folder = root.string("save_path")?.unwrap_or_default();
        let renamed = root.get("mapped_files", Kind::List)?.into_iter().flat_map(|list| list.items());
        let mut renamed = renamed.map(|path| path.string().unwrap_or_default());
        let mut own = Vec::new();
        for file in 0..torrent.file_count() {
            own.push(renamed.next().unwrap_or_default());
            if has_padding_after(torrent, file) {
                renamed.next();
            }
        }
        let places = Places { folder: to_path(folder), renamed: own };
        if let Some(differ) = places.differ(torrent, content) {
            differ?;
            items.remove(&b"save_path"[..]);
            items.remove(&b"mapped_files"[..]);
            // Where qBittorrent moves the content to when it starts, if it is not there: nowhere, then.
            items.remove(&b"qBt-savePath"[..]);
            items.remove(&b"qBt-downloadPath"[..]);
        }
        Ok(())
    }

    pub(super) fn write(items: &mut Items, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<(), Error> {
        let fresh = items.is_empty();
        let complete = have.is_complete();
        let mut set = |key: &str, value: Item| items.insert(key.as_bytes().to_vec(), value);
        if fresh {
            set("file-format", FORMAT.into());
            set("file-version", 1.into());
            set("name", torrent.name().into());
            // Flags that are not there are off, where a torrent that is added has them on.
            set("apply_ip_filter", 1.into());
            set("auto_managed", 1.into());
        }
        if let Some(hash) = torrent.info_hash_v1() {
            set("info-hash", hash[..].into());
        }
        if let Some(hash) = torrent.info_hash_v2() {
            set("info-hash2", hash[..].into());
        }
        let pieces: Vec<u8> = (0..have.len()).map(|piece| u8::from(have.get(piece))).collect();
        set("pieces", pieces.into());
        // It would say that all pieces are there.
        set("seed_mode", 0.into());
        let last = content.last_changed_s().filter(|_| complete).unwrap_or(0);
        if fresh {
            // Otherwise qBittorrent takes it for a torrent without a folder of its own.
            set("qBt-contentLayout", "Original".into());
        }
        if !complete || fresh {
            set("completed_time", last.into());
            // Whether qBittorrent has done what it does when a download finishes: moved it, told of it.
            set("qBt-seedStatus", i64::from(complete).into());
        }
        if !items.contains_key(&b"save_path"[..]) {
            let (folder, renamed) = placed(torrent, content)?;
            let qbittorrent = fresh || items.keys().any(|key| key.starts_with(b"qBt-"));
            // Without it, the folder is the one of the category, and the content is moved there.
            if qbittorrent {
                items.insert(b"qBt-savePath".to_vec(), folder.clone().into());
            }
            items.insert(b"save_path".to_vec(), folder.into());
            if let Some(renamed) = renamed {
                let mut mapped = Vec::new();
                for (file, path) in renamed.into_iter().enumerate() {
                    mapped.push(path);
                    if has_padding_after(torrent, file) {
                        mapped.push("".into());
                    }
                }
                items.insert(b"mapped_files".to_vec(), Item::List(mapped));
            }
        }
        Ok(())
    }
}

/// Transmission's resume file, as `resume.c` of 3.00 and `resume.cc` of 4.1 read it.
mod transmission {
    use super::*;

    const BLOCK_NBYTES: u64 = 16 << 10;

    /// Length of a block if it is the same for all versions. Version 3 halves the piece until it is at most 16 KiB,
    /// version 4 counts 16 KiB from the beginning of the content, whatever the pieces.
    fn block_nbytes(torrent: &Torrent) -> Result<u64, Error> {
        let piece_nbytes = torrent.piece_nbytes();
        match piece_nbytes.is_power_of_two() && piece_nbytes >= BLOCK_NBYTES {
            true => Ok(BLOCK_NBYTES),
            false => Err(Error::BlockLength { piece_nbytes }),
        }
    }

    /// The bits of `blocks`, unless it is `all` or `none`.
    fn raw_blocks<'a>(progress: &Keys<'a>) -> Result<Option<(Value<'a>, &'a [u8])>, Error> {
        let blocks = progress.get("blocks", Kind::String)?;
        let bits = blocks.and_then(|value| Some((value, value.string()?)));
        Ok(bits.filter(|(_, bits)| !matches!(*bits, b"all" | b"none")))
    }

    fn progress<'a>(root: &Keys<'a>) -> Result<Option<Keys<'a>>, Error> {
        Ok(root.get("progress", Kind::Dictionary)?.map(Keys))
    }

    pub(super) fn check(root: &Keys<'_>, torrent: &Torrent) -> Result<(), Error> {
        if torrent.info_hash_v1().is_none() {
            return Err(Error::NoV2);
        }
        let Some(progress) = progress(root)? else { return Ok(()) };
        for key in ["time-checked", "mtimes"] {
            if let Some(list) = progress.get(key, Kind::List)? {
                // Counted no further than needed.
                let found = list.items().take(torrent.file_count() + 1).count();
                expect_length(key, list, torrent.file_count() as u64, found)?;
            }
        }
        if let (Some((value, bits)), Ok(block_nbytes)) = (raw_blocks(&progress)?, block_nbytes(torrent)) {
            let count = torrent.total_nbytes().div_ceil(block_nbytes);
            expect_length("blocks", value, count.div_ceil(8), bits.len())?;
        }
        Ok(())
    }

    /// A bit a block: a piece is there if all its blocks are.
    pub(super) fn have(root: &Keys<'_>, torrent: &Torrent) -> Result<Bitfield, Error> {
        let count = torrent.piece_count();
        let Some(progress) = progress(root)? else { return Ok(Bitfield::none(count)) };
        let Some((_, bits)) = raw_blocks(&progress)? else {
            let all = progress.string("blocks")? == Some(b"all");
            return Ok(if all { Bitfield::all(count) } else { Bitfield::none(count) });
        };
        let block_nbytes = block_nbytes(torrent)?;
        let mut have = Bitfield::none(count);
        for piece in 0..count {
            let is_set = |block: u64| bits[(block / 8) as usize] & 0x80 >> (block % 8) != 0;
            have.set(piece, blocks(torrent, piece, block_nbytes).all(is_set));
        }
        Ok(have)
    }

    fn blocks(torrent: &Torrent, piece: usize, block_nbytes: u64) -> std::ops::Range<u64> {
        let range = torrent.piece_range(piece);
        range.start / block_nbytes..range.end.div_ceil(block_nbytes)
    }

    /// Leaves out of `items` what is not to be kept of an old file.
    pub(super) fn keep(root: &Keys<'_>, items: &mut Items, torrent: &Torrent, content: &Content) -> Result<(), Error> {
        let renamed = root.get("files", Kind::List)?.into_iter().flat_map(|list| list.items());
        let renamed: Vec<&[u8]> = renamed.map(|path| path.string().unwrap_or_default()).collect();
        // Each file is looked for in both, the second being for what is not complete yet.
        let destination = root.string("destination")?.unwrap_or_default();
        let incomplete = root.string("incomplete-dir")?.or(root.string("incomplete_dir")?);
        let mut differ = Ok(());
        for folder in [Some(destination), incomplete].into_iter().flatten() {
            let places = Places { folder: to_path(folder), renamed: renamed.clone() };
            match places.differ(torrent, content) {
                None => return Ok(()),
                Some(result) => differ = differ.and(result),
            }
        }
        differ?;
        for key in [&b"destination"[..], b"incomplete-dir", b"incomplete_dir", b"files"] {
            items.remove(key);
        }
        Ok(())
    }

    pub(super) fn write(items: &mut Items, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<(), Error> {
        if torrent.info_hash_v1().is_none() {
            return Err(Error::NoV2);
        }
        let whole = |some: &Bitfield, bits: Vec<u8>| match some.count() {
            _ if some.is_complete() => Item::from("all"),
            0 => Item::from("none"),
            _ => bits.into(),
        };
        let bits = if have.is_complete() || have.count() == 0 { Vec::new() } else { block_bits(torrent, have)? };
        let mut progress = Item::dictionary();
        progress.insert("blocks", whole(have, bits));
        // When each file was last changed, and which pieces have been checked since. If it was changed at another time
        // than this, its pieces are checked again, each before it is sent for the first time. Version 3 prefers a list
        // `time-checked`, which it writes, and reads this one as its elder versions wrote it; version 4 reads this one.
        let changed = |file: usize| Item::from(content.changed_s(file).unwrap_or(0));
        progress.insert("mtimes", (0..torrent.file_count()).map(changed).collect::<Item>());
        progress.insert("pieces", whole(have, have.as_bytes().to_vec()));

        let fresh = items.is_empty();
        let mut set = |key: &str, value: Item| items.insert(key.as_bytes().to_vec(), value);
        set("progress", progress);
        if fresh {
            set("paused", 0.into());
            let last = content.last_changed_s().filter(|_| have.is_complete());
            set("done-date", last.unwrap_or(0).into());
        }
        if !items.contains_key(&b"destination"[..]) {
            let (folder, renamed) = placed(torrent, content)?;
            items.insert(b"destination".to_vec(), folder.into());
            if let (Some(renamed), Some(name)) = (renamed, content.path().file_name()) {
                items.insert(b"files".to_vec(), Item::List(renamed));
                items.insert(b"name".to_vec(), path_bytes(Path::new(name)).into());
            }
        }
        Ok(())
    }

    fn block_bits(torrent: &Torrent, have: &Bitfield) -> Result<Vec<u8>, Error> {
        let block_nbytes = block_nbytes(torrent)?;
        let mut bits = vec![0u8; torrent.total_nbytes().div_ceil(block_nbytes).div_ceil(8) as usize];
        for piece in have.ones() {
            blocks(torrent, piece, block_nbytes).for_each(|block| bits[(block / 8) as usize] |= 0x80 >> (block % 8));
        }
        Ok(bits)
    }
}
