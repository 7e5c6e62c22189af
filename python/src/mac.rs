// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC: the calls behind the module `pyhashloom.hmac`.

use hashloom::{Algorithm, Hmac, HmacKey, equal};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::buffer::Data;
use crate::hash::{self, Hash, python_name};
use crate::hex;
use crate::many::{Function, hash_all};
use crate::shared::Shared;

/// The algorithm of a name, or of a constructor such as `pyhashloom.sha256` or `hashlib.sha256`.
fn chosen(digestmod: Option<&Bound<'_, PyAny>>) -> PyResult<Algorithm> {
    let digestmod = digestmod.filter(|it| it.is_truthy().unwrap_or(true));
    let digestmod = digestmod.ok_or_else(|| PyTypeError::new_err("Missing required argument 'digestmod'."))?;
    if let Ok(name) = digestmod.cast::<PyString>() {
        return hash::algorithm(&name.to_string_lossy());
    }
    let refused = || {
        PyTypeError::new_err(
            "digestmod is neither a name nor a constructor of a hash: give 'sha256', hashlib.sha256 or \
             pyhashloom.sha256",
        )
    };
    // The module hmac takes modules with a constructor `new` too.
    let constructor =
        if digestmod.is_callable() { digestmod.clone() } else { digestmod.getattr("new").map_err(|_| refused())? };
    let object = constructor.call0()?;
    if let Ok(hash) = object.cast::<Hash>() {
        return Ok(hash.get().algorithm());
    }
    let name: String = object.getattr("name").and_then(|name| name.extract()).map_err(|_| refused())?;
    let algorithm = hash::algorithm(&name)?;
    // An object may call itself what it likes: the digest of no bytes tells.
    if !algorithm.is_xof() {
        let digest: Vec<u8> = object.call_method0("digest")?.extract()?;
        if hashloom::hash(algorithm, b"") != digest[..] {
            let message = format!("digestmod calls itself {name}, but its digest of no bytes is another");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(algorithm)
}

fn key(secret: &Bound<'_, PyAny>, digestmod: Option<&Bound<'_, PyAny>>) -> PyResult<HmacKey> {
    let algorithm = hash::for_hmac(chosen(digestmod)?)?;
    Ok(HmacKey::new(algorithm, Data::named(secret, "key")?.bytes()))
}

/// An HMAC object, as those of the module hmac. Any number of threads may use it at once.
#[pyclass(frozen, name = "HMAC", module = "pyhashloom.hmac")]
pub struct Mac {
    mac: Shared<Hmac>,
    algorithm: Algorithm,
}

impl Mac {
    fn now(&self, py: Python<'_>) -> Hmac {
        self.mac.with(py, |mac| mac.clone())
    }
}

#[pymethods]
impl Mac {
    /// As hmac.new.
    #[new]
    #[pyo3(signature = (key, msg = None, digestmod = None))]
    fn new(
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        msg: Option<&Bound<'_, PyAny>>,
        digestmod: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Mac> {
        hmac_new(py, key, msg, digestmod)
    }

    /// Appends data to the message.
    #[pyo3(signature = (msg))]
    fn update(&self, py: Python<'_>, msg: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Data::named(msg, "msg")?;
        let bytes = data.bytes();
        self.mac.work(py, bytes.len(), |mac| mac.update(bytes));
        Ok(())
    }

    /// Returns the tag of the data so far.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.now(py).finalize().as_ref())
    }

    /// Returns the tag of the data so far, as hexadecimal digits.
    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex::string(py, self.now(py).finalize().as_ref())
    }

    /// Returns an HMAC object in the same state.
    fn copy(&self, py: Python<'_>) -> Mac {
        Mac { mac: Shared::new(self.now(py)), algorithm: self.algorithm }
    }

    /// The name, such as hmac-sha256.
    #[getter]
    fn name(&self) -> String {
        format!("hmac-{}", python_name(self.algorithm))
    }

    /// Bytes in a tag.
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
        format!("<{} pyhashloom.hmac.HMAC object @ {:p}>", self.name(), self)
    }
}

