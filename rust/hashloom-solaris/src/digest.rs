// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom digest`, and the binary called `digest`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use hashloom_frame::names::any_path;
use hashloom_frame::output;

use super::Kind;

/// Print digests as digest(1) of Solaris does.
///
/// Prints the digest alone for one file, or for standard input if no file is named; prints a line with the name for
/// each of several files. As on Solaris, there are only short options, and none after the first file.
#[derive(Debug, Args)]
#[command(after_long_help = HELP,
    override_usage = "hashloom digest -l\n       hashloom digest [-v] -a ALGORITHM [FILE]...")]
pub struct Digest {
    /// The algorithm
    #[arg(short, value_name = "ALGORITHM", required_unless_present = "list", value_parser = super::Names(Kind::Digest))]
    algorithm: Option<String>,

    /// Also print the names of the algorithm and the file
    #[arg(short)]
    verbose: bool,

    /// Length of the digest for -a sha512_t: 224 or 256 bits
    #[arg(short, value_name = "BITS")]
    truncation: Option<String>,

    /// List the algorithms
    #[arg(short, conflicts_with_all = ["algorithm", "truncation", "verbose", "files"])]
    list: bool,

    /// Files to read [default: standard input]
    #[arg(value_name = "FILE", trailing_var_arg = true, value_parser = any_path(), value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

const USAGE: &str = "  digest -l | [-v] -a <algorithm> [file...]";

const HELP: &str = "\
What is printed:
  one file        a9993e364706816aba3e25717850c26c9cd0d89d
  several         (file) = a9993e364706816aba3e25717850c26c9cd0d89d
  -v              sha1 (file) = a9993e364706816aba3e25717850c26c9cd0d89d
  standard input  a9993e364706816aba3e25717850c26c9cd0d89d
  the same, -v    sha1 a9993e364706816aba3e25717850c26c9cd0d89d

  shake128 and shake256 print 32 and 64 bytes.

Exit status:
  0  all digests are printed
  1  the algorithm is unknown, or a file cannot be read
  2  wrong usage, or a file cannot be opened
  The other files are still read after an error. The last error sets the status.

Examples:
  hashloom digest -a sha256 /etc/motd
  hashloom digest -v -a sha1 /usr/lib/*.so
  tar -cf - photos | hashloom digest -a ripemd160
  ln -s hashloom /usr/local/bin/digest      to install it as digest(1)";

/// Returns the command line of the program called `digest`.
pub fn command() -> clap::Command {
    let usage = "digest -l\n       digest [-v] -a ALGORITHM [FILE]...";
    let help = HELP.replace("hashloom digest", "digest");
    Digest::augment_args(super::program("digest")).override_usage(usage).after_long_help(help)
}

/// Runs the program `digest`; `arguments` begin with its name. Returns the exit status.
pub fn called(arguments: &[OsString], isa: Option<&str>) -> u8 {
    super::parse(command(), USAGE, arguments).map_or_else(|status| status, |options| run("digest", &options, isa))
}

/// Runs the command; `program` is the name that the user called. Returns the exit status.
pub fn run(program: &str, options: &Digest, isa: Option<&str>) -> u8 {
    let Some(wanted) = &options.algorithm else { return list(program) };
    let algorithm = match super::algorithm(program, Kind::Digest, wanted, options.truncation.as_deref()) {
        Ok(algorithm) => algorithm,
        Err(status) => return status,
    };
    if let Err(error) = hashloom_frame::isa::restrict(isa, &[algorithm]) {
        super::complain(program, &error);
        return super::EXIT_USAGE;
    }
    super::print(program, wanted, algorithm.into(), options.verbose, &options.files)
}

fn list(program: &str) -> u8 {
    let listed = output::print(|out| Kind::Digest.names().try_for_each(|(_, name)| writeln!(out, "{name}")));
    super::status(program, listed)
}
