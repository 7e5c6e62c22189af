// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called as `sha256sum` or one of its siblings, or as `cksum`. Options, messages and exit status are those
//! of the programs of this name in GNU coreutils: 9.1, for cksum 9.10. `test/coreutils.py` compares them.
//!
//! BLAKE2b has digests of 256 and 512 bits here, of all that its programs have, and cksum's --debug names no hardware.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use hashloom::{Algorithm, Hash};
use hashloom_files::text::shown;
use hashloom_frame::input::or_stdin;
use hashloom_list::command::format::Format;
use hashloom_list::command::summing::{Item, source};
use hashloom_list::command::verdict::Rules;
use hashloom_list::{Parser, Writer, tag};

use crate::Work;
use crate::check::{Grammar, Line, Listed, check};
use crate::modes::Mode;
use crate::options::{Choice, Other, parse};
use crate::shasum::SHA3;
use crate::sums::{self, Sum};

/// One of the programs.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    Cksum,
    /// The program of one algorithm.
    Of(Algorithm),
}

/// A value of cksum's --algorithm.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Sum(Sum),
    Hash(Algorithm),
    /// Algorithms of one family: --length chooses one.
    Family(&'static str, &'static [Algorithm]),
}

const SHA2: [Algorithm; 4] = [Algorithm::Sha224, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512];

const BLAKE2B: [Algorithm; 2] = [Algorithm::Blake2b256, Algorithm::Blake2b];

const TYPES: [(&str, Type); 14] = [
    ("bsd", Type::Sum(Sum::Bsd)),
    ("sysv", Type::Sum(Sum::Sysv)),
    ("crc", Type::Sum(Sum::Crc)),
    ("crc32b", Type::Sum(Sum::Crc32b)),
    ("md5", Type::Hash(Algorithm::Md5)),
    ("sha1", Type::Hash(Algorithm::Sha1)),
    ("sha224", Type::Hash(SHA2[0])),
    ("sha256", Type::Hash(SHA2[1])),
    ("sha384", Type::Hash(SHA2[2])),
    ("sha512", Type::Hash(SHA2[3])),
    ("sha2", Type::Family("SHA2", &SHA2)),
    ("sha3", Type::Family("SHA3", &SHA3)),
    ("blake2b", Type::Family("BLAKE2b", &BLAKE2B)),
    ("sm3", Type::Hash(Algorithm::Sm3)),
];

/// The command line.
#[derive(Default)]
struct Wanted {
    kind: Option<Type>,
    length: Option<String>,
    /// `None` if neither --binary nor --text was given.
    binary: Option<bool>,
    check: bool,
    /// `None` if neither --tag nor --untagged was given.
    tag: Option<bool>,
    zero: bool,
    base64: bool,
    raw: bool,
    debug: bool,
    rules: Rules,
}

/// Returns the exit status.
pub fn run(program: Program, arguments: &[OsString], work: &Work<'_>) -> Result<u8, Other> {
    let mut wanted = Wanted::default();
    match program {
        Program::Cksum => {}
        Program::Of(Algorithm::Blake2b) => {
            (wanted.kind, wanted.tag) = (Some(Type::Family("BLAKE2b", &BLAKE2B)), Some(false));
        }
        Program::Of(algorithm) => (wanted.kind, wanted.tag) = (Some(Type::Hash(algorithm)), Some(false)),
    }
    let named = parse(arguments, work.dialect, |choice, value| wanted.choose(program, choice, value))?;
    let what = wanted.what(program, work.called)?;
    wanted.check(program)?;
    if wanted.raw && named.len() > 1 {
        return Err(Other::Refusal(b"the --raw option is not supported with multiple files".into()));
    }
    if wanted.debug {
        work.console.message(b"`hashloom kernels` lists what computes digests here");
    }
    let files = or_stdin(&named);
    let is_right = match what {
        What::Check(mut lines) => {
            work.restrict(if let Program::Of(algorithm) = &program { std::slice::from_ref(algorithm) } else { &[] })?;
            check(&files, &mut lines, wanted.rules, work)
        }
        What::Sum(sum) => {
            let (raw, names, end) = (wanted.raw, !named.is_empty(), if wanted.zero { 0 } else { b'\n' });
            sum.print(&files, &sums::Format { raw, names, end }, work.console, work.stop)
        }
        What::Hash(algorithm) => {
            work.restrict(&[algorithm])?;
            wanted.sum(algorithm, files, work)
        }
    };
    Ok(u8::from(!is_right))
}

