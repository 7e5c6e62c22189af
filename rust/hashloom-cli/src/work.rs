// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of every command that reads and hashes files.

use std::num::NonZeroUsize;

use clap::Args;
use hashloom_engine::{files, torrent, tree};

/// How files are read and hashed; no digest depends on it.
#[derive(Debug, Args)]
pub struct Work {
    /// Copy files from the page cache before hashing, instead of mapping them
    #[arg(long)]
    pub no_map: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

impl Work {
    /// Options for the crate's work on torrents.
    pub fn torrent_options<'a>(&self) -> torrent::Options<'a> {
        let options = torrent::Options::default().mapped_with_sigbus_handler(!self.no_map);
        match self.threads {
            Some(threads) => options.threads(threads),
            None => options,
        }
    }

    /// Options for hash trees of files.
    pub fn tree_options<'a>(&self) -> tree::Options<'a> {
        let options = tree::Options::default().mapped_with_sigbus_handler(!self.no_map);
        match self.threads {
            Some(threads) => options.threads(threads),
            None => options,
        }
    }

    /// Options for hashing files as one message each.
    pub fn files_options<'a>(&self) -> files::Options<'a> {
        let options = files::Options::new().mapped_with_sigbus_handler(!self.no_map);
        match self.threads {
            Some(threads) => options.threads(threads.get()),
            None => options,
        }
    }
}
