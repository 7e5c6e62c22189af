// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom tree` as a script does: exit statuses, and which files are written. The crate tests the roots, and
//! test/trees.py compares them with other programs'.

use std::path::Path;
use std::process::Output;

use crate::common::{Ran, hashloom, status, stderr, stdout};

fn tree(folder: &Path, arguments: &[&str]) -> Output {
    hashloom().arg("tree").args(arguments).current_dir(folder).output().unwrap()
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn what_can_be_read_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("abc"), "abc").unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let output = tree(folder.path(), &["bep52", "missing", "abc", "."]);
    assert_eq!(stdout(&output), format!("{abc}  abc\n"));
    assert!(stderr(&output).contains("missing: ") && stderr(&output).contains("found a folder"));
    assert_eq!(status(&output), 2);
    tree(folder.path(), &["bep52", "--json", "abc"]).prints(&format!("{{\"path\":\"abc\",\"root\":\"{abc}\"}}\n"));
    tree(folder.path(), &["commp", "abc"])
        .prints("baga6ea4seaqi234x3g5cnyn2hnxewvapwo2sdycdqzy44bgrxxtfmynklaw2qoy  128  abc\n");
    for wrong in [
        &["fsverity", "--block-size", "512", "abc"][..],
        &["s3", "--part-size", "1MiB", "abc"],
        &["s3", "--etag", "900150983cd24fb0d6963f7d28e17f72", "abc"],
        &["cid", "--profile", "unixfs-v2-2035", "abc"],
        &["fsverity"],
    ] {
        assert_eq!(status(&tree(folder.path(), wrong)), 2, "{wrong:?}");
    }
}

#[test]
fn standard_input_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("abc"), "abc").unwrap();
    let file = std::fs::File::open(folder.path().join("abc")).unwrap();
    let output = hashloom().args(["tree", "bep52", "-", "-"]).stdin(file).output().unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    output.ends(0).prints(&format!("{abc}  -\n-  -\n"));
}

#[test]
fn the_part_size_behind_an_etag_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), vec![7; 30_000_000]).unwrap();
    std::fs::write(folder.path().join("abc"), "abc").unwrap();
    for (size, shown) in [("7MiB", "7 MiB"), ("9000000", "9000000 bytes")] {
        let line = tree(folder.path(), &["s3", "-a", "md5", "-p", size, "data"]);
        let etag = stdout(&line).split_once("  ").unwrap().0;
        tree(folder.path(), &["s3", "--etag", etag, "data"])
            .ends(0)
            .prints(&format!("data: has this ETag in parts of {shown}\n"));
    }
    let other = format!("{}-4", "0".repeat(32));
    let output = tree(folder.path(), &["s3", "--json", "--etag", &other, "data", "abc"]);
    output.ends(1).prints("{\"path\":\"data\",\"part_size\":null}\n{\"path\":\"abc\",\"part_size\":null}\n");
    assert_eq!(status(&tree(folder.path(), &["s3", "--etag", &other, "data", "missing"])), 2);
}

#[cfg(unix)]
#[test]
fn a_name_stays_on_its_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a\nb\x1b"), "abc").unwrap();
    let output = tree(folder.path(), &["fsverity", "a\nb\x1b"]);
    assert_eq!((status(&output), stdout(&output).lines().count()), (0, 1));
    assert!(!stdout(&output).contains('\x1b'));
}

