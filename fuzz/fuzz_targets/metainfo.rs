// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any input: no panic, and a torrent that is accepted can be verified: its files follow each other, its pieces cover
//! them, and no path leads out of its folder.

#![no_main]

use hashloom::torrent::Torrent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let torrent = match Torrent::parse(input) {
        Ok(torrent) => torrent,
        Err(error) => {
            assert!(error.offset <= input.len());
            assert!(error.to_string().len() < 4096);
            return;
        }
    };
    let mut end = 0;
    for file in torrent.files() {
        assert_eq!(file.offset, end);
        end += file.nbytes;
        if !file.attributes.padding {
            for component in file.path.split(|&byte| byte == b'/') {
                assert!(!matches!(component, b"" | b"." | b"..") && !component.contains(&0), "{:?}", file.path);
            }
        }
        let pieces = torrent.pieces_of_file(file.index);
        assert_eq!(pieces.is_empty(), file.nbytes == 0);
        for piece in pieces.clone().take(1).chain(pieces.rev().take(1)) {
            assert!(torrent.files_of_piece(piece).contains(&file.index));
        }
    }
    assert_eq!(end, torrent.total_nbytes());
    assert_eq!(torrent.piece_count() as u64, end.div_ceil(torrent.piece_nbytes()));
    let mut covered = 0;
    for piece in 0..torrent.piece_count() {
        let range = torrent.piece_range(piece);
        assert_eq!(range.start, covered);
        covered = range.end;
        assert_eq!(torrent.piece_digest(piece).len(), 20);
    }
    assert_eq!(covered, end);
    torrent.notes().iter().for_each(|note| drop(note.to_string()));
});
