// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use hashloom::Algorithm;

use crate::address::Address;
use crate::bench::size::Size;
use crate::generate::Generate;
use crate::manifest::Manifest;
use crate::names;
use crate::pow::Pow;
use crate::solaris::digest::Digest;
use crate::solaris::mac::Mac;
use crate::sums::check::Check;
use crate::sums::sum::Sum;
use crate::timing::Effort;
use crate::torrent::create::Create;
use crate::torrent::edit::Edit;
use crate::torrent::show::Show;
use crate::torrent::verify::Verify;
use crate::tree::Tree;

/// Hash many things at once.
///
/// One SHA-1 or SHA-256 keeps a modern CPU mostly idle. hashloom hashes 4, 8 or 16 messages side by side, on every
/// core.
#[derive(Debug, Parser)]
#[command(name = "hashloom", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(flatten)]
    pub isa: Isa,

    #[command(subcommand)]
    pub command: Command,
}

/// The option of the instruction sets. Every command takes it; those whose speed people compare show it ([`isa`]).
#[derive(Debug, Args)]
pub struct Isa {
    /// Use only these instruction sets, separated by commas; an unknown name lists the available ones
    #[arg(long, value_name = "NAME[,NAME]", env = "HASHLOOM_ISA", hide_env_values = true, global = true, hide = true)]
    pub isa: Option<String>,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
pub enum Command {
    /// Work with torrents
    #[command(arg_required_else_help = true)]
    Torrent {
        #[command(subcommand)]
        command: TorrentCommand,
    },
    Sum(Sum),
    Check(Check),
    /// Record the files of a folder, and later see what has changed
    #[command(arg_required_else_help = true)]
    Manifest {
        #[command(subcommand)]
        command: Manifest,
    },
    Digest(Digest),
    Mac(Mac),
    /// Compute Merkle roots of files: fs-verity, dm-verity, RFC 6962 and others
    #[command(arg_required_else_help = true)]
    Tree {
        #[command(subcommand)]
        command: Tree,
    },
    Address(Address),
    Work(Pow),
    Generate(Generate),
    #[command(after_long_help = KERNELS_HELP)]
    Kernels(Kernels),
    #[command(after_long_help = BENCH_HELP)]
    Bench(Bench),
}

#[derive(Debug, Subcommand)]
pub enum TorrentCommand {
    Create(Create),
    Verify(Verify),
    Show(Show),
    Edit(Edit),
}

/// List all kernels: whether each runs here, what it is chosen for, and its speed.
///
/// A kernel is one block function (of SHA-1, of SHA-256, …) for one instruction set and a number of messages side by
/// side, its lanes. hashloom chooses the kernel that is best for the number of messages and the make of the CPU.
#[derive(Debug, Args)]
#[command(arg = isa(), mut_args(|arg| if is_effort(&arg) { arg.requires("bench") } else { arg }))]
pub struct Kernels {
    /// List only kernels of this algorithm; can be given several times
    #[arg(short, long = "algorithm", value_name = "NAME", value_parser = names::ANY)]
    pub algorithms: Vec<Algorithm>,

    /// Time every kernel that runs here; takes some seconds
    #[arg(long)]
    pub bench: bool,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    /// List the GPUs instead
    #[cfg(feature = "gpu")]
    #[arg(long, conflicts_with_all = ["algorithms", "bench"])]
    pub gpu: bool,

