// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns a sequence of files, with notes between them, into a sequence of results with the notes at the same places.
//!
//! The engine draws files before the files ahead of them are hashed. A note between two files (a line of a list is not
//! a checksum, a folder cannot be read) waits with the file after it. The work is cut into several runs of the engine
//! in two cases: when too much would wait, and before standard input. Standard input may block a thread that has other
//! files open, and may be named twice.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashloom_engine::files::{FileError, Hashed, Request, Source, hash_files};
use hashloom_engine::run::Options;

/// The greatest number of notes that wait for one file.
const NOTES_MAX: usize = 1 << 12;

/// The greatest number of bytes of names that wait. A hostile list has long names.
const NAMES_MAX_NBYTES: usize = 16 << 20;

/// An input.
pub enum Step<T, N> {
    Hash(Request<T>),
    Note(N),
}

/// A result; results come in the order of the inputs.
pub enum Event<T, N> {
    Hashed(Request<T>, Result<Hashed, FileError>),
    Note(N),
}

/// Returns true if all steps were done, and false if the run was cancelled.
pub fn drive<T: Send, N: Send>(
    mut steps: impl Iterator<Item = Step<T, N>> + Send,
    options: &Options,
    mut each: impl FnMut(Event<T, N>) + Send,
) -> bool {
    let mut held = None;
    let mut is_at_end = false;
    while !is_at_end {
        let mut notes = Vec::new();
        let mut is_first = true;
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
        let summary = hash_files(requests, options, |request, result| {
            let Request { source, methods, tag: (notes, tag) } = request;
            names_nbytes.fetch_sub(name_nbytes(&source), Ordering::Relaxed);
            notes.into_iter().for_each(|note| each(Event::Note(note)));
            each(Event::Hashed(Request { source, methods, tag }, result));
        });
        if summary.cancelled {
            return false;
        }
        notes.into_iter().for_each(|note| each(Event::Note(note)));
    }
    true
}

fn name_nbytes(source: &Source) -> usize {
    match source {
        Source::Path(path) => path.as_os_str().len(),
        _ => 0,
    }
}
