// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks the files on disk against torrents.

pub(crate) mod client_names;
mod links;
pub(crate) mod locate;
mod parts;
mod report;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::parse::root_of_layer;
use crate::{Bitfield, Pieces, Torrent};
use hashloom_files::merkle::{Node, node};
use hashloom_files::paths;
use hashloom_files::pieces::files::{Cache, Files, Presence};
use hashloom_files::pieces::job::{self, Digests, Hashes, Job, Outcome};
use hashloom_files::pieces::run;
use hashloom_files::run::{Options, lock};
use hashloom_files::text::{quoted, reason};
use locate::{Located, Paths, locate};
use parts::Parts;

pub use client_names::clients_rename;
pub use locate::Location;
pub use report::{FileDifference, FileReport, FileState, FileTrouble, PieceState, Ranges, Report, Trouble};

/// Why a check could not begin. After the beginning, faults of files are in the report.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// The path cannot be used.
    Path {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The torrent has a folder, but the path is that of a file.
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The torrent's name.
        name: Vec<u8>,
    },
}

impl VerifyError {
    /// Turns an `error` of looking for the content at `path` into a `VerifyError`.
    #[doc(hidden)]
    pub fn locating(torrent: &Torrent, path: &Path, error: io::Error) -> VerifyError {
        match error.kind() {
            io::ErrorKind::NotADirectory if path.is_file() => {
                VerifyError::NotAFolder { path: path.to_owned(), name: torrent.name().to_owned() }
            }
            _ => VerifyError::Path { path: path.to_owned(), error },
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |path: &PathBuf| paths::display(path);
        match self {
            VerifyError::Path { path, error } => write!(f, "{}: {}", show(path), reason(error)),
            VerifyError::NotAFolder { path, name } => write!(
                f,
                "{}: expected a folder, as the torrent has several files, found a file. Give the folder {} or the one \
                it is in",
                show(path),
                quoted(name)
            ),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks every piece of a torrent against the files on disk. Nothing is written, created or changed.
///
/// `path` is the folder that holds the content, as a client's download folder does, or the content itself: the file of
/// a single-file torrent, the folder of any other. `path` itself may be a symbolic link; links below it are followed if
/// they stay below it.
///
/// A file that is missing, too short or unreadable is in the report and does not stop the check. After all reading,
/// each file is looked at again. If a file has changed since it was opened (its length, times or place on disk, or it
/// is gone or new), its pieces are checked again; if it changes during each of three checks, the pieces are
/// [`Unstable`](PieceState::Unstable). The report on a file thus holds for its state at the end of the check, as far as
/// the file system tells of changes.
///
/// In version 1 (BEP 3) the SHA-1 of each piece is compared, in version 2 (BEP 52) the root of its hash tree, in a
/// hybrid torrent both, from one read.
///
/// # Errors
///
/// If `path` is missing, or is a file although the torrent has a folder. There are no errors once the check has begun.
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{PieceState, Torrent, VerifyError, verify};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// // SHA-1 of "ab", then of "c".
/// let mut torrent = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi2e6:pieces40:".to_vec();
/// torrent.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"ab").as_ref());
/// torrent.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"x").as_ref());
/// torrent.extend_from_slice(b"ee");
/// let torrent = Torrent::parse(&torrent)?;
///
/// let report = verify(&torrent, folder.path(), &Options::new())?;
/// assert_eq!(report.pieces, [PieceState::Have, PieceState::Bad]);
/// assert!(!report.is_complete());
/// let missing = verify(&torrent, &folder.path().join("missing"), &Options::new());
/// assert!(matches!(missing, Err(VerifyError::Path { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(torrent: &Torrent, path: &Path, options: &Options) -> Result<Report, VerifyError> {
    let mut found = None;
    verify_many([Check::new(torrent, path)], options, |_, report| found = Some(report));
    // A single check is always reported.
    found.unwrap_or_else(|| {
        Err(VerifyError::Path { path: path.to_owned(), error: io::Error::other("the check was lost") })
    })
}

/// A torrent to check, and where. See [`verify_many`].
///
/// `torrent` is anything that leads to one and is cheap to clone: `&Torrent` or `Arc<Torrent>`. `tag` is whatever the
/// caller wants to have at hand with the report.
#[derive(Debug, Clone)]
#[must_use]
pub struct Check<H, T = ()> {
    /// The torrent.
    pub torrent: H,
    /// The place of its content.
    pub place: Location,
    /// The value that comes back with the report.
    pub tag: T,
    pieces: Option<Bitfield>,
    known: Verdicts,
}

impl<H: Deref<Target = Torrent>> Check<H> {
    /// All pieces of `torrent`, whose content `place` is or holds, as for [`verify`].
    pub fn new(torrent: H, place: impl Into<Location>) -> Check<H> {
        Check { torrent, place: place.into(), tag: (), pieces: None, known: Verdicts::default() }
    }
}

impl<H, T> Check<H, T> {
    /// The same check with another tag.
    pub fn tag<U>(self, tag: U) -> Check<H, U> {
        let Check { torrent, place, pieces, known, .. } = self;
        Check { torrent, place, tag, pieces, known }
    }

    /// Only these pieces: the [scope](Report::scope) of the report, which says nothing of other pieces, nor of files
    /// without any of these pieces. Pieces that the torrent does not have are ignored. The check that comes back with
    /// the report is without them.
    pub fn pieces(self, pieces: Bitfield) -> Check<H, T> {
        Check { pieces: Some(pieces), ..self }
    }

    /// The verdicts of a check that was interrupted, on pieces that need not be checked again if the files stay as they
    /// are. Pieces that are [`Unchecked`](PieceState::Unchecked) in it, or beyond its end, are checked. The check that
    /// comes back with the report is without them.
    pub fn known(self, known: impl Into<Verdicts>) -> Check<H, T> {
        Check { known: known.into(), ..self }
    }
}

/// Verdicts on pieces that need not be checked again, and the looks at the files that they rest on. `Checkpoint` of
/// `hashloom-clients` keeps them from one run to the next.
///
/// ```
/// use hashloom_torrent::{Verdicts, PieceState};
///
/// // These rest on a look at the files when the check begins.
/// let known = Verdicts::from([PieceState::Have, PieceState::Unchecked]);
/// assert_eq!(known[0], PieceState::Have);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    states: Vec<PieceState>,
    /// A look at each file, or none at all.
    looks: Vec<u64>,
}

impl<T: Into<Vec<PieceState>>> From<T> for Verdicts {
    fn from(states: T) -> Verdicts {
        Verdicts { states: states.into(), looks: Vec::new() }
    }
}

impl Deref for Verdicts {
    type Target = [PieceState];

    fn deref(&self) -> &[PieceState] {
        &self.states
    }
}

impl Verdicts {
    /// Verdicts that hold as long as no file changes after the look at it.
    #[doc(hidden)]
    pub fn resting_on(looks: Vec<u64>, states: Vec<PieceState>) -> Verdicts {
        Verdicts { states, looks }
    }
}

/// Checks any number of torrents, which share lanes and threads: the pieces of one small torrent do not fill them.
///
/// `checks` is drawn from as threads get free, one ahead, so that of a thousand torrents only a few are in memory at
/// any time. `report` gets every check back with what was found, one at a time, as soon as a torrent is done with,
/// which is not always the order in which they came. If the work is cancelled it is called for the checks that were
/// begun, and the report says [`Unchecked`](PieceState::Unchecked) of what is left.
///
/// ```
/// use std::sync::Arc;
///
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{Bitfield, Check, Torrent, verify_many};
///
/// let torrent = |name| {
///     let head = format!("d4:infod6:lengthi3e4:name1:{name}12:piece lengthi16384e6:pieces20:").into_bytes();
///     let digest = hashloom::hash(hashloom::Algorithm::Sha1, b"abc");
///     Torrent::parse(&[&head[..], digest.as_ref(), b"ee"].concat())
/// };
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("b"), "abc")?;
/// let check = |name| Check::new(Arc::new(torrent(name).unwrap()), folder.path()).tag(name).pieces(Bitfield::all(1));
/// let mut complete = Vec::new();
/// verify_many(["a", "b"].map(check), &Options::new(), |check, report| {
///     if report.is_ok_and(|report| report.is_complete()) {
///         complete.push(check.tag);
///     }
/// });
/// assert_eq!(complete, ["b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_many<H, T, I>(
    checks: I,
    options: &Options,
    report: impl FnMut(Check<H, T>, Result<Report, VerifyError>) + Send,
) where
    H: Deref<Target = Torrent> + Clone + Send + Sync,
    T: Send,
    I: IntoIterator<Item = Check<H, T>>,
    I::IntoIter: Send,
{
    verify_pieces(checks, options, |_, _, _| {}, report);
}

