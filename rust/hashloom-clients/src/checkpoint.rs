// SPDX-License-Identifier: MIT OR Apache-2.0

//! The verdicts of a check that may be interrupted, to continue it at another time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hashloom_files::pieces::files::{Cache, Files};
use hashloom_files::read::evidence::TICK;
use hashloom_files::run::{lock, unlocked};
use hashloom_files::{Doubt, Noted};
use hashloom_state::{Folder, State, Tie};
use hashloom_torrent::inside::locate;
use hashloom_torrent::{Bitfield, File, Location, PieceState, Torrent, Verdicts};

/// Verdicts go to the state at the latest after this time.
const WAIT: Duration = Duration::from_secs(1);

/// The verdicts on the pieces of any number of torrents, in a [state](State). A verdict holds as long as it is strong
/// evidence for the files with bytes of the piece: [`Doubt`] lists the reasons why it may not be.
///
/// A torrent is known by its info-hash alone: to check a torrent in two places at a time, use a checkpoint for each
/// place.
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_clients::Checkpoint;
/// use hashloom_state::State;
/// use hashloom_torrent::{Bitfield, Check, Torrent, verify_pieces};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path();
/// std::fs::write(path.join("abc.txt"), "abc")?;
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let checkpoint = Checkpoint::new(State::at(&path.join("state"), Checkpoint::SUBJECT)?);
/// let record = |torrent: &Torrent, piece, state| checkpoint.record(torrent, piece, state);
/// let known = checkpoint.begin(&torrent, path);
/// verify_pieces([Check::new(&torrent, path).known(known)], &Options::new(), record, |_, _| {});
/// checkpoint.close()?;
///
/// // Another day:
/// let checkpoint = Checkpoint::new(State::at(&path.join("state"), Checkpoint::SUBJECT)?);
/// let known = checkpoint.begin(&torrent, path); // the verdicts that still hold
/// assert_eq!(known.len(), torrent.piece_count());
/// checkpoint.end(&torrent, &Bitfield::all(1));
/// assert!(checkpoint.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    state: State,
    checking: BTreeMap<Vec<u8>, Checking>,
    doubts: BTreeMap<Doubt, u64>,
    flushed: Instant,
    /// Whether the last write to the state has failed.
    failed: io::Result<()>,
}

/// A torrent that is checked now.
#[derive(Debug)]
struct Checking {
    /// What ties verdicts to the files of a piece, in the order of the pieces: the first piece, and the tie, which also
    /// holds for the pieces up to the next.
    ties: Vec<(usize, Tie)>,
    pieces: Vec<PieceState>,
    /// Pieces whose verdicts the state does not have yet.
    waiting: BTreeSet<usize>,
}

impl Checkpoint {
    /// The subject of the state.
    pub const SUBJECT: &str = "verdicts on torrents";

    /// A checkpoint in a state of this [subject](Checkpoint::SUBJECT).
    pub fn new(state: State) -> Checkpoint {
        let (checking, doubts) = (BTreeMap::new(), BTreeMap::new());
        Checkpoint(Mutex::new(Inner { state, checking, doubts, flushed: Instant::now(), failed: Ok(()) }))
    }

