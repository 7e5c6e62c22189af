// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom bench`: times what hashloom chooses for messages, beside the command openssl.

mod openssl;

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use hashloom::Algorithm;
use hashloom::kernels::{self as lib, IsaSet};
use hashloom_frame::numbers::Nbytes;
use hashloom_frame::progress::Bar;
use hashloom_frame::table::{Align, Look, Table};
use hashloom_frame::units::bytes;
use hashloom_frame::{isa, names, output, style};
use openssl::OpenSsl;
use serde::Serialize;

use crate::machine::Machine;
use crate::timing::{self, Effort, Work};

/// Show how fast this machine hashes, beside OpenSSL.
///
/// Hashes many messages of each size, and one message alone, with the kernel that hashloom chooses; the command
/// openssl, if it is installed, measures itself. Everything runs on one thread, with the data in the caches. It takes
/// a minute.
#[derive(Debug, Args)]
#[command(mut_arg("isa", isa::shown), after_long_help = HELP)]
pub struct Bench {
    /// Time this algorithm; can be given several times
    /// [default: one for each block function]
    #[arg(short, long = "algorithm", value_name = "NAME", value_parser = names::ANY)]
    pub algorithms: Vec<Algorithm>,

    /// Bytes in a message, such as 41, 16KiB or 1MiB; can be given several times
    #[arg(short, long = "size", value_name = "BYTES", value_parser = size, default_values = ["64", "1KiB", "16KiB"])]
    pub sizes: Vec<usize>,

    /// Leave OpenSSL out, which takes two seconds for each row
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
  ratio       the speed of hashloom divided by that of OpenSSL: 3.0 is three
              times as fast
  1 x 16 KiB  one message alone, of the greatest size; all lanes of a kernel but
              one are idle
  OpenSSL     one message after the other, as `openssl speed -evp` measures it.
              It makes a context for each message: a program that keeps one is
              faster with short messages
  If OpenSSL is missing, or lacks the algorithm, a line says so. Only kernels
  that --isa and HASHLOOM_ISA allow are used; `hashloom kernels --bench` times
  each.

How rows are timed:
  As OpenSSL times itself: on average of a second of CPU time. Half of the
  second comes before OpenSSL, half after it, so that a busy machine slows both.
  Without OpenSSL a row is timed --rounds times, and the fastest round counts.

Exit status:
  0  timed
  2  wrong usage

Examples:
  hashloom bench
  hashloom bench --algorithm sha256 --size 41 --size 64
  hashloom bench --rounds 1 --time 100us --no-openssl    a first look
  hashloom bench --json | jq '.results[0]'";

/// Total bytes of many messages, unless their number would exceed [`MANY_MAX`] or be too small for the lanes. The
/// messages then stay in the level 2 cache, so that only the hashing is timed.
const MANY_NBYTES: usize = 256 << 10;
/// The greatest number of messages.
const MANY_MAX: usize = 1024;
/// The longest message. Longer messages are not faster, and messages for all lanes of any kernel must fit into memory.
const SIZE_MAX: u64 = 4 << 20;

fn size(text: &str) -> Result<usize, String> {
    match text.parse()? {
        Nbytes(0) => Err("an empty message has no speed: give at least 1".into()),
        Nbytes(nbytes @ 1..=SIZE_MAX) => Ok(nbytes as usize),
        _ => Err("at most 4MiB: messages for all lanes must fit into memory, and longer ones are not faster".into()),
    }
}

/// JSON of `bench`: one object.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    machine: Machine,
    /// False for a debug build; the kernels are always optimised.
    optimised: bool,
    /// `--rounds`; beside OpenSSL unused.
    rounds: u32,
    /// `--time`; beside OpenSSL unused.
    seconds: f64,
    /// The instruction sets that `--isa` allows.
    allowed: Vec<&'static str>,
    /// The version of the command openssl, or why it is not there; null with `--no-openssl`.
    openssl: Option<String>,
    /// The operation that was timed.
    results: Vec<Row>,
}

