// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for nonces.
//!
//! For each number of digits that nonces have, a shader is written in which the place of every digit is a constant
//! (`plan.rs`). An invocation tries all values of the last digits, 64 to 1,024 as a rule. It notes a nonce if the most
//! significant 32 bits of the digest are low enough. The CPU hashes each noted nonce again, and compares the whole
//! digest.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hashloom::{Hasher, hash};
use hashloom_work::{Event, Parts, Search, Target};

use crate::calls::{Calls, calls};
use crate::device::{Device, Fault};
use crate::error::Error;
use crate::plan::{GROUP, NHEAD, NSAMPLES, Plan, ROOM, Segment, digit_byte, weight};

/// Nonces of a call: at most, as the shader numbers them in 32 bits, and at first.
const CALL_MAX: u64 = 1 << 31;
const CALL_FIRST: u64 = 1 << 16;

/// Invocations of a call: as many workgroups as there may be in one dimension.
const NINVOCATIONS_MAX: u64 = GROUP * 65_535;

/// The time that a call should take: a search cannot be interrupted in less.
const CALL_TIME: Duration = Duration::from_millis(50);

/// Calls on their way at once.
const NCALLS: usize = 3;

/// Ranges of fewer nonces of one length are searched by the CPU while a shader would be compiled.
const BY_CPU: u64 = 1 << 18;

/// The longest suffix: systems end a call that takes seconds, and each nonce hashes the suffix.
const SUFFIX_MAX: usize = 1 << 20;

/// How a search on a device ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The nonce to go on with, after a break or an error; `None` if the whole range is done.
    pub next: Option<u64>,
    /// The error that ended the search. All events before it are right.
    pub error: Option<Error>,
}

impl Device {
    /// Tries the nonces of a range, as [`Search::find_all`] does, and calls `on` with those found, in order. The search
    /// ends when the range does, when `on` breaks it, or with an error. `on` is called some twenty times a second.
    ///
    /// The first nonces of each length of nonces, and 64 of each call of the shader, are hashed by the CPU too. A
    /// search with a suffix of more than 1 MiB ends with [`Error::TooSmall`]; the device still works.
    ///
    /// # Panics
    ///
    /// If the range is empty, or if `Search::find` would panic on it.
    pub fn search(
        &self,
        search: &Search<'_>,
        range: RangeInclusive<u64>,
        mut on: impl FnMut(Event) -> ControlFlow<()>,
    ) -> End {
        let (first, last) = range.into_inner();
        assert!(first <= last, "search: the range {first} to {last} is empty");
        let mut next = Some(first);
        let parts = search.parts();
        // Panics if the range has more digits than the nonces.
        let _ = search.find_all(last, last, &mut []);
        if parts.suffix.len() > SUFFIX_MAX {
            let lack = format!("the suffix has {} bytes, at most {SUFFIX_MAX} are possible", parts.suffix.len());
            return End { next, error: Some(Error::TooSmall { device: self.adapter().name.clone(), lack }) };
        }
        let mut panic = None;
        let done = self.guarded(|| {
            let mut state = State { last, next: &mut next, is_over: false, on: &mut on, panic: &mut panic };
            while let (Some(from), false) = (*state.next, state.is_over) {
                let segment = Segment::of(&parts, from);
                let to = segment.last.min(last);
                if to - from < self.by_cpu() / weight(&parts) {
                    by_cpu(search, from, to, &mut state);
                } else {
                    Run::new(self, *search, segment)?.work(from, to, &mut state)?;
                }
            }
            Ok(())
        });
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        End { next, error: done.err() }
    }

    fn by_cpu(&self) -> u64 {
        if self.wrong == Fault::None { BY_CPU } else { 0 }
    }
}

/// The place of a search, and its caller.
struct State<'s, On> {
    last: u64,
    next: &'s mut Option<u64>,
    is_over: bool,
    on: &'s mut On,
    /// A panic of `on`, which goes on when the device's work has ended.
    panic: &'s mut Option<Box<dyn Any + Send>>,
}

impl<On: FnMut(Event) -> ControlFlow<()>> State<'_, On> {
    fn after(&self, nonce: u64) -> Option<u64> {
        (nonce < self.last).then(|| nonce + 1)
    }

    /// Hands out the nonces found up to `to`.
    fn hand_out(&mut self, found: &[u64], to: u64) {
        for &nonce in found {
            *self.next = self.after(nonce);
            self.tell(Event::Found(nonce));
            if self.is_over {
                return;
            }
        }
        *self.next = self.after(to);
        self.tell(Event::Tried(to));
    }

    fn tell(&mut self, event: Event) {
        match catch_unwind(AssertUnwindSafe(|| (self.on)(event))) {
            Ok(flow) => self.is_over = flow.is_break(),
            Err(panic) => (self.is_over, *self.panic) = (true, Some(panic)),
        }
    }
}

/// Searches some nonces on the CPU.
fn by_cpu<On: FnMut(Event) -> ControlFlow<()>>(search: &Search<'_>, from: u64, to: u64, state: &mut State<'_, On>) {
    state.hand_out(&search.all(from, to), to);
}

