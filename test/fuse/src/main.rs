//! hashloom-fuse: file systems that show a folder, and fail on command or are as slow as a disk.
//! SPDX-License-Identifier: MIT OR Apache-2.0
//!
//!     hashloom-fuse faults FOLDER MOUNT [--stay]
//!     hashloom-fuse hdd|sata|nvme|nfs|none FOLDER MOUNT [--slower N] [--readahead KIB] [--stay]
//!
//! Needs Linux, and root or, for faults, fusermount3. It prints "mounted" when MOUNT shows the content of FOLDER. The
//! end of standard input unmounts it, so that no mount outlives its test; with --stay the signals that end a program
//! do. `umount MOUNT` ends the program too. The heads of faults.rs and disk.rs say what each can do.

mod disk;
mod faults;

use fuser::{FileAttr, FileType, Filesystem, INodeNo, MountOption};
use std::ffi::CString;
use std::fs::Metadata;
use std::io::{Read, Result};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, UNIX_EPOCH};

const USAGE: &str = "usage: hashloom-fuse faults FOLDER MOUNT [--stay]
       hashloom-fuse hdd|sata|nvme|nfs|none FOLDER MOUNT [--slower N] [--readahead KIB] [--stay]";

struct Arguments {
    /// `None`: faults.
    model: Option<disk::model::Model>,
    folder: PathBuf,
    mount: PathBuf,
    readahead_kib: u64,
    stays: bool,
    /// Those that end a program.
    signals: libc::sigset_t,
}

fn parse() -> Option<Arguments> {
    let (mut named, mut slower, mut readahead_kib, mut stays) = (Vec::new(), 1, 128, false);
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next()?.to_str()?.parse().ok().filter(|number| *number > 0);
        match word.to_str() {
            Some("--slower") => slower = number()?,
            Some("--readahead") => readahead_kib = number()?,
            Some("--stay") => stays = true,
            _ => named.push(word),
        }
    }
    let [name, folder, mount] = named.try_into().ok()?;
    let model = match name.to_str()? {
        "faults" => None,
        name => Some(disk::model::Model::named(name, slower)?),
    };
    let (folder, mount, signals) = (folder.into(), mount.into(), hold_signals());
    Some(Arguments { model, folder, mount, readahead_kib, stays, signals })
}

fn main() -> ExitCode {
    let Some(arguments) = parse() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let served = match arguments.model {
        None => faults::serve(&arguments),
        Some(model) => disk::serve(&arguments, model),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let Arguments { folder, mount, .. } = arguments;
            eprintln!("hashloom-fuse: {} at {}: {error}", folder.display(), mount.display());
            ExitCode::from(1)
        }
    }
}

/// Mounts a file system until it shall end. `mounted` is called when it is mounted, `ending` before it is unmounted.
fn serve(
    arguments: &Arguments,
    filesystem: impl Filesystem + 'static,
    nthreads: usize,
    options: &[MountOption],
    mounted: impl FnOnce(&Path) -> Result<()>,
    ending: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let mount = arguments.mount.canonicalize()?;
    let mut config = fuser::Config::default();
    let name = format!("hashloom-{}", arguments.model.map_or("faults", |model| model.name));
    config.mount_options = [&[MountOption::FSName(name), MountOption::DefaultPermissions], options].concat();
    config.acl = fuser::SessionACL::All;
    config.n_threads = Some(nthreads);
    let session = fuser::spawn_mount(filesystem, &mount, &config)?;
    mounted(&mount)?;
    println!("mounted");
    let (stays, signals) = (arguments.stays, arguments.signals);
    std::thread::spawn(move || {
        if stays {
            let mut signal = 0;
            // SAFETY: both variables outlive the call.
            unsafe { libc::sigwait(&signals, &mut signal) };
        } else {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        ending();
        std::process::exit(if unmount(&mount) { 0 } else { 1 });
    });
    session.join()
}

/// Unmounts. A process may still have a file open there: the file stays until it is closed, the mount does not.
fn unmount(mount: &Path) -> bool {
    let path = CString::new(mount.as_os_str().as_bytes()).expect("is the path of a mount");
    // SAFETY: the string outlives the call.
    let status = unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    // Only root may call it.
    status == 0 || Command::new("fusermount3").arg("-uz").arg(mount).status().is_ok_and(|status| status.success())
}

/// Blocks the signals that end a program, in all threads: the mount must go first. A caller that is interrupted closes
/// standard input.
fn hold_signals() -> libc::sigset_t {
    // SAFETY: a set may have any bits before it is emptied, and it outlives the calls.
    unsafe {
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&mut signals, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &signals, std::ptr::null_mut());
        signals
    }
}

/// The attributes of a file of FOLDER, under another number.
fn attributes(ino: INodeNo, metadata: &Metadata) -> FileAttr {
    let ctime = Duration::new(metadata.ctime().unsigned_abs(), metadata.ctime_nsec() as u32);
    FileAttr {
        ino,
        size: metadata.len(),
        blocks: metadata.blocks(),
        atime: metadata.accessed().unwrap_or(UNIX_EPOCH),
        mtime: metadata.modified().unwrap_or(UNIX_EPOCH),
        ctime: UNIX_EPOCH + ctime,
        crtime: UNIX_EPOCH,
        kind: FileType::from_std(metadata.file_type()).unwrap_or(FileType::NamedPipe),
        perm: (metadata.mode() & 0o7777) as u16,
        nlink: metadata.nlink() as u32,
        uid: metadata.uid(),
        gid: metadata.gid(),
        rdev: metadata.rdev() as u32,
        blksize: 4096,
        flags: 0,
    }
}

/// The attributes of a file that is not in FOLDER, by which a file system is told what to do.
fn control(ino: INodeNo, size: u64, perm: u16) -> FileAttr {
    FileAttr {
        ino,
        size,
        blocks: 0,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: FileType::RegularFile,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
