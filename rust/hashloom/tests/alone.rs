// SPDX-License-Identifier: MIT OR Apache-2.0
//! The crate with SHA-256 alone, and with anything more: `cargo test -p hashloom --no-default-features --features
//! sha256`.
#![cfg(feature = "sha256")]

use hashloom::kernels::kernels;
use hashloom::{Algorithm, Hasher, Rows, finalize_many, hash, hash_many, hash_pairs, hash_rows, update_many};
use sha2::Digest;

/// Messages of 0 to 300 bytes.
fn messages() -> Vec<Vec<u8>> {
    (0..=300).map(|nbytes: usize| (0..nbytes).map(|i| (i * 7 + nbytes) as u8).collect()).collect()
}

/// By RustCrypto.
fn expected(messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(sha2::Sha256::digest).collect()
}

#[test]
fn algorithms_are_those_of_the_features() {
    let others = Algorithm::ALL.len() - 2; // SHA-224 comes along
    assert!(Algorithm::ALL.contains(&Algorithm::Sha256) && Algorithm::ALL.contains(&Algorithm::Sha224));
    assert_eq!(others == 0, !cfg!(feature = "all"), "{:?}", Algorithm::ALL);
    let is_other = |name: &str| name.parse::<Algorithm>().is_err();
    assert_eq!(["sha1", "sha512", "sha3-256", "blake3"].map(is_other), [!cfg!(feature = "all"); 4]);
    for kernel in kernels() {
        assert_eq!(kernel.computes(Algorithm::Sha256), kernel.name().starts_with("sha256"), "{kernel}");
    }
    assert!(kernels().any(|kernel| kernel.is_available() && kernel.computes(Algorithm::Sha256)));
}

#[test]
fn every_call_and_kernel() {
    let messages = messages();
    let expected = expected(&messages);
    let mut digests = vec![0; expected.len()];
    hash_many(Algorithm::Sha256, &messages, &mut digests);
    assert!(digests == expected);
    for (message, digest) in messages.iter().zip(expected.chunks(32)) {
        assert_eq!(hash(Algorithm::Sha256, message), *digest);
    }
    for kernel in kernels().filter(|kernel| kernel.is_available() && kernel.computes(Algorithm::Sha256)) {
        digests.fill(0);
        kernel.hash_many(Algorithm::Sha256, &messages, &mut digests).unwrap();
        assert!(digests == expected, "{kernel}");
    }
    let mut hashers = vec![Hasher::new(Algorithm::Sha256); messages.len()];
    let (first, second): (Vec<_>, Vec<_>) = messages.iter().map(|message| message.split_at(message.len() / 3)).unzip();
    update_many(&mut hashers, &first);
    update_many(&mut hashers, &second);
    finalize_many(&mut hashers, &mut digests);
    assert!(digests == expected);
}

#[test]
fn rows_and_pairs() {
    let data = &messages()[300];
    let rows: Vec<Vec<u8>> = data.chunks_exact(64).map(<[u8]>::to_vec).collect();
    let mut digests = [[0; 32]; 4];
    hash_rows(Algorithm::Sha256, Rows::chunks_exact(data, 64), digests.as_flattened_mut());
    assert!(digests.as_flattened() == expected(&rows));
    let mut above = [[0; 32]; 2];
    hash_pairs(Algorithm::Sha256, &[1], &digests, &mut above);
    let pairs: Vec<Vec<u8>> = digests.chunks(2).map(|pair| [&[1], pair.as_flattened()].concat()).collect();
    assert!(above.as_flattened() == expected(&pairs));
}

/// What docs/rust.md says that `sha256` alone is.
#[cfg(all(feature = "digest", feature = "hmac"))]
#[test]
fn types_of_digest() {
    use hashloom::DigestMany;
    use hashloom::digest::{KeyInit, Mac};

    let messages = messages();
    let mut digests = vec![Default::default(); messages.len()];
    hashloom::Sha256::digest_many(&messages, &mut digests);
    assert!(digests.concat() == expected(&messages));
    let mut mac = hashloom::HmacSha256::new_from_slice(b"Jefe").unwrap(); // RFC 4231, test case 2
    mac.update(b"what do ya want for nothing?");
    assert_eq!(mac.finalize().into_bytes()[..4], [0x5b, 0xdc, 0xc1, 0x46]);
}
