// SPDX-License-Identifier: MIT OR Apache-2.0

//! A host without free memory: functions that read files use fewer threads or report an error, and never end the
//! process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashloom::Algorithm::Sha256;
use hashloom::hash;
use hashloom_files::run::Options;
use hashloom_files::{Request, Source, hash_files};
use hashloom_maker::Builder;
use hashloom_torrent::verify;
use hashloom_tree::bep52;

/// Number of large allocations that may still succeed.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

const LARGE_NBYTES: usize = 200_000;

struct Limited;

// SAFETY: every call goes to the system's allocator or fails.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let take = |left: usize| left.checked_sub(1);
        if layout.size() >= LARGE_NBYTES && LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the conditions.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static LIMITED: Limited = Limited;

/// Runs `work` with this many large allocations left.
fn with<R>(left: usize, work: impl FnOnce() -> R) -> R {
    LEFT.store(left, Ordering::SeqCst);
    let result = work();
    LEFT.store(usize::MAX, Ordering::SeqCst);
    result
}

#[test]
fn without_large_buffers_there_is_an_error_and_with_some_there_are_fewer_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = vec![7; 3_000_000];
    fs::write(&path, &bytes).unwrap();
    let digest = hash(Sha256, &bytes);
    let torrent = Builder::new().piece_nbytes(16 << 10).plan(&path).unwrap().create(&Options::new()).unwrap().torrent;
    let of_blocks = bep52::pieces_root(&path, &Options::new()).unwrap();
    let four = 4;
    for left in [0, 1, 2, 3] {
        let mut results = Vec::new();
        let requests = (0..100).map(|_| Request::digest(&path, Sha256));
        let options = Options::new().threads(4);
        let summary = with(left, || hash_files(requests, &options, |_, result| results.push(result)));
        assert!(!summary.cancelled && results.len() == 100);
        for result in results {
            match result {
                Ok(hashed) => assert!(left > 0 && hashed.digests[0] == digest),
                Err(error) => assert!(left == 0 && error.io().kind() == std::io::ErrorKind::OutOfMemory, "{error}"),
            }
        }
        let report = with(left, || verify(&torrent, &path, &Options::new().threads(four))).unwrap();
        assert_eq!(report.is_complete(), left > 0, "{report:?}");
        assert!(!report.cancelled);
        let made = with(left, || {
            let plan = Builder::new().piece_nbytes(16 << 10).plan(&path).unwrap();
            plan.create(&Options::new().threads(four)).map(|created| created.torrent.info_hash_v1())
        });
        assert_eq!(made.is_ok(), left > 0);
        let options = Options::new().threads(four);
        let found = with(left, || bep52::pieces_root(&path, &options));
        assert_eq!(found.ok(), (left > 0).then_some(of_blocks));
        let stream = Source::reader(std::io::Cursor::new(bytes.clone()));
        let found = with(left, || bep52::pieces_root(stream, &options));
        assert_eq!(found.ok(), (left > 0).then_some(of_blocks));
    }
}
