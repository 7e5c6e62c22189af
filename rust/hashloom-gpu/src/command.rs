// SPDX-License-Identifier: MIT OR Apache-2.0

//! `--gpu` of `hashloom work` and `hashloom kernels`.

use std::io::{self, Write};
use std::ops::{ControlFlow, RangeInclusive};

use clap::Args;
use hashloom::Algorithm;
use hashloom_files::run::Cancel;
use hashloom_frame::table::{Align, Look, Table};
use hashloom_frame::{output, style};
use hashloom_work::Search;
use hashloom_work::command::{self, ByGpu};
use serde::Serialize;

use crate::{Adapter, Device, Error, Event};

// The help is that of the command without a GPU.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Pow {
    #[command(flatten)]
    on_cpu: command::Pow,

    /// Compute on a GPU: the first one, or the first one whose name contains NAME or whose interface is NAME; `hashloom
    /// kernels --gpu` lists them
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    gpu: Option<String>,
}

impl Pow {
    /// Returns the hash functions.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        self.on_cpu.algorithms()
    }
}

/// Returns the exit status.
pub fn run(arguments: &Pow) -> Result<u8, String> {
    command::run_by(&arguments.on_cpu, || {
        let name = arguments.gpu.as_deref();
        let opened = name.map(|name| Device::open((!name.is_empty()).then_some(name))).transpose();
        let device = opened.map_err(|error| format!("--gpu: {error}"))?;
        let by =
            |device| -> ByGpu { Box::new(move |wanted, range, stop, on| search(&device, wanted, range, stop, on)) };
        Ok(device.map(by))
    })
}

/// Lists the GPUs. Returns the exit status.
pub fn list(json: bool) -> Result<u8, String> {
    /// JSON of `kernels --gpu`: a list of all devices.
    #[derive(Serialize)]
    struct Row<'a> {
        /// The device.
        name: &'a str,
        /// Its kind, such as `DiscreteGpu` or `Cpu`.
        kind: &'a str,
        /// The interface, such as Vulkan.
        interface: &'a str,
        /// Its driver.
        driver: &'a str,
    }

    let adapters = crate::adapters();
    let rows =
        adapters.iter().map(|Adapter { name, kind, interface, driver, .. }| Row { name, kind, interface, driver });
    if json {
        let rows: Vec<_> = rows.collect();
        output::print(|out| {
            hashloom_frame::json::write_json(&mut *out, &rows)?;
            writeln!(out)
        })?;
        return Ok(0);
    }
    if adapters.is_empty() {
        return Err(Error::NotFound { wanted: None, found: Vec::new() }.to_string());
    }
    let mut table = Table::new([Align::Left; 4]);
    table.row(["name", "kind", "interface", "driver"].map(|title| (title, Look::Dim)));
    rows.for_each(|row| table.row([row.name, row.kind, row.interface, row.driver].map(|cell| (cell, Look::Plain))));
    output::print(|out| table.write(out))?;
    Ok(0)
}

/// Searches as [`ByGpu`], and tells why if the GPU failed.
fn search(
    device: &Device,
    wanted: &Search<'_>,
    range: RangeInclusive<u64>,
    stop: &Cancel,
    on: &mut dyn FnMut(Event) -> ControlFlow<()>,
) -> Result<Option<u64>, u64> {
    let mut is_cancelled = false;
    let end = device.search(wanted, range, |event| {
        on(event)?;
        is_cancelled = matches!(event, Event::Tried(_)) && stop.is_cancelled();
        if is_cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match (end.error, end.next) {
        (Some(error), Some(next)) => {
            // Best effort: the result is the same.
            let _ = writeln!(io::stderr(), "{} --gpu: {error}; the CPU goes on", style::warning());
            Err(next)
        }
        (_, next) => Ok(next.filter(|_| is_cancelled)),
    }
}

#[cfg(test)]
mod tests {
    use hashloom_work::Target;

    use super::*;
    use crate::{Fault, Options};

    /// A GPU whose digests are wrong in large calls.
    fn wrong() -> Option<Device> {
        match Options::new().fault(Fault::LargeCalls).open(None) {
            Ok(device) => Some(device),
            Err(error) => {
                assert!(std::env::var_os("HASHLOOM_REQUIRE").is_none(), "{error}");
                // The test harness would hide what a macro prints.
                let _ = io::stderr().write_all(format!("\nSKIPPED: a GPU that fails: {error}\n").as_bytes());
                None
            }
        }
    }

    #[test]
    fn the_cpu_goes_on_where_a_gpu_failed() {
        let Some(device) = wrong() else { return };
        let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(12)).width(4);
        let mut found = Vec::new();
        let mut on = |event| {
            if let Event::Found(nonce) = event {
                found.push(nonce);
            }
            ControlFlow::Continue(())
        };
        let next = search(&device, &wanted, 0..=1_000_000, &Cancel::new(), &mut on).unwrap_err();
        found.extend(wanted.all(next, 1_000_000));
        assert_eq!(found, wanted.all(0, 1_000_000));
    }
}
