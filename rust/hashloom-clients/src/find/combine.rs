// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tries combinations of candidates for a piece of several files.
//!
//! Combinations that begin alike share the state of their SHA-1, and the states of all take a candidate's bytes side by
//! side. So the bytes of each candidate are read once, and from memory if the candidate is small.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashloom::{Algorithm, Hasher, finalize_many, update_many};
use hashloom_files::run::pool::Pool;
use hashloom_files::run::{Options, lock, unlocked};
use hashloom_torrent::Torrent;

use super::index::Index;
use super::sweep::{Memory, zeros};

/// Largest number of combinations tried for a piece.
const COMBINATIONS_MAX: usize = 1 << 14;

/// Largest number of bytes hashed for the combinations of a piece, if their bytes were not shared.
const HASHED_NBYTES_MAX: u64 = 32 << 30;

/// Number of combinations from which on hardly any can be tried, and the number that is tried then.
const HOPELESS: (u128, usize) = (1 << 24, 1 << 8);

/// Bytes of a candidate that are hashed at a time.
const CHUNK_NBYTES: u64 = 1 << 20;

/// A piece of several files.
pub(super) struct Combine<'a> {
    pub(super) torrent: &'a Torrent,
    pub(super) piece: usize,
    pub(super) files: Vec<Part>,
}

/// A file, its bytes in the piece, and its candidates with their entries.
type Part = (usize, Range<u64>, Vec<((usize, usize), u32)>);

/// The combination with the piece's digest, and whether not all were tried.
type Chosen = (Option<Vec<(usize, usize)>>, bool);

/// Tries combinations for these shared pieces of torrents. Of a cancelled run, some results are missing.
pub(super) fn combine_all<'a>(
    pieces: &[(usize, usize)],
    of: impl Fn(usize, usize) -> Combine<'a> + Sync,
    index: &Index,
    memory: &Memory,
    options: &Options,
) -> Vec<((usize, usize), Chosen)> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let pool = Pool::new(options.nthreads().min(pieces.len()), options);
    let work = |()| {
        while let Some(&(hunt, shared)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(chosen) = of(hunt, shared).choose(index, memory, &|| pool.must_stop()) else { break };
            lock(&found).push(((hunt, shared), chosen));
        }
    };
    if !pieces.is_empty() {
        pool.work(|| Some(()), work);
    }
    unlocked(found)
}

impl Combine<'_> {
    fn choose(&self, index: &Index, memory: &Memory, must_stop: &dyn Fn() -> bool) -> Option<Chosen> {
        let (torrent, range) = (self.torrent, self.torrent.piece_range(self.piece));
        let most = (HASHED_NBYTES_MAX / torrent.piece_nbytes()).clamp(1, COMBINATIONS_MAX as u64) as usize;
        let all = self.files.iter().fold(1u128, |all, (.., picks)| all.saturating_mul(picks.len() as u128));
        let most = if all > HOPELESS.0 { most.min(HOPELESS.1) } else { most };
        // Combination k of the files so far is candidate k modulo their number of the last file, after combination k
        // divided by it of the files before.
        let (mut states, mut at, mut is_cut) = (vec![Hasher::new(Algorithm::Sha1)], range.start, false);
        for (file, bytes, picks) in &self.files {
            let start = torrent.file(*file).offset + bytes.start;
            zeros(start - at, |zeros| update_all(&mut states, zeros));
            at = start + (bytes.end - bytes.start);
            is_cut |= states.len() * picks.len() > most;
            let count = most.min(states.len() * picks.len());
            let mut of_pick: HashMap<usize, Vec<Hasher>> = HashMap::new();
            for (number, (_, entry)) in picks.iter().enumerate() {
                let mut longer: Vec<Hasher> =
                    (number..count).step_by(picks.len()).map(|k| states[k / picks.len()].clone()).collect();
                let mut from = bytes.start;
                while from < bytes.end && !longer.is_empty() {
                    if must_stop() {
                        return None;
                    }
                    let to = bytes.end.min(from + CHUNK_NBYTES);
                    // A file that cannot be read any more gives no digest that is right; the probe would tell.
                    let Ok(chunk) = memory.bytes(index, *entry, from..to) else { break };
                    update_all(&mut longer, &chunk);
                    from = to;
                }
                longer.reverse();
                of_pick.insert(number, longer);
            }
            let next = |k: usize| of_pick.get_mut(&(k % picks.len()))?.pop();
            states = (0..count).filter_map(next).collect();
        }
        zeros(range.end - at, |zeros| update_all(&mut states, zeros));
        let mut digests = vec![0; states.len() * 20];
        finalize_many(&mut states, &mut digests);
        let right = torrent.digests().get(self.piece * 20..(self.piece + 1) * 20)?;
        let picks = digests.chunks(20).position(|digest| digest == right).map(|mut k| {
            let mut picks = Vec::new();
            for (_, _, of_file) in self.files.iter().rev() {
                picks.push(of_file[k % of_file.len()].0);
                k /= of_file.len();
            }
            picks.reverse();
            picks
        });
        Some((picks, is_cut))
    }
}

/// Hashes the same bytes for all.
fn update_all(states: &mut [Hasher], bytes: &[u8]) {
    update_many(states, &vec![bytes; states.len()]);
}
