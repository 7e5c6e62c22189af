// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum`.

use std::path::PathBuf;

use clap::Args;
use hashloom::Algorithm;
use hashloom_engine::files::Source;
use hashloom_engine::list::Writer;
use hashloom_engine::walk::{Order, Walk, WalkError};

use super::format::Format;
use super::front::{self, or_stdin};
use super::summing::{Item, Summer, source, trouble};
use crate::work::Work;

/// Print checksums of files.
///
/// Many files are hashed at once, on every core. The output is in the order of the arguments.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Sum {
    /// The files; with --recursive also folders; - is standard input [default: -]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The algorithms, separated by commas; an unknown name lists all algorithms
    #[arg(short, long = "algorithm", value_name = "NAME[,NAME]", value_delimiter = ',', default_value = "sha256")]
    algorithms: Vec<Algorithm>,

    /// Sum all files below folders, in the order of the bytes of their paths
    #[arg(short, long)]
    recursive: bool,

    /// With --recursive: follow links in folders, to files and to folders
    #[arg(short = 'L', long, requires = "recursive")]
    follow: bool,

    /// Print lines in the format of the BSD programs, which name the algorithm
    #[arg(long)]
    tag: bool,

    /// Mark files as read in binary mode: a star before names
    #[arg(short, long, conflicts_with_all = ["tag", "json"])]
    binary: bool,

    /// End lines with NUL and do not escape names
    #[arg(short, long, conflicts_with = "json")]
    zero: bool,

    /// Print one JSON object a line: path, path_hex if the path is not UTF-8, length, digests
    #[arg(long, conflicts_with = "tag")]
    json: bool,

    #[command(flatten)]
    work: Work,
}

const HELP: &str = "\
What is printed:
  <hex>  <name>            the format of sha256sum, for one algorithm
  SHA256 (<name>) = <hex>  with --tag, and for several algorithms
  In both formats, a line whose name has a newline, carriage return or backslash
  begins with a backslash, and the name has \\n, \\r and \\\\ in their place.
  `hashloom check` and sha256sum --check read both formats. Each file is read
  once for all algorithms.

Folders:
  Links that are arguments are followed. Links in folders are skipped, unless
  --follow is given; then a link that leads back to a folder above it is an
  error. Everything else that is not a regular file is skipped.

Exit status:
  0    all files were read
  1    a file could not be read; the others are printed
  2    wrong usage, the output cannot be written, or a file changed each of the
       three times that it was read
  130  interrupted (Ctrl-C); only whole lines are printed
  141  the reader of the output has gone

Examples:
  hashloom sum *.iso > SHA256SUMS
  hashloom sum --algorithm sha1,sha256 --recursive photos
  hashloom sum --json --recursive . | jq -r 'select(.length > 1e9) | .path'
  find . -newer stamp -type f -print0 | xargs -0 hashloom sum";

impl Sum {
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }
}

/// Returns the exit status.
pub fn run(arguments: &Sum) -> Result<u8, String> {
    let mut algorithms = Vec::new();
    for &algorithm in &arguments.algorithms {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let writer = match () {
        () if arguments.tag || algorithms.len() > 1 => Writer::bsd(),
        () if arguments.binary => Writer::gnu_binary(),
        () => Writer::gnu(),
    };
    let format = if arguments.json { Format::Json } else { Format::Lines(writer.zero(arguments.zero)) };
    let paths = or_stdin(&arguments.paths);
    front::run(&paths, &arguments.work, |options, console| {
        let folder_hint = ": --recursive sums the files below it";
        let summer = Summer { algorithms: &algorithms, format, folder_hint, options, console };
        let sources = paths.iter().cloned().map(source);
        if arguments.recursive {
            summer.sum(sources.flat_map(|source| items(source, arguments.follow)))
        } else {
            summer.sum(sources.map(Item::File))
        }
    })
}

/// Returns the file itself, or the files below the folder.
fn items(source: Source, follow: bool) -> Box<dyn Iterator<Item = Item> + Send> {
    match source {
        Source::Path(path) if path.is_dir() => {
            let walk = Walk::new(&path).order(Order::Bytes).follow_links(follow);
            Box::new(walk.files().map(|found| match found {
                Ok(path) => Item::File(Source::Path(path)),
                Err(WalkError { path, problem, .. }) => {
                    Item::Trouble(trouble(path.as_os_str().as_encoded_bytes(), &problem.into()))
                }
            }))
        }
        source => Box::new(std::iter::once(Item::File(source))),
    }
}
