// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash many independent messages at once.
//!
//! A hash is a serial chain of steps, which leaves most of a wide CPU idle. This crate puts message *i* into
//! lane *i* of a SIMD register, so that one instruction advances up to 16 messages. At run time it chooses the CPU's
//! fastest kernel for the number of messages. Every digest is the standard one. The algorithms are SHA-1, SHA-2, SHA-3,
//! SHAKE, BLAKE2, BLAKE3, SM3, RIPEMD-160 and MD5: see [`Algorithm`].
//!
//! ```
//! use hashloom::{Algorithm, hash_many};
//!
//! let messages = ["abc", "", "a message of another length"];
//! let mut digests = [0; 3 * Algorithm::Sha256.digest_nbytes()];
//! hash_many(Algorithm::Sha256, &messages, &mut digests);
//! assert_eq!(digests[..4], [0xba, 0x78, 0x16, 0xbf]);
//! ```
//!
//! | input | call |
//! |---|---|
//! | one message | [`hash()`] |
//! | many messages, each a slice, such as the values of an Apache Arrow column | [`hash_many`] |
//! | pieces of a buffer, a column of a table, nodes of a tree | [`hash_rows`] |
//! | rows hashed twice, as Bitcoin does with keys and headers | [`hash160_rows`], [`sha256d_rows`] |
//! | layers of a Merkle tree, also in place; whole trees | [`hash_pairs`], [`hash_pairs_in_place`]; [`merkle`] |
//! | one message that arrives in parts | [`Hasher`] |
//! | many messages that arrive in parts, such as files | [`update_many`], [`finalize_many`] |
//! | one long message on several threads (BLAKE3) | [`Hasher::blake3_subtree`] |
//! | digests of any length, of SHAKE | [`xof`], [`xof_many`], [`Hasher::finalize_xof`] |
//! | messages and a key (HMAC) | [`HmacKey`] with [`hmac()`], [`hmac_many`] or [`Hmac`] |
//! | keys derived from passwords (PBKDF2) | [`pbkdf2()`], [`pbkdf2_many`], [`pbkdf2_many_until`] |
//! | SHA-1 of data that an attacker may have made, such as Git's objects | [`sha1dc`] |
//! | code written for the RustCrypto traits | `Sha256`, `HmacSha256` and the others (feature `digest`) |
//! | the list of kernels, and a choice among them | [`kernels`] |
//! | signatures made of hashes alone (SLH-DSA), proof of work | the crates `hashloom-slh`, `-work` |
//! | files, hash trees, torrents, manifests of folders | the crates `hashloom-files`, `-tree`, `-torrent`, `-list` |
//!
//! These rules hold for every function of the table. Lengths are in bytes, and a length may be zero. No function
//! allocates memory (except [`hash_many`], as described there) or reads a file or an environment
//! variable. Any number of threads may call at once. A message may have up to 2<sup>61</sup> − 1 bytes; a longer one,
//! which takes years to hash, is a panic.
//!
//! # Features
//!
//! The crate is `no_std`, needs `alloc`, and depends on no crate of other authors unless a feature asks for one.
//!
//! - `std` (default): [`std::io::Write`] for the hashers.
//! - `digest`: types with the traits of the RustCrypto crate [`digest`](https://docs.rs/digest), in place of those of
//!   `sha1`, `sha2`, `sha3` 0.11, `md-5`, `ripemd`, `sm3` and `hmac`: `Sha256`, `Shake128`, `HmacSha256`, … and the
//!   module `block_api`. `DigestMany` hashes many messages in code that is generic over `Digest`.
//! - `oid`: `digest::const_oid::AssociatedOid` for these types.
//! - `zeroize`: hashers wipe themselves when dropped. HMAC's keys and contexts do so even without this feature.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(missing_docs, unsafe_code)]

extern crate alloc;

mod algorithm;
mod blake2;
mod blake3;
#[cfg(feature = "digest")]
#[cfg_attr(not(feature = "all"), allow(unused, reason = "some algorithm may be no XOF, or nothing else"))]
pub mod block_api;
#[allow(unsafe_code)]
#[cfg_attr(not(feature = "all"), allow(dead_code, reason = "calls of algorithms that are not built"))]
mod ffi;
mod hash;
mod hasher;
#[cfg(feature = "hmac")]
mod hmac;
pub mod kernels;
mod many;
#[cfg(feature = "merkle")]
pub mod merkle;
#[cfg(feature = "hmac")]
mod pbkdf2;
#[cfg(feature = "digest")]
#[cfg_attr(not(feature = "all"), allow(unused, reason = "some algorithm may be no XOF, or nothing else"))]
mod rustcrypto;
#[cfg(all(feature = "digest", feature = "hmac"))]
mod rustcrypto_mac;
#[cfg(feature = "sha1dc")]
pub mod sha1dc;
#[cfg(feature = "sha3")]
mod xof;

pub use algorithm::{Algorithm, ParseAlgorithmError};
#[cfg(any(feature = "blake2b", feature = "blake2s"))]
pub use blake2::Blake2Parameters;
/// The RustCrypto traits that [`Sha256`] and the others implement.
#[cfg(feature = "digest")]
pub use digest;
/// The trait with `new`, `update`, `finalize` and `digest` for [`Sha256`] and the others, as in `sha2`.
#[cfg(feature = "digest")]
pub use digest::Digest;
pub use ffi::{RowLayout, Rows};
/// For the crates whose C calls are not made here.
#[doc(hidden)]
pub use ffi::{check, text};
pub use hash::{Hash, ParseHashError, equal};
pub use hasher::{Hasher, finalize_many, update_many};
#[cfg(feature = "hmac")]
pub use hmac::{Hmac, HmacKey, TagMismatch, hmac, hmac_many};
#[cfg(all(feature = "ripemd160", feature = "sha256"))]
pub use many::hash160_rows;
#[cfg(feature = "sha256")]
pub use many::sha256d_rows;
pub use many::{hash, hash_many, hash_pairs, hash_pairs_in_place, hash_rows};
#[cfg(feature = "hmac")]
pub use pbkdf2::{Stopped, pbkdf2, pbkdf2_many, pbkdf2_many_until};
#[cfg(feature = "digest")]
pub use rustcrypto::*;
#[cfg(all(feature = "digest", feature = "hmac"))]
pub use rustcrypto_mac::*;
#[cfg(feature = "sha3")]
pub use xof::{XofReader, xof, xof_many};

// The examples in README.md as documentation tests.
#[cfg(all(doctest, feature = "digest", feature = "all"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
