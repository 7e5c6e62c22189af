// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom work`: proof of work.

mod plan;
mod shown;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::ops::{ControlFlow, RangeInclusive};
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args};
use hashloom::Algorithm;
use hashloom_files::run::Cancel;
use hashloom_frame::exit::EXIT_INTERRUPTED;
use hashloom_frame::exit::EXIT_PIPE;
use hashloom_frame::interrupt;
use hashloom_frame::names::Name;
use hashloom_frame::numbers::HexBytes;
use hashloom_frame::numbers::whole;
use hashloom_frame::printing::Console;
use hashloom_frame::progress::Bar;
use hashloom_frame::text::reason;
use hashloom_frame::work::Threads;
use hashloom_frame::{style, units};

use crate::{End, Event, Search, search};
use plan::Plan;

/// The algorithms that nonces can be searched with.
const SEARCHABLE: Name = Name(Search::takes);

/// No nonce of the range is low enough.
const EXIT_NOT_FOUND: u8 = 1;

/// Find a nonce whose digest is low enough: proof of work.
///
/// The message is a prefix, the nonce and a suffix. The nonces of a range are tried in order on all cores, many in the
/// lanes of each; the first one found is printed, the same with any number of threads.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_long_help = HELP, arg_required_else_help = true)]
#[command(group(ArgGroup::new("kind").args(["zero_bits", "target", "bitcoin_header"]).required(true)))]
pub struct Pow {
    /// Any message: the digest begins with this number of zero bits
    #[arg(long, value_name = "N", value_parser = whole)]
    zero_bits: Option<u64>,

    /// Any message: the digest, or its first bytes if HEX is shorter, is at most HEX
    #[arg(long, value_name = "HEX")]
    target: Option<HexBytes>,

    /// A Bitcoin block header in hexadecimal: 76 bytes without the nonce, or 80 bytes, whose nonce is ignored
    #[arg(long, value_name = "HEX")]
    bitcoin_header: Option<HexBytes>,

    /// The text before the nonce
    #[arg(long, value_name = "TEXT", conflicts_with = "bitcoin_header")]
    prefix: Option<OsString>,

    /// The text after the nonce
    #[arg(long, value_name = "TEXT", conflicts_with = "bitcoin_header")]
    suffix: Option<OsString>,

    /// The hash function
    #[arg(short, long, value_name = "NAME", value_parser = SEARCHABLE, default_value = "sha256")]
    #[arg(conflicts_with = "bitcoin_header")]
    algorithm: Algorithm,

    /// The nonces to try, from FIRST to LAST, both included; FIRST.. tries all from FIRST on [default: 0..]
    #[arg(long, value_name = "FIRST..LAST")]
    range: Option<Range>,

    /// Print all nonces found, not only the first
    #[arg(long)]
    all: bool,

    /// Print one JSON object a line instead: nonce, text, digest, header
    #[arg(long)]
    json: bool,

    /// The digits of nonces; the first one means 0 [default: 0123456789]
    #[arg(long, value_name = "ALPHABET", conflicts_with = "bitcoin_header")]
    digits: Option<String>,

    /// Each nonce has N digits, with zeros in front; bytes count as digits
    #[arg(long, value_name = "N", value_parser = whole, conflicts_with = "bitcoin_header")]
    width: Option<u64>,

    /// Write nonces as bytes, the most significant first, not as text
    #[arg(long, conflicts_with_all = ["digits", "bitcoin_header"])]
    binary: bool,

    /// The bytes before the nonce, in hexadecimal
    #[arg(long, value_name = "HEX", conflicts_with_all = ["prefix", "bitcoin_header"])]
    prefix_hex: Option<HexBytes>,

    /// The bytes after the nonce, in hexadecimal
    #[arg(long, value_name = "HEX", conflicts_with_all = ["suffix", "bitcoin_header"])]
    suffix_hex: Option<HexBytes>,

    /// Hash the digest again with this hash function; the second digest counts
    #[arg(long, value_name = "NAME", value_parser = SEARCHABLE, hide_possible_values = true)]
    #[arg(conflicts_with = "bitcoin_header")]
    again: Option<Algorithm>,

    #[command(flatten)]
    threads: Threads,
}