    /// Notes the present state of the torrent's files, and returns the verdicts of earlier runs that still hold, one
    /// for each piece, for [`Check::known`](hashloom_torrent::Check::known). `place` is the place of the check. Files
    /// are opened for a moment. If a file was changed just now, the call waits a twentieth of a second for the clock to
    /// tick.
    ///
    /// Pieces that could not be read become unchecked, so that the next check tries them again.
    pub fn begin(&self, torrent: &Torrent, place: impl Into<Location>) -> Verdicts {
        let (mut checking, looks) = Checking::new(torrent, &place.into());
        let mut inner = self.lock();
        let mut doubts = vec![None; checking.pieces.len()];
        let Checking { ties, pieces, .. } = &mut checking;
        inner.state.all(&id(torrent), |old, verdict| {
            let Some((run, state)) = decode(verdict, pieces.len()) else { return };
            for piece in run {
                let index = ties.partition_point(|&(first, _)| first <= piece) - 1;
                let tie = &mut ties[index].1;
                let doubt = old.doubt_at(tie);
                if doubt.is_none() {
                    // Any change since would show, and so will any to come.
                    *tie = tie.without_doubt();
                }
                match doubt {
                    // What is known of another folder says nothing of this one.
                    Some(Doubt::Folder) => doubts[piece] = doubts[piece].or(doubt),
                    _ => {
                        doubts[piece] = doubt.filter(|_| state != PieceState::Unchecked);
                        pieces[piece] = if doubt.is_none() { state } else { PieceState::Unchecked };
                    }
                }
            }
        });
        for (doubt, _) in doubts.into_iter().zip(pieces).filter(|(_, state)| **state == PieceState::Unchecked) {
            if let Some(doubt) = doubt {
                *inner.doubts.entry(doubt).or_default() += 1;
            }
        }
        let states = checking.pieces.clone();
        inner.checking.insert(id(torrent), checking);
        Verdicts::resting_on(looks, states)
    }

    /// For each reason, the number of pieces, among those of the torrents begun, whose verdicts were not believed.
    pub fn doubts(&self) -> BTreeMap<Doubt, u64> {
        self.lock().doubts.clone()
    }

    /// Notes a verdict; the last one for a piece holds, and [`Unchecked`](PieceState::Unchecked) takes a verdict back.
    /// The torrent must have been [begun](Checkpoint::begin); a verdict on any other torrent is ignored. Verdicts are
    /// written each second. If they cannot be, the next time may succeed; [`close`](Checkpoint::close) tells.
    pub fn record(&self, torrent: &Torrent, piece: usize, state: PieceState) {
        let mut inner = self.lock();
        if let Some(checking) = inner.checking.get_mut(&id(torrent)) {
            checking.set(piece, state);
        }
        if inner.flushed.elapsed() >= WAIT {
            inner.flush();
        }
    }

    /// Forgets the verdicts on the pieces of a check that has ended, its [scope](hashloom_torrent::Report::scope), and
    /// the torrent if nothing else is known of it: otherwise they would answer the next check without a look at the
    /// files. Keep them if some of these pieces were not read or not judged: the other verdicts save work then.
    pub fn end(&self, torrent: &Torrent, scope: &Bitfield) {
        let mut inner = self.lock();
        let id = id(torrent);
        if let Some(checking) = inner.checking.get_mut(&id) {
            scope.ones().for_each(|piece| checking.set(piece, PieceState::Unchecked));
            if !checking.is_empty() {
                return;
            }
        }
        inner.checking.remove(&id);
        let forgotten = inner.state.forget(&id);
        inner.failed = forgotten;
    }

    /// Whether nothing is known of any torrent: a file with this checkpoint can be removed.
    pub fn is_empty(&self) -> bool {
        let inner = self.lock();
        inner.state.is_empty() && inner.checking.values().all(Checking::is_empty)
    }

    /// Writes the verdicts that are not written yet.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn close(self) -> io::Result<()> {
        let mut inner = unlocked(self.0);
        inner.flush();
        inner.failed
    }

    /// Closes the checkpoint without writing what is not written yet: for a file that is removed.
    pub fn discard(self) {
        unlocked(self.0).state.discard();
    }

    /// A panic elsewhere leaves nothing half-done in the data behind the lock.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
    }
}

impl Inner {
    /// Writes what waits. Runs of pieces with one verdict, and files in common, are one entry.
    fn flush(&mut self) {
        self.flushed = Instant::now();
        for (id, Checking { ties, pieces, waiting }) in &mut self.checking {
            let tie = |piece: usize| ties.partition_point(|&(first, _)| first <= piece) - 1;
            let mut rest = std::mem::take(waiting).into_iter().peekable();
            while let Some(first) = rest.next() {
                let (of, mut last) = (tie(first), first);
                while let Some(next) =
                    rest.next_if(|&next| next == last + 1 && pieces[next] == pieces[first] && tie(next) == of)
                {
                    last = next;
                }
                // What cannot be written now stays in memory for `State::flush`.
                let _ = self.state.add(id, &ties[of].1, &encode(first, last, pieces[first]));
            }
        }
        self.failed = self.state.flush();
    }
}

