// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom PATH…`: finds the commands that are meant, says them, and runs them as if they were typed.
//!
//! docs/checksums.md has the rule. A file is the subject, and what lies beside it is evidence: only where nothing names
//! the file may it be a list itself, by its name, or by its content if the name says nothing. So whoever can change a
//! file, but not the list beside it, cannot choose what is checked.

mod beside;
mod kind;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hashloom_files::paths::{portable, to_path};
use hashloom_frame::exit::{EXIT_ERROR, EXIT_INCOMPLETE};
use hashloom_frame::names;
use hashloom_frame::output::folder;
use hashloom_frame::quote::quoted;
use hashloom_frame::style;
use hashloom_frame::text::{display, failed};
use hashloom_list::command::found;
use hashloom_list::{BadDigest, Parser, read_digest};
use hashloom_standins::tips::{self, option};

use self::beside::{of_files, of_folder};
use self::kind::{Kind, by_name, kinds};
use crate::args::Arguments;
use crate::torrent;

/// The commands whose options may stand beside a path.
const COMMANDS: [&[&str]; 5] =
    [&["check"], &["sum"], &["manifest", "check"], &["manifest", "diff"], &["torrent", "verify"]];

/// A command to run.
struct Plan {
    command: &'static [&'static str],
    /// The words behind the command and the user's options.
    words: Vec<OsString>,
    /// The files whose signatures the command does not look at.
    signed: Vec<PathBuf>,
    /// Whether it compares something.
    checks: bool,
}

/// The commands for a command line, and messages.
#[derive(Default)]
struct Plans {
    plans: Vec<Plan>,
    /// Messages about lists that name a file and cannot be compared with it. One makes the exit status 1.
    doubts: Vec<String>,
    /// A message about files of a folder that nothing names, if something names others.
    unnamed: Option<String>,
    hints: Vec<String>,
}

impl Plans {
    fn of(plan: Plan) -> Plans {
        Plans { plans: vec![plan], ..Plans::default() }
    }

    fn append(&mut self, other: Plans) {
        self.plans.extend(other.plans);
        self.doubts.extend(other.doubts);
        self.hints.extend(other.hints);
        self.unnamed = self.unnamed.take().or(other.unnamed);
    }
}

/// The words of a command line.
struct Words<'a> {
    typed: &'a [OsString],
    /// Options, each with its values.
    options: Vec<(String, Vec<OsString>)>,
    paths: Vec<OsString>,
    /// Whether only what can be compared is right.
    requires: bool,
}

/// Runs a command line that begins with no command, if it names paths. `run` runs a command.
pub fn run(words: &[OsString], run: impl Fn(Vec<OsString>) -> Result<u8, String>) -> Option<Result<u8, String>> {
    let program = Arguments::whole();
    let words = Words::split(words, &program)?;
    let first = Path::new(words.paths.first()?);
    let is_word = !portable(first).iter().any(|byte| b"./".contains(byte));
    let error = first.symlink_metadata().err().filter(|_| !is_there(first.as_os_str()));
    let is_any_there = words.paths.iter().any(|path| is_there(path));
    match error {
        // clap tells which command a word may mean.
        Some(_) if is_word && (!is_any_there || digest_fault(&first.to_string_lossy()) == Err(None)) => return None,
        Some(error) if !is_any_there => return Some(Err(failed(first, &error))),
        _ => {}
    }
    let has_key = words.has(&["--trusted-key"]);
    Some(plans(&words.paths, has_key).and_then(|plans| words.run(&program, plans, run)))
}

fn is_there(path: &OsStr) -> bool {
    path == "-" || Path::new(path).symlink_metadata().is_ok()
}

