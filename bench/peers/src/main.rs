// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares hashloom's many-message hashing with its peers.
//!
//! ```text
//! hashloom-bench-peers [--rounds N] [--summary FILE] ALGORITHM...   sha1 sha256 sha512 ripemd160 md5 hmac-sha256
//!                                                                   hash160 sha256d ...
//! hashloom-bench-peers --chart FILE TEXT draws SHA-256 beside some of the peers; the text names machine and day
//! hashloom-bench-peers --list            what is compared, and what is not installed
//! hashloom-bench-peers --missing         the peers that are not installed, and how to install each
//! hashloom-bench-peers --summary-head    the first lines of the summary
//! hashloom-bench-peers [--rounds N] [--few-cells] --never TIER
//!                                        bench/never: lines of CSV; here, no-avx512, avx2, ssse3, plain
//! ```
//!
//! Method: all sides hash the same messages, in turn, 15 rounds after a warm-up, on the one CPU that `run.sh` gives. A
//! time is the least of the rounds, and a ratio is one of least times. Beside it is the spread of the ratios of single
//! rounds: only their middle half, as a round in which another process took the CPU says nothing. On a shared machine
//! absolute figures drift, and ratios hold. The digests of all sides are compared before they are timed. Messages are
//! random bytes. `--summary` appends the lines with the ratios to a file instead of printing them at the end.

mod calls;
mod chart;
mod go;
mod measure;
mod never;
mod peers;
mod scenario;
mod tier;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::process::ExitCode;

use measure::{Row, measure};
use scenario::Algorithm;
use tier::Tier;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hashloom-bench-peers: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let mut args = args.into_iter();
    let mut summary = None;
    let mut rounds = 15;
    let mut is_quick = false;
    let mut algorithms = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--summary" {
            summary = Some(args.next().ok_or("--summary needs a file")?);
        } else if arg == "--rounds" {
            rounds = args.next().and_then(|number| number.parse().ok()).ok_or("--rounds needs a number")?;
        } else if arg == "--few-cells" {
            is_quick = true;
        } else if arg == "--never" {
            let name = args.next().unwrap_or_default();
            let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or("--never needs a tier")?;
            return never::run(tier, is_quick, rounds);
        } else if arg == "--chart" {
            let (file, machine) = args.next().zip(args.next()).ok_or("--chart needs a file and a text")?;
            return draw_chart(&file, &machine);
        } else if arg == "--list" {
            print!("{}", peers::list());
            return Ok(());
        } else if arg == "--missing" {
            print!("{}", peers::missing());
            return Ok(());
        } else if arg == "--summary-head" {
            print!("{}", measure::summary_head());
            return Ok(());
        } else {
            let known = Algorithm::ALL.iter().find(|algorithm| algorithm.name() == arg);
            algorithms.push(*known.ok_or_else(|| {
                let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
                format!("unknown algorithm {arg:?}: there are {}", names.join(" "))
            })?);
        }
    }
    if rounds == 0 {
        return Err("--rounds 0 is for --never".into());
    }
    let mut lines = String::new();
    for algorithm in algorithms {
        let mut sides = peers::sides(algorithm);
        let mut rows = Vec::new();
        for scenario in algorithm.scenarios() {
            rows.push(measure(algorithm, scenario, &mut sides, rounds)?);
        }
        print_details(algorithm, &rows);
        lines.extend(rows.iter().flat_map(|row| row.summary(algorithm)));
    }
    if let Some(file) = summary {
        let open = fs::File::options().append(true).create(true).open(&file);
        open.and_then(|mut to| to.write_all(lines.as_bytes())).map_err(|error| format!("{file}: {error}"))?;
    } else {
        print!("\n{}{lines}", measure::summary_head());
    }
    Ok(())
}

fn draw_chart(file: &str, machine: &str) -> Result<(), Box<dyn Error>> {
    let algorithm = Algorithm::Sha256;
    let mut sides = peers::sides(algorithm);
    sides.retain(|side| chart::SIDES.iter().any(|(name, _)| *name == side.name()));
    let mut rows = Vec::new();
    for scenario in algorithm.scenarios().filter(|scenario| chart::SCENARIOS.contains(&scenario.name)) {
        rows.push(measure(algorithm, scenario, &mut sides, 61)?);
    }
    print_details(algorithm, &rows);
    fs::write(file, chart::draw("SHA-256", &rows, machine)).map_err(|error| format!("{file}: {error}").into())
}

/// One line for each side, one column for each set of messages.
fn print_details(algorithm: Algorithm, rows: &[Row]) {
    println!("\n### {}: million messages/s; GB/s from 1 KiB on\n", algorithm.name());
    print!("| |");
    rows.iter().for_each(|row| print!(" {} |", row.scenario.name));
    print!("\n|---|");
    rows.iter().for_each(|_| print!("---:|"));
    println!();
    let sides = rows.first().map_or(0, |row| row.sides.len());
    for side in 0..sides {
        // The peer lacks the algorithm, or cannot hash any of these messages.
        if rows.iter().all(|row| row.speed(side).is_none()) {
            continue;
        }
        print!("| {} |", rows[0].sides[side].name);
        for row in rows {
            match row.speed(side) {
                Some(speed) if row.best_peer("") == Some(side) => print!(" **{speed:.2}** |"),
                Some(speed) => print!(" {speed:.2} |"),
                None => print!(" |"),
            }
        }
        println!();
    }
}
