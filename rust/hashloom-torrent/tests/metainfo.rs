// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents that must be refused, each with its own error, and torrents that must be accepted.

mod maker;

use hashloom_torrent::{Error, Problem, Torrent, Version};
use maker::{Bencode, content, dictionary, file_torrent, folder_torrent, int, list, padding, sha1, text};

/// A single-file torrent's info with some keys set or, by `None`, removed.
fn info(changes: Vec<(&'static str, Option<Bencode>)>) -> Vec<u8> {
    let mut keys =
        vec![("length", int(3)), ("name", text("name")), ("piece length", int(2)), ("pieces", text([7; 40]))];
    for (key, value) in changes {
        keys.retain(|(existing, _)| *existing != key);
        keys.extend(value.map(|value| (key, value)));
    }
    dictionary([("info", dictionary(keys))]).write()
}

fn raw_integer(key: &str, digits: &str) -> Vec<u8> {
    let mut bytes = info(vec![("zz", Some(text("X")))]);
    let whole = String::from_utf8_lossy(&bytes).into_owned();
    let start = whole.find(&format!("{key}i")).unwrap() + key.len() + 1;
    let end = start + whole[start..].find('e').unwrap();
    bytes.splice(start..end, digits.bytes());
    bytes
}

/// A torrent of three files of one byte each, one of them as given.
fn files(changed: Bencode) -> Vec<u8> {
    let file = |name: &str| dictionary([("length", int(1)), ("path", list([text(name)]))]);
    let files = list([file("first"), changed, file("last")]);
    info(vec![("length", None), ("files", Some(files))])
}

fn path(components: &[&[u8]]) -> Vec<u8> {
    files(dictionary([("length", int(1)), ("path", list(components.iter().map(text)))]))
}

fn error(torrent: &[u8]) -> Error {
    match Torrent::parse(torrent) {
        Err(error) => error,
        Ok(torrent) => panic!("accepted: {torrent:?}"),
    }
}

#[test]
#[cfg_attr(windows, ignore = "names that Windows cannot have")]
fn each_malformation_has_an_error_of_its_own() {
    let file = |keys: Vec<(&'static str, Bencode)>| files(dictionary(keys));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "not a torrent: the file is empty; expected a dictionary, which begins with 'd'"),
        (b"<html>".to_vec(), "not a torrent: byte 0: expected a dictionary, which begins with 'd', found '<'"),
        (b"i1e".to_vec(), "not a torrent: byte 0: expected a dictionary, found an integer"),
        (b"de".to_vec(), "info, byte 0: this key is missing; expected a dictionary that describes the files"),
        (b"d4:infoi1ee".to_vec(), "info, byte 7: expected a dictionary, found an integer"),
        (
            b"d4:infod".to_vec(),
            "not a torrent: info, byte 8: the input ends, expected a key (a string) or 'e' (the end of a dictionary); the file is cut short or damaged: get it again",
        ),
        (
            info(vec![("name", None)]),
            "info.name, byte 7: this key is missing; expected a string: the name of the file or folder",
        ),
        (info(vec![("name", Some(int(1)))]), "info.name, byte 25: expected a string, found an integer"),
        (info(vec![("name", Some(text("")))]), "info.name, byte 25: the name \"\" is empty"),
        (info(vec![("name", Some(text("..")))]), "info.name, byte 25: the name \"..\" leads out of the folder"),
        (info(vec![("name", Some(text(".")))]), "info.name, byte 25: the name \".\" stands for the folder itself"),
        (info(vec![("name", Some(text("/etc")))]), "info.name, byte 25: the name \"/etc\" has a path separator in it"),
        (info(vec![("name", Some(text("a\0b")))]), "info.name, byte 25: the name \"a\\x00b\" has a NUL byte in it"),
        (
            info(vec![("name.utf-8", Some(text("../up")))]),
            "info.name.utf-8, byte 44: the name \"../up\" has a path separator in it",
        ),
        (
            info(vec![("piece length", None)]),
            "info.piece length, byte 7: this key is missing; expected an integer: the number of bytes in a piece",
        ),
        (
            info(vec![("piece length", Some(text("2")))]),
            "info.piece length, byte 46: expected an integer, found a string",
        ),
        (info(vec![("piece length", Some(int(0)))]), "info.piece length, byte 46: must be at least 1, found 0"),
        (
            info(vec![("piece length", Some(Bencode::Integer(-16384)))]),
            "info.piece length, byte 46: must be at least 1, found -16384",
        ),
        (
            info(vec![("piece length", Some(int(1 << 62)))]),
            "info.piece length, byte 46: must be at most 4294967296 (no client can ask for more), found 4611686018427387904",
        ),
        (
            raw_integer("piece length", "9223372036854775808"),
            "info.piece length, byte 46: the integer \"9223372036854775808\" does not fit 64 bits",
        ),
        (
            info(vec![("pieces", None)]),
            "info.pieces, byte 7: this key is missing; expected a string: a 20-byte SHA-1 digest for each piece",
        ),
        (info(vec![("pieces", Some(list([])))]), "info.pieces, byte 57: expected a string, found a list"),
        (
            info(vec![("pieces", Some(text([7; 39])))]),
            "info.pieces, byte 57: must be a whole number of 20-byte SHA-1 digests, found 39 bytes",
        ),
        (
            info(vec![("pieces", Some(text([7; 20])))]),
            "info.pieces, byte 57: files of 3 bytes in pieces of 2 need 2 digests, found 1",
        ),
        (
            info(vec![("pieces", Some(text([7; 60])))]),
            "info.pieces, byte 57: files of 3 bytes in pieces of 2 need 2 digests, found 3",
        ),
        (
            info(vec![("pieces", Some(text("")))]),
            "info.pieces, byte 57: files of 3 bytes in pieces of 2 need 2 digests, found 0",
        ),
        (
            info(vec![("length", None)]),
            "info.length (or info.files), byte 7: this key is missing; expected an integer: the file's length (or a list of files)",
        ),
        (info(vec![("length", Some(text("3")))]), "info.length, byte 16: expected an integer, found a string"),
        (info(vec![("length", Some(Bencode::Integer(-3)))]), "info.length, byte 16: must be at least 0, found -3"),
        (
            raw_integer("length", "99999999999999999999"),
            "info.length, byte 16: the integer \"99999999999999999999\" does not fit 64 bits",
        ),
        (info(vec![("files", Some(int(1)))]), "info.files, byte 15: expected a list, found an integer"),
        (
            info(vec![("files", Some(list([])))]),
            "info.files, byte 15: the list of files is empty; expected at least one",
        ),
        (files(int(1)), "info.files[1], byte 44: expected a dictionary, found an integer"),
        (
            file(vec![("length", int(1))]),
            "info.files[1].path, byte 44: this key is missing; expected a list: the folders of the file, and its name",
        ),
        (
            file(vec![("path", list([text("a")]))]),
            "info.files[1].length, byte 44: this key is missing; expected an integer: the file's length",
        ),
        (
            file(vec![("length", text("1")), ("path", list([text("a")]))]),
            "info.files[1].length, byte 53: expected an integer, found a string",
        ),
        (
            file(vec![("length", Bencode::Integer(-1)), ("path", list([text("a")]))]),
            "info.files[1].length, byte 53: must be at least 0, found -1",
        ),
        (
            file(vec![("length", Bencode::Integer(i64::MAX)), ("path", list([text("a")]))]),
            "info.files[1].length, byte 53: with this file the lengths of all files sum to 2^63 or more",
        ),
        (
            file(vec![("attr", text("p")), ("length", Bencode::Integer(i64::MAX)), ("path", list([text("a")]))]),
            "info.files[1].length, byte 62: with this file the lengths of all files sum to 2^63 or more",
        ),
        (
            file(vec![("length", int(1)), ("path", text("a"))]),
            "info.files[1].path, byte 62: expected a list, found a string",
        ),
        (
            file(vec![("length", int(1)), ("path", list([text("a"), int(1)]))]),
            "info.files[1].path[1], byte 66: expected a string, found an integer",
        ),
        (path(&[]), "info.files[1].path, byte 62: the path is empty; expected the names of folders, and of the file"),
        (path(&[b"."]), "info.files[1].path[0], byte 63: the name \".\" stands for the folder itself"),
        (path(&[b"a", b""]), "info.files[1].path[1], byte 66: in the path \"a/\" the component \"\" is empty"),
        (path(&[b"", b"etc"]), "info.files[1].path[0], byte 63: in the path \"/etc\" the component \"\" is empty"),
        (
            path(&[b"a", b"..", b"b"]),
            "info.files[1].path[1], byte 66: in the path \"a/../b\" the component \"..\" leads out of the folder",
        ),
        (path(&[b".."]), "info.files[1].path[0], byte 63: the name \"..\" leads out of the folder"),
        (
            path(&[b"/etc/passwd"]),
            "info.files[1].path[0], byte 63: the name \"/etc/passwd\" has a path separator in it",
        ),
        (
            path(&[b"a", b"../../b"]),
            "info.files[1].path[1], byte 66: in the path \"a/../../b\" the component \"../../b\" has a path separator in it",
        ),
        (path(&[b"a\0"]), "info.files[1].path[0], byte 63: the name \"a\\x00\" has a NUL byte in it"),
        (
            path(&[b"\x1b]0;\xe2\x80\xae\xff", b".."]),
            "info.files[1].path[1], byte 73: in the path \"\\x1b]0;\\u{202e}\\xff/..\" the component \"..\" leads out of the folder",
        ),
        (path(&[b"first"]), "info.files[1].path, byte 62: the path \"first\" is also that of info.files[0]"),
        (
            path(&[b"a", b".", b"b"]),
            "info.files[1].path[1], byte 66: in the path \"a/./b\" the component \".\" stands for the folder itself",
        ),
        (path(&[b"last"]), "info.files[2].path, byte 89: the path \"last\" is also that of info.files[1]"),
        (
            path(&[b"first", b"inner"]),
            "info.files[1].path, byte 62: \"first/inner\" lies inside \"first\", which info.files[0] says is a file",
        ),
        (
            path(&[b"last", b"inner"]),
            "info.files[1].path, byte 62: \"last/inner\" lies inside \"last\", which info.files[2] says is a file",
        ),
        (
            info(vec![("meta version", Some(int(3)))]),
            "info.meta version, byte 34: version 3 of the torrent format is unknown; versions 1 and 2 are known",
        ),
        (
            info(vec![("meta version", Some(text("2")))]),
            "info.meta version, byte 34: expected an integer, found a string",
        ),
        (
            info(vec![("pieces", None), ("file tree", Some(dictionary([])))]),
            "info.meta version, byte 19: this key is missing; expected the integer 2, as there is a file tree without pieces",
        ),
    ];
    let mut messages = std::collections::BTreeSet::new();
    for (torrent, message) in &cases {
        let error = error(torrent);
        assert_eq!(error.to_string(), *message, "\n{}", String::from_utf8_lossy(torrent));
        messages.insert(message);
        // The offset must lie within the file.
        assert!(error.offset <= torrent.len());
    }
    assert_eq!(messages.len(), cases.len(), "two kinds of malformation share a message");
}

#[test]
fn torrents_cut_anywhere_are_errors() {
    let whole = folder_torrent("name", &[content("a/b", "abc"), padding(5), content("c", "")], 4);
    for end in 0..whole.len() {
        assert!(matches!(error(&whole[..end]).problem, Problem::Bencode(_)), "{end}");
    }
    assert!(Torrent::parse(&whole).is_ok());
}

#[test]
fn torrents_with_any_byte_changed_do_not_panic() {
    let whole = folder_torrent("name", &[content("a/b", "abc"), padding(5), content("c", "")], 4);
    for at in 0..whole.len() {
        for byte in *b"\0ilde019:-/.\xff" {
            let mut torrent = whole.clone();
            torrent[at] = byte;
            if let Ok(torrent) = Torrent::parse(&torrent) {
                let last = torrent.piece_count();
                let _ = (torrent.piece_range(last), torrent.files_of_piece(last), format!("{torrent:?}"));
            }
        }
    }
}

#[test]
fn what_a_torrent_says() {
    let files = [content("a/b", "abcde"), content("empty", ""), padding(3), content("c", "12")];
    let bytes = folder_torrent("the name", &files, 4);
    let torrent = Torrent::parse(&bytes).unwrap();
    let start = bytes.windows(6).position(|w| w == b"4:info").unwrap() + 6;
    assert_eq!(torrent.info_hash_v1(), Some(sha1(&bytes[start..bytes.len() - 1])));
    assert_eq!((torrent.version(), torrent.info_hash_v2(), torrent.piece_root(0)), (Version::V1, None, None));
    assert_eq!(torrent.name(), b"the name");
    assert!(!torrent.is_single_file());
    assert_eq!((torrent.total_nbytes(), torrent.piece_nbytes(), torrent.piece_count()), (10, 4, 3));
    assert_eq!(torrent.piece_digest(2), Some(&sha1(b"12")[..]));
    assert_eq!(torrent.piece_digest(3), None);
    let all: Vec<_> = torrent.files().map(|f| (f.index, f.path.to_vec(), f.nbytes, f.offset)).collect();
    let expected = [(0, "a/b", 5, 0), (1, "empty", 0, 5), (2, ".pad/3", 3, 5), (3, "c", 2, 8)];
    assert_eq!(all, expected.map(|(i, path, nbytes, offset)| (i, path.as_bytes().to_vec(), nbytes, offset)));
    assert!(torrent.file(2).attributes.padding && !torrent.file(0).attributes.padding);
    assert_eq!((0..4).map(|f| torrent.pieces_of_file(f)).collect::<Vec<_>>(), [0..2, 0..0, 1..2, 2..3]);
    assert_eq!((0..4).map(|p| torrent.files_of_piece(p)).collect::<Vec<_>>(), [0..1, 0..3, 3..4, 0..0]);
    assert_eq!(torrent.note_count(), 0, "{:?}", torrent.notes());
}

#[test]
fn what_clients_accept_is_accepted_and_noted() {
    let notes = |torrent: &[u8]| {
        let torrent = Torrent::parse(torrent).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(torrent)));
        torrent.notes().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    let good = info(vec![]);
    assert_eq!(notes(&good), none);
    assert_eq!(
        notes(&[&good[..], b"\r\n"].concat()),
        [format!("byte {}: 2 bytes follow the end, they are ignored", good.len())]
    );
    // `info` comes before `announce`, and the keys of `info` are unsorted.
    let unsorted = b"d4:infod4:name1:a6:lengthi0e12:piece lengthi1e6:pieces0:e8:announce1:xe";
    assert_eq!(notes(unsorted).len(), 2);
    // The first of two `info` keys counts, wherever the second stands.
    let mut twice = b"d4:infod6:lengthi0e4:name1:a12:piece lengthi1e6:pieces0:e".to_vec();
    twice.extend_from_slice(b"1:z0:4:infoi1ee");
    assert_eq!(notes(&twice)[1], "byte 62: key \"info\" is there twice, the first counts");
    assert_eq!(notes(&raw_integer("piece length", "002")), ["byte 46: an integer with a leading zero"]);
    let both = info(vec![("files", Some(list([dictionary([("length", int(3)), ("path", list([text("a")]))])])))]);
    assert_eq!(notes(&both), ["info.length: there are both length and files, files counts"]);
    assert_eq!(notes(&info(vec![("meta version", Some(int(1)))])), none);
    // A backslash or colon is an ordinary character, except on Windows.
    if cfg!(unix) {
        assert_eq!(notes(&path(&[b"a\\b", b"C:", b"NUL", b"\xff"])), none);
    }
    // A leftover of v2 without a version is ignored.
    let tree = ["info.file tree: it is there without meta version 2, and is ignored"];
    assert_eq!(notes(&info(vec![("file tree", Some(dictionary([])))])), tree);
}

