// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses the command lines of other programs, each by the options of its dialect, and complains in their words.
//!
//! Letters can be joined (`-bc`), and long options abbreviated. Options may follow files, unless POSIXLY_CORRECT is
//! set. The crate lexopt splits arguments; no crate finds abbreviations and words them as these programs do.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use lexopt::Arg;

use crate::dialect::Dialect;

/// All that an option of these programs can mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    Algorithm,
    /// The digest that files are compared with.
    Expected,
    Base64,
    Binary,
    Bits,
    Check,
    Debug,
    DeriveKey,
    Help,
    IgnoreMissing,
    Keyed,
    Length,
    NoMmap,
    NoNames,
    NumThreads,
    Passthrough,
    Quiet,
    Raw,
    Reverse,
    SelfTest,
    Status,
    Strict,
    String,
    Tag,
    Text,
    TimeTrial,
    Universal,
    Untagged,
    Version,
    Warn,
    Zero,
}

impl Choice {
    fn takes_value(self) -> bool {
        matches!(
            self,
            Choice::Algorithm
                | Choice::DeriveKey
                | Choice::Expected
                | Choice::Length
                | Choice::NumThreads
                | Choice::String
        )
    }
}

/// An option: its letter, if it has one, its long name, and its meaning.
pub type Row = (Option<char>, &'static str, Choice);

/// The program whose words the messages have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Words {
    /// The C library's.
    C,
    /// Those of perl's Getopt::Long, which also ignores the case of long options.
    Perl,
}

/// Other outcomes of a command line.
pub enum Other {
    Help,
    Version,
    /// A message; a hint how to get help follows it.
    Usage(Vec<u8>),
    /// A message.
    Refusal(Vec<u8>),
}

/// Calls `each` with the options and their values, in order. Returns the files.
pub fn parse(
    arguments: &[OsString],
    dialect: &Dialect,
    mut each: impl FnMut(Choice, &OsStr) -> Result<(), Other>,
) -> Result<Vec<PathBuf>, Other> {
    let told = |error: lexopt::Error| Other::Usage(error.to_string().into());
    let Dialect { words, options, lacks, .. } = *dialect;
    let table: Vec<Row> = options.iter().copied().filter(|(_, _, choice)| !lacks.contains(choice)).collect();
    let stops_at_operand = std::env::var_os("POSIXLY_CORRECT").is_some();
    let mut files = Vec::new();
    let mut parser = lexopt::Parser::from_args(arguments.iter().skip(1));
    parser.set_short_equals(false);
    // An error is such as that of --help=x.
    while let Some(argument) = parser.next().map_err(told)? {
        let (choice, shown) = match argument {
            Arg::Value(file) => {
                files.push(file.into());
                if stops_at_operand {
                    files.extend(parser.raw_args().map_err(told)?.map(PathBuf::from));
                    break;
                }
                continue;
            }
            Arg::Short(letter) => (short(letter, &table, words)?, letter.to_string()),
            Arg::Long(name) if words == Words::Perl && name.len() == 1 => {
                (short(name.chars().next().unwrap_or_default(), &table, words)?, name.to_owned())
            }
            Arg::Long(name) => {
                let name = name.to_owned();
                let &(_, long, choice) = long(&name, &mut parser, &table, words)?;
                (choice, format!("--{long}"))
            }
        };
        let value = if choice.takes_value() {
            parser.value().map_err(|_| {
                let letter = shown.trim_start_matches('-');
                Other::Usage(match words {
                    Words::Perl => format!("Option {letter} requires an argument").into(),
                    Words::C if shown.starts_with("--") => format!("option '{shown}' requires an argument").into(),
                    Words::C => format!("option requires an argument -- '{shown}'").into(),
                })
            })?
        } else {
            OsString::new()
        };
        each(choice, &value)?;
    }
    Ok(files)
}

fn short(letter: char, table: &[Row], words: Words) -> Result<Choice, Other> {
    let found = table.iter().find(|(short, _, _)| *short == Some(letter));
    found.map(|&(_, _, choice)| choice).ok_or_else(|| {
        // The C library looks at bytes, not characters.
        let first = letter.to_string().as_bytes()[0];
        Other::Usage(match words {
            Words::C => [b"invalid option -- '", &[first][..], b"'"].concat(),
            Words::Perl => format!("Unknown option: {letter}").into(),
        })
    })
}

fn long<'a>(name: &str, parser: &mut lexopt::Parser, table: &'a [Row], words: Words) -> Result<&'a Row, Other> {
    let begins = |long: &str| match words {
        Words::C => long.starts_with(name),
        Words::Perl => long.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name)),
    };
    let begin_so: Vec<_> = table.iter().filter(|(_, long, _)| begins(long)).collect();
    let exact = begin_so.iter().copied().find(|(_, long, _)| long.len() == name.len());
    let row = match (exact, &begin_so[..]) {
        (Some(row), _) | (None, &[row]) => row,
        (None, rows) => {
            let value = parser.optional_value();
            let given = value.map(|value| [b"=", value.as_encoded_bytes()].concat()).unwrap_or_default();
            let given = [name.as_bytes(), &given].concat();
            let names = || rows.iter().map(|(_, long, _)| *long);
            return Err(Other::Usage(match (words, rows) {
                (Words::C, []) => [b"unrecognized option '--", &given[..], b"'"].concat(),
                (Words::C, _) => {
                    let possibilities: String = names().map(|long| format!(" '--{long}'")).collect();
                    let rest = format!("' is ambiguous; possibilities:{possibilities}");
                    [b"option '--", &given[..], rest.as_bytes()].concat()
                }
                (Words::Perl, []) => format!("Unknown option: {name}").into(),
                (Words::Perl, _) => {
                    format!("Option {name} is ambiguous ({})", names().collect::<Vec<_>>().join(", ")).into()
                }
            }));
        }
    };
    let (_, long, choice) = row;
    if !choice.takes_value() && parser.optional_value().is_some() {
        return Err(Other::Usage(match words {
            Words::C => format!("option '--{long}' doesn't allow an argument").into(),
            Words::Perl => format!("Option {name} does not take an argument").into(),
        }));
    }
    Ok(row)
}
