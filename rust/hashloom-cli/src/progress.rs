// SPDX-License-Identifier: MIT OR Apache-2.0

//! A progress bar on standard error.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::style;

/// No bar is drawn before this time: most work is done by then.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// A bar that measures the speed from the start but is not drawn at once, and only on a terminal. Clones are one bar.
#[derive(Clone)]
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    drawn: Arc<Once>,
}

impl Bar {
    /// Creates a bar that is full at `length`. `template` is one of `indicatif`.
    pub fn new(length: u64, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let chars = if style::is_utf8() { "█▉▊▋▌▍▎▏ " } else { "=> " };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar { bar: bar.with_style(style.progress_chars(chars)), started: Instant::now(), drawn: Arc::new(Once::new()) }
    }

    /// Creates a bar of bytes read and hashed, with their speed. The caller sets its length.
    pub fn of_bytes() -> Bar {
        Bar::new(0, "{wide_bar} {percent:>3}%  {binary_bytes_per_sec}  {eta} left")
    }

    /// Returns true if there is somebody to see the bar.
    pub fn is_wanted(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Sets the position at which the bar is full.
    pub fn set_length(&self, length: u64) {
        self.bar.set_length(length);
    }

    pub fn set(&self, position: u64) {
        self.draw();
        self.bar.set_position(position);
    }

    pub fn advance(&self) {
        self.draw();
        self.bar.inc(1);
    }

    fn draw(&self) {
        if !self.drawn.is_completed() && self.is_wanted() && self.started.elapsed() >= QUIET_TIME {
            self.drawn.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10)));
        }
    }

    /// Calls `write`, which prints to the terminal, while the bar is hidden.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