/// The same as [`verify_many`] for whoever wants each verdict as soon as it is known.
///
/// `on_piece` is called by any of the threads with the torrent, the piece and its verdict, in any order. It is not
/// called for verdicts that [were known before](Check::known). It is called again with
/// [`Unchecked`](PieceState::Unchecked) where a verdict, also one that was known, is taken back as a file of the piece
/// has changed since; then once more with the new one, or with [`Unstable`](PieceState::Unstable).
///
/// ```
/// use std::sync::Mutex;
///
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{Check, PieceState, Torrent, verify_pieces};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let verdicts = Mutex::new(Vec::new());
/// let on_piece = |_: &Torrent, piece, state| verdicts.lock().unwrap().push((piece, state));
/// verify_pieces([Check::new(&torrent, folder.path())], &Options::new(), on_piece, |_, _| {});
/// assert_eq!(verdicts.into_inner()?, [(0, PieceState::Bad)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_pieces<H, T, I>(
    checks: I,
    options: &Options,
    on_piece: impl Fn(&Torrent, usize, PieceState) + Sync,
    mut report: impl FnMut(Check<H, T>, Result<Report, VerifyError>) + Send,
) where
    H: Deref<Target = Torrent> + Clone + Send + Sync,
    T: Send,
    I: IntoIterator<Item = Check<H, T>>,
    I::IntoIter: Send,
{
    let cache = Arc::new(Cache::new(options));
    let sink: Sink<'_, H, T> = Mutex::new(&mut report);
    let tasks = checks.into_iter().filter_map(|check| Task::begin(check, &cache, &sink, &on_piece));
    run(tasks, options);
}

