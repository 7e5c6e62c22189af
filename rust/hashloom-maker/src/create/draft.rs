// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents of files that the caller reads: in a browser, no call opens a file by its path.

use std::path::PathBuf;

use hashloom_files::merkle::NODE_NBYTES;
use hashloom_files::paths::name::check_component;
use hashloom_files::paths::{by_components, to_path};
use hashloom_files::pieces::layout::Layout;

use hashloom_torrent::inside::pieces_of_layout;
use hashloom_torrent::{Attributes, PieceDigests, Pieces, Version};

use super::error::{FileProblemKind, Problems};
use super::scan::{DEPTH_MAX, Entry};
use super::{Builder, CreateError, Created, Plan};
use crate::compute::Computed;

/// A torrent that is to be made of files which the caller reads. [`pieces`](Draft::pieces) hashes them,
/// [`finish`](Draft::finish) makes the torrent of the digests.
///
/// ```
/// use hashloom_maker::{Builder, Draft};
/// use hashloom_torrent::{PieceDigests, Pieces, Version};
///
/// let draft: Draft = Builder::new().version(Version::V2).draft(Some("poems"), [("b.txt", 5), ("a.txt", 4)])?;
/// assert_eq!((draft.name(), draft.piece_nbytes(), draft.piece_count()), (&b"poems"[..], 16 << 10, 2));
/// let mut pieces = draft.pieces(&[0, 1]);
/// pieces.update(&["rose", "tulip"]); // each file begins a piece, in the order of files()
/// let digests: Vec<PieceDigests> = pieces.digests();
/// let created = draft.finish(&digests)?;
/// assert!(created.bytes.starts_with(b"d4:infod9:file treed5:a.txtd0:d6:lengthi4e"));
/// # Ok::<(), hashloom_maker::CreateError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Draft {
    plan: Plan,
    layout: Layout,
    /// The index in the plan of each file of the layout; `u32::MAX` for padding.
    sources: Vec<u32>,
}

impl Builder {
    /// Lays out a torrent of files that the caller reads. `folder` is the name of their folder, and paths are those
    /// below it, with `/` between components. A torrent of one file without a folder has a path that is its name.
    ///
    /// The order of `files` does not matter. The options that concern walks and links have no effect, and no file is
    /// executable.
    ///
    /// # Errors
    ///
    /// Every reason against the torrent that can be known without reading files, such as a path that leads out of the
    /// folder: see [`CreateError`].
    pub fn draft<P: AsRef<str>>(
        mut self,
        folder: Option<&str>,
        files: impl IntoIterator<Item = (P, u64)>,
    ) -> Result<Draft, CreateError> {
        self.check()?;
        if self.like.is_some() {
            return Err(CreateError::Like { what: "a draft has no files to compare. Plan the torrent of a path" });
        }
        let entry = |(path, nbytes): (P, u64)| {
            let path = path.as_ref().as_bytes().into();
            Entry { path, nbytes, stamp: 0, executable: false }
        };
        let mut entries: Vec<Entry> = files.into_iter().map(entry).collect();
        entries.sort_unstable_by(|a, b| by_components(&a.path, &b.path));
        let root = PathBuf::from(folder.unwrap_or_default());
        let mut problems = Problems::default();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(kind) = problem(entry, entries.get(index + 1), folder.is_some()) {
                problems.push(root.join(to_path(&entry.path)), kind);
            }
        }
        if folder.is_none() && entries.len() > 1 {
            return Err(CreateError::NoName { path: root });
        }
        problems.check()?;
        if self.name.is_none() {
            let only = entries.first().map(|entry| String::from_utf8_lossy(&entry.path));
            self.name = folder.map(str::to_owned).or(only.map(Into::into));
        }
        let name = self.name_of(&root)?;
        let plan = self.lay_out(root, name, entries, folder.is_none())?;
        let (layout, sources) = plan.layout();
        Ok(Draft { plan, layout, sources })
    }
}

