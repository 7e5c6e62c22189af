// SPDX-License-Identifier: MIT OR Apache-2.0

//! A client's knowledge of a torrent's pieces when the client starts: read from its resume file, and written into it,
//! so that the client starts with the result of [`verify`](hashloom_torrent::verify()) and does not check again.
//!
//! | [`Format`] | clients | place |
//! |---|---|---|
//! | [`Libtorrent`](Format::Libtorrent) | qBittorrent, others with libtorrent | `BT_backup/<info-hash>.fastresume` |
//! | [`Transmission`](Format::Transmission) | Transmission 3 and 4 | `resume/<info-hash>.resume` |
//! | [`Bitfield`](Format::Bitfield) | the protocol's message (BEP 3) | |
//!
//! No standard describes the two files; the formats are those that libtorrent 2.0, qBittorrent 4.5 and Transmission
//! 3.00 write and read. A client writes its file when it ends, so write the file only while the client does not run.
//! The client does not look at the content again, except at the lengths of files (libtorrent) and the times of last
//! change (Transmission).
//!
//! ```
//! use hashloom_clients::Content;
//! use hashloom_clients::resume::{self, Format};
//! use hashloom_files::run::Options;
//! use hashloom_torrent::{Bitfield, Torrent, verify};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("abc.txt"), "abc")?;
//! # let mut bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:".to_vec();
//! # bytes.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"abc").as_ref());
//! # bytes.extend_from_slice(b"ee");
//! let torrent = Torrent::parse(&bytes)?;
//! let report = verify(&torrent, folder.path(), &Options::new())?;
//! let have = Bitfield::from(&report.pieces[..]);
//! let content = Content::find(&torrent, folder.path())?;
//! assert!(content.changed(&report).is_empty(), "to be checked once more");
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

mod error;
mod libtorrent;
mod places;
mod transmission;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use hashloom_files::paths::to_path;
use hashloom_files::text::Hex;
use hashloom_torrent::bencode::{self, Item, Kind, Limits, Value};
use hashloom_torrent::inside::{Client, Names};
use hashloom_torrent::{Bitfield, Torrent};

use crate::Content;

pub use crate::path_map::{MappedPath, PathMap};
pub use error::Error;

/// The client that a resume file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The payload of BitTorrent's `bitfield` message (BEP 3) and nothing else.
    Bitfield,
    /// libtorrent's "libtorrent resume file", version 1, with the additional keys that qBittorrent needs.
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

/// The content of a resume file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Resume {
    /// The format of the file.
    pub format: Format,
    /// The pieces that are there according to the file.
    pub have: Bitfield,
    /// The folder of the content according to the file. Any path can stand there: do not write below it unasked.
    pub folder: Option<PathBuf>,
    /// The folder that has the content instead until all of it is there, which Transmission may have.
    pub incomplete: Option<PathBuf>,
    /// The files that the client has renamed, by index: absolute, or relative to the folder.
    pub renamed: BTreeMap<usize, PathBuf>,
    /// The files that the client is told not to download, as far as libtorrent's file says.
    pub unwanted: BTreeSet<usize>,
}

/// The name of a client's resume file for a torrent: `<info-hash>.fastresume`, `<info-hash>.resume`. `None` if the
/// client has no such torrents: Transmission, v2.
///
/// qBittorrent names the file of a hybrid or v2 torrent by the first 20 bytes of its v2 info-hash, Transmission that of
/// a hybrid by its v1 info-hash.
///
/// ```
/// use hashloom_clients::resume::{Format, file_name};
/// use hashloom_torrent::Torrent;
///
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let name = file_name(Format::Libtorrent, &torrent).unwrap();
/// assert_eq!(name, "1ec14c34424a11a8651e5205fff27668a041a46d.fastresume");
/// # Ok::<(), hashloom_torrent::Error>(())
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

/// Reads a resume file or bitfield. The bytes themselves tell which of them it is.
///
/// Transmission's file does not name its torrent; only the lengths can be checked against this torrent.
///
/// # Errors
///
/// If the bytes are none of the formats, or belong to another torrent.
///
/// ```
/// use hashloom_clients::resume::{Error, Format, Resume, decode};
/// use hashloom_torrent::Torrent;
///
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let read: Resume = decode(b"d11:destination4:/srv8:progressd6:blocks3:allee", &torrent)?;
/// assert_eq!((read.format, read.have.count()), (Format::Transmission, 1));
/// assert_eq!((decode(&[0x80], &torrent)?.format), Format::Bitfield);
/// let error = decode(&[0x80, 0], &torrent).unwrap_err();
/// assert!(error.to_string().ends_with("no bitfield: a bitfield of 1 pieces has 1 bytes, found 2"));
/// assert!(matches!(decode(b"de", &torrent), Err(Error::Unknown { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode(bytes: &[u8], torrent: &Torrent) -> Result<Resume, Error> {
    let (format, document) = match recognise(bytes, torrent)? {
        Recognised::Bitfield(have) => {
            let (renamed, unwanted) = (BTreeMap::new(), BTreeSet::new());
            return Ok(Resume { format: Format::Bitfield, have, folder: None, incomplete: None, renamed, unwanted });
        }
        Recognised::Client(format, document) => (format, document),
    };
    let root = Keys(document.root());
    let (have, folder, renamed) = match format {
        Format::Transmission => {
            (transmission::have(&root, torrent)?, root.string("destination")?, transmission::renamed(&root, torrent)?)
        }
        _ => (libtorrent::have(&root, torrent)?, root.string("save_path")?, libtorrent::renamed(&root, torrent)?),
    };
    let (incomplete, unwanted) = match format {
        Format::Libtorrent => (None, libtorrent::unwanted(&root, torrent)?),
        _ => (transmission::incomplete(&root)?, BTreeSet::new()),
    };
    let (folder, incomplete) = (folder.map(to_path), incomplete.map(to_path));
    Ok(Resume { format, have, folder, incomplete, renamed, unwanted })
}

