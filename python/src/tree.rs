// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash trees of files and of memory, and proofs of transparency logs: the calls behind `pyhashloom.tree`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashloom::Hash;
use hashloom_files::Source;
use hashloom_files::run::Options;
use hashloom_files::text::reason;
use hashloom_tree::fsverity::FsVerity;
use hashloom_tree::rfc6962::{self, ProofError, Prove, Tree};
use hashloom_tree::{Block, ParameterFault, TreeError, bep52, glacier, s3};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::buffer::{Data, Held};
use crate::files::file_error;
use crate::hash::algorithm;
use crate::work::work_once;

/// Readings of a file that changes each time before giving up, as in the program.
const READINGS_MAX: usize = 3;

/// Entries of a log between two looks at signals.
const STRETCH: usize = 1024;

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

fn exception<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let raised = || py.import("pyhashloom.tree")?.getattr(name)?.call1(arguments);
    raised().map_or_else(|error| error, PyErr::from_value)
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
    exception(py, "TreeError", (error.to_string(), parameter))
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

#[pyfunction]
#[pyo3(signature = (data, threads, progress))]
fn tree_glacier<'py>(
    data: &Bound<'py, PyAny>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(bytes(data.py(), &hashed(data, threads, progress, glacier::tree_hash)?))
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

fn wrong(py: Python<'_>, error: &ProofError) -> PyErr {
    let text = error.to_string();
    match error {
        ProofError::Count { expected, found } => exception(py, "ProofError", (text, "count", *expected, *found)),
        ProofError::Length { expected, found } => exception(py, "ProofError", (text, "length", *expected, *found)),
        ProofError::Root { expected, found } => {
            exception(py, "ProofError", (text, "root", bytes(py, expected), bytes(py, found)))
        }
        ProofError::Sizes { .. } => exception(py, "ProofError", (text, "sizes")),
        ProofError::Subtree { .. } => exception(py, "ProofError", (text, "subtree")),
        _ => exception(py, "ProofError", (text, "index")),
    }
}

/// Returns the size and the root of the tree over these entries, the node that a proof is about and the proof's nodes.
/// `kind`: root, inclusion (of the entry with the index `number`) or consistency (with the first `number` entries).
#[pyfunction]
#[pyo3(signature = (entries, name, kind, number))]
fn tree_log<'py>(entries: &Bound<'py, PyAny>, name: &str, kind: &str, number: u64) -> PyResult<Bound<'py, PyTuple>> {
    let py = entries.py();
    let prove: &[Prove] = match kind {
        "inclusion" => &[Prove::Inclusion(number)],
        "consistency" => &[Prove::Consistency(number)],
        _ => &[],
    };
    let mut tree = Tree::new(algorithm(name)?, prove);
    let entries = Data::of_all(entries, "entry")?;
    let entries: Vec<&[u8]> = entries.iter().map(Data::bytes).collect();
    for entries in entries.chunks(STRETCH) {
        py.detach(|| tree.push_entries(entries));
        py.check_signals()?;
    }
    let built = py.detach(|| tree.finish());
    let (of, nodes) = match built.proofs.first() {
        None => (built.root, Vec::new()),
        Some(Err(error)) => return Err(wrong(py, error)),
        Some(Ok(proof)) => (proof.of, proof.nodes.iter().map(|node| bytes(py, node)).collect()),
    };
    (built.size, bytes(py, &built.root), bytes(py, &of), nodes).into_pyobject(py)
}

#[pyfunction]
#[pyo3(signature = (entry, name))]
fn tree_log_leaf<'py>(entry: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let data = Data::of(entry)?;
    Ok(bytes(entry.py(), &rfc6962::leaf(algorithm(name)?, data.bytes())))
}

#[pyfunction]
#[pyo3(signature = (leaf, index, size, proof, root, name))]
fn tree_check_inclusion(
    leaf: &Bound<'_, PyAny>,
    index: u64,
    size: u64,
    proof: &Bound<'_, PyAny>,
    root: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<()> {
    let (leaf, root, nodes) = (Data::of(leaf)?, Data::of(root)?, Data::of_all(proof, "node")?);
    let nodes: Vec<&[u8]> = nodes.iter().map(Data::bytes).collect();
    rfc6962::check_inclusion(algorithm(name)?, leaf.bytes(), index, size, &nodes, root.bytes())
        .map_err(|error| wrong(proof.py(), &error))
}

#[pyfunction]
#[pyo3(signature = (size1, root1, size, root, proof, name))]
fn tree_check_consistency(
    size1: u64,
    root1: &Bound<'_, PyAny>,
    size: u64,
    root: &Bound<'_, PyAny>,
    proof: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<()> {
    let (root1, root, nodes) = (Data::of(root1)?, Data::of(root)?, Data::of_all(proof, "node")?);
    let nodes: Vec<&[u8]> = nodes.iter().map(Data::bytes).collect();
    rfc6962::check_consistency(algorithm(name)?, size1, root1.bytes(), size, root.bytes(), &nodes)
        .map_err(|error| wrong(proof.py(), &error))
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tree_bep52, module)?)?;
    module.add_function(wrap_pyfunction!(tree_glacier, module)?)?;
    module.add_function(wrap_pyfunction!(tree_s3, module)?)?;
    module.add_function(wrap_pyfunction!(tree_fsverity, module)?)?;
    module.add_function(wrap_pyfunction!(tree_log, module)?)?;
    module.add_function(wrap_pyfunction!(tree_log_leaf, module)?)?;
    module.add_function(wrap_pyfunction!(tree_check_inclusion, module)?)?;
    module.add_function(wrap_pyfunction!(tree_check_consistency, module)?)
}
