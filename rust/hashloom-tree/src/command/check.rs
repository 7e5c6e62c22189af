// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree rfc6962 check`: checks a proof from a file, which may come from anybody.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_frame::exit::EXIT_INCOMPLETE;
use hashloom_frame::names;
use hashloom_frame::numbers::HexBytes;
use hashloom_frame::{output, stdio, style};
use serde::{Deserialize, Serialize};

use super::{is_stdin, shown_name};
use crate::rfc6962::{Tree, check_consistency, check_inclusion};

/// Check a proof of inclusion or consistency.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Check {
    /// The proof: a JSON object; - is standard input
    #[arg(value_name = "PROOF")]
    proof: PathBuf,

    /// The root of the tree, in hexadecimal, from a trusted source
    #[arg(long, value_name = "HEX")]
    root: Option<HexBytes>,

    /// The root of the first tree, for a proof of consistency
    #[arg(long, value_name = "HEX")]
    first_root: Option<HexBytes>,

    /// The leaf, for a proof of inclusion
    #[arg(long, value_name = "HEX", conflicts_with = "entry")]
    leaf: Option<HexBytes>,

    /// The file of the entry, instead of the leaf
    #[arg(long, value_name = "FILE")]
    entry: Option<PathBuf>,

    /// The number of entries in the tree, from a trusted source
    #[arg(long, value_name = "N")]
    size: Option<u64>,

    /// The number of entries in the first tree, for a proof of consistency
    #[arg(long, value_name = "N")]
    first_size: Option<u64>,

    /// The number of the entry; the first is 0 [default: the index in PROOF]
    #[arg(long, value_name = "N")]
    index: Option<u64>,

    /// The hash function of the tree
    #[arg(short, long, value_name = "NAME", value_parser = names::ANY, default_value = "sha256")]
    pub algorithm: Algorithm,
}

const HELP: &str = "\
The proof:
  The output of prove-inclusion or prove-consistency. The keys tell the kind of
  proof:
    inclusion     index, size, leaf, root, proof
    consistency   size1, root1, size, root, proof
  `proof` is an array of nodes; nodes, leaf and roots are in hexadecimal.
  Anybody may have written PROOF: it proves nothing unless what it is about is
  known from a trusted source, such as a signed root.
    inclusion     --root, --size, and --leaf or --entry
    consistency   --root, --size, --first-root, --first-size
  The size is needed because a root does not contain it: some proofs are right
  for several sizes. What is not given is taken from PROOF. If the proof is then
  wrong, the exit status is 1; if not, the status is 2, and the error names what
  is missing. The verdict says if only PROOF gives the index, which follows from
  the proof.

Exit status:
  0    the proof is right
  1    the proof is wrong
  2    wrong usage, something is missing that only a trusted source can tell,
       or PROOF is not a JSON object of one of these kinds

Examples:
  head='--root 9a01... --size 1000'
  hashloom tree rfc6962 check 41.json $head --entry 41.crt
  hashloom tree rfc6962 check c $head --first-root 2b4e... --first-size 900";

/// More than the length of the longest proof.
const PROOF_MAX_NBYTES: u64 = 64 << 10;

/// JSON of `tree rfc6962 root`, `tree rfc6962 prove-inclusion` and `tree rfc6962 prove-consistency`: a root, or a
/// proof, which `check` reads and which may have no other keys.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofJson {
    /// The hash function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Inclusion: the entry; the first is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// Inclusion: digest of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf: Option<String>,
    /// Consistency: number of entries in the first tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size1: Option<u64>,
    /// Consistency: root of the first tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root1: Option<String>,
    /// Number of entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Root of the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The nodes, in the order of RFC 9162.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Vec<String>>,
}

