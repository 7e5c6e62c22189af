// SPDX-License-Identifier: MIT OR Apache-2.0

//! `Torrent::open` of paths that are not torrents: no wait, no endless reading, an error that names the path.

use std::fs::{self, File};
use std::path::Path;

use hashloom_files::paths::display;
use hashloom_torrent::{OpenError, OpenProblem, Torrent};

fn fault(path: &Path) -> OpenError {
    let error = Torrent::open(path).unwrap_err();
    assert_eq!(error.path, path);
    assert!(error.to_string().starts_with(&display(path)), "{error}");
    error
}

#[test]
fn what_is_not_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // Nobody writes to the pipe, and the device has no end.
        for path in [&fifo, Path::new("/dev/zero"), folder.path()] {
            assert!(matches!(fault(path).problem, OpenProblem::NotAFile), "{path:?}");
        }
    }
    assert!(matches!(fault(&folder.path().join("missing")).problem, OpenProblem::Io(_)));
}

#[test]
fn long_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    let file = File::create(&path).unwrap();
    for nbytes in [200 << 20, 1 << 34] {
        file.set_len(nbytes).unwrap();
        let error = fault(&path);
        assert!(matches!(error.problem, OpenProblem::Torrent(_)), "{error}");
        assert_eq!(nbytes == 1 << 34, error.to_string().contains("17179869184"), "{error}");
    }
    fs::write(&path, "").unwrap();
    assert!(matches!(fault(&path).problem, OpenProblem::Torrent(_)));
}
