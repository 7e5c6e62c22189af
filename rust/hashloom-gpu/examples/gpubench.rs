// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures and tests a GPU, for bench/gpu/run.sh. Each result is a line of JSON; every knob is an argument.
//!
//! ```sh
//! gpubench probe                                         # the devices
//! gpubench search --backend cuda --device h100           # over this interface, on this device; both fit most commands
//! gpubench search --algorithm sha256 --seconds 10        # nonces a second, by the GPU and by the CPU's lanes
//! gpubench count --algorithm sha256                      # operations and bytes of a search
//! gpubench text --language cuda --algorithm sha256       # a search's shader: cuda, wgsl, wgsl-pairs or inputs
//! ```
//!
//! Exit status: 0; 2 for a wrong argument, no device, or one that fails.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashloom::Algorithm;
use hashloom_gpu::{Device, Error, Event, Options, Shader};
use hashloom_work::{Search, Target};
use lexopt::prelude::*;
use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// The knobs, with their defaults.
struct Knobs {
    command: String,
    device: Option<String>,
    /// An interface, such as cuda.
    backend: Option<String>,
    algorithms: Vec<Algorithm>,
    again: Option<Algorithm>,
    /// Words of 64 bits as pairs, even if the device has them.
    pairs: bool,
    seconds: f64,
    repeats: usize,
    threads: usize,
    prefix_nbytes: usize,
    suffix_nbytes: usize,
    digits: String,
    width: u32,
    first: u64,
    zero_bits: usize,
    language: String,
}

fn knobs() -> Fallible<Knobs> {
    let mut knobs = Knobs {
        command: String::new(),
        device: None,
        backend: None,
        algorithms: vec![],
        again: None,
        pairs: false,
        seconds: 5.0,
        repeats: 3,
        threads: std::thread::available_parallelism().map_or(1, Into::into),
        prefix_nbytes: 22,
        suffix_nbytes: 0,
        digits: "0123456789".to_owned(),
        width: 12,
        first: 0,
        zero_bits: 48,
        language: "cuda".to_owned(),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(command) if knobs.command.is_empty() => knobs.command = command.string()?,
            Long("device") => knobs.device = Some(parser.value()?.string()?),
            Long("backend") => knobs.backend = Some(parser.value()?.string()?),
            Long("algorithm") => match parser.value()?.string()?.as_str() {
                "all" => knobs.algorithms.extend(Algorithm::ALL),
                "searchable" => knobs.algorithms.extend(Algorithm::ALL.iter().filter(|&&a| Search::takes(a))),
                name => knobs.algorithms.push(name.parse()?),
            },
            Long("again") => knobs.again = Some(parser.value()?.parse()?),
            Long("pairs") => knobs.pairs = true,
            Long("seconds") => knobs.seconds = parser.value()?.parse()?,
            Long("repeats") => knobs.repeats = parser.value()?.parse()?,
            Long("threads") => knobs.threads = parser.value()?.parse::<usize>()?.max(1),
            Long("prefix-nbytes") => knobs.prefix_nbytes = parser.value()?.parse()?,
            Long("suffix-nbytes") => knobs.suffix_nbytes = parser.value()?.parse()?,
            // Empty: bytes.
            Long("digits") => knobs.digits = parser.value()?.string()?,
            Long("width") => knobs.width = parser.value()?.parse()?,
            Long("first") => knobs.first = parser.value()?.parse()?,
            Long("zero-bits") => knobs.zero_bits = parser.value()?.parse()?,
            Long("language") => knobs.language = parser.value()?.string()?,
            _ => return Err(argument.unexpected().into()),
        }
    }
    if knobs.algorithms.is_empty() {
        knobs.algorithms.push(Algorithm::Sha256);
    }
    Ok(knobs)
}

impl Knobs {
    fn open(&self) -> Result<Device, Error> {
        let mut options = Options::new().int64(!self.pairs);
        if let Some(name) = &self.backend {
            options = options.interface(name);
        }
        options.open(self.device.as_deref())
    }

    fn search<'a>(&'a self, algorithm: Algorithm, texts: &'a (Vec<u8>, Vec<u8>)) -> Search<'a> {
        let target = Target::zero_bits(self.zero_bits);
        let mut search = Search::new(algorithm, target).prefix(&texts.0).suffix(&texts.1).width(self.width);
        if !self.digits.is_empty() {
            search = search.digits(self.digits.as_bytes());
        }
        self.again.map_or(search, |again| search.again(again))
    }

    fn texts(&self) -> (Vec<u8>, Vec<u8>) {
        let letters = |n: usize| (0..n).map(|i| b'a' + (i % 26) as u8).collect();
        (letters(self.prefix_nbytes), letters(self.suffix_nbytes))
    }

    /// The last nonce that the digits have room for.
    fn last(&self) -> u64 {
        let base = if self.digits.is_empty() { 256 } else { self.digits.len() as u64 };
        base.checked_pow(self.width).map_or(u64::MAX, |past| past - 1)
    }
}

fn tell(line: &Value) {
    // Whoever reads no further wants no more.
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(2);
    }
}

