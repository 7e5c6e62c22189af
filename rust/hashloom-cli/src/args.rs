// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use hashloom_frame::exit::STATUSES;

use crate::address::Address;
use crate::bench::Bench;
use crate::clients::find::Find;
use crate::clients::link::Link;
use crate::clients::verify::Verify;
use crate::generate::Generate;
use crate::isa::Isa;
use crate::kernels::Kernels;
use crate::maker::create::Create;
use crate::maker::edit::Edit;
use crate::manifest::Manifest;
use crate::pow::Pow;
use crate::slh::Slh;
use crate::solaris::digest::Digest;
use crate::solaris::mac::Mac;
use crate::sums::check::Check;
use crate::sums::sum::Sum;
use crate::torrent::show::Show;
use crate::tree::Tree;

/// Check downloads, torrents, backups and folders against their checksums, and make such checksums.
///
/// Many files, pieces and messages are hashed at once, 4, 8 or 16 of them side by side on each core: one SHA-1 or
/// SHA-256 alone keeps a modern CPU mostly idle.
#[derive(Debug, Parser)]
#[command(name = "hashloom", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(override_usage = "hashloom <COMMAND>\n       hashloom <PATH>...", after_help = EXAMPLES,
    after_long_help = format!("{WITHOUT}\n{EXAMPLES}"))]
pub struct Arguments {
    #[command(flatten)]
    pub isa: Isa,

    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  hashloom film.iso           check it against the list beside it, if any
  hashloom sum *.iso > SHA256SUMS
  hashloom check SHA256SUMS";

const WITHOUT: &str = include_str!("help.txt");

impl Arguments {
    /// Reads a command line, which begins with the name of the program. To make the options of all commands takes
    /// longer than to hash a small file: only those of the wanted command are made. Help and errors may tell of other
    /// commands, and come from a second reading.
    pub fn read(words: &[OsString]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(words).or_else(|error| {
            if error.kind() == ErrorKind::DisplayVersion {
                return Err(error);
            }
            let mut whole = Arguments::whole();
            let matches = whole.try_get_matches_from_mut(words)?;
            Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut whole))
        })
    }

    /// The definition of the command line with the options of all commands.
    pub fn whole() -> clap::Command {
        let mut whole = Arguments::command();
        whole.build();
        whole
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
pub enum Command {
    #[command(alias = "hash")]
    Sum(Sum),
    Check(Check),
    /// Record the files of a folder, and later see what has changed
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Manifest {
        #[command(subcommand)]
        command: Manifest,
    },
    /// Work with torrents
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Torrent {
        #[command(subcommand)]
        command: TorrentCommand,
    },
    /// Compute Merkle roots of files: fs-verity, dm-verity, RFC 6962 and others
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Tree {
        #[command(subcommand)]
        command: Tree,
    },
    /// Make keys, and sign and verify files, with signatures that rest on hashes alone: SLH-DSA, FIPS 205
    #[command(arg_required_else_help = true, after_long_help = STATUSES.trim_end())]
    Slh {
        #[command(subcommand)]
        command: Slh,
    },
    Digest(Digest),
    Mac(Mac),
    Address(Address),
    Work(Pow),
    Kernels(Kernels),
    Bench(Bench),
    Generate(Generate),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum TorrentCommand {
    Create(Box<Create>),
    #[command(alias = "check")]
    Verify(Verify),
    Find(Find),
    Link(Link),
    #[command(alias = "info")]
    Show(Show),
    Edit(Edit),
}

#[cfg(test)]
mod tests {
    use hashloom_standins::tips::{TABLE, below, has, rows, words_of};

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
        check(&Arguments::whole());
    }

    /// The commands and options that tips name are there, and what they replace is not.
    #[test]
    fn tips_name_what_there_is() {
        let program = Arguments::whole();
        let find = |path: &str| path.split(' ').try_fold(&program, |command, name| command.find_subcommand(name));
        assert_eq!(rows().count(), TABLE.lines().count());
        for (commands, theirs, ours) in rows() {
            for at in words_of(commands, ", ") {
                let is_whole = matches!(at, "" | "any");
                let command = if is_whole { &program } else { find(at).unwrap() };
                for word in words_of(theirs, " ") {
                    assert!(!has(command, word) && command.find_subcommand(word).is_none(), "{at}: {word} is there");
                }
                let options = ours.split([' ', ',', ';']).filter(|word| word.starts_with("--") && !is_whole);
                for option in options {
                    assert!(below(&program, "").iter().any(|(_, command)| has(command, option)), "{at}: {option}");
                }
            }
            for line in ours.split('`').skip(1).step_by(2).filter_map(|part| part.strip_prefix("hashloom ")) {
                let first = line.split(' ').next().unwrap();
                let is_path = first.starts_with("--") || first.chars().all(|c| c.is_ascii_uppercase());
                let inner = program.find_subcommand(first);
                assert!(is_path || inner.is_some(), "{commands}: {line}");
                let second = line.split(' ').nth(1).unwrap_or_default();
                let is_group = inner.is_some_and(|inner| inner.has_subcommands());
                assert!(!is_group || find(&format!("{first} {second}")).is_some(), "{commands}: {line}");
            }
        }
    }

    /// docs/checksums.md has the table of this file.
    #[test]
    fn the_page_has_all_tips() {
        let page = include_str!("../../../docs/checksums.md");
        assert!(page.contains(TABLE), "docs/checksums.md lacks the lines of tips.md");
    }
}