#[test]
fn utf8_names_go_before_the_others() {
    let torrent = info(vec![("name", Some(text(b"\xe9"))), ("name.utf-8", Some(text("é")))]);
    assert_eq!(Torrent::parse(&torrent).unwrap().name(), "é".as_bytes());
    let file = dictionary([("length", int(1)), ("path", list([text(b"\xe9")])), ("path.utf-8", list([text("é")]))]);
    assert_eq!(Torrent::parse(&files(file)).unwrap().file(1).path, "é".as_bytes());
}

#[test]
fn symlinks_have_no_content_and_padding_needs_no_good_path() {
    let link = dictionary([
        ("attr", text("l")),
        ("length", int(1 << 40)),
        ("path", list([text("link")])),
        ("symlink path", list([text("..")])),
    ]);
    let padding = dictionary([("attr", text("xph")), ("length", int(1))]);
    let odd = dictionary([("attr", text("p")), ("length", int(1)), ("path", list([text("..")]))]);
    let real = dictionary([("length", int(1)), ("path", list([text("real")]))]);
    let torrent = info(vec![("length", None), ("files", Some(list([link, padding.clone(), odd, real])))]);
    let torrent = Torrent::parse(&torrent).unwrap();
    assert_eq!(torrent.total_nbytes(), 3);
    assert!(torrent.file(0).attributes.symlink && torrent.file(0).nbytes == 0);
    let attributes = torrent.file(1).attributes;
    assert!(attributes.padding && attributes.executable && attributes.hidden && !attributes.symlink);
}

#[test]
fn a_torrent_of_nothing_is_a_torrent() {
    let torrent = Torrent::parse(&file_torrent("empty", b"", 16384)).unwrap();
    assert_eq!((torrent.piece_count(), torrent.total_nbytes(), torrent.piece_range(0)), (0, 0, 0..0));
}

#[test]
fn long_names_are_cut_in_messages() {
    let error = error(&path(&[&[b'a'; 10_000], b".."]));
    assert!(error.to_string().len() < 600, "{error}");
}

#[test]
fn many_files_are_parsed() {
    let files: Vec<_> = (0..50_000).map(|i| content(&format!("folder/{i}"), "")).collect();
    let bytes = folder_torrent("name", &files, 16384);
    // An algorithm of quadratic time would hang here.
    assert_eq!(Torrent::parse(&bytes).unwrap().file_count(), 50_000);
}
