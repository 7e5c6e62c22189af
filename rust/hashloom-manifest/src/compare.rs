// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares the files of a manifest with a later state.
//!
//! Both sides are sorted, so they are merged. Only entries that are on one side only are kept, to find moved files.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::fmt;

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::forms::nfc;
use hashloom_files::paths::{by_components, to_path};
use hashloom_files::walk::Filter;

use crate::{Entry, Error, Kind, Reason, is_below};

/// The result for an entry.
///
/// ```
/// use hashloom_manifest::Status;
///
/// assert_eq!((Status::ALL.len(), Status::Rotted.to_string()), (10, "rotted".to_owned()));
/// assert!(Status::Rotted.is_difference() && !Status::Touched.is_difference());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Status {
    /// Unchanged.
    Same,
    /// The same content with another modification time, or under the same name in another Unicode form.
    Touched,
    /// Another content with the same length and modification time: nobody wrote to the file, but its content differs.
    /// Or somebody did write to it and set the time back.
    Rotted,
    /// A file with other content, a link with another target, or something of another type.
    Changed,
    /// The same content is at another path now.
    Moved,
    /// The entry is gone.
    Removed,
    /// The entry is new.
    Added,
    /// The file could not be read.
    Unreadable,
    /// The file changed while it was read.
    Unstable,
    /// The file or folder could not be read when the manifest was written.
    Unrecorded,
}

impl Status {
    /// All statuses.
    pub const ALL: &'static [Status] = &[
        Status::Same,
        Status::Touched,
        Status::Rotted,
        Status::Changed,
        Status::Moved,
        Status::Removed,
        Status::Added,
        Status::Unreadable,
        Status::Unstable,
        Status::Unrecorded,
    ];

    /// Whether the status means a difference, or a possible one.
    pub fn is_difference(self) -> bool {
        !matches!(self, Status::Same | Status::Touched)
    }
}

/// The name in lower case.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Same => "same",
            Status::Touched => "touched",
            Status::Rotted => "rotted",
            Status::Changed => "changed",
            Status::Moved => "moved",
            Status::Removed => "removed",
            Status::Added => "added",
            Status::Unreadable => "unreadable",
            Status::Unstable => "unstable",
            Status::Unrecorded => "unrecorded",
        })
    }
}

/// An entry that has changed or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The status of the entry.
    pub status: Status,
    /// The manifest's entry; `None` if the entry was added.
    pub old: Option<Entry>,
    /// The entry found; `None` if the entry was removed.
    pub new: Option<Entry>,
}

impl Difference {
    /// The path; for a moved file the old one.
    pub fn path(&self) -> &[u8] {
        self.old.as_ref().or(self.new.as_ref()).map_or(b"", |entry| &entry.path)
    }
}

/// The number of entries of each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; Status::ALL.len()]);

impl Counts {
    /// The number of entries of one status.
    pub fn of(&self, status: Status) -> u64 {
        self.0[status as usize]
    }

    /// Whether any entry is a [difference](Status::is_difference).
    pub fn has_differences(&self) -> bool {
        Status::ALL.iter().any(|&status| status.is_difference() && self.of(status) > 0)
    }
}

/// Compares a manifest with the files that are found, entry by entry.
///
/// See the [module](super) for an example. Removed and added entries are kept in memory and handed out at the end: a
/// removed file and an added one with the same digests and length (not zero) make one moved file. If several added
/// files match, one of the same name is taken first, then the first by path.
#[derive(Debug)]
#[must_use]
pub struct Comparison<I> {
    old: I,
    /// The manifest's next entry, which comes after everything found so far.
    ahead: Option<Entry>,
    /// Positions of the digests of each algorithm that both sides have.
    shared: Vec<(usize, usize)>,
    /// The file or folder that cannot be read now, or could not then: nothing below it can be judged.
    unreadable: Option<(Vec<u8>, Status)>,
    unrecorded: Option<Vec<u8>>,
    removed: Vec<Entry>,
    added: Vec<Entry>,
    counts: Counts,
    /// The filter of the other side for each side's entries, old and new.
    sieves: [Sieve; 2],
}

/// Drops the entries of one side that the other side's filter does not want.
#[derive(Debug, Default)]
struct Sieve {
    filter: Filter,
    /// The folder that was dropped last.
    dropped: Option<Vec<u8>>,
}

impl Sieve {
    /// Whether the globs want the entry. Entries must come in order.
    fn wants(&mut self, entry: &Entry) -> bool {
        if self.filter.wants_all() {
            return true;
        }
        if matches!(&self.dropped, Some(folder) if is_below(&entry.path, folder)) {
            return false;
        }
        let path = to_path(&entry.path);
        let is_wanted = match entry.kind {
            Kind::Folder => self.filter.wants_path(&path, true),
            // A file or a folder.
            Kind::Unread(_) => self.filter.wants_path(&path, false) || self.filter.wants_path(&path, true),
            _ => self.filter.wants_path(&path, false),
        };
        if !is_wanted && entry.kind == Kind::Folder {
            self.dropped = Some(entry.path.clone());
        }
        is_wanted
    }

