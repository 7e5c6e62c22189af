// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! Each thread takes parts of the range, and goes through a part by [`Search::find_all`].
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
#[allow(unsafe_code)]
mod ffi;
mod search;

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hashloom_files::run::pool::{LOOK, Pool};
use hashloom_files::run::{Options, lock, unlocked};

pub use search::{Parts, Search, Target};

/// The time that a part of the range takes: nothing can interrupt a thread in a part.
const PART_TIME: Duration = Duration::from_millis(75);

/// Nonces in the first part, when the rate is not known: the lanes of the widest kernel. A nonce may have a suffix of
/// many megabytes.
const FIRST_PART: u64 = 16;

/// A part has at most this many times the nonces of the one before. A part of some nonces alone says little about the
/// rate: most of its time is the prefix.
const GROWTH: u64 = 16;

/// Number of nonces that a part is expected to find at most; they wait in memory.
const FOUND_MAX: u64 = 1 << 16;

/// Parts that may wait, for each thread, for an earlier part.
const WAITING_MAX: usize = 8;

/// What happens in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// This nonce is found. Nonces come in order.
    Found(u64),
    /// All nonces of the range up to this one were tried, and those found were handed out.
    Tried(u64),
}

/// How a [`search()`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The nonce to go on with, after a break or a cancel; `None` if the whole range is done.
    pub next: Option<u64>,
    /// True if the search was cancelled before the end of the range.
    pub cancelled: bool,
}

/// Tries the nonces of a range, and calls `on` with those found, in order. The search ends when the range does, when
/// `on` breaks it, or when the options' flag is set.
///
/// Threads share the range in parts of about 75 milliseconds, or of four times what 16 nonces take if that is more;
/// breaking and cancelling wait for the parts that have begun. Each part hashes the prefix: 0.8% of the time if it has
/// 1 MiB, 11% if it has 16 MiB. One thread calls `on` at a time, some ten times a second
/// for each thread. The options' number of threads and flag apply; their progress callback is not called, as it counts
/// bytes.
///
/// # Panics
///
/// If the range is empty, or if [`Search::find`] would panic on it.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_work::{End, Event, Search, Target, search};
///
/// let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(12)).digits(b"0123456789");
/// let (mut all, mut tried) = (vec![], 0);
/// let end: End = search(&wanted, 0..=10_000, &Options::new().threads(2), |event| {
///     match event {
///         Event::Found(nonce) => all.push(nonce),
///         Event::Tried(last) => tried = last + 1,
///         _ => {}
///     }
///     ControlFlow::Continue(())
/// });
/// assert_eq!((all, tried), (vec![886, 1039, 3633, 5848], 10_001));
/// assert_eq!((end.next, end.cancelled), (None, false));
/// ```
pub fn search(
    search: &Search<'_>,
    range: RangeInclusive<u64>,
    options: &Options,
    on: impl FnMut(Event) -> ControlFlow<()> + Send,
) -> End {
    let (first, last) = range.into_inner();
    assert!(first <= last, "search: the range {first} to {last} is empty");
    let nparts = (last - first) / FIRST_PART + 1;
    let nthreads = options.nthreads().min(usize::try_from(nparts).unwrap_or(usize::MAX));
    let pool = Pool::new(nthreads, options);
    let nonces = Some(first);
    let state = State { last, todo: nonces, parts: VecDeque::new(), nparts_done: 0, next: nonces, is_over: false, on };
    let shared = Shared { search, pool: &pool, state: Mutex::new(state), changed: Condvar::new() };
    pool.work(|| Some(()), |()| shared.work());
    let state = unlocked(shared.state);
    End { next: state.next, cancelled: state.next.is_some() && !state.is_over }
}

/// What all threads share.
struct Shared<'a, On> {
    search: &'a Search<'a>,
    pool: &'a Pool,
    state: Mutex<State<On>>,
    /// The first part has ended, or the search is over.
    changed: Condvar,
}

struct State<On> {
    /// The last nonce of the range.
    last: u64,
    /// The first nonce of the next part; `None` if all parts have begun.
    todo: Option<u64>,
    /// The parts that have begun and were not handed out, in order.
    parts: VecDeque<Part>,
    /// Number of parts handed out; the first of `parts` has this number.
    nparts_done: usize,
    /// The first nonce that was not handed out; `None` if all were.
    next: Option<u64>,
    /// The caller wants no more.
    is_over: bool,
    on: On,
}

struct Part {
    last: u64,
    /// The nonces found, once all were tried.
    found: Option<Vec<u64>>,
}

