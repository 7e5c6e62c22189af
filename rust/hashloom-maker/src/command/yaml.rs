// SPDX-License-Identifier: MIT OR Apache-2.0

//! YAML of files from anywhere, as values with their lines. An alias shares its value instead of a copy, so aliases of
//! aliases take no room; depth, length, and what merge keys copy are bounded.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use hashloom_frame::text::{display, failed};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// No preset or batch file comes near these.
const NBYTES_MAX: u64 = 4 << 20;
const DEPTH_MAX: usize = 32;
const MERGED_MAX: usize = 100_000;

/// A value, and its place.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    file: &'a Path,
    line: usize,
    value: Rc<Value<'a>>,
}

#[derive(Debug)]
enum Value<'a> {
    Null,
    Text(String),
    List(Vec<Node<'a>>),
    /// Keys with their places, and values.
    Map(Vec<(Node<'a>, Node<'a>)>),
}

/// A list or map that has not ended yet.
struct Open<'a> {
    line: usize,
    anchor: usize,
    is_map: bool,
    nodes: Vec<Node<'a>>,
}

/// Reads a file of one document.
pub fn read(file: &Path) -> Result<Node<'_>, String> {
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(NBYTES_MAX + 1).read_to_end(&mut bytes));
    opened.map_err(|error| failed(file, &error))?;
    if bytes.len() as u64 > NBYTES_MAX {
        return Err(format!("{}: more than {} MiB. Split it", display(file), NBYTES_MAX >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&byte| byte == b'\n').count();
        at(file, line, "bytes that are not UTF-8. Save the file as UTF-8")
    })?;
    parse(file, &text)
}

fn at(file: &Path, line: usize, what: impl Display) -> String {
    format!("{}, line {line}: {what}", display(file))
}

fn parse<'a>(file: &'a Path, text: &str) -> Result<Node<'a>, String> {
    let mut parser = Parser::new_from_str(text.trim_start_matches('\u{feff}'));
    let mut anchors: HashMap<usize, Node<'a>> = HashMap::new();
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut root = None;
    let mut merged = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let what = hashloom_files::text::shown(error.info().as_bytes()).to_string();
            at(file, error.marker().line(), format_args!("this is not YAML: {what}"))
        })?;
        let line = span.start.line();
        let node = |line, value| Node { file, line, value: Rc::new(value) };
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_null = style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                (anchor, node(line, if is_null { Value::Null } else { Value::Text(text.into_owned()) }))
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) if open.len() < DEPTH_MAX => {
                open.push(Open { line, anchor, is_map: matches!(event, Event::MappingStart(..)), nodes: Vec::new() });
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err(at(file, line, format_args!("more than {DEPTH_MAX} lists and maps in each other")));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { line, anchor, is_map, nodes }) = open.pop() else { continue };
                let value = if is_map { Value::Map(pairs(nodes, &mut merged)?) } else { Value::List(nodes) };
                (anchor, node(line, value))
            }
            // The value of an anchor that has not ended, which would be part of itself, is not known yet.
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(known) => (0, Node { line, ..known.clone() }),
                None => return Err(at(file, line, "this alias is part of its own anchor. Write the value out")),
            },
            Event::DocumentStart(_) if root.is_some() => {
                return Err(at(file, line, "a second document. Put it into a file of its own"));
            }
            _ => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, node.clone());
        }
        match open.last_mut() {
            Some(open) => open.nodes.push(node),
            None => root = Some(node),
        }
    }
    root.ok_or_else(|| format!("{}: this file is empty", display(file)))
}

/// Makes pairs of keys and values, and takes in what the merge key `<<` names.
fn pairs<'a>(nodes: Vec<Node<'a>>, merged: &mut usize) -> Result<Vec<(Node<'a>, Node<'a>)>, String> {
    let mut pairs: Vec<(Node<'a>, Node<'a>)> = Vec::with_capacity(nodes.len() / 2);
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut sources = Vec::new();
    let mut nodes = nodes.into_iter();
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        let name = key.text()?.to_owned();
        if name == "<<" {
            sources.push(value);
        } else if let Some(line) = known.insert(name, key.line) {
            return Err(key.error(format_args!("the same key as in line {line}. Leave one of them")));
        } else {
            pairs.push((key, value));
        }
    }
    for source in sources {
        let maps = if let Value::List(maps) = &*source.value { maps.clone() } else { vec![source] };
        for map in maps {
            for (key, value) in map.pairs()? {
                *merged += 1;
                if *merged > MERGED_MAX {
                    return Err(map.error(format_args!("merge keys bring more than {MERGED_MAX} values")));
                }
                if !known.contains_key(key.text()?) {
                    known.insert(key.text()?.to_owned(), key.line);
                    pairs.push((key.clone(), value.clone()));
                }
            }
        }
    }
    Ok(pairs)
}

