// SPDX-License-Identifier: MIT OR Apache-2.0

//! Changes of a torrent's metadata, without its content.
//!
//! A torrent is not written again from its values. Only the edited keys are replaced in its bytes, in place, so all
//! other keys stay byte for byte, unknown ones too. Then the result is parsed and compared with the torrent before. A
//! torrent can have hundreds of megabytes: its bytes are in memory once, and its files are, parsed, once at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use hashloom_files::paths::name::check_component;
use hashloom_files::text::quoted;
use hashloom_torrent::bencode::{Item, Kind, Value};
use hashloom_torrent::inside::{encode_string, parse_bencode, parse_document, parse_shared};
use hashloom_torrent::{Error, File, Metadata, Torrent, Version};

use crate::urls::{self, Use};

/// Changes of a torrent's metadata. Keys that no method names stay byte for byte. The content is not needed.
///
/// Trackers, web seeds, the comment and the date are outside of the `info` dictionary: changes of them leave the
/// info-hash as it is. The private flag, the source and the name are in it: a change of them makes another torrent for
/// clients. Its signatures (BEP 35) are removed then, as they sign the old info-hash.
///
/// ```
/// use hashloom_maker::Edit;
///
/// let old = b"d8:announce12:udp://a.test4:infod6:lengthi0e4:name1:f12:piece lengthi16384e6:pieces0:e3:keyi1ee";
/// let edited = Edit::new().add_tier(["udp://b.test"]).comment(Some("hello")).apply(old)?;
/// assert_eq!(edited.torrent.info_hash_v1(), edited.before.info_hash_v1);
/// assert_eq!(edited.torrent.metadata().trackers, [[b"udp://a.test"], [b"udp://b.test"]]);
/// assert_eq!(edited.keys, ["announce-list", "comment"]);
/// assert!(edited.bytes.ends_with(b"6:pieces0:e3:keyi1ee"));
/// let edit = Edit::new().replace_in_trackers("a.test", "c.test").remove_tracker("udp://b.test").date(Some(0));
/// let edited = edit.add_web_seed("https://a.test/f").apply(&edited.bytes[..])?;
/// assert_eq!(edited.torrent.metadata().trackers, [[b"udp://c.test"]]);
/// assert_eq!(edited.torrent.metadata().web_seeds, [b"https://a.test/f"]);
/// let edited = Edit::new().remove_web_seed("https://a.test/f").comment(None).apply(&edited.bytes[..])?;
/// assert!(edited.bytes.starts_with(b"d8:announce12:udp://c.test13:creation datei0e4:info"));
/// # Ok::<(), hashloom_maker::EditError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Edit {
    trackers: Urls,
    /// Texts to replace in the URLs of trackers, and their replacements.
    replacements: Vec<(String, String)>,
    web_seeds: Urls,
    comment: Option<Option<String>>,
    date: Option<Option<i64>>,
    private: Option<bool>,
    source: Option<Option<String>>,
    name: Option<String>,
}

/// Changes of a list of tiers of URLs. Each web seed is a tier of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Urls {
    /// Replaces the whole list.
    all: Option<Tiers>,
    remove: Vec<Vec<u8>>,
    add: Tiers,
}

/// URLs as bytes, as a torrent has them.
type Tiers = Vec<Vec<Vec<u8>>>;

/// A torrent after an [`Edit`].
///
/// ```
/// use hashloom_maker::{Before, Edit, Edited};
///
/// let old = b"d4:infod6:lengthi0e4:name1:f12:piece lengthi16384e6:pieces0:ee";
/// let edited: Edited = Edit::new().private(true).apply(old)?;
/// assert_eq!(edited.keys, ["info.private"]);
/// let before: Before = edited.before;
/// assert_eq!((&before.name[..], before.metadata.private), (&b"f"[..], false));
/// assert_ne!(edited.torrent.info_hash_v1(), before.info_hash_v1);
/// # Ok::<(), hashloom_maker::EditError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Edited {
    /// The contents of the new torrent file. The torrent shares these bytes.
    pub bytes: Arc<Vec<u8>>,
    /// The torrent, parsed from these bytes.
    pub torrent: Torrent,
    /// The torrent before the edit.
    pub before: Before,
    /// The keys that were added, changed or removed, sorted; empty if the bytes are the same.
    pub keys: Vec<&'static str>,
}

