// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of the bencode parser: a table of malformed input, hostile input, and a naive parser to compare with.

use crate::maker::Bencode;
use hashloom_torrent::bencode::{Error, ErrorKind, Kind, Limits, NoteKind, Value, parse};
use proptest::prelude::*;

fn error(input: &[u8]) -> Error {
    match parse(input, &Limits::default()) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {:?}", String::from_utf8_lossy(input)),
    }
}

#[test]
fn malformed_input_is_an_error_that_says_where_and_what() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "byte 0: the input ends, expected a value"),
        (b"x", "byte 0: expected a value, found 'x'"),
        (b"\n", "byte 0: expected a value, found the byte 0x0a"),
        (b"e", "byte 0: expected a value, found 'e'"),
        (b"-1:a", "byte 0: expected a value, found '-'"),
        (b"5", "byte 1: the input ends, expected a digit or ':' in the length of a string"),
        (b"5x", "byte 1: expected a digit or ':' in the length of a string, found 'x'"),
        (b"5:abcd", "byte 0: a string of 5 bytes begins, but only 4 bytes are left"),
        (b"18446744073709551615:a", "byte 0: a string of 18446744073709551615 bytes begins, but only 1 bytes are left"),
        (b"18446744073709551616:a", "byte 0: the length of a string does not fit 64 bits"),
        (b"99999999999999999999999999999999:a", "byte 0: the length of a string does not fit 64 bits"),
        (b"i", "byte 1: the input ends, expected a digit of an integer"),
        (b"ie", "byte 1: expected a digit of an integer, found 'e'"),
        (b"i-e", "byte 2: expected a digit of an integer, found 'e'"),
        (b"i--1e", "byte 2: expected a digit of an integer, found '-'"),
        (b"i+5e", "byte 1: expected a digit of an integer, found '+'"),
        (b"i 5e", "byte 1: expected a digit of an integer, found the byte 0x20"),
        (b"i5", "byte 2: the input ends, expected a digit or 'e' (the end of an integer)"),
        (b"i5.0e", "byte 2: expected a digit or 'e' (the end of an integer), found '.'"),
        (b"i0x10e", "byte 2: expected a digit or 'e' (the end of an integer), found 'x'"),
        (b"l", "[0], byte 1: the input ends, expected a value or 'e' (the end of a list)"),
        (b"li1e", "[1], byte 4: the input ends, expected a value or 'e' (the end of a list)"),
        (b"d", "byte 1: the input ends, expected a key (a string) or 'e' (the end of a dictionary)"),
        (b"di1ei2ee", "byte 1: expected a key (a string) or 'e' (the end of a dictionary), found 'i'"),
        (b"dlei2ee", "byte 1: expected a key (a string) or 'e' (the end of a dictionary), found 'l'"),
        (b"d1:ae", "a, byte 4: expected a value for the key, found 'e'"),
        (b"d1:a", "a, byte 4: the input ends, expected a value for the key"),
        (b"d1:ai1e1:b", "b, byte 10: the input ends, expected a value for the key"),
        (b"d1:ad1:bli1ei", "a.b[1], byte 13: the input ends, expected a digit of an integer"),
        (b"d1:ad1:bli1ee9", "a, byte 14: the input ends, expected a digit or ':' in the length of a string"),
        (b"d3:a.bi", "[\"a.b\"], byte 7: the input ends, expected a digit of an integer"),
        (b"d1:ad0:i", "a[\"\"], byte 8: the input ends, expected a digit of an integer"),
        (b"d2:\x1b\xffi", r#"["\x1b\xff"], byte 6: the input ends, expected a digit of an integer"#),
    ];
    for (input, message) in cases {
        assert_eq!(error(input).to_string(), *message, "{:?}", String::from_utf8_lossy(input));
    }
}

#[test]
fn what_clients_accept_is_accepted_and_noted() {
    let long = format!("d200:{}i1e1:ai2ee", "z".repeat(200));
    let cases: &[(&[u8], &[&str])] = &[
        (b"de", &[]),
        (b"d1:ai1e1:bi2ee", &[]),
        (b"i0e", &[]),
        (b"0:", &[]),
        (b"i-0e", &["byte 0: an integer is -0"]),
        (b"i007e", &["byte 0: an integer with a leading zero"]),
        (b"i-01e", &["byte 0: an integer with a leading zero"]),
        (b"003:abc", &["byte 0: the length of a string has a leading zero"]),
        (b"00:", &["byte 0: the length of a string has a leading zero"]),
        (b"i1ei2e", &["byte 3: 3 bytes follow the end, they are ignored"]),
        (b"i1e\n", &["byte 3: 1 bytes follow the end, they are ignored"]),
        (b"d1:bi1e1:ai2ee", &["byte 7: key \"a\" comes after \"b\": keys are not sorted"]),
        (b"d1:ai1e1:ai2ee", &["byte 7: key \"a\" is there twice, the first counts"]),
        (b"d1:\x1bi1e0:i2ee", &["byte 7: key \"\" comes after \"\\x1b\": keys are not sorted"]),
        // One key out of order is one note, not one for each key after it.
        (b"d1:zi1e1:ai1e1:~i1ee", &["byte 7: key \"a\" comes after \"z\": keys are not sorted"]),
    ];
    for (input, notes) in cases {
        let document = parse(input, &Limits::default()).unwrap_or_else(|e| panic!("{input:?}: {e}"));
        let found: Vec<String> = document.notes().iter().map(ToString::to_string).collect();
        assert_eq!(found, *notes, "{:?}", String::from_utf8_lossy(input));
        assert_eq!(document.note_count(), notes.len());
    }
    let document = parse(long.as_bytes(), &Limits::default()).unwrap();
    let NoteKind::UnsortedKey { after, .. } = &document.notes()[0].kind else { panic!() };
    assert_eq!(after.len(), 64, "a long key is cut");
}

