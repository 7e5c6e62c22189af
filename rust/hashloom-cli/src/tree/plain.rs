// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree glacier`, `s3` and `bep52`: print a root and the file's name.

use std::path::{Path, PathBuf};

use clap::Args;
use hashloom::Algorithm;
use hashloom_tree::{bep52, glacier, s3};
use serde::Serialize;

use super::{Common, Work, json_line};
use crate::json::Named;
use crate::names;
use crate::numbers::Nbytes;
use crate::text::display;

/// Print the SHA-256 tree hash of Amazon S3 Glacier.
///
/// Hashes each MiB with SHA-256, then pairs of digests until one is left, as `x-amz-sha256-tree-hash` demands.
#[derive(Debug, Args)]
#[command(after_long_help = GLACIER_HELP)]
pub struct Glacier {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: Common,
}

const GLACIER_HELP: &str = "\
What is printed:
  the tree hash in hexadecimal, two blanks, FILE

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree glacier backup.tar
  tar c /home | hashloom tree glacier -";

/// Print the composite SHA-256, SHA-1 or MD5 of a multipart upload to Amazon S3.
///
/// Prints the digest of the digests of all parts and the number of parts. S3 shows both as the ChecksumSHA256 of an
/// object that was uploaded in parts, or, by MD5, as its ETag.
#[derive(Debug, Args)]
#[command(after_long_help = S3_HELP)]
pub struct S3 {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// sha256, sha1 or md5; md5 is not for security: anybody can make two files with one ETag
    #[arg(short, long, value_name = "NAME", value_parser = names::ANY, hide_possible_values = true, default_value = "sha256")]
    pub algorithm: Algorithm,

    /// Bytes in a part, 5 MiB to 5 GiB: the part size of the upload. There are at most 10,000 parts
    #[arg(short, long, value_name = "BYTES", default_value = "8MiB")]
    part_size: Nbytes,

    /// Also print the checksum of each part, before the line of the whole
    #[arg(long, conflicts_with = "json")]
    parts: bool,

    #[command(flatten)]
    common: Common,
}

const S3_HELP: &str = "\
What is printed:
  BASE64-N (HEX-N for md5), two blanks, FILE; N is the number of parts. --parts
  first prints a line for each part: the part's checksum, two blanks, FILE, a
  colon, the part's number.
  The aws program cuts files longer than 8 MiB into parts of 8 MiB unless
  `multipart_chunksize` is set. A file that was not uploaded in parts has the
  plain digest and no -N: `hashloom sum` prints it.

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree s3 backup.tar
  hashloom tree s3 --algorithm sha1 --part-size 64MiB backup.tar
  hashloom tree s3 --algorithm md5 --part-size 16MiB backup.tar
  aws s3api get-object-attributes --bucket b --key backup.tar \\
      --object-attributes Checksum ObjectParts";

/// Print the pieces root of a file in a v2 or hybrid torrent (BEP 52).
#[derive(Debug, Args)]
#[command(after_long_help = BEP52_HELP)]
pub struct Bep52 {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: Common,
}

const BEP52_HELP: &str = "\
What is printed:
  the root in hexadecimal, two blanks, FILE. It is the same in every torrent:
  files with one root have the same content. An empty file has no root; a minus
  sign is printed instead.

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree bep52 *.mkv
  hashloom torrent show --json album.torrent | jq '.files[].root'";

#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    /// `None` for an empty file, which has no root in BEP 52.
    root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<String>>,
}

fn line(common: &Common, path: &Path, root: Option<String>, parts: Option<Vec<String>>) -> String {
    if common.json {
        return json_line(&Json { path: Named::path("path", path), root, parts });
    }
    format!("{}  {}\n", root.as_deref().unwrap_or("-"), display(path))
}

/// Returns the exit status.
pub fn glacier(arguments: &Glacier) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    work.each(&arguments.files, |path| {
        let root = work.file(path, glacier::tree_hash)?;
        Ok(line(&arguments.common, path, Some(root.to_string()), None))
    })
}

/// Returns the exit status.
pub fn bep52(arguments: &Bep52) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    work.each(&arguments.files, |path| {
        let root = work.file(path, bep52::pieces_root)?;
        Ok(line(&arguments.common, path, root.map(|root| root.to_string()), None))
    })
}

/// Returns the exit status.
pub fn s3(arguments: &S3) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    let part_nbytes = arguments.part_size.0;
    work.each(&arguments.files, |path| {
        let found =
            work.file(path, |source, options| s3::composite(source, arguments.algorithm, part_nbytes, options))?;
        let parts = || found.parts.iter().map(s3::shown);
        let mut lines = String::new();
        if arguments.parts {
            for (number, part) in parts().enumerate() {
                lines += &format!("{part}  {}:{}\n", display(path), number + 1);
            }
        }
        let listed = arguments.common.json.then(|| parts().collect());
        Ok(lines + &line(&arguments.common, path, Some(found.to_string()), listed))
    })
}
