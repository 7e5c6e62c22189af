// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks files against lists, for each front end. Its output is that of coreutils 9.1, in contents and order.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::{Component, Path, PathBuf, Prefix};
use std::sync::{Arc, Mutex};

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::forms::Forms;
use hashloom_files::paths::{BadComponent, portable, refused, to_path};
use hashloom_files::run::{Options, lock};
use hashloom_files::text::shown;
use hashloom_files::{Event, FileError, Hashed, Method, Request, Source, Stamp, Step, Watched, hash_steps};
use hashloom_frame::json::write_json;
use hashloom_list::{Entry, Form, Parser, Place, escaped, nearest, tag};
use hashloom_signature::PublicKey;
use serde::Serialize;

use super::crc::Crcs;
use super::format::name;
use super::found;
use super::front::End;
use super::modes::Mode;
use super::summing::{nbytes_of, trouble};
use super::text_lines::{Grammar, Lines, Parsed};
use super::{only, par2};
use crate::input;
use crate::json::Named;
use crate::output::Identity;
use crate::printing::Console;
use crate::quote::{for_terminal, quoted};
use crate::text::reason;
use crate::units::{duration, plural, size};

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
    /// Names may be of Windows, messages say why a line is bad, and a digest that is not verified counts.
    pub lenient: bool,
}

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
pub fn total_nbytes(lists: &[PathBuf], base: Base<'_>, parser: Parser, rules: Rules) -> Option<u64> {
    let (mut total, mut grammar) = (0_u64, Grammar::Any(parser));
    for list in lists.iter() {
        let file = File::open(list).ok().filter(|_| list.is_file() && par2::open(list).is_none())?;
        let lines = Lines::begin_file(file, list, &mut grammar).ok()?;
        let forms = OtherForms::new(rules);
        let mut reading = Reading::new(lines, list, base, &mut grammar, rules, &forms);
        while let Some(step) = reading.next() {
            if let Step::Hash(request) = step {
                total = total.saturating_add(nbytes_of(&request.source)?);
            }
        }
    }
    Some(total)
}

/// Messages call the checksums of a list by these words.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Nothing.
    Any,
    /// As coreutils: a bad line has the name of the algorithm.
    Line(&'static str),
    /// As cksum without --algorithm: a bad line has the name that the last line had.
    LastLine,
    /// As shasum: a list without checksums has the name too.
    List(&'static str),
}

/// Checks lists one after the other.
pub struct Checker<'a> {
    pub rules: Rules,
    pub base: Base<'a>,
    /// The grammar of all lists: the format that it has learned from one list holds for the next.
    pub grammar: Grammar,
    pub kind: Kind,
    /// Whether the number of digits alone tells the algorithm of a line without a tag.
    pub guesses: bool,
    /// The key that must have signed each list.
    pub trusted: Option<&'a PublicKey>,
    /// The folder, as the file system has it, below which files are checked; other lines are passed over.
    pub below: Option<&'a Path>,
    pub options: &'a Options,
    pub console: &'a Console<'a>,
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) nmatched: u64,
    pub(super) nmismatched: u64,
    pub(super) nunread: u64,
    pub(super) nunstable: u64,
    /// Missing files that were ignored.
    pub(super) nignored: u64,
    /// Bytes of the files that were read.
    pub(super) nbytes: u64,
    /// The algorithm of the first line that did not match.
    mismatched: Option<Algorithm>,
}

/// The digests and length that a list gives for a file.
struct Listed {
    digests: Vec<(Algorithm, Hash)>,
    /// Whether one digest must match, or all.
    is_any: bool,
    nbytes: Option<u64>,
    crcs: Option<Crcs>,
    /// The name in the list, if the source has another one.
    name: Option<Vec<u8>>,
}

impl Listed {
    /// Whether the list has only the file's length here. The length tells nothing of the bytes.
    fn is_bare(&self) -> bool {
        self.digests.is_empty() && self.crcs.as_ref().is_none_or(|crcs| crcs.names().next().is_none())
    }

