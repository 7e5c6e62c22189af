// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of files in messages.

use std::fmt::Display;
use std::path::Path;

use hashloom_engine::text::shown;

/// Formats a path for a message, so that nothing in it can control a terminal.
pub fn display(path: &Path) -> impl Display {
    shown(path.as_os_str().as_encoded_bytes())
}
