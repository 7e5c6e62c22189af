// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom mac`, and the binary called `mac`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use hashloom::HmacKey;
use hashloom_files::Method;
use hashloom_frame::names::any_path;
use hashloom_frame::{output, passphrase, secrets};

use super::{Kind, key};

/// Print message authentication codes as mac(1) of Solaris does.
///
/// Prints the HMAC (RFC 2104) alone for one file, or for standard input if no file is named; prints a line with the
/// name for each of several files. As on Solaris, there are only short options, and none after the first file.
#[derive(Debug, Args)]
#[command(
    after_long_help = HELP,
    override_usage = "hashloom mac -l\n       hashloom mac [-v] -a ALGORITHM [-k KEYFILE] [FILE]..."
)]
pub struct Mac {
    /// The algorithm
    #[arg(short, value_name = "ALGORITHM", required_unless_present = "list", value_parser = super::Names(Kind::Mac))]
    algorithm: Option<String>,

    /// The file whose bytes are the key [default: made from a passphrase typed at the terminal]
    #[arg(short, value_name = "KEYFILE")]
    keyfile: Option<PathBuf>,

    /// The label of a key in a PKCS #11 token; always an error, as hashloom supports no tokens
    #[arg(short = 'K', value_name = "LABEL", conflicts_with = "keyfile")]
    label: Option<OsString>,

    /// The PKCS #11 token for -K
    #[arg(short = 'T', value_name = "TOKEN", requires = "label", conflicts_with = "keyfile")]
    token: Option<OsString>,

    /// Also print the names of the algorithm and the file
    #[arg(short)]
    verbose: bool,

    /// Length of the digest for -a sha512_t_hmac: 224 or 256 bits
    #[arg(short, value_name = "BITS")]
    truncation: Option<String>,

    /// List the algorithms and the lengths of their keys
    #[arg(short, conflicts_with_all = ["algorithm", "truncation", "verbose", "keyfile", "label", "token", "files"])]
    list: bool,

    /// Files to read [default: standard input]
    #[arg(value_name = "FILE", trailing_var_arg = true, value_parser = any_path(), value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

const USAGE: &str = "  mac -l
  mac [-v] -a <algorithm> [-k <keyfile> | -K <keylabel> [-T <tokenspec>]] [file...]";

const HELP: &str = "\
What is printed:
  one file        effcdf6ae5eb2fa2d27416d5f184df9c259a7c79
  several         (file) = effcdf6ae5eb2fa2d27416d5f184df9c259a7c79
  -v              sha1_hmac (file) = effcdf6ae5eb2fa2d27416d5f184df9c259a7c79
  standard input  effcdf6ae5eb2fa2d27416d5f184df9c259a7c79
  the same, -v    sha1_hmac effcdf6ae5eb2fa2d27416d5f184df9c259a7c79

Keys:
  The key is all bytes of the key file, a newline at its end included. A key has
  1 byte to 1 MiB. The lengths that -l prints are in bits: a key longer than the
  maximum gives no more security, and is hashed first, as HMAC demands. Let
  nobody else read the file: chmod 600.
  Without -k the program asks for a passphrase at the terminal, even if standard
  input is redirected. It makes the key from it as Solaris does: 16 bytes by
  PBKDF2 with HMAC-SHA-1, 1000 rounds, the salt 16 bytes of 0x0a. A weak
  passphrase is quickly found by trying: prefer -k.
  A key is never an argument, as other users could see it there. Its bytes are
  overwritten after use.

Exit status:
  0  all codes are printed
  1  the algorithm is unknown, there is no key, or a file cannot be read
  2  wrong usage, or a file cannot be opened
  The other files are still read after an error. The last error sets the status.

Examples:
  dd if=/dev/urandom of=mykey bs=32 count=1; chmod 600 mykey
  hashloom mac -a sha256_hmac -k mykey /etc/motd
  hashloom mac -v -a sha1_hmac -k mykey /usr/lib/*.so
  ln -s hashloom /usr/local/bin/mac         to install it as mac(1)";

/// Returns the command line of the program called `mac`.
pub fn command() -> clap::Command {
    let usage = "mac -l\n       mac [-v] -a ALGORITHM [-k KEYFILE] [FILE]...";
    let help = HELP.replace("hashloom mac", "mac");
    Mac::augment_args(super::program("mac")).override_usage(usage).after_long_help(help)
}

/// Runs the program `mac`; `arguments` begin with its name. Returns the exit status.
pub fn called(arguments: &[OsString], isa: Option<&str>) -> u8 {
    super::parse(command(), USAGE, arguments).map_or_else(|status| status, |options| run("mac", &options, isa))
}

/// Runs the command; `program` is the name that the user called. Returns the exit status.
pub fn run(program: &str, options: &Mac, isa: Option<&str>) -> u8 {
    let Some(wanted) = &options.algorithm else { return list(program) };
    let algorithm = match super::algorithm(program, Kind::Mac, wanted, options.truncation.as_deref()) {
        Ok(algorithm) => algorithm,
        Err(status) => return status,
    };
    if let Err(error) = hashloom_frame::isa::restrict(isa, &[algorithm]) {
        super::complain(program, &error);
        return super::EXIT_USAGE;
    }
    if options.label.is_some() {
        super::complain(program, "no matching PKCS#11 token (hashloom supports none: put the key into a file for -k)");
        return super::EXIT_FAILURE;
    }
    secrets::refuse_dumps();
    let key = match &options.keyfile {
        Some(path) => key::of_file(path),
        None => {
            passphrase::ask("Enter key: ", "name a key file with -k").map(|passphrase| key::of_passphrase(&passphrase))
        }
    };
    let method = match key {
        Ok(key) => Method::from(HmacKey::new(algorithm, &key)),
        Err(reason) => {
            super::complain(program, &reason);
            super::complain(program, if options.keyfile.is_some() { "invalid key." } else { "invalid passphrase." });
            return super::EXIT_FAILURE;
        }
    };
    super::print(program, wanted, method, options.verbose, &options.files)
}

fn list(program: &str) -> u8 {
    let listed = output::print(|out| {
        writeln!(out, "Algorithm       Keysize:  Min   Max (bits)")?;
        writeln!(out, "------------------------------------------")?;
        Kind::Mac.names().try_for_each(|(algorithm, name)| {
            writeln!(out, "{name:15}         {:5} {:5}", 8, 8 * algorithm.block_nbytes())
        })
    });
    super::status(program, listed)
}
