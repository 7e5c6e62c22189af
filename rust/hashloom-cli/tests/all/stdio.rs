// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard input, output and error that are closed, open in the wrong direction, or full. Every command that would
//! read or write there fails, and nothing else is touched. test/coreutils.py compares the programs of coreutils.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{hashloom, status, stderr, stdout};
use tempfile::TempDir;

/// Runs the program with redirections of the shell. `@` before the command marks the name that the program is called
/// by.
fn run(folder: &Path, arguments: &[&str], streams: &str) -> Output {
    let hashloom = hashloom();
    let (name, arguments) = match arguments.split_first() {
        Some((first, rest)) if first.starts_with('@') => (&first[1..], rest),
        _ => ("hashloom", arguments),
    };
    fs::create_dir_all(folder.join("bin")).unwrap();
    let called = folder.join("bin").join(name);
    if !called.exists() {
        std::os::unix::fs::symlink(hashloom.get_program(), &called).unwrap();
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec \"$0\" \"$@\" {streams}")).arg(called).args(arguments);
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").current_dir(folder).stdin(Stdio::null());
    // A process group of its own, so that it never waits for a terminal.
    command.process_group(0).output().unwrap()
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(path.join(name), bytes).unwrap();
    write("abc", b"abc");
    write("image", &[7; 8192]);
    write("key", b"Jefe");
    #[cfg(unix)]
    fs::set_permissions(path.join("key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    write("key.hex", b"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\n");
    write("list", b"a9993e364706816aba3e25717850c26c9cd0d89d  abc\n");
    fs::create_dir(path.join("dir")).unwrap();
    write("dir/file", b"abc");
    for (arguments, into) in [
        (&["torrent", "create", "-q", "-o", "t.torrent", "abc"][..], None),
        (&["manifest", "write", "-q", "-o", "m", "dir"], None),
        (&["tree", "dmverity", "format", "image", "hashes"], Some("format")),
        (&["tree", "rfc6962", "prove-inclusion", "0", "abc", "key"], Some("proof")),
    ] {
        let output = run(path, arguments, "");
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
        if let Some(into) = into {
            write(into, &output.stdout);
        }
    }
    folder
}

/// The words of each command of a list; `|` is between commands.
fn commands(list: &str) -> impl Iterator<Item = Vec<&str>> {
    list.split('|').map(|command| command.split_whitespace().collect())
}

/// Commands that print to standard output if all is well.
const PRINTING: &str = "\
    --help | -h | --version | help torrent verify | torrent --help | torrent create --help | \
    torrent create -f -o new.torrent abc | torrent create -f --json -o new.torrent abc | \
    torrent create -f --dry-run -o new.torrent abc | torrent show t.torrent | torrent show --json t.torrent | \
    torrent verify t.torrent | torrent verify --json t.torrent | sum abc | sum --json abc | sum | check list | \
    check --json list | manifest write dir | manifest write --force -o new dir | manifest check m dir | \
    manifest check --json m dir | manifest diff m m | manifest diff --json m m | digest -a sha1 abc | digest -l | \
    digest --help | mac -a sha1_hmac -k key abc | mac -l | tree fsverity abc | tree bep52 --json abc | \
    tree s3 abc | tree bep52 - | tree dmverity format --force image new | tree rfc6962 root abc | \
    tree rfc6962 prove-inclusion 0 abc key | address key.hex | address --hash160 key.hex | work --zero-bits 4 | \
    work --zero-bits 4 --all --range 0..99 --json | kernels | kernels --json | \
    generate completions bash | @digest -a sha1 abc | @digest --help | @digest --version | @mac -l | @mac --help | \
    @sha256sum abc | @sha256sum --help | @sha256sum --version | \
    bench -a sha1 -s 64 --rounds 1 --time 1us --no-openssl";

/// Commands that read standard input.
const READING: &str = "\
    sum | sum - | sum -a sha1,sha256 abc - | check | check - | digest -a sha1 | mac -a sha1_hmac -k key | \
    mac -a sha1_hmac -k /dev/stdin abc | tree fsverity - | tree s3 - | tree bep52 - | \
    tree rfc6962 root - | tree rfc6962 root --lines - | tree rfc6962 check - | address | address --from-secret | \
    address --decode - | sum /dev/stdin | torrent show /dev/stdin | tree fsverity /dev/stdin | @digest -a sha1 | \
    @mac -a sha1_hmac -k key | @sha256sum | @sha256sum -c | @sha256sum /dev/stdin";

const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = folder();
    for arguments in commands(PRINTING) {
        let whole = run(folder.path(), &arguments, "");
        assert_eq!((status(&whole), stdout(&whole).is_empty()), (0, false), "{arguments:?}: {}", stderr(&whole));
        for streams in [">&-", "1</dev/null", "<&- >&-", ">/dev/full"] {
            // Skip commands that read the closed input.
            if streams.starts_with("<&-") && (arguments == ["sum"] || arguments.last() == Some(&"-")) {
                continue;
            }
            if streams == ">/dev/full" && !Path::new("/dev/full").exists() {
                continue;
            }
            let output = run(folder.path(), &arguments, streams);
            let reason = if streams == ">/dev/full" { "No space left on device" } else { "Bad file descriptor" };
            let message = stderr(&output);
            let is_said = message.contains(&format!("standard output: {reason}")) || message.contains(": write error");
            assert!(is_said, "{arguments:?} {streams}: {message}");
            assert!(matches!(status(&output), 1 | 2), "{arguments:?} {streams}: {}", status(&output));
        }
        // Nothing can be printed, but the exit status tells.
        let output = run(folder.path(), &arguments, ">&- 2>&-");
        assert!(matches!(status(&output), 1 | 2), "{arguments:?}: {}", status(&output));
    }
}

