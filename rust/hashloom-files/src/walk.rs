// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks folders: everything below a folder, in one order on every machine, found as the caller asks for it.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::vec;

use crate::paths;
use crate::text::reason;

mod filter;

pub use filter::{Filter, FilterError};

/// The order of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The order of [`by_components`](crate::paths::by_components): each folder is sorted by the bytes of the names,
    /// and a folder's contents follow the folder at once. The types of the entries do not matter.
    #[default]
    Components,
    /// The order of the bytes of the files' whole paths, as `LC_ALL=C sort` has it: `a.txt` is before `a/b`, as `.` is
    /// before `/`.
    Bytes,
}

/// A walk to be made.
///
/// ```
/// use hashloom_files::walk::{Entries, Entry, Filter, Order, Walk};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::create_dir(folder.join("a"))?;
/// for name in ["a/b", "a.txt", "c.jpg"] {
///     std::fs::write(folder.join(name), "")?;
/// }
/// let walk = Walk::new(folder).follow_links(true).filter(Filter::new(&[], &["*.jpg"])?);
/// let found = walk.clone().order(Order::Bytes).files().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(found, [folder.join("a.txt"), folder.join("a/b")]);
/// let mut entries: Entries = walk.entries();
/// let entry: Entry = entries.next().unwrap()?;
/// assert!(entry.path == folder.join("a") && entry.file_type.is_dir());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Walk {
    folder: PathBuf,
    order: Order,
    follow: bool,
    filter: Filter,
}

/// An entry that was found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The path; it begins with the folder of the walk as given.
    pub path: PathBuf,
    /// The type, which is that of the target if links are followed.
    pub file_type: FileType,
}

/// An entry that exists and cannot be looked at. The walk goes on.
///
/// ```
/// use std::path::Path;
///
/// use hashloom_files::walk::{Walk, WalkError, WalkProblem};
///
/// let error: WalkError = Walk::new(Path::new("no/such/folder")).entries().next().unwrap().unwrap_err();
/// assert_eq!(error.path, Path::new("no/such/folder"));
/// let problem = WalkProblem::Loop { above: "photos".into() };
/// assert_eq!(problem.to_string(), "a link to photos, the folder it is in");
/// ```
#[derive(Debug)]
pub struct WalkError {
    /// The path of the entry, which is a folder if it cannot be listed, or its listing broke off.
    pub path: PathBuf,
    /// The fault.
    pub problem: WalkProblem,
}

/// The fault of an entry.
#[derive(Debug)]
pub enum WalkProblem {
    /// The system's error.
    Io(io::Error),
    /// A link to a folder that the link lies in, while links are followed.
    Loop {
        /// The path of that folder.
        above: PathBuf,
    },
}

impl Walk {
    /// A walk through everything below `folder`, which may be a link. Links below it are not followed.
    pub fn new(folder: &Path) -> Walk {
        Walk { folder: folder.to_owned(), order: Order::default(), follow: false, filter: Filter::default() }
    }

    /// Sets the order.
    #[must_use]
    pub fn order(self, order: Order) -> Walk {
        Walk { order, ..self }
    }

    /// Sets whether a link counts as its target. A link to a folder above it, or to nothing, is then an error.
    #[must_use]
    pub fn follow_links(self, follow: bool) -> Walk {
        Walk { follow, ..self }
    }

    /// Leaves out what the globs of a filter do not want, and errors of such entries. The filter's lengths do not count
    /// here.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Walk {
        Walk { filter, ..self }
    }

    /// Finds all entries. The error of a folder that cannot be listed comes right after the folder.
    pub fn entries(self) -> Entries {
        let Walk { folder, order, follow, filter } = self;
        Entries { next: Some(folder.clone()), at: PathBuf::new(), folder, order, follow, filter, levels: Vec::new() }
    }

    /// Finds the regular files.
    pub fn files(self) -> impl Iterator<Item = Result<PathBuf, WalkError>> + Send + use<> {
        self.entries().filter_map(|found| match found {
            Ok(entry) => entry.file_type.is_file().then_some(Ok(entry.path)),
            Err(error) => Some(Err(error)),
        })
    }
}

/// The entries below a folder: see [`Walk::entries`].
#[derive(Debug)]
pub struct Entries {
    folder: PathBuf,
    order: Order,
    follow: bool,
    filter: Filter,
    /// The entries still to be walked of each open level, a folder in the one before. A folder is listed at once, to be
    /// sorted, and not kept open.
    levels: Vec<vec::IntoIter<Child>>,
    /// The last of these folders. A path for each would take memory by the square of the depth, which has no limit.
    at: PathBuf,
    /// The folder that was found last, if it is to be walked.
    next: Option<PathBuf>,
}

