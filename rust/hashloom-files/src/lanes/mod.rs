// SPDX-License-Identifier: MIT OR Apache-2.0

//! Messages in lanes: each thread works on several, has a chunk of each in memory, and hashes all chunks side by side.
//!
//! Whole files (`files`) and pieces of torrents and trees ([`pieces`](crate::pieces)) are the two `Client`s. They
//! differ in where a chunk comes from (`Message`) and in what becomes of a digest. All else is here.

mod fetched;
mod hashing;
mod lane;
pub mod leaves;
mod places;
mod run;

pub(crate) use fetched::{ALL, Fetched, Tasks, read_part};
pub use hashing::Form;
pub(crate) use hashing::Hashing;
pub(crate) use lane::{Lane, Message, State};
pub use leaves::Leaves;
pub(crate) use places::{CHUNK_MAX_NBYTES, Chunk, Part, Places};
pub(crate) use run::{Client, run};