/// A search among the nonces of one length.
struct Run<'d, 'a> {
    device: &'d Device,
    search: Search<'a>,
    plan: Plan<'a>,
    /// The prefix, hashed.
    hasher: Hasher,
    /// The most significant 32 bits of the target.
    top: u32,
    calls: Box<dyn Calls + 'd>,
    flying: VecDeque<Call>,
}

/// Nonces on their way.
struct Call {
    first: u64,
    count: u64,
    /// The first value of the last digits.
    nskipped: u64,
    ninvocations: u64,
    top: u32,
    /// The first invocation of the samples, their number, and the value of their last digits.
    sampled: (u64, usize, u64),
    place: usize,
}

impl<'d, 'a> Run<'d, 'a> {
    fn new(device: &'d Device, search: Search<'a>, segment: Segment) -> Result<Self, Error> {
        let parts = &search.parts();
        let plan = Plan::new(parts, segment);
        let mut hasher = Hasher::new(parts.algorithm);
        hasher.update(parts.prefix);
        let mut run = Run {
            device,
            search,
            hasher,
            top: top_of_target(parts),
            calls: calls(device, &plan)?,
            flying: VecDeque::new(),
            plan,
        };
        run.self_test()?;
        Ok(run)
    }

    /// Compares the first nonces found with those by the CPU, for a target that one nonce in 16 meets.
    fn self_test(&mut self) -> Result<(), Error> {
        let first = self.plan.segment.first;
        let last = first.saturating_add((4096 / weight(&self.plan.parts)).max(64) - 1).min(self.plan.segment.last);
        let easy = [0x0f, 0xff, 0xff, 0xff];
        let right = self.search.target(Target::first_bytes(&easy)).all(first, last);
        let mut found = Vec::new();
        let mut from = first;
        loop {
            let call = self.begin(from, last, u64::from(u32::MAX), u32::from_be_bytes(easy))?;
            let to = call.first + (call.count - 1);
            found.extend(self.end(call)?.unwrap_or_default());
            if to == last {
                break;
            }
            from = to + 1;
        }
        if found == right {
            return Ok(());
        }
        let check = format!("of the nonces {first} to {last} it finds {}, the CPU {}", found.len(), right.len());
        Err(self.device.found_wrong(self.plan.parts.algorithm, check))
    }

    fn work<On: FnMut(Event) -> ControlFlow<()>>(
        mut self,
        first: u64,
        last: u64,
        state: &mut State<'_, On>,
    ) -> Result<(), Error> {
        let least = (CALL_FIRST / weight(&self.plan.parts)).max(GROUP);
        let (mut from, mut most) = (Some(first), least);
        // When the last calls ended, and their nonces: one may end late, and the next one then early.
        let mut ended = VecDeque::from([(Instant::now(), 0)]);
        loop {
            while let (Some(first), true) = (from, self.flying.len() < NCALLS) {
                let call = self.begin(first, last, most, self.top)?;
                let to = call.first + (call.count - 1);
                from = (to < last).then(|| to + 1);
                self.flying.push_back(call);
            }
            let Some(call) = self.flying.pop_front() else { return Ok(()) };
            let (first, count) = (call.first, call.count);
            let found = match self.end(call)? {
                Some(found) => found,
                // More than there is room for: the same nonces in small calls.
                None => self.again(first, count)?,
            };
            ended.push_back((Instant::now(), count));
            if ended.len() > NCALLS + 1 {
                ended.pop_front();
            }
            let took = ended[ended.len() - 1].0 - ended[0].0;
            let tried: u64 = ended.iter().skip(1).map(|&(_, count)| count).sum();
            let by_time = tried as f64 * CALL_TIME.as_secs_f64() / took.as_secs_f64().max(1e-9);
            let by_room = count as f64 * ROOM as f64 / 4.0 / found.len().max(1) as f64;
            most = (by_time.min(by_room) as u64).clamp(GROUP, (4 * count).clamp(least, CALL_MAX));
            let found = self.low_enough(&found)?;
            state.hand_out(&found, first + (count - 1));
            if state.is_over {
                return Ok(());
            }
        }
    }

    fn again(&mut self, mut first: u64, count: u64) -> Result<Vec<u64>, Error> {
        let last = first + (count - 1);
        let mut all = Vec::new();
        loop {
            // The first and the last invocation may note more than the nonces asked for.
            let call = self.begin(first, last, ROOM as u64 / 2, self.top)?;
            let to = call.first + (call.count - 1);
            let found = self.end(call)?;
            let check = || format!("it noted more than {ROOM} nonces of {ROOM}");
            all.extend(found.ok_or_else(|| self.device.found_wrong(self.plan.parts.algorithm, check()))?);
            if to == last {
                return Ok(all);
            }
            first = to + 1;
        }
    }

