// SPDX-License-Identifier: MIT OR Apache-2.0

//! The verdicts of a check that may be interrupted, to go on from there another time.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::locate::locate;
use super::paths;
use super::{PieceState, Torrent};
use crate::bencode::{self, Item, Kind, Limits, Value};
use crate::engine::files::Cache;
use crate::stamp::Stamp;

/// The verdicts on the pieces of any number of torrents, with the lengths and times of change that their files had when
/// each check began. A verdict holds as long as the files that the piece has bytes of have not changed.
///
/// A torrent is known by its info-hash alone: of one that is checked in two places at a time, each needs a checkpoint of
/// its own.
///
/// ```
/// use hashloom::torrent::{Check, Checkpoint, Options, Torrent, verify_many};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// # let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// # let (torrent, path) = (Torrent::parse(bytes)?, folder.path());
/// let checkpoint = Checkpoint::default();
/// let record = |torrent: &Torrent, piece, state| checkpoint.record(torrent, piece, state);
/// let known = checkpoint.begin(&torrent, path);
/// verify_many([Check::new(&torrent, path).known(known)], &Options::default().pieces(&record), |_, _| {});
/// let saved = checkpoint.encode();
///
/// // Another day:
/// let checkpoint = Checkpoint::decode(&saved)?;
/// let known = checkpoint.begin(&torrent, path); // what need not be checked again
/// assert_eq!(known.len(), torrent.piece_count());
/// # assert_eq!(known, [hashloom::torrent::PieceState::Bad]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Checkpoint {
    torrents: Mutex<BTreeMap<Vec<u8>, Entry>>,
}

/// What is known of a torrent.
#[derive(Debug)]
enum Entry {
    /// As it was read, in bencode, and found to be whole. Most of it may be of torrents that nobody asks for, and of a
    /// file that is not there two bytes would become 32.
    Saved(Box<[u8]>),
    Begun(Begun),
}

#[derive(Debug)]
struct Begun {
    /// Of each file what it was; none of one that was not there.
    files: Vec<Option<Kept>>,
    /// Of each piece the number of its [`PieceState`].
    pieces: Vec<u8>,
}

/// What is kept of a file's [`Stamp`]: where it lies may change between two checks, as a disk may be mounted another
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    nbytes: u64,
    mtime_ns: i64,
    /// Of a file that was replaced by one with the same modification time it is another.
    ctime_ns: i64,
}

impl From<Stamp> for Kept {
    fn from(Stamp { nbytes, mtime_ns, ctime_ns, .. }: Stamp) -> Kept {
        Kept { nbytes, mtime_ns, ctime_ns }
    }
}

/// The key that tells such a file from other bencode, and its version.
const MAGIC: &[u8] = b"hashloom checkpoint";
const VERSION: i64 = 1;

const LIMITS: Limits = Limits { nbytes: Checkpoint::MAX_NBYTES, depth: 5 };

/// Why bytes are no checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// They are not bencode.
    Bencode(bencode::Error),
    /// They are something else.
    NotACheckpoint,
    /// They are of a version that this one does not know.
    Version(i64),
    /// What is there of this torrent, by the hexadecimal info-hash, makes no sense.
    Damaged(String),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Bencode(error) => write!(f, "this is no checkpoint: {error}"),
            CheckpointError::NotACheckpoint => {
                write!(f, "this is no checkpoint: it has no key {}", paths::quoted(MAGIC))
            }
            CheckpointError::Version(found) => {
                write!(f, "a checkpoint of version {found}, of which this program knows nothing")
            }
            CheckpointError::Damaged(id) => write!(f, "the checkpoint is damaged in what it says of torrent {id}"),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// The longest checkpoint that is read: 1 GiB, of 20 million files. To read one takes about its length of memory; made
    /// up of the shortest entries that there can be, four times that.
    pub const MAX_NBYTES: usize = 1 << 30;

    /// Reads what [`encode`](Checkpoint::encode) wrote.
    ///
    /// # Errors
    /// If it did not write these bytes.
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
                let hex = entry.key.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
                return Err(CheckpointError::Damaged(hex));
            }
            all.insert(entry.key.to_vec(), Entry::Saved(entry.value.raw().into()));
        }
        Ok(Checkpoint { torrents: Mutex::new(all) })
    }

    /// All of it as bytes to be written to a file.
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

    /// Notes what the torrent's files are now, and returns the verdicts that still hold, one for each piece, for
    /// [`Check::known`](super::Check::known). `path` is that of the check.
    ///
    /// Pieces that could not be read are to be tried again.
    pub fn begin(&self, torrent: &Torrent, path: &Path) -> Vec<PieceState> {
        let files = stamps(torrent, path);
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
            for file in (0..files.len()).filter(|&file| known.files[file] != files[file]) {
                states[torrent.pieces_of_file(file)].fill(PieceState::Unchecked);
            }
        }
        let begun = Begun { files, pieces: states.iter().map(|&state| state as u8).collect() };
        all.insert(id(torrent), Entry::Begun(begun));
        states
    }

    /// Notes a verdict. The torrent must have been [begun](Checkpoint::begin); that of another is ignored.
    pub fn record(&self, torrent: &Torrent, piece: usize, state: PieceState) {
        if let Some(Entry::Begun(begun)) = self.lock().get_mut(&id(torrent)) {
            if let Some(place) = begun.pieces.get_mut(piece) {
                // Of a piece that is unstable nothing is known.
                *place = if state == PieceState::Unstable { PieceState::Unchecked } else { state } as u8;
            }
        }
    }

    /// A panic elsewhere leaves nothing half-done in what the lock guards.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Entry>> {
        self.torrents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun {
    /// Written as it comes: as values it would be three times as much, for each of millions of files.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = b"d5:filesl".to_vec();
        for kept in &self.files {
            // Writing into memory does not fail.
            let _ = match kept {
                None => bytes.write_all(b"le"),
                Some(Kept { nbytes, mtime_ns, ctime_ns }) => write!(bytes, "li{nbytes}ei{mtime_ns}ei{ctime_ns}ee"),
            };
        }
        let _ = write!(bytes, "e6:pieces{}:", self.pieces.len());
        bytes.extend_from_slice(&self.pieces);
        bytes.push(b'e');
        bytes
    }

    /// None if it is not of so many files and pieces.
    fn decode(bytes: &[u8], nfiles: usize, npieces: usize) -> Option<Begun> {
        let document = bencode::parse(bytes, &LIMITS).ok()?;
        let (files, pieces) = parts(document.root())?;
        if pieces.len() != npieces || files.items().take(nfiles.saturating_add(1)).count() != nfiles {
            return None;
        }
        let mut kept = Vec::with_capacity(nfiles);
        for file in files.items() {
            kept.push(Kept::decode(file)?);
        }
        Some(Begun { files: kept, pieces: pieces.to_vec() })
    }
}

