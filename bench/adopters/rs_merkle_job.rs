// SPDX-License-Identifier: MIT OR Apache-2.0

use rs_merkle::{Hasher, MerkleTree, algorithms::Sha256};

mod bench;

fn main() {
    for n in [16, 1_000, 100_000_u32] {
        let leaves: Vec<_> = (0..n).map(|i| Sha256::hash(&i.to_le_bytes())).collect();
        bench::bench(&format!("from_leaves/{n}"), || MerkleTree::<Sha256>::from_leaves(&leaves).root());
    }
}
