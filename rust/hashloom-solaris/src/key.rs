// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the key of `mac` from a file, or makes it of a passphrase. The bytes go straight into memory that is
//! overwritten when dropped. That memory does not grow, as growing leaves copies behind.

use std::path::Path;

use hashloom::{Algorithm, HmacKey, hmac};
use hashloom_frame::secrets;
use hashloom_frame::text::{display, reason};
use zeroize::Zeroizing;

/// A key has some dozen bytes. A limit keeps an endless device from filling the memory.
const NBYTES_MAX: usize = 1 << 20;

/// Reads all bytes of a file; there must be at least one.
pub fn of_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let key = secrets::read(path, NBYTES_MAX + 1, |_| false);
    let key = key.map_err(|error| format!("cannot open {}: {}", display(path), reason(&error)))?;
    let found = match key.len() {
        0 => "nothing",
        1..=NBYTES_MAX => return Ok(key),
        _ => "more",
    };
    Err(format!("{}: expected a key of 1 to {NBYTES_MAX} bytes, found {found}", display(path)))
}

/// Makes the key that Solaris makes of a passphrase: 16 bytes by PBKDF2 (RFC 8018 section 5.2) with HMAC-SHA-1, 1000
/// rounds and a constant salt, so that the same passphrase always gives the same codes.
pub fn of_passphrase(passphrase: &[u8]) -> Zeroizing<Vec<u8>> {
    const SALT: [u8; 16] = [0x0a; 16];
    const ROUNDS: usize = 1000;
    const NBYTES: usize = 16;
    let key = Box::new(HmacKey::new(Algorithm::Sha1, passphrase));
    // The first block of the derived key is longer than the 16 bytes needed.
    let mut last = hmac(&key, &[&SALT[..], &1u32.to_be_bytes()].concat());
    let mut derived = Zeroizing::new(last.as_ref()[..NBYTES].to_vec());
    for _ in 1..ROUNDS {
        last = hmac(&key, last.as_ref());
        derived.iter_mut().zip(last.as_ref()).for_each(|(byte, other)| *byte ^= other);
    }
    derived
}
