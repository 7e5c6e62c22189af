// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a search among nonces of one length hashes, and the text of its shader.
//!
//! The last digits of a nonce are the round of an invocation's loop: their words come from a table, the same for all
//! invocations. The digits before are the invocation's number, divided once before the loop. The rest of the message is
//! that of the call: the CPU computes whatever depends on nothing else, such as the rounds before the nonce's word.

use std::fmt::Write as _;

use hashloom::Algorithm;
use hashloom_sys as sys;
use hashloom_work::{Parts, Search};

use crate::graph::{Graph, Id, Language, Rate, Text, functions};
use crate::shader::{Body, block_function, list, state_words};

/// Invocations of a workgroup. The first `NSAMPLES` of one group tell their digests' most significant 32 bits.
pub(crate) const GROUP: u64 = 256;
pub(crate) const NSAMPLES: usize = 64;

/// Nonces that a call has room to note.
pub(crate) const ROOM: usize = 1 << 14;

/// Words of a shader's parameters before those that the graph asks for.
pub(crate) const NHEAD: usize = 8;

/// Values of the last digits, at most.
const TABLE_MAX: u64 = 1024;

/// Values of the digits before, at most: numbers of 32 bits.
const HIGH_MAX: u64 = 1 << 32;

/// Blocks from the nonce on, if they are no more, are written out. Later ones go through a loop.
const NBLOCKS_MAX: usize = 3;

/// The time that a nonce takes; 1 without a suffix.
pub(crate) fn weight(parts: &Parts<'_>) -> u64 {
    1 + parts.suffix.len() as u64 / 64
}

pub(crate) fn digit_byte(parts: &Parts<'_>, digit: u64) -> u8 {
    parts.digits.get(digit as usize).copied().unwrap_or(digit as u8)
}

/// Nonces of one number of digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    base: u64,
    ndigits: usize,
    pub first: u64,
    pub last: u64,
    /// The last digits, which are in the table; the number of their values.
    nlow: usize,
    pub low_size: u64,
    /// The digits before, which the shader divides; the number of their values.
    nhigh: usize,
    pub high_size: u64,
}

impl Segment {
    /// The segment of this nonce.
    pub fn of(parts: &Parts<'_>, nonce: u64) -> Segment {
        let base = if parts.digits.is_empty() { 256 } else { parts.digits.len() as u64 };
        let highest = |n: u32| base.checked_pow(n).map_or(u64::MAX, |past| past - 1);
        let ndigits = parts.width.unwrap_or_else(|| (1..64).find(|&n| highest(n) >= nonce).unwrap_or(64));
        let first = if parts.width.is_some() || ndigits == 1 { 0 } else { highest(ndigits - 1) + 1 };
        let last = highest(ndigits);
        let ndigits = ndigits as usize;
        let most = |of: usize, limit: u64| {
            let (mut n, mut size) = (0, 1);
            while n < of && size * base <= limit {
                (n, size) = (n + 1, size * base);
            }
            (n, size)
        };
        // A long suffix makes a nonce take long, and an invocation should not.
        let (nlow, low_size) = most(ndigits, TABLE_MAX / weight(parts));
        let (nhigh, high_size) = most(ndigits - nlow, HIGH_MAX);
        Segment { base, ndigits, first, last, nlow, low_size, nhigh, high_size }
    }

    /// The value of the digits that the shader divides.
    pub fn place(&self, nonce: u64) -> u64 {
        nonce / self.low_size % self.high_size
    }

    pub fn digits(&self, nonce: u64) -> impl Iterator<Item = u64> {
        let (base, mut rest) = (self.base, nonce);
        (0..self.ndigits).map(move |_| {
            let digit = rest % base;
            rest /= base;
            digit
        })
    }
}

/// A search among the nonces of one length.
pub(crate) struct Plan<'a> {
    pub parts: Parts<'a>,
    pub segment: Segment,
    body: &'static Body,
    /// The state after the prefix's whole blocks.
    begin: Vec<u32>,
    /// The blocks that are written out, with zeros for the nonce's digits.
    blocks: Vec<u8>,
    /// The words of the blocks after these.
    pub tail: Vec<u32>,
    /// Bytes of the prefix after its whole blocks.
    nrest: usize,
    graph: Graph,
    /// The words of the last digits, by their place in the blocks; what the graph asks for of the table.
    low_words: Vec<usize>,
    table: Vec<Id>,
    /// The state before the tail, if there is one, or the digest's most significant 32 bits.
    results: Vec<Id>,
    /// What the graph asks for.
    params: Vec<Id>,
    nparams: usize,
}

