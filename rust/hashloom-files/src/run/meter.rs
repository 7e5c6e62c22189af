// SPDX-License-Identifier: MIT OR Apache-2.0

//! Measures whether the disk, the CPU, or a limit of the caller holds the work back.
//!
//! A thread that hashes either computes, waits for a CPU, or waits for something else. If the thread has work, it waits
//! for the disk. Linux counts the first two times for each thread, also for one that still runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::pool::lock;
use super::rate::Rate;

/// The cause that keeps the work from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeldBack {
    /// The threads waited for data, for a fifth of their time or more.
    Disk,
    /// The threads computed nearly all the time, or waited for a CPU.
    Cpu,
    /// More could have been read than [`Options::rate`](super::Options::rate) allows.
    Rate,
}

impl HeldBack {
    /// The name, as in the program's JSON.
    pub fn name(self) -> &'static str {
        match self {
            HeldBack::Disk => "disk",
            HeldBack::Cpu => "cpu",
            HeldBack::Rate => "rate",
        }
    }
}

/// Measures what holds the work back. Clones share the measurement, which covers all work whose options have it.
///
/// ```
/// use hashloom_files::run::{HeldBack, Meter, Options};
///
/// let meter = Meter::new();
/// let options = Options::new().meter(&meter); // for hash_files and others
/// match meter.held_back() {
///     None => {} // no work, or too little to tell
///     Some(HeldBack::Disk) => println!("held back by the disk"),
///     Some(other) => println!("held back by: {}", other.name()),
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Measured>>);

#[derive(Debug, Default)]
struct Measured {
    live: Vec<Worker>,
    /// The times of threads that have ended.
    ended: Times,
    /// Time in which threads had no work, or waited for other threads or the caller.
    idle: Duration,
    /// Whether the times of a thread are not known.
    is_unknown: bool,
    rate: Option<Arc<Rate>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Times {
    /// Time since the thread's start.
    elapsed: Duration,
    /// Time in which the thread computed, and in which it waited for a CPU.
    running: Duration,
    waiting: Duration,
}

/// A thread at work.
#[derive(Debug)]
struct Worker {
    /// The file with the thread's times.
    place: PathBuf,
    begun: Instant,
    /// The times at its beginning.
    before: (Duration, Duration),
}

/// Least time of all threads together. The system counts by ticks, up to 10 ms long.
const LEAST: Duration = Duration::from_millis(100);

/// The disk holds the work back if the threads wait for at least one part in this many of their time. If they wait
/// less, a faster disk would gain less than a quarter.
const PARTS: u32 = 5;

impl Meter {
    /// A meter that has measured nothing.
    pub fn new() -> Meter {
        Meter::default()
    }

    /// Returns the cause that has held the work back so far, during the work or after it. `None` if the system does not
    /// count the times of threads (only Linux does, with /proc), or if the threads have worked for less than a tenth of
    /// a second.
    pub fn held_back(&self) -> Option<HeldBack> {
        let measured = lock(&self.0);
        let mut sum = measured.ended;
        for worker in &measured.live {
            sum.add(worker.times()?);
        }
        let busy = sum.elapsed.saturating_sub(measured.idle);
        if measured.is_unknown || busy < LEAST {
            return None;
        }
        if measured.rate.as_ref().is_some_and(|rate| rate.was_used_up()) {
            return Some(HeldBack::Rate);
        }
        let blocked = busy.saturating_sub(sum.running + sum.waiting);
        Some(if blocked * PARTS >= busy { HeldBack::Disk } else { HeldBack::Cpu })
    }

    /// Measures the present thread until the result is dropped.
    pub(super) fn begin(&self, rate: Option<&Arc<Rate>>) -> Working<'_> {
        let mut measured = lock(&self.0);
        measured.rate = rate.cloned();
        let place = place();
        match Worker::new(&place) {
            Some(worker) => measured.live.push(worker),
            None => measured.is_unknown = true,
        }
        Working { meter: self, place }
    }

    /// Calls `wait` and leaves the time out in which the thread does not compute.
    pub(super) fn idle<R>(&self, wait: impl FnOnce() -> R) -> R {
        let (started, before) = (Instant::now(), cpu_time());
        let result = wait();
        let computed = cpu_time().saturating_sub(before);
        lock(&self.0).idle += started.elapsed().saturating_sub(computed);
        result
    }
}

/// A thread that is being measured.
pub(super) struct Working<'m> {
    meter: &'m Meter,
    place: PathBuf,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut measured = lock(&self.meter.0);
        let Some(at) = measured.live.iter().position(|worker| worker.place == self.place) else { return };
        match measured.live.swap_remove(at).times() {
            Some(times) => measured.ended.add(times),
            None => measured.is_unknown = true,
        }
    }
}

impl Worker {
    fn new(place: &PathBuf) -> Option<Worker> {
        Some(Worker { place: place.clone(), begun: Instant::now(), before: read(place)? })
    }

    fn times(&self) -> Option<Times> {
        let (running, waiting) = read(&self.place)?;
        Some(Times {
            elapsed: self.begun.elapsed(),
            running: running.saturating_sub(self.before.0),
            waiting: waiting.saturating_sub(self.before.1),
        })
    }
}

impl Times {
    fn add(&mut self, other: Times) {
        self.elapsed += other.elapsed;
        self.running += other.running;
        self.waiting += other.waiting;
    }
}

/// The file with the present thread's times.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn place() -> PathBuf {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    PathBuf::from("/proc").join(thread).join("schedstat")
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn place() -> PathBuf {
    PathBuf::new()
}

/// A thread's time of computing and its time of waiting for a CPU: the first two numbers of the file, in nanoseconds.
/// The third counts how often the thread got a CPU.
fn read(place: &PathBuf) -> Option<(Duration, Duration)> {
    let text = std::fs::read_to_string(place).ok()?;
    let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
    let (running, waiting, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
    // A kernel that does not count gives zeros.
    (count > 0).then_some((Duration::from_nanos(running), Duration::from_nanos(waiting)))
}

/// The time that the present thread has computed.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn waits_count_unless_there_was_no_work() {
        let meter = Meter::new();
        let working = meter.begin(None);
        std::thread::sleep(2 * LEAST);
        assert_eq!(meter.held_back(), Some(HeldBack::Disk));
        drop(working);
        assert_eq!(meter.held_back(), Some(HeldBack::Disk));

        let meter = Meter::new();
        let working = meter.begin(None);
        meter.idle(|| std::thread::sleep(2 * LEAST));
        assert_eq!(meter.held_back(), None);
        let busy = || (cpu_time(), Instant::now());
        let (before, mut now) = (cpu_time(), busy());
        while now.0 - before < 2 * LEAST {
            now = busy();
        }
        assert_eq!(meter.held_back(), Some(HeldBack::Cpu));
        drop(working);
        assert_eq!(meter.held_back(), Some(HeldBack::Cpu));
    }

    #[test]
    fn a_limit_that_is_used_up_comes_first() {
        let (meter, rate) = (Meter::new(), Arc::new(Rate::new(1 << 20)));
        let _working = meter.begin(Some(&rate));
        rate.pay(1 << 18, &|| false);
        assert_eq!(meter.held_back(), Some(HeldBack::Rate));
    }

    #[test]
    fn nothing_is_said_where_the_system_does_not_count() {
        assert!(Worker::new(&"/proc/no/such/thread".into()).is_none());
        let meter = Meter::new();
        let _working = meter.begin(None);
        std::thread::sleep(2 * LEAST);
        lock(&meter.0).is_unknown = true;
        assert_eq!(meter.held_back(), None);
    }
}
