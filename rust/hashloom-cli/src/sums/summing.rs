// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints the checksums of files, for whichever front end.

use std::path::PathBuf;
use std::sync::Arc;

use hashloom::Algorithm;
use hashloom::files::{Method, Options, Request, Source};

use super::console::Console;
use super::drive::{Event, Step, drive};
use super::format::{Format, name};
use super::quote::quoted;

/// What is to be summed.
pub enum Item {
    File(Source),
    /// A message in its place, of something that cannot be summed.
    Trouble(Vec<u8>),
}

/// A name on a command line, where `-` is standard input.
pub fn source(path: PathBuf) -> Source {
    if path.as_os_str() == "-" { Source::Stdin } else { Source::Path(path) }
}

/// What came of it.
pub struct Summed {
    /// All could be read.
    pub is_right: bool,
    /// It did not come to its end.
    pub is_cancelled: bool,
}

pub fn sum(
    items: impl Iterator<Item = Item> + Send,
    algorithms: &[Algorithm],
    format: Format,
    options: &Options<'_>,
    console: &Console<'_>,
) -> Summed {
    let methods: Arc<[Method]> = algorithms.iter().map(|&algorithm| algorithm.into()).collect();
    let steps = items.map(|item| match item {
        Item::File(source) => Step::Hash(Request { source, methods: Arc::clone(&methods), tag: () }),
        Item::Trouble(message) => Step::Note(message),
    });
    let mut is_right = true;
    let is_done = drive(steps, options, |event| match event {
        Event::Hashed(request, Ok(hashed)) => {
            console.print(|lines| format.write(lines, algorithms, &request.source, &hashed));
        }
        Event::Hashed(request, Err(error)) => {
            is_right = false;
            console.message(&trouble(name(&request.source), error.io()));
        }
        Event::Note(message) => {
            is_right = false;
            console.message(&message);
        }
    });
    Summed { is_right, is_cancelled: !is_done }
}

/// `<name>: <why>`
pub fn trouble(name: &[u8], error: &std::io::Error) -> Vec<u8> {
    [&quoted(name)[..], b": ", reason(error).as_bytes()].concat()
}

/// What the system says, without the number that Rust adds.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})"));
    let stripped = number.and_then(|number| text.strip_suffix(&number)).map(str::to_owned);
    stripped.unwrap_or(text)
}
