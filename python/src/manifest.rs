// SPDX-License-Identifier: MIT OR Apache-2.0
//! Manifests of folders and lists of checksums: the engine's parsers, the listing of a folder, and the comparison. The
//! files in between may be hashed elsewhere: `hash_listed` does it here, or on a worker.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{Cursor, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::{by_components, to_path};
use hashloom_files::walk::Filter;
use hashloom_files::{Method, Request, Stamp, hash_files};
use hashloom_list::{BadLine, Line, Parser, decoded};
use hashloom_manifest::{
    Comparison, Difference, Entry, Error, Found, Kind, Reader, Reason as Unread, Scan, ScanError, Status, Writer,
};
use hashloom_signature::{PublicKey, Signatures, file_name, folder_name};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::buffer::Data;
use crate::files::{Reason, described, of_system};
use crate::hash::{algorithm, python_name};
use crate::work::work_once;

/// A manifest that cannot be used.
fn bad(py: Python<'_>, text: String) -> PyErr {
    let raised = || py.import("pyhashloom.manifest")?.getattr("ManifestError")?.call1((text,));
    raised().map_or_else(|error| error, PyErr::from_value)
}

/// The content of a manifest, shared by its readers.
#[derive(Clone)]
struct Content(Arc<[u8]>);

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

type OldReader = Reader<Cursor<Content>>;

impl Content {
    fn reader(&self) -> Result<OldReader, Error> {
        Reader::new(Cursor::new(self.clone()))
    }
}

/// A folder's entries, of which the files are hashed elsewhere.
#[pyclass(frozen, module = "pyhashloom._hashloom")]
struct Listing {
    /// `None`: the entry has vanished since.
    found: Mutex<Vec<Option<Entry>>>,
    errors: Vec<(Vec<u8>, Reason)>,
    algorithms: Vec<Algorithm>,
    filter: Filter,
    old: Option<Content>,
}

/// Globs of files to take and to leave out, and the least and the greatest length.
type Wanted = (Vec<String>, Vec<String>, Option<u64>, Option<u64>);

fn filter_of(wanted: &Wanted) -> PyResult<Filter> {
    let (include, exclude, least, greatest) = wanted;
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let include: Vec<&str> = include.iter().map(String::as_str).collect();
    let exclude: Vec<&str> = exclude.iter().map(String::as_str).collect();
    let lengths: RangeInclusive<u64> = least.unwrap_or(0)..=greatest.unwrap_or(u64::MAX);
    let filter = Filter::new(&include, &exclude).map_err(|error| wrong(&error))?;
    filter.lengths(lengths).map_err(|error| wrong(&error))
}

/// Parses the arguments of a listing: algorithms, filter, manifest. A manifest is read to its end, and its algorithms
/// and filter replace the others.
fn begun(
    py: Python<'_>,
    algorithms: &[String],
    wanted: &Wanted,
    manifest: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<Algorithm>, Filter, Option<Content>)> {
    let mut algorithms = algorithms.iter().map(|name| algorithm(name)).collect::<PyResult<Vec<_>>>()?;
    let mut filter = filter_of(wanted)?;
    let old = manifest.map(Data::of).transpose()?.map(|data| Content(data.bytes().into()));
    if let Some(old) = &old {
        let check = || -> Result<_, Error> {
            let mut reader = old.reader()?;
            reader.try_for_each(|entry| entry.map(drop))?;
            Ok((reader.algorithms().to_vec(), reader.wanted().clone()))
        };
        (algorithms, filter) = check().map_err(|error| bad(py, error.to_string()))?;
    }
    if algorithms.is_empty() {
        return Err(PyValueError::new_err("expected an algorithm"));
    }
    // The first line says whether these algorithms and this filter can be those of a manifest.
    Writer::filtered(Vec::new(), &algorithms, &filter).map_err(|error| bad(py, error.to_string()))?;
    Ok((algorithms, filter, old))
}

