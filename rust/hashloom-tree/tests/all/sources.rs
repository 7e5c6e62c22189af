// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kinds of sources: the digest is the same from each, and nothing that a reader does gives a wrong one.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashloom::Algorithm::{self, Sha1, Sha256, Sha512};
use hashloom::{Hash, hash};
use hashloom_files::run::{Cancel, Options};
use hashloom_files::{FileError, Hashed, Method, Request, Source, hash_files};
use hashloom_tree::{TreeError, bep52};

const ALGORITHMS: [Algorithm; 3] = [Sha1, Sha256, Sha512];

/// A reader that gives at most `most` bytes at a time, and is interrupted before each.
struct Short {
    bytes: Cursor<Vec<u8>>,
    most: usize,
    is_interrupted: bool,
}

impl Short {
    fn of(bytes: &[u8], most: usize) -> Source {
        Source::reader(Short { bytes: Cursor::new(bytes.to_vec()), most, is_interrupted: false })
    }
}

impl Read for Short {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = self.most.min(into.len());
        self.bytes.read(&mut into[..most])
    }
}

/// A reader that is a function.
struct Function<F>(F);

impl<F: FnMut(&mut [u8]) -> io::Result<usize>> Read for Function<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (self.0)(into)
    }
}

fn function(read: impl FnMut(&mut [u8]) -> io::Result<usize> + Send + 'static) -> Source {
    Source::reader(Function(read))
}

fn run(sources: Vec<Source>, options: &Options) -> Vec<(Source, Result<Hashed, FileError>)> {
    let methods: Arc<[Method]> = ALGORITHMS.map(Method::from).into();
    let requests = sources.into_iter().map(|source| Request { source, methods: methods.clone(), tag: () });
    let mut results = Vec::new();
    hash_files(requests, options, |request, result| results.push((request.source, result)));
    results
}

fn one(source: Source) -> Result<Hashed, FileError> {
    run(vec![source], &Options::new()).pop().unwrap().1
}

#[test]
fn the_digest_is_the_same_from_each_kind_of_source() {
    let folder = tempfile::tempdir().unwrap();
    for nthreads in [1, 3] {
        let (mut sources, mut expected) = (Vec::new(), Vec::<Vec<Hash>>::new());
        for nbytes in [0, 1, 63, 32 << 10, (32 << 10) + 1, 256 << 10, (1 << 20) + 7] {
            let bytes: Vec<u8> = (0..nbytes).map(|i: u32| (i ^ i >> 8).wrapping_mul(31) as u8).collect();
            let path = folder.path().join(nbytes.to_string());
            fs::write(&path, &bytes).unwrap();
            // Two requests share a file, whose position does not matter and stays.
            let file = Arc::new(File::open(&path).unwrap());
            (&*file).seek(SeekFrom::Start(5)).unwrap();
            let before = sources.len();
            sources.extend([Source::from(&path), Source::from(&file), Source::from(&file)]);
            sources.extend([Source::memory(bytes.clone()), Short::of(&bytes, 1000), Short::of(&bytes, usize::MAX)]);
            let digests: Vec<Hash> = ALGORITHMS.iter().map(|&algorithm| hash(algorithm, &bytes)).collect();
            expected.resize(expected.len() + sources.len() - before, digests);
        }
        let options = Options::new().threads(nthreads);
        let results = run(sources, &options);
        assert_eq!(results.len(), expected.len());
        for ((source, result), expected) in results.iter().zip(&expected) {
            let hashed = result.as_ref().unwrap();
            assert_eq!(&hashed.digests, expected, "{source:?}, {nthreads} threads");
            assert_eq!(hashed.stamp.is_some(), matches!(source, Source::Path(_) | Source::File(_)));
            if let Source::File(file) = source {
                // A read at an offset moves the position on Windows.
                assert!(cfg!(windows) || (&**file).stream_position().unwrap() == 5);
            }
        }
    }
}

#[test]
fn many_small_messages_in_memory() {
    let texts: Vec<String> = (0..5000).map(|i| "x".repeat(i % 300)).collect();
    let results = run(texts.iter().cloned().map(Source::memory).collect(), &Options::new().threads(2));
    assert_eq!(results.len(), texts.len());
    for ((_, result), text) in results.iter().zip(&texts) {
        assert_eq!(result.as_ref().unwrap().digests[1], hash(Sha256, text.as_bytes()));
    }
}

#[test]
fn an_open_folder_or_a_file_opened_for_writing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    if let Ok(file) = File::open(folder.path()) {
        assert!(one(file.into()).is_err());
    }
    let file = File::create(folder.path().join("written")).unwrap();
    file.set_len(5).unwrap();
    assert!(one(file.into()).is_err());
}

#[test]
fn an_error_of_a_reader_is_the_error_of_its_message() {
    let results = run(
        vec![
            Source::reader(io::repeat(7).take(40_000).chain(Function(|_: &mut [u8]| Err(io::Error::other("broken"))))),
            // A reader without data yet cannot be waited for.
            function(|_| Err(io::ErrorKind::WouldBlock.into())),
            // A count that is larger than the buffer.
            function(|into| Ok(into.len() + 1)),
            function(|into| Ok(into.len() + (1 << 20))),
            Source::memory("abc"),
        ],
        &Options::new().threads(1),
    );
    let texts: Vec<String> = results
        .iter()
        .map(|(_, result)| result.as_ref().map_or_else(FileError::to_string, |_| "good".into()))
        .collect();
    assert_eq!(texts[0], "broken, after 40000 bytes");
    assert!(texts[1].contains("block"), "{texts:?}");
    assert_eq!(texts[2], "the reader counts more bytes than it was asked for");
    assert_eq!(texts[3], texts[2]);
    assert_eq!(texts[4], "good");
    let error = bep52::pieces_root(function(|into| Ok(into.len() + 1)), &Options::new()).unwrap_err();
    assert!(matches!(error, TreeError::Read { offset: 0, .. }), "{error}");
}

#[test]
fn a_panic_of_a_reader_comes_to_the_caller() {
    for nthreads in [1, 3] {
        let sources: Vec<Source> = (0..50)
            .map(|i| match i {
                20 => function(|_| panic!("on purpose")),
                _ => Source::memory("abc"),
            })
            .collect();
        let options = Options::new().threads(nthreads);
        let panic = catch_unwind(AssertUnwindSafe(|| run(sources, &options))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
    let source = function(|_| panic!("on purpose"));
    let panic = catch_unwind(AssertUnwindSafe(|| bep52::pieces_root(source, &Options::new()))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn a_reader_without_end_can_be_cancelled() {
    for is_interrupted in [false, true] {
        for nthreads in [1, 3] {
            let cancel = Cancel::new();
            let options = Options::new().threads(nthreads).cancel(&cancel);
            let endless = || {
                let (cancel, mut nreads) = (cancel.clone(), 0);
                function(move |into| {
                    nreads += 1;
                    if nreads == 100 {
                        cancel.cancel();
                    }
                    into.fill(7);
                    if is_interrupted { Err(io::ErrorKind::Interrupted.into()) } else { Ok(into.len()) }
                })
            };
            assert!(run(vec![endless()], &options).is_empty());
            assert!(matches!(bep52::pieces_root(endless(), &options), Err(TreeError::Cancelled)));
        }
    }
}
