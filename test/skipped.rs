// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a test of the Rust crates cannot do on this machine is named here, and counted by test/run.sh.
#![allow(dead_code, reason = "no test needs all of it")]

use std::fmt::Display;
use std::io::Write;

/// Names something that is left out.
///
/// The line goes past the test harness, which shows nothing of what a test prints that passes. The harness may have
/// printed dots before it.
pub fn skipped_part(what: impl Display, why: impl Display) {
    let _ = std::io::stderr().write_all(format!("\nSKIPPED: {what}: {why}\n").as_bytes());
}

/// Names the test that is running.
pub fn skipped(why: impl Display) {
    let thread = std::thread::current();
    skipped_part(thread.name().unwrap_or("a test"), why);
}

/// Names the test that is running. With `HASHLOOM_REQUIRE` it fails.
pub fn skipped_unless_required(why: impl Display) {
    assert!(std::env::var_os("HASHLOOM_REQUIRE").is_none(), "HASHLOOM_REQUIRE is set, and this cannot run: {why}");
    skipped(why);
}
