// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms, the sets of messages, and the goals for each.

use std::fs;
use std::sync::Mutex;

use hashloom_sys as sys;

/// A row is a variant, its name, the hash function that takes the messages, and the one whose digest comes out.
macro_rules! algorithms {
    ($($(#[$about:meta])* $variant:ident $name:literal $hash:ident $last:ident,)+) => {
        /// The same values as in `c/peer.h`.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(C)]
        pub enum Algorithm {
            $($(#[$about])* $variant,)+
        }

        impl Algorithm {
            pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),+];

            pub fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }

            /// The hash function that takes the messages.
            pub fn hash(self) -> Algorithm {
                [$(Algorithm::$hash),+][self as usize]
            }

            /// The hash function that takes the messages.
            pub fn crate_algorithm(self) -> hashloom::Algorithm {
                [$(hashloom::Algorithm::$hash),+][self as usize]
            }

            pub fn digest_len(self) -> usize {
                const NBYTES: &[usize] = &[$(hashloom::Algorithm::$last.digest_nbytes()),+];
                NBYTES[self as usize]
            }
        }
    };
}

algorithms! {
    Sha1 "sha1" Sha1 Sha1,
    Sha256 "sha256" Sha256 Sha256,
    Sha512 "sha512" Sha512 Sha512,
    Ripemd160 "ripemd160" Ripemd160 Ripemd160,
    /// HMAC-SHA256 by the key [`HMAC_KEY`].
    HmacSha256 "hmac-sha256" Sha256 Sha256,
    /// RIPEMD-160 of SHA-256: Bitcoin's hash of a public key.
    Hash160 "hash160" Sha256 Ripemd160,
    /// SHA-256 of SHA-256: Bitcoin's hash of a block's header.
    Sha256d "sha256d" Sha256 Sha256,
    Md5 "md5" Md5 Md5,
    Sha3_256 "sha3-256" Sha3_256 Sha3_256,
    Sha3_512 "sha3-512" Sha3_512 Sha3_512,
    /// HMAC by the key [`HMAC_KEY`], as [`Algorithm::HmacSha256`].
    HmacSha1 "hmac-sha1" Sha1 Sha1,
    HmacSha512 "hmac-sha512" Sha512 Sha512,
    HmacRipemd160 "hmac-ripemd160" Ripemd160 Ripemd160,
    HmacMd5 "hmac-md5" Md5 Md5,
    HmacSha3_256 "hmac-sha3-256" Sha3_256 Sha3_256,
    HmacSha3_512 "hmac-sha3-512" Sha3_512 Sha3_512,
}

/// The same bytes as in `c/peer.h`.
pub const HMAC_KEY: [u8; 32] = *b"a key of thirty-two random bytes";

impl Algorithm {
    pub fn is_hmac(self) -> bool {
        self.name().starts_with("hmac-")
    }

    /// The hash function that takes the messages.
    pub fn hl(self) -> sys::hl_alg {
        self.crate_algorithm() as sys::hl_alg
    }

    pub fn scenarios(self) -> impl Iterator<Item = &'static Scenario> {
        SCENARIOS.iter().filter(move |scenario| match scenario.name {
            // RIPEMD-160 is used for hashes of hashes.
            KEYS => self == Algorithm::Ripemd160,
            MILLION => self == Algorithm::HmacSha256,
            PUBLIC_KEYS | LONG_PUBLIC_KEYS => self == Algorithm::Hash160,
            HEADERS => self == Algorithm::Sha256d,
            _ => self.hash() == self,
        })
    }
}

/// The least and greatest length of `count` messages. Their data stay in the second-level cache, except those of 256
/// KiB and the million.
pub struct Scenario {
    pub name: &'static str,
    pub lengths: (usize, usize),
    pub count: usize,
}

const ONE: &str = "one of 16 KiB";
const KEYS: &str = "32 bytes";
const MILLION: &str = "a million of 64 bytes";
const PUBLIC_KEYS: &str = "33 bytes";
const LONG_PUBLIC_KEYS: &str = "65 bytes";
const HEADERS: &str = "80 bytes";

const SCENARIOS: [Scenario; 13] = [
    Scenario { name: "8 to 55 bytes", lengths: (8, 55), count: 4096 },
    Scenario { name: KEYS, lengths: (32, 32), count: 4096 },
    Scenario { name: "41 bytes", lengths: (41, 41), count: 4096 },
    Scenario { name: "64 bytes", lengths: (64, 64), count: 4096 },
    Scenario { name: "1 KiB", lengths: (1 << 10, 1 << 10), count: 1024 },
    Scenario { name: "4 KiB", lengths: (4 << 10, 4 << 10), count: 256 },
    Scenario { name: "16 KiB", lengths: (16 << 10, 16 << 10), count: 64 },
    Scenario { name: "256 KiB", lengths: (256 << 10, 256 << 10), count: 32 },
    Scenario { name: ONE, lengths: (16 << 10, 16 << 10), count: 1 },
    Scenario { name: MILLION, lengths: (64, 64), count: 1_000_000 },
    Scenario { name: PUBLIC_KEYS, lengths: (33, 33), count: 4096 },
    Scenario { name: LONG_PUBLIC_KEYS, lengths: (65, 65), count: 4096 },
    Scenario { name: HEADERS, lengths: (80, 80), count: 4096 },
];

