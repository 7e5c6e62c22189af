// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints what has become of the files of a manifest, for people or as JSON, one line each as it is found.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use hashloom::Algorithm;
use hashloom_files::run::HeldBack;
use hashloom_files::text::shown;
use hashloom_frame::json::{self, Named};
use hashloom_frame::stdio::{Lines, Stdout};
use hashloom_frame::style;
use hashloom_frame::text::reason;
use hashloom_frame::units::{by, duration, plural, rate, size};
use hashloom_signature::command::Signed;
use serde::Serialize;

use crate::{Counts, Difference, Entry, Kind, Status};

/// How differences are printed.
#[derive(Debug, clap::Args)]
pub struct Format {
    /// Also name the files that were touched: the same content, another modification time
    #[arg(short, long)]
    verbose: bool,

    /// Print one JSON object a line instead: one for each difference, then one with the counts
    #[arg(long, conflicts_with = "verbose")]
    json: bool,

    /// Print errors only; the exit status tells the result
    #[arg(short, long, conflicts_with_all = ["json", "verbose"])]
    pub quiet: bool,
}

impl Format {
    /// Returns true if a person reads the output.
    pub fn is_text(&self) -> bool {
        !self.json && !self.quiet
    }
}

/// Part of a help text.
pub const STATES: &str = "\
States of an entry:
  rotted      other content, but the same length and modification time: the
              disk, the memory or a program has changed the file unseen.
              Restore the file, and check the disk
  changed     other content, and the length or time differs; a link that leads
              elsewhere; a folder in place of a file
  moved       removed, and added elsewhere with the same length (not 0) and
              digest
  removed, added
  touched     the same content, another modification time, or another Unicode
              form of the name, as macOS and Linux write it: no difference
  unreadable  the entry, or the folder it is in, cannot be read
  unstable    the file changed each of the three times that it was read
  unrecorded  the entry could not be read when the manifest was written";

/// Prints differences.
pub struct Printer<'a> {
    format: &'a Format,
    /// The algorithms of the old and of the new side.
    algorithms: [&'a [Algorithm]; 2],
    out: io::LineWriter<Stdout>,
}

/// The results of the run.
pub struct Done {
    /// Bytes read and the time it took; `None` if nothing was to be read.
    pub read: Option<(u64, Duration)>,
    pub held_back: Option<HeldBack>,
    pub interrupted: bool,
    /// The part of the folder that the check covered; `None` if manifests were compared.
    pub covered: Option<Covered>,
    pub signed: Option<SignedBy>,
}

/// The signatures that were right.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignedBy {
    /// With `--trusted-key`: the signature of `check`.
    Signature(Signed),
    /// With `--trusted-key`: the signatures of `diff`.
    Signatures { old: Signed, new: Signed },
}

/// The part of a folder that a check covered.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Covered {
    /// True if only lengths and times were compared.
    pub quick: bool,
    /// True if the manifest has filters, which leave out files.
    pub filtered: bool,
    /// Number of files whose content was read.
    pub files_read: u64,
    /// Number of files that `--resume` took over.
    pub files_taken_over: u64,
    /// Number of devices, pipes and sockets, which no manifest has.
    pub left_out: u64,
}

/// JSON of `manifest check` and `manifest diff`: one object for each difference.
#[derive(Serialize)]
struct DifferenceJson<'a, E> {
    /// `rotted`, `changed`, `moved`, `removed`, `added`, `touched`, `unreadable`, `unstable` or `unrecorded`.
    status: String,
    /// The path; the old one of what was moved.
    #[serde(flatten)]
    path: Named<'a>,
    /// Why the entry could not be read; never of `diff`, which says it on standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The manifest's entry before; absent for what was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<E>,
    /// The entry after; absent for what was removed or, sometimes, could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<E>,
}

/// JSON of `manifest check` and `manifest diff`: the last object. A `diff` of manifests has neither `bytes_read` nor
/// `quick` and what follows it.
#[derive(Serialize)]
struct SummaryJson<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// Numbers of entries: `same`, and by status.
    counts: BTreeMap<String, u64>,
    /// Bytes read; absent for `--quick`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_read: Option<u64>,
    /// Duration; absent for `--quick`.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// What held the work back, `disk`, `cpu` or `rate`; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<&'static str>,
    /// True if not all entries were checked.
    interrupted: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    covered: Option<Covered>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    signed: Option<&'a SignedBy>,
}

