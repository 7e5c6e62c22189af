// SPDX-License-Identifier: MIT OR Apache-2.0

//! Takes numbers from the input of a fuzz target.
#![allow(dead_code, reason = "each target uses some of it")]

/// The input; after its end come zeros.
pub struct Numbers<'a>(pub &'a [u8]);

impl<'a> Numbers<'a> {
    pub fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first.into()
    }

    pub fn long(&mut self) -> usize {
        self.next() << 16 | self.next() << 8 | self.next()
    }

    /// Returns a length that is likely to be at an edge.
    pub fn length(&mut self) -> usize {
        match self.next() % 4 {
            0 => self.next(),
            1 => self.long() % 10_000,
            2 => self.long() % 150_000,
            _ => (self.next() % 9 * 16384 + self.next() % 3).saturating_sub(1),
        }
    }

    /// Returns the next bytes, fewer at the end of the input.
    pub fn bytes(&mut self, nbytes: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(nbytes.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Changes `bytes` in a few places; returns true if they differ now.
    pub fn edit(&mut self, bytes: &mut Vec<u8>) -> bool {
        let before = bytes.clone();
        for _ in 0..self.next() % 8 {
            let at = self.long() % (bytes.len() + 1);
            let gone = at..(at + self.next() % 8).min(bytes.len());
            let nnew = self.next() % 8;
            let new = self.bytes(nnew).to_vec();
            bytes.splice(gone, new);
        }
        *bytes != before
    }
}
