// SPDX-License-Identifier: MIT OR Apache-2.0

//! The size of a message, as given on the command line.

use std::fmt;
use std::str::FromStr;

/// The longest message. Longer messages are not faster, and messages for all lanes of any kernel must fit into memory.
const MOST: u64 = 4 << 20;

/// Number of bytes in a message, from 1 to [`MOST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(usize);

impl Size {
    pub fn nbytes(self) -> usize {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        const UNITS: [(&str, u64); 3] = [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)];
        let expected = || "expected a whole number of bytes, KiB or MiB, such as 41, 16KiB or 1MiB".to_owned();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = UNITS.into_iter().find(|(name, _)| *name == unit.trim()).ok_or_else(expected)?.1;
        if number.is_empty() {
            return Err(expected());
        }
        // A number too long for an integer is too many bytes.
        let nbytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
        match nbytes {
            Some(0) => Err("an empty message has no speed: give at least 1".into()),
            Some(nbytes @ 1..=MOST) => Ok(Size(nbytes as usize)),
            _ => {
                Err("at most 4MiB: messages for all lanes must fit into memory, and longer ones are not faster".into())
            }
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, nbytes) in [("1", 1), ("0064", 64), ("1KiB", 1024), ("3 MiB", 3 << 20), ("4194304", 4 << 20)] {
            assert_eq!(text.parse(), Ok(Size(nbytes)), "{text}");
        }
        for (text, part) in [
            ("0", "at least 1"),
            ("0KiB", "at least 1"),
            ("4194305", "at most 4MiB"),
            ("5MiB", "at most 4MiB"),
            ("99999999999999999999999999", "at most 4MiB"),
            ("18014398509481984KiB", "at most 4MiB"),
            ("", "expected a whole number"),
            ("KiB", "expected a whole number"),
            ("-1", "expected a whole number"),
            ("1.5KiB", "expected a whole number"),
            ("1kb", "expected a whole number"),
            ("64 bytes", "expected a whole number"),
        ] {
            let error = text.parse::<Size>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
