// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares pieces of torrents with files at any paths, many at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use hashloom_files::merkle::{Node, node};
use hashloom_files::pieces::files::{Cache, Files, Look, Place, Trouble};
use hashloom_files::pieces::job::{self, Digests, Hashes, Job, Outcome};
use hashloom_files::pieces::run;
use hashloom_files::run::{Options, lock, unlocked};
use hashloom_torrent::inside::root_of_layer;
use hashloom_torrent::{PieceState, Torrent};

/// Pieces to read, and the candidates that are read for the files of them.
#[derive(Debug)]
pub(super) struct Probe {
    /// The torrent's number.
    pub(super) hunt: usize,
    pub(super) pieces: Range<usize>,
    /// All files of the pieces, with their candidates.
    pub(super) picks: Vec<(usize, usize)>,
    pub(super) goal: Goal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The file's first piece is right.
    First,
    /// All pieces that lie in the file are right.
    Own,
    /// A piece of several files, of which this is the number, is right.
    Shared(usize),
}

/// The result of a probe.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) verdict: PieceState,
    /// The looks at the files of `picks`.
    pub(super) looks: Vec<Look>,
    /// Faults of the files, by their place in `picks`.
    pub(super) troubles: Vec<(usize, Trouble)>,
}

struct Task<'a> {
    probe: Mutex<Option<Probe>>,
    first_piece: usize,
    torrent: &'a Torrent,
    /// The place in `picks` of each file of the layout that is on the disk.
    places: Vec<Option<usize>>,
    content: job::Content<'a>,
    states: Vec<AtomicU8>,
    /// Whether a piece is not right: the others are not read then.
    is_wrong: AtomicBool,
    /// The roots of the pieces of a file without a layer, as they were found.
    roots: Mutex<BTreeMap<usize, Node>>,
    ended: &'a Mutex<Vec<(Probe, Ended)>>,
}

/// Runs probes. Of a cancelled run, probes that have not come to an end are not among the results. `path_of` gets the
/// probe's torrent, a file, and its candidate.
pub(super) fn run_probes<'a>(
    probes: Vec<Probe>,
    torrent_of: impl Fn(usize) -> &'a Torrent + Send + Sync,
    path_of: impl Fn(usize, usize, usize) -> PathBuf + Copy + Send + Sync,
    options: &Options,
) -> Vec<(Probe, Ended)> {
    let (cache, ended) = (Arc::new(Cache::default()), Mutex::new(Vec::with_capacity(probes.len())));
    let tasks = probes.into_iter().map(|probe| {
        let torrent = torrent_of(probe.hunt);
        let range = torrent.piece_range(probe.pieces.start).start..torrent.piece_range(probe.pieces.end - 1).end;
        let (layout, files) = torrent.layout.part(range);
        let place = |file| probe.picks.iter().position(|&(of, _)| of == file);
        let places: Vec<Option<usize>> = files.map(place).collect();
        let paths: Vec<PathBuf> = places
            .iter()
            .map(|place| {
                place.map_or_else(PathBuf::new, |at| path_of(probe.hunt, probe.picks[at].0, probe.picks[at].1))
            })
            .collect();
        let count = paths.len();
        let files = Files::new(Place::Listed, count, Box::new(move |index| paths[index].clone()), &cache);
        let (has_sha1, has_roots) = (!torrent.digests().is_empty(), !torrent.roots().is_empty());
        let hashes = Hashes::of_torrent(torrent.piece_nbytes(), has_sha1, has_roots);
        Arc::new(Task {
            first_piece: probe.pieces.start,
            torrent,
            places,
            states: (0..layout.piece_count()).map(|_| AtomicU8::new(PieceState::Unchecked as u8)).collect(),
            content: job::Content::new(Arc::new(layout), files, hashes),
            is_wrong: AtomicBool::new(false),
            roots: Mutex::default(),
            ended: &ended,
            probe: Mutex::new(Some(probe)),
        })
    });
    run(tasks, options);
    unlocked(ended)
}

impl Task<'_> {
    fn state(&self, piece: usize) -> PieceState {
        PieceState::from_byte(self.states[piece].load(Ordering::Relaxed))
    }

    /// False if all pieces of a file without a layer were hashed, and do not lead to the file's root.
    fn leads_to_root(&self, file: usize) -> bool {
        let (roots, file) = (lock(&self.roots), self.torrent.file(file));
        let pieces = self.torrent.pieces_of_file(file.index);
        if roots.is_empty() || roots.len() < pieces.len() {
            return true;
        }
        let layer: Vec<Node> = roots.values().copied().collect();
        file.root == Some(&root_of_layer(layer.as_flattened(), file.nbytes, self.torrent.piece_nbytes())[..])
    }

    /// The first state of a piece that is not right, if there is one.
    fn verdict(&self, file: usize) -> PieceState {
        let states = || (0..self.states.len()).map(|piece| self.state(piece));
        let is_told = |state: &PieceState| !matches!(state, PieceState::Have | PieceState::Unchecked);
        if !self.leads_to_root(file) {
            return PieceState::Bad;
        }
        // After a wrong piece the others stay unchecked.
        states().find(is_told).or_else(|| states().find(|&state| state != PieceState::Have)).unwrap_or(PieceState::Have)
    }
}

impl Job for Task<'_> {
    fn content(&self) -> &job::Content<'_> {
        &self.content
    }

    fn wants(&self, piece: usize) -> bool {
        piece < self.states.len()
            && self.state(piece) == PieceState::Unchecked
            && !self.is_wrong.load(Ordering::Relaxed)
    }

    fn settle(&self, piece: usize, outcome: Outcome<'_>) {
        let state = match outcome {
            Outcome::Unwanted => return,
            Outcome::Changed => PieceState::Unchecked,
            Outcome::Unstable => PieceState::Unstable,
            Outcome::Absent(absent) => absent.into(),
            Outcome::Hashed(Digests { whole, leaves }) => {
                let number = self.first_piece + piece;
                if self.torrent.has_unknown_root(number) {
                    lock(&self.roots).insert(number, node(leaves));
                }
                match self.torrent.verdict(number, whole, leaves) {
                    // The whole file tells.
                    PieceState::Unchecked => PieceState::Have,
                    state => state,
                }
            }
        };
        // A file that has changed may be right now.
        let is_wrong = !matches!(state, PieceState::Have | PieceState::Unchecked);
        if is_wrong || matches!(outcome, Outcome::Changed) {
            self.is_wrong.store(is_wrong, Ordering::Relaxed);
        }
        self.states[piece].store(state as u8, Ordering::Relaxed);
    }

    fn finish(&self) {
        let Some(probe) = lock(&self.probe).take().filter(|_| self.content.is_done()) else { return };
        let (looks, mut found) = (self.content.files.looks(), self.content.files.take_troubles());
        // The places are in the order of the files, as `picks` is.
        let places = || self.places.iter().enumerate().filter_map(|(index, place)| Some((index, (*place)?)));
        let looks = places().map(|(index, _)| looks[index]).collect();
        let troubles = places().filter_map(|(index, place)| Some((place, found.remove(&index)?))).collect();
        let ended = Ended { verdict: self.verdict(probe.picks[0].0), looks, troubles };
        lock(self.ended).push((probe, ended));
    }
}
