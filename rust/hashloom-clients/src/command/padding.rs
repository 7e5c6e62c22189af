// SPDX-License-Identifier: MIT OR Apache-2.0

//! Padding files (BEP 47), which some clients show as files: what is said of them, and `--padding-files`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use hashloom_frame::text::{display, failed};
use hashloom_frame::units::plural;
use hashloom_torrent::{Bitfield, Torrent};

use super::resume_files::Written;
use crate::Content;
use crate::content::are_zeros;

/// A note about pieces that are right and not claimed, as padding files are not there.
pub fn note(torrent: &Torrent, have: &Bitfield, claimed: &Bitfield, content: &Content) -> Option<String> {
    let is_lost = |piece: usize| have.get(piece) && !claimed.get(piece);
    let padding = torrent.files().filter(|file| file.attributes.padding && file.nbytes > 0);
    let lost = |file: usize| torrent.pieces_of_file(file).any(is_lost);
    let absent = padding.filter(|file| lost(file.index) && !content.has_zeros(torrent, file.index)).count() as u64;
    let pieces = have.ones().filter(|&piece| !claimed.get(piece)).count() as u64;
    (absent > 0).then(|| {
        format!(
            "{pieces} of {} not claimed: Transmission takes padding for files, and {} missing or not of zeros. \
             --padding-files writes what is missing",
            plural(have.count() as u64, "right piece"),
            match absent {
                1 => "1 padding file is".to_owned(),
                count => format!("{count} padding files are"),
            },
        )
    })
}

/// Makes the padding files of a torrent that are missing. Returns `None` if there are none to make.
pub fn write(torrent: &Torrent, content: &Content) -> Result<Option<Written>, String> {
    let (mut count, mut nbytes, mut done) = (0, 0, BTreeSet::new());
    let root = content.path().canonicalize().map_err(|error| failed(content.path(), &error))?;
    for file in torrent.files().filter(|file| file.attributes.padding && file.nbytes > 0) {
        let path = content.file_path(torrent, file.index);
        let inner = path.strip_prefix(content.path()).ok();
        let Some((inner, name)) = inner.and_then(|inner| Some((inner.parent()?, inner.file_name()?))) else {
            return Err(format!("{}: a padding file that is not below {}", display(&path), display(content.path())));
        };
        let path = make_folders(&root, inner, "of the content", &mut Vec::new())?.join(name);
        match File::create_new(&path).and_then(|made| made.set_len(file.nbytes)) {
            Ok(()) => (count, nbytes) = (count + 1, nbytes + file.nbytes),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Padding files of one length have one name.
                if !done.contains(&(path.clone(), file.nbytes)) && !are_zeros(&path, file.nbytes) {
                    let zeros = plural(file.nbytes, "zero");
                    return Err(format!("{}: expected {zeros}, as it is padding. Remove it", display(&path)));
                }
            }
            Err(error) => return Err(failed(&path, &error)),
        }
        done.insert((path, file.nbytes));
    }
    let (what, path) = (plural(count, "padding file"), content.path().to_owned());
    Ok((count > 0).then_some(Written { what, path, nbytes, pieces: None, note: None }))
}

/// Makes the folders `inner` below `root`, which has no links, and notes those that were not there. Returns the folder
/// without links; links that lead out of `root` are not followed. `whose` says for the error which folder `root` is.
pub fn make_folders(root: &Path, inner: &Path, whose: &str, made: &mut Vec<PathBuf>) -> Result<PathBuf, String> {
    let mut folder = root.to_owned();
    for name in inner {
        folder.push(name);
        match fs::create_dir(&folder) {
            Ok(()) => made.push(folder.clone()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let target = folder.canonicalize().map_err(|error| failed(&folder, &error))?;
                if !target.starts_with(root) {
                    let why = format!("a symbolic link leads out of the folder {whose}, to");
                    return Err(format!("{}: {why} {}", display(&folder), display(&target)));
                }
                folder = target;
            }
            Err(error) => return Err(failed(&folder, &error)),
        }
    }
    Ok(folder)
}
