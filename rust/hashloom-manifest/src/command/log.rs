// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest log`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use hashloom::{Algorithm, Hash, Hasher};
use hashloom_files::text::shown;
use hashloom_frame::exit::EXIT_INCOMPLETE;
use hashloom_frame::input::Kept;
use hashloom_frame::text::{display, failed, name, reason};
use hashloom_frame::units::date;
use hashloom_frame::{output, style};
use hashloom_signature::command::{Signer, Trusted, public_key};
use hashloom_signature::{Signed, file_name};

use crate::Reader;
use crate::log::{Entry, Log, LogError};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    Add(Add),
    Check(Check),
    Prove(Prove),
}

/// Add a manifest to a log as its newest entry, and sign the log.
///
/// A signature of MANIFEST that lies beside it must be right.
#[derive(Debug, Args)]
#[command(after_long_help = ADD_HELP)]
pub struct Add {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,

    /// The manifest
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    /// Sign LOG with this secret key of minisign or SLH-DSA. The entries that LOG has must be signed by the same key
    #[arg(long, value_name = "KEY")]
    sign: PathBuf,

    /// Begin LOG, which must not exist
    #[arg(long)]
    new: bool,

    /// A line about this entry, of up to 1000 bytes
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    comment: String,
}

const ADD_HELP: &str = "\
The log:
  Text: a first line with the format, a JSON object for each manifest, with the
  date and the SHA-256 of its file, and a signature of minisign or SLH-DSA. Its
  trusted comment has the head of the log: the number of entries and the root of
  their tree (RFC 6962). Several runs may add to a log at the same time. A
  manifest that is the newest entry already is not added again.

What a log shows:
  Each manifest of an archive has a right signature, also one of last year that
  somebody puts back. `log check` tells whether a manifest is the newest. If the
  whole log is put back too, only a copy of the log that is kept elsewhere shows
  that: `log prove COPY LOG`.

Exit status:
  0  added, or the newest entry already
  2  not added: wrong usage, no LOG and no --new, a bad log or manifest, a
     signature of LOG or MANIFEST that is wrong or another key's, or LOG cannot
     be written

Examples:
  hashloom manifest log add archive.log m --new --sign minisign.key
  hashloom manifest log add archive.log m --sign key --comment 'new disk'";

/// Tell whether a manifest is the newest of a log.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_HELP)]
pub struct Check {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,

    /// The manifest; - is standard input
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    /// The public key by which LOG must be signed: of minisign a file or the key itself in base64, of SLH-DSA a PEM
    /// file
    #[arg(long, value_name = "KEY")]
    trusted_key: PathBuf,
}

const CHECK_HELP: &str = "\
An older manifest that was put back is told with its number and date. That the
log itself is the newest one only a copy of it can show: see `log prove`.

Exit status:
  0  MANIFEST is the newest entry of LOG
  1  MANIFEST is an older entry, or not in LOG
  2  wrong usage, a bad log, a signature that is wrong or another key's, or a
     file that could not be read

Examples:
  hashloom manifest log check archive.log m --trusted-key minisign.pub";

/// Tell whether a log is an older copy of it and nothing but newer entries.
#[derive(Debug, Args)]
#[command(after_long_help = PROVE_HELP)]
pub struct Prove {
    /// The older copy, which was kept elsewhere
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The log
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Check the signatures of both, by this public key: of minisign a file or the key itself in base64, of SLH-DSA a
    /// PEM file
    #[arg(long, value_name = "KEY")]
    trusted_key: Option<PathBuf>,
}

const PROVE_HELP: &str = "\
Prints the heads of both, number of entries and root, and the verdict. Without
--trusted-key no signature is checked: the verdict then is about the entries of
the two files, whoever wrote them.

Exit status:
  0  NEW has all entries of OLD, in their places
  1  NEW has another entry in the place of one of OLD, or none
  2  wrong usage, a bad log, a signature that is wrong or another key's, or a
     file that could not be read

Examples:
  hashloom manifest log prove /media/usb/archive.log archive.log
  hashloom manifest log prove 2024.log 2025.log --trusted-key minisign.pub";

/// Returns the exit status.
pub fn run(command: &Command) -> Result<u8, String> {
    match command {
        Command::Add(arguments) => add(arguments),
        Command::Check(arguments) => check(arguments),
        Command::Prove(arguments) => prove(arguments),
    }
}

