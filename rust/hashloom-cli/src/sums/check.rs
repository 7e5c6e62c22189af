// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use hashloom::Algorithm;
use hashloom::files::Options;
use hashloom::list::Parser;

use super::checking::{Checker, Rules};
use super::console::Console;
use super::sum::{ended, stop_flag};
use crate::progress::Bar;

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

    /// Read files that are in memory instead of hashing them where they are
    #[arg(long)]
    no_map: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
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
  2    wrong usage
  130  interrupted (Ctrl-C)

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
        lenient: true,
    };
    let parser = match &arguments.algorithms[..] {
        [] => Parser::new(),
        algorithms => Parser::untagged(algorithms),
    };
    let stdin = [PathBuf::from("-")];
    let lists = if arguments.lists.is_empty() { &stdin[..] } else { &arguments.lists };
    let stop = stop_flag(lists);
    let bar = Bar::new(0, "{spinner} {binary_bytes}  {binary_bytes_per_sec}");
    let show = |nbytes| bar.set(nbytes);
    let mut options = Options::new().cancel(stop).mapped(!arguments.no_map);
    if bar.is_wanted() {
        options = options.progress(&show);
    }
    if let Some(threads) = arguments.threads {
        options = options.threads(threads.get());
    }
    let console = Console::new(b"hashloom", stop, Some(&bar));
    let ((is_right, is_cancelled), error) = console.run(|console| {
        let mut checker = Checker { rules, parser, algorithm: None, options, console };
        let mut is_right = true;
        for list in lists {
            let checked = checker.check(list);
            is_right &= checked.is_right;
            if checked.is_cancelled {
                return (false, true);
            }
        }
        (is_right, false)
    });
    bar.finish();
    ended(is_right, is_cancelled, error)
}