impl Words<'_> {
    /// `None` if the line begins with a command.
    fn split<'a>(typed: &'a [OsString], program: &clap::Command) -> Option<Words<'a>> {
        let commands: Vec<_> = COMMANDS.iter().filter_map(|path| command(program, path)).collect();
        let mut split = Words { typed, options: vec![], paths: vec![], requires: false };
        let mut words = typed.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--" {
                split.paths.extend(words.by_ref().cloned());
            } else if text == "--require" {
                split.requires = true;
            } else if text == "-" || !text.starts_with('-') {
                if split.paths.is_empty() && program.find_subcommand(&*text).is_some() {
                    return None;
                }
                split.paths.push(word.clone());
            } else {
                let short = || text.chars().take(2).collect::<String>();
                let (name, has_value) = match text.split_once('=') {
                    Some((name, _)) if text.starts_with("--") => (name.to_owned(), true),
                    _ if text.starts_with("--") => (text.to_string(), false),
                    _ => (short(), short() != text),
                };
                let takes_value = |command: &&clap::Command| {
                    option(command, &name).is_some_and(|arg| arg.get_action().takes_values())
                };
                let is_wanted = !has_value && (name == "--isa" || commands.iter().any(takes_value));
                let value = if is_wanted { words.next() } else { None };
                split.options.push((name, [Some(word), value].into_iter().flatten().cloned().collect()));
            }
        }
        Some(split)
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&&name[..]))
    }

    /// Runs the plans one after the other. Returns the greatest exit status.
    fn run(
        &self,
        program: &clap::Command,
        plans: Plans,
        run: impl Fn(Vec<OsString>) -> Result<u8, String>,
    ) -> Result<u8, String> {
        let is_silent = self.has(&["--status"]);
        let warn = |message: &str| {
            if !is_silent {
                let _ = writeln!(io::stderr(), "{} {message}", style::warning());
            }
        };
        let Plans { plans, doubts, unnamed, hints } = plans;
        let is_doubted = !doubts.is_empty() || unnamed.is_some() && self.requires;
        let mut status = if is_doubted { EXIT_INCOMPLETE } else { 0 };
        doubts.iter().for_each(|doubt| warn(doubt));
        let has = |plan: &Plan, name: &str| {
            name == "--isa" || command(program, plan.command).is_some_and(|command| option(command, name).is_some())
        };
        // The only word to leave out is one that asks for less.
        let is_ones = |name: &str| ["-q", "--quiet"].contains(&name) || plans.iter().any(|plan| has(plan, name));
        if let (Some((name, _)), Some(plan)) = (self.options.iter().find(|(name, _)| !is_ones(name)), plans.first()) {
            return Err(tips::refused(program, self.typed, name, &plan.command.join(" ")));
        }
        for plan in &plans {
            let mut words: Vec<OsString> = plan.command.iter().map(Into::into).collect();
            let options = self.options.iter().filter(|(name, _)| has(plan, name));
            for (name, values) in options {
                // An option stands by its long name, which says what it is.
                let option = command(program, plan.command).and_then(|command| option(command, name));
                let long = option.and_then(clap::Arg::get_long).filter(|_| values[0] == OsStr::new(name));
                words.extend(long.map(|long| format!("--{long}").into()));
                words.extend(values.iter().skip(usize::from(long.is_some())).cloned());
            }
            words.extend(plan.words.iter().cloned());
            let line = line_of(words.iter().map(Path::new));
            let why = match plan.command {
                _ if !plan.checks => "nothing here to check against; ",
                ["sum"] => "to compare with the digest; ",
                _ => "",
            };
            if !is_silent && !self.has(&["-q", "--quiet"]) {
                let _ = writeln!(io::stderr(), "{} {why}running: hashloom {line}", style::note());
            }
            let done = run(words)?;
            status = status.max(done);
            if !plan.checks && self.requires {
                warn("--require: there was nothing to check against");
                status = status.max(EXIT_INCOMPLETE);
            }
            // The user has ended the run, or nobody reads its output.
            if done > EXIT_ERROR {
                return Ok(done);
            }
            let is_checked = |by: &str| self.has(&["--trusted-key"]) && by.contains(kind::OWN);
            let signatures = plan.signed.iter().flat_map(|file| kind::signatures(file));
            for (signature, by) in signatures.filter(|(_, by)| !is_checked(by) && done < EXIT_ERROR) {
                warn(&format!("{}: this signature was not checked; `{by}` does it", display(&signature)));
            }
        }
        unnamed.iter().for_each(|message| warn(message));
        if !is_silent && !self.has(&["-q", "--quiet"]) {
            for hint in hints {
                let _ = writeln!(io::stderr(), "{} {hint}", style::note());
            }
        }
        Ok(status)
    }
}

