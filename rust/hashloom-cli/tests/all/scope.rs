// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent verify` on some pieces of torrents: `--file`, `--first` and `--claimed`. A check of a part
//! never looks like one of the whole, whatever is right or wrong in the rest.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{Ran, hashloom, status, stderr, stdout};
use crate::maker::{Content, Version, content, noise};
use hashloom_torrent::{PieceState, Torrent};
use serde_json::{Value, json};

const PIECE: usize = 16 << 10;
const VERSIONS: [(Version, &str); 3] = [(Version::V1, "v1"), (Version::V2, "v2"), (Version::Hybrid, "hybrid")];

/// A folder with torrents of all versions and `album`, their content.
struct Album(tempfile::TempDir);

impl Album {
    /// In version 1 piece 3 has the end of `CD1/One.flac` and the beginning of `CD1/two.flac`, and piece 6 ends in
    /// `CD2/one.flac`.
    fn files() -> Vec<Content> {
        vec![
            content("CD1/One.flac", noise(3 * PIECE + 100, 1)),
            content("CD1/empty", ""),
            content("CD1/two.flac", noise(3 * PIECE + 200, 2)),
            content("CD2/one.flac", noise(4 * PIECE, 3)),
        ]
    }

    fn new() -> Album {
        let folder = tempfile::tempdir().unwrap();
        for (version, name) in VERSIONS {
            let (torrent, _) = crate::maker::torrent(version, "album", &Album::files(), PIECE);
            fs::write(folder.path().join(format!("{name}.torrent")), torrent).unwrap();
        }
        let album = Album(folder);
        album.restore();
        album
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn restore(&self) {
        crate::maker::write_files(&self.path().join("album"), &Album::files());
    }

    /// Makes a byte of a file wrong.
    fn flip(&self, file: &str, at: usize) {
        let path = self.path().join("album").join(file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] ^= 1;
        fs::write(path, bytes).unwrap();
    }

    fn remove(&self, file: &str) {
        fs::remove_file(self.path().join("album").join(file)).unwrap();
    }

    fn verify(&self, arguments: &[&str]) -> Output {
        hashloom().current_dir(self.path()).args(["torrent", "verify"]).args(arguments).output().unwrap()
    }

    /// The exit status and the object of a torrent.
    fn object(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.verify(&[arguments, &["--json"]].concat());
        assert_eq!(stderr(&output), "", "{arguments:?}");
        (status(&output), serde_json::from_str(stdout(&output)).unwrap())
    }
}

/// Returns true if a text says of anything that it is complete.
fn says_complete(text: &str) -> bool {
    text.replace("not complete", "").contains("complete")
}

#[test]
fn nothing_is_said_of_what_was_not_asked_for() {
    let album = Album::new();
    // Another file is wrong, and one is a folder, which cannot be opened.
    album.flip("CD2/one.flac", 3 * PIECE);
    album.remove("CD1/empty");
    fs::create_dir(album.path().join("album/CD1/empty")).unwrap();
    for (_, name) in VERSIONS {
        let torrent = format!("{name}.torrent");
        let arguments = [&*torrent, "--file", "CD1/One.flac"];
        let output = album.verify(&arguments);
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{name}");
        let total = if name == "v1" { 11 } else { 12 };
        let verdict = format!("\n\npart right: 4 of {total} pieces checked, 4 right, ");
        assert!(stdout(&output).contains(&verdict), "{name}: {}", stdout(&output));
        assert!(!says_complete(stdout(&output)), "{name}: {}", stdout(&output));

        let (code, object) = album.object(&arguments);
        assert_eq!(code, 0);
        assert_eq!((&object["complete"], &object["exact"]), (&json!(false), &json!(false)), "{name}");
        assert_eq!(object["scope"], json!({"pieces": 4, "right": true, "bitfield": "f000"}), "{name}");
        assert_eq!((&object["bitfield"], &object["pieces"]["have"]), (&json!("f000"), &json!(4)), "{name}");
        assert_eq!(object["pieces"]["unchecked"], json!(total - 4), "{name}");
        let list = album.verify(&[&arguments[..], &["--missing", "--map"]].concat());
        assert!(!stdout(&list).contains("pieces 4-"), "{}", stdout(&list));
        list.has(&format!("  ████{}\n", "~".repeat(total - 4)));
        assert_eq!(stdout(&album.verify(&[&arguments[..], &["--repair-list"]].concat())), "");
        // In version 1 piece 3 has bytes of the next file too.
        let read = if name == "v1" { 4 * PIECE } else { 3 * PIECE + 100 };
        assert_eq!(object["bytes_read"], read, "{name}: what was not asked for is not read");
        assert_eq!(status(&album.verify(&[&torrent])), 2, "all of it is not right");
    }
    // One that is asked for is wrong.
    for (_, name) in VERSIONS {
        let torrent = format!("{name}.torrent");
        let output = album.verify(&[&torrent, "--file", "one.flac"]);
        assert_eq!(status(&output), 1, "{name}");
        output.has("\n  CD2/one.flac has 1 of ").has("\n\npart wrong: ");
        let (code, object) = album.object(&[&torrent, "--file", "one.flac"]);
        assert_eq!((code, &object["complete"], &object["scope"]["right"]), (1, &json!(false), &json!(false)));
        assert_eq!(object["pieces"]["bad"], 1, "{name}");
    }
}

/// A piece of version 1 that two files share is right only if both are.
#[test]
fn a_neighbour_of_version_1_counts() {
    let album = Album::new();
    album.remove("CD1/two.flac");
    album
        .verify(&["v1.torrent", "--file", "CD1/One.flac"])
        .ends(1)
        .has("\n  CD1/two.flac is missing\n")
        .has("\n\npart wrong: 4 of 11 pieces checked, 3 right, ");
    for torrent in ["v2.torrent", "hybrid.torrent"] {
        assert_eq!(status(&album.verify(&[torrent, "--file", "CD1/One.flac"])), 0, "{torrent}");
    }
}

#[test]
fn globs_are_those_of_paths_in_the_torrent() {
    let album = Album::new();
    for (globs, pieces) in [
        (&["*.flac"][..], 12),
        (&["CD1/**"], 8),
        (&["CD2/*"], 4),
        (&["one.flac"], 4),
        (&["[oO]ne.flac"], 8),
        (&["/CD1/One.flac"], 4),
        (&["CD2/*", "two.flac", "*two*"], 8),
    ] {
        let options: Vec<&str> = globs.iter().flat_map(|glob| ["--file", glob]).collect();
        let (code, object) = album.object(&[&["v2.torrent"], &options[..]].concat());
        assert_eq!(code, 0);
        // All pieces are all of the torrent, files without pieces too.
        match pieces {
            12 => assert_eq!((object.get("scope"), &object["complete"]), (None, &json!(true)), "{globs:?}"),
            _ => assert_eq!(object["scope"]["pieces"], pieces, "{globs:?}"),
        }
    }
    // The padding of hybrid torrents is no file; and an empty file has no piece.
    for (glob, why) in [
        ("ONE.FLAC", "none of the torrent's 4 files matches. hashloom torrent show lists them"),
        ("CD1", "none of the torrent's 4 files matches"),
        ("album/CD1/One.flac", "none of the torrent's 4 files matches"),
        ("CD1\\One.flac", "none of the torrent's 4 files matches"),
        (".pad/*", "none of the torrent's 4 files matches"),
        ("**/empty", "1 matching file without content, so no piece to check"),
    ] {
        for (_, name) in VERSIONS {
            let torrent = format!("{name}.torrent");
            // Another glob that matches does not help.
            let output = album.verify(&[&torrent, "--file", "*.flac", "--file", glob]);
            assert_eq!((status(&output), stdout(&output)), (2, ""), "{glob}");
            let message = format!("hashloom: {torrent}: --file {}: {why}", glob.replace('\\', "\\\\"));
            assert!(stderr(&output).contains(&message), "{glob}: {}", stderr(&output));
        }
    }
    // Of several torrents those that have such a file are checked.
    let (single, _) = crate::maker::torrent(Version::V1, "single", &[content("song", noise(10, 1))], PIECE);
    fs::write(album.path().join("single.torrent"), single).unwrap();
    let output = album.verify(&["v1.torrent", "single.torrent", "v2.torrent", "--data", ".", "--file", "two.flac"]);
    assert_eq!(status(&output), 2);
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    let lines: Vec<&str> = stdout(&output).lines().collect();
    let expected = ["v1.torrent  4 of 11", "v2.torrent  4 of 12"];
    let expected = expected.map(|of| format!("part right    {of} pieces checked, 4 right"));
    assert_eq!(lines[..2], expected);
    assert!(lines[3].starts_with("part wrong: 1 of 3 torrents is not right, 2 checked in part, in "), "{lines:?}");
}

#[test]
fn usage_that_cannot_be_meant() {
    let album = Album::new();
    for (options, message) in [
        (&["--first", "0"][..], "0 is not in 1.."),
        (&["--first", "-1"], "'-1'"),
        (&["--first", "x"], "invalid digit"),
        (&["--file", ""], "the glob \"\": expected a pattern"),
        (&["--file", "!a"], "expected a pattern that does not begin with"),
        (&["--file", "[a"], "unclosed character class"),
        // A client would fetch again what was not checked.
        (&["--first", "1", "--libtorrent", "x.fastresume"], "cannot be used with"),
        (&["--file", "*", "--libtorrent", "x.fastresume"], "cannot be used with"),
        (&["--file", "*", "--transmission", "x.resume"], "cannot be used with"),
    ] {
        album.verify(&[&["v1.torrent"], options].concat()).refused(message);
    }
    assert!(!album.path().join("x.fastresume").exists());
}

#[test]
fn the_first_pieces_of_each_file_and_the_last() {
    let album = Album::new();
    for (_, name) in VERSIONS {
        let torrent = &*format!("{name}.torrent");
        // Version 1: pieces 0 and 3, 3 and 6, 6 and 10. The others: 0 and 3, 4 and 7, 8 and 11.
        let (scope, count) = if name == "v1" { ("9220", 4) } else { ("9990", 6) };
        let (code, object) = album.object(&[torrent, "--first", "1"]);
        assert_eq!((code, &object["complete"]), (0, &json!(false)), "{name}");
        assert_eq!(object["scope"], json!({"pieces": count, "right": true, "bitfield": scope}), "{name}");
        let (_, object) = album.object(&[torrent, "--first", "2", "--file", "CD2/**"]);
        assert_eq!(object["scope"]["pieces"], 3, "{name}");

        // All of them is a check of the whole torrent, and of files without pieces.
        for first in ["4", "5", "4294967295"] {
            let (code, object) = album.object(&[torrent, "--first", first]);
            assert_eq!((code, &object["complete"], object.get("scope")), (0, &json!(true), None), "{name} {first}");
        }
        album.remove("CD1/empty");
        assert_eq!(status(&album.verify(&[torrent, "--first", "1"])), 0, "{name}");
        album.verify(&[torrent]).ends(0).has("\n  CD1/empty is empty and missing, which clients do not mind\n");
        assert_eq!(status(&album.verify(&[torrent, "--first", "4", "--exact"])), 1, "{name}");
        album.restore();
    }
}

#[test]
fn several_torrents_are_complete_or_right_in_part() {
    let album = Album::new();
    let (single, _) = crate::maker::torrent(Version::V1, "single", &[content("song", noise(10, 1))], PIECE);
    fs::write(album.path().join("single.torrent"), single).unwrap();
    crate::maker::write_files(&album.path().join("single"), &[content("song", noise(10, 1))]);
    let both = ["single.torrent", "v1.torrent", "--data", "."];
    let output = album.verify(&[&both[..], &["--first", "1"]].concat()).done();
    let lines: Vec<&str> = stdout(&output).lines().collect();
    let expected =
        ["complete      single.torrent  10 bytes", "part right    v1.torrent  4 of 11 pieces checked, 4 right"];
    assert_eq!(lines[..2], expected);
    assert!(lines[3].starts_with("part right: 2 of 2 torrents, 1 checked in part, in "), "{lines:?}");
    album.flip("CD1/One.flac", 0);
    let output = album.verify(&[&both[..], &["--first", "1"]].concat());
    assert_eq!(status(&output), 1);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines[1], "part wrong    v1.torrent  4 of 11 pieces checked, 3 right, 1 piece bad");
    assert!(lines[3].starts_with("part wrong: 1 of 2 torrents is not right, 1 checked in part, in "), "{lines:?}");
    album.verify(&[&both[..1], &["--first", "9"]].concat()).has("\n\ncomplete: 1 of 1 piece, ");
}

