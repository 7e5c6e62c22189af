// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest check`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::paths::{to_bytes, to_path};
use hashloom_frame::doubts;
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use hashloom_frame::input::{Kept, check_folder};
use hashloom_frame::output::{self, Same};
use hashloom_frame::progress::Bar;
use hashloom_frame::style;
use hashloom_frame::text::{display, failed, name};
use hashloom_frame::work::{Checking, tell_origin};
use hashloom_signature::command::{self as signature, Trusted};
use hashloom_state::{Progress, State};

use super::report::{Covered, Done, Format, Printer, STATES, SignedBy};
use super::{Opened, again, open, places_below, scan};
use crate::{Comparison, Counts, Difference, Entry, Error, Found, Reader, Scan, Status};

/// Say what has become of the files of a folder since its manifest was written.
///
/// Reads all files again, and names each that was added, removed, moved or changed, or has rotted.
#[derive(Debug, Args)]
#[command(after_long_help = help())]
pub struct Check {
    /// The manifest, as it is or compressed by gzip or zstd; - is standard input
    #[arg(value_name = "FILE")]
    manifest: PathBuf,

    /// The folder that the manifest describes, wherever the folder is now [default: the folder that FILE lies in, or
    /// NAME beside a FILE called NAME.manifest, if anything that FILE lists is there]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Do not read the files: compare lengths and modification times only. Rotted and moved files are not noticed
    #[arg(long, conflicts_with_all = ["resume", "uncached"])]
    quick: bool,

    #[command(flatten)]
    format: Format,

    /// Keep the progress of the check in STATE, and go on from there after an interruption. Files that were written to
    /// since are read again. STATE is removed at the end of the check if every file could be read. hashloom never
    /// overwrites a file that is not such a state
    #[arg(long, value_name = "STATE", conflicts_with = "uncached")]
    resume: Option<PathBuf>,

    /// Check the signature of FILE first, by this public key of minisign (a file, or the key itself in base64) or of
    /// SLH-DSA (a PEM file). If the signature is missing or wrong, that is an error, and nothing in DIR is read. If it
    /// names another folder or another manifest, that is a warning: copies have other names
    #[arg(long, value_name = "KEY")]
    trusted_key: Option<PathBuf>,

    /// The signature of FILE [default: FILE.minisig, for a key of SLH-DSA FILE.slhsig]
    #[arg(long, value_name = "SIGNATURE", requires = "trusted_key")]
    signature: Option<PathBuf>,

    #[command(flatten)]
    work: Checking,
}

fn help() -> String {
    format!(
        "\
{STATES}

Files that the filters of the manifest leave out are not looked at, except
listed files that have another length now.

FILE and STATE may lie in DIR: the check leaves both out. The file that standard
output goes to is left out too, unless FILE lists it. Removed, added and moved
entries are printed at the end, and take memory until then. Unchanged entries
take none.

--resume does not read a file again if three conditions hold. DIR is the same
folder on the same device: a copy of a disk is read anew. The file is unchanged.
At the first reading it was also certain that any change would show: `hashloom
torrent verify --help` has the details under --resume. A line says how many
files are read again, and why.

Exit status:
  0    all as written; files may have been touched
  1    differences
  2    wrong usage, a bad manifest, or a file that could not be read or is
       unstable
  130  interrupted (Ctrl-C); what was found until then is printed

Examples:
  hashloom manifest check ~/photos.manifest ~/photos
  hashloom manifest check m /srv --trusted-key minisign.pub
  hashloom manifest check /srv/data/.manifest --resume /var/tmp/data.check
  hashloom manifest check ~/photos.manifest /media/backup/photos --quick
  hashloom manifest check a.manifest a --json | jq -r .path"
    )
}

/// `sha1, sha256`.
pub fn names(algorithms: &[Algorithm]) -> String {
    algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ")
}

/// The folder that a manifest describes by its place and name: the one that it lies in, unless nothing of that but
/// something of the folder of its name is listed.
pub fn of_name(manifest: &Path) -> PathBuf {
    let (around, beside) = (output::folder(manifest), manifest.with_extension(""));
    if manifest.extension().is_none() || !beside.is_dir() {
        return around.to_owned();
    }
    let mut is_beside = false;
    let look = |input| {
        // Faults of the manifest are told when it is read for the check.
        for entry in Reader::new(input).into_iter().flatten().map_while(Result::ok) {
            let is_in = |folder: &Path| folder.join(to_path(&entry.path)).symlink_metadata().is_ok();
            if is_in(around) {
                return Ok(false);
            }
            is_beside = is_beside || is_in(&beside);
        }
        Ok(is_beside)
    };
    match Kept::open(manifest, look) {
        Ok((_, Ok(true))) => beside,
        _ => around.to_owned(),
    }
}

