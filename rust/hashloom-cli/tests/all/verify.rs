// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent verify` as a person or a script does.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

#[cfg(target_os = "linux")]
use crate::common::peak_kib;
use crate::common::{Ran, hashloom, status, stderr, stdout};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/webtorrent-fixtures/fixtures")
}

fn verify<const N: usize>(arguments: [&dyn AsRef<std::ffi::OsStr>; N]) -> Output {
    hashloom().args(["torrent", "verify"]).args(arguments.map(|argument| argument.as_ref())).output().unwrap()
}

/// Makes a folder with `image` of ten pieces of 1000 bytes, and `image.torrent`.
fn image() -> (tempfile::TempDir, Vec<u8>) {
    let bytes: Vec<u8> = (0..10_000u32).map(|i| ((i * i) >> 7) as u8).collect();
    let digests: Vec<u8> = bytes.chunks(1000).flat_map(Sha1::digest).collect();
    let mut torrent = b"d4:infod6:lengthi10000e4:name5:image12:piece lengthi1000e6:pieces200:".to_vec();
    torrent.extend_from_slice(&digests);
    torrent.extend_from_slice(b"ee");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("image"), &bytes).unwrap();
    fs::write(folder.path().join("image.torrent"), torrent).unwrap();
    (folder, bytes)
}

#[test]
fn real_torrents_that_are_complete() {
    for (name, info_hash, pieces) in [
        ("leaves", "d2474e86c95b19b8bcfdb92bc12c9d44667cfa36", "23 of 23 pieces"),
        ("leaves-metadata", "d2474e86c95b19b8bcfdb92bc12c9d44667cfa36", "23 of 23 pieces"),
        ("numbers", "89d97c2261a21b040cf11caa661a3ba7233bb7e6", "1 of 1 piece,"),
        ("lots-of-numbers", "114ead6243792ba56297edbb9a78dfba84d4fc00", "1 of 1 piece,"),
        ("folder", "b88da2caac6648e6c7d7687e3f89085f7e230e6b", "1 of 1 piece,"),
        ("alice", "722fe65b2aa26d14f35b4ad627d20236e481d924", "10 of 10 pieces"),
    ] {
        let output = verify([&fixtures().join(format!("{name}.torrent")), &fixtures()]);
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{name}: {}", stdout(&output));
        assert!(stdout(&output).contains(&format!("info-hash  {info_hash}\n")), "{name}: {}", stdout(&output));
        assert!(stdout(&output).contains(&format!("complete: {pieces}")), "{name}: {}", stdout(&output));
    }
}

#[test]
fn real_torrents_that_are_not() {
    let output = verify([&fixtures().join("corrupt.torrent"), &fixtures()]);
    output.ends(2).prints("");
    assert!(
        stderr(&output).ends_with(
            "corrupt.torrent: info.name, byte 81: this key is missing; expected a string: the \
            name of the file or folder\n"
        ),
        "{}",
        stderr(&output)
    );
    for name in ["bunny", "sintel"] {
        let output = verify([&fixtures().join(format!("{name}.torrent")), &fixtures()]);
        assert_eq!((status(&output), stderr(&output)), (1, ""), "{name}");
        assert!(stdout(&output).contains(" is missing\n"), "{name}: {}", stdout(&output));
        assert!(stdout(&output).contains("not complete: 0 of "), "{name}: {}", stdout(&output));
    }
}

#[test]
fn the_current_folder_is_the_default() {
    let (folder, _) = image();
    hashloom()
        .current_dir(&folder)
        .args(["torrent", "verify", "image.torrent"])
        .output()
        .unwrap()
        .ends(0)
        .has("content    ./image\n");
}

#[test]
fn damage_is_listed() {
    let (folder, mut bytes) = image();
    let (torrent, path) = (folder.path().join("image.torrent"), folder.path().join("image"));
    bytes[3456] ^= 1;
    bytes.truncate(8500);
    fs::write(&path, &bytes).unwrap();
    let output = verify([&torrent, &path, &"--missing", &"--map"]);
    output.ends(1).tells("");
    let text = stdout(&output);
    let expected = "
  ███✗████··
  █ have   · missing   ✗ bad   each 1 piece

piece 3  bad  1000 bytes
  image  bytes 3000-3999
pieces 8-9  missing  2 KiB
  image  bytes 8000-9999

  image is too short: 8500 of 10000 bytes

  have        7 pieces     6.8 KiB   70.0%
  missing     2 pieces       2 KiB   20.0%
  bad         1 piece   1000 bytes   10.0%

not complete: 7 of 10 pieces, 6.8 KiB (70.0%) in 0.0";
    assert!(text.contains(expected), "{text}");
}

