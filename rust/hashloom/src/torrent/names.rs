// SPDX-License-Identifier: MIT OR Apache-2.0

//! The paths and attributes of all files: the paths one after the other, and 8 bytes a file beside them. A torrent can
//! have ten million files.

use super::Attributes;

/// Paths, their components joined by `/`, and attributes.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    paths: Vec<u8>,
    /// For each file where its path ends in `paths`, times 16, plus its attributes.
    ends: Vec<u64>,
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
        if self.paths.len() > self.start(self.ends.len()) {
            self.paths.push(b'/');
        }
        self.paths.extend_from_slice(component);
    }

    /// Whether the file that is added next has no path yet.
    pub(super) fn next_is_empty(&self) -> bool {
        self.paths.len() == self.start(self.ends.len())
    }

    /// Adds a file, whose path are the components since the last one.
    pub(super) fn push(&mut self, attributes: Attributes) {
        let flag = |set: bool, flag: u64| if set { flag } else { 0 };
        let flags = flag(attributes.padding, PADDING)
            | flag(attributes.symlink, SYMLINK)
            | flag(attributes.executable, EXECUTABLE)
            | flag(attributes.hidden, HIDDEN);
        self.ends.push((self.paths.len() as u64) << 4 | flags);
    }

    /// The path of a file that was added.
    pub(super) fn path(&self, file: usize) -> &[u8] {
        &self.paths[self.start(file)..(self.ends[file] >> 4) as usize]
    }

    pub(super) fn attributes(&self, file: usize) -> Attributes {
        let has = |flag: u64| self.ends[file] & flag != 0;
        Attributes { padding: has(PADDING), symlink: has(SYMLINK), executable: has(EXECUTABLE), hidden: has(HIDDEN) }
    }

    fn start(&self, file: usize) -> usize {
        if file == 0 { 0 } else { (self.ends[file - 1] >> 4) as usize }
    }
}
