// SPDX-License-Identifier: MIT OR Apache-2.0

//! A number of bytes, as given on the command line.

use std::str::FromStr;

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

#[cfg(test)]
mod tests {
    use super::*;

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
