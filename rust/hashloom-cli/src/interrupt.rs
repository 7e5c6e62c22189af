// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ctrl-C: long work stops, says how far it has come, and exits with [`EXIT_INTERRUPTED`].

use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// As shells count it: 128 and the number of SIGINT.
pub const EXIT_INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned. A second one ends the program at once.
pub fn flag() -> &'static AtomicBool {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            output::exit(EXIT_INTERRUPTED);
        }
    };
    // Where signals cannot be caught they end the program, which has nothing half-written at any time.
    let _ = ctrlc::set_handler(handler);
    &STOP
}
