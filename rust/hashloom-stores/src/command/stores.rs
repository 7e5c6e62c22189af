// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stores: folders whose files have the digests of their contents as names.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use hashloom::{Algorithm, Hasher};
use hashloom_files::paths::portable;
use hashloom_files::walk::Walk;
use hashloom_files::{Method, Step};
use hashloom_frame::text::display;
use hashloom_list::command::front::End;
use hashloom_list::command::summing::trouble;

use super::audit::{Audit, Note, Wanted, request, whole};

/// The bytes that the digest in a name belongs to.
#[derive(Clone, Copy)]
enum Of {
    /// The file.
    File(Algorithm),
    /// The file; the digest is in the base32 of Nix.
    Nix(Algorithm),
    /// The file after git's header of a blob.
    Blob,
    /// More than the file, as this program knows.
    More(&'static str),
    /// The file is no object: it is not finished, or the store's own.
    NoObject,
}

use Of::{Blob, File, More, Nix, NoObject};
const SHA256: Of = File(Algorithm::Sha256);
const SHA512: Of = File(Algorithm::Sha512);

/// The end of an object's path, and what its digest is of. The first row that fits counts. `{2}` are two characters of
/// the digest, `{}` all others of it; `[2]` are two that come again from its start; `*` is any part of a name.
#[rustfmt::skip]
const FORMS: &[(&str, Of)] = &[
    // git-lfs
    ("lfs/objects/[2]/[2]/{}", SHA256),
    // OCI image layouts, containerd; ollama
    ("blobs/sha256/{}", SHA256),
    ("blobs/sha512/{}", SHA512),
    ("blobs/blake3/{}", File(Algorithm::Blake3)),
    ("blobs/sha256-{}", SHA256),
    ("blobs/sha256-*-partial*", NoObject),
    // restic; borg 2 has the same index
    ("data/[2]/{}", SHA256),
    ("data/[2]/*-tmp-*", NoObject),
    ("index/{}", SHA256),
    ("snapshots/{}", SHA256),
    ("keys/{}", SHA256),
    ("locks/{}", SHA256),
    // borg 2
    ("packs/[2]/{}", SHA256),
    // Hugging Face
    ("*--*/blobs/{}", SHA256),
    ("*--*/blobs/{}", Blob),
    ("*--*/blobs/*.incomplete", NoObject),
    // DVC
    ("files/md5/{2}/{}", File(Algorithm::Md5)),
    ("files/md5/{2}/{}.dir", File(Algorithm::Md5)),
    // Bazel: the disk cache, the repository cache
    ("cas/[2]/{}", SHA256),
    ("content_addressable/sha256/{}/file", SHA256),
    ("content_addressable/sha256/{}/id-*", NoObject),
    // npm
    ("content-v2/sha1/{2}/{2}/{}", File(Algorithm::Sha1)),
    ("content-v2/sha256/{2}/{2}/{}", SHA256),
    ("content-v2/sha512/{2}/{2}/{}", SHA512),
    // binary caches of Nix
    ("nar/{}.nar", Nix(Algorithm::Sha256)),
    ("nar/{}.nar.*", Nix(Algorithm::Sha256)),
    // ostree
    ("objects/{2}/{}.commit", SHA256),
    ("objects/{2}/{}.dirtree", SHA256),
    ("objects/{2}/{}.dirmeta", SHA256),
    ("objects/{2}/{}.file", More("ostree fsck")),
    ("objects/{2}/{}.filez", More("ostree fsck")),
    ("objects/{2}/{}.commitmeta", NoObject),
];

impl Of {
    fn algorithm(self) -> Algorithm {
        match self {
            File(algorithm) | Nix(algorithm) => algorithm,
            Blob => Algorithm::Sha1,
            More(_) | NoObject => Algorithm::Sha256,
        }
    }

    /// The digits, from the last to the first as Nix writes them.
    fn digits(self) -> &'static [u8] {
        if matches!(self, Nix(_)) { b"0123456789abcdfghijklmnpqrsvwxyz" } else { b"0123456789abcdef" }
    }

    fn ndigits(self) -> usize {
        let nbytes = self.algorithm().digest_nbytes();
        if matches!(self, Nix(_)) { (8 * nbytes).div_ceil(5) } else { 2 * nbytes }
    }

