// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum`.

use clap::Args;

/// Print checksums of files.
#[derive(Debug, Args)]
pub struct Sum {}

/// Returns the exit status.
pub fn run(_arguments: &Sum) -> Result<u8, String> {
    Err("not built yet".to_owned())
}
