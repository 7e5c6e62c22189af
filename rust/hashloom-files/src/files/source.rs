// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sources of a message's bytes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source of a message's bytes. A source owns what it reads from, so a request can outlive the function that made
/// it.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_files::run::Options;
/// use hashloom_files::{Request, Source, hash_files};
///
/// let sources = [Source::memory("abc"), Source::reader(&b"abc"[..])];
/// let requests = sources.map(|source| Request::digest(source, Algorithm::Sha1));
/// let summary = hash_files(requests.into_iter(), &Options::new(), |_, result| {
///     assert_eq!(result.unwrap().digests, [hash(Algorithm::Sha1, b"abc")]);
/// });
/// assert_eq!(summary.nfiles, 2);
/// assert_eq!((Source::from("a").path(), Source::Stdin.path()), (Some("a".as_ref()), None));
/// ```
pub enum Source {
    /// A file: anything that can be opened and read to an end, such as a regular file, a pipe or a device. Links are
    /// followed.
    Path(PathBuf),
    /// An open file. A regular file or a block device is read from its beginning, wherever its position is; the
    /// position does not matter and several sources may share the file. Anything else, such as a pipe, is read from
    /// where it is to its end.
    File(Arc<File>),
    /// Any reader, read to its end. A thread reads one reader at a time, since the second may wait for the first.
    /// Cancelling takes effect between two reads.
    Reader(Box<dyn Read + Send>),
    /// Bytes in memory, which are hashed where they are. `as_ref` must return the same bytes each time.
    Memory(Arc<dyn AsRef<[u8]> + Send + Sync>),
    /// Standard input, to its end.
    Stdin,
}

impl Source {
    /// A reader.
    pub fn reader(reader: impl Read + Send + 'static) -> Source {
        Source::Reader(Box::new(reader))
    }

    /// Bytes in memory: a `Vec<u8>`, an `Arc<[u8]>`, a static slice. They are not copied.
    pub fn memory(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Source {
        Source::Memory(Arc::new(bytes))
    }

    /// The path, if the source is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) => Some(path),
            _ => None,
        }
    }
}

/// Makes a source of each type that is a path.
macro_rules! from_path {
    ($($path:ty),*) => {$(
        impl From<$path> for Source {
            fn from(path: $path) -> Source {
                Source::Path(path.into())
            }
        }
    )*};
}

from_path!(PathBuf, &PathBuf, &Path, OsString, &OsStr, String, &String, &str);

impl From<File> for Source {
    fn from(file: File) -> Source {
        Source::File(Arc::new(file))
    }
}

impl From<Arc<File>> for Source {
    fn from(file: Arc<File>) -> Source {
        Source::File(file)
    }
}

impl From<&Arc<File>> for Source {
    fn from(file: &Arc<File>) -> Source {
        Source::File(file.clone())
    }
}

/// The text is for people: bytes of a path that are not UTF-8 become replacement characters.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(path) => path.display().fmt(f),
            Source::File(_) => f.write_str("open file"),
            Source::Reader(_) => f.write_str("reader"),
            Source::Memory(_) => f.write_str("memory"),
            Source::Stdin => f.write_str("standard input"),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Source::File(file) => f.debug_tuple("File").field(file).finish(),
            Source::Reader(_) => f.write_str("Reader(..)"),
            Source::Memory(bytes) => write!(f, "Memory({} bytes)", (**bytes).as_ref().len()),
            Source::Stdin => f.write_str("Stdin"),
        }
    }
}

/// Standard input, if it can be read.
///
/// [`std::io::stdin`] reads as empty if standard input is closed or not open for reading, and the digest of nothing
/// would be taken for the file's. Rust opens /dev/null in place of a closed standard input when a program begins: the
/// program must note before that whether standard input was closed.
///
/// # Errors
/// EBADF if standard input cannot be read.
///
/// ```
/// use std::io::Read;
///
/// let mut text = String::new();
/// match hashloom_files::stdin() {
///     Ok(stdin) => drop(stdin.take(80).read_to_string(&mut text)),
///     Err(error) => eprintln!("standard input: {error}"),
/// }
/// ```
pub fn stdin() -> io::Result<io::Stdin> {
    let stdin = io::stdin();
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl};
        let flags = fcntl_getfl(&stdin)?;
        #[cfg(target_os = "linux")]
        let is_place = flags.contains(OFlags::PATH);
        #[cfg(not(target_os = "linux"))]
        let is_place = false;
        if is_place || flags & OFlags::RWMODE == OFlags::WRONLY {
            return Err(rustix::io::Errno::BADF.into());
        }
    }
    Ok(stdin)
}

/// Reads from a reader of the caller, which need not keep the rules of [`Read`].
///
/// ```
/// assert_eq!(hashloom_files::read_from(&mut &b"abc"[..], &mut [0; 4])?, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_from(reader: &mut (impl Read + ?Sized), into: &mut [u8]) -> io::Result<usize> {
    match reader.read(into) {
        Ok(nbytes) if nbytes > into.len() => {
            Err(io::Error::other("the reader counts more bytes than it was asked for"))
        }
        // The reader cannot be waited for.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::Error::other(error)),
        other => other,
    }
}
