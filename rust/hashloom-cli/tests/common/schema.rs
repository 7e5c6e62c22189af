// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the program prints as JSON must be valid by docs/hashloom.schema.json, which the sources of the program write
//! (tools/json_schema.py). A field that the schema does not name is a fault here, though the schema allows it.

use std::sync::LazyLock;

use serde_json::Value;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../docs/hashloom.schema.json")).unwrap());

/// Checks each line that a command with --json has printed.
#[track_caller]
pub fn check(arguments: &[&str], printed: &[u8]) {
    if !arguments.contains(&"--json") {
        return;
    }
    let definitions = SCHEMA["$defs"].as_object().unwrap();
    let line = format!(" {} ", arguments.join(" "));
    let objects: Vec<&Value> =
        definitions.iter().filter(|(name, _)| line.contains(&format!(" {name} "))).map(|(_, object)| object).collect();
    for object in String::from_utf8_lossy(printed).lines() {
        assert!(!objects.is_empty(), "docs/hashloom.schema.json has no command of {arguments:?}");
        let value = serde_json::from_str(object).unwrap();
        let found: Vec<_> = objects.iter().map(|schema| fault(schema, &value, "$")).collect();
        assert!(found.contains(&None), "not as docs/hashloom.schema.json says: {found:?}: {object}");
    }
}

/// Why a value is not valid. Of JSON Schema this has what the schema uses.
fn fault(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(any) = schema["anyOf"].as_array() {
        let found: Vec<_> = any.iter().map(|schema| fault(schema, value, at)).collect();
        return if found.contains(&None) {
            None
        } else {
            found.into_iter().flatten().reduce(|a, b| format!("{a}; {b}"))
        };
    }
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    let is = |kind: &Value| match (kind.as_str().unwrap(), value) {
        ("integer", Value::Number(number)) => !number.is_f64() || number.as_f64().unwrap() > 1.8e19,
        ("number", Value::Number(_)) | ("null", Value::Null) | ("boolean", Value::Bool(_)) => true,
        ("string", Value::String(_)) | ("array", Value::Array(_)) | ("object", Value::Object(_)) => true,
        _ => false,
    };
    if !kinds.iter().any(is) {
        return Some(format!("{at}: {value} is not of type {kinds:?}"));
    }
    match value {
        Value::String(text) => {
            let is_hex = text.len() % 2 == 0 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            let is_listed = schema["enum"].as_array().is_none_or(|list| list.contains(value));
            (!is_listed || schema.get("pattern").is_some() && !is_hex).then(|| format!("{at}: {text:?}"))
        }
        Value::Number(number) => {
            let is_below = schema.get("minimum").is_some() && number.as_f64().unwrap() < 0.0;
            is_below.then(|| format!("{at}: {number} is below 0"))
        }
        Value::Array(values) => {
            let kind = |i| schema["prefixItems"].get(i).unwrap_or(&schema["items"]);
            values.iter().enumerate().find_map(|(i, value)| fault(kind(i), value, &format!("{at}[{i}]")))
        }
        Value::Object(fields) => {
            let required = schema["required"].as_array().into_iter().flatten();
            let missing = required.map(|key| key.as_str().unwrap()).find(|&key| !fields.contains_key(key));
            let other = schema.get("additionalProperties");
            missing.map(|key| format!("{at}: {key} is missing")).or_else(|| {
                fields.iter().find_map(|(key, value)| match schema["properties"].get(key).or(other) {
                    Some(kind) => fault(kind, value, &format!("{at}.{key}")),
                    None => Some(format!("{at}: the schema lacks {key}")),
                })
            })
        }
        _ => None,
    }
}

#[test]
fn a_wrong_object_is_noticed() {
    let right = serde_json::json!({"path": "a", "length": 1, "digests": {"md5": "00ff"}});
    let sum = &SCHEMA["$defs"]["sum"];
    assert_eq!(fault(sum, &right, "$"), None);
    for (key, wrong) in [
        ("length", serde_json::json!("1")),
        ("length", serde_json::json!(-1)),
        ("digests", serde_json::json!({"md5": "0G"})),
        ("another", serde_json::json!(1)),
    ] {
        let mut value = right.clone();
        value[key] = wrong;
        assert!(fault(sum, &value, "$").is_some_and(|why| why.contains(key)), "{value}");
    }
    assert!(fault(sum, &serde_json::json!({"path": "a"}), "$").is_some());
}
