// SPDX-License-Identifier: MIT OR Apache-2.0

//! The metadata of a torrent: trackers, web seeds, who made it. Verification needs none of it, so a bad value is
//! ignored and noted, as clients do.

use hashloom_files::text::Hex;

use super::reader::Reader;
use super::{NoteKind, Torrent};
use crate::bencode::{Kind, Value};

/// Largest number of trackers, seeds and nodes kept, each: a URL can be a few bytes, and each takes memory of its own.
const URLS_MAX: usize = 4096;

/// The metadata of a torrent. All strings are bytes as the torrent has them, UTF-8 as a rule.
///
/// ```
/// use hashloom_torrent::{Metadata, Torrent};
///
/// let bytes = b"d8:announce17:udp://t.invalid:17:comment5:hello13:creation datei1700000000e\
///     4:infod6:lengthi0e4:name3:a b12:piece lengthi16384e6:pieces0:7:privatei1eee";
/// let torrent = Torrent::parse(bytes)?;
/// let metadata: &Metadata = torrent.metadata();
/// assert_eq!(metadata.trackers, [[b"udp://t.invalid:1"]]);
/// assert_eq!(metadata.comment.as_deref(), Some(&b"hello"[..]));
/// assert_eq!((metadata.creation_date, metadata.private), (Some(1700000000), true));
/// assert!(torrent.magnet().ends_with("&dn=a%20b&tr=udp%3A%2F%2Ft.invalid%3A1"));
/// # Ok::<(), hashloom_torrent::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Metadata {
    /// `announce-list` (BEP 12): the URLs of the trackers by tier; clients ask the first tier first. If there is no
    /// list, `announce` (BEP 3) is the only tracker. At most 4096 URLs are kept.
    pub trackers: Vec<Vec<Vec<u8>>>,
    /// `url-list` (BEP 19): URLs of servers that have the files.
    pub web_seeds: Vec<Vec<u8>>,
    /// `httpseeds` (BEP 17): URLs of servers that have the pieces.
    pub http_seeds: Vec<Vec<u8>>,
    /// `nodes` (BEP 5): hosts and ports of the distributed hash table.
    pub nodes: Vec<(Vec<u8>, u16)>,
    /// `comment.utf-8`, else `comment`.
    pub comment: Option<Vec<u8>>,
    /// `created by`: the program, as a rule.
    pub created_by: Option<Vec<u8>>,
    /// `creation date`: seconds since 1970, UTC.
    pub creation_date: Option<i64>,
    /// `encoding` of strings that are not UTF-8.
    pub encoding: Option<Vec<u8>>,
    /// `publisher.utf-8`, else `publisher`.
    pub publisher: Option<Vec<u8>>,
    /// `publisher-url.utf-8`, else `publisher-url`.
    pub publisher_url: Option<Vec<u8>>,
    /// `private` of `info` (BEP 27): peers may come from the trackers only.
    pub private: bool,
    /// `source` of `info`: gives equal files another info-hash, as private trackers want.
    pub source: Option<Vec<u8>>,
    /// `update-url` of `info` (BEP 39): where a later version of the torrent may be found.
    pub update_url: Option<Vec<u8>>,
}

impl Metadata {
    /// Reads the metadata from the outermost dictionary and `info`.
    pub(super) fn read(reader: &mut Reader, root: Value<'_>, info: Value<'_>) -> Metadata {
        let [announce, tiers, web_seeds, http_seeds, nodes] =
            reader.keys(root, "", [b"announce", b"announce-list", b"url-list", b"httpseeds", b"nodes"]);
        let [comment, comment_utf8, created_by, creation_date, encoding] =
            reader.keys(root, "", [b"comment", b"comment.utf-8", b"created by", b"creation date", b"encoding"]);
        let [publisher, publisher_utf8, publisher_url, publisher_url_utf8] =
            reader.keys(root, "", [b"publisher", b"publisher.utf-8", b"publisher-url", b"publisher-url.utf-8"]);
        let [private, source, update_url] = reader.keys(info, "info", [b"private", b"source", b"update-url"]);

        let announce = reader.text("announce", announce);
        let trackers = reader.tiers(tiers, announce);
        let web_seeds = reader.urls("url-list", web_seeds);
        let http_seeds = reader.urls("httpseeds", http_seeds);
        let nodes = reader.nodes(nodes);
        Metadata {
            trackers,
            web_seeds,
            http_seeds,
            nodes,
            comment: reader.text("comment.utf-8", comment_utf8).or(reader.text("comment", comment)),
            created_by: reader.text("created by", created_by),
            creation_date: reader.number("creation date", creation_date),
            encoding: reader.text("encoding", encoding),
            publisher: reader.text("publisher.utf-8", publisher_utf8).or(reader.text("publisher", publisher)),
            publisher_url: reader
                .text("publisher-url.utf-8", publisher_url_utf8)
                .or(reader.text("publisher-url", publisher_url)),
            private: reader.number("info.private", private).is_some_and(|private| private != 0),
            source: reader.text("info.source", source),
            update_url: reader.text("info.update-url", update_url),
        }
    }
}

