// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths as torrents and manifests have them: bytes, their components joined by `/`; their order; and paths that are
//! too long for a system call.
//!
//! There are two orders of paths. [`by_components`] is that of manifests and of BEP 52's file tree. The other is the
//! order of the paths' bytes, in which `hashloom sum --recursive` prints, and which `LC_ALL=C sort` makes; it is the
//! order of `[u8]` itself.
//!
//! ```
//! use hashloom_engine::paths::by_components;
//!
//! let mut paths = [&b"a.txt"[..], b"a/b", b"a"];
//! paths.sort();
//! assert_eq!(paths, [&b"a"[..], b"a.txt", b"a/b"]);
//! paths.sort_by(|a, b| by_components(a, b));
//! assert_eq!(paths, [&b"a"[..], b"a/b", b"a.txt"]);
//! ```

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub(crate) mod long;

pub use long::{metadata, symlink_metadata};

/// Compares paths component by component, by the bytes of the names. A folder's contents follow the folder at once,
/// before a file whose name begins with the folder's name.
///
/// ```
/// use hashloom_engine::paths::by_components;
///
/// let mut paths = ["a-b", "a", "a/b", "a b", "B"];
/// paths.sort_by(|a, b| by_components(a.as_bytes(), b.as_bytes()));
/// assert_eq!(paths, ["B", "a", "a/b", "a b", "a-b"]);
/// ```
pub fn by_components(a: &[u8], b: &[u8]) -> Ordering {
    // The comparison is as if `/` were less than any other byte.
    let key = |byte: u8| (byte != b'/', byte);
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((&a, &b)) => key(a).cmp(&key(b)),
        None => a.len().cmp(&b.len()),
    }
}

/// Turns the bytes of a path or name into a path of the operating system.
///
/// On Unix these bytes are the path. On other systems bytes that are not UTF-8 become U+FFFD; the parser of torrents
/// refuses such names there. Nothing else is checked here: the paths of a `Torrent` stay
/// below its folder, as do those of a manifest.
///
/// ```
/// # use hashloom_engine::paths::to_path;
/// assert_eq!(to_path(b"cd1/track.flac"), std::path::Path::new("cd1").join("track.flac"));
/// ```
pub fn to_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    return PathBuf::from(OsStr::new(&*String::from_utf8_lossy(bytes)));
}

/// Returns the bytes of a relative path, its components joined by `/`.
///
/// ```
/// # use hashloom_engine::paths::to_bytes;
/// assert_eq!(to_bytes(&std::path::Path::new("cd1").join("track.flac")), b"cd1/track.flac");
/// ```
pub fn to_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.as_os_str().len());
    for (index, component) in path.iter().enumerate() {
        if index > 0 {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(component.as_encoded_bytes());
    }
    bytes
}