/// The first file that libtorrent tells by a number from another whose name differs in upper and lower case only:
/// `readme.1.txt`. libtorrent finds such a file by what [`encode`] writes. qBittorrent does at its next start; then it
/// renames the file to the torrent's name, and looks for the number again at each start after that.
///
/// ```
/// use hashloom_clients::resume::numbered;
/// use hashloom_torrent::Torrent;
///
/// let files = "d6:lengthi0e4:pathl1:aeed6:lengthi0e4:pathl1:Aee";
/// let bytes = format!("d4:infod5:filesl{files}e4:name1:t12:piece lengthi16384e6:pieces0:ee");
/// assert_eq!(numbered(&Torrent::parse(bytes.as_bytes())?), Some(1));
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
pub fn numbered(torrent: &Torrent) -> Option<usize> {
    Names::new(Client::Libtorrent20, torrent).first_numbered()
}

/// Takes the piece layers that a torrent [lacks](Torrent::unlayered) from libtorrent's resume file, which has them as
/// `trees`. A layer that does not lead to its file's root is not taken. Returns the number of files that have one now.
///
/// # Errors
///
/// If the bytes are none of the formats, or belong to another torrent.
///
/// ```
/// use hashloom_clients::resume::take_layers;
/// use hashloom_torrent::Torrent;
///
/// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let mut torrent = Torrent::parse(bytes)?;
/// assert_eq!(take_layers(b"d11:file-format22:libtorrent resume file5:treesldeee", &mut torrent)?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn take_layers(bytes: &[u8], torrent: &mut Torrent) -> Result<usize, Error> {
    match recognise(bytes, torrent)? {
        Recognised::Client(Format::Libtorrent, document) => {
            let layers = libtorrent::layers(&Keys(document.root()), torrent)?;
            Ok(layers.into_iter().filter(|(file, layer)| torrent.set_layer(*file, layer)).count())
        }
        _ => Ok(0),
    }
}

/// Makes a client's resume file for a torrent that is new to the client, to put beside a copy of the torrent's file.
/// The torrent starts when the client does.
///
/// The file claims a piece if `have` has it and the files with bytes of the piece are there. For Transmission, to which
/// padding files (BEP 47) are files like others, those must be there, too, and have zeros.
///
/// # Errors
///
/// [`Error::BlockLength`], [`Error::EmptyMissing`], [`Error::NoFolder`], [`Error::Elsewhere`] and [`Error::NoV2`].
///
/// # Panics
/// If `have` or `content` belongs to another torrent.
pub fn encode(format: Format, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<Vec<u8>, Error> {
    write(format, BTreeMap::new(), torrent, have, content, false)
}

/// Makes a client's resume file from its old file, `old`, with other pieces and the folder where the content was found.
/// Everything else stays: statistics, labels, limits, priorities, keys that this version of hashloom does not know.
///
/// One thing is left out: the blocks of unfinished pieces (`unfinished` of libtorrent), which nobody has checked.
///
/// # Errors
///
/// The errors of [`encode`]; an error if `old` is not a file of this format and torrent.
///
/// # Panics
/// If `have` or `content` belongs to another torrent.
///
/// ```
/// use hashloom_clients::Content;
/// use hashloom_clients::resume::{Format, update};
/// use hashloom_torrent::{Bitfield, Torrent};
///
/// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// # let folder = tempfile::tempdir()?;
/// let content = Content::find(&torrent, folder.path())?;
/// assert_eq!(update(&[0x80], Format::Bitfield, &torrent, &Bitfield::none(1), &content)?, [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update(
    old: &[u8],
    format: Format,
    torrent: &Torrent,
    have: &Bitfield,
    content: &Content,
) -> Result<Vec<u8>, Error> {
    let document = match recognise(old, torrent)? {
        Recognised::Client(found, document) if found == format => document,
        // A bitfield has nothing to keep.
        Recognised::Bitfield(_) if format == Format::Bitfield => return encode(format, torrent, have, content),
        Recognised::Client(found, _) => return Err(Error::OtherFormat { expected: format, found }),
        Recognised::Bitfield(_) => return Err(Error::OtherFormat { expected: format, found: Format::Bitfield }),
    };
    let mut items = BTreeMap::new();
    for entry in document.root().entries() {
        // Clients take the first of two equal keys.
        items.entry(entry.key.to_vec()).or_insert_with(|| Item::Raw(entry.value.raw().to_vec()));
    }
    let root = Keys(document.root());
    let without_empty = match format {
        Format::Transmission => transmission::keep(&root, &mut items, torrent, content)?,
        _ => libtorrent::keep(&root, &mut items, torrent, content).map(|()| false)?,
    };
    write(format, items, torrent, have, content, without_empty)
}

