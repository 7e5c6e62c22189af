// SPDX-License-Identifier: MIT OR Apache-2.0

//! `check --only`: what lists say about some files, and nothing else that they name.
//!
//! First all lists are read: each line that leads to one of the files, by whatever spelling, is a claim; a line that
//! names a file without a digest that can be compared is a doubt. Then each file is read once, for the digests of all
//! claims. A file is right if every claim is, and there is no doubt.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::forms::Forms;
use hashloom_files::paths::{portable, refused, to_path};
use hashloom_files::{Event, Hashed, Method, Request, Source, Step, Watched, hash_steps};
use hashloom_frame::names::{self, with_suffix};
use hashloom_frame::output::{Identity, folder};
use hashloom_frame::printing::Console;
use hashloom_frame::quote::{for_terminal, quoted};
use hashloom_frame::text::{display, failed};
use hashloom_signature::PublicKey;
use hashloom_signature::command::Trusted;

use super::checking::hint;
use super::crc::Crcs;
use super::front::End;
use super::place::from_windows;
use super::sources::Sources;
use super::summing::trouble;
use super::text_lines::{Lines, Parsed};
use super::verdict::{Rules, Verdict};
use crate::{Entry, Parser, Place, escaped};

/// Files that lists may name.
pub struct Subjects {
    files: Vec<Subject>,
    by_identity: HashMap<Identity, Vec<usize>>,
    /// By each name in lower case, and by each name without its ending.
    by_name: HashMap<Vec<u8>, Vec<usize>>,
    by_stem: HashMap<Vec<u8>, Vec<usize>>,
}

struct Subject {
    /// The names of the file, and of the file that a link leads to.
    names: Vec<Vec<u8>>,
}

/// The entry of a list for a file.
#[derive(Clone)]
struct Claim {
    /// The entry, without its name.
    said: Entry<'static>,
    /// The name in the list, if nothing is at that path and only its last part is the file's.
    elsewhere: Option<Vec<u8>>,
}

impl Claim {
    /// A claim without choice, of a list that names its algorithms.
    fn whole(digests: Vec<(Algorithm, Hash)>, nbytes: u64) -> Claim {
        let said = Entry { nbytes: Some(nbytes), ..Entry::new(digests, true, Cow::Borrowed(b"")) };
        Claim { said, elsewhere: None }
    }

    /// The names of the algorithms, or `length` if there is none.
    fn algorithms(&self) -> String {
        let digests = self.said.digests.iter().map(|(algorithm, _)| algorithm.name().to_owned());
        let names: Vec<_> = digests.chain(self.said.crcs.iter().map(|(crc, _)| crc.tag().to_lowercase())).collect();
        if names.is_empty() { "length".to_owned() } else { names.join(", ") }
    }

    fn has_checksum(&self) -> bool {
        !self.said.digests.is_empty() || !self.said.crcs.is_empty()
    }

    /// Whether it has no digest that nobody can match on purpose.
    fn is_weak(&self) -> bool {
        self.said.digests.iter().all(|(algorithm, _)| *algorithm == Algorithm::Md5)
    }

    fn is_match(&self, found: &Hashed, wanted: &[Algorithm], crcs: Option<&Crcs>) -> bool {
        let is_it = |(algorithm, digest): &(Algorithm, Hash)| {
            wanted.iter().zip(&found.digests).any(|(other, found)| other == algorithm && found == digest)
        };
        let mut digests = self.said.digests.iter();
        self.said.nbytes.is_none_or(|nbytes| nbytes == found.nbytes)
            && (if self.said.is_any { digests.any(is_it) } else { digests.all(is_it) })
            && self.said.crcs.iter().all(|&(crc, value)| crcs.is_some_and(|crcs| crcs.has(crc, value)))
    }
}

/// What one list says about each of the files.
struct Evidence {
    claims: Vec<Vec<Claim>>,
    doubts: Vec<Vec<String>>,
    /// Remarks on the list as a whole, for the user.
    remarks: Vec<String>,
}

