// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom manifest log`. test/manifest.py ends runs at each of their system calls.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{Ran, hashloom, mode, status, stdout};

fn manifest(folder: &Path, arguments: &[&str]) -> Output {
    hashloom().current_dir(folder).arg("manifest").args(arguments).output().unwrap()
}

fn log(folder: &Path, arguments: &[&str]) -> Output {
    manifest(folder, &[&["log"], arguments].concat())
}

/// A folder with minisign's keys, and manifests m1 to m9.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["minisign.key", "minisign.pub", "password.pub"] {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign");
        fs::copy(vectors.join(name), path.join(name)).unwrap();
        mode(&path.join(name), 0o600);
    }
    fs::create_dir(path.join("tree")).unwrap();
    for number in 1..=9 {
        fs::write(path.join(format!("tree/{number}")), "").unwrap();
        assert_eq!(status(&manifest(path, &["write", "-q", "tree", "-o", &format!("m{number}")])), 0);
    }
    folder
}

fn add(folder: &Path, number: usize) -> Output {
    let new: &[&str] = if folder.join("log").exists() { &[] } else { &["--new"] };
    log(folder, &[&["add", "log", &format!("m{number}"), "--sign", "minisign.key"], new].concat())
}

fn check(folder: &Path, manifest: &str) -> Output {
    log(folder, &["check", "log", manifest, "--trusted-key", "minisign.pub"])
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_newest_is_told_from_those_before() {
    let folder = folder();
    let folder = folder.path();
    for number in 1..=3 {
        add(folder, number).done().begins(&format!("m{number}: entry {number} of log\nhead: {number}:"));
        fs::copy(folder.join("log"), folder.join(format!("log{number}"))).unwrap();
    }
    let output = check(folder, "m3").done();
    let head = stdout(&output).lines().nth(1).unwrap();
    output.begins("newest: m3 is entry 3 of 3, added at 20");
    assert!(head.starts_with("head: 3:") && head.ends_with(", signed by C0371020E1BC610F"), "{head}");
    check(folder, "m1")
        .ends(1)
        .begins("rollback: m1 is entry 1 of 3, added at 20")
        .has("; the newest is entry 3 of 3, added at 20");
    let output = check(folder, "m4");
    assert_eq!((status(&output), &stdout(&output)[..18]), (1, "not in the log: m4"));
    // What is the newest already is not added again; what is put back on purpose is.
    let before = read(folder, "log");
    assert!(stdout(&add(folder, 3)).starts_with("m3: already the newest entry 3 of log\n"));
    assert_eq!(read(folder, "log"), before);
    assert_eq!(status(&log(folder, &["add", "log", "m1", "--sign", "minisign.key", "--comment", "a\tz\u{202e}"])), 0);
    let output = check(folder, "m1");
    assert_eq!(status(&output), 0);
    output.has(r"(a\x09z\u{202e})");
    assert_eq!(status(&check(folder, "m3")), 1);

    let prove = |arguments: &[&str]| {
        let output = log(folder, &[&["prove"], arguments].concat());
        (status(&output), stdout(&output).lines().last().unwrap_or_default().to_owned())
    };
    let trusted = ["--trusted-key", "minisign.pub"];
    let expected = "consistent: log is log1 and 3 entries more; no signature was checked";
    assert_eq!(prove(&["log1", "log"]), (0, expected.to_owned()));
    let expected = "consistent: log is log and 0 entries more; both signed by C0371020E1BC610F";
    assert_eq!(prove(&[&["log", "log"], &trusted[..]].concat()), (0, expected.to_owned()));
    let expected = "inconsistent: log2 lacks entry 3 of log; both signed by C0371020E1BC610F";
    assert_eq!(prove(&[&["log", "log2"], &trusted[..]].concat()), (1, expected.to_owned()));
    // A log that was begun anew.
    fs::rename(folder.join("log"), folder.join("right")).unwrap();
    fs::copy(folder.join("log1"), folder.join("log")).unwrap();
    assert_eq!(status(&add(folder, 5)), 0);
    let expected = "inconsistent: log has another entry 2 of right; no signature was checked";
    assert_eq!(prove(&["right", "log"]), (1, expected.to_owned()));
    // The root is that of RFC 6962 over the lines.
    let lines: String =
        read(folder, "right").lines().filter(|line| line.starts_with("{\"d")).map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("lines"), lines).unwrap();
    let root = hashloom().current_dir(folder).args(["tree", "rfc6962", "root", "--lines", "lines"]).output().unwrap();
    let head = format!("head {}", stdout(&root).trim_end().replacen("  ", ":", 1));
    assert!(stdout(&log(folder, &["prove", "right", "right"])).contains(&head), "{head}");
}

