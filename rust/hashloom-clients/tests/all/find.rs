// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files of torrents among others of their lengths: what is found, and how many bytes are read. `find.rs` of the
//! program's tests has the words.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashloom_clients::{Finding, Findings, Index, find};
use hashloom_files::Stamp;
use hashloom_files::run::Options;
use hashloom_files::walk::Walk;
use hashloom_torrent::Torrent;

use crate::maker::{Content, content, folder_torrent, noise, sha1, v2_torrent};

/// The findings of each torrent below a folder, and the number of bytes read.
fn found_in(folder: &Path, torrents: &[Vec<u8>]) -> (Vec<Findings>, u64) {
    let files = Walk::new(folder).entries().map(Result::unwrap).filter(|entry| entry.file_type.is_file());
    let index = Index::new(files.map(|entry| {
        let stamp = Stamp::of(&entry.path.metadata().unwrap());
        (entry.path, stamp)
    }));
    let nread = Arc::new(AtomicU64::new(0));
    let most = nread.clone();
    let options = Options::new().progress(move |progress| {
        most.fetch_max(progress.nbytes, Ordering::Relaxed);
    });
    let torrents = torrents.iter().map(|bytes| (Arc::new(Torrent::parse(bytes).unwrap()), ()));
    let mut all = Vec::new();
    find(torrents, &index, &options, |_, (), found| all.push(found));
    (all, nread.load(Ordering::Relaxed))
}

fn names(found: &Findings) -> Vec<String> {
    let name = |one: &Finding| match one {
        Finding::Found { path, .. } => path.file_name().unwrap().to_str().unwrap().to_owned(),
        other => format!("{other:?}"),
    };
    found.files.iter().map(name).collect()
}

/// Releases of volumes of one length.
struct Releases(Vec<Vec<Content>>);

const RELEASES: usize = 4;
const VOLUMES: usize = 12;
/// A volume has three whole pieces and a rest, so that the first whole piece of each lies elsewhere in v1.
const VOLUME: usize = 3 * PIECE + 1001;
const PIECE: usize = 16 << 10;

impl Releases {
    fn new() -> Releases {
        let volume = |release: usize, number: usize| {
            content(&format!("r{release}.r{number:02}"), noise(VOLUME, (release * VOLUMES + number) as u64))
        };
        Releases((0..RELEASES).map(|release| (0..VOLUMES).map(|number| volume(release, number)).collect()).collect())
    }

    fn torrents(&self, is_v2: bool) -> Vec<Vec<u8>> {
        let make = if is_v2 { v2_torrent } else { folder_torrent };
        self.0.iter().enumerate().map(|(number, files)| make(&format!("rel{number}"), files, PIECE)).collect()
    }

    /// Writes all volumes under the names that `name` gives.
    fn write(&self, name: impl Fn(usize, &Content) -> String) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (release, file) in
            self.0.iter().enumerate().flat_map(|(at, files)| files.iter().map(move |file| (at, file)))
        {
            let path = folder.path().join(name(release, file));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.bytes).unwrap();
        }
        folder
    }
}

#[test]
fn volumes_of_one_length_are_read_once_if_their_names_fit() {
    let releases = Releases::new();
    let folder = releases.write(|release, file| format!("library/rel{release}/{}", file.path));
    for torrents in [releases.torrents(false), releases.torrents(true)] {
        let (found, nread) = found_in(folder.path(), &torrents);
        assert!(found.iter().all(|found| found.is_whole() && found.changed.is_empty()));
        assert_eq!(nread, (RELEASES * VOLUMES * VOLUME) as u64);
        let (found, nread) = found_in(folder.path(), &torrents[1..2]);
        assert_eq!((names(&found[0])[3].as_str(), nread), ("r1.r03", (VOLUMES * VOLUME) as u64));
    }
}

#[test]
fn renamed_volumes_are_read_twice_however_many_there_are() {
    let releases = Releases::new();
    // No name is like any of the torrents'.
    let folder = releases.write(|_, file| format!("{:?}", &sha1(&file.bytes)[..4]));
    let library = (RELEASES * VOLUMES * VOLUME) as u64;
    for torrents in [releases.torrents(false), releases.torrents(true)] {
        let (found, nread) = found_in(folder.path(), &torrents);
        assert!(found.iter().all(Findings::is_whole));
        assert!((library..=2 * library).contains(&nread), "{nread} of {library}");
        let (found, nread) = found_in(folder.path(), &torrents[..1]);
        assert!(found[0].is_whole() && nread <= library + 2 * library / RELEASES as u64, "{nread} of {library}");
    }
}

