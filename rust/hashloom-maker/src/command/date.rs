// SPDX-License-Identifier: MIT OR Apache-2.0

//! `--date` of `create` and `edit`.

use std::str::FromStr;
use std::time::SystemTime;

use hashloom_files::text::shown;

/// The creation date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Date {
    Now,
    Seconds(i64),
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Date, String> {
        match text.parse() {
            _ if text == "now" => Ok(Date::Now),
            Ok(seconds @ 0..) => Ok(Date::Seconds(seconds)),
            _ => Err("expected now, or whole seconds since 1970-01-01 00:00 UTC".into()),
        }
    }
}

impl Date {
    pub fn seconds(self) -> Result<i64, String> {
        let variable = std::env::var("SOURCE_DATE_EPOCH").ok().filter(|value| !value.is_empty());
        match (self, variable) {
            (Date::Seconds(seconds), _) => Ok(seconds),
            (Date::Now, Some(value)) => match value.parse() {
                Ok(seconds @ 0..) => Ok(seconds),
                _ => Err(format!(
                    "SOURCE_DATE_EPOCH: expected whole seconds since 1970, found \"{}\"",
                    shown(value.as_bytes())
                )),
            },
            (Date::Now, None) => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                Ok(i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!("now".parse(), Ok(Date::Now));
        assert_eq!("0".parse(), Ok(Date::Seconds(0)));
        assert_eq!("4102444800".parse(), Ok(Date::Seconds(4_102_444_800)));
        for text in ["", "-1", "Now", "1.5", "2026-11-21", "9223372036854775808"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
