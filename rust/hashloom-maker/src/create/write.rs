// SPDX-License-Identifier: MIT OR Apache-2.0

//! A torrent's bytes, written directly: there can be millions of files, so no tree of values is built.
//!
//! Keys stand in the order of their bytes, as BEP 3 requires. The names of the file tree do, too, because the files are
//! sorted by components.

use std::ops::Range;

use hashloom_files::merkle::{self, NODE_NBYTES, Node};

use hashloom_torrent::Version;
use hashloom_torrent::inside::encode_string;

use super::scan::Entry;
use super::{Builder, Plan};
use crate::compute::Computed;

/// A file's hash tree.
struct Tree {
    /// 32 zero bytes for an empty file, which has no tree.
    root: Node,
    /// The range of the file's pieces if the file is longer than one piece.
    layer: Range<usize>,
}

/// Writes the torrent, and returns the place of `info` in it.
pub(super) fn write(plan: &Plan, computed: &Computed) -> (Vec<u8>, Range<usize>) {
    let builder = &plan.builder;
    let trees = match plan.builder.version {
        Version::V1 => Vec::new(),
        Version::V2 | Version::Hybrid => trees(plan, computed),
    };
    let mut out = vec![b'd'];
    let trackers: Vec<&[String]> = builder.trackers.iter().map(Vec::as_slice).filter(|tier| !tier.is_empty()).collect();
    if let Some(first) = trackers.first().and_then(|tier| tier.first()) {
        text(&mut out, "announce", first);
    }
    if trackers.iter().map(|tier| tier.len()).sum::<usize>() > 1 {
        key(&mut out, "announce-list");
        list(&mut out, &trackers, |out, tier| list(out, tier, |out, url| encode_string(url.as_bytes(), out)));
    }
    if let Some(comment) = &builder.comment {
        text(&mut out, "comment", comment);
    }
    if let Some(program) = &builder.created_by {
        text(&mut out, "created by", program);
    }
    if let Some(date) = builder.date {
        integer(&mut out, "creation date", date);
    }
    key(&mut out, "info");
    let start = out.len();
    info(&mut out, plan, computed, &trees);
    let end = out.len();
    if builder.version != Version::V1 {
        layers(&mut out, &trees, computed);
    }
    if !builder.web_seeds.is_empty() {
        key(&mut out, "url-list");
        list(&mut out, &builder.web_seeds, |out, url| encode_string(url.as_bytes(), out));
    }
    out.push(b'e');
    (out, start..end)
}

/// Computes the trees of all files from the roots of their pieces.
fn trees(plan: &Plan, computed: &Computed) -> Vec<Tree> {
    let piece_nbytes = plan.piece_nbytes;
    let padding = merkle::uniform([0; NODE_NBYTES], merkle::height(piece_nbytes));
    let mut next = 0;
    let tree = |entry: &Entry| {
        let pieces = next..next + entry.nbytes.div_ceil(piece_nbytes) as usize;
        next = pieces.end;
        let layer = &computed.roots[pieces.start * NODE_NBYTES..pieces.end * NODE_NBYTES];
        match pieces.len() {
            0 => Tree { root: [0; NODE_NBYTES], layer: 0..0 },
            1 => Tree { root: merkle::node(layer), layer: 0..0 },
            _ => {
                let levels = merkle::height(entry.nbytes) - merkle::height(piece_nbytes);
                Tree { root: merkle::root(&mut layer.to_vec(), levels, padding), layer: pieces }
            }
        }
    };
    plan.entries.iter().map(tree).collect()
}

