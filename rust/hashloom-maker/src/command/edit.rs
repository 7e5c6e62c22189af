// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent edit`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hashloom_files::Stamp;
use hashloom_files::text::shown;
use hashloom_frame::exit::EXIT_ERROR;
use hashloom_frame::json::hex;
use hashloom_frame::output::{self, Same};
use hashloom_frame::style;
use hashloom_frame::text::{display, failed, reason};
use hashloom_frame::units::{date, size};
use hashloom_torrent::Metadata;
use hashloom_torrent::command::identity::Identity;
use hashloom_torrent::command::{check_path, read_as};
use serde::Serialize;

use super::{Date, not_written};
use crate::{Edit as Changes, Edited};

/// Change trackers, comment and other metadata of torrents.
///
/// Nothing is hashed again, and the content is not needed. Everything that no option names stays byte for byte.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Edit {
    /// The .torrent files; each is replaced by the edited one unless --output or --output-dir is given
    #[arg(value_name = "TORRENT", required = true)]
    torrents: Vec<PathBuf>,

    /// Replace all trackers by this one; can be given several times; clients try them in this order. URLs separated by
    /// commas are one tier: clients try these in random order
    #[arg(
        short,
        long = "tracker",
        visible_alias = "announce",
        value_name = "URL[,URL]",
        conflicts_with = "no_trackers"
    )]
    trackers: Vec<String>,

    /// Add a tracker, or a tier of several, after the others, unless it is there already
    #[arg(long, value_name = "URL[,URL]")]
    add_tracker: Vec<String>,

    /// Remove this tracker, if it is there
    #[arg(long, value_name = "URL")]
    remove_tracker: Vec<String>,

    /// Replace OLD by NEW in the URL of every tracker, such as a host or a passkey
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2)]
    replace_in_trackers: Vec<String>,

    /// Remove all trackers
    #[arg(long)]
    no_trackers: bool,

    /// Write to FILE and leave TORRENT as it is
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir")]
    output: Option<PathBuf>,

    /// Write files of the same names into DIR and leave the torrents as they are
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,

    /// Print what would change; write nothing
    #[arg(long)]
    dry_run: bool,

    /// Set the comment
    #[arg(short, long, value_name = "TEXT", conflicts_with = "no_comment")]
    comment: Option<String>,

    /// Remove the comment
    #[arg(long)]
    no_comment: bool,

    /// Set the place where the torrent is published; changes the info-hash
    #[arg(short, long, value_name = "TEXT", conflicts_with = "no_source")]
    source: Option<String>,

    /// Remove the source; changes the info-hash of a torrent that has one
    #[arg(long)]
    no_source: bool,

    /// Allow peers only from the trackers (BEP 27); changes the info-hash
    #[arg(short, long, conflicts_with = "public")]
    private: bool,

    /// Allow peers from anywhere; changes the info-hash of a private torrent
    #[arg(long, visible_alias = "no-private")]
    public: bool,

    /// Set the name of the file or folder; changes the info-hash
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,

    /// Replace all web seeds by this server that has the files; can be given several times (BEP 19)
    #[arg(short, long = "web-seed", value_name = "URL", conflicts_with = "no_web_seeds")]
    web_seeds: Vec<String>,

    /// Add a web seed, unless it is there already
    #[arg(long, value_name = "URL")]
    add_web_seed: Vec<String>,

    /// Remove this web seed, if it is there
    #[arg(long, value_name = "URL")]
    remove_web_seed: Vec<String>,

    /// Remove all web seeds
    #[arg(long)]
    no_web_seeds: bool,

    /// Set the creation date: "now", or seconds since 1970 (UTC). SOURCE_DATE_EPOCH, if set, replaces "now"
    #[arg(short, long, value_name = "DATE", conflicts_with = "no_date")]
    date: Option<Date>,

    /// Remove the creation date
    #[arg(long)]
    no_date: bool,

    /// Replace an existing FILE, or existing files in DIR
    #[arg(short, long)]
    force: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with_all = ["json", "dry_run"])]
    quiet: bool,

    /// Print one JSON object for each torrent instead
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
One rule for all options:
  An option without a prefix, such as --tracker, replaces what is there. --add-…
  and --remove-… change one item of a list. --no-… removes everything. hashloom
  applies several options in this order: --tracker, --replace-in-trackers,
  --remove-…, --add-….

