// SPDX-License-Identifier: MIT OR Apache-2.0

//! The verdicts of a check that may be interrupted, to continue it at another time.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::PieceState;
use super::locate::locate;
use crate::bencode::{self, Item, Kind, Limits, Value};
use crate::paths;
use crate::pieces::files::Cache;
use crate::read::noted::{Doubt, Noted, TICK};
use crate::read::stamp::Stamp;
use crate::text::{Hex, quoted};
use crate::torrent::{Bitfield, File, Torrent};

/// The verdicts on the pieces of any number of torrents, and the state of their files when each check began. A verdict
/// holds as long as the files with bytes of the piece have not changed, provided that any change would have shown:
/// [`Doubt`] lists the reasons why a change might not show.
///
/// A torrent is known by its info-hash alone: to check a torrent in two places at a time, use a checkpoint for each
/// place.
///
/// ```
/// use hashloom_engine::run::Options;
/// use hashloom_engine::torrent::{Check, Checkpoint, Torrent, verify_pieces};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// # let (torrent, path) = (Torrent::parse(bytes)?, folder.path());
/// let checkpoint = Checkpoint::default();
/// let record = |torrent: &Torrent, piece, state, _: &_| checkpoint.record(torrent, piece, state);
/// let known = checkpoint.begin(&torrent, path);
/// verify_pieces([Check::new(&torrent, path).known(known)], &Options::new(), record, |_, _| {});
/// let saved = checkpoint.encode();
///
/// // Another day:
/// let checkpoint = Checkpoint::decode(&saved)?;
/// let known = checkpoint.begin(&torrent, path); // the verdicts that still hold
/// assert_eq!(known.len(), torrent.piece_count());
/// # assert_eq!(known, [hashloom_engine::torrent::PieceState::Bad]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Checkpoint {
    torrents: Mutex<BTreeMap<Vec<u8>, Entry>>,
    doubts: Mutex<BTreeMap<Doubt, u64>>,
}

/// The state of a torrent.
#[derive(Debug)]
enum Entry {
    /// Bencode as it was read, found to be whole. Most of it may belong to torrents that nobody asks for, and the entry
    /// of a missing file would grow from two bytes to 32.
    Saved(Box<[u8]>),
    Begun(Begun),
}

#[derive(Debug)]
struct Begun {
    /// Each file's state; `None` for a file that was missing.
    files: Vec<Option<Noted>>,
    /// The number of each piece's [`PieceState`].
    pieces: Vec<u8>,
}

/// The key that tells a checkpoint from other bencode, and the format's version.
const MAGIC: &[u8] = b"hashloom checkpoint";
const VERSION: i64 = 2;

/// Nanoseconds of a second.
const SECOND: i128 = 1_000_000_000;

const LIMITS: Limits = Limits { nbytes: Checkpoint::MAX_NBYTES, depth: 5 };

