// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digests of Arrow arrays: the bytes of each value where they lie, digests as a new array.
//!
//! Nothing that a producer says about places in a buffer is trusted: offsets, views and keys are checked as they are
//! read.
//!
//! Producers' arrays (source.rs) are joined to groups of rows, and a group becomes an array of the result. The caller's
//! thread and others take the group's parts from a queue. Each value of a dictionary is hashed once, if it has fewer
//! values than rows.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow_buffer::bit_mask::set_bits;
use arrow_buffer::bit_util::{get_bit, set_bit};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use hashloom::HmacKey;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::not_supported;
use crate::hex;
use crate::long::{LONG_NBYTES, Long, hash_long};
use crate::many::Function;
use crate::memory;
use crate::rows::{self, Bad, Numbers, Values};
use crate::signals::{Signals, TICK};
use crate::source::{Source, Taken};

/// Bytes of values, and about a block more for each, that are worth a thread.
const PART_NBYTES: usize = 1 << 20;
const BLOCK_NBYTES: usize = 64;

/// Values that fill the lanes of every kernel.
const LANES: usize = 32;

/// About the bytes of a value in a row.
const VALUE_NBYTES: usize = 8;

/// A batch of values that are copied, behind a salt or beside those of other columns, ends beyond this number of bytes.
const BATCH_NBYTES: usize = 4 << 20;

/// The values of an array that have bytes of their own.
#[derive(Clone, Copy)]
pub enum ArrayBytes<'a> {
    Offsets32(&'a [i32], &'a [u8]),
    Offsets64(&'a [i64], &'a [u8]),
    Views(&'a [u128], &'a [Buffer]),
    /// Values of one length.
    Rows(usize, &'a [u8]),
    /// Integers, whose bytes are those of a value in a row, so that their width does not matter.
    Integers(Numbers<'a>, &'a ArrayData),
}

impl ArrayBytes<'_> {
    /// The bytes of value `i`; `None` if they are not in the array's buffers, and of integers.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        match *self {
            ArrayBytes::Offsets32(offsets, values) => between(offsets, values, i),
            ArrayBytes::Offsets64(offsets, values) => between(offsets, values, i),
            ArrayBytes::Views(views, buffers) => {
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
            ArrayBytes::Rows(nbytes, values) => {
                let start = i.checked_mul(nbytes)?;
                values.get(start..start.checked_add(nbytes)?)
            }
            ArrayBytes::Integers(..) => None,
        }
    }

    /// Whether these are the same values at the same place.
    fn is_same(&self, other: &ArrayBytes<'_>) -> bool {
        use std::ptr::eq;
        match (self, other) {
            (ArrayBytes::Offsets32(a, x), ArrayBytes::Offsets32(b, y)) => eq(*a, *b) && eq(*x, *y),
            (ArrayBytes::Offsets64(a, x), ArrayBytes::Offsets64(b, y)) => eq(*a, *b) && eq(*x, *y),
            (ArrayBytes::Views(a, x), ArrayBytes::Views(b, y)) => {
                eq(*a, *b) && x.len() == y.len() && x.iter().zip(*y).all(|(x, y)| eq(x.as_slice(), y.as_slice()))
            }
            (ArrayBytes::Rows(a, x), ArrayBytes::Rows(b, y)) => a == b && eq(*x, *y),
            (ArrayBytes::Integers(_, a), ArrayBytes::Integers(_, b)) => a.ptr_eq(b),
            _ => false,
        }
    }
}

fn between<'a, O: ArrowNativeType>(offsets: &[O], values: &'a [u8], i: usize) -> Option<&'a [u8]> {
    let start = offsets.get(i)?.to_usize()?;
    let end = offsets.get(i + 1)?.to_usize()?;
    values.get(start..end)
}

/// The keys of a dictionary's array: each row's value.
#[derive(Clone, Copy)]
struct Keys<'a> {
    width: usize,
    keys: &'a [u8],
    /// The number of values, and the end of the keys that lead to one.
    nvalues: usize,
    end: usize,
}