fn main() -> ExitCode {
    let done = knobs().and_then(|knobs| match knobs.command.as_str() {
        "probe" => {
            probe(&knobs);
            Ok(())
        }
        "search" => search(&knobs),
        "count" => count(&knobs),
        "text" => text(&knobs),
        other => Err(format!("no command {other:?}; the head of gpubench.rs lists them").into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gpubench: {error}");
            ExitCode::from(2)
        }
    }
}

fn probe(knobs: &Knobs) {
    for adapter in hashloom_gpu::adapters() {
        tell(&json!({
            "probe": adapter.name, "kind": adapter.kind, "interface": adapter.interface, "driver": adapter.driver,
        }));
    }
    match knobs.open() {
        Ok(device) => tell(&json!({ "opened": device.adapter().name, "has_int64": device.has_int64() })),
        Err(error) => tell(&json!({ "opened": null, "error": error.to_string() })),
    }
}

fn search(knobs: &Knobs) -> Fallible<()> {
    let device = knobs.open()?;
    let texts = knobs.texts();
    for &algorithm in &knobs.algorithms {
        let wanted = knobs.search(algorithm, &texts);
        let limit = Duration::from_secs_f64(knobs.seconds);
        let again = knobs.again.map(|again| again.to_string());
        for repeat in 0..knobs.repeats {
            // The time of a call, once they are as long as they should be.
            let (mut begun, mut from, mut to, mut calls) = (Instant::now(), knobs.first, knobs.first, 0_u32);
            let mut found = 0;
            let end = device.search(&wanted, knobs.first..=knobs.last(), |event| {
                match event {
                    Event::Found(_) => found += 1,
                    Event::Tried(last) => {
                        (to, calls) = (last, calls + 1);
                        // The first calls grow.
                        if calls == 12 {
                            (begun, from) = (Instant::now(), last);
                        }
                    }
                    _ => {}
                }
                if calls > 12 && begun.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let seconds = begun.elapsed().as_secs_f64();
            tell(&json!({
                "search": algorithm.to_string(), "again": again, "by": device.adapter().name, "repeat": repeat,
                "has_int64": device.has_int64(), "prefix_nbytes": knobs.prefix_nbytes,
                "suffix_nbytes": knobs.suffix_nbytes, "digits": knobs.digits, "width": knobs.width,
                "nonces": to - from, "seconds": seconds, "found": found,
                "nonces_per_second": (to - from) as f64 / seconds,
                "seconds_of_a_call": seconds / f64::from(calls.saturating_sub(12).max(1)),
                "error": end.error.as_ref().map(ToString::to_string),
            }));
            if let Some(error) = end.error {
                return Err(error.into());
            }

            let (next, is_over) = (AtomicU64::new(knobs.first), AtomicBool::new(false));
            const STEP: u64 = 1 << 18;
            let begun = Instant::now();
            std::thread::scope(|scope| {
                for _ in 0..knobs.threads {
                    scope.spawn(|| {
                        while !is_over.load(Ordering::Relaxed) {
                            let first = next.fetch_add(STEP, Ordering::Relaxed);
                            if first >= knobs.last() - STEP {
                                break;
                            }
                            let _ = wanted.find(first, first + STEP - 1);
                            is_over.fetch_or(begun.elapsed() > limit, Ordering::Relaxed);
                        }
                    });
                }
            });
            let seconds = begun.elapsed().as_secs_f64();
            let nonces = next.into_inner() - knobs.first;
            tell(&json!({
                "search": algorithm.to_string(), "again": again, "by": "the CPU's lanes", "threads": knobs.threads,
                "repeat": repeat, "nonces": nonces, "seconds": seconds,
                "nonces_per_second": nonces as f64 / seconds,
            }));
        }
    }
    Ok(())
}

fn count(knobs: &Knobs) -> Fallible<()> {
    let texts = knobs.texts();
    for &algorithm in &knobs.algorithms {
        let shader = Shader::of_search(&knobs.search(algorithm, &texts), knobs.first);
        tell(&json!({
            "count": algorithm.to_string(), "again": knobs.again.map(|again| again.to_string()),
            "prefix_nbytes": knobs.prefix_nbytes, "suffix_nbytes": knobs.suffix_nbytes, "digits": knobs.digits,
            "width": knobs.width, "operations_of_a_nonce": shader.noperations,
            "operations_before_the_loop": shader.noperations_before,
            "operations_of_whole_block_functions": shader.noperations_whole,
            "nonces_of_an_invocation": shader.nrounds, "parameters": shader.params.len(),
            "bytes_back_from_a_call": shader.nbytes_back,
        }));
    }
    Ok(())
}

fn text(knobs: &Knobs) -> Fallible<()> {
    let texts = knobs.texts();
    let shader = Shader::of_search(&knobs.search(knobs.algorithms[0], &texts), knobs.first);
    match knobs.language.as_str() {
        "cuda" => print!("{}", shader.cuda),
        "wgsl" => print!("{}", shader.wgsl),
        "wgsl-pairs" => print!("{}", shader.wgsl_pairs),
        // The words that a caller of the kernel needs, as arrays of C.
        "inputs" => {
            let array = |name: &str, words: &[u32]| {
                let words: Vec<String> = words.iter().map(|word| format!("{word}u")).collect();
                println!(
                    "static const uint32_t {name}[] = {{{}}};",
                    if words.is_empty() { "0".into() } else { words.join(", ") }
                );
            };
            array("input_first", &[shader.place]);
            array("input_params", &shader.params);
            array("input_table", &shader.table);
            array("input_tail", &shader.tail);
        }
        other => return Err(format!("no language {other:?}").into()),
    }
    Ok(())
}
