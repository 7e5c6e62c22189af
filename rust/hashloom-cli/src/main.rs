// SPDX-License-Identifier: MIT OR Apache-2.0

//! The program `hashloom`.
//!
//! It reads arguments and prints; the crate `hashloom` does the work.
#![deny(unsafe_code)]

mod args;
mod door;
mod generate;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use hashloom::Algorithm;
use hashloom_address::command as address;
use hashloom_bench::{bench, kernels};
use hashloom_clients::command as clients;
use hashloom_files::text::shown;
use hashloom_frame::text::failed;
use hashloom_frame::{exit, isa, memory, output, stdio, style};
#[cfg(feature = "gpu")]
use hashloom_gpu::command as pow;
use hashloom_list::command::{self as sums, sources::Sources};
use hashloom_maker::command as maker;
use hashloom_manifest::command as manifest;
use hashloom_slh::command as slh;
use hashloom_solaris as solaris;
use hashloom_standins::{self as standins, tips};
use hashloom_stores::command as stores;
use hashloom_torrent::command as torrent;
use hashloom_tree::command as tree;
#[cfg(not(feature = "gpu"))]
use hashloom_work::command as pow;

use args::{Arguments, Command, TorrentCommand};
use exit::EXIT_ERROR;
use isa::restrict;

#[global_allocator]
static MEMORY: memory::OrExit = memory::OrExit;

/// What `check` reads beside lists.
const SOURCES: Sources = Sources {
    manifest: manifest::each_file,
    open_par2: stores::par2::open,
    read_par2: stores::par2::read,
    check_par2: stores::par2::check,
    python: stores::python::records,
    stores: stores::check,
};

fn main() {
    stdio::begin();
    let as_hashloom = || as_hashloom(&std::env::args_os().collect::<Vec<_>>());
    let status = as_other_program().map_or_else(as_hashloom, Ok).unwrap_or_else(|message| {
        // Not eprintln!, which panics if standard error is full or has no reader: the exit status must still tell.
        let _ = writeln!(io::stderr(), "{} {message}", style::error());
        EXIT_ERROR
    });
    exit::end(status)
}

/// Runs a command line of hashloom, which begins with the name of the program. Returns the exit status.
fn as_hashloom(words: &[OsString]) -> Result<u8, String> {
    Arguments::read(words).map_or_else(|error| misused(words, error), |arguments| run(&arguments))
}

/// Prints the help or the version, if asked for instead of a command, or what is wrong with the usage.
fn misused(words: &[OsString], mut error: clap::Error) -> Result<u8, String> {
    if !error.use_stderr() {
        return output::print_help(&error).map(|()| 0);
    }
    if let Some(done) = instead(words) {
        return done;
    }
    // The value may be a secret key, which no message shows.
    if error.get(ContextKind::InvalidArg).is_some_and(|arg| arg.to_string() == "--from-secret") {
        error.remove(ContextKind::InvalidValue);
    }
    let missing = tips::add(&Arguments::whole(), words, &mut error);
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
        // clap prints what was typed as it is, also characters that a terminal obeys.
        let typed = error.get(kind).map(ToString::to_string).unwrap_or_default();
        if typed.chars().any(char::is_control) {
            error.insert(kind, ContextValue::String(shown(typed.as_bytes()).to_string()));
            error.remove(ContextKind::Suggested);
        }
    }
    if let Some(error) = missing.as_deref().and_then(|path| Some(failed(path, &path.symlink_metadata().err()?))) {
        return Err(error);
    }
    // clap's messages begin with "error:", those of the program with its name.
    let text = error.render();
    let text = if console::colors_enabled_stderr() { text.ansi().to_string() } else { text.to_string() };
    let text = text.replacen("error:", "hashloom:", 1);
    let is_first = tips::command_of(&Arguments::whole(), words).is_empty();
    let neither = if is_first { "neither a file here nor a command:" } else { "there is no such subcommand:" };
    let text = text.replacen("unrecognized subcommand", neither, 1);
    let _ = write!(io::stderr(), "{text}");
    Ok(EXIT_ERROR)
}

