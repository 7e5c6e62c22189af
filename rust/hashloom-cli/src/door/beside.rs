// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the lists, torrents, manifests and PAR2 files beside a file or a folder, or in the folder, that name it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use hashloom_files::paths::to_path;
use hashloom_files::walk::Walk;
use hashloom_frame::names::{self, of_path as name, stems};
use hashloom_frame::output::{Identity, folder};
use hashloom_frame::text::{display, failed};
use hashloom_frame::units::plural;
use hashloom_list::Parser;
use hashloom_list::command::only::{Subjects, Ways, below, has_digests};
use hashloom_manifest::command::folder_of;
use hashloom_torrent::Torrent;

use super::kind::{self, is_list, is_manifest, is_signature, signatures};
use super::{Plan, Plans, only, plan, with};
use crate::{SOURCES, torrent};

/// A file of any name that begins with that of another is looked into up to this length.
const SIDECAR_MAX_NBYTES: u64 = 64 << 10;

/// Number of names that a message shows.
const SHOWN_MAX: usize = 3;

/// The entries of a folder, sorted; a folder that cannot be listed is a doubt.
fn entries(folder: &Path, doubts: &mut Vec<String>) -> Vec<PathBuf> {
    let place = if folder == Path::new(".") { Path::new("") } else { folder };
    match folder.read_dir() {
        Ok(entries) => {
            let mut paths: Vec<_> = entries.flatten().map(|entry| place.join(entry.file_name())).collect();
            paths.sort_unstable();
            paths
        }
        Err(error) => {
            doubts.push(format!("{}, so nobody knows what names files in it", failed(folder, &error)));
            vec![]
        }
    }
}

fn ends_with(path: &Path, end: &str) -> bool {
    name(path).to_ascii_lowercase().ends_with(end.as_bytes())
}

/// The folders in which something may name a file: its own, and that of the file which it links to.
fn around(path: &Path) -> Vec<PathBuf> {
    let target = path.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let own = Identity::at(folder(path), true).ok();
    let other = target.filter(|target| Identity::at(target, true).ok() != own);
    [Some(folder(path).to_owned()), other].into_iter().flatten().collect()
}

/// Files that have the same neighbours, and the folders of these.
struct Group<'a> {
    files: Vec<&'a Path>,
    folders: Vec<PathBuf>,
}

fn groups<'a>(files: &[&'a Path]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for &file in files {
        let folders = around(file);
        match groups.iter_mut().find(|group| group.folders == folders) {
            Some(group) => group.files.push(file),
            None => groups.push(Group { files: vec![file], folders }),
        }
    }
    groups
}

/// The lists and torrents that name the files of a group.
struct Evidence {
    lists: Vec<PathBuf>,
    /// Whether a list names each file.
    named: Vec<bool>,
    /// The number of a file, and the command for a torrent that has it.
    torrents: Vec<(usize, Plan)>,
    doubts: Vec<String>,
}

impl Evidence {
    fn of(group: &Group<'_>) -> Evidence {
        let mut doubts = Vec::new();
        let neighbours: Vec<_> = group.folders.iter().flat_map(|folder| entries(folder, &mut doubts)).collect();
        let (lists, named) = lists(&group.files, &neighbours, &mut doubts);
        let torrents = neighbours.iter().flat_map(|path| of_torrent(path, &group.files)).collect();
        Evidence { lists, named, torrents, doubts }
    }

    fn names(&self, file: usize) -> bool {
        self.named[file] || self.torrents.iter().any(|(of, _)| *of == file)
    }
}

/// Whether something beside each file names it. What may name a file, but cannot be read, counts.
pub fn are_named(files: &[&Path]) -> Vec<bool> {
    let mut named: HashSet<&Path> = HashSet::new();
    for group in groups(files) {
        let evidence = Evidence::of(&group);
        let is_named = |(index, _): &(usize, &&Path)| !evidence.doubts.is_empty() || evidence.names(*index);
        named.extend(group.files.iter().enumerate().filter(is_named).map(|(_, file)| *file));
    }
    files.iter().map(|file| named.contains(file)).collect()
}