/// The entries of objects that have no folders: those that the filter wants, and the folders that their names have. The
/// error is the name that no manifest can have, and why.
fn entries_of(
    objects: Vec<(Vec<u8>, u64, i128)>,
    filter: &Filter,
    is_listed: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Entry>, (Vec<u8>, &'static str)> {
    let mut folders: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut entries = Vec::with_capacity(objects.len());
    for (path, nbytes, mtime_ns) in objects {
        let wants = |path: &[u8], is_folder| filter.wants_path(&to_path(path), is_folder);
        let ends = || path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end);
        if !wants(&path, false) || !ends().all(|end| wants(&path[..end], true)) {
            continue;
        }
        if path.split(|&byte| byte == b'/').any(|name| matches!(name, b"" | b"." | b"..") || name.contains(&0)) {
            return Err((path, "it has an empty part, one that is . or .., or a zero byte"));
        }
        // From the innermost on: where a folder is known, so are those around it.
        for end in ends().collect::<Vec<_>>().into_iter().rev() {
            if !folders.insert(path[..end].to_vec()) {
                break;
            }
        }
        if filter.wants_length(nbytes) || is_listed(&path) {
            entries.push(Entry { path, kind: Kind::File { nbytes, mtime_ns, digests: Vec::new() } });
        }
    }
    if let Some(both) = entries.iter().find(|entry| folders.contains(&entry.path)) {
        return Err((both.path.clone(), "there are other objects below it, as if it were a folder"));
    }
    entries.extend(folders.into_iter().map(|path| Entry { path, kind: Kind::Folder }));
    entries.sort_by(|a, b| by_components(&a.path, &b.path));
    Ok(entries)
}

impl Listing {
    fn entries(&self) -> MutexGuard<'_, Vec<Option<Entry>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets what became of the file `index`, once.
    fn settle(&self, index: usize, kind: Option<Kind>) -> PyResult<()> {
        let mut entries = self.entries();
        match entries.get_mut(index) {
            Some(place @ Some(Entry { kind: Kind::File { .. }, .. })) => {
                match (kind, place.as_mut()) {
                    (Some(kind), Some(entry)) => entry.kind = kind,
                    _ => *place = None,
                }
                Ok(())
            }
            _ => Err(PyValueError::new_err(format!("entry {index} is not a file to hash"))),
        }
    }

    /// The entries, if every file has its digests.
    fn settled(&self) -> PyResult<Vec<Entry>> {
        let entries: Vec<Entry> = self.entries().iter().flatten().cloned().collect();
        let count = self.algorithms.len();
        let is_open = |entry: &&Entry| matches!(&entry.kind, Kind::File { digests, .. } if digests.len() != count);
        match entries.iter().find(is_open) {
            Some(entry) => Err(PyRuntimeError::new_err(format!("no digests of {}", entry.path.escape_ascii()))),
            None => Ok(entries),
        }
    }
}

#[pymethods]
impl Listing {
    /// Lists a folder. If there is a manifest, it decides the algorithms and the filter, and it is read to its end.
    #[new]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        algorithms: Vec<String>,
        wanted: Wanted,
        without: Vec<PathBuf>,
        manifest: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Listing> {
        let (algorithms, filter, old) = begun(py, &algorithms, &wanted, manifest)?;
        let mut scan = Scan::new(&folder).algorithms(&algorithms).quick(true).filter(filter.clone());
        if let Some(old) = old.as_ref().filter(|_| filter.wanted_lengths() != (0..=u64::MAX)) {
            // A file that has outgrown the filter is not gone.
            scan = scan.listed(old.reader().map_err(|error| bad(py, error.to_string()))?);
        }
        scan = without.into_iter().fold(scan, Scan::leave_out);
        let listed = work_once(py, 1, None, move |options| {
            let mut all = Vec::new();
            let done = scan.run(options, |found| {
                all.push(found);
                Ok::<(), std::convert::Infallible>(())
            });
            done.map(|done| (all, done.cancelled))
        })?;
        let found: Vec<Found> = match listed {
            Ok((found, false)) => found,
            Err(ScanError::Root { path, error }) => return Err(of_system(&error, path).raise(py)),
            Err(ScanError::Listed(error) | ScanError::Update(error)) => {
                return Err(bad(py, error.to_string()));
            }
            _ => return Err(PyRuntimeError::new_err("the listing was lost")),
        };
        let told = |found: &Found| found.error.as_ref().map(|error| (found.entry.path.clone(), described(error)));
        let errors = found.iter().filter_map(told).collect();
        let found = Mutex::new(found.into_iter().map(|found| Some(found.entry)).collect());
        Ok(Listing { found, errors, algorithms, filter, old })
    }

