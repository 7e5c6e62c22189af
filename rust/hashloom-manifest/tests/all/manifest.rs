// SPDX-License-Identifier: MIT OR Apache-2.0

//! Manifests from untrusted writers, and what a comparison or a scan says that ends early. `test/manifest.py` compares
//! manifests and differences of random folders with what Python finds.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use hashloom::{Algorithm, hash};
use hashloom_files::run::{Cancel, Options};
use hashloom_files::{Doubt, Noted};
use hashloom_manifest::{
    Comparison, Counts, Difference, Entry, Error, Evidence, Found, Kind, LINE_MAX_NBYTES, Reader, Reason, Scan,
    ScanError, Status, Writer,
};
use hashloom_state::{Folder, State, Tie};

const SHA1: &[Algorithm] = &[Algorithm::Sha1];
const HEADER: &str = r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1"]}"#;
const ABC: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";

fn file(path: &str, content: &str, mtime_ns: i128) -> Entry {
    let digests = vec![hash(Algorithm::Sha1, content.as_bytes())];
    Entry { path: path.into(), kind: Kind::File { nbytes: content.len() as u64, mtime_ns, digests } }
}

fn entry(path: &str, kind: Kind) -> Entry {
    Entry { path: path.into(), kind }
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), SHA1).unwrap();
    entries.iter().for_each(|entry| writer.write(entry).unwrap());
    writer.finish().unwrap()
}

