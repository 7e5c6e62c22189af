// SPDX-License-Identifier: MIT OR Apache-2.0

//! In what the programs differ that hashloom stands in for. What their options mean is in the module of each family.

use crate::options::{Choice, Row, Words};

/// A program that hashloom stands in for, or programs that differ in their algorithms only.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// The program whose place it takes.
    pub original: &'static str,
    /// The program whose words messages about options have.
    pub words: Words,
    /// The options, in the order in which an ambiguous abbreviation lists them.
    pub options: &'static [Row],
    /// The meanings of these options that it lacks.
    pub lacks: &'static [Choice],
    /// The line after a message about wrong usage; {} stands for the name of the program.
    pub hint: &'static str,
    /// The messages of --check.
    pub lists: Lists,
}

/// The words in which a program reports on lists of checksums.
#[derive(Clone, Copy)]
pub struct Lists {
    /// The name of standard input in messages about its lines.
    pub stdin: &'static str,
    /// The word before "checksum lines found", if a list has none.
    pub kind: &'static str,
    /// The message about a list that cannot be read to its end; without one, the reason follows the line's number.
    pub unread: Option<&'static str>,
    /// Each line that is no checksum is named and makes the exit status 1; otherwise --warn and --strict ask for this.
    pub is_strict: bool,
    /// The line of a file that is not read says why, and no message does.
    pub says_why: bool,
    /// Messages tell how many lines and files were wrong. A list without right ones makes the exit status 1.
    pub counts: bool,
}

const COREUTILS_LISTS: Lists = Lists {
    stdin: "'standard input'",
    kind: "",
    unread: Some("read error"),
    is_strict: false,
    says_why: false,
    counts: true,
};

/// The options of the programs of coreutils.
const COREUTILS_OPTIONS: &[Row] = &[
    (Some('l'), "length", Choice::Length),
    (Some('c'), "check", Choice::Check),
    (None, "ignore-missing", Choice::IgnoreMissing),
    (None, "quiet", Choice::Quiet),
    (None, "status", Choice::Status),
    (Some('w'), "warn", Choice::Warn),
    (None, "strict", Choice::Strict),
    (None, "tag", Choice::Tag),
    (Some('z'), "zero", Choice::Zero),
    (Some('a'), "algorithm", Choice::Algorithm),
    (None, "base64", Choice::Base64),
    (None, "debug", Choice::Debug),
    (None, "raw", Choice::Raw),
    (None, "untagged", Choice::Untagged),
    (Some('b'), "binary", Choice::Binary),
    (Some('t'), "text", Choice::Text),
    (None, "help", Choice::Help),
    (None, "version", Choice::Version),
];

pub const CKSUM: Dialect = Dialect {
    original: "the one of GNU coreutils 9.10",
    words: Words::C,
    options: COREUTILS_OPTIONS,
    lacks: &[],
    hint: "Try '{} --help' for more information.\n",
    lists: COREUTILS_LISTS,
};

pub const B2SUM: Dialect = Dialect {
    original: "the one of GNU coreutils 9.1",
    lacks: &[Choice::Algorithm, Choice::Base64, Choice::Debug, Choice::Raw, Choice::Untagged],
    ..CKSUM
};

/// sha256sum and its siblings.
pub const COREUTILS: Dialect = Dialect {
    lacks: &[Choice::Length, Choice::Algorithm, Choice::Base64, Choice::Debug, Choice::Raw, Choice::Untagged],
    ..B2SUM
};

pub const SHASUM: Dialect = Dialect {
    original: "the one of perl's Digest::SHA 6.02",
    words: Words::Perl,
    options: &[
        (Some('b'), "binary", Choice::Binary),
        (Some('c'), "check", Choice::Check),
        (Some('t'), "text", Choice::Text),
        (Some('a'), "algorithm", Choice::Algorithm),
        (Some('s'), "status", Choice::Status),
        (Some('w'), "warn", Choice::Warn),
        (Some('q'), "quiet", Choice::Quiet),
        (Some('h'), "help", Choice::Help),
        (Some('v'), "version", Choice::Version),
        (Some('0'), "01", Choice::Bits),
        (Some('U'), "UNIVERSAL", Choice::Universal),
        (None, "tag", Choice::Tag),
        (None, "strict", Choice::Strict),
        (None, "ignore-missing", Choice::IgnoreMissing),
    ],
    lacks: &[],
    hint: "Type {} -h for help\n",
    // It quotes nothing, which may still be necessary for the names of files.
    lists: Lists { stdin: "standard input", kind: "SHA ", ..COREUTILS_LISTS },
};

pub const SHA3SUM: Dialect = Dialect {
    original: "the one of perl's Digest::SHA3 1.05, and for the one of BusyBox",
    lists: Lists { kind: "SHA3 ", ..SHASUM.lists },
    ..SHASUM
};

pub const BSD: Dialect = Dialect {
    original: "the one of FreeBSD",
    words: Words::C,
    options: &[
        (Some('c'), "check", Choice::Expected),
        (Some('p'), "passthrough", Choice::Passthrough),
        (Some('q'), "quiet", Choice::Quiet),
        (Some('r'), "reverse", Choice::Reverse),
        (Some('s'), "string", Choice::String),
        (Some('t'), "time-trial", Choice::TimeTrial),
        (Some('x'), "self-test", Choice::SelfTest),
        (Some('b'), "binary", Choice::Binary),
        (None, "help", Choice::Help),
        (None, "version", Choice::Version),
    ],
    lacks: &[],
    hint: "usage: {} [-bpqr] [-c string] [-s string] [file ...]\n",
    // It checks no lists.
    lists: COREUTILS_LISTS,
};

pub const B3SUM: Dialect = Dialect {
    original: "the one of BLAKE3's authors, 1.2.0",
    words: Words::C,
    options: &[
        (Some('c'), "check", Choice::Check),
        (None, "keyed", Choice::Keyed),
        (None, "derive-key", Choice::DeriveKey),
        (Some('l'), "length", Choice::Length),
        (None, "no-mmap", Choice::NoMmap),
        (None, "no-names", Choice::NoNames),
        (None, "num-threads", Choice::NumThreads),
        (None, "quiet", Choice::Quiet),
        (None, "raw", Choice::Raw),
        (None, "tag", Choice::Tag),
        (Some('h'), "help", Choice::Help),
        (Some('V'), "version", Choice::Version),
    ],
    lacks: &[],
    hint: "Try '{} --help' for more information.\n",
    lists: Lists { stdin: "-", kind: "", unread: None, is_strict: true, says_why: true, counts: false },
};
