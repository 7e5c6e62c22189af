// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by tools/algorithms.py from core/src/algorithms.def: do not edit.

// algorithms.py: rust_cores
#[cfg(feature = "sha1")]
fixed! {
    Sha1, Sha1Core, "SHA-1", "FIPS 180-4 section 6.1",
    [u32; 5], 8, U28, U64, U20
}
#[cfg(feature = "sha256")]
fixed! {
    Sha224, Sha224Core, "SHA-224", "FIPS 180-4 section 6.3",
    [u32; 8], 8, U40, U64, U28
}
#[cfg(feature = "sha256")]
fixed! {
    Sha256, Sha256Core, "SHA-256", "FIPS 180-4 section 6.2",
    [u32; 8], 8, U40, U64, U32
}
#[cfg(feature = "sha512")]
fixed! {
    Sha384, Sha384Core, "SHA-384", "FIPS 180-4 section 6.5",
    [u64; 8], 16, U80, U128, U48
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512, Sha512Core, "SHA-512", "FIPS 180-4 section 6.4",
    [u64; 8], 16, U80, U128, U64
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512_224, Sha512_224Core, "SHA-512/224", "FIPS 180-4 section 6.6",
    [u64; 8], 16, U80, U128, U28
}
#[cfg(feature = "sha512")]
fixed! {
    Sha512_256, Sha512_256Core, "SHA-512/256", "FIPS 180-4 section 6.7",
    [u64; 8], 16, U80, U128, U32
}
#[cfg(feature = "ripemd160")]
fixed! {
    Ripemd160, Ripemd160Core, "RIPEMD-160", "Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3",
    [u32; 5], 8, U28, U64, U20
}
#[cfg(feature = "md5")]
fixed! {
    Md5, Md5Core, "MD5", "RFC 1321",
    [u32; 4], 8, U24, U64, U16
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_224, Sha3_224Core, "SHA3-224", "FIPS 202 section 6.1",
    [u64; 25], 0, U200, U144, U28
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_256, Sha3_256Core, "SHA3-256", "FIPS 202 section 6.1",
    [u64; 25], 0, U200, U136, U32
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_384, Sha3_384Core, "SHA3-384", "FIPS 202 section 6.1",
    [u64; 25], 0, U200, U104, U48
}
#[cfg(feature = "sha3")]
fixed! {
    Sha3_512, Sha3_512Core, "SHA3-512", "FIPS 202 section 6.1",
    [u64; 25], 0, U200, U72, U64
}
#[cfg(feature = "sha3")]
fixed! {
    Keccak256, Keccak256Core, "Keccak-256", "Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum",
    [u64; 25], 0, U200, U136, U32
}
#[cfg(feature = "sha3")]
xof! {
    Shake128, Shake128Core, "SHAKE128", "FIPS 202 section 6.2",
    [u64; 25], 0, U200, U168, U16, Shake128ReaderCore
}
#[cfg(feature = "sha3")]
xof! {
    Shake256, Shake256Core, "SHAKE256", "FIPS 202 section 6.2",
    [u64; 25], 0, U200, U136, U32, Shake256ReaderCore
}
#[cfg(feature = "sm3")]
fixed! {
    Sm3, Sm3Core, "SM3", "GB/T 32905-2016",
    [u32; 8], 8, U40, U64, U32
}
// algorithms.py: end
