// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom kernels`: which kernels exist, which run here, which are chosen, and how fast each is.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use hashloom::Algorithm;
use hashloom::kernels::{self as lib, IsaSet, Kernel};
use hashloom_frame::progress::Bar;
use hashloom_frame::table::{Align, Look, Table};
use hashloom_frame::{isa, names, output, style};
use serde::Serialize;

use crate::bare::Bare;
use crate::machine::Machine;
use crate::timing::{self, Effort, Work};

/// List all kernels: whether each runs here, what it is chosen for, and its speed.
///
/// A kernel is one block function (of SHA-1, of SHA-256, …) for one instruction set and a number of messages side by
/// side, its lanes. hashloom chooses the kernel that is best for the number of messages and the make of the CPU.
#[derive(Debug, Args)]
#[command(mut_arg("isa", isa::shown), after_long_help = HELP,
    mut_args(|arg| if is_effort(&arg) { arg.requires("bench") } else { arg }))]
pub struct Kernels {
    /// List only kernels of this algorithm; can be given several times
    #[arg(short, long = "algorithm", value_name = "NAME", value_parser = names::ANY)]
    pub algorithms: Vec<Algorithm>,

    /// Time every kernel that runs here; takes some seconds
    #[arg(long)]
    pub bench: bool,

    /// Print everything as one JSON object instead
    #[arg(long)]
    pub json: bool,

    /// Print the times as a column of costs for core/src/registry.def instead
    #[arg(long, requires = "bench", conflicts_with = "json")]
    pub column: bool,

    /// List the GPUs instead
    #[cfg(feature = "gpu")]
    #[arg(long, conflicts_with_all = ["algorithms", "bench"])]
    pub gpu: bool,

    #[command(flatten)]
    pub effort: Effort,
}

/// Returns true for the options that mean nothing unless something is timed.
fn is_effort(arg: &clap::Arg) -> bool {
    ["rounds", "time"].iter().any(|name| arg.get_id() == name)
}

const HELP: &str = "\
The columns:
  lanes       messages that one call advances
  here        whether this machine and its operating system can run the kernel
  chosen for  the numbers of messages still to hash for which this kernel is
              chosen; 5+: five or more. --isa and HASHLOOM_ISA restrict the
              choice, not what is listed or timed
  ns a call   nanoseconds for one block in all lanes; the messages are long, and
              their data is in the level 1 and 2 caches
  M/s         million blocks a second
  / scalar    the speed of this kernel divided by the speed of plain C for one
              message

How kernels are timed:
  All kernels take turns on one thread, --rounds times. The fastest round of
  each kernel counts. Ratios within one table hold on a busy machine too; be
  careful when you compare figures of two runs.

Exit status:
  0  listed
  2  wrong usage, or an instruction set that is not available

Examples:
  hashloom kernels
  hashloom kernels --bench --algorithm sha256
  hashloom kernels --isa avx2,sha
  hashloom kernels --bench --column    # send it to us if your CPU is slow
  hashloom kernels --bench --json | jq '.kernels[] | .name, .ns_per_call'";

/// Number of blocks by which each call of a kernel advances its lanes, the same as in `make bench-kernels`.
const BLOCKS_PER_CALL: usize = 64;

/// Returns the exit status.
pub fn run(arguments: &Kernels) -> Result<u8, String> {
    #[cfg(feature = "gpu")]
    if arguments.gpu {
        return hashloom_gpu::command::list(arguments.json);
    }
    let mut report = Report::new(&arguments.algorithms);
    if arguments.bench {
        report.time(&arguments.effort);
    }
    output::print(|out| {
        if arguments.json {
            hashloom_frame::json::write_json(&mut *out, &report)?;
            return writeln!(out);
        }
        if arguments.column {
            return report.print_column(out);
        }
        report.print(out)
    })?;
    Ok(0)
}