pub struct Goal {
    /// The goal compares with the fastest of the peers whose names begin with this text.
    pub beside: &'static str,
    pub at_least: f64,
    pub stretch: Option<f64>,
}

/// The machines for which goals are set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    Amd,
    Intel,
    /// Of either maker, with the SHA instructions.
    NoAvx512,
}

impl Machine {
    /// `None` on CPUs of other makers, and on systems without `/proc/cpuinfo`.
    pub fn here() -> Option<Machine> {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let made_by = |vendor| info.lines().any(|line| line.starts_with("vendor_id") && line.ends_with(vendor));
        let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let has = |flag| flags.split_whitespace().any(|word| word == flag);
        match () {
            () if !has("avx512f") => (has("avx2") && has("sha_ni")).then_some(Machine::NoAvx512),
            () if made_by("AuthenticAMD") => Some(Machine::Amd),
            () if made_by("GenuineIntel") => Some(Machine::Intel),
            () => None,
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Machine::Amd => "the goals are those for a Zen 4",
            Machine::Intel => "the goals are the ratios that a Granite Rapids had on 2026-11-20",
            Machine::NoAvx512 => "the goals are those for a Zen 3",
        }
    }
}

/// The goals of one row of the table. A row without goals is for information.
pub fn goals(machine: Option<Machine>, algorithm: Algorithm, scenario: &str) -> Vec<Goal> {
    use Algorithm::*;
    use Machine::*;
    let goal = |beside, at_least| vec![Goal { beside, at_least, stretch: None }];
    let Some(machine) = machine else { return Vec::new() };
    if scenario == ONE {
        return goal("OpenSSL", 1.0);
    }
    match (machine, algorithm, scenario) {
        (_, Sha3_256, "64 bytes" | "16 KiB") => return goal("XKCP", 1.05),
        (Amd, Ripemd160, KEYS) => return goal("ecloop", 2.0),
        (Intel, Ripemd160, KEYS) => return goal("ecloop", 1.25),
        (Amd, HmacSha256, MILLION) => return goal("OpenSSL", 6.0),
        (Amd, Hash160, PUBLIC_KEYS) => {
            return [goal("OpenSSL", 8.0), goal("ecloop", 1.9)].into_iter().flatten().collect();
        }
        (Amd, Sha256d, HEADERS) => return goal("OpenSSL", 3.0),
        _ => {}
    }
    let Some(column) =
        ["8 to 55 bytes", "64 bytes", "1 KiB", "16 KiB", "256 KiB"].iter().position(|name| *name == scenario)
    else {
        return Vec::new();
    };
    let (at_least, stretch) = match (machine, algorithm) {
        (Amd, Sha1) => ([2.9, 3.2, 1.35, 1.04, 1.04], Some(1.12)),
        (Amd, Sha256) => ([1.75, 1.9, 1.3, 1.24, 1.24], Some(1.3)),
        (Amd, Sha512) => ([1.4, 1.4, 1.15, 1.03, 1.03], Some(1.1)),
        (NoAvx512, Sha1) => ([1.8, 2.0, 1.4, 1.25, 1.25], None),
        (NoAvx512, Sha256) => ([1.3, 1.6, 1.25, 1.25, 1.25], None),
        (NoAvx512, Sha512) => ([1.15, 1.15, 1.1, 1.05, 1.05], None),
        (Intel, Sha1) => ([3.01, 3.12, 1.32, 1.08, 1.09], None),
        (Intel, Sha256) => ([1.62, 1.29, 1.10, 1.02, 1.02], None),
        (Intel, Sha512) => ([1.28, 1.29, 1.12, 0.98, 0.97], None),
        _ => return Vec::new(),
    };
    // Only messages of 16 KiB and more have a stretch goal.
    vec![Goal { beside: "", at_least: at_least[column], stretch: stretch.filter(|_| column >= 3) }]
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
    /// The same messages in every run.
    pub fn new(algorithm: Algorithm, scenario: &Scenario) -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (least, greatest) = scenario.lengths;
        let lengths: Vec<usize> =
            (0..scenario.count).map(|_| least + random.next() as usize % (greatest - least + 1)).collect();
        let data = arena(lengths.iter().sum());
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

/// Random bytes from the start of a page on, so that runs do not differ by the place that the allocator chose. One
/// array has the messages of all scenarios. It is never freed, so that messages can refer to it.
fn arena(nbytes: usize) -> &'static [u8] {
    static ARENA: Mutex<&[u8]> = Mutex::new(&[]);
    let mut arena = ARENA.lock().expect("one thread");
    if arena.len() < nbytes {
        let page = 4096;
        let room = vec![0; nbytes + page].leak();
        let start = room.as_ptr().align_offset(page);
        let data = &mut room[start..start + nbytes];
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for word in data.chunks_mut(8) {
            word.copy_from_slice(&random.next().to_le_bytes()[..word.len()]);
        }
        *arena = data;
    }
    &arena[..nbytes]
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