impl<'a> Plan<'a> {
    pub fn new(parts: &Parts<'a>, segment: Segment) -> Self {
        let body = Body::of(parts.algorithm);
        let block = body.block_nbytes();
        let nrest = parts.prefix.len() % block;
        let (whole, rest) = parts.prefix.split_at(parts.prefix.len() - nrest);

        // The message from the first block that the nonce touches on.
        let (nonce_end, begun) = (nrest + segment.ndigits, whole.len() as u64);
        let nbytes = nonce_end + parts.suffix.len();
        let mut blocks = vec![0; ((body.nblocks(begun + nbytes as u64) * block as u64) - begun) as usize];
        blocks[..nrest].copy_from_slice(rest);
        blocks[nonce_end..nbytes].copy_from_slice(parts.suffix);
        body.pad(&mut blocks[nbytes..], begun + nbytes as u64);
        let touched = nonce_end.next_multiple_of(block).min(blocks.len());
        let nwritten = if blocks.len() <= NBLOCKS_MAX * block { blocks.len() } else { touched };
        let tail = words_of(body, &blocks[nwritten..]);
        blocks.truncate(nwritten);

        let mut plan = Plan {
            parts: *parts,
            segment,
            body,
            begin: state_after(parts.algorithm, whole),
            blocks,
            tail,
            nrest,
            graph: Graph::default(),
            low_words: vec![],
            table: vec![],
            results: vec![],
            params: vec![],
            nparams: 0,
        };
        let places = (0..segment.nlow).map(|i| plan.digit_at(i) / 4);
        plan.low_words = places.collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let mut graph = Graph::default();
        let state = plan.state(&mut graph, nbytes);
        plan.results = if plan.tail.is_empty() { vec![plan.top(&mut graph, &state)] } else { state };
        plan.params = graph.known(&plan.results, Rate::Call);
        plan.table = graph.known(&plan.results, Rate::Table);
        plan.nparams = graph.nwords(&plan.params);
        plan.graph = graph;
        plan
    }

    /// The place of digit i in the blocks; digit 0 is the least significant.
    fn digit_at(&self, i: usize) -> usize {
        self.nrest + if self.parts.least_digit_first { i } else { self.segment.ndigits - 1 - i }
    }

    fn shift(&self, at: usize) -> usize {
        if self.body.is_big_endian { 24 - at % 4 * 8 } else { at % 4 * 8 }
    }

    /// The state after the blocks that are written out; the message has `nbytes` bytes from their begin on.
    fn state(&self, graph: &mut Graph, nbytes: usize) -> Vec<Id> {
        let Segment { nlow, nhigh, .. } = self.segment;
        let mut words: Vec<Id> = words_of(self.body, &self.blocks)
            .into_iter()
            .enumerate()
            // Padding depends on lengths alone, as the text does.
            .map(
                |(i, word)| {
                    if 4 * i < nbytes { graph.given(i, Rate::Call) } else { graph.constant(u64::from(word), 32) }
                },
            )
            .collect();
        for i in nlow..nlow + nhigh {
            let digit = graph.named(format!("d{i}"), 32, Rate::Invocation);
            let word = &mut words[self.digit_at(i) / 4];
            *word = graph.xor(*word, digit);
        }
        for (i, &at) in self.low_words.iter().enumerate() {
            let last = graph.given(i, Rate::Table);
            words[at] = graph.xor(words[at], last);
        }
        let first = self.blocks.len() / 4;
        let mut state: Vec<Id> = (first..first + self.body.nstate).map(|i| graph.given(i, Rate::Call)).collect();
        for block in words.chunks(self.body.nwords) {
            state = self.body.block(graph, &state, block);
        }
        state
    }

