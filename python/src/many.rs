// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many messages in one call: from a list, from an iterable, from the rows of an array.
//!
//! Messages are drawn in batches. A batch keeps its objects alive, so another thread may change the list meanwhile.

use hashloom::{Algorithm, HmacKey, hash_many, hash_rows, hash160_rows, hmac_many, sha256d_rows, xof_many};
use pyo3::exceptions::{PyBufferError, PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyList, PyString, PyTuple};

use crate::buffer::{Buffer, Data, Held, Rows, at};
use crate::hash::{DETACH_NBYTES, known, unknown, xof_nbytes};
use crate::hex;
use crate::memory;

/// The most messages in a batch.
const BATCH: usize = 1024;

/// A batch of an iterable ends beyond this number of bytes, as nothing else may keep its messages alive. The digests of
/// a batch have no more either.
const BATCH_NBYTES: usize = 64 << 20;

/// Bytes of an array that are hashed before the next look at signals.
const STRETCH_NBYTES: usize = 64 << 20;

/// The function that each message goes through.
#[derive(Clone, Copy)]
pub enum Function<'k> {
    Digest(Algorithm),
    /// A digest of this number of bytes.
    Xof(Algorithm, usize),
    Mac(&'k HmacKey),
    /// RIPEMD-160 of SHA-256.
    Hash160,
    /// SHA-256 of SHA-256.
    Sha256d,
}

impl Function<'_> {
    /// `length`: bytes of a digest, of an algorithm with digests of any length; if it is not given, the usual one.
    pub fn named(name: &str, length: Option<i64>) -> PyResult<Self> {
        let function = match name {
            "hash160" => Function::Hash160,
            "sha256d" => Function::Sha256d,
            name => Function::Digest(known(name).ok_or_else(|| unknown(name, ", hash160, sha256d"))?),
        };
        let Some(length) = length else { return Ok(function) };
        match function {
            Function::Digest(algorithm) if algorithm.is_xof() => match xof_nbytes(length)? {
                0 => Err(PyValueError::new_err("length is 0: expected at least 1")),
                nbytes => Ok(Function::Xof(algorithm, nbytes)),
            },
            function => Err(PyValueError::new_err(format!(
                "length is {length}, but digests of {name} always have {} bytes: leave it out",
                function.digest_nbytes()
            ))),
        }
    }

    pub fn digest_nbytes(&self) -> usize {
        match self {
            Function::Digest(algorithm) => algorithm.digest_nbytes(),
            Function::Xof(_, nbytes) => *nbytes,
            Function::Mac(key) => key.algorithm().digest_nbytes(),
            Function::Hash160 => Algorithm::Ripemd160.digest_nbytes(),
            Function::Sha256d => Algorithm::Sha256.digest_nbytes(),
        }
    }

    /// Messages in a batch: enough for all lanes, few enough for their digests to stay in the first cache, and to be a
    /// small part of the memory.
    pub fn batch(&self) -> usize {
        (BATCH_NBYTES / self.digest_nbytes()).clamp(1, BATCH)
    }

    pub fn slices<M: AsRef<[u8]>>(&self, messages: &[M], digests: &mut [u8]) {
        let second = match self {
            Function::Digest(algorithm) => return hash_many(*algorithm, messages, digests),
            Function::Xof(algorithm, nbytes) => return xof_many(*algorithm, messages, *nbytes, digests),
            Function::Mac(key) => return hmac_many(key, messages, digests),
            Function::Hash160 => Algorithm::Ripemd160,
            Function::Sha256d => Algorithm::Sha256,
        };
        let nbytes = Algorithm::Sha256.digest_nbytes();
        let mut first = vec![0; messages.len() * nbytes];
        hash_many(Algorithm::Sha256, messages, &mut first);
        hash_rows(second, &first, nbytes, nbytes, messages.len(), digests);
    }

    fn rows(&self, data: &[u8], stride: usize, nbytes: usize, count: usize, digests: &mut [u8]) {
        match self {
            Function::Digest(algorithm) => hash_rows(*algorithm, data, stride, nbytes, count, digests),
            Function::Hash160 => hash160_rows(data, stride, nbytes, count, digests),
            Function::Sha256d => sha256d_rows(data, stride, nbytes, count, digests),
            Function::Xof(..) | Function::Mac(_) => {
                let rows: Vec<_> = (0..count).map(|row| &data[row * stride..][..nbytes]).collect();
                self.slices(&rows, digests);
            }
        }
    }
}

