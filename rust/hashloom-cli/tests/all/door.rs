// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom PATH…`, without a command: which one runs, and that nothing is called right that was not looked at.
//! test/door.py draws more cases than these.

use std::fs;
use std::path::Path;

use crate::common::{Ran, run, sha256};

/// Runs the program, and returns the exit status, the commands that it said it runs, and the rest that it printed.
fn guessed(folder: &Path, words: &[&str]) -> (i32, Vec<String>, String) {
    let (status, printed, told) = run(folder, words).all();
    let (said, told): (Vec<_>, Vec<_>) = told.lines().partition(|line| line.contains("running: hashloom "));
    let said = said.iter().filter_map(|line| Some(line.split_once("running: hashloom ")?.1.to_owned())).collect();
    (status, said, [&printed, &told.join("\n")[..]].concat())
}

/// A folder with `a.iso`, whose bytes are `abc`, and a function that writes files.
fn with_iso() -> (tempfile::TempDir, impl Fn(&str, &str)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let write = move |name: &str, text: &str| {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), text).unwrap();
    };
    write("a.iso", "abc");
    (folder, write)
}

#[test]
fn a_file_is_checked_against_what_lies_beside_it() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    let ours = sha256(b"abc");
    let sum = format!("{ours}  a.iso\n");
    assert_eq!(guessed(folder, &["a.iso"]), (0, vec!["sum a.iso".into()], sum.clone()));
    let (status, _, told) = guessed(folder, &["a.iso", "--require"]);
    assert!(status == 1 && told.contains("nothing to check against"), "{told}");

    // A list that names other files, of which one has this name, says nothing about this one.
    write("other/a.iso", "other");
    write("SHA256SUMS", &format!("{ours}  b.iso\n{ours}  other/a.iso\n"));
    assert_eq!(guessed(folder, &["a.iso"]), (0, vec!["sum a.iso".into()], sum));
    // Any spelling that leads to it counts. The other files of the list do not.
    for name in [".//a.iso", "other/../a.iso", &folder.join("a.iso").to_string_lossy()] {
        write("SHA256SUMS", &format!("{ours}  b.iso\n{ours} *{name}\n"));
        let (status, said, told) = guessed(folder, &["a.iso"]);
        assert_eq!(
            (status, &said[0][..], &told[..]),
            (0, "check --only a.iso SHA256SUMS", "a.iso: OK (sha256 of SHA256SUMS)\n")
        );
    }
    // Two lists are one reading; one of them is wrong.
    write("a.iso.sha1", &"0".repeat(40));
    let (status, said, told) = guessed(folder, &["a.iso", "a.iso"]);
    assert_eq!((status, &said[0][..]), (1, "check --only a.iso --only a.iso SHA256SUMS a.iso.sha1"), "{told}");
    assert!(told.contains("OK (sha256 of SHA256SUMS)") && told.contains("FAILED (sha1 of a.iso.sha1)"), "{told}");
    // A link is what it leads to, and its neighbours' lists count.
    #[cfg(unix)]
    {
        fs::create_dir(folder.join("links")).unwrap();
        std::os::unix::fs::symlink("../a.iso", folder.join("links/latest")).unwrap();
        let (status, _, told) = guessed(folder, &["links/latest"]);
        assert!(status == 1 && told.contains("links/latest: OK (sha256 of "), "{told}");
    }
}

