// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bencode (BEP 3): read in place, and written from an [`Item`].
//!
//! [`parse`] walks the whole input once and checks that it is bencode. After that a [`Value`] is only a span of the
//! input: to find its children is to walk the span again. No tree is built, so an input of any shape costs no memory
//! beyond one small frame for each open list or dictionary; [`Limits`] bounds their number. Nothing here recurses.
//!
//! Real torrents are not always canonical. Deviations that libtorrent and Transmission accept are accepted here too and
//! become a [`Note`]: keys out of order, keys given twice (the first one counts, as in libtorrent), leading zeros,
//! `i-0e`, bytes after the end. Everything else is an [`Error`] with its byte offset.

mod item;

use std::fmt;
use std::ops::Range;

use hashloom_files::text::{quoted, shown};
pub use item::Item;
#[doc(hidden)]
pub use item::encode_string;

/// The limits of [`parse`].
///
/// ```
/// use hashloom_torrent::bencode::{Limits, parse};
///
/// let limits = Limits { depth: 2, ..Limits::default() };
/// assert!(parse(b"llee", &limits).is_ok() && parse(b"llleee", &limits).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of bytes of input.
    pub nbytes: usize,
    /// Largest depth of lists and dictionaries inside each other.
    pub depth: usize,
}

impl Default for Limits {
    /// 256 MiB (a torrent of 13 million pieces) and a depth of 100, which is libtorrent's limit too.
    fn default() -> Self {
        Limits { nbytes: 256 << 20, depth: 100 }
    }
}

/// Why an input is not bencode, and the place of the fault.
///
/// ```
/// use hashloom_torrent::bencode::{Error, ErrorKind, Limits, parse};
///
/// let fault = |input: &[u8]| -> Error { parse(input, &Limits::default()).unwrap_err() };
/// let error = fault(b"d4:listl4:spamxee");
/// assert_eq!((error.offset, &*error.key), (14, "list[1]"));
/// assert_eq!(fault(b"9:spam").kind, ErrorKind::StringTooLong { nbytes: 9, left: 4 });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Offset of the wrong byte; the input's length if the input ends too early.
    pub offset: usize,
    /// The value that the fault is in, by keys and places, such as `info.files[3].length`; empty for the outermost. The
    /// key is safe to print; values more than 8 levels deep are cut off.
    pub key: String,
    /// The fault.
    pub kind: ErrorKind,
}

impl Error {
    pub(crate) fn new(offset: usize, kind: ErrorKind) -> Error {
        Error { offset, key: String::new(), kind }
    }

    /// Names the value that the fault is in.
    fn within(mut self, open: &[Frame], input: &[u8]) -> Error {
        for (level, frame) in open.iter().enumerate() {
            let step = match frame {
                Frame::List { count } => format!("[{count}]"),
                // The fault is in the next key, not in a value.
                Frame::Dict { value_due: false, .. } => break,
                Frame::Dict { key, .. } => {
                    let key = &input[key.start..key.end.min(key.start + NOTE_KEY_MAX_NBYTES)];
                    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-".contains(byte);
                    match (key.is_empty() || !key.iter().all(is_plain), level) {
                        (true, _) => format!("[{}]", quoted(key)),
                        (false, 0) => shown(key).to_string(),
                        (false, _) => format!(".{}", shown(key)),
                    }
                }
            };
            if level == KEY_LEVELS_MAX {
                self.key.push('…');
                break;
            }
            self.key.push_str(&step);
        }
        self
    }
}

