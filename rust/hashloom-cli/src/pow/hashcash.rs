// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stamps of hashcash, version 1: `1:bits:date:resource:extension:random:counter`.

use std::ops::RangeInclusive;

use hashloom_files::text::base64;

use crate::machine;
use crate::numbers::whole;

/// The bits of SHA-1.
const NBITS_MAX: u64 = 160;

/// Bytes in the random part; 16 characters in base64, as other programs make them. A stamp for a short resource is then
/// one block of SHA-1.
const RANDOM_NBYTES: usize = 12;

/// A stamp without its counter.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Ends in a colon.
    pub text: String,
    pub nbits: usize,
}

/// Makes a stamp for a resource, or reads one to complete.
pub fn stamp(string: &str, nbits: Option<u64>) -> Result<Stamp, String> {
    let (text, nbits) = match string.split(':').collect::<Vec<_>>()[..] {
        [""] => return Err("--hashcash: expected a resource, such as anni@example.org".into()),
        [resource] => {
            let nbits = nbits.unwrap_or(20);
            (format!("1:{nbits}:{}:{resource}::{}:", date()?, random()?), nbits)
        }
        ["1", claimed, date, _, _, _, counter] => {
            let claimed = whole(claimed).map_err(|error| format!("--hashcash: bits of the stamp: {error}"))?;
            if !is_date(date) {
                return Err("--hashcash: date of the stamp: expected YYMMDD, YYMMDDhhmm or YYMMDDhhmmss".into());
            }
            if !counter.is_empty() {
                return Err("--hashcash: expected a stamp that ends in a colon: the search finds its counter".into());
            }
            if nbits.is_some_and(|nbits| nbits != claimed) {
                return Err(format!("--bits: the stamp says {claimed}: leave out --bits"));
            }
            (string.to_owned(), claimed)
        }
        _ => {
            let expected = "a resource, which has no colons, or a stamp such as 1:20:261122:RESOURCE::RANDOM:";
            return Err(format!("--hashcash: expected {expected}"));
        }
    };
    if string.chars().any(char::is_control) {
        return Err("--hashcash: expected text without control characters".into());
    }
    match usize::try_from(nbits) {
        Ok(nbits) if nbits <= NBITS_MAX as usize => Ok(Stamp { text, nbits }),
        _ => Err(format!("--hashcash: expected at most {NBITS_MAX} bits, found {nbits}")),
    }
}

/// Returns true for the forms that a stamp may have, if each number is in its range. Years of two digits do not say
/// which February has 29 days.
fn is_date(text: &str) -> bool {
    const RANGES: [RangeInclusive<u8>; 6] = [0..=99, 1..=12, 1..=31, 0..=23, 0..=59, 0..=59];
    let is_number = |(digits, range): (&[u8], &RangeInclusive<u8>)| {
        let number = digits.iter().fold(0, |number, digit| 10 * number + (digit - b'0'));
        range.contains(&number)
    };
    matches!(text.len(), 6 | 10 | 12)
        && text.bytes().all(|c| c.is_ascii_digit())
        && text.as_bytes().chunks(2).zip(&RANGES).all(is_number)
}

/// Returns today's date in UTC: YYMMDD.
fn date() -> Result<String, String> {
    let today = machine::today().replace('-', "");
    today.get(2..).map(str::to_owned).ok_or("--hashcash: the system's clock is wrong".into())
}

fn random() -> Result<String, String> {
    let mut bytes = [0; RANDOM_NBYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("--hashcash: the system gives no random bytes: {error}"))?;
    Ok(base64(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_gets_a_date_and_random_bits() {
        let stamp = |nbits| stamp("anni@example.org", nbits).unwrap();
        let (one, two) = (stamp(None), stamp(Some(24)));
        assert_eq!((one.nbits, two.nbits), (20, 24));
        let fields: Vec<_> = one.text.split(':').collect();
        assert_eq!((fields[0], fields[1], fields[3], fields[4], fields[6]), ("1", "20", "anni@example.org", "", ""));
        assert!(fields[2].len() == 6 && fields[2].bytes().all(|c| c.is_ascii_digit()));
        assert_eq!(fields[5].len(), 16);
        assert_ne!(fields[5], two.text.split(':').nth(5).unwrap());
        // What was made can be completed.
        assert_eq!(super::stamp(&one.text, None), Ok(one));
    }

    #[test]
    fn strings() {
        let text = "1:20:040806:foo::65f460d0726f420d:";
        assert_eq!(stamp(text, None), Ok(Stamp { text: text.into(), nbits: 20 }));
        assert_eq!(stamp(text, Some(20)), stamp(text, None));
        assert_eq!(stamp("1:0:0408061122:::::", None), Err(stamp("1:0:a", None).unwrap_err()));
        assert!(stamp("1:160:040806112233::::", None).is_ok());
        for (wrong, nbits) in [
            ("", None),
            ("a:b", None),
            ("2001:db8::1", None),
            ("0:20:040806:foo::65f460d0726f420d:", None),
            ("1:20:040806:foo::65f460d0726f420d", None),
            ("1:20:040806:foo::65f460d0726f420d:13a6b8", None),
            ("1:20:040806:foo::65f460d0726f420d::", None),
            ("1:20:40806:foo::65f460d0726f420d:", None),
            ("1:20:041306:foo::65f460d0726f420d:", None),
            ("1:20:040800:foo::65f460d0726f420d:", None),
            ("1:20:040832:foo::65f460d0726f420d:", None),
            ("1:20:0408062400:foo::65f460d0726f420d:", None),
            ("1:20:040806235960:foo::65f460d0726f420d:", None),
            ("1:20:0408\u{e4}:foo::65f460d0726f420d:", None),
            ("1::040806:foo::65f460d0726f420d:", None),
            ("1:161:040806:foo::65f460d0726f420d:", None),
            ("1:99999999999999999999:040806:foo::65f460d0726f420d:", None),
            (text, Some(21)),
            ("foo", Some(161)),
            ("foo", Some(u64::MAX)),
            ("two\nlines", None),
            ("1:20:040806:f\to::65f460d0726f420d:", None),
        ] {
            assert!(stamp(wrong, nbits).is_err(), "{wrong}");
        }
    }
}