    fn is_match(&self, hashed: &Hashed) -> bool {
        let mut pairs = self.digests.iter().zip(&hashed.digests).map(|((_, listed), found)| listed == found);
        self.nbytes.is_none_or(|nbytes| nbytes == hashed.nbytes)
            && self.digests.len() == hashed.digests.len()
            && if self.is_any { pairs.any(|is| is) } else { pairs.all(|is| is) }
            && self.crcs.as_ref().is_none_or(Crcs::are_right)
    }

    fn name<'a>(&'a self, source: &'a Source) -> Cow<'a, [u8]> {
        self.name.as_deref().map_or_else(|| name(source), Cow::Borrowed)
    }

    /// The path that was opened.
    fn place<'a>(&'a self, source: &'a Source) -> Cow<'a, [u8]> {
        if matches!(source, Source::Reader(_)) { self.name(source) } else { name(source) }
    }
}

/// A line of the list that is not a checksum, or whose digest is not verified.
struct Bad {
    number: u64,
    /// The algorithm that the last line has named.
    last: Option<Algorithm>,
    why: String,
    is_digest: bool,
}

impl Checker<'_> {
    /// Checks one list after the other.
    pub fn check_all(&mut self, lists: &[PathBuf]) -> End {
        let mut end = End::Right;
        for list in lists {
            let par2 = if self.rules.lenient && self.trusted.is_none() { par2::open(list) } else { None };
            end = end.and(match par2 {
                Some(_) if self.below.is_some() => {
                    let why = b": the files of a PAR2 set are checked as a whole, and not with --only FOLDER";
                    self.console.message(&[&quoted(&portable(list))[..], why].concat());
                    End::Wrong
                }
                Some(file) => par2::check(self, list, file),
                None => self.check(list),
            });
            if end == End::Cancelled {
                break;
            }
        }
        end
    }

    fn check(&mut self, list: &Path) -> End {
        let is_stdin = list.as_os_str() == "-";
        let list_name = &*if is_stdin { Cow::Borrowed(&b"standard input"[..]) } else { portable(list) };
        // shasum quotes nothing, which may still be necessary for the names of files.
        let shown_name = match self.kind {
            Kind::List(_) if is_stdin => Cow::Borrowed(list_name),
            _ => quoted(list_name),
        };
        if let Some(parser) = self.grammar.parser().filter(|_| !is_stdin && list.is_dir()) {
            self.console.message(&found::told(list, parser));
            return End::Wrong;
        }
        let mut itself = None;
        let kept = match self.trusted.map(|key| only::signed(list, key).and_then(|trusted| trusted.verify(list, None)))
        {
            Some(Ok((kept, signed))) => {
                if !self.rules.quiet && !self.rules.status {
                    self.console.message(&[&quoted(list_name)[..], b": ", signed.line().as_bytes()].concat());
                }
                Some(kept)
            }
            Some(Err(message)) => {
                self.console.message(message.as_bytes());
                return End::Wrong;
            }
            None => None,
        };
        let grammar = &mut self.grammar;
        let lines = if let Some(kept) = kept {
            kept.read().and_then(|input| Lines::begin_file(input, list, grammar))
        } else if is_stdin {
            input::stdin().and_then(|stdin| Lines::begin(stdin, Path::new(""), grammar))
        } else {
            match File::open(list) {
                Ok(file) => {
                    itself = Stamp::of_file(&file).ok().flatten().map(|stamp| Identity::from(&stamp));
                    Watched::new(file).and_then(|file| Lines::begin_file(file, list, grammar))
                }
                Err(error) => {
                    self.console.message(&trouble(list_name, &error));
                    return End::Wrong;
                }
            }
        };
        let lines = match lines {
            Ok(lines) => lines,
            Err(error) => return self.not_read(list_name, &error),
        };
        let (rules, console, kind) = (self.rules, self.console, self.kind);
        let (forms, options) = (OtherForms::new(rules), self.options);
        let mut reading = Reading::new(lines, list, self.base, &mut self.grammar, rules, &forms);
        reading.below = self.below;
        console.begin_part();
        let (mut counts, mut lists_itself, mut nnot_utf8) = (Counts::default(), false, 0);
        let quotes = rules.lenient && io::stdout().is_terminal();
        let tell = |request: &Request<Listed>, verdict: Verdict| {
            if !rules.status {
                console.print(|lines| verdict.write(lines, request, rules.json, quotes));
            }
        };
        let other_form = |event| match event {
            Event::Hashed(request, Err(error)) if rules.lenient && error.io().kind() == ErrorKind::NotFound => {
                let hashed = forms.hash(&request, options).unwrap_or(Err(error));
                Event::Hashed(request, hashed)
            }
            event => event,
        };
        let is_done = hash_steps(std::iter::from_fn(|| reading.next()), options, |event| match other_form(event) {
            Event::Note(Bad { number, why, is_digest: true, .. }) => {
                if rules.json {
                    let state = "unverified";
                    console.print(|lines| json_line(lines, &Unverified { line: number, state, error: &why }));
                } else if !rules.status {
                    console.message(&[&shown_name[..], format!(": {number}: not verified: {why}").as_bytes()].concat());
                }
            }
            Event::Note(Bad { number, last, why, .. }) => {
                let (kind, blank) = match kind {
                    Kind::Any => ("", ""),
                    Kind::Line(kind) | Kind::List(kind) => (kind, " "),
                    Kind::LastLine => (last.map_or("CRC", type_of), " "),
                };
                let message = format!(": {number}: improperly formatted {kind}{blank}checksum line{why}");
                console.message(&[&shown_name[..], message.as_bytes()].concat());
            }
            Event::Hashed(request, Ok(hashed)) => {
                let is_match = request.tag.is_match(&hashed);
                counts.nbytes += hashed.nbytes;
                if is_match && request.tag.is_bare() {
                    return;
                }
                *if is_match { &mut counts.nmatched } else { &mut counts.nmismatched } += 1;
                if !is_match && counts.mismatched.is_none() {
                    counts.mismatched = request.tag.digests.first().map(|&(algorithm, _)| algorithm);
                }
                lists_itself |=
                    !is_match && hashed.stamp.map(|stamp| Identity::from(&stamp)).is_some_and(|it| Some(it) == itself);
                if !(rules.quiet && is_match) {
                    tell(&request, if is_match { Verdict::Ok } else { Verdict::Failed });
                }
            }
            Event::Hashed(request, Err(error)) if rules.ignore_missing && error.io().kind() == ErrorKind::NotFound => {
                counts.nignored += 1;
                nnot_utf8 += u64::from(std::str::from_utf8(&request.tag.name(&request.source)).is_err());
            }
            Event::Hashed(request, Err(error)) => {
                // coreutils has no word for unstable files.
                let has_changed = matches!(error, FileError::Unstable(_)) || Watched::has_changed(error.io());
                let is_unstable = rules.lenient && has_changed;
                *if is_unstable { &mut counts.nunstable } else { &mut counts.nunread } += 1;
                console.message(&trouble(&request.tag.place(&request.source), error.io()));
                let name = request.tag.name(&request.source);
                nnot_utf8 += u64::from(error.io().kind() == ErrorKind::NotFound && std::str::from_utf8(&name).is_err());
                tell(&request, if is_unstable { Verdict::Unstable } else { Verdict::Unread });
            }
        });
        if !is_done {
            return End::Cancelled;
        }
        let nforms = forms.count();
        let Reading { error, is_manifest, nbad, nunverified, first_bad, first_text, nentries, ntagged, .. } = reading;
        let remarks: Vec<&str> = self.grammar.parser().into_iter().flat_map(Parser::remarks).collect();
        if let Some(error) = error {
            return self.not_read(list_name, &error);
        }
        if is_manifest {
            let cure = b": this is a manifest: use `hashloom manifest check`";
            console.message(&[&quoted(list_name)[..], cure].concat());
            return End::Wrong;
        }
        if let (Some(_), 0, 0) = (self.below, nentries, nunverified) {
            console.message(&[&shown_name[..], b": it names no file in the folder of --only"].concat());
            return End::Wrong;
        }
        if nentries == 0 && nunverified == 0 {
            if rules.lenient && !first_text.is_empty() {
                let form = nearest(&first_text);
                let (shown, Form { of, line, .. }) = (shown(&first_text), form);
                let found =
                    format!(": expected a list of checksums, found: {shown}\nThe nearest form is that of {of}: {line}");
                console.message(&[&quoted(list_name)[..], found.as_bytes()].concat());
            }
            if let Some(Bad { number, why, .. }) = first_bad.filter(|_| rules.lenient && !rules.warn) {
                console.message(&[&quoted(list_name)[..], format!(": line {number}{why}").as_bytes()].concat());
            }
            let of = if let Kind::List(kind) = kind { format!("{kind} ") } else { String::new() };
            let message = format!(": no properly formatted {of}checksum lines found");
            console.message(&[&shown_name[..], message.as_bytes()].concat());
            return End::Wrong;
        }
        if rules.json {
            let nbytes = counts.nbytes;
            let json = CountsJson::new(&counts, nunverified);
            let summary = Summary { list: Named::new("list", list_name), counts: json, bytes: nbytes, bad_lines: nbad };
            console.print(|lines| json_line(lines, &summary));
        } else if !rules.status {
            summarize(console, rules, nbad, nunverified, &counts);
            let is_named = self.grammar.parser().and_then(Parser::named) == counts.mismatched;
            let may_be_another = self.guesses && ntagged == 0 && counts.nmatched == 0 && !lists_itself && !is_named;
            let hint = |algorithm| hint(algorithm, (!is_stdin).then_some(list_name));
            if let Some(hint) = counts.mismatched.filter(|_| may_be_another).and_then(hint) {
                console.message(&hint);
            }
            if lists_itself && rules.lenient {
                let cure = b": it lists itself, and no list can have its own digest: remove that line";
                console.message(&[&quoted(list_name)[..], cure].concat());
            }
            let named = if is_stdin { Cow::Borrowed(&b"LIST"[..]) } else { quoted(list_name) };
            for remark in remarks {
                let remark = remark.replace("LIST", &String::from_utf8_lossy(&named));
                console.message(&[&quoted(list_name)[..], b": ", remark.as_bytes()].concat());
            }
            if rules.lenient && counts.nignored > 0 {
                let ignored = plural(counts.nignored, "listed file");
                let are = if counts.nignored == 1 { "is" } else { "are" };
                console.message(format!("{ignored} {are} missing and not checked").as_bytes());
            }
            if rules.lenient && nnot_utf8 > 0 {
                let why =
                    "names of missing files are not UTF-8, perhaps those of an old Windows (cp1252) or DOS (cp850)";
                console.message(&[why.as_bytes(), b": hashloom check --encoding cp1252 ", &named].concat());
            }
            if nforms > 0 {
                let files = plural(nforms, "file");
                let have = if nforms == 1 { "has its name" } else { "have their names" };
                let forms = if rules.ignore_case { "another case or Unicode form" } else { "another Unicode form" };
                console.message(format!("{files} {have} in {forms} here than in the list").as_bytes());
            }
            let is_wrong = rules.lenient && counts.nmismatched + counts.nunread + counts.nunstable > 0;
            if rules.ignore_missing && counts.nmatched == 0 && !is_wrong {
                console.message(&[&shown_name[..], b": no file was verified"].concat());
            }
        }
        if counts.nunstable > 0 {
            return End::Unstable;
        }
        let is_right = counts.nmatched > 0 && counts.nmismatched + counts.nunread + nunverified == 0;
        End::of(is_right && (nbad == 0 || !rules.strict))
    }

    fn not_read(&self, list_name: &[u8], error: &io::Error) -> End {
        // coreutils' words, except for a folder: people often name one by mistake.
        let why = if self.rules.lenient { reason(error).to_string() } else { "read error".to_owned() };
        self.console.message(&[&quoted(list_name)[..], b": ", why.as_bytes()].concat());
        // coreutils has no status for this.
        if self.rules.lenient && Watched::has_changed(error) { End::Unstable } else { End::Wrong }
    }
}

