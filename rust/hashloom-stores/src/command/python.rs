// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lists of a Python environment: the RECORD of each package that is installed there.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hashloom_frame::text::failed;
use hashloom_list::command::lines;

use super::audit::some;

/// Finds the RECORD of each package of an environment, or of all environments below a folder. Returns also what these
/// do not cover. Links are not followed: lib64 is lib.
pub fn records(root: &Path) -> Result<(Vec<PathBuf>, Vec<String>), String> {
    let (mut lists, mut without, mut nwithout_digest) = (Vec::new(), Vec::new(), 0);
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let (mut below, mut has_packages) = (Vec::new(), false);
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let entry = entry.map_err(|error| failed(&folder, &error))?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let list = path.join("RECORD");
            if name.ends_with(".dist-info") && list.is_file() {
                nwithout_digest += count_without_digest(&list).map_err(|error| failed(&list, &error))?;
                lists.push(list);
                has_packages = true;
            } else if name.ends_with(".dist-info") || name.ends_with(".egg-info") {
                without.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(path);
            }
        }
        // Packages within a package are in its RECORD, and are often not whole.
        folders.extend(below.into_iter().filter(|_| !has_packages));
    }
    if lists.is_empty() {
        return Err(format!("{}: there is no package with a list NAME.dist-info/RECORD", root.display()));
    }
    lists.sort_unstable();
    without.sort_unstable();
    let packages = some(&without, without.len() as u64, "package", "without RECORD");
    let what = "without digest, as RECORD itself and what Python compiles (*.pyc)";
    let files = some(&[], nwithout_digest, "file", what);
    Ok((lists, packages.into_iter().chain(files).collect()))
}

/// The number of files that a RECORD names without a digest.
fn count_without_digest(list: &Path) -> io::Result<u64> {
    let (mut reader, mut line, mut count) = (BufReader::new(File::open(list)?), Vec::new(), 0);
    while lines::next(&mut reader, b'\n', &mut line)?.is_some() {
        count += u64::from(line.trim_ascii_end().ends_with(b",,"));
    }
    Ok(count)
}
