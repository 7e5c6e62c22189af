// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signatures, by minisign's keys in vectors/minisign.

use std::path::Path;

use ct_codecs::{Base64, Encoder};
use hashloom_signature::{PublicKey, SignatureError, Signatures, Signer, SignerError};

fn vector(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The key without a password, and the other one.
fn signers() -> (Signer, Signer) {
    let signer = Signer::parse(&vector("minisign.key"), None).unwrap();
    (signer, Signer::parse(&vector("password.key"), Some("correct horse")).unwrap())
}

fn parsed(text: &str) -> Signatures {
    Signatures::parse(text).unwrap()
}

#[test]
fn what_minisign_has_made() {
    let key = PublicKey::parse(&vector("minisign.pub")).unwrap();
    assert_eq!(key.id(), "C0371020E1BC610F");
    assert_eq!(PublicKey::parse(&vector("password.pub")).unwrap().id(), "65FBED873ABA0EB7");
    let manifest = vector("manifest");
    let signed = key.verify(manifest.as_bytes(), &parsed(&vector("manifest.minisig"))).unwrap();
    assert_eq!(signed.comment(), "a test: manifest");
    assert_eq!(signed.part("a test"), Some(" manifest"));
    assert_eq!(signed.part("test"), None);
    assert_eq!(key.verify(manifest.as_bytes(), &parsed(&vector("legacy.minisig"))), Err(SignatureError::Legacy));
    for text in ["", "minisign.key", "RWQPYbzhIBA3wKDEzIfuTBp0Nl2VES5xfOLptmqAt1cgebhVSznOCPa"] {
        assert!(matches!(PublicKey::parse(text), Err(SignatureError::NotAKey(_))), "{text}");
    }
    // Line ends of Windows.
    let windows = vector("manifest.minisig").replace('\n', "\r\n");
    assert!(key.verify(manifest.as_bytes(), &parsed(&windows)).is_ok());
}

/// Anybody can sign by a key of small order. Another form of a key than the shortest is none either.
#[test]
fn weak_keys() {
    let key = |point: [u8; 32]| {
        let bytes = [&b"Ed12345678"[..], &point].concat();
        PublicKey::parse(&Base64::encode_to_string(bytes).unwrap())
    };
    let number = |hex: &str| -> [u8; 32] {
        std::array::from_fn(|i| u8::from_str_radix(&hex[62 - 2 * i..64 - 2 * i], 16).unwrap())
    };
    // 2^255 - 19, and numbers around it; the points of order 8.
    let p = format!("7{}ed", "f".repeat(61));
    let near = |number: i32| p.replace("ed", &format!("{:02x}", 0xed + number));
    let small = |number: u8| format!("{number:064x}");
    for hex in [
        small(0),
        small(1),
        near(-1),
        near(0),
        near(1),
        near(18),
        "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826".into(),
        "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7".into(),
    ] {
        let mut point = number(&hex);
        for _ in 0..2 {
            assert!(matches!(key(point), Err(SignatureError::NotAKey(why)) if why.contains("small order")), "{hex}");
            point[31] ^= 0x80;
        }
    }
    // The base point of RFC 8032, and a number of no point, which no signature fits.
    for hex in [format!("{}58", "66".repeat(31)), small(2), near(-2)] {
        assert!(key(number(&hex)).is_ok(), "{hex}");
    }
}

#[test]
fn secret_keys() {
    let (signer, other) = signers();
    let is = |found: Result<Signer, SignerError>| found.map(drop).unwrap_err();
    assert_eq!(is(Signer::parse(&vector("password.key"), None)), SignerError::Password);
    assert_eq!(is(Signer::parse(&vector("password.key"), Some("wrong"))), SignerError::WrongPassword);
    assert!(matches!(is(Signer::parse(&vector("minisign.pub"), None)), SignerError::NotAKey(_)));
    assert!(!format!("{signer:?}").contains("RWQAAEIy"));
    // The state's key is the secret key's own, and always the same.
    let again = Signer::parse(&vector("minisign.key"), None).unwrap();
    assert_eq!(*signer.state_key(), *again.state_key());
    assert_ne!(*signer.state_key(), *other.state_key());
    assert_ne!(*signer.state_key(), [0; 32]);
}

#[test]
fn one_right_signature_is_enough() {
    let (signer, other) = signers();
    let (old, new) = (signer.sign(&b"old"[..], "file:o").unwrap(), signer.sign(&b"new"[..], "file:n").unwrap());
    let of_other = other.sign(&b"old"[..], "file:x").unwrap();
    let key = signer.public_key();
    let both = parsed(&[&old[..], &new].concat());
    assert_eq!(key.verify(b"old", &both).unwrap().part("file"), Some("o"));
    assert_eq!(key.verify(b"new", &both).unwrap().part("file"), Some("n"));
    assert_eq!(key.verify(b"other", &both), Err(SignatureError::Wrong));
    assert_eq!(
        other.public_key().verify(b"old", &parsed(&[&new[..], &of_other].concat())).unwrap().part("file"),
        Some("x")
    );
    assert!(matches!(other.public_key().verify(b"old", &both), Err(SignatureError::OtherKey { .. })));
    // What is kept while a file is replaced: the right one first, as minisign reads it alone.
    let kept = |texts: &[&str]| parsed(&texts.concat()).without_wrong(key, &b"old"[..]).unwrap();
    assert_eq!(kept(&[&new, &old]), old);
    assert_eq!(kept(&[&of_other, &new, &old]), [&old[..], &of_other].concat());
    assert_eq!(kept(&[&new]), "");
    let four = [&of_other[..], &of_other, &of_other, &old];
    assert_eq!(parsed(&kept(&four)).len(), 3);
    assert!(kept(&four).starts_with(&old));
    assert!(matches!(Signatures::parse(&old.repeat(5)), Err(SignatureError::TooMany)));
    let cut = &[&old[..], &new[..new.len() / 2]].concat();
    assert!(matches!(Signatures::parse(cut), Err(SignatureError::NotASignature { line: 5, .. })));
}
