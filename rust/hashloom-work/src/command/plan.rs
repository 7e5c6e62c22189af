// SPDX-License-Identifier: MIT OR Apache-2.0

//! The plan of a search: the messages, the nonces there are, and the digests that are low enough.

use std::ffi::OsString;

use hashloom::{Algorithm, hash};
use hashloom_frame::json::hex;
use hashloom_frame::json::object_line;
use hashloom_frame::numbers::HexBytes;
use serde::Serialize;

use super::Pow;
use crate::{Search, Target};

/// The digits that a nonce may have: as many as 64 bits have.
const WIDTH_MAX: u32 = 64;

const DECIMAL: &[u8] = b"0123456789";

/// The nonce in a Bitcoin header comes last.
const NONCE_NBYTES: usize = 4;
const HEADER_NBYTES: usize = 80;

/// The cause, if a nonce that was found is not low enough.
const WRONG: &str = "the computer has miscalculated, or hashloom has an error";

/// A search.
pub struct Plan {
    algorithm: Algorithm,
    again: Option<Algorithm>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// Empty: the nonce has bytes.
    digits: Vec<u8>,
    /// The number of digits of each nonce, if it is fixed.
    width: Option<u32>,
    target: Target,
    /// The probability that a digest is low enough.
    pub chance: f64,
    /// The message is a header of Bitcoin: the least significant byte of nonce and digest comes first.
    is_header: bool,
}

/// JSON of `work`: one object for each nonce found.
#[derive(Serialize)]
struct Json {
    /// The number, whatever its digits.
    nonce: u64,
    /// The nonce in the message, unless it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The digest, the most significant byte first.
    digest: String,
    /// The whole header in hexadecimal, with `--bitcoin-header`.
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<String>,
}

impl Plan {
    pub fn of(arguments: &Pow) -> Result<Plan, String> {
        let mut plan = match arguments {
            Pow { bitcoin_header: Some(HexBytes(header)), .. } => Plan::bitcoin(header)?,
            _ => Plan::any(arguments)?,
        };
        if let Some(digits) = &arguments.digits {
            plan.digits = alphabet(digits)?;
        }
        if arguments.binary {
            plan.digits.clear();
        }
        if let Some(width) = arguments.width {
            plan.width = u32::try_from(width).ok().filter(|width| (1..=WIDTH_MAX).contains(width));
            if plan.width.is_none() {
                return Err(format!("--width: expected 1 to {WIDTH_MAX} digits, found {width}"));
            }
        }
        Ok(plan)
    }

    pub fn new(algorithm: Algorithm, prefix: Vec<u8>, (target, chance): (Target, f64)) -> Plan {
        Plan {
            algorithm,
            again: None,
            prefix,
            suffix: Vec::new(),
            digits: DECIMAL.to_vec(),
            width: None,
            target,
            chance,
            is_header: false,
        }
    }

    fn any(arguments: &Pow) -> Result<Plan, String> {
        let last_algorithm = arguments.again.unwrap_or(arguments.algorithm);
        let nbytes = last_algorithm.digest_nbytes();
        let bound = match (arguments.zero_bits, &arguments.target) {
            (Some(nbits), _) => match usize::try_from(nbits) {
                Ok(nbits) if nbits <= 8 * nbytes => zero_bits(nbits),
                _ => return Err(format!("--zero-bits: {last_algorithm} has {} bits, not {nbits}", 8 * nbytes)),
            },
            (None, Some(HexBytes(highest))) if (1..=nbytes).contains(&highest.len()) => first_bytes(highest),
            _ => return Err(format!("--target: expected 1 to {nbytes} bytes: {last_algorithm} has {nbytes}")),
        };
        let bytes = |text: &Option<OsString>, hex: &Option<HexBytes>| match (text, hex) {
            (Some(text), _) => text.as_encoded_bytes().to_vec(),
            (None, Some(HexBytes(bytes))) => bytes.clone(),
            (None, None) => Vec::new(),
        };
        Ok(Plan {
            again: arguments.again,
            suffix: bytes(&arguments.suffix, &arguments.suffix_hex),
            ..Plan::new(arguments.algorithm, bytes(&arguments.prefix, &arguments.prefix_hex), bound)
        })
    }

