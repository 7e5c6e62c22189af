// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of Arrow columns as their producers give them: pulled until they are worth the work, cut to one length.
//!
//! A stream is never held whole: what was pulled is let go when it is hashed.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrow::Arrays;
use crate::signals::Signals;

/// Rows, bytes of values and arrays that are pulled before they are hashed, if a producer's arrays are shorter.
const NROWS: usize = 1 << 20;
const NBYTES: usize = 64 << 20;
const NARRAYS: usize = 1 << 12;

/// Rows of an array.
pub struct Taken {
    pub array: ArrayData,
    pub rows: Range<usize>,
}

/// An argument: a column, or a table of columns.
pub struct Source {
    arrays: Arrays,
    /// The type and name of what is hashed, and its place in a table of which it is one column.
    field: Field,
    place: Option<usize>,
    waiting: VecDeque<Taken>,
    nrows: usize,
    is_ended: bool,
}

impl Source {
    /// `column`: the column of a table whose values are hashed, and not its rows.
    pub fn new(arrays: Arrays, column: Option<&str>) -> PyResult<Source> {
        let (mut field, mut place) = (arrays.field.clone(), None);
        if let Some(name) = column {
            let DataType::Struct(fields) = field.data_type() else {
                return Err(PyTypeError::new_err(format!(
                    "field is {name:?}, but the argument is no table: leave it out"
                )));
            };
            let named = |fields: &Fields| fields.iter().filter(|field| field.name() == name).count();
            let found = fields.iter().position(|field| field.name() == name).filter(|_| named(fields) == 1);
            let found = found.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the table has {} columns of the name {name:?}: expected 1",
                    named(fields)
                ))
            })?;
            (field, place) = ((*fields[found]).clone(), Some(found));
        }
        Ok(Source { arrays, field, place, waiting: VecDeque::new(), nrows: 0, is_ended: false })
    }

    pub fn field(&self) -> &Field {
        &self.field
    }

    pub fn is_table(&self) -> bool {
        matches!(self.field().data_type(), DataType::Struct(_))
    }

    /// The rows that wait to be taken.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Pulls arrays until some rows wait; `is_greedy`: until enough wait to be worth the work of threads.
    pub fn pull(&mut self, is_greedy: bool, signals: &mut Signals) -> PyResult<()> {
        let (mut seen, mut nbytes) = (HashSet::new(), 0_usize);
        let is_enough = |source: &Source, nbytes| {
            if is_greedy {
                source.nrows >= NROWS || nbytes >= NBYTES || source.waiting.len() >= NARRAYS
            } else {
                source.nrows > 0
            }
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
            self.waiting.push_back(match self.place {
                None => Taken { rows: 0..array.len(), array },
                Some(_) if array.null_count() > 0 => {
                    return Err(PyValueError::new_err("field takes tables, and the argument has rows that are null"));
                }
                Some(place) => Taken {
                    array: array.child_data()[place].clone(),
                    rows: array.offset()..array.offset() + array.len(),
                },
            });
        }
        Ok(())
    }

    /// The next rows, as many as wait at most.
    pub fn take(&mut self, nrows: usize) -> Vec<Taken> {
        let mut taken = Vec::new();
        let mut missing = nrows;
        while missing > 0 {
            let Some(Taken { array, mut rows }) = self.waiting.pop_front() else { break };
            if rows.len() > missing {
                let middle = rows.start + missing;
                self.waiting.push_front(Taken { array: array.clone(), rows: middle..rows.end });
                rows.end = middle;
            }
            missing -= rows.len();
            self.nrows -= rows.len();
            taken.push(Taken { array, rows });
        }
        taken
    }
}

/// The bytes of an array's buffers. Slices of one array share these, so a buffer that was seen does not count.
fn held_nbytes(array: &ArrayData, seen: &mut HashSet<*const u8>) -> usize {
    let own = array.buffers().iter().filter(|buffer| seen.insert(buffer.as_ptr())).map(|buffer| buffer.len());
    let own = own.fold(0, usize::saturating_add);
    array.child_data().iter().fold(own, |sum, child| sum.saturating_add(held_nbytes(child, seen)))
}
