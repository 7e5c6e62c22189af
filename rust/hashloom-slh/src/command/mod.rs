// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom slh`: keys and signatures of SLH-DSA (FIPS 205), as OpenSSL 3.5 has them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hashloom_frame::exit::{EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use hashloom_frame::names::with_suffix;
use hashloom_frame::text::{display, failed, reason};
use hashloom_frame::work::Threads;
use hashloom_frame::{input, interrupt, output, secrets, style};

use crate::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use crate::{Error, Message, ParameterSet, Randomness, SigningKey, VerifyingKey, Work, why_no_key};

/// The greatest length of a file of a key: the key, and text around it.
const KEY_MAX_NBYTES: usize = 512 << 10;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Slh {
    Keygen(Keygen),
    Sign(Sign),
    Verify(Verify),
}

/// Make a pair of keys.
///
/// The secret key is written to KEY, which only its owner can read, and the public key to KEY.pub, both as PEM files.
/// Neither file may exist.
#[derive(Debug, Args)]
#[command(after_long_help = KEYGEN_HELP)]
pub struct Keygen {
    /// The file of the secret key
    #[arg(value_name = "KEY")]
    key: PathBuf,

    /// The parameter set: SHA2 or SHAKE; 128, 192 or 256 bits; s for small signatures, or f for fast signing
    #[arg(short, long, value_name = "NAME", value_parser = set, default_value = "SLH-DSA-SHA2-128s")]
    algorithm: ParameterSet,

    #[command(flatten)]
    threads: Threads,
}

const KEYGEN_HELP: &str = "\
Parameter sets:
  SLH-DSA-SHA2-128s, -192s, -256s: signatures of 7,856, 16,224, 29,792 bytes
  SLH-DSA-SHA2-128f, -192f, -256f: 17,088, 35,664, 49,856 bytes, about twenty
  times as fast to make. With SHAKE in place of SHA2 the same sizes.

The files:
  PKCS#8 and SubjectPublicKeyInfo (RFC 9909), as OpenSSL 3.5 has them. The
  secret key has no password: a KEY that other users can read is refused.

Exit status:
  0    written
  2    not written: wrong usage, or a file exists or cannot be written
  130  interrupted (Ctrl-C)

Examples:
  hashloom slh keygen release.key
  hashloom slh keygen root.key --algorithm SLH-DSA-SHAKE-256s";

/// Sign files.
///
/// The signature of each FILE is written to FILE.sig: the bytes of the standard, without anything around them.
#[derive(Debug, Args)]
#[command(after_long_help = SIGN_HELP)]
pub struct Sign {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The secret key: a PEM file
    #[arg(short, long, value_name = "KEY")]
    key: PathBuf,

    /// Write the signature of the only FILE to SIG
    #[arg(short, long, value_name = "SIG")]
    output: Option<PathBuf>,

    /// Replace signatures that exist
    #[arg(long)]
    force: bool,

    /// What the signature is for, up to 255 bytes: it is right only with the same text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    context: String,

    /// Sign without random bytes: the same file always has the same signature
    #[arg(long)]
    deterministic: bool,

    #[command(flatten)]
    threads: Threads,
}

const SIGN_HELP: &str = "\
Each signature is verified before it is written. A FILE has 1 GiB at most, as
the whole of it is in memory: sign a list of checksums or a manifest of longer
ones.

Exit status:
  0    all written
  2    wrong usage, not a key, or a file that cannot be read or written
  130  interrupted (Ctrl-C)

Examples:
  hashloom slh sign --key release.key program.tar.gz
  hashloom slh sign --key release.key --context firmware image -o image.sig
  openssl pkeyutl -verify -pubin -inkey release.key.pub -rawin \\
    -in program.tar.gz -sigfile program.tar.gz.sig";

/// Verify signatures of files.
///
/// Prints for each FILE whether FILE.sig is a signature of it by the key.
#[derive(Debug, Args)]
#[command(after_long_help = VERIFY_HELP)]
pub struct Verify {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The public key: a PEM file
    #[arg(short, long, value_name = "KEY")]
    key: PathBuf,

    /// The signature of the only FILE
    #[arg(short, long, value_name = "SIG")]
    signature: Option<PathBuf>,

    /// The text that the files were signed with
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    context: String,

