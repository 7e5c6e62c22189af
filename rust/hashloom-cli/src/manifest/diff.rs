// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest diff`.

use std::path::PathBuf;

use clap::Args;
use hashloom_engine::manifest::{Comparison, Difference};

use super::report::{Done, Format, Printer, STATES};
use super::{Opened, check, name, open};
use crate::EXIT_INCOMPLETE;

/// Compare two manifests without reading files.
#[derive(Debug, Args)]
#[command(after_long_help = help())]
pub struct Diff {
    /// The older manifest, as it is or compressed by gzip or zstd; - is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The newer manifest. Both must have digests of at least one common algorithm
    #[arg(value_name = "NEW")]
    new: PathBuf,

    #[command(flatten)]
    format: Format,
}

fn help() -> String {
    format!(
        "\
{STATES}

An entry that only one manifest has, and that the filters of the other leave
out, is no difference.

Exit status:
  0  no difference
  1  differences
  2  wrong usage, or a manifest that cannot be read

Examples:
  hashloom manifest diff 2024.manifest 2025.manifest
  hashloom manifest diff 2025-01-01.gz 2025-02-01.zst
  ssh backup hashloom manifest write /srv | hashloom manifest diff srv -
  hashloom manifest diff a b --json | jq 'select(.status==\"rotted\").path'"
    )
}

/// Returns the exit status.
pub fn run(arguments: &Diff) -> Result<u8, String> {
    if arguments.old.as_os_str() == "-" && arguments.new.as_os_str() == "-" {
        return Err("standard input can be read only once: name OLD or NEW, or give both as pipes, as in <(...)".into());
    }
    let any = |_: &_| Ok(());
    let (Opened { reader: old, .. }, Opened { reader: new, .. }) =
        (open(&arguments.old, arguments.format.quiet, any)?, open(&arguments.new, arguments.format.quiet, any)?);
    let (of_old, of_new) = (old.algorithms().to_vec(), new.algorithms().to_vec());
    let filters = (old.wanted().clone(), new.wanted().clone());
    let comparison = Comparison::new(old, &of_old, &of_new).ok_or_else(|| {
        let (old, new) = (name(&arguments.old), name(&arguments.new));
        format!("{old} has digests of {}, {new} of {}: none in common", check::names(&of_old), check::names(&of_new))
    })?;
    let mut comparison = comparison.filters(filters.0, filters.1);
    let mut printer = Printer::new(&arguments.format, [&of_old, &of_new]);
    let mut failed = None;
    let mut each = |difference: Difference| {
        if let Err(message) = printer.difference(&difference, None) {
            failed.get_or_insert(message);
        }
    };
    let of_old = |error| format!("{}: {error}", name(&arguments.old));
    for entry in new {
        let entry = entry.map_err(|error| format!("{}: {error}", name(&arguments.new)))?;
        comparison.found(entry, &mut each).map_err(of_old)?;
    }
    let counts = comparison.finish(&mut each).map_err(of_old)?;
    if let Some(message) = failed {
        return Err(message);
    }
    printer.end(&counts, &Done { read: None, held_back: None, interrupted: false, covered: None })?;
    Ok(if counts.has_differences() { EXIT_INCOMPLETE } else { 0 })
}
