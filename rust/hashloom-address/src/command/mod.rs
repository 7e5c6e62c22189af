// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom address`: addresses of Bitcoin from keys, and what addresses mean.

mod ordered;

use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use hashloom_frame::exit::{EXIT_ERROR, EXIT_PIPE};
use hashloom_frame::input::or_stdin;
use hashloom_frame::names::any_path;
use hashloom_frame::numbers::from_one;
use hashloom_frame::text::reason;
use hashloom_frame::{output, secrets};
use zeroize::Zeroizing;

use self::ordered::Plan;
use crate::{Addresses, All, Convert, Decoder, Form, HEADER, Hashes, Items, Network, Reader, Secp256k1, Source, Type};

/// Convert public keys to Bitcoin addresses, and addresses to scripts.
///
/// Reads keys, one a line, and prints a line of CSV for each. This is for wallets and indexers: it converts what it is
/// given, and searches for nothing.
#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub struct Address {
    /// The files; - is standard input [default: -]
    #[arg(value_name = "FILE", value_parser = any_path(), value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// The types, separated by commas [default: all]
    #[arg(short, long = "type", value_name = "TYPE[,TYPE]", value_delimiter = ',', value_enum)]
    types: Vec<Type>,

    /// The network of the addresses, and of secret keys in WIF
    #[arg(short, long, value_name = "NAME", value_enum, default_value = "main")]
    network: Network,

    /// Print the hash160 of each key instead, which is RIPEMD-160 of SHA-256
    #[arg(long, conflicts_with_all = ["types", "json"])]
    hash160: bool,

    /// Read secret keys from standard input, each in hexadecimal or WIF, and print their public keys and addresses
    #[arg(long, conflicts_with_all = ["files", "binary"])]
    from_secret: bool,

    /// Read addresses instead, and print their hash160 and script
    #[arg(short, long, conflicts_with_all = ["types", "network", "binary", "hash160", "unchecked", "from_secret"])]
    decode: bool,

    /// Print one JSON object a line instead
    #[arg(long)]
    json: bool,

    /// Write the 20 bytes of each hash160 instead of a line of hexadecimal digits; needs --hash160
    #[arg(long, requires = "hash160")]
    raw: bool,

    /// Read binary keys of NBYTES each, with nothing between them
    #[arg(short, long, value_name = "NBYTES", value_parser = ["32", "33", "65"])]
    binary: Option<String>,

    /// Do not check that keys are points of the curve; then P2TR is not possible
    #[arg(long, conflicts_with_all = ["hash160", "from_secret"])]
    unchecked: bool,

    /// Number of threads [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = from_one)]
    threads: Option<NonZeroUsize>,
}

const HELP: &str = "\
Public keys:
  A line is a key in hexadecimal: 66 digits for a compressed key, 130 for an
  uncompressed one, 64 for x alone (BIP 340). --binary reads keys without lines,
  and messages then count rows. A key must be a point of the curve secp256k1:
  nothing sent to another address could ever be spent. --hash160 and --unchecked
  look only at a key's length and first byte, and are many times as fast.

What is printed:
  A line with the names of the columns, then a line for each key: the key in
  hexadecimal and an address of each type. An address that the key cannot have
  is empty (absent in JSON): an uncompressed key has P2PKH and P2TR, x alone
  only P2TR. A P2TR address is that of a key without scripts (BIP 86). --hash160
  prints 40 digits for each key and no names.
  --decode prints address, network, type, hash160 and script (scriptPubKey) in
  hexadecimal. The network test stands for all networks that share the address:
  test and signet, in base58 also regtest. hash160 is empty for P2WSH, P2TR and
  types that are not known yet.

Secret keys:
  Secret keys are read from standard input only, as other users could see
  arguments. A line has 64 hexadecimal digits, or WIF of the network. The bytes
  of a key are overwritten after use, and no message shows any of them.

Errors:
  A line that is not a key is named with its number and the reason on standard
  error, and left out; all others are printed. The first such line ends the
  output of --raw: the place of a hash tells which key the hash belongs to.

Exit status:
  0    all keys were right
  1    a key or an address was not right; the others are printed (with --raw
       only those before the first wrong one)
  2    wrong usage, a file could not be read, or the output cannot be written
  141  the reader of the output has gone

Examples:
  hashloom address keys.txt > addresses.csv
  hashloom address --type p2wpkh --network test < keys.txt
  hashloom address --hash160 --raw --binary 33 keys.bin > hashes.bin
  gpg -d wallet.gpg | hashloom address --from-secret --json | jq -r .p2wpkh
  hashloom address --decode addresses.txt | cut -d, -f5";

