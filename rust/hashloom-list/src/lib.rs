// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | lists of checksums | [`Parser`], [`Writer`]; all forms are told there |
//! | the digest of one file, as somebody copied it | [`read_digest`] |
//! | the block lists of PAR 2.0 files | [`Par2`] |
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod list;
mod par2;

pub use list::{
    BadDigest, BadLine, Crc, Encoding, Entry, FORMS, Form, Line, Parser, Place, Writer, Written, decoded, escaped,
    nearest, read_digest, tag,
};
pub use par2::{Par2, Par2File};
