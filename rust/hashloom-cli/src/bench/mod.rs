// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom bench`: times hashloom's choice and its kernels on the same messages, beside the command openssl.

mod openssl;
mod size;

use std::io::{self, Write};

use clap::Args;
use console::Term;
use hashloom::Algorithm;
use hashloom::kernels::{self as lib, IsaSet};
use serde::Serialize;

use crate::json::hex;
use crate::progress::Bar;
use crate::table::{Align, Look, Table};
use crate::timing::{self, Effort, Work};
use crate::units::{bytes, plural};
use crate::{isa, machine, names, output, style};

use openssl::OpenSsl;
use size::Size;

/// Show how fast this machine hashes, beside OpenSSL.
///
/// Hashes many messages of each size, and one message alone, with the kernel that hashloom chooses; then the command
/// openssl, if it is installed, measures itself. Everything runs on one thread, with the data in the caches. It takes
/// half a minute.
#[derive(Debug, Args)]
#[command(arg = isa::shown(), after_long_help = HELP)]
pub struct Bench {
    /// Time this algorithm; can be given several times
    /// [default: one for each block function]
    #[arg(short, long = "algorithm", value_name = "NAME", value_parser = names::ANY)]
    pub algorithms: Vec<Algorithm>,

    /// Bytes in a message, such as 41, 16KiB or 1MiB; can be given several times
    #[arg(short, long = "size", value_name = "BYTES", default_values = ["64", "1KiB", "16KiB"])]
    pub sizes: Vec<Size>,

    /// Time each kernel that runs here too
    #[arg(long)]
    pub kernels: bool,

    /// Leave OpenSSL out, which takes a second for each algorithm and size
    #[arg(long)]
    pub no_openssl: bool,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub effort: Effort,
}

const HELP: &str = "\
What is printed:
  GB/s        10^9 bytes of message a second. Padding takes time but is not
              counted: for SHA-256 a message of 64 bytes is two blocks
  ratio       the speed of hashloom's choice divided by that of the row: 3.0 is
              three times as fast
  1 x 16 KiB  one message alone, of the greatest size; all lanes of a kernel but
              one are idle
  OpenSSL     one message after the other, as `openssl speed -evp` measures it.
              It makes a context for each message: a program that keeps one is
              faster with short messages
  If OpenSSL is missing, or lacks the algorithm, its row says so.

How rows are timed:
  hashloom's rows of a column take turns on one thread, --rounds times. The
  fastest round of each row counts. Then the digests of these rows are compared:
  if any differ, the program prints an error and no figure. Only kernels that
  --isa and HASHLOOM_ISA allow are timed. OpenSSL follows, with its own messages
  of the same sizes.

Exit status:
  0  timed
  2  wrong usage, or wrong digests

Examples:
  hashloom bench
  hashloom bench --algorithm sha256 --size 41 --size 64 --kernels
  hashloom bench --rounds 1 --time 100us --no-openssl    a first look
  hashloom bench --json | jq '.results[0].rows[0]'";

/// Total bytes of many messages, unless their number would exceed [`MANY_MAX`] or be too small for the lanes. The
/// messages then stay in the level 2 cache, so that only the hashing is compared.
const MANY_NBYTES: usize = 256 << 10;
/// The greatest number of messages.
const MANY_MAX: usize = 1024;
/// Columns if the output is not a terminal.
const COLUMNS: usize = 100;

/// Hashes messages; the digests are written one after the other.
type HashMany<'a> = Box<dyn Fn(&[&[u8]], &mut [u8]) + 'a>;

/// hashloom's choice, or one of its kernels.
struct Side<'a> {
    kind: Kind,
    name: String,
    /// The function, or why there is none.
    hash_many: Result<HashMany<'a>, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// hashloom's choice.
    Hashloom,
    Kernel,
    OpenSsl,
}

