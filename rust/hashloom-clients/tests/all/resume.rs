// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files of clients: written files can be read again, and keys of the client are kept. The fuzz target
//! `resume` damages them.
//!
//! `test/clients.py` shows that the clients themselves accept the written files.

use std::fs;
use std::path::Path;

use hashloom_clients::Content;
use hashloom_clients::resume::{Error, Format, decode, encode, file_name, update};
use hashloom_files::run::Options;
use hashloom_torrent::bencode::{self, Item, Limits};
use hashloom_torrent::{Bitfield, Location, Torrent, verify};
use proptest::prelude::*;

use crate::maker::{content, folder_torrent, noise, padding, raw_file_torrent, v2_torrent, write_files};

const CLIENTS: [Format; 2] = [Format::Libtorrent, Format::Transmission];

/// A folder with a torrent's content, of 5 pieces of 32 KiB: two files share piece 1, padding fills piece 2.
struct Example {
    folder: tempfile::TempDir,
    torrent: Torrent,
}

const PIECE: usize = 32 << 10;

fn example() -> Example {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        content("a", noise(50_000, 1)),
        content("b/c", noise(PIECE * 3 - 50_000 - 100, 2)),
        padding(100),
        content("empty", ""),
        content("d", noise(PIECE + 20_000, 3)),
    ];
    write_files(&folder.path().join("album"), &files);
    let torrent = Torrent::parse(&folder_torrent("album", &files, PIECE)).unwrap();
    assert_eq!(torrent.piece_count(), 5);
    Example { folder, torrent }
}

impl Example {
    fn content(&self) -> Content {
        Content::find(&self.torrent, self.folder.path()).unwrap()
    }

    fn file(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("album").join(path)
    }
}

fn bits(pieces: &[usize], len: usize) -> Bitfield {
    let mut bitfield = Bitfield::none(len);
    pieces.iter().for_each(|&piece| bitfield.set(piece, true));
    bitfield
}

/// The bencoded value of a key of the outermost dictionary.
fn raw(bytes: &[u8], key: &str) -> Option<Vec<u8>> {
    let document = bencode::parse(bytes, &Limits::default()).unwrap();
    document.root().get(key.as_bytes()).map(|value| value.raw().to_vec())
}

fn string(text: impl AsRef<[u8]>) -> Vec<u8> {
    Item::from(text.as_ref()).encode()
}