    #[command(flatten)]
    pub effort: Effort,
}

/// Returns the option of [`Isa`] for a command that shows it, as the last of its options.
pub fn isa() -> clap::Arg {
    let hidden = Isa::augment_args(clap::Command::new("hashloom"));
    let isa = hidden.get_arguments().find(|arg| arg.get_id() == "isa");
    isa.cloned().unwrap_or_else(|| clap::Arg::new("isa")).hide(false).display_order(900)
}

/// Accepts the empty name too: it is a file that cannot be opened, but clap would call it misuse.
pub fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Returns true for the options that mean nothing unless something is timed.
fn is_effort(arg: &clap::Arg) -> bool {
    ["rounds", "time"].iter().any(|name| arg.get_id() == name)
}

const KERNELS_HELP: &str = "\
The columns:
  lanes       messages that one call advances
  here        whether this machine and its operating system can run the kernel
  chosen for  the numbers of messages still to hash for which this kernel is
              chosen; 5+: five or more. --isa and HASHLOOM_ISA restrict the
              choice, not what is listed or timed
  ns a call   nanoseconds for one block in all lanes; the messages are long, and
              their data is in the level 1 and 2 caches
  M/s         million blocks a second
  / scalar    the speed of this kernel divided by the speed of plain C for one
              message

How kernels are timed:
  All kernels take turns on one thread, --rounds times. The fastest round of
  each kernel counts. Ratios within one table hold on a busy machine too; be
  careful when you compare figures of two runs.

Exit status:
  0  listed
  2  wrong usage, or an instruction set that is not available

Examples:
  hashloom kernels
  hashloom kernels --bench --algorithm sha256
  hashloom kernels --isa avx2,sha
  hashloom kernels --bench --json | jq '.kernels[] | .name, .ns_per_call'";

/// Show how fast this machine hashes, beside OpenSSL.
///
/// Hashes many messages of each size, and one message alone, with the kernel that hashloom chooses; then the command
/// openssl, if it is installed, measures itself. Everything runs on one thread, with the data in the caches. It takes
/// half a minute.
#[derive(Debug, Args)]
#[command(arg = isa())]
pub struct Bench {
    /// Time this algorithm; can be given several times
    /// [default: one for each block function]
    #[arg(short, long = "algorithm", value_name = "NAME", value_parser = names::ANY)]
    pub algorithms: Vec<Algorithm>,

    /// Bytes in a message, such as 41, 16KiB or 1MiB; can be given several times
    #[arg(short, long = "size", value_name = "BYTES", default_values = ["64", "1KiB", "16KiB"])]
    pub sizes: Vec<Size>,

    /// Time each kernel that runs here too
    #[arg(long)]
    pub kernels: bool,

    /// Leave OpenSSL out, which takes a second for each algorithm and size
    #[arg(long)]
    pub no_openssl: bool,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub effort: Effort,
}

const BENCH_HELP: &str = "\
What is printed:
  GB/s        10^9 bytes of message a second. Padding takes time but is not
              counted: for SHA-256 a message of 64 bytes is two blocks
  ratio       the speed of hashloom's choice divided by that of the row: 3.0 is
              three times as fast
  1 x 16 KiB  one message alone, of the greatest size; all lanes of a kernel but
              one are idle
  OpenSSL     one message after the other, as `openssl speed -evp` measures it.
              It makes a context for each message: a program that keeps one is
              faster with short messages
  If OpenSSL is missing, or lacks the algorithm, its row says so.

How rows are timed:
  hashloom's rows of a column take turns on one thread, --rounds times. The
  fastest round of each row counts. Then the digests of these rows are compared:
  if any differ, the program prints an error and no figure. Only kernels that
  --isa and HASHLOOM_ISA allow are timed. OpenSSL follows, with its own messages
  of the same sizes.

Exit status:
  0  timed
  2  wrong usage, or wrong digests

Examples:
  hashloom bench
  hashloom bench --algorithm sha256 --size 41 --size 64 --kernels
  hashloom bench --rounds 1 --time 100us --no-openssl    a first look
  hashloom bench --json | jq '.results[0].rows[0]'";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn check(command: &clap::Command) {
        if let Some(help) = command.get_after_long_help() {
            let help = help.to_string();
            let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{}: {long:#?}", command.get_name());
            // In the manual page, five columns more come before each example.
            let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
            let long: Vec<&str> = examples.lines().filter(|line| line.chars().count() > 75).collect();
            assert!(long.is_empty(), "{}: {long:#?}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }

    /// clap breaks longer lines again on a narrower terminal, which leaves stumps of lines.
    #[test]
    fn help_that_is_broken_into_lines_fits_80_columns() {
        Arguments::command().debug_assert();
        check(&Arguments::command());
    }
}
