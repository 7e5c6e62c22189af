// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for nonces.
//!
//! For each number of digits that nonces have, a shader is written in which the place of every digit is a constant. The
//! blocks around the nonce are its parameters; they change when a digit beyond the last ones does. An invocation tries
//! one nonce, and notes it if the most significant 32 bits of the digest are low enough. The CPU hashes each noted
//! nonce again, and compares the whole digest.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hashloom::search::{Parts, Search, Target};
use hashloom::{Algorithm, Hasher, hash};

use crate::device::{Device, Fault, Mapped, map, with_wrong_constant};
use crate::error::Error;
use crate::pass::put;
use crate::shader::{Body, SWAP, list, state_words};

/// Invocations of a workgroup. The first `NSAMPLES` of one group tell their digests' most significant 32 bits.
const GROUP: u64 = 256;
const NSAMPLES: usize = 64;

/// Nonces of a call: at most as many as there are workgroups in one dimension, and at first.
const CALL_MAX: u64 = GROUP * 65_535;
const CALL_FIRST: u64 = 1 << 16;

/// The time that a call should take: a search cannot be interrupted in less.
const CALL_TIME: Duration = Duration::from_millis(50);

/// Calls on their way at once.
const NCALLS: usize = 3;

/// Nonces that a call has room to note.
const ROOM: usize = 1 << 14;

/// Words in the buffer of a call's results: the number of noted nonces, the samples, the nonces.
const NRESULTS: usize = 1 + NSAMPLES + ROOM;

/// Words of a shader's parameters: from, count, top, probe, the state, two blocks.
const NPARAMS: usize = 4 + 16 + 2 * 32;

/// The values of the last digits are numbers below this one.
const INNER_MAX: u64 = 1 << 28;

/// Ranges of fewer nonces of one length are searched by the CPU while a shader would be compiled.
const BY_CPU: u64 = 1 << 18;

/// The longest suffix: systems end a call that takes seconds, and each nonce hashes the suffix.
const SUFFIX_MAX: usize = 1 << 20;

/// An event of a search on a device.
///
/// ```
/// use hashloom_gpu::Event;
///
/// assert_ne!(Event::Found(7), Event::Tried(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// This nonce is found, and the CPU has the same digest. Nonces come in order.
    Found(u64),
    /// All nonces of the range up to this one were tried, and those found were handed out.
    Tried(u64),
}

/// How a search on a device ended.
///
/// ```
/// use hashloom_gpu::End;
///
/// fn is_done(end: &End) -> bool {
///     end.next.is_none() && end.error.is_none()
/// }
/// # let _ = is_done;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The nonce to go on with, after a break or an error; `None` if the whole range is done.
    pub next: Option<u64>,
    /// The error that ended the search. All events before it are right.
    pub error: Option<Error>,
}

