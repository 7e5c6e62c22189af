// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a later change of a file will show in its stamp.
//!
//! A result of an earlier run counts only if no change since can have escaped (the crate `hashloom-state`). For that,
//! every change must have shown in the stamp. A write changes the file's times, with these exceptions:
//!
//! - A program that has mapped a file and written to a page goes on to write to that page unseen, until the page is on
//!   the disk. Therefore nobody may have the file open for writing when the stamp is taken; a mapping keeps the file
//!   open. Linux tells by a lease, which it grants only then.
//! - Some file systems have no time of change that programs cannot set, or let a mapping be written to unseen at any
//!   time (tmpfs, when the page was read first). Only file systems known to note each first write are therefore
//!   trusted.
//! - Clocks tick. Two changes within a tick may leave the same times.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::read::stamp::Stamp;

/// Two changes within this time may leave the same time stamp: clocks of file systems tick every 1 to 10 ms.
pub const TICK: Duration = Duration::from_millis(50);

/// The same limit where times are whole seconds.
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(dead_code, reason = "no lease tells"))]
const LONG_TICK: Duration = Duration::from_secs(2);

/// A file's stamp, and the reason, if any, why a later change might not show in it.
///
/// ```
/// use hashloom_files::{Doubt, Noted};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("file");
/// std::fs::write(&path, "abc")?;
/// let writer = std::fs::File::options().write(true).open(&path)?;
/// let noted = Noted::of(&path)?;
/// assert_eq!(noted.stamp.nbytes, 3);
/// // The doubt is the open `writer`, or the file system if its times cannot be trusted.
/// assert!(matches!(noted.doubt, Some(Doubt::Writer | Doubt::FileSystem)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Noted {
    /// The file's stamp.
    pub stamp: Stamp,
    /// `None` if every later write to the file changes its stamp.
    pub doubt: Option<Doubt>,
}

/// Why the result of a former run is not believed for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// The file has changed.
    Changed,
    /// Another program had the file open for writing.
    Writer,
    /// The file belongs to another user, so the system does not tell whether somebody had it open for writing.
    Owner,
    /// The file system does not promise that each change shows, or the operating system does not tell.
    FileSystem,
    /// The file had been changed just before, and its clock may not have ticked since.
    Fresh,
    /// The file could not be opened, or is not a regular file.
    Unopened,
    /// The result is of a folder with another path.
    Folder,
    /// The result is of another device, or the system does not tell one device from a copy of it.
    Device,
}

impl Doubt {
    /// All doubts.
    pub const ALL: &'static [Doubt] = &[
        Doubt::Changed,
        Doubt::Writer,
        Doubt::Owner,
        Doubt::FileSystem,
        Doubt::Fresh,
        Doubt::Unopened,
        Doubt::Folder,
        Doubt::Device,
    ];
}

/// A phrase that describes the file, without a verb.
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::Changed => "changed since",
            Doubt::Writer => "open for writing in another program",
            Doubt::Owner => "of another user, whose programs may have been writing",
            Doubt::FileSystem => "on a file system that does not promise to tell of each change",
            Doubt::Fresh => "changed just before the last check",
            Doubt::Unopened => "impossible to open",
            Doubt::Folder => "last read in another folder",
            Doubt::Device => "last read on another device, or on one that the system cannot tell from a copy of it",
        })
    }
}

impl Noted {
    /// Looks at a file; links are followed. The file is opened for a moment: another program that opens it for writing
    /// meanwhile waits some microseconds, or fails if it must not wait.
    ///
    /// # Errors
    /// If the file is missing, or the system tells nothing of it.
    pub fn of(path: &Path) -> io::Result<Noted> {
        let metadata = path.metadata()?;
        // A device may do something when it is opened, so only a regular file is opened.
        let noted = if metadata.is_file() { system::noted(path).ok() } else { None };
        Ok(noted.unwrap_or(Noted { stamp: Stamp::of(&metadata), doubt: Some(Doubt::Unopened) }))
    }

    /// Looks at an open file as [`Stamp::before_reading`] does; `None` if it is no regular file. `notes`: whether
    /// somebody asks for a doubt; otherwise there is none.
    pub(crate) fn before_reading(file: &File, notes: bool) -> io::Result<Option<Noted>> {
        let Some(stamp) = Stamp::before_reading(file)? else { return Ok(None) };
        Ok(Some(Noted { stamp, doubt: if notes { system::doubt(file, &stamp) } else { None } }))
    }

    /// Makes the note for a file whose next change will show if its times are old enough at `now_ns`.
    #[cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(dead_code, reason = "no lease tells"))]
    fn settled(stamp: Stamp, now_ns: i128) -> Noted {
        let tick = if stamp.ctime_ns % 1_000_000_000 == 0 { LONG_TICK } else { TICK };
        let is_old = stamp.ctime_ns < now_ns - tick.as_nanos() as i128;
        Noted { stamp, doubt: (!is_old).then_some(Doubt::Fresh) }
    }
}

#[cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(dead_code, reason = "no lease tells"))]
fn now_ns() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as i128
}