#[derive(Serialize)]
struct Report {
    hashloom: &'static str,
    cpu: String,
    /// The C compiler that made the kernels.
    compiler: &'static str,
    /// Whether the program is compiled with optimisation; the kernels always are.
    optimised: bool,
    date: String,
    rounds: u32,
    /// Time of each row in each round.
    seconds: f64,
    allowed: Vec<&'static str>,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    algorithm: &'static str,
    /// The messages hashed; the speeds of each row are in this order.
    messages: Vec<Messages>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Messages {
    count: usize,
    nbytes: usize,
}

#[derive(Serialize)]
struct Row {
    kind: Kind,
    name: String,
    /// Why the row was not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<String>,
    speeds: Vec<Speed>,
}

#[derive(Clone, Copy, Serialize)]
struct Speed {
    /// Time for all messages.
    seconds: f64,
    gb_per_s: f64,
    million_messages_per_s: f64,
    /// Speed of hashloom's choice divided by this speed.
    ratio: f64,
}

/// Returns the exit status.
pub fn run(arguments: &Bench) -> Result<u8, String> {
    let report = Report::new(arguments)?;
    output::print(|out| {
        if arguments.json {
            hashloom_list::write_json(&mut *out, &report)?;
            return writeln!(out);
        }
        let columns = Term::stdout().size_checked().map_or(COLUMNS, |(_rows, columns)| usize::from(columns));
        report.print(out, columns)
    })?;
    Ok(0)
}

impl Report {
    fn new(arguments: &Bench) -> Result<Report, String> {
        let algorithms = match &arguments.algorithms[..] {
            [] => one_of_each_body(),
            given => given.iter().enumerate().filter(|(i, a)| !given[..*i].contains(a)).map(|(_, &a)| a).collect(),
        };
        let messages = messages(&arguments.sizes);
        let nbytes = messages.iter().map(|messages| messages.nbytes()).max().unwrap_or(0);
        let data = timing::random_bytes(nbytes);
        let sides: Vec<(Algorithm, Vec<Side<'_>>)> =
            algorithms.into_iter().map(|algorithm| (algorithm, sides(algorithm, arguments.kernels))).collect();
        let openssl = (!arguments.no_openssl).then(|| OpenSsl::find("openssl"));

        let effort = &arguments.effort;
        let timed = |sides: &[Side<'_>]| sides.iter().filter(|side| side.hash_many.is_ok()).count();
        let ticks: u64 = sides.iter().map(|(_, sides)| effort.ticks(timed(sides)) * messages.len() as u64).sum();
        // OpenSSL takes a second for each size.
        let second = (1.0 / effort.time.as_secs_f64()).ceil() as u64;
        let nseconds = match &openssl {
            Some(Ok(_)) => (sides.len() * sizes(&messages).count()) as u64,
            _ => 0,
        };
        let bar = Bar::new(ticks + nseconds * second, "timing {wide_bar} {percent:>3}%  {eta} left");
        let mut results = Vec::new();
        for (algorithm, sides) in &sides {
            let mut outcome = compare(*algorithm, sides, &messages, &data, effort, &bar)?;
            if let Some(openssl) = &openssl {
                let row = openssl_row(openssl, *algorithm, &outcome, || (0..second).for_each(|_| bar.advance()));
                outcome.rows.push(row);
            }
            results.push(outcome);
        }
        bar.finish();
        Ok(Report {
            hashloom: env!("CARGO_PKG_VERSION"),
            cpu: machine::cpu(),
            compiler: lib::compiler(),
            optimised: !cfg!(debug_assertions),
            date: machine::today(),
            rounds: effort.rounds,
            seconds: effort.time.as_secs_f64(),
            allowed: IsaSet::allowed().names().collect(),
            results,
        })
    }

    fn print(&self, out: &mut impl Write, columns: usize) -> io::Result<()> {
        writeln!(out, "{}, {}", self.cpu, self.date)?;
        writeln!(out, "hashloom {} compiled by {}", self.hashloom, self.compiler)?;
        writeln!(out, "with {}", self.allowed.join(", "))?;
        self.print_table(out, columns)?;
        let mut absent: Vec<String> = Vec::new();
        for outcome in &self.results {
            for row in &outcome.rows {
                let line =
                    row.absent.as_ref().map(|reason| format!("{}: {reason}", row.label(outcome.algorithm).trim()));
                absent.extend(line.filter(|line| !absent.contains(line)));
            }
        }
        for line in &absent {
            writeln!(out, "  {}", style::dim(line))?;
        }
        let note = "ratio: the speed of hashloom's choice divided by that of the row";
        writeln!(out, "\n{}", style::dim(note))?;
        if self.results.iter().flat_map(|outcome| &outcome.rows).any(|row| row.kind == Kind::OpenSsl) {
            let note = "OpenSSL: one message after the other, each with a new context, by `openssl speed -evp`";
            writeln!(out, "{}", style::dim(note))?;
        }
        if !self.optimised {
            let note = "this program is built without optimisation: only kernels and OpenSSL run at full speed";
            writeln!(out, "{}", style::partial(note))?;
        }
        Ok(())
    }

    fn print_table(&self, out: &mut impl Write, columns: usize) -> io::Result<()> {
        const CELL: usize = "   GB/s  ratio".len();
        let rows = || self.results.iter().flat_map(|outcome| outcome.rows.iter().map(|row| (outcome.algorithm, row)));
        let names = rows().map(|(algorithm, row)| row.label(algorithm).chars().count()).max().unwrap_or(0);
        let messages = self.results.first().map_or(&[][..], |outcome| &outcome.messages[..]);
        let fit = (columns.saturating_sub(2 + names) / (2 + CELL)).max(1);
        // The table is as wide as needed; if a line is too short, there are several tables.
        for first in (0..messages.len()).step_by(fit) {
            let shown = first..messages.len().min(first + fit);
            let titles = messages[shown.clone()].iter().map(|messages| messages.title());
            let align = std::iter::once(Align::Left).chain(shown.clone().map(|_| Align::Right));
            let mut table = Table::new(align);
            writeln!(out)?;
            let first_cell = || std::iter::once((String::new(), Look::Dim));
            table.row(first_cell().chain(titles.map(|title| (format!("{title:>CELL$}"), Look::Dim))));
            table.row(first_cell().chain(shown.clone().map(|_| ("   GB/s  ratio".to_owned(), Look::Dim))));
            for (algorithm, row) in rows() {
                let look = match row.kind {
                    _ if row.absent.is_some() => Look::Dim,
                    Kind::Hashloom => Look::Good,
                    Kind::Kernel => Look::Plain,
                    Kind::OpenSsl => Look::Bold,
                };
                let cells = shown.clone().map(|i| match row.speeds.get(i) {
                    // A ratio slightly below 1 is noise, and no reason for a warning.
                    Some(speed) if speed.ratio < 0.95 => (speed.text(), Look::Partial),
                    Some(speed) => (speed.text(), look),
                    None => ("-".to_owned(), look),
                });
                table.row(std::iter::once((row.label(algorithm), look)).chain(cells));
            }
            table.write(out)?;
        }
        Ok(())
    }
}

impl Row {
    /// The row of hashloom's choice has the name of the algorithm; the others are indented below.
    fn label(&self, algorithm: &str) -> String {
        match self.kind {
            Kind::Hashloom => algorithm.to_owned(),
            Kind::Kernel | Kind::OpenSsl => format!("  {}", self.name),
        }
    }
}

impl Speed {
    /// The speed of a side that takes `seconds` for the messages, for which hashloom's choice takes `least`.
    fn new(messages: Messages, seconds: f64, least: f64) -> Speed {
        Speed {
            seconds,
            gb_per_s: 1e-9 * messages.nbytes() as f64 / seconds,
            million_messages_per_s: 1e-6 * messages.count as f64 / seconds,
            ratio: seconds / least,
        }
    }

    fn text(&self) -> String {
        format!("{:>7.3} {:>6.2}", self.gb_per_s, self.ratio)
    }
}

impl Messages {
    fn nbytes(self) -> usize {
        self.count * self.nbytes
    }

    /// `256 x 1 KiB`.
    fn title(self) -> String {
        format!("{} x {}", self.count, bytes(self.nbytes as u64))
    }
}

/// Returns one algorithm for each block function: the one whose digest is the whole state; the others are as fast. Of
/// those whose blocks differ in size, and therefore their speed, SHA3-256.
fn one_of_each_body() -> Vec<Algorithm> {
    let kernels: Vec<_> = lib::kernels().collect();
    let shares = |a: Algorithm, b: Algorithm| kernels.iter().any(|kernel| kernel.computes(a) && kernel.computes(b));
    let is_whole = |&a: &Algorithm| {
        let mut others = Algorithm::ALL.iter().filter(|&&b| shares(a, b));
        match others.clone().all(|b| b.block_nbytes() == a.block_nbytes()) {
            true => !others.any(|b| b.digest_nbytes() > a.digest_nbytes()),
            false => a == Algorithm::Sha3_256,
        }
    };
    Algorithm::ALL.iter().copied().filter(is_whole).collect()
}

/// Returns many messages of each size, then one message of the greatest size.
fn messages(sizes: &[size::Size]) -> Vec<Messages> {
    // Fills all lanes of every kernel twice.
    let least = 2 * lib::kernels().map(|kernel| kernel.lanes()).max().unwrap_or(1);
    let mut messages: Vec<Messages> = Vec::new();
    for nbytes in sizes.iter().map(|size| size.nbytes()) {
        let many = Messages { count: (MANY_NBYTES / nbytes).min(MANY_MAX).max(least), nbytes };
        if !messages.contains(&many) {
            messages.push(many);
        }
    }
    messages.extend(messages.iter().map(|many| many.nbytes).max().map(|nbytes| Messages { count: 1, nbytes }));
    messages
}

/// Returns the lengths of messages, each once: OpenSSL hashes many as fast as one.
fn sizes(messages: &[Messages]) -> impl Iterator<Item = usize> {
    let is_first = |i: &usize| !messages[..*i].iter().any(|before| before.nbytes == messages[*i].nbytes);
    (0..messages.len()).filter(is_first).map(|i| messages[i].nbytes)
}

/// Returns hashloom's choice, then, with `kernels`, each kernel that it may choose from.
fn sides<'a>(algorithm: Algorithm, kernels: bool) -> Vec<Side<'a>> {
    let choice: Result<HashMany<'_>, String> = match lib::chosen(algorithm, 1) {
        Some(_) => Ok(Box::new(move |messages, digests| hashloom::hash_many(algorithm, messages, digests))),
        None => Err(format!("no kernel for {algorithm} in the set {{{}}}", IsaSet::allowed())),
    };
    let mut sides = vec![Side { kind: Kind::Hashloom, name: "hashloom".into(), hash_many: choice }];
    let is_wanted = |kernel: &lib::Kernel| kernels && IsaSet::allowed().contains(kernel.isa_set());
    for kernel in lib::kernels().filter(|kernel| kernel.computes(algorithm) && is_wanted(kernel)) {
        let hash_many: HashMany<'_> = Box::new(move |messages, digests| {
            kernel.hash_many(algorithm, messages, digests).expect("the kernel is available and computes the algorithm");
        });
        sides.push(Side { kind: Kind::Kernel, name: kernel.name().into(), hash_many: Ok(hash_many) });
    }
    sides
}

