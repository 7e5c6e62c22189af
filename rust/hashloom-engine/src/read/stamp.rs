// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a file is like at some time, to tell later whether it has changed.
//!
//! File systems count time in steps, most in those of the kernel's clock, 1 to 10 ms: a file that was changed in the
//! step that still lasts can be changed again without another stamp. So the stamp of a file that is going to be read is
//! taken when that step is over ([`Stamp::before_reading`]): from then on each change gives it another one.

use std::fs::{File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::LazyLock;
#[cfg(not(unix))]
use std::time::{SystemTime, UNIX_EPOCH};

/// A file that changes each time that it is read is given up after so many readings.
pub(crate) const READINGS_MAX: u8 = 3;

/// No fingerprint of a stamp is smaller.
pub(crate) const FINGERPRINT_MIN: u64 = 16;

/// Which file it is, its length and the times of its last change.
///
/// Two equal stamps say that nobody has written to the file in between, as far as the file system tells: most count time
/// in steps of some milliseconds.
///
/// ```
/// use hashloom_engine::files::Stamp;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("file");
/// std::fs::write(&path, "abc")?;
/// let before = Stamp::of(&path.metadata()?);
/// assert_eq!(before.nbytes, 3);
/// assert_eq!(before, Stamp::of(&path.metadata()?));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stamp {
    /// Bytes in the file.
    pub nbytes: u64,
    /// Modification time in nanoseconds since 1970; before it, negative. The nearest that fits.
    pub mtime_ns: i64,
    /// The same of the last change of any kind, which no program can set. 0 where there is no such time.
    pub ctime_ns: i64,
    /// The number of its device and of the file on it. 0 where there are none.
    pub dev: u64,
    /// See `dev`.
    pub ino: u64,
}

impl Stamp {
    /// From what the system says of a file.
    ///
    /// ```
    /// let stamp = hashloom_engine::files::Stamp::of(&std::fs::metadata(".")?);
    /// assert!(stamp.mtime_ns > 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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

    /// Of an open file; none of what is no regular file.
    pub(crate) fn of_file(file: &File) -> io::Result<Option<Stamp>> {
        #[cfg(unix)]
        {
            // A third of the time that the standard library's call takes.
            let stat = rustix::fs::fstat(file)?;
            let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile;
            Ok(is_file.then(|| Stamp::from(&stat)))
        }
        #[cfg(not(unix))]
        {
            let metadata = file.metadata()?;
            Ok(metadata.is_file().then(|| Stamp::of(&metadata)))
        }
    }

    /// Of an open file that is going to be read; none of what is no regular file. From now on every change gives the file
    /// another stamp, as far as the file system tells of changes at all: one that was changed in the same step of the
    /// clock is waited for until this step is over, once, and with it all other files that are there.
    pub(crate) fn before_reading(file: &File) -> io::Result<Option<Stamp>> {
        let stamp = Stamp::of_file(file)?;
        #[cfg(unix)]
        if let Some(stamp) = stamp.filter(|stamp| fresh::is_fresh(stamp, file)) {
            fresh::wait(&stamp);
            return Stamp::of_file(file);
        }
        Ok(stamp)
    }

    /// What is to be thought of `nbytes` bytes that were read from a file which had this stamp before, and is at its end.
    pub(crate) fn judge(&self, file: &File, nbytes: u64) -> Verdict {
        match Stamp::of_file(file) {
            Ok(Some(after)) if after == *self => {}
            _ => return Verdict::Changed,
        }
        // What has no length may have anything.
        if nbytes == self.nbytes || self.nbytes == 0 || is_made_while_read(file) {
            return Verdict::Whole;
        }
        let why = if nbytes < self.nbytes { "ended the file early" } else { "gave more than the file has" };
        let message = format!("read {nbytes} bytes of {}: the file system {why}", self.nbytes);
        Verdict::Odd(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }

    /// In 8 bytes, as there can be ten million files: a number from [`FINGERPRINT_MIN`] on. It is made under a key that
    /// each process draws for itself: that two stamps have the same is chance, which nobody can bring about.
    pub(crate) fn fingerprint(&self) -> u64 {
        static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        KEY.hash_one(self).max(FINGERPRINT_MIN)
    }
}

/// What is to be thought of what was read from a file.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It is the file's content.
    Whole,
    /// The file has changed meanwhile.
    Changed,
    /// It has not, but its length is another.
    Odd(io::Error),
}

/// Whether a file is of a system that makes files while they are read, and tells other lengths: those in /sys have 4096
/// bytes or less.
#[cfg(target_os = "linux")]
fn is_made_while_read(file: &File) -> bool {
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
fn is_made_while_read(_file: &File) -> bool {
    false
}

#[cfg(unix)]
impl From<&rustix::fs::Stat> for Stamp {
    // The fields' types are the system's.
    #[allow(clippy::unnecessary_cast)]
    fn from(stat: &rustix::fs::Stat) -> Stamp {
        Stamp {
            nbytes: stat.st_size as u64,
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
        }
    }
}

/// Since 1970; before it, negative. The nearest that fits: 64 bits reach from 1677 to 2262.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// After 1970; before it, negative. The nearest that fits: 64 bits reach from 1677 to 2262.
#[cfg(not(unix))]
fn since_1970(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds),
    }
}