fn command<'a>(program: &'a clap::Command, path: &[&str]) -> Option<&'a clap::Command> {
    path.iter().try_fold(program, |command, name| command.find_subcommand(name))
}

/// Words as a shell reads them.
fn line_of<'a>(words: impl Iterator<Item = &'a Path>) -> String {
    let words: Vec<_> = words.map(|word| quoted(&portable(word)).into_owned()).collect();
    String::from_utf8_lossy(&words.join(&b' ')).into_owned()
}

/// The words that give an option a path, which may begin with a dash.
fn with(name: &str, path: &Path) -> Vec<OsString> {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return vec![[OsStr::new(name), OsStr::new("="), path.as_os_str()].into_iter().collect()];
    }
    vec![name.into(), path.into()]
}

/// A command whose last words are paths.
fn plan(command: &'static [&'static str], options: Vec<OsString>, paths: &[&Path]) -> Plan {
    let mut words = options;
    if paths.iter().any(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-") && path.as_os_str() != "-") {
        words.push("--".into());
    }
    words.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    Plan { command, words, signed: paths.iter().map(|path| path.to_path_buf()).collect(), checks: command != ["sum"] }
}

/// `check --only`: these files or this folder, against lists. Names are relative to `base`, or each list's folder.
fn only(files: &[&Path], lists: &[&Path], base: Option<&Path>) -> Plan {
    let base = base.map(|base| with("--directory", base));
    let options = base.into_iter().chain(files.iter().map(|file| with("--only", file))).flatten().collect();
    let mut plan = plan(&["check"], options, lists);
    plan.signed.extend(files.iter().filter(|file| !file.is_dir()).map(|file| file.to_path_buf()));
    plan
}

/// The commands for what was named.
fn plans(words: &[OsString], has_key: bool) -> Result<Plans, String> {
    let (there, others): (Vec<&OsString>, Vec<&OsString>) = words.iter().partition(|word| is_there(word));
    let mut paths: Vec<&Path> = there.into_iter().map(Path::new).collect();
    if !others.is_empty() && paths.len() > 1 {
        // A line of sha256sum that has read standard input.
        paths.retain(|path| path.as_os_str() != "-");
    }
    if let Some(first) = others.first().map(Path::new) {
        let text = others.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let why = || first.symlink_metadata().map_or_else(|error| failed(first, &error), |_| String::new());
        return match (&paths[..], digest_fault(&text)) {
            (&[file], Ok(())) if !file.is_dir() => {
                Ok(Plans::of(Plan { checks: true, ..plan(&["sum"], vec!["--expect".into(), text.into()], &[file]) }))
            }
            (_, Err(Some(fault))) => Err(format!("{}; as a digest: {fault}", why())),
            (&[file], _) if names::algorithm(first).is_some() => {
                Err(format!("{}; its {text}: `hashloom sum --algorithm {text} {}`", why(), display(file)))
            }
            _ => Err(why()),
        };
    }
    let kinds = kinds(&paths);
    let line = |paths: &[&Path]| format!("`hashloom {}`", line_of(paths.iter().copied()));
    let refused = |cure: &str| {
        let expected =
            "expected files of one kind, or a list, torrent, manifest or PAR2 file and then what it describes";
        Err(format!("{}: {expected}; {cure}", display(paths[1])))
    };
    if let (&[first, second], &[a, b]) = (&paths[..], &kinds[..]) {
        // By its name the first may describe the second, even if something else names the first.
        let of_first = if a.describes() { Some(a) } else { by_name(first).filter(|_| a == Kind::File) };
        match (of_first, b) {
            _ if (a, b) == (Kind::Folder, Kind::Folder) => {
                return Ok(Plans::of(plan(&["manifest", "diff"], vec![], &[first, second])));
            }
            (Some(kind), Kind::File | Kind::Folder) if kind != Kind::Signature => {
                return Ok(Plans::of(with_content(first, kind, second, b)));
            }
            (_, b) if b.describes() && !a.describes() => return refused(&format!("write {}", line(&[second, first]))),
            (_, Kind::File) if a == Kind::File => {
                let is_digest = |path: &&Path| path.to_str().is_some_and(|text| digest_fault(text) == Ok(()));
                if let Some(digest) = [first, second].into_iter().find(is_digest) {
                    let (digest, file) = (display(digest), display(&Path::new(".").join(digest)));
                    let cure = format!("write {file} for the file, or sha256:{digest} for the digest");
                    return Err(format!("{digest}: this is a file, and may be a digest: {cure}"));
                }
            }
            _ => {}
        }
    }
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        return refused(&format!("for each alone write {}", line(&paths[..1])));
    }
    if kinds[0] == Kind::File {
        return Ok(of_files(&paths, has_key));
    }
    let mut all = Plans::default();
    for (path, kind) in paths.iter().zip(&kinds) {
        all.append(of_one(path, *kind, has_key));
    }
    Ok(all)
}