/// The form of the result.
#[derive(Clone, Copy)]
pub enum Form {
    Bytes,
    Hex,
    Joined,
    Numpy,
}

impl Form {
    fn named(name: &str) -> PyResult<Form> {
        match name {
            "bytes" => Ok(Form::Bytes),
            "hex" => Ok(Form::Hex),
            "joined" => Ok(Form::Joined),
            "numpy" => Ok(Form::Numpy),
            name => {
                let message = format!("unknown output {name:?}: expected 'bytes', 'hex', 'joined' or 'numpy'");
                Err(PyValueError::new_err(message))
            }
        }
    }
}

/// The result, as it grows.
struct Digests<'py> {
    py: Python<'py>,
    form: Form,
    nbytes: usize,
    list: Vec<Bound<'py, PyAny>>,
    joined: Vec<u8>,
}

impl<'py> Digests<'py> {
    fn new(py: Python<'py>, form: &str, function: &Function<'_>) -> PyResult<Self> {
        let form = Form::named(form)?;
        Ok(Digests { py, form, nbytes: function.digest_nbytes(), list: Vec::new(), joined: Vec::new() })
    }

    fn reserve(&mut self, count: usize) -> PyResult<()> {
        let reserved = match self.form {
            Form::Bytes | Form::Hex => self.list.try_reserve_exact(count),
            Form::Joined | Form::Numpy => self.joined.try_reserve_exact(count.saturating_mul(self.nbytes)),
        };
        reserved.map_err(|_| memory::too_large(count, self.nbytes))?;
        memory::want_huge_pages(self.joined.as_ptr(), self.joined.capacity());
        Ok(())
    }

    /// Gives `digests` the length of this number of digests.
    fn room_for(&self, count: usize, digests: &mut Vec<u8>) -> PyResult<()> {
        let nbytes = count * self.nbytes;
        digests.try_reserve(nbytes.saturating_sub(digests.len())).map_err(|_| memory::too_large(count, self.nbytes))?;
        digests.resize(nbytes, 0);
        Ok(())
    }

    fn add(&mut self, digests: &[u8]) {
        let py = self.py;
        match self.form {
            Form::Bytes => {
                self.list.extend(digests.chunks_exact(self.nbytes).map(|digest| PyBytes::new(py, digest).into_any()));
            }
            Form::Hex => {
                self.list.extend(digests.chunks_exact(self.nbytes).map(|digest| hex::string(py, digest).into_any()));
            }
            Form::Joined | Form::Numpy => self.joined.extend_from_slice(digests),
        }
    }

    fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        let Digests { py, form, nbytes, list, joined } = self;
        match form {
            Form::Bytes | Form::Hex => Ok(PyList::new(py, list)?.into_any()),
            Form::Joined => Ok(PyBytes::new(py, &joined).into_any()),
            Form::Numpy => {
                let numpy = py.import("numpy").map_err(|error| {
                    let message = format!("output='numpy' needs numpy ({error}): pip install numpy, or use 'joined'");
                    PyImportError::new_err(message)
                })?;
                let array = numpy.call_method1("frombuffer", (PyByteArray::new(py, &joined), "uint8"))?;
                array.call_method1("reshape", (joined.len() / nbytes, nbytes))
            }
        }
    }
}

#[derive(Default)]
struct Batch<'py> {
    messages: Vec<Held>,
    bytes: Vec<Bound<'py, PyBytes>>,
    buffers: Vec<Data<'py>>,
    nbytes: usize,
    digests: Vec<u8>,
}

