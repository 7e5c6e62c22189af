// SPDX-License-Identifier: MIT OR Apache-2.0

//! The words of a check: a verdict for each file, and the summary of a list.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

use hashloom::Algorithm;
use hashloom_files::FileError;
use hashloom_frame::json::{Named, write_json};
use hashloom_frame::printing::Console;
use hashloom_frame::quote::for_terminal;
use hashloom_frame::units::{duration, plural, size};
use serde::Serialize;

use crate::escaped;

/// The lines to print, and the outcomes that count as failures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Missing files do not count.
    pub ignore_missing: bool,
    /// Only files that fail are named.
    pub quiet: bool,
    /// Only errors are printed.
    pub status: bool,
    /// Lines that are not checksums count.
    pub strict: bool,
    /// Lines that are not checksums are named.
    pub warn: bool,
    /// An object is printed for each file, and no summary.
    pub json: bool,
    /// Files are found whose names differ from those of the list in case only.
    pub ignore_case: bool,
}

/// The number of files that came to each verdict, in JSON under the words of the verdicts.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Counts {
    /// Checksums that match.
    #[serde(rename = "ok")]
    pub nmatched: u64,
    /// Checksums that do not match.
    #[serde(rename = "failed")]
    pub nmismatched: u64,
    /// Files that are missing or cannot be read.
    #[serde(rename = "unread")]
    pub nunread: u64,
    /// Files that changed during each of three reads.
    #[serde(rename = "unstable")]
    pub nunstable: u64,
    /// Missing files that were not checked.
    #[serde(rename = "ignored")]
    pub nignored: u64,
    /// Digests that were not compared.
    #[serde(rename = "unverified")]
    pub nunverified: u64,
    /// Bytes of the files that were read.
    #[serde(skip)]
    pub nbytes: u64,
    /// The algorithm of the first line that did not match.
    #[serde(skip)]
    pub mismatched: Option<Algorithm>,
}

/// The result for a file.
#[derive(Clone, Copy, PartialEq)]
pub enum Verdict {
    Ok,
    Failed,
    /// The file differs, as its owner may have wanted.
    Changed,
    Unread,
    Unstable,
}

/// JSON of `check` and `sum`: one object for each checksum of `check`, but files that `--ignore-missing` or `--quiet`
/// leave out, and for each file of `sum --expect`. `check --only`, which `hashloom FILE` runs, has no others.
#[derive(Serialize)]
struct Object<'a> {
    /// The file's name in the list.
    #[serde(flatten)]
    path: Named<'a>,
    /// The list, with `--only`.
    #[serde(flatten)]
    list: Option<Named<'a>>,
    /// The algorithm of the line; several are sorted, with commas between. Of `--names` also `git-blob`.
    algorithm: String,
    /// `ok`; `failed`: another digest; `unread`: the file is missing or cannot be read; `unstable`: it changed during
    /// each of three reads; `changed`: a configuration file of `--dpkg` that differs.
    state: &'static str,
}

/// Appends a value and a newline.
pub fn json_line(into: &mut Vec<u8>, value: &impl Serialize) {
    // Writing into memory cannot fail.
    let _ = write_json(&mut *into, value);
    into.push(b'\n');
}

impl Verdict {
    /// The verdict on a file that could not be hashed.
    pub fn of_error(error: &FileError) -> Verdict {
        if error.is_unstable() { Verdict::Unstable } else { Verdict::Unread }
    }

    /// Appends a JSON object, with the list that the verdict is by if that is told.
    pub fn write_json(self, into: &mut Vec<u8>, name: &[u8], list: Option<&[u8]>, algorithm: String) {
        let state = match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "failed",
            Verdict::Changed => "changed",
            Verdict::Unread => "unread",
            Verdict::Unstable => "unstable",
        };
        let (path, list) = (Named::new("path", name), list.map(|list| Named::new("list", list)));
        json_line(into, &Object { path, list, algorithm, state });
    }

    /// Appends `<name>: OK (<note>)`.
    pub fn write_noted(self, into: &mut Vec<u8>, name: &[u8], note: &[u8], quotes: bool) {
        self.write_named(into, name, String::new(), false, quotes);
        into.pop();
        into.extend_from_slice(&[b" (", note, b")\n"].concat());
    }

    /// The same for a name.
    pub fn write_named(self, into: &mut Vec<u8>, name: &[u8], algorithm: String, json: bool, quotes: bool) {
        if json {
            return self.write_json(into, name, None, algorithm);
        }
        let shown = if quotes { for_terminal(name, true) } else { Cow::Borrowed(name) };
        // Unlike in sums, a backslash alone needs no escape.
        if let Cow::Owned(quoted) = shown {
            into.extend_from_slice(&quoted);
        } else if name.contains(&b'\n') {
            into.push(b'\\');
            into.extend_from_slice(&escaped(name));
        } else {
            into.extend_from_slice(name);
        }
        into.extend_from_slice(match self {
            Verdict::Ok => b": OK\n",
            Verdict::Failed => b": FAILED\n",
            Verdict::Changed => b": CHANGED\n",
            Verdict::Unread => b": FAILED open or read\n",
            Verdict::Unstable => b": UNSTABLE\n",
        });
    }
}

/// Prints how much was wrong.
pub fn warn(console: &Console<'_>, nbad: u64, nunverified: u64, counts: &Counts) {
    let warn = |count: u64, text: String| {
        if count > 0 {
            console.message(format!("WARNING: {text}").as_bytes());
        }
    };
    let are = if nbad == 1 { "is" } else { "are" };
    warn(nbad, format!("{} {are} improperly formatted", plural(nbad, "line")));
    let have = if nunverified == 1 { "has a digest that was" } else { "have digests that were" };
    warn(nunverified, format!("{} {have} NOT verified", plural(nunverified, "line")));
    warn(counts.nunread, format!("{} could not be read", plural(counts.nunread, "listed file")));
    warn(counts.nunstable, format!("{} changed each time that it was read", plural(counts.nunstable, "listed file")));
    warn(counts.nmismatched, format!("{} did NOT match", plural(counts.nmismatched, "computed checksum")));
}

/// The same, and for whoever watches many lines their number. In a file or a pipe, the output is that of `sha256sum
/// --check`.
pub fn summarize(console: &Console<'_>, rules: Rules, nbad: u64, nunverified: u64, counts: &Counts) {
    warn(console, nbad, nunverified, counts);
    let nfiles = counts.nmatched + counts.nmismatched + counts.nunread + counts.nunstable;
    if !rules.quiet && nfiles > 1 && io::stderr().is_terminal() {
        let parts = [
            (counts.nmismatched, "FAILED"),
            (counts.nunread, "not read"),
            (counts.nunstable, "UNSTABLE"),
            (nunverified, "not verified"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
        let (parts, nbytes, time) = (parts.collect::<String>(), size(counts.nbytes), duration(console.elapsed()));
        console.message(format!("{} OK{parts}: {nbytes} in {time}", counts.nmatched).as_bytes());
    }
}
