// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree rfc6962`: the trees and proofs of transparency logs.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hashloom::Algorithm;
use hashloom_files::Stamp;
use hashloom_frame::json::object_line;
use hashloom_frame::names;
use hashloom_frame::numbers::{Nbytes, whole};
use hashloom_frame::output;

use super::check::{Check, ProofJson};
use super::{Common, Failed, Work, is_stdin, open, opened_stdin};
use crate::TreeError;
use crate::rfc6962::{Built, Proof, Prove, Tree};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    Root(Root),
    ProveInclusion(ProveInclusion),
    ProveConsistency(ProveConsistency),
    Check(Check),
}

impl Command {
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Command::Root(options) => options.entries.algorithm,
            Command::ProveInclusion(options) => options.entries.algorithm,
            Command::ProveConsistency(options) => options.entries.algorithm,
            Command::Check(options) => options.algorithm,
        }
    }
}

/// The leaves of a tree.
#[derive(Debug, Args)]
struct Entries {
    /// Each file is an entry, in the order given; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Each line of the files is an entry; its newline does not count
    #[arg(short, long, conflicts_with = "block_size")]
    lines: bool,

    /// Each block of BYTES of the files is an entry; the last block of a file may be shorter
    #[arg(short, long, value_name = "BYTES")]
    block_size: Option<Nbytes>,

    /// The hash function; logs use sha256
    #[arg(short, long, value_name = "NAME", value_parser = names::ANY, default_value = "sha256")]
    algorithm: Algorithm,

    #[command(flatten)]
    common: Common,
}

/// Print the root of a tree: its size, two blanks, the root in hexadecimal.
#[derive(Debug, Args)]
#[command(after_long_help = ROOT_HELP)]
pub struct Root {
    #[command(flatten)]
    entries: Entries,
}

const ROOT_HELP: &str = "\
The tree:
  The tree of RFC 6962 and RFC 9162, section 2.1: a leaf is the digest of the
  byte 0 and the entry, a node the digest of the byte 1 and two nodes. Sizes and
  indexes count entries; the first entry has the index 0.

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree rfc6962 root *.crt
  hashloom tree rfc6962 root --lines log.txt
  hashloom tree rfc6962 root --block-size 4KiB disk.img";

/// Prove that an entry is in a tree. Prints the proof as a JSON object.
#[derive(Debug, Args)]
#[command(after_long_help = PROVE_HELP)]
pub struct ProveInclusion {
    /// The index of the entry; the first is 0
    #[arg(value_name = "INDEX", value_parser = whole)]
    index: u64,

    #[command(flatten)]
    entries: Entries,
}

/// Prove that a tree is the beginning of a longer one. Prints the proof as a JSON object.
#[derive(Debug, Args)]
#[command(after_long_help = PROVE_HELP)]
pub struct ProveConsistency {
    /// Number of entries of the first tree
    #[arg(value_name = "SIZE", value_parser = whole)]
    size: u64,

    #[command(flatten)]
    entries: Entries,
}

const PROVE_HELP: &str = "\
The proof:
  One line, the input of `hashloom tree rfc6962 check`; nodes in hexadecimal, in
  the order of RFC 9162. The files are read once, and only one path of the tree
  is in memory.

Exit status:
  0    printed
  2    wrong usage, no such entry or tree, or a file that could not be read
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree rfc6962 prove-inclusion 41 --lines log.txt > 41.json
  hashloom tree rfc6962 prove-consistency 1000 --lines log.txt | jq .proof
  hashloom tree rfc6962 check p --root 9a01... --size 1000 --entry 41.crt";

/// Returns the exit status.
pub fn run(command: &Command) -> Result<u8, String> {
    match command {
        Command::Root(Root { entries }) => Ok(match build(entries, None) {
            Ok(built) => {
                output::print(|out| print_root(out, entries, &built))?;
                0
            }
            Err(failed) => failed.tell(),
        }),
        Command::ProveInclusion(ProveInclusion { index, entries }) => {
            prove(entries, Prove::Inclusion(*index), |built, proof| ProofJson {
                index: Some(*index),
                size: Some(built.size),
                leaf: Some(proof.of.to_string()),
                root: Some(built.root.to_string()),
                ..ProofJson::default()
            })
        }
        Command::ProveConsistency(ProveConsistency { size, entries }) => {
            prove(entries, Prove::Consistency(*size), |built, proof| ProofJson {
                size1: Some(*size),
                root1: Some(proof.of.to_string()),
                size: Some(built.size),
                root: Some(built.root.to_string()),
                ..ProofJson::default()
            })
        }
        Command::Check(options) => super::check::run(options),
    }
}

fn print_root(out: &mut impl Write, entries: &Entries, built: &Built) -> io::Result<()> {
    if entries.common.json {
        let json = ProofJson {
            algorithm: Some(entries.algorithm.name().to_owned()),
            size: Some(built.size),
            root: Some(built.root.to_string()),
            ..ProofJson::default()
        };
        return out.write_all(object_line(&json).as_bytes());
    }
    writeln!(out, "{}  {}", built.size, built.root)
}

fn prove(entries: &Entries, prove: Prove, json: impl FnOnce(&Built, &Proof) -> ProofJson) -> Result<u8, String> {
    let built = match build(entries, Some(prove)) {
        Ok(built) => built,
        Err(failed) => return Ok(failed.tell()),
    };
    let proof = match &built.proofs[..] {
        [Ok(proof)] => proof,
        [Err(error), ..] => return Err(error.to_string()),
        _ => return Err("the proof was lost".to_owned()),
    };
    let json = ProofJson {
        algorithm: Some(entries.algorithm.name().to_owned()),
        proof: Some(proof.nodes.iter().map(|node| node.to_string()).collect()),
        ..json(&built, proof)
    };
    output::print(|out| out.write_all(object_line(&json).as_bytes())).map(|()| 0)
}

fn build(entries: &Entries, prove: Option<Prove>) -> Result<Built, Failed> {
    let mut tree = Tree::new(entries.algorithm, prove.as_slice());
    let work = Work::new(&entries.common, &entries.files);
    for path in &entries.files {
        match (entries.lines, entries.block_size) {
            (true, _) => push_lines(&mut tree, &work, path)?,
            (false, Some(Nbytes(nbytes))) => {
                work.file_once(path, |source, options| tree.push_blocks(source, nbytes, options)).map(drop)?;
            }
            (false, None) => work.file_once(path, |source, options| tree.push_file(source, options))?,
        }
    }
    work.bar.finish();
    Ok(tree.finish())
}

fn push_lines(tree: &mut Tree, work: &Work<'_>, path: &Path) -> Result<(), Failed> {
    let pushed: Result<u64, TreeError> = if is_stdin(path) {
        opened_stdin().and_then(|stdin| work.with(|options| tree.push_lines(&mut stdin.lock(), options)))
    } else {
        let file = open(path)?;
        let before = Stamp::before_reading(&file).ok();
        let pushed = work.with(|options| tree.push_lines(&mut BufReader::with_capacity(256 << 10, &file), options));
        if Stamp::of_file(&file).ok() == before { pushed } else { pushed.and(Err(TreeError::Changed)) }
    };
    pushed.map(drop).map_err(|error| Failed::of(path, error))
}