/// JSON of `kernels`: one object.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    machine: Machine,
    /// Instruction sets.
    isas: Isas,
    /// The kernels.
    kernels: Vec<Row>,
}

#[derive(Serialize)]
struct Isas {
    /// Those of the program.
    built: Vec<&'static str>,
    /// Those of this machine.
    available: Vec<&'static str>,
    /// Those that `--isa` allows.
    allowed: Vec<&'static str>,
}

#[derive(Serialize)]
struct Row {
    /// The kernel.
    name: &'static str,
    /// The algorithms that share the block function; the first is the one whose digest is the whole state.
    algorithms: Vec<&'static str>,
    /// Its instruction set.
    isa: &'static str,
    /// Messages at once.
    lanes: usize,
    /// Whether this machine can run it.
    available: bool,
    /// Whether `--isa` allows it.
    allowed: bool,
    /// Ranges of numbers of messages for which it is chosen.
    chosen_for: Vec<Run>,
    #[serde(flatten)]
    speed: Option<Speed>,
    #[serde(skip)]
    kernel: Kernel,
    #[serde(skip)]
    algorithm: Algorithm,
}

/// A range of numbers of messages, both ends included. If `last` is `None`, the range has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Run {
    /// The least number of messages.
    first: usize,
    /// The greatest number; null if the range has no end.
    last: Option<usize>,
}

#[derive(Clone, Copy, Serialize)]
struct Speed {
    /// Nanoseconds for one block in all lanes, with `--bench`.
    ns_per_call: f64,
    /// 10^9 bytes a second.
    gb_per_s: f64,
    /// 10^6 blocks a second.
    million_blocks_per_s: f64,
    /// Speed divided by that of the scalar kernel of the same block function; null if there is none.
    ratio_to_scalar: Option<f64>,
}

impl Report {
    /// Lists the kernels of these algorithms; of all algorithms if `algorithms` is empty.
    fn new(algorithms: &[Algorithm]) -> Report {
        let wanted = |kernel: &Kernel| algorithms.is_empty() || algorithms.iter().any(|&a| kernel.computes(a));
        Report {
            machine: Machine::now(),
            isas: Isas {
                built: IsaSet::built().names().collect(),
                available: IsaSet::available().names().collect(),
                allowed: IsaSet::allowed().names().collect(),
            },
            kernels: lib::kernels().filter(wanted).map(Row::new).collect(),
        }
    }

    /// Times all kernels that run here, including those that may not be chosen.
    fn time(&mut self, effort: &Effort) {
        let data = Data::new();
        let rows: Vec<&mut Row> = self.kernels.iter_mut().filter(|row| row.available).collect();
        let mut works: Vec<Work<'_>> = rows.iter().map(|row| data.work(row.kernel, row.algorithm)).collect();
        let bar = Bar::new(effort.ticks(works.len()), "timing {wide_bar} {percent:>3}%  {eta} left");
        let times = timing::race(&mut works, effort, || bar.advance());
        bar.finish();
        for (row, time) in rows.into_iter().zip(times) {
            let seconds = time / BLOCKS_PER_CALL as f64;
            let blocks = row.lanes as f64 / seconds;
            row.speed = Some(Speed {
                ns_per_call: 1e9 * seconds,
                gb_per_s: 1e-9 * blocks * row.algorithm.block_nbytes() as f64,
                million_blocks_per_s: 1e-6 * blocks,
                ratio_to_scalar: None,
            });
        }
        for i in 0..self.kernels.len() {
            let is_scalar = |row: &&Row| row.isa == "scalar" && row.algorithm == self.kernels[i].algorithm;
            let scalar = self.kernels.iter().find(is_scalar).and_then(|row| row.speed);
            if let (Some(speed), Some(scalar)) = (&mut self.kernels[i].speed, scalar) {
                speed.ratio_to_scalar = Some(speed.million_blocks_per_s / scalar.million_blocks_per_s);
            }
        }
    }

