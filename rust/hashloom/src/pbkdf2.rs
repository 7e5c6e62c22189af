// SPDX-License-Identifier: MIT OR Apache-2.0
//! PBKDF2 with HMAC (RFC 8018 section 5.2): keys from passwords, many side by side.

use core::fmt;
use core::num::NonZeroU32;

use crate::hmac::check_mac;
use crate::{Algorithm, ffi};

/// The key derived from one password. The key's length is that of `key`; an empty one stays empty.
///
/// A key of several digests is derived in lanes. The caller must wipe the password and the key; the call leaves nothing
/// of either on the stack or in registers. OWASP's advice of 2023 for new passwords is 600,000 iterations with SHA-256.
///
/// # Panics
///
/// If HMAC is not defined with the algorithm ([`Algorithm::has_hmac`]), `key` is longer than 2<sup>32</sup> − 1
/// digests, or the password or salt is longer than 2<sup>61</sup> − 1 bytes less a block.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use hashloom::{Algorithm, pbkdf2};
///
/// let mut key = [0; 64]; // RFC 7914 section 11
/// pbkdf2(Algorithm::Sha256, b"passwd", b"salt", NonZeroU32::MIN, &mut key);
/// assert_eq!(key[..4], [0x55, 0xac, 0x04, 0x6e]);
/// ```
pub fn pbkdf2(algorithm: Algorithm, password: &[u8], salt: &[u8], niterations: NonZeroU32, key: &mut [u8]) {
    let key_nbytes = key.len();
    pbkdf2_many(algorithm, &[password], &[salt], niterations, key_nbytes, key);
}

/// The keys derived from many passwords, side by side in lanes: the key of `passwords[i]` and `salts[i]` is written to
/// the `i`-th `key_nbytes` bytes of `keys`. All keys take the same number of iterations.
///
/// Sixteen passwords take little longer than one. Nothing is allocated. The rules of [`pbkdf2`] hold.
///
/// # Panics
///
/// If there are not as many salts as passwords, or `keys` does not have exactly `passwords.len() * key_nbytes` bytes;
/// and as [`pbkdf2`].
///
/// ```
/// use std::num::NonZeroU32;
///
/// use hashloom::{Algorithm, pbkdf2, pbkdf2_many};
///
/// let (passwords, salts) = (["secret", "another"], ["salt 1", "salt 2"]);
/// let niterations = NonZeroU32::new(1000).unwrap();
/// let mut keys = [0; 2 * 32];
/// pbkdf2_many(Algorithm::Sha256, &passwords, &salts, niterations, 32, &mut keys);
/// let mut key = [0; 32];
/// pbkdf2(Algorithm::Sha256, b"another", b"salt 2", niterations, &mut key);
/// assert_eq!(key, keys[32..]);
/// ```
pub fn pbkdf2_many<P: AsRef<[u8]>, S: AsRef<[u8]>>(
    algorithm: Algorithm,
    passwords: &[P],
    salts: &[S],
    niterations: NonZeroU32,
    key_nbytes: usize,
    keys: &mut [u8],
) {
    check(algorithm, passwords.len(), salts.len(), key_nbytes, keys);
    let never: Option<fn() -> bool> = None;
    ffi::pbkdf2_many(algorithm, passwords, salts, niterations, (keys, key_nbytes), never);
}

/// Like [`pbkdf2_many`], but asks every few milliseconds whether to stop. When `is_stopped` returns true, all keys are
/// set to zeros, and the result is the error [`Stopped`].
///
/// # Panics
///
/// As [`pbkdf2_many`]. A panic of `is_stopped` ends the program.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::{Duration, Instant};
///
/// use hashloom::{Algorithm, Stopped, pbkdf2_many_until};
///
/// let end = Instant::now() + Duration::from_millis(20);
/// let mut key = [1; 32];
/// let is_late = || Instant::now() >= end;
/// let result =
///     pbkdf2_many_until(Algorithm::Sha256, &["secret"], &["salt"], NonZeroU32::MAX, 32, &mut key, is_late);
/// assert_eq!((result, key), (Err(Stopped), [0; 32]));
/// ```
pub fn pbkdf2_many_until<P: AsRef<[u8]>, S: AsRef<[u8]>>(
    algorithm: Algorithm,
    passwords: &[P],
    salts: &[S],
    niterations: NonZeroU32,
    key_nbytes: usize,
    keys: &mut [u8],
    is_stopped: impl FnMut() -> bool,
) -> Result<(), Stopped> {
    check(algorithm, passwords.len(), salts.len(), key_nbytes, keys);
    if ffi::pbkdf2_many(algorithm, passwords, salts, niterations, (keys, key_nbytes), Some(is_stopped)) {
        Ok(())
    } else {
        Err(Stopped)
    }
}

/// The error of a call that its caller stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call was stopped")
    }
}

impl core::error::Error for Stopped {}

fn check(algorithm: Algorithm, count: usize, nsalts: usize, key_nbytes: usize, keys: &[u8]) {
    check_mac("pbkdf2", algorithm);
    assert!(count == nsalts, "pbkdf2_many: {count} passwords, but {nsalts} salts");
    assert!(
        count.checked_mul(key_nbytes) == Some(keys.len()),
        "pbkdf2_many: {count} keys of {key_nbytes} bytes, but room for {} bytes",
        keys.len()
    );
}
