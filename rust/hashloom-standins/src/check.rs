// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks files against lists, as the programs do whose place hashloom takes.

use std::io::{self, BufRead, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::{portable, to_path};
use hashloom_files::{Event, FileError, Hashed, Method, Request, Source, Step, hash_steps};
use hashloom_frame::quote::quoted;
use hashloom_frame::text::reason;
use hashloom_list::command::lines;
use hashloom_list::command::place::{Refused, Servers};
use hashloom_list::command::summing::trouble;
use hashloom_list::command::verdict::{Counts, Rules, Verdict, warn};

use crate::Work;
use crate::dialect::Lists;
use crate::modes::Mode;

/// The lines that a program reads.
pub trait Grammar {
    /// Begins a list, which may be standard input.
    fn begin(&mut self, _is_stdin: bool) {}

    /// Reads a line. If it is too long, its end is missing.
    fn parse(&mut self, line: &[u8], is_too_long: bool) -> Line;
}

/// A line of a list.
pub enum Line {
    Blank,
    Entry(Listed),
    /// It is no checksum, in the program's words.
    Bad(String),
}

/// A file, and the digest that a list gives for it.
pub struct Listed {
    pub name: Vec<u8>,
    /// The name as it is printed, if not with the escapes of coreutils.
    pub shown: Option<Vec<u8>>,
    pub algorithm: Algorithm,
    pub digest: Hash,
    pub mode: Mode,
}

/// Checks lists one after the other. Returns true if all is right.
pub fn check(lists: &[PathBuf], grammar: &mut (impl Grammar + Send), rules: Rules, work: &Work<'_>) -> bool {
    let mut is_right = true;
    for list in lists {
        match check_list(list, grammar, rules, work) {
            Some(is) => is_right &= is,
            None => return false,
        }
    }
    is_right
}

/// Checks one list. `None` if the work was stopped.
fn check_list(list: &Path, grammar: &mut (impl Grammar + Send), rules: Rules, work: &Work<'_>) -> Option<bool> {
    let Work { console, options, .. } = *work;
    let words = &work.dialect.lists;
    let is_stdin = list.as_os_str() == "-";
    let name = if is_stdin { words.stdin.as_bytes().to_vec() } else { quoted(&portable(list)).into_owned() };
    let say = |what: &str| console.message(&[&name[..], b": ", what.as_bytes()].concat());
    let not_read = |why: &str| {
        let name = if is_stdin { quoted(b"standard input") } else { quoted(&portable(list)).into_owned().into() };
        console.message(&[&name[..], b": ", why.as_bytes()].concat());
        Some(false)
    };
    let reader = match (lines::open(list), words.unread) {
        (Ok(reader), _) => reader,
        (Err(_), Some(unread)) if is_stdin => return not_read(unread),
        (Err(error), _) => {
            console.message(&trouble(&portable(list), &error));
            return Some(false);
        }
    };
    grammar.begin(is_stdin);
    let (servers, warns) = (Servers::of([list]), words.is_strict || rules.warn);
    let (line, methods) = (Vec::new(), Vec::new());
    let (number, nentries, nbad, fault) = (0, 0, 0, None);
    let mut reading = Reading { reader, grammar, words, warns, servers, line, number, nentries, nbad, fault, methods };
    let steps = std::iter::from_fn(|| reading.next());
    let mut counts = Counts::default();
    let is_done = hash_steps(steps, options, |event| match event {
        Event::Note((number, why)) => say(&format!("{number}: {why}")),
        Event::Hashed(Request { tag: listed, .. }, result) => {
            let is_missing = |error: &FileError| error.io().kind() == ErrorKind::NotFound;
            if rules.ignore_missing && result.as_ref().is_err_and(is_missing) {
                return;
            }
            let verdict = count(&mut counts, &listed, &result);
            if let (Err(error), false) = (&result, words.says_why) {
                console.message(&trouble(&listed.name, error.io()));
            }
            if !(rules.status || rules.quiet && verdict == Verdict::Ok) {
                let why = result.err().filter(|_| words.says_why);
                console.print(|lines| write(lines, &listed, verdict, why.as_ref()));
            }
        }
    });
    if !is_done {
        return None;
    }
    let Reading { nentries, nbad, fault, .. } = reading;
    if let (Some(_), Some(unread)) = (&fault, words.unread) {
        return not_read(unread);
    }
    let nwrong = counts.nmismatched + counts.nunread;
    if !words.counts {
        return Some(nwrong + nbad == 0);
    }
    if nentries == 0 {
        say(&format!("no properly formatted {}checksum lines found", words.kind));
        return Some(false);
    }
    if !rules.status {
        warn(console, nbad, 0, &counts);
        if rules.ignore_missing && counts.nmatched == 0 {
            say("no file was verified");
        }
    }
    Some(counts.nmatched > 0 && nwrong == 0 && (nbad == 0 || !rules.strict))
}

/// A list that is being read.
struct Reading<'a, G> {
    reader: Box<dyn BufRead + Send>,
    grammar: &'a mut G,
    words: &'a Lists,
    /// Whether lines that are no checksums are named.
    warns: bool,
    servers: Servers,
    line: Vec<u8>,
    number: u64,
    nentries: u64,
    nbad: u64,
    fault: Option<io::Error>,
    /// The methods that the list has used so far.
    methods: Vec<(Algorithm, Arc<[Method]>)>,
}

