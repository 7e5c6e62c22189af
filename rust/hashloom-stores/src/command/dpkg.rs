// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of Debian's installed packages, as `debsums` checks them: those of md5sums must match, configuration files
//! may have been changed.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use hashloom::Algorithm;
use hashloom_files::paths::{portable, to_path};
use hashloom_files::text::from_hex;
use hashloom_files::{Method, Step};
use hashloom_frame::text::failed;
use hashloom_list::command::front::End;
use hashloom_list::command::verdict::Verdict;
use memchr::memchr;

use super::audit::{Audit, Note, Wanted, request, whole};

/// A file and its MD5.
type File = (Vec<u8>, Vec<u8>);

/// The files of all packages.
#[derive(Default)]
pub struct Packages {
    root: PathBuf,
    /// For each path without its first slash the digests that it may have: two packages can have one file.
    files: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// The numbers of the paths.
    numbers: HashMap<Vec<u8>, usize>,
    conffiles: Vec<File>,
    /// From, to, and the package that keeps the first path.
    diversions: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)>,
    without_md5sums: Vec<String>,
    notes: Vec<Note>,
    /// Paths that dpkg does not unpack, and whether it still does some of them.
    excluded: Vec<(bool, Vec<u8>)>,
}

/// A package of dpkg's status.
#[derive(Default)]
struct Package {
    name: Vec<u8>,
    /// The name by which its files in `info` begin, if it has the architecture in it.
    full_name: Vec<u8>,
    is_installed: bool,
    /// Files, and their MD5.
    conffiles: Vec<File>,
}

impl Packages {
    /// Reads what dpkg knows of the system below a folder.
    pub fn read(root: &Path) -> Result<Packages, String> {
        let dpkg = root.join("var/lib/dpkg");
        let read = |path: PathBuf| fs::read(&path).map_err(|error| failed(&path, &error));
        let mut packages = Packages { root: root.to_owned(), ..Packages::default() };
        packages.read_excluded();
        if let Ok(text) = fs::read(dpkg.join("diversions")) {
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            for three in lines.chunks_exact(3) {
                let path = |line: &[u8]| line.strip_prefix(b"/").unwrap_or(line).to_vec();
                packages.diversions.insert(path(three[0]), (path(three[1]), three[2].to_vec()));
            }
        }
        for package in installed(&read(dpkg.join("status"))?) {
            let named = |name: &[u8], end: &str| dpkg.join("info").join(to_path(&[name, end.as_bytes()].concat()));
            let has_full = named(&package.full_name, ".list").exists();
            let name = if has_full { &package.full_name } else { &package.name };
            let path = named(name, ".md5sums");
            match fs::read(&path) {
                Ok(text) => packages.add(&package, &path, &text),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    packages.without_md5sums.push(String::from_utf8_lossy(name).into_owned());
                }
                Err(error) => packages.notes.push(Note::Unread(failed(&path, &error).into_bytes())),
            }
            let diverted = |(path, md5): &File| (packages.path(&package, path).to_vec(), md5.clone());
            let conffiles: Vec<File> = package.conffiles.iter().map(diverted).collect();
            packages.conffiles.extend(conffiles);
        }
        Ok(packages)
    }

    /// The path of a package's file after diversions.
    fn path<'p>(&'p self, package: &Package, path: &'p [u8]) -> &'p [u8] {
        match self.diversions.get(path) {
            Some((to, by)) if *by != package.name => to,
            _ => path,
        }
    }

    /// Adds the files of a package.
    fn add(&mut self, package: &Package, list: &Path, text: &[u8]) {
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let Some((path, md5)) = file(line.get(32..34) == Some(b"  "), &line[..line.len().min(32)], line.get(34..))
            else {
                let why = format!("{}: {}: expected an MD5, two blanks and a path", list.display(), number + 1);
                self.notes.push(Note::Unverified(why.into_bytes()));
                continue;
            };
            if package.conffiles.iter().any(|(other, _)| *other == path) {
                continue;
            }
            let path = self.path(package, &path).to_vec();
            let next = self.files.len();
            match *self.numbers.entry(path.clone()).or_insert(next) {
                number if number == next => self.files.push((path, vec![md5])),
                number => self.files[number].1.push(md5),
            }
        }
    }

    /// Reads the paths that dpkg is set up to leave out.
    fn read_excluded(&mut self) {
        let mut files: Vec<PathBuf> = match fs::read_dir(self.root.join("etc/dpkg/dpkg.cfg.d")) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => Vec::new(),
        };
        files.sort();
        files.push(self.root.join("etc/dpkg/dpkg.cfg"));
        for line in files.iter().filter_map(|file| fs::read(file).ok()).flat_map(|text| lines_of(&text)) {
            for (option, is_out) in [(&b"path-exclude"[..], true), (b"path-include", false)] {
                let pattern = line.strip_prefix(option).map(|rest| rest.trim_ascii_start());
                let pattern = pattern.map(|rest| rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii());
                self.excluded.extend(pattern.map(|pattern| (is_out, pattern.to_vec())));
            }
        }
    }

    /// Whether dpkg leaves out a file.
    fn is_excluded(&self, path: &[u8]) -> bool {
        let path = path.strip_prefix(self.root.as_os_str().as_encoded_bytes()).unwrap_or(path);
        let path = [b"/", path.strip_prefix(b"/").unwrap_or(path)].concat();
        self.excluded.iter().rfind(|(_, pattern)| fits(pattern, &path)).is_some_and(|&(is_out, _)| is_out)
    }

    fn steps(&mut self) -> impl Iterator<Item = Step<Wanted, Note>> + Send + use<> {
        let (root, notes) = (self.root.clone(), std::mem::take(&mut self.notes));
        let files = std::mem::take(&mut self.files).into_iter().map(|(path, digests)| (path, digests, Verdict::Failed));
        let conffiles = std::mem::take(&mut self.conffiles).into_iter();
        let all = files.chain(conffiles.map(|(path, md5)| (path, vec![md5], Verdict::Changed)));
        let hashed = all.map(move |(path, digests, otherwise)| {
            let path = to_path(&path);
            let opened = if root == Path::new("/") { root.join(&path) } else { resolved(&root, &path) };
            let shown = portable(&root.join(&path)).into_owned();
            let wanted = Wanted { name: Some(shown), digests, otherwise, ..whole(Algorithm::Md5, Vec::new()) };
            request(opened, Method::from(Algorithm::Md5), wanted)
        });
        notes.into_iter().map(Step::Note).chain(hashed)
    }
}

