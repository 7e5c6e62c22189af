// SPDX-License-Identifier: MIT OR Apache-2.0

//! Formats checksums as lines: GNU's, BSD's, JSON.

use std::borrow::Cow;

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::portable;
use hashloom_files::{Hashed, Source};
use hashloom_frame::json::{Hex, Named};
use hashloom_frame::quote::for_terminal;
use serde::{Serialize, Serializer};

use super::verdict::json_line;
use crate::{Writer, Written};

/// Appends the line of a name and a digest.
pub type Write<'a> = dyn Fn(&mut Vec<u8>, &[u8], &Hash) + Sync + 'a;

/// How a checksum is written.
#[derive(Clone, Copy)]
pub enum Format<'a> {
    Lines(Writer),
    /// Lines for a person: a name that could steer the terminal is quoted.
    Terminal(Writer),
    Json,
    /// The lines of another form of lists.
    Form(&'static Written),
    /// As a function appends it.
    Own(&'a Write<'a>),
}

/// JSON of `sum`: one object for each file that could be read, in the order of the arguments.
#[derive(Serialize)]
struct Object<'a> {
    /// The file as given, or found by `--recursive`; `-` is standard input.
    #[serde(flatten)]
    path: Named<'a>,
    /// Bytes hashed.
    length: u64,
    /// A digest for each algorithm, in the order of `--algorithm`; the keys are the names of algorithms.
    #[serde(serialize_with = "in_order")]
    digests: Vec<(&'static str, Hex<'a>)>,
}

fn in_order<S: Serializer>(digests: &[(&'static str, Hex<'_>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(digests.iter().map(|(name, hex)| (name, hex)))
}

impl Format<'_> {
    /// Appends the lines of a file: one for each algorithm, or one object. Returns false if the form has no way to
    /// write the name.
    pub fn write(&self, into: &mut Vec<u8>, algorithms: &[Algorithm], name: &[u8], hashed: &Hashed) -> bool {
        let digests = algorithms.iter().zip(&hashed.digests);
        match self {
            Format::Lines(writer) => {
                digests.for_each(|(&algorithm, digest)| writer.write(into, digest, algorithm, name));
            }
            Format::Terminal(writer) => {
                let shown = for_terminal(name, true);
                let is_quoted = matches!(shown, Cow::Owned(_));
                for (&algorithm, digest) in digests {
                    // The quotes have escaped all that a list escapes.
                    writer.zero(is_quoted).write(into, digest, algorithm, &shown);
                    if let (Some(end), true) = (into.last_mut(), is_quoted) {
                        *end = b'\n';
                    }
                }
            }
            Format::Form(form) => {
                let digests: Vec<_> = algorithms.iter().copied().zip(hashed.digests.iter().copied()).collect();
                return (form.file)(into, &digests, hashed.nbytes, name);
            }
            Format::Own(write) => digests.for_each(|(_, digest)| write(into, name, digest)),
            Format::Json => {
                let digests = digests.map(|(algorithm, digest)| (algorithm.name(), Hex(digest.as_ref()))).collect();
                let object = Object { path: Named::new("path", name), length: hashed.nbytes, digests };
                json_line(into, &object);
            }
        }
        true
    }
}

/// Returns the name printed for a source.
pub fn name(source: &Source) -> Cow<'_, [u8]> {
    match source {
        Source::Path(path) => portable(path),
        _ => Cow::Borrowed(b"-"),
    }
}
