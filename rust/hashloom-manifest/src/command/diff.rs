// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest diff`.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::walk::Filter;
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use hashloom_frame::input::{Input, Kept, not_kept};
use hashloom_frame::output::{self, Same};
use hashloom_frame::text::{display, name};
use hashloom_frame::work::Threads;
use hashloom_signature::command::{self as signature, Signed, Trusted};

use super::report::{Covered, Done, Format, Printer, STATES, SignedBy};
use super::write::{Chosen, Read, Task, Without};
use super::{Opened, again, check, open, places_below, write};
use crate::{Comparison, Difference, Reader, Scanned, Totals};

/// Compare two folders, two manifests, or one of each.
///
/// Reads all files of a folder. Manifests alone are compared without reading files.
#[derive(Debug, Args)]
#[command(after_long_help = help())]
pub struct Diff {
    /// The older side: a folder, or a manifest, as it is or compressed by gzip or zstd; - is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The newer side. Both manifests must have digests of at least one common algorithm
    #[arg(value_name = "NEW")]
    new: PathBuf,

    #[command(flatten)]
    format: Format,

    /// Check the signature of each manifest first, OLD.minisig and NEW.minisig, by this public key of minisign: a file,
    /// or the key itself in base64; or those of OLD.slhsig and NEW.slhsig, by one of SLH-DSA. If one is missing or
    /// wrong, that is an error
    #[arg(long, value_name = "KEY")]
    trusted_key: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,
}

fn help() -> String {
    format!(
        "\
{STATES}, or is
              in the folder OLD

An entry that only one side has, and that the filters of the other side's
manifest leave out, is no difference.

Folders:
  The files of two folders are compared by SHA-256, those of a folder and a
  manifest by the manifest's algorithms and filters. A manifest that lies in the
  folder is left out. Names that differ in the case of their letters are two
  names. Neither folder may lie in the other.

Exit status:
  0    no difference
  1    differences
  2    wrong usage, a manifest that cannot be read, a signature that is missing
       or wrong, or a file in a folder that could not be read or is unstable
  130  interrupted (Ctrl-C) while a folder was read: nothing was compared

Examples:
  hashloom manifest diff 2024.manifest 2025.manifest
  hashloom manifest diff photos /media/backup/photos
  hashloom manifest diff 2025-01-01.gz 2025-02-01.zst
  ssh backup hashloom manifest write /srv | hashloom manifest diff /srv -
  hashloom manifest diff 2024 2025 --trusted-key minisign.pub
  hashloom manifest diff a b --json | jq 'select(.status==\"rotted\").path'"
    )
}

/// The entries of one side, those of a folder in a manifest without a name.
struct Side {
    reader: Reader<Input>,
    algorithms: Vec<Algorithm>,
    filter: Filter,
    signed: Option<Signed>,
    /// What was read, if it is a folder.
    read: Option<(Totals, Read)>,
}

impl Side {
    fn new(reader: Reader<Input>, signed: Option<Signed>, read: Option<(Totals, Read)>) -> Side {
        Side { algorithms: reader.algorithms().to_vec(), filter: reader.wanted().clone(), reader, signed, read }
    }
}

/// Checks that neither of two folders is in the other.
fn check_apart(old: &Path, new: &Path) -> Result<(), String> {
    let place = |path: &Path| path.canonicalize().map_err(|error| hashloom_frame::text::failed(path, &error));
    let (old_place, new_place) = (place(old)?, place(new)?);
    let (old_name, new_name) = (display(old), display(new));
    if old_place == new_place || Same::new(&old_place).is(&new_place) {
        return Err(format!("{old_name} and {new_name} are the same folder: name two"));
    }
    for (inner, outer, is_in) in [
        (&old_name, &new_name, old_place.starts_with(&new_place)),
        (&new_name, &old_name, new_place.starts_with(&old_place)),
    ] {
        if is_in {
            return Err(format!("{inner} lies in {outer}: name two folders of which neither is in the other"));
        }
    }
    Ok(())
}

/// Returns the exit status.
pub fn run(arguments: &Diff) -> Result<u8, String> {
    if arguments.old.as_os_str() == "-" && arguments.new.as_os_str() == "-" {
        return Err("standard input can be read only once: name OLD or NEW, or give both as pipes, as in <(...)".into());
    }
    let paths = [&arguments.old, &arguments.new];
    let are_folders = paths.map(|path| path.is_dir());
    if are_folders == [true; 2] {
        check_apart(&arguments.old, &arguments.new)?;
        if arguments.trusted_key.is_some() {
            return Err("--trusted-key: a folder has no signature; name a manifest as OLD or NEW".into());
        }
    }
    // Both signatures are looked at before anything else, and manifests before hours of reading.
    let trusted = |i: usize| {
        let key = arguments.trusted_key.as_deref().filter(|_| !are_folders[i]);
        key.map(|key| Trusted::beside(key, paths[i])).transpose()
    };
    let trusted = [trusted(0)?, trusted(1)?];
    let opened = |i: usize| {
        let folder = Some(paths[1 - i].as_path()).filter(|_| are_folders[1 - i]);
        let open = || open(paths[i], trusted[i].as_ref(), folder, arguments.format.quiet, |_| Ok(()));
        (!are_folders[i]).then(open).transpose()
    };
    let manifests = [opened(0)?, opened(1)?];
    let started = Instant::now();
    let mut sides = Vec::new();
    let kept = [0, 1].map(|i: usize| manifests[i].as_ref().map(|opened| opened.kept.clone()));
    for (i, manifest) in manifests.into_iter().enumerate() {
        let other = kept[1 - i].as_ref().map(|kept| (paths[1 - i].as_path(), kept));
        let side = match manifest {
            Some(Opened { reader, signed, .. }) => Some(Side::new(reader, signed, None)),
            None => read_folder(arguments, paths[i], other)?,
        };
        let Some(side) = side else { return Ok(EXIT_INTERRUPTED) };
        sides.push(side);
    }
    let Ok([old, new]) = <[Side; 2]>::try_from(sides) else { return Err("two sides are compared".into()) };
    compare(arguments, old, new, started)
}

