// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent`.

pub mod clients;
