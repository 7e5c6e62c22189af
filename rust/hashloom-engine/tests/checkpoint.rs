// SPDX-License-Identifier: MIT OR Apache-2.0

//! A continued check must not believe a verdict whose files may have changed unseen.
#![cfg(target_os = "linux")]

#[path = "../../../test/skipped.rs"]
mod skipped;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hashloom_engine::files::{Doubt, Noted};
use hashloom_engine::run::Options;
use hashloom_engine::torrent::{Bitfield, Check, Checkpoint, PieceState, Torrent, verify_pieces};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const NBYTES: usize = 40_000;

/// A file of zeros, and a torrent that it matches.
fn zeros(folder: &Path) -> (PathBuf, Torrent) {
    let path = folder.join("zeros");
    fs::write(&path, [0; NBYTES]).unwrap();
    let pieces = [&[0; 16384][..], &[0; 16384], &[0; NBYTES - 2 * 16384]];
    let digests = pieces.map(|piece| hashloom::hash(hashloom::Algorithm::Sha1, piece));
    let mut torrent = b"d4:infod6:lengthi40000e4:name5:zeros12:piece lengthi16384e6:pieces60:".to_vec();
    digests.iter().for_each(|digest| torrent.extend_from_slice(digest.as_ref()));
    torrent.extend_from_slice(b"ee");
    (path, Torrent::parse(&torrent).unwrap())
}

/// Checks the pieces that the checkpoint leaves open.
fn check(checkpoint: &Checkpoint, torrent: &Torrent, folder: &Path) -> Vec<PieceState> {
    let record = |torrent: &Torrent, piece, state, _: &_| checkpoint.record(torrent, piece, state);
    let known = checkpoint.begin(torrent, folder);
    let mut pieces = Vec::new();
    verify_pieces([Check::new(torrent, folder).known(known)], &Options::new(), record, |_, report| {
        pieces = report.unwrap().pieces;
    });
    pieces
}

/// A folder on disk, and one in memory if the system has such a file system.
fn folders() -> Vec<tempfile::TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm");
    if memory.is_err() {
        skipped::skipped_unless_required("there is no /dev/shm");
    }
    [tempfile::tempdir().unwrap()].into_iter().chain(memory).collect()
}

/// A program has the file mapped. The page that it writes to is dirty already when the check begins, so its next write
/// to that page changes no time.
#[test]
fn what_is_written_through_a_mapping_is_seen() {
    for folder in folders() {
        let folder = folder.path();
        let (path, torrent) = zeros(folder);
        let file = File::options().read(true).write(true).open(&path).unwrap();
        // SAFETY: the mapping is new, and the bytes touched below lie within the file.
        let map = unsafe {
            mmap(std::ptr::null_mut(), NBYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0).unwrap()
        };
        drop(file);
        let byte = map.cast::<u8>();
        // SAFETY: the address lies within the mapping, and the file is as long as the mapping.
        unsafe { byte.write_volatile(0) };
        std::thread::sleep(Duration::from_millis(100));

        let checkpoint = Checkpoint::default();
        assert_eq!(check(&checkpoint, &torrent, folder), [PieceState::Have; 3]);
        let saved = checkpoint.encode();
        let before = path.metadata().unwrap();
        // SAFETY: as above.
        unsafe { byte.write_volatile(1) };
        let after = path.metadata().unwrap();
        assert_eq!(before.modified().unwrap(), after.modified().unwrap(), "this is what the test is about");

        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let found = check(&checkpoint, &torrent, folder);
        assert_eq!(found, [PieceState::Bad, PieceState::Have, PieceState::Have], "{}", folder.display());
        // SAFETY: nobody uses the mapping any more.
        unsafe { munmap(map, NBYTES).unwrap() };
    }
}

