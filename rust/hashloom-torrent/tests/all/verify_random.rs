// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees of files and random damage: exactly the damaged pieces are reported, with the right verdict.
//!
//! The torrents are made with RustCrypto's SHA-1 and SHA-256 and a plain hash tree. The oracle hashes nothing: it knows
//! each file's original content, looks at the present content, and compares byte by byte.

#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::maker::{Content, Version, content, noise};
use hashloom_files::run::{Cancel, Options};
use hashloom_torrent::{Bitfield, Check, FileState, PieceState, Report, Torrent, verify, verify_many, verify_pieces};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Debug, Clone)]
enum Damage {
    Flip(Index),
    Truncate(Index),
    Extend(u16),
    Remove,
    /// Empties the file and restores its length: the whole file is a hole.
    Hollow,
    /// Zeros a stretch.
    Zero(Index, u32),
    /// Zeros a stretch that then has no data on disk.
    Punch(Index, u32),
    Folder,
    Fifo,
    /// Replaces the file by a link to it under another name.
    LinkInside,
    /// Replaces the file by a link to it outside of the folder.
    LinkOutside,
    Dangling,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => any::<Index>().prop_map(Damage::Flip),
        1 => any::<Index>().prop_map(Damage::Truncate),
        1 => any::<u16>().prop_map(Damage::Extend),
        1 => Just(Damage::Remove),
        1 => Just(Damage::Hollow),
        1 => (any::<Index>(), 0..200_000u32).prop_map(|(at, nbytes)| Damage::Zero(at, nbytes)),
        1 => (any::<Index>(), 0..200_000u32).prop_map(|(at, nbytes)| Damage::Punch(at, nbytes)),
        1 => prop_oneof![
            Just(Damage::Folder),
            Just(Damage::Fifo),
            Just(Damage::LinkInside),
            Just(Damage::LinkOutside),
            Just(Damage::Dangling),
        ],
    ]
}

/// Lengths that are likely to meet block, chunk and piece boundaries, and zero.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => 0..200usize,
        2 => 0..5000usize,
        1 => 0..200_000usize,
        2 => (0..14usize, 0..3usize).prop_map(|(n, off)| (n * 16384 + off).saturating_sub(1)),
    ]
}

fn files() -> impl Strategy<Value = Vec<Content>> {
    let file = (length(), prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2)], any::<u64>());
    prop::collection::vec(file, 1..12).prop_map(|files| {
        let make = |(i, (nbytes, kind, seed)): (usize, (usize, u8, u64))| match kind {
            0 => content(&format!("{}/{i}", i % 3), noise(nbytes, seed)),
            // Zeros that are written to disk, and padding, which is not.
            1 => content(&format!("zeros {i}"), vec![0; nbytes]),
            _ => Content { path: format!(".pad/{i}"), ..crate::maker::padding(nbytes) },
        };
        files.into_iter().enumerate().map(make).collect()
    })
}

/// A torrent to be made, and the damage to its files.
#[derive(Debug, Clone)]
struct Case {
    version: Version,
    files: Vec<Content>,
    /// Length of a piece in v1; other versions have 16 KiB times a power of two.
    piece_nbytes: usize,
    blocks_log2: u32,
    single: bool,
    damages: Vec<(Index, Damage)>,
}

fn case() -> impl Strategy<Value = Case> {
    let version = prop_oneof![Just(Version::V1), Just(Version::V2), Just(Version::Hybrid)];
    let piece_nbytes =
        prop_oneof![Just(1usize), Just(20), Just(64), Just(1000), Just(16384), Just(65536), 1..300_000usize];
    let damages = prop::collection::vec((any::<Index>(), damage()), 0..5);
    (version, files(), piece_nbytes, 0..5u32, prop::bool::weighted(0.2), damages).prop_map(
        |(version, files, piece_nbytes, blocks_log2, single, damages)| Case {
            version,
            files,
            piece_nbytes,
            blocks_log2,
            single,
            damages,
        },
    )
}

/// A case on disk.
struct Made {
    torrent: Torrent,
    version: Version,
    /// The files in the torrent's order.
    files: Vec<Content>,
    piece_nbytes: usize,
    /// The folder that files' paths are relative to.
    folder: PathBuf,
}