/// Times OpenSSL. `measured` is called after each size.
fn openssl_row(openssl: &Result<OpenSsl, String>, algorithm: Algorithm, outcome: &Outcome, measured: impl Fn()) -> Row {
    let mut row = Row { kind: Kind::OpenSsl, name: "OpenSSL".into(), absent: None, speeds: Vec::new() };
    let speeds = openssl.as_ref().map_err(Clone::clone).and_then(|openssl| {
        row.name = openssl.name.clone();
        let of_size = |nbytes| {
            let speed = openssl.speed(algorithm, nbytes);
            measured();
            Ok((nbytes, speed?))
        };
        sizes(&outcome.messages).map(of_size).collect::<Result<Vec<(usize, f64)>, String>>()
    });
    match speeds {
        Ok(speeds) => {
            for (i, &messages) in outcome.messages.iter().enumerate() {
                let Some((_, speed)) = speeds.iter().find(|(nbytes, _)| *nbytes == messages.nbytes) else { continue };
                let seconds = messages.nbytes() as f64 / speed;
                let choice = outcome.rows.first().and_then(|row| row.speeds.get(i));
                row.speeds.push(Speed::new(messages, seconds, choice.map_or(seconds, |choice| choice.seconds)));
            }
        }
        Err(reason) => row.absent = Some(reason),
    }
    row
}

