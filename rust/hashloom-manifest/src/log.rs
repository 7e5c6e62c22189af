// SPDX-License-Identifier: MIT OR Apache-2.0

//! A log of manifests: which manifest of an archive is the newest, and which were before it.
//!
//! A signed manifest that is put back in place of a newer one has a right signature. A log has one line for each
//! manifest, in the order of their days, and one signature over all lines:
//!
//! ```text
//! {"format":"hashloom manifest log","version":1}
//! {"date":"2026-11-26T14:05:00Z","sha256":"ba7816bf…","comment":"after the move"}
//! untrusted comment: signature from hashloom
//! RUQPYbzhIBA3w…
//! trusted comment: timestamp:1795701900 file:archive.log size:1 root:5c8f… hashed
//! 6Fq…==
//! ```
//!
//! `sha256` is that of the manifest's file. The trusted comment has the *head* of the log: the number of its entries
//! and the root of their tree (RFC 6962 section 2.1), whose entries are the lines without the first and without their
//! line feeds. The signature is minisign's or one of SLH-DSA, of the lines that begin with `{`. A log is only ever made
//! longer.
//!
//! Who puts back a whole older log puts back its signature too. Only a copy of the log, or of its head, that is kept
//! elsewhere shows that: [`Log::extends`].
//!
//! ```
//! use hashloom::{Algorithm, hash};
//! use hashloom_manifest::log::{Entry, Log};
//!
//! let mut log = Log::new();
//! let digest = hash(Algorithm::Sha256, b"a manifest");
//! log.push(Entry::new(digest, "2026-11-26T14:05:00Z", "")?)?;
//! let old = log.clone();
//! log.push(Entry::new(hash(Algorithm::Sha256, b"a newer one"), "2026-11-27T14:05:00Z", "after the move")?)?;
//! assert_eq!((log.newest_of(&digest), log.entries()[1].comment()), (Some(0), "after the move"));
//! assert!(log.head().starts_with("2:"));
//! assert_eq!((log.extends(&old), old.extends(&log)), (Ok(()), Err(1)));
//! # Ok::<(), hashloom_manifest::log::LogError>(())
//! ```

use std::fmt;
use std::io::{self, Read};

use hashloom::{Algorithm, Hash};
use hashloom_files::text::reason;
use serde::{Deserialize, Serialize};

use hashloom_files::json::write_json;
use hashloom_tree::rfc6962::Tree;

use hashloom_signature::{PublicKey, SignatureError, Signatures, Signed};

/// The greatest length of a log, in bytes: a hundred thousand entries.
pub const LOG_MAX_NBYTES: usize = 16 << 20;

/// The greatest length of a comment, in bytes.
pub const COMMENT_MAX_NBYTES: usize = 1000;

/// The first line.
const HEADER: &str = "{\"format\":\"hashloom manifest log\",\"version\":1}";

/// A manifest in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    date: String,
    sha256: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    comment: String,
}

impl Entry {
    /// An entry of a manifest with this SHA-256, on this date: `2026-11-26T14:05:00Z`.
    ///
    /// # Errors
    /// [`LogError::Entry`] if the comment is longer than [`COMMENT_MAX_NBYTES`], the digest is another algorithm's, or
    /// the date has another form.
    pub fn new(sha256: Hash, date: &str, comment: &str) -> Result<Entry, LogError> {
        let entry = Entry { date: date.to_owned(), sha256: sha256.to_string(), comment: comment.to_owned() };
        entry.check().map_err(LogError::Entry)?;
        Ok(entry)
    }

    /// The time at which the entry was added, by the clock of that machine.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The SHA-256 of the manifest's file, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The comment; it may be empty. Escape it before it is printed.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The line, without a line feed.
    fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        // Writing strings can fail only for lack of memory.
        write_json(&mut line, self).expect("strings can be written");
        line
    }

    /// Returns what was expected.
    fn check(&self) -> Result<(), &'static str> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let has_shape = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
        let shape = b"0000-00-00T00:00:00Z";
        if self.date.len() != shape.len() || !self.date.bytes().zip(*shape).all(has_shape) {
            Err("a date such as 2026-11-26T14:05:00Z")
        } else if self.sha256.len() != 64 || !self.sha256.bytes().all(is_digit) {
            Err("a SHA-256 of 64 hexadecimal digits in lower case")
        } else if self.comment.len() > COMMENT_MAX_NBYTES {
            Err("a comment of up to 1000 bytes")
        } else {
            Ok(())
        }
    }
}

/// The entries of a log, and its signature if it was read from a file.
#[derive(Debug, Clone)]
pub struct Log {
    entries: Vec<Entry>,
    signature: Option<Signatures>,
}

impl Log {
    /// A log without entries.
    #[expect(clippy::new_without_default, reason = "a log is made once")]
    pub fn new() -> Log {
        Log { entries: Vec::new(), signature: None }
    }

