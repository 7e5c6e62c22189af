// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks files against lists. Its output is that of coreutils 9.1, in contents and order.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use hashloom::Algorithm;
use hashloom_files::paths::{portable, to_path};
use hashloom_files::run::Options;
use hashloom_files::text::shown;
use hashloom_files::{Event, FileError, Hashed, Request, Stamp, Step, Watched, hash_steps};
use hashloom_frame::input;
use hashloom_frame::json::Named;
use hashloom_frame::names;
use hashloom_frame::output::{Identity, folder};
use hashloom_frame::printing::Console;
use hashloom_frame::quote::quoted;
use hashloom_frame::units::plural;
use hashloom_signature::PublicKey;
use serde::Serialize;

use super::front::End;
use super::place::OtherForms;
use super::reading::{Bad, Listed, Reading};
use super::sources::Sources;
use super::summing::{nbytes_of, trouble};
use super::text_lines::Lines;
use super::verdict::{Counts, Rules, Verdict, json_line, summarize};
use super::{found, only};
use crate::{Form, Parser, nearest};

/// The folder that names in lists are relative to.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    Current,
    Folder(&'a Path),
    /// The folder that the list is in; for standard input the current one.
    List,
}

/// Returns the total length now of the files that lists name, or `None` if a list can be read only once, or a name
/// leads to no regular file.
pub fn total_nbytes(lists: &[PathBuf], base: Base<'_>, mut parser: Parser, rules: Rules) -> Option<u64> {
    let mut total = 0_u64;
    for list in lists.iter() {
        let file = list.is_file().then(|| File::open(list).ok())??;
        let lines = Lines::begin_file(file, list, &mut parser).ok()?;
        let forms = OtherForms::new(rules.ignore_case);
        let mut reading = Reading::new(lines, list, base, &mut parser, rules, &forms);
        while let Some(step) = reading.next() {
            if let Step::Hash(request) = step {
                total = total.saturating_add(nbytes_of(&request.source)?);
            }
        }
    }
    Some(total)
}

/// Checks lists one after the other.
pub struct Checker<'a> {
    pub rules: Rules,
    pub base: Base<'a>,
    /// Whether names are printed behind the folder of their list.
    pub shows_folders: bool,
    /// Whether the number of digits alone tells the algorithm of a line without a tag.
    pub guesses: bool,
    /// The key that must have signed each list.
    pub trusted: Option<&'a PublicKey>,
    /// The folder, as the file system has it, below which files are checked; other lines are passed over.
    pub below: Option<&'a Path>,
    pub sources: Sources,
    pub options: &'a Options,
    pub console: &'a Console<'a>,
}

/// The results of a list so far.
#[derive(Default)]
struct Tally {
    counts: Counts,
    /// Whether a line is about the list itself.
    lists_itself: bool,
    /// Missing files whose names are not UTF-8.
    nnot_utf8: u64,
    /// Whether a missing file lies beside the list.
    is_beside: bool,
}

impl Tally {
    /// Counts a file. Returns the verdict to print, if any. `list`: the list, if it is a file.
    fn count(
        &mut self,
        request: &Request<Listed>,
        result: &Result<Hashed, FileError>,
        list: Option<Identity>,
        rules: Rules,
    ) -> Option<Verdict> {
        let (counts, listed) = (&mut self.counts, &request.tag);
        let hashed = match result {
            Ok(hashed) => hashed,
            Err(error) => {
                let is_missing = error.io().kind() == ErrorKind::NotFound;
                let is_utf8 = || std::str::from_utf8(&listed.name(&request.source)).is_ok();
                self.nnot_utf8 += u64::from(is_missing && !is_utf8());
                if is_missing && rules.ignore_missing {
                    counts.nignored += 1;
                    return None;
                }
                *if error.is_unstable() { &mut counts.nunstable } else { &mut counts.nunread } += 1;
                return Some(Verdict::of_error(error));
            }
        };
        counts.nbytes += hashed.nbytes;
        if !listed.is_match(hashed) {
            counts.nmismatched += 1;
            if counts.mismatched.is_none() {
                counts.mismatched = listed.digests.first().map(|&(algorithm, _)| algorithm);
            }
            let file = hashed.stamp.map(|stamp| Identity::from(&stamp));
            self.lists_itself |= file.is_some_and(|file| Some(file) == list);
            return Some(Verdict::Failed);
        }
        let is_bare = listed.is_bare();
        counts.nmatched += u64::from(!is_bare);
        (!is_bare && !rules.quiet).then_some(Verdict::Ok)
    }
}

