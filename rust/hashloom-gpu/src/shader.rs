// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block functions that `tools/wgsl/write.py` wrote down, as text of shaders.

use hashloom::Algorithm;

use crate::graph::{Graph, Id, Language, Rate};

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
    pub is_wide: bool,
    pub is_big_endian: bool,
}

// The block functions of searches, and each algorithm's one.
// algorithms.py: gpu_bodies
const SHA1: Body = Body {
    name: "sha1",
    source: include_str!("shaders/sha1.ops"),
    nstate: 5,
    nwords: 16,
    is_wide: false,
    is_big_endian: true,
};
const SHA256: Body = Body {
    name: "sha256",
    source: include_str!("shaders/sha256.ops"),
    nstate: 8,
    nwords: 16,
    is_wide: false,
    is_big_endian: true,
};
const SHA512: Body = Body {
    name: "sha512",
    source: include_str!("shaders/sha512.ops"),
    nstate: 16,
    nwords: 32,
    is_wide: true,
    is_big_endian: true,
};
const RIPEMD160: Body = Body {
    name: "ripemd160",
    source: include_str!("shaders/ripemd160.ops"),
    nstate: 5,
    nwords: 16,
    is_wide: false,
    is_big_endian: false,
};
const MD5: Body = Body {
    name: "md5",
    source: include_str!("shaders/md5.ops"),
    nstate: 4,
    nwords: 16,
    is_wide: false,
    is_big_endian: false,
};
const SM3: Body = Body {
    name: "sm3",
    source: include_str!("shaders/sm3.ops"),
    nstate: 8,
    nwords: 16,
    is_wide: false,
    is_big_endian: true,
};

static BODIES: [(Algorithm, Body); 10] = [
    (Algorithm::Sha1, SHA1),
    (Algorithm::Sha256, SHA256),
    (Algorithm::Sha224, SHA256),
    (Algorithm::Sha384, SHA512),
    (Algorithm::Sha512, SHA512),
    (Algorithm::Sha512_224, SHA512),
    (Algorithm::Sha512_256, SHA512),
    (Algorithm::Ripemd160, RIPEMD160),
    (Algorithm::Md5, MD5),
    (Algorithm::Sm3, SM3),
];
// algorithms.py: end

impl Body {
    /// The block function of an algorithm that `Search` takes.
    pub fn of(algorithm: Algorithm) -> &'static Body {
        let found = BODIES.iter().find(|(other, _)| *other == algorithm);
        found.map_or_else(|| unreachable!("there is no search with {algorithm}"), |(_, body)| body)
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

    /// Writes the padding of a message of `nbytes` bytes: a one bit, zeros, and the message's length (FIPS 180-4
    /// section 5.1). `padding` is from the message's end to that of its last block.
    pub fn pad(&self, padding: &mut [u8], nbytes: u64) {
        let (end, nbits) = (padding.len(), 8 * nbytes);
        padding.fill(0);
        padding[0] = 0x80;
        let bytes = if self.is_big_endian { nbits.to_be_bytes() } else { nbits.to_le_bytes() };
        padding[end - 8..].copy_from_slice(&bytes);
    }

    /// Blocks of a message of `nbytes` bytes, with its padding.
    pub fn nblocks(&self, nbytes: u64) -> u64 {
        (nbytes + self.block_nbytes() as u64 / 8) / self.block_nbytes() as u64 + 1
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

#[cfg(test)]
mod tests {
    use hashloom_work::Search;

    use super::*;
    use crate::plan::state_after;

    #[test]
    fn blocks_of_messages() {
        for &algorithm in Algorithm::ALL.iter().filter(|&&algorithm| Search::takes(algorithm)) {
            let body = Body::of(algorithm);
            assert_eq!(body.block_nbytes(), algorithm.block_nbytes());
            let block = algorithm.block_nbytes() as u64;
            let ending = block / 8 + 1;
            assert_eq!(body.nblocks(0), 1);
            assert_eq!(body.nblocks(block - ending), 1);
            assert_eq!(body.nblocks(block - ending + 1), 2);
            assert_eq!(body.nblocks(2 * block - ending), 2);
        }
    }

    #[test]
    fn block_functions_over_constants() {
        for &algorithm in Algorithm::ALL.iter().filter(|&&algorithm| Search::takes(algorithm)) {
            let body = Body::of(algorithm);
            let mut message = vec![0; body.block_nbytes()];
            message[..3].copy_from_slice(b"abc");
            body.pad(&mut message[3..], 3);
            let mut graph = Graph::default();
            let mut constants = |words: Vec<u32>| -> Vec<Id> {
                words.into_iter().map(|word| graph.constant(u64::from(word), 32)).collect()
            };
            let state = constants(state_after(algorithm, &[]));
            let words = message.chunks_exact(4).map(|bytes| body.word([bytes[0], bytes[1], bytes[2], bytes[3]]));
            let words = constants(words.collect());
            let new = body.block(&mut graph, &state, &words);
            // A word's bytes are those of its message's words.
            let bytes = |word: u32| body.word(word.to_ne_bytes()).to_ne_bytes();
            let digest: Vec<u8> = graph.values(&new, &[]).into_iter().flat_map(bytes).collect();
            assert_eq!(digest[..algorithm.digest_nbytes()], *hashloom::hash(algorithm, b"abc").as_ref(), "{algorithm}");
        }
    }

    #[test]
    fn padding() {
        let mut padding = [1; 61];
        Body::of(Algorithm::Sha1).pad(&mut padding, 3);
        assert_eq!((padding[0], padding[60], padding[59]), (0x80, 24, 0));
        Body::of(Algorithm::Md5).pad(&mut padding, 3);
        assert_eq!((padding[0], padding[60], padding[53]), (0x80, 0, 24));
    }
}