    /// Begins a call of at most `most` nonces from `first` on.
    fn begin(&mut self, first: u64, last: u64, most: u64, top: u32) -> Result<Call, Error> {
        let Segment { low_size, high_size, .. } = self.plan.segment;
        let nskipped = first % low_size;
        let place = self.plan.segment.place(first);
        let left = ((high_size - place) * low_size - nskipped).min((last - first).saturating_add(1));
        let most = most.min(CALL_MAX - 2 * low_size).min((NINVOCATIONS_MAX - 1) * low_size);
        // Whole invocations, unless the nonces end before.
        let whole = most.saturating_sub((nskipped + most) % low_size);
        let count = if most >= left {
            left
        } else if whole > 0 {
            whole
        } else {
            most
        };
        let ninvocations = (nskipped + count).div_ceil(low_size);
        let ngroups = ninvocations.div_ceil(GROUP);
        // Another group each time; the last one may have fewer invocations.
        let probe = self.device.any_below(ngroups as usize) as u64;
        let nsampled = (ninvocations - probe * GROUP).min(NSAMPLES as u64) as usize;
        let low = self.device.any_below(low_size as usize) as u64;

        let mut params = vec![0; NHEAD];
        params[..5].copy_from_slice(&[place as u32, ninvocations as u32, top, probe as u32, low as u32]);
        params.extend(self.plan.params(first));
        params.resize(NHEAD + self.plan.nparams(), 0);
        let place = self.calls.begin(&params, ngroups as u32)?;
        Ok(Call { first, count, nskipped, ninvocations, top, sampled: (probe * GROUP, nsampled, low), place })
    }

    /// Waits for a call, and checks its samples. Returns the nonces that it noted, in order; `None` if there was no
    /// room for all.
    fn end(&mut self, call: Call) -> Result<Option<Vec<u64>>, Error> {
        let back = self.calls.end(call.place)?;
        let nfound = back[0] as usize;
        let offsets = if nfound > 0 { self.calls.noted(call.place, nfound.min(ROOM))? } else { Vec::new() };

        let Segment { low_size, .. } = self.plan.segment;
        let start = call.first - call.nskipped;
        let (invocation, nsampled, low) = call.sampled;
        for (i, &sample) in (invocation..).zip(&back[1..=nsampled]) {
            // The last nonces of 64 bits end before an invocation does.
            let Some(nonce) = start.checked_add(i * low_size + low) else { continue };
            if sample != top_of(&self.digest(nonce), self.plan.parts.least_byte_first) {
                return Err(self.wrong(nonce));
            }
        }
        let mut found = Vec::new();
        for offset in offsets.into_iter().map(u64::from) {
            // The shader notes no other offsets; a wrong one must not become a wrong nonce.
            if offset >= call.ninvocations * low_size {
                return Err(self.wrong(call.first));
            }
            found.extend(offset.checked_sub(call.nskipped).filter(|&i| i < call.count).map(|i| call.first + i));
        }
        self.calls.leave(call.place);
        found.sort_unstable();
        found.dedup();
        for &nonce in found.iter().take(NSAMPLES) {
            if top_of(&self.digest(nonce), self.plan.parts.least_byte_first) > call.top {
                return Err(self.wrong(nonce));
            }
        }
        Ok((nfound <= ROOM).then_some(found))
    }

    /// Those of the noted nonces whose whole digest is low enough, by the CPU.
    fn low_enough(&self, noted: &[u64]) -> Result<Vec<u64>, Error> {
        let mut low = Vec::new();
        for &nonce in noted {
            let mut digest = self.digest(nonce);
            if top_of(&digest, self.plan.parts.least_byte_first) > self.top {
                return Err(self.wrong(nonce));
            }
            if self.plan.parts.least_byte_first {
                digest.reverse();
            }
            if self.plan.parts.target.allows(&digest) {
                low.push(nonce);
            }
        }
        Ok(low)
    }

    fn wrong(&self, nonce: u64) -> Error {
        self.device.found_wrong(self.plan.parts.algorithm, format!("the CPU has another digest of the nonce {nonce}"))
    }

    /// The digest of a nonce, by the CPU.
    fn digest(&self, nonce: u64) -> Vec<u8> {
        let mut text: Vec<u8> =
            self.plan.segment.digits(nonce).map(|digit| digit_byte(&self.plan.parts, digit)).collect();
        if !self.plan.parts.least_digit_first {
            text.reverse();
        }
        let mut hasher = self.hasher.clone();
        hasher.update(&text);
        hasher.update(self.plan.parts.suffix);
        let digest = hasher.finalize();
        match self.plan.parts.again {
            Some(again) => hash(again, digest.as_ref()).as_ref().to_vec(),
            None => digest.as_ref().to_vec(),
        }
    }
}

/// The most significant 32 bits of a digest.
fn top_of(digest: &[u8], least_byte_first: bool) -> u32 {
    let n = digest.len();
    if least_byte_first {
        u32::from_le_bytes([digest[n - 4], digest[n - 3], digest[n - 2], digest[n - 1]])
    } else {
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

/// The most significant 32 bits of the target: the highest that it allows.
fn top_of_target(parts: &Parts<'_>) -> u32 {
    (0..32).rev().fold(0, |top: u32, bit| {
        let more = top | 1 << bit;
        if parts.target.allows(&more.to_be_bytes()) { more } else { top }
    })
}
