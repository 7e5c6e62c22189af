// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lines of `hashloom sum --json` as lines of a list.

use std::fmt;

use hashloom::{Algorithm, Hash};
use hashloom_files::text::{from_hex, shown};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::Entry;

/// The content of a line.
pub enum JsonLine<'a> {
    Entry(Entry<'a>),
    /// The first line of a manifest.
    Manifest,
}

/// The keys that are read; there may be others.
#[derive(Deserialize)]
struct Sum {
    path: String,
    path_hex: Option<String>,
    length: Option<u64>,
    digests: Digests,
}

#[derive(Deserialize)]
struct First {
    format: String,
}

/// Parses a line that begins with a brace. An error says what the line is not.
pub fn parse(line: &[u8]) -> Result<JsonLine<'static>, String> {
    if serde_json::from_slice(line).is_ok_and(|First { format }| format == "hashloom manifest") {
        return Ok(JsonLine::Manifest);
    }
    let bad =
        |why: &dyn fmt::Display| format!("no object of `hashloom sum --json`: {}", shown(why.to_string().as_bytes()));
    let several = || "JSON over several lines; in a list each line has an object with path and digests".to_owned();
    let why = |error: serde_json::Error| if error.is_eof() { several() } else { bad(&error) };
    let sum: Sum = serde_json::from_slice(line).map_err(why)?;
    let name = match sum.path_hex {
        None => sum.path.into_bytes(),
        Some(digits) => {
            let bytes = from_hex(&digits).filter(|bytes| String::from_utf8_lossy(bytes) == sum.path);
            bytes.ok_or_else(|| bad(&"path_hex is not the path in hexadecimal"))?
        }
    };
    Ok(JsonLine::Entry(Entry { nbytes: sum.length, ..Entry::new(sum.digests.0, true, name.into()) }))
}

/// Digests by the names of their algorithms.
struct Digests(Vec<(Algorithm, Hash)>);

impl<'de> Deserialize<'de> for Digests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digests, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Digests;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of digests")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digests, A::Error> {
                let mut digests: Vec<(Algorithm, Hash)> = Vec::new();
                while let Some((name, digits)) = map.next_entry::<String, String>()? {
                    let algorithm: Algorithm = name.parse().map_err(A::Error::custom)?;
                    if digests.iter().any(|(other, _)| *other == algorithm) {
                        return Err(A::Error::custom(format!("{name} is there twice")));
                    }
                    let digest: Option<Hash> = digits.parse().ok();
                    let fits = |digest: &Hash| digest.as_ref().len() == algorithm.digest_nbytes();
                    let digest = digest.filter(fits);
                    let digest =
                        digest.ok_or_else(|| A::Error::custom(format!("{algorithm} has a malformed digest")))?;
                    digests.push((algorithm, digest));
                }
                if digests.is_empty() { Err(A::Error::custom("there is no digest")) } else { Ok(Digests(digests)) }
            }
        }

        deserializer.deserialize_map(Each)
    }
}
