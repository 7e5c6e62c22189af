// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files with several names (hard links), which are read once for all names of a run.
//!
//! The first name that is opened leads: its file is read. Requests for the other names wait until then, and are begun
//! again when the first has ended. If its digests are right, and the file still has the stamp that it had from the
//! first byte read to the last, nothing has changed since, by the same rule as for a single read; else the next name
//! leads.
//!
//! Device and inode identify a file only on the file systems whose stamps are trusted in later runs (`evidence.rs`). On
//! others (FUSE, NFS, overlayfs) each name is read. Short files are read for each name too: remembering them would
//! save little, and trees of snapshots have millions.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use hashloom::Hash;

use super::Lane;
use crate::files::request::{Method, Request};
use crate::files::source::Source;
use crate::lanes::Form;
use crate::read::evidence::Noted;
use crate::run::lock;

/// Shorter files are read for each name.
pub(super) const WORTH_NBYTES: u64 = 64 << 10;

/// Number of files whose digests are remembered; the oldest go first.
const KNOWN_MAX: usize = 1 << 16;

/// Device and inode.
type Identity = (u64, u64);

/// A file that is being read or was read.
enum LinkState {
    /// The requests wait for the name that leads.
    Led(Vec<(u64, Request)>),
    Read(Content),
}

/// The digests of a file.
pub(super) struct Content {
    /// The file before it was read, and unchanged since.
    pub(super) before: Noted,
    pub(super) methods: Arc<[Method]>,
    pub(super) digests: Vec<Hash>,
}

pub(super) struct Links(Mutex<State>);

struct State {
    files: HashMap<Identity, LinkState>,
    /// Files that were read, the oldest first.
    read: VecDeque<Identity>,
    /// Requests that have waited, to be begun again.
    released: Vec<(u64, Request)>,
}

impl Links {
    pub(super) fn new() -> Arc<Links> {
        Arc::new(Links(Mutex::new(State { files: HashMap::new(), read: VecDeque::new(), released: Vec::new() })))
    }

    /// Decides how a file that was opened goes on. The lane leads, has its digests, or is read for itself; if it has to
    /// wait for another name of the file, there is no lane any more.
    pub(super) fn join(self: &Arc<Links>, mut lane: Lane) -> Option<Lane> {
        let Some(stamp) = lane.message.stamp_of_several_names() else { return Some(lane) };
        let identity = (stamp.dev, stamp.ino);
        let mut state = lock(&self.0);
        match state.files.get_mut(&identity) {
            Some(LinkState::Led(waiting)) => {
                waiting.push(lane.message.into_request());
                return None;
            }
            Some(LinkState::Read(content))
                if content.before.stamp == stamp && are_same(&content.methods, lane.message.methods()) =>
            {
                lane.know_from(content);
                return Some(lane);
            }
            // The file has changed since, or other digests are wanted.
            Some(LinkState::Read(_)) => state.read.retain(|read| *read != identity),
            None => {}
        }
        state.files.insert(identity, LinkState::Led(Vec::new()));
        drop(state);
        lane.message.lead(Lead { links: Arc::clone(self), identity, content: None });
        Some(lane)
    }

    /// Returns requests that need not wait any more.
    pub(super) fn released(&self) -> Vec<(u64, Request)> {
        std::mem::take(&mut lock(&self.0).released)
    }
}

/// The first name of a file. When it is dropped, the requests for the other names go on.
pub(super) struct Lead {
    links: Arc<Links>,
    identity: Identity,
    content: Option<Content>,
}

impl Lead {
    /// Ends with the file's content.
    pub(super) fn end(mut self, content: Content) {
        self.content = Some(content);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let mut state = lock(&self.links.0);
        let waiting = match self.content.take() {
            Some(content) => {
                state.read.push_back(self.identity);
                state.files.insert(self.identity, LinkState::Read(content))
            }
            None => state.files.remove(&self.identity),
        };
        if let Some(LinkState::Led(waiting)) = waiting {
            state.released.extend(waiting);
        }
        if state.read.len() > KNOWN_MAX {
            let oldest = state.read.pop_front();
            oldest.and_then(|oldest| state.files.remove(&oldest));
        }
    }
}

/// Whether the results are the same. Keys are not compared, so two MACs are the same only if they share one.
fn are_same(one: &Arc<[Method]>, other: &Arc<[Method]>) -> bool {
    let is_same =
        |(one, other): (&Method, &Method)| one.is_plain() && other.is_plain() && one.algorithm() == other.algorithm();
    Arc::ptr_eq(one, other) || one.len() == other.len() && one.iter().zip(other.iter()).all(is_same)
}

/// Whether the request is for a file by its name: an open file has one name here.
pub(super) fn has_name(request: &Request) -> bool {
    matches!(request.source, Source::Path(_))
}
