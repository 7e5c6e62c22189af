// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a result of an earlier run is worth now.
//!
//! A result is *evidence* for a file if the file was read in this run, or if an earlier run read it and no change since
//! can have escaped. For the latter the [`Tie`] of both runs must be equal in three parts: the folder, by its canonical
//! path; the device, by what no copy of a disk shares; and the file's stamp. Beyond that, every change must have shown
//! in the stamp. A write changes the file's times, with these exceptions:
//!
//! - A program that has mapped a file and written to a page goes on to write to that page unseen, until the page is on
//!   the disk. Therefore nobody may have the file open for writing when the stamp is taken; a mapping keeps the file
//!   open. Linux tells by a lease, which it grants only then.
//! - Some file systems have no time of change that programs cannot set, or let a mapping be written to unseen at any
//!   time (tmpfs, when the page was read first). Only file systems known to note each first write are therefore
//!   trusted.
//! - Clocks tick. Two changes within a tick may leave the same times.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashloom::Algorithm;

use crate::paths;
use crate::read::device;
use crate::read::stamp::Stamp;
use crate::run::lock;
use crate::text::{Hex, from_hex};

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
    const ALL: [Doubt; 8] = [
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

/// Where a result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Evidence {
    /// The file was read in this run.
    Read,
    /// An earlier run read the file, as the [state](crate::state::State) of that run says, and no change since can have
    /// escaped: the two [ties](Tie) hold.
    State,
    /// An old manifest has the digests for a file of this path, length and modification time. A program can change a
    /// file and keep all three.
    Old,
}

/// The first bytes of a SHA-256.
type Id = [u8; 16];

/// Returns an identifier of parts, none of which can run into the next.
fn id<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Id {
    let mut message = Vec::with_capacity(128);
    for part in parts {
        message.extend_from_slice(&(part.len() as u64).to_le_bytes());
        message.extend_from_slice(part);
    }
    let digest = hashloom::hash(Algorithm::Sha256, &message);
    std::array::from_fn(|index| digest.as_ref()[index])
}

/// What ties a result to a thing: its place, its device and its version, and the reason, if any, why a later change
/// might not show in them.
///
/// ```
/// use hashloom_files::{Doubt, NoTie, Tie};
///
/// let (old, new) = (Tie::of("https://example.org/", "etag 1"), Tie::of("https://example.org/", "etag 2"));
/// assert_eq!(old.doubt_at(&old), None);
/// assert_eq!(old.doubt_at(&new), Some(Doubt::Changed));
/// assert_eq!(old.doubt_at(&Tie::of("https://example.com/", "etag 1")), Some(Doubt::Folder));
/// assert_eq!(old.to_string().parse(), Ok(old));
/// assert!(matches!("0.0.0.0".parse::<Tie>(), Err(NoTie)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tie {
    folder: Id,
    device: Id,
    version: Id,
    doubt: Option<Doubt>,
}

impl Tie {
    /// The tie of a thing that is no file: `place` tells a store from every other, `version` tells every content that
    /// the thing ever had.
    pub fn of(place: impl AsRef<[u8]>, version: impl AsRef<[u8]>) -> Tie {
        Tie { folder: id([place.as_ref()]), device: [0; 16], version: id([version.as_ref()]), doubt: None }
    }

    /// The tie of several things at once, in order.
    pub fn of_all<'a>(ties: impl Iterator<Item = &'a Tie> + Clone) -> Tie {
        let all = |part: fn(&Tie) -> &Id| id(ties.clone().map(|tie| &part(tie)[..]));
        Tie {
            folder: all(|tie| &tie.folder),
            device: all(|tie| &tie.device),
            version: all(|tie| &tie.version),
            doubt: ties.clone().find_map(|tie| tie.doubt),
        }
    }

    /// Why a result with this tie is not believed now that the tie is `now`; `None` if no change can have escaped.
    pub fn doubt_at(&self, now: &Tie) -> Option<Doubt> {
        if self.folder != now.folder {
            Some(Doubt::Folder)
        } else if self.device != now.device {
            Some(Doubt::Device)
        } else if self.version != now.version {
            Some(Doubt::Changed)
        } else {
            self.doubt
        }
    }

    /// The same tie, as any change since an equal and strong one would have shown.
    pub fn without_doubt(self) -> Tie {
        Tie { doubt: None, ..self }
    }
}

/// The three parts in hexadecimal, and the number of the doubt.
impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.doubt.map_or(0, |doubt| doubt as u8 + 1);
        write!(f, "{}.{}.{}.{number}", Hex(&self.folder), Hex(&self.device), Hex(&self.version))
    }
}

/// The text is not one that a tie is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTie;

impl FromStr for Tie {
    type Err = NoTie;