impl Evidence {
    /// A hostile list may name a file, or have its name, any number of times.
    const CLAIMS_MAX: usize = 1000;
    const DOUBTS_MAX: usize = 8;

    fn claim(&mut self, file: usize, list: &Path, claim: Claim) {
        match self.claims[file].len() {
            Self::CLAIMS_MAX => self.doubt(file, list, "it names this file over 1,000 times; the rest is not compared"),
            _ => self.claims[file].push(claim),
        }
    }

    fn doubt(&mut self, file: usize, list: &Path, why: &str) {
        let doubt = format!("{}: not compared: {why}", display(list));
        let doubts = &mut self.doubts[file];
        if doubts.len() < Self::DOUBTS_MAX && !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
}

/// How lists are read.
#[derive(Clone, Copy)]
pub struct Ways<'a> {
    pub parser: &'a Parser,
    /// The folder that names are relative to [default: the one that each list is in].
    pub base: Option<&'a Path>,
    /// The key that must have signed the lists, or the files themselves.
    pub trusted: Option<&'a PublicKey>,
    pub sources: Sources,
}

/// A line of a list.
enum Said<'a> {
    /// The path that a name leads to, and the name.
    Claim(PathBuf, &'a [u8], Claim),
    /// A line that is no claim: its number, text, and why it is not read, if it has a digest.
    Other(u64, &'a [u8], Option<String>),
}

/// Calls `each` with the lines of a list, a manifest or a PAR2 file. Returns remarks on the list.
fn read(list: &Path, ways: Ways<'_>, mut each: impl FnMut(Said<'_>)) -> Result<Vec<String>, String> {
    let mut remarks = Vec::new();
    let wrong = |error: std::io::Error| failed(list, &error);
    let mut forms = Forms::default();
    // The place of a name that may be written in another Unicode form.
    let mut place = |base: &Path, name: &[u8]| {
        let path = base.join(to_path(name));
        forms.find(base, &to_path(name)).map_or(path, |found| base.join(found))
    };
    let kept = match ways.trusted {
        Some(key) => {
            let (kept, signed) = signed(list, key)?.verify(list, None)?;
            remarks.push(signed.line());
            Some(kept)
        }
        None => None,
    };
    let around = ways.base.unwrap_or(folder(list));
    if let (Some(par2), None) = ((ways.sources.open_par2)(list), &kept) {
        let claim = &mut |name: &[u8], md5, nbytes| {
            if refused(name).is_none() {
                let claim = Claim::whole(vec![(Algorithm::Md5, md5)], nbytes);
                each(Said::Claim(place(around, name), name, claim));
            }
        };
        if !(ways.sources.read_par2)(par2, claim).map_err(wrong)? {
            each(Said::Other(0, b"", Some("it does not describe all its files".to_owned())));
        }
        return Ok(remarks);
    }
    let mut parser = ways.parser.clone();
    let input: Box<dyn Read + Send> = match &kept {
        Some(kept) => Box::new(kept.read().map_err(wrong)?),
        None => Box::new(File::open(list).and_then(Watched::new).map_err(wrong)?),
    };
    let mut lines = Lines::begin_file(input, list, &mut parser).map_err(wrong)?;
    let above = Parser::nfolders_up(&portable(list)).and_then(|n| folder(list).ancestors().nth(n));
    let base = ways.base.or(above).unwrap_or(folder(list));
    let (mut root, mut is_manifest) = (None, false);
    loop {
        let why = match lines.next(&mut parser).map_err(wrong)? {
            None => break,
            Some(Parsed::Manifest) => {
                is_manifest = true;
                break;
            }
            Some(Parsed::Entry(entry)) => {
                let base = if entry.place == Place::List { folder(list) } else { base };
                let here = from_windows(base, &mut root, &entry.name);
                let mut name = here.unwrap_or_else(|| entry.name.to_vec());
                if let Place::Set(set) = &entry.place {
                    let whole = [&set[..], b"/", &name].concat();
                    name = if base.join(to_path(&whole)).exists() { whole } else { name };
                }
                if refused(&name).is_none() {
                    let said = Entry { name: Cow::Borrowed(b""), ..entry.clone() };
                    each(Said::Claim(place(base, &name), &entry.name, Claim { said, elsewhere: None }));
                }
                continue;
            }
            Some(Parsed::Unread(why)) => Some(why),
            Some(Parsed::Bad(_) | Parsed::Blank) => None,
        };
        each(Said::Other(lines.number, lines.text(), why));
    }
    if is_manifest {
        (ways.sources.manifest)(list, ways.base, kept.as_ref(), &mut |base, name, digests, nbytes| {
            each(Said::Claim(place(base, name), name, Claim::whole(digests, nbytes)));
        })?;
    }
    remarks.extend(parser.remarks().map(str::to_owned));
    Ok(remarks)
}

