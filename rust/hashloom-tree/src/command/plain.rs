// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree s3`, `bep52`, `cid` and `commp`: print a root and the file's name.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use hashloom::Algorithm;
use hashloom_frame::exit::EXIT_INCOMPLETE;
use hashloom_frame::json::Named;
use hashloom_frame::json::object_line;
use hashloom_frame::numbers::Nbytes;
use hashloom_frame::text::display;
use hashloom_frame::units::bytes;
use serde::Serialize;

use super::{Common, Work};
use crate::s3::{self, Crc};
use crate::{bep52, cid, commp};

/// Print the checksum that Amazon S3 shows for a file, or find the part size behind its ETag.
///
/// For sha256, sha1 and md5 prints the digest of the digests of all parts and the number of parts: the ChecksumSHA256
/// of an object that was uploaded in parts or, by MD5, its ETag. crc64nvme is the checksum of the whole object.
#[derive(Debug, Args)]
#[command(after_long_help = S3_HELP)]
pub struct S3 {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// sha256, sha1, md5, crc64nvme, crc32 or crc32c; md5 and CRCs are not for security: anybody can make two files
    /// with one ETag or one CRC
    #[arg(short, long, value_name = "NAME", default_value = "sha256")]
    algorithm: Checksum,

    /// Bytes in a part, 5 MiB to 5 GiB: the part size of the upload. There are at most 10,000 parts
    #[arg(short, long, value_name = "BYTES", default_value = "8MiB")]
    part_size: Nbytes,

    /// Also print the checksum of each part, before the line of the whole
    #[arg(long, conflicts_with = "json")]
    parts: bool,

    /// Try part sizes until one gives this ETag, such as 8d777f385d3dfec8815d20f7496026dc-12
    #[arg(long, value_name = "ETAG", conflicts_with_all = ["algorithm", "part_size", "parts"])]
    etag: Option<String>,

    #[command(flatten)]
    common: Common,
}

impl S3 {
    /// The hash function, if the checksum is a digest.
    pub fn algorithm(&self) -> Option<Algorithm> {
        match (&self.etag, self.algorithm) {
            (Some(_), _) => Some(Algorithm::Md5),
            (None, Checksum::Digest(algorithm)) => Some(algorithm),
            (None, Checksum::Crc(_)) => None,
        }
    }
}

/// A checksum of S3.
#[derive(Debug, Clone, Copy)]
enum Checksum {
    Digest(Algorithm),
    Crc(Crc),
}

impl FromStr for Checksum {
    type Err = String;

    /// The case of letters and minus signs do not matter.
    fn from_str(name: &str) -> Result<Checksum, String> {
        match name.to_ascii_lowercase().replace('-', "").as_str() {
            "crc64nvme" => Ok(Checksum::Crc(Crc::Crc64Nvme)),
            "crc32" => Ok(Checksum::Crc(Crc::Crc32)),
            "crc32c" => Ok(Checksum::Crc(Crc::Crc32c)),
            digest => {
                let unknown = |_| format!("expected a hash function, crc64nvme, crc32 or crc32c, found {name}");
                digest.parse().map(Checksum::Digest).map_err(unknown)
            }
        }
    }
}

const S3_HELP: &str = "\
What is printed:
  BASE64-N (HEX-N for md5), two blanks, FILE; N is the number of parts. The
  checksum of a whole object, crc64nvme, has no -N.
  --parts first prints a line for each part: the part's checksum, two blanks,
  FILE, a colon, the part's number.
  The aws program cuts files longer than 8 MiB into parts of 8 MiB unless
  `multipart_chunksize` is set. A file that was not uploaded in parts has the
  plain digest and no -N: `hashloom sum` prints it.
  --etag prints whether FILE has this ETag, and the part size. Sizes are tried
  that cut FILE into N parts: those that programs use, then all whole MiB, all
  whole millions of bytes, and equal parts. Each try reads FILE once.

Exit status:
  0    printed
  1    no part size tried gives the ETag
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree s3 backup.tar
  hashloom tree s3 --algorithm sha1 --part-size 64MiB backup.tar
  hashloom tree s3 --algorithm md5 --part-size 16MiB backup.tar
  hashloom tree s3 --algorithm crc64nvme backup.tar
  hashloom tree s3 --etag 8d777f385d3dfec8815d20f7496026dc-12 backup.tar
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

/// Print the CID of a file in IPFS.
#[derive(Debug, Args)]
#[command(after_long_help = CID_HELP)]
pub struct Cid {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// How the file is cut: unixfs-v1-2025, unixfs-v0-2015 or kubo-v1
    #[arg(short, long, value_name = "NAME", default_value = "unixfs-v1-2025")]
    profile: cid::Profile,

    #[command(flatten)]
    common: Common,
}

