// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hash trees through every kind of input: one thread and several, files, streams; also wrong proofs, files that
//! change, and callbacks. `test/trees.py` compares them with other programs', and has superblocks that say anything.
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::heard::heard;
use crate::rfc9162::{Model, Node};
use crc_fast::CrcAlgorithm::{Crc32Iscsi, Crc32IsoHdlc, Crc64Nvme};
use crc_fast::checksum;
use hashloom::{Algorithm, Hash, hash};
use hashloom_files::Source;
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_files::text::base64;
use hashloom_tree::cid::{PROFILES, cid};
use hashloom_tree::dmverity::{BadBlock, BlockFault, DmVerity, HashType};
use hashloom_tree::fsverity::FsVerity;
use hashloom_tree::rfc6962::{Prove, Tree, check_consistency, check_inclusion, leaf};
use hashloom_tree::s3::{self, Crc, Crcs};
use hashloom_tree::{HashFileFault, TreeError, bep52, commp};

use Algorithm::Sha256;

/// Bytes that differ from place to place.
fn content(nbytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(nbytes).collect()
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// A reader that gives a few bytes at a time, as pipes do.
struct Drips(io::Cursor<Vec<u8>>);

impl Read for Drips {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let nbytes = buffer.len().min(60_001);
        self.0.read(&mut buffer[..nbytes])
    }
}

/// Calls `hash` with the same bytes from every kind of source.
fn each_way<R: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    expected: R,
    hash: impl Fn(Source, &Options) -> Result<R, TreeError>,
) {
    let mut path = tempfile::NamedTempFile::new().unwrap();
    path.write_all(bytes).unwrap();
    // Its position is at its end.
    let file = Arc::new(path.reopen().unwrap());
    (&*file).seek(SeekFrom::End(0)).unwrap();
    let memory: Arc<[u8]> = bytes.into();
    for threads in [1, 2, 3, 7] {
        let options = Options::new().threads(threads);
        for source in [Source::from(&file), path.path().into(), Source::memory(memory.clone())] {
            let what = format!("{} bytes of {source:?}, {threads} threads", bytes.len());
            assert_eq!(hash(source, &options).unwrap(), expected, "{what}");
        }
    }
    let drips = Drips(io::Cursor::new(bytes.to_vec()));
    let found = hash(Source::reader(drips), &Options::new()).unwrap();
    assert_eq!(found, expected, "{} bytes of a stream", bytes.len());
}

/// `test/trees.py` compares with the program fsverity.
#[test]
fn fsverity_is_the_same_each_way() {
    for nbytes in [1, 1024, 33 * 1024 + 1, 1100 * 1024 - 1] {
        let data = content(nbytes);
        for algorithm in [Sha256, Algorithm::Sha512] {
            let parameters = FsVerity::new(algorithm).block_size(1024).unwrap().salt(b"pepper").unwrap();
            let sealed = parameters.digest(file_of(&data), &Options::new()).unwrap();
            assert_eq!((sealed.nbytes(), sealed.digest()), (nbytes as u64, hash(algorithm, sealed.descriptor())));
            each_way(&data, sealed, |input, options| parameters.digest(input, options));
        }
    }
    let empty = FsVerity::new(Sha256).digest(Source::reader(io::empty()), &Options::new()).unwrap();
    assert_eq!(empty.root().as_ref(), [0; 32]);
    assert_eq!(empty, FsVerity::new(Sha256).digest(file_of(b""), &Options::new()).unwrap());
    assert!(FsVerity::new(Algorithm::Sha1).digest(file_of(b""), &Options::new()).is_err());
}

#[test]
fn long_leaves_are_the_definition() {
    const MIB: usize = 1 << 20;
    let all = content(33 * MIB);
    for nbytes in [1, MIB - 1, MIB, MIB + 1, 3 * MIB, 17 * MIB + 5, 33 * MIB] {
        let data = all[..nbytes].to_vec();
        let parts: Vec<Hash> = data.chunks(5 * MIB + 1).map(|part| hash(Sha256, part)).collect();
        each_way(&data, parts, |input, options| Ok(s3::composite(input, Sha256, 5 * MIB as u64 + 1, options)?.parts));
    }
    // No two of these parts fit into the buffer of a stream.
    let data = all;
    let parts: Vec<Hash> = data.chunks(16 * MIB).map(|part| hash(Sha256, part)).collect();
    each_way(&data, parts, |input, options| Ok(s3::composite(input, Sha256, 16 * MIB as u64, options)?.parts));
}

