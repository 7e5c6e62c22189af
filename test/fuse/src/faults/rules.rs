//! The rules: the calls that fail, and their faults. SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt::Write as _;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

const OPERATIONS: &[&str] = &[
    "any", "lookup", "getattr", "setattr", "readlink", "mkdir", "unlink", "rmdir", "symlink", "rename", "link", "open",
    "create", "read", "write", "flush", "fsync", "release", "opendir", "readdir", "fsyncdir", "times",
];

macro_rules! errors {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}
const ERRORS: &[(&str, i32)] = errors! {
    EACCES EAGAIN EBADF EBUSY EDQUOT EEXIST EFBIG EINTR EINVAL EIO ELOOP EMFILE ENFILE ENODEV ENOENT ENOMEM ENOSPC
    ENOSYS ENOTCONN EOPNOTSUPP EPERM EROFS ESTALE ETIMEDOUT EXDEV
};

/// A change of the file before the call is answered.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Truncate(u64),
    Flip(u64),
    Append(u64),
}

/// The effect on a call that does not fail: all matching rules together.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub changes: Vec<Change>,
    /// Changes keep the modification time.
    pub keep: bool,
    /// At most this many bytes are read or written.
    pub short: Option<usize>,
    pub zeros: bool,
    pub direct: bool,
    pub times: Option<Times>,
    error: Option<i32>,
    hang: bool,
    delay: Duration,
    room: Option<u64>,
}

/// The way in which times are reported.
#[derive(Clone, Copy, Debug)]
pub enum Times {
    CtimeIsMtime,
    Frozen,
    Coarse,
}

#[derive(Debug)]
struct Rule {
    text: String,
    operation: String,
    glob: Vec<u8>,
    /// The first and last matching call that the rule is for, counted from 1.
    nth: (u64, u64),
    /// The first and last byte of a range. The rule is for reads and writes that touch it.
    at: (u64, u64),
    faults: Faults,
    ncalls: u64,
    nhits: u64,
    nbytes_written: u64,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    /// The number of releases of waiting calls.
    nreleases: u64,
}

/// All rules of a mount.
#[derive(Default)]
pub struct Rules {
    state: Mutex<State>,
    released: Condvar,
}

impl Rules {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the rules")
    }

    /// Applies the lines of a text in order. The first wrong line ends it.
    pub fn tell(&self, text: &str) -> Result<(), String> {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line {
                "clear" => self.clear(),
                "release" => self.release(),
                _ => {
                    let rule = Rule::parse(line)?;
                    self.lock().rules.push(rule);
                }
            }
        }
        Ok(())
    }

    pub fn clear(&self) {
        self.lock().rules.clear();
        self.release();
    }

    /// Lets hanging calls continue. No call hangs by these rules any more.
    fn release(&self) {
        let mut state = self.lock();
        state.nreleases += 1;
        state.rules.iter_mut().for_each(|rule| rule.faults.hang = false);
        self.released.notify_all();
    }

    /// A line for each rule: the number of calls that it changed, and the rule.
    pub fn report(&self) -> String {
        self.lock().rules.iter().fold(String::new(), |mut report, rule| {
            let _ = writeln!(report, "{} {}", rule.nhits, rule.text);
            report
        })
    }

    /// Waits as long as the rules say, and returns the faults of a call, or the error that the call fails with.
    /// `bytes`: offset and length of a read or write.
    pub fn judge(&self, operation: &str, paths: &[&[u8]], bytes: Option<(u64, u64)>) -> Result<Faults, i32> {
        let mut all = Faults::default();
        let mut state = self.lock();
        for rule in &mut state.rules {
            if let Some(faults) = rule.matching(operation, paths, bytes) {
                all.add(faults);
            }
        }
        if all.hang {
            let before = state.nreleases;
            let waited = self.released.wait_while(state, |state| state.nreleases == before);
            drop(waited.expect("no thread panics while it holds the rules"));
        } else {
            drop(state);
        }
        std::thread::sleep(all.delay);
        all.error.map_or(Ok(all), Err)
    }
}

impl Faults {
    fn add(&mut self, other: &Faults) {
        self.changes.extend(&other.changes);
        self.keep |= other.keep;
        self.short = [self.short, other.short].into_iter().flatten().min();
        self.zeros |= other.zeros;
        self.direct |= other.direct;
        self.times = other.times.or(self.times);
        self.error = self.error.or(other.error);
        self.hang |= other.hang;
        self.delay += other.delay;
    }

