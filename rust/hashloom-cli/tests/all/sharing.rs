// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests how the program shares the machine with others: --rate, and what it says held it back.

use std::fs;
use std::path::Path;
use std::process::Output;
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
    let commands: [&[&str]; 3] = [
        &["torrent", "verify", "t.torrent"],
        &["check", "--quiet", "list"],
        &["manifest", "check", "manifest", "small"],
    ];
    for command in commands {
        let expected = run(folder.path(), command);
        for threads in ["1", "8"] {
            let started = Instant::now();
            let found = run(folder.path(), &[command, &["--threads", threads, "--rate", &rate.to_string()]].concat());
            // The first read of each thread is free.
            let least = Duration::from_secs(1) * (NBYTES - 8 * (32 << 10)) as u32 / rate as u32;
            assert!(started.elapsed() > least.saturating_sub(Duration::from_millis(50)), "{command:?}");
            if command[0] == "check" {
                assert_eq!(stdout(&found), stdout(&expected), "{command:?}");
            }
        }
    }
}

#[test]
fn a_rate_is_a_number_of_bytes_from_one_on() {
    for (rate, why) in [("0", "at least 1 byte a second"), ("fast", "expected a whole number of bytes")] {
        hashloom().args(["check", "--rate", rate]).output().unwrap().refused(why);
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
    let text = said(&["manifest", "check", "manifest", "small"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let text = said(&["torrent", "verify", "t.torrent", "t.torrent"]);
    assert!(text.ends_with(", held back by --rate\n"), "{text}");
    let json: [&[&str]; 2] =
        [&["torrent", "verify", "--json", "t.torrent"], &["manifest", "check", "--json", "manifest", "small"]];
    for arguments in json {
        let text = said(arguments);
        assert!(text.contains("\"held_back_by\":\"rate\""), "{text}");
    }
}
