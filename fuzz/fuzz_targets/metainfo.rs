// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses any input. There is no panic, and an accepted torrent can be verified: it is, without content; its files
//! follow each other, its pieces cover them, each piece has the digests of its version, the roots of a file's pieces
//! lead to the file's root, and no path leads out of its folder. Written again it is the same torrent; if nothing was
//! noted, it has the same bytes.

#![no_main]

use std::sync::OnceLock;

use hashloom::{Algorithm, hash};
use hashloom_files::run::Options;
use hashloom_torrent::bencode::{self, Item, Kind, Limits, Value};
use hashloom_maker::{Edit, EditError};
use hashloom_torrent::{Error, NoteKind, Problem, Torrent, Version, verify};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Returns the value as an item to write. The first of equal keys counts.
fn item(value: Value<'_>) -> Item {
    match value.kind() {
        Kind::Integer => value.integer().map_or_else(
            || {
                let digits = std::str::from_utf8(value.digits().unwrap()).unwrap();
                let sign = if digits.starts_with('-') { "-" } else { "" };
                Item::Raw(format!("i{sign}{}e", digits.trim_start_matches(['-', '0'])).into_bytes())
            },
            Item::Integer,
        ),
        Kind::String => value.string().unwrap().into(),
        Kind::List => value.items().map(item).collect(),
        Kind::Dictionary => {
            let mut dictionary = Item::dictionary();
            let entries: Vec<_> = value.entries().collect();
            entries.iter().rev().for_each(|entry| dictionary.insert(entry.key, item(entry.value)));
            dictionary
        }
    }
}

fn check_written_again(input: &[u8], torrent: &Torrent) {
    let document = bencode::parse(input, &Limits::default()).unwrap();
    let written = item(document.root()).encode();
    if document.note_count() == 0 {
        assert_eq!(written, input);
    }
    // If keys were not sorted, the files of the tree come in another order, which cannot be v1's.
    let again = match Torrent::parse(&written) {
        Ok(again) => again,
        Err(Error { problem: Problem::Hybrid(_), .. }) if document.note_count() > 0 => return,
        Err(error) => panic!("{error}: {torrent:?}"),
    };
    assert!(again.notes().iter().all(|note| !matches!(note.kind, NoteKind::Bencode(_))));
    assert_eq!(
        (again.version(), again.name(), again.file_count(), again.piece_count(), again.total_nbytes()),
        (torrent.version(), torrent.name(), torrent.file_count(), torrent.piece_count(), torrent.total_nbytes())
    );
    assert_eq!(again.metadata(), torrent.metadata());
    let mut files: Vec<_> = torrent.files().map(|file| (file.path, file.nbytes, file.root, file.symlink)).collect();
    let mut files_again: Vec<_> = again.files().map(|file| (file.path, file.nbytes, file.root, file.symlink)).collect();
    files.sort();
    files_again.sort();
    assert_eq!(files, files_again);
}

/// Computes BEP 52's tree over the roots of the pieces, naively.
fn check_layer(torrent: &Torrent, pieces: std::ops::Range<usize>, root: &[u8]) {
    let sha256 = |bytes: &[u8]| hash(Algorithm::Sha256, bytes).as_ref().to_vec();
    let mut pad = vec![0; 32];
    for _ in 0..(torrent.piece_nbytes() / 16384).trailing_zeros() {
        pad = sha256(&[&pad[..], &pad[..]].concat());
    }
    let mut nodes: Vec<Vec<u8>> = pieces.map(|piece| torrent.piece_root(piece).unwrap().to_vec()).collect();
    nodes.resize(nodes.len().next_power_of_two(), pad);
    while nodes.len() > 1 {
        nodes = nodes.chunks(2).map(|pair| sha256(&pair.concat())).collect();
    }
    assert_eq!(nodes[0], root);
}

