// SPDX-License-Identifier: MIT OR Apache-2.0

//! Threads that convert blocks, and print the results in the order of the blocks.
//!
//! A thread reads a block, converts it, and waits until the blocks before it are printed. Each thread has one block, so
//! memory is bounded.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use hashloom_files::run::join;
use hashloom_frame::stdio::{Stderr, Stdout, write_lines};
use hashloom_frame::style;

use crate::{Block, Convert, Next, Output, Reader};

/// How blocks are read and printed.
#[derive(Clone, Copy)]
pub struct Plan {
    pub nthreads: usize,
    pub block_nbytes: usize,
    /// The output is digests without lines: the first fault ends it, as the place of a digest tells its key.
    pub is_raw: bool,
    /// Blocks are overwritten as soon as they are converted.
    pub is_secret: bool,
    /// What an item is called in messages, such as "line".
    pub item: &'static str,
}

/// How it ended.
#[derive(Debug, Default)]
pub struct End {
    /// Whether a line or row is not right.
    pub has_fault: bool,
    /// Whether a file could not be read to its end.
    pub has_trouble: bool,
    /// Why output is missing, if any is.
    pub lost: Option<io::Error>,
}

struct State {
    reader: Reader,
    /// Number of blocks read.
    nread: u64,
}

struct Printed<'a> {
    /// The line before all others, if it is still to be printed. If no file can be opened, nothing is printed.
    header: Option<&'a str>,
    /// Number of blocks printed.
    nblocks: u64,
    end: End,
}

struct Shared<'a> {
    plan: Plan,
    state: Mutex<State>,
    printed: Mutex<Printed<'a>>,
    turn: Condvar,
    /// No thread waits or reads any more. It is set while `printed` is locked, and read without the lock: a thread can
    /// read a block while another prints.
    is_over: AtomicBool,
    /// Makes the converter of a thread.
    make: &'a (dyn Fn() -> Box<dyn Convert + 'a> + Sync),
}

/// A panic elsewhere is passed on when all threads have ended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts and prints all blocks after the line `header`.
pub fn run<'a>(
    plan: Plan,
    header: &'a str,
    reader: Reader,
    make: &'a (dyn Fn() -> Box<dyn Convert + 'a> + Sync),
) -> End {
    let state = Mutex::new(State { reader, nread: 0 });
    let printed = Mutex::new(Printed { header: Some(header), nblocks: 0, end: End::default() });
    let shared = Shared { plan, state, printed, turn: Condvar::new(), is_over: false.into(), make };
    std::thread::scope(|scope| {
        // If the system has no memory for all threads, fewer work.
        let begin = |_| std::thread::Builder::new().name("address".into()).spawn_scoped(scope, || shared.work()).ok();
        let others: Vec<_> = (1..plan.nthreads).map_while(begin).collect();
        shared.work();
        join(others);
    });
    let mut printed = shared.printed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !printed.end.has_trouble && printed.end.lost.is_none() {
        printed.header();
    }
    printed.end
}

impl Printed<'_> {
    /// Prints the header, if it is still to be printed.
    fn header(&mut self) {
        if let Some(Err(error)) = self.header.take().map(|header| Stdout.write_all(header.as_bytes())) {
            self.end.lost.get_or_insert(error);
        }
    }
}

impl Shared<'_> {
    fn work(&self) {
        // A panic drops this too; else the other threads would wait for ever.
        let panics = Panics(self);
        let (mut block, mut output) = (Block::new(self.plan.block_nbytes), Output::default());
        let mut converter = (self.make)();
        loop {
            let (found, number) = {
                let mut state = lock(&self.state);
                if self.is_over.load(Ordering::Relaxed) {
                    break;
                }
                let found = state.reader.next(&mut block);
                state.nread += 1;
                (found, state.nread - 1)
            };
            let trouble = match found {
                Next::End => break,
                Next::Block => {
                    converter.convert(&block, &mut output);
                    None
                }
                Next::Trouble(message) => Some(message),
            };
            if self.plan.is_secret {
                block.wipe();
            }
            let mut printed = lock(&self.printed);
            while printed.nblocks != number && !self.is_over.load(Ordering::Relaxed) {
                printed = self.turn.wait(printed).unwrap_or_else(PoisonError::into_inner);
            }
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            if trouble.is_none() {
                printed.header();
            }
            self.print(&mut printed.end, &block, &mut output, trouble);
            printed.nblocks += 1;
            let End { has_fault, has_trouble, lost } = &printed.end;
            if lost.is_some() || self.plan.is_raw && (*has_fault || *has_trouble) {
                self.is_over.store(true, Ordering::Relaxed);
            }
            self.turn.notify_all();
        }
        std::mem::forget(panics);
    }

    fn print(&self, end: &mut End, block: &Block, output: &mut Output, trouble: Option<String>) {
        if end.lost.is_some() {
            return;
        }
        let written =
            if self.plan.is_raw { Stdout.write_all(&output.bytes) } else { write_lines(&output.bytes, b'\n') };
        output.bytes.clear();
        if let Err(error) = written {
            end.lost = Some(error);
            return;
        }
        end.has_fault |= !output.faults.is_empty();
        end.has_trouble |= trouble.is_some();
        let faults = output.faults.drain(..);
        let faults = faults.map(|(number, fault)| format!("{}: {} {number}: {fault}", block.name, self.plan.item));
        let end = if self.plan.is_raw { "; --raw prints nothing of what follows" } else { "" };
        for message in faults.chain(trouble) {
            // Best effort: if standard error is closed, the exit status still tells.
            let _ = Stderr.write_all(format!("{} {message}{end}\n", style::error()).as_bytes());
        }
    }
}

/// Dropping this ends all threads.
struct Panics<'a, 'b>(&'a Shared<'b>);

impl Drop for Panics<'_, '_> {
    fn drop(&mut self) {
        let printed = lock(&self.0.printed);
        self.0.is_over.store(true, Ordering::Relaxed);
        drop(printed);
        self.0.turn.notify_all();
    }
}
