// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::batch::KECCAK_DOMAIN;
use hashloom::{Algorithm, RowLayout, Rows, hash_rows};

pub(crate) fn hash_many(domain: u8, input: &[u8], out: &mut [[u8; 32]]) {
    let Some(len) = input.len().checked_div(out.len()) else { return };
    assert_eq!(input.len(), len * out.len(), "the input must be a whole multiple of the number of digests");
    let algorithm = if domain == KECCAK_DOMAIN { Algorithm::Keccak256 } else { Algorithm::Sha3_256 };
    let layout = RowLayout { row_nbytes: len, stride: len, count: out.len() };
    hash_rows(algorithm, Rows::new(input, layout), out.as_flattened_mut());
}
