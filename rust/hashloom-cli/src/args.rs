// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Hash many things at once.
///
/// One SHA-1 or SHA-256 keeps a modern CPU mostly idle. hashloom hashes 4, 8 or 16 messages side by side, on every core.
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
pub enum Command {
    /// Work with torrents
    #[command(arg_required_else_help = true)]
    Torrent {
        #[command(subcommand)]
        command: TorrentCommand,
    },
}

#[derive(Debug, Subcommand)]
pub enum TorrentCommand {
    #[command(after_long_help = VERIFY_HELP)]
    Verify(Verify),
}

/// Check files on disk against a torrent.
///
/// Reads every piece, compares its SHA-1 with the torrent's, and says which pieces are right, missing or bad. Nothing on
/// disk is changed but the FILE of --bitfield. Torrents of version 1 are checked; version 2 and hybrid ones are not
/// supported yet.
#[derive(Debug, Args)]
pub struct Verify {
    /// The .torrent file
    #[arg(value_name = "TORRENT")]
    pub torrent: PathBuf,

    /// The folder that holds the content (a client's download folder), or the content itself
    #[arg(value_name = "PATH", default_value = ".")]
    pub path: PathBuf,

    /// List the pieces that are not right and the files they touch
    #[arg(long)]
    pub missing: bool,

    /// Draw the pieces
    #[arg(long)]
    pub map: bool,

    /// Print everything as one JSON object instead
    #[arg(long, conflicts_with_all = ["missing", "map"])]
    pub json: bool,

    /// Write the pieces that are right to FILE, one bit each, in the order of BitTorrent's bitfield message; FILE is
    /// replaced, but never if it is the torrent or a file of its content
    #[arg(long, value_name = "FILE")]
    pub bitfield: Option<PathBuf>,

    /// Print errors only; the exit status tells the result
    #[arg(short, long, conflicts_with_all = ["missing", "map", "json"])]
    pub quiet: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

const VERIFY_HELP: &str = "\
Where the content is looked for:
  A torrent of one file:     PATH itself if it is a file; else PATH/name.
  A torrent of a folder:     PATH/name if that is a folder; else PATH itself, if any of the files is
                             there. If PATH/name is a folder and PATH has more of the first 100
                             files than it has, PATH.
  `name` is the name in the torrent. PATH may be a symbolic link. Links below PATH are followed as
  long as they stay below PATH.

What counts:
  missing    a file that the piece has bytes of is not there or too short
  bad        all bytes are there, but they are not the right ones
  unread     a file that the piece has bytes of cannot be opened or read
  A file that is too long is mentioned; its pieces are judged as they are. Padding files (BEP 47)
  are zeros and need not exist. Symbolic links that a torrent describes are not checked.

Exit status:
  0  complete: all pieces are right and all files there
  1  a piece or file is missing or bad
  2  wrong usage, a bad torrent, or a file that could not be read

Examples:
  hashloom torrent verify debian.torrent ~/Downloads
  hashloom torrent verify debian.torrent ~/Downloads/debian-13.iso --map
  hashloom torrent verify album.torrent /srv/music --missing
  hashloom torrent verify album.torrent /srv/music --json | jq .percent";
