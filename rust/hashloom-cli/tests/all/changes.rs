// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that change all the time: every command says so, and none exits with status 0.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use crate::common::{Ran, hashloom, slow, status, stderr, stdout, while_it_changes};
use serde_json::Value;

const NBYTES: usize = 16 << 20;

/// Makes a folder with the long file `f`, the short file `g`, and a list and a torrent of both.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..NBYTES as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    fs::create_dir(folder.path().join("c")).unwrap();
    fs::write(folder.path().join("c/f"), &bytes).unwrap();
    fs::write(folder.path().join("c/g"), &bytes[..300_000]).unwrap();
    let sums = at_rest(folder.path(), &["sum", "c/f", "c/g"]);
    fs::write(folder.path().join("SUMS"), &sums.stdout).unwrap();
    at_rest(folder.path(), &["torrent", "create", "c", "--hybrid", "-l", "64K", "-o", "c.torrent"]);
    folder
}

fn at_rest(folder: &Path, arguments: &[&str]) -> Output {
    let output = hashloom().current_dir(folder).args(arguments).output().unwrap();
    assert_eq!(status(&output), 0, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    output
}

/// Runs while the file changes, again if the program has seen no change: on a busy machine the writer may stand still
/// as long as the program runs.
fn while_changing(path: &Path, run: &dyn Fn() -> Output) -> Output {
    (0..5).map(|_| while_it_changes(path, run)).find(|output| status(output) != 0).unwrap()
}

/// A list or manifest says what is to be checked. If it changes during the check, nobody knows what was left out.
#[test]
fn a_list_that_changes_while_it_is_read() {
    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    at_rest(folder.path(), &["manifest", "write", "c", "-o", "M", "--quiet"]);
    // More lines than are read between two changes.
    fs::write(place("e"), "").unwrap();
    let sums = at_rest(folder.path(), &["sum", "e"]);
    fs::write(place("SUMS"), stdout(&sums).repeat(10_000)).unwrap();
    fs::write(place("names"), "e\0".repeat(10_000)).unwrap();
    let why = "changed while it was read; run again when nothing writes to it";
    for (arguments, name, expected) in [
        (&["check", "--quiet", "SUMS"][..], "SUMS", 2),
        (&["check", "--quiet", "-"], "SUMS", 2),
        (&["sum", "--known", "SUMS", "e"], "SUMS", 2),
        (&["sum", "--files0-from", "names"], "names", 1),
        (&["manifest", "check", "M", "c"], "M", 2),
        (&["manifest", "write", "c", "--update", "M"], "M", 2),
    ] {
        // Nothing but a time changes, so that only the rule can notice.
        let output = while_changing(&place(name), &|| {
            let stdin = fs::File::open(place(name)).unwrap();
            slow().current_dir(folder.path()).args(arguments).stdin(stdin).output().unwrap()
        });
        assert_eq!(status(&output), expected, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
        assert!(!stdout(&output).contains("as written"), "{arguments:?}: {}", stdout(&output));
    }
    // As sha256sum it has coreutils' words and status.
    while_changing(&place("SUMS"), &|| {
        slow().current_dir(folder.path()).arg0("sha256sum").args(["-c", "--quiet", "SUMS"]).output().unwrap()
    })
    .ends(1)
    .tells("sha256sum: SUMS: read error\n");
    // A list at rest is as before.
    at_rest(folder.path(), &["check", "--quiet", "SUMS"]);
}

#[test]
fn sums_of_a_file_that_changes() {
    let folder = folder();
    let path = folder.path().join("c/f");
    let run = |arguments: &[&str]| {
        while_changing(&path, &|| slow().current_dir(folder.path()).args(arguments).output().unwrap())
    };
    let why = "c/f: the file changes while it is read; try again when nothing writes to it";

    let output = run(&["sum", "c/f", "c/g"]);
    output.ends(2).tells(&format!("hashloom: {why}\n"));
    assert!(stdout(&output).ends_with("  c/g\n") && stdout(&output).lines().count() == 1, "{}", stdout(&output));

    let output = run(&["check", "SUMS"]);
    output.ends(2).prints("c/f: UNSTABLE\nc/g: OK\n");
    let warning = "hashloom: WARNING: 1 listed file changed each time that it was read\n";
    assert_eq!(stderr(&output), format!("hashloom: {why}\n{warning}"));

    let output = run(&["check", "--json", "SUMS"]);
    assert_eq!(status(&output), 2);
    let object: Value = serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
    assert_eq!((&object["path"], &object["state"]), (&"c/f".into(), &"unstable".into()));

    let sums = fs::read_to_string(folder.path().join("SUMS")).unwrap();
    let output = run(&["sum", "--expect", &sums[..64], "c/f"]);
    output.ends(2).is(2, "c/f: UNSTABLE\n", &format!("hashloom: {why}\n"));

    // coreutils says the same of a file that cannot be read.
    let called = |arguments: &[&str]| {
        let run = || slow().arg0("sha256sum").current_dir(folder.path()).args(arguments).output().unwrap();
        while_changing(&path, &run)
    };
    let output = called(&["c/f", "c/g"]);
    output.ends(1).tells(&format!("sha256sum: {why}\n"));
    assert_eq!(stdout(&output).lines().count(), 1);
    let output = called(&["-c", "SUMS"]);
    output.ends(1).prints("c/f: FAILED open or read\nc/g: OK\n");
    let warning = "sha256sum: WARNING: 1 listed file could not be read\n";
    assert_eq!(stderr(&output), format!("sha256sum: {why}\n{warning}"));

    at_rest(folder.path(), &["check", "SUMS"]);
}

#[test]
fn a_torrent_of_a_file_that_changes() {
    let folder = folder();
    let path = folder.path().join("c/f");
    let run = |arguments: &[&str]| {
        while_changing(&path, &|| {
            let mut command = slow();
            command.current_dir(folder.path()).args(["torrent", "verify"]).args(arguments).output().unwrap()
        })
    };
    let told =
        "hashloom: 1 file changed each of the three times that it was checked. Check again when nothing writes there\n";
    let output = run(&["c.torrent", ".", "--map", "--bitfield", "bits", "--resume", "state"]);
    output.ends(2).tells(told);
    let text = stdout(&output);
    assert!(text.contains("\n  f changed each time that it was checked\n"), "{text}");
    assert!(text.contains("\n  unstable   256 pieces") && text.contains("\n  have         5 pieces"), "{text}");
    assert!(text.contains("% unstable") || text.contains("≠ unstable"), "{text}");
    assert!(text.contains("\nnot complete: 5 of 261 pieces"), "{text}");
    let bits: u32 = fs::read(folder.path().join("bits")).unwrap().iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(bits, 5);

    let output = run(&["c.torrent", ".", "--json"]);
    assert_eq!(status(&output), 2);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["complete"], &json["pieces"]["unstable"]), (&false.into(), &256.into()));
    assert_eq!((&json["pieces"]["have"], &json["bytes"]["unstable"]), (&5.into(), &NBYTES.into()));
    assert_eq!((&json["files"][0]["state"], &json["ranges"][0]["state"]), (&"unstable".into(), &"unstable".into()));

    run(&["c.torrent", ".", "--repair-list"]).ends(2).prints(&format!("unstable\t0\t{}\t./c/f\n", NBYTES - 1));
    let output = run(&["c.torrent", ".", "--missing"]);
    assert!(status(&output) == 2 && stdout(&output).contains("pieces 0-255  unstable  "), "{}", stdout(&output));

    // A client is told nothing of the unstable pieces.
    run(&["c.torrent", ".", "-q", "--libtorrent", "c.fastresume", "--transmission", "c.resume"]).ends(2);
    let claimed = ["torrent", "verify", "c.torrent", ".", "--claimed", "c.fastresume"];
    at_rest(folder.path(), &claimed).has("claimed    5 of 261 pieces");
    let output = at_rest(folder.path(), &["torrent", "verify", "c.torrent", ".", "--claimed", "c.resume"]);
    // The last piece ends in a padding file, which Transmission expects on the disk.
    output.has("claimed    4 of 261 pieces");

    at_rest(folder.path(), &["torrent", "verify", "c.torrent", "."]);
}