/// clap would write one line.
const USAGE: &str = "\
hashloom work [OPTIONS] <--zero-bits <N>|--target <HEX>>
       hashloom work [OPTIONS] --bitcoin-header <HEX>";

const HELP: &str = "\
What is printed:
  NONCE  DIGEST   the nonce as it stands in the message, two blanks, the digest;
                  with --binary and --bitcoin-header the nonce as a number
  The digest is in hexadecimal, its most significant byte first. The digest of a
  Bitcoin header is then the hash of the block as all programs show it.
  Each nonce is hashed once more, alone, before it is printed.
  A line on a terminal shows the rate, how much of the range was tried, and the
  average time to find a nonce. This time stays the same, however many nonces
  were tried before.

Range:
  A nonce is a number, whatever its digits: at most 18446744073709551615, in a
  Bitcoin header at most 4294967295. Ctrl-C prints which nonces are done, and
  the --range that goes on after them. --range N..N checks one nonce.

Exit status:
  0    found
  1    no nonce of the range is low enough
  2    wrong usage, the output cannot be written, or a nonce found is wrong
  130  interrupted (Ctrl-C)
  141  the reader of the output has gone

Examples:
  hashloom work --zero-bits 20 --prefix 'hello '
  hashloom work --target 0000ffff --algorithm sha1 --width 10
  hashloom work --zero-bits 16 --prefix a --binary --width 8 --all --json";

/// `FIRST..LAST`, `FIRST..`
#[derive(Debug, Clone, Copy)]
struct Range {
    first: u64,
    last: Option<u64>,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let (first, last) = text.split_once("..").ok_or("expected FIRST..LAST, such as 0..999999")?;
        let first = whole(first)?;
        let last = if last.is_empty() { None } else { Some(whole(last)?) };
        match last {
            Some(last) if last < first => Err(format!("the first nonce, {first}, is greater than the last, {last}")),
            _ => Ok(Range { first, last }),
        }
    }
}

impl Pow {
    /// Returns the hash functions.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        match self {
            Pow { bitcoin_header: Some(_), .. } => vec![Algorithm::Sha256],
            Pow { algorithm, again, .. } => std::iter::once(*algorithm).chain(*again).collect(),
        }
    }

    /// Returns the nonces to try: those of the plan, or a part of them.
    fn range(&self, plan: &Plan) -> Result<RangeInclusive<u64>, String> {
        let Range { first, last } = self.range.unwrap_or(Range { first: 0, last: None });
        let most = plan.last();
        match last.unwrap_or(most.max(first)) {
            last if last > most => Err(format!("--range: expected nonces up to {most}, the last one of this work")),
            last => Ok(first..=last),
        }
    }
}

