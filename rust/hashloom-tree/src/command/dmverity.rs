// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom tree dmverity`.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hashloom::Algorithm;
use hashloom_frame::exit::EXIT_INCOMPLETE;
use hashloom_frame::json::hex;
use hashloom_frame::json::object_line;
use hashloom_frame::names;
use hashloom_frame::numbers::HexBytes;
use hashloom_frame::numbers::Nbytes;
use hashloom_frame::output::{self, Identity, Pending};
use hashloom_frame::style;
use hashloom_frame::text::{display, reason};
use hashloom_frame::units::plural;
use serde::Serialize;

use super::{Common, Failed, Work, open};
use crate::TreeError;
use crate::dmverity::{BadBlock, BlockFault, Checked, DmVerity, HashType};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    Format(Format),
    Verify(Verify),
}

impl Command {
    /// Returns the hash function, if it is known before a superblock is read.
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Command::Format(options) => Some(options.parameters.algorithm.unwrap_or(Algorithm::Sha256)),
            Command::Verify(options) if options.no_superblock => {
                Some(options.parameters.algorithm.unwrap_or(Algorithm::Sha256))
            }
            Command::Verify(options) => options.parameters.algorithm,
        }
    }
}

/// Compute the root hash of an image, and write its hash file.
///
/// Gives the same bytes as `veritysetup format DATA HASHES` with the same options, salt and UUID.
#[derive(Debug, Args)]
#[command(after_long_help = FORMAT_HELP)]
pub struct Format {
    /// The image: a file or block device
    #[arg(value_name = "DATA")]
    data: PathBuf,

    /// Where to write the hash file; DATA again with --hash-offset behind the data [default: print only the root hash]
    #[arg(value_name = "HASHES")]
    hashes: Option<PathBuf>,

    #[command(flatten)]
    parameters: Parameters,

    /// The salt in hexadecimal, up to 256 bytes; - for no salt [default: 32 random bytes]
    #[arg(short, long, value_name = "HEX", value_parser = salt)]
    salt: Option<HexBytes>,

    /// The UUID in the superblock [default: a random one]
    #[arg(long, value_name = "UUID", conflicts_with = "no_superblock", value_parser = uuid)]
    uuid: Option<[u8; 16]>,

    /// Write no superblock; whoever uses the hash file must then know all options
    #[arg(long)]
    no_superblock: bool,

    /// Replace HASHES if it exists; in DATA, overwrite what stands at the hash offset
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

/// The options that a superblock would have.
#[derive(Debug, Args)]
pub struct Parameters {
    /// Any algorithm that the kernel has: no SHA-512/t, no SHAKE, no Keccak-256 [default: sha256]
    #[arg(short, long, visible_alias = "hash", value_name = "NAME", value_parser = names::ANY,
        hide_possible_values = true)]
    algorithm: Option<Algorithm>,

    /// 1: the usual type; 0: the type of old ChromeOS, with the salt behind each block [default: 1]
    #[arg(long, visible_alias = "format", value_name = "TYPE", value_parser = hash_type)]
    hash_type: Option<HashType>,

    /// Bytes in a block of DATA: a power of two from 512 to 512 KiB [default: 4096]
    #[arg(long, value_name = "BYTES")]
    data_block_size: Option<Nbytes>,

    /// Bytes in a block of HASHES [default: 4096]
    #[arg(long, value_name = "BYTES")]
    hash_block_size: Option<Nbytes>,

    /// Cover only N blocks of DATA [default: all]
    #[arg(long, value_name = "N")]
    data_blocks: Option<u64>,

    /// Offset in HASHES of the superblock, or of the tree if there is no superblock
    #[arg(long, value_name = "BYTES", default_value = "0")]
    hash_offset: Nbytes,
}

const FORMAT_HELP: &str = "\
What is printed:
  the options, salt and UUID used, and the root hash, by which everything else
  can be checked. `veritysetup format` prints these lines too, with a tab before
  the value, and three more: a heading, the number of hash blocks, and the size
  of the hash device (veritysetup 2.6.1). HASHES is a new file, with zeros
  before the hash offset; or DATA itself, which keeps its bytes, if the hash
  offset is not below the end of the data. If DATA does not end with a whole
  block, its last bytes are not covered, and a warning says so.

Exit status:
  0    done
  2    wrong usage, or a file that could not be read or written
  130  interrupted (Ctrl-C); nothing is written

Examples:
  hashloom tree dmverity format root.img root.verity
  hashloom tree dmverity format --salt - root.img
  hashloom tree dmverity format --hash-offset 1048576 root.img root.img
  hashloom tree dmverity format --json root.img root.verity | jq -r .root";

