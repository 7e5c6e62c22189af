// SPDX-License-Identifier: MIT OR Apache-2.0
//! hashlib's shape: hash objects and their constructors. Those of SHAKE, whose digests may have any length, are of a
//! class of their own, as in hashlib.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hashloom::{Algorithm, Blake2Parameters, Hasher};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::buffer::{Data, Given};
use crate::shared::{DETACH_NBYTES, Shared};
use crate::{hex, memory};

/// The algorithm of a name in hashlib's spelling, the standard's or this package's, in either case: sha512_256,
/// SHA-512/256, sha512-256.
pub fn algorithm(name: &str) -> PyResult<Algorithm> {
    known(name).ok_or_else(|| unknown(name, ""))
}

/// Like [`algorithm`], for names that may be others too.
pub fn known(name: &str) -> Option<Algorithm> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '/'], "-").replacen("sha-", "sha", 1);
    let name = plain(name);
    let is_it = |algorithm: &&Algorithm| name == algorithm.name() || name == plain(python_name(**algorithm));
    Algorithm::ALL.iter().find(is_it).copied()
}

/// The algorithm, if HMAC and with it PBKDF2 are defined for it (FIPS 198-1 section 3).
pub fn for_hmac(algorithm: Algorithm) -> PyResult<Algorithm> {
    if !algorithm.has_hmac() {
        return Err(PyValueError::new_err(format!(
            "HMAC is not defined for {}: choose another, such as sha3_256",
            python_name(algorithm)
        )));
    }
    Ok(algorithm)
}

/// The error for a name that is neither an algorithm's nor one of `others`.
pub fn unknown(name: &str, others: &str) -> PyErr {
    let names: Vec<_> = Algorithm::ALL.iter().map(|&algorithm| python_name(algorithm)).collect();
    PyValueError::new_err(format!("unsupported hash type {name:?}: expected one of {}{others}", names.join(", ")))
}

/// The length of a digest that may have any length, within hashlib's limit.
pub fn xof_nbytes(length: i64) -> PyResult<usize> {
    const MOST: usize = (1 << 29) - 1;
    let nbytes = usize::try_from(length).ok().filter(|&nbytes| nbytes <= MOST);
    nbytes.ok_or_else(|| PyValueError::new_err(format!("length is {length}: expected 0 to {MOST}")))
}

/// The method `update`, called by Python without what PyO3 puts around a method, which takes 6 ns.
///
/// # Safety
/// The thread is attached, `object` is a `Hash`, and `data` any object; both outlive the call.
unsafe extern "C" fn update(object: *mut ffi::PyObject, data: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: this function's conditions.
    let (py, object, data) = unsafe {
        let py = Python::assume_attached();
        (py, Borrowed::from_ptr(py, object).cast_unchecked::<Hash>(), Borrowed::from_ptr(py, data))
    };
    if let Ok(bytes) = data.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        if bytes.len() < DETACH_NBYTES {
            object.get().hasher.with(py, |hasher| hasher.update(bytes));
            return py.None().into_ptr();
        }
    }
    let appended = catch_unwind(AssertUnwindSafe(|| Python::attach(|_| object.get().append(&data))));
    let lost = || Err(PyRuntimeError::new_err("update ended by a panic: this is a bug of hashloom"));
    match appended.unwrap_or_else(|_| lost()) {
        Ok(()) => py.None().into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// Adds `update` to the class.
fn add_update(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<Hash>();
    // The class keeps the definition for ever.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"update".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: update },
        ml_flags: ffi::METH_O,
        ml_doc:
            c"update($self, data, /)\n--\n\nAppends data to the message. TypeError for text and objects without bytes."
                .as_ptr(),
    }));
    // SAFETY: the thread is attached, and the class checks that the method is called on its own objects.
    let method = unsafe {
        let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), definition);
        Bound::from_owned_ptr_or_err(py, method)?
    };
    class.setattr("update", method)
}

/// A hash object, as those of hashlib. Any number of threads may use it at once.
#[pyclass(frozen, subclass, module = "pyhashloom")]
pub struct Hash {
    hasher: Shared<Hasher>,
    algorithm: Algorithm,
}

