// SPDX-License-Identifier: MIT OR Apache-2.0

//! Uses each API of hashloom's crates once, and checks the results against constants that other programs printed.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex};

use hashloom::kernels::{IsaSet, kernels};
use hashloom::{Algorithm, Digest, Hash, Hasher, Hmac, HmacKey, Sha256, hash, hash_many, hash_rows, hmac_many};
use hashloom_files::run::{Cancel, Options};
use hashloom_files::state::State;
use hashloom_files::walk::Walk;
use hashloom_files::{Request, Source, hash_files, results};
use hashloom_list::manifest::{Comparison, Reader, Scan, Status, Writer};
use hashloom_list::{Line, Parser, Writer as ListWriter};
use hashloom_torrent::{Builder, Check, PieceState, Torrent, Version, verify, verify_pieces};
use hashloom_tree::{bep52, fsverity::FsVerity, glacier, s3};

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // printf abc | sha256sum

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("content");
    fs::create_dir(&path)?;
    fs::write(path.join("a"), "abc")?;
    fs::write(path.join("b"), vec![7; 100_000])?;
    messages()?;
    files(&path)?;
    lists()?;
    trees(&path)?;
    torrents(&path, folder.path())?;
    manifests(&path, folder.path())?;
    // The crate that once could not be had beside hashloom.
    assert_eq!(ignore::WalkBuilder::new(&path).build().count(), 3);
    println!("every call returned what was expected");
    Ok(())
}

fn messages() -> Result<(), Box<dyn Error>> {
    let abc: Hash = ABC.parse()?;
    let mut digests = [0; 2 * 32];
    hash_many(Algorithm::Sha256, &["abc", ""], &mut digests);
    assert_eq!(abc.as_ref(), &digests[..32]);
    hash_rows(Algorithm::Sha256, b"abcabc", 3, 3, 2, &mut digests);
    assert_eq!(digests[..32], digests[32..]);
    assert_eq!(Sha256::digest(b"abc")[..], digests[..32]);
    let mut hasher = Hasher::new(Algorithm::Sha256);
    hasher.update(b"abc");
    assert_eq!(hasher.finalize(), abc);

    let key = HmacKey::new(Algorithm::Sha256, b"key");
    let mut tags = [0; 2 * 32];
    hmac_many(&key, &["abc", ""], &mut tags);
    let mut mac = Hmac::new(&key);
    mac.update(b"abc");
    mac.verify(&tags[..32])?;
    assert!(kernels().count() > 0 && IsaSet::available().names().count() > 0);
    Ok(())
}

fn files(path: &Path) -> Result<(), Box<dyn Error>> {
    let sources = [
        Source::from(path.join("a")),
        Source::File(Arc::new(File::open(path.join("a"))?)),
        Source::reader(&b"abc"[..]),
        Source::memory("abc"),
    ];
    let requests = sources.map(|source| Request::digest(source, Algorithm::Sha256));
    for (_, hashed) in results(requests.into_iter(), &Options::new().threads(2))? {
        assert_eq!(hashed?.digests[0].to_string(), ABC);
    }
    let cancel = Cancel::new();
    cancel.cancel();
    let requests = [Request::digest(path.join("a"), Algorithm::Sha1)].into_iter();
    assert!(hash_files(requests, &Options::new().cancel(&cancel), |_, _| ()).cancelled);
    assert_eq!(Walk::new(path).files().collect::<Result<Vec<_>, _>>()?.len(), 2);
    Ok(())
}

fn lists() -> Result<(), Box<dyn Error>> {
    let mut line = Vec::new();
    ListWriter::bsd().write(&mut line, &hash(Algorithm::Sha256, b"abc"), Algorithm::Sha256, b"a");
    assert_eq!(String::from_utf8(line.clone())?, format!("SHA256 (a) = {ABC}\n"));
    let Line::Entry(entry) = Parser::new().parse(line.trim_ascii_end()) else { panic!("not an entry") };
    assert_eq!(&*entry.name, b"a");
    Ok(())
}

fn trees(path: &Path) -> Result<(), Box<dyn Error>> {
    let options = Options::new();
    let source = || Source::from(path.join("a"));
    // fsverity digest a
    let digest = FsVerity::new(Algorithm::Sha256).digest(source(), &options)?;
    assert_eq!(digest.nbytes(), 3);
    assert_eq!(glacier::tree_hash(source(), &options)?.to_string(), ABC);
    assert!(s3::composite(source(), Algorithm::Md5, 8 << 20, &options)?.to_string().ends_with("-1"));
    assert!(bep52::pieces_root(source(), &options)?.is_some());
    Ok(())
}

fn torrents(path: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let created = Builder::new().version(Version::Hybrid).plan(path)?.create(&Options::new())?;
    let file = folder.join("content.torrent");
    fs::write(&file, &created.bytes)?;
    let torrent = Arc::new(Torrent::open(&file)?);
    assert!(verify(&torrent, folder, &Options::new())?.is_complete());
    fs::write(path.join("b"), vec![8; 100_000])?;
    let bad = Mutex::new(0);
    verify_pieces(
        [Check::new(torrent.clone(), folder)],
        &Options::new(),
        |_, _, state, _| *bad.lock().unwrap() += u64::from(state == PieceState::Bad),
        |_, report| assert!(!report.unwrap().is_complete()),
    );
    assert_eq!(*bad.lock().unwrap(), 7);
    Ok(())
}

fn manifests(path: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let scan = |state: Option<State>| -> Result<Vec<u8>, Box<dyn Error>> {
        let mut writer = Writer::new(Vec::new(), &[Algorithm::Sha256])?;
        let mut scan = Scan::new(path).algorithms(&[Algorithm::Sha256]);
        if let Some(state) = state {
            scan = scan.state(state);
        }
        scan.run(&Options::new(), |found| writer.write(&found.entry))?;
        Ok(writer.finish()?)
    };
    let old = scan(Some(State::at(&folder.join("state"), &Scan::subject(&[Algorithm::Sha256]))?))?;
    fs::rename(path.join("a"), path.join("c"))?;
    let new = scan(None)?;
    let algorithms = [Algorithm::Sha256];
    let mut comparison = Comparison::new(Reader::new(&old[..])?, &algorithms, &algorithms).ok_or("no algorithm")?;
    for entry in Reader::new(&new[..])? {
        comparison.found(entry?, |difference| panic!("{difference:?}"))?;
    }
    let mut moved = 0;
    comparison.finish(|difference| moved += u64::from(difference.status == Status::Moved))?;
    assert_eq!(moved, 1);
    Ok(())
}
