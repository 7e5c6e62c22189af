// SPDX-License-Identifier: MIT OR Apache-2.0

//! Known digests, read from lists, to choose files by them.
//!
//! The digests are rows of one sorted vector: 10 million of SHA-256 take 305 MiB, and a look-up takes 24 comparisons. A
//! hash set would take twice the memory to save a fraction of the time of hashing a file.

use std::path::{Path, PathBuf};

use hashloom::Algorithm;
use hashloom_engine::list::{Parser, decoded};
use hashloom_engine::paths::portable;

use super::lines::{self, Length};
use super::text_lines::{Parsed, parse};
use crate::input;
use crate::quote::quoted;
use crate::text::{display, reason};
use crate::units::plural;

type Has = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Digests of one algorithm, and whether files that have them are wanted, or all others.
pub struct Known {
    has: Box<Has>,
    wants: bool,
    /// Messages about lines that are not checksums.
    pub warnings: Vec<Vec<u8>>,
}

impl Known {
    /// Reads the digests of one algorithm.
    pub fn read(lists: &[PathBuf], algorithm: Algorithm, wants: bool) -> Result<Known, String> {
        let mut warnings = Vec::new();
        let has = match algorithm.digest_nbytes() {
            16 => rows::<16>(lists, algorithm, &mut warnings),
            20 => rows::<20>(lists, algorithm, &mut warnings),
            28 => rows::<28>(lists, algorithm, &mut warnings),
            32 => rows::<32>(lists, algorithm, &mut warnings),
            48 => rows::<48>(lists, algorithm, &mut warnings),
            64 => rows::<64>(lists, algorithm, &mut warnings),
            nbytes => Err(format!("lists of digests of {nbytes} bytes are unknown")),
        };
        Ok(Known { has: has?, wants, warnings })
    }

    /// Returns true if files with this digest are wanted.
    pub fn wants(&self, digest: &[u8]) -> bool {
        (self.has)(digest) == self.wants
    }
}

/// Reads digests of `N` bytes.
fn rows<const N: usize>(
    lists: &[PathBuf],
    algorithm: Algorithm,
    warnings: &mut Vec<Vec<u8>>,
) -> Result<Box<Has>, String> {
    let mut rows: Vec<[u8; N]> = Vec::new();
    for list in lists {
        let nrows = rows.len();
        let nbad = each(list, algorithm, |digest| rows.extend(<[u8; N]>::try_from(digest).ok()))?;
        if rows.len() == nrows {
            return Err(format!("{}: there is no digest of {algorithm}. --algorithm names another", display(list)));
        }
        if nbad > 0 {
            let are = if nbad == 1 { "is" } else { "are" };
            let message = format!(": WARNING: {} {are} improperly formatted", plural(nbad, "line"));
            warnings.push([&quoted(&portable(list))[..], message.as_bytes()].concat());
        }
    }
    rows.sort_unstable();
    rows.dedup();
    Ok(Box::new(move |digest| rows.binary_search_by(|row| row[..].cmp(digest)).is_ok()))
}

/// Calls `each` with the digests of a list. Returns the number of lines that are not checksums.
fn each(list: &Path, algorithm: Algorithm, mut each: impl FnMut(&[u8])) -> Result<u64, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", display(list));
    let mut reader = input::open(list).and_then(decoded).map_err(|error| failed(&reason(&error)))?;
    let mut parser = Parser::untagged(&[algorithm]);
    let (mut line, mut nbad) = (Vec::new(), 0);
    while let Some(length) = lines::next(&mut reader, b'\n', &mut line).map_err(|error| failed(&reason(&error)))? {
        match parse(&mut parser, &line) {
            Parsed::Entry(entry) if length == Length::Fits => {
                let digests = entry.digests.iter().filter(|(of, _)| *of == algorithm);
                digests.for_each(|(_, digest)| each(digest.as_ref()));
            }
            Parsed::Manifest => return Err(failed(&"expected a list of checksums, found a manifest")),
            Parsed::Blank => {}
            _ => nbad += 1,
        }
    }
    Ok(nbad)
}
