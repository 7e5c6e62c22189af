// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists and manifests to read: from files, pipes and standard input, as they are or compressed by gzip or zstd.
//!
//! Compressed bytes are decompressed as they are read, and memory does not depend on their number: of zstd it is twice
//! the window that a frame asks for, which is 128 MiB at most, as `zstd -d` allows. The format is told
//! by the first bytes, never by the name. All members of gzip and all frames of zstd are read; their checksums must be
//! right, and nothing else may follow.
//!
//! The arguments that name them, too: no path at all, and a folder.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom_files::Watched;

use crate::stdio;
use crate::style;
use crate::text::{display, failed, reason};

/// Number of bytes read at once.
pub const BUFFER_NBYTES: usize = 64 << 10;

/// Bytes to read, decompressed.
pub type Input = Box<dyn BufRead + Send>;

/// Returns the reader's bytes, decompressed if the first of them say that they are compressed.
pub fn decompressed(mut reader: impl Read + Send + 'static) -> io::Result<Input> {
    // A pipe may give fewer bytes than there are.
    let mut magic = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut magic)?;
    let format = Format::of(&magic);
    let reader = BufReader::with_capacity(BUFFER_NBYTES, Cursor::new(magic).chain(reader));
    match format {
        Some(format) => Ok(Box::new(BufReader::with_capacity(BUFFER_NBYTES, decoders::open(format, reader)?))),
        None => Ok(Box::new(reader)),
    }
}

/// Returns the paths, or standard input if there are none.
pub fn or_stdin(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() { vec!["-".into()] } else { paths.iter().flat_map(|path| expanded(path)).collect() }
}

/// Says on a terminal that standard input is read, if the paths name it: nothing else seems to happen.
pub fn say_stdin(paths: &[PathBuf]) {
    if paths.iter().any(|path| path.as_os_str() == "-") && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "{} reading standard input up to Ctrl-{}", style::note(), END);
    }
}

/// The key that ends the input of a terminal, at the beginning of a line.
const END: char = if cfg!(windows) { 'Z' } else { 'D' };

/// Returns the files that a path with wildcards stands for, in order. Shells of Windows leave this to programs, and no
/// name has such a character there. A path that stands for nothing stays as it is, so that its error is printed.
#[cfg(windows)]
fn expanded(path: &Path) -> Vec<PathBuf> {
    let options = glob::MatchOptions { case_sensitive: false, ..glob::MatchOptions::new() };
    // A bracket is no wildcard of Windows.
    let pattern = path.to_str().filter(|text| text.contains(['*', '?']) && !text.starts_with(r"\\?\"));
    let pattern = pattern.map(|text| text.replace('[', "[[]"));
    let found = pattern.and_then(|pattern| glob::glob_with(&pattern, options).ok());
    let found: Vec<PathBuf> = found.into_iter().flatten().flatten().collect();
    if found.is_empty() { vec![path.to_owned()] } else { found }
}

#[cfg(not(windows))]
fn expanded(path: &Path) -> Option<PathBuf> {
    Some(path.to_owned())
}

/// Checks that `DIR` is a folder that can be walked.
pub fn check_folder(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!("{}: expected a folder, found a file", display(path))),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Opens a file as it is; - is standard input. If the file changes while it is read, its end is an error.
pub fn raw(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" { Ok(Box::new(stdin()?)) } else { Ok(Box::new(Watched::open(path)?)) }
}

/// Calls `look` with the bytes of a file, part by part.
pub fn each(path: &Path, mut look: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut reader = raw(path)?;
    let mut buffer = vec![0; BUFFER_NBYTES];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(nbytes) => look(&buffer[..nbytes])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Standard input, which may be a file: [`raw`].
pub fn stdin() -> io::Result<impl Read + Send> {
    stdio::want_stdin();
    let stdin = stdio::stdin()?;
    #[cfg(unix)]
    let stdin = Watched::new(std::os::fd::AsFd::as_fd(&stdin).try_clone_to_owned()?.into())?;
    Ok(stdin)
}

/// A format of compressed bytes.
#[derive(Debug, Clone, Copy)]
enum Format {
    Gzip,
    Zstd,
}

impl Format {
    fn of(magic: &[u8]) -> Option<Format> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Format::Gzip),
            // A frame, or one to skip, with which pzstd begins.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Format::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
        }
    }
}

