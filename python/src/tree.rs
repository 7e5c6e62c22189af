// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash trees of files and of memory: the calls behind `pyhashloom.tree`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom::Hash;
use hashloom_files::Source;
use hashloom_files::run::Options;
use hashloom_files::text::reason;
use hashloom_tree::fsverity::FsVerity;
use hashloom_tree::{Block, ParameterFault, TreeError, bep52, s3};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::buffer::{Data, Held};
use crate::files::file_error;
use crate::hash::{algorithm, unknown};
use crate::work::work_once;

/// Readings of a file that changes each time before giving up, as in the program.
const READINGS_MAX: usize = 3;

/// Hashes a file, again from its beginning if it changes meanwhile, or the bytes of an object where they are.
fn hashed<T: Send + 'static>(
    data: &Bound<'_, PyAny>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    hash: impl Fn(Source, &Options) -> Result<T, TreeError> + Send + 'static,
) -> PyResult<T> {
    let py = data.py();
    if let Ok(path) = data.extract::<PathBuf>() {
        let source = path.clone();
        let result = work_once(py, threads, progress, move |options| {
            let mut nreadings = 1;
            loop {
                match hash(Source::from(&source), options) {
                    Err(TreeError::Changed) if nreadings < READINGS_MAX => nreadings += 1,
                    result => return result,
                }
            }
        })?;
        return result.map_err(|error| raised(py, error, &path));
    }
    let data = Data::of(data)?;
    // SAFETY: `data` outlives the work: work_once returns when its threads have ended, also after an error.
    let held = Arc::new(unsafe { Held::new(data.bytes()) });
    let result = work_once(py, threads, progress, move |options| hash(Source::Memory(held), options));
    result?.map_err(|error| raised(py, error, Path::new("")))
}

fn raised(py: Python<'_>, error: TreeError, path: &Path) -> PyErr {
    let parameter = match &error {
        TreeError::Open(error) => {
            return file_error(py, "open", error.raw_os_error(), reason(error).to_string(), path.into(), 0);
        }
        TreeError::Read { offset, error } => {
            return file_error(py, "read", error.raw_os_error(), reason(error).to_string(), path.into(), *offset);
        }
        TreeError::Changed => return file_error(py, "unstable", None, error.to_string(), path.into(), 0),
        TreeError::Parameter(fault) => match fault {
            ParameterFault::Algorithm { .. } | ParameterFault::NotInKernel(_) => "name",
            ParameterFault::BlockSize { block: Block::Data, .. } => "data_block_nbytes",
            ParameterFault::BlockSize { block: Block::Hash, .. } => "hash_block_nbytes",
            ParameterFault::BlockSize { .. } => "block_nbytes",
            ParameterFault::PartSize { .. } | ParameterFault::TooManyParts { .. } => "part_nbytes",
            ParameterFault::SaltTooLong { .. } => "salt",
            ParameterFault::HashOffset { .. } => "hash_offset",
            ParameterFault::RootHash { .. } => "root",
            _ => "data",
        },
        TreeError::TooShort { .. } => "data",
        TreeError::HashFile(_) => "hashes",
        _ => return PyRuntimeError::new_err(error.to_string()),
    };
    let tree_error = || py.import("pyhashloom.tree")?.getattr("TreeError")?.call1((error.to_string(), parameter));
    tree_error().map_or_else(|error| error, PyErr::from_value)
}

fn bytes<'py>(py: Python<'py>, hash: &Hash) -> Bound<'py, PyBytes> {
    PyBytes::new(py, hash.as_ref())
}

#[pyfunction]
#[pyo3(signature = (data, threads, progress))]
fn tree_bep52<'py>(
    data: &Bound<'py, PyAny>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let root = hashed(data, threads, progress, bep52::pieces_root)?;
    Ok(root.map(|root| bytes(data.py(), &root)))
}

/// Returns the fields of `pyhashloom.tree.Composite`.
#[pyfunction]
#[pyo3(signature = (data, name, part_nbytes, threads, progress))]
fn tree_s3<'py>(
    data: &Bound<'py, PyAny>,
    name: &str,
    part_nbytes: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, algorithm) = (data.py(), algorithm(name)?);
    let found =
        hashed(data, threads, progress, move |source, options| s3::composite(source, algorithm, part_nbytes, options))?;
    let parts: Vec<_> = found.parts.iter().map(|part| bytes(py, part)).collect();
    (bytes(py, &found.digest), parts, found.to_string()).into_pyobject(py)
}

/// Returns the CRC of an upload and those of its parts, in base64.
#[pyfunction]
#[pyo3(signature = (data, name, part_nbytes, threads, progress))]
fn tree_s3_crc(
    data: &Bound<'_, PyAny>,
    name: &str,
    part_nbytes: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let crc = match name {
        "crc64nvme" => s3::Crc::Crc64Nvme,
        "crc32c" => s3::Crc::Crc32c,
        "crc32" => s3::Crc::Crc32,
        _ => return Err(unknown(name, "")),
    };
    let found = hashed(data, threads, progress, move |source, options| s3::crcs(source, crc, part_nbytes, options))?;
    Ok((found.whole, found.parts))
}

/// Returns the fields of `pyhashloom.tree.Sealed`.
#[pyfunction]
#[pyo3(signature = (data, name, block_nbytes, salt, threads, progress))]
fn tree_fsverity<'py>(
    data: &Bound<'py, PyAny>,
    name: &str,
    block_nbytes: usize,
    salt: &Bound<'py, PyAny>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = data.py();
    let salt = Data::of(salt)?;
    let verity = FsVerity::new(algorithm(name)?)
        .block_size(block_nbytes)
        .and_then(|verity| verity.salt(salt.bytes()))
        .map_err(|error| raised(py, error, Path::new("")))?;
    let sealed = hashed(data, threads, progress, move |source, options| verity.digest(source, options))?;
    let descriptor = PyBytes::new(py, sealed.descriptor());
    let formatted = PyBytes::new(py, &sealed.formatted());
    let (digest, root) = (bytes(py, &sealed.digest()), bytes(py, &sealed.root()));
    (digest, root, sealed.nbytes(), descriptor, formatted, sealed.to_string()).into_pyobject(py)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tree_bep52, module)?)?;
    module.add_function(wrap_pyfunction!(tree_s3, module)?)?;
    module.add_function(wrap_pyfunction!(tree_s3_crc, module)?)?;
    module.add_function(wrap_pyfunction!(tree_fsverity, module)?)
}