/// The commands for files: those that something names are compared, of others the checksums are printed. `has_key`: a
/// signature by the user's key is evidence too.
pub fn of_files(files: &[&Path], has_key: bool) -> Plans {
    let (mut plans, mut alone, mut signed) = (Plans::default(), Vec::new(), Vec::new());
    for group in groups(files) {
        let evidence = Evidence::of(&group);
        for (index, &file) in group.files.iter().enumerate() {
            if !evidence.names(index) {
                let has_signature = kind::signatures(file).iter().any(|(_, by)| by.contains(kind::OWN));
                if has_key && has_signature { &mut signed } else { &mut alone }.push(file);
            }
            if evidence.named[index] && names::is_list(&name(file)) && has_digests(file, SOURCES) {
                let why = "is named by a list, and was checked as a file";
                plans.hints.push(format!("{} {why}; `hashloom check` checks what it lists", display(file)));
            }
        }
        let Evidence { lists, named, torrents, doubts } = evidence;
        let of_lists: Vec<&Path> =
            group.files.iter().zip(named).filter(|(_, named)| *named).map(|(file, _)| *file).collect();
        if !of_lists.is_empty() {
            plans.plans.push(only(&of_lists, &lists.iter().map(PathBuf::as_path).collect::<Vec<_>>(), None));
        }
        plans.plans.extend(torrents.into_iter().map(|(_, plan)| plan));
        plans.doubts.extend(doubts);
    }
    if !signed.is_empty() {
        plans.plans.push(only(&signed, &[], None));
    }
    if !alone.is_empty() {
        plans.plans.push(plan(&["sum"], vec![], &alone));
    }
    plans
}

/// The lists among the neighbours that say something about any of the files, and whether one does about each.
fn lists(files: &[&Path], neighbours: &[PathBuf], doubts: &mut Vec<String>) -> (Vec<PathBuf>, Vec<bool>) {
    let owned: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
    let (subjects, parser) = (Subjects::new(&owned), Parser::new());
    let ways = Ways { parser: &parser, base: None, trusted: None, sources: SOURCES };
    let own: HashSet<Vec<u8>> = files.iter().map(|file| name(file)).collect();
    let (mut lists, mut named) = (Vec::new(), vec![false; files.len()]);
    for path in neighbours {
        let own_name = name(path);
        let is_called_list = names::is_list(&own_name) || ends_with(path, ".par2");
        let is_short = || path.metadata().is_ok_and(|metadata| metadata.len() <= SIDECAR_MAX_NBYTES);
        let is_sidecar = || stems(&own_name).any(|(stem, _)| own.contains(stem)) && is_short();
        if !(is_called_list || is_sidecar()) || !path.is_file() || is_signature(path) {
            continue;
        }
        match subjects.are_named(path, ways) {
            Ok(found) if found.contains(&true) => {
                named.iter_mut().zip(found).for_each(|(named, found)| *named |= found);
                lists.push(path.clone());
            }
            Err(message) if is_called_list => doubts.push(format!("{message}; it may name {}", display(files[0]))),
            Ok(_) | Err(_) => {}
        }
    }
    (lists, named)
}

/// The commands for a torrent that has any of the files, each with the number of the file.
fn of_torrent(path: &Path, files: &[&Path]) -> Vec<(usize, Plan)> {
    if !ends_with(path, ".torrent") || !path.is_file() {
        return vec![];
    }
    let own_name = name(path);
    let own_stem = &own_name[..own_name.len() - ".torrent".len()];
    let is_called = |name: &[u8]| name == own_stem || stems(name).next_back().is_some_and(|(stem, _)| stem == own_stem);
    let names_of = |file: &Path| {
        [Some(file.to_owned()), file.canonicalize().ok()]
            .into_iter()
            .flatten()
            .map(|path| name(&path))
            .collect::<Vec<_>>()
    };
    let bytes = std::fs::read(path).unwrap_or_default();
    // A name in a torrent has its length before it.
    let has =
        |name: &[u8]| memchr::memmem::find(&bytes, &[name.len().to_string().as_bytes(), b":", name].concat()).is_some();
    let may_have = |file: &Path| names_of(file).iter().any(|name| is_called(name) || has(name));
    let own = Identity::at(path, true).ok();
    let is_own = |file: &Path| own.is_some() && Identity::at(file, true).ok() == own;
    let wanted: Vec<_> = files.iter().enumerate().filter(|(_, file)| may_have(file) && !is_own(file)).collect();
    if wanted.is_empty() {
        return vec![];
    }
    let verify = |file: &Path, options| {
        let mut plan = plan(&["torrent", "verify"], options, &[path]);
        plan.signed.push(file.to_owned());
        plan
    };
    // The command says what is wrong with a torrent that cannot be read.
    let torrent = torrent::read(path).ok();
    let options = |file: &Path| match &torrent {
        None => Some(with("--data", file)),
        Some(torrent) if torrent.is_single_file() => {
            // A torrent that is called like the file may be of another one that is there.
            let is_other = || folder(path).join(to_path(torrent.name())).exists();
            let names = names_of(file);
            let is_it = names.iter().any(|name| *name == torrent.name());
            (is_it || names.iter().any(|name| is_called(name)) && !is_other()).then(|| with("--data", file))
        }
        Some(torrent) => {
            let identity = Identity::at(file, true).ok()?;
            let names = names_of(file);
            let roots = [folder(path).join(to_path(torrent.name())), folder(path).to_owned()];
            let inner =
                torrent.files_without_padding().filter(|inner| names.iter().any(|name| inner.path.ends_with(name)));
            let is_it = |(root, inner): &(&PathBuf, &[u8])| {
                Identity::at(&root.join(to_path(inner)), true).ok() == Some(identity)
            };
            let (root, inner) = inner.flat_map(|inner| roots.iter().map(move |root| (root, inner.path))).find(is_it)?;
            Some([with("--data", root), with("--file", Path::new(&as_glob(inner)))].concat())
        }
    };
    wanted.into_iter().filter_map(|(index, file)| Some((index, verify(file, options(file)?)))).collect()
}