#[test]
fn a_hash_file_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    std::fs::write(folder.path().join("data"), vec![7; 1 << 20]).unwrap();
    std::fs::write(folder.path().join("short"), "abc").unwrap();
    let before = names();
    for wrong in [
        &["short", "hashes"][..],
        &["data", "hashes", "--hash-offset", "77"],
        &["data", "data", "--force"],
        &["data", "hashes", "--algorithm", "sha512-256"],
        &["data", "hashes", "--uuid", "1-2-3-4-5"],
        &["data", "no/folder"],
    ] {
        assert_eq!(status(&tree(folder.path(), &[&["dmverity", "format"], wrong].concat())), 2, "{wrong:?}");
        assert_eq!(names(), before, "{wrong:?}");
    }
    let formatted = tree(folder.path(), &["dmverity", "format", "data", "hashes"]);
    let root = stdout(&formatted).split_whitespace().last().unwrap().to_owned();
    assert_eq!((status(&formatted), root.len()), (0, 64));
    tree(folder.path(), &["dmverity", "format", "data", "hashes"]).ends(2).says("--force");
    tree(folder.path(), &["dmverity", "verify", "data", "hashes", &root])
        .ends(0)
        .prints("all blocks are right: 256 blocks, 1048576 bytes of DATA\n");
    let mut data = vec![7; 1 << 20];
    data[5000] = 8;
    std::fs::write(folder.path().join("data"), data).unwrap();
    tree(folder.path(), &["dmverity", "verify", "data", "hashes", &root])
        .ends(1)
        .prints("data: block 1 is wrong\nwrong: 1 of 256 blocks of DATA, 0 of 3 blocks of HASHES\n");
}

/// The tree goes behind the data of the same file, and nothing that is there is overwritten.
#[test]
fn a_tree_is_appended_to_its_image() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data: Vec<u8> = (0..1_u32 << 20).map(|at| (at / 7) as u8).collect();
    let image = folder.join("a");
    std::fs::write(&image, &data).unwrap();
    let format = |words: &[&str]| {
        let uuid = "11111111-2222-3333-4444-555555555555";
        tree(folder, &[&["dmverity", "format", "--salt", "aa", "--uuid", uuid], words].concat())
    };
    #[cfg(unix)]
    std::os::unix::fs::symlink("a", folder.join("link")).unwrap();
    std::fs::hard_link(&image, folder.join("hard")).unwrap();
    let other = if cfg!(unix) { "link" } else { "hard" };
    for (words, why) in [
        (&["a", "a"][..], "would overwrite DATA, which ends at byte 1048576"),
        (&["--hash-offset", "1044480", "--force", "a", "a"], "would overwrite DATA"),
        (&["--hash-offset", "1044480", "--force", "a", other], "would overwrite DATA"),
        (&["--hash-offset", "1044480", "--force", other, "a"], "would overwrite DATA"),
        (&["--hash-offset", "1044480", "--force", "a", "hard"], "would overwrite DATA"),
        (&["--hash-offset", "1044480", "--data-blocks", "255", "a", "a"], "has 4096 bytes from --hash-offset on"),
        (&["--hash-offset", "1048577", "a", "a"], "512"),
        (&["--hash-offset", "1049088", "--no-superblock", "a", "a"], "4096"),
        (&["--hash-offset", "4194304", "--data-blocks", "257", "a", "a"], "1048576"),
    ] {
        let words: Vec<_> = words.to_vec();
        // Without a superblock there is no UUID.
        let output = if words.contains(&"--no-superblock") {
            tree(folder, &[&["dmverity", "format"], &words[..]].concat())
        } else {
            format(&words)
        };
        assert_eq!(status(&output), 2, "{words:?}");
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
        assert!(std::fs::read(&image).unwrap() == data, "{words:?}");
    }
    format(&["--hash-offset", "1048576", "a", "b"]).ends(0);
    let root = stdout(&format(&["--hash-offset", "1048576", "a", other])).split_whitespace().last().unwrap().to_owned();
    let whole = std::fs::read(&image).unwrap();
    assert!(whole[..1 << 20] == data && whole[1 << 20..] == std::fs::read(folder.join("b")).unwrap()[1 << 20..]);
    tree(folder, &["dmverity", "verify", "--hash-offset", "1048576", "a", "a", &root]).ends(0);
    // The tree is no data, and needs --force to be made again.
    for (words, wanted) in [(&["--data-blocks", "256"][..], 2), (&["--data-blocks", "256", "--force"], 0), (&[], 2)] {
        let words = [&["--hash-offset", "1048576", "a", "a"], words].concat();
        assert_eq!(status(&format(&words)), wanted, "{words:?}");
        assert!(std::fs::read(&image).unwrap() == whole, "{words:?}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), if cfg!(unix) { 4 } else { 3 });
}

#[test]
fn a_proof_is_checked_against_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(folder.path().join("two"), "two").unwrap();
    let root = tree(folder.path(), &["rfc6962", "root", "--lines", "log"]);
    let (size, root) = stdout(&root).trim_end().split_once("  ").unwrap();
    assert_eq!(size, "3");
    let proof = tree(folder.path(), &["rfc6962", "prove-inclusion", "1", "--lines", "log"]);
    std::fs::write(folder.path().join("proof"), &proof.stdout).unwrap();
    let check = |options: &[&str]| tree(folder.path(), &[&["rfc6962", "check", "proof"], options].concat());
    let known = ["--root", root, "--entry", "two", "--size", "3"];
    assert_eq!(stdout(&check(&known)), "right: entry 1 is in the tree of 3; only PROOF says: index\n");
    let right = check(&[&known[..], &["--index", "1"]].concat());
    right.ends(0).prints("right: entry 1 is in the tree of 3\n");
    // Whoever wrote the proof could have chosen what is not given.
    for (given, missing) in [
        (&[][..], "--root, --size, --leaf or --entry"),
        (&known[..4], "--size"),
        (&known[2..], "--root"),
        (&["--root", root, "--size", "3"], "--leaf or --entry"),
    ] {
        let output = check(given);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{given:?}");
        assert!(stderr(&output).trim_end().ends_with(&format!("source says: {missing}")), "{}", stderr(&output));
    }
    for other in [["--size", "2"], ["--size", "5"], ["--index", "0"], ["--index", "2"]] {
        assert_eq!(status(&check(&[&known[..4], &other].concat())), 1, "{other:?}");
    }
    assert_eq!(status(&check(&["--first-size", "1"])), 2);
    assert_eq!(status(&check(&["--root", &"00".repeat(32)])), 1);
    assert_eq!(status(&check(&["--entry", "log"])), 1);
    assert_eq!(status(&check(&["--leaf", "00"])), 1);
    assert_eq!(status(&check(&["--leaf", "0"])), 2);
    assert_eq!(status(&check(&["--algorithm", "sha1"])), 2);
    tree(folder.path(), &["rfc6962", "prove-inclusion", "3", "--lines", "log"]).ends(2).says("expected one below 3");
}

