// SPDX-License-Identifier: MIT OR Apache-2.0

//! A limit on the bytes read in a second, by all threads together.
//!
//! A thread pays for bytes when it has read them, and then waits until the limit allows the next read. Before the first
//! read nothing is paid, so each thread begins with one read, of 32 KiB in most cases; what readers read,
//! 2 MiB, comes first.
//!
//! If the limit sets the pace, files gain nothing side by side, and their results would come at the end, all together.
//! The first file of all then gets the bytes, and the next one opens after it. Once the work falls behind the limit,
//! the CPU sets the pace, and the number of files side by side grows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::pool::LOOK;
use super::pool::lock;

/// Time without reads that later reads may make up for. It evens out what the system takes for a wait, and is the
/// longest burst.
const CREDIT: Duration = Duration::from_millis(50);

/// The work is behind the limit if it has this much time to make up for. If it stays behind for as long, which is more
/// than another program that had the CPU, twice as many files go side by side.
const BEHIND: Duration = Duration::from_millis(25);

/// After this time half as many files go side by side, until the work stays behind again.
const CALM: Duration = Duration::from_secs(1);

/// More files side by side than all threads have.
const WIDTH_MAX: usize = 1 << 16;

/// The limit. Clones of options share it.
#[derive(Debug)]
pub(crate) struct Rate {
    bytes_per_second: u64,
    state: Mutex<Option<State>>,
    /// Largest number of files side by side.
    width: AtomicUsize,
}

#[derive(Debug, Clone, Copy)]
struct State {
    begun: Instant,
    /// The time at which all bytes so far are paid.
    paid: Instant,
    /// Time in which nobody would have waited.
    unused: Duration,
    pace: Pace,
}

/// How the number of files side by side changes.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Since when the work is behind, if it is.
    behind: Option<Instant>,
    /// The time of the last change.
    changed: Instant,
}

impl Rate {
    /// `bytes_per_second`: at least 1.
    pub(crate) fn new(bytes_per_second: u64) -> Rate {
        Rate { bytes_per_second, state: Mutex::new(None), width: AtomicUsize::new(1) }
    }

    /// Largest number of files that should be open side by side, by all threads together.
    pub(crate) fn width(&self) -> usize {
        self.width.load(Ordering::Relaxed)
    }

    /// Pays for `nbytes` bytes that were read. Returns when more may be read, or soon after
    /// `must_stop` is true.
    pub(crate) fn pay(&self, nbytes: u64, must_stop: &dyn Fn() -> bool) {
        let paid = self.note(nbytes, Instant::now());
        loop {
            let left = paid.saturating_duration_since(Instant::now());
            if left.is_zero() || must_stop() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Adds bytes that were read until `now`. Returns the time at which all bytes are paid.
    fn note(&self, nbytes: u64, now: Instant) -> Instant {
        let mut state = lock(&self.state);
        let first = State { begun: now, paid: now, unused: Duration::ZERO, pace: Pace { behind: None, changed: now } };
        let State { begun, paid, unused, mut pace } = state.unwrap_or(first);
        pace.judge(&self.width, now, now.saturating_duration_since(paid));
        let lost = now.saturating_duration_since(paid + CREDIT);
        // A limit below 1 byte a year makes no difference.
        let time = Duration::from_secs_f64((nbytes as f64 / self.bytes_per_second as f64).min(31_536_000.0));
        let paid = paid + lost + time;
        *state = Some(State { begun, paid, unused: unused + lost, pace });
        paid
    }

    /// Returns true if the limit was used up for four fifths of the time: without it, more bytes would have been read.
    pub(super) fn was_used_up(&self) -> bool {
        let state = lock(&self.state);
        state.is_some_and(|State { begun, paid, unused, .. }| {
            let elapsed = Instant::now().max(paid) - begun;
            let unpaid = Instant::now().saturating_duration_since(paid + CREDIT);
            (unused + unpaid) * 5 < elapsed
        })
    }
}

impl Pace {
    /// Changes the number of files side by side, of work that has `late` to make up for.
    fn judge(&mut self, width: &AtomicUsize, now: Instant, late: Duration) {
        let count = width.load(Ordering::Relaxed);
        let since = |then: Instant| now.saturating_duration_since(then);
        self.behind = if late >= BEHIND { self.behind.or(Some(now)) } else { None };
        let changed = match self.behind {
            Some(behind) if since(behind) >= BEHIND => (2 * count).min(WIDTH_MAX),
            None if since(self.changed) >= CALM => count.div_ceil(2),
            _ => return,
        };
        width.store(changed, Ordering::Relaxed);
        (self.behind, self.changed) = (self.behind.and(Some(now)), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Cancel;

    #[test]
    fn bytes_are_paid_at_the_rate() {
        let rate = Rate::new(1000);
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(rate.note(100, at(0)), at(100));
        assert_eq!(rate.note(100, at(0)), at(200), "of another thread");
        assert_eq!(rate.note(100, at(230)), at(300), "a short pause is made up for");
        assert_eq!(rate.note(100, at(1350)), at(1400), "a long one is not");
        assert_eq!(rate.state.lock().unwrap().unwrap().unused, Duration::from_millis(1000));
    }

    #[test]
    fn files_go_side_by_side_if_the_work_falls_behind() {
        let rate = Rate::new(1000);
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        // Each read is of ten bytes, which the limit gives 10 ms.
        let widths = [0, 10, 20, 60, 75, 90, 120].map(|ms| {
            rate.note(10, at(ms));
            rate.width()
        });
        assert_eq!(widths, [1, 1, 1, 1, 1, 2, 4]);
        // The work makes up for it, and keeps to the limit.
        let mut now = rate.note(90, at(121));
        let widths = [0, 900, 1100, 1100, 1100].map(|ms| {
            now = rate.note(ms, now);
            rate.width()
        });
        assert_eq!(widths, [4, 4, 4, 2, 1]);
    }

    #[test]
    fn a_limit_holds_back_only_if_it_is_used_up() {
        let rate = Rate::new(1 << 20);
        assert!(!rate.was_used_up());
        rate.note(1 << 30, Instant::now());
        assert!(rate.was_used_up());
        let rate = Rate::new(1 << 40);
        let now = Instant::now();
        rate.note(1 << 10, now);
        rate.note(1 << 10, now + Duration::from_secs(3600));
        assert!(!rate.was_used_up());
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let (rate, cancel) = (Rate::new(1), Cancel::new());
        cancel.cancel();
        rate.pay(1 << 40, &|| cancel.is_cancelled());
    }
}
