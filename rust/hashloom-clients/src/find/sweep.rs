// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads each candidate once, and hashes all places of the candidate that any file of any torrent asks for.
//!
//! The digests only say which candidates are worth a [`Probe`](super::probe::Probe): nothing is proved by them.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};
use hashloom_files::Stamp;
use hashloom_files::merkle::{self, BLOCK_NBYTES, NODE_NBYTES, Node, Tree};
use hashloom_files::pieces::files::Trouble;
use hashloom_files::read::open::read_exact_at;
use hashloom_files::read::stream;
use hashloom_files::run::pool::Pool;
use hashloom_files::run::{Options, lock, unlocked};
use hashloom_torrent::{PieceState, Torrent};

use super::index::Index;

/// Bytes read at once: a multiple of the blocks of hash trees.
const CHUNK_NBYTES: usize = 1 << 20;

/// Largest number of bytes of files that are kept for combinations.
const MEMORY_NBYTES: usize = 64 << 20;

/// Files up to this length are kept whole.
const SMALL_NBYTES: u64 = 1 << 20;

/// Bytes of a file, with zeros around them, whose digests are asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    bytes: Bytes,
    /// Bytes of padding before and after.
    zeros: (u64, u64),
    has_sha1: bool,
    /// The levels of the hash tree over the bytes, if its root is asked for.
    levels: Option<u32>,
}

/// A range of bytes, with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes {
    start: u64,
    end: u64,
}

impl Place {
    /// A piece that lies wholly in a file; all of a v2 file whose piece layer is unknown.
    pub(super) fn piece(torrent: &Torrent, file: usize, piece: usize) -> Place {
        let (has_sha1, is_unknown) = (!torrent.digests().is_empty(), torrent.has_unknown_root(piece));
        let file = torrent.file(file);
        if is_unknown && !has_sha1 {
            let levels = Some(merkle::height(file.nbytes));
            return Place { bytes: Bytes { start: 0, end: file.nbytes }, zeros: (0, 0), has_sha1, levels };
        }
        let range = torrent.piece_range(piece);
        let bytes = range.start.max(file.offset)..range.end.min(file.offset + file.nbytes);
        let has_root = !torrent.roots().is_empty() && !is_unknown;
        Place {
            zeros: (bytes.start - range.start, range.end - bytes.end),
            bytes: Bytes { start: bytes.start - file.offset, end: bytes.end - file.offset },
            has_sha1,
            levels: has_root.then(|| merkle::height(file.nbytes.min(torrent.piece_nbytes()))),
        }
    }

    /// Bytes of a file that are a part of a piece.
    pub(super) fn part(bytes: Range<u64>) -> Place {
        Place { bytes: Bytes { start: bytes.start, end: bytes.end }, zeros: (0, 0), has_sha1: true, levels: None }
    }
}

/// A question about a place of a candidate.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) entry: u32,
    pub(super) place: Place,
    pub(super) hunt: usize,
    pub(super) file: usize,
    pub(super) candidate: usize,
    pub(super) what: What,
}

/// The kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A piece that lies wholly in the file.
    Piece(usize),
    /// The file's part of a shared piece, of which this is the number.
    Shared(usize),
}

/// The digests of a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) sha1: [u8; 20],
    root: Node,
}

impl Found {
    /// Whether these are the digests of a piece of a file.
    pub(super) fn is_right(&self, torrent: &Torrent, file: usize, piece: usize) -> bool {
        match torrent.verdict(piece, &self.sha1, &self.root) {
            PieceState::Unchecked => torrent.file(file).root == Some(&self.root[..]),
            state => state == PieceState::Have,
        }
    }
}

/// The answer to a question.
#[derive(Debug)]
pub(super) enum Answer {
    Found(Found),
    /// The file is not as it was when it was listed, or changed meanwhile.
    Changed,
    Trouble(Trouble),
}

/// Small files that were read.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    nbytes: usize,
    /// By their entries.
    files: HashMap<u32, Arc<Vec<u8>>>,
}