/// Bytes that a thread reads at once: some thousand keys, or a thousand if each takes microseconds.
const HASHED_NBYTES: usize = 256 << 10;
const CONVERTED_NBYTES: usize = 64 << 10;

/// The shortest address.
const ITEM_MIN_NBYTES: usize = 26;

/// More threads than one machine has use for.
const THREADS_MAX: usize = 128;

/// Returns the exit status.
pub fn run(arguments: &Address) -> Result<u8, String> {
    let types = if arguments.types.is_empty() { &Type::ALL } else { &arguments.types[..] };
    if arguments.unchecked && types.contains(&Type::P2tr) {
        return Err("--unchecked: P2TR needs the point of the curve; name the other types with --type".into());
    }
    if let Some(twice) = (1..types.len()).find(|&i| types[..i].contains(&types[i])) {
        return Err(format!("--type: expected each type once, found {} twice", types[twice].column()));
    }
    let rows = arguments.binary.as_ref().and_then(|nbytes| nbytes.parse().ok());
    let (source, items, item) = match rows {
        _ if arguments.from_secret => (Source::Secrets(arguments.network), Items::Secrets, "line"),
        Some(nbytes) => (Source::Rows(nbytes), Items::Rows(nbytes), "row"),
        None => (Source::Lines, Items::Lines, "line"),
    };
    if arguments.hash160 && rows == Some(Form::XOnly.nbytes()) {
        return Err("--hash160: a key of 32 bytes (x-only) has no hash160; expected --binary 33 or 65".into());
    }
    if arguments.from_secret {
        secrets::refuse_dumps();
    }
    let keys = crate::Plan {
        source,
        must_be_points: !arguments.hash160 && !arguments.unchecked,
        secp: if arguments.from_secret { blinded()? } else { Secp256k1::new() },
    };
    let ncpus = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let plan = Plan {
        nthreads: arguments.threads.map_or_else(ncpus, NonZeroUsize::get).min(THREADS_MAX),
        block_nbytes: if arguments.hash160 { HASHED_NBYTES } else { CONVERTED_NBYTES },
        is_raw: arguments.raw,
        is_secret: arguments.from_secret,
        item,
    };
    let header = match (arguments.json || arguments.hash160, arguments.decode) {
        (true, _) => String::new(),
        (false, true) => HEADER.to_owned(),
        (false, false) => {
            ["key"].into_iter().chain(types.iter().map(|kind| kind.column())).collect::<Vec<_>>().join(",") + "\n"
        }
    };
    let prefixes = arguments.network.prefixes();
    let make = || -> Box<dyn Convert + '_> {
        match arguments {
            Address { decode: true, json, .. } => Box::new(Decoder { is_json: *json }),
            Address { hash160: true, raw, .. } => Box::new(Hashes::new(&keys, *raw)),
            Address { json, .. } => Box::new(Addresses::new(&keys, types, prefixes, *json)),
        }
    };
    let files = or_stdin(&arguments.files);
    // The word is not shown: it may be a secret key.
    let is_item = |word: &str| word.len() >= ITEM_MIN_NBYTES && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if files.iter().any(|file| file.to_str().is_some_and(is_item) && file.symlink_metadata().is_err()) {
        return Err(
            "a key or an address is no argument, which others can see, but a line of a FILE or of standard input: \
                    `echo KEY | hashloom address`, `echo ADDRESS | hashloom address --decode`"
                .into(),
        );
    }
    // A program that writes lines and reads the answers waits for the header first.
    let header = if files.first().is_some_and(|first| first.as_os_str() == "-") {
        output::print(|out| out.write_all(header.as_bytes())).map(|()| String::new())?
    } else {
        header
    };
    let end = ordered::run(plan, &header, Reader::new(items, files), &make);
    match end.lost {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(EXIT_PIPE),
        Some(error) => Err(format!("standard output: {}", reason(&error))),
        None if end.has_trouble => Ok(EXIT_ERROR),
        None => Ok(u8::from(end.has_fault)),
    }
}

/// Returns a context whose computations with secrets begin at a random point, so that little can be learnt from the
/// time or the power they take.
fn blinded() -> Result<Secp256k1<All>, String> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed).map_err(|error| format!("the system gives no random bytes: {error}"))?;
    let mut secp = Secp256k1::new();
    secp.seeded_randomize(&seed);
    Ok(secp)
}
