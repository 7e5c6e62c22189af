// SPDX-License-Identifier: MIT OR Apache-2.0

//! Making torrents: the bytes equal those of an independent maker in this file, impossible torrents are refused, and a
//! file that changes while it is read never becomes part of a torrent.
#![cfg_attr(not(unix), allow(dead_code, unused_imports, unused_variables, reason = "some tests are for Unix only"))]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::heard::heard;
use crate::maker::{Content, content, dictionary, file_list, noise, padding, pieces, text, write_files};
use hashloom_files::run::{Cancel, Options, Progress};
use hashloom_files::walk::Filter;
use hashloom_maker::{Builder, CreateError, Created, FileProblemKind, Plan, Symlinks};
use hashloom_torrent::{PieceDigests, Torrent, Version, verify};
use proptest::prelude::*;

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

fn plan(builder: Builder, path: &Path) -> Result<Plan, String> {
    builder.plan(path).map_err(|error| error.to_string())
}

fn make(builder: Builder, path: &Path) -> Created {
    builder.plan(path).unwrap().create(&Options::new()).unwrap()
}

fn builder(version: Version) -> Builder {
    Builder::new().version(version).piece_nbytes(16 << 10)
}

fn without(builder: Builder, globs: &[&str]) -> Builder {
    builder.filter(Filter::new(&[], globs).unwrap())
}

/// The paths of a plan.
fn paths(plan: &Plan) -> Vec<String> {
    plan.files().map(|file| String::from_utf8(file.path.to_vec()).unwrap()).collect()
}

/// A torrent of a folder, made by the text of the standards. `files` are sorted by components; v1 alone has them by
/// whole paths, as mkbrr, mktorrent and transmission-create do.
fn expected(version: Version, name: &str, files: &[Content], piece_nbytes: usize) -> Vec<u8> {
    let padded: Vec<Content> = match version {
        Version::V1 => {
            let mut files = files.to_vec();
            files.sort_by(|a, b| a.path.cmp(&b.path));
            return crate::maker::folder_torrent(name, &files, piece_nbytes);
        }
        Version::V2 => return crate::maker::v2_torrent(name, files, piece_nbytes),
        // One file needs no padding. If there are several, the last one is padded too.
        Version::Hybrid if files.len() > 1 => files.iter().flat_map(|file| pad(file, piece_nbytes)).collect(),
        Version::Hybrid => files.to_vec(),
    };
    let mut info = crate::maker::v2_info(name, files, piece_nbytes);
    info.extend([("pieces", text(pieces(&padded, piece_nbytes))), ("files", file_list(&padded))]);
    dictionary([("info", dictionary(info)), ("piece layers", crate::maker::layers(files, piece_nbytes))]).write()
}

fn pad(file: &Content, piece_nbytes: usize) -> Vec<Content> {
    match file.bytes.len().next_multiple_of(piece_nbytes) - file.bytes.len() {
        0 => vec![file.clone()],
        missing => vec![file.clone(), padding(missing)],
    }
}

/// The files sorted by components, like BEP 52's tree.
fn sorted(mut files: Vec<Content>) -> Vec<Content> {
    files.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    files
}

fn files() -> Vec<Content> {
    sorted(vec![
        content("a/f", noise(70_000, 1)),
        content("a b", noise(5, 2)),
        content("a/e/deep", noise(16384, 3)),
        content("empty", ""),
        content("same", noise(70_000, 1)),
        content(".hidden", noise(100_000, 4)),
        content("Z", noise(16385, 5)),
        content("zz", ""),
    ])
}

#[test]
fn a_single_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ünï.bin");
    let bytes = noise(40_000, 7);
    fs::write(&path, &bytes).unwrap();
    for (version, by_maker) in VERSIONS.into_iter().zip(crate::maker::VERSIONS) {
        let (expected, _) = crate::maker::torrent(by_maker, "ünï.bin", &[content("ünï.bin", &bytes[..])], 16384);
        assert!(make(builder(version), &path).bytes == expected, "{version}");
    }
}