impl<'a> Keys<'a> {
    fn new(kind: &DataType, keys: &'a [u8], nvalues: usize) -> Keys<'a> {
        let width = kind.primitive_width().unwrap_or(0);
        // A negative key is one with the highest bit.
        let nbits = 8 * width - usize::from(kind.is_signed_integer());
        let end = u32::try_from(nbits).ok().and_then(|nbits| 1_usize.checked_shl(nbits)).unwrap_or(usize::MAX);
        Keys { width, keys, nvalues, end: end.min(nvalues) }
    }

    /// The place of a row's value; `None` if no value has it.
    fn get(&self, row: usize) -> Option<usize> {
        let bytes = self.keys.get(row * self.width..)?;
        let key = match self.width {
            1 => u64::from(*bytes.first()?),
            2 => u64::from(u16::from_ne_bytes(*bytes.first_chunk()?)),
            4 => u64::from(u32::from_ne_bytes(*bytes.first_chunk()?)),
            _ => u64::from_ne_bytes(*bytes.first_chunk()?),
        };
        usize::try_from(key).ok().filter(|&key| key < self.end)
    }
}

/// An array of one column.
struct Chunk<'a> {
    cells: ArrayBytes<'a>,
    nulls: Option<NullBuffer>,
    /// For a dictionary, whose values the cells are.
    keys: Option<Keys<'a>>,
    nrows: usize,
}