    /// Print nothing for files with a right signature
    #[arg(short, long)]
    quiet: bool,
}

const VERIFY_HELP: &str = "\
Exit status:
  0  all signatures are right
  1  a signature is wrong
  2  wrong usage, not a key, or a file that cannot be read

Examples:
  hashloom slh verify --key release.key.pub program.tar.gz
  openssl pkeyutl -sign -inkey openssl.key -rawin -in image -out image.sig
  hashloom slh verify --key openssl.pub image";

/// Returns the exit status.
pub fn run(command: &Slh) -> Result<u8, String> {
    match command {
        Slh::Keygen(options) => keygen(options),
        Slh::Sign(options) => sign(options),
        Slh::Verify(options) => verify(options),
    }
}

/// Reads the name of a parameter set.
fn set(name: &str) -> Result<ParameterSet, Error> {
    name.parse()
}

fn nthreads(threads: &Threads) -> NonZeroUsize {
    NonZeroUsize::new(threads.options().nthreads()).unwrap_or(NonZeroUsize::MIN)
}

fn keygen(options: &Keygen) -> Result<u8, String> {
    let public_path = with_suffix(&options.key, ".pub");
    for path in [&options.key, &public_path] {
        if path.symlink_metadata().is_ok() {
            return Err(format!("{}: it exists, and a key is never replaced: give another KEY", display(path)));
        }
        output::probe(path).map_err(|error| not_written(path, "key", &error))?;
    }
    secrets::refuse_dumps();
    let cancel = interrupt::flag();
    let mut is_stopped = || cancel.is_cancelled();
    let work = Work::new().threads(nthreads(&options.threads)).until(&mut is_stopped);
    let key = match SigningKey::generate_with(options.algorithm, work) {
        Err(Error::Stopped) => return Ok(EXIT_INTERRUPTED),
        key => key.map_err(|error| error.to_string())?,
    };
    let text = key.to_pkcs8_pem(Default::default()).map_err(|error| error.to_string())?;
    let public = key.verifying_key().to_public_key_pem(Default::default()).map_err(|error| error.to_string())?;
    // The public key first: it is of no use alone, and nobody uses a secret key whose public key is lost.
    output::write_new(&public_path, public.as_bytes()).map_err(|error| not_written(&public_path, "key", &error))?;
    output::write_secret(&options.key, text.as_bytes()).map_err(|error| {
        let _ = std::fs::remove_file(&public_path);
        not_written(&options.key, "key", &error)
    })?;
    Ok(0)
}

fn sign(options: &Sign) -> Result<u8, String> {
    // Whoever names a public key needs another file, not other permissions.
    let is_public = |text: &str| !text.contains("PRIVATE KEY");
    let text = secrets::read_text(&options.key, KEY_MAX_NBYTES, is_public);
    let text = text.map_err(|message| format!("--key: {message}"))?;
    let key = SigningKey::from_pkcs8_pem(&text);
    let key = key.map_err(|error| not_a_key(&options.key, "secret", &why_no_key(&text, "PRIVATE KEY", &error)))?;
    // Overwritten now: a file may be a pipe.
    drop(text);
    check_context(&options.context)?;
    let places = places(&options.files, options.output.as_deref(), "--output")?;
    // All places are looked at before the first signature is made.
    for (_, path) in &places {
        if output::exists(path) && !options.force {
            let why = "it exists. Give --force to replace it, or another SIG with --output";
            return Err(format!("{}: the signature is not written there: {why}", display(path)));
        }
        let same = output::Same::new(path);
        if options.files.iter().any(|file| same.is(file)) {
            return Err(format!(
                "{}: it is a FILE to sign, and no signature replaces it: name another SIG",
                display(path)
            ));
        }
        output::probe(path).map_err(|error| not_written(path, "signature", &error))?;
    }
    let cancel = interrupt::flag();
    for (file, path) in &places {
        let bytes = content(file)?;
        let mut is_stopped = || cancel.is_cancelled();
        let work = Work::new().threads(nthreads(&options.threads)).until(&mut is_stopped);
        let randomness = if options.deterministic { Randomness::None } else { Randomness::System };
        let message =
            Message::new(&bytes).with_context(options.context.as_bytes()).map_err(|error| error.to_string())?;
        let signature = match key.sign_message_with(message, randomness, work) {
            Err(Error::Stopped) => return Ok(EXIT_INTERRUPTED),
            signature => signature.map_err(|error| format!("{}: {error}", display(file)))?,
        };
        output::write_with(path, options.force, |mut out| out.write_all(signature.as_ref()))
            .map_err(|error| not_written(path, "signature", &error))?;
    }
    Ok(0)
}

