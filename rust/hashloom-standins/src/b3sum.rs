// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called as `b3sum`, the program of BLAKE3's authors: version 1.2.0, and --tag of later ones.
//! `test/coreutils.py` compares them.
//!
//! Differences, besides those in `programs`: digests have up to 32 bytes; bytes of a name that are no UTF-8 are printed
//! as they are; a message names the list and the line, and a list that cannot be read does not end the work.

use std::ffi::{OsStr, OsString};
use std::io::Read;

use hashloom::{Algorithm, Hash, Hasher};
use hashloom_files::Method;
use hashloom_files::text::shown;
use hashloom_frame::input::{self, or_stdin};
use hashloom_frame::text::reason;
use hashloom_list::command::format::Format;
use hashloom_list::command::summing::{Item, source};
use hashloom_list::command::verdict::Rules;

use crate::Work;
use crate::check::{self, Grammar, Line, Listed};
use crate::modes::Mode;
use crate::options::{Choice, Other, parse};

const KEY_NBYTES: usize = 32;

/// The command line.
#[derive(Default)]
struct Wanted {
    check: bool,
    keyed: bool,
    context: Option<String>,
    length: Option<usize>,
    nthreads: usize,
    no_names: bool,
    quiet: bool,
    raw: bool,
    tag: bool,
}

/// Returns the exit status.
pub fn run(arguments: &[OsString], work: &Work<'_>) -> Result<u8, Other> {
    let mut wanted = Wanted::default();
    let named = parse(arguments, work.dialect, |choice, value| wanted.choose(choice, value))?;
    let is_stdin = |file: &std::path::PathBuf| file.as_os_str() == "-";
    let Wanted { check, keyed, ref context, length, nthreads, no_names, quiet, raw, tag } = wanted;
    let refused = if check && (keyed || context.is_some() || length.is_some() || no_names || raw || tag) {
        "--check takes no other option than --quiet and --num-threads"
    } else if quiet && !check {
        "--quiet is meaningful only with --check"
    } else if keyed && context.is_some() {
        "--keyed and --derive-key exclude each other"
    } else if keyed && (named.is_empty() || named.iter().any(is_stdin)) {
        "--keyed reads the key from standard input: name the files"
    } else if raw && named.len() > 1 {
        "--raw takes a single file"
    } else if tag && (raw || no_names) {
        "--tag prints names: it does not go with --raw and --no-names"
    } else {
        ""
    };
    if !refused.is_empty() {
        return Err(Other::Usage(refused.into()));
    }
    work.restrict(&[Algorithm::Blake3])?;
    let options = &work.options.clone().threads(nthreads);
    let files = or_stdin(&named);
    if check {
        let rules = Rules { quiet, ..Rules::default() };
        return Ok(u8::from(!check::check(&files, &mut Lines, rules, &Work { options, ..*work })));
    }
    let begin = match (keyed, context) {
        (true, _) => Some(Hasher::blake3_keyed(&key()?)),
        (_, Some(context)) => Some(Hasher::blake3_derive_key(context)),
        _ => None,
    };
    let write = |into: &mut Vec<u8>, name: &[u8], digest: &Hash| {
        let digest = &digest.as_ref()[..length.unwrap_or(KEY_NBYTES)];
        let hex = || digest.iter().flat_map(|byte| format!("{byte:02x}").into_bytes());
        let (escaped, name) = escaped(name);
        match () {
            () if raw => into.extend_from_slice(digest),
            () if no_names => into.extend(hex().chain(*b"\n")),
            () if tag => {
                into.extend([escaped, b"BLAKE3 (", &name, b") = "].concat().into_iter().chain(hex()).chain(*b"\n"));
            }
            () => into.extend(escaped.iter().copied().chain(hex()).chain([b"  ", &name[..], b"\n"].concat())),
        }
    };
    let items = files.into_iter().map(|file| Item::File(source(file)));
    let work = Work { options, ..*work };
    Ok(u8::from(!work.sum(Algorithm::Blake3, begin.map(Method::After), Format::Own(&write), items)))
}

impl Wanted {
    fn choose(&mut self, choice: Choice, value: &OsStr) -> Result<(), Other> {
        let number = || {
            let found = value.to_str().and_then(|text| text.parse::<usize>().ok());
            found.ok_or_else(|| Other::Refusal(format!("'{}' is no number", shown(value.as_encoded_bytes())).into()))
        };
        match choice {
            Choice::Check => self.check = true,
            Choice::Keyed => self.keyed = true,
            Choice::DeriveKey => match value.to_str() {
                Some(context) => self.context = Some(context.to_owned()),
                None => return Err(Other::Refusal(b"--derive-key: the context must be UTF-8".into())),
            },
            Choice::Length => match number()? {
                length @ ..=KEY_NBYTES => self.length = Some(length),
                length => {
                    let message = format!("--length {length}: hashloom has digests of up to 32 bytes of BLAKE3");
                    return Err(Other::Refusal(message.into()));
                }
            },
            Choice::NumThreads => self.nthreads = number()?,
            Choice::NoNames => self.no_names = true,
            Choice::Quiet => self.quiet = true,
            Choice::Raw => self.raw = true,
            Choice::Tag => self.tag = true,
            Choice::Version => return Err(Other::Version),
            Choice::Help => return Err(Other::Help),
            // Files are never mapped.
            _ => {}
        }
        Ok(())
    }
}

