// SPDX-License-Identifier: MIT OR Apache-2.0

//! Making torrents: a [`Builder`] has the options, a [`Plan`] the files, [`Created`] is the torrent.
//!
//! ```text
//! scan    which files, sorted
//! draft   files that the caller reads
//! error   why not
//! like    the layout of a torrent that is there already
//! write   the torrent's bytes
//! ```

mod draft;
mod error;
mod like;
mod scan;
mod write;

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom::{Algorithm, hash};
use hashloom_files::paths::name::check_component;
use hashloom_files::paths::to_path;
use hashloom_files::pieces::files::{Files, Place, Presence, Trouble};
use hashloom_files::pieces::job::{Content, Hashes};
use hashloom_files::pieces::layout::{Layout, Spans};
use hashloom_files::run::Options;
use hashloom_files::walk::Filter;
use hashloom_torrent::bencode::Limits;
use hashloom_torrent::{Attributes, Torrent, Version};

use crate::compute::{Computed, Failure, compute};
use crate::urls::Use;
use error::Problems;
use scan::Entry;

pub use draft::Draft;
pub use error::{CreateError, FileProblem, FileProblemKind};

/// The shortest piece: the length that clients request from each other at once (BEP 52).
const MIN_PIECE_LENGTH: u64 = 16 << 10;

/// The longest piece. libtorrent accepts no pieces of 512 MiB, and pieces of 256 MiB help nobody.
const MAX_PIECE_LENGTH: u64 = 256 << 20;

/// The longest piece that is chosen automatically.
const MAX_AUTOMATIC_PIECE_LENGTH: u64 = 16 << 20;

/// Largest number of pieces if the length of a piece is chosen automatically, unless pieces would exceed
/// [`MAX_AUTOMATIC_PIECE_LENGTH`].
const AUTOMATIC_PIECES_MAX: u64 = 2048;

/// The treatment of symbolic links below the folder that a torrent is made of. A link given as the path itself is
/// followed.
///
/// ```
/// use hashloom_maker::{Builder, Symlinks};
///
/// # #[cfg(unix)]
/// # {
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("a.txt"), "rose")?;
/// std::os::unix::fs::symlink("a.txt", folder.path().join("b.txt"))?;
/// let nfiles = |symlinks| Builder::new().symlinks(symlinks).plan(folder.path()).map(|plan| plan.files().len());
/// assert_eq!((nfiles(Symlinks::Follow)?, nfiles(Symlinks::Skip)?), (2, 1));
/// assert!(nfiles(Symlinks::Refuse).is_err());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Symlinks {
    /// The files that links lead to are part of the torrent, wherever they are.
    #[default]
    Follow,
    /// Links are left out.
    Skip,
    /// A link is an error.
    Refuse,
}

/// The options for making a torrent. The default is a hybrid torrent without trackers, of all files, hidden ones
/// included. Its bytes depend only on the files' names, contents and executable bits.
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_files::walk::Filter;
/// use hashloom_maker::{Builder, Created};
/// use hashloom_torrent::Version;
///
/// let folder = tempfile::tempdir()?;
/// for name in ["poem.txt", "poem.txt~", "Thumbs.db"] {
///     std::fs::write(folder.path().join(name), "Rose is a rose is a rose")?;
/// }
/// let plan = Builder::new()
///     .version(Version::V1)
///     .name("Sacred Emily")
///     .filter(Filter::new(&[], &["*~"])?)
///     .leave_out(|path| path == b"Thumbs.db")
///     .executable(false)
///     .piece_nbytes(1 << 20)
///     .tier(["udp://tracker.example.org:6969"])
///     .tier(["http://a.example/", "http://b.example/"])
///     .web_seed("https://a.example/poems/")
///     .private(true)
///     .source("EX")
///     .comment("a poem")
///     .created_by("example 1.0")
///     .date(1_700_000_000)
///     .plan(folder.path())?;
/// assert_eq!((plan.files().len(), plan.nbytes(), plan.piece_nbytes()), (1, 24, 1 << 20));
/// assert_eq!(plan.left_out(), [b"Thumbs.db"[..].into()]);
/// let created: Created = plan.create(&Options::new())?;
/// let metadata = created.torrent.metadata();
/// assert_eq!((metadata.trackers.len(), metadata.web_seeds.len(), metadata.private), (2, 1, true));
/// assert!(created.bytes.starts_with(b"d8:announce30:udp://tracker.example.org:6969"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    version: Version,
    piece_nbytes: Option<u64>,
    most_piece_nbytes: u64,
    /// Whether the files of a v1 torrent begin at pieces of their own, by padding files (BEP 47), as those of another
    /// torrent do.
    align: bool,
    name: Option<String>,
    trackers: Vec<Vec<String>>,
    web_seeds: Vec<String>,
    private: bool,
    entropy: Option<String>,
    declared_public: bool,
    source: Option<Vec<u8>>,
    comment: Option<String>,
    created_by: Option<String>,
    date: Option<i64>,
    filter: Filter,
    symlinks: Symlinks,
    executable: bool,
    leave_out: Option<fn(&[u8]) -> bool>,
    like: Option<Arc<Torrent>>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Gives files the order of mkbrr, mktorrent, transmission-create and libtorrent in v1, that of whole paths: `CD1
/// bonus/b` comes before `CD1/a`. The order of BEP 52's tree is that of components.
fn sort_by_paths(entries: &mut [Entry]) {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
}

