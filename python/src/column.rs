// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrow columns, by way of the PyCapsule interface: the bytes of each value where they lie, digests as a new column.
//!
//! Nothing that a producer says about places in a buffer is trusted: offsets and views are checked as they are read.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use hashloom::HmacKey;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyList, PySlice, PyTuple};

use crate::arrow::{self, not_supported};
use crate::buffer::Data;
use crate::digests;
use crate::hash::{for_hmac, known};
use crate::hex;
use crate::many::Function;
use crate::memory;
use crate::rows::{self, Bad, Values};
use crate::work::nthreads;

/// Values between two looks at signals.
const STRETCH: usize = 1 << 20;

/// A batch whose bytes are put together ends beyond this number of them.
const BATCH_NBYTES: usize = 4 << 20;

/// Fewer values than these are not worth a thread.
const THREAD_VALUES: usize = 1 << 14;

/// The values of an array that have bytes of their own.
pub enum Cells<'a> {
    Offsets32(&'a [i32], &'a [u8]),
    Offsets64(&'a [i64], &'a [u8]),
    Views(&'a [u128], &'a [Buffer]),
    /// Values of one length.
    Rows(usize, &'a [u8]),
}

impl Cells<'_> {
    /// The bytes of value `i`; `None` if they are not in the array's buffers.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        match *self {
            Cells::Offsets32(offsets, values) => between(offsets, values, i),
            Cells::Offsets64(offsets, values) => between(offsets, values, i),
            Cells::Views(views, buffers) => {
                const INLINE_MAX_NBYTES: usize = 12;
                let view = views.get(i)?;
                let nbytes = *view as u32 as usize;
                if nbytes <= INLINE_MAX_NBYTES {
                    // SAFETY: a view is 16 bytes that are initialised and live as long as the array.
                    let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(view).cast::<u8>(), 16) };
                    return bytes.get(4..4 + nbytes);
                }
                let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
                buffers.get(buffer)?.as_slice().get(offset..offset.checked_add(nbytes)?)
            }
            Cells::Rows(nbytes, values) => values.get(i.checked_mul(nbytes)?..)?.get(..nbytes),
        }
    }
}

fn between<'a, O: ArrowNativeType>(offsets: &[O], values: &'a [u8], i: usize) -> Option<&'a [u8]> {
    let start = offsets.get(i)?.to_usize()?;
    let end = offsets.get(i + 1)?.to_usize()?;
    values.get(start..end)
}

/// An array of one column.
struct Chunk<'a> {
    cells: Cells<'a>,
    nulls: Option<NullBuffer>,
    /// For a dictionary: where each row's value is.
    index: Option<Vec<usize>>,
}

