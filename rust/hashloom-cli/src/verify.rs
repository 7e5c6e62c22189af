// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent verify`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use hashloom::bencode::Limits;
use hashloom::torrent::{self, Options, Progress, Report, Torrent, shown};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Verify;
use crate::json::Json;
use crate::{EXIT_ERROR, EXIT_INCOMPLETE, bitfield, map, style, summary};

/// Returns the exit status.
pub fn run(arguments: &Verify) -> Result<u8, String> {
    let torrent = read(&arguments.torrent)?;
    let bar = progress_bar(arguments, &torrent);
    let show = |progress: Progress| bar.set_position(progress.nbytes);
    let mut options = Options::default();
    if !bar.is_hidden() {
        options = options.progress(&show);
    }
    if let Some(threads) = arguments.threads {
        options = options.threads(threads);
    }
    let report = torrent::verify(&torrent, &arguments.path, &options).map_err(|error| error.to_string());
    bar.finish_and_clear();
    let report = report?;

    if let Some(path) = &arguments.bitfield {
        bitfield::write(path, &report.bitfield())
            .map_err(|error| format!("{}: the bitfield cannot be written: {error}", display(path)))?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match print(&mut out, arguments, &torrent, &report).and_then(|()| out.flush()) {
        // Whoever read the output has seen enough of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other.map_err(|error| format!("standard output: {error}"))?,
    }
    // Best effort: if standard error is closed, the exit status still tells.
    let _ = summary::troubles(&mut io::stderr().lock(), &report);
    Ok(match report.is_complete() {
        _ if !report.troubles.is_empty() => EXIT_ERROR,
        true => 0,
        false => EXIT_INCOMPLETE,
    })
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

fn print(out: &mut impl Write, arguments: &Verify, torrent: &Torrent, report: &Report) -> io::Result<()> {
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        serde_json::to_writer(&mut *out, &Json::new(&arguments.torrent, torrent, report))?;
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
    summary::verdict(out, torrent, report)
}

/// A bar on standard error if that is a terminal, else one that shows nothing.
fn progress_bar(arguments: &Verify, torrent: &Torrent) -> ProgressBar {
    if arguments.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(torrent.total_nbytes()), ProgressDrawTarget::stderr_with_hz(10));
    let template = "{wide_bar} {percent:>3}%  {binary_bytes_per_sec}  {eta} left";
    let chars = if style::is_utf8() { "█▉▊▋▌▍▎▏ " } else { "=> " };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars(chars))
}
