// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent edit` as a person or a script does.
#![cfg_attr(not(unix), allow(unused_imports, reason = "some tests are for Unix only"))]

use std::fs;
use std::path::Path;
use std::process::Output;

#[cfg(target_os = "linux")]
use crate::common::peak_kib_of;
use crate::common::{Ran, hashloom, make_fifo, status, stderr, stdout};
use hashloom_torrent::Torrent;
use serde_json::{Value, json};

/// The piece digests of a file of 3 bytes.
const INFO: &str = "6:lengthi3e4:name5:f.bin12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaa";

/// Returns a torrent of version 1 with these keys around `info`.
fn torrent(before: &str, after: &str) -> String {
    format!("d{before}4:infod{INFO}e{after}e")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = hashloom();
    command.current_dir(folder).env_remove("SOURCE_DATE_EPOCH").args(["torrent", "edit"]);
    command.args(arguments).output().unwrap()
}

/// Edits `bytes` in place. Returns the new bytes and the output.
#[track_caller]
fn edited(bytes: impl AsRef<[u8]>, arguments: &[&str]) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.torrent");
    fs::write(&path, bytes).unwrap();
    let output = run(folder.path(), &[&["a.torrent"], arguments].concat());
    assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    (fs::read(&path).unwrap(), stdout(&output).to_owned())
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, arguments: &[&str], part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.torrent");
    fs::write(&path, &bytes).unwrap();
    run(folder.path(), &[&["a.torrent"], arguments].concat()).refused(part);
    assert_eq!(fs::read(&path).unwrap(), bytes.as_ref());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn only_named_keys_change() {
    // Not canonical: unsorted keys, an unknown key, bytes after the end.
    let odd = |announce: &str| format!("d7:unknownli1ei02ee{announce}4:infod{INFO}3:badd1:xi-0eee3:endi1ee, then more");
    let url = "8:announce15:udp://a.test:80";
    let (bytes, output) = edited(odd(url), &["-t", "udp://b.test:80"]);
    assert_eq!(String::from_utf8(bytes).unwrap(), odd("8:announce15:udp://b.test:80"));
    assert!(output.contains("as before") && output.contains("- 1 udp://a.test:80"), "{output}");
    let (bytes, _) = edited(odd(url), &["--no-trackers"]);
    assert_eq!(String::from_utf8(bytes).unwrap(), odd(""));
    for nothing in ["--remove-tracker=udp://c.test", "--public", "--no-source", "--no-comment", "--name=f.bin"] {
        let (bytes, output) = edited(odd(url), &[nothing]);
        assert_eq!(String::from_utf8(bytes).unwrap(), odd(url), "{nothing}");
        assert!(output.contains("unchanged"), "{nothing}: {output}");
    }
}

#[test]
fn trackers() {
    let one = torrent("8:announce12:udp://a.test", "");
    let list = |tiers: &str, first: &str| torrent(&format!("8:announce12:{first}13:announce-listl{tiers}e"), "");
    let two = list("l12:udp://a.testel12:udp://b.teste", "udp://a.test");
    let cases: [(&str, &[&str], &str); 10] = [
        (&one, &["--add-tracker", "udp://b.test"], &two),
        (&two, &["--add-tracker", "udp://b.test", "--add-tracker=udp://a.test"], &two),
        (&two, &["--remove-tracker", "udp://b.test"], &one),
        (&two, &["--tracker", "udp://a.test"], &one),
        (&two, &["--announce", "udp://a.test", "-t", "udp://b.test"], &two),
        (&two, &["-t", "udp://b.test,udp://c.test"], &list("l12:udp://b.test12:udp://c.teste", "udp://b.test")),
        (&two, &["--replace-in-trackers", "b.t", "a.t"], &one),
        (&two, &["--replace-in-trackers", "udp", "wss"], &two.replace("udp", "wss")),
        (&two, &["--no-trackers", "--add-tracker", "udp://a.test"], &one),
        // Clients ignore an announce that is not in the list.
        (
            &list("l12:udp://b.teste", "udp://x.test"),
            &["--remove-tracker", "udp://x.test"],
            &torrent("8:announce12:udp://b.test", ""),
        ),
    ];
    for (before, arguments, after) in cases {
        let (bytes, _) = edited(before, arguments);
        assert_eq!(String::from_utf8(bytes).unwrap(), after, "{before}: {arguments:?}");
    }
    refused(&two, &["--replace-in-trackers", "udp", "magnet"], "the tracker \"magnet://a.test\"");
    refused(&two, &["--replace-in-trackers", "", "x"], "OLD is empty");
    refused(&two, &["--add-tracker", "a.test"], "expected a URL of http, https, udp, ws or wss");
    let strange = torrent("13:announce-listli7ee", "");
    refused(&strange, &["--add-tracker", "udp://a.test"], "announce-list, byte 18: expected a list, found an integer");
    assert_eq!(edited(&strange, &["-t", "udp://a.test"]).0, one.as_bytes());
}