    fn from_str(text: &str) -> Result<Tie, NoTie> {
        let mut parts = text.split('.');
        let mut part = || parts.next().and_then(|part| from_hex(part)?.try_into().ok()).ok_or(NoTie);
        let (folder, device, version) = (part()?, part()?, part()?);
        let doubt = match (parts.next(), parts.next()) {
            (Some("0"), None) => None,
            (Some(number), None) if !number.starts_with(['+', '0']) => {
                let index = number.parse::<usize>().map_err(|_| NoTie)? - 1;
                Some(*Doubt::ALL.get(index).ok_or(NoTie)?)
            }
            _ => return Err(NoTie),
        };
        Ok(Tie { folder, device, version, doubt })
    }
}

/// A folder with the files of a run, which makes their ties.
#[derive(Debug)]
pub struct Folder {
    id: Id,
    /// The identifiers of devices by their numbers; `None` if the system does not tell a device from a copy of it.
    devices: Mutex<HashMap<u64, Option<Id>>>,
}

impl Folder {
    /// `path` may also be that of a file, which may be missing. A path that leads nowhere ties nothing.
    pub fn new(path: &Path) -> Folder {
        let of_missing = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        let id = match path.canonicalize().ok().or_else(of_missing) {
            Some(path) => id([&paths::to_bytes(&path)[..]]),
            None => id([&RandomState::new().hash_one(0).to_le_bytes()[..]]),
        };
        Folder { id, devices: Mutex::default() }
    }

    /// The tie of a file that was noted, with the path by which it was found.
    pub fn tie(&self, path: &Path, Noted { stamp, doubt }: &Noted) -> Tie {
        let Stamp { nbytes, mtime_ns, ctime_ns, dev, ino } = *stamp;
        let known = || lock(&self.devices);
        let found = known().get(&dev).copied();
        // The lock is not held here: a server may take its time.
        let device = found.unwrap_or_else(|| {
            let found = device::identity(path, dev).map(|text| id([text.as_bytes()]));
            *known().entry(dev).or_insert(found)
        });
        let numbers = [i128::from(nbytes), mtime_ns, ctime_ns, i128::from(ino)].map(i128::to_le_bytes);
        Tie {
            folder: self.id,
            device: device.unwrap_or_default(),
            version: id(numbers.iter().map(|number| &number[..])),
            doubt: doubt.or(device.is_none().then_some(Doubt::Device)),
        }
    }

    /// The tie of a file that is missing.
    pub fn tie_of_none(&self) -> Tie {
        Tie { folder: self.id, device: [0; 16], version: [0; 16], doubt: None }
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
    fn text_of_ties() {
        for doubt in Doubt::ALL.map(Some).into_iter().chain([None]) {
            let tie = Tie { doubt, ..Tie::of("place", "version") };
            let text = tie.to_string();
            assert_eq!(text.parse(), Ok(tie));
            for wrong in [&text[1..], &text[..text.len() - 1], &format!("{text}0"), &text.to_uppercase()] {
                assert_eq!(wrong.parse::<Tie>(), Err(NoTie), "{wrong}");
            }
        }
        let text = Tie::of("place", "version").to_string();
        for doubt in ["9", "+1", "-1", "01", "1.0", "18446744073709551616"] {
            let wrong = format!("{}{doubt}", &text[..text.len() - 1]);
            assert_eq!(wrong.parse::<Tie>(), Err(NoTie), "{wrong}");
        }
    }

    /// Each part of a tie is a doubt of its own.
    #[test]
    fn what_ties_a_result_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let noted = Noted { doubt: None, ..Noted::of(&path).unwrap() };
        let root = Folder::new(folder.path());
        let tie = Tie { doubt: None, ..root.tie(&path, &noted) };
        assert_eq!(tie.doubt_at(&root.tie(&path, &noted)), None);
        let later = Noted { stamp: Stamp { ctime_ns: noted.stamp.ctime_ns + 1, ..noted.stamp }, ..noted };
        assert_eq!(tie.doubt_at(&root.tie(&path, &later)), Some(Doubt::Changed));
        assert_eq!(tie.doubt_at(&Tie { device: [1; 16], ..tie }), Some(Doubt::Device));
        assert_eq!(tie.doubt_at(&Folder::new(&path).tie(&path, &noted)), Some(Doubt::Folder));
        assert_eq!(Tie { doubt: Some(Doubt::Writer), ..tie }.doubt_at(&tie), Some(Doubt::Writer));
        // No path, no tie.
        let missing = folder.path().join("missing/missing");
        let [one, two] = [0; 2].map(|_| Folder::new(&missing).tie(&path, &noted));
        assert_eq!(one.doubt_at(&two), Some(Doubt::Folder));
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