mod decoders {
    use std::io::{self, BufRead, ErrorKind, Read};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use flate2::bufread::MultiGzDecoder;
    use hashloom_files::Watched;
    use ruzstd::decoding::errors::FrameDecoderError;
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

    use super::Format;
    use crate::memory;
    use crate::units::{bytes, size};

    pub fn open(format: Format, reader: impl BufRead + Send + 'static) -> io::Result<impl Read + Send> {
        let decoder: Box<dyn Read + Send> = match format {
            Format::Gzip => Box::new(MultiGzDecoder::new(reader)),
            Format::Zstd => {
                Box::new(Zstd { reader, decoder: FrameDecoder::new(), is_begun: false, window_nbytes: 0, nbytes: 0 })
            }
        };
        Ok(Told { decoder, format, nbytes: 0 })
    }

    /// Says in errors what the bytes are, and how far they are right.
    struct Told {
        decoder: Box<dyn Read + Send>,
        format: Format,
        nbytes: u64,
    }

    impl Read for Told {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let nbytes = self.decoder.read(buffer).map_err(|error| match error.kind() {
                ErrorKind::Interrupted => error,
                _ if Watched::has_changed(&error) => error,
                kind => {
                    let (format, nbytes) = (self.format.name(), self.nbytes);
                    let what = match kind {
                        ErrorKind::UnexpectedEof => "the compressed bytes are cut short".to_owned(),
                        _ => error.to_string(),
                    };
                    io::Error::new(kind, format!("{format}, after {nbytes} bytes decompressed: {what}"))
                }
            })?;
            self.nbytes += nbytes as u64;
            Ok(nbytes)
        }
    }

    /// Reads frames one after the other.
    struct Zstd<R> {
        reader: R,
        decoder: FrameDecoder,
        is_begun: bool,
        /// The bytes before a place that the present frame may copy from.
        window_nbytes: u64,
        /// Bytes of the present frame.
        nbytes: u64,
    }

    fn bad(what: impl ToString) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, what.to_string())
    }

    /// The limit of `zstd -d`, which is the window of `zstd --long`.
    const WINDOW_MAX_NBYTES: u64 = 128 << 20;

    /// The most that a block may have, decompressed.
    const BLOCK_MAX_NBYTES: u64 = 128 << 10;

    impl<R: BufRead> Zstd<R> {
        /// Begins the next frame. Returns false at the end.
        fn begin(&mut self) -> io::Result<bool> {
            loop {
                if self.reader.fill_buf()?.is_empty() {
                    return Ok(false);
                }
                // RFC 8878, section 3.1.1.1: the magic number, a descriptor, and the fields whose lengths that tells.
                let mut header = [0; 18];
                self.reader.read_exact(&mut header[..5])?;
                match Format::of(&header[..4]) {
                    Some(Format::Zstd) if header[0] == 0x28 => {}
                    Some(Format::Zstd) => {
                        self.reader.read_exact(&mut header[5..8])?;
                        self.skip(u32::from_le_bytes([header[4], header[5], header[6], header[7]]).into())?;
                        continue;
                    }
                    _ => return Err(bad("bytes follow that are no frame")),
                }
                let descriptor = usize::from(header[4]);
                let is_single = descriptor & 0x20 != 0;
                let content = 6 - usize::from(is_single) + [0, 1, 2, 4][descriptor & 3];
                let header = &mut header[..content + [usize::from(is_single), 2, 4, 8][descriptor >> 6]];
                self.reader.read_exact(&mut header[5..])?;
                self.window_nbytes = if is_single {
                    let mut number = [0; 8];
                    number[..header.len() - content].copy_from_slice(&header[content..]);
                    // Two bytes begin at 256, which makes no difference to the limit.
                    u64::from_le_bytes(number)
                } else {
                    let base = 1_u64 << (10 + (header[5] >> 3));
                    base + base / 8 * u64::from(header[5] & 7)
                };
                if self.window_nbytes > WINDOW_MAX_NBYTES {
                    let (most, found) = (bytes(WINDOW_MAX_NBYTES), size(self.window_nbytes));
                    return Err(bad(format!(
                        "expected a window of at most {most}, found {found}: decompress it with `zstd -d --long=31`"
                    )));
                }
                // ruzstd 0.8 allows windows of more than 100 MiB only to a decoder's first frame, and takes memory for
                // that one as it fills.
                self.decoder = FrameDecoder::new();
                self.decoder.reset(&*header).map_err(told)?;
                (self.is_begun, self.nbytes) = (true, 0);
                return Ok(true);
            }
        }

        fn skip(&mut self, nbytes: u64) -> io::Result<()> {
            let skipped = io::copy(&mut self.reader.by_ref().take(nbytes), &mut io::sink())?;
            if skipped == nbytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
        }

        /// Decodes the next block. ruzstd 0.8 does not ask how long it becomes, nor whether there is memory for it.
        fn decode(&mut self) -> io::Result<()> {
            let too_long = || bad(format!("a block has more than {}", bytes(BLOCK_MAX_NBYTES)));
            // A ring of a power of two, and one byte.
            let most = (self.window_nbytes + 2 * BLOCK_MAX_NBYTES).next_power_of_two() + 1;
            let decode = || self.decoder.decode_blocks(&mut self.reader, BlockDecodingStrategy::UptoBlocks(1));
            let decoded = memory::below(most as usize, || catch_unwind(AssertUnwindSafe(decode)));
            decoded.map_err(|_| too_long())?.map_err(told)?;
            if self.decoder.can_collect() as u64 > self.window_nbytes + BLOCK_MAX_NBYTES {
                Err(too_long())
            } else {
                Ok(())
            }
        }

        /// Compares what the frame says of its content.
        fn end(&mut self) -> io::Result<()> {
            self.is_begun = false;
            if self
                .decoder
                .get_checksum_from_data()
                .is_some_and(|sum| Some(sum) != self.decoder.get_calculated_checksum())
            {
                return Err(bad("the checksum is wrong"));
            }
            match self.decoder.content_size() {
                0 => Ok(()),
                nbytes if nbytes == self.nbytes => Ok(()),
                nbytes => Err(bad(format!("expected a frame of {nbytes} bytes, found {}", self.nbytes))),
            }
        }
    }

    impl<R: BufRead> Read for Zstd<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if buffer.is_empty() {
                return Ok(0);
            }
            loop {
                if !self.is_begun && !self.begin()? {
                    return Ok(0);
                }
                // At the end of a frame all bytes can be collected.
                let nbytes = self.decoder.read(buffer)?;
                self.nbytes += nbytes as u64;
                if nbytes > 0 {
                    return Ok(nbytes);
                }
                if self.decoder.is_finished() { self.end()? } else { self.decode()? }
            }
        }
    }

    /// Returns an error with the kind of the input's error, if that is why.
    fn told(error: FrameDecoderError) -> io::Error {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(cause) = source {
            if let Some(io) = cause.downcast_ref::<io::Error>() {
                return io::Error::new(io.kind(), error.to_string());
            }
            source = cause.source();
        }
        bad(error)
    }
}

