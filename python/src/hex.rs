// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hexadecimal digits.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Writes the digits of `bytes` into `digits`, which is twice as long.
pub fn write(bytes: &[u8], digits: &mut [u8]) {
    assert_eq!(bytes.len() * 2, digits.len());
    // Arithmetic instead of a table, so that compilers use vectors.
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    for (pair, &byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = digit(byte >> 4);
        pair[1] = digit(byte & 15);
    }
}

/// The digits of a digest, as a string.
pub fn string<'py>(py: Python<'py>, digest: &[u8]) -> Bound<'py, PyString> {
    let (mut room, mut more) = ([0; 2 * 64], Vec::new());
    let digits = match room.get_mut(..2 * digest.len()) {
        Some(digits) => digits,
        None => {
            more.resize(2 * digest.len(), 0);
            &mut more[..]
        }
    };
    write(digest, digits);
    PyString::new(py, std::str::from_utf8(digits).expect("digits are ASCII"))
}