impl Checking {
    /// Looks at all files.
    fn new(torrent: &Torrent, place: &Location) -> (Checking, Vec<u64>) {
        let (files, looks) = file_ties(torrent, place);
        let mut ties = Vec::new();
        let mut last = None;
        for piece in 0..torrent.piece_count() {
            let of = torrent.files_of_piece(piece);
            if last.as_ref() != Some(&of) {
                ties.push((piece, Tie::of_all(files[of.clone()].iter())));
                last = Some(of);
            }
        }
        let pieces = vec![PieceState::Unchecked; torrent.piece_count()];
        (Checking { ties, pieces, waiting: BTreeSet::new() }, looks)
    }

    fn set(&mut self, piece: usize, state: PieceState) {
        use PieceState::{Unchecked, Unread, Unstable};
        if let Some(place) = self.pieces.get_mut(piece) {
            // Nothing is known of an unstable piece, and one that was not read may be read the next time.
            let state = if matches!(state, Unread | Unstable) { Unchecked } else { state };
            if std::mem::replace(place, state) != state {
                self.waiting.insert(piece);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.pieces.iter().all(|&state| state == PieceState::Unchecked)
    }
}

/// The verdict on a run of pieces: `FIRST-LAST=STATE`.
fn encode(first: usize, last: usize, state: PieceState) -> String {
    format!("{first}-{last}={}", state as u8)
}

/// The reverse of `encode`; `None` if that has not written the text, or the torrent has too few pieces.
fn decode(text: &str, npieces: usize) -> Option<(std::ops::RangeInclusive<usize>, PieceState)> {
    let (run, state) = text.split_once('=')?;
    let (first, last) = run.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    let state = PieceState::from_byte(state.parse().ok()?);
    (first <= last && last < npieces).then_some((first..=last, state))
}

/// The key of a torrent: its v2 info-hash if there is one, otherwise its v1 info-hash.
fn id(torrent: &Torrent) -> Vec<u8> {
    match torrent.info_hash_v2() {
        Some(hash) => hash.to_vec(),
        None => torrent.info_hash_v1().map_or(Vec::new(), |hash| hash.to_vec()),
    }
}

/// What ties verdicts to each file as it is now, and the looks at them.
fn file_ties(torrent: &Torrent, place: &Location) -> (Vec<Tie>, Vec<u64>) {
    let located = locate(torrent, place, &Cache::default());
    // Nothing is known if the place is missing; the check itself will report why.
    let folder = Folder::new(located.as_ref().map_or(place.path(), |located| &located.content));
    let path = |file: usize| located.as_ref().ok().map(|located| located.paths.path(torrent, file));
    let note = |file: File<'_>| {
        if file.attributes.padding || file.attributes.symlink {
            None
        } else {
            let paths = &located.as_ref().ok()?.paths;
            let noted = Noted::of(&paths.path(torrent, file.index)).ok();
            noted.or_else(|| {
                let is_elsewhere = paths.find_renamed(torrent, file.index);
                is_elsewhere.then(|| Noted::of(&paths.path(torrent, file.index)).ok()).flatten()
            })
        }
    };
    let is_fresh = |noted: &Option<Noted>| noted.is_some_and(|noted| noted.doubt == Some(Doubt::Fresh));
    let mut all: Vec<Option<Noted>> = torrent.files().map(note).collect();
    if all.iter().any(is_fresh) {
        std::thread::sleep(TICK);
        for (index, place) in all.iter_mut().enumerate().filter(|(_, place)| is_fresh(place)) {
            *place = note(torrent.file(index));
        }
    }
    let ties = all.iter().zip(torrent.files()).map(|(noted, file)| match noted {
        Some(noted) => folder.tie(&path(file.index).unwrap_or_default(), noted),
        None => folder.tie_of_none(),
    });
    let looks = all.iter().map(|noted| Files::look_of(noted.as_ref().map(|noted| &noted.stamp)));
    (ties.collect(), looks.collect())
}
