// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trees and proofs of RFC 9162 by its recursions, over any hash function: the oracle of the tests and of the fuzz
//! target `proof`.

use std::ops::Range;

pub type Node = Vec<u8>;

pub struct Model {
    pub hash: fn(&[u8]) -> Node,
    pub leaves: Vec<Node>,
}

impl Model {
    /// Section 2.1.1.
    pub fn root(&self, of: Range<usize>) -> Node {
        match of.len() {
            0 => (self.hash)(b""),
            1 => self.leaves[of.start].clone(),
            n => {
                let middle = of.start + n.next_power_of_two() / 2;
                (self.hash)(&[&[1], &self.root(of.start..middle)[..], &self.root(middle..of.end)].concat())
            }
        }
    }

    /// Section 2.1.3.1.
    pub fn path(&self, index: usize, of: Range<usize>) -> Vec<Node> {
        if of.len() == 1 {
            return Vec::new();
        }
        let middle = of.start + of.len().next_power_of_two() / 2;
        let (inside, beside) =
            if index < middle { (of.start..middle, middle..of.end) } else { (middle..of.end, of.start..middle) };
        let mut path = self.path(index, inside);
        path.push(self.root(beside));
        path
    }

    /// Section 2.1.4.1.
    pub fn subproof(&self, size1: usize, of: Range<usize>, is_whole: bool) -> Vec<Node> {
        if size1 == of.len() {
            return if is_whole { Vec::new() } else { vec![self.root(of)] };
        }
        let half = of.len().next_power_of_two() / 2;
        let middle = of.start + half;
        let (mut proof, beside) = match size1 <= half {
            true => (self.subproof(size1, of.start..middle, is_whole), middle..of.end),
            false => (self.subproof(size1 - half, middle..of.end, false), of.start..middle),
        };
        proof.push(self.root(beside));
        proof
    }
}