/// The roots by ipfs-unixfs-importer 17.1.1 and fr32-sha2-256-trunc254-padded-binary-tree-multihash 3.3.0, both of npm.
/// `vectors/ipfs/roots.txt`, which `test/trees.py` reads, has other contents.
#[test]
fn roots_of_ipfs_and_filecoin_are_those_of_others() {
    type Root = fn(Source, &Options) -> Result<String, TreeError>;
    let functions: [Root; 4] = [
        |source, options| cid(source, PROFILES[0], options),
        |source, options| cid(source, PROFILES[1], options),
        |source, options| cid(source, PROFILES[2], options),
        |source, options| Ok(commp::commp(source, options)?.cid),
    ];
    let known = "17825797 bafybeihs3wtw73qnzkc232ojte7bv6y7hluy4gpon6m37ejemnr62u5u5m
        QmRPJoxWs62rVMaXvzLquN3bvcBfyKPqc6yUXUMUUbwVQ8 bafybeifj6tclerfqseektgx3y47fr63kiyhm5s3apr7cwme6j7jojwuose
        baga6ea4seaqjv4nbzzjo55tjjkkt3c63sulbdytlqdrjkpxnhpweqaabs4kfihy";
    let mut words = known.split_whitespace();
    let data = content(words.next().unwrap().parse().unwrap());
    for (function, root) in functions.into_iter().zip(words) {
        each_way(&data, root.to_owned(), function);
    }
}

#[test]
fn crcs_of_windows_and_parts_are_those_of_all_bytes() {
    const PART: usize = (5 << 20) + 1;
    let data = content(11 << 20);
    for (crc, algorithm, first) in
        [(Crc::Crc64Nvme, Crc64Nvme, 0), (Crc::Crc32, Crc32IsoHdlc, 4), (Crc::Crc32c, Crc32Iscsi, 4)]
    {
        let bytes = |data: &[u8]| checksum(algorithm, data).to_be_bytes()[first..].to_vec();
        let parts: Vec<Vec<u8>> = data.chunks(PART).map(bytes).collect();
        let composite = format!("{}-{}", base64(&bytes(&parts.concat())), parts.len());
        let parts = parts.iter().map(|part| base64(part)).collect();
        let whole = if crc == Crc::Crc64Nvme { base64(&bytes(&data)) } else { composite };
        let expected = Crcs { whole, parts };
        each_way(&data, expected, |source, options| s3::crcs(source, crc, Some(PART as u64), options));
    }
}

#[test]
fn a_files_pieces_root_is_that_of_its_torrent() {
    for count in [1, 2, 3, 16, 17, 100] {
        let data = content(count * 16384 - 1);
        let mut level: Vec<Hash> = data.chunks(16384).map(|block| hash(Sha256, block)).collect();
        let none = hash(Sha256, b"").as_ref().iter().map(|_| 0).collect::<Vec<u8>>();
        let mut level: Vec<Vec<u8>> = level.drain(..).map(|digest| digest.as_ref().to_vec()).collect();
        level.resize(count.next_power_of_two(), none);
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| hash(Sha256, &pair.concat()).as_ref().to_vec()).collect();
        }
        each_way(&data, Some(level[0].clone()), |input, options| {
            Ok(bep52::pieces_root(input, options)?.map(|root| root.as_ref().to_vec()))
        });
    }
}

fn bytes(nodes: &[Hash]) -> Vec<Node> {
    nodes.iter().map(|node| node.as_ref().to_vec()).collect()
}

fn model(leaves: &[Hash]) -> Model {
    Model { hash: |bytes| hash(Sha256, bytes).as_ref().to_vec(), leaves: bytes(leaves) }
}

fn mth(leaves: &[Hash]) -> Hash {
    Hash::new(Sha256, &model(leaves).root(0..leaves.len()))
}

fn entries(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|i| content(i % 37)).collect()
}

