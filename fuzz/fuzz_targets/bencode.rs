// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parses any input. There is no panic, and an accepted document is consistent: each value's own bytes are bencode of
//! the same kind, and children lie in their parents, in order, and do not overlap.

#![no_main]

use hashloom_torrent::bencode::{Kind, Limits, Value, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let limits = Limits { depth: 20, ..Limits::default() };
    let document = match parse(input, &limits) {
        Ok(document) => document,
        Err(error) => {
            assert!(error.offset <= input.len());
            let _ = error.to_string();
            return;
        }
    };
    assert!(document.note_count() >= document.notes().len());
    document.notes().iter().for_each(|note| drop(note.to_string()));
    let mut todo: Vec<Value<'_>> = vec![document.root()];
    // Parsing every value's bytes again is quadratic only in the depth.
    while let Some(value) = todo.pop() {
        assert_eq!(value.raw(), &input[value.span()]);
        let again = parse(value.raw(), &limits).expect("a value is bencode").root();
        assert_eq!((again.kind(), again.span()), (value.kind(), 0..value.span().len()));
        let inner = value.span().start + 1..value.span().end - 1;
        let mut pos = inner.start;
        match value.kind() {
            Kind::Integer => assert!(value.digits().is_some_and(|digits| !digits.is_empty())),
            Kind::String => assert!(value.string().is_some_and(|bytes| input[value.span()].ends_with(bytes))),
            Kind::List => {
                for item in value.items() {
                    assert_eq!(item.span().start, pos);
                    pos = item.span().end;
                    todo.push(item);
                }
                assert_eq!(pos, inner.end);
            }
            Kind::Dictionary => {
                for entry in value.entries() {
                    assert_eq!(entry.offset, pos);
                    assert!(entry.value.span().start > entry.offset + entry.key.len());
                    pos = entry.value.span().end;
                    todo.push(entry.value);
                }
                assert_eq!(pos, inner.end);
            }
        }
    }
});
