// SPDX-License-Identifier: MIT OR Apache-2.0

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use fast_glob::{glob_match, validate};

use crate::text::{quoted, shown};

/// Largest number of bytes of all globs together, each counted once for every choice that its braces leave: a path is
/// compared with all of them.
const NBYTES_MAX: usize = 1 << 18;

/// The files that are wanted, by their paths below a folder and by their lengths. The default is all files.
///
/// Globs are those of `.gitignore`: a glob without a `/` before its end matches at any depth, a glob with one matches
/// from the folder on, a `/` at the end matches only folders, and `**` matches any number of folders. A file without a
/// folder is matched by its name. If there are globs to include, only files that match one of them are wanted. A file
/// or folder that matches a glob to exclude is not wanted, nor is anything below such a folder.
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
/// assert!(filter.in_any_case().wants_path(Path::new("COVER.JPG"), false));
/// # Ok::<(), hashloom_files::walk::FilterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    include: Vec<String>,
    exclude: Vec<String>,
    nbytes: RangeInclusive<u64>,
    /// The globs to include, then those to exclude.
    globs: Vec<Glob>,
    any_case: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Glob {
    /// What the whole path below the folder must match.
    text: Vec<u8>,
    folders_only: bool,
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
    /// A glob is malformed, empty, or begins with `!`.
    Glob {
        /// The glob given.
        glob: String,
        /// The fault, in the words of the parser of globs.
        message: String,
    },
    /// The globs are too long together.
    Globs {
        /// Their number of bytes, with all choices that braces leave.
        nbytes: usize,
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
        let owned = |list: &[S]| list.iter().map(|glob| glob.as_ref().to_owned()).collect();
        let (include, exclude): (Vec<_>, Vec<_>) = (owned(include), owned(exclude));
        let all = || include.iter().chain(&exclude);
        let nbytes = all().fold(0, |sum: usize, glob| sum.saturating_add(glob.len().saturating_mul(nchoices(glob))));
        if nbytes > NBYTES_MAX {
            return Err(FilterError::Globs { nbytes });
        }
        let parsed = |glob: &String| parse(glob).map_err(|message| FilterError::Glob { glob: glob.clone(), message });
        let globs = all().map(parsed).collect::<Result<_, _>>()?;
        Ok(Filter { include, exclude, globs, ..Filter::default() })
    }

    /// The same filter, with `a` and `A` alike.
    #[must_use]
    pub fn in_any_case(mut self) -> Filter {
        self.globs.iter_mut().for_each(|glob| glob.text.make_ascii_lowercase());
        self.any_case = true;
        self
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
        let path = path.as_os_str().as_encoded_bytes();
        let path = if self.any_case { Cow::from(path.to_ascii_lowercase()) } else { Cow::from(path) };
        let any = |globs: &[Glob]| {
            globs.iter().any(|glob| (is_folder || !glob.folders_only) && glob_match(&glob.text, &path))
        };
        let (include, exclude) = self.globs.split_at(self.include.len());
        (is_folder || include.is_empty() || any(include)) && !any(exclude)
    }

    /// Whether a file of this many bytes is wanted.
    pub fn wants_length(&self, nbytes: u64) -> bool {
        self.nbytes.contains(&nbytes)
    }
}

impl Default for Filter {
    fn default() -> Filter {
        let (include, exclude, globs) = (Vec::new(), Vec::new(), Vec::new());
        Filter { include, exclude, nbytes: 0..=u64::MAX, globs, any_case: false }
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::Glob { glob, message } => {
                write!(f, "the glob {}: {}", quoted(glob.as_bytes()), shown(message.as_bytes()))
            }
            FilterError::Globs { nbytes } => {
                let what = "bytes with all choices of their braces";
                write!(f, "the globs together: {nbytes} {what}, more than {NBYTES_MAX}: choose with fewer")
            }
            FilterError::Lengths { least, most } => {
                write!(f, "the least length is {least} bytes, the greatest {most}: no file has such a length")
            }
        }
    }
}

impl std::error::Error for FilterError {}

/// Reads a glob of `.gitignore`.
fn parse(glob: &str) -> Result<Glob, String> {
    let glob = trimmed(glob);
    if glob.is_empty() || glob.starts_with('!') {
        return Err("expected a pattern that does not begin with \"!\"".into());
    }
    validate(glob).map_err(|error| error.to_string())?;
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
    // Rewritten is what crate fast-glob takes for something else: a first "!", letters behind a backslash, and several
    // stars that are not a component, of which one is left.
    let mut text = if glob.starts_with('!') { vec![b'\\'] } else { Vec::new() };
    let mut is_escaped = false;
    for (at, byte) in glob.bytes().enumerate() {
        let (before, from) = glob.as_bytes().split_at(at);
        let is_component = matches!(before.last(), None | Some(b'/' | b'{' | b','))
            && matches!(from.get(2), None | Some(b'/' | b'}' | b','));
        if from.starts_with(b"**") && !is_escaped && !is_component {
            continue;
        }
        if is_escaped && byte.is_ascii_alphabetic() {
            text.pop();
        }
        is_escaped = byte == b'\\' && !is_escaped;
        text.push(byte);
    }
    Ok(Glob { text, folders_only })
}

/// A bound on the number of ways in which one alternative can be chosen in each pair of braces: the product is greatest
/// if all pairs have equally many.
fn nchoices(glob: &str) -> usize {
    let [npairs, ncommas] = ['{', ','].map(|char| glob.matches(char).count());
    (ncommas.div_ceil(npairs.max(1)) + 1).saturating_pow(npairs as u32)
}

/// A glob without the blanks at its end, unless a backslash keeps them.
fn trimmed(line: &str) -> &str {
    if line.ends_with("\\ ") { line } else { line.trim_end() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_of_braces_are_bounded() {
        for (glob, expected) in [("a,b", 1), ("{a,b,c}", 3), ("{a,b}{c,d}", 4), ("{a,{b,c,d}}", 9), ("{[}],a}", 2)] {
            assert_eq!(nchoices(glob), expected, "{glob}");
        }
        let refused = |glob: String| Filter::new(&[glob], &[]).unwrap_err().to_string();
        assert!(refused("{a,b,c,d}".repeat(10)).starts_with("the globs together: "));
        assert!(refused("{a,b}".repeat(100_000)).starts_with("the globs together: "));
        assert!(refused("{".repeat(11) + &"}".repeat(11)).ends_with("levels"));
    }

    #[test]
    fn no_letter_and_no_mark_is_more_than_itself() {
        let path = |text| Path::new(text);
        for (glob, name) in
            [("\\n\\a[\\t]", "nat"), ("/!a", "!a"), ("\\!a", "!a"), ("/!/**", "!/a"), ("[!\\n]", "a"), ("\\\\n", "\\n")]
        {
            assert!(Filter::new(&[glob], &[]).unwrap().wants_path(path(name), false), "{glob}");
        }
        for (glob, name) in [("/!/**", "a"), ("a**/**", "a"), ("/***", "a/b"), ("{a**,b}", "a/c")] {
            assert!(!Filter::new(&[glob], &[]).unwrap().wants_path(path(name), false), "{glob}");
        }
        let any_case = Filter::new(&["\\N[A-C]?.\u{e4}"], &[]).unwrap().in_any_case();
        assert!(any_case.wants_path(path("d/Nbx.\u{e4}"), false) && any_case.wants_path(path("nBX.\u{e4}"), false));
        assert!(!any_case.wants_path(path("nBX.\u{c4}"), false));
    }
}
