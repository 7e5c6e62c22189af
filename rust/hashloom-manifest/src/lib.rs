// SPDX-License-Identifier: MIT OR Apache-2.0

//! Manifests: written records of the files of a folder, and their comparison with later states of the files.
//!
//! A manifest is text: one JSON object a line, each line ended by a line feed (U+000A):
//!
//! ```text
//! {"format":"hashloom manifest","version":1,"algorithms":["sha256"]}
//! {"type":"folder","path":"letters"}
//! {"type":"file","path":"letters/a","length":3,"mtime_ns":1700000000000000000,"sha256":"ba7816bf…"}
//! {"type":"link","path":"newest","target":"letters/a"}
//! {"type":"end","files":1,"links":1,"folders":1,"unread":0,"bytes":3,"sha256":"9c1f…"}
//! ```
//!
//! The last line has the counts, and the SHA-256 of all lines before it, so that a manifest that was cut off or damaged
//! is noticed; this digest is not a signature. Paths are relative to the folder, their components are joined by `/`,
//! and every folder has a line before its contents. The lines are sorted by [`by_components`], the order of a walk that
//! sorts each folder by the bytes of the names: so two manifests, or a manifest and a walk, are compared side by side,
//! whatever their length. A name that is not UTF-8 has replacement characters in `path`, and all its bytes in
//! hexadecimal in `path_hex`; the same holds for `target`. A manifest contains nothing of the time or place of writing:
//! the same files make the same bytes. A manifest of some of the files has a [`Filter`](hashloom_files::walk::Filter)
//! in its first line: `include` and `exclude`, arrays of globs, `min_size` and `max_size`. A file that could not be
//! read when the manifest was written has a line of the type `unread`, with a `reason`.
//!
//! ```
//! use hashloom_manifest::{Comparison, Counts, Difference, Entry, Kind, Reader, Status, Writer};
//! use hashloom::{Algorithm, hash};
//!
//! let write = |content: &[u8]| {
//!     let mut writer = Writer::new(Vec::new(), &[Algorithm::Sha1])?;
//!     let digests = vec![hash(Algorithm::Sha1, content)];
//!     let kind = Kind::File { nbytes: content.len() as u64, mtime_ns: 0, digests };
//!     writer.write(&Entry { path: b"file".to_vec(), kind })?;
//!     writer.finish()
//! };
//! let (old, new) = (write(b"abc")?, write(b"abd")?);
//!
//! let (old, new) = (Reader::new(&old[..])?, Reader::new(&new[..])?);
//! let (old_algorithms, new_algorithms) = (old.algorithms().to_vec(), new.algorithms().to_vec());
//! let mut comparison = Comparison::new(old, &old_algorithms, &new_algorithms).unwrap();
//! let mut found = Vec::new();
//! let mut each = |difference: Difference| found.push(difference.status);
//! for entry in new {
//!     comparison.found(entry?, &mut each)?;
//! }
//! let counts: Counts = comparison.finish(&mut each)?;
//! assert_eq!((counts.of(Status::Rotted), counts.has_differences()), (1, true));
//! // The same length and time, other content.
//! assert_eq!(found, [Status::Rotted]);
//! # Ok::<(), hashloom_manifest::Error>(())
//! ```

#![deny(missing_docs, unsafe_code)]

use std::cmp::Ordering;
use std::fmt;

use hashloom::{Algorithm, Hash};
use serde::{Deserialize, Serialize};

use hashloom_files::paths::by_components;
use line::Line;

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
mod compare;
mod error;
mod line;
pub mod log;
mod reader;
mod scan;
mod writer;

pub use compare::{Comparison, Counts, Difference, Status};
pub use error::{Error, Problem};
pub use reader::Reader;
pub use scan::{Evidence, Found, Scan, ScanError, Scanned};
pub use writer::Writer;

/// The longest line that is read, in bytes.
pub const LINE_MAX_NBYTES: usize = 1 << 20;