The info-hash:
  The info-hash does not cover trackers, web seeds, comment and date: hashloom
  checks that it stays the same before the torrent is written. The info-hash
  covers the private flag, source and name, so a change of these changes it:
  clients and trackers then treat it as a different torrent, although the
  content is the same. The old and the new info-hash are printed. Signatures
  (BEP 35) of the old info-hash are removed.

How the torrent is written:
  The new torrent is parsed and compared with the old one. It is written to a
  temporary file, which is then renamed. A symbolic link stays; the file that
  the link leads to is replaced. If another program changes the torrent
  meanwhile, hashloom leaves the torrent as it is. If nothing changes, nothing
  is written.

Exit status:
  0  all torrents are edited, or need no change
  2  wrong usage, or a torrent that cannot be read or written; the others are
     edited all the same

Examples:
  hashloom torrent edit a.torrent --add-tracker udp://example.org:6969
  hashloom torrent edit *.torrent --replace-in-trackers OLD NEW --dry-run
  hashloom torrent edit a.torrent --private --source HERE -o /srv/b.torrent
  hashloom torrent edit a.torrent --no-comment --no-date --no-trackers";

/// Returns the exit status.
pub fn run(arguments: &Edit) -> Result<u8, String> {
    let changes = arguments.changes()?;
    if changes == Changes::new() {
        return Err("no change is asked for. Give one, such as --tracker URL; --help lists all".into());
    }
    if arguments.torrents.len() > 1 && (arguments.output.is_some() || arguments.name.is_some()) {
        return Err("--output and --name are for one TORRENT. For several use --output-dir".into());
    }
    changes.check().map_err(|error| error.to_string())?;
    let mut status = 0;
    for path in &arguments.torrents {
        match edit(arguments, &changes, path) {
            Ok(done) => output::print(|out| done.print(out, arguments))?,
            Err(message) => {
                // Best effort: if standard error is closed, the exit status still tells.
                let _ = writeln!(io::stderr(), "{} {message}", style::error());
                status = EXIT_ERROR;
            }
        }
    }
    Ok(status)
}

impl Edit {
    fn changes(&self) -> Result<Changes, String> {
        let mut changes = Changes::new();
        if self.no_trackers || !self.trackers.is_empty() {
            changes = changes.trackers(self.trackers.iter().map(|tier| tier.split(',')));
        }
        for pair in self.replace_in_trackers.chunks_exact(2) {
            if pair[0].is_empty() {
                return Err("--replace-in-trackers: OLD is empty; expected a part of a URL".into());
            }
            changes = changes.replace_in_trackers(&pair[0], &pair[1]);
        }
        changes = self.remove_tracker.iter().fold(changes, |changes, url| changes.remove_tracker(url));
        changes = self.add_tracker.iter().fold(changes, |changes, tier| changes.add_tier(tier.split(',')));
        if self.no_web_seeds || !self.web_seeds.is_empty() {
            changes = changes.web_seeds(&self.web_seeds);
        }
        changes = self.remove_web_seed.iter().fold(changes, |changes, url| changes.remove_web_seed(url));
        changes = self.add_web_seed.iter().fold(changes, |changes, url| changes.add_web_seed(url));
        if self.no_comment || self.comment.is_some() {
            changes = changes.comment(self.comment.as_deref());
        }
        if self.no_date || self.date.is_some() {
            changes = changes.date(self.date.map(Date::seconds).transpose()?);
        }
        if self.private || self.public {
            changes = changes.private(self.private);
        }
        if self.no_source || self.source.is_some() {
            changes = changes.source(self.source.as_deref());
        }
        if let Some(name) = &self.name {
            changes = changes.name(name);
        }
        Ok(changes)
    }

    /// Returns the place of the edited torrent; `None` if it replaces the old one.
    fn output(&self, torrent: &Path) -> Option<PathBuf> {
        let in_folder = |folder: &PathBuf| folder.join(torrent.file_name().unwrap_or_default());
        self.output.clone().or_else(|| self.output_dir.as_ref().map(in_folder))
    }
}

