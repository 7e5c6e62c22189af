// SPDX-License-Identifier: MIT OR Apache-2.0
//! NIST's CAVP vectors for SHA-1, SHA-2, SHA-3 and SHAKE (byte-oriented short, long and Monte Carlo), the authors'
//! vectors for RIPEMD-160 and Keccak, and those of RFC 1321 for MD5, on every kernel and through every way of hashing one
//! message. The Monte Carlo procedure is that of NIST's "The Secure Hash Algorithm Validation System (SHAVS)", section
//! 6.4, and "The Secure Hash Algorithm 3 Validation System (SHA3VS)", section 6.2.3.

#[macro_use]
mod common;

use std::fs;
use std::path::Path;

use common::{each_kernel, is_sponge};
use hashloom::{Algorithm, Hasher, hash, hash_many, xof};

/// The `key = value` pairs of the algorithm's vector file of this kind, in order.
fn pairs(algorithm: Algorithm, kind: &str) -> Vec<(String, String)> {
    let (name, digest_nbytes) = (algorithm.name().to_uppercase().replace('-', "_"), algorithm.digest_nbytes());
    let name = match algorithm {
        Algorithm::Sha1 => format!("nist-cavp/SHA1/SHA1{kind}.rsp"),
        Algorithm::Ripemd160 => "ripemd160/ripevectors.txt".into(),
        Algorithm::Md5 => "md5/rfc-1321.txt".into(),
        _ if name.starts_with("KECCAK") => format!("keccak/ShortMsgKAT_{}.txt", 8 * digest_nbytes),
        _ if name.starts_with("SHA3_") => format!("nist-cavp/SHA3/{name}{kind}.rsp"),
        _ if name.starts_with("SHAKE") => format!("nist-cavp/SHAKE/{name}{kind}.rsp"),
        _ => format!("nist-cavp/SHA2/{name}{kind}.rsp"),
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

/// Messages and digests of the short or long vectors. Those of an XOF have other lengths than the usual digests.
fn messages(algorithm: Algorithm, kind: &str) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut messages, mut digests, mut nbits) = (Vec::new(), Vec::new(), 0);
    for (key, value) in pairs(algorithm, kind) {
        match key.as_str() {
            "Len" => nbits = value.parse::<usize>().unwrap(),
            // Files of bits have messages that are no bytes.
            _ if nbits % 8 != 0 => {}
            // The file writes the empty message as one byte.
            "Msg" => messages.push(from_hex(&value)[..nbits / 8].to_vec()),
            "MD" | "Output" => digests.push(from_hex(&value)),
            _ => {}
        }
    }
    if algorithm == Algorithm::Ripemd160 {
        // The ninth message is not in the file.
        messages.push(vec![b'a'; 1_000_000]);
        digests.push(from_hex("52783243c1697bdbe16d37f97f68f08325dc1528"));
    } else if algorithm == Algorithm::Md5 {
        assert_eq!(messages.len(), 7);
    } else {
        // vectors/ has a sample of SHA-3's long messages.
        let least = if is_sponge(algorithm) && kind == "LongMsg" { 4 } else { 64 };
        assert!(messages.len() >= least, "{algorithm}: {} vectors", messages.len());
    }
    assert_eq!(digests.len(), messages.len());
    assert!(digests.iter().all(|digest| algorithm.is_xof() || digest.len() == algorithm.digest_nbytes()));
    (messages, digests)
}

/// Whether the digests, one after the other, begin with the expected ones.
fn are_right(algorithm: Algorithm, digests: &[u8], expected: &[Vec<u8>]) -> bool {
    let digests = digests.chunks_exact(algorithm.digest_nbytes());
    digests.len() == expected.len() && digests.zip(expected).all(|(digest, expected)| digest.starts_with(expected))
}

