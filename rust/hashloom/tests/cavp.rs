// SPDX-License-Identifier: MIT OR Apache-2.0
//! NIST's CAVP vectors for SHA-1 and SHA-2 (byte-oriented short, long and Monte Carlo) the authors' vectors for
//! RIPEMD-160, and those of RFC 1321 for MD5, on every kernel and through every way of hashing one message. The Monte Carlo procedure is that of
//! NIST's "The Secure Hash Algorithm Validation System (SHAVS)", section 6.4.

mod common;

use std::fs;
use std::path::Path;

use common::each_kernel;
use hashloom::{Algorithm, Hasher, hash, hash_many};
#[cfg(feature = "digest")]
use hashloom::{Md5, Ripemd160, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256, digest::Digest};

/// The `key = value` pairs of the algorithm's vector file of this kind, in order.
fn pairs(algorithm: Algorithm, kind: &str) -> Vec<(String, String)> {
    let name = match algorithm {
        Algorithm::Sha1 => format!("nist-cavp/SHA1/SHA1{kind}.rsp"),
        Algorithm::Ripemd160 => "ripemd160/ripevectors.txt".into(),
        Algorithm::Md5 => "md5/rfc-1321.txt".into(),
        _ => format!("nist-cavp/SHA2/{}{kind}.rsp", algorithm.name().to_uppercase().replace('-', "_")),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pairs = text.lines().filter_map(|line| line.split_once(" = "));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).expect("hexadecimal") as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Messages and digests of the short or long vectors.
fn messages(algorithm: Algorithm, kind: &str) -> (Vec<Vec<u8>>, Vec<u8>) {
    let (mut messages, mut digests, mut nbytes) = (Vec::new(), Vec::new(), 0);
    for (key, value) in pairs(algorithm, kind) {
        match key.as_str() {
            "Len" => nbytes = value.parse::<usize>().unwrap() / 8,
            // The file writes the empty message as one byte.
            "Msg" => messages.push(from_hex(&value)[..nbytes].to_vec()),
            "MD" => digests.extend(from_hex(&value)),
            _ => {}
        }
    }
    if algorithm == Algorithm::Ripemd160 {
        // The ninth message is not in the file.
        messages.push(vec![b'a'; 1_000_000]);
        digests.extend(from_hex("52783243c1697bdbe16d37f97f68f08325dc1528"));
    } else if algorithm == Algorithm::Md5 {
        assert_eq!(messages.len(), 7);
    } else {
        assert!(messages.len() >= 64, "{} vectors", messages.len());
    }
    assert_eq!(digests.len(), messages.len() * algorithm.digest_nbytes());
    (messages, digests)
}

/// The digest, computed by the type of the algorithm's name.
#[cfg(feature = "digest")]
fn typed(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Sha1 => Sha1::digest(message).to_vec(),
        Algorithm::Sha224 => Sha224::digest(message).to_vec(),
        Algorithm::Sha256 => Sha256::digest(message).to_vec(),
        Algorithm::Sha384 => Sha384::digest(message).to_vec(),
        Algorithm::Sha512 => Sha512::digest(message).to_vec(),
        Algorithm::Sha512_224 => Sha512_224::digest(message).to_vec(),
        Algorithm::Sha512_256 => Sha512_256::digest(message).to_vec(),
        Algorithm::Ripemd160 => Ripemd160::digest(message).to_vec(),
        Algorithm::Md5 => Md5::digest(message).to_vec(),
        _ => panic!("no type for {algorithm}"),
    }
}

#[test]
fn short_and_long_messages() {
    for kind in ["ShortMsg", "LongMsg"] {
        for &algorithm in Algorithm::ALL {
            let (messages, expected) = messages(algorithm, kind);
            let mut digests = vec![0; expected.len()];
            hash_many(algorithm, &messages, &mut digests);
            assert!(digests == expected, "hash_many: {algorithm} {kind}");
            for (message, expected) in messages.iter().zip(expected.chunks_exact(algorithm.digest_nbytes())) {
                assert_eq!(hash(algorithm, message), *expected);
                let mut hasher = Hasher::new(algorithm);
                message.chunks(61).for_each(|chunk| hasher.update(chunk));
                assert_eq!(hasher.finalize(), *expected);
                #[cfg(feature = "digest")]
                assert_eq!(typed(algorithm, message), *expected);
            }
        }
        each_kernel(|kernel, algorithm| {
            let (messages, expected) = messages(algorithm, kind);
            let mut digests = vec![0; expected.len()];
            kernel.hash_many(algorithm, &messages, &mut digests).unwrap();
            assert!(digests == expected, "{kernel}: all messages of {kind} at once");
            for (message, expected) in messages.iter().zip(expected.chunks_exact(algorithm.digest_nbytes())) {
                let digest = &mut digests[..algorithm.digest_nbytes()];
                kernel.hash_many(algorithm, &[message], digest).unwrap();
                assert!(digest == expected, "{kernel}: {} bytes alone", message.len());
            }
        });
    }
}

/// Runs the same chain in every lane, so that every lane is checked 100,000 times; 10,000 times without optimisation.
#[test]
fn monte_carlo() {
    let nrounds = if cfg!(debug_assertions) { 10 } else { 100 };
    each_kernel(|kernel, algorithm| {
        // NIST made no such file for these.
        if matches!(algorithm, Algorithm::Ripemd160 | Algorithm::Md5) {
            return;
        }
        let pairs = pairs(algorithm, "Monte");
        let value = |wanted: &'static str| pairs.iter().filter(move |(key, _)| key == wanted).map(|(_, v)| from_hex(v));
        let mut seed = value("Seed").next().expect("a seed");
        let digest_nbytes = algorithm.digest_nbytes();
        let mut digests = vec![0; kernel.lanes() * digest_nbytes];
        let mut count = 0;
        for expected in value("MD").take(nrounds) {
            let mut message = seed.repeat(3);
            for _ in 0..1000 {
                kernel.hash_many(algorithm, &vec![&message; kernel.lanes()], &mut digests).unwrap();
                message.drain(..digest_nbytes);
                message.extend_from_slice(&digests[..digest_nbytes]);
            }
            for digest in digests.chunks_exact(digest_nbytes) {
                assert!(digest == expected, "{kernel}: round {count}");
            }
            seed = expected;
            count += 1;
        }
        assert_eq!(count, nrounds);
    });
}