/// Returns the exit status.
pub fn run(arguments: &Check) -> Result<u8, String> {
    let json = read(&arguments.proof)?;
    let named = |problem: String| format!("{}: {problem}", shown_name(&arguments.proof));
    let algorithm = arguments.algorithm;
    if let Some(other) = json.algorithm.as_ref().filter(|&name| name != algorithm.name()) {
        return Err(named(format!("algorithm: expected {algorithm}, found {other:?}; give it by --algorithm")));
    }
    // The options for values that are those of PROOF.
    let missing = RefCell::new(Vec::new());
    let given = |name, option, given: &Option<HexBytes>, text: &Option<String>| match (given, text) {
        (Some(HexBytes(bytes)), _) => Ok(bytes.clone()),
        (None, Some(text)) => {
            missing.borrow_mut().push(option);
            bytes(name, text).map_err(named)
        }
        (None, None) => Err(named(format!("expected {name:?}, found no such key"))),
    };
    let nodes = json.proof.iter().flatten().map(|text| bytes("proof", text).map_err(named));
    let nodes: Vec<Vec<u8>> = nodes.collect::<Result<_, _>>()?;
    if json.proof.is_none() {
        return Err(named("expected \"proof\", found no such key".to_owned()));
    }
    let root = given("root", "--root", &arguments.root, &json.root)?;
    let leaf = || match &arguments.entry {
        Some(path) => entry(path, algorithm),
        None => given("leaf", "--leaf or --entry", &arguments.leaf, &json.leaf),
    };
    let root1 = || given("root1", "--first-root", &arguments.first_root, &json.root1);
    let number = |option, given: Option<u64>, found: Option<u64>| {
        if given.is_none() && found.is_some() {
            missing.borrow_mut().push(option);
        }
        given.or(found)
    };
    let index = arguments.index.or(json.index);
    let size1 = number("--first-size", arguments.first_size, json.size1);
    let size = number("--size", arguments.size, json.size);
    let (checked, what) = match (index, size1, size) {
        (Some(index), None, Some(size)) => (
            check_inclusion(algorithm, &leaf()?, index, size, &nodes, &root),
            format!("entry {index} is in the tree of {size}"),
        ),
        (None, Some(size1), Some(size)) => (
            check_consistency(algorithm, size1, &root1()?, size, &root, &nodes),
            format!("the tree of {size1} is the beginning of the tree of {size}"),
        ),
        _ => return Err(named("expected index and size, or size1 and size, found other keys".to_owned())),
    };
    let missing = missing.into_inner();
    if checked.is_ok() && !missing.is_empty() {
        let why = "anybody may have written that. Give what a trusted source says";
        return Err(named(format!(
            "nothing is proved, as only the proof itself says it: {why}: {}",
            missing.join(", ")
        )));
    }
    let line = match &checked {
        Ok(()) if index.is_some() && arguments.index.is_none() => {
            format!("{}: {what}; only PROOF says: index", style::good("right"))
        }
        Ok(()) => format!("{}: {what}", style::good("right")),
        Err(error) => format!("{}: {error}", style::bad("wrong")),
    };
    output::print(|out| io::Write::write_fmt(out, format_args!("{line}\n")))?;
    Ok(if checked.is_ok() { 0 } else { EXIT_INCOMPLETE })
}

fn read(path: &Path) -> Result<ProofJson, String> {
    let named = |problem: &dyn std::fmt::Display| format!("{}: {problem}", shown_name(path));
    let mut text = Vec::new();
    let read = |source: &mut dyn Read, text: &mut Vec<u8>| source.take(PROOF_MAX_NBYTES + 1).read_to_end(text);
    let nbytes = if is_stdin(path) {
        stdio::stdin().and_then(|mut stdin| read(&mut stdin, &mut text))
    } else {
        File::open(path).and_then(|mut file| read(&mut file, &mut text))
    };
    if nbytes.map_err(|error| named(&error))? as u64 > PROOF_MAX_NBYTES {
        return Err(named(&format!("expected a proof of up to {PROOF_MAX_NBYTES} bytes, found more")));
    }
    serde_json::from_slice(&text).map_err(|error| named(&format!("expected a proof as a JSON object: {error}")))
}

fn bytes(name: &str, text: &str) -> Result<Vec<u8>, String> {
    text.parse::<HexBytes>().map(|HexBytes(bytes)| bytes).map_err(|error| format!("{name}: {error}"))
}

/// Returns the leaf of a file.
fn entry(path: &Path, algorithm: Algorithm) -> Result<Vec<u8>, String> {
    let named = |problem: &dyn std::fmt::Display| format!("{}: {problem}", shown_name(path));
    let file = File::open(path).map_err(|error| named(&error))?;
    // The root of a tree of one entry is its leaf.
    let mut tree = Tree::new(algorithm, &[]);
    tree.push_file(file, &Options::new()).map_err(|error| named(&error))?;
    Ok(tree.finish().root.as_ref().to_vec())
}