/// An entry of a folder.
#[derive(Debug)]
struct Child {
    /// Empty if the folder cannot be listed; the type is then the error. Such a child comes first.
    name: OsString,
    /// The type, which is that of the target if links are followed.
    file_type: io::Result<FileType>,
    /// Whether the entry is a link that is followed.
    is_link: bool,
}

impl Entries {
    fn wants(&self, path: &Path, is_folder: bool) -> bool {
        if self.filter.included().is_empty() && self.filter.excluded().is_empty() {
            return true;
        }
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        below.as_os_str().is_empty() || self.filter.wants_path(below, is_folder)
    }

    fn list(&self, folder: &Path) -> vec::IntoIter<Child> {
        let child = |listed: io::Result<DirEntry>| {
            let (name, file_type) = match listed {
                Ok(entry) => (entry.file_name(), entry.file_type()),
                Err(error) => (OsString::new(), Err(error)),
            };
            let is_link = self.follow && file_type.as_ref().is_ok_and(FileType::is_symlink);
            let target = || folder.join(&name).metadata().map(|metadata| metadata.file_type());
            Child { file_type: if is_link { target() } else { file_type }, name, is_link }
        };
        let mut children: Vec<Child> = match fs::read_dir(folder) {
            Ok(listed) => listed.map(child).collect(),
            Err(error) => vec![child(Err(error))],
        };
        match self.order {
            Order::Components => children.sort_by(|one, other| one.name.cmp(&other.name)),
            Order::Bytes => children.sort_by(by_bytes),
        }
        children.into_iter()
    }

    /// The folder that is the same as the one at `link`, and that the link lies in.
    fn above(&self, link: &Path) -> io::Result<Option<PathBuf>> {
        let target = identity(link)?;
        let below = self.at.ancestors().take(self.levels.len() - 1);
        for folder in below.chain([&*self.folder]) {
            if identity(folder)? == target {
                return Ok(Some(folder.to_owned()));
            }
        }
        Ok(None)
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(folder) = self.next.take() {
                self.levels.push(self.list(&folder));
                self.at = folder;
            }
            let Some(Child { name, file_type, is_link }) = self.levels.last_mut()?.next() else {
                self.levels.pop();
                self.at.pop();
                if self.levels.len() == 1 {
                    // As it was given, `photos/.` for instance.
                    self.at.clone_from(&self.folder);
                }
                continue;
            };
            let path = if name.is_empty() { self.at.clone() } else { self.at.join(name) };
            // A link that leads nowhere counts as a file. Other errors are of folders, or of links to folders.
            let is_folder = match &file_type {
                Ok(file_type) => file_type.is_dir(),
                Err(error) => error.kind() != io::ErrorKind::NotFound,
            };
            if !self.wants(&path, is_folder) {
                continue;
            }
            let above = if is_link && file_type.is_ok() && is_folder { self.above(&path) } else { Ok(None) };
            return Some(match (file_type, above) {
                (Ok(_), Ok(Some(above))) => Err(WalkError { path, problem: WalkProblem::Loop { above } }),
                (Ok(file_type), Ok(None)) => {
                    self.next = file_type.is_dir().then(|| path.clone());
                    Ok(Entry { path, file_type })
                }
                (Err(error), _) | (_, Err(error)) => Err(WalkError { path, problem: WalkProblem::Io(error) }),
            });
        }
    }
}

/// Device and inode, which are equal for two paths to one folder.
#[cfg(unix)]
fn identity(folder: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> io::Result<PathBuf> {
    folder.canonicalize()
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", paths::display(&self.path), self.problem)
    }
}

impl fmt::Display for WalkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkProblem::Io(error) => reason(error).fmt(f),
            WalkProblem::Loop { above } => {
                write!(f, "a link to {}, the folder it is in", paths::display(above))
            }
        }
    }
}

impl From<WalkProblem> for io::Error {
    fn from(problem: WalkProblem) -> io::Error {
        match problem {
            WalkProblem::Io(error) => error,
            WalkProblem::Loop { .. } => io::Error::other(problem.to_string()),
        }
    }
}

impl std::error::Error for WalkError {}

/// Compares two entries of one folder for [`Order::Bytes`]: a folder counts as if its name ended in a slash.
fn by_bytes(one: &Child, other: &Child) -> Ordering {
    let (name, other_name) = (one.name.as_encoded_bytes(), other.name.as_encoded_bytes());
    let common = name.len().min(other_name.len());
    let next = |child: &Child| {
        let is_folder = || child.file_type.as_ref().is_ok_and(FileType::is_dir);
        child.name.as_encoded_bytes().get(common).copied().or_else(|| is_folder().then_some(b'/'))
    };
    // The types count only if one name is a prefix of the other.
    name[..common].cmp(&other_name[..common]).then_with(|| next(one).cmp(&next(other)))
}
