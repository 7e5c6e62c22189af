// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that change while a torrent is checked against them: the results hold for the files' state at the end, and a
//! file that never comes to rest gets no result.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::heard::heard;
use crate::maker::{VERSIONS, Version, noise};
use hashloom_clients::Checkpoint;
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_state::State;
use hashloom_torrent::{Check, FileState, PieceState, Report, Torrent, verify, verify_pieces};

const PIECE: usize = 16 << 10;

/// `a` and `c` have a few pieces each, `b` has many; in version 1 the files share pieces.
fn content(folder: &Path) {
    for (seed, (name, nbytes)) in [("a", 50_001), ("b", 1_000_001), ("c", 50_001)].into_iter().enumerate() {
        fs::write(folder.join(name), noise(nbytes, seed as u64)).unwrap();
    }
}

fn torrent(folder: &Path, version: Version) -> Torrent {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        crate::maker::content(name, fs::read(&path).unwrap())
    };
    let files: Vec<_> = paths.into_iter().map(file).collect();
    Torrent::parse(&crate::maker::torrent(version, "content", &files, PIECE).0).unwrap()
}

fn index(torrent: &Torrent, name: &str) -> usize {
    torrent.files().position(|file| file.path == name.as_bytes()).unwrap()
}

fn open(path: &Path) -> File {
    File::options().write(true).open(path).unwrap()
}

/// Checks one torrent and hands each verdict to `hear`.
fn hear_pieces(
    torrent: &Torrent,
    folder: &Path,
    options: &Options,
    hear: impl Fn(&Torrent, usize, PieceState) + Sync,
) -> Report {
    let mut report = None;
    verify_pieces([Check::new(torrent, folder)], options, hear, |_, found| report = Some(found.unwrap()));
    report.unwrap()
}

/// Checks, and calls `change` as soon as a piece of the second half of `b` is found right. Returns the report and the
/// number of pieces that were taken back.
fn check(torrent: &Torrent, folder: &Path, threads: usize, change: &(dyn Fn() + Sync)) -> (Report, usize) {
    let of_b = torrent.pieces_of_file(index(torrent, "b"));
    let (is_done, ntaken_back) = (AtomicBool::new(false), AtomicUsize::new(0));
    let last_heard = Mutex::new(vec![PieceState::Unchecked; torrent.piece_count()]);
    let hear = |_: &Torrent, piece: usize, state: PieceState| {
        last_heard.lock().unwrap()[piece] = state;
        if state == PieceState::Unchecked {
            ntaken_back.fetch_add(1, Ordering::Relaxed);
        }
        if (of_b.start + of_b.len() / 2..of_b.end).contains(&piece) && !is_done.swap(true, Ordering::Relaxed) {
            change();
        }
    };
    let options = Options::new().threads(threads);
    let report = hear_pieces(torrent, folder, &options, hear);
    assert!(is_done.into_inner());
    assert_eq!(last_heard.into_inner().unwrap(), report.pieces);
    (report, ntaken_back.into_inner())
}

