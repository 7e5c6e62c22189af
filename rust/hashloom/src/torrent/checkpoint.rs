// SPDX-License-Identifier: MIT OR Apache-2.0

//! The verdicts of a check that may be interrupted, to go on from there another time.

use std::collections::BTreeMap;
use std::fmt;
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

#[derive(Debug)]
struct Entry {
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
    /// The longest checkpoint that is read: 1 GiB, of 20 million files.
    pub const MAX_NBYTES: usize = 1 << 30;

    /// Reads what [`encode`](Checkpoint::encode) wrote.
    ///
    /// # Errors
    /// If it did not write these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let limits = Limits { nbytes: Checkpoint::MAX_NBYTES, depth: 5 };
        let document = bencode::parse(bytes, &limits).map_err(CheckpointError::Bencode)?;
        let root = document.root();
        let version = root.get(MAGIC).and_then(|version| version.integer()).ok_or(CheckpointError::NotACheckpoint)?;
        if version != VERSION {
            return Err(CheckpointError::Version(version));
        }
        let torrents = root.get(b"torrents").filter(|value| value.kind() == Kind::Dictionary);
        let mut all = BTreeMap::new();
        for entry in torrents.ok_or(CheckpointError::NotACheckpoint)?.entries() {
            let read = Entry::decode(entry.value);
            let hex = || entry.key.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
            all.insert(entry.key.to_vec(), read.ok_or_else(|| CheckpointError::Damaged(hex()))?);
        }
        Ok(Checkpoint { torrents: Mutex::new(all) })
    }

    /// All of it as bytes to be written to a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut root = Item::dictionary();
        root.insert(MAGIC, VERSION);
        let entries = self.lock();
        root.insert("torrents", Item::Dictionary(entries.iter().map(|(id, e)| (id.clone(), e.encode())).collect()));
        root.encode()
    }

    /// Notes what the torrent's files are now, and returns the verdicts that still hold, one for each piece, for
    /// [`Check::known`](super::Check::known). `path` is that of the check.
    ///
    /// Pieces that could not be read are to be tried again.
    pub fn begin(&self, torrent: &Torrent, path: &Path) -> Vec<PieceState> {
        let files = stamps(torrent, path);
        let mut all = self.lock();
        let entry = all.remove(&id(torrent));
        let fits = |entry: &Entry| entry.files.len() == files.len() && entry.pieces.len() == torrent.piece_count();
        let mut states = vec![PieceState::Unchecked; torrent.piece_count()];
        if let Some(entry) = entry.filter(fits) {
            for (state, &byte) in states.iter_mut().zip(&entry.pieces) {
                *state = PieceState::from_byte(byte);
                if *state == PieceState::Unread {
                    *state = PieceState::Unchecked;
                }
            }
            for file in (0..files.len()).filter(|&file| entry.files[file] != files[file]) {
                states[torrent.pieces_of_file(file)].fill(PieceState::Unchecked);
            }
        }
        all.insert(id(torrent), Entry { files, pieces: states.iter().map(|&state| state as u8).collect() });
        states
    }

    /// Notes a verdict. The torrent must have been [begun](Checkpoint::begin); that of another is ignored.
    pub fn record(&self, torrent: &Torrent, piece: usize, state: PieceState) {
        if let Some(entry) = self.lock().get_mut(&id(torrent)) {
            if let Some(place) = entry.pieces.get_mut(piece) {
                *place = state as u8;
            }
        }
    }

    /// A panic elsewhere leaves nothing half-done in what the lock guards.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Entry>> {
        self.torrents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn encode(&self) -> Item {
        let mut item = Item::dictionary();
        item.insert("pieces", &self.pieces[..]);
        let kept = |kept: &Option<Kept>| match *kept {
            None => Item::List(Vec::new()),
            Some(Kept { nbytes, mtime_ns, ctime_ns }) => {
                [nbytes as i64, mtime_ns, ctime_ns].map(Item::from).into_iter().collect()
            }
        };
        item.insert("files", self.files.iter().map(kept).collect::<Item>());
        item
    }

    fn decode(value: Value<'_>) -> Option<Entry> {
        let files = value.get(b"files").filter(|files| files.kind() == Kind::List)?;
        let files = files.items().map(|file| {
            let mut numbers = file.items().map(|number| number.integer());
            match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
                (None, ..) if file.kind() == Kind::List => Some(None),
                (Some(Some(nbytes)), Some(Some(mtime_ns)), Some(Some(ctime_ns)), None) => {
                    Some(Some(Kept { nbytes: u64::try_from(nbytes).ok()?, mtime_ns, ctime_ns }))
                }
                _ => None,
            }
        });
        Some(Entry { files: files.collect::<Option<_>>()?, pieces: value.get(b"pieces")?.string()?.to_vec() })
    }
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
