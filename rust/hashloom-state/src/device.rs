// SPDX-License-Identifier: MIT OR Apache-2.0

//! What tells a device from a copy of it.

#[cfg(target_os = "linux")]
pub(crate) use linux::identity;

/// On other systems nothing tells a device from a copy of it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn identity(_path: &std::path::Path, _number: u64) -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, StatxFlags, major, minor, statfs, statx};

    /// What tells the device of this number, which has the file at `path`, from every other device, also from one with
    /// a copy of all its bytes: the names that makers and the kernel give it. `None` if it has none.
    pub(crate) fn identity(path: &Path, number: u64) -> Option<String> {
        if major(number) != 0 {
            return of_block(&PathBuf::from(format!("/sys/dev/block/{}:{}", major(number), minor(number))), 8);
        }
        // Btrfs and others have device numbers of their own, for each subvolume: their own identifier tells a subvolume
        // from its snapshots, and the table of mounts names the device.
        let mount = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?.stx_mnt_id.to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let line = mounts.lines().find(|line| line.split(' ').next() == Some(&mount))?;
        let source = fs::canonicalize(line.split_once(" - ")?.1.split(' ').nth(1)?).ok()?;
        let device = of_block(&Path::new("/sys/class/block").join(source.file_name()?), 8)?;
        Some(format!("{:?} {device}", statfs(path).ok()?.f_fsid))
    }

    /// The names of a block device and of those that it is made of: the number or world-wide name that its maker gave
    /// it, or else the number that Linux gives to no second device before it is started again. `depth`: at most so many
    /// devices on top of each other.
    fn of_block(block: &Path, depth: u32) -> Option<String> {
        // The link leads to the device's folder, which for a partition is inside of that of the whole device.
        let block = fs::canonicalize(block).ok()?;
        let read = |name: &str| {
            let text = fs::read_to_string(block.join(name)).ok()?;
            Some(format!("{name}={} ", text.trim())).filter(|_| !text.trim().is_empty())
        };
        if let Some(partition) = read("partition") {
            return Some(partition + &of_block(block.parent()?, depth.checked_sub(1)?)?);
        }
        let mut below: Vec<PathBuf> = fs::read_dir(block.join("slaves"))
            .map_or(Vec::new(), |all| all.flatten().map(|each| each.path()).collect());
        below.sort();
        let volume = ["dm/uuid", "md/uuid"].iter().find_map(|name| read(name)).filter(|_| !below.is_empty());
        if let Some(volume) = volume {
            let below = below.iter().map(|each| of_block(each, depth.checked_sub(1)?));
            return Some(volume + &below.collect::<Option<String>>()?);
        }
        let lasting = ["wwid", "device/wwid", "serial", "device/serial"];
        lasting.iter().find_map(|name| read(name)).or_else(|| {
            let started = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            Some(read("diskseq")? + started.trim())
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A block device has names, each its own; what has no device has none.
    #[test]
    fn no_two_devices_have_one_identity() {
        use std::os::unix::fs::MetadataExt;

        let of = |path: &str| identity(path.as_ref(), std::fs::metadata(path).unwrap().dev());
        assert_eq!(of("/proc/self/status"), None);
        let mut all = Vec::new();
        for block in std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten() {
            // Others may lead to one disk on several ways.
            if !block.file_name().as_encoded_bytes().starts_with(b"loop") {
                continue;
            }
            let numbers = std::fs::read_to_string(block.path().join("dev")).unwrap();
            let (major, minor) = numbers.trim().split_once(':').unwrap();
            let number = rustix::fs::makedev(major.parse().unwrap(), minor.parse().unwrap());
            all.extend(identity("/".as_ref(), number));
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "{all:?}");
    }
}