/// The bytes of a file as they are, which can be read several times, also if they came through a pipe. If the file
/// changes after it was opened, its end is an error.
#[derive(Clone)]
pub struct Kept {
    file: Arc<Bytes>,
}

enum Bytes {
    /// Somebody else's file.
    Watched(Watched),
    /// A file without a name, which nobody else can change.
    Own(File),
}

impl Kept {
    /// Opens a regular file, or calls `look` with the decompressed bytes of a pipe or of standard input (-) while they
    /// are kept in a file without a name. A regular file is only opened; `look` gets its bytes too.
    ///
    /// `look` stops at the first fault, so that endless input is not kept.
    pub fn open<T>(
        path: &Path,
        look: impl FnOnce(Input) -> Result<T, String>,
    ) -> io::Result<(Kept, Result<T, String>)> {
        let is_stdin = path.as_os_str() == "-";
        if !is_stdin {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(ErrorKind::IsADirectory.into());
            }
            if metadata.is_file() {
                let kept = Kept { file: Arc::new(Bytes::Watched(Watched::new(file)?)) };
                let looked = look(kept.read()?);
                return Ok((kept, looked));
            }
            return Kept::spool(file, look);
        }
        Kept::spool(stdin()?, look)
    }

    /// Copies the bytes of a file, of a pipe or of standard input (-) to a file of its own, which nobody else can
    /// change. `look` gets them as they are.
    pub fn copied(path: &Path, mut look: impl FnMut(&[u8])) -> io::Result<Kept> {
        let file = temporary()?;
        each(path, |bytes| {
            look(bytes);
            (&file).write_all(bytes).map_err(not_kept)
        })?;
        Ok(Kept { file: Arc::new(Bytes::Own(file)) })
    }

    /// Keeps what `write` writes.
    pub fn of<T>(write: impl FnOnce(&File) -> Result<T, String>) -> Result<(Kept, T), String> {
        let file = temporary().map_err(|error| reason(&error).to_string())?;
        let written = write(&file)?;
        Ok((Kept { file: Arc::new(Bytes::Own(file)) }, written))
    }

    fn spool<T>(
        reader: impl Read + Send + 'static,
        look: impl FnOnce(Input) -> Result<T, String>,
    ) -> io::Result<(Kept, Result<T, String>)> {
        let kept = Kept { file: Arc::new(Bytes::Own(temporary()?)) };
        let looked = look(decompressed(Tee { reader, file: Arc::clone(&kept.file) })?);
        Ok((kept, looked))
    }

    /// Returns the bytes, decompressed, from the first one on.
    pub fn read(&self) -> io::Result<Input> {
        decompressed(self.bytes())
    }

    /// Returns the bytes as they are, from the first one on.
    pub fn bytes(&self) -> impl Read + Send + use<> {
        At { file: Arc::clone(&self.file), offset: 0 }
    }
}