type OnPiece<'a> = &'a (dyn Fn(&Torrent, usize, PieceState) + Sync);

type Sink<'s, H, T> = Mutex<&'s mut (dyn FnMut(Check<H, T>, Result<Report, VerifyError>) + Send)>;

/// The check of one torrent.
struct Task<'a, H, T> {
    torrent: H,
    /// The check, until it goes back with the report.
    check: Mutex<Option<Check<H, T>>>,
    /// The place where the check looked for the torrent's file or folder.
    place: PathBuf,
    paths: Arc<Paths>,
    content: job::Content<'a>,
    states: Vec<AtomicU8>,
    /// The roots of pieces whose files have no layer, as they were found.
    roots: Mutex<BTreeMap<usize, Node>>,
    /// The pieces whose verdicts were known and not taken back.
    taken_over: Mutex<Bitfield>,
    /// The pieces that were asked for.
    scope: Bitfield,
    started: Instant,
    sink: &'a Sink<'a, H, T>,
    on_piece: OnPiece<'a>,
}

impl<'a, H, T> Task<'a, H, T>
where
    H: Deref<Target = Torrent> + Clone + Send + Sync + 'a,
    T: Send,
{
    fn begin(
        mut check: Check<H, T>,
        cache: &Arc<Cache>,
        sink: &'a Sink<'a, H, T>,
        on_piece: OnPiece<'a>,
    ) -> Option<Arc<Task<'a, H, T>>> {
        let started = Instant::now();
        let torrent = check.torrent.clone();
        let this: &Torrent = &torrent;
        let npieces = this.piece_count();
        let scope = check.pieces.take().map_or(Bitfield::all(npieces), |pieces| pieces.resized(npieces));
        let Verdicts { states: given, looks } = std::mem::take(&mut check.known);
        let Located { place, content, paths } = match locate(this, &check.place, cache) {
            Ok(located) => located,
            Err(error) => {
                let error = VerifyError::locating(this, check.place.path(), error);
                (lock(sink))(check, Err(error));
                return None;
            }
        };
        let paths = Arc::new(paths);
        let (names, listed) = (torrent.clone(), paths.clone());
        let path_of = move |index| listed.relative(&names, index);
        let (names, listed) = (torrent.clone(), paths.clone());
        let is_elsewhere = move |index| listed.find_renamed(&names, index);
        let files = Files::new(place, this.file_count(), Box::new(path_of), cache).or_elsewhere(Box::new(is_elsewhere));
        let hashes =
            Hashes::of_torrent(this.layout.piece_nbytes(), !this.digests().is_empty(), !this.roots().is_empty());
        let is_given = |piece: usize| given.get(piece).is_some_and(|&state| state != PieceState::Unchecked);
        // Pieces that are proved only together are checked together.
        let is_apart = |(_, pieces): &&(usize, Range<usize>)| !pieces.clone().all(is_given);
        let apart: Vec<Range<usize>> =
            this.unlayered().iter().filter(is_apart).map(|(_, pieces)| pieces.clone()).collect();
        let known = |piece| match given.get(piece) {
            Some(_) if apart.iter().any(|pieces| pieces.contains(&piece)) => PieceState::Unchecked,
            Some(&state) if scope.get(piece) => state,
            _ => PieceState::Unchecked,
        };
        // Known verdicts hold as long as the files do not change after the look that they rest on, including files that
        // are not read.
        for file in (0..this.file_count()).filter(|_| !given.is_empty()) {
            let attributes = this.file(file).attributes;
            let is_known = || this.pieces_of_file(file).any(|piece| known(piece) != PieceState::Unchecked);
            if !attributes.padding && !attributes.symlink && is_known() {
                match looks.get(file) {
                    Some(&look) => files.note(file, look),
                    None => files.look_at(file),
                }
            }
        }
        let mut taken_over = Bitfield::none(npieces);
        (0..npieces).for_each(|piece| taken_over.set(piece, known(piece) != PieceState::Unchecked));
        Some(Arc::new(Task {
            taken_over: Mutex::new(taken_over),
            place: content,
            paths,
            content: job::Content::new(this.layout.clone(), files, hashes),
            states: (0..npieces).map(|piece| AtomicU8::new(known(piece) as u8)).collect(),
            roots: Mutex::default(),
            scope,
            started,
            sink,
            on_piece,
            torrent,
            check: Mutex::new(Some(check)),
        }))
    }

    /// Looks for missing pieces with the help of libtorrent's parts file. Nobody is told of them by `on_piece`: a
    /// verdict that is kept would not notice a change of that file.
    fn read_parts(&self) {
        let Some(parts) = &self.paths.parts else { return };
        let is_missing = |piece: usize| {
            self.scope.get(piece) && self.states[piece].load(Ordering::Relaxed) == PieceState::Missing as u8
        };
        for piece in parts.pieces().filter(|&piece| is_missing(piece)) {
            if self.is_right_with(parts, piece).unwrap_or(false) {
                self.states[piece].store(PieceState::Have as u8, Ordering::Relaxed);
            }
        }
    }

    /// Whether a piece is right with its bytes of missing files taken from the parts file, and no file of it changed
    /// meanwhile.
    fn is_right_with(&self, parts: &Parts, piece: usize) -> io::Result<bool> {
        let (torrent, files): (&Torrent, _) = (&self.torrent, &self.content.files);
        let (file, stamp) = parts.open()?;
        let range = torrent.piece_range(piece);
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let covered: Vec<(usize, Range<u64>)> = torrent.bytes_of_pieces(piece..piece + 1).collect();
        for (index, part) in &covered {
            let at = torrent.file(*index).offset + part.start - range.start;
            let buffer = &mut bytes[at as usize..(at + part.end - part.start) as usize];
            if files.known(*index) == Presence::Unknown {
                files.visit(*index);
            }
            if files.known(*index) == Presence::Missing && parts.has(*index, piece) {
                parts.read(&file, piece, at, buffer)?
            } else {
                files.read_exact_at(*index, buffer, part.start)?
            }
        }
        let mut pieces = Pieces::new(torrent, &[piece]);
        pieces.update(&[&bytes]);
        let is_unchanged = covered.iter().all(|(index, _)| files.is_as_noted(*index)) && parts.is_unchanged(&stamp);
        Ok(pieces.finish() == [true] && is_unchanged)
    }

    /// Judges the pieces of files without a layer: all pieces of a file lead to its root together, or some are wrong.
    /// Nothing new is known of a file with pieces that were not hashed.
    fn prove_together(&self) {
        let torrent: &Torrent = &self.torrent;
        let roots = lock(&self.roots);
        for (index, pieces) in torrent.unlayered() {
            let file = torrent.file(*index);
            let states =
                || pieces.clone().map(|piece| PieceState::from_byte(self.states[piece].load(Ordering::Relaxed)));
            let expected = if torrent.digests().is_empty() { PieceState::Unchecked } else { PieceState::Have };
            let found: Option<Vec<Node>> = pieces.clone().map(|piece| roots.get(&piece).copied()).collect();
            let Some(layer) = found.filter(|_| states().all(|state| state == expected)) else { continue };
            let is_unstable = self.content.files.is_unstable(*index);
            let is_right =
                file.root == Some(&root_of_layer(layer.as_flattened(), file.nbytes, torrent.piece_nbytes())[..]);
            let state = match (expected, is_right) {
                _ if is_unstable => PieceState::Unstable,
                (PieceState::Have, true) => continue,
                (PieceState::Have, false) => PieceState::Disputed,
                (_, true) => PieceState::Have,
                (_, false) => PieceState::Bad,
            };
            for piece in pieces.clone() {
                self.states[piece].store(state as u8, Ordering::Relaxed);
                (self.on_piece)(torrent, piece, state);
            }
        }
    }

    fn report(&self) -> Report {
        let torrent: &Torrent = &self.torrent;
        let files = &self.content.files;
        let pieces: Vec<PieceState> =
            self.states.iter().map(|state| PieceState::from_byte(state.load(Ordering::Relaxed))).collect();
        let cancelled = !self.content.is_done();
        let is_of_all = self.scope.is_complete();
        // Only a check of all pieces is one of files without pieces, too.
        let is_asked = |file| is_of_all || torrent.pieces_of_file(file).any(|piece| self.scope.get(piece));
        let file_reports = (0..torrent.file_count())
            .map(|file| report_file(torrent, &self.place, files, file, &pieces, !cancelled && is_asked(file)));
        let file_reports = file_reports.collect();
        let troubles = files.take_troubles();
        let troubles =
            troubles.into_iter().map(|(file, trouble)| FileTrouble { file, path: files.path(file), trouble });
        Report {
            content: self.place.clone(),
            paths: self.paths.clone(),
            scope: self.scope.clone(),
            pieces,
            files: file_reports,
            troubles: troubles.collect(),
            ntaken_over: lock(&self.taken_over).count(),
            nbytes_read: self.content.nbytes_read(),
            elapsed: self.started.elapsed(),
            cancelled,
            looks: files.looks(),
        }
    }
}

