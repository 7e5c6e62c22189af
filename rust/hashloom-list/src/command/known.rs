// SPDX-License-Identifier: MIT OR Apache-2.0

//! Known digests, read from lists, to choose files by them.
//!
//! The digests are rows of one sorted vector: 10 million of SHA-256 take 305 MiB, and a look-up takes 24 comparisons. A
//! hash set would take twice the memory to save a fraction of the time of hashing a file.

use std::path::{Path, PathBuf};

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::portable;
use hashloom_frame::input;
use hashloom_frame::quote::quoted;
use hashloom_frame::text::{display, reason};
use hashloom_frame::units::plural;

use super::text_lines::{Lines, Parsed};
use crate::Parser;

/// The digests of one algorithm, of as many bytes each.
trait Rows: Send + Sync {
    fn push(&mut self, digest: &[u8]);
    fn sort(&mut self);
    fn has(&self, digest: &[u8]) -> bool;
}

impl<const N: usize> Rows for Vec<[u8; N]> {
    fn push(&mut self, digest: &[u8]) {
        self.extend(<[u8; N]>::try_from(digest).ok());
    }

    fn sort(&mut self) {
        self.sort_unstable();
        self.dedup();
    }

    fn has(&self, digest: &[u8]) -> bool {
        self.binary_search_by(|row| row[..].cmp(digest)).is_ok()
    }
}

/// Digests of some algorithms, and whether files that have one of them are wanted, or all others.
pub struct Known {
    /// Those of each algorithm.
    rows: Vec<Box<dyn Rows>>,
    wants: bool,
    /// Messages about lines that are not checksums, and about those that were not compared.
    pub warnings: Vec<Vec<u8>>,
    /// Whether lists name digests that are not compared, so that a file may be known all the same.
    pub is_partial: bool,
}

impl Known {
    /// Reads the digests of these algorithms.
    pub fn read(lists: &[PathBuf], algorithms: &[Algorithm], wants: bool) -> Result<Known, String> {
        let rows = |algorithm: &Algorithm| -> Result<Box<dyn Rows>, String> {
            Ok(match algorithm.digest_nbytes() {
                16 => Box::new(Vec::<[u8; 16]>::new()),
                20 => Box::new(Vec::<[u8; 20]>::new()),
                28 => Box::new(Vec::<[u8; 28]>::new()),
                32 => Box::new(Vec::<[u8; 32]>::new()),
                48 => Box::new(Vec::<[u8; 48]>::new()),
                64 => Box::new(Vec::<[u8; 64]>::new()),
                nbytes => return Err(format!("lists of digests of {nbytes} bytes are unknown")),
            })
        };
        let rows = algorithms.iter().map(rows).collect::<Result<_, _>>()?;
        let mut known = Known { rows, wants, warnings: Vec::new(), is_partial: false };
        for list in lists {
            known.add(list, algorithms)?;
        }
        known.rows.iter_mut().for_each(|rows| rows.sort());
        Ok(known)
    }

    /// Returns true if files with these digests are wanted, one of each algorithm.
    pub fn wants(&self, digests: &[Hash]) -> bool {
        self.rows.iter().zip(digests).any(|(rows, digest)| rows.has(digest.as_ref())) == self.wants
    }

    fn add(&mut self, list: &Path, algorithms: &[Algorithm]) -> Result<(), String> {
        let mut is_empty = true;
        let others = each(list, algorithms, |index, digest| {
            is_empty = false;
            self.rows[index].push(digest);
        })?;
        if is_empty {
            let names = names(algorithms);
            return Err(format!("{}: there is no digest of {names}. --algorithm names another", display(list)));
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
        Ok(())
    }
}

fn names(algorithms: &[Algorithm]) -> String {
    algorithms.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(" or ")
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

/// Calls `each` with the digests of a list, and the numbers of their algorithms.
fn each(list: &Path, algorithms: &[Algorithm], mut each: impl FnMut(usize, &[u8])) -> Result<Others, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", display(list));
    let parser = &mut Parser::untagged(algorithms);
    let begun = input::raw(list).and_then(|input| Lines::begin_file(input, list, parser));
    let mut lines = begun.map_err(|error| failed(&reason(&error)))?;
    let mut others = Others::default();
    // A file may have a line for each algorithm: the number of its first line, and whether one is of those asked for.
    let (mut name, mut first, mut is_compared) = (Vec::new(), 0, true);
    let lacks = || format!("there is no digest of {} beside it", names(algorithms));
    loop {
        let next = lines.next(parser).map_err(|error| failed(&reason(&error)))?;
        let Some(parsed) = next else { break };
        match parsed {
            // A length.
            Parsed::Entry(entry) if entry.digests.is_empty() && entry.crcs.is_empty() => {}
            Parsed::Entry(entry) => {
                let index = |of| algorithms.iter().position(|algorithm| *algorithm == of);
                let digests = entry.digests.iter().filter_map(|(of, digest)| Some((index(*of)?, digest)));
                let is_it = digests.map(|(index, digest)| each(index, digest.as_ref())).count() > 0;
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
