// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names under which clients keep files whose names in the torrent they do not take as they are, on Linux and
//! macOS: `sanitize_append_path_element` and `resolve_duplicate_filenames` of libtorrent 2.0 and 2.1,
//! `tr_metainfo_sanitize_path_component` of Transmission 3.00, `makeSubpathPortable` of 4.0 and `sanitize_subpath` of
//! 4.1.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use crate::Torrent;

/// A client and the versions that rename alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Client {
    Libtorrent20,
    Libtorrent21,
    Transmission3,
    Transmission40,
    Transmission41,
}

/// The clients that stand on libtorrent.
pub const LIBTORRENT: [Client; 2] = [Client::Libtorrent20, Client::Libtorrent21];
/// The versions of Transmission.
pub const TRANSMISSION: [Client; 3] = [Client::Transmission3, Client::Transmission40, Client::Transmission41];

/// The number of bytes from which on libtorrent cuts a name.
const CUT_NBYTES: usize = 240;

/// Whether libtorrent 2 or Transmission 3 or 4 keep a file or folder of this name under another: a name with control
/// characters, with marks that cannot be seen, of more than 240 bytes, that is no UTF-8, or that Windows lacks.
///
/// ```
/// use hashloom_torrent::clients_rename;
///
/// assert!(clients_rename(b"a\\b") && clients_rename("zero\u{200b}width".as_bytes()) && clients_rename(b"caf\xe9"));
/// assert!(!clients_rename("caf\u{e9} 1.mkv".as_bytes()));
/// ```
pub fn clients_rename(name: &[u8]) -> bool {
    let mut clients = LIBTORRENT.iter().chain(&TRANSMISSION);
    std::str::from_utf8(name).is_err() || clients.any(|client| client.sanitized(name).as_deref() != Some(name))
}

/// The names that a client gives the files of a torrent.
#[derive(Debug)]
pub struct Names {
    client: Client,
    /// The files whose paths another file or folder has already, upper and lower case apart: their paths with a number.
    numbered: BTreeMap<usize, Vec<u8>>,
}

impl Names {
    /// The names of all files.
    pub fn new(client: Client, torrent: &Torrent) -> Names {
        let mut names = Names { client, numbered: BTreeMap::new() };
        if LIBTORRENT.contains(&client) && !torrent.is_single_file() {
            names.number(torrent);
        }
        names
    }

    /// The path of a file below the download folder.
    pub fn path(&self, torrent: &Torrent, file: usize) -> Vec<u8> {
        match self.numbered.get(&file) {
            Some(path) => path.clone(),
            None => self.plain(torrent, file),
        }
    }

    /// The first file that has a number.
    pub fn first_numbered(&self) -> Option<usize> {
        self.numbered.keys().next().copied()
    }

    fn plain(&self, torrent: &Torrent, file: usize) -> Vec<u8> {
        let (name, path) = (torrent.name(), torrent.file(file).path);
        let components = path.split(|&byte| byte == b'/');
        let path = if torrent.is_single_file() {
            self.client.sanitized(name).unwrap_or_else(|| b"_".to_vec())
        } else {
            let all = std::iter::once(name).chain(components).filter_map(|name| self.client.sanitized(name));
            all.collect::<Vec<_>>().join(&b'/')
        };
        match self.client {
            Client::Transmission3 if std::str::from_utf8(&path).is_err() => latin9(&path).into_bytes(),
            Client::Transmission40 | Client::Transmission41 => String::from_utf8_lossy(&path).into_owned().into_bytes(),
            _ => path,
        }
    }

    /// libtorrent numbers files whose path is that of an earlier file or of a folder: `readme.1.txt`. Paths are known
    /// by hashes: a torrent can have ten million.
    fn number(&mut self, torrent: &Torrent) {
        let lower = |path: &[u8]| path.to_ascii_lowercase();
        let files = || torrent.files_without_padding().map(|file| file.index);
        let (mut taken, mut last) = (HashSet::new(), Vec::new());
        for file in files() {
            let path = lower(&self.plain(torrent, file));
            let folder = &path[..path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)];
            if *folder != *last {
                last = folder.to_vec();
                fingerprint(folder, |above| {
                    taken.insert(above);
                });
            }
        }
        // The number that was tried last, by the hash of the path without a number.
        let mut tried: HashMap<u64, u32> = HashMap::new();
        for file in files() {
            let path = self.plain(torrent, file);
            let own = fingerprint(&lower(&path), |_| {});
            if taken.insert(own) {
                continue;
            }
            let name = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            let dot = path[name..].iter().rposition(|&byte| byte == b'.').map_or(path.len(), |dot| name + dot);
            let number = tried.entry(own).or_default();
            loop {
                *number += 1;
                let path = [&path[..dot], format!(".{number}").as_bytes(), &path[dot..]].concat();
                if taken.insert(fingerprint(&lower(&path), |_| {})) {
                    self.numbered.insert(file, path);
                    break;
                }
            }
        }
    }
}

/// A hash of a path; `above` gets that of each folder on the way to it.
pub(crate) fn fingerprint(path: &[u8], mut above: impl FnMut(u64)) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (depth, component) in path.split(|&byte| byte == b'/').enumerate() {
        if depth > 0 {
            above(hasher.finish());
            hasher.write(b"/");
        }
        hasher.write(component);
    }
    hasher.finish()
}

