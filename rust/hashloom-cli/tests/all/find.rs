// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent find` and `hashloom torrent link` as a person does.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ran, names, run, stdout};
use serde_json::{Value, json};

const PIECE: usize = 16 << 10;

/// The versions of torrents, as options of `hashloom torrent create`.
const VERSIONS: [&str; 3] = ["v1", "v2", "hybrid"];

/// The files of the torrents, and their names in `pool`. In v1, the second piece has the end of `a`, all of `b` and
/// `c`, and the beginning of `d/e`.
const FILES: [(&str, usize, &str); 5] = [
    ("a", PIECE + 4000, "1"),
    ("b", 700, "2"),
    ("c", 700, "3"),
    ("d/e", 3 * PIECE + 9, "deep/4"),
    ("f", 5 * PIECE, "5"),
];

fn bytes(nbytes: usize, seed: u32) -> Vec<u8> {
    (0..nbytes as u32).map(|i| (i.wrapping_mul(i + 7).wrapping_add(seed * 31) >> 5) as u8).collect()
}

/// A folder with a torrent of each version, a folder `pool` with its files under other names, and empty folders.
struct Pool(tempfile::TempDir);

impl Pool {
    fn new() -> Pool {
        let pool = Pool(tempfile::tempdir().unwrap());
        for folder in ["album/d", "pool/deep", "seeds", "copies", "links"] {
            fs::create_dir_all(pool.path(folder)).unwrap();
        }
        for (seed, (name, nbytes, found)) in FILES.into_iter().enumerate() {
            fs::write(pool.path(&format!("album/{name}")), bytes(nbytes, seed as u32)).unwrap();
            fs::write(pool.path(&format!("pool/{found}")), bytes(nbytes, seed as u32)).unwrap();
        }
        fs::write(pool.path("album/nothing"), "").unwrap();
        for version in VERSIONS {
            let (option, output) = (format!("--{version}"), format!("{version}.torrent"));
            pool.run("create", &["album", "-q", "-l", "16KiB", &option, "-o", &output]).done();
        }
        fs::rename(pool.path("album"), pool.path("original")).unwrap();
        pool
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, command: &str, arguments: &[&str]) -> std::process::Output {
        run(self.0.path(), &[&["torrent", command], arguments].concat())
    }

    /// The states of the files, and the paths where they were found.
    fn found(&self, torrent: &str, code: i32) -> Vec<(String, String)> {
        let output = self.run("find", &[torrent, "--in", "pool", "--json"]);
        output.ends(code);
        let object: Value = serde_json::from_str(stdout(&output)).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |file: &Value| (text(&file["state"]), text(&file["found"]));
        object["files"].as_array().unwrap().iter().map(of).filter(|(state, _)| state != "skipped").collect()
    }

    /// Writes a file with one byte changed.
    fn write_changed(&self, file: usize, at: usize, name: &str) {
        let (_, nbytes, _) = FILES[file];
        let mut bytes = bytes(nbytes, file as u32);
        bytes[at] ^= 1;
        fs::write(self.path(name), bytes).unwrap();
    }
}

fn all_found() -> Vec<(String, String)> {
    let mut all: Vec<_> = FILES.iter().map(|(.., found)| ("found".to_owned(), format!("pool/{found}"))).collect();
    all.push(("empty".to_owned(), String::new()));
    all
}

