// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent create` as a person or a script does.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Ran, hashloom, names, run, status, stderr, stdout};
use serde_json::{Value, json};

/// Makes a folder with `album`: two files, and one in a subfolder.
fn album() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let album = folder.path().join("album");
    fs::create_dir_all(album.join("extras")).unwrap();
    fs::write(album.join("one.flac"), vec![1; 40_000]).unwrap();
    fs::write(album.join("two.flac"), vec![2; 70_000]).unwrap();
    fs::write(album.join("extras/cover.jpg"), vec![3; 100]).unwrap();
    folder
}

fn create_in(folder: &Path) -> Command {
    let mut command = hashloom();
    command.env("HOME", folder).env("USERPROFILE", folder);
    command.current_dir(folder).env_remove("SOURCE_DATE_EPOCH").args(["torrent", "create"]);
    command
}

fn create(folder: &Path, arguments: &[&str]) -> Output {
    create_in(folder).args(arguments).output().unwrap()
}

/// Checks that the torrent was made and that nothing else was left. Returns its bytes.
#[track_caller]
fn made(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = create(folder, arguments);
    assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
    let path = folder.join("album.torrent");
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    assert_eq!(names(folder), ["album"], "{arguments:?}");
    bytes
}

#[track_caller]
fn refused(folder: &Path, arguments: &[&str], part: &str) {
    let before = names(folder);
    create(folder, arguments).refused(part);
    assert_eq!(names(folder), before, "{arguments:?}");
}

fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

#[test]
fn holes_do_not_count_as_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("sparse")).unwrap();
    file.set_len(64 << 20).unwrap();
    let read = |arguments: &[&str]| {
        let output = create(folder.path(), &[&["sparse", "-f"], arguments].concat()).done();
        stdout(&output).to_owned()
    };
    let nbytes = |json: &str| serde_json::from_str::<Value>(json).unwrap()["bytes_read"].as_u64().unwrap();
    if nbytes(&read(&["--json"])) == 64 << 20 {
        return crate::common::skipped::skipped("the file system has no holes");
    }
    // A speed of nothing says nothing.
    assert!(!read(&[]).contains("/s"));
    let mut file = file;
    std::io::Write::write_all(&mut file, &vec![1; 3 << 20]).unwrap();
    assert_eq!(nbytes(&read(&["--json", "--v2"])), 3 << 20);
    assert!(read(&[]).contains(", 3 MiB read at "), "{}", read(&[]));
}

#[test]
fn what_is_printed() {
    let folder = album();
    let output = create(folder.path(), &["album/", "--v1", "-l", "16KiB"]).done();
    let text = stdout(&output);
    let (before, after) = text.split_once("info-hash  ").unwrap();
    assert_eq!(before, "album\n  ");
    let nbytes = fs::metadata(folder.path().join("album.torrent")).unwrap().len();
    let expected = format!(
        "
  torrent    v1, 107.5 KiB in 3 files, 7 pieces of 16 KiB
  content    album/
              extras/
   100 bytes    cover.jpg
    39.1 KiB  one.flac
    68.4 KiB  two.flac
  written    album.torrent, {nbytes} bytes in "
    );
    assert!(after[40..].starts_with(&expected) && text.ends_with(" s\n"), "{text}");
    create(folder.path(), &["album", "--quiet", "--force"]).is(0, "", "");
}

