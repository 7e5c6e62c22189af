// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads files in blocks of whole lines, or of whole rows of bytes. Memory is bounded: a line that is too long is cut,
//! which leaves it too long to be a key.
//!
//! One read makes a block, so that a program which writes one line and waits for the answer gets it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom_files::Stamp;
use zeroize::{Zeroize, Zeroizing};

use hashloom_files::paths::display;
use hashloom_files::text::reason;

/// The longest line, without the byte that ends it. The longest that is right has 130 bytes.
pub const LINE_MAX_NBYTES: usize = 1024;

/// The parts of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// Lines, which end in a line feed.
    Lines,
    /// Lines with secrets.
    Secrets,
    /// Each has this number of bytes.
    Rows(usize),
}

/// Line feeds. memchr reads vectors, which stay on the stack in builds without optimisation: lines with secrets are
/// read byte by byte.
impl Items {
    fn first_end(self, text: &[u8]) -> Option<usize> {
        match self {
            Items::Secrets => text.iter().position(|&byte| byte == b'\n'),
            _ => memchr::memchr(b'\n', text),
        }
    }

    fn last_end(self, text: &[u8]) -> Option<usize> {
        match self {
            Items::Secrets => text.iter().rposition(|&byte| byte == b'\n'),
            _ => memchr::memrchr(b'\n', text),
        }
    }

    fn nends(self, text: &[u8]) -> usize {
        match self {
            Items::Secrets => text.iter().filter(|&&byte| byte == b'\n').count(),
            _ => memchr::memchr_iter(b'\n', text).count(),
        }
    }
}

/// Some lines or rows of one file. The memory does not grow, as growing leaves copies behind, and is overwritten when
/// dropped.
pub struct Block {
    memory: Zeroizing<Vec<u8>>,
    nbytes: usize,
    items: Items,
    /// Number of the first line or row, from 1.
    pub first: u64,
    /// The name of the file, for messages.
    pub name: Arc<str>,
}

impl Block {
    /// A block of this many bytes at most.
    pub fn new(nbytes: usize) -> Block {
        assert!(nbytes > 2 * LINE_MAX_NBYTES);
        Block { memory: Zeroizing::new(vec![0; nbytes]), nbytes: 0, items: Items::Lines, first: 0, name: "".into() }
    }

    /// The bytes that were read, and wait to be taken.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.nbytes]
    }

    /// Returns the lines without the bytes that end them. The last line of a file need not end.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let text = self.bytes().strip_suffix(b"\n").unwrap_or(self.bytes());
        let mut rest = (self.nbytes > 0).then_some(text);
        // slice::split looks at each byte alone.
        std::iter::from_fn(move || {
            let text = rest.take()?;
            let line = match self.items.first_end(text) {
                Some(end) => {
                    rest = Some(&text[end + 1..]);
                    &text[..end]
                }
                None => text,
            };
            Some(line.strip_suffix(b"\r").unwrap_or(line))
        })
    }

    /// Overwrites what was read.
    pub fn wipe(&mut self) {
        self.memory[..self.nbytes].zeroize();
        self.nbytes = 0;
    }
}

/// What [`Reader::next`] has read.
pub enum Next {
    /// The block has lines or rows.
    Block,
    /// A file cannot be read, or ends within a row; there may be more files.
    Trouble(String),
    /// All files are read.
    End,
}

/// Reads files one after the other.
pub struct Reader {
    items: Items,
    paths: std::vec::IntoIter<PathBuf>,
    open: Option<Open>,
    /// Number of the next line or row.
    next: u64,
    /// The beginning of a line or row whose end was not read yet.
    begun: Zeroizing<Vec<u8>>,
    /// Whether the rest of a line is skipped, as its beginning is too long.
    is_skipping: bool,
    /// The message that follows the last block of a file.
    trouble: Option<String>,
}

struct Open {
    file: Box<dyn Source>,
    name: Arc<str>,
    /// The stamp of a regular file, before it was read.
    before: Option<Stamp>,
    /// Bytes that a regular file should have; `None` if that is not known.
    expected_nbytes: Option<u64>,
    nread: u64,
}

/// A file, or a stream such as a pipe.
trait Source: Read + Send {
    /// The stamp of a regular file.
    fn stamp(&self) -> Option<Stamp>;
}

impl Source for File {
    fn stamp(&self) -> Option<Stamp> {
        Stamp::of_file(self).ok().flatten()
    }
}

impl Open {
    fn new(file: impl Source + 'static, name: impl Into<Arc<str>>) -> Open {
        let before = file.stamp();
        // Files of /proc have the length 0, and content.
        let expected_nbytes = before.map(|stamp| stamp.nbytes).filter(|&nbytes| nbytes > 0);
        Open { file: Box::new(file), name: name.into(), before, expected_nbytes, nread: 0 }
    }

