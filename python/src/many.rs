// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many messages in one call: from a list, from an iterable, from the rows of an array.
//!
//! Messages are drawn in batches. A batch keeps its objects alive, so another thread may change the list meanwhile.

use std::thread;

use hashloom::{Algorithm, HmacKey, RowLayout, hash_many, hash_rows, hash160_rows, hmac_many, sha256d_rows, xof_many};
use hashloom_files::run::join;
use pyo3::exceptions::{PyBufferError, PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString, PyTuple};

use crate::buffer::{Buffer, Data, Held, Rows, at};
use crate::hash::{known, unknown, xof_nbytes};
use crate::hex;
use crate::long::{Long, hash_long};
use crate::memory::{self, Growing};
use crate::shared::DETACH_NBYTES;
use crate::signals::Signals;
use crate::work::nthreads;

/// The most messages in a batch.
const BATCH: usize = 1024;

/// A batch of an iterable ends beyond this number of bytes, as nothing else may keep its messages alive. The digests of
/// a batch have no more either.
const BATCH_NBYTES: usize = 64 << 20;

/// Bytes that a thread hashes between two looks at signals.
const STRETCH_NBYTES: usize = 16 << 20;

/// Fewer bytes than these are not worth a thread.
const THREAD_NBYTES: usize = 256 << 10;

/// From this length on the rows of an array are messages, which may be hashed in parts.
const LONG_ROW_NBYTES: usize = 64 << 10;

/// The most threads of a call.
const THREADS_MAX: usize = 256;

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
        match self {
            Function::Digest(algorithm) => hash_many(*algorithm, messages, digests),
            Function::Xof(algorithm, nbytes) => xof_many(*algorithm, messages, *nbytes, digests),
            Function::Mac(key) => hmac_many(key, messages, digests),
            Function::Hash160 | Function::Sha256d => {
                let mut first = vec![0; messages.len() * Algorithm::Sha256.digest_nbytes()];
                hash_many(Algorithm::Sha256, messages, &mut first);
                self.second(&first, digests);
            }
        }
    }

    /// The second hash, of the digests of the first one.
    fn second(&self, first: &[u8], digests: &mut [u8]) {
        let nbytes = Algorithm::Sha256.digest_nbytes();
        let second = if matches!(self, Function::Hash160) { Algorithm::Ripemd160 } else { Algorithm::Sha256 };
        hash_rows(second, hashloom::Rows::chunks_exact(first, nbytes), digests);
    }

    /// Hashes messages without the interpreter lock, if they are worth it. A signal ends the work within a stretch.
    fn hash(&self, py: Python<'_>, messages: &[Held], nthreads: usize, digests: &mut [u8]) -> PyResult<()> {
        // A message takes at least one block.
        let work = messages.iter().map(|message| message.as_ref().len() + 64).sum();
        if work < DETACH_NBYTES {
            self.slices(messages, digests);
        } else if work <= STRETCH_NBYTES.saturating_mul(nthreads) {
            py.detach(|| self.on_threads(messages, work, nthreads, digests));
        } else {
            let long =
                messages.iter().enumerate().map(|(place, message)| Long { place, parts: [&[], message.as_ref()] });
            py.detach(|| {
                let mut signals = Signals::new();
                hash_long(self, long.collect(), nthreads, digests, &mut || signals.check())
            })?;
        }
        py.check_signals()
    }

    /// Gives each thread messages with about the same share of the work.
    fn on_threads(&self, mut messages: &[Held], work: usize, nthreads: usize, mut digests: &mut [u8]) {
        let nthreads = nthreads.min(work / THREAD_NBYTES).max(1);
        let share = work.div_ceil(nthreads);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            while threads.len() + 1 < nthreads && messages.len() > 1 {
                let mut work = 0;
                let is_full = |message: &Held| {
                    work += message.as_ref().len() + 64;
                    work >= share
                };
                let end = messages.iter().position(is_full).map_or(messages.len(), |last| last + 1);
                let (mine, others) = messages.split_at(end);
                let (here, behind) = std::mem::take(&mut digests).split_at_mut(end * self.digest_nbytes());
                (messages, digests) = (others, behind);
                threads.push(scope.spawn(move || self.slices(mine, here)));
            }
            // The caller's thread takes a share too.
            self.slices(messages, digests);
            join(threads);
        });
    }

    fn rows(&self, data: &[u8], stride: usize, nbytes: usize, count: usize, digests: &mut [u8]) {
        let rows = hashloom::Rows::new(data, RowLayout { row_nbytes: nbytes, stride, count });
        match self {
            Function::Digest(algorithm) => hash_rows(*algorithm, rows, digests),
            Function::Hash160 => hash160_rows(rows, digests),
            Function::Sha256d => sha256d_rows(rows, digests),
            Function::Xof(..) | Function::Mac(_) => {
                let rows: Vec<_> = (0..count).filter_map(|row| rows.get(row)).collect();
                self.slices(&rows, digests);
            }
        }
    }
}