#[test]
fn settings_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "a").unwrap();
    let refused = |builder: Builder| plan(builder, folder.path()).unwrap_err();
    for url in ["", "tracker", "http://", "http:///x", "ftp://a", "http://a b", "udp://a\n", "magnet:?x"] {
        let error = refused(Builder::new().tier([url]));
        assert!(error.starts_with("the tracker \"") && error.contains("expected a URL of http"), "{error}");
    }
    assert!(refused(Builder::new().web_seed("udp://a")).contains("http, https or ftp"));
    for name in ["", ".", "..", "a/b", "a\0"] {
        assert!(refused(Builder::new().name(name)).contains("cannot be a file name"), "{name:?}");
    }
    for nbytes in [0, 1, 8192, 16383, 3 * 16384, 1 << 29, u64::MAX] {
        let error = refused(Builder::new().piece_nbytes(nbytes));
        assert!(error.contains("expected a power of two from 16 KiB to 256 MiB"), "{error}");
    }
    for nbytes in [0, 8192, 16385, (256 << 20) + 16384, u64::MAX] {
        let error = refused(builder(Version::V1).piece_nbytes(nbytes));
        assert!(error.contains("expected a multiple of 16 KiB from 16 KiB to 256 MiB"), "{error}");
    }
    let three = builder(Version::V1).piece_nbytes(3 * 16384).plan(folder.path()).unwrap();
    assert!(three.create(&Options::new()).is_ok());
    for glob in ["", " ", "!a", "a[", "{a"] {
        for filter in [Filter::new(&[], &[glob]), Filter::new(&[glob], &[])] {
            assert!(filter.unwrap_err().to_string().starts_with("the glob \""), "{glob}");
        }
    }
    let missing = Builder::new().plan(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, CreateError::Path { .. }), "{missing}");
    assert!(matches!(Builder::new().plan("/".as_ref()), Err(CreateError::NoName { .. })));
}

#[test]
fn names_come_from_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("content");
    write_files(&root, &[content("inner/a", "a")]);
    for (path, name) in
        [("", "content"), ("inner", "inner"), ("inner/", "inner"), ("inner/.", "inner"), ("inner/..", "content")]
    {
        assert_eq!(Builder::new().plan(&root.join(path)).unwrap().name(), name.as_bytes(), "{path}");
    }
}

#[test]
fn nothing_to_hash() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || plan(Builder::new(), folder.path()).unwrap_err();
    assert!(refused().ends_with(": there is no file here that would be part of the torrent"), "{}", refused());
    fs::create_dir_all(folder.path().join("an/empty/folder")).unwrap();
    assert!(refused().ends_with(": there is no file here that would be part of the torrent"), "{}", refused());
    fs::write(folder.path().join("a"), "").unwrap();
    assert!(refused().ends_with(": the file has no bytes, and no client takes a torrent without pieces"));
    fs::write(folder.path().join("b"), "").unwrap();
    assert!(refused().contains(": all 2 files have no bytes"), "{}", refused());
    fs::write(folder.path().join("c"), "c").unwrap();
    assert!(plan(without(Builder::new(), &["c"]), folder.path()).is_err());
    assert_eq!(paths(&Builder::new().plan(folder.path()).unwrap()), ["a", "b", "c"]);
}

#[test]
fn halves_that_would_be_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("x");
    write_files(&root, &[content("x", "x")]);
    for version in [Version::V2, Version::Hybrid] {
        assert!(matches!(builder(version).plan(&root), Err(CreateError::SameName { .. })), "{version}");
        assert!(builder(version).name("y").plan(&root).is_ok(), "{version}");
    }
    assert!(builder(Version::V1).plan(&root).is_ok());
    write_files(&root, &[content(".pad/3", "not zeros")]);
    assert!(matches!(builder(Version::Hybrid).plan(&root), Err(CreateError::PadFolder)));
    assert_eq!(paths(&without(builder(Version::Hybrid), &["/.pad"]).name("y").plan(&root).unwrap()), ["x"]);
    for version in [Version::V1, Version::V2] {
        assert_eq!(paths(&builder(version).plan(&root).unwrap()), [".pad/3", "x"], "{version}");
    }
}

