// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | lists of checksums | [`Parser`], [`Writer`]; all forms are told there |
//! | the digest of one file, as somebody copied it | [`read_digest`] |
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod list;

pub use list::{
    BadDigest, BadLine, Crc, Encoding, Entry, FORMS, Form, Line, Parser, Place, Writer, Written, decoded, escaped,
    nearest, read_digest, tag,
};