impl Hash {
    /// The object of the class that suits the algorithm.
    pub fn object(py: Python<'_>, hasher: Hasher) -> PyResult<Bound<'_, Hash>> {
        let algorithm = hasher.algorithm();
        let hash = PyClassInitializer::from(Hash { hasher: Shared::new(hasher), algorithm });
        if algorithm.is_xof() {
            return Ok(Bound::new(py, hash.add_subclass(HashXof))?.into_super());
        }
        Bound::new(py, hash)
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub fn state(&self) -> &Shared<Hasher> {
        &self.hasher
    }

    fn append(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = Data::of(data)?;
        let bytes = bytes.bytes();
        self.hasher.work(data.py(), bytes.len(), |hasher| hasher.update(bytes));
        Ok(())
    }

    fn now(&self, py: Python<'_>) -> Hasher {
        self.hasher.with(py, |hasher| hasher.clone())
    }
}

#[pymethods]
impl Hash {
    /// Returns the digest of the data so far.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.now(py).finalize().as_ref())
    }

    /// Returns the digest of the data so far, as hexadecimal digits.
    fn hexdigest<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        hex::string(py, self.now(py).finalize().as_ref())
    }

    /// Returns a hash object in the same state.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Hash>> {
        Hash::object(py, self.now(py))
    }

    /// The name, as hashlib writes it.
    #[getter]
    fn name(&self) -> &'static str {
        python_name(self.algorithm)
    }

    /// Bytes in a digest; 0 if digests may have any length.
    #[getter]
    fn digest_size(&self, py: Python<'_>) -> usize {
        if self.algorithm.is_xof() { 0 } else { self.now(py).digest_nbytes() }
    }

    /// Bytes in a block of the algorithm.
    #[getter]
    fn block_size(&self) -> usize {
        self.algorithm.block_nbytes()
    }

    fn __repr__(&self) -> String {
        format!("<{} pyhashloom.Hash object @ {:p}>", self.name(), self)
    }
}

/// A hash object of an algorithm whose digests may have any length, as shake_128's of hashlib.
#[pyclass(frozen, extends = Hash, name = "HashXOF", module = "pyhashloom")]
pub struct HashXof;

impl HashXof {
    fn bytes(this: &Bound<'_, Self>, length: i64) -> PyResult<Vec<u8>> {
        let (py, nbytes) = (this.py(), xof_nbytes(length)?);
        let mut digest = memory::zeros(1, nbytes)?;
        let hasher = this.as_super().get().now(py);
        if nbytes < DETACH_NBYTES {
            hasher.finalize_xof().read(&mut digest);
        } else {
            py.detach(|| hasher.finalize_xof().read(&mut digest));
        }
        Ok(digest)
    }
}

#[pymethods]
impl HashXof {
    /// Returns the first `length` bytes of the digest of the data so far.
    #[pyo3(signature = (length))]
    fn digest<'py>(this: &Bound<'py, Self>, length: i64) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(this.py(), &HashXof::bytes(this, length)?))
    }

    /// Returns the first `length` bytes of the digest of the data so far, as hexadecimal digits.
    #[pyo3(signature = (length))]
    fn hexdigest<'py>(this: &Bound<'py, Self>, length: i64) -> PyResult<Bound<'py, PyString>> {
        Ok(hex::string(this.py(), &HashXof::bytes(this, length)?))
    }
}

fn construct<'py>(
    py: Python<'py>,
    mut hasher: Hasher,
    data: Given<'py>,
    string: Given<'py>,
) -> PyResult<Bound<'py, Hash>> {
    let data = match (data.0, string.0) {
        (Some(_), Some(_)) => return Err(PyTypeError::new_err("'data' and 'string' are the same argument: give one")),
        (data, string) => data.or(string),
    };
    if let Some(data) = data {
        let data = Data::of(&data)?;
        let bytes = data.bytes();
        if bytes.len() < DETACH_NBYTES {
            hasher.update(bytes);
        } else {
            py.detach(|| hasher.update(bytes));
        }
    }
    Hash::object(py, hasher)
}