/// The name that cksum has for an algorithm: all of SHA-3 has one.
fn type_of(algorithm: Algorithm) -> &'static str {
    let tag = tag(algorithm);
    if tag.starts_with("SHA3-") { "SHA3" } else { tag }
}

/// The result for a file.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    Ok,
    Failed,
    /// The file differs, as its owner may have wanted.
    Changed,
    Unread,
    Unstable,
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    algorithm: String,
    state: &'static str,
}

/// The files and lines that the check of a list covered.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    #[serde(flatten)]
    pub(super) list: Named<'a>,
    pub(super) counts: CountsJson,
    pub(super) bytes: u64,
    pub(super) bad_lines: u64,
}

#[derive(Serialize)]
pub(super) struct CountsJson {
    ok: u64,
    failed: u64,
    unread: u64,
    unstable: u64,
    ignored: u64,
    unverified: u64,
}

impl CountsJson {
    pub(super) fn new(counts: &Counts, nunverified: u64) -> CountsJson {
        CountsJson {
            ok: counts.nmatched,
            failed: counts.nmismatched,
            unread: counts.nunread,
            unstable: counts.nunstable,
            ignored: counts.nignored,
            unverified: nunverified,
        }
    }
}

/// A line with a digest that was not verified.
#[derive(Serialize)]
struct Unverified<'a> {
    line: u64,
    state: &'static str,
    error: &'a str,
}

