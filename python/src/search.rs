// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for nonces whose digest is low enough.

use hashloom::Algorithm;
use hashloom::search::{Search, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::buffer::Data;
use crate::hash::algorithm;

/// Nonces between two looks at signals: a tenth of a second, or less.
const STRETCH: u64 = 1 << 21;

/// The most digits of a nonce, and bits and bytes of a target.
const DIGITS_MAX: u32 = 64;
const BITS_MAX: usize = 512;

fn target_of(target: Option<&[u8]>, zero_bits: Option<usize>, compact: Option<u32>) -> PyResult<Target> {
    match (target, zero_bits, compact) {
        (Some(bytes), None, None) if bytes.len() <= BITS_MAX / 8 => Ok(Target::first_bytes(bytes)),
        (Some(bytes), None, None) => Err(PyValueError::new_err(format!(
            "target has {} bytes: at most {} are allowed",
            bytes.len(),
            BITS_MAX / 8
        ))),
        (None, Some(nbits), None) if nbits <= BITS_MAX => Ok(Target::zero_bits(nbits)),
        (None, Some(nbits), None) => {
            Err(PyValueError::new_err(format!("zero_bits is {nbits}: at most {BITS_MAX} are allowed")))
        }
        (None, None, Some(bits)) => Target::compact(bits)
            .ok_or_else(|| PyValueError::new_err(format!("compact is {bits:#010x}, which no valid header has"))),
        _ => Err(PyTypeError::new_err("expected one of target, zero_bits and compact")),
    }
}

/// The algorithm of a name, if there are searches with it: there are none with sponges, SHA-3 and SHAKE.
fn searched(name: &str) -> PyResult<Algorithm> {
    let algorithm = algorithm(name)?;
    match Search::takes(algorithm) {
        true => Ok(algorithm),
        false => Err(PyValueError::new_err(format!("there is no search with {name}: choose another, such as sha256"))),
    }
}

/// Returns the first nonces from `first` to `last`, both included, whose digests are low enough: at most `limit`.
///
/// A message is `prefix`, the nonce and `suffix`. One of these says what is low enough: `zero_bits` in front; `target`,
/// the greatest first bytes; `compact`, a target as in a Bitcoin header. `digits` are those that a nonce is written with,
/// 2 to 256 different bytes; without them it is bytes. `width`: digits or bytes of each nonce. `again` names the
/// algorithm that hashes each digest once more. `least_digit_first` and `least_byte_first` turn the order of the nonce
/// and of the digest round.
///
/// ValueError: parameters that contradict each other, or an algorithm without a search (SHA-3). Ctrl-C stops it.
///
/// >>> import pyhashloom
/// >>> pyhashloom.search("sha256", 0, 100_000, zero_bits=16, prefix=b"hello ", digits=b"0123456789")
/// [4361]
#[pyfunction]
#[pyo3(signature = (
    name, /, first, last, *, target=None, zero_bits=None, compact=None, prefix=None, suffix=None, digits=None,
    width=None, again=None, least_digit_first=false, least_byte_first=false, limit=1
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
fn search(
    py: Python<'_>,
    name: &str,
    first: u64,
    last: u64,
    target: Option<Bound<'_, PyAny>>,
    zero_bits: Option<usize>,
    compact: Option<u32>,
    prefix: Option<Bound<'_, PyAny>>,
    suffix: Option<Bound<'_, PyAny>>,
    digits: Option<Bound<'_, PyAny>>,
    width: Option<u32>,
    again: Option<&str>,
    least_digit_first: bool,
    least_byte_first: bool,
    limit: usize,
) -> PyResult<Vec<u64>> {
    let data = |object: &Option<Bound<'_, PyAny>>| -> PyResult<Vec<u8>> {
        // A copy: the search runs without the interpreter lock, and a buffer may change meanwhile.
        Ok(object.as_ref().map(Data::of).transpose()?.map_or_else(Vec::new, |data| data.bytes().to_vec()))
    };
    let (prefix, suffix, digits_given) = (data(&prefix)?, data(&suffix)?, digits.is_some());
    let digits = data(&digits)?;
    let target = target.as_ref().map(Data::of).transpose()?;
    let mut search =
        Search::new(searched(name)?, target_of(target.as_ref().map(|target| target.bytes()), zero_bits, compact)?)
            .prefix(&prefix)
            .suffix(&suffix);
    let mut base = 256;
    if digits_given {
        if !(2..=256).contains(&digits.len()) {
            return Err(PyValueError::new_err(format!("digits has {} bytes: expected 2 to 256", digits.len())));
        }
        search = search.digits(&digits);
        base = digits.len() as u64;
    }
    if first > last {
        return Err(PyValueError::new_err(format!("first is {first}, after last, {last}")));
    }
    if let Some(width) = width {
        if !(1..=DIGITS_MAX).contains(&width) {
            return Err(PyValueError::new_err(format!("width is {width}: expected 1 to {DIGITS_MAX}")));
        }
        if base.checked_pow(width).is_some_and(|count| last >= count) {
            return Err(PyValueError::new_err(format!("last is {last}, which has more than {width} digits")));
        }
        search = search.width(width);
    }
    if let Some(name) = again {
        search = search.again(searched(name)?);
    }
    if least_digit_first {
        search = search.least_digit_first();
    }
    if least_byte_first {
        search = search.least_byte_first();
    }
    let mut found = Vec::new();
    let mut room = [0; 256];
    let mut next = first;
    while found.len() < limit {
        let end = last.min(next.saturating_add(STRETCH - 1));
        let nwanted = room.len().min(limit - found.len());
        let nonces = py.detach(|| search.find_all(next, end, &mut room[..nwanted]).len());
        found.extend_from_slice(&room[..nonces]);
        py.check_signals()?;
        let tried = if nonces == nwanted { room[nonces - 1] } else { end };
        if tried == last {
            break;
        }
        next = tried + 1;
    }
    Ok(found)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(search, module)?)
}