/// Returns a hash object of the algorithm `name`, begun with `data`.
///
/// `name` is one of algorithms_guaranteed, in either case and also in the standard's spelling: SHA-512/256. `data` has
/// the buffer protocol: bytes, bytearray, memoryview, array, numpy's arrays. `string` is another name of `data`, and
/// `usedforsecurity` has no effect; both are hashlib's.
///
/// ValueError: there is no such algorithm. TypeError: text, or an object without bytes.
///
/// >>> import pyhashloom
/// >>> h = pyhashloom.new("SHA-512/256", b"ab")
/// >>> h.update(b"c")
/// >>> h.name, h.hexdigest()[:16]
/// ('sha512_256', '53048e2681941ef9')
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
) -> PyResult<Bound<'py, Hash>> {
    let _ = usedforsecurity;
    construct(py, Hasher::new(algorithm(name)?), data, string)
}

/// BLAKE2 with these parameters: key, salt and personal string.
fn blake2_hasher(algorithm: Algorithm, digest_size: Option<i64>, given: [Given<'_>; 3]) -> PyResult<Hasher> {
    let most = algorithm.digest_nbytes();
    let size = digest_size.unwrap_or(most as i64);
    let wrong = |message: String| Err(PyValueError::new_err(message));
    let Some(nbytes) = usize::try_from(size).ok().filter(|size| (1..=most).contains(size)) else {
        return wrong(format!("digest_size is {size}: expected 1 to {most}"));
    };
    if digest_size.is_none() && given.iter().all(|given| given.0.is_none()) {
        return Ok(Hasher::new(algorithm));
    }
    let mut bytes: [Vec<u8>; 3] = Default::default();
    for ((bytes, given), (name, most)) in
        bytes.iter_mut().zip(&given).zip([("key", most), ("salt", most / 4), ("person", most / 4)])
    {
        let Some(given) = &given.0 else { continue };
        *bytes = Data::of(given)?.bytes().to_vec();
        if bytes.len() > most {
            return wrong(format!("{name} has {} bytes: expected {most} at most", bytes.len()));
        }
    }
    let [key, salt, personal] = &bytes;
    Ok(Hasher::blake2(algorithm, nbytes, Blake2Parameters { key, salt, personal }))
}

/// Returns a hash object of BLAKE3, begun with `data`, as that of the package blake3 with these arguments. Digests have
/// 32 bytes.
///
/// `key`: 32 bytes; the digest is then a MAC. `derive_key_context`: the data are the material of a key, and the digest
/// is the key that is derived from it in this context, a text that is globally unique. Either of the two.
///
/// ValueError: the key does not have 32 bytes, or a context is given too.
///
/// >>> import pyhashloom
/// >>> pyhashloom.blake3(b"abc", key=bytes(32)).hexdigest()[:16]
/// 'a77fc933cbb22a37'
#[pyfunction]
#[pyo3(
    signature = (data = Given(None), *, key = Given(None), derive_key_context = None, usedforsecurity = Given(None),
        string = Given(None)),
    text_signature = "(data=b'', *, key=None, derive_key_context=None, usedforsecurity=True, string=None)"
)]
fn blake3<'py>(
    py: Python<'py>,
    data: Given<'py>,
    key: Given<'py>,
    derive_key_context: Option<&str>,
    usedforsecurity: Given<'py>,
    string: Given<'py>,
) -> PyResult<Bound<'py, Hash>> {
    let _ = usedforsecurity;
    let wrong = |message: String| Err(PyValueError::new_err(message));
    let key = key.0.filter(|key| !key.is_none());
    let hasher = match (&key, derive_key_context) {
        (Some(_), Some(_)) => return wrong("give either key or derive_key_context".into()),
        (Some(key), None) => {
            let key = Data::of(key)?;
            let Ok(key) = key.bytes().try_into() else {
                return wrong(format!("key has {} bytes: expected 32", key.bytes().len()));
            };
            Hasher::blake3_keyed(key)
        }
        (None, Some(context)) => Hasher::blake3_derive_key(context),
        (None, None) => Hasher::new(Algorithm::Blake3),
    };
    construct(py, hasher, data, string)
}