    /// Judges a file that was read to its end.
    fn trouble(&self) -> Option<String> {
        let Open { file, name, before, expected_nbytes, nread } = self;
        if file.stamp() != *before {
            return Some(format!("{name}: changed while it was read; run again when nothing writes to it"));
        }
        let expected = expected_nbytes.filter(|expected| nread != expected)?;
        Some(format!("{name}: expected {expected} bytes, as the file system says, found {nread}"))
    }
}

impl Reader {
    /// `-` is standard input.
    pub fn new(items: Items, paths: Vec<PathBuf>) -> Reader {
        let begun = Zeroizing::new(Vec::with_capacity(LINE_MAX_NBYTES + 1));
        Reader { items, paths: paths.into_iter(), open: None, next: 1, begun, is_skipping: false, trouble: None }
    }

    /// Reads the next block, whose old content is lost.
    pub fn next(&mut self, block: &mut Block) -> Next {
        loop {
            if let Some(message) = self.trouble.take() {
                return Next::Trouble(message);
            }
            let Some(open) = &mut self.open else {
                let Some(path) = self.paths.next() else { return Next::End };
                match open_file(&path) {
                    Ok(open) => self.open = Some(open),
                    Err(message) => return Next::Trouble(message),
                }
                self.next = 1;
                continue;
            };
            let name = Arc::clone(&open.name);
            let kept = self.begun.len();
            block.memory[..kept].copy_from_slice(&self.begun);
            let nread = match open.file.read(&mut block.memory[kept..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.close();
                    return Next::Trouble(format!("{name}: {}", reason(&error)));
                }
                Ok(nread) => nread,
            };
            block.nbytes = kept + nread;
            open.nread += nread as u64;
            if nread == 0 {
                self.trouble = open.trouble();
            }
            let end = match (self.items, nread) {
                (Items::Rows(nbytes), 0) => {
                    let row = self.next;
                    self.close();
                    if kept == 0 {
                        continue;
                    }
                    return Next::Trouble(format!("{name}: row {row}: expected {nbytes} bytes, found {kept}"));
                }
                (Items::Rows(nbytes), _) => block.nbytes / nbytes * nbytes,
                (Items::Lines | Items::Secrets, 0) => kept,
                (Items::Lines | Items::Secrets, _) => {
                    self.skip(block, kept);
                    self.items.last_end(block.bytes()).map_or(0, |last| last + 1)
                }
            };
            self.keep(&block.memory[end..block.nbytes]);
            block.memory[end..block.nbytes].zeroize();
            block.nbytes = end;
            block.first = self.next;
            block.items = self.items;
            block.name = name;
            self.next += match self.items {
                Items::Rows(nbytes) => end / nbytes,
                items => items.nends(block.bytes()),
            } as u64;
            if nread == 0 {
                self.close();
            }
            if end != 0 {
                return Next::Block;
            }
        }
    }

    /// Removes from the bytes behind the first `kept` those that belong to a line which is too long already.
    fn skip(&mut self, block: &mut Block, kept: usize) {
        if self.is_skipping {
            let end = self.items.first_end(&block.bytes()[kept..]).map_or(block.nbytes, |end| kept + end);
            block.memory.copy_within(end..block.nbytes, kept);
            let nbytes = block.nbytes - (end - kept);
            block.memory[nbytes..block.nbytes].zeroize();
            self.is_skipping = nbytes == kept;
            block.nbytes = nbytes;
        }
    }

    /// Keeps the beginning of a line or row for the next block, but no more of a line than makes it too long.
    fn keep(&mut self, begun: &[u8]) {
        let nbytes = begun.len().min(LINE_MAX_NBYTES + 1);
        self.is_skipping |= !matches!(self.items, Items::Rows(_)) && nbytes > LINE_MAX_NBYTES;
        self.begun.zeroize();
        self.begun.extend_from_slice(&begun[..nbytes]);
    }

    fn close(&mut self) {
        self.open = None;
        self.begun.zeroize();
        self.is_skipping = false;
    }
}

fn open_file(path: &Path) -> Result<Open, String> {
    if path.as_os_str() == "-" {
        let name = "standard input";
        let file = open_stdin().map_err(|error| format!("{name}: {}", reason(&error)))?;
        // Another program may have read the beginning.
        return Ok(Open { expected_nbytes: None, ..Open::new(file, name) });
    }
    let name = display(path).to_string();
    let file = File::open(path).map_err(|error| format!("{name}: {}", reason(&error)))?;
    Ok(Open::new(file, name))
}

