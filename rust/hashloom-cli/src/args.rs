// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line.

#[cfg(feature = "bench")]
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hashloom::Algorithm;

use crate::generate::Generate;
use crate::manifest::Manifest;
#[cfg(feature = "bench")]
use crate::size::Size;
use crate::solaris::digest::Digest;
use crate::solaris::mac::Mac;
use crate::sums::check::Check;
use crate::sums::sum::Sum;
use crate::timing::Effort;
use crate::torrent::create::Create;
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
    /// Use only these instruction sets, with commas between them; an unknown name lists those available
    #[arg(long, value_name = "NAME[,NAME]", env = "HASHLOOM_ISA", hide_env_values = true, global = true)]
    pub isa: Option<String>,

    #[command(subcommand)]
    pub command: Command,
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
    /// Write down what the files of a folder are, and see later what has become of them
    #[command(arg_required_else_help = true)]
    Manifest {
        #[command(subcommand)]
        command: Manifest,
    },
    Digest(Digest),
    Mac(Mac),
    /// Merkle roots of files: fs-verity, dm-verity, RFC 6962 and others
    #[command(arg_required_else_help = true)]
    Tree {
        #[command(subcommand)]
        command: Tree,
    },
    Generate(Generate),
    #[command(after_long_help = KERNELS_HELP)]
    Kernels(Kernels),
    #[cfg(feature = "bench")]
    #[command(after_long_help = BENCH_HELP)]
    Bench(Bench),
}

#[derive(Debug, Subcommand)]
pub enum TorrentCommand {
    Create(Create),
    Verify(Verify),
    Show(Show),
}

/// List the kernels: which there are, which run here, which are chosen, how fast each is.
///
/// A kernel is one block function (of SHA-1, of SHA-256, …) for one instruction set and a number of messages side by
/// side, its lanes. By the number of messages at hand hashloom chooses the kernel that is best on the make of CPU.
#[derive(Debug, Args)]
#[command(mut_args(|arg| if is_effort(&arg) { arg.requires("bench") } else { arg }))]
pub struct Kernels {
    /// Only kernels of this algorithm; can be given several times; an unknown name lists those that there are
    #[arg(short, long = "algorithm", value_name = "NAME")]
    pub algorithms: Vec<Algorithm>,

    /// Time every kernel that runs here: some seconds
    #[arg(long)]
    pub bench: bool,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub effort: Effort,
}

/// Without anything to time these have no meaning.
fn is_effort(arg: &clap::Arg) -> bool {
    ["rounds", "time"].iter().any(|name| arg.get_id() == name)
}

const KERNELS_HELP: &str = "\
The columns:
  lanes       messages that one call advances
  here        whether this machine, its operating system included, can run it
  chosen for  the numbers of messages left to do for which this kernel is
              chosen; 5+: five and more. --isa and HASHLOOM_ISA restrict the
              choice, not what is listed or timed
  ns a call   for one block in all lanes, long messages, data in the first
              caches
  M/s         million blocks a second
  / scalar    the ratio of the speeds, this kernel's to that of plain C for one
              message

How is timed:
  All kernels take turns on one thread, --rounds times, and of each the fastest
  round counts. Ratios within one table hold on a busy machine too; figures of
  two runs are compared with care.

Exit status:
  0  listed
  2  wrong usage, or an instruction set that is not available

Examples:
  hashloom kernels
  hashloom kernels --bench --algorithm sha256
  hashloom kernels --isa avx2,sha
  hashloom kernels --bench --json | jq -c '.kernels[] | [.name, .ns_per_call]'";

/// Compare hashloom with OpenSSL, ring and RustCrypto on this machine.
///
/// Hashes many messages of each size, and one alone, with hashloom's choice, with each kernel that runs here, and with
/// other libraries one message after the other: on one thread, data in the caches, context reused where there is one.
#[cfg(feature = "bench")]
#[derive(Debug, Args)]
pub struct Bench {
    /// Time this algorithm; can be given several times; an unknown name lists those that there are
    /// [default: one for each block function]
    #[arg(short, long = "algorithm", value_name = "NAME")]
    pub algorithms: Vec<Algorithm>,

    /// Bytes in a message, such as 41, 16KiB or 1MiB; can be given several times
    #[arg(short, long = "size", value_name = "BYTES", default_values = ["64", "1KiB", "16KiB"])]
    pub sizes: Vec<Size>,

    /// Draw the result as bars into FILE, which is replaced
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    /// Compare with OpenSSL's libcrypto in FILE, version 3 [default: where the system has it]
    #[arg(long, value_name = "FILE")]
    pub libcrypto: Option<PathBuf>,

    #[command(flatten)]
    pub effort: Effort,
}

#[cfg(feature = "bench")]
const BENCH_HELP: &str = "\
What is printed:
  GB/s        10^9 bytes of message a second. Padding takes time but is not
              counted: for SHA-256 a message of 64 bytes is two blocks
  ratio       the speed of hashloom's choice to that of the row: 3.0 is three
              times as fast
  1 x 16 KiB  one message alone, of the greatest size; all lanes of a kernel but
              one are idle
  A library that is not there, or has not this algorithm, says so in its row.

How is timed:
  All rows of a column take turns on one thread, --rounds times, and of each the
  fastest round counts. Then the digests of all are compared: if any differs,
  that is an error, and no figure is shown. Only kernels that --isa and
  HASHLOOM_ISA allow are timed.

Exit status:
  0  timed
  2  wrong usage, wrong digests, or FILE cannot be written

Examples:
  hashloom bench
  hashloom bench --algorithm sha256 --size 41 --size 64
  hashloom bench --svg speed.svg
  hashloom bench --rounds 1 --time 100us          a first look
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
        }
        command.get_subcommands().for_each(check);
    }

    /// clap breaks longer lines once more where the terminal is narrower, which leaves stumps of lines.
    #[test]
    fn help_that_is_broken_into_lines_fits_80_columns() {
        Arguments::command().debug_assert();
        check(&Arguments::command());
    }
}
