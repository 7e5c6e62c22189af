// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by tools/algorithms.py from core/src/algorithms.def: do not edit.

// algorithms.py: rust_types
#[cfg(feature = "sha1")]
fixed! {
    Sha1, Sha1Core, "SHA-1", "sha1::Sha1",
    "Not collision resistant: for existing formats only. The standard is FIPS 180-4 section 6.1.", oid "1.3.14.3.2.26"
}
#[cfg(feature = "sha256")]
fixed! {
    Sha224, Sha224Core, "SHA-224", "sha2::Sha224",
    "The standard is FIPS 180-4 section 6.3.", oid "2.16.840.1.101.3.4.2.4"
}
#[cfg(feature = "sha256")]
fixed! {
    Sha256, Sha256Core, "SHA-256", "sha2::Sha256",
    "The standard is FIPS 180-4 section 6.2.", oid "2.16.840.1.101.3.4.2.1"
}
#[cfg(feature = "sha512")]
fixed! {
    Sha384, Sha384Core, "SHA-384", "sha2::Sha384",
    "The standard is FIPS 180-4 section 6.5.", oid "2.16.840.1.101.3.4.2.2"
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512, Sha512Core, "SHA-512", "sha2::Sha512",
    "The standard is FIPS 180-4 section 6.4.", oid "2.16.840.1.101.3.4.2.3"
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512_224, Sha512_224Core, "SHA-512/224", "sha2::Sha512_224",
    "The standard is FIPS 180-4 section 6.6.", oid "2.16.840.1.101.3.4.2.5"
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512_256, Sha512_256Core, "SHA-512/256", "sha2::Sha512_256",
    "The standard is FIPS 180-4 section 6.7.", oid "2.16.840.1.101.3.4.2.6"
}
#[cfg(feature = "ripemd160")]
fixed! {
    Ripemd160, Ripemd160Core, "RIPEMD-160", "ripemd::Ripemd160",
    "The standard is Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3.", oid "1.3.36.3.2.1"
}
#[cfg(feature = "md5")]
fixed! {
    Md5, Md5Core, "MD5", "md5::Md5",
    "Not collision resistant: for existing formats only. The standard is RFC 1321.", oid "1.2.840.113549.2.5"
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_224, Sha3_224Core, "SHA3-224", "sha3::Sha3_224",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.7"
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_256, Sha3_256Core, "SHA3-256", "sha3::Sha3_256",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.8"
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_384, Sha3_384Core, "SHA3-384", "sha3::Sha3_384",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.9"
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_512, Sha3_512Core, "SHA3-512", "sha3::Sha3_512",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.10"
}
#[cfg(feature = "sha3")]
fixed! {
    Keccak256, Keccak256Core, "Keccak-256", "sha3::Keccak256",
    "The standard is Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum."
}
#[cfg(feature = "sha3")]
xof! {
    Shake128, Shake128Core, Shake128Reader, Shake128ReaderCore, "SHAKE128", "sha3::Shake128",
    "The standard is FIPS 202 section 6.2.", oid "2.16.840.1.101.3.4.2.11"
}
#[cfg(feature = "sha3")]
xof! {
    Shake256, Shake256Core, Shake256Reader, Shake256ReaderCore, "SHAKE256", "sha3::Shake256",
    "The standard is FIPS 202 section 6.2.", oid "2.16.840.1.101.3.4.2.12"
}
#[cfg(feature = "sm3")]
fixed! {
    Sm3, Sm3Core, "SM3", "sm3::Sm3",
    "The standard is GB/T 32905-2016.", oid "1.2.156.10197.1.401"
}
types! {
    "sha1" Sha1
    "sha256" Sha224
    "sha256" Sha256
    "sha512" Sha384
    "sha512" Sha512
    "sha512" Sha512_224
    "sha512" Sha512_256
    "ripemd160" Ripemd160
    "md5" Md5
    "sha3" Sha3_224
    "sha3" Sha3_256
    "sha3" Sha3_384
    "sha3" Sha3_512
    "sha3" Keccak256
    "sm3" Sm3
}
// algorithms.py: end
