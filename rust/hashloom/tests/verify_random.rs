// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees of files and random damage: exactly the damaged pieces are reported, with the right verdict.
//!
//! The oracle reads the files as they are, lays them end to end byte by byte, and hashes with RustCrypto's SHA-1.

#![cfg(feature = "std")]

mod maker;

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use hashloom::torrent::{FileState, Options, PieceState, Torrent, verify};
use maker::{Content, content, noise, sha1};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Debug, Clone)]
enum Damage {
    Flip(Index),
    Truncate(Index),
    Extend(u16),
    Remove,
    /// Empties the file and restores its length: all of it is a hole.
    Hollow,
    /// A zeroed stretch.
    Zero(Index, u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => any::<Index>().prop_map(Damage::Flip),
        1 => any::<Index>().prop_map(Damage::Truncate),
        1 => any::<u16>().prop_map(Damage::Extend),
        1 => Just(Damage::Remove),
        1 => Just(Damage::Hollow),
        1 => (any::<Index>(), any::<u16>()).prop_map(|(at, nbytes)| Damage::Zero(at, nbytes)),
    ]
}

/// Lengths that are likely to meet block, chunk and piece boundaries, and zero.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => 0..200usize,
        2 => 0..5000usize,
        1 => 0..200_000usize,
        1 => (0..6usize, 0..3usize).prop_map(|(n, off)| (n * 32768 + off).saturating_sub(1)),
    ]
}

fn files() -> impl Strategy<Value = Vec<Content>> {
    let file = (length(), prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2)], any::<u64>());
    prop::collection::vec(file, 1..12).prop_map(|files| {
        let make = |(i, (nbytes, kind, seed)): (usize, (usize, u8, u64))| match kind {
            0 => content(&format!("{}/{i}", i % 3), noise(nbytes, seed)),
            // Zeros that are written, and zeros that are not.
            1 => content(&format!("zeros {i}"), vec![0; nbytes]),
            _ => Content { path: format!(".pad/{i}"), ..maker::padding(nbytes) },
        };
        files.into_iter().enumerate().map(make).collect()
    })
}

fn apply(folder: &Path, file: &Content, damage: &Damage) {
    let path = folder.join(&file.path);
    let Ok(mut bytes) = fs::read(&path) else { return };
    match damage {
        Damage::Flip(at) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] ^= 0x40;
        }
        Damage::Truncate(at) => bytes.truncate(at.index(bytes.len() + 1)),
        Damage::Extend(nbytes) => bytes.resize(bytes.len() + usize::from(*nbytes), 0xee),
        Damage::Zero(at, nbytes) if !bytes.is_empty() => {
            let start = at.index(bytes.len());
            let end = bytes.len().min(start + usize::from(*nbytes));
            bytes[start..end].fill(0);
        }
        Damage::Remove => return fs::remove_file(&path).unwrap(),
        Damage::Hollow => {
            let nbytes = bytes.len() as u64;
            return fs::File::create(&path).unwrap().set_len(nbytes).unwrap();
        }
        Damage::Flip(_) | Damage::Zero(..) => {}
    }
    fs::write(&path, bytes).unwrap();
}

/// The verdicts, byte by byte.
fn oracle(folder: &Path, files: &[Content], digests: &[u8], piece_nbytes: usize) -> Vec<PieceState> {
    let mut content: Vec<Option<u8>> = Vec::new();
    for file in files {
        let found =
            if file.padding { file.bytes.clone() } else { fs::read(folder.join(&file.path)).unwrap_or_default() };
        content.extend((0..file.bytes.len()).map(|at| found.get(at).copied()));
    }
    let verdict = |(piece, digest): (&[Option<u8>], &[u8])| match piece.iter().copied().collect::<Option<Vec<u8>>>() {
        None => PieceState::Missing,
        Some(bytes) if sha1(&bytes) == *digest => PieceState::Have,
        Some(_) => PieceState::Bad,
    };
    content.chunks(piece_nbytes).zip(digests.chunks(20)).map(verdict).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn exactly_the_damaged_pieces_are_reported(
        files in files(),
        piece_nbytes in prop_oneof![Just(1usize), Just(20), Just(64), Just(1000), Just(16384), Just(65536), 1..300_000usize],
        damages in prop::collection::vec((any::<Index>(), damage()), 0..5),
        threads in 1..5usize,
    ) {
        let total: usize = files.iter().map(|file| file.bytes.len()).sum();
        // A million pieces of one byte take the oracle too long.
        let piece_nbytes = piece_nbytes.max(total / 3000 + 1);
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("name");
        fs::create_dir(&inner).unwrap();
        maker::write_files(&inner, &files);
        let bytes = maker::folder_torrent("name", &files, piece_nbytes);
        let torrent = Torrent::parse(&bytes).unwrap();
        let options = Options::default().threads(NonZeroUsize::new(threads).unwrap());
        prop_assert!(verify(&torrent, outer.path(), &options).unwrap().is_complete());

        for (at, damage) in &damages {
            let file = at.index(files.len());
            apply(&inner, &files[file], damage);
        }
        let report = verify(&torrent, &inner, &options).unwrap();
        let digests = maker::pieces(&files, piece_nbytes);
        prop_assert_eq!(&report.pieces, &oracle(&inner, &files, &digests, piece_nbytes));
        prop_assert!(report.troubles.is_empty());
        for (index, file) in files.iter().enumerate() {
            let found = fs::metadata(inner.join(&file.path)).ok().map(|metadata| metadata.len());
            let pieces = &report.pieces[torrent.pieces_of_file(index)];
            let expected = match found {
                _ if file.padding => FileState::Skipped,
                None => FileState::Missing,
                Some(found) if found < file.bytes.len() as u64 => FileState::Short,
                _ if pieces.iter().all(|&piece| piece == PieceState::Have) => FileState::Complete,
                _ => FileState::Incomplete,
            };
            prop_assert_eq!(report.files[index].state, expected, "file {}", index);
            prop_assert_eq!(report.files[index].found_nbytes, if file.padding { None } else { found });
        }
    }
}