    fn parse(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "error" => {
                let found = ERRORS.iter().find(|(name, _)| *name == value);
                self.error = Some(found.ok_or_else(|| format!("unknown error {value:?}"))?.1);
            }
            "hang" => self.hang = true,
            "delay" => self.delay = Duration::from_millis(number(value)?),
            "short" => self.short = Some(number(value)? as usize),
            "zeros" => self.zeros = true,
            "room" => self.room = Some(number(value)?),
            "direct" => self.direct = true,
            "truncate" => self.changes.push(Change::Truncate(number(value)?)),
            "flip" => self.changes.push(Change::Flip(number(value)?)),
            "append" => self.changes.push(Change::Append(number(value)?)),
            "keep" => self.keep = true,
            "ctime" => self.times = Some(Times::CtimeIsMtime),
            "frozen" => self.times = Some(Times::Frozen),
            "coarse" => self.times = Some(Times::Coarse),
            _ => return Err(format!("unknown fault {word:?}")),
        }
        Ok(())
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Rule, String> {
        let mut words = line.split_ascii_whitespace();
        let (Some(operation), Some(glob)) = (words.next(), words.next()) else {
            return Err(format!("expected OPERATION GLOB FAULT, found {line:?}"));
        };
        if !OPERATIONS.contains(&operation) {
            return Err(format!("unknown operation {operation:?}"));
        }
        let mut rule = Rule {
            text: line.to_owned(),
            operation: operation.to_owned(),
            glob: glob.as_bytes().to_vec(),
            nth: (1, u64::MAX),
            at: (0, u64::MAX),
            faults: Faults::default(),
            ncalls: 0,
            nhits: 0,
            nbytes_written: 0,
        };
        for word in words {
            match word.split_once('=') {
                Some(("nth", range)) => rule.nth = numbers(range)?,
                Some(("at", range)) => rule.at = numbers(range)?,
                _ => rule.faults.parse(word)?,
            }
        }
        Ok(rule)
    }

    /// The faults of this rule if the rule is for this call.
    fn matching(&mut self, operation: &str, paths: &[&[u8]], bytes: Option<(u64, u64)>) -> Option<&Faults> {
        let touched = bytes
            .is_none_or(|(offset, length)| offset <= self.at.1 && offset.saturating_add(length.max(1)) > self.at.0);
        let named = self.operation == operation || self.operation == "any" && operation != "times";
        if !named || !touched || !paths.iter().any(|path| matches(&self.glob, path)) {
            return None;
        }
        self.ncalls += 1;
        if self.ncalls < self.nth.0 || self.ncalls > self.nth.1 {
            return None;
        }
        if let (Some(room), Some((_, length))) = (self.faults.room, bytes) {
            if self.nbytes_written + length <= room {
                self.nbytes_written += length;
                return None;
            }
            self.faults.error = Some(libc::ENOSPC);
        }
        self.nhits += 1;
        Some(&self.faults)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number, found {text:?}"))
}

/// N, N- or N-M.
fn numbers(text: &str) -> Result<(u64, u64), String> {
    let Some((first, last)) = text.split_once('-') else {
        let only = number(text)?;
        return Ok((only, only));
    };
    Ok((number(first)?, if last.is_empty() { u64::MAX } else { number(last)? }))
}

/// Matches a glob: * is any number of bytes, ? is one.
fn matches(glob: &[u8], path: &[u8]) -> bool {
    match glob.split_first() {
        None => path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|skipped| matches(rest, &path[skipped..])),
        Some((byte, rest)) => {
            path.split_first().is_some_and(|(first, path)| (*byte == b'?' || byte == first) && matches(rest, path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_takes_the_calls_that_it_names() {
        let rules = Rules::default();
        rules.tell("read *.bin nth=2-3 at=100-199 error=EIO\nwrite out room=10\n").unwrap();
        let read = |offset| rules.judge("read", &[b"a/b.bin"], Some((offset, 50))).err();
        assert_eq!(
            [read(0), read(100), read(50), read(60), read(199), read(150)],
            [None, None, None, Some(libc::EIO), Some(libc::EIO), None]
        );
        assert!(rules.judge("read", &[b"a.txt"], Some((100, 50))).is_ok());
        assert!(rules.judge("write", &[b"out"], Some((0, 10))).is_ok());
        assert_eq!(rules.judge("write", &[b"out"], Some((10, 1))).err(), Some(libc::ENOSPC));
        assert_eq!(rules.report(), "2 read *.bin nth=2-3 at=100-199 error=EIO\n1 write out room=10\n");
        for wrong in ["read", "reed * error=EIO", "read * error=EOH", "read * nth=x error=EIO", "read * sleep"] {
            assert!(rules.tell(wrong).is_err(), "{wrong}");
        }
    }
}
