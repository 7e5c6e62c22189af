// SPDX-License-Identifier: MIT OR Apache-2.0

//! The option `--isa` and the variable HASHLOOM_ISA: the instruction sets that may be used.

use clap::Args;
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, restrict_for};

/// The option of the instruction sets. Every command takes it; those whose speed people compare show it ([`shown`]).
#[derive(Debug, Args)]
pub struct Isa {
    /// Use only these instruction sets, separated by commas; an unknown name lists the available ones
    #[arg(long, value_name = "NAME[,NAME]", env = "HASHLOOM_ISA", hide_env_values = true, global = true, hide = true)]
    pub isa: Option<String>,
}

/// Shows the option of [`Isa`] in the help of a command, as the last of its options.
pub fn shown(isa: clap::Arg) -> clap::Arg {
    isa.hide(false).display_order(900)
}

/// Returns what `--isa` would say, for programs that lack this option.
pub fn of_environment() -> Option<String> {
    std::env::var("HASHLOOM_ISA").ok()
}

/// Restricts the choice to the named instruction sets. They must have a kernel for each of `algorithms`; if the list is
/// empty, for at least one algorithm.
pub fn restrict(isa: Option<&str>, algorithms: &[Algorithm]) -> Result<(), String> {
    // An empty variable counts as not set.
    let Some(names) = isa.filter(|names| !names.is_empty()) else { return Ok(()) };
    let isas = IsaSet::parse(&names.to_ascii_lowercase()).map_err(|error| format!("--isa or HASHLOOM_ISA: {error}"))?;
    let try_for = |algorithm: &Algorithm| restrict_for(isas, *algorithm);
    let restricted = match algorithms {
        [] => Algorithm::ALL.iter().map(try_for).reduce(Result::or).unwrap_or(Ok(())),
        algorithms => algorithms.iter().try_for_each(try_for),
    };
    restricted.map_err(|error| format!("--isa or HASHLOOM_ISA: {error}"))
}