/// A torrent that has been edited.
struct Done {
    edited: Edited,
    /// The file that was or would be written.
    output: PathBuf,
    written: bool,
}

/// Edits one torrent.
fn edit(arguments: &Edit, changes: &Changes, path: &Path) -> Result<Done, String> {
    let apply = |file: File| read_as(path, file, |bytes| changes.apply(bytes));
    check_path(path)?;
    if let Some(output) = arguments.output(path) {
        let edited = apply(File::open(path).map_err(|error| failed(path, &error))?)?;
        let refused = |why: &str| Err(format!("{}: the torrent is not written there: {why}", display(&output)));
        if output.is_dir() {
            return refused("it is a folder. Give a FILE with --output, or the folder with --output-dir");
        }
        if Same::new(path).is(&output) {
            return refused("it is TORRENT itself. To edit TORRENT in place give neither --output nor --output-dir");
        }
        if output::exists(&output) && !arguments.force {
            return refused("it exists. Give --force to replace it, or another place");
        }
        if !arguments.dry_run {
            let written = if arguments.force {
                output::write(&output, &edited.bytes)
            } else {
                output::write_new(&output, &edited.bytes)
            };
            written.map_err(|error| not_written(&output, &error))?;
        }
        return Ok(Done { edited, output, written: !arguments.dry_run });
    }
    if arguments.dry_run {
        let edited = apply(File::open(path).map_err(|error| failed(path, &error))?)?;
        return Ok(Done { edited, output: path.to_owned(), written: false });
    }
    let not_edited =
        |error: io::Error| format!("{}: the torrent cannot be edited in place: {}", display(path), reason(&error));
    let (mut state, file) = output::open_to_replace(path).map_err(not_edited)?;
    let old = Stamp::of_file(&file).map_err(not_edited)?;
    // Windows replaces an open file on some file systems only. Elsewhere the file is locked until it is replaced.
    let _locked = cfg!(not(windows)).then(|| file.try_clone()).transpose().map_err(not_edited)?;
    let edited = apply(file)?;
    let written = !edited.keys.is_empty();
    if written {
        let write = |mut new: &File| {
            new.write_all(&edited.bytes)?;
            if Stamp::at(path)? == old {
                Ok(())
            } else {
                Err(io::Error::other("another program has changed it meanwhile; it is left alone"))
            }
        };
        state.write(write).map_err(not_edited)?;
    }
    Ok(Done { edited, output: path.to_owned(), written })
}

impl Done {
    fn print(&self, out: &mut impl Write, arguments: &Edit) -> io::Result<()> {
        if arguments.quiet {
            return Ok(());
        }
        if arguments.json {
            hashloom_frame::json::write_json(&mut *out, &Json::new(self))?;
            return writeln!(out);
        }
        let (before, after) = (&self.edited.before, &self.edited.torrent);
        writeln!(out, "{}", style::bold(shown(after.name())))?;
        // Two info-hashes are told apart by their versions, as `torrent create` prints them.
        let is_hybrid = after.info_hash_v1().is_some() && after.info_hash_v2().is_some();
        let version = |version| if is_hybrid { format!(" (version {version})") } else { String::new() };
        hash(out, &version(1), before.info_hash_v1, after.info_hash_v1())?;
        hash(out, &version(2), before.info_hash_v2, after.info_hash_v2())?;
        difference(out, "name", &[shown(&before.name).to_string()], &[shown(after.name()).to_string()])?;
        for (name, lines) in FIELDS {
            difference(out, name, &lines(&before.metadata), &lines(after.metadata()))?;
        }
        let keys = &self.edited.keys;
        if keys.contains(&"signatures") {
            writeln!(out, "  signatures removed, as they sign the old info-hash")?;
        }
        let output = display(&self.output);
        match (self.written, keys.is_empty()) {
            (true, _) => {
                let nbytes = size(self.edited.bytes.len() as u64);
                writeln!(out, "  {}    {output}, {nbytes}", style::good("written"))
            }
            (false, true) => writeln!(out, "  unchanged  {output}"),
            (false, false) => writeln!(out, "  {output}: not written, as this is a dry run"),
        }
    }
}

