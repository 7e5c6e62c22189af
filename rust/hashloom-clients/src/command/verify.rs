// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent verify`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use hashloom_files::Stamp;
use hashloom_files::paths::to_path;
use hashloom_files::run::{InOrder, Meter};
use hashloom_frame::doubts;
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use hashloom_frame::interrupt;
use hashloom_frame::output::Same;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::{display, reason};
use hashloom_frame::units::plural;
use hashloom_frame::work::{Checking, tell_origin};
use hashloom_frame::{output, style};
use hashloom_state::Progress;
use hashloom_torrent::{Check, FileState, Location, PieceState, Report, Torrent, Verdicts, verify_pieces};

use super::resume_files::{Claim, Clients, Plan, RESULT_STANDS, Targets, Written};
use super::scope::Scope;
use super::verify_json::Json;
use super::{piece_map, read, verify_summary};
use crate::Checkpoint;

/// Check files on disk against torrents.
///
/// Reads every piece, compares its digests with the torrent's, and says which pieces are right, missing or bad. Changes
/// nothing on disk except the files that --bitfield, --resume, --libtorrent and --transmission name, and padding files
/// if --padding-files asks for them.
#[derive(Debug, Args)]
#[command(after_long_help = HELP, override_usage = "hashloom torrent verify [OPTIONS] <TORRENT>... [PATH]")]
pub struct Verify {
    /// The .torrent files. A last argument whose name does not end in .torrent is the folder that holds the content (a
    /// client's download folder), or the content itself [default: the folder that the client's resume file names, if
    /// one is given; else the current folder]
    #[arg(value_name = "TORRENT", required = true)]
    paths: Vec<PathBuf>,

    /// The folder that holds the content, or the content itself; all other arguments are then torrents
    #[arg(short, long, value_name = "PATH")]
    data: Option<PathBuf>,

    /// List the pieces that are not right and the files they touch
    #[arg(long)]
    missing: bool,

    /// Print errors only; the exit status tells the result
    #[arg(short, long, conflicts_with_all = ["missing", "map", "json", "repair_list"])]
    quiet: bool,

    /// Print one JSON object for each torrent instead
    #[arg(long, conflicts_with_all = ["missing", "map"])]
    json: bool,

    #[command(flatten)]
    scope: Scope,

    /// Draw the pieces
    #[arg(long)]
    map: bool,

    /// Count a file that is too long, or an empty one that is missing, as wrong: exit status 1
    #[arg(long)]
    exact: bool,

    /// Keep the progress of the check in FILE, and go on from there after an interruption. Pieces of files that have
    /// changed since are checked again. A torrent is taken out of FILE at the end of its check, and a FILE without
    /// torrents is removed. hashloom never writes to a file that is not such a state
    #[arg(long, value_name = "FILE", conflicts_with = "uncached")]
    resume: Option<PathBuf>,

    /// Write the pieces that are right to FILE, one bit each, in the order of BitTorrent's bitfield message. An
    /// existing FILE is replaced, unless FILE is the torrent or a file of its content
    #[arg(long, value_name = "FILE")]
    bitfield: Option<PathBuf>,

    /// Print only the bytes that are not right, one range a line: state, first byte, last byte, file, separated by tabs
    #[arg(long, conflicts_with_all = ["missing", "map", "json"])]
    repair_list: bool,

    #[command(flatten)]
    clients: Clients,

    #[command(flatten)]
    work: Checking,
}

const HELP: &str = "\
Where the content is looked for:
  A torrent of one file:  PATH itself if it is a file; else PATH/name.
  A torrent of a folder:  PATH/name if that is a folder; else PATH itself, if
                          any of the files exists there. If PATH/name is a
                          folder, but PATH has more of the first 100 files,
                          PATH is taken.
  `name` is the name in the torrent. PATH may be a symbolic link. Links below
  PATH are followed as long as they stay below PATH.

States of a piece:
  missing    a file of the piece does not exist or is too short
  bad        all bytes are there, but some are wrong
  unread     a file of the piece cannot be opened or read
  disputed   right by one half of a hybrid torrent, wrong by the other half: the
             torrent is at fault
  unstable   a file of the piece changed each of the three times that it was
             checked: the piece is neither right nor wrong
  hashloom compares the SHA-1 of each piece for version 1, its hash tree for
  version 2, and both, from one read, for a hybrid torrent. A file that is too
  long is named. Its pieces are judged by their bytes alone, as clients judge
  them, so the exit status is 0 unless --exact is given. Padding files (BEP 47)
  are zeros and need not exist: libtorrent's clients hide them. Transmission 4,
  rTorrent and aria2 take them for files, and show a hybrid torrent of several
  files as incomplete until they are there: --padding-files makes them. For
  Transmission no piece with padding is claimed that is not there, and a note
  says how many. A symbolic link that is missing or leads
  elsewhere is noted, and so is a file that should be executable but is not;
  neither makes the content incomplete, as most clients create neither.

