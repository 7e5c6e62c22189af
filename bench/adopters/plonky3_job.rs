// SPDX-License-Identifier: MIT OR Apache-2.0

use p3_keccak::Keccak256Hash;
use p3_matrix::dense::RowMajorMatrixView;
use p3_merkle_tree::MerkleTree;
use p3_symmetric::{CompressionFunctionFromHasher, CryptographicHasher};

mod bench;

fn main() {
    let input: Vec<u8> = (0..4 << 20).map(|i: u32| (i * i >> 7) as u8).collect();
    for len in [64, 540, 4096] {
        let mut digests = vec![[0; 32]; input.len() / len];
        let whole = digests.len() * len;
        bench::bench(&format!("hash_many/{len}"), || Keccak256Hash.hash_many(&input[..whole], &mut digests));
    }
    let compress = CompressionFunctionFromHasher::<_, 2, 32>::new(Keccak256Hash);
    for len in [64, 4096] {
        bench::bench(&format!("MerkleTree/{len}"), || {
            let matrix = RowMajorMatrixView::new(&input, len);
            MerkleTree::<u8, u8, _, 2, 32>::new::<u8, u8, _, _>(&Keccak256Hash, &compress, vec![matrix]).root()
        });
    }
}
