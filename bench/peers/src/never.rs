// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashloom beside the best of what it replaces, cell by cell, as lines of CSV that `bench/never/run.py` reads.
//!
//! A cell is a call, an algorithm, a number of messages and their length. All sides hash the same messages, in turn, in
//! short runs; a time is the least of all rounds. A peer that is far behind after two rounds is left out. Where
//! hashloom is not ahead, more rounds follow, for both sides alike.

use std::error::Error;

use crate::calls::Call;
use crate::peers::{HASHLOOM, Side};
use crate::scenario::{Algorithm, Messages, Scenario};
use crate::tier::Tier;

/// Short work is repeated until one timing takes this long.
const SLOT_S: f64 = 0.0003;
/// A peer that takes longer than the best one by this factor is not timed on.
const FAR_BEHIND: f64 = 1.3;
/// All messages of a cell.
const MOST_NBYTES: usize = 2 << 20;

struct Cell {
    call: Call,
    algorithm: Algorithm,
    count: usize,
    /// The least and greatest length.
    lengths: (usize, usize),
}

const LENGTHS: [usize; 10] = [0, 8, 33, 55, 64, 80, 200, 1 << 10, 16 << 10, 1 << 20];
/// The lengths of the calls that take messages of different lengths.
const MIXED: (usize, usize) = (8, 55);
const COUNTS: [usize; 9] = [1, 2, 3, 4, 5, 8, 16, 64, 1024];
const QUICK_LENGTHS: [usize; 4] = [8, 64, 200, 16 << 10];
const QUICK_COUNTS: [usize; 5] = [1, 2, 4, 16, 1024];

/// The cells of each call, those of one call and algorithm together.
fn cells(is_quick: bool) -> Vec<Cell> {
    use Algorithm::*;
    let lengths = if is_quick { &QUICK_LENGTHS[..] } else { &LENGTHS };
    let counts = if is_quick { &QUICK_COUNTS[..] } else { &COUNTS };
    let short: Vec<usize> = lengths.iter().copied().filter(|&nbytes| nbytes <= 1 << 10).collect();
    let hashes = &[Md5, Sha1, Sha256, Sha512, Ripemd160, Sha3_256][..];
    let hmacs = &[HmacMd5, HmacSha1, HmacSha256, HmacSha512, HmacRipemd160, HmacSha3_256][..];
    let few: Vec<usize> = counts.iter().copied().filter(|&count| count <= 64).collect();
    let mut cells = Vec::new();
    for (call, algorithms, counts, lengths) in [
        (Call::One, hashes, &[1][..], lengths),
        (Call::Many, hashes, counts, lengths),
        (Call::Rows, hashes, counts, &short),
        (Call::Nodes, &[Sha256, Sha3_256], counts, &[64]),
        (Call::Hmac, hmacs, counts, lengths),
        (Call::HmacKeys, hashes, counts, lengths),
        (Call::Stream, hashes, &[1], lengths),
        (Call::Parts, hashes, &[1], lengths),
        (Call::Hash160, &[Hash160], counts, &[33, 65]),
        (Call::Sha256d, &[Sha256d], counts, &[32, 64, 80]),
        (Call::Pbkdf2, hashes, &few, &[8]),
        (Call::Search, &[Sha1, Sha256], &[64, 1024, 16384], &[40]),
        (Call::Search, &[Sha256d], &[64, 1024, 16384], &[80]),
    ] {
        for &algorithm in algorithms {
            for &nbytes in lengths {
                let counts = counts.iter().copied().filter(|count| count * nbytes <= MOST_NBYTES);
                cells.extend(counts.map(|count| Cell { call, algorithm, count, lengths: (nbytes, nbytes) }));
            }
            if matches!(call, Call::Many | Call::Hmac | Call::HmacKeys) {
                let counts = counts.iter().copied().filter(|&count| count > 1);
                cells.extend(counts.map(|count| Cell { call, algorithm, count, lengths: MIXED }));
            }
        }
    }
    cells
}

/// Prints tier, call, algorithm, number of messages, their length, hashloom's time, the best peer and its time: the
/// nanoseconds of one message. No rounds: the digests are compared, and nothing is timed.
pub fn run(tier: Tier, is_quick: bool, rounds: usize) -> Result<(), Box<dyn Error>> {
    if !tier.enter()? {
        return Ok(());
    }
    let mut sides = Vec::new();
    let mut sides_of = None;
    for cell in cells(is_quick) {
        let Cell { call, algorithm, count, lengths } = cell;
        if sides_of != Some((call, algorithm)) {
            // The former ones end first: each Go is a process.
            sides.clear();
            sides = call.sides(algorithm);
            sides.retain(|side| tier.has(side.name()));
            sides_of = Some((call, algorithm));
        }
        let nbytes = if lengths == MIXED { format!("{}-{}", lengths.0, lengths.1) } else { lengths.0.to_string() };
        let messages = Messages::new(algorithm, &Scenario { name: "", lengths, count });
        let found = measure(&mut sides, &messages, rounds).map_err(|error| {
            format!("{error}: {}, {} of {count} messages of {nbytes} bytes", tier.name(), call.name())
        })?;
        if let Some((ours, peer, theirs)) = found {
            let ns = |seconds: f64| seconds * 1e9 / count as f64;
            println!(
                "{},{},{},{count},{nbytes},{:.2},{},{:.2}",
                tier.name(),
                call.name(),
                algorithm.hash().name(),
                ns(ours),
                peer.replace(',', ""),
                ns(theirs)
            );
        }
    }
    Ok(())
}

/// The seconds of hashloom, the name of the best peer, and its seconds; nothing if nobody else can, or without rounds.
fn measure(
    sides: &mut [Box<dyn Side>],
    messages: &Messages,
    rounds: usize,
) -> Result<Option<(f64, String, f64)>, String> {
    // The least time of each side, and how often it hashes in one timing.
    let mut able = Vec::new();
    let mut digests: Option<Vec<u8>> = None;
    for (i, side) in sides.iter_mut().enumerate() {
        if !side.hash(messages) {
            continue;
        }
        let found = side.digests();
        if digests.get_or_insert_with(|| found.clone()) != &found {
            return Err(format!("{} has other digests than {HASHLOOM}", side.name()));
        }
        if rounds > 0 {
            let once = side.time(messages, 1);
            able.push((i, once, 1 + (SLOT_S / once) as u32));
        }
    }
    if able.len() < 2 {
        return Ok(None);
    }
    let mut best = 0;
    for round in 0..4 * rounds {
        for (i, least, repeat) in &mut able {
            *least = least.min(sides[*i].time(messages, *repeat));
        }
        best = (1..able.len()).min_by(|&a, &b| able[a].1.total_cmp(&able[b].1)).expect("there are peers");
        if round == 1 {
            let limit = able[best].1 * FAR_BEHIND;
            let ours = able[0].0;
            able.retain(|side| side.0 == ours || side.1 <= limit);
            best = (1..able.len()).min_by(|&a, &b| able[a].1.total_cmp(&able[b].1)).expect("the best stays");
        }
        if round + 1 >= rounds && able[best].1 > able[0].1 {
            break;
        }
    }
    let (i, theirs, _) = able[best];
    Ok(Some((able[0].1, sides[i].name().into(), theirs)))
}
