// SPDX-License-Identifier: MIT OR Apache-2.0

//! v1 torrents: their content when parsed. `metainfo_v2.rs` cuts them anywhere and changes any byte, and
//! `test/malformed_torrents.py` has the error or the note of each malformation, of all versions.

use crate::maker::{Bencode, content, dictionary, file_torrent, folder_torrent, int, list, padding, sha1, text};
use hashloom_torrent::{Error, Torrent, Version};

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
