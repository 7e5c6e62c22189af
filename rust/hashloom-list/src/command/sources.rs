// SPDX-License-Identifier: MIT OR Apache-2.0

//! What `check` reads beside lists. Other crates do that, which know this one: the program hands over their functions.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use hashloom::{Algorithm, Hash};
use hashloom_files::run::Options;
use hashloom_frame::input::Kept;
use hashloom_frame::printing::Console;

use super::check::Check;
use super::front::End;
use super::verdict::Rules;

/// The functions of other crates.
#[derive(Clone, Copy)]
#[allow(clippy::type_complexity, reason = "each type is used once, and its line says what it is")]
pub struct Sources {
    /// Reads a manifest (its path, the folder that names are relative to, a copy of the manifest), and calls a function
    /// with that folder, and the name, the digests and the length of each file.
    pub manifest: fn(&Path, Option<&Path>, Option<&Kept>, EachFile<'_>) -> Result<(), String>,
    /// Opens a PAR2 file. `None` if the file is another.
    pub open_par2: fn(&Path) -> Option<File>,
    /// Calls a function with the name, the MD5 and the length of each file that a PAR2 file describes. Returns whether
    /// these are all files of the set.
    pub read_par2: fn(File, &mut dyn FnMut(&[u8], Hash, u64)) -> io::Result<bool>,
    /// Checks the files of a PAR2 file (its path) below a folder, and prints the verdicts.
    pub check_par2: fn(File, &Path, &Path, Rules, &Options, &Console<'_>) -> End,
    /// Finds the lists of the Python environments below a folder. Returns also in words what they do not cover.
    pub python: fn(&Path) -> Result<(Vec<PathBuf>, Vec<String>), String>,
    /// Checks the stores of `--names` or the packages of `--dpkg`. Returns the exit status.
    pub stores: fn(&Check, Rules) -> Result<u8, String>,
}

/// Takes what a manifest says of a file.
pub type EachFile<'a> = &'a mut dyn FnMut(&Path, &[u8], Vec<(Algorithm, Hash)>, u64);
