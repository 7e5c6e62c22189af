// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs, unsafe_code)]

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod par2;

pub use par2::{Par2, Par2File};
