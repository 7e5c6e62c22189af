// SPDX-License-Identifier: MIT OR Apache-2.0

//! Searches for nonces, compared with RustCrypto's hashes over whole ranges, with any number of threads.

use std::ops::{ControlFlow, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use hashloom::Algorithm;
use hashloom_files::run::{Cancel, Options};
use hashloom_work::{End, Event, Search, Target, search};
use sha2::{Digest, Sha256};

const DIGITS: &[u8] = b"0123456789";

/// Returns all nonces found, after a check of the order of events.
fn all(wanted: &Search<'_>, range: RangeInclusive<u64>, nthreads: usize) -> Vec<u64> {
    let (first, last) = (*range.start(), *range.end());
    let (mut found, mut tried) = (vec![], None);
    let end = search(wanted, range, &Options::new().threads(nthreads), |event| {
        match event {
            Event::Found(nonce) => {
                assert!(nonce >= tried.map_or(first, |tried| tried + 1) && found.last().is_none_or(|&at| at < nonce));
                found.push(nonce);
            }
            Event::Tried(to) => {
                assert!(tried.is_none_or(|tried| tried < to) && found.last().is_none_or(|&at| at <= to));
                tried = Some(to);
            }
            _ => panic!("an event without a meaning"),
        }
        ControlFlow::Continue(())
    });
    assert_eq!((end.next, end.cancelled, tried), (None, false, Some(last)));
    found
}

/// Returns the first nonce, and how the search ended.
fn first(wanted: &Search<'_>, range: RangeInclusive<u64>, options: &Options) -> (Option<u64>, End) {
    let mut found = None;
    let end = search(wanted, range, options, |event| match event {
        Event::Found(nonce) => {
            assert!(found.replace(nonce).is_none(), "a call after the break");
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    (found, end)
}

/// Returns the nonces whose SHA-256 behind `prefix` begins with `nbits` zero bits, by the crate sha2.
fn by_sha2(prefix: &str, nbits: u32, range: RangeInclusive<u64>) -> Vec<u64> {
    let is_low = |nonce: &u64| {
        let digest = Sha256::digest(format!("{prefix}{nonce}"));
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]).leading_zeros() >= nbits
    };
    range.filter(is_low).collect()
}

#[test]
fn all_nonces_of_a_range_are_those_of_another_library() {
    let prefix = "k8juvewcui000000abcdef";
    for (nbits, range) in [(0, 0..=2_999), (4, 995..=20_007), (9, 0..=60_000)] {
        let expected = by_sha2(prefix, nbits, range.clone());
        let wanted =
            Search::new(Algorithm::Sha256, Target::zero_bits(nbits as usize)).prefix(prefix.as_bytes()).digits(DIGITS);
        for nthreads in [1, 2, 3, 7, 64, 1000] {
            assert_eq!(all(&wanted, range.clone(), nthreads), expected, "{nbits} bits, {nthreads} threads");
        }
    }
}

#[test]
fn the_first_nonce_does_not_depend_on_threads() {
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(10)).prefix(b"x").digits(DIGITS);
    let mut from = 0;
    for expected in by_sha2("x", 10, 0..=20_000) {
        for nthreads in [1, 2, 5, 32] {
            let (found, end) = first(&wanted, from..=u64::MAX, &Options::new().threads(nthreads));
            assert_eq!((found, end.next, end.cancelled), (Some(expected), Some(expected + 1), false));
        }
        from = expected + 1;
    }
}

#[test]
fn ranges_at_the_ends_of_64_bits() {
    let any = Search::new(Algorithm::Sha1, Target::zero_bits(0));
    for nthreads in [1, 8] {
        assert_eq!(all(&any, u64::MAX..=u64::MAX, nthreads), [u64::MAX]);
        assert_eq!(all(&any, 0..=0, nthreads), [0]);
        let last = u64::MAX - 5_000..=u64::MAX;
        assert_eq!(all(&any, last.clone(), nthreads), last.clone().collect::<Vec<_>>());
        let never = Search::new(Algorithm::Sha1, Target::zero_bits(160));
        assert!(all(&never, last.clone(), nthreads).is_empty());
        // A break on the last nonce leaves nothing to go on with.
        let (found, end) = first(&any, u64::MAX..=u64::MAX, &Options::new().threads(nthreads));
        assert_eq!((found, end.next, end.cancelled), (Some(u64::MAX), None, false));
        let (found, end) = first(&any, 7..=7, &Options::new().threads(nthreads));
        assert_eq!((found, end.next), (Some(7), None));
    }
}

#[test]
fn a_break_ends_the_search_at_once() {
    let any = Search::new(Algorithm::Sha1, Target::zero_bits(0));
    for nthreads in [1, 4] {
        let mut events = vec![];
        let end = search(&any, 100..=1_000_000, &Options::new().threads(nthreads), |event| {
            events.push(event);
            if events.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(events, [Event::Found(100), Event::Found(101), Event::Found(102)]);
        assert_eq!((end.next, end.cancelled), (Some(103), false));
        // A break on progress: all nonces to that one are done.
        let end = search(&any, 100..=1_000_000, &Options::new().threads(nthreads), |event| match event {
            Event::Tried(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert_eq!((end.next, end.cancelled), (Some(116), false));
    }
}

#[test]
fn what_a_cancelled_search_left_can_be_done_later() {
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(8)).prefix(b"y").digits(DIGITS);
    let expected = all(&wanted, 0..=99_999, 1);
    for nthreads in [1, 3] {
        let (mut found, mut next, mut ncalls) = (vec![], Some(0), 0);
        while let Some(first) = next {
            let cancel = Cancel::new();
            // After some events, at another place each time.
            let mut nevents = 0;
            let options = Options::new().threads(nthreads).cancel(&cancel);
            let end = search(&wanted, first..=99_999, &options, |event| {
                if let Event::Found(nonce) = event {
                    found.push(nonce);
                }
                nevents += 1;
                if nevents == 2 + ncalls % 5 {
                    cancel.cancel();
                }
                ControlFlow::Continue(())
            });
            assert_eq!(end.cancelled, end.next.is_some());
            assert!(end.next.is_none_or(|next| next > first));
            next = end.next;
            ncalls += 1;
        }
        // Other threads may be done before the first event is told.
        assert!(ncalls > 1 || nthreads > 1);
        assert_eq!(found, expected);
    }
    let cancel = Cancel::new();
    cancel.cancel();
    let end = search(&wanted, 41..=99_999, &Options::new().cancel(&cancel), |_| panic!("nothing was tried"));
    assert_eq!((end.next, end.cancelled), (Some(41), true));
}

#[test]
fn a_panic_of_the_caller_ends_the_search() {
    let any = Search::new(Algorithm::Sha1, Target::zero_bits(0));
    for nthreads in [1, 4] {
        let ncalls = AtomicUsize::new(0);
        let searched = catch_unwind(AssertUnwindSafe(|| {
            search(&any, 0..=u64::MAX, &Options::new().threads(nthreads), |_| {
                ncalls.fetch_add(1, Ordering::Relaxed);
                panic!("of the caller")
            })
        }));
        assert_eq!(searched.unwrap_err().downcast_ref(), Some(&"of the caller"));
        assert_eq!(ncalls.into_inner(), 1);
    }
    let narrow = any.width(1);
    assert!(catch_unwind(|| search(&narrow, 0..=256, &Options::new(), |_| ControlFlow::Continue(()))).is_err());
    #[allow(clippy::reversed_empty_ranges)]
    let empty = || search(&any, 1..=0, &Options::new(), |_| ControlFlow::Continue(()));
    assert!(catch_unwind(empty).is_err());
}

#[test]
fn a_message_may_be_long() {
    let long = vec![b'p'; 10 << 20];
    for wanted in [
        Search::new(Algorithm::Sha256, Target::zero_bits(1)).prefix(&long).digits(DIGITS),
        Search::new(Algorithm::Sha256, Target::zero_bits(1)).suffix(&long[..1 << 20]).digits(DIGITS),
    ] {
        let (one, two) = (all(&wanted, 5..=24, 1), all(&wanted, 5..=24, 2));
        assert!(one == two && !one.is_empty());
    }
}
