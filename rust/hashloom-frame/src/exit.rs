// SPDX-License-Identifier: MIT OR Apache-2.0

//! The exit statuses, and the end of the program by a signal.

/// Some piece or file is missing or bad.
pub const EXIT_INCOMPLETE: u8 = 1;
/// Wrong usage, a bad torrent, or a file that could not be read. clap exits with this status too.
pub const EXIT_ERROR: u8 = 2;
/// The reader of the output has gone. Shells report this status for programs that SIGPIPE ends.
pub const EXIT_PIPE: u8 = 128 + 13;

/// The statuses of a group of commands, for its help.
pub const STATUSES: &str = include_str!("statuses.txt");

/// 128 plus the number of SIGINT, as shells report the signal. All commands return this status if a signal stopped
/// them, whichever signal it was: see [`end`].
pub const EXIT_INTERRUPTED: u8 = 130;

/// Ends the program. If a signal has stopped the work, the program ends by that signal: a shell then also stops the
/// loop that the program ran in, and a supervisor sees the signal that it sent.
pub fn end(status: u8) -> ! {
    #[cfg(unix)]
    if status == EXIT_INTERRUPTED {
        unix::end_by_signal();
    }
    std::process::exit(status.into())
}

#[cfg(unix)]
pub use unix::caught;

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicI32, Ordering};

    use signal_hook::low_level::emulate_default_handler;

    /// The first signal caught; 0: none so far.
    static CAUGHT: AtomicI32 = AtomicI32::new(0);

    /// Notes a signal that has stopped the work.
    pub fn caught(signal: i32) {
        let _ = CAUGHT.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Ends the program by the signal that was caught, if any.
    pub fn end_by_signal() {
        let signal = CAUGHT.load(Ordering::Relaxed);
        if signal != 0 {
            // If this fails, the exit status tells it.
            let _ = emulate_default_handler(signal);
        }
    }
}
