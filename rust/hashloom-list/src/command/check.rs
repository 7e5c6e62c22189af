// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom check`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_frame::input::{check_folder, or_stdin, say_stdin};
use hashloom_frame::names::any_path;
use hashloom_frame::text::failed;
use hashloom_frame::work::Checking;
use hashloom_frame::{isa, names};
use hashloom_signature::command::public_key;

use super::checking::{Base, Checker, total_nbytes};
use super::front;
use super::only::{Only, Ways};
use super::sources::Sources;
use super::verdict::Rules;
use crate::{Encoding, FORMS, Parser};

/// Check files against lists of checksums.
///
/// Reads lists in the formats of `hashloom sum`, of sha256sum and its siblings, and of many other programs (see
/// --help), and the blocks of PAR2 files. Tells for each file whether it still has its checksum, in the words of
/// `sha256sum --check`.
#[derive(Debug, Args)]
#[command(after_long_help = help(), args_override_self = true, mut_arg("isa", isa::shown))]
pub struct Check {
    /// The lists; - is standard input [default: -]
    #[arg(value_name = "LIST", value_parser = any_path(), value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,

    /// Do not print OK for files that match
    #[arg(short, long, overrides_with_all = ["status", "warn"])]
    quiet: bool,

    /// Ignore listed files that are missing
    #[arg(long)]
    ignore_missing: bool,

    /// Names in the lists are relative to DIR [default: the current folder]
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,

    /// Check only PATH, a file or all below a folder, and nothing else that the lists name; can be given several times.
    /// A file is read once, for all lists. Each must name it, by whatever spelling leads to it from the folder of the
    /// list. Lists may be manifests and PAR2 files
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, conflicts_with_all = ["names", "dpkg",
        "ignore_missing", "ignore_case", "strict", "warn"])]
    only: Vec<PathBuf>,

    /// The algorithms of lines that name none, separated by commas
    /// [default: from the number of hex digits: md5, sha1, sha224, sha256, sha384, sha512]
    #[arg(short, long = "algorithm", value_name = "NAME[,NAME]", value_delimiter = ',', value_parser = names::ANY)]
    algorithms: Vec<Algorithm>,

    /// Print nothing; the exit status tells the result
    #[arg(long, overrides_with_all = ["quiet", "warn"])]
    status: bool,

    /// Fail if a line of a list is not a checksum
    #[arg(long)]
    strict: bool,

    /// Name lines that are not checksums, and say why
    #[arg(short, long, overrides_with_all = ["quiet", "status"])]
    warn: bool,

    /// Print one JSON object a line instead, for each file: path, path_hex if the path is not UTF-8, algorithm, and
    /// state: ok, failed, unread or unstable; for each line that was not verified: line, state, error; then one for
    /// each list, with its counts
    #[arg(long, conflicts_with = "status")]
    json: bool,

    /// Check the signature of each list first, LIST.minisig or LIST.slhsig, by this public key of minisign (a file, or
    /// the key itself in base64) or of SLH-DSA (a PEM file). With --only, the signature of PATH will do, and no list is
    /// needed
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath, conflicts_with_all = ["names", "dpkg"])]
    trusted_key: Option<PathBuf>,

    /// Instead of lists, check stores: folders whose files have the digests of their contents as names
    #[arg(long, requires = "lists", conflicts_with_all = ["algorithms", "directory", "relative_to_list",
        "ignore_case", "ignore_missing", "strict", "warn"])]
    pub names: bool,

    /// Check the files of all installed packages of Debian; with -C those of the system below DIR
    #[arg(long, conflicts_with_all = ["lists", "names", "algorithms", "relative_to_list", "ignore_case",
        "ignore_missing", "strict", "warn"])]
    pub dpkg: bool,

    /// Check the packages of the Python environment DIR against the RECORD of each: that of a virtual environment, a
    /// folder site-packages, or all environments below DIR
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["lists", "names", "dpkg",
        "only", "algorithms", "directory", "relative_to_list", "ignore_case", "encoding"])]
    python: Option<PathBuf>,

    /// Names in each list are relative to the folder that the list is in
    #[arg(long, conflicts_with = "directory")]
    relative_to_list: bool,

    /// Find files whose names differ in case from those of the list, as lists from Windows may have them
    #[arg(long)]
    ignore_case: bool,

    /// Lists without a byte order mark have this encoding, as old Windows (cp1252, shift_jis) and DOS (cp437, cp850)
    /// wrote names: a code page, or a name that browsers know
    #[arg(long, value_name = "NAME", value_parser = encoding, conflicts_with_all = ["names", "dpkg"])]
    encoding: Option<Encoding>,

    #[command(flatten)]
    work: Checking,
}

