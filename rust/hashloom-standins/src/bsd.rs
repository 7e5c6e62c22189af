// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binary called `md5`, `sha256` or another of the BSD programs. The options and output are those of FreeBSD, which
//! macOS shares.
//!
//! Differences, besides those in `programs`: -c is obeyed for standard input too, where FreeBSD compares nothing;
//! -t and -x, which time and test FreeBSD's own code, are refused; there are --help and --version.

use std::ffi::OsString;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use hashloom::{Algorithm, Hash};
use hashloom_files::Source;
use hashloom_frame::input::{self, or_stdin};
use hashloom_frame::stdio::Stdout;
use hashloom_frame::text::reason;
use hashloom_list::command::format::Format;
use hashloom_list::command::summing::Item;

use crate::Work;
use crate::modes::Mode;
use crate::options::{Choice, Other, parse};

/// Standard input, which is copied to standard output as it is read.
struct Tee<R>(R);

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.0.read(into)?;
        io::Write::write_all(&mut Stdout, &into[..nbytes])?;
        Ok(nbytes)
    }
}

/// How a line is printed.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Tagged,
    Reversed,
    Bare,
}

/// Returns the exit status.
pub fn run(algorithm: Algorithm, tag: &str, arguments: &[OsString], work: &Work<'_>) -> Result<u8, Other> {
    let (mut expected, mut string, mut passes, mut quiet, mut reverses) = (None, None, false, false, false);
    let files = parse(arguments, work.dialect, |choice, value| {
        let refused = |option: &str, instead: &str| {
            let message = format!("{option}: FreeBSD's program does this to its own code; {instead}");
            Err(Other::Refusal(message.into()))
        };
        match choice {
            Choice::Expected => expected = Some(value.to_string_lossy().into_owned()),
            Choice::String => string = Some(value.to_owned()),
            Choice::Passthrough => passes = true,
            Choice::Quiet => quiet = true,
            Choice::Reverse => reverses = true,
            Choice::TimeTrial => return refused("-t", "`hashloom bench` shows the speed"),
            Choice::SelfTest => return refused("-x", "`hashloom kernels` lists what computes digests here"),
            Choice::Help => return Err(Other::Help),
            Choice::Version => return Err(Other::Version),
            // Files are always read in binary mode.
            _ => {}
        }
        Ok(())
    })?;
    work.restrict(&[algorithm])?;
    // FreeBSD ignores files beside -p, and both beside -s.
    let is_named = string.is_some() || !passes && !files.is_empty();
    let layout = if quiet || !is_named {
        Layout::Bare
    } else if reverses {
        Layout::Reversed
    } else {
        Layout::Tagged
    };
    let differs = AtomicBool::new(false);
    let write = |into: &mut Vec<u8>, name: &[u8], digest: &Hash| {
        let quote: &[u8] = if string.is_some() { b"\"" } else { b"" };
        let hex = digest.to_string();
        match layout {
            Layout::Tagged => {
                into.extend_from_slice(&[tag.as_bytes(), b" (", quote, name, quote, b") = ", hex.as_bytes()].concat());
            }
            Layout::Reversed => into.extend_from_slice(&[hex.as_bytes(), b" ", quote, name, quote].concat()),
            Layout::Bare => into.extend_from_slice(hex.as_bytes()),
        }
        if expected.as_ref().is_some_and(|expected| !expected.eq_ignore_ascii_case(&hex)) {
            differs.store(true, Ordering::Relaxed);
            into.extend_from_slice(if quiet { b"" } else { b" [ Failed ]" });
        }
        into.push(b'\n');
    };
    let items = match &string {
        Some(string) => {
            let bytes = string.as_encoded_bytes().to_vec();
            vec![Item::Named(Source::memory(bytes.clone()), bytes)]
        }
        None if passes => {
            let stdin = input::stdin().map_err(|error| Other::Refusal(reason(&error).to_string().into()))?;
            vec![Item::Named(Source::reader(Tee(stdin)), b"-".to_vec())]
        }
        None => or_stdin(&files).into_iter().map(|file| Mode::Bytes.item(file)).collect(),
    };
    let is_right = work.sum(algorithm, None, Format::Own(&write), items.into_iter());
    let status = if differs.load(Ordering::Relaxed) { 2 } else { 0 };
    Ok(if is_right { status } else { 1 })
}

/// Returns the text of `--help`.
pub fn help(called: &str, tag: &str) -> String {
    format!(
        "\
Usage: {called} [-bpqr] [-c STRING] [-s STRING] [FILE]...
Print {tag} checksums of files, in the format of the BSD programs.

Reads standard input if no FILE is given, and prints its checksum alone.

  -c, --check STRING    compare with this checksum; [ Failed ] follows another
  -p, --passthrough     copy standard input to standard output, then print its
                        checksum
  -q, --quiet           print only checksums
  -r, --reverse         print the checksum before the name
  -s, --string STRING   print the checksum of STRING
  -b, --binary          nothing: files are always read in binary mode
      --help            print this
      --version         print the version

This is hashloom, called as {called}; it takes the place of FreeBSD's program,
except its options -t and -x. HASHLOOM_ISA restricts the instruction sets. The
exit status is 1 if a file cannot be read, and 2 if a checksum is not the one
of --check.
"
    )
}