/// The signature to check, and its file.
fn trusted(arguments: &Check, is_stream: bool) -> Result<Option<(Trusted, PathBuf)>, String> {
    let Some(key) = &arguments.trusted_key else { return Ok(None) };
    let key = signature::public_key(key)?;
    let signature = match &arguments.signature {
        Some(signature) => signature.clone(),
        None if is_stream => return Err("--trusted-key: name the signature with --signature".into()),
        None => signature::beside(&arguments.manifest, &key),
    };
    Ok(Some((Trusted::open(key, &signature)?, signature)))
}

/// Reads the manifest once, and says what must be said before its folder is read. Returns also what is left out of the
/// folder: the files of this run.
fn prepare(arguments: &Check, folder: &Path, is_stream: bool) -> Result<(Opened, Vec<PathBuf>), String> {
    let (trusted, signature) = trusted(arguments, is_stream)?.unzip();
    let states = arguments.resume.as_ref().map_or(Vec::new(), |state| places_below(folder, state));
    let listed: Vec<Vec<u8>> = states.iter().map(|state| to_bytes(state)).collect();
    // Whether an entry is there; `None` as long as none is listed.
    let mut is_any_there = None;
    // The file that the result is written to is not part of the folder, unless it is listed.
    let stdout = output::stamp_of_stdout().map(|_| places_below(folder, Path::new("/dev/stdout")));
    let mut outputs: Vec<Vec<u8>> = stdout.iter().flatten().map(|place| to_bytes(place)).collect();
    let opened = open(&arguments.manifest, trusted.as_ref(), Some(folder), arguments.format.quiet, |entry| {
        if is_any_there != Some(true) {
            is_any_there = Some(folder.join(to_path(&entry.path)).symlink_metadata().is_ok());
        }
        outputs.retain(|output| *output != entry.path);
        match &arguments.resume {
            Some(state) if listed.contains(&entry.path) => {
                Err(format!("--resume: {} is part of what the manifest describes. Give another FILE", display(state)))
            }
            _ => Ok(()),
        }
    })?;
    if is_any_there == Some(false) {
        elsewhere(arguments, folder)?;
    }
    let mut without = if is_stream { Vec::new() } else { places_below(folder, &arguments.manifest) };
    without.extend(states);
    without.extend(signature.iter().flat_map(|signature| places_below(folder, signature)));
    if let Some(signed) = opened.signed.as_ref().filter(|_| arguments.format.is_text()) {
        output::print(|out| writeln!(out, "{}", signed.line()))?;
    }
    for place in outputs.iter().map(|output| to_path(output)) {
        let path = display(&folder.join(&place)).to_string();
        let _ = writeln!(io::stderr(), "{} {path}: it is the output itself, and left out", style::warning());
        without.push(place);
    }
    Ok((opened, without))
}

/// Begins or goes on with a state.
fn resume(arguments: &Check, state: &Path, algorithms: &[Algorithm]) -> Result<(Progress, State), String> {
    if Same::new(state).is(&arguments.manifest) {
        return Err(format!("--resume: {} is the manifest. Give another FILE", display(state)));
    }
    Progress::begin(state, &Scan::subject(algorithms), None).map_err(|message| format!("--resume: {message}"))
}

