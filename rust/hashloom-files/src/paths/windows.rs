// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of Windows as bytes. They are 16-bit units. One that is half a surrogate pair is no Unicode: it becomes the
//! three bytes that UTF-8 would have for its number (WTF-8).

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};

/// The bytes of a name or path.
pub(super) fn to_bytes(name: &OsStr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    for unit in char::decode_utf16(name.encode_wide()) {
        match unit {
            Ok(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(half) => {
                let half = half.unpaired_surrogate();
                bytes.extend_from_slice(&[0xed, (half >> 6 & 0x3f) as u8 | 0x80, (half & 0x3f) as u8 | 0x80]);
            }
        }
    }
    bytes
}

/// The reverse of [`to_bytes`]. Other bytes that are not UTF-8 become U+FFFD.
pub(super) fn to_name(mut bytes: &[u8]) -> OsString {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    while let Some(chunk) = bytes.utf8_chunks().next() {
        units.extend(chunk.valid().encode_utf16());
        bytes = &bytes[chunk.valid().len()..];
        bytes = match bytes {
            [] => break,
            &[0xed, high @ 0xa0..=0xbf, low @ 0x80..=0xbf, ref rest @ ..] => {
                units.push(0xd000 | u16::from(high & 0x3f) << 6 | u16::from(low & 0x3f));
                rest
            }
            _ => {
                units.push(0xfffd);
                &bytes[chunk.invalid().len()..]
            }
        };
    }
    OsString::from_wide(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_unicode_come_back() {
        for units in [&[0x61, 0xd800, 0x62][..], &[0xdfff], &[0xd83d, 0xde00, 0xd83d], &[0xe9, 0xdc00, 0xd800]] {
            let name = OsString::from_wide(units);
            assert_eq!(to_name(&to_bytes(&name)), name, "{units:x?}");
        }
        assert_eq!(to_bytes(&OsString::from_wide(&[0x61, 0xd800])), b"a\xed\xa0\x80");
        assert_eq!(to_name(b"a\xff\xe2\x82b\xc3\xa9"), OsStr::new("a\u{fffd}\u{fffd}b\u{e9}"));
        assert_eq!(to_name(b"\xed\xa0"), OsStr::new("\u{fffd}\u{fffd}"));
    }
}