#[test]
fn what_changes_behind_the_reader_is_checked_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let (a, b) = (place.join("a"), place.join("b"));
    let set_back = |change: &dyn Fn()| {
        let before = b.metadata().unwrap().modified().unwrap();
        change();
        open(&b).set_modified(before).unwrap();
    };
    type Change<'a> = (&'a str, &'a str, FileState, Option<PieceState>, Box<dyn Fn() + Sync + 'a>);
    // The change, its file, the file's state afterwards, and the state of the first piece that is the file's alone.
    let changes: [Change; 11] = [
        ("overwritten", "b", FileState::Incomplete, Some(PieceState::Bad), {
            Box::new(|| open(&b).write_all_at(&[0; 100], 20_000).unwrap())
        }),
        ("overwritten, the time set back", "b", FileState::Incomplete, Some(PieceState::Bad), {
            Box::new(|| set_back(&|| open(&b).write_all_at(&[0; 100], 20_000).unwrap()))
        }),
        ("overwritten while another is read", "a", FileState::Incomplete, Some(PieceState::Bad), {
            Box::new(|| open(&a).write_all_at(&[0; 100], 20_000).unwrap())
        }),
        ("touched", "b", FileState::Complete, Some(PieceState::Have), {
            Box::new(|| open(&b).set_modified(std::time::UNIX_EPOCH).unwrap())
        }),
        ("appended to", "b", FileState::Long, Some(PieceState::Have), {
            Box::new(|| open(&b).write_all_at(b"more", 1_000_001).unwrap())
        }),
        ("truncated", "b", FileState::Short, None, Box::new(|| open(&b).set_len(20_000).unwrap())),
        ("replaced", "b", FileState::Incomplete, Some(PieceState::Bad), {
            Box::new(|| {
                fs::write(place.join("other"), noise(1_000_001, 9)).unwrap();
                fs::rename(place.join("other"), &b).unwrap();
            })
        }),
        ("removed", "a", FileState::Missing, Some(PieceState::Missing), Box::new(|| fs::remove_file(&a).unwrap())),
        ("removed while it is read", "b", FileState::Missing, Some(PieceState::Missing), {
            Box::new(|| fs::remove_file(&b).unwrap())
        }),
        ("a folder in its place while it is read", "b", FileState::Failed, Some(PieceState::Unread), {
            Box::new(|| {
                fs::remove_file(&b).unwrap();
                fs::create_dir(&b).unwrap();
            })
        }),
        ("a folder in its place", "a", FileState::Failed, Some(PieceState::Unread), {
            Box::new(|| {
                fs::remove_file(&a).unwrap();
                fs::create_dir(&a).unwrap();
            })
        }),
    ];
    for version in VERSIONS {
        content(place);
        let torrent = torrent(place, version);
        for threads in [1, 2] {
            for (what, name, file_state, piece_state, change) in &changes {
                content(place);
                let (report, ntaken_back) = check(&torrent, place, threads, change);
                let what = format!("{version:?}, {threads} threads, {what}: {report:?}");
                let file = index(&torrent, name);
                assert_eq!(report.files[file].state, *file_state, "{what}");
                assert_eq!(report.is_complete(), matches!(file_state, FileState::Complete | FileState::Long), "{what}");
                assert!(ntaken_back > 0, "{what}");
                if let Some(piece_state) = piece_state {
                    // The second piece is compared, as the first may be a neighbour's, too.
                    assert_eq!(report.pieces[torrent.pieces_of_file(file).start + 1], *piece_state, "{what}");
                }
                let c = torrent.pieces_of_file(index(&torrent, "c"));
                assert!(report.pieces[c].iter().skip(1).all(|&piece| piece == PieceState::Have), "{what}");
                let _ = (fs::remove_dir(&a), fs::remove_dir(&b));
            }
        }
    }
}

#[test]
fn what_comes_while_it_is_missed_is_there() {
    for version in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        content(folder.path());
        let torrent = torrent(folder.path(), version);
        let (away, a) = (tempfile::tempdir().unwrap(), folder.path().join("a"));
        fs::copy(&a, away.path().join("a")).unwrap();
        fs::remove_file(&a).unwrap();
        let (report, _) = check(&torrent, folder.path(), 1, &|| {
            fs::copy(away.path().join("a"), &a).unwrap();
        });
        assert!(report.is_complete(), "{version:?}: {report:?}");
    }
}

/// A file is truncated inside its last page: what was beyond the end is not zeros.
#[test]
fn zeros_beyond_the_end_are_not_the_files() {
    for version in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut bytes = noise(4 << 20, 3);
        bytes.extend_from_slice(&[0; 500]);
        fs::write(&path, &bytes).unwrap();
        let torrent = torrent(folder.path(), version);
        // On disk all but the first of the zeros are other bytes.
        bytes[(4 << 20) + 100..].fill(7);
        fs::write(&path, &bytes).unwrap();
        let is_cut = AtomicBool::new(false);
        let cut = |_: Progress| {
            if !is_cut.swap(true, Ordering::Relaxed) {
                open(&path).set_len((4 << 20) + 100).unwrap();
            }
        };
        let options = Options::new().threads(1);
        let report = heard(&options, cut, |options| verify(&torrent, folder.path(), options)).unwrap();
        assert!(is_cut.into_inner() && !report.is_complete(), "{version:?}: {report:?}");
        assert_eq!(report.files[0].state, FileState::Short, "{version:?}: {report:?}");
        assert_eq!(report.pieces.last(), Some(&PieceState::Missing), "{version:?}");
    }
}

