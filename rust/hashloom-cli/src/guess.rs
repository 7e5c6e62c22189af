// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom PATH…`: what the files are tells which command is meant. The command is said, and run as if it were typed.
//!
//! A list, manifest, torrent or PAR2 file is checked. A file or folder is checked against what lies beside it: lists that
//! name it, its torrent, its manifest. If there is nothing, its checksums are printed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hashloom_files::paths::{portable, to_path};
use hashloom_list::Parser;
use hashloom_list::manifest::Reader;

use crate::exit::EXIT_ERROR;
use crate::input::Kept;
use crate::manifest::with_suffix;
use crate::output::folder;
use crate::quote::quoted;
use crate::sums::text_lines::Grammar;
use crate::sums::{found, par2};
use crate::text::display;
use crate::{names, style, torrent};

/// A command, and what it is about.
struct Plan {
    command: &'static [&'static str],
    paths: Vec<PathBuf>,
    /// Signatures that the command does not look at, and what does.
    unchecked: Vec<(PathBuf, &'static str)>,
}

const CHECK: &[&str] = &["check"];
const CHECK_THERE: &[&str] = &["check", "--relative-to-list"];
/// Other files of such a list need not be there: the file that was named is.
const CHECK_ONE: &[&str] = &["check", "--ignore-missing", "--relative-to-list"];
const CHECK_MANIFEST: &[&str] = &["manifest", "check"];
const VERIFY: &[&str] = &["torrent", "verify"];
const SHOW: &[&str] = &["torrent", "show"];
const SUM: &[&str] = &["sum"];
const SUM_ALL: &[&str] = &["sum", "--recursive"];

/// The ends of the names of signatures, and what checks one.
const SIGNATURES: [(&str, &str); 5] = [
    (".minisig", "minisign -V"),
    (".asc", "gpg --verify"),
    (".sig", "gpg --verify"),
    (".gpg", "gpg --verify"),
    (".slhsig", "hashloom slh verify"),
];

/// Runs the commands that these words stand for: paths, and options for the commands. `run` runs one. Returns the exit
/// status, the greatest of all.
pub fn run(
    options: &[OsString],
    words: &[OsString],
    run: impl Fn(Vec<OsString>) -> Result<u8, String>,
) -> Result<u8, String> {
    let (mut plans, mut options, mut may_be_value) = (Vec::<Plan>::new(), options.to_vec(), false);
    for word in words {
        let is_option = word.as_encoded_bytes().starts_with(b"-");
        let path = Path::new(word);
        if is_option || (may_be_value && path.symlink_metadata().is_err()) {
            options.push(word.clone());
        } else {
            path.symlink_metadata().map_err(|error| crate::text::failed(path, &error))?;
            for plan in of(path) {
                match plans.last_mut() {
                    Some(last) if last.command == plan.command && takes_many(plan.command) => {
                        let is_new = !last.paths.contains(&plan.paths[0]);
                        last.paths.extend(plan.paths.into_iter().filter(|_| is_new));
                        last.unchecked.extend(plan.unchecked.into_iter().filter(|_| is_new));
                    }
                    _ => plans.push(plan),
                }
            }
        }
        may_be_value = is_option;
    }
    let mut status = 0;
    for plan in plans {
        let mut arguments: Vec<OsString> = plan.command.iter().map(Into::into).collect();
        arguments.extend(options.iter().cloned());
        if plan.paths.iter().any(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-")) {
            arguments.push("--".into());
        }
        arguments.extend(plan.paths.into_iter().map(Into::into));
        let line = arguments.iter().map(|word| quoted(&portable(Path::new(word))).into_owned()).collect::<Vec<_>>();
        let said = format!("running: hashloom {}", String::from_utf8_lossy(&line.join(&b' ')));
        let _ = writeln!(io::stderr(), "{} {said}", style::note());
        let done = run(arguments)?;
        status = status.max(done);
        let is_checked = plan.command == CHECK_MANIFEST && options.iter().any(|option| option == "--trusted-key");
        for (signature, by) in plan.unchecked.iter().filter(|_| !is_checked && done < EXIT_ERROR) {
            let by = if plan.command == CHECK_MANIFEST { "--trusted-key KEY" } else { by };
            let told = format!("{}: this signature was not checked; `{by}` does it", display(signature));
            let _ = writeln!(io::stderr(), "{} {told}", style::warning());
        }
    }
    Ok(status)
}

fn takes_many(command: &[&str]) -> bool {
    [CHECK, CHECK_THERE, CHECK_ONE, SHOW, SUM, SUM_ALL].contains(&command)
}

