// SPDX-License-Identifier: MIT OR Apache-2.0

//! Public keys to addresses, and to their hash160.

use std::fmt;

use bech32::segwit::{VERSION_0, VERSION_1, encode_lower_to_fmt_unchecked};
use hashloom::{Algorithm, Rows, hash, hash_rows, hash160_rows, sha256d_rows};
use secp256k1::{PublicKey, SecretKey};

use crate::convert::{Convert, Output};
use crate::hex;
use crate::input::Block;
use crate::keys::{Form, Keys, Plan, Source};
use crate::network::Prefixes;

const HASH160_NBYTES: usize = Algorithm::Ripemd160.digest_nbytes();

/// The types of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Type {
    /// Base58 of the key's hash160
    P2pkh,
    /// Base58 of the hash160 of a P2WPKH script
    P2shP2wpkh,
    /// Bech32 of the key's hash160 (BIP 141, BIP 173)
    P2wpkh,
    /// Bech32m of the key, tweaked for a spend without scripts (BIP 341, BIP 350, BIP 86)
    P2tr,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 4] = [Type::P2pkh, Type::P2shP2wpkh, Type::P2wpkh, Type::P2tr];

    /// The name of the column.
    pub fn column(self) -> &'static str {
        match self {
            Type::P2pkh => "p2pkh",
            Type::P2shP2wpkh => "p2sh_p2wpkh",
            Type::P2wpkh => "p2wpkh",
            Type::P2tr => "p2tr",
        }
    }

    /// Returns true if a key of this form has such an address. Segregated witness of version 0 takes compressed keys
    /// only (BIP 143), and x alone does not tell which key was hashed.
    fn takes(self, form: Form) -> bool {
        match self {
            Type::P2pkh => form != Form::XOnly,
            Type::P2shP2wpkh | Type::P2wpkh => form == Form::Compressed,
            Type::P2tr => true,
        }
    }
}

/// Converts keys to lines of addresses.
pub struct Addresses<'a> {
    plan: &'a Plan,
    types: &'a [Type],
    prefixes: Prefixes,
    is_json: bool,
    keys: Keys,
}

/// The parts of addresses of all keys of a block. A part that no wanted type needs is empty.
#[derive(Default)]
struct Parts {
    /// hash160 of compressed keys.
    hashes: Vec<u8>,
    /// P2PKH of compressed and of uncompressed keys, and P2SH-P2WPKH, with checksums.
    p2pkh: [Vec<u8>; 2],
    p2sh: Vec<u8>,
    /// P2TR of all keys; `None` if the tweak is out of range.
    p2tr: Vec<Option<[u8; 32]>>,
}

impl<'a> Addresses<'a> {
    /// Addresses of these types, each once; as CSV, or as a JSON object a line.
    pub fn new(plan: &'a Plan, types: &'a [Type], prefixes: Prefixes, is_json: bool) -> Addresses<'a> {
        Addresses { plan, types, prefixes, is_json, keys: Keys::default() }
    }

    fn parts(&self) -> Parts {
        let wants = |kind| self.types.contains(&kind);
        let mut parts = Parts::default();
        if wants(Type::P2pkh) || wants(Type::P2wpkh) || wants(Type::P2shP2wpkh) {
            hash160(&self.keys.compressed, Form::Compressed.nbytes(), &mut parts.hashes);
        }
        if wants(Type::P2pkh) {
            let mut uncompressed = Vec::new();
            hash160(&self.keys.uncompressed, Form::Uncompressed.nbytes(), &mut uncompressed);
            parts.p2pkh = [&parts.hashes, &uncompressed].map(|hashes| with_checksums(self.prefixes.p2pkh, hashes));
        }
        if wants(Type::P2shP2wpkh) {
            // The script: version 0, and a push of 20 bytes (BIP 141).
            const SCRIPT_NBYTES: usize = 2 + HASH160_NBYTES;
            let count = parts.hashes.len() / HASH160_NBYTES;
            let mut scripts = vec![0; count * SCRIPT_NBYTES];
            let hashes = parts.hashes.chunks_exact(HASH160_NBYTES);
            for (script, hash) in scripts.chunks_exact_mut(SCRIPT_NBYTES).zip(hashes) {
                script[1] = HASH160_NBYTES as u8;
                script[2..].copy_from_slice(hash);
            }
            let mut hashes = Vec::new();
            hash160(&scripts, SCRIPT_NBYTES, &mut hashes);
            parts.p2sh = with_checksums(self.prefixes.p2sh, &hashes);
        }
        if wants(Type::P2tr) {
            parts.p2tr = self.tweaked();
        }
        parts
    }

    /// The keys plus their tweaks: a hash with the tag TapTweak, of x alone as there are no scripts (BIP 341).
    fn tweaked(&self) -> Vec<Option<[u8; 32]>> {
        const NBYTES: usize = 3 * 32;
        let points = &self.keys.points;
        let tag = hash(Algorithm::Sha256, b"TapTweak");
        let rows = points.iter().flat_map(|point| [tag.as_ref(), tag.as_ref(), &point.serialize()[1..]].concat());
        let rows: Vec<u8> = rows.collect();
        let mut tweaks = vec![0; points.len() * 32];
        hash_rows(Algorithm::Sha256, Rows::chunks_exact(&rows, NBYTES), &mut tweaks);
        // Not XOnlyPublicKey::add_tweak, which is no faster and has tables of 1 MiB.
        let add = |(point, tweak): (&PublicKey, &[u8])| {
            let tweak = SecretKey::from_byte_array(tweak.try_into().ok()?).ok()?;
            let x = point.combine(&PublicKey::from_secret_key(&self.plan.secp, &tweak)).ok()?.serialize();
            x[1..].try_into().ok()
        };
        points.iter().zip(tweaks.chunks_exact(32)).map(add).collect()
    }
}

