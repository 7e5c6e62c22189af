// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests how the program shares the machine with others: --rate, --nice, and what it says held it back.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ran, hashloom, status, stderr, stdout};

const NBYTES: usize = 2 << 20;

/// A folder with a file, some small files, a torrent and a manifest of the file, and a list.
fn content() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..NBYTES).map(|i| (i / 1000) as u8).collect();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/long"), &data).unwrap();
    fs::create_dir(folder.path().join("small")).unwrap();
    for (name, part) in data.chunks(NBYTES / 50).enumerate() {
        fs::write(folder.path().join(format!("small/{name}")), part).unwrap();
    }
    run(folder.path(), &["torrent", "create", "--quiet", "-o", "t.torrent", "data"]);
    run(folder.path(), &["manifest", "write", "--quiet", "-o", "manifest", "small"]);
    let list = run(folder.path(), &["sum", "-r", "small"]).stdout;
    fs::write(folder.path().join("list"), list).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = hashloom().current_dir(folder).args(arguments).output().unwrap();
    assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
    output
}

/// Each command reads 2 MiB. A limit can be checked from one side only: a busy machine takes longer.
#[test]
fn no_command_reads_faster_than_the_rate() {
    let folder = content();
    let rate = NBYTES * 4;
    let commands: [&[&str]; 9] = [
        &["torrent", "verify", "t.torrent"],
        &["torrent", "create", "--force", "-o", "again.torrent", "data"],
        &["sum", "data/long"],
        &["sum", "-r", "small"],
        &["check", "--quiet", "list"],
        &["manifest", "check", "manifest", "small"],
        &["manifest", "write", "small", "-o", "again", "--force"],
        &["tree", "fsverity", "data/long"],
        &["tree", "glacier", "data/long"],
    ];
    for command in commands {
        let expected = run(folder.path(), command);
        for threads in ["1", "8"] {
            let started = Instant::now();
            let found = run(folder.path(), &[command, &["--threads", threads, "--rate", &rate.to_string()]].concat());
            // The first read of each thread is free.
            let least = Duration::from_secs(1) * (NBYTES - 8 * (32 << 10)) as u32 / rate as u32;
            assert!(started.elapsed() > least.saturating_sub(Duration::from_millis(50)), "{command:?}");
            if ["sum", "check", "tree"].contains(&command[0]) {
                assert_eq!(stdout(&found), stdout(&expected), "{command:?}");
            }
        }
    }
}

#[test]
fn a_rate_is_a_number_of_bytes_from_one_on() {
    for (rate, why) in [("0", "at least 1 byte a second"), ("fast", "expected a whole number of bytes")] {
        hashloom().args(["sum", "--rate", rate]).output().unwrap().refused(why);
    }
}

#[test]
fn the_last_line_says_that_the_rate_held_the_work_back() {
    if !fs::read_to_string("/proc/thread-self/schedstat").is_ok_and(|times| !times.ends_with(" 0\n")) {
        return crate::common::skipped::skipped("the kernel does not count the times of threads");
    }
    let folder = content();
    let rate = ["--rate", "2M"];
    let said = |arguments: &[&str]| stdout(&run(folder.path(), &[arguments, &rate].concat())).to_owned();
    let text = said(&["torrent", "verify", "t.torrent"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let text = said(&["torrent", "create", "--force", "-o", "again.torrent", "data"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let text = said(&["manifest", "write", "-o", "again", "data"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let text = said(&["manifest", "check", "again", "data"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let text = said(&["torrent", "verify", "t.torrent", "t.torrent"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let json: [&[&str]; 3] = [
        &["torrent", "verify", "--json", "t.torrent"],
        &["torrent", "create", "--json", "--force", "-o", "again.torrent", "data"],
        &["manifest", "check", "--json", "again", "data"],
    ];
    for arguments in json {
        let text = said(arguments);
        assert!(text.contains("\"held_back_by\":\"rate\""), "{text}");
    }
}

/// Runs the program under strace. Returns the output, and the trace.
fn traced(folder: &Path, options: &[&str], arguments: &[&str]) -> (Output, String) {
    let mut command = Command::new("strace");
    let calls = "trace=ioprio_set,setpriority,prctl,clone,clone3";
    command.args(["-f", "-qq", "-o", "trace", "-e", calls]).args(options).arg(env!("CARGO_BIN_EXE_hashloom"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8");
    let output = command.output().unwrap_or_else(|error| panic!("strace: {error} (tools/setup.sh test installs it)"));
    (output, fs::read_to_string(folder.join("trace")).unwrap())
}

#[test]
fn nice_gives_way_on_one_thread() {
    let folder = content();
    let arguments = ["sum", "-r", "small", "--nice"];
    let (output, trace) = traced(folder.path(), &[], &arguments);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    assert!(trace.contains("setpriority(PRIO_PROCESS, 0, 19"), "{trace}");
    assert!(trace.contains("ioprio_set(IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)"), "{trace}");
    assert!(!trace.contains("\"hashloom-1\""), "{trace}");

    let (output, trace) = traced(folder.path(), &[], &[&arguments[..], &["--threads", "3"]].concat());
    assert_eq!(status(&output), 0);
    let lowered = trace.find("ioprio_set").unwrap();
    let started = ["\"hashloom-1\"", "\"hashloom-2\""].map(|name| trace.find(name).unwrap());
    assert!(started.iter().all(|&at| at > lowered), "{trace}");
}

#[test]
fn a_priority_that_the_system_refuses_is_a_warning() {
    let folder = content();
    for (call, what) in [("ioprio_set", "disk"), ("setpriority", "CPU")] {
        let inject = format!("inject={call}:error=EPERM");
        let arguments = ["tree", "fsverity", "--nice", "small/0", "small/1"];
        let (output, _) = traced(folder.path(), &["-e", &inject], &arguments);
        let expected =
            format!("hashloom: warning: --nice: the priority for the {what} stays as it is: Operation not permitted\n");
        output.ends(0).tells(&expected[..]);
    }
}