impl<G: Grammar> Reading<'_, G> {
    /// The next file to hash, or the number of a line that is no checksum, and why.
    fn next(&mut self) -> Option<Step<Listed, (u64, String)>> {
        loop {
            if self.fault.is_some() {
                return None;
            }
            self.number += 1;
            let parsed = match lines::next(&mut self.reader, b'\n', &mut self.line) {
                Ok(read) => self.grammar.parse(&self.line, read?.is_too_long),
                Err(error) => {
                    let why = reason(&error).to_string();
                    self.fault = Some(error);
                    if self.words.unread.is_some() {
                        return None;
                    }
                    Line::Bad(why)
                }
            };
            let why = match parsed {
                Line::Blank => continue,
                Line::Entry(listed) => return Some(Step::Hash(self.request(listed))),
                Line::Bad(why) => why,
            };
            self.nbad += 1;
            if self.warns {
                return Some(Step::Note((self.number, why)));
            }
        }
    }

    fn request(&mut self, listed: Listed) -> Request<Listed> {
        self.nentries += 1;
        let source = match self.servers.refused(&listed.name) {
            None => listed.mode.source(to_path(&listed.name)),
            Some(why) => Source::reader(Refused::Name(why)),
        };
        let known = self.methods.iter().find(|(algorithm, _)| *algorithm == listed.algorithm);
        let methods = known.map(|(_, methods)| Arc::clone(methods)).unwrap_or_else(|| {
            let new: Arc<[Method]> = [listed.algorithm.into()].into();
            self.methods.push((listed.algorithm, Arc::clone(&new)));
            new
        });
        Request { source, methods, tag: listed }
    }
}

fn count(counts: &mut Counts, listed: &Listed, result: &Result<Hashed, FileError>) -> Verdict {
    let (count, verdict) = match result {
        Ok(hashed) if hashed.digests[0] == listed.digest => (&mut counts.nmatched, Verdict::Ok),
        Ok(_) => (&mut counts.nmismatched, Verdict::Failed),
        // These programs have no word for a file that changes.
        Err(_) => (&mut counts.nunread, Verdict::Unread),
    };
    *count += 1;
    verdict
}

/// Appends the line of a file; `why`: why it was not read, if the line says so.
fn write(into: &mut Vec<u8>, listed: &Listed, verdict: Verdict, why: Option<&FileError>) {
    let Some(shown) = &listed.shown else {
        return verdict.write_named(into, &listed.name, String::new(), false, false);
    };
    let word = match (verdict, why) {
        (Verdict::Ok, _) => "OK".to_owned(),
        (_, Some(error)) => format!("FAILED ({})", error.io()),
        _ => "FAILED".to_owned(),
    };
    into.extend([&shown[..], b": ", word.as_bytes(), b"\n"].concat());
}