#[test]
fn renamed_files_are_found_among_others_that_begin_and_end_alike() {
    let pool = Pool::new();
    for version in VERSIONS {
        assert_eq!(pool.found(&format!("{version}.torrent"), 0), all_found(), "{version}");
    }
    // The client's copy of a torrent, without piece layers.
    let layered = fs::read(pool.path("v2.torrent")).unwrap();
    let at = layered.windows(14).position(|key| key == b"12:piece layer").unwrap();
    fs::write(pool.path("copy.torrent"), [&layered[..at], b"e"].concat()).unwrap();
    // These come before the right ones, and have the right names.
    for (file, (name, nbytes, _)) in FILES.into_iter().enumerate() {
        fs::create_dir_all(pool.path("pool/0/album/d")).unwrap();
        pool.write_changed(file, nbytes - 1, &format!("pool/0/album/{name}"));
        for (place, at) in [("first", 0), ("mid", nbytes / 2), ("beforelast", nbytes - 2)] {
            pool.write_changed(file, at, &format!("pool/0/{file}{place}"));
        }
    }
    for version in [&VERSIONS[..], &["copy"]].concat() {
        assert_eq!(pool.found(&format!("{version}.torrent"), 0), all_found(), "{version}");
    }
    // Of a torrent without `c`, no combination is right, and its neighbours are right only as far as can be said.
    fs::remove_file(pool.path("pool/3")).unwrap();
    let states =
        |torrent: &str| -> Vec<String> { pool.found(torrent, 1).into_iter().map(|(state, _)| state).collect() };
    assert_eq!(states("v2.torrent"), ["found", "found", "absent", "found", "found", "empty"]);
    assert_eq!(states("v1.torrent"), ["unproved", "unproved", "unproved", "unproved", "found", "empty"]);
    let output = pool.run("link", &["v1.torrent", "v2.torrent", "--in", "pool", "--to", "seeds"]);
    output.ends(1).tells("").has("\n  absent    c  9 files of its length have other bytes\n");
    output
        .has("\n  unproved  b  maybe pool/0/album/b; a piece that it shares with other files is not whole\n")
        .has("not whole   v1.torrent  2 of 6 files\n");
    assert!(names(&pool.path("seeds")).is_empty());
}

#[test]
fn equal_files_are_named_and_one_file_counts_once() {
    let pool = Pool::new();
    fs::create_dir_all(pool.path("pool/album/d")).unwrap();
    fs::copy(pool.path("pool/deep/4"), pool.path("pool/album/d/e")).unwrap();
    fs::hard_link(pool.path("pool/5"), pool.path("pool/6")).unwrap();
    let output = pool.run("find", &["v2.torrent", "--in", "pool"]).done();
    // The one with the torrent's name comes first, and the other is not compared.
    output.begins("whole      v2.torrent  6 files, ").has("\n  found     f  at pool/5\n");
    output.has("\n  found     d/e  at pool/album/d/e\n");
    // As the first is wrong, the others are compared.
    pool.write_changed(3, 0, "pool/album/d/e");
    fs::copy(pool.path("pool/deep/4"), pool.path("pool/deep/5")).unwrap();
    let output = pool.run("find", &["v2.torrent", "--in", "pool"]).done();
    output.has("\n  found     d/e  at pool/deep/4, 1 other begins alike\n");
    let output = pool.run("find", &["v2.torrent", "--in", "pool", "--json"]).done();
    let object: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(object["files"][3]["others"], json!([{"path": "pool/deep/5"}]));
    assert_eq!((&object["whole"], &object["errors"]), (&json!(true), &json!([])));
}

#[test]
fn too_many_combinations_are_given_up() {
    let pool = Pool::new();
    fs::remove_file(pool.path("pool/3")).unwrap();
    // 700 bytes are the length of two files of one piece: the combinations are the square.
    (0..130).for_each(|index| pool.write_changed(2, index, &format!("pool/c{index}")));
    let output = pool.run("find", &["v1.torrent", "--in", "pool"]);
    output
        .ends(1)
        .has("a piece that it shares with other files is not whole; gave up: too many candidates or combinations\n");
}

#[test]
fn errors_do_not_stop_the_others() {
    let pool = Pool::new();
    fs::write(pool.path("bad.torrent"), "no").unwrap();
    let output = pool.run("find", &["bad.torrent", "v1.torrent", "pool", "--in", "missing", "--in", "pool"]);
    output.ends(2).begins("whole      v1.torrent  ").has("\n1 of 3 torrents whole\n");
    output
        .says("hashloom: bad.torrent: not a torrent: byte 0: ")
        .says("hashloom: missing: No such file or directory\n");
    output.says("hashloom: pool: expected a .torrent file, found a folder\n");
}