/// The signature of a list.
pub fn signed(list: &Path, key: &PublicKey) -> Result<Trusted, String> {
    Trusted::open(key.clone(), &with_suffix(list, key.suffix()))
}

/// Whether the name of a list tells the algorithm of its digests.
fn names_algorithm(list: &[u8]) -> bool {
    let mut parser = Parser::new();
    parser.begin_named(b'\n', list);
    parser.named().is_some()
}

/// Whether a file has lines with digests.
pub fn has_digests(path: &Path, sources: Sources) -> bool {
    let parser = Parser::new();
    let mut is_list = false;
    let ways = Ways { parser: &parser, base: None, trusted: None, sources };
    let read = read(path, ways, |said| is_list |= !matches!(said, Said::Other(_, _, None)));
    read.is_ok() && is_list
}

/// Returns the paths below a folder that a list names.
pub fn below(list: &Path, ways: Ways<'_>, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    read(list, ways, |said| {
        if let Said::Claim(path, ..) = said {
            found.extend(path.canonicalize().ok().or_else(|| lexical(&path)).filter(|path| path.starts_with(folder)));
        }
    })?;
    Ok(found)
}

/// The path of what may not be there, without `..`.
pub fn lexical(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().skip(1).find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Some((folder.canonicalize().ok()?, folder))
    });
    let (mut whole, folder) = there?;
    for part in path.strip_prefix(folder).unwrap_or(path).components() {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    Some(whole)
}

impl Subjects {
    pub fn new(files: &[PathBuf]) -> Subjects {
        let (by_identity, by_name, by_stem) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut subjects = Subjects { files: Vec::new(), by_identity, by_name, by_stem };
        for (index, path) in files.iter().enumerate() {
            if let Ok(identity) = Identity::at(path, true) {
                subjects.by_identity.entry(identity).or_default().push(index);
            }
            let target = path.canonicalize().ok();
            let mut names: Vec<_> =
                [Some(path), target.as_ref()].into_iter().flatten().map(|path| names::of_path(path)).collect();
            names.dedup();
            for name in &names {
                let lower = name.to_ascii_lowercase();
                if let Some(stem) = lower.iter().rposition(|byte| *byte == b'.').map(|at| lower[..at].to_vec()) {
                    subjects.by_stem.entry(stem).or_default().push(index);
                }
                subjects.by_name.entry(lower).or_default().push(index);
            }
            subjects.files.push(Subject { names });
        }
        subjects
    }

    /// Whether a list says something about each of the files.
    pub fn are_named(&self, list: &Path, ways: Ways<'_>) -> Result<Vec<bool>, String> {
        let evidence = self.evidence(list, ways)?;
        let pairs = evidence.claims.iter().zip(&evidence.doubts);
        Ok(pairs.map(|(claims, doubts)| !claims.is_empty() || !doubts.is_empty()).collect())
    }