    /// A line for each kernel that was timed: the function, and its cost. Of kernels for one message the last one is
    /// chosen, so one that is slower than one before it has a cost of its own.
    fn print_column(&self, out: &mut impl Write) -> io::Result<()> {
        let Machine { cpu, compiler, date, .. } = &self.machine;
        writeln!(out, "{cpu}, {compiler}, {date}")?;
        for group in self.kernels.chunk_by(|a, b| a.algorithms == b.algorithms) {
            let mut least = f64::MAX;
            for (row, speed) in group.iter().filter_map(|row| Some((row, row.speed?))) {
                if row.lanes == 1 && speed.ns_per_call > least {
                    writeln!(out, "{} HLI_NEVER", row.name)?
                } else {
                    writeln!(out, "{} {:.0}", row.name, speed.ns_per_call)?
                }
                if row.lanes == 1 {
                    least = least.min(speed.ns_per_call);
                }
            }
        }
        Ok(())
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.machine.print(out)?;
        writeln!(out, "here: {}", self.isas.available.join(", "))?;
        let is_restricted = self.isas.allowed != self.isas.available;
        if is_restricted {
            writeln!(out, "allowed: only {}", self.isas.allowed.join(", "))?;
        }
        writeln!(out)?;

        let is_timed = self.kernels.iter().any(|row| row.speed.is_some());
        let mut titles = vec!["kernel", "isa", "lanes", "here", "chosen for"];
        if is_timed {
            titles.extend(["ns a call", "GB/s", "M/s", "/ scalar"]);
        }
        let align = |title: &&str| match *title {
            "kernel" | "isa" | "here" | "chosen for" => Align::Left,
            _ => Align::Right,
        };
        let mut table = Table::new(titles.iter().map(align));
        table.row(titles.iter().map(|&title| (title, Look::Dim)));
        for group in self.kernels.chunk_by(|a, b| a.algorithms == b.algorithms) {
            table.heading(group[0].algorithms.join(", "));
            group.iter().for_each(|row| row.add_to(&mut table, is_timed));
        }
        table.write(out)?;

        let mut notes = "chosen for: the number of messages still to hash; 5+: five or more".to_owned();
        if is_timed {
            notes += "\nns a call: for one block in all lanes; M/s: million blocks; / scalar: speed over plain C's";
        }
        writeln!(out, "\n{}", style::dim(notes))
    }
}

impl Row {
    fn new(kernel: Kernel) -> Row {
        let mut algorithms: Vec<Algorithm> =
            Algorithm::ALL.iter().copied().filter(|&algorithm| kernel.computes(algorithm)).collect();
        // The sort is stable: of equal ones the first stays first.
        algorithms.sort_by_key(|algorithm| std::cmp::Reverse(algorithm.digest_nbytes()));
        let algorithm = algorithms[0];
        Row {
            name: kernel.name(),
            algorithms: algorithms.iter().map(|algorithm| algorithm.name()).collect(),
            isa: kernel.isa(),
            lanes: kernel.lanes(),
            available: kernel.is_available(),
            allowed: IsaSet::allowed().contains(kernel.isa_set()),
            chosen_for: runs(|nmessages| lib::chosen(algorithm, nmessages) == Some(kernel)),
            speed: None,
            kernel,
            algorithm,
        }
    }

    fn add_to(&self, table: &mut Table, is_timed: bool) {
        let chosen = if !self.available {
            String::new()
        } else if !self.allowed {
            "not allowed".to_owned()
        } else {
            text_of(&self.chosen_for)
        };
        let is_chosen = !self.chosen_for.is_empty();
        let look = if !self.available || !self.allowed {
            Look::Dim
        } else if is_chosen {
            Look::Good
        } else {
            Look::Plain
        };
        let here = if self.available { "yes" } else { "no" };
        let mut cells =
            vec![self.name.to_owned(), self.isa.to_owned(), self.lanes.to_string(), here.to_owned(), chosen];
        if is_timed {
            cells.extend(match self.speed {
                Some(speed) => [
                    format!("{:.1}", speed.ns_per_call),
                    format!("{:.2}", speed.gb_per_s),
                    format!("{:.1}", speed.million_blocks_per_s),
                    speed.ratio_to_scalar.map_or(String::new(), |ratio| format!("{ratio:.2}")),
                ],
                None => Default::default(),
            });
        }
        table.row(cells.into_iter().map(|cell| (cell, look)));
    }
}

