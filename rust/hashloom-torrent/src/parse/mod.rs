// SPDX-License-Identifier: MIT OR Apache-2.0

//! The contents of a torrent file.

mod error;
mod layers;
mod metadata;
pub(super) mod metainfo;
mod names;
mod reader;
mod tree;

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hashloom::{Algorithm, hash};
use hashloom_files::merkle::NODE_NBYTES;
use hashloom_files::pieces::layout::Layout;
use hashloom_files::read::stream;
use hashloom_files::text::shown;

use crate::bencode;
use layers::Roots;
#[doc(hidden)]
pub use layers::root_of_layer;
use names::Names;

pub use error::{Error, HybridDifference, OpenError, OpenProblem, Problem};
pub use metadata::Metadata;

/// The longest piece: a client asks for a part of a piece by an offset of 32 bits (BEP 3, `request`).
const MAX_PIECE_NBYTES: u64 = 1 << 32;

/// A version of the torrent format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// BEP 3: the SHA-1 of each piece, all files one after the other.
    V1,
    /// BEP 52: a tree of SHA-256 digests for each file, which begins at a piece of its own.
    V2,
    /// Both, for the same files; padding files make every file begin at a piece in v1 too.
    Hybrid,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
            Version::Hybrid => "hybrid",
        })
    }
}

/// A torrent's metainfo, checked.
///
/// ```
/// use hashloom_torrent::{Torrent, Version};
///
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// assert_eq!((torrent.name(), torrent.version(), torrent.total_nbytes()), (&b"abc.txt"[..], Version::V1, 3));
/// assert_eq!((torrent.file_count(), torrent.piece_count(), torrent.piece_nbytes()), (1, 1, 16384));
/// assert_eq!(torrent.piece_digest(0), Some(&b"01234567890123456789"[..]));
/// assert_eq!((torrent.pieces_of_file(0), torrent.files_of_piece(0), torrent.piece_range(0)), (0..1, 0..1, 0..3));
/// assert_eq!(torrent.bytes_of_pieces(0..1).collect::<Vec<_>>(), [(0, 0..3)]);
/// let info = &bytes[7..bytes.len() - 1];
/// assert_eq!(torrent.info_hash_v1().unwrap(), hashloom::hash(hashloom::Algorithm::Sha1, info).as_ref());
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
#[derive(Clone)]
pub struct Torrent {
    info_hash_v1: Option<[u8; 20]>,
    info_hash_v2: Option<[u8; 32]>,
    name: Box<[u8]>,
    #[doc(hidden)]
    pub layout: Arc<Layout>,
    digests: Shared,
    roots: Roots,
    single_file: bool,
    names: Names,
    metadata: Metadata,
    notes: Vec<Note>,
    note_count: usize,
}

/// A part of bytes that may have other owners.
#[derive(Clone, Default)]
struct Shared {
    bytes: Arc<Vec<u8>>,
    part: Range<usize>,
}

/// The attributes of a file (`attr` of BEP 47).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attributes {
    /// `p`: padding, zeros that align the next file to a piece. A padding file need not be on disk and is never read.
    pub padding: bool,
    /// `l`: a symbolic link, which has no content of its own.
    pub symlink: bool,
    /// `x`: executable.
    pub executable: bool,
    /// `h`: hidden.
    pub hidden: bool,
}

/// A file of a torrent.
///
/// ```
/// use hashloom_torrent::{Attributes, File, Torrent};
///
/// let torrent = Torrent::parse(b"d4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee")?;
/// let file: File = torrent.file(0);
/// assert_eq!((file.path, file.nbytes, file.offset), (&b"a"[..], 0, 0));
/// assert_eq!(file.attributes, Attributes::default());
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct File<'a> {
    /// The file's index in the list of files.
    pub index: usize,
    /// The file's path below the torrent's folder, the components joined by `/`. In a single-file torrent it is the
    /// file's name.
    pub path: &'a [u8],
    /// The file's length in bytes.
    pub nbytes: u64,
    /// Offset of the file's first byte in the torrent's content: all files one after the other; in a v2 torrent each
    /// file begins at the next multiple of the piece length.
    pub offset: u64,
    /// The file's attributes.
    pub attributes: Attributes,
    /// The root of the file's tree of SHA-256 digests, 32 bytes: `pieces root` of BEP 52. `None` in a v1 torrent, and
    /// for a file without content.
    pub root: Option<&'a [u8]>,
    /// The target of a symbolic link, if the torrent gives one: a path below the torrent's folder, the components
    /// joined by `/` (BEP 47). Hashloom never follows the target: it may well lead out of the folder.
    pub symlink: Option<&'a [u8]>,
}

