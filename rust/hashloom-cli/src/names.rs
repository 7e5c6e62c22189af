// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of algorithms on the command line.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use hashloom::Algorithm;

/// Reads the name of one of these algorithms. The case of the letters and the signs between letters and digits do not
/// matter, so that the names of the standards (`SHA-512/256`) and of OpenSSL (`RIPEMD160`) are names too.
#[derive(Debug, Clone, Copy)]
pub struct Name(pub &'static [Algorithm]);

/// Reads the name of any algorithm.
pub const ANY: Name = Name(Algorithm::ALL);

/// Returns the letters and digits of a name, which are all that counts.
fn key(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '/' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

impl TypedValueParser for Name {
    type Value = Algorithm;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Algorithm, clap::Error> {
        // BSD's name.
        let wanted = value.to_str().map(key).map(|key| if key == "rmd160" { "ripemd160".into() } else { key });
        if let Some(found) = self.0.iter().find(|algorithm| Some(key(algorithm.name())) == wanted) {
            return Ok(*found);
        }
        let names = PossibleValuesParser::new(self.0.iter().map(|algorithm| algorithm.name()));
        let name = names.parse_ref(command, arg, value)?;
        name.parse().map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|algorithm| PossibleValue::new(algorithm.name()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_standards_and_other_programs() {
        let command = Command::new("test");
        let parse = |name: &str| ANY.parse_ref(&command, None, OsStr::new(name)).ok();
        for &algorithm in Algorithm::ALL {
            assert_eq!(parse(algorithm.name()), Some(algorithm));
            assert_eq!(parse(&algorithm.name().to_uppercase()), Some(algorithm));
        }
        let cases = [
            ("SHA-1", Algorithm::Sha1),
            ("SHA-512/256", Algorithm::Sha512_256),
            ("SHA512/224", Algorithm::Sha512_224),
            ("sha512_224", Algorithm::Sha512_224),
            ("RMD160", Algorithm::Ripemd160),
            ("RIPEMD-160", Algorithm::Ripemd160),
        ];
        for (name, algorithm) in cases {
            assert_eq!(parse(name), Some(algorithm), "{name}");
        }
        for name in ["", "sha", "sha2", "sha-3", "sha256 ", "sha 256"] {
            assert_eq!(parse(name), None, "{name}");
        }
        assert!(Name(&[Algorithm::Sha1]).parse_ref(&command, None, OsStr::new("sha256")).is_err());
    }
}