/// Why bytes are not a checkpoint.
///
/// ```
/// use hashloom_engine::torrent::{Checkpoint, CheckpointError};
/// assert_eq!(Checkpoint::decode(b"de").unwrap_err(), CheckpointError::NotACheckpoint);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes are not bencode.
    Bencode(bencode::Error),
    /// The bytes are some other bencode.
    NotACheckpoint,
    /// This program does not know the checkpoint's version.
    Version(i64),
    /// The entry of this torrent, named by its info-hash in hexadecimal, makes no sense.
    Damaged(String),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Bencode(error) => write!(f, "this is not a checkpoint: {error}"),
            CheckpointError::NotACheckpoint => {
                write!(f, "this is not a checkpoint: it has no key {}", quoted(MAGIC))
            }
            CheckpointError::Version(found) => {
                write!(f, "a checkpoint of version {found}, which this program does not know")
            }
            CheckpointError::Damaged(id) => write!(f, "the checkpoint is damaged in what it says of torrent {id}"),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// The length of the longest checkpoint that is read: 1 GiB, enough for 20 million files. Reading one takes about
    /// its length of memory; one made up of the shortest possible entries takes five times that.
    pub const MAX_NBYTES: usize = 1 << 30;

    /// Reads the output of [`encode`](Checkpoint::encode).
    ///
    /// # Errors
    /// If `encode` did not write these bytes.
    ///
    /// ```
    /// use hashloom_engine::torrent::Checkpoint;
    ///
    /// let saved = Checkpoint::default().encode();
    /// assert!(Checkpoint::decode(&saved)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let document = bencode::parse(bytes, &LIMITS).map_err(CheckpointError::Bencode)?;
        let root = document.root();
        let version = root.get(MAGIC).and_then(|version| version.integer()).ok_or(CheckpointError::NotACheckpoint)?;
        if version != VERSION {
            return Err(CheckpointError::Version(version));
        }
        let torrents = root.get(b"torrents").filter(|value| value.kind() == Kind::Dictionary);
        let mut all = BTreeMap::new();
        for entry in torrents.ok_or(CheckpointError::NotACheckpoint)?.entries() {
            let is_whole = matches!(entry.key.len(), 20 | 32) && is_whole(entry.value);
            if !is_whole {
                return Err(CheckpointError::Damaged(Hex(&entry.key[..entry.key.len().min(32)]).to_string()));
            }
            all.insert(entry.key.to_vec(), Entry::Saved(entry.value.raw().into()));
        }
        Ok(Checkpoint { torrents: Mutex::new(all), doubts: Mutex::default() })
    }

    /// The whole checkpoint as bytes for a file.
    ///
    /// ```
    /// use hashloom_engine::torrent::Checkpoint;
    /// assert!(Checkpoint::default().encode().starts_with(b"d19:hashloom checkpoint"));
    /// ```
    pub fn encode(&self) -> Vec<u8> {
        let mut root = Item::dictionary();
        root.insert(MAGIC, VERSION);
        let entries = self.lock();
        let encode = |entry: &Entry| match entry {
            Entry::Saved(bytes) => bytes.to_vec(),
            Entry::Begun(begun) => begun.encode(),
        };
        let torrents = entries.iter().map(|(id, entry)| (id.clone(), Item::Raw(encode(entry)))).collect();
        root.insert("torrents", Item::Dictionary(torrents));
        root.encode()
    }

    /// Notes the present state of the torrent's files, and returns the verdicts that still hold, one for each piece,
    /// for [`Check::known`](super::Check::known). `path` is the path of the check. Files are opened for a moment. If a
    /// file was changed just now, the call waits a twentieth of a second for the clock to tick.
    ///
    /// Pieces that could not be read become unchecked, so that the next check tries them again.
    ///
    /// ```
    /// use hashloom_engine::torrent::Torrent;
    /// use hashloom_engine::torrent::{Checkpoint, PieceState};
    ///
    /// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
    /// let torrent = Torrent::parse(bytes)?;
    /// # let folder = tempfile::tempdir()?;
    /// let known = Checkpoint::default().begin(&torrent, folder.path());
    /// assert!(known.iter().all(|&state| state == PieceState::Unchecked));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(&self, torrent: &Torrent, path: &Path) -> Vec<PieceState> {
        let mut files = noted(torrent, path);
        let mut all = self.lock();
        let known = match all.remove(&id(torrent)) {
            Some(Entry::Saved(bytes)) => Begun::decode(&bytes, files.len(), torrent.piece_count()),
            Some(Entry::Begun(begun)) => Some(begun),
            None => None,
        };
        let mut states = vec![PieceState::Unchecked; torrent.piece_count()];
        if let Some(known) = known {
            for (state, &byte) in states.iter_mut().zip(&known.pieces) {
                *state = PieceState::from_byte(byte);
                if *state == PieceState::Unread {
                    *state = PieceState::Unchecked;
                }
            }
            let had = states.clone();
            for (file, (old, new)) in known.files.iter().zip(&mut files).enumerate() {
                let doubt = match (old, new) {
                    (None, None) => None,
                    (Some(old), Some(new)) => {
                        let doubt = old.doubt_at(&new.stamp);
                        if doubt.is_none() {
                            // Any change since would show, and so will any to come.
                            new.doubt = None;
                        }
                        doubt
                    }
                    _ => Some(Doubt::Changed),
                };
                if let Some(doubt) = doubt {
                    let pieces = torrent.pieces_of_file(file);
                    if had[pieces.clone()].iter().any(|&state| state != PieceState::Unchecked) {
                        *self.lock_doubts().entry(doubt).or_default() += 1;
                    }
                    states[pieces].fill(PieceState::Unchecked);
                }
            }
        }
        let begun = Begun { files, pieces: states.iter().map(|&state| state as u8).collect() };
        all.insert(id(torrent), Entry::Begun(begun));
        states
    }

    /// For each reason, the number of files, among those of the begun torrents, whose verdicts were not believed.
    ///
    /// ```
    /// assert!(hashloom_engine::torrent::Checkpoint::default().doubts().is_empty());
    /// ```
    pub fn doubts(&self) -> BTreeMap<Doubt, u64> {
        self.lock_doubts().clone()
    }

    /// Notes a verdict; the last one for a piece holds, and [`Unchecked`](PieceState::Unchecked) takes a verdict back.
    /// The torrent must have been [begun](Checkpoint::begin); a verdict on any other torrent is ignored.
    ///
    /// ```
    /// use hashloom_engine::torrent::Torrent;
    /// use hashloom_engine::torrent::{Checkpoint, PieceState};
    ///
    /// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
    /// let torrent = Torrent::parse(bytes)?;
    /// # let folder = tempfile::tempdir()?;
    /// let checkpoint = Checkpoint::default();
    /// checkpoint.begin(&torrent, folder.path());
    /// checkpoint.record(&torrent, 0, PieceState::Missing);
    /// assert!(!checkpoint.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(&self, torrent: &Torrent, piece: usize, state: PieceState) {
        if let Some(Entry::Begun(begun)) = self.lock().get_mut(&id(torrent)) {
            if let Some(place) = begun.pieces.get_mut(piece) {
                // Nothing is known of an unstable piece.
                *place = if state == PieceState::Unstable { PieceState::Unchecked } else { state } as u8;
            }
        }
    }

    /// Forgets the verdicts on the pieces of a check that has ended, its [scope](super::Report::scope), and the torrent
    /// if nothing else is known of it: otherwise they would answer the next check without a look at the files. Keep them
    /// if some of these pieces were not read or not judged: the other verdicts save work then.
    ///
    /// ```
    /// # use hashloom_engine::torrent::{Bitfield, Checkpoint, Torrent};
    /// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
    /// # let torrent = Torrent::parse(bytes)?;
    /// let checkpoint = Checkpoint::default();
    /// checkpoint.begin(&torrent, "downloads".as_ref());
    /// assert!(!checkpoint.is_empty());
    /// checkpoint.end(&torrent, &Bitfield::all(1));
    /// assert!(checkpoint.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn end(&self, torrent: &Torrent, scope: &Bitfield) {
        let mut all = self.lock();
        if let Some(Entry::Begun(Begun { pieces, .. })) = all.get_mut(&id(torrent)) {
            for piece in scope.ones() {
                if let Some(state) = pieces.get_mut(piece) {
                    *state = PieceState::Unchecked as u8;
                }
            }
            if pieces.iter().any(|&state| state != PieceState::Unchecked as u8) {
                return;
            }
        }
        all.remove(&id(torrent));
    }

    /// Whether nothing is known of any torrent: a file with this checkpoint can be removed.
    ///
    /// ```
    /// assert!(hashloom_engine::torrent::Checkpoint::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock_doubts(&self) -> MutexGuard<'_, BTreeMap<Doubt, u64>> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A panic elsewhere leaves nothing half-done in the data behind the lock.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Entry>> {
        self.torrents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun {
    /// The bytes are written directly: as bencode values they would take three times as much memory, for each of
    /// millions of files.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = b"d5:filesl".to_vec();
        for file in &self.files {
            // Writing into memory cannot fail.
            let _ = match file {
                None => bytes.write_all(b"le"),
                Some(Noted { stamp: Stamp { nbytes, mtime_ns, ctime_ns, ino, .. }, doubt }) => {
                    let doubt = Doubt::number(*doubt);
                    // An inode number may need all 64 bits.
                    let ino = *ino as i64;
                    let _ = write!(bytes, "li{nbytes}e");
                    let are_short = [mtime_ns, ctime_ns].into_iter().all(|&time| i64::try_from(time).is_ok());
                    for time in [mtime_ns, ctime_ns] {
                        let _ = match are_short {
                            true => write!(bytes, "i{time}e"),
                            // Before 1677 and after 2262: seconds and nanoseconds.
                            false => write!(bytes, "i{}ei{}e", time.div_euclid(SECOND), time.rem_euclid(SECOND)),
                        };
                    }
                    write!(bytes, "i{ino}ei{doubt}ee")
                }
            };
        }
        let _ = write!(bytes, "e6:pieces{}:", self.pieces.len());
        bytes.extend_from_slice(&self.pieces);
        bytes.push(b'e');
        bytes
    }

    /// `None` if the numbers of files and pieces differ.
    fn decode(bytes: &[u8], nfiles: usize, npieces: usize) -> Option<Begun> {
        let document = bencode::parse(bytes, &LIMITS).ok()?;
        let (files, pieces) = parts(document.root())?;
        if pieces.len() != npieces || files.items().take(nfiles.saturating_add(1)).count() != nfiles {
            return None;
        }
        let mut noted = Vec::with_capacity(nfiles);
        for file in files.items() {
            noted.push(decode_file(file)?);
        }
        Some(Begun { files: noted, pieces: pieces.to_vec() })
    }
}

