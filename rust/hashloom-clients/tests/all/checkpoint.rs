// SPDX-License-Identifier: MIT OR Apache-2.0

//! A continued check must not believe a verdict whose files may have changed unseen.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hashloom_clients::Checkpoint;
use hashloom_files::run::Options;
use hashloom_files::{Doubt, Noted};
use hashloom_state::{Folder, State};
use hashloom_torrent::{Bitfield, Check, PieceState, Torrent, verify_pieces};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const NBYTES: usize = 40_000;

/// A file of zeros, and a torrent that it matches.
fn zeros(folder: &Path) -> (PathBuf, Torrent) {
    let path = folder.join("zeros");
    fs::write(&path, [0; NBYTES]).unwrap();
    (path, Torrent::parse(&crate::maker::file_torrent("zeros", &[0; NBYTES], 16384)).unwrap())
}

/// A checkpoint in a file without a name.
struct Saved(File);

impl Saved {
    fn new() -> Saved {
        Saved(tempfile::tempfile().unwrap())
    }

    fn open(&self) -> Checkpoint {
        Checkpoint::new(State::open(self.0.try_clone().unwrap(), Checkpoint::SUBJECT, None).unwrap())
    }
}

/// Checks the pieces that the checkpoint leaves open.
fn check(saved: &Saved, torrent: &Torrent, folder: &Path) -> Vec<PieceState> {
    let checkpoint = saved.open();
    let record = |torrent: &Torrent, piece, state| checkpoint.record(torrent, piece, state);
    let known = checkpoint.begin(torrent, folder);
    let mut pieces = Vec::new();
    verify_pieces([Check::new(torrent, folder).known(known)], &Options::new(), record, |_, report| {
        pieces = report.unwrap().pieces;
    });
    checkpoint.close().unwrap();
    pieces
}

/// A folder on disk, and one in memory if the system has such a file system.
fn folders() -> Vec<tempfile::TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm");
    if memory.is_err() {
        crate::skipped::skipped_unless_required("there is no /dev/shm");
    }
    [tempfile::tempdir().unwrap()].into_iter().chain(memory).collect()
}

/// A program has the file mapped. The page that it writes to is dirty already when the check begins, so its next write
/// to that page changes no time.
#[test]
fn what_is_written_through_a_mapping_is_seen() {
    for folder in folders() {
        // Somebody may write all dirty pages to the disk in between: then the next write changes the time.
        let is_meant = (0..10).any(|_| is_seen_through_a_mapping(folder.path()));
        assert!(is_meant, "a write to a dirty page that changes no time");
    }
}

/// Returns false if the write did change the time, which is not what the test is about.
fn is_seen_through_a_mapping(folder: &Path) -> bool {
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

    let saved = Saved::new();
    assert_eq!(check(&saved, &torrent, folder), [PieceState::Have; 3]);
    let before = path.metadata().unwrap();
    // SAFETY: as above.
    unsafe { byte.write_volatile(1) };
    let after = path.metadata().unwrap();

    let found = check(&saved, &torrent, folder);
    assert_eq!(found, [PieceState::Bad, PieceState::Have, PieceState::Have], "{}", folder.display());
    // SAFETY: nobody uses the mapping any more.
    unsafe { munmap(map, NBYTES).unwrap() };
    before.modified().unwrap() == after.modified().unwrap()
}

/// On a file system in memory, a page that was read first is written to unseen, whenever the mapping was made.
#[test]
fn what_is_written_later_through_a_mapping_is_seen() {
    for folder in folders() {
        let folder = folder.path();
        let (path, torrent) = zeros(folder);
        std::thread::sleep(Duration::from_millis(100));
        let saved = Saved::new();
        assert_eq!(check(&saved, &torrent, folder), [PieceState::Have; 3]);
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
        let found = check(&saved, &torrent, folder);
        assert_eq!(found, [PieceState::Bad, PieceState::Have, PieceState::Have], "{}", folder.display());
    }
}

