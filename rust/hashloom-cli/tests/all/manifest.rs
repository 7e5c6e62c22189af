// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom manifest` as a person or a script does.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::common::{Ran, hashloom, is_trusted, make_fifo, names, slow, status, stderr, stdout};
use serde_json::Value;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    hashloom().current_dir(folder).arg("manifest").args(arguments).output().unwrap()
}

/// Returns the output; the command must succeed and print nothing to standard error.
#[track_caller]
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}: {}", stdout(&output));
    stdout(&output).to_owned()
}

/// Returns the exit status of a check or diff, and its differences as `status path`.
#[track_caller]
fn differences(folder: &Path, arguments: &[&str]) -> (i32, Vec<String>) {
    let output = run(folder, &[arguments, &["--json"]].concat());
    assert_eq!(stderr(&output), "", "{arguments:?}");
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, differences) = lines.split_last().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut counted = serde_json::Map::new();
    let found = differences.iter().map(|difference| {
        let place = counted.entry(text(&difference["status"])).or_insert(0.into());
        *place = (place.as_u64().unwrap() + 1).into();
        if difference["status"] == "moved" {
            format!("moved {} {}", text(&difference["path"]), text(&difference["new"]["path"]))
        } else {
            format!("{} {}", text(&difference["status"]), text(&difference["path"]))
        }
    });
    let found = found.collect();
    // The counts also have the entries below an unreadable folder.
    for (status, count) in counted.into_iter().filter(|(status, _)| status != "unreadable") {
        assert_eq!(summary["counts"][&status], count, "{status}");
    }
    (status(&output), found)
}