/// A fault of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends where something is still expected.
    Truncated {
        /// The thing expected next.
        expected: &'static str,
    },
    /// A byte that cannot stand here.
    Unexpected {
        /// The things that could.
        expected: &'static str,
        /// The byte.
        found: u8,
    },
    /// A string is longer than what is left of the input.
    StringTooLong {
        /// The string's length, as given in the input.
        nbytes: u64,
        /// Bytes left.
        left: usize,
    },
    /// A string's length does not fit 64 bits.
    LengthOverflow,
    /// More lists and dictionaries inside each other than [`Limits::depth`].
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The input is longer than [`Limits::nbytes`].
    TooLarge {
        /// Number of bytes in the input.
        nbytes: usize,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "byte {}: {}", self.offset, self.kind),
            key => write!(f, "{key}, byte {}: {}", self.offset, self.kind),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated { expected } => write!(f, "the input ends, expected {expected}"),
            ErrorKind::Unexpected { expected, found } if found.is_ascii_graphic() => {
                write!(f, "expected {expected}, found '{}'", *found as char)
            }
            ErrorKind::Unexpected { expected, found } => write!(f, "expected {expected}, found the byte 0x{found:02x}"),
            ErrorKind::StringTooLong { nbytes, left } => {
                write!(f, "a string of {nbytes} bytes begins, but only {left} bytes are left")
            }
            ErrorKind::LengthOverflow => write!(f, "the length of a string does not fit 64 bits"),
            ErrorKind::TooDeep { limit } => {
                write!(f, "more than {limit} lists and dictionaries inside each other")
            }
            ErrorKind::TooLarge { nbytes, limit } => {
                write!(f, "the input has {nbytes} bytes, the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A deviation from canonical bencode that clients accept.
///
/// ```
/// use hashloom_torrent::bencode::{Limits, Note, NoteKind, parse};
///
/// let document = parse(b"i007e, then more", &Limits::default())?;
/// let [first, second]: &[Note] = document.notes() else { panic!() };
/// assert_eq!(first.kind, NoteKind::LeadingZero);
/// assert_eq!(second.to_string(), "byte 5: 11 bytes follow the end, they are ignored");
/// # Ok::<(), hashloom_torrent::bencode::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Offset of the string, integer or byte in question.
    pub offset: usize,
    /// The deviation.
    pub kind: NoteKind,
}

/// The deviation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// A key that sorts before one that came earlier in its dictionary.
    UnsortedKey {
        /// The key.
        key: Vec<u8>,
        /// The earlier key.
        after: Vec<u8>,
    },
    /// A key that its dictionary has already.
    DuplicateKey {
        /// The key.
        key: Vec<u8>,
    },
    /// An integer with zeros in front.
    LeadingZero,
    /// `i-0e`.
    NegativeZero,
    /// A string whose length has zeros in front.
    LeadingZeroInLength,
    /// Bytes after the end of the value.
    TrailingBytes {
        /// Number of bytes.
        nbytes: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match &self.kind {
            NoteKind::UnsortedKey { key, after } => {
                write!(f, "key {} comes after {}: keys are not sorted", quoted(key), quoted(after))
            }
            NoteKind::DuplicateKey { key } => write!(f, "key {} is there twice, the first counts", quoted(key)),
            NoteKind::LeadingZero => write!(f, "an integer with a leading zero"),
            NoteKind::NegativeZero => write!(f, "an integer is -0"),
            NoteKind::LeadingZeroInLength => write!(f, "the length of a string has a leading zero"),
            NoteKind::TrailingBytes { nbytes } => write!(f, "{nbytes} bytes follow the end, they are ignored"),
        }
    }
}

/// Notes kept for each document; further ones are only counted. An input can hold millions of oddities, a reader needs
/// the first.
const NOTES_MAX: usize = 16;
/// Bytes of a key that a note or an error quotes at most.
const NOTE_KEY_MAX_NBYTES: usize = 64;
/// Levels of lists and dictionaries that the key of an error names.
const KEY_LEVELS_MAX: usize = 8;

/// Parsed bencode: the input and its deviations from canonical bencode.
///
/// ```
/// use hashloom_torrent::bencode::{Document, Limits, parse};
///
/// let document: Document = parse(b"li1ei-0ee", &Limits::default())?;
/// assert_eq!((document.root().items().count(), document.note_count()), (2, 1));
/// # Ok::<(), hashloom_torrent::bencode::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Document<'a> {
    input: &'a [u8],
    root_end: usize,
    notes: Vec<Note>,
    note_count: usize,
}

impl<'a> Document<'a> {
    /// The outermost value.
    pub fn root(&self) -> Value<'a> {
        Value { input: self.input, start: 0, end: self.root_end }
    }

    /// The first 16 deviations from canonical bencode.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Number of deviations from canonical bencode, those not listed included.
    pub fn note_count(&self) -> usize {
        self.note_count
    }

    fn add_note(&mut self, offset: usize, kind: impl FnOnce() -> NoteKind) {
        self.note_count += 1;
        if self.notes.len() < NOTES_MAX {
            self.notes.push(Note { offset, kind: kind() });
        }
    }
}