/// What names the file and cannot be compared, or differs.
#[test]
fn nothing_that_names_a_file_is_passed_over() {
    let zeros = "0".repeat(64);
    let (tiger, cut) = ("TIGER (a.iso) = 3293ac630c13f0245f92bbb1766e16167a4e58492dde73f3", &zeros[..32]);
    let cases = [
        ("SHA256SUMS", tiger.to_owned()),
        ("SHA256SUMS", format!("{}  a.iso", &zeros[..60])),
        ("SHA256SUMS", format!("{zeros}  /home/somebody/a.iso")),
        ("SHA256SUMS", format!("{zeros}  C:\\Users\\a.iso")),
        ("SHA256SUMS", "the sums of a.iso are elsewhere".to_owned()),
        ("checksums.txt", "SIZE (a.iso) = 3".to_owned()),
        ("a.iso.sha256", cut.to_owned()),
        ("a.iso.b3", "not a digest".to_owned()),
        ("a.iso.whirlpool", zeros.repeat(2)),
        ("a.iso.tth", format!("{}  a.iso", "A".repeat(39))),
        ("a.iso.meta4", format!("<file name=\"a.iso\">\n<hash type=\"sha-256\">{zeros}</hash>")),
        ("a.iso-SHA256", format!("{zeros}  a.iso")),
        ("other.torrent", "5:a.iso is in a torrent that is cut off".to_owned()),
        ("a.par2", "no packet".to_owned()),
        ("a.torrent", "no torrent".to_owned()),
    ];
    for (name, text) in cases {
        nothing_is_passed_over(name, &text);
    }
}

fn nothing_is_passed_over(name: &str, text: &str) {
    let (folder, write) = with_iso();
    write(name, &format!("{text}\n"));
    let (status, _, told) = guessed(folder.path(), &["a.iso"]);
    // A file that is no PAR2 file has nothing that would name the other.
    let is_other = name == "a.par2";
    assert!(
        (is_other || matches!(status, 1 | 2) && told.contains(name)) && !told.contains(": OK"),
        "{name}: {status} {told}"
    );
}

/// A file that something beside it names is never a list, whatever its content; nor is one whose name says what it is.
#[test]
fn content_does_not_choose_what_is_checked() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    let other = format!("{}  b\n", sha256(b"other"));
    write("b", "other");
    for name in ["a.iso", "run", "a.txt", "SHA512SUMS"] {
        write(name, "good");
        write("SHA256SUMS", &format!("{}  {name}\n", sha256(b"good")));
        write(name, &other);
        let (status, _, told) = guessed(folder, &[name]);
        assert!(status == 1 && told.contains(&format!("{name}: FAILED (sha256 of SHA256SUMS)")), "{told}");
    }
    fs::remove_file(folder.join("SHA256SUMS")).unwrap();
    let texts = [("a.iso", other.clone()), ("run", format!("#!/bin/sh\n{other}{other}")), ("a.sh", other.clone())];
    for (name, text) in texts {
        write(name, &text);
        assert_eq!(guessed(folder, &[name]).1, [format!("sum {name}")]);
    }
    // The name says nothing, or that it is a list.
    for name in ["a.txt", "list", "SHA512SUMS"] {
        write(name, &other);
        assert_eq!(guessed(folder, &[name]), (0, vec![format!("check {name}")], "b: OK\n".into()), "{name}");
    }
    write("SHA512SUMS.asc", "-----BEGIN PGP SIGNATURE-----\n");
    let (status, said, told) = guessed(folder, &["SHA512SUMS.asc"]);
    assert_eq!((status, &said[0][..]), (0, "check SHA512SUMS"), "{told}");
    assert!(
        told.contains("SHA512SUMS.asc: this signature was not checked; `gpg --verify SHA512SUMS.asc SHA512SUMS`"),
        "{told}"
    );
    // Files beside the list come before those of the current folder.
    write("dir/b", "bad");
    write("dir/SHA256SUMS", &other);
    let (status, said, _) = guessed(folder, &["dir/SHA256SUMS"]);
    assert_eq!((status, &said[0][..]), (1, "check --relative-to-list dir/SHA256SUMS"));
}

