// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent create`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime};

use clap::{Args, ValueEnum};
use hashloom_files::paths::to_path;
use hashloom_files::run::{HeldBack, Meter};
use hashloom_files::text::shown;
use hashloom_torrent::{Builder, CreateError, Created, Plan, Symlinks, Version};
use serde::Serialize;

use super::identity::Identity;
use crate::exit::EXIT_INTERRUPTED;
use crate::filters::Filters;
use crate::interrupt;
use crate::json::{Named, hex};
use crate::numbers::Nbytes;
use crate::output::{self, Same};
use crate::progress::Bar;
use crate::style;
use crate::text::{display, reason};
use crate::units::{duration, plural, read_at, size};
use crate::work::Work;

/// Make torrents of files and folders.
///
/// Reads everything once and writes NAME.torrent into the current folder. The same files give the same bytes, on any
/// day and machine.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Create {
    /// The file or folder; hashloom makes one torrent of each PATH
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Version 1 only: SHA-1 of pieces (BEP 3)
    #[arg(long, conflicts_with_all = ["v2", "hybrid"])]
    v1: bool,

    /// Version 2 only: a SHA-256 tree for each file (BEP 52)
    #[arg(long, conflicts_with = "hybrid")]
    v2: bool,

    /// Both versions in one torrent, which clients of either version accept (default)
    #[arg(long)]
    hybrid: bool,

    /// Bytes in a piece, such as 256KiB or 1M [default: from the length of all files, see below]
    #[arg(short = 'l', long, value_name = "BYTES")]
    piece_length: Option<PieceLength>,

    /// Begin each file of a version 1 torrent at a new piece, as in the other versions
    #[arg(long, conflicts_with_all = ["v2", "hybrid"], requires = "v1")]
    align: bool,

    /// A tracker; can be given several times; clients try them in this order. URLs separated by commas are one tier:
    /// clients try these in random order
    #[arg(short, long = "tracker", visible_alias = "announce", value_name = "URL[,URL]")]
    trackers: Vec<String>,

    /// A server that has the files; can be given several times (BEP 19)
    #[arg(short, long = "web-seed", value_name = "URL")]
    web_seeds: Vec<String>,

    /// Allow peers only from the trackers (BEP 27)
    #[arg(short, long)]
    private: bool,

    /// The place where the torrent is published; another source gives the same files a different info-hash
    #[arg(short, long, value_name = "TEXT")]
    source: Option<String>,

    /// A comment
    #[arg(short, long, value_name = "TEXT")]
    comment: Option<String>,

    /// Record the creation date: "now", or seconds since 1970 (UTC). SOURCE_DATE_EPOCH, if set, replaces "now"
    /// [default: no date]
    #[arg(short, long, value_name = "DATE")]
    date: Option<Date>,

    /// Record no date; this is the default, and scripts can say so
    #[arg(long, conflicts_with = "date")]
    no_date: bool,

    /// The name in the torrent [default: the name of PATH]
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    filters: Filters,

    /// What to do with symbolic links below PATH
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Links::Follow)]
    symlinks: Links,

    /// Do not mark files that their owner may execute
    #[arg(long)]
    no_executable: bool,

    /// Write to FILE [default: NAME.torrent]
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir")]
    output: Option<PathBuf>,

    /// Write NAME.torrent into DIR [default: the current folder]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,

    /// Replace an existing torrent
    #[arg(short, long)]
    force: bool,

    /// List the files that would be in the torrent; read and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print one JSON object for each torrent instead
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with_all = ["json", "dry_run"])]
    quiet: bool,

    #[command(flatten)]
    work: Work,
}