/// Does what a line asks for that begins with no command: the work of the program of this name, or of the commands that
/// are obvious for what has this name.
fn instead(words: &[OsString]) -> Option<Result<u8, String>> {
    let (program, words) = words.split_first()?;
    let first = words.first()?.to_str().unwrap_or_default();
    if first.ends_with("sum") {
        if let Some(status) = standins::called(first, words, isa::of_environment().as_deref()) {
            return Some(Ok(status));
        }
    }
    let as_typed = |arguments: Vec<OsString>| as_hashloom(&[vec![program.clone()], arguments].concat());
    let is_version = first == "version" && Path::new(first).symlink_metadata().is_err();
    if is_version { Some(as_typed(vec!["--version".into()])) } else { door::run(words, as_typed) }
}

/// Runs the program that hashloom is called as, if it stands in for one of this name. Returns the exit status.
fn as_other_program() -> Option<u8> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let called = Path::new(arguments.first()?);
    // On Windows the name may be SHA256SUM.EXE.
    let program = if cfg!(windows) { called.file_stem() } else { called.file_name() }?.to_str()?;
    let program = if cfg!(windows) { program.to_ascii_lowercase() } else { program.to_owned() };
    let program = &program[..];
    match program {
        "digest" => Some(solaris::digest::called(&arguments, isa::of_environment().as_deref())),
        "mac" => Some(solaris::mac::called(&arguments, isa::of_environment().as_deref())),
        _ => {
            let isa = isa::of_environment();
            standins::called(program, &arguments, isa.as_deref()).or_else(|| refused(program))
        }
    }
}

/// Refuses the names of other programs that make checksums, such as `b3sum`: as a list of commands, their arguments
/// would be misread. Returns the exit status.
fn refused(program: &str) -> Option<u8> {
    let can = standins::names().collect::<Vec<_>>().join(", ");
    program.ends_with("sum").then(|| {
        let message = format!(
            "hashloom is called as {program}, for which it cannot stand in: it can for {can}, digest and mac. \
             Remove the link, or call it hashloom"
        );
        let _ = writeln!(io::stderr(), "{} {message}", style::error());
        EXIT_ERROR
    })
}

fn run(arguments: &Arguments) -> Result<u8, String> {
    let isa = arguments.isa.isa.as_deref();
    // The algorithms that must keep a kernel; `None` if the command restricts the choice itself, or hashes nothing.
    let needed = match &arguments.command {
        Command::Digest(_) | Command::Mac(_) | Command::Generate(_) => None,
        // Show and edit hash one or two dictionaries of each torrent. Lists, manifests and keys tell their algorithms.
        Command::Torrent { command: TorrentCommand::Show(_) | TorrentCommand::Edit(_) }
        | Command::Check(_)
        | Command::Manifest { .. }
        | Command::Slh { .. } => Some(vec![]),
        Command::Torrent { .. } => Some(vec![Algorithm::Sha1, Algorithm::Sha256]),
        Command::Sum(options) => Some(options.algorithms().to_vec()),
        Command::Tree { command } => Some(command.algorithms()),
        Command::Work(options) => Some(options.algorithms()),
        Command::Kernels(options) => Some(options.algorithms.clone()),
        Command::Bench(options) => Some(options.algorithms.clone()),
        Command::Address(_) => Some(vec![Algorithm::Sha256, Algorithm::Ripemd160]),
    };
    needed.map_or(Ok(()), |algorithms| restrict(isa, &algorithms))?;
    match &arguments.command {
        Command::Torrent { command } => match command {
            TorrentCommand::Create(options) => maker::create::run(options),
            TorrentCommand::Verify(options) => clients::verify::run(options),
            TorrentCommand::Find(options) => clients::find::run(options),
            TorrentCommand::Link(options) => clients::link::run(options),
            TorrentCommand::Show(options) => torrent::show::run(options),
            TorrentCommand::Edit(options) => maker::edit::run(options),
        },
        Command::Sum(options) => sums::sum::run(options),
        Command::Check(options) => sums::check::run(options, SOURCES),
        Command::Manifest { command } => manifest::run(command),
        Command::Digest(options) => Ok(solaris::digest::run("hashloom digest", options, isa)),
        Command::Mac(options) => Ok(solaris::mac::run("hashloom mac", options, isa)),
        Command::Tree { command } => tree::run(command),
        Command::Slh { command } => slh::run(command),
        Command::Address(options) => address::run(options),
        Command::Work(options) => pow::run(options),
        Command::Generate(options) => generate::run(options, Arguments::command()),
        Command::Kernels(options) => kernels::run(options),
        Command::Bench(options) => bench::run(options),
    }
}
