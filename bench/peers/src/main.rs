// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashloom's many-message hashing beside its peers.
//!
//! ```text
//! hashloom-bench-peers [--summary FILE] ALGORITHM...   sha1 sha256 sha512 ripemd160
//! hashloom-bench-peers --list                          what is compared, and what is not installed
//! hashloom-bench-peers --summary-head                  the first two lines of the summary
//! ```
//!
//! Method: every side hashes the same messages, in turn, 15 rounds after a warm-up, on the one CPU that
//! `run.sh` gives; a time is the least of the rounds, a ratio is one of least times, and beside it stands the spread of
//! the ratios of single rounds: their middle half, as a round in which a neighbour took the CPU away says nothing. The
//! machine may be shared: absolute figures drift, ratios hold. The digests of all sides are compared before they are
//! timed. Messages are random bytes. `--summary` appends the lines with the ratios to a file instead of printing them
//! at the end.

mod go;
mod measure;
mod peers;
mod scenario;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::process::ExitCode;

use measure::{Row, measure};
use scenario::{Algorithm, SCENARIOS};

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
    let mut algorithms = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--summary" {
            summary = Some(args.next().ok_or("--summary needs a file")?);
        } else if arg == "--list" {
            print!("{}", peers::list());
            return Ok(());
        } else if arg == "--summary-head" {
            print!("{}", measure::SUMMARY_HEAD);
            return Ok(());
        } else {
            let known = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == arg);
            algorithms.push(known.ok_or_else(|| format!("unknown algorithm {arg:?}: sha1 sha256 sha512 ripemd160"))?);
        }
    }
    let mut lines = String::new();
    for algorithm in algorithms {
        let mut sides = peers::sides(algorithm);
        let mut rows = Vec::new();
        for scenario in &SCENARIOS {
            // Messages of 32 bytes are there for RIPEMD-160, whose use they are: hashes of hashes.
            if scenario.name == scenario::KEYS && algorithm != Algorithm::Ripemd160 {
                continue;
            }
            rows.push(measure(algorithm, scenario, &mut sides)?);
        }
        print_details(algorithm, &rows);
        lines.extend(rows.iter().flat_map(|row| row.summary(algorithm)));
    }
    if let Some(file) = summary {
        let open = fs::File::options().append(true).create(true).open(&file);
        open.and_then(|mut to| to.write_all(lines.as_bytes())).map_err(|error| format!("{file}: {error}"))?;
    } else {
        print!("\n{}{lines}", measure::SUMMARY_HEAD);
    }
    Ok(())
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
        // A peer without the algorithm, or with nothing that fits.
        if rows.iter().all(|row| row.speed(side).is_none()) {
            continue;
        }
        print!("| {} |", rows[0].sides[side].name);
        for row in rows {
            match row.speed(side) {
                Some(speed) if row.best_peer() == Some(side) => print!(" **{speed:.2}** |"),
                Some(speed) => print!(" {speed:.2} |"),
                None => print!(" |"),
            }
        }
        println!();
    }
}
