// SPDX-License-Identifier: MIT OR Apache-2.0

//! Everything that a device does, against the CPU. Any Vulkan driver will do; Mesa's lavapipe needs no GPU.

#[path = "../../../test/skipped.rs"]
mod skipped;

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::OnceLock;

use hashloom::search::{Search, Target};
use hashloom::{Algorithm, hash, hash_many};
use hashloom_gpu::{Device, Error, Event, Fault, Options};

/// Small chunks, so that messages take many of them.
const CHUNK: usize = 64 << 10;

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

/// One device for most tests: compiling the shaders takes most of their time.
fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE.get_or_init(|| open(Options::new().chunk_nbytes(CHUNK))).as_ref()
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn right(algorithm: Algorithm, messages: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut digests = vec![0; messages.len() * algorithm.digest_nbytes()];
    hash_many(algorithm, messages, &mut digests);
    digests
}

fn on_device(device: &Device, algorithm: Algorithm, messages: &[impl AsRef<[u8]>]) -> Result<Vec<u8>, Error> {
    let mut digests = vec![0xee; messages.len() * algorithm.digest_nbytes()];
    let done = device.hash_many(algorithm, messages, &mut digests);
    assert!(done.is_ok() || digests.iter().all(|&byte| byte == 0), "an error leaves no digests");
    done.map(|()| digests)
}

#[test]
fn many_messages_of_all_lengths() {
    let Some(device) = device() else { return };
    let data = bytes(200_000);
    for &algorithm in Algorithm::ALL {
        let mut messages: Vec<&[u8]> = (0..600).map(|i| &data[i..][..i * 7 % 300]).collect();
        messages.extend([&data[..], &data[1..70_000], b"", &data[..65_536]]);
        assert_eq!(on_device(device, algorithm, &messages).unwrap(), right(algorithm, &messages), "{algorithm}");
    }
}

#[test]
fn no_messages_and_empty_ones() {
    let Some(device) = device() else { return };
    assert_eq!(on_device(device, Algorithm::Sha1, &[] as &[&str]), Ok(vec![]));
    assert_eq!(on_device(device, Algorithm::Sha512, &[""; 130]).unwrap(), right(Algorithm::Sha512, &[""; 130]));
    device.hash_rows(Algorithm::Md5, b"", 0, 0, 0, &mut []).unwrap();
    let mut digests = [0; 3 * 16];
    device.hash_rows(Algorithm::Md5, b"", 0, 0, 3, &mut digests).unwrap();
    assert_eq!(digests[..], right(Algorithm::Md5, &[""; 3]));
}

#[test]
fn rows_apart_together_and_overlapping() {
    let Some(device) = device() else { return };
    let data = bytes(20_000);
    for (row_nbytes, stride, count) in [(20, 20, 1000), (64, 80, 249), (100, 7, 2000), (0, 5, 70), (20_000, 1, 1)] {
        let rows: Vec<&[u8]> = (0..count).map(|i| &data[i * stride..][..row_nbytes]).collect();
        let mut digests = vec![0; count * 20];
        device.hash_rows(Algorithm::Ripemd160, &data, row_nbytes, stride, count, &mut digests).unwrap();
        assert_eq!(digests, right(Algorithm::Ripemd160, &rows), "{row_nbytes} {stride} {count}");
    }
}

#[test]
#[should_panic(expected = "hash_rows: 3 rows of 10 bytes, 10 apart, in 29 bytes")]
fn rows_beyond_the_data() {
    let Some(device) = device() else { panic!("hash_rows: 3 rows of 10 bytes, 10 apart, in 29 bytes") };
    let _ = device.hash_rows(Algorithm::Sha1, &[0; 29], 10, 10, 3, &mut [0; 60]);
}

#[test]
#[should_panic(expected = "digests has 19 bytes")]
fn too_little_room() {
    let Some(device) = device() else { panic!("digests has 19 bytes") };
    let _ = device.hash_many(Algorithm::Sha1, &["abc"], &mut [0; 19]);
}

#[test]
fn more_messages_than_a_chunk_has_room_for() {
    let Some(device) = device() else { return };
    let data = bytes(30_000);
    let messages: Vec<&[u8]> = (0..5000).map(|i| &data[i..][..if i % 1000 == 0 { 9000 } else { i % 70 }]).collect();
    assert_eq!(on_device(device, Algorithm::Sha256, &messages).unwrap(), right(Algorithm::Sha256, &messages));
}