    /// Whether an entry that only its own side has could be on the other side.
    fn wants_length(&self, entry: &Entry) -> bool {
        !matches!(entry.kind, Kind::File { nbytes, .. } if !self.filter.wants_length(nbytes))
    }
}

impl<I: Iterator<Item = Result<Entry, Error>>> Comparison<I> {
    /// `old` gives the entries of the manifest, sorted, such as a [`Reader`](crate::Reader). `None` if both sides have
    /// no algorithm in common.
    pub fn new(old: I, old_algorithms: &[Algorithm], new_algorithms: &[Algorithm]) -> Option<Comparison<I>> {
        let place = |(index, algorithm)| Some((index, new_algorithms.iter().position(|new| new == algorithm)?));
        let shared: Vec<_> = old_algorithms.iter().enumerate().filter_map(place).collect();
        (!shared.is_empty()).then(|| Comparison {
            old,
            ahead: None,
            shared,
            unreadable: None,
            unrecorded: None,
            removed: Vec::new(),
            added: Vec::new(),
            counts: Counts::default(),
            sieves: <[Sieve; 2]>::default(),
        })
    }

    /// Compares only what both filters want, the one of the old side and the one of the new side. An entry that only
    /// one side has, and that the other side's filter does not want, is no difference.
    pub fn filters(mut self, old: Filter, new: Filter) -> Comparison<I> {
        self.sieves = [new, old].map(|filter| Sieve { filter, dropped: None });
        self
    }

    /// Takes the next entry found, which must come after the previous one by [`by_components`]. If one of two compared
    /// files has no digests, the files count as the same if their lengths and times are equal.
    ///
    /// # Errors
    /// If the manifest cannot be read further.
    pub fn found(&mut self, new: Entry, mut each: impl FnMut(Difference)) -> Result<(), Error> {
        if !self.sieves[1].wants(&new) {
            return Ok(());
        }
        let old = self.skip_to(&new.path)?;
        if let Kind::Unread(reason) = new.kind {
            self.unreadable = Some((new.path.clone(), unread(reason)));
        }
        match old {
            Some(old) => {
                let status = self.compare(&old, &new);
                if let Kind::Unread(_) = old.kind {
                    self.unrecorded = Some(old.path.clone());
                }
                self.judge(status, Some(old), Some(new), &mut each);
            }
            None if matches!(&self.unrecorded, Some(folder) if is_below(&new.path, folder)) => {
                let status = unread_now(&new).unwrap_or(Status::Unrecorded);
                self.judge(status, None, Some(new), &mut each);
            }
            None => match unread_now(&new) {
                Some(status) => self.judge(status, None, Some(new), &mut each),
                None if self.sieves[1].wants_length(&new) => self.added.push(new),
                None => {}
            },
        }
        Ok(())
    }

    /// Ends the comparison: there are no more entries to find.
    ///
    /// # Errors
    /// If the manifest cannot be read to its end.
    pub fn finish(mut self, mut each: impl FnMut(Difference)) -> Result<Counts, Error> {
        while let Some(old) = self.next_old()? {
            self.miss(old);
        }
        Ok(self.stop(&mut each))
    }

    /// Ends the comparison before everything was found: the rest of the manifest does not count as removed.
    pub fn stop(mut self, mut each: impl FnMut(Difference)) -> Counts {
        let removed = std::mem::take(&mut self.removed);
        let mut added: Vec<Option<Entry>> = std::mem::take(&mut self.added).into_iter().map(Some).collect();
        let removed = self.other_forms(removed, &mut added, &mut each);
        let places = self.moves(&removed, &added);
        for (old, place) in removed.into_iter().zip(places) {
            match place.and_then(|place| added[place].take()) {
                Some(new) => self.judge(Status::Moved, Some(old), Some(new), &mut each),
                None => self.judge(Status::Removed, Some(old), None, &mut each),
            }
        }
        for new in added.into_iter().flatten() {
            self.judge(Status::Added, None, Some(new), &mut each);
        }
        self.counts
    }

    /// The manifest's entry of this path. Entries before it count as removed.
    fn skip_to(&mut self, path: &[u8]) -> Result<Option<Entry>, Error> {
        while let Some(old) = self.next_old()? {
            match by_components(&old.path, path) {
                Ordering::Less => self.miss(old),
                Ordering::Equal => return Ok(Some(old)),
                Ordering::Greater => {
                    self.ahead = Some(old);
                    break;
                }
            }
        }
        Ok(None)
    }

    fn next_old(&mut self) -> Result<Option<Entry>, Error> {
        if let Some(old) = self.ahead.take() {
            return Ok(Some(old));
        }
        loop {
            match self.old.next().transpose()? {
                Some(old) if !self.sieves[0].wants(&old) => {}
                next => return Ok(next),
            }
        }
    }