#[test]
fn a_proof_about_two_trees_needs_both_roots_and_sizes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), "one\ntwo\nthree\nfour\nfive\n").unwrap();
    let root = |nlines: usize| {
        let lines = &["one", "two", "three", "four", "five"][..nlines];
        std::fs::write(folder.path().join("first"), lines.join("\n")).unwrap();
        let output = tree(folder.path(), &["rfc6962", "root", "--lines", "first"]);
        stdout(&output).trim_end().split_once("  ").unwrap().1.to_owned()
    };
    let (root2, root4, root5) = (root(2), root(4), root(5));
    let proved = |prove: &[&str]| {
        let proof = tree(folder.path(), &[&["rfc6962"], prove, &["--lines", "log"]].concat());
        assert_eq!(status(&proof), 0);
        std::fs::write(folder.path().join("proof"), &proof.stdout).unwrap();
    };
    let check = |options: &[&str]| {
        let output = tree(folder.path(), &[&["rfc6962", "check", "proof"], options].concat());
        (status(&output), stdout(&output).to_owned())
    };
    // Each option is left out once, and is another once.
    let each = |known: &[(&str, &str, &str)], right: &str| {
        let given = |without: usize| {
            let known = known.iter().enumerate().filter(move |(i, _)| *i != without);
            known.flat_map(|(_, &(option, value, _))| [option, value]).collect::<Vec<_>>()
        };
        assert_eq!(check(&given(usize::MAX)), (0, format!("right: {right}\n")));
        for (i, &(option, _, other)) in known.iter().enumerate() {
            assert_eq!(check(&given(i)), (2, String::new()), "without {option}");
            let (status, said) = check(&[&given(i)[..], &[option, other]].concat());
            assert!(status == 1 && said.starts_with("wrong: "), "{option} {other}: {said}");
        }
        assert_eq!(check(&[]), (2, String::new()));
    };
    proved(&["prove-consistency", "2"]);
    each(
        &[
            ("--root", &root5, &root4),
            ("--size", "5", "3"),
            ("--first-root", &root2, &root4),
            ("--first-size", "2", "1"),
        ],
        "the tree of 2 is the beginning of the tree of 5",
    );
}
