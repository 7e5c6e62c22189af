// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent show`.
//!
//! A torrent can have a million files, so each line is written as soon as it is made.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hashloom_files::text::shown;
use hashloom_frame::exit::EXIT_ERROR;
use hashloom_frame::json::hex;
use hashloom_frame::units::{date, size};
use hashloom_frame::{output, style};

use super::identity;
use super::show_json::Json;
use crate::{File, Torrent, Version};

/// Show what is in a torrent.
///
/// Shows its files, info-hashes, magnet link, trackers, and deviations from the standards. Reads torrents of version 1,
/// version 2 and hybrid ones. Reads no other file, and writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Show {
    /// The .torrent files
    #[arg(value_name = "TORRENT", required = true)]
    pub torrents: Vec<PathBuf>,

    /// List all files, trackers, seeds and notes, and the whole comment
    #[arg(short, long)]
    pub all: bool,

    /// Print everything as JSON instead, one object a line for each torrent
    #[arg(long, conflicts_with_all = ["all", "roots"])]
    pub json: bool,

    /// Show the root of each file's hash tree (version 2)
    #[arg(long)]
    pub roots: bool,
}

const HELP: &str = "\
What is shown:
  size        total of the files; padding files are neither counted nor listed
  magnet      info-hashes, name, trackers and web seeds, in the form of BEP 9
  trackers    with the number of the tier; clients try the first tier first
  note        a deviation from the standards that is accepted
  Long lists are cut unless --all is given: at 100 files, or 10 trackers. Bytes
  that are not UTF-8 and characters that could control a terminal are shown as
  \\xff and \\u{202e}.

Exit status:
  0  shown
  2  wrong usage, or a torrent that cannot be read (the others are shown)

Examples:
  hashloom torrent show debian.torrent
  hashloom torrent show --all --roots album.torrent | less
  hashloom torrent show --json *.torrent | jq -r '.info_hash, .name'";

/// Limits of lists unless --all is given.
const FILES_MAX: usize = 100;
const LINES_MAX: usize = 10;

/// Returns the exit status.
pub fn run(arguments: &Show) -> Result<u8, String> {
    let mut status = 0;
    let mut shown_before = false;
    for path in &arguments.torrents {
        let torrent = match super::read(path) {
            Ok(torrent) => torrent,
            Err(message) => {
                // Best effort: if standard error is closed, the exit status still tells.
                let _ = writeln!(io::stderr(), "{} {message}", style::error());
                status = EXIT_ERROR;
                continue;
            }
        };
        output::print(|out| {
            if arguments.json {
                hashloom_frame::json::write_json(&mut *out, &Json::new(path, &torrent))?;
                return writeln!(out);
            }
            if shown_before {
                writeln!(out)?;
            }
            page(out, &torrent, arguments)
        })?;
        shown_before = true;
    }
    Ok(status)
}

fn page(out: &mut impl Write, torrent: &Torrent, arguments: &Show) -> io::Result<()> {
    let metadata = torrent.metadata();
    writeln!(out, "{}", style::bold(shown(torrent.name())))?;
    let mut page = Page { out, all: arguments.all };
    let version = match torrent.version() {
        Version::Hybrid => "hybrid: v1 and v2".to_owned(),
        version => version.to_string(),
    };
    page.line("version", version)?;
    let (_, nbytes) = identity::size_of(torrent);
    page.line("size", exact_size(nbytes))?;
    if nbytes < torrent.total_nbytes() {
        page.line("padding", exact_size(torrent.total_nbytes() - nbytes))?;
    }
    page.line("pieces", format!("{} of {}", torrent.piece_count(), exact_size(torrent.piece_nbytes())))?;
    if let Some(hash) = torrent.info_hash_v1() {
        page.line("info-hash", hex(&hash))?;
    }
    if let Some(hash) = torrent.info_hash_v2() {
        page.line("info-hash v2", hex(&hash))?;
    }
    page.line("magnet", torrent.magnet())?;
    if metadata.private {
        page.line("private", "yes: peers come from the trackers only")?;
    }
    page.text("source", metadata.source.as_deref())?;
    page.text("comment", metadata.comment.as_deref())?;
    page.text("created by", metadata.created_by.as_deref())?;
    if let Some(seconds) = metadata.creation_date {
        page.line("created", date(seconds).unwrap_or_else(|| format!("{seconds} seconds after 1970")))?;
    }
    page.text("encoding", metadata.encoding.as_deref())?;
    page.text("publisher", metadata.publisher.as_deref())?;
    page.text("published at", metadata.publisher_url.as_deref())?;
    page.text("update from", metadata.update_url.as_deref())?;
    let tiers = metadata.trackers.iter().enumerate();
    let width = metadata.trackers.len().to_string().len();
    let trackers =
        tiers.flat_map(|(tier, urls)| urls.iter().map(move |url| format!("{:>width$} {}", tier + 1, shown(url))));
    page.list("trackers", trackers)?;
    page.list("web seeds", metadata.web_seeds.iter().map(|url| shown(url)))?;
    page.list("HTTP seeds", metadata.http_seeds.iter().map(|url| shown(url)))?;
    page.list("DHT nodes", metadata.nodes.iter().map(|(host, port)| format!("{}:{port}", shown(host))))?;
    page.list("note", torrent.notes().iter())?;
    let unlisted = torrent.note_count() - torrent.notes().len();
    if unlisted > 0 {
        page.line("", format!("and {unlisted} more that were not recorded"))?;
    }
    files(out, torrent, arguments)
}

