// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ctrl-C and other signals: long work stops, says how far it has come, and the program ends by the signal.

use std::sync::LazyLock;
use std::time::Duration;

use hashloom_files::run::Cancel;

use crate::exit::EXIT_INTERRUPTED;
use crate::output;

static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// From now on SIGINT, SIGTERM and SIGHUP cancel the returned flag. A second signal ends the program at once. A signal
/// that the program was told to ignore, as by nohup, stays ignored.
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
    let _ = system::on_signals(handler);
    STOP.clone()
}

#[cfg(unix)]
mod system {
    use std::io;

    use nix::libc::{SIG_IGN, sigaction};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use crate::exit;

    /// Calls `handler` on a thread of its own for each signal.
    pub fn on_signals(handler: impl Fn() + Send + 'static) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)))?;
        let wait = move || {
            for signal in signals.forever() {
                exit::caught(signal);
                handler();
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
    }

    /// Returns true if the program was started with this signal ignored.
    #[allow(unsafe_code)]
    fn is_ignored(signal: i32) -> bool {
        // SAFETY: all zeros are a valid sigaction; a null pointer asks for the present one, which is written to `now`.
        unsafe {
            let mut now: sigaction = std::mem::zeroed();
            nix::libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == SIG_IGN
        }
    }
}

#[cfg(not(unix))]
mod system {
    pub fn on_signals(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(handler)
    }
}