/// `Some(None)` for a file that was missing; `None` if the value makes no sense.
fn decode_file(file: Value<'_>) -> Option<Option<Noted>> {
    let numbers: Vec<i64> = file.items().take(8).map(|number| number.integer()).collect::<Option<_>>()?;
    let long = |seconds: i64, nanoseconds: i64| i128::from(seconds) * SECOND + i128::from(nanoseconds);
    let noted = |nbytes: i64, mtime_ns, ctime_ns, ino: i64, doubt| {
        let (nbytes, doubt) = (u64::try_from(nbytes).ok()?, Doubt::of_number(doubt)?);
        Some(Some(Noted { stamp: Stamp { nbytes, mtime_ns, ctime_ns, dev: 0, ino: ino as u64 }, doubt }))
    };
    match numbers[..] {
        [] if file.kind() == Kind::List => Some(None),
        [nbytes, mtime_ns, ctime_ns, ino, doubt] => noted(nbytes, mtime_ns.into(), ctime_ns.into(), ino, doubt),
        [nbytes, mtime_s, mtime_rest, ctime_s, ctime_rest, ino, doubt] => {
            noted(nbytes, long(mtime_s, mtime_rest), long(ctime_s, ctime_rest), ino, doubt)
        }
        _ => None,
    }
}

