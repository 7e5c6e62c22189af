// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest write`.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::Stamp;
use hashloom_files::paths::to_path;
use hashloom_files::run::HeldBack;
use hashloom_files::walk::{Filter, Walk};
use hashloom_frame::doubts;
use hashloom_frame::exit::EXIT_INTERRUPTED;
use hashloom_frame::filters::Filters;
use hashloom_frame::input::{Input, check_folder};
use hashloom_frame::names::{self, with_suffix};
use hashloom_frame::output::{self, Pending, Same};
use hashloom_frame::progress::Bar;
use hashloom_frame::stdio::Stdout;
use hashloom_frame::style;
use hashloom_frame::text::{display, reason};
use hashloom_frame::units::{by, duration, plural, rate, size};
use hashloom_frame::work::Threads;
use hashloom_signature::command::{self as signature, Signer, Trusted};
use hashloom_state::{Progress, State};

use super::{Opened, check, open, places_below, scan};
use crate::{Found, Reader, Scan, Scanned, Totals, Writer};

/// Record the files of a folder.
///
/// Records the path, length, modification time and digest of each file, the target of each symbolic link, and each
/// folder. `hashloom manifest check` later tells what has become of them.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Write {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the manifest to FILE when all files are read. FILE may lie in DIR; it is not part of the manifest.
    /// After an interruption the progress is kept in FILE.partial, and the same command goes on from there
    /// [default: standard output; if that is a file in DIR, the file is not part of the manifest either]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Do not read files whose length and modification time are those in the manifest OLD; take their digests from OLD.
    /// OLD may be FILE. The filters of OLD hold, unless others are given. A later check, not this command, notices a
    /// file that has rotted since OLD: the digest is still that of the intact file
    #[arg(long, value_name = "OLD")]
    update: Option<PathBuf>,

    #[command(flatten)]
    filters: Filters,

    /// Replace an existing FILE; in DIR, only if it is a manifest. A FILE that is also OLD needs no --force
    #[arg(long, requires = "output")]
    force: bool,

    /// Digests of this algorithm; can be given several times, or separated by commas
    /// [default: sha256, or the algorithms of OLD]
    #[arg(short, long = "algorithm", value_name = "NAME", value_delimiter = ',', value_parser = names::ANY)]
    algorithms: Vec<Algorithm>,

    /// Sign the manifest with this secret key: of minisign (`minisign -G` makes one), into FILE.minisig, or of SLH-DSA
    /// (`hashloom slh keygen`), into FILE.slhsig. hashloom asks for the password of the key at the terminal. An OLD
    /// must have a signature by the same key
    #[arg(long, value_name = "KEY", requires = "output")]
    sign: Option<PathBuf>,

    /// Print errors only
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    threads: Threads,
}

const HELP: &str = "\
The manifest:
  Text, one JSON object a line: a first line with the format and the algorithms,
  a line for each file, link and folder, sorted, and a last line with the counts
  and the SHA-256 of all lines before it, which shows damage. The manifest does
  not record when or where it was written: the same files give the same bytes.
  Links are not followed. Devices, pipes and sockets are left out. path_hex has
  the exact bytes of a name that is not UTF-8.