impl<'a> Chunk<'a> {
    fn new(array: &'a ArrayData) -> PyResult<Chunk<'a>> {
        let mut nulls = array.nulls().cloned();
        let buffers = array.buffers();
        // The slots of the array: of `width` bytes each, of a buffer.
        let rows = |width: usize| {
            let slots = array.offset() * width..(array.offset() + array.len()) * width;
            Cells::Rows(width, buffers[0].as_slice().get(slots).unwrap_or(&[]))
        };
        let cells = match array.data_type() {
            DataType::Utf8 | DataType::Binary => Cells::Offsets32(from_offset(array), buffers[1].as_slice()),
            DataType::LargeUtf8 | DataType::LargeBinary => Cells::Offsets64(from_offset(array), buffers[1].as_slice()),
            DataType::Utf8View | DataType::BinaryView => Cells::Views(from_offset(array), &buffers[1..]),
            DataType::FixedSizeBinary(nbytes) => {
                rows(usize::try_from(*nbytes).map_err(|_| PyValueError::new_err("values of a negative length"))?)
            }
            DataType::Null => {
                nulls = Some(NullBuffer::new_null(array.len()));
                Cells::Rows(0, &[])
            }
            DataType::Dictionary(keys, _) => {
                let values = Chunk::new(&array.child_data()[0])?;
                let index = dictionary_index(keys, array)?;
                if values.nulls.is_some() {
                    // A key of no value is found when the value is read.
                    let is_value =
                        |row: usize| index[row] >= array.child_data()[0].len() || !values.is_null(index[row]);
                    let values = NullBuffer::new(BooleanBuffer::collect_bool(index.len(), is_value));
                    nulls = NullBuffer::union(nulls.as_ref(), Some(&values));
                }
                return Ok(Chunk { cells: values.cells, nulls, index: Some(index) });
            }
            // The bytes of integers as they lie in memory: Arrow's little-endian form on little-endian machines.
            #[cfg(target_endian = "little")]
            kind if kind.is_integer() => rows(kind.primitive_width().unwrap_or(0)),
            kind => return Err(not_supported(kind)),
        };
        Ok(Chunk { cells, nulls, index: None })
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        match &self.index {
            Some(index) => self.cells.get(*index.get(row)?),
            None => self.cells.get(row),
        }
    }
}

/// The first buffer of an array from its offset on: numbers of one type.
pub fn from_offset<T: ArrowNativeType>(array: &ArrayData) -> &[T] {
    array.buffers()[0].typed_data().get(array.offset()..).unwrap_or(&[])
}

/// The position of each row's value. A null row has one too, which is not used.
fn dictionary_index(kind: &DataType, array: &ArrayData) -> PyResult<Vec<usize>> {
    fn index<K: ArrowNativeType>(array: &ArrayData) -> Vec<usize> {
        let keys = from_offset::<K>(array).iter().take(array.len());
        keys.map(|key| key.to_usize().unwrap_or(usize::MAX)).collect()
    }
    Ok(match kind {
        DataType::Int8 => index::<i8>(array),
        DataType::Int16 => index::<i16>(array),
        DataType::Int32 => index::<i32>(array),
        DataType::Int64 => index::<i64>(array),
        DataType::UInt8 => index::<u8>(array),
        DataType::UInt16 => index::<u16>(array),
        DataType::UInt32 => index::<u32>(array),
        DataType::UInt64 => index::<u64>(array),
        _ => return Err(not_supported(array.data_type())),
    })
}

/// An array of a column, by what is hashed of it.
enum Part<'a> {
    /// The bytes of its values.
    Column(Chunk<'a>),
    /// Its values as parts of rows.
    Rows(Values<'a>),
}

/// One argument: its arrays, one after the other.
struct Input {
    field: Field,
    arrays: Vec<ArrayData>,
    /// The row in which each array begins, and the number of rows.
    begins: Vec<usize>,
}

impl Input {
    fn new(field: Field, arrays: Vec<ArrayData>) -> Input {
        let mut begins = vec![0];
        let mut nrows = 0;
        for array in &arrays {
            nrows += array.len();
            begins.push(nrows);
        }
        Input { field, arrays, begins }
    }

    fn is_table(&self) -> bool {
        matches!(self.field.data_type(), DataType::Struct(_))
    }

    fn parts(&self, is_rows: bool) -> PyResult<Vec<Part<'_>>> {
        let part = |array| match is_rows {
            true => Ok(Part::Rows(Values::new(&self.field, array))),
            false => Chunk::new(array).map(Part::Column),
        };
        self.arrays.iter().map(part).collect()
    }

    fn nrows(&self) -> usize {
        self.begins.last().copied().unwrap_or(0)
    }
}

/// The columns of the arguments.
fn inputs(arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<Input>> {
    let mut inputs = Vec::new();
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
        let (field, arrays) = arrow::import(&argument)?;
        inputs.push(Input::new(field, arrays));
    }
    let Some(first) = inputs.first() else {
        return Err(PyTypeError::new_err("expected at least one column"));
    };
    if matches!(first.field.data_type(), DataType::Struct(fields) if fields.is_empty()) {
        return Err(PyTypeError::new_err("the table has no columns: expected at least one column"));
    }
    if let Some(i) = inputs.iter().position(|input| input.nrows() != first.nrows()) {
        let message =
            format!("columns of different lengths: 1 has {} rows, {} has {}", first.nrows(), i + 1, inputs[i].nrows());
        return Err(PyValueError::new_err(message));
    }
    Ok(inputs)
}

/// The work on each row.
struct Plan<'k> {
    function: Function<'k>,
    salt: &'k [u8],
    is_hex: bool,
}