/// An open list or dictionary.
enum Frame {
    /// The number of complete items.
    List { count: usize },
    /// The greatest key so far, the last key, and whether its value must follow.
    Dict { greatest: Option<Range<usize>>, key: Range<usize>, value_due: bool },
}

/// Checks that `input` begins with one bencoded value within `limits`, and notes each deviation.
///
/// ```
/// use hashloom_torrent::bencode::{Limits, parse};
///
/// assert_eq!(parse(b"4:spam", &Limits::default())?.root().string(), Some(&b"spam"[..]));
/// assert!(parse(b"4:spa", &Limits::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Document<'a>, Error> {
    if input.len() > limits.nbytes {
        let kind = ErrorKind::TooLarge { nbytes: input.len(), limit: limits.nbytes };
        return Err(Error::new(limits.nbytes, kind));
    }
    let mut document = Document { input, root_end: 0, notes: Vec::new(), note_count: 0 };
    let mut open: Vec<Frame> = Vec::new();
    let mut pos = 0;
    loop {
        let (expected, may_end) = match open.last() {
            None => ("a value", false),
            Some(Frame::List { .. }) => ("a value or 'e' (the end of a list)", true),
            Some(Frame::Dict { value_due: true, .. }) => ("a value for the key", false),
            Some(Frame::Dict { value_due: false, .. }) => ("a key (a string) or 'e' (the end of a dictionary)", true),
        };
        let key_due = matches!(open.last(), Some(Frame::Dict { value_due: false, .. }));
        let Some(&byte) = input.get(pos) else {
            return Err(Error::new(pos, ErrorKind::Truncated { expected }).within(&open, input));
        };
        let start = pos;
        match byte {
            b'0'..=b'9' => {
                let body = string_at(input, pos).map_err(|error| error.within(&open, input))?;
                if byte == b'0' && body.start - start > 2 {
                    document.add_note(start, || NoteKind::LeadingZeroInLength);
                }
                pos = body.end;
                if key_due {
                    check_order(&mut document, open.last_mut(), start, body);
                    continue;
                }
            }
            b'e' if may_end => {
                open.pop();
                pos += 1;
            }
            b'i' if !key_due => {
                pos = integer_at(&mut document, pos).map_err(|error| error.within(&open, input))?;
            }
            b'l' | b'd' if !key_due => {
                if open.len() == limits.depth {
                    let kind = ErrorKind::TooDeep { limit: limits.depth };
                    return Err(Error::new(pos, kind).within(&open, input));
                }
                open.push(match byte {
                    b'l' => Frame::List { count: 0 },
                    _ => Frame::Dict { greatest: None, key: 0..0, value_due: false },
                });
                pos += 1;
                continue;
            }
            found => {
                return Err(Error::new(pos, ErrorKind::Unexpected { expected, found }).within(&open, input));
            }
        }
        // A value is complete.
        match open.last_mut() {
            None => break,
            Some(Frame::List { count }) => *count += 1,
            Some(Frame::Dict { value_due, .. }) => *value_due = false,
        }
    }
    document.root_end = pos;
    if pos < input.len() {
        document.add_note(pos, || NoteKind::TrailingBytes { nbytes: input.len() - pos });
    }
    Ok(document)
}

/// Compares a key with those before it, and marks the dictionary as waiting for the value.
fn check_order(document: &mut Document<'_>, frame: Option<&mut Frame>, start: usize, body: Range<usize>) {
    let Some(Frame::Dict { greatest, key, value_due }) = frame else { return };
    *value_due = true;
    *key = body.clone();
    let input = document.input;
    let shown = |key: &Range<usize>| input[key.start..key.end.min(key.start + NOTE_KEY_MAX_NBYTES)].to_vec();
    match greatest {
        Some(before) if input[body.clone()] == input[before.clone()] => {
            document.add_note(start, || NoteKind::DuplicateKey { key: shown(&body) });
        }
        Some(before) if input[body.clone()] < input[before.clone()] => {
            document.add_note(start, || NoteKind::UnsortedKey { key: shown(&body), after: shown(before) });
        }
        _ => *greatest = Some(body),
    }
}