/// Check an image and its hash file against a root hash.
///
/// Checks all blocks and names each wrong one; `veritysetup verify` stops at the first.
#[derive(Debug, Args)]
#[command(after_long_help = VERIFY_HELP)]
pub struct Verify {
    /// The image
    #[arg(value_name = "DATA")]
    data: PathBuf,

    /// Its hash file
    #[arg(value_name = "HASHES")]
    hashes: PathBuf,

    /// The root hash in hexadecimal, from a trusted source
    #[arg(value_name = "ROOT")]
    root: HexBytes,

    /// HASHES has no superblock: use the options given here
    #[arg(long)]
    no_superblock: bool,

    #[command(flatten)]
    parameters: Parameters,

    /// The salt in hexadecimal; - for no salt
    #[arg(short, long, value_name = "HEX", value_parser = salt)]
    salt: Option<HexBytes>,

    #[command(flatten)]
    common: Common,
}

const VERIFY_HELP: &str = "\
What is printed:
  a line for each run of wrong blocks of DATA and for each wrong block of
  HASHES, then the verdict, with the number of blocks that it covers. A wrong
  block of HASHES proves nothing about the blocks below it.

What is trusted:
  hashloom trusts ROOT and the options given. The superblock in HASHES is not
  trusted: a superblock that contradicts an option is an error; it gives only
  the values of other options. No digest covers the length of DATA. Bytes behind
  the last block that HASHES covers are therefore not right, unless
  --data-blocks gives the number of blocks. Give --data-blocks also if DATA
  itself could be cut: its hash blocks would be right in its place.

Exit status:
  0    all is right
  1    a block is wrong, or DATA has bytes that HASHES does not cover
  2    wrong usage, or a file that could not be read, is too short, or has
       another superblock than the options say
  130  interrupted (Ctrl-C)

Examples:
  hashloom tree dmverity verify root.img root.verity 0f4b...
  hashloom tree dmverity verify root.img root.verity $(cat hash) --json
  hashloom tree dmverity verify --data-blocks 500 a.img a.verity 0f4b...";

fn salt(text: &str) -> Result<HexBytes, String> {
    if text == "-" { Ok(HexBytes::default()) } else { text.parse() }
}

fn hash_type(text: &str) -> Result<HashType, String> {
    match text {
        "0" => Ok(HashType::ChromeOs),
        "1" => Ok(HashType::Normal),
        _ => Err("expected 0 or 1".to_owned()),
    }
}

/// Parses `8-4-4-4-12` hexadecimal digits.
fn uuid(text: &str) -> Result<[u8; 16], String> {
    let expected = || "expected a UUID such as 01234567-89ab-cdef-0123-456789abcdef".to_owned();
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let bytes: HexBytes = text.replace('-', "").parse().map_err(|_| expected())?;
    match bytes.0.try_into() {
        Ok(bytes) if lengths == [8, 4, 4, 4, 12] => Ok(bytes),
        _ => Err(expected()),
    }
}

fn shown_uuid(uuid: &[u8; 16]) -> String {
    let digits = hex(uuid);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("the system gives no random bytes: {error}; give --salt and --uuid"))?;
    Ok(bytes)
}

/// Makes a UUID of version 4 of RFC 9562 section 5.4.
fn random_uuid() -> Result<[u8; 16], String> {
    let mut uuid = random::<16>()?;
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    Ok(uuid)
}

impl Parameters {
    fn verity(&self, salt: &[u8]) -> Result<DmVerity, TreeError> {
        let nbytes = |size: Nbytes| usize::try_from(size.0).unwrap_or(usize::MAX);
        let mut verity = DmVerity::new().salt(salt)?.hash_offset(self.hash_offset.0);
        if let Some(algorithm) = self.algorithm {
            verity = verity.algorithm(algorithm)?;
        }
        if let Some(hash_type) = self.hash_type {
            verity = verity.hash_type(hash_type);
        }
        if let Some(size) = self.data_block_size {
            verity = verity.data_block_size(nbytes(size))?;
        }
        if let Some(size) = self.hash_block_size {
            verity = verity.hash_block_size(nbytes(size))?;
        }
        Ok(match self.data_blocks {
            Some(count) => verity.data_blocks(count),
            None => verity,
        })
    }