impl Case {
    fn make(&self, outer: &Path, name: &str) -> Made {
        let mut files = self.files.clone();
        if self.version != Version::V1 {
            files.retain(|file| !file.padding);
        }
        if files.is_empty() {
            files.push(content("only", ""));
        }
        let folder = if self.single {
            files.truncate(1);
            files[0] = content(name, &files[0].bytes[..]);
            outer.to_owned()
        } else {
            outer.join(name)
        };
        fs::create_dir_all(&folder).unwrap();
        crate::maker::write_files(&folder, &files);
        let total: usize = files.iter().map(|file| file.bytes.len()).sum();
        let piece_nbytes = match self.version {
            // A million pieces of one byte would take the oracle too long.
            Version::V1 => self.piece_nbytes.max(total / 3000 + 1),
            _ => 16384 << self.blocks_log2,
        };
        let (bytes, files) = crate::maker::torrent(self.version, name, &files, piece_nbytes);
        let torrent = Torrent::parse(&bytes).unwrap();
        Made { torrent, version: self.version, files, piece_nbytes, folder }
    }

    fn damage(&self, made: &Made, outside: &Path) {
        for (number, (at, damage)) in self.damages.iter().enumerate() {
            let file = &made.files[at.index(made.files.len())];
            if !file.padding {
                apply(&made.folder.join(&file.path), damage, outside, number);
            }
        }
    }
}

fn apply(path: &Path, damage: &Damage, outside: &Path, number: usize) {
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return;
    }
    let mut bytes = fs::read(path).unwrap();
    match damage {
        Damage::Flip(at) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] ^= 0x40;
        }
        Damage::Truncate(at) => bytes.truncate(at.index(bytes.len() + 1)),
        Damage::Extend(nbytes) => bytes.resize(bytes.len() + usize::from(*nbytes), 0xee),
        Damage::Zero(at, nbytes) if !bytes.is_empty() => {
            let start = at.index(bytes.len());
            let end = bytes.len().min(start + *nbytes as usize);
            bytes[start..end].fill(0);
        }
        Damage::Punch(at, nbytes) if !bytes.is_empty() && *nbytes > 0 => {
            return punch(path, at.index(bytes.len()) as u64, (*nbytes).into());
        }
        Damage::Remove => return fs::remove_file(path).unwrap(),
        Damage::Hollow => {
            let nbytes = bytes.len() as u64;
            return fs::File::create(path).unwrap().set_len(nbytes).unwrap();
        }
        Damage::Folder => {
            fs::remove_file(path).unwrap();
            return fs::create_dir(path).unwrap();
        }
        #[cfg(unix)]
        Damage::Fifo => {
            fs::remove_file(path).unwrap();
            return assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        #[cfg(unix)]
        Damage::LinkInside => {
            let name = format!("moved {number}");
            fs::rename(path, path.with_file_name(&name)).unwrap();
            return std::os::unix::fs::symlink(name, path).unwrap();
        }
        #[cfg(unix)]
        Damage::LinkOutside => {
            let target = outside.join(format!("moved {number}"));
            fs::copy(path, &target).unwrap();
            fs::remove_file(path).unwrap();
            return std::os::unix::fs::symlink(target, path).unwrap();
        }
        #[cfg(unix)]
        Damage::Dangling => {
            fs::remove_file(path).unwrap();
            return std::os::unix::fs::symlink("nothing", path).unwrap();
        }
        _ => return,
    }
    fs::write(path, bytes).unwrap();
}

#[cfg(target_os = "linux")]
fn punch(path: &Path, start: u64, nbytes: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    // If the file system cannot punch holes, nothing is damaged, which the oracle sees.
    let _ = fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, start, nbytes);
}

#[cfg(not(target_os = "linux"))]
fn punch(_path: &Path, _start: u64, _nbytes: u64) {}

/// The thing at a path.
enum Found {
    Missing,
    /// The file is there but must not or cannot be read.
    Unread,
    Bytes(Vec<u8>),
}

fn found(path: &Path, outer: &Path) -> Found {
    let Ok(real) = path.canonicalize() else { return Found::Missing };
    if real.starts_with(outer) && real.is_file() { Found::Bytes(fs::read(real).unwrap()) } else { Found::Unread }
}

/// The verdicts on pieces and files.
struct Expected {
    pieces: Vec<PieceState>,
    files: Vec<(FileState, Option<u64>)>,
    /// Files that are there but cannot be read.
    unread: Vec<usize>,
    /// For each file the verdict on each byte; `None` for a right byte.
    wrong: Vec<Vec<Option<PieceState>>>,
}