impl Memory {
    /// Some bytes of a file, from memory if they are there.
    pub(super) fn bytes(&self, index: &Index, entry: u32, range: Range<u64>) -> io::Result<Vec<u8>> {
        let known = lock(&self.0).files.get(&entry).cloned();
        if let Some(bytes) = known.as_ref().and_then(|bytes| bytes.get(range.start as usize..range.end as usize)) {
            return Ok(bytes.to_vec());
        }
        let (file, metadata) = stream::open(&index.path(entry))?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = vec![0; (range.end - range.start) as usize];
        read_exact_at(&file, &mut bytes, range.start)?;
        Ok(bytes)
    }

    /// Reads a small file that will be asked for again, if there is room.
    fn keep(&self, file: &std::fs::File, entry: u32, nbytes: u64) -> Option<Arc<Vec<u8>>> {
        if nbytes > SMALL_NBYTES {
            return None;
        }
        let mut kept = lock(&self.0);
        if let Some(bytes) = kept.files.get(&entry) {
            return Some(bytes.clone());
        }
        let room = kept.nbytes + nbytes as usize;
        if room > MEMORY_NBYTES {
            return None;
        }
        kept.nbytes = room;
        drop(kept);
        let mut bytes = vec![0; nbytes as usize];
        read_exact_at(file, &mut bytes, 0).ok()?;
        let bytes = Arc::new(bytes);
        lock(&self.0).files.insert(entry, bytes.clone());
        Some(bytes)
    }
}

/// Answers questions. Each file is read once, on the threads of `options`; `read` gets the number of bytes of each
/// read. Of a cancelled run, some answers are missing.
pub(super) fn sweep(
    mut asks: Vec<Ask>,
    index: &Index,
    memory: &Memory,
    options: &Options,
    read: &(dyn Fn(u64) + Sync),
) -> Vec<(Ask, Answer)> {
    asks.sort_by(|one, other| (one.entry, &one.place).cmp(&(other.entry, &other.place)));
    let groups: Vec<&[Ask]> = asks.chunk_by(|one, other| one.entry == other.entry).collect();
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(asks.len())));
    let pool = Pool::new(options.nthreads().min(groups.len()), options);
    let work = |mut buffer: Vec<u8>| {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !pool.must_stop()) {
            let paid = |nbytes| {
                read(nbytes);
                options.pay(nbytes, &|| pool.must_stop());
                pool.must_stop()
            };
            let Some(found) = answer(group, index, memory, &mut buffer, &paid) else { break };
            lock(&answers).push((group[0].entry, found));
        }
    };
    pool.work(|| hashloom_files::read::buffer::zeros(CHUNK_NBYTES), work);
    let mut answers: HashMap<u32, Vec<Answer>> = unlocked(answers).into_iter().collect();
    answers.values_mut().for_each(|of_entry| of_entry.reverse());
    asks.into_iter().filter_map(|ask| answers.get_mut(&ask.entry)?.pop().map(|answer| (ask, answer))).collect()
}

/// Answers the questions about one file, in their order; `None` if `read` says to stop.
fn answer(
    asks: &[Ask],
    index: &Index,
    memory: &Memory,
    buffer: &mut [u8],
    read: &dyn Fn(u64) -> bool,
) -> Option<Vec<Answer>> {
    let all = |answer: &dyn Fn() -> Answer| Some(asks.iter().map(|_| answer()).collect());
    let path = index.path(asks[0].entry);
    match hash_places(asks, &path, index.nbytes(asks[0].entry), memory, buffer, read) {
        Ok(Some(found)) => Some(found.into_iter().map(Answer::Found).collect()),
        Ok(None) => None,
        Err(Fault::Changed) => all(&|| Answer::Changed),
        Err(Fault::Open(error)) if error.kind() == io::ErrorKind::NotFound => all(&|| Answer::Changed),
        Err(Fault::Open(error)) => all(&|| Answer::Trouble(Trouble::Open(same(&error)))),
        Err(Fault::Read(offset, error)) => all(&|| Answer::Trouble(Trouble::Read { offset, error: same(&error) })),
    }
}

