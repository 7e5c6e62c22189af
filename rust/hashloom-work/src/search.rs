// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is searched for, and the search by one thread.
//!
//! The message of a nonce is a prefix, the nonce, and a suffix. The whole blocks of the prefix are hashed once; from
//! one nonce to the next only its last digits change in the lanes.

use std::fmt;

use hashloom::Algorithm;
use hashloom_sys::HL_DIGEST_MAX_NBYTES;

use crate::ffi;

/// The highest digest that counts. A digest is read as one number; its first byte is the most significant one, unless
/// [`Search::least_byte_first`] reverses the order.
///
/// ```
/// use hashloom_work::Target;
///
/// assert_eq!(Target::zero_bits(12), Target::first_bytes(&[0x00, 0x0f]));
/// assert!(Target::zero_bits(12).allows(&[0x00, 0x0f, 0xff]) && !Target::zero_bits(12).allows(&[0x00, 0x10, 0x00]));
/// let block_0 = Target::compact(0x1d00_ffff).unwrap(); // of Bitcoin
/// assert_eq!(block_0, Target::first_bytes(&[&[0; 4][..], &[0xff; 2], &[0; 26]].concat()));
/// assert_eq!(Target::compact(0x0480_0001), None); // the sign bit
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Target(pub(crate) [u8; HL_DIGEST_MAX_NBYTES]);

impl Target {
    /// Digests whose first `highest.len()` bytes are at most this number; the most significant byte comes first. For
    /// SHA-256, 32 bytes are a whole target; Krist's work is compared with the first 6.
    ///
    /// # Panics
    ///
    /// If there are more than 64 bytes.
    #[must_use]
    pub fn first_bytes(highest: &[u8]) -> Self {
        let mut bytes = [0xff; HL_DIGEST_MAX_NBYTES];
        bytes[..highest.len()].copy_from_slice(highest);
        Target(bytes)
    }

    /// Digests that begin with `nbits` zero bits, as hashcash counts.
    ///
    /// # Panics
    ///
    /// If `nbits` is more than 512.
    #[must_use]
    pub fn zero_bits(nbits: usize) -> Self {
        let mut bytes = [0xff; HL_DIGEST_MAX_NBYTES];
        bytes[..nbits / 8].fill(0);
        if nbits % 8 != 0 {
            bytes[nbits / 8] >>= nbits % 8;
        }
        Target(bytes)
    }

    /// The target in a Bitcoin block header (`nBits`): the lower 23 bits times 256 to the power of the top byte less 3.
    /// `None` if the number is negative, zero, or has more than 256 bits: no header with such bits is valid.
    #[must_use]
    pub fn compact(bits: u32) -> Option<Self> {
        let (exponent, mantissa) = ((bits >> 24) as usize, bits & 0x7f_ffff);
        let mut highest = [0; 32];
        for (i, byte) in mantissa.to_le_bytes().into_iter().enumerate().filter(|&(_, byte)| byte != 0) {
            // Byte i of the mantissa has the weight 256^(exponent - 3 + i); fractions are dropped.
            match (exponent + i).checked_sub(3) {
                None => {}
                Some(weight) => *highest.get_mut(31_usize.checked_sub(weight)?)? = byte,
            }
        }
        let is_negative = bits & 0x80_0000 != 0;
        (!is_negative && highest != [0; 32]).then(|| Target::first_bytes(&highest))
    }

