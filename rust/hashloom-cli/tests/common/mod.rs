// SPDX-License-Identifier: MIT OR Apache-2.0

//! The program as a person or a script calls it.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::process::{Command, Output, Stdio};

pub fn hashloom() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashloom"));
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

pub fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}