/// All of a torrent that an [`Edit`] can change, before the edit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Before {
    /// The SHA-1 of the `info` dictionary, as [`Torrent::info_hash_v1`].
    pub info_hash_v1: Option<[u8; 20]>,
    /// The SHA-256 of the `info` dictionary, as [`Torrent::info_hash_v2`].
    pub info_hash_v2: Option<[u8; 32]>,
    /// The name of the torrent's file or folder.
    pub name: Vec<u8>,
    /// Trackers, comment and the like.
    pub metadata: Metadata,
}

/// Why a torrent was not edited.
///
/// ```
/// use hashloom_maker::{Edit, EditError};
///
/// let error = Edit::new().add_tier(["a.test"]).check().unwrap_err();
/// assert!(matches!(error, EditError::Url { .. }));
/// assert!(error.to_string().starts_with("the tracker \"a.test\": expected a URL"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The bytes are not a torrent.
    Torrent(Error),
    /// A tracker or web seed is not a URL of a kind that clients use.
    Url {
        /// `"tracker"` or `"web seed"`.
        what: &'static str,
        /// The URL.
        url: Vec<u8>,
    },
    /// The new name cannot be that of a file or folder.
    BadName {
        /// The name.
        name: String,
    },
    /// The torrent's list of URLs has something else in it, so it can only be replaced as a whole.
    BadList {
        /// The key of the list.
        key: &'static str,
        /// Offset of the value that is not expected.
        offset: usize,
        /// The kind of value that is expected.
        expected: Kind,
        /// The kind of the value.
        found: Kind,
    },
    /// The name is also that of the only file in the torrent's folder: clients would take the folder for that file.
    SameName {
        /// The name.
        name: String,
    },
    /// The edited torrent could not be read.
    Unreadable(Error),
    /// The edited torrent differs in more than was asked for: a defect of this library.
    Different,
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Torrent(error) => error.fmt(f),
            EditError::Url { what, url } => urls::refused(f, what, url),
            EditError::BadName { name } => write!(
                f,
                "the name {} cannot be a file name: expected no \"/\" and neither \".\" nor \"..\"",
                quoted(name.as_bytes())
            ),
            EditError::BadList { key, offset, expected, found } => write!(
                f,
                "{key}, byte {offset}: expected {expected}, found {found}; the list can only be replaced as a whole"
            ),
            EditError::SameName { name } => write!(
                f,
                "the name {} is also that of the only file in the torrent's folder: clients would take the folder for \
                a single file. Give another name",
                quoted(name.as_bytes())
            ),
            EditError::Unreadable(error) => write!(f, "the edited torrent could not be read: {error}"),
            EditError::Different => {
                write!(
                    f,
                    "the edited torrent differs in more than was asked for: a defect of hashloom; please report it"
                )
            }
        }
    }
}

impl std::error::Error for EditError {}

impl Edit {
    /// No changes.
    pub fn new() -> Edit {
        Edit::default()
    }

    /// Replaces all trackers by these tiers (BEP 12); no tiers remove all trackers.
    pub fn trackers(mut self, tiers: impl IntoIterator<Item = impl IntoIterator<Item = impl Into<String>>>) -> Self {
        self.trackers.all = Some(tiers.into_iter().map(tier).collect());
        self
    }

    /// Adds a tier of trackers after the others; trackers that the torrent has already are not added.
    pub fn add_tier(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.trackers.add.push(tier(urls));
        self
    }

    /// Removes a tracker, if the torrent has it.
    pub fn remove_tracker(mut self, url: impl Into<String>) -> Self {
        self.trackers.remove.push(bytes(url));
        self
    }

    /// Replaces a text by another one in the URL of every tracker, such as a host or a passkey.
    pub fn replace_in_trackers(mut self, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.replacements.push((old.into(), new.into()));
        self
    }

    /// Replaces all web seeds (BEP 19) by these; no URLs remove all web seeds.
    pub fn web_seeds(mut self, urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.web_seeds.all = Some(urls.into_iter().map(|url| vec![bytes(url)]).collect());
        self
    }

