// SPDX-License-Identifier: MIT OR Apache-2.0

//! The crate's functions, beside other implementations. One program, as each would link the crates again;
//! `cargo test -p hashloom --test all blake3::` runs one file of it.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod blake3;
#[cfg(feature = "std")]
mod hmac;
mod kernels;
mod many;
mod merkle;
mod pbkdf2;
#[cfg(feature = "digest")]
mod rustcrypto;
mod sha1dc;
mod streams;
