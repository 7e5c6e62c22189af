// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every name of `hashloom.h` is bound, and with the same number.

const HEADER: &str = include_str!("../include/hashloom.h");
const BINDINGS: &str = include_str!("../lib.rs");

/// The header without comments.
fn code() -> String {
    let mut code = String::new();
    let mut rest = HEADER;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").expect("the comment ends").1;
    }
    code + rest
}

/// The names that begin with `prefix`, each with what follows it.
fn names<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(prefix).filter(move |&(at, _)| !code[..at].ends_with(is_part)).map(move |(at, _)| {
        let end = code[at..].find(|c| !is_part(c)).unwrap() + at;
        (&code[at..end], &code[end..])
    })
}

#[test]
fn functions_and_types() {
    let code = code();
    let mut functions = 0;
    for (name, after) in names(&code, "hl_") {
        let is_function = after.starts_with('(');
        functions += usize::from(is_function);
        let bound = match is_function {
            true => BINDINGS.contains(&format!("fn {name}(")) || BINDINGS.contains(&format!("type {name} =")),
            false => ["type", "struct"].iter().any(|kind| BINDINGS.contains(&format!("pub {kind} {name} "))),
        };
        assert!(bound, "{name} is not bound");
    }
    assert!(functions >= 26, "only {functions} functions found");
}

#[test]
fn constants() {
    let code = code();
    let mut next = 0;
    for (name, after) in names(&code, "HL_").filter(|(name, _)| !name.starts_with("HL_VERSION")) {
        if ["HL_API", "HL_CALL", "HL_SHARED", "HL_DLL"].contains(&name) {
            continue;
        }
        let Some((_, bound)) = BINDINGS.split_once(&format!("const {name}: ")) else {
            panic!("{name} is not bound");
        };
        let bound = bound.split_once(" = ").unwrap().1.split(';').next().unwrap();
        // An enumerator, with its value or the one after the value before, or a macro that is a plain number.
        let value = match after.trim_start() {
            after if after.starts_with('=') => after[1..].split([',', '}']).next().unwrap().trim().parse().unwrap(),
            after if after.starts_with([',', '}']) => next,
            after => match after.split_whitespace().next().unwrap().parse() {
                Ok(value) => value,
                Err(_) => continue,
            },
        };
        next = value + 1;
        if let Ok(bound) = bound.parse::<u64>() {
            assert_eq!(bound, value, "{name}");
        }
    }
}
