// SPDX-License-Identifier: MIT OR Apache-2.0
//! PBKDF2: keys from passwords, as hashlib derives them, and from many passwords at once.

use std::num::NonZeroU32;
use std::thread;

use hashloom::{Algorithm, pbkdf2_many};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::buffer::Data;
use crate::hash::{algorithm, for_hmac};
use crate::memory;
use crate::work::nthreads;

/// Passwords in a share of a thread: blocks for all lanes of any kernel.
const SHARE: usize = 16;

const THREADS_MAX: usize = 1024;

/// Iterations of one block that a thread does between two looks at signals, if its share is not larger already: about
/// a twentieth of a second.
const STRETCH: u64 = 1 << 20;

/// The parameters that all keys of a call share.
struct Form {
    algorithm: Algorithm,
    niterations: NonZeroU32,
    key_nbytes: usize,
}

impl Form {
    /// Both numbers may come from a file that somebody else wrote.
    fn new(name: &str, iterations: i64, dklen: Option<i64>) -> PyResult<Form> {
        let algorithm = for_hmac(algorithm(name)?)?;
        let dklen = dklen.unwrap_or(algorithm.digest_nbytes() as i64);
        for (name, number) in [("iterations", iterations), ("dklen", dklen)] {
            if number < 1 {
                return Err(PyValueError::new_err(format!("{name} is {number}: expected at least 1")));
            }
        }
        let too_large =
            |name, number, most| PyOverflowError::new_err(format!("{name} is {number}: at most {most} are allowed"));
        let niterations = u32::try_from(iterations).ok().and_then(NonZeroU32::new);
        let niterations = niterations.ok_or_else(|| too_large("iterations", iterations, u32::MAX as u64))?;
        let most = u32::MAX as u64 * algorithm.digest_nbytes() as u64;
        let key_nbytes = usize::try_from(dklen).ok().filter(|&nbytes| nbytes as u64 <= most);
        let key_nbytes = key_nbytes.ok_or_else(|| too_large("dklen", dklen, most))?;
        Ok(Form { algorithm, niterations, key_nbytes })
    }

    fn derive(&self, passwords: &[&[u8]], salts: &[&[u8]], keys: &mut [u8]) {
        pbkdf2_many(self.algorithm, passwords, salts, self.niterations, self.key_nbytes, keys);
    }

    /// Passwords that a thread takes between two looks at signals.
    fn stretch(&self) -> usize {
        let nblocks = self.key_nbytes.div_ceil(self.algorithm.digest_nbytes()) as u64;
        let count = STRETCH / u64::from(self.niterations.get()).saturating_mul(nblocks);
        (count as usize).next_multiple_of(SHARE).max(SHARE)
    }
}

/// Returns the key derived from a password, as hashlib.pbkdf2_hmac.
#[pyfunction]
#[pyo3(signature = (hash_name, password, salt, iterations, dklen = None))]
fn pbkdf2_hmac<'py>(
    hash_name: &str,
    password: &Bound<'py, PyAny>,
    salt: &Bound<'py, PyAny>,
    iterations: i64,
    dklen: Option<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = password.py();
    let form = Form::new(hash_name, iterations, dklen)?;
    let (password, salt) = (Data::of(password)?, Data::of(salt)?);
    let (password, salt) = (password.bytes(), salt.bytes());
    // The key goes straight into the object, which no other thread knows yet: no copy of it stays behind.
    PyBytes::new_with(py, form.key_nbytes, |key| {
        py.detach(|| form.derive(&[password], &[salt], key));
        Ok(())
    })
}

/// Returns the keys derived from many passwords, each with its own salt.
#[pyfunction]
#[pyo3(signature = (hash_name, passwords, salts, iterations, dklen = None, *, threads = None))]
fn pbkdf2_hmac_many<'py>(
    hash_name: &str,
    passwords: &Bound<'py, PyAny>,
    salts: &Bound<'py, PyAny>,
    iterations: i64,
    dklen: Option<i64>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let py = passwords.py();
    let form = Form::new(hash_name, iterations, dklen)?;
    let nthreads = nthreads(threads)?.min(THREADS_MAX);
    let (passwords, salts) = (Data::of_all(passwords, "password")?, Data::of_all(salts, "salt")?);
    if passwords.len() != salts.len() {
        let message = format!("expected a salt for each password, found {} for {}", salts.len(), passwords.len());
        return Err(PyValueError::new_err(message));
    }
    let passwords: Vec<&[u8]> = passwords.iter().map(Data::bytes).collect();
    let salts: Vec<&[u8]> = salts.iter().map(Data::bytes).collect();
    let mut results = Vec::with_capacity(passwords.len());
    let stretch = form.stretch().saturating_mul(nthreads);
    for (passwords, salts) in passwords.chunks(stretch).zip(salts.chunks(stretch)) {
        let mut keys = Zeroizing::new(memory::zeros(passwords.len(), form.key_nbytes)?);
        let share = passwords.len().div_ceil(nthreads).next_multiple_of(SHARE);
        py.detach(|| {
            thread::scope(|scope| {
                let keys = keys.chunks_mut(share.saturating_mul(form.key_nbytes));
                let mut shares = passwords.chunks(share).zip(salts.chunks(share)).zip(keys);
                let first = shares.next();
                let others: Vec<_> = shares
                    .map(|((passwords, salts), keys)| scope.spawn(|| form.derive(passwords, salts, keys)))
                    .collect();
                // The caller's thread takes a share too.
                if let Some(((passwords, salts), keys)) = first {
                    form.derive(passwords, salts, keys);
                }
                hashloom_engine::run::join(others);
            });
        });
        for key in keys.chunks_exact(form.key_nbytes) {
            results.push(PyBytes::new_with(py, key.len(), |bytes| {
                bytes.copy_from_slice(key);
                Ok(())
            })?);
        }
        py.check_signals()?;
    }
    Ok(results)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pbkdf2_hmac, module)?)?;
    module.add_function(wrap_pyfunction!(pbkdf2_hmac_many, module)?)
}
