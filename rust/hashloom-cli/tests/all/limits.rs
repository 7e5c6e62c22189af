// SPDX-License-Identifier: MIT OR Apache-2.0

//! A system that runs out of resources: the program is right, or says what is wrong. No signal ends it.
//! `test/faults.py` limits the memory of every command.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{Ran, hashloom, make_fifo, stderr, stdout};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

/// Runs the program with these arguments through another program.
fn under(starter: &[&str], folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(starter[0]);
    command.args(&starter[1..]).arg(env!("CARGO_BIN_EXE_hashloom")).args(arguments).current_dir(folder);
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command.output().unwrap_or_else(|error| panic!("{}: {error} (tools/setup.sh test installs it)", starter[0]))
}

/// Makes small files, a long one, and a list, a torrent and a manifest of them.
fn content() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("small")).unwrap();
    for i in 0..300usize {
        fs::write(folder.path().join(format!("small/{i}")), vec![i as u8; 20 * i]).unwrap();
    }
    fs::write(folder.path().join("long"), vec![7; 5_000_000]).unwrap();
    let run = |arguments: &[&str]| {
        let output = hashloom().current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        output
    };
    fs::write(folder.path().join("list"), run(&["sum", "-r", "small", "long"]).stdout).unwrap();
    run(&["torrent", "create", "-o", "long.torrent", "long"]);
    run(&["manifest", "write", "small", "-o", "manifest"]);
    folder
}

#[test]
fn io_uring_may_fail_at_any_time() {
    let folder = content();
    let arguments = ["sum", "-r", "--threads", "2", "small", "long"];
    let list = fs::read_to_string(folder.path().join("list")).unwrap();
    // strace counts the calls of each thread: two that share the work evenly make fewer than twelve each.
    let mut has_failed = false;
    for error in ["ENOMEM", "EBADR", "EOVERFLOW"] {
        // The first calls find out whether a ring can be set up at all.
        for first in [1, 2, 3, 4, 5, 6, 7, 12] {
            let inject = format!("inject=io_uring_enter:error={error}:when={first}+");
            let strace = ["strace", "-f", "-qq", "-o", "trace", "-e", "trace=io_uring_enter", "-e", &inject];
            let output = under(&strace, folder.path(), &arguments);
            assert_eq!(output.status.code(), Some(0), "{inject}: {}", stderr(&output));
            assert!(stdout(&output) == list, "{inject}");
            let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
            has_failed |= trace.contains("INJECTED") || !trace.contains("io_uring_enter");
        }
    }
    assert!(has_failed, "no call failed");
}

/// Bytes of a pipe that a failed ring has begun to read may be lost: then there is an error and no digest.
#[test]
fn a_pipe_is_read_whole_or_not_at_all() {
    let folder = content();
    let pipe = folder.path().join("small/pipe");
    make_fifo(&pipe);
    for first in [3, 4, 5, 6, 8] {
        // A reader and a writer of its own, so that opening the pipe never waits.
        let mut writer = fs::File::options().read(true).write(true).open(&pipe).unwrap();
        std::io::Write::write_all(&mut writer, b"abc").unwrap();
        let inject = format!("inject=io_uring_enter:error=ENOMEM:when={first}+");
        let strace =
            ["timeout", "2", "strace", "-f", "-qq", "-o", "trace", "-e", "trace=io_uring_enter", "-e", &inject];
        let mut paths: Vec<String> = (0..30).map(|i| format!("small/{i}")).collect();
        paths.insert(20, "small/pipe".to_owned());
        let arguments: Vec<&str> = ["sum", "--threads", "1"].into_iter().chain(paths.iter().map(|p| &**p)).collect();
        let output = under(&strace, folder.path(), &arguments);
        // The command has failed, or still waits for the pipe, whose writer has not ended.
        assert!(!stdout(&output).contains("small/pipe"), "{inject}: {}", stdout(&output));
        assert!(matches!(output.status.code(), Some(1 | 2 | 124)), "{inject}: {}", stderr(&output));
    }
}