    /// The digest of digits that fit.
    fn digest(self, digits: &[u8]) -> Option<Vec<u8>> {
        let value = |digit: &u8| self.digits().iter().position(|other| other == digit).unwrap_or(0);
        if !matches!(self, Nix(_)) {
            return Some(digits.chunks_exact(2).map(|pair| (value(&pair[0]) << 4 | value(&pair[1])) as u8).collect());
        }
        let mut digest = vec![0; self.algorithm().digest_nbytes()];
        for (index, digit) in digits.iter().rev().enumerate() {
            let (at, shifted) = (index * 5 / 8, value(digit) << (index * 5 % 8));
            digest[at] |= shifted as u8;
            match digest.get_mut(at + 1) {
                Some(next) => *next |= (shifted >> 8) as u8,
                None if shifted >> 8 > 0 => return None,
                None => {}
            }
        }
        Some(digest)
    }
}

/// The digits in a path that fits a pattern.
#[derive(Default)]
struct Found {
    digits: Vec<u8>,
    /// Digits that come again.
    first: Vec<u8>,
}

fn fits(pattern: &[u8], path: &[u8], of: Of, found: &mut Found) -> bool {
    let (token, rest) = match pattern {
        [] => return path.is_empty(),
        [b'*', rest @ ..] => {
            let name = path.split(|&byte| byte == b'/').next().map_or(0, <[u8]>::len);
            let before = found.digits.len();
            return (0..=name).any(|at| {
                found.digits.truncate(before);
                fits(rest, &path[at..], of, found)
            });
        }
        [b'[', b'2', b']', rest @ ..] => (Some(2), rest),
        [b'{', b'2', b'}', rest @ ..] => (Some(2), rest),
        [b'{', b'}', rest @ ..] => (Some(of.ndigits() - found.digits.len().min(of.ndigits())), rest),
        [byte, rest @ ..] if path.first() == Some(byte) => return fits(rest, &path[1..], of, found),
        _ => return false,
    };
    let Some((taken, path)) = token.and_then(|count| path.split_at_checked(count)) else { return false };
    if taken.is_empty() || !taken.iter().all(|digit| of.digits().contains(digit)) {
        return false;
    }
    if pattern[0] == b'[' { &mut found.first } else { &mut found.digits }.extend_from_slice(taken);
    fits(rest, path, of, found)
}

/// The end of a path that has as many names as the pattern.
fn end_of<'p>(path: &'p [u8], pattern: &str) -> &'p [u8] {
    let nslashes = pattern.bytes().filter(|&byte| byte == b'/').count();
    let starts = memchr::memrchr_iter(b'/', path).nth(nslashes).map_or(0, |slash| slash + 1);
    &path[starts..]
}

/// The row for a path from the root on, the digest, and whether the folders' names fit the digest.
fn form(path: &[u8]) -> Option<(Of, Option<Vec<u8>>, bool)> {
    FORMS.iter().find_map(|&(pattern, of)| {
        let mut found = Found::default();
        fits(pattern.as_bytes(), end_of(path, pattern), of, &mut found)
            .then(|| (of, of.digest(&found.digits), found.digits.starts_with(&found.first) || found.first.is_empty()))
    })
}

/// Whether a file has no form, but a digest as name, in a folder that should be named after an algorithm.
fn is_of_unknown(path: &[u8]) -> bool {
    const DIGITS_MIN: usize = 28;
    let parts: Vec<&[u8]> = path.rsplitn(6, |&byte| byte == b'/').collect();
    let name = match parts[..] {
        [name, _, b"blobs", ..] | [name, _, _, _, b"content-v2", ..] => name,
        [b"file", name, _, b"content_addressable", ..] => name,
        _ => return false,
    };
    name.len() >= DIGITS_MIN && name.iter().all(u8::is_ascii_hexdigit)
}

/// The files of a folder that are no objects.
#[derive(Default)]
struct Others {
    /// The folders that have objects.
    with_objects: HashSet<PathBuf>,
    /// In each folder the first file that is none, and their number.
    files: HashMap<PathBuf, (PathBuf, u64)>,
    nno_objects: u64,
    /// Programs to run for objects that are not verified, and the numbers of these.
    more: HashMap<&'static str, u64>,
}

