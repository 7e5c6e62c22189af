//! faultfs: a file system that shows a folder and fails where it is told to. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//!     faultfs FOLDER MOUNT
//!
//! Linux, as root or with fusermount3. "mounted" is printed when MOUNT shows what is in FOLDER; the end of standard input
//! unmounts it, so that no mount outlives the test that made it. The kernel may keep pages, but neither names nor
//! attributes, for any time: what FOLDER has become is seen by the next call.
//!
//! Rules are lines written to MOUNT/.faults, which no listing shows:
//!
//!     OPERATION GLOB [nth=N|N-|N-M] [at=FIRST-LAST] FAULT...
//!
//! OPERATION is any, or one of lookup getattr setattr readlink mkdir unlink rmdir symlink rename link open create read
//! write flush fsync release opendir readdir fsyncdir times. GLOB is held against the whole path below MOUNT (that of the
//! folder itself is empty), of `rename` and `link` against both paths; * is any number of bytes, ? is one. `nth` counts
//! the calls that match, from 1; `at` takes reads and writes that touch one of these bytes. FAULT:
//!
//!     error=EIO         the call fails and does nothing
//!     hang              the call waits for the line `release`; after it no call hangs by this rule
//!     delay=MS          the call waits for milliseconds
//!     short=N           read: N bytes at most, as if the file ended there; write: N bytes at most are taken
//!     zeros             read: zeros instead of the bytes of the file
//!     room=N            write: ENOSPC as soon as N bytes are written
//!     direct            open, create: past the kernel's pages, so that a program sees each answer as it is
//!     truncate=N        before the call the file is cut to N bytes
//!     flip=N            before the call byte N of the file becomes another one
//!     append=N          before the call N bytes are added to the file
//!     keep              after truncate, flip or append: the modification time becomes again what it was
//!     ctime             times: the time of change is that of modification, as sshfs has it
//!     frozen            times: all are the beginning of 2020, whatever happens
//!     coarse            times: in steps of 2 seconds, as FAT has them
//!
//! The operation `times` is no call: its rules count whenever times are told. Two lines are no rules: `release` lets go
//! on what hangs, `clear` does so too and removes all rules. Reading MOUNT/.faults gives a line for each rule: the number
//! of calls that it changed, a blank, the rule.

mod passthrough;
mod rules;

use std::ffi::CString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(mount), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: faultfs FOLDER MOUNT");
        return ExitCode::from(2);
    };
    match serve(&folder, &mount) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faultfs: {} at {}: {error}", folder.display(), mount.display());
            ExitCode::from(1)
        }
    }
}

fn serve(folder: &std::path::Path, mount: &std::path::Path) -> std::io::Result<()> {
    let rules = std::sync::Arc::new(rules::Rules::default());
    let mut config = fuser::Config::default();
    config.mount_options = vec![fuser::MountOption::FSName("faultfs".into()), fuser::MountOption::DefaultPermissions];
    config.acl = fuser::SessionACL::All;
    // Calls that hang keep a thread each: more than a program has files in flight.
    config.n_threads = Some(64);
    let filesystem = passthrough::Passthrough::new(folder, rules.clone())?;
    let session = fuser::spawn_mount(filesystem, mount, &config)?;
    println!("mounted");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    rules.clear();
    // Whoever still has a file open there keeps it until it is closed, but not the mount.
    let path = CString::new(mount.as_os_str().as_bytes())?;
    // SAFETY: the string lives on.
    match unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) } {
        0 => Ok(()),
        _ => session.umount_and_join(),
    }
}