/// The messages of one algorithm that are hashed together, and how fast.
#[derive(Serialize)]
struct Row {
    /// The algorithm.
    algorithm: &'static str,
    #[serde(flatten)]
    messages: Messages,
    /// Time of all messages; beside OpenSSL CPU time.
    seconds: f64,
    /// 10^9 bytes a second.
    gb_per_s: f64,
    /// 10^6 messages a second.
    million_messages_per_s: f64,
    /// OpenSSL's speed; absent if it was not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    openssl_gb_per_s: Option<f64>,
    /// The speed divided by OpenSSL's.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// Why OpenSSL was not timed, as of an algorithm that it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Messages {
    /// Number of messages.
    count: usize,
    /// Bytes of each.
    nbytes: usize,
}

/// Returns the exit status.
pub fn run(arguments: &Bench) -> Result<u8, String> {
    let report = Report::new(arguments);
    output::print(|out| {
        if arguments.json {
            hashloom_frame::json::write_json(&mut *out, &report)?;
            return writeln!(out);
        }
        report.print(out)
    })?;
    Ok(0)
}

impl Report {
    fn new(arguments: &Bench) -> Report {
        let algorithms = match &arguments.algorithms[..] {
            [] => one_of_each_body(),
            given => given.iter().enumerate().filter(|(i, a)| !given[..*i].contains(a)).map(|(_, &a)| a).collect(),
        };
        let all = messages(&arguments.sizes);
        let data = timing::random_bytes(all.iter().map(|messages| messages.nbytes()).max().unwrap_or(0));
        let openssl = (!arguments.no_openssl).then(|| OpenSsl::find("openssl"));
        let effort = &arguments.effort;
        let openssl_program = openssl.as_ref().and_then(|openssl| openssl.as_ref().ok());
        let nticks = if openssl_program.is_some() { 1 } else { effort.ticks(1) };
        let nrows = (algorithms.len() * all.len()) as u64;
        let bar = Bar::new(nrows * nticks, "timing {wide_bar} {percent:>3}%  {eta} left");
        let mut results = Vec::new();
        for algorithm in algorithms {
            for &messages in &all {
                let (seconds, openssl_speed) = time(algorithm, messages, &data, effort, openssl_program, &bar);
                let mut row = Row {
                    algorithm: algorithm.name(),
                    messages,
                    seconds,
                    gb_per_s: 1e-9 * messages.nbytes() as f64 / seconds,
                    million_messages_per_s: 1e-6 * messages.count as f64 / seconds,
                    openssl_gb_per_s: None,
                    ratio: None,
                    absent: None,
                };
                match openssl_speed {
                    Some(Ok(speed)) => {
                        row.openssl_gb_per_s = Some(1e-9 * speed);
                        row.ratio = Some(row.gb_per_s / (1e-9 * speed));
                    }
                    Some(Err(why)) => row.absent = Some(why),
                    None => {}
                }
                results.push(row);
            }
        }
        bar.finish();
        Report {
            machine: Machine::now(),
            optimised: !cfg!(debug_assertions),
            rounds: effort.rounds,
            seconds: effort.time.as_secs_f64(),
            allowed: IsaSet::allowed().names().collect(),
            openssl: openssl.map(|openssl| openssl.map_or_else(|why| why, |openssl| openssl.name)),
            results,
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.machine.print(out)?;
        writeln!(out, "with {}", self.allowed.join(", "))?;
        if let Some(openssl) = &self.openssl {
            writeln!(out, "openssl: {openssl}")?;
        }
        writeln!(out)?;
        let mut table = Table::new([Align::Left, Align::Right, Align::Right, Align::Right, Align::Right]);
        table.row(["", "", "GB/s", "OpenSSL", "ratio"].map(|title| (title, Look::Dim)));
        for rows in self.results.chunk_by(|a, b| a.algorithm == b.algorithm) {
            for (i, row) in rows.iter().enumerate() {
                let name = if i == 0 { row.algorithm } else { "" };
                // A ratio slightly below 1 is noise, and no reason for a warning.
                let look = if row.ratio.is_some_and(|ratio| ratio < 0.95) { Look::Partial } else { Look::Good };
                let figure = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.3}"));
                table.row([
                    (name.to_owned(), Look::Bold),
                    (row.messages.title(), Look::Plain),
                    (figure(Some(row.gb_per_s)), look),
                    (figure(row.openssl_gb_per_s), Look::Plain),
                    (row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")), look),
                ]);
            }
        }
        table.write(out)?;
        let mut absent: Vec<&String> = self.results.iter().filter_map(|row| row.absent.as_ref()).collect();
        absent.dedup();
        for why in absent {
            writeln!(out, "  {}", style::dim(why))?;
        }
        if self.results.iter().any(|row| row.ratio.is_some()) {
            let note = "OpenSSL: one message after the other, each with a new context, by `openssl speed -evp`";
            writeln!(out, "\n{}", style::dim(note))?;
        }
        if !self.optimised {
            let note = "this program is built without optimisation: only kernels and OpenSSL run at full speed";
            writeln!(out, "{}", style::partial(note))?;
        }
        Ok(())
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

/// Half of the time that OpenSSL takes.
const HALF: Duration = Duration::from_millis(500);

/// Returns the seconds that the messages take, and the bytes a second of OpenSSL.
fn time(
    algorithm: Algorithm,
    messages: Messages,
    data: &[u8],
    effort: &Effort,
    openssl: Option<&OpenSsl>,
    bar: &Bar,
) -> (f64, Option<Result<f64, String>>) {
    let slices: Vec<&[u8]> = data.chunks_exact(messages.nbytes).take(messages.count).collect();
    let mut digests = vec![0; messages.count * algorithm.digest_nbytes()];
    let mut work: Work<'_> = Box::new(|| hashloom::hash_many(algorithm, &slices, &mut digests));
    let Some(openssl) = openssl else {
        return (timing::race(&mut [work], effort, || bar.advance())[0], None);
    };
    let before = timing::average(&mut work, HALF);
    let speed = openssl.speed(algorithm, messages.nbytes);
    let after = timing::average(&mut work, HALF);
    bar.advance();
    ((before + after) / 2.0, Some(speed))
}

/// Returns one algorithm for each block function: the one whose digest is the whole state; the others are as fast. Of
/// those whose blocks differ in size, and therefore their speed, SHA3-256.
fn one_of_each_body() -> Vec<Algorithm> {
    let kernels: Vec<_> = lib::kernels().collect();
    let shares = |a: Algorithm, b: Algorithm| kernels.iter().any(|kernel| kernel.computes(a) && kernel.computes(b));
    let is_whole = |&a: &Algorithm| {
        let mut others = Algorithm::ALL.iter().filter(|&&b| shares(a, b));
        if others.clone().all(|b| b.block_nbytes() == a.block_nbytes()) {
            !others.any(|b| b.digest_nbytes() > a.digest_nbytes())
        } else {
            a == Algorithm::Sha3_256
        }
    };
    Algorithm::ALL.iter().copied().filter(is_whole).collect()
}

/// Returns many messages of each size, then one message of the greatest size.
fn messages(sizes: &[usize]) -> Vec<Messages> {
    // Fills all lanes of every kernel twice.
    let least = 2 * lib::kernels().map(|kernel| kernel.lanes()).max().unwrap_or(1);
    let mut messages: Vec<Messages> = Vec::new();
    for &nbytes in sizes {
        let many = Messages { count: (MANY_NBYTES / nbytes).min(MANY_MAX).max(least), nbytes };
        if !messages.contains(&many) {
            messages.push(many);
        }
    }
    messages.extend(messages.iter().map(|many| many.nbytes).max().map(|nbytes| Messages { count: 1, nbytes }));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let expected = [(1024, 1), (256, 1024), (2 * lanes, 4 << 20), (1, 4 << 20)];
        assert_eq!(messages(&[1, 1024, 1024, 4 << 20]), expected.map(|(count, nbytes)| Messages { count, nbytes }));
        assert!(2 * lanes * (4 << 20) <= 512 << 20, "the help promises that it fits into memory");
    }
}
