// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of every command that reads and hashes files, and of those that only compute.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::Once;

use clap::Args;
use hashloom_files::read::origin::{FromMemory, Origin};
use hashloom_files::run::Options;

use crate::numbers::{Nbytes, from_one};
use crate::style;
use crate::text::reason;
use crate::units::size;

/// How files are read and hashed; no digest depends on it.
#[derive(Debug, Clone, Args)]
pub struct Work {
    /// Read at most BYTES a second, such as 100M, all threads together
    #[arg(long, value_name = "BYTES", value_parser = rate)]
    pub rate: Option<Nbytes>,

    #[command(flatten)]
    pub threads: Threads,
}

/// How a command reads files that it may read past the system's memory.
#[derive(Debug, Clone, Args)]
pub struct Reading {
    #[command(flatten)]
    work: Work,

    /// Read contents from the disk and not from the system's memory, such as right after a copy: a file with which that
    /// is not possible is an error. Linux only
    #[arg(long)]
    uncached: bool,
}

impl Reading {
    /// Options for the engine.
    pub fn options(&self) -> Options {
        self.work.options().uncached(self.uncached)
    }

    /// Options for a check. If it `tells`, it says [at its end](tell_origin) where it has read.
    pub fn checking(&self, tells: bool) -> Options {
        let options = self.options();
        if self.uncached || !tells { options } else { options.count(&Origin::new()) }
    }
}

/// Says so on standard error if most of what was checked on sticks and the like was in memory.
pub fn tell_origin(options: &Options) {
    if let Some(found) = options.counted().and_then(Origin::from_memory) {
        let FromMemory { nbytes, nbytes_of_disks } = found;
        // Best effort: a failure changes nothing.
        let _ = writeln!(
            io::stderr().lock(),
            "note: of files on a removable disk, {} of {} were read from memory, not from the disk; --uncached reads the disk",
            size(nbytes - nbytes_of_disks),
            size(nbytes),
        );
    }
}

/// The threads that work.
#[derive(Debug, Clone, Args)]
pub struct Threads {
    /// Number of threads [default: one for each CPU; with --nice one]
    #[arg(long, value_name = "N", value_parser = from_one)]
    threads: Option<NonZeroUsize>,

    /// Leave room for other programs: work on one thread, with the lowest priority for the CPU and for the disk
    #[arg(long)]
    nice: bool,
}

impl Work {
    /// Options for the engine. Threads that are started later give way, if that is wanted.
    pub fn options(&self) -> Options {
        let rate = self.rate.map_or(0, |Nbytes(rate)| rate);
        self.threads.options().rate(rate)
    }
}

impl Threads {
    /// Sets the number of threads unless an option says something about it.
    pub fn or(&mut self, threads: NonZeroUsize) {
        if !self.nice {
            self.threads.get_or_insert(threads);
        }
    }

    /// Options for the engine. Threads that are started later give way, if that is wanted.
    pub fn options(&self) -> Options {
        if self.nice {
            static GIVEN: Once = Once::new();
            GIVEN.call_once(give_way);
        }
        Options::new().threads(self.threads.map_or(usize::from(self.nice), NonZeroUsize::get))
    }
}

/// Reads a number of bytes a second.
fn rate(text: &str) -> Result<Nbytes, String> {
    match text.parse()? {
        Nbytes(0) => Err("expected at least 1 byte a second".into()),
        rate => Ok(rate),
    }
}

/// Lowers the priorities of this thread, and of threads that it starts. A refusal of the system is a warning, as the
/// result is the same.
///
/// The nice value 19 and not SCHED_IDLE: every Unix has it, and a thread of SCHED_IDLE that gets no CPU at all may hold
/// a lock of the file system which the other program needs.
fn give_way() {
    let warn = |what: &str, error: &io::Error| {
        // Best effort: a failure changes nothing.
        let _ = writeln!(io::stderr(), "{} --nice: {what}: {}", style::warning(), reason(error));
    };
    if let Err(error) = system::lower_cpu() {
        warn("the priority for the CPU stays as it is", &error);
    }
    if let Err(error) = system::lower_io() {
        warn("the priority for the disk stays as it is", &error);
    }
}

#[cfg(unix)]
mod system {
    use std::io;

    /// The lowest priority.
    const NICE_MAX: i32 = 19;

    pub(super) fn lower_cpu() -> io::Result<()> {
        Ok(rustix::process::setpriority_process(None, NICE_MAX)?)
    }

    /// Sets the class in which the disk works for this thread only if it has no other work.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub(super) fn lower_io() -> io::Result<()> {
        use nix::libc::{SYS_ioprio_set, c_int, syscall};

        // From linux/ioprio.h.
        const WHO_PROCESS: c_int = 1;
        const THIS_THREAD: c_int = 0;
        const CLASS_IDLE: c_int = 3 << 13;
        // SAFETY: the arguments are numbers.
        match unsafe { syscall(SYS_ioprio_set, WHO_PROCESS, THIS_THREAD, CLASS_IDLE) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn lower_io() -> io::Result<()> {
        Err(io::Error::other("this system has none that hashloom knows"))
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    pub(super) fn lower_cpu() -> io::Result<()> {
        Err(io::Error::other("this system has none that hashloom knows"))
    }

    pub(super) fn lower_io() -> io::Result<()> {
        lower_cpu()
    }
}
