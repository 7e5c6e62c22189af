// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kind of a file's device: one that should be read in one order, or one that takes reads at many places at once.
//!
//! The system's word is a claim only: virtual disks often call themselves rotating, and a FUSE file system says
//! nothing. Readers therefore ask a disk for as many places at once as an SSD takes, near each other.

use std::fs::File;
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::{collections::HashMap, sync::Mutex};

#[cfg(target_os = "linux")]
use rustix::fs::fstat;

use crate::read::readers::PART_NBYTES;
#[cfg(target_os = "linux")]
use crate::run::lock;

/// Length from which a file that is not in memory is worth readers of its own.
pub(crate) const LONG_NBYTES: u64 = 1 << 20;

/// A device with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Device {
    number: u64,
    kind: Kind,
}

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its heads move: requests near each other should be there at once, and none far away.
    Disk,
    /// An SSD, or a server.
    Parallel,
    /// A device that hides what it is, such as a FUSE file system: a disk without a queue, or a server.
    Unknown,
}

impl Kind {
    /// The kind of a device of which the system says whether it rotates.
    fn of(rotates: Option<bool>) -> Kind {
        match rotates {
            Some(true) => Kind::Disk,
            Some(false) => Kind::Parallel,
            None => Kind::Unknown,
        }
    }
}

impl Device {
    /// Devices for tests: a hard disk, an SSD, and one that hides what it is.
    #[cfg(all(test, unix))]
    pub(crate) const DISK: Device = Device { number: 0, kind: Kind::Disk };
    #[cfg(all(test, unix))]
    pub(crate) const FLASH: Device = Device { number: 2, kind: Kind::Parallel };
    #[cfg(test)]
    pub(crate) const HIDDEN: Device = Device { number: 1, kind: Kind::Unknown };

    /// Number of threads that should read files of the device at once, each the part after the last one begun. Seconds
    /// for 192 MiB on a modelled hard disk, 8 ms and 200 MB/s, under a block device: 1, 2, 4 and 8 readers 1.08, 1.04,
    /// 1.09, 1.08; 400 files of 100 kB 0.48, 0.44, 0.46, 0.39.
    pub(crate) fn nreaders(self) -> usize {
        match self.kind {
            Kind::Disk => 4,
            Kind::Unknown => 6,
            Kind::Parallel => 8,
        }
    }

    /// Largest number of bytes that a reader reads at once. A hard disk reads 1 MiB in 5 ms, an SSD in 0.2 to 2 ms.
    /// Several readers of a device that hides what it is keep close together, each with one request of the usual
    /// length: to a disk their reads are one stream, and a server has several at once.
    pub(crate) fn part_nbytes(self) -> u64 {
        match self.kind {
            Kind::Disk | Kind::Parallel => PART_NBYTES,
            Kind::Unknown => PART_NBYTES / 8,
        }
    }

    /// Returns true unless the device is known to take reads at many places at once as well as one after the other. A
    /// hard disk moves its heads for each place: sixteen places at once cost it most of its speed.
    pub(crate) fn seeks(self) -> bool {
        self.kind != Kind::Parallel
    }

    /// Whether the device has a queue, in which many requests can wait for the best order.
    pub(crate) fn takes_many(self) -> bool {
        self.kind != Kind::Unknown
    }
}

/// The device that has a file.
#[cfg(target_os = "linux")]
pub(crate) fn of(file: &File) -> Device {
    static KNOWN: Mutex<Option<HashMap<u64, Kind>>> = Mutex::new(None);
    let Ok(stat) = fstat(file) else { return Device { number: 0, kind: Kind::Unknown } };
    let known = || lock(&KNOWN);
    let kind = known().get_or_insert_default().get(&stat.st_dev).copied();
    // The lock is not held here: a server may take its time, or never answer.
    let kind = kind.unwrap_or_else(|| linux::kind(file, stat.st_dev));
    known().get_or_insert_default().insert(stat.st_dev, kind);
    Device { number: stat.st_dev, kind }
}

/// Least time of a read that has moved the heads of a hard disk. An SSD takes a tenth of it.
pub(crate) const SEEK_TIME: Duration = Duration::from_millis(1);

/// On other systems nothing is known: all files are of one device, which takes reads at many places.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_file: &File) -> Device {
    Device { number: 0, kind: Kind::of(Some(false)) }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};

    use rustix::fs::{fstatfs, major, minor};

    use super::Kind;
    use crate::read::open::is_of_memory;

    /// File systems on servers, which have many reads in flight: NFS, SMB, CIFS, Ceph, 9P.
    const PARALLEL: [u32; 5] = [0x6969, 0xfe53_4d42, 0xff53_4d42, 0x00c3_6400, 0x0102_1997];

    pub(super) fn kind(file: &File, device: u64) -> Kind {
        if is_of_memory(file) || fstatfs(file).is_ok_and(|stat| PARALLEL.contains(&(stat.f_type as u32))) {
            return Kind::Parallel;
        }
        let numbers = format!("{}:{}", major(device), minor(device));
        let block = PathBuf::from(format!("/sys/dev/block/{numbers}"));
        // Btrfs and others have device numbers of their own: the table of mounts names the device.
        let found = rotates(&block).or_else(|| rotates(&Path::new("/sys/class/block").join(source_of(&numbers)?)));
        Kind::of(found)
    }

    /// Whether a block device, or the one that it is a partition of, says that it has rotating disks.
    fn rotates(block: &Path) -> Option<bool> {
        // The link leads to the device's folder, which for a partition is inside of that of the whole device.
        let block = fs::canonicalize(block).ok()?;
        let flag =
            ["queue/rotational", "../queue/rotational"].iter().find_map(|name| fs::read(block.join(name)).ok())?;
        Some(flag.first() != Some(&b'0'))
    }

    /// The name of the block device that is mounted as `numbers`.
    fn source_of(numbers: &str) -> Option<String> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(numbers))?;
        let source = line.split_once(" - ")?.1.split(' ').nth(1)?;
        Some(fs::canonicalize(source).ok()?.file_name()?.to_str()?.to_owned())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_does_not_seek_and_what_hides_its_device_may() {
        let (memory, hidden) = (std::path::Path::new("/dev/shm"), std::path::Path::new("/proc/self/status"));
        if memory.is_dir() {
            let file = tempfile::tempfile_in(memory).unwrap();
            assert!(!of(&file).seeks());
        }
        assert!(of(&File::open(hidden).unwrap()).seeks());
    }
}
