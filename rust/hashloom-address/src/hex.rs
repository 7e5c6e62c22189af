// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hexadecimal without a call for each byte: ten million keys are some hundred million bytes.

/// Appends the digits of bytes.
pub fn push(text: &mut Vec<u8>, bytes: &[u8]) {
    let start = text.len();
    text.resize(start + 2 * bytes.len(), 0);
    encode(bytes, &mut text[start..]);
}

/// Writes the digits of bytes; `text` has twice their number. Compilers make vector code of arithmetic, but not of a
/// table.
pub fn encode(bytes: &[u8], text: &mut [u8]) {
    let digit = |value: u8| value + if value > 9 { b'a' - 10 } else { b'0' };
    for (pair, &byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = digit(byte >> 4);
        pair[1] = digit(byte & 15);
    }
}

/// Returns the value of a digit; other bytes give more than four bits.
fn value(digit: u8) -> u8 {
    let (number, letter) = (digit.wrapping_sub(b'0'), (digit | 0x20).wrapping_sub(b'a'));
    let of_letter = if letter < 6 { letter + 10 } else { 0xff };
    if number < 10 { number } else { of_letter }
}

/// Writes the bytes that `digits` stand for; `bytes` has half their number. Returns the position of the first byte that
/// is not a digit.
pub fn decode(digits: &[u8], bytes: &mut [u8]) -> Result<(), usize> {
    let mut bits = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = (value(pair[0]), value(pair[1]));
        bits |= high | low;
        *byte = high << 4 | low & 15;
    }
    match bits & 0xf0 {
        0 => Ok(()),
        _ => Err(digits.iter().position(|&digit| value(digit) > 15).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte() {
        let all: Vec<u8> = (0..=255).collect();
        let mut text = Vec::new();
        push(&mut text, &all);
        assert_eq!(String::from_utf8(text.clone()).unwrap(), hashloom_files::text::Hex(&all).to_string());
        for text in [text.to_ascii_uppercase(), text] {
            let mut found = [0; 256];
            assert_eq!(decode(&text, &mut found), Ok(()));
            assert_eq!(found[..], all);
        }
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_hexdigit()) {
            assert_eq!(decode(&[b'0', b'1', b'2', byte], &mut [0; 2]), Err(3));
            assert_eq!(decode(&[byte, b'1', b'2', b'3'], &mut [0; 2]), Err(0));
        }
    }
}