impl Others {
    /// The next step for a file.
    fn step(&mut self, path: PathBuf, full: &[u8], is_file: bool) -> Option<Step<Wanted, Note>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let failed = |why: &str| Some(Step::Note(Note::Failed(portable(&path).into_owned(), why.to_owned())));
        let Some((of, digest, is_in_place)) = form(full) else {
            if is_of_unknown(full) {
                return failed("not verified: its folder is named after another algorithm than that of a digest here");
            }
            if is_file {
                self.files.entry(folder.to_owned()).or_insert_with(|| (path.clone(), 0)).1 += 1;
            }
            return None;
        };
        if let NoObject = of {
            self.nno_objects += 1;
            return None;
        }
        if !self.with_objects.contains(folder) {
            self.with_objects.insert(folder.to_owned());
        }
        if !is_file && path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return failed("neither a file nor a link to one");
        }
        if let More(program) = of {
            *self.more.entry(program).or_default() += 1;
            return None;
        }
        let Some(digest) = digest else { return failed("its name is no digest") };
        if !is_in_place {
            return failed("it is in the folder of another digest");
        }
        let (mut method, mut wanted) = (Method::from(of.algorithm()), whole(of.algorithm(), digest));
        if let (Blob, Ok(metadata)) = (of, path.metadata()) {
            let mut hasher = Hasher::new(Algorithm::Sha1);
            hasher.update(format!("blob {}\0", metadata.len()).as_bytes());
            (method, wanted.nbytes) = (Method::After(hasher), Some(metadata.len()));
            wanted.algorithm = "git-blob";
        }
        Some(request(path, method, wanted))
    }

    /// Files among objects, which should be objects too; then all others.
    fn split(&self) -> [(Vec<String>, u64); 2] {
        /// A folder may have any number of them.
        const SHOWN_MAX: usize = 3;
        [true, false].map(|is_among| {
            let files = self.files.iter().filter(|(folder, _)| self.with_objects.contains(*folder) == is_among);
            let mut names: Vec<&PathBuf> = files.clone().map(|(_, (path, _))| path).collect();
            names.sort();
            (names.iter().take(SHOWN_MAX).map(|path| display(path)).collect(), files.map(|(_, (_, n))| n).sum())
        })
    }
}

impl Audit<'_> {
    /// Checks the objects below folders.
    pub fn stores(&self, folders: &[PathBuf]) -> End {
        let mut others = Others::default();
        let steps = folders.iter().flat_map(|folder| {
            // The names above the folder tell the form, too.
            let above = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            Walk::new(folder).entries().map(move |entry| (folder, above.clone(), entry))
        });
        let steps = steps.filter_map(|(folder, above, entry)| match entry {
            Ok(entry) => {
                let full = above.join(entry.path.strip_prefix(folder).unwrap_or(&entry.path));
                let kind = entry.file_type;
                if kind.is_dir() { None } else { others.step(entry.path, &portable(&full), kind.is_file()) }
            }
            Err(error) => Some(Step::Note(Note::Unread(trouble(&portable(&error.path), &error.problem.into())))),
        });
        let Some(mut outcome) = self.run(steps, &|_| false) else { return End::Cancelled };
        for (program, count) in &others.more {
            outcome.counts.nunverified += count;
            self.say_some(&[], *count, "object", &format!("NOT verified, as their names cover more: use `{program}`"));
        }
        let [(among, namong), (rest, nrest)] = others.split();
        outcome.counts.nmismatched += namong;
        self.say_some(&among, namong, "file", "among objects without a digest as name");
        self.say_some(&rest, nrest, "other file", "not checked, without a digest as name");
        self.say_some(&[], others.nno_objects, "file", "not checked, as not finished or an index");
        let nothing = "no file there has its digest as name in a form of store that hashloom knows";
        self.end(&outcome, nrest + others.nno_objects, nothing)
    }
}

/// The length of all files there.
pub fn total_nbytes(folders: &[PathBuf]) -> Option<u64> {
    let files = folders.iter().flat_map(|folder| Walk::new(folder).files().flatten());
    Some(files.filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum())
}
