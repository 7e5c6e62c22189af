// SPDX-License-Identifier: MIT OR Apache-2.0
//! SHA-1 that finds collision attacks: the published pairs alone, among others, and in streams; digests.

use hashloom::sha1dc::{Checked, Hasher, hash, hash_many};

const ATTACKS: [&[u8]; 4] = [
    include_bytes!("../../../../vectors/sha1dc/shattered-1.bin"),
    include_bytes!("../../../../vectors/sha1dc/shattered-2.bin"),
    include_bytes!("../../../../vectors/sha1dc/shambles-1.bin"),
    include_bytes!("../../../../vectors/sha1dc/shambles-2.bin"),
];
/// Their digests by sha1dc (commit b4a7b0b).
const SAFE: [&str; 4] = [
    "7117b3cb9225aaf0d8ef1a40e493957b0bf8693d",
    "29f38ae9fd98e2931120fa0bf213e024250d3f6a",
    "4f3d9be4a472c4dae83c6314aa6c36a064c1fd14",
    "9ed5d77a4f48be1dbf3e9e15650733eb850897f2",
];
const REDUCED: &[u8] = include_bytes!("../../../../vectors/sha1dc/reduced.bin");

#[track_caller]
fn assert_right(checked: Checked, message: &[u8], is_attack: bool) {
    let plain = hashloom::hash(hashloom::Algorithm::Sha1, message).to_string();
    let safe = ATTACKS.iter().zip(SAFE).find(|(attack, _)| **attack == message);
    let digest: String = checked.digest().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, safe.map_or(plain, |(_, safe)| safe.to_owned()));
    assert_eq!(checked.is_attack(), is_attack, "{} bytes", message.len());
}

#[test]
fn published_pairs() {
    for message in ATTACKS {
        assert_right(hash(message), message, true);
        assert_right(hash(&message[..message.len() - 64]), &message[..message.len() - 64], false);
        for cut in 0..message.len() {
            let mut hasher = Hasher::new();
            hasher.update(&message[..cut]);
            let mut other = hasher.clone();
            hasher.update(&message[cut..]);
            assert_right(hasher.finalize(), message, true);
            other.update([0; 64]);
            assert_right(other.finalize(), &[&message[..cut], &[0; 64]].concat(), false);
        }
    }
    assert_right(hash(REDUCED), REDUCED, false);
}

#[test]
fn among_others() {
    let texts: Vec<_> = (0..1500).map(|i| vec![i as u8; i % 700]).collect();
    let mut messages: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    for (i, at) in (0..messages.len()).step_by(37).enumerate() {
        messages[at] = ATTACKS[i % 4];
    }
    let mut checked = vec![Checked::default(); messages.len()];
    hash_many(&messages, &mut checked);
    for (i, (message, checked)) in messages.iter().zip(checked).enumerate() {
        assert_right(checked, message, i % 37 == 0);
    }
    hash_many::<&[u8]>(&[], &mut []);
}

#[test]
#[should_panic = "room for 1 digests, but there are 2 messages"]
fn too_little_room() {
    hash_many(&["a", "b"], &mut [Checked::default()]);
}
