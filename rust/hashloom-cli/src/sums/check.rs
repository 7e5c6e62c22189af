// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom check`.

use std::path::PathBuf;

use clap::Args;
use hashloom::Algorithm;
use hashloom_engine::list::Parser;

use super::checking::{Checker, Rules};
use super::front::{self, or_stdin};
use crate::work::Work;

/// Check files against lists of checksums.
///
/// Reads lists as `hashloom sum`, sha256sum and its siblings, and the BSD programs print them, and says of each file
/// whether it still has its checksum. What is printed is what `sha256sum --check` prints.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Check {
    /// The lists; - is standard input [default: -]
    #[arg(value_name = "LIST")]
    lists: Vec<PathBuf>,

    /// The algorithms of lines that do not name theirs, with commas between; an unknown name lists those that there are
    /// [default: by the number of digits: sha1, sha224, sha256, sha384, sha512]
    #[arg(short, long = "algorithm", value_name = "NAME[,NAME]", value_delimiter = ',')]
    algorithms: Vec<Algorithm>,

    /// Say nothing of files that are not there
    #[arg(long)]
    ignore_missing: bool,

    /// Do not print OK for each file that is right
    #[arg(short, long, overrides_with_all = ["status", "warn"])]
    quiet: bool,

    /// Print nothing; the exit status tells the result
    #[arg(long, overrides_with_all = ["quiet", "warn"])]
    status: bool,

    /// Fail if a line of a list is no checksum
    #[arg(long)]
    strict: bool,

    /// Name lines that are no checksums, and say why
    #[arg(short, long, overrides_with_all = ["quiet", "status"])]
    warn: bool,

    /// Print a JSON object for each file instead, a line each: path, path_hex if the path is not UTF-8, algorithm,
    /// state: ok, failed, unread or unstable
    #[arg(long, conflicts_with = "status")]
    json: bool,

    #[command(flatten)]
    work: Work,
}

const HELP: &str = "\
Lines of a list:
  <hex>  <name>          as sha256sum prints them; <hex> *<name>; <hex> <name>
  SHA256 (<name>) = <hex>
                         as with --tag; SHA1, SHA224, SHA384, SHA512,
                         SHA512/224, SHA512/256, RMD160
  A backslash before the line says that \\n, \\r and \\\\ in the name stand for a
  newline, a carriage return and a backslash. Blank lines and lines that begin
  with # count for nothing. One list can have lines of several algorithms. Lists
  may come from Windows: carriage returns and a byte order mark do no harm.
  Names are relative to the current folder. A list can have any length.

Exit status:
  0    every list has a checksum, and every file that is listed is right
  1    one is not, or cannot be read, or there is no checksum in a list; with
       --strict: there is a line that is none
  2    wrong usage, or a file changed each of the three times that it was read:
       it is UNSTABLE
  130  interrupted (Ctrl-C)
  141  nobody reads the output any more; the rest was not checked

Examples:
  hashloom check SHA256SUMS
  hashloom check --ignore-missing --quiet SHA256SUMS SHA512SUMS
  hashloom check --algorithm ripemd160 old.list
  curl -s https://example.org/SHA256SUMS | hashloom check --ignore-missing";

/// Returns the exit status.
pub fn run(arguments: &Check) -> Result<u8, String> {
    let rules = Rules {
        ignore_missing: arguments.ignore_missing,
        quiet: arguments.quiet,
        status: arguments.status,
        strict: arguments.strict,
        warn: arguments.warn,
        json: arguments.json,
        lenient: true,
    };
    let parser = match &arguments.algorithms[..] {
        [] => Parser::new(),
        algorithms => Parser::untagged(algorithms),
    };
    let lists = or_stdin(&arguments.lists);
    front::run(&lists, &arguments.work, |options, console| {
        let mut checker = Checker { rules, parser, algorithm: None, options, console };
        checker.check_all(&lists)
    })
}
