// SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::text::{quoted, shown};

/// Largest depth of braces within braces: crate globset recurses into them.
const DEPTH_MAX: usize = 32;

/// The files that are wanted, by their paths below a folder and by their lengths. The default is all files.
///
/// Globs are those of `.gitignore`: a glob without a `/` before its end matches at any depth, a glob with one matches
/// from the folder on, a `/` at the end matches only folders, and `**` matches any number of folders. A file without a
/// folder is matched by its name. If there are globs to include, only files that match one of them are wanted. A file or
/// folder that matches a glob to exclude is not wanted, nor is anything below such a folder.
///
/// ```
/// use std::path::Path;
///
/// use hashloom_files::walk::Filter;
///
/// let filter = Filter::new(&["*.flac", "*.jpg"], &["drafts/"])?.lengths(1..=1 << 20)?;
/// assert!(filter.wants_path(Path::new("album/cover.jpg"), false));
/// assert!(!filter.wants_path(Path::new("album/notes.txt"), false));
/// assert!(!filter.wants_path(Path::new("album/drafts"), true));
/// assert!(!filter.wants_length(0));
/// assert!(filter.wanted_lengths() == (1..=1 << 20) && !filter.wants_all());
/// assert_eq!((filter.included().len(), filter.excluded()), (2, &["drafts/".to_owned()][..]));
/// assert!(filter.in_any_case()?.wants_path(Path::new("COVER.JPG"), false));
/// # Ok::<(), hashloom_files::walk::FilterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Filter {
    include: Vec<String>,
    exclude: Vec<String>,
    nbytes: RangeInclusive<u64>,
    /// The globs to include, then those to exclude.
    globs: GlobSet,
    /// Whether each of them matches only folders.
    folders_only: Vec<bool>,
    any_case: bool,
}

/// A filter that cannot be used.
///
/// ```
/// use hashloom_files::walk::Filter;
///
/// let error = Filter::new(&["[a"], &[]).unwrap_err();
/// assert!(error.to_string().starts_with("the glob \"[a\": "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterError {
    /// A glob is malformed, empty, nested too deeply, or begins with `!`.
    Glob {
        /// The glob given.
        glob: String,
        /// The fault, in the words of the parser of globs.
        message: String,
    },
    /// The globs are too long together.
    Globs {
        /// The fault, in the words of the parser of globs.
        message: String,
    },
    /// The least length is more than the greatest.
    Lengths {
        /// The least number of bytes.
        least: u64,
        /// The greatest number of bytes.
        most: u64,
    },
}

