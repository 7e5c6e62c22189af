// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses any list of checksums. There is no panic. The lines accepted for one algorithm, and their names, are those of
//! the oracle. A line accepted for one algorithm is accepted, with the same result, by cksum. Each digest that is found
//! among all forms stands in the list, in hexadecimal or base64, and what a writer makes of an entry is read back. A
//! line that ends with NUL is read, or refused, as what it is. No entry comes from above the text that OpenPGP has
//! signed.

#![no_main]

#[path = "../../rust/hashloom-list/tests/list_oracle/mod.rs"]
mod list_oracle;

use std::cell::RefCell;

use hashloom::Algorithm;
use hashloom_files::text::base64;
use hashloom_list::{BadLine, Line, Parser, Writer};
use libfuzzer_sys::fuzz_target;
use list_oracle::{Oracle, compare};

thread_local!(static ORACLE: RefCell<Oracle> = RefCell::new(Oracle::new(Algorithm::Sha1, "SHA1")));

/// The names of lists that tell something of their forms.
const NAMES: [&[u8]; 6] = [b"", b"a.txt.sha1", b"manifest-sha1.txt", b"a.sfv", b"x.dist-info/RECORD", b"Manifest"];

fuzz_target!(|input: &[u8]| {
    ORACLE.with_borrow_mut(|oracle| compare(oracle, Algorithm::Sha1, input));
    let mut one = Parser::only(Algorithm::Sha1);
    let mut cksum = Parser::cksum(&[Algorithm::Sha1], &[Algorithm::Sha1]);
    for line in input.split(|&byte| byte == b'\n') {
        let before = cksum.clone();
        let (by_one, by_cksum) = (one.parse(line), cksum.parse(line));
        match by_one {
            Line::Unread(bad) | Line::Bad(bad) => {
                let _ = bad.to_string();
                cksum = before;
            }
            by_one => assert_eq!(by_one, by_cksum),
        }
    }
    let squeezed: Vec<u8> = input.iter().filter(|byte| !b" \t\r\n\\".contains(byte)).copied().collect();
    let lower = squeezed.to_ascii_lowercase();
    let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|other| other == part);
    let check = |line: Line<'_>| {
        let Line::Entry(entry) = line else { return };
        for (algorithm, digest) in &entry.digests {
            let in_base64 = base64(digest.as_ref());
            let urlsafe = in_base64.replace('+', "-").replace('/', "_");
            let is_there = has(&lower, digest.to_string().as_bytes())
                || has(&squeezed, in_base64.as_bytes())
                || has(&squeezed, urlsafe.trim_end_matches('=').as_bytes());
            // XML can write any letter as a number.
            assert!(is_there || has(input, b"&#"), "{digest} of {}", entry.name.escape_ascii());
            let mut again = Vec::new();
            Writer::bsd().write(&mut again, digest, *algorithm, &entry.name);
            let Line::Entry(read) = Parser::new().parse(&again[..again.len() - 1]) else { panic!() };
            assert_eq!((&read.digests[..], &read.name), (&[(*algorithm, *digest)][..], &entry.name));
        }
    };
    let mut all = Parser::new();
    all.begin_named(b'\n', NAMES[input.len() % NAMES.len()]);
    for line in input.split(|&byte| byte == b'\n') {
        check(all.parse(line));
        while let Some(more) = all.more(false) {
            check(more);
        }
    }
    while let Some(more) = all.more(true) {
        check(more);
    }
    let mut signed = Parser::new();
    signed.expect_signed();
    for line in input.split(|&byte| byte == b'\n').take_while(|line| !Parser::begins_signed(line)) {
        assert!(!matches!(signed.parse(line), Line::Entry(_)));
        assert_eq!(signed.more(false), None);
    }
    let mut zero = Parser::untagged(&[Algorithm::Sha1]);
    zero.begin_list(0);
    for line in input.split(|&byte| byte == 0) {
        let one_line = line.iter().all(|&byte| byte != b'\n' && byte != b'\r');
        match zero.clone().parse(line) {
            Line::Unread(BadLine::Ends) => assert!(line.contains(&b'\n')),
            found if one_line => {
                zero.begin_list(b'\n');
                assert_eq!(zero.clone().parse(line), found);
                zero.begin_list(0);
            }
            _ => {}
        }
    }
});
