// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digests of long values side by side, a piece of each at a time: without a copy, and with a look at signals between.

use std::iter;

use hashloom::{Algorithm, Hasher, hash, update_many};

use crate::many::Function;

/// A longer value is hashed in pieces.
pub const LONG_NBYTES: usize = 64 << 10;

/// About the bytes of the pieces of all values between two looks at signals.
const ROUND_NBYTES: usize = 16 << 20;

/// A message to hash.
pub struct Long<'a> {
    /// Its place among the digests.
    pub place: usize,
    /// A salt and a value.
    pub parts: [&'a [u8]; 2],
}

/// Writes the digest of each value to its place.
pub fn hash_long<E>(
    function: &Function<'_>,
    values: &[Long<'_>],
    digests: &mut [u8],
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let mut hashers: Vec<_> = values.iter().map(|_| hasher(function)).collect();
    let piece_nbytes = (ROUND_NBYTES / values.len().max(1)).next_multiple_of(LONG_NBYTES);
    for part in 0..2 {
        let mut rest: Vec<_> = values.iter().map(|long| long.parts[part]).collect();
        while rest.iter().any(|rest| !rest.is_empty()) {
            let mut pieces = Vec::with_capacity(rest.len());
            for rest in &mut rest {
                let (piece, behind) = rest.split_at(rest.len().min(piece_nbytes));
                pieces.push(piece);
                *rest = behind;
            }
            update_many(&mut hashers, &pieces);
            check()?;
        }
    }
    let nbytes = function.digest_nbytes();
    for (long, hasher) in iter::zip(values, hashers) {
        finish(function, hasher, &mut digests[long.place * nbytes..][..nbytes]);
    }
    Ok(())
}

fn hasher(function: &Function<'_>) -> Hasher {
    match function {
        Function::Digest(algorithm) | Function::Xof(algorithm, _) => Hasher::new(*algorithm),
        Function::Mac(key) => key.hasher(),
        Function::Hash160 | Function::Sha256d => Hasher::new(Algorithm::Sha256),
    }
}

fn finish(function: &Function<'_>, hasher: Hasher, digest: &mut [u8]) {
    let first = match function {
        Function::Xof(..) => return hasher.finalize_xof().read(digest),
        _ => hasher.finalize(),
    };
    digest.copy_from_slice(
        match function {
            Function::Digest(_) | Function::Xof(..) => first,
            Function::Mac(key) => key.finish(&first),
            Function::Hash160 => hash(Algorithm::Ripemd160, first.as_ref()),
            Function::Sha256d => hash(Algorithm::Sha256, first.as_ref()),
        }
        .as_ref(),
    );
}