impl<On: FnMut(Event) -> ControlFlow<()>> Shared<'_, On> {
    fn work(&self) {
        let mut pace = Pace { nnonces: FIRST_PART, shortest: Duration::MAX };
        while let Some((number, range)) = self.begin(pace.nnonces) {
            let begun = Instant::now();
            let found = self.search.all(*range.start(), *range.end());
            pace.note(range.end() - range.start() + 1, begun.elapsed(), found.len() as u64);
            let mut state = self.lock();
            // Parts before it may have ended since; the part itself is there until it has.
            let at = number - state.nparts_done;
            state.parts[at].found = Some(found);
            if at == 0 {
                state.hand_out();
                self.changed.notify_all();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<On>> {
        lock(&self.state)
    }

    /// Begins the next part. Returns its number and its nonces.
    fn begin(&self, nnonces: u64) -> Option<(usize, RangeInclusive<u64>)> {
        let mut state = self.lock();
        // A thread that the system holds back must not let the others collect nonces without end.
        while state.parts.len() >= WAITING_MAX * self.pool.count() && !state.is_over && !self.pool.must_stop() {
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.is_over || self.pool.must_stop() {
            return None;
        }
        let first = state.todo?;
        let last = first.saturating_add(nnonces - 1).min(state.last);
        state.todo = state.after(last);
        state.parts.push_back(Part { last, found: None });
        Some((state.nparts_done + state.parts.len() - 1, first..=last))
    }
}

impl<On: FnMut(Event) -> ControlFlow<()>> State<On> {
    /// Returns the nonce of the range after this one.
    fn after(&self, nonce: u64) -> Option<u64> {
        (nonce < self.last).then(|| nonce + 1)
    }

    /// Hands out the parts that have ended, as far as all before them have.
    fn hand_out(&mut self) {
        while !self.is_over && self.parts.front().is_some_and(|part| part.found.is_some()) {
            let Some(Part { last, found: Some(found) }) = self.parts.pop_front() else { return };
            self.nparts_done += 1;
            for nonce in found {
                self.next = self.after(nonce);
                if self.tell(Event::Found(nonce)).is_break() {
                    return;
                }
            }
            self.next = self.after(last);
            if self.tell(Event::Tried(last)).is_break() {
                return;
            }
        }
    }

    fn tell(&mut self, event: Event) -> ControlFlow<()> {
        // If the caller panics, no other thread may call it again.
        self.is_over = true;
        let flow = (self.on)(event);
        self.is_over = flow.is_break();
        flow
    }
}

/// How many nonces a thread takes at a time.
struct Pace {
    nnonces: u64,
    /// The time of the shortest part: most of it is what each part costs, whatever its nonces.
    shortest: Duration,
}

impl Pace {
    /// Notes what a part took.
    fn note(&mut self, nnonces: u64, elapsed: Duration, nfound: u64) {
        self.shortest = self.shortest.min(elapsed);
        let wanted = PART_TIME.max(4 * self.shortest);
        let by_time = nnonces as f64 * wanted.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
        let by_found = nnonces as f64 * FOUND_MAX as f64 / nfound.max(1) as f64;
        let most = self.nnonces.saturating_mul(GROWTH);
        self.nnonces = (by_time.min(by_found) as u64).clamp(FIRST_PART, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace_after(parts: &[(u64, u64)]) -> u64 {
        let mut pace = Pace { nnonces: FIRST_PART, shortest: Duration::MAX };
        for &(fixed, each) in parts {
            pace.note(pace.nnonces, Duration::from_nanos(fixed + pace.nnonces * each), 0);
        }
        pace.nnonces
    }

    #[test]
    fn a_part_takes_about_75_ms() {
        let ns = 75_000_000;
        assert!((ns / 45..=ns / 40).contains(&pace_after(&[(200, 42); 20])));
        // A prefix of a gigabyte, which each part hashes: parts of two seconds, not of 16 nonces.
        let nnonces = pace_after(&[(500_000_000, 42); 20]);
        assert!((20_000_000..=50_000_000).contains(&nnonces), "{nnonces}");
        // A suffix of some megabytes, which each nonce hashes.
        assert!(pace_after(&[(0, 10_000_000); 20]) <= 64);
        // A clock that stands still.
        assert!(pace_after(&[(0, 0); 20]) > 0);
    }

    #[test]
    fn nonces_found_do_not_fill_the_memory() {
        let mut pace = Pace { nnonces: FIRST_PART, shortest: Duration::MAX };
        for _ in 0..20 {
            pace.note(pace.nnonces, Duration::from_nanos(pace.nnonces), pace.nnonces);
        }
        assert_eq!(pace.nnonces, FOUND_MAX);
    }
}