#[test]
fn notes_are_bounded_but_counted() {
    let input = format!("l{}e", "i-0e".repeat(100_000));
    let document = parse(input.as_bytes(), &Limits::default()).unwrap();
    assert_eq!((document.notes().len(), document.note_count()), (16, 100_000));
}

#[test]
fn deep_nesting_is_refused_at_the_limit_and_costs_nothing() {
    let nested = |depth: usize| [vec![b'l'; depth], vec![b'e'; depth]].concat();
    let limits = Limits::default();
    assert!(parse(&nested(limits.depth), &limits).is_ok());
    for hostile in [nested(limits.depth + 1), nested(100_000), vec![b'l'; 5 << 20], b"d1:a".repeat(1 << 20)] {
        let error = error(&hostile);
        assert_eq!(error.kind, ErrorKind::TooDeep { limit: 100 });
        assert!(error.offset <= 400);
    }
    // The limit holds in a key that nobody reads, too.
    let hidden = [b"d4:infode1:x".to_vec(), nested(200_000), b"e".to_vec()].concat();
    assert!(matches!(error(&hidden).kind, ErrorKind::TooDeep { .. }));
    let text = error(&nested(101)).to_string();
    assert_eq!(text, "[0][0][0][0][0][0][0][0]…, byte 100: more than 100 lists and dictionaries inside each other");
    // The caller may set any limit.
    let deep = Limits { depth: usize::MAX, ..limits };
    let document = nested(1_000_000);
    assert_eq!(parse(&document, &deep).unwrap().root().items().count(), 1);
    assert!(parse(b"le", &Limits { depth: 0, ..limits }).is_err());
    assert!(parse(b"i1e", &Limits { depth: 0, ..limits }).is_ok());
}

#[test]
fn size_is_limited() {
    let limits = Limits { nbytes: 4, depth: 1 };
    assert!(parse(b"2:ab", &limits).is_ok());
    let error = parse(b"3:abc", &limits).unwrap_err();
    assert_eq!(error.to_string(), "byte 4: the input has 5 bytes, the limit is 4");
}

#[test]
fn integers_of_any_length_are_integers() {
    let value = |text: &str| {
        let input = format!("i{text}e").into_bytes();
        parse(&input, &Limits::default()).unwrap().root().integer()
    };
    assert_eq!(value("9223372036854775807"), Some(i64::MAX));
    assert_eq!(value("-9223372036854775808"), Some(i64::MIN));
    assert_eq!(value("9223372036854775808"), None);
    assert_eq!(value("-9223372036854775809"), None);
    assert_eq!(value("000000000000000000000000000000007"), Some(7));
    assert_eq!(value("-0"), Some(0));
    assert_eq!(value(&"9".repeat(1 << 20)), None);
}

#[test]
fn values_keep_their_spans() {
    let input = b"d1:ali1e2:xyd1:k0:ee1:b3:foo1:ci-7eetrailing";
    let document = parse(input, &Limits::default()).unwrap();
    let root = document.root();
    assert_eq!((root.kind(), root.span()), (Kind::Dictionary, 0..input.len() - 8));
    let a = root.get(b"a").unwrap();
    assert_eq!(a.raw(), b"li1e2:xyd1:k0:ee");
    let items: Vec<Value<'_>> = a.items().collect();
    assert_eq!(items.iter().map(Value::kind).collect::<Vec<_>>(), [Kind::Integer, Kind::String, Kind::Dictionary]);
    assert_eq!((items[0].integer(), items[1].string()), (Some(1), Some(&b"xy"[..])));
    assert_eq!(items[2].get(b"k").unwrap().string(), Some(&b""[..]));
    assert_eq!(root.get(b"c").unwrap().digits(), Some(&b"-7"[..]));
    let keys: Vec<_> = root.entries().map(|entry| (entry.key, entry.offset)).collect();
    assert_eq!(keys, [(&b"a"[..], 1), (b"b", 20), (b"c", 28)]);
    // Accessors find nothing in a value of another kind.
    assert!(items[1].get(b"x").is_none() && items[0].string().is_none() && items[1].integer().is_none());
    assert_eq!((root.items().count(), a.entries().count()), (0, 0));
}