impl Plan<'_> {
    /// Bytes of a value of the result.
    fn width(&self) -> usize {
        self.function.digest_nbytes() << u32::from(self.is_hex)
    }

    /// The type of the result.
    fn kind(&self) -> DataType {
        match self.is_hex {
            true => DataType::Utf8,
            false => DataType::FixedSizeBinary(i32::try_from(self.width()).unwrap_or(i32::MAX)),
        }
    }
}

/// Rows of all arguments, an array of each.
struct Segment<'a> {
    /// The arrays, and the segment's first row in each.
    parts: Vec<(&'a Part<'a>, usize)>,
    /// The rows of the result that are null.
    nulls: Option<NullBuffer>,
    nrows: usize,
}

/// Why a row has no digest.
type BadRow = (Bad, usize);

impl Segment<'_> {
    /// Hashes rows into `out`, which has room for their values: `width` bytes for each row, in hexadecimal for each row
    /// that is not null.
    fn hash(&self, plan: &Plan<'_>, rows: Range<usize>, mut out: &mut [u8]) -> Result<(), BadRow> {
        let nbytes = plan.function.digest_nbytes();
        let batch_max = plan.function.batch();
        let mut digests = vec![0; batch_max * nbytes];
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(batch_max);
        let is_skipped = |row: usize| self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let mut next = rows.start;
        while next < rows.end {
            let mut batch = next..rows.end.min(next + batch_max);
            let mut messages: Vec<&[u8]> = Vec::with_capacity(batch.len());
            if let ([(Part::Column(chunk), begin)], []) = (&self.parts[..], plan.salt) {
                for row in batch.clone().filter(|&row| !is_skipped(row)) {
                    messages.push(chunk.get(begin + row).ok_or((Bad::Place, row))?);
                }
            } else {
                text.clear();
                ends.clear();
                for row in batch.clone() {
                    if text.len() >= BATCH_NBYTES {
                        batch.end = row;
                        break;
                    }
                    if !is_skipped(row) {
                        self.append(plan.salt, row, &mut text).map_err(|bad| (bad, row))?;
                        ends.push(text.len());
                    }
                }
                let mut begin = 0;
                for &end in &ends {
                    messages.push(&text[begin..end]);
                    begin = end;
                }
            }
            next = batch.end;
            let nvalues = if plan.is_hex { messages.len() } else { batch.len() };
            let (here, behind) = out.split_at_mut(nvalues * plan.width());
            out = behind;
            if here.len() == messages.len() * nbytes {
                plan.function.slices(&messages, here);
                continue;
            }
            let digests = &mut digests[..messages.len() * nbytes];
            plan.function.slices(&messages, digests);
            if plan.is_hex {
                hex::write(digests, here);
                continue;
            }
            let mut digests = digests.chunks_exact(nbytes);
            for (row, to) in batch.zip(here.chunks_exact_mut(nbytes)) {
                if !is_skipped(row) {
                    to.copy_from_slice(digests.next().unwrap_or(&[]));
                }
            }
        }
        Ok(())
    }

    /// Values in a row.
    fn width(&self) -> usize {
        let width = |(part, _): &(&Part<'_>, usize)| match part {
            Part::Column(_) => 1,
            Part::Rows(values) => values.width(),
        };
        self.parts.iter().map(width).sum()
    }

    /// Appends the salt and a row: the bytes of a column's value, or a row of docs/rows.md.
    fn append(&self, salt: &[u8], row: usize, text: &mut Vec<u8>) -> Result<(), Bad> {
        text.try_reserve(salt.len())?;
        text.extend_from_slice(salt);
        if let [(Part::Column(chunk), begin)] = self.parts[..] {
            let value = chunk.get(begin + row).ok_or(Bad::Place)?;
            text.try_reserve(value.len())?;
            text.extend_from_slice(value);
            return Ok(());
        }
        let start = text.len();
        if self.parts.len() > 1 {
            rows::row_head(self.parts.len(), text);
        }
        for (part, begin) in &self.parts {
            if let Part::Rows(values) = part {
                values.append(begin + row, text)?;
            }
        }
        rows::end_row(start, text)
    }
}

