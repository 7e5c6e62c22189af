// SPDX-License-Identifier: MIT OR Apache-2.0

//! What clients keep of torrents and of content: torrents without piece layers, the layers in resume files, bytes of
//! files that nobody wants. `test/clients.py` tries the clients themselves.

use std::fs;

use hashloom_clients::Content;
use hashloom_clients::resume::{Format, decode, take_layers, update};
use hashloom_files::run::Options;
use hashloom_torrent::PieceState::{Bad, Disputed, Have, Missing, Unchecked};
use hashloom_torrent::{Bitfield, Check, Location, Report, Torrent, verify, verify_many};

use crate::maker::{Version, content, dictionary, int, layer, list, noise, text, write_files};

const PIECE: usize = 16 << 10;

/// The torrent with `info` alone.
fn info_only(torrent: &[u8]) -> Torrent {
    let start = torrent.windows(7).position(|bytes| bytes == b"4:infod").unwrap();
    let end = torrent.windows(15).position(|bytes| bytes == b"12:piece layers").unwrap();
    Torrent::parse(&[b"d", &torrent[start..end], b"e"].concat()).unwrap()
}

fn checked(torrent: &Torrent, place: impl Into<Location>, pieces: &[usize]) -> Report {
    let mut wanted = Bitfield::none(torrent.piece_count());
    pieces.iter().for_each(|&piece| wanted.set(piece, true));
    let mut found = None;
    verify_many([Check::new(torrent, place).pieces(wanted)], &Options::new(), |_, report| found = report.ok());
    found.unwrap()
}

/// Pieces of a v2 file without a layer are right together or not at all; a hybrid torrent has its v1 pieces.
#[test]
fn without_layers_a_file_is_proved_as_a_whole() {
    let files = [content("a", noise(3 * PIECE + 5, 1)), content("b", noise(9, 2)), content("c", noise(2 * PIECE, 3))];
    for version in [Version::V2, Version::Hybrid] {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), &files);
        let (bytes, _) = crate::maker::torrent(version, "t", &files, PIECE);
        let torrent = info_only(&bytes);
        assert_eq!(torrent.unlayered().iter().map(|(_, pieces)| pieces.clone()).collect::<Vec<_>>(), [0..4, 5..7]);
        let states = || verify(&torrent, folder.path(), &Options::new()).unwrap().pieces;
        assert_eq!(states(), [Have; 7], "{version:?}");

        // Some pieces of a file say nothing in version 2.
        let some = checked(&torrent, folder.path(), &[1, 4, 5, 6]).pieces;
        let alone = if version == Version::V2 { Unchecked } else { Have };
        assert_eq!(some, [Unchecked, alone, Unchecked, Unchecked, Have, Have, Have], "{version:?}");

        let mut wrong = files[0].bytes.clone();
        wrong[PIECE] ^= 1;
        fs::write(folder.path().join("a"), &wrong).unwrap();
        let of_a = if version == Version::V2 { [Bad; 4] } else { [Have, Bad, Have, Have] };
        assert_eq!(states(), [&of_a[..], &[Have; 3]].concat(), "{version:?}");

        // A hybrid whose halves differ is found out without layers, too.
        if version == Version::Hybrid {
            let changed = [content("a", wrong), files[1].clone(), files[2].clone()];
            let other = crate::maker::torrent(version, "t", &changed, PIECE).0;
            let digests = |of: &[u8]| of.windows(8).position(|bytes| bytes == b"6:pieces").unwrap();
            let (from, to) = (digests(&other), digests(&bytes));
            let mut mixed = bytes.clone();
            mixed[to..to + 7 * 20 + 12].copy_from_slice(&other[from..from + 7 * 20 + 12]);
            let report = verify(&info_only(&mixed), folder.path(), &Options::new()).unwrap();
            assert_eq!(report.pieces[..4], [Disputed; 4]);
        }

        fs::write(folder.path().join("a"), &files[0].bytes[..PIECE]).unwrap();
        let of_a = if version == Version::V2 { Unchecked } else { Have };
        assert_eq!(states(), [of_a, Missing, Missing, Missing, Have, Have, Have], "{version:?}");
    }
}

