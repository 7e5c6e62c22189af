// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is searched: the messages, the nonces there are, and the digests that are low enough.

use std::ffi::OsString;

use hashloom::search::{Search, Target};
use hashloom::{Algorithm, hash};
use serde::Serialize;

use super::{Pow, hashcash, krist};
use crate::json::hex;
use crate::sums::quote::quoted;
use crate::tree::{HexBytes, json_line};

/// The digits that a nonce may have: as many as 64 bits have.
const WIDTH_MAX: u64 = 64;

const DECIMAL: &[u8] = b"0123456789";

/// The nonce in a Bitcoin header comes last.
const NONCE_NBYTES: usize = 4;
const HEADER_NBYTES: usize = 80;

/// A search.
pub struct Plan {
    algorithm: Algorithm,
    again: Option<Algorithm>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// Empty: the nonce has bytes.
    digits: Vec<u8>,
    width: Option<u32>,
    least_first: bool,
    target: Target,
    /// The probability that a digest is low enough.
    pub chance: f64,
    /// The last nonce there is.
    pub last: u64,
    shape: Shape,
}

/// What is printed.
#[derive(PartialEq, Eq)]
enum Shape {
    Nonce,
    Stamp,
    Header,
}

#[derive(Serialize)]
struct Json {
    nonce: u64,
    /// The nonce in the message, unless it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<String>,
}

impl Plan {
    pub fn of(arguments: &Pow) -> Result<Plan, String> {
        let mut plan = match arguments {
            Pow { krist: Some(three), .. } => match &three[..] {
                [address, block, work] => Plan::krist(address, block, work)?,
                _ => return Err("--krist: expected ADDRESS, BLOCK and WORK".into()),
            },
            Pow { hashcash: Some(string), bits, .. } => Plan::hashcash(string, *bits)?,
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
            if !(1..=WIDTH_MAX).contains(&width) {
                return Err(format!("--width: expected 1 to {WIDTH_MAX} digits, found {width}"));
            }
            plan.width = Some(width as u32);
            let past = u64::try_from(plan.base()).ok().and_then(|base| base.checked_pow(width as u32));
            plan.last = past.map_or(u64::MAX, |past| past - 1);
        }
        Ok(plan)
    }

    fn new(algorithm: Algorithm, prefix: Vec<u8>, (target, chance): (Target, f64)) -> Plan {
        Plan {
            algorithm,
            again: None,
            prefix,
            suffix: Vec::new(),
            digits: DECIMAL.to_vec(),
            width: None,
            least_first: false,
            target,
            chance,
            last: u64::MAX,
            shape: Shape::Nonce,
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
            _ => return Err(format!("--target: expected 1 to {nbytes} bytes, as many as {last_algorithm} has")),
        };
        let bytes = |text: &Option<OsString>, hex: &Option<HexBytes>| match (text, hex) {
            (Some(text), _) => text.as_encoded_bytes().to_vec(),
            (None, Some(HexBytes(bytes))) => bytes.clone(),
            (None, None) => Vec::new(),
        };
        Ok(Plan {
            again: arguments.again,
            suffix: bytes(&arguments.suffix, &arguments.suffix_hex),
            least_first: arguments.least_first,
            ..Plan::new(arguments.algorithm, bytes(&arguments.prefix, &arguments.prefix_hex), bound)
        })
    }

    pub fn krist(address: &str, block: &str, work: &str) -> Result<Plan, String> {
        let (prefix, highest) = krist::parse(address, block, work)?;
        Ok(Plan::new(Algorithm::Sha256, prefix, first_bytes(&highest)))
    }

    pub fn hashcash(string: &str, nbits: Option<u64>) -> Result<Plan, String> {
        let stamp = hashcash::stamp(string, nbits)?;
        let plan = Plan::new(Algorithm::Sha1, stamp.text.into_bytes(), zero_bits(stamp.nbits));
        Ok(Plan { digits: b"0123456789abcdef".to_vec(), shape: Shape::Stamp, ..plan })
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
            least_first: true,
            last: u32::MAX.into(),
            shape: Shape::Header,
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
        if self.least_first {
            search = search.least_first();
        }
        search
    }

