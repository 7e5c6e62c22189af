// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that change while a torrent is made of them: the torrent is of their state at the end, and there is none of a
//! file that never comes to rest.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::heard::heard;
use crate::maker::noise;
use hashloom_files::run::{Options, Progress};
use hashloom_maker::{Builder, CreateError, FileProblemKind};
use hashloom_torrent::{Version, verify};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

#[test]
fn a_torrent_is_made_of_what_the_files_are_in_the_end() {
    for version in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let b = folder.path().join("b");
        fs::write(&b, noise(1_000_001, 1)).unwrap();
        let overwrite = |bytes: &[u8]| {
            File::options().write(true).open(&b).unwrap().write_all_at(bytes, 20_000).unwrap();
        };
        let plan = Builder::new().version(version).piece_nbytes(16 << 10).plan(folder.path()).unwrap();
        let is_done = AtomicBool::new(false);
        let change = |progress: Progress| {
            if progress.nbytes > 500_000 && !is_done.swap(true, Ordering::Relaxed) {
                overwrite(&[0; 100]);
            }
        };
        let created = heard(&Options::new().threads(1), change, |options| plan.create(options)).unwrap();
        assert!(is_done.into_inner());
        assert!(verify(&created.torrent, folder.path(), &Options::new()).unwrap().is_complete(), "{version}");

        let counter = AtomicUsize::new(0);
        let change = |_: Progress| {
            let byte = counter.fetch_add(1, Ordering::Relaxed) as u8;
            overwrite(&[byte]);
        };
        let plan = Builder::new().version(version).piece_nbytes(16 << 10).plan(folder.path()).unwrap();
        match heard(&Options::new().threads(1), change, |options| plan.create(options)) {
            Err(CreateError::Files { problems, more: 0 }) => {
                assert!(matches!(problems[..], [ref problem] if problem.path.ends_with("b")), "{problems:?}");
                assert!(matches!(problems[0].kind, FileProblemKind::Changed), "{problems:?}");
            }
            other => panic!("{version}: {other:?}"),
        }
    }
}
