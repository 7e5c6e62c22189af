// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ctrl-C: long work stops, says how far it has come, and exits with [`EXIT_INTERRUPTED`].

use std::sync::LazyLock;
use std::time::Duration;

use hashloom_engine::run::Cancel;

use crate::output;

/// As shells count it: 128 and the number of SIGINT.
pub const EXIT_INTERRUPTED: u8 = 130;

static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// From now on SIGINT, SIGTERM and SIGHUP cancel what is returned. A second one ends the program at once.
pub fn flag() -> Cancel {
    flag_and(|| ())
}

/// The same for work that has nothing to save, and may wait where no flag is seen: for a disk that does not answer, for a
/// list that comes from a pipe. What has not ended soon after the first signal is ended.
pub fn flag_and_end() -> Cancel {
    const PATIENCE: Duration = Duration::from_secs(1);
    let end = || {
        std::thread::sleep(PATIENCE);
        output::exit(EXIT_INTERRUPTED);
    };
    // Where there can be no thread it takes a second signal.
    flag_and(move || drop(std::thread::Builder::new().name("interrupt".into()).spawn(end)))
}

/// The first signal also does `first`.
fn flag_and(first: impl Fn() + Send + 'static) -> Cancel {
    let handler = move || {
        if STOP.is_cancelled() {
            output::exit(EXIT_INTERRUPTED);
        }
        STOP.cancel();
        first();
    };
    // Where signals cannot be caught they end the program, which has nothing half-written at any time.
    let _ = ctrlc::set_handler(handler);
    STOP.clone()
}