#[test]
fn texts_seeds_and_dates() {
    let plain = torrent("", "");
    let (bytes, output) =
        edited(&plain, &["-c", "hello", "-d", "5", "-w", "https://a.test/f", "--add-web-seed=ftp://b.test/"]);
    let full = torrent("7:comment5:hello13:creation datei5e", "8:url-listl16:https://a.test/f13:ftp://b.test/e");
    assert_eq!(String::from_utf8(bytes).unwrap(), full);
    for line in ["  comment    + hello", "  created    + 1970-01-01", "             + ftp://b.test/"] {
        assert!(output.contains(line), "{output}");
    }
    let nothing = ["--no-comment", "--no-date", "--no-web-seeds"];
    assert_eq!(edited(&full, &nothing).0, plain.as_bytes());
    let seeds = ["--remove-web-seed=ftp://b.test/", "--remove-web-seed=https://a.test/f", "--no-comment", "--no-date"];
    assert_eq!(edited(&full, &seeds).0, plain.as_bytes());
    // Clients read the key that ends in .utf-8 first.
    let twice = torrent("7:comment1:a13:comment.utf-81:b", "");
    assert_eq!(edited(&twice, &["-c", "c"]).0, torrent("7:comment1:c13:comment.utf-81:c", "").as_bytes());
    assert_eq!(edited(&twice, &["--no-comment"]).0, plain.as_bytes());
}

#[test]
fn the_info_hash_changes_only_with_info() {
    let plain = torrent("", "10:signaturesd1:ai1ee7:unknown1:x");
    let hash = |bytes: &[u8]| Torrent::parse(bytes).unwrap().info_hash_v1().unwrap();
    let (bytes, output) = edited(&plain, &["--private", "--source", "here", "--name", "g.bin"]);
    let info = INFO.replace("f.bin", "g.bin");
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        format!("d4:infod{info}7:privatei1e6:source4:heree7:unknown1:xe")
    );
    for hash in [hash(plain.as_bytes()), hash(&bytes)] {
        assert!(output.contains(&hashloom_files::text::Hex(&hash).to_string()), "{output}");
    }
    assert!(output.contains("signatures removed"), "{output}");
    let (back, _) = edited(&bytes, &["--public", "--no-source", "--name", "f.bin"]);
    assert_eq!(String::from_utf8(back).unwrap(), torrent("", "7:unknown1:x"));
    let (same, output) = edited(&plain, &["-c", "x"]);
    assert_eq!(hash(&same), hash(plain.as_bytes()));
    assert!(same.windows(10).any(|window| window == b"signatures") && output.contains("as before"));
}

#[test]
fn torrents_of_version_2_keep_their_trees() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("album")).unwrap();
    for name in ["album/a", "album/b", "single"] {
        fs::write(path(name), vec![7; 50_000]).unwrap();
    }
    for (version, content) in [("--v2", "album"), ("--hybrid", "album"), ("--v2", "single"), ("--hybrid", "single")] {
        let create = ["torrent", "create", "-q", "-f", version, content, "-o", "x"];
        assert_eq!(status(&hashloom().current_dir(folder.path()).args(create).output().unwrap()), 0);
        let output = run(folder.path(), &["x", "--name", "new", "-p", "--json", "-w", "https://a.test/"]).done();
        let report: Value = serde_json::from_str(stdout(&output)).unwrap();
        let mut keys = vec!["info.name", "info.private", "url-list"];
        if content == "single" {
            keys.insert(0, "info.file tree");
        }
        assert_eq!((&report["changed"], &report["written"]), (&json!(keys), &json!(true)), "{report}");
        assert_ne!(report["torrent"]["info_hash_v2"], report["before"]["info_hash_v2"]);
        fs::rename(path(content), path("new")).unwrap();
        let verified = hashloom().current_dir(folder.path()).args(["torrent", "verify", "x"]).output().unwrap();
        assert_eq!((status(&verified), stderr(&verified)), (0, ""), "{version} {content}: {}", stdout(&verified));
        fs::rename(path("new"), path(content)).unwrap();
    }
    // A folder `a` with the file `a` would look like the file alone.
    fs::remove_file(path("album/b")).unwrap();
    let create = ["torrent", "create", "-q", "-f", "--v2", "album", "-o", "x"];
    assert_eq!(status(&hashloom().current_dir(folder.path()).args(create).output().unwrap()), 0);
    run(folder.path(), &["x", "--name", "a"]).ends(2).says("only file in the torrent's folder");
}

