// SPDX-License-Identifier: MIT OR Apache-2.0

//! What `hashloom sum` and `hashloom check` have around their work: Ctrl-C, a progress bar, the exit status.

use std::io::ErrorKind;
use std::path::PathBuf;

use hashloom_engine::run::{Cancel, Options};

use super::console::Console;
use super::summing::reason;
use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::progress::Bar;
use crate::work::Work;
use crate::{EXIT_ERROR, EXIT_PIPE};

/// How work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All is as it is to be.
    Right,
    /// Something is not, and was told.
    Wrong,
    /// A file changed each time that it was read, and this was told.
    Unstable,
    /// It did not come to its end.
    Cancelled,
}

impl End {
    pub fn of(is_right: bool) -> End {
        if is_right { End::Right } else { End::Wrong }
    }

    /// Of both together.
    pub fn and(self, other: End) -> End {
        match (self, other) {
            (End::Cancelled, _) | (_, End::Cancelled) => End::Cancelled,
            (End::Unstable, _) | (_, End::Unstable) => End::Unstable,
            (End::Wrong, _) | (_, End::Wrong) => End::Wrong,
            (End::Right, End::Right) => End::Right,
        }
    }
}

/// The paths, or standard input if there are none.
pub fn or_stdin(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() { vec!["-".into()] } else { paths.to_vec() }
}

/// Does `work` on `paths`. Returns the exit status.
pub fn run(paths: &[PathBuf], work: &Work, does: impl FnOnce(&Options, &Console<'_>) -> End) -> Result<u8, String> {
    let stop = stop_flag(paths);
    // How much there is to do is not known before it is done.
    let bar = Bar::new(0, "{spinner} {binary_bytes}  {binary_bytes_per_sec}");
    let mut options = work.options().cancel(&stop);
    if bar.is_wanted() {
        let bar = bar.clone();
        options = options.progress(move |progress| bar.set(progress.nbytes));
    }
    let console = Console::new(b"hashloom", &stop, Some(&bar));
    let (end, lost) = console.run(|console| does(&options, console));
    bar.finish();
    match (lost.lines, end) {
        // Nobody reads the output any more, and the rest was not looked at: nothing is known to be right.
        (Some(error), _) if error.kind() == ErrorKind::BrokenPipe => Ok(EXIT_PIPE),
        (Some(error), _) => Err(format!("standard output: {}", reason(&error))),
        (None, End::Cancelled) => Ok(EXIT_INTERRUPTED),
        (None, End::Unstable) => Ok(EXIT_ERROR),
        (None, End::Wrong) => Ok(1),
        (None, End::Right) => Ok(0),
    }
}

/// Set by Ctrl-C. While standard input is waited for a flag would not be seen, and there the signal itself is right.
fn stop_flag(paths: &[PathBuf]) -> Cancel {
    if paths.iter().any(|path| path.as_os_str() == "-") { Cancel::new() } else { interrupt::flag_and_end() }
}
