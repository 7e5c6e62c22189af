// SPDX-License-Identifier: MIT OR Apache-2.0

//! `digest(1)` and `mac(1)` of Solaris: as commands of `hashloom`, and as programs of these names.
//!
//! Options, output and exit statuses are those of the manual pages of illumos and Oracle Solaris 11.4. If these are
//! silent, illumos decides: a file that cannot be opened or read is skipped; the last error decides the exit status;
//! file names are printed unescaped. There are two differences: an error also gives the reason, and a pipe that has no
//! writer yet is waited for.

pub mod digest;
pub mod key;
pub mod mac;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ErrorKind as Misuse};
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use hashloom::{Algorithm, Hash};
use hashloom_files::paths::portable;
use hashloom_files::run::{Cancel, Options};
use hashloom_files::text::shown;
use hashloom_files::{FileError, Method, Request, Source, hash_files};
use hashloom_frame::exit::EXIT_PIPE;
use hashloom_frame::output;
use hashloom_frame::printing::Console;
use hashloom_frame::quote::for_terminal;
use hashloom_frame::text::reason;

/// All errors except wrong usage and files that cannot be opened.
const EXIT_FAILURE: u8 = 1;
/// Wrong usage, or a file that cannot be opened.
const EXIT_USAGE: u8 = 2;

/// Prints an error as these programs do, after the name that the user called.
fn complain(program: &str, message: &str) {
    let _ = writeln!(io::stderr(), "{program}: {message}");
}

/// Makes a program that is called by its own name. It has only the short options of Solaris.
fn program(name: &'static str) -> clap::Command {
    let help = Arg::new("help").long("help").action(ArgAction::HelpLong).help("Print help");
    let version = Arg::new("version").long("version").action(ArgAction::Version).help("Print version");
    let command = clap::Command::new(name).version(env!("CARGO_PKG_VERSION")).max_term_width(100);
    command.disable_help_flag(true).disable_version_flag(true).args([help, version])
}

/// Returns the exit status of work done; prints the error, if any.
fn status(program: &str, done: Result<(), String>) -> u8 {
    let Err(error) = done else { return 0 };
    complain(program, &error);
    EXIT_FAILURE
}

/// Parses the command line of a program that is called by its own name. Options end at the first file. On an error this
/// returns the exit status.
fn parse<T: FromArgMatches>(command: clap::Command, usage: &str, arguments: &[OsString]) -> Result<T, u8> {
    let program = command.get_name().to_owned();
    // The last occurrence of each option counts.
    let parsed = command.args_override_self(true).try_get_matches_from(arguments);
    parsed.and_then(|matches: ArgMatches| T::from_arg_matches(&matches)).map_err(|error| {
        if matches!(error.kind(), Misuse::DisplayHelp | Misuse::DisplayVersion) {
            return status(&program, output::print_help(&error));
        }
        // In the words of getopt(3C). clap names the option as "-x <NAME>" or "--xyz".
        let option = error.get(ContextKind::InvalidArg).map(|value| value.to_string()).unwrap_or_default();
        let option = option.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
        match error.kind() {
            Misuse::UnknownArgument => complain(&program, &format!("illegal option -- {option}")),
            Misuse::InvalidValue => complain(&program, &format!("option requires an argument -- {option}")),
            _ => {}
        }
        let _ = writeln!(io::stderr(), "Usage:\n{usage}");
        EXIT_USAGE
    })
}

/// Every algorithm with its names as a digest and as a MAC, if there is one: the names of PKCS #11, in lower case.
#[rustfmt::skip]
const NAMES: [(Algorithm, &str, Option<&str>); Algorithm::ALL.len()] = [
    // algorithms.py: rust_solaris
    (Algorithm::Sha1, "sha1", Some("sha1_hmac")),
    (Algorithm::Sha224, "sha224", Some("sha224_hmac")),
    (Algorithm::Sha256, "sha256", Some("sha256_hmac")),
    (Algorithm::Sha384, "sha384", Some("sha384_hmac")),
    (Algorithm::Sha512, "sha512", Some("sha512_hmac")),
    (Algorithm::Sha512_224, "sha512_224", Some("sha512_224_hmac")),
    (Algorithm::Sha512_256, "sha512_256", Some("sha512_256_hmac")),
    (Algorithm::Ripemd160, "ripemd160", Some("ripemd160_hmac")),
    (Algorithm::Md5, "md5", Some("md5_hmac")),
    (Algorithm::Sha3_224, "sha3_224", Some("sha3_224_hmac")),
    (Algorithm::Sha3_256, "sha3_256", Some("sha3_256_hmac")),
    (Algorithm::Sha3_384, "sha3_384", Some("sha3_384_hmac")),
    (Algorithm::Sha3_512, "sha3_512", Some("sha3_512_hmac")),
    (Algorithm::Keccak256, "keccak_256", Some("keccak_256_hmac")),
    (Algorithm::Shake128, "shake128", None),
    (Algorithm::Shake256, "shake256", None),
    (Algorithm::Sm3, "sm3", Some("sm3_hmac")),
    (Algorithm::Blake2b, "blake2b", None),
    (Algorithm::Blake2b256, "blake2b_256", None),
    (Algorithm::Blake2s, "blake2s", None),
    (Algorithm::Blake3, "blake3", None),
    // algorithms.py: end
];