const HELP: &str = "\
Which files:
  All files below PATH, hidden ones too, in the order of the bytes of their
  paths, folder by folder. Globs are those of .gitignore: *.log matches at any
  depth, /extras/ only a folder in PATH itself, music/** everything below music.
  A PATH that is a file is matched by its name. A torrent does not record empty
  folders. Sockets, FIFOs and devices are an error unless excluded.

Symbolic links:
  follow  the file or folder that the link leads to becomes part of the torrent,
          wherever it is
  skip    links are left out
  error   links are refused

Length of a piece:
  The default is the least power of two that makes at most 2048 pieces, from
  16 KiB to 16 MiB. --piece-length takes up to 256 MiB: a power of two, or with
  --v1 any multiple of 16 KiB.

Which version:
  Clients of either version share the data of a hybrid torrent. Transmission
  before 4 and aria2 accept neither hybrid nor version 2 torrents, whichever
  program made them: use --v1 for these clients.

A file that is changed, replaced or removed while it is read is an error, and
nothing is written. The new torrent is parsed and compared before it is written.
It is written to a temporary file, which is then renamed. FILE may lie in PATH,
but must not be one of the files that the torrent is made of.

Exit status:
  0    the torrents are written
  2    wrong usage, a file that cannot be read or was changed, or a torrent that
       cannot be written
  130  interrupted (Ctrl-C); no half-written torrent is left

Examples:
  hashloom torrent create ~/music/album -t https://example.org/announce
  hashloom torrent create debian.iso --v1 -l 256KiB -o /srv/debian.torrent
  hashloom torrent create photos --exclude '*.tmp' --exclude /raw --dry-run
  hashloom torrent create seeds/* --output-dir /srv --json | jq .torrent";

/// What to do with symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Links {
    Follow,
    Skip,
    Error,
}

impl From<Links> for Symlinks {
    fn from(links: Links) -> Symlinks {
        match links {
            Links::Follow => Symlinks::Follow,
            Links::Skip => Symlinks::Skip,
            Links::Error => Symlinks::Refuse,
        }
    }
}

/// Number of bytes in a piece; the crate checks whether the number is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PieceLength(u64);

impl FromStr for PieceLength {
    type Err = String;

    fn from_str(text: &str) -> Result<PieceLength, String> {
        // The exponent of a power of two, as for mktorrent's -l: no piece has so few bytes.
        if let Ok(shift @ 14..=28) = text.parse::<u32>() {
            let nbytes = size(1 << shift).replace(' ', "");
            return Err(format!("no piece has {shift} bytes; a piece of 2^{shift} bytes is {nbytes}"));
        }
        text.parse().map(|Nbytes(nbytes)| PieceLength(nbytes))
    }
}

/// The creation date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Date {
    Now,
    Seconds(i64),
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Date, String> {
        match text.parse() {
            _ if text == "now" => Ok(Date::Now),
            Ok(seconds @ 0..) => Ok(Date::Seconds(seconds)),
            _ => Err("expected now, or whole seconds since 1970-01-01 00:00 UTC".into()),
        }
    }
}

impl Date {
    pub fn seconds(self) -> Result<i64, String> {
        let variable = std::env::var("SOURCE_DATE_EPOCH").ok().filter(|value| !value.is_empty());
        match (self, variable) {
            (Date::Seconds(seconds), _) => Ok(seconds),
            (Date::Now, Some(value)) => match value.parse() {
                Ok(seconds @ 0..) => Ok(seconds),
                _ => Err(format!(
                    "SOURCE_DATE_EPOCH: expected whole seconds since 1970, found \"{}\"",
                    shown(value.as_bytes())
                )),
            },
            (Date::Now, None) => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                Ok(i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
            }
        }
    }
}

/// A torrent to make.
struct Task<'a> {
    path: &'a Path,
    plan: Plan,
    output: PathBuf,
}

/// Returns the exit status.
pub fn run(arguments: &Create) -> Result<u8, String> {
    if arguments.paths.len() > 1 && (arguments.output.is_some() || arguments.name.is_some()) {
        return Err("--output and --name are for one PATH. For several use --output-dir".into());
    }
    let builder = arguments.builder()?;
    // Plan all torrents before the first read. Errors that can be known now must not come in an hour, and no torrent
    // written becomes part of the next.
    let walking = Bar::of_time("looking for files", arguments.quiet);
    let tasks = arguments.paths.iter().map(|path| arguments.task(&builder, path));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    walking.finish();
    if arguments.dry_run {
        return output::print(|out| tasks.iter().try_for_each(|task| list(out, task))).map(|()| 0);
    }
    for (index, task) in tasks.iter().enumerate() {
        check_output(arguments, task, &tasks, index)?;
    }
    let stop = interrupt::flag();
    let bar = Bar::of_bytes(arguments.quiet);
    for (index, task) in tasks.iter().enumerate() {
        let meter = Meter::new();
        let mut options = arguments.work.options().cancel(&stop).meter(&meter);
        if bar.is_shown() {
            let bar = bar.clone();
            options = options.progress(move |progress| {
                bar.set_total(progress.total_nbytes.unwrap_or(0));
                bar.set(progress.nbytes);
            });
        }
        let started = Instant::now();
        let created = task.plan.create(&options);
        let (elapsed, held_back) = (started.elapsed(), meter.held_back());
        bar.finish();
        let created = match created {
            Ok(created) => created,
            Err(CreateError::Cancelled) => {
                // Best effort: if standard error is closed, the exit status still tells.
                let _ =
                    writeln!(io::stderr(), "{} {}: interrupted, not written", style::error(), display(&task.output));
                return Ok(EXIT_INTERRUPTED);
            }
            Err(error) => return Err(error.to_string()),
        };
        let written = match arguments.force {
            true => output::write(&task.output, &created.bytes),
            false => output::write_new(&task.output, &created.bytes),
        };
        written.map_err(|error| match tasks.len() - index - 1 {
            0 => not_written(&task.output, &error),
            left => format!("{}; {} not made", not_written(&task.output, &error), plural(left as u64, "torrent")),
        })?;
        output::print(|out| print(out, arguments, task, &created, (elapsed, held_back)))?;
    }
    Ok(0)
}

impl Create {
    fn builder(&self) -> Result<Builder, String> {
        let version = if self.v1 {
            Version::V1
        } else if self.v2 {
            Version::V2
        } else {
            Version::Hybrid
        };
        let mut builder = Builder::new()
            .version(version)
            .align(self.align)
            .private(self.private)
            .symlinks(self.symlinks.into())
            .executable(!self.no_executable)
            .created_by(concat!("hashloom ", env!("CARGO_PKG_VERSION")));
        if let Some(PieceLength(nbytes)) = self.piece_length {
            builder = builder.piece_nbytes(nbytes);
        }
        if let Some(date) = self.date {
            builder = builder.date(date.seconds()?);
        }
        if let Some(name) = &self.name {
            builder = builder.name(name);
        }
        if let Some(source) = &self.source {
            builder = builder.source(source);
        }
        if let Some(comment) = &self.comment {
            builder = builder.comment(comment);
        }
        builder = self.trackers.iter().fold(builder, |builder, tier| builder.tier(tier.split(',')));
        builder = self.web_seeds.iter().fold(builder, |builder, url| builder.web_seed(url));
        Ok(builder.filter(self.filters.filter()?))
    }

    fn task<'a>(&self, builder: &Builder, path: &'a Path) -> Result<Task<'a>, String> {
        let plan = builder.clone().plan(path).map_err(|error| error.to_string())?;
        let output = self.output.clone().unwrap_or_else(|| {
            let mut name: OsString = to_path(plan.name()).into();
            name.push(".torrent");
            self.output_dir.as_deref().unwrap_or(Path::new("")).join(name)
        });
        Ok(Task { path, plan, output })
    }
}

/// Refuses an output that cannot be written, that exists although --force is not given, that is part of any torrent, or
/// that is another torrent's output.
fn check_output(arguments: &Create, task: &Task<'_>, tasks: &[Task<'_>], index: usize) -> Result<(), String> {
    let output = &task.output;
    let refused = |why: &str| Err(format!("{}: the torrent is not written there: {why}", display(output)));
    if output.is_dir() {
        return refused("it is a folder. Give a FILE with --output, or the folder with --output-dir");
    }
    if output::exists(output) && !arguments.force {
        return refused("it exists. Give --force to replace it, or another place with --output");
    }
    let same = Same::new(output);
    if tasks[..index].iter().any(|other| same.is(&other.output)) {
        return refused("another PATH's torrent has this name too. Give one PATH at a time, and --output");
    }
    if let Some(other) = tasks.iter().find(|other| other.plan.has(output)) {
        let why = format!("it is part of {}. Exclude it, or give another place", display(other.path));
        return refused(&why);
    }
    output::probe(output).map_err(|error| not_written(output, &error))
}

pub fn not_written(path: &Path, error: &io::Error) -> String {
    format!("{}: the torrent cannot be written: {}", display(path), reason(error))
}

/// Lists the files of a torrent, in a dry run.
fn list(out: &mut impl Write, task: &Task<'_>) -> io::Result<()> {
    let plan = &task.plan;
    writeln!(out, "{}", style::bold(shown(plan.name())))?;
    for file in plan.files() {
        writeln!(out, "  {:>10}  {}", size(file.nbytes), shown(file.path))?;
    }
    writeln!(out, "{}, {}; not made, as this is a dry run", plan.version(), content(plan))
}

/// Formats `1.2 GiB in 3 files, 120 pieces of 10 MiB`.
fn content(plan: &Plan) -> String {
    format!(
        "{} in {}, {} of {}",
        size(plan.nbytes()),
        plural(plan.files().len() as u64, "file"),
        plural(plan.piece_count(), "piece"),
        size(plan.piece_nbytes()),
    )
}

fn print(
    out: &mut impl Write,
    arguments: &Create,
    task: &Task<'_>,
    created: &Created,
    (elapsed, held_back): (Duration, Option<HeldBack>),
) -> io::Result<()> {
    let (plan, torrent) = (&task.plan, &created.torrent);
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        hashloom_list::write_json(&mut *out, &Json::new(task, created, elapsed, held_back))?;
        return writeln!(out);
    }
    writeln!(out, "{}", style::bold(shown(plan.name())))?;
    let hashes = [torrent.info_hash_v1().map(|hash| hex(&hash)), torrent.info_hash_v2().map(|hash| hex(&hash))];
    for hash in hashes.into_iter().flatten() {
        writeln!(out, "  info-hash  {hash}")?;
    }
    writeln!(out, "  torrent    {}, {}", plan.version(), content(plan))?;
    writeln!(out, "  content    {}", display(task.path))?;
    write!(out, "  {}    {}", style::good("written"), display(&task.output))?;
    write!(out, ", {} in {}", size(created.bytes.len() as u64), duration(elapsed))?;
    writeln!(out, "{}", read_at(created.nbytes_read, elapsed, held_back))
}

#[derive(Serialize)]
struct Json<'a> {
    hashloom: &'static str,
    torrent: TorrentJson<'a>,
    #[serde(flatten)]
    content: Named<'a>,
    bytes_read: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<&'static str>,
}

#[derive(Serialize)]
struct TorrentJson<'a> {
    #[serde(flatten)]
    identity: Identity<'a>,
    /// Length of the .torrent file.
    bytes: usize,
}

impl<'a> Json<'a> {
    fn new(task: &'a Task<'_>, created: &'a Created, elapsed: Duration, held_back: Option<HeldBack>) -> Json<'a> {
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: TorrentJson {
                identity: Identity::new(&task.output, &created.torrent),
                bytes: created.bytes.len(),
            },
            content: Named::path("content", task.path),
            bytes_read: created.nbytes_read,
            seconds: elapsed.as_secs_f64(),
            held_back_by: held_back.map(HeldBack::name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_lengths() {
        for (text, nbytes) in [("16384", 16384), ("256 KiB", 256 << 10), ("4m", 4 << 20), ("13", 13), ("29", 29)] {
            assert_eq!(text.parse(), Ok(PieceLength(nbytes)), "{text}");
        }
        for (text, cure) in [("14", "16KiB"), ("18", "256KiB"), ("20", "1MiB"), ("28", "256MiB")] {
            assert!(text.parse::<PieceLength>().unwrap_err().ends_with(cure), "{text}");
        }
    }

    #[test]
    fn dates() {
        assert_eq!("now".parse(), Ok(Date::Now));
        assert_eq!("0".parse(), Ok(Date::Seconds(0)));
        assert_eq!("4102444800".parse(), Ok(Date::Seconds(4_102_444_800)));
        for text in ["", "-1", "Now", "1.5", "2026-11-21", "9223372036854775808"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
