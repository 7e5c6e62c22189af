// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes in JSON, which has only Unicode strings.
//!
//! A name that is not UTF-8 is written with replacement characters. Its bytes stand beside it in hexadecimal, under a
//! key that ends in `_hex`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

pub use hashloom_files::json::write_json;
use hashloom_files::paths::portable;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Bytes as text in hexadecimal.
pub struct Hex<'a>(pub &'a [u8]);

/// A name under its key, and its bytes under the key that ends in `_hex` if they are not UTF-8. An object flattens it.
pub struct Named<'a> {
    key: &'static str,
    text: Cow<'a, str>,
    hex: Option<Hex<'a>>,
}

impl<'a> Named<'a> {
    pub fn new(key: &'static str, bytes: &'a [u8]) -> Named<'a> {
        let text = String::from_utf8_lossy(bytes);
        // The text is borrowed if all bytes are UTF-8.
        let hex = matches!(text, Cow::Owned(_)).then_some(Hex(bytes));
        Named { key, text, hex }
    }

    /// The same for a path, in the form of lists. A path of Windows that is no Unicode stays as it is.
    pub fn path(key: &'static str, path: &'a Path) -> Named<'a> {
        match portable(path) {
            Cow::Borrowed(bytes) => Named::new(key, bytes),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(path) => Named { key, text: path.into(), hex: None },
                Err(_) => Named::new(key, path.as_os_str().as_encoded_bytes()),
            },
        }
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.key, &self.text)?;
        if let Some(hex) = &self.hex {
            map.serialize_entry(&format!("{}_hex", self.key), hex)?;
        }
        map.end()
    }
}

/// Formats a value without a line feed, and so that it cannot steer a terminal.
pub fn line(value: &impl Serialize) -> Result<String, String> {
    let mut line = Vec::new();
    write_json(&mut line, value).map_err(|error| error.to_string())?;
    String::from_utf8(line).map_err(|error| error.to_string())
}

/// Formats one object as one line. Serialisation cannot fail: there are no maps and no fallible values.
pub fn object_line(json: &impl Serialize) -> String {
    line(json).unwrap_or_default() + "\n"
}

pub fn hex(bytes: &[u8]) -> String {
    Hex(bytes).to_string()
}

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hashloom_files::text::Hex(self.0).fmt(f)
    }
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