    /// Takes a listing of objects: names, bytes and times. The rest is that of a new one.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        objects: Vec<(Vec<u8>, u64, i128)>,
        algorithms: Vec<String>,
        wanted: Wanted,
        manifest: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Listing> {
        let (algorithms, filter, old) = begun(py, &algorithms, &wanted, manifest)?;
        let found = py.detach(|| {
            let mut listed = HashSet::new();
            // An object that has outgrown the filter is not gone.
            if let Some(old) = old.as_ref().filter(|_| filter.wanted_lengths() != (0..=u64::MAX)) {
                listed.extend(old.reader().into_iter().flatten().flatten().map(|entry| entry.path));
            }
            entries_of(objects, &filter, |path| listed.contains(path))
        });
        let found = found.map_err(|(path, why)| {
            let name = String::from_utf8_lossy(&path).into_owned();
            bad(py, format!("the name {name:?} cannot be in a manifest: {why}: leave it out by exclude"))
        })?;
        let found = Mutex::new(found.into_iter().map(Some).collect());
        Ok(Listing { found, errors: Vec::new(), algorithms, filter, old })
    }

    #[getter]
    fn algorithms(&self) -> Vec<&'static str> {
        self.algorithms.iter().map(|&algorithm| python_name(algorithm)).collect()
    }

    /// The files to hash: number, path, bytes, and modification time in nanoseconds.
    fn files<'py>(&self, py: Python<'py>) -> Vec<(usize, Bound<'py, PyBytes>, u64, i128)> {
        let of = |(index, entry): (usize, &Option<Entry>)| match entry {
            Some(Entry { path, kind: Kind::File { nbytes, mtime_ns, .. } }) => {
                Some((index, PyBytes::new(py, path), *nbytes, *mtime_ns))
            }
            _ => None,
        };
        self.entries().iter().enumerate().filter_map(of).collect()
    }

    /// The paths that could not be listed, each with the reason.
    fn errors<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, Reason)> {
        self.errors.iter().map(|(path, reason)| (PyBytes::new(py, path), reason.clone())).collect()
    }

    /// Takes the length, the time and the digests of the file `index`.
    fn hashed(&self, index: usize, nbytes: u64, mtime_ns: i128, digests: Vec<Vec<u8>>) -> PyResult<()> {
        let wrong = || PyValueError::new_err(format!("expected the digests {:?}", self.algorithms()));
        if digests.len() != self.algorithms.len() {
            return Err(wrong());
        }
        let of = |(&algorithm, digest): (&Algorithm, &Vec<u8>)| {
            if digest.len() == algorithm.digest_nbytes() { Ok(Hash::new(algorithm, digest)) } else { Err(wrong()) }
        };
        let digests = self.algorithms.iter().zip(&digests).map(of).collect::<PyResult<_>>()?;
        self.settle(index, Some(Kind::File { nbytes, mtime_ns, digests }))
    }

    /// Notes that the file `index` could not be read, or that it is unstable.
    fn unread(&self, index: usize, is_unstable: bool) -> PyResult<()> {
        let reason = if is_unstable { Unread::Unstable } else { Unread::Unreadable };
        self.settle(index, Some(Kind::Unread(reason)))
    }

    /// Notes that the file `index` is gone.
    fn vanished(&self, index: usize) -> PyResult<()> {
        self.settle(index, None)
    }

    /// The manifest of the folder.
    fn write<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let entries = self.settled()?;
        let write = || -> Result<Vec<u8>, Error> {
            let mut writer = Writer::filtered(Vec::new(), &self.algorithms, &self.filter)?;
            entries.iter().try_for_each(|entry| writer.write(entry))?;
            writer.finish()
        };
        let content = py.detach(write).map_err(|error| bad(py, error.to_string()))?;
        Ok(PyBytes::new(py, &content))
    }

    /// Compares the folder with the manifest. Returns the differences (status, path, and both entries as JSON), and the
    /// number of entries by status.
    #[allow(clippy::type_complexity, reason = "read by one caller")]
    fn compare<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Vec<(String, Bound<'py, PyBytes>, Option<String>, Option<String>)>, BTreeMap<String, u64>)> {
        let old = self.old.clone().ok_or_else(|| PyRuntimeError::new_err("there is no manifest"))?;
        let entries = self.settled()?;
        let mut differences: Vec<Difference> = Vec::new();
        let compare = || -> Result<_, Error> {
            let reader: OldReader = Reader::new(Cursor::new(old))?;
            let Some(mut comparison) = Comparison::new(reader, &self.algorithms, &self.algorithms) else {
                return Ok(None);
            };
            for entry in entries {
                comparison.found(entry, |difference| differences.push(difference))?;
            }
            comparison.finish(|difference| differences.push(difference)).map(Some)
        };
        let counts = py.detach(compare).map_err(|error| bad(py, error.to_string()))?;
        let counts = counts.ok_or_else(|| bad(py, "a manifest without algorithms".into()))?;
        let line = |entry: &Option<Entry>| -> PyResult<Option<String>> {
            let Some(entry) = entry else { return Ok(None) };
            let line = entry.as_line(&self.algorithms).map_err(|error| bad(py, error.to_string()))?;
            serde_json::to_string(&line).map(Some).map_err(|error| bad(py, error.to_string()))
        };
        let told = differences.iter().map(|difference| {
            let path = PyBytes::new(py, difference.path());
            Ok((difference.status.to_string(), path, line(&difference.old)?, line(&difference.new)?))
        });
        let counts = Status::ALL.iter().map(|&status| (status.to_string(), counts.of(status))).collect();
        Ok((told.collect::<PyResult<_>>()?, counts))
    }
}