#[test]
fn two_threads_on_one_device() {
    let Some(device) = device() else { return };
    let data = bytes(300_000);
    std::thread::scope(|scope| {
        for t in 0..2 {
            let data = &data;
            scope.spawn(move || {
                let algorithm = [Algorithm::Sha1, Algorithm::Sha256][t];
                for n in 1..6 {
                    let messages: Vec<&[u8]> = (0..200 * n).map(|i| &data[i + t..][..300 * n]).collect();
                    let digests = on_device(device, algorithm, &messages).unwrap();
                    assert_eq!(digests, right(algorithm, &messages));
                }
            });
        }
    });
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
    let Some(device) = open(Options::new().chunk_nbytes(CHUNK).int64(false)) else { return };
    let data = bytes(2000);
    for algorithm in [Algorithm::Sha512, Algorithm::Sha3_512, Algorithm::Shake128] {
        let messages: Vec<&[u8]> = (0..300).map(|i| &data[i..][..i * 7 % 400]).collect();
        assert_eq!(on_device(&device, algorithm, &messages).unwrap(), right(algorithm, &messages), "{algorithm}");
    }
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
fn long_suffixes() {
    let Some(device) = device() else { return };
    let long = bytes((1 << 20) + 1);
    let wanted = Search::new(Algorithm::Sha1, Target::zero_bits(4)).width(4).suffix(&long[..100_000]);
    assert_eq!(search(device, &wanted, 5..=400).0, all(&wanted, 5..=400));
    let end = device.search(&wanted.suffix(&long), 5..=400, |_| panic!("nothing is handed out"));
    assert!(matches!(end.error, Some(Error::TooSmall { .. })), "{end:?}");
    assert_eq!(end.next, Some(5));
    assert_eq!(on_device(device, Algorithm::Sha1, &["abc"]).unwrap(), right(Algorithm::Sha1, &["abc"]));
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
    for algorithm in [Algorithm::Sha1, Algorithm::Sha3_256] {
        let Some(device) = open(Options::new().chunk_nbytes(CHUNK).fault(Fault::Constant)) else { return };
        let error = on_device(&device, algorithm, &["abc"]).unwrap_err();
        assert!(matches!(&error, Error::Wrong { algorithm: wrong, .. } if *wrong == algorithm), "{error}");
        // The device takes no further work.
        assert_eq!(on_device(&device, Algorithm::Md5, &["abc"]), Err(error.clone()));
    }

    let Some(device) = open(Options::new().fault(Fault::Constant)) else { return };
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(8)).width(4);
    let end = device.search(&wanted, 5..=1_000_000, |_| panic!("nothing is handed out"));
    assert!(matches!(end.error, Some(Error::Wrong { .. })), "{end:?}");
    assert_eq!(end.next, Some(5));
}

#[test]
fn the_check_of_one_in_1000_notices_wrong_digests_later() {
    let Some(device) = open(Options::new().fault(Fault::LargeCalls)) else { return };
    let messages: Vec<_> = (0..3000_u32).map(u32::to_le_bytes).collect();
    assert_eq!(
        on_device(&device, Algorithm::Sha1, &messages[..900]).unwrap(),
        right(Algorithm::Sha1, &messages[..900])
    );
    let error = on_device(&device, Algorithm::Sha1, &messages).unwrap_err();
    assert!(matches!(error, Error::Wrong { .. }), "{error}");

    let Some(device) = open(Options::new().fault(Fault::LargeCalls)) else { return };
    let wanted = Search::new(Algorithm::Sha256, Target::zero_bits(30)).width(4);
    let end = device.search(&wanted, 0..=1_000_000, |_| ControlFlow::Continue(()));
    assert!(matches!(end.error, Some(Error::Wrong { .. })), "{end:?}");
}

#[test]
fn a_device_that_is_lost() {
    let Some(device) = open(Options::new().chunk_nbytes(CHUNK)) else { return };
    device.lose();
    assert!(on_device(&device, Algorithm::Sha1, &["abc"]).is_err());

    // In the midst of the work of another thread.
    let Some(device) = open(Options::new().chunk_nbytes(CHUNK)) else { return };
    let messages: Vec<_> = (0..3000_u32).map(|i| bytes(100 + i as usize % 3000)).collect();
    let right = right(Algorithm::Sha1, &messages);
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            for _ in 0..1000 {
                match on_device(&device, Algorithm::Sha1, &messages) {
                    Ok(digests) => assert_eq!(digests, right),
                    Err(error) => return error,
                }
            }
            panic!("the device was not lost");
        });
        // Any time is right.
        std::thread::sleep(std::time::Duration::from_millis(300));
        device.lose();
        let error = work.join().unwrap();
        assert!(matches!(error, Error::Lost { .. } | Error::Refused { .. }), "{error}");
    });

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
    assert_eq!(hash(Algorithm::Sha1, b"abc").as_ref(), on_device(&upper, Algorithm::Sha1, &["abc"]).unwrap());
}