impl Builder {
    /// The default options.
    pub fn new() -> Builder {
        Builder {
            version: Version::Hybrid,
            piece_nbytes: None,
            most_piece_nbytes: MAX_AUTOMATIC_PIECE_LENGTH,
            align: false,
            name: None,
            trackers: Vec::new(),
            web_seeds: Vec::new(),
            private: false,
            entropy: None,
            declared_public: false,
            source: None,
            comment: None,
            created_by: None,
            date: None,
            filter: Filter::default(),
            symlinks: Symlinks::Follow,
            executable: true,
            leave_out: None,
            like: None,
        }
    }

    /// Sets the version of the torrent; the default is hybrid.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets the bytes in a piece: a power of two from 16 KiB to 256 MiB, or, for v1 only, any multiple of 16 KiB in
    /// that range. The default is the least power of two from 16 KiB to 16 MiB that makes at most 2048 pieces.
    pub fn piece_nbytes(mut self, nbytes: u64) -> Self {
        self.piece_nbytes = Some(nbytes);
        self
    }

    /// Sets the most bytes in a piece whose length is chosen automatically, a power of two; the default is 16 MiB.
    pub fn most_piece_nbytes(mut self, nbytes: u64) -> Self {
        self.most_piece_nbytes = nbytes;
        self
    }

    /// Sets the name of the torrent's file or folder; the default is the last component of the path.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a tier of trackers; clients choose among them at random (BEP 12).
    pub fn tier(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.trackers.push(urls.into_iter().map(Into::into).collect());
        self
    }

    /// Adds a web seed (BEP 19).
    pub fn web_seed(mut self, url: impl Into<String>) -> Self {
        self.web_seeds.push(url.into());
        self
    }

    /// Restricts peers to those from the trackers (BEP 27).
    pub fn private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Sets whether a torrent that is not private says so, by a `private` of 0, as torrents of mkbrr do: the info-hash
    /// is another.
    pub fn declared_public(mut self, declared: bool) -> Self {
        self.declared_public = declared;
        self
    }

    /// Sets `entropy` in the info dictionary, a key without a meaning: another text gives another info-hash.
    pub fn entropy(mut self, text: impl Into<String>) -> Self {
        self.entropy = Some(text.into());
        self
    }

