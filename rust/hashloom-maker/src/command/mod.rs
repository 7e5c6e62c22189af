// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent create`, which takes the presets of mkbrr, and `edit`. The module of a command has its options,
//! its help and its work.

mod cautions;
pub mod create;
mod date;
pub mod edit;
mod presets;
mod yaml;

use std::io;
use std::path::Path;

use hashloom_frame::text::{display, reason};

use date::Date;

/// The message for a .torrent file that could not be written.
fn not_written(path: &Path, error: &io::Error) -> String {
    format!("{}: the torrent cannot be written: {}", display(path), reason(error))
}
