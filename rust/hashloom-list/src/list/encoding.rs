// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text of a list: as it is, in UTF-16 or another encoding of old systems. And the byte that ends its lines.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};

const BUFFER_NBYTES: usize = 64 << 10;

/// Within as many bytes the first line of a list that was made with `--zero` ends: no name that a system call takes is
/// longer than 4 KiB.
const FIRST_NBYTES: u64 = 8 << 10;

/// Code pages of DOS that no browser knows, and their upper halves.
const DOS: [(&str, &str); 3] = [
    (
        "cp437",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
         └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    ),
    (
        "cp850",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
         └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    ),
    (
        "cp852",
        "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐\
         └┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
    ),
];

/// Windows' numbers of encodings that browsers know by names only.
const NUMBERED: [(&str, &str); 4] = [("cp932", "shift_jis"), ("cp936", "gbk"), ("cp949", "euc-kr"), ("cp950", "big5")];

/// An encoding of old systems, in which every letter of ASCII has its own byte.
///
/// ```
/// use hashloom_list::Encoding;
///
/// assert!(["cp1252", "CP850", "shift_jis", "koi8-r"].iter().all(|name| Encoding::named(name).is_some()));
/// assert!(Encoding::named("ebcdic").is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Encoding(Way);

#[derive(Debug, Clone, Copy)]
enum Way {
    Web(&'static encoding_rs::Encoding),
    Dos(&'static str),
}

impl Encoding {
    /// The encoding of this name, in any case: one that browsers know (<https://encoding.spec.whatwg.org>), or cp437,
    /// cp850, cp852, cp932, cp936, cp949, cp950. See [`Encoding`] for an example.
    #[must_use]
    pub fn named(name: &str) -> Option<Encoding> {
        let find = |table: &[(&str, &'static str)]| {
            table.iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|&(_, found)| found)
        };
        let web = || encoding_rs::Encoding::for_label_no_replacement(find(&NUMBERED).unwrap_or(name).as_bytes());
        find(&DOS).map(Way::Dos).or_else(|| web().map(Way::Web)).map(Encoding)
    }
}

/// Returns the reader's text as UTF-8 without a byte order mark, and the byte that ends its lines: NUL if its first 8
/// KiB have one, as `sum --zero` writes lists, otherwise a line feed.
///
/// UTF-16 is known by its byte order mark; `>` of Windows PowerShell writes it. A text without a mark has the encoding
/// that the caller names, or stays as it is. What is no character becomes U+FFFD.
///
/// ```
/// use std::io::Read;
/// use hashloom_list::{Encoding, decoded};
///
/// let mut text = String::new();
/// let (mut list, end) = decoded(&b"\xff\xfea\0\xe9\0"[..], None)?;
/// list.read_to_string(&mut text)?;
/// decoded(&b"a\x82"[..], Encoding::named("cp850"))?.0.read_to_string(&mut text)?;
/// assert_eq!((&*text, end), ("aéaé", b'\n'));
/// assert_eq!(decoded(&b"a\nb\0c\0"[..], None)?.1, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of the reader.
pub fn decoded<'a>(
    mut reader: impl Read + Send + 'a,
    encoding: Option<Encoding>,
) -> io::Result<(Box<dyn BufRead + Send + 'a>, u8)> {
    let mark = beginning(&mut reader, 3)?;
    let (nskipped, way) = match mark[..] {
        [0xef, 0xbb, 0xbf] => (3, None),
        [0xff, 0xfe, ..] => (2, Some(Way::Web(UTF_16LE))),
        [0xfe, 0xff, ..] => (2, Some(Way::Web(UTF_16BE))),
        _ => (0, encoding.map(|Encoding(way)| way)),
    };
    let mut mark = Cursor::new(mark);
    mark.set_position(nskipped);
    let reader = mark.chain(reader);
    let decode = way.map(|way| match way {
        Way::Web(encoding) => Decode::Web(encoding.new_decoder_without_bom_handling()),
        Way::Dos(upper) => Decode::Dos(upper.chars().collect()),
    });
    let mut text: Box<dyn Read + Send + 'a> = match decode {
        Some(decode) => Box::new(Decoded { reader, decode, text: Cursor::default(), is_end: false }),
        None => Box::new(reader),
    };
    let first = beginning(&mut text, FIRST_NBYTES)?;
    let end = if first.contains(&0) { 0 } else { b'\n' };
    Ok((Box::new(BufReader::with_capacity(BUFFER_NBYTES, Cursor::new(first).chain(text))), end))
}

/// Reads the first bytes. A pipe may give fewer bytes at once than there are.
fn beginning(reader: &mut (impl Read + ?Sized), nbytes: u64) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    reader.take(nbytes).read_to_end(&mut first)?;
    Ok(first)
}

