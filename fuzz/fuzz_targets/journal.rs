// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests the journal of a manifest: it finds what was added to it, wherever it was cut off. In any other bytes it keeps
//! the part that it understands, and understands that part again.

#![no_main]

mod numbers;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;

use hashloom::{Algorithm, Hash, hash};
use hashloom_engine::files::{Doubt, Noted, Stamp};
use hashloom_engine::manifest::Journal;
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;

const ALGORITHMS: [&[Algorithm]; 3] =
    [&[Algorithm::Sha1], &[Algorithm::Sha256, Algorithm::Ripemd160], &[Algorithm::Sha512_256]];

fn open(path: &Path, algorithms: &[Algorithm]) -> Option<Journal> {
    let file = File::options().read(true).write(true).open(path).unwrap();
    Journal::open(file, algorithms).ok()
}

fn stamp(numbers: &mut Numbers<'_>, any: Stamp) -> Stamp {
    let mut stamp = any;
    let number = numbers.next() as i128;
    stamp.nbytes = if numbers.next() % 8 == 0 { u64::MAX >> (number % 3) as u32 } else { number as u64 };
    stamp.mtime_ns = [0, number, -number, i64::MIN.into(), i128::from(i64::MAX) * 1_000_000_000][numbers.next() % 5];
    stamp.ctime_ns = [0, number, -number, i64::MIN.into(), i128::from(i64::MAX) * 1_000_000_000][numbers.next() % 5];
    stamp.dev = numbers.next() as u64;
    stamp.ino = if numbers.next() % 8 == 0 { u64::MAX } else { 1 };
    stamp
}

/// Whether two stamps are of one file, whatever the number of its device.
fn same(mut a: Stamp, b: Stamp) -> bool {
    a.dev = b.dev;
    a == b
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let algorithms = ALGORITHMS[numbers.next() % ALGORITHMS.len()];
    let any = Stamp::of(&folder.path().metadata().unwrap());
    let mut noted = Noted::of(folder.path()).unwrap();
    noted.doubt = None;

    // Each line that was written: its end, its contents.
    let mut lines: Vec<(u64, (Vec<u8>, Stamp), Vec<Hash>)> = Vec::new();
    if numbers.next() % 4 == 0 {
        fs::write(&path, numbers.bytes(usize::MAX)).unwrap();
    } else {
        let mut journal = Journal::create(File::create_new(&path).unwrap(), algorithms).unwrap();
        for _ in 0..numbers.next() % 8 {
            let nbytes = numbers.next() % 12;
            let mut name = numbers.bytes(nbytes).to_vec();
            name.retain(|&byte| byte != 0);
            let stamp = stamp(&mut numbers, any);
            let seed = numbers.next() as u8;
            let digests: Vec<Hash> = algorithms.iter().map(|&algorithm| hash(algorithm, &[seed])).collect();
            noted.stamp = stamp;
            if journal.add(&name, &noted, &digests).is_ok() {
                journal.flush().unwrap();
                lines.push((path.metadata().unwrap().len(), (name, stamp), digests));
            }
        }
    }
    let mut bytes = fs::read(&path).unwrap();
    let cut = numbers.next() % 3;
    if cut == 1 {
        bytes.truncate(numbers.long() % (bytes.len() + 1));
    }
    let is_edited = cut == 2 && numbers.edit(&mut bytes);
    fs::write(&path, &bytes).unwrap();

    let Some(mut journal) = open(&path, algorithms) else {
        assert_eq!(fs::read(&path).unwrap(), bytes, "a file that is not a journal stays as it is");
        return;
    };
    let kept = fs::read(&path).unwrap();
    if !lines.is_empty() && !is_edited {
        let whole = lines.iter().filter(|(end, ..)| *end <= bytes.len() as u64).count();
        assert_eq!(journal.len(), whole);
        let mut newest = HashMap::new();
        for (_, key, digests) in &lines[..whole] {
            newest.insert(&key.0, (key.1, digests));
        }
        // The newest line of a path counts, for a file with its stamp; the number of the device does not count.
        let mut check = |name: &Vec<u8>, stamp: Stamp| {
            let expected = newest
                .get(name)
                .map(|&(of, digests)| if same(of, stamp) { Ok(digests.clone()) } else { Err(Doubt::Changed) });
            assert_eq!(journal.find(name, &stamp), expected, "{name:?}");
        };
        for (_, (name, stamp), _) in &lines {
            check(name, *stamp);
            let mut other = *stamp;
            other.ctime_ns ^= 1;
            check(name, other);
        }
    }
    // The journal understands again what it has understood, and loses nothing of it.
    let count = journal.len();
    let stamp = stamp(&mut numbers, any);
    let digests: Vec<Hash> = algorithms.iter().map(|&algorithm| hash(algorithm, b"new")).collect();
    noted.stamp = stamp;
    journal.add(b"new", &noted, &digests).unwrap();
    drop(journal);
    assert!(fs::read(&path).unwrap().starts_with(&kept));
    let mut journal = open(&path, algorithms).expect("a journal that was opened");
    assert_eq!(journal.len(), count + 1);
    assert_eq!(journal.find(b"new", &stamp), Some(Ok(digests)));
});