/// The glob that matches one path in a torrent.
fn as_glob(path: &[u8]) -> String {
    let mut glob = "/".to_owned();
    for character in String::from_utf8_lossy(path).chars() {
        glob.extend(Some('\\').filter(|_| "*?[]{}!\\#".contains(character)));
        glob.push(character);
    }
    glob
}

/// The commands for a folder.
pub fn of_folder(path: &Path) -> Plans {
    let canonical = match path.canonicalize() {
        Ok(canonical) => canonical,
        Err(error) => return Plans { doubts: vec![failed(path, &error)], ..Plans::default() },
    };
    // Without a slash at the end, or `/.`.
    let whole: PathBuf = path.components().collect();
    let path = if whole.as_os_str().is_empty() { PathBuf::from(".") } else { whole };
    let own = [&path, &canonical].into_iter().map(|path| name(path)).filter(|name| !name.is_empty()).collect();
    let parser = Parser::new();
    let mut folder =
        Folder { path, canonical, own, parser: &parser, named: Some(BTreeSet::new()), plans: Plans::default() };
    folder.look_beside();
    let lists = folder.look_inside();
    let Folder { path, canonical, named, mut plans, .. } = folder;
    if plans.plans.is_empty() {
        plans.plans.push(plan(&["sum"], vec!["--recursive".into()], &[&path]));
    } else if let Some(named) = named {
        plans.unnamed = unnamed(&path, &canonical, &named, &lists);
    }
    plans
}

struct Folder<'a> {
    path: PathBuf,
    /// The folder without links.
    canonical: PathBuf,
    /// Its names, if it has any.
    own: Vec<Vec<u8>>,
    parser: &'a Parser,
    /// The files that something names; `None` if something describes the whole folder.
    named: Option<BTreeSet<PathBuf>>,
    plans: Plans,
}

