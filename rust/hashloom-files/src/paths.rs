// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths as torrents and manifests have them: bytes, their components joined by `/`; their order; and paths that are
//! too long for a system call.
//!
//! There are two orders of paths. [`by_components`] is that of manifests and of BEP 52's file tree. The other is the
//! order of the paths' bytes, in which `hashloom sum --recursive` prints, and which `LC_ALL=C sort` makes; it is the
//! order of `[u8]` itself.

use std::borrow::Cow;
use std::cmp::Ordering;
#[cfg(not(windows))]
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub mod forms;
pub mod name;
#[cfg(windows)]
mod windows;

pub use name::BadComponent;

use crate::text::shown;

/// Compares paths component by component, by the bytes of the names. A folder's contents follow the folder at once,
/// before a file whose name begins with the folder's name.
///
/// ```
/// use hashloom_files::paths::by_components;
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
/// On Unix these bytes are the path. On Windows they are UTF-8, or what [`portable`] makes of a name that is no
/// Unicode; other bytes become U+FFFD, and the parser of torrents refuses such names there. Nothing else is checked
/// here: the paths of a `Torrent` stay below its folder, as do those of a manifest.
///
/// ```
/// use hashloom_files::paths::{portable, to_bytes, to_path};
///
/// let path = to_path(b"cd1/track.flac");
/// assert_eq!(path, std::path::Path::new("cd1").join("track.flac"));
/// assert!(to_bytes(&path) == b"cd1/track.flac" && *portable(&path) == *b"cd1/track.flac");
/// ```
pub fn to_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(windows)]
    return PathBuf::from(windows::to_name(bytes));
    #[cfg(not(any(unix, windows)))]
    return PathBuf::from(OsStr::new(&*String::from_utf8_lossy(bytes)));
}

/// Returns the bytes of a path as lists, JSON and messages have them, on each system the same: on Windows with `/` in
/// place of `\`. There half a surrogate pair, which is no Unicode, becomes three bytes that are not UTF-8 (WTF-8).
/// [`to_path`] is the reverse.
pub fn portable(path: &Path) -> Cow<'_, [u8]> {
    #[cfg(windows)]
    {
        let slashes = |bytes: Vec<u8>| bytes.into_iter().map(|byte| if byte == b'\\' { b'/' } else { byte }).collect();
        match path.to_str() {
            Some(text) if !text.contains('\\') => Cow::Borrowed(text.as_bytes()),
            _ => Cow::Owned(slashes(windows::to_bytes(path.as_os_str()))),
        }
    }
    #[cfg(not(windows))]
    Cow::Borrowed(path.as_os_str().as_encoded_bytes())
}

/// Formats a path for a message, so that nothing in it can control a terminal.
///
/// ```
/// # use hashloom_files::paths::display;
/// assert_eq!(display(&std::path::Path::new("cd1").join("red\x1b")), r"cd1/red\x1b");
/// ```
pub fn display(path: &Path) -> String {
    shown(&portable(path)).to_string()
}

/// Why a path that a stranger chose is not opened on this system; `None` if it may be. On Windows some names lead to a
/// device (`CON`), to a second stream of a file (`a:b`), to a file of another name (`a.`) or to a server of the
/// network.
///
/// ```
/// # use hashloom_files::paths::refused;
/// assert_eq!(refused(b"CON").is_some(), cfg!(windows));
/// assert!(refused(b"C:/con/../a").is_none() != cfg!(windows) && refused(b"../a").is_none());
/// ```
pub fn refused(path: &[u8]) -> Option<BadComponent> {
    if cfg!(windows) { name::refused_on_windows(path) } else { None }
}

/// Returns the bytes of a relative path, its components joined by `/`.
pub fn to_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.as_os_str().len());
    for (index, component) in path.iter().enumerate() {
        if index > 0 {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(&portable(component.as_ref()));
    }
    bytes
}
