// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called as `sha256sum` or one of its siblings. Options, messages and exit status are those of the program
//! of this name in GNU coreutils 9.1. `test/coreutils.py` compares the two.
//!
//! Differences: --help and --version have their own words, messages are English in every locale, and files are hashed
//! on all CPUs.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use hashloom::Algorithm;
use hashloom_engine::list::{Parser, Writer, tag};
use hashloom_engine::run::{Cancel, Options};
use lexopt::Arg;

use super::checking::{Base, Checker, Rules};
use super::format::Format;
use super::front::End;
use super::summing::{Item, Summer, source};
use crate::EXIT_PIPE;
use crate::printing::Console;
use crate::stdio::{self, Stderr};

/// The programs that hashloom can stand in for.
pub const PROGRAMS: [(&str, Algorithm); 6] = [
    ("md5sum", Algorithm::Md5),
    ("sha1sum", Algorithm::Sha1),
    ("sha224sum", Algorithm::Sha224),
    ("sha256sum", Algorithm::Sha256),
    ("sha384sum", Algorithm::Sha384),
    ("sha512sum", Algorithm::Sha512),
];

/// Returns the algorithm of the program of this name, if it is one of [`PROGRAMS`].
pub fn algorithm_of(program: &str) -> Option<Algorithm> {
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|&(_, algorithm)| algorithm)
}

/// The long options, in the order in which an ambiguous abbreviation lists them. No option takes a value.
const LONG: [(&str, Choice); 12] = [
    ("check", Choice::Check),
    ("ignore-missing", Choice::IgnoreMissing),
    ("quiet", Choice::Quiet),
    ("status", Choice::Status),
    ("warn", Choice::Warn),
    ("strict", Choice::Strict),
    ("tag", Choice::Tag),
    ("zero", Choice::Zero),
    ("binary", Choice::Binary),
    ("text", Choice::Text),
    ("help", Choice::Help),
    ("version", Choice::Version),
];

#[derive(Clone, Copy, PartialEq)]
enum Choice {
    Binary,
    Check,
    Help,
    IgnoreMissing,
    Quiet,
    Status,
    Strict,
    Tag,
    Text,
    Version,
    Warn,
    Zero,
}

/// The command line.
#[derive(Default)]
struct Wanted {
    /// `None` if neither --binary nor --text was given; --tag implies --binary.
    binary: Option<bool>,
    check: bool,
    tag: bool,
    zero: bool,
    rules: Rules,
    files: Vec<PathBuf>,
}

/// Other outcomes of a command line.
enum Other {
    Help,
    Version,
    /// A message; a hint how to get help follows it.
    Usage(Vec<u8>),
}

/// Runs the program; `arguments` begin with its name; `isa` is as in `--isa`. Returns the exit status.
pub fn run(program: &str, algorithm: Algorithm, arguments: Vec<OsString>, isa: Option<&str>) -> u8 {
    let called = arguments.first().map_or_else(|| program.into(), OsString::clone);
    let called = called.as_encoded_bytes();
    let stop = Cancel::new();
    let console = Console::new(called, &stop, None);
    let (is_right, lost) = console.run(|console| match wanted(arguments) {
        Ok(wanted) => match crate::restrict(isa, &[algorithm]) {
            Ok(()) => work(&wanted, algorithm, console, &stop),
            Err(message) => {
                console.message(message.as_bytes());
                false
            }
        },
        Err(Other::Help) => {
            console.print(|lines| lines.extend_from_slice(help(called, algorithm).as_bytes()));
            true
        }
        Err(Other::Version) => {
            let version = env!("CARGO_PKG_VERSION");
            let text = format!("{program} (hashloom) {version}\nStands in for the one of GNU coreutils 9.1.\n");
            console.print(|lines| lines.extend_from_slice(text.as_bytes()));
            true
        }
        Err(Other::Usage(message)) => {
            console.message(&message);
            let hint = [b"Try '", called, b" --help' for more information.\n"].concat();
            let _ = Stderr.write_all(&hint);
            false
        }
    });
    let complain = |what: &[u8]| drop(Stderr.write_all(&[called, b": ", what, b"\n"].concat()));
    // coreutils notices this when it closes standard input at the end.
    if stdio::was_stdin_missed() {
        complain(b"standard input: Bad file descriptor");
    }
    match lost.lines {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => EXIT_PIPE,
        Some(_) => {
            // When coreutils looks at the end, the C library has forgotten the reason, but closing the file gives one
            // again.
            let reason: &[u8] = if stdio::was_stdout_closed() { b": Bad file descriptor" } else { b"" };
            complain(&[b"write error", reason].concat());
            1
        }
        None => u8::from(!is_right || lost.messages),
    }
}

