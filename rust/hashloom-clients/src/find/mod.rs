// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the files of torrents among other files, whatever their names, by their bytes.
//!
//! Candidates for a file are all files of its length. The one whose name fits best is tried first: the first piece that
//! lies wholly in it, then the others. Only if that one is wrong, the other candidates are compared by such a piece. A
//! [`sweep`](fn@sweep) reads each of them once for all files and torrents of a batch, whatever the number of places
//! where files have their first pieces; only candidates that begin right are read whole, until one is right.
//!
//! A piece of v1 can have bytes of several files, which are right or wrong together. Such a shared piece is tried with
//! the best candidate of each file. If it is wrong, the candidates of each file are grouped by their bytes in the
//! piece, and combinations of groups are tried, from memory where the files are small. As only one content of a piece
//! is right, at most one group of each file is, and each shared piece can be settled alone.
//!
//! Whatever a sweep or a combination finds, a [`Probe`] proves: it reads the files and looks at them before and after.
//!
//! Torrents are taken a batch at a time. Each round runs the probes of all torrents of a batch side by side.

mod combine;
mod index;
mod probe;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashloom_files::Stamp;
use hashloom_files::pieces::files::{Look, Trouble};
use hashloom_files::run::Options;
use hashloom_torrent::{FileTrouble, PieceState, Torrent};

use combine::{Combine, combine_all};
use index::FITS;
use probe::{Ended, Goal, Probe, run_probes};
use sweep::{Answer, Ask, Memory, Place, What, sweep};

pub use index::{Index, Lengths};

/// Number of candidates after which a batch has no more torrents.
const BATCH_CANDIDATES: usize = 1 << 18;

/// Number of pieces after which a batch has no more torrents: their digests take 20 to 52 bytes each.
const BATCH_PIECES: usize = 1 << 20;

/// Largest number of candidates of all files of a torrent, if each of its files has more than [`CANDIDATES_MIN`].
const CANDIDATES_MAX: usize = 1 << 18;

/// Number of candidates that each file may have.
const CANDIDATES_MIN: usize = 16;

/// The findings for a torrent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Findings {
    /// The result for each file.
    pub files: Vec<Finding>,
    /// Candidates that could not be read; the number of the file is of the torrent's first one with this candidate.
    pub troubles: Vec<FileTrouble>,
    /// Candidates that changed while they were compared: nothing is known of them.
    pub changed: Vec<PathBuf>,
    /// Files that were not found, and of which not all candidates or combinations were tried, as there are too many.
    pub gave_up: Vec<usize>,
    /// Whether the search was cancelled.
    pub cancelled: bool,
}

/// The result of the search for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Padding or a symbolic link, for which there is nothing to find.
    Skipped,
    /// The file is empty: no file is needed for it.
    Empty,
    /// All pieces of the file are right.
    Found {
        /// The path of a candidate that has them.
        path: PathBuf,
        /// The candidate's stamp: while it has it, the pieces are right.
        stamp: Stamp,
        /// Other candidates with the right first piece, or with all right pieces, of those that were compared: the
        /// search ends with the first one that is right.
        others: Vec<PathBuf>,
    },
    /// The file shares a piece with a file that is absent or wrong, so its bytes there cannot be compared.
    Unproved {
        /// The best candidate. All pieces that lie wholly in it are right, if there are any.
        path: PathBuf,
    },
    /// No candidate is right.
    Absent {
        /// Number of candidates: files of the same length.
        candidates: usize,
    },
}

impl Findings {
    /// Returns true if every file of the torrent was found.
    pub fn is_whole(&self) -> bool {
        self.files.iter().all(|found| matches!(found, Finding::Skipped | Finding::Empty | Finding::Found { .. }))
    }
}

/// A torrent whose files are searched.
struct Hunt<T> {
    torrent: Arc<Torrent>,
    tag: T,
    files: Vec<Wanted>,
    shared: Vec<Shared>,
    troubles: BTreeMap<u32, (usize, Trouble)>,
    changed: BTreeSet<u32>,
    gave_up: BTreeSet<usize>,
}

