// SPDX-License-Identifier: MIT OR Apache-2.0

//! What `gpu.rs` is without the feature `gpu`: no option, no GPU.

use clap::Args;
use hashloom_engine::run::Options;

use crate::progress::Bar;

#[derive(Debug, Default, Args)]
pub struct Choice {}

impl Choice {
    pub fn join(&self, options: Options, _bar: &Bar) -> Result<(Options, Joined), String> {
        Ok((options, Joined))
    }
}

pub struct Joined;

impl Joined {
    pub fn tell(&self) {}
}
