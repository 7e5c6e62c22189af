// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints the checksums of files, for each front end.

use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use hashloom::Algorithm;
use hashloom_files::run::Options;
use hashloom_files::{Event, FileError, Hashed, Method, Request, Source, Step, hash_steps};
use hashloom_frame::output::Identity;
use hashloom_frame::printing::Console;
use hashloom_frame::quote::quoted;
use hashloom_frame::stdio;
use hashloom_frame::text::reason;

use super::format::{Format, name};
use super::front::End;
use super::known::Known;

/// An item to sum.
pub enum Item {
    /// A file that the user has named.
    File(Source),
    /// A file that was found in a folder, or whose name comes from a file of names.
    Found(Source),
    /// Something that the user has named, with a name that the source does not have.
    Named(Source, Vec<u8>),
    /// A message about something that cannot be summed, printed in its place.
    Trouble(Vec<u8>),
}

/// Returns the source of a name on a command line; `-` is standard input.
pub fn source(path: PathBuf) -> Source {
    if path.as_os_str() != "-" {
        return Source::Path(path);
    }
    stdio::want_stdin();
    Source::Stdin
}

/// Returns the number of bytes to read now, for a progress bar, or `None` if nobody knows, as of a pipe. A file that
/// cannot be read has 0.
pub fn nbytes_of(source: &Source) -> Option<u64> {
    let Source::Path(path) = source else { return None };
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => Some(metadata.len()),
        Ok(metadata) if !metadata.is_dir() => None,
        _ => Some(0),
    }
}

/// What a source alone does not say.
struct Tag {
    /// Whether the user has named the file.
    is_named: bool,
    /// The name, if the source has none.
    name: Option<Vec<u8>>,
}

impl Tag {
    fn name<'a>(&'a self, source: &'a Source) -> Cow<'a, [u8]> {
        self.name.as_deref().map_or_else(|| name(source), Cow::Borrowed)
    }
}

/// Sums files.
pub struct Summer<'a> {
    pub algorithms: &'a [Algorithm],
    /// If given, what is computed instead of the digest of the one algorithm.
    pub method: Option<Method>,
    pub format: Format<'a>,
    /// Appended to the message that a path is a folder.
    pub folder_hint: &'static str,
    /// The file that standard output is, which is not summed: its digest would not be that of the finished file.
    pub output: Option<Identity>,
    /// If given, only files that have a digest that is wanted are printed; then the end tells whether there was one.
    pub known: Option<&'a Known>,
    pub options: &'a Options,
    pub console: &'a Console<'a>,
}

impl Summer<'_> {
    pub fn sum(&self, items: impl Iterator<Item = Item> + Send) -> End {
        let Summer { algorithms, format, known, output, console, .. } = *self;
        let methods: Arc<[Method]> = match &self.method {
            Some(method) => [method.clone()].into(),
            None => algorithms.iter().map(|&algorithm| algorithm.into()).collect(),
        };
        let hash = |source, tag| Step::Hash(Request { source, methods: Arc::clone(&methods), tag });
        let steps = items.map(|item| match item {
            Item::File(source) => hash(source, Tag { is_named: true, name: None }),
            Item::Found(source) => hash(source, Tag { is_named: false, name: None }),
            Item::Named(source, name) => hash(source, Tag { is_named: true, name: Some(name) }),
            Item::Trouble(message) => Step::Note(message),
        });
        if let Format::Form(form) = format {
            console.print(|lines| lines.extend_from_slice(form.head.as_bytes()));
        }
        let (mut end, mut has_printed) = (End::Right, false);
        let mut tell = |message: &[u8], why: End| {
            end = end.and(why);
            console.message(message);
        };
        let is_output = |source: &Source, result: &Result<Hashed, FileError>| {
            let is_it = |output: Identity| match (result, source) {
                (Ok(Hashed { stamp, .. }), _) => stamp.is_some_and(|stamp| Identity::from(&stamp) == output),
                // Each line that is printed changes the file.
                (Err(_), Source::Path(path)) => output.is_at(path),
                _ => false,
            };
            output.is_some_and(is_it)
        };
        let is_done = hash_steps(steps, self.options, |event| match event {
            Event::Hashed(Request { source, tag, .. }, result) if is_output(&source, &result) => {
                let message = [&quoted(&tag.name(&source))[..], b": it is the output itself, and left out"].concat();
                tell(&message, End::of(!tag.is_named));
            }
            Event::Hashed(_, Ok(hashed)) if known.is_some_and(|known| !known.wants(&hashed.digests)) => {}
            Event::Hashed(request, Ok(hashed)) => {
                has_printed = true;
                let name = request.tag.name(&request.source);
                let mut is_written = true;
                console.print(|lines| is_written = format.write(lines, algorithms, &name, &hashed));
                if !is_written {
                    tell(&[&quoted(&name)[..], b": this form of lists cannot have the name"].concat(), End::Wrong);
                }
            }
            Event::Hashed(request, Err(error)) => {
                let mut message = trouble(&request.tag.name(&request.source), error.io());
                if error.io().kind() == ErrorKind::IsADirectory {
                    message.extend_from_slice(self.folder_hint.as_bytes());
                }
                let is_unstable = matches!(error, FileError::Unstable(_));
                tell(&message, if is_unstable { End::Unstable } else { End::Wrong });
            }
            Event::Note(message) => tell(&message, End::Wrong),
        });
        match (known, end) {
            _ if !is_done => End::Cancelled,
            (Some(known), End::Right) if !known.is_partial => End::of(has_printed),
            // The status is grep's: an error is not mistaken for no match.
            (Some(_), _) => End::Unstable,
            (None, end) => end,
        }
    }
}

/// Formats `<name>: <why>`.
pub fn trouble(name: &[u8], error: &io::Error) -> Vec<u8> {
    [&quoted(name)[..], b": ", reason(error).to_string().as_bytes()].concat()
}