/// The task of a call.
enum What {
    Check(Lines),
    Sum(Sum),
    Hash(Algorithm),
}

/// The lines of lists of coreutils.
struct Lines {
    parser: Parser,
    /// The algorithm in messages about bad lines. `None`: the algorithm of the last line with a tag, or else CRC.
    kind: Option<&'static str>,
    is_stdin: bool,
}

impl Lines {
    fn new(parser: Parser, kind: Option<&'static str>) -> Lines {
        Lines { parser, kind, is_stdin: false }
    }
}

impl Grammar for Lines {
    fn begin(&mut self, is_stdin: bool) {
        self.is_stdin = is_stdin;
        self.parser.begin_list(b'\n');
    }

    fn parse(&mut self, line: &[u8], is_too_long: bool) -> Line {
        /// The name that cksum has for an algorithm: all of SHA-3 has one.
        fn type_of(algorithm: Algorithm) -> &'static str {
            let tag = tag(algorithm);
            if tag.starts_with("SHA3-") { "SHA3" } else { tag }
        }
        match self.parser.parse(line) {
            hashloom_list::Line::Blank if !is_too_long => return Line::Blank,
            hashloom_list::Line::Entry(entry) if !(is_too_long || self.is_stdin && *entry.name == *b"-") => {
                if let [(algorithm, digest)] = entry.digests[..] {
                    let name = entry.name.into_owned();
                    return Line::Entry(Listed { name, shown: None, algorithm, digest, mode: Mode::Bytes });
                }
            }
            _ => {}
        }
        let kind = self.kind.unwrap_or_else(|| self.parser.last_tag().map_or("CRC", type_of));
        Line::Bad(format!("improperly formatted {kind} checksum line"))
    }
}

