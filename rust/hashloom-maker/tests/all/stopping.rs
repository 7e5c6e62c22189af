// SPDX-License-Identifier: MIT OR Apache-2.0

//! Work that ends early: cancelled while it waits for data, and stopped by a panic in a callback.

use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::heard::heard;
use hashloom::Algorithm::Sha256;
use hashloom::{Hash, hash};
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_files::{Request, hash_files};
use hashloom_maker::Builder;
use hashloom_torrent::{Check, PieceState, Torrent, verify, verify_pieces};
use hashloom_tree::{TreeError, bep52, s3};

/// Time after which the test fails, as nothing has ended the work.
const HANG: Duration = Duration::from_secs(60);

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs `work`, which waits for data that never comes, and cancels it. Returns the result of `work`.
fn cancelled<R: Send>(work: impl FnOnce(&Cancel) -> R + Send) -> R {
    let cancel = Cancel::new();
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let result = work(&cancel);
            done.send(()).unwrap();
            result
        });
        assert!(is_done.recv_timeout(Duration::from_millis(300)).is_err(), "it waits");
        cancel.cancel();
        if is_done.recv_timeout(HANG).is_err() {
            eprintln!("cancelling has not ended it");
            // A thread hangs that nothing can end.
            std::process::exit(1);
        }
        work.join().unwrap()
    })
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    pipe(&path("pipe"));
    let others: Vec<PathBuf> = (0..40).map(|i| path(&format!("{i}"))).collect();
    others.iter().for_each(|other| fs::write(other, "abc").unwrap());
    // The pipe has no writer, or a writer that writes nothing, or one that writes but does not end.
    for written in [None, Some(""), Some("beginning")] {
        // The pipe is alone, or among many files, which are opened by a ring if the system has one.
        for (nbefore, nthreads) in [(0, 1), (0, 2), (19, 1), (30, 2)] {
            let mut paths = others.clone();
            paths.insert(nbefore, path("pipe"));
            let writer = written.map(|bytes| {
                // The pipe is opened for both directions, as it has no reader yet.
                let mut file = File::options().read(true).write(true).open(path("pipe")).unwrap();
                io::Write::write_all(&mut file, bytes.as_bytes()).unwrap();
                file
            });
            let mut names = Vec::new();
            let summary = cancelled(|cancel| {
                let options = Options::new().threads(nthreads).cancel(cancel);
                hash_files(paths.iter().map(|path| Request::digest(path, Sha256)), &options, |request, result| {
                    assert_eq!(result.unwrap().digests[0], hash(Sha256, b"abc"));
                    names.push(request.source.path().unwrap().to_owned());
                })
            });
            assert!(summary.cancelled);
            // The results are right, and there is no result for the pipe.
            assert!(names.len() >= nbefore && !names.contains(&path("pipe")), "{written:?}, {nbefore}: {names:?}");
            drop(writer);
        }
    }
}

#[test]
fn a_pipe_is_read_when_its_writer_comes_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            let mut file = File::options().write(true).open(&path).unwrap();
            for part in ["one ", "two ", "three"] {
                io::Write::write_all(&mut file, part.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let mut digests: Vec<Hash> = Vec::new();
        hash_files([Request::digest(&path, Sha256)].into_iter(), &Options::new(), |_, result| {
            digests = result.unwrap().digests;
        });
        assert_eq!(digests, [hash(Sha256, b"one two three")]);
    });
}

#[test]
fn a_tree_of_a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let result = cancelled(|cancel| bep52::pieces_root(file, &Options::new().cancel(cancel)));
    assert!(matches!(result, Err(TreeError::Cancelled)), "{result:?}");
}

const PIECES: usize = 4096;

/// A file of [`PIECES`] pieces, and its torrent.
fn torrent(folder: &Path) -> Torrent {
    fs::write(folder.join("file"), vec![1; PIECES << 14]).unwrap();
    let plan = Builder::new().piece_nbytes(1 << 14).plan(&folder.join("file")).unwrap();
    plan.create(&Options::new()).unwrap().torrent
}

/// Passes a callback whose first call panics to `work`, which must pass on that panic. Returns the number of calls.
fn calls(work: impl FnOnce(&(dyn Fn() + Sync))) -> usize {
    // Printing the place of a panic takes a while.
    std::panic::set_hook(Box::new(|_| ()));
    let count = AtomicUsize::new(0);
    let call = || {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            std::panic::panic_any("on purpose");
        }
        // The pause keeps the other threads from outrunning the stop.
        std::thread::sleep(Duration::from_millis(10));
    };
    let payload = catch_unwind(AssertUnwindSafe(|| work(&call))).unwrap_err();
    let _ = std::panic::take_hook();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    count.into_inner()
}

#[test]
fn a_panic_ends_all_threads_soon_and_arrives_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let torrent = torrent(folder.path());
    let path = folder.path().join("file");
    // There would be thousands of calls.
    let most = 500;
    for nthreads in [1, 2, 4] {
        let options = Options::new().threads(nthreads);
        let ncalls = calls(|call| {
            let pieces = |_: &Torrent, _: usize, _: PieceState| call();
            verify_pieces([Check::new(&torrent, &path)], &options, pieces, |_, _| {});
        });
        assert!(ncalls < most, "{ncalls} pieces, {nthreads} threads");
        let progress = |call: &(dyn Fn() + Sync)| {
            // There would be 128 calls, each after many pieces.
            let progress = |_: Progress| call();
            let _ = heard(&options, progress, |options| verify(&torrent, &path, options));
        };
        assert!(calls(progress) <= 64, "{nthreads} threads");
        let ncalls = calls(|call| {
            let progress = |_: Progress| call();
            let plan = Builder::new().piece_nbytes(1 << 14).plan(&path).unwrap();
            let _ = heard(&options, progress, |options| plan.create(options));
        });
        assert!(ncalls <= 64, "{ncalls} calls, {nthreads} threads");
        let ncalls = calls(|call| {
            let _ = heard(&options, |_| call(), |options| s3::composite(&path, Sha256, 5 << 20, options));
        });
        assert!(ncalls <= 32, "{ncalls} calls, {nthreads} threads");
        let small = folder.path().join("small");
        fs::write(&small, "abc").unwrap();
        for place in ["requests", "each", "progress"] {
            let ncalls = calls(|call| {
                let call_at = |here: &str| {
                    if place == here {
                        call()
                    }
                };
                let requests = (0..20_000).map(|_| {
                    call_at("requests");
                    Request::digest(&small, Sha256)
                });
                heard(
                    &options,
                    |_| call_at("progress"),
                    |options| hash_files(requests, options, |_, _| call_at("each")),
                );
            });
            let most = if place == "progress" { most } else { 1 };
            assert!(ncalls <= most, "{place}: {ncalls} calls, {nthreads} threads");
        }
    }
}
