// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests the journal of a manifest: it finds what was added to it, wherever it was cut off. In any other bytes it keeps
//! the part that it understands, and understands that part again.

#![no_main]

mod numbers;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use hashloom::files::Stamp;
use hashloom::manifest::Journal;
use hashloom::{Algorithm, Hash, hash};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;

const ALGORITHMS: [&[Algorithm]; 3] =
    [&[Algorithm::Sha1], &[Algorithm::Sha256, Algorithm::Ripemd160], &[Algorithm::Sha512_256]];

fn open(path: &Path, algorithms: &[Algorithm]) -> Option<Journal> {
    Journal::open(path, algorithms).ok()
}

fn stamp(numbers: &mut Numbers<'_>, any: Stamp) -> Stamp {
    let mut stamp = any;
    let number = numbers.next() as i64;
    stamp.nbytes = if numbers.next() % 8 == 0 { u64::MAX >> (number % 3) } else { number as u64 };
    stamp.mtime_ns = [0, number, -number, i64::MIN, i64::MAX][numbers.next() % 5];
    stamp.ctime_ns = [0, number, -number, i64::MIN, i64::MAX][numbers.next() % 5];
    stamp.dev = numbers.next() as u64;
    stamp.ino = if numbers.next() % 8 == 0 { u64::MAX } else { 1 };
    stamp
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let algorithms = ALGORITHMS[numbers.next() % ALGORITHMS.len()];
    let any = Stamp::of(&folder.path().metadata().unwrap());

    // Of each line that was written, where it ends and what it says.
    let mut lines: Vec<(u64, (Vec<u8>, Stamp), Vec<Hash>)> = Vec::new();
    if numbers.next() % 4 == 0 {
        fs::write(&path, numbers.bytes(usize::MAX)).unwrap();
    } else {
        let mut journal = Journal::open(&path, algorithms).unwrap();
        for _ in 0..numbers.next() % 8 {
            let nbytes = numbers.next() % 12;
            let mut name = numbers.bytes(nbytes).to_vec();
            name.retain(|&byte| byte != 0);
            let stamp = stamp(&mut numbers, any);
            let seed = numbers.next() as u8;
            let digests: Vec<Hash> = algorithms.iter().map(|&algorithm| hash(algorithm, &[seed])).collect();
            if journal.add(&name, &stamp, &digests).is_ok() {
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
            newest.insert(key.clone(), digests.clone());
        }
        for (_, (name, stamp), _) in &lines {
            assert_eq!(journal.find(name, stamp), newest.get(&(name.clone(), *stamp)).cloned(), "{name:?}");
        }
        // Another stamp means another file.
        for (_, (name, stamp), _) in &lines {
            let mut other = *stamp;
            other.ctime_ns ^= 1;
            assert_eq!(journal.find(name, &other), newest.get(&(name.clone(), other)).cloned());
        }
    }
    // The journal understands again what it has understood, and loses nothing of it.
    let count = journal.len();
    let stamp = stamp(&mut numbers, any);
    let digests: Vec<Hash> = algorithms.iter().map(|&algorithm| hash(algorithm, b"new")).collect();
    journal.add(b"new", &stamp, &digests).unwrap();
    drop(journal);
    assert!(fs::read(&path).unwrap().starts_with(&kept));
    let mut journal = open(&path, algorithms).expect("a journal that was opened");
    assert_eq!(journal.len(), count + 1);
    assert_eq!(journal.find(b"new", &stamp), Some(digests));
});
