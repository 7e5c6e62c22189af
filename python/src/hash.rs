// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashlib's shape: hash objects and their constructors.

use std::sync::{Mutex, PoisonError};

use hashloom::{Algorithm, Hasher};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyString};

use crate::buffer::{Data, Given};
use crate::hex;

/// From this length on the GIL is released while a message is hashed, as in hashlib.
pub const DETACH_NBYTES: usize = 2048;

/// The algorithm of a name in hashlib's spelling, the standard's or this package's, in either case: sha512_256,
/// SHA-512/256, sha512-256.
pub fn algorithm(name: &str) -> PyResult<Algorithm> {
    known(name).ok_or_else(|| unknown(name, ""))
}

/// Like [`algorithm`], for names that may be others too.
pub fn known(name: &str) -> Option<Algorithm> {
    name.to_ascii_lowercase().replace(['_', '/'], "-").replacen("sha-", "sha", 1).parse().ok()
}

/// The error for a name that is neither an algorithm's nor one of `others`.
pub fn unknown(name: &str, others: &str) -> PyErr {
    let names: Vec<_> = Algorithm::ALL.iter().map(|&algorithm| python_name(algorithm)).collect();
    PyValueError::new_err(format!("unsupported hash type {name:?}: expected one of {}{others}", names.join(", ")))
}

/// hashlib's spelling of an algorithm's name.
pub fn python_name(algorithm: Algorithm) -> String {
    algorithm.name().replace('-', "_")
}

/// Calls a function on a value that threads share: without the interpreter lock if `nbytes` are worth it.
pub fn work_on<T: Send>(py: Python<'_>, value: &Mutex<T>, nbytes: usize, work: impl FnOnce(&mut T) + Send) {
    if nbytes < DETACH_NBYTES {
        work(&mut value.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner));
    } else {
        py.detach(|| work(&mut value.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// A hash object, as those of hashlib. Any number of threads may use it at once.
#[pyclass(frozen, module = "pyhashloom")]
pub struct Hash {
    hasher: Mutex<Hasher>,
    #[pyo3(get)]
    name: String,
    algorithm: Algorithm,
}

impl Hash {
    pub fn from(hasher: Hasher) -> Hash {
        let algorithm = hasher.algorithm();
        Hash { hasher: Mutex::new(hasher), name: python_name(algorithm), algorithm }
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn now(&self, py: Python<'_>) -> Hasher {
        self.hasher.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl Hash {
    /// Appends data to the message.
    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Data::of(data)?;
        let bytes = data.bytes();
        work_on(py, &self.hasher, bytes.len(), |hasher| hasher.update(bytes));
        Ok(())
    }

    /// Returns the digest of the data so far.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.now(py).finalize().as_ref())
    }

    /// Returns the digest of the data so far, as hexadecimal digits.
    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex::string(py, self.now(py).finalize().as_ref())
    }

    /// Returns a hash object in the same state.
    fn copy(&self, py: Python<'_>) -> Hash {
        Hash::from(self.now(py))
    }

    /// Bytes in a digest.
    #[getter]
    fn digest_size(&self) -> usize {
        self.algorithm.digest_nbytes()
    }

    /// Bytes in a block of the algorithm.
    #[getter]
    fn block_size(&self) -> usize {
        self.algorithm.block_nbytes()
    }

    fn __repr__(&self) -> String {
        format!("<{} pyhashloom.Hash object @ {:p}>", self.name, self)
    }
}

fn construct<'py>(py: Python<'py>, algorithm: Algorithm, data: Given<'py>, string: Given<'py>) -> PyResult<Hash> {
    let data = match (data.0, string.0) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("'data' and 'string' are the same argument: give one")),
        (data, string) => data.or(string),
    };
    let mut hasher = Hasher::new(algorithm);
    if let Some(data) = data {
        let data = Data::of(&data)?;
        let bytes = data.bytes();
        if bytes.len() < DETACH_NBYTES {
            hasher.update(bytes);
        } else {
            py.detach(|| hasher.update(bytes));
        }
    }
    Ok(Hash::from(hasher))
}

/// Returns a hash object of the algorithm `name`, begun with `data`.
#[pyfunction]
#[pyo3(
    signature = (name, data = Given(None), *, usedforsecurity = Given(None), string = Given(None)),
    text_signature = "(name, data=b'', *, usedforsecurity=True, string=None)"
)]
pub fn new<'py>(
    py: Python<'py>,
    name: &str,
    data: Given<'py>,
    usedforsecurity: Given<'py>,
    string: Given<'py>,
) -> PyResult<Hash> {
    let _ = usedforsecurity;
    construct(py, algorithm(name)?, data, string)
}

macro_rules! constructors {
    ($($name:ident = $algorithm:ident),*) => {
        $(
            /// Returns a hash object of this algorithm, begun with `data`. `usedforsecurity` has no effect.
            #[pyfunction]
            #[pyo3(
                signature = (data = Given(None), *, usedforsecurity = Given(None), string = Given(None)),
                text_signature = "(data=b'', *, usedforsecurity=True, string=None)"
            )]
            fn $name<'py>(
                py: Python<'py>,
                data: Given<'py>,
                usedforsecurity: Given<'py>,
                string: Given<'py>,
            ) -> PyResult<Hash> {
                let _ = usedforsecurity;
                construct(py, Algorithm::$algorithm, data, string)
            }
        )*

        pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            module.add_class::<Hash>()?;
            module.add_function(wrap_pyfunction!(new, module)?)?;
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            module.add("algorithms", Algorithm::ALL.iter().map(|&algorithm| python_name(algorithm)).collect::<Vec<_>>())
        }
    };
}

constructors!(
    sha1 = Sha1,
    sha224 = Sha224,
    sha256 = Sha256,
    sha384 = Sha384,
    sha512 = Sha512,
    sha512_224 = Sha512_224,
    sha512_256 = Sha512_256,
    ripemd160 = Ripemd160,
    md5 = Md5
);
