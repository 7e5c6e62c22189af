// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files as messages: all lengths around the engine's chunk size, faults, changes, order, cancellation.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::heard::heard;
use hashloom::Algorithm::{self, Blake3, Ripemd160, Sha1, Sha256, Sha512};
use hashloom::{Hash, Hasher, HmacKey, hash, hmac};
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_files::{Event, FileError, Hashed, Method, Request, Source, Stamp, Step, hash_files, hash_steps};

const CHUNK: usize = 32 << 10;

/// Bytes that differ from file to file and from block to block.
fn bytes(nbytes: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 + 1;
    let step = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 56) as u8
    };
    (0..nbytes).map(|_| step(&mut state)).collect()
}

fn methods(algorithms: &[Algorithm]) -> Arc<[Method]> {
    algorithms.iter().copied().map(Method::from).collect()
}

/// Hashes the files and asserts that every request comes back once, in order.
fn run(
    paths: &[PathBuf],
    methods: &Arc<[Method]>,
    options: &Options,
) -> (Vec<Result<Hashed, FileError>>, hashloom_files::Summary) {
    let mut results = Vec::new();
    let requests =
        paths.iter().enumerate().map(|(tag, path)| Request { source: path.into(), methods: methods.clone(), tag });
    let summary = hash_files(requests, options, |request, result| {
        assert_eq!(request.tag, results.len(), "in order");
        results.push(result);
    });
    (results, summary)
}

#[test]
fn every_length_around_chunks_and_windows() {
    let folder = tempfile::tempdir().unwrap();
    let mib = 1 << 20;
    let mut lengths = vec![0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 16 << 10];
    for around in [CHUNK, 2 * CHUNK, 3 * CHUNK, mib, mib + CHUNK, 3 * mib] {
        lengths.extend([around - 1, around, around + 1]);
    }
    // The files fill more than one batch and more than one round, and their lengths are not sorted.
    lengths.extend((0..90).map(|i| (i * 7919) % (2 * CHUNK)));
    let contents: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(i, &nbytes)| bytes(nbytes, i)).collect();
    let paths: Vec<PathBuf> = (0..contents.len()).map(|i| folder.path().join(format!("file {i}"))).collect();
    paths.iter().zip(&contents).for_each(|(path, content)| fs::write(path, content).unwrap());
    let algorithms = [Sha1, Sha256, Sha512, Ripemd160];
    let expected: Vec<Vec<_>> =
        contents.iter().map(|content| algorithms.iter().map(|&algorithm| hash(algorithm, content)).collect()).collect();
    for nthreads in [1, 2, 5] {
        for several in [false, true] {
            let methods = methods(if several { &algorithms } else { &algorithms[..1] });
            let options = Options::new().threads(nthreads);
            let (results, summary) = run(&paths, &methods, &options);
            for (((result, expected), content), path) in results.iter().zip(&expected).zip(&contents).zip(&paths) {
                let hashed = result.as_ref().unwrap();
                let what = format!("{} bytes, {options:?}", content.len());
                assert_eq!(hashed.digests, expected[..methods.len()], "{what}");
                assert_eq!(hashed.nbytes, content.len() as u64, "{what}");
                assert_eq!(hashed.stamp, Stamp::at(path).unwrap(), "{what}");
            }
            assert_eq!((summary.nfiles, summary.nfailed), (paths.len() as u64, 0));
            assert_eq!(summary.nbytes, lengths.iter().sum::<usize>() as u64);
            assert!(!summary.cancelled);
        }
    }
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Faulty files come before and after the first batch, as files of later batches are opened in another way.
    let mut paths = Vec::new();
    for round in 0..3 {
        for i in 0..10 {
            let good = path(&format!("good {round} {i}"));
            fs::write(&good, bytes(1000 * i, i)).unwrap();
            paths.push(good);
        }
        paths.extend([path("missing"), folder.path().to_owned(), PathBuf::from("zero\0byte")]);
        paths.push(path("good 0 3/beneath a file"));
    }
    for nthreads in [1, 3] {
        let (results, summary) = run(&paths, &methods(&[Sha256]), &Options::new().threads(nthreads));
        for (path, result) in paths.iter().zip(&results) {
            let name = path.file_name().unwrap().to_string_lossy();
            match result {
                Ok(hashed) => assert_eq!(hashed.digests[0], hash(Sha256, &fs::read(path).unwrap())),
                Err(error) => {
                    assert!(!name.starts_with("good"), "{name}: {error}");
                    // Windows says of a folder that access is denied.
                    if cfg!(windows) && path.is_dir() {
                        assert_eq!(error.io().kind(), std::io::ErrorKind::IsADirectory)
                    } else {
                        assert_eq!(error.io().raw_os_error(), fs::read(path).unwrap_err().raw_os_error(), "{name}");
                    }
                }
            }
        }
        assert_eq!((summary.nfiles, summary.nfailed), (30, 12));
        assert!(!summary.cancelled);
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for i in 0..40 {
        let path = folder.path().join(format!("{i}"));
        if i % 10 == 3 {
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        } else {
            fs::write(&path, bytes(i * 100, i)).unwrap();
        }
        paths.push(path);
    }
    // One message fits into a chunk, three do not; each comes in parts.
    let lengths = [CHUNK - 7, CHUNK, 3 * CHUNK + 5, 500_000];
    let pipes: Vec<PathBuf> = paths.iter().skip(3).step_by(10).cloned().collect();
    for nthreads in [1, 2] {
        std::thread::scope(|scope| {
            for (i, pipe) in pipes.iter().enumerate() {
                scope.spawn(move || {
                    let mut pipe = OpenOptions::new().write(true).open(pipe).unwrap();
                    for part in bytes(lengths[i], 100 + i).chunks(1234) {
                        pipe.write_all(part).unwrap();
                    }
                });
            }
            let (results, _) = run(&paths, &methods(&[Sha256, Sha1]), &Options::new().threads(nthreads));
            for (i, result) in results.iter().enumerate() {
                let content = match i % 10 {
                    3 => bytes(lengths[i / 10], 100 + i / 10),
                    _ => bytes(i * 100, i),
                };
                let hashed = result.as_ref().unwrap();
                assert_eq!(hashed.digests, [hash(Sha256, &content), hash(Sha1, &content)], "{i}, {nthreads} threads");
            }
        });
    }
}

