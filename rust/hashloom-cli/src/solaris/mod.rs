// SPDX-License-Identifier: MIT OR Apache-2.0

//! `digest(1)` and `mac(1)` of Solaris: as commands of `hashloom`, and as programs of these names.

pub mod digest;
pub mod mac;
