// SPDX-License-Identifier: MIT OR Apache-2.0

//! Addresses to their hash160 and script.

use std::io::Write;

use bech32::segwit;
use hashloom::{Rows, sha256d_rows};
use hashloom_files::text::Hex;

use crate::convert::{Convert, Output};
use crate::hex;
use crate::input::Block;
use crate::keys::{character, check_length};
use crate::network::Network;

/// The meaning of an address.
struct Decoded {
    network: Network,
    /// The type of the script.
    kind: &'static str,
    /// The bytes of `script` that are a hash160, if any are.
    hash160: Option<std::ops::Range<usize>>,
    script: Vec<u8>,
}

/// Converts addresses to lines.
pub struct Decoder {
    /// Whether each line is a JSON object, instead of CSV.
    pub is_json: bool,
}

/// The columns.
pub const HEADER: &str = "address,network,type,hash160,script\n";

impl Convert for Decoder {
    fn convert(&mut self, block: &Block, Output { bytes, faults }: &mut Output) {
        for (number, line) in (block.first..).zip(block.lines()) {
            match check_length(line).and_then(|()| decode(line)) {
                Ok(decoded) => self.push(bytes, line, &decoded),
                Err(fault) => faults.push((number, fault)),
            }
        }
    }
}

impl Decoder {
    /// Appends a line. `address` was decoded, and has letters and digits only.
    fn push(&self, bytes: &mut Vec<u8>, address: &[u8], decoded: &Decoded) {
        let Decoded { network, kind, hash160, script } = decoded;
        let (address, network) = (String::from_utf8_lossy(address), network.name());
        let hash160 = hash160.clone().map(|range| Hex(&script[range]));
        // Writing to a vector cannot fail.
        let _ = if self.is_json {
            let hash160 = hash160.map_or(String::new(), |hash160| format!("\"hash160\":\"{hash160}\","));
            write!(
                bytes,
                "{{\"address\":\"{address}\",\"network\":\"{network}\",\"type\":\"{kind}\",{hash160}\"script\":\""
            )
        } else {
            let hash160 = hash160.map_or(String::new(), |hash160| hash160.to_string());
            write!(bytes, "{address},{network},{kind},{hash160},")
        };
        hex::push(bytes, script);
        bytes.extend_from_slice(if self.is_json { b"\"}\n" } else { b"\n" });
    }
}

/// Opcodes of scripts, by their names in Bitcoin Core's script.h.
const OP_1: u8 = 0x51;
const OP_DUP: u8 = 0x76;
const OP_EQUAL: u8 = 0x87;
const OP_EQUALVERIFY: u8 = 0x88;
const OP_HASH160: u8 = 0xa9;
const OP_CHECKSIG: u8 = 0xac;

fn decode(address: &[u8]) -> Result<Decoded, String> {
    if address.is_empty() {
        return Err("expected an address, found an empty line".into());
    }
    // No address in base58 of these networks begins with b or t.
    let is_of = |network: &Network| {
        let hrp = network.prefixes().hrp;
        let hrp = hrp.as_str().as_bytes();
        address.len() > hrp.len() && address[..hrp.len()].eq_ignore_ascii_case(hrp) && address[hrp.len()] == b'1'
    };
    match Network::DIFFERENT.into_iter().find(is_of) {
        Some(network) => of_bech32(network, address),
        None => of_base58(address),
    }
}

fn of_bech32(network: Network, address: &[u8]) -> Result<Decoded, String> {
    let text = std::str::from_utf8(address).map_err(|_| "expected bech32, found other characters")?;
    let (hrp, version, program) = segwit::decode(text).map_err(|error| format!("not an address in bech32: {error}"))?;
    // The last 1 ends the prefix (BIP 173): bc1x1... is of another network, whose prefix is bc1x.
    if hrp != network.prefixes().hrp {
        return Err("expected bech32 with one digit 1, after bc, tb or bcrt; found another".into());
    }
    let version = version.to_u8();
    let opcode = if version == 0 { 0 } else { OP_1 - 1 + version };
    let script = [&[opcode, program.len() as u8], &program[..]].concat();
    let kind = match (version, program.len()) {
        (0, 20) => "p2wpkh",
        (0, 32) => "p2wsh",
        (1, 32) => "p2tr",
        _ => "witness_unknown",
    };
    let hash160 = (kind == "p2wpkh").then_some(2..22);
    Ok(Decoded { network, kind, hash160, script })
}

fn of_base58(address: &[u8]) -> Result<Decoded, String> {
    const NBYTES: usize = 25;
    let mut bytes = [0; NBYTES];
    let nbytes = bs58::decode(address).onto(&mut bytes[..]).map_err(|error| match error {
        bs58::decode::Error::InvalidCharacter { index, .. } | bs58::decode::Error::NonAsciiCharacter { index } => {
            let found = character(address[index]);
            format!(
                "expected base58, or bech32 that begins with bc1, tb1 or bcrt1; found {found} in column {}",
                index + 1
            )
        }
        _ => format!("expected base58 of {NBYTES} bytes, found more"),
    })?;
    if nbytes != NBYTES {
        return Err(format!("expected base58 of {NBYTES} bytes, found {nbytes}"));
    }
    let mut digest = [0; 32];
    sha256d_rows(Rows::chunks_exact(&bytes, NBYTES).columns(0..NBYTES - 4), &mut digest);
    if digest[..4] != bytes[NBYTES - 4..] {
        return Err("the checksum is wrong: the address was mistyped or cut".into());
    }
    let hash = &bytes[1..21];
    let is_of = |network: &Network| [network.prefixes().p2pkh, network.prefixes().p2sh].contains(&bytes[0]);
    let network = Network::DIFFERENT.into_iter().find(is_of);
    let network = network.ok_or_else(|| format!("expected a prefix of 00, 05, 6f or c4, found {:02x}", bytes[0]))?;
    Ok(if bytes[0] == network.prefixes().p2pkh {
        let script = [&[OP_DUP, OP_HASH160, 20], hash, &[OP_EQUALVERIFY, OP_CHECKSIG]].concat();
        Decoded { network, kind: "p2pkh", hash160: Some(3..23), script }
    } else {
        let script = [&[OP_HASH160, 20], hash, &[OP_EQUAL]].concat();
        Decoded { network, kind: "p2sh", hash160: Some(2..22), script }
    })
}