/// Turns a text into UTF-8.
struct Decoded<R> {
    reader: R,
    decode: Decode,
    text: Cursor<String>,
    is_end: bool,
}

enum Decode {
    Web(Decoder),
    /// The letters of the upper half.
    Dos(Vec<char>),
}

impl<R: Read> Decoded<R> {
    /// Reads the next text; none at the end, and perhaps within a letter.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.reader.by_ref().take(4096).read_to_end(&mut bytes)?;
        self.is_end = bytes.is_empty();
        let text = self.text.get_mut();
        text.clear();
        match &mut self.decode {
            Decode::Web(decoder) => {
                text.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
                let (result, ..) = decoder.decode_to_string(&bytes, text, self.is_end);
                debug_assert_eq!(result, CoderResult::InputEmpty);
            }
            Decode::Dos(upper) => text.extend(bytes.iter().map(|&byte| match usize::from(byte).checked_sub(0x80) {
                Some(i) => upper[i],
                None => char::from(byte),
            })),
        }
        self.text.set_position(0);
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let nbytes = self.text.read(buffer)?;
            if nbytes > 0 || buffer.is_empty() || self.is_end {
                return Ok(nbytes);
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let nbytes = buffer.len().min(1);
            self.0.read(&mut buffer[..nbytes])
        }
    }

    fn text(bytes: &[u8]) -> String {
        in_encoding(bytes, None)
    }

    fn in_encoding(bytes: &[u8], encoding: Option<Encoding>) -> String {
        let (mut all, mut slow) = (Vec::new(), Vec::new());
        decoded(bytes, encoding).unwrap().0.read_to_end(&mut all).unwrap();
        decoded(Slow(bytes), encoding).unwrap().0.read_to_end(&mut slow).unwrap();
        assert_eq!(all, slow);
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn marks_are_dropped_and_utf_16_is_utf_8_afterwards() {
        let sample = format!("a\r\né\u{1f600}{}", "x\u{10ffff}".repeat(5000));
        let units = |mark: u16| std::iter::once(mark).chain(sample.encode_utf16());
        let (mut little, mut big) = (Vec::new(), Vec::new());
        units(0xfeff).for_each(|unit| little.extend(unit.to_le_bytes()));
        units(0xfeff).for_each(|unit| big.extend(unit.to_be_bytes()));
        assert_eq!((text(&little), text(&big)), (sample.clone(), sample.clone()));
        assert_eq!(text(&[b"\xef\xbb\xbf", sample.as_bytes()].concat()), sample);
        for same in ["", "a", "ab", "abc", &sample] {
            assert_eq!(text(same.as_bytes()), same);
        }
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        for (bytes, expected) in [
            (&b"\xff\xfe"[..], ""),
            (b"\xff\xfea", "\u{fffd}"),
            (b"\xff\xfea\0b", "a\u{fffd}"),
            (b"\xff\xfe\x00\xd8", "\u{fffd}"),
            (b"\xff\xfe\x00\xd8a\0", "\u{fffd}a"),
            (b"\xff\xfe\x00\xdca\0", "\u{fffd}a"),
            (b"\xff\xfe\x00\xd8b", "\u{fffd}"),
        ] {
            assert_eq!(text(bytes), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn encodings_of_old_systems() {
        for (name, bytes, expected) in [
            ("cp1252", &b"M\xf6 \x80"[..], "Mö €"),
            ("CP437", b"M\x94 \xe1\xff", "Mö ß\u{a0}"),
            ("cp850", b"\x9b\xf0\xfe", "ø\u{ad}■"),
            ("cp852", b"\x9c\xb3", "ť│"),
            ("cp866", b"\x8f", "П"),
            // The second byte of a letter may be a backslash.
            ("cp932", b"\x95\x5c/a\\", "表/a\\"),
            ("gbk", b"\xd6\xd0", "中"),
            ("shift_jis", b"a\x95", "a\u{fffd}"),
            ("cp1252", b"\xef\xbb\xbf\xc3\xa9", "é"),
        ] {
            assert_eq!(in_encoding(bytes, Encoding::named(name)), expected, "{name}");
            let long = [bytes, &b" \\".repeat(5000)].concat();
            assert!(in_encoding(&long, Encoding::named(name)).starts_with(expected), "{name}");
        }
        for (name, upper) in DOS {
            let letters: std::collections::HashSet<char> = upper.chars().filter(|c| !c.is_ascii()).collect();
            assert_eq!((letters.len(), upper.chars().count()), (128, 128), "{name}");
        }
        assert!(["", "cp0", "iso-2022-kr"].iter().all(|name| Encoding::named(name).is_none()));
    }
}
