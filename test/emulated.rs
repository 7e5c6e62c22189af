// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts programs of the tests' own architecture, which test/cross.sh runs under an emulator.

use std::ffi::OsStr;
use std::process::Command;

/// Returns a command that runs this program, under the command in `HASHLOOM_TEST_EMULATOR` if the variable is set.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let emulator = std::env::var("HASHLOOM_TEST_EMULATOR").unwrap_or_default();
    let mut words = emulator.split_whitespace();
    let Some(first) = words.next() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    command
}
