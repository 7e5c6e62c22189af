// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work of each comparison: calls of hash functions, and the numbers and lengths of messages.

use std::hint::black_box;
use std::sync::OnceLock;

use hashloom_sys as sys;

macro_rules! names {
    ($(#[$about:meta])* $type:ident: $($variant:ident $name:literal,)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(C)]
        pub enum $type { $($variant),+ }

        impl $type {
            pub fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }
        }
    };
}

names! {
    /// The calls that a user makes. `c/peer.h` describes them, by the same values. `Between` is `Many` in a program
    /// that does other work between two calls.
    Call: One "one", Many "many", Rows "rows", Nodes "nodes", Hmac "hmac", HmacKeys "hmac-keys", Stream "stream",
    Parts "parts", Hash160 "hash160", Sha256d "sha256d", Pbkdf2 "pbkdf2", Search "search", Search2 "search",
    Between "between",
}
names! {
    /// The hash functions that take the messages, by the values of `c/peer.h`.
    Hash: Md5 "md5", Sha1 "sha1", Sha256 "sha256", Sha512 "sha512", Ripemd160 "ripemd160", Sha3_256 "sha3-256",
}

/// The same bytes and numbers as in `c/peer.h`.
pub const HMAC_KEY: [u8; 32] = *b"a key of thirty-two random bytes";
pub const PART_LEN: usize = 40;
pub const PBKDF2_NITERATIONS: u32 = 100;

/// The key of message i, where each has its own.
pub fn key_of(i: usize) -> &'static [u8] {
    &b"48 bytes; each key takes a different part of it."[i % 16..][..HMAC_KEY.len()]
}

impl Hash {
    pub fn hl(self) -> sys::hl_alg {
        use sys::*;
        [HL_MD5, HL_SHA1, HL_SHA256, HL_SHA512, HL_RIPEMD160, HL_SHA3_256][self as usize]
    }
}

/// Messages of one length, or of lengths from the least to the greatest.
#[derive(Clone, Copy)]
pub struct Cell {
    pub call: Call,
    pub hash: Hash,
    pub count: usize,
    pub lengths: (usize, usize),
}

/// All messages of a cell.
const MOST_NBYTES: usize = 2 << 20;
/// The lengths of the calls that take messages of different lengths.
const MIXED: (usize, usize) = (8, 55);

/// All cells, or fewer; those of one call and hash function stand together.
pub fn cells(is_quick: bool) -> Vec<Cell> {
    use Hash::*;
    let (lengths, counts) = match is_quick {
        true => (&[8, 64, 200, 16 << 10][..], &[1, 2, 4, 16, 1024][..]),
        false => (&[0, 8, 33, 55, 64, 80, 200, 1 << 10, 16 << 10, 1 << 20][..], &[1, 2, 3, 4, 5, 8, 16, 64, 1024][..]),
    };
    let short: Vec<usize> = lengths.iter().copied().filter(|&nbytes| nbytes <= 1 << 10).collect();
    let few: Vec<usize> = counts.iter().copied().filter(|&count| count <= 64).collect();
    let hashes = &[Md5, Sha1, Sha256, Sha512, Ripemd160, Sha3_256][..];
    let mut cells = Vec::new();
    for (call, hashes, counts, lengths) in [
        (Call::One, hashes, &[1][..], lengths),
        (Call::Many, hashes, counts, lengths),
        (Call::Rows, hashes, counts, &short),
        (Call::Nodes, &[Sha256, Sha3_256], counts, &[64]),
        (Call::Hmac, hashes, counts, lengths),
        (Call::HmacKeys, hashes, counts, lengths),
        (Call::Stream, hashes, &[1], lengths),
        (Call::Parts, hashes, &[1], lengths),
        (Call::Hash160, &[Sha256], counts, &[33, 65]),
        (Call::Sha256d, &[Sha256], counts, &[32, 64, 80]),
        (Call::Pbkdf2, hashes, &few, &[8]),
        (Call::Search, &[Sha1, Sha256], &[64, 1024, 16384], &[40]),
        (Call::Search2, &[Sha256], &[64, 1024, 16384], &[80]),
        (Call::Between, &[Sha256], &[2, 8, 64, 1024], &[64]),
    ] {
        for &hash in hashes {
            for &nbytes in lengths {
                let counts = counts.iter().copied().filter(|count| count * nbytes <= MOST_NBYTES);
                cells.extend(counts.map(|count| Cell { call, hash, count, lengths: (nbytes, nbytes) }));
            }
            if matches!(call, Call::Many | Call::Hmac | Call::HmacKeys) {
                let counts = counts.iter().copied().filter(|&count| count > 1);
                cells.extend(counts.map(|count| Cell { call, hash, count, lengths: MIXED }));
            }
        }
    }
    cells
}

/// The work between two calls: a chain of additions and multiplications, some 100 us.
pub fn work_between() {
    let start = black_box(3_u64);
    black_box((0..75_000_u64).fold(start, |x, i| x.wrapping_mul(x).wrapping_add(i)));
}

/// The messages of a cell, one after the other in one array.
pub struct Messages {
    pub cell: Cell,
    pub data: &'static [u8],
    pub slices: Vec<&'static [u8]>,
    pub raw: Vec<sys::hl_slice>,
}

impl Messages {
    /// The same messages in every run.
    pub fn new(cell: Cell) -> Self {
        let (least, greatest) = cell.lengths;
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let lengths: Vec<usize> =
            (0..cell.count).map(|_| least + random.next() as usize % (greatest - least + 1)).collect();
        let data = &arena()[..lengths.iter().sum()];
        let mut at = 0;
        let slices: Vec<_> = lengths
            .into_iter()
            .map(|length| {
                at += length;
                &data[at - length..at]
            })
            .collect();
        let raw = slices.iter().map(|slice| sys::hl_slice { data: slice.as_ptr().cast(), nbytes: slice.len() });
        Messages { cell, data, raw: raw.collect(), slices }
    }

    pub fn digest_len(&self) -> usize {
        match self.cell.call {
            Call::Hash160 => 20,
            _ => [16, 20, 32, 64, 20, 32][self.cell.hash as usize],
        }
    }
}

/// Random bytes from the start of a page on, so that runs do not differ by the place that the allocator chose.
fn arena() -> &'static [u8] {
    static ARENA: OnceLock<&[u8]> = OnceLock::new();
    ARENA.get_or_init(|| {
        let room = vec![0; MOST_NBYTES + 4096].leak();
        let start = room.as_ptr().align_offset(4096);
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for word in room.chunks_exact_mut(8) {
            word.copy_from_slice(&random.next().to_le_bytes());
        }
        &room[start..start + MOST_NBYTES]
    })
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