impl<'a> Chunk<'a> {
    fn new(array: &'a ArrayData) -> PyResult<Chunk<'a>> {
        let mut nulls = array.nulls().cloned();
        let buffers = array.buffers();
        // The slots of the array, of `width` bytes each.
        let slots = |width: usize| {
            let slots = array.offset() * width..(array.offset() + array.len()) * width;
            buffers[0].as_slice().get(slots).unwrap_or(&[])
        };
        let rows = |width: usize| ArrayBytes::Rows(width, slots(width));
        let mut keys = None;
        let cells = match array.data_type() {
            DataType::Utf8 | DataType::Binary => ArrayBytes::Offsets32(from_offset(array), buffers[1].as_slice()),
            DataType::LargeUtf8 | DataType::LargeBinary => {
                ArrayBytes::Offsets64(from_offset(array), buffers[1].as_slice())
            }
            DataType::Utf8View | DataType::BinaryView => ArrayBytes::Views(from_offset(array), &buffers[1..]),
            DataType::FixedSizeBinary(nbytes) => {
                rows(usize::try_from(*nbytes).map_err(|_| PyValueError::new_err("values of a negative length"))?)
            }
            DataType::Null => {
                nulls = Some(memory::validity(array.len(), |_| ())?);
                ArrayBytes::Rows(0, &[])
            }
            DataType::Dictionary(kind, _) => {
                let values = Chunk::new(&array.child_data()[0])?;
                if values.keys.is_some() {
                    return Err(not_supported(array.data_type()));
                }
                let found = Keys::new(kind, slots(kind.primitive_width().unwrap_or(0)), values.nrows);
                if let Some(of_values) = &values.nulls {
                    // A key of no value is found when the value is read.
                    let is_valid = |row: usize| found.get(row).is_none_or(|key| of_values.is_valid(key));
                    let of_values = memory::validity(array.len(), |bits| {
                        (0..array.len()).filter(|&row| is_valid(row)).for_each(|row| set_bit(bits, row));
                    })?;
                    nulls = memory::union(nulls, Some(of_values))?;
                }
                keys = Some(found);
                values.cells
            }
            kind if kind.is_integer() => ArrayBytes::Integers(Numbers::new(kind, array), array),
            kind => return Err(not_supported(kind)),
        };
        Ok(Chunk { cells, nulls, keys, nrows: array.len() })
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The place of a row's value among the cells.
    fn place(&self, row: usize) -> Option<usize> {
        match &self.keys {
            Some(keys) => keys.get(row),
            None => Some(row),
        }
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        self.cells.get(self.place(row)?)
    }

    /// The integers, if the values are some.
    fn integers(&self) -> Option<Numbers<'a>> {
        match self.cells {
            ArrayBytes::Integers(numbers, _) => Some(numbers),
            _ => None,
        }
    }

    /// About the bytes of a value, by a sample.
    fn value_nbytes(&self) -> usize {
        const SAMPLES: usize = 16;
        let rows = (0..self.nrows).step_by(self.nrows.div_ceil(SAMPLES).max(1)).filter(|&row| !self.is_null(row));
        let (sum, n) = rows.fold((0, 0), |(sum, n), row| (sum + self.get(row).map_or(0, <[u8]>::len), n + 1));
        sum / n.max(1)
    }
}

/// The first buffer of an array from its offset on: numbers of one type.
pub fn from_offset<T: ArrowNativeType>(array: &ArrayData) -> &[T] {
    array.buffers()[0].typed_data().get(array.offset()..).unwrap_or(&[])
}

/// Rows of the arguments: of one column that is no table, or of several arguments and tables.
enum Columns<'a> {
    One(Vec<(Chunk<'a>, Range<usize>)>),
    Rows(Vec<Vec<(Values<'a>, Range<usize>)>>),
}

impl<'a> Columns<'a> {
    fn new(sources: &[Source], taken: &'a [Vec<Taken>]) -> PyResult<Columns<'a>> {
        if let ([source], [taken]) = (sources, taken) {
            if !source.is_table() {
                let chunk = |taken: &'a Taken| PyResult::Ok((Chunk::new(&taken.array)?, taken.rows.clone()));
                return Ok(Columns::One(taken.iter().map(chunk).collect::<PyResult<_>>()?));
            }
        }
        let values = |(source, taken): (&Source, &'a Vec<Taken>)| {
            taken.iter().map(|taken| (Values::new(source.field(), &taken.array), taken.rows.clone())).collect()
        };
        Ok(Columns::Rows(sources.iter().zip(taken).map(values).collect()))
    }
}

/// The work on each row.
pub struct Plan {
    pub digest: Digest,
    pub salt: Vec<u8>,
    pub is_hex: bool,
}

pub enum Digest {
    Plain(Function<'static>),
    Mac(Box<HmacKey>),
}

impl Plan {
    fn function(&self) -> Function<'_> {
        match &self.digest {
            Digest::Plain(function) => *function,
            Digest::Mac(key) => Function::Mac(key),
        }
    }

    /// Bytes of a value of the result.
    fn width(&self) -> usize {
        self.function().digest_nbytes() << u32::from(self.is_hex)
    }

    /// The type of the result.
    pub fn kind(&self) -> DataType {
        if self.is_hex {
            DataType::Utf8
        } else {
            DataType::FixedSizeBinary(i32::try_from(self.width()).unwrap_or(i32::MAX))
        }
    }
}

/// Why no digests were made.
enum Stop {
    /// A row has no digest.
    BadRow(Bad, usize),
    Error(PyErr),
    /// Another thread has the reason.
    Other,
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Stop {
        Stop::Error(error)
    }
}

/// Rows of a group that are in one array of each argument.
struct Segment<'a> {
    content: Content<'a>,
    /// The rows in the group.
    rows: Range<usize>,
    /// The digests of the values of a dictionary, among those of the group.
    table: Option<usize>,
}

/// Arrays, and the first row of a segment in each.
enum Content<'a> {
    Column(&'a Chunk<'a>, usize),
    Rows(Vec<(&'a Values<'a>, usize)>),
}

impl<'a> Segment<'a> {
    /// The array of a column, and the segment's first row in it; none if the segment has rows of a table.
    fn column(&self) -> Option<(&'a Chunk<'a>, usize)> {
        match self.content {
            Content::Column(chunk, begin) => Some((chunk, begin)),
            Content::Rows(_) => None,
        }
    }

    /// The keys of a dictionary's array, and the segment's first row in it.
    fn keys(&self) -> Option<(Keys<'a>, usize)> {
        self.column().and_then(|(chunk, begin)| Some((chunk.keys?, begin)))
    }

    /// About the bytes of a row.
    fn row_nbytes(&self) -> usize {
        match &self.content {
            Content::Column(chunk, _) => chunk.value_nbytes(),
            Content::Rows(values) => VALUE_NBYTES * values.iter().map(|(values, _)| values.width()).sum::<usize>(),
        }
    }
}

/// Appends a row of a table in the form of vectors/rows.
fn append_row(values: &[(&Values<'_>, usize)], row: usize, text: &mut Vec<u8>) -> Result<(), Bad> {
    let start = text.len();
    if values.len() > 1 {
        rows::row_head(values.len(), text);
    }
    for (values, begin) in values {
        values.append(begin + row, text)?;
    }
    rows::end_row(start, text)
}

/// Rows that become an array of the result.
struct Group<'a> {
    segments: Vec<Segment<'a>>,
    /// The rows of the result that are null.
    nulls: Option<NullBuffer>,
    nrows: usize,
    /// Digests of dictionaries' values.
    tables: Vec<Vec<u8>>,
}

/// Messages that are hashed side by side, and the rows that they are of, some of them null. A long message is empty
/// among the others.
struct Batch<'m> {
    rows: Range<usize>,
    messages: Vec<&'m [u8]>,
    long: Vec<Long<'m>>,
}

/// Rows for a thread, and room for their values.
type Part<'o> = (Range<usize>, &'o mut [u8]);

impl<'a> Group<'a> {
    fn new(columns: &'a Columns<'a>) -> PyResult<Group<'a>> {
        let (mut segments, mut next, mut has_nulls) = (Vec::new(), 0, false);
        match columns {
            Columns::One(chunks) => {
                for (chunk, rows) in chunks {
                    let content = Content::Column(chunk, rows.start);
                    segments.push(Segment { content, rows: next..next + rows.len(), table: None });
                    next += rows.len();
                    has_nulls |= chunk.nulls.is_some();
                }
            }
            Columns::Rows(arguments) => {
                let nrows = arguments.first().map_or(0, |arrays| arrays.iter().map(|(_, rows)| rows.len()).sum());
                // The array of each argument, and the row among those taken of it.
                let mut places = vec![(0, 0); arguments.len()];
                while next < nrows {
                    let here = || arguments.iter().zip(&places).map(|(arrays, &(array, row))| (&arrays[array], row));
                    let n = here().map(|((_, rows), row)| rows.len() - row).min().unwrap_or(0);
                    let content =
                        Content::Rows(here().map(|((values, rows), row)| (values, rows.start + row)).collect());
                    segments.push(Segment { content, rows: next..next + n, table: None });
                    next += n;
                    for (arrays, (array, row)) in arguments.iter().zip(&mut places) {
                        *row += n;
                        if *row == arrays[*array].1.len() {
                            (*array, *row) = (*array + 1, 0);
                        }
                    }
                }
            }
        }
        let mut group = Group { segments, nulls: None, nrows: next, tables: Vec::new() };
        // Rows of tables are never null.
        if has_nulls {
            group.nulls = Some(memory::validity(group.nrows, |bits| {
                for segment in &group.segments {
                    let (rows, Some((chunk, begin))) = (segment.rows.clone(), segment.column()) else { continue };
                    match &chunk.nulls {
                        Some(nulls) => {
                            set_bits(bits, nulls.validity(), rows.start, nulls.offset() + begin, rows.len());
                        }
                        None => rows.for_each(|row| set_bit(bits, row)),
                    }
                }
            })?);
        }
        Ok(group)
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Hashes the values of dictionaries, those that rows have, if these are fewer than the rows.
    fn hash_dictionaries(&mut self, plan: &Plan, nthreads: usize, signals: &mut Signals) -> PyResult<()> {
        let mut first = 0;
        while first < self.segments.len() {
            let segments = &self.segments[first..];
            let Some((Chunk { keys: Some(Keys { nvalues, .. }), cells, .. }, _)) = segments[0].column() else {
                first += 1;
                continue;
            };
            // Chunks that share a dictionary.
            let is_same = |segment: &Segment<'_>| {
                segment.column().is_some_and(|(chunk, _)| {
                    chunk.keys.is_some_and(|keys| keys.nvalues == *nvalues) && chunk.cells.is_same(cells)
                })
            };
            let n = segments.iter().take_while(|segment| is_same(segment)).count();
            let segments = &segments[..n];
            let nrows = segments[n - 1].rows.end - segments[0].rows.start;
            if *nvalues <= nrows {
                let nulls = self.used_values(segments, *nvalues)?;
                let values = Chunk { cells: *cells, nulls: Some(nulls.clone()), keys: None, nrows: *nvalues };
                let segment = Segment { content: Content::Column(&values, 0), rows: 0..*nvalues, table: None };
                let segments = vec![segment];
                let values = Group { segments, nulls: Some(nulls), nrows: *nvalues, tables: Vec::new() };
                match values.hash(plan, nthreads, false, signals) {
                    Ok(digests) => {
                        let table = Some(self.tables.len());
                        self.tables.push(digests);
                        self.segments[first..first + n].iter_mut().for_each(|segment| segment.table = table);
                    }
                    // The row that has the value is found when its value is read.
                    Err(Stop::BadRow(..)) => {}
                    Err(Stop::Error(error)) => return Err(error),
                    Err(Stop::Other) => {}
                }
            }
            first += n;
        }
        Ok(())
    }

    /// The values that rows of the segments have, as those that are not null.
    fn used_values(&self, segments: &[Segment<'_>], nvalues: usize) -> PyResult<NullBuffer> {
        memory::validity(nvalues, |bits| {
            let mut nused = 0;
            for segment in segments {
                let Some((keys, begin)) = segment.keys() else { continue };
                for (i, row) in segment.rows.clone().enumerate() {
                    // All values are used soon, if they are few.
                    if nused == nvalues {
                        return;
                    }
                    if self.is_null(row) {
                        continue;
                    }
                    if let Some(key) = keys.get(begin + i).filter(|&key| !get_bit(bits, key)) {
                        set_bit(bits, key);
                        nused += 1;
                    }
                }
            }
        })
    }

    /// The values of all rows, one after the other: `width` bytes for each row, or, if they are packed, for each row
    /// that is not null. The caller's thread looks at signals.
    fn hash(&self, plan: &Plan, nthreads: usize, is_packed: bool, signals: &mut Signals) -> Result<Vec<u8>, Stop> {
        let width = plan.width();
        let nnulls = |rows: &Range<usize>| match &self.nulls {
            Some(nulls) if is_packed => nulls.slice(rows.start, rows.len()).null_count(),
            _ => 0,
        };
        let mut out = memory::zeros(self.nrows - nnulls(&(0..self.nrows)), width)?;
        let part_nrows = self.part_nrows(plan, nthreads);
        let (mut parts, mut rest, mut next) = (Vec::new(), &mut out[..], 0);
        while next < self.nrows {
            let rows = next..self.nrows.min(next + part_nrows);
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(width * (rows.len() - nnulls(&rows)));
            rest = behind;
            next = rows.end;
            parts.push((rows, here));
        }
        let nhelpers = nthreads.min(parts.len()).saturating_sub(1);
        let (parts, is_stopped) = (Mutex::new(parts.into_iter()), AtomicBool::new(false));
        let work = |check: &mut dyn FnMut() -> PyResult<()>| {
            let mut check =
                || if is_stopped.load(Ordering::Relaxed) { Err(Stop::Other) } else { check().map_err(Stop::Error) };
            let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let mut done = Ok(());
            while let (Ok(()), Some(part)) = (&done, next()) {
                done = self.hash_part(plan, part, is_packed, &mut check);
            }
            if done.is_err() {
                is_stopped.store(true, Ordering::Relaxed);
            }
            done
        };
        thread::scope(|scope| {
            let (alive, ended) = channel::<()>();
            let mut helpers = Vec::new();
            for _ in 0..nhelpers {
                let (work, alive) = (&work, alive.clone());
                let helper = thread::Builder::new().spawn_scoped(scope, move || {
                    let _alive = alive;
                    work(&mut || Ok(()))
                });
                // Fewer threads do all of the work, too.
                let Ok(helper) = helper else { break };
                helpers.push(helper);
            }
            drop(alive);
            let mut done = work(&mut || signals.check());
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(TICK) {
                if let (Ok(()), Err(error)) = (&done, signals.check()) {
                    is_stopped.store(true, Ordering::Relaxed);
                    done = Err(Stop::Error(error));
                }
            }
            for helper in helpers {
                let helped = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                done = match (done, helped) {
                    (Ok(()) | Err(Stop::Other), helped) => helped,
                    (done, _) => done,
                };
            }
            done
        })?;
        Ok(out)
    }

    /// Rows that are worth a thread: some bytes of values, all lanes, whole batches.
    fn part_nrows(&self, plan: &Plan, nthreads: usize) -> usize {
        let batch = plan.function().batch();
        let row_nbytes = |segment: &Segment<'_>| match segment.table {
            Some(_) => plan.width(),
            None => segment.row_nbytes() + plan.salt.len(),
        };
        let nbytes = self.segments.iter().map(|segment| row_nbytes(segment).saturating_mul(segment.rows.len()));
        let nbytes = nbytes.fold(0, usize::saturating_add);
        let nrows = PART_NBYTES / (BLOCK_NBYTES + nbytes / self.nrows.max(1));
        match nrows.max(LANES.min(self.nrows.div_ceil(nthreads))).max(1) {
            nrows if nrows > batch => nrows.next_multiple_of(batch),
            nrows => nrows,
        }
    }

    fn hash_part(
        &self,
        plan: &Plan,
        (rows, mut out): Part<'_>,
        is_packed: bool,
        check: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (function, width) = (plan.function(), plan.width());
        let nbytes = function.digest_nbytes();
        let mut digests = memory::zeros(function.batch().min(rows.len()), nbytes)?;
        let mut text = Vec::new();
        let mut at = self.segments.partition_point(|segment| segment.rows.end <= rows.start);
        let mut next = rows.start;
        while next < rows.end {
            check()?;
            let wanted = next..rows.end.min(next + function.batch());
            if let Some(table) = self.segments[at].table {
                let segment = &self.segments[at];
                let rows = next..wanted.end.min(segment.rows.end);
                next = rows.end;
                at += usize::from(next == segment.rows.end);
                self.copy_values(segment, &self.tables[table], rows, is_packed, width, &mut out)?;
                continue;
            }
            let Batch { rows, messages, mut long } = self.batch(plan, wanted, &mut at, &mut text)?;
            next = rows.end;
            let here = take(&mut out, width * if is_packed { messages.len() } else { rows.len() });
            let mut hash = |digests: &mut [u8]| {
                function.slices(&messages, digests);
                hash_long(&function, std::mem::take(&mut long), 1, digests, check)
            };
            let is_dense = here.len() == messages.len() * width;
            if is_dense && !plan.is_hex {
                hash(here)?;
                continue;
            }
            let digests = &mut digests[..messages.len() * nbytes];
            hash(digests)?;
            if is_dense {
                hex::write(digests, here);
                continue;
            }
            let valid = rows.zip(here.chunks_exact_mut(width)).filter(|(row, _)| !self.is_null(*row));
            for (digest, (_, to)) in digests.chunks_exact(nbytes).zip(valid) {
                if plan.is_hex { hex::write(digest, to) } else { to.copy_from_slice(digest) }
            }
        }
        Ok(())
    }

    /// The messages of the wanted rows, or of fewer if their copies, which `text` holds, are long. `at` is the segment
    /// of the first row, and then that of the row behind. The batch ends where digests of a table begin.
    fn batch<'m>(
        &'m self,
        plan: &'m Plan,
        wanted: Range<usize>,
        at: &mut usize,
        text: &'m mut Vec<u8>,
    ) -> Result<Batch<'m>, Stop> {
        text.clear();
        let mut messages: Vec<&[u8]> = Vec::with_capacity(wanted.len());
        let (mut long, mut longest, mut ends, mut next) = (Vec::new(), 0, Vec::new(), wanted.start);
        while next < wanted.end && text.len() < BATCH_NBYTES && self.segments[*at].table.is_none() {
            let segment = &self.segments[*at];
            let here = next..wanted.end.min(segment.rows.end);
            next = here.end;
            let start = segment.rows.start;
            let value_of = |(chunk, begin): (&'m Chunk<'m>, usize), row: usize| {
                chunk.get(begin + (row - start)).ok_or(Stop::BadRow(Bad::Place, row))
            };
            let integers = segment.column().and_then(|(chunk, begin)| Some((chunk, begin, chunk.integers()?)));
            if let (Some(column), None, true) = (segment.column(), integers, plan.salt.is_empty()) {
                let mut push = |row: usize| {
                    let value = value_of(column, row)?;
                    longest = longest.max(value.len());
                    messages.push(value);
                    Ok::<_, Stop>(())
                };
                match &self.nulls {
                    None => here.clone().try_for_each(&mut push)?,
                    Some(nulls) => {
                        let nulls = nulls.slice(here.start, here.len());
                        nulls.valid_indices().map(|i| here.start + i).try_for_each(&mut push)?;
                    }
                }
            } else {
                for row in here.filter(|&row| !self.is_null(row)) {
                    let column = segment.column().filter(|_| integers.is_none());
                    let value = column.map(|column| value_of(column, row)).transpose()?;
                    match value.filter(|value| plan.salt.len() + value.len() > LONG_NBYTES) {
                        Some(value) => long.push(Long { place: ends.len(), parts: [&plan.salt, value] }),
                        None => {
                            text.try_reserve(plan.salt.len()).map_err(|_| memory::short(plan.salt.len()))?;
                            text.extend_from_slice(&plan.salt);
                            match (value, &segment.content) {
                                (Some(value), _) => text.extend_from_slice(value),
                                (None, Content::Rows(values)) => {
                                    append_row(values, row - start, text).map_err(|bad| Stop::BadRow(bad, row))?;
                                }
                                (None, Content::Column(..)) => {
                                    if let Some((chunk, begin, numbers)) = integers {
                                        let place = chunk.place(begin + (row - start)).ok_or(Bad::Place);
                                        place
                                            .and_then(|place| numbers.append(place, text))
                                            .map_err(|bad| Stop::BadRow(bad, row))?;
                                    }
                                }
                            }
                        }
                    }
                    ends.push(text.len());
                    if text.len() >= BATCH_NBYTES {
                        next = row + 1;
                        break;
                    }
                }
            }
            *at += usize::from(next == segment.rows.end);
        }
        // Messages that were copied lie one after the other.
        let mut begin = 0;
        for end in ends {
            longest = longest.max(end - begin);
            messages.push(&text[begin..end]);
            begin = end;
        }
        if longest > LONG_NBYTES {
            let messages = messages.iter_mut().enumerate().filter(|(_, message)| message.len() > LONG_NBYTES);
            long.extend(messages.map(|(place, message)| Long { place, parts: [&[], std::mem::take(message)] }));
        }
        Ok(Batch { rows: wanted.start..next, messages, long })
    }

    /// Writes values of a segment's rows that were hashed before.
    fn copy_values(
        &self,
        segment: &Segment<'_>,
        table: &[u8],
        rows: Range<usize>,
        is_packed: bool,
        width: usize,
        out: &mut &mut [u8],
    ) -> Result<(), Stop> {
        for row in rows {
            if self.is_null(row) {
                if !is_packed {
                    take(out, width);
                }
                continue;
            }
            let key = segment.keys().and_then(|(keys, begin)| keys.get(begin + (row - segment.rows.start)));
            let key = key.ok_or(Stop::BadRow(Bad::Place, row))?;
            let (to, from) = (take(out, width), &table[key * width..][..width]);
            // Copies of a constant length are no calls.
            match width {
                32 => to[..32].copy_from_slice(&from[..32]),
                64 => to[..64].copy_from_slice(&from[..64]),
                _ => to.copy_from_slice(from),
            }
        }
        Ok(())
    }

    /// Hashes all rows; returns the new array.
    fn array(&self, plan: &Plan, nthreads: usize, signals: &mut Signals) -> Result<ArrayData, Stop> {
        let values = self.hash(plan, nthreads, plan.is_hex, signals)?;
        let array = ArrayData::builder(plan.kind()).len(self.nrows).nulls(self.nulls.clone());
        let array = if plan.is_hex {
            let mut offsets = Vec::new();
            offsets.try_reserve_exact(self.nrows + 1).map_err(|_| memory::short(4 * self.nrows))?;
            // A group has not more bytes than such numbers.
            let (mut end, width) = (0, plan.width() as i32);
            offsets.push(end);
            offsets.extend((0..self.nrows).map(|row| {
                end += if self.is_null(row) { 0 } else { width };
                end
            }));
            array.add_buffer(Buffer::from_vec(offsets))
        } else {
            array
        };
        // SAFETY: each row has its bytes in the buffer, or its offsets among hexadecimal digits.
        Ok(unsafe { array.add_buffer(Buffer::from_vec(values)).build_unchecked() })
    }
}

