// SPDX-License-Identifier: MIT OR Apache-2.0

//! Secret keys: their bytes stay in memory that is overwritten, and no message shows any of them.

use hashloom::{Rows, sha256d_rows};
use secp256k1::{All, PublicKey, Secp256k1, ffi};
use zeroize::Zeroizing;

use crate::hex;
use crate::keys::{Form, check_length};
use crate::network::Network;

const KEY_NBYTES: usize = 32;

/// The wallet import format: a byte for the network, the key, 1 if the public key is compressed, a checksum.
const WIF_NBYTES: usize = 1 + KEY_NBYTES + 1 + CHECKSUM_NBYTES;
const CHECKSUM_NBYTES: usize = 4;

/// Returns the public key of a secret key in a line: 64 hexadecimal digits, or the wallet import format. A public key
/// is compressed unless the wallet import format says otherwise.
pub fn public_key(secp: &Secp256k1<All>, network: Network, line: &[u8]) -> Result<(PublicKey, Form), String> {
    check_length(line)?;
    let mut bytes = Zeroizing::new([0; WIF_NBYTES]);
    let (key, form) = match line.len() {
        0 => return Err("expected a secret key, found an empty line".into()),
        64 => {
            let key = &mut bytes[..KEY_NBYTES];
            hex::decode(line, key).map_err(|_| "expected 64 hexadecimal digits, found other characters")?;
            (&*key, Form::Compressed)
        }
        51 | 52 => of_wif(network, line, &mut bytes)?,
        nbytes => {
            let expected = "expected a secret key of 64 hexadecimal digits, or 51 or 52 characters of base58 (WIF)";
            return Err(format!("{expected}, found {nbytes} characters"));
        }
    };
    // SAFETY: the point is only written, the context can sign, and the key has 32 bytes.
    #[allow(unsafe_code)]
    let (is_key, point) = unsafe {
        let mut point = ffi::PublicKey::new();
        (ffi::secp256k1_ec_pubkey_create(secp.ctx().as_ptr(), &mut point, key.as_ptr()), point)
    };
    match is_key {
        1 => Ok((PublicKey::from(point), form)),
        _ => Err("the number is no secret key: expected 1 to the order of secp256k1 less 1".into()),
    }
}

fn of_wif<'a>(network: Network, line: &[u8], bytes: &'a mut [u8; WIF_NBYTES]) -> Result<(&'a [u8], Form), String> {
    let decoded = bs58::decode(line).onto(&mut bytes[..]);
    let nbytes = decoded.map_err(|_| "expected base58 (WIF), found other characters or a number too large")?;
    let form = match nbytes {
        WIF_NBYTES if bytes[1 + KEY_NBYTES] == 1 => Form::Compressed,
        nbytes if nbytes == WIF_NBYTES - 1 => Form::Uncompressed,
        _ => return Err("expected WIF: 33 bytes or, for a compressed key, 34 that end in 01, and a checksum".into()),
    };
    let (content, checksum) = bytes[..nbytes].split_at(nbytes - CHECKSUM_NBYTES);
    if !is_checksum(content, checksum) {
        return Err("the checksum of the WIF is wrong: the key was mistyped or cut".into());
    }
    let wif = network.prefixes().wif;
    if bytes[0] == wif {
        return Ok((&bytes[1..][..KEY_NBYTES], form));
    }
    match Network::DIFFERENT.into_iter().find(|network| network.prefixes().wif == bytes[0]) {
        Some(Network::Main) => Err(format!("a key of the network main, not {}: use --network main", network.name())),
        Some(_) => Err("a key of a test network: use --network test, signet or regtest".into()),
        None => Err("expected a WIF that begins with the byte 80 or ef, found another byte".into()),
    }
}

/// Compares the first bytes of SHA-256 of SHA-256.
fn is_checksum(content: &[u8], checksum: &[u8]) -> bool {
    let mut digest = Zeroizing::new([0; 32]);
    let hash = |content: &[u8], digest: &mut [u8; 32]| {
        sha256d_rows(Rows::chunks_exact(content, content.len()), digest);
    };
    hash(content, &mut digest);
    let is_equal = digest[..CHECKSUM_NBYTES] == *checksum;
    // The same call with zeros takes the same path: it overwrites what the first left on the stack and in registers.
    let zeros = [0; WIF_NBYTES];
    hash(&zeros[..content.len()], &mut digest);
    is_equal
}