impl Client {
    /// The name of a torrent's folder; empty if the client refuses it.
    pub(crate) fn folder(self, torrent: &Torrent) -> Vec<u8> {
        self.sanitized(torrent.name()).unwrap_or_default()
    }

    /// The name that a component of a path becomes; `None` if the client leaves it out.
    fn sanitized(self, name: &[u8]) -> Option<Vec<u8>> {
        match self {
            Client::Libtorrent20 | Client::Libtorrent21 => libtorrent(name, self == Client::Libtorrent21),
            Client::Transmission3 => transmission3(name),
            Client::Transmission40 | Client::Transmission41 => {
                Some(transmission4(name, self == Client::Transmission40))
            }
        }
    }
}

/// The code point at the beginning of `bytes` and its length; `None` if it is not UTF-8, and the bytes that libtorrent
/// then takes together.
fn code_point(bytes: &[u8]) -> (Option<char>, usize) {
    let nbytes = match bytes[0] {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        0xf8..=0xfb => 5,
        0xfc..=0xfd => 6,
        _ => return (None, 1),
    };
    let Some(sequence) = bytes.get(..nbytes) else { return (None, if nbytes > 4 { nbytes } else { bytes.len() }) };
    (std::str::from_utf8(sequence).ok().and_then(|text| text.chars().next()), nbytes)
}

fn libtorrent(name: &[u8], is_2_1: bool) -> Option<Vec<u8>> {
    let is_left_out = |point: char| match point {
        '\\' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        // Characters that cannot be seen.
        '\u{61c}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' => is_2_1,
        '\u{2066}'..='\u{2069}' | '\u{feff}' => is_2_1,
        _ => false,
    };
    let is_replaced = |point: char| point < ' ' || is_2_1 && ('\x7f'..='\u{9f}').contains(&point);
    let (mut out, mut at, mut ndots, mut has_extension) = (Vec::new(), 0, 0, false);
    while at < name.len() {
        let (point, nbytes) = code_point(&name[at..]);
        match point {
            Some(point) if is_left_out(point) => {}
            Some(point) if !is_replaced(point) => {
                out.extend_from_slice(&name[at..at + nbytes]);
                ndots += usize::from(point == '.');
                // A name of more than 240 bytes ends there; an extension of up to nine bytes stays.
                if out.len() >= CUT_NBYTES && !has_extension {
                    let first = (name.len().saturating_sub(10)).max(at) + 1;
                    let Some(dot) = (first..name.len()).rev().find(|&dot| name[dot] == b'.') else { break };
                    has_extension = true;
                    at = dot;
                    continue;
                }
            }
            _ => out.push(b'_'),
        }
        at += nbytes;
    }
    if ndots != out.len() || ndots > 2 { Some(out) } else { is_2_1.then(|| b"_".to_vec()) }
}

const DEVICES: [&[u8]; 22] = [
    b"CON", b"PRN", b"AUX", b"NUL", b"COM1", b"COM2", b"COM3", b"COM4", b"COM5", b"COM6", b"COM7", b"COM8", b"COM9",
    b"LPT1", b"LPT2", b"LPT3", b"LPT4", b"LPT5", b"LPT6", b"LPT7", b"LPT8", b"LPT9",
];

/// The number of bytes of a Windows device's name that `name` is, or has before a dot.
fn device(name: &[u8]) -> Option<usize> {
    let base = name.split(|&byte| byte == b'.').next().unwrap_or_default();
    DEVICES.iter().any(|device| device.eq_ignore_ascii_case(base)).then_some(base.len())
}

fn is_reserved(byte: u8) -> bool {
    b"<>:\"/\\|?*".contains(&byte)
}

fn transmission3(name: &[u8]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> =
        name.iter().map(|&byte| if is_reserved(byte) || byte < b' ' { b'_' } else { byte }).collect();
    if let Some(nbytes) = device(&out) {
        out.insert(nbytes, b'_');
    }
    let end = out.iter().rposition(|byte| !b" .".contains(byte)).map_or(0, |last| last + 1);
    out.truncate(end);
    let start = out.iter().take_while(|&&byte| byte == b' ').count();
    out.drain(..start);
    (!out.is_empty()).then_some(out)
}

fn transmission4(name: &[u8], is_4_0: bool) -> Vec<u8> {
    if !is_4_0 {
        return name.iter().map(|&byte| if byte < b' ' { b'_' } else { byte }).collect();
    }
    let name = name.trim_ascii();
    let name = &name[..name.iter().rposition(|&byte| byte != b'.').map_or(0, |last| last + 1)];
    let mut out = if device(name).is_some() { vec![b'_'] } else { Vec::new() };
    out.extend(name.iter().map(|&byte| if is_reserved(byte) { b'_' } else { byte }));
    out
}

/// The text that these bytes are in ISO 8859-15.
fn latin9(bytes: &[u8]) -> String {
    let point = |&byte: &u8| match byte {
        0xa4 => '€',
        0xa6 => 'Š',
        0xa8 => 'š',
        0xb4 => 'Ž',
        0xb8 => 'ž',
        0xbc => 'Œ',
        0xbd => 'œ',
        0xbe => 'Ÿ',
        byte => char::from(byte),
    };
    bytes.iter().map(point).collect()
}
