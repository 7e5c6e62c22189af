// SPDX-License-Identifier: MIT OR Apache-2.0
//! Columns of digests, by way of Arrow's PyCapsule interface: the function `column`, and the classes that it returns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use hashloom::HmacKey;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyCapsule, PyList, PySlice, PyTuple};

use crate::arrow;
use crate::buffer::Data;
use crate::digester::{Digest, Digester, Plan};
use crate::digests;
use crate::hash::{for_hmac, known};
use crate::many::Function;
use crate::memory;
use crate::signals::Signals;
use crate::source::Source;
use crate::work::nthreads;

/// A column of digests. It has the Arrow PyCapsule interface: pyarrow.chunked_array(column), polars.Series(column) and
/// pandas.Series(pyarrow…) take it without a copy.
#[pyclass(frozen, module = "pyhashloom", name = "Column")]
pub struct Column {
    arrays: Vec<ArrayData>,
    field: Arc<Field>,
    /// The index of pandas that the values had.
    index: Option<Py<PyAny>>,
}

/// An array of a column as pickle has it: the number of rows, a byte for each row that is 1 if it is not null (None if
/// no row is), and the digests, without those of nulls if they are texts.
type Pickled<'py> = (usize, Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>);

impl Column {
    fn is_hex(&self) -> bool {
        *self.field.data_type() == DataType::Utf8
    }

    /// The bytes of all rows; `None` for nulls.
    pub fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.arrays.iter().flat_map(|array| (0..array.len()).map(|row| digests::bytes(array, row)))
    }
}

