// SPDX-License-Identifier: MIT OR Apache-2.0

//! A stamp: what a file is like at some time, to tell later whether the file has changed.
//!
//! File systems count time in steps, most in steps of the kernel's clock, 1 to 10 ms. A file that was changed in the
//! current step can be changed again without a new stamp. The stamp of a file to read is therefore taken after that
//! step is over ([`Stamp::before_reading`]): from then on each change gives the file another stamp. The length of a
//! step is not asked of the file system: the time itself tells the longest that it can have.
//!
//! A write sets the time first and then copies its bytes, for seconds if the disk is slow. A read beside it would find
//! old bytes and new ones, and the same stamp before and after. On Linux the engine therefore waits until the write is
//! over, too: the search for data in a file (`SEEK_DATA`) takes the lock that a write holds.
//!
//! File systems on networks and those made by programs (FUSE) let the kernel keep a file's times for a while. The
//! stamp after the read is therefore taken on Linux by `statx` with `AT_STATX_FORCE_SYNC`, which asks the file system.
//! Local file systems ignore the flag.
//!
//! Windows tells of a write at the latest when the writer closes the file. After the read, a file that somebody has
//! open for writing is therefore an error there (`Stamp::judge`).

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::LazyLock;
#[cfg(not(unix))]
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(unix)]
use rustix::fd::AsFd;

#[cfg(windows)]
use crate::read::windows;

/// Number of reads after which the engine gives up on a file that changes during each.
pub(crate) const READINGS_MAX: u8 = 3;

/// The least fingerprint that a stamp can have.
pub(crate) const FINGERPRINT_MIN: u64 = 16;

/// The identity of a file, its length and the times of its last change.
///
/// Two equal stamps mean that nobody wrote to the file in between, as far as the file system tells: most file systems
/// count time in steps of some milliseconds.
///
/// ```
/// use hashloom_files::Stamp;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("file");
/// std::fs::write(&path, "abc")?;
/// let file = std::fs::File::open(&path)?;
/// let before = Stamp::before_reading(&file)?;
/// assert_eq!((before, before.map(|stamp| stamp.nbytes)), (Stamp::at(&path)?, Some(3)));
/// std::fs::write(&path, "def")?;
/// assert_ne!(Stamp::of_file(&file)?, before);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stamp {
    /// Number of bytes in the file.
    pub nbytes: u64,
    /// Modification time in nanoseconds since 1970, negative before.
    pub mtime_ns: i128,
    /// Time of the last change of any kind, which no program can set, in the same unit; 0 if the system has no such
    /// time.
    pub ctime_ns: i128,
    /// Number of the file's device (on Windows of its volume); 0 if there is none.
    pub dev: u64,
    /// Number of the file on its device (the inode); 0 if there is none.
    pub ino: u64,
}