/// Returns an HMAC object for a key, begun with `msg`.
///
/// `digestmod` is an algorithm's name or a constructor, such as hashlib.sha256. TypeError without it, and for a key or
/// message that has no bytes. ValueError: no such algorithm, or SHAKE.
///
/// >>> from pyhashloom import hmac
/// >>> hmac.new(b"key", b"message", "sha256").hexdigest()[:16]
/// '6e9ef29b75fffc5b'
#[pyfunction]
#[pyo3(signature = (key, msg = None, digestmod = None))]
fn hmac_new(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    msg: Option<&Bound<'_, PyAny>>,
    digestmod: Option<&Bound<'_, PyAny>>,
) -> PyResult<Mac> {
    let key = self::key(key, digestmod)?;
    let mac = Mac { algorithm: key.algorithm(), mac: Shared::new(Hmac::new(&key)) };
    if let Some(msg) = msg {
        mac.update(py, msg)?;
    }
    Ok(mac)
}

/// Returns the tag of one message. The errors are those of `new`.
///
/// >>> from pyhashloom import hmac
/// >>> hmac.digest(b"key", b"message", "sha256").hex()[:16]
/// '6e9ef29b75fffc5b'
#[pyfunction]
#[pyo3(signature = (key, msg, digest))]
fn hmac_digest<'py>(
    key: &Bound<'py, PyAny>,
    msg: &Bound<'py, PyAny>,
    digest: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = key.py();
    let key = self::key(key, Some(digest))?;
    let data = Data::named(msg, "msg")?;
    let bytes = data.bytes();
    let tag = py.detach(|| hashloom::hmac(&key, bytes));
    Ok(PyBytes::new(py, tag.as_ref()))
}

/// Returns the tag of each message. `messages`, `output` and `threads` are those of pyhashloom.many.
///
/// >>> from pyhashloom import hmac
/// >>> hmac.many(b"key", [b"message", b"another"], "sha1", output="hex")[0][:16]
/// '2088df74d5f2146b'
#[pyfunction]
#[pyo3(signature = (key, messages, digestmod, *, output = "bytes", threads = 1))]
fn hmac_many<'py>(
    key: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    digestmod: &Bound<'py, PyAny>,
    output: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    hash_all(&Function::Mac(&self::key(key, Some(digestmod))?), messages, output, threads)
}

/// Returns whether a and b are equal, in a time that depends only on their lengths: two buffers, or two texts of ASCII.
///
/// TypeError for anything else.
///
/// >>> from pyhashloom import hmac
/// >>> hmac.compare_digest(b"a tag", bytearray(b"a tag")), hmac.compare_digest("a", "b")
/// (True, False)
#[pyfunction]
#[pyo3(signature = (a, b, /))]
fn compare_digest(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    match (a.cast::<PyString>(), b.cast::<PyString>()) {
        (Ok(a), Ok(b)) => {
            // A lone surrogate becomes a character that is not ASCII either.
            let (a, b) = (a.to_string_lossy(), b.to_string_lossy());
            if !a.is_ascii() || !b.is_ascii() {
                return Err(PyTypeError::new_err("comparing strings with non-ASCII characters is not supported"));
            }
            Ok(equal(a.as_bytes(), b.as_bytes()))
        }
        (Err(_), Err(_)) => Ok(equal(Data::of(a)?.bytes(), Data::of(b)?.bytes())),
        _ => Err(PyTypeError::new_err("a and b are text and bytes: give both as text or both as bytes")),
    }
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Mac>()?;
    module.add_function(wrap_pyfunction!(hmac_new, module)?)?;
    module.add_function(wrap_pyfunction!(hmac_digest, module)?)?;
    module.add_function(wrap_pyfunction!(hmac_many, module)?)?;
    module.add_function(wrap_pyfunction!(compare_digest, module)?)
}
