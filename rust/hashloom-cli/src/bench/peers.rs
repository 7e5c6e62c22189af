// SPDX-License-Identifier: MIT OR Apache-2.0

//! Other libraries, which hash one message after the other.

use std::path::Path;

use hashloom::Algorithm;

use super::openssl::OpenSsl;
use super::{HashMany, Kind, Side};

/// The versions that Cargo.toml asks for; the crates do not tell theirs.
const RING: &str = "ring 0.17";
const SHA1: &str = "RustCrypto sha1 0.11";
const SHA2: &str = "RustCrypto sha2 0.11";
const SHA3: &str = "RustCrypto sha3 0.11";
const RIPEMD: &str = "RustCrypto ripemd 0.2";
const MD5: &str = "RustCrypto md-5 0.11";

pub struct Peers {
    openssl: Result<OpenSsl, String>,
}

impl Peers {
    /// Loads the given libcrypto, which must exist, or the system's, if any.
    pub fn load(libcrypto: Option<&Path>) -> Result<Peers, String> {
        Ok(Peers {
            openssl: match libcrypto {
                Some(path) => Ok(OpenSsl::load(path.as_os_str())?),
                None => OpenSsl::of_system(),
            },
        })
    }

    pub fn sides(&self, algorithm: Algorithm) -> Vec<Side<'_>> {
        let openssl = match &self.openssl {
            Ok(openssl) => (openssl.name().to_owned(), openssl.hash_many(algorithm)),
            Err(reason) => ("OpenSSL".to_owned(), Err(reason.clone())),
        };
        let sides = [openssl, (RING.to_owned(), ring(algorithm)), rustcrypto(algorithm)];
        sides.into_iter().map(|(name, hash_many)| Side { kind: Kind::Peer, name, hash_many }).collect()
    }
}

fn not_offered(algorithm: Algorithm) -> String {
    format!("does not offer {algorithm}")
}

fn ring<'a>(algorithm: Algorithm) -> Result<HashMany<'a>, String> {
    use ring::digest;
    let digest_algorithm = match algorithm {
        Algorithm::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        Algorithm::Sha256 => &digest::SHA256,
        Algorithm::Sha384 => &digest::SHA384,
        Algorithm::Sha512 => &digest::SHA512,
        Algorithm::Sha512_256 => &digest::SHA512_256,
        _ => return Err(not_offered(algorithm)),
    };
    Ok(Box::new(move |messages, digests| {
        for (message, place) in messages.iter().zip(digests.chunks_exact_mut(digest_algorithm.output_len())) {
            place.copy_from_slice(digest::digest(digest_algorithm, message).as_ref());
        }
    }))
}

fn rustcrypto<'a>(algorithm: Algorithm) -> (String, Result<HashMany<'a>, String>) {
    #[rustfmt::skip]
    let (name, hash_many): (&str, HashMany<'_>) = match algorithm {
        // algorithms.py: rust_bench_peers
        Algorithm::Sha1 => (SHA1, Box::new(hash_many::<sha1::Sha1>)),
        Algorithm::Sha224 => (SHA2, Box::new(hash_many::<sha2::Sha224>)),
        Algorithm::Sha256 => (SHA2, Box::new(hash_many::<sha2::Sha256>)),
        Algorithm::Sha384 => (SHA2, Box::new(hash_many::<sha2::Sha384>)),
        Algorithm::Sha512 => (SHA2, Box::new(hash_many::<sha2::Sha512>)),
        Algorithm::Sha512_224 => (SHA2, Box::new(hash_many::<sha2::Sha512_224>)),
        Algorithm::Sha512_256 => (SHA2, Box::new(hash_many::<sha2::Sha512_256>)),
        Algorithm::Ripemd160 => (RIPEMD, Box::new(hash_many::<ripemd::Ripemd160>)),
        Algorithm::Md5 => (MD5, Box::new(hash_many::<md5::Md5>)),
        Algorithm::Sha3_224 => (SHA3, Box::new(hash_many::<sha3::Sha3_224>)),
        Algorithm::Sha3_256 => (SHA3, Box::new(hash_many::<sha3::Sha3_256>)),
        Algorithm::Sha3_384 => (SHA3, Box::new(hash_many::<sha3::Sha3_384>)),
        Algorithm::Sha3_512 => (SHA3, Box::new(hash_many::<sha3::Sha3_512>)),
        Algorithm::Keccak256 => (SHA3, Box::new(hash_many::<sha3::Keccak256>)),
        Algorithm::Shake128 => (SHA3, Box::new(xof_many::<sha3::Shake128>)),
        Algorithm::Shake256 => (SHA3, Box::new(xof_many::<sha3::Shake256>)),
        // algorithms.py: end
        _ => return ("RustCrypto".to_owned(), Err(not_offered(algorithm))),
    };
    (name.to_owned(), Ok(hash_many))
}

fn hash_many<D: sha2::Digest>(messages: &[&[u8]], digests: &mut [u8]) {
    for (message, place) in messages.iter().zip(digests.chunks_exact_mut(<D as sha2::Digest>::output_size())) {
        place.copy_from_slice(&D::digest(message));
    }
}

fn xof_many<D: sha3::digest::ExtendableOutput + sha3::digest::Update + Default>(
    messages: &[&[u8]],
    digests: &mut [u8],
) {
    let Some(digest_nbytes) = digests.len().checked_div(messages.len()) else { return };
    for (message, place) in messages.iter().zip(digests.chunks_exact_mut(digest_nbytes)) {
        D::digest_xof(message, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_have_the_versions_of_cargo_toml() {
        let manifest = include_str!("../../Cargo.toml");
        for name in [RING, SHA1, SHA2, SHA3, RIPEMD, MD5] {
            let (name, version) = name.rsplit_once(' ').unwrap();
            let name = name.trim_start_matches("RustCrypto ");
            let line = format!("\n{name} = {{ version = \"{version}\", optional = true }}");
            assert!(manifest.contains(&line), "not in Cargo.toml: {line}");
        }
    }

    #[test]
    fn rustcrypto_has_every_algorithm_and_ring_says_what_it_has_not() {
        for &algorithm in Algorithm::ALL {
            assert!(rustcrypto(algorithm).1.is_ok(), "{algorithm}");
        }
        assert_eq!(ring(Algorithm::Ripemd160).err().as_deref(), Some("does not offer ripemd160"));
    }
}
