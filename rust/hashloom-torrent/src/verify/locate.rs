// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds a torrent's content below the PATH that a person named.
//!
//! PATH is the folder that holds the content, as a client's download folder does, or the content itself.
//!
//! | torrent | PATH | content |
//! |---|---|---|
//! | single file | not a folder | PATH |
//! | single file | a folder | PATH/name |
//! | several files | a folder | PATH/name if that is a folder, else PATH |
//!
//! The last line is ambiguous if the content's own folder has a folder of its own name in it. Then the first 100 files
//! decide: the place with more of them wins, PATH/name if both have equally many.
//!
//! A file that is not there under its own name may be there under the name that a client gave it, for good or until it
//! is finished, or in another Unicode form: see [`Located::paths`].

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use hashloom_files::paths;
use hashloom_files::paths::forms::Forms;
use hashloom_files::pieces::files::{Cache, Place, seems_present};
use hashloom_files::run::lock;

use super::client_names::{self, LIBTORRENT, Names, TRANSMISSION, clients_rename};
use super::parts::Parts;
use crate::Torrent;

/// The place where the content of a torrent is looked for.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{Check, Location, Torrent, verify_many};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("renamed"), "abc")?;
/// let mut torrent = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:".to_vec();
/// torrent.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"abc").as_ref());
/// let torrent = Torrent::parse(&[&torrent[..], b"ee"].concat())?;
/// let place = Location::from("/srv").paths(BTreeMap::from([(0, "renamed".into()), (1, "/b".into())]));
/// let place = place.moved_to(folder.path());
/// assert_eq!(place, Location::from(folder.path()).paths([(0, "renamed".into())].into()));
/// verify_many([Check::new(&torrent, place)], &Options::new(), |_, report| assert!(report.unwrap().is_complete()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    pub(crate) path: PathBuf,
    pub(crate) paths: BTreeMap<usize, PathBuf>,
    #[doc(hidden)]
    pub unwanted: BTreeSet<usize>,
}

impl Location {
    /// Some files are at other paths, given by their index: absolute, or relative to the folder. If nothing is at such
    /// a relative path, the torrent's own counts. This says nothing if the location is that of a single file itself.
    #[must_use]
    pub fn paths(self, paths: BTreeMap<usize, PathBuf>) -> Location {
        Location { paths, ..self }
    }

    /// The same content in another folder: absolute paths of files are dropped.
    #[must_use]
    pub fn moved_to(mut self, path: impl Into<PathBuf>) -> Location {
        self.path = path.into();
        self.paths.retain(|_, path| path.is_relative());
        self
    }

    /// A client of libtorrent does not want these files: bytes of them may be in its `.<info-hash>.parts` in the
    /// folder.
    #[must_use]
    pub fn unwanted(self, files: BTreeSet<usize>) -> Location {
        Location { unwanted: files, ..self }
    }

    /// The folder that holds the content, or the content itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        Location { path, ..Location::default() }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Location {
    fn from(path: &P) -> Location {
        path.as_ref().to_owned().into()
    }
}

impl From<&Location> for Location {
    fn from(place: &Location) -> Location {
        place.clone()
    }
}

/// The place of a torrent's files.
pub struct Located {
    pub(super) place: Place,
    /// The content's file or folder, whether it exists or not.
    pub content: PathBuf,
    /// The paths of the files.
    pub paths: Paths,
}

/// The paths of a torrent's files.
#[derive(Debug)]
pub struct Paths {
    /// The folder that relative paths start from; the file itself if `is_file`.
    root: PathBuf,
    is_file: bool,
    /// The path to put before a file's path.
    prefix: PathBuf,
    /// The files that are not at the torrent's own path: absolute, or relative to `root`.
    moved: RwLock<BTreeMap<usize, PathBuf>>,
    search: Mutex<Option<Search>>,
    /// Hashes of paths that differ in upper and lower case only.
    alike: OnceLock<HashSet<u64>>,
    /// libtorrent's parts file.
    pub parts: Option<Parts>,
}

/// Looks for files under the names that clients give them.
#[derive(Debug)]
struct Search {
    clients: Vec<Names>,
    forms: Forms,
    /// Hashes of the paths of all files, and of those that were found.
    taken: HashSet<u64>,
}