    /// The most significant 32 bits of the digest.
    fn top(&self, graph: &mut Graph, state: &[Id]) -> Id {
        let (mut last, mut nbytes, mut result) = (self.body, self.parts.algorithm.digest_nbytes(), state.to_vec());
        if let Some(algorithm) = self.parts.again {
            let other = Body::of(algorithm);
            let mut message = vec![0; other.nblocks(nbytes as u64) as usize * other.block_nbytes()];
            other.pad(&mut message[nbytes..], nbytes as u64);
            let words: Vec<Id> = words_of(other, &message)
                .into_iter()
                .enumerate()
                .map(|(i, word)| {
                    if i >= nbytes / 4 {
                        graph.constant(u64::from(word), 32)
                    } else if other.is_big_endian != last.is_big_endian {
                        graph.swap(result[i])
                    } else {
                        result[i]
                    }
                })
                .collect();
            result = state_after(algorithm, &[]).into_iter().map(|word| graph.constant(u64::from(word), 32)).collect();
            for block in words.chunks(other.nwords) {
                result = other.block(graph, &result, block);
            }
            (last, nbytes) = (other, algorithm.digest_nbytes());
        }
        let word = result[if self.parts.least_byte_first { nbytes / 4 - 1 } else { 0 }];
        if self.parts.least_byte_first == last.is_big_endian { graph.swap(word) } else { word }
    }

    /// Words of the table: a row for each value of the last digits, then the bytes of the digits.
    pub fn table(&self) -> Vec<u32> {
        let Segment { base, low_size, nlow, .. } = self.segment;
        let mut table = Vec::new();
        for value in 0..low_size {
            let mut words = vec![0; self.low_words.len()];
            for (i, digit) in self.segment.digits(value).enumerate().take(nlow) {
                let at = self.digit_at(i);
                let word = self.low_words.iter().position(|&place| place == at / 4).unwrap_or(0);
                words[word] |= u32::from(digit_byte(&self.parts, digit)) << self.shift(at);
            }
            table.extend(self.graph.values(&self.table, &words));
            table.resize(table.len().next_multiple_of(4), 0);
        }
        table.extend((0..base).map(|digit| u32::from(digit_byte(&self.parts, digit))));
        table.resize(table.len().next_multiple_of(4), 0);
        table
    }

    /// Loads of four words in a row of the table.
    fn nloads(&self) -> u64 {
        self.graph.nwords(&self.table).div_ceil(4) as u64
    }

    /// Words of the parameters behind the head, a multiple of four.
    pub fn nparams(&self) -> usize {
        self.nparams.next_multiple_of(4).max(4)
    }

    /// The parameters of a call whose first nonce this is.
    pub fn params(&self, first: u64) -> Vec<u32> {
        let Segment { nlow, nhigh, .. } = self.segment;
        let mut blocks = self.blocks.clone();
        for (i, digit) in self.segment.digits(first).enumerate().skip(nlow + nhigh) {
            blocks[self.digit_at(i)] = digit_byte(&self.parts, digit);
        }
        let mut given = words_of(self.body, &blocks);
        given.extend(&self.begin);
        self.graph.values(&self.params, &given)
    }

