// SPDX-License-Identifier: MIT OR Apache-2.0

//! The size of a message, as given on the command line.

use std::str::FromStr;

use crate::numbers::Nbytes;

/// The longest message. Longer messages are not faster, and messages for all lanes of any kernel must fit into memory.
const MOST: u64 = 4 << 20;

/// Number of bytes in a message, from 1 to [`MOST`].
#[derive(Debug, Clone, Copy)]
pub struct Size(usize);

impl Size {
    pub fn nbytes(self) -> usize {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        match text.parse()? {
            Nbytes(0) => Err("an empty message has no speed: give at least 1".into()),
            Nbytes(nbytes @ 1..=MOST) => Ok(Size(nbytes as usize)),
            _ => {
                Err("at most 4MiB: messages for all lanes must fit into memory, and longer ones are not faster".into())
            }
        }
    }
}
