//! faultfs: a file system that shows a folder and fails on command. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//!     faultfs FOLDER MOUNT
//!
//! Needs Linux, and root or fusermount3. It prints "mounted" when MOUNT shows the content of FOLDER. The end of
//! standard input unmounts it, so that no mount outlives its test. The kernel may keep pages, but no names or
//! attributes: the next call sees any change of FOLDER.
//!
//! Rules are lines written to MOUNT/.faults, which no listing shows:
//!
//!     OPERATION GLOB [nth=N|N-|N-M] [at=FIRST-LAST] FAULT...
//!
//! OPERATION is any, or one of lookup getattr setattr readlink mkdir unlink rmdir symlink rename link open create read
//! write flush fsync release opendir readdir fsyncdir times. GLOB must match the whole path below MOUNT (empty for the
//! folder itself), for `rename` and `link` one of both paths; * is any number of bytes, ? is one. `nth` counts the
//! calls that match, from 1. `at` selects reads and writes that touch one of these bytes. FAULT:
//!
//!     error=EIO         the call fails and does nothing
//!     hang              the call waits for the line `release`; after that no call hangs by this rule
//!     delay=MS          the call waits for MS milliseconds
//!     short=N           read: at most N bytes, as if the file ended there; write: takes at most N bytes
//!     zeros             read: zeros instead of the bytes of the file
//!     room=N            write: ENOSPC as soon as N bytes are written
//!     direct            open, create: without the page cache, so that a program sees each answer unchanged
//!     truncate=N        before the call, the file is cut to N bytes
//!     flip=N            before the call, byte N of the file is changed
//!     append=N          before the call, N bytes are added to the file
//!     keep              with truncate, flip or append: the modification time is restored
//!     ctime             times: the time of change equals that of modification, as on sshfs
//!     frozen            times: all are the beginning of 2020, always
//!     coarse            times: in steps of 2 seconds, as on FAT
//!
//! The operation `times` is not a call: its rules hold whenever times are reported. Two lines are not rules: `release`
//! lets hanging calls continue; `clear` does the same and removes all rules. Reading MOUNT/.faults gives a line for
//! each rule: the number of calls that it changed, a blank, the rule.

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
    // Each hanging call keeps a thread. The number exceeds the files that a program has in flight.
    config.n_threads = Some(64);
    let filesystem = passthrough::Passthrough::new(folder, rules.clone())?;
    let session = fuser::spawn_mount(filesystem, mount, &config)?;
    println!("mounted");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    rules.clear();
    // A process may still have a file open there: the file stays until it is closed, the mount does not.
    let path = CString::new(mount.as_os_str().as_bytes())?;
    // SAFETY: the string outlives the call.
    match unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) } {
        0 => Ok(()),
        _ => session.umount_and_join(),
    }
}
