// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent find`, and the search of `hashloom torrent link`.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hashloom_files::Stamp;
use hashloom_files::run::Cancel;
use hashloom_files::text::shown;
use hashloom_files::walk::{Entry, Walk, WalkError};
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use hashloom_frame::interrupt;
use hashloom_frame::json::Named;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::{display, failed};
use hashloom_frame::units::{plural, size};
use hashloom_frame::work::Threads;
use hashloom_frame::{output, style};
use hashloom_torrent::command::identity::{Identity, size_of};
use hashloom_torrent::{File, Torrent};
use serde::{Serialize, Serializer};

use super::read;
use super::verify_json::WrittenJson;
use crate::{Finding, Findings, Index, Lengths, find};

/// Find the files of torrents, whatever their names.
///
/// Looks in folders for files with the bytes of each file of a torrent, and says where they are. Names only say which
/// file of the right length is compared first; the torrent's digests decide. Writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = HELP, override_usage = "hashloom torrent find [OPTIONS] <TORRENT>... --in <DIR>...")]
pub struct Find {
    #[command(flatten)]
    search: Search,
}

/// The torrents that are searched for, and the folders.
#[derive(Debug, Args)]
pub struct Search {
    /// The .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub torrents: Vec<PathBuf>,

    /// The folders with the files, which may have any names, at any depth. Symbolic links below them are not followed
    #[arg(long = "in", value_name = "DIR", required = true, num_args = 1..)]
    folders: Vec<PathBuf>,

    /// Print one JSON object for each torrent instead
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub threads: Threads,
}

const HELP: &str = "\
How a file is found:
  Files of its length are candidates. The one whose path fits best is compared
  first: the same name, then the same but for case and marks, then but for the
  extension, then the most alike. If it is right, no other is read.
  Otherwise each candidate is read once, as far as the first pieces of all files
  of that length reach, whatever the number of files and torrents. Those that
  begin right are read whole until one is right; others that begin right, too,
  are counted as \"begin alike\", and --json names them.
  A piece of version 1 may have bytes of several files, which are proved
  together: if the candidates that fit best are wrong, others are combined, at
  most 16384 combinations and 32 GiB of them a piece; 256 if there would be more
  than 16 million. Up to 64 MiB of small files stay in memory meanwhile. Empty
  files and padding need no candidate. Several names of one file (hard links)
  are one candidate.

Bytes read:
  Those of the torrents if names fit; else those of the candidates once, twice
  if they begin alike, and those of the torrents once or twice, for each 262144
  candidates of the torrents' files.

States of a file:
  found      all its pieces are right
  unproved   a piece that it shares with other files is not whole, and all its
             other pieces are right
  absent     no file has its bytes
  empty      it has no bytes

Exit status:
  0    every file of every torrent was found
  1    a file is absent or unproved
  2    wrong usage, a bad torrent, a folder or file that could not be read, or a
       file that changed while it was read
  130  interrupted (Ctrl-C)

Examples:
  hashloom torrent find album.torrent --in /srv/music
  hashloom torrent find *.torrent --in ~/Downloads /srv/media --json";

/// Returns the exit status.
pub fn run(arguments: &Find) -> Result<u8, String> {
    let search = &arguments.search;
    search.run(&interrupt::flag(), |file, torrent, found| {
        output::print(|out| {
            if search.json {
                print_json(out, &Json::new(file, torrent, found))
            } else {
                let word = if found.is_whole() { style::good("whole") } else { style::partial("not whole") };
                print_text(out, &format!("{word:<9}"), file, torrent, found, false)
            }
        })
        .map(|()| 0)
    })
}

