// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names and paths as torrents give them: bytes that a stranger chose. [`check_component`] decides whether a component
//! of a path may name a file below the folder that is verified.

use std::fmt;

/// Why a component of a path is refused.
///
/// ```
/// use hashloom_files::paths::BadComponent;
/// use hashloom_files::paths::name::{check_component, check_everywhere, check_windows};
///
/// assert_eq!(check_component(b".."), Err(BadComponent::Parent));
/// assert_eq!((check_everywhere(b"CON"), check_windows(b"CON")), (Ok(()), Err(BadComponent::Device)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadComponent {
    /// The component is empty. An absolute path split at its separators begins so.
    Empty,
    /// `..`
    Parent,
    /// `.`. Clients do not agree on such a path: libtorrent puts `_` in place of `.`, Transmission refuses the torrent.
    Current,
    /// A `/` (on Windows also `\`) inside a component, such as an absolute path in one piece.
    Separator,
    /// A NUL byte, which ends a name for the operating system.
    Nul,
    /// On Windows: the name of a device (`CON`, `NUL.txt`), in any folder.
    Device,
    /// On Windows: a character that file names cannot have, or a `.` or space at the end.
    NotOnWindows,
    /// On Windows: bytes that are not UTF-8.
    NotUtf8,
    /// On Windows: a path to a server of the network, which is told who asks.
    Network,
}

impl fmt::Display for BadComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadComponent::Empty => "is empty",
            BadComponent::Parent => "leads out of the folder",
            BadComponent::Current => "stands for the folder itself",
            BadComponent::Separator => "has a path separator in it",
            BadComponent::Nul => "has a NUL byte in it",
            BadComponent::Device => "is the name of a device on Windows",
            BadComponent::NotOnWindows => "cannot be a file name on Windows",
            BadComponent::NotUtf8 => "is not UTF-8, which file names must be on Windows",
            BadComponent::Network => "is a server of the network, which would be told who you are",
        })
    }
}

/// Whether a component may stand in a path below the verified folder.
pub fn check_component(component: &[u8]) -> Result<(), BadComponent> {
    check_everywhere(component)?;
    if cfg!(windows) { check_windows(component) } else { Ok(()) }
}

/// The rules of all systems.
pub fn check_everywhere(component: &[u8]) -> Result<(), BadComponent> {
    match component {
        b"" => Err(BadComponent::Empty),
        b"." => Err(BadComponent::Current),
        b".." => Err(BadComponent::Parent),
        _ if component.contains(&0) => Err(BadComponent::Nul),
        _ if component.contains(&b'/') => Err(BadComponent::Separator),
        _ => Ok(()),
    }
}