impl Stamp {
    /// Makes a stamp from the system's metadata of a file. On file systems that keep a file's times for a while
    /// (networks, FUSE), these may be older than those of [`Stamp::of_file`] and [`Stamp::at`]. On Windows the metadata
    /// has neither the time of the last change nor numbers, so the stamp never equals one of these functions.
    pub fn of(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Stamp {
                nbytes: metadata.len(),
                mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
                dev: metadata.dev(),
                ino: metadata.ino(),
            }
        }
        #[cfg(not(unix))]
        {
            let mtime_ns = metadata.modified().map_or(0, since_1970);
            Stamp { nbytes: metadata.len(), mtime_ns, ctime_ns: 0, dev: 0, ino: 0 }
        }
    }

    /// The stamp of an open file; `None` if it is not a regular file.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn of_file(file: &File) -> io::Result<Option<Stamp>> {
        #[cfg(unix)]
        let (is_file, stamp) = look(file, c"", Follow::Open)?;
        #[cfg(windows)]
        let (is_file, stamp) = windows::look(file)?;
        #[cfg(not(any(unix, windows)))]
        let (is_file, stamp) = file.metadata().map(|metadata| (metadata.is_file(), Stamp::of(&metadata)))?;
        Ok(is_file.then_some(stamp))
    }

    /// The stamp of the file at a path, links followed; `None` if it is not a regular file.
    ///
    /// # Errors
    /// If the file is missing, or the system does not tell.
    pub fn at(path: &Path) -> io::Result<Option<Stamp>> {
        look_at(path, true).map(|(is_file, stamp)| is_file.then_some(stamp))
    }

    /// The stamp of the file at a path, of a link itself; `None` if it is not a regular file.
    pub fn of_entry(path: &Path) -> io::Result<Option<Stamp>> {
        look_at(path, false).map(|(is_file, stamp)| is_file.then_some(stamp))
    }

    /// The stamp of anything at a path, whose metadata is known. Windows is asked for what that lacks.
    pub fn of_known(path: &Path, follow: bool, metadata: &Metadata) -> io::Result<Stamp> {
        #[cfg(windows)]
        return windows::look_at(path, follow).map(|(_, stamp)| Stamp { nbytes: metadata.len(), ..stamp });
        #[cfg(not(windows))]
        {
            let _ = (path, follow);
            Ok(Stamp::of(metadata))
        }
    }

    /// The stamp of an open file that is to be read; `None` if it is not a regular file. From now on every change gives
    /// the file another stamp, as far as the file system tells of changes at all. If the file was changed in the
    /// current step of the clock, the call waits until the step is over, two seconds at most. One wait serves all other
    /// files that are there, too.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn before_reading(file: &File) -> io::Result<Option<Stamp>> {
        // The kernel's notes will do: if they are old, the stamp after the read is another one. On FUSE this saves a
        // request for each file.
        #[cfg(unix)]
        let stamp = {
            let (is_file, stamp) = of_stat(&rustix::fs::fstat(file)?);
            is_file.then_some(stamp)
        };
        #[cfg(not(unix))]
        let stamp = Stamp::of_file(file)?;
        #[cfg(any(unix, windows))]
        let stamp = match stamp.filter(|stamp| fresh::is_fresh(stamp, file)) {
            Some(stamp) => {
                fresh::wait(&stamp);
                Stamp::of_file(file)?
            }
            None => stamp,
        };
        // A write that begins from here on gives the file another stamp than this one.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if stamp.is_some_and(|stamp| fresh::is_young(&stamp)) {
            fresh::wait_for_write(file);
        }
        Ok(stamp)
    }

    /// Judges a read of `nbytes` bytes that came to the end of a file which had this stamp when it had been opened.
    pub(crate) fn judge(&self, file: &File, nbytes: u64) -> Verdict {
        #[cfg(windows)]
        let after = windows::look_again(file, self).map(Some);
        #[cfg(not(windows))]
        let after = Stamp::of_file(file);
        match after {
            Ok(Some(after)) if after == *self => {}
            _ => return Verdict::Changed,
        }
        #[cfg(windows)]
        if windows::has_writer(file) {
            let why = "open for writing in another program: until it closes the file, changes may not show";
            return Verdict::Odd(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        // A file whose length is given as 0 may have any content.
        if nbytes == self.nbytes || self.nbytes == 0 || is_made_while_read(file) {
            return Verdict::Whole;
        }
        let why = if nbytes < self.nbytes { "ended the file early" } else { "gave more than the file has" };
        let message = format!("read {nbytes} bytes of {}: the file system {why}", self.nbytes);
        Verdict::Odd(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }

    /// A hash of the stamp in 8 bytes, as there can be ten million files: a number from `FINGERPRINT_MIN` on. Each
    /// process draws a key of its own for the hash, so two stamps have one fingerprint only by chance, never by intent.
    pub fn fingerprint(&self) -> u64 {
        static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        KEY.hash_one(self).max(FINGERPRINT_MIN)
    }
}

/// The verdict on bytes that were read from a file.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The bytes are the file's content.
    Whole,
    /// The file changed during the read.
    Changed,
    /// The file did not change, but the read gave another number of bytes than its length.
    Odd(io::Error),
}

/// Whether a file is on a file system that makes files while they are read and gives other lengths: 4096 bytes or less
/// for files in /sys.
#[cfg(target_os = "linux")]
pub(crate) fn is_made_while_read(file: &File) -> bool {
    // proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs, pstore, bpf, configfs, efivarfs, selinuxfs, resctrl
    const MAGIC: [u32; 13] = [
        0x9fa0,
        0x6265_6572,
        0x0027_e0eb,
        0x6367_7270,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6165_676c,
        0xcafe_4a11,
        0x6265_6570,
        0xde5e_81e4,
        0xf97c_ff8c,
        0x0765_5821,
    ];
    rustix::fs::fstatfs(file).is_ok_and(|system| MAGIC.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_made_while_read(_file: &File) -> bool {
    false
}

/// Whether the file at a path is a regular one, and its stamp; unless `follow`, those of a link itself.
pub(crate) fn look_at(path: &Path, follow: bool) -> io::Result<(bool, Stamp)> {
    #[cfg(unix)]
    return look(rustix::fs::CWD, path, if follow { Follow::Links } else { Follow::Nothing });
    #[cfg(windows)]
    return windows::look_at(path, follow);
    #[cfg(not(any(unix, windows)))]
    return if follow { path.metadata() } else { path.symlink_metadata() }
        .map(|metadata| (metadata.is_file(), Stamp::of(&metadata)));
}

/// The file that a look is for.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// The open file itself; the path is empty.
    Open,
    /// The file that the path leads to.
    Links,
    /// The entry of that name, even if it is a link.
    Nothing,
}

/// Whether a file is a regular one, and its stamp.
#[cfg(unix)]
pub(crate) fn look(
    folder: impl AsFd,
    path: impl rustix::path::Arg + Copy,
    follow: Follow,
) -> io::Result<(bool, Stamp)> {
    use rustix::fs::{AtFlags, fstat, statat};

    let links = match follow {
        Follow::Nothing => AtFlags::SYMLINK_NOFOLLOW,
        Follow::Open | Follow::Links => AtFlags::empty(),
    };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{FileType, StatxFlags, makedev, statx};
        use rustix::io::Errno;

        let wanted = StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::INO | StatxFlags::MTIME | StatxFlags::CTIME;
        let open = if follow == Follow::Open { AtFlags::EMPTY_PATH } else { links };
        match statx(&folder, path, open | AtFlags::STATX_FORCE_SYNC, wanted) {
            Ok(found) => {
                let is_file = FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
                let stamp = Stamp {
                    nbytes: found.stx_size,
                    mtime_ns: nanoseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec.into()),
                    ctime_ns: nanoseconds(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec.into()),
                    dev: makedev(found.stx_dev_major, found.stx_dev_minor),
                    ino: found.stx_ino,
                };
                return Ok((is_file, stamp));
            }
            // Linux before 4.11 has no such call, and a sandbox may not know it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(of_stat(&if follow == Follow::Open { fstat(&folder)? } else { statat(&folder, path, links)? }))
}

/// Whether a file is a regular one, and its stamp.
#[cfg(unix)]
fn of_stat(stat: &rustix::fs::Stat) -> (bool, Stamp) {
    use rustix::fs::FileType;

    // The types of the fields differ between systems.
    #[allow(clippy::unnecessary_cast)]
    let stamp = Stamp {
        nbytes: stat.st_size as u64,
        mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
    };
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile, stamp)
}

/// Nanoseconds since 1970, negative before.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// Nanoseconds since 1970, negative before.
#[cfg(not(unix))]
fn since_1970(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// Files that were changed in the current step of the clock.
#[cfg(any(unix, windows))]
mod fresh {
    use std::fs::File;
    use std::time::Duration;

    use super::Stamp;

    /// The longest step of a file system's clock: that of FAT.
    const STEP_MAX_NS: i128 = 2_000_000_000;

    /// A time further ahead comes from another clock, which nothing is known of.
    const AHEAD_MAX_NS: i128 = 20_000_000;

    /// A time that can have a longer step is not a fine one, whatever the file system.
    const FINE_MAX_NS: i128 = 1_000;

    /// Whether a change at this moment could leave the file the stamp that it has.
    pub(super) fn is_fresh(stamp: &Stamp, file: &File) -> bool {
        let (nbytes, time) = (stamp.nbytes, changed_ns(stamp));
        // An empty file gets another length with a change. Files in /sys are as old as the first look at them. The same
        // file system has fine times or whole seconds: ext4 by the length of its inodes.
        nbytes > 0
            && lasts(time, now_ns())
            && (step(time) > FINE_MAX_NS || !has_fine_times(file))
            && !super::is_made_while_read(file)
    }

    /// Whether the call that gave the file its stamp may not be over yet. Linux holds up a writer for 0.2 seconds a
    /// page at most where the disk is behind. (Of 20,000 files of 4 KiB the wait would take an eighth of the CPU time.)
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn is_young(stamp: &Stamp) -> bool {
        const LEAST_NS: i128 = 10_000_000_000;
        const MOST_NS: i128 = 3_600_000_000_000;
        const NS_PER_BYTE: i128 = 200_000_000 / 4096;
        let longest = (LEAST_NS + i128::from(stamp.nbytes) * NS_PER_BYTE).min(MOST_NS);
        stamp.nbytes > 0 && changed_ns(stamp) > now_ns() - longest
    }

    /// Waits for the end of a write to the file, if there is one: ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs lock the
    /// inode for a write and for this search. Where there is no such search, nothing is waited for.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn wait_for_write(file: &File) {
        use rustix::fs::{SeekFrom, seek};
        let Ok(position) = seek(file, SeekFrom::Current(0)) else { return };
        if seek(file, SeekFrom::Data(position)).is_ok_and(|found| found != position) {
            let _ = seek(file, SeekFrom::Start(position));
        }
    }

    /// The time of the last change of any kind, or of the last write if the file system has no other.
    fn changed_ns(stamp: &Stamp) -> i128 {
        if stamp.ctime_ns == 0 { stamp.mtime_ns } else { stamp.ctime_ns }
    }

    /// Whether the step of a file system's clock that began at `time` still lasts at `now`.
    pub(super) fn lasts(time: i128, now: i128) -> bool {
        // No step is longer, and nearly all files are older: the lines below took 1% of a check of small files.
        if time <= now - STEP_MAX_NS {
            return false;
        }
        now - now.rem_euclid(step(time)) <= time && time <= now + AHEAD_MAX_NS
    }

    /// The longest step that a clock which gave this time can have: two seconds (FAT), or one (HFS+, ext4 with inodes
    /// of 128 bytes), or a power of ten of nanoseconds (exFAT 10 ms, UDF 1 us, NTFS 100 ns). A finer clock gives such a
    /// time by chance; the wait for the end of the step is then a little too long.
    pub(super) fn step(time: i128) -> i128 {
        if time % STEP_MAX_NS == 0 {
            return STEP_MAX_NS;
        }
        let mut step = 1_000_000_000;
        while time % step != 0 {
            step /= 10;
        }
        step
    }

    /// Waits until the step that the file was changed in is over.
    pub(super) fn wait(stamp: &Stamp) {
        while lasts(changed_ns(stamp), now_ns()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The time of the clock that file systems use.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn now_ns() -> i128 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        super::nanoseconds(now.tv_sec as i64, now.tv_nsec as i64)
    }

    /// The time on systems whose file systems count as finely as their clock.
    #[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
    fn now_ns() -> i128 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        super::nanoseconds(now.tv_sec as i64, now.tv_nsec as i64)
    }

    #[cfg(windows)]
    use crate::read::windows::now_ns;

    /// Whether a file's next change always gets another time once somebody has asked for the last one, if times are not
    /// cut to longer steps: so since Linux 6.13 on four file systems.
    #[cfg(target_os = "linux")]
    fn has_fine_times(file: &File) -> bool {
        use std::sync::OnceLock;

        const EXT4: i64 = 0xef53;
        const XFS: i64 = 0x5846_5342;
        const BTRFS: i64 = 0x9123_683e;
        const TMPFS: i64 = 0x0102_1994;
        static KERNEL: OnceLock<bool> = OnceLock::new();
        *KERNEL.get_or_init(|| {
            let name = rustix::system::uname();
            let mut numbers = name.release().to_bytes().split(|byte| !byte.is_ascii_digit());
            let mut number = || std::str::from_utf8(numbers.next()?).ok()?.parse::<u32>().ok();
            (number(), number()) >= (Some(6), Some(13))
        }) && rustix::fs::fstatfs(file)
            .is_ok_and(|system| [EXT4, XFS, BTRFS, TMPFS].contains(&(system.f_type as u32 as i64)))
    }

    #[cfg(not(target_os = "linux"))]
    fn has_fine_times(_file: &File) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};
    #[cfg(unix)]
    #[test]
    fn times_before_1970_and_beyond_64_bits() {
        assert_eq!(nanoseconds(-2, 999_999_999), -1_000_000_001);
        assert_eq!(nanoseconds(1 << 35, 7), 34_359_738_368_000_000_007);
        assert_ne!(nanoseconds(i64::MAX, 0), nanoseconds(i64::MAX - 1, 0));
    }

    #[cfg(any(unix, windows))]
    #[test]
    fn a_step_of_the_clock_is_over_when_the_next_change_has_another_time() {
        let (second, now) = (1_000_000_000, 1_700_000_001_234_567_891);
        for (time, lasts, what) in [
            (now, true, "this very step"),
            (now - 2, false, "the step before"),
            (now + 4_000_000, true, "a clock that is finer than ours"),
            (now + 60 * second, false, "a clock elsewhere"),
            (1_700_000_001 * second, true, "seconds: the one that lasts"),
            (1_699_999_999 * second, false, "seconds: one that is over"),
            (1_700_000_000 * second, true, "FAT: steps of two seconds"),
            (1_700_000_001_230_000_000, true, "exFAT: steps of 10 ms"),
            (1_700_000_001_220_000_000, false, "exFAT: a step that is over"),
            (1_700_000_001_234_567_000, true, "UDF: microseconds"),
            (1_700_000_001_234_567_800, true, "NTFS: steps of 100 ns"),
            (1_700_000_001_234_566_000, false, "UDF: a step that is over"),
        ] {
            assert_eq!(fresh::lasts(time, now), lasts, "{what}");
        }
    }

    /// A file system that fails gives fewer or more bytes and reports no error.
    #[test]
    fn a_length_that_was_not_read_is_odd() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let stamp = Stamp::before_reading(&file).unwrap().unwrap();
        assert!(matches!(stamp.judge(&file, 3), Verdict::Whole));
        for (nbytes, why) in
            [(0, "ended the file early"), (2, "ended the file early"), (4, "gave more than the file has")]
        {
            match stamp.judge(&file, nbytes) {
                Verdict::Odd(error) => {
                    assert_eq!(error.to_string(), format!("read {nbytes} bytes of 3: the file system {why}"));
                }
                other => panic!("{nbytes}: {other:?}"),
            }
        }
        std::fs::write(&path, "abcd").unwrap();
        assert!(matches!(stamp.judge(&file, 3), Verdict::Changed));
        std::fs::write(&path, "").unwrap();
        let stamp = Stamp::before_reading(&file).unwrap().unwrap();
        assert!(matches!(stamp.judge(&file, 7), Verdict::Whole), "what has no length may have anything");
    }

    /// Files in /proc have length 0; files in /sys have a length above that of their content.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_that_are_made_while_they_are_read_have_any_length() {
        for path in ["/proc/self/status", "/proc/cpuinfo", "/sys/kernel/mm/transparent_hugepage/enabled"] {
            // Containers may hide /sys.
            let Ok(file) = File::open(path) else {
                assert!(path.starts_with("/sys"), "{path}");
                continue;
            };
            let stamp = Stamp::before_reading(&file).unwrap().unwrap();
            let nbytes = std::fs::read(path).unwrap().len() as u64;
            assert_ne!(nbytes, stamp.nbytes, "{path}");
            assert!(matches!(stamp.judge(&file, nbytes), Verdict::Whole), "{path}");
        }
    }

    #[test]
    fn of_an_open_file_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let stamp = Stamp::of_file(&file).unwrap().unwrap();
        #[cfg(unix)]
        assert_eq!(Stamp::of(&path.metadata().unwrap()), stamp);
        assert_eq!(Stamp::at(&path).unwrap(), Some(stamp));
        assert_eq!(Stamp::of_entry(&path).unwrap(), Some(stamp));
        assert_eq!(Stamp::before_reading(&file).unwrap(), Some(stamp));
        assert_eq!(stamp.fingerprint(), stamp.fingerprint());
        assert_ne!(stamp.fingerprint(), Stamp { ctime_ns: 1, ..stamp }.fingerprint());
        #[cfg(unix)]
        assert_eq!(Stamp::of_file(&File::open(folder.path()).unwrap()).unwrap(), None);
    }

    /// A program may set the time of the last write, not that of the last change.
    #[test]
    fn a_change_behind_the_back_makes_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let before = Stamp::before_reading(&file).unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let time = file.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, "abd").unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        writer.set_modified(time).unwrap();
        drop(writer);
        let after = Stamp::of_file(&file).unwrap().unwrap();
        assert_eq!((after.nbytes, after.mtime_ns), (before.nbytes, before.mtime_ns));
        assert_ne!(after, before);
        assert!(matches!(before.judge(&file, 3), Verdict::Changed));
    }

    /// A write may not show in the times before the writer closes the file.
    #[cfg(windows)]
    #[test]
    fn what_is_open_for_writing_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let before = Stamp::before_reading(&file).unwrap().unwrap();
        let reader = File::open(&path).unwrap();
        assert!(matches!(before.judge(&file, 3), Verdict::Whole));
        let writer = File::options().append(true).open(&path).unwrap();
        match before.judge(&file, 3) {
            Verdict::Odd(error) => assert!(error.to_string().starts_with("open for writing"), "{error}"),
            other => panic!("{other:?}"),
        }
        drop((writer, reader));
        assert!(matches!(before.judge(&file, 3), Verdict::Whole));
    }

    #[test]
    fn what_makes_a_stamp_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let of = || Stamp::at(&path).unwrap().unwrap();
        std::fs::write(&path, "abc").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 500)).unwrap();
        let first = of();
        assert_eq!((first.nbytes, first.mtime_ns), (3, 1_700_000_000_000_000_500));
        file.set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(of().mtime_ns, 0);
        assert_ne!(of(), first);
        let copy = folder.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let copy = Stamp::at(&copy).unwrap().unwrap();
        assert_eq!(copy.dev, first.dev);
        assert!(copy.ino != first.ino && copy.ino != 0 && copy.ctime_ns != 0);
    }
}