#[test]
fn aligned_v1_like_another() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("content");
    write_files(&root, &files());
    let padded: Vec<Content> = files().iter().flat_map(|file| pad(file, 16384)).collect();
    let old = crate::maker::folder_torrent("content", &padded, 16384);
    let created = make(Builder::new().like(Arc::new(Torrent::parse(&old).unwrap())), &root);
    assert!(created.bytes == old);
    assert!(verify(&created.torrent, folder.path(), &Options::new()).unwrap().is_complete());
}

#[test]
fn globs() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.flac", "a.log", "cd1/b.flac", "cd1/b.log", "cd1/art/c.jpg", "cd2/d.flac", ".dot"];
    write_files(folder.path(), &names.map(|name| content(name, "x")));
    let found = |builder: Builder| paths(&builder.plan(folder.path()).unwrap());
    let cases: [(&[&str], &[&str], &[&str]); 9] = [
        (&[], &[], &[".dot", "a.flac", "a.log", "cd1/art/c.jpg", "cd1/b.flac", "cd1/b.log", "cd2/d.flac"]),
        (&["*.flac"], &[], &["a.flac", "cd1/b.flac", "cd2/d.flac"]),
        (&["*.flac", "*.jpg"], &["cd2"], &["a.flac", "cd1/art/c.jpg", "cd1/b.flac"]),
        (&["cd1/**"], &["*.log"], &["cd1/art/c.jpg", "cd1/b.flac"]),
        (&["/*.flac"], &[], &["a.flac"]),
        (&[], &["cd1/", ".*"], &["a.flac", "a.log", "cd2/d.flac"]),
        (&[], &["cd*/*.{flac,log}"], &[".dot", "a.flac", "a.log", "cd1/art/c.jpg"]),
        (&["*.flac"], &["*.flac", "nothing"], &[]),
        (&["*"], &["[ac]*"], &[".dot"]),
    ];
    for (include, exclude, expected) in cases {
        let builder = Builder::new().filter(Filter::new(include, exclude).unwrap());
        match expected {
            [] => assert!(matches!(builder.plan(folder.path()), Err(CreateError::Nothing { empty: 0, .. }))),
            _ => assert_eq!(found(builder), expected, "{include:?} {exclude:?}"),
        }
    }
    // Lengths restrict files, alone and beside globs.
    write_files(folder.path(), &[content("cd1/long.flac", "0123456789")]);
    let lengths = |filter: Filter, nbytes| found(Builder::new().filter(filter.lengths(nbytes).unwrap()));
    assert_eq!(lengths(Filter::default(), 2..=u64::MAX), ["cd1/long.flac"]);
    assert_eq!(lengths(Filter::new(&["*.flac"], &["cd2"]).unwrap(), 0..=9), ["a.flac", "cd1/b.flac"]);
    fs::remove_file(folder.path().join("cd1/long.flac")).unwrap();
    // A glob has no comments.
    assert!(Builder::new().filter(Filter::new(&["#a"], &[]).unwrap()).plan(folder.path()).is_err());
}

