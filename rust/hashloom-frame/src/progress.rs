// SPDX-License-Identifier: MIT OR Apache-2.0

//! A progress bar on standard error.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{stdio, style};

/// No bar is drawn before this time: most work is done by then.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// A bar that measures the speed from the start but is not drawn at once, and only on a terminal, unless the output
/// goes into a pipe. Clones are one bar.
#[derive(Clone)]
pub struct Bar {
    bar: ProgressBar,
    is_shown: bool,
    /// The position at which the present part of the work began.
    begun: Arc<AtomicU64>,
}

impl Bar {
    /// Creates a bar that is full at `length`. `template` is one of `indicatif`.
    pub fn new(length: u64, template: &str) -> Bar {
        Bar::begin(length, template, false)
    }

    fn begin(length: u64, template: &str, is_quiet: bool) -> Bar {
        // A pipe may lead to this terminal, as that of `| tee` or `| grep` does: its lines would be printed into the
        // bar.
        let is_shown = !is_quiet && io::stderr().is_terminal() && !stdio::is_stdout_pipe();
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let shown = bar.downgrade();
        let show = move || {
            std::thread::sleep(QUIET_TIME);
            if let Some(bar) = shown.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                // The bar moves also while a disk does not answer.
                bar.enable_steady_tick(Duration::from_millis(100));
            }
        };
        if is_shown {
            bar.set_style(style(template));
            // If no thread can be started, there is no bar.
            let _ = std::thread::Builder::new().name("bar".into()).spawn(show);
        }
        Bar { bar, is_shown, begun: Arc::default() }
    }

    /// Creates a bar of bytes read and hashed, with their speed. It is full at its length, once that is set.
    pub fn of_bytes(is_quiet: bool) -> Bar {
        let template = "{spinner} {binary_bytes} read  {binary_bytes_per_sec}  {elapsed}";
        Bar::begin(0, template, is_quiet)
    }

    /// Creates a bar that shows what the program does, and how long so far.
    pub fn of_time(what: &str, is_quiet: bool) -> Bar {
        Bar::begin(0, &format!("{{spinner}} {what}  {{elapsed}}"), is_quiet)
    }

    /// Creates a bar that shows a text, which [`Bar::tell`] sets.
    pub fn of_text(is_quiet: bool) -> Bar {
        // The text fills the line: it is {wide_msg}.
        Bar::begin(0, "{spinner} ", is_quiet)
    }

    /// Sets the text of [`Bar::of_text`].
    pub fn tell(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Returns true if there is somebody to see the bar.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Sets the number of bytes at which a bar of bytes is full.
    pub fn set_total(&self, nbytes: u64) {
        if nbytes > 0 && self.bar.length() != Some(nbytes) {
            self.bar.set_length(nbytes);
            self.bar.set_style(style("{wide_bar} {percent:>3}%  {binary_bytes_per_sec}  {eta} left"));
        }
    }

    /// Calls [`Bar::set_total`] with what `find_nbytes` returns on a thread of its own, if there is somebody to see the
    /// bar and the work takes long enough. `None`: the total cannot be known.
    pub fn set_total_later(&self, find_nbytes: impl FnOnce() -> Option<u64> + Send + 'static) {
        let bar = self.clone();
        let find = move || {
            std::thread::sleep(QUIET_TIME);
            if let Some(nbytes) = find_nbytes() {
                bar.set_total(nbytes);
            }
        };
        if self.is_shown {
            // If no thread can be started, the bar has no total.
            let _ = std::thread::Builder::new().name("total".into()).spawn(find);
        }
    }

    /// Begins a part of the work: later positions count from the present one.
    pub fn begin_part(&self) {
        self.begun.store(self.bar.position(), Ordering::Relaxed);
    }

    pub fn set(&self, position: u64) {
        self.bar.set_position(self.begun.load(Ordering::Relaxed) + position);
    }

    pub fn advance(&self) {
        self.bar.inc(1);
    }

    /// Calls `write`, which prints to the terminal, while the bar is hidden.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let chars = if style::is_utf8() { "█▉▊▋▌▍▎▏ " } else { "=> " };
    // A terminal shows ^C where the cursor is. In the last column that would break the line, and half of the bar would
    // stay on the screen. indicatif fills a short line with spaces behind the last character: {wide_msg} is empty, or
    // the text of the bar.
    let filler = if template.contains("{wide_bar}") { "" } else { "{wide_msg}" };
    let template = format!(" {template}{filler}\r");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars(chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_work_follow_each_other() {
        let bar = Bar::of_bytes(true);
        bar.set(300);
        bar.begin_part();
        bar.set(20);
        assert_eq!(bar.bar.position(), 320);
    }
}
