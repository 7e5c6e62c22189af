// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of files in messages, and errors.

use std::io;
use std::path::Path;

pub use hashloom_files::paths::display;
pub use hashloom_files::text::reason;

/// The name of an input: that of its file, or "standard input" for -.
pub fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { display(path).to_string() }
}

/// Formats `PATH: WHY` for an error of the system.
pub fn failed(path: &Path, error: &io::Error) -> String {
    format!("{}: {}", display(path), reason(error))
}