/// The same error once more.
fn same(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

enum Fault {
    Changed,
    Open(io::Error),
    Read(u64, io::Error),
}

fn hash_places(
    asks: &[Ask],
    path: &Path,
    nbytes: u64,
    memory: &Memory,
    buffer: &mut [u8],
    read: &dyn Fn(u64) -> bool,
) -> Result<Option<Vec<Found>>, Fault> {
    let (file, metadata) = stream::open(path).map_err(Fault::Open)?;
    let stamp = || Stamp::of_file(&file).map_err(Fault::Open);
    let before = if metadata.is_file() { stamp()? } else { None };
    if before.is_none_or(|stamp| stamp.nbytes != nbytes) {
        return Err(Fault::Changed);
    }
    let kept = if asks.iter().any(|ask| matches!(ask.what, What::Shared(_))) {
        memory.keep(&file, asks[0].entry, nbytes)
    } else {
        None
    };
    // Equal places are hashed once.
    let places: Vec<&Place> = {
        let mut places: Vec<&Place> = asks.iter().map(|ask| &ask.place).collect();
        places.dedup();
        places
    };
    let mut hashers = Hashers::new(&places);
    let mut at = 0;
    // The places are in the order of their beginnings.
    while let Some(start) = hashers.next_byte(at) {
        at = start;
        let count = (hashers.end - at).min(buffer.len() as u64) as usize;
        let bytes = match &kept {
            Some(kept) => &kept[at as usize..][..count],
            None => {
                read_exact_at(&file, &mut buffer[..count], at).map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => Fault::Changed,
                    _ => Fault::Read(at, error),
                })?;
                &buffer[..count]
            }
        };
        hashers.update(at, bytes);
        if read(count as u64) {
            return Ok(None);
        }
        at += count as u64;
    }
    if stamp()? != before {
        return Err(Fault::Changed);
    }
    let found = hashers.finish();
    let of = |ask: &Ask| places.binary_search(&&ask.place).map(|at| found[at]).unwrap_or_default();
    Ok(Some(asks.iter().map(of).collect()))
}

/// The hashers of the places of a file.
struct Hashers<'a> {
    places: &'a [&'a Place],
    sha1: Vec<Hasher>,
    trees: Vec<Tree>,
    /// The end of the places that `next_byte` looked at.
    end: u64,
}

impl<'a> Hashers<'a> {
    fn new(places: &'a [&'a Place]) -> Hashers<'a> {
        let sha1 = places.iter().map(|place| {
            let mut hasher = Hasher::new(Algorithm::Sha1);
            if place.has_sha1 {
                zeros(place.zeros.0, |zeros| hasher.update(zeros));
            }
            hasher
        });
        let trees = places.iter().map(|_| Tree::default()).collect();
        Hashers { sha1: sha1.collect(), trees, places, end: 0 }
    }

    /// The first byte from `at` on that a place has. Sets the end of the places that reach from there without a gap.
    fn next_byte(&mut self, at: u64) -> Option<u64> {
        let mut start = None;
        for place in self.places.iter().filter(|place| place.bytes.end > at) {
            let begin = place.bytes.start.max(at);
            match start {
                None => {
                    let has_tree = self.places.iter().any(|place| place.levels.is_some());
                    let begin = if has_tree { at.max(begin - begin % BLOCK_NBYTES) } else { begin };
                    (start, self.end) = (Some(begin), place.bytes.end);
                }
                Some(_) if begin <= self.end => self.end = self.end.max(place.bytes.end),
                Some(_) => break,
            }
        }
        start
    }

    /// Hashes bytes from `at` on for all places that have them.
    fn update(&mut self, at: u64, bytes: &[u8]) {
        let part = |place: &Place| {
            let end = (at + bytes.len() as u64).min(place.bytes.end);
            let start = place.bytes.start.clamp(at, end.max(at));
            &bytes[(start - at) as usize..(end.max(start) - at) as usize]
        };
        let parts: Vec<&[u8]> =
            self.places.iter().map(|place| if place.has_sha1 { part(place) } else { &[] }).collect();
        update_many(&mut self.sha1, &parts);
        for (place, tree) in self.places.iter().zip(&mut self.trees).filter(|(place, _)| place.levels.is_some()) {
            // Such a place begins at a multiple of a block, and so do reads.
            let blocks: Vec<&[u8]> = part(place).chunks(BLOCK_NBYTES as usize).collect();
            let mut leaves = vec![0; blocks.len() * NODE_NBYTES];
            hash_many(Algorithm::Sha256, &blocks, &mut leaves);
            tree.push(&leaves);
        }
    }

    fn finish(mut self) -> Vec<Found> {
        for (place, hasher) in self.places.iter().zip(&mut self.sha1).filter(|(place, _)| place.has_sha1) {
            zeros(place.zeros.1, |zeros| hasher.update(zeros));
        }
        let mut digests = vec![0; self.sha1.len() * 20];
        finalize_many(&mut self.sha1, &mut digests);
        let found = |((place, tree), sha1): ((&&Place, &mut Tree), &[u8])| {
            let mut found = Found::default();
            found.sha1.copy_from_slice(sha1);
            if let Some(levels) = place.levels {
                found.root = tree.finish(levels);
            }
            found
        };
        self.places.iter().zip(&mut self.trees).zip(digests.chunks(20)).map(found).collect()
    }
}