/// The digest, computed by the type of the algorithm's name.
#[cfg(feature = "digest")]
fn typed(algorithm: Algorithm, message: &[u8], digest_nbytes: usize) -> Vec<u8> {
    use hashloom::digest::{Digest, ExtendableOutput};

    macro_rules! fixed {
        ($type:ident, $peer:ty, $mac:ident) => {
            if algorithm == Algorithm::$type {
                return hashloom::$type::digest(message).to_vec();
            }
        };
    }
    macro_rules! xof {
        ($type:ident, $peer:ty) => {
            if algorithm == Algorithm::$type {
                let mut digest = vec![0; digest_nbytes];
                hashloom::$type::digest_xof(message, &mut digest);
                return digest;
            }
        };
    }
    each_peer!(fixed, xof);
    panic!("no type for {algorithm}");
}

#[test]
fn short_and_long_messages() {
    for kind in ["ShortMsg", "LongMsg"] {
        for &algorithm in Algorithm::ALL {
            let (messages, expected) = messages(algorithm, kind);
            let mut digests = vec![0; messages.len() * algorithm.digest_nbytes()];
            hash_many(algorithm, &messages, &mut digests);
            assert!(are_right(algorithm, &digests, &expected), "hash_many: {algorithm} {kind}");
            for (message, expected) in messages.iter().zip(&expected) {
                assert!(hash(algorithm, message).as_ref().starts_with(expected));
                let mut hasher = Hasher::new(algorithm);
                message.chunks(61).for_each(|chunk| hasher.update(chunk));
                assert!(hasher.finalize().as_ref().starts_with(expected));
                #[cfg(feature = "digest")]
                assert_eq!(typed(algorithm, message, expected.len()), *expected);
            }
        }
        each_kernel(|kernel, algorithm| {
            let (messages, expected) = messages(algorithm, kind);
            let mut digests = vec![0; messages.len() * algorithm.digest_nbytes()];
            kernel.hash_many(algorithm, &messages, &mut digests).unwrap();
            assert!(are_right(algorithm, &digests, &expected), "{kernel}: all messages of {kind} at once");
            for (message, expected) in messages.iter().zip(&expected) {
                let digest = &mut digests[..algorithm.digest_nbytes()];
                kernel.hash_many(algorithm, &[message], digest).unwrap();
                assert!(digest.starts_with(expected), "{kernel}: {} bytes alone", message.len());
            }
        });
    }
}

/// Digests of many lengths.
#[test]
fn extendable_output() {
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.is_xof()) {
        let pairs = pairs(algorithm, "VariableOut");
        let values =
            |wanted: &'static str| pairs.iter().filter(move |(key, _)| key == wanted).map(|(_, v)| from_hex(v));
        let mut count = 0;
        for (message, expected) in values("Msg").zip(values("Output")) {
            let mut digest = vec![0; expected.len()];
            xof(algorithm, &message, &mut digest);
            assert_eq!(digest, expected, "{algorithm}");
            count += 1;
        }
        assert!(count >= 100, "{count} vectors of {algorithm}");
    }
}

/// Runs the same chain in every lane, so that every lane is checked 100,000 times; 10,000 times without optimisation.
#[test]
fn monte_carlo() {
    let nrounds = if cfg!(debug_assertions) { 10 } else { 100 };
    each_kernel(|kernel, algorithm| {
        // NIST made no such file for these; those of an XOF have digests of all lengths, and are run in C.
        let has_none =
            matches!(algorithm, Algorithm::Ripemd160 | Algorithm::Md5) || algorithm.name().starts_with("keccak");
        if has_none || algorithm.is_xof() {
            return;
        }
        let pairs = pairs(algorithm, "Monte");
        let value = |wanted: &'static str| pairs.iter().filter(move |(key, _)| key == wanted).map(|(_, v)| from_hex(v));
        let mut seed = value("Seed").next().expect("a seed");
        let digest_nbytes = algorithm.digest_nbytes();
        let mut digests = vec![0; kernel.lanes() * digest_nbytes];
        let mut count = 0;
        for expected in value("MD").take(nrounds) {
            let mut message = seed.repeat(if is_sponge(algorithm) { 1 } else { 3 });
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
