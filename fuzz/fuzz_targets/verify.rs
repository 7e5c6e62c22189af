// SPDX-License-Identifier: MIT OR Apache-2.0

//! The input selects the files, the version of their torrent and the damage: exactly the damaged pieces are reported.
//! Or it also changes a byte of the torrent: if the result is still a torrent, verifying it does not panic.
//!
//! The oracle hashes nothing: it compares the old bytes of the files with the new.

#![no_main]

#[path = "../../rust/hashloom-torrent/tests/maker/mod.rs"]
mod maker;
mod numbers;

use std::fs;
use std::path::Path;

use hashloom_files::run::Options;
use hashloom_torrent::{Check, PieceState, Torrent, verify, verify_many};
use libfuzzer_sys::fuzz_target;
use maker::{Content, Version, content, noise};
use numbers::Numbers;

fn files(numbers: &mut Numbers<'_>) -> Vec<Content> {
    let count = 1 + numbers.next() % 7;
    let make = |i: usize| {
        let nbytes = numbers.length();
        match numbers.next() {
            kind @ 0..=199 => content(&format!("{}/{i}", i % 2), noise(nbytes, kind as u64)),
            200..=229 => content(&format!("zeros {i}"), vec![0; nbytes]),
            _ => Content { path: format!(".pad/{i}"), ..maker::padding(nbytes) },
        }
    };
    (0..count).map(make).collect()
}

fn damage(path: &Path, numbers: &mut Numbers<'_>) {
    let Ok(mut bytes) = fs::read(path) else { return };
    let at = numbers.long() % (bytes.len() + 1);
    match numbers.next() % 6 {
        0 if at < bytes.len() => bytes[at] ^= 1 << (numbers.next() % 8),
        1 => bytes.truncate(at),
        2 => bytes.resize(bytes.len() + numbers.next(), 7),
        3 => return fs::remove_file(path).unwrap(),
        4 => {
            let end = bytes.len().min(at + numbers.long() % 100_000);
            bytes[at..end].fill(0);
        }
        _ => {
            // A hole from here to the end.
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(at as u64).unwrap();
            return file.set_len(bytes.len() as u64).unwrap();
        }
    }
    fs::write(path, bytes).unwrap();
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let version = [Version::V1, Version::V2, Version::Hybrid][numbers.next() % 3];
    let nthreads = 1 + numbers.next() % 2;
    let mut piece_nbytes = match version {
        Version::V1 => 1 + numbers.long() % 70_000,
        _ => 16384 << (numbers.next() % 4),
    };
    let mut files = files(&mut numbers);
    if version != Version::V1 {
        files.retain(|file| !file.padding);
    }
    if files.is_empty() {
        files.push(content("only", ""));
    }
    let total: usize = files.iter().map(|file| file.bytes.len()).sum();
    if version == Version::V1 {
        // Many pieces of one byte take long and show nothing new.
        piece_nbytes = piece_nbytes.max(total / 500);
    }
    let (mut bytes, files) = maker::torrent(version, "name", &files, piece_nbytes);

    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("name");
    fs::create_dir(&folder).unwrap();
    maker::write_files(&folder, &files);
    for _ in 0..numbers.next() % 4 {
        let file = &files[numbers.next() % files.len()];
        if !file.padding {
            damage(&folder.join(&file.path), &mut numbers);
        }
    }
    let options = Options::new().threads(nthreads);
    if numbers.next() % 4 == 1 {
        let at = numbers.long() % bytes.len();
        bytes[at] = numbers.next() as u8;
        if let Ok(torrent) = Torrent::parse(&bytes) {
            // A changed length can make a torrent ask for too many pieces, of holes that do not exist.
            if torrent.piece_count() < 10_000 {
                let report = verify(&torrent, outer.path(), &options).unwrap();
                assert_eq!(report.pieces.len(), torrent.piece_count());
            }
        }
        return;
    }

    let torrent = Torrent::parse(&bytes).unwrap();
    let found: Vec<Option<Vec<u8>>> = files.iter().map(|file| fs::read(folder.join(&file.path)).ok()).collect();
    let state = |parts: Vec<maker::Part>| {
        let real = || parts.iter().filter(|(file, _)| !files[*file].padding);
        let here = |(file, range): &maker::Part| found[*file].as_ref().and_then(|bytes| bytes.get(range.clone()));
        if real().any(|part| here(part).is_none()) {
            return PieceState::Missing;
        }
        match real().all(|part| here(part) == Some(&files[part.0].bytes[part.1.clone()])) {
            true => PieceState::Have,
            false => PieceState::Bad,
        }
    };
    let expected: Vec<_> = maker::parts(version, &files, piece_nbytes).into_iter().map(state).collect();
    let mut reports = 0;
    verify_many([0, 1].map(|_| Check::new(&torrent, outer.path())), &options, |_, report| {
        let report = report.unwrap();
        assert_eq!(report.pieces, expected);
        for ((file, found), report) in files.iter().zip(&found).zip(&report.files) {
            let nbytes = found.as_ref().map(|bytes| bytes.len() as u64);
            assert_eq!(report.found_nbytes, nbytes.filter(|_| !file.padding));
        }
        let there = |(file, found): (&Content, &Option<Vec<u8>>)| {
            file.padding || found.as_ref().is_some_and(|found| found.len() >= file.bytes.len())
        };
        let all_there = files.iter().zip(&found).all(there);
        let all_right = expected.iter().all(|&piece| piece == PieceState::Have);
        assert_eq!(report.is_complete(), all_there && all_right);
        reports += 1;
    });
    assert_eq!(reports, 2);
});
