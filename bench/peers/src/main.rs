// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashloom beside the best of what it replaces, as lines of CSV that `bench/never/run.py` reads.
//!
//! ```text
//! hashloom-bench-peers [--rounds N] [--few-cells] [--tier TIER] [--beside NAME]
//!                                        NAME: the first letters of peers
//! hashloom-bench-peers --tiers           the tiers, a line each
//! hashloom-bench-peers --list            what is compared
//! hashloom-bench-peers --missing         the peers that are not installed
//! ```
//!
//! A cell is a call, a hash function, a number of messages and their length. All sides hash the same messages, in turn,
//! in short runs; a time is the least of all rounds. A peer that is far behind after two rounds is left alone. Where
//! hashloom is not ahead, more rounds follow, for both sides alike. The digests of all sides are compared before they
//! are timed. Messages are random bytes. On a shared machine absolute figures drift, and ratios hold.

mod own;
mod peers;
mod tier;
mod work;

use std::error::Error;
use std::process::ExitCode;

use peers::Side;
use tier::{TIERS, Tier};
use work::{Call, Messages, cells};

/// Short work is repeated until one timing takes this long.
const SLOT_S: f64 = 0.0003;
/// A peer that takes longer than the best one by this factor is not timed on.
const FAR_BEHIND: f64 = 1.3;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hashloom-bench-peers: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints tier, call, hash function, number of messages, their length, a side, and the nanoseconds of one message. No
/// rounds: the digests are compared, and nothing is timed.
fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let (mut rounds, mut is_quick, mut tier, mut beside) = (15, false, Tier::Here, String::new());
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--rounds" => rounds = value()?.parse()?,
            "--few-cells" => is_quick = true,
            "--tier" => {
                let name = value()?;
                tier = TIERS.iter().find(|row| row.1 == name).ok_or("--tier: no such tier: --tiers lists them")?.0;
            }
            "--beside" => beside = value()?,
            "--tiers" => {
                TIERS.iter().for_each(|row| println!("{}", row.1));
                return Ok(());
            }
            "--list" | "--missing" => {
                print!("{}", if arg == "--list" { peers::list() } else { peers::missing() });
                return Ok(());
            }
            _ => return Err(format!("{arg}: unknown argument").into()),
        }
    }
    if !tier.enter()? {
        return Ok(());
    }
    let (mut sides, mut sides_of) = (Vec::new(), None);
    for cell in cells(is_quick) {
        if sides_of != Some((cell.call, cell.hash)) {
            sides = peers::sides(cell.call, cell.hash);
            sides.retain(|side| side.name == "hashloom" || side.name.starts_with(&beside));
            sides_of = Some((cell.call, cell.hash));
        }
        let messages = Messages::new(cell);
        let nbytes = match cell.lengths {
            (least, greatest) if least == greatest => least.to_string(),
            (least, greatest) => format!("{least}-{greatest}"),
        };
        let what = format!("{},{},{},{},{nbytes}", tier.title(), cell.call.name(), cell.hash.name(), cell.count);
        for (name, seconds) in measure(&mut sides, &messages, rounds)
            .map_err(|name| format!("{name} has other digests than hashloom: {what}"))?
        {
            println!("{what},{},{:.2}", name.replace(',', ""), seconds * 1e9 / cell.count as f64);
        }
    }
    Ok(())
}

/// The least seconds of each side that can hash the messages, hashloom's first; or the name of a side whose digests
/// differ.
fn measure(sides: &mut [Side], messages: &Messages, rounds: usize) -> Result<Vec<(&'static str, f64)>, &'static str> {
    let mut able: Vec<(&mut Side, f64, u32)> = Vec::new();
    for side in sides {
        if !side.hash(messages) {
            continue;
        }
        if able.first().is_some_and(|(first, ..)| first.digests != side.digests) {
            return Err(side.name);
        }
        let once = if rounds > 0 { side.time(messages, 1) } else { 0.0 };
        able.push((side, once, 1 + (SLOT_S / once) as u32));
    }
    if rounds == 0 || able.len() < 2 {
        return Ok(Vec::new());
    }
    if messages.cell.call == Call::Between {
        return Ok(able.into_iter().map(|(side, ..)| (side.name, side.time_between(messages, rounds))).collect());
    }
    let mut limit = f64::INFINITY;
    for round in 0..4 * rounds {
        for (i, (side, least, repeat)) in able.iter_mut().enumerate() {
            if i == 0 || *least <= limit {
                *least = least.min(side.time(messages, *repeat));
            }
        }
        let best = able[1..].iter().map(|side| side.1).fold(f64::INFINITY, f64::min);
        if round == 1 {
            limit = best * FAR_BEHIND;
        }
        if round + 1 >= rounds && best > able[0].1 {
            break;
        }
    }
    Ok(able.iter().map(|(side, least, _)| (side.name, *least)).collect())
}
