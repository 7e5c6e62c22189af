// SPDX-License-Identifier: MIT OR Apache-2.0

//! Looks at the files of a torrent without reading them: the place, length and time of last change of each, as clients'
//! resume files need them.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hashloom_files::pieces::files::Cache;
use hashloom_files::read::stamp::Stamp;
use hashloom_files::read::stream;
use hashloom_torrent::inside::{Located, Paths, locate};
use hashloom_torrent::{Location, Report, Torrent, VerifyError};

use crate::path_map::PathMap;

/// The place, length and time of last change of each file of a torrent.
///
/// Taken after a check and compared with its report ([`changed`](Content::changed)), the content tells which verdicts
/// are out of date.
///
/// ```
/// use hashloom_clients::Content;
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{Torrent, verify};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let report = verify(&torrent, folder.path(), &Options::new())?;
/// let content = Content::find(&torrent, folder.path())?;
/// assert_eq!((content.path(), content.folder()), (&*folder.path().join("abc.txt"), Some(folder.path())));
/// assert_eq!(content.nbytes(0), Some(3));
/// assert!(content.changed(&report).is_empty());
/// std::fs::write(folder.path().join("abc.txt"), "abcd")?;
/// let content = Content::find(&torrent, folder.path())?;
/// assert_eq!(content.changed(&report), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Content {
    path: PathBuf,
    folder: Option<PathBuf>,
    unwanted: BTreeSet<usize>,
    paths: Arc<Paths>,
    map: PathMap,
    files: Vec<Stat>,
}

/// The facts that clients note of a file, and a hash of its [`Stamp`], in 24 bytes: there can be ten million files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    /// `ABSENT` for a missing file; otherwise below 2^63.
    nbytes: u64,
    /// The modification time, rounded down to seconds as clients do.
    mtime_s: i64,
    /// The hash of the whole stamp: it differs for a file whose time was set back, or that was replaced.
    fingerprint: u64,
}

const ABSENT: Stat = Stat { nbytes: u64::MAX, mtime_s: 0, fingerprint: 0 };

impl Content {
    /// Finds the files of a torrent and their lengths and times; `place` has the same meaning as for
    /// [`Check::new`](hashloom_torrent::Check::new). No file is opened. A missing file is not an error.
    ///
    /// # Errors
    ///
    /// The errors of [`verify`](hashloom_torrent::verify()).
    pub fn find(torrent: &Torrent, place: impl Into<Location>) -> Result<Content, VerifyError> {
        let place = place.into();
        let located = locate(torrent, &place, &Cache::default());
        let Located { content, paths, .. } =
            located.map_err(|error| VerifyError::locating(torrent, place.path(), error))?;
        let absolute = |path: &Path| absolute(path).map_err(|error| VerifyError::Path { path: path.to_owned(), error });
        let (path, paths) = (absolute(&content)?, Arc::new(paths.below(absolute(place.path())?)));
        let look = |index| match stat(&paths.path(torrent, index)) {
            ABSENT if paths.find_renamed(torrent, index) => stat(&paths.path(torrent, index)),
            found => found,
        };
        let files = (0..torrent.file_count()).map(look).collect();
        let folder = paths.download_folder(torrent).map(Path::to_owned);
        Ok(Content { path, folder, unwanted: place.unwanted, paths, map: PathMap::default(), files })
    }

    /// The content's file or folder, whether it exists or not: an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that the content is in, which a client calls the torrent's download folder; `None` if the content is
    /// the root of a file system.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The same content for a client that knows folders of this machine under other paths: those stand in its resume
    /// files.
    #[must_use]
    pub fn for_client(self, map: PathMap) -> Content {
        Content { map, ..self }
    }

    /// The download folder's path in the client.
    pub(crate) fn client_folder(&self) -> Option<PathBuf> {
        self.folder().map(|folder| self.map.to_client(folder))
    }

    /// The content's path in the client.
    pub(crate) fn client_content(&self) -> PathBuf {
        self.map.to_client(&self.path)
    }

    /// A file's path in the client.
    pub(crate) fn client_path(&self, torrent: &Torrent, index: usize) -> PathBuf {
        self.map.to_client(&self.file_path(torrent, index))
    }

