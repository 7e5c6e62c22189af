// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the program as a person or a script does.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../../../../test/emulated.rs"]
pub mod emulated;
#[path = "../../../../test/skipped.rs"]
pub mod skipped;

use std::process::{Command, Output, Stdio};

pub fn hashloom() -> Command {
    let mut command = emulated::command(env!("CARGO_BIN_EXE_hashloom"));
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// Returns the exit status as a shell reports it: 128 plus the number of the signal that ended the program.
pub fn status(output: &Output) -> i32 {
    let status = &output.status;
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(status) {
        return 128 + signal;
    }
    status.code().unwrap()
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Returns the exit status of a check in `folder`, and its peak memory.
#[cfg(target_os = "linux")]
pub fn peak_kib(folder: &std::path::Path, arguments: &[&str]) -> (i32, u64) {
    let mut command = hashloom();
    command.args(["torrent", "verify"]).args(arguments).current_dir(folder).stdout(Stdio::null());
    peak_kib_of(&mut command)
}

/// Returns the exit status of a command, and its peak memory.
#[cfg(target_os = "linux")]
pub fn peak_kib_of(command: &mut Command) -> (i32, u64) {
    let mut child = command.spawn().unwrap();
    // Read the high-water mark again and again until the program ends.
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap(), peak);
        }
        let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = peak.max(mark.unwrap_or(0u64));
        // The program needs the CPU.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Writes the same byte to a file again and again while `work` runs.
#[cfg(unix)]
pub fn while_it_changes<R>(path: &std::path::Path, work: impl FnOnce() -> R) -> R {
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 0).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                file.write_all_at(&byte, 0).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let _stop = Stop(&stop);
        work()
    })
}

/// Returns a program so slow that it never reads a file of some megabytes between two changes.
pub fn slow() -> Command {
    let mut command = hashloom();
    command.env("HASHLOOM_ISA", "scalar");
    command
}

/// Returns true if results for files in this folder can be trusted in a later run. If not, the test that asks is left
/// out, or fails if HASHLOOM_REQUIRE is set.
pub fn is_trusted(folder: &std::path::Path) -> bool {
    use hashloom_files::{Doubt, Noted};
    let file = tempfile::NamedTempFile::new_in(folder).unwrap();
    let is_trusted = Noted::of(file.path()).unwrap().doubt != Some(Doubt::FileSystem);
    if !is_trusted {
        let folder = folder.display();
        skipped::skipped_unless_required(format!("{folder} is on a file system that does not record every change"));
    }
    is_trusted
}

/// Opens the progress of checks of torrents that is kept in a file.
pub fn checkpoint(path: &std::path::Path) -> hashloom_torrent::Checkpoint {
    use {hashloom_files::state::State, hashloom_torrent::Checkpoint};
    Checkpoint::new(State::at(path, Checkpoint::SUBJECT).unwrap())
}
