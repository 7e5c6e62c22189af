// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom digest`, and the binary called `digest`.

use std::ffi::OsString;

use clap::Args;

/// Print digests as digest(1) of Solaris does.
#[derive(Debug, Args)]
pub struct Digest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Does what the program does; `arguments` begin with its name. Returns the exit status.
pub fn run(_arguments: &[OsString]) -> u8 {
    1
}