/// Returns the exit status.
pub fn run(arguments: &Check) -> Result<u8, String> {
    let is_stream = arguments.manifest.as_os_str() == "-" || output::path_is_special(&arguments.manifest);
    let folder = match &arguments.folder {
        Some(folder) => folder,
        None if is_stream => return Err(format!("{}: name the folder as DIR", name(&arguments.manifest))),
        None => &of_name(&arguments.manifest),
    };
    check_folder(folder)?;
    let (Opened { reader, totals, kept, signed }, without) = prepare(arguments, folder, is_stream)?;
    let algorithms = reader.algorithms().to_vec();
    let (resume, state) =
        arguments.resume.as_deref().map(|state| resume(arguments, state, &algorithms)).transpose()?.unzip();
    let filter = reader.wanted().clone();
    let is_filtered = !filter.wants_all();
    let is_restricted = filter.wanted_lengths() != (0..=u64::MAX);
    // A file that has outgrown the filter is not gone.
    let listed = is_restricted.then(|| again(&kept, &arguments.manifest)).transpose()?;
    let bar = Bar::of_bytes(arguments.format.quiet);
    bar.set_total(totals.nbytes);
    let task = Scan::new(folder).algorithms(&algorithms).quick(arguments.quick).filter(filter);
    let task = listed.into_iter().fold(task, |task, listed| task.listed(listed));
    let task = without.into_iter().fold(task, Scan::leave_out);
    let task = state.into_iter().fold(task, Scan::state);
    // Both sides have the same algorithms, so they have one in common.
    let comparison = Comparison::new(reader, &algorithms, &algorithms).ok_or("a manifest without algorithms")?;
    let mut judge = Judge {
        comparison,
        printer: Printer::new(&arguments.format, [&algorithms, &algorithms]),
        is_quiet: arguments.format.quiet,
        manifest: &arguments.manifest,
        folder,
        bar: &bar,
        failed: None,
    };
    let started = Instant::now();
    let options = arguments.work.options(!arguments.format.quiet);
    let done = scan(task, arguments.resume.as_deref(), options.clone(), &bar, |found| judge.found(found));
    let (done, held_back, resume) = match (done, resume) {
        (Ok((done, held_back)), resume) => (done, held_back, resume),
        (Err(message), resume) => {
            if let Some(resume) = resume {
                resume.failed();
            }
            return Err(message);
        }
    };
    let elapsed = started.elapsed();
    let (printer, counts) = judge.finish(done.cancelled)?;
    tell_origin(&options);
    if !arguments.format.quiet {
        doubts::tell(&done.doubts, "file", "read");
    }
    let read = (!arguments.quick).then_some((done.nbytes, elapsed));
    let held_back = held_back.filter(|_| read.is_some());
    let covered = Covered {
        quick: arguments.quick,
        filtered: is_filtered,
        files_read: done.nread,
        files_taken_over: done.nresumed,
        left_out: done.nothers,
    };
    let signed = signed.map(SignedBy::Signature);
    printer.end(&counts, &Done { read, held_back, interrupted: done.cancelled, covered: Some(covered), signed })?;
    let is_done = !done.cancelled && counts.of(Status::Unreadable) == 0;
    if let (Some(resume), Some(state), true) = (resume, &arguments.resume, is_done) {
        resume.end().map_err(|error| format!("--resume: {}", failed(state, &error)))?;
    }
    if done.cancelled {
        return Ok(EXIT_INTERRUPTED);
    }
    Ok(match counts.of(Status::Unreadable) + counts.of(Status::Unstable) {
        0 if counts.has_differences() => EXIT_INCOMPLETE,
        0 => 0,
        _ => EXIT_ERROR,
    })
}

/// Compares the entries found with the manifest.
struct Judge<'a, I> {
    comparison: Comparison<I>,
    printer: Printer<'a>,
    is_quiet: bool,
    manifest: &'a Path,
    folder: &'a Path,
    bar: &'a Bar,
    failed: Option<String>,
}

impl<'a, I: Iterator<Item = Result<Entry, Error>>> Judge<'a, I> {
    fn found(&mut self, found: Found) -> Result<(), String> {
        let Found { entry, error, .. } = found;
        let trouble = error.map(|error| error.to_string());
        let Judge { comparison, printer, is_quiet, manifest, folder, bar, failed } = self;
        let found = comparison.found(entry, |difference| {
            let printed = bar.suspend(|| {
                if let (Some(message), true) = (&trouble, *is_quiet) {
                    let path = folder.join(to_path(difference.path()));
                    let _ = writeln!(io::stderr(), "{} {}: {message}", style::error(), display(&path));
                }
                printer.difference(&difference, trouble.as_deref())
            });
            if let Err(message) = printed {
                failed.get_or_insert(message);
            }
        });
        found.map_err(|error| format!("{}: {error}", name(manifest)))?;
        failed.take().map_or(Ok(()), Err)
    }

    fn finish(mut self, cancelled: bool) -> Result<(Printer<'a>, Counts), String> {
        let (printer, failed) = (&mut self.printer, &mut self.failed);
        let each = |difference: Difference| {
            if let Err(message) = printer.difference(&difference, None) {
                failed.get_or_insert(message);
            }
        };
        let counts = if cancelled {
            self.comparison.stop(each)
        } else {
            self.comparison.finish(each).map_err(|error| format!("{}: {error}", name(self.manifest)))?
        };
        self.failed.map_or(Ok((self.printer, counts)), Err)
    }
}

/// Says that the folder has nothing of what the manifest lists, before all of the folder is read in vain. It is an
/// error if nobody has named the folder.
fn elsewhere(arguments: &Check, folder: &Path) -> Result<(), String> {
    let (manifest, place) = (name(&arguments.manifest), display(folder));
    let message = format!("{place} has nothing that {manifest} lists: name the folder of the manifest as DIR");
    if arguments.folder.is_none() {
        return Err(message);
    }
    let _ = writeln!(io::stderr(), "{} {message}", style::warning());
    Ok(())
}