/// `sum --expect` has the tests of what a digest may look like.
#[test]
fn a_digest_may_stand_beside_a_file() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    let (ours, other) = (sha256(b"abc"), sha256(b"other"));
    let lines: [&[&str]; 5] = [
        &["a.iso", &ours],
        &[&ours, "a.iso"],
        &["a.iso", "SHA256:", &ours],
        &[&ours, "a.iso", "-"],
        &["a.iso", &ours[..32], &ours[32..]],
    ];
    for line in lines {
        let (status, said, told) = guessed(folder, line);
        let may_be_two = line.len() == 3 && line[1].len() == 32;
        assert!(
            may_be_two && status == 2
                || status == 0 && said[0].starts_with("sum --expect ") && told == "a.iso: OK (sha256)\n",
            "{line:?}: {told}"
        );
    }
    let (status, _, told) = guessed(folder, &["a.iso", &other]);
    assert!(status == 1 && told.starts_with("a.iso: FAILED\n"), "{told}");
    run(folder, &["a.iso", &ours[1..]]).refused("63 digits, but SHA256 has 64: 1 missing");
    write(&ours, "a file");
    run(folder, &["a.iso", &ours]).refused(&format!("write ./{ours} for the file, or sha256:{ours} for the digest"));
}

#[test]
fn signatures_are_named_or_checked() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    write("SHA256SUMS", &format!("{}  a.iso\n", sha256(b"abc")));
    for signature in ["SHA256SUMS.sign", "a.iso.asc", "a.iso.sig", "a.iso.gpg", "a.iso.minisig", "a.iso.sigstore.json"]
    {
        write(signature, "x\n");
        let (status, _, told) = guessed(folder, &["a.iso"]);
        assert!(status == 0 && told.contains(&format!("{signature}: this signature was not checked")), "{told}");
        fs::remove_file(folder.join(signature)).unwrap();
    }
    write("a.iso.sig", &"\0".repeat(7856));
    assert!(guessed(folder, &["a.iso"]).2.contains("`hashloom slh verify --key KEY --signature a.iso.sig a.iso`"));

    // A signed manifest stands for any signed list.
    run(folder, &["slh", "keygen", "k", "-a", "SLH-DSA-SHA2-128f"]).done();
    run(folder, &["manifest", "write", "-q", ".", "--include", "a.iso", "-o", "m.manifest", "--sign", "k"]).done();
    let trusted = |words: &[&str]| run(folder, &[&["check", "--trusted-key", "k.pub"], words].concat()).all();
    let (status, printed, told) = trusted(&["--only", "a.iso", "m.manifest"]);
    assert!(
        status == 0 && printed.contains("a.iso: OK (sha256 of m.manifest)") && told.contains("signed by"),
        "{told}"
    );
    // A file's own signature will do, without a list too.
    fs::copy(folder.join("m.manifest"), folder.join("m.bin")).unwrap();
    run(folder, &["m.bin", "--trusted-key", "k.pub"]).refused("unexpected argument '--trusted-key'");
    fs::copy(folder.join("m.manifest.slhsig"), folder.join("m.bin.slhsig")).unwrap();
    assert!(guessed(folder, &["m.bin"]).2.contains("`hashloom m.bin --trusted-key KEY` does it"));
    let (status, said, told) = guessed(folder, &["m.bin", "--trusted-key", "k.pub", "--require"]);
    assert_eq!((status, &said[0][..]), (0, "check --trusted-key k.pub --only m.bin"), "{told}");
    assert!(told.starts_with("m.bin: OK (signature of m.bin.slhsig)\n") && told.contains("signed by"), "{told}");
    write("m.bin", "another");
    let (status, _, told) = guessed(folder, &["m.bin", "--trusted-key", "k.pub"]);
    assert!(status == 1 && !told.contains("OK") && told.contains("the signature is wrong"), "{told}");
    for words in [&["--only", "m.bin"][..], &["--only", ".", "--trusted-key", "k.pub"], &["--trusted-key", "k.pub"]] {
        run(folder, &[&["check"], words].concat()).refused("expected a LIST");
    }
    fs::create_dir(folder.join("empty")).unwrap();
    let (status, _, told) = run(folder, &["check", "--only", "empty", "SHA256SUMS"]).all();
    assert!(status == 1 && told.contains("it names no file in the folder"), "{told}");

    let (status, printed, told) = trusted(&["--only", "a.iso", "SHA256SUMS"]);
    assert!(status == 1 && !printed.contains("OK") && told.contains("SHA256SUMS.slhsig: No such file"), "{told}");
    assert_eq!(trusted(&["SHA256SUMS"]).0, 1);
    fs::copy(folder.join("m.manifest.slhsig"), folder.join("SHA256SUMS.slhsig")).unwrap();
    let (status, printed, told) = trusted(&["SHA256SUMS"]);
    assert!(status == 1 && !printed.contains("OK") && told.contains("the signature is wrong"), "{told}");
}