impl Device {
    /// Tries the nonces of a range, as [`hashloom::search::Search::find_all`] does, and calls `on` with those found, in
    /// order. The search ends when the range does, when `on` breaks it, or with an error. `on` is called some twenty
    /// times a second.
    ///
    /// The first nonces of each length of nonces, and 64 of each call of the shader, are hashed by the CPU too. A search
    /// with a suffix of more than 1 MiB ends with [`Error::TooSmall`]; the device still works.
    ///
    /// # Panics
    ///
    /// If the range is empty, or if `Search::find` would panic on it.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use hashloom::Algorithm;
    /// use hashloom::search::{Search, Target};
    /// use hashloom_gpu::{Device, Event};
    ///
    /// let Ok(device) = Device::open(None) else { return };
    /// let search = Search::new(Algorithm::Sha256, Target::zero_bits(16)).prefix(b"hello ").digits(b"0123456789");
    /// let mut first = None;
    /// let end = device.search(&search, 0..=u64::MAX, |event| match event {
    ///     Event::Found(nonce) => {
    ///         first = Some(nonce);
    ///         ControlFlow::Break(())
    ///     }
    ///     _ => ControlFlow::Continue(()),
    /// });
    /// assert_eq!((first, end.next), (Some(4361), Some(4362)));
    /// ```
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
        for algorithm in [Some(parts.algorithm), parts.again].into_iter().flatten() {
            if let Err(error) = body_of(algorithm) {
                return End { next, error: Some(error) };
            }
        }
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
                    Run::new(self, &parts, segment)?.work(from, to, &mut state)?;
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

/// The time that a nonce takes; 1 without a suffix.
fn weight(parts: &Parts<'_>) -> u64 {
    1 + parts.suffix.len() as u64 / 64
}

/// Searches some nonces on the CPU.
fn by_cpu<On: FnMut(Event) -> ControlFlow<()>>(search: &Search<'_>, from: u64, to: u64, state: &mut State<'_, On>) {
    state.hand_out(&all(search, from, to), to);
}

fn all(search: &Search<'_>, mut from: u64, to: u64) -> Vec<u64> {
    const AT_ONCE: usize = 1024;
    let (mut all, mut room) = (Vec::new(), [0; AT_ONCE]);
    loop {
        let found = search.find_all(from, to, &mut room);
        all.extend_from_slice(found);
        match found.last() {
            Some(&nonce) if found.len() == AT_ONCE && nonce < to => from = nonce + 1,
            _ => return all,
        }
    }
}

/// The same search with another target.
fn with_target<'a>(parts: &Parts<'a>, target: Target) -> Search<'a> {
    let mut search = Search::new(parts.algorithm, target).prefix(parts.prefix).suffix(parts.suffix);
    if let Some(again) = parts.again {
        search = search.again(again);
    }
    if !parts.digits.is_empty() {
        search = search.digits(parts.digits);
    }
    if let Some(width) = parts.width {
        search = search.width(width);
    }
    if parts.least_digit_first {
        search = search.least_digit_first();
    }
    if parts.least_byte_first {
        search = search.least_byte_first();
    }
    search
}

/// Nonces of one number of digits.
#[derive(Clone, Copy, Debug)]
struct Segment {
    base: u64,
    ndigits: usize,
    first: u64,
    last: u64,
    /// The last digits, which the shader finds; the number of their values.
    ninner: usize,
    size: u64,
}

impl Segment {
    /// The segment of this nonce.
    fn of(parts: &Parts<'_>, nonce: u64) -> Segment {
        let base = if parts.digits.is_empty() { 256 } else { parts.digits.len() as u64 };
        let highest = |n: u32| base.checked_pow(n).map_or(u64::MAX, |past| past - 1);
        let ndigits = parts.width.unwrap_or_else(|| (1..64).find(|&n| highest(n) >= nonce).unwrap_or(64));
        let (mut ninner, mut size) = (0, 1);
        while ninner < ndigits as usize && size * base <= INNER_MAX {
            ninner += 1;
            size *= base;
        }
        let first = if parts.width.is_some() || ndigits == 1 { 0 } else { highest(ndigits - 1) + 1 };
        Segment { base, ndigits: ndigits as usize, first, last: highest(ndigits), ninner, size }
    }

    fn digits(&self, nonce: u64) -> impl Iterator<Item = u64> {
        let (base, mut rest) = (self.base, nonce);
        (0..self.ndigits).map(move |_| {
            let digit = rest % base;
            rest /= base;
            digit
        })
    }
}

/// A search among the nonces of one length.
struct Run<'d, 'a> {
    device: &'d Device,
    parts: Parts<'a>,
    segment: Segment,
    body: &'static Body,
    /// The prefix, hashed.
    hasher: Hasher,
    /// The state after the prefix's whole blocks.
    begin: Vec<u32>,
    /// The blocks that the nonce touches, with zeros for its digits.
    copied: Vec<u8>,
    /// Bytes of the prefix after its whole blocks.
    nrest: usize,
    /// The most significant 32 bits of the target.
    top: u32,
    pipeline: wgpu::ComputePipeline,
    tail: wgpu::Buffer,
    flying: VecDeque<Call>,
    spare: Vec<Buffers>,
}

struct Buffers {
    params: wgpu::Buffer,
    results: wgpu::Buffer,
    readback: wgpu::Buffer,
}