/// A writer that opens its pipes one after the other waits for each to be read before it opens the next.
#[cfg(unix)]
#[test]
fn pipes_of_one_writer_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let pipes = ["one", "two", "three"].map(path);
    for pipe in &pipes {
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let files: Vec<PathBuf> = (0..40).map(|i| path(&format!("{i}"))).collect();
    files.iter().enumerate().for_each(|(i, file)| fs::write(file, bytes(i * 1000, i)).unwrap());
    // The pipes come first, or among many files, which are opened by a ring if the system has one.
    for nbefore in [0, 19, 30] {
        for nthreads in [1, 2] {
            let mut paths = files.clone();
            paths.splice(nbefore..nbefore, pipes.clone());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for (i, pipe) in pipes.iter().enumerate() {
                        fs::write(pipe, bytes(1_000_000, 100 + i)).unwrap();
                    }
                });
                let (results, _) = run(&paths, &methods(&[Sha256]), &Options::new().threads(nthreads));
                for (i, result) in results.iter().enumerate() {
                    let content = match i {
                        _ if (nbefore..nbefore + 3).contains(&i) => bytes(1_000_000, 100 + i - nbefore),
                        _ if i < nbefore => bytes(i * 1000, i),
                        _ => bytes((i - 3) * 1000, i - 3),
                    };
                    assert_eq!(result.as_ref().unwrap().digests[0], hash(Sha256, &content), "{i} of {nbefore}");
                }
            });
        }
    }
}

/// Side by side, all files would be drawn before the first ends.
#[test]
fn under_a_limit_the_first_file_is_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..12).map(|i| folder.path().join(format!("{i}"))).collect();
    paths.iter().for_each(|path| fs::write(path, bytes(4 * CHUNK, 1)).unwrap());
    for nthreads in [1, 4] {
        let ndrawn = AtomicUsize::new(0);
        let requests = paths.iter().map(|path| Request::digest(path, Sha256)).inspect(|_| {
            ndrawn.fetch_add(1, Ordering::Relaxed);
        });
        let mut first = None;
        let options = Options::new().threads(nthreads).rate(8 << 20);
        let summary = hash_files(requests, &options, |_, _| _ = first.get_or_insert(ndrawn.load(Ordering::Relaxed)));
        assert_eq!(summary.nfiles, 12);
        assert!(first < Some(12), "{nthreads} threads: {first:?}");
    }
}

