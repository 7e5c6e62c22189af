// SPDX-License-Identifier: MIT OR Apache-2.0

//! The URLs that a torrent is given: those of trackers and web seeds.

use std::fmt;

use hashloom_files::text::quoted;

/// The use of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Tracker,
    WebSeed,
}

impl Use {
    pub(super) fn name(self) -> &'static str {
        match self {
            Use::Tracker => "tracker",
            Use::WebSeed => "web seed",
        }
    }

    /// Returns true if clients use such a URL.
    pub(super) fn accepts(self, url: &[u8]) -> bool {
        let Ok(url) = std::str::from_utf8(url) else { return false };
        let schemes: &[&str] = match self {
            Use::Tracker => &["http", "https", "udp", "ws", "wss"],
            Use::WebSeed => &["http", "https", "ftp"],
        };
        let rest = url
            .split_once("://")
            .filter(|(scheme, _)| schemes.iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed)));
        rest.is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'))
            && !url.contains(|c: char| c.is_whitespace() || c.is_control())
    }
}

/// Writes why a URL is refused. `what` is the name of its use.
pub(super) fn refused(f: &mut fmt::Formatter<'_>, what: &str, url: &[u8]) -> fmt::Result {
    let schemes = if what == Use::Tracker.name() { "http, https, udp, ws or wss" } else { "http, https or ftp" };
    let example = "https://example.org/path";
    write!(f, "the {what} {}: expected a URL of {schemes} without spaces, such as {example}", quoted(url))
}
