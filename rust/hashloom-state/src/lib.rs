// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! [`State`] is the file. A [`Tie`] says of which thing at which time an entry is, and a [`Folder`] makes the ties of
//! files.
#![deny(missing_docs, unsafe_code)]

mod device;
#[cfg(feature = "command")]
mod progress;
mod state;
mod tie;

#[cfg(feature = "command")]
#[doc(hidden)]
pub use progress::Progress;
pub use state::State;
pub use tie::{Folder, NoTie, Tie};
