// SPDX-License-Identifier: MIT OR Apache-2.0

//! Cautions for the maker of a torrent, before strangers download it: junk, and names that other systems lack.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use hashloom_files::paths::name::check_windows;
use hashloom_files::text::shown;
use hashloom_frame::units::plural;
use hashloom_torrent::clients_rename;

use crate::Plan;

/// Number of names in a warning; the others are counted.
const NAMED_MAX: usize = 5;

/// The longest name that libtorrent writes; it cuts longer ones.
const NAME_NBYTES_MAX: usize = 240;

/// Whether a file is one that systems leave in folders, or a torrent: the files that mkbrr leaves out.
pub fn is_junk(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    let ends = [".torrent", ".ds_store", "thumbs.db", "desktop.ini", "zone.identifier"];
    ends.iter().any(|end| path.ends_with(end.as_bytes()))
        || path.split(|&byte| byte == b'/').any(|name| name == b"@eadir")
}

/// Names, the first few of them.
struct Names {
    named: Vec<String>,
    count: usize,
}

impl Names {
    fn new() -> Names {
        Names { named: Vec::new(), count: 0 }
    }

    fn push(&mut self, name: &[u8]) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(shown(name).to_string());
        }
    }

    /// The message, unless there are no names.
    fn message(self, what: &str) -> Option<String> {
        let more = match self.count - self.named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (self.count > 0).then(|| format!("{what}: {}{more}", self.named.join(", ")))
    }
}

/// The note about files that were left out.
pub fn left_out(plan: &Plan) -> Option<String> {
    let mut names = Names::new();
    plan.left_out().iter().for_each(|path| names.push(path));
    let files = plural(names.count as u64, "file");
    names.message(&format!("{files} left out, as no torrent needs them"))
}

/// Warnings about names.
pub fn name_warnings(plan: &Plan) -> Vec<String> {
    let (mut alike, mut long, mut foreign) = (Names::new(), Names::new(), Names::new());
    let hasher = RandomState::new();
    let mut look_at = |name: &[u8], place: &[u8]| {
        if name.len() > NAME_NBYTES_MAX {
            long.push(place);
        } else if check_windows(name).is_err() || clients_rename(name) {
            foreign.push(place);
        }
    };
    // A folder's and a file's path in lower case, as a hash, and the first file that has it.
    let mut known: HashMap<u64, usize> = HashMap::new();
    let paths: Vec<&[u8]> = plan.files().map(|file| file.path).collect();
    let mut last: &[u8] = b"";
    for (index, &path) in paths.iter().enumerate() {
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(at, _)| at).chain([path.len()]);
        let mut start = 0;
        for end in ends {
            let (place, name) = (&path[..end], &path[start..end]);
            start = end + 1;
            // A folder is looked at once.
            if end < path.len() && last.get(..=end) == path.get(..=end) {
                continue;
            }
            let folded = hasher.hash_one(String::from_utf8_lossy(place).to_lowercase());
            let first = *known.entry(folded).or_insert(index);
            if first != index && paths[first].get(..end) != Some(place) {
                alike.push(&[place, b" (", &paths[first][..end.min(paths[first].len())], b")"].concat());
            }
            look_at(name, place);
        }
        last = path;
    }
    if !plan.is_single_file() {
        look_at(plan.name(), plan.name());
    }
    let messages = [
        alike.message("names that differ from others only in case, of which Windows and macOS keep one"),
        long.message("names of more than 240 bytes, which clients cut"),
        foreign.message("names that Windows lacks, or characters that clients replace"),
    ];
    messages.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junk() {
        for path in [".DS_Store", "a/Thumbs.db", "x.mkv:Zone.Identifier", "a.torrent", "a/@eaDir/b.jpg"] {
            assert!(is_junk(path.as_bytes()), "{path}");
        }
        assert!(!is_junk(b"a/thumbs.dbx") && !is_junk(b"@eaDirs/b"));
    }
}