/// The bytes of the string whose length begins at `pos`. The byte at `pos` must be a digit.
fn string_at(input: &[u8], pos: usize) -> Result<Range<usize>, Error> {
    let expected = "a digit or ':' in the length of a string";
    let mut length: u64 = 0;
    let mut at = pos;
    loop {
        match input.get(at) {
            Some(&digit @ b'0'..=b'9') => {
                length = length
                    .checked_mul(10)
                    .and_then(|tens| tens.checked_add(u64::from(digit - b'0')))
                    .ok_or(Error::new(pos, ErrorKind::LengthOverflow))?;
                at += 1;
            }
            Some(b':') => break,
            Some(&found) => return Err(Error::new(at, ErrorKind::Unexpected { expected, found })),
            None => return Err(Error::new(at, ErrorKind::Truncated { expected })),
        }
    }
    let start = at + 1;
    let left = input.len() - start;
    match usize::try_from(length) {
        Ok(nbytes) if nbytes <= left => Ok(start..start + nbytes),
        _ => Err(Error::new(pos, ErrorKind::StringTooLong { nbytes: length, left })),
    }
}

/// The end of the integer that begins with the `i` at `pos`. Any number of digits is fine, as in BEP 3.
fn integer_at(document: &mut Document<'_>, pos: usize) -> Result<usize, Error> {
    let input = document.input;
    let negative = input.get(pos + 1) == Some(&b'-');
    let first = pos + 1 + usize::from(negative);
    let mut at = first;
    loop {
        let expected = if at == first { "a digit of an integer" } else { "a digit or 'e' (the end of an integer)" };
        match input.get(at) {
            Some(b'0'..=b'9') => at += 1,
            Some(b'e') if at > first => break,
            Some(&found) => return Err(Error::new(at, ErrorKind::Unexpected { expected, found })),
            None => return Err(Error::new(at, ErrorKind::Truncated { expected })),
        }
    }
    if input[first] == b'0' {
        if at - first > 1 {
            document.add_note(pos, || NoteKind::LeadingZero);
        } else if negative {
            document.add_note(pos, || NoteKind::NegativeZero);
        }
    }
    Ok(at + 1)
}

/// The kinds of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `i…e`
    Integer,
    /// `length:bytes`
    String,
    /// `l…e`
    List,
    /// `d…e`
    Dictionary,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Integer => "an integer",
            Kind::String => "a string",
            Kind::List => "a list",
            Kind::Dictionary => "a dictionary",
        })
    }
}

/// A value: a span of input that [`parse`] has checked.
///
/// ```
/// use hashloom_torrent::bencode::{Entries, Entry, Items, Kind, Limits, Value, parse};
///
/// let document = parse(b"d4:name5:alice5:sizesli1ei-2eee", &Limits::default())?;
/// let root: Value = document.root();
/// let name = root.get(b"name").unwrap();
/// assert_eq!((name.kind(), name.string(), name.span()), (Kind::String, Some(&b"alice"[..]), 7..14));
/// let entries: Entries = root.entries();
/// let Entry { key, value, .. } = entries.last().unwrap();
/// assert_eq!((key, value.raw()), (&b"sizes"[..], &b"li1ei-2ee"[..]));
/// let items: Items = value.items();
/// assert_eq!(items.filter_map(|item| item.integer()).collect::<Vec<_>>(), [1, -2]);
/// assert!(name.integer().is_none() && root.get(b"length").is_none());
/// # Ok::<(), hashloom_torrent::bencode::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    input: &'a [u8],
    start: usize,
    end: usize,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({}, bytes {}..{})", self.kind(), self.start, self.end)
    }
}

impl<'a> Value<'a> {
    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self.input[self.start] {
            b'i' => Kind::Integer,
            b'l' => Kind::List,
            b'd' => Kind::Dictionary,
            _ => Kind::String,
        }
    }

    /// The value's place in the input, markers included.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The value's bencoded bytes, as in the input: an info-hash is the hash of these bytes.
    pub fn raw(&self) -> &'a [u8] {
        &self.input[self.start..self.end]
    }

    /// The bytes of a string.
    pub fn string(&self) -> Option<&'a [u8]> {
        match self.kind() {
            Kind::String => string_at(self.input, self.start).ok().map(|body| &self.input[body]),
            _ => None,
        }
    }

    /// The digits of an integer, with the sign, as in the input.
    pub fn digits(&self) -> Option<&'a [u8]> {
        (self.kind() == Kind::Integer).then(|| &self.input[self.start + 1..self.end - 1])
    }

    /// An integer's value; `None` too if it does not fit 64 bits.
    pub fn integer(&self) -> Option<i64> {
        std::str::from_utf8(self.digits()?).ok()?.parse().ok()
    }

    /// The items of a list; empty for any other value.
    pub fn items(&self) -> Items<'a> {
        self.children(Kind::List)
    }

    /// The keys and values of a dictionary, in the input's order, with duplicates; empty for any other value.
    pub fn entries(&self) -> Entries<'a> {
        Entries(self.children(Kind::Dictionary))
    }

    /// The items of a list or dictionary of this kind; none of any other value.
    fn children(&self, of: Kind) -> Items<'a> {
        let pos = if self.kind() == of { self.start + 1 } else { self.end };
        Items { input: self.input, pos, end: self.end - 1 }
    }

    /// Walks through a dictionary and the dictionaries in it, however deep, in one pass.
    pub(crate) fn walk(&self) -> Walk<'a> {
        Walk { input: self.input, pos: self.start + 1 }
    }

    /// The value of the first entry of a dictionary with this key.
    pub fn get(&self, key: &[u8]) -> Option<Value<'a>> {
        self.entries().find(|entry| entry.key == key).map(|entry| entry.value)
    }
}