/// The lines, followed by a last line that fits them.
fn with_end(lines: &[&str], end: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
    let digest = hash(Algorithm::Sha256, &bytes);
    bytes.extend_from_slice(end.replace("DIGEST", &digest.to_string()).as_bytes());
    bytes.push(b'\n');
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, Error> {
    Reader::new(bytes)?.collect()
}

#[track_caller]
fn refused(bytes: &[u8], line: u64, part: &str) {
    let error = read(bytes).unwrap_err();
    let message = error.to_string();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
    assert_eq!(error.line, line, "{message}: {shown}");
    assert!(message.contains(part), "{message}: {shown}");
    assert!(message.len() < 4096);
}

#[test]
fn first_lines() {
    let cases = [
        ("", "this is not a manifest"),
        ("\n", "this is not a manifest"),
        ("{}\n", "this is not a manifest"),
        ("[1]\n", "this is not a manifest"),
        (r#"{"format":"of another program","version":1,"algorithms":["sha1"]}"#, "this is not a manifest"),
        (r#"{"format":"hashloom manifest","version":2,"new":[]}"#, "a manifest of version 2, which"),
        (r#"{"format":"hashloom manifest","version":-1}"#, "this is not a manifest"),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":[]}"#, "at least one algorithm"),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1","sha1"]}"#, "none twice"),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":["md4"]}"#, "unknown algorithm \"md4\""),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1"],"include":["[a"]}"#, "the glob \"[a\": "),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1"],"exclude":[""]}"#, "the glob \"\": "),
        (r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1"],"exclude":"a"}"#, "this is not a manifest"),
        (
            r#"{"format":"hashloom manifest","version":1,"algorithms":["sha1"],"min_size":2,"max_size":1}"#,
            "the least length is 2 bytes, the greatest 1",
        ),
    ];
    for (header, part) in cases {
        refused(format!("{header}\n").as_bytes(), 1, part);
    }
    let with_globs = |globs: &str| HEADER.replace('}', &format!(",\"include\":[{globs}]}}\n"));
    let nested = format!("\"{}a{}\"", "{".repeat(100_000), "}".repeat(100_000));
    refused(with_globs(&nested).as_bytes(), 1, "nests deeper than the supported 10 levels");
    refused(with_globs(&format!("\"{}\"", "?".repeat(400_000))).as_bytes(), 1, "the globs together: ");
    refused(HEADER.as_bytes(), 1, "this is not a manifest");
    refused(&vec![b' '; LINE_MAX_NBYTES + 2], 1, "this is not a manifest");
}

/// 64 bits of nanoseconds end in the year 2262. Manifests of programs that knew no later time have the last one for
/// all.
#[test]
fn times_beyond_64_bits() {
    let last = i128::from(i64::MAX);
    for time in [0, -1, last, last + 1, i128::from(u64::MAX) + 1, -last - 7, i128::from(i64::MIN) * 1_000_000_000] {
        let entry = file("f", "abc", time);
        let read = Reader::new(&written(std::slice::from_ref(&entry))[..]).unwrap().next().unwrap().unwrap();
        assert_eq!(read, entry);
        for other in [time - 1, time + 1, last] {
            let (old, mut seen) = (written(&[file("f", "abc", other)]), Vec::new());
            let mut comparison = Comparison::new(Reader::new(&old[..]).unwrap(), SHA1, SHA1).unwrap();
            comparison.found(entry.clone(), |difference| seen.push(difference)).unwrap();
            comparison.finish(|difference| seen.push(difference)).unwrap();
            assert_eq!(seen.len(), usize::from(other != time), "{time} {other}: {seen:?}");
        }
    }
}

#[test]
fn lines() {
    let ok = format!(r#"{{"type":"file","path":"f","length":3,"mtime_ns":-1,"sha1":"{ABC}"}}"#);
    let change = |from: &str, to: &str| ok.replacen(from, to, 1);
    let long = format!(r#"{{"type":"folder","path":"{}"}}"#, "x".repeat(LINE_MAX_NBYTES));
    let nested = "[".repeat(100_000);
    let cases = [
        ("", "expected a JSON object"),
        ("null", "expected a JSON object"),
        (&nested, "expected a JSON object"),
        (&long, "longer than 1048576 bytes"),
        (r#"{"type":"other","path":"f"}"#, "unknown variant"),
        (r#"{"path":"f"}"#, "missing field `type`"),
        (r#"{"type":"folder"}"#, "\"path\" is missing"),
        (r#"{"type":"folder","path":"f","path":"g"}"#, "duplicate field"),
        (r#"{"type":"folder","path":"f","colour":1}"#, "unknown field"),
        (r#"{"type":"folder","path":"f","length":1}"#, "\"length\" is missing, not of this type"),
        (r#"{"type":"folder","path":"f","files":1}"#, "\"files\" is missing, not of this type"),
        (r#"{"type":"folder","path":1}"#, "invalid type"),
        ("{\"type\":\"folder\",\"path\":\"\u{0}\"}", "control character"),
        ("{\"type\":\"folder\",\"path\":\"f\"} x", "trailing characters"),
        (r#"{"type":"link","path":"f"}"#, "\"target\" is missing"),
        (r#"{"type":"unread","path":"f"}"#, "\"reason\" is missing"),
        (r#"{"type":"unread","path":"f","reason":"lazy"}"#, "unknown variant"),
        // Names that are not UTF-8, and hexadecimal for names that are.
        (r#"{"type":"folder","path":"\ufffd","path_hex":"f"}"#, "\"path_hex\""),
        (r#"{"type":"folder","path":"\ufffd","path_hex":"FF"}"#, "\"path_hex\""),
        (r#"{"type":"folder","path":"x","path_hex":"ff"}"#, "\"path_hex\""),
        (r#"{"type":"folder","path":"f","path_hex":"66"}"#, "\"path_hex\""),
        (r#"{"type":"link","path":"f","target":"t","target_hex":"74"}"#, "\"target_hex\""),
        (&change("\"length\":3", "\"length\":-3"), "invalid value"),
        (&change("\"length\":3", "\"length\":3.0"), "invalid type"),
        (&change("\"length\":3", "\"length\":18446744073709551616"), "invalid"),
        (&change("\"length\":3,", ""), "\"length\" is missing"),
        (&change("-1", "170141183460469231731687303715884105728"), "out of range"),
        (&change(ABC, &ABC.to_uppercase()), "expected one sha1 digest, 40 hexadecimal digits"),
        (&change(ABC, &ABC[1..]), "expected one sha1 digest"),
        (&change(ABC, &"é".repeat(20)), "expected one sha1 digest"),
        (&change("\"sha1\"", "\"sha256\""), "expected one sha1 digest"),
        (&change("}", &format!(",\"sha256\":\"{}\"}}", "0".repeat(64))), "\"sha256\" is missing, not of this type"),
    ];
    for (line, part) in cases {
        refused(&with_end(&[HEADER, line], "{}"), 2, part);
        // The bad line stands between two others.
        let folder = r#"{"type":"folder","path":"0"}"#;
        refused(&with_end(&[HEADER, folder, line, folder], "{}"), 3, part);
    }
}

#[test]
fn paths() {
    let folder = |path: &str| format!(r#"{{"type":"folder","path":{path:?}}}"#);
    for path in ["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", "a/../../b"] {
        refused(&with_end(&[HEADER, &folder(path)], "{}"), 2, "expected a relative path");
    }
    refused(&with_end(&[HEADER, r#"{"type":"folder","path":"a\u0000"}"#], "{}"), 2, "expected a relative path");
    for (before, path, part) in [
        ("a", "a", "is there twice"),
        ("b", "a", "not sorted"),
        ("a-b", "a/b", "not sorted"),
        ("a", "b/c", "is in no folder"),
        ("a", "a/b/c", "is in no folder"),
        ("a", "ab/c", "is in no folder"),
    ] {
        refused(&with_end(&[HEADER, &folder(before), &folder(path)], "{}"), 3, part);
        let mut writer = Writer::new(Vec::new(), SHA1).unwrap();
        writer.write(&entry(before, Kind::Folder)).unwrap();
        let error = writer.write(&entry(path, Kind::Folder)).unwrap_err();
        assert!(error.line == 3 && error.to_string().contains(part), "{error}");
        // The refused entries wrote nothing.
        assert_eq!(read(&writer.finish().unwrap()).unwrap().len(), 1);
    }
    // A file, a link or an unread entry is not a folder.
    for kind in [r#""link","target":"b""#, r#""unread","reason":"unstable""#] {
        let line = format!(r#"{{"type":{kind},"path":"a"}}"#);
        refused(&with_end(&[HEADER, &line, &folder("a/b")], "{}"), 3, "is in no folder");
    }
}

#[test]
fn last_lines() {
    let file = |size: u64, name: char| {
        format!(r#"{{"type":"file","path":"{name}","length":{size},"mtime_ns":0,"sha1":"{ABC}"}}"#)
    };
    let good = r#"{"type":"end","files":1,"links":0,"folders":0,"unread":0,"bytes":3,"sha256":"DIGEST"}"#;
    let all = with_end(&[HEADER, &file(3, 'a')], good);
    assert_eq!(read(&all).unwrap().len(), 1);
    for (from, to, part) in [
        ("\"files\":1", "\"files\":2", "\"files\" is 2, but the lines before have 1"),
        ("\"bytes\":3", "\"bytes\":4", "\"bytes\" is 4"),
        ("\"links\":0,", "", "\"links\" is missing"),
        ("DIGEST", &"0".repeat(64), "the SHA-256 of the lines before is another one"),
        ("DIGEST", "0", "expected one sha256 digest"),
        ("\"files\"", "\"path\":\"x\",\"files\"", "\"path\" is missing, not of this type"),
    ] {
        refused(&with_end(&[HEADER, &file(3, 'a')], &good.replacen(from, to, 1)), 3, part);
    }
    for rest in ["\n", "x", "{}\n", &String::from_utf8(all.clone()).unwrap()] {
        refused(&[&all[..], rest.as_bytes()].concat(), 3, "there is something after");
    }
    for at in 0..all.len() {
        let mut bad = all.clone();
        bad[at] ^= 1;
        assert!(read(&bad).is_err(), "byte {at}");
    }
    for nbytes in HEADER.len() + 1..all.len() {
        let error = read(&all[..nbytes]).unwrap_err();
        assert!(error.to_string().ends_with("the manifest was cut off: there is no line of type \"end\""), "{error}");
    }
    let too_many = with_end(&[HEADER, &file(u64::MAX, 'a'), &file(1, 'b')], good);
    refused(&too_many, 3, "more than 2^64 bytes");
}

/// Other JSON of the same meaning is accepted.
#[test]
fn keys_in_any_order_with_white_space() {
    let line =
        format!(r#" {{ "sha1" : "{ABC}",	"mtime_ns":5, "length":3 , "path":"\u0061\u002fb", "type" : "file"}} "#);
    let header = r#"{ "algorithms" : ["sha1"], "version" : 1, "note": "mine", "format" : "hashloom manifest" }"#;
    let end = r#"{"sha256":"DIGEST","files":1,"links":0,"folders":1,"unread":0,"bytes":3,"type":"end"}"#;
    let bytes = with_end(&[header, r#"{"path":"a","type":"folder"}"#, &line], end);
    assert_eq!(read(&bytes).unwrap(), [entry("a", Kind::Folder), file("a/b", "abc", 5)]);
}

#[test]
fn what_cannot_be_written() {
    let mut writer = Writer::new(Vec::new(), &[Algorithm::Sha1, Algorithm::Sha256]).unwrap();
    let error = writer.write(&file("a", "abc", 0)).unwrap_err();
    assert!(error.to_string().starts_with("line 2: expected one sha256 digest"), "{error}");
    let error = writer.write(&entry(&"x".repeat(LINE_MAX_NBYTES), Kind::Folder)).unwrap_err();
    assert!(error.to_string().starts_with("line 2: longer than"), "{error}");
    assert!(Writer::new(Vec::new(), &[]).is_err());
    // The output is a full disk.
    let mut room = [0; 100];
    let mut writer = Writer::new(&mut room[..], SHA1).unwrap();
    let error = writer.write(&file("a", "abc", 0)).unwrap_err();
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::WriteZero);
}

fn compared(old: &[u8], new: &[u8]) -> (Vec<Difference>, Counts) {
    let mut comparison = Comparison::new(Reader::new(old).unwrap(), SHA1, SHA1).unwrap();
    let mut found = Vec::new();
    for entry in Reader::new(new).unwrap() {
        comparison.found(entry.unwrap(), |difference| found.push(difference)).unwrap();
    }
    let counts = comparison.finish(|difference| found.push(difference)).unwrap();
    (found, counts)
}

#[test]
fn what_could_not_be_read() {
    let unread = |path, reason| entry(path, Kind::Unread(reason));
    let folders = ["d", "d/e"].map(|path| entry(path, Kind::Folder));
    let [d, e] = folders;
    let old = written(&[d.clone(), e.clone(), file("d/e/f", "x", 0), file("d-", "y", 0), file("g", "z", 0)]);
    let new = written(&[unread("d", Reason::Unreadable), file("d-", "y", 0), unread("g", Reason::Unstable)]);
    let names = |found: &[Difference]| {
        let name = |d: &Difference| format!("{} {}", d.status, String::from_utf8_lossy(d.path()));
        found.iter().map(name).collect::<Vec<_>>()
    };
    // Entries below d are counted but not named: they may be there.
    let (found, counts) = compared(&old, &new);
    assert_eq!(names(&found), ["unreadable d", "unstable g"]);
    assert_eq!([Status::Unreadable, Status::Same, Status::Removed].map(|s| counts.of(s)), [3, 1, 0]);
    // In the other direction nothing is known of their former state.
    let (found, counts) = compared(&new, &old);
    assert_eq!(names(&found), ["unrecorded d", "unrecorded d/e", "unrecorded d/e/f", "unrecorded g"]);
    assert_eq!(counts.of(Status::Added), 0);
    let (found, _) = compared(&new, &new);
    assert_eq!(names(&found), ["unreadable d", "unstable g"]);
    // If the comparison stops early, later entries do not count as removed.
    let mut comparison = Comparison::new(Reader::new(&old[..]).unwrap(), SHA1, SHA1).unwrap();
    comparison.found(e, |_| panic!()).unwrap();
    let mut stopped = Vec::new();
    comparison.stop(|difference| stopped.push(difference));
    assert_eq!(names(&stopped), ["removed d"]);
}

#[test]
fn a_manifest_that_ends_in_an_error() {
    let old = written(&[file("a", "x", 0), file("b", "y", 0)]);
    let cut = &old[..old.len() - 10];
    let mut comparison = Comparison::new(Reader::new(cut).unwrap(), SHA1, SHA1).unwrap();
    comparison.found(file("a", "x", 0), |_| panic!()).unwrap();
    assert_eq!(comparison.finish(|_| panic!()).unwrap_err().line, 4);
    assert!(Comparison::new(Reader::new(cut).unwrap(), SHA1, &[Algorithm::Sha256]).is_none());
}

/// What an earlier scan has read is not read again, if it was in this folder, and any change would have shown.
#[test]
fn a_scan_goes_on() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, moved, path) =
        (parent.path().join("folder"), parent.path().join("moved"), parent.path().join("state"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a"), "abc").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    // A container, or a chroot without /sys, may not tell the device.
    let file = folder.join("a");
    let tie = Folder::new(&folder).tie(&file, &Noted::of(&file).unwrap());
    let doubt = tie.doubt_at(&tie);
    let scan = |folder: &Path| {
        let state = State::at(&path, &Scan::subject(SHA1)).unwrap();
        let mut evidence = Vec::new();
        let found = |found: Found| {
            evidence.push(found.evidence);
            assert!(matches!(found.entry.kind, Kind::File { digests, .. } if digests[0].to_string() == ABC));
            Ok::<(), Error>(())
        };
        let done = Scan::new(folder).algorithms(SHA1).state(state).run(&Options::new(), found).unwrap();
        (evidence, done.nread, done.nresumed, done.doubts.into_keys().next())
    };
    assert_eq!(scan(&folder), (vec![Evidence::Read], 1, 0, None));
    if let Some(why @ (Doubt::FileSystem | Doubt::Device)) = doubt {
        crate::skipped::skipped(format!("{} is {why}", folder.display()));
        assert_eq!(scan(&folder), (vec![Evidence::Read], 1, 0, doubt));
        return;
    }
    assert_eq!(scan(&folder), (vec![Evidence::State], 0, 1, None));
    std::fs::rename(&folder, &moved).unwrap();
    assert_eq!(scan(&moved), (vec![Evidence::Read], 1, 0, Some(Doubt::Folder)));
    assert_eq!(scan(&moved), (vec![Evidence::State], 0, 1, None));
    // The entry of the folder's old place is not the last one any more.
    std::fs::rename(&moved, &folder).unwrap();
    assert_eq!(scan(&folder), (vec![Evidence::Read], 1, 0, Some(Doubt::Folder)));
    // Digests of another length than the algorithm's are none.
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    let tie: Tie = whole.lines().last().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    for value in [&ABC[..38], "x", &format!("{ABC}00")] {
        State::at(&path, &Scan::subject(SHA1)).unwrap().add(b"a", &tie, value).unwrap();
        assert_eq!(scan(&folder).0, [Evidence::Read], "{value}");
    }
}

/// Some errors stop a scan, others do not.
#[test]
fn a_scan_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    std::fs::write(folder.path().join("left out"), "").unwrap();
    let scan = || Scan::new(folder.path()).leave_out("left out");
    let paths = |limit: usize, options: &Options| {
        let mut paths = Vec::new();
        let each = |found: Found| {
            paths.push(String::from_utf8(found.entry.path).unwrap());
            if paths.len() < limit { Ok(()) } else { Err(limit) }
        };
        let result = scan().run(options, each);
        (paths, result)
    };
    let (all, summary) = paths(4, &Options::new());
    let summary = summary.unwrap();
    assert_eq!(
        (all, summary.nread, summary.nbytes, summary.cancelled),
        (["a", "b", "c"].map(Into::into).into(), 3, 3, false)
    );
    let cancel = Cancel::new();
    let options = Options::new().cancel(&cancel);
    let (some, error) = paths(2, &options);
    assert!(some == ["a", "b"] && matches!(error, Err(ScanError::Each(2))), "{some:?} {error:?}");
    // The failure of one scan does not cancel what else runs with these options.
    assert!(!cancel.is_cancelled());
    cancel.cancel();
    let (none, summary) = paths(1, &options);
    assert!(none.is_empty() && summary.unwrap().cancelled);
    let old = written(&[]);
    let error =
        scan().update(Reader::new(&old[..]).unwrap()).run(&Options::new(), |_| Ok::<(), Error>(())).unwrap_err();
    assert!(matches!(&error, ScanError::Algorithms { found } if found == SHA1), "{error}");
    let damaged = [&old[..old.len() - 1], b"x"].concat();
    let scan = scan().algorithms(SHA1).update(Reader::new(&damaged[..]).unwrap());
    let error = scan.run(&Options::new(), |_| Ok::<(), Error>(())).unwrap_err();
    assert!(matches!(error, ScanError::Update(_)), "{error}");
}
