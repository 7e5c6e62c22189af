// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent create`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use hashloom_files::paths::to_path;
use hashloom_files::run::{HeldBack, Meter};
use hashloom_files::text::shown;
use hashloom_frame::exit::EXIT_INTERRUPTED;
use hashloom_frame::filters::Globs;
use hashloom_frame::interrupt;
use hashloom_frame::json::{Named, hex};
use hashloom_frame::numbers::Nbytes;
use hashloom_frame::output::{self, Same};
use hashloom_frame::progress::Bar;
use hashloom_frame::style;
use hashloom_frame::text::display;
use hashloom_frame::units::{duration, plural, read_at, size};
use hashloom_frame::work::Threads;
use hashloom_torrent::command::identity::{Identity, write_info_hashes};
use hashloom_torrent::{Torrent, Version};
use serde::{Serialize, Serializer};

use super::{Date, cautions, not_written, presets};
use crate::{Builder, CreateError, Created, Plan, PlannedFile, Symlinks};

/// Make torrents of files and folders.
///
/// Reads everything once and writes NAME.torrent into the current folder. The same files give the same bytes, on any
/// day and machine.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = HELP)]
pub struct Create {
    /// The file or folder; hashloom makes one torrent of each PATH
    #[arg(value_name = "PATH", required_unless_present = "batch")]
    pub paths: Vec<PathBuf>,

    /// A tracker; can be given several times; clients try them in this order. URLs separated by commas are one tier:
    /// clients try these in random order
    #[arg(short, long = "tracker", visible_alias = "announce", value_name = "URL[,URL]")]
    pub trackers: Vec<String>,

    /// Allow peers only from the trackers (BEP 27); --private=false records that others are allowed
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub private: Option<bool>,

    /// Write to FILE [default: NAME.torrent]
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir")]
    pub output: Option<PathBuf>,

    /// Write NAME.torrent into DIR [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,

    /// Bytes in a piece, such as 256KiB or 1M [default: from the length of all files, see below]
    #[arg(short = 'l', long, value_name = "BYTES")]
    pub piece_length: Option<PieceLength>,

    /// Version 1 only: SHA-1 of pieces (BEP 3) (default for several files that are not whole pieces)
    #[arg(long, conflicts_with_all = ["v2", "hybrid"])]
    pub v1: bool,

    /// Version 2 only: a SHA-256 tree for each file (BEP 52)
    #[arg(long, conflicts_with = "hybrid")]
    pub v2: bool,

    /// Both versions in one torrent, for clients of either version (default for one file, and files of whole pieces)
    #[arg(long)]
    pub hybrid: bool,

    /// The place where the torrent is published; another source gives the same files a different info-hash
    #[arg(short, long, value_name = "TEXT")]
    pub source: Option<String>,

    /// A comment
    #[arg(short, long, value_name = "TEXT")]
    pub comment: Option<String>,

    /// The name in the torrent [default: the name of PATH]
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    globs: Globs,

    /// List the files that would be in the torrent; read and write nothing
    #[arg(long)]
    dry_run: bool,

    /// A server that has the files; can be given several times (BEP 19)
    #[arg(short, long = "web-seed", value_name = "URL")]
    pub web_seeds: Vec<String>,

    /// Take the options that are not given from this preset, of the first presets.yaml below
    #[arg(short = 'P', long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Take presets, and rules of trackers, from FILE
    #[arg(long, value_name = "FILE")]
    pub preset_file: Option<PathBuf>,

