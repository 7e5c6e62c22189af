// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree fsverity`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_frame::json::object_line;
use hashloom_frame::json::{Named, hex};
use hashloom_frame::names;
use hashloom_frame::numbers::HexBytes;
use hashloom_frame::numbers::Nbytes;
use hashloom_frame::output::{self, Pending};
use hashloom_frame::text::{display, reason};
use serde::Serialize;

use super::{Common, Failed, Work, open};
use crate::TreeError;
use crate::fsverity::{FsVerity, Sealed};

/// Print the digest under which Linux seals a file, as `fsverity digest` does.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Fsverity {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// sha256 or sha512
    #[arg(short, long, visible_alias = "hash-alg", value_name = "NAME", value_parser = names::ANY,
        hide_possible_values = true, default_value = "sha256")]
    pub algorithm: Algorithm,

    /// Bytes in a block: a power of two from 1024 to 65536
    #[arg(short, long, value_name = "BYTES", default_value = "4096")]
    block_size: Nbytes,

    /// The salt: up to 32 bytes in hexadecimal, hashed before each block
    #[arg(short, long, value_name = "HEX")]
    salt: Option<HexBytes>,

    /// Print only the digests
    #[arg(long, conflicts_with = "json")]
    compact: bool,

    /// Print, in hexadecimal, the bytes that a built-in signature signs, instead of the digest
    #[arg(long, conflicts_with = "json")]
    for_builtin_sig: bool,

    /// Write the blocks of the tree of one file to FILE, which is replaced; the root's block comes first
    #[arg(long, value_name = "FILE")]
    out_merkle_tree: Option<PathBuf>,

    /// Write the 256 bytes that the digest of one file is computed from to FILE, which is replaced
    #[arg(long, value_name = "FILE")]
    out_descriptor: Option<PathBuf>,

    #[command(flatten)]
    common: Common,
}

const HELP: &str = "\
What is printed:
  sha256:DIGEST FILE, the line that `fsverity digest` prints and that
  `fsverity sign` and fs-verity policies use. `fsverity measure FILE` prints the
  same after `fsverity enable` with the same options. This command needs no
  fs-verity in the kernel, and enables nothing.

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree fsverity app.apk
  hashloom tree fsverity --algorithm sha512 --salt 0a1b2c *.img
  hashloom tree fsverity --compact --for-builtin-sig app.apk | xxd -r -p
  hashloom tree fsverity --json *.img | jq -r .digest";

/// JSON of `tree fsverity`: one object for each file.
#[derive(Serialize)]
struct Json<'a> {
    /// The file as given.
    #[serde(flatten)]
    path: Named<'a>,
    /// `sha256` or `sha512`.
    algorithm: &'static str,
    /// Bytes of a block.
    block_size: u64,
    /// The salt in hexadecimal; empty if there is none.
    salt: String,
    /// Bytes of the file.
    bytes: u64,
    /// The root of the tree.
    root: String,
    /// What `fsverity digest` prints, without the algorithm.
    digest: String,
}

/// Returns the exit status.
pub fn run(arguments: &Fsverity) -> Result<u8, String> {
    if arguments.files.len() > 1 && (arguments.out_merkle_tree.is_some() || arguments.out_descriptor.is_some()) {
        return Err("--out-merkle-tree and --out-descriptor take one FILE".into());
    }
    arguments.check_outputs()?;
    let salt = arguments.salt.clone().unwrap_or_default().0;
    let block_nbytes = usize::try_from(arguments.block_size.0).unwrap_or(usize::MAX);
    let verity = FsVerity::new(arguments.algorithm)
        .block_size(block_nbytes)
        .and_then(|verity| verity.salt(&salt))
        .map_err(|error| error.to_string())?;
    let work = Work::new(&arguments.common, &arguments.files);
    work.each(&arguments.files, |path| {
        let sealed = match &arguments.out_merkle_tree {
            Some(out) => write_tree(&work, &verity, path, out)?,
            None => work.file(path, |source, options| verity.digest(source, options))?,
        };
        if let Some(out) = &arguments.out_descriptor {
            output::write(out, sealed.descriptor()).map_err(|error| not_written(out, &error))?;
        }
        Ok(line(arguments, path, &salt, &sealed))
    })
}

impl Fsverity {
    /// Checks that the two outputs differ from each other and from the files read.
    fn check_outputs(&self) -> Result<(), String> {
        let mut taken: Vec<(&Path, &str)> = self.files.iter().map(|file| (file.as_path(), "read")).collect();
        for out in [&self.out_merkle_tree, &self.out_descriptor].into_iter().flatten() {
            let same = output::Same::new(out);
            let is_taken = |(file, _): &&(&Path, &str)| same.is(file) && !output::path_is_special(out);
            if let Some((_, done)) = taken.iter().find(is_taken) {
                return Err(format!("{}: not written: the file is also {done}. Give another FILE", display(out)));
            }
            taken.push((out, "written"));
        }
        Ok(())
    }
}

fn line(arguments: &Fsverity, path: &Path, salt: &[u8], sealed: &Sealed) -> String {
    if arguments.common.json {
        let json = Json {
            path: Named::path("path", path),
            algorithm: arguments.algorithm.name(),
            block_size: arguments.block_size.0,
            salt: hex(salt),
            bytes: sealed.nbytes(),
            root: sealed.root().to_string(),
            digest: sealed.digest().to_string(),
        };
        return object_line(&json);
    }
    let digest = match (arguments.for_builtin_sig, arguments.compact) {
        (true, _) => hex(&sealed.formatted()),
        (false, true) => sealed.digest().to_string(),
        (false, false) => sealed.to_string(),
    };
    if arguments.compact { format!("{digest}\n") } else { format!("{digest} {}\n", display(path)) }
}

fn write_tree(work: &Work<'_>, verity: &FsVerity, path: &Path, out: &Path) -> Result<Sealed, Failed> {
    let pending = Pending::begin(out).map_err(|error| not_written(out, &error))?;
    let file = open(path)?;
    let written = work.with(|options: &Options| verity.write_tree(file, pending.file(), options));
    let sealed = match written {
        Err(TreeError::Write(error)) => return Err(not_written(out, &error)),
        other => other.map_err(|error| Failed::of(path, error))?,
    };
    pending.end(true).map_err(|error| not_written(out, &error))?;
    Ok(sealed)
}

fn not_written(path: &Path, error: &io::Error) -> Failed {
    Failed::Message(format!("{}: cannot be written: {}", display(path), reason(error)))
}
