// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees of files: a torrent made of them describes them in each version, and any difference between the halves
//! of a hybrid is found.
//!
//! The tests' own writer makes the torrents, and computes the roots with RustCrypto's SHA-2.

use crate::maker::{
    Bencode, Content, content, dictionary, file_list, int, layer, layers, noise, padded, padding, pieces, pieces_root,
    text, v2_info,
};
use hashloom_torrent::{Problem, Torrent, Version};
use proptest::prelude::*;
use proptest::sample::Index;

/// Lengths that are likely to meet block and piece boundaries, and zero.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        1 => Just(0usize),
        2 => 0..200usize,
        1 => 0..200_000usize,
        2 => (0..10usize, 0..3usize).prop_map(|(n, off)| (n * 16384 + off).saturating_sub(1)),
    ]
}

/// Files in folders, in the order of a tree. Some have equal content.
fn files() -> impl Strategy<Value = Vec<Content>> {
    let file = (prop::collection::vec(0..3u8, 0..4), length(), 0..4u64);
    prop::collection::vec(file, 1..10).prop_map(|files| {
        let make = |(i, (folders, nbytes, seed)): (usize, (Vec<u8>, usize, u64))| {
            let mut path: Vec<String> = folders.iter().map(|folder| format!("folder {folder}")).collect();
            path.push(format!("file {i}"));
            content(&path.join("/"), noise(nbytes, seed))
        };
        let mut files: Vec<Content> = files.into_iter().enumerate().map(make).collect();
        files.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        files
    })
}

fn piece_nbytes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(16384usize), Just(32768), Just(65536), Just(1 << 20)]
}

/// A hybrid whose halves describe different files.
fn hybrid_of(v1: &[Content], v2: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let mut info = v2_info("name", v2, piece_nbytes);
    info.extend([("pieces", text(pieces(v1, piece_nbytes))), ("files", file_list(v1))]);
    dictionary([("info", dictionary(info)), ("piece layers", layers(v2, piece_nbytes))]).write()
}

