// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digests of long values side by side, a piece of each at a time: without a copy, and with a look at signals between.

use std::cmp::Reverse;
use std::{iter, thread};

use hashloom::{Algorithm, Hasher, hash, update_many};
use hashloom_files::run::join;

use crate::many::Function;

/// A longer value is hashed in pieces.
pub const LONG_NBYTES: usize = 64 << 10;

/// About the bytes that a thread hashes between two looks at signals.
const ROUND_NBYTES: usize = 16 << 20;

/// The fewest bytes of a piece.
const PIECE_NBYTES: usize = 4096;

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
    mut values: Vec<Long<'_>>,
    nthreads: usize,
    digests: &mut [u8],
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    // The longest comes first: those that have not ended are always the first ones.
    values.sort_by_key(|long| Reverse(long.parts[1].len()));
    let mut hashers = vec![hasher(function); values.len()];
    for part in 0..2 {
        let mut rest: Vec<_> = values.iter().map(|long| long.parts[part]).collect();
        while let Some(last) = rest.iter().rposition(|rest| !rest.is_empty()) {
            let nrunning = last + 1;
            let piece_nbytes = (ROUND_NBYTES.saturating_mul(nthreads) / nrunning).max(PIECE_NBYTES);
            let pieces: Vec<_> = rest[..nrunning]
                .iter_mut()
                .map(|rest| {
                    let (piece, behind) = rest.split_at(rest.len().min(piece_nbytes));
                    *rest = behind;
                    piece
                })
                .collect();
            let share = nrunning.div_ceil(nthreads);
            let mut shares = hashers[..nrunning].chunks_mut(share).zip(pieces.chunks(share));
            thread::scope(|scope| {
                let first = shares.next();
                let others: Vec<_> =
                    shares.map(|(hashers, pieces)| scope.spawn(|| update_many(hashers, pieces))).collect();
                // The caller's thread takes a share too.
                if let Some((hashers, pieces)) = first {
                    update_many(hashers, pieces);
                }
                join(others);
            });
            check()?;
        }
    }
    let nbytes = function.digest_nbytes();
    for (long, hasher) in iter::zip(&values, hashers) {
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
