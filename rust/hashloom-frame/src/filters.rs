// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of every command that takes some of the files below a folder.

use clap::Args;
use hashloom_files::walk::Filter;

use crate::numbers::Nbytes;

/// The files that are taken, by their names.
#[derive(Debug, Clone, Args)]
pub struct Globs {
    /// Take only files that match; can be given several times
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Leave out files and folders that match, even if included; can be given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
}

impl Globs {
    pub fn filter(&self) -> Result<Filter, String> {
        Filter::new(&self.include, &self.exclude).map_err(|error| error.to_string())
    }

    /// The filter with further globs, all of which then match in any case.
    pub fn filter_with(&self, include: &[String], exclude: &[String]) -> Result<Filter, String> {
        let all = Globs { include: [&self.include, include].concat(), exclude: [&self.exclude, exclude].concat() };
        Ok(all.filter()?.in_any_case())
    }
}

/// The files that are taken, by their names and lengths.
#[derive(Debug, Clone, Args)]
pub struct Filters {
    #[command(flatten)]
    globs: Globs,

    /// Leave out files shorter than BYTES, such as 1 or 64KiB
    #[arg(long, value_name = "BYTES")]
    min_size: Option<Nbytes>,

    /// Leave out files longer than BYTES, such as 4096 or 1GiB
    #[arg(long, value_name = "BYTES")]
    max_size: Option<Nbytes>,
}

impl Filters {
    /// Returns true if any of the options was given.
    pub fn are_given(&self) -> bool {
        let Filters { globs: Globs { include, exclude }, min_size, max_size } = self;
        !include.is_empty() || !exclude.is_empty() || min_size.is_some() || max_size.is_some()
    }

    pub fn filter(&self) -> Result<Filter, String> {
        let least = self.min_size.map_or(0, |Nbytes(least)| least);
        let most = self.max_size.map_or(u64::MAX, |Nbytes(most)| most);
        if least > most {
            return Err(format!("--min-size {least} is more than --max-size {most}: no file has such a length"));
        }
        self.globs.filter()?.lengths(least..=most).map_err(|error| error.to_string())
    }
}