impl Wanted {
    fn choose(&mut self, program: Program, choice: Choice, value: &OsStr) -> Result<(), Other> {
        let rules = self.rules;
        match choice {
            Choice::Binary => self.binary = Some(true),
            Choice::Text => self.binary = Some(false),
            Choice::Tag => {
                self.tag = Some(true);
                if program != Program::Cksum {
                    self.binary = Some(true);
                }
            }
            Choice::Untagged => self.tag = Some(false),
            Choice::Check => self.check = true,
            Choice::Zero => self.zero = true,
            Choice::Base64 => self.base64 = true,
            Choice::Raw => self.raw = true,
            Choice::Debug => self.debug = true,
            // The last of these three counts.
            Choice::Quiet => self.rules = Rules { quiet: true, status: false, warn: false, ..rules },
            Choice::Status => self.rules = Rules { quiet: false, status: true, warn: false, ..rules },
            Choice::Warn => self.rules = Rules { quiet: false, status: false, warn: true, ..rules },
            Choice::IgnoreMissing => self.rules.ignore_missing = true,
            Choice::Strict => self.rules.strict = true,
            Choice::Algorithm => {
                let found = TYPES.iter().find(|(name, _)| value == *name);
                self.kind = Some(found.map(|&(_, kind)| kind).ok_or_else(|| unknown_type(value))?);
            }
            Choice::Length => {
                let text = value.to_string_lossy();
                if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                    let message = format!("invalid length: '{}'", shown(value.as_encoded_bytes()));
                    return Err(Other::Refusal(message.into()));
                }
                self.length = Some(text.into_owned());
            }
            Choice::Version => return Err(Other::Version),
            _ => return Err(Other::Help),
        }
        Ok(())
    }

    /// Returns what --algorithm, --length and --check ask for; `called` is the name of the program.
    fn what(&self, program: Program, called: &[u8]) -> Result<What, Other> {
        let refuse = |message: String| Err(Other::Refusal(message.into()));
        let is_zero = |length: &str| length.bytes().all(|byte| byte == b'0');
        let length = self.length.as_deref();
        let (name, algorithms) = match self.kind {
            Some(Type::Family(name, algorithms)) => (name, algorithms),
            _ if length.is_some_and(|length| !is_zero(length)) => {
                return refuse("--length is only supported with --algorithm blake2b, sha2, or sha3".into());
            }
            Some(Type::Sum(_)) if self.check => {
                return refuse("--check is not supported with --algorithm={bsd,sysv,crc,crc32b}".into());
            }
            Some(Type::Hash(algorithm)) if self.check => {
                let parser = match program {
                    Program::Cksum => Parser::cksum(&[algorithm], &[algorithm]),
                    Program::Of(_) => Parser::only(algorithm),
                };
                return Ok(What::Check(Lines::new(parser, Some(tag(algorithm)))));
            }
            None if self.check => {
                let hashes =
                    TYPES.iter().filter_map(|(_, kind)| if let Type::Hash(it) = kind { Some(*it) } else { None });
                let all: Vec<_> = hashes.chain(SHA3).chain(BLAKE2B).collect();
                return Ok(What::Check(Lines::new(Parser::cksum(&all, &[]), None)));
            }
            Some(Type::Hash(algorithm)) => return Ok(What::Hash(algorithm)),
            Some(Type::Sum(sum)) => return Ok(What::Sum(sum)),
            None => return Ok(What::Sum(Sum::Crc)),
        };
        let wanted = |length: &str| {
            let length = length.trim_start_matches('0');
            algorithms.iter().copied().find(|algorithm| (8 * algorithm.digest_nbytes()).to_string() == length)
        };
        let is_blake2b = name == "BLAKE2b";
        let length = length.filter(|length| !(is_blake2b && is_zero(length)));
        match (length.map(|length| (length, wanted(length))), self.check) {
            (Some((length, None)), _) => {
                let called = String::from_utf8_lossy(called);
                let why = match length.parse::<u32>() {
                    _ if !is_blake2b => format!("digest length for '{name}' must be 224, 256, 384, or 512"),
                    Ok(nbits) if nbits % 8 != 0 => "length is not a multiple of 8".to_owned(),
                    Ok(..=512) => "hashloom has digests of 256 and 512 bits".to_owned(),
                    _ => "maximum digest length for 'BLAKE2b' is 512 bits".to_owned(),
                };
                refuse(format!("invalid length: '{length}'\n{called}: {why}"))
            }
            // A valid length restricts nothing, as in coreutils: the lines of lists tell theirs.
            (_, true) => {
                let parser = Parser::cksum(algorithms, algorithms);
                Ok(What::Check(Lines::new(parser, Some(name))))
            }
            (Some((_, Some(algorithm))), false) => Ok(What::Hash(algorithm)),
            (None, false) if is_blake2b => Ok(What::Hash(Algorithm::Blake2b)),
            (None, false) => {
                let name = name.to_ascii_lowercase();
                refuse(format!("--algorithm={name} requires specifying --length 224, 256, 384, or 512"))
            }
        }
    }

    /// Checks that the options go together.
    fn check(&self, program: Program) -> Result<(), Other> {
        let Wanted { binary, check, tag, zero, rules, base64, raw, .. } = self;
        let meaningless = |what: &str| Some(format!("{what} meaningless when verifying checksums"));
        let only_checking = |option: &str| format!("the --{option} option is meaningful only when verifying checksums");
        let is_cksum = program == Program::Cksum;
        let is_text = *binary == Some(false);
        let message = if *base64 && *raw {
            Some("--base64 and --raw are mutually exclusive".to_owned())
        } else if !is_cksum && *tag == Some(true) && is_text {
            Some("--tag does not support --text mode".to_owned())
        } else if *zero && *check {
            Some("the --zero option is not supported when verifying checksums".to_owned())
        } else if *tag == Some(true) && *check {
            meaningless("the --tag option is")
        } else if binary.is_some() && *check {
            meaningless("the --binary and --text options are")
        } else if *check {
            None
        } else if rules.ignore_missing {
            Some(only_checking("ignore-missing"))
        } else if rules.status {
            Some(only_checking("status"))
        } else if rules.warn {
            Some(only_checking("warn"))
        } else if rules.quiet {
            Some(only_checking("quiet"))
        } else if rules.strict {
            Some(only_checking("strict"))
        } else if *tag != Some(false) && is_text {
            Some("--text mode is only supported with --untagged".to_owned())
        } else {
            None
        };
        message.map_or(Ok(()), |message| Err(Other::Usage(message.into())))
    }

    /// Returns true if all is right.
    fn sum(&self, algorithm: Algorithm, files: Vec<PathBuf>, work: &Work<'_>) -> bool {
        let writer = match self.binary {
            _ if self.tag != Some(false) => Writer::bsd(),
            Some(true) => Writer::gnu_binary(),
            _ => Writer::gnu(),
        };
        let write_raw = |into: &mut Vec<u8>, _: &[u8], digest: &Hash| into.extend_from_slice(digest.as_ref());
        let format =
            if self.raw { Format::Own(&write_raw) } else { Format::Lines(writer.zero(self.zero).base64(self.base64)) };
        let items = files.into_iter().map(|file| Item::File(source(file)));
        work.sum(algorithm, None, format, items)
    }
}

