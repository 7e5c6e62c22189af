// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of things that only Windows has: junctions, files that a program locks, servers in lists, Ctrl-Break.

use std::fs::{self, File};
use std::io::Read;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::skipped::skipped;
use crate::common::{Ran, hashloom, run, status, stderr, stdout};

/// The SHA-256 of "abc".
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn a_junction_is_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("sub")).unwrap();
    fs::write(tree.join("sub/a"), "abc").unwrap();
    let made = Command::new("cmd").args(["/c", "mklink", "/J", "tree\\sub\\up", "tree"]).current_dir(&folder).output();
    if !made.is_ok_and(|made| made.status.success()) || fs::symlink_metadata(tree.join("sub/up")).is_err() {
        return skipped("this system makes no junctions");
    }
    run(folder.path(), &["sum", "-r", "tree"]).ends(0).prints(&format!("{ABC}  tree/sub/a\n"));
    run(folder.path(), &["sum", "-r", "--follow", "tree"])
        .prints(&format!("{ABC}  tree/sub/a\n"))
        .says("a link to tree, the folder it is in");
    run(folder.path(), &["manifest", "write", "tree"]).has(r#"{"type":"link","path":"sub/up","#);
}

#[test]
fn a_file_that_another_program_keeps_to_itself_is_unread() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "locked", "z"] {
        fs::write(folder.path().join(name), "abc").unwrap();
    }
    let list = run(folder.path(), &["sum", "-r", "."]);
    let locked = File::options().read(true).share_mode(0).open(folder.path().join("locked")).unwrap();
    run(folder.path(), &["sum", "a", "locked", "z"])
        .ends(1)
        .prints(&format!("{ABC}  a\n{ABC}  z\n"))
        .says_first("hashloom: locked: ");
    fs::write(folder.path().join("list"), &list.stdout).unwrap();
    run(folder.path(), &["check", "list"]).ends(1).prints("./a: OK\n./locked: FAILED open or read\n./z: OK\n");
    run(folder.path(), &["manifest", "write", ".", "-o", "m"]).ends(1);
    let manifest = fs::read_to_string(folder.path().join("m")).unwrap();
    assert!(manifest.contains(r#"{"type":"unread","path":"locked","#), "{manifest}");
    drop(locked);
    assert_eq!(status(&run(folder.path(), &["check", "--quiet", "list"])), 0);
}

#[test]
fn a_list_names_no_server_that_the_user_has_not_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "abc").unwrap();
    let names = ["//no-such-server/share/a", r"\\no-such-server\share\a", r"\\?\UNC\no-such-server\share\a", "a"];
    let list: String = names.iter().map(|name| format!("{ABC}  {name}\n")).collect();
    fs::write(folder.path().join("list"), list).unwrap();
    let output = run(folder.path(), &["check", "list"]);
    assert_eq!(status(&output), 1);
    assert_eq!(stderr(&output).matches("is a server of the network").count(), 3, "{}", stderr(&output));
    assert_eq!(stdout(&output).matches(": OK").count(), 1);
    // The user names the server: the file is looked for, and is not there.
    let output = run(folder.path(), &["sum", "//no-such-server/share/a"]);
    assert_eq!((status(&output), stderr(&output).contains("is a server")), (1, false));
}

#[test]
fn names_that_differ_in_case_and_names_that_are_no_unicode() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Name"), "abc").unwrap();
    // A list tells the name as it was given.
    assert_eq!(stdout(&run(folder.path(), &["sum", "NAME"])), format!("{ABC}  NAME\n"));
    let half = std::ffi::OsString::from_wide(&[0x61, 0xd800]);
    if fs::write(folder.path().join(&half), "abc").is_err() {
        return skipped("this system has no names that are no Unicode");
    }
    let list = run(folder.path(), &["sum", "-r", "."]);
    assert!(list.stdout.windows(5).any(|bytes| bytes == b"/a\xed\xa0\x80"), "{:?}", list.stdout);
    fs::write(folder.path().join("list"), &list.stdout).unwrap();
    run(folder.path(), &["check", "--quiet", "list"]).done();
}

#[test]
fn torrents_with_names_that_windows_cannot_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["CON", "NUL.txt", "com1", "a.", "a ", "a:b", "C:", "..\\a", "a\\b", "a?"] {
        let bytes = format!("d4:infod6:lengthi0e4:name{}:{name}12:piece lengthi16384e6:pieces0:ee", name.len());
        fs::write(folder.path().join("t.torrent"), bytes).unwrap();
        for command in ["verify", "show"] {
            let output = run(folder.path(), &["torrent", command, "t.torrent"]);
            assert_eq!(status(&output), 2, "{name}: {}{}", stdout(&output), stderr(&output));
        }
    }
}

#[test]
fn a_pipe_that_its_reader_closes_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..300 {
        fs::write(folder.path().join(format!("{number}{}", "x".repeat(200))), "abc").unwrap();
    }
    let mut command = hashloom();
    command.current_dir(&folder).args(["sum", "-r", "."]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn ctrl_break_ends_the_work_and_leaves_nothing_half_written() {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    const CTRL_BREAK_EVENT: u32 = 1;
    unsafe extern "system" {
        fn GenerateConsoleCtrlEvent(event: u32, group: u32) -> i32;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), "abc").unwrap();
    // Seconds of work.
    File::create(folder.path().join("tree/b")).unwrap().set_len(4 << 30).unwrap();
    let mut command = hashloom();
    command.current_dir(&folder).args(["manifest", "write", "tree", "-o", "m", "-a", "sha3-512"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).creation_flags(CREATE_NEW_PROCESS_GROUP);
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while !folder.path().join("m.partial").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    // SAFETY: the call takes two numbers; the group is that of the child.
    if unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, child.id()) } == 0 {
        child.kill().unwrap();
        child.wait().unwrap();
        return skipped("there is no console");
    }
    child.wait_with_output().unwrap().ends(130).says("interrupted: the progress is kept");
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["m.partial", "tree"]);
}
