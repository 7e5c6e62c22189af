// SPDX-License-Identifier: MIT OR Apache-2.0
//! SHA-1 that finds collision attacks: the published pairs alone, among others, and in streams; digests.

use hashloom::sha1dc::{Checked, Hasher, hash, hash_many};

const ATTACKS: [&[u8]; 4] = [
    include_bytes!("../../../vectors/sha1dc/shattered-1.bin"),
    include_bytes!("../../../vectors/sha1dc/shattered-2.bin"),
    include_bytes!("../../../vectors/sha1dc/shambles-1.bin"),
    include_bytes!("../../../vectors/sha1dc/shambles-2.bin"),
];
const REDUCED: &[u8] = include_bytes!("../../../vectors/sha1dc/reduced.bin");

#[track_caller]
fn assert_right(checked: Checked, message: &[u8], is_attack: bool) {
    assert_eq!(hashloom::hash(hashloom::Algorithm::Sha1, message), checked.digest()[..]);
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