impl Folder<'_> {
    /// Notes the files below this folder that a list names. Returns whether there is one.
    fn note_named(&mut self, list: &Path, base: Option<&Path>) -> Result<bool, String> {
        let found = below(list, Ways { parser: self.parser, base, trusted: None, sources: SOURCES }, &self.canonical)?;
        let is_any = !found.is_empty();
        self.named.iter_mut().for_each(|named| named.extend(found.iter().cloned()));
        Ok(is_any)
    }

    /// Takes what lies beside the folder, or beside the folder that it links to.
    fn look_beside(&mut self) {
        let folders = match self.path.file_name() {
            Some(_) => around(&self.path),
            None => self.canonical.parent().map(|_| self.path.join("..")).into_iter().collect(),
        };
        for folder in folders {
            let neighbours = entries(&folder, &mut self.plans.doubts);
            neighbours.iter().filter(|path| path.is_file()).for_each(|neighbour| self.take_neighbour(neighbour));
        }
    }

    fn take_neighbour(&mut self, neighbour: &Path) {
        let path = self.path.clone();
        let called = name(neighbour);
        let is_called = |end: &str| self.own.iter().any(|own| called == [own, end.as_bytes()].concat());
        let is_sidecar = stems(&called).any(|(stem, _)| self.own.iter().any(|name| name == stem));
        let plan = if ends_with(neighbour, ".torrent") {
            let torrent = torrent_of_folder(neighbour, &self.own);
            let is_broken = || is_called(".torrent") && torrent::read(neighbour).is_err();
            if torrent.is_none() && !is_broken() {
                return;
            }
            if let (Some(torrent), Some(named)) = (torrent, &mut self.named) {
                named.extend(torrent.files_without_padding().map(|file| self.canonical.join(to_path(file.path))));
            }
            plan(&["torrent", "verify"], with("--data", &path), &[neighbour])
        } else if is_called(".manifest") && (is_manifest(neighbour) || !is_list(neighbour)) {
            self.named = None;
            plan(&["manifest", "check"], vec![], &[neighbour, &path])
        } else if is_sidecar && ends_with(neighbour, ".par2") {
            match self.note_named(neighbour, Some(&path)) {
                Ok(true) => plan(&["check"], with("--directory", &path), &[neighbour]),
                Ok(false) => return,
                Err(message) => return self.plans.doubts.push(message),
            }
        } else if names::is_list(&called) && !is_signature(neighbour) {
            match self.note_named(neighbour, None) {
                Ok(true) if !is_manifest(neighbour) => only(&[&path], &[neighbour], None),
                Ok(_) if is_sidecar => {
                    // An error was told, or is told by the check.
                    let _ = self.note_named(neighbour, Some(&path));
                    plan(&["check"], with("--directory", &path), &[neighbour])
                }
                Err(message) if is_sidecar => return self.plans.doubts.push(message),
                Ok(_) | Err(_) => return,
            }
        } else {
            return;
        };
        self.plans.plans.push(plan);
    }

    /// Takes the lists in the folder, and manifests of it. Returns them.
    fn look_inside(&mut self) -> Vec<PathBuf> {
        let (mut lists, mut manifests) = (Vec::new(), Vec::new());
        for inner in entries(&self.path, &mut self.plans.doubts).into_iter().filter(|path| path.is_file()) {
            let is_index = ends_with(&inner, ".par2") && memchr::memmem::find(&name(&inner), b".vol").is_none();
            if !is_index && (!names::is_list(&name(&inner)) || is_signature(&inner)) {
                continue;
            }
            if is_manifest(&inner) {
                if Identity::at(&folder_of(&inner), true).ok() == Identity::at(&self.path, true).ok() {
                    self.named = None;
                    self.plans.plans.push(plan(&["manifest", "check"], vec![], &[&inner, &self.path]));
                    manifests.push(inner);
                }
            } else if is_index || has_digests(&inner, SOURCES) {
                if let Err(message) = self.note_named(&inner, None) {
                    self.plans.doubts.push(message);
                }
                lists.push(inner);
            }
        }
        if !lists.is_empty() {
            let paths: Vec<&Path> = lists.iter().map(PathBuf::as_path).collect();
            self.plans.plans.push(plan(&["check"], vec!["--relative-to-list".into()], &paths));
        }
        [lists, manifests].concat()
    }
}

/// A torrent of several files whose folder is called so.
fn torrent_of_folder(path: &Path, own: &[Vec<u8>]) -> Option<Torrent> {
    let bytes = std::fs::read(path).ok()?;
    let stem = path.with_extension("");
    let is_it = |torrent: &Torrent| {
        !torrent.is_single_file() && (own.iter().any(|name| *name == torrent.name()) || own.contains(&name(&stem)))
    };
    let may_be = own.iter().any(|name| memchr::memmem::find(&bytes, name).is_some()) || own.contains(&name(&stem));
    torrent::read(path).ok().filter(|_| may_be).filter(is_it)
}

/// Tells of files in a folder that no list names.
fn unnamed(path: &Path, canonical: &Path, named: &BTreeSet<PathBuf>, lists: &[PathBuf]) -> Option<String> {
    let mut without: BTreeSet<Vec<u8>> = lists.iter().map(|list| name(list)).collect();
    without.extend(lists.iter().flat_map(|list| signatures(list)).map(|(signature, _)| name(&signature)));
    let (mut count, mut shown) = (0_u64, Vec::new());
    for file in Walk::new(canonical).files().filter_map(Result::ok).filter(|file| !named.contains(file)) {
        let is_list = file.parent() == Some(canonical) && without.contains(&name(&file));
        let is_other_name = || file.canonicalize().is_ok_and(|file| named.contains(&file));
        if !is_list && !is_other_name() {
            count += 1;
            if shown.len() < SHOWN_MAX {
                shown.push(display(file.strip_prefix(canonical).unwrap_or(&file)).to_string());
            }
        }
    }
    let more = if count > SHOWN_MAX as u64 { ", …" } else { "" };
    let are = if count == 1 { "is" } else { "are" };
    let files = plural(count, "other file");
    (count > 0)
        .then(|| format!("{}: {files} {are} not listed, and not checked: {}{more}", display(path), shown.join(", ")))
}
