// SPDX-License-Identifier: MIT OR Apache-2.0

//! Globs with the meaning that `.gitignore` gives them, and the files `.ignore` and `.gitignore` themselves.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use globset::{Error, GlobBuilder, GlobSet, GlobSetBuilder};

/// The files that globs are read from. The globs of a later file count only where those of an earlier one say nothing.
const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// Largest depth of braces within braces: crate globset recurses into them.
const DEPTH_MAX: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Rule {
    /// Whether what matches is kept.
    keeps: bool,
    /// Whether only folders match.
    folders_only: bool,
}

/// Globs that are being collected.
pub(crate) struct GlobsBuilder {
    set: GlobSetBuilder,
    rules: Vec<Rule>,
}

/// Globs for paths below one folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Globs {
    set: GlobSet,
    rules: Vec<Rule>,
}

impl GlobsBuilder {
    pub(crate) fn new() -> GlobsBuilder {
        GlobsBuilder { set: GlobSetBuilder::new(), rules: Vec::new() }
    }

    /// Adds a glob, without the `!` that may stand before it.
    pub(crate) fn add(&mut self, glob: &str, keeps: bool) -> Result<(), String> {
        if depth(glob) > DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} braces within braces"));
        }
        let (glob, is_anchored) = glob.strip_prefix('/').map_or((glob, false), |glob| (glob, true));
        let (glob, folders_only) = match glob.strip_suffix('/') {
            Some(glob) => (glob.strip_suffix('\\').unwrap_or(glob), true),
            None => (glob, false),
        };
        let glob = match glob {
            // A glob with a slash matches from the folder on, any other at any depth.
            _ if !is_anchored && !glob.contains('/') && glob != "**" => format!("**/{glob}"),
            // This matches all that is in a folder, but not the folder itself.
            _ if glob.ends_with("/**") => format!("{glob}/*"),
            _ => glob.to_owned(),
        };
        let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
        self.set.add(glob.map_err(|error| error.kind().to_string())?);
        self.rules.push(Rule { keeps, folders_only });
        Ok(())
    }

    /// Adds a line of an ignore file. A line that is not a glob means nothing, as in git.
    fn add_line(&mut self, line: &str) {
        let line = trimmed(line);
        if !line.is_empty() && !line.starts_with('#') {
            let (glob, keeps) = line.strip_prefix('!').map_or((line, false), |glob| (glob, true));
            let _ = self.add(glob, keeps);
        }
    }

    pub(crate) fn build(self) -> Result<Globs, Error> {
        Ok(Globs { set: self.set.build()?, rules: self.rules })
    }
}

/// The depth of braces within braces.
fn depth(glob: &str) -> usize {
    let (mut depth, mut deepest, mut is_escaped) = (0_usize, 0, false);
    for byte in glob.bytes() {
        match byte {
            b'{' if !is_escaped => depth += 1,
            b'}' if !is_escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
        deepest = deepest.max(depth);
    }
    deepest
}

/// A line without the blanks at its end, unless a backslash keeps them.
pub(crate) fn trimmed(line: &str) -> &str {
    if line.ends_with("\\ ") { line } else { line.trim_end() }
}

impl Globs {
    /// Returns whether a path is kept, which the last glob that matches decides; `None` if no glob matches.
    pub(crate) fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let matches = self.set.matches(path);
        let rules = matches.iter().rev().map(|&index| self.rules[index]);
        rules.into_iter().find(|rule| is_folder || !rule.folders_only).map(|rule| rule.keeps)
    }
}

/// The ignore files of a folder and of the folders above it, up to the root of the walk.
#[derive(Default)]
pub struct IgnoreFiles(Vec<(PathBuf, [Globs; IGNORE_FILES.len()])>);

impl IgnoreFiles {
    /// Leaves the folders that `path` is not in.
    pub fn leave(&mut self, path: &Path) {
        let nentered = self.0.iter().take_while(|(folder, _)| path.starts_with(folder)).count();
        self.0.truncate(nentered);
    }

    /// Enters a folder. Returns the errors of its ignore files.
    pub fn enter(&mut self, folder: &Path) -> Vec<(PathBuf, io::Error)> {
        let mut errors = Vec::new();
        let globs = IGNORE_FILES.map(|name| {
            let path = folder.join(name);
            read(&path).unwrap_or_else(|error| {
                errors.push((path, error));
                Globs::default()
            })
        });
        self.0.push((folder.to_owned(), globs));
        errors
    }

    /// Returns whether a path is kept; `None` if no glob matches. The globs of inner folders count first.
    pub fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        (0..IGNORE_FILES.len()).find_map(|file| {
            let mut folders = self.0.iter().rev();
            folders.find_map(|(folder, globs)| globs[file].decide(path.strip_prefix(folder).ok()?, is_folder))
        })
    }
}

/// Reads an ignore file. Anything but a regular file counts as no ignore file.
fn read(path: &Path) -> io::Result<Globs> {
    let mut globs = GlobsBuilder::new();
    if path.is_file() {
        for line in BufReader::new(File::open(path)?).lines() {
            globs.add_line(&line?);
        }
    }
    globs.build().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_within_braces_are_bounded() {
        let nested = |depth| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(GlobsBuilder::new().add(&nested(DEPTH_MAX), true), Ok(()));
        assert!(GlobsBuilder::new().add(&nested(DEPTH_MAX + 1), true).is_err());
        assert!(GlobsBuilder::new().add(&nested(200_000), true).is_err());
        assert_eq!(GlobsBuilder::new().add(&"{a,b}".repeat(100), true), Ok(()));
        assert_eq!(depth("\\{{\\\\{"), 2);
    }
}
