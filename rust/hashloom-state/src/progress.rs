// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file in which a command keeps its progress.

use std::io;
use std::path::Path;

use hashloom_frame::output::OwnFile;
use hashloom_frame::text::{display, failed, reason};

use crate::State;

/// The file in which a command keeps its progress.
#[derive(Debug)]
pub struct Progress {
    file: OwnFile,
    /// Length of the file, if this run has made it.
    made: Option<u64>,
}

impl Progress {
    /// Opens the state in the file, or makes it if nothing is there. A file that is not such a state stays as it is.
    /// The file is locked as long as the state is open.
    pub fn begin(path: &Path, subject: &str, secret: Option<&[u8]>) -> Result<(Progress, State), String> {
        let wrong = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => {
                format!("{}. It is not replaced: give another FILE, or remove it", failed(path, &error))
            }
            _ => failed(path, &error),
        };
        let (mut known, file) = OwnFile::open(path, true).map_err(wrong)?;
        if let Some(file) = file {
            if known.nbytes() == Some(0) {
                // A run makes its file with a first line.
                return Err(wrong(io::Error::new(io::ErrorKind::InvalidData, "the file is empty, and no state")));
            }
            let state = State::open(file, subject, secret).map_err(wrong)?;
            return Ok((Progress { file: known, made: None }, state));
        }
        let mut state = None;
        let made = known.write(|file| {
            // The state holds the lock as long as it has the file.
            state = Some(State::open(file.try_clone()?, subject, secret)?);
            Ok(())
        });
        made.map_err(|error| format!("{}; the run ends here", Progress::not_saved(path, &error)))?;
        let made = known.nbytes();
        Ok((Progress { file: known, made }, state.ok_or("a state that was not begun")?))
    }

    /// Removes the file: a later run would look at its entries in vain.
    pub fn end(self) -> io::Result<()> {
        self.file.remove()
    }

    /// Removes the file of a run that failed before it found out anything.
    pub fn failed(self) {
        if self.made.is_some() && self.file.nbytes() == self.made {
            // The failure itself is reported.
            let _ = self.file.remove();
        }
    }

    /// The message that the progress cannot be written to its file.
    pub fn not_saved(path: &Path, error: &io::Error) -> String {
        format!("{}: the progress cannot be saved: {}", display(path), reason(error))
    }
}
