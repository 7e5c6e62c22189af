// SPDX-License-Identifier: MIT OR Apache-2.0
//! PBKDF2: keys from passwords, as hashlib derives them, and from many passwords at once.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hashloom::{Algorithm, Stopped, pbkdf2_many_until};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::buffer::Data;
use crate::hash::{algorithm, for_hmac};
use crate::memory;
use crate::signals::Signals;
use crate::work::nthreads;

/// Passwords in a share of a thread: blocks for all lanes of any kernel.
const SHARE: usize = 16;

const THREADS_MAX: usize = 1024;

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

    /// Derives keys without the interpreter lock, until a signal raises an exception.
    fn derive(
        &self,
        py: Python<'_>,
        passwords: &[&[u8]],
        salts: &[&[u8]],
        nthreads: usize,
        keys: &mut [u8],
    ) -> PyResult<()> {
        let share = passwords.len().div_ceil(nthreads).next_multiple_of(SHARE).max(SHARE);
        let is_stopped = AtomicBool::new(false);
        let (mut raised, mut signals) = (Ok(()), Signals::new());
        // The caller's thread alone may look at signals.
        let look = || {
            if raised.is_ok() {
                raised = signals.check();
                is_stopped.fetch_or(raised.is_err(), Ordering::Relaxed);
            }
            raised.is_err()
        };
        let derived = py.detach(|| {
            thread::scope(|scope| {
                let keys = keys.chunks_mut(share.saturating_mul(self.key_nbytes));
                let mut shares = passwords.chunks(share).zip(salts.chunks(share)).zip(keys);
                let first = shares.next();
                let others: Vec<_> = shares
                    .map(|((passwords, salts), keys)| {
                        scope.spawn(|| self.derive_until(passwords, salts, keys, || is_stopped.load(Ordering::Relaxed)))
                    })
                    .collect();
                // The caller's thread takes a share too.
                let mut derived = match first {
                    Some(((passwords, salts), keys)) => self.derive_until(passwords, salts, keys, look),
                    None => Ok(()),
                };
                for thread in others {
                    derived = derived.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                }
                derived
            })
        });
        raised?;
        // A signal whose handler raises nothing stops nothing.
        derived.map_err(|Stopped| PyRuntimeError::new_err("the derivation was stopped without a reason: this is a bug"))
    }

    fn derive_until(
        &self,
        passwords: &[&[u8]],
        salts: &[&[u8]],
        keys: &mut [u8],
        is_stopped: impl FnMut() -> bool,
    ) -> Result<(), Stopped> {
        pbkdf2_many_until(self.algorithm, passwords, salts, self.niterations, self.key_nbytes, keys, is_stopped)
    }
}

/// Returns the key derived from a password, as hashlib.pbkdf2_hmac.
///
/// `iterations`: 1 to 2^32 - 1. `dklen`: bytes of the key, 1 to 2^32 - 1 digests; a digest if it is None. Ctrl-C stops
/// it.
///
/// ValueError: no such algorithm, or SHAKE; a number below 1. OverflowError: a number that is too large.
///
/// >>> import pyhashloom
/// >>> pyhashloom.pbkdf2_hmac("sha256", b"password", b"salt", 1000, dklen=8).hex()
/// '632c2812e46d4604'
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
    let (password, salt) = (Data::named(password, "password")?, Data::named(salt, "salt")?);
    let (password, salt) = (password.bytes(), salt.bytes());
    // The key goes straight into the object, which no other thread knows yet: no copy of it stays behind.
    PyBytes::new_with(py, form.key_nbytes, |key| form.derive(py, &[password], &[salt], 1, key))
}

/// Returns the keys derived from many passwords, each with its own salt, in a list.
///
/// `threads`: the most threads; 0 means one for each CPU. The other parameters and errors are those of `pbkdf2_hmac`;
/// ValueError too if there are not as many salts as passwords.
///
/// >>> import pyhashloom
/// >>> [key.hex() for key in pyhashloom.pbkdf2_hmac_many("sha1", [b"a", b"b"], [b"salt", b"salt 2"], 1000, dklen=4)]
/// ['5b1a70a9', '42e9fe12']
#[pyfunction]
#[pyo3(signature = (hash_name, passwords, salts, iterations, dklen = None, *, threads = 0))]
fn pbkdf2_hmac_many<'py>(
    hash_name: &str,
    passwords: &Bound<'py, PyAny>,
    salts: &Bound<'py, PyAny>,
    iterations: i64,
    dklen: Option<i64>,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let py = passwords.py();
    let form = Form::new(hash_name, iterations, dklen)?;
    let nthreads = nthreads(threads).min(THREADS_MAX);
    let (passwords, salts) = (Data::of_all(passwords, "password")?, Data::of_all(salts, "salt")?);
    if passwords.len() != salts.len() {
        let message = format!("expected a salt for each password, found {} for {}", salts.len(), passwords.len());
        return Err(PyValueError::new_err(message));
    }
    let passwords: Vec<&[u8]> = passwords.iter().map(Data::bytes).collect();
    let salts: Vec<&[u8]> = salts.iter().map(Data::bytes).collect();
    let mut keys = Zeroizing::new(memory::zeros(passwords.len(), form.key_nbytes)?);
    form.derive(py, &passwords, &salts, nthreads, &mut keys)?;
    let key = |key: &[u8]| {
        PyBytes::new_with(py, key.len(), |bytes| {
            bytes.copy_from_slice(key);
            Ok(())
        })
    };
    keys.chunks_exact(form.key_nbytes).map(key).collect()
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pbkdf2_hmac, module)?)?;
    module.add_function(wrap_pyfunction!(pbkdf2_hmac_many, module)?)
}