    /// Adds a web seed, unless the torrent has it already.
    pub fn add_web_seed(mut self, url: impl Into<String>) -> Self {
        self.web_seeds.add.push(vec![bytes(url)]);
        self
    }

    /// Removes a web seed, if the torrent has it.
    pub fn remove_web_seed(mut self, url: impl Into<String>) -> Self {
        self.web_seeds.remove.push(bytes(url));
        self
    }

    /// Sets or removes the comment.
    pub fn comment(mut self, comment: Option<&str>) -> Self {
        self.comment = Some(comment.map(str::to_owned));
        self
    }

    /// Sets or removes the creation time, in seconds since 1970 (UTC).
    pub fn date(mut self, seconds: Option<i64>) -> Self {
        self.date = Some(seconds);
        self
    }

    /// Sets or removes the private flag (BEP 27). The info-hash changes if the flag does.
    pub fn private(mut self, private: bool) -> Self {
        self.private = Some(private);
        self
    }

    /// Sets or removes `source` in the info dictionary. The info-hash changes if the source does.
    pub fn source(mut self, source: Option<&str>) -> Self {
        self.source = Some(source.map(str::to_owned));
        self
    }

    /// Sets the name of the torrent's file or folder. The info-hash changes if the name does.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns the torrent with these bytes, with the changes. Neither the order of the methods nor that of the
    /// torrent's keys matters: a list is replaced first, then texts in its URLs, then URLs are removed, then added.
    pub fn apply(&self, bytes: impl Into<Vec<u8>>) -> Result<Edited, EditError> {
        self.check()?;
        let mut bytes = bytes.into();
        // The torrent has gone from memory when the edited one is parsed: a list of files is as long as its bencode.
        let (old, parts, keys) = self.plan(&bytes)?;
        for (place, new) in parts.into_iter().rev() {
            bytes.splice(place, new);
        }
        let bytes = Arc::new(bytes);
        let torrent = parse_shared(&bytes).map_err(EditError::Unreadable)?;
        self.compare(&old, &torrent)?;
        Ok(Edited { bytes, torrent, before: old.before, keys })
    }

    /// Returns the torrent before the edit, the parts of its bytes to replace, and the keys that change.
    fn plan(&self, bytes: &[u8]) -> Result<(Old, Vec<Part>, Vec<&'static str>), EditError> {
        let document = parse_bencode(bytes).map_err(EditError::Torrent)?;
        let (torrent, digests) = parse_document(&document, bytes.len()).map_err(EditError::Torrent)?;
        let root = document.root();
        // The parser has found it.
        let Some(info) = root.get(b"info") else { return Err(EditError::Different) };
        let mut inner = Changes::of("info.", info);
        self.info(&torrent, &mut inner);
        let mut outer = Changes::of("", root);
        self.outer(&mut outer)?;
        let mut keys: Vec<&'static str> = outer.values.keys().chain(inner.values.keys()).copied().collect();
        let same_info = inner.values.is_empty();
        if !same_info {
            outer.values.insert("info", Change::Within(inner.parts()));
            // Signatures sign the old dictionary.
            outer.set("signatures", None);
            keys.extend(outer.values.contains_key("signatures").then_some("signatures"));
        }
        keys.sort_unstable();
        let content = (!same_info).then(|| content(&torrent, &bytes[digests]));
        let single_file = torrent.is_single_file();
        Ok((Old { before: Before::of(&torrent), single_file, content }, outer.parts(), keys))
    }

    /// Checks the new URLs and the name, which needs no torrent. [`Edit::apply`] does so too.
    pub fn check(&self) -> Result<(), EditError> {
        for (urls, of) in [(&self.trackers, Use::Tracker), (&self.web_seeds, Use::WebSeed)] {
            let mut given = urls.all.iter().flatten().chain(&urls.add).flatten();
            if let Some(url) = given.find(|url| !of.accepts(url)) {
                return Err(EditError::Url { what: of.name(), url: url.clone() });
            }
        }
        match &self.name {
            Some(name) if check_component(name.as_bytes()).is_err() => Err(EditError::BadName { name: name.clone() }),
            _ => Ok(()),
        }
    }