#[derive(Default)]
struct Wanted {
    /// The pieces that lie wholly in the file.
    own: Range<usize>,
    /// In the order in which they are tried.
    candidates: Vec<Candidate>,
    /// Whether the first candidate is to be tried before the others are compared.
    is_first_tried: bool,
    /// Number of candidates that are read whole in the next round.
    nnext: usize,
    /// Number of pieces that sweeps have compared of all candidates that are left.
    nswept: usize,
    /// Number of files of this length.
    count: usize,
}

struct Candidate {
    entry: u32,
    state: State,
    /// Whether a probe has found the first piece right, so that only the others are left to read.
    is_begun: bool,
    look: Option<Look>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// The first piece is right, or the candidate is the only one.
    Begins,
    /// The pieces that lie wholly in the file are right, if there are any, and so are the shared pieces settled so far.
    Right,
    Wrong,
}

/// A piece of several files.
struct Shared {
    piece: usize,
    files: Vec<usize>,
    step: Step,
    /// Whether probes of this step are in the present round.
    is_asked: bool,
}

enum Step {
    /// The best candidates are tried; these were right.
    Best(Option<Vec<(usize, usize)>>),
    /// The best candidates were wrong: all others are read whole.
    All,
    /// The bytes of each candidate in the piece are told apart by their SHA-1.
    Digests(Alike),
    /// Combinations are tried.
    Combinations(Alike),
    /// One combination has the right digest, and is read once more.
    Chosen(Alike, Vec<(usize, usize)>),
    Right,
    /// No combination is right, or too many are left.
    Wrong,
}

/// The SHA-1 of the bytes that candidates of files have in a shared piece.
type Alike = BTreeMap<(usize, usize), [u8; 20]>;

/// The work of a round.
#[derive(Default)]
struct Round {
    probes: Vec<Probe>,
    asks: Vec<Ask>,
    /// Torrents, and their shared pieces for which combinations are to be tried.
    combine: Vec<(usize, usize)>,
}

impl Round {
    /// Asks whether candidates of a file have these of its own pieces.
    fn ask(
        &mut self,
        hunt: usize,
        (file, wanted): (usize, &Wanted),
        torrent: &Torrent,
        candidates: &[usize],
        pieces: Range<usize>,
    ) {
        // A v2 file without a layer has one place: the whole file.
        let is_whole = torrent.has_unknown_root(wanted.own.start) && torrent.digests().is_empty();
        for piece in pieces.map(|piece| wanted.own.start + piece).take(if is_whole { 1 } else { usize::MAX }) {
            let place = Place::piece(torrent, file, piece);
            let ask = |&candidate: &usize| {
                let (entry, what) = (wanted.candidates[candidate].entry, What::Piece(piece));
                Ask { entry, place: place.clone(), hunt, file, candidate, what }
            };
            self.asks.extend(candidates.iter().map(ask));
        }
    }
}