fn unknown_type(value: &OsStr) -> Other {
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let value = shown(value.as_encoded_bytes());
    Other::Usage(format!("invalid argument '{value}' for '--algorithm': hashloom has {}", names.join(", ")).into())
}

/// Returns the text of `--help`.
pub fn help(called: &str, program: Program) -> String {
    let (about, options, place) = match program {
        Program::Cksum => (
            "Print checksums of files, by default POSIX's CRC, or check them against lists.".to_owned(),
            "  -a, --algorithm TYPE  bsd, sysv, crc (default), crc32b, md5, sha1, sha224,
                        sha256, sha384, sha512, sha2, sha3, blake2b, sm3
  -l, --length BITS     224, 256, 384 or 512: of the digests of sha2 and sha3;
                        256 or 512: of blake2b
      --base64          print digests in base64
      --raw             print the checksum of one file as bytes
      --tag             print lines in the format of the BSD programs (default)
      --untagged        print lines without the name of the algorithm
  -b, --binary          with --untagged: mark files as read in binary mode: a star
                        before names
  -t, --text            with --untagged: do not mark them (default)
      --debug           name the command that lists the implementations
",
            "with digests of BLAKE2b of 256 and 512 bits. The CRCs and the sums of
sum(1), bsd and sysv, have lines of their own, and no lists of them are checked",
        ),
        Program::Of(algorithm) => (
            format!("Print {} checksums of files, or check them against lists.", tag(algorithm)),
            if algorithm == Algorithm::Blake2b {
                "  -l, --length BITS     256 or 512 (default): of the digests
  -b, --binary          mark files as read in binary mode: a star before names
  -t, --text            do not mark them (default)
      --tag             print lines in the format of the BSD programs
"
            } else {
                "  -b, --binary          mark files as read in binary mode: a star before names
  -t, --text            do not mark them (default)
      --tag             print lines in the format of the BSD programs
"
            },
            if algorithm == Algorithm::Blake2b { "for digests of these lengths" } else { "to the byte" },
        ),
    };
    format!(
        "\
Usage: {called} [OPTION]... [FILE]...
{about}

Reads standard input if no FILE is given, or if FILE is -.

{options}  -z, --zero            end lines with NUL and do not escape names
  -c, --check           read checksums from the FILEs and check them

Only with --check:
      --ignore-missing  ignore listed files that are missing
      --quiet           do not print OK for files that match
      --status          print nothing; the exit status tells the result
      --strict          fail if a line of a list is not a checksum
  -w, --warn            name lines that are not checksums

      --help            print this
      --version         print the version

This is hashloom, called as {called}; it takes the place of the program of GNU
coreutils, {place}. Binary and text mode are the same. HASHLOOM_ISA restricts
the instruction sets. The exit status is 1 if a file cannot be read or does not
match its checksum.
"
    )
}
