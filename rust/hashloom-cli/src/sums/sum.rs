// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum`.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;
use hashloom::Algorithm;
use hashloom::files::{Options, Source};

use super::console::Console;
use super::format::{Format, Layout};
use super::quote::quoted;
use super::summing::{Item, reason, source, sum};
use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::progress::Bar;
use crate::walk;

/// Print checksums of files.
///
/// Many files are hashed at once, on every core; the order of what is printed is that of the arguments.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Sum {
    /// The files; with --recursive also folders; - is standard input [default: -]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The algorithms, with commas between; an unknown name lists those that there are
    #[arg(short, long = "algorithm", value_name = "NAME[,NAME]", value_delimiter = ',', default_value = "sha256")]
    algorithms: Vec<Algorithm>,

    /// Sum all files below folders, in the order of the bytes of their paths
    #[arg(short, long)]
    recursive: bool,

    /// With --recursive: follow links inside of folders, to files and to folders
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

    /// Print a JSON object a line: path, path_hex if the path is not UTF-8, length, digests
    #[arg(long, conflicts_with = "tag")]
    json: bool,

    /// Read files that are in memory instead of hashing them where they are
    #[arg(long)]
    no_map: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

const HELP: &str = "\
What is printed:
  <hex>  <name>            the format of sha256sum, for one algorithm
  SHA256 (<name>) = <hex>  with --tag, and for several algorithms
  In both, a line whose name has a newline, carriage return or backslash begins
  with a backslash, and these are \\n, \\r and \\\\ in the name. `hashloom check`
  and sha256sum --check read both. All algorithms are computed from one read.

Folders:
  Links that are arguments are followed. Inside of folders they are passed over,
  unless --follow is given; then one that leads back into a folder above it is
  an error. What is no regular file is passed over.

Exit status:
  0    all files were read
  1    one could not be read; the others are printed
  2    wrong usage, or the output cannot be written
  130  interrupted (Ctrl-C); only whole lines are printed

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
    let layout = match () {
        () if arguments.json => Layout::Json,
        () if arguments.tag || arguments.algorithms.len() > 1 => Layout::Bsd,
        () => Layout::Gnu { binary: arguments.binary },
    };
    let format = Format { layout, end: if arguments.zero { 0 } else { b'\n' } };
    let stdin = [PathBuf::from("-")];
    let paths = if arguments.paths.is_empty() { &stdin[..] } else { &arguments.paths };
    let stop = stop_flag(paths);
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
    let (summed, error) = console.run(|console| {
        let sources = paths.iter().cloned().map(source);
        if arguments.recursive {
            let items = sources.flat_map(|source| items(source, arguments.follow));
            sum(items, &arguments.algorithms, format, &options, console)
        } else {
            sum(sources.map(Item::File), &arguments.algorithms, format, &options, console)
        }
    });
    bar.finish();
    ended(summed.is_right, summed.is_cancelled, error)
}

/// Set by Ctrl-C. While standard input is waited for a flag would not be seen, and there the signal itself is right.
pub fn stop_flag(paths: &[PathBuf]) -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    if paths.iter().any(|path| path.as_os_str() == "-") { &NEVER } else { interrupt::flag() }
}

/// The exit status, after everything was printed, or not.
pub fn ended(is_right: bool, is_cancelled: bool, error: Option<io::Error>) -> Result<u8, String> {
    match error {
        // Whoever read the output has seen enough of it.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Some(error) => Err(format!("standard output: {}", reason(&error))),
        None if is_cancelled => Ok(EXIT_INTERRUPTED),
        None => Ok(u8::from(!is_right)),
    }
}

/// The file itself, or the files below the folder.
fn items(source: Source, follow: bool) -> Box<dyn Iterator<Item = Item> + Send> {
    match source {
        Source::Path(path) if path.is_dir() => {
            let entries = walk::files(&path, follow).map(|entry| match entry {
                Ok(entry) => Item::File(Source::Path(entry.path)),
                Err(error) => {
                    let name = quoted(error.path.as_os_str().as_encoded_bytes()).into_owned();
                    Item::Trouble([&name[..], b": ", reason(&error.error).as_bytes()].concat())
                }
            });
            Box::new(entries)
        }
        source => Box::new(std::iter::once(Item::File(source))),
    }
}
