// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tools that read a torrent's keys: the values of a dictionary, notes on them, and errors that say where.

use hashloom_files::paths::name::check_everywhere;
use hashloom_files::pieces::layout::Spans;

use super::error::{Error, Problem};
use super::layers::Roots;
use super::names::Names;
use super::{Attributes, Note, NoteKind};
use crate::bencode::{self, Kind, Value};

/// Collects a torrent while its keys are read.
pub(super) struct Reader {
    pub(super) notes: Vec<Note>,
    pub(super) note_count: usize,
    pub(super) spans: Spans,
    pub(super) names: Names,
    pub(super) roots: Roots,
}

impl Reader {
    /// Notes already taken while the bencode was parsed come first.
    pub(super) fn new(notes: &[bencode::Note], note_count: usize) -> Reader {
        let note = |note: &bencode::Note| Note { key: String::new(), kind: NoteKind::Bencode(note.clone()) };
        Reader {
            notes: notes.iter().map(note).collect(),
            note_count,
            spans: Spans::default(),
            names: Names::default(),
            roots: Roots::default(),
        }
    }

    /// Reads `attr` of BEP 47, letters whose unknown ones are ignored, and `symlink path` of a symbolic link.
    pub(super) fn attributes<'a>(&mut self, holder: Value<'a>, place: &'static str) -> (Attributes, Option<Value<'a>>) {
        let [attr, target] = self.keys(holder, place, [b"attr", b"symlink path"]);
        let letters = attr.and_then(|value| value.string()).unwrap_or_default();
        let attributes = Attributes {
            padding: letters.contains(&b'p'),
            symlink: letters.contains(&b'l'),
            executable: letters.contains(&b'x'),
            hidden: letters.contains(&b'h'),
        };
        (attributes, target.filter(|target| attributes.symlink && target.kind() == Kind::List))
    }

    /// Keeps the target of a symbolic link, for the file that is added next.
    pub(super) fn target(&mut self, target: Option<Value<'_>>, place: &'static str) {
        let Some(target) = target else { return };
        let components = || target.items().filter_map(|item| item.string());
        if components().any(|component| check_everywhere(component).is_err()) {
            self.add_note(place, NoteKind::SymlinkLeadsOut { offset: target.span().start });
        }
        self.names.push_target(components());
    }

    /// The values of these keys of a dictionary. If a key is there twice, the first counts, as in libtorrent. The
    /// bencode parser finds two equal keys only among sorted ones; this function notes the other cases.
    pub(super) fn keys<'a, const N: usize>(
        &mut self,
        dictionary: Value<'a>,
        place: &'static str,
        wanted: [&[u8]; N],
    ) -> [Option<Value<'a>>; N] {
        let mut values = [None; N];
        let mut greatest: &[u8] = b"";
        for entry in dictionary.entries() {
            if let Some(slot) = wanted.iter().position(|key| *key == entry.key) {
                match values[slot] {
                    None => values[slot] = Some(entry.value),
                    Some(_) if entry.key < greatest => {
                        let kind = bencode::NoteKind::DuplicateKey { key: entry.key.to_vec() };
                        self.add_note(place, NoteKind::Bencode(bencode::Note { offset: entry.offset, kind }));
                    }
                    Some(_) => {}
                }
            }
            greatest = greatest.max(entry.key);
        }
        values
    }

    pub(super) fn add_note(&mut self, key: &'static str, kind: NoteKind) {
        self.note_count += 1;
        // The bencode parser keeps half as many.
        if self.notes.len() < 32 {
            self.notes.push(Note { key: key.to_owned(), kind });
        }
    }
}

pub(super) fn at(value: Value<'_>, key: &str, problem: Problem) -> Error {
    Error { problem, key: key.to_owned(), offset: value.span().start }
}

pub(super) fn wrong_kind(value: Value<'_>, expected: Kind, key: &str) -> Error {
    at(value, key, Problem::WrongKind { expected, found: value.kind() })
}

pub(super) fn expect<'a>(value: Value<'a>, kind: Kind, key: &str) -> Result<Value<'a>, Error> {
    if value.kind() == kind { Ok(value) } else { Err(wrong_kind(value, kind, key)) }
}

pub(super) fn required<'a>(
    value: Option<Value<'a>>,
    kind: Kind,
    key: &str,
    expected: &'static str,
    holder: Value<'a>,
) -> Result<Value<'a>, Error> {
    match value {
        Some(value) => expect(value, kind, key),
        None => Err(at(holder, key, missing(expected))),
    }
}

/// The value of a file's `length`.
pub(super) const A_LENGTH: &str = "an integer: the file's length";

pub(super) fn missing(expected: &'static str) -> Problem {
    Problem::Missing { expected }
}

pub(super) fn integer(value: Value<'_>, key: impl Fn() -> String) -> Result<i64, Error> {
    let Some(digits) = value.digits() else { return Err(wrong_kind(value, Kind::Integer, &key())) };
    value.integer().ok_or_else(|| {
        let found = String::from_utf8_lossy(&digits[..digits.len().min(40)]).into_owned();
        at(value, &key(), Problem::IntegerOverflow { found })
    })
}