fn oracle(made: &Made, outer: &Path) -> Expected {
    let found: Vec<Option<Found>> =
        made.files.iter().map(|file| (!file.padding).then(|| found(&made.folder.join(&file.path), outer))).collect();
    let mut wrong: Vec<Vec<_>> =
        made.files.iter().map(|file| vec![None; if file.padding { 0 } else { file.bytes.len() }]).collect();
    let mut pieces = Vec::new();
    let mut of_file = vec![Vec::new(); made.files.len()];
    for parts in crate::maker::parts(made.version, &made.files, made.piece_nbytes) {
        let mut state = PieceState::Have;
        for (file, bytes) in &parts {
            match &found[*file] {
                None => {}
                Some(Found::Missing) => state = PieceState::Missing,
                Some(Found::Unread) => state = PieceState::Unread,
                Some(Found::Bytes(found)) if found.len() < bytes.end => state = PieceState::Missing,
                Some(Found::Bytes(found)) if found[bytes.clone()] != made.files[*file].bytes[bytes.clone()] => {
                    state = PieceState::Bad;
                }
                Some(Found::Bytes(_)) => {}
            }
            // The first missing or unreadable byte decides; a wrong byte shows only after the whole piece is read.
            if matches!(state, PieceState::Missing | PieceState::Unread) {
                break;
            }
        }
        for (file, bytes) in parts {
            of_file[file].push(state);
            if state != PieceState::Have && !made.files[file].padding {
                wrong[file][bytes].fill(Some(state));
            }
        }
        pieces.push(state);
    }
    let of = |index: usize| match &found[index] {
        None => (FileState::Skipped, None),
        Some(Found::Missing) if made.files[index].bytes.is_empty() => (FileState::NotMade, None),
        Some(Found::Missing) => (FileState::Missing, None),
        Some(Found::Unread) => (FileState::Failed, None),
        Some(Found::Bytes(bytes)) => {
            let state = match of_file[index].iter().all(|&piece| piece == PieceState::Have) {
                _ if bytes.len() < made.files[index].bytes.len() => FileState::Short,
                true if bytes.len() > made.files[index].bytes.len() => FileState::Long,
                true => FileState::Complete,
                false => FileState::Incomplete,
            };
            (state, Some(bytes.len() as u64))
        }
    };
    let files = (0..made.files.len()).map(of).collect();
    let unread = (0..made.files.len()).filter(|&index| matches!(found[index], Some(Found::Unread))).collect();
    Expected { pieces, files, unread, wrong }
}

/// Compares the whole report.
fn compare(made: &Made, report: &Report, expected: &Expected) -> Result<(), TestCaseError> {
    prop_assert_eq!(&report.pieces, &expected.pieces);
    let files: Vec<_> = report.files.iter().map(|file| (file.state, file.found_nbytes)).collect();
    prop_assert_eq!(&files, &expected.files);
    let unread: Vec<_> = report.troubles.iter().map(|trouble| trouble.file).collect();
    prop_assert_eq!(&unread, &expected.unread);
    prop_assert!(!report.cancelled);
    let count = |of: &[FileState]| expected.files.iter().filter(|(state, _)| of.contains(state)).count();
    let (there, not_made) = (count(&[FileState::Complete, FileState::Long]), count(&[FileState::NotMade]));
    // Empty files may be missing, but not all there is.
    let is_complete = expected.pieces.iter().all(|&piece| piece == PieceState::Have)
        && there + not_made + count(&[FileState::Skipped]) == expected.files.len()
        && (there > 0 || not_made == 0);
    prop_assert_eq!(report.is_complete(), is_complete);
    let is_long = expected.files.iter().any(|(state, _)| *state == FileState::Long);
    prop_assert_eq!(report.is_exact(), is_complete && !is_long && not_made == 0);
    let mut wrong: Vec<Vec<_>> = expected.wrong.iter().map(|bytes| vec![None; bytes.len()]).collect();
    let mut last = (0, 0);
    for (file, bytes, state) in report.wrong_bytes(&made.torrent) {
        let bytes = bytes.start as usize..bytes.end as usize;
        prop_assert!(bytes.start < bytes.end && last <= (file, bytes.start), "in order, each byte once");
        last = (file, bytes.end);
        wrong[file][bytes].fill(Some(state));
    }
    prop_assert!(wrong == expected.wrong, "wrong bytes");
    let total: usize = made.files.iter().map(|file| file.bytes.len()).sum();
    prop_assert!(report.nbytes_read <= total as u64);
    Ok(())
}