    /// Checks that a superblock has the values of the options that were given.
    fn agree(&self, salt: Option<&HexBytes>, found: &DmVerity) -> Result<(), String> {
        let same = |option: &str, given: Option<String>, found: String| match given {
            Some(given) if given != found => Err(format!("superblock: expected {option} {given}, found {found}")),
            _ => Ok(()),
        };
        let shown_salt = |salt: &[u8]| if salt.is_empty() { "-".to_owned() } else { hex(salt) };
        let size = |size: Option<Nbytes>| size.map(|size| size.0.to_string());
        let blocks = found.get_data_blocks().map_or_else(String::new, |count| count.to_string());
        same("--algorithm", self.algorithm.map(|name| name.to_string()), found.get_algorithm().to_string())?;
        let number = |hash_type: HashType| hash_type.number().to_string();
        same("--hash-type", self.hash_type.map(number), number(found.get_hash_type()))?;
        same("--data-block-size", size(self.data_block_size), found.get_data_block_size().to_string())?;
        same("--hash-block-size", size(self.hash_block_size), found.get_hash_block_size().to_string())?;
        same("--data-blocks", self.data_blocks.map(|count| count.to_string()), blocks)?;
        same("--salt", salt.map(|salt| shown_salt(&salt.0)), shown_salt(found.get_salt()))
    }
}

/// JSON of `tree dmverity format`: the tree that was written.
#[derive(Serialize)]
struct Json {
    /// The UUID; absent without a superblock.
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    /// 1, or 0 for the type of old ChromeOS.
    hash_type: u32,
    /// Number of blocks covered.
    data_blocks: u64,
    /// Bytes of a block of data.
    data_block_size: usize,
    /// Bytes of a block of hashes.
    hash_block_size: usize,
    /// The hash function.
    algorithm: &'static str,
    /// The salt in hexadecimal.
    salt: String,
    /// The root hash.
    root: String,
}

/// Returns the exit status.
pub fn run(command: &Command) -> Result<u8, String> {
    match command {
        Command::Format(arguments) => Ok(format(arguments)?.unwrap_or_else(Failed::tell)),
        Command::Verify(arguments) => match verify(arguments) {
            Ok(checked) => print_checked(arguments, &checked),
            Err(failed) => Ok(failed.tell()),
        },
    }
}

fn format(arguments: &Format) -> Result<Result<u8, Failed>, String> {
    let salt = match &arguments.salt {
        Some(salt) => salt.0.clone(),
        None => random::<32>()?.to_vec(),
    };
    let mut verity = arguments.parameters.verity(&salt).map_err(|error| error.to_string())?;
    if !arguments.no_superblock {
        verity = verity.uuid(arguments.uuid.map_or_else(random_uuid, Ok)?);
    }
    if let Some(hashes) = arguments.hashes.as_ref().filter(|_| !arguments.is_one_file()) {
        if !arguments.force && output::exists(hashes) {
            return Err(format!("{}: exists already; give --force to replace it", display(hashes)));
        }
    }
    Ok(formatted(arguments, &verity).and_then(|(root, data_blocks)| {
        let (algorithm, uuid) = (verity.get_algorithm().name(), verity.get_uuid().as_ref().map(shown_uuid));
        let json = Json {
            uuid,
            hash_type: verity.get_hash_type().number(),
            data_blocks,
            data_block_size: verity.get_data_block_size(),
            hash_block_size: verity.get_hash_block_size(),
            algorithm,
            salt: hex(&salt),
            root,
        };
        output::print(|out| print_format(out, arguments.common.json, &json)).map_err(Failed::Message)?;
        Ok(0)
    }))
}

fn print_format(out: &mut impl io::Write, is_json: bool, json: &Json) -> io::Result<()> {
    if is_json {
        return out.write_all(object_line(json).as_bytes());
    }
    let salt = if json.salt.is_empty() { "-" } else { &json.salt };
    for (name, value) in [
        ("UUID", json.uuid.clone().unwrap_or_default()),
        ("Hash type", json.hash_type.to_string()),
        ("Data blocks", json.data_blocks.to_string()),
        ("Data block size", json.data_block_size.to_string()),
        ("Hash block size", json.hash_block_size.to_string()),
        ("Hash algorithm", json.algorithm.to_owned()),
        ("Salt", salt.to_owned()),
        ("Root hash", json.root.clone()),
    ] {
        writeln!(out, "{:17}{value}", format!("{name}:"))?;
    }
    Ok(())
}

impl Format {
    /// Whether the tree goes behind the data, in the same file.
    fn is_one_file(&self) -> bool {
        self.hashes.as_ref().is_some_and(|hashes| output::Same::new(&self.data).is(hashes))
    }
}