fn add(arguments: &Add) -> Result<u8, String> {
    let Add { log: path, manifest, sign, new, comment } = arguments;
    // Nobody else waits while a password is typed.
    let signer = Signer::open(sign)?;
    let (kept, signed) = match Trusted::if_beside(manifest, &signer)? {
        Some(trusted) => trusted.verify(manifest, None).map(|(kept, signed)| (kept, Some(signed)))?,
        None => (kept(manifest)?, None),
    };
    let digest = digest(&kept, manifest)?;
    let bad = |error: &dyn std::fmt::Display| format!("{}: {error}", name(manifest));
    let input = kept.read().map_err(|error| bad(&reason(&error)))?;
    for entry in Reader::new(input).map_err(|error| bad(&error))? {
        entry.map_err(|error| bad(&error))?;
    }
    let of_log = |error: LogError| format!("{}: {error}", display(path));
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let now = i64::try_from(seconds).ok().and_then(date).ok_or("the clock is beyond the year 9999")?;
    let entry = Entry::new(digest, &now.replacen(' ', "T", 1).replace(" UTC", "Z"), comment);
    let entry = entry.map_err(|error| format!("--comment: {error}"))?;
    loop {
        let old = output::locked(path).map_err(|error| failed(path, &error))?;
        match (&old, new) {
            (None, false) => {
                return Err(format!("{}: there is no log: give its right name, or begin it with --new", display(path)));
            }
            (Some(_), true) => return Err(format!("{}: it exists: leave out --new to add to it", display(path))),
            _ => {}
        }
        let mut log = old.as_ref().map_or_else(|| Ok(Log::new()), Log::read).map_err(of_log)?;
        if old.is_some() {
            log.verify(signer.public_key()).map_err(of_log)?;
        }
        let is_there = log.entries().last().is_some_and(|newest| newest.sha256() == entry.sha256());
        if !is_there {
            log.push(entry.clone()).map_err(of_log)?;
            let bytes = sign_log(&signer, &log, path)?;
            let written = if old.is_some() { output::write(path, &bytes) } else { output::write_new(path, &bytes) };
            match written {
                // Another run has made the log since.
                Err(error) if old.is_none() && error.kind() == io::ErrorKind::AlreadyExists => continue,
                written => written
                    .map_err(|error| format!("{}: the log cannot be written: {}", display(path), reason(&error)))?,
            }
        }
        let number = log.entries().len();
        let what = if is_there { "already the newest entry" } else { "entry" };
        output::print(|out| {
            if let Some(signed) = &signed {
                writeln!(out, "{}", signed.line())?;
            }
            writeln!(out, "{}: {what} {number} of {}", name(manifest), display(path))?;
            writeln!(out, "head: {}", log.head())
        })?;
        return Ok(0);
    }
}

fn check(arguments: &Check) -> Result<u8, String> {
    let Check { log: path, manifest, trusted_key } = arguments;
    let (log, signed) = read(path, Some(trusted_key))?;
    let digest = digest(&kept(manifest)?, manifest)?;
    let size = log.entries().len();
    let of = |index: usize| {
        let entry = &log.entries()[index];
        let comment = match entry.comment() {
            "" => String::new(),
            comment => format!(" ({})", shown(comment.as_bytes())),
        };
        format!("entry {} of {size}, added at {}{comment}", index + 1, entry.date())
    };
    let newest =
        || size.checked_sub(1).map_or("the log is empty".to_owned(), |last| format!("the newest is {}", of(last)));
    let manifest = name(manifest);
    let (line, status) = match log.newest_of(&digest) {
        Some(index) if index + 1 == size => (format!("{}: {manifest} is {}", style::good("newest"), of(index)), 0),
        Some(index) => {
            let line = format!("{}: {manifest} is {}; {}", style::bad("rollback"), of(index), newest());
            (line, EXIT_INCOMPLETE)
        }
        None => (format!("{}: {manifest}; {}", style::bad("not in the log"), newest()), EXIT_INCOMPLETE),
    };
    let key = signed.as_ref().map_or("", Signed::key);
    output::print(|out| writeln!(out, "{line}\nhead: {}, signed by {key}", log.head()))?;
    Ok(status)
}

fn prove(arguments: &Prove) -> Result<u8, String> {
    let Prove { old: old_path, new: new_path, trusted_key } = arguments;
    let key = trusted_key.as_deref();
    let ((old, _), (new, signed)) = (read(old_path, key)?, read(new_path, key)?);
    let (old_name, new_name) = (display(old_path), display(new_path));
    let by = match signed {
        Some(signed) => format!("both signed by {}", signed.key()),
        None => "no signature was checked".to_owned(),
    };
    let (line, status) = match new.extends(&old) {
        Ok(()) => {
            let more = new.entries().len() - old.entries().len();
            let more = if more == 1 { "1 entry".to_owned() } else { format!("{more} entries") };
            (format!("{}: {new_name} is {old_name} and {more} more", style::good("consistent")), 0)
        }
        Err(index) => {
            let lacks = index == new.entries().len();
            let what = if lacks { "lacks" } else { "has another" };
            let line = format!("{}: {new_name} {what} entry {} of {old_name}", style::bad("inconsistent"), index + 1);
            (line, EXIT_INCOMPLETE)
        }
    };
    output::print(|out| {
        writeln!(out, "{old_name}: head {}\n{new_name}: head {}", old.head(), new.head())?;
        writeln!(out, "{line}; {by}")
    })?;
    Ok(status)
}

/// Reads a log, and checks its signature if there is a key.
fn read(path: &Path, key: Option<&Path>) -> Result<(Log, Option<Signed>), String> {
    let key = key.map(public_key).transpose()?;
    let of_log = |error: LogError| format!("{}: {error}", display(path));
    let log = Log::read(File::open(path).map_err(|error| failed(path, &error))?).map_err(of_log)?;
    let signed = key.map(|key| log.verify(&key)).transpose().map_err(of_log)?;
    Ok((log, signed))
}

/// Signs a log that will have the name of `path`.
fn sign_log(signer: &Signer, log: &Log, path: &Path) -> Result<Vec<u8>, String> {
    let signed = log.signed(signer.key(), &file_name(path).unwrap_or_default());
    signed.map_err(|error| format!("--sign: {}", reason(&error)))
}

/// A copy of the bytes of a file, which nobody can change.
fn kept(path: &Path) -> Result<Kept, String> {
    Kept::copied(path, |_| ()).map_err(|error| format!("{}: {}", name(path), reason(&error)))
}

/// Returns the SHA-256 of the bytes.
fn digest(kept: &Kept, path: &Path) -> Result<Hash, String> {
    let mut hasher = Hasher::new(Algorithm::Sha256);
    let copied = io::copy(&mut kept.bytes(), &mut hasher);
    copied.map(|_| hasher.finalize()).map_err(|error| format!("{}: {}", name(path), reason(&error)))
}