/// A folder for contents, and one that links out of it lead to.
struct Folders {
    _inside: tempfile::TempDir,
    root: PathBuf,
    outside: tempfile::TempDir,
}

impl Folders {
    fn new() -> Folders {
        let inside = tempfile::tempdir().unwrap();
        Folders { root: inside.path().canonicalize().unwrap(), _inside: inside, outside: tempfile::tempdir().unwrap() }
    }

    fn damaged(&self, cases: &[Case]) -> Vec<Made> {
        let make = |(i, case): (usize, &Case)| {
            let made = case.make(&self.root, &format!("name {i}"));
            let outside = self.outside.path().join(i.to_string());
            fs::create_dir(&outside).unwrap();
            case.damage(&made, &outside);
            made
        };
        cases.iter().enumerate().map(make).collect()
    }
}

/// The pieces that are `true`.
fn bitfield(pieces: &[bool]) -> Bitfield {
    let mut bitfield = Bitfield::none(pieces.len());
    pieces.iter().enumerate().for_each(|(piece, &is_asked)| bitfield.set(piece, is_asked));
    bitfield
}

/// A tenth of the cases on Windows, whose stand-in Wine takes ten times as long.
fn cases(count: u32) -> u32 {
    if cfg!(windows) { count / 10 } else { count }
}

fn threads(count: usize) -> Options {
    Options::new().threads(count)
}