/// The end of the help: all forms of lists, and what follows them.
fn help() -> String {
    let mut text = "Lines of a list, and the programs that write them:\n".to_owned();
    for form in FORMS {
        let mut line = format!("  {}", form.line);
        let told = [form.of, form.told].into_iter().filter(|told| !told.is_empty()).collect::<Vec<_>>().join("; ");
        text += &line;
        line = "\n     ".to_owned();
        for word in told.replace('`', "").split(' ') {
            if line.chars().count() + word.chars().count() >= HELP_WIDTH {
                text += &line;
                line = "\n     ".to_owned();
            }
            line += " ";
            line += word;
        }
        text += &line;
        text.push('\n');
    }
    text + HELP
}

/// As wide as other helps.
const HELP_WIDTH: usize = 80;

const HELP: &str = "  {\"path\":<name>,…}
      hashloom sum --json: all digests and the length must match
  any of these, ended by NUL
      with --zero
  The number of digits tells the algorithm of a line that names none: 64 digits
  count as sha256. Name any other algorithm with --algorithm.
  A backslash before the line says that \\n, \\r and \\\\ in the name stand for a
  newline, a carriage return and a backslash. Blank lines and lines that begin
  with # are ignored. One list can have lines of several algorithms. Lists may
  come from Windows: UTF-16, a byte order mark, carriage returns, backslashes in
  names. Of a list that OpenPGP has signed in the clear the signed text is
  read, and its signature not checked: gpg --decrypt LIST | hashloom check
  A list can have any length, and may be compressed by gzip or zstd. The name -
  is standard input. Of a folder, the lists in it are named.

Other sources:
  FILE.par2 has the MD5 of each block of its files; blocks are counted from 0.
  Names are relative to the folder of FILE.par2. `par2 repair` repairs files.
  --names checks objects of git-lfs, OCI images (also of containerd and
  ollama), restic, borg 2, Hugging Face, DVC, Bazel, npm, Nix's binary caches,
  and ostree, anywhere below the folders. Links that are no objects are
  skipped. Files whose names are no digests are counted. Nobody sees that an
  object is missing.
  --dpkg checks the files in dpkg's md5sums. Configuration files that were
  changed or removed are CHANGED, which is no failure. Packages without md5sums
  are named. Diversions and path-exclude are known.
  --python checks the files of packages that pip has installed. Packages without
  RECORD are named; files without digest, as *.pyc, are counted.

Exit status:
  0    every list has a checksum, and every listed file matches
  1    a file does not match or cannot be read; a line names a digest that was
       not verified, as of an algorithm that hashloom lacks; a list has no
       checksum, or is cut off; with --strict: a line is not a checksum
  2    wrong usage; or a file is UNSTABLE: it changed each of the three times
       that it was read; or a list changed while it was read
  130  interrupted (Ctrl-C)
  141  the reader of the output has gone; the rest was not checked

Examples:
  hashloom check SHA256SUMS
  hashloom check --ignore-missing --quiet SHA256SUMS SHA512SUMS
  hashloom check --algorithm ripemd160 old.list
  hashloom check -C /mnt/copy SHA256SUMS
  hashloom check --python venv --quiet
  find / -name SHA256SUMS -exec hashloom check --relative-to-list {} +
  curl -s https://example.org/SHA256SUMS | hashloom check --ignore-missing
  hashloom check photos.par2
  hashloom check --names .git/lfs ~/.cache/huggingface
  hashloom check --dpkg --quiet";

