// SPDX-License-Identifier: MIT OR Apache-2.0

//! v2 and hybrid torrents (BEP 52): their content when parsed, and torrents that must be refused, each with its own
//! error.

mod maker;

use std::path::Path;

use hashloom_torrent::{Error, HybridDifference, Problem, Torrent, Version};
use maker::{
    Bencode, Content, content, dictionary, file_list, int, layer, layers, leaf, list, noise, padded, padding, pieces,
    pieces_root, plant, sha1, sha256, text, tree,
};

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
    with(maker::v2_info("name", &files(), PIECE), changes)
}

fn hybrid(changes: Vec<(&'static str, Option<Bencode>)>) -> Vec<u8> {
    let v1 = padded(&files(), PIECE);
    let mut info = maker::v2_info("name", &files(), PIECE);
    info.extend([("pieces", text(pieces(&v1, PIECE))), ("files", file_list(&v1))]);
    with(info, changes)
}

/// A v2 torrent whose tree has one more entry, "x".
fn planted(entry: Bencode) -> Vec<u8> {
    let mut tree = tree(&files());
    plant(&mut tree, "x", entry);
    v2(vec![("file tree", Some(tree))])
}

/// A v2 torrent whose tree has one more file, with these properties.
fn file(keys: Vec<(&'static str, Bencode)>) -> Vec<u8> {
    planted(dictionary([("", dictionary(keys))]))
}

fn check_roots(torrent: &Torrent, files: &[Content]) {
    let real: Vec<_> = torrent.files().filter(|file| !file.attributes.padding).collect();
    assert_eq!(real.len(), files.len());
    let mut piece = 0;
    for (file, content) in real.iter().zip(files) {
        assert_eq!((file.path, file.nbytes), (content.path.as_bytes(), content.bytes.len() as u64));
        let root = (file.nbytes > 0).then(|| pieces_root(&content.bytes));
        assert_eq!(file.root, root.as_ref().map(|root| &root[..]), "{}", content.path);
        let own = torrent.pieces_of_file(file.index);
        if file.nbytes == 0 {
            assert!(own.is_empty());
            continue;
        }
        assert_eq!(file.offset, (own.start * PIECE) as u64);
        assert_eq!(own, piece..piece + content.bytes.len().div_ceil(PIECE));
        piece = own.end;
        let roots: Vec<u8> = own.flat_map(|piece| torrent.piece_root(piece).unwrap().to_vec()).collect();
        let expected = if content.bytes.len() > PIECE { layer(&content.bytes, PIECE) } else { root.unwrap().to_vec() };
        assert_eq!(roots, expected, "{}", content.path);
    }
    assert_eq!((torrent.piece_count(), torrent.piece_root(piece)), (piece, None));
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
    check_roots(&torrent, &files());
    let pieces: Vec<u64> =
        (0..torrent.piece_count()).map(|piece| torrent.piece_range(piece)).map(|r| r.end - r.start).collect();
    assert_eq!(pieces, [32768, 32768, 32768, 1696, 32768, 32768, 1, 5]);
    assert_eq!(pieces.iter().sum::<u64>(), torrent.total_nbytes());
    assert_eq!(Torrent::from_vec(bytes, &Default::default()).unwrap().piece_root(3), torrent.piece_root(3));
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
    check_roots(&torrent, &files());
    let from_vec = Torrent::from_vec(bytes, &Default::default()).unwrap();
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
    let torrent = parse(&maker::v2_torrent("name", &one, PIECE));
    assert!(torrent.is_single_file() && torrent.file(0).path == b"name");
    let torrent = parse(&maker::v2_torrent("other", &one, PIECE));
    assert!(!torrent.is_single_file());
    let inner = [content("name/name", noise(100, 1))];
    assert!(!parse(&maker::v2_torrent("name", &inner, PIECE)).is_single_file());
    // A list of one file makes a folder; a length does not.
    assert!(!parse(&maker::hybrid_torrent("name", &one, PIECE)).is_single_file());
    let mut info = maker::v2_info("name", &one, PIECE);
    info.extend([("pieces", text(pieces(&one, PIECE))), ("length", int(100))]);
    let bytes = dictionary([("info", dictionary(info)), ("piece layers", dictionary([]))]).write();
    let torrent = parse(&bytes);
    assert!(torrent.is_single_file() && torrent.file(0).root.is_some());
}

#[test]
fn each_malformation_has_an_error_of_its_own() {
    let good = pieces_root(b"abc");
    let root = || ("pieces root", text(good));
    let long = noise(PIECE * 2, 9);
    let long_file = || leaf(&long);
    let wrong_layer = |digests: Vec<u8>| {
        let mut tree = tree(&files());
        plant(&mut tree, "x", long_file());
        let Bencode::Dictionary(mut entries) = layers(&files(), PIECE) else { unreachable!() };
        entries.push((pieces_root(&long).to_vec(), text(digests)));
        v2(vec![("file tree", Some(tree)), ("piece layers", Some(Bencode::Dictionary(entries)))])
    };
    let mut flipped = layer(&long, PIECE);
    flipped[40] ^= 1;
    let changed_files = |change: &dyn Fn(&mut Vec<Content>)| {
        let mut v1 = padded(&files(), PIECE);
        change(&mut v1);
        hybrid(vec![("files", Some(file_list(&v1))), ("pieces", Some(text(pieces(&v1, PIECE))))])
    };
    let raw = |tree: &[u8]| {
        let marked = v2(vec![("file tree", Some(text("MARK")))]);
        let at = find(&marked, b"4:MARK");
        [&marked[..at], tree, &marked[at + 6..]].concat()
    };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            v2(vec![("file tree", None)]),
            "info.file tree, byte 7: this key is missing; expected a dictionary of the files",
        ),
        (v2(vec![("file tree", Some(list([])))]), "info.file tree, byte 19: expected a dictionary, found a list"),
        (
            v2(vec![("file tree", Some(dictionary([])))]),
            "info.file tree, byte 19: the list of files is empty; expected at least one",
        ),
        (
            v2(vec![("piece length", Some(int(16383)))]),
            "info.piece length, byte 393: must be a power of two and at least 16384 in a v2 or hybrid torrent, found 16383",
        ),
        (
            v2(vec![("piece length", Some(int(8192)))]),
            "info.piece length, byte 393: must be a power of two and at least 16384 in a v2 or hybrid torrent, found 8192",
        ),
        (v2(vec![("piece length", Some(int(0)))]), "info.piece length, byte 393: must be at least 1, found 0"),
        (v2(vec![("piece layers", Some(int(0)))]), "piece layers, byte 416: expected a dictionary, found an integer"),
        (
            v2(vec![("piece layers", Some(dictionary([("short", text(""))])))]),
            "piece layers, byte 417: must be a 32-byte SHA-256 digest, found 5 bytes",
        ),
        (
            v2(vec![("piece layers", Some(dictionary([("01234567890123456789012345678901", int(1))])))]),
            "piece layers, byte 452: expected a string, found an integer",
        ),
        (
            v2(vec![("piece layers", None)]),
            "piece layers, byte 0: no layer for the pieces root of \"a/deep/er\", which is longer than a piece; a client that has the content can save the torrent with its layers",
        ),
        (
            planted(long_file()),
            "piece layers, byte 489: no layer for the pieces root of \"x\", which is longer than a piece; a client that has the content can save the torrent with its layers",
        ),
        (
            wrong_layer(vec![7; 32]),
            "piece layers, byte 794: the layer of \"x\" must be a 32-byte digest for each of its 2 pieces, found 32 bytes",
        ),
        (
            wrong_layer(vec![7; 65]),
            "piece layers, byte 794: the layer of \"x\" must be a 32-byte digest for each of its 2 pieces, found 65 bytes",
        ),
        (
            wrong_layer(flipped),
            "piece layers, byte 794: the layer of \"x\" does not lead to the file's pieces root: the torrent is damaged; get it again",
        ),
        (planted(int(1)), "info.file tree[\"x\"], byte 350: expected a dictionary, found an integer"),
        (
            planted(dictionary([("", int(1))])),
            "info.file tree[\"x\"], byte 353: expected a dictionary, found an integer",
        ),
        (
            file(vec![root()]),
            "info.file tree[\"x\"].length, byte 353: this key is missing; expected an integer: the file's length",
        ),
        (
            file(vec![("length", text("3")), root()]),
            "info.file tree[\"x\"].length, byte 362: expected an integer, found a string",
        ),
        (
            file(vec![("length", Bencode::Integer(-3)), root()]),
            "info.file tree[\"x\"].length, byte 362: must be at least 0, found -3",
        ),
        (
            file(vec![("length", Bencode::Integer(i64::MAX)), root()]),
            "info.file tree[\"x\"].length, byte 362: with this file the lengths of all files sum to 2^63 or more",
        ),
        (
            file(vec![("length", int(3))]),
            "info.file tree[\"x\"].pieces root, byte 353: this key is missing; expected a string: the 32-byte SHA-256 root of the file",
        ),
        (
            file(vec![("length", int(3)), ("pieces root", int(1))]),
            "info.file tree[\"x\"].pieces root, byte 379: expected a string, found an integer",
        ),
        (
            file(vec![("length", int(3)), ("pieces root", text("short"))]),
            "info.file tree[\"x\"].pieces root, byte 379: must be a 32-byte SHA-256 digest, found 5 bytes",
        ),
        (
            file(vec![("attr", text("p")), ("length", int(3)), root()]),
            "info.file tree[\"x\"].attr, byte 353: a padding file, which a v2 file tree cannot have",
        ),
        (raw(b"d0:d6:lengthi0eee"), "info.file tree[\"\"], byte 20: the name \"\" is empty"),
        (
            raw(b"d1:ad0:d6:lengthi0ee1:bd0:d6:lengthi0eeeee"),
            "info.file tree[\"a\"], byte 39: \"a\" is both a file and a folder",
        ),
        (
            raw(b"d1:ad1:bd0:d6:lengthi0eee0:d6:lengthi0eeee"),
            "info.file tree[\"a\"], byte 44: \"a\" is both a file and a folder",
        ),
        (raw(b"d1:ad0:d6:lengthi0eee1:ad0:d6:lengthi0eeee"), "info.file tree[\"a\"], byte 40: \"a\" is there twice"),
        (
            raw(b"d1:bd0:d6:lengthi0eee1:ad0:d6:lengthi0eee1:bd0:d6:lengthi0eeee"),
            "info.file tree[\"b\"], byte 60: \"b\" is there twice",
        ),
        (
            raw(b"d1:bd0:d6:lengthi0eee1:ad0:d6:lengthi0eee1:bd1:cd0:d6:lengthi0eeeee"),
            "info.file tree[\"b\"], byte 60: \"b\" is there twice",
        ),
        (
            raw(b"d1:ad2:..d0:d6:lengthi0eeeee"),
            "info.file tree[\"a/..\"], byte 24: in the path \"a/..\" the component \"..\" leads out of the folder",
        ),
        (
            raw(b"d4:/etcd0:d6:lengthi0eeee"),
            "info.file tree[\"/etc\"], byte 20: the name \"/etc\" has a path separator in it",
        ),
        (
            changed_files(&|v1| v1[0].path = "a/deep/re".to_owned()),
            "info.file tree[\"a/deep/er\"], byte 38: the v1 and v2 halves disagree: where v1 has \"a/deep/re\", v2 has \"a/deep/er\"",
        ),
        (
            changed_files(&|v1| drop(v1.pop())),
            "info.file tree[\"d\"], byte 284: the v1 and v2 halves disagree: v1 has no \"d\"",
        ),
        (
            changed_files(&|v1| v1.push(content("e", ""))),
            "info.file tree, byte 19: the v1 and v2 halves disagree: v2 has no \"e\"",
        ),
        (
            changed_files(&|v1| v1.last_mut().unwrap().bytes.truncate(4)),
            "info.file tree[\"d\"], byte 284: the v1 and v2 halves disagree: \"d\" has 4 bytes in v1 and 5 bytes in v2",
        ),
        (
            changed_files(&|v1| drop(v1.remove(5))),
            "info.file tree[\"d\"], byte 284: the v1 and v2 halves disagree: \"d\" begins at byte 196609 in v1 and at byte 229376, a piece's first, in v2",
        ),
        (
            changed_files(&|v1| v1.push(padding(PIECE))),
            "info.file tree, byte 19: the v1 and v2 halves disagree: v1 has 9 pieces, v2 has 8",
        ),
    ];
    let mut failed = 0;
    for (torrent, message) in &cases {
        let error = error(torrent);
        if error.to_string() != *message {
            eprintln!("expected {message}\n   found {error}");
            failed += 1;
        }
        assert!(error.offset <= torrent.len());
    }
    assert_eq!(failed, 0);
}