impl Convert for Addresses<'_> {
    fn convert(&mut self, block: &Block, Output { bytes, faults }: &mut Output) {
        self.keys.read(self.plan, block, faults);
        let parts = self.parts();
        let hrp = self.prefixes.hrp;
        for (i, (form, number, at, key)) in self.keys.iter().enumerate() {
            if !self.types.iter().any(|kind| kind.takes(form)) {
                faults.push((number, no_address(form)));
                continue;
            }
            let start = bytes.len();
            bytes.extend_from_slice(if self.is_json { b"{\"key\":\"" } else { b"" });
            hex::push(bytes, key);
            bytes.extend_from_slice(if self.is_json { b"\"" } else { b"" });
            let mut is_right = true;
            for &kind in self.types {
                match (self.is_json, kind.takes(form)) {
                    (true, true) => {
                        for part in [",\"", kind.column(), "\":\""] {
                            bytes.extend_from_slice(part.as_bytes());
                        }
                    }
                    (true, false) => continue,
                    (false, is_taken) => {
                        bytes.push(b',');
                        if !is_taken {
                            continue;
                        }
                    }
                }
                match kind {
                    Type::P2pkh => push_base58(bytes, &parts.p2pkh[usize::from(form == Form::Uncompressed)], at),
                    Type::P2shP2wpkh => push_base58(bytes, &parts.p2sh, at),
                    Type::P2wpkh => {
                        let program = &parts.hashes[at * HASH160_NBYTES..][..HASH160_NBYTES];
                        // Writing to a vector cannot fail.
                        let _ = encode_lower_to_fmt_unchecked(&mut Text(bytes), hrp, VERSION_0, program);
                    }
                    Type::P2tr => match &parts.p2tr[i] {
                        Some(program) => {
                            let _ = encode_lower_to_fmt_unchecked(&mut Text(bytes), hrp, VERSION_1, program);
                        }
                        None => is_right = false,
                    },
                }
                bytes.extend_from_slice(if self.is_json { b"\"" } else { b"" });
            }
            bytes.extend_from_slice(if self.is_json { b"}\n" } else { b"\n" });
            if !is_right {
                bytes.truncate(start);
                faults.push((number, "the key has no P2TR address: its tweak is out of range".into()));
            }
        }
        // Faults of reading come first; messages are in the order of the input.
        faults.sort_by_key(|&(number, _)| number);
    }
}

fn no_address(form: Form) -> String {
    match form {
        Form::XOnly => "a key of 32 bytes (x-only) has only a P2TR address".into(),
        _ => "an uncompressed key has only P2PKH and P2TR addresses".into(),
    }
}

/// Converts keys to their hash160.
pub struct Hashes<'a> {
    plan: &'a Plan,
    /// 20 bytes for each key, not lines; nothing after the first fault.
    is_raw: bool,
    keys: Keys,
    hashes: Vec<u8>,
}