fn verify(options: &Verify) -> Result<u8, String> {
    let mut text = String::new();
    let read = File::open(&options.key).and_then(|file| file.take(KEY_MAX_NBYTES as u64).read_to_string(&mut text));
    read.map_err(|error| format!("--key: {}", failed(&options.key, &error)))?;
    let key = VerifyingKey::from_public_key_pem(&text);
    let key = key.map_err(|error| not_a_key(&options.key, "public", &why_no_key(&text, "PUBLIC KEY", &error)))?;
    check_context(&options.context)?;
    interrupt::flag_and_end();
    let mut status = 0;
    for (file, path) in places(&options.files, options.signature.as_deref(), "--signature")? {
        // A byte more than the longest: a signature with something behind it is wrong.
        let nbytes = key.parameter_set().signature_nbytes() as u64;
        let mut signature = Vec::new();
        let opened = input::raw(&path).and_then(|file| file.take(nbytes + 1).read_to_end(&mut signature));
        opened.map_err(|error| failed(&path, &error))?;
        let bytes = content(&file)?;
        let message =
            Message::new(&bytes).with_context(options.context.as_bytes()).map_err(|error| error.to_string())?;
        let is_right = key.verify_message(message, &signature).is_ok();
        if !is_right {
            status = EXIT_INCOMPLETE;
        }
        if !is_right || !options.quiet {
            let verdict = if is_right { "OK" } else { "FAILED" };
            output::print(|out| writeln!(out, "{}: {verdict}", display(&file)))?;
        }
        if !is_right {
            let why = match signature.len() as u64 {
                found if found == nbytes => "it is not one of this file and this context by this key".to_owned(),
                found => {
                    let found = if found > nbytes { "more".to_owned() } else { found.to_string() };
                    format!("expected {nbytes} bytes, as {} has, found {found}", key.parameter_set())
                }
            };
            let message = format!("{}: the signature is wrong: {why}", display(&path));
            let _ = writeln!(io::stderr(), "{} {message}", style::warning());
        }
    }
    Ok(status)
}

/// The files, each with the place of its signature.
fn places(files: &[PathBuf], only: Option<&Path>, option: &str) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let place = |file: &PathBuf| match only {
        Some(path) => Ok((file.clone(), path.to_owned())),
        None if file.as_os_str() == "-" => Err(format!("-: name the file of its signature with {option}")),
        None => Ok((file.clone(), with_suffix(file, ".sig"))),
    };
    match (files, only) {
        ([_, _, ..], Some(_)) => Err(format!("{option}: expected one FILE, found {}", files.len())),
        _ => files.iter().map(place).collect(),
    }
}

/// The whole of a file.
fn content(file: &Path) -> Result<Vec<u8>, String> {
    const NBYTES_MAX: u64 = 1 << 30;
    let mut bytes = Vec::new();
    let opened = input::raw(file).and_then(|file| file.take(NBYTES_MAX + 1).read_to_end(&mut bytes));
    opened.map_err(|error| failed(file, &error))?;
    if bytes.len() as u64 > NBYTES_MAX {
        let cure = "sign a list of checksums of it, or a manifest with hashloom manifest write --sign";
        return Err(format!("{}: expected at most 1 GiB, found more: {cure}", display(file)));
    }
    Ok(bytes)
}

fn check_context(context: &str) -> Result<(), String> {
    let checked = Message::new(&[]).with_context(context.as_bytes());
    checked.map(drop).map_err(|error| format!("--context: {error}, found {}", context.len()))
}

fn not_a_key(path: &Path, kind: &str, why: &str) -> String {
    format!("--key: {}: expected a {kind} key of SLH-DSA: {why}", display(path))
}

fn not_written(path: &Path, what: &str, error: &io::Error) -> String {
    format!("{}: the {what} cannot be written: {}", display(path), reason(error))
}
