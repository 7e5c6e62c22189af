// SPDX-License-Identifier: MIT OR Apache-2.0

//! v2 and hybrid torrents (BEP 52): their content when parsed, and halves of a hybrid that differ. `metainfo_random.rs`
//! compares the roots of all files and pieces.

use std::path::Path;

use crate::maker::{
    Bencode, Content, content, dictionary, file_list, int, layers, list, noise, padded, padding, pieces, pieces_root,
    plant, sha1, sha256, text, tree,
};
use hashloom_torrent::{Error, HybridDifference, Problem, Torrent, Version};

const PIECE: usize = 32768;

fn parse(bytes: &[u8]) -> Torrent {
    Torrent::parse(bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

fn error(torrent: &[u8]) -> Error {
    match Torrent::parse(torrent) {
        Err(error) => error,
        Ok(torrent) => panic!("accepted: {torrent:?}"),
    }
}

fn notes(torrent: &Torrent) -> Vec<String> {
    torrent.notes().iter().map(ToString::to_string).collect()
}

fn files() -> Vec<Content> {
    vec![
        content("a/deep/er", noise(100_000, 1)),
        content("a/empty", ""),
        content("b", noise(PIECE, 2)),
        content("c", noise(PIECE + 1, 3)),
        content("d", noise(5, 4)),
    ]
}

/// The torrent with some keys of `info` set or, by `None`, removed; "piece layers" is the key beside `info`.
fn with(mut keys: Vec<(&'static str, Bencode)>, changes: Vec<(&'static str, Option<Bencode>)>) -> Vec<u8> {
    keys.push(("piece layers", layers(&files(), PIECE)));
    for (key, value) in changes {
        keys.retain(|(existing, _)| *existing != key);
        keys.extend(value.map(|value| (key, value)));
    }
    let (outer, info): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(key, _)| *key == "piece layers");
    dictionary(outer.into_iter().chain([("info", dictionary(info))])).write()
}

fn v2(changes: Vec<(&'static str, Option<Bencode>)>) -> Vec<u8> {
    with(crate::maker::v2_info("name", &files(), PIECE), changes)
}

fn hybrid(changes: Vec<(&'static str, Option<Bencode>)>) -> Vec<u8> {
    let v1 = padded(&files(), PIECE);
    let mut info = crate::maker::v2_info("name", &files(), PIECE);
    info.extend([("pieces", text(pieces(&v1, PIECE))), ("files", file_list(&v1))]);
    with(info, changes)
}

#[test]
fn what_a_v2_torrent_says() {
    let bytes = v2(vec![]);
    let torrent = parse(&bytes);
    let (start, end) = (find(&bytes, b"4:info") + 6, find(&bytes, b"12:piece layers"));
    assert_eq!(torrent.info_hash_v2(), Some(sha256(&bytes[start..end])));
    assert_eq!((torrent.version(), torrent.info_hash_v1(), torrent.piece_digest(0)), (Version::V2, None, None));
    assert_eq!(torrent.total_nbytes(), 100_005 + 2 * PIECE as u64 + 1);
    assert!(!torrent.is_single_file());
    assert_eq!(notes(&torrent), [""; 0]);
    let pieces: Vec<u64> =
        (0..torrent.piece_count()).map(|piece| torrent.piece_range(piece)).map(|r| r.end - r.start).collect();
    assert_eq!(pieces, [32768, 32768, 32768, 1696, 32768, 32768, 1, 5]);
    assert_eq!(pieces.iter().sum::<u64>(), torrent.total_nbytes());
    assert_eq!(Torrent::from_vec(bytes).unwrap().piece_root(3), torrent.piece_root(3));
}

#[test]
fn what_a_hybrid_torrent_says() {
    let bytes = hybrid(vec![]);
    let torrent = parse(&bytes);
    let (start, end) = (find(&bytes, b"4:info") + 6, find(&bytes, b"12:piece layers"));
    assert_eq!(torrent.info_hash_v1(), Some(sha1(&bytes[start..end])));
    assert_eq!(torrent.info_hash_v2(), Some(sha256(&bytes[start..end])));
    assert_eq!((torrent.version(), torrent.piece_digest(7).unwrap()), (Version::Hybrid, &sha1(&noise(5, 4))[..]));
    assert_eq!(torrent.file_count(), 7, "with padding");
    assert_eq!(notes(&torrent), [""; 0]);
    let from_vec = Torrent::from_vec(bytes).unwrap();
    assert_eq!((from_vec.piece_root(6), from_vec.piece_digest(6)), (torrent.piece_root(6), torrent.piece_digest(6)));
    assert!(torrent.files().filter(|file| file.attributes.padding).all(|file| file.root.is_none()));
}

fn find(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

#[test]
fn torrents_of_libtorrent() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let fixtures = vectors.join("webtorrent-fixtures/fixtures");
    // The info-hashes come from libtorrent.
    let cases = [
        ("leaves", "6f55ab247b229eea", "4bf4da601a8f144d", "3a9fe2ce5e0db6ad"),
        ("alice", "c5e1450e7a012227", "2719e2197e6fc42a", "d39eb2afb8270514"),
        ("numbers", "50a51193e18af909", "8aac19b27e6a315a", "29ea116a4d6d9f10"),
        ("lots", "0ff8c9165b04e3c8", "bccc0bbd0443f24f", "f63cd566793dd7a1"),
    ];
    let hex = |bytes: &[u8]| bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    for (content, hybrid_v1, hybrid_v2, v2) in cases {
        for version in [Version::Hybrid, Version::V2] {
            let path = vectors.join(format!("libtorrent/{content}-{version}.torrent"));
            let torrent = parse(&std::fs::read(path).unwrap());
            let hashes = (torrent.info_hash_v1().map(|h| hex(&h)), torrent.info_hash_v2().map(|h| hex(&h)));
            let expected = match version {
                Version::Hybrid => (Some(hybrid_v1.to_owned()), Some(hybrid_v2.to_owned())),
                _ => (None, Some(v2.to_owned())),
            };
            assert_eq!((torrent.version(), hashes), (version, expected), "{content}");
            assert_eq!(notes(&torrent), [""; 0], "{content}");
            assert_eq!(torrent.is_single_file(), matches!(content, "leaves" | "alice"), "{content}");
            let name = fixtures.join(std::str::from_utf8(torrent.name()).unwrap());
            for file in torrent.files().filter(|file| !file.attributes.padding) {
                let below = name.join(std::str::from_utf8(file.path).unwrap());
                let bytes = std::fs::read(if torrent.is_single_file() { &name } else { &below }).unwrap();
                assert_eq!(bytes.len() as u64, file.nbytes);
                assert_eq!(file.root, (!bytes.is_empty()).then(|| pieces_root(&bytes)).as_ref().map(|r| &r[..]));
                for (piece, bytes) in torrent.pieces_of_file(file.index).zip(bytes.chunks(16384)) {
                    let root = torrent.piece_root(piece).unwrap();
                    assert_eq!(root, sha256(bytes), "{content}: piece {piece}");
                }
            }
        }
    }
}

#[test]
fn single_files() {
    let one = [content("name", noise(100, 1))];
    let torrent = parse(&crate::maker::v2_torrent("name", &one, PIECE));
    assert!(torrent.is_single_file() && torrent.file(0).path == b"name");
    let torrent = parse(&crate::maker::v2_torrent("other", &one, PIECE));
    assert!(!torrent.is_single_file());
    let inner = [content("name/name", noise(100, 1))];
    assert!(!parse(&crate::maker::v2_torrent("name", &inner, PIECE)).is_single_file());
    // A list of one file makes a folder; a length does not.
    assert!(!parse(&crate::maker::hybrid_torrent("name", &one, PIECE)).is_single_file());
    let mut info = crate::maker::v2_info("name", &one, PIECE);
    info.extend([("pieces", text(pieces(&one, PIECE))), ("length", int(100))]);
    let bytes = dictionary([("info", dictionary(info)), ("piece layers", dictionary([]))]).write();
    let torrent = parse(&bytes);
    assert!(torrent.is_single_file() && torrent.file(0).root.is_some());
}

/// libtorrent 2.1 sorts the files of v1 by whole paths and those of the tree by components. It accepts its own torrents
/// as long as only empty files differ in order.
#[test]
fn files_without_content_may_stand_elsewhere_in_the_halves_of_a_hybrid() {
    let whole = [content("a.txt", ""), content("a/b", ""), content("a/c", noise(PIECE + 1, 1)), content("z", "z")];
    let make = |v1: &[Content], v2: &[Content]| {
        let mut info = crate::maker::v2_info("name", v2, PIECE);
        // The files stay in the given order.
        let pad = |file: &Content| padding(file.bytes.len().next_multiple_of(PIECE) - file.bytes.len());
        let v1: Vec<Content> = v1.iter().flat_map(|file| [file.clone(), pad(file)]).collect();
        info.extend([("pieces", text(pieces(&v1, PIECE))), ("files", file_list(&v1))]);
        dictionary([("info", dictionary(info)), ("piece layers", layers(v2, PIECE))]).write()
    };
    let torrent = parse(&make(&whole, &whole));
    let paths = torrent.files().filter(|file| !file.attributes.padding).map(|file| file.path.to_vec());
    assert_eq!(paths.collect::<Vec<_>>(), [&b"a.txt"[..], b"a/b", b"a/c", b"z"], "the order of v1");
    assert_eq!((torrent.piece_count(), torrent.note_count()), (3, 0), "{:?}", torrent.notes());
    let file = torrent.files().find(|file| file.path == b"a/c").unwrap();
    assert_eq!(file.root, Some(&pieces_root(&whole[2].bytes)[..]));
}

#[test]
fn links_are_the_same_in_both_halves_of_a_hybrid() {
    let link = |target: &str| ("symlink path", list(target.split('/').map(text)));
    let make = |v1: Vec<(&'static str, Bencode)>, v2: Vec<(&'static str, Bencode)>| {
        let mut files = padded(&files(), PIECE);
        files.push(content("link", ""));
        let Bencode::List(mut list) = file_list(&files) else { unreachable!() };
        let path = ("path", Bencode::List(vec![text("link")]));
        *list.last_mut().unwrap() = dictionary(v1.into_iter().chain([path, ("length", int(0))]));
        let mut tree = tree(&self::files());
        plant(&mut tree, "link", dictionary([("", dictionary(v2.into_iter().chain([("length", int(0))])))]));
        hybrid(vec![("files", Some(Bencode::List(list))), ("file tree", Some(tree))])
    };
    let attr = |letters: &str| ("attr", text(letters));
    let torrent = parse(&make(vec![attr("l"), link("a/deep/er")], vec![attr("l"), link("a/deep/er")]));
    let file = torrent.files().last().unwrap();
    assert_eq!((file.symlink, file.attributes.symlink), (Some(&b"a/deep/er"[..]), true));
    assert_eq!(torrent.file(0).symlink, None);
    // The target is accepted, however it is split into components.
    let absolute = || ("symlink path", list([text("/etc/passwd")]));
    let torrent = parse(&make(vec![attr("l"), absolute()], vec![attr("l"), absolute()]));
    assert_eq!(torrent.files().last().unwrap().symlink, Some(&b"/etc/passwd"[..]));
    assert_eq!(torrent.note_count(), 1, "{:?}", torrent.notes());
    let nowhere = || ("symlink path", list([]));
    assert!(Torrent::parse(&make(vec![attr("l"), nowhere()], vec![attr("l"), nowhere()])).is_ok());
    for (v1, v2) in [
        (vec![attr("l"), link("a")], vec![attr("l")]),
        (vec![attr("l"), link("a")], vec![link("a")]),
        (vec![], vec![attr("l"), link("a")]),
    ] {
        let problem = error(&make(v1, v2)).problem;
        assert_eq!(problem, Problem::Hybrid(HybridDifference::Symlink { path: b"link".to_vec() }));
    }
    let torrent = parse(&make(vec![attr("x")], vec![attr("h")]));
    assert_eq!(torrent.notes().len(), 1, "{:?}", torrent.notes());
    assert!(torrent.files().last().unwrap().attributes.executable, "v1 counts");
}

#[test]
fn the_files_of_an_unsorted_tree_come_in_its_order() {
    let mut tree = tree(&files());
    let Bencode::Dictionary(entries) = &mut tree else { unreachable!() };
    entries.swap(0, 3);
    let torrent = parse(&v2(vec![("file tree", Some(tree))]));
    assert_eq!(torrent.files().map(|file| file.path[0]).collect::<Vec<_>>(), b"dbcaa");
}

#[test]
fn torrents_with_any_byte_changed_or_cut_anywhere_do_not_panic() {
    let small = [content("a/b", "abc"), content("c", noise(40_000, 1)), content("d", "")];
    let v1 = crate::maker::folder_torrent("name", &[content("a/b", "abc"), padding(5), content("c", "")], 4);
    for whole in
        [v1, crate::maker::v2_torrent("name", &small, PIECE), crate::maker::hybrid_torrent("name", &small, PIECE)]
    {
        for at in 0..whole.len() {
            assert!(matches!(error(&whole[..at]).problem, Problem::Bencode(_)), "{at}");
            for byte in *b"\0ilde019:-/.\xff" {
                let mut torrent = whole.clone();
                torrent[at] = byte;
                if let Ok(torrent) = Torrent::parse(&torrent) {
                    let last = torrent.piece_count();
                    let _ = (torrent.piece_range(last), torrent.files_of_piece(last), format!("{torrent:?}"));
                    let v1 = torrent.version() == Version::V1;
                    for file in torrent.files() {
                        assert_eq!(file.root.is_none(), v1 || file.nbytes == 0 || file.attributes.padding);
                    }
                }
            }
        }
    }
}