impl Kept {
    /// None of a file that was not there; none of it all if it makes no sense.
    fn decode(file: Value<'_>) -> Option<Option<Kept>> {
        let mut numbers = file.items().map(|number| number.integer());
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (None, ..) if file.kind() == Kind::List => Some(None),
            (Some(Some(nbytes)), Some(Some(mtime_ns)), Some(Some(ctime_ns)), None) => {
                Some(Some(Kept { nbytes: u64::try_from(nbytes).ok()?, mtime_ns, ctime_ns }))
            }
            _ => None,
        }
    }
}

/// The list of files and the states of pieces of a torrent.
fn parts(value: Value<'_>) -> Option<(Value<'_>, &[u8])> {
    let files = value.get(b"files").filter(|files| files.kind() == Kind::List)?;
    Some((files, value.get(b"pieces")?.string()?))
}

/// Whether all that is said of a torrent makes sense.
fn is_whole(value: Value<'_>) -> bool {
    parts(value).is_some_and(|(files, _)| files.items().all(|file| Kept::decode(file).is_some()))
}

/// What a torrent is known by: the hash of its version 2 if it has one.
fn id(torrent: &Torrent) -> Vec<u8> {
    match torrent.info_hash_v2() {
        Some(hash) => hash.to_vec(),
        None => torrent.info_hash_v1().map_or(Vec::new(), |hash| hash.to_vec()),
    }
}

fn stamps(torrent: &Torrent, path: &Path) -> Vec<Option<Kept>> {
    // Without the place nothing is known; the check itself will say why.
    let Ok(located) = locate(torrent, path, &Cache::default()) else { return vec![None; torrent.file_count()] };
    let kept = |file: super::File<'_>| {
        if file.attributes.padding || file.attributes.symlink {
            return None;
        }
        let path = match torrent.is_single_file() {
            true => located.content.clone(),
            false => located.content.join(paths::to_path(file.path)),
        };
        Some(Stamp::of(&std::fs::metadata(path).ok()?).into())
    };
    torrent.files().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Torrents that are not checked this time are kept as they were read; those that are, as this version has written
    /// them before.
    #[test]
    fn what_was_saved_is_saved_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("abc.txt"), "abc").unwrap();
        let metainfo = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
        let torrent = Torrent::parse(metainfo).unwrap();
        let Stamp { mtime_ns, ctime_ns, .. } = Stamp::of(&folder.path().join("abc.txt").metadata().unwrap());
        let [own, other] = [(mtime_ns, ctime_ns), (-1, 0)]
            .map(|(mtime_ns, ctime_ns)| format!("d5:fileslli3ei{mtime_ns}ei{ctime_ns}eee6:pieces1:\u{1}e"));
        let mut all = b"d19:hashloom checkpointi1e8:torrentsd".to_vec();
        all.extend_from_slice(
            format!("20:{}d5:fileslleli9ei8ei7eee6:pieces2:\u{1}\u{2}e", "\u{1}".repeat(20)).as_bytes(),
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
        for (entry, known) in [(&own, PieceState::Have), (&other, PieceState::Unchecked)] {
            let checkpoint = Checkpoint::decode(&with(entry)).unwrap();
            assert_eq!(checkpoint.encode(), with(entry));
            assert_eq!(checkpoint.begin(&torrent, folder.path()), [known]);
            assert_eq!(checkpoint.encode()[..before], all[..]);
            checkpoint.record(&torrent, 0, PieceState::Have);
            assert_eq!(checkpoint.encode(), with(&own));
        }
    }
}