/// Whatever is wrong: exit status 2, no verdict, and nothing is written.
#[test]
fn what_is_wrong_is_an_error() {
    let folder = folder();
    let folder = folder.path();
    for number in 1..=2 {
        assert_eq!(status(&add(folder, number)), 0);
    }
    let right = read(folder, "log");
    let refused = |output: Output, why: &str| {
        output.refused(why);
    };
    let bad = |content: &[u8], why: &str| {
        fs::write(folder.join("log"), content).unwrap();
        refused(check(folder, "m2"), why);
        refused(add(folder, 3), why);
        assert_eq!(fs::read(folder.join("log")).unwrap(), content);
        fs::write(folder.join("log"), &right).unwrap();
    };
    let first = right.lines().nth(1).unwrap();
    bad(b"", "this is not a log of manifests");
    bad(&fs::read(folder.join("m1")).unwrap(), "this is not a log of manifests");
    bad(right.replacen("\"version\":1", "\"version\":2", 1).as_bytes(), "this is not a log of manifests");
    bad(right.replacen(&format!("{first}\n"), "", 1).as_bytes(), "the signature of the log is wrong");
    bad(right.replacen(first, &format!("{first}\n{first}"), 1).as_bytes(), "the signature of the log is wrong");
    bad(right.replacen("{\"date\":", "{\"date\": ", 1).as_bytes(), "line 2: it is not written as hashloom writes it");
    bad(right.replacen("{\"date\":\"2", "{\"date\":\"x", 1).as_bytes(), "line 2: expected a date such as");
    bad(right.replacen("\"sha256\":\"", "\"sha256\":\"0", 1).as_bytes(), "line 2: expected a SHA-256");
    bad(right.replacen("\"sha256\"", "\"sha1\"", 1).as_bytes(), "line 2: unknown field");
    bad(right.replacen("untrusted", "{", 1).as_bytes(), "line 4: ");
    let lines: Vec<&str> = right.lines().collect();
    bad((lines[..3].join("\n") + "\n").as_bytes(), "expected one signature after the entries");
    bad(lines[..3].join("\n").as_bytes(), "line 3: it is cut off");
    bad((right.clone() + &lines[3..].join("\n")).as_bytes(), "expected one signature");
    bad([right.as_bytes(), b"\xff"].concat().as_slice(), "expected one signature");
    bad([lines[0], "\n", &" ".repeat(17 << 20)].concat().as_bytes(), "expected a log of up to 16777216 bytes");
    refused(log(folder, &["check", "log", "m2", "--trusted-key", "password.pub"]), "it is not one by the key");
    refused(check(folder, "missing"), "missing: No such file");
    refused(log(folder, &["check", "missing", "m2", "--trusted-key", "minisign.pub"]), "missing: No such file");
    refused(log(folder, &["prove", "log", "m1"]), "m1: this is not a log of manifests");
    let comment = "x".repeat(1001);
    let add_as = |manifest: &str, comment: &str| {
        log(folder, &["add", "log", manifest, "--sign", "minisign.key", "--comment", comment])
    };
    refused(add_as("m3", &comment), "--comment: expected a comment of up to 1000 bytes");
    assert_eq!(status(&add_as("m3", &comment[1..])), 0);
    fs::write(folder.join("log"), &right).unwrap();
    // Only a manifest that is whole.
    let manifest = read(folder, "m3");
    fs::write(folder.join("cut"), &manifest[..manifest.len() - 10]).unwrap();
    refused(add_as("cut", ""), "cut: line ");
    refused(add_as("log", ""), "log: line 1: this is not a manifest");
    refused(log(folder, &["add", "tree", "m3", "--sign", "minisign.key"]), "tree: ");
    assert_eq!(read(folder, "log"), right);
    refused(log(folder, &["add", "no/log", "m3", "--sign", "minisign.key", "--new"]), "no/log: ");
    // A log that was put away, or has another name, is not begun again without a word.
    let new = |log_name: &str, more: &[&str]| {
        log(folder, &[&["add", log_name, "m3", "--sign", "minisign.key"], more].concat())
    };
    refused(new("lgo", &[]), "lgo: there is no log: give its right name, or begin it with --new");
    refused(new("log", &["--new"]), "log: it exists: leave out --new to add to it");
    assert!(!folder.join("lgo").exists() && read(folder, "log") == right);
}

