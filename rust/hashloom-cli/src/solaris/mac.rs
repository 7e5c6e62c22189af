// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom mac`, and the binary called `mac`.

use std::ffi::OsString;

use clap::Args;

/// Print message authentication codes as mac(1) of Solaris does.
#[derive(Debug, Args)]
pub struct Mac {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Does what the program does; `arguments` begin with its name. Returns the exit status.
pub fn run(_arguments: &[OsString]) -> u8 {
    1
}