impl Check {
    /// How the files are read.
    pub fn options(&self) -> Options {
        self.work.options(!self.status)
    }
}

/// Returns the exit status.
pub fn run(arguments: &Check, sources: Sources) -> Result<u8, String> {
    let rules = Rules {
        ignore_missing: arguments.ignore_missing,
        ignore_case: arguments.ignore_case,
        quiet: arguments.quiet,
        status: arguments.status,
        strict: arguments.strict,
        warn: arguments.warn,
        json: arguments.json,
    };
    if let Some(folder) = &arguments.directory {
        check_folder(folder).map_err(|message| format!("--directory: {message}"))?;
    }
    if arguments.names || arguments.dpkg {
        return (sources.stores)(arguments, rules);
    }
    let parser = match &arguments.algorithms[..] {
        [] => Parser::new(),
        algorithms => Parser::untagged(algorithms),
    };
    let parser = parser.encoded(arguments.encoding);
    let has_only = !arguments.only.is_empty();
    let has_only_files = has_only && !arguments.only.iter().any(|path| path.is_dir());
    let (lists, not_covered) = match &arguments.python {
        Some(folder) => (sources.python)(folder)?,
        // The signatures of the files may stand for lists.
        None if has_only_files && arguments.trusted_key.is_some() => (arguments.lists.clone(), Vec::new()),
        None if arguments.lists.is_empty() && (has_only || arguments.trusted_key.is_some()) => {
            return Err("expected a LIST, as --only and --trusted-key are about lists".into());
        }
        None => (or_stdin(&arguments.lists), Vec::new()),
    };
    if !rules.status {
        say_stdin(&lists);
    }
    let trusted = arguments.trusted_key.as_deref().map(public_key).transpose()?;
    if has_only_files {
        let (files, base) = (&arguments.only, arguments.directory.as_deref());
        let ways = Ways { parser: &parser, base, trusted: trusted.as_ref(), sources };
        let total = files.clone();
        return front::run(
            files,
            arguments.options(),
            move || total.iter().map(|file| Some(file.metadata().ok()?.len())).sum(),
            |options, console| Only { files, lists: &lists, ways, rules, options, console }.check(),
        );
    }
    // As for files, names are relative to the folder of the list.
    let is_relative = arguments.relative_to_list || has_only;
    let below = match &arguments.only[..] {
        [] => None,
        [folder] => Some(folder.canonicalize().map_err(|error| failed(folder, &error))?),
        _ => return Err("--only: expected files, or one folder".into()),
    };
    front::run(
        &lists,
        arguments.options(),
        {
            let (lists, parser, folder) = (lists.clone(), parser.clone(), arguments.directory.clone());
            move || {
                let has_par2 = lists.iter().any(|list| (sources.open_par2)(list).is_some());
                let total = || total_nbytes(&lists, base(folder.as_deref(), is_relative), parser, rules);
                if has_par2 { None } else { total() }
            }
        },
        |options, console| {
            let base = base(arguments.directory.as_deref(), is_relative);
            let guesses = arguments.algorithms.is_empty();
            let (trusted, below) = (trusted.as_ref(), below.as_deref());
            let shows_folders = matches!(base, Base::List) && lists.len() > 1;
            let checker = Checker { rules, base, shows_folders, guesses, trusted, below, sources, options, console };
            let end = checker.check_all(&lists, &mut parser.clone());
            not_covered.iter().filter(|_| !rules.status).for_each(|what| console.message(what.as_bytes()));
            end
        },
    )
}

fn encoding(name: &str) -> Result<Encoding, String> {
    Encoding::named(name).ok_or_else(|| "expected one such as cp1252, cp437, cp850, shift_jis, gbk or koi8-r".into())
}

fn base(folder: Option<&Path>, is_relative_to_list: bool) -> Base<'_> {
    match folder {
        Some(folder) => Base::Folder(folder),
        None if is_relative_to_list => Base::List,
        None => Base::Current,
    }
}