/// Whether a text is a public key of minisign or SLH-DSA.
#[pyfunction]
fn is_public_key(text: &str) -> bool {
    PublicKey::parse(text).is_ok()
}

/// Checks that one of the signatures is one of this manifest by this key. Returns the fields of
/// `pyhashloom.manifest.Signature`; `file` is the name of the manifest, if it has one.
#[pyfunction]
fn manifest_signed<'py>(
    content: &Bound<'py, PyAny>,
    signatures: &Bound<'py, PyAny>,
    key: &str,
    file: Option<PathBuf>,
    folder: PathBuf,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = content.py();
    let wrong = |error: &dyn std::fmt::Display| {
        let raised = || py.import("pyhashloom.manifest")?.getattr("SignatureError")?.call1((error.to_string(),));
        raised().map_or_else(|error| error, PyErr::from_value)
    };
    let (content, signatures) = (Data::of(content)?, Data::of(signatures)?);
    let text = std::str::from_utf8(signatures.bytes()).map_err(|error| wrong(&error))?;
    let key = PublicKey::parse(key).map_err(|error| wrong(&error))?;
    let signatures = Signatures::parse(text).map_err(|error| wrong(&error))?;
    let bytes = content.bytes();
    let signed = py.detach(|| key.verify(bytes, &signatures)).map_err(|error| wrong(&error))?;
    let (of_file, of_folder) = (signed.part("file"), signed.part("folder"));
    let is_this_file = of_file.zip(file.as_deref().and_then(file_name)).map(|(signed, now)| signed == now);
    let is_this_folder = of_folder.map(|signed| signed == folder_name(&folder));
    (signed.key(), signed.comment(), of_file, is_this_file, of_folder, is_this_folder).into_pyobject(py)
}