/// `b` changes whenever a piece of it is settled.
#[test]
fn what_never_comes_to_rest_is_unstable() {
    for version in VERSIONS {
        for threads in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            content(folder.path());
            let torrent = torrent(folder.path(), version);
            let (file, path) = (index(&torrent, "b"), folder.path().join("b"));
            let of_b = torrent.pieces_of_file(file);
            let nsettled = AtomicUsize::new(0);
            let saved = tempfile::tempfile().unwrap();
            let begun = || {
                let state = State::open(saved.try_clone().unwrap(), Checkpoint::SUBJECT, None);
                Checkpoint::new(state.unwrap())
            };
            let checkpoint = begun();
            let hear = |torrent: &Torrent, piece: usize, state: PieceState| {
                checkpoint.record(torrent, piece, state);
                if piece == of_b.start + 1 && !matches!(state, PieceState::Unchecked | PieceState::Unstable) {
                    nsettled.fetch_add(1, Ordering::Relaxed);
                    // This writes the right content again.
                    open(&path).write_all_at(&noise(1, 1), 0).unwrap();
                }
            };
            let known = checkpoint.begin(&torrent, folder.path());
            let mut report = None;
            let options = Options::new().threads(threads);
            let checks = [Check::new(&torrent, folder.path()).known(known)];
            verify_pieces(checks, &options, hear, |_, found| report = Some(found.unwrap()));
            let report = report.unwrap();
            assert_eq!(nsettled.into_inner(), 3, "{version:?}");
            assert!(!report.is_complete() && !report.cancelled, "{version:?}");
            assert_eq!(report.files[file].state, FileState::Unstable, "{version:?}: {report:?}");
            assert!(report.pieces[of_b.clone()].iter().all(|&piece| piece == PieceState::Unstable), "{version:?}");
            assert_eq!(report.count(PieceState::Unstable), of_b.len(), "{version:?}");
            assert_eq!(report.have(), torrent.piece_count() - of_b.len(), "{version:?}");
            assert_eq!(report.bitfield().count(), report.have(), "{version:?}");
            assert!(report.wrong_bytes(&torrent).any(|(of, _, state)| of == file && state == PieceState::Unstable));
            // The next check knows only what was stable.
            checkpoint.close().unwrap();
            let known = begun().begin(&torrent, folder.path());
            assert!(known[of_b].iter().all(|&piece| piece == PieceState::Unchecked), "{version:?}");
        }
    }
}

/// Known verdicts of an interrupted check are taken back like others, even on a file that need not be read.
#[test]
fn what_was_known_is_not_believed_of_a_file_that_changes() {
    let folder = tempfile::tempdir().unwrap();
    content(folder.path());
    let torrent = torrent(folder.path(), Version::V2);
    let a = torrent.pieces_of_file(index(&torrent, "a"));
    let mut known = vec![PieceState::Unchecked; torrent.piece_count()];
    known[a.clone()].fill(PieceState::Have);
    let is_done = AtomicBool::new(false);
    let hear = |_: &Torrent, _: usize, _: PieceState| {
        if !is_done.swap(true, Ordering::Relaxed) {
            open(&folder.path().join("a")).write_all_at(&[0; 100], 0).unwrap();
        }
    };
    let mut report = None;
    let checks = [Check::new(&torrent, folder.path()).known(known)];
    verify_pieces(checks, &Options::new(), hear, |_, found| report = Some(found.unwrap()));
    let report = report.unwrap();
    assert_eq!(report.pieces[a.start], PieceState::Bad);
    assert!(report.pieces[a].iter().skip(1).all(|&piece| piece == PieceState::Have));
    assert!(!report.is_complete());
}

/// A check that is cancelled after a file has changed knows nothing of that file.
#[test]
fn a_cancelled_check_takes_back_too() {
    let folder = tempfile::tempdir().unwrap();
    content(folder.path());
    let torrent = torrent(folder.path(), Version::V1);
    let stop = Cancel::new();
    let hear = |_: &Torrent, piece: usize, _: PieceState| {
        if piece == 20 && !stop.is_cancelled() {
            stop.cancel();
            open(&folder.path().join("a")).write_all_at(&[0; 100], 0).unwrap();
        }
    };
    let options = Options::new().threads(1).cancel(&stop);
    let report = hear_pieces(&torrent, folder.path(), &options, hear);
    assert!(report.cancelled && report.have() > 0, "{report:?}");
    let of_a = torrent.pieces_of_file(index(&torrent, "a"));
    assert!(report.pieces[of_a].iter().all(|&piece| piece == PieceState::Unchecked), "{report:?}");
}