    /// The shader. `language` is one of WGSL's.
    pub fn wgsl(&self, language: Language) -> String {
        let text = self.text(language, |i| format!("params.words[{}][{}]", i / 4, i % 4));
        let (tail, function) = if self.tail.is_empty() {
            ("", String::new())
        } else {
            let binding = "@group(0) @binding(3) var<storage, read> tail: array<u32>;\n";
            (binding, block_function(self.body, language))
        };
        format!(
            "{}{function}
struct Params {{
    first: u32, count: u32, top: u32, probe: u32, probe_round: u32, words: array<vec4<u32>, {}>
}}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
struct Results {{ count: atomic<u32>, samples: array<u32, {NSAMPLES}>, nonces: array<u32, {ROOM}> }}
@group(0) @binding(2) var<storage, read_write> results: Results;
{tail}
@compute @workgroup_size({GROUP})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
    let index = group.x * {GROUP}u + local;
    if index >= params.count {{ return; }}
    let probe = select(0xffffffffu, params.probe_round, group.x == params.probe && local < {NSAMPLES}u);
    var rest = params.first + index;
{}    for (var round = 0u; round < {low_size}u; round++) {{
{}    if top <= params.top {{
        let at = atomicAdd(&results.count, 1u);
        if at < {ROOM}u {{ results.nonces[at] = index * {low_size}u + round; }}
    }}
    if round == probe {{ results.samples[local] = top; }}
    }}
}}
",
            functions(language),
            self.nparams() / 4,
            text.before,
            text.inside,
            low_size = self.segment.low_size,
        )
    }

    /// The same as a kernel of CUDA C, `search`: its parameters are a structure by value, the table, the results, and
    /// the tail.
    pub fn cuda(&self) -> String {
        let text = self.text(Language::Cuda, |i| format!("params.words[{i}]"));
        let function = if self.tail.is_empty() { String::new() } else { block_function(self.body, Language::Cuda) };
        format!(
            "{}{function}
#define NPARAMS {}
#define NTABLE {}
#define NTAIL {}
#define NROUNDS {low_size}u
struct Params {{ uint32_t first, count, top, probe, probe_round, unused[{}], words[NPARAMS]; }};
struct Results {{ uint32_t count, samples[{NSAMPLES}], nonces[{ROOM}]; }};

extern \"C\" __global__ void __launch_bounds__({GROUP})
search(const Params params, const uint4 *__restrict__ table, Results *results, const uint32_t *__restrict__ tail)
{{
    const uint32_t local = threadIdx.x, index = blockIdx.x * {GROUP}u + local;
    if (index >= params.count)
        return;
    const uint32_t probe = blockIdx.x == params.probe && local < {NSAMPLES}u ? params.probe_round : 0xffffffffu;
    uint32_t rest = params.first + index;
{}#pragma unroll 1
    for (uint32_t round = 0; round < NROUNDS; round++) {{
{}    if (top <= params.top) {{
        const uint32_t at = atomicAdd(&results->count, 1u);
        if (at < {ROOM}u)
            results->nonces[at] = index * NROUNDS + round;
    }}
    if (round == probe)
        results->samples[local] = top;
    }}
}}
",
            functions(Language::Cuda),
            self.nparams(),
            self.table().len(),
            self.tail.len(),
            NHEAD - 5,
            text.before,
            text.inside,
            low_size = self.segment.low_size,
        )
    }

    /// What is before the loop and in it, up to the variable `top`.
    fn text(&self, language: Language, param: impl Fn(usize) -> String) -> Text {
        let Body { name, nstate, nwords, .. } = *self.body;
        let declared = if language == Language::Cuda { "const uint32_t" } else { "let" };
        let mut before = String::new();
        let Segment { base, low_size, nlow, nhigh, .. } = self.segment;
        let nloads = self.nloads();
        for i in nlow..nlow + nhigh {
            let shift = self.shift(self.digit_at(i));
            let at = match language {
                Language::Cuda => format!("((const uint32_t *)(table + {}u))[rest % {base}u]", low_size * nloads),
                _ => format!("table[{}u + rest % {base}u / 4u][rest % {base}u % 4u]", low_size * nloads),
            };
            let _ = writeln!(before, "    {declared} d{i} = {at} << {shift}u;");
            let _ = writeln!(before, "    rest = rest / {base}u;");
        }
        let mut inside = format!("    {declared} row = {nloads}u * round;\n");
        let mut text = self.graph.write(language, "v", &self.results, param);
        before += &text.before;
        inside += &text.inside;
        if !self.tail.is_empty() {
            let (results, ntail) = (text.results.join(", "), self.tail.len());
            let _ = if language == Language::Cuda {
                writeln!(
                    inside,
                    "    uint32_t h[{nstate}] = {{{results}}};\n    for (uint32_t at = 0; at < {ntail}u; at += \
                     {nwords}u)\n        {name}_block(h, tail + at);"
                )
            } else {
                let block = list(nwords, |i| format!("tail[at + {i}u]"));
                writeln!(
                    inside,
                    "    var h = array<u32, {nstate}>({results});\n    for (var at = 0u; at < {ntail}u; at += \
                     {nwords}u) {{\n        h = {name}_block(h, array<u32, {nwords}>({block}));\n    }}"
                )
            };
            let mut graph = Graph::default();
            let state: Vec<Id> = (0..nstate).map(|i| graph.named(format!("h[{i}]"), 32, Rate::Round)).collect();
            let top = self.top(&mut graph, &state);
            let after = graph.write(language, "u", &[top], |_| String::new());
            inside += &after.inside;
            text.nrounds += after.nrounds;
            text.results = after.results;
        }
        let _ = writeln!(inside, "    {declared} top = {};", text.results[0]);
        Text { before, inside, ..text }
    }
}