pub(super) fn json_line(into: &mut Vec<u8>, value: &impl Serialize) {
    // Writing into memory cannot fail.
    let _ = write_json(&mut *into, value);
    into.push(b'\n');
}

impl Verdict {
    /// Appends the line: `<name>: OK`, or an object. `quotes`: the line is for a terminal.
    fn write(self, into: &mut Vec<u8>, request: &Request<Listed>, json: bool, quotes: bool) {
        let names = || {
            let mut names: Vec<_> = request.tag.digests.iter().map(|(algorithm, _)| algorithm.to_string()).collect();
            names.extend(request.tag.crcs.iter().flat_map(Crcs::names));
            names.join(",")
        };
        let algorithm = if json { names() } else { String::new() };
        self.write_named(into, &request.tag.name(&request.source), algorithm, json, quotes);
    }

    pub(super) fn state(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "failed",
            Verdict::Changed => "changed",
            Verdict::Unread => "unread",
            Verdict::Unstable => "unstable",
        }
    }

    /// Appends `<name>: OK (<note>)`.
    pub(super) fn write_noted(self, into: &mut Vec<u8>, name: &[u8], note: &[u8], quotes: bool) {
        self.write_named(into, name, String::new(), false, quotes);
        into.pop();
        into.extend_from_slice(&[b" (", note, b")\n"].concat());
    }

    /// The same for a name.
    pub(super) fn write_named(self, into: &mut Vec<u8>, name: &[u8], algorithm: String, json: bool, quotes: bool) {
        if json {
            let state = self.state();
            return json_line(into, &Object { path: Named::new("path", name), algorithm, state });
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

pub(super) fn summarize(console: &Console<'_>, rules: Rules, nbad: u64, nunverified: u64, counts: &Counts) {
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
    // Whoever watches many lines wants their number. In a file or a pipe, the output is that of `sha256sum --check`.
    let nfiles = counts.nmatched + counts.nmismatched + counts.nunread + counts.nunstable;
    if rules.lenient && !rules.quiet && nfiles > 1 && io::stderr().is_terminal() {
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

/// The cure for a list without tags: its digests may be of another algorithm than their length tells. `None` if no
/// other algorithm has digests of that length.
pub(super) fn hint(algorithm: Algorithm, list: Option<&[u8]>) -> Option<Vec<u8>> {
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

/// The server of the network that a path of Windows leads to.
fn server(path: &Path) -> Option<OsString> {
    let path = std::path::absolute(path).ok()?;
    match path.components().next()? {
        Component::Prefix(prefix) => match prefix.kind() {
            Prefix::UNC(server, _) | Prefix::VerbatimUNC(server, _) => Some(server.to_ascii_lowercase()),
            _ => None,
        },
        _ => None,
    }
}

/// Why a file of the list is not opened.
enum Refused {
    /// This system gives its name another meaning.
    Name(BadComponent),
    /// The file was checked for another name of the list, in another Unicode form or case. This name has no file of its
    /// own.
    CheckedBefore,
}

impl Read for Refused {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let why = match self {
            Refused::Name(why @ BadComponent::Network) => format!(
                "not opened, as a part of the name {why}; if it may be, give that server a drive letter, or put the list there"
            ),
            Refused::Name(why) => format!("not opened, as a part of the name {why}"),
            Refused::CheckedBefore => "the list has this name in two forms, and one file is there".to_owned(),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }
}

/// A list that is being read.
struct Reading<'a> {
    lines: Lines,
    nbad: u64,
    /// Lines with a digest that is not verified.
    nunverified: u64,
    /// The reasons that were told.
    told: Vec<String>,
    /// The first line that is not a checksum.
    first_bad: Option<Bad>,
    nentries: u64,
    /// Entries that name their algorithms.
    ntagged: u64,
    error: Option<io::Error>,
    /// Whether reading has ended at the first line of a manifest.
    is_manifest: bool,
    grammar: &'a mut Grammar,
    rules: Rules,
    is_stdin: bool,
    /// The folder that names are relative to; empty if it is the current one.
    base: &'a Path,
    /// The folder that the list is in.
    folder: &'a Path,
    /// The first line that is not a checksum, or its beginning.
    first_text: Vec<u8>,
    /// The folder of Windows, with its slash, that the list was made in: the folder that names are relative to here.
    root: Option<Vec<u8>>,
    /// As in [`Checker`].
    below: Option<&'a Path>,
    /// The paths that are not ASCII.
    forms: &'a OtherForms,
    /// The methods that the list has used so far.
    methods: Vec<Arc<[Method]>>,
    /// The servers of the network that the user has named: those of the list, the current folder and the base.
    servers: Vec<OsString>,
}

impl<'a> Reading<'a> {
    fn new(
        lines: Lines,
        list: &'a Path,
        base: Base<'a>,
        grammar: &'a mut Grammar,
        rules: Rules,
        forms: &'a OtherForms,
    ) -> Reading<'a> {
        let named = if let Base::Folder(folder) = base { Some(folder) } else { None };
        let folder = list.parent().unwrap_or(Path::new(""));
        let above = Parser::nfolders_up(&portable(list)).filter(|_| rules.lenient);
        Reading {
            lines,
            nbad: 0,
            nunverified: 0,
            told: Vec::new(),
            first_bad: None,
            nentries: 0,
            ntagged: 0,
            error: None,
            is_manifest: false,
            grammar,
            rules,
            is_stdin: list.as_os_str() == "-",
            base: match base {
                Base::Current => above.and_then(|n| folder.ancestors().nth(n)).unwrap_or(Path::new("")),
                Base::Folder(folder) => folder,
                Base::List => folder,
            },
            folder,
            first_text: Vec::new(),
            root: None,
            below: None,
            forms,
            methods: Vec::new(),
            servers: [list, Path::new(".")].into_iter().chain(named).filter_map(server).collect(),
        }
    }

    /// Why a file is not opened. A list may not send the user to another server than the user has.
    fn refused(&self, path: &[u8]) -> Option<BadComponent> {
        let is_named = || server(&to_path(path)).is_some_and(|server| self.servers.contains(&server));
        refused(path).filter(|why| *why != BadComponent::Network || !is_named())
    }

    fn next(&mut self) -> Option<Step<Listed, Bad>> {
        /// A list may have any number of reasons.
        const TOLD_MAX: usize = 8;
        /// A message shows the first bytes of a line that is no checksum.
        const TEXT_NBYTES: usize = 100;
        loop {
            let (parsed, mode) = match self.lines.next(self.grammar) {
                Ok(next) => next?,
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            };
            let (why, is_digest) = match parsed {
                Parsed::Blank => continue,
                Parsed::Manifest => {
                    self.is_manifest = true;
                    return None;
                }
                Parsed::Entry(entry) if self.is_stdin && *entry.name == *b"-" => {
                    ("the list itself is standard input".to_owned(), self.rules.lenient)
                }
                Parsed::Entry(entry) => {
                    let entry = Entry { name: entry.name.into_owned().into(), ..entry };
                    if self.below.is_some_and(|below| !self.is_below(below, &entry.name)) {
                        continue;
                    }
                    match self.in_archive(&entry) {
                        Some(why) => (why, true),
                        None => return Some(Step::Hash(self.request(entry, mode))),
                    }
                }
                Parsed::Unread(why) => (why, true),
                Parsed::Bad(why) => (why, false),
            };
            let number = self.lines.number;
            if is_digest {
                self.nunverified += 1;
                let is_new = self.told.len() < TOLD_MAX && !self.told.contains(&why);
                if is_new {
                    self.told.push(why.clone());
                }
                if is_new || self.rules.warn || self.rules.json {
                    return Some(Step::Note(Bad { number, last: None, why, is_digest }));
                }
                continue;
            }
            self.nbad += 1;
            if self.first_text.is_empty() {
                self.first_text = self.lines.text().iter().take(TEXT_NBYTES).copied().collect();
            }
            let why = if self.rules.lenient { format!(": {why}") } else { String::new() };
            let bad = Bad { number, last: self.grammar.last_tag(), why, is_digest };
            if self.rules.warn {
                return Some(Step::Note(bad));
            }
            self.first_bad.get_or_insert(bad);
        }
    }

    /// Whether a name leads below a folder.
    fn is_below(&self, folder: &Path, name: &[u8]) -> bool {
        let path = self.base.join(to_path(name));
        refused(name).is_none()
            && path.canonicalize().ok().or_else(|| only::lexical(&path)).is_some_and(|path| path.starts_with(folder))
    }

    /// Why a file of a set is not read: it is in the archive of the set.
    fn in_archive(&self, entry: &Entry<'_>) -> Option<String> {
        let Place::Set(set) = &entry.place else { return None };
        let is_here = |name: &[u8]| self.base.join(to_path(name)).symlink_metadata().is_ok();
        let archive = || [&b".zip"[..], b".7z"].map(|end| [set, end].concat()).into_iter().find(|name| is_here(name));
        let is_safe = refused(set).is_none() && !set.contains(&b'/');
        let is_file = || is_here(&entry.name) || is_here(&[set, &b"/"[..], &entry.name].concat());
        let archive = if is_safe && !is_file() { archive()? } else { return None };
        Some(format!("a member of {}; unpack it to check its files", shown(&archive)))
    }

    fn request(&mut self, entry: Entry<'static>, mode: Mode) -> Request<Listed> {
        let Entry { mut digests, crcs, is_tagged, nbytes, is_any, mut name, place, .. } = entry;
        if let Place::Set(set) = &place {
            let whole = [set, &b"/"[..], &name].concat();
            let exists = |name: &[u8]| self.base.join(to_path(name)).symlink_metadata().is_ok();
            if refused(&whole).is_none() && !set.contains(&b'/') && !exists(&name) && exists(&whole) {
                name = whole.into();
            }
        }
        let base = if place == Place::List { self.folder } else { self.base };
        // A hostile list could have each order of the algorithms.
        digests.sort_by_key(|(algorithm, _)| algorithm.name());
        let here = if self.rules.lenient { from_windows(base, &mut self.root, &name) } else { None };
        let path = here.as_deref().unwrap_or(&name);
        let mut source = match self.refused(path) {
            None => mode.source(to_path(path)),
            Some(why) => Source::reader(Refused::Name(why)),
        };
        let is_other = here.is_some() || matches!(source, Source::Reader(_));
        let mut listed = is_other.then(|| name.to_vec());
        if let (Source::Path(path), false) = (&mut source, base.as_os_str().is_empty()) {
            *path = base.join(&path);
            listed = Some(name.to_vec());
        }
        let taken = match &source {
            Source::Path(path) if self.rules.lenient && self.forms.is_taken(path) => Some(portable(path).into_owned()),
            _ => None,
        };
        if let Some(path) = taken {
            source = Source::reader(Refused::CheckedBefore);
            listed.get_or_insert(path);
        }
        let crcs = (!crcs.is_empty() || digests.is_empty()).then(|| Crcs::new(crcs, nbytes));
        if let (Source::Path(path), Some(crcs)) = (&mut source, &crcs) {
            source = Source::reader(crcs.reader(std::mem::take(path)));
            listed.get_or_insert(name.into_owned());
        }
        self.nentries += 1;
        self.ntagged += u64::from(is_tagged);
        let methods = self.methods(&digests);
        Request { source, methods, tag: Listed { digests, is_any, nbytes, crcs, name: listed } }
    }

    fn methods(&mut self, digests: &[(Algorithm, Hash)]) -> Arc<[Method]> {
        let wanted = || digests.iter().map(|&(algorithm, _)| algorithm);
        let is_it = |methods: &&Arc<[Method]>| methods.iter().map(Method::algorithm).eq(wanted());
        if let Some(methods) = self.methods.iter().find(is_it) {
            return Arc::clone(methods);
        }
        let methods: Arc<[Method]> = wanted().map(Method::from).collect();
        self.methods.push(Arc::clone(&methods));
        methods
    }
}

/// Finds files whose names in the list are there in another Unicode form, or case, only. No file is taken for two
/// names.
struct OtherForms {
    ignores_case: bool,
    paths: Mutex<Paths>,
}

#[derive(Default)]
struct Paths {
    forms: Forms,
    /// Hashes of all paths of the list that another may stand for.
    listed: HashSet<u64>,
    /// Hashes of the paths that were found for others, and of these.
    found: HashMap<u64, u64>,
}

impl OtherForms {
    fn new(rules: Rules) -> OtherForms {
        let forms = if rules.ignore_case { Forms::ignoring_case() } else { Forms::default() };
        OtherForms { ignores_case: rules.ignore_case, paths: Mutex::new(Paths { forms, ..Paths::default() }) }
    }

    /// Notes a path of the list. Returns whether its file was taken for another path.
    fn is_taken(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_ascii() && !self.ignores_case {
            return false;
        }
        let mut paths = lock(&self.paths);
        let own = fingerprint(bytes);
        paths.listed.insert(own);
        paths.found.contains_key(&own)
    }

    /// Hashes a file that is missing under its own name, under another form of it. `None` if there is none, or more
    /// than one, or the list has it, too.
    fn hash(&self, request: &Request<Listed>, options: &Options) -> Option<Result<Hashed, FileError>> {
        let Source::Path(path) = &request.source else { return None };
        let found = {
            let mut paths = lock(&self.paths);
            let found = paths.forms.find(Path::new(""), path)?;
            let key = |path: &Path| fingerprint(path.as_os_str().as_encoded_bytes());
            let (other, own) = (key(&found), key(path));
            let is_free = !paths.listed.contains(&other) && *paths.found.entry(other).or_insert(own) == own;
            is_free.then_some(found)?
        };
        let request = Request { source: Source::Path(found), methods: Arc::clone(&request.methods), tag: () };
        let mut result = None;
        hash_steps(std::iter::once(Step::<(), ()>::Hash(request)), options, |event| {
            if let Event::Hashed(_, hashed) = event {
                result = Some(hashed);
            }
        });
        result
    }

    /// Number of files that were found.
    fn count(&self) -> u64 {
        lock(&self.paths).found.len() as u64
    }
}

fn fingerprint(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The name here of a file that has a name of Windows in the list, if no file has that name as it is. `root`: as in
/// [`Reading`].
pub(super) fn from_windows(base: &Path, root: &mut Option<Vec<u8>>, name: &[u8]) -> Option<Vec<u8>> {
    /// A name of a stranger may have any number of folders.
    const FOLDERS_MAX: usize = 64;
    let has_drive = matches!(name, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let exists = |name: &[u8]| base.join(to_path(name)).symlink_metadata().is_ok();
    if cfg!(windows) || !(has_drive || name.contains(&b'\\')) || exists(name) {
        return None;
    }
    let turned: Vec<u8> = name.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect();
    if !has_drive {
        return exists(&turned).then_some(turned);
    }
    if root.is_none() {
        let mut ends = memchr::memchr_iter(b'/', &turned).map(|at| at + 1).take(FOLDERS_MAX);
        let end = ends.find(|&end| end < turned.len() && turned[end] != b'/' && exists(&turned[end..]))?;
        *root = Some(turned[..end].to_vec());
    }
    turned.strip_prefix(&root.as_ref()?[..]).map(<[u8]>::to_vec)
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
            total_nbytes(lists, base, Parser::untagged(&[Algorithm::Md5]), Rules { lenient: true, ..Rules::default() })
        };
        assert_eq!(total(&lists, Base::List), Some(1006));
        assert_eq!(total(&lists, Base::Folder(folder)), Some(1006));
        // A list and a file that can be read only once.
        assert_eq!(total(&["-".into()], Base::Current), None);
        assert_eq!(total(&[list("three", &["a", "-"])], Base::List), None);
    }
}
