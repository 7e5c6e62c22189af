// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists and manifests to read: from files, pipes and standard input, as they are or compressed by gzip.
//!
//! Compressed bytes are decompressed as they are read, and memory does not depend on their number. The first bytes tell
//! that they are compressed, never the name. All members are read; their checksums must be right, and nothing else may
//! follow. zstd is recognised, so that the error says how to decompress it.
//!
//! The arguments that name them, too: no path at all, and a folder.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use hashloom_files::Watched;

use crate::stdio;
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
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    // A frame, or one to skip, with which pzstd begins.
    if let [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] = magic[..] {
        let why = "expected text or gzip, found zstd: decompress it first, as by `zstd -dc`";
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    let reader = BufReader::with_capacity(BUFFER_NBYTES, Cursor::new(magic).chain(reader));
    Ok(match is_gzip {
        true => {
            Box::new(BufReader::with_capacity(BUFFER_NBYTES, Gzip { decoder: MultiGzDecoder::new(reader), nbytes: 0 }))
        }
        false => Box::new(reader),
    })
}

/// Decompresses, and says in errors how far the bytes are right.
struct Gzip<R> {
    decoder: MultiGzDecoder<R>,
    nbytes: u64,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let nbytes = self.decoder.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error,
            _ if Watched::has_changed(&error) => error,
            kind => {
                let what = match kind {
                    ErrorKind::UnexpectedEof => "the compressed bytes are cut short".to_owned(),
                    _ => error.to_string(),
                };
                io::Error::new(kind, format!("gzip, after {} bytes decompressed: {what}", self.nbytes))
            }
        })?;
        self.nbytes += nbytes as u64;
        Ok(nbytes)
    }
}

/// Returns the paths, or standard input if there are none.
pub fn or_stdin(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() { vec!["-".into()] } else { paths.iter().flat_map(|path| expanded(path)).collect() }
}

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
    match path.as_os_str() == "-" {
        true => Ok(Box::new(stdin()?)),
        false => Ok(Box::new(Watched::open(path)?)),
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

/// The bytes of a file as they are, which can be read several times, also if they came through a pipe. If the file
/// changes after it was opened, its end is an error.
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

    /// Copies the bytes of a file, of a pipe or of standard input (-) to a file of its own, which nobody else can change.
    /// `look` gets them as they are.
    pub fn copied(path: &Path, mut look: impl FnMut(&[u8])) -> io::Result<Kept> {
        let mut reader = raw(path)?;
        let file = temporary()?;
        let mut buffer = vec![0; BUFFER_NBYTES];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Kept { file: Arc::new(Bytes::Own(file)) }),
                Ok(nbytes) => {
                    look(&buffer[..nbytes]);
                    (&file).write_all(&buffer[..nbytes]).map_err(not_kept)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
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
        decompressed(At { file: Arc::clone(&self.file), offset: 0 })
    }
}

/// A file without a name, in the folder for temporary files.
fn temporary() -> io::Result<File> {
    tempfile::tempfile().map_err(not_kept)
}

/// Says that the folder for temporary files is to blame, not what is read.
fn not_kept(error: io::Error) -> io::Error {
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