    fn base(&self) -> usize {
        if self.digits.is_empty() { 256 } else { self.digits.len() }
    }

    /// Returns the nonce as it stands in the message.
    fn text(&self, nonce: u64) -> Vec<u8> {
        let base = self.base() as u64;
        let (mut text, mut rest) = (Vec::new(), nonce);
        while rest > 0 || text.len() < self.width.unwrap_or(1) as usize {
            let digit = rest % base;
            text.push(self.digits.get(digit as usize).copied().unwrap_or(digit as u8));
            rest /= base;
        }
        if !self.least_first {
            text.reverse();
        }
        text
    }

    /// Returns the digest in hexadecimal, its most significant byte first.
    pub fn digest(&self, nonce: u64) -> String {
        let message = [&self.prefix[..], &self.text(nonce), &self.suffix].concat();
        let mut digest = hash(self.algorithm, &message);
        if let Some(again) = self.again {
            digest = hash(again, digest.as_ref());
        }
        let mut bytes = digest.as_ref().to_vec();
        if self.least_first {
            bytes.reverse();
        }
        hex(&bytes)
    }

    /// Appends the line of a nonce that was found.
    pub fn write(&self, nonce: u64, json: bool, lines: &mut Vec<u8>) {
        let text = self.text(nonce);
        // Text has only printable ASCII characters.
        let shown = (!self.digits.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned());
        let whole = || [&self.prefix[..], &text].concat();
        let line = if json {
            json_line(&Json {
                nonce,
                text: shown,
                digest: self.digest(nonce),
                stamp: (self.shape == Shape::Stamp).then(|| String::from_utf8_lossy(&whole()).into_owned()),
                header: (self.shape == Shape::Header).then(|| hex(&whole())),
            })
        } else if self.shape == Shape::Stamp {
            format!("{}\n", String::from_utf8_lossy(&whole()))
        } else {
            format!("{}  {}\n", shown.unwrap_or_else(|| nonce.to_string()), self.digest(nonce))
        };
        lines.extend_from_slice(line.as_bytes());
    }

    /// Returns the stamp without its counter, quoted for a shell, if the search is for one.
    pub fn stamp(&self) -> Option<String> {
        (self.shape == Shape::Stamp).then(|| String::from_utf8_lossy(&quoted(&self.prefix)).into_owned())
    }
}

/// Digests whose first bytes are at most `highest`, and their share of all digests.
fn first_bytes(highest: &[u8]) -> (Target, f64) {
    let below = highest.iter().rfold(0.0, |sum, &byte| (f64::from(byte) + sum) / 256.0);
    (Target::first_bytes(highest), below + 256_f64.powi(-(highest.len() as i32)))
}

/// Digests that begin with `nbits` zero bits, and their share of all digests.
fn zero_bits(nbits: usize) -> (Target, f64) {
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

    #[test]
    fn shares_of_all_digests() {
        assert_eq!(zero_bits(20).1, 1.0 / 1_048_576.0);
        assert_eq!(zero_bits(512).1, 2_f64.powi(-512));
        assert_eq!(first_bytes(&[0, 0x0f]), zero_bits(12));
        assert_eq!(first_bytes(&[0xff; 64]).1, 1.0);
        assert_eq!(first_bytes(&[0x80]).1, 129.0 / 256.0);
        let mut header = [0; 76];
        header[72..].copy_from_slice(&0x1d00_ffff_u32.to_le_bytes());
        let chance = Plan::bitcoin(&header).unwrap().chance;
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
        plan.least_first = true;
        assert_eq!(plan.text(1_234), b"432100");
        plan.digits.clear();
        assert_eq!(plan.text(258), [2, 1, 0, 0, 0, 0]);
        plan = Plan { width: None, least_first: false, digits: b"ab".to_vec(), ..plan };
        assert_eq!(plan.text(u64::MAX), [b'b'; 64]);
    }
}
