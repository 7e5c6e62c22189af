// SPDX-License-Identifier: MIT OR Apache-2.0

//! A system that runs out of resources: the program is right, or says what is wrong. No signal ends it.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{hashloom, stderr, stdout};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, symlinkat, unlinkat};

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
    for error in ["ENOMEM", "EBADR", "EOVERFLOW"] {
        // The first calls find out whether a ring can be set up at all.
        for first in [1, 2, 3, 4, 5, 6, 7, 12] {
            let inject = format!("inject=io_uring_enter:error={error}:when={first}+");
            let strace = ["strace", "-f", "-qq", "-o", "trace", "-e", "trace=io_uring_enter", "-e", &inject];
            let output = under(&strace, folder.path(), &arguments);
            assert_eq!(output.status.code(), Some(0), "{inject}: {}", stderr(&output));
            assert!(stdout(&output) == list, "{inject}");
        }
    }
    let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
    assert!(trace.contains("INJECTED") || !trace.contains("io_uring_enter"), "{trace}");
}

/// Bytes of a pipe that a failed ring has begun to read may be lost: then there is an error and no digest.
#[test]
fn a_pipe_is_read_whole_or_not_at_all() {
    let folder = content();
    let pipe = folder.path().join("small/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
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

#[test]
fn little_memory_is_an_error() {
    let folder = content();
    let commands: [&[&str]; 7] = [
        &["sum", "-r", "small", "long"],
        &["check", "list"],
        &["torrent", "verify", "long.torrent", "long"],
        &["torrent", "create", "-o", "/dev/null", "long"],
        &["manifest", "check", "manifest", "small"],
        &["tree", "bep52", "long"],
        &["digest", "-a", "sha256", "long"],
    ];
    let mut nfailed = 0;
    // A limit under which the loader or the kernel cannot start the program does not count.
    let limits: Vec<String> = (8..=60).step_by(4).map(|mib| format!("--as={}", mib << 20)).collect();
    let begins = |limit: &String| under(&["prlimit", limit], folder.path(), &["--version"]).status.success();
    let limits: Vec<(bool, &String)> = limits.iter().map(|limit| (begins(limit), limit)).collect();
    assert!(limits.iter().any(|(begins, _)| *begins));
    for command in commands {
        let expected = hashloom().current_dir(folder.path()).args(command).output().unwrap();
        for (begins, limit) in &limits {
            let threads: &[&str] = if command[0] == "digest" { &[] } else { &["--threads", "16"] };
            for threads in [&[], threads] {
                let output = under(&["prlimit", limit], folder.path(), &[command, threads].concat());
                let what = format!("{limit} {command:?} {threads:?}: {}", stderr(&output));
                match output.status.code() {
                    Some(0) => assert!(is_same(command, &output, &expected), "{what}"),
                    Some(2) if stderr(&output).contains("out of memory") => nfailed += 1,
                    // A call of the system or of the C library, such as the one that lists a folder.
                    Some(1 | 2) if stderr(&output).contains("Cannot allocate memory") => nfailed += 1,
                    // The C library has ended the program before it could.
                    None if stderr(&output).contains("Fatal glibc error") => nfailed += 1,
                    code => assert!(!begins, "{what}: {code:?}"),
                }
            }
        }
    }
    assert!(nfailed > 0);
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.starts_with(".hashloom")), "nothing half-written is left");
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

const NFOLDERS: usize = 60;

/// A folder `deep` with 60 folders, each in the one before, whose names have 200 letters: 12,000 bytes of path, and a
/// system call takes 4095.
struct Deep {
    folder: tempfile::TempDir,
    /// The paths and contents of all files, sorted.
    files: Vec<(String, String)>,
}

impl Deep {
    fn new() -> Deep {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        let mut deep = Deep { folder, files: Vec::new() };
        for level in 0..NFOLDERS {
            let (here, path) = deep.at(level);
            mkdirat(&here, name(level), Mode::from_raw_mode(0o755)).unwrap();
            let mut names = match level {
                // Enough for a ring, in one batch with the shorter paths of other files.
                2 | 58 => (0..40).map(|i| format!("file {i}")).collect(),
                30 => vec!["middle".to_owned()],
                // The names around the greatest length of a path: the folder's has 4025 bytes.
                20 => (60..80).map(|nbytes| "z".repeat(nbytes)).collect(),
                _ => Vec::new(),
            };
            if level == NFOLDERS - 1 {
                names.push("bottom".to_owned());
            }
            for name in names {
                deep.files.push((format!("{path}{name}"), format!("{level} {name}")));
                deep.write(level, &name, &format!("{level} {name}"));
            }
        }
        let (here, _) = deep.at(NFOLDERS);
        symlinkat("../bottom", &here, "link").unwrap();
        symlinkat("../..", &here, "up").unwrap();
        mkdirat(&here, "empty", Mode::from_raw_mode(0o755)).unwrap();
        deep.files.sort();
        deep
    }

    /// Opens the folder of a level, and returns its path, with a slash at the end.
    fn at(&self, level: usize) -> (OwnedFd, String) {
        let open = |folder: &OwnedFd, name: &str| openat(folder, name, OFlags::DIRECTORY, Mode::empty()).unwrap();
        let folder = openat(CWD, self.folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        let start = (open(&folder, "deep"), "deep/".to_owned());
        (0..level).fold(start, |(here, path), level| (open(&here, &name(level)), path + &name(level) + "/"))
    }

    fn write(&self, level: usize, name: &str, content: &str) {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = openat(self.at(level).0, name, flags, Mode::from_raw_mode(0o644)).unwrap();
        std::io::Write::write_all(&mut fs::File::from(file), content.as_bytes()).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = hashloom().current_dir(self.folder.path()).args(arguments).output().unwrap();
        (output.status.code(), stdout(&output).to_owned(), stderr(&output).to_owned())
    }

    /// The list that `sum` prints.
    fn list(&self) -> String {
        let line = |(path, content): &(String, String)| {
            format!("{}  {path}\n", hashloom::hash(hashloom::Algorithm::Sha256, content.as_bytes()))
        };
        self.files.iter().map(line).collect()
    }
}

/// The name of the folder in the folder of a level: letters that change from level to level.
fn name(level: usize) -> String {
    char::from(b'a' + (level % 26) as u8).to_string().repeat(200)
}

#[test]
fn sum_and_check_reach_files_at_any_depth() {
    let deep = Deep::new();
    assert!(deep.files.iter().any(|(path, _)| path.len() == 4095));
    assert!(deep.files.iter().any(|(path, _)| path.len() == 4096));
    let list = deep.list();
    for threads in ["1", "3"] {
        assert_eq!(deep.run(&["sum", "-r", "--threads", threads, "deep"]), (Some(0), list.clone(), String::new()));
    }
    let under = under(&["prlimit", "--nofile=24"], deep.folder.path(), &["sum", "-r", "deep"]);
    assert_eq!((stdout(&under), stderr(&under)), (&*list, ""), "few files may be open");

    // A list of names, a part of the tree by its path, and a filter by length.
    let names: String = deep.files.iter().map(|(path, _)| format!("{path}\0")).collect();
    fs::write(deep.folder.path().join("names"), names).unwrap();
    assert_eq!(deep.run(&["sum", "--files0-from", "names"]), (Some(0), list.clone(), String::new()));
    let (_, bottom) = deep.at(NFOLDERS - 2);
    let lines: String = list.split_inclusive('\n').filter(|line| line.contains(&bottom)).map(str::to_owned).collect();
    assert_eq!(lines.lines().count(), 41);
    let bottom = bottom.trim_end_matches('/');
    assert_eq!(deep.run(&["sum", "-r", bottom]), (Some(0), lines, String::new()));
    let (code, found, errors) = deep.run(&["sum", "-r", "--min-size", "12", "--max-size", "70", "deep"]);
    let has_length = |content: &str| (12..=70).contains(&content.len());
    let nwanted = deep.files.iter().filter(|(_, content)| has_length(content)).count();
    assert_eq!((code, found.lines().count(), &*errors), (Some(0), nwanted, ""));

    fs::write(deep.folder.path().join("list"), &list).unwrap();
    let right: String = deep.files.iter().map(|(path, _)| format!("{path}: OK\n")).collect();
    assert_eq!(deep.run(&["check", "list"]), (Some(0), right, String::new()));
    deep.write(NFOLDERS - 1, "bottom", "59 Bottom");
    unlinkat(deep.at(30).0, "middle", AtFlags::empty()).unwrap();
    let (code, found, errors) = deep.run(&["check", "--quiet", "list"]);
    let lines: Vec<(usize, &str)> =
        found.lines().map(|line| line.split_once(": ").unwrap()).map(|(path, state)| (path.len(), state)).collect();
    assert_eq!(
        (code, lines),
        (Some(1), vec![(5 + 60 * 201 - 201 + 6, "FAILED"), (5 + 30 * 201 + 6, "FAILED open or read")])
    );
    assert!(errors.contains("middle: No such file or directory"), "{errors}");
    deep.folder.close().unwrap();
}

#[test]
fn links_at_any_depth_are_followed() {
    let deep = Deep::new();
    let (code, found, errors) = deep.run(&["sum", "-rL", "deep"]);
    let (_, bottom) = deep.at(NFOLDERS);
    let (_, above) = deep.at(NFOLDERS - 2);
    let digest = hashloom::hash(hashloom::Algorithm::Sha256, b"59 bottom");
    assert_eq!((code, found.lines().count()), (Some(1), deep.files.len() + 1));
    assert!(found.contains(&format!("{digest}  {bottom}link\n")));
    let above = above.trim_end_matches('/');
    assert_eq!(errors, format!("hashloom: {bottom}up: a link to {above}, the folder it is in\n"));
    deep.folder.close().unwrap();
}

#[test]
fn manifests_reach_files_at_any_depth() {
    let deep = Deep::new();
    let (code, _, errors) = deep.run(&["manifest", "write", "deep", "-o", "manifest"]);
    assert_eq!((code, &*errors), (Some(0), ""));
    let manifest = fs::read_to_string(deep.folder.path().join("manifest")).unwrap();
    let lines = |what: &str| manifest.lines().filter(|line| line.contains(what)).count();
    let counts = [r#""type":"file""#, r#""type":"folder""#, r#""type":"link""#].map(lines);
    assert_eq!(counts, [deep.files.len(), NFOLDERS + 1, 2]);
    for (path, content) in &deep.files {
        let digest = hashloom::hash(hashloom::Algorithm::Sha256, content.as_bytes()).to_string();
        let path = format!("\"{}\"", path.strip_prefix("deep/").unwrap());
        assert!(manifest.lines().any(|line| line.contains(&path) && line.contains(&digest)), "{path}");
    }
    let (code, shown, errors) = deep.run(&["manifest", "write", "deep", "-o", "again", "--update", "manifest"]);
    assert_eq!((code, &*errors), (Some(0), ""));
    assert!(shown.contains(&format!("{} files taken over", deep.files.len())), "{shown}");
    assert_eq!(fs::read_to_string(deep.folder.path().join("again")).unwrap(), manifest);

    for options in [&["--resume", "state"][..], &["--quick"], &[]] {
        let (code, shown, errors) = deep.run(&[&["manifest", "check", "manifest", "deep"], options].concat());
        assert_eq!((code, &*errors), (Some(0), ""), "{options:?}: {shown}");
    }
    deep.write(NFOLDERS - 1, "bottom", "59 Bottom");
    unlinkat(deep.at(30).0, "middle", AtFlags::empty()).unwrap();
    unlinkat(deep.at(NFOLDERS).0, "link", AtFlags::empty()).unwrap();
    symlinkat("up", deep.at(NFOLDERS).0, "link").unwrap();
    let (code, shown, errors) = deep.run(&["manifest", "check", "manifest", "deep", "--json"]);
    assert_eq!((code, &*errors), (Some(1), ""));
    let lines = shown.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let states: Vec<String> = lines
        .filter_map(|line| Some(format!("{} {}", line["status"].as_str()?, line["path"].as_str()?.rsplit('/').next()?)))
        .collect();
    assert_eq!(states, ["changed bottom", "changed link", "removed middle"]);
    deep.folder.close().unwrap();
}

/// Compares outputs, except of commands whose summary tells the time taken.
fn is_same(command: &[&str], output: &Output, expected: &Output) -> bool {
    match command[0] {
        "torrent" | "manifest" => output.status == expected.status,
        _ => output.stdout == expected.stdout,
    }
}
