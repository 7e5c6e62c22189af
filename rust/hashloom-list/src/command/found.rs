// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lists in a folder that somebody wants to check.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hashloom_files::paths::portable;
use hashloom_frame::quote::quoted;
use hashloom_frame::text::{display, failed};
use hashloom_frame::units::plural;

use super::text_lines::{Lines, Parsed};
use crate::{Entry, Form, Parser};

/// A list is recognised by as many bytes.
const FIRST_NBYTES: u64 = 64 << 10;

/// Tells which files of a folder are lists, and how to check them.
pub fn told(folder: &Path, parser: &Parser) -> Vec<u8> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) => return failed(folder, &error).into_bytes(),
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort_unstable();
    let parser = &mut parser.clone();
    let found: Vec<_> = paths.iter().filter_map(|path| Some((path, of_list(path, parser, |_| ())?))).collect();
    let mut text = format!("{}: expected a list of checksums, found a folder", display(folder)).into_bytes();
    if found.is_empty() {
        text.extend_from_slice(b" without lists; `hashloom manifest` records and checks whole folders");
        return text;
    }
    text.extend_from_slice(b" with these lists:");
    let mut command = b"\ncheck them: hashloom check --relative-to-list".to_vec();
    for (path, (form, nentries)) in found {
        let name = &*portable(path);
        let told = format!(": {} as {}", plural(nentries, "entry"), form.line).replace("entrys", "entries");
        text.extend_from_slice(&[b"\n  ", &quoted(name)[..], told.as_bytes()].concat());
        command.extend_from_slice(&[b" ", &quoted(name)[..]].concat());
    }
    [text, command].concat()
}

/// The form of a list and the number of its entries; `each` sees them. `None` if it is no list. Of a long file that
/// does not begin as a list, the rest is not read.
pub fn of_list(path: &Path, parser: &mut Parser, each: impl FnMut(&Entry<'_>)) -> Option<(&'static Form, u64)> {
    let open = || File::open(path).ok();
    if path.metadata().ok()?.len() > FIRST_NBYTES {
        entries(open()?.take(FIRST_NBYTES), path, parser, |_| ())?;
    }
    entries(open()?, path, parser, each)
}

fn entries(
    list: impl Read + Send + 'static,
    path: &Path,
    parser: &mut Parser,
    mut each: impl FnMut(&Entry<'_>),
) -> Option<(&'static Form, u64)> {
    let mut lines = Lines::begin(list, path, parser).ok()?;
    let (mut nentries, mut nothers, mut form) = (0, 0, None);
    // The check tells of what cannot be read.
    while let Ok(Some(parsed)) = lines.next(parser) {
        match parsed {
            Parsed::Entry(entry) => {
                nentries += 1;
                each(&entry);
            }
            Parsed::Bad(_) => nothers += 1,
            Parsed::Manifest => return None,
            Parsed::Blank | Parsed::Unread(_) => {}
        }
        form = parser.form().or(form);
    }
    form.filter(|_| nentries > nothers).map(|form| (form, nentries))
}