#[test]
fn macs_are_those_of_the_whole_messages() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..60).map(|i| folder.path().join(format!("{i}"))).collect();
    for (i, path) in paths.iter().enumerate() {
        fs::write(path, bytes(i * i * 37, i)).unwrap();
    }
    let keys = [HmacKey::new(Sha256, b"key"), HmacKey::new(Sha1, &[7; 100]), HmacKey::new(Sha256, b"other")];
    let mut all: Vec<Method> = keys.iter().cloned().map(Method::from).collect();
    all.push(Method::from(Sha256));
    let (results, _) = run(&paths, &all.into(), &Options::new().threads(2));
    for (i, result) in results.iter().enumerate() {
        let content = bytes(i * i * 37, i);
        let mut expected: Vec<_> = keys.iter().map(|key| hmac(key, &content)).collect();
        expected.push(hash(Sha256, &content));
        assert_eq!(result.as_ref().unwrap().digests, expected, "{i}");
    }
}

#[test]
fn a_long_file_before_many_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long");
    fs::write(&long, bytes(5 << 20, 1)).unwrap();
    let short = folder.path().join("short");
    fs::write(&short, "short").unwrap();
    // The other files wait for the first, and in the end for the last.
    let mut paths = vec![long.clone()];
    paths.extend(std::iter::repeat_n(short, 3000));
    paths.push(long);
    let (results, summary) = run(&paths, &methods(&[Sha1]), &Options::new().threads(3));
    let expected = hash(Sha1, &bytes(5 << 20, 1));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!([&results[0], &results[3001]].map(|result| result.as_ref().unwrap().digests[0]), [expected; 2]);
    assert_eq!(summary.nfiles, 3002);
}

/// Files whose subtrees several threads hash, beside others, with a key and without.
#[test]
fn long_files_of_blake3() {
    let folder = tempfile::tempdir().unwrap();
    let subtree = 256 << 10;
    let mut lengths = vec![3 << 20, 100, (4 << 20) - 1, 11 << 20];
    for around in [4 << 20, (5 << 20) + subtree] {
        lengths.extend([around, around + 1, around + 1025, around + subtree - 1]);
    }
    let contents: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(i, &nbytes)| bytes(nbytes, i)).collect();
    let paths: Vec<PathBuf> = (0..contents.len()).map(|i| folder.path().join(format!("file {i}"))).collect();
    paths.iter().zip(&contents).for_each(|(path, content)| fs::write(path, content).unwrap());
    let keyed = Hasher::blake3_keyed(&[7; 32]);
    let of_keyed = |content: &[u8]| {
        let mut hasher = keyed.clone();
        hasher.update(content);
        hasher.finalize()
    };
    for nthreads in [1, 2, 5] {
        for (method, expected) in [
            (Blake3.into(), &(|content: &[u8]| hash(Blake3, content)) as &dyn Fn(&[u8]) -> Hash),
            (Method::After(keyed.clone()), &of_keyed),
        ] {
            let (results, summary) = run(&paths, &[method].into(), &Options::new().threads(nthreads));
            for (result, content) in results.iter().zip(&contents) {
                let hashed = result.as_ref().unwrap();
                assert_eq!(hashed.digests, [expected(content)], "{} bytes, {nthreads} threads", content.len());
                assert_eq!((hashed.nbytes, hashed.nread), (content.len() as u64, content.len() as u64));
            }
            assert_eq!(summary.nbytes, lengths.iter().sum::<usize>() as u64);
        }
    }
}

/// Threads without work of their own hash for some of the digests of a long file.
#[test]
fn long_files_of_several_digests() {
    let folder = tempfile::tempdir().unwrap();
    let part = 256 << 10;
    let lengths = [(4 << 20) + 1, 5 << 20, (5 << 20) + 1, (6 << 20) + part - 1, (9 << 20) + part + 77];
    let key = HmacKey::new(Sha1, b"key");
    let methods: Arc<[Method]> =
        [Sha512.into(), Sha1.into(), Sha1.into(), Blake3.into(), Method::Mac(key.clone()), Sha256.into()].into();
    for (seed, nbytes) in lengths.into_iter().enumerate() {
        let (path, content) = (folder.path().join(format!("{seed}")), bytes(nbytes, seed));
        fs::write(&path, &content).unwrap();
        let of = |algorithm| hash(algorithm, &content);
        let expected = [of(Sha512), of(Sha1), of(Sha1), of(Blake3), hmac(&key, &content), of(Sha256)];
        for nthreads in [1, 2, 3, 8] {
            let options = Options::new().threads(nthreads);
            for count in [1, 2] {
                for result in run(&vec![path.clone(); count], &methods, &options).0 {
                    let hashed = result.unwrap();
                    assert_eq!(hashed.digests, expected, "{nbytes} bytes, {nthreads} threads");
                    assert_eq!(hashed.nbytes, nbytes as u64);
                }
            }
        }
    }
}

