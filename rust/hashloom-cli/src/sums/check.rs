// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom check`.

use clap::Args;

/// Check files against lists of checksums.
#[derive(Debug, Args)]
pub struct Check {}

/// Returns the exit status.
pub fn run(_arguments: &Check) -> Result<u8, String> {
    Err("not built yet".to_owned())
}