/// Finds the files of torrents in an index. `report` gets each torrent with its tag and findings, in order. A few
/// torrents are in memory at a time.
///
/// ```
/// use std::sync::Arc;
///
/// use hashloom_clients::{Finding, Findings, Index, Lengths, find};
/// use hashloom_files::Stamp;
/// use hashloom_files::run::Options;
/// use hashloom_torrent::Torrent;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("renamed");
/// std::fs::write(&path, "abc")?;
/// let digest = hashloom::hash(hashloom::Algorithm::Sha1, b"abc");
/// let head = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:";
/// let torrent = Torrent::parse(&[&head[..], digest.as_ref(), b"ee"].concat())?;
/// let mut lengths = Lengths::default();
/// lengths.add(&torrent);
/// assert!(lengths.has(3) && !lengths.has(4));
/// let index = Index::new([(path.clone(), Stamp::of(&path.metadata()?))]);
/// find([(Arc::new(torrent), ())], &index, &Options::new(), |_, (), found: Findings| {
///     assert!(found.is_whole() && found.troubles.is_empty());
///     assert!(matches!(&found.files[0], Finding::Found { path: at, .. } if *at == path));
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find<T: Send + Sync>(
    torrents: impl IntoIterator<Item = (Arc<Torrent>, T)>,
    index: &Index,
    options: &Options,
    mut report: impl FnMut(&Torrent, T, Findings),
) {
    let mut torrents = torrents.into_iter().peekable();
    let nbytes = Arc::new(AtomicU64::new(0));
    while torrents.peek().is_some() {
        let (mut batch, mut ncandidates, mut npieces) = (Vec::new(), 0, 0);
        while ncandidates < BATCH_CANDIDATES && npieces < BATCH_PIECES {
            let Some((torrent, tag)) = torrents.next() else { break };
            let hunt = Hunt::new(torrent, tag, index);
            ncandidates += hunt.files.iter().map(|file| file.candidates.len()).sum::<usize>();
            npieces += hunt.torrent.piece_count();
            batch.push(hunt);
        }
        let memory = Memory::default();
        loop {
            let mut round = Round::default();
            batch.iter_mut().enumerate().for_each(|(number, hunt)| hunt.next_round(number, &mut round));
            let Round { probes, asks, combine } = round;
            let is_done = probes.is_empty() && asks.is_empty() && combine.is_empty();
            if is_done || options.canceller().is_cancelled() {
                break;
            }
            if !probes.is_empty() {
                let (hunts, before, outer) = (&batch, nbytes.clone(), options.clone());
                let begun = before.load(Ordering::Relaxed);
                let count = move |progress: hashloom_files::run::Progress| {
                    before.fetch_max(begun + progress.nbytes, Ordering::Relaxed);
                    outer.tell(begun + progress.nbytes, None);
                };
                let path_of = |hunt: usize, file: usize, candidate: usize| {
                    index.path(hunts[hunt].files[file].candidates[candidate].entry)
                };
                let quiet = options.quiet().progress(count);
                for (probe, ended) in run_probes(probes, |hunt| &*hunts[hunt].torrent, path_of, &quiet) {
                    batch[probe.hunt].settle(probe, ended);
                }
            }
            let read = |nread: u64| options.tell(nbytes.fetch_add(nread, Ordering::Relaxed) + nread, None);
            for (ask, answer) in sweep(asks, index, &memory, options, &read) {
                batch[ask.hunt].settle_answer(ask, answer);
            }
            let chosen = combine_all(&combine, |hunt, shared| batch[hunt].combine(shared), index, &memory, options);
            for ((hunt, shared), (picks, is_cut)) in chosen {
                batch[hunt].settle_combinations(shared, picks, is_cut);
            }
            batch.iter_mut().for_each(Hunt::settle_shared);
        }
        // All are looked at again before the caller, who may link one, changes any of them.
        let cancelled = options.canceller().is_cancelled();
        let ended: Vec<_> = batch.into_iter().map(|hunt| hunt.findings(index, cancelled)).collect();
        ended.into_iter().for_each(|(torrent, tag, found)| report(&torrent, tag, found));
    }
}

impl<T> Hunt<T> {
    fn new(torrent: Arc<Torrent>, tag: T, index: &Index) -> Hunt<T> {
        let mut gave_up = BTreeSet::new();
        let is_shared = |piece: usize| torrent.bytes_of_pieces(piece..piece + 1).nth(1).is_some();
        let nfiles = torrent.files_without_padding().filter(|file| file.nbytes > 0).count();
        let most = CANDIDATES_MAX.checked_div(nfiles).unwrap_or_default().max(CANDIDATES_MIN);
        let (mut shared, mut tried) = (Vec::<Shared>::new(), BTreeSet::new());
        let wanted = |index_of: usize| {
            let file = torrent.file(index_of);
            if file.attributes.padding || file.nbytes == 0 {
                return Wanted::default();
            }
            let mut own = torrent.pieces_of_file(index_of);
            for piece in [own.start, own.end - 1] {
                if is_shared(piece) && shared.last().is_none_or(|last| last.piece < piece) {
                    let files = torrent.bytes_of_pieces(piece..piece + 1).map(|(file, _)| file).collect();
                    shared.push(Shared { piece, files, step: Step::Best(None), is_asked: false });
                }
            }
            own.start += usize::from(is_shared(own.start));
            own.end -= usize::from(own.end > own.start && is_shared(own.end - 1));
            let (mut entries, fit) = index.candidates(&torrent, &file);
            let count = entries.len();
            if count > most {
                gave_up.insert(index_of);
                entries.truncate(most);
            }
            // Several files may have one best candidate: the first of them tries that candidate alone.
            let is_first_tried = fit >= FITS && entries.first().is_some_and(|&first| tried.insert(first));
            let state = match entries.len() {
                _ if own.is_empty() => State::Right,
                1 if is_first_tried => State::Begins,
                _ => State::New,
            };
            let candidate = |entry| Candidate { entry, state, is_begun: false, look: None };
            let candidates = entries.into_iter().map(candidate).collect();
            Wanted { own, candidates, is_first_tried, nnext: 1, nswept: 0, count }
        };
        let files = (0..torrent.file_count()).map(wanted).collect();
        Hunt { torrent, tag, files, shared, troubles: BTreeMap::new(), changed: BTreeSet::new(), gave_up }
    }