/// A search by a GPU. Returns the nonce to go on with if the search was cancelled; if the GPU failed, as an error the
/// nonce that the CPU goes on with.
pub type ByGpu = Box<
    dyn Fn(
        &Search<'_>,
        RangeInclusive<u64>,
        &Cancel,
        &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Option<u64>, u64>,
>;

/// Returns the exit status.
pub fn run(arguments: &Pow) -> Result<u8, String> {
    run_by(arguments, || Ok(None))
}

/// The same, by the GPU that the function opens, if any.
pub fn run_by(arguments: &Pow, open: impl FnOnce() -> Result<Option<ByGpu>, String>) -> Result<u8, String> {
    let plan = Plan::of(arguments)?;
    let range = arguments.range(&plan)?;
    let (first, last) = (*range.start(), *range.end());
    let stop = interrupt::flag();
    let bar = Bar::of_text(false);
    let options = arguments.threads.options().cancel(&stop);
    let gpu = open()?;
    let begun = Instant::now();
    let (mut has_found, mut wrong) = (false, None);
    let (cancelled_at, lost) = Console::new(b"hashloom", &stop, Some(&bar)).run(|console| {
        let mut on = |event| {
            match event {
                Event::Found(nonce) => {
                    has_found = true;
                    match plan.line(nonce, arguments.json) {
                        Ok(line) => console.print(|lines| lines.extend_from_slice(line.as_bytes())),
                        Err(error) => wrong = Some(error),
                    }
                    if !arguments.all || wrong.is_some() {
                        return ControlFlow::Break(());
                    }
                }
                Event::Tried(to) if bar.is_shown() => bar.tell(progress(&plan, (first, to, last), begun.elapsed())),
                _ => {}
            }
            ControlFlow::Continue(())
        };
        if let Some(by_gpu) = &gpu {
            return by_gpu(&plan.search(), range, &stop, &mut on)
                .unwrap_or_else(|next| next_of(search(&plan.search(), next..=last, &options, &mut on)));
        }
        next_of(search(&plan.search(), range, &options, &mut on))
    });
    bar.finish();
    if let Some(error) = wrong {
        return Err(error);
    }
    let (message, status) = match (lost.lines, cancelled_at) {
        (Some(error), _) if error.kind() == ErrorKind::BrokenPipe => return Ok(EXIT_PIPE),
        (Some(error), _) => return Err(format!("standard output: {}", reason(&error))),
        (None, Some(next)) => (interrupted(next, first, last), EXIT_INTERRUPTED),
        (None, _) if has_found => return Ok(0),
        (None, _) => (not_found(first, last, begun.elapsed()), EXIT_NOT_FOUND),
    };
    // Best effort: if standard error is closed, the exit status still tells.
    let _ = writeln!(io::stderr(), "{} {message}", style::error());
    Ok(status)
}

/// Returns the nonce to go on with, if the search was cancelled.
fn next_of(end: End) -> Option<u64> {
    end.next.filter(|_| end.cancelled)
}

/// Says how far an interrupted search has come.
fn interrupted(next: u64, first: u64, last: u64) -> String {
    let done = if next == first { "no nonce is done".into() } else { format!("nonces to {} are done", next - 1) };
    format!("interrupted: {done}. Go on with --range {next}..{last}")
}

fn not_found(first: u64, last: u64, elapsed: Duration) -> String {
    let tried = u128::from(last - first) + 1;
    let rate = shown::rate(tried as f64 / elapsed.as_secs_f64().max(1e-9));
    let time = units::duration(elapsed);
    format!("no nonce from {first} to {last} is low enough: {tried} tried in {time}, {rate}")
}

/// Formats the progress. Nonces from `first` to `tried` of those to `last` were tried.
fn progress(plan: &Plan, (first, tried, last): (u64, u64, u64), elapsed: Duration) -> String {
    let rate = ((tried - first) as f64 + 1.0) / elapsed.as_secs_f64().max(1e-9);
    let left = (last - tried) as f64 / rate;
    let share = units::percent(tried - first, last - first);
    let (rate, each, left) = (shown::rate(rate), shown::time(1.0 / plan.chance / rate), shown::time(left));
    // Short enough for 80 columns.
    format!("{rate}  {share} of the range, {left} left  {each} a nonce")
}

#[cfg(test)]
mod tests {
    use super::plan::zero_bits;
    use super::*;

    #[test]
    fn the_progress_fits_80_columns() {
        let plan = |nbits| Plan::new(Algorithm::Sha256, vec![], zero_bits(nbits));
        let line = progress(&plan(32), (1_000, 25_001_000, 100_000_999), Duration::from_secs(1));
        assert_eq!(line, "25.0 M nonces/s  25.0% of the range, 3.00 s left  2 min 51 s a nonce");
        let line = progress(&plan(160), (0, 12_345_678_901, u64::MAX), Duration::from_secs(100));
        assert_eq!(line, "123.5 M nonces/s  <0.1% of the range, 4735 years left  4e32 years a nonce");
        // The range has one nonce, and the clock stands still.
        assert!(progress(&plan(32), (7, 7, 7), Duration::ZERO).contains("100% of the range, 0.00 s left"));
    }

    #[test]
    fn ranges() {
        let read = |text: &str| text.parse::<Range>().map(|range| (range.first, range.last));
        assert_eq!(read("0..0"), Ok((0, Some(0))));
        assert_eq!(read("7.."), Ok((7, None)));
        assert_eq!(read("0..18446744073709551615"), Ok((0, Some(u64::MAX))));
        for wrong in
            ["", "..", "..5", "5", "5..4", "-1..4", "1..+4", "1...4", "0..18446744073709551616", "0x1..2", "1..2 "]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
