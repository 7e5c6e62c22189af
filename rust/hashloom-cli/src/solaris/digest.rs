// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom digest`, and the binary called `digest`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::output;

/// Print digests as digest(1) of Solaris does.
///
/// Of one file, or of standard input if none is named, the digest alone; of several files a line each, with their
/// names. As on Solaris there are short options only, and none after the first file.
#[derive(Debug, Args)]
#[command(after_long_help = HELP, override_usage = "hashloom digest -l\n       hashloom digest [-v] -a ALGORITHM [FILE]...")]
pub struct Digest {
    /// List the algorithms
    #[arg(short, conflicts_with_all = ["algorithm", "truncation", "verbose", "files"])]
    list: bool,

    /// Print the names of algorithm and file too
    #[arg(short)]
    verbose: bool,

    /// The algorithm
    #[arg(short, value_name = "ALGORITHM", required_unless_present = "list", value_parser = super::Names(super::Kind::Digest))]
    algorithm: Option<String>,

    /// For -a sha512_t: the bits of its digest, 224 or 256
    #[arg(short, value_name = "BITS")]
    truncation: Option<String>,

    /// Files to read [default: standard input]
    #[arg(value_name = "FILE", trailing_var_arg = true)]
    files: Vec<PathBuf>,
}

const USAGE: &str = "  digest -l | [-v] -a <algorithm> [file...]";

const HELP: &str = "\
What is printed:
  one file        9498a4f5303d056ad3ecae826b59f41448d63790
  several         (/etc/motd) = 9498a4f5303d056ad3ecae826b59f41448d63790
  -v              sha1 (/etc/motd) = 9498a4f5303d056ad3ecae826b59f41448d63790
  standard input  9498a4f5303d056ad3ecae826b59f41448d63790
  the same, -v    sha1 9498a4f5303d056ad3ecae826b59f41448d63790

Under the name digest the program takes the same arguments:
  ln -s hashloom /usr/local/bin/digest

Exit status:
  0  all digests are printed
  1  the algorithm is unknown, or a file cannot be read
  2  wrong usage, or a file cannot be opened
  After an error the other files are still read. Of several errors the last
  decides.

Examples:
  hashloom digest -a sha256 /etc/motd
  hashloom digest -v -a sha1 /usr/lib/*.so
  tar -cf - photos | hashloom digest -a ripemd160
  hashloom digest -l";

/// The program that is called `digest`.
pub fn command() -> clap::Command {
    let usage = "digest -l\n       digest [-v] -a ALGORITHM [FILE]...";
    Digest::augment_args(super::program("digest")).override_usage(usage)
}

/// Does what the program `digest` does; `arguments` begin with its name. Returns the exit status.
pub fn called(arguments: &[OsString], isa: Option<&str>) -> u8 {
    super::parse(command(), USAGE, arguments).map_or_else(|status| status, |options| run("digest", &options, isa))
}

/// `program` is what the user called. Returns the exit status.
pub fn run(program: &str, options: &Digest, isa: Option<&str>) -> u8 {
    let Some(wanted) = &options.algorithm else { return list(program) };
    let algorithm = match super::algorithm(program, super::Kind::Digest, wanted, options.truncation.as_deref()) {
        Ok(algorithm) => algorithm,
        Err(status) => return status,
    };
    if let Err(error) = crate::restrict(isa, &[algorithm]) {
        super::complain(program, &error);
        return super::EXIT_USAGE;
    }
    super::print(program, wanted, algorithm.into(), options.verbose, &options.files)
}

fn list(program: &str) -> u8 {
    let listed = output::print(|out| super::Kind::Digest.names().try_for_each(|(_, name)| writeln!(out, "{name}")));
    listed.map_or_else(
        |error| {
            super::complain(program, &error);
            super::EXIT_FAILURE
        },
        |()| 0,
    )
}
