// SPDX-License-Identifier: MIT OR Apache-2.0

//! A progress bar on standard error: the file that the work waits for, how far it is, how fast, how long it takes.
//!
//! The line is made for the width that the terminal has when it is drawn, so that it never breaks.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use console::Alignment;
use hashloom_files::paths::portable;
use hashloom_files::run::{Options, lock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::quote::for_terminal;
use crate::units::{self, size};
use crate::{stdio, style};

/// No bar is drawn before this time: most work is done by then.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// The time over which the speed is measured.
const SPEED_TIME: Duration = Duration::from_secs(10);

/// A narrower terminal has no room for bar and speed beside a name.
const WIDE: usize = 60;

/// A bar that measures the speed from the start but is not drawn at once, and only on a terminal, unless the output
/// goes into a pipe. Clones are one bar.
#[derive(Clone)]
pub struct Bar {
    bar: ProgressBar,
    is_shown: bool,
    /// The position at which the present part of the work began.
    begun: Arc<AtomicU64>,
    told: Arc<Mutex<Told>>,
}

/// The text that the progress line shows beside the position.
#[derive(Default)]
struct Told {
    /// The file that the work waits for, ready for a terminal, and the longest width that one had.
    name: String,
    widest: usize,
    /// The times at which the position was seen to change.
    seen: VecDeque<(Instant, u64)>,
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
        let bar = Bar { bar, is_shown, begun: Arc::default(), told: Arc::default() };
        if is_shown {
            bar.show(template);
            // If no thread can be started, there is no bar.
            let _ = std::thread::Builder::new().name("bar".into()).spawn(show);
        }
        bar
    }

    fn show(&self, template: &str) {
        let chars = if style::is_utf8() { "█▉▊▋▌▍▎▏ " } else { "=> " };
        // A terminal shows ^C where the cursor is. In the last column that would break the line, and half of the bar
        // would stay on the screen. indicatif fills a short line with spaces behind the last character: {wide_msg} is
        // empty, or the text of the bar.
        let filler = if template.contains("{wide_bar}") { "" } else { "{wide_msg}" };
        let style = ProgressStyle::with_template(&format!(" {template}{filler}\r"));
        let (names, numbers) = (self.told.clone(), self.told.clone());
        // Writing into the line of indicatif cannot fail.
        let name = move |_: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&lock(&names).name(columns()));
        };
        let number = move |state: &ProgressState, out: &mut dyn Write| {
            let speed = lock(&numbers).speed(state.pos(), Instant::now());
            let text = line(state.pos(), state.len().unwrap_or(0), speed, state.elapsed(), columns());
            let _ = out.write_str(&text);
        };
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars(chars);
        self.bar.set_style(style.with_key("name", name).with_key("numbers", number));
    }

    /// Creates a bar of bytes read and hashed, with their speed. It is full at its length, once that is set.
    pub fn of_bytes(is_quiet: bool) -> Bar {
        Bar::begin(0, "{spinner} {name}{numbers}", is_quiet)
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

    /// The same options; work under them moves the bar, and names its files there.
    pub fn watch(&self, options: Options) -> Options {
        if !self.is_shown {
            return options;
        }
        let (bar, named) = (self.clone(), self.clone());
        let options = options.progress(move |progress| bar.set(progress.nbytes));
        options.naming(move |path| named.name(&portable(path)))
    }

    /// Names the file that the work waits for, without its folders.
    pub fn name(&self, path: &[u8]) {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        lock(&self.told).name = String::from_utf8_lossy(&for_terminal(name, false)).into_owned();
    }

    /// The same for files that are read one after the other in pieces: their lengths, which make the total, and names.
    pub fn watch_pieces(&self, options: Options, files: impl FnOnce() -> Vec<(u64, Vec<u8>)>) -> Options {
        if !self.is_shown {
            return options;
        }
        let (bar, mut total) = (self.clone(), 0_u64);
        let mut end = |(nbytes, name)| {
            total = total.saturating_add(nbytes);
            (total, name)
        };
        let ends: Vec<_> = files().into_iter().map(&mut end).collect();
        bar.set_total(total);
        options.progress(move |progress| {
            // Padding may count too.
            bar.set_total(progress.total_nbytes.unwrap_or(0).max(total));
            bar.set(progress.nbytes);
            let at = ends.partition_point(|(end, _)| *end <= progress.nbytes);
            ends.get(at).into_iter().for_each(|(_, name)| bar.name(name));
        })
    }

    /// Sets the number of bytes at which a bar of bytes is full.
    pub fn set_total(&self, nbytes: u64) {
        if nbytes > 0 && self.bar.length() != Some(nbytes) {
            self.bar.set_length(nbytes);
            self.show("{name}{wide_bar}{numbers}");
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

/// The columns of the terminal now.
fn columns() -> usize {
    console::Term::stderr().size().1.into()
}

impl Told {
    /// The part of the name that fits, with the blanks behind it: bars of many files keep their places.
    fn name(&mut self, columns: usize) -> String {
        // A narrow line has the share and the time beside the name.
        let room = if columns < WIDE { columns.saturating_sub(21) } else { (columns - 40) / 2 };
        let text = console::truncate_str(&self.name, room, if style::is_utf8() { "…" } else { "..." });
        self.widest = self.widest.max(console::measure_text_width(&text)).min(room);
        let blanks = if self.widest > 0 { "  " } else { "" };
        console::pad_str(&text, self.widest, Alignment::Left, None).into_owned() + blanks
    }

    /// Bytes a second, between two changes of the position: from the last but some seconds to the last.
    fn speed(&mut self, position: u64, now: Instant) -> Option<f64> {
        if position > 0 && self.seen.back().is_none_or(|(_, last)| *last != position) {
            self.seen.push_back((now, position));
        }
        while self.seen.len() > 2 && now - self.seen[1].0 > SPEED_TIME {
            self.seen.pop_front();
        }
        let (&(begun, first), &(ended, last)) = (self.seen.front()?, self.seen.back()?);
        // A disk that has not answered for longer than between two changes is slower now.
        let gap = (ended - begun) / (self.seen.len() as u32 - 1).max(1);
        let ended = if now - ended > 2 * gap { now } else { ended };
        (last > first && ended > begun).then(|| (last - first) as f64 / (ended - begun).as_secs_f64())
    }
}

/// The numbers of the line: how much, how fast, how long.
fn line(position: u64, length: u64, speed: Option<f64>, elapsed: Duration, columns: usize) -> String {
    let rate = speed.map(|speed| units::rate(speed as u64, Duration::from_secs(1)).unwrap_or_default());
    let time = |seconds: u64| match seconds {
        0..100 => format!("{seconds}s"),
        100..6000 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3600),
    };
    let (much, long) = match length {
        0 => (size(position) + if columns < WIDE { "" } else { " read" }, Some(time(elapsed.as_secs()))),
        _ => {
            let percent = u128::from(position.min(length)) * 100 / u128::from(length);
            let left = speed.map(|speed| time((length.saturating_sub(position) as f64 / speed).ceil() as u64));
            (format!("{percent:>3}%"), left.map(|left| format!("{left} left")))
        }
    };
    let parts = [Some(much), rate.filter(|_| columns >= WIDE), long.filter(|_| columns >= 30)];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("  ");
    if length > 0 && columns >= WIDE { format!("  {text}") } else { text }
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

    /// The widths of all parts of a line, which is at most as wide as the terminal.
    #[test]
    fn lines_fit() {
        let names = [
            "a",
            "a name of some length.iso",
            "\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}",
            &"long".repeat(100),
        ];
        for columns in 30..200 {
            for name in names {
                for (position, length) in
                    [(0, 0), (1 << 50, 0), (1000, 1 << 50), (1 << 50, 1 << 50), (1030 << 20, 1 << 40)]
                {
                    let mut told = Told { name: name.into(), ..Told::default() };
                    let numbers = line(position, length, Some(1023.0 * 1048576.0), Duration::from_secs(3000), columns);
                    let width =
                        console::measure_text_width(&told.name(columns)) + console::measure_text_width(&numbers);
                    // A blank before, the mark that turns, and the cursor.
                    let others = if length == 0 { 4 } else { 2 };
                    assert!(width + others <= columns, "{columns}: {name} {numbers}");
                }
            }
        }
        assert_eq!(Told { name: "f".into(), ..Told::default() }.name(80), "f  ");
    }

    #[test]
    fn the_speed_is_that_between_changes() {
        let begun = Instant::now();
        let mut told = Told::default();
        let mut at = |ms, position| told.speed(position, begun + Duration::from_millis(ms));
        assert_eq!([at(0, 0), at(900, 0), at(1000, 500)], [None; 3]);
        // Bytes come in bursts, and are seen later: 1000 a second.
        for ms in (1100..30_000).step_by(100) {
            let speed = at(ms, ms / 500 * 500 - 500).unwrap_or(1000.0);
            assert!((900.0..1150.0).contains(&speed), "{ms}: {speed}");
        }
        let slow = at(60_000, 29_000).unwrap();
        assert!(slow < 300.0, "{slow}");
    }
}