    /// Reads a log, which may come from anybody. The signature is not checked: [`Log::verify`].
    ///
    /// # Errors
    /// Those of the reader; [`LogError::NotALog`], [`LogError::TooLong`], [`LogError::Line`], [`LogError::Signature`].
    pub fn read(reader: impl Read) -> Result<Log, LogError> {
        let mut bytes = Vec::new();
        reader.take(LOG_MAX_NBYTES as u64 + 1).read_to_end(&mut bytes).map_err(LogError::Io)?;
        if bytes.len() > LOG_MAX_NBYTES {
            return Err(LogError::TooLong);
        }
        let mut rest =
            bytes.strip_prefix(HEADER.as_bytes()).and_then(|rest| rest.strip_prefix(b"\n")).ok_or(LogError::NotALog)?;
        let mut entries = Vec::new();
        while rest.first() == Some(&b'{') {
            let bad = |why: String| LogError::Line { line: entries.len() + 2, why };
            let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| bad("it is cut off".into()))?;
            let line = &rest[..end];
            let entry: Entry = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
            entry.check().map_err(|what| bad(format!("expected {what}")))?;
            // An entry has one form only, so that equal entries are equal lines.
            if entry.line() != line {
                return Err(bad("it is not written as hashloom writes it".into()));
            }
            entries.push(entry);
            rest = &rest[end + 1..];
        }
        let text = std::str::from_utf8(rest).map_err(|_| LogError::Unsigned)?;
        let signature = Signatures::parse(text).map_err(LogError::Signature)?;
        if signature.len() != 1 {
            return Err(LogError::Unsigned);
        }
        Ok(Log { entries, signature: Some(signature) })
    }

    /// Checks the signature, and that it is one of this head.
    ///
    /// # Errors
    /// [`LogError::Unsigned`], [`LogError::Signature`], [`LogError::Head`].
    pub fn verify(&self, key: &PublicKey) -> Result<Signed, LogError> {
        let signature = self.signature.as_ref().ok_or(LogError::Unsigned)?;
        let signed = key.verify(&self.lines(), signature).map_err(LogError::Signature)?;
        let found = signed.part("size").zip(signed.part("root")).map(|(size, root)| format!("{size}:{root}"));
        match found {
            Some(found) if found == self.head() => Ok(signed),
            _ => Err(LogError::Head),
        }
    }

    /// The entries, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The root of the tree over the entries.
    pub fn root(&self) -> Hash {
        let mut tree = Tree::new(Algorithm::Sha256, &[]);
        self.entries.iter().for_each(|entry| tree.push_entry(&entry.line()));
        tree.finish().root
    }

    /// The number of entries and the root, with a colon between them: what is enough to keep elsewhere.
    pub fn head(&self) -> String {
        format!("{}:{}", self.entries.len(), self.root())
    }

    /// The index of the newest entry of the manifest with this SHA-256; the first is 0.
    pub fn newest_of(&self, sha256: &Hash) -> Option<usize> {
        let digest = sha256.to_string();
        self.entries.iter().rposition(|entry| entry.sha256 == digest)
    }

    /// Checks that this log is `old` and any number of entries more.
    ///
    /// # Errors
    /// The index of the first entry of `old` that is another here, or missing.
    pub fn extends(&self, old: &Log) -> Result<(), usize> {
        match old.entries.iter().enumerate().find(|&(index, entry)| self.entries.get(index) != Some(entry)) {
            Some((index, _)) => Err(index),
            None => Ok(()),
        }
    }

    /// Appends an entry. The log has no signature then.
    ///
    /// # Errors
    /// [`LogError::TooLong`].
    pub fn push(&mut self, entry: Entry) -> Result<(), LogError> {
        self.signature = None;
        self.entries.push(entry);
        // Beside the lines there is room for a signature.
        if self.lines().len() > LOG_MAX_NBYTES - hashloom_signature::FILE_MAX_NBYTES {
            return Err(LogError::TooLong);
        }
        Ok(())
    }

    /// The signed lines.
    fn lines(&self) -> Vec<u8> {
        let mut lines = HEADER.as_bytes().to_vec();
        lines.push(b'\n');
        for entry in &self.entries {
            lines.extend_from_slice(&entry.line());
            lines.push(b'\n');
        }
        lines
    }

    /// Signs the log: the content of a file with this name.
    ///
    /// # Errors
    /// That of a damaged key.
    #[cfg(feature = "sign")]
    pub fn signed(&self, signer: &hashloom_signature::Signer, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = self.lines();
        let parts = format!("file:{name}\tsize:{}\troot:{}", self.entries.len(), self.root());
        let signature = signer.sign(&bytes[..], &parts)?;
        bytes.extend_from_slice(signature.as_bytes());
        Ok(bytes)
    }
}

/// Why a log cannot be used.
///
/// ```
/// use hashloom_manifest::log::{Log, LogError};
///
/// let error = Log::read(&b"hello\n"[..]).unwrap_err();
/// assert!(matches!(error, LogError::NotALog));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// The system's error.
    Io(io::Error),
    /// The first line is not that of a log of a known version.
    NotALog,
    /// The log is longer than [`LOG_MAX_NBYTES`].
    TooLong,
    /// A line that is no entry.
    Line {
        /// The line, from 1.
        line: usize,
        /// The fault.
        why: String,
    },
    /// An entry that cannot be made; what was expected.
    Entry(&'static str),
    /// There is not one signature after the entries.
    Unsigned,
    /// The signature is missing or wrong.
    Signature(SignatureError),
    /// The signature is right, but its comment does not have the head of this log.
    Head,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Io(error) => reason(error).fmt(f),
            LogError::NotALog => write!(f, "this is not a log of manifests: expected {HEADER} in the first line"),
            LogError::TooLong => write!(f, "expected a log of up to {LOG_MAX_NBYTES} bytes: begin a new one"),
            LogError::Line { line, why } => write!(f, "line {line}: {why}"),
            LogError::Entry(expected) => write!(f, "expected {expected}"),
            LogError::Unsigned => f.write_str("expected one signature after the entries"),
            LogError::Signature(error) => write!(f, "the signature of the log is wrong: {error}"),
            LogError::Head => {
                f.write_str("the signature is not one of a log with these entries: its size or root differs")
            }
        }
    }
}

impl std::error::Error for LogError {}