/// On a trusted file system a checked piece is not checked again.
#[test]
fn what_cannot_have_changed_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, torrent) = zeros(folder.path());
    let saved = Saved::new();
    let checkpoint = saved.open();
    // The file was made a moment ago: `begin` waits for that moment to pass.
    checkpoint.begin(&torrent, folder.path());
    // A container, or a chroot without /sys, may not tell the device.
    let tie = Folder::new(folder.path()).tie(&path, &Noted::of(&path).unwrap());
    if let Some(doubt @ (Doubt::FileSystem | Doubt::Device)) = tie.doubt_at(&tie) {
        crate::skipped::skipped_unless_required(format!("{} is {doubt}", path.display()));
        return;
    }
    (0..3).for_each(|piece| checkpoint.record(&torrent, piece, PieceState::Bad));
    checkpoint.close().unwrap();
    let known = |folder: &Path| {
        let checkpoint = saved.open();
        let known = checkpoint.begin(&torrent, folder);
        (known.to_vec(), checkpoint.doubts().into_iter().collect::<Vec<_>>())
    };
    assert_eq!(known(folder.path()), (vec![PieceState::Bad; 3], vec![]));
    // Another program opens the file for writing later: its first write will show, also in what is found out now.
    let writer = File::options().write(true).open(&path).unwrap();
    assert_eq!(Noted::of(&path).unwrap().doubt, Some(Doubt::Writer));
    assert_eq!(known(folder.path()), (vec![PieceState::Bad; 3], vec![]));
    let checkpoint = saved.open();
    checkpoint.begin(&torrent, folder.path());
    checkpoint.record(&torrent, 1, PieceState::Have);
    checkpoint.close().unwrap();
    let expected = vec![PieceState::Bad, PieceState::Have, PieceState::Bad];
    assert_eq!(known(folder.path()), (expected.clone(), vec![]));
    drop(writer);
    // The same file by another path, and then another file in its place.
    let other = tempfile::tempdir().unwrap();
    let link = other.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert_eq!(known(&link), (expected, vec![]));
    fs::hard_link(&path, other.path().join("zeros")).unwrap();
    let none = vec![PieceState::Unchecked; 3];
    // A link is a change of the file too; the folder is told first.
    assert_eq!(known(other.path()), (none.clone(), vec![(Doubt::Folder, 3)]));
    assert_eq!(known(folder.path()), (none.clone(), vec![(Doubt::Changed, 3)]));
    let is_same = fs::read(&path).unwrap();
    fs::write(&path, is_same).unwrap();
    assert_eq!(known(folder.path()), (none, vec![(Doubt::Changed, 3)]));
}

/// A file that changes after the verdicts were taken up, and before the check looks at the file itself, is checked
/// again.
#[test]
fn what_changes_between_the_two_looks_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (path, torrent) = zeros(folder.path());
    let saved = Saved::new();
    assert_eq!(check(&saved, &torrent, folder.path()), [PieceState::Have; 3]);
    let checkpoint = saved.open();
    let known = checkpoint.begin(&torrent, folder.path());
    let mut changed = [0; NBYTES];
    changed[20_000] = 1;
    let time = path.metadata().unwrap().modified().unwrap();
    fs::write(&path, changed).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let mut found = None;
    verify_pieces(
        [Check::new(&torrent, folder.path()).known(known)],
        &Options::new(),
        |_, _, _| {},
        |_, report| {
            let report = report.unwrap();
            found = Some((report.pieces, report.ntaken_over));
        },
    );
    assert_eq!(found, Some((vec![PieceState::Have, PieceState::Bad, PieceState::Have], 0)));
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
    zeros(folder.path());
    let saved = Saved::new();
    // A file that is missing is the same on every file system.
    let torrent = {
        let (path, torrent) = zeros(folder.path());
        fs::remove_file(path).unwrap();
        torrent
    };
    let checkpoint = saved.open();
    checkpoint.begin(&torrent, folder.path());
    for piece in 0..3 {
        checkpoint.record(&torrent, piece, PieceState::Missing);
    }
    let mut scope = Bitfield::none(3);
    scope.set(1, true);
    checkpoint.end(&torrent, &scope);
    checkpoint.close().unwrap();
    let checkpoint = saved.open();
    assert!(!checkpoint.is_empty(), "what is known of a torrent that is not checked stays");
    let (missing, unchecked) = (PieceState::Missing, PieceState::Unchecked);
    assert_eq!(*checkpoint.begin(&torrent, folder.path()), [missing, unchecked, missing]);
    checkpoint.end(&torrent, &Bitfield::all(3));
    assert!(checkpoint.is_empty());
    checkpoint.close().unwrap();
    assert!(saved.open().is_empty());
    assert_eq!(*saved.open().begin(&torrent, folder.path()), [unchecked; 3]);
}

/// Lines that nobody wrote, of pieces that the torrent has not, are no verdicts.
#[test]
fn verdicts_that_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let (path, torrent) = zeros(folder.path());
    fs::remove_file(path).unwrap();
    let saved = Saved::new();
    let checkpoint = saved.open();
    checkpoint.begin(&torrent, folder.path());
    checkpoint.record(&torrent, 0, PieceState::Missing);
    checkpoint.close().unwrap();
    let open = || State::open(saved.0.try_clone().unwrap(), Checkpoint::SUBJECT, None).unwrap();
    let id = torrent.info_hash_v1().unwrap();
    let (tie, value) = open().last(&id).unwrap();
    let state = value.split_once('=').unwrap().1;
    for wrong in ["1-3=1", "2-1=1", "1-2", "1=1", "1-2=", "1-2=256", "-1-2=1", "x", "1-18446744073709551616=1"] {
        open().add(&id, &tie, wrong).unwrap();
    }
    open().add(&id, &tie, "0-2=99").unwrap();
    assert_eq!(*saved.open().begin(&torrent, folder.path()), [PieceState::Unchecked; 3], "an unknown state");
    open().add(&id, &tie, &format!("0-2={state}")).unwrap();
    assert_eq!(*saved.open().begin(&torrent, folder.path()), [PieceState::Missing; 3]);
}
