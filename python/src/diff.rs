// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digests of rows as a set in which a row may be several times: two tables compared by their rows' digests, and the
//! digests in order.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::column::Column;
use crate::memory;

/// Bytes of a digest that are compared.
const NBYTES: usize = 16;

/// What `sorted_digests` begins with. vectors/rows has the table of kinds.
const TABLE: u8 = 0x11;

/// A row. In order, equal rows of the first table come before those of the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: [u8; NBYTES],
    whole: [u8; NBYTES],
    /// Its number in the table; `SECOND` more for those of the second.
    place: u64,
}

const SECOND: u64 = 1 << 63;

/// Rows of two tables as digests of their keys and of the whole.
#[pyclass(frozen, module = "pyhashloom._hashloom", name = "Differ")]
struct Differ {
    /// The rows, and the place of the next row of each table.
    rows: Mutex<(Vec<Row>, [u64; 2])>,
}

/// Rows found: their places in the table, 8 bytes each in the order of the machine, ascending; and the digests of their
/// keys.
type Found<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl Differ {
    #[new]
    fn new() -> Differ {
        Differ { rows: Mutex::new((Vec::new(), [0, SECOND])) }
    }

    /// Adds rows of a table: digests in binary of at least 16 bytes, none null.
    fn add(&self, py: Python<'_>, is_second: bool, keys: &Column, wholes: &Column) -> PyResult<()> {
        let mut guard = self.rows.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let (rows, places) = &mut *guard;
        let nrows = keys.__len__();
        rows.try_reserve(nrows).map_err(|_| memory::short(nrows * size_of::<Row>()))?;
        let place = &mut places[usize::from(is_second)];
        let head = |digest: Option<&[u8]>| digest.and_then(|digest| digest.first_chunk().copied());
        for (key, whole) in keys.values().zip(wholes.values()) {
            let (Some(key), Some(whole)) = (head(key), head(whole)) else {
                return Err(PyValueError::new_err("expected digests of at least 16 bytes"));
            };
            rows.push(Row { key, whole, place: *place });
            *place += 1;
        }
        Ok(())
    }

    /// Rows of the first table that the second has not, of the second that the first has not, and of the second that
    /// have other content under the same key; the number of equal rows, and of keys that a table has more than once.
    fn compare<'py>(&self, py: Python<'py>) -> (Found<'py>, Found<'py>, Found<'py>, usize, usize) {
        let mut rows = std::mem::take(&mut self.rows.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).0);
        let (mut found, mut nequal, mut nrepeated) = ([const { Vec::new() }; 3], 0, 0);
        py.detach(|| {
            rows.sort_unstable();
            let (mut gone, mut come): (Vec<Row>, Vec<Row>) = Default::default();
            for same_key in rows.chunk_by(|one, next| one.key == next.key) {
                let nsecond = same_key.iter().filter(|row| row.place >= SECOND).count();
                nrepeated += usize::from(nsecond.max(same_key.len() - nsecond) > 1);
                for same in same_key.chunk_by(|one, next| one.whole == next.whole) {
                    let (first, second) = same.split_at(same.partition_point(|row| row.place < SECOND));
                    let npairs = first.len().min(second.len());
                    nequal += npairs;
                    gone.extend(&first[npairs..]);
                    come.extend(&second[npairs..]);
                }
                let npairs = gone.len().min(come.len());
                found[0].extend(gone.drain(..).skip(npairs));
                found[2].extend(come.drain(..npairs));
                found[1].append(&mut come);
            }
            drop(rows);
            found.iter_mut().for_each(|rows| rows.sort_unstable_by_key(|row| row.place));
        });
        let [gone, come, changed] = found.map(|rows| {
            let places: Vec<u8> = rows.iter().flat_map(|row| (row.place & !SECOND).to_ne_bytes()).collect();
            let keys: Vec<u8> = rows.iter().flat_map(|row| row.key).collect();
            (PyBytes::new(py, &places), PyBytes::new(py, &keys))
        });
        (gone, come, changed, nequal, nrepeated)
    }
}

/// The byte 0x11, and then the digests of a column in binary, in the order of their bytes.
#[pyfunction]
fn sorted_digests<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyBytes>> {
    let mut digests = Vec::<&[u8]>::new();
    let nrows = column.__len__();
    digests.try_reserve_exact(nrows).map_err(|_| memory::short(nrows * size_of::<&[u8]>()))?;
    digests.extend(column.values().flatten());
    py.detach(|| digests.sort_unstable());
    let nbytes = 1 + digests.iter().map(|digest| digest.len()).sum::<usize>();
    PyBytes::new_with(py, nbytes, |out| {
        let (head, mut rest) = out.split_at_mut(1);
        head[0] = TABLE;
        for digest in digests {
            let (here, behind) = rest.split_at_mut(digest.len());
            here.copy_from_slice(digest);
            rest = behind;
        }
        Ok(())
    })
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Differ>()?;
    module.add_function(wrap_pyfunction!(sorted_digests, module)?)
}
