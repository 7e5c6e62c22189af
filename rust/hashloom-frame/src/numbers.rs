// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers on the command line.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// Reads a whole number.
pub fn whole(text: &str) -> Result<u64, String> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_whole => Ok(number),
        _ if is_whole => Err("expected less than 2^64".into()),
        _ => Err("expected a whole number, such as 41".into()),
    }
}

/// Reads a whole number from 1 on.
pub fn from_one(text: &str) -> Result<NonZeroUsize, String> {
    let number = whole(text)?;
    NonZeroUsize::new(number.try_into().unwrap_or(usize::MAX)).ok_or("expected at least 1".into())
}

/// `4096`, `8MiB`, `64k`: a whole number and, if not of bytes, its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nbytes(pub u64);

impl FromStr for Nbytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Nbytes, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            _ if number.is_empty() => None,
            "" | "b" => Some(0),
            "k" | "kib" => Some(10),
            "m" | "mib" => Some(20),
            "g" | "gib" => Some(30),
            "t" | "tib" => Some(40),
            _ => None,
        };
        let shift = shift.ok_or("expected a whole number of bytes, KiB, MiB, GiB or TiB, such as 4096 or 8MiB")?;
        let nbytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        Ok(Nbytes(nbytes.ok_or("expected less than 2^64 bytes")?))
    }
}

/// Bytes in hexadecimal, as on a command line.
#[derive(Debug, Clone, Default)]
pub struct HexBytes(pub Vec<u8>);

impl FromStr for HexBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<HexBytes, String> {
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        match digits {
            Some(digits) if digits.len() % 2 == 0 => {
                Ok(HexBytes(digits.chunks_exact(2).map(|two| (two[0] << 4 | two[1]) as u8).collect()))
            }
            _ => Err("expected hexadecimal digits, two for each byte".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        assert_eq!((whole("0"), whole("041"), whole("18446744073709551615")), (Ok(0), Ok(41), Ok(u64::MAX)));
        assert_eq!(from_one("3").unwrap().get(), 3);
        assert!(from_one("0").unwrap_err().contains("at least 1"));
        assert!(whole("18446744073709551616").unwrap_err().contains("2^64"));
        for text in ["", "+1", "-1", "x", "1.5", " 1"] {
            assert!(whole(text).unwrap_err().starts_with("expected a whole number"), "{text}");
        }
    }

    #[test]
    fn numbers_of_bytes() {
        let cases = [
            ("0", 0),
            ("004096", 4096),
            ("8MiB", 8 << 20),
            ("64k", 65536),
            ("5 GiB", 5 << 30),
            ("1t", 1 << 40),
            ("20B", 20),
        ];
        for (text, nbytes) in cases {
            assert_eq!(text.parse(), Ok(Nbytes(nbytes)), "{text}");
        }
        for text in ["", "k", "-1", "1.5M", "4kb", "ib", "1 2", "0x4000", "64 bytes"] {
            assert!(text.parse::<Nbytes>().unwrap_err().starts_with("expected a whole number"), "{text}");
        }
        for text in ["99999999999999999999", "18014398509481984KiB"] {
            assert!(text.parse::<Nbytes>().unwrap_err().contains("2^64"), "{text}");
        }
    }
}