Several torrents are checked side by side, on all lanes and threads. Each gets
a line.

Checking some of a torrent (--file, --first, --claimed):
  Only their pieces are read, and the verdict is on these alone: \"part right:
  12 of 400 pieces checked\". It is \"complete\" only if all pieces were asked
  for. GLOB is that of --include: without a slash it matches names at any
  depth, with one the path in the torrent as hashloom torrent show prints it:
  'CD1/**' means all files of a folder. Upper and lower case differ. Empty
  files, links and padding have no pieces, and are not looked at. With several
  of the options, the pieces that all of them ask for are checked. Neither
  --file nor --first goes with --libtorrent or --transmission: a client would
  fetch again all that was not checked.

Going on from an interrupted check (--resume):
  A verdict is taken over on three conditions. The content is in the same folder
  on the same device: a copy of a disk is checked anew. The files of the piece
  are unchanged. At the check it was also certain that any later change would
  show: nobody had the files open for writing, as far as Linux tells (it tells
  only a file's owner and root), and the file system records every change (ext4,
  XFS, Btrfs, F2FS, bcachefs; not tmpfs, overlayfs, ZFS, FUSE or network file
  systems). Everything else is checked again, and a line says why. hashloom
  cannot notice decay, or writes to the disk below the file system.

Clients without their own check:
  First end the client: a client writes its resume files when it ends. Then
  check with --libtorrent (qBittorrent) or --transmission and the folder of the
  client's resume files, and start the client. The resume file also gets the
  folder of the content. If the client does not have the torrent yet, put a copy
  of the .torrent file into its folder too: BT_backup/INFO-HASH.torrent or
  torrents/INFO-HASH.torrent. Files that the client has renamed are looked for
  under its names, unfinished ones as NAME.part or NAME.!qB, too. Nothing is
  written if no file of the content exists, if a file could not be opened, or if
  the check was interrupted. The resume file keeps its owner and permissions,
  but not its access control list.

Exit status:
  0    complete: all pieces are right and all files exist, but for empty ones;
       with --file, --first or --claimed: all pieces asked for are right; with
       --exact: no file is too long, and empty files exist
  1    a piece asked for or a file is missing or bad; with --claimed: no piece
       asked for is claimed; with --exact: a file is too long, or an empty one
       is missing
  2    wrong usage, a bad torrent, a file that could not be read or written, or
       an unstable file
  130  interrupted (Ctrl-C); what was found until then is printed

Examples:
  hashloom torrent verify debian.torrent ~/Downloads
  hashloom torrent verify debian.torrent ~/Downloads/debian-13.iso --map
  hashloom torrent verify *.torrent --data /srv/seeds --resume seeds.check
  cd ~/.local/share/qBittorrent/BT_backup
  hashloom torrent verify *.torrent --libtorrent .
  hashloom torrent verify album.torrent /srv/music --missing
  hashloom torrent verify album.torrent /srv/music --file 'CD1/**'
  hashloom torrent verify *.torrent --data /srv/seeds --first 1
  hashloom torrent verify album.torrent /srv/music --json | jq .percent";