    /// Make the torrents that FILE lists, each with its path, output and options
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["paths", "output", "output_dir", "name", "like"])]
    pub batch: Option<PathBuf>,

    /// Make the torrent like OLD: with its version, name, files, their order, padding, piece length, private flag and
    /// source. The content must be that of OLD: one read compares and hashes
    #[arg(long, value_name = "OLD", conflicts_with_all = [
        "piece_length", "max_piece_length", "include", "exclude", "no_executable",
    ])]
    pub like: Option<PathBuf>,

    /// The longest piece that may be chosen, such as 8MiB [default: 16 MiB]
    #[arg(short, long, value_name = "BYTES")]
    pub max_piece_length: Option<PieceLength>,

    /// Make a .torrent file of at most BYTES, such as 250K, with longer pieces if need be
    #[arg(long, value_name = "BYTES")]
    pub max_torrent_size: Option<Nbytes>,

    /// Record the creation date: "now", or seconds since 1970 (UTC). SOURCE_DATE_EPOCH, if set, replaces "now"
    /// [default: no date]
    #[arg(short, long, value_name = "DATE")]
    pub date: Option<Date>,

    /// Give the same files an info-hash of their own, by a random text
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub entropy: Option<bool>,

    /// What to do with symbolic links below PATH
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Links::Follow)]
    symlinks: Links,

    /// Do not mark files that their owner may execute
    #[arg(long)]
    no_executable: bool,

    /// Replace an existing torrent
    #[arg(short, long)]
    force: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with_all = ["json", "dry_run"])]
    quiet: bool,

    /// Print one JSON object for each torrent instead
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub threads: Threads,

    /// The place of a job of a batch, for errors.
    #[arg(skip)]
    pub origin: Option<String>,

    /// mkbrr's patterns, which match in any case.
    #[arg(skip)]
    pub include_patterns: Vec<String>,

    #[arg(skip)]
    pub exclude_patterns: Vec<String>,

    /// Lengths of pieces, each for contents of at most so many bytes; sorted.
    #[arg(skip)]
    pub piece_table: Vec<(u64, u64)>,

    #[arg(skip)]
    pub has_preset: bool,

    #[arg(skip)]
    pub skip_prefix: Option<bool>,

    /// A preset or job says that there is no date.
    #[arg(skip)]
    pub no_date: bool,

    /// Keys of a preset or job that hashloom ignores, each with a warning if it asks for something.
    #[arg(skip)]
    pub ignored: BTreeMap<String, Option<String>>,
}

