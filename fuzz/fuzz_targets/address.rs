// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads lines and rows of keys, addresses and secret keys as `hashloom address` does, in blocks of any size. There is
//! no panic. Each line is accepted or refused by its number as the oracles say, and what is printed has the script or
//! the public key that they find. `test/addresses.py` compares the addresses and hashes of right keys.

#![no_main]

mod numbers;

use std::path::PathBuf;
use std::sync::OnceLock;

use hashloom_address::{
    Addresses, Block, Convert, Decoder, Hashes, Items, LINE_MAX_NBYTES, Network, Next, Output, Plan, Reader, Source,
    Type,
};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;
use secp256k1::{Secp256k1, SecretKey};
use sha2::{Digest, Sha256};

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Returns the lines or rows that the program should find, with their numbers.
fn split(items: Items, input: &[u8]) -> Vec<(u64, &[u8])> {
    let parts: Vec<&[u8]> = match items {
        Items::Rows(nbytes) => input.chunks_exact(nbytes).collect(),
        Items::Lines | Items::Secrets if input.is_empty() => vec![],
        Items::Lines | Items::Secrets => {
            let lines = input.strip_suffix(b"\n").unwrap_or(input).split(|&byte| byte == b'\n');
            lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
        }
    };
    (1..).zip(parts).collect()
}