/// A file without a name, in the folder for temporary files.
fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(not_kept)
}

/// Says that the folder for temporary files is to blame, not what is read.
pub fn not_kept(error: io::Error) -> io::Error {
    let (folder, name) = (std::env::temp_dir(), if cfg!(windows) { "TMP" } else { "TMPDIR" });
    let why = reason(&error);
    io::Error::other(format!("it cannot be kept in {}: {why}; set {name} to another folder", display(&folder)))
}

/// Copies what is read to a file.
struct Tee<R> {
    reader: R,
    file: Arc<Bytes>,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.reader.read(buffer)?;
        if let Bytes::Own(file) = &*self.file {
            (&*file).write_all(&buffer[..nbytes]).map_err(not_kept)?;
        }
        Ok(nbytes)
    }
}

/// Reads a file at a place of its own: several can read one open file.
struct At {
    file: Arc<Bytes>,
    offset: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let nbytes = match &*self.file {
            Bytes::Watched(file) => file.read_at(buffer, self.offset)?,
            #[cfg(unix)]
            Bytes::Own(file) => std::os::unix::fs::FileExt::read_at(file, buffer, self.offset)?,
            #[cfg(windows)]
            Bytes::Own(file) => std::os::windows::fs::FileExt::seek_read(file, buffer, self.offset)?,
        };
        self.offset += nbytes as u64;
        Ok(nbytes)
    }
}