/// The list of files and the states of pieces of a torrent.
fn parts(value: Value<'_>) -> Option<(Value<'_>, &[u8])> {
    let files = value.get(b"files").filter(|files| files.kind() == Kind::List)?;
    Some((files, value.get(b"pieces")?.string()?))
}

/// Whether all entries of a torrent make sense.
fn is_whole(value: Value<'_>) -> bool {
    parts(value).is_some_and(|(files, _)| files.items().all(|file| decode_file(file).is_some()))
}

/// The key of a torrent: its v2 info-hash if there is one, otherwise its v1 info-hash.
fn id(torrent: &Torrent) -> Vec<u8> {
    match torrent.info_hash_v2() {
        Some(hash) => hash.to_vec(),
        None => torrent.info_hash_v1().map_or(Vec::new(), |hash| hash.to_vec()),
    }
}

fn noted(torrent: &Torrent, path: &Path) -> Vec<Option<Noted>> {
    // Nothing is known if the place is missing; the check itself will report why.
    let Ok(located) = locate(torrent, path, &Cache::default()) else { return vec![None; torrent.file_count()] };
    let noted = |file: File<'_>| {
        if file.attributes.padding || file.attributes.symlink {
            return None;
        }
        let path = match torrent.is_single_file() {
            true => located.content.clone(),
            false => located.content.join(paths::to_path(file.path)),
        };
        Noted::of(&path).ok()
    };
    let is_fresh = |noted: &Option<Noted>| noted.is_some_and(|noted| noted.doubt == Some(Doubt::Fresh));
    let mut all: Vec<Option<Noted>> = torrent.files().map(noted).collect();
    if all.iter().any(is_fresh) {
        std::thread::sleep(TICK);
        for (index, place) in all.iter_mut().enumerate().filter(|(_, place)| is_fresh(place)) {
            *place = noted(torrent.file(index));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_64_bits() {
        let last = i128::from(i64::MAX);
        for (mtime_ns, ctime_ns) in [(-5, last), (last + 1, 7), (7, -last - 2), (i128::MAX >> 35, i128::MIN >> 35)] {
            let noted = Noted { stamp: Stamp { nbytes: 3, mtime_ns, ctime_ns, dev: 0, ino: u64::MAX }, doubt: None };
            let begun = Begun { files: vec![Some(noted), None], pieces: vec![1] };
            let read = Begun::decode(&begun.encode(), 2, 1).unwrap();
            assert_eq!(read.files, [Some(noted), None], "{mtime_ns} {ctime_ns}");
        }
    }

    /// Torrents that are not checked this time are kept as they were read; checked ones are written as this version
    /// writes them. Verdicts that are not proven are checked again.
    #[test]
    fn what_was_saved_is_saved_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc.txt");
        std::fs::write(&path, "abc").unwrap();
        let metainfo = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
        let torrent = Torrent::parse(metainfo).unwrap();
        // A verdict becomes a trusted one only if the file system can be trusted.
        let now = |noted: Noted| Doubt::number(noted.doubt);
        std::thread::sleep(TICK * 2);
        let noted = Noted::of(&path).unwrap();
        let Stamp { mtime_ns, ctime_ns, ino, .. } = noted.stamp;
        let entry = |mtime_ns, ctime_ns, doubt: u8, state: char| {
            format!("d5:fileslli3ei{mtime_ns}ei{ctime_ns}ei{}ei{doubt}eee6:pieces1:{state}e", ino as i64)
        };
        let mut all = b"d19:hashloom checkpointi2e8:torrentsd".to_vec();
        all.extend_from_slice(
            format!("20:{}d5:fileslleli9ei8ei7ei6ei0eee6:pieces2:\u{1}\u{2}e", "\u{1}".repeat(20)).as_bytes(),
        );
        let before = all.len();
        let with = |entry: &str| {
            let mut bytes = all.clone();
            bytes.extend_from_slice(b"20:");
            bytes.extend_from_slice(&torrent.info_hash_v1().unwrap());
            bytes.extend_from_slice(entry.as_bytes());
            bytes.extend_from_slice(b"ee");
            bytes
        };
        let have = char::from(PieceState::Have as u8);
        for (old, doubt, doubt_now) in [
            (entry(mtime_ns, ctime_ns, 0, have), None, 0),
            (entry(-1, 0, 0, have), Some(Doubt::Changed), now(noted)),
            (entry(mtime_ns, ctime_ns, 2, have), Some(Doubt::Writer), now(noted)),
        ] {
            let checkpoint = Checkpoint::decode(&with(&old)).unwrap();
            assert_eq!(checkpoint.encode(), with(&old));
            let known = if doubt.is_none() { PieceState::Have } else { PieceState::Unchecked };
            assert_eq!(checkpoint.begin(&torrent, folder.path()), [known], "{old}");
            assert_eq!(checkpoint.doubts().into_iter().collect::<Vec<_>>(), doubt.map(|doubt| (doubt, 1)).as_slice());
            assert_eq!(checkpoint.encode()[..before], all[..]);
            checkpoint.record(&torrent, 0, PieceState::Have);
            assert_eq!(checkpoint.encode(), with(&entry(mtime_ns, ctime_ns, doubt_now, have)), "{old}");
            // A verdict can be taken back.
            checkpoint.record(&torrent, 0, PieceState::Unchecked);
            assert_eq!(checkpoint.begin(&torrent, folder.path()), [PieceState::Unchecked]);
        }
        // A doubt that is none, and a file without one.
        for wrong in [entry(mtime_ns, ctime_ns, 99, have), format!("d5:fileslli3ei0ei0eee6:pieces1:{have}e")] {
            assert!(matches!(Checkpoint::decode(&with(&wrong)), Err(CheckpointError::Damaged(_))), "{wrong}");
        }
    }
}