/// A signature that lies beside a manifest is checked: what has changed since does not get into the log.
#[test]
fn a_wrong_signature_is_not_logged() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(status(&manifest(folder, &["write", "tree", "-o", "m", "--sign", "minisign.key", "-q"])), 0);
    let add = |more: &[&str]| log(folder, &[&["add", "log", "m", "--sign", "minisign.key"], more].concat());
    let signature = read(folder, "m.minisig");
    let other =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign/manifest.minisig")).unwrap();
    for wrong in [&other[..], b"", b"x"] {
        fs::write(folder.join("m.minisig"), wrong).unwrap();
        add(&["--new"]).refused("m.minisig: ");
    }
    fs::remove_file(folder.join("m.minisig")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("m.minisig")).unwrap();
    add(&["--new"]).refused("m.minisig: No such file");
    assert!(!folder.join("log").exists());
    fs::remove_file(folder.join("m.minisig")).unwrap();
    fs::write(folder.join("m.minisig"), &signature).unwrap();
    add(&["--new"]).done().begins("signed by C0371020E1BC610F: ").has("\nm: entry 1 of log\n");
    // Another manifest that is right in itself.
    fs::copy(folder.join("m3"), folder.join("m")).unwrap();
    add(&[])
        .refused("m.minisig: the signature is wrong: it is not one of this content, or its comment was changed: check");
    check(folder, "m").ends(1).begins("not in the log: m");
    let key = read(folder, "minisign.key");
    let place = key.find('\n').unwrap() + 1 + 72;
    fs::write(folder.join("other.key"), [&key[..place], "AAAA", &key[place + 4..]].concat()).unwrap();
    mode(&folder.join("other.key"), 0o600);
    let by_other = log(folder, &["add", "log2", "m", "--new", "--sign", "other.key"]);
    by_other.refused("m.minisig: the signature is wrong: it is not one by the key");
}

/// Several runs at once: each entry is there.
#[test]
fn no_entry_is_lost() {
    let folder = folder();
    let folder = folder.path();
    for _ in 0..3 {
        let _ = fs::remove_file(folder.join("log"));
        add(folder, 1).done();
        std::thread::scope(|scope| {
            for number in 2..=9 {
                scope.spawn(move || {
                    add(folder, number).done();
                });
            }
        });
        let entries = read(folder, "log").lines().filter(|line| line.starts_with("{\"date")).count();
        let in_log = |number: &usize| stdout(&check(folder, &format!("m{number}"))).contains(" of 9, added");
        assert_eq!((entries, (1..=9).filter(in_log).count()), (9, 9));
    }
    // Through a link, whose target is replaced.
    fs::create_dir(folder.join("other")).unwrap();
    fs::rename(folder.join("log"), folder.join("other/log")).unwrap();
    std::os::unix::fs::symlink("other/log", folder.join("log")).unwrap();
    fs::write(folder.join("tree/10"), "").unwrap();
    assert_eq!(status(&manifest(folder, &["write", "-q", "tree", "-o", "m10"])), 0);
    assert_eq!(status(&add(folder, 10)), 0);
    assert!(folder.join("log").is_symlink());
    assert_eq!(status(&check(folder, "m10")), 0);
}