    /// Changes keys of the outermost dictionary.
    fn outer(&self, keys: &mut Changes<'_>) -> Result<(), EditError> {
        self.edit_trackers(keys)?;
        if self.web_seeds != Urls::default() {
            let old = read_seeds(keys.dictionary);
            let new = self.web_seeds.apply(&old, |_| Ok(()))?;
            if !old.is_ok_and(|old| old == new) {
                let seeds: Item = new.iter().flatten().map(|url| Item::from(&url[..])).collect();
                keys.set("url-list", (!new.is_empty()).then_some(seeds));
            }
        }
        if let Some(comment) = &self.comment {
            keys.set_text(["comment", "comment.utf-8"], comment.as_deref());
        }
        if let Some(date) = self.date {
            keys.set("creation date", date.map(Item::from));
        }
        Ok(())
    }

    fn edit_trackers(&self, keys: &mut Changes<'_>) -> Result<(), EditError> {
        if self.trackers == Urls::default() && self.replacements.is_empty() {
            return Ok(());
        }
        let old = read_trackers(keys.dictionary);
        let tiers = self.trackers.apply(&old, |tiers| self.replace(tiers))?;
        let mut urls = tiers.iter().flatten();
        let announce = keys.old("announce").and_then(|value| value.string());
        // Clients that know tiers ignore an `announce` that is in none. Such a URL would stay unseen.
        let is_listed = announce.is_none_or(|announce| urls.clone().any(|url| url == announce));
        if is_listed && old.is_ok_and(|old| old == tiers) {
            return Ok(());
        }
        keys.set("announce", urls.next().map(|url| Item::from(&url[..])));
        let tier = |tier: &Vec<Vec<u8>>| tier.iter().map(|url| Item::from(&url[..])).collect::<Item>();
        keys.set("announce-list", urls.next().map(|_| tiers.iter().map(tier).collect()));
        Ok(())
    }

    /// Replaces texts in the URLs of trackers. A URL that is there already is not made a second time, and one that is
    /// not UTF-8 stays.
    fn replace(&self, tiers: &mut Tiers) -> Result<(), EditError> {
        for (old, new) in self.replacements.iter().filter(|(old, _)| !old.is_empty()) {
            let all: Vec<Vec<u8>> = tiers.iter().flatten().cloned().collect();
            let mut made: Vec<Vec<u8>> = Vec::new();
            for tier in tiers.iter_mut() {
                for url in std::mem::take(tier) {
                    let text = std::str::from_utf8(&url).unwrap_or_default();
                    let replaced = text.replace(old, new).into_bytes();
                    if replaced == text.as_bytes() {
                        tier.push(url);
                    } else if !all.contains(&replaced) && !made.contains(&replaced) {
                        if !Use::Tracker.accepts(&replaced) {
                            return Err(EditError::Url { what: Use::Tracker.name(), url: replaced });
                        }
                        made.push(replaced.clone());
                        tier.push(replaced);
                    }
                }
            }
        }
        Ok(())
    }

    /// Changes keys of the info dictionary.
    fn info(&self, before: &Torrent, keys: &mut Changes<'_>) {
        if let Some(private) = self.private.filter(|private| *private != before.metadata().private) {
            keys.set("info.private", private.then_some(Item::Integer(1)));
        }
        if let Some(source) = &self.source {
            keys.set("info.source", source.as_deref().map(Item::from));
        }
        let Some(name) = self.name.as_deref().filter(|name| name.as_bytes() != before.name()) else { return };
        keys.set_text(["info.name", "info.name.utf-8"], Some(name));
        // The tree of a single file has the file's name too.
        let tree = keys.old("info.file tree");
        if let Some(tree) = tree.filter(|_| before.is_single_file() && before.version() != Version::V1) {
            let mut out = b"d".to_vec();
            for entry in tree.entries() {
                let key = if entry.key == before.name() { name.as_bytes() } else { entry.key };
                encode_string(key, &mut out);
                out.extend_from_slice(entry.value.raw());
            }
            out.push(b'e');
            keys.set("info.file tree", Some(Item::Raw(out)));
        }
    }

