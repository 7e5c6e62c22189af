// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layers of Merkle trees.

use core::mem::size_of;
use core::ptr;

use hashloom_sys as sys;

use super::{Ctx, alg, check};
use crate::Algorithm;
use crate::merkle::{Node, Rule};

/// `above[i]` = the digest of the prefix and pair `i` of the layer.
pub fn hash_pairs<const N: usize>(algorithm: Algorithm, prefix: &[u8], layer: &[[u8; N]], above: &mut [[u8; N]]) {
    assert!(N == algorithm.digest_nbytes() && layer.len() / 2 == above.len());
    // SAFETY: the layer is live; there is room for a digest of each pair.
    unsafe { run_pairs(algorithm, prefix, layer.as_ptr().cast(), above.len(), above.as_mut_ptr().cast()) };
}

/// The same in place.
pub fn hash_pairs_in_place<const N: usize>(algorithm: Algorithm, prefix: &[u8], layer: &mut [[u8; N]]) {
    assert!(N == algorithm.digest_nbytes());
    let nodes = layer.as_mut_ptr().cast::<u8>();
    // SAFETY: the layer is live, and ours alone. Digest i overlaps pairs up to its own, as the library allows.
    unsafe { run_pairs(algorithm, prefix, nodes, layer.len() / 2, nodes) };
}

/// # Safety
///
/// There must be `count` pairs of digests at `pairs`, and room for `count` digests at `above`, which may be `pairs`.
unsafe fn run_pairs(algorithm: Algorithm, prefix: &[u8], pairs: *const u8, count: usize, above: *mut u8) {
    let begin = (!prefix.is_empty()).then(|| {
        let mut ctx = Ctx::new(algorithm);
        ctx.update(prefix);
        ctx
    });
    let nbytes = 2 * algorithm.digest_nbytes();
    check(match &begin {
        // SAFETY: as the caller says.
        None => unsafe { sys::hl_hash_rows(alg(algorithm), pairs.cast(), nbytes, nbytes, count, above) },
        Some(begin) => {
            // SAFETY: a job may be all zeros.
            let mut job: sys::hl_job = unsafe { core::mem::zeroed() };
            (job.nbytes, job.alg, job.digests) = (size_of::<sys::hl_job>(), alg(algorithm), above);
            job.begin = begin.raw.as_ptr();
            job.messages = sys::hl_messages {
                layout: sys::HL_ROWS,
                reserved: 0,
                count,
                base: pairs.cast(),
                stride: nbytes,
                nbytes,
            };
            // SAFETY: as the caller says.
            unsafe { sys::hl_run(&job) }
        }
    });
}

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
            ptr::null_mut(),
            ptr::null_mut(),
        )
    });
    root
}