/// Edits the torrent and undoes the edit. Only a list of trackers with something else in it may be refused.
fn check_edited(input: &[u8], torrent: &Torrent) {
    let private = torrent.metadata().private;
    let edited = match Edit::new().add_tier(["udp://fuzz.test"]).comment(Some("c")).private(!private).apply(input) {
        Ok(edited) => edited,
        Err(EditError::BadList { .. }) => return,
        Err(error) => panic!("{error}: {torrent:?}"),
    };
    let metadata = edited.torrent.metadata();
    assert_eq!((metadata.private, metadata.comment.as_deref()), (!private, Some(&b"c"[..])));
    let back = Edit::new().private(private).apply(&edited.bytes[..]).unwrap().torrent;
    assert_eq!((back.metadata().private, back.file_count()), (private, torrent.file_count()));
    let outer = Edit::new().comment(None).apply(input).unwrap().torrent;
    assert_eq!((outer.info_hash_v1(), outer.info_hash_v2()), (torrent.info_hash_v1(), torrent.info_hash_v2()));
}

fuzz_target!(|input: &[u8]| {
    let torrent = match Torrent::parse(input) {
        Ok(torrent) => torrent,
        Err(error) => {
            assert!(error.offset <= input.len());
            assert!(error.to_string().len() < 8192);
            return;
        }
    };
    let version = torrent.version();
    assert_eq!(torrent.info_hash_v1().is_some(), version != Version::V2);
    assert_eq!(torrent.info_hash_v2().is_some(), version != Version::V1);
    let piece_nbytes = torrent.piece_nbytes();
    let mut end = 0;
    let mut total = 0;
    for file in torrent.files() {
        if version == Version::V2 {
            end = u64::next_multiple_of(end, piece_nbytes);
        }
        assert_eq!(file.offset, end);
        end += file.nbytes;
        total += file.nbytes;
        let real = !file.attributes.padding;
        if real {
            for component in file.path.split(|&byte| byte == b'/') {
                assert!(!matches!(component, b"" | b"." | b"..") && !component.contains(&0), "{:?}", file.path);
            }
        }
        let pieces = torrent.pieces_of_file(file.index);
        assert_eq!(pieces.is_empty(), file.nbytes == 0);
        for piece in pieces.clone().take(1).chain(pieces.clone().rev().take(1)) {
            assert!(torrent.files_of_piece(piece).contains(&file.index));
        }
        assert_eq!(file.root.is_some(), version != Version::V1 && real && file.nbytes > 0);
        if let Some(root) = file.root {
            assert_eq!((file.offset % piece_nbytes, root.len()), (0, 32));
            assert_eq!(torrent.piece_root(pieces.start) == Some(root), file.nbytes <= piece_nbytes);
            if pieces.len() < 4096 {
                check_layer(&torrent, pieces, root);
            }
        }
    }
    assert_eq!(total, torrent.total_nbytes());
    assert_eq!(torrent.piece_count() as u64, end.div_ceil(piece_nbytes));
    let mut covered = 0;
    for piece in 0..torrent.piece_count() {
        let range = torrent.piece_range(piece);
        assert_eq!(range.start, piece as u64 * piece_nbytes);
        covered += range.end - range.start;
        assert_eq!(torrent.piece_digest(piece).map(<[u8]>::len), (version != Version::V2).then_some(20));
        assert_eq!(torrent.piece_root(piece).map(<[u8]>::len), (version != Version::V1).then_some(32));
    }
    assert_eq!(covered, total);
    torrent.notes().iter().for_each(|note| drop(note.to_string()));
    assert!(torrent.magnet().bytes().all(|byte| byte.is_ascii_graphic()));
    // A torrent of a few bytes can have many pieces.
    if torrent.piece_count() < 10_000 {
        static EMPTY: OnceLock<TempDir> = OnceLock::new();
        let folder = EMPTY.get_or_init(|| tempfile::tempdir().unwrap());
        let report = verify(&torrent, folder.path(), &Options::new().threads(1)).unwrap();
        assert_eq!(report.pieces.len(), torrent.piece_count());
    }
    check_written_again(input, &torrent);
    check_edited(input, &torrent);
});