/// What is written of a part claims nothing of the rest, although the rest is right.
#[test]
fn what_is_written_of_a_part_claims_no_more() {
    let album = Album::new();
    let bits = || fs::read(album.path().join("bits")).unwrap();
    assert_eq!(status(&album.verify(&["v1.torrent", "-q", "--file", "CD1/One.flac", "--bitfield", "bits"])), 0);
    assert_eq!(bits(), [0xf0, 0]);
    fs::write(album.path().join("bits"), [0x7f, 0x20]).unwrap();
    album.flip("CD1/One.flac", PIECE);
    let resume = ["--libtorrent", "x.fastresume", "--transmission", "x.resume"];
    album.verify(&[&["v1.torrent", "-q", "--claimed", "bits"], &resume[..]].concat()).ends(1).tells("");
    for file in ["x.fastresume", "x.resume"] {
        let (code, object) = album.object(&["v1.torrent", "--claimed", file]);
        assert_eq!((code, &object["scope"]["bitfield"]), (0, &json!("3f20")), "{file}");
        assert_eq!((&object["claimed"]["pieces"], &object["complete"]), (&json!(7), &json!(false)), "{file}");
    }
}

/// The pieces that all options ask for are checked.
#[test]
fn claimed_pieces_of_some_files() {
    let album = Album::new();
    fs::write(album.path().join("bits"), [0x3f, 0xe0]).unwrap();
    album.flip("CD1/One.flac", 0);
    let claimed = ["v1.torrent", "--claimed", "bits"];
    let (code, object) = album.object(&[&claimed[..], &["--file", "CD1/One.flac"]].concat());
    assert_eq!((code, &object["scope"]["bitfield"], &object["claimed"]["pieces"]), (0, &json!("3000"), &json!(9)));
    let (_, object) = album.object(&[&claimed[..], &["--first", "1"]].concat());
    assert_eq!(object["scope"]["bitfield"], "1220");
    fs::write(album.path().join("bits"), [0, 0]).unwrap();
    for options in [&[][..], &["--file", "*.flac"]] {
        let nothing = "hashloom: v1.torrent: nothing was checked: none of the pieces asked for is claimed\n";
        album.verify(&[&claimed[..], options, &["-q"]].concat()).is(1, "", nothing);
        album
            .verify(&[&claimed[..], options].concat())
            .ends(1)
            .tells(nothing)
            .has("\n\nnot checked: 0 of 11 pieces checked, 0 right, 0 bytes (0.0%) in 0.");
        let output = album.verify(&[&claimed[..], options, &["--json"]].concat());
        let object: Value = serde_json::from_str(stdout(&output)).unwrap();
        assert_eq!((status(&output), &object["complete"], &object["scope"]["pieces"]), (1, &json!(false), &json!(0)));
        assert_eq!(object["scope"]["right"], false);
    }
}