/// A search's shader, for measurements.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct Shader {
    pub wgsl: String,
    /// Without words of 64 bits.
    pub wgsl_pairs: String,
    pub cuda: String,
    /// Operations on words for each nonce, and for each invocation before its loop; those of whole block functions for
    /// each nonce. A rotation or a function of three words is one operation.
    pub noperations: usize,
    pub noperations_before: usize,
    pub noperations_whole: usize,
    /// Nonces of an invocation.
    pub nrounds: u64,
    pub invocations_of_group: u64,
    /// Bytes that come back from a call.
    pub nbytes_back: usize,
    /// The number of the nonce's invocation; the parameters of its call, behind the eight words of the head; the table,
    /// and the tail.
    pub place: u32,
    pub params: Vec<u32>,
    pub table: Vec<u32>,
    pub tail: Vec<u32>,
}

impl Shader {
    /// The shader that tries nonces as long as this one.
    #[doc(hidden)]
    pub fn of_search(search: &Search<'_>, nonce: u64) -> Shader {
        let parts = search.parts();
        let plan = Plan::new(&parts, Segment::of(&parts, nonce));
        let text = plan.text(Language::WgslInt64, |_| String::new());
        let nblocks = (plan.blocks.len() / 4 + plan.tail.len()) / plan.body.nwords;
        let again = parts
            .again
            .map(Body::of)
            .map_or(0, |body| body.noperations() * body.nblocks(parts.algorithm.digest_nbytes() as u64) as usize);
        Shader {
            wgsl: plan.wgsl(Language::WgslInt64),
            wgsl_pairs: plan.wgsl(Language::Wgsl),
            cuda: plan.cuda(),
            noperations: text.nrounds + plan.body.noperations() * plan.tail.len() / plan.body.nwords,
            noperations_before: text.nbefore,
            noperations_whole: plan.body.noperations() * nblocks + again,
            nrounds: plan.segment.low_size,
            invocations_of_group: GROUP,
            nbytes_back: 4 * (1 + NSAMPLES),
            place: plan.segment.place(nonce) as u32,
            params: plan.params(nonce),
            table: plan.table(),
            tail: plan.tail,
        }
    }
}

/// The words of blocks.
fn words_of(body: &Body, blocks: &[u8]) -> Vec<u32> {
    blocks.chunks_exact(4).map(|bytes| body.word([bytes[0], bytes[1], bytes[2], bytes[3]])).collect()
}

/// The state after whole blocks, in words of 32 bits.
#[allow(unsafe_code, reason = "the state of a stream, which only its export tells")]
pub(crate) fn state_after(algorithm: Algorithm, blocks: &[u8]) -> Vec<u32> {
    const HEAD_NBYTES: usize = 16; // before the words, which are big-endian (hashloom.h)
    let body = Body::of(algorithm);
    let word_nbytes = if body.is_wide { 8 } else { 4 };
    let mut stream = std::mem::MaybeUninit::<sys::hl_ctx>::uninit();
    let mut bytes = [0; sys::HL_EXPORT_MAX_NBYTES];
    let mut nbytes = 0;
    // SAFETY: hl_init writes the stream, if it succeeds; data and room are as long as said.
    let statuses = unsafe {
        [
            sys::hl_init(stream.as_mut_ptr(), algorithm as sys::hl_alg),
            sys::hl_update(stream.as_mut_ptr(), blocks.as_ptr().cast(), blocks.len()),
            sys::hl_export(stream.as_ptr(), bytes.as_mut_ptr(), bytes.len(), &mut nbytes),
        ]
    };
    assert_eq!(statuses, [sys::HL_OK; 3], "{algorithm} has streams");
    let words = bytes[HEAD_NBYTES..nbytes - algorithm.block_nbytes()].chunks_exact(word_nbytes);
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    state_words(body, words.map(word))
}
