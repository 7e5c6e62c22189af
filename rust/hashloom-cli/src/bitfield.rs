// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes a file by writing another one and renaming it: there is never half of it.

use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `path`, which is replaced if it exists. Of a symbolic link to a file the file is replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or pipe, such as /dev/stdout, cannot be replaced by renaming.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return std::fs::write(path, bytes);
    }
    let target = if path.is_symlink() && path.exists() { Some(path.canonicalize()?) } else { None };
    let path = target.as_deref().unwrap_or(path);
    // In the same folder, as renaming does not cross file systems.
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any new file gets, less the umask; a temporary file would be the owner's alone.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".hashloom-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