#[pymethods]
impl Column {
    /// A consumer may ask for another type, and a producer may leave that to the consumer: this one does.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        arrow::stream(py, self.field.clone(), Box::new(self.arrays.clone().into_iter().map(Ok)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.field)
    }

    #[pyo3(signature = (r#type=None))]
    fn __arrow_array__<'py>(this: &Bound<'py, Self>, r#type: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "arrow_array")?.call1((this, r#type))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        this: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "numpy_array")?.call1((this, dtype, copy))
    }

    /// A digest (text or bytes; None for a null), the column of a slice, or numpy's array of what a mask or an array of
    /// numbers chooses.
    fn __getitem__<'py>(this: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (column, py) = (this, this.py());
        let this = this.get();
        let nrows = this.__len__();
        if let Ok(slice) = key.cast::<PySlice>() {
            let index =
                this.index.as_ref().map(|index| index.bind(py).get_item(slice).map(Bound::unbind)).transpose()?;
            let slice = slice.indices(nrows as isize)?;
            if slice.step != 1 {
                return Err(PyValueError::new_err("a slice with a step other than 1: take it from to_pylist()"));
            }
            let (mut skip, mut left) = (slice.start as usize, slice.slicelength);
            let mut arrays = Vec::new();
            for array in &this.arrays {
                let first = skip.min(array.len());
                let taken = left.min(array.len() - first);
                if taken > 0 {
                    arrays.push(array.slice(first, taken));
                }
                (skip, left) = (skip - first, left - taken);
            }
            if arrays.is_empty() {
                arrays.push(ArrayData::new_empty(this.field.data_type()));
            }
            return Ok(Bound::new(py, Column { arrays, field: this.field.clone(), index })?.into_any());
        }
        if key.hasattr("__len__")? {
            return digests::convert(column, "numpy_array")?.call1((column, py.None(), py.None()))?.get_item(key);
        }
        let index: isize = key.extract()?;
        let row = if index < 0 { nrows.checked_add_signed(index) } else { usize::try_from(index).ok() };
        let mut row = row
            .filter(|&row| row < nrows)
            .ok_or_else(|| PyIndexError::new_err(format!("row {index} of a column with {nrows} rows")))?;
        for array in &this.arrays {
            if row < array.len() {
                return Ok(digests::value(py, array, row));
            }
            row -= array.len();
        }
        unreachable!("a row below the number of rows is in one of the arrays")
    }

    fn __iter__(this: &Bound<'_, Self>) -> ColumnIterator {
        ColumnIterator { column: this.clone().unbind(), next: Mutex::new((0, 0)) }
    }

    /// All digests in a list: texts or bytes, None for nulls.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for array in &self.arrays {
            for row in 0..array.len() {
                list.append(digests::value(py, array, row))?;
            }
        }
        Ok(list)
    }

    /// The same as to_pylist().
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.to_pylist(py)
    }

    /// numpy's array of objects: texts or bytes, None for nulls.
    fn to_numpy<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        digests::convert(this, "numpy_array")?.call1((this, py.None(), py.None()))
    }

    /// A pyarrow.ChunkedArray, without a copy of the digests.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "arrow_array")?.call1((this, this.py().None()))
    }

    /// == and != are those of numpy: an array with a bool for each row. A null equals a null.
    fn __richcmp__<'py>(
        this: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        compared: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        match compared {
            CompareOp::Eq => digests::convert(this, "equal")?.call1((this, other, true)),
            CompareOp::Ne => digests::convert(this, "equal")?.call1((this, other, false)),
            _ => Ok(this.py().NotImplemented().into_bound(this.py())),
        }
    }

    /// Whether the other is a column of the same digests, in the same order. A null equals a null.
    fn equals(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Column>() else { return false };
        let other = other.get();
        self.is_hex() == other.is_hex() && self.__len__() == other.__len__() && self.values().eq(other.values())
    }

    /// A byte for each row of two columns of one length: 1 if the digests are equal.
    fn _equal<'py>(&self, py: Python<'py>, other: &Column) -> Bound<'py, PyBytes> {
        let equal: Vec<u8> = self.values().zip(other.values()).map(|(one, other)| (one == other).into()).collect();
        PyBytes::new(py, &equal)
    }

    #[getter]
    fn _index(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.index.as_ref().map(|index| index.clone_ref(py))
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, column) = (this.py(), this.get());
        let pickled = |array: &ArrayData| -> Pickled<'py> {
            let nulls = array.nulls().map(|nulls| nulls.iter().map(u8::from).collect::<Vec<_>>());
            let nulls = nulls.map(|nulls| PyBytes::new(py, &nulls));
            (array.len(), nulls, PyBytes::new(py, digests::all(array)))
        };
        let arrays: Vec<_> = column.arrays.iter().map(pickled).collect();
        let nbytes = match column.field.data_type() {
            DataType::FixedSizeBinary(nbytes) => Some(*nbytes),
            _ => None,
        };
        let arguments = (column.name(), nbytes, arrays, column._index(py)).into_pyobject(py)?;
        Ok((this.get_type().getattr("_of")?, arguments))
    }

    /// The column that was pickled.
    #[staticmethod]
    fn _of(name: &str, nbytes: Option<i32>, arrays: Vec<Pickled<'_>>, index: Option<Py<PyAny>>) -> PyResult<Column> {
        let kind = nbytes.map_or(DataType::Utf8, DataType::FixedSizeBinary);
        let array = |(nrows, valid, values): Pickled<'_>| {
            digests::array(&kind, nrows, valid.as_ref().map(|valid| valid.as_bytes()), values.as_bytes())
                .ok_or_else(|| PyValueError::new_err("the pickle of a Column is damaged"))
        };
        let arrays = arrays.into_iter().map(array).collect::<PyResult<_>>()?;
        Ok(Column { arrays, field: Arc::new(Field::new(name, kind, true)), index })
    }

    /// A polars.Series, without a copy of the digests.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "to_polars")?.call1((this,))
    }

    /// A pandas.Series with the index of what was hashed, if that was of pandas. It needs pyarrow.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "to_pandas")?.call1((this,))
    }

    fn _repr_html_<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "to_html")?.call1((this,))
    }

    /// The name of the column that was hashed; empty if it had none, or there were several.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// pandas leaves `series == column` to this class, whose priority is higher than that of a frame.
    #[classattr]
    fn __pandas_priority__() -> u32 {
        5000
    }

    /// The form of the digests: "hex" or "binary".
    #[getter]
    fn output(&self) -> &'static str {
        if self.is_hex() { "hex" } else { "binary" }
    }

    pub fn __len__(&self) -> usize {
        self.arrays.iter().map(|array| array.len()).sum()
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.arrays.iter().map(|array| array.null_count()).sum()
    }

    fn __repr__(&self) -> String {
        format!("<pyhashloom.Column of {} values, {}>", self.__len__(), self.field.data_type())
    }
}