/// Spoils a proof in all ways; `is_right` must notice each.
fn spoil(nodes: &[Hash], is_right: impl Fn(&[Vec<u8>]) -> bool) {
    let nodes = bytes(nodes);
    assert!(is_right(&nodes));
    for i in 0..nodes.len() {
        let mut bad = nodes.clone();
        bad[i][i % 32] ^= 1;
        assert!(!is_right(&bad), "a bit changed");
        bad[i].pop();
        assert!(!is_right(&bad), "too short a node");
        let mut bad = nodes.clone();
        bad.remove(i);
        assert!(!is_right(&bad), "a node missing");
    }
    for i in 0..=nodes.len() {
        let mut bad = nodes.clone();
        bad.insert(i, vec![7; 32]);
        assert!(!is_right(&bad), "a node too many");
    }
    assert!(!is_right(&vec![vec![0; 32]; 1000]));
}

#[test]
fn proofs_are_the_definition_and_others_are_refused() {
    for count in (1..34).chain([63, 64, 65, 100]) {
        let entries = entries(count);
        let leaves: Vec<Hash> = entries.iter().map(|entry| leaf(Sha256, entry)).collect();
        let (model, root, size) = (model(&leaves), mth(&leaves), count as u64);
        let mut prove: Vec<Prove> = (0..=size).map(Prove::Inclusion).collect();
        prove.extend((0..=size + 1).map(Prove::Consistency));
        let mut tree = Tree::new(Sha256, &prove);
        tree.push_entries(&entries);
        let built = tree.finish();
        assert_eq!((built.size, built.root), (size, root));
        for (prove, proof) in prove.iter().zip(&built.proofs) {
            match *prove {
                Prove::Inclusion(index) if index < size => {
                    let proof = proof.as_ref().unwrap();
                    assert_eq!(bytes(&proof.nodes), model.path(index as usize, 0..count), "{prove:?} of {size}");
                    assert_eq!(proof.of, leaves[index as usize]);
                    let check = |leaf: &[u8], index, size, nodes: &[Vec<u8>], root: &[u8]| {
                        check_inclusion(Sha256, leaf, index, size, nodes, root).is_ok()
                    };
                    let nodes = bytes(&proof.nodes);
                    spoil(&proof.nodes, |nodes| check(proof.of.as_ref(), index, size, nodes, root.as_ref()));
                    assert!(!check(proof.of.as_ref(), size, size, &nodes, root.as_ref()));
                    assert!(!check(proof.of.as_ref(), index, size, &nodes, &[0; 32]));
                    assert!(!check(&[0; 32], index, size, &nodes, root.as_ref()));
                    assert!(!check(&[], index, size, &nodes, root.as_ref()));
                    assert!(!check(proof.of.as_ref(), u64::MAX, u64::MAX, &nodes, root.as_ref()));
                    assert!(!check(proof.of.as_ref(), u64::MAX - 1, u64::MAX, &nodes, root.as_ref()));
                }
                Prove::Consistency(size1) if (1..=size).contains(&size1) => {
                    let proof = proof.as_ref().unwrap();
                    let first = mth(&leaves[..size1 as usize]);
                    assert_eq!(
                        bytes(&proof.nodes),
                        model.subproof(size1 as usize, 0..count, true),
                        "{prove:?} of {size}"
                    );
                    assert_eq!(proof.of, first);
                    let check = |size1, root1: &[u8], size2, root2: &[u8], nodes: &[Vec<u8>]| {
                        check_consistency(Sha256, size1, root1, size2, root2, nodes).is_ok()
                    };
                    let nodes = bytes(&proof.nodes);
                    spoil(&proof.nodes, |nodes| check(size1, first.as_ref(), size, root.as_ref(), nodes));
                    assert!(!check(0, first.as_ref(), size, root.as_ref(), &nodes));
                    assert!(!check(size + 1, first.as_ref(), size, root.as_ref(), &nodes));
                    assert!(!check(size1, &[0; 32], size, root.as_ref(), &nodes));
                    assert!(!check(size1, first.as_ref(), size, &[0; 32], &nodes));
                    assert!(!check(size1, first.as_ref(), u64::MAX, root.as_ref(), &nodes));
                    assert!(!check(u64::MAX - 1, first.as_ref(), u64::MAX, root.as_ref(), &nodes));
                }
                _ => assert!(proof.is_err(), "{prove:?} of {size}"),
            }
        }
    }
}