#[test]
fn input_that_cannot_be_read_is_an_error() {
    let folder = folder();
    for arguments in commands(READING) {
        let is_named = arguments.contains(&"/dev/stdin");
        for streams in ["<&-", "0>/dev/null", "<&- 2>&-"] {
            // By its name, /dev/null is opened once more, for reading.
            if is_named && streams.starts_with("0>") {
                continue;
            }
            let output = run(folder.path(), &arguments, streams);
            assert!(matches!(status(&output), 1 | 2), "{arguments:?} {streams}: {}", status(&output));
            assert!(!stdout(&output).contains(NOTHING) && !stdout(&output).contains("da39a3ee"), "{arguments:?}");
            if !streams.contains("2>") && !is_named {
                let is_said = stderr(&output).contains("Bad file descriptor") || stderr(&output).contains("read error");
                assert!(is_said, "{arguments:?} {streams}: {}", stderr(&output));
            }
        }
    }
}

#[test]
fn what_says_nothing_does_not_need_an_output() {
    let folder = folder();
    let quiet = "check --status list | check --quiet list | torrent verify --quiet t.torrent | \
        torrent create -q -f -o new.torrent abc | manifest write -q --force -o new dir | manifest check -q m dir | \
        generate man pages | @sha1sum -c --status list";
    for arguments in commands(quiet) {
        for streams in ["<&- >&- 2>&-", ">/dev/full", "<&-"] {
            let output = run(folder.path(), &arguments, streams);
            assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?} {streams}");
        }
    }
}

/// Four programs share one pipe, as with `xargs -P4`. Each writes more than the pipe takes at once.
#[test]
fn programs_that_share_a_pipe_do_not_tear_lines() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a name that makes lines long ".repeat(4);
    fs::create_dir(folder.path().join("files")).unwrap();
    for i in 0..2000 {
        fs::write(folder.path().join("files").join(format!("{name}{i}")), "abc").unwrap();
    }
    for (arguments, end) in [
        ("sum -r -a sha1 files", b'\n'),
        ("sum -r -a sha1 --json files", b'\n'),
        ("sum -r -a sha1 -z files", 0),
        ("tree bep52 --json files/*", b'\n'),
    ] {
        let mut alone = Command::new("sh");
        alone.arg("-c").arg(format!("\"$0\" {arguments}")).arg(hashloom().get_program()).current_dir(folder.path());
        let alone = alone.output().unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("for i in 1 2 3 4; do \"$0\" {arguments} & done; wait"));
        command.arg(hashloom().get_program()).current_dir(folder.path()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // Small reads leave the pipe full.
        let (mut out, mut bytes, mut part) = (child.stdout.take().unwrap(), Vec::new(), [0; 3000]);
        loop {
            match out.read(&mut part).unwrap() {
                0 => break,
                nbytes => bytes.extend_from_slice(&part[..nbytes]),
            }
        }
        assert!(child.wait().unwrap().success());
        let expected: HashSet<&[u8]> = alone.stdout.split(|&byte| byte == end).collect();
        let lines: Vec<&[u8]> = bytes.split(|&byte| byte == end).collect();
        assert_eq!(lines.len(), 4 * 2000 + 1, "{arguments}");
        for line in lines {
            assert!(expected.contains(line), "{arguments}: {}", String::from_utf8_lossy(line));
        }
    }
}