impl Checker<'_> {
    /// Checks one list after the other. The form that the parser has learned from one list holds for the next.
    pub fn check_all(&self, lists: &[PathBuf], parser: &mut Parser) -> End {
        let Checker { rules, sources, options, console, .. } = *self;
        let mut end = End::Right;
        for list in lists {
            let par2 = if self.trusted.is_none() { (sources.open_par2)(list) } else { None };
            end = end.and(match par2 {
                Some(_) if self.below.is_some() => {
                    let why = b": the files of a PAR2 set are checked as a whole, and not with --only FOLDER";
                    console.message(&[&quoted(&portable(list))[..], why].concat());
                    End::Wrong
                }
                Some(par2) => {
                    let folder = if let Base::Folder(folder) = self.base { folder } else { folder(list) };
                    (sources.check_par2)(par2, list, folder, rules, options, console)
                }
                None => self.check(list, parser),
            });
            if end == End::Cancelled {
                break;
            }
        }
        end
    }

    fn check(&self, list: &Path, parser: &mut Parser) -> End {
        let Checker { rules, console, .. } = *self;
        let name = &*if list.as_os_str() == "-" { Cow::Borrowed(&b"standard input"[..]) } else { portable(list) };
        let (lines, itself) = match self.open(list, name, parser) {
            Ok(opened) => opened,
            Err(end) => return end,
        };
        let forms = OtherForms::new(rules.ignore_case);
        let mut reading = Reading::new(lines, list, self.base, parser, rules, &forms);
        reading.below = self.below;
        console.begin_part();
        let Some(tally) = self.hash(&mut reading, &forms, (list, name), itself) else { return End::Cancelled };
        if let Some(error) = &reading.error {
            return self.not_read(name, error);
        }
        if self.is_no_list(name, &reading) {
            return End::Wrong;
        }
        let (counts, nunverified) = (&tally.counts, reading.nunverified);
        if rules.json {
            let (counts, bytes, bad_lines) = (Counts { nunverified, ..*counts }, counts.nbytes, reading.nbad);
            let summary = Summary { list: Named::new("list", name), counts, bytes, bad_lines };
            console.print(|lines| json_line(lines, &summary));
        } else if !rules.status {
            self.summarize(list, name, &reading, &tally, forms.count());
        }
        if counts.nunstable > 0 {
            return End::Unstable;
        }
        let is_right = counts.nmatched > 0 && counts.nmismatched + counts.nunread + nunverified == 0;
        End::of(is_right && (reading.nbad == 0 || !rules.strict))
    }

    /// Opens a list, whose signature must be right if there is a key. Returns also which file it is, if it is one.
    fn open(&self, list: &Path, name: &[u8], parser: &mut Parser) -> Result<(Lines, Option<Identity>), End> {
        let Checker { rules, console, .. } = *self;
        let wrong = |message: &[u8]| {
            console.message(message);
            End::Wrong
        };
        let not_read = |error: io::Error| self.not_read(name, &error);
        let is_stdin = list.as_os_str() == "-";
        if !is_stdin && list.is_dir() {
            return Err(wrong(&found::told(list, parser)));
        }
        if let Some(key) = self.trusted {
            let verified = only::signed(list, key).and_then(|trusted| trusted.verify(list, None));
            let (kept, signed) = verified.map_err(|message| wrong(message.as_bytes()))?;
            if !rules.quiet && !rules.status {
                console.message(&[&quoted(name)[..], b": ", signed.line().as_bytes()].concat());
            }
            let lines = kept.read().and_then(|input| Lines::begin_file(input, list, parser));
            return Ok((lines.map_err(not_read)?, None));
        }
        if is_stdin {
            let lines = input::stdin().and_then(|stdin| Lines::begin(stdin, Path::new(""), parser));
            return Ok((lines.map_err(not_read)?, None));
        }
        let file = File::open(list).map_err(|error| wrong(&trouble(name, &error)))?;
        let itself = Stamp::of_file(&file).ok().flatten().map(|stamp| Identity::from(&stamp));
        let lines = Watched::new(file).and_then(|file| Lines::begin_file(file, list, parser));
        Ok((lines.map_err(not_read)?, itself))
    }

    /// Hashes the files of a list, and prints the verdict on each. `None` if the work was stopped.
    fn hash(
        &self,
        reading: &mut Reading<'_>,
        forms: &OtherForms,
        (list, name): (&Path, &[u8]),
        itself: Option<Identity>,
    ) -> Option<Tally> {
        let Checker { rules, options, console, .. } = *self;
        let quotes = io::stdout().is_terminal();
        let mut tally = Tally::default();
        let is_done = hash_steps(std::iter::from_fn(|| reading.next()), options, |event| {
            let (request, result) = match event {
                Event::Note(bad) => return self.name_bad_line(name, &bad),
                Event::Hashed(request, Err(error)) if error.io().kind() == ErrorKind::NotFound => {
                    let hashed = forms.hash(&request, options).unwrap_or(Err(error));
                    (request, hashed)
                }
                Event::Hashed(request, result) => (request, result),
            };
            if let (Err(error), Base::Current, false) = (&result, self.base, tally.is_beside) {
                let beside = || list.with_file_name("").join(to_path(&request.tag.name(&request.source)));
                tally.is_beside = error.io().kind() == ErrorKind::NotFound && beside().is_file();
            }
            let Some(verdict) = tally.count(&request, &result, itself, rules) else { return };
            let Request { source, tag: listed, .. } = &request;
            if let Err(error) = &result {
                console.message(&trouble(&listed.place(source), error.io()));
            }
            if !rules.status {
                let algorithms = if rules.json { listed.algorithms() } else { String::new() };
                let name = listed.name(source);
                // The same name in two lists is not the same file.
                let name = if self.shows_folders && !rules.json {
                    Cow::Owned(portable(&folder(list).join(to_path(&name))).into_owned())
                } else {
                    name
                };
                console.print(|lines| verdict.write_named(lines, &name, algorithms, rules.json, quotes));
            }
        });
        is_done.then_some(tally)
    }

    fn name_bad_line(&self, list: &[u8], bad: &Bad) {
        let Bad { number, why, is_digest } = bad;
        let what = match is_digest {
            true if self.rules.json => {
                let unverified = Unverified { line: *number, state: "unverified", error: why };
                return self.console.print(|lines| json_line(lines, &unverified));
            }
            true if self.rules.status => return,
            true => "not verified",
            false => "improperly formatted checksum line",
        };
        self.console.message(&[&quoted(list)[..], format!(": {number}: {what}: {why}").as_bytes()].concat());
    }

    /// Says why a list, which was read to its end, checks no file. Returns false if it has checksums.
    fn is_no_list(&self, name: &[u8], reading: &Reading<'_>) -> bool {
        let say = |why: &str| self.console.message(&[&quoted(name)[..], b": ", why.as_bytes()].concat());
        if reading.is_manifest {
            say("this is a manifest: use `hashloom manifest check`");
            return true;
        }
        if reading.nentries > 0 || reading.nunverified > 0 {
            return false;
        }
        if self.below.is_some() {
            say("it names no file in the folder of --only");
            return true;
        }
        if !reading.first_text.is_empty() {
            let (shown, Form { of, line, .. }) = (shown(&reading.first_text), nearest(&reading.first_text));
            say(&format!("expected a list of checksums, found: {shown}\nThe nearest form is that of {of}: {line}"));
        }
        if let Some(Bad { number, why, .. }) = reading.first_bad.as_ref().filter(|_| !self.rules.warn) {
            say(&format!("line {number}: {why}"));
        }
        say("no properly formatted checksum lines found");
        if *name != *b"standard input" && !names::is_list(&names::of_path(&to_path(name))) {
            self.console.message(&[b"to check the file itself: hashloom ", &quoted(name)[..]].concat());
        }
        true
    }

    /// Prints how much of a list was wrong, and what the user can do. `nforms`: files that were found in other forms
    /// of their names.
    fn summarize(&self, list: &Path, name: &[u8], reading: &Reading<'_>, tally: &Tally, nforms: u64) {
        let (Checker { rules, console, .. }, counts) = (self, &tally.counts);
        let is_stdin = list.as_os_str() == "-";
        let say = |what: &str| console.message(&[&quoted(name)[..], b": ", what.as_bytes()].concat());
        summarize(console, *rules, reading.nbad, reading.nunverified, counts);
        let is_named = reading.parser.named() == counts.mismatched;
        let may_be_another =
            self.guesses && reading.ntagged == 0 && counts.nmatched == 0 && !tally.lists_itself && !is_named;
        let hint = |algorithm| hint(algorithm, (!is_stdin).then_some(name));
        if let Some(hint) = counts.mismatched.filter(|_| may_be_another).and_then(hint) {
            console.message(&hint);
        }
        if tally.lists_itself {
            say("it lists itself, and no list can have its own digest: remove that line");
        }
        let named = if is_stdin { Cow::Borrowed(&b"LIST"[..]) } else { quoted(name) };
        for remark in reading.parser.remarks() {
            say(&remark.replace("LIST", &String::from_utf8_lossy(&named)));
        }
        if counts.nignored > 0 {
            let ignored = plural(counts.nignored, "listed file");
            let are = if counts.nignored == 1 { "is" } else { "are" };
            console.message(format!("{ignored} {are} missing and not checked").as_bytes());
        }
        if tally.is_beside {
            let told = b"hint: files that it names lie beside it: hashloom check --relative-to-list ";
            console.message(&[&quoted(name)[..], b": ", told, &named].concat());
        }
        if tally.nnot_utf8 > 0 {
            let why = "names of missing files are not UTF-8, perhaps those of an old Windows (cp1252) or DOS (cp850)";
            console.message(&[why.as_bytes(), b": hashloom check --encoding cp1252 ", &named].concat());
        }
        if nforms > 0 {
            let files = plural(nforms, "file");
            let have = if nforms == 1 { "has its name" } else { "have their names" };
            let forms = if rules.ignore_case { "another case or Unicode form" } else { "another Unicode form" };
            console.message(format!("{files} {have} in {forms} here than in the list").as_bytes());
        }
        let is_wrong = counts.nmismatched + counts.nunread + counts.nunstable > 0;
        if rules.ignore_missing && counts.nmatched == 0 && !is_wrong {
            say("no file was verified");
        }
    }

    fn not_read(&self, list: &[u8], error: &io::Error) -> End {
        self.console.message(&trouble(list, error));
        if Watched::has_changed(error) { End::Unstable } else { End::Wrong }
    }
}

