// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of shaders: the block functions that `tools/wgsl/write.py` wrote, and what is around them.

use std::fmt::Write as _;

use hashloom::Algorithm;

/// A block function.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub name: &'static str,
    pub source: &'static str,
    /// Words of 32 bits in a state.
    pub nstate: usize,
    /// Words of 32 bits in a block.
    pub nwords: usize,
    pub is_big_endian: bool,
}

/// Number of block functions.
pub(crate) const NBODIES: usize = 5;

pub(crate) static MD5: Body =
    Body { name: "md5", source: include_str!("shaders/md5.wgsl"), nstate: 4, nwords: 16, is_big_endian: false };
pub(crate) static SHA1: Body =
    Body { name: "sha1", source: include_str!("shaders/sha1.wgsl"), nstate: 5, nwords: 16, is_big_endian: true };
pub(crate) static SHA256: Body =
    Body { name: "sha256", source: include_str!("shaders/sha256.wgsl"), nstate: 8, nwords: 16, is_big_endian: true };
pub(crate) static SHA512: Body =
    Body { name: "sha512", source: include_str!("shaders/sha512.wgsl"), nstate: 16, nwords: 32, is_big_endian: true };
pub(crate) static RIPEMD160: Body = Body {
    name: "ripemd160",
    source: include_str!("shaders/ripemd160.wgsl"),
    nstate: 5,
    nwords: 16,
    is_big_endian: false,
};

// Statics of their own, so that the page in the browser carries only the text that it uses.
static BODIES: [&Body; NBODIES] = [&MD5, &SHA1, &SHA256, &SHA512, &RIPEMD160];

impl Body {
    pub fn of(algorithm: Algorithm) -> Option<&'static Body> {
        match algorithm {
            Algorithm::Md5 => Some(&MD5),
            Algorithm::Sha1 => Some(&SHA1),
            Algorithm::Sha224 | Algorithm::Sha256 => Some(&SHA256),
            Algorithm::Sha384 | Algorithm::Sha512 | Algorithm::Sha512_224 | Algorithm::Sha512_256 => Some(&SHA512),
            Algorithm::Ripemd160 => Some(&RIPEMD160),
            _ => None,
        }
    }

    /// The body's place in [`BODIES`].
    pub fn index(&self) -> usize {
        BODIES.iter().position(|&body| body == self).unwrap_or(0)
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
    /// block (FIPS 180-4 section 5.1).
    pub fn pad(&self, padding: &mut [u8], nbytes: u64) {
        padding.fill(0);
        padding[0] = 0x80;
        let (end, nbits) = (padding.len(), 8 * nbytes);
        let bytes = if self.is_big_endian { nbits.to_be_bytes() } else { nbits.to_le_bytes() };
        padding[end - 8..].copy_from_slice(&bytes);
    }

    /// Blocks of a message of `nbytes` bytes, with its padding.
    pub fn nblocks(&self, nbytes: u64) -> u64 {
        (nbytes + self.nwords as u64 / 2) / self.block_nbytes() as u64 + 1
    }

    /// The initial state of one of the body's algorithms, in words of 32 bits, from the core's own table.
    pub fn initial_state(&self, algorithm: Algorithm) -> Option<Vec<u32>> {
        let states = hashloom::kernels::chosen(algorithm, 1)?.start(algorithm).ok()?;
        Some(state_words(self, states.words(0)))
    }
}

/// Words of a state, each as large as the algorithm's, in words of 32 bits: the high half of each word first.
pub(crate) fn state_words(body: &Body, words: impl Iterator<Item = u64>) -> Vec<u32> {
    words
        .flat_map(|word| {
            let halves = [(word >> 32) as u32, word as u32];
            if body.nwords == 32 { halves.to_vec() } else { vec![halves[1]] }
        })
        .collect()
}

/// Formats a list: `f(0), f(1), ...`.
pub(crate) fn list(n: usize, f: impl Fn(usize) -> String) -> String {
    (0..n).map(f).collect::<Vec<_>>().join(", ")
}

/// Exchanges the bytes of a word.
pub(crate) const SWAP: &str = "
fn swapped(x: u32) -> u32 {
    return (x << 24u) | ((x & 0xff00u) << 8u) | ((x >> 8u) & 0xff00u) | (x >> 24u);
}
";

/// The shader that hashes blocks.
pub(crate) fn blocks(body: &Body) -> String {
    let Body { name, source, nstate, nwords, .. } = *body;
    let mut text = format!(
        "const NSTATE = {nstate}u;\nconst NWORDS = {nwords}u;\nalias State = array<u32, {nstate}>;\nalias Block = \
         array<u32, {nwords}>;\n{SWAP}"
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
    text + "}\n" + source + include_str!("shaders/blocks.wgsl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_messages() {
        for &algorithm in Algorithm::ALL {
            let body = Body::of(algorithm).unwrap();
            assert_eq!(body.block_nbytes(), algorithm.block_nbytes());
            let (block, length) = (algorithm.block_nbytes() as u64, algorithm.block_nbytes() as u64 / 8);
            assert_eq!(body.nblocks(0), 1);
            assert_eq!(body.nblocks(block - length - 1), 1);
            assert_eq!(body.nblocks(block - length), 2);
            assert_eq!(body.nblocks(2 * block - length - 1), 2);
            assert_eq!(body.initial_state(algorithm).unwrap().len(), body.nstate);
        }
    }

    #[test]
    fn padding() {
        let body = Body::of(Algorithm::Sha1).unwrap();
        let mut padding = [1; 61];
        body.pad(&mut padding, 3);
        assert_eq!((padding[0], padding[60], padding[59]), (0x80, 24, 0));
    }
}
