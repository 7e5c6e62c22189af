// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called by the name of another program that makes checksums.
//!
//! One table has the names. A name belongs to a family of programs, whose options, messages and exit statuses are in a
//! module each. Differences that all have: --help and --version have their own words, messages are English in every
//! locale, a message quotes the name of a file that could steer a terminal, and files are hashed on all CPUs.

#![deny(unsafe_code)]

mod b3sum;
mod bsd;
mod check;
mod coreutils;
mod dialect;
mod help;
mod modes;
mod options;
mod shasum;
mod sums;
pub mod tips;

use hashloom_list::command::format::Format;
use hashloom_list::command::front::End;
use hashloom_list::command::summing::{Item, Summer};
pub use help::command;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};

use coreutils::Program;
use dialect::Dialect;
use hashloom::Algorithm;
use hashloom_files::Method;
use hashloom_files::run::{Cancel, Options};
use hashloom_frame::exit::EXIT_PIPE;
use hashloom_frame::isa;
use hashloom_frame::printing::Console;
use hashloom_frame::stdio::{self, Stderr};
use options::Other;

/// How a program behaves.
#[derive(Clone, Copy)]
enum Family {
    Coreutils(Program),
    Shasum(&'static shasum::Kind),
    /// The text is the tag of its lines.
    Bsd(Algorithm, &'static str),
    B3sum,
}

/// The programs that hashloom can stand in for, besides digest and mac.
const PROGRAMS: [(&str, Family); 20] = [
    ("b2sum", Family::Coreutils(Program::Of(Algorithm::Blake2b))),
    ("b3sum", Family::B3sum),
    ("cksum", Family::Coreutils(Program::Cksum)),
    ("md5sum", Family::Coreutils(Program::Of(Algorithm::Md5))),
    ("sha1sum", Family::Coreutils(Program::Of(Algorithm::Sha1))),
    ("sha224sum", Family::Coreutils(Program::Of(Algorithm::Sha224))),
    ("sha256sum", Family::Coreutils(Program::Of(Algorithm::Sha256))),
    ("sha384sum", Family::Coreutils(Program::Of(Algorithm::Sha384))),
    ("sha512sum", Family::Coreutils(Program::Of(Algorithm::Sha512))),
    ("shasum", Family::Shasum(&shasum::SHASUM)),
    ("sha3sum", Family::Shasum(&shasum::SHA3SUM)),
    ("md5", Family::Bsd(Algorithm::Md5, "MD5")),
    ("rmd160", Family::Bsd(Algorithm::Ripemd160, "RMD160")),
    ("sha1", Family::Bsd(Algorithm::Sha1, "SHA1")),
    ("sha224", Family::Bsd(Algorithm::Sha224, "SHA224")),
    ("sha256", Family::Bsd(Algorithm::Sha256, "SHA256")),
    ("sha384", Family::Bsd(Algorithm::Sha384, "SHA384")),
    ("sha512", Family::Bsd(Algorithm::Sha512, "SHA512")),
    ("sha512t224", Family::Bsd(Algorithm::Sha512_224, "SHA512t224")),
    ("sha512t256", Family::Bsd(Algorithm::Sha512_256, "SHA512t256")),
];

/// Returns the names of all programs.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

/// The things that a program needs for its work.
pub struct Work<'a> {
    /// The name that the user called.
    pub called: &'a [u8],
    pub dialect: &'a Dialect,
    pub console: &'a Console<'a>,
    pub stop: &'a Cancel,
    pub options: &'a Options,
    pub isa: Option<&'a str>,
}

impl Work<'_> {
    /// Prints the checksums of items; `method`: what is computed instead of the digest. These programs do not notice
    /// that a file is the output.
    fn sum(
        &self,
        algorithm: Algorithm,
        method: Option<Method>,
        format: Format<'_>,
        items: impl Iterator<Item = Item> + Send,
    ) -> bool {
        let Work { console, options, .. } = self;
        let (algorithms, output, known) = (&[algorithm], None, None);
        Summer { algorithms, method, format, folder_hint: "", output, known, options, console }.sum(items) == End::Right
    }

    /// Restricts the instruction sets to those of the environment.
    pub fn restrict(&self, algorithms: &[Algorithm]) -> Result<(), Other> {
        isa::restrict(self.isa, algorithms).map_err(|message| Other::Refusal(message.into()))
    }
}

impl Family {
    fn help(self, called: &str) -> String {
        match self {
            Family::Coreutils(program) => coreutils::help(called, program),
            Family::Shasum(kind) => shasum::help(called, kind),
            Family::Bsd(_, tag) => bsd::help(called, tag),
            Family::B3sum => b3sum::help(called),
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Family::Coreutils(Program::Cksum) => dialect::CKSUM,
            Family::Coreutils(Program::Of(Algorithm::Blake2b)) => dialect::B2SUM,
            Family::Coreutils(Program::Of(_)) => dialect::COREUTILS,
            Family::Shasum(kind) => kind.dialect,
            Family::Bsd(..) => dialect::BSD,
            Family::B3sum => dialect::B3SUM,
        }
    }
}

/// Runs the program of this name, if it is one of them; `arguments` begin with its name; `isa` is as in `--isa`.
/// Returns the exit status.
pub fn called(program: &str, arguments: &[OsString], isa: Option<&str>) -> Option<u8> {
    let &(_, family) = PROGRAMS.iter().find(|(name, _)| *name == program)?;
    let (called, dialect) = (arguments.first()?.as_encoded_bytes(), family.dialect());
    let stop = &Cancel::new();
    let options = &Options::new().cancel(stop);
    let (status, lost) = Console::of_stand_in(called, stop).run(|console| {
        let work = Work { called, dialect: &dialect, console, stop, options, isa };
        let done = match family {
            Family::Coreutils(program) => coreutils::run(program, arguments, &work),
            Family::Shasum(kind) => shasum::run(kind, arguments, &work),
            Family::Bsd(algorithm, tag) => bsd::run(algorithm, tag, arguments, &work),
            Family::B3sum => b3sum::run(arguments, &work),
        };
        let shown = String::from_utf8_lossy(called);
        let print = |text: String| {
            console.print(|lines| lines.extend_from_slice(text.as_bytes()));
            0
        };
        match done {
            Ok(status) => status,
            Err(Other::Help) => print(family.help(&shown)),
            Err(Other::Version) => print(format!(
                "{program} (hashloom) {}\nStands in for {}.\n",
                env!("CARGO_PKG_VERSION"),
                dialect.original
            )),
            Err(Other::Refusal(message)) => {
                console.message(&message);
                1
            }
            Err(Other::Usage(message)) => {
                console.message(&message);
                let _ = Stderr.write_all(dialect.hint.replace("{}", &shown).as_bytes());
                1
            }
        }
    });
    let complain = |what: &[u8]| drop(Stderr.write_all(&[called, b": ", what, b"\n"].concat()));
    // coreutils notices this when it closes standard input at the end.
    if stdio::was_stdin_missed() {
        complain(b"standard input: Bad file descriptor");
    }
    Some(match lost.lines {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => EXIT_PIPE,
        Some(_) => {
            // When coreutils looks at the end, the C library has forgotten the reason, but closing the file gives one
            // again.
            let reason: &[u8] = if stdio::was_stdout_closed() { b": Bad file descriptor" } else { b"" };
            complain(&[b"write error", reason].concat());
            1
        }
        None if lost.messages => status.max(1),
        None => status,
    })
}