impl<'a> Hashes<'a> {
    /// Hashes in hexadecimal, one a line, or `is_raw`: 20 bytes each.
    pub fn new(plan: &'a Plan, is_raw: bool) -> Hashes<'a> {
        Hashes { plan, is_raw, keys: Keys::default(), hashes: Vec::new() }
    }

    /// Hashes rows where they are, right or wrong: a key has no other part in the output.
    fn convert_rows(&mut self, nbytes: usize, block: &Block, Output { bytes, faults }: &mut Output) {
        let rows = block.bytes().chunks_exact(nbytes);
        hash160(block.bytes(), nbytes, &mut self.hashes);
        let mut places = Places::new(bytes, self.is_raw, rows.len());
        for (number, (row, hash)) in (block.first..).zip(rows.zip(self.hashes.chunks_exact(HASH160_NBYTES))) {
            match Form::of(row) {
                Ok(_) => places.push(hash),
                Err(fault) => {
                    faults.push((number, fault));
                    if self.is_raw {
                        break;
                    }
                }
            }
        }
        places.end();
    }

    fn convert_keys(&mut self, block: &Block, Output { bytes, faults }: &mut Output) {
        self.keys.read(self.plan, block, faults);
        let (mut compressed, mut uncompressed) = (Vec::new(), Vec::new());
        hash160(&self.keys.compressed, Form::Compressed.nbytes(), &mut compressed);
        hash160(&self.keys.uncompressed, Form::Uncompressed.nbytes(), &mut uncompressed);
        let last = faults.iter().map(|&(number, _)| number).min().filter(|_| self.is_raw).unwrap_or(u64::MAX);
        let mut places = Places::new(bytes, self.is_raw, self.keys.order.len());
        for (form, number, at, _) in self.keys.iter().take_while(|&(_, number, _, _)| number < last) {
            let hashes = match form {
                Form::Compressed => &compressed,
                Form::Uncompressed => &uncompressed,
                Form::XOnly => {
                    faults.push((number, "a key of 32 bytes (x-only) has no hash160".into()));
                    if self.is_raw {
                        break;
                    }
                    continue;
                }
            };
            places.push(&hashes[at * HASH160_NBYTES..][..HASH160_NBYTES]);
        }
        places.end();
        faults.sort_by_key(|&(number, _)| number);
        faults.truncate(if self.is_raw { 1 } else { usize::MAX });
    }
}

impl Convert for Hashes<'_> {
    fn convert(&mut self, block: &Block, output: &mut Output) {
        match self.plan.source {
            Source::Rows(nbytes) => self.convert_rows(nbytes, block, output),
            Source::Lines | Source::Secrets(_) => self.convert_keys(block, output),
        }
    }
}

/// Room for hashes at the end of an output, which is made once for all of a block.
struct Places<'a> {
    bytes: &'a mut Vec<u8>,
    is_raw: bool,
    at: usize,
}

impl Places<'_> {
    /// Makes room for at most `count` hashes.
    fn new(bytes: &mut Vec<u8>, is_raw: bool, count: usize) -> Places<'_> {
        let at = bytes.len();
        bytes.resize(at + count * if is_raw { HASH160_NBYTES } else { 2 * HASH160_NBYTES + 1 }, b'\n');
        Places { bytes, is_raw, at }
    }

    fn push(&mut self, hash: &[u8]) {
        let place = &mut self.bytes[self.at..];
        self.at += if self.is_raw {
            place[..HASH160_NBYTES].copy_from_slice(hash);
            HASH160_NBYTES
        } else {
            hex::encode(hash, &mut place[..2 * HASH160_NBYTES]);
            // A newline is there already.
            2 * HASH160_NBYTES + 1
        };
    }

    /// Removes the room that is left.
    fn end(self) {
        self.bytes.truncate(self.at);
    }
}

/// Replaces `hashes` by those of rows of `nbytes`.
fn hash160(rows: &[u8], nbytes: usize, hashes: &mut Vec<u8>) {
    let rows = Rows::chunks_exact(rows, nbytes);
    hashes.resize(rows.len() * HASH160_NBYTES, 0);
    hash160_rows(rows, hashes);
}

/// A byte for the network and the type, a hash160, and a checksum.
const BASE58_NBYTES: usize = CONTENT_NBYTES + CHECKSUM_NBYTES;
const CONTENT_NBYTES: usize = 1 + HASH160_NBYTES;
const CHECKSUM_NBYTES: usize = 4;

/// Returns rows of [`BASE58_NBYTES`].
fn with_checksums(prefix: u8, hashes: &[u8]) -> Vec<u8> {
    let count = hashes.len() / HASH160_NBYTES;
    let mut rows = vec![prefix; count * BASE58_NBYTES];
    for (row, hash) in rows.chunks_exact_mut(BASE58_NBYTES).zip(hashes.chunks_exact(HASH160_NBYTES)) {
        row[1..CONTENT_NBYTES].copy_from_slice(hash);
    }
    let mut digests = vec![0; count * 32];
    sha256d_rows(Rows::chunks_exact(&rows, BASE58_NBYTES).columns(0..CONTENT_NBYTES), &mut digests);
    for (row, digest) in rows.chunks_exact_mut(BASE58_NBYTES).zip(digests.chunks_exact(32)) {
        row[CONTENT_NBYTES..].copy_from_slice(&digest[..CHECKSUM_NBYTES]);
    }
    rows
}

/// Appends row `at` in base58.
fn push_base58(text: &mut Vec<u8>, rows: &[u8], at: usize) {
    // 25 bytes are at most 35 digits.
    let mut digits = [0; 40];
    let encoded = bs58::encode(&rows[at * BASE58_NBYTES..][..BASE58_NBYTES]).onto(&mut digits[..]);
    text.extend_from_slice(&digits[..encoded.unwrap_or(0)]);
}

/// Bytes that are written as text.
struct Text<'a>(&'a mut Vec<u8>);

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
