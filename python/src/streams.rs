// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many messages that arrive in parts: hash objects, advanced side by side in lanes.

use hashloom::Hasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::buffer::Data;
use crate::hash::{Hash, python_name};
use crate::shared::{Locked, Without};

/// The hash objects of an iterable, all of one algorithm.
fn hash_objects<'py>(hashes: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, Hash>>> {
    let name = |object: &Bound<'py, PyAny>| object.get_type().name().map_or("object".into(), |name| name.to_string());
    let objects = hashes.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("expected a list or another iterable of hash objects, found {}", name(hashes)))
    })?;
    let mut found: Vec<Bound<'py, Hash>> = Vec::new();
    for (position, object) in objects.enumerate() {
        let object = object?.cast_into::<Hash>().map_err(|error| {
            let name = name(&error.into_inner());
            PyTypeError::new_err(format!(
                "hash {position}: expected an object of pyhashloom, such as pyhashloom.new(\"sha256\"), found {name}"
            ))
        })?;
        let (first, own) = (found.first().unwrap_or(&object).get().algorithm(), object.get().algorithm());
        if own != first {
            return Err(PyValueError::new_err(format!(
                "hash {position}: it is of {}, and hash 0 of {}: call update_many for each algorithm",
                python_name(own),
                python_name(first)
            )));
        }
        found.push(object);
    }
    Ok(found)
}

/// Appends `chunks[i]` to the message of `hashes[i]`, all side by side in lanes.
#[pyfunction]
#[pyo3(signature = (hashes, chunks, /))]
fn update_many(py: Python<'_>, hashes: &Bound<'_, PyAny>, chunks: &Bound<'_, PyAny>) -> PyResult<()> {
    let hashes = hash_objects(hashes)?;
    let data = Data::of_all(chunks, "chunk")?;
    if hashes.len() != data.len() {
        return Err(PyValueError::new_err(format!(
            "{} hashes and {} chunks: give a chunk for each hash; it may be empty",
            hashes.len(),
            data.len()
        )));
    }
    // In the order of the addresses: two calls with the same objects never wait for each other.
    let mut order: Vec<usize> = (0..hashes.len()).collect();
    order.sort_by_key(|&i| (hashes[i].as_ptr(), i));
    if let Some(same) = order.windows(2).find(|pair| hashes[pair[0]].is(&hashes[pair[1]])) {
        return Err(PyValueError::new_err(format!(
            "hash {}: it is the same object as hash {}: an object takes one chunk in a call",
            same[1], same[0]
        )));
    }
    let ordered: Vec<(Without<'_, Hasher>, &[u8])> =
        order.iter().map(|&i| (hashes[i].get().state().without(py), data[i].bytes())).collect();
    py.detach(|| {
        let mut states: Vec<Locked<'_, Hasher>> = ordered.iter().map(|(state, _)| state.lock()).collect();
        let mut hashers: Vec<Hasher> = states.iter_mut().map(|state| state.work(|hasher| hasher.clone())).collect();
        let chunks: Vec<&[u8]> = ordered.iter().map(|&(_, chunk)| chunk).collect();
        hashloom::update_many(&mut hashers, &chunks);
        states.iter_mut().zip(hashers).for_each(|(state, hashed)| state.work(|hasher| *hasher = hashed));
    });
    Ok(())
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(update_many, module)?)
}
