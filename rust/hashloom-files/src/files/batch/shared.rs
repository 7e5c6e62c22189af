// SPDX-License-Identifier: MIT OR Apache-2.0

//! Long files of which threads without work hash parts, beside the thread that has the file in a lane.

use std::sync::{Arc, Mutex, Weak};

use crate::run::lock;

/// The least number of bytes that are left of a file that is shared.
pub(super) const WORTH_SHARING_NBYTES: u64 = 4 << 20;

/// The work on a file.
pub(super) trait Shared: Send + Sync {
    /// Does a part of the work, if there is one. `buffer` is the thread's own, and is empty at first.
    fn help(&self, buffer: &mut Vec<u8>) -> Help;
}

/// What came of such a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Help {
    Done,
    /// There is no part that nobody works on, but one may come.
    NotNow,
    /// There will be none.
    Over,
}

/// The files.
#[derive(Default)]
pub(super) struct SharedFiles(Mutex<Vec<Weak<dyn Shared>>>);

impl SharedFiles {
    pub(super) fn add<F: Shared + 'static>(&self, file: &Arc<F>) {
        let file: Weak<F> = Arc::downgrade(file);
        lock(&self.0).push(file);
    }

    /// Does a part of the work on one of the files. False if there is none.
    pub(super) fn help(&self, buffer: &mut Vec<u8>) -> bool {
        let mut at = 0;
        loop {
            let Some(file) = lock(&self.0).get(at).cloned() else { return false };
            match file.upgrade().map_or(Help::Over, |file| file.help(buffer)) {
                Help::Done => return true,
                Help::NotNow => at += 1,
                Help::Over => lock(&self.0).retain(|other| !Weak::ptr_eq(other, &file)),
            }
        }
    }
}
