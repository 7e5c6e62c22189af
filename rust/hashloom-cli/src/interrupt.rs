// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ctrl-C: long work stops, says how far it has come, and exits with [`EXIT_INTERRUPTED`].

use std::sync::LazyLock;
use std::time::Duration;

use hashloom_engine::run::Cancel;

use crate::output;

/// 128 plus the number of SIGINT, as shells report it.
pub const EXIT_INTERRUPTED: u8 = 130;

static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// From now on SIGINT, SIGTERM and SIGHUP cancel what is returned. A second one ends the program at once.
pub fn flag() -> Cancel {
    flag_and(|| ())
}

/// The same as [`flag`], for work that has nothing to save and may block where it cannot look at the flag: on a disk
/// that does not answer, or on a list that comes from a pipe. A second after the first signal the program ends.
pub fn flag_and_end() -> Cancel {
    const PATIENCE: Duration = Duration::from_secs(1);
    let end = || {
        std::thread::sleep(PATIENCE);
        output::exit(EXIT_INTERRUPTED);
    };
    // If no thread can be started, it takes a second signal.
    flag_and(move || drop(std::thread::Builder::new().name("interrupt".into()).spawn(end)))
}

/// The first signal also calls `first`.
fn flag_and(first: impl Fn() + Send + 'static) -> Cancel {
    let handler = move || {
        if STOP.is_cancelled() {
            output::exit(EXIT_INTERRUPTED);
        }
        STOP.cancel();
        first();
    };
    // If signals cannot be caught, they end the program. The program never has half-written files.
    let _ = ctrlc::set_handler(handler);
    STOP.clone()
}
