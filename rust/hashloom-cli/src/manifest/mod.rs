// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest`: what the files of a folder are, and what has become of them.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Manifest {}

/// Returns the exit status.
pub fn run(_command: &Manifest) -> Result<u8, String> {
    Err("not built yet".to_owned())
}
