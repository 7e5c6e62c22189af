// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the tests of the Rust crates that cannot run on this machine. test/run.py counts them.
#![allow(dead_code, reason = "no test needs all of it")]

use std::fmt::Display;
use std::io::Write;

/// Names a skipped test or a skipped part of one.
///
/// The line bypasses the test harness, which hides the output of tests that pass. The harness may have printed dots
/// before the line.
pub fn skipped_part(what: impl Display, why: impl Display) {
    let _ = std::io::stderr().write_all(format!("\nSKIPPED: {what}: {why}\n").as_bytes());
}

/// Names the test that is running.
pub fn skipped(why: impl Display) {
    let thread = std::thread::current();
    skipped_part(thread.name().unwrap_or("a test"), why);
}

/// Names the test that is running. If `HASHLOOM_REQUIRE` is set, the test fails.
pub fn skipped_unless_required(why: impl Display) {
    assert!(std::env::var_os("HASHLOOM_REQUIRE").is_none(), "HASHLOOM_REQUIRE is set, and this cannot run: {why}");
    skipped(why);
}
