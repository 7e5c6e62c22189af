// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes JSON. Bytes that are not UTF-8 become U+FFFD, as in the names that browsers give files.

use std::fmt::Write;

/// An object, member by member.
pub(crate) struct Json(String);

impl Json {
    pub(crate) fn object() -> Json {
        Json("{".into())
    }

    fn member(mut self, name: &str, value: &str) -> Json {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
        self
    }

    pub(crate) fn text(self, name: &str, value: &[u8]) -> Json {
        let value = string(value);
        self.member(name, &value)
    }

    /// JavaScript reads numbers exactly up to 2^53: more bytes than any file has.
    pub(crate) fn number(self, name: &str, value: u64) -> Json {
        self.member(name, &value.to_string())
    }

    pub(crate) fn truth(self, name: &str, value: bool) -> Json {
        self.member(name, if value { "true" } else { "false" })
    }

    pub(crate) fn list(self, name: &str, items: impl Iterator<Item = Vec<u8>>) -> Json {
        let items = String::from_utf8(list(items)).unwrap_or_default();
        self.member(name, &items)
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.push('}');
        self.0.into_bytes()
    }
}

pub(crate) fn list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut text = vec![b'['];
    for (i, item) in items.enumerate() {
        if i > 0 {
            text.push(b',');
        }
        text.extend_from_slice(&item);
    }
    text.push(b']');
    text
}

pub(crate) fn text(bytes: &[u8]) -> Vec<u8> {
    string(bytes).into_bytes()
}

fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for letter in String::from_utf8_lossy(bytes).chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", control as u32);
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        assert_eq!(string(b"a\"b\\c\n\x1b\xff<"), "\"a\\\"b\\\\c\\u000a\\u001b\u{fffd}<\"");
        let json = Json::object().text("a", b"x").number("b", 7).list("c", [text(b"y")].into_iter()).end();
        assert_eq!(json, br#"{"a":"x","b":7,"c":["y"]}"#);
    }
}