impl<'py> Batch<'py> {
    #[inline]
    fn add(&mut self, object: Bound<'py, PyAny>, position: usize) -> PyResult<()> {
        match object.cast_into_exact::<PyBytes>() {
            Ok(bytes) => {
                self.push(contents(&bytes));
                self.bytes.push(bytes);
            }
            Err(error) => {
                let object = error.into_inner();
                let data = Data::of(&object).map_err(|error| at(object.py(), error, "message", position))?;
                self.push(data.bytes());
                self.buffers.push(data);
            }
        }
        Ok(())
    }

    /// Adds a message whose owner the caller keeps in the batch.
    #[inline]
    fn push(&mut self, message: &[u8]) {
        // SAFETY: the batch holds the owner until it clears the messages.
        self.messages.push(unsafe { Held::new(message) });
        self.nbytes += message.len();
    }

    fn hash(&mut self, py: Python<'py>, function: &Function<'_>, results: &mut Digests<'py>) -> PyResult<()> {
        let Batch { messages, digests, .. } = self;
        results.room_for(messages.len(), digests)?;
        // A message takes at least one block.
        if self.nbytes + 64 * messages.len() < DETACH_NBYTES {
            function.slices(messages, digests);
        } else {
            py.detach(|| function.slices(messages, digests));
        }
        results.add(digests);
        self.messages.clear();
        self.bytes.clear();
        self.buffers.clear();
        self.nbytes = 0;
        py.check_signals()
    }
}

/// The contents of a bytes object, by one call into Python where `as_bytes` makes two.
#[inline]
fn contents<'a>(bytes: &'a Bound<'_, PyBytes>) -> &'a [u8] {
    let (mut start, mut nbytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the object is bytes, so the call succeeds and gives its contents, which live as long as the object.
    unsafe {
        pyo3::ffi::PyBytes_AsStringAndSize(bytes.as_ptr(), &mut start, &mut nbytes);
        std::slice::from_raw_parts(start.cast(), nbytes as usize)
    }
}

/// Hashes what `messages` gives: a list, a tuple, an iterable, or an array with two dimensions.
pub fn hash_all<'py>(
    function: &Function<'_>,
    messages: &Bound<'py, PyAny>,
    output: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = messages.py();
    let mut results = Digests::new(py, output, function)?;
    let (mut batch, batch_max) = (Batch::default(), function.batch());
    if let Ok(list) = messages.cast::<PyList>() {
        results.reserve(list.len())?;
        let mut i = 0;
        // Another thread may shorten the list while a batch is hashed: the messages end where the list ends.
        while let Ok(object) = list.get_item(i) {
            batch.add(object, i)?;
            i += 1;
            if batch.messages.len() == batch_max {
                batch.hash(py, function, &mut results)?;
            }
        }
    } else if messages.is_instance_of::<PyTuple>() || !is_one_buffer(messages)? {
        let iterator = iterate(messages)?;
        for (i, object) in iterator.enumerate() {
            batch.add(object?, i)?;
            if batch.messages.len() == batch_max || batch.nbytes > BATCH_NBYTES {
                batch.hash(py, function, &mut results)?;
            }
        }
    } else {
        let buffer = Buffer::array(messages)?;
        if buffer.ndim() != 2 {
            let message = format!(
                "messages is one buffer with {} dimension(s), not many messages: give a list, an array with two \
                 dimensions, or call rows(name, data, row_nbytes)",
                buffer.ndim()
            );
            return Err(PyTypeError::new_err(message));
        }
        return hash_array(py, function, &buffer.rows()?, results);
    }
    batch.hash(py, function, &mut results)?;
    results.finish()
}

/// Whether the messages are bytes side by side, and not objects to iterate over.
fn is_one_buffer(messages: &Bound<'_, PyAny>) -> PyResult<bool> {
    if messages.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("messages is text, not many messages: give a list of bytes"));
    }
    Ok(Buffer::is_one(messages) && !Buffer::array(messages)?.has_objects())
}