    /// Sets `source` in the info dictionary: another source gives another info-hash.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into().into_bytes());
        self
    }

    /// Sets a comment.
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// Sets the name of the program that makes the torrent.
    pub fn created_by(mut self, program: impl Into<String>) -> Self {
        self.created_by = Some(program.into());
        self
    }

    /// Sets the creation time, in seconds since 1970 (UTC).
    pub fn date(mut self, seconds: i64) -> Self {
        self.date = Some(seconds);
        self
    }

    /// Restricts the torrent to the files that a filter wants.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Leaves out the files whose paths below the folder `is_unwanted`; [`Plan::left_out`] names them. A file given by
    /// itself is never left out.
    pub fn leave_out(mut self, is_unwanted: fn(&[u8]) -> bool) -> Self {
        self.leave_out = Some(is_unwanted);
        self
    }

    /// Sets the treatment of symbolic links.
    pub fn symlinks(mut self, symlinks: Symlinks) -> Self {
        self.symlinks = symlinks;
        self
    }

    /// Sets whether files that their owner may execute are marked so (BEP 47); the default is yes.
    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = executable;
        self
    }

    /// Finds the files for a torrent of `path`, a file or a folder, and lays them out. The call reads only folders.
    ///
    /// # Errors
    ///
    /// Every reason against the torrent that can be known without reading files: see [`CreateError`].
    pub fn plan(self, path: &Path) -> Result<Plan, CreateError> {
        self.check()?;
        let name = self.name_of(path)?;
        if let Some(old) = self.like.clone() {
            let entries = self.entries_like(&old, path)?;
            let plan = self.lay_out(path.to_owned(), name, entries, old.is_single_file())?;
            return plan.check_like(&old).map(|()| plan);
        }
        let (entries, single_file, left_out) = scan::scan(&self, path)?;
        let plan = self.lay_out(path.to_owned(), name, entries, single_file)?;
        Ok(Plan { left_out, ..plan })
    }

    /// Lays out the files at `root`, which are sorted as BEP 52's tree is.
    fn lay_out(
        self,
        root: PathBuf,
        name: Vec<u8>,
        mut entries: Vec<Entry>,
        single_file: bool,
    ) -> Result<Plan, CreateError> {
        if self.version == Version::V1 && self.like.is_none() {
            sort_by_paths(&mut entries);
        }
        let mut nbytes: u64 = 0;
        for entry in &entries {
            nbytes = nbytes.checked_add(entry.nbytes).ok_or(CreateError::TotalOverflow)?;
        }
        if nbytes == 0 {
            return Err(CreateError::Nothing { path: root, empty: entries.len() });
        }
        let v1 = self.version == Version::V1;
        if !v1 && !single_file && entries.len() == 1 && *entries[0].path == *name {
            return Err(CreateError::SameName { name });
        }
        let piece_nbytes = self.piece_nbytes.unwrap_or_else(|| automatic_piece_length(nbytes, self.most_piece_nbytes));
        let padded = match self.version {
            Version::V1 => self.align,
            Version::V2 => false,
            Version::Hybrid => true,
        };
        // One file needs no padding: libtorrent, too, pads the last file only if there are several.
        let padded = padded && entries.len() > 1;
        if padded && entries.iter().any(|entry| entry.path.starts_with(b".pad/") || *entry.path == *b".pad") {
            return Err(CreateError::PadFolder);
        }
        let pads_last = self.like.as_ref().is_none_or(|old| old.version() == Version::V2 || like::ends_in_padding(old));
        let left_out = Vec::new();
        let plan =
            Plan { root, builder: self, name, entries, left_out, single_file, nbytes, piece_nbytes, padded, pads_last };
        plan.check_size()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), CreateError> {
        let url = |of: Use, url: &String| {
            if of.accepts(url.as_bytes()) {
                Ok(())
            } else {
                Err(CreateError::Url { what: of.name(), url: url.clone() })
            }
        };
        self.trackers.iter().flatten().try_for_each(|tracker| url(Use::Tracker, tracker))?;
        self.web_seeds.iter().try_for_each(|seed| url(Use::WebSeed, seed))?;
        self.check_piece_nbytes(self.most_piece_nbytes)?;
        self.piece_nbytes.map_or(Ok(()), |nbytes| self.check_piece_nbytes(nbytes))
    }

    fn check_piece_nbytes(&self, found: u64) -> Result<(), CreateError> {
        let power = self.version != Version::V1;
        let is_right = if power { found.is_power_of_two() } else { found % MIN_PIECE_LENGTH == 0 };
        if is_right && (MIN_PIECE_LENGTH..=MAX_PIECE_LENGTH).contains(&found) {
            Ok(())
        } else {
            Err(CreateError::PieceLength { found, power })
        }
    }

    fn name_of(&self, path: &Path) -> Result<Vec<u8>, CreateError> {
        let no_name = || CreateError::NoName { path: path.to_owned() };
        if let Some(old) = self.like.as_ref().filter(|_| self.name.is_none()) {
            return if self.version == Version::V1 || std::str::from_utf8(old.name()).is_ok() {
                Ok(old.name().to_vec())
            } else {
                Err(CreateError::BadName { name: String::from_utf8_lossy(old.name()).into() })
            };
        }
        if let Some(name) = &self.name {
            return match check_component(name.as_bytes()) {
                Ok(()) => Ok(name.clone().into_bytes()),
                Err(_) => Err(CreateError::BadName { name: name.clone() }),
            };
        }
        let name = match path.file_name() {
            Some(name) => name.to_owned(),
            // The path ends in "." or "..".
            None => {
                let whole = path.canonicalize().map_err(|error| CreateError::Path { path: path.to_owned(), error })?;
                whole.file_name().ok_or_else(no_name)?.to_owned()
            }
        };
        if name.to_str().is_none() && (self.version != Version::V1 || cfg!(not(unix))) {
            let mut problems = Problems::default();
            problems.push(path.to_owned(), FileProblemKind::NotUtf8);
            problems.check()?;
        }
        Ok(name.as_encoded_bytes().to_vec())
    }
}