/// Returns the exit status.
pub fn run(arguments: &Verify) -> Result<u8, String> {
    let (torrents, given) = arguments.torrents_and_path();
    if let ([content, torrent], true) = (torrents, torrents[0].is_dir()) {
        let (content, torrent) = (display(content), display(torrent));
        return Err(format!("{content}: the torrent comes first: hashloom torrent verify {torrent} {content}"));
    }
    if torrents.len() > 1 && arguments.bitfield.is_some() {
        return Err("--bitfield takes one torrent: its FILE has no place for more".into());
    }
    if let Some(file) = &arguments.bitfield {
        output::probe(file).map_err(|error| not_written("bitfield", file, &error))?;
    }
    arguments.clients.check(torrents.len())?;
    arguments.check_distinct()?;
    if arguments.bitfield.is_some() || arguments.resume.is_some() {
        // Refuse before anything is written. A torrent that cannot be read now is an error when its turn comes.
        for file in torrents.iter().filter(|file| file.is_file()) {
            read(file).map_or(Ok(()), |torrent| {
                refuse_content(arguments, file, arguments.place(&torrent, given).path(), &torrent)
            })?;
        }
    }
    let saver = arguments.resume.as_deref().map(Saver::new).transpose()?;
    let stop = interrupt::flag();

    let bar = Bar::of_bytes(arguments.quiet);
    let record = |torrent: &Torrent, piece, state| {
        if let Some(saver) = &saver {
            saver.checkpoint.record(torrent, piece, state);
        }
    };
    let meter = Meter::new();
    let options = arguments.work.options(!arguments.quiet).cancel(&stop).meter(&meter);
    let options = bar.watch_pieces(options, || files(torrents));

    let printer = Mutex::new(Printer::new(arguments, torrents.len(), &meter));
    // The bar and lines on one terminal take turns.
    let put = |index, message| {
        bar.suspend(|| printer.lock().unwrap_or_else(PoisonError::into_inner).put(index, Done::error(message)));
    };
    let checks = torrents.iter().enumerate().filter_map(|(index, file)| {
        arguments.begin(index, file, given, saver.as_ref()).map_err(|message| put(index, message)).ok()
    });
    verify_pieces(checks, &options, record, |check, report| match report {
        Ok(report) => {
            if let (Some(origin), Ok(metadata)) = (options.counted(), report.content.metadata()) {
                origin.count(Stamp::of(&metadata).dev, report.nbytes_read);
            }
            let is_written =
                bar.suspend(|| printer.lock().unwrap_or_else(PoisonError::into_inner).report(&check, &report));
            if let Some(saver) = saver.as_ref().filter(|_| is_written) {
                saver.finish_torrent(&check.torrent, &report);
            }
        }
        Err(error) => put(check.tag.index, error.to_string()),
    });
    bar.finish();
    let interrupted = stop.is_cancelled();
    if let Some(saver) = saver.as_ref().filter(|_| !arguments.quiet) {
        doubts::tell(&saver.checkpoint.doubts(), "piece", "checked");
    }
    let ended = saver.map_or(Ok(()), Saver::end);
    let printer = printer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let status = printer.end(interrupted);
    tell_origin(&options);
    ended.and(status)
}

impl Verify {
    /// Returns the torrents, and PATH if it is given.
    fn torrents_and_path(&self) -> (&[PathBuf], Option<&Path>) {
        match (&self.data, &self.paths[..]) {
            (Some(data), all) => (all, Some(data)),
            (None, [torrents @ .., path]) if !torrents.is_empty() && !has_torrent_name(path) => (torrents, Some(path)),
            (None, all) => (all, None),
        }
    }

    /// Returns where the content of a torrent is looked for. `given`: PATH.
    fn place(&self, torrent: &Torrent, given: Option<&Path>) -> Location {
        match (given, self.clients.place(torrent)) {
            (Some(path), Some(place)) => place.moved_to(path),
            (Some(path), None) => path.into(),
            (None, place) => place.unwrap_or_else(|| ".".into()),
        }
    }

    /// Reads a torrent and what its check needs, and refuses what cannot be checked, or written afterwards.
    fn begin<'a>(
        &self,
        index: usize,
        file: &'a Path,
        given: Option<&Path>,
        saver: Option<&Saver<'_>>,
    ) -> Result<Checked<'a>, String> {
        let mut torrent = read(file)?;
        self.clients.take_layers(&mut torrent);
        let place = self.place(&torrent, given);
        if given.is_none() && !place.path().exists() {
            return Err(format!(
                "{}: the client has its content in {}, which does not exist here. Give the folder by --data, or say \
                by --map-path what the client calls it",
                display(file),
                display(place.path())
            ));
        }
        refuse_content(self, file, place.path(), &torrent)?;
        let plan = self.clients.targets.plan(&torrent, &place)?;
        let claim = self.clients.claim(&torrent)?;
        let pieces = self.scope.pieces(&torrent, claim.as_ref().map(|claim| &claim.pieces));
        let pieces = pieces.map_err(|error| format!("{}: {error}", display(file)))?;
        let known = saver.map_or(Verdicts::default(), |saver| saver.checkpoint.begin(&torrent, &place));
        let check = Check::new(Arc::new(torrent), place).known(known).tag(Named { index, file, plan, claim });
        Ok(match pieces {
            Some(pieces) => check.pieces(pieces),
            None => check,
        })
    }

    /// Returns an error if two options name one FILE: the last write, or the removal, would destroy the other's.
    fn check_distinct(&self) -> Result<(), String> {
        let Targets { libtorrent, transmission, .. } = &self.clients.targets;
        let files = [
            ("bitfield", &self.bitfield),
            ("resume", &self.resume),
            ("libtorrent", libtorrent),
            ("transmission", transmission),
        ];
        let files = files.map(|(option, path)| Some((option, path.as_deref().filter(|path| !path.is_dir())?)));
        let files: Vec<(&str, &Path)> = files.into_iter().flatten().collect();
        for (index, (option, path)) in files.iter().enumerate() {
            let same = Same::new(path);
            if let Some((other, _)) = files[..index].iter().find(|(_, other)| other == path || same.is(other)) {
                return Err(format!("{}: --{other} and --{option} cannot be the same FILE", display(path)));
            }
        }
        Ok(())
    }
}