pub(crate) use system::is_trusted;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::cell::Cell;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use super::{Doubt, Noted, now_ns};
    use crate::read::stamp::Stamp;

    /// Local file systems that set the time of change, which no program can set, when a page is written to for the
    /// first time: ext2 to ext4, XFS, Btrfs, F2FS, bcachefs. Not on the list are tmpfs (a page that was read first is
    /// written to unseen), overlayfs (a mapping belongs to another file), ZFS (the time comes later), network file
    /// systems (NFS, SMB, 9P) and those made by a program (FUSE).
    const TRUSTED: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0xca45_1a4e];

    /// Whether the file is on one of these, which also give each file an inode of its own.
    pub(crate) fn is_trusted(file: &File) -> bool {
        // The type of this field differs between architectures; all magic numbers have 32 bits.
        rustix::fs::fstatfs(file).is_ok_and(|found| TRUSTED.contains(&(found.f_type as u32)))
    }

    pub(super) fn noted(path: &Path) -> io::Result<Noted> {
        use std::os::unix::fs::OpenOptionsExt;

        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        if !is_trusted(&file) {
            return Ok(Noted { stamp: Stamp::of(&file.metadata()?), doubt: Some(Doubt::FileSystem) });
        }
        under_lease(&file)
    }

    /// The note for a file on one of the trusted file systems.
    fn under_lease(file: &File) -> io::Result<Noted> {
        let now_ns = now_ns();
        let lease = Lease::take(file);
        // The lease must be held here, so that nobody can begin to write.
        let metadata = file.metadata();
        let noted = Noted::settled(Stamp::of(&metadata?), now_ns);
        Ok(match lease {
            Ok(_) => noted,
            Err(doubt) => Noted { doubt: Some(doubt), ..noted },
        })
    }

    /// The doubt about an open regular file that has this stamp.
    pub(crate) fn doubt(file: &File, stamp: &Stamp) -> Option<Doubt> {
        thread_local! {
            /// The device of the last file that was not on a trusted file system.
            static UNTRUSTED: Cell<Option<u64>> = const { Cell::new(None) };
        }
        if UNTRUSTED.get() == Some(stamp.dev) {
            return Some(Doubt::FileSystem);
        }
        if !is_trusted(file) {
            UNTRUSTED.set(Some(stamp.dev));
            return Some(Doubt::FileSystem);
        }
        match under_lease(file) {
            Ok(noted) if noted.stamp == *stamp => noted.doubt,
            _ => Some(Doubt::Changed),
        }
    }

    /// `F_SETSIG` of Linux's asm-generic/fcntl.h.
    const F_SETSIG: libc::c_int = 10;

    /// A read lease, granted if nobody has the file open for writing. A program that opens the file for writing waits
    /// until the lease is given back.
    struct Lease<'a>(&'a File);

    impl Lease<'_> {
        fn take(file: &File) -> Result<Lease<'_>, Doubt> {
            // When a program has to wait for the lease, the system sends this process a signal: by default SIGIO, which
            // ends a process that does not expect it. SIGURG does nothing unless the process has a handler for it, and
            // such a handler must expect SIGURG at any time.
            fcntl(file, F_SETSIG, libc::SIGURG).map_err(|_| Doubt::FileSystem)?;
            match fcntl(file, libc::F_SETLEASE, libc::F_RDLCK as libc::c_int) {
                Ok(()) => Ok(Lease(file)),
                Err(error) => Err(match error.raw_os_error() {
                    Some(libc::EAGAIN) => Doubt::Writer,
                    Some(libc::EACCES) => Doubt::Owner,
                    _ => Doubt::FileSystem,
                }),
            }
        }
    }

    impl Drop for Lease<'_> {
        fn drop(&mut self) {
            // If the call fails, the lease ends when the file is closed, which is at once.
            let _ = fcntl(self.0, libc::F_SETLEASE, libc::F_UNLCK as libc::c_int);
        }
    }

    fn fcntl(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
        // SAFETY: these commands take an integer, and the descriptor is that of an open file.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use super::{Doubt, Noted};
    use crate::read::stamp::Stamp;

    /// Nothing is known of the file systems of this system.
    pub(crate) fn is_trusted(_file: &File) -> bool {
        false
    }

    pub(crate) fn doubt(_file: &File, _stamp: &Stamp) -> Option<Doubt> {
        Some(Doubt::FileSystem)
    }

    /// This system does not tell whether a file is open for writing.
    pub(super) fn noted(path: &Path) -> io::Result<Noted> {
        let stamp = Stamp::at(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Noted { stamp, doubt: Some(Doubt::FileSystem) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_open_file_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let doubt = |stamp: &Stamp| system::doubt(&file, stamp);
        for age in [0, 4] {
            std::thread::sleep(Duration::from_secs(age));
            let noted = Noted::of(&path).unwrap();
            for _ in 0..2 {
                assert_eq!(doubt(&noted.stamp), noted.doubt);
            }
        }
        let writer = std::fs::File::options().write(true).open(&path).unwrap();
        let noted = Noted::of(&path).unwrap();
        assert_eq!(doubt(&noted.stamp), noted.doubt);
        assert!(noted.doubt.is_some());
        drop(writer);
        if noted.doubt == Some(Doubt::Writer) {
            let changed = Stamp { nbytes: 4, ..noted.stamp };
            assert_eq!(doubt(&changed), Some(Doubt::Changed));
        }
    }

    #[test]
    fn what_was_changed_within_a_tick_is_fresh() {
        let file = tempfile::tempfile().unwrap();
        let metadata = file.metadata().unwrap();
        let stamp = Stamp::of(&metadata);
        let ctime_ns = stamp.ctime_ns;
        let doubt = |now_ns| Noted::settled(stamp, now_ns).doubt;
        if cfg!(unix) {
            assert_eq!(doubt(ctime_ns), Some(Doubt::Fresh));
            // The clock was set back.
            assert_eq!(doubt(ctime_ns - 1_000_000_000), Some(Doubt::Fresh));
        }
        assert_eq!(doubt(ctime_ns + 3_000_000_000), None);
    }
}