/// The digests of a column, one after the other.
#[pyclass(frozen, module = "pyhashloom._hashloom", name = "ColumnIterator")]
struct ColumnIterator {
    column: Py<Column>,
    /// The array and the row in the array that come next.
    next: Mutex<(usize, usize)>,
}

#[pymethods]
impl ColumnIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let mut next = self.next.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let arrays = &self.column.get().arrays;
        while next.1 >= arrays.get(next.0)?.len() {
            *next = (next.0 + 1, 0);
        }
        next.1 += 1;
        Some(digests::value(py, &arrays[next.0], next.1 - 1))
    }
}

/// Digests of columns that are made as they are read: by a for loop, which gives a Column for each of the producer's
/// arrays, or by way of the Arrow PyCapsule interface, as record batches of one column.
#[pyclass(frozen, module = "pyhashloom", name = "ColumnReader")]
struct ColumnReader {
    /// None: a stream of the interface has it.
    digester: Mutex<Option<Digester>>,
    field: Arc<Field>,
    /// The index of pandas that the values have, and the number of rows that were read.
    index: Option<Py<PyAny>>,
    nread: AtomicUsize,
}

impl ColumnReader {
    /// Does something with the digester, which no other call uses meanwhile: a producer or the handler of a signal may
    /// call into this reader again.
    fn with<T>(&self, f: impl FnOnce(&mut Option<Digester>) -> PyResult<T>) -> PyResult<T> {
        match self.digester.try_lock() {
            Ok(mut digester) => f(&mut digester),
            Err(TryLockError::Poisoned(poisoned)) => f(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyValueError::new_err("another call reads this reader")),
        }
    }
}

impl ColumnReader {
    /// The type of a record batch.
    fn batch_field(&self) -> Field {
        Field::new("", DataType::Struct(vec![self.field.clone()].into()), false)
    }
}

fn read_before() -> PyErr {
    PyValueError::new_err("the reader was read before: __arrow_c_stream__ gave it away")
}

#[pymethods]
impl ColumnReader {
    /// Gives the reader away.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let mut digester = self.with(|digester| digester.take().ok_or_else(read_before))?;
        let field = self.batch_field();
        let kind = field.data_type().clone();
        let batch = move |column: ArrayData| {
            let batch = ArrayData::builder(kind.clone()).len(column.len());
            // SAFETY: the one field has as many rows, and its type.
            unsafe { batch.add_child_data(column).build_unchecked() }
        };
        let mut signals = Signals::new();
        let arrays = std::iter::from_fn(move || digester.next(false, &mut signals).transpose());
        arrow::stream(py, Arc::new(field), Box::new(arrays.map(move |array| array.map(&batch))))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.batch_field())
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Column>> {
        let next = |digester: &mut Option<Digester>| {
            digester.as_mut().ok_or_else(read_before)?.next(false, &mut Signals::new())
        };
        let Some(array) = py.detach(|| self.with(next))? else { return Ok(None) };
        let first = self.nread.fetch_add(array.len(), Ordering::Relaxed) as isize;
        let rows = PySlice::new(py, first, first + array.len() as isize, 1);
        let index = self.index.as_ref().map(|index| index.bind(py).get_item(rows).map(Bound::unbind)).transpose()?;
        Ok(Some(Column { arrays: vec![array], field: self.field.clone(), index }))
    }

    fn __repr__(&self) -> String {
        format!("<pyhashloom.ColumnReader, {}>", self.field.data_type())
    }
}

