// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads secret keys, and keeps them from other processes and users.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hashloom_files::Stamp;
use hashloom_list::manifest::signature::PublicKey;
use zeroize::Zeroizing;

use crate::output;

/// Forbids dumps of this process, which would have secret keys in them, and keeps other processes of the same user from
/// looking into it.
pub fn refuse_dumps() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
}

/// Reads a file with a secret key, up to this number of bytes, straight into memory that is overwritten when dropped.
/// That memory does not grow, as growing leaves copies behind.
pub fn read(path: &Path, nbytes_max: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    refuse_dumps();
    let file = File::open(path)?;
    let checked = refuse_open_to_others(&file);
    let stamp = Stamp::of_file(&file)?;
    if stamp.is_some_and(|file| output::stamp_of_stdout().is_some_and(|out| (out.dev, out.ino) == (file.dev, file.ino)))
    {
        return Err(io::Error::other("standard output would be written into this key: give another file to the shell"));
    }
    // A vector that its last read leaves full would grow, to see whether there is more.
    let mut bytes = Zeroizing::new(Vec::with_capacity(nbytes_max + 32));
    file.take(nbytes_max as u64).read_to_end(&mut bytes)?;
    // Whoever names the public half needs another file, not other permissions.
    let is_public = || std::str::from_utf8(&bytes).is_ok_and(|text| PublicKey::parse(text).is_ok());
    checked.or_else(|error| if is_public() { Ok(()) } else { Err(error) })?;
    Ok(bytes)
}

/// Returns an error if the file is one of this user's and other users may do anything with it. Files of others are their
/// owners' to judge.
#[cfg(unix)]
fn refuse_open_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o777;
    if metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw() && mode & 0o077 != 0 {
        let why = format!("its permissions {mode:04o} let other users at a secret key: `chmod 600` the file");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_open_to_others(_file: &File) -> io::Result<()> {
    Ok(())
}
