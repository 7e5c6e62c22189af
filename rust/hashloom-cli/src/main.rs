// SPDX-License-Identifier: MIT OR Apache-2.0

//! The program `hashloom`.
//!
//! It reads arguments and prints; the work is done by the crate `hashloom`.

mod args;
mod bitfield;
mod json;
mod map;
mod style;
mod summary;
mod units;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, restrict_for};

use args::{Arguments, Command, TorrentCommand};

/// Some piece or file is missing or bad.
const EXIT_INCOMPLETE: u8 = 1;
/// Usage, a bad torrent, or a file that could not be read. clap exits with this too.
const EXIT_ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(status) => ExitCode::from(status),
        Err(message) => {
            // Not eprintln!, which panics where standard error is full or nobody reads it: the exit status must still tell.
            let _ = writeln!(io::stderr(), "{} {message}", style::error("error:"));
            ExitCode::from(EXIT_ERROR)
        }
    }
}

fn run(arguments: &Arguments) -> Result<u8, String> {
    // An empty variable is one that is not set.
    if let Some(names) = arguments.isa.as_deref().filter(|names| !names.is_empty()) {
        let isas = IsaSet::parse(names).map_err(|error| format!("--isa or HASHLOOM_ISA: {error}"))?;
        // The one algorithm of torrents of version 1.
        restrict_for(isas, Algorithm::Sha1).map_err(|error| format!("--isa or HASHLOOM_ISA: {error}"))?;
    }
    match &arguments.command {
        Command::Torrent { command: TorrentCommand::Verify(options) } => verify::run(options),
    }
}
