// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest diff`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use hashloom_list::manifest::{Comparison, Difference};

use super::report::{Done, Format, Printer, STATES, SignedBy};
use super::signature::Trusted;
use super::{Opened, check, name, open};
use crate::exit::EXIT_INCOMPLETE;
use crate::output;

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

    /// Check the signatures of both manifests first, OLD.minisig and NEW.minisig, by this public key of minisign: a file,
    /// or the key itself in base64; or those of OLD.slhsig and NEW.slhsig, by one of SLH-DSA. If one is missing or wrong,
    /// that is an error
    #[arg(long, value_name = "KEY")]
    trusted_key: Option<PathBuf>,

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
  2  wrong usage, a manifest that cannot be read, or a signature that is missing
     or wrong

Examples:
  hashloom manifest diff 2024.manifest 2025.manifest
  hashloom manifest diff 2025-01-01.gz 2025-02-01.zst
  ssh backup hashloom manifest write /srv | hashloom manifest diff srv -
  hashloom manifest diff 2024 2025 --trusted-key minisign.pub
  hashloom manifest diff a b --json | jq 'select(.status==\"rotted\").path'"
    )
}

/// Returns the exit status.
pub fn run(arguments: &Diff) -> Result<u8, String> {
    if arguments.old.as_os_str() == "-" && arguments.new.as_os_str() == "-" {
        return Err("standard input can be read only once: name OLD or NEW, or give both as pipes, as in <(...)".into());
    }
    // Both signatures are looked at before anything else.
    let trusted = |manifest: &PathBuf| {
        let trusted = |key| Trusted::beside(key, manifest);
        arguments.trusted_key.as_deref().map(trusted).transpose()
    };
    let (of_old, of_new) = (trusted(&arguments.old)?, trusted(&arguments.new)?);
    let opened = |manifest: &PathBuf, trusted: Option<&Trusted>| {
        open(manifest, trusted, None, arguments.format.quiet, |_| Ok(()))
    };
    let (Opened { reader: old, signed: old_signed, .. }, Opened { reader: new, signed: new_signed, .. }) =
        (opened(&arguments.old, of_old.as_ref())?, opened(&arguments.new, of_new.as_ref())?);
    let signed = old_signed.zip(new_signed).map(|(old, new)| SignedBy::Signatures { old, new });
    if let (Some(SignedBy::Signatures { old, new }), true) = (&signed, arguments.format.is_text()) {
        let (old_name, new_name) = (name(&arguments.old), name(&arguments.new));
        output::print(|out| writeln!(out, "{old_name}: {}\n{new_name}: {}", old.line(), new.line()))?;
    }
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
    printer.end(&counts, &Done { read: None, held_back: None, interrupted: false, covered: None, signed })?;
    Ok(if counts.has_differences() { EXIT_INCOMPLETE } else { 0 })
}