const CID_HELP: &str = "\
What is printed:
  the CID, two blanks, FILE. `ipfs add --only-hash -Q FILE` prints the CID if it
  cuts files in the same way:
  unixfs-v1-2025  of IPIP-499: CIDv1, raw chunks of 1 MiB, 1024 links
  unixfs-v0-2015  of IPIP-499, and ipfs's default: CIDv0, chunks of 256 KiB in
                  nodes, 174 links
  kubo-v1         `ipfs add --cid-version=1`: CIDv1, raw chunks of 256 KiB, 174
                  links

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree cid film.mkv
  hashloom tree cid --profile unixfs-v0-2015 film.mkv";

/// Print the piece commitment of a file for Filecoin, CommP.
#[derive(Debug, Args)]
#[command(after_long_help = COMMP_HELP)]
pub struct Commp {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: Common,
}

const COMMP_HELP: &str = "\
What is printed:
  the piece's CID (baga6ea4seaq...), two blanks, the padded size of the piece
  in bytes, two blanks, FILE

Exit status:
  0    printed
  2    wrong usage, or a file that could not be read; the others are printed
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree commp data.car";

/// JSON of `tree s3`, `tree bep52`, `tree cid` and `tree commp`: one object for each file.
#[derive(Serialize)]
struct Json<'a> {
    /// The file as given.
    #[serde(flatten)]
    path: Named<'a>,
    /// The root; of `cid` and `commp` a CID; of `s3` base64 (hexadecimal for md5), a minus sign, the number of parts.
    /// Null for an empty file of `bep52`, which has no root.
    root: Option<String>,
    /// The checksum of each part of `s3`, in base64 (hexadecimal for md5); absent if the checksum is that of the whole
    /// object.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<String>>,
    /// The size of the piece of `commp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    padded_bytes: Option<u64>,
}

fn line(common: &Common, path: &Path, root: Option<String>, parts: Option<Vec<String>>) -> String {
    if common.json {
        return object_line(&Json { path: Named::path("path", path), root, parts, padded_bytes: None });
    }
    format!("{}  {}\n", root.as_deref().unwrap_or("-"), display(path))
}

/// Returns the exit status.
pub fn cid(arguments: &Cid) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    work.each(&arguments.files, |path| {
        let root = work.file(path, |source, options| cid::cid(source, arguments.profile, options))?;
        Ok(line(&arguments.common, path, Some(root), None))
    })
}

/// Returns the exit status.
pub fn commp(arguments: &Commp) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    work.each(&arguments.files, |path| {
        let commp::Piece { cid: root, padded_nbytes, .. } = work.file(path, commp::commp)?;
        if !arguments.common.json {
            return Ok(format!("{root}  {padded_nbytes}  {}\n", display(path)));
        }
        let path = Named::path("path", path);
        Ok(object_line(&Json { path, root: Some(root), parts: None, padded_bytes: Some(padded_nbytes) }))
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
    if let Some(etag) = &arguments.etag {
        return part_size(arguments, etag);
    }
    let work = Work::new(&arguments.common, &arguments.files);
    let part_nbytes = arguments.part_size.0;
    work.each(&arguments.files, |path| {
        let (whole, parts) = match arguments.algorithm {
            Checksum::Digest(algorithm) => {
                let found =
                    work.file(path, |source, options| s3::composite(source, algorithm, part_nbytes, options))?;
                (found.to_string(), Some(found.parts.iter().map(s3::shown).collect()))
            }
            Checksum::Crc(crc) => {
                let cut = (crc != Crc::Crc64Nvme || arguments.parts).then_some(part_nbytes);
                let found = work.file(path, |source, options| s3::crcs(source, crc, cut, options))?;
                (found.whole, cut.map(|_| found.parts))
            }
        };
        let mut lines = String::new();
        if arguments.parts {
            for (number, part) in parts.iter().flatten().enumerate() {
                lines += &format!("{part}  {}:{}\n", display(path), number + 1);
            }
        }
        Ok(lines + &line(&arguments.common, path, Some(whole), parts))
    })
}

/// JSON of `tree s3`: with `--etag`, one object for each file.
#[derive(Serialize)]
struct PartSizeJson<'a> {
    /// The file as given.
    #[serde(flatten)]
    path: Named<'a>,
    /// Bytes of a part with which the file has this ETag; null if no size tried gives it (exit status 1).
    part_size: Option<u64>,
}

/// Finds the part size behind an ETag. Returns the exit status.
fn part_size(arguments: &S3, etag: &str) -> Result<u8, String> {
    let work = Work::new(&arguments.common, &arguments.files);
    let mut is_found = true;
    let status = work.each(&arguments.files, |path| {
        let part_size = work.file(path, |source, options| s3::part_size(source, etag, options))?;
        is_found &= part_size.is_some();
        Ok(match part_size {
            _ if arguments.common.json => object_line(&PartSizeJson { path: Named::path("path", path), part_size }),
            Some(nbytes) => format!("{}: has this ETag in parts of {}\n", display(path), bytes(nbytes)),
            None => format!("{}: no part size that programs use gives this ETag\n", display(path)),
        })
    })?;
    Ok(if status == 0 && !is_found { EXIT_INCOMPLETE } else { status })
}