    /// The files of these that a list is called after, with the name of a checksum behind: `film.iso.sha256`.
    fn called(list: &Path, of: &HashMap<Vec<u8>, Vec<usize>>) -> Vec<usize> {
        let list = names::of_path(list).to_ascii_lowercase();
        let is_list = |rest: &[u8]| names::is_list(rest) || rest.ends_with(b".par2");
        let found = names::stems(&list).filter(|(_, rest)| is_list(rest)).filter_map(|(stem, _)| of.get(stem));
        found.flatten().copied().collect()
    }

    fn evidence(&self, list: &Path, ways: Ways<'_>) -> Result<Evidence, String> {
        let nfiles = self.files.len();
        let (claims, doubts) = (vec![Vec::new(); nfiles], vec![Vec::new(); nfiles]);
        let mut evidence = Evidence { claims, doubts, remarks: vec![] };
        // Lines that have the name of a file, but no digest.
        let mut mentions: Vec<Option<u64>> = vec![None; nfiles];
        // No list says anything about itself.
        let own = Identity::at(list, true).ok();
        let itself: &[usize] = own.and_then(|own| self.by_identity.get(&own)).map_or(&[], |own| own);
        let (after, after_stem) = (Self::called(list, &self.by_name), Self::called(list, &self.by_stem));
        let (mut nentries, mut nunread) = (0_u64, 0_u64);
        let is_listed = names::is_list(&names::of_path(list));
        evidence.remarks = read(list, ways, |said| match said {
            Said::Claim(path, name, claim) => match Identity::at(&path, true) {
                Ok(identity) if Some(identity) == own => {}
                Ok(identity) => {
                    nentries += 1;
                    let files = self.by_identity.get(&identity).into_iter().flatten();
                    files.for_each(|&index| evidence.claim(index, list, claim.clone()));
                }
                Err(_) => {
                    nentries += 1;
                    let name_of_list = |name: &[u8]| names::stems(&names::of_path(list)).any(|(stem, _)| stem == name);
                    let of_stream: &[usize] = if name == b"-" { &after } else { &[] };
                    // A digest alone is of what the list is called after, perhaps without its ending.
                    let of_stem: &[usize] = if name_of_list(name) { &after_stem } else { &[] };
                    let named = lasts(name).filter_map(|last| self.by_name.get(&last.to_ascii_lowercase())).flatten();
                    let found: BTreeSet<usize> = named.chain(of_stream).chain(of_stem).copied().collect();
                    for index in found {
                        let elsewhere = Some(name.to_vec()).filter(|_| name != b"-");
                        evidence.claim(index, list, Claim { elsewhere, ..claim.clone() });
                    }
                }
            },
            Said::Other(number, text, why) => {
                nunread += u64::from(why.is_some());
                let is_about = |(index, file): &(usize, &Subject)| !itself.contains(index) && file.is_in(text);
                for (index, _) in self.files.iter().enumerate().filter(is_about) {
                    match &why {
                        Some(why) => evidence.doubt(index, list, &format!("line {number}: {why}")),
                        None if has_damaged_crc(text) => {
                            evidence.doubt(index, list, &format!("line {number}: a damaged CRC"))
                        }
                        None => mentions[index] = mentions[index].or(Some(number)),
                    }
                }
            }
        })?;
        for (index, mention) in mentions.into_iter().enumerate() {
            let claims = &mut evidence.claims[index];
            // A path of this list that is there is the file; others here with its name are other files.
            if claims.iter().any(|claim| claim.elsewhere.is_none()) {
                claims.retain(|claim| claim.elsewhere.as_deref().is_none_or(is_absolute));
            }
            let is_told = claims.iter().any(Claim::has_checksum) || !evidence.doubts[index].is_empty();
            let why = match mention {
                _ if is_told || itself.contains(&index) => continue,
                _ if !claims.is_empty() => "it has only a length of this file, which is no checksum".to_owned(),
                Some(line) if is_listed => format!("line {line} names this file, but has no digest of it that is read"),
                _ if after.contains(&index) || nentries == 0 && nunread > 0 && after_stem.contains(&index) => {
                    "it is called like a list of this file, but has no digest of it that is read".to_owned()
                }
                _ => continue,
            };
            evidence.doubt(index, list, &why);
        }
        Ok(evidence)
    }
}

