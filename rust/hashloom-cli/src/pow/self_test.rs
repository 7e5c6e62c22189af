// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom work --self-test`: finds what others have found.

use std::io::Write;
use std::ops::ControlFlow;

use hashloom_files::run::Options;
use hashloom_work::{Event, search};

use super::EXIT_NOT_FOUND;
use super::plan::Plan;
use crate::exit::EXIT_INTERRUPTED;
use crate::interrupt;
use crate::json::hex;
use crate::output;
use crate::tree::HexBytes;
use crate::work::Threads;

/// Number of nonces that are tried before the right one.
const NBEFORE: u64 = 100_000;

enum Work {
    Bitcoin(&'static str),
    Hashcash(&'static str),
    Krist([&'static str; 3]),
}

struct Example {
    what: &'static str,
    work: Work,
    nonce: u64,
    digest: &'static str,
}

const EXAMPLES: [Example; 4] = [
    Example {
        what: "block 0 of Bitcoin",
        work: Work::Bitcoin(
            "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e\
             67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d",
        ),
        nonce: 2_083_236_893,
        digest: "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
    },
    Example {
        what: "block 125552 of Bitcoin",
        work: Work::Bitcoin(
            "0100000081cd02ab7e569e8bcd9317e2fe99f2de44d49ab2b8851ba4a308000000000000e320b6c2fffc8d750423db8b\
             1eb942ae710e951ed797f7affc8892b0f1fc122bc7f5d74df2b9441a",
        ),
        nonce: 2_504_433_986,
        digest: "00000000000000001e8d6829a8a21adc5d38d0a473b144b6765798e61f98bd1d",
    },
    // By Adam Back, in the announcement of version 1 (2004-04-28).
    Example {
        what: "a stamp of hashcash",
        work: Work::Hashcash("1:20:040428:foo::0298b26853c8ebb3:"),
        nonce: 0xb_eca0,
        digest: "0000035566db5515582d30e899155ba237b9e82c",
    },
    // Found by hashlib of Python.
    Example {
        what: "a work of Krist",
        work: Work::Krist(["k8juvewcui", "000000abcdef", "100000000"]),
        nonce: 474_352,
        digest: "0000022d1cc6d458f6d62e64cb9c17225e61bd8057815c68123c4906f8c7378f",
    },
];

impl Example {
    fn plan(&self) -> Result<Plan, String> {
        match self.work {
            Work::Bitcoin(header) => Plan::bitcoin(&header.parse::<HexBytes>()?.0),
            Work::Hashcash(stamp) => Plan::hashcash(stamp, None),
            Work::Krist([address, block, work]) => Plan::krist(address, block, work),
        }
    }
}

/// Returns the exit status.
pub fn run(threads: &Threads) -> Result<u8, String> {
    let stop = interrupt::flag();
    let options = threads.options().cancel(&stop);
    let mut status = 0;
    for known in EXAMPLES {
        let plan = known.plan()?;
        let (found, is_cancelled) = first(&plan, known.nonce, &options);
        if is_cancelled {
            return Ok(EXIT_INTERRUPTED);
        }
        let is_right = found == Some(known.nonce) && hex(&plan.digest(known.nonce)) == known.digest;
        let line = match found {
            _ if is_right => format!("{}: {}  {}\n", known.what, known.nonce, known.digest),
            Some(nonce) => format!("{}: WRONG: {nonce}  {}\n", known.what, hex(&plan.digest(nonce))),
            None => format!("{}: NOT FOUND\n", known.what),
        };
        output::print(|out| out.write_all(line.as_bytes()))?;
        status = if is_right { status } else { EXIT_NOT_FOUND };
    }
    Ok(status)
}

/// Returns the first nonce found around `nonce`, and whether the search was cancelled.
fn first(plan: &Plan, nonce: u64, options: &Options) -> (Option<u64>, bool) {
    let mut found = None;
    let range = nonce.saturating_sub(NBEFORE)..=nonce + 1;
    let end = search(&plan.search(), range, options, |event| match event {
        Event::Found(nonce) => {
            found = Some(nonce);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    (found, end.cancelled)
}