/// JSON of `check`: a list that was read to its end.
#[derive(Serialize)]
struct Summary<'a> {
    /// The list; `standard input`.
    #[serde(flatten)]
    list: Named<'a>,
    /// Number of lines by state.
    counts: Counts,
    /// Bytes of the files that were read.
    bytes: u64,
    /// Lines that neither are checksums nor name a digest.
    bad_lines: u64,
}

/// JSON of `check`: a line with a digest that was not verified.
#[derive(Serialize)]
struct Unverified<'a> {
    /// Number of the line.
    line: u64,
    /// `unverified`.
    state: &'static str,
    /// Why the digest was not verified.
    error: &'a str,
}

/// The cure for a list without tags: its digests may be of another algorithm than their length tells. `None` if no
/// other algorithm has digests of that length.
pub fn hint(algorithm: Algorithm, list: Option<&[u8]>) -> Option<Vec<u8>> {
    let nbytes = algorithm.digest_nbytes();
    let is_other = |other: &&Algorithm| other.digest_nbytes() == nbytes && **other != algorithm;
    let others: Vec<&str> = Algorithm::ALL.iter().filter(is_other).map(|other| other.name()).collect();
    let (last, before) = others.split_last()?;
    let (names, name) = match before {
        [] => ((*last).to_owned(), *last),
        before => (format!("{} or {last}", before.join(", ")), "NAME"),
    };
    let hint = format!(
        "hint: no line names its algorithm, so digests of {nbytes} bytes ({} hexadecimal digits) count as \
         {algorithm}. If they are of {names}, name it: hashloom check --algorithm {name}",
        2 * nbytes
    );
    let list = list.map_or(Vec::new(), |list| [b" ", &quoted(list)[..]].concat());
    Some([hint.as_bytes(), &list].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_that_of_all_files_of_all_lists() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let digest = "900150983cd24fb0d6963f7d28e17f72";
        let list = |name: &str, files: &[&str]| {
            let lines: Vec<String> = files.iter().map(|file| format!("{digest}  {file}\n")).collect();
            std::fs::write(folder.join(name), lines.concat() + "not a checksum\n").unwrap();
            folder.join(name)
        };
        std::fs::write(folder.join("a"), "abc").unwrap();
        std::fs::write(folder.join("b"), [0; 1000]).unwrap();
        let lists = [list("one", &["a", "b", "missing"]), list("two", &["a", "."])];
        let total = |lists: &[PathBuf], base: Base<'_>| {
            total_nbytes(lists, base, Parser::untagged(&[Algorithm::Md5]), Rules::default())
        };
        assert_eq!(total(&lists, Base::List), Some(1006));
        assert_eq!(total(&lists, Base::Folder(folder)), Some(1006));
        // A list and a file that can be read only once.
        assert_eq!(total(&["-".into()], Base::Current), None);
        assert_eq!(total(&[list("three", &["a", "-"])], Base::List), None);
    }
}