/// A change to the v1 half of a hybrid that makes it another torrent.
#[derive(Debug, Clone)]
enum Change {
    Rename(Index),
    Longer(Index),
    Drop(Index),
    Swap(Index),
    Insert(Index),
    PieceOfPadding(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        index().prop_map(Change::Rename),
        index().prop_map(Change::Longer),
        index().prop_map(Change::Drop),
        index().prop_map(Change::Swap),
        index().prop_map(Change::Insert),
        index().prop_map(Change::PieceOfPadding),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_version_says_what_the_files_are(files in files(), piece_nbytes in piece_nbytes()) {
        for version in [Version::V2, Version::Hybrid] {
            let bytes = match version {
                Version::V2 => crate::maker::v2_torrent("name", &files, piece_nbytes),
                _ => crate::maker::hybrid_torrent("name", &files, piece_nbytes),
            };
            let torrent = Torrent::parse(&bytes).unwrap();
            prop_assert_eq!((torrent.version(), torrent.note_count()), (version, 0));
            let real: Vec<_> = torrent.files().filter(|file| !file.attributes.padding).collect();
            prop_assert_eq!(real.len(), files.len());
            let mut next = 0;
            for (file, content) in real.iter().zip(&files) {
                prop_assert_eq!(file.path, content.path.as_bytes());
                prop_assert_eq!(file.nbytes, content.bytes.len() as u64);
                let own = torrent.pieces_of_file(file.index);
                if content.bytes.is_empty() {
                    prop_assert!(file.root.is_none() && own.is_empty());
                    continue;
                }
                let root = pieces_root(&content.bytes);
                prop_assert_eq!(file.root, Some(&root[..]));
                prop_assert_eq!(&own, &(next..next + content.bytes.len().div_ceil(piece_nbytes)));
                next = own.end;
                let found: Vec<u8> = own.flat_map(|piece| torrent.piece_root(piece).unwrap().to_vec()).collect();
                let long = content.bytes.len() > piece_nbytes;
                prop_assert_eq!(found, if long { layer(&content.bytes, piece_nbytes) } else { root.to_vec() });
            }
            prop_assert_eq!(next, torrent.piece_count());
            if version == Version::Hybrid {
                let v1 = pieces(&padded(&files, piece_nbytes), piece_nbytes);
                let digest = |piece| torrent.piece_digest(piece).unwrap().to_vec();
                let found: Vec<u8> = (0..next).flat_map(digest).collect();
                prop_assert_eq!(found, v1);
            }
        }
    }

    #[test]
    fn halves_that_differ_are_told_apart(files in files(), piece_nbytes in piece_nbytes(), change in change()) {
        let mut v1 = padded(&files, piece_nbytes);
        prop_assert!(Torrent::parse(&hybrid_of(&v1, &files, piece_nbytes)).is_ok());
        let real: Vec<usize> = (0..v1.len()).filter(|&i| !v1[i].padding).collect();
        let at = |index: &Index| real[index.index(real.len())];
        match &change {
            Change::Rename(index) => v1[at(index)].path.push('!'),
            Change::Longer(index) => v1[at(index)].bytes.push(0),
            Change::Drop(index) => drop(v1.remove(at(index))),
            Change::Swap(index) => {
                let first = index.index(real.len());
                prop_assume!(first + 1 < real.len());
                // The place of files without content does not matter.
                prop_assume!([first, first + 1].iter().all(|&i| !v1[real[i]].bytes.is_empty()));
                v1.swap(real[first], real[first + 1]);
            }
            Change::Insert(index) => v1.insert(at(index), content("more", "")),
            Change::PieceOfPadding(index) => v1.insert(at(index), padding(piece_nbytes)),
        }
        // If the list had no file, neither half would be read.
        prop_assume!(!v1.is_empty());
        // Padding before files that are all empty, or an additional piece at the end, shows in the number of pieces.
        let problem = Torrent::parse(&hybrid_of(&v1, &files, piece_nbytes)).unwrap_err().problem;
        prop_assert!(matches!(problem, Problem::Hybrid(_)), "{:?}", problem);
    }

    #[test]
    fn a_layer_with_any_bit_flipped_is_refused(nbytes in 16385..300_000usize, at in any::<Index>(), bit in 0..8u8) {
        let files = [content("a", noise(nbytes, 1))];
        let Bencode::Dictionary(mut entries) = layers(&files, 16384) else { unreachable!() };
        let Bencode::Bytes(digests) = &mut entries[0].1 else { unreachable!() };
        let at = at.index(digests.len());
        digests[at] ^= 1 << bit;
        let info = dictionary(v2_info("name", &files, 16384));
        let bytes = dictionary([("info", info), ("piece layers", Bencode::Dictionary(entries))]).write();
        let problem = Torrent::parse(&bytes).unwrap_err().problem;
        prop_assert_eq!(problem, Problem::LayerRoot { path: b"a".to_vec() });
    }

    /// Lengths beyond those of real files.
    #[test]
    fn lengths_never_overflow(lengths in prop::collection::vec(prop_oneof![0..1u64 << 20, 0..=u64::MAX >> 1], 1..6)) {
        let leaf = |nbytes: u64| {
            let keys = [("length", int(nbytes)), ("pieces root", text([7; 32]))];
            dictionary([("", dictionary(keys))])
        };
        let names = ["a", "b", "c", "d", "e", "f"];
        let tree = dictionary(names.into_iter().zip(lengths.iter().map(|&nbytes| leaf(nbytes))));
        let mut info = v2_info("name", &[], 1 << 32);
        info.retain(|(key, _)| *key != "file tree");
        info.push(("file tree", tree));
        let bytes = dictionary([("info", dictionary(info)), ("piece layers", dictionary([]))]).write();
        let total = lengths.iter().try_fold(0u64, |end, nbytes| {
            let end = if *nbytes == 0 { end } else { end.next_multiple_of(1 << 32) + nbytes };
            (end <= i64::MAX as u64).then_some(end)
        });
        match Torrent::parse(&bytes) {
            Ok(torrent) => {
                prop_assert!(total.is_some());
                prop_assert_eq!(torrent.unlayered().len(), lengths.iter().filter(|&&nbytes| nbytes > 1 << 32).count());
                prop_assert_eq!(torrent.total_nbytes(), lengths.iter().sum::<u64>());
            }
            Err(error) => match error.problem {
                Problem::TotalOverflow => prop_assert!(total.is_none()),
                Problem::Expansion { .. } => prop_assert!(lengths.iter().any(|&nbytes| nbytes > 1 << 50)),
                problem => prop_assert!(false, "{problem:?}"),
            },
        }
    }
}
