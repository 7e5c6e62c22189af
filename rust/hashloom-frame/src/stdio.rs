// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard input, output and error as the program got them.
//!
//! If one of them is closed (`<&-`, `>&-`), Rust's library opens /dev/null in its place before `main`, so that no file
//! of the program can get its descriptor. The library also takes EBADF for the end of the input, and for successful
//! output. Both together would make a digest of nothing, and lose output without an error. Therefore this module notes
//! closed descriptors before that library starts, and replaces them by a descriptor that can be neither read nor
//! written. Its output bypasses the library.

use std::io::{self, Write};
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub use hashloom_files::stdin;

/// Flags for standard input, output and error.
static WAS_CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Whether standard input is to be read.
static IS_STDIN_WANTED: AtomicBool = AtomicBool::new(false);

/// Returns true if standard output was closed when the program began.
pub fn was_stdout_closed() -> bool {
    WAS_CLOSED[1].load(Ordering::Relaxed)
}

/// Notes that standard input is to be read.
pub fn want_stdin() {
    IS_STDIN_WANTED.store(true, Ordering::Relaxed);
}

/// Returns true if standard input was to be read, and was closed when the program began.
pub fn was_stdin_missed() -> bool {
    IS_STDIN_WANTED.load(Ordering::Relaxed) && WAS_CLOSED[0].load(Ordering::Relaxed)
}

/// Standard output without a buffer. Unlike the one of Rust's library, it fails if it was closed or cannot be written.
pub struct Stdout;

/// Standard error, with the same properties.
pub struct Stderr;

impl Write for Stdout {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stdout = io::stdout();
        stdout.write(bytes).and_then(|nbytes| stdout.flush().map(|()| nbytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Stderr {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stderr(), bytes)?)
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Collects output, and writes it in whole lines.
#[derive(Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Number of bytes collected before they are written.
    pub const FULL_NBYTES: usize = 32 << 10;
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() >= Lines::FULL_NBYTES {
            // A line that is longer is written in parts.
            let nbytes = self.0.iter().rposition(|&byte| byte == b'\n').map_or(self.0.len(), |last| last + 1);
            write_lines(&self.0[..nbytes], b'\n')?;
            self.0.drain(..nbytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = write_lines(&self.0, b'\n');
        self.0.clear();
        written
    }
}

/// Writes lines, which end in the byte `end`, to standard output. Programs that share a pipe (`xargs -P`) tear lines
/// apart if one write has more than PIPE_BUF bytes: a pipe therefore gets no more than that in one write, and whole
/// lines, unless one is longer.
pub fn write_lines(lines: &[u8], end: u8) -> io::Result<()> {
    let mut rest = lines;
    while !rest.is_empty() {
        let room = rest.len().min(write_max_nbytes());
        let last = rest[..room].iter().rposition(|&byte| byte == end);
        let nbytes = match last.or_else(|| rest.iter().position(|&byte| byte == end)) {
            Some(at) => at + 1,
            None => rest.len(),
        };
        Stdout.write_all(&rest[..nbytes])?;
        rest = &rest[nbytes..];
    }
    Ok(())
}

/// The number of bytes that one write to standard output may have.
fn write_max_nbytes() -> usize {
    match is_stdout_pipe() {
        #[cfg(unix)]
        true => rustix::pipe::PIPE_BUF,
        _ => usize::MAX,
    }
}

/// Whether standard output is a pipe.
#[cfg(unix)]
pub fn is_stdout_pipe() -> bool {
    use rustix::fs::{FileType, fstat};
    static IS_PIPE: OnceLock<bool> = OnceLock::new();
    *IS_PIPE.get_or_init(|| {
        fstat(rustix::stdio::stdout()).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    })
}

#[cfg(not(unix))]
pub fn is_stdout_pipe() -> bool {
    false
}

/// Begins the program: any use of a closed one of the three fails from now on, also by a name such as /dev/stdin.
#[cfg(unix)]
pub fn begin() {
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

    // A linker takes the object of a library only if something refers to it.
    std::hint::black_box(&unix::LOOK);
    type Replace = fn(std::os::fd::OwnedFd) -> rustix::io::Result<()>;
    let replace: [Replace; 3] = [dup2_stdin, dup2_stdout, dup2_stderr];
    for (number, (was_closed, replace)) in WAS_CLOSED.iter().zip(replace).enumerate() {
        if was_closed.load(Ordering::Relaxed) {
            // If this fails, /dev/null stays: Rust's library has opened it, or it would have ended the program.
            let _ = unix::unusable(number == 0).and_then(replace);
        }
    }
}

#[cfg(not(unix))]
pub fn begin() {}

#[cfg(unix)]
mod unix {
    use std::os::fd::OwnedFd;
    use std::sync::atomic::Ordering;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::{Errno, Result, fcntl_getfd};
    use rustix::stdio::{stderr, stdin, stdout};

    use super::WAS_CLOSED;

    /// Returns a descriptor that can be neither read nor written: a symbolic link itself. Opening it again, as
    /// /dev/stdin, gives ELOOP.
    #[cfg(target_os = "linux")]
    pub fn unusable(is_input: bool) -> Result<OwnedFd> {
        open("/proc/self", OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).or_else(|_| null(is_input))
    }

    #[cfg(not(target_os = "linux"))]
    pub fn unusable(is_input: bool) -> Result<OwnedFd> {
        null(is_input)
    }

    /// Opens /dev/null in the wrong direction, as the C library does for setuid programs.
    fn null(is_input: bool) -> Result<OwnedFd> {
        let way = if is_input { OFlags::WRONLY } else { OFlags::RDONLY };
        open("/dev/null", way | OFlags::CLOEXEC, Mode::empty())
    }

    /// A function pointer among those that the loader calls before `main`, and before Rust's library opens anything.
    // SAFETY: the section holds function pointers; the loader passes arguments, which C's ABI lets the function ignore.
    #[allow(unsafe_code)]
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    pub static LOOK: extern "C" fn() = look;

    /// Uses nothing of Rust's library that needs the library to be initialised.
    extern "C" fn look() {
        for (was_closed, fd) in WAS_CLOSED.iter().zip([stdin(), stdout(), stderr()]) {
            was_closed.store(fcntl_getfd(fd) == Err(Errno::BADF), Ordering::Relaxed);
        }
    }
}