impl<'a> Node<'a> {
    /// An error with file and line.
    pub fn error(&self, what: impl Display) -> String {
        at(self.file, self.line, what)
    }

    fn expected(&self, what: &str) -> String {
        let found = match &*self.value {
            Value::Null => "nothing".into(),
            Value::Text(text) => hashloom_files::text::quoted(text.as_bytes()).to_string(),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a map".into(),
        };
        self.error(format_args!("expected {what}, found {found}"))
    }

    pub fn is_null(&self) -> bool {
        matches!(*self.value, Value::Null)
    }

    pub fn text(&self) -> Result<&str, String> {
        if let Value::Text(text) = &*self.value { Ok(text) } else { Err(self.expected("a text")) }
    }

    /// The text as a number, a size or another type that says what it expects.
    pub fn parsed<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
        parse(self.text()?).map_err(|what| self.error(what))
    }

    /// A boolean, as Go's yaml.v3 reads it into one.
    pub fn is_true(&self) -> Result<bool, String> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" => Ok(true),
            "false" | "no" | "off" | "n" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    pub fn list(&self) -> Result<&[Node<'a>], String> {
        if let Value::List(list) = &*self.value { Ok(list) } else { Err(self.expected("a list, such as [a, b]")) }
    }

    pub fn pairs(&self) -> Result<&[(Node<'a>, Node<'a>)], String> {
        if let Value::Map(pairs) = &*self.value { Ok(pairs) } else { Err(self.expected("keys with values")) }
    }

    /// The value of a key of a map, unless there is none.
    pub fn get(&self, name: &str) -> Result<Option<&Node<'a>>, String> {
        let pair = self.pairs()?.iter().find(|(key, _)| key.text().is_ok_and(|key| key == name));
        Ok(pair.map(|(_, value)| value).filter(|value| !value.is_null()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_and_odd_files() {
        let laughs: String =
            (1..30).map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", "))).collect();
        let laughs = format!("a0: &a0 [x]\n{laughs}");
        assert_eq!(parse(Path::new("f"), &laughs).unwrap().pairs().unwrap().len(), 30);
        let wide: String = (0..400).map(|i| format!("k{i}: 1, ")).collect();
        let merges: String = (1..400).map(|i| format!("m{i}: &m{i} {{<<: *m{}}}\n", i - 1)).collect();
        let cases = [
            (format!("m0: &m0 {{{wide}}}\n{merges}"), "line 252: merge keys bring more than 100000 values"),
            ("[".repeat(100), "line 1: more than 32 lists and maps in each other"),
            ("a: &a [*a]".into(), "line 1: this alias is part of its own anchor"),
            ("a: 1\nb: 2\na: 3".into(), "line 3: the same key as in line 1. Leave one of them"),
            ("a: 1\n---\nb: 2".into(), "line 2: a second document"),
            ("a: [1\nb: }".into(), "this is not YAML: "),
            ("[a]: 1".into(), "line 1: expected a text, found a list"),
            ("a: *b".into(), "line 1: this is not YAML: "),
            (String::new(), "f: this file is empty"),
        ];
        for (text, part) in cases {
            let error = parse(Path::new("f"), &text).unwrap_err();
            assert!(error.contains(part), "{error}: {part}");
        }
        let text = "\u{feff}x: &x {a: 1, b: ~}\ny: {<<: *x, a: 'no', c: \"~\"}\n";
        let node = parse(Path::new("f"), text).unwrap();
        let y = node.get("y").unwrap().unwrap();
        assert!(!y.get("a").unwrap().unwrap().is_true().unwrap());
        assert!(y.get("b").unwrap().is_none() && y.get("c").unwrap().is_some());
        // No change of a file ends the program.
        let text = "a: &x [1, 'b', \"c\\n\", {d: |\n  e\n}]\n? f\n: *x\ng: >-\n  h # i\n";
        for at in 0..text.len() {
            for byte in 0..128_u8 {
                let changed = [&text.as_bytes()[..at], &[byte], &text.as_bytes()[at + 1..]].concat();
                let _ = parse(Path::new("f"), &String::from_utf8(changed).unwrap());
            }
        }
    }
}