#[test]
fn entries_come_from_anywhere() {
    let options = Options::new();
    let entries = entries(50);
    let mut tree = Tree::new(Sha256, &[]);
    tree.push_entries(&entries[..20]);
    tree.push_leaves(leaf(Sha256, &entries[20]).as_ref());
    tree.push_file(file_of(&entries[21]), &options).unwrap();
    tree.push_file(Source::reader(io::Cursor::new(entries[22].clone())), &options).unwrap();
    tree.push_lines(&mut &b"one\n\ntwo"[..], &options).unwrap();
    tree.push_blocks(file_of(b"abcdefgh"), 3, &options).unwrap();
    let all = entries[..23].iter().map(|entry| &entry[..]);
    let all = all.chain([&b"one"[..], b"", b"two", b"abc", b"def", b"gh"]);
    assert_eq!(tree.finish().root, mth(&all.map(|entry| leaf(Sha256, entry)).collect::<Vec<_>>()));
    // More entries than are hashed together, one by one and as lines.
    let entries: Vec<String> = (0..5000).map(|i| format!("entry {i}")).collect();
    let mut tree = Tree::new(Sha256, &[]);
    tree.push_entries(&entries);
    tree.push_lines(&mut entries.join("\n").as_bytes(), &options).unwrap();
    let leaves: Vec<Hash> = entries.iter().map(|entry| leaf(Sha256, entry.as_bytes())).collect();
    assert_eq!(tree.finish().root, mth(&[&leaves[..], &leaves].concat()));
    assert_eq!(Tree::new(Sha256, &[]).finish().root, hash(Sha256, b""));
    assert!(Tree::new(Sha256, &[]).push_blocks(file_of(b"abc"), 0, &options).is_err());
    // The leaf is longer than any file.
    let data = content(3_000_000);
    each_way(&data, leaf(Sha256, &data), |input, options| {
        let mut tree = Tree::new(Sha256, &[]);
        tree.push_file(input, options)?;
        Ok(tree.finish().root)
    });
    each_way(&data, mth(&data.chunks(1000).map(|chunk| leaf(Sha256, chunk)).collect::<Vec<_>>()), |input, options| {
        let mut tree = Tree::new(Sha256, &[]);
        tree.push_blocks(input, 1000, options)?;
        Ok(tree.finish().root)
    });
}

#[test]
fn each_damaged_block_of_a_verity_image_is_found() {
    // There are three levels: 600 blocks of data, then 38, 3 and 1 blocks of digests.
    let data = content(600 * 512);
    for hash_type in [HashType::Normal, HashType::ChromeOs] {
        let parameters = DmVerity::new().data_block_size(512).unwrap().hash_block_size(512).unwrap();
        let parameters = parameters.hash_type(hash_type).salt(b"salt").unwrap().uuid([9; 16]).hash_offset(512);
        let hashes = file_of(b"");
        let root = parameters.format(&file_of(&data), &hashes, &Options::new()).unwrap();
        let mut written = Vec::new();
        io::Seek::rewind(&mut &hashes).unwrap();
        (&hashes).read_to_end(&mut written).unwrap();
        assert_eq!(written.len(), 512 * (2 + 1 + 3 + 38));
        let read = DmVerity::read(&hashes, 512).unwrap();
        assert_eq!(read, parameters.clone().data_blocks(600));
        let check = |data: &[u8], hashes: &[u8]| {
            read.check(&file_of(data), &file_of(hashes), root.as_ref(), &Options::new()).unwrap()
        };
        assert!(check(&data, &written).is_good());
        for block in [0, 15, 16, 255, 256, 599] {
            let mut bad = data.clone();
            bad[block * 512 + 511] ^= 0x80;
            let checked = check(&bad, &written);
            assert_eq!((checked.hash_block_count, checked.data_block_count), (0, 1));
            let run = checked.data_blocks.first().unwrap();
            assert_eq!((run.start, run.end), (block as u64, block as u64 + 1));
        }
        for (block, level) in (2..44).zip([2].into_iter().chain([1; 3]).chain([0; 38])) {
            let mut bad = written.clone();
            bad[block * 512 + 3] ^= 1;
            let checked = check(&data, &bad);
            let expected = BadBlock { level, offset: block as u64 * 512, fault: BlockFault::Digest };
            assert_eq!(checked.hash_blocks[0], expected, "{hash_type:?}");
            assert!(!checked.is_good());
        }
        let short =
            read.check(&file_of(&data), &file_of(&written[..written.len() - 1]), root.as_ref(), &Options::new());
        assert!(matches!(short, Err(TreeError::HashFile(_))));
        assert!(read.check(&file_of(&data[1..]), &hashes, root.as_ref(), &Options::new()).is_err());
        assert!(read.check(&file_of(&data), &hashes, &root.as_ref()[1..], &Options::new()).is_err());
    }
}

