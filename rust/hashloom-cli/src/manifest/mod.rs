// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest`: what the files of a folder are, and what has become of them.

mod check;
mod diff;
mod report;
mod scan;
mod write;

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hashloom::manifest::{Reader, Totals};

use crate::output::folder;
use crate::text::display;

#[derive(Debug, Subcommand)]
pub enum Manifest {
    Write(write::Write),
    Check(check::Check),
    Diff(diff::Diff),
}

/// Returns the exit status.
pub fn run(command: &Manifest) -> Result<u8, String> {
    match command {
        Manifest::Write(options) => write::run(options),
        Manifest::Check(options) => check::run(options),
        Manifest::Diff(options) => diff::run(options),
    }
}

/// A manifest that was read to its end once, so that hours of work do not end at a line that makes no sense.
struct Opened {
    reader: Reader<BufReader<File>>,
    totals: Totals,
}

fn open(path: &Path) -> Result<Opened, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", display(path));
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(failed(&"expected a manifest, found something that is no file"));
    }
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    let mut reader = Reader::new(BufReader::new(&file)).map_err(|error| failed(&error))?;
    reader.by_ref().try_for_each(|entry| entry.map(drop)).map_err(|error| failed(&error))?;
    let totals = reader.totals().unwrap_or_default();
    drop(reader);
    file.rewind().map_err(|error| failed(&error))?;
    let reader = Reader::new(BufReader::new(file)).map_err(|error| failed(&error))?;
    Ok(Opened { reader, totals })
}

/// `DIR` as it is to be walked.
fn check_folder(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!("{}: expected a folder, found a file", display(path))),
        Err(error) => Err(format!("{}: {error}", display(path))),
    }
}

/// Where `file` is below `root`, if it is: by its own place, and by that of the file that it is a link to.
fn places_below(root: &Path, file: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let place = folder(file).canonicalize().ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let places = place.into_iter().chain(file.canonicalize().ok());
    places.filter_map(|place| Some(place.strip_prefix(&root).ok()?.to_owned())).collect()
}

/// `FILE.partial` of `FILE`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