/// Returns the commands for a path.
fn of(path: &Path) -> Vec<Plan> {
    let plan = |command, paths: &[&Path]| Plan {
        command,
        paths: paths.iter().copied().map(Path::to_owned).collect(),
        unchecked: paths.first().map_or(vec![], |path| signatures(path)),
    };
    if path.is_dir() {
        return of_folder(path, plan);
    }
    // Only regular files can be looked into, and read again.
    if !path.is_file() {
        return vec![plan(SUM, &[path])];
    }
    if let Some(plan) = of_file(path, plan) {
        return vec![plan];
    }
    if let Some(signed) = signed_by(path).filter(|signed| signed.exists()) {
        return of(&signed);
    }
    let mut plans = Vec::new();
    let names_it = |list: &Path| {
        let mut is_named = false;
        found::of_list(list, &mut Grammar::Any(Parser::new()), |entry| {
            let name = to_path(entry.name.strip_prefix(b"./").unwrap_or(&entry.name));
            is_named |= Some(name.as_os_str()) == path.file_name();
        })
        .is_some_and(|_| is_named)
    };
    plans.extend(lists_in(folder(path)).filter(|list| names_it(list)).map(|list| plan(CHECK_ONE, &[&list])));
    let torrent = with_suffix(path, ".torrent");
    plans.extend(torrent.is_file().then(|| plan(VERIFY, &[&torrent, path])));
    if plans.is_empty() { vec![plan(SUM, &[path])] } else { plans }
}

/// Returns the command for a file that describes others: a list, manifest, torrent or PAR2 file.
fn of_file(path: &Path, plan: impl Fn(&'static [&'static str], &[&Path]) -> Plan) -> Option<Plan> {
    if par2::open(path).is_some() {
        return Some(plan(CHECK, &[path]));
    }
    if Kept::open(path, |input| Reader::new(input).map_err(|error| error.to_string())).is_ok_and(|kept| kept.1.is_ok())
    {
        return Some(plan(CHECK_MANIFEST, &[path]));
    }
    let place = folder(path);
    if path.extension() == Some(OsStr::new("torrent")) {
        let is_in = |place: &Path, name: &[u8]| place.join(to_path(name)).exists();
        return Some(match torrent::read(path) {
            Ok(torrent) if is_in(place, torrent.name()) && place != Path::new(".") => plan(VERIFY, &[path, place]),
            Ok(torrent) if !is_in(Path::new("."), torrent.name()) => plan(SHOW, &[path]),
            _ => plan(VERIFY, &[path]),
        });
    }
    let (mut nthere, mut nhere) = (0_u64, 0_u64);
    found::of_list(path, &mut Grammar::Any(Parser::new()), |entry| {
        let name = to_path(&entry.name);
        nthere += u64::from(place.join(&name).exists());
        nhere += u64::from(name.exists());
    })?;
    Some(plan(if nhere >= nthere { CHECK } else { CHECK_THERE }, &[path]))
}

/// Returns the commands for a folder.
fn of_folder(path: &Path, plan: impl Fn(&'static [&'static str], &[&Path]) -> Plan) -> Vec<Plan> {
    let beside = |suffix| path.file_name().map(|_| with_suffix(path, suffix)).filter(|file| file.is_file());
    let mut plans = Vec::new();
    plans.extend(beside(".manifest").map(|manifest| plan(CHECK_MANIFEST, &[&manifest, path])));
    plans.extend(beside(".torrent").map(|torrent| plan(VERIFY, &[&torrent, path])));
    let is_list = |list: &Path| found::of_list(list, &mut Grammar::Any(Parser::new()), |_| ()).is_some();
    plans.extend(lists_in(path).filter(|list| is_list(list)).map(|list| plan(CHECK_THERE, &[&list])));
    if plans.is_empty() { vec![plan(SUM_ALL, &[path])] } else { plans }
}

/// The files of a folder that lists are called like: `SHA256SUMS`, `checksums.txt`, `film.iso.sha256`, `.sfv`.
fn lists_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let is_called_so = |name: &OsStr| {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let end = name.rsplit('.').next().unwrap_or_default();
        let is_signature = SIGNATURES.iter().any(|(suffix, _)| name.ends_with(suffix));
        !is_signature && (name.contains("sum") || names::is_any(end) || ["sfv", "sha", "hash", "hashes"].contains(&end))
    };
    let named = entries.filter(move |entry| is_called_so(&entry.file_name()));
    let place = if folder == Path::new(".") { PathBuf::new() } else { folder.to_owned() };
    let mut paths: Vec<_> = named.map(|entry| place.join(entry.file_name())).filter(|path| path.is_file()).collect();
    paths.sort_unstable();
    paths.into_iter()
}

/// The signatures beside a file.
fn signatures(file: &Path) -> Vec<(PathBuf, &'static str)> {
    SIGNATURES
        .map(|(suffix, by)| (with_suffix(file, suffix), by))
        .into_iter()
        .filter(|(path, _)| path.is_file())
        .collect()
}

/// The file that a signature of this name is of.
fn signed_by(signature: &Path) -> Option<PathBuf> {
    let name = signature.file_name()?.to_str()?;
    let name = SIGNATURES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).filter(|name| !name.is_empty())?;
    Some(signature.with_file_name(name))
}