    /// Proves that nothing but the metadata differs, and the info-hash only if `info` was meant to change.
    fn compare(&self, old: &Old, torrent: &Torrent) -> Result<(), EditError> {
        if old.single_file != torrent.is_single_file() {
            return Err(EditError::SameName { name: self.name.clone().unwrap_or_default() });
        }
        let same_hashes =
            (old.before.info_hash_v1, old.before.info_hash_v2) == (torrent.info_hash_v1(), torrent.info_hash_v2());
        let is_same = match old.content {
            // Pieces and files are in `info`, and roots of pieces lead to roots in `info`.
            None => same_hashes,
            Some(old) => !same_hashes && old == content(torrent, torrent.digests()),
        };
        if is_same { Ok(()) } else { Err(EditError::Different) }
    }
}

impl Before {
    fn of(torrent: &Torrent) -> Before {
        Before {
            info_hash_v1: torrent.info_hash_v1(),
            info_hash_v2: torrent.info_hash_v2(),
            name: torrent.name().to_vec(),
            metadata: torrent.metadata().clone(),
        }
    }
}

/// A torrent before the edit, without its pieces and files.
struct Old {
    before: Before,
    single_file: bool,
    /// The [`content`]; `None` if `info` stays.
    content: Option<u64>,
}

/// A hash of what no edit may change. It finds defects of this module; nobody looks for collisions.
fn content(torrent: &Torrent, digests: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (torrent.version(), torrent.piece_nbytes(), digests, torrent.roots()).hash(&mut hasher);
    for file in torrent.files() {
        // The name of a single file may change.
        let path = if torrent.is_single_file() { b"" } else { file.path };
        File { path, ..file }.hash(&mut hasher);
    }
    hasher.finish()
}

impl Urls {
    /// Returns the list after the changes; `replace` comes before what is removed and added. A list that cannot be read
    /// matters only if it is not replaced.
    fn apply(
        &self,
        old: &Result<Tiers, EditError>,
        replace: impl FnOnce(&mut Tiers) -> Result<(), EditError>,
    ) -> Result<Tiers, EditError> {
        let mut tiers = match &self.all {
            Some(all) => all.clone(),
            None => old.clone()?,
        };
        replace(&mut tiers)?;
        for tier in &mut tiers {
            tier.retain(|url| !self.remove.contains(url));
        }
        for tier in &self.add {
            let mut new: Vec<Vec<u8>> = Vec::new();
            for url in tier {
                if !tiers.iter().flatten().chain(&new).any(|other| other == url) {
                    new.push(url.clone());
                }
            }
            tiers.push(new);
        }
        tiers.retain(|tier| !tier.is_empty());
        Ok(tiers)
    }
}

fn bytes(url: impl Into<String>) -> Vec<u8> {
    url.into().into_bytes()
}

fn tier(urls: impl IntoIterator<Item = impl Into<String>>) -> Vec<Vec<u8>> {
    urls.into_iter().map(bytes).collect()
}

/// Reads `announce-list`, or `announce` if there is no list. Unlike [`Metadata`], this leaves out
/// nothing: what is read is written again.
fn read_trackers(root: Value<'_>) -> Result<Tiers, EditError> {
    let mut tiers = Tiers::new();
    if let Some(list) = root.get(b"announce-list") {
        let key = "announce-list";
        for tier in expect(key, list, Kind::List)?.items() {
            tiers.push(read_urls(key, tier)?);
        }
    }
    tiers.retain(|tier| !tier.is_empty());
    match root.get(b"announce") {
        Some(announce) if tiers.is_empty() => {
            let url = read_urls("announce", expect("announce", announce, Kind::String)?)?;
            Ok(if url.is_empty() { tiers } else { vec![url] })
        }
        _ => Ok(tiers),
    }
}

fn read_seeds(root: Value<'_>) -> Result<Tiers, EditError> {
    let seeds = root.get(b"url-list").map_or(Ok(Vec::new()), |list| read_urls("url-list", list))?;
    Ok(seeds.into_iter().map(|url| vec![url]).collect())
}