/// Hashes a file with one thread, or for several digests with three. In each read, `change` is called when this many
/// bytes are hashed, until `change` returns false.
#[cfg(unix)]
fn changed_after(
    path: &Path,
    algorithms: &[Algorithm],
    nbytes: u64,
    change: &mut (dyn FnMut() -> bool + Send),
) -> Result<Hashed, FileError> {
    let state = Mutex::new((change, nbytes, false));
    let progress = |now: Progress| {
        let now = now.nbytes;
        let (change, next, is_over) = &mut *state.lock().unwrap();
        if now >= *next && !*is_over {
            *is_over = !change();
            // The progress counts the bytes of all reads.
            *next = now + nbytes;
        }
    };
    let options = Options::new().threads(if algorithms.len() == 1 { 1 } else { 3 });
    let (mut results, _) = heard(&options, progress, |options| run(&[path.to_owned()], &methods(algorithms), options));
    assert!(state.into_inner().unwrap().2 || results[0].is_err(), "the change was made in time");
    results.remove(0)
}

/// The digest is that of the file's final state, however the file changed.
#[cfg(unix)]
#[test]
fn a_file_that_changes_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("file"), folder.path().join("other"));
    let content = bytes(8 << 20, 5);
    let open = || OpenOptions::new().write(true).open(&path).unwrap();
    type Change<'a> = (&'a str, Box<dyn Fn() + Sync + 'a>);
    let changes: [Change; 7] = [
        ("truncated after a subtree", Box::new(|| open().set_len(3 << 20).unwrap())),
        ("truncated", Box::new(|| open().set_len(3_000_001).unwrap())),
        ("truncated in its last page", Box::new(|| open().set_len((8 << 20) - 500).unwrap())),
        ("appended to", Box::new(|| open().write_all_at(b"more", 8 << 20).unwrap())),
        (
            "overwritten behind the reader, with the time set back",
            Box::new(|| {
                let before = path.metadata().unwrap().modified().unwrap();
                open().write_all_at(&[0; 100], 1000).unwrap();
                open().set_modified(before).unwrap();
            }),
        ),
        ("overwritten, with the time that there is", Box::new(|| open().write_all_at(&[0; 100], 1000).unwrap())),
        (
            "replaced",
            Box::new(|| {
                fs::write(&other, "other").unwrap();
                fs::rename(&other, &path).unwrap();
            }),
        ),
    ];
    let of = |change| [&[Sha256][..], &[Blake3], &[Sha256, Sha1, Blake3]].map(|algorithms| (change, algorithms));
    for ((what, change), algorithms) in changes.iter().flat_map(of) {
        fs::write(&path, &content).unwrap();
        let hashed = changed_after(&path, algorithms, 2 << 20, &mut || {
            change();
            false
        });
        let now = fs::read(&path).unwrap();
        assert_ne!(now, content, "{what}");
        let hashed = hashed.unwrap();
        let expected: Vec<Hash> = algorithms.iter().map(|&algorithm| hash(algorithm, &now)).collect();
        assert_eq!(hashed.digests, expected, "{what}");
        assert_eq!((hashed.nbytes, hashed.stamp.unwrap().nbytes), (now.len() as u64, now.len() as u64), "{what}");
    }
    fs::write(&path, &content).unwrap();
    let removed = changed_after(&path, &[Sha256], 2 << 20, &mut || {
        fs::remove_file(&path).unwrap();
        false
    });
    assert!(matches!(removed, Err(FileError::Open(error)) if error.kind() == ErrorKind::NotFound));
}

