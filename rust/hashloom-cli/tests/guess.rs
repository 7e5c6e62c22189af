// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom PATH…`, without a command: which one runs, and that nothing is called right that was not looked at.

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, run, sha256};

/// Runs the program, and returns the exit status, the commands that it said it runs, and the rest that it printed.
fn guessed(folder: &Path, words: &[&str]) -> (i32, Vec<String>, String) {
    let (status, printed, told) = run(folder, words).all();
    let (said, told): (Vec<_>, Vec<_>) = told.lines().partition(|line| line.starts_with("hashloom: running: "));
    let said = said.iter().map(|line| line["hashloom: running: hashloom ".len()..].to_owned()).collect();
    (status, said, [&printed, &told.join("\n")[..]].concat())
}

#[test]
fn a_file_is_checked_against_what_lies_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("a.iso", "abc");
    let ours = sha256(b"abc");
    let sum = format!("{ours}  a.iso\n");
    assert_eq!(guessed(folder, &["a.iso"]), (0, vec!["sum a.iso".into()], sum.clone()));

    // A list that names another file, or the file in another folder, says nothing about this one.
    fs::create_dir(folder.join("other")).unwrap();
    write("SHA256SUMS", &format!("{ours}  b.iso\n{ours}  other/a.iso\n"));
    assert_eq!(guessed(folder, &["a.iso"]), (0, vec!["sum a.iso".into()], sum));
    let check = "check --ignore-missing --relative-to-list";
    write("SHA256SUMS", &format!("{ours}  b.iso\n{ours} *./a.iso\n"));
    write("SHA256SUMS.asc", "no signature");
    let (status, said, told) = guessed(folder, &["a.iso"]);
    assert_eq!((status, said), (0, vec![format!("{check} SHA256SUMS")]), "{told}");
    assert!(told.starts_with("./a.iso: OK\n") && told.contains("1 listed file is missing and not checked"), "{told}");
    assert!(told.ends_with("SHA256SUMS.asc: this signature was not checked; `gpg --verify` does it"), "{told}");

    // One of two lists is wrong. Options go to the command; a list is not checked twice.
    write("a.iso.sha1", &"0".repeat(40));
    let (status, said, told) = guessed(folder, &["a.iso", "a.iso", "--quiet"]);
    assert_eq!((status, said), (1, vec![format!("{check} --quiet SHA256SUMS a.iso.sha1")]), "{told}");
    assert!(told.contains("a.iso: FAILED") && !told.contains("OK"), "{told}");

    // From elsewhere; the list itself, where a missing file counts; its signature; a folder.
    let check = format!("check --relative-to-list {}", ["x", "SHA256SUMS"].join("/"));
    fs::remove_file(folder.join("a.iso.sha1")).unwrap();
    fs::create_dir(folder.join("x")).unwrap();
    for name in ["a.iso", "SHA256SUMS", "SHA256SUMS.asc"] {
        fs::rename(folder.join(name), folder.join("x").join(name)).unwrap();
    }
    for path in ["x/SHA256SUMS", "x/SHA256SUMS.asc", "x"] {
        let (status, said, told) = guessed(folder, &[path]);
        assert_eq!((status, said), (1, vec![check.clone()]), "{path}: {told}");
        assert!(told.contains("a.iso: OK") && told.contains("b.iso: FAILED open or read"), "{told}");
    }
}

#[test]
fn torrents_and_manifests_find_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("album")).unwrap();
    fs::write(folder.join("album/track"), "la la la").unwrap();
    run(folder, &["manifest", "write", "album", "-q", "-o", "album.manifest"]).done();
    run(folder, &["torrent", "create", "album", "-q", "-o", "album.torrent"]).done();

    let (status, said, told) = guessed(folder, &["album"]);
    let both = ["manifest check album.manifest album", "torrent verify album.torrent album"];
    assert_eq!((status, &said[..]), (0, &both.map(String::from)[..]), "{told}");
    let (status, said, told) = guessed(folder, &["album.manifest", "album.torrent"]);
    let both = ["manifest check album.manifest", "torrent verify album.torrent"];
    assert_eq!((status, &said[..]), (0, &both.map(String::from)[..]), "{told}");
    fs::write(folder.join("album/track"), "la la l_").unwrap();
    // The worst status of all counts.
    assert_eq!(guessed(folder, &["album.torrent", "album.manifest"]).0, 1);

    // Beside the torrent, not in this folder; then nowhere: the torrent is shown.
    let inner = folder.join("album");
    let (status, said, _) = guessed(&inner, &["../album.torrent"]);
    assert_eq!((status, &said[0][..]), (1, "torrent verify ../album.torrent .."));
    fs::rename(&inner, folder.join("gone")).unwrap();
    let (status, said, told) = guessed(folder, &["album.torrent"]);
    assert_eq!((status, &said[0][..]), (0, "torrent show album.torrent"), "{told}");
}

#[test]
fn words_that_are_neither_commands_nor_paths() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("sum"), "").unwrap();
    fs::write(folder.join("-n"), "").unwrap();
    fs::write(folder.join("a"), "abc").unwrap();
    run(folder, &["no.iso"]).refused("no.iso: No such file or directory");
    run(folder, &["a", "nothing"]).refused("nothing: No such file or directory");
    run(folder, &["nothing"]).refused("unrecognized subcommand 'nothing'");
    // A command comes before a file of its name.
    run(folder, &["sum"]).ends(0).has(&format!("{}  -\n", sha256(b"")));
    assert_eq!(guessed(folder, &["./sum"]).1, ["sum ./sum"]);
    assert_eq!(guessed(folder, &["a", "--threads", "1"]).1, ["sum --threads 1 a"]);
    run(folder, &["a", "--map"]).refused("unexpected argument '--map'");
    run(folder, &["version"]).begins("hashloom ");
    run(folder, &["sha256sum", "--tag", "a"]).is(0, &format!("SHA256 (a) = {}\n", sha256(b"abc")), "");
}