/// Whether a text is a digest. The error says what is wrong with a text that is nearly one; other texts have none.
fn digest_fault(text: &str) -> Result<(), Option<String>> {
    /// Shorter runs of digits are words.
    const NEARLY: usize = 24;
    match read_digest(text) {
        Ok(_) => Ok(()),
        Err(BadDigest::NoDigest { of: None }) => Err(None),
        Err(BadDigest::Length { ndigits, .. }) if ndigits < NEARLY => Err(None),
        Err(BadDigest::NoDigest { .. }) if text.len() < NEARLY => Err(None),
        Err(fault) => Err(Some(fault.to_string())),
    }
}

/// The command for a file that describes, and its content.
fn with_content(path: &Path, kind: Kind, content: &Path, of: Kind) -> Plan {
    match (kind, of) {
        (Kind::Torrent, _) => plan(&["torrent", "verify"], with("--data", content), &[path]),
        (Kind::Manifest, Kind::Folder) => plan(&["manifest", "check"], vec![], &[path, content]),
        (_, Kind::Folder) => plan(&["check"], with("--directory", content), &[path]),
        _ => only(&[content], &[path], Some(folder(content))),
    }
}

/// The command for a path alone that is no file which something beside it may name.
fn of_one(path: &Path, kind: Kind, has_key: bool) -> Plans {
    let place = folder(path);
    Plans::of(match kind {
        Kind::Folder => return of_folder(path),
        Kind::Signature => match kind::signed_by(path).filter(|signed| signed.is_file()) {
            Some(signed) => {
                let mut plans = match kinds(&[&signed])[0] {
                    Kind::File | Kind::Signature => of_files(&[&signed], has_key),
                    kind => of_one(&signed, kind, has_key),
                };
                plans.hints.push(format!("{} is a signature: this was about {}", display(path), display(&signed)));
                return plans;
            }
            None => plan(&["sum"], vec![], &[path]),
        },
        Kind::File | Kind::Stream => plan(&["sum"], vec![], &[path]),
        Kind::Manifest => plan(&["manifest", "check"], vec![], &[path]),
        Kind::Par2 => plan(&["check"], vec![], &[path]),
        Kind::Torrent => {
            let is_in = |place: &Path, name: &[u8]| place.join(to_path(name)).exists();
            match torrent::read(path) {
                Ok(torrent) if is_in(place, torrent.name()) && place != Path::new(".") => {
                    plan(&["torrent", "verify"], with("--data", place), &[path])
                }
                Ok(torrent) if !is_in(Path::new("."), torrent.name()) => {
                    Plan { checks: false, ..plan(&["torrent", "show"], vec![], &[path]) }
                }
                _ => plan(&["torrent", "verify"], vec![], &[path]),
            }
        }
        Kind::List => {
            // Files beside the list are meant, even if files of these names are in the current folder too.
            let (mut nthere, mut nhere) = (0_u64, 0_u64);
            found::of_list(path, &mut Parser::new(), |entry| {
                let name = to_path(&entry.name);
                nthere += u64::from(place.join(&name).exists());
                nhere += u64::from(name.exists());
            });
            let is_here = place == Path::new(".") || nthere == 0 && nhere > 0;
            plan(&["check"], if is_here { vec![] } else { vec!["--relative-to-list".into()] }, &[path])
        }
    })
}