/// The root hash is right, but a maker left something between the digests, where other programs want zeros.
#[test]
fn a_gap_that_is_not_zero_is_wrong() {
    let parameters = DmVerity::new().algorithm(Algorithm::Sha1).unwrap();
    let data = content(2 * 4096);
    let mut block = vec![0; 4096];
    for (slot, data) in block.chunks_mut(32).zip(data.chunks(4096)) {
        slot[..20].copy_from_slice(hashloom::hash(Algorithm::Sha1, data).as_ref());
    }
    let check = |block: &[u8]| {
        let root = hashloom::hash(Algorithm::Sha1, block);
        parameters.check(&file_of(&data), &file_of(block), root.as_ref(), &Options::new()).unwrap()
    };
    assert!(check(&block).is_good());
    for at in [20, 31, 52, 64, 4095] {
        let mut block = block.clone();
        block[at] = 1;
        let checked = check(&block);
        assert_eq!(checked.hash_blocks, [BadBlock { level: 0, offset: 0, fault: BlockFault::Spare }], "{at}");
        assert_eq!((checked.hash_block_count, checked.data_block_count), (1, 0), "{at}");
    }
}

#[test]
fn bytes_behind_the_last_block_are_told_of() {
    let data = [content(10 * 4096), vec![7; 100]].concat();
    let hashes = file_of(b"");
    let parameters = DmVerity::new().uuid([1; 16]);
    let root = parameters.format(&file_of(&data), &hashes, &Options::new()).unwrap();
    let checked = parameters.check(&file_of(&data), &hashes, root.as_ref(), &Options::new()).unwrap();
    assert!(checked.covered_is_good() && !checked.is_good(), "{checked:?}");
    assert_eq!((checked.covered_blocks, checked.uncovered_nbytes), (10, 100));
    // The hash file behind the data, in one file, is covered by the root hash.
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    std::fs::write(&image, &data[..10 * 4096]).unwrap();
    let open = || File::options().read(true).write(true).open(&image).unwrap();
    let parameters = parameters.data_blocks(10).hash_offset(10 * 4096);
    assert_eq!(parameters.format(&open(), &open(), &Options::new()).unwrap(), root);
    let check = || DmVerity::read(&open(), 10 * 4096).unwrap().check(&open(), &open(), root.as_ref(), &Options::new());
    assert!(check().unwrap().is_good());
    File::options().append(true).open(&image).unwrap().write_all(b"more").unwrap();
    assert_eq!(check().unwrap().uncovered_nbytes, 4);
}

/// The digests are read again after their blocks were compared with the root hash.
#[test]
fn a_hash_file_that_changes_meanwhile_is_an_error() {
    let data = content(600 * 4096);
    let (data, hashes) = (file_of(&data), tempfile::NamedTempFile::new().unwrap());
    let root = DmVerity::new().format(&data, hashes.as_file(), &Options::new()).unwrap();
    let other = File::options().write(true).open(hashes.path()).unwrap();
    let checked = heard(
        &Options::new().threads(1),
        |_| (&other).write_all(&[7]).unwrap(),
        |options| DmVerity::new().check(&data, hashes.as_file(), root.as_ref(), options),
    );
    assert!(matches!(checked, Err(TreeError::HashFile(HashFileFault::Changed))), "{checked:?}");
}