    /// Handles an entry of the manifest that was not found.
    fn miss(&mut self, old: Entry) {
        match &self.unreadable {
            // The entry may be there. Its folder was reported.
            Some((folder, status)) if is_below(&old.path, folder) => self.counts.0[*status as usize] += 1,
            _ if self.sieves[0].wants_length(&old) => self.removed.push(old),
            _ => {}
        }
    }

    fn judge(&mut self, status: Status, old: Option<Entry>, new: Option<Entry>, each: &mut impl FnMut(Difference)) {
        self.counts.0[status as usize] += 1;
        if status != Status::Same {
            each(Difference { status, old, new });
        }
    }

    fn compare(&self, old: &Entry, new: &Entry) -> Status {
        match (&old.kind, &new.kind) {
            (_, Kind::Unread(reason)) => unread(*reason),
            (Kind::Unread(_), _) => Status::Unrecorded,
            (
                Kind::File { nbytes: old_nbytes, mtime_ns: old_mtime, digests: old },
                Kind::File { nbytes, mtime_ns, digests: new },
            ) => {
                let is_read = !old.is_empty() && !new.is_empty();
                let is_equal = self.shared.iter().all(|&(one, other)| old.get(one) == new.get(other));
                match (is_read, old_nbytes == nbytes && (!is_read || is_equal), old_mtime == mtime_ns) {
                    (_, true, true) => Status::Same,
                    (true, true, false) => Status::Touched,
                    (true, false, true) if old_nbytes == nbytes => Status::Rotted,
                    _ => Status::Changed,
                }
            }
            (old, new) if old == new => Status::Same,
            _ => Status::Changed,
        }
    }

    /// Judges removed entries whose paths are there in another Unicode form, and in one only. Returns the others.
    fn other_forms(
        &mut self,
        removed: Vec<Entry>,
        added: &mut [Option<Entry>],
        each: &mut impl FnMut(Difference),
    ) -> Vec<Entry> {
        let key = |entry: &Entry| if entry.path.is_ascii() { None } else { nfc(&entry.path) };
        let (mut old, mut new): (HashMap<_, u32>, HashMap<_, Vec<usize>>) = (HashMap::new(), HashMap::new());
        removed.iter().filter_map(key).for_each(|key| *old.entry(key).or_default() += 1);
        for (index, entry) in added.iter().enumerate() {
            if let Some(key) = entry.as_ref().and_then(key) {
                new.entry(key).or_default().push(index);
            }
        }
        let mut left = Vec::new();
        for entry in removed {
            let key = key(&entry);
            let place = key.as_ref().filter(|key| old.get(*key) == Some(&1)).and_then(|key| new.get(key));
            match place.map(Vec::as_slice) {
                Some(&[place]) if added[place].is_some() => {
                    let found = added[place].take();
                    let status = found.as_ref().map_or(Status::Removed, |found| self.compare(&entry, found));
                    let status = if status == Status::Same { Status::Touched } else { status };
                    self.judge(status, Some(entry), found, each);
                }
                _ => left.push(entry),
            }
        }
        left
    }

    /// For each removed file, the added file that it has become.
    fn moves(&self, removed: &[Entry], added: &[Option<Entry>]) -> Vec<Option<usize>> {
        let mut places = vec![None; removed.len()];
        let mut is_taken = vec![false; added.len()];
        for with_name in [true, false] {
            let mut waiting: HashMap<_, VecDeque<usize>> = HashMap::new();
            for (index, new) in added.iter().enumerate().filter(|(index, _)| !is_taken[*index]) {
                let Some(new) = new else { continue };
                if let Some(content) = content(new, self.shared.iter().map(|&(_, place)| place)) {
                    waiting.entry((content, with_name.then(|| new.name()))).or_default().push_back(index);
                }
            }
            for (old, place) in removed.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
                let Some(content) = content(old, self.shared.iter().map(|&(place, _)| place)) else { continue };
                *place = waiting.get_mut(&(content, with_name.then(|| old.name()))).and_then(VecDeque::pop_front);
                place.iter().for_each(|&index| is_taken[index] = true);
            }
        }
        places
    }
}

/// A key for a file's content: equal keys mean equal content. `None` for anything but a file, for an empty file, and
/// for one that was not read.
fn content(entry: &Entry, places: impl Iterator<Item = usize>) -> Option<(u64, Vec<Hash>)> {
    match &entry.kind {
        Kind::File { nbytes, digests, .. } if *nbytes > 0 => {
            Some((*nbytes, places.map(|place| digests.get(place).copied()).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn unread(reason: Reason) -> Status {
    match reason {
        Reason::Unreadable => Status::Unreadable,
        Reason::Unstable => Status::Unstable,
    }
}

fn unread_now(entry: &Entry) -> Option<Status> {
    match entry.kind {
        Kind::Unread(reason) => Some(unread(reason)),
        _ => None,
    }
}
