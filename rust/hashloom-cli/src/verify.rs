// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent verify`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hashloom::bencode::Limits;
use hashloom::torrent::{Options, Progress, Report, Torrent, shown};

use crate::args::Verify;
use crate::json::Json;
use crate::output::Same;
use crate::progress::Bar;
use crate::torrent::clients::Claim;
use crate::{EXIT_ERROR, EXIT_INCOMPLETE, map, output, summary};

/// Returns the exit status.
pub fn run(arguments: &Verify) -> Result<u8, String> {
    let torrent = read(&arguments.torrent)?;
    if let Some(path) = &arguments.bitfield {
        refuse_content(path, "the bitfield", arguments, &torrent)?;
        output::probe(path).map_err(|error| not_written(path, &error))?;
    }
    let claim = arguments.clients.claim(&torrent)?;
    let refuse = |path: &Path, what: &str| refuse_content(path, what, arguments, &torrent);
    let plan = arguments.clients.plan(&torrent, &arguments.path, refuse)?;
    let bar = Bar::new(torrent.total_nbytes(), "{wide_bar} {percent:>3}%  {binary_bytes_per_sec}  {eta} left");
    let show = |progress: Progress| bar.set(progress.nbytes);
    let mut options = Options::default();
    if !arguments.quiet && bar.is_wanted() {
        options = options.progress(&show);
    }
    if let Some(threads) = arguments.threads {
        options = options.threads(threads);
    }
    let report = hashloom::torrent::verify(&torrent, &arguments.path, &options).map_err(|error| error.to_string());
    bar.finish();
    let report = report?;

    // What was found is told even if the bitfield cannot be written.
    let written = match &arguments.bitfield {
        Some(path) => output::write(path, &report.bitfield()).map_err(|error| not_written(path, &error)),
        None => Ok(()),
    };
    let written = written.and(plan.write(&torrent, &report));
    let printed = output::print(|out| print(out, arguments, &torrent, &report, claim.as_ref()));
    // Best effort: if standard error is closed, the exit status still tells.
    let _ = summary::troubles(&mut io::stderr().lock(), &report);
    written.and(printed)?;
    let right = claim.map_or(report.is_complete(), |claim| claim.is_true(&report));
    Ok(match right {
        _ if !report.troubles.is_empty() => EXIT_ERROR,
        true => 0,
        false => EXIT_INCOMPLETE,
    })
}

fn not_written(path: &Path, error: &io::Error) -> String {
    format!("{}: the bitfield cannot be written: {error}", display(path))
}

/// Refuses to write `output` where the torrent is, or one of the files that it describes, wherever below PATH the
/// content may be found. Nothing of these is ever changed.
fn refuse_content(path: &Path, output: &str, arguments: &Verify, torrent: &Torrent) -> Result<(), String> {
    let same = Same::new(path);
    let refused =
        |what: &str| Err(format!("{}: {output} is not written there: it is {what}. Give another FILE", display(path)));
    if same.is(&arguments.torrent) {
        return refused("the torrent");
    }
    // A name is one component of a path, and was checked to be safe.
    let inner = arguments.path.join(os_path(torrent.name()));
    if same.is(&arguments.path) || same.is(&inner) {
        return refused("the content");
    }
    for file in torrent.files().filter(|file| !file.attributes.padding) {
        let file = os_path(file.path);
        if same.is(&inner.join(&file)) || same.is(&arguments.path.join(&file)) {
            return refused("a file of the content");
        }
    }
    Ok(())
}

/// A path from components joined by `/`.
#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// A path from components joined by `/`.
#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(&*String::from_utf8_lossy(bytes))
}

fn read(path: &Path) -> Result<Torrent, String> {
    let failed = |error: io::Error| format!("{}: {error}", display(path));
    let limits = Limits::default();
    let mut bytes = Vec::new();
    // One byte more than the limit, so that the parser sees that it is too long.
    let most = limits.nbytes as u64 + 1;
    File::open(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Torrent::from_vec(bytes, &limits).map_err(|error| format!("{}: {error}", display(path)))
}

fn display(path: &Path) -> impl std::fmt::Display {
    shown(path.as_os_str().as_encoded_bytes())
}

fn print(
    out: &mut impl Write,
    arguments: &Verify,
    torrent: &Torrent,
    report: &Report,
    claim: Option<&Claim>,
) -> io::Result<()> {
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        serde_json::to_writer(&mut *out, &Json::new(&arguments.torrent, torrent, report, claim))?;
        return writeln!(out);
    }
    summary::heading(out, torrent, report)?;
    if arguments.map {
        writeln!(out)?;
        map::draw(out, &report.pieces)?;
    }
    if arguments.missing {
        writeln!(out)?;
        summary::missing(out, torrent, report)?;
    }
    summary::verdict(out, torrent, report)?;
    claim.map_or(Ok(()), |claim| claim.print(out, report))
}
