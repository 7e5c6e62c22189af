// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent verify` on several torrents, interrupted, with few file descriptors, on bad disks, and with
//! links.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Ran, hashloom, names, status, stderr, stdout};
use crate::maker::{Bencode, Content, Version, content, dictionary, int, list, noise, text};
use serde_json::Value;

fn verify<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Output {
    hashloom().current_dir(folder).args(["torrent", "verify"]).args(arguments).output().unwrap()
}

/// Writes `NAME.torrent` and its content, the folder `NAME` of two files.
fn make(folder: &Path, version: Version, name: &str) -> Vec<Content> {
    let files = [content("a b", noise(40_000, 1)), content("d/c", noise(20_000, name.len() as u64))];
    let (torrent, files) = crate::maker::torrent(version, name, &files, 16384);
    fs::write(folder.join(format!("{name}.torrent")), torrent).unwrap();
    crate::maker::write_files(&folder.join(name), &files);
    files
}

/// Parses one object a line.
fn objects(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn several_torrents_get_a_line_each_in_the_order_of_the_arguments() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    make(folder, Version::V1, "one");
    make(folder, Version::V2, "two");
    make(folder, Version::Hybrid, "three");
    fs::write(folder.join("no.torrent"), "d4:infoi1ee").unwrap();
    let output = verify(folder, ["three.torrent", "one.torrent", "two.torrent"]).done();
    let lines: Vec<&str> = stdout(&output).lines().collect();
    let [first, second, third, "", total] = lines[..] else { panic!("{lines:?}") };
    for (line, name) in [(first, "three"), (second, "one"), (third, "two")] {
        assert!(line.starts_with(&format!("complete      {name}.torrent  ")), "{line}");
    }
    assert!(total.starts_with("complete: 3 of 3 torrents in "), "{total}");

    // One torrent is damaged, one lacks a file, and one is not a torrent.
    fs::write(folder.join("one/d/c"), noise(20_000, 99)).unwrap();
    fs::remove_file(folder.join("three/a b")).unwrap();
    let arguments = ["two.torrent", "no.torrent", "three.torrent", "lost.torrent", "one.torrent"];
    for threads in ["1", "2", "5"] {
        let output = verify(folder, arguments.into_iter().chain(["--threads", threads]));
        assert_eq!(status(&output), 2);
        let expected = "\
            hashloom: no.torrent: info, byte 7: expected a dictionary, found an integer\n\
            hashloom: lost.torrent: No such file or directory\n";
        assert_eq!(stderr(&output), expected);
        let expected = "\
            complete      two.torrent  58.6 KiB\n\
            not complete  three.torrent  19.5 KiB of 58.6 KiB (33.3%), 3 pieces missing, 1 file missing\n\
            not complete  one.torrent  32 KiB of 58.6 KiB (54.6%), 2 pieces bad\n\
            \n\
            4 of 5 torrents are not complete in ";
        output.begins(expected);

        let output = verify(folder, arguments.into_iter().chain(["--json", "--threads", threads]));
        let objects = objects(&output);
        let names: Vec<_> = objects.iter().map(|object| object["torrent"]["path"].as_str().unwrap()).collect();
        assert_eq!(names, ["two.torrent", "three.torrent", "one.torrent"]);
        let complete: Vec<_> = objects.iter().map(|object| object["complete"].as_bool().unwrap()).collect();
        assert_eq!((status(&output), &complete[..]), (2, &[true, false, false][..]));
        verify(folder, arguments.into_iter().chain(["-q", "--threads", threads])).ends(2).prints("");
    }
    assert_eq!(status(&verify(folder, ["two.torrent", "one.torrent", "-q"])), 1);
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn the_last_argument_is_the_path_unless_it_is_a_torrent_or_data_is_given() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("seeds");
    fs::create_dir(&folder).unwrap();
    make(&folder, Version::V1, "one");
    make(&folder, Version::Hybrid, "two");
    fs::copy(folder.join("one.torrent"), folder.join("renamed")).unwrap();
    let cases: [(&Path, &[&str], i32); 9] = [
        (&folder, &["one.torrent", "two.torrent"], 0),
        (&folder, &["one.torrent", "two.torrent", "."], 0),
        (outer.path(), &["seeds/one.torrent", "seeds/two.torrent", "seeds"], 0),
        (outer.path(), &["seeds/one.torrent", "seeds/two.torrent", "--data", "seeds"], 0),
        (outer.path(), &["seeds/one.torrent", "seeds/two.torrent"], 1),
        // Every argument is a torrent if --data is given, whatever its name.
        (&folder, &["renamed", "two.torrent", "--data", "."], 0),
        (&folder, &["two.torrent", "renamed", "--data", "."], 0),
        (&folder, &["renamed"], 0),
        // If --data is missing, it is a PATH, here a file in place of a folder.
        (&folder, &["two.torrent", "renamed"], 2),
    ];
    for (here, arguments, expected) in cases {
        let output = verify(here, arguments);
        assert_eq!(status(&output), expected, "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn the_repair_list_is_exact_whatever_the_names() {
    use std::os::unix::ffi::OsStrExt;
    let outer = tempfile::tempdir().unwrap();
    let names: [&[u8]; 4] = [b"tab\there", b"line\nbreak", b"caf\xe9 \\x", "grün".as_bytes()];
    let bytes: Vec<Vec<u8>> = (0..4).map(|i| noise(25_000, i)).collect();
    let entry = |(name, bytes): (&&[u8], &Vec<u8>)| {
        dictionary([("length", int(bytes.len() as u64)), ("path", list([text("d"), text(name)]))])
    };
    let info = dictionary([
        ("files", list(names.iter().zip(&bytes).map(entry))),
        ("name", text("t")),
        ("piece length", int(10_000)),
        ("pieces", text(bytes.concat().chunks(10_000).flat_map(crate::maker::sha1).collect::<Vec<_>>())),
    ]);
    fs::write(outer.path().join("t.torrent"), dictionary([("info", info)]).write()).unwrap();
    fs::create_dir_all(outer.path().join("t/d")).unwrap();
    let path = |i: usize| outer.path().join("t/d").join(OsStr::from_bytes(names[i]));
    for (i, bytes) in bytes.iter().enumerate() {
        fs::write(path(i), bytes).unwrap();
    }
    verify(outer.path(), ["t.torrent", "--repair-list"]).is(0, "", "");
    // Piece 2 has the end of the first file and the beginning of the second; pieces 7, 8 and 9 are of the last two
    // files.
    let mut damaged = bytes[0].clone();
    damaged[24_999] ^= 1;
    fs::write(path(0), damaged).unwrap();
    fs::remove_file(path(3)).unwrap();
    let output = verify(outer.path(), ["t.torrent", "--repair-list"]);
    let expected = "bad\t20000\t24999\t./t/d/tab\\x09here\n\
        bad\t0\t4999\t./t/d/line\\x0abreak\n\
        missing\t20000\t24999\t./t/d/caf\\xe9 \\\\x\n\
        missing\t0\t24999\t./t/d/grün\n";
    output.is(1, expected, "");
    // The path of a single file is printed as found.
    fs::write(outer.path().join("one.torrent"), crate::maker::file_torrent("x", &bytes[0], 10_000)).unwrap();
    verify(outer.path(), ["one.torrent", "--repair-list"]).ends(1).prints("missing\t0\t24999\t./x\n");
}

/// Makes a hybrid torrent whose halves are of two different contents.
fn disputed(name: &str, v1: &[Content], v2: &[Content]) -> Vec<u8> {
    let mut info = crate::maker::v2_info(name, v2, 16384);
    let v1 = crate::maker::padded(v1, 16384);
    info.push(("pieces", text(crate::maker::pieces(&v1, 16384))));
    info.push(("files", crate::maker::file_list(&v1)));
    dictionary([("info", dictionary(info)), ("piece layers", crate::maker::layers(v2, 16384))]).write()
}

#[test]
fn halves_that_disagree_are_the_torrents_fault() {
    let outer = tempfile::tempdir().unwrap();
    let ours = [content("a", noise(50_000, 1)), content("b", noise(100, 2))];
    let mut theirs = ours.clone();
    theirs[0].bytes[40_000] ^= 1;
    fs::write(outer.path().join("t.torrent"), disputed("t", &ours, &theirs)).unwrap();
    for files in [&ours, &theirs] {
        crate::maker::write_files(&outer.path().join("t"), files);
        for (quiet, threads) in [(false, "1"), (true, "2")] {
            let arguments = ["t.torrent", "--threads", threads].into_iter().chain(quiet.then_some("-q"));
            let output = verify(outer.path(), arguments);
            assert_eq!(status(&output), 2);
            let expected = "hashloom: t.torrent: its two halves, v1 and v2, disagree about the content of 1 piece. \
                The torrent itself is wrong\n";
            assert_eq!(stderr(&output), expected);
            assert!(quiet || stdout(&output).contains("  disputed   1 piece "), "{}", stdout(&output));
        }
        let object = &objects(&verify(outer.path(), ["t.torrent", "--json"]))[0];
        assert_eq!((&object["pieces"]["disputed"], &object["pieces"]["have"]), (&Value::from(1), &Value::from(4)));
        assert_eq!(object["ranges"][1]["state"], "disputed");
        assert_eq!((&object["ranges"][1]["first"], &object["ranges"][1]["last"]), (&Value::from(2), &Value::from(2)));
    }
    // A piece that is wrong by both halves is bad.
    theirs[0].bytes[40_000] ^= 2;
    crate::maker::write_files(&outer.path().join("t"), &theirs);
    verify(outer.path(), ["t.torrent"]).ends(1).tells("");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_noted() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("t");
    let link = |name: &str, target: &[&str]| {
        let path = list(name.split('/').map(text));
        let target = list(target.iter().map(text));
        dictionary([("attr", text("l")), ("length", int(0)), ("path", path), ("symlink path", target)])
    };
    let file = |name: &str, attr: &str| {
        dictionary([("attr", text(attr)), ("length", int(3)), ("path", list([text("d"), text(name)]))])
    };
    let files = [file("run", "x"), file("text", ""), link("link", &["d", "text"]), link("d/up", &["d", "run"])];
    let info = dictionary([
        ("files", list(files)),
        ("name", text("t")),
        ("piece length", int(16384)),
        ("pieces", text(crate::maker::sha1(b"abcdef"))),
    ]);
    fs::write(outer.path().join("t.torrent"), dictionary([("info", info)]).write()).unwrap();
    fs::create_dir_all(folder.join("d")).unwrap();
    fs::write(folder.join("d/run"), "abc").unwrap();
    fs::write(folder.join("d/text"), "def").unwrap();
    let check = |expected: &[(&str, &str)]| {
        let output = verify(outer.path(), ["t.torrent", "--json"]).done();
        let object = &objects(&output)[0];
        assert_eq!(object["complete"], true);
        let files = object["files"].as_array().unwrap().iter();
        let found: Vec<_> = files
            .filter_map(|file| Some((file["path"].as_str().unwrap(), file.get("difference")?.as_str().unwrap())))
            .collect();
        assert_eq!(found, expected);
        for arguments in [&["t.torrent"][..], &["t.torrent", "--missing"], &["t.torrent", "t.torrent"]] {
            let output = verify(outer.path(), arguments).done();
            let (notes, expected) = if arguments.len() == 2 && arguments[1] == "t.torrent" {
                (stdout(&output).matches(" note").count(), 2 * usize::from(!expected.is_empty()))
            } else {
                (stdout(&output).matches("\n  note: ").count(), expected.len())
            };
            assert_eq!(notes, expected, "{arguments:?}: {}", stdout(&output));
        }
    };
    check(&[("d/run", "not executable"), ("link", "link missing"), ("d/up", "link missing")]);
    fs::set_permissions(folder.join("d/run"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("link"), "no link").unwrap();
    symlink("text", folder.join("d/up")).unwrap();
    check(&[("link", "not a link"), ("d/up", "link elsewhere")]);
    verify(outer.path(), ["t.torrent"]).has("\n\n  note: link should be a symbolic link to d/text, but is not\n");
    // Links relative to their folder, by a detour, and absolute.
    for (link, up) in [("d/text", "run"), ("./d/../d/text", "../d/run"), ("/", "/")] {
        let absolute = |target: &str, path: &str| match target {
            "/" => folder.canonicalize().unwrap().join(path),
            target => PathBuf::from(target),
        };
        fs::remove_file(folder.join("link")).unwrap();
        fs::remove_file(folder.join("d/up")).unwrap();
        symlink(absolute(link, "d/text"), folder.join("link")).unwrap();
        symlink(absolute(up, "d/run"), folder.join("d/up")).unwrap();
        check(&[]);
    }
    // Dangling links are judged by their targets.
    fs::remove_dir_all(folder.join("d")).unwrap();
    fs::remove_file(folder.join("link")).unwrap();
    symlink("d/text", folder.join("link")).unwrap();
    let object = &objects(&verify(outer.path(), ["t.torrent", "--json"]))[0];
    assert_eq!(object["files"][2].get("difference"), None);
    assert_eq!(object["files"][3]["difference"], "link missing");
}

#[test]
fn a_torrent_of_links_alone_is_complete() {
    let outer = tempfile::tempdir().unwrap();
    let link = |name: &str| dictionary([("attr", text("l")), ("length", int(0)), ("path", list([text(name)]))]);
    let info = dictionary([
        ("files", list(["a", "b"].map(link))),
        ("name", text("t")),
        ("piece length", int(16384)),
        ("pieces", Bencode::Bytes(Vec::new())),
    ]);
    fs::write(outer.path().join("t.torrent"), dictionary([("info", info)]).write()).unwrap();
    let output = verify(outer.path(), ["t.torrent"]).done();
    assert!(!stdout(&output).contains("none of its files"), "{}", stdout(&output));
}

mod resume {
    use super::*;

    /// Each kind of file that is no progress of such a run has its message.
    #[test]
    fn what_is_no_state_is_an_error_and_stays_as_it_is() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        make(folder, Version::Hybrid, "one");
        fs::write(folder.join("m"), "").unwrap();
        drop(hashloom_state::State::at(&folder.join("other"), "digests of files: sha256").unwrap());
        for (bytes, message) in [
            (&b"my diary\n"[..], "expected a state that begins with \"hashloom state 1\""),
            (b"", "the file is empty"),
            (b"hashloom state 2 \n", "expected a state that begins with \"hashloom state 1\""),
            (b"hashloom state 1 \n", "it is no state: its first line is damaged"),
            (&fs::read(folder.join("other")).unwrap(), "it has \"digests of files: sha256\", not verdicts on torrents"),
        ] {
            fs::write(folder.join("check"), bytes).unwrap();
            let output = verify(folder, ["one.torrent", "--resume", "check"]);
            assert_eq!((status(&output), stdout(&output)), (2, ""), "{bytes:?}");
            output.says_first(&format!("hashloom: check: {message}"));
            assert!(stderr(&output).ends_with(". It is not replaced: give another FILE, or remove it\n"));
            assert_eq!(fs::read(folder.join("check")).unwrap(), bytes);
        }
    }

    #[test]
    fn the_file_is_never_the_torrent_its_content_or_the_bitfield() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        make(folder, Version::V1, "one");
        make(folder, Version::V2, "two");
        fs::remove_file(folder.join("two/d/c")).unwrap();
        fs::remove_file(folder.join("two/a b")).unwrap();
        drop(crate::common::checkpoint(&folder.join("two/a b")));
        let checkpoint = fs::read(folder.join("two/a b")).unwrap();
        for (file, what) in [("two/a b", "a file of the content"), ("two/d/c", "a file of the content")] {
            let output = verify(folder, ["one.torrent", "two.torrent", "--resume", file]);
            assert_eq!((status(&output), stdout(&output)), (2, ""), "nothing was begun: {file}");
            let expected =
                format!("hashloom: {file}: the checkpoint is not written there: it is {what}. Give another FILE\n");
            assert_eq!(stderr(&output), expected);
        }
        assert_eq!(fs::read(folder.join("two/a b")).unwrap(), checkpoint);
        assert!(!folder.join("two/d/c").exists());
        verify(folder, ["one.torrent", "--resume", "x", "--bitfield", "one/../x"])
            .ends(2)
            .prints("")
            .tells("hashloom: x: --bitfield and --resume cannot be the same FILE\n");
        verify(folder, ["one.torrent", "--resume", "one/../x.resume", "--transmission", "x.resume"])
            .ends(2)
            .prints("")
            .tells("hashloom: x.resume: --resume and --transmission cannot be the same FILE\n");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::process::{Child, Command, Stdio};
    use std::sync::OnceLock;

    use hashloom_files::Doubt;

    use super::*;
    use crate::common::{is_trusted, peak_kib};

    const MIB: usize = 1 << 20;

    /// Makes a torrent of 128 files of 16 MiB, which are one file and links to it: 2 GiB to check, 16 MiB on disk.
    fn large(folder: &Path) {
        let bytes = noise(16 * MIB, 1);
        fs::create_dir(folder.join("large")).unwrap();
        fs::write(folder.join("large/0"), &bytes).unwrap();
        // A process that another test is starting has the file open for writing until it runs its program: what a check
        // finds meanwhile is not trusted later.
        let is_open = || hashloom_files::Noted::of(&folder.join("large/0")).unwrap().doubt == Some(Doubt::Writer);
        while is_open() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        (1..128).for_each(|i| symlink("0", folder.join(format!("large/{i}"))).unwrap());
        let pieces: Vec<u8> = bytes.chunks(MIB).flat_map(crate::maker::sha1).collect();
        let file = |i: i32| dictionary([("length", int(16 << 20)), ("path", list([text(i.to_string())]))]);
        let info = dictionary([
            ("files", list((0..128).map(file))),
            ("name", text("large")),
            ("piece length", int(1 << 20)),
            ("pieces", text(pieces.repeat(128))),
        ]);
        fs::write(folder.join("large.torrent"), dictionary([("info", info)]).write()).unwrap();
    }

    /// Begins a slow check and returns when it has read some 200 MiB.
    fn begin(folder: &Path, arguments: &[&str]) -> Child {
        let mut command = hashloom();
        let slow = ["torrent", "verify", "--isa", "scalar", "--threads", "1"];
        command.current_dir(folder).args(slow).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        loop {
            let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
            let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok());
            if read.is_some_and(|read| read > 200 << 20) {
                return child;
            }
            assert!(child.try_wait().unwrap().is_none(), "it has ended before it was interrupted");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn kill(child: &Child, signal: &str) {
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    }

    #[test]
    fn an_interrupted_check_tells_what_it_found_and_goes_on_from_there() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        if !is_trusted(folder) {
            return;
        }
        large(folder);
        let number = |value: &Value| value.as_u64().unwrap();
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let child = begin(folder, &["large.torrent", "--resume", "check", "--json"]);
            kill(&child, signal);
            let output = child.wait_with_output().unwrap();
            assert_eq!((status(&output), stderr(&output)), (code, ""), "{signal}");
            let object = &objects(&output)[0];
            assert_eq!((&object["interrupted"], &object["complete"]), (&Value::from(true), &Value::from(false)));
            let (have, unchecked) = (number(&object["pieces"]["have"]), number(&object["pieces"]["unchecked"]));
            assert!(have > 100 && unchecked > 100 && have + unchecked == 2048, "{have} {unchecked}");
            assert_eq!(names(folder), ["check", "large", "large.torrent"]);
            let saved = fs::read(folder.join("check")).unwrap();

            // A run that is killed while it goes on leaves a usable checkpoint.
            let mut child = begin(folder, &["large.torrent", "--resume", "check"]);
            kill(&child, "-KILL");
            child.wait().unwrap();
            assert_eq!(names(folder), ["check", "large", "large.torrent"]);
            assert!(fs::read(folder.join("check")).unwrap().starts_with(&saved));

            // Another file of the same length and modification time replaces a file.
            let before = fs::metadata(folder.join("large/3")).unwrap();
            let mut bytes = fs::read(folder.join("large/0")).unwrap();
            bytes[5 * MIB + 7] ^= 1;
            fs::remove_file(folder.join("large/3")).unwrap();
            fs::write(folder.join("large/3"), bytes).unwrap();
            let changed = fs::File::options().write(true).open(folder.join("large/3")).unwrap();
            changed.set_modified(before.modified().unwrap()).unwrap();
            drop(changed);
            let output = verify(folder, ["large.torrent", "--resume", "check", "--json"]);
            let object = &objects(&output)[0];
            assert_eq!((status(&output), &object["interrupted"]), (1, &Value::from(false)));
            assert_eq!((number(&object["pieces"]["have"]), number(&object["pieces"]["bad"])), (2047, 1));
            assert_eq!(object["ranges"][1]["first"], 53);
            // All of that file, although it had been checked, and the pieces that neither run has checked.
            let read = number(&object["bytes_read"]) >> 20;
            assert!((17..=unchecked + 16).contains(&read), "{read} of {unchecked}");
            assert_eq!(names(folder), ["large", "large.torrent"]);
            fs::remove_file(folder.join("large/3")).unwrap();
            symlink("0", folder.join("large/3")).unwrap();
        }
    }

    #[test]
    fn of_several_torrents_those_that_were_begun_are_told() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        large(folder);
        make(folder, Version::V2, "one");
        let arguments = ["one.torrent", "large.torrent", "large.torrent", "large.torrent", "one.torrent"];
        let child = begin(folder, &arguments);
        kill(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        output.ends(130).tells("");
        let lines: Vec<&str> = stdout(&output).lines().collect();
        let [first, second, third, "", total] = lines[..] else { panic!("{lines:?}") };
        assert!(first.starts_with("complete      one.torrent"), "{first}");
        assert!(second.starts_with("interrupted   large.torrent  "), "{second}");
        assert!(
            third.starts_with("interrupted   large.torrent  0 bytes of 2 GiB (0.0%), 2048 pieces unchecked"),
            "{third}"
        );
        assert!(total.starts_with("interrupted: 1 of 5 torrents is complete in "), "{total}");
        assert_eq!(names(folder), ["large", "large.torrent", "one", "one.torrent"]);
    }

    /// Compiles `test/faults.c`.
    fn faults() -> &'static Path {
        static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
        PROGRAM.get_or_init(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/faults.c");
            let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults");
            let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
            let mut command = Command::new(compiler);
            command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program).arg(source);
            assert!(command.status().unwrap().success());
            program
        })
    }

    fn verify_with(fault: &str, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(faults());
        command.args([fault, "--", env!("CARGO_BIN_EXE_hashloom"), "torrent", "verify"]).args(arguments);
        command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command.current_dir(folder).output().unwrap()
    }

    #[test]
    fn a_bad_sector_is_one_pieces_trouble() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        for version in [Version::V1, Version::V2, Version::Hybrid] {
            let files = [content("a", noise(100_000, 1)), content("b", noise(32_768, 2))];
            fs::write(folder.join("t.torrent"), crate::maker::torrent(version, "t", &files, 16384).0).unwrap();
            crate::maker::write_files(&folder.join("t"), &files);
            for threads in ["1", "2"] {
                // Bytes in the page cache are not read, so bad sectors do not affect them.
                let arguments = ["t.torrent", "--json", "--threads", threads];
                let output = verify_with("eio=49152-81919", folder, &arguments);
                assert_eq!(status(&output), 2, "{version:?}: {}", stderr(&output));
                assert_eq!(stderr(&output), "hashloom: ./t/a: cannot be read at byte 49152: Input/output error\n");
                let object = &objects(&output)[0];
                assert_eq!((&object["pieces"]["unread"], &object["pieces"]["bad"]), (&2.into(), &0.into()));
                assert_eq!(object["ranges"][1]["state"], "unread");
                assert_eq!(object["ranges"][1]["first"], 3);
                assert_eq!(object["files"][0]["state"], "incomplete");
                assert_eq!(object["complete"], false);
            }
            // On an old kernel, or in a sandbox, nothing changes.
            verify_with("enosys", folder, &["t.torrent"]).done();
        }
    }

    /// Inode, mode, length, and the times of modification and of any change in nanoseconds.
    type Stamp = (u64, u32, u64, i128, i128);

    /// Returns all that is visible of a tree from outside, except times of access.
    fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Stamp> {
        let mut all = BTreeMap::new();
        let mut todo = vec![folder.to_owned()];
        while let Some(path) = todo.pop() {
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
            let mtime = nanoseconds(metadata.mtime(), metadata.mtime_nsec());
            let ctime = nanoseconds(metadata.ctime(), metadata.ctime_nsec());
            all.insert(path, (metadata.ino(), metadata.mode(), metadata.len(), mtime, ctime));
        }
        all
    }

    #[test]
    fn nothing_is_ever_written() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        for (version, name) in [(Version::V1, "one"), (Version::V2, "twoo"), (Version::Hybrid, "three")] {
            make(folder, version, name);
        }
        let torrents = ["one.torrent", "twoo.torrent", "three.torrent"];
        type Damage = fn(&Path);
        let damages: [(&str, Damage, i32); 9] = [
            ("none", |_| {}, 0),
            ("bad", |path| fs::write(path, noise(20_000, 77)).unwrap(), 1),
            ("short", |path| fs::write(path, "short").unwrap(), 1),
            ("empty", |path| fs::write(path, "").unwrap(), 1),
            ("long", |path| fs::write(path, [&fs::read(path).unwrap()[..], b"more"].concat()).unwrap(), 1),
            ("missing", |path| fs::remove_file(path).unwrap(), 1),
            ("dangling", |path| symlink("nothing", path).unwrap(), 1),
            (
                "folder",
                |path| {
                    fs::remove_file(path).unwrap();
                    fs::create_dir(path).unwrap();
                },
                2,
            ),
            ("nothing", |path| fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap(), 1),
        ];
        for (what, damage, expected) in damages {
            damage(&folder.join("one/d/c"));
            let before = snapshot(folder);
            for extra in [&[][..], &["--json"], &["--missing", "--map"], &["--repair-list"], &["-q", "--threads=1"]] {
                let output = verify_with("readonly", folder, &[&torrents[..], extra].concat());
                assert_eq!(output.status.code(), Some(expected), "{what} {extra:?}: {}", stderr(&output));
            }
            assert_eq!(snapshot(folder), before, "{what}");
        }
        // Test the filter itself: this command must write.
        let output = verify_with("readonly", folder, &["one.torrent", "--bitfield", "have"]);
        assert_eq!(output.status.code(), None, "killed");
    }

    #[test]
    fn a_medium_that_cannot_be_written_is_checked() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        make(folder, Version::Hybrid, "one");
        let script = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && ! touch x && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_hashloom")]);
        command.args(["torrent", "verify", "one.torrent"]).current_dir(folder).stdin(Stdio::null());
        let output = command.output().unwrap();
        if output.stdout.is_empty() {
            crate::common::skipped::skipped(format!("no mount here: {}", stderr(&output)));
            return;
        }
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        output.has("complete: 5 of 5 pieces");
    }

    #[test]
    fn few_descriptors_are_enough() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        let mut arguments = Vec::new();
        for i in 0..40 {
            let files: Vec<_> = (0..60).map(|j| content(&format!("{j}"), noise(700, i * 60 + j))).collect();
            let version = [Version::V1, Version::V2, Version::Hybrid][i as usize % 3];
            let name = format!("t{i}");
            fs::write(folder.join(format!("{name}.torrent")), crate::maker::torrent(version, &name, &files, 16384).0)
                .unwrap();
            crate::maker::write_files(&folder.join(&name), &files);
            arguments.push(format!("{name}.torrent"));
        }
        for threads in ["1", "2", "64"] {
            let mut command = Command::new("sh");
            command.args([
                "-c",
                "ulimit -n 20; exec \"$@\"",
                "sh",
                env!("CARGO_BIN_EXE_hashloom"),
                "torrent",
                "verify",
            ]);
            command.args(&arguments).args(["--threads", threads, "--resume", "check"]).current_dir(folder);
            let output = command.output().unwrap();
            assert_eq!((status(&output), stderr(&output)), (0, ""), "{threads} threads: {}", stdout(&output));
        }
    }

    #[test]
    fn memory_of_many_torrents_and_of_a_large_hybrid_stays_below_64_mib() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        let bytes = noise(40 * MIB, 5);
        fs::write(folder.join("content"), &bytes).unwrap();
        let pieces: Vec<u8> = bytes.chunks(256 << 10).flat_map(crate::maker::sha1).collect();
        drop(bytes);
        let mut arguments = vec!["--threads=2".to_owned()];
        for i in 0..100 {
            symlink("content", folder.join(format!("n{i}"))).unwrap();
            let torrent = crate::maker::raw_file_torrent(&format!("n{i}"), 40 << 20, 256 << 10, pieces.clone());
            fs::write(folder.join(format!("{i}.torrent")), torrent).unwrap();
            arguments.push(format!("{i}.torrent"));
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (status, peak) = peak_kib(folder, &arguments);
        assert_eq!(status, 0);
        assert!(peak < 64 << 10, "{peak} KiB");
        eprintln!("100 torrents: {peak} KiB at most");

        // 1 GiB of zeros, in pieces of 1 MiB; some pieces are not holes.
        let zeros = vec![0; MIB];
        let piece_root = crate::maker::merkle_root(&zeros, 6);
        let mut layer = vec![piece_root; 1024];
        let layer_bytes = layer.concat();
        while layer.len() > 1 {
            layer = layer.chunks(2).map(|pair| crate::maker::sha256(&pair.concat())).collect();
        }
        let leaf = dictionary([("length", int(1 << 30)), ("pieces root", text(layer[0]))]);
        let tree = dictionary([("sparse", dictionary([("", leaf)]))]);
        let info = dictionary([
            ("file tree", tree),
            ("length", int(1 << 30)),
            ("meta version", int(2)),
            ("name", text("sparse")),
            ("piece length", int(1 << 20)),
            ("pieces", text(crate::maker::sha1(&zeros).repeat(1024))),
        ]);
        let layers = Bencode::Dictionary(vec![(layer[0].to_vec(), text(layer_bytes))]);
        fs::write(folder.join("s.torrent"), dictionary([("info", info), ("piece layers", layers)]).write()).unwrap();
        let file = fs::File::create(folder.join("sparse")).unwrap();
        file.set_len(1 << 30).unwrap();
        for i in (0..1024).step_by(7) {
            std::os::unix::fs::FileExt::write_all_at(&file, &[0; 4096], (i << 20) + 65536 * (i % 16)).unwrap();
        }
        let (status, peak) = peak_kib(folder, &["s.torrent", "--threads=2"]);
        assert_eq!(status, 0);
        assert!(peak < 64 << 10, "{peak} KiB");
        eprintln!("hybrid of 1 GiB: {peak} KiB at most");
    }
}