fn wanted(arguments: Vec<OsString>) -> Result<Wanted, Other> {
    let mut wanted = Wanted::default();
    let stops_at_operand = std::env::var_os("POSIXLY_CORRECT").is_some();
    let mut parser = lexopt::Parser::from_args(arguments.into_iter().skip(1));
    parser.set_short_equals(false);
    loop {
        let argument = match parser.next() {
            Ok(Some(argument)) => argument,
            Ok(None) => break,
            // Such as --help=x.
            Err(error) => return Err(Other::Usage(error.to_string().into())),
        };
        let choice = match argument {
            Arg::Value(file) => {
                wanted.files.push(file.into());
                if stops_at_operand {
                    let rest = parser.raw_args().map_err(|error| Other::Usage(error.to_string().into()))?;
                    wanted.files.extend(rest.map(PathBuf::from));
                    break;
                }
                continue;
            }
            Arg::Short(letter) => short(letter)?,
            Arg::Long(name) => {
                let name = name.to_owned();
                long(&name, parser.optional_value())?
            }
        };
        wanted.choose(choice)?;
    }
    wanted.check()?;
    if wanted.files.is_empty() {
        wanted.files.push("-".into());
    }
    Ok(wanted)
}

fn short(letter: char) -> Result<Choice, Other> {
    match letter {
        'b' => Ok(Choice::Binary),
        'c' => Ok(Choice::Check),
        't' => Ok(Choice::Text),
        'w' => Ok(Choice::Warn),
        'z' => Ok(Choice::Zero),
        // The C library looks at bytes, not characters.
        letter => {
            let first = letter.to_string().as_bytes()[0];
            Err(Other::Usage([b"invalid option -- '", &[first][..], b"'"].concat()))
        }
    }
}

