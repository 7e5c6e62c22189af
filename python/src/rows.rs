// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of any types as bytes: the form "hashloom rows 1" of vectors/rows, the same for every layout of equal values.
//!
//! `Values` reads an array and what is below it; `append` adds one value's bytes. Nothing that a producer says about
//! places is trusted: each place is looked up in its slice, and what is not there is a `Bad`.

use std::collections::TryReserveError;
use std::ops::Range;

use arrow_buffer::{ArrowNativeType, BooleanBuffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer, i256};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use half::f16;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::{VALUES_EXTENSION, encoded};
use crate::digester::{ArrayBytes, from_offset};

// The first byte of a value. vectors/rows has the table.
const NULL: u8 = 0x00;
const FALSE: u8 = 0x01;
const TRUE: u8 = 0x02;
const INTEGER: u8 = 0x03;
const FRACTION: u8 = 0x04;
const FLOAT: u8 = 0x05;
const TEXT: u8 = 0x06;
const BINARY: u8 = 0x07;
const DATE: u8 = 0x08;
const TIME: u8 = 0x09;
const TIMESTAMP: u8 = 0x0a;
const INSTANT: u8 = 0x0b;
const DURATION: u8 = 0x0c;
const INTERVAL: u8 = 0x0d;
const LIST: u8 = 0x0e;
const STRUCT: u8 = 0x0f;
const MAP: u8 = 0x10;

/// The most bytes of a row: a few bytes of lists that share their values can stand for more than any memory has.
const ROW_MAX_NBYTES: usize = 1 << 30;

/// The most entries of a map, as putting them in order takes memory.
const MAP_MAX_ENTRIES: usize = 1 << 24;

/// No value that is not text, binary or nested has more bytes, nor has the head of one that is.
const SHORT_NBYTES: usize = 64;

/// Why a row has no bytes.
#[derive(Clone, Copy)]
pub enum Bad {
    /// A value's place is not in its array.
    Place,
    TooLong,
    Memory,
    TimeInDate,
    TooManyDigits,
    NullEntry,
    TooManyEntries,
}

impl Bad {
    pub fn error(self, row: usize) -> PyErr {
        let what = match self {
            Bad::Place => "the array is damaged: its value is not in its buffers",
            Bad::NullEntry => "the array is damaged: an entry of a map is null",
            Bad::TooLong => "it has more than 1 GiB: hash its long column alone",
            Bad::TimeInDate => "a date64 has a time of day: cast it to a timestamp",
            Bad::TooManyDigits => "a decimal with a negative scale has more than 76 digits",
            Bad::TooManyEntries => "a map has more than 16,777,216 entries: cast it to a list",
            Bad::Memory => return PyMemoryError::new_err(format!("row {row}: its bytes do not fit into memory")),
        };
        PyValueError::new_err(format!("row {row}: {what}"))
    }
}

impl From<TryReserveError> for Bad {
    fn from(_: TryReserveError) -> Bad {
        Bad::Memory
    }
}

/// Integers of up to 64 bits.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