/// A deviation from the standards that clients accept.
///
/// ```
/// use hashloom_torrent::{Note, NoteKind, Torrent};
///
/// let torrent = Torrent::parse(b"d4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:eei1e")?;
/// let note: &Note = &torrent.notes()[0];
/// assert!(matches!(note.kind, NoteKind::Bencode(_)));
/// assert_eq!(note.to_string(), "byte 62: 3 bytes follow the end, they are ignored");
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The key concerned; empty if only a byte offset is known.
    pub key: String,
    /// The deviation.
    pub kind: NoteKind,
}

/// A deviation from the standards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// The bencode is not canonical.
    Bencode(bencode::Note),
    /// `length` is there beside `files`; `files` counts.
    LengthBesideFiles,
    /// `length` or `files` is there without `pieces`, so the torrent is v2 only.
    NoPieces,
    /// `file tree` is there without `meta version` 2, so the torrent is v1 only.
    TreeOfV1,
    /// A v2 or hybrid torrent lacks `piece layers`. No file needs it, but BEP 52 wants an empty dictionary.
    NoLayers,
    /// The layers are missing, and files need them: see [`Torrent::unlayered`].
    LayersMissing,
    /// `piece layers` has layers that no file needs.
    UnusedLayers {
        /// Number of bytes.
        count: usize,
    },
    /// A folder of the file tree is empty.
    EmptyFolder {
        /// Byte offset of the folder.
        offset: usize,
    },
    /// An empty file, or a symbolic link, has a `pieces root`.
    RootOfNothing {
        /// Byte offset of the file.
        offset: usize,
    },
    /// A file is executable or hidden in only one half of a hybrid torrent; v1 counts.
    OtherAttributes {
        /// Byte offset of the file.
        offset: usize,
    },
    /// A symbolic link leads out of the torrent's folder, or nowhere.
    SymlinkLeadsOut {
        /// Byte offset of the link's path.
        offset: usize,
    },
    /// A value has another kind than its key requires. No file depends on the value, and it is ignored.
    Ignored {
        /// Byte offset of the folder.
        offset: usize,
        /// The required kind.
        expected: bencode::Kind,
        /// The kind found.
        found: bencode::Kind,
    },
    /// An integer does not fit 64 bits. No file depends on the integer, and it is ignored.
    HugeInteger {
        /// Byte offset of the folder.
        offset: usize,
    },
    /// A node is not a list of a host and a port.
    BadNode {
        /// Byte offset of the folder.
        offset: usize,
    },
    /// There are more URLs or nodes than are kept.
    TooManyUrls {
        /// Number of URLs or nodes that are kept.
        most: usize,
    },
    /// The tracker of `announce` is not in `announce-list`, so clients do not ask it (BEP 12).
    AnnounceNotListed,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        match &self.kind {
            NoteKind::Bencode(note) => note.fmt(f),
            NoteKind::LengthBesideFiles => write!(f, "there are both length and files, files counts"),
            NoteKind::NoPieces => write!(f, "it is there without pieces, the file tree counts"),
            NoteKind::TreeOfV1 => write!(f, "it is there without meta version 2, and is ignored"),
            NoteKind::NoLayers => write!(f, "this key is missing, though no file needs it"),
            NoteKind::LayersMissing => write!(
                f,
                "missing, as in the copy that a client keeps: without them, pieces of version 2 are proved only \
                together, a whole file at a time"
            ),
            NoteKind::UnusedLayers { count: 1 } => write!(f, "1 layer is of no file longer than a piece"),
            NoteKind::UnusedLayers { count } => write!(f, "{count} layers are of no file longer than a piece"),
            NoteKind::EmptyFolder { offset } => write!(f, "byte {offset}: a folder without files"),
            NoteKind::RootOfNothing { offset } => write!(f, "byte {offset}: a file without content has a pieces root"),
            NoteKind::OtherAttributes { offset } => {
                write!(f, "byte {offset}: the attributes of this file are others than in info.files, those count")
            }
            NoteKind::SymlinkLeadsOut { offset } => {
                write!(f, "byte {offset}: a symbolic link leads out of the torrent's folder")
            }
            NoteKind::Ignored { offset, expected, found } => {
                write!(f, "byte {offset}: expected {expected}, found {found}, it is ignored")
            }
            NoteKind::HugeInteger { offset } => {
                write!(f, "byte {offset}: an integer that does not fit 64 bits, it is ignored")
            }
            NoteKind::BadNode { offset } => {
                write!(f, "byte {offset}: expected a list of a host and a port, it is ignored")
            }
            NoteKind::TooManyUrls { most } => write!(f, "there are more than {most}, the rest is ignored"),
            NoteKind::AnnounceNotListed => write!(f, "this tracker is not in announce-list, which counts"),
        }
    }
}