/// On a file system in memory, a page that was read first is written to unseen, whenever the mapping was made.
#[test]
fn what_is_written_later_through_a_mapping_is_seen() {
    for folder in folders() {
        let folder = folder.path();
        let (path, torrent) = zeros(folder);
        std::thread::sleep(Duration::from_millis(100));
        let checkpoint = Checkpoint::default();
        assert_eq!(check(&checkpoint, &torrent, folder), [PieceState::Have; 3]);
        let saved = checkpoint.encode();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        // SAFETY: the mapping is new, and the bytes touched below lie within the file.
        unsafe {
            let prot = ProtFlags::READ | ProtFlags::WRITE;
            let map = mmap(std::ptr::null_mut(), NBYTES, prot, MapFlags::SHARED, &file, 0).unwrap();
            let byte = map.cast::<u8>();
            assert_eq!(byte.read_volatile(), 0);
            byte.write_volatile(1);
            munmap(map, NBYTES).unwrap();
        }
        drop(file);
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let found = check(&checkpoint, &torrent, folder);
        assert_eq!(found, [PieceState::Bad, PieceState::Have, PieceState::Have], "{}", folder.display());
    }
}

/// On a trusted file system a checked piece is not checked again.
#[test]
fn what_cannot_have_changed_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, torrent) = zeros(folder.path());
    let checkpoint = Checkpoint::default();
    // The file was made a moment ago: `begin` waits for that moment to pass.
    checkpoint.begin(&torrent, folder.path());
    if Noted::of(&path).unwrap().doubt == Some(Doubt::FileSystem) {
        let path = path.display();
        skipped::skipped_unless_required(format!("{path} is on a file system that cannot be trusted"));
        return;
    }
    (0..3).for_each(|piece| checkpoint.record(&torrent, piece, PieceState::Bad));
    let saved = checkpoint.encode();
    let known = || {
        let checkpoint = Checkpoint::decode(&saved).unwrap();
        let known = checkpoint.begin(&torrent, folder.path());
        let again = Checkpoint::decode(&checkpoint.encode()).unwrap();
        let doubts: Vec<_> = checkpoint.doubts().into_keys().collect();
        assert_eq!(again.begin(&torrent, folder.path()), known, "noted once more it is the same");
        (known, doubts)
    };
    assert_eq!(known(), (vec![PieceState::Bad; 3], vec![]));
    // Another program opens the file for writing later: its first write will show.
    let writer = File::options().write(true).open(&path).unwrap();
    assert_eq!(Noted::of(&path).unwrap().doubt, Some(Doubt::Writer));
    assert_eq!(known(), (vec![PieceState::Bad; 3], vec![]));
    drop(writer);
    let is_same = fs::read(&path).unwrap();
    fs::write(&path, is_same).unwrap();
    assert_eq!(known(), (vec![PieceState::Unchecked; 3], vec![Doubt::Changed]));
}

/// Looking for writers neither ends this program nor keeps anybody from writing.
#[test]
fn whoever_opens_a_file_meanwhile_can() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = zeros(folder.path());
    std::thread::sleep(Duration::from_millis(100));
    let (stop, nopened) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut nproven = 0;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    drop(File::options().write(true).open(&path).unwrap());
                    nopened.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..20_000 {
            match Noted::of(&path).unwrap().doubt {
                None => nproven += 1,
                Some(Doubt::Writer | Doubt::FileSystem) => {}
                other => panic!("{other:?}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(nopened.into_inner() > 0);
    eprintln!("nobody was writing {nproven} times");
}

/// A check of some pieces takes its own verdicts out of the checkpoint, and leaves those of a check that it interrupts.
#[test]
fn the_end_of_a_check_of_some_pieces_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let (_, torrent) = zeros(folder.path());
    let checkpoint = Checkpoint::default();
    checkpoint.begin(&torrent, folder.path());
    for piece in 0..3 {
        checkpoint.record(&torrent, piece, PieceState::Have);
    }
    let mut scope = Bitfield::none(3);
    scope.set(1, true);
    checkpoint.end(&torrent, &scope);
    let mut expected = Checkpoint::default();
    expected.begin(&torrent, folder.path());
    for piece in [0, 2] {
        expected.record(&torrent, piece, PieceState::Have);
    }
    assert_eq!(checkpoint.encode(), expected.encode());
    checkpoint.end(&torrent, &Bitfield::all(3));
    assert!(checkpoint.is_empty());
    expected = Checkpoint::decode(&expected.encode()).unwrap();
    expected.end(&torrent, &scope);
    assert!(expected.is_empty(), "nothing is known of how the files of a torrent that was not begun are");
}
