// SPDX-License-Identifier: MIT OR Apache-2.0

//! Public keys from lines, rows and secret keys.

use secp256k1::{All, Parity, PublicKey, Secp256k1};

use crate::hex;
use crate::input::{Block, LINE_MAX_NBYTES};
use crate::network::Network;
use crate::secret;

/// The forms of a public key (SEC 1 section 2.3.3, BIP 340).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 32 bytes: x alone.
    XOnly,
    /// 33 bytes.
    Compressed,
    /// 65 bytes.
    Uncompressed,
}

impl Form {
    /// Bytes of a key.
    pub const fn nbytes(self) -> usize {
        match self {
            Form::XOnly => 32,
            Form::Compressed => 33,
            Form::Uncompressed => 65,
        }
    }

    /// Returns the form of a key by its length and first byte.
    pub fn of(key: &[u8]) -> Result<Form, String> {
        match (key.len(), key.first()) {
            (32, _) => Ok(Form::XOnly),
            (33, Some(2 | 3)) => Ok(Form::Compressed),
            (65, Some(4)) => Ok(Form::Uncompressed),
            (33, Some(first)) => Err(format!("expected a key of 33 bytes to begin with 02 or 03, found {first:02x}")),
            (65, Some(first)) => Err(format!("expected a key of 65 bytes to begin with 04, found {first:02x}")),
            (nbytes, _) => Err(format!("expected a public key of 32, 33 or 65 bytes, found {nbytes}")),
        }
    }
}

/// The kind of the items.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Lines with keys in hexadecimal.
    Lines,
    /// Binary keys of this number of bytes.
    Rows(usize),
    /// Lines with secret keys of this network.
    Secrets(Network),
}

/// The public keys of a block: each form in rows of its own.
#[derive(Default)]
pub struct Keys {
    /// The form of each key, in the order of the input, and its number there.
    pub order: Vec<(Form, u64)>,
    pub x_only: Vec<u8>,
    pub compressed: Vec<u8>,
    pub uncompressed: Vec<u8>,
    /// The points of all keys, each with an even y, if they are wanted.
    pub points: Vec<PublicKey>,
}

impl Keys {
    fn clear(&mut self) {
        let Keys { order, x_only, compressed, uncompressed, points } = self;
        order.clear();
        [x_only, compressed, uncompressed].into_iter().for_each(Vec::clear);
        points.clear();
    }

    /// Returns each key with its form, its number in the input and its number among the keys of its form.
    pub fn iter(&self) -> impl Iterator<Item = (Form, u64, usize, &[u8])> {
        let mut nkeys = [0; 3];
        self.order.iter().map(move |&(form, number)| {
            let at = nkeys[form as usize];
            nkeys[form as usize] += 1;
            let rows = match form {
                Form::XOnly => &self.x_only,
                Form::Compressed => &self.compressed,
                Form::Uncompressed => &self.uncompressed,
            };
            (form, number, at, &rows[at * form.nbytes()..][..form.nbytes()])
        })
    }

    /// Appends a key.
    fn push(&mut self, key: &[u8], number: u64, plan: &Plan) -> Result<(), String> {
        let form = Form::of(key)?;
        if plan.must_be_points {
            let point = match form {
                // 02: y is even.
                Form::XOnly => PublicKey::from_slice(&[&[2], key].concat()),
                _ => PublicKey::from_slice(key),
            };
            let point = point.map_err(|_| "the key is not a point of the curve secp256k1")?;
            let is_odd = point.x_only_public_key().1 == Parity::Odd;
            self.points.push(if is_odd { point.negate(&plan.secp) } else { point });
        }
        self.order.push((form, number));
        match form {
            Form::XOnly => &mut self.x_only,
            Form::Compressed => &mut self.compressed,
            Form::Uncompressed => &mut self.uncompressed,
        }
        .extend_from_slice(key);
        Ok(())
    }

    /// Replaces the keys by those of a block, and appends why others are missing.
    pub fn read(&mut self, plan: &Plan, block: &Block, faults: &mut Vec<(u64, String)>) {
        self.clear();
        let mut take = |number, result: Result<(), String>| faults.extend(result.err().map(|fault| (number, fault)));
        match plan.source {
            Source::Rows(nbytes) => {
                for (number, row) in (block.first..).zip(block.bytes().chunks_exact(nbytes)) {
                    take(number, self.push(row, number, plan));
                }
            }
            Source::Lines => {
                let mut bytes = [0; Form::Uncompressed.nbytes()];
                for (number, line) in (block.first..).zip(block.lines()) {
                    let key = from_hex(line, &mut bytes);
                    take(number, key.and_then(|key| self.push(key, number, plan)));
                }
            }
            Source::Secrets(network) => {
                for (number, line) in (block.first..).zip(block.lines()) {
                    let key = secret::public_key(&plan.secp, network, line);
                    take(
                        number,
                        key.and_then(|(key, form)| match form {
                            Form::Uncompressed => self.push(&key.serialize_uncompressed(), number, plan),
                            _ => self.push(&key.serialize(), number, plan),
                        }),
                    );
                }
            }
        }
    }
}

/// How keys are read.
pub struct Plan {
    /// The kind of the items.
    pub source: Source,
    /// Whether keys that are no points of the curve are refused; otherwise only their form is checked.
    pub must_be_points: bool,
    /// The context of the curve.
    pub secp: Secp256k1<All>,
}

/// Reads a public key in hexadecimal.
fn from_hex<'a>(line: &[u8], bytes: &'a mut [u8; 65]) -> Result<&'a [u8], String> {
    check_length(line)?;
    let key = match line.len() {
        64 | 66 | 130 => &mut bytes[..line.len() / 2],
        0 => return Err("expected a public key, found an empty line".into()),
        ndigits => return Err(format!("expected a public key of 64, 66 or 130 digits, found {ndigits} characters")),
    };
    match hex::decode(line, key) {
        Ok(()) => Ok(key),
        Err(at) => Err(format!("expected hexadecimal digits, found {} in column {}", character(line[at]), at + 1)),
    }
}

/// Formats a byte of a line for a message.
pub fn character(byte: u8) -> String {
    if byte.is_ascii_graphic() { char::from(byte).into() } else { format!("the byte {byte:#04x}") }
}

pub fn check_length(line: &[u8]) -> Result<(), String> {
    match line.len() {
        0..=LINE_MAX_NBYTES => Ok(()),
        _ => Err(format!("expected at most {LINE_MAX_NBYTES} bytes, found more")),
    }
}
