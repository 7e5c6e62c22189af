// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ctrl-C: long work stops, says how far it has come, and exits with [`EXIT_INTERRUPTED`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::output;

/// 128 plus the number of SIGINT, as shells report it.
pub const EXIT_INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP set the returned flag. A second signal ends the program at once.
pub fn flag() -> &'static AtomicBool {
    flag_and(|| ())
}

/// The same as [`flag`], for work that has nothing to save and may block where it cannot look at the flag: on a disk
/// that does not answer, or on a list that comes from a pipe. A second after the first signal the program ends.
pub fn flag_and_end() -> &'static AtomicBool {
    const PATIENCE: Duration = Duration::from_secs(1);
    let end = || {
        std::thread::sleep(PATIENCE);
        output::exit(EXIT_INTERRUPTED);
    };
    // If no thread can be started, it takes a second signal.
    flag_and(move || drop(std::thread::Builder::new().name("interrupt".into()).spawn(end)))
}

/// The first signal also calls `first`.
fn flag_and(first: impl Fn() + Send + 'static) -> &'static AtomicBool {
    let handler = move || {
        if STOP.swap(true, Ordering::Relaxed) {
            output::exit(EXIT_INTERRUPTED);
        }
        first();
    };
    // If signals cannot be caught, they end the program. The program never has half-written files.
    let _ = ctrlc::set_handler(handler);
    &STOP
}