impl Search {
    /// Searches the files of each torrent, and hands them to `each`, which returns a status. Returns the worst status.
    pub fn run(
        &self,
        stop: &Cancel,
        mut each: impl FnMut(&Path, &Torrent, &Findings) -> Result<u8, String>,
    ) -> Result<u8, String> {
        let bar = Bar::of_bytes(false);
        let mut status = 0;
        // Torrents are read twice, to have only a few in memory.
        let (mut lengths, mut good) = (Lengths::default(), Vec::new());
        for file in self.torrents.iter().take_while(|_| !stop.is_cancelled()) {
            match read_regular(file) {
                Ok(torrent) => {
                    lengths.add(&torrent);
                    good.push(file);
                }
                Err(message) => tell(&bar, &message, &mut status),
            }
        }
        let index = self.index(&lengths, stop, |message| tell(&bar, &message, &mut status));
        drop(lengths);
        let options = bar.watch(self.threads.options().cancel(stop));
        let (mut nwhole, mut unread, mut failure) = (0, Vec::new(), Ok(()));
        let torrents = good.into_iter().filter_map(|file| match read_regular(file) {
            _ if stop.is_cancelled() => None,
            Ok(torrent) => Some((Arc::new(torrent), file)),
            Err(message) => {
                unread.push(message);
                None
            }
        });
        find(torrents, &index, &options, |torrent, file, found| {
            for message in errors(&found) {
                tell(&bar, &message, &mut status);
            }
            if !found.is_whole() {
                status = status.max(EXIT_INCOMPLETE);
            }
            nwhole += u64::from(found.is_whole());
            if failure.is_ok() && !found.cancelled {
                match bar.suspend(|| each(file, torrent, &found)) {
                    Ok(other) => status = status.max(other),
                    Err(error) => failure = Err(error),
                }
            }
        });
        unread.iter().for_each(|message| tell(&bar, message, &mut status));
        bar.finish();
        failure?;
        let count = self.torrents.len() as u64;
        if count > 1 && !self.json {
            output::print(|out| writeln!(out, "\n{nwhole} of {} whole", plural(count, "torrent")))?;
        }
        Ok(if stop.is_cancelled() { EXIT_INTERRUPTED } else { status })
    }

    /// Walks the folders.
    fn index(&self, lengths: &Lengths, stop: &Cancel, mut tell: impl FnMut(String)) -> Index {
        let mut look = |found: Result<Entry, WalkError>| -> Option<(PathBuf, Stamp)> {
            let entry =
                found.map_err(|error| tell(error.to_string())).ok().filter(|entry| entry.file_type.is_file())?;
            let stamp = |metadata: Metadata| {
                if lengths.has(metadata.len()) {
                    Stamp::of_known(&entry.path, false, &metadata).map(Some)
                } else {
                    Ok(None)
                }
            };
            match entry.path.symlink_metadata().and_then(stamp) {
                Ok(stamp) => stamp.map(|stamp| (entry.path, stamp)),
                // It was removed since the folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => {
                    tell(failed(&entry.path, &error));
                    None
                }
            }
        };
        let entries = self.folders.iter().flat_map(|folder| Walk::new(folder).entries());
        Index::new(entries.take_while(|_| !stop.is_cancelled()).filter_map(&mut look))
    }
}

fn read_regular(path: &Path) -> Result<Torrent, String> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err(format!("{}: expected a regular file, as torrents are read twice", display(path)))
        }
        _ => read(path),
    }
}

/// Prints an error.
fn tell(bar: &Bar, message: &str, status: &mut u8) {
    // Best effort: if standard error is closed, the exit status still tells.
    bar.suspend(|| drop(writeln!(io::stderr().lock(), "{} {message}", style::error())));
    *status = EXIT_ERROR;
}

/// The errors of a search.
fn errors(found: &Findings) -> impl Iterator<Item = String> {
    let changed = |path: &PathBuf| {
        format!("{}: changed while it was compared. Search again when nothing writes there", display(path))
    };
    found.troubles.iter().map(ToString::to_string).chain(found.changed.iter().map(changed))
}

