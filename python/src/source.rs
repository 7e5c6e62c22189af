// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of Arrow columns as their producers give them: pulled until they are worth the work, cut to one length.
//!
//! A stream is never held whole: what was pulled is let go when it is hashed.

use std::collections::{HashSet, VecDeque};

use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::prelude::*;

use crate::arrow::Arrays;
use crate::signals::Signals;

/// Rows, bytes of values and arrays that are pulled before they are hashed, if a producer's arrays are shorter.
const NROWS: usize = 1 << 20;
const NBYTES: usize = 64 << 20;
const NARRAYS: usize = 1 << 12;

/// An array of a column.
pub struct Array {
    pub data: ArrayData,
    /// For a column of a table: the table's rows that are null.
    pub nulls: Option<NullBuffer>,
}

impl Array {
    fn slice(&self, start: usize, nrows: usize) -> Array {
        Array { data: self.data.slice(start, nrows), nulls: self.nulls.as_ref().map(|nulls| nulls.slice(start, nrows)) }
    }
}

/// Rows of all columns of a source.
struct Rows {
    arrays: Vec<Array>,
    nrows: usize,
}

impl Rows {
    fn slice(&self, start: usize, nrows: usize) -> Rows {
        Rows { arrays: self.arrays.iter().map(|array| array.slice(start, nrows)).collect(), nrows }
    }
}

/// An argument: a column, or a table of columns.
pub struct Source {
    arrays: Arrays,
    waiting: VecDeque<Rows>,
    nrows: usize,
    is_ended: bool,
}

impl Source {
    pub fn new(arrays: Arrays) -> Source {
        Source { arrays, waiting: VecDeque::new(), nrows: 0, is_ended: false }
    }

    /// The names of the columns. Tables, data frames and struct arrays are their fields.
    pub fn names(&self) -> Vec<String> {
        match self.arrays.field.data_type() {
            DataType::Struct(fields) => fields.iter().map(|field| field.name().clone()).collect(),
            _ => vec![self.arrays.field.name().clone()],
        }
    }

    /// The rows that wait to be taken.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Pulls arrays until some rows wait; `is_greedy`: until enough wait to be worth the work of threads.
    pub fn pull(&mut self, is_greedy: bool, signals: &mut Signals) -> PyResult<()> {
        let (mut seen, mut nbytes) = (HashSet::new(), 0_usize);
        let is_enough = |source: &Source, nbytes| match is_greedy {
            true => source.nrows >= NROWS || nbytes >= NBYTES || source.waiting.len() >= NARRAYS,
            false => source.nrows > 0,
        };
        while !self.is_ended && !is_enough(self, nbytes) {
            signals.check()?;
            let Some(array) = self.arrays.next()? else {
                self.is_ended = true;
                return Ok(());
            };
            if array.is_empty() {
                continue;
            }
            nbytes = nbytes.saturating_add(held_nbytes(&array, &mut seen));
            self.nrows = self.nrows.saturating_add(array.len());
            self.waiting.push_back(rows(array));
        }
        Ok(())
    }

    /// The next rows, as many as wait at most: arrays of each column.
    pub fn take(&mut self, nrows: usize) -> Vec<Vec<Array>> {
        let mut columns: Vec<_> = self.names().iter().map(|_| Vec::new()).collect();
        let mut missing = nrows;
        while missing > 0 {
            let Some(mut rows) = self.waiting.pop_front() else { break };
            if rows.nrows > missing {
                self.waiting.push_front(rows.slice(missing, rows.nrows - missing));
                rows = rows.slice(0, missing);
            }
            missing -= rows.nrows;
            self.nrows -= rows.nrows;
            for (column, array) in columns.iter_mut().zip(rows.arrays) {
                column.push(array);
            }
        }
        columns
    }
}

fn rows(array: ArrayData) -> Rows {
    let nrows = array.len();
    if !matches!(array.data_type(), DataType::Struct(_)) {
        return Rows { arrays: vec![Array { data: array, nulls: None }], nrows };
    }
    // A null row has no values.
    let of_field = |data: &ArrayData| Array { data: data.slice(array.offset(), nrows), nulls: array.nulls().cloned() };
    Rows { arrays: array.child_data().iter().map(of_field).collect(), nrows }
}

/// The bytes of an array's buffers. Slices of one array share these, so a buffer that was seen does not count.
fn held_nbytes(array: &ArrayData, seen: &mut HashSet<*const u8>) -> usize {
    let own = array.buffers().iter().filter(|buffer| seen.insert(buffer.as_ptr())).map(|buffer| buffer.len());
    let own = own.fold(0, usize::saturating_add);
    array.child_data().iter().fold(own, |sum, child| sum.saturating_add(held_nbytes(child, seen)))
}