/// The least power of two that makes few enough pieces, within the limits for the length of a piece.
fn automatic_piece_length(nbytes: u64, most: u64) -> u64 {
    let least = nbytes.div_ceil(AUTOMATIC_PIECES_MAX).next_power_of_two();
    least.clamp(MIN_PIECE_LENGTH, most.max(MIN_PIECE_LENGTH))
}

/// The files of a torrent that is to be made.
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_maker::{Builder, Plan, PlannedFile};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("b"), vec![0; 100_000])?;
/// std::fs::write(folder.path().join("a"), "a")?;
/// let mut plan: Plan = Builder::new().name("two").piece_nbytes(32 << 10).plan(folder.path())?;
/// let PlannedFile { path, nbytes, .. } = plan.files().next().unwrap();
/// assert_eq!((path, nbytes), (&b"a"[..], 1));
/// assert_eq!((plan.name(), plan.nbytes(), plan.piece_count()), (&b"two"[..], 100_001, 1 + 4));
/// assert!(plan.has(&folder.path().join("a")) && !plan.is_single_file());
/// plan.set_piece_nbytes(16 << 10)?;
/// assert_eq!(plan.torrent_nbytes(), plan.create(&Options::new())?.bytes.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Plan {
    root: PathBuf,
    builder: Builder,
    name: Vec<u8>,
    entries: Vec<Entry>,
    single_file: bool,
    /// Total bytes of all files, without padding.
    nbytes: u64,
    piece_nbytes: u64,
    /// Whether padding makes every file of v1's list end at the end of a piece.
    padded: bool,
    /// Whether there is padding after the last file too.
    pads_last: bool,
    left_out: Vec<Box<[u8]>>,
}

/// A file of a torrent that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedFile<'a> {
    /// The file's path below the torrent's folder, the components joined by `/`. In a single-file torrent it is the
    /// torrent's name.
    pub path: &'a [u8],
    /// The file's length in bytes.
    pub nbytes: u64,
    /// The file's attributes in the torrent.
    pub attributes: Attributes,
}

impl Plan {
    /// The name of the torrent's file or folder.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The version.
    pub fn version(&self) -> Version {
        self.builder.version
    }

    /// Whether the torrent is of one file rather than of a folder.
    pub fn is_single_file(&self) -> bool {
        self.single_file
    }

    /// Total length in bytes of all files, without padding.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Length of a piece in bytes.
    pub fn piece_nbytes(&self) -> u64 {
        self.piece_nbytes
    }

    /// Number of pieces. In v2 and hybrid torrents each file that is not empty begins a new piece.
    pub fn piece_count(&self) -> u64 {
        match self.builder.version {
            Version::V1 if !self.padded => self.nbytes.div_ceil(self.piece_nbytes),
            _ => self.entries.iter().map(|entry| entry.nbytes.div_ceil(self.piece_nbytes)).sum(),
        }
    }

