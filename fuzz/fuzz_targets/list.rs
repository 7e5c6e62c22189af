// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses any list of checksums. There is no panic. The lines accepted for one algorithm, and their names, are those of
//! the oracle, and so are the lines accepted in all formats. A line accepted for one algorithm is accepted, with the same
//! result, by cksum, and among all unless it has a NUL. A line that ends with NUL is read, or refused, as what it is.

#![no_main]

#[path = "../../rust/hashloom-list/tests/list_oracle/mod.rs"]
mod list_oracle;

use std::cell::RefCell;

use hashloom::Algorithm;
use hashloom_list::{BadLine, Line, Parser};
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
        if !matches!(by_one, Line::Unread(_) | Line::Bad(_)) {
            assert_eq!(by_one, by_cksum);
        }
        match (by_one, all.parse(line)) {
            (Line::Entry(_), other) if line.contains(&0) => assert_eq!(Line::Unread(BadLine::Ends), other),
            (Line::Entry(entry), other) => assert_eq!(Line::Entry(entry), other),
            (Line::Blank, other) => assert_eq!(Line::Blank, other),
            (Line::Unread(BadLine::Escape), other) => assert_eq!(Line::Unread(BadLine::Escape), other),
            // A line of another algorithm may settle where names begin.
            (Line::Unread(bad) | Line::Bad(bad), _) => {
                let _ = bad.to_string();
                (all, cksum) = before;
            }
        }
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
