// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree`: Merkle roots of files. This module has what all kinds share; each kind has a module.

mod check;
mod dmverity;
mod fsverity;
mod log;
mod plain;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, Subcommand};
use hashloom::Algorithm;
use hashloom_files::Source;
use hashloom_files::paths::portable;
use hashloom_files::run::{Cancel, Options};
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INTERRUPTED, STATUSES};
use hashloom_frame::interrupt;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::{display, failed};
use hashloom_frame::{stdio, style};

use crate::TreeError;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Tree {
    Fsverity(fsverity::Fsverity),
    /// Make or check the root hash and hash file of a read-only block device, as veritysetup does
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Dmverity {
        #[command(subcommand)]
        command: dmverity::Command,
    },
    /// Print roots of transparency logs, and make and check proofs of inclusion and consistency
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end(), visible_alias = "ct")]
    Rfc6962 {
        #[command(subcommand)]
        command: log::Command,
    },
    S3(plain::S3),
    Bep52(plain::Bep52),
    Cid(plain::Cid),
    Commp(plain::Commp),
}

impl Tree {
    /// Returns the hash functions.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        match self {
            Tree::Fsverity(options) => vec![options.algorithm],
            Tree::Dmverity { command } => command.algorithm().into_iter().collect(),
            Tree::Rfc6962 { command } => vec![command.algorithm()],
            Tree::S3(options) => options.algorithm().into_iter().collect(),
            Tree::Bep52(_) | Tree::Cid(_) | Tree::Commp(_) => vec![Algorithm::Sha256],
        }
    }
}

/// Returns the exit status.
pub fn run(command: &Tree) -> Result<u8, String> {
    match command {
        Tree::Fsverity(options) => fsverity::run(options),
        Tree::Dmverity { command } => dmverity::run(command),
        Tree::Rfc6962 { command } => log::run(command),
        Tree::S3(options) => plain::s3(options),
        Tree::Bep52(options) => plain::bep52(options),
        Tree::Cid(options) => plain::cid(options),
        Tree::Commp(options) => plain::commp(options),
    }
}

/// Options of all kinds.
#[derive(Debug, Args)]
struct Common {
    /// Print one JSON object a line instead
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    threads: hashloom_frame::work::Threads,
}

/// Returns true if FILE is `-`, which is standard input.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Why there is no result.
enum Failed {
    Interrupted,
    Message(String),
}

impl Failed {
    /// Returns the exit status.
    fn tell(self) -> u8 {
        match self {
            Failed::Interrupted => EXIT_INTERRUPTED,
            Failed::Message(message) => {
                // Best effort: if standard error is closed, the exit status still tells.
                let _ = writeln!(io::stderr(), "{} {message}", style::error());
                EXIT_ERROR
            }
        }
    }

    fn of(path: &Path, error: TreeError) -> Failed {
        match error {
            TreeError::Cancelled => Failed::Interrupted,
            // A wrong option is not the file's fault.
            TreeError::Parameter(fault) => Failed::Message(fault.to_string()),
            error => Failed::Message(format!("{}: {error}", shown_name(path))),
        }
    }
}

fn shown_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { display(path).to_string() }
}

/// Readings of a file that changes each time before giving up, as in all commands.
const READINGS_MAX: usize = 3;

/// Hashes with a progress bar, until Ctrl-C.
struct Work<'a> {
    common: &'a Common,
    stop: Cancel,
    bar: Bar,
    /// Bytes of the files hashed so far.
    done: Arc<AtomicU64>,
}

impl<'a> Work<'a> {
    /// `paths` are the files that will be hashed.
    fn new(common: &'a Common, paths: &[PathBuf]) -> Work<'a> {
        let total = paths.iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len());
        let bar = Bar::of_bytes(false);
        bar.set_total(total.fold(0, u64::saturating_add));
        Work { common, stop: interrupt::flag_and_end(), bar, done: Arc::default() }
    }

    /// Calls `hash` with the options.
    fn with<R>(&self, hash: impl FnOnce(&Options) -> R) -> R {
        let before = self.done.load(Ordering::Relaxed);
        let mut options = self.common.threads.options().cancel(&self.stop);
        if self.bar.is_shown() {
            let (bar, done) = (self.bar.clone(), self.done.clone());
            options = options.progress(move |progress| {
                done.fetch_max(before + progress.nbytes, Ordering::Relaxed);
                bar.set(before + progress.nbytes);
            });
        }
        hash(&options)
    }

    /// Opens a FILE and calls `hash` on it once, even if the file changes: results that `hash` has kept cannot be taken
    /// back.
    fn file_once<R>(
        &self,
        path: &Path,
        hash: impl FnOnce(Source, &Options) -> Result<R, TreeError>,
    ) -> Result<R, Failed> {
        let mut hash = Some(hash);
        self.file(path, |source, options| hash.take().map_or(Err(TreeError::Changed), |hash| hash(source, options)))
    }

    /// Opens a FILE and calls `hash` on it; calls it again, from the beginning, if the file changes during the call.
    fn file<R>(
        &self,
        path: &Path,
        mut hash: impl FnMut(Source, &Options) -> Result<R, TreeError>,
    ) -> Result<R, Failed> {
        let mut nreadings = 1;
        self.bar.name(&portable(path));
        loop {
            let source = if is_stdin(path) { Source::Stdin } else { open(path)?.into() };
            match self.with(|options| hash(source, options)) {
                Err(TreeError::Changed) if nreadings < READINGS_MAX && !is_stdin(path) => nreadings += 1,
                other => return other.map_err(|error| Failed::of(path, error)),
            }
        }
    }

    /// Hashes each FILE and prints the result. A failure is printed, and the other files go on. Returns the exit
    /// status.
    fn each(&self, paths: &[PathBuf], mut one: impl FnMut(&Path) -> Result<String, Failed>) -> Result<u8, String> {
        let mut status = 0;
        for path in paths {
            match one(path) {
                Ok(line) => self.bar.suspend(|| hashloom_frame::output::print(|out| out.write_all(line.as_bytes())))?,
                Err(Failed::Interrupted) => {
                    status = EXIT_INTERRUPTED;
                    break;
                }
                Err(failed) => status = self.bar.suspend(|| failed.tell()),
            }
        }
        self.bar.finish();
        Ok(status)
    }
}

fn opened_stdin() -> Result<io::Stdin, TreeError> {
    stdio::stdin().map_err(|error| TreeError::Read { offset: 0, error })
}

fn open(path: &Path) -> Result<File, Failed> {
    let failed = |error: io::Error| Failed::Message(failed(path, &error));
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        Err(Failed::Message(format!("{}: expected a file, found a folder", display(path))))
    } else {
        Ok(file)
    }
}
