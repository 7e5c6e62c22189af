// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of every command that reads and hashes files.

use std::num::NonZeroUsize;

use clap::Args;
use hashloom_engine::run::Options;

use crate::numbers::from_one;

/// How files are read and hashed; no digest depends on it.
#[derive(Debug, Args)]
pub struct Work {
    /// Copy files from the page cache before hashing, instead of mapping them
    #[arg(long)]
    pub no_map: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub threads: Option<NonZeroUsize>,
}

impl Work {
    /// Options for the engine.
    pub fn options(&self) -> Options {
        Options::new().mapped_with_sigbus_handler(!self.no_map).threads(self.threads.map_or(0, NonZeroUsize::get))
    }
}
