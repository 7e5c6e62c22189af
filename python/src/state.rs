// SPDX-License-Identifier: MIT OR Apache-2.0
//! The journal of objects: what was read stays known after Ctrl-C or a crash. The file is a state of the engine.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashloom_files::text::Hex;
use hashloom_state::{State, Tie};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The journal in a file, of one subject. A value belongs to a key, and to what ties it to the thing of this key.
#[pyclass(frozen, module = "pyhashloom._hashloom")]
struct Journal {
    path: PathBuf,
    state: Mutex<Option<State>>,
}

impl Journal {
    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Journal {
    #[new]
    fn new(file: PathBuf, subject: &str) -> PyResult<Journal> {
        let wrong = |why: &dyn std::fmt::Display| PyValueError::new_err(format!("journal {}: {why}", file.display()));
        let state = State::at(&file, subject).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => wrong(&format!("{error}: name a new file")),
            io::ErrorKind::WouldBlock => wrong(&"another call uses it: wait for its end, or name another"),
            _ => error.into(),
        })?;
        Ok(Journal { path: file, state: Mutex::new(Some(state)) })
    }

    /// The last value of a key that has this tie.
    fn find(&self, key: &[u8], tie: &[u8]) -> Option<Vec<u8>> {
        let now = Tie::of("", tie);
        let mut found = None;
        self.state().as_mut()?.all(key, |then, value| {
            if then.doubt_at(&now).is_none() {
                found = bytes_of(value);
            }
        });
        found
    }

    /// Adds a value. It reaches the file within a second, or when the journal is closed.
    fn add(&self, key: &[u8], tie: &[u8], value: &[u8]) -> PyResult<()> {
        match self.state().as_mut() {
            Some(state) => Ok(state.add(key, &Tie::of("", tie), &Hex(value).to_string())?),
            None => Err(PyValueError::new_err(format!("journal {}: it is closed", self.path.display()))),
        }
    }

    fn close(&self) -> PyResult<()> {
        Ok(self.state().take().map_or(Ok(()), |mut state| state.flush())?)
    }
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Journal>()
}
