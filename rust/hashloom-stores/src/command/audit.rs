// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks files whose digests come from no list: those of stores and of installed packages.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_files::{Event, FileError, Method, Request, Source, Step, hash_steps};
use hashloom_frame::printing::Console;
use hashloom_frame::quote::quoted;
use hashloom_frame::units::plural;
use hashloom_list::command::format::name;
use hashloom_list::command::front::End;
use hashloom_list::command::summing::trouble;
use hashloom_list::command::verdict::{Counts, Rules, Verdict, json_line, summarize};
use serde::Serialize;

/// The digest that a file should have.
pub struct Wanted {
    /// The name of the file, if the path to open is another.
    pub name: Option<Vec<u8>>,
    /// The method's name.
    pub algorithm: &'static str,
    /// Any of these is right.
    pub digests: Vec<Vec<u8>>,
    /// The length, if the method covers it.
    pub nbytes: Option<u64>,
    /// The verdict if the file differs, or is missing.
    pub otherwise: Verdict,
}

/// A result that needs no hashing.
pub enum Note {
    /// A file of this name is not as it should be.
    Failed(Vec<u8>, String),
    /// Something cannot be verified, or cannot be read.
    Unverified(Vec<u8>),
    Unread(Vec<u8>),
}

pub struct Audit<'a> {
    pub rules: Rules,
    pub options: &'a Options,
    pub console: &'a Console<'a>,
}

#[derive(Default)]
pub struct Outcome {
    pub counts: Counts,
    pub nchanged: u64,
}

/// JSON of `check`: the end of a PAR2 file, `--names`, `--dpkg` or `--python`.
#[derive(Serialize)]
struct Summary {
    /// Number of files by state.
    counts: Counts,
    /// Configuration files that differ.
    changed: u64,
    /// Files that are no objects; packages without md5sums.
    not_covered: u64,
    /// Bytes of the files that were read.
    bytes: u64,
}

pub fn request(path: PathBuf, method: Method, wanted: Wanted) -> Step<Wanted, Note> {
    Step::Hash(Request { source: Source::Path(path), methods: Arc::new([method]), tag: wanted })
}

/// The wanted digest of all bytes.
pub fn whole(algorithm: Algorithm, digest: Vec<u8>) -> Wanted {
    let otherwise = Verdict::Failed;
    Wanted { name: None, algorithm: algorithm.name(), digests: vec![digest], nbytes: None, otherwise }
}

impl Audit<'_> {
    /// Hashes the files. `may_miss` says whether a file of that name may be missing. `None` if the work was stopped.
    pub fn run(
        &self,
        steps: impl Iterator<Item = Step<Wanted, Note>> + Send,
        may_miss: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Option<Outcome> {
        let Audit { rules, options, console } = *self;
        let mut outcome = Outcome::default();
        console.begin_part();
        let say = |message: &[u8]| {
            if !rules.status {
                console.message(message);
            }
        };
        let is_done = hash_steps(steps, options, |event| {
            let (request, result) = match event {
                Event::Hashed(request, result) => (request, result),
                Event::Note(Note::Failed(name, why)) => {
                    say(&[&quoted(&name)[..], b": ", why.as_bytes()].concat());
                    return self.tell(&mut outcome, &name, "", Verdict::Failed);
                }
                Event::Note(Note::Unverified(message)) => {
                    outcome.counts.nunverified += 1;
                    return say(&message);
                }
                Event::Note(Note::Unread(message)) => {
                    outcome.counts.nunread += 1;
                    return console.message(&message);
                }
            };
            let wanted = request.tag;
            let name = wanted.name.as_deref().map_or_else(|| name(&request.source), Cow::Borrowed);
            let verdict = match &result {
                Ok(hashed) if wanted.nbytes.is_some_and(|nbytes| nbytes != hashed.nbytes) => Verdict::Unstable,
                Ok(hashed) if wanted.digests.iter().any(|digest| hashed.digests[0] == digest[..]) => Verdict::Ok,
                Ok(_) => wanted.otherwise,
                Err(FileError::Unstable(_)) => Verdict::Unstable,
                Err(error) if error.io().kind() == ErrorKind::NotFound => match wanted.otherwise {
                    _ if may_miss(&name) => {
                        outcome.counts.nignored += 1;
                        return;
                    }
                    Verdict::Changed => Verdict::Changed,
                    _ => Verdict::Unread,
                },
                Err(_) => Verdict::Unread,
            };
            outcome.counts.nbytes += result.as_ref().map_or(0, |hashed| hashed.nbytes);
            if let (Err(error), true) = (&result, verdict != Verdict::Changed) {
                console.message(&trouble(&name, error.io()));
            }
            self.tell(&mut outcome, &name, wanted.algorithm, verdict);
        });
        is_done.then_some(outcome)
    }

    /// Counts and prints the verdict on a file.
    pub fn tell(&self, outcome: &mut Outcome, name: &[u8], algorithm: &str, verdict: Verdict) {
        *match verdict {
            Verdict::Ok => &mut outcome.counts.nmatched,
            Verdict::Failed => &mut outcome.counts.nmismatched,
            Verdict::Changed => &mut outcome.nchanged,
            Verdict::Unread => &mut outcome.counts.nunread,
            Verdict::Unstable => &mut outcome.counts.nunstable,
        } += 1;
        let (rules, quotes) = (self.rules, io::stdout().is_terminal());
        if !(rules.status || rules.quiet && verdict == Verdict::Ok) {
            self.console.print(|lines| verdict.write_named(lines, name, algorithm.to_owned(), rules.json, quotes));
        }
    }

    /// Prints the numbers. `nothing` is said if there was nothing to check.
    pub fn end(&self, outcome: &Outcome, nnot_covered: u64, nothing: &str) -> End {
        let Outcome { counts, nchanged } = *outcome;
        let nfailed = counts.nmismatched + counts.nunread;
        if counts.nmatched + nfailed + counts.nunstable + nchanged + counts.nunverified == 0 {
            self.console.message(nothing.as_bytes());
        }
        if self.rules.json {
            let (changed, bytes) = (nchanged, counts.nbytes);
            let summary = Summary { counts, changed, not_covered: nnot_covered, bytes };
            self.console.print(|lines| json_line(lines, &summary));
        } else if !self.rules.status {
            summarize(self.console, self.rules, 0, 0, &counts);
        }
        if counts.nunstable > 0 {
            return End::Unstable;
        }
        End::of(counts.nmatched > 0 && nfailed + counts.nunverified == 0)
    }

    /// Says how many there are of something, with the first of them.
    pub fn say_some(&self, names: &[String], count: u64, one: &str, what: &str) {
        if let Some(text) = some(names, count, one, what).filter(|_| !self.rules.status) {
            self.console.message(text.as_bytes());
        }
    }
}

/// The number of something, if there is any, with the first of them.
pub fn some(names: &[String], count: u64, one: &str, what: &str) -> Option<String> {
    let more = if count as usize > names.len() { ", …" } else { "" };
    let names = if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) };
    (count > 0).then(|| format!("{} {what}{names}", plural(count, one)))
}