#[test]
fn small_files_in_one_piece_are_told_apart_from_memory() {
    let files: Vec<Content> = (0..6).map(|number| content(&format!("track {number}"), noise(700, number))).collect();
    let torrent = folder_torrent("album", &files, PIECE);
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize, name: &str| folder.path().join(format!("{name}{}", (number * 5 + 2) % 6));
    for (number, file) in files.iter().enumerate() {
        fs::write(path(number, "x"), &file.bytes).unwrap();
    }
    let (found, nread) = found_in(folder.path(), std::slice::from_ref(&torrent));
    let expected: Vec<String> =
        (0..6).map(|number| path(number, "x").file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names(&found[0]), expected);
    // The best names together, each file once, and the right combination.
    assert_eq!(nread, 3 * 6 * 700);
    // Names that differ in the extension alone fit at once.
    (0..6).for_each(|number| fs::rename(path(number, "x"), folder.path().join(format!("Track_{number}.bin"))).unwrap());
    let (found, nread) = found_in(folder.path(), &[torrent]);
    assert_eq!((found[0].is_whole(), nread), (true, 6 * 700));
}

#[test]
fn a_file_that_begins_right_is_not_taken_for_right() {
    let bytes = noise(5 * PIECE + 9, 1);
    let mut wrong = bytes.clone();
    *wrong.last_mut().unwrap() ^= 1;
    for make in [folder_torrent, v2_torrent] {
        let folder = tempfile::tempdir().unwrap();
        let torrent = make("album", &[content("a.bin", bytes.clone())], PIECE);
        fs::write(folder.path().join("a.bin"), &wrong).unwrap();
        let (found, _) = found_in(folder.path(), std::slice::from_ref(&torrent));
        assert_eq!(found[0].files, [Finding::Absent { candidates: 1 }]);
        fs::write(folder.path().join("b"), &wrong).unwrap();
        fs::write(folder.path().join("c"), &bytes).unwrap();
        let (found, _) = found_in(folder.path(), std::slice::from_ref(&torrent));
        assert_eq!(names(&found[0]), ["c"]);
    }
}

/// Several files of a torrent have one candidate between them, which is read for all of them together.
#[test]
fn one_candidate_of_many_files_is_not_read_for_each() {
    let files: Vec<Content> = (0..40).map(|number| content(&format!("{number}"), noise(VOLUME, number))).collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("only"), &files[17].bytes).unwrap();
    for make in [folder_torrent, v2_torrent] {
        let (found, nread) = found_in(folder.path(), &[make("album", &files, PIECE)]);
        let there = found[0].files.iter().filter(|one| !matches!(one, Finding::Absent { .. })).count();
        assert_eq!(there, 1);
        assert!(nread <= 3 * VOLUME as u64, "{nread}");
    }
}

/// Files that begin alike are told apart by one read, too.
#[test]
fn files_that_begin_alike_are_not_read_for_each() {
    const COUNT: u64 = 24;
    let start = noise(9 * PIECE, 1);
    let file = |number: u64| {
        let end = noise(2 * PIECE + 77, 2 + number);
        content(&format!("{number}"), [&start[..], &end].concat())
    };
    let all: Vec<Content> = (0..2 * COUNT).map(file).collect();
    let folder = tempfile::tempdir().unwrap();
    for file in &all {
        fs::write(folder.path().join(format!("{:?}", &sha1(&file.bytes)[..4])), &file.bytes).unwrap();
    }
    let library: u64 = all.iter().map(|file| file.bytes.len() as u64).sum();
    for make in [folder_torrent, v2_torrent] {
        let (found, nread) = found_in(folder.path(), &[make("album", &all[..COUNT as usize], PIECE)]);
        assert!(found[0].is_whole());
        assert!(nread <= 3 * library, "{nread} of {library}");
    }
}
