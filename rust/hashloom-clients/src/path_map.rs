// SPDX-License-Identifier: MIT OR Apache-2.0

//! Folders that a client knows under another path than this machine.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The paths that a client has for folders of this machine: a client in a container, or on another machine that shares
/// a disk. Of several that fit, the longest counts.
///
/// ```
/// use std::path::Path;
///
/// use hashloom_clients::resume::{MappedPath, PathMap};
///
/// let map = PathMap::from_iter(["/downloads=/mnt/disk".parse::<MappedPath>()?]);
/// assert_eq!(map.to_host(Path::new("/downloads/tv")), Path::new("/mnt/disk/tv"));
/// assert_eq!(map.to_client(Path::new("/mnt/disk/tv")), Path::new("/downloads/tv"));
/// assert_eq!(map.to_host(Path::new("/downloads2")), Path::new("/downloads2"));
/// assert!("/downloads".parse::<MappedPath>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathMap(Vec<MappedPath>);

/// A folder of a [`PathMap`], as `CLIENT=HOST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedPath {
    /// The client's path.
    pub client: PathBuf,
    /// This machine's path.
    pub host: PathBuf,
}

impl FromStr for MappedPath {
    type Err = String;

    fn from_str(text: &str) -> Result<MappedPath, String> {
        match text.split_once('=') {
            Some((client, host)) if !client.is_empty() && !host.is_empty() => {
                let host = std::path::absolute(host).map_err(|error| error.to_string())?;
                Ok(MappedPath { client: client.into(), host })
            }
            _ => Err("expected the client's path, =, and this machine's path: /downloads=/mnt/disk".to_owned()),
        }
    }
}

impl FromIterator<MappedPath> for PathMap {
    fn from_iter<I: IntoIterator<Item = MappedPath>>(paths: I) -> PathMap {
        PathMap(paths.into_iter().collect())
    }
}

impl PathMap {
    /// This machine's path of a client's path.
    pub fn to_host(&self, path: &Path) -> PathBuf {
        self.turned(path, |mapped| (&mapped.client, &mapped.host))
    }

    /// A client's path of this machine's path.
    pub fn to_client(&self, path: &Path) -> PathBuf {
        self.turned(path, |mapped| (&mapped.host, &mapped.client))
    }

    fn turned<'a>(&'a self, path: &Path, sides: impl Fn(&'a MappedPath) -> (&'a PathBuf, &'a PathBuf)) -> PathBuf {
        let fits = self.0.iter().map(sides).filter_map(|(from, to)| Some((from, to, path.strip_prefix(from).ok()?)));
        match fits.max_by_key(|(from, ..)| from.components().count()) {
            Some((_, to, rest)) if rest.as_os_str().is_empty() => to.clone(),
            Some((_, to, rest)) => to.join(rest),
            None => path.to_owned(),
        }
    }
}
