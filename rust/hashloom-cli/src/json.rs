// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes in JSON, which has only Unicode.
//!
//! Names that are not UTF-8 come with replacement characters, and beside them, under a key that ends in `_hex`, as they
//! are.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// Bytes as text in hexadecimal.
pub struct Hex<'a>(pub &'a [u8]);

/// Bytes as text, and as they are if they are not UTF-8.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Option<Hex<'_>>) {
    let text = String::from_utf8_lossy(bytes);
    // Borrowed if it is all UTF-8.
    let hex = matches!(text, Cow::Owned(_)).then_some(Hex(bytes));
    (text, hex)
}

pub fn hex(bytes: &[u8]) -> String {
    Hex(bytes).to_string()
}

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