Which files:
  Globs are those of .gitignore: *.log matches at any depth, /extras/ only a
  folder in DIR itself, music/** everything below music. Folders that are not
  excluded are part of the manifest, whatever is included; links and folders
  have no length. The manifest has the filters in its first line, and `hashloom
  manifest check` applies them.

A file that changes while it is read is read again, up to three times in all. A
file that changes each time, or cannot be read, gets a line of the type
\"unread\".

Exit status:
  0    written
  1    written, but some files could not be read, or changed again and again
  2    not written: wrong usage, no such folder, FILE cannot be written, or FILE
       exists and --force is not given
  130  interrupted (Ctrl-C); with --output the same command goes on from there

Examples:
  hashloom manifest write ~/photos -o ~/photos.manifest
  hashloom manifest write /srv/data -a sha1,sha256 -o /srv/data/.manifest
  hashloom manifest write ~/photos -o new.manifest --update old.manifest
  hashloom manifest write ~/photos -o ~/photos.manifest --force
  hashloom manifest write /srv -o srv.manifest --sign minisign.key
  hashloom manifest write ~ -o ~/manifest --exclude .cache/ --max-size 1G
  hashloom manifest write . | jq -r 'select(.length > 1e9) | .path'";

/// Returns the exit status.
pub fn run(arguments: &Write) -> Result<u8, String> {
    check_folder(&arguments.folder)?;
    // Before other threads begin: the password is asked for while signals are held.
    let signer = arguments.sign.as_deref().map(Signer::open).transpose()?;
    let filter = arguments.filters.filter()?;
    let update = arguments.update.as_deref().map(|old| open_old(arguments, old, signer.as_ref())).transpose()?;
    let algorithms = match (&arguments.algorithms[..], &update) {
        ([], Some(old)) => old.reader.algorithms().to_vec(),
        ([], None) => vec![Algorithm::Sha256],
        (algorithms, _) => algorithms.to_vec(),
    };
    let filter = match &update {
        Some(old) if !arguments.filters.are_given() => old.reader.wanted().clone(),
        _ => filter,
    };
    let chosen = Chosen { algorithms: &algorithms, filter: &filter };
    let update = update.map(|old| old.reader);
    if let Some(old) = &update {
        if !algorithms.iter().all(|algorithm| old.algorithms().contains(algorithm)) {
            return Err(format!("--update: OLD has digests of {} only", check::names(old.algorithms())));
        }
    }
    match &arguments.output {
        Some(file) => to_file(arguments, chosen, update, file, signer.as_ref()),
        None => {
            let failed = |error: io::Error| format!("standard output: {}", reason(&error));
            // Not locked: messages of other threads would wait for the lock.
            let out = BufWriter::with_capacity(1 << 16, Stdout);
            let without = Without { paths: Vec::new(), file: output::stamp_of_stdout() };
            let (_, _, status) = write(arguments.into(), chosen, (update, None), None, without, out, &failed)?;
            Ok(status)
        }
    }
}

/// Opens OLD. A new signature covers digests of OLD too, so OLD must be signed by the same key.
fn open_old(arguments: &Write, old: &Path, signer: Option<&Signer>) -> Result<Opened, String> {
    let trusted = signer.map(|signer| Trusted::by(signer, old)).transpose();
    let trusted = trusted.map_err(|message| format!("--update: {message}"))?;
    open(old, trusted.as_ref(), Some(&arguments.folder), arguments.quiet, |_| Ok(()))
}

pub(super) type Update = Reader<Input>;

/// The content that the user wants in the manifest.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    pub(super) algorithms: &'a [Algorithm],
    pub(super) filter: &'a Filter,
}

/// A folder, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) folder: &'a Path,
    /// The manifest, unless it goes to standard output or is kept without a name.
    pub(super) output: Option<&'a Path>,
    pub(super) quiet: bool,
    pub(super) threads: &'a Threads,
}

impl<'a> From<&'a Write> for Task<'a> {
    fn from(arguments: &'a Write) -> Task<'a> {
        let Write { folder, output, quiet, threads, .. } = arguments;
        Task { folder, output: output.as_deref(), quiet: *quiet, threads }
    }
}

fn to_file(
    arguments: &Write,
    chosen: Chosen<'_>,
    update: Option<Update>,
    file: &Path,
    signer: Option<&Signer>,
) -> Result<u8, String> {
    let failed = |error: io::Error| format!("{}: the manifest cannot be written: {}", display(file), reason(&error));
    output::probe(file).map_err(failed)?;
    let mut without = places_below(&arguments.folder, file);
    if output::path_is_special(file) && signer.is_some() {
        return Err(format!("--sign: {}: expected a file, beside which the signature is written", display(file)));
    }
    if output::path_is_special(file) {
        // Nothing is kept beside a device.
        let pending = Pending::begin(file).map_err(failed)?;
        let out = BufWriter::with_capacity(1 << 16, pending.file());
        let without = Without { paths: without, file: None };
        let (done, _, status) = write(arguments.into(), chosen, (update, None), None, without, out, &failed)?;
        let written = done.map(|(out, _)| out.into_inner().map(drop).map_err(|error| failed(error.into_error())));
        if let Some(written) = written {
            written?;
            pending.end(true).map_err(failed)?;
        }
        return Ok(status);
    }
    let partial = partial(file);
    let signature = signer.map(|signer| {
        let path = signature::beside(file, signer.public_key());
        // What this command left if it was ended after it wrote the signature.
        let is_left = !output::exists(file) && output::exists(&partial) && signer.has_left(&path);
        (signer, path, is_left)
    });
    let replaces = arguments.force || arguments.update.as_deref().is_some_and(|old| Same::new(file).is(old));
    let of_signature = signature.as_ref().filter(|(.., is_left)| !is_left).map(|(_, path, _)| &**path);
    let outputs = [("manifest", Some(file)), ("signature", of_signature)];
    for (what, path) in outputs.into_iter().filter_map(|(what, path)| Some((what, path?))) {
        if output::exists(path) && !replaces {
            let why = "it exists. Give --force to replace it, or another FILE with --output";
            return Err(format!("{}: the {what} is not written there: {why}", display(path)));
        }
    }
    if let Some((_, path, _)) = &signature {
        output::probe(path).map_err(|error| not_signed(path, &error))?;
        without.extend(places_below(&arguments.folder, path));
    }
    if !without.is_empty() && output::exists(file) && !is_manifest(file) {
        let why = format!("it is a file in {} and not a manifest", display(&arguments.folder));
        return Err(format!("{}: {why}. It is not replaced: give another FILE, or remove it", display(file)));
    }
    without.extend(places_below(&arguments.folder, &partial));
    // What an earlier run has read is signed only if it was written down by whoever has the key.
    let secret = signer.map(Signer::state_key);
    let secret = secret.as_ref().map(|secret| &secret[..]);
    let (resume, state) = Progress::begin(&partial, &Scan::subject(chosen.algorithms), secret)?;
    let started = Instant::now();
    let written = spooled(arguments, chosen, update, state, without, (file, replaces), signature);
    let (status, done) = match written {
        Ok(written) => written,
        Err(message) => {
            resume.failed();
            return Err(message);
        }
    };
    let Some((totals, done)) = done else {
        let again = "run the same command again to go on from there";
        let message = format!("interrupted: the progress is kept in {}; {again}", display(&partial));
        let _ = writeln!(io::stderr(), "{} {message}", style::warning());
        return Ok(status);
    };
    resume.end().map_err(|error| hashloom_frame::text::failed(&partial, &error))?;
    if !arguments.quiet {
        output::print(|out| print(out, file, &totals, &done, started.elapsed()))?;
    }
    Ok(status)
}

/// Returns the file that keeps the progress.
fn partial(file: &Path) -> PathBuf {
    with_suffix(file, ".partial")
}

/// Writes the manifest to a file without a name, then to `file`, which is replaced only if `replaces`. Returns the
/// totals unless interrupted.
fn spooled(
    arguments: &Write,
    chosen: Chosen<'_>,
    update: Option<Update>,
    state: State,
    without: Vec<PathBuf>,
    (file, replaces): (&Path, bool),
    signature: Option<(&Signer, PathBuf, bool)>,
) -> Result<(u8, Option<(Totals, Read)>), String> {
    let failed = |error: io::Error| format!("{}: the manifest cannot be written: {}", display(file), reason(&error));
    // The file has no name, so that nothing is left of it whatever happens. On Windows it has one as long as it is
    // open, and would be found if the folder is scanned.
    let spool = tempfile::tempfile_in(output::folder(file)).map_err(failed)?;
    let stamp = if cfg!(windows) && !without.is_empty() { Stamp::of_file(&spool).map_err(failed)? } else { None };
    let out = BufWriter::with_capacity(1 << 16, spool);
    let without = Without { paths: without, file: stamp };
    let (spool, done, status) = write(arguments.into(), chosen, (update, None), Some(state), without, out, &failed)?;
    let Some((out, totals)) = spool else { return Ok((status, None)) };
    let mut spool = out.into_inner().map_err(|error| failed(error.into_error()))?;
    spool.rewind().map_err(failed)?;
    let signed = match &signature {
        Some((signer, ..)) => signer.sign(file, &arguments.folder, done.0.nold, &spool)?,
        None => String::new(),
    };
    spool.rewind().map_err(failed)?;
    let mut write = || {
        let copied = output::write_with(file, replaces, |mut out| io::copy(&mut spool, &mut out).map(drop));
        copied.map_err(failed)
    };
    match signature {
        Some((signer, path, is_left)) => {
            signer.write_with((&path, &signed, replaces || is_left), (file, replaces), write)?;
        }
        None => write()?,
    }
    Ok((status, Some((totals, done))))
}

fn not_signed(path: &Path, error: &io::Error) -> String {
    format!("{}: the signature cannot be written: {}", display(path), reason(error))
}

/// Returns true if a file begins as a manifest does.
fn is_manifest(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| Reader::new(io::BufReader::new(file)).is_ok())
}

fn print(out: &mut impl io::Write, file: &Path, totals: &Totals, done: &Read, elapsed: Duration) -> io::Result<()> {
    let (done, held_back) = done;
    let mut parts = vec![plural(totals.nfiles, "file")];
    let others = [(totals.nlinks, "link"), (totals.nfolders, "folder")];
    parts.extend(others.iter().filter(|(count, _)| *count > 0).map(|&(count, noun)| plural(count, noun)));
    if totals.nunread > 0 {
        parts.push(format!("{} unread", totals.nunread));
    }
    writeln!(out, "{}: {}, {}", display(file), parts.join(", "), size(totals.nbytes))?;
    let speed = rate(done.nbytes, elapsed).map_or(String::new(), |rate| format!(", {rate}"));
    let mut line = format!("read {} in {}{speed}{}", size(done.nbytes), duration(elapsed), by(*held_back));
    if done.nresumed > 0 {
        line += &format!("; {} taken over from the interrupted run", plural(done.nresumed, "file"));
    }
    if done.nold > 0 {
        line += &format!("; {} taken over from OLD, by length and time alone", plural(done.nold, "file"));
    }
    if done.nothers > 0 {
        line += &format!("; {} left out that are neither file, link nor folder", done.nothers);
    }
    writeln!(out, "{}", style::fitted(&line))
}

/// The output, which is no part of the manifest.
pub(super) struct Without {
    /// Paths in the folder.
    pub(super) paths: Vec<PathBuf>,
    /// A file that is known by its identity.
    pub(super) file: Option<Stamp>,
}

/// Returns the total length of the files that the filter wants now.
fn total_nbytes(folder: &Path, filter: &Filter) -> u64 {
    let files = Walk::new(folder).filter(filter.clone()).files().flatten();
    let lengths = files.filter_map(|path| path.symlink_metadata().ok()).map(|metadata| metadata.len());
    lengths.filter(|&nbytes| filter.wants_length(nbytes)).sum()
}

/// The totals of the scan, and the cause that held it back.
pub(super) type Read = (Scanned, Option<HeldBack>);

pub(super) type Written<W> = (Option<(W, Totals)>, Read, u8);

/// Returns the output if it is complete, the summary, and the exit status. `update`, `listed`: the manifests of
/// [`Scan::update`] and [`Scan::listed`].
pub(super) fn write<W: io::Write + Send>(
    of: Task<'_>,
    chosen: Chosen<'_>,
    (update, listed): (Option<Update>, Option<Update>),
    state: Option<State>,
    without: Without,
    out: W,
    failed: &(dyn Fn(io::Error) -> String + Sync),
) -> Result<Written<W>, String> {
    let bar = Bar::of_bytes(of.quiet);
    bar.set_total_later({
        let (folder, filter) = (of.folder.to_owned(), chosen.filter.clone());
        move || Some(total_nbytes(&folder, &filter))
    });
    let task = Scan::new(of.folder).algorithms(chosen.algorithms).filter(chosen.filter.clone());
    let task = without.paths.into_iter().fold(task, Scan::leave_out);
    let task = without.file.into_iter().fold(task, Scan::leave_out_file);
    let task = state.into_iter().fold(task, Scan::state);
    let task = update.into_iter().fold(task, Scan::update);
    let task = listed.into_iter().fold(task, Scan::listed);
    let mut writer = Writer::filtered(out, chosen.algorithms, chosen.filter).map_err(|error| failed(error.into()))?;
    let partial = of.output.map(partial);
    let done = scan(task, partial.as_deref(), of.threads.options(), &bar, |Found { entry, error, .. }| {
        if let Some(error) = error {
            let path = of.folder.join(to_path(&entry.path));
            bar.suspend(|| {
                let _ = writeln!(io::stderr(), "{} {}: {error}", style::error(), display(&path));
            });
        }
        writer.write(&entry).map_err(|error| failed(error.into()))
    });
    let (done, held_back) = done?;
    for path in done.left_out.iter().filter(|_| of.output.is_none()) {
        let path = display(&of.folder.join(to_path(path))).to_string();
        let _ = writeln!(io::stderr(), "{} {path}: it is the output itself, and left out", style::warning());
    }
    if !of.quiet {
        doubts::tell(&done.doubts, "file", "read");
    }
    if done.cancelled {
        return Ok((None, (done, held_back), EXIT_INTERRUPTED));
    }
    let totals = writer.totals();
    let out = writer.finish().map_err(|error| failed(error.into()))?;
    Ok((Some((out, totals)), (done, held_back), u8::from(totals.nunread > 0)))
}
