// SPDX-License-Identifier: MIT OR Apache-2.0

//! Known digests, read from lists, to choose files by them.
//!
//! The digests are rows of one sorted vector: 10 million of SHA-256 take 305 MiB, and a look-up takes 24 comparisons. A
//! hash set would take twice the memory to save a fraction of the time of hashing a file.

use std::path::{Path, PathBuf};

use hashloom::Algorithm;
use hashloom_files::paths::portable;
use hashloom_list::Parser;

use super::text_lines::{Grammar, Lines, Parsed};
use crate::input;
use crate::quote::quoted;
use crate::text::{display, reason};
use crate::units::plural;

type Has = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Digests of one algorithm, and whether files that have them are wanted, or all others.
pub struct Known {
    has: Box<Has>,
    wants: bool,
    /// Messages about lines that are not checksums, and about those that were not compared.
    pub warnings: Vec<Vec<u8>>,
    /// Whether lists name digests that are not compared, so that a file may be known all the same.
    pub is_partial: bool,
}

impl Known {
    /// Reads the digests of one algorithm.
    pub fn read(lists: &[PathBuf], algorithm: Algorithm, wants: bool) -> Result<Known, String> {
        let mut known = Known { has: Box::new(|_| false), wants, warnings: Vec::new(), is_partial: false };
        known.has = match algorithm.digest_nbytes() {
            16 => known.rows::<16>(lists, algorithm),
            20 => known.rows::<20>(lists, algorithm),
            28 => known.rows::<28>(lists, algorithm),
            32 => known.rows::<32>(lists, algorithm),
            48 => known.rows::<48>(lists, algorithm),
            64 => known.rows::<64>(lists, algorithm),
            nbytes => Err(format!("lists of digests of {nbytes} bytes are unknown")),
        }?;
        Ok(known)
    }

    /// Returns true if files with this digest are wanted.
    pub fn wants(&self, digest: &[u8]) -> bool {
        (self.has)(digest) == self.wants
    }

    /// Reads digests of `N` bytes.
    fn rows<const N: usize>(&mut self, lists: &[PathBuf], algorithm: Algorithm) -> Result<Box<Has>, String> {
        let mut rows: Vec<[u8; N]> = Vec::new();
        for list in lists {
            let nrows = rows.len();
            let others = each(list, algorithm, |digest| rows.extend(<[u8; N]>::try_from(digest).ok()))?;
            if rows.len() == nrows {
                return Err(format!("{}: there is no digest of {algorithm}. --algorithm names another", display(list)));
            }
            let mut warn = |message: String| {
                self.warnings.push([&quoted(&portable(list))[..], b": ", message.as_bytes()].concat());
            };
            let lines = |count| format!("{} {}", plural(count, "line"), if count == 1 { "is" } else { "are" });
            if others.nbad > 0 {
                warn(format!("WARNING: {} improperly formatted", lines(others.nbad)));
            }
            if let Some((number, why)) = others.first_left_out {
                warn(format!("{number}: not compared: {why}"));
                warn(format!("WARNING: {} not compared: a file may be known all the same", lines(others.nleft_out)));
                self.is_partial = true;
            }
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(Box::new(move |digest| rows.binary_search_by(|row| row[..].cmp(digest)).is_ok()))
    }
}

/// The lines of a list that have no digest to compare.
#[derive(Default)]
struct Others {
    /// Lines that are not checksums.
    nbad: u64,
    /// Lines that name other digests only.
    nleft_out: u64,
    /// The number of the first of these, and why.
    first_left_out: Option<(u64, String)>,
}

impl Others {
    fn leave_out(&mut self, number: u64, why: String) {
        self.nleft_out += 1;
        self.first_left_out.get_or_insert((number, why));
    }
}

/// Calls `each` with the digests of a list.
fn each(list: &Path, algorithm: Algorithm, mut each: impl FnMut(&[u8])) -> Result<Others, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", display(list));
    let grammar = &mut Grammar::Any(Parser::untagged(&[algorithm]));
    let begun = input::raw(list).and_then(|input| Lines::begin_file(input, list, grammar));
    let mut lines = begun.map_err(|error| failed(&reason(&error)))?;
    let mut others = Others::default();
    // A file may have a line for each algorithm: the number of its first line, and whether one was of this algorithm.
    let (mut name, mut first, mut is_compared) = (Vec::new(), 0, true);
    let lacks = || format!("there is no digest of {algorithm} beside it");
    loop {
        let next = lines.next(grammar).map_err(|error| failed(&reason(&error)))?;
        let Some((parsed, _)) = next else { break };
        match parsed {
            // A length.
            Parsed::Entry(entry) if entry.digests.is_empty() && entry.crcs.is_empty() => {}
            Parsed::Entry(entry) => {
                let digests = entry.digests.iter().filter(|(of, _)| *of == algorithm);
                let is_it = digests.map(|(_, digest)| each(digest.as_ref())).count() > 0;
                if *entry.name == *name {
                    is_compared |= is_it;
                    continue;
                }
                name = entry.name.into_owned();
                if !std::mem::replace(&mut is_compared, is_it) {
                    others.leave_out(first, lacks());
                }
                first = lines.number;
            }
            Parsed::Manifest => return Err(failed(&"expected a list of checksums, found a manifest")),
            Parsed::Blank => {}
            Parsed::Unread(why) => others.leave_out(lines.number, why),
            Parsed::Bad(_) => others.nbad += 1,
        }
    }
    if !is_compared {
        others.leave_out(first, lacks());
    }
    Ok(others)
}
