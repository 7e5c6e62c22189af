// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests states: what comes out went in, up to the place where the file was cut off or changed, and a verdict on a
//! piece comes out only for the files that it was found for. In any other bytes a state keeps the part that it
//! understands, and understands that part again.

#![no_main]

#[path = "../../rust/hashloom-torrent/tests/maker/mod.rs"]
mod maker;
mod numbers;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use hashloom_clients::Checkpoint;
use hashloom_state::{State, Tie};
use hashloom_torrent::{PieceState, Torrent};
use libfuzzer_sys::fuzz_target;
use maker::{Version, content, noise};
use numbers::Numbers;

const STATES: [PieceState; 5] =
    [PieceState::Have, PieceState::Bad, PieceState::Missing, PieceState::Unread, PieceState::Unchecked];
const SECRETS: [Option<&[u8]>; 2] = [None, Some(b"secret")];

/// A folder of five files, with a torrent of each version, for all runs.
struct Example {
    folder: PathBuf,
    names: Vec<String>,
    torrents: Vec<Torrent>,
}

fn example() -> &'static Example {
    static EXAMPLE: OnceLock<Example> = OnceLock::new();
    EXAMPLE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let files = [
            content("a", noise(50_000, 1)),
            content("b/c", noise(40_000, 2)),
            content("d", noise(16_384, 3)),
            content("empty", ""),
            content("z", noise(70_000, 4)),
        ];
        maker::write_files(&folder.join("name"), &files);
        let torrents = [Version::V1, Version::V2].map(|version| {
            let (bytes, _) = maker::torrent(version, "name", &files, 16384);
            Torrent::parse(&bytes).unwrap()
        });
        Example { folder, names: files.map(|file| file.path).into(), torrents: torrents.into() }
    })
}

fn age(example: &Example, file: usize, seconds: u64) {
    let file = File::options().write(true).open(example.folder.join("name").join(&example.names[file])).unwrap();
    // A time long ago: changes of just now may not be trusted.
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds)).unwrap();
}

fn open(path: &Path, secret: Option<&[u8]>) -> Option<State> {
    let file = File::options().read(true).append(true).create(true).open(path).unwrap();
    State::open(file, Checkpoint::SUBJECT, secret).ok()
}

fn values(state: &mut State, key: &[u8]) -> Vec<(Tie, String)> {
    let mut values = Vec::new();
    state.all(key, |tie, value| values.push((tie, value.to_owned())));
    values
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let secret = SECRETS[numbers.next() % 2];
    match numbers.next() % 4 {
        0 => any_bytes(&path, secret, numbers.bytes(usize::MAX)),
        1 | 2 => entries(&path, secret, &mut numbers),
        _ => verdicts(&path, secret, &mut numbers),
    }
});

fn any_bytes(path: &Path, secret: Option<&[u8]>, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let Some(state) = open(path, secret) else {
        assert_eq!(fs::read(path).unwrap(), bytes, "a file that is no state stays as it is");
        return;
    };
    let known = state.len();
    drop(state);
    assert_eq!(open(path, secret).unwrap().len(), known);
}

/// Entries and cuts of any kind, against a list.
fn entries(path: &Path, secret: Option<&[u8]>, numbers: &mut Numbers<'_>) {
    // Each line: its end, its key, and what it says, or that nothing is known.
    let mut lines: Vec<(u64, u8, Option<(Tie, String)>)> = Vec::new();
    let mut state = open(path, secret).unwrap();
    for _ in 0..numbers.next() % 8 {
        let (key, version) = (numbers.next() as u8 % 4, numbers.next().to_string());
        let entry = (numbers.next() % 4 != 0).then(|| (Tie::of("here", &version), format!("v{}", numbers.next())));
        match &entry {
            Some((tie, value)) => state.add(&[key], tie, value).unwrap(),
            None => state.forget(&[key]).unwrap(),
        }
        state.flush().unwrap();
        lines.push((path.metadata().unwrap().len(), key, entry));
    }
    drop(state);
    let mut bytes = fs::read(path).unwrap();
    let cut = numbers.next() % 3;
    if cut == 1 {
        bytes.truncate(numbers.long() % (bytes.len() + 1));
    }
    let is_edited = cut == 2 && numbers.edit(&mut bytes);
    fs::write(path, &bytes).unwrap();
    let Some(mut state) = open(path, secret) else {
        assert!(is_edited);
        assert_eq!(fs::read(path).unwrap(), bytes);
        return;
    };
    let expected = |nwhole: usize, key: u8| {
        let mut values = Vec::new();
        for (_, of, entry) in lines[..nwhole].iter().filter(|(_, of, _)| *of == key) {
            match entry {
                Some(entry) => values.push(entry.clone()),
                None => values.clear(),
            }
            assert_eq!(*of, key);
        }
        values
    };
    let all: Vec<_> = (0..4).map(|key| values(&mut state, &[key])).collect();
    let is_prefix = |nwhole: usize| all.iter().zip(0..).all(|(found, key)| *found == expected(nwhole, key));
    let whole = lines.iter().filter(|(end, ..)| *end <= bytes.len() as u64).count();
    match is_edited {
        false => assert!(is_prefix(whole), "{all:?} {lines:?}"),
        true => assert!((0..=lines.len()).any(is_prefix), "{all:?} {lines:?}"),
    }
    let kept = fs::read(path).unwrap();
    state.add(b"new", &Tie::of("here", "new"), "new").unwrap();
    drop(state);
    assert!(fs::read(path).unwrap().starts_with(&kept));
    assert_eq!(values(&mut open(path, secret).unwrap(), b"new"), [(Tie::of("here", "new"), "new".to_owned())]);
}

fn verdicts(path: &Path, secret: Option<&[u8]>, numbers: &mut Numbers<'_>) {
    let example = example();
    let torrent = &example.torrents[numbers.next() % example.torrents.len()];
    let npieces = torrent.piece_count();
    let open = || Checkpoint::new(open(path, secret).unwrap());
    (0..example.names.len()).for_each(|file| age(example, file, 0));
    let checkpoint = open();
    assert_eq!(*checkpoint.begin(torrent, &example.folder), vec![PieceState::Unchecked; npieces]);
    let mut recorded = vec![PieceState::Unchecked; npieces];
    for _ in 0..numbers.next() % (2 * npieces) {
        let (piece, state) = (numbers.next() % (npieces + 1), STATES[numbers.next() % STATES.len()]);
        checkpoint.record(torrent, piece, state);
        if let Some(place) = recorded.get_mut(piece) {
            *place = state;
        }
    }
    checkpoint.close().unwrap();
    let mut changed = Vec::new();
    for _ in 0..numbers.next() % 3 {
        let file = numbers.next() % example.names.len();
        age(example, file, 1 + numbers.next() as u64);
        changed.push(example.names[file].as_bytes());
    }
    // Nothing is known of another folder, which does not exist.
    let elsewhere = open().begin(torrent, &example.folder.join("elsewhere"));
    assert_eq!(*elsewhere, vec![PieceState::Unchecked; npieces]);
    let states = open().begin(torrent, &example.folder);
    for (piece, (state, recorded)) in states.iter().zip(&recorded).enumerate() {
        assert!(state == recorded || *state == PieceState::Unchecked, "{piece}: {state:?}, recorded {recorded:?}");
    }
    for file in torrent.files().filter(|file| changed.contains(&file.path)) {
        assert!(torrent.pieces_of_file(file.index).all(|piece| states[piece] == PieceState::Unchecked));
    }
    assert_eq!(*open().begin(torrent, &example.folder), *states, "the same question gets the same answer");
}
