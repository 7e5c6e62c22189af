// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names that print the same: Unicode writes "é" as one code point (NFC) or as "e" and an accent (NFD). File systems of
//! macOS and programs that copy from there change one into the other; to Linux and Windows these are two names.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// Number of folders whose names are kept.
const FOLDERS_MAX: usize = 64;

/// Finds files under names in another Unicode form. The folders that were listed stay in memory, the last 64 of them.
///
/// ```
/// use hashloom_files::paths::forms::Forms;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("cafe\u{301}"), "")?;
/// # if cfg!(target_os = "linux") {
/// let found = Some("cafe\u{301}".into());
/// assert_eq!(Forms::default().find(folder.path(), "caf\u{e9}".as_ref()), found);
/// assert_eq!(Forms::ignoring_case().find(folder.path(), "CAF\u{c9}".as_ref()), found);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Forms {
    ignores_case: bool,
    /// For each folder its names that are not ASCII, or all, by their keys; `None` where two names have one key.
    folders: HashMap<PathBuf, HashMap<Vec<u8>, Option<OsString>>>,
}

impl Forms {
    /// Also finds names in another case.
    #[must_use]
    pub fn ignoring_case() -> Forms {
        Forms { ignores_case: true, ..Forms::default() }
    }

    /// What names have in common of which one may stand for another; `None` if no other can.
    fn key(ignores_case: bool, name: &str) -> Option<Vec<u8>> {
        if ignores_case {
            nfc(name.to_lowercase().as_bytes())
        } else {
            nfc(name.as_bytes()).filter(|_| !name.is_ascii())
        }
    }

    /// Finds the file or folder at `relative` below `root` if some component is there in another Unicode form only, and
    /// in one such form. `None` if it is there under its own name, or missing, or if two names would do.
    pub fn find(&mut self, root: &Path, relative: &Path) -> Option<PathBuf> {
        if relative.to_str().is_none_or(|path| path.is_ascii() && !self.ignores_case) {
            return None;
        }
        let mut found = PathBuf::new();
        for component in relative.components() {
            let folder = root.join(&found);
            if !matches!(component, Component::Normal(_)) || folder.join(component).symlink_metadata().is_ok() {
                found.push(component);
                continue;
            }
            let key = Forms::key(self.ignores_case, component.as_os_str().to_str()?)?;
            let other = self.names(folder).get(&key)?.as_ref()?;
            found.push(other);
        }
        (found != relative).then_some(found)
    }

    fn names(&mut self, folder: PathBuf) -> &HashMap<Vec<u8>, Option<OsString>> {
        if self.folders.len() >= FOLDERS_MAX && !self.folders.contains_key(&folder) {
            self.folders.clear();
        }
        let ignores_case = self.ignores_case;
        self.folders.entry(folder).or_insert_with_key(|folder| {
            let mut names = HashMap::new();
            // A folder that cannot be listed has no names to offer; whoever opens the file says what is wrong.
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if let Some(key) = name.to_str().and_then(|name| Forms::key(ignores_case, name)) {
                    names.entry(key).and_modify(|one| *one = None).or_insert(Some(name));
                }
            }
            names
        })
    }
}

/// A name or path in Unicode's Normalization Form C (UAX #15); `None` if it is not UTF-8.
///
/// ```
/// use hashloom_files::paths::forms::nfc;
///
/// assert_eq!(nfc("cafe\u{301}".as_bytes()), Some("caf\u{e9}".as_bytes().to_vec()));
/// assert_eq!(nfc(b"\xff"), None);
/// ```
pub fn nfc(name: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(name).ok()?;
    Some(text.nfc().collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn one_other_form_is_found_and_two_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (nfc, nfd, middle) = ("\u{1ed9}", "o\u{323}\u{302}", "\u{1ecd}\u{302}");
        std::fs::create_dir(folder.path().join(nfd)).unwrap();
        std::fs::write(folder.path().join(nfd).join(nfc), "").unwrap();
        let find = |path: String| Forms::default().find(folder.path(), Path::new(&path));
        assert_eq!(find(format!("{nfc}/{nfd}")), Some(Path::new(nfd).join(nfc)));
        assert_eq!(find(format!("{nfd}/{nfc}")), None, "each is there under its own name");
        assert_eq!(find(format!("{nfc}/a")), None);
        std::fs::create_dir(folder.path().join(middle)).unwrap();
        assert_eq!(find(format!("{nfc}/{nfd}")), None, "two folders would do");
    }
}
