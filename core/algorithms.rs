// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by tools/algorithms.py from core/src/algorithms.def: do not edit.

// algorithms.py: rust_sys_constants
/// SHA-1: FIPS 180-4 section 6.1. For existing formats only.
pub const HL_SHA1: hl_alg = 1;
/// SHA-256: FIPS 180-4 section 6.2.
pub const HL_SHA256: hl_alg = 2;
/// SHA-224: FIPS 180-4 section 6.3.
pub const HL_SHA224: hl_alg = 3;
/// SHA-384: FIPS 180-4 section 6.5.
pub const HL_SHA384: hl_alg = 4;
/// SHA-512: FIPS 180-4 section 6.4.
pub const HL_SHA512: hl_alg = 5;
/// SHA-512/224: FIPS 180-4 section 6.6.
pub const HL_SHA512_224: hl_alg = 6;
/// SHA-512/256: FIPS 180-4 section 6.7.
pub const HL_SHA512_256: hl_alg = 7;
/// RIPEMD-160: Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3.
pub const HL_RIPEMD160: hl_alg = 8;
/// MD5: RFC 1321. For existing formats only.
pub const HL_MD5: hl_alg = 9;
/// SHA3-224: FIPS 202 section 6.1.
pub const HL_SHA3_224: hl_alg = 10;
/// SHA3-256: FIPS 202 section 6.1.
pub const HL_SHA3_256: hl_alg = 11;
/// SHA3-384: FIPS 202 section 6.1.
pub const HL_SHA3_384: hl_alg = 12;
/// SHA3-512: FIPS 202 section 6.1.
pub const HL_SHA3_512: hl_alg = 13;
/// SHAKE128: FIPS 202 section 6.2; digests of any length, usually 32 bytes.
pub const HL_SHAKE128: hl_alg = 14;
/// SHAKE256: FIPS 202 section 6.2; digests of any length, usually 64 bytes.
pub const HL_SHAKE256: hl_alg = 15;
/// Keccak-256: Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum.
pub const HL_KECCAK_256: hl_alg = 16;
/// SM3: GB/T 32905-2016.
pub const HL_SM3: hl_alg = 17;
/// BLAKE2b: RFC 7693.
pub const HL_BLAKE2B: hl_alg = 18;
/// BLAKE2b-256: RFC 7693.
pub const HL_BLAKE2B_256: hl_alg = 19;
/// BLAKE2s: RFC 7693.
pub const HL_BLAKE2S: hl_alg = 20;
/// BLAKE3: O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020: BLAKE3.
pub const HL_BLAKE3: hl_alg = 21;
// algorithms.py: end

// algorithms.py: rust_sys_sizes
/// Bytes in a SHA-1 digest.
pub const HL_SHA1_DIGEST_NBYTES: usize = 20;
/// Bytes in a SHA-256 digest.
pub const HL_SHA256_DIGEST_NBYTES: usize = 32;
/// Bytes in a SHA-224 digest.
pub const HL_SHA224_DIGEST_NBYTES: usize = 28;
/// Bytes in a SHA-384 digest.
pub const HL_SHA384_DIGEST_NBYTES: usize = 48;
/// Bytes in a SHA-512 digest.
pub const HL_SHA512_DIGEST_NBYTES: usize = 64;
/// Bytes in a SHA-512/224 digest.
pub const HL_SHA512_224_DIGEST_NBYTES: usize = 28;
/// Bytes in a SHA-512/256 digest.
pub const HL_SHA512_256_DIGEST_NBYTES: usize = 32;
/// Bytes in a RIPEMD-160 digest.
pub const HL_RIPEMD160_DIGEST_NBYTES: usize = 20;
/// Bytes in an MD5 digest.
pub const HL_MD5_DIGEST_NBYTES: usize = 16;
/// Bytes in a SHA3-224 digest.
pub const HL_SHA3_224_DIGEST_NBYTES: usize = 28;
/// Bytes in a SHA3-256 digest.
pub const HL_SHA3_256_DIGEST_NBYTES: usize = 32;
/// Bytes in a SHA3-384 digest.
pub const HL_SHA3_384_DIGEST_NBYTES: usize = 48;
/// Bytes in a SHA3-512 digest.
pub const HL_SHA3_512_DIGEST_NBYTES: usize = 64;
/// Bytes in a SHAKE128 digest, if a call names none.
pub const HL_SHAKE128_DIGEST_NBYTES: usize = 32;
/// Bytes in a SHAKE256 digest, if a call names none.
pub const HL_SHAKE256_DIGEST_NBYTES: usize = 64;
/// Bytes in a Keccak-256 digest.
pub const HL_KECCAK_256_DIGEST_NBYTES: usize = 32;
/// Bytes in a SM3 digest.
pub const HL_SM3_DIGEST_NBYTES: usize = 32;
/// Bytes in a BLAKE2b digest.
pub const HL_BLAKE2B_DIGEST_NBYTES: usize = 64;
/// Bytes in a BLAKE2b-256 digest.
pub const HL_BLAKE2B_256_DIGEST_NBYTES: usize = 32;
/// Bytes in a BLAKE2s digest.
pub const HL_BLAKE2S_DIGEST_NBYTES: usize = 32;
/// Bytes in a BLAKE3 digest.
pub const HL_BLAKE3_DIGEST_NBYTES: usize = 32;
// algorithms.py: end

// algorithms.py: rust_sys_bodies
/// SHA-1.
pub const HL_BODY_SHA1: hl_body = 0;
/// SHA-256, SHA-224.
pub const HL_BODY_SHA256: hl_body = 1;
/// SHA-384, SHA-512, SHA-512/224, SHA-512/256.
pub const HL_BODY_SHA512: hl_body = 2;
/// RIPEMD-160.
pub const HL_BODY_RIPEMD160: hl_body = 3;
/// MD5.
pub const HL_BODY_MD5: hl_body = 4;
/// SHA3-224, SHA3-256, SHA3-384, SHA3-512, SHAKE128, SHAKE256, Keccak-256.
pub const HL_BODY_KECCAK: hl_body = 5;
/// SM3.
pub const HL_BODY_SM3: hl_body = 6;
/// BLAKE2b, BLAKE2b-256.
pub const HL_BODY_BLAKE2B: hl_body = 7;
/// BLAKE2s.
pub const HL_BODY_BLAKE2S: hl_body = 8;
/// BLAKE3.
pub const HL_BODY_BLAKE3: hl_body = 9;
// algorithms.py: end
