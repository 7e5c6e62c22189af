// SPDX-License-Identifier: MIT OR Apache-2.0

//! Cautions for the maker of a torrent, before strangers download it: junk, names that other systems lack, episodes
//! that are not there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

use hashloom_files::paths::name::check_windows;
use hashloom_files::text::shown;
use hashloom_torrent::{Plan, clients_rename};

use crate::units::plural;

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
    names.message(&format!("{files} left out, which --include-junk takes in"))
}

/// Warnings about names.
pub fn of_names(plan: &Plan) -> Vec<String> {
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

/// The warning about episodes that a season lacks: some number between 1 and its last episode.
pub fn of_season(plan: &Plan) -> Option<String> {
    let mut seasons: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for file in plan.files() {
        let name = file.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_ascii_lowercase();
        let is_video =
            [".mkv", ".mp4", ".avi", ".m4v", ".ts", ".webm"].iter().any(|end| name.ends_with(end.as_bytes()));
        if let Some((season, episodes)) = episodes(&name).filter(|_| is_video) {
            seasons.entry(season).or_default().extend(episodes);
        }
    }
    let mut names = Names::new();
    for (season, episodes) in seasons.iter().filter(|(_, episodes)| episodes.len() > 1) {
        let last = episodes.last().copied().unwrap_or_default();
        let missing = (1..last).filter(|episode| !episodes.contains(episode));
        missing.for_each(|episode| names.push(format!("S{season:02}E{episode:02}").as_bytes()));
    }
    names.message("episodes that the season lacks")
}

type Episodes = (u32, RangeInclusive<u32>);

/// The season and episodes of a name in lower case: `s01e02`, `s01e02e03`, `s01e02-e04`, `s01e02-04`.
fn episodes(name: &[u8]) -> Option<Episodes> {
    let number = |text: &[u8], most: usize| -> Option<(u32, usize)> {
        let digits = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        Some((std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?, digits))
    };
    (0..name.len()).filter(|&at| name[at] == b's').find_map(|at| {
        let (season, digits) = number(&name[at + 1..], 2)?;
        let rest = name[at + 1 + digits..].strip_prefix(b"e")?;
        let (first, digits) = number(rest, 3)?;
        let rest = &rest[digits..];
        let more = [&b"-e"[..], b"e"].iter().find_map(|mark| number(rest.strip_prefix(*mark)?, 3));
        // Not the 720 of s01e02-720p.
        let bare = || {
            number(rest.strip_prefix(b"-")?, 2).filter(|(_, n)| !rest.get(n + 1).is_some_and(u8::is_ascii_alphanumeric))
        };
        let last = more.or_else(bare).map_or(first, |(last, _)| last.max(first));
        Some((season, first..=last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_of_names() {
        let cases: [(&str, Option<Episodes>); 7] = [
            ("kyle.s01e02.1080p.mkv", Some((1, 2..=2))),
            ("s3.special.s03e007e009.mkv", Some((3, 7..=9))),
            ("x s1e1-e3", Some((1, 1..=3))),
            ("x s01e04-05.mkv", Some((1, 4..=5))),
            ("x.s01e10-720p", Some((1, 10..=10))),
            ("series.e02", None),
            ("s", None),
        ];
        for (name, expected) in cases {
            assert_eq!(episodes(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn junk() {
        for path in [".DS_Store", "a/Thumbs.db", "x.mkv:Zone.Identifier", "a.torrent", "a/@eaDir/b.jpg"] {
            assert!(is_junk(path.as_bytes()), "{path}");
        }
        assert!(!is_junk(b"a/thumbs.dbx") && !is_junk(b"@eaDirs/b"));
    }
}