impl Function<'_> {
    /// Gives each thread a share of the `count` rows in `data`.
    fn rows_on_threads(&self, data: &[u8], rows: &Rows<'_>, count: usize, nthreads: usize, digests: &mut [u8]) {
        let (stride, nbytes) = (rows.stride, rows.nbytes);
        let share = count.div_ceil(nthreads);
        thread::scope(|scope| {
            let mut shares = digests.chunks_mut(share * self.digest_nbytes()).enumerate().map(|(i, digests)| {
                let count = share.min(count - i * share);
                move || self.rows(&data[i * share * stride..], stride, nbytes, count, digests)
            });
            let first = shares.next();
            let others: Vec<_> = shares.map(|hash| scope.spawn(hash)).collect();
            if let Some(mut hash) = first {
                hash();
            }
            join(others);
        });
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
    joined: Growing<'py>,
}

impl<'py> Digests<'py> {
    fn new(py: Python<'py>, form: &str, function: &Function<'_>) -> PyResult<Self> {
        let form = Form::named(form)?;
        let joined = Growing::new(py, matches!(form, Form::Numpy));
        Ok(Digests { py, form, nbytes: function.digest_nbytes(), list: Vec::new(), joined })
    }

    fn reserve(&mut self, count: usize) -> PyResult<()> {
        match self.form {
            Form::Bytes | Form::Hex => self.list.try_reserve_exact(count).ok(),
            Form::Joined | Form::Numpy => self.joined.expect(count.saturating_mul(self.nbytes)),
        }
        .ok_or_else(|| memory::too_large(count, self.nbytes))
    }

    /// Gives `digests` the length of this number of digests.
    fn room_for(&self, count: usize, digests: &mut Vec<u8>) -> PyResult<()> {
        let nbytes = count * self.nbytes;
        digests.try_reserve(nbytes.saturating_sub(digests.len())).map_err(|_| memory::too_large(count, self.nbytes))?;
        digests.resize(nbytes, 0);
        Ok(())
    }

    fn add(&mut self, digests: &[u8]) -> PyResult<()> {
        let py = self.py;
        match self.form {
            Form::Bytes => {
                self.list.extend(digests.chunks_exact(self.nbytes).map(|digest| PyBytes::new(py, digest).into_any()));
            }
            Form::Hex => {
                self.list.extend(digests.chunks_exact(self.nbytes).map(|digest| hex::string(py, digest).into_any()));
            }
            Form::Joined | Form::Numpy => {
                let count = (self.joined.nbytes() + digests.len()) / self.nbytes;
                self.joined.extend(digests).ok_or_else(|| memory::too_large(count, self.nbytes))?;
            }
        }
        Ok(())
    }

    fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        let Digests { py, form, nbytes, list, joined } = self;
        let count = joined.nbytes() / nbytes;
        let joined = || joined.finish().ok_or_else(|| memory::too_large(count, nbytes));
        match form {
            Form::Bytes | Form::Hex => Ok(PyList::new(py, list)?.into_any()),
            Form::Joined => joined(),
            Form::Numpy => {
                let numpy = py.import("numpy").map_err(|error| {
                    let message = format!("output='numpy' needs numpy ({error}): pip install numpy, or use 'joined'");
                    PyImportError::new_err(message)
                })?;
                let array = numpy.call_method1("frombuffer", (joined()?, "uint8"))?;
                array.call_method1("reshape", (count, nbytes))
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

    fn hash(
        &mut self,
        py: Python<'py>,
        function: &Function<'_>,
        nthreads: usize,
        results: &mut Digests<'py>,
    ) -> PyResult<()> {
        let Batch { messages, digests, .. } = self;
        results.room_for(messages.len(), digests)?;
        function.hash(py, messages, nthreads, digests)?;
        results.add(digests)?;
        self.messages.clear();
        self.bytes.clear();
        self.buffers.clear();
        self.nbytes = 0;
        Ok(())
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
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = messages.py();
    let nthreads = nthreads(threads).min(THREADS_MAX);
    let mut results = Digests::new(py, output, function)?;
    let (mut batch, batch_max) = (Batch::default(), function.batch() * nthreads);
    if let Ok(list) = messages.cast::<PyList>() {
        results.reserve(list.len())?;
        let mut i = 0;
        // Another thread may shorten the list while a batch is hashed: the messages end where the list ends.
        while let Ok(object) = list.get_item(i) {
            batch.add(object, i)?;
            i += 1;
            if batch.messages.len() == batch_max {
                batch.hash(py, function, nthreads, &mut results)?;
            }
        }
    } else if messages.is_instance_of::<PyTuple>() || !is_one_buffer(messages)? {
        if let Ok(tuple) = messages.cast::<PyTuple>() {
            results.reserve(tuple.len())?;
        }
        let iterator = iterate(messages)?;
        for (i, object) in iterator.enumerate() {
            batch.add(object?, i)?;
            if batch.messages.len() == batch_max || batch.nbytes > BATCH_NBYTES {
                batch.hash(py, function, nthreads, &mut results)?;
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
        return hash_array(py, function, &buffer.rows()?, nthreads, results);
    }
    batch.hash(py, function, nthreads, &mut results)?;
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
    nthreads: usize,
    mut results: Digests<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    results.reserve(rows.count)?;
    let mut digests = Vec::new();
    let is_long = rows.nbytes >= LONG_ROW_NBYTES;
    // Digests need memory too: rows of no bytes count as a block.
    let at_once = if is_long { function.batch() } else { STRETCH_NBYTES / rows.nbytes.max(results.nbytes).max(64) };
    let at_once = at_once.max(1).saturating_mul(nthreads);
    let mut row = 0;
    while row < rows.count {
        let count = at_once.min(rows.count - row);
        let start = row * rows.stride;
        let data = &rows.data[start..start + (count - 1) * rows.stride + rows.nbytes];
        results.room_for(count, &mut digests)?;
        if is_long {
            // SAFETY: the caller holds the rows until the end of this function.
            let messages = (0..count).map(|row| unsafe { Held::new(&data[row * rows.stride..][..rows.nbytes]) });
            function.hash(py, &messages.collect::<Vec<_>>(), nthreads, &mut digests)?;
        } else {
            let nthreads = nthreads.min(count * (rows.nbytes + 64) / THREAD_NBYTES).max(1);
            py.detach(|| function.rows_on_threads(data, rows, count, nthreads, &mut digests));
        }
        results.add(&digests)?;
        py.check_signals()?;
        row += count;
    }
    results.finish()
}

/// Returns the digest of each message.
///
/// `messages` is a list, a tuple, another iterable of objects with bytes, or an array with two dimensions. `output` is
/// "bytes" or "hex" for a list, "joined" for all digests in one bytes object, "numpy" for an array. `length`: bytes of
/// a digest of shake_128 and others with digests of any length. `threads`: the most threads; 0 means one for each CPU.
///
/// TypeError names the message that has no bytes. ValueError: a name, output or length that there is not.
///
/// >>> import pyhashloom
/// >>> pyhashloom.many("sha1", [b"abc", b""], output="hex")
/// ['a9993e364706816aba3e25717850c26c9cd0d89d', 'da39a3ee5e6b4b0d3255bfef95601890afd80709']
#[pyfunction]
#[pyo3(signature = (name, messages, /, *, output = "bytes", length = None, threads = 1))]
fn many<'py>(
    name: &str,
    messages: &Bound<'py, PyAny>,
    output: &str,
    length: Option<i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    hash_all(&Function::named(name, length)?, messages, output, threads)
}

/// Returns the digest of each row of an array with two dimensions, or of each `row_nbytes` bytes of a buffer.
///
/// The other parameters are those of `many`. ValueError if the buffer is not a whole number of rows; BufferError if the
/// bytes of a row are not side by side.
///
/// >>> import pyhashloom
/// >>> pyhashloom.rows("sha1", b"abcabc", 3, output="hex")
/// ['a9993e364706816aba3e25717850c26c9cd0d89d', 'a9993e364706816aba3e25717850c26c9cd0d89d']
#[pyfunction]
#[pyo3(signature = (name, data, /, row_nbytes = None, *, output = "bytes", length = None, threads = 1))]
fn rows<'py>(
    name: &str,
    data: &Bound<'py, PyAny>,
    row_nbytes: Option<usize>,
    output: &str,
    length: Option<i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let function = Function::named(name, length)?;
    let nthreads = nthreads(threads).min(THREADS_MAX);
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
        return hash_array(data.py(), &function, &buffer.rows()?, nthreads, results);
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
    hash_array(data.py(), &function, &rows, nthreads, results)
}

fn twice<'py>(function: &Function<'_>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let data = Data::of(data)?;
    let bytes = data.bytes();
    let mut digest = vec![0; function.digest_nbytes()];
    py.detach(|| function.slices(&[bytes], &mut digest));
    Ok(PyBytes::new(py, &digest))
}

/// Returns RIPEMD-160 of SHA-256 of one message, as in Bitcoin's addresses: 20 bytes.
///
/// >>> import pyhashloom
/// >>> pyhashloom.hash160(b"abc").hex()
/// 'bb1be98c142444d7a56aa3981c3942a978e4dc33'
#[pyfunction]
#[pyo3(signature = (data, /))]
fn hash160<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    twice(&Function::Hash160, data)
}

/// Returns SHA-256 of SHA-256 of one message, as for Bitcoin's blocks: 32 bytes.
///
/// >>> import pyhashloom
/// >>> pyhashloom.sha256d(b"abc").hex()[:16]
/// '4f8b42c22dd3729b'
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