/// Lines of a name and a value.
struct Page<'a, W: Write> {
    out: &'a mut W,
    /// Whether long lists are shown in full.
    all: bool,
}

impl<W: Write> Page<'_, W> {
    fn line(&mut self, name: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "  {name:<12}  {text}")
    }

    /// Prints text line by line.
    fn text(&mut self, name: &str, text: Option<&[u8]>) -> io::Result<()> {
        let lines = text.unwrap_or_default().split(|&byte| byte == b'\n');
        self.list(
            name,
            lines.map(|line| shown(line.strip_suffix(b"\r").unwrap_or(line))).take(text.map_or(0, |_| usize::MAX)),
        )
    }

    /// Prints a list, the name only before the first item.
    fn list(&mut self, name: &str, mut items: impl Iterator<Item = impl Display>) -> io::Result<()> {
        let most = if self.all { usize::MAX } else { LINES_MAX };
        for (index, item) in items.by_ref().take(most).enumerate() {
            self.line(if index == 0 { name } else { "" }, item)?;
        }
        match items.count() {
            0 => Ok(()),
            more => self.line("", style::dim(format!("and {more} more (--all)"))),
        }
    }
}

/// Prints the tree of files. A folder is named before the first file in it, and again if others came between.
fn files(out: &mut impl Write, torrent: &Torrent, arguments: &Show) -> io::Result<()> {
    let (count, _) = identity::size_of(torrent);
    writeln!(out, "  {:<12}  {}", "files", count)?;
    writeln!(out)?;
    let most = if arguments.all { usize::MAX } else { FILES_MAX };
    let mut depth = 0;
    if !torrent.is_single_file() {
        folder(out, depth, torrent.name())?;
        depth += 1;
    }
    let mut before: &[u8] = b"";
    for file in torrent.files_without_padding().take(most) {
        let (folders, name) = split(file.path);
        let shared = shared_folders(before, folders);
        for (index, component) in folders.split(|&byte| byte == b'/').enumerate().skip(shared) {
            if !folders.is_empty() {
                folder(out, depth + index, component)?;
            }
        }
        before = folders;
        let inside = depth + if folders.is_empty() { 0 } else { folders.split(|&byte| byte == b'/').count() };
        write!(out, "{:>12}  {:indent$}{}", size(file.nbytes), "", shown(name), indent = INDENT * inside)?;
        properties(out, &file)?;
        writeln!(out)?;
        if let Some(root) = file.root.filter(|_| arguments.roots) {
            writeln!(out, "{:12}  {:indent$}{}", "", "", style::dim(hex(root)), indent = INDENT * inside)?;
        }
    }
    if count > most {
        writeln!(out, "{:12}  {}", "", style::dim(format!("and {} more (--all)", count - most)))?;
    }
    Ok(())
}

const INDENT: usize = 2;

fn folder(out: &mut impl Write, depth: usize, name: &[u8]) -> io::Result<()> {
    writeln!(out, "{:12}  {:indent$}{}", "", "", style::bold(format!("{}/", shown(name))), indent = INDENT * depth)
}

fn properties(out: &mut impl Write, file: &File<'_>) -> io::Result<()> {
    if file.attributes.symlink {
        let target = file
            .symlink
            .map_or("a target that the torrent does not name".to_owned(), |target| shown(target).to_string());
        write!(out, " -> {target}")?;
    }
    if file.attributes.executable {
        write!(out, "  {}", style::dim("executable"))?;
    }
    if file.attributes.hidden {
        write!(out, "  {}", style::dim("hidden"))?;
    }
    Ok(())
}

/// Splits a path into its folders and its last component.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Returns the number of leading folders that two paths share.
fn shared_folders(a: &[u8], b: &[u8]) -> usize {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let components = |path: &[u8]| path.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
    components(a).iter().zip(&components(b)).take_while(|(a, b)| a == b).count()
}

fn exact_size(nbytes: u64) -> String {
    let text = size(nbytes);
    if nbytes < 1024 { text } else { format!("{text} ({nbytes} bytes)") }
}