    /// Whether the client does not want a file.
    pub(crate) fn is_unwanted(&self, file: usize) -> bool {
        self.unwanted.contains(&file)
    }

    /// Whether a piece's bytes of a file that is missing are in libtorrent's parts file.
    pub(crate) fn is_in_parts(&self, file: usize, piece: usize) -> bool {
        self.paths.parts.as_ref().is_some_and(|parts| parts.has(file, piece))
    }

    /// A file that is not below the download folder.
    pub(crate) fn outside(&self, torrent: &Torrent) -> Option<PathBuf> {
        let folder = self.folder()?;
        let mut paths = (0..self.file_count()).map(|file| self.file_path(torrent, file));
        paths.find(|path| !path.starts_with(folder))
    }

    /// The length of a file in bytes; `None` if the file is missing.
    ///
    /// # Panics
    /// If the torrent has no such file.
    pub fn nbytes(&self, file: usize) -> Option<u64> {
        let stat = self.files[file];
        (stat != ABSENT).then_some(stat.nbytes)
    }

    /// The time of a file's last change, in whole seconds after 1970, rounded down; `None` if the file is missing.
    ///
    /// # Panics
    /// If the torrent has no such file.
    pub(crate) fn changed_s(&self, file: usize) -> Option<i64> {
        let stat = self.files[file];
        (stat != ABSENT).then_some(stat.mtime_s)
    }

    /// Whether a file is there, has the torrent's length, and has zeros alone, as padding should.
    pub(crate) fn has_zeros(&self, torrent: &Torrent, file: usize) -> bool {
        let path = self.file_path(torrent, file);
        are_zeros(&path, torrent.file(file).nbytes) && stat(&path) == self.files[file]
    }

    /// The files that differ from what a check of the torrent found: changed, new or gone since. The report on their
    /// pieces may be out of date. A file that could not be opened, or was
    /// [`Unstable`](hashloom_torrent::FileState::Unstable), is not listed.
    pub fn changed(&self, report: &Report) -> Vec<usize> {
        let now = |stat: &Stat| (*stat != ABSENT).then_some(stat.fingerprint);
        let files = self.files.iter().zip(&report.looks).enumerate();
        files.filter(|(_, (stat, look))| look.has_changed(now(stat))).map(|(index, _)| index).collect()
    }

    /// The path where a file is or should be.
    pub(crate) fn file_path(&self, torrent: &Torrent, index: usize) -> PathBuf {
        self.paths.path(torrent, index)
    }

    /// Number of files.
    pub(crate) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The last change of any file, in seconds after 1970.
    pub(crate) fn last_changed_s(&self) -> Option<i64> {
        (0..self.files.len()).filter_map(|index| self.changed_s(index)).max()
    }
}

/// Whether a file has this number of zeros, and nothing else.
pub(crate) fn are_zeros(path: &Path, nbytes: u64) -> bool {
    let before = stat(path);
    let read = || -> io::Result<bool> {
        let (mut file, _) = stream::open(path)?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(nbytes) if buffer[..nbytes].iter().any(|&byte| byte != 0) => return Ok(false),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
    };
    // The stamp of anything but a regular file is that of an absent one.
    before.nbytes == nbytes && read().unwrap_or(false) && stat(path) == before
}

fn stat(path: &Path) -> Stat {
    let Ok(Some(stamp)) = Stamp::at(path) else { return ABSENT };
    // The system's seconds have 64 bits.
    let mtime_s = stamp.mtime_ns.div_euclid(1_000_000_000) as i64;
    Stat { nbytes: stamp.nbytes, mtime_s, fingerprint: stamp.fingerprint() }
}

/// The path from the root on, with a name at its end. Links stay as they are: somebody set them up on purpose.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if !path.components().any(|component| component == Component::ParentDir) {
        return Ok(path);
    }
    // The target of ".." depends on links before it. The content itself need not exist.
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => path.canonicalize(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_goes_up_is_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("a")).unwrap();
        assert_eq!(absolute(&folder.join("a/..")).unwrap(), folder);
        assert_eq!(absolute(&folder.join("a/../b")).unwrap(), folder.join("b"));
        assert_eq!(absolute(&folder.join("./a/")).unwrap(), folder.join("a"));
    }
}