impl Subject {
    /// Whether a text has the name of the file as a word, in whatever case.
    fn is_in(&self, text: &[u8]) -> bool {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+~".contains(byte) || *byte >= 0x80;
        let text = text.to_ascii_lowercase();
        let escaped = self.names.iter().map(|name| escaped(name).into_owned());
        self.names.iter().cloned().chain(escaped).map(|name| name.to_ascii_lowercase()).any(|name| {
            memchr::memmem::find_iter(&text, &name).any(|at| {
                let (before, after) = (text[..at].last(), &text[at + name.len()..]);
                // A full stop may end a sentence.
                let is_end = |rest: &&[u8]| !rest.first().is_some_and(is_of_name);
                let after = after.strip_prefix(b".").filter(is_end).unwrap_or(after);
                !before.is_some_and(is_of_name) && !after.first().is_some_and(is_of_name)
            })
        })
    }
}

/// Whether a line begins or ends with a word that is nearly a CRC.
fn has_damaged_crc(line: &[u8]) -> bool {
    let is_damaged = |word: &[u8]| word.len() == 8 && word.iter().filter(|byte| byte.is_ascii_hexdigit()).count() >= 6;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.clone().next().is_some_and(is_damaged) || words.next_back().is_some_and(is_damaged)
}

/// Whether a name is a whole path, here or on Windows.
fn is_absolute(name: &[u8]) -> bool {
    name.starts_with(b"/") || matches!(name, [_, b':', b'/' | b'\\', ..])
}

/// The last part of a name, as this system reads it, and as Windows does.
fn lasts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let last = name.rsplit(|byte| *byte == b'/').next();
    last.into_iter().chain(name.rsplit(|byte| matches!(byte, b'/' | b'\\')).next())
}

/// A file, and the claims about it, each with the number of its list.
struct Case {
    file: usize,
    wanted: Vec<Algorithm>,
    crcs: Option<Crcs>,
    claims: Vec<(usize, Claim)>,
}

impl Case {
    fn new(file: usize, claims: Vec<(usize, Claim)>) -> Case {
        let digests = claims.iter().flat_map(|(_, claim)| claim.said.digests.iter().map(|(algorithm, _)| *algorithm));
        let mut wanted: Vec<Algorithm> = digests.collect();
        wanted.sort_by_key(|algorithm| algorithm.name());
        wanted.dedup();
        let crcs: Vec<_> = claims.iter().flat_map(|(_, claim)| claim.said.crcs.iter().copied()).collect();
        let crcs = (!crcs.is_empty() || wanted.is_empty()).then(|| Crcs::new(crcs, None));
        Case { file, wanted, crcs, claims }
    }
}

/// Checks the files against all lists.
pub struct Only<'a> {
    pub files: &'a [PathBuf],
    pub lists: &'a [PathBuf],
    pub ways: Ways<'a>,
    pub rules: Rules,
    pub options: &'a hashloom_files::run::Options,
    pub console: &'a Console<'a>,
}

