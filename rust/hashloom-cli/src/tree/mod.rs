// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree`: Merkle roots of files.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Tree {}

/// Returns the exit status.
pub fn run(_command: &Tree) -> Result<u8, String> {
    Err("not built yet".to_owned())
}
