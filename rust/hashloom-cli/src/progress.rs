// SPDX-License-Identifier: MIT OR Apache-2.0

//! A progress bar on standard error.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::style;

/// So long no bar is drawn: most work is done by then.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// A bar that measures the speed from the start but is not drawn at once, and only on a terminal. Clones are one bar.
#[derive(Clone)]
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    drawn: Arc<Once>,
}

impl Bar {
    /// Is full at `length`. `template` is one of `indicatif`.
    pub fn new(length: u64, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let chars = if style::is_utf8() { "█▉▊▋▌▍▎▏ " } else { "=> " };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar { bar: bar.with_style(style.progress_chars(chars)), started: Instant::now(), drawn: Arc::new(Once::new()) }
    }

    /// Of bytes that are read and hashed, with their speed. Its length is to be set.
    pub fn of_bytes() -> Bar {
        Bar::new(0, "{wide_bar} {percent:>3}%  {binary_bytes_per_sec}  {eta} left")
    }

    /// Whether somebody would see it.
    pub fn is_wanted(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Is full at `length`.
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

    /// Does `write`, which prints to the terminal, without the bar.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