/// A client's file with entries added or replaced.
fn with(bytes: &[u8], entries: &[(&str, Item)]) -> Vec<u8> {
    let document = bencode::parse(bytes, &Limits::default()).unwrap();
    let mut item = Item::dictionary();
    document.root().entries().for_each(|entry| item.insert(entry.key, Item::Raw(entry.value.raw().to_vec())));
    entries.iter().for_each(|(key, value)| item.insert(key, value.clone()));
    item.encode()
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_piece_is_not_claimed_whose_files_are_not_there() {
    let example = example();
    let have = |format: Format| {
        let bytes = encode(format, &example.torrent, &Bitfield::all(5), &example.content()).unwrap();
        decode(&bytes, &example.torrent).unwrap().have.ones().collect::<Vec<_>>()
    };
    // The padding file is not on disk, and Transmission would have to send a piece of it.
    assert_eq!(have(Format::Libtorrent), [0, 1, 2, 3, 4]);
    assert_eq!(have(Format::Transmission), [0, 1, 3, 4]);
    fs::create_dir(example.file(".pad")).unwrap();
    for (padding, is_claimed) in [(vec![0; 100], true), (vec![0; 99], false), (vec![1; 100], false)] {
        fs::write(example.file(".pad/100"), padding).unwrap();
        assert_eq!(have(Format::Transmission).contains(&2), is_claimed);
        assert_eq!(have(Format::Libtorrent), [0, 1, 2, 3, 4], "libtorrent does not look at it");
    }
    fs::write(example.file("d"), vec![0; PIECE]).unwrap();
    assert_eq!(have(Format::Libtorrent), [0, 1, 2, 3], "the last piece lies behind the end");
    fs::remove_file(example.file("a")).unwrap();
    assert_eq!(have(Format::Libtorrent), [2, 3]);
}

#[test]
fn a_content_of_another_name_is_said_to_be_renamed() {
    let example = example();
    fs::rename(example.folder.path().join("album"), example.folder.path().join("other")).unwrap();
    let path = example.folder.path().join("other");
    let content = Content::find(&example.torrent, &path).unwrap();
    assert_eq!(content.path(), path);
    // libtorrent keeps no padding; Transmission does not know what padding is.
    for (format, key, padding) in
        [(Format::Libtorrent, "mapped_files", ""), (Format::Transmission, "files", "other/.pad/100")]
    {
        let names: Item =
            ["other/a", "other/b/c", padding, "other/empty", "other/d"].map(Item::from).into_iter().collect();
        let bytes = encode(format, &example.torrent, &Bitfield::all(5), &content).unwrap();
        assert_eq!(raw(&bytes, key), Some(names.encode()), "{format}");
        let again = update(&bytes, format, &example.torrent, &Bitfield::all(5), &content).unwrap();
        assert_eq!(again, bytes, "{format}: it is where the client looks");
    }
    let file = example.folder.path().join("renamed");
    fs::write(&file, "abc").unwrap();
    let torrent = Torrent::parse(&raw_file_torrent("x", 3, 16384, vec![0; 20])).unwrap();
    let content = Content::find(&torrent, &file).unwrap();
    let bytes = encode(Format::Libtorrent, &torrent, &Bitfield::none(1), &content).unwrap();
    assert_eq!(raw(&bytes, "mapped_files"), Some(b"l7:renamede".to_vec()));
}

#[test]
fn what_else_stands_in_an_old_file_is_kept() {
    let example = example();
    let content = example.content();
    for format in CLIENTS {
        let fresh = encode(format, &example.torrent, &Bitfield::none(5), &content).unwrap();
        let old = with(
            &fresh,
            &[
                ("unfinished", Item::Raw(b"ld5:piecei1e7:bitmask1:\x80ee".to_vec())),
                ("unknown", Item::Raw(b"d1:b1:x1:ai007ee".to_vec())),
                ("qBt-tags", Item::Raw(b"l1:te".to_vec())),
                ("uploaded", 77.into()),
            ],
        );
        let have = bits(&[0, 1], 5);
        let bytes = update(&old, format, &example.torrent, &have, &content).unwrap();
        assert_eq!(decode(&bytes, &example.torrent).unwrap().have, have);
        assert_eq!(raw(&bytes, "uploaded"), Some(b"i77e".to_vec()));
        assert_eq!(raw(&bytes, "qBt-tags"), Some(b"l1:te".to_vec()));
        // Values that are not canonical stay unchanged, too.
        assert!(bytes.windows(16).any(|window| window == b"d1:b1:x1:ai007ee"));
        let unfinished = bytes.windows(10).any(|window| window == b"unfinished");
        assert_eq!(unfinished, format == Format::Transmission, "blocks that nobody checked");
    }
}

#[test]
fn an_old_file_names_the_folder_where_the_content_was_found() {
    let example = example();
    let content = example.content();
    let elsewhere = Item::from("/srv/elsewhere");
    for (format, key) in [(Format::Libtorrent, "save_path"), (Format::Transmission, "destination")] {
        let fresh = encode(format, &example.torrent, &Bitfield::none(5), &content).unwrap();
        let old = with(
            &fresh,
            &[
                (key, elsewhere.clone()),
                ("qBt-savePath", elsewhere.clone()),
                ("qBt-downloadPath", "/srv/incomplete".into()),
                ("incomplete-dir", "/srv/incomplete".into()),
            ],
        );
        let bytes = update(&old, format, &example.torrent, &Bitfield::none(5), &content).unwrap();
        assert_eq!(raw(&bytes, key), Some(string(path_text(example.folder.path()))), "{format}");
        if format == Format::Libtorrent {
            assert_eq!(raw(&bytes, "qBt-savePath"), raw(&bytes, key));
            assert_eq!(raw(&bytes, "qBt-downloadPath"), None);
        } else {
            assert_eq!(raw(&bytes, "incomplete-dir"), None);
        }
        // The content is found in the folder for incomplete files: nothing is moved.
        let folder = Item::from(path_text(example.folder.path()));
        let old = with(&fresh, &[("destination", elsewhere.clone()), ("incomplete-dir", folder)]);
        if format == Format::Transmission {
            let bytes = update(&old, format, &example.torrent, &Bitfield::none(5), &content).unwrap();
            assert_eq!(raw(&bytes, "destination"), Some(elsewhere.encode()));
        }
    }
}

#[cfg(unix)]
#[test]
fn the_same_folder_by_another_link_is_no_other_folder() {
    let example = example();
    let outer = tempfile::tempdir().unwrap();
    let link = outer.path().join("link");
    std::os::unix::fs::symlink(example.folder.path(), &link).unwrap();
    for (format, key) in [(Format::Libtorrent, "save_path"), (Format::Transmission, "destination")] {
        let fresh = encode(format, &example.torrent, &Bitfield::none(5), &example.content()).unwrap();
        let old = with(&fresh, &[(key, path_text(&link).into())]);
        let bytes = update(&old, format, &example.torrent, &Bitfield::all(5), &example.content()).unwrap();
        assert_eq!(raw(&bytes, key), Some(string(path_text(&link))));
    }
}

#[test]
fn files_that_the_client_has_renamed_are_followed_or_named_anew() {
    let example = example();
    for (format, key) in [(Format::Libtorrent, "mapped_files"), (Format::Transmission, "files")] {
        let fresh = encode(format, &example.torrent, &Bitfield::none(5), &example.content()).unwrap();
        let update_with = |names: [&str; 5]| {
            let old = with(&fresh, &[(key, names.map(Item::from).into_iter().collect())]);
            update(&old, format, &example.torrent, &Bitfield::all(5), &example.content())
        };
        // The file was checked under the torrent's own name, so this is where the client is to look.
        let bytes = update_with(["", "album/b/c.renamed", "", "", ""]).unwrap();
        assert_eq!(raw(&bytes, key), None);
        fs::rename(example.file("b/c"), example.file("b/c.renamed")).unwrap();
        let renamed = Location::from(example.folder.path()).paths([(1, "album/b/c.renamed".into())].into());
        let content = Content::find(&example.torrent, renamed).unwrap();
        let bytes = encode(format, &example.torrent, &Bitfield::all(5), &content).unwrap();
        let expected = ["", "album/b/c.renamed", "", "", ""].map(Item::from).into_iter().collect::<Item>();
        assert_eq!(raw(&bytes, key), Some(expected.encode()));
        assert_eq!(decode(&bytes, &example.torrent).unwrap().renamed[&1], Path::new("album/b/c.renamed"));
        fs::rename(example.file("b/c.renamed"), example.file("b/c")).unwrap();
        // Empty entries and unchanged names mean nothing; neither do those of padding, which is never read.
        update_with(["", "album/b/c", "album/somewhere", "", ""]).unwrap();
        // The files lie without the torrent's folder around them, as qBittorrent permits.
        let folder = Item::from(path_text(&example.folder.path().join("album")));
        let names: Item = ["a", "b/c", "", "empty", "d"].map(Item::from).into_iter().collect();
        let folder_key = if format == Format::Libtorrent { "save_path" } else { "destination" };
        let old = with(&fresh, &[(key, names.clone()), (folder_key, folder)]);
        let bytes = update(&old, format, &example.torrent, &Bitfield::all(5), &example.content()).unwrap();
        assert_eq!(raw(&bytes, key), Some(names.encode()));
    }
}

#[test]
fn what_clients_say_is_read() {
    let example = example();
    let have = |bytes: &[u8]| decode(bytes, &example.torrent).map(|read| read.have.ones().collect::<Vec<_>>());
    let libtorrent = |more: &str| format!("d11:file-format22:libtorrent resume file{more}e").into_bytes();
    assert_eq!(have(&libtorrent("")), Ok(vec![]), "not checked yet");
    assert_eq!(have(&libtorrent("9:seed_modei1e")), Ok(vec![0, 1, 2, 3, 4]));
    assert_eq!(have(&libtorrent("6:pieces5:\u{1}\u{3}\u{2}\u{0}\u{1}9:seed_modei1e")), Ok(vec![0, 1, 4]));
    assert_eq!(have(b"d8:progressdee"), Ok(vec![]));
    assert_eq!(have(b"d8:progressd6:blocks3:allee"), Ok(vec![0, 1, 2, 3, 4]));
    assert_eq!(have(b"d8:progressd6:blocks2:\xdf\xc0ee"), Ok(vec![0, 2, 3, 4]), "half of piece 1");
    // Transmission 4 ends the bits after the last one that is set.
    assert_eq!(have(b"d8:progressd6:blocks1:\xf3ee"), Ok(vec![0, 1, 3]));
    assert_eq!(have(b"d8:progressd6:blocks1:\x01ee"), Ok(vec![]), "half of piece 3");
    assert_eq!(have(b"d8:progressd6:blocks0:ee"), Ok(vec![]));
    assert_eq!(have(b"d8:progressd12:time-checkedli1eli1ei0ei1eei0ei0ei0eeee"), Ok(vec![]));
    // Each version of Transmission, with a whole torrent, a part and nothing: old ones, 2.20 to 3.00, 4.
    let (mtimes, checked) = (&b"6:mtimesli1ei1ei1ei1ei1ee"[..], &b"12:time-checkedli1eli9ei1ei0eei0ei1ei1ee"[..]);
    let forms: [(&[&[u8]], &[usize]); 8] = [
        (&[b"8:bitfield2:\xdf\xc04:have3:all", mtimes], &[0, 1, 2, 3, 4]),
        (&[b"8:bitfield2:\xdf\xc0", mtimes], &[0, 2, 3, 4]),
        (&[b"6:blocks3:all4:have3:all", checked], &[0, 1, 2, 3, 4]),
        (&[b"6:blocks2:\xdf\xc0", checked], &[0, 2, 3, 4]),
        (&[b"6:blocks4:none", checked], &[]),
        (&[b"6:blocks3:all", mtimes, b"6:pieces3:all"], &[0, 1, 2, 3, 4]),
        (&[b"6:blocks1:\xdf", mtimes, b"6:pieces1:\x90"], &[0, 2, 3]),
        (&[b"6:blocks4:none", mtimes, b"6:pieces4:none"], &[]),
    ];
    for (form, expected) in forms {
        let form = [b"d8:progressd", &form.concat()[..], b"ee"].concat();
        assert_eq!(have(&form), Ok(expected.to_vec()), "{}", form.escape_ascii());
    }
    assert_eq!(have(&[0xa8]), Ok(vec![0, 2, 4]));
    // A bitfield of 16 pieces that is also bencode.
    let torrent = Torrent::parse(&raw_file_torrent("x", 16, 1, vec![0; 320])).unwrap();
    let read = decode(b"0:", &torrent).unwrap();
    assert_eq!((read.format, read.have.as_bytes()), (Format::Bitfield, &b"0:"[..]));
}

#[test]
fn what_does_not_belong_to_the_torrent_is_refused() {
    let example = example();
    let error = |bytes: &[u8]| decode(bytes, &example.torrent).unwrap_err().to_string();
    let libtorrent = |more: &str| error(format!("d11:file-format22:libtorrent resume file{more}e").as_bytes());
    assert_eq!(libtorrent("12:file-versioni2e"), "file-version, byte 55: expected 1, found \"2\"");
    let message = libtorrent("9:info-hash3:abc");
    assert!(message.starts_with("info-hash, byte 51: it belongs to another torrent: expected "), "{message}");
    assert!(message.ends_with(", found 616263"), "{message}");
    let length = "expected a length of 5 for this torrent, found 4: it is damaged or belongs to another torrent";
    assert_eq!(libtorrent("6:pieces4:xxxx"), format!("pieces, byte 48: {length}"));
    assert_eq!(libtorrent("6:piecesi4e"), "pieces, byte 48: expected a string, found an integer");
    assert_eq!(
        error(b"d8:progressd6:mtimesli1ei1ei1eeee"),
        format!("mtimes, byte 20: {}", length.replace("found 4", "found 3"))
    );
    let message = error(b"d8:progressd6:blocks3:xxxee");
    assert!(message.starts_with("blocks, byte 20: expected a length of 2 "), "{message}");
    let message = error(b"d8:progressd8:bitfield3:xxxee");
    assert!(message.starts_with("bitfield, byte 22: expected a length of 2 "), "{message}");
    assert_eq!(error(b"d8:progressd6:blocksleee"), "blocks, byte 20: expected a string, found a list");
    assert_eq!(
        error(b"d8:progressi1e11:destination1:xe"),
        "progress, byte 11: expected a dictionary, found an integer"
    );
    let neither = "expected a resume file of libtorrent or Transmission, or a bitfield; no resume file: ";
    assert_eq!(
        error(b""),
        format!(
            "{neither}byte 0: the input ends, expected a value; no bitfield: a bitfield of 5 pieces has 1 bytes, \
            found 0"
        )
    );
    assert_eq!(
        error(b"\xff"),
        format!(
            "{neither}byte 0: expected a value, found the byte 0xff; no bitfield: bit 5 is set, but there are only 5 \
            pieces"
        )
    );
    assert!(error(b"d4:infodee").contains("neither file-format, progress nor destination is there"));

    // Updating a file of another format is refused, too.
    let content = example.content();
    let fresh = CLIENTS.map(|format| encode(format, &example.torrent, &Bitfield::all(5), &content).unwrap());
    let into = |old: &[u8], format: Format| update(old, format, &example.torrent, &Bitfield::all(5), &content);
    let message = into(&fresh[0], Format::Transmission).unwrap_err().to_string();
    assert_eq!(message, "expected a Transmission resume file, found a libtorrent resume file");
    assert!(matches!(into(&[0xf8], Format::Libtorrent), Err(Error::OtherFormat { found: Format::Bitfield, .. })));
    assert_eq!(into(&[0], Format::Bitfield).unwrap(), [0xf8]);
    let other = with(&fresh[0], &[("info-hash", Item::from(&[0; 20][..]))]);
    assert!(matches!(into(&other, Format::Libtorrent), Err(Error::OtherTorrent { .. })));
}

#[test]
fn blocks_that_versions_count_differently_are_neither_written_nor_read() {
    let folder = tempfile::tempdir().unwrap();
    for piece_nbytes in [8 << 10, 48 << 10, 16383] {
        fs::write(folder.path().join("x"), vec![0; piece_nbytes * 3]).unwrap();
        let torrent = raw_file_torrent("x", 3 * piece_nbytes as u64, piece_nbytes as u64, vec![0; 60]);
        let torrent = Torrent::parse(&torrent).unwrap();
        let content = Content::find(&torrent, folder.path()).unwrap();
        for (have, same) in [(Bitfield::all(3), true), (Bitfield::none(3), true), (bits(&[1], 3), false)] {
            let bytes = encode(Format::Transmission, &torrent, &have, &content);
            if same {
                assert_eq!(decode(&bytes.unwrap(), &torrent).unwrap().have, have)
            } else {
                assert_eq!(bytes, Err(Error::BlockLength { piece_nbytes: piece_nbytes as u64 }))
            }
        }
        let error = decode(b"d8:progressd6:blocks1:xee", &torrent).unwrap_err();
        assert_eq!(error, Error::BlockLength { piece_nbytes: piece_nbytes as u64 });
    }
}

/// Clients keep a file under a longer name until they have all its pieces.
#[test]
fn unfinished_files_are_found_and_said_to_be_there() {
    for (format, ending, other) in [(Format::Transmission, ".part", ".!qB"), (Format::Libtorrent, ".!qB", ".part")] {
        let example = example();
        for file in ["a", "b/c"] {
            fs::rename(example.file(file), example.file(&format!("{file}{ending}"))).unwrap();
        }
        let report = verify(&example.torrent, example.folder.path(), &Options::new()).unwrap();
        assert!(report.is_complete());
        assert_eq!(report.moved()[1].1, Path::new("album").join(format!("b/c{ending}")));
        let bytes = encode(format, &example.torrent, &bits(&[0, 3], 5), &example.content()).unwrap();
        assert_eq!(decode(&bytes, &example.torrent).unwrap().have, bits(&[0, 3], 5));
        // qBittorrent tells libtorrent so, Transmission looks for it itself.
        let renamed =
            ["album/a.!qB", "album/b/c.!qB", "", "", ""].map(Item::from).into_iter().collect::<Item>().encode();
        assert_eq!(raw(&bytes, "mapped_files"), (format == Format::Libtorrent).then_some(renamed));
        assert_eq!(raw(&bytes, "files"), None);
        assert_eq!(update(&bytes, format, &example.torrent, &bits(&[0, 3], 5), &example.content()).unwrap(), bytes);

        // In the content's own folder, and under a name that the client was given; not in place of another file.
        let own = example.folder.path().join("album");
        assert!(verify(&example.torrent, &own, &Options::new()).unwrap().is_complete());
        fs::rename(example.file(&format!("b/c{ending}")), example.file(&format!("new{ending}"))).unwrap();
        let place = Location::from(example.folder.path()).paths([(1, "album/new".into())].into());
        let content = Content::find(&example.torrent, place).unwrap();
        assert_eq!(content.nbytes(1), Some(3 * PIECE as u64 - 50_100));
        fs::rename(example.file(&format!("a{ending}")), example.file(&format!("a{other}"))).unwrap();
        assert_eq!(example.content().nbytes(0), Some(50_000), "of another client");
    }
    let folder = tempfile::tempdir().unwrap();
    let files = [content("a", "abc"), content("a.part", "abc")];
    write_files(&folder.path().join("album"), &files);
    fs::remove_file(folder.path().join("album/a")).unwrap();
    let torrent = Torrent::parse(&folder_torrent("album", &files, PIECE)).unwrap();
    assert_eq!(Content::find(&torrent, folder.path()).unwrap().nbytes(0), None, "a file of the torrent's own");
}

#[test]
fn names_are_those_of_the_clients() {
    let example = example();
    let hash: String = example.torrent.info_hash_v1().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(file_name(Format::Libtorrent, &example.torrent), Some(format!("{hash}.fastresume")));
    assert_eq!(file_name(Format::Transmission, &example.torrent), Some(format!("{hash}.resume")));
    assert_eq!(file_name(Format::Bitfield, &example.torrent), Some(format!("{hash}.bitfield")));
}

#[test]
fn changes_are_seen() {
    let example = example();
    let report = verify(&example.torrent, example.folder.path(), &Options::new()).unwrap();
    assert_eq!(example.content().changed(&report), [0usize; 0]);
    fs::remove_file(example.file("a")).unwrap();
    fs::write(example.file("d"), "").unwrap();
    let content = example.content();
    assert_eq!(content.changed(&report), [0, 4]);
    assert_eq!((content.nbytes(0), content.nbytes(4)), (None, Some(0)));
    let report = verify(&example.torrent, example.folder.path(), &Options::new()).unwrap();
    assert_eq!(example.content().changed(&report), [0usize; 0]);
    fs::write(example.file("a"), "come").unwrap();
    assert_eq!(example.content().changed(&report), [0]);
}

#[test]
fn v2_torrents_have_another_hash_and_padding_that_no_list_shows() {
    let folder = tempfile::tempdir().unwrap();
    let whole = noise(16384, 1);
    let files = [content("a", "abc"), content("b", whole), content("c", "c")];
    let torrent = Torrent::parse(&v2_torrent("album", &files, 16384)).unwrap();
    write_files(&folder.path().join("other"), &files);
    let content = Content::find(&torrent, folder.path().join("other")).unwrap();
    let bytes = encode(Format::Libtorrent, &torrent, &Bitfield::all(3), &content).unwrap();
    assert_eq!(raw(&bytes, "info-hash"), None);
    assert_eq!(raw(&bytes, "info-hash2"), Some(string(torrent.info_hash_v2().unwrap())));
    // libtorrent's list of files is a, 16381 zeros, b, c, 16383 zeros.
    assert_eq!(raw(&bytes, "mapped_files"), Some(b"l7:other/a0:7:other/b7:other/c0:e".to_vec()));
    assert_eq!(update(&bytes, Format::Libtorrent, &torrent, &Bitfield::all(3), &content).unwrap(), bytes);
    assert_eq!(decode(&bytes, &torrent).unwrap().have, Bitfield::all(3));
    let zeros = with(&bytes, &[("info-hash", Item::from(&[0; 20][..]))]);
    assert!(decode(&zeros, &torrent).is_ok());
    let other = with(&bytes, &[("info-hash2", Item::from(&[7; 32][..]))]);
    assert!(matches!(decode(&other, &torrent), Err(Error::OtherTorrent { key: "info-hash2", .. })));

    let hash: String = torrent.info_hash_v2().unwrap()[..20].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(file_name(Format::Libtorrent, &torrent), Some(format!("{hash}.fastresume")));
    assert_eq!(file_name(Format::Transmission, &torrent), None);
    assert_eq!(encode(Format::Transmission, &torrent, &Bitfield::all(3), &content), Err(Error::NoV2));
    assert_eq!(decode(b"d8:progressdee", &torrent), Err(Error::NoV2));
}

proptest! {
    /// Any set of pieces is read back from both clients' files and from the bitfield.
    #[test]
    fn what_is_written_is_read(
        pieces in prop::collection::vec(any::<bool>(), 1..70),
        shift in 14..18u32,
        short in 0..20_000u64,
    ) {
        let (count, piece_nbytes) = (pieces.len(), 1u64 << shift);
        let nbytes = count as u64 * piece_nbytes - short.min(piece_nbytes - 1);
        let torrent = Torrent::parse(&raw_file_torrent("x", nbytes, piece_nbytes, vec![0; 20 * count])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // The file is a hole, which takes no room.
        fs::File::create(folder.path().join("x")).unwrap().set_len(nbytes).unwrap();
        let content = Content::find(&torrent, folder.path()).unwrap();
        let mut have = Bitfield::none(count);
        pieces.iter().enumerate().for_each(|(piece, &there)| have.set(piece, there));
        for format in [Format::Bitfield, Format::Libtorrent, Format::Transmission] {
            let bytes = encode(format, &torrent, &have, &content).unwrap();
            if format != Format::Bitfield {
                prop_assert_eq!(bencode::parse(&bytes, &Limits::default()).unwrap().note_count(), 0, "canonical");
            }
            let read = decode(&bytes, &torrent).unwrap();
            prop_assert_eq!((read.format, &read.have), (format, &have));
            let other = Bitfield::all(count);
            let updated = update(&bytes, format, &torrent, &other, &content).unwrap();
            prop_assert_eq!(decode(&updated, &torrent).unwrap().have, other);
        }
    }
}
