// SPDX-License-Identifier: MIT OR Apache-2.0

//! The CIDs of IPFS for files: what `ipfs add --only-hash` prints.
//!
//! A file is cut into chunks. A node of the DAG lists up to a fixed number of chunks or nodes, each with its digest and
//! its lengths, and all chunks are equally deep (the layout `balanced`; a node's form is dag-pb, its content UnixFS).
//! The CID is the digest of the topmost node, with what it is a digest of. It depends on the [`Profile`].

use std::str::FromStr;

use data_encoding::BASE32_NOPAD;
use hashloom::Algorithm::Sha256;
use hashloom::{Hash, Hasher, hash};
use hashloom_files::Source;
use hashloom_files::lanes::{Form, Leaves};
use hashloom_files::run::{LANES, Options};

use super::{Input, TreeError};

/// How a file becomes a CID. Its name is parsed.
///
/// ```
/// use hashloom_tree::cid::{PROFILES, Profile};
///
/// assert_eq!("unixfs-v1-2025".parse(), Ok(PROFILES[0]));
/// assert!("unixfs".parse::<Profile>().unwrap_err().contains("unixfs-v0-2015"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    name: &'static str,
    chunk_nbytes: usize,
    /// Number of links of a node.
    width: usize,
    /// Whether chunks are raw, and CIDs of version 1.
    is_v1: bool,
}

/// The two profiles of IPIP-499, the first for new files; and what `ipfs add --cid-version=1` does by default.
pub const PROFILES: [Profile; 3] = [
    Profile { name: "unixfs-v1-2025", chunk_nbytes: 1 << 20, width: 1024, is_v1: true },
    Profile { name: "unixfs-v0-2015", chunk_nbytes: 256 << 10, width: 174, is_v1: false },
    Profile { name: "kubo-v1", chunk_nbytes: 256 << 10, width: 174, is_v1: true },
];

impl Profile {
    /// The form of a chunk of `nbytes` bytes, and the number of bytes around them.
    fn leaves(self, nbytes: u64) -> (Leaves, u64) {
        let plain = Leaves::plain(Sha256, nbytes);
        if self.is_v1 {
            return (plain, 0);
        }
        // Fields of UnixFS: type 2 is a file, data, length of the file.
        let (mut head, mut unixfs, mut tail) = (Vec::new(), vec![0x08, 2], Vec::new());
        if nbytes > 0 {
            number(&mut unixfs, 0x12, nbytes);
        }
        number(&mut tail, 0x18, nbytes);
        number(&mut head, 0x0a, (unixfs.len() + tail.len()) as u64 + nbytes);
        head.append(&mut unixfs);
        let around = (head.len() + tail.len()) as u64;
        let mut hasher = Hasher::new(Sha256);
        hasher.update(&head);
        (Leaves { head: Some(hasher), tail, ..plain }, around)
    }