/// A dictionary to be written.
type Items = BTreeMap<Vec<u8>, Item>;

fn write(
    format: Format,
    mut items: Items,
    torrent: &Torrent,
    have: &Bitfield,
    content: &Content,
    without_empty: bool,
) -> Result<Vec<u8>, Error> {
    assert_eq!(have.len(), torrent.piece_count(), "the bitfield is that of another torrent");
    assert_eq!(content.file_count(), torrent.file_count(), "the content is that of another torrent");
    match format {
        Format::Bitfield => return Ok(have.as_bytes().to_vec()),
        Format::Libtorrent => {
            let have = on_disk(torrent, have, content, format);
            libtorrent::write(&mut items, torrent, &have, content)?;
        }
        Format::Transmission => {
            let have = on_disk(torrent, have, content, format);
            transmission::write(&mut items, torrent, &have, content, without_empty)?;
        }
    }
    Ok(Item::Dictionary(items).encode())
}

/// The pieces of `have`, except those with bytes of files that are missing or end too early. Of a client of libtorrent
/// such bytes may be in its parts file. To Transmission, padding is a file like others: it is read.
pub(crate) fn on_disk(torrent: &Torrent, have: &Bitfield, content: &Content, format: Format) -> Bitfield {
    let is_transmission = format == Format::Transmission;
    let mut have = have.clone();
    if format == Format::Bitfield {
        return have;
    }
    // Padding files of one length have one path.
    let mut are_zeros: BTreeMap<PathBuf, bool> = BTreeMap::new();
    for file in torrent.files().filter(|file| is_transmission || !file.attributes.padding) {
        let mut found = content.nbytes(file.index).unwrap_or(0);
        let is_asked = || torrent.pieces_of_file(file.index).any(|piece| have.get(piece));
        if file.attributes.padding && found >= file.nbytes && is_asked() {
            let look = || content.has_zeros(torrent, file.index);
            found =
                if *are_zeros.entry(content.file_path(torrent, file.index)).or_insert_with(look) { found } else { 0 };
        }
        if found < file.nbytes {
            let first = ((file.offset + found) / torrent.piece_nbytes()) as usize;
            let lost = (first..torrent.pieces_of_file(file.index).end)
                .filter(|&piece| is_transmission || !content.is_in_parts(file.index, piece));
            lost.for_each(|piece| have.set(piece, false));
        }
    }
    have
}

enum Recognised<'a> {
    Bitfield(Bitfield),
    Client(Format, bencode::Document<'a>),
}

fn recognise<'a>(bytes: &'a [u8], torrent: &Torrent) -> Result<Recognised<'a>, Error> {
    let bitfield = || Bitfield::from_bytes(bytes, torrent.piece_count());
    let document = match bencode::parse(bytes, &Limits::default()) {
        Ok(document) => document,
        Err(error) => {
            return bitfield().map(Recognised::Bitfield).map_err(|bitfield| Error::Bencode { error, bitfield });
        }
    };
    let root = document.root();
    let is = |key: &[u8], kind: Kind| root.get(key).is_some_and(|value| value.kind() == kind);
    let format = if root.get(b"file-format").and_then(|value| value.string()) == Some(libtorrent::FORMAT) {
        Format::Libtorrent
    } else if is(b"progress", Kind::Dictionary) || is(b"destination", Kind::String) {
        Format::Transmission
    } else {
        // A bitfield can begin like bencode: "0:" is one of 16 pieces.
        return bitfield().map(Recognised::Bitfield).map_err(|bitfield| Error::Unknown { bitfield });
    };
    match format {
        Format::Transmission => transmission::check(&Keys(root), torrent)?,
        _ => libtorrent::check(&Keys(root), torrent)?,
    }
    Ok(Recognised::Client(format, document))
}

/// A dictionary whose keys must have certain kinds.
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

/// Returns an error if `value` does not have the length that this torrent needs.
fn expect_length(key: &'static str, value: Value<'_>, expected: u64, found: usize) -> Result<(), Error> {
    if found as u64 == expected {
        Ok(())
    } else {
        Err(Error::Length { key, offset: value.span().start, expected, found: found as u64 })
    }
}
