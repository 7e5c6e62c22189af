// SPDX-License-Identifier: MIT OR Apache-2.0

//! Pieces checked from memory: the verdict is that of each piece's bytes, however they are cut into chunks.

use crate::maker::{VERSIONS, Version, content, noise, parts};
use hashloom_torrent::{Pieces, Torrent};

/// A torrent, and the bytes of each of its pieces.
fn made(version: Version, piece_nbytes: usize) -> (Torrent, Vec<Vec<u8>>) {
    let lengths = [100_000, 1, 16384, 0, 300_001, 65536];
    let files = lengths.into_iter().enumerate();
    let files: Vec<_> =
        files.map(|(seed, nbytes)| content(&format!("{seed}.bin"), noise(nbytes, seed as u64))).collect();
    let (bytes, files) = crate::maker::torrent(version, "content", &files, piece_nbytes);
    let of_part = |(file, range): (usize, std::ops::Range<usize>)| files[file].bytes[range].to_vec();
    let pieces = parts(version, &files, piece_nbytes).into_iter();
    let pieces = pieces.map(|parts| parts.into_iter().flat_map(of_part).collect()).collect();
    (Torrent::parse(&bytes).unwrap(), pieces)
}

/// Checks all pieces at once, in chunks of `each` bytes.
fn check(torrent: &Torrent, pieces: &[Vec<u8>], each: usize) -> Vec<bool> {
    let all: Vec<usize> = (0..pieces.len()).collect();
    let mut checked = Pieces::new(torrent, &all);
    let longest = pieces.iter().map(Vec::len).max().unwrap();
    for done in (0..longest).step_by(each) {
        let chunks: Vec<&[u8]> =
            pieces.iter().map(|piece| &piece[piece.len().min(done)..piece.len().min(done + each)]).collect();
        checked.update(&chunks);
    }
    checked.finish()
}

#[test]
fn right_in_chunks_of_any_length() {
    for version in VERSIONS {
        for piece_nbytes in [16 << 10, 64 << 10, 1 << 20] {
            let (torrent, pieces) = made(version, piece_nbytes);
            for each in [1 << 20, 16384, 16383, 16385, 5000, 40_000] {
                let verdicts = check(&torrent, &pieces, each);
                assert!(verdicts.iter().all(|&is_right| is_right), "{version:?} {piece_nbytes} {each}: {verdicts:?}");
            }
        }
    }
}

#[test]
fn only_the_piece_with_the_wrong_byte_is_wrong() {
    for version in VERSIONS {
        for piece_nbytes in [16 << 10, 64 << 10] {
            let (torrent, mut pieces) = made(version, piece_nbytes);
            for wrong in 0..pieces.len() {
                for at in [0, pieces[wrong].len() / 2, pieces[wrong].len() - 1] {
                    pieces[wrong][at] ^= 0x10;
                    for each in [1 << 20, 7000] {
                        let verdicts = check(&torrent, &pieces, each);
                        let found: Vec<usize> = (0..pieces.len()).filter(|&piece| !verdicts[piece]).collect();
                        assert_eq!(found, [wrong], "{version:?} {piece_nbytes} {at} {each}");
                    }
                    pieces[wrong][at] ^= 0x10;
                }
            }
        }
    }
}

#[test]
fn a_piece_without_its_end_is_wrong() {
    for version in VERSIONS {
        let (torrent, pieces) = made(version, 64 << 10);
        for (piece, bytes) in pieces.iter().enumerate() {
            for nbytes in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut checked = Pieces::new(&torrent, &[piece]);
                checked.update(&[&bytes[..nbytes]]);
                assert_eq!(checked.finish(), [false], "{version:?} {piece} {nbytes}");
            }
        }
        assert!(Pieces::new(&torrent, &[]).finish().is_empty());
    }
}

#[test]
#[should_panic(expected = "bytes for piece 0")]
fn more_bytes_than_the_piece_has() {
    let (torrent, pieces) = made(Version::V2, 64 << 10);
    Pieces::new(&torrent, &[0]).update(&[[&pieces[0][..], b"x"].concat()]);
}

#[test]
#[should_panic(expected = "each piece takes one chunk")]
fn too_few_chunks() {
    let (torrent, _) = made(Version::V1, 64 << 10);
    Pieces::new(&torrent, &[0, 1]).update(&[b"x"]);
}
