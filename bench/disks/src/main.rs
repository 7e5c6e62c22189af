//! diskmodel: a file system that shows a folder as slowly as a disk would. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//!     diskmodel MODEL FOLDER MOUNT [--slower N] [--readahead KIB] [--stay]
//!
//! Needs Linux and root. It prints "mounted" when MOUNT shows the content of FOLDER, read-only, as it was then. The end
//! of standard input unmounts it, with --stay the signals that end a program do; `umount MOUNT` ends the program too.
//! Two mounts are two devices. Models:
//!
//!     hdd     200 MB/s, one head, 8 ms for a third of the disk and 1 ms for the next track, 7200 turns a minute;
//!             waiting requests are served in the order of their places, upwards, and those of half a second ago
//!             first; the drive reads up to 8 MiB ahead while it is idle
//!     sata    550 MB/s, 0.1 ms, 32 requests at once
//!     nvme    7 GB/s, 80 us, 32 requests at once
//!     nfs     1 GB/s, 1 ms, 128 requests at once; look-ups, opens and the like take 1 ms too
//!     none    no device: what the file system itself can do
//!
//! --slower divides the rates and multiplies the times: a machine too slow for a model gets one that it can keep up
//! with. --readahead is the kernel's (default: 128, as for a disk). The disk is as long as its content. Except with
//! nfs, names and attributes cost nothing, as if they were in memory.
//!
//! FOLDER should be in the page cache, or its own disk is added. The kernel caches pages of the mount as of any file
//! system. No listing shows two files: reading MOUNT/.drop drops these pages, forgets the requests and moves the head
//! to the beginning; MOUNT/.log has the requests since then, for picture.py.

mod filesystem;
mod folder;
mod model;
mod queue;

use std::ffi::CString;
use std::io::{Error, Read, Result};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: diskmodel hdd|sata|nvme|nfs|none FOLDER MOUNT [--slower N] [--readahead KIB] [--stay]";

struct Arguments {
    model: model::Model,
    folder: PathBuf,
    mount: PathBuf,
    readahead_kib: u64,
    stays: bool,
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
    let model = model::Model::named(name.to_str()?, slower)?;
    Some(Arguments { model, folder: folder.into(), mount: mount.into(), readahead_kib, stays })
}

fn main() -> ExitCode {
    let Some(arguments) = parse() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("diskmodel: {} at {}: {error}", arguments.folder.display(), arguments.mount.display());
            ExitCode::from(1)
        }
    }
}

fn serve(arguments: &Arguments) -> Result<()> {
    let mount = arguments.mount.canonicalize()?;
    let mut config = fuser::Config::default();
    let name = format!("diskmodel-{}", arguments.model.name);
    config.mount_options =
        vec![fuser::MountOption::FSName(name), fuser::MountOption::DefaultPermissions, fuser::MountOption::RO];
    config.acl = fuser::SessionACL::All;
    // Answers come from the queue's threads; these only take requests.
    config.n_threads = Some(4);
    let signals = hold_signals();
    let folder = folder::Folder::new(&arguments.folder)?;
    queue::be_precise();
    let filesystem = filesystem::Model::new(folder, arguments.model, &mount);
    let session = fuser::spawn_mount(filesystem, &mount, &config)?;
    set_readahead(&mount, arguments.readahead_kib)?;
    println!("mounted");
    let stays = arguments.stays;
    std::thread::spawn(move || {
        if stays {
            let mut signal = 0;
            // SAFETY: both variables outlive the call.
            unsafe { libc::sigwait(&signals, &mut signal) };
        } else {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        let path = CString::new(mount.as_os_str().as_bytes()).expect("is the path of a mount");
        // A process may still have a file open there: the file stays until it is closed, the mount does not.
        // SAFETY: the string outlives the call.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
        std::process::exit(0);
    });
    session.join()
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

/// The kernel gives a FUSE file system no more than it gives a disk by default.
fn set_readahead(mount: &Path, kib: u64) -> Result<()> {
    let device = mount.metadata()?.dev();
    let place = format!("/sys/class/bdi/{}:{}/read_ahead_kb", libc::major(device), libc::minor(device));
    std::fs::write(&place, kib.to_string()).map_err(|error| Error::new(error.kind(), format!("{place}: {error}")))
}