fn lines_of(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&byte| byte == b'\n').map(|line| line.trim_ascii().to_vec()).collect()
}

/// A path without its first `./` or `/`, and a digest.
fn file(is_right: bool, md5: &[u8], path: Option<&[u8]>) -> Option<File> {
    let path = path.filter(|path| is_right && !path.is_empty())?;
    let path = path.strip_prefix(b"./").or_else(|| path.strip_prefix(b"/")).unwrap_or(path);
    Some((path.to_vec(), from_hex(std::str::from_utf8(md5).ok()?).filter(|md5| md5.len() == 16)?))
}

/// The packages that are installed, or whose configuration failed.
fn installed(status: &[u8]) -> Vec<Package> {
    let (mut packages, mut package, mut architecture, mut key) =
        (Vec::new(), Package::default(), Vec::new(), Vec::new());
    for line in status.split(|&byte| byte == b'\n').chain([&b""[..]]) {
        if line.is_empty() {
            package.full_name = [&package.name[..], b":", &architecture].concat();
            if package.is_installed {
                packages.push(std::mem::take(&mut package));
            }
            package = Package::default();
        } else if line[0] == b' ' && key == b"Conffiles" {
            let mut words: Vec<&[u8]> = line[1..].split(|&byte| byte == b' ').collect();
            if words.last() == Some(&&b"remove-on-upgrade"[..]) {
                continue;
            }
            if words.last() == Some(&&b"obsolete"[..]) {
                words.pop();
            }
            let md5 = words.pop().unwrap_or_default();
            package.conffiles.extend(file(true, md5, Some(&words.join(&b' '))));
        } else if let Some(colon) = memchr(b':', line).filter(|_| line[0] != b' ') {
            let value = line[colon + 1..].trim_ascii();
            key = line[..colon].to_vec();
            match &key[..] {
                b"Package" => package.name = value.to_vec(),
                b"Architecture" => architecture = value.to_vec(),
                b"Status" => {
                    package.is_installed = value.ends_with(b" installed") || value.ends_with(b" half-configured");
                }
                _ => {}
            }
        }
    }
    packages
}

/// The path that a path below another root leads to: links there that begin with a slash begin at that root.
fn resolved(root: &Path, path: &Path) -> PathBuf {
    const LINKS_MAX: usize = 40;
    let (mut below, mut nlinks) = (PathBuf::new(), 0);
    let mut parts: Vec<PathBuf> = path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect();
    while let Some(part) = parts.pop() {
        match part.components().next() {
            Some(Component::ParentDir) => _ = below.pop(),
            Some(Component::RootDir) => below.clear(),
            Some(Component::Normal(_)) => match fs::read_link(root.join(below.join(&part))) {
                Ok(target) if nlinks < LINKS_MAX => {
                    nlinks += 1;
                    parts.extend(target.components().rev().map(|part| PathBuf::from(part.as_os_str())));
                }
                _ => below.push(part),
            },
            _ => {}
        }
    }
    root.join(below)
}

/// Whether a path fits a pattern, whose stars stand for slashes, too.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|at| fits(rest, &path[at..])),
        [byte, rest @ ..] => path.first().is_some_and(|other| *byte == b'?' || byte == other) && fits(rest, &path[1..]),
    }
}

impl Audit<'_> {
    /// Checks the files of all packages.
    pub fn packages(&self, mut packages: Packages) -> End {
        let steps = packages.steps();
        let Some(outcome) = self.run(steps, &|path| packages.is_excluded(path)) else { return End::Cancelled };
        self.say_some(&packages.without_md5sums, packages.without_md5sums.len() as u64, "package", "without md5sums");
        self.say_some(&[], outcome.nchanged, "configuration file", "changed, which is no failure");
        self.say_some(&[], outcome.counts.nignored, "file", "missing, as dpkg.cfg leaves them out");
        self.end(&outcome, packages.without_md5sums.len() as u64, "dpkg knows no file there")
    }
}