/// libtorrent's resume file has piece layers or blocks, and a mask that says which nodes of the tree these are.
#[test]
fn layers_are_taken_from_a_resume_file_and_proved() {
    const LONG: usize = 4 * PIECE;
    let bytes = noise(2 * LONG + 5, 1);
    let files = [content("a", bytes.clone()), content("b", noise(9, 2))];
    let torrent = || info_only(&crate::maker::torrent(Version::V2, "t", &files, LONG).0);
    let resume = |hashes: Vec<u8>, mask: &str| {
        let keys = [("hashes", text(hashes)), ("mask", text(mask))];
        // libtorrent's list has the padding behind a file.
        let trees = list([dictionary(keys), dictionary([]), dictionary([])]);
        dictionary([("file-format", text("libtorrent resume file")), ("trees", trees)]).write()
    };
    let blocks: Vec<u8> = bytes.chunks(PIECE).flat_map(crate::maker::sha256).collect();
    // Three pieces are a tree of four, the nodes 3 to 5; nine blocks are one of sixteen, the nodes 15 to 23.
    let pieces_mask = format!("000111{}", "0".repeat(25));
    let blocks_mask = format!("{}{}{}", "0".repeat(15), "1".repeat(9), "0".repeat(7));
    for (hashes, mask) in [(layer(&bytes, LONG), &pieces_mask), (blocks, &blocks_mask)] {
        let mut given = torrent();
        assert_eq!(take_layers(&resume(hashes.clone(), mask), &mut given), Ok(1));
        assert!(given.unlayered().is_empty() && given.piece_root(2).is_some());
        let mut wrong = hashes;
        wrong[40] ^= 1;
        let mut given = torrent();
        assert_eq!(take_layers(&resume(wrong, mask), &mut given), Ok(0));
        assert_eq!((given.unlayered().len(), given.piece_root(2)), (1, None));
    }
    for (hashes, mask) in [(vec![], ""), (vec![1; 64], "1"), (layer(&bytes, LONG), "111")] {
        assert_eq!(take_layers(&resume(hashes, mask), &mut torrent()), Ok(0));
    }
}

/// The bytes of a file that nobody wants, in `.<info-hash>.parts`.
#[test]
fn a_piece_is_right_with_the_bytes_of_the_parts_file() {
    let files = [content("a", noise(2 * PIECE + 100, 1)), content("b", noise(3 * PIECE, 2))];
    let folder = tempfile::tempdir().unwrap();
    write_files(&folder.path().join("t"), &files[..1]);
    let torrent = Torrent::parse(&crate::maker::folder_torrent("t", &files, PIECE)).unwrap();
    let hash: String = torrent.info_hash_v1().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    let place = Location::from(folder.path()).unwanted([1].into());
    let write = |shared: &[u8]| {
        let words: Vec<u32> = vec![6, PIECE as u32, !0, !0, 1, !0, !0, !0];
        let mut parts: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        parts.resize(1024 + PIECE + 100, 0);
        parts.extend_from_slice(shared);
        fs::write(folder.path().join(format!(".{hash}.parts")), parts).unwrap();
    };
    let states = |place: &Location| checked(&torrent, place, &[0, 1, 2, 3]).pieces[..4].to_vec();
    write(&files[1].bytes[..PIECE - 100]);
    assert_eq!(states(&place), [Have, Have, Have, Missing]);
    assert_eq!(states(&folder.path().into()), [Have, Have, Missing, Missing], "b is wanted");
    // Such a piece stays in the client's file; Transmission has no such bytes.
    let have: Bitfield = {
        let mut have = Bitfield::none(6);
        (0..3).for_each(|piece| have.set(piece, true));
        have
    };
    let found = Content::find(&torrent, &place).unwrap();
    let old = dictionary([
        ("file-format", text("libtorrent resume file")),
        ("file_priority", list([int(4), int(0)])),
        ("save_path", text(folder.path().to_str().unwrap())),
    ]);
    let new = update(&old.write(), Format::Libtorrent, &torrent, &have, &found).unwrap();
    assert_eq!(decode(&new, &torrent).unwrap().have, have);
    assert_eq!(decode(&new, &torrent).unwrap().unwanted, [1].into());
    let transmission = hashloom_clients::resume::encode(Format::Transmission, &torrent, &have, &found).unwrap();
    assert_eq!(decode(&transmission, &torrent).unwrap().have.count(), 2);

    let mut wrong = files[1].bytes[..PIECE - 100].to_vec();
    wrong[7] ^= 1;
    write(&wrong);
    assert_eq!(states(&place), [Have, Have, Missing, Missing]);
    for parts in [&b""[..], &[0; 2000], &[0xff; 40_000]] {
        fs::write(folder.path().join(format!(".{hash}.parts")), parts).unwrap();
        assert_eq!(states(&place), [Have, Have, Missing, Missing]);
    }
}

/// BitComet's padding has a name and no attribute.
#[test]
fn padding_of_bitcomet_is_padding() {
    let name = "_____padding_file_0_if you see this file, please update to BitComet 0.85 or above____";
    let files = [content("a", noise(100, 1)), content(name, vec![0; PIECE - 100]), content("b", noise(PIECE, 2))];
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[files[0].clone(), files[2].clone()]);
    let torrent = Torrent::parse(&crate::maker::folder_torrent("t", &files, PIECE)).unwrap();
    assert!(torrent.file(1).attributes.padding);
    let report = verify(&torrent, folder.path(), &Options::new()).unwrap();
    assert!(report.is_exact() && report.pieces == [Have; 2]);
}
