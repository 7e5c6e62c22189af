// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kinds of paths, told by names and contents, and the signatures of files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hashloom_files::paths::portable;
use hashloom_frame::input::Kept;
use hashloom_frame::names::{self, with_suffix};
use hashloom_frame::quote::quoted;
use hashloom_list::Parser;
use hashloom_list::command::found;
use hashloom_list::command::only::has_digests;
use hashloom_manifest::Reader;
use hashloom_slh::ParameterSet;

use super::beside::are_named;
use crate::SOURCES;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    List,
    Manifest,
    Torrent,
    Par2,
    Signature,
    File,
    Folder,
    /// A device, a pipe, standard input.
    Stream,
}

impl Kind {
    /// Whether it says what other files should be.
    pub fn describes(self) -> bool {
        !matches!(self, Kind::File | Kind::Folder | Kind::Stream)
    }
}

/// The kind of each path. A file that something beside it names is a file, whatever its name and content look like.
pub fn kinds(paths: &[&Path]) -> Vec<Kind> {
    let by_itself: Vec<Kind> = paths.iter().map(|path| by_itself(path)).collect();
    let may_be_named = paths.iter().zip(&by_itself).filter(|(_, kind)| kind.describes()).map(|(path, _)| *path);
    let mut named = are_named(&may_be_named.collect::<Vec<_>>()).into_iter();
    let kind = |kind: Kind| if kind.describes() && named.next() == Some(true) { Kind::File } else { kind };
    by_itself.into_iter().map(kind).collect()
}

fn by_itself(path: &Path) -> Kind {
    if path.is_dir() {
        return Kind::Folder;
    }
    // A path that leads nowhere is a file: the error of opening it tells why.
    if path.as_os_str() == "-" || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Kind::Stream;
    }
    by_name(path).or_else(|| by_content(path)).unwrap_or(Kind::File)
}

/// The kind of a file that describes others, as its name tells.
pub fn by_name(path: &Path) -> Option<Kind> {
    let name = names::of_path(path).to_ascii_lowercase();
    Some(match name.rsplit(|byte| *byte == b'.').next()? {
        b"torrent" => Kind::Torrent,
        b"par2" => Kind::Par2,
        _ if is_signature(path) => Kind::Signature,
        _ if names::is_list(&name) => {
            if is_manifest(path) {
                Kind::Manifest
            } else {
                Kind::List
            }
        }
        _ => return None,
    })
}

/// The kind of a file that describes others, as its content tells, if its name says nothing.
fn by_content(path: &Path) -> Option<Kind> {
    /// An ending of lists of ROMs, and of other texts.
    const DAT: &str = "dat";
    let is_text = |end: &OsStr| names::TEXTS.iter().chain([&DAT]).any(|text| end.eq_ignore_ascii_case(text));
    if !path.extension().is_none_or(is_text) {
        return None;
    }
    // Programs, images and archives have control characters, scripts a line that names their program.
    let head = head(path)?;
    if head.starts_with(b"#!") || is_binary(&head) || !is_list(path) {
        return None;
    }
    Some(if is_manifest(path) { Kind::Manifest } else { Kind::List })
}

/// The first bytes of a file.
fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(512).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Whether bytes are no text: it has no control characters but those of lines, and DOS's end of a file.
fn is_binary(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    !is_utf16 && head.iter().any(|byte| matches!(byte, 0..9 | 14..=25 | 27..=31))
}

pub fn is_manifest(path: &Path) -> bool {
    Kept::open(path, |input| Reader::new(input).map_err(|error| error.to_string())).is_ok_and(|kept| kept.1.is_ok())
}

/// Whether most lines of a file are those of a list, or the file is a manifest.
pub fn is_list(path: &Path) -> bool {
    found::of_list(path, &mut Parser::new(), |_| ()).is_some() || is_manifest(path)
}

/// The ends of the names of signatures, and what checks one: {} stands for the file.
const SIGNATURES: [(&str, &str); 8] = [
    (".minisig", OWN),
    (".slhsig", OWN),
    (".asc", GPG),
    (".sig", GPG),
    (".gpg", GPG),
    (".sign", GPG),
    (".sigstore.json", "cosign verify-blob --bundle {}.sigstore.json {}"),
    (".sigstore", "cosign verify-blob --bundle {}.sigstore {}"),
];

const GPG: &str = "gpg --verify";

/// The end of the command that checks a signature here; the file stands before it.
pub const OWN: &str = "--trusted-key KEY";

/// The signatures beside a file, and the command that checks each.
pub fn signatures(file: &Path) -> Vec<(PathBuf, String)> {
    let name = |path: &Path| String::from_utf8_lossy(&quoted(&portable(path))).into_owned();
    let of = |(suffix, by): (&str, &str)| {
        let path = with_suffix(file, suffix);
        let nbytes = path.metadata().ok().filter(|metadata| metadata.is_file())?.len();
        // The bytes of the standard alone, as `slh sign` writes them.
        let is_slh = ParameterSet::ALL.iter().any(|set| set.signature_nbytes() as u64 == nbytes);
        let by = match by {
            GPG if is_slh => format!("hashloom slh verify --key KEY --signature {} {}", name(&path), name(file)),
            GPG => format!("{GPG} {} {}", name(&path), name(file)),
            OWN => format!("hashloom {} {OWN}", name(file)),
            by => by.replace("{}", &name(file)),
        };
        Some((path, by))
    };
    SIGNATURES.into_iter().filter_map(of).collect()
}

/// Whether a file is a signature by its name, and not a list, which OpenPGP may have signed.
pub fn is_signature(path: &Path) -> bool {
    let Some(signed) = signed_by(path).filter(|_| !is_list(path)) else { return false };
    // What is called like a list has to look like a signature, or to have no digest beside the list of that name.
    let begins = [&b"-----BEGIN PGP SIGNATURE"[..], b"-----BEGIN SSH SIGNATURE", b"untrusted comment:", b"{"];
    let looks_so =
        head(path).is_some_and(|head| is_binary(&head) || begins.iter().any(|begin| head.starts_with(begin)));
    let name = names::of_path(path);
    !names::is_list(&name) || looks_so || signed.is_file() && !has_digests(path, SOURCES)
}

/// The file that a signature of this name is of.
pub fn signed_by(signature: &Path) -> Option<PathBuf> {
    let name = signature.file_name()?.to_str()?;
    let name = SIGNATURES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).filter(|name| !name.is_empty())?;
    Some(signature.with_file_name(name))
}
