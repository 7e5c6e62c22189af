// SPDX-License-Identifier: MIT OR Apache-2.0

//! The frame of `hashloom sum` and `hashloom check`: Ctrl-C, a progress bar, the exit status.

use std::io::ErrorKind;
use std::path::PathBuf;

use hashloom_files::FileError;
use hashloom_files::run::{Cancel, Options};
use hashloom_frame::exit::EXIT_INTERRUPTED;
use hashloom_frame::exit::{EXIT_ERROR, EXIT_PIPE};
use hashloom_frame::interrupt;
use hashloom_frame::printing::Console;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::reason;
use hashloom_frame::work::tell_origin;

/// How the work ended, from the best end to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// All is right.
    Right,
    /// Something is wrong, and was reported.
    Wrong,
    /// A file changed each time it was read, or an error leaves the answer open, which was reported.
    Unstable,
    /// The work was stopped before its end.
    Cancelled,
}

impl End {
    pub fn of(is_right: bool) -> End {
        if is_right { End::Right } else { End::Wrong }
    }

    /// Combines two ends: the worse counts.
    pub fn and(self, other: End) -> End {
        self.max(other)
    }

    /// The end of a file that could not be hashed.
    pub fn of_error(error: &FileError) -> End {
        if error.is_unstable() { End::Unstable } else { End::Wrong }
    }
}

/// Calls `does` with options and a console for `paths`. `total_nbytes` finds out how much there is to read, if that can
/// be known. Returns the exit status.
pub fn run(
    paths: &[PathBuf],
    options: Options,
    total_nbytes: impl FnOnce() -> Option<u64> + Send + 'static,
    does: impl FnOnce(&Options, &Console<'_>) -> End,
) -> Result<u8, String> {
    let stop = stop_flag(paths);
    let bar = Bar::of_bytes(false);
    let options = bar.watch(options.cancel(&stop));
    bar.set_total_later(total_nbytes);
    let console = Console::new(b"hashloom", &stop, Some(&bar));
    let (end, lost) = console.run(|console| does(&options, console));
    bar.finish();
    tell_origin(&options);
    match (lost.lines, end) {
        // The reader of the output has gone and the rest was not looked at, so nothing is known to be right.
        (Some(error), _) if error.kind() == ErrorKind::BrokenPipe => Ok(EXIT_PIPE),
        (Some(error), _) => Err(format!("standard output: {}", reason(&error))),
        (None, End::Cancelled) => Ok(EXIT_INTERRUPTED),
        (None, End::Unstable) => Ok(EXIT_ERROR),
        (None, End::Wrong) => Ok(1),
        (None, End::Right) => Ok(0),
    }
}

/// Returns the flag that Ctrl-C sets. A thread that waits for standard input would not see the flag; in that case the
/// signal itself ends the program.
fn stop_flag(paths: &[PathBuf]) -> Cancel {
    if paths.iter().any(|path| path.as_os_str() == "-") { Cancel::new() } else { interrupt::flag_and_end() }
}