    pub fn bitcoin(header: &[u8]) -> Result<Plan, String> {
        const NBYTES: usize = HEADER_NBYTES - NONCE_NBYTES;
        let prefix = match header.len() {
            NBYTES | HEADER_NBYTES => &header[..NBYTES],
            other => {
                let expected = format!("expected {HEADER_NBYTES} bytes, or {NBYTES} without the nonce, found {other}");
                return Err(format!("--bitcoin-header: {expected}"));
            }
        };
        // The target is the last field before the nonce.
        let bits = prefix.iter().rev().take(4).fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let target = Target::compact(bits).ok_or_else(|| {
            format!("--bitcoin-header: bits {bits:08x} at byte {}: no target is negative, 0 or above 2^256", NBYTES - 4)
        })?;
        let chance = f64::from(bits & 0x7f_ffff) * 256_f64.powi((bits >> 24) as i32 - 3 - 32);
        Ok(Plan {
            again: Some(Algorithm::Sha256),
            digits: Vec::new(),
            width: Some(NONCE_NBYTES as u32),
            is_header: true,
            ..Plan::new(Algorithm::Sha256, prefix.to_vec(), (target, chance))
        })
    }

    pub fn search(&self) -> Search<'_> {
        let mut search = Search::new(self.algorithm, self.target).prefix(&self.prefix).suffix(&self.suffix);
        if let Some(again) = self.again {
            search = search.again(again);
        }
        if !self.digits.is_empty() {
            search = search.digits(&self.digits);
        }
        if let Some(width) = self.width {
            search = search.width(width);
        }
        if self.is_header {
            search = search.least_digit_first().least_byte_first();
        }
        search
    }

    fn base(&self) -> u64 {
        if self.digits.is_empty() { 256 } else { self.digits.len() as u64 }
    }

    /// Returns the last nonce there is.
    pub fn last(&self) -> u64 {
        self.base().checked_pow(self.width.unwrap_or(WIDTH_MAX)).map_or(u64::MAX, |past| past - 1)
    }

    /// Returns the nonce as it stands in the message.
    fn text(&self, nonce: u64) -> Vec<u8> {
        let base = self.base();
        let (mut text, mut rest) = (Vec::new(), nonce);
        while rest > 0 || text.len() < self.width.unwrap_or(1) as usize {
            let digit = rest % base;
            text.push(self.digits.get(digit as usize).copied().unwrap_or(digit as u8));
            rest /= base;
        }
        if !self.is_header {
            text.reverse();
        }
        text
    }

    /// Returns the digest, its most significant byte first.
    pub fn digest(&self, nonce: u64) -> Vec<u8> {
        let message = [&self.prefix[..], &self.text(nonce), &self.suffix].concat();
        let mut digest = hash(self.algorithm, &message);
        if let Some(again) = self.again {
            digest = hash(again, digest.as_ref());
        }
        let mut bytes = digest.as_ref().to_vec();
        if self.is_header {
            bytes.reverse();
        }
        bytes
    }

    /// Returns the line of a nonce that was found, after a check of its digest by the function for one message.
    pub fn line(&self, nonce: u64, json: bool) -> Result<String, String> {
        let (text, digest) = (self.text(nonce), self.digest(nonce));
        if !self.target.allows(&digest) {
            let digest = hex(&digest);
            return Err(format!("the search found the nonce {nonce}, but its digest {digest} is too high: {WRONG}"));
        }
        // Text has only printable ASCII characters.
        let shown = (!self.digits.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned());
        Ok(if json {
            object_line(&Json {
                nonce,
                text: shown,
                digest: hex(&digest),
                header: self.is_header.then(|| hex(&[&self.prefix[..], &text].concat())),
            })
        } else {
            format!("{}  {}\n", shown.unwrap_or_else(|| nonce.to_string()), hex(&digest))
        })
    }
}

/// Digests whose first bytes are at most `highest`, and their share of all digests.
fn first_bytes(highest: &[u8]) -> (Target, f64) {
    let below = highest.iter().rfold(0.0, |sum, &byte| (f64::from(byte) + sum) / 256.0);
    (Target::first_bytes(highest), below + 256_f64.powi(-(highest.len() as i32)))
}

/// Digests that begin with `nbits` zero bits, and their share of all digests.
pub fn zero_bits(nbits: usize) -> (Target, f64) {
    (Target::zero_bits(nbits), 2_f64.powi(-(nbits as i32)))
}