    /// Adds the work of the next round; none if all is settled.
    fn next_round(&mut self, hunt: usize, round: &mut Round) {
        let before = (round.probes.len(), round.asks.len());
        let is_open: BTreeSet<usize> = self
            .shared
            .iter()
            .filter(|shared| matches!(shared.step, Step::All))
            .flat_map(|shared| shared.files.iter().copied())
            .collect();
        for (index, file) in self.files.iter_mut().enumerate() {
            if file.best().is_some() && !is_open.contains(&index) {
                continue;
            }
            let of = |state| -> Vec<usize> {
                (0..file.candidates.len()).filter(|&at| file.candidates[at].state == state).collect()
            };
            let (new, begin, mut probes) = (of(State::New), of(State::Begins), Vec::new());
            if std::mem::take(&mut file.is_first_tried) && new.first() == Some(&0) {
                probes.push((0, file.own.start..file.own.start + 1, Goal::First));
            } else if !new.is_empty() && (begin.is_empty() || is_open.contains(&index)) {
                round.ask(hunt, (index, file), &self.torrent, &new, 0..1);
                file.nswept = 1;
            } else if begin.len() > 1
                && (file.nnext > 1 || is_open.contains(&index))
                && (1..file.own.len()).contains(&file.nswept)
            {
                // Many begin alike: twice as many pieces are compared each time, still with one read for all files.
                let pieces = file.nswept..file.own.len().min(2 * file.nswept + 1);
                file.nswept = pieces.end;
                round.ask(hunt, (index, file), &self.torrent, &begin, pieces);
            } else {
                let count = if is_open.contains(&index) { begin.len() } else { file.nnext };
                for candidate in begin.into_iter().take(count) {
                    let start = file.own.start + usize::from(file.candidates[candidate].is_begun);
                    probes.push((candidate, start..file.own.end, Goal::Own));
                }
                // One after the other would leave lanes empty; twice as many read at most twice as much.
                file.nnext *= 2;
            }
            let probe = |(candidate, pieces, goal)| Probe { hunt, pieces, picks: vec![(index, candidate)], goal };
            round.probes.extend(probes.into_iter().map(probe));
        }
        // What is shared waits for what is not.
        if before != (round.probes.len(), round.asks.len()) {
            return;
        }
        for (number, shared) in self.shared.iter_mut().enumerate() {
            let pieces = shared.piece..shared.piece + 1;
            let probe = |picks| Probe { hunt, pieces: pieces.clone(), picks, goal: Goal::Shared(number) };
            let best = shared.files.iter().map(|&file| Some((file, self.files[file].best()?)));
            let Some(best) = best.collect::<Option<Vec<_>>>() else { continue };
            match &shared.step {
                Step::Best(tried) if tried.as_ref() != Some(&best) => round.probes.push(probe(best)),
                Step::Digests(_) => {
                    shared.is_asked = true;
                    for (file, bytes) in self.torrent.bytes_of_pieces(pieces.clone()) {
                        let place = Place::part(bytes);
                        let ask = |candidate: usize| {
                            let entry = self.files[file].candidates[candidate].entry;
                            let what = What::Shared(number);
                            Ask { entry, place: place.clone(), hunt, file, candidate, what }
                        };
                        round.asks.extend(self.files[file].right().map(ask));
                    }
                }
                Step::Combinations(_) => {
                    shared.is_asked = true;
                    round.combine.push((hunt, number));
                }
                Step::Chosen(_, picks) => {
                    shared.is_asked = true;
                    round.probes.push(probe(picks.clone()));
                }
                _ => {}
            }
        }
    }