/// The globs apply to a file given as PATH as they would in a folder.
#[test]
fn globs_and_a_file_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[content("cd1/a.flac", "x")]);
    let path = folder.path().join("cd1/a.flac");
    let cases: [(&[&str], &[&str], bool); 10] = [
        (&[], &[], true),
        (&[], &["*.log"], true),
        (&[], &["*.flac"], false),
        (&[], &["/a.*"], false),
        (&[], &["cd1"], true),
        (&["*.flac"], &[], true),
        (&["/a.flac"], &[], true),
        (&["*.log"], &[], false),
        (&["*.log", "a*"], &[], true),
        (&["*.flac"], &["a*"], false),
    ];
    for (nbytes, is_found) in [(0..=0, false), (1..=1, true), (2..=9, false)] {
        let builder = Builder::new().filter(Filter::default().lengths(nbytes).unwrap());
        assert_eq!(builder.plan(&path).is_ok(), is_found);
    }
    for (include, exclude, is_found) in cases {
        let builder = Builder::new().filter(Filter::new(include, exclude).unwrap());
        match builder.plan(&path) {
            Ok(plan) => assert!(is_found && plan.nbytes() == 1, "{include:?} {exclude:?}"),
            Err(error) => {
                assert!(!is_found, "{include:?} {exclude:?}: {error}");
                assert!(matches!(error, CreateError::Nothing { empty: 0, .. }), "{error:?}");
            }
        }
    }
}

#[test]
fn too_large_for_any_parser() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = plan(builder(Version::V1), &path).unwrap_err();
    assert!(error.contains("1 files in 67108864 pieces of 16 KiB make a torrent of more than 256 MiB"), "{error}");
    let plan = Builder::new().plan(&path).unwrap();
    assert_eq!((plan.piece_nbytes(), plan.piece_count()), (16 << 20, 1 << 16));
}

#[test]
fn more_than_32_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len((4 << 30) + 5).unwrap();
    for version in VERSIONS {
        let torrent = make(builder(version).piece_nbytes(16 << 20), &path).torrent;
        assert_eq!((torrent.total_nbytes(), torrent.piece_count()), ((4 << 30) + 5, 257), "{version}");
        let v1 = (version != Version::V2).then(|| crate::maker::sha1(&[0; 5]));
        assert_eq!(torrent.piece_digest(256), v1.as_ref().map(|digest| &digest[..]), "{version}");
        let v2 = (version != Version::V1).then(|| crate::maker::merkle_root(&[0; 5], 10));
        assert_eq!(torrent.piece_root(256), v2.as_ref().map(|root| &root[..]), "{version}");
        assert!(verify(&torrent, &path, &Options::new()).unwrap().is_complete(), "{version}");
    }
}

#[test]
fn as_deep_as_parsers_follow() {
    let folder = tempfile::tempdir().unwrap();
    let path = |components: usize| vec!["d"; components].join("/");
    write_files(folder.path(), &[content(&path(96), "x")]);
    for version in VERSIONS {
        let _ = make(builder(version).name("deep"), folder.path());
    }
    fs::remove_dir_all(folder.path().join("d")).unwrap();
    write_files(folder.path(), &[content(&path(97), "x")]);
    let error = plan(builder(Version::V2), folder.path()).unwrap_err();
    assert!(error.contains("more than 95 folders"), "{error}");
}

#[test]
fn progress_and_cancelling() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &files());
    for version in VERSIONS {
        let plan = builder(version).name("c").plan(folder.path()).unwrap();
        let seen = Mutex::new(Vec::new());
        let show = |progress: Progress| seen.lock().unwrap().push((progress.nbytes, progress.total_nbytes.unwrap()));
        let _ = heard(&Options::new(), show, |options| plan.create(options)).unwrap();
        let seen = seen.into_inner().unwrap();
        assert!(seen.iter().all(|&(done, total)| 0 < done && done <= total), "{version}");
        assert!(seen.iter().map(|(done, _)| *done).max() >= Some(plan.nbytes()), "{version}");
        let stop = Cancel::new();
        let cancel = stop.clone();
        // One thread has at most 16 of the pieces in its lanes when it sees the flag.
        let options = Options::new().progress(move |_| cancel.cancel()).cancel(&stop).threads(1);
        let error = plan.create(&options).unwrap_err();
        assert!(matches!(error, CreateError::Cancelled), "{version}: {error}");
    }
}

