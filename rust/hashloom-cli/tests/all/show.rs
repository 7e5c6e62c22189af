// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent show` as a person or a script does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

#[cfg(target_os = "linux")]
use crate::common::peak_kib_of;
use crate::common::{Ran, hashloom, status, stderr, stdout};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

fn show<const N: usize>(arguments: [&dyn AsRef<std::ffi::OsStr>; N]) -> Output {
    hashloom().args(["torrent", "show"]).args(arguments.map(|argument| argument.as_ref())).output().unwrap()
}

/// Returns the page or JSON object of a torrent of these bytes.
fn shown<const N: usize>(torrent: &[u8], options: [&dyn AsRef<std::ffi::OsStr>; N]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.torrent"), torrent).unwrap();
    let output = hashloom()
        .current_dir(&folder)
        .args(["torrent", "show", "x.torrent"])
        .args(options.map(|option| option.as_ref()))
        .output()
        .unwrap()
        .done();
    stdout(&output).to_owned()
}

#[test]
fn a_hybrid_torrent() {
    let output = show([&vectors().join("libtorrent/lots-hybrid.torrent")]);
    let expected = "\
lots-of-numbers
  version       hybrid: v1 and v2
  size          12 bytes
  padding       96 KiB (98292 bytes)
  pieces        6 of 16 KiB (16384 bytes)
  info-hash     0ff8c9165b04e3c8a1bdea6870be45d8e3b8101a
  info-hash v2  bccc0bbd0443f24fe735ae1ebb715e914c5f030068c99abaaf4133ae3bad41ec
  magnet        magnet:?xt=urn:btih:0ff8c9165b04e3c8a1bdea6870be45d8e3b8101a&xt=urn:btmh:1220bccc0bbd0443f24fe735ae1ebb\
715e914c5f030068c99abaaf4133ae3bad41ec&dn=lots-of-numbers
  files         6

              lots-of-numbers/
                big numbers/
     2 bytes      10.txt
     2 bytes      11.txt
     2 bytes      12.txt
                small numbers/
      1 byte      1.txt
     2 bytes      2.txt
     3 bytes      3.txt
";
    assert_eq!((status(&output), stderr(&output), stdout(&output)), (0, "", expected));
    let output = show([&vectors().join("libtorrent/alice-v2.torrent"), &"--roots"]);
    let expected = "
  files         1

   159.9 KiB  alice.txt
              ";
    output.has(expected);
    assert!(!stdout(&output).contains("padding") && !stdout(&output).contains("btih"));
}

/// A torrent with every key that a torrent can have.
const ALL: &[u8] = b"d8:announce9:udp://a:113:announce-listll9:udp://a:19:udp://b:1el9:udp://c:1ee\
7:comment13:one\ntwo\r\n\x1b[2J10:created by2:me13:creation datei1700000000e8:encoding5:UTF-8\
9:httpseedsl9:http://h/e4:infod5:filesld4:attr1:x6:lengthi3e4:pathl1:a3:runeed4:attr2:lh4:pathl1:l\
e12:symlink pathl1:a3:runeed4:attr1:p6:lengthi13e4:pathl4:.pad2:13eee4:name3:\xff m12:piece lengthi16e\
6:pieces20:012345678901234567897:privatei1e6:source4:here10:update-url9:http://u/e\
5:nodesll2:n1i6881eel2:n2ee9:publisher1:P13:publisher-url9:http://p/8:url-list10:http://w/xe";

