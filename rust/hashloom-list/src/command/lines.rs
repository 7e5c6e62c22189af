// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads lines of a file, of bounded length.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use hashloom_frame::input::{self, BUFFER_NBYTES};

/// As much as a line of a manifest has: names of files in folders at great depth have more bytes than a system call
/// takes.
const LINE_MAX_NBYTES: usize = 1 << 20;

/// Opens a file whose lines are read; - is standard input. If the file changes before its end, the end is an error.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(Box::new(BufReader::with_capacity(BUFFER_NBYTES, input::raw(path)?)))
}

/// Facts about a list that the bytes of a line lack.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// The line is longer than 1 MiB; the rest of it was skipped.
    pub is_too_long: bool,
    /// The byte that ends lines has followed.
    pub is_ended: bool,
}

/// Reads the next line into `line`, without the byte that ends it. Returns `None` at the end.
pub fn next(reader: &mut impl BufRead, end: u8, line: &mut Vec<u8>) -> io::Result<Option<Line>> {
    line.clear();
    let mut is_too_long = false;
    let mut is_begun = false;
    loop {
        let found = match reader.fill_buf() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if found.is_empty() {
            return Ok(is_begun.then_some(Line { is_too_long, is_ended: false }));
        }
        is_begun = true;
        let at = memchr::memchr(end, found);
        let part = &found[..at.unwrap_or(found.len())];
        if line.len() + part.len() > LINE_MAX_NBYTES {
            is_too_long = true;
        } else {
            line.extend_from_slice(part);
        }
        let nbytes = part.len() + usize::from(at.is_some());
        reader.consume(nbytes);
        if at.is_some() {
            return Ok(Some(Line { is_too_long, is_ended: true }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(text: &[u8], capacity: usize) -> Vec<(Vec<u8>, Line)> {
        let mut reader = BufReader::with_capacity(capacity, text);
        let mut lines = Vec::new();
        let mut line = Vec::new();
        while let Some(read) = next(&mut reader, b'\n', &mut line).unwrap() {
            lines.push((line.clone(), read));
        }
        lines
    }

    const ENDED: Line = Line { is_too_long: false, is_ended: true };

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        for capacity in [1, 2, 3, 100] {
            let lines = all(b"a\n\nbcd\r\nef", capacity);
            let expected = [&b"a"[..], b"", b"bcd\r"].map(|line| (line.to_vec(), ENDED));
            assert_eq!(lines[..3], expected);
            assert_eq!(lines[3], (b"ef".to_vec(), Line { is_ended: false, ..ENDED }));
            assert!(all(b"", capacity).is_empty());
            assert_eq!(all(b"\n", capacity).len(), 1);
        }
    }

    #[test]
    fn a_long_line_is_skipped_whole() {
        let long = [vec![b'x'; LINE_MAX_NBYTES + 1], b"\nnext\n".to_vec()].concat();
        let lines = all(&long, 1000);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].1, Line { is_too_long: true, ..ENDED });
        assert!(lines[0].0.len() <= LINE_MAX_NBYTES);
        assert_eq!(lines[1], (b"next".to_vec(), ENDED));
        let fits = all(&long[1..], 1000);
        assert_eq!((fits[0].0.len(), &fits[0].1), (LINE_MAX_NBYTES, &ENDED));
    }
}
