// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms, the sets of messages, and the goals for each.

use hashloom_sys as sys;

/// The same values as in `c/peer.h`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Algorithm {
    Sha1,
    Sha256,
    Sha512,
    Ripemd160,
}

impl Algorithm {
    pub const ALL: [Algorithm; 4] = [Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512, Algorithm::Ripemd160];

    pub fn name(self) -> &'static str {
        ["sha1", "sha256", "sha512", "ripemd160"][self as usize]
    }

    pub fn digest_len(self) -> usize {
        [20, 32, 64, 20][self as usize]
    }

    pub fn hl(self) -> sys::hl_alg {
        [sys::HL_SHA1, sys::HL_SHA256, sys::HL_SHA512, sys::HL_RIPEMD160][self as usize]
    }

    pub fn crate_algorithm(self) -> hashloom::Algorithm {
        use hashloom::Algorithm as A;
        [A::Sha1, A::Sha256, A::Sha512, A::Ripemd160][self as usize]
    }
}

/// The least and greatest length of `count` messages. Their data stay in the second-level cache, except those of 256
/// KiB.
pub struct Scenario {
    pub name: &'static str,
    pub lengths: (usize, usize),
    pub count: usize,
}

pub const ONE: &str = "one of 16 KiB";
pub const KEYS: &str = "32 bytes";

pub const SCENARIOS: [Scenario; 9] = [
    Scenario { name: "8 to 55 bytes", lengths: (8, 55), count: 4096 },
    Scenario { name: KEYS, lengths: (32, 32), count: 4096 },
    Scenario { name: "41 bytes", lengths: (41, 41), count: 4096 },
    Scenario { name: "64 bytes", lengths: (64, 64), count: 4096 },
    Scenario { name: "1 KiB", lengths: (1 << 10, 1 << 10), count: 1024 },
    Scenario { name: "4 KiB", lengths: (4 << 10, 4 << 10), count: 256 },
    Scenario { name: "16 KiB", lengths: (16 << 10, 16 << 10), count: 64 },
    Scenario { name: "256 KiB", lengths: (256 << 10, 256 << 10), count: 32 },
    Scenario { name: ONE, lengths: (16 << 10, 16 << 10), count: 1 },
];

/// The time that hashloom's is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    BestPeer,
    OpenSsl,
    /// Two kernels of hashloom: that of the named instruction set, and the scalar one.
    Scalar(&'static str),
}

pub struct Goal {
    pub beside: Beside,
    pub at_least: f64,
    pub stretch: Option<f64>,
}

fn goal(beside: Beside, at_least: f64, stretch: impl Into<Option<f64>>) -> Goal {
    Goal { beside, at_least, stretch: stretch.into() }
}

/// The goals of one row of the table. A row without goals is for information.
pub fn goals(algorithm: Algorithm, scenario: &str) -> Vec<Goal> {
    use Algorithm::*;
    use Beside::*;
    match (scenario, algorithm) {
        ("8 to 55 bytes", Sha1) => vec![goal(BestPeer, 2.3, 3.5)],
        ("8 to 55 bytes", Sha256) => vec![goal(BestPeer, 1.4, 1.7)],
        (KEYS, Ripemd160) => vec![goal(Scalar("avx2"), 8.0, None), goal(Scalar("avx512"), 16.0, None)],
        ("64 bytes", Sha1) => vec![goal(BestPeer, 2.3, 2.9)],
        ("64 bytes", Sha256) => vec![goal(BestPeer, 1.5, 1.9)],
        ("64 bytes", Sha512) => vec![goal(BestPeer, 1.35, 1.5)],
        ("1 KiB" | "4 KiB", Sha1 | Sha256 | Sha512) => vec![goal(BestPeer, 1.05, None)],
        ("16 KiB" | "256 KiB", Sha1) => vec![goal(BestPeer, 1.0, 1.1), goal(OpenSsl, 3.7, None)],
        ("16 KiB" | "256 KiB", Sha256) => vec![goal(BestPeer, 1.27, 1.5), goal(OpenSsl, 2.6, None)],
        ("16 KiB" | "256 KiB", Sha512) => vec![goal(BestPeer, 1.0, 1.1), goal(OpenSsl, 3.4, None)],
        (ONE, _) => vec![goal(OpenSsl, 1.0, None)],
        _ => Vec::new(),
    }
}

/// The messages of a scenario, one after the other in one array, as every side takes them.
pub struct Messages {
    pub algorithm: Algorithm,
    /// The common length of all messages, if they have one.
    pub row_len: Option<usize>,
    pub data: &'static [u8],
    pub slices: Vec<&'static [u8]>,
    pub raw: Vec<sys::hl_slice>,
}

impl Messages {
    /// The same messages in every run. The array is never freed.
    pub fn new(algorithm: Algorithm, scenario: &Scenario) -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (least, greatest) = scenario.lengths;
        let lengths: Vec<usize> =
            (0..scenario.count).map(|_| least + random.next() as usize % (greatest - least + 1)).collect();
        let nbytes: usize = lengths.iter().sum();
        // Aligned to a page, so that runs do not differ by the place that the allocator chose.
        let page = 4096;
        let arena: &'static mut [u8] = vec![0; nbytes + page].leak();
        let start = arena.as_ptr().align_offset(page);
        let data = &mut arena[start..start + nbytes];
        for word in data.chunks_mut(8) {
            word.copy_from_slice(&random.next().to_le_bytes()[..word.len()]);
        }
        let data: &'static [u8] = data;
        let mut rest = data;
        let mut slices = Vec::new();
        for length in lengths {
            let (message, behind) = rest.split_at(length);
            slices.push(message);
            rest = behind;
        }
        let raw = slices
            .iter()
            .map(|message| sys::hl_slice { data: message.as_ptr().cast(), nbytes: message.len() })
            .collect();
        Messages { algorithm, row_len: (least == greatest).then_some(least), data, slices, raw }
    }

    pub fn digests_len(&self) -> usize {
        self.slices.len() * self.algorithm.digest_len()
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The lowest bits of a xorshift are its weakest.
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8 ^ self.0 << 40
    }
}