    /// The files in the torrent's order, without padding files.
    pub fn files(&self) -> impl ExactSizeIterator<Item = PlannedFile<'_>> {
        self.entries.iter().map(|entry| PlannedFile {
            path: if self.single_file { &self.name } else { &entry.path },
            nbytes: entry.nbytes,
            attributes: Attributes { executable: entry.executable, ..Attributes::default() },
        })
    }

    fn path(&self, index: usize) -> PathBuf {
        if self.single_file { self.root.clone() } else { self.root.join(to_path(&self.entries[index].path)) }
    }

    /// Whether the file at `path` is one of the torrent's files, under whatever name, so that the torrent had better
    /// not replace it. False if there is no file at `path`.
    pub fn has(&self, path: &Path) -> bool {
        let stamp = path.metadata().and_then(|metadata| scan::stamp(path, &metadata));
        stamp.is_ok_and(|stamp| self.entries.iter().any(|entry| entry.stamp == stamp))
    }

    /// Sets the bytes in a piece, as [`Builder::piece_nbytes`] does, once the length of the content is known.
    ///
    /// # Errors
    ///
    /// If torrents of this version cannot have such pieces.
    pub fn set_piece_nbytes(&mut self, nbytes: u64) -> Result<(), CreateError> {
        self.builder.check_piece_nbytes(nbytes)?;
        self.piece_nbytes = nbytes;
        self.check_size()
    }

    /// Length of the `.torrent` file in bytes. A v2 or hybrid torrent is shorter if long files have the same content,
    /// which no one can know before reading them.
    #[must_use]
    pub fn torrent_nbytes(&self) -> usize {
        let pieces = self.layout().0.piece_count();
        // Roots that differ: of equal trees one is written.
        let root = |piece: u64| [piece.to_le_bytes(), [0; 8], [0; 8], [1; 8]].concat();
        let sha1 = vec![0; pieces as usize * 20];
        write::write(self, &Computed { sha1, roots: (0..pieces).flat_map(root).collect() }).0.len()
    }

    /// The paths that [`Builder::leave_out`] has left out, below the folder, the components joined by `/`.
    pub fn left_out(&self) -> &[Box<[u8]>] {
        &self.left_out
    }

    /// Whether the torrent has padding files, which some clients take for files of the content.
    #[cfg(feature = "command")]
    pub(crate) fn has_padding(&self) -> bool {
        (0..self.entries.len()).any(|index| self.padding_after(index) > 0)
    }

    /// Makes the torrent one of v1, without padding, in pieces of this length.
    #[cfg(feature = "command")]
    pub(crate) fn make_v1(&mut self, piece_nbytes: u64) -> Result<(), CreateError> {
        (self.builder.version, self.padded) = (Version::V1, false);
        sort_by_paths(&mut self.entries);
        self.set_piece_nbytes(piece_nbytes)
    }

    /// Bytes of padding after a file.
    fn padding_after(&self, index: usize) -> u64 {
        let nbytes = self.entries[index].nbytes;
        let padded = self.padded && (self.pads_last || index + 1 < self.entries.len());
        if padded { nbytes.next_multiple_of(self.piece_nbytes) - nbytes } else { 0 }
    }

    /// Checks that parsers accept the torrent, as far as that can be known now: nobody shall wait hours to learn that
    /// they do not.
    fn check_size(&self) -> Result<(), CreateError> {
        let mut aligned: u64 = 0;
        for entry in &self.entries {
            let whole = entry.nbytes.checked_next_multiple_of(self.piece_nbytes);
            aligned = whole.and_then(|whole| aligned.checked_add(whole)).ok_or(CreateError::TotalOverflow)?;
        }
        if aligned > i64::MAX as u64 {
            return Err(CreateError::TotalOverflow);
        }
        let pieces = self.piece_count();
        let (sha1, merkle) = match self.builder.version {
            Version::V1 => (20, 0),
            Version::V2 => (0, 32),
            Version::Hybrid => (20, 32),
        };
        // The keys and lengths of a file, and of a padding file, take at least this many further bytes.
        let of_files: u64 = self.entries.iter().map(|entry| entry.path.len() as u64 + 24).sum();
        if pieces.saturating_mul(sha1 + merkle).saturating_add(of_files) > Limits::default().nbytes as u64 {
            return Err(self.too_many_pieces());
        }
        Ok(())
    }

    fn too_many_pieces(&self) -> CreateError {
        CreateError::TooManyPieces {
            pieces: self.piece_count(),
            files: self.entries.len(),
            piece_nbytes: self.piece_nbytes,
        }
    }

    /// Reads the files and makes the torrent. The options give the progress function and the flag for cancelling.
    ///
    /// After all reading, every file is looked at again, and the pieces of a changed file are hashed again: otherwise
    /// the torrent would describe content that never existed. This library's parser has read the returned torrent back.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, have another length than when the plan was made, or change each of the three times
    /// that they are hashed; [`CreateError::Cancelled`].
    pub fn create(&self, options: &Options) -> Result<Created, CreateError> {
        let (layout, sources) = self.layout();
        let path_of = Box::new(|index: usize| self.path(sources[index] as usize));
        let files = Files::new(Place::Listed, sources.len(), path_of, &Arc::default());
        let version = self.builder.version;
        let hashes = Hashes::of_torrent(layout.piece_nbytes(), version != Version::V2, version != Version::V1);
        let (content, computed) = compute(Content::new(Arc::new(layout), files, hashes), options);
        let computed = match computed {
            Ok(computed) => computed,
            Err(Failure::Cancelled) => return Err(CreateError::Cancelled),
            Err(Failure::Absent) => return Err(self.failed(&content.files, &sources)),
        };
        self.check_unchanged(&content.files, &sources)?;
        self.check_same(&computed)?;
        let nbytes_read = content.nbytes_read();
        drop(content);
        self.write(&computed, nbytes_read)
    }

    /// The torrent with these digests, which this library's parser has read back.
    fn write(&self, computed: &Computed, nbytes_read: u64) -> Result<Created, CreateError> {
        let (bytes, info) = write::write(self, computed);
        if bytes.len() > Limits::default().nbytes {
            return Err(self.too_many_pieces());
        }
        let torrent = Torrent::parse(&bytes).map_err(CreateError::Unreadable)?;
        if self.is_what_was_meant(&torrent, &bytes[info], computed) {
            Ok(Created { bytes, torrent, nbytes_read })
        } else {
            Err(CreateError::Different)
        }
    }

    /// The layout, and the entry of each of its files; padding files have none.
    fn layout(&self) -> (Layout, Vec<u32>) {
        let mut spans = match self.builder.version {
            Version::V2 => Spans::aligned(self.piece_nbytes),
            Version::V1 | Version::Hybrid => Spans::default(),
        };
        let mut sources = Vec::with_capacity(self.entries.len());
        for (index, entry) in self.entries.iter().enumerate() {
            spans.push(entry.nbytes, false);
            sources.push(index as u32);
            let padding = self.padding_after(index);
            if padding > 0 {
                spans.push(padding, true);
                sources.push(u32::MAX);
            }
        }
        (Layout::new(self.piece_nbytes, spans), sources)
    }

    /// The files that made the torrent fail, and others that would have.
    fn failed(&self, files: &Files<'_>, sources: &[u32]) -> CreateError {
        let mut troubles = files.take_troubles();
        let mut problems = Problems::default();
        for (index, &source) in sources.iter().enumerate().filter(|&(_, &source)| source != u32::MAX) {
            if problems.is_full() {
                break;
            }
            let entry = &self.entries[source as usize];
            let path = self.path(source as usize);
            let kind = match (troubles.remove(&index), files.known(index)) {
                (Some(Trouble::Open(error) | Trouble::Read { error, .. }), _) => Some(FileProblemKind::Io(error)),
                (Some(Trouble::NotRegular(_) | Trouble::Outside(_)), _) => Some(FileProblemKind::Changed),
                (None, Presence::Missing) => Some(FileProblemKind::Changed),
                _ if files.is_unstable(index) => Some(FileProblemKind::Changed),
                (None, Presence::Present(_)) if !is_unchanged(&path, entry) => Some(FileProblemKind::Changed),
                (None, _) => probe(&path, entry.nbytes),
            };
            if let Some(kind) = kind {
                problems.push(path, kind);
            }
        }
        problems.check().err().unwrap_or_else(|| {
            let error = std::io::Error::other("a file could not be read to its end, but now it can. Try again");
            CreateError::Path { path: self.root.clone(), error }
        })
    }

    /// The engine guarantees that the bytes read belong to one state of each file. This function checks that the file
    /// has the planned length, and that files which need no reading have not changed.
    fn check_unchanged(&self, files: &Files<'_>, sources: &[u32]) -> Result<(), CreateError> {
        let mut problems = Problems::default();
        for (index, &source) in sources.iter().enumerate().filter(|&(_, &source)| source != u32::MAX) {
            let entry = &self.entries[source as usize];
            let is_right = match files.known(index) {
                Presence::Present(nbytes) => nbytes == entry.nbytes,
                _ => is_unchanged(&self.path(source as usize), entry),
            };
            if !is_right {
                problems.push(self.path(source as usize), FileProblemKind::Changed);
            }
        }
        problems.check()
    }

    /// Whether the torrent, read back, is the one that was meant.
    fn is_what_was_meant(&self, torrent: &Torrent, info: &[u8], computed: &Computed) -> bool {
        let found = torrent.files_without_padding().map(|file| (file.path, file.nbytes, file.attributes));
        let meant = self.files().map(|file| (file.path, file.nbytes, file.attributes));
        let version = self.builder.version;
        let v1 = (version != Version::V2).then(|| hash(Algorithm::Sha1, info));
        let v2 = (version != Version::V1).then(|| hash(Algorithm::Sha256, info));
        found.eq(meant)
            && torrent.note_count() == 0
            && torrent.version() == version
            && torrent.name() == self.name
            && torrent.is_single_file() == self.single_file
            && torrent.piece_nbytes() == self.piece_nbytes
            && torrent.digests() == computed.sha1
            && torrent.roots() == computed.roots
            && torrent.info_hash_v1().as_ref().map(|hash| &hash[..]) == v1.as_ref().map(|hash| hash.as_ref())
            && torrent.info_hash_v2().as_ref().map(|hash| &hash[..]) == v2.as_ref().map(|hash| hash.as_ref())
    }
}