/// Reads the digits of nonces. A blank or a control character would make lines of the output ambiguous, and two digits
/// alike would give one message to two nonces.
fn alphabet(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.as_bytes();
    if !digits.iter().all(u8::is_ascii_graphic) {
        return Err("--digits: expected printable ASCII characters without blanks; --binary takes all bytes".into());
    }
    if digits.len() < 2 {
        return Err(format!("--digits: expected at least 2 digits, found {}", digits.len()));
    }
    match digits.iter().enumerate().find(|&(i, digit)| digits[..i].contains(digit)) {
        Some((_, &digit)) => Err(format!("--digits: expected each digit once, found {} again", char::from(digit))),
        None => Ok(digits.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The merkle root of block 0.
    const MERKLE: [u8; 32] = [
        0x3b, 0xa3, 0xed, 0xfd, 0x7a, 0x7b, 0x12, 0xb2, 0x7a, 0xc7, 0x2c, 0x3e, 0x67, 0x76, 0x8f, 0x61, 0x7f, 0xc8,
        0x1b, 0xc3, 0x88, 0x8a, 0x51, 0x32, 0x3a, 0x9f, 0xb8, 0xaa, 0x4b, 0x1e, 0x5e, 0x4a,
    ];

    /// A header without a nonce, with the time of block 0.
    fn header(bits: u32) -> [u8; 76] {
        let mut header = [0; 76];
        header[68..72].copy_from_slice(&1_231_006_505_u32.to_le_bytes());
        header[72..].copy_from_slice(&bits.to_le_bytes());
        header
    }

    #[test]
    fn shares_of_all_digests() {
        assert_eq!(zero_bits(20).1, 1.0 / 1_048_576.0);
        assert_eq!(zero_bits(512).1, 2_f64.powi(-512));
        assert_eq!(first_bytes(&[0, 0x0f]), zero_bits(12));
        assert_eq!(first_bytes(&[0xff; 64]).1, 1.0);
        assert_eq!(first_bytes(&[0x80]).1, 129.0 / 256.0);
        let chance = Plan::bitcoin(&header(0x1d00_ffff)).unwrap().chance;
        assert!((chance * 2_f64.powi(32) - 1.0).abs() < 1e-4, "{chance}");
    }

    #[test]
    fn alphabets() {
        assert_eq!(alphabet("01").unwrap(), b"01");
        let all: String = ('!'..='~').collect();
        assert_eq!(alphabet(&all).unwrap().len(), 94);
        for wrong in ["", "0", "00", "010", "0 1", "01\n", "0\u{e4}", "0\u{7f}", "01\0"] {
            assert!(alphabet(wrong).unwrap_err().starts_with("--digits: "), "{wrong:?}");
        }
    }

    #[test]
    fn nonces_as_they_stand_in_messages() {
        let mut plan = Plan::new(Algorithm::Sha1, vec![], zero_bits(0));
        assert_eq!([plan.text(0), plan.text(1_234)], [&b"0"[..], b"1234"]);
        plan.width = Some(6);
        assert_eq!(plan.text(1_234), b"001234");
        plan.digits.clear();
        assert_eq!(plan.text(258), [0, 0, 0, 0, 1, 2]);
        plan.is_header = true;
        assert_eq!(plan.text(258), [2, 1, 0, 0, 0, 0]);
        plan = Plan { width: None, is_header: false, digits: b"ab".to_vec(), ..plan };
        assert_eq!(plan.text(u64::MAX), [b'b'; 64]);
    }

    #[test]
    fn the_last_nonce() {
        let any = || Plan::new(Algorithm::Sha1, vec![], zero_bits(0));
        assert_eq!(any().last(), u64::MAX);
        assert_eq!(Plan { digits: b"ab".to_vec(), ..any() }.last(), u64::MAX);
        assert_eq!(Plan { width: Some(3), ..any() }.last(), 999);
        assert_eq!(Plan { width: Some(20), ..any() }.last(), u64::MAX);
        assert_eq!(Plan { width: Some(8), digits: vec![], ..any() }.last(), u64::MAX);
        assert_eq!(Plan::bitcoin(&header(0x1d00_ffff)).unwrap().last(), u64::from(u32::MAX));
    }

    #[test]
    fn a_nonce_that_is_not_low_enough_is_not_printed() {
        let plan = Plan::new(Algorithm::Sha256, b"k8juvewcui000000abcdef".to_vec(), zero_bits(22));
        assert!(plan.line(474_352, false).unwrap().starts_with("474352  0000022d1cc6"));
        for json in [false, true] {
            assert!(plan.line(474_353, json).unwrap_err().starts_with("the search found the nonce 474353, but "));
        }
        // Reversed orders, and two hashes.
        let block_0 = Plan::bitcoin(&[&[1][..], &[0; 35], &MERKLE, &header(0x1d00_ffff)[68..]].concat()).unwrap();
        assert!(block_0.line(2_083_236_893, false).unwrap().ends_with("1b60a8ce26f\n"));
        assert!(block_0.line(2_083_236_892, false).is_err());
    }
}
