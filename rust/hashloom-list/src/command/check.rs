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
use crate::{Encoding, FORMS, Form, Parser};

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

/// The end of the help: all forms, and what follows them.
fn help() -> String {
    /// The forms of lists that people have most often, and those of one program alone; the others stand between them.
    const FIRST: &[&str] = &["gnu", "bsd", "sfv", "alone", "last", "file-hash", "certutil", "colon", "hashdeep", "pip"];
    const LAST: &[&str] = &["jar", "rpm", "apk", "gentoo"];
    let place = |of: &[&str], form: &Form| of.iter().position(|name| *name == form.name);
    let mut forms: Vec<_> = FORMS.iter().collect();
    forms.sort_by_key(|form| (place(LAST, form), place(FIRST, form).unwrap_or(FIRST.len())));
    let mut text = "Lines of a list, and the programs that write them:\n".to_owned();
    for form in forms {
        text += &format!("  {}\n     ", form.line);
        let mut width = 5;
        let told = format!("{}; {}", form.of, form.told).replace('`', "");
        for word in told.trim_end_matches("; ").split(' ') {
            // As wide as other helps.
            if width + word.chars().count() >= 80 {
                text += "\n     ";
                width = 5;
            }
            width += 1 + word.chars().count();
            text += &format!(" {word}");
        }
        text.push('\n');
    }
    text + HELP.trim_end()
}

const HELP: &str = include_str!("check.txt");

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