/// A line of a manifest.
///
/// ```
/// use hashloom_manifest::{Entry, Kind};
///
/// let entry = Entry { path: b"letters/b".to_vec(), kind: Kind::Link { target: b"a".to_vec() } };
/// assert_eq!(entry.name(), b"b");
/// let line = serde_json::to_string(&entry.as_line(&[])?)?;
/// assert_eq!(line, r#"{"type":"link","path":"letters/b","target":"a"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path relative to the manifest's folder, components joined by `/`.
    pub path: Vec<u8>,
    /// The thing at that path.
    pub kind: Kind,
}

impl Entry {
    /// The entry as a manifest of these algorithms has it, in any format that serde writes. A file that was not read
    /// has no digests.
    ///
    /// # Errors
    /// If there are other digests than one for each algorithm.
    pub fn as_line(&self, algorithms: &[Algorithm]) -> Result<impl Serialize, Problem> {
        Line::of_any(self, algorithms)
    }

    /// The last component of the path.
    pub fn name(&self) -> &[u8] {
        match self.path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => &self.path[slash + 1..],
            None => &self.path,
        }
    }
}

/// The thing at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File {
        /// Number of bytes in the input.
        nbytes: u64,
        /// Modification time in nanoseconds since 1970.
        mtime_ns: i128,
        /// The digests in the order of the manifest's algorithms; empty if the file was looked at but not read.
        digests: Vec<Hash>,
    },
    /// A symbolic link.
    Link {
        /// The link's target, as the link has it.
        target: Vec<u8>,
    },
    /// A folder.
    Folder,
    /// A file or folder that could not be read: nothing is known of it, nor of anything below it.
    Unread(Reason),
}

/// Why a file or folder could not be read.
///
/// ```
/// use hashloom_manifest::Reason;
///
/// assert_eq!(Reason::Unstable.to_string(), "unstable");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Reason {
    /// The file or folder could not be opened or read.
    Unreadable,
    /// The file changed during every read.
    Unstable,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reason::Unreadable => "unreadable",
            Reason::Unstable => "unstable",
        })
    }
}

/// The counts of a manifest, from its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Number of regular files that were read.
    pub nfiles: u64,
    /// Number of symbolic links.
    pub nlinks: u64,
    /// Number of folders.
    pub nfolders: u64,
    /// Number of files and folders that could not be read.
    pub nunread: u64,
    /// Total bytes of the files.
    pub nbytes: u64,
}

impl Totals {
    /// `None` if the total of bytes overflows.
    fn add(&mut self, kind: &Kind) -> Option<()> {
        match kind {
            Kind::File { nbytes, .. } => {
                self.nfiles += 1;
                self.nbytes = self.nbytes.checked_add(*nbytes)?;
            }
            Kind::Link { .. } => self.nlinks += 1,
            Kind::Folder => self.nfolders += 1,
            Kind::Unread(_) => self.nunread += 1,
        }
        Some(())
    }
}

/// Whether `path` is below `folder`.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// The conditions that the entries of a manifest must meet, checked one entry after the other.
#[derive(Debug, Default)]
struct Sequence {
    last: Vec<u8>,
    /// The folder that the last entry is, or is in; empty for the top folder.
    folder: Vec<u8>,
}

impl Sequence {
    fn check(&mut self, entry: &Entry) -> Result<(), Problem> {
        let path = &entry.path[..];
        let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
        if !path.split(|&byte| byte == b'/').all(is_name) {
            return Err(Problem::Path(path.to_vec()));
        }
        if !self.last.is_empty() && by_components(&self.last, path) != Ordering::Less {
            return Err(Problem::Order { before: std::mem::take(&mut self.last), path: path.to_vec() });
        }
        let parent = &path[..path.len() - entry.name().len()];
        let parent = parent.strip_suffix(b"/").unwrap_or(parent);
        if !(parent.is_empty() || parent == self.folder || is_below(&self.folder, parent)) {
            return Err(Problem::NoFolder(path.to_vec()));
        }
        self.folder.clear();
        self.folder.extend_from_slice(if entry.kind == Kind::Folder { path } else { parent });
        self.last.clear();
        self.last.extend_from_slice(path);
        Ok(())
    }
}