/// Prints a line for a torrent that begins with `word`, and a line for each of its files, or only for those not found.
pub fn print_text(
    out: &mut impl Write,
    word: &str,
    file: &Path,
    torrent: &Torrent,
    found: &Findings,
    is_short: bool,
) -> io::Result<()> {
    let (count, nbytes) = size_of(torrent);
    let is_absent = |one: &&Finding| matches!(one, Finding::Absent { .. } | Finding::Unproved { .. });
    let there = count - found.files.iter().filter(is_absent).count();
    write!(out, "{word}  {}  ", display(file))?;
    if there == count {
        writeln!(out, "{}, {}", plural(count as u64, "file"), size(nbytes))?
    } else {
        writeln!(out, "{there} of {}", plural(count as u64, "file"))?
    }
    let gave_up: BTreeSet<usize> = found.gave_up.iter().copied().collect();
    for (file, one) in torrent.files().zip(&found.files).filter(|(_, one)| !is_short || is_absent(one)) {
        let name = shown(file.path);
        match one {
            Finding::Found { path, others, .. } => {
                write!(out, "  {}     {name}  at {}", style::good("found"), display(path))?;
                match others.len() as u64 {
                    0 => {}
                    1 => write!(out, ", 1 other begins alike")?,
                    count => write!(out, ", {count} others begin alike")?,
                }
            }
            Finding::Unproved { path } => {
                let path = display(path);
                write!(out, "  {}  {name}  maybe {path}", style::partial("unproved"))?;
                write!(out, "; a piece that it shares with other files is not whole")?;
            }
            Finding::Absent { candidates: 0 } => write!(out, "  {}    {name}", style::bad("absent"))?,
            Finding::Absent { candidates } => {
                let others = match candidates {
                    1 => "1 file of its length has other bytes".to_owned(),
                    count => format!("{count} files of its length have other bytes"),
                };
                write!(out, "  {}    {name}  {others}", style::bad("absent"))?;
            }
            Finding::Empty => write!(out, "  empty     {name}")?,
            _ => continue,
        }
        if gave_up.contains(&file.index) {
            writeln!(out, "; gave up: too many candidates or combinations")?
        } else {
            writeln!(out)?
        }
    }
    Ok(())
}

/// JSON of `torrent find` and `torrent link`: one object for each torrent.
#[derive(Serialize)]
pub struct Json<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// The torrent.
    torrent: Identity<'a>,
    /// True if every file was found.
    whole: bool,
    /// The files of the torrent.
    files: Files<'a>,
    /// Messages.
    pub errors: Vec<String>,
    /// The file or folder that was made; absent if nothing was linked, and in part if `whole` is false (`--partial`).
    #[serde(flatten)]
    pub linked: Option<Named<'a>>,
    /// The resume files that were written; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<WrittenJson<'a>>,
}

struct Files<'a>(&'a Torrent, &'a Findings);

#[derive(Serialize)]
struct FileJson<'a> {
    /// The path in the torrent's folder.
    #[serde(flatten)]
    path: Named<'a>,
    /// `found`: all pieces are right; `unproved`: a piece that it shares with other files is not whole, and its other
    /// pieces are right; `absent`; `empty`; `skipped`: padding, symbolic links.
    state: &'static str,
    /// Bytes by the torrent.
    length: u64,
    /// The file with its bytes; if `unproved`, that may have them.
    #[serde(flatten)]
    found: Option<Named<'a>>,
    /// Other files with the right first piece; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherJson<'a>>,
    /// Number of files of its length, if none is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<usize>,
    /// True if not all candidates or combinations were tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gave_up: bool,
}

#[derive(Serialize)]
struct OtherJson<'a> {
    /// The file.
    #[serde(flatten)]
    path: Named<'a>,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Files(torrent, found) = self;
        let gave_up: BTreeSet<usize> = found.gave_up.iter().copied().collect();
        serializer.collect_seq(torrent.files().zip(&found.files).map(|(file, one)| {
            let (state, path, others, candidates) = match one {
                Finding::Found { path, others, .. } => ("found", Some(path), &others[..], None),
                Finding::Unproved { path } => ("unproved", Some(path), &[][..], None),
                Finding::Absent { candidates } => ("absent", None, &[][..], Some(*candidates)),
                Finding::Empty => ("empty", None, &[][..], None),
                _ => ("skipped", None, &[][..], None),
            };
            let File { path: name, nbytes, index, .. } = file;
            FileJson {
                path: Named::new("path", name),
                state,
                length: nbytes,
                found: path.map(|path| Named::path("found", path)),
                others: others.iter().map(|path| OtherJson { path: Named::path("path", path) }).collect(),
                candidates,
                gave_up: gave_up.contains(&index),
            }
        }))
    }
}

impl<'a> Json<'a> {
    pub fn new(file: &'a Path, torrent: &'a Torrent, found: &'a Findings) -> Json<'a> {
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: Identity::new(file, torrent),
            whole: found.is_whole(),
            files: Files(torrent, found),
            errors: errors(found).collect(),
            linked: None,
            written: Vec::new(),
        }
    }
}

pub fn print_json(out: &mut impl Write, json: &Json<'_>) -> io::Result<()> {
    hashloom_frame::json::write_json(&mut *out, json)?;
    writeln!(out)
}
