// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals of Python in long work on the caller's thread, which does not hold the interpreter's lock.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The time between two looks.
pub const TICK: Duration = Duration::from_millis(50);

pub struct Signals {
    next: Instant,
}

impl Signals {
    pub fn new() -> Signals {
        Signals { next: Instant::now() + TICK }
    }

    /// Lets Python handle signals, if the last look was long ago: the error of a handler, such as KeyboardInterrupt.
    pub fn check(&mut self) -> PyResult<()> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + TICK;
        Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()))
    }
}