#[test]
#[cfg_attr(windows, ignore = "spells paths as this system does")]
fn json_has_all_of_it() {
    let (folder, mut bytes) = image();
    let (torrent, path) = (folder.path().join("image.torrent"), folder.path().join("image"));
    bytes[3456] ^= 1;
    bytes.extend_from_slice(b"extra");
    fs::write(&path, &bytes).unwrap();
    let output = verify([&torrent, &path, &"--json"]);
    output.ends(1).tells("");
    let mut object: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(object["seconds"].as_f64().unwrap() >= 0.0);
    object["seconds"] = json!(0);
    // A slow machine may take long enough to tell.
    object.as_object_mut().unwrap().remove("held_back_by");
    object["torrent"]["info_hash"] = json!("");
    let expected = json!({
        "hashloom": env!("CARGO_PKG_VERSION"),
        "torrent": {
            "path": torrent.to_str(), "name": "image", "version": "v1", "info_hash": "", "length": 10000,
            "piece_length": 1000, "piece_count": 10, "file_count": 1, "notes": [], "note_count": 0,
        },
        "content": path.to_str(), "complete": false, "exact": false, "interrupted": false, "percent": 90.0,
        "pieces":
            {"total": 10, "have": 9, "missing": 0, "bad": 1, "unread": 0, "disputed": 0, "unstable": 0, "unchecked": 0},
        "bytes": {"total": 10000, "have": 9000, "missing": 0, "bad": 1000, "unread": 0, "disputed": 0, "unstable": 0,
            "unchecked": 0},
        "bytes_read": 10000, "pieces_taken_over": 0, "seconds": 0,
        "ranges": [
            {"state": "have", "first": 0, "last": 2},
            {"state": "bad", "first": 3, "last": 3},
            {"state": "have", "first": 4, "last": 9},
        ],
        "bitfield": "efc0",
        "files": [{
            "path": "image", "state": "incomplete", "length": 10000, "found_length": 10005,
            "first_piece": 0, "last_piece": 9,
        }],
        "errors": [],
    });
    assert_eq!(object, expected);
}

#[test]
fn the_bitfield_is_written_whole_or_not_at_all() {
    let (folder, mut bytes) = image();
    let torrent = folder.path().join("image.torrent");
    bytes[9999] ^= 1;
    fs::write(folder.path().join("image"), &bytes).unwrap();
    let file = folder.path().join("have");
    fs::write(&file, "something older and longer").unwrap();
    verify([&torrent, &folder.path(), &"-q", &"--bitfield", &file]).is(1, "", "");
    assert_eq!(fs::read(&file).unwrap(), [0xff, 0x80]);
    verify([&torrent, &folder.path(), &"--bitfield", &folder.path().join("no/such/folder")])
        .refused("no/such/folder: the bitfield cannot be written: ");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing else is left: {names:?}");
}