/// Calls `change` when the first bytes have been read, and returns the problems found.
fn changed(folder: &Path, change: impl Fn() + Sync) -> Vec<(String, FileProblemKind)> {
    let plan = builder(Version::Hybrid).name("c").plan(folder).unwrap();
    let once = AtomicBool::new(false);
    let hook = |_: Progress| {
        if !once.swap(true, Ordering::Relaxed) {
            change();
        }
    };
    match heard(&Options::new(), hook, |options| plan.create(options)) {
        Err(CreateError::Files { problems, more: 0 }) => {
            problems.into_iter().map(|problem| (problem.path.to_string_lossy().into_owned(), problem.kind)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_change_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = (folder.path().join("a"), folder.path().join("b"));
    let reset = || {
        let _ = fs::remove_dir(&last);
        fs::write(&first, noise(3 << 20, 1)).unwrap();
        fs::write(&last, noise(1 << 20, 2)).unwrap();
    };
    let append = |path: &Path| {
        use std::io::Write;
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap();
    };
    let truncate = |path: &Path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(10).unwrap();
    let other = folder.path().join("a");
    type Change<'a> = Box<dyn Fn() + Sync + 'a>;
    let changes: [(&str, &Path, Change); 5] = [
        ("truncated", &first, Box::new(|| truncate(&first))),
        ("truncated later", &last, Box::new(|| truncate(&last))),
        ("longer", &other, Box::new(|| append(&first))),
        ("removed", &last, Box::new(|| fs::remove_file(&last).unwrap())),
        (
            "another folder",
            &last,
            Box::new(|| {
                fs::remove_file(&last).unwrap();
                fs::create_dir(&last).unwrap();
            }),
        ),
    ];
    for (what, path, change) in &changes {
        // Windows may keep the name of an open file that is removed until all handles are closed.
        if cfg!(windows) && **path == *last && *what != "truncated later" {
            continue;
        }
        reset();
        let found = changed(folder.path(), change);
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        assert_eq!(found[0].0, path.to_string_lossy(), "{what}");
        assert!(matches!(found[0].1, FileProblemKind::Changed), "{what}: {found:?}");
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn problem(builder: Builder, folder: &Path) -> String {
        let error = plan(builder, folder).unwrap_err();
        error.replace(&format!("{}/", folder.display()), "")
    }

    #[test]
    fn links() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("content");
        write_files(outer.path(), &[content("outside", noise(9, 1))]);
        write_files(&folder, &[content("file", noise(20_000, 2)), content("folder/inner", noise(7, 3))]);
        symlink("file", folder.join("to file")).unwrap();
        symlink("../file", folder.join("folder/up")).unwrap();
        symlink("folder", folder.join("to folder")).unwrap();
        symlink("to folder/../folder/inner", folder.join("winding")).unwrap();
        let links = |links| Builder::new().piece_nbytes(16 << 10).symlinks(links);

        let followed = links(Symlinks::Follow).plan(&folder).unwrap();
        let all = ["file", "folder/inner", "folder/up", "to file", "to folder/inner", "to folder/up", "winding"];
        assert_eq!(paths(&followed), all);
        assert_eq!(followed.nbytes(), 4 * 20_000 + 3 * 7);
        let copied: Vec<Content> = followed
            .files()
            .map(|file| {
                let path = std::str::from_utf8(file.path).unwrap();
                content(path, fs::read(folder.join(path)).unwrap())
            })
            .collect();
        let created = followed.create(&Options::new()).unwrap();
        assert!(created.bytes == expected(Version::Hybrid, "content", &copied, 16384));

        assert_eq!(paths(&links(Symlinks::Skip).plan(&folder).unwrap()), ["file", "folder/inner"]);
        let refused = problem(links(Symlinks::Refuse), &folder);
        let link = "this is a symbolic link. Exclude it, or follow or skip links";
        let named = ["folder/up", "to file", "to folder", "winding"].map(|name| format!("{name}: {link}"));
        assert_eq!(refused, named.join("\n"));

        symlink("../outside", folder.join("out")).unwrap();
        symlink(outer.path().join("outside"), folder.join("absolute")).unwrap();
        let followed = links(Symlinks::Follow).plan(&folder).unwrap();
        assert!(paths(&followed).contains(&"out".to_owned()) && followed.create(&Options::new()).is_ok());
        fs::remove_file(folder.join("out")).unwrap();
        fs::remove_file(folder.join("absolute")).unwrap();

        symlink("nowhere", folder.join("dangling")).unwrap();
        assert_eq!(
            problem(links(Symlinks::Follow), &folder),
            "dangling: this symbolic link leads nowhere. Exclude it, or skip links"
        );
        assert!(without(links(Symlinks::Follow), &["dangling"]).plan(&folder).is_ok());
        fs::remove_file(folder.join("dangling")).unwrap();

        symlink(".", folder.join("folder/loop")).unwrap();
        let error = problem(links(Symlinks::Follow), &folder);
        assert!(error.starts_with("folder/loop: this symbolic link leads to a folder that it lies in"), "{error}");
    }

    #[test]
    fn the_path_itself_may_be_a_link() {
        let outer = tempfile::tempdir().unwrap();
        write_files(&outer.path().join("content"), &files());
        symlink("content", outer.path().join("link")).unwrap();
        for links in [Symlinks::Follow, Symlinks::Skip, Symlinks::Refuse] {
            let made = make(Builder::new().piece_nbytes(16384).symlinks(links), &outer.path().join("link"));
            assert!(made.bytes == expected(Version::Hybrid, "link", &files(), 16384), "{links:?}");
        }
    }

    #[test]
    fn executables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        fs::write(&path, "#!").unwrap();
        fs::write(folder.path().join("zzz"), "").unwrap();
        let plain = make(builder(Version::Hybrid).name("c"), folder.path());
        let plain_file = make(builder(Version::Hybrid), &path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let marked = make(builder(Version::Hybrid).name("c"), folder.path());
        let has = |made: &Created, part: &[u8]| made.bytes.windows(part.len()).any(|window| window == part);
        assert!(has(&marked, b"3:rund0:d4:attr1:x6:lengthi2e11:pieces root32:"));
        assert!(has(&marked, b"ld4:attr1:x6:lengthi2e4:pathl3:runee"));
        let marked_file = make(builder(Version::Hybrid), &path);
        assert!(has(&marked_file, b"4:infod4:attr1:x9:file treed3:rund0:d4:attr1:x6:lengthi2e"));
        let unmarked = make(builder(Version::Hybrid).name("c").executable(false), folder.path());
        assert_eq!(unmarked.bytes, plain.bytes);
        assert_eq!(make(builder(Version::Hybrid).executable(false), &path).bytes, plain_file.bytes);
    }

    #[test]
    fn what_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        symlink("/dev/null", folder.path().join("null")).unwrap();
        assert_eq!(
            problem(Builder::new(), folder.path()),
            "fifo: expected a file or folder, found a FIFO. Exclude it\n\
             null: expected a file or folder, found a device. Exclude it\n\
             socket: expected a file or folder, found a socket. Exclude it"
        );
        let rest = without(Builder::new(), &["fifo", "socket"]).symlinks(Symlinks::Skip);
        assert_eq!(paths(&rest.plan(folder.path()).unwrap()), ["a"]);
        assert!(plan(Builder::new(), &fifo).unwrap_err().contains("found a FIFO"));
        assert!(plan(Builder::new(), "/dev/zero".as_ref()).unwrap_err().contains("found a device"));
    }

    #[test]
    fn names_that_are_not_utf8() {
        let folder = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"caf\xe9");
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("\x1b[31m"), "x").unwrap();
        let made = make(builder(Version::V1).name("c"), folder.path());
        let torrent = made.torrent;
        assert_eq!(torrent.file(0).path, b"caf\xe9/\x1b[31m");
        assert!(verify(&torrent, folder.path(), &Options::new()).unwrap().is_complete());
        for version in [Version::V2, Version::Hybrid] {
            let error = problem(builder(version), folder.path());
            assert!(error.starts_with(r"caf\xe9/\x1b[31m: this name is not UTF-8, as v2 wants it."), "{error}");
            assert!(problem(builder(version), &folder.path().join(name)).contains(r"caf\xe9: this name is not UTF-8"));
        }
        assert_eq!(builder(Version::V1).plan(&folder.path().join(name)).unwrap().name(), b"caf\xe9");
    }
}