/// Hashes all rows of a segment; returns the new array. `first`: the segment's first row in the column.
fn digests_of(
    py: Python<'_>,
    plan: &Plan<'_>,
    segment: &Segment<'_>,
    nthreads: usize,
    first: usize,
) -> PyResult<ArrayData> {
    let width = plan.width();
    let is_null = |row| segment.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let nvalid = segment.nrows - segment.nulls.as_ref().map_or(0, NullBuffer::null_count);
    let mut out = memory::zeros(if plan.is_hex { nvalid } else { segment.nrows }, width)?;
    let mut rest = &mut out[..];
    let mut next = 0;
    // Wide rows take as long as several of one value.
    let row_nvalues = segment.width();
    let stretch_max = (STRETCH / row_nvalues).max(nthreads.saturating_mul(plan.function.batch()));
    while next < segment.nrows {
        let stretch = next..segment.nrows.min(next.saturating_add(stretch_max));
        let nthreads = nthreads.min((stretch.len() * row_nvalues).div_ceil(THREAD_VALUES)).max(1);
        // Whole batches for each thread.
        let share = stretch.len().div_ceil(nthreads).next_multiple_of(plan.function.batch());
        let mut parts = Vec::new();
        while next < stretch.end {
            let rows = next..stretch.end.min(next + share);
            let nulls = segment.nulls.as_ref().map_or(0, |nulls| nulls.slice(rows.start, rows.len()).null_count());
            let nbytes = width * if plan.is_hex { rows.len() - nulls } else { rows.len() };
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(nbytes);
            rest = behind;
            next = rows.end;
            parts.push((rows, here));
        }
        let hashed = py.detach(|| {
            thread::scope(|scope| {
                let last = parts.pop();
                let threads: Vec<_> =
                    parts.into_iter().map(|(rows, here)| scope.spawn(|| segment.hash(plan, rows, here))).collect();
                let mut hashed = last.map_or(Ok(()), |(rows, here)| segment.hash(plan, rows, here));
                for thread in threads {
                    match thread.join() {
                        Ok(result) => hashed = hashed.and(result),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                hashed
            })
        });
        hashed.map_err(|(bad, row)| bad.error(first + row))?;
        py.check_signals()?;
    }
    let array = ArrayData::builder(plan.kind()).len(segment.nrows).nulls(segment.nulls.clone());
    let array = match plan.is_hex {
        true => {
            let lengths = (0..segment.nrows).map(|row| if is_null(row) { 0 } else { width });
            array.add_buffer(OffsetBuffer::<i32>::from_lengths(lengths).into_inner().into_inner())
        }
        false => array,
    };
    // SAFETY: each row has its bytes in the buffer, or its offsets among hexadecimal digits.
    Ok(unsafe { array.add_buffer(Buffer::from_vec(out)).build_unchecked() })
}

/// A column of digests. It has the Arrow PyCapsule interface: pyarrow.chunked_array(column), polars.Series(column) and
/// pandas.Series(pyarrow…) take it without a copy.
#[pyclass(frozen, module = "pyhashloom", name = "Column")]
struct Column {
    arrays: Vec<ArrayData>,
    field: Arc<Field>,
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
        arrow::stream(py, self.field.clone(), self.arrays.clone())
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

    /// A digest (text or bytes; None for a null), or the column of a slice.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let nrows = self.__len__();
        if let Ok(slice) = key.cast::<PySlice>() {
            let slice = slice.indices(nrows as isize)?;
            if slice.step != 1 {
                return Err(PyValueError::new_err("a slice with a step other than 1: take it from to_pylist()"));
            }
            let (mut skip, mut left) = (slice.start as usize, slice.slicelength);
            let mut arrays = Vec::new();
            for array in &self.arrays {
                let first = skip.min(array.len());
                let taken = left.min(array.len() - first);
                if taken > 0 {
                    arrays.push(array.slice(first, taken));
                }
                (skip, left) = (skip - first, left - taken);
            }
            if arrays.is_empty() {
                arrays.push(ArrayData::new_empty(self.field.data_type()));
            }
            return Ok(Bound::new(py, Column { arrays, field: self.field.clone() })?.into_any());
        }
        let index: isize = key.extract()?;
        let row = if index < 0 { nrows.checked_add_signed(index) } else { usize::try_from(index).ok() };
        let mut row = row
            .filter(|&row| row < nrows)
            .ok_or_else(|| PyIndexError::new_err(format!("row {index} of a column with {nrows} rows")))?;
        for array in &self.arrays {
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

    /// A polars.Series, without a copy of the digests.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        digests::convert(this, "to_polars")?.call1((this,))
    }

    /// A pandas.Series with a new index. It needs pyarrow.
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

    /// The form of the digests: "hex" or "binary".
    #[getter]
    fn output(&self) -> &'static str {
        if *self.field.data_type() == DataType::Utf8 { "hex" } else { "binary" }
    }

    fn __len__(&self) -> usize {
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

/// Returns the digests of an Arrow column's values, or of the rows of a table or of several columns, as an Arrow column.
#[pyfunction]
#[pyo3(signature = (name, /, *columns, output="hex", salt=None, key=None, length=None, threads=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
fn column(
    py: Python<'_>,
    name: &str,
    columns: &Bound<'_, PyTuple>,
    output: &str,
    salt: Option<Bound<'_, PyAny>>,
    key: Option<Bound<'_, PyAny>>,
    length: Option<i64>,
    threads: usize,
) -> PyResult<Column> {
    let is_hex = match output {
        "hex" => true,
        "binary" => false,
        other => {
            return Err(PyValueError::new_err(format!("unknown output {other:?}: expected 'hex' or 'binary'")));
        }
    };
    let nthreads = nthreads(threads);
    let salt = salt.as_ref().map(Data::of).transpose()?;
    let key = key.as_ref().map(Data::of).transpose()?;
    let hmac;
    let function = match &key {
        None => Function::named(name, length)?,
        Some(_) if length.is_some() => {
            return Err(PyValueError::new_err("expected a length or a key, found both: tags have the digest's length"));
        }
        Some(_) if salt.is_some() => return Err(PyValueError::new_err("expected a salt or a key, found both")),
        Some(key) => {
            let algorithm = known(name).ok_or_else(|| PyValueError::new_err(format!("no HMAC with {name:?}")))?;
            hmac = HmacKey::new(for_hmac(algorithm)?, key.bytes());
            Function::Mac(&hmac)
        }
    };
    let plan = Plan { function, salt: salt.as_ref().map_or(&[], |salt| salt.bytes()), is_hex };
    let inputs = inputs(columns)?;
    let is_rows = inputs.len() > 1 || inputs[0].is_table();
    let nrows = inputs[0].nrows();
    // Offsets of strings are of 32 bits.
    let most = i32::MAX as usize / plan.width();
    let mut arrays = Vec::new();
    let parts: Vec<_> = inputs.iter().map(|input| input.parts(is_rows)).collect::<PyResult<_>>()?;
    let (mut at, mut next) = (vec![0; inputs.len()], 0);
    while next < nrows {
        let mut end = nrows.min(next + most);
        for (input, at) in inputs.iter().zip(&mut at) {
            while input.begins[*at + 1] <= next {
                *at += 1;
            }
            end = end.min(input.begins[*at + 1]);
        }
        let mut segment = Segment { parts: Vec::new(), nulls: None, nrows: end - next };
        for ((input, parts), &at) in inputs.iter().zip(&parts).zip(&at) {
            segment.parts.push((&parts[at], next - input.begins[at]));
        }
        if let [(Part::Column(chunk), begin)] = segment.parts[..] {
            segment.nulls = chunk.nulls.as_ref().map(|nulls| nulls.slice(begin, segment.nrows));
        }
        arrays.push(digests_of(py, &plan, &segment, nthreads, next)?);
        next = end;
    }
    // The digests of one column keep its name.
    let name = if let [input] = &inputs[..] { input.field.name() } else { "" };
    let field = Arc::new(Field::new(name, plan.kind(), true));
    if arrays.is_empty() {
        arrays.push(ArrayData::new_empty(field.data_type()));
    }
    Ok(Column { arrays, field })
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Column>()?;
    module.add_function(wrap_pyfunction!(column, module)?)
}