fn nthreads() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1usize), Just(2), Just(5)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn exactly_the_damaged_pieces_are_reported(
        case in case(),
        nthreads in nthreads(),
        inner in any::<bool>(),
    ) {
        let folders = Folders::new();
        let root = &*folders.root;
        let made = &case.make(root, "name");
        let options = threads(nthreads);
        prop_assert!(verify(&made.torrent, root, &options).unwrap().is_complete());
        case.damage(made, folders.outside.path());
        let expected = oracle(made, root);
        let path = if inner { &*made.folder } else { root };
        compare(made, &verify(&made.torrent, path, &options).unwrap(), &expected)?;
    }

    #[test]
    fn only_what_is_wanted_and_not_known_is_checked(
        case in case(),
        nthreads in nthreads(),
        scope in prop::collection::vec(any::<bool>(), 0..300),
        known in prop::collection::vec(0..5u8, 0..300),
    ) {
        let folders = Folders::new();
        let root = &*folders.root;
        let [made] = &folders.damaged(std::slice::from_ref(&case))[..] else { unreachable!() };
        let states =
            [PieceState::Unchecked, PieceState::Have, PieceState::Missing, PieceState::Bad, PieceState::Unread];
        let known: Vec<_> = known.into_iter().map(|state| states[usize::from(state)]).collect();
        let checked = Mutex::new(BTreeMap::new());
        let note = |_: &Torrent, piece: usize, state: PieceState| {
            let before = checked.lock().unwrap().insert(piece, state);
            assert_eq!(before, None);
        };
        let mut reports = Vec::new();
        let check = Check::new(&made.torrent, root).pieces(bitfield(&scope)).known(&known[..]);
        verify_pieces([check], &threads(nthreads), note, |_, report| reports.push(report.unwrap()));
        prop_assert_eq!(reports.len(), 1);
        let checked = checked.into_inner().unwrap();
        for (piece, &verdict) in oracle(made, root).pieces.iter().enumerate() {
            let is_asked = scope.get(piece) == Some(&true);
            let known = known.get(piece).copied().filter(|_| is_asked).unwrap_or(PieceState::Unchecked);
            let is_checked = is_asked && known == PieceState::Unchecked;
            prop_assert_eq!(reports[0].scope.get(piece), is_asked, "piece {}", piece);
            prop_assert_eq!(reports[0].pieces[piece], if is_checked { verdict } else { known }, "piece {}", piece);
            prop_assert_eq!(checked.get(&piece).copied(), is_checked.then_some(verdict), "piece {}", piece);
        }
        prop_assert!(!reports[0].cancelled);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    /// Parts have the verdicts of their pieces, and speak of no others; joined, with all known, they make the whole
    /// report.
    #[test]
    fn parts_make_the_whole(case in case(), nthreads in nthreads(), per_part in 1..9usize) {
        let folders = Folders::new();
        let root = &*folders.root;
        let [made] = &folders.damaged(std::slice::from_ref(&case))[..] else { unreachable!() };
        let (options, count) = (threads(nthreads), made.torrent.piece_count());
        let whole = oracle(made, root);
        let mut joined = Vec::new();
        while joined.len() < count {
            let part = joined.len()..(joined.len() + per_part).min(count);
            let mut found = None;
            let of_part = |piece| part.contains(&piece);
            let check = Check::new(&made.torrent, root).pieces(bitfield(&(0..count).map(of_part).collect::<Vec<_>>()));
            verify_many([check], &options, |_, report| found = Some(report));
            let report = found.unwrap().unwrap();
            prop_assert_eq!(report.is_of_all(), part.len() == count);
            let is_right = whole.pieces[part.clone()].iter().all(|&state| state == PieceState::Have);
            // The whole torrent may lack a file that has no piece.
            prop_assert!(report.is_complete() == is_right || is_right && report.is_of_all());
            for (file, (found, &expected)) in report.files.iter().zip(&whole.files).enumerate() {
                let pieces = made.torrent.pieces_of_file(file);
                let is_in_part = pieces.start >= part.start && pieces.end <= part.end && !pieces.is_empty();
                if is_in_part || report.is_of_all() {
                    prop_assert_eq!((found.state, found.found_nbytes), expected, "file {}", file);
                } else if !pieces.clone().any(of_part) {
                    let state = if made.files[file].padding { FileState::Skipped } else { FileState::Unchecked };
                    prop_assert_eq!((found.state, found.found_nbytes), (state, None), "file {}", file);
                } else {
                    prop_assert!(!matches!(found.state, FileState::Complete | FileState::Long), "file {}", file);
                }
            }
            for (piece, &state) in report.pieces.iter().enumerate() {
                let expected = if part.contains(&piece) { whole.pieces[piece] } else { PieceState::Unchecked };
                prop_assert_eq!(state, expected, "piece {}", piece);
            }
            joined.extend_from_slice(&report.pieces[part]);
        }
        let mut found = None;
        verify_many([Check::new(&made.torrent, root).known(&joined[..])], &options, |_, report| found = Some(report));
        compare(made, &found.unwrap().unwrap(), &whole)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(150)))]

    #[test]
    fn several_at_once_are_as_one_by_one(
        cases in prop::collection::vec(case(), 1..6),
        nthreads in nthreads(),
    ) {
        let folders = Folders::new();
        let root = &*folders.root;
        let all = folders.damaged(&cases);
        let mut reports = BTreeMap::new();
        let checks = all.iter().map(|made| Check::new(&made.torrent, root));
        verify_many(checks, &threads(nthreads), |check, report| {
            let before = reports.insert(check.torrent.name().to_owned(), report.unwrap());
            assert!(before.is_none());
        });
        prop_assert_eq!(reports.len(), all.len());
        for made in &all {
            compare(made, &reports[made.torrent.name()], &oracle(made, root))?;
        }
    }

    #[test]
    fn what_is_begun_is_reported_once_however_early_the_run_is_cancelled(
        cases in prop::collection::vec(case(), 1..6),
        nthreads in nthreads(),
        most in 0..40usize,
        repeats in 1..4usize,
    ) {
        let folders = Folders::new();
        let root = &*folders.root;
        let all = folders.damaged(&cases);
        let cancel = Cancel::new();
        if most == 0 {
            cancel.cancel();
        }
        let left = AtomicUsize::new(most);
        let stop = |_: &Torrent, _, _| {
            if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) == Ok(1) {
                cancel.cancel();
            }
        };
        let begun = AtomicUsize::new(0);
        // Each torrent is checked several times, each time as a check of its own.
        let checks = all.iter().flat_map(|made| std::iter::repeat_n(made, repeats)).map(|made| {
            begun.fetch_add(1, Ordering::Relaxed);
            Check::new(&made.torrent, root)
        });
        let mut reports = Vec::new();
        let options = threads(nthreads).cancel(&cancel);
        verify_pieces(checks, &options, stop, |check, report| {
            reports.push((check.torrent.name().to_owned(), report.unwrap()));
        });
        prop_assert_eq!(reports.len(), begun.into_inner());
        for (name, report) in reports {
            let made = all.iter().find(|made| made.torrent.name() == name).unwrap();
            let expected = oracle(made, root);
            if !report.cancelled {
                compare(made, &report, &expected)?;
            }
            for (&found, &expected) in report.pieces.iter().zip(&expected.pieces) {
                prop_assert!(found == expected || report.cancelled && found == PieceState::Unchecked);
            }
        }
    }
}