impl Only<'_> {
    pub fn check(&self) -> End {
        let Only { files, ways, rules, console, .. } = *self;
        // A file that is signed itself needs no signed list.
        let is_signed = |file: &PathBuf| ways.trusted.is_some_and(|key| with_suffix(file, key.suffix()).exists());
        let is_signed: Vec<bool> = files.iter().map(is_signed).collect();
        let (cases, remarks, mut end) = self.read_lists(&is_signed);
        for (file, _) in is_signed.iter().enumerate().filter(|(_, is_signed)| **is_signed) {
            end = end.and(self.check_signature(file));
        }
        end = end.and(self.hash(cases));
        for (list, remark) in remarks.into_iter().filter(|_| !rules.status && !rules.json) {
            console.message(&[&quoted(&portable(list))[..], b": ", remark.as_bytes()].concat());
        }
        end
    }

    /// Says what is wrong.
    fn wrong(&self, message: &[u8]) -> End {
        if !self.rules.status {
            self.console.message(message);
        }
        End::Wrong
    }

    /// Reads all lists. Returns what they say of each file, and remarks on the lists.
    fn read_lists(&self, is_signed: &[bool]) -> (Vec<Case>, Vec<(&Path, String)>, End) {
        let Only { files, lists, ways, .. } = *self;
        let without = Ways { trusted: None, ..ways };
        let ways = if is_signed.iter().all(|is_signed| *is_signed) { without } else { ways };
        let subjects = Subjects::new(files);
        let (mut end, mut remarks, mut is_doubted) = (End::Right, Vec::new(), vec![false; files.len()]);
        let mut claims: Vec<Vec<(usize, Claim)>> = vec![Vec::new(); files.len()];
        for (number, list) in lists.iter().enumerate() {
            let evidence = match subjects.evidence(list, ways) {
                Ok(evidence) => evidence,
                Err(message) => {
                    end = self.wrong(message.as_bytes());
                    continue;
                }
            };
            if evidence.claims.iter().all(Vec::is_empty) && evidence.doubts.iter().all(Vec::is_empty) {
                let name = files.first().map_or(String::new(), |file| display(file).to_string());
                let what = if files.len() == 1 { &name[..] } else { "any of these files" };
                end = self.wrong(format!("{}: it does not name {what}", display(list)).as_bytes());
            }
            remarks.extend(evidence.remarks.into_iter().map(|remark| (list.as_path(), remark)));
            for (file, (found, doubts)) in evidence.claims.into_iter().zip(evidence.doubts).enumerate() {
                claims[file].extend(found.into_iter().map(|claim| (number, claim)));
                is_doubted[file] |= !doubts.is_empty();
                doubts.iter().for_each(|doubt| end = self.wrong(doubt.as_bytes()));
            }
        }
        for file in (0..files.len()).filter(|&file| claims[file].is_empty() && !is_doubted[file] && !is_signed[file]) {
            end = self.wrong(&[&quoted(&portable(&files[file]))[..], b": no list names it"].concat());
        }
        let named = claims.into_iter().enumerate().filter(|(_, claims)| !claims.is_empty());
        (named.map(|(file, claims)| Case::new(file, claims)).collect(), remarks, end)
    }

    /// Checks a file that is signed itself.
    fn check_signature(&self, file: usize) -> End {
        let Only { files, ways, rules, console, .. } = *self;
        let Some(key) = ways.trusted else { return End::Right };
        match signed(&files[file], key).and_then(|trusted| trusted.verify_in_place(&files[file])) {
            Ok(line) => {
                self.tell(file, Verdict::Ok, &with_suffix(&files[file], key.suffix()), "signature", None);
                if !rules.quiet && !rules.status {
                    console.message(line.as_bytes());
                }
                End::Right
            }
            Err(message) => self.wrong(message.as_bytes()),
        }
    }

    /// Reads each file once, for the digests of all claims.
    fn hash(&self, cases: Vec<Case>) -> End {
        let Only { files, lists, options, console, .. } = *self;
        let steps = cases.into_iter().map(|case| {
            let path = files[case.file].clone();
            let source = match &case.crcs {
                Some(crcs) => Source::reader(crcs.reader(path)),
                None => Source::Path(path),
            };
            let methods: Arc<[Method]> = case.wanted.iter().map(|&algorithm| algorithm.into()).collect();
            Step::<Case, ()>::Hash(Request { source, methods, tag: case })
        });
        let mut end = End::Right;
        let is_done = hash_steps(steps, options, |event| match event {
            Event::Hashed(Request { tag: case, .. }, Ok(hashed)) => end = end.and(self.judge(&case, &hashed)),
            Event::Hashed(Request { tag: case, .. }, Err(error)) => {
                end = end.and(End::of_error(&error));
                console.message(&trouble(&portable(&files[case.file]), error.io()));
                let (list, claim) = &case.claims[0];
                self.tell(case.file, Verdict::of_error(&error), &lists[*list], &claim.algorithms(), None);
            }
            Event::Note(()) => {}
        });
        if is_done { end } else { End::Cancelled }
    }

    /// Compares a file with all claims, and tells.
    fn judge(&self, case: &Case, hashed: &Hashed) -> End {
        let Only { files, lists, rules, console, .. } = *self;
        let file = case.file;
        let is_match = |claim: &Claim| claim.is_match(hashed, &case.wanted, case.crcs.as_ref());
        let (mut end, mut is_strong, mut noks) = (End::Right, false, 0);
        for (number, list) in lists.iter().enumerate() {
            let claims: Vec<&Claim> =
                case.claims.iter().filter(|(of, _)| *of == number).map(|(_, claim)| claim).collect();
            // It may be another file of this name, and nobody can tell.
            let elsewhere = claims.iter().filter(|claim| !is_match(claim)).find_map(|claim| claim.elsewhere.as_deref());
            if let Some(name) = elsewhere {
                let why = b", which is not here, with another digest; `hashloom FILE DIGEST` compares them anyway";
                let message = [&quoted(&portable(list))[..], b": not compared: it names ", &quoted(name), why].concat();
                if !rules.status {
                    console.message(&message);
                }
                end = End::Wrong;
            }
            for claim in claims {
                let is_right = is_match(claim);
                if !is_right && claim.elsewhere.is_some() || is_right && !claim.has_checksum() {
                    continue;
                }
                if is_right {
                    is_strong |= !claim.is_weak();
                    noks += 1;
                } else {
                    end = End::Wrong;
                }
                let verdict = if is_right { Verdict::Ok } else { Verdict::Failed };
                self.tell(file, verdict, list, &claim.algorithms(), claim.elsewhere.as_deref());
                let may_be_another = !is_right && !claim.said.is_tagged && !rules.status && !rules.json;
                let algorithm = claim.said.digests.first().map(|(algorithm, _)| *algorithm).filter(|_| may_be_another);
                let list = portable(list);
                if let Some(hint) =
                    algorithm.filter(|_| !names_algorithm(&list)).and_then(|algorithm| hint(algorithm, Some(&list)))
                {
                    console.message(&hint);
                }
            }
        }
        if noks > 0 && !is_strong && !rules.quiet && !rules.status && !rules.json {
            let weak = "MD5 and CRCs alone find accidents, but no change that an attacker made";
            console.message(&[&quoted(&portable(&files[file]))[..], b": ", weak.as_bytes()].concat());
        }
        if noks == 0 { End::Wrong } else { end }
    }

    /// Prints the line of a file and a list. `elsewhere`: the name in the list, if it is another one.
    fn tell(&self, file: usize, verdict: Verdict, list: &Path, algorithm: &str, elsewhere: Option<&[u8]>) {
        let rules = self.rules;
        if rules.status || rules.quiet && verdict == Verdict::Ok {
            return;
        }
        let (path, list) = (portable(&self.files[file]), portable(list));
        self.console.print(|lines| {
            if rules.json {
                return verdict.write_json(lines, &path, Some(&list), algorithm.replace(", ", ","));
            }
            let name = elsewhere.map_or(Vec::new(), |name| [b", as ", &for_terminal(name, false)[..]].concat());
            let note = [algorithm.as_bytes(), b" of ", &for_terminal(&list, false), &name].concat();
            verdict.write_noted(lines, &path, &note, io::stdout().is_terminal());
        });
    }
}