/// The arguments.
fn sources(arguments: &Bound<'_, PyTuple>, field: Option<&str>) -> PyResult<Vec<Source>> {
    if field.is_some() && arguments.len() != 1 {
        return Err(PyTypeError::new_err("field takes one table"));
    }
    let mut sources = Vec::new();
    for (i, argument) in arguments.iter().enumerate() {
        let is_arrow = |name| argument.hasattr(name).unwrap_or(false);
        if !is_arrow("__arrow_c_stream__") && !is_arrow("__arrow_c_array__") {
            let kind = argument.get_type();
            let kind = kind.name().map_or_else(|_| "?".into(), |name| name.to_string());
            return Err(PyTypeError::new_err(format!(
                "column {}: expected an Arrow array, column or table (anything with __arrow_c_stream__ or \
                 __arrow_c_array__), found {kind}",
                i + 1
            )));
        }
        sources.push(Source::new(arrow::Arrays::of(&argument)?, field)?);
    }
    match sources.first().map(|source| source.field().data_type()) {
        None => Err(PyTypeError::new_err("expected at least one column")),
        Some(DataType::Struct(fields)) if fields.is_empty() => {
            Err(PyTypeError::new_err("the table has no columns: expected at least one column"))
        }
        Some(_) => Ok(sources),
    }
}

/// Returns the digests of an Arrow column's values, or of the rows of a table or of several columns, as an Arrow
/// column; with stream=True as a reader of parts of one.
#[pyfunction]
#[pyo3(signature = (
    name, /, *columns, output="hex", salt=None, key=None, length=None, threads=0, stream=false, field=None, index=None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
fn column<'py>(
    py: Python<'py>,
    name: &str,
    columns: &Bound<'py, PyTuple>,
    output: &str,
    salt: Option<Bound<'py, PyAny>>,
    key: Option<Bound<'py, PyAny>>,
    length: Option<i64>,
    threads: usize,
    stream: bool,
    field: Option<&str>,
    index: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_hex = match output {
        "hex" => true,
        "binary" => false,
        other => {
            return Err(PyValueError::new_err(format!("unknown output {other:?}: expected 'hex' or 'binary'")));
        }
    };
    let nthreads = nthreads(threads);
    let salt = salt.map(|salt| Data::named(&salt, "salt")).transpose()?;
    let key = key.map(|key| Data::named(&key, "key")).transpose()?;
    if key.as_ref().is_some_and(|key| key.bytes().is_empty()) {
        return Err(PyValueError::new_err("the key is empty: everybody has it. Leave it out if none is wanted"));
    }
    let digest = match &key {
        None => Digest::Plain(Function::named(name, length)?),
        Some(_) if length.is_some() => {
            return Err(PyValueError::new_err("expected a length or a key, found both: tags have the digest's length"));
        }
        Some(_) if salt.is_some() => return Err(PyValueError::new_err("expected a salt or a key, found both")),
        Some(key) => {
            let algorithm = known(name).ok_or_else(|| PyValueError::new_err(format!("no HMAC with {name:?}")))?;
            Digest::Mac(Box::new(HmacKey::new(for_hmac(algorithm)?, key.bytes())))
        }
    };
    let salt = salt.as_ref().map_or(Ok(Vec::new()), |salt| memory::copied(salt.bytes()))?;
    let plan = Plan { digest, salt, is_hex };
    let sources = sources(columns, field)?;
    // The digests of one column keep its name.
    let name = match &sources[..] {
        [source] if !source.is_table() && (!stream || !source.field().name().is_empty()) => source.field().name(),
        // A column of a record batch has a name.
        _ if stream => "digest",
        _ => "",
    };
    let field = Arc::new(Field::new(name, plan.kind(), true));
    let mut digester = Digester::new(sources, plan, nthreads);
    if stream {
        let reader = ColumnReader { digester: Mutex::new(Some(digester)), field, index, nread: AtomicUsize::new(0) };
        return Ok(Bound::new(py, reader)?.into_any());
    }
    let mut arrays = py.detach(|| {
        let mut signals = Signals::new();
        std::iter::from_fn(|| digester.next(true, &mut signals).transpose()).collect::<PyResult<Vec<_>>>()
    })?;
    if arrays.is_empty() {
        arrays.push(ArrayData::new_empty(field.data_type()));
    }
    Ok(Bound::new(py, Column { arrays, field, index })?.into_any())
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Column>()?;
    module.add_class::<ColumnReader>()?;
    module.add_function(wrap_pyfunction!(column, module)?)
}