fn iterate<'py>(messages: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    messages.try_iter().map_err(|_| {
        let name = messages.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        let message = format!(
            "messages is {name}: expected a list or another iterable of bytes, or an array with two \
                               dimensions"
        );
        PyTypeError::new_err(message)
    })
}

fn hash_array<'py>(
    py: Python<'py>,
    function: &Function<'_>,
    rows: &Rows<'_>,
    mut results: Digests<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    results.reserve(rows.count)?;
    let mut digests = Vec::new();
    // Digests need memory too: rows of no bytes count as a block.
    let at_once = (STRETCH_NBYTES / rows.nbytes.max(results.nbytes).max(64)).max(function.batch());
    let mut row = 0;
    while row < rows.count {
        let count = at_once.min(rows.count - row);
        let start = row * rows.stride;
        let data = &rows.data[start..start + (count - 1) * rows.stride + rows.nbytes];
        results.room_for(count, &mut digests)?;
        py.detach(|| function.rows(data, rows.stride, rows.nbytes, count, &mut digests));
        results.add(&digests);
        py.check_signals()?;
        row += count;
    }
    results.finish()
}

/// Returns the digest of each message. `length`: its bytes, of shake_128 and others with digests of any length.
#[pyfunction]
#[pyo3(signature = (name, messages, /, *, output = "bytes", length = None))]
fn many<'py>(
    name: &str,
    messages: &Bound<'py, PyAny>,
    output: &str,
    length: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    hash_all(&Function::named(name, length)?, messages, output)
}

/// Returns the digest of each row of an array, or of each piece of a buffer. `length` is that of `many`.
#[pyfunction]
#[pyo3(signature = (name, data, /, row_nbytes = None, *, output = "bytes", length = None))]
fn rows<'py>(
    name: &str,
    data: &Bound<'py, PyAny>,
    row_nbytes: Option<usize>,
    output: &str,
    length: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let function = Function::named(name, length)?;
    let results = Digests::new(data.py(), output, &function)?;
    let Some(row_nbytes) = row_nbytes else {
        if !Buffer::is_one(data) {
            return Err(PyTypeError::new_err("data has no buffer protocol: call many for a list of messages"));
        }
        let buffer = Buffer::array(data)?;
        if buffer.ndim() != 2 {
            let message = format!("expected an array with two dimensions, found {}: give row_nbytes", buffer.ndim());
            return Err(PyBufferError::new_err(message));
        }
        return hash_array(data.py(), &function, &buffer.rows()?, results);
    };
    let held = Data::of(data)?;
    let bytes = held.bytes();
    if row_nbytes == 0 || bytes.len() % row_nbytes != 0 {
        let message = format!(
            "{} bytes are not a whole number of rows of {row_nbytes} bytes: hash the rest as a message of its own",
            bytes.len()
        );
        return Err(PyValueError::new_err(message));
    }
    let count = bytes.len() / row_nbytes;
    let rows = Rows { data: bytes, stride: row_nbytes, nbytes: row_nbytes, count };
    hash_array(data.py(), &function, &rows, results)
}

fn twice<'py>(function: &Function<'_>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let data = Data::of(data)?;
    let bytes = data.bytes();
    let mut digest = vec![0; function.digest_nbytes()];
    py.detach(|| function.slices(&[bytes], &mut digest));
    Ok(PyBytes::new(py, &digest))
}

/// Returns RIPEMD-160 of SHA-256 of one message, as in Bitcoin's addresses.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn hash160<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    twice(&Function::Hash160, data)
}

/// Returns SHA-256 of SHA-256 of one message, as for Bitcoin's blocks.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn sha256d<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    twice(&Function::Sha256d, data)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(many, module)?)?;
    module.add_function(wrap_pyfunction!(rows, module)?)?;
    module.add_function(wrap_pyfunction!(hash160, module)?)?;
    module.add_function(wrap_pyfunction!(sha256d, module)?)
}
