// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the file that a list names: by Windows paths, network paths, other Unicode forms and another case too.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};
use std::path::{Component, Path, Prefix};
use std::sync::{Arc, Mutex};

use hashloom_files::paths::forms::Forms;
use hashloom_files::paths::{BadComponent, refused, to_path};
use hashloom_files::run::{Options, lock};
use hashloom_files::{Event, FileError, Hashed, Request, Source, Step, hash_steps};

/// The servers of the network that the user has named.
pub struct Servers(Vec<OsString>);

impl Servers {
    /// The servers of these paths, and of the current folder.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Servers {
        Servers(paths.into_iter().chain([Path::new(".")]).filter_map(server).collect())
    }

    /// Why a file of a list is not opened. A list may not send the user to another server than the user has.
    pub fn refused(&self, path: &[u8]) -> Option<BadComponent> {
        let is_named = || server(&to_path(path)).is_some_and(|server| self.0.contains(&server));
        refused(path).filter(|why| *why != BadComponent::Network || !is_named())
    }
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
pub enum Refused {
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
                "not opened, as a part of the name {why}; if it may be, give that server a drive letter, or put the \
                list there"
            ),
            Refused::Name(why) => format!("not opened, as a part of the name {why}"),
            Refused::CheckedBefore => "the list has this name in two forms, and one file is there".to_owned(),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }
}

/// Finds files whose names in the list are there in another Unicode form, or case, only. No file is taken for two
/// names.
pub struct OtherForms {
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
    pub fn new(ignores_case: bool) -> OtherForms {
        let forms = if ignores_case { Forms::ignoring_case() } else { Forms::default() };
        OtherForms { ignores_case, paths: Mutex::new(Paths { forms, ..Paths::default() }) }
    }

    /// Notes a path of the list. Returns whether its file was taken for another path.
    pub fn is_taken(&self, path: &Path) -> bool {
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
    pub fn hash<T>(&self, request: &Request<T>, options: &Options) -> Option<Result<Hashed, FileError>> {
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
    pub fn count(&self) -> u64 {
        lock(&self.paths).found.len() as u64
    }
}

fn fingerprint(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The name here of a file that has a name of Windows in the list, if no file has that name as it is. `root`: the
/// folder of Windows, with its slash, that the list was made in, once it is found.
pub fn from_windows(base: &Path, root: &mut Option<Vec<u8>>, name: &[u8]) -> Option<Vec<u8>> {
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
