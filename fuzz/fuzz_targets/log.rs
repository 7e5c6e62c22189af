// SPDX-License-Identifier: MIT OR Apache-2.0

//! A log of manifests and its signature: what was signed is read back, and no edit of it is a signed log, unless it
//! only changes the comment that minisign leaves unsigned. Any other bytes are a log only in the one form that logs
//! have, and signatures are read again as they were.

#![no_main]

mod numbers;

use std::sync::LazyLock;

use hashloom::{Algorithm, hash};
use hashloom_manifest::log::{Entry, Log};
use hashloom_signature::{SIGNATURES_MAX, Signatures, Signer};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;

static SIGNER: LazyLock<Signer> = LazyLock::new(|| {
    Signer::parse(include_str!("../../vectors/minisign/minisign.key"), None).expect("a key of minisign")
});

/// The lines of a log, by this model of its form.
fn lines(log: &Log) -> String {
    let mut lines = "{\"format\":\"hashloom manifest log\",\"version\":1}\n".to_owned();
    for entry in log.entries() {
        lines += &format!("{{\"date\":\"{}\",\"sha256\":\"{}\"", entry.date(), entry.sha256());
        if !entry.comment().is_empty() {
            let mut comment = Vec::new();
            hashloom_files::json::write_json(&mut comment, entry.comment()).unwrap();
            lines += &format!(",\"comment\":{}", String::from_utf8(comment).unwrap());
        }
        lines += "}\n";
    }
    lines
}

fn any_bytes(input: &[u8]) {
    if let Ok(log) = Log::read(input) {
        assert!(input.starts_with(lines(&log).as_bytes()), "a log has one form");
        assert!(log.extends(&log).is_ok() && log.extends(&Log::new()).is_ok());
    }
    let Ok(signatures) = Signatures::parse(&String::from_utf8_lossy(input)) else { return };
    assert!(signatures.len() <= SIGNATURES_MAX);
    let kept = signatures.without_wrong(SIGNER.public_key(), &b"content"[..]).unwrap();
    let again = Signatures::parse(&kept).expect("signatures that were read");
    assert!(again.len() < SIGNATURES_MAX && again.len() <= signatures.len());
}

fuzz_target!(|input: &[u8]| {
    any_bytes(input);
    let mut numbers = Numbers(input);
    // A signature takes a hundred times as long as the rest.
    if numbers.next() % 16 != 0 {
        return;
    }
    let mut log = Log::new();
    for number in 0..numbers.next() % 5 {
        let nbytes = numbers.next() % 12;
        let comment = String::from_utf8_lossy(numbers.bytes(nbytes)).into_owned();
        let date = format!("2026-11-{:02}T00:00:{:02}Z", number + 1, numbers.next() % 60);
        let digest = hash(Algorithm::Sha256, &[numbers.next() as u8]);
        log.push(Entry::new(digest, &date, &comment).unwrap()).unwrap();
    }
    let mut bytes = log.signed(&SIGNER, "log").unwrap();
    let lines = lines(&log);
    assert!(bytes.starts_with(lines.as_bytes()));
    let read = Log::read(&bytes[..]).expect("a log that was written");
    assert_eq!(read.entries(), log.entries());
    read.verify(SIGNER.public_key()).expect("a log that was signed");
    for (index, entry) in log.entries().iter().enumerate() {
        let newest = log.entries().iter().rposition(|other| other.sha256() == entry.sha256());
        assert!(newest >= Some(index));
    }
    let rest: Vec<String> = signed_rest(&bytes[lines.len()..]);
    if !numbers.edit(&mut bytes) {
        return;
    }
    let Ok(edited) = Log::read(&bytes[..]) else { return };
    if edited.verify(SIGNER.public_key()).is_ok() {
        assert!(bytes.starts_with(lines.as_bytes()), "other entries are not signed");
        assert_eq!(signed_rest(&bytes[lines.len()..]), rest);
    }
});

/// The lines of a signature that are signed, or sign.
fn signed_rest(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).trim_end().lines().skip(1).map(str::to_owned).collect()
}