impl<H, T> Job for Task<'_, H, T>
where
    H: Deref<Target = Torrent> + Clone + Send + Sync,
    T: Send,
{
    fn content(&self) -> &job::Content<'_> {
        &self.content
    }

    fn wants(&self, piece: usize) -> bool {
        self.states[piece].load(Ordering::Relaxed) == PieceState::Unchecked as u8 && self.scope.get(piece)
    }

    fn settle(&self, piece: usize, outcome: Outcome<'_>) {
        let torrent: &Torrent = &self.torrent;
        let place = &self.states[piece];
        let state = match outcome {
            Outcome::Unwanted => return,
            Outcome::Changed | Outcome::Unstable => {
                let before = PieceState::from_byte(place.load(Ordering::Relaxed));
                if matches!(before, PieceState::Unchecked | PieceState::Unstable) {
                    return;
                }
                lock(&self.taken_over).set(piece, false);
                match outcome {
                    Outcome::Changed => PieceState::Unchecked,
                    _ => PieceState::Unstable,
                }
            }
            Outcome::Absent(absent) => absent.into(),
            Outcome::Hashed(Digests { whole, leaves }) => {
                if torrent.has_unknown_root(piece) {
                    lock(&self.roots).insert(piece, node(leaves));
                }
                match torrent.verdict(piece, whole, leaves) {
                    // `finish` tells.
                    PieceState::Unchecked => return,
                    state => state,
                }
            }
        };
        place.store(state as u8, Ordering::Relaxed);
        (self.on_piece)(torrent, piece, state);
    }

    fn finish(&self) {
        self.read_parts();
        self.prove_together();
        let report = self.report();
        let check = lock(&self.check).take();
        if let Some(check) = check {
            (lock(self.sink))(check, Ok(report));
        }
    }
}