#[cfg(unix)]
#[test]
fn every_kind_of_link_is_made_and_made_again() {
    use std::os::unix::fs::MetadataExt;
    let pool = Pool::new();
    let inode = |path: &str| pool.path(path).symlink_metadata().unwrap().ino();
    let torrents = VERSIONS.map(|version| format!("{version}.torrent"));
    let link = |more: &[&str]| {
        let arguments =
            [&torrents.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--in", "pool"], more].concat();
        pool.run("link", &arguments)
    };
    // All three torrents share the files; the second run finds all in place, and makes what is missing.
    for _ in 0..2 {
        let output = link(&["--to", "seeds"]).done();
        output.has("linked      v2.torrent  6 files, ").has("  at        seeds/album\n");
        FILES.iter().for_each(|(name, _, found)| {
            assert_eq!(inode(&format!("seeds/album/{name}")), inode(&format!("pool/{found}")), "{name}");
        });
        fs::remove_file(pool.path("seeds/album/b")).unwrap();
        fs::remove_file(pool.path("seeds/album/nothing")).unwrap();
    }
    for _ in 0..2 {
        link(&["--to", "links", "--how", "symbolic"]).done();
        let target = pool.path("links/album/d/e").read_link().unwrap();
        assert_eq!(target, pool.path("pool/deep/4").canonicalize().unwrap());
        link(&["--to", "copies", "--how", "copy"]).done();
    }
    assert_eq!(fs::read(pool.path("copies/album/f")).unwrap(), fs::read(pool.path("pool/5")).unwrap());
    assert!(inode("copies/album/f") != inode("pool/5"));
    // A client's state is written as by `torrent verify`, also for symbolic links.
    for (to, how) in [("seeds", "hard"), ("links", "symbolic"), ("copies", "copy")] {
        let state = format!("state {to}");
        fs::create_dir(pool.path(&state)).unwrap();
        let output = pool
            .run("link", &["v1.torrent", "--in", "pool", "--to", to, "--how", how, "--libtorrent", &state, "--json"]);
        let object: Value = serde_json::from_str(stdout(&output.done())).unwrap();
        assert_eq!(object["linked"], json!(format!("{to}/album")));
        assert_eq!(object["written"][0]["what"], json!("libtorrent resume file"));
        let output = pool.run("verify", &["v1.torrent", "original", "--claimed", &state]).done();
        output.has("  claimed    10 of 10 pieces by the libtorrent resume file ");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_replaced_and_nothing_half_made_stays() {
    let pool = Pool::new();
    let link = |more: &[&str]| pool.run("link", &[&["v1.torrent", "--in", "pool", "--to", "seeds"], more].concat());
    let is_empty = |folder: &str| names(&pool.path(folder)).is_empty();
    // The file in the way is the last that would be made.
    fs::create_dir(pool.path("seeds/album")).unwrap();
    for (how, wrong) in [("hard", &b"mine"[..]), ("symbolic", b"mine"), ("copy", b"mine"), ("copy", &[7; 5 * PIECE])] {
        fs::write(pool.path("seeds/album/f"), wrong).unwrap();
        let output = link(&["--how", how]);
        output.ends(2).has("not linked  v1.torrent").says("Nothing of album was linked\n");
        assert_eq!(names(&pool.path("seeds/album")), ["f"], "{how}");
        assert_eq!(fs::read(pool.path("seeds/album/f")).unwrap(), wrong, "{how}");
    }
    fs::remove_dir_all(pool.path("seeds/album")).unwrap();
    // A link that leads out of the folder is not followed.
    std::os::unix::fs::symlink(pool.path("copies"), pool.path("seeds/album")).unwrap();
    link(&[]).ends(2).says("/seeds/album: a symbolic link leads out of the folder of --to, to ");
    assert!(is_empty("copies"));
    fs::remove_file(pool.path("seeds/album")).unwrap();
    fs::create_dir(pool.path("seeds/inner")).unwrap();
    std::os::unix::fs::symlink("inner", pool.path("seeds/album")).unwrap();
    link(&[]).done();
    assert_eq!(names(&pool.path("seeds/inner")), ["a", "b", "c", "d", "f", "nothing"]);
    pool.run("link", &["v1.torrent", "--in", "pool", "--to", "no"]).refused("no: make this folder first");
    // Folders that nobody may write to.
    fs::create_dir_all(pool.path("links/album/d")).unwrap();
    [".", "pool", "pool/deep"].iter().for_each(|folder| crate::common::mode(&pool.path(folder), 0o755));
    [("links", 0o777), ("links/album", 0o777), ("links/album/d", 0o555)]
        .iter()
        .for_each(|(folder, mode)| crate::common::mode(&pool.path(folder), *mode));
    let arguments = ["torrent", "link", "v1.torrent", "--in", "pool", "--to", "links", "--how", "copy"];
    let output = crate::common::unprivileged(pool.0.path(), &arguments);
    output.ends(2).says("/links/album/d/e: Permission denied. Nothing of album was linked\n");
    assert_eq!(names(&pool.path("links/album")), ["d"]);
}

/// Needs a file system of its own, and root.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_another_file_system_leave_nothing() {
    use std::process::Command;
    struct Mount(PathBuf);
    impl Drop for Mount {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }
    let pool = Pool::new();
    let full = pool.path("copies");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=100k", "tmpfs"]).arg(&full).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        return crate::common::skipped::skipped("no file system can be mounted");
    }
    let _mount = Mount(full.clone());
    let link = |how: &str| pool.run("link", &["v2.torrent", "--in", "pool", "--to", "copies", "--how", how]);
    let empty = |full: &Path| assert!(names(full).is_empty(), "{:?}", names(full));
    link("hard").ends(2).says("is on another file system, to which no hard link leads. Give --how symbolic or copy");
    empty(&full);
    link("reflink").ends(2).says("the two files cannot share blocks");
    empty(&full);
    link("copy").ends(2).says("No space left on device. Nothing of album was linked\n");
    empty(&full);
    link("symbolic").done();
}

/// A release without one of its small files is linked with `--partial`, and the client's file claims what is right.
#[test]
fn what_there_is_of_a_torrent_is_linked_in_part() {
    let pool = Pool::new();
    fs::remove_file(pool.path("pool/3")).unwrap();
    let link = |version: &str, to: &str, more: &[&str]| {
        let torrent = format!("{version}.torrent");
        let common = [&torrent, "--in", "pool", "--to", to, "--how", "copy", "--libtorrent", "x.fastresume", "--json"];
        let output = pool.run("link", &[&common[..], more].concat());
        let _ = fs::remove_file(pool.path("x.fastresume"));
        (output.status.code(), serde_json::from_str::<Value>(stdout(&output)).unwrap())
    };
    for (version, pieces, made) in
        [("v1", 9, &["a", "d", "f", "nothing"][..]), ("v2", 12, &["a", "b", "d", "f", "nothing"])]
    {
        // 700 absent bytes of 152,909, of which v1 loses `b` as well, which nothing proves: 0.5% and 0.9%.
        let (code, object) = link(version, "seeds", &["--partial", "0"]);
        assert_eq!((code, &object["linked"]), (Some(1), &Value::Null), "{version}");
        assert!(names(&pool.path("seeds")).is_empty());
        let (code, object) = link(version, "seeds", &["--partial", "1"]);
        assert_eq!((code, &object["linked"], &object["whole"]), (Some(1), &json!("seeds/album"), &json!(false)));
        assert_eq!(object["written"][0]["pieces"], json!(pieces), "{version}: {object}");
        assert_eq!(names(&pool.path("seeds/album")), made, "{version}");
        fs::remove_dir_all(pool.path("seeds/album")).unwrap();
    }
    // A wrong byte in the shared piece of a file that cannot be proved there is never claimed.
    let mut end = bytes(FILES[0].1, 0);
    *end.last_mut().unwrap() ^= 1;
    fs::write(pool.path("pool/1"), end).unwrap();
    let (_, object) = link("v1", "seeds", &["--partial", "5"]);
    assert_eq!(object["written"][0]["pieces"], json!(9));
    let output = pool.run("link", &["v1.torrent", "--in", "pool", "--to", "copies", "--partial", "5"]);
    output.ends(1).begins("in part     v1.torrent  ").has("\n  at        copies/album\n");
    output.has("\n  unproved  c  maybe pool/2; ").has("\n  unproved  a  maybe pool/1; ");
}
