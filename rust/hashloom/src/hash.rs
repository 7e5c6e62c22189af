// SPDX-License-Identifier: MIT OR Apache-2.0
//! The digest of an algorithm chosen at run time: up to 64 bytes, inline.

use core::fmt;
use core::str::FromStr;

use hashloom_sys::HL_DIGEST_MAX_NBYTES;

use crate::{Algorithm, ffi};

/// A digest or a tag, in the byte order of the standard.
///
/// A hash knows its length but not its algorithm, and takes no heap. [`Display`](fmt::Display) writes lower-case
/// hexadecimal, and [`FromStr`] reads both cases. A comparison stops at the first byte that differs. To compare
/// secrets, use [`equal`](crate::equal()) or [`Hmac::verify`](crate::Hmac::verify), whose time does not depend on the
/// bytes.
///
/// ```
/// use hashloom::{Algorithm, Hash, ParseHashError, hash};
///
/// let found = hash(Algorithm::Sha256, b"abc");
/// assert_eq!(found.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// assert_eq!(found, "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD".parse::<Hash>()?);
/// assert_eq!(found, Hash::try_from(found.as_ref())?);
/// assert_eq!(format!("{found:X}")[..4], *"BA78");
/// assert_eq!(Hash::try_from(&[0; 19][..]), Err(ParseHashError::Length { nbytes: 19 }));
/// assert_eq!("ab=".parse::<Hash>(), Err(ParseHashError::Digit { offset: 2 }));
/// # Ok::<(), hashloom::ParseHashError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash {
    bytes: [u8; HL_DIGEST_MAX_NBYTES],
    nbytes: u8,
}

impl Hash {
    /// Makes a digest of `algorithm` whose bytes `write` fills in.
    pub(crate) fn of(algorithm: Algorithm, write: impl FnOnce(&mut [u8])) -> Self {
        Hash::of_length(algorithm.digest_nbytes(), write)
    }

    /// The same for a digest of that length.
    pub(crate) fn of_length(nbytes: usize, write: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = [0; HL_DIGEST_MAX_NBYTES];
        write(&mut bytes[..nbytes]);
        Hash { bytes, nbytes: nbytes as u8 }
    }

    /// The digest of `algorithm` that has these bytes.
    ///
    /// # Panics
    ///
    /// If they are not [`digest_nbytes`](Algorithm::digest_nbytes) bytes. `Hash::try_from` has an error instead.
    #[must_use]
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Self {
        assert!(
            bytes.len() == algorithm.digest_nbytes(),
            "a hash of {} bytes for {algorithm}, whose hashes have {}",
            bytes.len(),
            algorithm.digest_nbytes()
        );
        Hash::of(algorithm, |place| place.copy_from_slice(bytes))
    }

    /// Writes the digits, and hands them to `show`.
    fn hex<R>(&self, digits: &[u8; 16], show: impl FnOnce(&str) -> R) -> R {
        // All digits in one call: lists of checksums print digests, and a call for each byte takes as long as hashing a
        // small file.
        let mut text = [0; 2 * HL_DIGEST_MAX_NBYTES];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.as_ref()) {
            pair[0] = digits[usize::from(byte >> 4)];
            pair[1] = digits[usize::from(byte & 15)];
        }
        // Digits are ASCII.
        show(core::str::from_utf8(&text[..2 * usize::from(self.nbytes)]).unwrap_or(""))
    }
}

/// Whether the bytes are equal, in a time that depends on their number only: for tags and other secrets.
///
/// ```
/// assert!(hashloom::equal(b"tag", b"tag"));
/// assert!(!hashloom::equal(b"tag", b"tap") && !hashloom::equal(b"tag", b"tags"));
/// ```
#[must_use]
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    ffi::equal(a, b)
}

/// Why bytes or text are no [`struct@Hash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseHashError {
    /// No algorithm has hashes of this length. In text, two digits count as a byte, and so does one digit left over.
    Length {
        /// Bytes given.
        nbytes: usize,
    },
    /// A character that is no hexadecimal digit.
    Digit {
        /// Bytes of text before it.
        offset: usize,
    },
}

impl fmt::Display for ParseHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseHashError::Digit { offset } => write!(f, "byte {offset}: expected a hexadecimal digit"),
            ParseHashError::Length { nbytes } => {
                write!(f, "{nbytes} bytes: a hash has ")?;
                let mut lens = [false; HL_DIGEST_MAX_NBYTES + 1];
                Algorithm::ALL.iter().for_each(|algorithm| lens[algorithm.digest_nbytes()] = true);
                let all = lens.iter().enumerate().filter(|(_, is_one)| **is_one);
                for (i, (len, _)) in all.enumerate() {
                    write!(f, "{}{len}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(" bytes")
            }
        }
    }
}

impl core::error::Error for ParseHashError {}

/// The bytes must be as many as a digest of some algorithm has.
impl TryFrom<&[u8]> for Hash {
    type Error = ParseHashError;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        let found = Algorithm::ALL.iter().find(|algorithm| algorithm.digest_nbytes() == bytes.len());
        let algorithm = found.ok_or(ParseHashError::Length { nbytes: bytes.len() })?;
        Ok(Hash::new(*algorithm, bytes))
    }
}

/// Hexadecimal, of either case.
impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.as_bytes();
        let nbytes = text.len().div_ceil(2);
        let mut bytes = [0; HL_DIGEST_MAX_NBYTES];
        // No branch stands between the digits: a list of small files has more digits than the files have bytes. A loop
        // that stops at the first wrong digit took twice as long. A wider type than the digits' makes vector code of
        // this.
        let mut all = 0_u16;
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let (high, low) = (value(pair[0]), value(pair[1]));
            all |= u16::from(high | low);
            *byte = high << 4 | low & 15;
        }
        let has_length = |algorithm: &Algorithm| 2 * algorithm.digest_nbytes() == text.len();
        if all < 16 && Algorithm::ALL.iter().any(has_length) {
            return Ok(Hash { bytes, nbytes: nbytes as u8 });
        }
        let offset = text.iter().position(|byte| !byte.is_ascii_hexdigit());
        Err(offset.map_or(ParseHashError::Length { nbytes }, |offset| ParseHashError::Digit { offset }))
    }
}

/// The value of a hexadecimal digit; above 15 for any other byte.
#[inline]
fn value(digit: u8) -> u8 {
    match (digit.wrapping_sub(b'0'), (digit | 0x20).wrapping_sub(b'a')) {
        (number @ 0..=9, _) => number,
        (_, letter @ 0..=5) => letter + 10,
        _ => u8::MAX,
    }
}

impl AsRef<[u8]> for Hash {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.nbytes)]
    }
}

impl PartialEq<[u8]> for Hash {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_ref() == other
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

impl fmt::LowerHex for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex(b"0123456789abcdef", |text| f.write_str(text))
    }
}

impl fmt::UpperHex for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex(b"0123456789ABCDEF", |text| f.write_str(text))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}