#[cfg(unix)]
#[test]
fn a_file_that_always_changes_is_unstable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for algorithms in [&[Sha256][..], &[Blake3], &[Sha256, Sha1, Blake3]] {
        fs::write(&path, bytes(8 << 20, 5)).unwrap();
        let mut nchanges = 0;
        let hashed = changed_after(&path, algorithms, 2 << 20, &mut || {
            nchanges += 1;
            OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[nchanges], 0).unwrap();
            true
        });
        assert!(nchanges >= 3, "{nchanges}");
        let error = hashed.unwrap_err();
        assert!(matches!(error, FileError::Unstable(_)), "{error:?}");
        assert!(error.to_string().contains("try again when nothing writes to it"), "{error}");
    }
}

/// Many small files, one of which changes while the others are hashed; files are opened with a ring and without.
#[cfg(unix)]
#[test]
fn small_files_that_change_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..3000).map(|i| folder.path().join(format!("{i}"))).collect();
    paths.iter().for_each(|path| fs::write(path, "before").unwrap());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // Both contents have one length and equal bytes each, so that a mixture of the two would show.
                for byte in [b'a', b'b'] {
                    fs::File::options().write(true).open(&paths[2000]).unwrap().write_all_at(&[byte; 6], 0).unwrap();
                }
            }
        });
        let (results, _) = run(&paths, &methods(&[Sha1]), &Options::new().threads(2));
        stop.store(true, Ordering::Relaxed);
        for (i, result) in results.into_iter().enumerate() {
            match result {
                Ok(hashed) if i != 2000 => assert_eq!(hashed.digests[0], hash(Sha1, b"before")),
                Ok(hashed) => {
                    let known = [b"before", b"aaaaaa", b"bbbbbb"].map(|content| hash(Sha1, content));
                    assert!(known.contains(&hashed.digests[0]));
                }
                Err(error) => assert!(i == 2000 && matches!(error, FileError::Unstable(_)), "{i}: {error:?}"),
            }
        }
    });
}

#[test]
fn a_cancelled_run_hands_out_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes(2000, 1)).unwrap();
    for nthreads in [1, 2] {
        let cancel = Cancel::new();
        let count = AtomicUsize::new(0);
        // The requests never end; only cancelling stops the run.
        let requests = std::iter::repeat_with(|| Request::digest(&path, Sha256));
        let options = Options::new().threads(nthreads).cancel(&cancel);
        let summary = hash_files(requests, &options, |_, result| {
            assert_eq!(result.unwrap().digests[0], hash(Sha256, &bytes(2000, 1)));
            if count.fetch_add(1, Ordering::Relaxed) + 1 == 1000 {
                cancel.cancel();
            }
        });
        assert!(summary.cancelled);
        assert_eq!(summary.nfiles, count.into_inner() as u64);
        assert!(summary.nfiles >= 1000);
    }
    let nothing = hash_files(std::iter::empty::<Request>(), &Options::new(), |_, _| unreachable!());
    assert_eq!((nothing.nfiles, nothing.nfailed, nothing.nbytes, nothing.cancelled), (0, 0, 0, false));
}

/// Any number of threads works, with as many open files as the process may have.
/// The file that is waited for: the first, and after each result the next one, if it was asked for.
#[test]
fn files_are_named_while_they_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..40).map(|number| folder.path().join(format!("{number}"))).collect();
    paths.iter().enumerate().for_each(|(seed, path)| fs::write(path, bytes(seed << 12, seed)).unwrap());
    let named = Arc::new(Mutex::new(Vec::new()));
    let options = Options::new().threads(2).naming({
        let named = named.clone();
        move |path| named.lock().unwrap().push(path.to_owned())
    });
    let nsteps = paths.len() + 1;
    let steps = paths.iter().map(Source::from).chain([Source::memory("abc")]);
    let steps = steps.map(|source| Step::<(), ()>::Hash(Request::digest(source, Sha1)));
    let mut nresults = 0;
    assert!(hash_steps(steps, &options, |_| nresults += 1));
    let named = std::mem::take(&mut *named.lock().unwrap());
    assert_eq!((nresults, named[0].clone()), (nsteps, paths[0].clone()));
    // Each once, in order; last what has no path.
    let order = |path: &PathBuf| paths.iter().position(|other| other == path).unwrap_or(paths.len());
    assert!(named.iter().map(order).is_sorted_by(|one, next| one < next), "{named:?}");
    assert_eq!(named.last(), Some(&PathBuf::new()));
}

