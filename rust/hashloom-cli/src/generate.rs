// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom generate`: manual pages and shell completions.

use clap::Args;

/// Write manual pages or shell completions.
#[derive(Debug, Args)]
pub struct Generate {}

/// Returns the exit status.
pub fn run(_arguments: &Generate) -> Result<u8, String> {
    Err("not built yet".to_owned())
}
