// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of every command that reads and hashes files, and of those that only compute.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use clap::Args;
use hashloom_files::read::origin::{FromMemory, Origin};
use hashloom_files::run::Options;

use crate::numbers::{Nbytes, from_one};
use crate::units::size;

/// The threads that work; no digest depends on their number.
#[derive(Debug, Clone, Args)]
pub struct Threads {
    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = from_one)]
    threads: Option<NonZeroUsize>,
}

impl Threads {
    /// Sets the number of threads unless the option does.
    pub fn or(&mut self, threads: NonZeroUsize) {
        self.threads.get_or_insert(threads);
    }

    /// Options for the engine.
    pub fn options(&self) -> Options {
        Options::new().threads(self.threads.map_or(0, NonZeroUsize::get))
    }
}

/// How a command reads files that it may read past the system's memory.
#[derive(Debug, Clone, Args)]
pub struct Reading {
    /// Read contents from the disk and not from the system's memory, such as right after a copy: a file with which that
    /// is not possible is an error. Linux only
    #[arg(long)]
    uncached: bool,

    #[command(flatten)]
    threads: Threads,
}

impl Reading {
    /// Options for the engine.
    pub fn options(&self) -> Options {
        self.threads.options().uncached(self.uncached)
    }

    /// Options for a check. If it `tells`, it says [at its end](tell_origin) where it has read.
    pub fn checking(&self, tells: bool) -> Options {
        let options = self.options();
        if self.uncached || !tells { options } else { options.count(&Origin::new()) }
    }
}

/// How a command checks files, perhaps beside other programs.
#[derive(Debug, Clone, Args)]
pub struct Checking {
    #[command(flatten)]
    reading: Reading,

    /// Read at most BYTES a second, such as 100M, all threads together
    #[arg(long, value_name = "BYTES", value_parser = rate)]
    rate: Option<Nbytes>,
}

impl Checking {
    /// Options for a check. If it `tells`, it says [at its end](tell_origin) where it has read.
    pub fn options(&self, tells: bool) -> Options {
        self.reading.checking(tells).rate(self.rate.map_or(0, |Nbytes(rate)| rate))
    }
}

/// Says so on standard error if most of what was checked on sticks and the like was in memory.
pub fn tell_origin(options: &Options) {
    if let Some(found) = options.counted().and_then(Origin::from_memory) {
        let FromMemory { nbytes, nbytes_of_disks } = found;
        // Best effort: a failure changes nothing.
        let _ = writeln!(
            io::stderr().lock(),
            "note: of files on a removable disk, {} of {} were read from memory, not from the disk; --uncached reads \
            the disk",
            size(nbytes - nbytes_of_disks),
            size(nbytes),
        );
    }
}

/// Reads a number of bytes a second.
fn rate(text: &str) -> Result<Nbytes, String> {
    match text.parse()? {
        Nbytes(0) => Err("expected at least 1 byte a second".into()),
        rate => Ok(rate),
    }
}
