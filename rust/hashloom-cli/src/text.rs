// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of files in messages, and errors.

use std::fmt::Display;
use std::io;
use std::path::Path;

pub use hashloom_engine::text::reason;
use hashloom_engine::text::shown;

/// Formats a path for a message, so that nothing in it can control a terminal.
pub fn display(path: &Path) -> impl Display {
    shown(path.as_os_str().as_encoded_bytes())
}

/// Formats `PATH: WHY` for an error of the system.
pub fn failed(path: &Path, error: &io::Error) -> String {
    format!("{}: {}", display(path), reason(error))
}