impl<'a> Numbers<'a> {
    /// `kind` is the type of the numbers: of a dictionary, that of its keys.
    pub fn new(kind: &DataType, array: &'a ArrayData) -> Numbers<'a> {
        match (kind, kind.primitive_width()) {
            (DataType::UInt8, _) => Numbers::U8(from_offset(array)),
            (DataType::UInt16, _) => Numbers::U16(from_offset(array)),
            (DataType::UInt32, _) => Numbers::U32(from_offset(array)),
            (DataType::UInt64, _) => Numbers::U64(from_offset(array)),
            (_, Some(1)) => Numbers::I8(from_offset(array)),
            (_, Some(2)) => Numbers::I16(from_offset(array)),
            (_, Some(4)) => Numbers::I32(from_offset(array)),
            _ => Numbers::I64(from_offset(array)),
        }
    }

    /// Number `i`; `None` if the array has none, or one beyond 63 bits.
    #[inline]
    fn get(&self, i: usize) -> Option<i64> {
        Some(match self {
            Numbers::I8(numbers) => (*numbers.get(i)?).into(),
            Numbers::I16(numbers) => (*numbers.get(i)?).into(),
            Numbers::I32(numbers) => (*numbers.get(i)?).into(),
            Numbers::I64(numbers) => *numbers.get(i)?,
            Numbers::U8(numbers) => (*numbers.get(i)?).into(),
            Numbers::U16(numbers) => (*numbers.get(i)?).into(),
            Numbers::U32(numbers) => (*numbers.get(i)?).into(),
            Numbers::U64(numbers) => (*numbers.get(i)?).try_into().ok()?,
        })
    }

    /// Appends number `i` as a value of a row.
    pub fn append(&self, i: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
        if out.capacity() - out.len() < SHORT_NBYTES {
            room(SHORT_NBYTES, out)?;
        }
        match self {
            Numbers::U64(numbers) => integer(INTEGER, (*at(numbers, i)?).into(), out),
            _ => short(INTEGER, self.get(i).ok_or(Bad::Place)?, out),
        }
        Ok(())
    }

    fn place(&self, i: usize) -> Option<usize> {
        self.get(i).and_then(|number| usize::try_from(number).ok())
    }
}

/// Where the values of a list are among those of its child.
enum Places<'a> {
    Offsets32(&'a [i32]),
    Offsets64(&'a [i64]),
    Views32(&'a [i32], &'a [i32]),
    Views64(&'a [i64], &'a [i64]),
    /// Lists of one length, and the slots before the first.
    Fixed(usize, usize),
}

impl Places<'_> {
    fn get(&self, i: usize) -> Option<Range<usize>> {
        fn between<O: ArrowNativeType>(offsets: &[O], i: usize) -> Option<Range<usize>> {
            Some(offsets.get(i)?.to_usize()?..offsets.get(i + 1)?.to_usize()?)
        }
        fn view<O: ArrowNativeType>(offsets: &[O], lengths: &[O], i: usize) -> Option<Range<usize>> {
            let start = offsets.get(i)?.to_usize()?;
            Some(start..start.checked_add(lengths.get(i)?.to_usize()?)?)
        }
        match *self {
            Places::Offsets32(offsets) => between(offsets, i),
            Places::Offsets64(offsets) => between(offsets, i),
            Places::Views32(offsets, lengths) => view(offsets, lengths, i),
            Places::Views64(offsets, lengths) => view(offsets, lengths, i),
            Places::Fixed(count, skipped) => {
                let start = skipped.checked_add(i)?.checked_mul(count)?;
                Some(start..start.checked_add(count)?)
            }
        }
    }
}

enum Cells<'a> {
    Null,
    Bits(BooleanBuffer),
    /// Integers that are truths: Arrow's extension `arrow.bool8`.
    Bytes(&'a [i8]),
    /// The kind, the numbers, and what each is multiplied by.
    Numbers(u8, Numbers<'a>, i64),
    Unsigned(&'a [u64]),
    /// Milliseconds.
    Dates(&'a [i64]),
    Decimals(Numbers<'a>, i8),
    Decimals128(&'a [i128], i8),
    Decimals256(&'a [i256], i8),
    Floats16(&'a [f16]),
    Floats32(&'a [f32]),
    Floats64(&'a [f64]),
    Months(&'a [i32]),
    DayTimes(&'a [IntervalDayTime]),
    MonthDayNanos(&'a [IntervalMonthDayNano]),
    Strings(u8, ArrayBytes<'a>),
    List(Places<'a>, Box<Values<'a>>),
    Map(Places<'a>, Box<Values<'a>>),
    /// The fields, and their slots before the first row.
    Struct(Vec<Values<'a>>, usize),
    Dictionary(Numbers<'a>, Box<Values<'a>>),
    /// The ends of runs, the slots before the first row, the runs' values.
    Runs(Numbers<'a>, usize, Box<Values<'a>>),
}

/// The values of an array, of any type.
pub struct Values<'a> {
    cells: Cells<'a>,
    nulls: Option<NullBuffer>,
    nrows: usize,
}

impl<'a> Values<'a> {
    /// `array` is of the field's type.
    pub fn new(field: &Field, array: &'a ArrayData) -> Values<'a> {
        let child = |i: usize, field: &Field| Box::new(Values::new(field, &array.child_data()[i]));
        // A buffer of an array without rows may be shorter.
        let second = || array.buffers().get(1).map(|buffer| buffer.as_slice()).unwrap_or(&[]);
        fn views<T: ArrowNativeType>(array: &ArrayData) -> (&[T], &[T]) {
            let lengths = array.buffers()[1].typed_data().get(array.offset()..).unwrap_or(&[]);
            (from_offset(array), lengths)
        }
        let numbers = |kind: u8, times: i64| Cells::Numbers(kind, Numbers::new(field.data_type(), array), times);
        let cells = match field.data_type() {
            DataType::Null => Cells::Null,
            DataType::Boolean => {
                Cells::Bits(BooleanBuffer::new(array.buffers()[0].clone(), array.offset(), array.len()))
            }
            DataType::Int8 if field.extension_type_name() == Some("arrow.bool8") => Cells::Bytes(from_offset(array)),
            DataType::UInt64 => Cells::Unsigned(from_offset(array)),
            kind if kind.is_integer() => numbers(INTEGER, 1),
            DataType::Float16 => Cells::Floats16(from_offset(array)),
            DataType::Float32 => Cells::Floats32(from_offset(array)),
            DataType::Float64 => Cells::Floats64(from_offset(array)),
            DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) => {
                Cells::Decimals(Numbers::new(field.data_type(), array), *scale)
            }
            DataType::Decimal128(_, scale) => Cells::Decimals128(from_offset(array), *scale),
            DataType::Decimal256(_, scale) => Cells::Decimals256(from_offset(array), *scale),
            DataType::Date32 => numbers(DATE, 1),
            DataType::Date64 => Cells::Dates(from_offset(array)),
            DataType::Time32(unit) | DataType::Time64(unit) => numbers(TIME, nanoseconds(unit)),
            DataType::Timestamp(unit, None) => numbers(TIMESTAMP, nanoseconds(unit)),
            DataType::Timestamp(unit, Some(_)) => numbers(INSTANT, nanoseconds(unit)),
            DataType::Duration(unit) => numbers(DURATION, nanoseconds(unit)),
            DataType::Interval(IntervalUnit::YearMonth) => Cells::Months(from_offset(array)),
            DataType::Interval(IntervalUnit::DayTime) => Cells::DayTimes(from_offset(array)),
            DataType::Interval(IntervalUnit::MonthDayNano) => Cells::MonthDayNanos(from_offset(array)),
            DataType::Utf8 => Cells::Strings(TEXT, ArrayBytes::Offsets32(from_offset(array), second())),
            DataType::LargeUtf8 => Cells::Strings(TEXT, ArrayBytes::Offsets64(from_offset(array), second())),
            DataType::Utf8View => Cells::Strings(TEXT, ArrayBytes::Views(from_offset(array), &array.buffers()[1..])),
            DataType::Binary => Cells::Strings(BINARY, ArrayBytes::Offsets32(from_offset(array), second())),
            DataType::LargeBinary => Cells::Strings(BINARY, ArrayBytes::Offsets64(from_offset(array), second())),
            DataType::BinaryView => {
                Cells::Strings(BINARY, ArrayBytes::Views(from_offset(array), &array.buffers()[1..]))
            }
            DataType::FixedSizeBinary(nbytes) => {
                let nbytes = usize::try_from(*nbytes).unwrap_or(0);
                let values = array.buffers()[0].as_slice().get(array.offset() * nbytes..).unwrap_or(&[]);
                Cells::Strings(BINARY, ArrayBytes::Rows(nbytes, values))
            }
            DataType::List(field) => Cells::List(Places::Offsets32(from_offset(array)), child(0, field)),
            DataType::LargeList(field) => Cells::List(Places::Offsets64(from_offset(array)), child(0, field)),
            DataType::ListView(field) => {
                let (offsets, lengths) = views(array);
                Cells::List(Places::Views32(offsets, lengths), child(0, field))
            }
            DataType::LargeListView(field) => {
                let (offsets, lengths) = views(array);
                Cells::List(Places::Views64(offsets, lengths), child(0, field))
            }
            DataType::FixedSizeList(field, count) => {
                let places = Places::Fixed(usize::try_from(*count).unwrap_or(0), array.offset());
                Cells::List(places, child(0, field))
            }
            DataType::Map(field, _) => Cells::Map(Places::Offsets32(from_offset(array)), child(0, field)),
            DataType::Struct(fields) => {
                let fields = fields.iter().enumerate().map(|(i, field)| *child(i, field));
                Cells::Struct(fields.collect(), array.offset())
            }
            DataType::Dictionary(keys, values) => {
                let extension = field.metadata().get(VALUES_EXTENSION).map(String::as_str);
                let values = encoded(field, extension, Field::new("", (**values).clone(), true));
                Cells::Dictionary(Numbers::new(keys, array), child(0, &values))
            }
            DataType::RunEndEncoded(ends, values) => {
                let values = encoded(field, values.extension_type_name(), (**values).clone());
                Cells::Runs(Numbers::new(ends.data_type(), &array.child_data()[0]), array.offset(), child(1, &values))
            }
            // No array is a union, and integers are above.
            _ => Cells::Null,
        };
        Values { cells, nulls: array.nulls().cloned(), nrows: array.len() }
    }

    /// Values that a row has at most, if no list is in it.
    pub fn width(&self) -> usize {
        match &self.cells {
            Cells::Struct(fields, _) => 1 + fields.iter().map(Values::width).sum::<usize>(),
            _ => 1,
        }
    }

    /// Appends the bytes of value `i`.
    #[inline]
    pub fn append(&self, i: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
        if i >= self.nrows {
            return Err(Bad::Place);
        }
        if out.capacity() - out.len() < SHORT_NBYTES {
            room(SHORT_NBYTES, out)?;
        }
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(i)) {
            out.push(NULL);
            return Ok(());
        }
        // The two kinds that most cells have are inlined, one match for each cell less than with all in one function.
        match &self.cells {
            Cells::Numbers(kind, numbers, times) => {
                let number = numbers.get(i).ok_or(Bad::Place)?;
                match number.checked_mul(*times) {
                    Some(number) => short(*kind, number, out),
                    None => integer(*kind, i128::from(number) * i128::from(*times), out),
                }
            }
            Cells::Strings(kind, strings) => {
                let bytes = strings.get(i).ok_or(Bad::Place)?;
                if out.capacity() - out.len() < SHORT_NBYTES + bytes.len() {
                    room(SHORT_NBYTES + bytes.len(), out)?;
                }
                head(*kind, bytes.len(), out);
                out.extend_from_slice(bytes);
            }
            _ => return self.append_other(i, out),
        }
        Ok(())
    }

    #[inline(never)]
    fn append_other(&self, i: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
        match &self.cells {
            // Both are above.
            Cells::Numbers(..) | Cells::Strings(..) => {}
            Cells::Null => out.push(NULL),
            Cells::Bits(bits) => out.push(if bits.value(i) { TRUE } else { FALSE }),
            Cells::Bytes(bytes) => out.push(if *at(bytes, i)? == 0 { FALSE } else { TRUE }),
            Cells::Unsigned(numbers) => integer(INTEGER, (*at(numbers, i)?).into(), out),
            Cells::Dates(milliseconds) => {
                const DAY: i64 = 86_400_000;
                let milliseconds = *at(milliseconds, i)?;
                if milliseconds % DAY != 0 {
                    return Err(Bad::TimeInDate);
                }
                short(DATE, milliseconds / DAY, out);
            }
            Cells::Decimals(numbers, scale) => decimal(numbers.get(i).ok_or(Bad::Place)?.into(), *scale, out)?,
            Cells::Decimals128(numbers, scale) => decimal(*at(numbers, i)?, *scale, out)?,
            Cells::Decimals256(numbers, scale) => decimal256(*at(numbers, i)?, *scale, out)?,
            Cells::Floats16(floats) => float((*at(floats, i)?).into(), out),
            Cells::Floats32(floats) => float((*at(floats, i)?).into(), out),
            Cells::Floats64(floats) => float(*at(floats, i)?, out),
            Cells::Months(months) => interval(*at(months, i)?, 0, 0, out),
            Cells::DayTimes(times) => {
                let IntervalDayTime { days, milliseconds } = *at(times, i)?;
                interval(0, days, i64::from(milliseconds) * 1_000_000, out);
            }
            Cells::MonthDayNanos(times) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = *at(times, i)?;
                interval(months, days, nanoseconds, out);
            }
            Cells::List(places, values) => {
                let places = places.get(i).ok_or(Bad::Place)?;
                let nvalues = places.end.checked_sub(places.start).ok_or(Bad::Place)?;
                head(LIST, nvalues, out);
                for place in places {
                    values.append(place, out)?;
                }
            }
            Cells::Map(places, entries) => map(places.get(i).ok_or(Bad::Place)?, entries, out)?,
            Cells::Struct(fields, offset) => {
                head(STRUCT, fields.len(), out);
                for field in fields {
                    field.append(offset + i, out)?;
                }
            }
            Cells::Dictionary(keys, values) => values.append(keys.place(i).ok_or(Bad::Place)?, out)?,
            Cells::Runs(ends, offset, values) => values.append(run(ends, offset + i, values.nrows), out)?,
        }
        Ok(())
    }
}

/// The head of a row of this number of columns, which is that of a struct.
pub fn row_head(ncolumns: usize, out: &mut Vec<u8>) {
    head(STRUCT, ncolumns, out);
}

/// Ends the row that begins at `start`.
pub fn end_row(start: usize, out: &[u8]) -> Result<(), Bad> {
    if out.len() - start > ROW_MAX_NBYTES { Err(Bad::TooLong) } else { Ok(()) }
}

/// Makes room for more bytes. A row that `end_row` would refuse ends here before it takes more memory.
#[cold]
fn room(nbytes: usize, out: &mut Vec<u8>) -> Result<(), Bad> {
    // The rows of a batch before this one are fewer bytes than the longest row may have.
    if out.len().saturating_add(nbytes) > 2 * ROW_MAX_NBYTES + SHORT_NBYTES {
        return Err(Bad::TooLong);
    }
    out.try_reserve(nbytes)?;
    Ok(())
}

fn at<T>(numbers: &[T], i: usize) -> Result<&T, Bad> {
    numbers.get(i).ok_or(Bad::Place)
}

fn nanoseconds(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// The kind of a value, and the number of its bytes or of the values in it as LEB128.
#[inline]
fn head(kind: u8, mut number: usize, out: &mut Vec<u8>) {
    if number < 0x80 {
        return out.extend_from_slice(&[kind, number as u8]);
    }
    out.push(kind);
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The kind of a value, the number of an integer's bytes, and these, as of DER's INTEGER.
#[inline]
fn short(kind: u8, value: i64, out: &mut Vec<u8>) {
    let nbits = i64::BITS - (value ^ (value >> 63)).leading_zeros();
    let nbytes = nbits / 8 + 1;
    let content = (value << (i64::BITS - 8 * nbytes)).to_be_bytes();
    // A copy of 16 bytes, of which some are cut off again, is faster than one of `nbytes`.
    let bytes = u128::from(u64::from_le_bytes(content)) << 16 | u128::from(nbytes) << 8 | u128::from(kind);
    let end = out.len() + 2 + nbytes as usize;
    out.extend_from_slice(&bytes.to_le_bytes());
    out.truncate(end);
}

fn integer(kind: u8, value: i128, out: &mut Vec<u8>) {
    if let Ok(value) = i64::try_from(value) {
        return short(kind, value, out);
    }
    let nbits = i128::BITS - (value ^ (value >> 127)).leading_zeros();
    let nbytes = nbits as usize / 8 + 1;
    out.extend_from_slice(&[kind, nbytes as u8]);
    out.extend_from_slice(&value.to_be_bytes()[16 - nbytes..]);
}

fn decimal(mut value: i128, mut scale: i8, out: &mut Vec<u8>) -> Result<(), Bad> {
    if scale < 0 {
        return decimal256(i256::from_i128(value), scale, out);
    }
    // Division of 64 bits takes a tenth of the time of one of 128 bits.
    if let Ok(mut short) = i64::try_from(value) {
        while scale > 0 && short % 10 == 0 {
            short /= 10;
            scale -= 1;
        }
        value = short.into();
    }
    while scale > 0 && value % 10 == 0 {
        value /= 10;
        scale -= 1;
    }
    scale_head(scale, out);
    integer(INTEGER, value, out);
    Ok(())
}

fn decimal256(mut value: i256, mut scale: i8, out: &mut Vec<u8>) -> Result<(), Bad> {
    let ten = i256::from_i128(10);
    while scale > 0 && value % ten == i256::ZERO {
        value /= ten;
        scale -= 1;
    }
    while scale < 0 && value != i256::ZERO {
        value = value.checked_mul(ten).ok_or(Bad::TooManyDigits)?;
        scale += 1;
    }
    scale_head(scale, out);
    let nbits = 256 - (value ^ (value >> 255)).leading_zeros();
    let nbytes = nbits as usize / 8 + 1;
    out.extend_from_slice(&[INTEGER, nbytes as u8]);
    out.extend_from_slice(&value.to_be_bytes()[32 - nbytes..]);
    Ok(())
}

fn scale_head(scale: i8, out: &mut Vec<u8>) {
    if scale > 0 {
        out.extend_from_slice(&[FRACTION, scale as u8]);
    }
}

fn float(value: f64, out: &mut Vec<u8>) {
    // One zero, and one NaN.
    let value = match value {
        0.0 => 0,
        value if value.is_nan() => 0x7ff8 << 48,
        value => value.to_bits(),
    };
    out.push(FLOAT);
    out.extend_from_slice(&value.to_be_bytes());
}

fn interval(months: i32, days: i32, nanoseconds: i64, out: &mut Vec<u8>) {
    out.push(INTERVAL);
    for number in [months.into(), days.into(), nanoseconds] {
        short(INTEGER, number, out);
    }
}

/// The run that slot `i` belongs to.
fn run(ends: &Numbers<'_>, i: usize, nruns: usize) -> usize {
    let (mut first, mut end) = (0, nruns);
    while first < end {
        let middle = first + (end - first) / 2;
        match ends.get(middle) {
            Some(run_end) if run_end > i as i64 => end = middle,
            _ => first = middle + 1,
        }
    }
    first
}

/// The entries of a map, in the order of their bytes.
fn map(places: Range<usize>, entries: &Values<'_>, out: &mut Vec<u8>) -> Result<(), Bad> {
    let nentries = places.end.checked_sub(places.start).filter(|_| places.end <= entries.nrows).ok_or(Bad::Place)?;
    if nentries > MAP_MAX_ENTRIES {
        return Err(Bad::TooManyEntries);
    }
    let (Cells::Struct(fields, offset), nulls) = (&entries.cells, &entries.nulls) else { return Err(Bad::Place) };
    head(MAP, nentries, out);
    let start = out.len();
    let mut parts = Vec::new();
    parts.try_reserve_exact(nentries)?;
    for place in places {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(place)) {
            return Err(Bad::NullEntry);
        }
        let start = out.len();
        for field in fields {
            field.append(offset + place, out)?;
        }
        parts.push(start..out.len());
    }
    if !parts.is_sorted_by(|one, other| out[one.clone()] <= out[other.clone()]) {
        parts.sort_unstable_by(|one, other| out[one.clone()].cmp(&out[other.clone()]));
        let mut sorted = Vec::new();
        sorted.try_reserve_exact(out.len() - start)?;
        for part in parts {
            sorted.extend_from_slice(&out[part]);
        }
        out[start..].copy_from_slice(&sorted);
    }
    Ok(())
}