impl Filter {
    /// A filter by globs to include and to exclude.
    ///
    /// # Errors
    /// If a glob is malformed, empty, or begins with `!`.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Filter, FilterError> {
        Filter::build(include, exclude, false)
    }

    /// The same filter, with `a` and `A` alike.
    ///
    /// # Errors
    /// If the globs together are too long so.
    pub fn in_any_case(self) -> Result<Filter, FilterError> {
        Ok(Filter { nbytes: self.nbytes, ..Filter::build(&self.include, &self.exclude, true)? })
    }

    fn build<S: AsRef<str>>(include: &[S], exclude: &[S], any_case: bool) -> Result<Filter, FilterError> {
        let mut globs = GlobSetBuilder::new();
        let mut folders_only = Vec::new();
        for glob in include.iter().chain(exclude).map(AsRef::as_ref) {
            let failed = |message| FilterError::Glob { glob: glob.to_owned(), message };
            if trimmed(glob).is_empty() || glob.starts_with('!') {
                return Err(failed("expected a pattern that does not begin with \"!\"".into()));
            }
            let (glob, is_of_folders) = parse(trimmed(glob), any_case).map_err(failed)?;
            globs.add(glob);
            folders_only.push(is_of_folders);
        }
        let globs = globs.build().map_err(|error| FilterError::Globs { message: error.kind().to_string() })?;
        let owned = |list: &[S]| list.iter().map(|glob| glob.as_ref().to_owned()).collect();
        Ok(Filter {
            include: owned(include),
            exclude: owned(exclude),
            nbytes: 0..=u64::MAX,
            globs,
            folders_only,
            any_case,
        })
    }

    /// Restricts the filter to files with numbers of bytes in this range. Folders and links have no length.
    ///
    /// # Errors
    /// If the range is empty.
    pub fn lengths(mut self, nbytes: RangeInclusive<u64>) -> Result<Filter, FilterError> {
        if nbytes.is_empty() {
            return Err(FilterError::Lengths { least: *nbytes.start(), most: *nbytes.end() });
        }
        self.nbytes = nbytes;
        Ok(self)
    }

    /// The globs to include.
    pub fn included(&self) -> &[String] {
        &self.include
    }

    /// The globs to exclude.
    pub fn excluded(&self) -> &[String] {
        &self.exclude
    }

    /// The numbers of bytes that are wanted.
    pub fn wanted_lengths(&self) -> RangeInclusive<u64> {
        self.nbytes.clone()
    }

    /// Whether all files are wanted.
    pub fn wants_all(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty() && self.nbytes == (0..=u64::MAX)
    }

    /// Whether the globs want a path, given relative to the folder. The folders on the way are not looked at.
    pub fn wants_path(&self, path: &Path, is_folder: bool) -> bool {
        // Without globs nothing is searched: the search asks the CPU what it has, which takes long under a hypervisor.
        if self.folders_only.is_empty() {
            return true;
        }
        let globs = self.globs.matches(path);
        let mut globs = globs.into_iter().filter(|&index| is_folder || !self.folders_only[index]).peekable();
        // Matches are in order, and globs to exclude are last.
        let is_included = is_folder || self.include.is_empty() || globs.peek().is_some();
        is_included && globs.all(|index| index < self.include.len())
    }

    /// Whether a file of this many bytes is wanted.
    pub fn wants_length(&self, nbytes: u64) -> bool {
        self.nbytes.contains(&nbytes)
    }
}

impl Default for Filter {
    fn default() -> Filter {
        let (include, exclude, folders_only) = (Vec::new(), Vec::new(), Vec::new());
        Filter { include, exclude, nbytes: 0..=u64::MAX, globs: GlobSet::default(), folders_only, any_case: false }
    }
}

/// Filters are equal if they have the same globs in the same order, alike about case, and the same range of lengths.
impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        let parts = |filter: &'_ Filter| (filter.any_case, filter.nbytes.clone());
        parts(self) == parts(other) && self.include == other.include && self.exclude == other.exclude
    }
}

impl Eq for Filter {}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::Glob { glob, message } => {
                write!(f, "the glob {}: {}", quoted(glob.as_bytes()), shown(message.as_bytes()))
            }
            FilterError::Globs { message } => write!(f, "the globs together: {message}"),
            FilterError::Lengths { least, most } => {
                write!(f, "the least length is {least} bytes, the greatest {most}: no file has such a length")
            }
        }
    }
}

impl std::error::Error for FilterError {}

/// Reads a glob of `.gitignore`. Returns whether the glob matches only folders, too.
fn parse(glob: &str, any_case: bool) -> Result<(Glob, bool), String> {
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
    let glob =
        GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).case_insensitive(any_case).build();
    Ok((glob.map_err(|error| error.kind().to_string())?, folders_only))
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

/// A glob without the blanks at its end, unless a backslash keeps them.
fn trimmed(line: &str) -> &str {
    if line.ends_with("\\ ") { line } else { line.trim_end() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_within_braces_are_bounded() {
        let nested = |depth| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX), false).is_ok());
        assert!(parse(&nested(DEPTH_MAX + 1), false).is_err());
        assert!(parse(&nested(200_000), false).is_err());
        assert!(parse(&"{a,b}".repeat(100), false).is_ok());
        assert_eq!(depth("\\{{\\\\{"), 2);
    }
}
