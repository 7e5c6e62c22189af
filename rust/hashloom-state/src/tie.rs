// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a result of an earlier run is worth now.
//!
//! A result is *evidence* for a file if the file was read in this run, or if an earlier run read it and no change since
//! can have escaped. For the latter the [`Tie`] of both runs must be equal in three parts: the folder, by its canonical
//! path; the device, by what no copy of a disk shares; and the file's stamp. Beyond that, every change must have shown
//! in the stamp: [`Noted`] has the doubt about that.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;

use hashloom::Algorithm;
use hashloom_files::run::lock;
use hashloom_files::text::{Hex, from_hex};
use hashloom_files::{Doubt, Noted, Stamp, paths};

use crate::device;

/// The first bytes of a SHA-256.
type Id = [u8; 16];

/// Returns an identifier of parts, none of which can run into the next.
fn id<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Id {
    let mut message = Vec::with_capacity(128);
    for part in parts {
        message.extend_from_slice(&(part.len() as u64).to_le_bytes());
        message.extend_from_slice(part);
    }
    let digest = hashloom::hash(Algorithm::Sha256, &message);
    std::array::from_fn(|index| digest.as_ref()[index])
}

/// What ties a result to a thing: its place, its device and its version, and the reason, if any, why a later change
/// might not show in them.
///
/// ```
/// use hashloom_files::Doubt;
/// use hashloom_state::{NoTie, Tie};
///
/// let (old, new) = (Tie::of("https://example.org/", "etag 1"), Tie::of("https://example.org/", "etag 2"));
/// assert_eq!(old.doubt_at(&old), None);
/// assert_eq!(old.doubt_at(&new), Some(Doubt::Changed));
/// assert_eq!(old.doubt_at(&Tie::of("https://example.com/", "etag 1")), Some(Doubt::Folder));
/// assert_eq!(old.to_string().parse(), Ok(old));
/// assert!(matches!("0.0.0.0".parse::<Tie>(), Err(NoTie)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tie {
    folder: Id,
    device: Id,
    version: Id,
    doubt: Option<Doubt>,
}

impl Tie {
    /// The tie of a thing that is no file: `place` tells a store from every other, `version` tells every content that
    /// the thing ever had.
    pub fn of(place: impl AsRef<[u8]>, version: impl AsRef<[u8]>) -> Tie {
        Tie { folder: id([place.as_ref()]), device: [0; 16], version: id([version.as_ref()]), doubt: None }
    }

    /// The tie of several things at once, in order.
    pub fn of_all<'a>(ties: impl Iterator<Item = &'a Tie> + Clone) -> Tie {
        let all = |part: fn(&Tie) -> &Id| id(ties.clone().map(|tie| &part(tie)[..]));
        Tie {
            folder: all(|tie| &tie.folder),
            device: all(|tie| &tie.device),
            version: all(|tie| &tie.version),
            doubt: ties.clone().find_map(|tie| tie.doubt),
        }
    }

    /// Why a result with this tie is not believed now that the tie is `now`; `None` if no change can have escaped.
    pub fn doubt_at(&self, now: &Tie) -> Option<Doubt> {
        if self.folder != now.folder {
            Some(Doubt::Folder)
        } else if self.device != now.device {
            Some(Doubt::Device)
        } else if self.version != now.version {
            Some(Doubt::Changed)
        } else {
            self.doubt
        }
    }

    /// The same tie, as any change since an equal and strong one would have shown.
    pub fn without_doubt(self) -> Tie {
        Tie { doubt: None, ..self }
    }
}

/// The three parts in hexadecimal, and the number of the doubt.
impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.doubt.map_or(0, |doubt| doubt as u8 + 1);
        write!(f, "{}.{}.{}.{number}", Hex(&self.folder), Hex(&self.device), Hex(&self.version))
    }
}

/// The text is not one that a tie is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTie;

impl FromStr for Tie {
    type Err = NoTie;

    fn from_str(text: &str) -> Result<Tie, NoTie> {
        let mut parts = text.split('.');
        let mut part = || parts.next().and_then(|part| from_hex(part)?.try_into().ok()).ok_or(NoTie);
        let (folder, device, version) = (part()?, part()?, part()?);
        let doubt = match (parts.next(), parts.next()) {
            (Some("0"), None) => None,
            (Some(number), None) if !number.starts_with(['+', '0']) => {
                let index = number.parse::<usize>().map_err(|_| NoTie)? - 1;
                Some(*Doubt::ALL.get(index).ok_or(NoTie)?)
            }
            _ => return Err(NoTie),
        };
        Ok(Tie { folder, device, version, doubt })
    }
}