/// The JSON of each command says the same of a hybrid torrent. It has padding files, which do not count as files.
#[test]
fn json_is_the_same_of_all_commands() {
    let folder = album();
    let object = |arguments: &[&str]| -> Value {
        let output = hashloom().arg("torrent").args(arguments).current_dir(folder.path()).output().unwrap().done();
        serde_json::from_str(stdout(&output)).unwrap()
    };
    let created = object(&["create", "album", "--hybrid", "--json"]);
    let verified = object(&["verify", "album.torrent", "--json"]);
    let shown = object(&["show", "album.torrent", "--json"]);
    let keys = "path name version info_hash info_hash_v2 length piece_length piece_count file_count";
    for key in keys.split(' ') {
        assert!(!created["torrent"][key].is_null(), "{key}");
        assert_eq!(&created["torrent"][key], &verified["torrent"][key], "{key}");
        assert_eq!(&created["torrent"][key], &shown[key], "{key}");
    }
    assert_eq!((&shown["length"], &shown["file_count"]), (&json!(110_100), &json!(3)));
    // The lists have the padding files too, and mark them.
    for (object, command) in [(&verified, "verify"), (&shown, "show")] {
        let files = object["files"].as_array().unwrap();
        let (padding, real): (Vec<_>, Vec<_>) = files.iter().partition(|file| file["padding"] == json!(true));
        assert_eq!((padding.len(), real.len()), (3, 3), "{command}");
        assert!(real.iter().all(|file| file.get("padding").is_none()), "{command}");
    }
}

#[test]
fn what_is_asked_for_is_in_it() {
    let folder = album();
    let arguments = "album|--v1|--name|other|-t|https://a.example/x,udp://b.example:1|--announce|wss://c.example|\
        -w|https://seed.example/|-p|-s|SRC|-c|a comment|-d|1234567890|-o|album.torrent";
    let arguments: Vec<&str> = arguments.split('|').collect();
    let bytes = made(folder.path(), &arguments);
    for part in [
        "d8:announce19:https://a.example/x13:announce-list",
        "13:announce-listll19:https://a.example/x17:udp://b.example:1el15:wss://c.exampleee",
        "7:comment9:a comment",
        concat!(
            "10:created by",
            "14:hashloom ",
            env!("CARGO_PKG_VERSION"),
            "13:creation datei1234567890e4:infod5:files"
        ),
        "4:name5:other",
        "7:privatei1e6:source3:SRCe8:url-listl21:https://seed.example/ee",
    ] {
        assert!(has(&bytes, part), "{part}: {}", String::from_utf8_lossy(&bytes));
    }
    assert!(!has(&bytes, "file tree"));
    // One tracker needs no list; a torrent without trackers has neither key.
    let one = made(folder.path(), &["album", "-t", "udp://t.example:1"]);
    assert!(one.starts_with(b"d8:announce17:udp://t.example:110:created by"));
    assert!(made(folder.path(), &["album"]).starts_with(b"d10:created by"));
}

#[test]
fn the_same_files_make_the_same_bytes() {
    let folder = album();
    let other = tempfile::tempdir().unwrap();
    let copy = other.path().join("album");
    fs::create_dir_all(copy.join("extras")).unwrap();
    for name in ["two.flac", "extras/cover.jpg", "one.flac"] {
        fs::copy(folder.path().join("album").join(name), copy.join(name)).unwrap();
    }
    let first = made(folder.path(), &["album"]);
    assert!(!has(&first, "creation date"));
    assert_eq!(made(folder.path(), &["./album/../album"]), first);
    assert_eq!(made(folder.path(), &["album", "--threads", "3"]), first);
    assert_eq!(made(other.path(), &["album"]), first);
    // The variable sets no date by itself; it is the value of "now".
    let dated = |date: &[&str], epoch: &str| {
        let output = create_in(folder.path()).env("SOURCE_DATE_EPOCH", epoch).arg("album").args(date).output().unwrap();
        let bytes = fs::read(folder.path().join("album.torrent"));
        let _ = fs::remove_file(folder.path().join("album.torrent"));
        (status(&output), bytes.unwrap_or_default(), stderr(&output).to_owned())
    };
    assert_eq!(dated(&[], "1700000000").1, first);
    assert!(has(&dated(&["--date", "now"], "1700000000").1, "13:creation datei1700000000e"));
    assert!(has(&dated(&["--date", "5"], "1700000000").1, "13:creation datei5e"));
    let (status, bytes, message) = dated(&["--date", "now"], "yesterday");
    assert_eq!((status, bytes.len()), (2, 0));
    assert!(message.contains("SOURCE_DATE_EPOCH: expected whole seconds since 1970, found \"yesterday\""), "{message}");
    let now = made(folder.path(), &["album", "--date", "now"]);
    assert!(has(&now, "13:creation datei") && now != first);
}

