// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest`: what the files of a folder are, and what has become of them.

mod check;
mod diff;
mod log;
mod report;
mod write;

use std::io;
use std::path::{Path, PathBuf};

pub use check::of_name as folder_of;
use clap::Subcommand;
use hashloom::{Algorithm, Hash};
use hashloom_files::run::{HeldBack, Meter, Options};
use hashloom_frame::exit::STATUSES;
use hashloom_frame::input::{Input, Kept};
use hashloom_frame::interrupt;
use hashloom_frame::output::folder;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::{display, failed, name, reason};
use hashloom_signature::command::{Signed, Trusted};
use hashloom_state::Progress;

use crate::{Entry, Found, Kind, Reader, Scan, ScanError, Scanned, Totals};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Manifest {
    #[command(alias = "create")]
    Write(write::Write),
    #[command(alias = "verify")]
    Check(check::Check),
    Diff(diff::Diff),
    /// Keep a signed log of an archive's manifests, and tell an old manifest from the newest
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Log {
        #[command(subcommand)]
        command: log::Command,
    },
}

/// Returns the exit status.
pub fn run(command: &Manifest) -> Result<u8, String> {
    match command {
        Manifest::Write(options) => write::run(options),
        Manifest::Check(options) => check::run(options),
        Manifest::Diff(options) => diff::run(options),
        Manifest::Log { command } => log::run(command),
    }
}

/// A manifest that has been read to its end once, so that hours of work do not end at a malformed line.
struct Opened {
    reader: Reader<Input>,
    totals: Totals,
    kept: Kept,
    /// The signature, if it was to be checked.
    signed: Option<Signed>,
}

/// Opens a manifest. If there is a signature, it must be right; there is a warning if the names in its comment are not
/// those of the manifest and of `folder`. `look` then sees each entry in advance; an error that it returns is returned.
fn open(
    path: &Path,
    trusted: Option<&Trusted>,
    folder: Option<&Path>,
    is_quiet: bool,
    mut look: impl FnMut(&Entry) -> Result<(), String>,
) -> Result<Opened, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", name(path));
    let bar = Bar::of_time("reading the manifest", is_quiet);
    let read = |input| {
        let mut reader = Reader::new(input).map_err(|error| failed(&error))?;
        for entry in reader.by_ref() {
            look(&entry.map_err(|error| failed(&error))?)?;
        }
        Ok(reader.totals().unwrap_or_default())
    };
    let mut signed = None;
    let opened = match trusted {
        Some(trusted) => {
            let (kept, found) = trusted.verify(path, folder)?;
            if !is_quiet {
                found.warn(path, folder.unwrap_or(path));
            }
            signed = Some(found);
            kept.read().map(read).map(|totals| (kept, totals))
        }
        None => Kept::open(path, read),
    };
    let (kept, totals) = opened.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => failed(
            &"expected a manifest, found a folder; `hashloom manifest write DIR` records one, `hashloom manifest check \
                MANIFEST DIR` compares",
        ),
        _ => failed(&reason(&error)),
    })?;
    bar.finish();
    let totals = totals?;
    let reader = again(&kept, path)?;
    Ok(Opened { reader, totals, kept, signed })
}

/// Reads a manifest again from its first line on.
fn again(kept: &Kept, path: &Path) -> Result<Reader<Input>, String> {
    let input = kept.read().map_err(|error| format!("{}: {}", name(path), reason(&error)))?;
    Reader::new(input).map_err(|error| format!("{}: {error}", name(path)))
}

/// Reads a folder. `bar` shows the bytes that were read or need not be read; `progress` is the file of the state.
fn scan(
    scan: Scan<'_>,
    progress: Option<&Path>,
    options: Options,
    bar: &Bar,
    each: impl FnMut(Found) -> Result<(), String> + Send,
) -> Result<(Scanned, Option<HeldBack>), String> {
    let meter = Meter::new();
    let options = bar.watch(options.cancel(&interrupt::flag()).meter(&meter));
    let done = scan.run(&options, each).map(|done| (done, meter.held_back()));
    bar.finish();
    done.map_err(|error| match error {
        ScanError::Update(error) => format!("--update: {error}"),
        ScanError::State(error) => {
            let file = progress.unwrap_or(Path::new("the state"));
            format!("{}; the run ends here", Progress::not_saved(file, &error))
        }
        error => error.to_string(),
    })
}

/// Returns where `file` is below `root`, if it is: its own place, and that of the file that it links to.
fn places_below(root: &Path, file: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let place = folder(file).canonicalize().ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let places = place.into_iter().chain(file.canonicalize().ok());
    places.filter_map(|place| Some(place.strip_prefix(&root).ok()?.to_owned())).collect()
}

/// Takes what a manifest says of a file.
type Each<'a> = &'a mut dyn FnMut(&Path, &[u8], Vec<(Algorithm, Hash)>, u64);

/// Calls `each` with what a manifest says of each file: the folder that names are relative to, the name, the digests
/// and the length. `kept` is a copy of the manifest, if there is one; `base` the folder, if it is not found by the
/// manifest's place and name.
pub fn each_file(manifest: &Path, base: Option<&Path>, kept: Option<&Kept>, each: Each<'_>) -> Result<(), String> {
    let base = base.map_or_else(|| folder_of(manifest), Path::to_owned);
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", display(manifest));
    let wrong = |error: io::Error| failed(manifest, &error);
    let mut read = |input| {
        let mut reader = Reader::new(input).map_err(|error| fault(&error))?;
        let algorithms = reader.algorithms().to_vec();
        for entry in reader.by_ref() {
            let Entry { path, kind } = entry.map_err(|error| fault(&error))?;
            if let Kind::File { nbytes, digests, .. } = kind {
                each(&base, &path, algorithms.iter().copied().zip(digests).collect(), nbytes);
            }
        }
        Ok(())
    };
    match kept {
        Some(kept) => read(kept.read().map_err(wrong)?),
        None => Kept::open(manifest, read).map_err(wrong)?.1,
    }
}
