// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every name of `hashloom.h` is bound, with the same number, and with the same fields.

const HEADER: &str = include_str!("../include/hashloom.h");
const BINDINGS: &str =
    concat!(include_str!("../lib.rs"), include_str!("../algorithms.rs"), include_str!("../rooms.rs"));

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
fn types() {
    for (name, after) in names(&code(), "hl_") {
        let is_bound = ["type", "struct"].iter().any(|kind| BINDINGS.contains(&format!("pub {kind} {name} ")));
        assert!(is_bound || after.starts_with('('), "{name} is not bound");
    }
}

/// A parameter: its name, and its type in Rust's words. `hl_ctx *const ctxs[]` is a pointer to pointers.
fn parameter(text: &str) -> String {
    if let Some((_, function)) = text.split_once("(*") {
        return function.split_once(')').unwrap().0.to_owned();
    }
    let (of, name) = text.rsplit_once([' ', '*']).unwrap();
    let (of, name, is_array) = (of.trim(), name.trim_end_matches("[]"), name.ends_with("[]"));
    match (of.strip_suffix(" *const"), text.contains('*')) {
        (Some(of), _) => format!("{name}: *const {}", in_rust(of, true)),
        (None, is_pointer) => format!("{name}: {}", in_rust(of, is_pointer || is_array)),
    }
}

#[test]
fn functions() {
    let code = code();
    let mut count = 0;
    // A declaration is what stands between the last `HL_API` or `HL_CALL` and a semicolon.
    for text in code.split(';') {
        let Some(declared) = ["\nHL_API ", "\nHL_CALL "].iter().find_map(|mark| text.split(mark).nth(1)) else {
            continue;
        };
        let declared = declared.split_whitespace().collect::<Vec<_>>().join(" ");
        let (head, parameters) = declared.split_once('(').unwrap();
        let parameters = parameters.strip_suffix(')').unwrap();
        let (of, name) = head.rsplit_once([' ', '*']).unwrap();
        let parameters: Vec<String> = match parameters {
            "void" => vec![],
            _ => parameters.split(", ").map(parameter).collect(),
        };
        let bound = BINDINGS.split_once(&format!(" fn {name}(")).unwrap_or_else(|| panic!("{name} is not bound")).1;
        let (bound, rest) = bound.split_once(';').unwrap().0.rsplit_once(')').unwrap();
        let bound: Vec<&str> = bound.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
        assert_eq!(bound.len(), parameters.len(), "{name}");
        for (bound, expected) in bound.iter().zip(&parameters) {
            assert!(
                bound == expected || bound.starts_with(&format!("{expected}: Option<unsafe extern")),
                "{name}: {bound}, {expected}"
            );
        }
        let result = match in_rust(of.trim(), head.contains('*')) {
            of if of == "c_void" => String::new(),
            of => format!(" -> {of}"),
        };
        assert_eq!(rest, result, "{name}");
        count += 1;
    }
    assert!(count >= 40, "only {count} functions found");
}

/// A C type in Rust's words.
fn in_rust(of: &str, is_pointer: bool) -> String {
    let (mutability, name) = of.strip_prefix("const ").map_or(("mut", of), |name| ("const", name));
    let name = match name {
        "void" => "c_void",
        "char" => "c_char",
        "unsigned" => "c_uint",
        "int" => "c_int",
        "size_t" => "usize",
        "uint8_t" => "u8",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "hl_scheduled_fn" => "Option<hl_scheduled_fn>",
        name => name,
    };
    // A function's type is a pointer already.
    if is_pointer && !name.contains("_fn") { format!("*{mutability} {name}") } else { name.to_owned() }
}

/// The only type of a function that a structure has: `int (*)(void *context)`.
const CALLBACK: &str = r#"Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>"#;

/// `#[repr(C)]` does the rest: a structure with the fields of the header has its layout.
#[test]
fn structures() {
    let code = code();
    let mut count = 0;
    for (name, fields) in code.split("typedef struct ").skip(1).map(|after| after.split_once(" {").unwrap()) {
        let mut expected = Vec::new();
        for field in fields.split_once('}').unwrap().0.split(';').filter(|field| !field.trim().is_empty()) {
            let field = field.split_whitespace().collect::<Vec<_>>().join(" ");
            // `uint64_t first, last` are two fields, and the last word before them ends the type.
            if let Some((_, function)) = field.split_once("(*") {
                let name = function.split_once(')').unwrap().0;
                expected.push(format!("pub {name}: {CALLBACK}"));
                continue;
            }
            let names = field.find(", ").map_or(field.as_str(), |at| &field[..at]).rfind(' ').unwrap();
            for name in field[names + 1..].split(", ") {
                let of = in_rust(&field[..names], name.starts_with('*'));
                let name = name.trim_start_matches('*');
                expected.push(match name.split_once('[') {
                    Some((name, lengths)) if lengths.contains("][") => {
                        let (outer, inner) = lengths.split_once("][").unwrap();
                        format!("pub {name}: [[{of}; {inner}; {outer}]")
                    }
                    Some((name, length)) => format!("pub {name}: [{of}; {}", length),
                    None => format!("pub {name}: {of}"),
                });
            }
        }
        let (before, bound) = BINDINGS.split_once(&format!("pub struct {name} {{\n")).expect(name);
        let lines = bound.split_once("\n}").unwrap().0.lines().map(|line| line.trim().trim_end_matches(','));
        assert_eq!(lines.filter(|line| line.starts_with("pub ")).collect::<Vec<_>>(), expected, "{name}");
        assert!(before.rsplit("\n\n").next().unwrap().contains("#[repr(C)]"), "{name}");
        count += 1;
    }
    assert_eq!(count, code.matches("typedef struct").count());
    assert!(count >= 9, "only {count} structures found");
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