#[test]
fn nothing_is_overwritten() {
    let folder = album();
    fs::write(folder.path().join("album.torrent"), "precious").unwrap();
    refused(folder.path(), &["album"], "album.torrent: the torrent is not written there: it exists. Give --force");
    assert_eq!(fs::read(folder.path().join("album.torrent")).unwrap(), b"precious");
    assert_eq!(status(&create(folder.path(), &["album", "-f"])), 0);
    assert!(has(&fs::read(folder.path().join("album.torrent")).unwrap(), "4:name5:album"));
    // A file of the content is never replaced, not even with --force.
    let part = "it is part of album. Exclude it, or give another place";
    refused(folder.path(), &["album", "-f", "-o", "album/one.flac"], part);
    refused(folder.path(), &["album/one.flac", "-f", "-o", "album/one.flac"], "it is part of album/one.flac.");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../album.torrent", folder.path().join("album/link")).unwrap();
        refused(folder.path(), &["album", "-f"], part);
        create(folder.path(), &["album", "-f", "--symlinks", "skip"]).done();
        fs::remove_file(folder.path().join("album/link")).unwrap();
        // A dangling link is an existing file.
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.torrent")).unwrap();
        refused(folder.path(), &["album", "-o", "dangling.torrent"], "it exists");
    }
    assert_eq!(fs::read(folder.path().join("album/one.flac")).unwrap(), [1; 40_000]);
    refused(folder.path(), &["album", "-o", "album"], "it is a folder. Give a FILE with --output, or");
    refused(folder.path(), &["album", "-f", "-o", "album"], "it is a folder. Give a FILE with --output, or");
    refused(folder.path(), &["album", "-o", "missing/album.torrent"], "missing/album.torrent: the torrent cannot be");
}

#[test]
fn in_the_folder_itself() {
    let folder = album();
    let here = folder.path().join("album");
    create(&here, &["."]).done();
    let first = fs::read(here.join("album.torrent")).unwrap();
    // The second time the torrent would be part of itself.
    create(&here, &[".", "--force"]).ends(0).says("1 file left out, as no torrent needs them: album.torrent");
    assert_eq!(fs::read(here.join("album.torrent")).unwrap(), first);
}

#[test]
fn several_paths() {
    let folder = album();
    fs::create_dir(folder.path().join("out")).unwrap();
    let output =
        create(folder.path(), &["album", "album/extras", "album/one.flac", "--output-dir", "out", "--json"]).done();
    let names_of = |line: &str| serde_json::from_str::<Value>(line).unwrap()["torrent"]["name"].clone();
    assert_eq!(stdout(&output).lines().map(names_of).collect::<Vec<_>>(), ["album", "extras", "one.flac"]);
    assert_eq!(names(&folder.path().join("out")), ["album.torrent", "extras.torrent", "one.flac.torrent"]);
    // No torrent written becomes part of the next.
    let inside = create(folder.path(), &["album", "album/extras", "--output-dir", "album/extras", "--json"]);
    assert_eq!(status(&inside), 0, "{}", stderr(&inside));
    let counts = stdout(&inside)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["torrent"]["file_count"].clone());
    assert_eq!(counts.collect::<Vec<_>>(), [json!(3), json!(1)]);
    let one_path = "--output and --name are for one PATH. For several use --output-dir";
    refused(folder.path(), &["album", "out", "-o", "x"], one_path);
    refused(folder.path(), &["album", "out", "-n", "x"], one_path);
    fs::create_dir(folder.path().join("copy")).unwrap();
    fs::write(folder.path().join("copy/album"), "another").unwrap();
    refused(folder.path(), &["album", "copy/album"], "another PATH's torrent has this name too");
    // If one PATH is wrong, no torrent is made.
    refused(folder.path(), &["album", "missing"], "missing: ");
}