/// An image whose tree is appended. The tree is made in another file: until it is complete, the image is not touched.
struct Image {
    file: File,
    /// Its length.
    nbytes: u64,
    hash_offset: u64,
}

impl Image {
    /// Opens the image for writing. Returns `None` for a device, which is written in place behind the data.
    fn open(arguments: &Format, verity: &DmVerity, data: &File, covered: u64) -> Result<Option<Image>, Failed> {
        let (path, hash_offset) = (&arguments.data, arguments.parameters.hash_offset.0);
        let message = |why: &str| Failed::Message(format!("{}: {why}", display(path)));
        let failed = |error: io::Error| message(&reason(&error).to_string());
        // The data is not longer than the file.
        let end = covered * verity.get_data_block_size() as u64;
        if hash_offset < end {
            return Err(message(&format!(
                "the hashes at byte {hash_offset} would overwrite DATA, which ends at byte {end}: give --hash-offset \
                 {end} or more, or fewer --data-blocks"
            )));
        }
        if output::path_is_special(path) {
            return Ok(None);
        }
        let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        if Identity::of_file(&file).map_err(failed)? != Identity::of_file(data).map_err(failed)? {
            return Err(message("another file has replaced it meanwhile"));
        }
        let nbytes = file.metadata().map_err(failed)?.len();
        if nbytes > hash_offset && !arguments.force {
            let there = plural(nbytes - hash_offset, "byte");
            return Err(message(&format!("has {there} from --hash-offset on; give --force to overwrite them")));
        }
        Ok(Some(Image { file, nbytes, hash_offset }))
    }

    /// Copies what stands from the hash offset on. If that fails, the image has the length that it had.
    fn append(self, hashes: &File) -> io::Result<()> {
        let Image { mut file, nbytes, hash_offset } = self;
        let mut copy = |mut hashes: &File| {
            if file.metadata()?.len() != nbytes {
                return Err(io::Error::other("its length has changed; run again when nothing writes to it"));
            }
            hashes.seek(SeekFrom::Start(hash_offset))?;
            file.seek(SeekFrom::Start(hash_offset))?;
            let copied = io::copy(&mut hashes, &mut file).and_then(|_| file.sync_all());
            copied.inspect_err(|_| drop(file.set_len(nbytes)))
        };
        copy(hashes)
    }
}

/// Returns the root hash, and the number of blocks covered.
fn formatted(arguments: &Format, verity: &DmVerity) -> Result<(String, u64), Failed> {
    let path = &arguments.data;
    let failed = |error| Failed::of(path, error);
    let data = open(path)?;
    let covered = verity.covered(&data).map_err(failed)?;
    let rest = data.metadata().map_or(0, |metadata| metadata.len()) % verity.get_data_block_size() as u64;
    if rest > 0 && arguments.parameters.data_blocks.is_none() {
        let text =
            format!("{}: its last {} are not a whole block and not covered", display(path), plural(rest, "byte"));
        let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("{} {text}\n", style::warning()));
    }
    let work = Work::new(&arguments.common, std::slice::from_ref(path));
    let root = match &arguments.hashes {
        None => work.with(|options| verity.root(&data, options)).map_err(failed),
        Some(hashes) => {
            let not_written = |error: io::Error| {
                Failed::Message(format!("{}: cannot be written: {}", display(hashes), reason(&error)))
            };
            let image = if arguments.is_one_file() { Image::open(arguments, verity, &data, covered)? } else { None };
            let pending = Pending::begin(hashes).map_err(not_written)?;
            let root =
                work.with(|options| verity.format(&data, pending.file(), options)).map_err(|error| match error {
                    TreeError::Write(error) => not_written(error),
                    error => failed(error),
                })?;
            let end = match image {
                Some(image) => image.append(pending.file()),
                None => pending.end(arguments.force),
            };
            end.map_err(not_written)?;
            Ok(root)
        }
    };
    work.bar.finish();
    Ok((root?.to_string(), covered))
}

fn verify(arguments: &Verify) -> Result<Checked, Failed> {
    let (data, hashes) = (open(&arguments.data)?, open(&arguments.hashes)?);
    let salt = arguments.salt.clone().unwrap_or_default().0;
    let verity = if arguments.no_superblock {
        arguments.parameters.verity(&salt)
    } else {
        DmVerity::read(&hashes, arguments.parameters.hash_offset.0)
    };
    let verity = verity.map_err(|error| Failed::of(&arguments.hashes, error))?;
    if !arguments.no_superblock {
        let agreed = arguments.parameters.agree(arguments.salt.as_ref(), &verity);
        agreed.map_err(|error| Failed::Message(format!("{}: {error}", display(&arguments.hashes))))?;
    }
    let work = Work::new(&arguments.common, std::slice::from_ref(&arguments.data));
    let checked = work.with(|options| verity.check(&data, &hashes, &arguments.root.0, options));
    work.bar.finish();
    checked.map_err(|error| match error {
        TreeError::HashFile(_) => Failed::of(&arguments.hashes, error),
        error => Failed::of(&arguments.data, error),
    })
}