#[test]
fn progress_comes_to_the_end() {
    let data = content(10_000_000);
    let file = Arc::new(file_of(&data));
    for threads in [1, 4] {
        let (most, calls) = (AtomicU64::new(0), AtomicU64::new(0));
        let show = |progress: Progress| {
            most.fetch_max(progress.nbytes, Ordering::Relaxed);
            calls.fetch_add(1, Ordering::Relaxed);
        };
        let options = Options::new().threads(threads);
        for is_short in [true, false] {
            most.store(0, Ordering::Relaxed);
            heard(&options, show, |options| {
                if is_short {
                    FsVerity::new(Sha256).digest(&file, options).map(|_| ())
                } else {
                    s3::composite(&file, Sha256, 5 << 20, options).map(|_| ())
                }
            })
            .unwrap();
            assert_eq!(most.load(Ordering::Relaxed), data.len() as u64);
        }
        assert!(calls.load(Ordering::Relaxed) > 20);
    }
}

#[test]
fn cancelling_ends_it() {
    let file = Arc::new(file_of(&content(10_000_000)));
    for threads in [1, 4] {
        let stop = Cancel::new();
        let heard = stop.clone();
        let options = Options::new().threads(threads).cancel(&stop).progress(move |progress| {
            if progress.nbytes > 3_000_000 {
                heard.cancel();
            }
        });
        assert!(matches!(bep52::pieces_root(&file, &options), Err(TreeError::Cancelled)));
        assert!(matches!(commp::commp(&file, &options), Err(TreeError::Cancelled)));
        assert!(matches!(bep52::pieces_root(Source::reader(io::empty()), &options), Err(TreeError::Cancelled)));
    }
}

#[test]
fn a_file_that_changes_is_an_error() {
    type Root = fn(&Arc<File>, &Options) -> Result<bool, TreeError>;
    let by_pieces: Root = |file, options| Ok(bep52::pieces_root(file, options)?.is_some());
    let by_windows: Root = |file, options| Ok(commp::commp(file, options)?.padded_nbytes > 0);
    for (threads, root) in [(1, by_pieces), (4, by_pieces), (1, by_windows), (4, by_windows)] {
        for change in [|file: &File| file.set_len(5_000_000), |file: &File| file.set_len(12_000_000)] {
            let file = Arc::new(file_of(&content(10_000_000)));
            let changed = Mutex::new(false);
            let show = |_: Progress| {
                let mut changed = changed.lock().unwrap();
                if !*changed {
                    // The clock of some file systems ticks only every few milliseconds.
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    change(&file).unwrap();
                    *changed = true;
                }
            };
            let options = Options::new().threads(threads);
            let found = heard(&options, show, |options| root(&file, options));
            assert!(matches!(found, Err(TreeError::Changed)));
        }
    }
}

#[test]
fn a_callback_that_panics_ends_all_threads() {
    let file = Arc::new(file_of(&content(10_000_000)));
    let options = Options::new().threads(4).progress(|_| panic!("on purpose"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bep52::pieces_root(&file, &options))).is_err());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| commp::commp(&file, &options))).is_err());
}

#[test]
fn what_cannot_be_read_or_written_is_an_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let error = bep52::pieces_root(Source::reader(Broken), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "cannot be read from byte 0 on: broken");
    let error = commp::commp(Source::reader(io::repeat(7).take(3_000_000).chain(Broken)), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "cannot be read from byte 3000000 on: broken");
    // What was read of a line is no entry, and the tree can go on.
    let mut tree = Tree::new(Sha256, &[]);
    let error = tree.push_lines(&mut io::BufReader::new(b"one\ntw".chain(Broken)), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), "cannot be read from byte 4 on: broken");
    tree.push_lines(&mut &b"three"[..], &Options::new()).unwrap();
    assert_eq!(tree.finish().root, mth(&[leaf(Sha256, b"one"), leaf(Sha256, b"three")]));
    let data = Arc::new(file_of(&content(5_000_000)));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hashes"), "").unwrap();
    let read_only = File::open(folder.path().join("hashes")).unwrap();
    for threads in [1, 4] {
        let options = Options::new().threads(threads);
        let error = DmVerity::new().format(&data, &read_only, &options).unwrap_err();
        assert!(matches!(error, TreeError::Write(_)), "{error}");
        let error = FsVerity::new(Sha256).write_tree(&data, &read_only, &options).unwrap_err();
        assert!(matches!(error, TreeError::Write(_)), "{error}");
    }
}