fn is_unchanged(path: &Path, entry: &Entry) -> bool {
    path.metadata().and_then(|metadata| scan::stamp(path, &metadata)).is_ok_and(|stamp| stamp == entry.stamp)
}

/// The fault of a file that seems unchanged, if there is one: the file cannot be opened, or its last byte cannot be
/// read.
fn probe(path: &Path, nbytes: u64) -> Option<FileProblemKind> {
    let last = || {
        let mut file = std::fs::File::open(path)?;
        file.seek(SeekFrom::Start(nbytes.saturating_sub(1)))?;
        file.read(&mut [0])
    };
    match last() {
        Ok(0) if nbytes > 0 => Some(FileProblemKind::Short),
        Ok(_) => None,
        Err(error) => Some(FileProblemKind::Io(error)),
    }
}

/// A finished torrent.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Created {
    /// The bytes of a `.torrent` file.
    pub bytes: Vec<u8>,
    /// The torrent, read from these bytes by [`Torrent::parse`].
    pub torrent: Torrent,
    /// Number of bytes read from files; the rest of the content is holes, which are not read.
    pub nbytes_read: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_few_and_not_long() {
        let kib = 1 << 10;
        let cases = [
            (1, 16 * kib),
            (2048 * 16 * kib, 16 * kib),
            (2048 * 16 * kib + 1, 32 * kib),
            (1 << 30, 512 * kib),
            (4 << 30, 2048 * kib),
            (32 << 30, 16384 * kib),
            (33 << 30, 16384 * kib),
            (i64::MAX as u64, 16384 * kib),
        ];
        for (nbytes, expected) in cases {
            assert_eq!(automatic_piece_length(nbytes, MAX_AUTOMATIC_PIECE_LENGTH), expected, "{nbytes}");
        }
    }
}