    /// Returns true if a digest is low enough; its most significant byte comes first.
    ///
    /// # Panics
    ///
    /// If there are more than 64 bytes.
    #[must_use]
    pub fn allows(&self, digest: &[u8]) -> bool {
        *digest <= self.0[..digest.len()]
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Target(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// A search for nonces: what is hashed, and which digests count. It borrows its bytes, may be copied, and may be used
/// by any number of threads at once.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_work::{Search, Target};
///
/// // Block 0 of Bitcoin: the first 76 bytes of its header, a nonce of 4 bytes, SHA-256 twice.
/// let mut header = [0; 76];
/// header[0] = 1;
/// header[36..68].copy_from_slice(&[
///     0x3b, 0xa3, 0xed, 0xfd, 0x7a, 0x7b, 0x12, 0xb2, 0x7a, 0xc7, 0x2c, 0x3e, 0x67, 0x76, 0x8f, 0x61, 0x7f, 0xc8,
///     0x1b, 0xc3, 0x88, 0x8a, 0x51, 0x32, 0x3a, 0x9f, 0xb8, 0xaa, 0x4b, 0x1e, 0x5e, 0x4a,
/// ]);
/// header[68..72].copy_from_slice(&1_231_006_505_u32.to_le_bytes());
/// header[72..76].copy_from_slice(&0x1d00_ffff_u32.to_le_bytes());
///
/// let search = Search::new(Algorithm::Sha256, Target::compact(0x1d00_ffff).unwrap())
///     .again(Algorithm::Sha256)
///     .prefix(&header)
///     .width(4)
///     .least_digit_first()
///     .least_byte_first();
/// assert_eq!(search.find(2_083_236_000, 2_083_237_000), Some(2_083_236_893));
///
/// let decimal = Search::new(Algorithm::Sha256, Target::zero_bits(12)).digits(b"0123456789");
/// assert_eq!(decimal.find_all(0, 10_000, &mut [0; 2]), [886, 1039]);
/// ```
#[derive(Clone, Copy)]
pub struct Search<'a>(Parts<'a>);

impl<'a> Search<'a> {
    /// A search whose messages are nonces alone: bytes, the most significant first, without zeros in front.
    ///
    /// # Panics
    ///
    /// If there is no search with the algorithm: see [`Search::takes`].
    #[must_use]
    pub fn new(algorithm: Algorithm, target: Target) -> Self {
        assert!(Self::takes(algorithm), "Search::new: there is no search with {algorithm}");
        Search(Parts {
            algorithm,
            again: None,
            prefix: &[],
            suffix: &[],
            digits: &[],
            width: None,
            least_digit_first: false,
            least_byte_first: false,
            target,
        })
    }

    /// Whether a search with the algorithm is possible: not with a sponge, which is SHA-3 or SHAKE.
    pub fn takes(algorithm: Algorithm) -> bool {
        ffi::is_searchable(algorithm)
    }

    /// Hashes each digest once more; the second digest counts.
    ///
    /// # Panics
    ///
    /// As [`Search::new`].
    #[must_use]
    pub fn again(mut self, algorithm: Algorithm) -> Self {
        assert!(Self::takes(algorithm), "Search::again: there is no search with {algorithm}");
        self.0.again = Some(algorithm);
        self
    }

    /// The bytes before the nonce.
    #[must_use]
    pub fn prefix(mut self, prefix: &'a [u8]) -> Self {
        self.0.prefix = prefix;
        self
    }

    /// The bytes after the nonce.
    #[must_use]
    pub fn suffix(mut self, suffix: &'a [u8]) -> Self {
        self.0.suffix = suffix;
        self
    }

    /// The digits of nonces: `alphabet[i]` stands for `i`, and the base is the number of digits.
    ///
    /// # Panics
    ///
    /// If there are fewer than 2 digits, or more than 256.
    #[must_use]
    pub fn digits(mut self, alphabet: &'a [u8]) -> Self {
        assert!((2..=256).contains(&alphabet.len()), "Search::digits: {} digits", alphabet.len());
        self.0.digits = alphabet;
        self
    }

    /// Every nonce has `ndigits` digits, with zeros in front.
    ///
    /// # Panics
    ///
    /// If `ndigits` is 0 or more than 64.
    #[must_use]
    pub fn width(mut self, ndigits: u32) -> Self {
        assert!((1..=64).contains(&ndigits), "Search::width: {ndigits} digits");
        self.0.width = Some(ndigits);
        self
    }

    /// The least significant digit of a nonce comes first: little endian, if the digits are bytes.
    #[must_use]
    pub fn least_digit_first(mut self) -> Self {
        self.0.least_digit_first = true;
        self
    }

    /// The first byte of a digest is its least significant one, as in Bitcoin.
    #[must_use]
    pub fn least_byte_first(mut self) -> Self {
        self.0.least_byte_first = true;
        self
    }

    /// The parts of the search, for a program that carries it out in another way.
    #[must_use]
    pub fn parts(&self) -> Parts<'a> {
        self.0
    }

    /// The same search for another target.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.0.target = target;
        self
    }

    /// The first nonce from `first` to `last`, both included, whose digest is low enough. The time grows with `last -
    /// first`, and nothing can interrupt a call: search parts of a range, and let threads share the parts.
    ///
    /// # Panics
    ///
    /// If `first` is greater than `last`, if `last` has more digits than [`Search::width`] says, or if prefix and
    /// suffix together have more than 2<sup>61</sup> − 65 bytes.
    #[must_use]
    pub fn find(&self, first: u64, last: u64) -> Option<u64> {
        let mut nonce = [0];
        self.find_all(first, last, &mut nonce).first().copied()
    }

    /// The nonces from `first` to `last`, both included, whose digests are low enough, in order: as many as `nonces`
    /// has room for. If the result is shorter than `nonces`, all were tried; otherwise go on after the last one found.
    ///
    /// # Panics
    ///
    /// As [`Search::find`].
    pub fn find_all<'n>(&self, first: u64, last: u64, nonces: &'n mut [u64]) -> &'n [u64] {
        assert!(first <= last, "Search: nonces {first} to {last}");
        let nfound = ffi::search(&self.0, first, last, nonces);
        &nonces[..nfound]
    }

    /// All such nonces.
    #[doc(hidden)]
    pub fn all(&self, mut first: u64, last: u64) -> Vec<u64> {
        let (mut all, mut room) = (Vec::new(), [0; 1024]);
        loop {
            let found = self.find_all(first, last, &mut room);
            all.extend_from_slice(found);
            match *found {
                [.., nonce] if found.len() == 1024 && nonce < last => first = nonce + 1,
                _ => return all,
            }
        }
    }
}

/// The parts of a [`Search`]: see [`Search::parts`].
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_work::{Parts, Search, Target};
///
/// let search = Search::new(Algorithm::Sha1, Target::zero_bits(20)).prefix(b"1:20:").digits(b"01").width(8);
/// let parts: Parts = search.suffix(b" bits").parts();
/// assert_eq!((parts.algorithm, parts.prefix, parts.width), (Algorithm::Sha1, &b"1:20:"[..], Some(8)));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parts<'a> {
    /// The hash function.
    pub algorithm: Algorithm,
    /// The hash function that hashes each digest once more.
    pub again: Option<Algorithm>,
    /// The bytes before the nonce.
    pub prefix: &'a [u8],
    /// The bytes after the nonce.
    pub suffix: &'a [u8],
    /// The digits of nonces; empty: the numbers 0 to 255.
    pub digits: &'a [u8],
    /// The number of digits of each nonce, if it is fixed.
    pub width: Option<u32>,
    /// The least significant digit comes first.
    pub least_digit_first: bool,
    /// The first byte of a digest is its least significant one.
    pub least_byte_first: bool,
    /// The highest digest that counts.
    pub target: Target,
}