const HELP: &str = "\
Which files:
  All files below PATH, hidden ones too, in the order of the bytes of their
  paths; folder by folder in version 2 and hybrids. Globs are those of
  .gitignore: *.log matches at any depth, /extras/ only a folder in PATH itself,
  music/** everything below music. A PATH that is a file is matched by its name.
  A torrent does not record empty folders. Sockets, FIFOs and devices are an
  error unless excluded.

Symbolic links:
  follow  the file or folder that the link leads to becomes part of the torrent,
          wherever it is
  skip    links are left out
  error   links are refused

Length of a piece:
  The default is the least power of two that makes at most 2048 pieces, from
  16 KiB to 16 MiB. --piece-length takes up to 256 MiB: a power of two, or with
  --v1 any multiple of 16 KiB. --max-torrent-size makes pieces as long as need
  be, up to --max-piece-length.

Presets and batches:
  --preset reads presets.yaml in the current folder or else, in the home folder,
  in .config/hashloom, .config/mkbrr or .mkbrr. The files of mkbrr work
  unchanged; a warning names keys that are ignored. A preset or batch makes what
  mkbrr would, which is version 1, private in a preset and public in a batch,
  unless it says otherwise. Options win. presets.yaml can have rules of
  trackers: their source, lengths of pieces, and limits.

Which version:
  Clients of either version share the data of a hybrid torrent. In its version 1
  padding files of zeros fill the last piece of each file. qBittorrent and other
  clients of libtorrent hide them; Transmission 4, rTorrent and aria2 take them
  for files, so that the maker's own folder is incomplete there, and others
  download zeros. A torrent of several files that would need padding is
  therefore of version 1, as those of mkbrr, mktorrent and Transmission are,
  unless --hybrid or --v2 is given. Transmission 3 accepts no hybrid torrents,
  and Transmission, rTorrent and aria2 accept none of version 2 alone.

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
  hashloom torrent create seeds/* --output-dir /srv --json | jq .torrent
  hashloom torrent create season --preset books --max-torrent-size 250K
  hashloom torrent create album --like old.torrent --hybrid";

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
pub struct PieceLength(pub u64);

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

/// A torrent to make.
struct Task<'a> {
    job: &'a Create,
    path: &'a Path,
    plan: Plan,
    output: PathBuf,
    warnings: Vec<String>,
}

/// Returns the exit status.
pub fn run(arguments: &Create) -> Result<u8, String> {
    if arguments.paths.len() > 1 && (arguments.output.is_some() || arguments.name.is_some()) {
        return Err("--output and --name are for one PATH. For several use --output-dir".into());
    }
    let jobs = presets::jobs(arguments)?;
    // Plan all torrents before the first read. Errors that can be known now must not come in an hour, and no torrent
    // written becomes part of the next.
    let walking = Bar::of_time("looking for files", arguments.quiet);
    let old = arguments.like.as_deref().map(hashloom_torrent::command::read).transpose()?.map(Arc::new);
    let mut tasks = Vec::new();
    for job in &jobs {
        let planned = job
            .builder(old.as_ref())
            .and_then(|builder| job.paths.iter().map(|path| job.task(&builder, path)).collect::<Result<Vec<_>, _>>());
        tasks.extend(planned.map_err(|error| format!("{}{error}", job.origin.as_deref().unwrap_or_default()))?);
    }
    walking.finish();
    if !arguments.json && !arguments.quiet {
        tasks.iter().for_each(Task::warn);
    }
    if arguments.dry_run {
        return output::print(|out| tasks.iter().try_for_each(|task| list(out, task))).map(|()| 0);
    }
    for (index, task) in tasks.iter().enumerate() {
        let made = task.job.output_dir.as_ref().filter(|_| task.job.has_preset).map_or(Ok(()), fs::create_dir_all);
        made.map_err(|error| not_written(&task.output, &error))?;
        check_output(arguments, task, &tasks, index)?;
    }
    let stop = interrupt::flag();
    let bar = Bar::of_bytes(arguments.quiet);
    for (index, task) in tasks.iter().enumerate() {
        let meter = Meter::new();
        let options = task.job.threads.options().cancel(&stop).meter(&meter);
        let piece_nbytes = if task.plan.version() == Version::Hybrid { task.plan.piece_nbytes() } else { 1 };
        let padded = |file: PlannedFile<'_>| (file.nbytes.next_multiple_of(piece_nbytes), file.path.to_vec());
        let files = || task.plan.files().map(padded).collect();
        let options = bar.watch_pieces(options, files);
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
        let written = if arguments.force {
            output::write(&task.output, &created.bytes)
        } else {
            output::write_new(&task.output, &created.bytes)
        };
        written.map_err(|error| match tasks.len() - index - 1 {
            0 => not_written(&task.output, &error),
            left => format!("{}; {} not made", not_written(&task.output, &error), plural(left as u64, "torrent")),
        })?;
        output::print(|out| print(out, old.as_deref(), task, &created, (elapsed, held_back)))?;
    }
    Ok(0)
}

impl Create {
    fn builder(&self, old: Option<&Arc<Torrent>>) -> Result<Builder, String> {
        let mut builder = match old {
            Some(old) => Builder::new().like(old.clone()),
            None => Builder::new(),
        };
        builder = builder.symlinks(self.symlinks.into()).executable(!self.no_executable);
        builder = builder.leave_out(cautions::is_junk).created_by(concat!("hashloom ", env!("CARGO_PKG_VERSION")));
        let versions = [(self.v1, Version::V1), (self.v2, Version::V2), (self.hybrid, Version::Hybrid)];
        if let Some((_, version)) = versions.into_iter().find(|(given, _)| *given) {
            builder = builder.version(version);
        }
        if let Some(private) = self.private {
            builder = builder.private(private).declared_public(!private);
        }
        if self.entropy == Some(true) {
            let mut random = [0; 32];
            getrandom::fill(&mut random).map_err(|error| format!("--entropy: no random bytes: {error}"))?;
            builder = builder.entropy(hex(&random));
        }
        if let Some(PieceLength(nbytes)) = self.max_piece_length {
            builder = builder.most_piece_nbytes(nbytes);
        }
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
        let filter = match (self.include_patterns.is_empty(), self.exclude_patterns.is_empty()) {
            (true, true) => self.globs.filter(),
            // As in mkbrr: what is to be included is, whatever is to be excluded.
            (false, _) => self.globs.filter_with(&self.include_patterns, &[]),
            (true, false) => self.globs.filter_with(&[], &self.exclude_patterns),
        };
        Ok(builder.filter(filter?))
    }

    fn task<'a>(&'a self, builder: &Builder, path: &'a Path) -> Result<Task<'a>, String> {
        let is_open = !(self.v1 || self.v2 || self.hybrid || self.like.is_some());
        let planned = match builder.clone().plan(path) {
            Err(CreateError::PadFolder) if is_open => builder.clone().version(Version::V1).plan(path),
            planned => planned,
        };
        let mut plan = planned.map_err(|error| match error {
            CreateError::Nothing { .. } => format!("{error}; .torrent files and junk of systems are never taken in"),
            _ => error.to_string(),
        })?;
        let first = plan.piece_nbytes();
        let choose = |plan: &mut Plan| self.choose_pieces(plan).map_err(|error| format!("{}: {error}", display(path)));
        let chosen = choose(&mut plan);
        // Many clients take padding for files.
        if is_open && plan.has_padding() {
            plan.make_v1(first).map_err(|error| error.to_string())?;
            choose(&mut plan)?;
        } else {
            chosen?;
        }
        let warnings = self.ignored.values().flatten().cloned().chain(cautions::name_warnings(&plan)).collect();
        let output = self.output.clone().unwrap_or_else(|| {
            let mut name = OsString::new();
            let mut urls = self.trackers.iter().flat_map(|tier| tier.split(','));
            if let (Some(url), None, true) =
                (urls.next(), urls.next(), self.has_preset && self.skip_prefix != Some(true))
            {
                name.push(presets::prefix(url) + "_");
            }
            name.push(to_path(plan.name()));
            name.push(".torrent");
            self.output_dir.as_deref().unwrap_or(Path::new("")).join(name)
        });
        Ok(Task { job: self, path, plan, output, warnings })
    }

    /// Sets the length of a piece, if it depends on the length of the content or of the torrent.
    fn choose_pieces(&self, plan: &mut Plan) -> Result<(), String> {
        let given = self.piece_length.map(|PieceLength(nbytes)| nbytes);
        let most = self.max_piece_length.map(|PieceLength(nbytes)| nbytes);
        if let Some((given, most)) = given.zip(most).filter(|(given, most)| given > most) {
            let (given, most) = (size(given), size(most));
            return Err(format!("pieces of {given} are longer than the {most} of --max-piece-length. Raise it"));
        }
        let is_fixed = self.like.is_some() || given.is_some();
        let row = self.piece_table.iter().find(|(nbytes, _)| plan.nbytes() <= *nbytes);
        if let Some((_, length)) = row.filter(|_| !is_fixed) {
            plan.set_piece_nbytes(*length.min(&most.unwrap_or(u64::MAX))).map_err(|error| error.to_string())?;
        }
        let Some(Nbytes(limit)) = self.max_torrent_size else { return Ok(()) };
        let (first, first_nbytes) = (plan.piece_nbytes(), plan.torrent_nbytes() as u64);
        let mut nbytes = first_nbytes;
        while nbytes > limit && plan.piece_nbytes() < LONGEST_PIECE {
            let longer = (plan.piece_nbytes() + 1).next_power_of_two();
            plan.set_piece_nbytes(longer).map_err(|error| error.to_string())?;
            nbytes = plan.torrent_nbytes() as u64;
        }
        let chosen = plan.piece_nbytes();
        let allowed = if is_fixed { first } else { most.unwrap_or(16 << 20).max(first) };
        if nbytes <= limit && chosen <= allowed {
            return Ok(());
        }
        let (first, chosen) = (size(first), size(chosen));
        let cure = match nbytes <= limit {
            false => "no length of a piece is enough. Take fewer files, or allow a longer torrent".into(),
            true if self.like.is_some() => "allow a longer torrent, or make it without --like".into(),
            true if is_fixed => format!("the least that is enough is {chosen}"),
            true => format!("allow pieces of {chosen} with --max-piece-length: the least that is enough"),
        };
        Err(format!(
            "pieces of {first} make a torrent of {first_nbytes} bytes, pieces of {chosen} one of {nbytes}, and \
             --max-torrent-size, or the rule of the tracker, allows {limit}: {cure}"
        ))
    }
}

/// The longest piece of any torrent.
const LONGEST_PIECE: u64 = 256 << 20;

impl Task<'_> {
    /// Tells what strangers would stumble over. Best effort: if standard error is closed, nobody wants to know.
    fn warn(&self) {
        let mut errors = io::stderr();
        if let Some(note) = cautions::left_out(&self.plan) {
            let _ = writeln!(errors, "hashloom: {}: {note}", display(self.path));
        }
        for warning in &self.warnings {
            let _ = writeln!(errors, "{} {}: {warning}", style::warning(), display(self.path));
        }
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

/// Lists the files of a torrent, in a dry run.
fn list(out: &mut impl Write, task: &Task<'_>) -> io::Result<()> {
    let plan = &task.plan;
    if task.job.json {
        hashloom_frame::json::write_json(&mut *out, &PlanJson::new(task))?;
        return writeln!(out);
    }
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
    old: Option<&Torrent>,
    task: &Task<'_>,
    created: &Created,
    (elapsed, held_back): (Duration, Option<HeldBack>),
) -> io::Result<()> {
    let (plan, torrent) = (&task.plan, &created.torrent);
    let same =
        old.map(|old| (old.info_hash_v1(), old.info_hash_v2()) == (torrent.info_hash_v1(), torrent.info_hash_v2()));
    if task.job.quiet {
        return Ok(());
    }
    if task.job.json {
        hashloom_frame::json::write_json(&mut *out, &Json::new(task, created, same, elapsed, held_back))?;
        return writeln!(out);
    }
    writeln!(out, "{}", style::bold(shown(plan.name())))?;
    write_info_hashes(out, torrent)?;
    writeln!(out, "  torrent    {}, {}", plan.version(), content(plan))?;
    writeln!(out, "  content    {}", display(task.path))?;
    if let (Some(like), Some(same)) = (&task.job.like, same) {
        let hash = if same { "the same info-hash" } else { "another info-hash: clients see another torrent" };
        writeln!(out, "  like       {}, all pieces compared; {hash}", display(like))?;
    }
    tree(out, plan)?;
    let (nbytes, speed) = (size(created.bytes.len() as u64), read_at(created.nbytes_read, elapsed, held_back));
    let line =
        format!("  {}    {}, {nbytes} in {}{speed}", style::good("written"), display(&task.output), duration(elapsed));
    writeln!(out, "{}", style::fitted(&line))
}

/// Number of lines of the tree of files.
const TREE_LINES_MAX: usize = 24;

/// Prints the first files as a tree, and how many there are besides.
fn tree(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    let mut open: Vec<&[u8]> = Vec::new();
    let mut lines = 0;
    for (index, file) in plan.files().enumerate().filter(|_| !plan.is_single_file()) {
        let mut folders: Vec<&[u8]> = file.path.split(|&byte| byte == b'/').collect();
        let name = folders.pop().unwrap_or_default();
        let common = open.iter().zip(&folders).take_while(|(a, b)| a == b).count();
        lines += folders.len() - common + 1;
        if lines > TREE_LINES_MAX {
            let left = plan.files().len() - index;
            return writeln!(out, "  {:>10}  and {} more", "", plural(left as u64, "file"));
        }
        for (depth, folder) in folders.iter().enumerate().skip(common) {
            writeln!(out, "  {:>10}  {:depth$}{}/", "", "", shown(folder), depth = 2 * depth)?;
        }
        writeln!(out, "  {:>10}  {:depth$}{}", size(file.nbytes), "", shown(name), depth = 2 * folders.len())?;
        open = folders;
    }
    Ok(())
}

/// JSON of `torrent create`: one object for each torrent.
#[derive(Serialize)]
struct Json<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// The torrent that was made.
    torrent: TorrentJson<'a>,
    /// The file or folder.
    #[serde(flatten)]
    content: Named<'a>,
    /// The files, without padding.
    files: Files<'a>,
    /// Paths of junk that is not in the torrent.
    left_out: Vec<String>,
    /// With `--like`: whether the info-hashes are those of the other torrent.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_info_hash: Option<bool>,
    /// Warnings about names and episodes.
    warnings: &'a [String],
    /// Bytes read; holes of files are not.
    bytes_read: u64,
    /// Duration.
    seconds: f64,
    /// What held the work back, `disk`, `cpu` or `rate`; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<&'static str>,
}

/// JSON of `torrent create`: a torrent that would be made, with what is known before anything is read.
#[derive(Serialize)]
struct PlanJson<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// True.
    dry_run: bool,
    /// The torrent.
    torrent: PlannedJson<'a>,
    /// The file or folder.
    #[serde(flatten)]
    content: Named<'a>,
    /// The files, without padding.
    files: Files<'a>,
    /// Paths of junk that would not be in the torrent.
    left_out: Vec<String>,
    /// Warnings about names and episodes.
    warnings: &'a [String],
}

#[derive(Serialize)]
struct PlannedJson<'a> {
    /// The torrent's path.
    #[serde(flatten)]
    path: Named<'a>,
    /// The name in the torrent, of the file or folder.
    #[serde(flatten)]
    name: Named<'a>,
    /// `v1`, `v2` or `hybrid`.
    version: String,
    /// Bytes of all files, without padding.
    length: u64,
    /// Bytes of a piece.
    piece_length: u64,
    /// Number of pieces.
    piece_count: u64,
    /// Number of files, without padding.
    file_count: usize,
}

impl<'a> PlanJson<'a> {
    fn new(task: &'a Task<'_>) -> PlanJson<'a> {
        let plan = &task.plan;
        PlanJson {
            hashloom: env!("CARGO_PKG_VERSION"),
            dry_run: true,
            torrent: PlannedJson {
                path: Named::path("path", &task.output),
                name: Named::new("name", plan.name()),
                version: plan.version().to_string(),
                length: plan.nbytes(),
                piece_length: plan.piece_nbytes(),
                piece_count: plan.piece_count(),
                file_count: plan.files().len(),
            },
            content: Named::path("content", task.path),
            files: Files(plan),
            left_out: left_out(plan),
            warnings: &task.warnings,
        }
    }
}

fn left_out(plan: &Plan) -> Vec<String> {
    plan.left_out().iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

#[derive(Serialize)]
struct TorrentJson<'a> {
    #[serde(flatten)]
    identity: Identity<'a>,
    /// Length of the .torrent file.
    bytes: usize,
}

/// The files without padding. The list can be long, so each element is made when it is written.
struct Files<'a>(&'a Plan);

#[derive(Serialize)]
struct FileJson<'a> {
    /// The path in the torrent's folder.
    #[serde(flatten)]
    path: Named<'a>,
    /// Bytes.
    length: u64,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files = self.0.files();
        serializer.collect_seq(files.map(|file| FileJson { path: Named::new("path", file.path), length: file.nbytes }))
    }
}

impl<'a> Json<'a> {
    fn new(
        task: &'a Task<'_>,
        created: &'a Created,
        same_info_hash: Option<bool>,
        elapsed: Duration,
        held_back: Option<HeldBack>,
    ) -> Json<'a> {
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: TorrentJson {
                identity: Identity::new(&task.output, &created.torrent),
                bytes: created.bytes.len(),
            },
            content: Named::path("content", task.path),
            files: Files(&task.plan),
            left_out: left_out(&task.plan),
            same_info_hash,
            warnings: &task.warnings,
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
}