/// Returns the ranges of numbers of messages for which `is_chosen` holds.
///
/// The choice is the same for all numbers that exceed the lanes of every kernel. This function asks up to twice the
/// greatest number of lanes, and for the greatest number.
fn runs(is_chosen: impl Fn(usize) -> bool) -> Vec<Run> {
    let asked = 2 * lib::kernels().map(|kernel| kernel.lanes()).max().unwrap_or(1);
    let mut runs: Vec<Run> = Vec::new();
    for nmessages in (1..=asked).filter(|&nmessages| is_chosen(nmessages)) {
        match runs.last_mut() {
            Some(run) if run.last == Some(nmessages - 1) => run.last = Some(nmessages),
            _ => runs.push(Run { first: nmessages, last: Some(nmessages) }),
        }
    }
    if is_chosen(usize::MAX) {
        match runs.last_mut() {
            Some(run) if run.last == Some(asked) => run.last = None,
            _ => runs.push(Run { first: asked + 1, last: None }),
        }
    }
    runs
}

/// Formats ranges: `1, 3-4, 10+`.
fn text_of(runs: &[Run]) -> String {
    let mut text = String::new();
    for (i, run) in runs.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = match run.last {
            Some(last) if last == run.first => write!(text, "{comma}{last}"),
            Some(last) => write!(text, "{comma}{}-{last}", run.first),
            None => write!(text, "{comma}{}+", run.first),
        };
    }
    text
}

/// Messages for all lanes of any kernel. They lie a whole number of pages and a cache line apart.
struct Data {
    bytes: Vec<u8>,
    stride: usize,
}

impl Data {
    fn new() -> Data {
        let lanes = lib::kernels().map(|kernel| kernel.lanes()).max().unwrap_or(1);
        let block_nbytes = Algorithm::ALL.iter().map(|algorithm| algorithm.block_nbytes()).max().unwrap_or(1);
        let stride = BLOCKS_PER_CALL * block_nbytes + 64;
        Data { bytes: timing::random_bytes(lanes * stride), stride }
    }

    /// Returns the work of one call of the kernel.
    fn work(&self, kernel: Kernel, algorithm: Algorithm) -> Work<'_> {
        let len = BLOCKS_PER_CALL * algorithm.block_nbytes();
        let messages: Vec<&[u8]> =
            self.bytes.chunks_exact(self.stride).take(kernel.lanes()).map(|lane| &lane[..len]).collect();
        let mut bare = Bare::new(kernel, algorithm);
        Box::new(move || bare.advance(&messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(chosen: impl Fn(usize) -> bool) -> String {
        text_of(&runs(chosen))
    }

    #[test]
    fn runs_of_numbers() {
        assert_eq!(runs_of(|_| true), "1+");
        assert_eq!(runs_of(|_| false), "");
        assert_eq!(runs_of(|n| n == 1), "1");
        assert_eq!(runs_of(|n| n == 1 || n == 3 || n == 4 || n >= 10), "1, 3-4, 10+");
        assert_eq!(runs_of(|n| n < 17), "1-16");
    }

    #[test]
    fn what_is_chosen_beyond_the_numbers_asked_for_is_told_once() {
        let asked = 2 * lib::kernels().map(|kernel| kernel.lanes()).max().unwrap();
        assert_eq!(runs_of(|n| n <= asked), format!("1-{asked}"));
        assert_eq!(runs_of(|n| n > asked), format!("{}+", asked + 1));
    }
}
