// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text of a list: as it is, or from Windows, in UTF-16 or with a byte order mark. And the byte that ends its lines.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

const BUFFER_NBYTES: usize = 64 << 10;

/// Within as many bytes the first line of a list that was made with `--zero` ends: no name that a system call takes is
/// longer than 4 KiB.
const FIRST_NBYTES: u64 = 8 << 10;

/// Makes a unit of UTF-16 of its bytes.
type Unit = fn([u8; 2]) -> u16;

/// Returns the reader's text as UTF-8 without a byte order mark, and the byte that ends its lines: NUL if its first 8
/// KiB have one, as `sum --zero` writes lists, otherwise a line feed.
///
/// UTF-16 is known by its byte order mark; `>` of Windows PowerShell writes it. What is no character becomes U+FFFD. All
/// other bytes stay as they are.
///
/// ```
/// use std::io::Read;
/// use hashloom_list::decoded;
///
/// let mut text = String::new();
/// let (mut list, end) = decoded(&b"\xff\xfea\0\xe9\0"[..])?;
/// list.read_to_string(&mut text)?;
/// assert_eq!((&*text, end), ("aé", b'\n'));
/// assert_eq!(decoded(&b"a\nb\0c\0"[..])?.1, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of the reader.
pub fn decoded<'a>(mut reader: impl Read + Send + 'a) -> io::Result<(Box<dyn BufRead + Send + 'a>, u8)> {
    let mark = beginning(&mut reader, 3)?;
    let (nskipped, unit): (usize, Option<Unit>) = match mark[..] {
        [0xef, 0xbb, 0xbf] => (3, None),
        [0xff, 0xfe, ..] => (2, Some(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => (2, Some(u16::from_be_bytes)),
        _ => (0, None),
    };
    let mut mark = Cursor::new(mark);
    mark.set_position(nskipped as u64);
    let reader = mark.chain(reader);
    let mut text: Box<dyn Read + Send + 'a> = match unit {
        Some(unit) => Box::new(Utf16 { reader, unit, high: None, text: Cursor::default() }),
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

/// Turns UTF-16 into UTF-8.
struct Utf16<R> {
    reader: R,
    unit: Unit,
    /// The first half of a pair.
    high: Option<u16>,
    text: Cursor<Vec<u8>>,
}

impl<R: Read> Utf16<R> {
    /// Reads the next text; none at the end.
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.reader.by_ref().take(4096).read_to_end(&mut bytes)?;
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        let pairs = bytes.chunks_exact(2);
        let is_odd = !pairs.remainder().is_empty();
        units.extend(pairs.map(|pair| (self.unit)([pair[0], pair[1]])));
        if !bytes.is_empty() && !is_odd && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        let mut text = String::new();
        text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        text.extend(is_odd.then_some(char::REPLACEMENT_CHARACTER));
        let is_more = text.is_empty() && self.high.is_some();
        self.text = Cursor::new(text.into_bytes());
        if is_more { self.fill() } else { Ok(()) }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let nbytes = self.text.read(buffer)?;
            if nbytes > 0 || buffer.is_empty() {
                return Ok(nbytes);
            }
            match self.fill() {
                Ok(()) if self.text.get_ref().is_empty() => return Ok(0),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
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
        let (mut all, mut slow) = (Vec::new(), Vec::new());
        decoded(bytes).unwrap().0.read_to_end(&mut all).unwrap();
        decoded(Slow(bytes)).unwrap().0.read_to_end(&mut slow).unwrap();
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
            (b"\xff\xfe\x00\xd8b", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(text(bytes), expected, "{bytes:x?}");
        }
    }
}