/// No file can have a byte, as on a full disk: each command names the file that it cannot write, and leaves none.
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = content();
    let edit = ["torrent", "edit", "long.torrent", "-c", "x"];
    let verify = ["torrent", "verify", "-q", "long.torrent", "long"];
    let commands: [(&[&str], &[&str]); 10] = [
        (&["torrent", "create", "long", "-o", "x"], &["x: the torrent cannot be written: "]),
        (&edit, &["long.torrent: the torrent cannot be edited in place: "]),
        (&[&edit[..], &["-o", "x"]].concat(), &["x: the torrent cannot be written: "]),
        (
            &[&verify[..], &["--bitfield", "x", "--libtorrent", "y.fastresume", "--transmission", "z.resume"]].concat(),
            &[
                "x: the bitfield cannot be written: ",
                "y.fastresume: the libtorrent resume file cannot be written: ",
                "z.resume: the Transmission resume file cannot be written: ",
            ],
        ),
        (&["manifest", "write", "small", "-o", "x"], &["x.partial: the progress cannot be saved: "]),
        (
            &["manifest", "check", "manifest", "small", "--resume", "x"],
            &["--resume: x: the progress cannot be saved: "],
        ),
        (&["sum", "small/1"], &["standard output: "]),
        (&["tree", "fsverity", "long", "--out-merkle-tree", "x"], &["x: cannot be written: "]),
        (&["tree", "dmverity", "format", "long", "x"], &["x: cannot be written: "]),
        (&["generate", "man", "."], &["./hashloom.1: cannot be written: "]),
    ];
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    fs::write(folder.path().join("out"), "").unwrap();
    let before = names();
    for (command, expected) in commands {
        // The signal would end the program.
        let to = if command[0] == "sum" { ">>out" } else { "" };
        let shell = ["sh", "-c", &format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\" {to}")];
        let output = under(&shell, folder.path(), command);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
        let errors: Vec<&str> = stderr(&output).lines().filter(|line| !line.contains("warning: ")).collect();
        assert_eq!(errors.len(), expected.len(), "{command:?}: {errors:?}");
        for (line, expected) in errors.iter().zip(expected) {
            let expected = format!("hashloom: {expected}File too large");
            assert!(line.starts_with(&expected) && !line.contains("os error"), "{command:?}: {line}");
        }
        assert_eq!(names(), before, "{command:?}");
    }
}

/// A path of more than 4095 bytes is too long for a system call. The file or folder is named as unreadable, as by
/// sha256sum, and all others are read.
#[test]
fn a_path_that_is_too_long_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let open = |folder: &OwnedFd, name: &str| openat(folder, name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    let mut here = openat(CWD, folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    let mut path = String::new();
    let below = "d".repeat(200);
    for _ in 0..21 {
        mkdirat(&here, &*below, Mode::from_raw_mode(0o755)).unwrap();
        let flags = OFlags::WRONLY | OFlags::CREATE;
        for name in ["f".to_owned(), "z".repeat(75), "z".repeat(76)] {
            openat(&here, &*name, flags, Mode::from_raw_mode(0o644)).unwrap();
        }
        if path.len() < 4020 {
            (here, path) = (open(&here, &below), path + &below + "/");
        }
    }
    assert_eq!(path.len(), 4020);
    let empty = hashloom::hash(hashloom::Algorithm::Sha256, b"");
    let output = hashloom().current_dir(folder.path()).args(["sum", "-r", &below]).output().unwrap();
    let found: Vec<usize> = stdout(&output).lines().map(|line| line.len() - 66).collect();
    assert_eq!((output.status.code(), found.len(), found.iter().max()), (Some(1), 59, Some(&4095)));
    assert!(stdout(&output).lines().all(|line| line.starts_with(&empty.to_string())));
    let too_long = [format!("{path}{below}"), format!("{path}{}", "z".repeat(76))];
    let named = too_long.map(|path| format!("hashloom: {path}: File name too long\n")).concat();
    assert_eq!(stderr(&output), named);

    let manifest = ["manifest", "write", &below, "-o", "manifest"];
    let output = hashloom().current_dir(folder.path()).args(manifest).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(1), &*named));
    let lines = fs::read_to_string(folder.path().join("manifest")).unwrap();
    assert_eq!(lines.matches(r#""type":"unread""#).count(), 2, "{lines}");
    let check = ["manifest", "check", "manifest", &below];
    let output = hashloom().current_dir(folder.path()).args(check).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    output.has("78 the same, 2 unreadable");
}