fn has_torrent_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("torrent"))
}

/// The lengths and names of the files of all torrents, in their order; the name of padding is that of the torrent.
fn files(torrents: &[PathBuf]) -> Vec<(u64, Vec<u8>)> {
    let torrents = torrents.iter().filter(|file| file.is_file()).filter_map(|file| read(file).ok());
    torrents
        .flat_map(|torrent| torrent.files().map(|file| (file.nbytes, file.path.to_vec())).collect::<Vec<_>>())
        .collect()
}

/// The origin of a torrent, and the outputs that it asks for.
struct Named<'a> {
    index: usize,
    file: &'a Path,
    plan: Plan,
    claim: Option<Claim>,
}

type Checked<'a> = Check<Arc<Torrent>, Named<'a>>;

/// The output for a torrent, and what counts.
struct Done {
    out: Vec<u8>,
    errors: Vec<u8>,
    status: u8,
    counts: Counts,
    /// Whether all files to be written were written.
    is_written: bool,
    /// The files that were written.
    written: Vec<Written>,
}

#[derive(Default)]
pub struct Counts {
    /// Torrents of which everything asked for is right.
    pub complete: u64,
    /// Torrents of which only some pieces were asked for.
    pub in_part: u64,
    pub nbytes_read: u64,
    pub written: u64,
}

impl Done {
    fn error(message: String) -> Done {
        let errors = format!("{} {message}\n", style::error()).into_bytes();
        Done {
            out: Vec::new(),
            errors,
            status: EXIT_ERROR,
            counts: Counts::default(),
            is_written: false,
            written: Vec::new(),
        }
    }

    /// Makes everything except the text for standard output.
    fn report(arguments: &Verify, check: &Checked<'_>, report: &Report) -> Done {
        let mut errors = Vec::new();
        // Writing into memory cannot fail.
        let _ = verify_summary::troubles(&mut errors, report);
        let is_right = if arguments.exact { report.is_exact() } else { report.is_complete() };
        let mut status = match is_right {
            _ if !report.troubles.is_empty() => EXIT_ERROR,
            true => 0,
            false => EXIT_INCOMPLETE,
        };
        if report.pieces.contains(&PieceState::Unstable) {
            let count = report.files.iter().filter(|found| found.state == FileState::Unstable).count();
            let line = format!(
                "{} {} changed each of the three times that it was checked. Check again when nothing writes there\n",
                style::error(),
                plural(count as u64, "file"),
            );
            errors.extend_from_slice(line.as_bytes());
            status = EXIT_ERROR;
        }
        if report.pieces.contains(&PieceState::Disputed) {
            let line = format!(
                "{} {}: its two halves, v1 and v2, disagree about the content of {}. The torrent itself is wrong\n",
                style::error(),
                display(check.tag.file),
                plural(report.count(PieceState::Disputed) as u64, "piece"),
            );
            errors.extend_from_slice(line.as_bytes());
            status = EXIT_ERROR;
        }
        if !report.is_of_all() && report.scope.count() == 0 {
            let (error, file) = (style::error(), display(check.tag.file));
            let line = format!("{error} {file}: nothing was checked: none of the pieces asked for is claimed\n");
            errors.extend_from_slice(line.as_bytes());
        }
        // Print the results even if a file cannot be written.
        let bitfield = arguments.bitfield.iter().map(|file| {
            let (bits, what) = (report.bitfield(), "bitfield");
            let nbytes = bits.as_bytes().len() as u64;
            let written = Written { what: what.into(), path: file.clone(), nbytes, pieces: None, note: None };
            let failed = |error| format!("{}; {RESULT_STANDS}", not_written(what, file, &error));
            output::write(file, bits.as_bytes()).map(|()| written).map_err(failed)
        });
        let (mut is_written, mut written) = (true, Vec::new());
        for file in bitfield.chain(check.tag.plan.write(&check.torrent, report)) {
            match file {
                Ok(file) => written.push(file),
                Err(message) => {
                    errors.extend_from_slice(format!("{} {message}\n", style::error()).as_bytes());
                    (status, is_written) = (EXIT_ERROR, false);
                }
            }
        }
        let counts = Counts {
            complete: is_right.into(),
            in_part: (!report.is_of_all()).into(),
            nbytes_read: report.nbytes_read,
            written: written.len() as u64,
        };
        Done { out: Vec::new(), errors, status, counts, is_written, written }
    }
}