/// JSON of `tree dmverity verify`: what was found.
#[derive(Serialize)]
struct CheckedJson {
    /// True if all blocks are right, and cover DATA or `--data-blocks`.
    good: bool,
    /// Number of blocks of data that were compared.
    covered_data_blocks: u64,
    /// Number of blocks of hashes that were compared.
    covered_hash_blocks: u64,
    /// Bytes of DATA in these blocks.
    covered_bytes: u64,
    /// Bytes of DATA behind these blocks.
    uncovered_bytes: u64,
    /// Number of wrong blocks of data.
    bad_data_blocks: u64,
    /// Number of wrong blocks of hashes.
    bad_hash_blocks: u64,
    /// Runs of wrong blocks: first and last number, both included.
    data_blocks: Vec<[u64; 2]>,
    /// Offsets of the wrong blocks in the hash file.
    hash_block_offsets: Vec<u64>,
}

/// Returns the exit status.
fn print_checked(arguments: &Verify, checked: &Checked) -> Result<u8, String> {
    // The user knows that DATA is longer.
    let is_restricted = arguments.parameters.data_blocks.is_some();
    let is_good = checked.is_good() || is_restricted && checked.covered_is_good();
    let status = if is_good { 0 } else { EXIT_INCOMPLETE };
    if arguments.common.json {
        let json = CheckedJson {
            good: is_good,
            covered_data_blocks: checked.covered_blocks,
            covered_hash_blocks: checked.covered_hash_blocks,
            covered_bytes: checked.covered_nbytes,
            uncovered_bytes: checked.uncovered_nbytes,
            bad_data_blocks: checked.data_block_count,
            bad_hash_blocks: checked.hash_block_count,
            data_blocks: checked.data_blocks.iter().map(|run| [run.start, run.end - 1]).collect(),
            hash_block_offsets: checked.hash_blocks.iter().map(|block| block.offset).collect(),
        };
        return output::print(|out| io::Write::write_all(out, object_line(&json).as_bytes())).map(|()| status);
    }
    output::print(|out| print_bad(out, &arguments.data, &arguments.hashes, checked, is_good)).map(|()| status)
}

fn print_bad(out: &mut impl io::Write, data: &Path, hashes: &Path, checked: &Checked, is_good: bool) -> io::Result<()> {
    let hashes = display(hashes);
    for BadBlock { offset, fault, .. } in &checked.hash_blocks {
        match fault {
            BlockFault::Digest => writeln!(out, "{hashes}: the block at byte {offset} is wrong")?,
            BlockFault::Spare => writeln!(
                out,
                "{hashes}: the block at byte {offset} has digests of more blocks than the {} of DATA that the \
                 superblock counts",
                checked.covered_blocks
            )?,
        }
    }
    for run in &checked.data_blocks {
        match run.end - run.start {
            1 => writeln!(out, "{}: block {} is wrong", display(data), run.start)?,
            _ => writeln!(out, "{}: blocks {} to {} are wrong", display(data), run.start, run.end - 1)?,
        }
    }
    let (covered, uncovered) = (checked.covered_blocks, checked.uncovered_nbytes);
    let behind = match uncovered {
        0 => String::new(),
        _ => format!("; {} of DATA behind them are not covered", plural(uncovered, "byte")),
    };
    if !checked.covered_is_good() {
        let counts = format!(
            "wrong: {} of {} of DATA, {} of {} of HASHES{behind}",
            checked.data_block_count,
            plural(covered, "block"),
            checked.hash_block_count,
            plural(checked.covered_hash_blocks, "block"),
        );
        return writeln!(out, "{}", style::bad(counts));
    }
    let blocks = format!("{}, {}", plural(covered, "block"), plural(checked.covered_nbytes, "byte"));
    if is_good {
        return writeln!(out, "{}: {blocks} of DATA{behind}", style::good("all blocks are right"));
    }
    let verdict = format!("not covered: {} of DATA", plural(uncovered, "byte"));
    writeln!(
        out,
        "{}, behind {blocks} that are right; give --data-blocks {covered} if that is meant",
        style::bad(verdict)
    )
}