/// Presets and batches are those of mkbrr: the info-hashes are those that mkbrr 1.24.0 gives for these files.
#[test]
fn presets_and_batches() {
    let folder = album();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let own = "version: 1
trackers:
  example.org:
    source: OWN
    piece_lengths: {64KiB: 32KiB, 1MiB: 64KiB, more: 1MiB}
    max_piece_length: 2MiB
    max_torrent_size: 100KiB
";
    write(".config/hashloom/presets.yaml", own);
    let theirs = "version: 1
default: &d {private: true, no_date: true, comment: '', exclude_patterns: ['*.JPG,*.nfo'], workers: 1}
presets:
  one:
    <<: *d
    trackers: ['https://www.tracker.example.org/announce']
    output_dir: out/one
    no_creator: yes
  two: {source: TWO, private: false, piece_length: 16, trackers: [udp://a.example:1, udp://b.example:1],
    skip_prefix: false, include_patterns: ['*.Flac'], format: hybrid, max_torrent_size: 2M}
";
    write("presets.yaml", theirs);
    let run = |arguments: &[&str]| -> Value {
        let output = create(folder.path(), &[arguments, &["--json", "-f"]].concat()).done();
        serde_json::from_str(stdout(&output)).unwrap()
    };
    let one = run(&["album", "-P", "one"]);
    assert_eq!(one["torrent"]["path"], "out/one/example_album.torrent");
    // The source and the piece length are those of the user's rule.
    assert_eq!(one["torrent"]["info_hash"], "88ab73cde5293599a50e7ee6d4c10f472173f359");
    let bytes = fs::read(folder.path().join("out/one/example_album.torrent")).unwrap();
    assert!(has(&bytes, "created by") && !has(&bytes, "creation date"));
    let ignored = "presets.yaml, line 8: no_creator is ignored: hashloom has no such option";
    assert_eq!(one["warnings"], json!([ignored]));
    let two = run(&["album", "-P", "two"]);
    assert_eq!((&two["torrent"]["path"], &two["torrent"]["version"]), (&json!("album.torrent"), &json!("hybrid")));
    assert_eq!(
        run(&["album", "-P", "two", "--v1"])["torrent"]["info_hash"],
        "c8a99015853115df733708d2e018b77459b0f583"
    );
    // Options win.
    let two = run(&["album", "-P", "two", "--v1", "--source", "X", "-l", "32K", "-t", "udp://c.example:1"]);
    assert_eq!((&two["torrent"]["piece_length"], &two["torrent"]["path"]), (&json!(32768), &json!("c_album.torrent")));
    // Without a preset only the user's own rules apply, and not those of a file in the current folder.
    write("presets.yaml", &own.replace("OWN", "FOREIGN"));
    assert_eq!(run(&["album", "-t", "https://example.org/x"])["torrent"]["piece_length"], 65536);
    assert!(has(&fs::read(folder.path().join("album.torrent")).unwrap(), "6:source3:OWN"));
    let batch = "version: 1
jobs:
  - {path: album, output: first, trackers: [https://a.example/x], private: true, no_date: true, piece_length: 16}
  - {path: album/two.flac, output: second.torrent, target_piece_count: 1, piece_length: 16}
";
    write("batch.yaml", batch);
    let output = create(folder.path(), &["--batch", "batch.yaml", "--json"]).done();
    let made = stdout(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let hashes: Vec<_> = made.map(|made| made["torrent"]["info_hash"].clone()).collect();
    assert_eq!(hashes, ["77ef06fd4a17b2c648dd93f006b7ffcc48de59ba", "3e0d690d5e3aeef1191e4b14d1aa9a3b19192e85"]);
    assert!(folder.path().join("first.torrent").exists());
    let cases = [
        (theirs.replace("workers", "worker"), "p.yaml, line 2: expected one of trackers, "),
        (theirs.replace("version: 1", "version: 2"), "p.yaml, line 1: expected version 1."),
        (theirs.replace("private: false", "private: 3"), "line 9: expected true or false, found \"3\""),
        (theirs.replace("piece_length: 16", "piece_length: 5"), "line 9: a piece length of 5 bytes: expected"),
        (theirs.replace("udp://b.example:1", "b.example"), "line 9: the tracker \"b.example\": expected a URL"),
        (theirs.replace("'*.Flac'", "'['"), "line 10: the glob \"[\": "),
        (theirs.replace("two:", "three:"), "line 4: there is no preset \"two\". These are here: one, three"),
        (theirs.replace("presets:", "preset:"), "line 3: expected one of version, default, presets, trackers, found"),
        ("version: 1\nfoo".into(), "p.yaml, line "),
    ];
    for (text, part) in cases {
        write("p.yaml", &text);
        create(folder.path(), &["album", "-P", "two", "--preset-file", "p.yaml"]).refused(part);
    }
    for (text, part) in [
        (batch.replace("path: album,", ""), "b.yaml, line 3: expected a job with path and output"),
        (batch.replace("path: album,", "path: missing,"), "b.yaml, line 3: missing: "),
        ("version: 1\njobs: []".into(), "b.yaml, line 2: expected at least one job"),
    ] {
        write("b.yaml", &text);
        create(folder.path(), &["--batch", "b.yaml"]).refused(part);
    }
    create(folder.path(), &["album", "-P", "two", "--preset-file", "none.yaml"]).refused("none.yaml: ");
}

#[test]
fn lengths_that_depend_on_the_content() {
    let folder = album();
    let length = |arguments: &[&str]| {
        let output = create(folder.path(), &[&["album", "--v1", "--json", "-f"], arguments].concat()).done();
        let torrent = &serde_json::from_str::<Value>(stdout(&output)).unwrap()["torrent"];
        (torrent["piece_length"].as_u64().unwrap() >> 10, torrent["bytes"].as_u64().unwrap())
    };
    let (_, most) = length(&[]);
    assert_eq!(length(&["--max-torrent-size", &most.to_string()]), (16, most));
    // The least length that is enough, and no byte is given away.
    let (kib, nbytes) = length(&["--max-torrent-size", &(most - 1).to_string()]);
    assert_eq!(kib, 32);
    assert_eq!(length(&["--max-torrent-size", &nbytes.to_string()]), (32, nbytes));
    let limit = (nbytes - 1).to_string();
    for (arguments, part) in [
        (["--max-torrent-size", &limit, "-m", "32K"], "allow pieces of 64 KiB with --max-piece-length: the least that"),
        (["--max-torrent-size", &limit, "-l", "16K"], ": the least that is enough is 64 KiB"),
        (["--max-torrent-size", "100", "-m", "32K"], "allows 100: no length of a piece is enough. Take fewer files"),
        (["-l", "64K", "-m", "32K"], "pieces of 64 KiB are longer than the 32 KiB of --max-piece-length"),
    ] {
        create(folder.path(), &[&["album", "--v1", "-f"], &arguments[..]].concat()).refused(part);
    }
}

/// Each version of OLD, and each version that can be made of it.
#[test]
fn like_another_torrent() {
    let folder = album();
    let run = |arguments: &[&str]| create(folder.path(), &[&["album", "-f"], arguments].concat());
    for (name, arguments) in [
        ("plain", &["--v1", "-s", "SRC", "-p", "-n", "x"][..]),
        ("v2", &["--v2"]),
        ("hybrid", &["--hybrid", "-t", "udp://a.example:1/passkey"]),
    ] {
        run(&[arguments, &["-o", &format!("{name}.torrent"), "-l", "32K"]].concat()).done();
    }
    run(&["--like", "hybrid.torrent", "--v1", "-o", "aligned.torrent", "-t", "udp://a.example:1/passkey"]).done();
    let hash = |name: &str| {
        let torrent = hashloom_torrent::Torrent::open(folder.path().join(name)).unwrap();
        (torrent.info_hash_v1(), torrent.info_hash_v2())
    };
    let (layout, kind) = ("its files begin within pieces", "it has other hashes than the new one");
    for (old, version, made) in [
        ("plain", "--v1", Ok("plain")),
        ("plain", "--hybrid", Err(layout)),
        ("plain", "--v2", Err(kind)),
        ("aligned", "--v1", Ok("aligned")),
        ("aligned", "--hybrid", Ok("hybrid")),
        ("aligned", "--v2", Err(kind)),
        ("v2", "--v2", Ok("v2")),
        ("v2", "--hybrid", Ok("hybrid")),
        ("v2", "--v1", Err(kind)),
        ("hybrid", "--hybrid", Ok("hybrid")),
        ("hybrid", "--v1", Ok("aligned")),
        ("hybrid", "--v2", Ok("v2")),
    ] {
        let file = format!("{old}.torrent");
        let output = run(&["--like", &file, version, "-o", "new.torrent"]);
        match made {
            Err(part) => output.refused(part),
            Ok(made) => {
                let same = if made == old { "the same info-hash" } else { "another info-hash" };
                output.done().has(&format!("  like       {file}, all pieces compared; {same}"));
                assert_eq!(hash("new.torrent"), hash(&format!("{made}.torrent")), "{old} {version}");
                assert!(!has(&fs::read(folder.path().join("new.torrent")).unwrap(), "passkey"));
            }
        }
    }
    fs::remove_file(folder.path().join("new.torrent")).unwrap();
    // Entropy changes the info-hash, each time.
    let random = ["a.torrent", "b.torrent"].map(|name| {
        run(&["--like", "plain.torrent", "--entropy", "-o", name]).done();
        hash(name).0
    });
    assert!(random[0] != random[1] && random[0] != hash("plain.torrent").0);
    // A difference is an error, and nothing is written.
    fs::write(folder.path().join("album/two.flac"), [vec![2; 69_999], vec![3]].concat()).unwrap();
    for (old, piece) in [("plain", 3), ("aligned", 5), ("v2", 5), ("hybrid", 5)] {
        let part = format!("album/two.flac: piece {piece} differs from that of the given torrent; 1 in all");
        run(&["--like", &format!("{old}.torrent"), "-o", "new.torrent"]).refused(&part);
    }
    fs::remove_file(folder.path().join("album/one.flac")).unwrap();
    fs::write(folder.path().join("album/two.flac"), "short").unwrap();
    let output = run(&["--like", "v2.torrent", "-o", "new.torrent"]);
    output.says("album/one.flac: ").refused("album/two.flac: this has 5 bytes, and 70000 in the given torrent");
    assert!(!folder.path().join("new.torrent").exists());
}

#[test]
#[cfg_attr(windows, ignore = "names that Windows lacks")]
fn cautions() {
    let folder = album();
    let album = folder.path().join("album");
    for name in [".DS_Store", "extras/Thumbs.db", "a?b", "README", "readme", &"n".repeat(241), "x.torrent"] {
        fs::write(album.join(name), "x").unwrap();
    }
    let files = "album: 3 files left out, as no torrent needs them: .DS_Store, extras/Thumbs.db, x.torrent\n";
    let output = create(folder.path(), &["album"]);
    output.ends(0).says(files);
    output.says("only in case, of which Windows and macOS keep one: readme (README)\n").says("which clients cut: nnn");
    output.says("names that Windows lacks, or characters that clients replace: a?b\n");
    let json = create(folder.path(), &["album", "--json", "-f"]).done();
    let json: Value = serde_json::from_str(stdout(&json)).unwrap();
    let lengths = |key: &str| json[key].as_array().unwrap().len();
    assert_eq!([lengths("left_out"), lengths("warnings"), lengths("files")], [3, 3, 7]);
    create(folder.path(), &["album", "--include", "*.db"]).refused("junk of systems are never taken in");
    for i in 0..30 {
        fs::write(album.join(format!("z{i}")), "x").unwrap();
    }
    create(folder.path(), &["album", "-f"]).has("              and 14 files more\n");
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = album();
    let output = create(folder.path(), &["album", "--dry-run", "--exclude", "extras/", "--v2"]).done();
    let expected = "album\n    39.1 KiB  one.flac\n    68.4 KiB  two.flac\n\
        v2, 107.4 KiB in 2 files, 8 pieces of 16 KiB; not made, as this is a dry run\n";
    assert_eq!(stdout(&output), expected);
    assert_eq!(names(folder.path()), ["album"]);
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn wrong_usage() {
    let folder = album();
    let cases: [(&[&str], &str); 15] = [
        (&[], "<PATH>..."),
        (&["album", "--v1", "--v2"], "cannot be used with"),
        (&["album", "-o", "x", "--output-dir", "y"], "cannot be used with"),
        (&["album", "--piece-length", "1.5M"], "expected a whole number of bytes, KiB, MiB, GiB or TiB"),
        (&["album", "--piece-length", "1000000"], "expected a power of two from 16 KiB to 256 MiB"),
        (&["album", "--piece-length", "48K"], "Only v1 torrents can have others"),
        (&["album", "--v1", "--piece-length", "20000"], "expected a multiple of 16 KiB from 16 KiB to 256 MiB"),
        (&["album", "--piece-length", "20"], "no piece has 20 bytes; a piece of 2^20 bytes is 1MiB"),
        (&["album", "--tracker", "tracker.example"], "the tracker \"tracker.example\": expected a URL"),
        (&["album", "--tracker", "http://a.example,"], "the tracker \"\": expected a URL"),
        (&["album", "--web-seed", "\u{1b}[31m"], r#"the web seed "\x1b[31m": expected a URL"#),
        (&["album", "--exclude", "[x"], "the glob \"[x\": "),
        (&["album", "--date", "today"], "expected now, or whole seconds"),
        (&["album", "--name", "a/b"], "the name \"a/b\" cannot be a file name"),
        (&["nothing"], "nothing: No such file or directory"),
    ];
    for (arguments, part) in cases {
        refused(folder.path(), arguments, part);
    }
}

#[cfg(unix)]
mod unix {
    use std::process::Stdio;

    use super::*;
    use crate::common::{mode, unprivileged};

    #[test]
    fn what_cannot_be_read_or_written() {
        let folder = album();
        let album = folder.path().join("album");
        mode(folder.path(), 0o777);
        for i in 10..25 {
            let path = album.join(format!("secret {i}"));
            fs::write(&path, "x").unwrap();
            mode(&path, 0);
        }
        let output = unprivileged(folder.path(), &["torrent", "create", "album"]);
        output.ends(2).prints("");
        let lines: Vec<&str> = stderr(&output).lines().collect();
        assert_eq!(lines.len(), 10, "{lines:?}");
        for (line, i) in lines.iter().zip(10..) {
            assert!(line.ends_with(&format!("album/secret {i}: Permission denied")), "{line}");
        }
        mode(&album.join("extras"), 0);
        unprivileged(folder.path(), &["torrent", "create", "album", "--exclude", "secret*"])
            .ends(2)
            .tells("hashloom: album/extras: Permission denied\n");
        mode(&album.join("extras"), 0o755);
        mode(&album, 0o555);
        unprivileged(folder.path(), &["torrent", "create", "album", "--exclude", "secret*", "-o", "album/x.torrent"])
            .ends(2)
            .prints("")
            .tells("hashloom: album/x.torrent: the torrent cannot be written: Permission denied\n");
        mode(&album, 0o755);
        unprivileged(folder.path(), &["torrent", "create", "album", "--exclude", "secret*"]).done();
        assert_eq!(names(folder.path()), ["album", "album.torrent", "hashloom"]);
    }

    #[test]
    fn devices() {
        let folder = album();
        let output = create(folder.path(), &["album", "--quiet", "-o", "/dev/stdout"]).done();
        assert_eq!(output.stdout, made(folder.path(), &["album"]));
        #[cfg(target_os = "linux")]
        {
            let full = "/dev/full: the torrent cannot be written: No space left on device";
            refused(folder.path(), &["album", "-o", "/dev/full"], full);
            let stdout = Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
            let output = create_in(folder.path()).arg("album").stdout(stdout).output().unwrap();
            assert_eq!(status(&output), 2);
            output.says("standard output: No space left");
            refused(folder.path(), &["/dev/zero"], "/dev/zero: expected a file or folder, found a device");
        }
    }
}

/// The object has what is known before anything is read, with the values of the torrent that is made then.
#[test]
fn a_dry_run_has_json() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("album")).unwrap();
    for (name, nbytes) in [("a", 20_000), ("b", 5), ("Thumbs.db", 1)] {
        fs::write(folder.path().join("album").join(name), vec![1; nbytes]).unwrap();
    }
    let object = |more: &[&str]| -> Value {
        let output = run(folder.path(), &[&["torrent", "create", "album", "--json"], more].concat()).done();
        serde_json::from_str(stdout(&output)).unwrap()
    };
    let planned = object(&["--dry-run"]);
    assert_eq!(names(folder.path()), ["album"]);
    let made = object(&[]);
    assert_eq!((&planned["dry_run"], &planned["left_out"]), (&json!(true), &json!(["Thumbs.db"])));
    for (key, value) in
        planned.as_object().unwrap().iter().filter(|(key, _)| !["torrent", "dry_run"].contains(&&key[..]))
    {
        assert_eq!(value, &made[key], "{key}");
    }
    for (key, value) in planned["torrent"].as_object().unwrap() {
        assert_eq!(value, &made["torrent"][key], "{key}");
    }
}

/// Many clients take padding for files, so a torrent that would need it is of version 1.
#[test]
fn a_torrent_is_hybrid_unless_that_needs_padding() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, nbytes: usize| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'x'; nbytes]).unwrap();
    };
    write("file", 20_000);
    write("one/file", 20_000);
    write("whole/1", 16_384);
    write("whole/2", 32_768);
    write("whole/3", 0);
    write("odd/1", 16_384);
    write("odd/2", 20_000);
    write("pad/.pad/1", 5);
    write("pad/2", 5);
    let version = |arguments: &[&str]| {
        let common = ["torrent", "create", "--json", "-f", "-o", "x.torrent", "-l", "16K"];
        let output = run(folder.path(), &[&common[..], arguments].concat());
        let object: Value = serde_json::from_str(stdout(&output)).unwrap();
        object["torrent"]["version"].as_str().unwrap().to_owned()
    };
    for (path, expected) in [("file", "hybrid"), ("one", "hybrid"), ("whole", "hybrid"), ("odd", "v1"), ("pad", "v1")] {
        assert_eq!(version(&[path]), expected, "{path}");
    }
    assert_eq!((version(&["odd", "--hybrid"]), version(&["odd", "--v2"])), ("hybrid".into(), "v2".into()));
    // The length of a piece is chosen for the version that is made: 8 pieces of v1 are enough.
    (0..40).for_each(|number| write(&format!("many/{number}"), 3000));
    let common = ["torrent", "create", "--json", "--max-torrent-size", "2300", "many"];
    let output = run(folder.path(), &common);
    let object: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((&object["torrent"]["version"], &object["torrent"]["piece_length"]), (&json!("v1"), &json!(16384)));
}