/// Reads the bytes of a `.torrent` file, which the caller keeps too: the digests are not copied.
pub fn parse_shared(bytes: &Arc<Vec<u8>>) -> Result<Torrent, Error> {
    let (torrent, part) = metainfo::parse(bytes)?;
    Ok(Torrent { digests: Shared { bytes: Arc::clone(bytes), part }, ..torrent })
}

impl Torrent {
    /// Reads a `.torrent` file, of at most as many bytes as [`bencode::Limits`] allow by default. Only a regular file
    /// is read: a pipe could keep the caller waiting.
    ///
    /// # Errors
    ///
    /// [`OpenError`], which names the path.
    #[cfg_attr(windows, allow(clippy::result_large_err, reason = "a path is longer there by a word"))]
    pub fn open(path: impl AsRef<Path>) -> Result<Torrent, OpenError> {
        let path = path.as_ref();
        let limits = bencode::Limits::default();
        let failed = |problem| OpenError { path: path.to_owned(), problem };
        let io = |error| failed(OpenProblem::Io(error));
        let (file, metadata) = stream::open(path).map_err(io)?;
        if !metadata.is_file() {
            return Err(failed(OpenProblem::NotAFile));
        }
        if metadata.len() > limits.nbytes as u64 {
            let nbytes = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
            let kind = bencode::ErrorKind::TooLarge { nbytes, limit: limits.nbytes };
            let problem = Problem::Bencode(bencode::Error::new(limits.nbytes, kind));
            return Err(failed(OpenProblem::Torrent(Error { problem, key: String::new(), offset: limits.nbytes })));
        }
        let mut bytes = Vec::new();
        // The file may grow. One byte more than is allowed is refused by the parser.
        file.take(limits.nbytes as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
        Torrent::from_vec(bytes).map_err(|error| failed(OpenProblem::Torrent(error)))
    }

    /// Reads a `.torrent` file's bytes.
    ///
    /// # Errors
    ///
    /// The reason why the bytes are not a torrent that can be verified, with the key and byte offset.
    pub fn parse(bytes: &[u8]) -> Result<Torrent, Error> {
        let (torrent, digests) = metainfo::parse(bytes)?;
        Ok(torrent.with(bytes[digests].to_vec()))
    }

    /// Reads the bytes of a `.torrent` file and keeps them. The digests, most of a large torrent, stay where they are
    /// in memory and are not copied; the memory of the other bytes is freed.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Torrent::parse).
    pub fn from_vec(mut bytes: Vec<u8>) -> Result<Torrent, Error> {
        let (torrent, digests) = metainfo::parse(&bytes)?;
        let nbytes = digests.len();
        bytes.copy_within(digests, 0);
        bytes.truncate(nbytes);
        bytes.shrink_to_fit();
        Ok(torrent.with(bytes))
    }

    /// The torrent with these digests.
    fn with(self, digests: Vec<u8>) -> Torrent {
        Torrent { digests: Shared { part: 0..digests.len(), bytes: digests.into() }, ..self }
    }

    /// The torrent's version.
    pub fn version(&self) -> Version {
        match (self.info_hash_v1, self.info_hash_v2) {
            (Some(_), Some(_)) => Version::Hybrid,
            (None, Some(_)) => Version::V2,
            _ => Version::V1,
        }
    }

    /// The SHA-1 of the `info` dictionary as the file has it: the identity of a v1 or hybrid torrent (BEP 3).
    pub fn info_hash_v1(&self) -> Option<[u8; 20]> {
        self.info_hash_v1
    }

    /// The SHA-256 of the `info` dictionary as the file has it: the identity of a v2 or hybrid torrent (BEP 52).
    pub fn info_hash_v2(&self) -> Option<[u8; 32]> {
        self.info_hash_v2
    }

    /// The name of the torrent's file or folder: bytes, UTF-8 as a rule.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether the torrent was made of one file rather than of a folder.
    pub fn is_single_file(&self) -> bool {
        self.single_file
    }

    /// Total length in bytes of all files that are not padding.
    pub fn files_nbytes(&self) -> u64 {
        self.files_without_padding().map(|file| file.nbytes).sum()
    }

    /// Total length in bytes of all files, padding files included.
    pub fn total_nbytes(&self) -> u64 {
        self.layout.files_nbytes()
    }

    /// Length in bytes of every piece except the last, which may be shorter; in a v2 torrent, except the last of each
    /// file.
    pub fn piece_nbytes(&self) -> u64 {
        self.layout.piece_nbytes()
    }

    /// Number of pieces.
    pub fn piece_count(&self) -> usize {
        match self.info_hash_v1 {
            Some(_) => self.digests().len() / 20,
            None => self.roots.pieces.len() / NODE_NBYTES,
        }
    }

    /// The SHA-1 digest that a piece must have, 20 bytes; `None` in a v2 torrent, and if there is no such piece.
    pub fn piece_digest(&self, piece: usize) -> Option<&[u8]> {
        self.digests().chunks_exact(20).nth(piece)
    }

    /// The root of the tree of SHA-256 digests that covers a piece, 32 bytes; `None` in a v1 torrent, and if there is
    /// no such piece.
    ///
    /// For a file longer than a piece the root comes from `piece layers`, which has been checked against the file's
    /// `pieces root`. It is the root of a whole piece, whose missing blocks count as 32 zero bytes. For any other file
    /// it is the `pieces root`. It is `None` too for a file [without a layer](Torrent::unlayered).
    pub fn piece_root(&self, piece: usize) -> Option<&[u8]> {
        self.roots.piece(piece)
    }

    /// The files longer than a piece whose piece layer the torrent does not have, and their pieces. Clients keep copies
    /// of torrents without layers (qBittorrent since 4.4 does). Of a v2 torrent such pieces are then right only if all
    /// of their file are: together they lead to the file's root.
    pub fn unlayered(&self) -> &[(usize, Range<usize>)] {
        self.roots.unlayered()
    }

    /// Gives a file [without a layer](Torrent::unlayered) the roots of its pieces, 32 bytes each. Returns false, and
    /// changes nothing, if the layer does not lead to the file's root, or the file needs none.
    #[doc(hidden)]
    pub fn set_layer(&mut self, file: usize, layer: &[u8]) -> bool {
        let Some((_, pieces)) = self.unlayered().iter().find(|(of, _)| *of == file) else { return false };
        if layer.len() != pieces.len() * NODE_NBYTES {
            return false;
        }
        let (nbytes, root) = (self.file(file).nbytes, self.file(file).root);
        let is_right = root == Some(&layers::root_of_layer(layer, nbytes, self.piece_nbytes())[..]);
        if is_right {
            self.roots.set_layer(file, layer);
        }
        is_right
    }

    /// The bytes of the torrent's content that a piece covers; empty if there is no such piece.
    pub fn piece_range(&self, piece: usize) -> Range<u64> {
        self.layout.piece_range(piece as u64)
    }

    /// The files that have bytes in a piece, as a range of indices, empty files inside that range included.
    pub fn files_of_piece(&self, piece: usize) -> Range<usize> {
        self.layout.files_of(self.piece_range(piece))
    }

    /// The bytes of each file that a run of pieces covers, without padding.
    ///
    /// # Panics
    /// If one of the pieces does not exist.
    pub fn bytes_of_pieces(&self, pieces: Range<usize>) -> impl Iterator<Item = (usize, Range<u64>)> + '_ {
        let files = if pieces.is_empty() {
            0..0
        } else {
            self.files_of_piece(pieces.start).start..self.files_of_piece(pieces.end - 1).end
        };
        let range = self.piece_range(pieces.start).start..self.piece_range(pieces.end.saturating_sub(1)).end;
        files.filter_map(move |file| {
            let span = self.layout.span(file);
            let bytes = range.start.max(span.offset)..range.end.min(span.end());
            let wanted = !span.padding && bytes.start < bytes.end;
            wanted.then(|| (file, bytes.start - span.offset..bytes.end - span.offset))
        })
    }