fn long(name: &str, value: Option<OsString>) -> Result<Choice, Other> {
    let begin_so: Vec<_> = LONG.iter().filter(|(long, _)| long.starts_with(name)).collect();
    let given = |value: &OsString| [name.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    let given = value.as_ref().map_or_else(|| name.as_bytes().to_vec(), given);
    let (long, choice) = match begin_so[..] {
        [] => return Err(Other::Usage([b"unrecognized option '--", &given[..], b"'"].concat())),
        [only] => only,
        _ => match begin_so.iter().find(|(long, _)| *long == name) {
            Some(exact) => exact,
            None => {
                let possibilities: String = begin_so.iter().map(|(long, _)| format!(" '--{long}'")).collect();
                let rest = format!("' is ambiguous; possibilities:{possibilities}");
                return Err(Other::Usage([b"option '--", &given[..], rest.as_bytes()].concat()));
            }
        },
    };
    match value {
        Some(_) => Err(Other::Usage(format!("option '--{long}' doesn't allow an argument").into())),
        None => Ok(*choice),
    }
}

impl Wanted {
    fn choose(&mut self, choice: Choice) -> Result<(), Other> {
        let rules = self.rules;
        match choice {
            Choice::Binary => self.binary = Some(true),
            Choice::Text => self.binary = Some(false),
            Choice::Tag => (self.tag, self.binary) = (true, Some(true)),
            Choice::Check => self.check = true,
            Choice::Zero => self.zero = true,
            // The last of these three counts.
            Choice::Quiet => self.rules = Rules { quiet: true, status: false, warn: false, ..rules },
            Choice::Status => self.rules = Rules { quiet: false, status: true, warn: false, ..rules },
            Choice::Warn => self.rules = Rules { quiet: false, status: false, warn: true, ..rules },
            Choice::IgnoreMissing => self.rules.ignore_missing = true,
            Choice::Strict => self.rules.strict = true,
            Choice::Help => return Err(Other::Help),
            Choice::Version => return Err(Other::Version),
        }
        Ok(())
    }

    /// Checks that the options go together.
    fn check(&self) -> Result<(), Other> {
        let Wanted { binary, check, tag, zero, rules, .. } = self;
        let meaningless = |what: &str| Some(format!("{what} meaningless when verifying checksums"));
        let only_checking = |option: &str| format!("the --{option} option is meaningful only when verifying checksums");
        let message = match () {
            () if *tag && *binary == Some(false) => Some("--tag does not support --text mode".to_owned()),
            () if *zero && *check => Some("the --zero option is not supported when verifying checksums".to_owned()),
            () if *tag && *check => meaningless("the --tag option is"),
            () if binary.is_some() && *check => meaningless("the --binary and --text options are"),
            () if *check => None,
            () if rules.ignore_missing => Some(only_checking("ignore-missing")),
            () if rules.status => Some(only_checking("status")),
            () if rules.warn => Some(only_checking("warn")),
            () if rules.quiet => Some(only_checking("quiet")),
            () if rules.strict => Some(only_checking("strict")),
            () => None,
        };
        message.map_or(Ok(()), |message| Err(Other::Usage(message.into())))
    }
}

/// Returns true if all is right.
fn work(wanted: &Wanted, algorithm: Algorithm, console: &Console<'_>, stop: &Cancel) -> bool {
    let options = &Options::new().cancel(stop).mapped_with_sigbus_handler(true);
    if wanted.check {
        let parser = Parser::only(algorithm);
        let (base, algorithm) = (Base::Current, Some(algorithm));
        let mut checker = Checker { base, rules: wanted.rules, parser, algorithm, guesses: false, options, console };
        return checker.check_all(&wanted.files) == End::Right;
    }
    let writer = match wanted.binary {
        _ if wanted.tag => Writer::bsd(),
        Some(true) => Writer::gnu_binary(),
        _ => Writer::gnu(),
    };
    let format = Format::Lines(writer.zero(wanted.zero));
    let items = wanted.files.iter().cloned().map(|file| Item::File(source(file)));
    // coreutils 9.1 does not notice that a file is the output.
    let (output, known) = (None, None);
    let summer = Summer { algorithms: &[algorithm], format, folder_hint: "", output, known, options, console };
    summer.sum(items) == End::Right
}

/// Returns the text of `--help`. The manual page is made of it too.
pub fn help(called: &[u8], algorithm: Algorithm) -> String {
    let called = String::from_utf8_lossy(called);
    let tag = tag(algorithm);
    format!(
        "\
Usage: {called} [OPTION]... [FILE]...
Print {tag} checksums of files, or check them against lists.

Reads standard input if no FILE is given, or if FILE is -.

  -b, --binary          mark files as read in binary mode: a star before names
  -t, --text            do not mark them (default)
      --tag             print lines in the format of the BSD programs
  -z, --zero            end lines with NUL and do not escape names
  -c, --check           read checksums from the FILEs and check them

Only with --check:
      --ignore-missing  ignore listed files that are missing
      --quiet           do not print OK for files that match
      --status          print nothing; the exit status tells the result
      --strict          fail if a line of a list is not a checksum
  -w, --warn            name lines that are not checksums

      --help            print this
      --version         print the version

This is hashloom, called as {called}; it takes the place of the program of GNU
coreutils. Binary and text mode are the same. HASHLOOM_ISA restricts the
instruction sets. The exit status is 1 if a file cannot be read or does not
match its checksum.
"
    )
}