fn info(out: &mut Vec<u8>, plan: &Plan, computed: &Computed, trees: &[Tree]) {
    let Builder { version, private, declared_public, ref entropy, ref source, .. } = plan.builder;
    let has_v1 = version != Version::V2;
    out.push(b'd');
    let single = plan.entries.first().filter(|_| plan.single_file);
    if let Some(entry) = single.filter(|_| has_v1) {
        attributes(out, entry);
    }
    if let Some(entropy) = entropy {
        text(out, "entropy", entropy);
    }
    if version != Version::V1 {
        key(out, "file tree");
        file_tree(out, plan, trees);
    }
    match single {
        Some(entry) if has_v1 => integer(out, "length", entry.nbytes as i64),
        None if has_v1 => {
            key(out, "files");
            files(out, plan);
        }
        _ => {}
    }
    if version != Version::V1 {
        integer(out, "meta version", 2);
    }
    key(out, "name");
    encode_string(&plan.name, out);
    integer(out, "piece length", plan.piece_nbytes as i64);
    if has_v1 {
        key(out, "pieces");
        encode_string(&computed.sha1, out);
    }
    if private || declared_public {
        integer(out, "private", i64::from(private));
    }
    if let Some(source) = source {
        text(out, "source", source);
    }
    out.push(b'e');
}

/// Writes v1's list of files, padding included.
fn files(out: &mut Vec<u8>, plan: &Plan) {
    out.push(b'l');
    for (index, entry) in plan.entries.iter().enumerate() {
        out.push(b'd');
        attributes(out, entry);
        integer(out, "length", entry.nbytes as i64);
        key(out, "path");
        path(out, &entry.path);
        out.push(b'e');
        let padding = plan.padding_after(index);
        if padding > 0 {
            out.extend_from_slice(b"d4:attr1:p");
            integer(out, "length", padding as i64);
            key(out, "path");
            path(out, format!(".pad/{padding}").as_bytes());
            out.push(b'e');
        }
    }
    out.push(b'e');
}

/// Writes BEP 52's tree. Folders are opened and closed as the sorted paths pass through them.
fn file_tree(out: &mut Vec<u8>, plan: &Plan, trees: &[Tree]) {
    let mut open: Vec<&[u8]> = Vec::new();
    out.push(b'd');
    for (entry, tree) in plan.entries.iter().zip(trees) {
        let path = if plan.single_file { &plan.name[..] } else { &entry.path };
        let mut folders: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let name = folders.pop().unwrap_or_default();
        let common = open.iter().zip(&folders).take_while(|(a, b)| a == b).count();
        open.drain(common..).for_each(|_| out.push(b'e'));
        for folder in &folders[common..] {
            encode_string(folder, out);
            out.push(b'd');
            open.push(folder);
        }
        encode_string(name, out);
        out.extend_from_slice(b"d0:d");
        attributes(out, entry);
        integer(out, "length", entry.nbytes as i64);
        if entry.nbytes > 0 {
            key(out, "pieces root");
            encode_string(&tree.root, out);
        }
        out.extend_from_slice(b"ee");
    }
    open.iter().for_each(|_| out.push(b'e'));
    out.push(b'e');
}

/// Writes the roots of the pieces of every file longer than a piece. Files of equal content share an entry.
fn layers(out: &mut Vec<u8>, trees: &[Tree], computed: &Computed) {
    key(out, "piece layers");
    let mut long: Vec<&Tree> = trees.iter().filter(|tree| !tree.layer.is_empty()).collect();
    long.sort_by_key(|tree| tree.root);
    long.dedup_by_key(|tree| tree.root);
    out.push(b'd');
    for tree in long {
        encode_string(&tree.root, out);
        encode_string(&computed.roots[tree.layer.start * NODE_NBYTES..tree.layer.end * NODE_NBYTES], out);
    }
    out.push(b'e');
}

/// Writes BEP 47's `attr`, if the file has an attribute.
fn attributes(out: &mut Vec<u8>, entry: &Entry) {
    if entry.executable {
        text(out, "attr", "x");
    }
}

fn path(out: &mut Vec<u8>, path: &[u8]) {
    let components: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    list(out, &components, |out, component| encode_string(component, out));
}

fn list<T>(out: &mut Vec<u8>, items: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'l');
    items.iter().for_each(|item| write(out, item));
    out.push(b'e');
}

fn key(out: &mut Vec<u8>, key: &str) {
    encode_string(key.as_bytes(), out);
}

fn text(out: &mut Vec<u8>, name: &str, value: impl AsRef<[u8]>) {
    key(out, name);
    encode_string(value.as_ref(), out);
}

fn integer(out: &mut Vec<u8>, name: &str, value: i64) {
    key(out, name);
    out.extend_from_slice(format!("i{value}e").as_bytes());
}
