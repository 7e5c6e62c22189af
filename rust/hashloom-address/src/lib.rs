// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! A [`Reader`] reads files in blocks of lines or rows; [`Addresses`], [`Hashes`] and [`Decoder`] convert a block at a
//! time, and blocks can be converted on several threads. Bytes of secret keys are overwritten after use.
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod convert;
mod decode;
mod encode;
mod hex;
mod input;
mod keys;
mod network;
mod secret;

pub use convert::{Convert, Output};
pub use decode::{Decoder, HEADER};
pub use encode::{Addresses, Hashes, Type};
pub use input::{Block, Items, LINE_MAX_NBYTES, Next, Reader};
pub use keys::{Form, Plan, Source};
pub use network::{Network, Prefixes};
/// The context of the curve that [`Plan`] takes.
pub use secp256k1::{All, Secp256k1};
