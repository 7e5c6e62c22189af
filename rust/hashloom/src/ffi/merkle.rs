// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layers of Merkle trees.

use alloc::vec::Vec;

use hashloom_sys as sys;

use super::check;
use crate::merkle::{Node, Rule};

/// The layer above.
pub fn layer(rule: Rule, height: u32, nodes: &[Node], above: &mut [Node]) {
    assert!(above.len() == nodes.len().div_ceil(2));
    let (from, to) = (nodes.as_ptr().cast(), above.as_mut_ptr().cast());
    // SAFETY: the nodes are live; there is room for the layer above.
    check(unsafe { sys::hl_merkle_layer(rule as u32, height, from, nodes.len(), to) });
}

/// The root. The leaves are lost.
pub fn root(rule: Rule, depth: u32, leaves: &mut [Node]) -> Node {
    let mut root = [0; 32];
    // SAFETY: the leaves are live, and ours alone; root has room for a node.
    check(unsafe {
        let nodes = leaves.as_mut_ptr().cast();
        sys::hl_merkle_root(
            rule as u32,
            depth,
            nodes,
            leaves.len(),
            root.as_mut_ptr(),
            0,
            core::ptr::null_mut(),
            core::ptr::null_mut(),
        )
    });
    root
}

/// One layer of leaves that are appended: `nodes` become those above.
pub fn grow(range: &mut sys::hl_merkle_range, height: u32, nodes: &mut Vec<Node>) {
    let mut count = nodes.len();
    // SAFETY: the range and the nodes are live, and ours alone.
    check(unsafe { sys::hl_merkle_grow(range, height, nodes.as_mut_ptr().cast(), &mut count) });
    nodes.truncate(count);
}

pub fn range_root(range: &sys::hl_merkle_range) -> Node {
    let mut root = [0; 32];
    // SAFETY: the range is live; root has room for a node.
    check(unsafe { sys::hl_merkle_range_root(range, root.as_mut_ptr()) });
    root
}
