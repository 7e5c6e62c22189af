// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | lists of checksums | [`Parser`], [`Writer`]; all forms are told there |
//! | the files of a folder, now and later | [`manifest`] |
//! | signatures of manifests | [`manifest::signature`]; the feature `sign` makes them |
//! | a signed log of manifests | [`manifest::log`] |
//! | any value as JSON that cannot steer a terminal | [`write_json`] |
#![deny(missing_docs, unsafe_code)]

mod json;
mod list;
pub mod manifest;

pub use json::write_json;
pub use list::{BadLine, Entry, Line, Parser, Writer, decoded, escaped, tag};
