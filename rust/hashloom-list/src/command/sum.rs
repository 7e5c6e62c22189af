// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum`.

use std::fs::Metadata;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, ValueHint};
use hashloom::Algorithm;
use hashloom_files::Source;
use hashloom_files::paths::{portable, to_path};
use hashloom_files::walk::{Filter, Order, Walk, WalkError};
use hashloom_frame::filters::Filters;
use hashloom_frame::input::{or_stdin, say_stdin};
use hashloom_frame::names::{self, any_path};
use hashloom_frame::output::{Identity, stamp_of_stdout};
use hashloom_frame::progress::Bar;
use hashloom_frame::quote::quoted;
use hashloom_frame::text::{display, reason};
use hashloom_frame::work::Reading;
use hashloom_frame::{isa, style};

use super::expect;
use super::format::Format;
use super::front;
use super::known::Known;
use super::lines;
use super::summing::{Item, Summer, nbytes_of, source, trouble};
use crate::{FORMS, Writer};

/// Print checksums of files.
///
/// Many files are hashed at once, on every core. The output is in the order of the arguments.
#[derive(Debug, Args)]
#[command(after_long_help = HELP.trim_end(), args_override_self = true, mut_arg("isa", isa::shown))]
pub struct Sum {
    /// The files; with --recursive also folders; - is standard input [default: -]
    #[arg(value_name = "PATH", value_parser = any_path())]
    paths: Vec<PathBuf>,

    /// The algorithms, separated by commas
    #[arg(short, long = "algorithm", value_name = "NAME[,NAME]", value_delimiter = ',', value_parser = names::ANY,
        default_value = "sha256")]
    algorithms: Vec<Algorithm>,

    /// Sum all files below folders, in the order of the bytes of their paths
    #[arg(short, long)]
    recursive: bool,

    /// Compare one PATH with DIGEST, as somebody copied it: hexadecimal or base64, in groups, behind the name of its
    /// algorithm, in a line of a list, in HTML
    #[arg(long, value_name = "DIGEST", action = ArgAction::Append, allow_hyphen_values = true, conflicts_with_all = [
        "algorithms", "files0_from", "recursive", "include", "exclude", "min_size", "max_size", "known", "unknown",
        "tag", "base64", "zero", "format",
    ])]
    expect: Vec<String>,

    /// Print lines in the format of the BSD programs, which name the algorithm
    #[arg(long)]
    tag: bool,

    /// Print one JSON object a line: path, path_hex if the path is not UTF-8, length, digests
    #[arg(long, conflicts_with = "tag")]
    json: bool,

    /// Print digests in base64 instead of hexadecimal, as `cksum --base64` does
    #[arg(long, conflicts_with = "json")]
    base64: bool,

    /// Write lines that another program reads (`hashloom check` reads all of them)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tag", "base64", "zero", "json"], value_parser = written())]
    format: Option<String>,

    /// End lines with NUL and do not escape names
    #[arg(short, long, conflicts_with = "json")]
    zero: bool,

    #[command(flatten)]
    filters: Filters,

    /// Print only files whose digest is in LIST, whatever their names; can be given several times; - is standard input
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    known: Vec<PathBuf>,

    /// Print only files whose digest is in no LIST; can be given several times; - is standard input
    #[arg(long, value_name = "LIST", conflicts_with = "known", value_hint = ValueHint::FilePath)]
    unknown: Vec<PathBuf>,

    /// Read the names from FILE instead, each ended by NUL, as `find -print0` writes them; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "paths", value_parser = any_path(),
        value_hint = ValueHint::FilePath)]
    files0_from: Option<PathBuf>,

    /// Follow links in folders, to files and to folders; needs --recursive
    #[arg(short = 'L', long, requires = "recursive")]
    follow: bool,

    #[command(flatten)]
    work: Reading,
}

const HELP: &str = include_str!("sum.txt");

/// The forms that are written.
fn written() -> PossibleValuesParser {
    FORMS.iter().filter(|form| form.write.is_some()).map(|form| form.name).collect::<Vec<_>>().into()
}

impl Sum {
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }
}