/// Reads a list of URLs, or one URL without a list. Empty strings are left out.
fn read_urls(key: &'static str, value: Value<'_>) -> Result<Vec<Vec<u8>>, EditError> {
    let mut urls = Vec::new();
    match value.string() {
        Some(url) => urls.push(url.to_vec()),
        None => {
            for item in expect(key, value, Kind::List)?.items() {
                urls.push(expect(key, item, Kind::String)?.string().unwrap_or_default().to_vec());
            }
        }
    }
    urls.retain(|url| !url.is_empty());
    Ok(urls)
}

fn expect<'a>(key: &'static str, value: Value<'a>, expected: Kind) -> Result<Value<'a>, EditError> {
    match value.kind() {
        found if found == expected => Ok(value),
        found => Err(EditError::BadList { key, offset: value.span().start, expected, found }),
    }
}

/// A part of the input to replace: its place, and the new bytes.
type Part = (Range<usize>, Vec<u8>);

/// The keys of a dictionary that change. Their names begin with `place`, such as `info.`.
struct Changes<'a> {
    dictionary: Value<'a>,
    place: &'static str,
    /// The changes by name.
    values: BTreeMap<&'static str, Change>,
}

/// The change of a key's value.
enum Change {
    Remove,
    /// The new value, bencoded.
    Set(Vec<u8>),
    /// Parts of the value.
    Within(Vec<Part>),
}

impl<'a> Changes<'a> {
    fn of(place: &'static str, dictionary: Value<'a>) -> Changes<'a> {
        Changes { dictionary, place, values: BTreeMap::new() }
    }

    /// The key in the dictionary.
    fn key(&self, name: &'static str) -> &'static [u8] {
        name.as_bytes().strip_prefix(self.place.as_bytes()).unwrap_or_default()
    }

    fn old(&self, name: &'static str) -> Option<Value<'a>> {
        self.dictionary.get(self.key(name))
    }

    /// Sets a key, or removes it if `value` is `None`.
    fn set(&mut self, name: &'static str, value: Option<Item>) {
        let new = value.map(|value| value.encode());
        if self.old(name).map(|old| old.raw()) != new.as_deref() {
            self.values.insert(name, new.map_or(Change::Remove, Change::Set));
        }
    }

    /// Sets a text, also under the second key if the dictionary has it: clients read that key first.
    fn set_text(&mut self, [name, utf8]: [&'static str; 2], text: Option<&str>) {
        self.set(name, text.map(Item::from));
        if self.old(utf8).is_some() {
            self.set(utf8, text.map(Item::from));
        }
    }

    /// Returns the parts of the input to replace, in order. The first of equal keys is replaced, the others are left
    /// out. A new key comes before the first greater one.
    fn parts(&self) -> Vec<Part> {
        let new = self.values.iter().filter(|(name, _)| self.old(name).is_none());
        let mut new = new.filter_map(|(name, change)| Some((self.key(name), change.value()?))).peekable();
        let mut parts = Vec::new();
        let mut had: Vec<&[u8]> = Vec::new();
        for entry in self.dictionary.entries() {
            let (start, end) = (entry.offset, entry.value.span().end);
            while let Some((key, value)) = new.next_if(|(key, _)| *key < entry.key) {
                parts.push((start..start, with_key(key, value)));
            }
            let Some((_, change)) = self.values.iter().find(|(name, _)| self.key(name) == entry.key) else { continue };
            match change {
                Change::Set(value) if !had.contains(&entry.key) => parts.push((start..end, with_key(entry.key, value))),
                Change::Within(within) if !had.contains(&entry.key) => parts.extend(within.iter().cloned()),
                _ => parts.push((start..end, Vec::new())),
            }
            had.push(entry.key);
        }
        let end = self.dictionary.span().end - 1;
        parts.extend(new.map(|(key, value)| (end..end, with_key(key, value))));
        parts
    }
}

impl Change {
    fn value(&self) -> Option<&[u8]> {
        match self {
            Change::Set(value) => Some(value),
            _ => None,
        }
    }
}

/// Returns an entry of a dictionary.
fn with_key(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_string(key, &mut bytes);
    bytes.extend_from_slice(value);
    bytes
}