fn write(path: PathBuf, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn mtime(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

fn set_mtime(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Changes the content so that only the digest tells: the length and the time stay.
fn rot(path: &Path) {
    let time = mtime(path);
    let mut bytes = fs::read(path).unwrap();
    bytes[0] ^= 1;
    fs::write(path, bytes).unwrap();
    set_mtime(path, time);
}

/// Makes a folder with `tree` in it.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    for name in ["a/one", "a/two", "a b", "a-b", "a.txt", "b/c/d", "z"] {
        write(tree.join(name), format!("this is {name}"));
    }
    write(tree.join("nothing"), "");
    fs::create_dir(tree.join("empty")).unwrap();
    folder
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// 64 bits of nanoseconds end in the year 2262.
#[test]
fn times_after_2262_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree/a");
    write(path.clone(), "abc");
    let year = |year: u64| SystemTime::UNIX_EPOCH + Duration::from_secs((year - 1970) * 31_556_952);
    let set = |year: SystemTime| File::options().write(true).open(&path).unwrap().set_modified(year);
    let is_kept = |year| set(year).is_ok() && path.metadata().unwrap().modified().unwrap() == year;
    if !is_kept(year(2300)) || !is_kept(year(2301)) {
        return crate::common::skipped::skipped_unless_required("the file system has no times after 2262");
    }
    set(year(2300)).unwrap();
    done(folder.path(), &["write", "tree", "-o", "old", "--quiet"]);
    assert_eq!(differences(folder.path(), &["check", "old", "tree", "--quick"]), (0, vec![]));
    fs::write(&path, "abd").unwrap();
    set(year(2301)).unwrap();
    let (status, found) = differences(folder.path(), &["check", "old", "tree", "--quick"]);
    assert_eq!((status, found), (1, vec!["changed a".to_owned()]));
    done(folder.path(), &["write", "tree", "-o", "new", "--quiet", "--update", "old"]);
    let (status, found) = differences(folder.path(), &["diff", "old", "new"]);
    assert_eq!((status, found), (1, vec!["changed a".to_owned()]));
}

/// `test/manifest.py` has the entries, their order and the last line.
#[test]
fn the_same_bytes_again_and_what_is_printed() {
    let folder = tree();
    let text = done(folder.path(), &["write", "tree"]);
    for threads in ["1", "3"] {
        assert_eq!(done(folder.path(), &["write", "tree/", "--threads", threads]), text);
    }
    let printed = done(folder.path(), &["write", "tree", "-o", "m"]);
    assert!(printed.starts_with("m: 8 files, 4 folders, 83 bytes\nread 83 bytes in "), "{printed}");
    assert_eq!(fs::read_to_string(folder.path().join("m")).unwrap(), text);
    assert_eq!(names(folder.path()), ["m", "tree"]);
    assert_eq!(done(folder.path(), &["write", "tree", "-o", "m", "--quiet", "--force"]), "");
}

/// `test/manifest.py` compares the differences of random folders, and their moves, with those that Python finds.
#[test]
fn every_kind_of_difference() {
    let folder = tree();
    let tree = folder.path().join("tree");
    done(folder.path(), &["write", "tree", "-o", "old"]);
    rot(&tree.join("a/one"));
    write(tree.join("a/two"), "longer than it was");
    fs::rename(tree.join("a b"), tree.join("b/a b")).unwrap();
    set_mtime(&tree.join("a-b"), SystemTime::UNIX_EPOCH);
    fs::remove_file(tree.join("a.txt")).unwrap();
    fs::create_dir(tree.join("a.txt")).unwrap();
    fs::rename(tree.join("b/c/d"), tree.join("b/c/e")).unwrap();
    fs::remove_dir(tree.join("empty")).unwrap();
    fs::remove_file(tree.join("nothing")).unwrap();
    write(tree.join("nothing else"), "");
    write(tree.join("y"), "new");
    let output = run(folder.path(), &["check", "old", "tree"]);
    let text = stdout(&output);
    let (head, summary) = text.split_at(text.rfind("different: ").unwrap());
    assert_eq!(
        head,
        "rotted      a/one
changed     a/two  (13 bytes -> 18 bytes)
changed     a.txt  (file -> folder)
moved       a b -> b/a b
moved       b/c/d -> b/c/e
removed     empty/
removed     nothing
added       nothing else
added       y
"
    );
    let counts = "different: 4 the same, 1 touched, 1 rotted, 2 changed, 2 moved, 2 removed, 2 added; read ";
    assert!(summary.starts_with(counts), "{summary}");
    assert!(stdout(&run(folder.path(), &["check", "old", "tree", "-v"])).contains("touched     a-b\n"));
    run(folder.path(), &["check", "old", "tree", "--quiet"]).is(1, "", "");
    // `diff` says the same, and the help texts have all words.
    done(folder.path(), &["write", "tree", "-o", "new", "--quiet"]);
    run(folder.path(), &["diff", "old", "new"])
        .ends(1)
        .prints(&format!("{head}{}\n", summary.split("; read ").next().unwrap()));
    for command in ["check", "diff"] {
        let help = done(folder.path(), &[command, "--help"]);
        let states = help.split("States of an entry:").nth(1).unwrap();
        for status in hashloom_manifest::Status::ALL.iter().filter(|&&status| status.to_string() != "same") {
            assert!(states.contains(&format!("\n  {status}")) || states.contains(&format!(", {status}\n")), "{status}");
        }
    }
}

#[test]
fn touched_is_no_difference() {
    let folder = tree();
    done(folder.path(), &["write", "tree", "-o", "m"]);
    set_mtime(&folder.path().join("tree/z"), SystemTime::UNIX_EPOCH);
    let text = done(folder.path(), &["check", "m", "tree"]);
    assert!(text.starts_with("as written: 11 the same, 1 touched; read 83 bytes in "), "{text}");
}

#[test]
fn the_manifest_is_no_part_of_the_folder() {
    let folder = tree();
    let tree = folder.path().join("tree");
    let text = done(folder.path(), &["write", "tree"]);
    for name in ["tree/m", "tree/a/m", "tree/./b/../m2"] {
        done(folder.path(), &["write", "tree", "-o", name]);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{name}");
        assert_eq!(differences(folder.path(), &["check", name, "tree", "--resume", "tree/state"]), (0, vec![]));
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    // The folder of the manifest is the default.
    done(&tree, &["write", ".", "-o", "m"]);
    assert_eq!(differences(folder.path(), &["check", "tree/m"]), (0, vec![]));
    assert_eq!(differences(&tree, &["check", "m"]), (0, vec![]));
    assert_eq!(names(&tree).len(), 9, "nothing is left");
}

#[cfg(unix)]
#[test]
fn standard_output_is_no_part_of_the_folder() {
    let folder = tree();
    let tree = folder.path().join("tree");
    let text = done(folder.path(), &["write", "tree"]);
    let into = |name: &str, arguments: &[&str]| {
        let out = fs::File::options().create(true).append(true).open(folder.path().join(name)).unwrap();
        hashloom().current_dir(folder.path()).arg("manifest").args(arguments).stdout(out).output().unwrap()
    };
    let told = |path: &str| format!("hashloom: warning: {path}: it is the output itself, and left out\n");
    fs::write(tree.join("a/m"), "").unwrap();
    fs::hard_link(tree.join("a/m"), tree.join("zz")).unwrap();
    into("tree/a/m", &["write", "tree"]).ends(0).tells((told("tree/a/m") + &told("tree/zz")).as_str());
    assert_eq!(fs::read_to_string(tree.join("a/m")).unwrap(), text);
    fs::remove_file(tree.join("zz")).unwrap();
    into("tree/report", &["check", "tree/a/m", "tree"]).ends(0).tells(told("tree/report").as_str());
    fs::rename(tree.join("a/m"), folder.path().join("m")).unwrap();
    // A file that the manifest lists is checked, whatever is written to it.
    done(folder.path(), &["write", "tree", "-o", "with"]);
    into("tree/report", &["check", "with", "tree", "--json"]).done();
    into("tree/report", &["check", "with", "tree", "--json"]).ends(1);
}

#[test]
fn update_reads_what_has_changed_only() {
    let folder = tree();
    let tree = folder.path().join("tree");
    done(folder.path(), &["write", "tree", "-o", "m"]);
    rot(&tree.join("a/one"));
    write(tree.join("a/two"), "new");
    write(tree.join("new"), "new");
    let text = done(folder.path(), &["write", "tree", "-o", "m", "--update", "m"]);
    assert!(text.contains("\nread 6 bytes in "), "{text}");
    assert!(text.contains("; 7 files taken over from OLD, by length and time alone\n"), "{text}");
    assert_eq!(differences(folder.path(), &["check", "m", "tree"]), (1, vec!["rotted a/one".to_owned()]));
    let output = run(folder.path(), &["write", "tree", "-a", "sha1", "--update", "m"]);
    output.ends(2).prints("");
    assert!(stderr(&output).ends_with("--update: OLD has digests of sha256 only\n"), "{}", stderr(&output));
}

#[test]
fn manifests_without_a_common_algorithm() {
    let folder = tree();
    for algorithm in ["sha1", "sha512", "sha1,sha256"] {
        done(folder.path(), &["write", "tree", "-a", algorithm, "-o", algorithm]);
    }
    run(folder.path(), &["diff", "sha1", "sha512"])
        .refused("sha1 has digests of sha1, sha512 of sha512: none in common");
    rot(&folder.path().join("tree/z"));
    done(folder.path(), &["write", "tree", "-o", "m"]);
    assert_eq!(differences(folder.path(), &["diff", "sha1,sha256", "m"]), (1, vec!["rotted z".to_owned()]));
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn what_is_refused() {
    let folder = tree();
    done(folder.path(), &["write", "tree", "-o", "m"]);
    fs::write(folder.path().join("other"), "something else\n").unwrap();
    fs::copy(folder.path().join("other"), folder.path().join("n.partial")).unwrap();
    let whole = fs::read(folder.path().join("m")).unwrap();
    fs::write(folder.path().join("cut"), &whole[..whole.len() - 1]).unwrap();
    let before = names(folder.path());
    let cases: &[(&[&str], &str)] = &[
        (&["write", "missing"], "missing: No such file"),
        (&["write", "m"], "m: expected a folder, found a file"),
        (&["write", "tree", "-o", "tree"], "tree: the manifest cannot be written: is a directory"),
        (&["write", "tree", "-o", "missing/m"], "missing/m: the manifest cannot be written: No such file"),
        (&["write", "tree", "-o", "n"], "n.partial: expected a state that begins with"),
        (&["write", "tree", "--update", "other"], "other: line 1: this is not a manifest"),
        (&["check", "other", "tree"], "other: line 1: this is not a manifest"),
        (
            &["check", "tree", "tree"],
            "tree: expected a manifest, found a folder; `hashloom manifest write DIR` records one",
        ),
        (&["check", "m", "missing"], "missing: No such file"),
        (&["check", "m", "tree", "--resume", "other"], "--resume: other: expected a state that begins with"),
        (&["check", "m", "tree", "--resume", "./m"], "--resume: ./m is the manifest"),
        (&["diff", "m", "missing"], "missing: No such file"),
        (&["diff", "m", "other"], "other: line 1: this is not a manifest"),
        (&["diff", "m", "cut"], "cut: line 14: the manifest was cut off"),
        (&["write", "tree", "-a", "md4"], "possible values: sha1"),
        (&["write", "tree", "-a", "sha1,sha1"], "none twice"),
        (&["write", "tree", "--include", " "], "the glob \" \": expected a pattern"),
        (&["write", "tree", "--min-size", "2", "--max-size", "1"], "--min-size 2 is more than --max-size 1"),
    ];
    for (arguments, part) in cases {
        run(folder.path(), arguments).refused(part);
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
    assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"something else\n");
}

/// A folder that was not meant is told before it is read.
#[test]
fn a_folder_that_has_nothing_of_the_manifest() {
    let folder = tree();
    done(folder.path(), &["write", "tree", "-o", "m"]);
    let why = "has nothing that m lists: name the folder of the manifest as DIR";
    run(folder.path(), &["check", "m", "tree/b"]).ends(1).tells(&format!("hashloom: warning: tree/b {why}\n"));
    run(folder.path(), &["check", "m"]).ends(2).prints("").tells(&format!("hashloom: . {why}\n"));
    done(folder.path(), &["check", "m", "tree"]);
    // An empty manifest lists nothing that could be missing.
    fs::create_dir(folder.path().join("none")).unwrap();
    done(folder.path(), &["write", "none", "-o", "none.manifest"]);
    assert_eq!(differences(&folder.path().join("none"), &["check", "../none.manifest", "."]), (0, vec![]));
}

/// Lets the program run until `path` has `nlines` lines.
fn wait_for(child: &mut Child, path: &Path, nlines: usize) {
    let started = Instant::now();
    while fs::read(path).map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count()) < nlines {
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::io::{Read, Write};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::common::{mode, unprivileged, while_it_changes};

    #[test]
    fn odd_names_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        write(tree.join(OsStr::from_bytes(b"\xff")), "x");
        symlink(OsStr::from_bytes(b"to\xffwhere"), tree.join("link")).unwrap();
        symlink(".", tree.join("loop")).unwrap();
        let text = done(folder.path(), &["write", "tree", "-o", "m"]);
        assert!(text.starts_with("m: 1 file, 2 links, "), "{text}");
        fs::rename(tree.join(OsStr::from_bytes(b"\xff")), tree.join("\u{1b}[31m")).unwrap();
        fs::remove_file(tree.join("link")).unwrap();
        symlink("elsewhere", tree.join("link")).unwrap();
        run(folder.path(), &["check", "m", "tree"])
            .begins("changed     link  (to\\xffwhere -> elsewhere)\nmoved       \\xff -> \\x1b[31m\n");
    }

    #[test]
    fn what_is_neither_file_link_nor_folder_is_left_out() {
        let folder = tree();
        let fifo = folder.path().join("tree/fifo");
        make_fifo(&fifo);
        let text = done(folder.path(), &["write", "tree", "-o", "m"]);
        assert!(text.ends_with("; 1 left out that are neither file, link nor folder\n"), "{text}");
        assert_eq!(differences(folder.path(), &["check", "m", "tree"]), (0, vec![]));
    }

    #[test]
    fn what_cannot_be_read() {
        let folder = tree();
        mode(folder.path(), 0o777);
        let tree = folder.path().join("tree");
        unprivileged(folder.path(), &["manifest", "write", "tree", "-o", "whole"]).done();
        mode(&tree.join("z"), 0);
        mode(&tree.join("b"), 0);

        unprivileged(folder.path(), &["manifest", "check", "whole", "tree"]).ends(2).begins(
            "unreadable  b/  (Permission denied)\nunreadable  z  (Permission denied)\n\
             different: 8 the same, 4 unreadable; ",
        );
        let expected = "hashloom: tree/b: Permission denied\nhashloom: tree/z: Permission denied\n";
        unprivileged(folder.path(), &["manifest", "check", "whole", "tree", "--quiet"]).is(2, "", expected);
        let part = unprivileged(folder.path(), &["manifest", "write", "tree", "-o", "part"]);
        part.ends(1).tells(expected).begins("part: 6 files, 2 folders, 2 unread, ");
        let text = fs::read_to_string(folder.path().join("part")).unwrap();
        assert!(text.contains("\n{\"type\":\"unread\",\"path\":\"z\",\"reason\":\"unreadable\"}\n"), "{text}");
        let (_, found) = differences(folder.path(), &["diff", "whole", "part"]);
        assert_eq!(found, ["unreadable b", "unreadable z"]);

        mode(&tree.join("z"), 0o644);
        mode(&tree.join("b"), 0o755);
        let (code, found) = differences(folder.path(), &["check", "part", "tree"]);
        let expected = ["unrecorded b", "unrecorded b/c", "unrecorded b/c/d", "unrecorded z"];
        assert_eq!((code, &found[..]), (1, &expected.map(str::to_owned)[..]));
    }

    #[test]
    fn files_that_change_all_the_time() {
        let folder = tree();
        let path = folder.path().join("tree/log");
        fs::write(&path, vec![1; 16 << 20]).unwrap();
        let slowly =
            |arguments: &[&str]| slow().arg("manifest").args(arguments).current_dir(folder.path()).output().unwrap();
        // On a busy machine the writer may stand still as long as the program runs.
        let changing = |arguments: &[&str], expected| {
            let run = |_| while_it_changes(&path, || slowly(arguments));
            (0..5).map(run).find(|output| status(output) == expected).unwrap()
        };
        let written = changing(&["write", "tree", "-o", "m", "--force"], 1);
        let checked = changing(&["check", "m", "tree"], 2);
        let why = "the file changes while it is read; try again when nothing writes to it";
        assert_eq!(stderr(&written), format!("hashloom: tree/log: {why}\n"));
        checked.begins(&format!("unstable    log  ({why}"));
        let text = fs::read_to_string(folder.path().join("m")).unwrap();
        assert!(text.contains("\n{\"type\":\"unread\",\"path\":\"log\",\"reason\":\"unstable\"}\n"), "{text}");
        assert_eq!(differences(folder.path(), &["check", "m", "tree"]), (1, vec!["unrecorded log".to_owned()]));
    }

    /// Makes many small files, then a file that takes minutes to read.
    fn long_tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for i in 0..1000 {
            write(folder.path().join(format!("tree/{:02}/{i}", i % 10)), format!("{i}"));
        }
        let last = folder.path().join("tree/last");
        File::create(&last).unwrap().set_len(1 << 40).unwrap();
        folder
    }

    fn start(folder: &Path, arguments: &[&str]) -> Child {
        let mut command = hashloom();
        command.current_dir(folder).arg("manifest").args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the number of the signal that ended the program, if any, standard output and standard error.
    fn end(mut child: Child, signal: &str) -> (Option<i32>, String, String) {
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let (mut out, mut error) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        (child.wait().unwrap().signal(), out, error)
    }

    #[test]
    fn write_goes_on_where_it_was_interrupted() {
        let folder = long_tree();
        if !is_trusted(folder.path()) {
            return;
        }
        let partial = folder.path().join("m.partial");
        let small = folder.path().join("small");
        // A file changed just before it was read would be read again.
        std::thread::sleep(Duration::from_millis(100));
        File::create(&small).unwrap().write_all(b"end").unwrap();
        for (signal, torn) in [("-INT", ""), ("-TERM", ""), ("-KILL", "0123456789abcdef to"), ("-KILL", "\0\0\n")] {
            let mut child = start(folder.path(), &["write", "tree", "-o", "m"]);
            // A first line, and one for each file; lines that wait for more are written after a second.
            wait_for(&mut child, &partial, 1001);
            let (code, out, error) = end(child, signal);
            if signal == "-KILL" {
                assert_eq!((code, &out[..], &error[..]), (Some(9), "", ""));
            } else {
                assert_eq!((code, &out[..]), (Some(if signal == "-INT" { 2 } else { 15 }), ""));
                assert!(error.contains("interrupted: the progress is kept in m.partial"), "{error}");
            }
            assert!(!folder.path().join("m").exists());
            File::options().append(true).open(&partial).unwrap().write_all(torn.as_bytes()).unwrap();

            // Change a file that was read, and replace the long one.
            write(folder.path().join("tree/00/0"), format!("changed by {signal}"));
            fs::rename(folder.path().join("tree/last"), folder.path().join("long")).unwrap();
            fs::copy(&small, folder.path().join("tree/last")).unwrap();
            std::thread::sleep(Duration::from_millis(100));
            let output = run(folder.path(), &["write", "tree", "-o", "m"]);
            output.ends(0).tells("resume: 1 file is read again: changed since\n");
            let text = stdout(&output);
            let taken: u32 = text.rsplit_once("; ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
            assert!((700..1000).contains(&taken), "{text}");
            if signal != "-KILL" {
                assert_eq!(taken, 999);
            }
            assert!(!partial.exists());
            assert_eq!(fs::read_to_string(folder.path().join("m")).unwrap(), done(folder.path(), &["write", "tree"]));
            fs::remove_file(folder.path().join("m")).unwrap();
            fs::remove_file(folder.path().join("tree/last")).unwrap();
            fs::rename(folder.path().join("long"), folder.path().join("tree/last")).unwrap();
            assert_eq!(names(folder.path()), ["small", "tree"]);
        }
    }

    #[test]
    fn check_goes_on_where_it_was_interrupted() {
        let folder = long_tree();
        if !is_trusted(folder.path()) {
            return;
        }
        let (tree, state) = (folder.path().join("tree"), folder.path().join("state"));
        fs::rename(tree.join("last"), folder.path().join("long")).unwrap();
        write(tree.join("last"), "end");
        done(folder.path(), &["write", "tree", "-o", "m"]);
        fs::rename(tree.join("last"), folder.path().join("end")).unwrap();
        fs::rename(folder.path().join("long"), tree.join("last")).unwrap();
        rot(&tree.join("03/3"));
        fs::remove_file(tree.join("04/4")).unwrap();
        write(tree.join("zz"), "behind the long one");
        // A file changed just before it was read would be read again.
        std::thread::sleep(Duration::from_millis(100));

        let mut child = start(folder.path(), &["check", "m", "tree", "--resume", "state"]);
        wait_for(&mut child, &state, 1000);
        let (code, out, error) = end(child, "-INT");
        assert_eq!((code, &error[..]), (Some(2), ""));
        assert!(out.starts_with("rotted      03/3\nremoved     04/4\ninterrupted: "), "{out}");
        fs::rename(folder.path().join("end"), tree.join("last")).unwrap();
        // The differences found before are found again, and no file is read for them.
        let text = run(folder.path(), &["check", "m", "tree", "--resume", "state"]);
        assert_eq!(status(&text), 1);
        let out = stdout(&text);
        let expected = "rotted      03/3\nremoved     04/4\nadded       zz\ndifferent: 1009 the same, ";
        assert!(out.starts_with(expected), "{out}");
        assert!(out.contains("; read 3 bytes in ") || out.contains("; read 22 bytes in "), "{out}");
        assert!(!state.exists());
    }

    #[test]
    fn without_a_file_nothing_is_kept() {
        let folder = long_tree();
        let mut child = start(folder.path(), &["write", "tree"]);
        let mut first = [0; 1];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        let (code, out, _) = end(child, "-INT");
        assert_eq!(code, Some(2));
        assert!(!out.contains("\"end\""));
        assert_eq!(names(folder.path()), ["tree"]);
    }
}

#[test]
fn filters_are_part_of_the_manifest() {
    let folder = tree();
    let tree = folder.path().join("tree");
    let filters = ["--exclude", "/a/", "--exclude", "z", "--max-size", "13"];
    done(folder.path(), &[&["write", "tree", "-o", "m", "--quiet"], &filters[..]].concat());
    let text = fs::read_to_string(folder.path().join("m")).unwrap();
    let header =
        r#"{"format":"hashloom manifest","version":1,"algorithms":["sha256"],"exclude":["/a/","z"],"max_size":13}"#;
    assert_eq!(text.lines().next(), Some(header));
    let paths: Vec<String> = lines(&text).iter().filter_map(|entry| Some(entry["path"].as_str()?.to_owned())).collect();
    assert_eq!(paths, ["a b", "a-b", "a.txt", "b", "b/c", "b/c/d", "empty", "nothing"]);
    let all = paths.len();

    // The check leaves out the same files, whatever becomes of them.
    write(tree.join("a/three"), "new");
    write(tree.join("z"), "other");
    write(tree.join("long"), "longer than that");
    fs::remove_file(tree.join("a/one")).unwrap();
    for how in [&["check", "m", "tree"][..], &["check", "m", "tree", "--quick"]] {
        assert_eq!(differences(folder.path(), how), (0, vec![]));
    }
    // A listed file that has become too long is not gone. A new file that is short enough is new.
    write(tree.join("a-b"), "this file has grown");
    write(tree.join("short"), "short");
    let found = (1, vec!["changed a-b".to_owned(), "added short".to_owned()]);
    for how in [&["check", "m", "tree"][..], &["check", "m", "tree", "--quick"]] {
        assert_eq!(differences(folder.path(), how), found);
    }
    // --update goes on with the filters of OLD, unless there are others.
    done(folder.path(), &["write", "tree", "-o", "n", "--quiet", "--update", "m"]);
    let text = fs::read_to_string(folder.path().join("n")).unwrap();
    assert_eq!((text.lines().next(), text.lines().count()), (Some(header), all + 2));
    done(folder.path(), &["write", "tree", "-o", "o", "--quiet", "--update", "m", "--include", "*.txt"]);
    let text = fs::read_to_string(folder.path().join("o")).unwrap();
    assert!(
        text.starts_with(r#"{"format":"hashloom manifest","version":1,"algorithms":["sha256"],"include":["*.txt"]}"#)
    );
    assert_eq!(differences(folder.path(), &["check", "o", "tree"]), (0, vec![]));
}

#[test]
fn a_diff_compares_what_both_filters_want() {
    let folder = tree();
    let write = |name: &str, filters: &[&str]| {
        done(folder.path(), &[&["write", "tree", "-o", name, "--quiet"], filters].concat());
    };
    write("all", &[]);
    write("some", &["--exclude", "/a/", "--include", "*.txt", "--include", "z"]);
    write("short", &["--max-size", "12"]);
    for (old, new) in [("all", "some"), ("some", "all"), ("all", "short"), ("short", "some"), ("some", "short")] {
        assert_eq!(differences(folder.path(), &["diff", old, new]), (0, vec![]), "{old} {new}");
    }
    fs::remove_file(folder.path().join("tree/z")).unwrap();
    fs::remove_file(folder.path().join("tree/a/one")).unwrap();
    rot(&folder.path().join("tree/a.txt"));
    write("later", &[]);
    write("later-some", &["--exclude", "/a/"]);
    let rotted = "rotted a.txt".to_owned();
    let found = differences(folder.path(), &["diff", "some", "later"]);
    assert_eq!(found, (1, vec![rotted.clone(), "removed z".to_owned()]));
    assert_eq!(differences(folder.path(), &["diff", "all", "later-some"]), found);
    assert_eq!(differences(folder.path(), &["diff", "short", "later"]).1, ["removed z"]);
    assert_eq!(differences(folder.path(), &["diff", "later", "short"]).1, ["added z"]);
}

/// A file could have been a folder, and the other way round.
#[test]
fn filters_and_a_change_of_the_type() {
    let folder = tree();
    let tree = folder.path().join("tree");
    done(folder.path(), &["write", "tree", "-o", "m", "--quiet", "--exclude", "z/", "--include", "?"]);
    fs::remove_file(tree.join("z")).unwrap();
    write(tree.join("z/file"), "x");
    assert_eq!(differences(folder.path(), &["check", "m", "tree"]), (1, vec!["removed z".to_owned()]));
    done(folder.path(), &["write", "tree", "-o", "n", "--quiet"]);
    assert_eq!(differences(folder.path(), &["diff", "m", "n"]), (1, vec!["removed z".to_owned()]));
}

#[test]
fn two_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, old, new) = (folder.path(), folder.path().join("old"), folder.path().join("new"));
    for side in [&old, &new] {
        write(side.join("same"), "same");
        write(side.join("sub/rotten"), if side == &old { "right" } else { "wrong" });
        write(side.join("changed"), if side == &old { "1" } else { "12" });
        write(side.join("ignored/index"), side.as_os_str().as_encoded_bytes());
    }
    write(old.join("letter"), "moved");
    write(new.join("Letter"), "moved");
    write(old.join("gone"), "gone");
    fs::create_dir(new.join("empty")).unwrap();
    let time = mtime(&old.join("sub/rotten"));
    File::options().write(true).open(new.join("sub/rotten")).unwrap().set_modified(time).unwrap();
    let expected = [
        "changed changed",
        "changed ignored/index",
        "touched same",
        "rotted sub/rotten",
        "removed gone",
        "moved letter Letter",
        "added empty",
    ];
    let without = |left_out: &[&str]| -> Vec<String> {
        expected.iter().filter(|line| !left_out.contains(line)).map(|line| (*line).to_owned()).collect()
    };
    let of = |arguments: &[&str]| {
        let (status, mut found) = differences(folder, arguments);
        found.retain(|line| !line.starts_with("touched"));
        (status, found)
    };
    let (whole, some) = (without(&["touched same"]), without(&["touched same", "changed ignored/index"]));
    assert_eq!(of(&["diff", "old", "new"]), (1, whole.clone()));
    done(folder, &["write", "old", "-q", "-o", "old.manifest", "-a", "sha1,blake3"]);
    assert_eq!(of(&["diff", "old.manifest", "new"]), (1, whole));
    // The manifest may lie in the folder, and its filters hold.
    done(folder, &["write", "new", "-q", "-o", "new/.manifest", "--exclude", "ignored/", "--max-size", "4"]);
    write(new.join("same"), "much longer");
    let found = of(&["diff", "new/.manifest", "new"]);
    assert_eq!(found, (1, vec!["changed same".to_owned()]));
    write(new.join("same"), "same");
    fs::rename(new.join(".manifest"), folder.join("new.manifest")).unwrap();
    let some: Vec<_> = some.into_iter().filter(|line| !line.contains("rotten") && !line.contains("letter")).collect();
    assert_eq!(of(&["diff", "old", "new.manifest"]), (1, some));

    let output = run(folder, &["diff", "old", "old"]);
    assert_eq!((status(&output), stdout(&output)), (2, ""));
    output.refused("old and old are the same folder");
    run(folder, &["diff", "old", "old/sub"]).refused("old/sub lies in old");
    run(folder, &["diff", "old/sub", "old"]).refused("old/sub lies in old");
    run(folder, &["diff", "old", "new", "--trusted-key", "key"]).refused("a folder has no signature");
    run(folder, &["diff", "old", "nothing"]).refused("nothing: No such file or directory");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("old", folder.join("link")).unwrap();
        run(folder, &["diff", "link", "old"]).refused("link and old are the same folder");
        std::os::unix::fs::symlink("same", old.join("link")).unwrap();
        make_fifo(old.join("fifo"));
    }
    fs::create_dir(folder.join("empty")).unwrap();
    let output = run(folder, &["diff", "old", "empty"]);
    output.ends(1).has("removed     letter\n");
    if cfg!(unix) {
        output.has("removed     link\n").has("1 left out that are neither file, link nor folder");
    }
    run(folder, &["diff", "empty", "empty/../new", "--quiet"]).is(1, "", "");
    done(folder, &["write", "old", "-q", "-o", "again.manifest"]);
    assert_eq!(differences(folder, &["diff", "old", "again.manifest"]), (0, vec![]));
}

/// A file that cannot be read on either side leaves the result open.
#[test]
#[cfg(unix)]
fn two_folders_of_which_one_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for side in ["a", "b"] {
        write(folder.path().join(side).join("file"), "x");
    }
    crate::common::mode(&folder.path().join("a/file"), 0);
    for (arguments, state) in [(["a", "b"], "unrecorded"), (["b", "a"], "unreadable")] {
        let output = crate::common::unprivileged(folder.path(), &["manifest", "diff", arguments[0], arguments[1]]);
        output.ends(2).has(state).says("a/file: Permission denied");
    }
}
