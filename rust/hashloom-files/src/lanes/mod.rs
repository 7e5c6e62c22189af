// SPDX-License-Identifier: MIT OR Apache-2.0

//! A round of a thread: a chunk of each of its messages, and all chunks hashed side by side.
//!
//! Whole files (`files`) and pieces of torrents and trees ([`pieces`](crate::pieces)) differ in where a
//! chunk comes from and in what becomes of a digest. What lies between is here.

mod hashing;
pub mod leaves;
mod places;

pub use hashing::Form;
pub(crate) use hashing::{Hashing, Message, hash_leaves, hash_round, take_ended};
pub use leaves::Leaves;
pub(crate) use places::{CHUNK_MAX_NBYTES, Chunk, Places};