/// Runs a converter over a file with this content. Returns its output, and the numbers of faults.
fn convert(items: Items, input: &[u8], block_nbytes: usize, converter: &mut dyn Convert) -> (Vec<u8>, Vec<u64>) {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| tempfile::tempdir().unwrap().keep().join("input"));
    std::fs::write(path, input).unwrap();
    let (mut reader, mut block, mut output) =
        (Reader::new(items, vec![path.clone()]), Block::new(block_nbytes), Output::default());
    let mut at = 0;
    let expected = split(items, input);
    loop {
        match reader.next(&mut block) {
            Next::End => break,
            Next::Trouble(message) => {
                let Items::Rows(nbytes) = items else { panic!("{message}") };
                assert_ne!(input.len() % nbytes, 0, "{message}");
                continue;
            }
            Next::Block => (),
        }
        let found: Vec<&[u8]> = match items {
            Items::Lines | Items::Secrets => block.lines().collect(),
            Items::Rows(nbytes) => block.bytes().chunks_exact(nbytes).collect(),
        };
        for (number, found) in (block.first..).zip(found) {
            let (expected_number, expected) = expected[at];
            let is_cut = found.len() > LINE_MAX_NBYTES && expected.starts_with(found);
            assert!(number == expected_number && (found == expected || is_cut));
            at += 1;
        }
        converter.convert(&block, &mut output);
    }
    assert_eq!(at, expected.len());
    (output.bytes, output.faults.into_iter().map(|(number, _)| number).collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |&digit: &u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let values: Vec<u8> = digits.iter().map(digit).collect::<Option<_>>()?;
    (values.len() % 2 == 0).then(|| values.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Decodes base58 with a checksum by long multiplication. Returns what stands before the checksum.
fn base58(text: &[u8]) -> Option<Vec<u8>> {
    // Bytes of the number, the lowest first.
    let mut number: Vec<u8> = vec![];
    for byte in text {
        let mut carry = BASE58.iter().position(|digit| digit == byte)?;
        for place in &mut number {
            carry += usize::from(*place) * 58;
            *place = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            number.push(carry as u8);
        }
    }
    number.extend(text.iter().take_while(|&&byte| byte == b'1').map(|_| 0));
    number.reverse();
    let content = number.split_off(number.len().checked_sub(4)?);
    (Sha256::digest(Sha256::digest(&number))[..4] == content).then_some(number)
}

fn to_base58(content: &[u8]) -> Vec<u8> {
    let bytes = [content, &Sha256::digest(Sha256::digest(content))[..4]].concat();
    // Digits, the lowest first.
    let mut digits: Vec<usize> = vec![];
    for &byte in &bytes {
        let mut carry = usize::from(byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    digits.extend(bytes.iter().take_while(|&&byte| byte == 0).map(|_| 0));
    digits.iter().rev().map(|&digit| BASE58[digit]).collect()
}

/// The checksum of BIP 173 over a prefix in lower case and values of 5 bits.
fn polymod(hrp: &[u8], values: &[u8]) -> u32 {
    let expanded = hrp.iter().map(|byte| byte >> 5).chain([0]).chain(hrp.iter().map(|byte| byte & 31));
    expanded.chain(values.iter().copied()).fold(1, |check: u32, value| {
        let top = check >> 25;
        let generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
        let chosen = (0..5).filter(|i| top >> i & 1 == 1).map(|i| generators[i]);
        chosen.fold((check & 0x1ff_ffff) << 5 ^ u32::from(value), |check, generator| check ^ generator)
    })
}

const BECH32M: u32 = 0x2bc8_30a3;

/// The script of an address in bech32 of one of the networks (BIP 173, BIP 350, BIP 141).
fn script_of_bech32(text: &[u8]) -> Option<Vec<u8>> {
    let lower = text.to_ascii_lowercase();
    if text.len() > 90 || (lower != text && text.to_ascii_uppercase() != text) {
        return None;
    }
    let end = lower.iter().rposition(|&byte| byte == b'1')?;
    let (hrp, values) = (&lower[..end], &lower[end + 1..]);
    if ![&b"bc"[..], b"tb", b"bcrt"].contains(&hrp) {
        return None;
    }
    let value = |byte: &u8| BECH32.iter().position(|digit| digit == byte).map(|value| value as u8);
    let values: Vec<u8> = values.iter().map(value).collect::<Option<_>>()?;
    let data = &values[..values.len().checked_sub(6)?];
    let (&version, digits) = data.split_first()?;
    if polymod(hrp, &values) != if version == 0 { 1 } else { BECH32M } || version > 16 {
        return None;
    }
    let bits: Vec<u8> = digits.iter().flat_map(|digit| (0..5).rev().map(move |bit| digit >> bit & 1)).collect();
    let (whole, rest) = bits.split_at(bits.len() / 8 * 8);
    let program: Vec<u8> = whole.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
    let is_right = match version {
        0 => [20, 32].contains(&program.len()),
        _ => (2..=40).contains(&program.len()),
    };
    let opcode = if version == 0 { 0 } else { 0x50 + version };
    (is_right && rest.len() < 5 && !rest.contains(&1)).then(|| [&[opcode, program.len() as u8], &program[..]].concat())
}

fn script(address: &[u8]) -> Option<Vec<u8>> {
    if address.len() > LINE_MAX_NBYTES {
        return None;
    }
    let of_base58 = || {
        let content = base58(address).filter(|content| content.len() == 21)?;
        match content[0] {
            0x00 | 0x6f => Some([&[0x76, 0xa9, 20], &content[1..], &[0x88, 0xac]].concat()),
            0x05 | 0xc4 => Some([&[0xa9, 20], &content[1..], &[0x87]].concat()),
            _ => None,
        }
    };
    script_of_bech32(address).or_else(of_base58)
}

/// The compressed or uncompressed public key of a secret key in a line.
fn public_key(secp: &Secp256k1<secp256k1::All>, wif: u8, line: &[u8]) -> Option<Vec<u8>> {
    let (secret, is_compressed) = match line.len() {
        64 => (unhex(line)?, true),
        51 | 52 => match base58(line)? {
            content if content.first() != Some(&wif) => return None,
            content if content.len() == 33 => (content[1..].to_vec(), false),
            content if content.len() == 34 && content[33] == 1 => (content[1..33].to_vec(), true),
            _ => return None,
        },
        _ => return None,
    };
    let key = SecretKey::from_byte_array(secret.try_into().unwrap()).ok()?.public_key(secp);
    Some(if is_compressed { key.serialize().to_vec() } else { key.serialize_uncompressed().to_vec() })
}

/// Replaces some lines by ones with a right checksum, which chance does not find.
fn mend(input: &[u8]) -> Vec<u8> {
    let mend = |line: &[u8]| -> Vec<u8> {
        match line.split_first() {
            Some((b'!', content)) => to_base58(content),
            Some((b'#', content)) => {
                let mut numbers = Numbers(content);
                let hrp = [&b"bc"[..], b"tb", b"bcrt", b"bc1", b"tb1q", b"tc"][numbers.next() % 6];
                let constant = [1, BECH32M, 0][numbers.next() % 3];
                let mut values: Vec<u8> = numbers.0.iter().map(|byte| byte & 31).collect();
                let check = polymod(hrp, &[&values[..], &[0; 6]].concat()) ^ constant;
                values.extend((0..6).rev().map(|i| (check >> (5 * i)) as u8 & 31));
                let digits = values.iter().map(|&value| BECH32[usize::from(value)]);
                hrp.iter().copied().chain([b'1']).chain(digits).collect()
            }
            _ => line.to_vec(),
        }
    };
    input.split(|&byte| byte == b'\n').map(mend).collect::<Vec<_>>().join(&b'\n')
}

fn plan(source: Source, must_be_points: bool) -> Plan {
    Plan { source, must_be_points, secp: Secp256k1::new() }
}

/// The keys of the lines that a converter has printed.
fn first_columns(text: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(text).unwrap().lines().map(|line| line.split(',').next().unwrap())
}

/// Returns the keys that have the right length and first byte, and the numbers of the others.
fn of_form<'a>(keys: impl Iterator<Item = (u64, Option<Vec<u8>>)> + 'a) -> (Vec<Vec<u8>>, Vec<u64>) {
    let (mut right, mut wrong) = (vec![], vec![]);
    for (number, key) in keys {
        match key.filter(|key| matches!((key.len(), key.first()), (33, Some(2 | 3)) | (65, Some(4)))) {
            Some(key) => right.push(key),
            None => wrong.push(number),
        }
    }
    (right, wrong)
}

const TYPES: [Type; 3] = [Type::P2pkh, Type::P2shP2wpkh, Type::P2wpkh];

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let mode = numbers.next() % 5;
    let block_nbytes = 2 * LINE_MAX_NBYTES + 1 + numbers.next() * 8;
    let input = mend(numbers.0);
    match mode {
        0 => {
            let (text, faults) = convert(Items::Lines, &input, block_nbytes, &mut Decoder { is_json: false });
            let lines = split(Items::Lines, &input).into_iter().map(|(number, line)| (number, line, script(line)));
            let (right, wrong): (Vec<_>, Vec<_>) = lines.partition(|(_, _, script)| script.is_some());
            assert!(faults.into_iter().eq(wrong.iter().map(|&(number, ..)| number)));
            let found: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
            assert_eq!(found.len(), right.len());
            for (found, (_, address, script)) in found.into_iter().zip(right) {
                let columns: Vec<&str> = found.split(',').collect();
                assert_eq!((columns.len(), columns[0].as_bytes()), (5, address));
                assert_eq!(Some(columns[4]), script.map(|script| hex(&script)).as_deref());
            }
        }
        1 => {
            let plan = plan(Source::Lines, false);
            let prefixes = Network::Main.prefixes();
            let mut converter = Addresses::new(&plan, &TYPES, prefixes, false);
            let (text, faults) = convert(Items::Lines, &input, block_nbytes, &mut converter);
            let keys = split(Items::Lines, &input).into_iter().map(|(number, line)| (number, unhex(line)));
            let (right, wrong) = of_form(keys);
            assert_eq!(faults, wrong);
            assert!(first_columns(&text).eq(right.iter().map(|key| hex(key))));
        }
        2 => {
            let network = [Network::Main, Network::Signet, Network::Regtest][input.len() % 3];
            let plan = plan(Source::Secrets(network), true);
            let mut converter = Addresses::new(&plan, &[Type::P2tr], network.prefixes(), false);
            let (text, faults) = convert(Items::Lines, &input, block_nbytes, &mut converter);
            let wif = network.prefixes().wif;
            let keys = split(Items::Lines, &input).into_iter();
            let (right, wrong) = of_form(keys.map(|(number, line)| (number, public_key(&plan.secp, wif, line))));
            assert_eq!(faults, wrong);
            assert!(first_columns(&text).eq(right.iter().map(|key| hex(key))));
        }
        _ => {
            let nbytes = [33, 65][block_nbytes / 8 % 2];
            let (plan, is_raw) = (plan(Source::Rows(nbytes), false), mode == 3);
            let mut converter = Hashes::new(&plan, is_raw);
            let (found, mut faults) = convert(Items::Rows(nbytes), &input, block_nbytes, &mut converter);
            let rows = split(Items::Rows(nbytes), &input).into_iter();
            let (right, wrong) = of_form(rows.map(|(number, row)| (number, Some(row.to_vec()))));
            if is_raw {
                // The first fault ends a block; `hashloom address` prints no other.
                faults.truncate(1);
                assert!(faults.iter().eq(wrong.first()));
                assert!(!faults.is_empty() || found.len() == right.len() * 20);
            } else {
                assert_eq!((faults, found.len()), (wrong, right.len() * 41));
            }
        }
    }
});