#[test]
fn more_threads_than_files_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..300).map(|i| folder.path().join(format!("{i}"))).collect();
    for (i, path) in paths.iter().enumerate() {
        File::create(path).unwrap().write_all(&bytes(40_000, i)).unwrap();
    }
    let (results, _) = run(&paths, &methods(&[Sha1]), &Options::new().threads(1000));
    for (i, result) in results.into_iter().enumerate() {
        assert_eq!(result.unwrap().digests[0], hash(Sha1, &bytes(40_000, i)));
    }
}

#[test]
fn sources_are_shown_as_people_know_them() {
    assert_eq!(Source::from("a/b").to_string(), "a/b");
    assert_eq!(Source::Stdin.to_string(), "standard input");
}

/// On a disk that calls itself rotating, such files are parked, sorted, and maybe read one by one.
#[cfg(target_os = "linux")]
#[test]
fn files_that_are_not_in_memory_come_in_order() {
    use rustix::fs::{Advice, fadvise};

    let folder = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = (0..300).map(|i| folder.path().join(format!("{i}"))).collect();
    for (seed, path) in paths.iter().enumerate() {
        fs::write(path, bytes(seed * 200, seed)).unwrap();
    }
    paths[7] = folder.path().join("missing");
    paths[100] = folder.path().into();
    paths.push(paths[50].clone());
    for threads in [1, 2, 8] {
        for path in paths.iter().filter(|path| path.is_file()) {
            let file = File::open(path).unwrap();
            file.sync_all().unwrap();
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        }
        let (results, summary) = run(&paths, &methods(&[Sha1]), &Options::new().threads(threads));
        assert_eq!((summary.nfiles, summary.nfailed, summary.cancelled), (299, 2, false));
        for (number, (path, result)) in paths.iter().zip(results).enumerate() {
            match number {
                7 | 100 => assert!(result.is_err(), "{number}"),
                _ => assert_eq!(result.unwrap().digests[0], hash(Sha1, &fs::read(path).unwrap()), "{number}"),
            }
        }
    }
}

/// Returns true if this folder's file system tells which names are of one file.
#[cfg(unix)]
fn has_trusted_inodes(folder: &Path) -> bool {
    use hashloom_files::{Doubt, Noted};
    let file = tempfile::NamedTempFile::new_in(folder).unwrap();
    let is_trusted = Noted::of(file.path()).unwrap().doubt != Some(Doubt::FileSystem);
    if !is_trusted {
        crate::skipped::skipped_unless_required(format!(
            "{} is on a file system without trusted inodes",
            folder.display()
        ));
    }
    is_trusted
}

/// All names of a file have its digest, and its bytes are read once.
#[cfg(unix)]
#[test]
fn hard_links_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let contents = [vec![1_u8; 3_000_000], vec![2; 70_000], vec![3; 100]];
    let mut names = Vec::new();
    for (i, content) in contents.iter().enumerate() {
        std::fs::write(path(&format!("{i}")), content).unwrap();
        for link in 0..40 {
            std::fs::hard_link(path(&format!("{i}")), path(&format!("{i}-{link}"))).unwrap();
        }
        names.extend((0..40).map(|link| (i, path(&format!("{i}-{link}")))));
    }
    // Names of a file are far apart, and side by side.
    let mixed: Vec<_> = (0..40).flat_map(|link| [0, 1, 2].map(|i| names[i * 40 + link].clone())).collect();
    for names in [names, mixed] {
        for threads in [1, 2, 5] {
            let requests = names.iter().map(|(_, path)| Request::digest(path.clone(), Algorithm::Sha256));
            let (mut nread, mut place) = (0, 0);
            let summary = hash_files(requests, &Options::new().threads(threads), |request, result| {
                let (content, path) = &names[place];
                assert_eq!(request.source.to_string(), path.display().to_string(), "in order");
                let hashed = result.unwrap();
                assert_eq!(hashed.digests[0], hashloom::hash(Algorithm::Sha256, &contents[*content]));
                assert_eq!(hashed.nbytes, contents[*content].len() as u64);
                nread += hashed.nread;
                place += 1;
            });
            assert_eq!((summary.nfiles, place), (120, 120));
            if has_trusted_inodes(folder.path()) {
                // Short files are read for each name.
                assert_eq!(nread, 3_000_000 + 70_000 + 40 * 100, "{threads} threads");
            }
        }
    }
    // Other digests of the same file are no others' digests.
    let algorithms = [Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha1];
    let requests =
        algorithms.iter().enumerate().map(|(i, &algorithm)| Request::digest(path(&format!("0-{i}")), algorithm));
    let mut found = Vec::new();
    hash_files(requests, &Options::new().threads(1), |_, result| found.push(result.unwrap().digests[0]));
    assert_eq!(found, algorithms.map(|algorithm| hashloom::hash(algorithm, &contents[0])));
}

