// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest`: what the files of a folder are, and what has become of them.

mod check;
mod diff;
mod report;
pub mod signature;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hashloom::Algorithm;
use hashloom_engine::manifest::{Entry, Found, Journal, Reader, Scan, ScanError, Scanned, Totals};
use hashloom_engine::run::{HeldBack, Meter, Options};

use self::signature::Trusted;
use crate::input::{Input, Kept};
use crate::interrupt;
use crate::output::{State, folder};
use crate::progress::Bar;
use crate::text::{display, failed, reason};

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

/// A manifest that has been read to its end once, so that hours of work do not end at a malformed line.
struct Opened {
    reader: Reader<Input>,
    totals: Totals,
    kept: Kept,
}

/// Opens a manifest. `look` sees each entry in advance; an error that it returns is returned.
fn open(path: &Path, is_quiet: bool, look: impl FnMut(&Entry) -> Result<(), String>) -> Result<Opened, String> {
    open_trusted(path, None, is_quiet, look)
}

/// The same as [`open`]; if there is a signature, it must be right before `look` sees an entry.
fn open_trusted(
    path: &Path,
    trusted: Option<&Trusted>,
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
    let opened = match trusted {
        Some(trusted) => {
            let kept = trusted.verify(path)?;
            kept.read().map(read).map(|totals| (kept, totals))
        }
        None => Kept::open(path, read),
    };
    let (kept, totals) = opened.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => failed(&"expected a manifest, found something that is not a file"),
        _ => failed(&reason(&error)),
    })?;
    bar.finish();
    let totals = totals?;
    let reader = again(&kept, path)?;
    Ok(Opened { reader, totals, kept })
}

/// Reads a manifest again from its first line on.
fn again(kept: &Kept, path: &Path) -> Result<Reader<Input>, String> {
    let input = kept.read().map_err(|error| format!("{}: {}", name(path), reason(&error)))?;
    Reader::new(input).map_err(|error| format!("{}: {error}", name(path)))
}

/// Returns the name of a manifest for messages.
fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { display(path).to_string() }
}

/// Reads a folder. `bar` shows the bytes that were read or need not be read; `progress` is the file of the journal.
fn scan(
    scan: Scan<'_>,
    progress: Option<&Path>,
    options: Options,
    bar: &Bar,
    each: impl FnMut(Found) -> Result<(), String> + Send,
) -> Result<(Scanned, Option<HeldBack>), String> {
    let (shown, meter) = (bar.clone(), Meter::new());
    let options = options.cancel(&interrupt::flag()).meter(&meter);
    let options = match bar.is_shown() {
        true => options.progress(move |progress| shown.set(progress.nbytes)),
        false => options,
    };
    let done = scan.run(&options, each).map(|done| (done, meter.held_back()));
    bar.finish();
    done.map_err(|error| match error {
        ScanError::Update(error) => format!("--update: {error}"),
        ScanError::Journal(error) => not_saved(progress.unwrap_or(Path::new("the journal")), &error),
        error => error.to_string(),
    })
}

fn not_saved(progress: &Path, error: &io::Error) -> String {
    format!("{}: the progress cannot be saved: {}; the run ends here", display(progress), reason(error))
}

/// The state of a run, so that the same command can go on from there.
struct Resume {
    state: State,
    /// Length of the file, if this run has created it.
    begun: Option<u64>,
}

impl Resume {
    /// Opens the journal in `path`, or creates it if nothing is there. A file that is not a journal of such a run stays
    /// as it is.
    fn begin(path: &Path, algorithms: &[Algorithm]) -> Result<(Resume, Journal), String> {
        let (mut state, journal) = State::begin(path, true, |file| Journal::open(file, algorithms))?;
        if let Some(journal) = journal {
            return Ok((Resume { state, begun: None }, journal));
        }
        let mut journal = None;
        let made = state.write(|file| {
            // The journal holds the lock as long as it has the file.
            journal = Some(Journal::create(file.try_clone()?, algorithms)?);
            Ok(())
        });
        made.map_err(|error| not_saved(path, &error))?;
        let begun = path.metadata().map_err(|error| failed(path, &error))?.len();
        let journal = journal.ok_or("a journal that was not begun")?;
        Ok((Resume { state, begun: Some(begun) }, journal))
    }

    /// Removes the state: a later run would look at its entries in vain.
    fn end(self) -> io::Result<()> {
        self.state.remove()
    }

    /// Removes the state of a run that failed before it read anything.
    fn failed(self) {
        if self.begun.is_some() && self.state.nbytes() == self.begun {
            // The failure itself is reported.
            let _ = self.state.remove();
        }
    }
}

/// Returns where `file` is below `root`, if it is: its own place, and that of the file that it links to.
fn places_below(root: &Path, file: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let place = folder(file).canonicalize().ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    let places = place.into_iter().chain(file.canonicalize().ok());
    places.filter_map(|place| Some(place.strip_prefix(&root).ok()?.to_owned())).collect()
}

/// Appends to a file name: `FILE.partial` of `FILE`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
