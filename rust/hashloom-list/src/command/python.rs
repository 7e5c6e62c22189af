// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lists of a Python environment: the RECORD of each package that is installed there.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hashloom_frame::text::failed;

use super::audit::Audit;
use super::lines;

/// What the packages of an environment tell of their files.
#[derive(Default)]
pub struct Records {
    pub lists: Vec<PathBuf>,
    /// Packages without a RECORD.
    without: Vec<String>,
    /// The number of files without a digest.
    nleft_out: u64,
}

impl Records {
    /// Finds the packages of an environment, or of all environments below a folder. Links are not followed: lib64 is
    /// lib.
    pub fn find(root: &Path) -> Result<Records, String> {
        let (mut found, mut folders) = (Records::default(), vec![root.to_owned()]);
        while let Some(folder) = folders.pop() {
            let (mut below, mut has_packages) = (Vec::new(), false);
            for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
                let entry = entry.map_err(|error| failed(&folder, &error))?;
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                let list = path.join("RECORD");
                if name.ends_with(".dist-info") && list.is_file() {
                    found.nleft_out += nleft_out(&list).map_err(|error| failed(&list, &error))?;
                    found.lists.push(list);
                    has_packages = true;
                } else if name.ends_with(".dist-info") || name.ends_with(".egg-info") {
                    found.without.push(name);
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(path);
                }
            }
            // Packages within a package are in its RECORD, and are often not whole.
            folders.extend(below.into_iter().filter(|_| !has_packages));
        }
        found.lists.sort_unstable();
        found.without.sort_unstable();
        match found.lists[..] {
            [] => Err(format!("{}: there is no package with a list NAME.dist-info/RECORD", root.display())),
            _ => Ok(found),
        }
    }
}

/// The number of files that a RECORD names without a digest.
fn nleft_out(list: &Path) -> io::Result<u64> {
    let (mut reader, mut line, mut count) = (BufReader::new(File::open(list)?), Vec::new(), 0);
    while lines::next(&mut reader, b'\n', &mut line)?.is_some() {
        count += u64::from(line.trim_ascii_end().ends_with(b",,"));
    }
    Ok(count)
}

impl Audit<'_> {
    /// Says what the check of an environment does not cover.
    pub fn say_left_out(&self, records: &Records) {
        self.say_some(&records.without, records.without.len() as u64, "package", "without RECORD");
        self.say_some(
            &[],
            records.nleft_out,
            "file",
            "without digest, as RECORD itself and what Python compiles (*.pyc)",
        );
    }
}
