// SPDX-License-Identifier: MIT OR Apache-2.0

//! Logs of manifests, signed by minisign's keys in vectors/minisign.

use std::path::Path;

use hashloom::{Algorithm, hash};
use hashloom_manifest::log::{Entry, Log, LogError};
use hashloom_signature::{SignatureError, Signer};

fn vector(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The key without a password, and the other one.
fn signers() -> (Signer, Signer) {
    let signer = Signer::parse(&vector("minisign.key"), None).unwrap();
    (signer, Signer::parse(&vector("password.key"), Some("correct horse")).unwrap())
}

#[test]
fn a_log_is_signed_with_its_head() {
    let (signer, other) = signers();
    let mut log = Log::new();
    let entry =
        |text: &str| Entry::new(hash(Algorithm::Sha256, text.as_bytes()), "2026-11-26T14:05:00Z", text).unwrap();
    log.push(entry("one")).unwrap();
    log.push(entry("two")).unwrap();
    let bytes = log.signed(&signer, "log").unwrap();
    let read = Log::read(&bytes[..]).unwrap();
    assert_eq!(read.entries(), log.entries());
    let signed = read.verify(signer.public_key()).unwrap();
    assert_eq!((signed.part("file"), signed.part("size")), (Some("log"), Some("2")));
    assert!(matches!(read.verify(other.public_key()), Err(LogError::Signature(SignatureError::OtherKey { .. }))));
    assert!(matches!(log.verify(signer.public_key()), Err(LogError::Unsigned)), "not one that was changed since");
    // Right signatures of the lines, but none of a log, or with another head.
    let text = String::from_utf8(bytes).unwrap();
    let lines = &text[..text.find("untrusted").unwrap()];
    let root = log.root();
    for parts in ["file:log", "size:2", &format!("size:3\troot:{root}"), &format!("size:2\troot:{}", "0".repeat(64))] {
        let signed = [lines, &signer.sign(lines.as_bytes(), parts).unwrap()].concat();
        assert!(
            matches!(Log::read(signed.as_bytes()).unwrap().verify(signer.public_key()), Err(LogError::Head)),
            "{parts}"
        );
    }
    let long = "x".repeat(1001);
    assert!(Entry::new(hash(Algorithm::Sha256, b""), "2026-11-26T14:05:00Z", &long).is_err());
    assert!(Entry::new(hash(Algorithm::Sha1, b""), "2026-11-26T14:05:00Z", "").is_err());
}
