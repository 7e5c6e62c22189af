// SPDX-License-Identifier: MIT OR Apache-2.0

//! A list as the steps that check its files.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::{portable, refused, to_path};
use hashloom_files::text::shown;
use hashloom_files::{Hashed, Method, Request, Source, Step};

use super::checking::Base;
use super::crc::Crcs;
use super::format::name;
use super::only;
use super::place::{OtherForms, Refused, Servers, from_windows};
use super::summing::source;
use super::text_lines::{Lines, Parsed};
use super::verdict::Rules;
use crate::{Entry, Parser, Place};

/// The digests and length that a list gives for a file.
pub struct Listed {
    pub digests: Vec<(Algorithm, Hash)>,
    /// Whether one digest must match, or all.
    is_any: bool,
    nbytes: Option<u64>,
    crcs: Option<Crcs>,
    /// The name in the list, if the source has another one.
    name: Option<Vec<u8>>,
}

impl Listed {
    /// The names of the algorithms and CRCs, with commas between them.
    pub fn algorithms(&self) -> String {
        let digests = self.digests.iter().map(|(algorithm, _)| algorithm.to_string());
        digests.chain(self.crcs.iter().flat_map(Crcs::names)).collect::<Vec<_>>().join(",")
    }

    /// Whether the list has only the file's length here. The length tells nothing of the bytes.
    pub fn is_bare(&self) -> bool {
        self.digests.is_empty() && self.crcs.as_ref().is_none_or(|crcs| crcs.names().next().is_none())
    }

    pub fn is_match(&self, hashed: &Hashed) -> bool {
        let mut pairs = self.digests.iter().zip(&hashed.digests).map(|((_, listed), found)| listed == found);
        self.nbytes.is_none_or(|nbytes| nbytes == hashed.nbytes)
            && self.digests.len() == hashed.digests.len()
            && if self.is_any { pairs.any(|is| is) } else { pairs.all(|is| is) }
            && self.crcs.as_ref().is_none_or(Crcs::are_right)
    }

    pub fn name<'a>(&'a self, source: &'a Source) -> Cow<'a, [u8]> {
        self.name.as_deref().map_or_else(|| name(source), Cow::Borrowed)
    }

    /// The path that was opened.
    pub fn place<'a>(&'a self, source: &'a Source) -> Cow<'a, [u8]> {
        if matches!(source, Source::Reader(_)) { self.name(source) } else { name(source) }
    }
}

/// A line of the list that is not a checksum, or whose digest is not verified.
pub struct Bad {
    pub number: u64,
    pub why: String,
    pub is_digest: bool,
}

/// A list that is being read.
pub struct Reading<'a> {
    lines: Lines,
    pub nbad: u64,
    /// Lines with a digest that is not verified.
    pub nunverified: u64,
    /// The reasons that were told.
    told: Vec<String>,
    /// The first line that is not a checksum.
    pub first_bad: Option<Bad>,
    pub nentries: u64,
    /// Entries that name their algorithms.
    pub ntagged: u64,
    pub error: Option<io::Error>,
    /// Whether reading has ended at the first line of a manifest.
    pub is_manifest: bool,
    pub parser: &'a mut Parser,
    rules: Rules,
    is_stdin: bool,
    /// The folder that names are relative to; empty if it is the current one.
    base: &'a Path,
    /// The folder that the list is in.
    folder: &'a Path,
    /// The first line that is not a checksum, or its beginning.
    pub first_text: Vec<u8>,
    /// The folder of Windows, with its slash, that the list was made in: the folder that names are relative to here.
    root: Option<Vec<u8>>,
    /// As in [`Checker`].
    pub below: Option<&'a Path>,
    /// The paths that are not ASCII.
    forms: &'a OtherForms,
    /// The methods that the list has used so far.
    methods: Vec<Arc<[Method]>>,
    servers: Servers,
}

impl<'a> Reading<'a> {
    pub fn new(
        lines: Lines,
        list: &'a Path,
        base: Base<'a>,
        parser: &'a mut Parser,
        rules: Rules,
        forms: &'a OtherForms,
    ) -> Reading<'a> {
        let named = if let Base::Folder(folder) = base { Some(folder) } else { None };
        let folder = list.parent().unwrap_or(Path::new(""));
        let above = Parser::nfolders_up(&portable(list));
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
            parser,
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
            servers: Servers::of([list].into_iter().chain(named)),
        }
    }

    pub fn next(&mut self) -> Option<Step<Listed, Bad>> {
        /// A list may have any number of reasons.
        const TOLD_MAX: usize = 8;
        /// A message shows the first bytes of a line that is no checksum.
        const TEXT_NBYTES: usize = 100;
        loop {
            let parsed = match self.lines.next(self.parser) {
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
                    ("the list itself is standard input".to_owned(), true)
                }
                Parsed::Entry(entry) => {
                    let entry = Entry { name: entry.name.into_owned().into(), ..entry };
                    if self.below.is_some_and(|below| !self.is_below(below, &entry.name)) {
                        continue;
                    }
                    match self.in_archive(&entry) {
                        Some(why) => (why, true),
                        None => return Some(Step::Hash(self.request(entry))),
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
                    return Some(Step::Note(Bad { number, why, is_digest }));
                }
                continue;
            }
            self.nbad += 1;
            if self.first_text.is_empty() {
                self.first_text = self.lines.text().iter().take(TEXT_NBYTES).copied().collect();
            }
            let bad = Bad { number, why, is_digest };
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

    fn request(&mut self, entry: Entry<'static>) -> Request<Listed> {
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
        let here = from_windows(base, &mut self.root, &name);
        let path = here.as_deref().unwrap_or(&name);
        let mut source = match self.servers.refused(path) {
            None => source(to_path(path)),
            Some(why) => Source::reader(Refused::Name(why)),
        };
        let is_other = here.is_some() || matches!(source, Source::Reader(_));
        let mut listed = is_other.then(|| name.to_vec());
        if let (Source::Path(path), false) = (&mut source, base.as_os_str().is_empty()) {
            *path = base.join(&path);
            listed = Some(name.to_vec());
        }
        let taken = match &source {
            Source::Path(path) if self.forms.is_taken(path) => Some(portable(path).into_owned()),
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