/// Returns the exit status.
pub fn run(arguments: &Sum) -> Result<u8, String> {
    match &arguments.expect[..] {
        [] => {}
        [digest] => {
            let Ok([path]) = <[PathBuf; 1]>::try_from(or_stdin(&arguments.paths)) else {
                return Err("--expect compares one file: give one PATH".into());
            };
            say_stdin(std::slice::from_ref(&path));
            return expect::run(digest, path, arguments.json, &arguments.work);
        }
        _ => return Err("--expect: give one DIGEST".into()),
    }
    let mut algorithms = Vec::new();
    for &algorithm in &arguments.algorithms {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let writer = if arguments.tag || algorithms.len() > 1 { Writer::bsd() } else { Writer::gnu() };
    let writer = writer.zero(arguments.zero).base64(arguments.base64);
    let named = arguments.format.as_deref();
    let form = FORMS.iter().find(|form| named == Some(form.name)).and_then(|form| form.write);
    if let (Some(form), Some(name)) = (form, named) {
        let is_known = |of: &&Algorithm| form.algorithms.is_empty() || form.algorithms.contains(of);
        if let Some(other) = algorithms.iter().find(|of| !is_known(of)) {
            return Err(format!("--format {name}: no program knows {other} there"));
        }
        if algorithms.len() > 1 && name != "mtree" {
            return Err(format!("--format {name}: a list has digests of one algorithm: give one with --algorithm"));
        }
    }
    let format = if let Some(form) = form {
        Format::Form(form)
    } else if arguments.json {
        Format::Json
    } else if io::stdout().is_terminal() && !arguments.zero {
        Format::Terminal(writer)
    } else {
        Format::Lines(writer)
    };
    let paths = match &arguments.files0_from {
        Some(file) => vec![file.clone()],
        None => or_stdin(&arguments.paths),
    };
    say_stdin(&paths);
    let mut missing = paths.iter().filter(|path| path.symlink_metadata().is_err());
    if let Some(algorithm) = missing.find_map(names::algorithm) {
        let _ = writeln!(io::stderr(), "{} an algorithm is named so: --algorithm {algorithm}", style::note());
    }
    let wanted = Wanted {
        paths: paths.clone(),
        files0_from: arguments.files0_from.clone(),
        recursive: arguments.recursive,
        follow: arguments.follow,
        filter: Arc::new(arguments.filters.filter()?),
    };
    let items = wanted.items()?;
    let known = known(arguments, &algorithms, &paths)?;
    front::run(
        &paths,
        arguments.work.options(),
        move || wanted.total_nbytes(),
        |options, console| {
            let folder_hint = ": --recursive sums the files below it";
            known.iter().flat_map(|known| &known.warnings).for_each(|warning| console.message(warning));
            let known = known.as_ref();
            let output = stamp_of_stdout().map(|stamp| Identity::from(&stamp));
            Summer { algorithms: &algorithms, method: None, format, folder_hint, output, known, options, console }
                .sum(items)
        },
    )
}

/// The files to sum.
struct Wanted {
    paths: Vec<PathBuf>,
    files0_from: Option<PathBuf>,
    recursive: bool,
    follow: bool,
    filter: Arc<Filter>,
}

impl Wanted {
    fn items(&self) -> Result<Box<dyn Iterator<Item = Item> + Send>, String> {
        let named: Box<dyn Iterator<Item = Item> + Send> = match &self.files0_from {
            Some(file) => Box::new(names0(file)?),
            None => Box::new(self.paths.clone().into_iter().map(source).map(Item::File)),
        };
        let (recursive, follow, filter) = (self.recursive, self.follow, Arc::clone(&self.filter));
        // Without folders, an iterator that knows its length keeps it.
        Ok(if recursive {
            Box::new(named.flat_map(move |item| below(item, recursive, follow, &filter)))
        } else {
            Box::new(named.filter_map(move |item| below(item, recursive, follow, &filter).next()))
        })
    }

    /// Returns the total length of the files now, or `None` if a name leads to no regular file, such as a pipe.
    fn total_nbytes(&self) -> Option<u64> {
        if self.files0_from.as_ref().is_some_and(|list| !list.is_file()) {
            return None;
        }
        let mut total = 0_u64;
        for item in self.items().ok()? {
            if let Item::File(source) | Item::Found(source) = item {
                total = total.saturating_add(nbytes_of(&source)?);
            }
        }
        Some(total)
    }
}

/// Returns the digests of --known or --unknown.
fn known(arguments: &Sum, algorithms: &[Algorithm], paths: &[PathBuf]) -> Result<Option<Known>, String> {
    let (lists, option, wants) = match (&arguments.known[..], &arguments.unknown[..]) {
        ([], []) => return Ok(None),
        ([], lists) => (lists, "--unknown", false),
        (lists, _) => (lists, "--known", true),
    };
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let nstdin = lists.iter().filter(is_stdin).count();
    if nstdin > 1 || nstdin == 1 && paths.iter().any(|path| is_stdin(&path)) {
        return Err(format!("{option} -: standard input can be read only once"));
    }
    let bar = Bar::of_time("reading the lists", false);
    let known = Known::read(lists, algorithms, wants);
    bar.finish();
    known.map(Some).map_err(|message| format!("{option}: {message}"))
}

/// Returns the files whose names are in a file, each ended by NUL. The last name may lack its NUL.
fn names0(file: &Path) -> Result<impl Iterator<Item = Item> + Send + use<>, String> {
    let failed = |error: io::Error| format!("--files0-from {}: {}", display(file), reason(&error));
    let is_stdin = file.as_os_str() == "-";
    let mut reader = lines::open(file).map_err(failed)?;
    let list = portable(file).into_owned();
    let (mut number, mut has_ended) = (0_u64, false);
    let told = move |number, why: &str| {
        Item::Trouble([&quoted(&list)[..], format!(": name {number}: {why}").as_bytes()].concat())
    };
    let mut name = Vec::new();
    Ok(std::iter::from_fn(move || {
        if has_ended {
            return None;
        }
        number += 1;
        let read = match lines::next(&mut reader, 0, &mut name) {
            Ok(read) => read?,
            Err(error) => {
                has_ended = true;
                return Some(told(number, &reason(&error).to_string()));
            }
        };
        Some(match &name[..] {
            _ if read.is_too_long => told(number, "it is too long; is each name ended by NUL?"),
            b"" => told(number, "it is empty"),
            b"-" if is_stdin => told(number, "the names themselves come from standard input"),
            _ => Item::Found(source(to_path(&name))),
        })
    }))
}

/// Returns the item itself, or the files below the folder, as far as the filter wants them.
fn below(item: Item, recursive: bool, follow: bool, filter: &Arc<Filter>) -> Box<dyn Iterator<Item = Item> + Send> {
    match item {
        Item::File(Source::Path(path)) | Item::Found(Source::Path(path)) if recursive && is_folder(&path) => {
            let walk = Walk::new(&path).order(Order::Bytes).follow_links(follow).filter((**filter).clone());
            let filter = Arc::clone(filter);
            Box::new(walk.files().filter_map(move |found| match found {
                Ok(path) => has_wanted_length(&path, &filter).then_some(Item::Found(Source::Path(path))),
                Err(WalkError { path, problem, .. }) => Some(Item::Trouble(trouble(&portable(&path), &problem.into()))),
            }))
        }
        Item::File(Source::Path(ref path)) | Item::Found(Source::Path(ref path)) => {
            let name = path.file_name().map_or(Path::new(""), Path::new);
            // A folder is an error without --recursive, whatever its name.
            let is_wanted = filter.wants_path(name, false) && has_wanted_length(path, filter) || is_folder(path);
            Box::new(is_wanted.then_some(item).into_iter())
        }
        item => Box::new(std::iter::once(item)),
    }
}

fn is_folder(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Returns true if the filter wants the file's length. Nothing but a regular file has a length. A file that cannot be
/// looked at is wanted, so that its error is printed.
fn has_wanted_length(path: &Path, filter: &Filter) -> bool {
    let is_restricted = filter.wanted_lengths() != (0..=u64::MAX);
    let nbytes = || path.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    !is_restricted || nbytes().is_none_or(|nbytes| filter.wants_length(nbytes))
}