fn report_file(
    torrent: &Torrent,
    content: &Path,
    files: &Files<'_>,
    index: usize,
    pieces: &[PieceState],
    may_look: bool,
) -> FileReport {
    let file = torrent.file(index);
    if file.attributes.padding || file.attributes.symlink {
        let looked_at = file.attributes.symlink && may_look;
        let difference = looked_at.then(|| links::link_difference(&file, content, &files.path(index))).flatten();
        return FileReport { state: FileState::Skipped, found_nbytes: None, extra_nbytes: 0, difference };
    }
    if files.known(index) == Presence::Unknown && may_look {
        // The file is empty, or the check gave up on its only piece before reading the file.
        files.visit(index);
    }
    let own = &pieces[torrent.pieces_of_file(index)];
    let (state, found_nbytes) = match files.known(index) {
        Presence::Present(found) if files.is_unstable(index) => (FileState::Unstable, Some(found)),
        _ if files.is_unstable(index) => (FileState::Unstable, None),
        Presence::Unknown => (FileState::Unchecked, None),
        Presence::Missing if file.nbytes == 0 => (FileState::NotMade, None),
        Presence::Missing => (FileState::Missing, None),
        Presence::Failed => (FileState::Failed, None),
        Presence::Present(found) if found < file.nbytes => (FileState::Short, Some(found)),
        Presence::Present(found) if own.iter().all(|&piece| piece == PieceState::Have) => {
            (if found > file.nbytes { FileState::Long } else { FileState::Complete }, Some(found))
        }
        Presence::Present(found) => {
            let is_wrong = |piece: &PieceState| !matches!(piece, PieceState::Have | PieceState::Unchecked);
            (if own.iter().any(is_wrong) { FileState::Incomplete } else { FileState::Unchecked }, Some(found))
        }
    };
    let is_there = file.attributes.executable && found_nbytes.is_some() && may_look;
    let difference = is_there.then(|| links::executable_difference(&files.path(index))).flatten();
    let extra_nbytes = found_nbytes.map_or(0, |found| found.saturating_sub(file.nbytes));
    FileReport { state, found_nbytes, extra_nbytes, difference }
}