impl Paths {
    fn new(root: &Path, prefix: PathBuf, moved: BTreeMap<usize, PathBuf>) -> Paths {
        let (root, moved) = (root.to_owned(), RwLock::new(moved));
        Paths { root, is_file: false, prefix, moved, search: Mutex::default(), alike: OnceLock::new(), parts: None }
    }

    /// The path of a file, relative to the folder or absolute.
    pub(super) fn relative(&self, torrent: &Torrent, file: usize) -> PathBuf {
        match self.moved().get(&file) {
            Some(path) => path.clone(),
            None => self.own(torrent, file),
        }
    }

    /// The files that are not at the torrent's own path.
    pub(super) fn moved(&self) -> RwLockReadGuard<'_, BTreeMap<usize, PathBuf>> {
        self.moved.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self, torrent: &Torrent, file: usize) -> PathBuf {
        let path = paths::to_path(torrent.file(file).path);
        if self.prefix.as_os_str().is_empty() { path } else { self.prefix.join(path) }
    }

    /// The path of a file.
    pub fn path(&self, torrent: &Torrent, file: usize) -> PathBuf {
        if self.is_file { self.root.clone() } else { self.root.join(self.relative(torrent, file)) }
    }

    /// The folder that a client calls the torrent's download folder; `None` if the content is the root of a file
    /// system.
    pub fn download_folder(&self, torrent: &Torrent) -> Option<&Path> {
        if self.is_file || self.prefix.as_os_str().is_empty() && !torrent.is_single_file() {
            self.root.parent()
        } else {
            Some(&self.root)
        }
    }

    /// The same paths with another root.
    pub fn below(self, root: PathBuf) -> Paths {
        Paths { root, ..self }
    }

    /// Looks for a file that is missing under the torrent's own name under those that clients give it, and under names
    /// in another Unicode form. Returns whether it has another path now. The path of another file of the torrent is
    /// never taken, nor one path twice.
    pub fn find_renamed(&self, torrent: &Torrent, file: usize) -> bool {
        let (name, own) = (torrent.file(file).path, self.own(torrent, file));
        let is_unfinished = !self.is_file && unfinished(&own).any(|path| seems_present(&self.root, &path));
        let has_others = is_unfinished || has_other_names(name) || self.alike(torrent).contains(&lower(name));
        if self.is_file || !has_others {
            return false;
        }
        let mut search = lock(&self.search);
        // Another thread may have found it meanwhile.
        if self.moved().contains_key(&file) {
            return true;
        }
        let search = search.get_or_insert_with(|| Search::new(self, torrent));
        let names_of_clients = search.clients.iter().map(|names| {
            let path = names.path(torrent, file);
            let inner = path.iter().position(|&byte| byte == b'/').map_or(&path[..], |slash| &path[slash + 1..]);
            if torrent.is_single_file() { paths::to_path(&path) } else { self.prefix.join(paths::to_path(inner)) }
        });
        let mut below = iter::once(own.clone()).chain(names_of_clients).flat_map(|path| {
            let unfinished: Vec<PathBuf> = unfinished(&path).collect();
            iter::once(path).chain(unfinished)
        });
        let found = below.find(|other| *other != own && seems_present(&self.root, other));
        let Some(found) = found.or_else(|| search.forms.find(&self.root, &own)) else { return false };
        let is_free = search.taken.insert(fingerprint(found.as_os_str().as_encoded_bytes()));
        if is_free {
            self.moved.write().unwrap_or_else(PoisonError::into_inner).insert(file, found);
        }
        is_free
    }

    fn alike(&self, torrent: &Torrent) -> &HashSet<u64> {
        self.alike.get_or_init(|| {
            let mut all: Vec<u64> = torrent.files_without_padding().map(|file| lower(file.path)).collect();
            all.sort_unstable();
            all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
        })
    }
}

impl Search {
    fn new(paths: &Paths, torrent: &Torrent) -> Search {
        let taken = torrent
            .files_without_padding()
            .map(|file| fingerprint(paths.own(torrent, file.index).as_os_str().as_encoded_bytes()));
        let clients = LIBTORRENT.iter().chain(&TRANSMISSION).map(|&client| Names::new(client, torrent));
        Search { clients: clients.collect(), forms: Forms::default(), taken: taken.collect() }
    }
}

