// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by tools/algorithms.py from core/src/algorithms.def: do not edit.

// algorithms.py: rust_macs
#[cfg(feature = "sha1")]
mac!(HmacSha1, Sha1, U64, U20);
#[cfg(feature = "sha256")]
mac!(HmacSha224, Sha224, U64, U28);
#[cfg(feature = "sha256")]
mac!(HmacSha256, Sha256, U64, U32);
#[cfg(feature = "sha512")]
mac!(HmacSha384, Sha384, U128, U48);
#[cfg(feature = "sha512")]
mac!(HmacSha512, Sha512, U128, U64);
#[cfg(feature = "sha512")]
mac!(HmacSha512_224, Sha512_224, U128, U28);
#[cfg(feature = "sha512")]
mac!(HmacSha512_256, Sha512_256, U128, U32);
#[cfg(feature = "ripemd160")]
mac!(HmacRipemd160, Ripemd160, U64, U20);
#[cfg(feature = "md5")]
mac!(HmacMd5, Md5, U64, U16);
#[cfg(feature = "sha3")]
mac!(HmacSha3_224, Sha3_224, U144, U28);
#[cfg(feature = "sha3")]
mac!(HmacSha3_256, Sha3_256, U136, U32);
#[cfg(feature = "sha3")]
mac!(HmacSha3_384, Sha3_384, U104, U48);
#[cfg(feature = "sha3")]
mac!(HmacSha3_512, Sha3_512, U72, U64);
#[cfg(feature = "sha3")]
mac!(HmacKeccak256, Keccak256, U136, U32);
#[cfg(feature = "sm3")]
mac!(HmacSm3, Sm3, U64, U32);
// algorithms.py: end
