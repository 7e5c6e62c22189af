// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block of input, converted.

use crate::input::Block;

/// A converted block.
#[derive(Default)]
pub struct Output {
    /// The lines, or bytes.
    pub bytes: Vec<u8>,
    /// Why lines or rows are missing, by their numbers.
    pub faults: Vec<(u64, String)>,
}

/// Converts blocks, one after the other.
pub trait Convert {
    /// Converts a block: appends to `output`, which the caller empties.
    fn convert(&mut self, block: &Block, output: &mut Output);
}