    /// The links to the wrapped chunks in a window, which are whole except the last.
    fn wrapped(self, window: &[u8]) -> Vec<Link> {
        let mut links = Vec::new();
        let (whole, rest) = window.split_at(window.len() - window.len() % self.chunk_nbytes);
        for chunks in [whole, rest] {
            let chunks: Vec<&[u8]> = chunks.chunks(self.chunk_nbytes).collect();
            let nbytes = chunks.first().map_or(0, |chunk| chunk.len() as u64);
            let (form, around) = self.leaves(nbytes);
            let mut digests = vec![0; chunks.len() * 32];
            form.hash_many(&chunks, &mut Vec::new(), &mut digests);
            links.extend(digests.chunks_exact(32).map(|digest| {
                let digest = Hash::new(Sha256, digest);
                Link { is_raw: false, digest, nbytes, total_nbytes: nbytes + around }
            }));
        }
        links
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(name: &str) -> Result<Profile, String> {
        let known = PROFILES.into_iter().find(|profile| profile.name == name);
        known.ok_or_else(|| format!("expected {}", PROFILES.map(|profile| profile.name).join(", ")))
    }
}

/// A chunk or a node.
struct Link {
    is_raw: bool,
    digest: Hash,
    /// Bytes of the file below.
    nbytes: u64,
    /// Bytes of all chunks and nodes below, and of the node itself.
    total_nbytes: u64,
}

/// The links of each level that are not in a node yet, the chunks' level first.
struct Dag {
    profile: Profile,
    levels: Vec<Vec<Link>>,
}

impl Dag {
    fn push(&mut self, level: usize, link: Link) {
        if level == self.levels.len() {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(link);
        if self.levels[level].len() == self.profile.width {
            self.fold(level);
        }
    }

    /// Makes a node of the links of a level.
    fn fold(&mut self, level: usize) {
        let links = std::mem::take(&mut self.levels[level]);
        let (nbytes, below) = links.iter().fold((0, 0), |sum, link| (sum.0 + link.nbytes, sum.1 + link.total_nbytes));
        let mut unixfs = vec![0x08, 2];
        number(&mut unixfs, 0x18, nbytes);
        links.iter().for_each(|link| number(&mut unixfs, 0x20, link.nbytes));
        let mut node = Vec::new();
        for link in &links {
            let mut fields = Vec::new();
            field(&mut fields, 0x0a, &self.cid(link));
            field(&mut fields, 0x12, b"");
            number(&mut fields, 0x18, link.total_nbytes);
            field(&mut node, 0x12, &fields);
        }
        field(&mut node, 0x0a, &unixfs);
        let (digest, total_nbytes) = (hash(Sha256, &node), below + node.len() as u64);
        self.push(level + 1, Link { is_raw: false, digest, nbytes, total_nbytes });
    }

    /// The bytes of a CID: the version and the codec (raw is 0x55, dag-pb 0x70), SHA-256, 32 bytes. Version 0 lacks the
    /// first two.
    fn cid(&self, link: &Link) -> Vec<u8> {
        let codec = if link.is_raw { 0x55 } else { 0x70 };
        let version: &[u8] = if self.profile.is_v1 { &[1, codec] } else { &[] };
        [version, &[0x12, 32], link.digest.as_ref()].concat()
    }

    fn finish(mut self) -> String {
        if self.levels.is_empty() {
            // A file without bytes is an empty chunk.
            let (form, total_nbytes) = self.profile.leaves(0);
            let mut hasher = form.hasher();
            form.append_end(&mut hasher, 0);
            let digest = hasher.finalize();
            self.push(0, Link { is_raw: self.profile.is_v1, digest, nbytes: 0, total_nbytes });
        }
        let mut level = 0;
        loop {
            match &self.levels[level][..] {
                [root] if level + 1 == self.levels.len() => {
                    let cid = self.cid(root);
                    return if self.profile.is_v1 { base32(&cid) } else { bs58::encode(cid).into_string() };
                }
                [] => {}
                _ => self.fold(level),
            }
            level += 1;
        }
    }
}

/// A CID of version 1 as text.
pub(super) fn base32(cid: &[u8]) -> String {
    format!("b{}", BASE32_NOPAD.encode(cid).to_ascii_lowercase())
}

/// Appends a number of protocol buffers.
fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Appends a field of protocol buffers that is a number, or the head of one of `value` bytes.
fn number(into: &mut Vec<u8>, tag: u8, value: u64) {
    into.push(tag);
    varint(into, value);
}

/// Appends a field of protocol buffers that is bytes.
fn field(into: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    number(into, tag, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

/// The CID of a file, as text.
///
/// # Errors
///
/// [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::cid::{PROFILES, cid};
///
/// let found = cid(Source::memory("hello world"), PROFILES[0], &Options::new())?;
/// assert_eq!(found, "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e");
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn cid(source: impl Into<Source>, profile: Profile, options: &Options) -> Result<String, TreeError> {
    let mut dag = Dag { profile, levels: Vec::new() };
    let input = Input::open(source.into())?;
    let chunk_nbytes = profile.chunk_nbytes as u64;
    if !profile.is_v1 {
        let work = |_, window: &[u8]| profile.wrapped(window);
        let take = |links: Vec<Link>| links.into_iter().for_each(|link| dag.push(0, link));
        input.windows(LANES * profile.chunk_nbytes, options, work, take)?;
        return Ok(dag.finish());
    }
    // The last chunk waits until its length is known.
    let (mut last, mut nbytes_before) = (None, 0);
    let raw = |digest, nbytes| Link { is_raw: true, digest, nbytes, total_nbytes: nbytes };
    let nbytes = input.hash(&Leaves::plain(Sha256, chunk_nbytes), options, &mut |digests| {
        for digest in digests.chunks_exact(32) {
            if let Some(whole) = last.replace(Hash::new(Sha256, digest)) {
                dag.push(0, raw(whole, chunk_nbytes));
                nbytes_before += chunk_nbytes;
            }
        }
        Ok(())
    })?;
    if let Some(digest) = last {
        dag.push(0, raw(digest, nbytes - nbytes_before));
    }
    Ok(dag.finish())
}
