// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of shaders: the block functions that `tools/wgsl/write.py` wrote down, and what is around them.

use std::fmt::Write as _;

use hashloom::Algorithm;

use crate::graph::{Graph, Id, Language, Rate, functions};

/// A block function, as one algorithm uses it.
#[derive(Debug)]
pub(crate) struct Body {
    pub name: &'static str,
    /// The operations of the function.
    source: &'static str,
    /// Words of 32 bits in a state.
    pub nstate: usize,
    /// Words of 32 bits in a block.
    pub nwords: usize,
    /// Words have 64 bits.
    is_wide: bool,
    pub is_big_endian: bool,
    pub ending: Ending,
}

/// How a message ends.
#[derive(Debug)]
pub(crate) enum Ending {
    /// A one bit, zeros, and the message's length (FIPS 180-4 section 5.1).
    Strengthened,
    /// This byte, zeros, and a one bit at the end of the block (FIPS 202 section B.2).
    Sponge(u8),
}

/// Number of [`BODIES`], and of the algorithms.
pub(crate) const NBODIES: usize = Algorithm::ALL.len();

// The most words of 32 bits in a state and in a block; the block functions; and each algorithm's use of one.
// algorithms.py: gpu_bodies
pub(crate) const NSTATE_MAX: usize = 50;
pub(crate) const NWORDS_MAX: usize = 42;

const SHA1: Body = Body {
    name: "sha1",
    source: include_str!("shaders/sha1.ops"),
    nstate: 5,
    nwords: 16,
    is_wide: false,
    is_big_endian: true,
    ending: Ending::Strengthened,
};
const SHA256: Body = Body {
    name: "sha256",
    source: include_str!("shaders/sha256.ops"),
    nstate: 8,
    nwords: 16,
    is_wide: false,
    is_big_endian: true,
    ending: Ending::Strengthened,
};
const SHA512: Body = Body {
    name: "sha512",
    source: include_str!("shaders/sha512.ops"),
    nstate: 16,
    nwords: 32,
    is_wide: true,
    is_big_endian: true,
    ending: Ending::Strengthened,
};
const RIPEMD160: Body = Body {
    name: "ripemd160",
    source: include_str!("shaders/ripemd160.ops"),
    nstate: 5,
    nwords: 16,
    is_wide: false,
    is_big_endian: false,
    ending: Ending::Strengthened,
};
const MD5: Body = Body {
    name: "md5",
    source: include_str!("shaders/md5.ops"),
    nstate: 4,
    nwords: 16,
    is_wide: false,
    is_big_endian: false,
    ending: Ending::Strengthened,
};
const KECCAK: Body = Body {
    name: "keccak",
    source: include_str!("shaders/keccak.ops"),
    nstate: 50,
    nwords: 36,
    is_wide: true,
    is_big_endian: false,
    ending: Ending::Sponge(0x06),
};

static BODIES: [(Algorithm, Body); NBODIES] = [
    (Algorithm::Sha1, SHA1),
    (Algorithm::Sha256, SHA256),
    (Algorithm::Sha224, SHA256),
    (Algorithm::Sha384, SHA512),
    (Algorithm::Sha512, SHA512),
    (Algorithm::Sha512_224, SHA512),
    (Algorithm::Sha512_256, SHA512),
    (Algorithm::Ripemd160, RIPEMD160),
    (Algorithm::Md5, MD5),
    (Algorithm::Sha3_224, Body { nwords: 36, ending: Ending::Sponge(0x06), ..KECCAK }),
    (Algorithm::Sha3_256, Body { nwords: 34, ending: Ending::Sponge(0x06), ..KECCAK }),
    (Algorithm::Sha3_384, Body { nwords: 26, ending: Ending::Sponge(0x06), ..KECCAK }),
    (Algorithm::Sha3_512, Body { nwords: 18, ending: Ending::Sponge(0x06), ..KECCAK }),
    (Algorithm::Shake128, Body { nwords: 42, ending: Ending::Sponge(0x1f), ..KECCAK }),
    (Algorithm::Shake256, Body { nwords: 34, ending: Ending::Sponge(0x1f), ..KECCAK }),
    (Algorithm::Keccak256, Body { nwords: 34, ending: Ending::Sponge(0x01), ..KECCAK }),
];
// algorithms.py: end