/// The paths under which clients keep a file until all its pieces are there: Transmission, and qBittorrent if told to.
fn unfinished(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    [".part", ".!qB"].into_iter().map(|ending| {
        let mut path = path.as_os_str().to_owned();
        path.push(ending);
        path.into()
    })
}

/// A hash of a path in lower case.
fn lower(path: &[u8]) -> u64 {
    fingerprint(&path.to_ascii_lowercase())
}

/// Whether a file may be there under another name: a client has one for it, or Unicode another form.
fn has_other_names(path: &[u8]) -> bool {
    !path.is_ascii() || path.split(|&byte| byte == b'/').any(clients_rename)
}

/// A hash of a path.
fn fingerprint(path: &[u8]) -> u64 {
    client_names::fingerprint(path, |_| {})
}

/// Number of files that decide between two places.
const DECIDING: usize = 100;

/// Finds the content. `cache` may have the folder open already.
pub fn locate(torrent: &Torrent, location: &Location, cache: &Cache) -> io::Result<Located> {
    let path = &*location.path;
    if !std::fs::metadata(path)?.is_dir() && torrent.is_single_file() {
        let paths = Paths { is_file: true, ..Paths::new(path, PathBuf::new(), BTreeMap::new()) };
        return Ok(Located { place: Place::File(path.to_owned()), content: path.to_owned(), paths });
    }
    let place = Place::Folder(cache.root(path)?);
    let name = folder_name(torrent, path);
    let has_folder = !torrent.is_single_file() && by_name(torrent, path, &path.join(&name));
    let prefix = if has_folder { name } else { PathBuf::new() };
    let mut paths = Paths::new(path, prefix, BTreeMap::new());
    let is_there = |file: usize, given: &Path| {
        given.is_absolute() || seems_present(path, given) || !seems_present(path, &paths.own(torrent, file))
    };
    let given = location.paths.iter().filter(|(file, path)| **file < torrent.file_count() && is_there(**file, path));
    let as_it_is = |given: &PathBuf| {
        let unfinished = || unfinished(given).find(|other| seems_present(path, other));
        if seems_present(path, given) { None } else { unfinished() }.unwrap_or_else(|| given.clone())
    };
    paths.moved = RwLock::new(given.map(|(&file, path)| (file, as_it_is(path))).collect());
    let folder = paths.download_folder(torrent);
    paths.parts = folder.and_then(|folder| Parts::find(torrent, folder, &location.unwanted));
    if torrent.is_single_file() && !seems_present(path, &paths.relative(torrent, 0)) {
        paths.find_renamed(torrent, 0);
    }
    let content = if torrent.is_single_file() { paths.path(torrent, 0) } else { path.join(&paths.prefix) };
    Ok(Located { place, content, paths })
}

/// The name of the torrent's folder below `path`: the torrent's own, unless only a name that a client gave it, or one
/// in another Unicode form, is there.
fn folder_name(torrent: &Torrent, path: &Path) -> PathBuf {
    let own = paths::to_path(torrent.name());
    if torrent.is_single_file() || !has_other_names(torrent.name()) || count(torrent, &path.join(&own)) > 0 {
        return own;
    }
    let clients = LIBTORRENT.iter().chain(&TRANSMISSION);
    let names = clients.map(|&client| paths::to_path(&client.folder(torrent)));
    let is_there = |name: &PathBuf| !name.as_os_str().is_empty() && *name != own && path.join(name).is_dir();
    names.into_iter().find(is_there).or_else(|| Forms::default().find(path, &own)).unwrap_or(own)
}

/// Number of the first files that are in a folder.
fn count(torrent: &Torrent, folder: &Path) -> usize {
    let checked = torrent.files().filter(|file| !file.attributes.padding && !file.attributes.symlink).take(DECIDING);
    let is_there =
        |path: PathBuf| iter::once(path.clone()).chain(unfinished(&path)).any(|path| seems_present(folder, &path));
    checked.filter(|file| is_there(paths::to_path(file.path))).count()
}

/// Whether the content is in the folder `inner` below `path`, and not in `path` itself.
fn by_name(torrent: &Torrent, path: &Path, inner: &Path) -> bool {
    // If no files are found at all, the content is named where a client would put it.
    if inner.is_dir() { count(torrent, inner) >= count(torrent, path) } else { count(torrent, path) == 0 }
}