impl<'a> Printer<'a> {
    pub fn new(format: &'a Format, algorithms: [&'a [Algorithm]; 2]) -> Printer<'a> {
        Printer { format, algorithms, out: io::LineWriter::with_capacity(Lines::FULL_NBYTES, Stdout) }
    }

    /// `error`: why the entry could not be read.
    pub fn difference(&mut self, difference: &Difference, error: Option<&str>) -> Result<(), String> {
        let is_named = self.format.verbose || self.format.json || is_other_form(difference);
        if self.format.quiet || difference.status == Status::Touched && !is_named {
            return Ok(());
        }
        let line = if self.format.json { self.json(difference, error)? } else { line(difference, error) };
        said(writeln!(self.out, "{line}"))
    }

    pub fn end(mut self, counts: &Counts, done: &Done) -> Result<(), String> {
        if self.format.json {
            let summary = SummaryJson {
                hashloom: env!("CARGO_PKG_VERSION"),
                counts: Status::ALL.iter().map(|&status| (status.to_string(), counts.of(status))).collect(),
                bytes_read: done.read.map(|(nbytes, _)| nbytes),
                seconds: done.read.map(|(_, elapsed)| elapsed.as_secs_f64()),
                held_back_by: done.held_back.map(HeldBack::name),
                interrupted: done.interrupted,
                covered: done.covered,
                signed: done.signed.as_ref(),
            };
            let line = json::line(&summary)?;
            return said(writeln!(self.out, "{line}"));
        }
        if self.format.quiet {
            return Ok(());
        }
        let line = summary(counts, done);
        said(writeln!(self.out, "{}", style::fitted(&line)).and_then(|()| self.out.flush()))
    }

    fn json(&self, difference: &Difference, error: Option<&str>) -> Result<String, String> {
        fn entry(entry: &Option<Entry>, algorithms: &[Algorithm]) -> Result<Option<impl Serialize>, String> {
            let line = entry.as_ref().map(|entry| entry.as_line(algorithms));
            line.transpose().map_err(|problem| problem.to_string())
        }
        let json = DifferenceJson {
            status: difference.status.to_string(),
            path: Named::new("path", difference.path()),
            error,
            old: entry(&difference.old, self.algorithms[0])?,
            new: entry(&difference.new, self.algorithms[1])?,
        };
        json::line(&json)
    }
}

fn said(written: io::Result<()>) -> Result<(), String> {
    match written {
        // The reader of the output has seen enough; the exit status still tells the result.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("standard output: {}", reason(&error))),
    }
}

fn noun(kind: &Kind) -> &'static str {
    match kind {
        Kind::File { .. } => "file",
        Kind::Link { .. } => "link",
        Kind::Folder => "folder",
        _ => "unread",
    }
}

/// Returns the path, with a slash if it is a folder.
fn named(entry: &Entry) -> String {
    let slash = if entry.kind == Kind::Folder { "/" } else { "" };
    format!("{}{slash}", shown(&entry.path))
}

fn line(difference: &Difference, error: Option<&str>) -> String {
    let status = format!("{:<10}", difference.status);
    let status = match difference.status {
        Status::Touched => style::dim(status),
        Status::Moved | Status::Added => style::partial(status),
        _ => style::bad(status),
    };
    let what = match (&difference.old, &difference.new) {
        (Some(old), Some(new)) if difference.status == Status::Moved || is_other_form(difference) => {
            format!("{} -> {}", named(old), named(new))
        }
        (Some(old), Some(new)) => {
            let detail = error.map(str::to_owned).or_else(|| detail(difference.status, &old.kind, &new.kind));
            format!("{}{}", named(old), detail.map_or(String::new(), |detail| format!("  ({detail})")))
        }
        (Some(entry), None) | (None, Some(entry)) => {
            format!("{}{}", named(entry), error.map_or(String::new(), |error| format!("  ({error})")))
        }
        (None, None) => String::new(),
    };
    format!("{status}  {what}")
}

/// Returns how an entry has changed.
fn detail(status: Status, old: &Kind, new: &Kind) -> Option<String> {
    match (status, old, new) {
        (Status::Changed, Kind::File { nbytes: old, .. }, Kind::File { nbytes: new, .. }) if old != new => {
            Some(format!("{} -> {}", plural(*old, "byte"), plural(*new, "byte")))
        }
        (Status::Changed, Kind::File { .. }, Kind::File { .. }) => Some("the same length".to_owned()),
        (Status::Changed, Kind::Link { target: old }, Kind::Link { target: new }) => {
            Some(format!("{} -> {}", shown(old), shown(new)))
        }
        (Status::Changed, ..) => Some(format!("{} -> {}", noun(old), noun(new))),
        _ => None,
    }
}

fn summary(counts: &Counts, done: &Done) -> String {
    let same = counts.of(Status::Same);
    let parts = Status::ALL.iter().filter(|&&status| status != Status::Same && counts.of(status) > 0);
    let parts: Vec<String> = parts.map(|&status| format!("{} {status}", counts.of(status))).collect();
    let verdict = match (done.interrupted, counts.has_differences()) {
        (true, _) => style::partial("interrupted"),
        (false, true) => style::bad("different"),
        (false, false) => style::good("as written"),
    };
    let mut line = format!("{verdict}: {same} the same");
    parts.iter().for_each(|part| line += &format!(", {part}"));
    if let Some((nbytes, elapsed)) = done.read {
        let speed = rate(nbytes, elapsed).map_or(String::new(), |rate| format!(", {rate}"));
        line += &format!("; read {} in {}{speed}{}", size(nbytes), duration(elapsed), by(done.held_back));
    }
    let Some(covered) = done.covered else { return line };
    if covered.quick {
        line += "; lengths and times only: no file was read";
    }
    if covered.files_taken_over > 0 {
        line += &format!("; {} read by an earlier run", plural(covered.files_taken_over, "file"));
    }
    if covered.filtered {
        line += "; the manifest's filters leave out files";
    }
    if covered.left_out > 0 {
        line += &format!("; {} left out that are neither file, link nor folder", covered.left_out);
    }
    line
}

/// Whether the entry is under the same name in another Unicode form.
fn is_other_form(difference: &Difference) -> bool {
    let paths = difference.old.as_ref().zip(difference.new.as_ref()).map(|(old, new)| (&old.path, &new.path));
    difference.status != Status::Moved && paths.is_some_and(|(old, new)| old != new)
}
