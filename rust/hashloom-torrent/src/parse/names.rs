// SPDX-License-Identifier: MIT OR Apache-2.0

//! The paths and attributes of all files: the paths one after the other, and 8 bytes a file beside them. A torrent can
//! have ten million files.

use hashloom_files::paths::by_components;

use super::Attributes;

/// Paths, their components joined by `/`, and attributes.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    paths: Vec<u8>,
    /// For each file the end of its path in `paths`, times 16, plus its attributes.
    ends: Vec<u64>,
    /// The targets of symbolic links, one after the other.
    targets: Vec<u8>,
    /// The files that have such a target, in order, and its end in `targets`.
    links: Vec<(usize, usize)>,
}

const PADDING: u64 = 1;
const SYMLINK: u64 = 2;
const EXECUTABLE: u64 = 4;
const HIDDEN: u64 = 8;

impl Names {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends a component to the path of the file that [`push`](Names::push) adds next.
    pub(super) fn push_component(&mut self, component: &[u8]) {
        let start = self.start(self.ends.len());
        join(&mut self.paths, start, component);
    }

    /// Whether the file that is added next has no path yet.
    pub(super) fn next_is_empty(&self) -> bool {
        self.paths.len() == self.start(self.ends.len())
    }

    /// Whether the file that is added next is padding of BitComet, which says so by its name alone. libtorrent takes
    /// any path with these bytes for padding.
    pub(super) fn next_is_bitcomet_padding(&self) -> bool {
        const NAME: &[u8] = b"_____padding_file_";
        self.paths[self.start(self.ends.len())..].windows(NAME.len()).any(|part| part == NAME)
    }

    /// Adds a file; its path is made of the components pushed since the last file.
    pub(super) fn push(&mut self, attributes: Attributes) {
        let Attributes { padding, symlink, executable, hidden } = attributes;
        let flags = [(padding, PADDING), (symlink, SYMLINK), (executable, EXECUTABLE), (hidden, HIDDEN)];
        let flags: u64 = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        self.ends.push((self.paths.len() as u64) << 4 | flags);
    }

    /// The path of an added file.
    pub(super) fn path(&self, file: usize) -> &[u8] {
        &self.paths[self.start(file)..(self.ends[file] >> 4) as usize]
    }

    pub(super) fn attributes(&self, file: usize) -> Attributes {
        let has = |flag: u64| self.ends[file] & flag != 0;
        Attributes { padding: has(PADDING), symlink: has(SYMLINK), executable: has(EXECUTABLE), hidden: has(HIDDEN) }
    }

    /// Total bytes of all paths.
    pub(super) fn nbytes(&self) -> usize {
        self.paths.len()
    }

    /// Sets the target of the file that [`push`](Names::push) adds next.
    pub(super) fn push_target<'a>(&mut self, components: impl Iterator<Item = &'a [u8]>) {
        let start = self.targets.len();
        components.for_each(|component| join(&mut self.targets, start, component));
        self.links.push((self.ends.len(), self.targets.len()));
    }

    /// The target of a symbolic link, its components joined by `/`, if the torrent gives one.
    pub(super) fn target(&self, file: usize) -> Option<&[u8]> {
        let at = self.links.binary_search_by_key(&file, |&(file, _)| file).ok()?;
        let start = if at == 0 { 0 } else { self.links[at - 1].1 };
        Some(&self.targets[start..self.links[at].1])
    }

    /// Finds two files, padding not counted, that have one path (the earlier file comes first) or one of which lies
    /// inside the other (the outer one comes first).
    pub(super) fn overlap(&self) -> Option<(usize, usize)> {
        // The bencode of 2^32 files would have 80 GB.
        let files = (0..self.len()).map_while(|file| u32::try_from(file).ok());
        let mut order: Vec<u32> = files.filter(|&file| !self.attributes(file as usize).padding).collect();
        let path = |file: u32| self.path(file as usize);
        // The files in "a" come right after "a" then, before "a b". The sort is in place: a stable sort would need half
        // as much memory again.
        order.sort_unstable_by(|&a, &b| by_components(path(a), path(b)).then(a.cmp(&b)));
        order.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize)).find(|&(first, second)| {
            let rest = self.path(second).strip_prefix(self.path(first));
            rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        })
    }

    fn start(&self, file: usize) -> usize {
        if file == 0 { 0 } else { (self.ends[file - 1] >> 4) as usize }
    }
}

/// Appends a component to the path that begins at `start`.
pub(super) fn join(path: &mut Vec<u8>, start: usize, component: &[u8]) {
    if path.len() > start {
        path.push(b'/');
    }
    path.extend_from_slice(component);
}