fn compare(
    algorithm: Algorithm,
    sides: &[Side<'_>],
    messages: &[Messages],
    data: &[u8],
    effort: &Effort,
    bar: &Bar,
) -> Result<Outcome, String> {
    let mut rows: Vec<Row> = sides
        .iter()
        .map(|side| {
            let absent = side.hash_many.as_ref().err().cloned();
            Row { kind: side.kind, name: side.name.clone(), absent, speeds: Vec::new() }
        })
        .collect();
    let timed: Vec<(usize, &HashMany<'_>)> =
        sides.iter().enumerate().filter_map(|(i, side)| Some((i, side.hash_many.as_ref().ok()?))).collect();
    for &what in messages {
        let slices: Vec<&[u8]> = data.chunks_exact(what.nbytes).take(what.count).collect();
        let mut digests = vec![vec![0; what.count * algorithm.digest_nbytes()]; timed.len()];
        let mut works: Vec<Work<'_>> = timed
            .iter()
            .zip(&mut digests)
            .map(|((_, hash_many), digests)| -> Work<'_> { Box::new(|| hash_many(&slices, digests)) })
            .collect();
        let times = timing::race(&mut works, effort, || bar.advance());
        drop(works);
        check(algorithm, what, &digests, |i| &sides[timed[i].0].name)?;
        // The time of hashloom's choice; if it could not be timed, the first time there is.
        let Some(&first) = times.first() else { continue };
        for ((i, _), seconds) in timed.iter().zip(times) {
            rows[*i].speeds.push(Speed::new(what, seconds, first));
        }
    }
    Ok(Outcome { algorithm: algorithm.name(), messages: messages.to_vec(), rows })
}

/// Checks that all sides have written the same digests.
fn check<'a>(
    algorithm: Algorithm,
    what: Messages,
    digests: &[Vec<u8>],
    name: impl Fn(usize) -> &'a str,
) -> Result<(), String> {
    let Some((expected, others)) = digests.split_first() else { return Ok(()) };
    let len = algorithm.digest_nbytes();
    for (i, digests) in others.iter().enumerate() {
        let mut pairs = expected.chunks_exact(len).zip(digests.chunks_exact(len)).enumerate();
        if let Some((at, (expected, found))) = pairs.find(|(_, (expected, found))| expected != found) {
            let (of, size) = (plural(what.count as u64, "message"), bytes(what.nbytes as u64));
            return Err(format!(
                "{algorithm} of {of} of {size}: the digests of message {at} differ, so no speed is shown\n  \
                 {}: {}\n  {}: {}",
                name(0),
                hex(expected),
                name(i + 1),
                hex(found),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const EFFORT: Effort = Effort { rounds: 1, time: Duration::from_micros(1) };

    fn side<'a>(kind: Kind, name: &str, hash_many: Result<HashMany<'a>, &str>) -> Side<'a> {
        Side { kind, name: name.into(), hash_many: hash_many.map_err(str::to_owned) }
    }

    fn right() -> HashMany<'static> {
        Box::new(|messages, digests| hashloom::hash_many(Algorithm::Sha1, messages, digests))
    }

    fn outcome(sides: &[Side<'_>]) -> Result<Outcome, String> {
        let messages = [Messages { count: 3, nbytes: 5 }, Messages { count: 1, nbytes: 5 }];
        compare(Algorithm::Sha1, sides, &messages, b"aaaaabbbbbccccc", &EFFORT, &Bar::new(1, ""))
    }

    #[test]
    fn digests_that_differ_are_an_error() {
        let wrong: HashMany<'_> = Box::new(|messages, digests| {
            hashloom::hash_many(Algorithm::Sha1, messages, digests);
            if messages.len() == 3 {
                digests[20 + 19] ^= 1;
            }
        });
        let error =
            outcome(&[side(Kind::Hashloom, "a", Ok(right())), side(Kind::Kernel, "b", Ok(wrong))]).err().unwrap();
        let expected = "sha1 of 3 messages of 5 bytes: the digests of message 1 differ, so no speed is shown
  a: 41d54f9aaf0f5a8c57cba3d5ee26e9b1d1d1a8d0";
        let (first, second) = error.split_at(expected.rfind("41d5").unwrap());
        assert_eq!(first, &expected[..first.len()]);
        let digests: Vec<&str> = second.split("\n  b: ").collect();
        assert_eq!((digests.len(), digests[0].len(), digests[1].len()), (2, 40, 40), "{error}");
        assert_eq!(digests[0][..39], digests[1][..39]);
        assert_ne!(digests[0], digests[1]);
    }

    #[test]
    fn one_that_does_nothing_is_an_error() {
        let idle: HashMany<'_> = Box::new(|_, _| ());
        assert!(outcome(&[side(Kind::Hashloom, "a", Ok(right())), side(Kind::Kernel, "b", Ok(idle))]).is_err());
    }

    #[test]
    fn the_table_names_what_is_absent_and_fits_the_columns() {
        console::set_colors_enabled(false);
        let sides = [
            side(Kind::Hashloom, "hashloom", Ok(right())),
            side(Kind::Kernel, "kernel", Ok(right())),
            side(Kind::Kernel, "other", Err("not there")),
        ];
        let mut outcome = outcome(&sides).unwrap();
        for row in &mut outcome.rows {
            for (speed, ratio) in row.speeds.iter_mut().zip([1.0, 2.5]) {
                *speed = Speed { gb_per_s: 12.3456, ratio, ..*speed };
            }
        }
        let report = Report {
            hashloom: "0",
            cpu: "a CPU".into(),
            compiler: "cc",
            optimised: true,
            date: "2026-11-20".into(),
            rounds: 1,
            seconds: 1.0,
            allowed: vec!["scalar", "avx2"],
            results: vec![outcome],
        };
        let mut out = Vec::new();
        report.print(&mut out, 100).unwrap();
        let expected = concat!(
            "a CPU, 2026-11-20\n",
            "hashloom 0 compiled by cc\n",
            "with scalar, avx2\n",
            "\n",
            "               3 x 5 bytes     1 x 5 bytes\n",
            "               GB/s  ratio     GB/s  ratio\n",
            "  sha1       12.346   1.00   12.346   2.50\n",
            "    kernel   12.346   1.00   12.346   2.50\n",
            "    other                -               -\n",
            "  other: not there\n",
            "\n",
            "ratio: the speed of hashloom's choice divided by that of the row\n",
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut narrow = Vec::new();
        report.print_table(&mut narrow, 30).unwrap();
        let narrow = String::from_utf8(narrow).unwrap();
        assert_eq!(narrow.matches("sha1").count(), 2, "{narrow}");
        assert!(narrow.lines().all(|line| line.len() <= 30), "{narrow}");
    }

    #[test]
    fn one_algorithm_for_each_block_function() {
        let all = one_of_each_body();
        for kernel in lib::kernels() {
            assert_eq!(all.iter().filter(|&&algorithm| kernel.computes(algorithm)).count(), 1, "{kernel}");
        }
        assert!(all.contains(&Algorithm::Sha256) && all.contains(&Algorithm::Sha512));
    }

    #[test]
    fn numbers_of_messages() {
        let lanes = lib::kernels().map(|kernel| kernel.lanes()).max().unwrap();
        let sizes = ["1", "1KiB", "1KiB", "4MiB"].map(|size| size.parse().unwrap());
        let expected = [(1024, 1), (256, 1024), (2 * lanes, 4 << 20), (1, 4 << 20)];
        assert_eq!(messages(&sizes), expected.map(|(count, nbytes)| Messages { count, nbytes }));
        assert!(2 * lanes * (4 << 20) <= 512 << 20, "the help promises that it fits into memory");
    }
}
