// SPDX-License-Identifier: MIT OR Apache-2.0

//! The CPU, the compiler and the date: a figure is worth little unless they stand beside it.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use hashloom_frame::units::day;
use serde::Serialize;

/// The machine and the program as they are now.
#[derive(Serialize)]
pub struct Machine {
    /// Version of the program.
    hashloom: &'static str,
    /// The CPU's name, as the system gives it.
    pub cpu: String,
    /// The C compiler that made the kernels.
    pub compiler: &'static str,
    /// The day of the run.
    pub date: String,
}

impl Machine {
    pub fn now() -> Machine {
        let compiler = hashloom::kernels::compiler();
        Machine { hashloom: env!("CARGO_PKG_VERSION"), cpu: cpu(), compiler, date: today() }
    }

    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}, {}", self.cpu, self.date)?;
        writeln!(out, "hashloom {} compiled by {}", self.hashloom, self.compiler)
    }
}

/// Returns the CPU's own name if the system tells it, else its architecture.
pub fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpu_of(&text).unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH))
}

/// `model name` is x86's key; other machines have `Model`, `cpu` or nothing.
fn cpu_of(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "cpu"].into_iter().find_map(|key| {
        let (_, name) = cpuinfo.lines().filter_map(|line| line.split_once(':')).find(|(k, _)| k.trim() == key)?;
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    })
}

/// Returns today's date in UTC: `2026-11-20`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    day((seconds / 86_400) as i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpus() {
        let xeon = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 173\nmodel name\t: Intel(R)  Xeon(R) 6 \n";
        assert_eq!(cpu_of(xeon).as_deref(), Some("Intel(R) Xeon(R) 6"));
        let pi = "processor\t: 0\nCPU implementer\t: 0x41\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
        assert_eq!(cpu_of(pi).as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
        assert_eq!(cpu_of("processor\t: 0\nmodel name\t:\n"), None);
        assert_eq!(cpu_of(""), None);
    }
}
