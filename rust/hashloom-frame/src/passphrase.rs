// SPDX-License-Identifier: MIT OR Apache-2.0

//! Asks for a passphrase. Its bytes go straight into memory that is overwritten when dropped. That memory does not
//! grow, as growing leaves copies behind.

use zeroize::Zeroizing;

#[cfg(unix)]
use crate::text::reason;

/// Prompts at the user's terminal, as getpassphrase(3C) does, even if standard input and output are redirected. A
/// signal that ends or stops the program takes effect after the terminal is restored; after a stop the program asks
/// again.
#[cfg(unix)]
pub fn ask(prompt: &str, cure: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    use std::fs::File;
    use std::io::Write;

    // Four times the limit of getpassphrase(3C).
    const NBYTES_MAX: usize = 1024;
    let failed = |error: std::io::Error| format!("no terminal to ask for a key: {}; {cure}", reason(&error));
    let terminal = File::options().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let ask_once = || {
        let held = unix::Held::new()?;
        let silence = unix::Silence::of(&terminal)?;
        (&terminal).write_all(prompt.as_bytes())?;
        let line = unix::read_line(&terminal, NBYTES_MAX, &held);
        // The newline that the user typed was not shown either.
        let _ = (&terminal).write_all(b"\n");
        drop(silence);
        line
    };
    let line = loop {
        if let Some(line) = ask_once().map_err(failed)? {
            break line;
        }
    };
    if line.is_empty() {
        return Err("expected a key, found an empty line".to_owned());
    }
    Ok(line)
}

#[cfg(not(unix))]
pub fn ask(_prompt: &str, cure: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    Err(format!("hashloom cannot ask for a key on this system: {cure}"))
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, ErrorKind, Read};

    use nix::sys::signal::Signal::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use zeroize::Zeroizing;

    /// Signals that end or stop a program and can be blocked.
    const SIGNALS: [Signal; 8] = [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2];

    /// Blocks the signals until dropped; then they take effect. The process has one thread at that time.
    pub struct Held {
        before: SigSet,
        signals: Vec<Signal>,
    }

    impl Held {
        pub fn new() -> io::Result<Held> {
            let before = SIGNALS.into_iter().collect::<SigSet>().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
            // Signals that were blocked before stay blocked.
            let signals = SIGNALS.into_iter().filter(|signal| !before.contains(*signal)).collect();
            Ok(Held { before, signals })
        }

        /// Returns true if a signal is pending.
        #[allow(unsafe_code)]
        fn is_one_waiting(&self) -> bool {
            let mut waiting = *SigSet::empty().as_ref();
            // SAFETY: sigpending writes to a valid set, and the result is a valid set.
            let waiting = unsafe {
                nix::libc::sigpending(&mut waiting);
                SigSet::from_sigset_t_unchecked(waiting)
            };
            self.signals.iter().any(|signal| waiting.contains(*signal))
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            let _ = self.before.thread_set_mask();
        }
    }

    /// Turns off the terminal's echo and its line mode until dropped.
    pub struct Silence<'a> {
        terminal: &'a File,
        before: Termios,
    }

    impl<'a> Silence<'a> {
        pub fn of(terminal: &'a File) -> io::Result<Silence<'a>> {
            let before = tcgetattr(terminal)?;
            let mut modes = before.clone();
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON);
            tcsetattr(terminal, OptionalActions::Flush, &modes)?;
            Ok(Silence { terminal, before })
        }
    }

    impl Drop for Silence<'_> {
        fn drop(&mut self) {
            let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
        }
    }

    /// Returns the bytes typed until the end of the line, or `None` if a signal came first.
    pub fn read_line(mut terminal: &File, nbytes_max: usize, held: &Held) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        const END_OF_FILE: u8 = 4;
        const BACKSPACE: u8 = 8;
        const KILL: u8 = 21;
        const DELETE: u8 = 127;
        /// POSIX has no call that waits for both a file and a blocked signal.
        const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let mut line = Zeroizing::new(Vec::with_capacity(nbytes_max));
        let mut byte = Zeroizing::new([0]);
        loop {
            let nready = match poll(&mut [PollFd::new(terminal, PollFlags::IN)], Some(&PATIENCE)) {
                Err(rustix::io::Errno::INTR) => 0,
                nready => nready?,
            };
            if held.is_one_waiting() {
                return Ok(None);
            }
            if nready == 0 {
                continue;
            }
            let nread = match terminal.read(&mut *byte) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            match byte[0] {
                _ if nread == 0 => return Ok(Some(line)),
                b'\n' | b'\r' | END_OF_FILE => return Ok(Some(line)),
                BACKSPACE | DELETE => drop(line.pop()),
                KILL => line.clear(),
                _ if line.len() == nbytes_max => {
                    return Err(io::Error::other(format!("expected at most {nbytes_max} bytes")));
                }
                typed => line.push(typed),
            }
        }
    }
}