/// A folder with the files of a run, which makes their ties.
///
/// ```
/// use hashloom_files::{Doubt, Noted};
/// use hashloom_state::Folder;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("file");
/// std::fs::write(&path, "abc")?;
/// let ties = Folder::new(folder.path());
/// let before = ties.tie(&path, &Noted::of(&path)?);
/// std::fs::write(&path, "abcd")?;
/// assert_eq!(before.doubt_at(&ties.tie(&path, &Noted::of(&path)?)), Some(Doubt::Changed));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Folder {
    id: Id,
    /// The identifiers of devices by their numbers; `None` if the system does not tell a device from a copy of it.
    devices: Mutex<HashMap<u64, Option<Id>>>,
}

impl Folder {
    /// `path` may also be that of a file, which may be missing. A path that leads nowhere ties nothing.
    pub fn new(path: &Path) -> Folder {
        let of_missing = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        let id = match path.canonicalize().ok().or_else(of_missing) {
            Some(path) => id([&paths::to_bytes(&path)[..]]),
            None => id([&RandomState::new().hash_one(0).to_le_bytes()[..]]),
        };
        Folder { id, devices: Mutex::default() }
    }

    /// The tie of a file that was noted, with the path by which it was found.
    pub fn tie(&self, path: &Path, Noted { stamp, doubt }: &Noted) -> Tie {
        let Stamp { nbytes, mtime_ns, ctime_ns, dev, ino, .. } = *stamp;
        let known = || lock(&self.devices);
        let found = known().get(&dev).copied();
        // The lock is not held here: a server may take its time.
        let device = found.unwrap_or_else(|| {
            let found = device::identity(path, dev).map(|text| id([text.as_bytes()]));
            *known().entry(dev).or_insert(found)
        });
        let numbers = [i128::from(nbytes), mtime_ns, ctime_ns, i128::from(ino)].map(i128::to_le_bytes);
        Tie {
            folder: self.id,
            device: device.unwrap_or_default(),
            version: id(numbers.iter().map(|number| &number[..])),
            doubt: doubt.or(device.is_none().then_some(Doubt::Device)),
        }
    }

    /// The tie of a file that is missing.
    pub fn tie_of_none(&self) -> Tie {
        Tie { folder: self.id, device: [0; 16], version: [0; 16], doubt: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_ties() {
        for doubt in Doubt::ALL.iter().copied().map(Some).chain([None]) {
            let tie = Tie { doubt, ..Tie::of("place", "version") };
            let text = tie.to_string();
            assert_eq!(text.parse(), Ok(tie));
            for wrong in [&text[1..], &text[..text.len() - 1], &format!("{text}0"), &text.to_uppercase()] {
                assert_eq!(wrong.parse::<Tie>(), Err(NoTie), "{wrong}");
            }
        }
        let text = Tie::of("place", "version").to_string();
        for doubt in ["9", "+1", "-1", "01", "1.0", "18446744073709551616"] {
            let wrong = format!("{}{doubt}", &text[..text.len() - 1]);
            assert_eq!(wrong.parse::<Tie>(), Err(NoTie), "{wrong}");
        }
    }

    /// Each part of a tie is a doubt of its own.
    #[test]
    fn what_ties_a_result_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let noted = Noted { doubt: None, ..Noted::of(&path).unwrap() };
        let root = Folder::new(folder.path());
        let tie = Tie { doubt: None, ..root.tie(&path, &noted) };
        assert_eq!(tie.doubt_at(&root.tie(&path, &noted)), None);
        let mut later = noted;
        later.stamp.ctime_ns += 1;
        assert_eq!(tie.doubt_at(&root.tie(&path, &later)), Some(Doubt::Changed));
        assert_eq!(tie.doubt_at(&Tie { device: [1; 16], ..tie }), Some(Doubt::Device));
        assert_eq!(tie.doubt_at(&Folder::new(&path).tie(&path, &noted)), Some(Doubt::Folder));
        assert_eq!(Tie { doubt: Some(Doubt::Writer), ..tie }.doubt_at(&tie), Some(Doubt::Writer));
        // No path, no tie.
        let missing = folder.path().join("missing/missing");
        let [one, two] = [0; 2].map(|_| Folder::new(&missing).tie(&path, &noted));
        assert_eq!(one.doubt_at(&two), Some(Doubt::Folder));
    }
}
