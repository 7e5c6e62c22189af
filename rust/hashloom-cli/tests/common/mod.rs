// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the program as a person or a script does.
#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../../../../test/emulated.rs"]
pub mod emulated;
mod schema;
#[path = "../../../../test/skipped.rs"]
pub mod skipped;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub fn hashloom() -> Command {
    #[cfg(unix)]
    heed_ctrl_c();
    let mut command = emulated::command(env!("CARGO_BIN_EXE_hashloom"));
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// A program inherits that Ctrl-C is ignored, as in a shell's background and on some runners, but no handler of it:
/// here one does what the system does by default.
#[cfg(unix)]
fn heed_ctrl_c() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let always = std::sync::Arc::new(true.into());
        signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, always).unwrap();
    });
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

/// Checks of the status and the output of a run. A check that fails shows all that the run printed.
pub trait Ran {
    /// The exit status, standard output, and standard error.
    fn is(&self, code: i32, printed: &str, told: &str);
    fn all(&self) -> (i32, String, String);
    /// Success without a message.
    fn done(self) -> Self;
    /// The exit status 2, nothing printed, and a message with this part.
    fn refused(&self, part: &str);
    fn ends(&self, code: i32) -> &Self;
    /// The whole standard output.
    fn prints(&self, text: &str) -> &Self;
    /// The whole standard error.
    fn tells(&self, text: &str) -> &Self;
    /// A part of standard output.
    fn has(&self, part: &str) -> &Self;
    fn begins(&self, part: &str) -> &Self;
    /// A part of standard error.
    fn says(&self, part: &str) -> &Self;
    fn says_first(&self, part: &str) -> &Self;
}

impl Ran for Output {
    #[track_caller]
    fn is(&self, code: i32, printed: &str, told: &str) {
        assert_eq!((status(self), stdout(self), stderr(self)), (code, printed, told));
    }

    fn all(&self) -> (i32, String, String) {
        (status(self), stdout(self).to_owned(), stderr(self).to_owned())
    }

    #[track_caller]
    fn done(self) -> Self {
        assert_eq!((status(&self), stderr(&self)), (0, ""), "{}", stdout(&self));
        self
    }

    #[track_caller]
    fn refused(&self, part: &str) {
        self.ends(2).prints("").says(part);
    }

    #[track_caller]
    fn ends(&self, code: i32) -> &Self {
        assert_eq!(status(self), code, "{self:?}");
        self
    }

    #[track_caller]
    fn prints(&self, text: &str) -> &Self {
        assert_eq!(stdout(self), text, "{self:?}");
        self
    }

    #[track_caller]
    fn tells(&self, text: &str) -> &Self {
        assert_eq!(stderr(self), text, "{self:?}");
        self
    }

    #[track_caller]
    fn has(&self, part: &str) -> &Self {
        assert!(stdout(self).contains(part), "expected {part:?}: {self:?}");
        self
    }

    #[track_caller]
    fn begins(&self, part: &str) -> &Self {
        assert!(stdout(self).starts_with(part), "expected {part:?}: {self:?}");
        self
    }

    #[track_caller]
    fn says(&self, part: &str) -> &Self {
        assert!(stderr(self).contains(part), "expected {part:?}: {self:?}");
        self
    }

    #[track_caller]
    fn says_first(&self, part: &str) -> &Self {
        assert!(stderr(self).starts_with(part), "expected {part:?}: {self:?}");
        self
    }
}

#[track_caller]
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = hashloom().current_dir(folder).args(arguments).output().unwrap();
    schema::check(arguments, &output.stdout);
    output
}

/// Runs the program with `input` as standard input, which it need not read.
pub fn run_with(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = hashloom();
    command.current_dir(folder).args(arguments);
    let output = with_input(&mut command, input);
    schema::check(arguments, &output.stdout);
    output
}

pub fn with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

/// Runs the program as a user that permissions bind.
pub fn unprivileged(folder: &Path, arguments: &[&str]) -> Output {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    // The folder of the build may be closed to other users.
    let copy = folder.join("hashloom");
    if !copy.exists() {
        // Not by this process: a child of another thread would still have the copy open for writing when it is run.
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_hashloom")).arg(&copy).status().unwrap().success());
    }
    let mut command = Command::new(if is_root { Path::new("setpriv") } else { &copy });
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
    }
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").current_dir(folder);
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[cfg(unix)]
pub fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub fn make_fifo(path: impl AsRef<Path>) {
    assert!(Command::new("mkfifo").arg(path.as_ref()).status().unwrap().success());
}

/// Returns the names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    use sha2::Digest;
    hex(sha2::Sha256::digest(bytes))
}

pub fn sha1(bytes: impl AsRef<[u8]>) -> String {
    use sha1::Digest;
    hex(sha1::Sha1::digest(bytes))
}

pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the exit status of a check in `folder`, and its peak memory.
#[cfg(target_os = "linux")]
pub fn peak_kib(folder: &Path, arguments: &[&str]) -> (i32, u64) {
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
pub fn while_it_changes<R>(path: &Path, work: impl FnOnce() -> R) -> R {
    let byte = [std::fs::read(path).unwrap()[0]];
    while_written(path, &[&byte], work)
}

/// Writes each content over the beginning of a file, again and again, while `work` runs.
#[cfg(unix)]
pub fn while_written<R>(path: &Path, contents: &[&[u8]], work: impl FnOnce() -> R) -> R {
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for content in contents.iter().cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                file.write_all_at(content, 0).unwrap();
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

/// Returns true if results for files in this folder can be trusted in a later run.
pub fn is_trusted(folder: &Path) -> bool {
    doubt_of(folder).is_none()
}

/// Returns why results for files in this folder cannot be trusted in a later run, if so. Then the test that asks is
/// left out, or fails if HASHLOOM_REQUIRE is set.
pub fn doubt_of(folder: &Path) -> Option<hashloom_files::Doubt> {
    use hashloom_files::{Doubt, Noted};
    use hashloom_state::Folder;
    let file = tempfile::NamedTempFile::new_in(folder).unwrap();
    let noted = Noted::of(file.path()).unwrap();
    // A container, or a chroot without /sys, may not tell the device.
    let tie = Folder::new(folder).tie(file.path(), &Noted { doubt: None, ..noted });
    let doubt = noted.doubt.filter(|&doubt| doubt == Doubt::FileSystem).or(tie.doubt_at(&tie));
    if let Some(doubt) = doubt {
        skipped::skipped_unless_required(format!("{} is {doubt}", folder.display()));
    }
    doubt
}

/// Opens the progress of checks of torrents that is kept in a file.
pub fn checkpoint(path: &Path) -> hashloom_clients::Checkpoint {
    use {hashloom_clients::Checkpoint, hashloom_state::State};
    // A process that another test is starting has this one's files, and the lock, until it runs its program.
    let began = std::time::Instant::now();
    loop {
        match State::at(path, Checkpoint::SUBJECT) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && began.elapsed().as_secs() < 20 => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            state => return Checkpoint::new(state.unwrap()),
        }
    }
}