#[test]
fn of_a_key_that_is_there_twice_the_first_counts() {
    let document = parse(b"d1:ai1e1:bi3e1:ai2ee", &Limits::default()).unwrap();
    assert_eq!(document.root().get(b"a").unwrap().integer(), Some(1));
}

/// The naive parser: recursive, builds a tree, knows nothing of positions. `None` if the input is not bencode.
fn naive(input: &[u8], depth: usize) -> Option<(Bencode, &[u8])> {
    match *input.first()? {
        b'i' => {
            let end = input.iter().position(|&b| b == b'e')?;
            let digits = std::str::from_utf8(&input[1..end]).ok()?;
            let unsigned = digits.strip_prefix('-').unwrap_or(digits);
            if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            // A number that does not fit becomes "?": both sides only need to agree that it is an integer.
            Some((digits.parse().map_or_else(|_| Bencode::Bytes(b"?".to_vec()), Bencode::Integer), &input[end + 1..]))
        }
        b'0'..=b'9' => {
            let colon = input.iter().position(|&b| b == b':')?;
            let digits = std::str::from_utf8(&input[..colon]).ok()?;
            if !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let nbytes: usize = digits.parse().ok()?;
            let body = input[colon + 1..].get(..nbytes)?;
            Some((Bencode::Bytes(body.to_vec()), &input[colon + 1 + nbytes..]))
        }
        b'l' => {
            let mut rest = &input[1..];
            let mut items = Vec::new();
            depth.checked_sub(1)?;
            while *rest.first()? != b'e' {
                let (item, after) = naive(rest, depth - 1)?;
                items.push(item);
                rest = after;
            }
            Some((Bencode::List(items), &rest[1..]))
        }
        b'd' => {
            let mut rest = &input[1..];
            let mut entries = Vec::new();
            depth.checked_sub(1)?;
            while *rest.first()? != b'e' {
                rest.first().filter(|b| b.is_ascii_digit())?;
                let (Bencode::Bytes(key), after) = naive(rest, 0)? else { return None };
                let (value, after) = naive(after, depth - 1)?;
                entries.push((key, value));
                rest = after;
            }
            Some((Bencode::Dictionary(entries), &rest[1..]))
        }
        _ => None,
    }
}

/// The tree of a parsed value, built through all methods of `Value`.
fn tree(value: Value<'_>) -> Bencode {
    match value.kind() {
        Kind::Integer => value.integer().map_or_else(|| Bencode::Bytes(b"?".to_vec()), Bencode::Integer),
        Kind::String => Bencode::Bytes(value.string().unwrap().to_vec()),
        Kind::List => Bencode::List(value.items().map(tree).collect()),
        Kind::Dictionary => {
            Bencode::Dictionary(value.entries().map(|entry| (entry.key.to_vec(), tree(entry.value))).collect())
        }
    }
}

fn agree(input: &[u8]) -> Result<(), TestCaseError> {
    let limits = Limits { depth: 8, ..Limits::default() };
    match (parse(input, &limits), naive(input, limits.depth)) {
        (Ok(document), Some((expected, rest))) => {
            prop_assert_eq!(tree(document.root()), expected);
            prop_assert_eq!(document.root().span().end, input.len() - rest.len());
        }
        (Err(error), None) => prop_assert!(error.offset <= input.len()),
        (ours, theirs) => prop_assert!(false, "we: {:?}, the naive parser: {:?}", ours.map(|d| d.root()), theirs),
    }
    Ok(())
}

fn any_value() -> impl Strategy<Value = Bencode> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..12);
    let leaf = prop_oneof![any::<i64>().prop_map(Bencode::Integer), bytes().prop_map(Bencode::Bytes)];
    leaf.prop_recursive(10, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Bencode::List),
            prop::collection::vec((bytes(), inner), 0..6).prop_map(Bencode::Dictionary),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn agrees_with_the_naive_parser_on_valid_input(value in any_value()) {
        agree(&value.write())?;
    }

    #[test]
    fn agrees_with_the_naive_parser_on_damaged_input(
        value in any_value(),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..4u8, prop::sample::select(&b"ilde0123456789:-+x\0"[..])),
            1..4,
        ),
    ) {
        let mut input = value.write();
        for (at, edit, byte) in edits {
            if input.is_empty() {
                break;
            }
            let at = at.index(input.len());
            match edit {
                0 => input[at] = byte,
                1 => input.insert(at, byte),
                2 => drop(input.remove(at)),
                _ => input.truncate(at),
            }
        }
        agree(&input)?;
    }

    #[test]
    fn agrees_with_the_naive_parser_on_letters(
        input in prop::collection::vec(prop::sample::select(&b"ilde012:-"[..]), 0..24),
    ) {
        agree(&input)?;
    }
}