/// The next bytes of a slice.
fn take<'o>(rest: &mut &'o mut [u8], nbytes: usize) -> &'o mut [u8] {
    let (here, behind) = std::mem::take(rest).split_at_mut(nbytes);
    *rest = behind;
    here
}

/// Arguments that are hashed, as much of them at a time as their producers give.
pub struct Digester {
    sources: Vec<Source>,
    plan: Plan,
    nthreads: usize,
    /// The rows that were hashed.
    nrows: usize,
}

impl Digester {
    pub fn new(sources: Vec<Source>, plan: Plan, nthreads: usize) -> Digester {
        Digester { sources, plan, nthreads, nrows: 0 }
    }

    /// The digests of the next rows; none at the end. `is_greedy`: of as many rows as are worth the work of threads,
    /// and not of a producer's next array alone. The caller does not hold the interpreter's lock. After an error, and
    /// at the end, everything of the producers was released.
    pub fn next(&mut self, is_greedy: bool, signals: &mut Signals) -> PyResult<Option<ArrayData>> {
        let next = self.hash_next(is_greedy, signals);
        if !matches!(next, Ok(Some(_))) {
            self.sources.clear();
        }
        next
    }

    fn hash_next(&mut self, is_greedy: bool, signals: &mut Signals) -> PyResult<Option<ArrayData>> {
        for source in &mut self.sources {
            source.pull(is_greedy, signals)?;
        }
        let least = self.sources.iter().map(Source::nrows).min().unwrap_or(0);
        if least == 0 {
            return match self.sources.iter().map(|source| source.nrows() == 0).position(|is_ended| !is_ended) {
                None => Ok(None),
                Some(longer) => {
                    let shorter = self.sources.iter().position(|source| source.nrows() == 0).unwrap_or(0);
                    Err(PyValueError::new_err(format!(
                        "columns of different lengths: argument {} has {} rows, {} has more",
                        shorter + 1,
                        self.nrows,
                        longer + 1
                    )))
                }
            };
        }
        // Offsets of strings are of 32 bits.
        let nrows = least.min(i32::MAX as usize / self.plan.width());
        if nrows < least {
            // A column that does not fit into memory is an error before the first of its parts is made.
            drop(memory::zeros(least, if self.plan.is_hex { size_of::<i32>() } else { self.plan.width() })?);
        }
        let taken: Vec<Vec<Taken>> = self.sources.iter_mut().map(|source| source.take(nrows)).collect();
        let columns = Columns::new(&self.sources, &taken)?;
        let mut group = Group::new(&columns)?;
        group.hash_dictionaries(&self.plan, self.nthreads, signals)?;
        let array = group.array(&self.plan, self.nthreads, signals).map_err(|stop| match stop {
            Stop::Error(error) => error,
            Stop::BadRow(bad, row) => bad.error(self.nrows + row),
            Stop::Other => PyRuntimeError::new_err("a thread of hashloom ended without a reason: this is a bug"),
        })?;
        self.nrows += nrows;
        Ok(Some(array))
    }
}
