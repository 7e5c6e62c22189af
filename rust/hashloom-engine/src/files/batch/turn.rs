// SPDX-License-Identifier: MIT OR Apache-2.0

//! Long files on a disk that seeks are read one after the other.
//!
//! A hard disk moves its heads for each file that is read beside another one. A thread that finds a long file on such a
//! disk, and not in memory, takes its turn, keeps the turn while it reads the file to its end, and starts no other file
//! meanwhile. Hashing goes on beside it, on the other threads and on the same one while the system reads ahead. Short
//! files need one read each; the disk itself puts many such reads in order.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::read::device::{self, LONG_NBYTES};
use crate::read::open::is_in_memory;
use crate::run::pool::{LOOK, Pool};

/// After this many files in a row that needed no turn, threads stop to take one for each file.
const ENOUGH: usize = 64;

/// The right to read a disk that seeks, which one thread has at a time.
pub(super) struct Turns {
    is_taken: Mutex<bool>,
    free: Condvar,
    /// Number of files for which a turn is still to be taken; 0 until a file on such a disk is found.
    left: AtomicUsize,
}

/// The right to read, until dropped.
pub(super) struct Turn(Arc<Turns>);

impl Turns {
    pub(super) fn new() -> Arc<Turns> {
        Arc::new(Turns { is_taken: Mutex::new(false), free: Condvar::new(), left: AtomicUsize::new(0) })
    }

    /// Whether the last files were on a disk that seeks.
    pub(super) fn are_taken(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Notes whether a file must be read in a turn from `offset` on, and returns that.
    pub(super) fn note(&self, file: &File, offset: u64) -> bool {
        let nbytes = || file.metadata().map_or(0, |metadata| metadata.len());
        let is_long_and_slow = |nbytes| nbytes >= LONG_NBYTES && device::is_seen_to_seek(file, nbytes);
        if !is_in_memory(file, offset) && is_long_and_slow(nbytes()) {
            self.left.store(ENOUGH, Ordering::Relaxed);
            return true;
        }
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        false
    }

    /// Takes a turn; waits for it if `may_wait`. `None` if there is none now, or the pool must stop.
    pub(super) fn take(self: &Arc<Turns>, may_wait: bool, pool: &Pool) -> Option<Turn> {
        let mut is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *is_taken {
            if !may_wait || pool.must_stop() {
                return None;
            }
            is_taken = self.free.wait_timeout(is_taken, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_taken = true;
        Some(Turn(self.clone()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Cancel, Options};

    #[test]
    fn one_turn_at_a_time() {
        let (turns, cancel) = (Turns::new(), Cancel::new());
        let pool = Pool::new(1, &Options::new().cancel(&cancel));
        let first = turns.take(false, &pool).unwrap();
        assert!(turns.take(false, &pool).is_none());
        let waiting = std::thread::scope(|scope| {
            let other = scope.spawn(|| turns.take(true, &pool).is_some());
            drop(first);
            other.join().unwrap()
        });
        assert!(waiting);
        let _second = turns.take(false, &pool).unwrap();
        cancel.cancel();
        assert!(turns.take(true, &pool).is_none(), "a stop ends the wait");
    }

    #[test]
    fn short_files_and_files_in_memory_need_no_turn() {
        let turns = Turns::new();
        let file = tempfile::tempfile().unwrap();
        assert!(!turns.note(&file, 0) && !turns.are_taken());
        file.set_len(2 * LONG_NBYTES).unwrap();
        std::io::copy(&mut &file, &mut std::io::sink()).unwrap();
        assert!(!turns.note(&file, 0) && !turns.are_taken());
    }
}