/// Reads a folder, by the algorithms and filters of the manifest on the other side. `None`: interrupted.
fn read_folder(arguments: &Diff, folder: &Path, other: Option<(&Path, &Kept)>) -> Result<Option<Side>, String> {
    let (mut algorithms, mut filter, mut listed) = (vec![Algorithm::Sha256], Filter::default(), None);
    let mut without = Without { paths: Vec::new(), file: output::stamp_of_stdout() };
    if let Some((manifest, kept)) = other {
        let reader = again(kept, manifest)?;
        (algorithms, filter) = (reader.algorithms().to_vec(), reader.wanted().clone());
        // A file that has outgrown the filter is not gone.
        listed = (filter.wanted_lengths() != (0..=u64::MAX)).then_some(reader);
        if manifest.as_os_str() != "-" && !output::path_is_special(manifest) {
            without.paths = places_below(folder, manifest);
            if let Some(key) = &arguments.trusted_key {
                let signature = signature::beside(manifest, &signature::public_key(key)?);
                without.paths.extend(places_below(folder, &signature));
            }
        }
    }
    let task = Task { folder, output: None, quiet: arguments.format.quiet, threads: &arguments.threads };
    let chosen = Chosen { algorithms: &algorithms, filter: &filter };
    let failed = |error| format!("{}: the list of what was read: {}", display(folder), not_kept(error));
    let (kept, read) = Kept::of(|file| {
        let out = BufWriter::with_capacity(1 << 16, file);
        let (written, read, _) = write::write(task, chosen, (None, listed), None, without, out, &failed)?;
        let Some((out, totals)) = written else { return Ok(None) };
        out.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Some((totals, read)))
    })?;
    match read {
        Some(read) => Ok(Some(Side::new(again(&kept, folder)?, None, Some(read)))),
        None => Ok(None),
    }
}

/// Prints the differences. Returns the exit status.
fn compare(arguments: &Diff, mut old: Side, mut new: Side, started: Instant) -> Result<u8, String> {
    let signed = match (old.signed.take(), new.signed.take()) {
        (Some(old), Some(new)) => Some(SignedBy::Signatures { old, new }),
        (old, new) => old.or(new).map(SignedBy::Signature),
    };
    if arguments.format.is_text() {
        let (old_name, new_name) = (name(&arguments.old), name(&arguments.new));
        match &signed {
            Some(SignedBy::Signatures { old, new }) => {
                output::print(|out| writeln!(out, "{old_name}: {}\n{new_name}: {}", old.line(), new.line()))?;
            }
            Some(SignedBy::Signature(signed)) => output::print(|out| writeln!(out, "{}", signed.line()))?,
            None => {}
        }
    }
    let comparison = Comparison::new(old.reader, &old.algorithms, &new.algorithms).ok_or_else(|| {
        let (old_name, new_name) = (name(&arguments.old), name(&arguments.new));
        let (of_old, of_new) = (check::names(&old.algorithms), check::names(&new.algorithms));
        format!("{old_name} has digests of {of_old}, {new_name} of {of_new}: none in common")
    })?;
    let is_filtered = !old.filter.wants_all() || !new.filter.wants_all();
    let mut comparison = comparison.filters(old.filter, new.filter);
    let mut printer = Printer::new(&arguments.format, [&old.algorithms, &new.algorithms]);
    let mut failed = None;
    let mut each = |difference: Difference| {
        if let Err(message) = printer.difference(&difference, None) {
            failed.get_or_insert(message);
        }
    };
    let of_old = |error| format!("{}: {error}", name(&arguments.old));
    for entry in new.reader {
        let entry = entry.map_err(|error| format!("{}: {error}", name(&arguments.new)))?;
        comparison.found(entry, &mut each).map_err(of_old)?;
    }
    let counts = comparison.finish(&mut each).map_err(of_old)?;
    if let Some(message) = failed {
        return Err(message);
    }
    let folders: Vec<&(Totals, Read)> = old.read.iter().chain(&new.read).collect();
    let sum = |of: fn(&Scanned) -> u64| folders.iter().map(|(_, (scanned, _))| of(scanned)).sum::<u64>();
    let has_read = !folders.is_empty();
    let covered = Covered {
        quick: false,
        filtered: is_filtered,
        files_read: sum(|scanned| scanned.nread),
        files_taken_over: 0,
        left_out: sum(|scanned| scanned.nothers),
    };
    let done = Done {
        read: has_read.then(|| (sum(|scanned| scanned.nbytes), started.elapsed())),
        held_back: folders.iter().find_map(|(_, (_, held_back))| *held_back),
        interrupted: false,
        covered: has_read.then_some(covered),
        signed,
    };
    printer.end(&counts, &done)?;
    let is_unread = folders.iter().any(|(totals, _)| totals.nunread > 0);
    Ok(if is_unread {
        EXIT_ERROR
    } else if counts.has_differences() {
        EXIT_INCOMPLETE
    } else {
        0
    })
}
