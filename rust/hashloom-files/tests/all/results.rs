// SPDX-License-Identifier: MIT OR Apache-2.0

//! The iterator over results: its order, cancelling, dropping it anywhere, and panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashloom::Algorithm::Sha256;
use hashloom::hash;
use hashloom_files::run::{Cancel, Options};
use hashloom_files::{Request, Source, results};

/// Requests without end for messages of different lengths; `drawn` counts them, and each holds a clone of `drawn`.
fn endless(drawn: &Arc<AtomicUsize>) -> impl Iterator<Item = Request<(usize, Arc<AtomicUsize>)>> + Send + use<> {
    let drawn = drawn.clone();
    (0..).map(move |number: usize| {
        drawn.fetch_add(1, Ordering::Relaxed);
        let Request { source, methods, .. } = Request::digest(Source::memory(message(number)), Sha256);
        Request { source, methods, tag: (number, drawn.clone()) }
    })
}

fn message(number: usize) -> Vec<u8> {
    vec![number as u8; (number * 7919) % 100_000]
}

#[test]
fn results_come_in_order_with_their_requests() {
    for nthreads in [1, 2, 5] {
        let drawn = Arc::default();
        let mut results = results(endless(&drawn).take(500), &Options::new().threads(nthreads)).unwrap();
        let mut nbytes = 0;
        for number in 0..500 {
            let (request, result) = results.next().unwrap();
            assert_eq!(request.tag.0, number);
            assert_eq!(result.unwrap().digests, [hash(Sha256, &message(number))]);
            nbytes += message(number).len() as u64;
            assert!(results.progress().nbytes >= nbytes && results.summary().is_none());
        }
        assert!(results.next().is_none() && results.next().is_none());
        let summary = results.summary().unwrap();
        assert_eq!((summary.nfiles, summary.nbytes, summary.cancelled), (500, nbytes, false));
        assert_eq!(results.progress().nbytes, nbytes);
    }
}

#[test]
fn dropping_the_iterator_ends_all_threads() {
    for nthreads in [1, 3] {
        for ntaken in [0, 1, 63, 64, 65, 300] {
            let drawn = Arc::new(AtomicUsize::new(0));
            let cancel = Cancel::new();
            let options = Options::new().threads(nthreads).cancel(&cancel);
            let mut results = results(endless(&drawn), &options).unwrap();
            assert_eq!(results.by_ref().take(ntaken).count(), ntaken);
            drop(results);
            // All requests and the iterator that makes them are gone, so no thread is left.
            assert_eq!(Arc::strong_count(&drawn), 1);
            assert!(!cancel.is_cancelled(), "other work with the same options goes on");
        }
    }
}

#[test]
fn work_that_nobody_takes_comes_to_a_stop() {
    let drawn = Arc::new(AtomicUsize::new(0));
    let mut results = results(endless(&drawn), &Options::new().threads(2)).unwrap();
    assert!(results.next().is_some());
    let mut before = 0;
    // It stops at some number; without a bound the numbers would grow for ever.
    while before != drawn.load(Ordering::Relaxed) {
        before = drawn.load(Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert!(before < 1000, "{before}");
}

#[test]
fn cancelling_hands_out_what_is_finished() {
    for is_own in [true, false] {
        let (drawn, cancel) = (Arc::new(AtomicUsize::new(0)), Cancel::new());
        let mut results = results(endless(&drawn), &Options::new().threads(3).cancel(&cancel)).unwrap();
        assert_eq!(results.by_ref().take(10).count(), 10);
        if is_own {
            results.cancel()
        } else {
            cancel.cancel()
        }
        let mut last = 9;
        for (request, result) in results.by_ref() {
            assert!(request.tag.0 > last && result.is_ok());
            last = request.tag.0;
        }
        let summary = results.summary().unwrap();
        assert!(summary.cancelled && summary.nfiles > 10);
        assert_eq!(cancel.is_cancelled(), !is_own);
    }
}

#[test]
fn a_panic_of_the_requests_comes_to_the_consumer() {
    for nthreads in [1, 3] {
        let drawn = Arc::new(AtomicUsize::new(0));
        let requests = endless(&drawn).inspect(|request| assert!(request.tag.0 != 200, "on purpose"));
        let mut results = results(requests, &Options::new().threads(nthreads)).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| results.by_ref().count())).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert!(results.next().is_none());
        assert_eq!(Arc::strong_count(&drawn), 1);
    }
}

#[test]
fn progress_is_told_to_the_callback_too() {
    let (drawn, told) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let heard = told.clone();
    let options = Options::new().progress(move |progress| {
        heard.fetch_max(progress.nbytes as usize, Ordering::Relaxed);
    });
    let mut results = results(endless(&drawn).take(50), &options).unwrap();
    results.by_ref().for_each(drop);
    assert_eq!(told.load(Ordering::Relaxed) as u64, results.progress().nbytes);
}
