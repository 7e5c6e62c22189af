// SPDX-License-Identifier: MIT OR Apache-2.0

//! Everything that a device does, against the CPU. Any Vulkan driver will do; Mesa's lavapipe needs no GPU.

#[path = "../../../test/skipped.rs"]
mod skipped;

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::OnceLock;

use hashloom::Algorithm;
use hashloom_gpu::{Device, Error, Event, Fault, Options};
use hashloom_work::{Search, Target};

fn open(options: Options) -> Option<Device> {
    match options.open(None) {
        Ok(device) => Some(device),
        Err(error @ Error::NotFound { .. }) => {
            skipped::skipped_unless_required(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// One device for most tests.
fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE.get_or_init(|| open(Options::new())).as_ref()
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Searches on the device. Returns what was found, and the nonce to go on with.
fn search(device: &Device, search: &Search<'_>, range: RangeInclusive<u64>) -> (Vec<u64>, Option<u64>) {
    let (mut found, mut tried) = (vec![], None);
    let end = device.search(search, range, |event| {
        match event {
            Event::Found(nonce) => found.push(nonce),
            Event::Tried(to) => {
                assert!(tried < Some(to) && found.last() <= Some(&to));
                tried = Some(to);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end.error, None);
    (found, end.next)
}

/// The same by the CPU.
fn all(search: &Search<'_>, range: RangeInclusive<u64>) -> Vec<u64> {
    let mut room = vec![0; 1 << 20];
    search.find_all(*range.start(), *range.end(), &mut room).to_vec()
}

#[test]
fn searches_find_what_the_cpu_finds() {
    let Some(device) = device() else { return };
    let hex = b"0123456789abcdef";
    let long = bytes(1000);
    let sha256 = Search::new(Algorithm::Sha256, Target::zero_bits(12));
    let sha1 = Search::new(Algorithm::Sha1, Target::first_bytes(&[0, 3, 0x77]));
    // Longer than what the CPU does alone.
    for (name, wanted, range) in [
        ("decimal", sha256.prefix(b"hello ").digits(b"0123456789"), 100_000..=700_000),
        ("at the end of a block", sha1.prefix(&long[..60]).digits(hex), 1_048_576..=1_500_000),
        ("behind blocks", sha256.prefix(&long).digits(b"01234567").width(9), 999..=400_000),
        ("a suffix", sha256.prefix(b"x").suffix(&long[..300]).digits(b"0123456789"), 1_000_000..=1_300_000),
        ("a suffix that ends in the blocks", sha1.suffix(&long[..20]).width(4), 0xfff0_0000..=0xffff_ffff),
        ("bits", sha1.digits(b"01").width(40).suffix(b"."), 3_000_000_000..=3_000_300_000),
        ("twice", sha256.again(Algorithm::Sha256).prefix(&long[..76]).width(4).least_digit_first(), 0..=300_000),
        ("twice, least", sha256.again(Algorithm::Ripemd160).width(8).least_byte_first(), 1 << 40..=(1 << 40) + 300_000),
        ("the last nonces", sha256.prefix(b"huge").least_byte_first(), u64::MAX - 300_000..=u64::MAX),
        ("all digits", sha1.digits(b"zyx9").least_digit_first().width(12), 1000..=300_000),
    ] {
        let (found, next) = search(device, &wanted, range.clone());
        assert_eq!(found, all(&wanted, range), "{name}");
        assert!(!found.is_empty() && next.is_none(), "{name}");
    }
}

#[test]
fn searches_with_other_algorithms() {
    let Some(device) = device() else { return };
    for algorithm in [Algorithm::Md5, Algorithm::Sha512_224, Algorithm::Sha384] {
        let again = [Algorithm::Sha1, Algorithm::Sha256][usize::from(algorithm == Algorithm::Md5)];
        let wanted = Search::new(algorithm, Target::zero_bits(13)).again(again).prefix(b"p").width(5);
        assert_eq!(search(device, &wanted, 0..=270_000).0, all(&wanted, 0..=270_000), "{algorithm}");
    }
}

/// Also where the device has words of 64 bits.
#[test]
fn words_of_64_bits_as_pairs() {
    let Some(device) = open(Options::new().int64(false)) else { return };
    let wanted = Search::new(Algorithm::Sha512, Target::zero_bits(13)).again(Algorithm::Sha384).width(5);
    assert_eq!(search(&device, &wanted, 0..=270_000).0, all(&wanted, 0..=270_000));
}

#[test]
fn searches_from_any_nonce_to_any_other() {
    let Some(device) = open(Options::new().fault(Fault::None)) else { return };
    // An invocation has 1,000 nonces, or 27: calls begin and end amid those of one.
    for digits in [&b"0123456789"[..], b"abcdefghijklmnopqrstuvwxyz+"] {
        let wanted = Search::new(Algorithm::Md5, Target::zero_bits(6)).digits(digits).width(7);
        for (first, last) in [(1, 262_500), (999, 263_500), (270_270, 541_000), (26, 300_000)] {
            assert_eq!(search(&device, &wanted, first..=last).0, all(&wanted, first..=last), "{first} {last}");
        }
    }
}

#[test]
fn two_threads_on_one_device() {
    let Some(device) = device() else { return };
    std::thread::scope(|scope| {
        for algorithm in [Algorithm::Sha1, Algorithm::Sha256] {
            scope.spawn(move || {
                let wanted = Search::new(algorithm, Target::zero_bits(12)).width(4);
                assert_eq!(search(device, &wanted, 0..=1_000_000).0, all(&wanted, 0..=1_000_000));
            });
        }
    });
}

#[test]
fn long_suffixes() {
    let Some(device) = device() else { return };
    let long = bytes((1 << 20) + 1);
    let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(4)).width(4).suffix(&long[..100_000]);
    assert_eq!(search(device, &wanted, 5..=400).0, all(&wanted, 5..=400));
    let end = device.search(&wanted.suffix(&long), 5..=400, |_| panic!("nothing is handed out"));
    assert!(matches!(end.error, Some(Error::TooSmall { .. })), "{end:?}");
    assert_eq!(end.next, Some(5));
    assert_eq!(search(device, &wanted, 5..=400).1, None);
}

#[test]
fn a_search_that_finds_more_than_there_is_room_for() {
    let Some(device) = device() else { return };
    let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(0)).width(4);
    let (found, next) = search(device, &wanted, 7..=300_007);
    assert!(next.is_none() && found.len() == 300_001 && found.iter().copied().eq(7..=300_007));
}

#[test]
fn a_search_that_is_broken_goes_on() {
    let Some(device) = device() else { return };
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(16)).width(4);
    let every = all(&wanted, 0..=1_000_000);
    let end = device.search(&wanted, 0..=1_000_000, |event| match event {
        Event::Found(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert_eq!((end.next, end.error), (Some(every[0] + 1), None));
    assert_eq!(search(device, &wanted, every[0] + 1..=1_000_000).0, every[1..]);
    // After the first call of the shader, whatever was found.
    let end = device.search(&wanted, 0..=u64::from(u32::MAX), |_| ControlFlow::Break(()));
    assert!(end.next.is_some() && end.error.is_none());
}

#[test]
#[should_panic(expected = "the caller's own")]
fn a_panic_of_the_caller_stays_one() {
    let Some(device) = device() else { panic!("the caller's own") };
    let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(20)).width(4);
    device.search(&wanted, 0..=10, |_| panic!("the caller's own"));
}

#[test]
fn the_self_test_notices_a_wrong_constant() {
    let Some(device) = open(Options::new().fault(Fault::Constant)) else { return };
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(8)).width(4);
    let end = device.search(&wanted, 5..=1_000_000, |_| panic!("nothing is handed out"));
    assert!(matches!(end.error, Some(Error::Wrong { .. })), "{end:?}");
    assert_eq!(end.next, Some(5));
    // The device takes no further work.
    assert_eq!(device.search(&wanted, 5..=1_000_000, |_| panic!("nothing is handed out")), end);
}

#[test]
fn samples_of_each_call_notice_wrong_digests_later() {
    let Some(device) = open(Options::new().fault(Fault::LargeCalls)) else { return };
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(30)).width(4);
    let end = device.search(&wanted, 0..=1_000_000, |_| ControlFlow::Continue(()));
    assert!(matches!(end.error, Some(Error::Wrong { .. })), "{end:?}");
}

#[test]
fn a_device_that_is_lost() {
    let Some(device) = open(Options::new()) else { return };
    let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(160)).width(8);
    let end = device.search(&wanted, 0..=u64::MAX, |event| {
        device.lose();
        assert!(matches!(event, Event::Tried(_)));
        ControlFlow::Continue(())
    });
    assert!(end.error.is_some() && end.next.is_some(), "{end:?}");
}

#[test]
fn devices_by_name() {
    let error = Device::open(Some("no such device")).unwrap_err();
    assert!(matches!(&error, Error::NotFound { wanted: Some(_), .. }), "{error}");
    let Some(device) = device() else { return };
    let name = &device.adapter().name;
    assert!(error.to_string().contains(name.as_str()), "{error}");
    let upper = Device::open(Some(&name.to_uppercase()[..4])).unwrap();
    assert_eq!(upper.adapter(), device.adapter());
}
