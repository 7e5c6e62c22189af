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

/// The exit status of a check in `folder`, and the most memory it had.
#[cfg(target_os = "linux")]
pub fn peak_kib(folder: &std::path::Path, arguments: &[&str]) -> (i32, u64) {
    let mut command = hashloom();
    command.args(["torrent", "verify"]).args(arguments).current_dir(folder).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The high-water mark is read again and again until the program has ended.
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap(), peak);
        }
        let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = peak.max(mark.unwrap_or(0u64));
    }
}
