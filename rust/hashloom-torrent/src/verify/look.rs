// SPDX-License-Identifier: MIT OR Apache-2.0

//! Looks at the files of a torrent without reading them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom_files::Stamp;
use hashloom_files::paths;
use hashloom_files::pieces::files::{Cache, Files};

use super::VerifyError;
use super::locate::{Located, locate};
use crate::Torrent;

/// Returns the place of a torrent's content, found as [`verify`](super::verify) finds it, and the stamp of each file of
/// a range. The stamp is `None` for a file that is missing or cannot be looked at, and for padding and links.
///
/// Machines that share a check compare their stamps: verdicts of different times belong together only if no file has
/// changed in between.
///
/// # Errors
/// The errors of [`verify`](super::verify).
///
/// ```
/// use hashloom_torrent::{Torrent, look};
///
/// # let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc"), "abc")?;
/// let torrent = b"d4:infod6:lengthi3e4:name3:abc12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let (content, stamps) = look(&Torrent::parse(torrent)?, folder.path(), 0..1)?;
/// assert_eq!(content, folder.path().join("abc"));
/// assert_eq!(stamps[0].unwrap().nbytes, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn look(torrent: &Torrent, path: &Path, files: Range<usize>) -> Result<(PathBuf, Vec<Option<Stamp>>), VerifyError> {
    let cache = Arc::new(Cache::default());
    let located = locate(torrent, path, &cache).map_err(|error| VerifyError::locating(torrent, path, error))?;
    let Located { place, prefix, content } = located;
    let path_of = move |index| prefix.join(paths::to_path(torrent.file(index).path));
    let known = Files::new(place, torrent.file_count(), Box::new(path_of), &cache);
    let end = files.end.min(torrent.file_count());
    let stamp_of = |index: usize| {
        let attributes = torrent.file(index).attributes;
        if attributes.padding || attributes.symlink { None } else { known.stamp_now(index) }
    };
    Ok((content, (files.start.min(end)..end).map(stamp_of).collect()))
}
