// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests checkpoints: a verdict comes out only if it went in, and never for a file that has changed since. An accepted
//! checkpoint is the same after writing and reading.

#![no_main]

#[path = "../../rust/hashloom-engine/tests/maker/mod.rs"]
mod maker;
mod numbers;

use std::fs::File;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use hashloom_engine::torrent::{Checkpoint, PieceState, Torrent};
use libfuzzer_sys::fuzz_target;
use maker::{Version, content, noise};
use numbers::Numbers;

const STATES: [PieceState; 5] =
    [PieceState::Have, PieceState::Bad, PieceState::Missing, PieceState::Unread, PieceState::Unchecked];

struct Example {
    folder: PathBuf,
    /// The names of the files, padding files included.
    names: Vec<String>,
    torrents: Vec<Torrent>,
}

/// Returns one folder of five files, with a torrent of each version, for all runs.
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

fuzz_target!(|input: &[u8]| {
    let example = example();
    let mut numbers = Numbers(input);
    let torrent = &example.torrents[numbers.next() % example.torrents.len()];
    let npieces = torrent.piece_count();

    if numbers.next() % 4 == 0 {
        let bytes = numbers.bytes(usize::MAX);
        match Checkpoint::decode(bytes) {
            Ok(checkpoint) => {
                let encoded = checkpoint.encode();
                assert_eq!(Checkpoint::decode(&encoded).unwrap().encode(), encoded);
                assert_eq!(checkpoint.begin(torrent, &example.folder).len(), npieces);
                Checkpoint::decode(&checkpoint.encode()).unwrap();
            }
            Err(error) => drop(error.to_string()),
        }
        return;
    }

    (0..example.names.len()).for_each(|file| age(example, file, 0));
    let checkpoint = Checkpoint::default();
    assert_eq!(checkpoint.begin(torrent, &example.folder), vec![PieceState::Unchecked; npieces]);
    let mut recorded = vec![PieceState::Unchecked; npieces];
    for _ in 0..numbers.next() % (2 * npieces) {
        let (piece, state) = (numbers.next() % (npieces + 1), STATES[numbers.next() % STATES.len()]);
        checkpoint.record(torrent, piece, state);
        if let Some(place) = recorded.get_mut(piece) {
            *place = state;
        }
    }
    let mut bytes = checkpoint.encode();
    if numbers.next() % 3 == 0 && numbers.edit(&mut bytes) {
        // A checkpoint has no signature: a changed byte may be another verdict, but nothing worse.
        if let Ok(checkpoint) = Checkpoint::decode(&bytes) {
            let states = checkpoint.begin(torrent, &example.folder);
            assert_eq!(states.len(), npieces);
            let encoded = checkpoint.encode();
            assert_eq!(Checkpoint::decode(&encoded).unwrap().encode(), encoded);
        }
        return;
    }
    let mut changed = Vec::new();
    for _ in 0..numbers.next() % 3 {
        let file = numbers.next() % example.names.len();
        age(example, file, 1 + numbers.next() as u64);
        changed.push(example.names[file].as_bytes());
    }
    let checkpoint = match numbers.next() % 2 {
        0 => Checkpoint::decode(&bytes).unwrap(),
        _ => checkpoint,
    };
    // Nothing is known of another folder, which does not exist.
    if numbers.next() % 8 == 0 {
        let states = checkpoint.begin(torrent, &example.folder.join("elsewhere"));
        assert_eq!(states, vec![PieceState::Unchecked; npieces]);
        return;
    }
    let states = checkpoint.begin(torrent, &example.folder);
    for (piece, (state, recorded)) in states.iter().zip(&recorded).enumerate() {
        assert!(state == recorded || *state == PieceState::Unchecked, "{piece}: {state:?}, recorded {recorded:?}");
    }
    let mut known = 0;
    for file in torrent.files() {
        if changed.contains(&file.path) {
            assert!(torrent.pieces_of_file(file.index).all(|piece| states[piece] == PieceState::Unchecked));
        } else {
            known += 1;
        }
    }
    if known == torrent.file_count() {
        // Nothing was changed: the same question gets the same answer.
        assert_eq!(checkpoint.begin(torrent, &example.folder), states);
    }
});
