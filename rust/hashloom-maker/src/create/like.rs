// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents with the layout of a torrent that is there already. The same read that hashes the content for the new
//! torrent compares it with the old one.

use std::path::Path;
use std::sync::Arc;

use hashloom_files::merkle::NODE_NBYTES;
use hashloom_files::paths::{by_components, to_path};

use hashloom_torrent::{Attributes, File, Torrent, Version};

use super::error::{FileProblemKind, Problems};
use super::scan::Entry;
use super::{Builder, CreateError, Plan, scan};
use crate::compute::Computed;

impl Builder {
    /// Takes version, name, files and their order, executable files, padding, piece length, private flag and source
    /// from `old`, and nothing else: no trackers, whose URLs may hold a passkey. Later calls can set all but the files
    /// and the piece length anew. The filter and the treatment of links then have no effect.
    ///
    /// [`Plan::create`] fails if the content differs from that of `old`. Another version needs a layout that serves
    /// both: a v1 torrent of several files becomes a hybrid only if each file begins at a piece of its own. The new
    /// info-hash is another than that of `old`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hashloom_files::run::Options;
    /// use hashloom_maker::Builder;
    /// use hashloom_torrent::Version;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("poem.txt");
    /// std::fs::write(&path, "Rose is a rose is a rose")?;
    /// let old = Builder::new().version(Version::V1).plan(&path)?.create(&Options::new())?.torrent;
    /// let plan = Builder::new().like(Arc::new(old)).version(Version::Hybrid).plan(&path)?;
    /// assert_eq!(plan.create(&Options::new())?.torrent.version(), Version::Hybrid);
    /// std::fs::write(&path, "Rose is a rose is a nose")?;
    /// assert!(plan.create(&Options::new()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn like(mut self, old: Arc<Torrent>) -> Self {
        self.version = old.version();
        self.piece_nbytes = Some(old.piece_nbytes());
        self.align = old.files().any(|file| file.attributes.padding);
        self.private = old.metadata().private;
        self.source = old.metadata().source.clone();
        self.like = Some(old);
        self
    }

    /// The files at `root` that the old torrent has, in its order.
    pub(super) fn entries_like(&self, old: &Torrent, root: &Path) -> Result<Vec<Entry>, CreateError> {
        if old.version() != Version::Hybrid && self.version != Version::Hybrid && old.version() != self.version {
            return Err(like(
                "it has other hashes than the new one, which then cannot be compared. Make a hybrid of it",
            ));
        }
        let mut problems = Problems::default();
        let entry = |file: File<'_>| {
            let place = if old.is_single_file() { root.to_owned() } else { root.join(to_path(file.path)) };
            let kind = match place.metadata() {
                Err(error) => FileProblemKind::Io(error),
                Ok(_) if self.version != Version::V1 && std::str::from_utf8(file.path).is_err() => {
                    FileProblemKind::NotUtf8
                }
                Ok(metadata) if !metadata.is_file() => {
                    FileProblemKind::NotRegular(if metadata.is_dir() { "a folder" } else { "a device" })
                }
                Ok(metadata) if metadata.len() != file.nbytes => {
                    FileProblemKind::Length { expected: file.nbytes, found: metadata.len() }
                }
                Ok(metadata) => match scan::stamp(&place, &metadata) {
                    Err(error) => FileProblemKind::Io(error),
                    Ok(stamp) => {
                        let path = if old.is_single_file() { Box::default() } else { file.path.into() };
                        let executable = file.attributes.executable;
                        return Some(Entry { path, nbytes: file.nbytes, stamp, executable });
                    }
                },
            };
            problems.push(place, kind);
            None
        };
        let entries: Vec<Entry> = old.files_without_padding().filter_map(entry).collect();
        problems.check().map(|()| entries)
    }
}

/// Whether the last file of the torrent is padding.
pub(super) fn ends_in_padding(torrent: &Torrent) -> bool {
    torrent.files().last().is_some_and(|file| file.attributes.padding)
}

fn like(what: &'static str) -> CreateError {
    CreateError::Like { what }
}

impl Plan {
    /// Whether the pieces of the old torrent are those of this plan, so that one read serves both.
    pub(super) fn check_like(&self, old: &Torrent) -> Result<(), CreateError> {
        let known = |file: &File<'_>| {
            let executable = file.attributes.executable;
            file.attributes == Attributes { executable, ..Attributes::default() }
        };
        if !old.files_without_padding().all(|file| known(&file)) {
            return Err(like("it has symbolic links or hidden files, which a new torrent would not have as such"));
        }
        let sorted = self.entries.is_sorted_by(|a, b| by_components(&a.path, &b.path).is_le());
        if self.version() != Version::V1 && !sorted {
            return Err(like(
                "its files are not in the order of version 2. Keep version 1, or make a torrent without it",
            ));
        }
        let (layout, sources) = self.layout();
        let offsets = sources.iter().enumerate().filter(|&(_, &source)| source != u32::MAX);
        let same =
            offsets.map(|(index, _)| layout.span(index).offset).eq(old.files_without_padding().map(|file| file.offset));
        if !same || (self.shares_v1(old) && layout.total_nbytes() != old.total_nbytes()) {
            return Err(like(
                "its files begin within pieces, or its padding is of another kind, so the pieces of the new torrent \
                would be others. Keep its version, or verify it and make a torrent without it",
            ));
        }
        Ok(())
    }

    fn shares_v1(&self, old: &Torrent) -> bool {
        self.version() != Version::V2 && old.version() != Version::V2
    }

    /// Compares the digests that both torrents have.
    pub(super) fn check_same(&self, computed: &Computed) -> Result<(), CreateError> {
        let Some(old) = &self.builder.like else { return Ok(()) };
        let differ = |new: &[u8], old: &[u8], nbytes: usize| -> Vec<usize> {
            let pieces = new.chunks(nbytes).zip(old.chunks(nbytes)).enumerate();
            pieces.filter(|(_, (new, old))| new != old).map(|(piece, _)| piece).collect()
        };
        let mut pieces = if self.shares_v1(old) { differ(&computed.sha1, old.digests(), 20) } else { Vec::new() };
        if pieces.is_empty() {
            pieces = differ(&computed.roots, old.roots(), NODE_NBYTES);
        }
        let Some(&first) = pieces.first() else { return Ok(()) };
        let file = old.files_of_piece(first).map(|index| old.file(index)).find(|file| !file.attributes.padding);
        let path = file.map_or(self.root.clone(), |file| {
            if self.single_file { self.root.clone() } else { self.root.join(to_path(file.path)) }
        });
        Err(CreateError::Differs { path, piece: first, pieces: pieces.len() })
    }
}