    /// A shared piece, and the entries of the candidates that differ in it.
    fn combine(&self, shared: usize) -> Combine<'_> {
        let Shared { piece, step, .. } = &self.shared[shared];
        let alike = match step {
            Step::Combinations(alike) => alike,
            _ => return Combine { torrent: &self.torrent, piece: *piece, files: Vec::new() },
        };
        let of_file = |(file, bytes)| {
            let mut seen = BTreeSet::new();
            let differ = alike.range((file, 0)..(file + 1, 0)).filter(|(_, digest)| seen.insert(**digest));
            let picks = differ.map(|(&pick, _)| (pick, self.files[file].candidates[pick.1].entry)).collect();
            (file, bytes, picks)
        };
        let files = self.torrent.bytes_of_pieces(*piece..piece + 1).map(of_file).collect();
        Combine { torrent: &self.torrent, piece: *piece, files }
    }

    /// Takes the combination that has a piece's digest, if one has. `is_cut` says that not all were tried.
    fn settle_combinations(&mut self, shared: usize, picks: Option<Vec<(usize, usize)>>, is_cut: bool) {
        let shared = &mut self.shared[shared];
        if is_cut {
            self.gave_up.extend(&shared.files);
        }
        if let (Step::Combinations(alike), Some(picks)) = (&mut shared.step, picks) {
            // The probe is asked for in the next round.
            (shared.step, shared.is_asked) = (Step::Chosen(std::mem::take(alike), picks), false);
        }
    }

    /// Takes the answer of a sweep.
    fn settle_answer(&mut self, Ask { entry, file, candidate, what, .. }: Ask, answer: Answer) {
        let candidate_state = &mut self.files[file].candidates[candidate].state;
        match (answer, what) {
            (Answer::Found(found), What::Piece(piece)) => match found.is_right(&self.torrent, file, piece) {
                true if *candidate_state == State::New => *candidate_state = State::Begins,
                true => {}
                false => *candidate_state = State::Wrong,
            },
            (Answer::Found(found), What::Shared(shared)) => {
                if let Step::Digests(alike) = &mut self.shared[shared].step {
                    alike.insert((file, candidate), found.sha1);
                }
            }
            (Answer::Changed, _) => {
                *candidate_state = State::Wrong;
                self.changed.insert(entry);
            }
            (Answer::Trouble(trouble), _) => {
                *candidate_state = State::Wrong;
                self.troubles.entry(entry).or_insert((file, trouble));
            }
        }
    }

    /// Takes the result of a probe.
    fn settle(&mut self, Probe { picks, goal, .. }: Probe, ended: Ended) {
        for (place, trouble) in ended.troubles {
            let (file, candidate) = picks[place];
            let entry = self.files[file].candidates[candidate].entry;
            self.troubles.entry(entry).or_insert((file, trouble));
        }
        let mut is_changed = ended.verdict == PieceState::Unstable;
        for (&(file, candidate), look) in picks.iter().zip(ended.looks) {
            let candidate = &mut self.files[file].candidates[candidate];
            // Two looks tell the same of a file that stays as it is.
            if *candidate.look.get_or_insert(look) != look {
                (is_changed, candidate.state) = (true, State::Wrong);
                self.changed.insert(candidate.entry);
            }
        }
        let is_right = ended.verdict == PieceState::Have && !is_changed;
        let (file, candidate) = picks[0];
        match goal {
            Goal::First | Goal::Own => {
                let (own, torrent) = (self.files[file].own.clone(), &self.torrent);
                let candidate = &mut self.files[file].candidates[candidate];
                // The pieces of a file without a layer are proved together.
                candidate.is_begun = goal == Goal::First && !torrent.has_unknown_root(own.start);
                candidate.state = match is_right {
                    true if goal == Goal::First && (own.len() > 1 || !candidate.is_begun) => State::Begins,
                    true => State::Right,
                    false => State::Wrong,
                };
                if matches!(ended.verdict, PieceState::Unstable | PieceState::Missing) {
                    self.changed.insert(candidate.entry);
                }
            }
            Goal::Shared(number) => {
                let step = &mut self.shared[number].step;
                match step {
                    Step::Best(right) if is_right => *right = Some(picks),
                    Step::Best(_) => *step = Step::All,
                    Step::Chosen(digests, _) if is_right => {
                        for (file, candidate) in picks {
                            let right = digests.get(&(file, candidate)).copied();
                            let all = self.files[file].candidates.iter_mut().enumerate();
                            all.filter(|(at, _)| digests.get(&(file, *at)).copied() != right)
                                .for_each(|(_, candidate)| candidate.state = State::Wrong);
                        }
                        *step = Step::Right;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Leads shared pieces to their next steps after a round.
    fn settle_shared(&mut self) {
        for shared in &mut self.shared {
            let is_asked = std::mem::take(&mut shared.is_asked);
            let step = std::mem::replace(&mut shared.step, Step::Wrong);
            let is_left = |one: &Candidate| matches!(one.state, State::New | State::Begins);
            let is_begun = |&file: &usize| self.files[file].candidates.iter().any(is_left);
            shared.step = match step {
                Step::All if shared.files.iter().any(is_begun) => Step::All,
                // A single combination has been tried.
                Step::All if shared.files.iter().all(|&file| self.files[file].right().nth(1).is_none()) => Step::Wrong,
                Step::All => Step::Digests(BTreeMap::new()),
                Step::Digests(digests) if is_asked => Step::Combinations(digests),
                Step::Combinations(_) | Step::Chosen(..) if is_asked => Step::Wrong,
                other => other,
            };
        }
    }

    fn findings(self, index: &Index, cancelled: bool) -> (Arc<Torrent>, T, Findings) {
        let mut is_proved = vec![true; self.files.len()];
        for shared in &self.shared {
            let is_right = match &shared.step {
                Step::Right => true,
                Step::Best(Some(picks)) => picks.iter().all(|&(file, pick)| self.files[file].best() == Some(pick)),
                _ => false,
            };
            if !is_right {
                shared.files.iter().for_each(|&file| is_proved[file] = false);
            }
        }
        let mut changed = self.changed;
        let finding = |(number, wanted): (usize, &Wanted)| {
            let file = self.torrent.file(number);
            if file.attributes.padding || file.attributes.symlink {
                return Finding::Skipped;
            }
            if file.nbytes == 0 {
                return Finding::Empty;
            }
            let Some(best) = wanted.best() else { return Finding::Absent { candidates: wanted.count } };
            let Candidate { entry, look, .. } = wanted.candidates[best];
            let path = index.path(entry);
            if !is_proved[number] {
                return Finding::Unproved { path };
            }
            // Every look at the file was of this state, or the bytes may not have stood there together.
            let stamp = Stamp::of_entry(&path).ok().flatten();
            let is_same = look.is_some_and(|look| !look.has_changed(stamp.map(|stamp| stamp.fingerprint())));
            // A file that grew while it was read may still have all right pieces.
            let Some(stamp) = stamp.filter(|stamp| is_same && stamp.nbytes == file.nbytes) else {
                changed.insert(entry);
                return Finding::Absent { candidates: wanted.count };
            };
            // Of a file without a piece layer, nothing is known of a part.
            let is_judged = !wanted.own.is_empty()
                && (!self.torrent.digests().is_empty() || !self.torrent.has_unknown_root(wanted.own.start));
            let is_other = |&(at, other): &(usize, &Candidate)| {
                at != best && is_judged && matches!(other.state, State::Begins | State::Right)
            };
            let others = wanted.candidates.iter().enumerate().filter(is_other);
            let others = others.map(|(_, other)| index.path(other.entry)).collect();
            Finding::Found { path, stamp, others }
        };
        let files: Vec<Finding> = self.files.iter().enumerate().map(finding).collect();
        let is_found = |file: usize| matches!(files[file], Finding::Found { .. });
        let troubles = self.troubles.into_iter().map(|(entry, (file, trouble))| {
            let path = index.path(entry);
            FileTrouble { file, path, trouble }
        });
        let found = Findings {
            troubles: troubles.collect(),
            changed: changed.into_iter().map(|entry| index.path(entry)).collect(),
            gave_up: self.gave_up.into_iter().filter(|&file| !is_found(file)).collect(),
            files,
            cancelled,
        };
        (self.torrent, self.tag, found)
    }
}

impl Wanted {
    fn right(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.candidates.len()).filter(|&at| self.candidates[at].state == State::Right)
    }

    /// The first candidate that is right as far as is known.
    fn best(&self) -> Option<usize> {
        self.right().next()
    }
}