/// Nonces `outer * size + from` and later ones, on their way.
struct Call {
    first: u64,
    count: u64,
    top: u32,
    /// The first nonce of the samples, and their number.
    sampled: (u64, usize),
    buffers: Buffers,
    read: (Mapped, wgpu::SubmissionIndex),
}

impl<'d, 'a> Run<'d, 'a> {
    fn new(device: &'d Device, parts: &Parts<'a>, segment: Segment) -> Result<Self, Error> {
        let body = body_of(parts.algorithm)?;
        let block = body.block_nbytes();
        let nrest = parts.prefix.len() % block;
        let (whole, rest) = parts.prefix.split_at(parts.prefix.len() - nrest);
        let mut hasher = Hasher::new(parts.algorithm);
        hasher.update(parts.prefix);

        // The message from the first block that the nonce touches on.
        let (nonce_end, begun) = (nrest + segment.ndigits, parts.prefix.len() as u64 - nrest as u64);
        let nbytes = nonce_end + parts.suffix.len();
        let mut blocks = vec![0; ((body.nblocks(begun + nbytes as u64) * block as u64) - begun) as usize];
        blocks[..nrest].copy_from_slice(rest);
        blocks[nonce_end..nbytes].copy_from_slice(parts.suffix);
        body.pad(&mut blocks[nbytes..], begun + nbytes as u64);
        let copied = nonce_end.next_multiple_of(block).min(blocks.len());
        let mut tail: Vec<u8> = blocks[copied..].to_vec();
        blocks.truncate(copied);
        let ntail = tail.len() / block;
        tail.chunks_exact_mut(4).for_each(|word| {
            let value = body.word([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&value.to_ne_bytes());
        });
        if tail.is_empty() {
            tail.resize(4, 0);
        }

        let mut text = shader(parts, body, segment, nrest, blocks.len() / block, ntail)?;
        match device.wrong {
            Fault::None => {}
            Fault::Constant => text = with_wrong_constant(&text),
            // The self-test has smaller calls.
            Fault::LargeCalls => {
                text = text.replace("    let top =", "    if params.count > 5000u { h[0] ^= 1u; }\n    let top =");
            }
        }
        let buffer = wgpu::BufferDescriptor {
            label: None,
            size: tail.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let buffer = device.device.create_buffer(&buffer);
        device.queue.write_buffer(&buffer, 0, &tail);
        let mut run = Run {
            device,
            parts: *parts,
            segment,
            body,
            hasher,
            begin: state_after(parts.algorithm, whole)?,
            copied: blocks,
            nrest,
            top: top_of_target(parts),
            pipeline: device.pipeline(&text),
            tail: buffer,
            flying: VecDeque::new(),
            spare: Vec::new(),
        };
        device.check()?;
        run.self_test()?;
        Ok(run)
    }

    /// Compares the first nonces found with those by the CPU, for a target that one nonce in 16 meets.
    fn self_test(&mut self) -> Result<(), Error> {
        let first = self.segment.first;
        let last = first.saturating_add((4096 / weight(&self.parts)).max(64) - 1).min(self.segment.last);
        let easy = [0x0f, 0xff, 0xff, 0xff];
        let right = all(&with_target(&self.parts, Target::first_bytes(&easy)), first, last);
        let mut found = Vec::new();
        let mut from = first;
        loop {
            let call = self.begin(from, last, u64::from(u32::MAX), u32::from_be_bytes(easy));
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
        Err(self.device.found_wrong(self.parts.algorithm, check))
    }

    fn work<On: FnMut(Event) -> ControlFlow<()>>(
        mut self,
        first: u64,
        last: u64,
        state: &mut State<'_, On>,
    ) -> Result<(), Error> {
        let least = (CALL_FIRST / weight(&self.parts)).max(GROUP);
        let (mut from, mut most) = (Some(first), least);
        let mut ended = Instant::now();
        loop {
            while let (Some(first), true) = (from, self.flying.len() < NCALLS) {
                let call = self.begin(first, last, most, self.top);
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
            let took = ended.elapsed();
            ended = Instant::now();
            let by_time = count as f64 * CALL_TIME.as_secs_f64() / took.as_secs_f64().max(1e-9);
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
            let call = self.begin(first, last, ROOM as u64, self.top);
            let to = call.first + (call.count - 1);
            let found = self.end(call)?;
            let check = || format!("it noted more than {ROOM} nonces of {ROOM}");
            all.extend(found.ok_or_else(|| self.device.found_wrong(self.parts.algorithm, check()))?);
            if to == last {
                return Ok(all);
            }
            first = to + 1;
        }
    }

    /// Begins a call of at most `most` nonces from `first` on.
    fn begin(&mut self, first: u64, last: u64, most: u64, top: u32) -> Call {
        let Segment { size, ninner, .. } = self.segment;
        let inner = first % size;
        let count = (size - inner).min(most).min(CALL_MAX).min((last - first).saturating_add(1));
        let ngroups = count.div_ceil(GROUP);
        // Another group each time; the last one may have fewer nonces.
        let probe = self.device.any_below(ngroups as usize) as u64;
        let nsampled = (count - probe * GROUP).min(NSAMPLES as u64) as usize;

        let mut copied = self.copied.clone();
        for (i, digit) in self.segment.digits(first).enumerate().skip(ninner) {
            copied[digit_at(&self.parts, self.segment, self.nrest, i)] = digit_byte(&self.parts, digit);
        }
        let mut params = [0; 4 * NPARAMS];
        let head = [inner as u32, count as u32, top, probe as u32];
        let state = self.begin.iter().copied().chain([0; 16]).take(16);
        let words = copied.chunks_exact(4).map(|bytes| self.body.word([bytes[0], bytes[1], bytes[2], bytes[3]]));
        put(&mut params, head.into_iter().chain(state).chain(words));

        let device = &self.device.device;
        let buffer = |size: usize, usage| {
            let size = 4 * size as u64;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let buffers = self.spare.pop().unwrap_or_else(|| Buffers {
            params: buffer(NPARAMS, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST),
            results: buffer(
                NRESULTS,
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            ),
            readback: buffer(NRESULTS, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
        });
        self.device.queue.write_buffer(&buffers.params, 0, &params);
        let entries = [&buffers.params, &self.tail, &buffers.results];
        let entries =
            [0, 1, 2].map(|i| wgpu::BindGroupEntry { binding: i, resource: entries[i as usize].as_entire_binding() });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&buffers.results, 0, Some(4 * (1 + NSAMPLES as u64)));
        {
            let mut compute = encoder.begin_compute_pass(&Default::default());
            compute.set_pipeline(&self.pipeline);
            compute.set_bind_group(0, &bind_group, &[]);
            compute.dispatch_workgroups(ngroups as u32, 1, 1);
        }
        encoder.copy_buffer_to_buffer(&buffers.results, 0, &buffers.readback, 0, 4 * NRESULTS as u64);
        let submission = self.device.queue.submit([encoder.finish()]);
        let read = (map(&buffers.readback, wgpu::MapMode::Read), submission);
        Call { first, count, top, sampled: (first + probe * GROUP, nsampled), buffers, read }
    }

    /// Waits for a call, and checks its samples. Returns the nonces that it noted, in order; `None` if there was no
    /// room for all.
    fn end(&mut self, call: Call) -> Result<Option<Vec<u64>>, Error> {
        self.device.wait(&call.read.0, &call.read.1)?;
        let view = call.buffers.readback.slice(..).get_mapped_range();
        let word = |i: usize| u32::from_ne_bytes([view[4 * i], view[4 * i + 1], view[4 * i + 2], view[4 * i + 3]]);
        let nfound = word(0) as usize;
        let samples: Vec<u32> = (1..=call.sampled.1).map(word).collect();
        let mut found: Vec<u64> = (0..nfound.min(ROOM)).map(|i| u64::from(word(1 + NSAMPLES + i))).collect();
        drop(view);
        call.buffers.readback.unmap();
        self.spare.push(call.buffers);

        for (nonce, &sample) in (call.sampled.0..).zip(&samples) {
            if sample != top_of(&self.digest(nonce), self.parts.least_byte_first) {
                return Err(self.wrong(nonce));
            }
        }
        let inner = call.first % self.segment.size;
        found.sort_unstable();
        found.dedup();
        for value in &mut found {
            // The shader notes no other values; a wrong one must not become a wrong nonce.
            match value.checked_sub(inner) {
                Some(index) if index < call.count => *value = call.first + index,
                _ => return Err(self.wrong(call.first)),
            }
        }
        for &nonce in found.iter().take(NSAMPLES) {
            if top_of(&self.digest(nonce), self.parts.least_byte_first) > call.top {
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
            if top_of(&digest, self.parts.least_byte_first) > self.top {
                return Err(self.wrong(nonce));
            }
            if self.parts.least_byte_first {
                digest.reverse();
            }
            if self.parts.target.allows(&digest) {
                low.push(nonce);
            }
        }
        Ok(low)
    }

    fn wrong(&self, nonce: u64) -> Error {
        self.device.found_wrong(self.parts.algorithm, format!("the CPU has another digest of the nonce {nonce}"))
    }

    /// The digest of a nonce, by the CPU.
    fn digest(&self, nonce: u64) -> Vec<u8> {
        let mut text: Vec<u8> = self.segment.digits(nonce).map(|digit| digit_byte(&self.parts, digit)).collect();
        if !self.parts.least_digit_first {
            text.reverse();
        }
        let mut hasher = self.hasher.clone();
        hasher.update(&text);
        hasher.update(self.parts.suffix);
        let digest = hasher.finalize();
        match self.parts.again {
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

fn digit_byte(parts: &Parts<'_>, digit: u64) -> u8 {
    parts.digits.get(digit as usize).copied().unwrap_or(digit as u8)
}

/// The place of digit i in the blocks that the nonce touches; digit 0 is the least significant.
fn digit_at(parts: &Parts<'_>, segment: Segment, nrest: usize, i: usize) -> usize {
    nrest + if parts.least_digit_first { i } else { segment.ndigits - 1 - i }
}

/// `Search` takes no other algorithms.
fn body_of(algorithm: Algorithm) -> Result<&'static Body, Error> {
    Body::of(algorithm).ok_or(Error::Unsupported { algorithm })
}

/// The state after whole blocks.
fn state_after(algorithm: Algorithm, blocks: &[u8]) -> Result<Vec<u32>, Error> {
    let unsupported = Error::Unsupported { algorithm };
    let kernel = hashloom::kernels::chosen(algorithm, 1).ok_or(unsupported.clone())?;
    let mut states = kernel.start(algorithm).map_err(|_| unsupported)?;
    if !blocks.is_empty() {
        states.advance(&vec![blocks; kernel.lanes()]);
    }
    Ok(state_words(body_of(algorithm)?, states.words(0)))
}

/// Writes the shader of a search: `ncopied` blocks are touched by the nonce, and `ntail` follow.
fn shader(
    parts: &Parts<'_>,
    body: &Body,
    segment: Segment,
    nrest: usize,
    ncopied: usize,
    ntail: usize,
) -> Result<String, Error> {
    let mut text = String::from(SWAP);
    text += body.source;
    let again = parts.again.map(|again| Ok((again, body_of(again)?))).transpose()?;
    if let Some((_, other)) = again {
        if other.name != body.name {
            text += other.source;
        }
    }
    let _ = write!(
        text,
        "
struct Params {{ first: u32, count: u32, top: u32, probe: u32, words: array<vec4<u32>, {}> }}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tail: array<u32>;
struct Results {{ count: atomic<u32>, samples: array<u32, {NSAMPLES}>, nonces: array<u32, {ROOM}> }}
@group(0) @binding(2) var<storage, read_write> results: Results;
{}
@compute @workgroup_size({GROUP})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
    let index = group.x * {GROUP}u + local;
    if index >= params.count {{ return; }}
    let nonce = params.first + index;
    // As many uses of the buffer as there are bindings.
    let unused = tail[0];
    var rest = nonce;
",
        (NPARAMS - 4) / 4,
        digit_function(parts),
    );
    // The words that the last digits change.
    let mut words: Vec<String> =
        (0..ncopied * body.nwords).map(|i| format!("params.words[{}][{}]", (16 + i) / 4, i % 4)).collect();
    for i in 0..segment.ninner {
        let at = digit_at(parts, segment, nrest, i);
        let shift = if body.is_big_endian { 24 - at % 4 * 8 } else { at % 4 * 8 };
        let base = segment.base;
        let _ = writeln!(text, "    let d{i} = digit(rest % {base}u) << {shift}u;\n    rest = rest / {base}u;");
        words[at / 4] += &format!(" | d{i}");
    }
    let Body { name, nstate, nwords, .. } = *body;
    let begin = list(nstate, |i| format!("params.words[{}][{}]", i / 4, i % 4));
    let _ = writeln!(text, "    var h = array<u32, {nstate}>({begin});");
    for block in words.chunks(nwords) {
        let _ = writeln!(text, "    h = {name}_block(h, array<u32, {nwords}>({}));", block.join(", "));
    }
    if ntail > 0 {
        let block = list(nwords, |i| format!("tail[at + {i}u]"));
        let _ = writeln!(
            text,
            "    for (var at = 0u; at < {}u; at += {nwords}u) {{\n        h = {name}_block(h, array<u32, \
             {nwords}>({block}));\n    }}",
            ntail * nwords
        );
    }
    let (mut last, mut nbytes, mut result) = (body, parts.algorithm.digest_nbytes(), "h");
    if let Some((algorithm, other)) = again {
        let Body { name, nstate, nwords, .. } = *other;
        let mut message = vec![0; other.nblocks(nbytes as u64) as usize * other.block_nbytes()];
        other.pad(&mut message[nbytes..], nbytes as u64);
        let words: Vec<String> = message
            .chunks_exact(4)
            .enumerate()
            .map(|(i, bytes)| match () {
                () if i >= nbytes / 4 => format!("{}u", other.word([bytes[0], bytes[1], bytes[2], bytes[3]])),
                () if other.is_big_endian != body.is_big_endian => format!("swapped(h[{i}])"),
                () => format!("h[{i}]"),
            })
            .collect();
        let begin = other.initial_state(algorithm).ok_or(Error::Unsupported { algorithm })?;
        let _ = writeln!(text, "    var g = array<u32, {nstate}>({});", list(nstate, |i| format!("{}u", begin[i])));
        for block in words.chunks(nwords) {
            let _ = writeln!(text, "    g = {name}_block(g, array<u32, {nwords}>({}));", block.join(", "));
        }
        (last, nbytes, result) = (other, algorithm.digest_nbytes(), "g");
    }
    let word = if parts.least_byte_first { nbytes / 4 - 1 } else { 0 };
    let is_swapped = parts.least_byte_first == last.is_big_endian;
    let top = if is_swapped { format!("swapped({result}[{word}])") } else { format!("{result}[{word}]") };
    let _ = write!(
        text,
        "    let top = {top};
    if group.x == params.probe && local < {NSAMPLES}u {{ results.samples[local] = top; }}
    if top <= params.top {{
        let at = atomicAdd(&results.count, 1u);
        if at < {ROOM}u {{ results.nonces[at] = nonce; }}
    }}
}}
"
    );
    Ok(text)
}

/// The function from the value of a digit to its byte.
fn digit_function(parts: &Parts<'_>) -> String {
    let digits = parts.digits;
    match digits.first() {
        None => "fn digit(x: u32) -> u32 { return x; }".to_owned(),
        Some(&first) if digits.iter().enumerate().all(|(i, &digit)| usize::from(digit) == usize::from(first) + i) => {
            format!("fn digit(x: u32) -> u32 {{ return x + {first}u; }}")
        }
        Some(_) => {
            let n = digits.len();
            let table = list(n, |i| format!("{}u", digits[i]));
            format!(
                "var<private> digits: array<u32, {n}> = array<u32, {n}>({table});\nfn digit(x: u32) -> u32 {{ return \
                 digits[x]; }}"
            )
        }
    }
}
