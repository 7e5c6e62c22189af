// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files whose bytes come at any time: pipes, terminals, sockets, devices. Reading them waits in short steps; between
//! steps the caller looks whether it must stop.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a file without waiting for a pipe's writer: see `is_ready`. Looking at the path first would cost a tenth of
/// the whole work for a file of 16 KiB.
#[cfg(unix)]
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let with = |flags| -> io::Result<(File, Metadata)> {
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    };
    match with(libc::O_NONBLOCK) {
        // Another program that holds a lease on the file gives it back first.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => with(0),
        // Opening a device without waiting has another meaning for each kind: a drive without a disk reads as empty.
        Ok((_, metadata)) if metadata.file_type().is_char_device() || metadata.file_type().is_block_device() => with(0),
        other => other,
    }
}

/// Opens a file.
#[cfg(windows)]
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = crate::read::windows::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        Err(io::Error::new(io::ErrorKind::IsADirectory, "Is a directory"))
    } else {
        Ok((file, metadata))
    }
}

/// Opens a file.
#[cfg(not(any(unix, windows)))]
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Whether there is data, or the end; if not, this `may_wait` a short while. A pipe that no writer has opened yet is
/// not at its end, though a read would say so.
#[cfg(unix)]
pub fn is_ready(stream: impl std::os::fd::AsFd, may_wait: bool) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let look = if may_wait { crate::run::pool::LOOK.as_nanos() } else { 0 };
    let look = Timespec { tv_sec: 0, tv_nsec: look as _ };
    // If polling fails, reading reports the error.
    match poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&look)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => false,
        Ok(_) | Err(_) => true,
    }
}

/// This system does not tell; a read waits.
#[cfg(not(unix))]
pub fn is_ready<S>(_stream: S, _may_wait: bool) -> bool {
    true
}

/// Returns true if reading may wait for a writer, and the file has no offsets to read at.
pub fn is_stream(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type()) {
        return false;
    }
    !metadata.is_file() && !metadata.is_dir()
}
