// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents checked against files on disk: holes, links, what is no file, progress. `verify_random.rs` damages files in
//! every way, `changes.rs` has files that change during the check.

#![cfg_attr(not(unix), allow(unused_imports, reason = "some tests are for Unix only"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::heard::heard;
use crate::maker::{Content, content, file_torrent, folder_torrent, noise, raw_file_torrent, sha1};
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_torrent::PieceState::{Bad, Have, Missing, Unchecked, Unread};
use hashloom_torrent::{
    Bitfield, Check, FileState, PieceState, Report, Torrent, Trouble, VerifyError, verify, verify_many,
};

/// Verifies with one and with three threads; the reports must be equal.
fn check(torrent: &[u8], path: &Path) -> Report {
    let torrent = Torrent::parse(torrent).unwrap();
    let threads = |n| Options::new().threads(n);
    let report = verify(&torrent, path, &threads(1)).unwrap();
    let other = verify(&torrent, path, &threads(3)).unwrap();
    assert_eq!(report.pieces, other.pieces);
    assert_eq!(report.files, other.files);
    assert_eq!(report.content, other.content);
    report
}

fn states(report: &Report) -> Vec<FileState> {
    report.files.iter().map(|file| file.state).collect()
}

/// A folder `name` with the files, and their torrent.
fn folder(files: &[Content], piece_nbytes: usize) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("name");
    fs::create_dir(&inner).unwrap();
    crate::maker::write_files(&inner, files);
    (outer, inner, folder_torrent("name", files, piece_nbytes))
}

#[test]
#[cfg_attr(windows, ignore = "makes holes by calls of Unix")]
fn a_sparse_file_is_not_read_where_it_has_holes() {
    let piece = 64 << 10;
    let mut bytes = vec![0; 8 * piece + 1000];
    bytes[3 * piece + 5000] = 1;
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("image");
    let file = fs::File::create(&path).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::FileExt::write_all_at(&file, &[1], (3 * piece + 5000) as u64).unwrap();
    #[cfg(unix)]
    assert!(std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) < 128, "this file system has no holes");
    // The content is right: every piece is there, and only data outside of holes was read.
    let report = check(&file_torrent("image", &bytes, piece), outer.path());
    assert!(report.is_complete());
    assert!(!cfg!(target_os = "linux") || report.nbytes_read <= piece as u64, "{}", report.nbytes_read);
    // The torrent has other content: none of the holes is right.
    let report = check(&file_torrent("image", &noise(bytes.len(), 1), piece), outer.path());
    assert_eq!(report.pieces, [Bad; 9]);
    // A hole lies in the last piece, and one spans files.
    let report = check(&file_torrent("image", &bytes[..8 * piece], piece), outer.path());
    assert!(report.is_complete() && report.files[0].found_nbytes == Some(bytes.len() as u64));
}

#[test]
#[cfg_attr(windows, ignore = "asks for no holes")]
fn a_terabyte_that_was_only_preallocated_is_not_read() {
    let outer = tempfile::tempdir().unwrap();
    let file = fs::File::create(outer.path().join("image")).unwrap();
    if let Err(error) = file.set_len(1 << 40) {
        crate::skipped::skipped(format!("this file system takes no file of 1 TiB: {error}"));
        return;
    }
    let zeros = sha1(&vec![0; 4 << 20]);
    let torrent = raw_file_torrent("image", 1 << 40, 4 << 20, zeros.repeat(1 << 18));
    let report = check(&torrent, outer.path());
    assert!(report.is_complete() && report.nbytes_read == 0);
}