#[test]
fn the_second_of_two_paths_is_the_content() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    for name in ["album", "backup"] {
        write(&format!("{name}/track"), "la la la");
    }
    run(folder, &["manifest", "write", "album", "-q", "-o", "album.manifest"]).done();
    run(folder, &["torrent", "create", "album", "-q", "-o", "album.torrent"]).done();
    run(folder, &["torrent", "create", "a.iso", "-q", "-o", "a.torrent"]).done();
    write("SHA256SUMS", &format!("{}  track\n", sha256(b"la la la")));

    let both = ["manifest check album.manifest album", "torrent verify --data album album.torrent"];
    for path in ["album", "album/", "./album/.", &folder.join("album").to_string_lossy()] {
        let (status, said, told) = guessed(folder, &[path]);
        assert_eq!((status, said.len()), (0, 2), "{path}: {told}");
    }
    assert_eq!(guessed(folder, &["album"]).1, both);
    assert_eq!(guessed(&folder.join("album"), &["."]).0, 0);
    assert_eq!(guessed(folder, &["a.iso"]).1, ["torrent verify --data a.iso a.torrent"]);
    let pairs = [
        ["album.manifest", "backup"],
        ["album.torrent", "backup"],
        ["SHA256SUMS", "backup"],
        ["SHA256SUMS", "backup/track"],
        ["album.manifest", "backup/track"],
    ];
    for pair in pairs {
        let (status, _, told) = guessed(folder, &pair);
        assert_eq!(status, 0, "{pair:?}: {told}");
    }
    fs::write(folder.join("backup/track"), "la la l_").unwrap();
    for pair in pairs {
        let (status, _, told) = guessed(folder, &pair);
        assert!(status == 1 && !told.contains(": OK"), "{pair:?}: {told}");
    }
    for (pair, cure) in
        [(["a.iso", "a.torrent"], "`hashloom a.torrent a.iso`"), (["a.iso", "album"], "`hashloom a.iso`")]
    {
        run(folder, &pair).refused(cure);
    }
    // Beside the torrent, not in this folder; then nowhere: the torrent is shown.
    let (status, said, _) = guessed(&folder.join("backup"), &["../album.torrent"]);
    assert_eq!((status, &said[0][..]), (0, "torrent verify --data .. ../album.torrent"));
    fs::rename(folder.join("album"), folder.join("gone")).unwrap();
    let (status, said, told) = guessed(folder, &["album.torrent"]);
    assert_eq!((status, &said[0][..]), (0, "torrent show album.torrent"), "{told}");
}

#[test]
fn a_folder_is_checked_by_its_lists() {
    let (folder, write) = with_iso();
    let folder = folder.path();
    write("p/a", "abc");
    write("p/sub/b", "abc");
    let ours = sha256(b"abc");
    write("p/SHA256SUMS", &format!("{ours}  a\n"));
    let (status, said, told) = guessed(folder, &["p"]);
    assert_eq!((status, &said[0][..]), (0, "check --relative-to-list p/SHA256SUMS"), "{told}");
    assert!(told.contains("p: 1 other file is not listed, and not checked: sub/b"), "{told}");
    assert_eq!(guessed(folder, &["p", "--require"]).0, 1);
    // A list beside it, of this folder and others; and one that is called like it.
    fs::remove_file(folder.join("p/SHA256SUMS")).unwrap();
    write("SHA256SUMS", &format!("{ours}  p/a\n{}  a.iso\n{ours}  p/sub/b\n", "0".repeat(64)));
    write("p.sha1", &format!("{}  a\n", "0".repeat(40)));
    let (status, said, told) = guessed(folder, &["p/"]);
    assert_eq!(said, ["check --only p SHA256SUMS", "check --directory p p.sha1"], "{told}");
    assert!(status == 1 && told.contains("p/a: OK\np/sub/b: OK\n") && !told.contains("a.iso"), "{told}");
}