/// The items of a list; see [`Value::items`].
#[derive(Debug, Clone)]
pub struct Items<'a> {
    input: &'a [u8],
    pos: usize,
    end: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.pos >= self.end {
            return None;
        }
        let start = self.pos;
        self.pos = end_of_value(self.input, start)?;
        Some(Value { input: self.input, start, end: self.pos })
    }
}

/// One key of a dictionary and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key's bytes.
    pub key: &'a [u8],
    /// Offset of the key in the input.
    pub offset: usize,
    /// The key's value.
    pub value: Value<'a>,
}

/// The entries of a dictionary; see [`Value::entries`].
#[derive(Debug, Clone)]
pub struct Entries<'a>(Items<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let key = self.0.next()?;
        let value = self.0.next()?;
        Some(Entry { key: key.string()?, offset: key.start, value })
    }
}

/// A walk through dictionaries inside dictionaries; see [`Value::walk`]. Nested [`Entries`] would search the end of
/// every value once for each dictionary around it.
pub(crate) struct Walk<'a> {
    input: &'a [u8],
    pos: usize,
}

/// The next item of a [`Walk`].
pub(crate) enum Step<'a> {
    /// A key; [`Walk::enter`] or [`Walk::take`] gives its value.
    Key { key: &'a [u8], offset: usize },
    /// The end of the dictionary that the walk is in.
    End,
}

impl<'a> Walk<'a> {
    pub(crate) fn step(&mut self) -> Step<'a> {
        let offset = self.pos;
        if self.input[offset] == b'e' {
            self.pos += 1;
            return Step::End;
        }
        // `parse` has checked that a key is a string.
        let Ok(body) = string_at(self.input, offset) else { return Step::End };
        self.pos = body.end;
        Step::Key { key: &self.input[body], offset }
    }

    /// The place of the walk: after a key, the start of its value.
    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    /// The value that begins at `start` and has just ended.
    pub(crate) fn since(&self, start: usize) -> Value<'a> {
        Value { input: self.input, start, end: self.pos }
    }

    /// Enters the dictionary that is the value of the key. Returns false, and stays, if the value is not a dictionary.
    pub(crate) fn enter(&mut self) -> bool {
        // This is not `pos += usize::from(is_dictionary)`: rustc 1.95 at -O2 leaves that addition out in a loop that
        // continues on the returned value.
        if self.input[self.pos] != b'd' {
            return false;
        }
        self.pos += 1;
        true
    }

    /// Returns the value of the key and moves the walk behind it.
    pub(crate) fn take(&mut self) -> Value<'a> {
        let start = self.pos;
        self.pos = end_of_value(self.input, start).unwrap_or(self.input.len());
        Value { input: self.input, start, end: self.pos }
    }
}

/// The end of the value that begins at `start` of an input that [`parse`] has checked.
fn end_of_value(input: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut pos = start;
    loop {
        match *input.get(pos)? {
            b'i' => pos += input[pos..].iter().position(|&byte| byte == b'e')? + 1,
            b'l' | b'd' => {
                depth += 1;
                pos += 1;
            }
            b'e' => {
                depth = depth.checked_sub(1)?;
                pos += 1;
            }
            _ => pos = string_at(input, pos).ok()?.end,
        }
        if depth == 0 {
            return Some(pos);
        }
    }
}
