// SPDX-License-Identifier: MIT OR Apache-2.0

//! A number of bytes, as given on the command line.

use std::str::FromStr;

/// `4096`, `8MiB`, `64k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nbytes(pub u64);

impl FromStr for Nbytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Nbytes, String> {
        let expected = || "expected a whole number of bytes, KiB, MiB or GiB, such as 4096 or 8MiB".to_owned();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim().to_ascii_lowercase();
        let shift = match unit.strip_suffix("ib").unwrap_or(&unit) {
            "" if unit.is_empty() => 0,
            "k" => 10,
            "m" => 20,
            "g" => 30,
            _ => return Err(expected()),
        };
        let number: u64 = number.parse().map_err(|_| expected())?;
        number.checked_mul(1 << shift).map(Nbytes).ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes() {
        for (text, nbytes) in [("0", 0), ("4096", 4096), ("8MiB", 8 << 20), ("64k", 65536), ("5 GiB", 5 << 30)] {
            assert_eq!(text.parse(), Ok(Nbytes(nbytes)), "{text}");
        }
        for text in ["", "k", "-1", "1.5M", "4kb", "ib", "99999999999999999999", "18014398509481984KiB"] {
            assert!(text.parse::<Nbytes>().is_err(), "{text}");
        }
    }
}