#[test]
fn words_that_are_neither_commands_nor_paths() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("sum"), "").unwrap();
    fs::write(folder.join("-q"), "").unwrap();
    fs::write(folder.join("2"), "").unwrap();
    fs::write(folder.join("a"), "abc").unwrap();
    run(folder, &["no.iso"]).refused("no.iso: No such file or directory");
    run(folder, &["a", "nothing"]).refused("nothing: No such file or directory");
    run(folder, &["nothing"]).refused("nothing: No such file or directory");
    run(folder, &["chekc"]).refused("neither a file here nor a command: 'chekc'");
    // A command comes before a file of its name.
    run(folder, &["sum"]).ends(0).has(&format!("{}  -\n", sha256(b"")));
    assert_eq!(guessed(folder, &["./sum"]).1, ["sum ./sum"]);
    // The value of an option is no path, even if it is there; options may come first.
    for words in [["a", "--threads", "2"], ["--threads", "2", "a"]] {
        assert_eq!(guessed(folder, &words).1, ["sum --threads 2 a"]);
    }
    assert_eq!(guessed(folder, &["--", "-q"]).1, ["sum -- -q"]);
    run(folder, &["a", "--map"]).refused("unexpected argument '--map'");
    run(folder, &["version"]).begins("hashloom ");
    run(folder, &["sha256sum", "--tag", "a"]).is(0, &format!("SHA256 (a) = {}\n", sha256(b"abc")), "");
}

/// Words of other programs, and options in the wrong place, are refused with what hashloom has.
#[test]
fn words_of_other_programs_name_ours() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("f"), "abc").unwrap();
    fs::create_dir(folder.join("photos")).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["verify", "f"], "hashloom check LIST"),
        (&["dupes", "photos"], "hashloom sum -r DIR | sort | uniq -w64 -D"),
        (&["create", "photos"], "'manifest write', 'torrent create'"),
        (&["sum", "-c", "f"], "hashloom check LIST"),
        (&["sum", "-o", "out", "f"], "> FILE"),
        (&["sum", "-j4", "f"], "--threads N"),
        (&["sum", "--quiet", "f"], "leave it out"),
        (&["sum", "--md5", "f"], "--algorithm md5"),
        (&["--sha3-256", "f"], "--algorithm sha3-256"),
        (&["sum", "-a", "sha3", "f"], "'sha3-256', 'sha3-384'"),
        (&["sum", "--update", "f"], "--update is an option of `hashloom manifest write`"),
        (&["check", "-c", "f"], "leave it out"),
        (&["manifest", "photos"], "hashloom manifest write PATH"),
        (&["manifest", "write", "-f", "photos"], "--force"),
        (&["manifest", "check", "--status", "m"], "--quiet"),
    ];
    for (words, ours) in cases {
        let (status, printed, told) = run(folder, words).all();
        assert!(status == 2 && printed.is_empty() && told.contains(ours), "{words:?}: {status} {told}");
    }
    // No control character reaches a terminal.
    for words in [&["--\u{1b}[31m"][..], &["\u{1b}[31m"], &["torrent", "\u{1b}[31m"], &["sum", "-a", "\u{1b}[31m"]] {
        let (status, _, told) = run(folder, words).all();
        assert!(status == 2 && !told.contains('\u{1b}'), "{words:?}: {told}");
    }
    // Options of the commands may stand before a path, and are told by their long names.
    assert_eq!(guessed(folder, &["-a", "md5", "f"]).1, ["sum --algorithm md5 f"]);
    let sum = format!("{}  f\n", sha256(b"abc"));
    run(folder, &["-q", "f"]).is(0, &sum, "");
    fs::write(folder.join("f"), "no list\n").unwrap();
    run(folder, &["check", "f"]).says("to check the file itself: hashloom f");
}