/// Opens standard input without the buffer of Rust's library, which would keep a copy of secrets.
fn open_stdin() -> io::Result<File> {
    let stdin = hashloom_files::stdin()?;
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&stdin).try_clone_to_owned()?;
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&stdin).try_clone_to_owned()?;
    Ok(handle.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most a few bytes in each read.
    struct Sips(Vec<u8>, usize, usize);

    impl Read for Sips {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let nbytes = self.1.min(buffer.len()).min(self.0.len() - self.2);
            buffer[..nbytes].copy_from_slice(&self.0[self.2..][..nbytes]);
            self.2 += nbytes;
            Ok(nbytes)
        }
    }

    impl Source for Sips {
        fn stamp(&self) -> Option<Stamp> {
            None
        }
    }

    fn reader(items: Items, bytes: &[u8], sip: usize) -> Reader {
        let mut reader = Reader::new(items, vec![]);
        reader.open = Some(Open::new(Sips(bytes.to_vec(), sip, 0), "x"));
        reader
    }

    /// Returns all lines with their numbers, cut to one byte more than the limit.
    fn lines(items: Items, bytes: &[u8], sip: usize) -> Vec<(u64, Vec<u8>)> {
        let (mut reader, mut block, mut lines) = (reader(items, bytes, sip), Block::new(3000), vec![]);
        while let Next::Block = reader.next(&mut block) {
            assert!(reader.begun.capacity() <= LINE_MAX_NBYTES + 1);
            let cut = |line: &[u8]| line[..line.len().min(LINE_MAX_NBYTES + 1)].to_vec();
            lines.extend((block.first..).zip(block.lines().map(cut)));
        }
        lines
    }

    fn expected(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let cut = lines.map(|line| line[..line.len().min(LINE_MAX_NBYTES + 1)].to_vec());
        (1..).zip(cut).take(if bytes.is_empty() { 0 } else { usize::MAX }).collect()
    }

    #[test]
    fn lines_are_the_same_however_they_are_read() {
        let long = |nbytes: usize| [&vec![b'x'; nbytes][..], b"\n"].concat();
        let mut texts: Vec<Vec<u8>> =
            [&b""[..], b"\n", b"a", b"a\r\nb\n\n\nc", b"\r\n\r\n", b"a\nb\n"].map(Vec::from).into();
        texts.extend([1022, 1023, 1024, 1025, 2999, 3000, 3001, 9000].map(|n| [long(n), b"a\nb".to_vec()].concat()));
        texts.push([long(5000), long(1), long(5000), long(2000)].concat());
        // Lengths from a linear congruential generator.
        let mut state = 1_u32;
        let mut below = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % limit
        };
        for _ in 0..40 {
            let limit = [3, 70, 1100, 4000][below(4) as usize];
            texts.push((0..below(30)).flat_map(|_| long(below(limit) as usize)).collect());
        }
        for text in texts {
            // Many small reads of much text take long, and find nothing more.
            let least = if text.len() < 2500 { 1 } else { 500 };
            for sip in [1, 2, 7, 500, 1024, 1025, 1026, 2000, 100_000].into_iter().filter(|&sip| sip >= least) {
                for items in [Items::Lines, Items::Secrets] {
                    assert!(lines(items, &text, sip) == expected(&text), "{} bytes, {sip} a read", text.len());
                }
            }
        }
    }

    #[test]
    fn rows_are_whole() {
        let bytes: Vec<u8> = (0..10_000).map(|i| (i % 251) as u8).collect();
        for (sip, nbytes) in [(1, 33), (32, 33), (100_000, 33), (64, 65), (7, 32), (100_000, 65)] {
            let (mut reader, mut block) = (reader(Items::Rows(nbytes), &bytes, sip), Block::new(3000));
            let mut found = vec![];
            let trouble = loop {
                match reader.next(&mut block) {
                    Next::Block => {
                        assert_eq!(block.first, (found.len() / nbytes + 1) as u64);
                        found.extend_from_slice(block.bytes());
                    }
                    Next::Trouble(message) => break message,
                    Next::End => panic!("the last row is cut"),
                }
            };
            let (whole, cut) = (bytes.len() / nbytes, bytes.len() % nbytes);
            assert!(found == bytes[..whole * nbytes]);
            assert_eq!(trouble, format!("x: row {}: expected {nbytes} bytes, found {cut}", whole + 1));
            assert!(matches!(reader.next(&mut block), Next::End));
        }
    }

    #[test]
    fn what_was_read_is_overwritten() {
        let mut reader = reader(Items::Secrets, b"a secret\nanother secret", 1000);
        let mut block = Block::new(3000);
        assert!(matches!(reader.next(&mut block), Next::Block));
        block.wipe();
        assert!(block.memory.iter().all(|&byte| byte == 0));
        assert!(matches!(reader.next(&mut block), Next::Block));
        assert!(block.bytes() == b"another secret" && reader.begun.is_empty());
    }
}
