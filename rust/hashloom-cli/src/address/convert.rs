// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a block of input becomes.

use super::input::Block;

/// What a block became.
#[derive(Default)]
pub struct Output {
    pub bytes: Vec<u8>,
    /// Why lines or rows are missing, by their numbers.
    pub faults: Vec<(u64, String)>,
}

/// Converts blocks, one after the other.
pub trait Convert {
    fn convert(&mut self, block: &Block, output: &mut Output);
}