/// The key, which is all of standard input.
fn key() -> Result<[u8; KEY_NBYTES], Other> {
    let mut key = Vec::new();
    let read = input::stdin().and_then(|stdin| stdin.take(KEY_NBYTES as u64 + 1).read_to_end(&mut key));
    read.map_err(|error| Other::Refusal(format!("standard input: {}", reason(&error)).into()))?;
    let found = key.len();
    key.try_into().map_err(|_| {
        let found = if found > KEY_NBYTES { "more".to_owned() } else { format!("{found}") };
        Other::Refusal(format!("standard input: expected a key of 32 bytes, found {found}").into())
    })
}

/// The backslash before a line whose name is escaped, and the name.
fn escaped(name: &[u8]) -> (&'static [u8], Vec<u8>) {
    if !name.iter().any(|byte| matches!(byte, b'\\' | b'\n')) {
        return (b"", name.to_vec());
    }
    let escape = |&byte: &u8| match byte {
        b'\\' => b"\\\\".to_vec(),
        b'\n' => b"\\n".to_vec(),
        byte => vec![byte],
    };
    (b"\\", name.iter().flat_map(escape).collect())
}

/// The lines of lists of b3sum.
struct Lines;

impl Grammar for Lines {
    fn parse(&mut self, line: &[u8], is_too_long: bool) -> Line {
        let parsed = if is_too_long { Err("Line is too long") } else { parse_line(line) };
        parsed.map_or_else(|why| Line::Bad(why.to_owned()), Line::Entry)
    }
}

/// A line, `DIGEST  NAME` or `BLAKE3 (NAME) = DIGEST`; or else why it is none, in b3sum's words.
fn parse_line(line: &[u8]) -> Result<Listed, &'static str> {
    const NDIGITS: usize = 2 * KEY_NBYTES;
    let (before, rest) = if let Some(rest) = line.strip_prefix(b"\\") { (&line[..1], rest) } else { (&b""[..], line) };
    let tagged = rest.strip_prefix(b"BLAKE3 (").and_then(|rest| {
        let (name, digest) = rest.split_at_checked(rest.len().checked_sub(NDIGITS)?)?;
        Some((name.strip_suffix(b") = ")?, digest))
    });
    let (name, digest) = match tagged {
        Some(found) => found,
        None if line.is_empty() => return Err("Empty line"),
        None if rest.len() < NDIGITS + 3 => return Err("Short line"),
        None => {
            let (digest, rest) = rest.split_at(NDIGITS);
            (rest.strip_prefix(b"  ").ok_or("Invalid space")?, digest)
        }
    };
    let is_hex = digest.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let digest = std::str::from_utf8(digest).ok().filter(|_| is_hex).and_then(|digest| digest.parse().ok());
    let digest = digest.ok_or("Invalid hex")?;
    if name.contains(&0) {
        return Err("Null character in path");
    }
    let mut file = Vec::new();
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        file.push(match (byte, before) {
            (b'\\', b"\\") => match bytes.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err("Invalid backslash escape"),
            },
            _ => byte,
        });
    }
    if file.is_empty() {
        return Err("Empty file path");
    }
    // The name is printed as it stands there, with the backslash before the line.
    let shown = Some([before, name].concat());
    Ok(Listed { name: file, shown, algorithm: Algorithm::Blake3, digest, mode: Mode::Bytes })
}

/// Returns the text of `--help`.
pub fn help(called: &str) -> String {
    format!(
        "\
Usage: {called} [OPTION]... [FILE]...
Print BLAKE3 checksums of files, or check them against lists.

Reads standard input if no FILE is given, or if FILE is -.

      --keyed           print MACs; the key, 32 bytes, is read from standard input
      --derive-key TEXT print keys derived from the files in this context
  -l, --length BYTES    up to 32 (default): of the checksums
      --no-names        print checksums alone
      --raw             print the checksum of one file as bytes
      --tag             print lines in the format of the BSD programs
      --num-threads N   use N threads; 0 (default): one for each CPU
      --no-mmap         nothing: files are never mapped
  -c, --check           read checksums from the FILEs and check them
      --quiet           with --check: do not print OK for files that match

  -h, --help            print this
  -V, --version         print the version

This is hashloom, called as {called}; it takes the place of the program of
BLAKE3's authors, for checksums of up to 32 bytes. HASHLOOM_ISA restricts the
instruction sets. The exit status is 1 if a file cannot be read or does not
match its checksum, or a line of a list is not a checksum.
"
    )
}