/// The rules of Windows alone.
pub fn check_windows(component: &[u8]) -> Result<(), BadComponent> {
    let text = std::str::from_utf8(component).map_err(|_| BadComponent::NotUtf8)?;
    if text.contains('\\') {
        return Err(BadComponent::Separator);
    }
    // Windows takes the part before the first dot, without spaces at its end, as the name: "nul .tar.gz" opens the null
    // device.
    let stem = text.split(['.', ':']).next().unwrap_or("").trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |port: &str| {
        stem.strip_prefix(port).is_some_and(|number| {
            let mut chars = number.chars();
            matches!((chars.next(), chars.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
        })
    };
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$");
    if device || numbered("COM") || numbered("LPT") {
        return Err(BadComponent::Device);
    }
    let forbidden = |c: char| c < ' ' || matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    if text.contains(forbidden) || text.ends_with(['.', ' ']) {
        return Err(BadComponent::NotOnWindows);
    }
    Ok(())
}

/// Why a path is not opened on Windows; `None` if it may be.
#[cfg_attr(not(windows), allow(dead_code, reason = "for Windows"))]
pub(crate) fn refused_on_windows(path: &[u8]) -> Option<BadComponent> {
    let path = String::from_utf8_lossy(path).replace('\\', "/");
    let after_drive = |path: &str| path.get(..2).is_some_and(|drive| drive.ends_with(':') && drive.is_char_boundary(1));
    let (names, is_network) = match (path.strip_prefix("//?/"), path.starts_with("//./")) {
        (_, true) => return Some(BadComponent::Device),
        // A drive or a folder on the network; anything else there is a device.
        (Some(rest), _) if !after_drive(rest) && !rest.starts_with("UNC/") => return Some(BadComponent::Device),
        (Some(rest), _) => (rest, rest.starts_with("UNC/")),
        (None, _) => (&*path, path.starts_with("//")),
    };
    let names = if after_drive(names) { &names[2..] } else { names };
    let mut names = names.split('/').filter(|name| !matches!(*name, "" | "." | ".."));
    names.find_map(|name| check_windows(name.as_bytes()).err()).or(is_network.then_some(BadComponent::Network))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_that_stay_below() {
        for name in ["a", "...", "a..", "..a", "con", "a\\b", "C:", " ", "\x1b[31m", "aux.txt", "ünïcode"] {
            assert_eq!(check_everywhere(name.as_bytes()), Ok(()), "{name:?}");
        }
        assert_eq!(check_everywhere(b"\xff\xfe"), Ok(()));
        for name in ["a", "...a", "..a", "console", "com", "com10", "ünïcode", "lpt", "a b"] {
            assert_eq!(check_windows(name.as_bytes()), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn paths_that_windows_gives_another_meaning() {
        for path in ["a/b", "a\\b", "../a", "./a", "C:/a", "c:a", "//?/C:/a", "é", "a//b", r"\a"] {
            assert_eq!(refused_on_windows(path.as_bytes()), None, "{path}");
        }
        for path in ["//server/share/a", r"\\server\a", r"\/server/a", "//?/UNC/server/a", r"\\?\UNC\server\a", "///a"]
        {
            assert_eq!(refused_on_windows(path.as_bytes()), Some(BadComponent::Network), "{path}");
        }
        for path in [
            "//server/share/nul",
            "//?/unc/server/a",
            "CON",
            "a/nul.txt",
            "a\\com1",
            "C:/aux",
            "//./PhysicalDrive0",
            "//?/GLOBALROOT/a",
            "conout$",
        ] {
            assert_eq!(refused_on_windows(path.as_bytes()), Some(BadComponent::Device), "{path}");
        }
        for path in ["ab:c", r"\??\UNC\server\a", "C:/a:b", "a./b", "a ", "//?/C:/a:b", "é:"] {
            assert_eq!(refused_on_windows(path.as_bytes()), Some(BadComponent::NotOnWindows), "{path}");
        }
    }

    #[test]
    fn components_that_are_refused() {
        use BadComponent::*;
        let everywhere: &[(&[u8], BadComponent)] = &[
            (b"", Empty),
            (b".", Current),
            (b"..", Parent),
            (b"/etc", Separator),
            (b"a/b", Separator),
            (b"../a", Separator),
            (b"a\0", Nul),
        ];
        for &(name, why) in everywhere {
            assert_eq!(check_component(name), Err(why), "{name:?}");
        }
        let windows: &[(&[u8], BadComponent)] = &[
            (b"..\\a", Separator),
            (b"CON", Device),
            (b"nul.txt", Device),
            (b"nul .tar.gz", Device),
            (b"Aux:x", Device),
            (b"com1", Device),
            ("LPT².log".as_bytes(), Device),
            (b"C:", NotOnWindows),
            (b"file:stream", NotOnWindows),
            (b"a?", NotOnWindows),
            (b"a.", NotOnWindows),
            (b"a ", NotOnWindows),
            (b"...", NotOnWindows),
            (b"\x01", NotOnWindows),
            (b"\xff", NotUtf8),
        ];
        for &(name, why) in windows {
            assert_eq!(check_windows(name), Err(why), "{name:?}");
        }
    }
}