#[test]
#[cfg_attr(windows, ignore = "names that Windows cannot have")]
fn everything_that_a_torrent_says() {
    let find = |part: &[u8]| ALL.windows(part.len()).position(|window| window == part).unwrap();
    let digest = Sha1::digest(&ALL[find(b"4:infod") + 6..find(b"5:nodesll")]);
    let info_hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = shown(ALL, []);
    let expected = format!(
        "\
\\xff m
  version       v1
  size          3 bytes
  padding       13 bytes
  pieces        1 of 16 bytes
  info-hash     {info_hash}
  magnet        magnet:?xt=urn:btih:{info_hash}&dn=%FF%20m&tr=udp%3A%2F%2Fa%3A1&tr=udp%3A%2F%2Fb%3A1\
&tr=udp%3A%2F%2Fc%3A1&ws=http%3A%2F%2Fw%2Fx
  private       yes: peers come from the trackers only
  source        here
  comment       one
                two
                \\x1b[2J
  created by    me
  created       2023-11-14 22:13:20 UTC
  encoding      UTF-8
  publisher     P
  published at  http://p/
  update from   http://u/
  trackers      1 udp://a:1
                1 udp://b:1
                2 udp://c:1
  web seeds     http://w/x
  HTTP seeds    http://h/
  DHT nodes     n1:6881
  note          nodes: byte 463: expected a list of a host and a port, it is ignored
  files         2

              \\xff m/
                a/
     3 bytes      run  executable
     0 bytes    l -> a/run  hidden
"
    );
    assert_eq!(text, expected);

    let object: Value = serde_json::from_str(&shown(ALL, [&"--json"])).unwrap();
    let magnet = text.lines().find_map(|line| line.strip_prefix("  magnet        ")).unwrap();
    let expected = json!({
        "hashloom": env!("CARGO_PKG_VERSION"), "path": "x.torrent", "name": "\u{fffd} m", "name_hex": "ff206d",
        "version": "v1", "info_hash": info_hash, "magnet": magnet, "length": 3, "piece_length": 16, "piece_count": 1,
        "single_file": false, "private": true, "source": "here",
        "comment": "one\ntwo\r\n\u{1b}[2J",
        "created_by": "me", "creation_date": 1_700_000_000, "encoding": "UTF-8", "publisher": "P",
        "publisher_url": "http://p/", "update_url": "http://u/",
        "trackers": [["udp://a:1", "udp://b:1"], ["udp://c:1"]], "web_seeds": ["http://w/x"],
        "http_seeds": ["http://h/"], "nodes": [["n1", 6881]], "file_count": 2,
        "files": [
            {"path": "a/run", "length": 3, "first_piece": 0, "last_piece": 0, "executable": true},
            {"path": "l", "length": 0, "hidden": true, "symlink": true, "target": "a/run"},
            {"path": ".pad/13", "length": 13, "first_piece": 0, "last_piece": 0, "padding": true},
        ],
        "notes": ["nodes: byte 463: expected a list of a host and a port, it is ignored"], "note_count": 1,
    });
    assert_eq!(object, expected);
}

#[test]
fn json_of_a_v2_torrent_has_roots() {
    let output = show([&vectors().join("libtorrent/alice-v2.torrent"), &"--json"]);
    let object: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((object["version"].as_str(), object.get("info_hash")), (Some("v2"), None));
    assert_eq!(object["info_hash_v2"], "d39eb2afb8270514394124f5d8395e459cca9354652b31c3d31e060e8f85c4fb");
    assert_eq!(&object["single_file"], &json!(true));
    assert_eq!(&object["length"], &json!(163_783));
    assert_eq!(&object["piece_count"], &json!(10));
    assert_eq!(object["files"][0]["root"].as_str().map(str::len), Some(64));
    assert_eq!((&object["notes"], &object["private"]), (&json!([]), &json!(false)));
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn many_torrents_and_those_that_cannot_be_read() {
    let fixtures = vectors().join("webtorrent-fixtures/fixtures");
    let path = |name: &str| fixtures.join(name);
    let output = show([&path("alice.torrent"), &path("corrupt.torrent"), &"no.torrent", &path("leaves.torrent")]);
    assert_eq!(status(&output), 2);
    let pages: Vec<&str> = stdout(&output).split("\n\n").filter(|part| part.contains("version")).collect();
    assert_eq!(pages.len(), 2, "{}", stdout(&output));
    assert!(pages[0].starts_with("alice.txt\n") && pages[1].starts_with("Leaves of Grass"), "{}", stdout(&output));
    let errors: Vec<&str> = stderr(&output).lines().collect();
    assert_eq!(errors.len(), 2);
    assert!(
        errors[0].ends_with(
            "corrupt.torrent: info.name, byte 81: this key is missing; expected a string: the \
        name of the file or folder"
        ),
        "{}",
        errors[0]
    );
    assert!(errors[1].starts_with("hashloom: no.torrent: No such file"), "{}", errors[1]);
    let output = show([&path("alice.torrent"), &path("corrupt.torrent"), &path("numbers.torrent"), &"--json"]);
    assert_eq!(status(&output), 2);
    let names = stdout(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["alice.txt", "numbers"]);
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let mut torrent = b"d13:announce-listl".to_vec();
    (0..30).for_each(|i| torrent.extend(format!("l6:udp:{i:02}e").bytes()));
    torrent.extend(format!("e7:comment{}:{}4:infod5:filesl", 39, "x\n".repeat(20).trim_end()).bytes());
    (0..150).for_each(|i| torrent.extend(format!("d6:lengthi0e4:pathl1:{}3:{i:03}ee", i / 100).bytes()));
    torrent.extend(b"e4:name1:n12:piece lengthi1e6:pieces0:ee");
    let text = shown(&torrent, []);
    assert!(text.ends_with("     0 bytes      099\n              and 50 more (--all)\n"), "{text}");
    assert!(text.contains("                10 udp:09\n                and 20 more (--all)\n"), "{text}");
    assert!(text.contains("                x\n                and 10 more (--all)\n"), "{text}");
    let text = shown(&torrent, [&"--all"]);
    assert!(!text.contains("more") && text.ends_with("     0 bytes      149\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.ends_with('/')).count(), 3);
    assert_eq!(text.lines().count(), 6 + 30 + 20 + 1 + 1 + 3 + 150);
}

#[test]
#[cfg_attr(windows, ignore = "names that Windows cannot have")]
fn nothing_printed_can_steer_the_terminal() {
    let torrent = b"d8:announce11:@7:comment11:@10:created by11:@8:encoding11:@9:publisher11:@8:url-list11:@\
        9:httpseeds11:@5:nodesll11:@i1eee4:infod5:filesld4:attr1:l4:pathl11:@e12:symlink pathl11:@eee\
        4:name11:@12:piece lengthi1e6:pieces0:6:source11:@ee";
    let torrent =
        torrent.split(|&byte| byte == b'@').collect::<Vec<_>>().join(&b"\x1b[2J\xe2\x80\xae\xff\x07\xc2\x9b"[..]);
    let text = shown(&torrent, [&"--all"]);
    assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text}");
    assert!(text.matches("\\x1b[2J\\u{202e}\\xff\\x07\\u{9b}").count() > 10, "{text}");
}

#[test]
fn usage() {
    for (arguments, message) in
        [(&["show"][..], "<TORRENT>"), (&["show", "x", "--json", "--all"], "cannot be used with")]
    {
        hashloom().arg("torrent").args(arguments).output().unwrap().refused(message);
    }
    hashloom().args(["torrent", "show", "--help"]).output().unwrap().has("What is shown:");
}

/// The output is not collected: memory holds only the parsed torrent.
#[cfg(target_os = "linux")]
#[test]
fn many_files_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut torrent = b"d4:infod9:file treed".to_vec();
    for i in 0..250_000 {
        if i % 1000 == 0 {
            torrent.extend(format!("{}3:{:03}d", if i > 0 { "e" } else { "" }, i / 1000).bytes());
        }
        torrent.extend(format!("3:{:03}d0:d6:lengthi0eee", i % 1000).bytes());
    }
    torrent.extend_from_slice(b"ee12:meta versioni2e4:name1:x12:piece lengthi16384ee12:piece layersdee");
    fs::write(folder.path().join("x.torrent"), &torrent).unwrap();
    // Were the output collected, there would be 5 MB more.
    let (_, own) = peak_kib_of(hashloom().args(["torrent", "show", "--help"]).stdout(std::process::Stdio::null()));
    for option in ["--all", "--json"] {
        let out = fs::File::create(folder.path().join("out")).unwrap();
        let mut command = hashloom();
        command.args(["torrent", "show", option, "x.torrent"]).current_dir(&folder).stdout(out);
        let (status, peak) = peak_kib_of(&mut command);
        assert_eq!(status, 0);
        let beyond = peak.saturating_sub(own + (torrent.len() as u64 >> 10));
        let text = fs::read(folder.path().join("out")).unwrap();
        eprintln!("{option}: {beyond} KiB more than the torrent, {} bytes of output", text.len());
        assert!(beyond < 8 << 10, "{option}: {beyond} KiB more than the torrent");
        assert!(text.len() > 5_000_000, "{}", text.len());
    }
}
