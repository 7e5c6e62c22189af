// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any input: no panic, and a torrent that is accepted can be verified: its files follow each other, its pieces cover
//! them, each piece has the digests of its version, and no path leads out of its folder.

#![no_main]

use hashloom::torrent::{Torrent, Version};
use libfuzzer_sys::fuzz_target;

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
});
