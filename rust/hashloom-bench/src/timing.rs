// SPDX-License-Identifier: MIT OR Apache-2.0

//! Times several pieces of work against each other.
//!
//! All works take turns, A B C A B C …, and the least time of each counts. A slow moment of the machine then affects
//! all works alike, and no longer counts if the next round is better.

use std::time::{Duration, Instant};

use clap::Args;

/// How long to measure.
#[derive(Debug, Clone, Copy, Args)]
pub struct Effort {
    /// Number of rounds in which all take turns; the fastest round of each counts
    #[arg(long, value_name = "N", default_value_t = 61, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,

    /// Time for each row in each round, such as 300us, 3ms or 1s
    #[arg(long, value_name = "TIME", default_value = "300us", value_parser = parse_time)]
    pub time: Duration,
}

/// A function that can be called again and again.
pub type Work<'a> = Box<dyn FnMut() + 'a>;

/// Returns the seconds that one call of each work takes. `tick` is called `effort.ticks(works.len())` times.
pub fn race(works: &mut [Work<'_>], effort: &Effort, mut tick: impl FnMut()) -> Vec<f64> {
    let repeats: Vec<u32> = works
        .iter_mut()
        .map(|work| {
            tick();
            repeats_for(work, effort.time)
        })
        .collect();
    let mut least = vec![f64::INFINITY; works.len()];
    for _ in 0..effort.rounds {
        for ((work, &repeats), least) in works.iter_mut().zip(&repeats).zip(&mut least) {
            // An untimed call: the previous work has left its code and data in the level 1 and 2 caches. A work too
            // long to be repeated within its time does not notice.
            if repeats > 1 {
                work();
            }
            *least = least.min(time(work, repeats) / f64::from(repeats));
            tick();
        }
    }
    least
}

/// Returns the seconds of CPU time that one call of the work takes, on average of as many calls as fit into `wanted`.
pub fn average(work: &mut Work<'_>, wanted: Duration) -> f64 {
    let (start, mut ncalls) = (cpu_time(), 0_u32);
    loop {
        work();
        ncalls += 1;
        let taken = cpu_time() - start;
        if taken >= wanted {
            return taken.as_secs_f64() / f64::from(ncalls);
        }
    }
}

/// The CPU time of this thread; on Windows, where nothing tells it, the time.
fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        START.elapsed()
    }
}

impl Effort {
    pub fn ticks(&self, nworks: usize) -> u64 {
        (u64::from(self.rounds) + 1) * nworks as u64
    }
}

fn time(work: &mut Work<'_>, repeats: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        work();
    }
    // A clock that stands still must not make a work infinitely fast.
    start.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
}

/// Returns how often `work` fits into `wanted`, at least 1.
fn repeats_for(work: &mut Work<'_>, wanted: Duration) -> u32 {
    let wanted = wanted.as_secs_f64();
    let mut repeats = 1;
    loop {
        let taken = time(work, repeats);
        if taken >= wanted / 8.0 || repeats > 1 << 24 {
            return (wanted / taken * f64::from(repeats)).ceil().clamp(1.0, 1e9) as u32;
        }
        repeats *= 2;
    }
}

/// Returns the same bytes on every machine and in every run. They have no pattern that a hash could profit from.
pub fn random_bytes(nbytes: usize) -> Vec<u8> {
    // xorshift64 (Marsaglia 2003)
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.to_le_bytes()
    };
    let mut bytes = vec![0; nbytes];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&next()[..chunk.len()]));
    bytes
}

fn parse_time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 3] = [("us", 1), ("ms", 1000), ("s", 1_000_000)];
    const MOST: u64 = 10_000_000;
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let Some((_, micros)) = UNITS.into_iter().find(|(name, _)| *name == unit.trim()) else {
        return Err("expected a whole number and us, ms or s, such as 3ms".into());
    };
    let number: u64 = number.parse().map_err(|_| "expected a whole number and us, ms or s, such as 3ms".to_owned())?;
    match number.checked_mul(micros) {
        Some(0) => Err("expected at least 1us".into()),
        Some(micros @ 1..=MOST) => Ok(Duration::from_micros(micros)),
        _ => Err("expected at most 10s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn times() {
        assert_eq!(parse_time("3ms"), Ok(Duration::from_millis(3)));
        assert_eq!(parse_time("250us"), Ok(Duration::from_micros(250)));
        assert_eq!(parse_time("10 s"), Ok(Duration::from_secs(10)));
        for bad in
            ["", "3", "ms", "-1ms", "1.5ms", "3 m", "0us", "11s", "99999999999999999999s", "18446744073709551615s"]
        {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn all_take_turns() {
        let (order, ticks) = (RefCell::new(Vec::new()), Cell::new(0));
        let effort = Effort { rounds: 3, time: Duration::from_micros(1) };
        let work = |name: char| -> Work<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                std::thread::sleep(Duration::from_micros(5));
            })
        };
        let times = race(&mut [work('a'), work('b')], &effort, || ticks.set(ticks.get() + 1));
        let mut turns = order.into_inner();
        turns.dedup();
        assert_eq!(turns.into_iter().collect::<String>(), "abababab");
        assert_eq!(ticks.get(), effort.ticks(2));
        assert!(times.len() == 2 && times.iter().all(|&time| time >= 5e-6), "{times:?}");
    }
}
