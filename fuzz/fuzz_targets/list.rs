// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses any list of checksums. There is no panic. The lines accepted for one algorithm, and their names, are those of
//! the oracle, and so are the lines accepted in all formats. A line accepted for one algorithm is accepted, with the same
//! result, among all, and by cksum.

#![no_main]

#[path = "../../rust/hashloom-engine/tests/list_oracle/mod.rs"]
mod list_oracle;

use std::cell::RefCell;

use hashloom::Algorithm;
use hashloom_engine::list::{BadLine, Line, Parser};
use libfuzzer_sys::fuzz_target;
use list_oracle::{Oracle, compare, compare_all_formats};

thread_local!(static ORACLE: RefCell<Oracle> = RefCell::new(Oracle::new(Algorithm::Sha1, "SHA1")));

fuzz_target!(|input: &[u8]| {
    ORACLE.with_borrow_mut(|oracle| compare(oracle, Algorithm::Sha1, input));
    compare_all_formats(input);
    let (mut one, mut all) = (Parser::only(Algorithm::Sha1), Parser::new());
    let mut cksum = Parser::cksum(&[Algorithm::Sha1], &[Algorithm::Sha1]);
    for line in input.split(|&byte| byte == b'\n') {
        let before = (all.clone(), cksum.clone());
        let (by_one, by_cksum) = (one.parse(line), cksum.parse(line));
        if !matches!(by_one, Line::Bad(_)) {
            assert_eq!(by_one, by_cksum);
        }
        match (by_one, all.parse(line)) {
            (Line::Entry(entry), other) => assert_eq!(Line::Entry(entry), other),
            (Line::Blank, other) => assert_eq!(Line::Blank, other),
            (Line::Bad(BadLine::Escape), other) => assert_eq!(Line::Bad(BadLine::Escape), other),
            // A line of another algorithm may settle where names begin.
            (Line::Bad(bad), _) => {
                let _ = bad.to_string();
                (all, cksum) = before;
            }
        }
    }
});
