// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by tools/algorithms.py from core/src/algorithms.def: do not edit.

algorithms! {
    // algorithms.py: rust_algorithms
    "sha1"
    /// SHA-1: FIPS 180-4 section 6.1; 20-byte digest.
    ///
    /// Not collision resistant: for existing formats only, never where somebody might gain by a forged message.
    Sha1 = HL_SHA1, "sha1", "SHA-1", ["SHA1", "SHA-1"],
        20, 64, HL_BODY_SHA1, false, true;
    "sha256"
    /// SHA-224: FIPS 180-4 section 6.3; 28-byte digest.
    Sha224 = HL_SHA224, "sha224", "SHA-224", ["SHA224", "SHA2-224"],
        28, 64, HL_BODY_SHA256, false, true;
    "sha256"
    /// SHA-256: FIPS 180-4 section 6.2; 32-byte digest.
    Sha256 = HL_SHA256, "sha256", "SHA-256", ["SHA256", "SHA2-256", "SHA-256"],
        32, 64, HL_BODY_SHA256, false, true;
    "sha512"
    /// SHA-384: FIPS 180-4 section 6.5; 48-byte digest.
    Sha384 = HL_SHA384, "sha384", "SHA-384", ["SHA384", "SHA2-384"],
        48, 128, HL_BODY_SHA512, false, true;
    "sha512"
    /// SHA-512: FIPS 180-4 section 6.4; 64-byte digest.
    Sha512 = HL_SHA512, "sha512", "SHA-512", ["SHA512", "SHA2-512", "SHA-512"],
        64, 128, HL_BODY_SHA512, false, true;
    "sha512"
    /// SHA-512/224: FIPS 180-4 section 6.6; 28-byte digest.
    Sha512_224 = HL_SHA512_224, "sha512-224", "SHA-512/224", ["SHA512/224", "SHA512-224", "SHA2-512/224", "SHA512t224"],
        28, 128, HL_BODY_SHA512, false, true;
    "sha512"
    /// SHA-512/256: FIPS 180-4 section 6.7; 32-byte digest.
    Sha512_256 = HL_SHA512_256, "sha512-256", "SHA-512/256", ["SHA512/256", "SHA512-256", "SHA2-512/256", "SHA512t256"],
        32, 128, HL_BODY_SHA512, false, true;
    "ripemd160"
    /// RIPEMD-160: Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3; 20-byte digest.
    Ripemd160 = HL_RIPEMD160, "ripemd160", "RIPEMD-160", ["RMD160", "RIPEMD160", "RIPEMD-160"],
        20, 64, HL_BODY_RIPEMD160, false, true;
    "md5"
    /// MD5: RFC 1321; 16-byte digest.
    ///
    /// Not collision resistant: for existing formats only, never where somebody might gain by a forged message.
    Md5 = HL_MD5, "md5", "MD5", ["MD5"],
        16, 64, HL_BODY_MD5, false, true;
    "sha3"
    /// SHA3-224: FIPS 202 section 6.1; 28-byte digest.
    Sha3_224 = HL_SHA3_224, "sha3-224", "SHA3-224", ["SHA3-224", "SHA3_224"],
        28, 144, HL_BODY_KECCAK, false, true;
    "sha3"
    /// SHA3-256: FIPS 202 section 6.1; 32-byte digest.
    Sha3_256 = HL_SHA3_256, "sha3-256", "SHA3-256", ["SHA3-256", "SHA3_256"],
        32, 136, HL_BODY_KECCAK, false, true;
    "sha3"
    /// SHA3-384: FIPS 202 section 6.1; 48-byte digest.
    Sha3_384 = HL_SHA3_384, "sha3-384", "SHA3-384", ["SHA3-384", "SHA3_384"],
        48, 104, HL_BODY_KECCAK, false, true;
    "sha3"
    /// SHA3-512: FIPS 202 section 6.1; 64-byte digest.
    Sha3_512 = HL_SHA3_512, "sha3-512", "SHA3-512", ["SHA3-512", "SHA3_512"],
        64, 72, HL_BODY_KECCAK, false, true;
    "sha3"
    /// Keccak-256: Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum; 32-byte digest.
    Keccak256 = HL_KECCAK_256, "keccak-256", "Keccak-256", ["KECCAK-256", "Keccak-256"],
        32, 136, HL_BODY_KECCAK, false, true;
    "sha3"
    /// SHAKE128: FIPS 202 section 6.2; 32-byte digest, or any other length.
    Shake128 = HL_SHAKE128, "shake128", "SHAKE128", ["SHAKE128", "SHAKE-128"],
        32, 168, HL_BODY_KECCAK, true, false;
    "sha3"
    /// SHAKE256: FIPS 202 section 6.2; 64-byte digest, or any other length.
    Shake256 = HL_SHAKE256, "shake256", "SHAKE256", ["SHAKE256", "SHAKE-256"],
        64, 136, HL_BODY_KECCAK, true, false;
    "sm3"
    /// SM3: GB/T 32905-2016; 32-byte digest.
    Sm3 = HL_SM3, "sm3", "SM3", ["SM3"],
        32, 64, HL_BODY_SM3, false, true;
    "blake2b"
    /// BLAKE2b: RFC 7693; 64-byte digest.
    Blake2b = HL_BLAKE2B, "blake2b", "BLAKE2b", ["BLAKE2b", "BLAKE2B", "BLAKE2b-512", "BLAKE2B-512", "BLAKE2b512"],
        64, 128, HL_BODY_BLAKE2B, false, false;
    "blake2b"
    /// BLAKE2b-256: RFC 7693; 32-byte digest.
    Blake2b256 = HL_BLAKE2B_256, "blake2b-256", "BLAKE2b-256", ["BLAKE2b-256", "BLAKE2B-256"],
        32, 128, HL_BODY_BLAKE2B, false, false;
    "blake2s"
    /// BLAKE2s: RFC 7693; 32-byte digest.
    Blake2s = HL_BLAKE2S, "blake2s", "BLAKE2s", ["BLAKE2s", "BLAKE2S", "BLAKE2s-256", "BLAKE2S-256", "BLAKE2s256"],
        32, 64, HL_BODY_BLAKE2S, false, false;
    "blake3"
    /// BLAKE3: O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020: BLAKE3; 32-byte digest.
    Blake3 = HL_BLAKE3, "blake3", "BLAKE3", ["BLAKE3"],
        32, 64, HL_BODY_BLAKE3, false, false;
    // algorithms.py: end
}