impl Reader {
    /// Reads a string; `None` if it is empty.
    fn text(&mut self, key: &'static str, value: Option<Value<'_>>) -> Option<Vec<u8>> {
        let value = value?;
        if value.kind() != Kind::String {
            self.ignored(key, value, Kind::String);
        }
        value.string().filter(|text| !text.is_empty()).map(<[u8]>::to_vec)
    }

    fn number(&mut self, key: &'static str, value: Option<Value<'_>>) -> Option<i64> {
        let value = value?;
        match value.kind() {
            Kind::Integer if value.integer().is_none() => {
                self.add_note(key, NoteKind::HugeInteger { offset: value.span().start });
            }
            Kind::Integer => {}
            _ => self.ignored(key, value, Kind::Integer),
        }
        value.integer()
    }

    /// Reads a list of URLs, or a single URL: many programs write one URL without a list.
    fn urls(&mut self, key: &'static str, value: Option<Value<'_>>) -> Vec<Vec<u8>> {
        let mut urls = Vec::new();
        match value {
            Some(value) if value.kind() == Kind::String => urls.extend(self.text(key, Some(value))),
            Some(value) => self.list(key, value, |reader, item| {
                let url = reader.text(key, Some(item));
                let some = url.is_some();
                urls.extend(url);
                some
            }),
            None => {}
        }
        urls
    }

    fn tiers(&mut self, value: Option<Value<'_>>, announce: Option<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
        let key = "announce-list";
        let mut tiers: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut left = URLS_MAX;
        let mut cut = false;
        if let Some(value) = value {
            self.list(key, value, |reader, tier| {
                let mut urls = reader.urls(key, Some(tier));
                if urls.len() > left {
                    if !cut {
                        reader.add_note(key, NoteKind::TooManyUrls { most: URLS_MAX });
                    }
                    cut = true;
                    urls.truncate(left);
                }
                left -= urls.len();
                let some = !urls.is_empty();
                tiers.extend(some.then_some(urls));
                some
            });
        }
        if let Some(announce) = announce {
            if tiers.is_empty() {
                tiers.push(vec![announce]);
            } else if !tiers.iter().flatten().any(|url| *url == announce) {
                self.add_note("announce", NoteKind::AnnounceNotListed);
            }
        }
        tiers
    }

    fn nodes(&mut self, value: Option<Value<'_>>) -> Vec<(Vec<u8>, u16)> {
        let key = "nodes";
        let mut nodes = Vec::new();
        if let Some(value) = value {
            self.list(key, value, |reader, node| {
                let mut parts = node.items();
                let host = parts.next().and_then(|host| host.string()).filter(|host| !host.is_empty());
                let port = parts.next().and_then(|port| u16::try_from(port.integer()?).ok());
                let found = host.zip(port);
                match found {
                    Some((host, port)) => nodes.push((host.to_vec(), port)),
                    None => reader.add_note(key, NoteKind::BadNode { offset: node.span().start }),
                }
                found.is_some()
            });
        }
        nodes
    }

    /// Hands the items of a list to `take`, which returns whether it kept the item. At most [`URLS_MAX`] items are
    /// kept.
    fn list(&mut self, key: &'static str, value: Value<'_>, mut take: impl FnMut(&mut Reader, Value<'_>) -> bool) {
        if value.kind() != Kind::List {
            return self.ignored(key, value, Kind::List);
        }
        let mut kept = 0;
        for item in value.items() {
            if kept == URLS_MAX {
                return self.add_note(key, NoteKind::TooManyUrls { most: URLS_MAX });
            }
            kept += usize::from(take(self, item));
        }
    }

    fn ignored(&mut self, key: &'static str, value: Value<'_>, expected: Kind) {
        self.add_note(key, NoteKind::Ignored { offset: value.span().start, expected, found: value.kind() });
    }
}

impl Torrent {
    /// The torrent's metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The magnet link of the torrent (BEP 9): the info-hashes of its versions, its name, trackers and web seeds. The
    /// link is ASCII; its only characters with a meaning to a shell, a URL or a terminal are `&` and `?`.
    pub fn magnet(&self) -> String {
        let mut link = String::from("magnet:?");
        if let Some(hash) = self.info_hash_v1() {
            link.push_str(&format!("xt=urn:btih:{}&", Hex(&hash)));
        }
        if let Some(hash) = self.info_hash_v2() {
            // A multihash: 0x12 is SHA-256, 0x20 the length of its digest.
            link.push_str(&format!("xt=urn:btmh:1220{}&", Hex(&hash)));
        }
        link.push_str("dn=");
        push_encoded(&mut link, self.name());
        for url in self.metadata.trackers.iter().flatten() {
            link.push_str("&tr=");
            push_encoded(&mut link, url);
        }
        for url in &self.metadata.web_seeds {
            link.push_str("&ws=");
            push_encoded(&mut link, url);
        }
        link
    }
}

/// Percent-encodes all bytes except the unreserved characters of RFC 3986, section 2.3.
fn push_encoded(link: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => link.push(char::from(byte)),
            _ => link.push_str(&format!("%{byte:02X}")),
        }
    }
}
