// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files hashed from a mapping: the verdicts are those of reading, even if a file changes meanwhile.

mod heard;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hashloom_engine::run::{Options, Progress};
use hashloom_engine::torrent::{Builder, FileState, PieceState, Torrent, Version, verify};
use heard::heard;

/// A folder of files, one of which begins and ends in the middle of pieces, and their torrent.
fn torrent(folder: &Path, version: Version) -> Torrent {
    let noise = |nbytes: u64, seed: u64| -> Vec<u8> {
        (0..nbytes).map(|i| ((i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    };
    for (seed, (name, nbytes)) in
        [("a", 3), ("b", 5_000_001), ("c", 70_000), ("d", 0), ("e", 65_536)].iter().enumerate()
    {
        fs::write(folder.join(name), noise(*nbytes, seed as u64)).unwrap();
    }
    let options = Options::new().mapped_with_sigbus_handler(true);
    Builder::new().version(version).piece_nbytes(64 << 10).plan(folder).unwrap().create(&options).unwrap().torrent
}

#[test]
fn verdicts_are_those_of_reading() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        let folder = tempfile::tempdir().unwrap();
        let torrent = torrent(folder.path(), version);
        let check = |mapped: bool, threads: usize| {
            let options = Options::new().mapped_with_sigbus_handler(mapped).threads(threads);
            verify(&torrent, folder.path(), &options).unwrap()
        };
        for threads in [1, 3] {
            let report = check(true, threads);
            assert!(report.is_complete() && report.nbytes_read >= 5_000_001, "{version}: {report:?}");
        }
        let mut bytes = fs::read(folder.path().join("b")).unwrap();
        bytes[4_000_000] ^= 1;
        fs::write(folder.path().join("b"), &bytes[..4_900_000]).unwrap();
        let (mapped, read) = (check(true, 2), check(false, 2));
        assert_eq!(mapped.pieces, read.pieces, "{version}");
        assert_eq!(mapped.count(PieceState::Bad), 1);
        assert!(mapped.count(PieceState::Missing) >= 2);
    }
}

/// The file is cut short under the mapping as soon as the check has begun. SIGBUS does not end the process, and the
/// pieces that are gone are missing.
#[test]
fn a_file_that_becomes_shorter_meanwhile() {
    for version in [Version::V1, Version::V2, Version::Hybrid] {
        for threads in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            let torrent = torrent(folder.path(), version);
            let cut = AtomicBool::new(false);
            let cut_it = |progress: Progress| {
                if progress.nbytes > 500_000 && !cut.swap(true, Ordering::Relaxed) {
                    let file = fs::File::options().write(true).open(folder.path().join("b")).unwrap();
                    file.set_len(300_000).unwrap();
                }
            };
            let options = Options::new().mapped_with_sigbus_handler(true).threads(threads);
            let report = heard(&options, cut_it, |options| verify(&torrent, folder.path(), options)).unwrap();
            assert!(cut.into_inner());
            let b = torrent.files().position(|file| file.path == b"b").unwrap();
            assert_eq!(report.files[b].state, FileState::Short, "{version}: {report:?}");
            let of_b = torrent.pieces_of_file(b);
            assert_eq!(report.pieces[of_b.end - 1], PieceState::Missing, "{version}");
            assert_eq!(report.pieces[of_b.start], PieceState::Have, "{version}");
            // Pieces hashed before the cut are right, and no piece was hashed with bytes that are not its own.
            let odd = |state: &PieceState| !matches!(state, PieceState::Have | PieceState::Missing);
            assert!(!report.pieces[of_b].iter().any(odd), "{version}: {:?}", report.pieces);
        }
    }
}