#[test]
fn the_bitfield_never_replaces_the_torrent_or_its_content() {
    let (folder, bytes) = image();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    fs::write(path("have"), "").unwrap();
    let torrent = fs::read(path("image.torrent")).unwrap();
    let refused = |file: &str, what: &str| {
        let output = verify([&path("image.torrent"), &folder.path(), &"--bitfield", &path(file)]);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{file}");
        let message = format!("{file}: the bitfield is not written there: it is {what}");
        assert!(stderr(&output).contains(&message), "{file}: {}", stderr(&output));
    };
    refused("image.torrent", "the torrent");
    refused("sub/../image.torrent", "the torrent");
    refused("image", "the content");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("image", path("link")).unwrap();
        fs::hard_link(path("image.torrent"), path("hard")).unwrap();
        refused("link", "the content");
        refused("hard", "the torrent");
    }
    assert_eq!(fs::read(path("image.torrent")).unwrap(), torrent);
    assert_eq!(fs::read(path("image")).unwrap(), bytes);
    // The place of a missing file of the content.
    fs::remove_file(path("image")).unwrap();
    refused("sub/../image", "the content");
    let files =
        b"d4:infod5:filesld6:lengthi1e4:pathl1:a1:beee4:name3:sub12:piece lengthi1e6:pieces20:01234567890123456789ee";
    fs::write(path("image.torrent"), files).unwrap();
    fs::create_dir(path("sub/a")).unwrap();
    refused("sub/a/b", "a file of the content");
    verify([&path("image.torrent"), &folder.path(), &"-q", &"--bitfield", &path("sub/a/c")]).ends(1).tells("");
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn a_bitfield_that_cannot_be_written_is_an_error_at_once() {
    let (folder, _) = image();
    let torrent = folder.path().join("image.torrent");
    for (file, why) in [("no/such/folder", "No such file or directory"), ("", "directory")] {
        let file = folder.path().join(file);
        // The content is not looked at: PATH is wrong too, but the error does not mention it.
        let output = verify([&torrent, &"/no/where", &"--bitfield", &file]);
        output.ends(2).prints("");
        let message = stderr(&output);
        assert!(message.contains(": the bitfield cannot be written: ") && message.contains(why), "{message}");
        assert!(!message.contains(".hashloom-"), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_report_is_printed_even_if_the_bitfield_is_not_written() {
    let (folder, _) = image();
    // A device whose writes fail is not probed.
    verify([&folder.path().join("image.torrent"), &folder.path(), &"--bitfield", &"/dev/full"])
        .ends(2)
        .has("complete: 10 of 10 pieces")
        .says_first("hashloom: /dev/full: the bitfield cannot be written: ");
}

#[cfg(unix)]
#[test]
fn a_link_to_the_bitfield_stays_one() {
    let (folder, _) = image();
    let (torrent, link) = (folder.path().join("image.torrent"), folder.path().join("link"));
    fs::write(folder.path().join("have"), "older").unwrap();
    std::os::unix::fs::symlink("have", &link).unwrap();
    verify([&torrent, &folder.path(), &"-q", &"--bitfield", &link]).done();
    assert!(link.is_symlink());
    assert_eq!(fs::read(folder.path().join("have")).unwrap(), [0xff, 0xc0]);
    let output = verify([&torrent, &folder.path(), &"-q", &"--bitfield", &"/dev/stdout"]);
    assert_eq!((status(&output), &output.stdout[..]), (0, &[0xff, 0xc0][..]), "a pipe is written, not replaced");
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn wrong_usage_exits_with_2() {
    let (folder, _) = image();
    let torrent = folder.path().join("image.torrent");
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage: hashloom"),
        (&["torrent"], "Usage: hashloom torrent"),
        (&["torrent", "verify"], "<TORRENT>"),
        (&["torrent", "verify", "no.torrent"], "hashloom: no.torrent: No such file or directory"),
        (
            &["torrent", "verify", torrent.to_str().unwrap(), "/no/where"],
            "hashloom: /no/where: No such file or directory",
        ),
        (&["torrent", "verify", torrent.to_str().unwrap(), "--threads", "0"], "--threads"),
        (&["torrent", "verify", torrent.to_str().unwrap(), "--json", "--map"], "cannot be used with"),
        (&["torrent", "verify", "."], "hashloom: .: expected a .torrent file, found a folder"),
    ];
    for (arguments, message) in cases {
        hashloom().args(*arguments).output().unwrap().refused(message);
    }
}

#[cfg(unix)]
#[test]
fn names_cannot_steer_the_terminal_and_json_keeps_their_bytes() {
    let torrent = b"d4:infod6:lengthi0e4:name9:\x1b[2J\xe2\x80\xae\xff\x0712:piece lengthi1e6:pieces0:ee";
    let folder = tempfile::tempdir().unwrap();
    use std::os::unix::ffi::OsStrExt;
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.torrent"));
    fs::write(&path, torrent).unwrap();
    let output = verify([&path, &folder.path(), &"--missing"]);
    assert_eq!(status(&output), 1);
    output.begins("\\x1b[2J\\u{202e}\\xff\\x07\n");
    assert!(output.stdout.iter().all(|&byte| byte == b'\n' || byte >= b' '));
    let output = verify([&path, &folder.path(), &"--json"]);
    let object: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(object["torrent"]["path_hex"].as_str().unwrap().ends_with("2fff2e746f7272656e74"));
    assert_eq!(object["torrent"]["name_hex"], "1b5b324ae280aeff07");
    assert_eq!(object["files"][0]["path_hex"], "1b5b324ae280aeff07");
    assert_eq!(object["files"][0]["state"], "not made");
}

#[test]
fn version_and_help() {
    let output = hashloom().arg("--version").output().unwrap();
    assert_eq!(stdout(&output), format!("hashloom {}\n", env!("CARGO_PKG_VERSION")));
    let output = hashloom().args(["torrent", "verify", "--help"]).output().unwrap();
    assert_eq!(status(&output), 0);
    for text in ["Changes nothing on disk except", "Exit status:", "Where the content is looked for:"] {
        assert!(stdout(&output).contains(text), "{text}");
    }
}

/// Tests the bound that the program promises, with more threads and files than usual.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_below_64_mib() {
    let folder = tempfile::tempdir().unwrap();
    let content = folder.path().join("many");
    fs::create_dir(&content).unwrap();
    let (mut files, mut all) = (Vec::new(), Vec::new());
    for i in 0..3000u32 {
        let bytes = i.to_le_bytes().repeat(10_000);
        let name = i.to_string();
        files.extend(format!("d6:lengthi{}e4:pathl{}:{name}ee", bytes.len(), name.len()).bytes());
        fs::write(content.join(name), &bytes).unwrap();
        all.extend(bytes);
    }
    let digests: Vec<u8> = all.chunks(1 << 14).flat_map(Sha1::digest).collect();
    drop(all);
    let mut torrent = b"d4:infod5:filesl".to_vec();
    torrent.extend(files);
    torrent.extend(format!("e4:name4:many12:piece lengthi16384e6:pieces{}:", digests.len()).bytes());
    torrent.extend(digests);
    torrent.extend(b"ee");
    fs::write(folder.path().join("many.torrent"), torrent).unwrap();
    for threads in ["1", "500"] {
        let (status, peak) = peak_kib(folder.path(), &["many.torrent", "--threads", threads]);
        assert_eq!(status, 0, "{threads} threads");
        assert!(peak < 64 << 10, "{threads} threads: {peak} KiB");
        eprintln!("{threads} threads: {peak} KiB at most");
    }
}

/// The digests are in memory once, and the output is not collected: a second copy would exceed these bounds, which are
/// beside what the program itself takes.
#[cfg(target_os = "linux")]
#[test]
fn memory_beyond_a_large_torrent_is_little() {
    let folder = tempfile::tempdir().unwrap();
    let (_, own) = peak_kib(folder.path(), &["--help"]);
    let check = |torrent: Vec<u8>, most_kib: u64, what: &str| {
        fs::write(folder.path().join("large.torrent"), &torrent).unwrap();
        for output in ["--quiet", "--json"] {
            let (status, peak) = peak_kib(folder.path(), &["large.torrent", "--threads=1", output]);
            assert_eq!(status, 1, "{what}");
            let beyond = peak.saturating_sub(own + (torrent.len() as u64 >> 10));
            assert!(beyond < most_kib, "{what}, {output}: {beyond} KiB more than the torrent");
            eprintln!("{what}, {output}: {beyond} KiB more than the torrent");
        }
    };
    let mut torrent = b"d4:infod6:lengthi1000000e4:name1:x12:piece lengthi1e6:pieces20000000:".to_vec();
    torrent.resize(torrent.len() + 20_000_000, b'x');
    torrent.extend_from_slice(b"ee");
    check(torrent, 9 << 10, "1 000 000 pieces");
    let mut torrent = b"d4:infod5:filesl".to_vec();
    (0..100_000).for_each(|i| torrent.extend_from_slice(format!("d6:lengthi1e4:pathl3:dir6:{i:06}ee").as_bytes()));
    torrent.extend_from_slice(b"e4:name1:x12:piece lengthi1000000e6:pieces20:xxxxxxxxxxxxxxxxxxxxee");
    check(torrent, 11 << 10, "100 000 files");
}

#[test]
fn a_file_that_is_too_long_is_complete_and_not_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["long", "other"] {
        fs::write(path(name), vec![7; 40_000]).unwrap();
        let create = ["torrent", "create", "-q"];
        assert_eq!(status(&hashloom().current_dir(folder.path()).args(create).arg(name).output().unwrap()), 0);
    }
    fs::OpenOptions::new().append(true).open(path("long")).unwrap().write_all(b"more").unwrap();
    let run = |arguments: &[&str]| {
        hashloom().current_dir(folder.path()).args(["torrent", "verify"]).args(arguments).output().unwrap()
    };
    let output = run(&["long.torrent"]).done();
    let text = stdout(&output);
    assert!(text.contains("\n  long is too long: 4 extra bytes after its end\n"), "{text}");
    assert!(text.contains("\ncomplete: 3 of 3 pieces, 39.1 KiB (100%), 1 file too long in "), "{text}");
    let output = run(&["long.torrent", "--exact"]);
    output.ends(1).tells("").has("\nnot exact: 3 of 3 pieces");
    assert_eq!(status(&run(&["long.torrent", "--exact", "--quiet"])), 1);
    assert_eq!(status(&run(&["other.torrent", "--exact"])), 0);
    for (arguments, code) in [(&["--json"][..], 0), (&["--json", "--exact"], 1)] {
        let output = run(&[&["long.torrent"], arguments].concat());
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((status(&output), &object["complete"], &object["exact"]), (code, &true.into(), &false.into()));
        assert_eq!(object["files"][0]["state"], "too long");
        assert_eq!(object["files"][0]["found_length"], 40_004);
    }
    run(&["long.torrent", "other.torrent", "--data", "."])
        .ends(0)
        .begins("complete      long.torrent  39.1 KiB, 1 file too long\n");
    let output = run(&["long.torrent", "other.torrent", "--data", ".", "--exact"]);
    assert_eq!(status(&output), 1);
    let text = stdout(&output);
    assert!(text.starts_with("not exact     long.torrent  39.1 KiB, 1 file too long\ncomplete      other"), "{text}");
    assert!(text.contains("\n1 of 2 torrents is not complete in "), "{text}");
    // Claims are right, but the file is not what the torrent describes.
    assert_eq!(status(&run(&["long.torrent", "--quiet", "--bitfield", "bits"])), 0);
    assert_eq!(status(&run(&["long.torrent", "--claimed", "bits"])), 0);
    assert_eq!(status(&run(&["long.torrent", "--claimed", "bits", "--exact"])), 1);
    fs::write(path("bits"), [0x40]).unwrap();
    for (arguments, code, verdict) in [(&[][..], 0, "part right: "), (&["--exact"], 1, "not exact: ")] {
        run(&[&["long.torrent", "--claimed", "bits"], arguments].concat())
            .ends(code)
            .has(&format!("\n\n{verdict}1 of 3 pieces checked, 1 right, 16 KiB (40.9%), 1 file too long in "));
    }
}

/// One piece is shared by many files. The files that are at fault come first, and all of them with --missing.
#[test]
fn the_files_at_fault_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let album = folder.path().join("album");
    fs::create_dir(&album).unwrap();
    for i in 0..30 {
        fs::write(album.join(format!("{i:02}")), "abcd").unwrap();
    }
    let torrent = folder.path().join("album.torrent");
    let create = ["torrent", "create", "--v1", "-q", "-o"];
    let _made = hashloom().args(create).args([&torrent, &album]).output().unwrap().done();
    fs::remove_file(album.join("20")).unwrap();
    fs::write(album.join("25"), "abcdef").unwrap();
    let output = verify([&torrent, &folder.path()]);
    let lines: Vec<&str> = stdout(&output).lines().filter(|line| line.starts_with("  ")).skip(3).collect();
    assert_eq!(lines[..2], ["  20 is missing", "  25 is too long: 2 extra bytes after its end"], "{}", stdout(&output));
    assert_eq!(lines[2..11].iter().filter(|line| line.ends_with("has 1 of 1 piece not right")).count(), 8);
    for i in 5..20 {
        fs::remove_file(album.join(format!("{i:02}"))).unwrap();
    }
    let output = verify([&"--missing", &torrent, &folder.path()]);
    assert_eq!(stdout(&output).lines().filter(|line| line.ends_with(" is missing")).count(), 16);
}