#[test]
fn path_is_the_folder_with_the_content_or_the_content() {
    let files = [content("a", "aaa"), content("name/b", "bbb")];
    let (outer, inner, torrent) = folder(&files, 4);
    for path in [outer.path(), &inner] {
        let report = check(&torrent, path);
        assert!(report.is_complete(), "{path:?}");
        assert_eq!(report.content, inner);
    }
    // The content's folder has another name.
    let other = outer.path().join("other");
    fs::rename(&inner, &other).unwrap();
    assert!(check(&torrent, &other).is_complete());
    // Nothing is there: the report names the place where a client would put the content.
    let report = check(&torrent, outer.path());
    assert_eq!((report.content.clone(), report.have()), (inner.clone(), 0));
    // A single file is found by its folder, by its name, and by another name.
    let torrent = file_torrent("a", b"aaa", 4);
    for path in [other.clone(), other.join("a")] {
        assert!(check(&torrent, &path).is_complete(), "{path:?}");
    }
    fs::rename(other.join("a"), other.join("x")).unwrap();
    assert!(check(&torrent, &other.join("x")).is_complete());
    let report = check(&torrent, &other);
    assert_eq!((report.pieces.clone(), report.content), (vec![Missing], other.join("a")));
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn a_path_that_cannot_be_is_an_error() {
    let files = [content("a", "aaa")];
    let (outer, inner, torrent) = folder(&files, 4);
    let torrent = Torrent::parse(&torrent).unwrap();
    let error = verify(&torrent, &outer.path().join("no"), &Options::new()).unwrap_err();
    assert!(matches!(&error, VerifyError::Path { error, .. } if error.kind() == std::io::ErrorKind::NotFound));
    let error = verify(&torrent, &inner.join("a"), &Options::new()).unwrap_err();
    assert!(matches!(&error, VerifyError::NotAFolder { .. }), "{error}");
    assert!(error.to_string().ends_with("Give the folder \"name\" or the one it is in"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_and_not_outside() {
    use std::os::unix::fs::symlink;
    let files = [content("a", noise(8, 1)), content("b", noise(8, 2)), content("d/c", noise(8, 3))];
    let (outer, inner, torrent) = folder(&files, 8);
    fs::rename(inner.join("a"), inner.join("d/real")).unwrap();
    symlink("d/real", inner.join("a")).unwrap();
    fs::rename(inner.join("b"), outer.path().join("secret")).unwrap();
    symlink("../secret", inner.join("b")).unwrap();
    // If PATH is the outer folder, all links stay inside.
    assert!(check(&torrent, outer.path()).is_complete());
    let report = check(&torrent, &inner);
    assert_eq!(report.pieces, [Have, Unread, Have]);
    assert_eq!(report.files[1].state, FileState::Failed);
    let [trouble] = &report.troubles[..] else { panic!("{:?}", report.troubles) };
    assert!(matches!(trouble.trouble, Trouble::Outside(_)) && trouble.file == 1);
    assert!(trouble.to_string().contains("a symbolic link leads out of the folder, to /"), "{trouble}");
    // PATH itself may be a link.
    symlink(outer.path(), outer.path().join("link")).unwrap();
    assert!(check(&torrent, &outer.path().join("link")).is_complete());
}

#[cfg(unix)]
#[test]
fn a_fifo_a_folder_or_a_socket_in_place_of_a_file_is_no_file() {
    let files =
        [content("a", noise(8, 1)), content("b", noise(8, 2)), content("c", noise(8, 3)), content("d", noise(8, 4))];
    let (_outer, inner, torrent) = folder(&files, 8);
    for name in ["a", "b", "c"] {
        fs::remove_file(inner.join(name)).unwrap();
    }
    assert!(std::process::Command::new("mkfifo").arg(inner.join("a")).status().unwrap().success());
    fs::create_dir(inner.join("b")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(inner.join("c")).unwrap();
    let report = check(&torrent, &inner);
    assert_eq!(report.pieces, [Unread, Unread, Unread, Have]);
    let messages: Vec<String> = report.troubles.iter().map(ToString::to_string).collect();
    for (message, what) in messages.iter().zip(["a FIFO", "a folder", "a socket or device"]) {
        assert!(message.ends_with(&format!("expected a regular file, found {what}")), "{message}");
    }
    // The file is found by its own path as well.
    let single = Torrent::parse(&file_torrent("a", &noise(8, 1), 8)).unwrap();
    assert_eq!(verify(&single, &inner.join("a"), &Options::new()).unwrap().pieces, [Unread]);
}

#[test]
fn progress_reaches_the_end_and_cancelling_stops() {
    let bytes = noise(3_000_000, 1);
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("image"), &bytes).unwrap();
    let torrent = Torrent::parse(&file_torrent("image", &bytes, 16384)).unwrap();
    let seen = Mutex::new(Vec::new());
    let note = |progress: Progress| {
        assert_eq!(progress.total_nbytes, Some(3_000_000));
        seen.lock().unwrap().push(progress.nbytes);
    };
    let report = heard(&Options::new(), note, |options| verify(&torrent, outer.path(), options)).unwrap();
    assert!(report.is_complete() && !report.cancelled);
    assert_eq!(seen.lock().unwrap().iter().max(), Some(&3_000_000));
    // The callback cancels, as a person would by pressing a key.
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let options = Options::new().threads(1).cancel(&cancel).progress(move |progress| {
        if progress.nbytes > 1_000_000 {
            stop.cancel();
        }
    });
    let report = verify(&torrent, outer.path(), &options).unwrap();
    assert!(report.cancelled && !report.is_complete());
    let count = |state: PieceState| report.count(state);
    assert!(count(Have) > 30 && count(Unchecked) > 30 && count(Have) + count(Unchecked) == 184, "{report:?}");
    // The check is cancelled before it begins.
    let report = verify(&torrent, outer.path(), &Options::new().cancel(&cancel)).unwrap();
    assert!(report.cancelled && report.count(Unchecked) == 184 && states(&report) == [FileState::Unchecked]);
}

/// A scope of another number of pieces, as by a mistake, is one of the pieces that there are.
#[test]
fn a_scope_of_other_pieces_than_there_are() {
    let bytes = noise(100, 1);
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("image"), &bytes).unwrap();
    let torrent = Torrent::parse(&file_torrent("image", &bytes, 16)).unwrap();
    for (npieces, have) in [(0, 0), (3, 3), (7, 7), (8, 7), (1000, 7)] {
        let mut found = None;
        let check = Check::new(&torrent, outer.path()).pieces(Bitfield::all(npieces));
        verify_many([check], &Options::new(), |_, report| found = Some(report.unwrap()));
        let report = found.unwrap();
        assert_eq!((report.have(), report.scope.len(), report.scope.count()), (have, 7, have), "{npieces}");
        assert_eq!(report.is_of_all(), have == 7, "{npieces}");
    }
}
