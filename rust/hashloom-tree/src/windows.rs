// SPDX-License-Identifier: MIT OR Apache-2.0

//! An input in windows of one length, for trees whose leaves are more than bytes with a head and a tail.
//!
//! The threads take turns to read the next window, front to back, and each works on its own window while others read.
//! The results are handed on in order.

use std::io::Read;
use std::sync::Mutex;

use hashloom_files::read::buffer::{out_of_memory, zeros};
use hashloom_files::run::pool::Pool;
use hashloom_files::run::{InOrder, Options, lock, unlocked};

use super::leaves::{Failure, fill};

/// Most threads: one reads at a time, and no work here takes longer than reading 16 windows.
const THREADS_MAX: u64 = 16;

/// Calls `work` with each window and its offset, and `take` with the results, in order. All windows are whole except
/// the last; no window is empty. Returns the number of bytes. `known_nbytes` is the length, if it is known before.
pub(super) fn each_window<R: Send>(
    stream: &mut (dyn Read + Send),
    known_nbytes: Option<u64>,
    window_nbytes: usize,
    options: &Options,
    work: impl Fn(u64, &[u8]) -> R + Sync,
    take: impl FnMut(R) + Send,
) -> Result<u64, Failure> {
    let nwindows = known_nbytes.map_or(THREADS_MAX, |nbytes| nbytes.div_ceil(window_nbytes as u64).min(THREADS_MAX));
    let nthreads = if nwindows < 2 { 1 } else { options.nthreads().min(nwindows as usize) };
    let pool = Pool::new(nthreads, options);
    // The number of the next window, its offset, and whether the stream has ended.
    let reading = Mutex::new((stream, 0, 0, Ok(false)));
    let taking = Mutex::new((InOrder::new(), take, 0));
    let has_memory = pool.work(
        || zeros(window_nbytes),
        |mut window| {
            loop {
                let mut turn = lock(&reading);
                if pool.must_stop() {
                    return;
                }
                let (stream, next, offset, has_ended) = &mut *turn;
                let (number, start) = (*next, *offset);
                let Ok(false) = has_ended else { return };
                let read = fill(*stream, &mut window, start, options);
                *has_ended = read.map(|nbytes| {
                    *offset += nbytes as u64;
                    nbytes < window_nbytes
                });
                let nbytes = (*offset - start) as usize;
                *next += 1;
                drop(turn);
                if nbytes == 0 {
                    return;
                }
                let result = work(start, &window[..nbytes]);
                let mut taking = lock(&taking);
                let (order, take, done) = &mut *taking;
                order.put(number, (nbytes, result));
                while let Some((nbytes, result)) = order.take() {
                    take(result);
                    *done += nbytes as u64;
                    options.tell(*done, None);
                }
            }
        },
    );
    if !has_memory {
        return Err(Failure::Read { offset: 0, error: out_of_memory() });
    }
    if options.canceller().is_cancelled() {
        return Err(Failure::Cancelled);
    }
    let (_, _, nbytes, has_ended) = unlocked(reading);
    has_ended.map(|_| nbytes)
}