/// Padding is no content: neither its bytes nor a percentage of them are told.
#[test]
fn padding_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let album = folder.path().join("album");
    fs::create_dir(&album).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(album.join(name), "xy").unwrap();
    }
    let torrent = folder.path().join("album.torrent");
    let _made = hashloom()
        .args(["torrent", "create", "--hybrid", "-q", "-o"])
        .args([&torrent, &album])
        .output()
        .unwrap()
        .done();
    verify([&torrent, &folder.path()]).has("\ncomplete: 3 of 3 pieces, 6 bytes (100%)");
    fs::write(album.join("b"), "xz").unwrap();
    let output = verify([&torrent, &folder.path(), &"--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(&json["bytes"]["total"], &json!(6));
    assert_eq!(&json["bytes"]["have"], &json!(4));
    assert_eq!(&json["bytes"]["bad"], &json!(2));
    assert_eq!(json["percent"], json!(66.6));
}

#[test]
fn files_in_place_of_a_torrent_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    for (path, part) in [
        (write("link", "magnet:?xt=urn:btih:d2474e86c95b19b8bcfdb92bc12c9d44667cfa36\n"), "found a magnet link, "),
        (PathBuf::from("magnet:?xt=urn:btih:d2474e86c95b19b8bcfdb92bc12c9d44667cfa36"), "found a magnet link, "),
        (write("page", "\n<!DOCTYPE html><html></html>"), "found an HTML page; "),
        (folder.path().to_owned(), "found a folder\n"),
    ] {
        verify([&path, &folder.path()]).refused(&format!("expected a .torrent file, {part}"));
    }
    for (threads, part) in [("0", "expected at least 1"), ("x", "expected a whole number, such as 41")] {
        verify([&"a.torrent", &"--threads", &threads]).ends(2).says(part);
    }
}