/// The lines of a list of checksums: those with checksums, as (number, name, digests by algorithm, bytes), and the bad
/// ones, as (number, reason).
#[pyfunction]
fn list_read<'py>(content: &Bound<'py, PyAny>, algorithms: Vec<String>) -> PyResult<Bound<'py, PyTuple>> {
    let py = content.py();
    let data = Data::of(content)?;
    let algorithms = algorithms.iter().map(|name| algorithm(name)).collect::<PyResult<Vec<_>>>()?;
    let mut parser = if algorithms.is_empty() { Parser::new() } else { Parser::untagged(&algorithms) };
    let (entries, wrong) = (PyList::empty(py), PyList::empty(py));
    let mut content = Vec::new();
    let (mut reader, end) = decoded(data.bytes(), None)?;
    reader.read_to_end(&mut content)?;
    parser.begin_list(end);
    // The last line may have no end; there is no line after the last end.
    let content = content.strip_suffix(&[end]).unwrap_or(&content);
    let read = |line: Line<'_>, number: u64| match line {
        Line::Blank => Ok(()),
        Line::Unread(why) | Line::Bad(why) => wrong.append((number, why.to_string())),
        Line::Entry(entry) if *entry.name == *b"-" => {
            wrong.append((number, "the name - is standard input: it cannot be checked here"))
        }
        Line::Entry(entry) if entry.is_any => {
            wrong.append((number, "pip takes one of its digests: check it by the program"))
        }
        // No CRC is computed here.
        Line::Entry(entry) if entry.digests.is_empty() => wrong.append((number, BadLine::NoDigest.to_string())),
        Line::Entry(entry) => {
            let mut digests = entry.digests;
            digests.sort_by_key(|(algorithm, _)| algorithm.name());
            let of =
                |(algorithm, digest): &(Algorithm, Hash)| (python_name(*algorithm), PyBytes::new(py, digest.as_ref()));
            let digests: Vec<_> = digests.iter().map(of).collect();
            entries.append((number, PyBytes::new(py, &entry.name), digests, entry.nbytes))
        }
    };
    let mut number = 0;
    for line in content.split(|&byte| byte == end) {
        number += 1;
        if line.trim_ascii_start().starts_with(b"{") {
            wrong.append((number, "a line of JSON: check a manifest with pyhashloom.manifest.check"))?;
            continue;
        }
        read(parser.parse(line), number)?;
        while let Some(line) = parser.more(false) {
            read(line, number)?;
        }
    }
    while let Some(line) = parser.more(true) {
        read(line, number)?;
    }
    (entries, wrong).into_pyobject(py)
}

/// The result for a file: its digests, bytes, and modification time if it is a regular file; or the reason.
type Answer = Result<(Vec<Hash>, u64, Option<i128>), Reason>;

/// Hashes files, each by its own algorithms. Names are relative to `folder`, if there is one.
#[pyfunction]
#[pyo3(signature = (folder, files, threads, progress))]
fn hash_listed<'py>(
    py: Python<'py>,
    folder: Option<PathBuf>,
    files: Vec<(Vec<u8>, Vec<String>)>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut known: BTreeMap<Vec<String>, Arc<[Method]>> = BTreeMap::new();
    let mut requests = Vec::with_capacity(files.len());
    for (name, algorithms) in files {
        let methods = match known.get(&algorithms) {
            Some(methods) => methods.clone(),
            None => {
                let of = |name: &String| algorithm(name).map(Method::from);
                let methods: Arc<[Method]> = algorithms.iter().map(of).collect::<PyResult<Vec<_>>>()?.into();
                known.entry(algorithms).or_insert(methods).clone()
            }
        };
        let path = folder.as_deref().unwrap_or(Path::new("")).join(to_path(&name));
        requests.push(Request { source: path.into(), methods, tag: () });
    }
    let all = work_once(py, threads, progress, move |options| {
        let mut answers: Vec<Answer> = Vec::new();
        hash_files(requests.into_iter(), options, |_, result| {
            answers.push(match result {
                Ok(hashed) => {
                    let mtime_ns = hashed.stamp.map(|Stamp { mtime_ns, .. }| mtime_ns);
                    Ok((hashed.digests, hashed.nbytes, mtime_ns))
                }
                Err(error) => Err(described(&error)),
            });
        });
        answers
    })?;
    let answers = PyList::empty(py);
    for answer in all {
        match answer {
            Ok((digests, nbytes, mtime_ns)) => {
                let digests: Vec<_> = digests.iter().map(|digest| PyBytes::new(py, digest.as_ref())).collect();
                answers.append((digests, nbytes, mtime_ns, py.None()))?;
            }
            Err(reason) => answers.append((PyList::empty(py), 0, py.None(), reason))?,
        }
    }
    Ok(answers)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Listing>()?;
    module.add_function(wrap_pyfunction!(is_public_key, module)?)?;
    module.add_function(wrap_pyfunction!(manifest_signed, module)?)?;
    module.add_function(wrap_pyfunction!(list_read, module)?)?;
    module.add_function(wrap_pyfunction!(hash_listed, module)?)
}