impl Body {
    pub fn of(algorithm: Algorithm) -> Option<&'static Body> {
        BODIES.iter().find(|(other, _)| *other == algorithm).map(|(_, body)| body)
    }

    /// The place in [`BODIES`] of the first one that has the same function and the same blocks, and hence the same
    /// shader.
    pub fn index(&self) -> usize {
        BODIES.iter().position(|(_, body)| (body.name, body.nwords) == (self.name, self.nwords)).unwrap_or(0)
    }

    /// Runs the block function in a graph, over words of 32 bits.
    pub fn block(&self, graph: &mut Graph, state: &[Id], words: &[Id]) -> Vec<Id> {
        graph.block(self.source, self.is_wide, self.is_big_endian, state, words)
    }

    /// Operations of the block function on words, without loads and constants.
    pub fn noperations(&self) -> usize {
        let is_one = |line: &&str| !["#", "state", "word", "constant", "out"].iter().any(|no| line.starts_with(no));
        self.source.lines().filter(is_one).count()
    }

    pub fn block_nbytes(&self) -> usize {
        4 * self.nwords
    }

    /// The word of these bytes of a message.
    pub fn word(&self, bytes: [u8; 4]) -> u32 {
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The bytes of a word of a digest.
    pub fn bytes(&self, word: u32) -> [u8; 4] {
        if self.is_big_endian { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    /// Writes the padding of a message of `nbytes` bytes; `padding` is from the message's end to that of its last
    /// block.
    pub fn pad(&self, padding: &mut [u8], nbytes: u64) {
        padding.fill(0);
        let (end, nbits) = (padding.len(), 8 * nbytes);
        match self.ending {
            Ending::Strengthened => {
                padding[0] = 0x80;
                let bytes = if self.is_big_endian { nbits.to_be_bytes() } else { nbits.to_le_bytes() };
                padding[end - 8..].copy_from_slice(&bytes);
            }
            Ending::Sponge(suffix) => {
                padding[0] = suffix;
                padding[end - 1] |= 0x80;
            }
        }
    }

    /// Blocks of a message of `nbytes` bytes, with its padding.
    pub fn nblocks(&self, nbytes: u64) -> u64 {
        let length_nbytes = match self.ending {
            Ending::Strengthened => self.block_nbytes() as u64 / 8,
            Ending::Sponge(_) => 0,
        };
        (nbytes + length_nbytes) / self.block_nbytes() as u64 + 1
    }

    /// The initial state of one of the body's algorithms, in words of 32 bits, from the core's own table.
    pub fn initial_state(&self, algorithm: Algorithm) -> Option<Vec<u32>> {
        let states = hashloom::kernels::chosen(algorithm, 1)?.start(algorithm).ok()?;
        Some(state_words(self, states.words(0)))
    }
}

/// Words of a state, each as large as the algorithm's, in words of 32 bits: the halves of each word in the order that
/// they have in a message.
pub(crate) fn state_words(body: &Body, words: impl Iterator<Item = u64>) -> Vec<u32> {
    words
        .flat_map(|word| {
            let (high, low) = ((word >> 32) as u32, word as u32);
            match (body.is_wide, body.is_big_endian) {
                (false, _) => vec![low],
                (true, true) => vec![high, low],
                (true, false) => vec![low, high],
            }
        })
        .collect()
}

/// Formats a list: `f(0), f(1), ...`.
pub(crate) fn list(n: usize, f: impl Fn(usize) -> String) -> String {
    (0..n).map(f).collect::<Vec<_>>().join(", ")
}

/// Writes the block function. In WGSL it takes and returns words of 32 bits; in CUDA C it changes them.
pub(crate) fn block_function(body: &Body, language: Language) -> String {
    let Body { name, nstate, nwords, .. } = *body;
    let mut graph = Graph::default();
    let state: Vec<Id> = (0..nstate).map(|i| graph.named(format!("h[{i}]"), 32, Rate::Round)).collect();
    let words: Vec<Id> = (0..nwords).map(|i| graph.named(format!("w[{i}]"), 32, Rate::Round)).collect();
    let new = body.block(&mut graph, &state, &words);
    let text = graph.write(language, "v", &new, |_| String::new());
    if language == Language::Cuda {
        let stores: String = (0..nstate).map(|i| format!("    h[{i}] = {};\n", text.results[i])).collect();
        let head = format!("static __device__ void {name}_block(uint32_t *h, const uint32_t *w)");
        return format!("{head}\n{{\n{}{stores}}}\n", text.inside);
    }
    format!(
        "fn {name}_block(h: array<u32, {nstate}>, w: array<u32, {nwords}>) -> array<u32, {nstate}> {{\n{}    return \
         array<u32, {nstate}>({});\n}}\n",
        text.inside,
        text.results.join(", ")
    )
}

/// The shader that hashes blocks.
pub(crate) fn blocks(body: &Body, language: Language) -> String {
    let Body { name, nstate, nwords, .. } = *body;
    let nbegin = nstate.div_ceil(4);
    let mut text = format!(
        "const NBEGIN = {nbegin}u;\nconst NWORDS = {nwords}u;\nalias State = array<u32, {nstate}>;\nalias Block = \
         array<u32, {nwords}>;\n{}{}",
        functions(language),
        block_function(body, language)
    );
    let from_bytes = if body.is_big_endian { "swapped(x)" } else { "x" };
    let tile = list(nwords, |i| format!("tile[at + {i}u]"));
    let begin = list(nstate, |i| format!("params.begin[{}][{}]", i / 4, i % 4));
    let load = list(nstate, |i| format!("states[{i}u * params.stride + lane]"));
    let _ = write!(
        text,
        "
fn block(h: State, w: Block) -> State {{ return {name}_block(h, w); }}
fn from_bytes(x: u32) -> u32 {{ return {from_bytes}; }}
fn block_of_tile(at: u32) -> Block {{ return Block({tile}); }}
fn begin_state() -> State {{ return State({begin}); }}
fn state_of(lane: u32) -> State {{ return State({load}); }}
fn set_state(lane: u32, h: State) {{
"
    );
    for i in 0..nstate {
        let _ = writeln!(text, "    states[{i}u * params.stride + lane] = h[{i}];");
    }
    text + "}\n" + include_str!("shaders/blocks.wgsl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_messages() {
        for &algorithm in Algorithm::ALL {
            let body = Body::of(algorithm).unwrap();
            assert_eq!(body.block_nbytes(), algorithm.block_nbytes());
            let block = algorithm.block_nbytes() as u64;
            let ending = match body.ending {
                Ending::Strengthened => block / 8 + 1,
                Ending::Sponge(_) => 1,
            };
            assert_eq!(body.nblocks(0), 1);
            assert_eq!(body.nblocks(block - ending), 1);
            assert_eq!(body.nblocks(block - ending + 1), 2);
            assert_eq!(body.nblocks(2 * block - ending), 2);
            assert_eq!(body.initial_state(algorithm).unwrap().len(), body.nstate);
        }
    }

    #[test]
    fn block_functions_over_constants() {
        for &algorithm in Algorithm::ALL {
            let body = Body::of(algorithm).unwrap();
            let mut message = vec![0; body.block_nbytes()];
            message[..3].copy_from_slice(b"abc");
            body.pad(&mut message[3..], 3);
            let mut graph = Graph::default();
            let mut constants = |words: Vec<u32>| -> Vec<Id> {
                words.into_iter().map(|word| graph.constant(u64::from(word), 32)).collect()
            };
            let state = constants(body.initial_state(algorithm).unwrap());
            let words = message.chunks_exact(4).map(|bytes| body.word([bytes[0], bytes[1], bytes[2], bytes[3]]));
            let words = constants(words.collect());
            let new = body.block(&mut graph, &state, &words);
            let digest: Vec<u8> = graph.values(&new, &[]).into_iter().flat_map(|word| body.bytes(word)).collect();
            assert_eq!(digest[..algorithm.digest_nbytes()], *hashloom::hash(algorithm, b"abc").as_ref(), "{algorithm}");
        }
    }

    #[test]
    fn padding() {
        let body = Body::of(Algorithm::Sha1).unwrap();
        let mut padding = [1; 61];
        body.pad(&mut padding, 3);
        assert_eq!((padding[0], padding[60], padding[59]), (0x80, 24, 0));
        let body = Body::of(Algorithm::Sha3_256).unwrap();
        body.pad(&mut padding, 75);
        assert_eq!((padding[0], padding[1], padding[60]), (0x06, 0, 0x80));
        body.pad(&mut padding[..1], 135);
        assert_eq!(padding[0], 0x86);
    }

    #[test]
    fn one_shader_for_equal_blocks() {
        let index = |algorithm| Body::of(algorithm).unwrap().index();
        assert_eq!(index(Algorithm::Sha3_256), index(Algorithm::Shake256));
        assert_ne!(index(Algorithm::Sha3_256), index(Algorithm::Sha3_224));
        assert_eq!(index(Algorithm::Sha224), index(Algorithm::Sha256));
    }
}