/// libtorrent 2.1 sorts the files of v1 by whole paths and those of the tree by components. It accepts its own torrents
/// as long as only empty files differ in order.
#[test]
fn files_without_content_may_stand_elsewhere_in_the_halves_of_a_hybrid() {
    let whole = [content("a.txt", ""), content("a/b", ""), content("a/c", noise(PIECE + 1, 1)), content("z", "z")];
    let make = |v1: &[Content], v2: &[Content]| {
        let mut info = maker::v2_info("name", v2, PIECE);
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

    let path = |path: &str| Some(path.as_bytes().to_vec());
    let file = |v1, v2| HybridDifference::File { v1, v2 };
    let with_content = [content("a.txt", "x"), whole[1].clone(), whole[2].clone(), whole[3].clone()];
    let length = |v1, v2| HybridDifference::Length { path: b"a.txt".to_vec(), v1, v2 };
    for (v1, v2, expected) in [
        (&whole[..], &whole[1..], file(path("a.txt"), None)),
        (&whole[1..], &whole[..], file(None, path("a.txt"))),
        (&whole[..], &with_content[..], length(0, 1)),
        (&with_content[1..], &with_content[..], file(path("z"), path("a.txt"))),
        (&with_content[..1], &whole[..1], length(1, 0)),
        (&with_content[..], &with_content[..], file(path("a.txt"), path("a/c"))),
    ] {
        assert_eq!(error(&make(v1, v2)).problem, Problem::Hybrid(expected));
    }
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
        (vec![attr("l"), link("a")], vec![attr("l"), link("b")]),
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
fn what_clients_accept_is_accepted_and_noted() {
    let cases = [
        (v2(vec![("length", Some(int(1)))]), "info.length: it is there without pieces, the file tree counts"),
        (v2(vec![("files", Some(list([])))]), "info.files: it is there without pieces, the file tree counts"),
        (
            file(vec![("length", int(0)), ("pieces root", text("?"))]),
            "info.file tree: byte 353: a file without content has a pieces root",
        ),
        (planted(dictionary([])), "info.file tree: byte 350: a folder without files"),
        (
            file(vec![("attr", text("l")), ("length", int(9)), ("symlink path", list([text(".."), text("b")]))]),
            "info.file tree: byte 389: a symbolic link leads out of the torrent's folder",
        ),
        (
            v2(vec![("piece layers", {
                let mut all = files();
                all.push(content("more", noise(200_000, 5)));
                Some(layers(&all, PIECE))
            })]),
            "piece layers: 1 layer is of no file longer than a piece",
        ),
        (
            {
                let mut tree = tree(&files());
                let Bencode::Dictionary(entries) = &mut tree else { unreachable!() };
                entries.swap(0, 3);
                v2(vec![("file tree", Some(tree))])
            },
            "byte 89: key \"b\" comes after \"d\": keys are not sorted",
        ),
    ];
    for (bytes, note) in &cases {
        assert_eq!(notes(&parse(bytes))[0], *note);
    }
    let small = [content("a", "abc")];
    let bytes = dictionary([("info", dictionary(maker::v2_info("n", &small, PIECE)))]).write();
    assert_eq!(notes(&parse(&bytes)), ["piece layers: this key is missing, though no file needs it"]);
    // The tree is unsorted: the files come in the order of the tree.
    assert_eq!(parse(&cases[6].0).files().map(|file| file.path[0]).collect::<Vec<_>>(), b"dbcaa");
}

#[test]
fn torrents_with_any_byte_changed_or_cut_anywhere_do_not_panic() {
    let small = [content("a/b", "abc"), content("c", noise(40_000, 1)), content("d", "")];
    for whole in [maker::v2_torrent("name", &small, PIECE), maker::hybrid_torrent("name", &small, PIECE)] {
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

/// Any number of files can share a folder's name, or a layer, in a few bytes.
#[test]
fn a_small_torrent_cannot_make_much_of_itself() {
    let folder = "f".repeat(60_000);
    let mut tree = Bencode::Dictionary(Vec::new());
    let inner = (0..1000).map(|i| (format!("{i:04}").into_bytes(), leaf(b""))).collect();
    plant(&mut tree, &folder, Bencode::Dictionary(inner));
    let bytes = v2(vec![("file tree", Some(tree))]);
    let message = error(&bytes).to_string();
    assert!(
        message
            .ends_with("the paths of the files need more than 16777216 bytes of memory, far more than the torrent has"),
        "{message}"
    );

    let long = noise(PIECE * 1024, 1);
    let entry = leaf(&long);
    let names: Vec<String> = (0..600).map(|i| format!("{i:04}")).collect();
    let make = |count: usize| {
        let tree =
            Bencode::Dictionary(names[..count].iter().map(|name| (name.clone().into_bytes(), entry.clone())).collect());
        v2(vec![("file tree", Some(tree)), ("piece layers", Some(layers(&[content("x", &long[..])], PIECE)))])
    };
    let torrent = parse(&make(512));
    assert_eq!((torrent.piece_count(), torrent.notes().len()), (512 * 1024, 0));
    assert_eq!(torrent.piece_root(1023), torrent.piece_root(512 * 1024 - 1));
    let message = error(&make(513)).to_string();
    assert!(message.contains("the roots of the pieces need more than 16777216 bytes"), "{message}");
}

#[test]
fn deep_and_wide_trees_are_parsed_in_one_pass() {
    let depth = 95;
    let path = vec!["d"; depth].join("/");
    let mut tree = Bencode::Dictionary(Vec::new());
    let wide = (0..20_000).map(|i| (format!("{i:05}").into_bytes(), leaf(b""))).collect();
    plant(&mut tree, &path, Bencode::Dictionary(wide));
    let torrent = parse(&v2(vec![("file tree", Some(tree))]));
    assert_eq!(torrent.file_count(), 20_000);
    assert_eq!(torrent.file(7).path, format!("{path}/00007").as_bytes());
}