    /// The pieces that have bytes of a file.
    ///
    /// # Panics
    /// If the file does not exist.
    pub fn pieces_of_file(&self, file: usize) -> Range<usize> {
        let pieces = self.layout.pieces_of(file);
        pieces.start as usize..pieces.end as usize
    }

    /// Number of files, padding files included.
    pub fn file_count(&self) -> usize {
        self.names.len()
    }

    /// One file.
    ///
    /// # Panics
    /// If the file does not exist.
    pub fn file(&self, index: usize) -> File<'_> {
        let span = self.layout.span(index);
        let (path, attributes) = (self.names.path(index), self.names.attributes(index));
        let root = match span.nbytes {
            0 => None,
            _ => self.roots.file(index, (span.offset / self.piece_nbytes()) as usize).filter(|_| !span.padding),
        };
        let symlink = self.names.target(index);
        File { index, path, nbytes: span.nbytes, offset: span.offset, attributes, root, symlink }
    }

    /// All files in the torrent's order.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        (0..self.names.len()).map(|index| self.file(index))
    }

    /// The files that a user sees. Padding files (BEP 47) lie between them, and no client keeps these.
    pub fn files_without_padding(&self) -> impl Iterator<Item = File<'_>> {
        self.files().filter(|file| !file.attributes.padding)
    }

    /// The first deviations from the standards.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Number of deviations from the standards, those not listed included.
    pub fn note_count(&self) -> usize {
        self.note_count
    }

    /// The digests of v1: 20 bytes a piece; empty in a v2 torrent.
    #[doc(hidden)]
    pub fn digests(&self) -> &[u8] {
        &self.digests.bytes[self.digests.part.clone()]
    }

    /// Whether the root of a piece is unknown, as its file has no layer.
    #[doc(hidden)]
    pub fn has_unknown_root(&self, piece: usize) -> bool {
        self.roots.is_unknown(piece)
    }

    /// The roots of v2: 32 bytes a piece, zeros for a piece whose root is unknown; empty in a v1 torrent.
    #[doc(hidden)]
    pub fn roots(&self) -> &[u8] {
        &self.roots.pieces
    }
}

impl fmt::Debug for Torrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("version", &self.version())
            .field("name", &shown(&self.name).to_string())
            .field("files", &self.names.len())
            .field("total_nbytes", &self.total_nbytes())
            .field("piece_nbytes", &self.piece_nbytes())
            .field("pieces", &self.piece_count())
            .finish_non_exhaustive()
    }
}

/// A digest of an algorithm whose digests have this length.
fn digest<const N: usize>(algorithm: Algorithm, bytes: &[u8]) -> [u8; N] {
    let mut digest = [0; N];
    digest.copy_from_slice(hash(algorithm, bytes).as_ref());
    digest
}