#[test]
fn places() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (old, new) = (torrent("", ""), torrent("7:comment1:x", ""));
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::create_dir(path("out")).unwrap();
    fs::write(path("a"), &old).unwrap();
    fs::write(path("b"), &old).unwrap();
    let ok = |arguments: &[&str]| assert_eq!(status(&run(folder.path(), arguments)), 0, "{arguments:?}");
    let refused = |arguments: &[&str], part: &str| {
        let output = run(folder.path(), arguments);
        assert_eq!(status(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    };
    ok(&["a", "-c", "x", "--dry-run"]);
    ok(&["a", "b", "-c", "x", "--output-dir", "out"]);
    ok(&["a", "-c", "x", "-o", "c"]);
    assert_eq!(
        [read("a"), read("b"), read("out/a"), read("out/b"), read("c")],
        [&old, &old, &new, &new, &new].map(String::clone)
    );
    // A copy is written even if nothing changes.
    ok(&["a", "--no-comment", "-o", "d"]);
    assert_eq!(read("d"), old);
    refused(&["a", "-c", "x", "-o", "c"], "it exists. Give --force");
    ok(&["a", "-c", "y", "-o", "c", "--force"]);
    refused(&["a", "-c", "x", "-o", "out"], "it is a folder");
    refused(&["a", "-c", "x", "-f", "-o", "./a"], "it is TORRENT itself");
    refused(&["a", "b", "-c", "x", "-o", "e"], "for one TORRENT");
    refused(&["a", "b", "-n", "x"], "for one TORRENT");
    refused(&["a"], "no change is asked for");
    refused(&["out", "-c", "x"], "expected a .torrent file, found a folder");
    refused(&["magnet:?xt=urn:btih:0", "-c", "x"], "a magnet link");
    // One bad torrent does not keep the others from being edited.
    fs::write(path("bad"), "<html>").unwrap();
    refused(&["missing", "bad", "b", "-c", "x"], "bad: expected a .torrent file, found an HTML page");
    assert_eq!((read("b"), read("bad")), (new, "<html>".to_owned()));
    assert_eq!(read("a"), old);
}

#[test]
fn damaged_torrents_stay() {
    let whole = torrent("", "");
    refused(&whole[..whole.len() - 1], &["-c", "x"], "not a torrent: byte 86");
    refused("", &["-c", "x"], "not a torrent: the file is empty");
    refused("d4:infode1:xe", &["-c", "x"], "byte");
    refused(whole.replace("i3e", "i16385e"), &["-c", "x"], "info.pieces");
}

#[cfg(unix)]
#[test]
fn links_permissions_and_pipes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (old, new) = (torrent("", ""), torrent("7:comment1:x", ""));
    fs::write(path("a"), &old).unwrap();
    fs::set_permissions(path("a"), PermissionsExt::from_mode(0o640)).unwrap();
    fs::hard_link(path("a"), path("hard")).unwrap();
    symlink("a", path("soft")).unwrap();
    // The link stays, the file is another one with the same permissions, and its other name keeps the old bytes.
    assert_eq!(status(&run(folder.path(), &["soft", "-c", "x"])), 0);
    assert!(path("soft").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read(path("a")).unwrap(), new.into_bytes());
    assert_eq!(fs::read(path("hard")).unwrap(), old.clone().into_bytes());
    assert_eq!(path("a").metadata().unwrap().mode() & 0o777, 0o640);
    // A pipe is not waited for, and a loop of links is an error.
    make_fifo(path("fifo"));
    symlink("loop", path("loop")).unwrap();
    for (name, part) in
        [("fifo", "expected a regular file"), ("loop", "symbolic links"), ("/dev/null", "expected a regular file")]
    {
        run(folder.path(), &[name, "-c", "x"]).ends(2).says(part);
    }
    // Root may write anywhere.
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(path("a"), PermissionsExt::from_mode(0o440)).unwrap();
        assert!(stderr(&run(folder.path(), &["a", "-c", "y"])).contains("Permission denied"));
    }
    // A torrent in use by another run is left alone.
    let file = fs::File::options().read(true).write(true).open(path("hard")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    run(folder.path(), &["hard", "-c", "y"]).says("another run is writing it");
    assert_eq!(fs::read_to_string(path("hard")).unwrap(), old);
}

/// The torrent is in memory once, beside its files, parsed.
#[cfg(target_os = "linux")]
#[test]
fn memory() {
    let mut pieces = b"d4:infod6:lengthi16384000000e4:name1:x12:piece lengthi16384e6:pieces20000000:".to_vec();
    pieces.resize(pieces.len() + 20_000_000, b'a');
    pieces.extend(b"ee");
    let mut files = b"d4:infod5:filesl".to_vec();
    (0..100_000).for_each(|i| files.extend(format!("d6:lengthi0e4:pathl6:folder10:{i:010}ee").bytes()));
    files.extend(b"e4:name1:x12:piece lengthi16384e6:pieces0:ee");
    let folder = tempfile::tempdir().unwrap();
    for (torrent, times) in [(pieces, 1), (files, 2)] {
        for change in ["--comment=new", "--private"] {
            fs::write(folder.path().join("x.torrent"), &torrent).unwrap();
            let mut command = hashloom();
            command.args(["torrent", "edit", "--quiet", "x.torrent", change]).current_dir(&folder);
            let (status, peak) = peak_kib_of(&mut command);
            // The program itself, built without optimisation, takes the rest.
            let most = times * torrent.len() as u64 / 1024 + 22 * 1024;
            assert!(status == 0 && peak < most, "{status}, {change}: {peak} KiB, expected at most {most}");
        }
    }
}