/// Prints results in the order of the arguments.
struct Printer<'a> {
    arguments: &'a Verify,
    count: usize,
    meter: &'a Meter,
    results: InOrder<Done>,
    started: Instant,
    totals: Counts,
    status: u8,
    failed: Result<(), String>,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a Verify, count: usize, meter: &'a Meter) -> Printer<'a> {
        let started = Instant::now();
        let (results, totals) = (InOrder::new(), Counts::default());
        Printer { arguments, count, meter, results, started, totals, status: 0, failed: Ok(()) }
    }

    /// Returns true if all files to be written were written.
    fn report(&mut self, check: &Checked<'_>, report: &Report) -> bool {
        let mut done = Done::report(self.arguments, check, report);
        if check.tag.index as u64 == self.results.next() {
            // Print at once: the output can be too long to collect.
            let printed = output::print(|out| self.print_report(out, check, report, &done.written));
            self.keep_error(printed);
        } else {
            // Writing into memory cannot fail.
            let _ = self.print_report(&mut done.out, check, report, &done.written);
        }
        let is_written = done.is_written;
        self.put(check.tag.index, done);
        is_written
    }

    fn put(&mut self, index: usize, done: Done) {
        self.results.put(index as u64, done);
        while let Some(done) = self.results.take() {
            self.print(done);
        }
    }

    fn print(&mut self, done: Done) {
        let printed = output::print(|out| out.write_all(&done.out));
        self.keep_error(printed);
        // Best effort: if standard error is closed, the exit status still tells.
        let _ = io::stderr().lock().write_all(&done.errors);
        self.status = self.status.max(done.status);
        self.totals.complete += done.counts.complete;
        self.totals.in_part += done.counts.in_part;
        self.totals.nbytes_read += done.counts.nbytes_read;
        self.totals.written += done.counts.written;
    }

    /// Keeps the first error of printing.
    fn keep_error(&mut self, printed: Result<(), String>) {
        self.failed = std::mem::replace(&mut self.failed, Ok(())).and(printed);
    }

    /// Returns the exit status.
    fn end(mut self, interrupted: bool) -> Result<u8, String> {
        // An interruption leaves some torrents without a result.
        for done in std::mem::take(&mut self.results).rest() {
            self.print(done);
        }
        let arguments = self.arguments;
        if self.count > 1 && !(arguments.quiet || arguments.json || arguments.repair_list) {
            let (count, elapsed, held_back) = (self.count as u64, self.started.elapsed(), self.meter.held_back());
            output::print(|out| {
                verify_summary::total(out, &self.totals, count, elapsed, held_back, interrupted)?;
                if self.totals.written > 0 {
                    writeln!(out, "written: {}", plural(self.totals.written, "file"))?;
                }
                Ok(())
            })?;
        }
        self.failed?;
        Ok(if interrupted { EXIT_INTERRUPTED } else { self.status })
    }

    fn print_report(
        &self,
        out: &mut impl Write,
        check: &Checked<'_>,
        report: &Report,
        written: &[Written],
    ) -> io::Result<()> {
        let (arguments, single, torrent) = (self.arguments, self.count == 1, &check.torrent);
        if arguments.quiet {
            return Ok(());
        }
        if arguments.json {
            let claim = check.tag.claim.as_ref();
            let json = Json::new(check.tag.file, torrent, report, self.meter.held_back(), claim, written);
            hashloom_frame::json::write_json(&mut *out, &json)?;
            return writeln!(out);
        }
        if arguments.repair_list {
            return repair_list(out, torrent, report);
        }
        let claim = check.tag.claim.as_ref();
        if single {
            verify_summary::heading(out, torrent, report, claim)?
        } else {
            verify_summary::line(out, check.tag.file, torrent, report, arguments.exact)?
        }
        if arguments.map {
            if single {
                writeln!(out)?;
            }
            piece_map::draw(out, &report.pieces)?;
        }
        let is_missing_listed = arguments.missing || claim.is_some();
        if is_missing_listed {
            let is_listed = !report.is_complete() || verify_summary::has_notes(report);
            if single && is_listed {
                writeln!(out)?;
            }
            verify_summary::missing(out, torrent, report)?;
            verify_summary::differences(out, torrent, report, usize::MAX)?;
        }
        if single {
            let (held_back, exact) = (self.meter.held_back(), arguments.exact);
            verify_summary::verdict(out, torrent, report, held_back, exact, is_missing_listed)?;
        }
        // The end tells how many files were written for several torrents.
        for Written { what, path, nbytes, .. } in written.iter().filter(|_| single) {
            writeln!(out, "written: the {what} {}, {}", display(path), plural(*nbytes, "byte"))?;
        }
        for note in written.iter().filter_map(|written| written.note.as_ref()) {
            writeln!(out, "  note: {note}")?;
        }
        Ok(())
    }
}