/// The computed results: digests or MACs.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Digest,
    Mac,
}

impl Kind {
    fn names(self) -> impl Iterator<Item = (Algorithm, &'static str)> {
        NAMES.into_iter().filter_map(move |(algorithm, digest, mac)| match self {
            Kind::Digest => Some((algorithm, digest)),
            Kind::Mac => Some((algorithm, mac?)),
        })
    }
}

/// Accepts any name, so that these programs can report an unknown one in their own words, but lists the known names for
/// completions and manual pages.
#[derive(Clone)]
struct Names(Kind);

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, OsStr::new(&*value.to_string_lossy()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.names().map(|(_, name)| PossibleValue::new(name))))
    }
}

/// Returns the algorithm of this name; there is no other spelling of it. Oracle Solaris has `sha512_t`
/// (`sha512_t_hmac`), which takes its t from `truncation`. On an error this returns the exit status.
fn algorithm(program: &str, kind: Kind, wanted: &str, truncation: Option<&str>) -> Result<Algorithm, u8> {
    let (general, full) = match kind {
        Kind::Digest => ("sha512_t", truncation.map(|nbits| format!("sha512_{nbits}"))),
        Kind::Mac => ("sha512_t_hmac", truncation.map(|nbits| format!("sha512_{nbits}_hmac"))),
    };
    let of_name = |full: &str| kind.names().find(|(_, name)| *name == full).map(|(algorithm, _)| algorithm);
    let found = match &full {
        None => of_name(wanted),
        Some(full) => of_name(full).filter(|_| wanted == general),
    };
    found.ok_or_else(|| {
        if wanted == general || full.is_some() {
            complain(program, &format!("expected -a {general} with -t 224 or -t 256, and -t with nothing else"));
            EXIT_USAGE
        } else {
            let wanted = shown(wanted.as_bytes());
            complain(program, &format!("unknown algorithm -- {wanted} ({program} -l lists all)"));
            EXIT_FAILURE
        }
    })
}

/// Hashes the files, or standard input if there are none, and prints a line for each. `label` is the algorithm's name
/// as the user gave it. Returns the exit status.
fn print(program: &str, label: &str, method: Method, verbose: bool, files: &[PathBuf]) -> u8 {
    let is_named = files.len() > 1 || verbose && !files.is_empty();
    let methods: Arc<[Method]> = [method].into();
    let sources = files.iter().map(Source::from).chain(files.is_empty().then_some(Source::Stdin));
    let requests = sources.map(|source| Request { source, methods: Arc::clone(&methods), tag: () });
    let (stop, is_terminal) = (Cancel::new(), io::stdout().is_terminal());
    let (status, lost) = Console::of_stand_in(program.as_bytes(), &stop).run(|console| {
        let mut status = 0;
        hash_files(requests, &Options::new().cancel(&stop), |request, result| match result {
            Ok(hashed) => console.print(|lines| {
                let name = name(&request.source).filter(|_| is_named);
                let shown =
                    name.as_deref().map(|name| if is_terminal { for_terminal(name, false) } else { name.into() });
                push_line(lines, verbose.then_some(label), shown.as_deref(), &hashed.digests[0]);
            }),
            Err(error) => {
                let (message, code) = trouble(&request.source, &error);
                console.message(message.as_bytes());
                status = code;
            }
        });
        status
    });
    match lost.lines {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => EXIT_PIPE,
        Some(error) => {
            complain(program, &format!("standard output: {}", reason(&error)));
            EXIT_FAILURE
        }
        None => status,
    }
}

fn name(source: &Source) -> Option<Cow<'_, [u8]>> {
    match source {
        Source::Path(path) => Some(portable(path)),
        _ => None,
    }
}

/// Appends `sha1 (NAME) = DIGEST`, or the wanted part of it.
fn push_line(lines: &mut Vec<u8>, label: Option<&str>, name: Option<&[u8]>, digest: &Hash) {
    if let Some(label) = label {
        lines.extend_from_slice(label.as_bytes());
        lines.push(b' ');
    }
    if let Some(name) = name {
        lines.extend_from_slice(&[b"(", name, b") = "].concat());
    }
    lines.extend_from_slice(format!("{digest}\n").as_bytes());
}

/// Returns why there is no digest of a file, and the exit status for that.
fn trouble(source: &Source, error: &FileError) -> (String, u8) {
    let name = name(source).map_or_else(|| "STDIN".into(), |name| shown(&name).to_string());
    let reason = reason(error.io());
    match error {
        // On Solaris a folder can be opened, but not read.
        FileError::Open(error) if error.kind() != ErrorKind::IsADirectory => {
            (format!("can not open input file {name}: {reason}"), EXIT_USAGE)
        }
        _ => (format!("error reading file {name}: {reason}"), EXIT_FAILURE),
    }
}
