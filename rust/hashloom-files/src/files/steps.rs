// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns a sequence of files, with notes between them, into a sequence of results with the notes at the same places.
//!
//! The engine draws files before the files ahead of them are hashed. A note between two files (a line of a list is not
//! a checksum, a folder cannot be read) waits with the file after it. The work is cut into several runs of the engine
//! in two cases: when too much would wait, and before standard input. Standard input may block a thread that has other
//! files open, and may be named twice.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::batch::may_be_shared;
use super::{FileError, Hashed, Request, Source, hash_files};
use crate::run::{Options, lock};

/// The greatest number of notes that wait for one file.
const NOTES_MAX: usize = 1 << 12;

/// The greatest number of bytes of names that wait. A hostile list has long names.
const NAMES_MAX_NBYTES: usize = 16 << 20;

/// A file to hash, or a note for its place among the results: see [`hash_steps`].
#[derive(Debug)]
pub enum Step<T, N> {
    /// A file.
    Hash(Request<T>),
    /// Something that comes back as it is.
    Note(N),
}

/// A result of [`hash_steps`].
#[derive(Debug)]
pub enum Event<T, N> {
    /// A file's result.
    Hashed(Request<T>, Result<Hashed, FileError>),
    /// The note of a step.
    Note(N),
}

/// Hashes files as [`hash_files`] does, and hands back the notes that stand between them, each in its place. Returns
/// false if the run was cancelled.
///
/// Standard input is begun when all files before it are done, and may be there several times.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_files::{Event, Request, Source, Step, hash_steps};
///
/// let abc = || Step::Hash(Request::digest(Source::memory("abc"), Algorithm::Sha1));
/// let mut lines = Vec::new();
/// hash_steps([abc(), Step::Note("a folder"), abc()].into_iter(), &Options::new(), |event| match event {
///     Event::Hashed(request, _) => lines.push(request.source.to_string()),
///     Event::Note(note) => lines.push(note.to_owned()),
/// });
/// assert_eq!(lines, ["memory", "a folder", "memory"]);
/// ```
pub fn hash_steps<T: Send, N: Send>(
    steps: impl Iterator<Item = Step<T, N>> + Send,
    options: &Options,
    mut each: impl FnMut(Event<T, N>) + Send,
) -> bool {
    let mut steps = steps.fuse();
    // Each run of the engine counts from 0; what is told goes on.
    let (before, now) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let options = &if options.has_progress() {
        options.clone().progress({
            let (options, before, now) = (options.clone(), before.clone(), now.clone());
            move |progress| {
                now.fetch_max(progress.nbytes, Ordering::Relaxed);
                options.tell(before.load(Ordering::Relaxed) + progress.nbytes, None);
            }
        })
    } else {
        options.clone()
    };
    let names = Names(Mutex::default(), options);
    let mut held = None;
    let mut is_at_end = false;
    while !is_at_end {
        let mut notes = Vec::new();
        let mut is_first = true;
        // A single file needs no other thread, and no room for others, unless threads can share it.
        held = held.or_else(|| steps.next());
        let is_last = steps.size_hint().1 == Some(0);
        let is_single = is_last && matches!(&held, Some(Step::Hash(request)) if !may_be_shared(request));
        let (most, single) = if is_single { (1, options.clone().threads(1)) } else { (usize::MAX, options.clone()) };
        let names_nbytes = AtomicUsize::new(0);
        let requests = std::iter::from_fn(|| {
            while notes.len() < NOTES_MAX && names_nbytes.load(Ordering::Relaxed) < NAMES_MAX_NBYTES {
                match held.take().or_else(|| steps.next()) {
                    Some(Step::Note(note)) => notes.push(note),
                    Some(Step::Hash(request)) => {
                        if matches!(request.source, Source::Stdin) && !is_first {
                            held = Some(Step::Hash(request));
                            return None;
                        }
                        is_first = false;
                        names.add(&request.source);
                        names_nbytes.fetch_add(name_nbytes(&request.source), Ordering::Relaxed);
                        let Request { source, methods, tag } = request;
                        return Some(Request { source, methods, tag: (std::mem::take(&mut notes), tag) });
                    }
                    None => {
                        is_at_end = true;
                        return None;
                    }
                }
            }
            None
        });
        let summary = hash_files(requests.take(most), &single, |request, result| {
            let Request { source, methods, tag: (notes, tag) } = request;
            names_nbytes.fetch_sub(name_nbytes(&source), Ordering::Relaxed);
            names.take();
            notes.into_iter().for_each(|note| each(Event::Note(note)));
            each(Event::Hashed(Request { source, methods, tag }, result));
        });
        if summary.cancelled {
            return false;
        }
        if is_single {
            // A hint that was wrong loses no step.
            held = steps.next();
            is_at_end = held.is_none();
        }
        before.fetch_add(now.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        notes.into_iter().for_each(|note| each(Event::Note(note)));
    }
    true
}

/// The files without a result, for [`Options::naming`].
struct Names<'a>(Mutex<VecDeque<PathBuf>>, &'a Options);

impl Names<'_> {
    fn add(&self, source: &Source) {
        let Some(name) = self.1.namer() else { return };
        let mut names = lock(&self.0);
        names.push_back(source.path().unwrap_or(Path::new("")).to_owned());
        if names.len() == 1 {
            name(&names[0]);
        }
    }

    fn take(&self) {
        let Some(name) = self.1.namer() else { return };
        let mut names = lock(&self.0);
        names.pop_front();
        names.front().into_iter().for_each(|next| name(next));
    }
}

fn name_nbytes(source: &Source) -> usize {
    match source {
        Source::Path(path) => path.as_os_str().len(),
        _ => 0,
    }
}