/// Paths of up to three components from a few names, which collide often; if they do, the file stays and the folder
/// goes.
fn trees() -> impl Strategy<Value = Vec<Content>> {
    let name = prop::sample::select(vec!["a", "b", "a b", "a-", "ä", ".a", "A", "zz"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let length = prop_oneof![
        Just(0),
        1..100usize,
        (0..5usize, 0..3usize).prop_map(|(blocks, more)| (blocks * 16384 + more).saturating_sub(1)),
        0..300_000usize
    ];
    prop::collection::vec((path, length, any::<u64>()), 1..12).prop_map(|files| {
        let mut kept: Vec<Content> = Vec::new();
        for (path, nbytes, seed) in files {
            let inside = |inner: &str, outer: &str| inner.starts_with(&format!("{outer}/")) || inner == outer;
            if !kept.iter().any(|file| inside(&path, &file.path) || inside(&file.path, &path)) {
                kept.push(content(&path, noise(nbytes, seed)));
            }
        }
        sorted(kept)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(windows, ignore = "no two names differ only in case")]
    fn random_trees(files in trees(), power in 14u32..19) {
        prop_assume!(files.iter().any(|file| !file.bytes.is_empty()));
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("random");
        write_files(&root, &files);
        let piece_nbytes = 1 << power;
        for version in VERSIONS {
            let created = make(builder(version).piece_nbytes(piece_nbytes), &root);
            prop_assert!(created.bytes == expected(version, "random", &files, piece_nbytes as usize), "{}", version);
            prop_assert!(verify(&created.torrent, folder.path(), &Options::new()).unwrap().is_complete());
        }
    }
}

#[test]
fn a_plan_can_be_made_twice() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &files());
    let plan = builder(Version::Hybrid).name("c").plan(folder.path()).unwrap();
    let count = Cell::new(0);
    let bytes = || {
        count.set(count.get() + 1);
        plan.create(&Options::new()).unwrap().bytes
    };
    assert_eq!(bytes(), bytes());
    fs::write(folder.path().join("empty"), "no longer").unwrap();
    assert!(matches!(plan.create(&Options::new()), Err(CreateError::Files { .. })));
}

/// The torrent of files in memory.
fn draft(builder: Builder, folder: Option<&str>, files: &[Content]) -> Created {
    let listed = files.iter().rev().map(|file| (&file.path, file.bytes.len() as u64));
    let draft = builder.draft(folder, listed).unwrap();
    let mut whole = Vec::new();
    for (path, offset, nbytes, attributes) in draft.files() {
        whole.resize(offset as usize, 0); // the gaps of v2
        let of = |file: &&Content| folder.is_none() || file.path.as_bytes() == path;
        let bytes = files.iter().find(of).map(|file| &file.bytes[..]).filter(|_| !attributes.padding);
        whole.extend_from_slice(bytes.unwrap_or(&vec![0; nbytes as usize]));
    }
    let digests: Vec<PieceDigests> = (0..draft.piece_count())
        .flat_map(|piece| {
            let mut hashed = draft.pieces(&[piece]);
            let start = piece * draft.piece_nbytes() as usize;
            // In v2 a piece ends with its file.
            let ends = draft.files().map(|(_, offset, nbytes, _)| (offset + nbytes) as usize);
            let of_file = ends.filter(|&end| end > start && draft.version() == Version::V2).min();
            let end = (start + draft.piece_nbytes() as usize).min(of_file.unwrap_or(whole.len()));
            hashed.update(&[&whole[start..start + 1]]);
            hashed.update(&[&whole[start + 1..end]]);
            hashed.digests()
        })
        .collect();
    assert!(matches!(draft.finish(&digests[1..]), Err(CreateError::Digests { .. })));
    assert!(matches!(draft.finish(&[&digests[..], &digests[..1]].concat()), Err(CreateError::Digests { .. })));
    draft.finish(&digests).unwrap()
}

#[test]
fn drafts_are_the_torrents_of_the_same_files() {
    let files = [
        content("a", noise(100_000, 1)),
        content("b/c", noise(16 << 10, 2)),
        content("b/d", Vec::new()),
        content("b-", noise(300_001, 3)),
        content("e", noise(3, 4)),
    ];
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    write_files(&top, &files);
    for version in VERSIONS {
        let builders = [
            Builder::new().version(version),
            builder(version).piece_nbytes(64 << 10).name("other").private(true).tier(["udp://a.example:1"]),
        ];
        for builder in builders {
            let meant = make(builder.clone(), &top);
            assert_eq!(draft(builder.clone(), Some("top"), &files).bytes, meant.bytes, "{version}");
            let meant = make(builder.clone(), &top.join("a"));
            assert_eq!(draft(builder, None, &files[..1]).bytes, meant.bytes, "{version}");
        }
        assert_eq!(draft(builder(version), Some("top"), &files).bytes, expected(version, "top", &files, 16 << 10));
    }
}

#[test]
fn drafts_of_bad_paths() {
    let deep = "d/".repeat(96) + "a";
    for path in ["", "/", "/a", "a/", "a//b", ".", "./a", "../a", "a/..", "a\0", &deep] {
        let error = Builder::new().draft(Some("top"), [(path, 1)]).unwrap_err();
        assert!(matches!(error, CreateError::Files { .. }), "{path}: {error}");
    }
    for twice in [["a", "a"], ["a", "a/b"], ["a/b", "a/b/c"]] {
        let error = Builder::new().draft(Some("top"), twice.map(|path| (path, 1))).unwrap_err();
        assert!(error.to_string().contains("is given twice"), "{error}");
    }
    assert_eq!(Builder::new().draft(Some("top"), [("a", 1), ("a-", 1), ("a.b", 1)]).unwrap().piece_count(), 3);
    assert!(matches!(Builder::new().draft(None, [("a", 1), ("b", 1)]), Err(CreateError::NoName { .. })));
    assert!(matches!(Builder::new().draft(None, [("a/b", 1)]), Err(CreateError::Files { .. })));
    for name in ["", ".", "..", "a/b", "a\0b"] {
        assert!(matches!(Builder::new().draft(Some(name), [("a", 1)]), Err(CreateError::BadName { .. })), "{name}");
    }
    let nothing = Builder::new().draft::<&str>(Some("top"), []);
    assert!(matches!(nothing, Err(CreateError::Nothing { .. })));
    assert!(matches!(Builder::new().draft(None, [("a", 0)]), Err(CreateError::Nothing { empty: 1, .. })));
    let huge = Builder::new().draft(Some("top"), [("a", u64::MAX), ("b", 1)]);
    assert!(matches!(huge, Err(CreateError::TotalOverflow)));
    let long = Builder::new().draft(Some("top"), [("a", i64::MAX as u64 - (1 << 30))]);
    assert!(matches!(long, Err(CreateError::TooManyPieces { .. })), "{long:?}");
}
