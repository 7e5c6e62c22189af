// SPDX-License-Identifier: MIT OR Apache-2.0

//! The work of Krist, a currency: `submitBlock` in its server's sources. A nonce has any bytes.
//!
//! The server's work is at most 100,000. A higher number is taken here: it makes a search short, as for a test.

/// The server refuses longer nonces.
pub const NONCE_NBYTES_MAX: u32 = 24;

/// Reads ADDRESS, BLOCK and WORK. Returns what comes before the nonce, and the first bytes of the highest digest.
pub fn parse(address: &str, block: &str, work: &str) -> Result<(Vec<u8>, [u8; 6]), String> {
    let is_lower = |c: u8| c.is_ascii_digit() || c.is_ascii_lowercase();
    let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if address.len() != 10 || !address.bytes().all(is_lower) {
        return Err("--krist: ADDRESS: expected 10 digits and lower-case letters, such as k8juvewcui".into());
    }
    if !matches!(block.len(), 12 | 64) || !block.bytes().all(is_hex) {
        let expected = "expected the last block's hash: 64 lower-case hexadecimal digits, or the first 12";
        return Err(format!("--krist: BLOCK: {expected}"));
    }
    let work = crate::numbers::whole(work).map_err(|error| format!("--krist: WORK: {error}"))?;
    if work >> 48 != 0 {
        return Err("--krist: WORK: expected less than 2^48".into());
    }
    let mut highest = [0; 6];
    highest.copy_from_slice(&work.to_be_bytes()[2..]);
    Ok(([address, &block[..12]].concat().into_bytes(), highest))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn arguments() {
        let (address, block) = ("k8juvewcui", "000000abcdef");
        let read = parse(address, block, "100000").unwrap();
        assert_eq!(read, (b"k8juvewcui000000abcdef".to_vec(), [0, 0, 0, 1, 0x86, 0xa0]));
        assert_eq!(parse(address, &[block, &"7".repeat(52)].concat(), "100000"), Ok(read));
        assert_eq!(parse(address, block, "281474976710655").unwrap().1, [0xff; 6]);
        for wrong in [
            ["", block, "1"],
            ["k8juvewcui0", block, "1"],
            ["K8JUVEWCUI", block, "1"],
            ["k8juvewcu\n", block, "1"],
            [address, "", "1"],
            [address, "000000ABCDEF", "1"],
            [address, "000000abcde", "1"],
            [address, "000000abcdeg", "1"],
            [address, block, ""],
            [address, block, "-1"],
            [address, block, "1e5"],
            [address, block, "281474976710656"],
            [address, block, "18446744073709551616"],
        ] {
            assert!(parse(wrong[0], wrong[1], wrong[2]).unwrap_err().starts_with("--krist: "), "{wrong:?}");
        }
    }
}