/// Why a file cannot be part of the torrent; `next` is the file after it in the order of components.
fn problem(entry: &Entry, next: Option<&Entry>, has_folder: bool) -> Option<FileProblemKind> {
    let is_separator = |&byte: &u8| byte == b'/' && has_folder;
    if entry.path.split(is_separator).nth(DEPTH_MAX).is_some() {
        return Some(FileProblemKind::TooDeep);
    }
    let names = entry.path.split(is_separator);
    if let Some(why) = names.filter_map(|name| check_component(name).err()).next() {
        return Some(FileProblemKind::BadName(why));
    }
    // Paths below a path follow it at once.
    let rest = next.and_then(|next| next.path.strip_prefix(&entry.path[..]));
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/').then_some(FileProblemKind::Twice)
}

impl Draft {
    /// The name of the torrent's file or folder.
    pub fn name(&self) -> &[u8] {
        self.plan.name()
    }

    /// The version.
    pub fn version(&self) -> Version {
        self.plan.version()
    }

    /// Whether the torrent is of one file rather than of a folder.
    pub fn is_single_file(&self) -> bool {
        self.plan.is_single_file()
    }

    /// Length of a piece in bytes.
    pub fn piece_nbytes(&self) -> u64 {
        self.plan.piece_nbytes()
    }

    /// Number of pieces, those of the gaps between the files of a v2 torrent not counted.
    pub fn piece_count(&self) -> usize {
        self.layout.piece_count() as usize
    }

    /// The files in the order of the content, padding files among them: path, offset of the first byte, length in
    /// bytes, attributes. Padding has no path here.
    pub fn files(&self) -> impl Iterator<Item = (&[u8], u64, u64, Attributes)> {
        self.sources.iter().enumerate().map(|(index, &source)| {
            let (span, only) = (self.layout.span(index), self.plan.is_single_file());
            let path = self.plan.entries.get(source as usize).map(|entry| &entry.path[..]);
            let path = if only { self.plan.name() } else { path.unwrap_or_default() };
            (path, span.offset, span.nbytes, Attributes { padding: span.padding, ..Attributes::default() })
        })
    }

    /// Makes the torrent of the digests of all pieces. The torrent is that which [`Plan::create`] makes of the same
    /// files, byte by byte.
    ///
    /// # Errors
    ///
    /// [`CreateError::Digests`] if a piece has none, and what [`CreateError`] says of torrents that are too large.
    pub fn finish(&self, digests: &[PieceDigests]) -> Result<Created, CreateError> {
        let (has_sha1, has_roots) = self.kinds();
        let mut computed = Computed::default();
        for piece in 0..self.piece_count().max(digests.len()) {
            let PieceDigests { sha1, root } = digests.get(piece).copied().unwrap_or_default();
            if (sha1.is_some(), root.is_some()) != (has_sha1, has_roots) || piece >= self.piece_count() {
                return Err(CreateError::Digests { piece });
            }
            computed.sha1.extend_from_slice(sha1.as_ref().map_or(&[], |sha1| &sha1[..]));
            computed.roots.extend_from_slice(root.as_ref().map_or(&[], |root: &[u8; NODE_NBYTES]| &root[..]));
        }
        self.plan.write(&computed, self.plan.nbytes())
    }

    /// Begins pieces of the torrent, whose digests [`finish`](Draft::finish) takes.
    ///
    /// # Panics
    ///
    /// If one of the pieces does not exist.
    pub fn pieces(&self, pieces: &[usize]) -> Pieces<'static> {
        let (has_sha1, has_roots) = self.kinds();
        pieces_of_layout(&self.layout, has_sha1, has_roots, pieces)
    }

    /// Whether pieces have SHA-1, and whether they have roots.
    fn kinds(&self) -> (bool, bool) {
        (self.version() != Version::V2, self.version() != Version::V1)
    }
}