macro_rules! constructors {
    ($($name:ident = $algorithm:ident,)* $(@ $blake2:ident = $of:ident,)* $(& $tree:ident = $of_tree:ident,)*) => {
        /// hashlib's spelling of an algorithm's name.
        pub fn python_name(algorithm: Algorithm) -> &'static str {
            match algorithm {
                $(Algorithm::$algorithm => stringify!($name),)*
                $(Algorithm::$of => stringify!($blake2),)*
                $(Algorithm::$of_tree => stringify!($tree),)*
                other => other.name(),
            }
        }

        $(
            /// Returns a hash object of this algorithm, begun with `data`; the parameters are those of `new`.
            ///
            /// >>> import pyhashloom
            #[doc = concat!(">>> pyhashloom.", stringify!($name), "(b\"abc\").name")]
            #[doc = concat!("'", stringify!($name), "'")]
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
            ) -> PyResult<Bound<'py, Hash>> {
                let _ = usedforsecurity;
                construct(py, Hasher::new(Algorithm::$algorithm), data, string)
            }
        )*

        $(
            /// Returns a hash object of this algorithm, begun with `data`, as hashlib's of this name.
            ///
            /// `digest_size`: bytes in the digest; `key`: the digest is then a MAC; `salt`, `person`: see RFC 7693
            /// section 2.5 and the documentation of hashlib. Parameters of trees, such as `fanout`, are not taken.
            ///
            /// ValueError: a parameter is too long, or there is no digest of that size.
            ///
            /// >>> import pyhashloom
            #[doc = concat!(">>> pyhashloom.", stringify!($blake2),
                            "(b\"abc\", digest_size=4, key=b\"secret\").digest_size")]
            /// 4
            #[pyfunction]
            #[pyo3(
                signature = (data = Given(None), *, digest_size = None, key = Given(None), salt = Given(None),
                    person = Given(None), usedforsecurity = Given(None), string = Given(None)),
                text_signature = "(data=b'', *, digest_size=None, key=b'', salt=b'', person=b'', usedforsecurity=True, \
                    string=None)"
            )]
            #[allow(clippy::too_many_arguments, reason = "hashlib's")]
            fn $blake2<'py>(
                py: Python<'py>,
                data: Given<'py>,
                digest_size: Option<i64>,
                key: Given<'py>,
                salt: Given<'py>,
                person: Given<'py>,
                usedforsecurity: Given<'py>,
                string: Given<'py>,
            ) -> PyResult<Bound<'py, Hash>> {
                let _ = usedforsecurity;
                construct(py, blake2_hasher(Algorithm::$of, digest_size, [key, salt, person])?, data, string)
            }
        )*

        pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            module.add_class::<Hash>()?;
            module.add_class::<HashXof>()?;
            add_update(module.py())?;
            module.add_function(wrap_pyfunction!(new, module)?)?;
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            $(module.add_function(wrap_pyfunction!($blake2, module)?)?;)*
            $(module.add_function(wrap_pyfunction!($tree, module)?)?;)*
            module.add("algorithms", Algorithm::ALL.iter().map(|&algorithm| python_name(algorithm)).collect::<Vec<_>>())
        }
    };
}

constructors!(
    // algorithms.py: python_constructors
    sha1 = Sha1,
    sha224 = Sha224,
    sha256 = Sha256,
    sha384 = Sha384,
    sha512 = Sha512,
    sha512_224 = Sha512_224,
    sha512_256 = Sha512_256,
    ripemd160 = Ripemd160,
    md5 = Md5,
    sha3_224 = Sha3_224,
    sha3_256 = Sha3_256,
    sha3_384 = Sha3_384,
    sha3_512 = Sha3_512,
    keccak_256 = Keccak256,
    shake_128 = Shake128,
    shake_256 = Shake256,
    sm3 = Sm3,
    blake2b_256 = Blake2b256,
    @ blake2b = Blake2b,
    @ blake2s = Blake2s,
    & blake3 = Blake3,
    // algorithms.py: end
);
