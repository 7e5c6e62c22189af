// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files of libtorrent and Transmission, and bitfields: what was written reads back the same. Any other accepted
//! file can be written again with other pieces; these read back, and its other keys stay.

#![no_main]

#[path = "../../rust/hashloom-torrent/tests/maker/mod.rs"]
mod maker;
mod numbers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use hashloom_clients::Content;
use hashloom_clients::resume::{Format, decode, encode, update};
use hashloom_torrent::bencode::{Limits, parse};
use hashloom_torrent::{Bitfield, Torrent};
use libfuzzer_sys::fuzz_target;
use maker::{Version, content, noise};
use numbers::Numbers;

const FORMATS: [Format; 3] = [Format::Bitfield, Format::Libtorrent, Format::Transmission];

/// Returns folders of complete content, with a torrent of each.
fn examples() -> &'static [(PathBuf, Torrent, Content)] {
    static EXAMPLES: OnceLock<Vec<(PathBuf, Torrent, Content)>> = OnceLock::new();
    EXAMPLES.get_or_init(|| {
        let example = |version: Version| {
            let folder = tempfile::tempdir().unwrap().keep();
            let files = [content("a", noise(50_000, 1)), content("b/c", noise(180_000, 2)), content("empty", "")];
            let (bytes, files) = maker::torrent(version, "name", &files, 16384);
            let kept: Vec<_> = files.into_iter().filter(|file| !file.padding).collect();
            maker::write_files(&folder.join("name"), &kept);
            let torrent = Torrent::parse(&bytes).unwrap();
            let content = Content::find(&torrent, &folder).unwrap();
            (folder, torrent, content)
        };
        [Version::V1, Version::V2, Version::Hybrid].map(example).into()
    })
}

/// Returns the pieces of `have` that are written. Transmission treats padding files, which are not on disk here, as
/// files.
fn written(have: &Bitfield, format: Format, torrent: &Torrent) -> Bitfield {
    let mut have = have.clone();
    if format == Format::Transmission {
        for file in torrent.files().filter(|file| file.attributes.padding) {
            torrent.pieces_of_file(file.index).for_each(|piece| have.set(piece, false));
        }
    }
    have
}

/// Returns the entries of the outermost dictionary; the first of equal keys counts.
fn entries(bytes: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let document = parse(bytes, &Limits::default()).unwrap();
    let mut all = BTreeMap::new();
    for entry in document.root().entries() {
        all.entry(entry.key.to_vec()).or_insert_with(|| entry.value.raw().to_vec());
    }
    all
}

/// Keys that tell about pieces or the place of the content.
const OURS: [&[u8]; 17] = [
    b"unfinished",
    b"save_path",
    b"mapped_files",
    b"qBt-savePath",
    b"qBt-downloadPath",
    b"info-hash",
    b"info-hash2",
    b"pieces",
    b"seed_mode",
    b"completed_time",
    b"qBt-seedStatus",
    b"destination",
    b"incomplete-dir",
    b"incomplete_dir",
    b"files",
    b"name",
    b"progress",
];

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let (_, torrent, content) = &examples()[numbers.next() % 3];
    let npieces = torrent.piece_count();
    let bits = |numbers: &mut Numbers<'_>| {
        let mut bitfield = Bitfield::none(npieces);
        let kind = numbers.next();
        for piece in 0..npieces {
            bitfield.set(
                piece,
                match kind % 4 {
                    0 => false,
                    1 => true,
                    _ => numbers.next() % 2 == 0,
                },
            );
        }
        bitfield
    };
    let (have, other) = (bits(&mut numbers), bits(&mut numbers));
    let format = FORMATS[numbers.next() % 3];
    let mut bytes = match numbers.next() % 4 {
        0 => numbers.bytes(usize::MAX).to_vec(),
        _ => match encode(format, torrent, &have, content) {
            Ok(bytes) => {
                let read = decode(&bytes, torrent).unwrap();
                assert_eq!((read.format, read.have), (format, written(&have, format, torrent)));
                bytes
            }
            // Transmission has no torrents of version 2 alone, and none with blocks of odd lengths.
            Err(error) => return drop(error.to_string()),
        },
    };
    numbers.edit(&mut bytes);
    let read = match decode(&bytes, torrent) {
        Ok(read) => read,
        Err(error) => return drop(error.to_string()),
    };
    assert_eq!(read.have.len(), npieces);
    assert_eq!(read.have.count(), read.have.ones().count());
    match update(&bytes, read.format, torrent, &other, content) {
        Ok(updated) => {
            let again = decode(&updated, torrent).unwrap();
            assert_eq!((again.format, again.have), (read.format, written(&other, read.format, torrent)));
            assert_eq!(update(&updated, read.format, torrent, &other, content).unwrap(), updated);
            if read.format != Format::Bitfield {
                let after = entries(&updated);
                let others = entries(&bytes).into_iter().filter(|(key, _)| !OURS.contains(&&key[..]));
                for (key, value) in others {
                    assert_eq!(after.get(&key), Some(&value), "{}", key.escape_ascii());
                }
            }
        }
        Err(error) => drop(error.to_string()),
    }
    for format in FORMATS.into_iter().filter(|format| *format != read.format) {
        assert!(update(&bytes, format, torrent, &other, content).is_err());
    }
});