/// The lines that show a part of the metadata.
type Lines = fn(&Metadata) -> Vec<String>;

/// The parts of the metadata that can be edited, by the names in the output.
const FIELDS: [(&str, Lines); 6] = [
    ("trackers", |metadata| {
        let tiers = metadata.trackers.iter().enumerate();
        tiers.flat_map(|(tier, urls)| urls.iter().map(move |url| format!("{} {}", tier + 1, shown(url)))).collect()
    }),
    ("web seeds", |metadata| metadata.web_seeds.iter().map(|url| shown(url).to_string()).collect()),
    ("private", |metadata| metadata.private.then(|| "yes".to_owned()).into_iter().collect()),
    ("source", |metadata| text(metadata.source.as_deref())),
    ("comment", |metadata| text(metadata.comment.as_deref())),
    ("created", |metadata| {
        let seconds = metadata.creation_date;
        seconds
            .map(|seconds| date(seconds).unwrap_or_else(|| format!("{seconds} seconds after 1970")))
            .into_iter()
            .collect()
    }),
];

fn text(text: Option<&[u8]>) -> Vec<String> {
    let lines = text.into_iter().flat_map(|text| text.split(|&byte| byte == b'\n'));
    lines.map(|line| shown(line.strip_suffix(b"\r").unwrap_or(line)).to_string()).collect()
}

/// Prints an info-hash, the old and the new one if they differ, and what stands behind it.
fn hash<const N: usize>(
    out: &mut impl Write,
    version: &str,
    before: Option<[u8; N]>,
    after: Option<[u8; N]>,
) -> io::Result<()> {
    let [before, after] = [before, after].map(|hash| hash.map(|hash| format!("{}{version}", hex(&hash))));
    match (before, after) {
        (Some(before), Some(after)) if before == after => writeln!(out, "  info-hash  {after}, as before"),
        (before, after) => difference(out, "info-hash", &Vec::from_iter(before), &Vec::from_iter(after)),
    }
}

/// Prints the lines that are removed, then those that are added.
fn difference(out: &mut impl Write, name: &str, before: &[String], after: &[String]) -> io::Result<()> {
    let removed = before.iter().filter(|line| !after.contains(line)).map(|line| style::bad(format!("- {line}")));
    let added = after.iter().filter(|line| !before.contains(line)).map(|line| style::good(format!("+ {line}")));
    for (index, line) in removed.chain(added).enumerate() {
        writeln!(out, "  {:<9}  {line}", if index == 0 { name } else { "" })?;
    }
    Ok(())
}

/// JSON of `torrent edit`: one object for each torrent.
#[derive(Serialize)]
struct Json<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// The torrent after the edit; `path` is that of the new file.
    torrent: TorrentJson<'a>,
    /// The info-hashes before the edit.
    before: Before,
    /// The keys that were added, changed or removed, such as `announce-list`, `comment`, `info.private`.
    changed: &'a [&'static str],
    /// False in a dry run, and if nothing changed and no other place was given.
    written: bool,
}

#[derive(Serialize)]
struct TorrentJson<'a> {
    #[serde(flatten)]
    identity: Identity<'a>,
    /// Length of the .torrent file.
    bytes: usize,
}

/// The info-hashes before the edit.
#[derive(Serialize)]
struct Before {
    /// SHA-1 of version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    info_hash: Option<String>,
    /// SHA-256 of version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    info_hash_v2: Option<String>,
}

impl<'a> Json<'a> {
    fn new(done: &'a Done) -> Json<'a> {
        let edited = &done.edited;
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: TorrentJson { identity: Identity::new(&done.output, &edited.torrent), bytes: edited.bytes.len() },
            before: Before {
                info_hash: edited.before.info_hash_v1.map(|hash| hex(&hash)),
                info_hash_v2: edited.before.info_hash_v2.map(|hash| hex(&hash)),
            },
            changed: &edited.keys,
            written: done.written,
        }
    }
}