/// A check of some pieces uses and removes what an interrupted check knew of them, and leaves the rest to that check.
#[test]
fn the_progress_of_a_longer_check_stays() {
    let album = Album::new();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let torrent = Torrent::open(album.path().join("v2.torrent")).unwrap();
    let file = album.path().join("progress");
    let checkpoint = crate::common::checkpoint(&file);
    checkpoint.begin(&torrent, album.path());
    for piece in 0..10 {
        checkpoint.record(&torrent, piece, PieceState::Have);
    }
    checkpoint.close().unwrap();
    let check = ["v2.torrent", "--resume", "progress", "--json"];
    let object = |output: &Output| serde_json::from_str::<Value>(stdout(output)).unwrap();
    let known = |nbytes: u64| if crate::common::is_trusted(album.path()) { nbytes } else { 0 };

    // Pieces 4 to 7 were known; 0 to 3 and 8 to 11 are not a part of this check.
    let output = album.verify(&[&check[..], &["--file", "two.flac"]].concat());
    assert_eq!(status(&output), 0);
    let found = object(&output);
    assert_eq!((&found["bitfield"], &found["scope"]["right"]), (&json!("0f00"), &json!(true)));
    assert_eq!(found["bytes_read"], 3 * PIECE as u64 + 200 - known(3 * PIECE as u64 + 200));
    assert_eq!(file.exists(), crate::common::is_trusted(album.path()));
    // The whole check knows the others, and not these.
    let output = album.verify(&check);
    assert_eq!(status(&output), 0);
    let total = 10 * PIECE as u64 + 300;
    assert_eq!(object(&output)["bytes_read"], total - known(5 * PIECE as u64 + 100));
    assert!(object(&output)["complete"] == true && !file.exists());
}
