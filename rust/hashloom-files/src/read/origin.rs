// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether what was read of a disk that can be pulled out came from the disk, or from the system's memory: after a copy
//! to a stick, a check sees what was copied, and not what the stick has kept.
//!
//! Each block device counts the sectors that it reads. Their number before and after the work costs a few files of
//! /sys; to ask of each file whether it is in memory would cost a call for each, and bring pages in.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::run::lock;

/// Counts what is read of disks that can be pulled out. Clones count together. Linux only: elsewhere there is nothing
/// to tell.
///
/// ```
/// let origin = hashloom_files::read::origin::Origin::new();
/// assert_eq!(origin.from_memory(), None);
/// ```
#[derive(Debug, Clone)]
pub struct Origin(Arc<HashMap<u64, Mutex<Disk>>>);

#[derive(Debug)]
struct Disk {
    /// The device's folder in /sys.
    folder: PathBuf,
    /// Bytes that the device had read before.
    before: u64,
    /// Number of bytes of files that were read.
    nbytes: u64,
}

/// What was read of disks that can be pulled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromMemory {
    /// Number of bytes of files.
    pub nbytes: u64,
    /// Bytes that the disks have read meanwhile, for anybody.
    pub nbytes_of_disks: u64,
}

impl Origin {
    /// Begins to count.
    #[must_use]
    pub fn new() -> Origin {
        let all = fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
        let removable = all.filter_map(|each| {
            // The link leads to the device's folder, which for a partition is inside of that of the whole device.
            let folder = fs::canonicalize(each.path()).ok()?;
            is_removable(&folder, DEPTH_MAX).then(|| Some((number(&folder)?, Mutex::new(Disk::new(folder)?))))?
        });
        Origin(Arc::new(removable.collect()))
    }

    /// Counts what was read of files of a device.
    pub fn count(&self, device: u64, nbytes: u64) {
        if let Some(disk) = self.0.get(&device) {
            lock(disk).nbytes += nbytes;
        }
    }

    /// What was read, if the disks had to read less than half of it.
    #[must_use]
    pub fn from_memory(&self) -> Option<FromMemory> {
        let mut found = FromMemory { nbytes: 0, nbytes_of_disks: 0 };
        for disk in self.0.values() {
            let disk = lock(disk);
            if disk.nbytes > 0 {
                // A disk that has gone tells nothing.
                let now = nbytes_read(&disk.folder)?;
                found.nbytes += disk.nbytes;
                found.nbytes_of_disks += now.saturating_sub(disk.before).min(disk.nbytes);
            }
        }
        (found.nbytes > 0 && found.nbytes_of_disks < found.nbytes / 2).then_some(found)
    }
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::new()
    }
}

impl Disk {
    fn new(folder: PathBuf) -> Option<Disk> {
        Some(Disk { before: nbytes_read(&folder)?, folder, nbytes: 0 })
    }
}

/// At most this many devices on top of each other, such as a container on a stick.
const DEPTH_MAX: u32 = 8;

/// Whether a block device can be pulled out, or one that it is made of.
fn is_removable(folder: &Path, depth: u32) -> bool {
    let is = |name: &str, value: &str| fs::read_to_string(folder.join(name)).is_ok_and(|text| text.trim() == value);
    let name = folder.file_name().map_or(&b""[..], |name| name.as_encoded_bytes());
    let is_card = is("device/type", "SD") || is("../device/type", "SD");
    // A loop without a file reads nothing.
    name.starts_with(b"loop") && folder.join("loop").is_dir()
        || folder.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"usb"))
        || is_card
        || is("removable", "1")
        || is("../removable", "1")
        || depth > 0 && slaves(folder).iter().any(|below| is_removable(below, depth - 1))
}

/// The devices that a device is made of.
fn slaves(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder.join("slaves")).into_iter().flatten().flatten();
    all.filter_map(|each| fs::canonicalize(each.path()).ok()).collect()
}

/// The number of a block device, as files have it in their stamps.
#[cfg(target_os = "linux")]
fn number(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn number(_folder: &Path) -> Option<u64> {
    None
}

/// Bytes that a block device has read, from sectors of 512 bytes: Documentation/block/stat.rst.
fn nbytes_read(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("stat")).ok()?;
    text.split_ascii_whitespace().nth(2)?.parse::<u64>().ok()?.checked_mul(512)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_reads_less_than_half_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let stat = |nsectors: u64| fs::write(folder.path().join("stat"), format!("1 2 {nsectors} 4 5")).unwrap();
        stat(100);
        let disk = Disk::new(folder.path().to_owned()).unwrap();
        let origin = Origin(Arc::new([(7, Mutex::new(disk))].into()));
        assert_eq!(origin.from_memory(), None, "nothing was read");
        origin.count(8, 1 << 20);
        assert_eq!(origin.from_memory(), None, "of another disk");
        origin.count(7, 51_200);
        stat(149);
        let expected = FromMemory { nbytes: 51_200, nbytes_of_disks: 49 * 512 };
        assert_eq!(origin.from_memory(), Some(expected));
        stat(150);
        assert_eq!(origin.from_memory(), None);
        fs::remove_file(folder.path().join("stat")).unwrap();
        assert_eq!(origin.from_memory(), None, "it was pulled out");
    }

    #[test]
    fn sticks_cards_and_what_lies_on_them_can_be_pulled_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let make = |path: &str, value: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), value).unwrap();
        };
        make("ata1/sda/removable", "0\n");
        make("ata1/sda/sda1/dev", "8:1\n");
        make("usb1/sdb/removable", "0\n");
        make("reader/sdc/removable", "1\n");
        make("reader/sdc/sdc1/dev", "8:33\n");
        make("mmc/mmcblk0/device/type", "SD\n");
        make("mmc/mmcblk1/device/type", "MMC\n");
        make("virtual/loop0/dev", "7:0\n");
        make("virtual/loop1/loop/backing_file", "/x\n");
        make("virtual/dm-0/slaves/x", "");
        std::os::unix::fs::symlink(root.join("reader/sdc/sdc1"), root.join("virtual/dm-0/slaves/sdc1")).unwrap();
        let removable = |path: &str| is_removable(&root.join(path), DEPTH_MAX);
        assert!(
            ["usb1/sdb", "reader/sdc", "reader/sdc/sdc1", "mmc/mmcblk0", "virtual/loop1", "virtual/dm-0"]
                .map(removable)
                == [true; 6]
        );
        assert!(["ata1/sda", "ata1/sda/sda1", "mmc/mmcblk1", "virtual/loop0"].map(removable) == [false; 4]);
        assert_eq!(number(&root.join("ata1/sda/sda1")), Some(rustix::fs::makedev(8, 1)));
    }
}
