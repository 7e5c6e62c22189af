// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a file is like at some time, to tell later whether it has changed.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

/// Which file it is, its length and the times of its last change.
///
/// Two equal stamps say that nobody has written to the file in between, as far as the file system tells: most count time
/// in steps of some milliseconds.
///
/// ```
/// use hashloom::files::Stamp;
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
    /// let stamp = hashloom::files::Stamp::of(&std::fs::metadata(".")?);
    /// assert!(stamp.mtime_ns > 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of(metadata: &Metadata) -> Stamp {
        let mtime_ns = metadata.modified().map_or(0, nanoseconds);
        let stamp = Stamp { nbytes: metadata.len(), mtime_ns, ctime_ns: 0, dev: 0, ino: 0 };
        #[cfg(unix)]
        let stamp = {
            use std::os::unix::fs::MetadataExt;
            let ctime_ns = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
            Stamp { ctime_ns, dev: metadata.dev(), ino: metadata.ino(), ..stamp }
        };
        stamp
    }
}

/// After 1970; before it, negative. The nearest that fits: 64 bits reach from 1677 to 2262.
fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_before_1970_and_beyond_64_bits() {
        assert_eq!(nanoseconds(UNIX_EPOCH - Duration::new(1, 1)), -1_000_000_001);
        assert_eq!(nanoseconds(UNIX_EPOCH + Duration::from_secs(1 << 35)), i64::MAX);
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