/// Calls `take` with zeros, this number of bytes in all.
pub(super) fn zeros(mut nbytes: u64, mut take: impl FnMut(&[u8])) {
    const ZEROS: [u8; 4096] = [0; 4096];
    while nbytes > 0 {
        let now = nbytes.min(ZEROS.len() as u64);
        take(&ZEROS[..now as usize]);
        nbytes -= now;
    }
}

#[cfg(test)]
mod tests {
    use hashloom::hash;

    use super::*;

    /// The digests of places that overlap, touch and lie apart are those of the bytes, and each byte is read once.
    #[test]
    fn places_of_a_file_are_hashed_from_one_read() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3_300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let path = folder.path().join("x");
        std::fs::write(&path, &bytes).unwrap();
        let index = Index::new([(path.clone(), Stamp::of(&path.metadata().unwrap()))]);
        let ranges = [5..70_000, 60_000..1_500_000, 1_500_000..1_500_001, 3_200_000..3_300_000, 5..70_000];
        let ask = |range: &Range<u64>| Place::part(range.clone());
        let mut places: Vec<Place> = ranges.iter().map(ask).collect();
        let whole = |nbytes: u64| Place {
            bytes: Bytes { start: 0, end: nbytes },
            zeros: (3, 5000),
            has_sha1: true,
            levels: Some(merkle::height(nbytes)),
        };
        places.extend([whole(20_000), whole(40_000)]);
        let ask = |(candidate, place): (usize, Place)| Ask {
            entry: 0,
            place,
            hunt: 0,
            file: 0,
            candidate,
            what: What::Piece(0),
        };
        let asks = places.iter().cloned().enumerate().map(ask).collect();
        let nread = std::sync::atomic::AtomicU64::new(0);
        let count = |nbytes| {
            nread.fetch_add(nbytes, Ordering::Relaxed);
        };
        let answers = sweep(asks, &index, &Memory::default(), &Options::new().threads(2), &count);
        assert_eq!((answers.len(), nread.into_inner()), (7, 1_500_001 + 3_300_000 - 195 * 16384));
        for (ask, answer) in answers {
            let Answer::Found(found) = answer else { panic!("{answer:?}") };
            let Place { bytes: Bytes { start, end }, zeros, levels, .. } = places[ask.candidate].clone();
            let own = &bytes[start as usize..end as usize];
            let all = [&vec![0; zeros.0 as usize][..], own, &vec![0; zeros.1 as usize]].concat();
            assert_eq!(hash(Algorithm::Sha1, &all), found.sha1[..], "{start}..{end}");
            if let Some(levels) = levels {
                let mut leaves: Vec<u8> =
                    own.chunks(16384).flat_map(|one| hash(Algorithm::Sha256, one).as_ref().to_vec()).collect();
                assert_eq!(merkle::root(&mut leaves, levels, merkle::NO_LEAF), found.root);
            }
        }
    }
}