/// Files that were changed in the step of the clock that still lasts.
#[cfg(unix)]
mod fresh {
    use std::fs::File;
    use std::time::Duration;

    use super::Stamp;

    /// Steps in which file systems count time, where they are longer than those of the kernel's clock: FAT, most network
    /// protocols, exFAT. The first that a time is a multiple of is taken for its file system's.
    const STEPS_NS: [i64; 3] = [2_000_000_000, 1_000_000_000, 10_000_000];

    /// A time that is further ahead is of another clock, of which nothing is known.
    const AHEAD_MAX_NS: i64 = 20_000_000;

    /// Whether a change at this moment could leave the file the stamp that it has.
    pub(super) fn is_fresh(stamp: &Stamp, file: &File) -> bool {
        // A file that has nothing gets another length. Those in /sys are as old as the first look at them.
        let is_fresh = stamp.nbytes > 0 && lasts(stamp.ctime_ns, now_ns());
        is_fresh && !has_fine_times(file) && !super::is_made_while_read(file)
    }

    /// Whether at `now` the step of a file system's clock still lasts that began at `time`.
    pub(super) fn lasts(time: i64, now: i64) -> bool {
        // No step is longer, and nearly all files are older: what follows took 1% of a check of small files.
        if time <= now.saturating_sub(STEPS_NS[0]) {
            return false;
        }
        let step = STEPS_NS.into_iter().find(|step| time % step == 0).unwrap_or(1);
        now - now.rem_euclid(step) <= time && time <= now.saturating_add(AHEAD_MAX_NS)
    }

    /// Until the step is over in which the file was changed.
    pub(super) fn wait(stamp: &Stamp) {
        while lasts(stamp.ctime_ns, now_ns()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// By the clock that file systems use.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn now_ns() -> i64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        super::nanoseconds(now.tv_sec as i64, now.tv_nsec as i64)
    }

    /// Systems whose file systems count as finely as their clock does.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn now_ns() -> i64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        super::nanoseconds(now.tv_sec as i64, now.tv_nsec as i64)
    }

    /// Whether a file's next change always gets another time, once somebody has asked for the last: since Linux 6.13 on
    /// four file systems.
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
        assert_eq!(nanoseconds(1 << 35, 0), i64::MAX);
    }

    #[cfg(unix)]
    #[test]
    fn a_step_of_the_clock_is_over_when_the_next_change_has_another_time() {
        let (second, now) = (1_000_000_000, 1_700_000_001_234_567_891);
        for (time, lasts, what) in [
            (now, true, "this very step"),
            (now - 1, false, "the step before"),
            (now + 4_000_000, true, "a clock that is finer than ours"),
            (now + 60 * second, false, "a clock elsewhere"),
            (1_700_000_001 * second, true, "seconds: the one that lasts"),
            (1_699_999_999 * second, false, "seconds: one that is over"),
            (1_700_000_000 * second, true, "FAT: steps of two seconds"),
            (1_700_000_001_230_000_000, true, "exFAT: steps of 10 ms"),
            (1_700_000_001_220_000_000, false, "exFAT: a step that is over"),
        ] {
            assert_eq!(fresh::lasts(time, now), lasts, "{what}");
        }
    }

    /// What a file system that fails gives, and says nothing.
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

    /// Files in /proc have no length, those in /sys more than they have.
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
        let stamp = Stamp::of(&path.metadata().unwrap());
        assert_eq!(Stamp::of_file(&file).unwrap(), Some(stamp));
        assert_eq!(Stamp::before_reading(&file).unwrap(), Some(stamp));
        assert_eq!(stamp.fingerprint(), stamp.fingerprint());
        assert_ne!(stamp.fingerprint(), Stamp { ctime_ns: 1, ..stamp }.fingerprint());
        #[cfg(unix)]
        assert_eq!(Stamp::of_file(&File::open(folder.path()).unwrap()).unwrap(), None);
    }

    #[test]
    fn what_makes_a_stamp_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let of = || Stamp::of(&path.metadata().unwrap());
        std::fs::write(&path, "abc").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 5)).unwrap();
        let first = of();
        assert_eq!((first.nbytes, first.mtime_ns), (3, 1_700_000_000_000_000_005));
        file.set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(of().mtime_ns, 0);
        assert_ne!(of(), first);
        #[cfg(unix)]
        {
            let copy = folder.path().join("copy");
            std::fs::copy(&path, &copy).unwrap();
            let copy = Stamp::of(&copy.metadata().unwrap());
            assert_eq!(copy.dev, first.dev);
            assert_ne!(copy.ino, first.ino);
        }
    }
}