/// Prints `bad<TAB>0<TAB>16383<TAB>music/album/track.flac`; bytes count as in HTTP's Range.
fn repair_list(out: &mut impl Write, torrent: &Torrent, report: &Report) -> io::Result<()> {
    for (file, bytes, state) in report.wrong_bytes(torrent) {
        let path = display(&report.path(torrent, file));
        writeln!(out, "{}\t{}\t{}\t{path}", state.name(), bytes.start, bytes.end - 1)?;
    }
    Ok(())
}

fn not_written(what: &str, path: &Path, error: &io::Error) -> String {
    format!("{}: the {what} cannot be written: {}", display(path), reason(error))
}

/// Returns an error if `arguments` name an output that is the torrent, or any file that it describes at any place below
/// `data` where the content may be found. These files are never changed.
fn refuse_content(arguments: &Verify, file: &Path, data: &Path, torrent: &Torrent) -> Result<(), String> {
    let written = [("bitfield", &arguments.bitfield), ("checkpoint", &arguments.resume)];
    let written = written.into_iter().filter_map(|(what, path)| Some((what.to_owned(), path.clone()?)));
    let clients = arguments.clients.targets.paths(torrent)?;
    for (what, path) in written.chain(clients.into_iter().map(|(format, path)| (format.to_string(), path))) {
        let path = &*path;
        let same = Same::new(path);
        let refused = |which: &str| {
            Err(format!("{}: the {what} is not written there: it is {which}. Give another FILE", display(path)))
        };
        if same.is(file) {
            return refused("the torrent");
        }
        // A name is one path component, and was checked to be safe.
        let inner = data.join(to_path(torrent.name()));
        if same.is(data) || same.is(&inner) {
            return refused("the content");
        }
        for file in torrent.files_without_padding() {
            let file = to_path(file.path);
            if same.is(&inner.join(&file)) || same.is(&data.join(&file)) {
                return refused("a file of the content");
            }
        }
    }
    Ok(())
}

/// Keeps the progress of the check in a file.
struct Saver<'a> {
    path: &'a Path,
    progress: Progress,
    checkpoint: Checkpoint,
}

impl<'a> Saver<'a> {
    fn new(path: &'a Path) -> Result<Saver<'a>, String> {
        let (progress, state) = Progress::begin(path, Checkpoint::SUBJECT, None)?;
        Ok(Saver { path, progress, checkpoint: Checkpoint::new(state) })
    }

    /// Takes out of the file a torrent whose check has ended and whose result is printed.
    fn finish_torrent(&self, torrent: &Torrent, report: &Report) {
        use PieceState::{Bad, Disputed, Have, Missing};
        let is_final = |piece| matches!(report.pieces[piece], Have | Missing | Bad | Disputed);
        // A disk that went away may come back.
        if !report.cancelled && report.scope.ones().all(is_final) {
            self.checkpoint.end(torrent, &report.scope);
        }
    }

    /// Keeps the file if torrents are left in it that are still to be checked; else removes it.
    fn end(self) -> Result<(), String> {
        let ended = if self.checkpoint.is_empty() {
            let removed = self.progress.end(); // while the checkpoint holds the file's lock
            self.checkpoint.discard();
            removed
        } else {
            self.checkpoint.close()
        };
        ended.map_err(|error| Progress::not_saved(self.path, &error))
    }
}