/// A file that changes while its first name is read has the new digest under all names.
#[cfg(unix)]
#[test]
fn hard_links_of_a_file_that_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: usize| folder.path().join(format!("{name}"));
    std::fs::write(path(0), vec![1_u8; 4_000_000]).unwrap();
    (1..20).for_each(|name| std::fs::hard_link(path(0), path(name)).unwrap());
    for threads in [1, 3] {
        std::fs::write(path(0), vec![1_u8; 4_000_000]).unwrap();
        let has_changed = AtomicBool::new(false);
        let new = vec![7_u8; 3_900_000];
        let (changed, place) = (new.clone(), path(0));
        let options = Options::new().threads(threads).progress(move |_| {
            if !has_changed.swap(true, Ordering::Relaxed) {
                std::fs::write(&place, &changed).unwrap();
            }
        });
        let requests = (0..20).map(|name| Request::digest(path(name), Algorithm::Sha1));
        // Between its truncation and its new bytes the file is empty, and may be read so.
        let possible = [hashloom::hash(Algorithm::Sha1, &new), hashloom::hash(Algorithm::Sha1, b"")];
        let mut ndone = 0;
        hash_files(requests, &options, |_, result| {
            ndone += 1;
            assert!(possible.contains(&result.unwrap().digests[0]));
        });
        assert_eq!(ndone, 20);
    }
}

/// The other names do not wait for one that cannot be read, and a cancelled run ends.
#[cfg(unix)]
#[test]
fn hard_links_whose_first_name_fails_or_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: usize| folder.path().join(format!("{name}"));
    std::fs::write(path(0), vec![1_u8; 4_000_000]).unwrap();
    (1..200).for_each(|name| std::fs::hard_link(path(0), path(name)).unwrap());
    for threads in [1, 2] {
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let options = Options::new().threads(threads).cancel(&cancel).progress(move |_| stop.cancel());
        let requests = (0..200).map(|name| Request::digest(path(name), Algorithm::Sha1));
        let mut ndone = 0;
        let summary = hash_files(requests, &options, |_, _| ndone += 1);
        assert!(summary.cancelled && ndone < 200, "{ndone}");
    }
}

/// Results come with their own tags, also where requests before them have none.
#[test]
fn results_of_a_cancelled_run_have_their_tags() {
    let content = |tag: usize| vec![tag as u8; if tag % 4 == 0 { 4 << 20 } else { 10 }];
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let options = Options::new().threads(1).cancel(&cancel).progress(move |_| stop.cancel());
    let requests = (0..9).map(|tag| {
        let methods = [Method::Digest(Sha1)].into();
        Request { source: Source::memory(content(tag)), methods, tag }
    });
    let mut tags = Vec::new();
    hash_files(requests, &options, |request, result| {
        assert_eq!(result.unwrap().digests[0], hashloom::hash(Sha1, &content(request.tag)));
        tags.push(request.tag);
    });
    assert_eq!(tags, [1, 2, 3, 5, 6, 7]);
}

/// An iterator that says wrongly that it is at its end.
struct AtItsEnd<I>(I);

impl<I: Iterator> Iterator for AtItsEnd<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(0))
    }
}

#[test]
fn a_wrong_hint_loses_no_step() {
    let step = |text: &'static str| Step::<(), ()>::Hash(Request::digest(Source::memory(text), Sha1));
    let mut found = Vec::new();
    let is_done = hash_steps(AtItsEnd(["a", "b", "c"].into_iter().map(step)), &Options::new(), |event| {
        let Event::Hashed(_, result) = event else { unreachable!() };
        found.push(result.unwrap().digests[0]);
    });
    assert!(is_done);
    assert_eq!(found, ["a", "b", "c"].map(|text| hash(Sha1, text.as_bytes())));
}
